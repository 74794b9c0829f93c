"""What acts in a step: its own supports and loads and those of earlier steps that last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Conditions, Deck, Spin, Step, System, Weight
from symplex.decks.geometry import DeckGeometry
from symplex.decks.reading import UnsupportedKeyword

_ON_AXIS = 1e-9  # of the size of coordinates: how near to an axis a node is on it


class Value(NamedTuple):
    """A value with its amplitude ("": none), and the number of the step that gave it; of supports maybe a velocity."""

    value: float
    amplitude: str
    step: int
    is_velocity: bool = False


@dataclass
class Acting:
    """What acts in a step, in the units of the deck.

    Attributes
    ----------
    supports : dict of (node, component) to Value
        Nodes are places in the mesh.
    forces : dict of (node, component) to list of Value
    pressures : dict of (element, side) to list of Value
    weights : list of (Weight or Spin, Value)
    temperatures : dict of int to Value
        By node; without an amplitude changes from the initial temperature.
    locked : dict of (node, component) to int
        What is held where earlier steps have moved it, and since which step.
    """

    supports: dict[tuple[int, int], Value] = field(default_factory=dict)
    forces: dict[tuple[int, int], list[Value]] = field(default_factory=dict)
    pressures: dict[tuple[int, int], list[Value]] = field(default_factory=dict)
    weights: list[tuple[Weight | Spin, Value]] = field(default_factory=list)
    locked: dict[tuple[int, int], int] = field(default_factory=dict)
    temperatures: dict[int, Value] = field(default_factory=dict)

    @property
    def loaded(self) -> bool:
        """Whether anything moves the body from where it is."""
        moved = any(given.value for given in self.supports.values())
        return moved or bool(self.forces or self.pressures or self.weights or self.temperatures)


def acting(deck: Deck, geometry: DeckGeometry, number: int) -> Acting:
    """Return what acts in a step; 0 is the model before the first.

    Raises
    ------
    MeshError
        If a set is not there.
    """
    now, initial = Acting(), initial_temperatures(deck, geometry)
    _add(now, deck.model, 0, geometry, initial)
    for step in deck.steps[:number]:
        if step.perturbation and step.number != number:
            continue  # acts within itself only
        _add(now, step, step.number, geometry, initial)
    _add(now, Conditions(prescribed=deck.held), 0, geometry, initial)
    return now


def acting_about(step: Step, preload: int, acting_in: Callable[[int], Acting]) -> Acting:
    """Return what acts in a step, of that in a step by number; natural vibrations are about the state before.

    Raises
    ------
    UnsupportedKeyword
        If other nodes are held then than in the static step before.
    """
    now = acting_in(step.number)
    if step.procedure != "frequency":
        return now
    if not preload:
        return Acting(supports={key: Value(0.0, "", 0) for key in now.supports})
    before = acting_in(preload)
    if {*now.supports} != {*before.supports}:
        raise UnsupportedKeyword("other nodes are held than in the step before")
    return before


def _add(now: Acting, given: Conditions, step: int, geometry: DeckGeometry, initial: NDArray[np.float64]) -> None:
    before = {**now.supports}, {**now.locked}
    if given.new_supports:
        now.supports.clear()
        now.locked.clear()
    if given.new_forces:
        now.forces.clear()
    if given.new_pressures:
        now.pressures.clear()
        now.weights.clear()
    if given.new_temperatures:
        now.temperatures.clear()
    for item in given.prescribed:
        for node in geometry.nodes(item.nodes).tolist():
            dof = node, item.component
            if item.is_locked and dof in before[0]:  # it stays as it is given
                now.supports[dof] = before[0][dof]
            elif item.is_locked:
                now.locked[dof] = before[1].get(dof, step)
            else:
                now.locked.pop(dof, None)
                now.supports[dof] = Value(item.value, item.amplitude, step, item.is_velocity)
    # What a step gives takes the place of what earlier ones gave; within a step it adds up.
    for item in given.forces:
        for node in geometry.nodes(item.nodes).tolist():
            earlier = [v for v in now.forces.get((node, item.component), []) if v.step == step]
            now.forces[node, item.component] = [*earlier, Value(item.value, item.amplitude, step)]
    for item in given.pressures:
        for side in geometry.sides(item.elements, item.side):
            earlier = [v for v in now.pressures.get(side, []) if v.step == step]
            now.pressures[side] = [*earlier, Value(item.value, item.amplitude, step)]
    for item in given.weights:
        now.weights = [
            (weight, value)
            for weight, value in now.weights
            if value.step == step or type(weight) is not type(item) or weight.elements.upper() != item.elements.upper()
        ]
        now.weights.append((item, Value(1.0, item.amplitude, step)))
    for item in given.temperatures:
        for node in geometry.nodes(item.nodes).tolist():
            before_it = 0.0 if item.amplitude else float(initial[node])
            now.temperatures[node] = Value(item.value - before_it, item.amplitude, step)


def still_in_all(deck: Deck, geometry: DeckGeometry, number: int) -> set[tuple[int, int]]:
    """Return the nodes and components that are held where they are in all steps up to one."""
    every = [acting(deck, geometry, k).supports for k in range(1, number + 1)]
    return {dof for dof, value in every[-1].items() if all(dof in one and not one[dof].value for one in every)}


def initial_temperatures(deck: Deck, geometry: DeckGeometry) -> NDArray[np.float64]:
    """Return the temperatures [n] of all nodes before the first step, 0 where none is given."""
    out = np.zeros(len(geometry.mesh.points))
    for item in deck.initial_temperatures:
        out[geometry.nodes(item.nodes)] = item.value
    return out


def locks(deck: Deck, step: Step) -> bool:
    """Return whether anything is held in a step where earlier ones have moved it."""
    return any(item.is_locked for one in deck.steps[: step.number] for item in one.prescribed)


def directions(system: System, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the local directions [n, 3, 3] of nodes, one in each row: rectangular, or radial, tangential, axial.

    Those of nodes on the axis of a cylindrical system are NaN.

    Raises
    ------
    UnsupportedKeyword
        If the system has no directions.
    """
    a, b = np.array(system.a), np.array(system.b)
    if not system.cylindrical:  # a on the first axis, b in the plane of the first two
        first = np.broadcast_to(a, points.shape)
        third = np.broadcast_to(np.cross(a, b), points.shape)
    else:  # a and b on the axis
        third = np.broadcast_to(b - a, points.shape)
        from_axis = points - a
        axis = (b - a) / max(np.linalg.norm(b - a), 1e-300)
        first = from_axis - np.outer(from_axis @ axis, axis)
    sizes = np.linalg.norm(first, axis=1), np.linalg.norm(third, axis=1)
    if system.cylindrical:
        sizes[0][sizes[0] <= _ON_AXIS * np.abs(points - a).max(initial=1.0)] = np.nan
    if any((size == 0.0).any() for size in sizes):
        raise UnsupportedKeyword("a local system has no directions")
    first, third = first / sizes[0][:, None], third / sizes[1][:, None]
    return np.stack([first, np.cross(third, first), third], axis=1)


