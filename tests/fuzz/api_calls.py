"""Valid calls of all public functions and classes, and what is done with results: what the fuzzer of the API bends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import symplex as sx
from symplex.base.columns import Column
from symplex.runs.history import HistoryWriter
from symplex.runs.results import RunFolder

POINTS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
QUARTER = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]])
CELLS = np.array([[0, 1, 2, 3]], np.int32)
PAIRS = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [0, 2], [1, 3]], np.int32)
MASS = np.array([1.0, 2.0, 1.5, 1.0])
V = np.array([[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.1], [-0.1, 0, 0.1]])
RUBBER = sx.NeoHookean(lmbda=60.0, mu=40.0, density=10.0)
SPRINGS = sx.Bars(PAIRS, sx.measures.GreenStrain(10.0, 1.2))
ELASTIC = sx.Solid(POINTS, CELLS, RUBBER)
BRICK = sx.Solid(
    sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra").points,
    [range(8)],
    RUBBER,
    None,
    "mean-dilatation",
)
YIELDING = sx.System(
    MASS,
    {},
    inelastic={"bars": sx.InelasticBars(PAIRS, sx.structures.YieldingBar(10.0, 0.1, 1.0, sx.Hardening(0.1)))},
)
WALL = sx.HalfSpace((0.0, 0.0, -1.0), (0.0, 0.0, 1.0))
ROD = sx.measures.RigidBars.between(POINTS, [[0, 1]])
RISE = sx.actions.TimeFunction.steady(0.1)
MESH = sx.Mesh(POINTS, {"tetra": CELLS})
QUADRATIC = sx.meshes.quadratic(sx.Mesh(POINTS, {"triangle": np.array([[0, 1, 2]], np.int32)}))
LINE = sx.Mesh(POINTS[:3], {"line": np.array([[0, 1], [0, 2]], np.int32)})
OF_BEAM = sx.structures.beams(LINE, sx.structures.Section.circle(0.1).of(RUBBER), [0.0, 0.0, 1.0])
TWO = sx.Mesh(np.vstack([POINTS, POINTS + np.array([1.05, 0.0, 0.0])]), {"tetra": np.vstack([CELLS, CELLS + 4])})
SURFACE = sx.contact.Surface.of(TWO)
TOUCHING = sx.contact.BodyContact(SURFACE, 10.0, distance=0.1)
BALL = sx.contact.RigidBody.sphere(0.5, density=10.0, refinements=1)
BLOCK = sx.box((1.0, 1.0, 1.0), (1, 1, 1))


def reducible() -> sx.System:
    """Return the system of a block that can be reduced."""
    cells, law = BLOCK.cells["tetra"], sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
    mass = sx.lumped_mass(BLOCK.points, cells, 1000.0, len(BLOCK.points))
    return sx.System(mass, {"block": sx.Solid(BLOCK.points, cells, law)})


REDUCED = sx.modes.flexible_body(BLOCK, reducible(), ["x_min"], 2)
PAIR = sx.box((2.0, 1.0, 1.0), (2, 1, 1), split="hexahedra")
MIDDLE = np.flatnonzero(PAIR.points[:, 0] == 1.0)
TIED = sx.Bars(
    PAIRS, sx.measures.EngineeringStrain(10.0, np.linalg.norm(POINTS[PAIRS[:, 1]] - POINTS[PAIRS[:, 0]], axis=1))
)
DECK = """*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, 0., 1., 0.
4, 0., 0., 1.
*ELEMENT, TYPE=C3D4, ELSET=ALL
1, 1, 2, 3, 4
*MATERIAL, NAME=A
*ELASTIC
1e6, 0.3
*DENSITY
1000.
*SOLID SECTION, ELSET=ALL, MATERIAL=A
*STEP
*FREQUENCY
3
*END STEP
"""
SCENARIO = """
[[body]]
name = "cube"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }
material = { young = 1e6, poisson = 0.3, density = 1000 }
[integrator]
kind = "newmark"
[run]
duration = 1e-4
frames = 1
samples = 1
[output]
pictures = false
"""
PRESSED = (
    SCENARIO
    + """
[[support]]
body = "cube"
group = "z_min"
[[load]]
kind = "nodal"
name = "push"
body = "cube"
group = "z_max"
force = [0, 0, -1]
"""
)
COLUMN = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [1.0, 0.0, 0.0]])
FITTED = (
    SCENARIO
    + """
[fit]
parameters = [{ key = "body.cube.material.young", start = 1.1e6 }]
curves = [{ data = "curve.csv", of = "total", deviation = 1.0 }]
"""
)
SHAKEN = (
    SCENARIO
    + """
