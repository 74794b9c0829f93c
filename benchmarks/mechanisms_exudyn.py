"""Mechanisms and beams by symplex and by Exudyn: error against work, what is conserved, time per step.

    OMP_NUM_THREADS=1 python benchmarks/mechanisms_exudyn.py [--problems pendulum ...] [--json FILE] [--write]

Both packages run in this process on one thread, one after the other, on the same problems: a double pendulum in space
(rigid bodies; the reference is DOP853 to 1e-12), a planar four-bar linkage of four hinges in space (redundant), a
slider-crank with a motor and a rod of beams, and a free beam that spins and bends. Of the last two the reference is the
package's own motion on the same mesh with a quarter of the finest step, so that errors are those of steps. Times are
processor times of steps without output, the better of two runs; energies are sampled in a run of their own.
`--write` puts the tables into `docs/benchmarks/mechanisms.md`. Needs `pip install exudyn`.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import symplex as sx
from symplex.fem.structures import BeamProperties, Section, beams

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import mechanisms

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "mechanisms.md"
SAMPLES = 40  # of energies in a run


@dataclass
class Run:
    """What a run with one step has led to.

    Attributes
    ----------
    found : list of float
        Coordinates at the end in m or rad, which errors are of.
    seconds : float
        Of processor time, for all steps.
    steps : int
    energy : float
        The largest difference of energy less work, relative to the problem's energy.
    momentum, angular_momentum : float or None
        The largest changes of a free body's, relative to their sizes.
    """

    found: list[float]
    seconds: float
    steps: int
    energy: float
    momentum: float | None = None
    angular_momentum: float | None = None


@dataclass
class Problem:
    """A problem in both packages: runs by steps, steps that are taken, and the exact end if it is known."""

    title: str
    unit: str
    steps: tuple[float, ...]
    symplex: Callable[..., Run]
    exudyn: Callable[..., Run]
    exact: Callable[[], np.ndarray] | None
    note: str


# -- symplex ------------------------------------------------------------------------------------------------------

OURS: dict[str, Callable[[float], Any]] = {
    "energy-momentum": sx.EnergyMomentum,
    "RATTLE, 4th order": lambda h: sx.Composition(sx.Rattle(h, {})),
}


def of_symplex(
    system: sx.System,
    start: sx.State,
    end: float,
    h: float,
    method: str,
    found: Callable[[sx.State], Any],
    timed: bool,
    free: bool = False,
) -> Run:
    """Follow a motion twice for its time, and once for what it conserves; or only once, for where it leads."""
    made, n = OURS[method](h), round(end / h)
    if not timed:
        return Run(list(map(float, found(made.start(system, start).advance(end)))), 0.0, n, 0.0)
    made.start(system, start).advance(2 * h)  # compiles
    seconds, state = [], start
    for _ in range(2):
        motion = made.start(system, start)
        begun = process_time()
        state = motion.advance(end)
        seconds.append(process_time() - begun)
    motion, scale = made.start(system, start), 0.0
    energies, momenta, angular = [], [], []
    for t in np.linspace(0.0, end, min(SAMPLES, n) + 1):
        at = motion.advance(h * round(t / h))
        scale = max(scale, system.kinetic(at.v))
        now = motion.energies(at)
        energies.append(now.get("balance", now["total"]))
        momenta.append(system.momentum(at))
        angular.append(system.angular_momentum(at))
    run = Run(list(map(float, found(state))), min(seconds), n, float(np.ptp(energies)) / scale)
    if free:
        run.momentum, run.angular_momentum = change(momenta), change(angular)
    return run


def change(values: list) -> float:
    """Return the largest change of vectors relative to the size of the first."""
    return float(np.abs(np.array(values) - values[0]).max() / np.linalg.norm(values[0]))


# -- Exudyn -------------------------------------------------------------------------------------------------------

THEIRS = ("generalised-α, ρ = 0.9", "generalised-α, ρ = 0.6", "trapezoidal, index 2")


def of_exudyn(
    build: Callable[[], tuple],
    end: float,
    h: float,
    method: str,
    timed: bool,
    *,
    free: bool = False,
    redundant: bool = False,
) -> Run:
    """Follow a motion twice for its time, and once for what it conserves, with a function of its own after steps.

    ``build`` makes a system, and functions of it: the coordinates at the end, and energy less work with momenta.
    """
    import exudyn as exu

    n = round(end / h)
    settings = exu.SimulationSettings()
    time = settings.timeIntegration
    time.numberOfSteps, time.endTime, time.verboseMode = n, end, 0
    time.newton.useModifiedNewton = True
    time.generalizedAlpha.spectralRadius = 0.6 if "0.6" in method else 0.9
    settings.solutionSettings.writeSolutionToFile = False
    kinds = exu.LinearSolverType
    settings.linearSolver.solverType = kinds.EigenDense if redundant else kinds.EXUdense
    settings.linearSolver.ignoreSingularJacobian = redundant
    kind = exu.DynamicSolverType
    solver = kind.TrapezoidalIndex2 if "index 2" in method else kind.GeneralizedAlpha
    seconds = []
    for _ in range(2 if timed else 1):
        mbs, found, _ = build()
        begun = process_time()
        mbs.SolveDynamic(settings, solverType=solver)
        seconds.append(process_time() - begun)
    result = list(map(float, found()))
    if not timed:
        return Run(result, 0.0, n, 0.0)
    mbs, found, observed = build()
    rows, every = [observed(0.0)], max(1, n // SAMPLES)

    def sampled(_: Any, t: float) -> bool:
        if round(t / h) % every == 0:
            rows.append(observed(t))
        return True

    mbs.SetPostStepUserFunction(sampled)
    mbs.SolveDynamic(settings, solverType=solver)
    energy, scale, momenta, angular = zip(*rows, strict=True)
    run = Run(result, min(seconds), n, float(np.ptp(energy)) / max(scale))
    if free:
        run.momentum, run.angular_momentum = change(list(momenta)), change(list(angular))
    return run


def empty() -> tuple:
    """Return Exudyn, its utilities, and an empty system."""
    import exudyn as exu
    from exudyn import itemInterface as items  # noqa: N813
    from exudyn.rigidBodyUtilities import AngularVelocity2EulerParameters_t, RigidBodyInertia

    return exu, items, exu.SystemContainer().AddSystem(), RigidBodyInertia, AngularVelocity2EulerParameters_t


def bodies_of_exudyn(mbs: Any, exu: Any, inertia_of: Any, bodies: list, gravity: tuple) -> tuple[list, Callable]:
    """Add rigid bodies (mass, centre, radii, axes, v, ω); return them, and what their energy and momenta are."""
    made, masses, tensors = [], [], []
    for mass, center, radii, axes, v, omega in bodies:
        squares = np.square(radii)
        tensor = mass * np.diag(squares.sum() - squares)
        inertia = inertia_of(mass, tensor)
        made.append(
            mbs.CreateRigidBody(
                referencePosition=list(center),
                referenceRotationMatrix=np.array(axes).T,
                initialVelocity=list(v),
                initialAngularVelocity=list(omega),
                inertia=inertia,
                gravity=list(gravity),
            )
        )
        masses.append(mass)
        tensors.append(tensor)
    kind = exu.OutputVariableType

    def observed() -> tuple[float, float]:
        kinetic = potential = 0.0
        for body, mass, tensor in zip(made, masses, tensors, strict=True):
            x, v, w = (
                np.array(mbs.GetObjectOutputBody(body, what, localPosition=[0, 0, 0]))
                for what in (kind.Position, kind.Velocity, kind.AngularVelocityLocal)
            )
            kinetic += 0.5 * mass * (v @ v) + 0.5 * w @ tensor @ w
            potential -= mass * (x @ np.array(gravity))
        return kinetic, potential

    return made, observed


# -- the double pendulum ------------------------------------------------------------------------------------------

PENDULUM_END = 2.0


def tip_of_pendulum(center: np.ndarray, axis: np.ndarray) -> np.ndarray:
    return center - 0.5 * mechanisms.LOWER * axis


def exact_pendulum() -> np.ndarray:
    """Return where the tip is at the end."""
    angles = mechanisms.by_energy(
        mechanisms.pendulum_mass,
        mechanisms.pendulum_potential,
        [0.0, 0.0],
        mechanisms.SPEEDS,
        np.array([0.0, PENDULUM_END]),
    )[-1]
    places = mechanisms.pendulum_places(angles)
    return np.asarray(tip_of_pendulum(places[2], places[3] @ [0.0, 0.0, 1.0]).real, float)


def our_pendulum(h: float, method: str, timed: bool = True) -> Run:
    system, start = mechanisms.double_pendulum()
    at_rest = start.q[system.frames.nodes[1]]
    weights = np.linalg.lstsq(
        np.vstack([(at_rest - at_rest.mean(axis=0)).T, np.ones(4)]), [0, 0, -0.5 * mechanisms.LOWER, 1.0], rcond=None
    )[0]
    return of_symplex(
        system, start, PENDULUM_END, h, method, lambda state: weights @ state.q[system.frames.nodes[1]], timed
    )


def their_pendulum(h: float, method: str, timed: bool = True) -> Run:
    def build() -> tuple:
        exu, _, mbs, inertia_of, _ = empty()
        places = mechanisms.pendulum_places(np.zeros(2))
        first, second = np.array([0.0, mechanisms.SPEEDS[0], 0.0]), np.array([*mechanisms.SPEEDS[::-1], 0.0])
        knee = np.array([0.0, 0.0, -mechanisms.UPPER])
        arm = np.array([0.0, 0.0, -0.5 * mechanisms.LOWER])
        speeds = [np.cross(first, places[0]), np.cross(first, knee) + np.cross(second, arm)]
        given = [
            (mechanisms.MASSES[k], places[2 * k], mechanisms.RADII[k], np.eye(3), speeds[k], (first, second)[k])
            for k in (0, 1)
        ]
        (upper, lower), observed = bodies_of_exudyn(mbs, exu, inertia_of, given, (0.0, 0.0, -mechanisms.G))
        ground = mbs.CreateGround()
        joint = {"useGlobalFrame": True}
        mbs.CreateRevoluteJoint(bodyNumbers=[ground, upper], position=[0, 0, 0], axis=[0, 1, 0], **joint)
        mbs.CreateRevoluteJoint(bodyNumbers=[upper, lower], position=list(knee), axis=[1, 0, 0], **joint)
        mbs.Assemble()

        def found() -> np.ndarray:
            return mbs.GetObjectOutputBody(lower, exu.OutputVariableType.Position, localPosition=list(arm))

        def of_time(_: float) -> tuple:
            kinetic, potential = observed()
            return kinetic + potential, kinetic, np.zeros(3), np.zeros(3)

        return mbs, found, of_time

    return of_exudyn(build, PENDULUM_END, h, method, timed)


# -- the linkage --------------------------------------------------------------------------------------------------

LINKAGE_END, ANGLE = 1.0, 1.2


def exact_linkage() -> np.ndarray:
    """Return the middle of the coupler at the end."""
    angle = mechanisms.by_energy(
        mechanisms.linkage_mass,
        mechanisms.linkage_potential,
        [ANGLE],
        [mechanisms.SPIN],
        np.array([0.0, LINKAGE_END]),
    )[-1, 0]
    corners = mechanisms.linkage_corners(angle)
    middle = 0.5 * (corners[1] + corners[2])
    return np.array([middle[0], 0.0, middle[1]])


def our_linkage(h: float, method: str, timed: bool = True) -> Run:
    system, start = mechanisms.four_bar(ANGLE)
    return of_symplex(system, start, LINKAGE_END, h, method, lambda state: system.frames.centers(state.q)[1], timed)


def their_linkage(h: float, method: str, timed: bool = True) -> Run:
    system, start = mechanisms.four_bar(ANGLE)
    frames, mass = system.frames, system.mass[system.frames.nodes]
    flat = mechanisms.linkage_corners(ANGLE)
    corners, across = np.column_stack([flat[:, 0], np.zeros(4), flat[:, 1]]), np.array([0.0, 1.0, 0.0])

    def build() -> tuple:
        exu, _, mbs, inertia_of, _ = empty()
        given, arms, v = [], frames.arms(start.q), start.v[frames.nodes]
        for k in range(3):
            along = corners[k + 1] - corners[k]
            length = float(np.linalg.norm(along))
            axes = np.array([along / length, across, np.cross(along / length, across)])
            r = length / np.sqrt(12.0)
            inertia = np.einsum("ai,aj->ij", arms[k], arms[k])
            spin = np.linalg.solve(np.trace(inertia) * np.eye(3) - inertia, np.cross(arms[k], v[k]).sum(axis=0))
            radii = (np.sqrt(r * r - 1e-4), 0.05, 0.01)
            given.append((mass[k].sum(), frames.centers(start.q)[k], radii, axes, v[k].mean(axis=0), spin))
        made, observed = bodies_of_exudyn(mbs, exu, inertia_of, given, (0.0, 0.0, -mechanisms.G))
        ground = mbs.CreateGround()
        for k, (a, b) in enumerate(((made[0], ground), (made[1], made[0]), (made[2], made[1]), (made[2], ground))):
            mbs.CreateRevoluteJoint(
                bodyNumbers=[b, a], position=list(corners[k]), axis=list(across), useGlobalFrame=True
            )
        mbs.Assemble()

        def found() -> np.ndarray:
            return mbs.GetObjectOutputBody(made[1], exu.OutputVariableType.Position, localPosition=[0, 0, 0])

        def of_time(_: float) -> tuple:
            kinetic, potential = observed()
            return kinetic + potential, kinetic, np.zeros(3), np.zeros(3)

        return mbs, found, of_time

    return of_exudyn(build, LINKAGE_END, h, method, timed, redundant=True)


# -- beams --------------------------------------------------------------------------------------------------------


def beams_of_exudyn(
    mbs: Any, exu: Any, items: Any, rates_of: Any, points: np.ndarray, given: BeamProperties, v: np.ndarray, omega: Any
) -> tuple[list, Callable]:
    """Add a straight beam along x with velocities of nodes; return its nodes, and what its energy and momenta are."""
    section = exu.BeamSection()
    stiffness = [given.axial, *given.shear, given.torsion, *given.bending]
    section.stiffnessMatrix = np.diag(stiffness)
    section.massPerLength = given.mass
    inertia = np.diag([sum(given.moments), *given.moments])
    section.inertia = inertia
    rest, length = np.array([1.0, 0.0, 0.0, 0.0]), float(np.linalg.norm(points[1] - points[0]))
    nodes, elements = [], []
    for x, speed, spin in zip(points, v, omega, strict=True):
        rates = list(rates_of(spin, rest))
        nodes.append(
            mbs.AddNode(items.NodeRigidBodyEP(referenceCoordinates=[*x, *rest], initialVelocities=[*speed, *rates]))
        )
    for a, b in pairwise(nodes):
        beam = items.ObjectBeamGeometricallyExact(nodeNumbers=[a, b], length=length, sectionData=section)
        elements.append(mbs.AddObject(beam))
    shares = length * np.where((np.arange(len(nodes)) % (len(nodes) - 1)) == 0, 0.5, 1.0)
    kind = exu.OutputVariableType
    matrix = length / 6.0 * (np.diag(np.full(len(nodes), 4.0)) + np.eye(len(nodes), k=1) + np.eye(len(nodes), k=-1))
    matrix[0, 0] = matrix[-1, -1] = length / 3.0

    def observed() -> tuple:
        x, v, w, turn = (
            np.array([mbs.GetNodeOutput(node, what) for node in nodes])
            for what in (kind.Position, kind.Velocity, kind.AngularVelocityLocal, kind.RotationMatrix)
        )
        kinetic = 0.5 * given.mass * np.einsum("ni,nm,mi->", v, matrix, v)
        kinetic += 0.5 * np.einsum("ni,nm,mj,ij->", w, matrix, w, inertia)
        strain = 0.0
        for element in elements:
            force, moment = (
                np.array(mbs.GetObjectOutputBody(element, what, localPosition=[0, 0, 0]))
                for what in (kind.ForceLocal, kind.TorqueLocal)
            )
            strain += 0.5 * length * float((np.concatenate([force, moment]) ** 2 / stiffness).sum())
        momentum = given.mass * shares @ v
        local = np.einsum("nij,nj->i", turn.reshape(-1, 3, 3), matrix @ w @ inertia)
        angular = given.mass * np.cross(x, matrix @ v).sum(axis=0) + local
        return kinetic, strain, momentum, angular

    return nodes, observed


CRANK_END, MOTOR, THICKNESS = 0.25, 0.3, 0.012
PLASTIC = sx.NeoHookean.from_young(7e8, 0.4, 1200.0)


def our_crank(h: float, method: str, timed: bool = True) -> Run:
    system, start, rod = mechanisms.slider_crank(THICKNESS, MOTOR, PLASTIC)

    def found(state: sx.State) -> np.ndarray:
        middle = state.q[rod[mechanisms.ELEMENTS // 2]].mean(axis=0)
        return np.array([system.joints["guide"].displacement(state.q), middle[0], middle[1]])

    return of_symplex(system, start, CRANK_END, h, method, found, timed)


def their_crank(h: float, method: str, timed: bool = True) -> Run:
    length, rod_length, n = mechanisms.CRANK, mechanisms.ROD, mechanisms.ELEMENTS
    section = Section.rectangle(THICKNESS, THICKNESS).of(PLASTIC)

    def build() -> tuple:
        exu, items, mbs, inertia_of, rates_of = empty()
        zero = np.zeros(3)
        given = [
            (0.12, [0.5 * length, 0.0, 0.0], (0.043, 0.01, 0.01), np.eye(3), zero, zero),
            (0.5, [length + rod_length, 0.0, 0.0], (0.02, 0.02, 0.02), np.eye(3), zero, zero),
        ]
        (crank, slider), of_bodies = bodies_of_exudyn(mbs, exu, inertia_of, given, (0.0, 0.0, 0.0))
        points = np.linspace(0.0, 1.0, n + 1)[:, None] * [rod_length, 0.0, 0.0] + [length, 0.0, 0.0]
        still = np.zeros_like(points)
        nodes, of_rod = beams_of_exudyn(mbs, exu, items, rates_of, points, section, still, still)
        ground = mbs.CreateGround()
        at = lambda body, x: mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[x, 0.0, 0.0]))  # noqa: E731
        of_node = lambda node: mbs.AddMarker(items.MarkerNodeRigid(nodeNumber=node))  # noqa: E731
        for first, second, axes in (
            (at(ground, 0.0), at(crank, -0.5 * length), [1, 1, 1, 1, 1, 0]),
            (at(crank, 0.5 * length), of_node(nodes[0]), [1, 1, 1, 1, 1, 0]),
            (at(slider, 0.0), of_node(nodes[-1]), [1, 1, 1, 1, 1, 0]),
            (at(ground, length + rod_length), at(slider, 0.0), [0, 1, 1, 1, 1, 1]),
        ):
            mbs.AddObject(items.GenericJoint(markerNumbers=[first, second], constrainedAxes=axes))
        mbs.CreateTorque(bodyNumber=crank, loadVector=[0.0, 0.0, MOTOR])
        mbs.Assemble()
        kind, turns = exu.OutputVariableType, [0.0]

        def found() -> np.ndarray:
            at = mbs.GetObjectOutputBody(slider, kind.Position, localPosition=[0, 0, 0])
            middle = mbs.GetNodeOutput(nodes[n // 2], kind.Position)
            return np.array([at[0] - length - rod_length, middle[0], middle[1]])

        def of_time(_: float) -> tuple:
            turn = np.array(mbs.GetObjectOutputBody(crank, kind.RotationMatrix, localPosition=[0, 0, 0])).reshape(3, 3)
            angle = np.arctan2(turn[1, 0], turn[0, 0])
            turns[0] = angle + 2.0 * np.pi * np.round((turns[0] - angle) / (2.0 * np.pi))
            kinetic, strain, *_ = of_rod()
            kinetic += of_bodies()[0]
            return kinetic + strain - MOTOR * turns[0], kinetic, np.zeros(3), np.zeros(3)

        return mbs, found, of_time

    return of_exudyn(build, CRANK_END, h, method, timed)


FREE_END, ELEMENTS = 2.0, 10
SPAGHETTI = BeamProperties(1e4, (1e4, 1e4), (500.0, 500.0), 500.0, 1.0, (10.0, 10.0))


def free_beam() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return nodes of a beam of 10 m, and velocities in m/s and rad/s: it spins, drifts and begins to bend."""
    part = np.linspace(0.0, 1.0, ELEMENTS + 1)
    points, spin = np.outer(10.0 * part, [1.0, 0.0, 0.0]), np.array([0.2, 0.3, 0.8])
    v = np.cross(spin, points - np.array([5.0, 0.0, 0.0])) + np.array([1.0, 0.0, 0.5])
    v[:, 2] += 4.0 * np.sin(2.0 * np.pi * part)
    omega = np.tile(spin, (len(points), 1))
    omega[:, 1] -= 0.8 * np.pi * np.cos(2.0 * np.pi * part)  # nodes turn as the beam bends, without shear
    return points, v, omega


