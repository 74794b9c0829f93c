"""Pictures of systems: their solids, bars and supports at a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplex.errors import RenderError
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.bars import Bars, CompiledLaw
from symplex.fem.measures.inelastic_bars import InelasticBars
from symplex.fem.solids.plastic import solids_in
from symplex.meshes.pictures.picture import Picture, Still, picture_of_still
from symplex.meshes.pictures.view import View
from symplex.meshes.series.frames import Block

if TYPE_CHECKING:
    from symplex.fem.system import State, System

_FIELDS = {"speed": ("velocity", "v"), "acceleration": ("acceleration", "a")}  # in a series, in a state
_SUPPORTED = "supports"


def picture_of_system(system: System, state: State, field: str | None, view: View | None) -> Picture:
    """Return a picture of a system; see `System.plot`."""
    if field is not None and field not in _FIELDS:
        raise RenderError(f"a system has no field '{field}'; take {' or '.join(_FIELDS)}.")
    blocks = blocks_of(system)
    if (held := np.flatnonzero(system.fixed.any(axis=1))).size and field is None:
        blocks[_SUPPORTED] = _points(held)
    fields = {}
    if field is not None:
        name, values = _FIELDS[field]
        fields[name] = np.zeros((system.n_nodes, 3))
        fields[name][:, : system.dim] = getattr(state, values)
    return picture_of_still(Still(state.q, blocks, fields), field=field or "body", view=view)


def blocks_of(system: System) -> dict[str, Block]:
    """Return what of a system is drawn, by the names of its energies: if nothing, its nodes."""
    bodies = solids_in({}, system.inelastic)
    bars = {name: part for name, part in system.inelastic.items() if isinstance(part, InelasticBars)}
    parts = {**system.energies, **bodies}.items()
    blocks = {name: block for name, energy in parts if (block := _block(energy)) is not None}
    blocks |= {name: Block.of({"line": part.nodes}) for name, part in bars.items()}
    drawn = np.concatenate([np.empty(0, np.int32), *(block.nodes for block in blocks.values())])
    pairs = [energy.nodes.ravel() for energy in system.energies.values() if _is_of_particles(energy)]
    particles = np.setdiff1d(np.concatenate([np.empty(0, np.int32), *pairs]), drawn)
    blocks |= {"particles": _points(particles)} if len(particles) and "particles" not in blocks else {}
    return blocks or {"nodes": _points(np.arange(system.n_nodes))}


def _block(energy: Energy) -> Block | None:
    """Return what is drawn of an energy: nothing of those of single nodes, as gravity and obstacles."""
    if energy.kind is not None:
        return Block.of({energy.kind: energy.nodes})
    if len(energy.nodes) and energy.nodes.shape[1] == 2 and not _is_of_particles(energy):
        return Block.of({"line": energy.nodes})
    return None


def _is_of_particles(energy: Energy) -> bool:
    """Return whether an energy is of particles that attract or repel each other, with nothing between them."""
    law = getattr(energy, "law", None)
    return isinstance(energy, Bars) and isinstance(law, CompiledLaw) and "stiffness" not in law.names


def _points(nodes: NDArray[np.integer]) -> Block:
    return Block.of({"vertex": np.asarray(nodes, np.int32)[:, None]})