[[support]]
name = "table"
body = "cube"
group = "z_min"
displacement = [0.001, 0, 0]
history = { kind = "sine", frequency = 10 }
[response]
frequencies = [10.0]
at = [{ name = "top", body = "cube", group = "z_max" }]
"""
)
NOISY = SHAKEN.replace(
    "frequencies = [10.0]", "psd = { frequencies = [1, 90], values = [1, 2] }\nmodes = 3\nratio = 0.1"
)
QUAKE = NOISY.replace("psd =", "spectrum =").replace("displacement", "acceleration")
QUAKE = QUAKE.replace('kind = "sine", frequency = 10', 'kind = "table", times = [0, 1], factors = [0, 1]')
PLANAR = np.array([[1.0, 0.0], [-1.0, 0.2]])


def pressed_column() -> sx.System:
    """Return two rods in a line, held across by a spring at their joint, with a force along them at the end."""
    rods = sx.Bars([[0, 1], [1, 2]], sx.measures.EngineeringStrain(1e3, 0.5))
    aside = sx.measures.Anchors([1], [0.5, 1.0, 0.0], sx.measures.EngineeringStrain(10.0, 1.0))
    push = sx.actions.NodalForce([2], [-1.0, 0.0, 0.0])
    fixed = np.array([[True, True, True], [False, False, True], [False, True, True]])
    return sx.System(np.ones(3), {"rods": rods, "aside": aside, "push": push}, fixed=fixed)


def system(energies: Any = None, **keys: Any) -> sx.System:
    """Return four points with springs."""
    return sx.System(MASS, {"springs": SPRINGS} if energies is None else energies, **keys)


HELD = np.array([[True] * 3] * 3 + [[False] * 3])


def start(of: sx.System | None = None) -> sx.State:
    """Return their state at the start."""
    return (of or system()).state(POINTS, V)


def two_bodies() -> tuple[sx.System, sx.State]:
    """Return two bodies in the plane that attract each other."""
    bodies = sx.System([1.0, 2.0], {"pull": sx.Bars([[0, 1]], sx.measures.InverseDistance(1.0), dim=2)}, dim=2)
    return bodies, bodies.state(PLANAR, [[0.0, 0.3], [0.0, -0.15]])


def _lowest(sample):
    return {"lowest": sample.state.q.min()}


def furnish() -> None:
    """Put the files here that calls name."""
    Path("drop.toml").write_text(SCENARIO, "utf-8")
    Path("scenario.toml").write_text(SCENARIO, "utf-8")
    Path("fitted.toml").write_text(FITTED, "utf-8")
    Path("curve.csv").write_text("1e-4,0\n", "utf-8")
    Path("history.csv").write_text("t,kinetic,total\n0.0,1.0,1.0\n1.0,1.0,1.0\n", "utf-8")
    sx.save_mesh(BLOCK, "box.msh")
    Path("kept").mkdir(exist_ok=True)
    Path("kept/scenario.toml").write_text(SCENARIO, "utf-8")
    momenta = ",".join(f"{name}_{axis}" for name in ("momentum", "angular_momentum") for axis in "xyz")
    rows = "\n".join(f"{t},1.0,1.0,0,0,0,0,0,0" for t in (0.0, 1.0))
    Path("kept/history.csv").write_text(f"t,kinetic,total,{momenta}\n{rows}\n", "utf-8")
    Path("probed").mkdir(exist_ok=True)
    Path("probed/scenario.toml").write_text(f'{SCENARIO}\n[[probe]]\nname = "head"\nbody = "cube"\n', "utf-8")
    Path("probed/history.csv").write_text(f"t,kinetic,total,{momenta}\n{rows}\n", "utf-8")
    declared = {"t": Column("t", "s", "time"), "acceleration_z": Column("acceleration_z", "m/s²")}
    if not Path("probed/probe-head.csv").exists():
        with HistoryWriter("probed/probe-head.csv", declared, units=True) as file:
            for k in range(9):
                file.append({"t": 0.1 * k, "acceleration_z": float(k % 3)})
    _keep_study(Path("kept-study"))
    Path("kept-comparison").mkdir(exist_ok=True)
    Path("kept-comparison/comparison.json").write_text(
        '{"first": "a", "second": "b", "differences": [], "notes": []}', "utf-8"
    )
    Path("deck.inp").write_text(DECK, "utf-8")
    with sx.open_series("motion.vtkhdf", POINTS, {"body": sx.meshes.Block.of({"tetra": CELLS})}) as series:
        series.append(0.0, np.zeros((4, 3)), {}, {})


# -- what is done with results ----------------------------------------------------------------------------------


def finite(value: Any) -> None:
    """Look whether numbers are finite."""
    if not np.isfinite(np.asarray(value, dtype=float)).all():
        raise AssertionError(f"not finite: {value!r:.200}")


def fly(frames: sx.structures.Frames) -> None:
    """Let a frame move for a step."""
    flying = sx.System(MASS, {}, frames=frames)
    state = sx.EnergyMomentum(1e-3).start(flying, flying.state(POINTS)).advance(1e-3)
    finite([state.q, state.v])


def swing_on(joint: sx.structures.Joint) -> None:
    """Let a frame move for a step, joined to the ground."""
    hung = sx.System(MASS, {}, frames=sx.structures.Frames(CELLS, POINTS), joints={"joint": joint})
    state = sx.EnergyMomentum(1e-3).start(hung, hung.state(POINTS)).advance(1e-3)
    finite([state.q, state.v])


def hinge() -> sx.structures.Joint:
    """Return a hinge on the ground."""
    return sx.structures.Joint("revolute", (CELLS[0], None), POINTS, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])


HUNG = sx.System(MASS, {}, frames=sx.structures.Frames(CELLS, POINTS), joints={"hinge": hinge()})


def move_with(coupling: sx.structures.Coupling) -> None:
    """Let a frame move for a step, and nodes with it."""
    points = np.concatenate([POINTS, POINTS[:2] + 2.0])
    tied = sx.System(np.ones(6), {}, frames=sx.structures.Frames(CELLS, points), joints={"tie": coupling})
    state = sx.EnergyMomentum(1e-3).start(tied, tied.state(points)).advance(1e-3)
    finite([state.q, state.v])


def turn_hinge(energies: dict[str, Any], loads: dict[str, Any]) -> None:
    """Let a frame on a hinge move for a step."""
    frames, joints = sx.structures.Frames(CELLS, POINTS), {"hinge": hinge()}
    hung = sx.System(MASS, energies, frames=frames, joints=joints, loads=loads)
    state = sx.EnergyMomentum(1e-3).start(hung, hung.state(POINTS)).advance(1e-3)
    finite([state.q, state.v])


def move(integrator: sx.Integrator) -> None:
    """Let a few points move by a method for a moment."""
    points = system()
    # Steps of any size; those of events take as long as there are.
    motion = integrator.fit(points, start(points), 1e-3).start(points, start(points))
    if motion.approach(1e-3, 0.2):
        state = motion.advance(1e-3)
        finite([state.q, state.v])
        finite(list(motion.energies(state).values()))


def move_two(integrator: sx.Integrator) -> None:
    """Let two bodies move by a method for a moment."""
    bodies, state = two_bodies()
    motion = integrator.fit(bodies, state, 1e-3).start(bodies, state)
    if motion.approach(1e-3, 0.2):
        finite(motion.advance(1e-3).q)


def carry(energy: sx.Energy) -> None:
    """Take an energy into a system and look at its forces."""
    dim = getattr(energy, "dim", 3)
    points = sx.System(MASS, {"energy": energy}, dim=dim) if dim != 3 else system({"energy": energy})
    state = points.state(POINTS[:, :dim])
    finite(list(points.energies_of(state).values()))
    finite(state.a)


def apply(load: Callable[..., Any]) -> None:
    """Take a load into a system and look at its forces."""
    loaded = system(loads={"load": load})
    finite(start(loaded).a)


def flow_of(part):
    """An increment of a beam."""
    q = OF_BEAM.points + 1e-2 * np.random.default_rng(0).normal(size=OF_BEAM.points.shape)
    z = part.relaxed(OF_BEAM.points)
    finite(part.mean_force(OF_BEAM.points, z, q, 0.1))
    part.after(OF_BEAM.points, z, q, 0.1)


def relax(part: Any) -> None:
    """Take an inelastic part into a system, and look at its forces and its energy where it has been strained."""
    strained = system(inelastic={"part": part})
    state = strained.state(1.01 * POINTS, V, internal={"part": part.unstrained()})
    finite(state.a)
    finite(list(strained.energies_of(state).values()))


def strain(part: Any) -> None:
    """Take an inelastic part into the usual system, and look at its forces and energy where it is strained."""
    strained = system(inelastic={"part": part})
    state = strained.state(1.01 * POINTS, V)
    finite(state.a)
    finite(list(strained.energies_of(state).values()))


def flow(part: Any) -> None:
    """Take a body that flows into a system, and look at its forces and its energy where it has been strained."""
    strained = sx.System(np.ones(len(BRICK.points)), {}, inelastic={"part": part})
    state = strained.state(BRICK.points * [1.01, 1.0, 0.99])
    finite(state.a)
    finite(list(strained.energies_of(state).values()))


def harden(hardening: Any) -> None:
    """Look at the yield stress and the plastic work of a hardening."""
    finite(hardening.yield_stress(0.3))
    finite(hardening.plastic_work(0.3))


def touch(contact: sx.fem.Energy, **loads: Any) -> None:
    """Take contact between two tetrahedra into a system and look at its forces."""
    both = sx.System(np.tile(MASS, 2), {"contact": contact}, loads=loads)
    state = both.state(TWO.points, np.tile(V, (2, 1)))
    finite(list(both.energies_of(state).values()))
    finite(state.a)


def rub(friction: sx.contact.Friction) -> None:
    """Take friction of two tetrahedra into a system."""
    touch(friction.energy, friction=friction)  # pyright: ignore[reportArgumentType]


def place(body: sx.contact.RigidBody) -> None:
    """Take a rigid body for one in a system."""
    put(sx.contact.RigidBodies({"body": body}))


def put(bodies: sx.contact.RigidBodies) -> None:
    """Look at the points of rigid bodies."""
    others = bodies.n_nodes - 4 * len(bodies.bodies)
    finite(bodies.points(bodies.positions(np.zeros((others, 3)))))


def hold(constraint: sx.measures.Constraint) -> None:
    """Take a constraint as a penalty."""
    carry(sx.Penalty(constraint, 10.0))


def press(obstacle: Any) -> None:
    """Take an obstacle into contact."""
    carry(sx.RigidContact([0, 1], obstacle, 10.0))


def rest(method: sx.equilibria.Static) -> None:
    """Look for an equilibrium by a method."""
    held = system(fixed=HELD)
    finite(method.start(held, start(held)).advance(1e-3).q)


def stretch(law: sx.measures.PairLaw) -> None:
    """Take a law for bars."""
    carry(sx.Bars(PAIRS, law))


def fill(material: sx.Material) -> None:
    """Take a material for a solid."""
    solid = sx.Solid(POINTS, CELLS, material)
    finite(system({"solid": solid}).gradient(1.01 * POINTS))


def shake(support: sx.actions.SupportMotion) -> None:
    """Move a support of a system."""
    moved = system(moving={"support": support})
    finite(sx.EnergyMomentum(1e-3).start(moved, start(moved)).advance(1e-3).q)


def evaluate(function: sx.actions.TimeFunction) -> None:
    """Look at a function of time and its derivatives."""
    finite([function.value(0.5), function.rate(0.5), function.second(0.5)])


def begin(made: sx.System) -> None:
    """Look at the energies of a system at rest."""
    finite(list(made.energies_of(made.state(POINTS[:, : made.dim])).values()))


def swing(method: Any) -> None:
    """Take a step with a pendulum."""
    pendulum = sx.manifolds.SphericalPendulum(sx.manifolds.AxialPotential(lambda z: z, lambda z: 1.0, lambda z: 0.0))
    state = pendulum.state([0.6, 0.0, -0.8], [0.0, 0.1, 0.0])
    finite(method.step(pendulum, state, 0.01).q)


def hang(pendulum: sx.manifolds.SphericalPendulum) -> None:
    """Take a step with a pendulum by a method."""
    state = pendulum.state([0.6, 0.0, -0.8], [0.0, 0.1, 0.0])
    finite(sx.manifolds.SphereSymplectic().step(pendulum, state, 0.01).q)


def turn(method: Any) -> None:
    """Take a step with a rigid body."""
    body = sx.manifolds.RigidBody([1.0, 2.0, 3.0])
    finite(method.step(body, body.state(np.eye(3), [0.1, 0.2, 0.3]), 0.01).R)


def spin(body: sx.manifolds.RigidBody) -> None:
    """Take a step with a rigid body by a method."""
    finite(sx.manifolds.BodyCayley().step(body, body.state(np.eye(3), [0.1, 0.2, 0.3]), 0.01).R)


def go_on(state: sx.State) -> None:
    """Let points move from a state."""
    for method in (sx.Midpoint(1e-3), sx.Newmark(1e-3), sx.ForceStepping(0.01)):
        motion = method.start(system(), state)
        if motion.approach(state.t + 0.001, 0.1):
            finite(motion.advance(state.t + 0.001).q)


def begin_series(writer: Any) -> None:
    """Write a frame, and leave no file behind."""
    with writer:
        writer.append(0.0, np.zeros((4, 3)), {}, {})
    Path("new.vtkhdf").unlink(missing_ok=True)


def body() -> sx.System:
    """Return a tetrahedron of rubber."""
    return sx.System(MASS, {"body": ELASTIC})


def by_name(values: dict[str, np.ndarray]) -> None:
    """Look whether numbers by name are finite."""
    for value in values.values():
        finite(value)


def look(probe: sx.outputs.Probe, at: sx.System) -> None:
    """Look at a state with a probe."""
    finite(list(probe.of(at, at.state(POINTS)).values()))


def ignore(result: Any) -> None:
    """Do nothing more."""


@dataclass(frozen=True)
class Call:
    """A valid call: a function, its arguments by name, and what is done with the result."""

    function: Callable[..., Any]
    arguments: dict[str, Any]
    use: Callable[[Any], None] = ignore


def _call(function: Callable[..., Any], use: Callable[[Any], None] = ignore, **arguments: Any) -> Call:
    return Call(function, arguments, use)


def calls() -> dict[str, Call]:
    """Return the calls by name: of all functions and classes of ``symplex``, and of some of their methods."""
    newton = sx.Newton()
    pendulum = sx.manifolds.SphericalPendulum(sx.manifolds.AxialPotential(lambda z: z, lambda z: 1.0, lambda z: 0.0))
    ring = start()
    later = sx.Midpoint(0.01).start(system(), ring).advance(0.01)
    step = {"dt": 1e-3, "newton": newton}
    found = {
        "AdaptiveVariational": _call(
            sx.AdaptiveVariational, move, dt=1e-3, bounds=(0.25, 4.0), hold=True, carry=True, newton=newton
        ),
        "AxialPotential": _call(
            sx.manifolds.AxialPotential,
            lambda made: finite(made.gradient(np.array([0.6, 0.0, 0.8]))),
            g=lambda z: z,
            slope=lambda z: 1.0,
            curvature=lambda z: 0.0,
            axis=(0.0, 0.0, -1.0),
        ),
        "BodyContact": _call(
            sx.contact.BodyContact,
            touch,
            surface=SURFACE,
            stiffness=10.0,
            law="penalty",
            distance=0.1,
            between="all",
            self_contact=False,
            margin=0.1,
        ),
        "SegmentContact": _call(
            sx.contact.SegmentContact,
            touch,
            surface=SURFACE,
            points=TWO.points,
            stiffness=10.0,
            distance=0.1,
            between="all",
            integrated="finer",
            depth=0.1,
            margin=0.1,
        ),
        "contact_stiffness": _call(
            sx.contact.contact_stiffness,
            finite,
            surface=SURFACE,
            materials=RUBBER,
            law="penalty",
            distance=0.1,
            speed=1.0,
        ),
        "offset_contact": _call(
            sx.contact.offset_contact,
            lambda energy: touch(energy),
            contact=TOUCHING,
            points=TWO.points,
            cells=TWO.cells,
            follow=None,
        ),
        "Friction": _call(
            sx.contact.Friction, rub, contact=TOUCHING, coefficient=0.3, static=0.4, slip_speed=0.01, between=None
        ),
        "Interpolation": _call(
            sx.fem.Interpolation, lambda made: finite(made.points(POINTS)), weights=np.full((2, 4), 0.25)
        ),
        "MassProperties": _call(
            sx.fem.MassProperties, ignore, mass=2.0, center=(0.0, 0.0, 1.0), inertia=[1.0, 1.2, 1.4]
        ),
        "RigidBody.sphere": _call(
            sx.contact.RigidBody.sphere, place, radius=0.5, density=10.0, mass=None, refinements=1
        ),
        "RigidBodies": _call(sx.contact.RigidBodies, put, bodies={"ball": BALL}, n_nodes=2),
        "Rigidity": _call(
            sx.fem.Rigidity, carry, nodes=[[0, 1, 2, 3]], radii=[[0.5, 0.6, 0.7]], mass=2.0, frequency=3.0
        ),
        "QuadraticMeasures": _call(
            sx.structures.QuadraticMeasures,
            carry,
            nodes=CELLS,
            weights=[[[-1.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.5, 0.5]]],
            measures=[[(0, 0, 0.5)], [(0, 1, 1.0)]],
            rest=[[0.5, 0.0]],
            stiffness=[[[3.0, 1.0], [1.0, 2.0]]],
            stress=[[0.0, 0.1]],
            couplings=[(0, 0), (0, 1), (1, 1)],
        ),
        "Frames": _call(sx.structures.Frames, fly, nodes=CELLS, points=POINTS, held=np.zeros((1, 6), bool)),
        "Joint": _call(
            sx.structures.Joint,
            swing_on,
            kind="universal",
            bodies=(CELLS[0], None),
            points=POINTS,
            at=[0.0, 0.0, 1.0],
            axis=[1.0, 0.0, 0.0],
            second=[0.0, 0.0, 1.0],
        ),
        "body_particles": _call(
            sx.structures.body_particles,
            ignore,
            mass=2.0,
            center=[0.0, 1.0, 0.0],
            radii=[0.1, 0.2, 0.3],
            axes=np.eye(3),
        ),
        "JointSpring": _call(
            sx.structures.JointSpring,
            lambda spring: turn_hinge({"spring": spring}, {}),
            joint=hinge(),
            stiffness=3.0,
            rest=0.1,
            stops=(-1.0, 1.0),
            stop_stiffness=10.0,
            coordinate="angle",
        ),
        "JointLoad": _call(
            sx.structures.JointLoad,
            lambda load: turn_hinge({}, {"load": load}),
            joint=hinge(),
            moment=lambda t: 2.0 * t,
            damping=0.1,
            friction=0.2,
            slip=0.1,
            coordinate="angle",
        ),
        "ViscousMeasures": _call(
            sx.structures.ViscousMeasures,
            lambda made: finite(made(0.0, np.eye(2, 3), np.ones((2, 3)))),
            energy=sx.structures.QuadraticMeasures([[0, 1]], [[[-1.0, 1.0]]], [[(0, 0, 0.5)]], [[0.5]], [[2.0]]),
            viscosity=[[[0.1]]],
        ),
        "Moment": _call(sx.structures.Moment, apply, particles=CELLS, mass=MASS, moment=[1.0, 2.0, 3.0], history=1.0),
        "Section": _call(
            sx.structures.Section,
            ignore,
            area=0.1,
            I1=1e-3,
            I2=2e-3,
            J=1e-3,
            k1=0.8,
            k2=0.9,
            Z1=1e-2,
            Z2=1e-2,
            Zt=1e-2,
        ),
        "Section.rectangle": _call(sx.structures.Section.rectangle, ignore, height=0.1, width=0.2),
        "Section.circle": _call(sx.structures.Section.circle, ignore, radius=0.1),
        "Section.pipe": _call(sx.structures.Section.pipe, ignore, radius=0.1, thickness=0.01),
        "Section.box": _call(sx.structures.Section.box, ignore, height=0.1, width=0.2, thickness=0.01),
        "Section.i_beam": _call(sx.structures.Section.i_beam, ignore, height=0.2, width=0.1, web=0.01, flange=0.01),
        "Section.limits": _call(sx.structures.Section.circle(0.1).limits, ignore, yield_stress=1e8),
        "Section.of": _call(sx.structures.Section.circle(0.1).of, ignore, material=RUBBER),
        "BeamProperties": _call(
            sx.structures.BeamProperties,
            ignore,
            axial=10.0,
            shear=(4.0, 4.0),
            bending=(1.0, 2.0),
            torsion=1.0,
            mass=1.0,
            moments=(0.1, 0.2),
        ),
        "beams": _call(
            sx.structures.beams,
            lambda made: finite(made.section_forces(1.01 * made.points)),
            mesh=LINE,
            properties=sx.structures.Section.circle(0.1).of(RUBBER),
            up=[0.0, 0.0, 1.0],
            group=None,
            formulation="green",
            extent=0.5,
        ),
        "Orthotropic": _call(
            sx.structures.Orthotropic, ignore, E1=9.0, E2=2.0, nu12=0.3, G12=1.0, G13=1.0, G23=1.0, density=1.0
        ),
        "Ply": _call(sx.structures.Ply, ignore, thickness=0.1, material=RUBBER, angle=30.0),
        "ShellProperties": _call(
            sx.structures.ShellProperties,
            ignore,
            membrane=np.eye(3),
            coupling=np.zeros((3, 3)),
            bending=np.eye(3),
            shear=np.eye(2),
            thickness=0.1,
            mass=1.0,
            center=0.01,
            moment=0.1,
        ),
        "ShellProperties.uniform": _call(sx.structures.ShellProperties.uniform, ignore, thickness=0.1, material=RUBBER),
        "ShellProperties.laminate": _call(
            sx.structures.ShellProperties.laminate, ignore, plies=[sx.structures.Ply(0.1, RUBBER, 30.0)]
        ),
        "shells": _call(
            sx.structures.shells,
            lambda made: finite(made.section_forces(1.01 * made.points)["quad"]),
            mesh=sx.Mesh(
                np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.1]]),
                {"quad": np.arange(4, dtype=np.int32)[None]},
            ),
            properties=sx.structures.ShellProperties.uniform(0.1, RUBBER),
            offset=0.01,
            direction=[1.0, 0.0, 0.0],
            directors=np.tile([0.0, 0.0, 1.0], (4, 1)),
            fold=35.0,
            extent=0.1,
        ),
        "Surface.of": _call(sx.contact.Surface.of, ignore, mesh=TWO, bodies=None),
        "Bars": _call(sx.Bars, carry, pairs=PAIRS, law=sx.measures.GreenStrain(10.0, 1.2), dim=3),
        "Block": _call(sx.meshes.Block, nodes=np.arange(4, dtype=np.int32), cells={"tetra": CELLS}, points=None),
        "BodyCayley": _call(sx.manifolds.BodyCayley, turn, quadrature="trapezoidal"),
        "BodyZhangSkeel": _call(sx.manifolds.BodyZhangSkeel, ignore, beta=0.25, quadrature="trapezoidal"),
        "ComposedMethod": _call(
            sx.manifolds.ComposedMethod, swing, method=sx.manifolds.SphereMidpoint(), order=4, scheme=None
        ),
        "Composition": _call(sx.Composition, move, integrator=sx.Midpoint(1e-3), order=4, scheme=None),
        "Dashpots": _call(sx.actions.Dashpots, apply, pairs=PAIRS, viscosity=0.1),
        "stress": _call(sx.stress, by_name, system=body(), state=body().state(POINTS), quantity="stress"),
        "nodal_stress": _call(sx.nodal_stress, finite, system=body(), state=body().state(POINTS), quantity="strain"),
        "reactions": _call(
            sx.reactions,
            lambda made: finite(made[0]),
            system=system(fixed=HELD),
            state=start(system(fixed=HELD)),
            nodes=[0, 1],
            about=[0.0, 0.0, 1.0],
        ),
        "force_on": _call(
            sx.outputs.force_on,
            lambda made: finite(made[0]),
            system=system(),
            state=start(),
            energy="springs",
            nodes=[0, 1],
            about=[0.0, 0.0, 1.0],
        ),
        "SolidFields": _call(
            sx.outputs.SolidFields,
            lambda made: finite(made.at_nodes("stress", body().state(POINTS))),
            system=body(),
            names=["body"],
            near=[0],
        ),
        "NodalProbe": _call(
            sx.outputs.NodalProbe,
            lambda made: look(made, system()),
            name="p",
            places=[0, 2],
            quantities=["displacement", "velocity"],
            reference=POINTS,
            components=["x", "norm"],
            reduce=["mean"],
            labels=None,
            relative_to=[1],
            dim=3,
        ),
        "SolidProbe": _call(
            sx.outputs.SolidProbe,
            lambda made: look(made, body()),
            name="p",
            fields=sx.outputs.SolidFields(body()),
            quantities=["stress"],
            places=[0, 2],
            components=["xx"],
            reduce=["max"],
            labels=None,
            elements={},
        ),
        "BarProbe": _call(
            sx.outputs.BarProbe,
            lambda made: look(made, system()),
            name="p",
            bars=SPRINGS,
            quantities=["axial_force", "axial_stress", "elongation"],
            members=[0, 2],
            section=1.0,
            reference=POINTS,
            reduce=["sum"],
        ),
        "RotationProbe": _call(
            sx.outputs.RotationProbe,
            ignore,
            name="p",
            frames=OF_BEAM.frames,
            components=["x", "norm"],
            reduce=["max"],
            labels=None,
        ),
        "ShellProbe": _call(
            sx.outputs.ShellProbe,
            ignore,
            name="p",
            shells=sx.structures.shells(
                sx.Mesh(
                    np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]),
                    {"quad": np.arange(4, dtype=np.int32)[None]},
                ),
                sx.structures.ShellProperties.uniform(0.1, RUBBER),
            ),
            quantities=["bending_moments", "transverse_force_1"],
            elements=[0],
            first=0,
            components=["11", "norm"],
            reduce=["max"],
            labels=["a"],
            inelastic={},
        ),
        "divided_faces": _call(sx.meshes.divided_faces, ignore, mesh=QUADRATIC, pieces=2),
        "BeamProbe": _call(
            sx.outputs.BeamProbe,
            ignore,
            name="p",
            beams=OF_BEAM,
            quantities=["axial_force", "torque"],
            members=[0],
            first=0,
            reduce=["sum"],
            inelastic={},
        ),
        "ReactionProbe": _call(
            sx.outputs.ReactionProbe,
            lambda made: look(made, system()),
            name="p",
            held={"": HELD},
            about=[0.0, 0.0, 1.0],
            changes=[(1.0, {"": HELD})],
        ),
        "ForceProbe": _call(
            sx.outputs.ForceProbe,
            lambda made: look(made, system()),
            name="p",
            acting=["springs"],
            nodes=[0, 2],
            what="force",
            about=[0.0, 0.0, 1.0],
            dim=3,
        ),
        "ProbeRecorder": _call(sx.time.ProbeRecorder, ignore, probes=[sx.outputs.NodalProbe("p", [0], ["velocity"])]),
        "weights_in_cells": _call(
            sx.meshes.weights_in_cells, lambda made: finite(made.toarray()), mesh=MESH, at=[[0.2, 0.2, 0.2]], group=None
        ),
        "plot_probes": _call(
            sx.runs.plot_probes,
            ignore,
            probes={"p": {"t": np.arange(3.0), "momentum_x": np.ones(3)}},
            path="probes.png",
            title=None,
        ),
        "Drag": _call(sx.actions.Drag, apply, mass=MASS, rate=0.1),
        "MeanDashpot": _call(
            sx.actions.MeanDashpot, apply, nodes=[0, 1], to=[2, 3], viscosity=0.1, exponent=1.5, fixed=False
        ),
        "QuadraticDrag": _call(
            sx.actions.QuadraticDrag, apply, nodes=[0, 2], drag=[0.1, 0.2], velocity=(1.0, 0.0, 0.0)
        ),
        "ViscousStress": _call(sx.ViscousStress, apply, solid=ELASTIC, viscosity=0.1, bulk=0.2),
        "ViscousStress.proportional": _call(sx.ViscousStress.proportional, apply, solid=ELASTIC, time=0.01),
        "Plastic": _call(sx.Plastic, flow, solid=BRICK, hardening=sx.Hardening(0.01)),
        "JohnsonCookFailure": _call(sx.solids.JohnsonCookFailure, lambda f: finite(f.d1), d1=0.1, d2=3.0, d3=-2.0),
        "Eroding": _call(sx.solids.Eroding, flow, part=sx.Plastic(BRICK, sx.Hardening(0.01)), failure_strain=0.5),
        "ExposedSurface": _call(
            sx.contact.ExposedSurface,
            lambda made: finite(made.surface().vertex_areas),
            points=BRICK.points,
            bodies={"brick": {"brick": sx.solids.Eroding(sx.Plastic(BRICK, sx.Hardening(0.01)), 0.5)}},
        ),
        "InelasticBars": _call(
            sx.InelasticBars,
            strain,
            pairs=PAIRS,
            law=sx.structures.YieldingBar(10.0, 0.1, 1.0, sx.Hardening(0.1)),
            dim=3,
        ),
        "YieldingBeams": _call(
            sx.structures.YieldingBeams,
            flow_of,
            beam=OF_BEAM,
            limits=[1.0, 0.1, 0.1, 0.1],
            hardening=sx.Hardening(1.0, 0.5),
            first=0,
        ),
        "ViscoelasticSections": _call(
            sx.structures.ViscoelasticSections, flow_of, strains=OF_BEAM.strains, factors=[0.5, 0.2], times=[0.1, 1.0]
        ),
        "ViscoelasticSections.prony": _call(
            sx.structures.ViscoelasticSections.prony, flow_of, strains=OF_BEAM.strains, ratios=[0.3], times=[0.1]
        ),
        "YieldingBar": _call(
            sx.structures.YieldingBar,
            lambda law: strain(sx.InelasticBars(PAIRS, law)),
            young=10.0,
            section=0.1,
            length=1.0,
            hardening=sx.Hardening(0.1).with_back_stress(1.0),
        ),
        "TractionSeparation": _call(
            sx.measures.TractionSeparation,
            lambda law: finite(law.secant(np.array([0.0, 0.1, 2.0]))),
            strength=2.0,
            fracture_energy=1.0,
            stiffness=40.0,
            shape="bilinear",
        ),
        "BreakingBar": _call(
            sx.measures.BreakingBar,
            lambda law: strain(sx.InelasticBars(PAIRS, law)),
            law=sx.measures.TractionSeparation(2.0, 1.0),
            length=1.0,
        ),
        "CohesiveFaces": _call(
            sx.structures.CohesiveFaces,
            strain,
            faces=[[0, 1, 2]],
            opposite=[[0, 1, 3]],
            points=POINTS,
            law=sx.measures.TractionSeparation(2.0, 1.0),
            shear_ratio=0.9,
        ),
        "InelasticProbe": _call(
            sx.outputs.InelasticProbe,
            lambda made: look(made, YIELDING),
            name="p",
            system=YIELDING,
            part="bars",
            quantities=["plastic_strain"],
            stencils=[0, 2],
            reduce=["max"],
        ),
        "Coupling": _call(
            sx.structures.Coupling,
            lambda made: move_with(made),
            body=[0, 1, 2, 3],
            nodes=[4, 5],
            points=np.concatenate([POINTS, POINTS[:2] + 2.0]),
        ),
        "JointProbe": _call(
            sx.outputs.JointProbe,
            lambda made: look(made, HUNG),
            name="p",
            system=HUNG,
            joint="hinge",
            quantities=["angle", "force"],
            components=["norm"],
        ),
        "check_inelastic": _call(
            sx.testing.check_inelastic, part=YIELDING.inelastic["bars"], q0=POINTS, q1=1.3 * POINTS, duration=1.0
        ),
        "Hardening": _call(
            sx.Hardening, harden, yield_stress=1.0, modulus=0.1, saturation_stress=2.0, saturation_rate=3.0
        ),
        **{
            f"Hardening.{name}": _call(method, harden, **values)
            for name, method, values in (
                ("with_rate", sx.Hardening(1.0).with_rate, {"reference": 1.0, "factor": 0.02}),
                ("with_back_stress", sx.Hardening(1.0).with_back_stress, {"modulus": 2.0, "recovery": 3.0}),
                ("with_heating", sx.Hardening(1.0).with_heating, {"heat_capacity": 400.0, "fraction": 0.9}),
                (
                    "with_softening",
                    sx.Hardening(1.0).with_heating(400.0).with_softening,
                    {"melting": 1300.0, "exponent": 1.1},
                ),
            )
        },
        "Hardening.table": _call(sx.Hardening.table, harden, strains=[0.0, 0.1], stresses=[1.0, 1.5]),
        "Viscoelastic": _call(sx.Viscoelastic, relax, solid=ELASTIC, moduli=[10.0, 5.0], times=[0.1, 1.0]),
        "Viscoelastic.prony": _call(sx.Viscoelastic.prony, relax, solid=ELASTIC, ratios=[0.3, 0.2], times=[0.1, 1.0]),
        "EnergyMomentum": _call(sx.EnergyMomentum, move, **step, compensated=False),
        "Box": _call(
            sx.contact.Box, press, center=(0.0, 0.0, -3.0), size=(1.0, 1.0, 1.0), axes=np.eye(3), inside=False
        ),
        "Capsule": _call(
            sx.contact.Capsule, press, start=(0.0, 0.0, -3.0), end=(1.0, 0.0, -3.0), radius=1.0, inside=False
        ),
        "CompressionOnly": _call(sx.measures.CompressionOnly, stretch, stiffness=10.0, length=1.2),
        "Cylinder": _call(
            sx.contact.Cylinder, press, point=(0.0, 0.0, -3.0), axis=(1.0, 0.0, 0.0), radius=1.0, inside=False
        ),
        "ForceTable": _call(
            sx.measures.ForceTable,
            stretch,
            elongations=[-1.0, 0.0, 2.0],
            forces=[-5.0, 0.0, 1.0],
            length=1.2,
        ),
        "TensionOnly": _call(sx.measures.TensionOnly, stretch, stiffness=10.0, length=1.2),
        "EngineeringStrain": _call(sx.measures.EngineeringStrain, stretch, stiffness=10.0, length=1.2),
        "ForceStepping": _call(
            sx.ForceStepping,
            move,
            grid=0.01,
            seed=0,
            offset=None,
            axes=np.eye(3),
            mirrored=False,
            count_crossings=False,
        ),
        "GeneralizedAlpha": _call(sx.GeneralizedAlpha, move, **step, rho_inf=0.8),
        "GrahamJelenic": _call(
            sx.GrahamJelenic,
            move,
            dt=1e-3,
            scheme="cayley-magnus-6",
            external=(),
            angle="body",
            iterations=200,
            linear="auto",
        ),
        "Centrifugal": _call(
            sx.actions.Centrifugal, carry, mass=MASS, angular_velocity=(0.0, 0.0, 30.0), point=(0.0, 0.1, 0.0)
        ),
        "Coriolis": _call(sx.actions.Coriolis, apply, mass=MASS, angular_velocity=(0.0, 0.0, 30.0)),
        "Gravity": _call(sx.Gravity, carry, mass=MASS, acceleration=(0.0, 0.0, -9.81)),
        "GreenStrain": _call(sx.measures.GreenStrain, stretch, stiffness=10.0, length=1.2),
        "HalfSpace": _call(sx.HalfSpace, press, point=(0.0, 0.0, -1.0), normal=(0.0, 0.0, 1.0), normalize=True),
        "HilberHughesTaylor": _call(sx.HilberHughesTaylor, move, **step, alpha=-0.05),
        "Interpolant": _call(sx.time.Interpolant, lambda made: finite(made(0.005).q), start=ring, end=later),
        "InverseDistance": _call(sx.measures.InverseDistance, stretch, strength=1.0),
        "InverseSquare": _call(sx.measures.InverseSquare, stretch, strength=1.0),
        "JacobiCoordinates": _call(sx.reductions.JacobiCoordinates, mass=MASS),
        "JacobiReduction": _call(sx.reductions.JacobiReduction, move, integrator=sx.ForceStepping(0.01)),
        "Langevin": _call(
            sx.Langevin,
            move,
            integrator=sx.Newmark(1e-3),
            temperature=300.0,
            friction=None,
            rate=1.0,
            seed=1,
            boltzmann=1.4e-23,
        ),
        "LennardJones": _call(sx.measures.LennardJones, stretch, depth=1.0, diameter=0.5),
        "ShortRangeLennardJones": _call(
            sx.measures.ShortRangeLennardJones, carry, depth=1.0, diameter=0.5, cutoff=1.5, margin=0.2, dim=3
        ),
        "material": _call(sx.material, fill, formula="10*(I1bar - 3) + 50*(J - 1)**2", density=10.0, fibres=None),
        "LinearElastic": _call(sx.LinearElastic, fill, lmbda=60.0, mu=40.0, density=10.0),
        "Mesh": _call(
            sx.Mesh,
            lambda made: made.boundary_faces,
            points=POINTS,
            cells={"tetra": CELLS},
            cell_groups={"all": {"tetra": np.array([0], np.int32)}},
            point_groups={"base": np.array([0, 1, 2], np.int32)},
        ),
        "Midpoint": _call(sx.Midpoint, move, **step, alpha=0.5),
        "ModifiedForce": _call(
            sx.variational.ModifiedForce, ignore, system=system(), beta=0.4, variant="full", stiff=(), newton=None
        ),
        "MooneyRivlin": _call(sx.MooneyRivlin, fill, c10=10.0, c01=2.0, bulk=100.0, density=10.0),
        "NeoHookean": _call(sx.NeoHookean, fill, lmbda=60.0, mu=40.0, density=10.0),
        "Newmark": _call(sx.Newmark, move, dt=1e-3, beta=0.0, gamma=0.5, safety=0.8, contact_safety=0.2, newton=newton),
        "Newton": _call(sx.Newton, lambda made: move(sx.Midpoint(1e-3, newton=made)), iterations=50, linear="auto"),
        "NodalForce": _call(sx.actions.NodalForce, carry, nodes=[0, 1], force=(1.0, 0.0, 0.0)),
        "NodalLoad": _call(
            sx.actions.NodalLoad, apply, nodes=[0, 1], force=(1.0, 0.0, 0.0), history=([0.0, 1.0], [0.0, 1.0])
        ),
        "OnCylinder": _call(
            sx.measures.OnCylinder, hold, nodes=[1, 2], point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), radius=1.0
        ),
        "OnPlane": _call(sx.measures.OnPlane, hold, nodes=[0, 1], point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0)),
        "OnSphere": _call(sx.measures.OnSphere, hold, nodes=[1, 2], center=(0.0, 0.0, 0.0), radius=1.0),
        "OnDevice": _call(sx.device.OnDevice, method=sx.Newmark(1e-3)),
        "Penalty": _call(sx.Penalty, carry, constraint=ROD, stiffness=10.0, one_sided=False),
        "PolarReduction": _call(
            sx.reductions.PolarReduction, move_two, integrator=sx.ForceStepping(0.01), conjugate_angle=False
        ),
        "Pressure": _call(sx.actions.Pressure, apply, faces=[[0, 2, 1]], pressure=3.0, history=1.0),
        "Rattle": _call(sx.Rattle, ignore, dt=1e-3, constraints={"rod": ROD}, beta=0.0),
        "RelaxedBody": _call(sx.manifolds.RelaxedBody, ignore, body=sx.manifolds.RigidBody(1.0), omega=10.0),
        "Anchors": _call(
            sx.measures.Anchors, carry, nodes=[0, 1], point=(0.5, 0.0, 2.0), law=sx.measures.TensionOnly(3.0, 0.1)
        ),
        "LinearConstraints": _call(
            sx.fem.LinearConstraints,
            carry,
            points=POINTS,
            factors=np.eye(1, POINTS.size) - np.eye(1, POINTS.size, 3),
            values=0.01,
            stiffness=10.0,
        ),
        "ThermalLoad": _call(
            sx.actions.ThermalLoad,
            lambda made: finite(made(0.5, POINTS, V)),
            solid=ELASTIC,
            thermal_strain=np.full(len(POINTS), 1e-3),
            history=[[0.0, 1.0], [0, 1]],
        ),
        "EnergyLoad": _call(
            sx.actions.EnergyLoad,
            lambda made: finite(made(0.5, POINTS, V)),
            energy=SPRINGS,
            history=[[0.0, 1.0], [0, 1]],
        ),
        "scaled_mass": _call(
            sx.actions.scaled_mass, lambda made: finite(made.masses(len(POINTS))), solid=ELASTIC, step=0.5
        ),
        "CyclicSymmetry": _call(
            sx.fem.CyclicSymmetry,
            lambda made: finite(np.abs(made.factors(1).toarray())),
            points=QUARTER,
            low=[0, 1, 3, 4],
            high=[0, 2, 3, 5],
            sectors=4,
            axis=(0.0, 0.0, 1.0),
            point=(0.0, 0.0, 0.0),
            triangles=[[0, 1, 3], [1, 4, 3]],
            tolerance=0.01,
        ),
        "tie_to_surface": _call(
            sx.fem.tie_to_surface, carry, points=POINTS, nodes=[3], triangles=[[0, 1, 2]], stiffness=10.0
        ),
        "velocity_field": _call(
            sx.fem.velocity_field,
            finite,
            points=POINTS,
            velocity=(1.0, 0.0, 0.0),
            angular_velocity=(0.0, 1.0, 0.0),
            gradient=np.eye(3),
            point=(0.0, 0.0, 1.0),
        ),
        "cut_by_faces": _call(
            sx.meshes.cut_by_faces, lambda made: finite(made.mesh.points), mesh=PAIR, nodes=MIDDLE, normal=[1.0, 0, 0]
        ),
        "cut_by_plane": _call(
            sx.meshes.cut_by_plane,
            lambda made: finite(made.mesh.points),
            mesh=PAIR,
            point=[1.0, 0.0, 0.0],
            normal=[1.0, 0.0, 0.0],
            group=None,
        ),
        "join_nodes": _call(sx.meshes.join_nodes, lambda made: finite(made.points), mesh=TWO, pairs=[[1, 4], [2, 6]]),
        "RigidBars": _call(sx.measures.RigidBars, hold, pairs=[[0, 1]], length=1.0),
        "RigidBody": _call(sx.manifolds.RigidBody, spin, inertia=[1.0, 2.0, 3.0], potential=None),
        "MovingObstacleContact": _call(
            sx.contact.MovingObstacleContact,
            ignore,
            nodes=[0, 1],
            obstacle=sx.Sphere((0.0, 0.0, -3.0), 1.0),
            stiffness=10.0,
            frame=[4, 5, 6, 7],
            properties=sx.contact.obstacle_mass(sx.Sphere((0.0, 0.0, -3.0), 1.0), mass=1.0),
        ),
        "SplineSurface": _call(
            sx.contact.SplineSurface,
            lambda made: finite(made.gap(POINTS)),
            points=[[[x, y, -3.0] for y in range(4)] for x in range(4)],
            degree=3,
            flip=False,
        ),
        "SplineContact": _call(
            sx.contact.SplineContact,
            carry,
            nodes=[0, 1],
            obstacle=sx.contact.SplineSurface([[[x, y, -3.0] for y in range(4)] for x in range(4)]),
            stiffness=10.0,
            carrier=2,
        ),
        "obstacle_mass": _call(
            sx.contact.obstacle_mass, ignore, obstacle=sx.Sphere((0.0, 0.0, -3.0), 1.0), density=1.0, mass=None
        ),
        "CombinedMotion": _call(
            sx.actions.CombinedMotion,
            shake,
            motions=[
                sx.actions.SupportTranslation([0], (1.0, 0.0, 0.0), RISE),
                sx.actions.SupportRotation([0], POINTS, RISE, center=(1.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)),
            ],
        ),
        "check_constraint": _call(sx.testing.check_constraint, constraint=ROD, q=POINTS, length=None),
        "check_energy": _call(sx.testing.check_energy, energy=SPRINGS, q=POINTS),
        "check_integrator": _call(sx.testing.check_integrator, make=sx.Newmark, sizes=(0.02, 0.01), size=0.05, looks=1),
        "check_law": _call(sx.testing.check_law, law=sx.measures.EngineeringStrain(10.0, 1.0), at=[0.8, 1.0, 1.3]),
        "check_load": _call(sx.testing.check_load, load=sx.actions.Drag(MASS, 1.0), q=POINTS, v=0.1 * POINTS),
        "check_material": _call(sx.testing.check_material, material=sx.NeoHookean(lmbda=6.0, mu=4.0, density=1.0)),
        "check_system": _call(sx.testing.check_system, system=system(), state=system().state(POINTS)),
        "RigidContact": _call(sx.RigidContact, carry, nodes=[0, 1], obstacle=WALL, stiffness=10.0, carrier=2),
        "AnisotropicElastic": _call(
            sx.AnisotropicElastic, fill, stiffness=np.diag([90.0, 70.0, 80.0, 20.0, 30.0, 25.0]), density=10.0
        ),
        "SaintVenantKirchhoff": _call(sx.SaintVenantKirchhoff, fill, lmbda=60.0, mu=40.0, density=10.0),
        "Shake": _call(sx.constraints.Shake, ignore, dt=1e-3, constraints={"rod": ROD}, beta=0.0),
        "Solid": _call(sx.Solid, carry, points=POINTS, cells=CELLS, material=RUBBER),
        "Sphere": _call(sx.Sphere, press, center=(0.0, 0.0, -3.0), radius=1.0, inside=False),
        "SphereEnergyMomentum": _call(sx.manifolds.SphereEnergyMomentum, swing, form="force"),
        "SphereMidpoint": _call(sx.manifolds.SphereMidpoint, swing),
        "SphereSymplectic": _call(sx.manifolds.SphereSymplectic, swing, kappa="one"),
        "SphericalPendulum": _call(
            sx.manifolds.SphericalPendulum, hang, potential=pendulum.potential, mass=1.0, length=1.0
        ),
        "StiffnessDamping": _call(sx.actions.StiffnessDamping, apply, energy=SPRINGS, q=POINTS, time=0.1),
        "SupportRotation": _call(
            sx.actions.SupportRotation,
            shake,
            nodes=[0],
            points=POINTS,
            angle=RISE,
            center=(1.0, 0.0, 0.0),
            axis=(0.0, 0.0, 1.0),
        ),
        "SupportTranslation": _call(
            sx.actions.SupportTranslation, shake, nodes=[0], direction=(1.0, 0.0, 0.0), motion=RISE, components="xyz"
        ),
        "SurfaceTraction": _call(
            sx.actions.SurfaceTraction, apply, points=POINTS, faces=[[0, 2, 1]], traction=(0.0, 0.0, 1.0), history=1.0
        ),
        "System": _call(
            sx.System,
            begin,
            mass=MASS,
            energies={"springs": SPRINGS},
            dim=3,
            fixed=np.zeros((4, 3), bool),
            loads={"drag": sx.actions.Drag(MASS, 0.1)},
            inelastic={"overstress": sx.Viscoelastic(ELASTIC, 10.0, 0.1)},
            moving={"support": sx.actions.SupportTranslation([3], "x", RISE)},
            massless=np.zeros(4, bool),
        ),
        "TimeFunction": _call(
            sx.actions.TimeFunction,
            evaluate,
            value=lambda t: t,
            rate=lambda t: 1.0,
            second=lambda t: 0.0,
            smooth=True,
            span=(0.0, 1.0),
        ),
        "UniformField": _call(
            sx.manifolds.UniformField, ignore, strength=1.0, field=(0.0, 0.0, 1.0), dipole=(0.0, 0.0, 1.0)
        ),
        "Multirate": _call(
            sx.explicit.Multirate,
            move,
            dt=1e-3,
            levels=4,
            layers=1,
            safety=0.5,
            contact_safety=0.2,
            given={"springs": 2},
        ),
        "VariationalMidpoint": _call(sx.VariationalMidpoint, move, **step),
        "View": _call(sx.View, direction=(1.0, 0.0, 0.0), up=(0.0, 0.0, 1.0), section=None, origin=None, zoom=1.0),
        "ZhangSkeel": _call(sx.ZhangSkeel, move, **step, beta=0.4, variant="full", stiff=()),
        "all_pairs": _call(sx.measures.all_pairs, n=4),
        "bar_mass": _call(sx.actions.bar_mass, finite, points=POINTS, pairs=PAIRS, density=10.0, area=0.1, n_nodes=4),
        "ball": _call(
            sx.meshes.ball, radius=1.0, cells=(1, 2), inner=0.5, symmetry="xyz", grading=2.0, split="hexahedra", order=1
        ),
        "cylinder": _call(
            sx.meshes.cylinder,
            radius=1.0,
            length=1.0,
            cells=(1, 2, 1),
            inner=0.5,
            degrees=90.0,
            grading=2.0,
            split="hexahedra",
            order=1,
        ),
        "mapped": _call(sx.meshes.mapped, mesh=BLOCK, shape=lambda x: 2.0 * x),
        "box": _call(sx.box, size=(1.0, 1.0, 1.0), cells=(1, 1, 1), split="24", origin=(0.0, 0.0, 0.0)),
        "bundled": _call(sx.bundled, name="bracket"),
        "consistent_bar_mass": _call(
            sx.actions.consistent_bar_mass,
            lambda made: finite(made.data),
            points=POINTS,
            pairs=PAIRS,
            density=10.0,
            area=0.1,
            n_nodes=4,
        ),
        "consistent_mass": _call(
            sx.consistent_mass, lambda made: finite(made.data), points=POINTS, cells=CELLS, density=10.0, n_nodes=4
        ),
        "cube_mesh": _call(sx.cube_mesh, name="I", size=0.1),
        "fixed_mask": _call(sx.fixed_mask, n_nodes=4, supports=[([0, 1], "xy")], dim=3),
        "kinetic_temperature": _call(
            sx.time.kinetic_temperature, finite, system=system(), v=V, removed=0, boltzmann=1.4e-23
        ),
        "locate": _call(sx.time.locate, event=lambda state: state.t - 0.005, start=ring, end=later, samples=8),
        "lumped_mass": _call(sx.lumped_mass, finite, points=POINTS, cells=CELLS, density=10.0, n_nodes=4),
        "march": _call(
            lambda **keys: list(sx.march(**keys)),
            system=system(),
            integrator=sx.Midpoint(1e-3),
            state=ring,
            times=[0.0, 0.001],
            observers=(),
        ),
        "mass_moved_inward": _call(
            sx.contact.mass_moved_inward,
            finite,
            mass=np.ones(15),
            points=BLOCK.points,
            cells=BLOCK.cells["tetra"],
            nodes=[0],
        ),
        "import_deck": _call(
            sx.import_deck,
            lambda made: finite(made.numbers),
            path="deck.inp",
            folder="imported",
            units="si",
            overwrite=True,
        ),
        "natural_modes": _call(
            sx.modes.natural_modes,
            lambda made: finite(made.frequencies),
            system=system(),
            state=ring,
            n=3,
            solver="auto",
        ),
        "complex_modes": _call(
            sx.modes.complex_modes, lambda made: finite(made.frequencies), system=system(), state=ring, n=3
        ),
        "craig_bampton": _call(
            sx.modes.craig_bampton,
            lambda made: finite(made.stiffness),
            system=system(fixed=HELD[[3, 0, 0, 3]] & False),
            state=ring,
            boundary=[0, 1, 2],
            n=2,
        ),
        "flexible_body": _call(
            sx.modes.flexible_body,
            lambda made: finite(made.stiffness),
            mesh=BLOCK,
            system=reducible(),
            interfaces=["x_min"],
            n=2,
        ),
        "CorotationalEnergy": _call(
            sx.structures.CorotationalEnergy,
            lambda made: finite(made.gradient(REDUCED.points[None])),
            nodes=np.arange(len(REDUCED.nodes)),
            points=REDUCED.points,
            stiffness=REDUCED.stiffness,
            gradients=REDUCED.gradients,
        ),
        "CorotationalDamping": _call(
            sx.structures.CorotationalDamping,
            lambda made: finite(made(0.0, REDUCED.points, REDUCED.points)),
            energy=REDUCED.energy(np.arange(len(REDUCED.nodes))),
            time=1e-4,
            mass=REDUCED.mass,
            rate=1.0,
        ),
        "Spectrum": _call(
            sx.modes.Spectrum,
            lambda made: finite(made.at([1.0, 5.0])),
            frequencies=[1.0, 10.0],
            values=[1.0, 2.0],
            outside="constant",
        ),
        "combined": _call(
            sx.modes.combined, finite, values=[1.0, -2.0], frequencies=[1.0, 1.1], ratios=[0.05, 0.02], rule="cqc"
        ),
        "shock_spectrum": _call(
            sx.modes.shock_spectrum,
            lambda made: finite(made.acceleration),
            times=[0.0, 0.1, 0.2, 0.3],
            acceleration=[0.0, 1.0, -1.0, 0.5],
            frequencies=[1.0, 5.0],
            ratio=0.05,
        ),
        "corrected_baseline": _call(
            sx.actions.corrected_baseline,
            finite,
            times=[0.0, 0.1, 0.2, 0.3],
            accelerations=[0.0, 1.0, -1.0, 0.5],
            how="rest",
        ),
        "resolving_frequencies": _call(
            sx.modes.resolving_frequencies,
            finite,
            spectrum=sx.modes.Spectrum([1.0, 10.0], [1.0, 2.0]),
            frequencies=[2.0, 3.0],
            ratios=[0.05, 0.02],
        ),
        "modal_ratios": _call(
            sx.modes.modal_ratios,
            finite,
            system=system(fixed=HELD),
            state=ring,
            modes=sx.modes.natural_modes(system(fixed=HELD), ring, 2),
            ratio=[0.05, 0.02],
            loss_factor=0.01,
        ),
        "random_response": _call(
            sx.modes.random_response,
            lambda made: finite(made.rms()),
            system=system(fixed=HELD),
            state=ring,
            psd=sx.modes.Spectrum([0.1, 10.0], [1.0, 2.0]),
            modes=sx.modes.natural_modes(system(fixed=HELD), ring, 2),
            forces=None,
            base_acceleration=np.where(HELD, 0.1, 0.0),
            ratio=0.05,
            loss_factor=0.01,
            nodes=[3],
            relative=False,
        ),
        "spectrum_response": _call(
            sx.modes.spectrum_response,
            lambda made: finite(made.largest),
            system=system(fixed=HELD),
            state=ring,
            spectrum=sx.modes.Spectrum([0.1, 10.0], [1.0, 2.0], "constant"),
            modes=sx.modes.natural_modes(system(fixed=HELD), ring, 2),
            base_acceleration=np.where(HELD, 0.1, 0.0),
            ratio=0.05,
            loss_factor=0.01,
            rule="cqc",
            missing_mass=True,
        ),
        "cyclic_modes": _call(
            sx.modes.cyclic_modes,
            lambda made: finite(made.frequencies),
            system=sx.System(
                np.ones(6),
                {"spokes": sx.measures.Anchors(range(6), (0.1, 0.1, 0.5), sx.measures.EngineeringStrain(9.0, 1.0))},
            ),
            state=sx.State(0.0, QUARTER, 0.0 * QUARTER, 0.0 * QUARTER),
            symmetry=sx.fem.CyclicSymmetry(QUARTER, [0, 1, 3, 4], [0, 2, 3, 5], 4),
            n=2,
            diameters=[0, 1],
        ),
        "frequency_response": _call(
            sx.modes.frequency_response,
            lambda made: finite(np.abs(made.displacements)),
            system=system(fixed=HELD),
            state=ring,
            frequencies=[0.1, 0.2],
            forces=None,
            base=np.where(HELD, 0.1, 0.0),
            base_acceleration=None,
            modes=sx.modes.natural_modes(system(fixed=HELD), ring, 2),
            ratio=0.1,
            loss_factor=0.01,
            nodes=[3],
        ),
        "rotating_frame": _call(
            sx.modes.rotating_frame,
            lambda made: finite(made.force(0.0, POINTS, V)),
            system=system(),
            angular_velocity=(0.0, 0.0, 1.0),
            point=(0.0, 0.1, 0.0),
        ),
        "linear_buckling": _call(
            sx.modes.linear_buckling,
            lambda made: finite(made.factors),
            system=pressed_column(),
            state=pressed_column().state(COLUMN),
            loads=["push"],
            n=1,
        ),
        "find_buckling": _call(
            sx.runs.find_buckling,
            lambda made: finite(made.buckling.factors),
            scenario=sx.Scenario.parse(PRESSED),
            number=2,
            loads=["push"],
        ),
        "BucklingFound.save": _call(
            sx.runs.find_buckling(sx.Scenario.parse(PRESSED), 1).save,
            output="buckling",
            overwrite=True,
            pictures=False,
            say=ignore,
        ),
        "reduce_body": _call(
            sx.runs.reduce_body,
            lambda made: finite(made[1]),
            scenario=sx.Scenario.parse(SCENARIO),
            body="cube",
            modes=2,
            interfaces=["z_min"],
            compared=2,
        ),
        "find_modes": _call(
            sx.runs.find_modes,
            lambda made: finite(made.natural.frequencies),
            scenario=sx.Scenario.parse(SCENARIO),
            number=3,
            at="start",
            damped=False,
            solver="auto",
        ),
        "ModesFound.save": _call(
            sx.runs.find_modes(sx.Scenario.parse(SCENARIO), 2).save,
            output="modes",
            overwrite=True,
            pictures=False,
            film="none",
            say=ignore,
        ),
        "find_response": _call(
            sx.runs.find_response,
            lambda made: finite(np.abs(made.places["top"])),
            scenario=sx.Scenario.parse(SHAKEN),
            at="start",
        ),
        "ResponseFound.save": _call(
            sx.runs.find_response(sx.Scenario.parse(SHAKEN)).save,
            output="response",
            overwrite=True,
            pictures=False,
        ),
        "find_random": _call(
            sx.runs.find_random, lambda made: finite(made.rms), scenario=sx.Scenario.parse(NOISY), at="start"
        ),
        "find_spectrum": _call(
            sx.runs.find_spectrum, lambda made: finite(made.largest), scenario=sx.Scenario.parse(QUAKE), at="start"
        ),
        "RandomFound.save": _call(
            sx.runs.find_random(sx.Scenario.parse(NOISY)).save,
            output="random",
            overwrite=True,
            pictures=False,
            say=ignore,
        ),
        "find_shock": _call(
            sx.runs.find_shock,
            lambda made: finite(made.spectra["acceleration_z"].acceleration),
            result="probed",
            probe="head",
            columns=["acceleration_z"],
            ratio=0.05,
            first=1.0,
            last=10.0,
            points=5,
        ),
        "merge": _call(sx.merge, meshes={"one": MESH, "two": MESH}),
        "mixed_mass": _call(
            sx.actions.mixed_mass,
            lambda made: finite(made.data),
            lumped=sx.lumped_mass(POINTS, CELLS, 10.0, 4),
            consistent=sx.consistent_mass(POINTS, CELLS, 10.0, 4),
            share=0.5,
            courant=None,
        ),
        "project": _call(sx.constraints.project, system=system(), constraints={"rod": ROD}, state=ring),
        "quadratic": _call(sx.quadratic, mesh=MESH),
        "read_history": _call(sx.read_history, path="history.csv"),
        "read_sweep": _call(sx.studies.read_sweep, lambda made: made.rows(), path="kept-study"),
        "read_comparison": _call(sx.studies.read_comparison, lambda made: repr(made), path="kept-comparison"),
        "read_convergence": _call(sx.studies.read_convergence, lambda made: made.report(), path="kept-study"),
        "read_result": _call(sx.read_result, lambda made: repr(made), path="kept"),
        "TableReporter": _call(
            sx.runs.TableReporter, lambda made: made.files, name="lowest", row=_lowest, units={"lowest": "m"}
        ),
        "Result": _call(sx.runs.Result, lambda made: repr(made), folder=RunFolder("kept")),
        "ResultFrame": _call(
            sx.runs.ResultFrame,
            lambda made: made["displacement"],
            t=0.0,
            index=0,
            points=POINTS,
            displacement=0.0 * POINTS,
            point_fields={},
            cell_fields={},
            blocks={"body": sx.meshes.Block.of({"tetra": CELLS})},
        ),
        "conservation": _call(sx.conservation, lambda made: made.text(), of="kept"),
        "Conservation": _call(
            sx.runs.Conservation, lambda made: made.text(), title="A title", parts=(), history={"t": np.zeros(2)}
        ),
        "read_probe": _call(sx.runs.read_probe, path="history.csv"),
        "export_result": _call(sx.export_result, result="kept", to="table.csv", probe=None, time=None, overwrite=True),
        "read_probes": _call(sx.runs.read_probes, folder="."),
        "read_mesh": _call(sx.read_mesh, path="box.msh", scale=1.0, keep_unconnected=True),
        "read_series": _call(sx.read_series, path="motion.vtkhdf"),
        "repair_series": _call(sx.meshes.repair_series, path="motion.vtkhdf"),
        "record": _call(
            sx.record,
            lambda made: finite(made.q),
            system=system(),
            integrator=sx.Midpoint(1e-3),
            state=ring,
            times=[0.0, 0.001],
        ),
        "redistributed_mass": _call(
            sx.contact.redistributed_mass, finite, mass=np.ones(15), points=BLOCK.points, nodes=[0]
        ),
        "relative_equilibrium": _call(
            sx.equilibria.relative_equilibrium,
            system=system({"bars": TIED}),
            q=POINTS,
            omega=(0.01, 0.01, 0.01),
            velocity=None,
            tilt=3.0,
            newton=None,
        ),
        "relative_equilibrium_of_momentum": _call(
            sx.equilibria.relative_equilibrium_of_momentum,
            system=system({"bars": TIED}),
            q=POINTS,
            angular_momentum=(0.01, 0.01, 0.01),
            velocity=None,
            tilt=3.0,
            newton=None,
        ),
        "static_equilibrium": _call(
            sx.equilibria.static_equilibrium,
            system=system(fixed=HELD),
            q=POINTS,
            t=0.0,
            since=None,
            newton=None,
        ),
        "equilibrium_path": _call(
            sx.equilibria.equilibrium_path,
            system=system(fixed=HELD),
            q=POINTS,
            t=0.0,
            since=None,
            until=1.0,
            step=0.02,
            points=3,
            newton=None,
        ),
        "Static": _call(sx.equilibria.Static, rest, **step),
        "Stage": _call(
            sx.time.Stage, system=system(), integrator=sx.Midpoint(1e-3), end=1.0, name="first", interval=0.1
        ),
        "Stages": _call(
            sx.time.Stages,
            stages=[sx.time.Stage(system(), sx.Midpoint(1e-3), 1.0)],
            events=[sx.time.Event("late", "time", above=0.5)],
        ),
        "Event": _call(
            sx.time.Event,
            name="fast",
            value=lambda motion, state: float(state.v.max()),
            above=1.0,
            below=None,
            then="record",
            after=["late"],
            every=2,
        ),
        "save_mesh": _call(sx.save_mesh, mesh=MESH, path="saved.vtu"),
        "plot_history": _call(
            sx.plot_history,
            history={"t": np.array([0.0, 1.0]), "kinetic": np.ones(2), "total": np.ones(2)},
            path="plot.png",
            title="A title",
            stages={"first": 0.0},
        ),
        "compare_histories": _call(
            sx.runs.compare_histories,
            histories={"one": {"t": np.array([0.0, 1.0]), "kinetic": np.ones(2), "total": np.ones(2)}},
            path="plot.png",
            title="A title",
        ),
        "compile_lattice": _call(
            sx.grid.compile_lattice, ignore, value=on_spring, parameters=np.ones((2, 1)), size=2, axes=None
        ),
        "open_series": _call(
            sx.open_series,
            begin_series,
            path="new.vtkhdf",
            points=POINTS,
            blocks={"body": sx.meshes.Block.of({"tetra": CELLS})},
        ),
        # Methods
        "System.state": _call(
            lambda **keys: system().state(**keys), lambda s: finite([s.q, s.v, s.a]), q=POINTS, v=V, t=0.0
        ),
        "Motion.advance": _call(lambda t: sx.Midpoint(1e-3).start(system(), ring).approach(t, 0.1), ignore, t=0.002),
        "Motion.advance of events": _call(
            lambda t: sx.ForceStepping(0.01).start(system(), ring).approach(t, 0.1), ignore, t=0.002
        ),
        "Integrator.start": _call(lambda **keys: sx.Midpoint(1e-3).start(**keys), system=system(), state=ring),
        "Integrator.start of events": _call(
            lambda **keys: sx.ForceStepping(0.01).start(**keys), system=system(), state=ring
        ),
        "Integrator.fit": _call(
            lambda **keys: sx.Newmark(1e-3).fit(**keys), ignore, system=system(), state=ring, interval=0.01
        ),
        "RigidContact.from_penalty": _call(
            sx.RigidContact.from_penalty, carry, nodes=[0, 1], obstacle=WALL, penalty=0.1
        ),
        "NeoHookean.from_young": _call(sx.NeoHookean.from_young, fill, E=100.0, nu=0.3, density=10.0),
        "RigidBars.between": _call(sx.measures.RigidBars.between, hold, q=POINTS, pairs=[[0, 1]]),
        "Newmark.trapezoidal": _call(sx.Newmark.trapezoidal, move, dt=1e-3),
        "TimeFunction.table": _call(
            sx.actions.TimeFunction.table,
            evaluate,
            times=[0.0, 0.3, 0.7, 1.0],
            values=[0.0, 1.0, 0.0, 1.0],
            smooth=True,
        ),
        "TimeFunction.of_accelerations": _call(
            sx.actions.TimeFunction.of_accelerations, evaluate, times=[0.0, 0.3, 1.0], accelerations=[0.0, 1.0, 0.0]
        ),
        "TimeFunction.steady": _call(sx.actions.TimeFunction.steady, evaluate, rate=1.0),
        "TimeFunction.differenced": _call(
            sx.actions.TimeFunction.differenced, evaluate, value=lambda t: t, resolution=0.01
        ),
        "SphericalPendulum.state": _call(pendulum.state, lambda s: finite(s.q), q=[0.6, 0.0, -0.8], v=[0.0, 0.1, 0.0]),
        "Scenario.read": _call(sx.Scenario.read, path="drop.toml"),
        "Scenario.parse": _call(sx.Scenario.parse, text=SCENARIO, path="drop.toml"),
        "Scenario.with_values": _call(sx.Scenario.parse(SCENARIO).with_values, changes={"title": "another"}),
        "compare": _call(_compared, lambda found: finite(found.relative), first="first", second="second"),
        "sweep": _call(
            sx.sweep,
            scenario="drop.toml",
            over={"integrator.safety": [0.5, 0.8]},
            output="study",
            combine="grid",
            samples=None,
            sampling="random",
            seed=0,
            quantities=["max(kinetic)"],
            resume=False,
            overwrite=True,
            workers=0,
            dask=None,
            pictures=False,
            progress=False,
        ),
        "tangent": _call(
            sx.tangent,
            lambda found: finite(found.jacobian),
            build=_pulled,
            parameters=[10.0, 1.2],
            integrator=sx.EnergyMomentum(0.01),
            times=[0.01, 0.02],
            observe=_first_position,
            scales=[1.0, 0.1],
        ),
        "equilibrium_tangent": _call(
            sx.gradients.equilibrium_tangent,
            lambda found: finite(found.jacobian),
            build=_hung,
            parameters=[10.0, 1.2],
            observe=_first_position,
            scales=[1.0, 0.1],
        ),
        "frequency_tangent": _call(
            sx.gradients.frequency_tangent,
            lambda found: finite(found.derivatives),
            build=_hung,
            parameters=[10.0, 1.2],
            n=1,
            at="start",
            scales=[1.0, 0.1],
        ),
        "response_tangent": _call(
            sx.gradients.response_tangent,
            lambda found: finite(np.abs(found.derivatives)),
            build=_hung,
            parameters=[10.0, 1.2],
            frequencies=[0.1, 0.2],
            forces=np.where(HELD, 0.0, 0.1),
            base=None,
            base_acceleration=None,
            loss_factor=0.1,
            nodes=[1],
            at="start",
            scales=[1.0, 0.1],
        ),
        "gradient": _call(
            sx.gradient,
            lambda found: finite(found.parameters),
            build=_pulled,
            parameters=[10.0, 1.2],
            integrator=sx.Newmark(0.01),
            times=[0.01, 0.02],
            cost=_half_square,
            scales=[1.0, 0.1],
            factors=["springs"],
            budget=1e3,
            states="walk back",
        ),
        "converge": _call(
            sx.converge,
            scenario="drop.toml",
            key="body.1.mesh.cells",
            refinements=1,
            factor=2.0,
            quantities=["final(kinetic)"],
            exact=1.0,
            output="levels",
            resume=False,
            overwrite=True,
            workers=0,
            dask=None,
            progress=False,
        ),
        "fit": _call(
            sx.studies.fit,
            lambda found: finite(found.values),
            scenario="fitted.toml",
            output="fit",
            resume=False,
            overwrite=True,
            check=False,
            pictures=False,
            progress=False,
        ),
        "lmfit_minimizer": _call(
            sx.studies.lmfit_minimizer,
            lambda made: finite(made.userfcn(made.params)),
            scenario="fitted.toml",
        ),
        "sensitivity": _call(
            sx.studies.sensitivity,
            lambda found: found.rows(),
            scenario="drop.toml",
            by={"body.cube.material.young": 1e4},
            quantities=["final(kinetic)"],
            output="sensitivities",
            overwrite=True,
            pictures=False,
            progress=False,
        ),
        "simulate": _call(
            sx.simulate,
            scenario="drop.toml",
            output="results",
            resume=False,
            overwrite=True,
            progress=False,
            pictures=False,
            ranks=None,
        ),
        "State": _call(sx.State, go_on, t=0.0, q=POINTS, v=V, a=np.zeros((4, 3)), internal={}),
    }
    return found


def _pulled(p: Any) -> Any:
    """Return springs of a stiffness and length, and where they begin."""
    springs = sx.Bars(PAIRS, sx.measures.GreenStrain(float(p[0]), float(p[1])))
    system = sx.System(MASS, {"springs": springs})
    return system, system.state(POINTS, V)


def _hung(p: Any) -> Any:
    """Return the same with three points held."""
    made, start = _pulled(p)
    held = sx.System(MASS, made.energies, fixed=HELD)
    return held, held.state(start.q)


def _first_position(system: Any, state: Any) -> Any:
    return state.q[0]


def _half_square(state: Any) -> Any:
    return 0.5 * float(np.sum(state.q**2)), state.q, np.zeros_like(state.q)


def _keep_study(folder: Path) -> None:
    """Write what a convergence study of two runs leaves, but for the runs."""
    folder.mkdir(exist_ok=True)
    members = '{"1": {"define.n": 1}, "2": {"define.n": 2}}'
    (folder / "study.json").write_text(f'{{"format": 1, "scenario": "drop.toml", "members": {members}}}', "utf-8")
    (folder / "convergence.json").write_text('{"ratio": 2.0, "exact": null}', "utf-8")
    rows = "1,1,1.0,finished,\n2,2,1.5,finished,\n"
    (folder / "table.csv").write_text(f"member,define.n,max(kinetic),status,reason\n{rows}", "utf-8")


def _compared(first: Any, second: Any) -> Any:
    """Return the comparison of two results that are made here."""
    for name in ("first", "second"):
        if not Path(name).exists():
            sx.simulate("drop.toml", name, progress=False)
    return sx.compare(first, second)


def on_spring(p, x):
    """Return the energy of a spring on a line."""
    return 0.5 * p[0] * (x[1] - x[0]) ** 2
