"""Plastic bodies: closed forms of J2 flow, tangents by differences, objectivity, balance and momenta in motion."""

import warnings

import numpy as np
import pytest
from scipy.sparse import bsr_array

from reference.metal_bodies import (
    COPPER,
    DENSITY,
    LINE,
    MU,
    NU,
    E,
    K,
    deformed,
    flowed,
    metrics,
    ring,
    rotation,
    solid_of,
    spinning,
    system_of,
)
from symplex.errors import InvalidSystem, InvertedElement, MaterialError
from symplex.fem.actions.support_motion import SupportTranslation
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.outputs.solid_fields import SolidFields, nodal_stress, stress
from symplex.fem.pictures import blocks_of
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.materials import LinearElastic
from symplex.fem.solids.plastic import Plastic
from symplex.fem.solids.solid import Solid
from symplex.meshes.generate import box
from symplex.meshes.midside_nodes import quadratic
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.equilibria.quasi_static import Static
from symplex.time.equilibria.static import static_equilibrium
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.modes.natural import natural_modes

VOCE = Hardening(4e8, modulus=1e7, saturation_stress=6e8, saturation_rate=20.0)
TABLE = Hardening.table([0.0, 0.01, 0.1], [4e8, 5e8, 6e8])
KINDS = ["hexahedron", "wedge", "tetra10", "hexahedron20", "stabilized"]
LAWS = {"line": LINE, "Voce": VOCE, "table": TABLE}
RETURNS = ["radial", "mean-normal"]


# -- hardening --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [law if law == "table" else pytest.param(law, marks=pytest.mark.slow) for law in LAWS])
def test_plastic_work_is_the_integral_of_the_yield_stress(law):
    hardening = LAWS[law]
    for end in (0.004, 0.05, 0.3):
        alpha = np.linspace(0.0, end, 20001)
        sigma = hardening.yield_stress(alpha)
        integral = np.sum(0.5 * (sigma[1:] + sigma[:-1]) * np.diff(alpha))
        assert hardening.plastic_work(end) == pytest.approx(integral, rel=1e-7)
    assert hardening.yield_stress(0.0) == 4e8
    assert VOCE.yield_stress(10.0) == pytest.approx(6e8 + 1e8)
    assert TABLE.yield_stress([0.055, 7.0]) == pytest.approx([5.5e8, 6e8])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hardening(0.0), "yield stress must be positive"),
        (lambda: Hardening(1e8, modulus=-1.0), "softening depends on the mesh"),
        (lambda: Hardening(1e8, saturation_stress=9e7, saturation_rate=1.0), "at least the yield stress"),
        (lambda: Hardening(1e8, saturation_stress=2e8), "belong together"),
        (lambda: Hardening.table([0.1, 0.2], [1e8, 2e8]), "begin with 0"),
        (lambda: Hardening.table([0.0, 0.2], [2e8, 1e8]), "must not decrease"),
    ],
)
def test_impossible_hardening_is_refused(make, message):
    with pytest.raises(MaterialError, match=message):
        make()


