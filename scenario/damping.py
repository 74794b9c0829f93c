"""The tables of damping, dashpots and drag, and the loads that they describe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import pi
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from symplex.base.arguments import declared
from symplex.base.quantities import (
    ZERO,
    Name,
    Quantity,
    Text,
    Triple,
    names,
    not_negative,
    numbers,
    positive,
    refused,
    vector,
)
from symplex.errors import MeshError, ScenarioError
from symplex.fem.actions.dampers import MeanDashpot, QuadraticDrag
from symplex.fem.actions.damping import Dashpots, Drag, StiffnessDamping
from symplex.fem.actions.loads import SurfaceTraction
from symplex.fem.energies.energy import Array, Energy, IntArray
from symplex.fem.measures.inelastic_bars import InelasticBars
from symplex.fem.solids.viscous_stress import ViscousStress
from symplex.fem.structures.corotational import CorotationalDamping
from symplex.fem.structures.viscous_measures import ViscousMeasures
from symplex.fem.system import Load
from symplex.scenario.actions import Timed
from symplex.scenario.selections import Nodes, group_in, nodes_in, nodes_named
from symplex.scenario.table import BodyName, Need
from symplex.scenario.viscous import require_finite_strains

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables

_NEAR = 1e-9  # of the size of all bodies: ends that are no farther apart are one place
_MOST_JOINED = 300  # nodes of a dashpot, whose forces all depend on each other


def _ratios(value: Any) -> tuple[float, ...]:
    """Return ratios of damping, one or two; one number may stand alone."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = [value]
    return numbers("1").check(value)


class _Damper(Timed):
    """What damps."""

    def needs(self) -> Iterable[Need]:
        """Loads."""
        yield Need(
            "loads",
            "damping has no potential, which {kind} needs; take another integrator, such as {others}.",
        )


