"""Which integrator runs on which system: every pair tried on a tiny system, as the table of ``docs/pairs.md``.

A pair runs if a few steps can be taken; it is refused if that is said in one sentence (`InvalidSystem`). Anything else
is an error.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

import symplex as sx
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array
from symplex.time.conserving.schemes import SCHEMES

RUNS, EXTERNAL, REFUSED = "runs", "external", "refused"
_STEP, _GRID = 0.02, 0.02  # s, m
_RUBBER = dict(lmbda=2.0, mu=1.0, density=1.0)
_MESH = sx.box((1.0, 0.8, 0.6), (1, 1, 1), split="6")


class Anchors(sx.Energy):
    """An energy of a user, with no more than its value, gradient and Hessian: springs from nodes to where they were."""

    def __init__(self, points: Array):
        self.nodes = np.arange(len(points), dtype=np.int32)[:, None]
        self.points = points[:, None, :]

    def value(self, x: Array) -> Array:
        """Return ½ |x − X|² [m]."""
        return 0.5 * ((x - self.points) ** 2).sum(axis=(1, 2))

    def gradient(self, x: Array) -> Array:
        """Return x − X [m, 1, dim]."""
        return x - self.points

    def hessian(self, x: Array) -> Array:
        """Return 1 [m, dim, dim]."""
        return np.broadcast_to(np.eye(x.shape[2]), (len(x), x.shape[2], x.shape[2])).copy()


Made = tuple[sx.System, sx.State]


def _moving(system: sx.System, points: Array) -> sx.State:
    """Return a state of a body that is stretched, and turns and drifts."""
    centre = points.mean(axis=0)
    q = centre + (points - centre) * [1.1, 0.95, 1.03][: system.dim]
    spin = (
        np.cross([0.3, -0.2, 0.9], points - centre) if system.dim == 3 else 0.3 * (points - centre)[:, ::-1] * [-1, 1]
    )
    return system.state(q, np.where(system.fixed, 0.0, spin + 0.05))


def _solid(material: sx.Material | None = None, mesh: sx.Mesh = _MESH, kind: str = "tetra", **options: object) -> Made:
    """Return a block of a solid, with further energies, loads and supports of functions of points and masses."""
    points, cells = mesh.points, mesh.cells[kind]
    solid = sx.Solid(points, cells, material or sx.NeoHookean(**_RUBBER))
    mass = sx.consistent_mass if options.pop("consistent", False) else sx.lumped_mass
    m = mass(points, cells, 1.0, len(points))
    energies = {"solid": solid} | options.pop("more", lambda points, m: {})(points, m)
    system = sx.System(m, energies, **{name: make(points, m) for name, make in options.items()})
    return system, _moving(system, points)


def _pairs(law: sx.measures.PairLaw, dim: int = 3) -> Made:
    """Return six particles, every two of them a pair."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.9, 0], [0.5, 0.3, 0.8], [1.4, 0.9, 0.3], [0, 1.2, 0.9]])[:, :dim]
    system = sx.System(np.linspace(1.0, 2.0, 6), {"pairs": sx.Bars(sx.measures.all_pairs(6), law, dim)}, dim=dim)
    return system, _moving(system, points)


def _two_bodies() -> Made:
    system = sx.System(
        np.array([3.0, 1.0]), {"pair": sx.Bars([[0, 1]], sx.measures.InverseDistance(1.0), dim=2)}, dim=2
    )
    return system, system.state([[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.1], [0.2, 0.9]])


def _floor(points: Array, m: Array) -> dict[str, sx.Energy]:
    plane = sx.HalfSpace((0.0, 0.0, 0.02), (0.0, 0.0, 1.0))
    return {"floor": sx.RigidContact(np.arange(len(points)), plane, 10.0)}


def _ball(points: Array, m: Array) -> dict[str, sx.Energy]:
    return {"ball": sx.RigidContact(np.arange(len(points)), sx.Sphere((0.5, 0.4, -0.9), 0.95), 10.0)}


def _massless() -> Made:
    mesh = sx.box((1.0, 0.8, 0.6), (2, 2, 4), split="6")
    cells, low = mesh.cells["tetra"], mesh.nodes_of("z_min")
    m = sx.contact.redistributed_mass(sx.lumped_mass(mesh.points, cells, 1.0, len(mesh.points)), mesh.points, low)
    floor = sx.RigidContact(low, sx.HalfSpace((0.0, 0.0, 0.02), (0.0, 0.0, 1.0)), 10.0)
    solid = sx.Solid(mesh.points, cells, sx.NeoHookean(**_RUBBER))
    system = sx.System(m, {"solid": solid, "floor": floor}, massless=m == 0.0)
    return system, _moving(system, mesh.points)