# -- one increment ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", RETURNS)
def test_work_stored_energy_and_dissipation_balance(kind, law, how):
    part = Plastic(solid_of(kind), LAWS[law], return_mapping=how)
    q0, z0, q1 = flowed(part)
    z1, lost = part.after(q0, z0, q1, 1e-3)
    f = part.mean_force(q0, z0, q1, 1e-3)
    assert z1[..., 6].max() > z0[..., 6].max() > 1e-3
    assert lost > 0.0
    work, stored = np.sum(f * (q1 - q0)), part.stored(q1, z1) - part.stored(q0, z0)
    assert abs(work + stored + lost) <= 1e-12 * (abs(stored) + lost)
    largest = np.abs(f).max()
    assert np.abs(f.sum(axis=0)).max() <= 1e-12 * largest
    assert np.abs(np.cross(0.5 * (q0 + q1), f).sum(axis=0)).max() <= 1e-12 * largest * 0.04
    assert np.abs(np.linalg.det(metrics(z1)) - 1.0).max() < 1e-13
    work_done = part.hardening.plastic_work(z1[..., 6]) - part.hardening.plastic_work(z0[..., 6])
    _, weights, _ = part.solid.part()
    assert lost == pytest.approx(np.sum(weights * work_done), rel=1e-11)


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", RETURNS)
def test_derivatives_are_those_of_the_forces(kind, law, mean, how):
    part = Plastic(solid_of(kind), LAWS[law], return_mapping=how)
    system, (q0, z0, q1) = system_of(part), flowed(part)
    pattern, n = system.pattern, system.n_nodes
    blocks = pattern.zeros(3)
    part.add_derivatives(q0, z0, q1, 1.0, 2.0, system.inelastic_slots()["bar"], blocks, mean=mean)
    matrix = bsr_array((blocks, pattern.indices, pattern.indptr), shape=(3 * n, 3 * n))
    force, h = part.mean_force if mean else part.force, 1e-8
    for seed in (3, 4):
        d = deformed(np.zeros_like(q1), 1.0, seed)
        wanted = (force(q0, z0, q1 + h * d, 1.0) - force(q0, z0, q1 - h * d, 1.0)) / h
        assert np.abs((matrix @ d.ravel()).reshape(-1, 3) - wanted).max() <= 1e-6 * np.abs(wanted).max()
    if not mean:  # the increment has a potential
        assert abs(matrix - matrix.T).max() <= 1e-12 * abs(matrix).max()


@pytest.mark.parametrize("law", [LINE, VOCE, LINE.with_heating(383.0), LINE.with_rate(1.0, factor=0.02)])
@pytest.mark.parametrize("size", [2e-5, 4e-4, 1.2e-3])
@pytest.mark.parametrize("kind", KINDS)
def test_explicit_steps_of_eight_points_at_once_are_those_of_one(kind, size, law):
    """Elastic, small and large strains, which series without eigenvectors, short or long, and with them serve."""
    part = Plastic(solid_of(kind), law)
    if kind == "hexahedron20" and size > 1e-3:
        return  # inverted
    q0, z0, q1 = flowed(part, size)
    f, z, lost = part.force_and_after(q0, z0, q1, 1e-3)
    force, (wanted, dissipated) = part.force(q0, z0, q1, 1e-3), part.after(q0, z0, q1, 1e-3)
    assert np.abs(f - force).max() <= 1e-12 * np.abs(force).max()
    assert np.abs(z - wanted).max() <= 1e-12 * np.abs(wanted).max()
    assert lost == pytest.approx(dissipated, rel=1e-11, abs=1e-12 * part.stored(q1, wanted))


def test_nothing_flows_in_no_time_and_below_the_yield_stress():
    part = Plastic(solid_of("hexahedron"), LINE)
    q0, z0, q1 = flowed(part)
    z, lost = part.after(q0, z0, q1, 0.0)
    assert np.array_equal(z, z0)
    assert abs(lost) <= 1e-12 * part.stored(q1, z)
    q1 = deformed(part.solid.points, 1e-6, 4)
    z, lost = part.after(part.solid.points, part.unstrained(), q1, 1.0)
    assert np.array_equal(z, part.unstrained())
    assert abs(lost) <= 1e-12 * part.stored(q1, z)


def test_forces_follow_rotations():
    part = Plastic(solid_of("tetra10"), VOCE)
    q0, z0, q1 = flowed(part)
    R = rotation(1.3)
    f = part.force(q0, z0, q1, 1.0)
    assert np.abs(part.force(q0, z0, q1 @ R.T, 1.0) - f @ R.T).max() <= 1e-11 * np.abs(f).max()
    (z, lost), (turned, same) = part.after(q0, z0, q1, 1.0), part.after(q0 @ R.T, z0, q1 @ R.T, 1.0)
    assert np.abs(z - turned).max() < 1e-12
    assert same == pytest.approx(lost, rel=1e-10)


def test_of_small_increments_the_stress_is_the_mean_of_both_ends():
    part = Plastic(solid_of("hexahedron"), LINE)
    q0, z0, q1 = flowed(part)
    z1, _ = part.after(q0, z0, q1, 1.0)
    f = part.force(q1, z1, q1, 0.0)
    for size in (1e-9, 1e-12, 1e-15, 0.0):
        near = deformed(q1, size, 5)
        assert np.abs(part.mean_force(q1, z1, near, 1.0) - f).max() <= (1e3 * size / 1e-3 + 1e-9) * np.abs(f).max()