def our_free_beam(h: float, method: str, timed: bool = True) -> Run:
    points, v, omega = free_beam()
    ends = np.arange(len(points), dtype=np.int32)
    mesh = sx.Mesh(points, {"line": np.column_stack([ends[:-1], ends[1:]])})
    beam = beams(mesh, SPAGHETTI, (0.0, 0.0, 1.0))
    system = sx.System(beam.mass, {"beam": beam.energy}, frames=beam.frames)
    start = system.state(beam.points, beam.frames.velocities(beam.points, v, omega))
    tips = lambda state: beam.frames.centers(state.q)[[0, -1]].ravel()  # noqa: E731
    return of_symplex(system, start, FREE_END, h, method, tips, timed, free=True)


def their_free_beam(h: float, method: str, timed: bool = True) -> Run:
    points, v, omega = free_beam()

    def build() -> tuple:
        exu, items, mbs, _, rates_of = empty()
        nodes, of_beam = beams_of_exudyn(mbs, exu, items, rates_of, points, SPAGHETTI, v, omega)
        mbs.Assemble()

        def found() -> np.ndarray:
            return np.concatenate([mbs.GetNodeOutput(nodes[k], exu.OutputVariableType.Position) for k in (0, -1)])

        def of_time(_: float) -> tuple:
            kinetic, strain, momentum, angular = of_beam()
            return kinetic + strain, kinetic, momentum, angular

        return mbs, found, of_time

    return of_exudyn(build, FREE_END, h, method, timed, free=True)


