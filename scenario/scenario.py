"""From a scenario file to an initial value problem: the composition root."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.quantities import FILE
from symplex.base.representation import names, table_html
from symplex.base.toml import read_toml
from symplex.contact.bodies import BodyContact
from symplex.contact.rigid import ObstacleContact
from symplex.contact.segments import SegmentContact
from symplex.errors import InvalidArgument, ScenarioError
from symplex.fem.energies.energy import Array
from symplex.fem.solids.plastic import solids_in
from symplex.fem.solids.solid import Solid
from symplex.fem.system import State, System
from symplex.meshes.formats.account import refusal
from symplex.meshes.mesh import Mesh
from symplex.scenario.beams import Beam
from symplex.scenario.building import Builder
from symplex.scenario.changes import with_changes
from symplex.scenario.event_building import changes_of
from symplex.scenario.flexible import Flexible
from symplex.scenario.joined_parts import contacts_in, points_of
from symplex.scenario.mass_scaling import ScaledBody
from symplex.scenario.probe_building import BuiltProbe
from symplex.scenario.rigid_nodes import RigidNodeSets
from symplex.scenario.sampling import Timeline, changed_timeline, timeline
from symplex.scenario.shells import Shell
from symplex.scenario.stage_bodies import changing_bodies
from symplex.scenario.start import Start
from symplex.scenario.tables import Tables
from symplex.scenario.validation import read_tables
from symplex.time.integrator import Integrator
from symplex.time.langevin import BOLTZMANN, kinetic_temperature
from symplex.time.stages import Stage, Stages


@dataclass(frozen=True)
class Scenario:
    """A scenario file that has been read and found valid.

    Attributes
    ----------
    path : Path
        The file; paths in it are relative to its folder.
    text : str
        Its text.
    tables : Tables
        Its tables and keys.
    """

    path: Path
    text: str
    tables: Tables

    def __repr__(self) -> str:
        return f"Scenario({'; '.join(f'{name} {value}' for name, value in self._rows())})"

    def _repr_html_(self) -> str:
        return table_html("Scenario", self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """Return what it describes, as a table for people."""
        tables = self.tables
        rows = [("file", str(self.path)), *([("title", tables.title)] if tables.title else [])]
        rows += [("integrator", names(dict.fromkeys(table.kind for table in tables.integrators)))]
        rows += [("duration", f"{self.times[-1]:.6g} s, {len(self.times) - 1:,} samples")]
        for what in (
            "body",
            "flexible_body",
            "truss",
            "beam",
            "rigid",
            "obstacle",
            "contact",
            "load",
            "support",
            "joint",
            "coupling",
            "stage",
            "when",
        ):
            listed = [getattr(table, "name", None) or what for table in getattr(tables, what, ())]
            rows += [(what, names(listed))] if listed else []
        return rows

    @classmethod
    @checked
    def read(cls, path: str | Path) -> Scenario:
        """Read a scenario file (TOML).

        Raises
        ------
        ScenarioError
            If the file is missing, not TOML, or not valid; with one line for each mistake.
        """
        path = Path(path)
        try:
            text = path.read_bytes().decode("utf-8")
        except FileNotFoundError:
            raise ScenarioError(f"there is no scenario file {path}.") from None
        except UnicodeDecodeError:
            raise ScenarioError(f"{path.name} is not a text file in UTF-8.") from None
        except OSError as error:
            raise ScenarioError(f"{path} cannot be read: {error.strerror}.") from None
        return cls.parse(text, path)

    @classmethod
    @partial(checked, but=("text",))
    def parse(cls, text: str, path: str | Path = "scenario.toml") -> Scenario:
        """Return the scenario that a text is, as if it were the content of the file ``path``.

        Raises
        ------
        ScenarioError
            As `read`.
        """
        path = Path(path)
        if not isinstance(text, str):
            raise InvalidArgument(f"Scenario.parse: a scenario is a string; given is a {type(text).__name__}.")
        try:
            data = read_toml(text)
        except ValueError as error:
            raise ScenarioError(f"{path.name} is not valid TOML: {error}.") from None
        return cls(path, text, read_tables(data, path.name))

    @checked
    def with_values(self, changes: Mapping[str, Any]) -> Scenario:
        """Return the scenario with some of its values replaced.

        Parameters
        ----------
        changes : mapping of str to object
            Values by key: the names of tables and keys with dots between, as ``integrator.dt``. Of tables in double
            brackets one is chosen by its name or its number, from 1 on: ``body.cube.material.young``. A text is read
            as TOML, or as itself where it is none.

        Raises
        ------
        ScenarioError
            If a key leads nowhere, or the scenario is not valid with it.

        Examples
        --------
        >>> finer = scenario.with_values({"integrator.dt": 1e-6, "title": "half the step"})
        """
        return Scenario.parse(with_changes(self.text, changes, self.path.name), self.path)

    @property
    def name(self) -> str:
        """The file's name without its extension."""
        return self.path.stem

    @property
    def title(self) -> str:
        """Its title, or its name if it has none."""
        return self.tables.title or self.name

    @property
    def hash(self) -> str:
        """SHA-256 of the text, with Unix line ends."""
        return hashlib.sha256(self.text.replace("\r\n", "\n").encode()).hexdigest()

    @property
    def files(self) -> dict[str, Path]:
        """The files that it names: meshes, and tables of loads and supports."""
        return {name: self.path.parent / name for _, table in self.tables.entries() for name in table.named(FILE)}

    @cached_property
    def timeline(self) -> Timeline:
        """When it is sampled, and the parts that it falls into."""
        return timeline(self.tables)

    @property
    def times(self) -> Array:
        """The times in s at which the motion is looked at, from 0 to the end."""
        return self.timeline.times

    @property
    def is_frame(self) -> NDArray[np.bool_]:
        """Which of the samples are frames as well."""
        return self.timeline.is_frame

    @property
    def is_row(self) -> NDArray[np.bool_]:
        """Which of the samples have a row in the history."""
        return self.timeline.is_row

    def build(
        self,
        start: Start | None = None,
        make_system: Callable[..., System] = System,
        framed: bool = True,
        like: Problem | None = None,
    ) -> Problem:
        """Return what the scenario describes, ready to run.

        Parameters
        ----------
        start : Start, optional
            What [start] has led to before, which is not sought again.
        make_system : callable, default System
            Makes its systems, given what `System` is given: one that others compute, such as several processes.
        framed : bool, default True
            Whether rigid bodies are frames where the integrator takes these; otherwise energies keep them rigid.
        like : Problem, optional
            Of a scenario of the same folder, whose mesh is taken, and not read or made again, where it is the same.

        Raises
        ------
        ScenarioError
            With one line for each mistake: meshes that cannot be used, unknown groups, bodies inside obstacles, a step
            above the stability limit.
        """
        known = None if like is None else (like.scenario.tables, like.mesh)
        return Problem(self, *Builder(self.tables, self.path, start, make_system, framed, known).build())