def _two_blocks(law: str) -> Made:
    """Return two blocks that are within the distance of contact, and close."""
    high = sx.Mesh(_MESH.points + np.array([0.1, 0.05, 0.68]), dict(_MESH.cells))
    mesh = sx.merge({"low": _MESH, "high": high})
    points, cells = mesh.points, mesh.cells["tetra"]
    contact = sx.contact.BodyContact(sx.contact.Surface.of(mesh, ["low", "high"]), 10.0, law=law, distance=0.1)
    energies = {"solid": sx.Solid(points, cells, sx.NeoHookean(**_RUBBER)), "contact": contact}
    system = sx.System(sx.lumped_mass(points, cells, 1.0, len(points)), energies)
    v = np.zeros_like(points)
    v[mesh.nodes_of("high"), 2] = -0.1
    return system, system.state(points, v)


def _push(t: float, q: Array, v: Array) -> Array:
    return np.full_like(q, 0.1 * np.sin(t))


SYSTEMS: dict[str, Callable[[], Made]] = {
    "neo-Hookean, tetrahedra": _solid,
    "Mooney–Rivlin": lambda: _solid(sx.MooneyRivlin(0.3, 0.2, 2.0, 1.0)),
    "Saint Venant–Kirchhoff": lambda: _solid(sx.SaintVenantKirchhoff(**_RUBBER)),
    "linear elasticity": lambda: _solid(sx.LinearElastic(**_RUBBER)),
    "tetrahedra of 10 nodes": lambda: _solid(mesh=sx.quadratic(_MESH), kind="tetra10"),
    "hexahedra": lambda: _solid(mesh=sx.box((1.0, 0.8, 0.6), (1, 1, 1), split="hexahedra"), kind="hexahedron"),
    "consistent mass": lambda: _solid(consistent=True),
    "springs": lambda: _pairs(sx.measures.EngineeringStrain(2.0, 0.9)),
    "bars with Green strain": lambda: _pairs(sx.measures.GreenStrain(2.0, 0.9)),
    "Lennard-Jones, plane": lambda: _pairs(sx.measures.LennardJones(0.1, 0.5), dim=2),
    "two gravitating bodies": _two_bodies,
    "gravity": lambda: _solid(more=lambda x, m: {"gravity": sx.Gravity(m, (0.0, 0.0, -0.5))}),
    "contact with a plane": lambda: _solid(more=_floor),
    "contact with a sphere": lambda: _solid(more=_ball),
    "zero-mass contact nodes": _massless,
    "contact between bodies, penalty": lambda: _two_blocks("penalty"),
    "contact between bodies, barrier": lambda: _two_blocks("barrier"),
    "constraint as a penalty": lambda: _solid(
        more=lambda x, m: {"rod": sx.Penalty(sx.measures.RigidBars.between(x, [[0, 7]]), 20.0)}
    ),
    "user-defined energy": lambda: _solid(more=lambda x, m: {"anchors": Anchors(x)}),
    "time-dependent load": lambda: _solid(loads=lambda x, m: {"push": _push}),
    "drag": lambda: _solid(loads=lambda x, m: {"drag": sx.actions.Drag(m, 0.3)}),
    "supports at rest": lambda: _solid(fixed=lambda x, m: sx.fixed_mask(len(x), [([0, 1, 2], "xyz")])),
    "moving supports": lambda: _solid(
        moving=lambda x, m: {"lift": sx.actions.SupportTranslation([0, 1, 2], "z", sx.actions.TimeFunction.steady(0.1))}
    ),
}


def _rod(system: sx.System, state: sx.State) -> dict[str, sx.measures.Constraint]:
    """Return a rod between the last two nodes, which have mass and are no supports."""
    return {"rod": sx.measures.RigidBars.between(state.q, [[system.n_nodes - 2, system.n_nodes - 1]])}


Maker = Callable[[sx.System, sx.State], sx.Integrator]


def _always(integrator: sx.Integrator) -> Maker:
    return lambda system, state: integrator