# -- all of them --------------------------------------------------------------------------------------------------

PROBLEMS = {
    "pendulum": Problem(
        "Double pendulum in space",
        "m",
        (0.02, 0.01, 0.005),
        our_pendulum,
        their_pendulum,
        exact_pendulum,
        "Two rigid bars on hinges at right angles, 2 s; error of the tip. Reference: Lagrange's equations, DOP853.",
    ),
    "linkage": Problem(
        "Four-bar linkage",
        "m",
        (0.008, 0.004, 0.002),
        our_linkage,
        their_linkage,
        exact_linkage,
        "Three rigid bars on four hinges in space, 20 conditions of rank 17, 1 s; error of the coupler's middle. "
        "Reference: its equation in one angle, DOP853. Exudyn with `ignoreSingularJacobian`.",
    ),
    "crank": Problem(
        "Slider-crank with a flexible rod",
        "m",
        (0.001, 0.0005, 0.00025),
        our_crank,
        their_crank,
        None,
        "A motor of 0.3 N m and a plastic rod of 300 × 12 × 12 mm (E = 0.7 GPa), 8 elements, 0.25 s; error of the "
        "slider and the middle of the rod.",
    ),
    "beam": Problem(
        "Free beam that spins and bends",
        "m",
        (0.02, 0.01, 0.005),
        our_free_beam,
        their_free_beam,
        None,
        "EA = kGA = 10⁴ N, EI = GJ = 500 N m², 10 m, 10 elements, 2 s; error of both ends.",
    ),
}
RIGID = ("pendulum",)  # for which RATTLE runs: others have redundant joints, or beams with stiff shear