# -- closed forms of homogeneous deformation --------------------------------------------------------------------------


def tension(kind, law, stretches):
    """Logarithmic axial and plastic strains, and the axial Cauchy stress, of a bar that is pulled."""
    from scipy.optimize import brentq

    part = Plastic(solid_of(kind, (1, 1, 1), (0.02, 0.02, 0.02)), law)
    q, z, X, found = part.solid.points, part.unstrained(), part.solid.points, []
    for stretch in stretches:

        def across(w, stretch=stretch, q=q, z=z):
            q1 = X * [stretch, w, w]
            z1, _ = part.after(q, z, q1, 1.0)
            return part.cauchy(q1, z1)[0, 1, 1]

        w = brentq(across, 0.9 / np.sqrt(stretch), 1.1 / np.sqrt(stretch), xtol=1e-15, rtol=1e-14)
        q1 = X * [stretch, w, w]
        z, _ = part.after(q, z, q1, 1.0)
        q = q1
        found.append((np.log(stretch), part.plastic_strain(z)[0], part.cauchy(q, z)[0, 0, 0], np.log(stretch * w * w)))
    return np.array(found).T


@pytest.mark.parametrize("law", LAWS)
def test_a_bar_that_is_pulled_yields_as_its_hardening_says(law):
    hardening = LAWS[law]
    strain, alpha, sigma, theta = tension("hexahedron", hardening, [1.001, 1.01, 1.1, 1.3, 1.297, 1.5])
    kirchhoff = sigma * np.exp(theta)
    assert alpha[0] == 0.0
    assert alpha[4] == alpha[3]  # unloading
    assert strain - kirchhoff / E == pytest.approx(alpha, rel=1e-9, abs=1e-12)  # ε = τ/E + α, exact in logarithms
    flowing = np.array([1, 2, 3, 5])
    assert kirchhoff[flowing] == pytest.approx(hardening.yield_stress(alpha[flowing]), rel=1e-9)
    assert theta == pytest.approx(kirchhoff / (3 * K), rel=1e-8)


def test_cyclic_shear_flows_at_the_yield_stress():
    """Small shears γ: |τ| = σy(α)/√3 with α the sum of all |Δγᵖ|/√3."""
    part = Plastic(solid_of("tetra10", (1, 1, 1), (0.02, 0.02, 0.02)), LINE)
    X = part.solid.points
    q, z = X, part.unstrained()
    gamma, tau, plastic, alpha = 0.0, 0.0, 0.0, 0.0
    path = np.concatenate(
        [np.linspace(0, 0.02, 21)[1:], np.linspace(0.02, -0.02, 41)[1:], np.linspace(-0.02, 0, 21)[1:]]
    )
    for target in path:
        q1 = X.copy()
        q1[:, 0] += target * X[:, 1]
        z, _ = part.after(q, z, q1, 1.0)
        q, gamma = q1, target
        trial = MU * (gamma - plastic)
        excess = np.sqrt(3.0) * abs(trial) - (4e8 + 1e8 * alpha)
        if excess > 0.0:
            x = excess / (3 * MU + 1e8)
            alpha += x
            plastic += np.sign(trial) * np.sqrt(3.0) * x
        tau = MU * (gamma - plastic)
        assert part.cauchy(q, z)[0, 0, 1] == pytest.approx(tau, abs=5e-3 * 4e8)  # O(γ²) of small strains
        assert part.plastic_strain(z)[0] == pytest.approx(alpha, rel=5e-3, abs=1e-12)
    assert alpha > 0.03


def test_bending_of_a_stabilized_hexahedron_is_limited_by_the_yield_stress():
    """One element bent far: its moment is below 1.2 of the plastic one, σ b h²/4, and of a free side 2/√3 as much."""
    law = Hardening(4e8)
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    X = mesh.points
    part = Plastic(Solid(X, mesh.cells["hexahedron"], COPPER, formulation="stabilized"), law)
    z, q = part.unstrained(), X
    for angle in np.linspace(0.0, 0.1, 41)[1:]:
        q1 = X.copy()
        q1[:, 0] += angle * (X[:, 0] - 0.5) * (X[:, 1] - 0.5)
        z, _ = part.after(q, z, q1, 1.0)
        q = q1
    force = -part.force(q, z, q, 0.0)
    end = X[:, 0] == 1.0
    moment = np.sum(force[end, 0] * (X[end, 1] - 0.5))
    assert 0.9 < moment / (4e8 * 0.25) < 1.35
    elastic = COPPER.young * 0.1 / 12.0  # without yielding of hourglass modes, or more
    assert moment < 0.2 * elastic