INTEGRATORS: dict[str, Maker] = {
    "ForceStepping": _always(sx.ForceStepping(_GRID)),
    "JacobiReduction of it": _always(sx.reductions.JacobiReduction(sx.ForceStepping(_GRID))),
    "Newmark explicit": _always(sx.Newmark(_STEP)),
    "Multirate": _always(sx.explicit.Multirate(_STEP)),
    "Newmark trapezoidal": _always(sx.Newmark.trapezoidal(_STEP)),
    "EnergyMomentum": _always(sx.EnergyMomentum(_STEP)),
    "Midpoint": _always(sx.Midpoint(_STEP)),
    "VariationalMidpoint": _always(sx.VariationalMidpoint(_STEP)),
    "AdaptiveVariational": _always(sx.AdaptiveVariational(_STEP)),
    "GeneralizedAlpha": _always(sx.GeneralizedAlpha(_STEP)),
    "HilberHughesTaylor": _always(sx.HilberHughesTaylor(_STEP)),
    **{f"GrahamJelenic {scheme}": _always(sx.GrahamJelenic(_STEP, scheme)) for scheme in SCHEMES},
    "ZhangSkeel": _always(sx.ZhangSkeel(_STEP)),
    "ZhangSkeel simplified": _always(sx.ZhangSkeel(_STEP, variant="simplified")),
    "ZhangSkeel push-forward": _always(sx.ZhangSkeel(_STEP, variant="push-forward")),
    "Rattle": lambda system, state: sx.Rattle(_STEP, _rod(system, state)),
    "Shake": lambda system, state: sx.constraints.Shake(_STEP, _rod(system, state)),
    "Composition of EnergyMomentum": _always(sx.Composition(sx.EnergyMomentum(_STEP))),
    "Composition of cayley-magnus-4": _always(sx.Composition(sx.GrahamJelenic(_STEP, "cayley-magnus-4"), 6)),
    "Langevin over Newmark": _always(sx.Langevin(sx.Newmark(_STEP), 0.01, rate=0.5, boltzmann=1.0)),
}


def tried(make: Maker, system: sx.System, state: sx.State) -> tuple[str, str]:
    """Return what came of an integrator on a system, and the sentence of a refusal."""
    integrator = make(system, state)
    try:
        if isinstance(integrator, sx.Rattle | sx.constraints.Shake):
            state = sx.constraints.project(system, integrator.constraints, state)
        _run(integrator, system, state)
    except InvalidSystem as error:
        refusal = str(error)
    else:
        return RUNS, ""
    outside = tuple(name for name, energy in system.energies.items() if not energy.has("secant"))
    inner = integrator.integrator if isinstance(integrator, sx.Composition) else integrator
    if outside and isinstance(inner, sx.GrahamJelenic):
        try:
            named = replace(inner, external=outside)
            _run(named if inner is integrator else replace(integrator, integrator=named), system, state)
        except (InvalidSystem, ValueError):
            return REFUSED, refusal
        return EXTERNAL, refusal
    return REFUSED, refusal


def _run(integrator: sx.Integrator, system: sx.System, state: sx.State) -> None:
    end = integrator.start(system, state).advance(state.t + 2 * _STEP)
    if not (np.isfinite(end.q).all() and np.abs(end.q - state.q).max() > 0.0):
        raise RuntimeError(f"{integrator} did not move the system.")


def outcomes() -> dict[tuple[str, str], tuple[str, str]]:
    """Return what came of every pair, by the names of system and integrator."""
    made = {name: make() for name, make in SYSTEMS.items()}
    return {(s, i): tried(make, *made[s]) for s in SYSTEMS for i, make in INTEGRATORS.items()}


def page(found: Mapping[tuple[str, str], tuple[str, str]]) -> str:
    """Return ``docs/pairs.md``."""
    words = [outcome for outcome, _ in found.values()]
    alike: dict[tuple[str, str], list[str]] = {}
    for name in INTEGRATORS:
        refused, external = (
            "; ".join(s for s in SYSTEMS if found[s, name][0] == outcome) for outcome in (REFUSED, EXTERNAL)
        )
        alike.setdefault((refused, external), []).append(name)
    lines = [
        "# Integrators and systems: what runs on what",
        "",
        "Which integrator supports which elements, materials, contact, loads and supports:",
        f"{len(INTEGRATORS)} integrators and {len(SYSTEMS)} systems. {words.count(RUNS)} of {len(words)} pairs run,",
        f"{words.count(EXTERNAL)} more if energies without a secant form are named in `external`;",
        f"{words.count(REFUSED)} are refused at the start; the message names integrators that support the system.",
        "Written by `benchmarks/pairs.py`, which tries each pair on a tiny system.",
        "",
        "| integrator | refused | only with `external` |",
        "| --- | --- | --- |",
        *(
            f"| {'; '.join(names)} | {refused or '–'} | {external or '–'} |"
            for (refused, external), names in alike.items()
        ),
        "",
        f"All others of these systems run: {'; '.join(SYSTEMS)}. `Rattle` and `Shake` have a rod between two nodes.",
        "`PolarReduction` is for two bodies only.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Try all pairs and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, help="the folder of pairs.md, rewritten; without it, print")
    docs = parser.parse_args().docs
    text = page(outcomes())
    if docs is None:
        print(text)
    else:
        (docs / "pairs.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