def measured(name: str) -> dict[str, Any]:
    """Return runs of a problem by both packages, with their errors."""
    problem, rows, ends = PROBLEMS[name], [], {}
    for package, run, methods in (
        ("symplex", problem.symplex, [m for m in OURS if name in RIGID or "RATTLE" not in m]),
        ("Exudyn", problem.exudyn, list(THEIRS)),
    ):
        for method in methods:
            fine = min(problem.steps) / 4.0
            exact = problem.exact() if problem.exact is not None else np.array(run(fine, method, False).found)
            ends[package, method] = exact
            for h in problem.steps:
                try:
                    found = run(h, method)
                except Exception as error:  # of either package: its step was not solved
                    print(f"{name}: {package} {method}, h = {h:g}: {error}", flush=True)
                    rows.append({"package": package, "method": method, "step": h, "error": None})
                    continue
                row = {"package": package, "method": method, "step": h, **asdict(found)}
                rows.append(row | {"error": float(np.linalg.norm(np.array(found.found) - exact))})
                print(f"{name}: {package} {method}, h = {h:g}: {rows[-1]['error']:.1e}", flush=True)
    first, *others = ends.values()
    apart = max(float(np.linalg.norm(first - other)) for other in others)
    return {"rows": rows, "apart": apart}


def page(found: dict[str, Any], versions: str) -> str:
    """Return the page of all tables."""
    lines = [
        "# Mechanisms and beams compared with Exudyn",
        "",
        f"Written by `python benchmarks/mechanisms_exudyn.py --write`: {versions}, in one process on one thread.",
        "",
        "Both solve with Newton's method in each step and joints by multipliers; Exudyn's steps are generalised-α with "
        "index 3, or the trapezoidal rule with index 2, modified Newton, its default tolerances and dense matrices. "
        "Times are processor times of steps without output. Energy: largest change of energy less work, over the "
        "largest kinetic energy. Energy and angular momentum of Exudyn's free beam are computed from outputs of nodes "
        "and elements with consistent masses, which are its own to about 1e-2 only: changes below that are not seen.",
        "",
        "![Errors over time](../pictures/mechanisms_exudyn.png)",
    ]
    for name, problem in PROBLEMS.items():
        if name not in found:
            continue
        rows, apart = found[name]["rows"], found[name]["apart"]
        free = rows[0]["momentum"] is not None
        lines += ["", f"## {problem.title}", "", problem.note]
        if problem.exact is None:
            lines[-1] += (
                " Reference: the same method and mesh with a quarter of the finest step, so that errors are those of "
                f"steps; these references are at most {apart:.1e} m apart."
            )
        steps = list(dict.fromkeys(row["step"] for row in rows))
        more = " momentum | angular momentum |" if free else ""
        columns = f"error ({problem.unit}) | µs a step | ms | energy |{more}"
        lines += ["", f"| steps of {', '.join(f'{h:g}' for h in steps)} s | {columns}"]
        lines += ["| --- | --- | --- | --- | --- |" + (" --- | --- |" if free else "")]
        for method in dict.fromkeys((row["package"], row["method"]) for row in rows):
            cells = zip(*(_cells(row, free) for row in rows if (row["package"], row["method"]) == method), strict=True)
            lines.append(f"| {' | '.join([', '.join(method), *('; '.join(cell) for cell in cells)])} |")
    return "\n".join(lines) + "\n"


