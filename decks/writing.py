"""From a step of a deck to the tables of a scenario."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from symplex.decks.body_tables import BodyTables
from symplex.decks.constraint_tables import IMAGE, ConstraintTables
from symplex.decks.constraints import on_turning_nodes, rows_of
from symplex.decks.contact_tables import ContactTables, rubs
from symplex.decks.courses import Courses
from symplex.decks.cyclic import diameter_of
from symplex.decks.deck import Deck, Step
from symplex.decks.discrete import discrete_of
from symplex.decks.geometry import DeckGeometry
from symplex.decks.load_tables import LoadTables
from symplex.decks.parts import Parts
from symplex.decks.paths import Path
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.rigid import driven_groups, rotation_dofs
from symplex.decks.state import (
    Acting,
    acting,
    acting_about,
    local_directions,
    locks,
    preload_of,
    require_static_start,
    still_in_all,
)
from symplex.decks.stepping import OfStep, require_few, run_along, run_of, stage_of, title_of
from symplex.decks.support_tables import SupportTables
from symplex.decks.temperature_tables import TemperatureTables
from symplex.decks.units import Units

Table = dict[str, Any]
_RUBBING = 10  # increments of a static step with friction, at least
_LARGE = "steps without NLGEOM whose metal flows are computed with large strains: their results differ by the strain"


class StepWriter(OfStep):
    """Writes the tables of one step of a deck of solid elements."""

    def __init__(self, deck: Deck, geometry: DeckGeometry, step: Step, units: Units, mesh: str):
        super().__init__(deck, geometry, step, units, mesh)
        self._local = local_directions(deck, geometry)
        chained = self._is_chained()
        self._preload = 0 if chained else preload_of(deck, step)
        flows = deck.flows and step.procedure != "frequency"
        if deck.flows and (self._preload or chained or step.procedure == "modal-dynamic"):
            raise UnsupportedKeyword("its metal flows, so that only static steps and motions from the start are known")
        large = step.nonlinear or self._preload > 0 or flows
        if flows and not step.nonlinear and _LARGE not in deck.remarks:
            deck.remarks.append(_LARGE)
        given = acting(deck, geometry, step.number).supports
        self._driven = driven_groups(deck, geometry, given) if step.nonlinear and not self._preload else []
        self._rows = rows_of(
            deck,
            geometry,
            self._local,
            large,
            diameter_of(deck, step),
            still=still_in_all(deck, geometry, step.number) if large and deck.rigid else (),
            driven=[one.group for one in self._driven],
        )
        self._local |= self._rows.local
        depends = flows or rubs(deck) or locks(deck, step)  # on the way to it
        along = chained or (depends and step.procedure == "static")
        self._path = Path(deck, step.number, self._acting_to) if along else None
        self._courses = Courses(deck, step, units, self._preload, self._path)
        discrete = discrete_of(deck, geometry, large, flows)
        if deck.connectors:
            raise UnsupportedKeyword("connectors (CONN3D2) are supported between beams and shells only")
        self._parts = Parts.of(deck, geometry)
        self._contact = ContactTables(deck, geometry, step, units, self._parts)
        self._constraints = ConstraintTables(self._rows, discrete, geometry, units, self._parts, deck.pretensions)
        self._loads = LoadTables(
            step, geometry, units, self._courses, self._constraints, self._parts, self._local, self._rows.means
        )
        # Vibrations are small, but those about a loaded state are of a law that has its stresses.
        loaded = step.procedure == "frequency" and self._preload > 0
        law = step.nonlinear or flows or step.procedure == "buckle" or loaded
        self._body = BodyTables(deck, geometry, step, units, mesh, law, self._parts, flows)

    def tables(self) -> Table:
        """Return the tables of the scenario.

        Raises
        ------
        UnsupportedKeyword
            If the step says what a scenario cannot.
        MeshError
            If it refers to what is not there.
        """
        step = self._step
        if step.is_static:
            require_static_start(self._deck, step)
        acts = self._acting()
        heat = TemperatureTables(self._deck, self._geometry, self._courses, acts)
        held = SupportTables(step, self._units, self._courses, self._rows, self._constraints, self._local)
        supports = held.tables(acts) + self._locked(held, acts) + self._turned()
        supports += held.released(self._path.released) if self._path is not None else []
        loads = self._loads.tables(acts)
        require_few(loads)
        static = (step.procedure == "static" and self._path is None) or self._preload
        tables: Table = {"title": title_of(self._deck, step), "body": self._body.tables()}
        nodes = {name: self._parts.nodes(name) for name in self._parts.names}
        tables["temperature"] = heat.tables(nodes, f"{self._file.removesuffix('.mesh.inp')}-{step.number}")
        self.files = heat.files
        tables["contact"] = self._contact.tables()
        if self._rows.doubled:
            if tables["contact"]:
                raise UnsupportedKeyword("contact in a structure with cyclic symmetry is not supported")
            if self._deck.pretensions:
                raise UnsupportedKeyword("pretension in a structure with cyclic symmetry is not supported")
            if self._constraints.loose:
                raise UnsupportedKeyword("nodes of no element in a structure with cyclic symmetry are not supported")
            tables["body"].append({**tables["body"][0], "name": IMAGE})
            supports += [{**table, "body": IMAGE} for table in supports]
            tables["temperature"] += [{**table, "body": IMAGE} for table in tables["temperature"]]
        if self._constraints.loose and step.procedure == "explicit":
            raise UnsupportedKeyword("nodes of no element have no mass, which explicit steps need")
        tables["point_mass"] = self._constraints.masses(None if step.is_static else self._body.density)
        tables["spring"] = self._constraints.springs()
        tables["pretension"] = self._constraints.pretensions(self._body.stiffest, step.is_static)
        tables["constraint"] = self._constraints.tables(self._body.stiffest, step.is_static)
        tables["support"] = supports + self._constraints.held(acts.supports, self._courses.moves)
        tables["damping"] = self.damping("strain-rate" if step.nonlinear else "initial")
        tables["dashpot"] = self._constraints.dashpots() if self._courses.moves else []
        tables["velocity"] = self._body.velocities() if self._courses.moves else []
        tables["gravity"] = self._loads.gravity(acts)
        tables["load"] = loads
        if static and (acts.loaded or self._driven):
            tables["start"] = {"kind": "static"}
        if step.least:
            if step.procedure != "explicit":
                raise UnsupportedKeyword("masses are scaled in explicit steps only")
            tables["mass_scaling"] = {"dt": step.least * self._units.time}
        if self._path is not None and step.is_motion:
            if self._deck.velocities and self._path.steps[0].procedure == "static":
                raise UnsupportedKeyword("initial velocities after static steps whose loads or supports change")
            tables["stage"] = [stage_of(one, self._units) for one in self._path.steps]
        else:
            tables["integrator"], tables["run"] = (
                run_of(step, self._units)
                if self._path is None
                else run_along(self._path.steps, self._units, 1 if self._deck.flows else _RUBBING)
            )
        return {key: table for key, table in tables.items() if table}

    @property
    def loose(self) -> list[int]:
        """What the deck calls the nodes of no element that are in the tables."""
        numbers = self._geometry.numbers
        return [int(numbers[node]) for node in self._constraints.loose if node < len(numbers)]

    def _acting_to(self, number: int) -> Acting:
        """Return what acts in a step, rotations and moments of reference nodes on the nodes that stand for them."""
        acts = acting(self._deck, self._geometry, number)
        driven = {one.reference for one in self._driven}
        for one in self._driven:
            driven |= {node for node, _ in rotation_dofs(one.group, self._geometry)}
        supports = {dof: value for dof, value in acts.supports.items() if dof[0] not in driven}
        return on_turning_nodes(replace(acts, supports=supports), self._rows)

    def _turned(self) -> list[Table]:
        """Return supports of rigid bodies that turn as it is given."""
        if self._driven and self._path is not None:
            raise UnsupportedKeyword("rigid bodies that turn as given, in steps whose results depend on earlier ones")
        return [
            {"name": f"turn_{k}_{place['body']}", **place} | self._courses.rotation(one.turn, at)
            for k, one in enumerate(self._driven, start=1)
            for at in [self._geometry.mesh.points[one.reference] * self._units.length]
            for place in self._constraints.places(one.nodes, f"turned_{k}")
        ]

    def _locked(self, held: SupportTables, acts: Acting) -> list[Table]:
        """Return supports of what is held where earlier steps have moved it."""
        if not acts.locked:
            return []
        if self._path is None:
            raise UnsupportedKeyword(
                "supports that hold nodes where earlier steps have moved them are known in static steps only"
            )
        return held.locked(self._path.locked)

    def _acting(self) -> Acting:
        """Return what acts: at the end of the way, if results depend on it."""
        if self._path is not None:
            return self._path.acts
        return acting_about(self._step, self._preload, self._acting_to)

    def _is_chained(self) -> bool:
        """Return whether a motion goes on from another one, or changes what acts at its static start.

        Raises
        ------
        UnsupportedKeyword
            If its steps cannot be stages of one scenario.
        """
        step, deck = self._step, self._deck
        if not step.is_motion:
            return False
        earlier = [one for one in deck.steps[: step.number - 1] if not one.perturbation]
        moved = [one for one in earlier if one.is_motion]
        if not moved:
            if not (preload := preload_of(deck, step)):
                return False
            before, acts = acting(deck, self._geometry, preload), acting(deck, self._geometry, step.number)
            given = (*acts.forces.items(), *acts.pressures.items())
            new = [key for key, values in given if values[-1].step == step.number]
            return bool(
                step.new_forces
                or step.new_pressures
                or any(key in before.forces or key in before.pressures for key in new)
                or step.new_temperatures
                or any(one.step == step.number for one in acts.temperatures.values())
                or step.new_supports
                or {*acts.supports.items()} != {*before.supports.items()}
            )
        if any(one.procedure == "static" and one.number > moved[0].number for one in earlier):
            raise UnsupportedKeyword("a static step after a motion is not supported")
        damping = {one.rayleigh for one in [*moved, step]}
        if len(damping) > 1 or {one.nonlinear for one in earlier} != {step.nonlinear}:
            raise UnsupportedKeyword("motions one after the other must have NLGEOM and damping alike")
        if {one.procedure == "explicit" for one in moved} != {step.procedure == "explicit"}:
            raise UnsupportedKeyword("explicit steps and others, whose masses differ, one after the other")
        return True