def oriented(deck: Deck, name: str) -> System:
    """Return the system of an orientation, of no nodes.

    Raises
    ------
    UnsupportedKeyword
        If there is none of that name.
    """
    if name not in deck.orientations:
        raise UnsupportedKeyword(f"there is no orientation '{name}'")
    axes = deck.orientations[name]
    return System("", axes.first, axes.second, axes.cylindrical)


def local_axes(local: Mapping[int, NDArray[np.float64]], node: int) -> NDArray[np.float64]:
    """Return the directions [3, 3] of a node, the global ones if it has no local system.

    Raises
    ------
    UnsupportedKeyword
        If it is on the axis of its system.
    """
    axes = local.get(node)
    if axes is None:
        return np.eye(3)
    if np.isnan(axes).any():
        raise UnsupportedKeyword("a node on the axis of its cylindrical system has no radial direction")
    return axes


def local_directions(deck: Deck, geometry: DeckGeometry) -> dict[int, NDArray[np.float64]]:
    """Return for each node with a local system its directions [3, 3]."""
    found: dict[int, NDArray[np.float64]] = {}
    for system in deck.systems:
        nodes = geometry.nodes(system.nodes)
        found |= zip(nodes.tolist(), directions(system, geometry.mesh.points[nodes]), strict=True)
    return found


def require_static_start(deck: Deck, step: Step) -> None:
    """Check that a static step begins at what a scenario can begin at.

    Raises
    ------
    UnsupportedKeyword
        If it goes on from a motion, or is a perturbation of an earlier step.
    """
    before = starts_loaded(deck, step)
    if step.procedure == "buckle":
        if before:
            raise UnsupportedKeyword(
                f"buckling about the state under the loads of step {before} is not supported; put it first, or name "
                "the loads: symplex buckling --load"
            )
        return
    if step.perturbation and step.number > 1:
        raise UnsupportedKeyword("a static perturbation of an earlier step is not supported")


def preload_of(deck: Deck, step: Step) -> int:
    """Return the number of the static step that a motion, or a vibration of a loaded state, follows; 0 if none.

    Raises
    ------
    UnsupportedKeyword
        If it goes on from a motion.
    """
    follows = step.is_motion or (step.procedure == "frequency" and step.perturbation)
    return starts_loaded(deck, step) if follows else 0


def starts_loaded(deck: Deck, step: Step) -> int:
    """Return the number of the last static step before a step that its state follows from; 0 if there is none.

    Raises
    ------
    UnsupportedKeyword
        If it goes on from a motion.
    """
    last = 0
    for earlier in deck.steps[: step.number - 1]:
        if earlier.is_motion:
            raise UnsupportedKeyword(f"it goes on from the motion of step {earlier.number}")
        if earlier.procedure == "static" and not earlier.perturbation:
            last = earlier.number
    return last