# -- motions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", RETURNS)
def test_a_spinning_ring_that_flows_conserves_what_it_should(how):
    one = ring()
    system, state = spinning(Plastic(one.solid, one.hardening, return_mapping=how))
    motion = EnergyMomentum(2e-6).start(system, state)
    start = motion.energies(state)
    end = motion.advance(3e-4)
    found = motion.energies(end)
    assert end.internal["bar"][..., 6].max() > 0.1
    assert found["work_bar"] < -0.05 * start["total"]
    assert found["balance"] == pytest.approx(start["total"], rel=1e-12)
    L0, L1 = system.angular_momentum(state), system.angular_momentum(end)
    assert np.abs(L1 - L0).max() <= 1e-12 * np.abs(L0).max()
    assert np.abs(system.momentum(end)).max() <= 1e-12 * np.abs(system.mass @ np.abs(state.v)).max()


def test_methods_agree_on_the_flow():
    part = ring()
    system, state = spinning(part)
    alphas, parts = [], []
    for method in (EnergyMomentum(5e-7), Midpoint(5e-7), Newmark(2.5e-7)):
        motion = method.start(system, state)
        start = motion.energies(state)["total"]
        end = motion.advance(1e-4)
        found = motion.energies(end)
        alphas.append(part.plastic_strain(end.internal["bar"]).mean())
        parts.append(found["work_bar"] / start)
        assert abs(found["balance"] / start - 1.0) < 2e-3
        L0, L1 = system.angular_momentum(state), system.angular_momentum(end)
        assert np.abs(L1 - L0).max() <= 1e-11 * np.abs(L0).max()
    assert alphas[0] > 0.01
    assert alphas == pytest.approx([alphas[0]] * 3, rel=1e-2)
    assert parts == pytest.approx([parts[0]] * 3, rel=1e-2)


@pytest.mark.parametrize(("how", "order"), [("radial", 1.0), ("mean-normal", 2.0)])
@pytest.mark.parametrize(("method", "steps"), [(EnergyMomentum, 40), (Midpoint, 40), (Newmark, 80)])
def test_the_order_is_that_of_the_return(method, steps, how, order):
    """A bar that is stretched, bent and twisted while it spins; everything flows all the time."""
    solid = solid_of("hexahedron")
    part = Plastic(solid, Hardening(4e8, modulus=1e9), return_mapping=how)
    system, X = system_of(part), solid.points - solid.points.mean(axis=0)
    v = np.cross([0.0, 0.0, 6e3], X) + np.column_stack([6e3 * X[:, 0], -3e3 * X[:, 2], 1.5e5 * X[:, 0] ** 2])
    start = Newmark(2e-8).start(system, system.state(solid.points, v)).advance(4e-6)
    before, found, T = start.internal["bar"][..., 6], [], 4e-6
    assert before.min() > 0.01
    for k in range(3):
        state = system.state(start.q, start.v, internal=start.internal)
        end = method(T / (steps * 2**k)).start(system, state).advance(T)
        assert np.min(end.internal["bar"][..., 6] - before) > 0.01
        found.append((end.q, end.internal["bar"][..., 6]))
    for first, second, third in list(zip(*found, strict=True))[: int(order)]:  # α of the first one settles later
        ratio = np.linalg.norm(first - second) / np.linalg.norm(second - third)
        assert np.log2(ratio) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("method", [EnergyMomentum(2e-6), Midpoint(2e-6), Newmark(1e-7)])
def test_a_resumed_motion_is_bit_identical(method):
    system, state = spinning(ring(8))
    motion = method.start(system, state)
    motion.advance(2e-5)
    resumed = method.resume(system, motion.checkpoint())
    end, again = (each.advance(4e-5) for each in (motion, resumed))
    assert np.array_equal(end.q, again.q)
    assert np.array_equal(end.internal["bar"], again.internal["bar"])
    assert motion.energies(end) == resumed.energies(again)


