"""What `symplex check` prints of a scenario: sizes, steps, and an estimate of time and memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np

from symplex.contact.bodies import BodyContact
from symplex.contact.segments import SegmentContact
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.energies.contact_energy import contact_of
from symplex.fem.energies.energy import Array
from symplex.fem.structures.frames import nodes_and_degrees
from symplex.fem.system import State, System
from symplex.meshes.formats.account import some
from symplex.meshes.quality import describe
from symplex.runs.parts import Parts
from symplex.runs.plausibility import doubts
from symplex.runs.progress import clock, si
from symplex.runs.report import called
from symplex.runs.tables import table
from symplex.scenario.conditions import described
from symplex.scenario.integrators import step_of
from symplex.scenario.scenario import Problem
from symplex.time.equilibria.quasi_static import Static
from symplex.time.explicit.local_gain import expected_gain
from symplex.time.explicit.multirate import Multirate
from symplex.time.motion import FixedStepMotion, Motion
from symplex.time.stability import stable_step
from symplex.time.traits import runs_on

_NOISE = 1e-9  # energies that are rounding, relative to the largest
_WORTH_IT = 1.5  # a gain of local time steps that is reported where another method is chosen
_TRIAL = 0.5  # s of wall time to measure the speed in
_WARM_UP = 20.0  # s of wall time for the first piece, with compiling
_FIRST_PIECE = 2.0**-200  # of the duration
_CENTURY = 3.15576e9  # s


def check_report(problem: Problem) -> tuple[str, str]:
    """Return sizes, stable step, and the estimated memory and time of a run; and why it fails early, if it does."""
    scenario, system = problem.scenario, problem.system
    tables = scenario.tables
    nodes, degrees = nodes_and_degrees(system)
    rows = [("size", f"{nodes:,} nodes, {degrees:,} degrees of freedom")]
    mesh = problem.mesh
    for part in Parts.of(problem):
        rows += part.describe(mesh, problem.state.q, system)
    points = sum(len(one.nodes) - 1 for one in problem.flexible.values())  # each a part of the mesh, of one body
    if tables.names and (pieces := describe(mesh).bodies - points) > len(tables.names):
        rows.append(("pieces", f"{pieces}, as parts of a body that share no nodes are not joined"))
    points = problem.rigid_sets.points(problem.state.q)
    for name, contact in problem.contacts.items():
        gap = float(np.min(contact.gaps(points), initial=np.inf))
        rows.append((f"obstacle '{name}'", f"{len(contact.nodes):,} nodes may touch, the nearest at {gap:.4g} m"))
    for name, rigid_set in problem.rigid_sets.rigid_sets.items():
        if rigid_set.mass > 0.0:
            rows.append((f"rigid '{name}'", f"{rigid_set.mass:.6g} kg, which moves freely"))
    if problem.n_rods:
        rows.append(("rods", f"{problem.n_rods:,}, which keep their lengths"))
    for name, joint in system.joints.items():
        rows.append((f"joint '{name}'", f"{joint.kind}, {len(joint.nodes)} conditions"))
    for name, contact in problem.body_contacts.items():
        rows.append((f"contact '{name}'", _body_contact(contact, problem.points_in_contact(name, problem.state.q))))
    if len(tables.body) > 1 and not problem.body_contacts:
        rows.append(("between bodies", "no contact: they pass through each other; [[contact]] lets them touch"))
    energies = system.energies_of(problem.state)
    noise = _NOISE * max(map(abs, energies.values()))
    shown = {name: value if abs(value) > noise else 0.0 for name, value in energies.items()}
    rows.append(("energy", ", ".join(f"{name} {si(value, 'J', 5)}" for name, value in shown.items())))
    if len(problem.stages) == 1 and (limit := _stable_step(system, problem.state)):
        rows.append(("stable step", f"{limit} (explicit Newmark)"))
        rows += _local_steps(problem)
    rows += _steps(problem)
    rows += [(f"condition '{name}'", line) for name, line in described(tables)]
    rows += [("unknown input", line) for line in some(problem.unknown)]
    frames, samples = int(problem.scenario.is_frame.sum()) - 1, len(problem.scenario.times) - 1
    kept = int(problem.scenario.is_row.sum()) - 1
    reported = f"{samples} samples of the history" if kept == samples else f"{samples} samples, {kept} of the history"
    rows.append(("run", f"{si(tables.run.end, 's')}, {frames} frames, {reported}"))
    rows.append(("disk", f"{_disk(problem) / 1e6:.1f} MB"))
    time, failure = _estimate(problem)
    rows.append(("time", time))
    rows.append(("memory", _memory()))
    warnings = "".join(f"\nwarning: {line}" for line in doubts(problem))
    return f"{scenario.path.name} is valid{', but fails early' if failure else ''}.\n{table(rows)}{warnings}", failure


def _stable_step(system: System, state: State) -> str:
    """Return the largest stable step of explicit Newmark at a state, or nothing if it does not take the system.

    Nor where nothing is stiff yet, as with ropes that hang loose.
    """
    bounded = all(contact_of(energy).bounded_stiffness for energy in system.energies.values())
    if not bounded or not system.is_lumped or system.massless.any():
        return ""
    limit = stable_step(system, state.q, system.held(state.t, state.v))
    return si(limit, "s", 4) if limit < np.inf else ""


def _local_steps(problem: Problem) -> Iterator[tuple[str, str]]:
    """Yield rows on local time steps: what they gain, or would gain, over explicit Newmark, and the levels of a run."""
    system, state, method = problem.system, problem.state, problem.stages[0].integrator
    if not isinstance(method, Multirate):
        if runs_on(Multirate(), system) and (gain := expected_gain(system, state)) >= _WORTH_IT:
            yield "local steps", f'{gain:.1f} times fewer elements to look at by kind = "multirate", about'
        return
    motion = method.start(system, state)
    if len(motion.division.parts) == 1:
        yield "local steps", "none: one step for all elements costs least here, as explicit Newmark takes it"
        return
    yield "local steps", f"{motion.gain:.1f} times fewer elements to look at than by explicit Newmark"
    for level, part in enumerate(motion.division.parts):
        nodes = part.own.stop - part.own.start
        yield f"  level {level}", f"{si(motion.dt / 2.0**level, 's', 4)}: {part.stencils:,} elements, {nodes:,} nodes"


def _steps(problem: Problem) -> Iterator[tuple[str, str]]:
    """Yield rows on the steps of each part of a run."""
    legs = problem.scenario.timeline.legs
    for leg, stage in zip(legs, problem.stages, strict=True):
        dt = step_of(stage.integrator)
        steps = "" if dt is None else f"{si(dt, 's', 6)}, {round((leg.end - leg.start) / dt):,} steps"
        if (parts := getattr(stage.integrator, "contact_steps", 1)) != 1:
            parts = f"{parts} parts" if parts != "auto" else "as many parts as its stiffness asks for"
            steps += f", each divided into {parts} while bodies are within the distance at which contact acts"
        if len(legs) == 1:
            yield "step", steps
            continue
        reported = [f"{si(leg.start, 's', 6)} to {si(leg.end, 's', 6)}, {type(stage.integrator).__name__}"]
        reported.append(f"{int((~stage.system.fixed).sum()):,} degrees of freedom")
        if steps:
            reported.append(f"step {steps}")
        elif stage.interval is not None:
            reported.append("step by the shape at its start")
        at = replace(problem.state, t=leg.start)
        if not isinstance(stage.integrator, Static) and (limit := _stable_step(stage.system, at)):
            reported.append(f"stable step of explicit Newmark {limit} in the initial shape")
        yield called(stage.name), ", ".join(reported)


def _body_contact(contact: BodyContact | SegmentContact, q: Array) -> str:
    """Return the law, the stiffness and the distance of contact between bodies, and what may touch."""
    surface, pairs = contact.surface, int(np.triu(contact.between).sum())
    size = f"{len(surface.triangles):,} triangles, {pairs:,} pair{'s' * (pairs > 1)} of bodies"
    if isinstance(contact, SegmentContact):
        begins = f"from a distance of {si(contact.distance, 'm')}" if contact.distance else "from touch"
        depth = f"to a depth of {si(contact.depth, 'm')}"
        return f"segments, {si(contact.stiffness, 'N/m³')} {begins} on, {depth}; {size}"
    near = contact.contacts(q)
    touching = "nothing nearer at the start"
    if len(near.gaps):
        pressed = si(contact.total(q), "J")
        touching = f"{len(near.gaps):,} pairs nearer at the start, which press bodies apart with {pressed}"
    begins = f"from a distance of {si(contact.reach, 'm')} on"
    if contact.offset:
        begins = f"from touch on, to a depth of {si(contact.offset, 'm')}"
        touching = f"{int((near.gaps < 0.0).sum()):,} pairs touch at the start"
        if contact.overlap:
            touching += f", and overlaps of up to {si(contact.overlap, 'm')} count as touching"
    return f"{contact.law}, {si(contact.stiffness, 'N/m³')} {begins} ({touching}); {size}"


def _disk(problem: Problem) -> float:
    """Return the size in bytes of the frames: float32 positions, displacements and fields."""
    fields = problem.scenario.tables.output.fields
    per_node = 24 + 12 * sum(name in fields for name in ("velocity", "contact_force", "friction_traction"))
    per_node += 4 * sum(name in fields for name in ("contact_pressure", "gap")) if problem.body_contacts else 0
    per_cell = 4 * ("von_mises" in fields)
    elements = sum(len(solid.nodes) for solid in problem.solids.values())
    return int(problem.scenario.is_frame.sum()) * (per_node * problem.system.n_nodes + per_cell * elements)


def _estimate(problem: Problem) -> tuple[str, str]:
    """Return how long a run will take at the speed of its first moments, and why these fail, if they do."""
    stage, several = problem.stages[0], len(problem.stages) > 1
    duration = stage.end
    try:
        motion = stage.integrator.start(stage.system, problem.state)
        reached, spent = _trial(motion, duration)
    except (StepFailed, InvalidSystem) as error:
        return f"fails early: {error}", str(error)
    if reached == 0.0:
        return f"unknown: after {clock(spent)} its first moment is not over", ""
    left = spent * duration / reached
    length = clock(left) if left < _CENTURY else f"{left / _CENTURY:,.0f} centuries"
    what = f" for the first of {len(problem.stages)} parts" if several else ""
    return f"about {length}{what} at the speed of the first {si(reached, 's')}, plus output", ""


def _trial(motion: Motion, duration: float) -> tuple[float, float]:
    """Let a motion go on for a moment; return a time in s by which it has moved, and the wall time in s that it took.

    It goes on by pieces, each as long as all before it. The first, in which kernels are compiled, is a step, or so
    short that hardly an event is in it, however fast they follow each other: such a piece says nothing about the speed.
    """
    in_steps = isinstance(motion, FixedStepMotion)
    first = motion.dt if in_steps else duration * _FIRST_PIECE
    start = perf_counter()
    if not motion.approach(first, _WARM_UP):
        return 0.0, perf_counter() - start
    moved, spent, t = first if in_steps else 0.0, perf_counter() - start, first
    start = perf_counter()
    while 2.0 * t <= duration and (left := _TRIAL - (perf_counter() - start)) > 0.0:
        t *= 2.0
        if not motion.approach(t, left):
            break
        moved, spent = t - first, perf_counter() - start
    return moved, spent


def _memory() -> str:
    """Return the most memory that this process has used, which has built and begun the run."""
    try:
        import resource
    except ImportError:  # not on Windows
        return ""
    unit = 1 if sys.platform == "darwin" else 1024
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6:.0f} MB, without pictures"
