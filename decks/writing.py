"""From a step of a deck to the tables of a scenario."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.constraint_tables import BODY, ConstraintTables
from symplex.decks.constraints import rows_of
from symplex.decks.deck import Amplitude, Deck, Step
from symplex.decks.discrete import discrete_of
from symplex.decks.geometry import DeckGeometry
from symplex.decks.material_tables import material_table
from symplex.decks.mesh_keywords import FORMULATIONS
from symplex.decks.reading import NotUnderstood
from symplex.decks.state import Acting, Value, acting, local_directions, starts_loaded
from symplex.decks.units import Units

Table = dict[str, Any]
_MOST_DIRECTIONS = 24  # of faces under a pressure, each of which becomes a traction of its own
_SUDDEN = 1e-6  # within what part of a step a load comes that comes at once, so that a static start is without it
_MOST_LOADS = 2000
_FINER = 10
_MOST_FRAMES = 200
_PARALLEL = 1e-9  # how far a direction may be from an axis
_AXES = "xyz"


class StepWriter:
    """Writes the tables of one step.

    Parameters
    ----------
    deck : Deck
    geometry : DeckGeometry
        Is asked for groups, which have to be written with the mesh.
    step : Step
    units : Units
    mesh : str
        The file of the mesh.
    """

    def __init__(self, deck: Deck, geometry: DeckGeometry, step: Step, units: Units, mesh: str):
        self._deck, self._geometry, self._step, self._units, self._file = deck, geometry, step, units, mesh
        self._preload = starts_loaded(deck, step) if self._moves else 0
        if step.procedure == "frequency" and step.perturbation:
            self._preload = starts_loaded(deck, step)
        self._local = local_directions(deck, geometry)
        large = step.nonlinear or self._preload > 0
        self._rows = rows_of(deck, geometry, self._local, large)
        self._local |= self._rows.local
        discrete = discrete_of(deck, geometry, large)
        self._constraints = ConstraintTables(self._rows, discrete, geometry, units)

    @property
    def _moves(self) -> bool:
        return self._step.procedure in ("dynamic", "explicit", "modal-dynamic")

    def tables(self) -> Table:
        """Return the tables of the scenario.

        Raises
        ------
        NotUnderstood
            If the step says what a scenario cannot.
        MeshError
            If it refers to what is not there.
        """
        step = self._step
        if step.procedure == "static":
            starts_loaded(self._deck, step)
            if step.perturbation and step.number > 1:
                raise NotUnderstood("a static perturbation of an earlier step is not known")
        acts = self._acting()
        if self._preload and self._moves:
            self._refuse_changes(acts)
        supports = self._supports(acts)
        loads = self._forces(acts) + self._pressures(acts)
        if len(loads) > _MOST_LOADS:
            raise NotUnderstood(f"it has {len(loads)} different loads; more than {_MOST_LOADS} are too many tables")
        static = step.procedure == "static" or self._preload
        tables: Table = {"title": self._title(), "body": [self._body()]}
        if self._constraints.loose and step.procedure == "explicit":
            raise NotUnderstood("nodes of no element have no mass, which explicit steps need")
        tables["point_mass"] = self._constraints.masses(None if step.procedure == "static" else self._density)
        tables["spring"] = self._constraints.springs()
        tables["constraint"] = self._constraints.tables(self._stiffest)
        tables["support"] = supports + self._constraints.held(acts.supports)
        tables["damping"] = self._damping()
        tables["dashpot"] = self._constraints.dashpots() if self._moves else []
        tables |= self._gravity(acts)
        tables["load"] = loads
        if static and acts.loaded:
            tables["start"] = {"kind": "static"}
        tables["integrator"], tables["run"] = self._integrator()
        return {key: table for key, table in tables.items() if table}

    def _title(self) -> str:
        title = self._deck.title or "imported deck"
        return f"{title[:180]}, step {self._step.number}" if len(self._deck.steps) > 1 else title[:200]

    def _acting_to(self, number: int) -> Acting:
        """Return what acts in a step, rotations and moments of reference nodes on the nodes that stand for them."""
        acts = acting(self._deck, self._geometry, number)
        for (node, component), value in acts.supports.items():  # nodes of solids have no rotations to hold
            if value.value and self._rows.turned(node, component) is None:
                raise NotUnderstood("rotations are given of nodes that have none")
        supports = {self._rows.turned(*dof): value for dof, value in acts.supports.items()}
        forces = {self._rows.turned(*dof): values for dof, values in acts.forces.items()}
        if None in forces:
            raise NotUnderstood("a moment acts on a node that has no rotation")
        return replace(
            acts,
            supports={dof: value for dof, value in supports.items() if dof is not None},
            forces={dof: values for dof, values in forces.items() if dof is not None},
        )

    def _acting(self) -> Acting:
        """Return what acts; natural vibrations are about the state before, under the loads of that."""
        if self._step.procedure != "frequency":
            return self._acting_to(self._step.number)
        acts = self._acting_to(self._preload)
        held = self._acting_to(self._step.number).supports
        if not self._preload:
            return Acting(supports={key: Value(0.0, "", 0) for key in held})
        if {*held} != {*acts.supports}:
            raise NotUnderstood("other nodes are held than in the step before")
        return acts

    def _refuse_changes(self, acts: Acting) -> None:
        """Raise NotUnderstood if a motion changes what its static start is under: it would start under the changes."""
        step = self._step
        before = self._acting_to(self._preload)
        new = [key for key, values in (*acts.forces.items(), *acts.pressures.items()) if values[-1].step == step.number]
        if step.new_forces or step.new_pressures or any(k in before.forces or k in before.pressures for k in new):
            raise NotUnderstood("loads of the static step before are changed or removed")
        if step.new_supports or {*acts.supports.items()} != {*before.supports.items()}:
            raise NotUnderstood("supports of the static step before are changed or removed")

    # -- body -----------------------------------------------------------------------------------------------------

    def _body(self) -> Table:
        # Axes make another material of one that is not the same in all directions.
        materials = {(section.material.upper(), section.orientation) for section in self._deck.sections}
        unknown = {name for name, _ in materials} - {*self._deck.materials}
        if unknown:
            raise NotUnderstood(f"there is no material '{min(unknown)}'")
        if not materials:
            raise NotUnderstood("it has no section")
        scale = self._units.length
        body: Table = {"name": BODY, "mesh": self._file}
        if scale != 1.0:
            body["scale"] = scale
        formulations = {FORMULATIONS[name] for name in self._geometry.types if name in FORMULATIONS}
        if len(formulations) > 1:
            told = " and ".join(self._geometry.types)
            raise NotUnderstood(f"it has elements {told}, which one body cannot have together")
        if formulations:
            body["formulation"] = formulations.pop()
        if len(materials) == 1:
            body["material"] = self._material(*materials.pop())
        else:
            body["materials"] = {
                self._geometry.element_group(
                    self._elements_of(name, axes), f"material_{name}{axes and '_'}{axes}"
                ): self._material(name, axes)
                for name, axes in sorted(materials)
            }
        if self._step.procedure != "explicit":
            body["mass"] = "consistent"
        if self._moves and self._deck.velocities:
            body["velocity"] = self._velocity()
        return body

    def _elements_of(self, material: str, axes: str) -> list[str]:
        sections = self._deck.sections
        return [s.elements for s in sections if s.material.upper() == material and s.orientation == axes]

    @property
    def _density(self) -> float:
        """The least density in kg/m³."""
        return min((m.density for m in self._deck.materials.values() if m.density), default=0.0) * self._units.density

    @property
    def _stiffest(self) -> float | None:
        """The largest Young's modulus in Pa, if the deck gives any."""
        materials = self._deck.materials.values()
        found = [material.young for material in materials if material.young is not None]
        found += [max(values[:3]) for m in materials if (values := m.stiffness or m.engineering)]
        return max(found) * self._units.stress if found else None

    def _material(self, name: str, axes: str) -> Table:
        step, material = self._step, self._deck.materials[name]
        if material.density is None and step.procedure != "static":
            raise NotUnderstood(f"the material '{material.name}' has no density")
        if axes and axes not in self._deck.orientations:
            raise NotUnderstood(f"there is no orientation '{axes}'")
        large = step.nonlinear or (step.procedure == "frequency" and self._preload > 0)
        return material_table(material, self._deck.orientations.get(axes), self._units, large)

    def _velocity(self) -> list[float]:
        nodes: NDArray[np.float64] = np.zeros((len(self._geometry.mesh.points), 3))
        for item in self._deck.velocities:
            nodes[self._geometry.nodes(item.nodes), item.component] = item.value
        used = np.unique(np.concatenate([c.ravel() for c in self._geometry.mesh.cells.values()]))
        if np.ptp(nodes[used], axis=0).any():
            raise NotUnderstood("the initial velocity is not that of the whole body")
        return (nodes[used[0]] * self._units.velocity).tolist()

    # -- supports -------------------------------------------------------------------------------------------------

    def _supports(self, acts: Acting) -> list[Table]:
        by_node: dict[int, dict[int, Value]] = {}
        for (node, component), value in acts.supports.items():
            by_node.setdefault(node, {})[component] = value
        alike: dict[tuple[str, str, tuple[float, ...], int], list[int]] = {}
        for node, given in by_node.items():
            given = self._in_global_directions(node, given)
            held = "".join(_AXES[c] for c in sorted(given) if given[c].value == 0.0)
            if held:
                alike.setdefault((held, "", (), 0), []).append(node)
            for amplitude, number in {(v.amplitude, v.step) for v in given.values() if v.value}:
                which = {c: v for c, v in given.items() if v.value and (v.amplitude, v.step) == (amplitude, number)}
                vector = tuple(which[c].value if c in which else 0.0 for c in range(3))
                names = "".join(_AXES[c] for c in sorted(which))
                alike.setdefault((names, amplitude, vector, number), []).append(node)
        tables = []
        for (components, amplitude, vector, number), nodes in alike.items():
            for place in self._constraints.places(nodes, f"held_{components}" if not vector else "moved"):
                table: Table = {**place, "components": components}
                if vector:
                    table = {"name": f"motion_{len(tables) + 1}", **table, **self._motion(vector, amplitude, number)}
                tables.append(table)
        return tables

    def _in_global_directions(self, node: int, given: dict[int, Value]) -> dict[int, Value]:
        """Return what a node in a local system does in global directions."""
        local = self._local.get(node)
        if local is None or (len(given) == 3 and not any(value.value for value in given.values())):
            return given
        turned: dict[int, Value] = {}
        for component, value in given.items():
            axis = int(np.abs(local[component]).argmax())
            if abs(abs(local[component][axis]) - 1.0) > _PARALLEL:
                if value.value and self._moves:
                    raise NotUnderstood("a support that moves in a direction oblique to the axes is not known")
                moved = value.value * self._final(value.amplitude, value.step) if value.value else 0.0
                self._rows.add({(node, i): float(c) for i, c in enumerate(local[component])}, moved)
                continue
            turned[axis] = value._replace(value=value.value * float(np.sign(local[component][axis])))
        return turned

    def _motion(self, vector: tuple[float, ...], amplitude: str, number: int) -> Table:
        displacement = np.array(vector) * self._units.length
        duration = self._step.period * self._units.time
        if not self._moves or number < self._step.number:
            displacement = displacement * self._final(amplitude, number)
            history = {"kind": "table", "times": [0.0, duration], "factors": [1.0, 1.0]}
            return {"displacement": displacement.tolist(), "history": history, "interpolation": "linear"}
        history = self._history(amplitude)
        if not history:
            raise NotUnderstood("a support jumps at the start of the step; give it an amplitude")
        times, factors = history["times"], history["factors"]
        if times[-1] < duration:
            history = {**history, "times": [*times, duration], "factors": [*factors, factors[-1]]}
        return {"displacement": displacement.tolist(), "history": history, "interpolation": "linear"}

    # -- loads ----------------------------------------------------------------------------------------------------

    def _final(self, amplitude: str, number: int) -> float:
        """Return the factor of an amplitude at the end of a step."""
        if not amplitude:
            return 1.0
        course = self._amplitude(amplitude)
        step = self._step
        if number < step.number:
            raise NotUnderstood("an amplitude of an earlier step goes on")
        t = step.period + (self._time_before if course.total else 0.0)
        return float(np.interp(t, course.times, course.factors))

    @property
    def _time_before(self) -> float:
        before = self._deck.steps[: self._step.number - 1]
        return sum(s.period for s in before if not s.perturbation and s.procedure != "frequency")

    def _amplitude(self, name: str) -> Amplitude:
        if name not in self._deck.amplitudes:
            raise NotUnderstood(f"there is no amplitude '{name}'")
        return self._deck.amplitudes[name]

    def _history(self, amplitude: str) -> Table | None:
        """Return how a load of this step changes in a motion; None if it is constant."""
        duration = self._step.period * self._units.time
        if amplitude:
            course = self._amplitude(amplitude)
            times = np.array(course.times) - (self._time_before if course.total else 0.0)
            return {
                "kind": "table",
                "times": (times * self._units.time).tolist(),
                "factors": list(course.factors),
            }
        if self._step.ramps:
            return {"kind": "table", "times": [0.0, duration], "factors": [0.0, 1.0]}
        if self._preload:
            times = [0.0, _SUDDEN * self._step.dt * self._units.time]
            return {"kind": "table", "times": times, "factors": [0.0, 1.0]}
        return None

    def _course(self, value: Value) -> tuple[float, str, bool]:
        """Return a value, the name of its amplitude, and whether it changes in this step."""
        if not self._moves or value.step < self._step.number:
            return value.value * self._final(value.amplitude, value.step), "", False
        return value.value, value.amplitude, bool(value.amplitude or self._step.ramps or self._preload)

    def _load(self, kind: str, place: Table, key: str, value: Any, course: tuple[str, bool]) -> Table:
        amplitude, changes = course
        table = {"name": "", "kind": kind, **place, key: value}
        history = self._history(amplitude) if changes else None
        return table | ({"history": history} if history else {})

    def _forces(self, acts: Acting) -> list[Table]:
        by_node: dict[tuple[int, tuple[str, bool]], NDArray[np.float64]] = {}
        for (node, component), values in acts.forces.items():
            local = self._local.get(node)
            axis = np.eye(3)[component] if local is None else local[component]
            for value in values:
                size, amplitude, changes = self._course(value)
                force = by_node.setdefault((node, (amplitude, changes)), np.zeros(3))
                force += size * axis * self._units.force
        alike: dict[tuple[tuple[float, ...], tuple[str, bool]], list[int]] = {}
        for (node, course), force in by_node.items():
            if force.any():
                alike.setdefault((tuple(force.tolist()), course), []).append(node)
        tables = []
        for (force, course), nodes in alike.items():
            for place in self._constraints.places(nodes, "loaded"):
                tables.append(self._load("nodal", place, "force", list(force), course))
        return [table | {"name": f"force_{k}"} for k, table in enumerate(tables, start=1)]

    def _pressures(self, acts: Acting) -> list[Table]:
        alike: dict[tuple[float, tuple[str, bool]], list[tuple[int, int]]] = {}
        for side, values in acts.pressures.items():
            sizes: dict[tuple[str, bool], float] = {}
            for value in values:
                size, amplitude, changes = self._course(value)
                sizes[amplitude, changes] = sizes.get((amplitude, changes), 0.0) + size * self._units.stress
            for course, size in sizes.items():
                if size:
                    alike.setdefault((size, course), []).append(side)
        tables: list[Table] = []
        for (size, course), sides in alike.items():
            faces = self._geometry.faces(sides)
            parts = None if self._step.nonlinear else self._geometry.by_direction(faces)
            if parts is None or len(parts) > _MOST_DIRECTIONS:
                place = {"body": BODY, "group": self._geometry.face_group(faces, "pressed")}
                tables.append(self._load("pressure", place, "pressure", size, course))
                continue
            for normal, members in parts:  # a pressure of a linear step does not turn with the surface
                place = {"body": BODY, "group": self._geometry.face_group(members, "pressed")}
                traction = (-size * normal).tolist()
                tables.append(self._load("traction", place, "traction", traction, course))
        return [table | {"name": f"pressure_{k}"} for k, table in enumerate(tables, start=1)]

    def _gravity(self, acts: Acting) -> Table:
        total = np.zeros(3)
        alike: dict[tuple[tuple[float, ...], Value], list[str]] = {}
        for weight, value in acts.weights:
            alike.setdefault((weight.acceleration, value), []).append(weight.elements)
        for (acceleration, value), elements in alike.items():
            if not self._geometry.has_all(elements):
                raise NotUnderstood(f"gravity acts on '{elements[0]}' only, not on all elements")
            size, _, changes = self._course(value)
            if changes:
                raise NotUnderstood("gravity that changes with time is not known")
            total += size * np.array(acceleration) * self._units.acceleration
        return {"gravity": {"acceleration": total.tolist()}} if total.any() else {}

    def _damping(self) -> list[Table]:
        """Return Rayleigh damping: of the material, or of modes, in motions."""
        step, unit = self._step, self._units.time
        if not self._moves:
            return []
        found = {(material.alpha, material.beta) for material in self._deck.materials.values()}
        if step.procedure == "modal-dynamic":
            found = {step.rayleigh or (0.0, 0.0)}
        if len(found) > 1:
            raise NotUnderstood("materials have different damping")
        alpha, beta = found.pop()
        if not alpha and not beta:
            return []
        stiffness = "strain-rate" if step.nonlinear else "initial"
        return [{"name": "rayleigh", "alpha": alpha / unit, "beta": beta * unit, "stiffness": stiffness}]

    # -- time -----------------------------------------------------------------------------------------------------

    def _integrator(self) -> tuple[Table, Table]:
        step, unit = self._step, self._units.time
        duration, dt = step.period * unit, min(step.dt, step.period) * unit
        steps = math.ceil(step.period / step.dt * (1.0 - 1e-9))
        run: Table = {"duration": duration}
        if steps <= _MOST_FRAMES:
            run |= {"frames": steps, "samples": steps}
        if step.procedure == "explicit":
            return {"kind": "newmark", "dt": "auto"}, {"duration": duration}
        if step.procedure == "dynamic":
            return {"kind": "hht", "dt": dt, "alpha": step.alpha}, run
        if step.procedure == "modal-dynamic":
            # Modes are exact in time; ten steps instead of one are nearly.
            return {"kind": "newmark", "dt": dt / _FINER, "beta": 0.25}, run
        return {"kind": "energy-momentum", "dt": duration}, {"duration": duration, "frames": 1, "samples": 1}