def test_explicit_steps_are_divided_as_a_foot_becomes_thin():
    part = Plastic(solid_of("hexahedron", (1, 1, 3), (0.01, 0.01, 0.03)), LINE)
    X = part.solid.points
    system = system_of(part, fixed=np.abs(X) < 1e-9)
    state = system.state(X, np.broadcast_to([0.0, 0.0, -300.0], X.shape))
    motion = Newmark("auto").fit(system, state, 4e-5).start(system, state)
    start = motion.energies(state)["balance"]
    found = motion.advance(4e-5)
    assert motion.checkpoint()["limit"][2] >= 2.0
    assert motion.energies(found)["balance"] == pytest.approx(start, rel=0.1)
    fine = Newmark(motion.dt / 6).start(system, state)
    end = fine.advance(4e-5)
    assert fine.checkpoint()["limit"][2] == 1.0
    resumed = Newmark("auto").fit(system, state, 4e-5).start(system, state)
    resumed.advance(15 * resumed.dt)
    resumed = Newmark("auto").resume(system, resumed.checkpoint())
    assert np.array_equal(resumed.advance(4e-5).q, found.q)
    assert np.ptp(found.q[:, 2]) == pytest.approx(np.ptp(end.q[:, 2]), rel=2e-2)


# -- what is refused --------------------------------------------------------------------------------------------------