def _cells(row: dict[str, Any], free: bool) -> list[str]:
    """Return the numbers of a run as they are printed."""
    if row["error"] is None:
        return ["not solved", *["–"] * (5 if free else 3)]
    cells = [f"{row['error']:.1e}", f"{1e6 * row['seconds'] / row['steps']:.0f}", f"{1e3 * row['seconds']:.0f}"]
    cells.append(f"{row['energy']:.0e}")
    return [*cells, f"{row['momentum']:.0e}", f"{row['angular_momentum']:.0e}"] if free else cells


def draw(found: dict[str, Any], file: Path) -> None:
    """Draw errors over processor times."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    figure, panels = plt.subplots(2, 2, figsize=(10, 8), dpi=90, layout="constrained")
    names = [*OURS, *THEIRS]
    colours = dict(zip(names, ("#c0392b", "#e59866", "#2c5fa8", "#7fb3d5", "#888888"), strict=True))
    for axes, (name, record) in zip(panels.ravel(), found.items(), strict=False):
        for method in dict.fromkeys(row["method"] for row in record["rows"]):
            rows = [row for row in record["rows"] if row["method"] == method and row["error"] is not None]
            times, errors = [row["seconds"] for row in rows], [row["error"] for row in rows]
            package, mark = ("symplex", "o-") if method in OURS else ("Exudyn", "s--")
            axes.loglog(times, errors, mark, color=colours[method], label=f"{package}, {method}")
        axes.set(title=PROBLEMS[name].title, xlabel="processor time in s", ylabel="error in m")
        axes.xaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
        axes.grid(alpha=0.25, which="both")
    panels[0, 0].legend(fontsize=8)
    figure.savefig(file)
    plt.close(figure)


def main() -> None:
    """Measure, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description="Mechanisms and beams by symplex and by Exudyn.")
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--json", type=Path, help="write all numbers to this file")
    parser.add_argument("--write", action="store_true", help="write the page and the picture of the documentation")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        import exudyn
    except ImportError:
        sys.exit("mechanisms_exudyn.py needs Exudyn: pip install exudyn")
    found = {name: measured(name) for name in options.problems}
    text = page(found, f"symplex {sx.__version__}, Exudyn {exudyn.__version__}")
    print(text)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
        draw(found, PAGE.parents[1] / "pictures" / "mechanisms_exudyn.png")


if __name__ == "__main__":
    main()