@dataclass(frozen=True)
class Problem:
    """An initial value problem as a scenario describes it.

    Attributes
    ----------
    scenario : Scenario
    mesh : Mesh
        All bodies in one mesh; each is a cell group.
    system : System
        Its energies are named after bodies and obstacles. Of a run in parts it is that of the first.
    state : State
        At t = 0.
    integrator : Integrator
        With a step that fits the scenario's times; `Stages` if the run has several parts.
    n_rods : int
        How many rigid rods there are.
    rigid_sets : RigidNodeSets
        What is rigid and has its own nodes, after those of the mesh.
    probes : sequence of BuiltProbe
        In the order of their tables.
    notes : sequence of str
        What building it has changed, as gaps that ties close, each with its place in the scenario.
    velocities : float64 [n, 3], optional
        In m/s, as tables give them at t = 0, before supports and [start].
    beams : mapping of str to Beam
    shells : mapping of str to Shell
        By name.
    scaled : mapping of str to ScaledBody
        How much mass [mass_scaling] adds to bodies, by name.
    flexible : mapping of str to Flexible
        Reduced bodies by name.
    """

    scenario: Scenario
    mesh: Mesh
    system: System
    state: State
    integrator: Integrator
    n_rods: int
    rigid_sets: RigidNodeSets
    probes: Sequence[BuiltProbe] = ()
    notes: Sequence[str] = ()
    velocities: Array | None = None
    beams: Mapping[str, Beam] = field(default_factory=dict)
    shells: Mapping[str, Shell] = field(default_factory=dict)
    scaled: Mapping[str, ScaledBody] = field(default_factory=dict)
    flexible: Mapping[str, Flexible] = field(default_factory=dict)

    def of_run(self) -> Problem:
        """Return the same with its own scenario, of which a run can `follow` what happens."""
        return replace(self, scenario=replace(self.scenario)) if self.scenario.tables.when else self

    def follow(self, happened: Mapping[str, float]) -> None:
        """Take the samples, frames and parts of a run in which conditions have held, by name, at times in s."""
        tables = self.scenario.tables
        line = changed_timeline(timeline(tables), changes_of(tables, happened))
        self.scenario.__dict__["timeline"] = line  # instead of that without conditions, which it finds itself

    @property
    def stages(self) -> Sequence[Stage]:
        """The parts of the run, each with a system and an integrator: stages, cut where something begins or ends."""
        if isinstance(self.integrator, Stages):
            return self.integrator.stages
        return [Stage(self.system, self.integrator, self.scenario.tables.run.end)]

    @property
    def unknown(self) -> tuple[str, ...]:
        """Lines of its mesh files, by kind, that were neither used nor are known to mean nothing."""
        rigid = self.rigid_sets.bodies.bodies.values() if self.rigid_sets.bodies is not None else ()
        return tuple(dict.fromkeys(line for mesh in (self.mesh, *(b.mesh for b in rigid)) for line in mesh.unknown))

    def require_known(self) -> None:
        """Refuse the scenario if a line of its mesh files is unknown."""
        if self.unknown:
            raise ScenarioError(f"{self.scenario.path.name}: {refusal(list(self.unknown))}")

    def temperature(self, state: State) -> float:
        """Return the kinetic temperature in K of a state; each rod takes away a degree of freedom."""
        bath = self.scenario.tables.thermostat
        boltzmann = BOLTZMANN if bath is None else bath.boltzmann
        return kinetic_temperature(self.system, state.v, self.n_rods, boltzmann)

    @cached_property
    def solids(self) -> dict[str, Solid]:
        """The strain energies of bodies, or of their parts, by name."""
        return solids_in(self.whole.energies, self.whole.inelastic)

    @cached_property
    def whole(self) -> System:
        """The system with the bodies of all parts of the run, where some begin or end."""
        if not changing_bodies(self.scenario.tables) or not isinstance(self.integrator, Stages):
            return self.system
        of_stages = [stage.system for stage in self.integrator.every_stage]
        return self.system.with_parts({name: one for each in of_stages[::-1] for name, one in each.energies.items()})

    @cached_property
    def contacts(self) -> dict[str, ObstacleContact]:
        """The contact energies by obstacle, of points (`symplex.scenario.rigid_nodes.RigidNodeSets`)."""
        return contacts_in(self.system.energies, ObstacleContact)

    @cached_property
    def body_contacts(self) -> dict[str, BodyContact | SegmentContact]:
        """The energies of contact between surfaces, by name, of points."""
        return contacts_in(self.system.energies, BodyContact, SegmentContact)

    def points_in_contact(self, name: str, q: Array) -> Array:
        """Return the positions [p, 3] in m, at nodal positions q [n, 3], of the points that one of these is of."""
        return points_of(self.system.energies[name], q)