def test_elements_that_lock_are_refused_or_tell_it():
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="6")
    with pytest.warns(UserWarning, match=r"linear tetrahedra lock .* 37 % too small, .*tetra10"):
        part = Plastic(Solid(mesh.points, mesh.cells["tetra"], COPPER), LINE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        part.on(part.solid)
    fine = quadratic(mesh)
    with pytest.raises(InvalidSystem, match=r'collapse when metal flows. Take formulation "full"'):
        Plastic(Solid(fine.points, fine.cells["tetra10"], COPPER, formulation="mean-dilatation"), LINE)
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    with pytest.raises(InvalidSystem, match=r'Take formulation "mean-dilatation"'):
        Plastic(Solid(mesh.points, mesh.cells["hexahedron"], COPPER, formulation="full"), LINE)
    one = Solid(mesh.points, mesh.cells["hexahedron"], COPPER, formulation="mean-dilatation")
    with pytest.raises(InvalidSystem, match=r'"mean-normal" is known of .* Take "radial"'):
        Plastic(one, LINE.with_rate(1.0, factor=0.02), return_mapping="mean-normal")
    one = Solid(mesh.points, mesh.cells["hexahedron"], COPPER, formulation="stabilized")
    with pytest.raises(InvalidSystem, match="stabilized hexahedra are not known with a back stress"):
        Plastic(one, LINE.with_back_stress(1e9))
    small = LinearElastic.from_young(E=E, nu=NU, density=DENSITY)
    with pytest.raises(InvalidSystem, match="must be isotropic and of finite strains"):
        Plastic(Solid(fine.points, fine.cells["tetra10"], small), LINE)


def test_inverted_elements_are_named():
    part = Plastic(solid_of("hexahedron"), LINE)
    q = part.solid.points * [1.0, 1.0, -1.0]
    with pytest.raises(InvertedElement, match="element 0"):
        part.force(part.solid.points, part.unstrained(), q, 1.0)


def test_what_has_no_history_is_refused_by_name():
    system, state = spinning(ring(8))
    with pytest.raises(InvalidSystem, match="'bar'"):
        ForceStepping(1e-4).start(system, state)
    with pytest.raises(InvalidSystem, match="cannot follow the plastic flow or damage of 'bar'"):
        Composition(EnergyMomentum(1e-6)).start(system, state)
    with pytest.raises(InvalidSystem, match="plastic flow or damage of 'bar'"):
        static_equilibrium(system, state.q)
    with pytest.raises(InvalidSystem, match="plastic flow or damage of 'bar'"):
        natural_modes(system, state, 2)


# -- statics ----------------------------------------------------------------------------------------------------------


def test_the_energy_of_an_increment_has_its_forces():
    part = Plastic(solid_of("wedge"), VOCE)
    q0, z0, q1 = flowed(part)
    energy, d, h = part.increment(z0), deformed(np.zeros_like(q1), 1.0, 6), 1e-9
    slope = (energy.total(q1 + h * d) - energy.total(q1 - h * d)) / (2 * h)
    assert np.sum(part.force(q0, z0, q1, 1.0) * d) == pytest.approx(-slope, rel=1e-5)
    z1, lost = part.after(q0, z0, q1, 1.0)
    assert energy.total(q1) == pytest.approx(part.stored(q1, z1) + lost, rel=1e-12)


def pulled(part, ends, duration=1.0):
    """A bar along x, whose end goes to strains at the ends of equal intervals, and which is free across."""
    X = part.solid.points
    at = lambda axis, value: np.flatnonzero(np.abs(X[:, axis] - value) < 1e-9)  # noqa: E731
    length = X[:, 0].max()
    times = duration * np.arange(len(ends) + 1) / len(ends)
    course = TimeFunction.table(times, length * np.concatenate([[0.0], ends]), smooth=False)
    fixed = np.abs(X) < 1e-9
    return system_of(part, fixed=fixed, moving={"end": SupportTranslation(at(0, length), "x", course)})


@pytest.mark.parametrize("kind", ["hexahedron", "tetra10"])
def test_statics_follow_the_path(kind):
    """Pulled to 5 %, the bar unloads elastically and has a permanent strain."""
    part = Plastic(solid_of(kind, (2, 1, 1)), LINE)
    system = pulled(part, [0.05, 0.047])
    motion = Static(0.05).start(system, system.state(part.solid.points))
    pulled_to, end = motion.advance(0.5), motion.advance(1.0)
    for state, strain in ((pulled_to, np.log(1.05)), (end, np.log(1.047))):
        z = state.internal["bar"]
        alpha = part.plastic_strain(z)
        F = part.solid.deformation_gradients(state.q)
        tau = part.cauchy(state.q, z)[:, 0, 0] * np.linalg.det(F)
        assert tau == pytest.approx(E * (strain - alpha), rel=1e-6)
        if state is pulled_to:
            assert tau == pytest.approx(4e8 + 1e8 * alpha, rel=1e-6)
            before = alpha
        else:
            assert np.array_equal(alpha, before)
    found = motion.energies(end)
    start = 0.0
    assert -found["work_bar"] == pytest.approx(
        part.hardening.plastic_work(before[0]) * part.solid.volumes.sum(), rel=1e-6
    )
    assert found["balance"] == pytest.approx(start, abs=1e-9 * found["work_end"])
    assert abs(found["work_rest"]) < 0.02 * found["work_end"]
    resumed = Static(0.05).resume(system, motion.checkpoint())
    assert np.array_equal(resumed.advance(1.0).internal["bar"], end.internal["bar"])


def test_what_systems_show_of_metals():
    part = Plastic(solid_of("hexahedron"), LINE)
    system = system_of(part)
    q0, z0, _ = flowed(part)
    state = system.state(q0, internal={"bar": z0})
    assert blocks_of(system).keys() == {"bar"}
    assert stress(system, state, "plastic_strain")["bar"] == pytest.approx(part.plastic_strain(z0))
    sigma = stress(system, state)["bar"]
    assert sigma[:, 0] == pytest.approx(part.cauchy(q0, z0)[:, 0, 0])
    density = stress(system, state, "energy_density")["bar"]
    assert density @ part.solid.volumes == pytest.approx(part.stored(q0, z0))
    some = SolidFields(system, near=part.solid.nodes[1, :1])
    assert len(some.elements("bar")) < len(part.nodes) or len(part.nodes) == 2
    assert nodal_stress(system, state, "plastic_strain").max() > 1e-3
    two = some.repeated(2)
    stacked = two.stacked_state(np.stack([q0[some.nodes]] * 2), [{"bar": z0}] * 2)
    assert np.array_equal(
        two.of_elements("plastic_strain", stacked, "bar")[: len(some.elements("bar"))],
        some.of_elements("plastic_strain", state, "bar"),
    )
    once = some.at_nodes("von_mises", state)[some.nodes]
    assert two.at_nodes("von_mises", stacked) == pytest.approx(np.tile(once, 2), rel=1e-12)
