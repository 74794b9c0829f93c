"""Reduced bodies in a moving frame: functions, inertia, conservation, agreement with the whole, joints, files."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose

import symplex as sx
from reference.boxes import box_of
from symplex.errors import InvalidSystem, MeshError, OutputError, StepFailed
from symplex.fem.structures import CorotationalEnergy, Coupling, Frames, Joint, body_particles

EPS = np.finfo(float).eps
STEEL = sx.NeoHookean.from_young(2e11, 0.3, 7850.0)
ENDS = ["x_min", "x_max"]


def bar(cells=(10, 2, 2), size=(1.0, 0.1, 0.06), law=STEEL):
    mesh = sx.box(size, cells, split="hexahedra")
    nodes = mesh.cells["hexahedron"]
    mass = sx.lumped_mass(mesh.points, nodes, law.density, len(mesh.points))
    return mesh, sx.System(mass, {"bar": sx.Solid(mesh.points, nodes, law)})


@pytest.fixture(scope="module")
def whole():
    return bar()


@pytest.fixture(scope="module")
def body(whole):
    return sx.modes.flexible_body(*whole, ENDS, 8)


def spun(points, omega, v=(0.0, 0.0, 0.0)):
    return np.asarray(v) + np.cross(omega, points - points.mean(axis=0))


def test_functions_hold_rigid_motions_and_interfaces(whole, body):
    """1 at their node and 0 at others, sums of 1, linear fields exactly; interfaces follow their own nodes alone."""
    mesh, _ = whole
    assert_allclose(body.functions[body.nodes], np.eye(len(body.nodes)), atol=1e-11)
    assert_allclose(body.functions.sum(axis=1), 1.0, atol=1e-11)
    assert_allclose(body.functions @ body.points, mesh.points, atol=1e-11)
    for name, places in body.interfaces.items():
        assert len(places) == 3  # a plane
        on = body.functions[mesh.nodes_of(name)]
        assert np.abs(np.delete(on, places, axis=1)).max() < 1e-9


def test_inertia_is_exact(whole, body):
    """Mass, momenta and kinetic energy of any rigid motion are those of the whole."""
    mesh, system = whole
    few = body.system()
    v, omega = [1.0, -2.0, 0.5], [3.0, 1.0, -7.0]
    velocities = [np.asarray(v) + np.cross(omega, x) for x in (mesh.points, body.points)]
    for what in ("momentum", "angular_momentum"):
        one, other = (getattr(s, what)(s.state(x, u)) for s, x, u in
                      zip((system, few), (mesh.points, body.points), velocities, strict=True))  # fmt: skip
        assert_allclose(other, one, rtol=1e-11, atol=1e-11 * np.abs(one).max())
    assert few.kinetic(velocities[1]) == pytest.approx(system.kinetic(velocities[0]), rel=1e-12)


@pytest.mark.parametrize("interfaces", [[], ENDS[:1], ENDS])
def test_frequencies_come_from_above(whole, interfaces):
    """Six rigid motions, and vibrations whose error falls with the number of modes; free modes are exact."""
    mesh, system = whole
    exact = sx.modes.natural_modes(system, system.state(mesh.points), 10).frequencies[6:]
    errors = []
    for m in (4, 8, 16):
        few = sx.modes.flexible_body(mesh, system, interfaces, m)
        alone = few.system()
        found = sx.modes.natural_modes(alone, alone.state(few.points), 10)
        assert found.kinds[:6] == [*(f"translation along {a}" for a in "xyz"), *(f"rotation about {a}" for a in "xyz")]
        errors.append(found.frequencies[6:] / exact - 1.0)
        assert errors[-1].min() > -1e-9
    if not interfaces:
        assert np.abs(errors[1]).max() < 1e-9
    assert errors[2].max() < 2e-3
    assert errors[0].max() >= errors[1].max() - 1e-9 >= errors[2].max() - 2e-9


@pytest.mark.parametrize("mass_of", [sx.lumped_mass, sx.consistent_mass])
@pytest.mark.parametrize("kind", ["tetra", "tetra10", "hexahedron20", "wedge15", "pyramid13"])
def test_all_elements_are_reduced(kind, mass_of):
    """Also where sums of rows of the mass are negative; functions stay of the size of one, masses well conditioned."""
    mesh = box_of(kind, (1.0, 0.1, 0.06), (5, 1, 1))
    cells, n = mesh.cells[kind], len(mesh.points)
    system = sx.System(mass_of(mesh.points, cells, 7850.0, n), {"bar": sx.Solid(mesh.points, cells, STEEL)})
    body = sx.modes.flexible_body(mesh, system, ENDS, 8)
    few = body.system()
    exact, found = (sx.modes.natural_modes(s, s.state(x), 9).frequencies[6:] for s, x in
                    ((system, mesh.points), (few, body.points)))  # fmt: skip
    assert (found / exact - 1.0).min() > -1e-9
    assert (found / exact - 1.0).max() < 0.01
    assert np.abs(body.functions).max() < 2.0
    assert np.linalg.cond(body.mass) < 1e4


def test_matrices_for_other_programs_have_its_frequencies(whole, body, tmp_path):
    """K and M of six motions of each interface, and modes: rigid motions without force, vibrations from above."""
    mesh, system = whole
    exact = sx.modes.natural_modes(system, system.state(mesh.points), 9).frequencies[6:]
    K, M = body.linear_stiffness, body.linear_mass
    assert K.shape == (20, 20)
    found = np.sqrt(np.abs(scipy.linalg.eigh(K, M, eigvals_only=True))) / (2 * np.pi)
    assert found[5] < 1e-3 * exact[0]
    assert 0.0 < (found[6:9] / exact - 1.0).max() < 5e-3
    # A rotation by one radian about z through the origin, of both interfaces about their means.
    rigid = np.zeros(20)
    for k, place in enumerate(body.interface_places):
        rigid[6 * k : 6 * k + 3], rigid[6 * k + 5] = np.cross([0.0, 0.0, 1.0], place), 1.0
    assert np.abs(K @ rigid).max() < 1e-9 * np.abs(K).max()
    mass = np.asarray(system.mass)
    assert rigid @ M @ rigid == pytest.approx(mass @ (mesh.points[:, :2] ** 2).sum(axis=1), rel=1e-9)
    from scipy.io import loadmat, mmread

    stored = loadmat(body.save(tmp_path / "bar.mat"))
    assert (stored["K"] == K).all()
    assert (stored["P"] == body.interface_places).all()
    body.save(tmp_path / "bar.mtx")
    assert (mmread(tmp_path / "bar-M.mtx").toarray() == M).all()
    again = sx.modes.FlexibleBody.read(body.save(tmp_path / "bar.npz"))
    assert (again.stiffness == body.stiffness).all()
    assert again.mesh.groups == mesh.groups
    assert again.interfaces.keys() == body.interfaces.keys()


@pytest.mark.slow
def test_energy_and_momenta_over_long_runs(body):
    """Energy–momentum: to the round-off of forces and positions, over 1000 steps of large rotations."""
    system, steps, h = body.system(), 1000, 1e-3
    v = spun(body.points, [2.0, 1.0, 30.0], [1.0, 2.0, 3.0])
    v[:, 1] += 0.3 * np.sin(2 * np.pi * body.points[:, 0])
    start = system.state(body.points, v)
    end = sx.EnergyMomentum(h).start(system, start).advance(h * steps)
    assert np.abs(end.q - start.q).max() > 1.0
    energy = system.energies_of(start)["total"]
    speed = np.abs(v).max()
    # Equations are solved to the round-off of forces, of positions of some metres: measured are 4e-12 at most.
    assert abs(system.energies_of(end)["total"] - energy) < 1e-10 * energy
    size = float(np.abs(body.mass).sum() * speed)
    assert np.abs(system.momentum(end) - system.momentum(start)).max() < 10.0 * EPS * steps * size
    arm = np.abs(end.q).max()
    turned = system.angular_momentum(end) - system.angular_momentum(start)
    assert np.abs(turned).max() < 10.0 * EPS * steps * size * arm


def test_steps_are_of_second_order():
    """Of positions, on a motion with large rotations and vibrations that steps resolve."""
    slow = sx.modes.flexible_body(*bar(law=sx.NeoHookean.from_young(2e8, 0.3, 7850.0)), [], 4)
    system = slow.system()
    v = spun(slow.points, [2.0, 1.0, 10.0])
    v[:, 1] += 0.05 * np.sin(2 * np.pi * slow.points[:, 0])
    start = system.state(slow.points, v)
    ends = [sx.EnergyMomentum(h).start(system, start).advance(2e-3).q for h in (5e-5, 2.5e-5, 1.25e-5)]
    ratio = np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2])
    assert 3.7 < ratio < 4.4


def test_small_deformations_are_those_of_the_whole():
    """Spinning and vibrating in a mode: the difference falls with the square of the amplitude."""
    mesh, system = bar(cells=(8, 1, 1))
    body = sx.modes.flexible_body(mesh, system, [], 8)
    few = body.system()
    shape = sx.modes.natural_modes(few, few.state(body.points), 7).shapes[6]
    shape /= np.abs(body.functions @ shape).max()
    found = []
    for amplitude in (2e-3, 1e-3):
        rate = 2 * np.pi * sx.modes.natural_modes(few, few.state(body.points), 7).frequencies[6]
        v = amplitude * rate * shape
        h, steps = 1.0 / (40.0 * rate / (2 * np.pi)), 80
        ends = [
            sx.EnergyMomentum(h).start(s, s.state(x, u)).advance(h * steps).q - x
            for s, x, u in ((few, body.points, v), (system, mesh.points, body.functions @ v))
        ]
        found.append(np.abs(body.functions @ ends[0] - ends[1]).max() / amplitude)
    assert found[1] < 0.02
    assert found[0] / found[1] > 1.7


def pendulum(reduce):
    """A bar on a hinge, whose end moves with a rigid body, under its weight."""
    law = sx.NeoHookean.from_young(5e6, 0.3, 1200.0)
    mesh, system = bar((6, 1, 1), (0.3, 0.03, 0.03), law)
    particles, m = body_particles(0.05, [0.0, 0.015, 0.015], [0.005, 0.01, 0.012])
    if reduce:
        few = sx.modes.flexible_body(mesh, system, ["x_min"], 8)
        rest, mass = few.points, sp.csr_array(few.mass)
        nodes, energy = few.interfaces["x_min"], few.energy(np.arange(len(rest)))
        tip = few.functions[mesh.nodes_of("x_max")].mean(axis=0)
    else:
        rest, mass = mesh.points, sp.diags_array(system.mass)
        nodes, energy = mesh.nodes_of("x_min"), system.energies["bar"]
        tip = np.isin(np.arange(len(rest)), mesh.nodes_of("x_max")) / len(mesh.nodes_of("x_max"))
    n, x = len(rest), np.concatenate([rest, particles])
    mass = sp.csr_array(sp.block_diag([mass, sp.diags_array(m)]))
    frames = Frames(n + np.arange(4)[None], x)
    hinge = Joint("revolute", (frames.nodes[0], None), x, [0.0, 0.015, 0.015], axis=[0.0, 1.0, 0.0])
    joints = {"seat": Coupling(frames.nodes[0], nodes, x), "hinge": hinge}
    weight = sx.Gravity(mass, (0.0, 0.0, -9.81))
    return sx.System(mass, {"bar": energy, "weight": weight}, frames=frames, joints=joints), x, tip


SLOW = [pytest.param(method, marks=pytest.mark.slow) for method in (sx.Midpoint, sx.GeneralizedAlpha)]


@pytest.mark.parametrize("method", [sx.EnergyMomentum, *SLOW])
def test_a_pendulum_with_a_coupling(method):
    """Consistent masses next to joints: the tip moves as that of the whole, energy is kept, nodes stay in place."""
    tips = []
    for reduce in (False, True):
        system, x, tip = pendulum(reduce)
        start = system.state(x)
        end = method(1e-3).start(system, start).advance(0.2)
        tips.append(tip @ end.q[: len(tip)])
        assert np.abs(system.joints.violations(end.q)).max() < 1e-12
        if method is sx.EnergyMomentum:
            drift = system.energies_of(end)["total"] - system.energies_of(start)["total"]
            assert abs(drift) < 1e-10 * system.energies_of(end)["kinetic"]
    assert np.linalg.norm(tips[0] - [0.3, 0.015, 0.015]) > 0.2
    assert np.abs(tips[1] - tips[0]).max() < 2e-3  # of 0.2 m; the bar is bent by a centimetre


def test_reactions_of_a_coupling_with_consistent_masses():
    """Force of the hinge at the start of the fall against that of the exact accelerations of the whole matrix."""
    system, x, _ = pendulum(True)
    state = system.state(x)
    force = system.joint_reactions(state)["hinge"].force
    # All weight less the mass that is accelerated.
    weight = system.mass.sum() * np.array([0.0, 0.0, -9.81])
    inertia = system.apply_mass(state.a).sum(axis=0)
    assert_allclose(np.abs(force), np.abs(weight - inertia), rtol=1e-9, atol=1e-9)


def test_what_is_far_from_all_that_is_small_has_no_traceback(body):
    """Nodes in a line, at one place or nowhere: NaN; a step that leads there fails with a sentence."""
    energy, x = body.energy(np.arange(len(body.nodes))), body.points
    for q in (np.full_like(x, np.nan), np.zeros_like(x), x * [1.0, 0.0, 0.0]):
        for found in (energy.value(q[None]), energy.gradient(q[None]), energy.hessian(q[None])):
            assert found.shape[0] == 1
        energy.discrete_gradient(x[None], q[None])
        energy.discrete_hessian(x[None], q[None])
    system = body.system()
    motion = sx.EnergyMomentum(1.0).start(system, system.state(x, 1e6 * x**2))
    with pytest.raises(StepFailed):
        motion.advance(1.0)


def test_what_is_refused(whole, body, tmp_path):
    """By name."""
    mesh, system = whole
    with pytest.raises(MeshError, match="group 'top' is not in the mesh"):
        sx.modes.flexible_body(mesh, system, ["top"], 2)
    with pytest.raises(MeshError, match="must not share nodes"):
        sx.modes.flexible_body(mesh, system, ["x_min", "y_min"], 2)
    with pytest.raises(MeshError, match="given twice"):
        sx.modes.flexible_body(mesh, system, ["x_min", "x_min"], 2)
    held = np.zeros((len(mesh.points), 3), bool)
    held[0] = True
    on_support = sx.System(system.mass, system.energies, fixed=held)
    with pytest.raises(InvalidSystem, match="without supports"):
        sx.modes.flexible_body(mesh, on_support, [], 2)
    weight = sx.Gravity(np.asarray(system.mass), (0.0, 0.0, -9.81))
    heavy = sx.System(system.mass, {**system.energies, "weight": weight})
    with pytest.raises(InvalidSystem, match="without forces"):
        sx.modes.flexible_body(mesh, heavy, [], 2)
    with pytest.raises(OutputError, match="written as"):
        body.save(tmp_path / "bar.txt")
    (tmp_path / "none.npz").write_bytes(b"nothing")
    with pytest.raises(OutputError, match="cannot be read: not a flexible body"):
        sx.modes.FlexibleBody.read(tmp_path / "none.npz")
    with pytest.raises(OutputError, match="nothing that another program could hold"):
        sx.modes.flexible_body(mesh, system, [], 2).save(tmp_path / "free.mat")
    with pytest.raises(InvalidSystem, match="gradients must sum to 0"):
        CorotationalEnergy([0, 1], np.eye(3)[:2], np.eye(6), np.ones((2, 3)))


def test_damaged_files_are_refused(body, tmp_path):
    content = body.save(tmp_path / "bar.npz").read_bytes()
    damaged = bytearray(content)
    damaged[len(content) // 3 : len(content) // 3 + 200] = bytes(200)
    with np.load(tmp_path / "bar.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    np.savez(tmp_path / "other.npz", **arrays | {"nodes": arrays["nodes"] + 10_000})
    np.savez(tmp_path / "places.npz", **arrays | {"interface_0": arrays["interface_0"] + 10_000})
    for name, bad in (("half.npz", content[: len(content) // 2]), ("changed.npz", bytes(damaged))):
        (tmp_path / name).write_bytes(bad)
    for name in ("half.npz", "changed.npz", "other.npz", "places.npz"):
        with pytest.raises(OutputError, match="not a flexible body, or damaged"):
            sx.modes.FlexibleBody.read(tmp_path / name)
    with pytest.raises(OutputError, match="not a reduced body, or damaged"):
        sx.modes.ReducedBody.read(tmp_path / "half.npz")