class DampingTable(_Damper):
    """Rayleigh damping in proportion to mass and stiffness, α M + β K.

    The history has its work, ``work_NAME_mass`` and ``work_NAME_stiffness_BODY``. With explicit Newmark it makes the
    stable step smaller ([damping.md](../damping.md)).
    """

    takes_rotations = True
    takes_reduced = True
    name: Annotated[Name, "Names its work."] = "damping"
    bodies: Annotated[
        tuple[BodyName, ...] | None, names(least=1), "Bodies, trusses, beams and shells that it damps; by default all."
    ] = None
    alpha: Annotated[
        float | None, not_negative("1/s"), "α; a mode of frequency ω has α/(2ω) + βω/2 of critical damping."
    ] = None
    beta: Annotated[float | None, not_negative("s"), "β."] = None
    frequencies: Annotated[tuple[float, ...] | None, numbers("Hz"), "Two that ascend; instead of α and β."] = None
    ratios: Annotated[
        tuple[float, ...] | None,
        Quantity(_ratios, "1", "number, or two", "≥ 0, < 1"),
        "Of critical damping at these frequencies; one number for both.",
    ] = None
    stiffness: Annotated[
        Literal["strain-rate", "initial"],
        'β as a viscous stress, which rotations do not feel; or `"initial"`, β times the stiffness of the '
        "undeformed body.",
    ] = "strain-rate"

    def _check(self) -> None:
        if self.frequencies is None and self.ratios is None:
            if not (self.alpha or self.beta):
                raise ValueError("damps nothing: give alpha (1/s), beta (s), or frequencies and ratios")
            if not self.beta:
                self.refuse_unused("stiffness", goes_with="a beta above 0")
            return
        if self.alpha is not None or self.beta is not None:
            raise ValueError("needs either alpha and beta, or frequencies and ratios, from which these follow")
        if self.frequencies is None or self.ratios is None:
            raise ValueError("needs both frequencies and ratios")
        if len(self.frequencies) != 2 or not 0.0 < self.frequencies[0] < self.frequencies[1]:
            raise ValueError(f"frequencies {refused('two that ascend', list(self.frequencies), 'Hz')}")
        if len(self.ratios) > 2 or not all(0.0 <= ratio < 1.0 for ratio in self.ratios) or not any(self.ratios):
            condition = "one or two of critical damping, from 0 to below 1, not all of them 0"
            raise ValueError(f"ratios {refused(condition, list(self.ratios))}")
        alpha, beta = self.coefficients
        if min(alpha, beta) < 0.0:
            # With one of both alone the ratio goes with the frequency, or with its inverse.
            low, high = self.frequencies
            first, second = self._two_ratios
            raise ValueError(
                f"ratios {first:g} at {low:g} Hz and {second:g} at {high:g} Hz need a negative "
                f"{'alpha' if alpha < 0.0 else 'beta'}, which would drive vibrations; with the first one the second "
                f"must be from {first * low / high:.3g} to {first * high / low:.3g}"
            )

    def within(self, bodies: set[str]) -> DampingTable | None:
        """Return it for those of its bodies that are among some."""
        if self.bodies is None:
            return self
        own = tuple(name for name in self.bodies if name in bodies)
        return self.replaced(bodies=own) if own else None

    def columns(self, tables: Tables) -> Iterable[str]:
        """Its parts, and their works."""
        parts = [f"stiffness_{table.name}" for table in (*tables.body, *tables.truss, *tables.beam, *tables.shell)]
        parts += [table.name for table in tables.flexible_body]
        return [f"{before}{self.name}_{part}" for part in ("mass", *parts) for before in ("", "work_")]

    @property
    def _two_ratios(self) -> tuple[float, float]:
        """Those at the two frequencies; one counts for both."""
        ratios = self.ratios or (0.0,)
        return ratios[0], ratios[-1]

    @property
    def coefficients(self) -> tuple[float, float]:
        """α in 1/s and β in s, where the ratio is ζ = α/(2ω) + β ω/2."""
        if self.frequencies is None or self.ratios is None:
            return self.alpha or 0.0, self.beta or 0.0
        w1, w2 = (2.0 * pi * f for f in self.frequencies)
        z1, z2 = self._two_ratios
        beta = 2.0 * (z2 * w2 - z1 * w1) / (w2 * w2 - w1 * w1)
        return 2.0 * w1 * w2 * (z1 * w2 - z2 * w1) / (w2 * w2 - w1 * w1), beta

    def add_damping(self, world: Builder) -> None:
        """Add a drag in proportion to mass, and viscous stresses of bodies and dashpots of trusses."""
        alpha, beta = self.coefficients
        masses = world.inertia.moved
        damped = list(masses) if self.bodies is None else self.bodies
        for name in (name for name in world.inertia.flexible if name in damped):
            one = world.inertia.flexible[name]
            world.add(f"{self.name}_{name}", CorotationalDamping(one.energy, beta, one.body.mass, alpha))
        massive = [masses[name] for name in damped if name not in world.inertia.flexible]
        if alpha > 0.0 and massive:
            world.add(f"{self.name}_mass", Drag(np.sum(massive, axis=0), alpha))
        points = world.inertia.positions()
        for name in (name for name in world.inertia.framed if beta > 0.0 and name in damped):
            for energy, of in world.inertia.framed[name].viscous.items():
                initial = self.stiffness == "initial"
                load = (
                    StiffnessDamping(of.energy, points, beta)
                    if initial
                    else ViscousMeasures(of.energy, beta * of.stiffness)
                )
                world.add(f"{self.name}_stiffness_{energy}", load)
        for body in (name for name in (*world.inertia.parts, *world.inertia.trusses) if beta > 0.0 and name in damped):
            solids = {} if body in world.inertia.trusses else world.solids(body)
            for name in solids or [body]:
                if self.stiffness == "initial":
                    load = StiffnessDamping(solids[name] if solids else _elastic(world, name), points, beta)
                elif name not in solids:
                    bars = _elastic(world, name)
                    load = Dashpots(bars.nodes, beta * axial_stiffness(bars, points))
                else:
                    require_finite_strains(solids[name], body, "beta", 'stiffness = "strain-rate" is')
                    load = ViscousStress.proportional(solids[name], beta)
                world.add(f"{self.name}_stiffness_{name}", load)


def _elastic(world: Builder, name: str) -> Energy:
    """Return the energy of a truss, of bars that yield or break that of intact ones."""
    part = world.inelastic.get(name)
    return part.frozen(part.initial()) if isinstance(part, InelasticBars) else world.energies[name]


def axial_stiffness(bars: Energy, points: Array) -> Array:
    """Return the stiffness [m] in N/m of bars against changes of length at the positions [n, 3]."""
    x = points[bars.nodes]
    e = x[:, 1] - x[:, 0]
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    return np.einsum("mi,mij,mj->m", e, bars.hessian(x)[:, :3, :3], e)


class _Named(_Damper):
    """A damper that is one load, of its name."""

    does_work = True
    name: Annotated[Name, "Names the column `work_NAME` of its work."]

    def load(self, world: Builder) -> Load:
        """Return it, between groups of the mesh of all bodies."""
        raise NotImplementedError

    def add_damping(self, world: Builder) -> None:
        """Add it."""
        world.add(self.name, self.load(world))


