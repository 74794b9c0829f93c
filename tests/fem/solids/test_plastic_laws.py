"""Rate, back stress, heating and softening of metals: closed forms, tangents, balance in motion."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.sparse import bsr_array

from reference.metal_bodies import (
    DENSITY,
    LINE,
    E,
    deformed,
    flowed,
    metrics,
    ring,
    rotation,
    solid_of,
    spinning,
    system_of as whole,
)
from symplex.errors import MaterialError
from symplex.fem.outputs.solid_fields import SolidFields, stress
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.plastic import Plastic
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint

C, GAMMA, CAPACITY = 2e10, 300.0, 383.0
LAWS = {
    "Prager": LINE.with_back_stress(2e9),
    "Armstrong-Frederick": LINE.with_back_stress(C, GAMMA),
    "Johnson-Cook rate": LINE.with_rate(1.0, factor=0.02),
    "Cowper-Symonds": LINE.with_rate(40.0, exponent=0.2),
    "power": Hardening(9e7, power_modulus=2.92e8, power=0.31),
    "Johnson-Cook": Hardening(9e7, power_modulus=2.92e8, power=0.31)
    .with_rate(1.0, factor=0.025)
    .with_heating(CAPACITY)
    .with_softening(1356.0, exponent=1.09),
    "all": LINE.with_back_stress(C, GAMMA).with_rate(40.0, exponent=0.2).with_heating(CAPACITY).with_softening(1356.0),
}
WITHOUT_RATE = ["Prager", "Armstrong-Frederick", "power"]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", ["hexahedron", "tetra10", "stabilized"])
def test_increments_balance_and_tangents_are_consistent(kind, law):
    if kind == "stabilized" and LAWS[law].has_back_stress:
        return
    part, h = Plastic(solid_of(kind), LAWS[law]), 1e-3
    system, (q0, z0, q1) = whole(part), flowed(part)
    z1, lost = part.after(q0, z0, q1, h)
    f = part.mean_force(q0, z0, q1, h)
    assert z1[..., 6].max() > z0[..., 6].max() > 1e-3
    work, stored = np.sum(f * (q1 - q0)), part.stored(q1, z1) - part.stored(q0, z0)
    assert abs(work + stored + lost) <= 1e-12 * (abs(stored) + abs(lost))
    assert np.abs(np.linalg.det(metrics(z1)) - 1.0).max() < 1e-13
    if law in WITHOUT_RATE:
        assert lost > 0.0
    pattern, n = system.pattern, system.n_nodes
    for mean in (False, True):
        blocks = pattern.zeros(3)
        part.add_derivatives(q0, z0, q1, h, 2.0, system.inelastic_slots()["bar"], blocks, mean=mean)
        matrix = bsr_array((blocks, pattern.indices, pattern.indptr), shape=(3 * n, 3 * n))
        force, d = part.mean_force if mean else part.force, deformed(np.zeros_like(q1), 1.0, 3)
        wanted = (force(q0, z0, q1 + 1e-8 * d, h) - force(q0, z0, q1 - 1e-8 * d, h)) / 1e-8
        assert np.abs((matrix @ d.ravel()).reshape(-1, 3) - wanted).max() <= 1e-6 * np.abs(wanted).max()
        if not mean:  # every increment has a potential, of back stresses with recovery as well
            assert abs(matrix - matrix.T).max() <= 1e-12 * abs(matrix).max()
    R = rotation(1.3)
    turned, same = part.after(q0 @ R.T, z0, q1 @ R.T, h)
    assert np.abs(z1 - turned).max() < 1e-11 * max(np.abs(z1).max(), 1.0)
    assert same == pytest.approx(lost, rel=1e-9)


@pytest.mark.parametrize("law", WITHOUT_RATE)
def test_the_stress_is_the_derivative_of_the_potential(law):
    part = Plastic(solid_of("wedge"), LAWS[law])
    q0, z0, q1 = flowed(part)
    energy, d, h = part.increment(z0), deformed(np.zeros_like(q1), 1.0, 6), 1e-9
    slope = (energy.total(q1 + h * d) - energy.total(q1 - h * d)) / (2 * h)
    assert np.sum(part.force(q0, z0, q1, 1.0) * d) == pytest.approx(-slope, rel=1e-5)
    z1, lost = part.after(q0, z0, q1, 1.0)
    assert energy.total(q1) == pytest.approx(part.stored(q1, z1) + lost, rel=1e-12)


def pulled(law, stretches, h=1.0, kind="hexahedron"):
    """Logarithmic strain, plastic strain, axial Kirchhoff stress and internal variables of a bar that is pulled."""
    part = Plastic(solid_of(kind, (1, 1, 1), (0.02, 0.02, 0.02)), law)
    X, q, z, found = part.solid.points, part.solid.points, part.unstrained(), []
    for stretch in stretches:

        def across(w, stretch=stretch, q=q, z=z):
            q1 = X * [stretch, w, w]
            return part.cauchy(q1, part.after(q, z, q1, h)[0])[0, 1, 1]

        w = brentq(across, 0.9 / np.sqrt(stretch), 1.1 / np.sqrt(stretch), xtol=1e-15, rtol=1e-14)
        q1 = X * [stretch, w, w]
        z, lost = part.after(q, z, q1, h)
        tau = part.cauchy(q1, z)[0, 0, 0] * stretch * w * w
        found.append((np.log(stretch), z[0, 0, 6], tau, part.at_points("temperature", q1, z), lost, q1, z))
        q = q1
    return part, found


@pytest.mark.parametrize("gamma", [0.0, GAMMA])
def test_a_bar_with_a_back_stress_pulled_and_pushed_follows_the_closed_form(gamma):
    # X' = C - gamma X in tension, C/gamma (1 - exp(-gamma alpha)); exact for increments of any length along one path.
    part, found = pulled(LINE.with_back_stress(C, gamma), [1.004, 1.02, 1.015, 1.0, 0.99])
    X = previous = 0.0
    for k, (_, alpha, tau, _, _, q, z) in enumerate(found):
        sign = 1.0 if k < 2 else -1.0
        change = alpha - previous
        decay = np.exp(-gamma * change)
        X = X * decay + sign * C * (-np.expm1(-gamma * change) / gamma if gamma else change)
        if k != 2:
            assert change > 1e-4
            assert tau == pytest.approx(X + sign * (4e8 + 1e8 * alpha), rel=1e-9)
        back = part.at_points("back_stress", q, z)[0, 0]
        assert np.diag(back) == pytest.approx(np.array([2.0, -1.0, -1.0]) / 3.0 * X, rel=1e-9, abs=1.0)
        previous = alpha
    assert found[2][1] == found[1][1] or gamma  # Bauschinger: less than unloading elastically


def test_cyclic_shear_with_a_back_stress_approaches_its_stable_loop():
    """Small shears: of amplitude γᵖ the stable loop has |τ| = (σ0 + C/γ tanh(γ Δα/2))/√3 at its tips."""
    law = Hardening(2e8).with_back_stress(C, GAMMA)
    part = Plastic(solid_of("tetra10", (1, 1, 1), (0.02, 0.02, 0.02)), law)
    X = part.solid.points
    q, z = X, part.unstrained()
    tips = []
    steps = 100
    path = [0.004 * np.sin(0.5 * np.pi * k / steps) for k in range(1, 4 * steps * 6 + 1)]
    for k, target in enumerate(path, start=1):
        q1 = X.copy()
        q1[:, 0] += target * X[:, 1]
        z, _ = part.after(q, z, q1, 1.0)
        q = q1
        if k % (2 * steps) == steps:
            tips.append((z[0, 0, 6], part.cauchy(q, z)[0, 0, 1]))
    (before, low), (after, high) = tips[-2], tips[-1]
    wanted = (2e8 + C / GAMMA * np.tanh(0.5 * GAMMA * (after - before))) / np.sqrt(3.0)
    assert abs(high) == pytest.approx(wanted, rel=5e-3)  # of small strains
    assert low == pytest.approx(-high, rel=2e-3)


@pytest.mark.parametrize("law", ["Johnson-Cook rate", "Cowper-Symonds"])
def test_the_flow_stress_follows_the_rate(law):
    h = 1e-4
    _, found = pulled(LAWS[law], [1.01, 1.02, 1.03], h)
    before = 0.0
    for strain, alpha, tau, *_ in found:
        rate = (alpha - before) / h
        factor = 1.0 + 0.02 * np.log(rate) if law == "Johnson-Cook rate" else 1.0 + (rate / 40.0) ** 0.2
        assert rate > 10.0
        assert tau == pytest.approx(factor * (4e8 + 1e8 * alpha), rel=1e-9)
        assert alpha == pytest.approx(strain - tau / E, rel=1e-9)
        before = alpha
    slow = pulled(LAWS[law], [1.02], np.inf)[1][0]
    assert slow[2] == pytest.approx(4e8 + 1e8 * slow[1], rel=1e-9)


def test_plastic_work_heats_the_metal():
    _, found = pulled(LINE.with_heating(CAPACITY, fraction=0.8, temperature=300.0), [1.05, 1.1, 1.2])
    for _, alpha, _, temperature, *_ in found:
        work = LINE.plastic_work(alpha)
        assert temperature == pytest.approx(300.0 + 0.8 * work / (DENSITY * CAPACITY), rel=1e-10)


def test_a_metal_that_softens_by_its_heat_follows_the_adiabatic_curve():
    """dT/dα = β σ(α, T)/(ρ c) with σ = A (1 − (T − T0)/(Tm − T0)): first order in the increments."""
    A, melting, errors = 4e8, 1300.0, []
    law = Hardening(A).with_heating(CAPACITY).with_softening(melting, reference=293.15)
    for n in (40, 80):
        _, found = pulled(law, np.linspace(1.0, 1.5, n + 1)[1:])
        alpha, tau, temperature = found[-1][1], found[-1][2], found[-1][3]
        decay = np.exp(-0.9 * A * alpha / (DENSITY * CAPACITY * (melting - 293.15)))
        assert temperature == pytest.approx(melting - (melting - 293.15) * decay, abs=0.1)
        errors.append(tau / (A * decay) - 1.0)
    assert errors[1] < 1e-3
    assert 1.6 < errors[0] / errors[1] < 2.5


@pytest.mark.parametrize("law", ["Armstrong-Frederick", "Johnson-Cook", "all"])
def test_a_spinning_ring_keeps_balance_and_angular_momentum(law):
    part = ring(8, LAWS[law])
    system, state = spinning(part)
    motion = EnergyMomentum(1e-6).start(system, state)
    start = motion.energies(state)
    end = motion.advance(1e-4)
    found = motion.energies(end)
    assert end.internal["bar"][..., 6].max() > 0.005
    assert found["work_bar"] < -1e-3 * start["total"]
    assert found["balance"] == pytest.approx(start["total"], rel=1e-12)
    L0, L1 = system.angular_momentum(state), system.angular_momentum(end)
    assert np.abs(L1 - L0).max() <= 1e-12 * np.abs(L0).max()
    if part.hardening.heats:  # heat is the part of the dissipation that it is said to be
        T = end.internal["bar"][..., 7] - 293.15
        heat = np.sum(part.solid.part()[1] * T) * DENSITY * CAPACITY
        assert heat == pytest.approx(-0.9 * found["work_bar"], rel=1e-9)


def test_methods_agree_on_the_flow_of_johnson_and_cook():
    part = ring(8, LAWS["Johnson-Cook"])
    system, state = spinning(part)
    alphas = []
    for method in (EnergyMomentum(5e-7), Midpoint(5e-7), Newmark(1e-7)):
        motion = method.start(system, state)
        start = motion.energies(state)["balance"]
        end = motion.advance(6e-5)
        alphas.append(part.plastic_strain(end.internal["bar"]).mean())
        found = motion.energies(end)
        assert abs(found["balance"] / start - 1.0) < 5e-3
        resumed = method.resume(system, motion.checkpoint())
        assert np.array_equal(motion.advance(7e-5).internal["bar"], resumed.advance(7e-5).internal["bar"])
    assert alphas[0] > 0.02
    assert alphas == pytest.approx([alphas[0]] * 3, rel=2e-2)


def test_fields_of_metals():
    part = Plastic(solid_of("hexahedron"), LAWS["all"])
    system = whole(part)
    q0, z0, _ = flowed(part)
    state = system.state(q0, internal={"bar": z0})
    T = stress(system, state, "temperature")["bar"]
    assert T.min() > 293.15
    assert stress(system, state, "back_stress")["bar"].shape == (2, 6)
    fields = SolidFields(system)
    assert fields.at_nodes("temperature", state).max() > 293.15
    assert np.abs(fields.at_nodes("back_stress", state)[:, :3].sum(axis=1)).max() < 1e-6 * C
    cold = whole(Plastic(solid_of("hexahedron"), LINE))
    state = cold.state(q0)
    assert not stress(cold, state, "temperature")["bar"].any()
    assert not stress(cold, state, "back_stress")["bar"].any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LINE.with_rate(1.0), "either a positive factor or a positive exponent"),
        (lambda: LINE.with_rate(-1.0, factor=1.0), "positive reference"),
        (lambda: LINE.with_back_stress(0.0), "positive modulus"),
        (lambda: LINE.with_heating(0.0), "positive heat capacity"),
        (lambda: LINE.with_softening(1000.0), "needs heating"),
        (lambda: LINE.with_heating(1.0).with_softening(200.0), "above the reference"),
        (lambda: Hardening(1e8, power_modulus=-1.0), "power law"),
    ],
)
def test_impossible_laws_are_refused(make, message):
    with pytest.raises(MaterialError, match=message):
        make()


def test_a_law_is_shown_as_it_is_written():
    for law in LAWS.values():
        again = eval(repr(law))
        assert again.constants == pytest.approx(law.constants, rel=1e-5)
    assert quad(LAWS["power"].yield_stress, 0.0, 0.3)[0] == pytest.approx(
        float(LAWS["power"].plastic_work(0.3)), rel=1e-7
    )