class DashpotTable(_Named):
    """A damper c |w|^p on the rate w of the distance between the means of two groups, or of one and a fixed point."""

    joins = True
    takes_rotations = True
    between: Annotated[
        tuple[Nodes, Nodes] | None,
        'Two ends: `[{ body = "a", group = "x_max" }, { body = "b", at = [x, y, z] }]`, of at most 300 nodes together.',
    ] = None
    body: Annotated[BodyName | None, "Of one end, instead of both in `between`."] = None
    group: Annotated[Text | None, "Group of nodes of one end; by default all."] = None
    at: Annotated[Triple | None, vector("m"), "Place of the node of one end, instead of a group."] = None
    to: Annotated[Triple | None, vector("m"), "Fixed point at the other end."] = None
    viscosity: Annotated[float, declared(MeanDashpot, "viscosity")]
    exponent: Annotated[float, declared(MeanDashpot, "exponent")] = 1.0

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        between = value.get("between") if isinstance(value, dict) else None
        if between is None:
            return value
        if not isinstance(between, list) or len(between) != 2:
            raise ValueError("between must be two groups: [{ body = …, group = … }, { body = …, group = … }]")
        return value | {"between": tuple(between)}

    def _check(self) -> None:
        if (self.between is None) == (self.body is None and self.to is None):
            raise ValueError("needs either between, two groups, or body, group and to, a fixed point")
        if self.between is None and (self.body is None or self.to is None):
            raise ValueError(f"needs {'body' if self.body is None else 'to, the fixed point (m)'}")
        if self.between is not None and (self.group is not None or self.at is not None):
            raise ValueError("with between has no group and no place")
        if self.group is not None and self.at is not None:
            raise ValueError("has group and at; give the name of a group, or the place of one node")

    @property
    def ends(self) -> list[Nodes]:
        """The ends on bodies, one or two."""
        if self.between is not None:
            return list(self.between)
        return [nodes_named(str(self.body), self.group, self.at)]

    def load(self, world: Builder) -> MeanDashpot:
        """Return the dashpot, if its ends are two places and have few nodes."""
        mesh = world.mesh
        ends: Sequence[IntArray] = [_particles(world, end) for end in self.ends]
        joined = sum(map(len, ends))
        if joined > _MOST_JOINED:
            raise ScenarioError(
                f"it joins {joined:,} nodes, at most {_MOST_JOINED} can be; name smaller groups, such as one point "
                "each."
            )
        places = [mesh.points[nodes].mean(axis=0) for nodes in ends] + ([] if self.to is None else [np.array(self.to)])
        if np.linalg.norm(places[1] - places[0]) <= _NEAR * np.ptp(mesh.points, axis=0).max():
            raise ScenarioError("its ends are at the same place, so that it has no direction; choose others.")
        if self.to is not None:
            return MeanDashpot(ends[0], self.to, self.viscosity, self.exponent, fixed=True)
        return MeanDashpot(ends[0], ends[1], self.viscosity, self.exponent)


def _particles(world: Builder, end: Nodes) -> IntArray:
    """Return the nodes of an end, of beams and shells all particles of these."""
    framed = world.inertia.framed.get(end.body)
    if framed is None:
        return nodes_in(world.mesh, end)
    chosen = framed.nodes_in(world.mesh, end.group, end.at)
    rods = framed.structure.frames.is_rod[np.isin(framed.particles[:, 0], chosen)]
    if rods.any() and not rods.all():
        raise ScenarioError(
            f"a dashpot acts on the mean of nodes of one kind, and {int(rods.sum())} of {len(rods)} of '{end.body}' "
            "are on no fold; name groups of one kind, or single nodes."
        )
    return chosen


class DragTable(_Named):
    """The drag −½ ρ c A |v − u| (v − u) of a fluid, shared by the nodes of a surface."""

    body: BodyName
    group: Annotated[Text | None, "Group of faces or nodes; by default the whole body."] = None
    density: Annotated[float, positive("kg/m³"), "ρ of the fluid."]
    coefficient: Annotated[float, positive("1"), "c."]
    area: Annotated[
        float | None, positive("m²"), "A of all together, usually the frontal area; by default that of the faces."
    ] = None
    velocity: Annotated[Triple, vector("m/s"), "u of the fluid."] = ZERO

    def load(self, world: Builder) -> QuadraticDrag:
        """Return the drag; nodes have shares of the area as by the faces, without faces equal ones."""
        mesh = world.mesh
        group = group_in(mesh, self.body, self.group)
        try:
            faces = mesh.faces_of(group)
        except MeshError as error:
            if self.area is None:
                raise ScenarioError(f"{str(error).rstrip('.')}; give the area (m²), then its nodes share it.") from None
            nodes = mesh.nodes_of(group)
            shares = np.ones(len(nodes))
        else:
            unit = SurfaceTraction(mesh.points, faces, (1.0, 0.0, 0.0))
            # Of quadratic faces corners may have a negative part.
            nodes, shares = unit.nodes, np.maximum(unit.forces[:, 0], 0.0)
            shares *= unit.forces[:, 0].sum() / shares.sum()
        if self.area is not None:
            shares = shares * (self.area / shares.sum())
        velocity = self.velocity if any(self.velocity) else None
        return QuadraticDrag(nodes, 0.5 * self.density * self.coefficient * shares, velocity)
