"""Derivatives of equilibria and natural frequencies, against exact ones and central differences."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import symplex as sx
from reference.metal_bodies import solid_of, system_of
from symplex.errors import InvalidArgument, InvalidSystem, NoEquilibrium
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.plastic import Plastic
from symplex.gradients import equilibrium_tangent, frequency_tangent, response_tangent

MESH = sx.box((0.3, 0.04, 0.03), (6, 1, 1), split="hexahedra")
CELLS = {"hexahedron": MESH.cells["hexahedron"]}
HELD = np.flatnonzero(MESH.points[:, 0] == 0.0)
TIP = np.flatnonzero((MESH.points == MESH.points.max(axis=0)).all(axis=1))[0]
BEAM = np.array([2e6, 0.3, 1000.0, 9.81, 0.0])
SCALES = np.array([2e6, 0.3, 1000.0, 9.81, 0.01])


def beam(p):
    """Return a rubber cantilever in gravity and under a pressure, whose height tapers."""
    young, poisson, density, gravity, taper = p
    x = MESH.points.copy()
    x[:, 2] *= 1.0 + taper * x[:, 0] / (0.3 * 0.03)
    law = sx.NeoHookean.from_young(young, poisson, density)
    strain = sx.Solid(x, CELLS["hexahedron"], law)
    mass = sx.lumped_mass(x, CELLS["hexahedron"], density, len(x))
    pressure = sx.actions.Pressure(MESH.faces_of("z_max"), 20.0)
    fixed = sx.fixed_mask(len(x), [(HELD, "xyz")])
    energies = {"beam": strain, "gravity": sx.Gravity(mass, (0.0, 0.0, -gravity))}
    system = sx.System(mass, energies, fixed=fixed, loads={"pressure": pressure})
    return system, system.state(x)


def test_equilibria_of_a_bent_beam():
    def stress(system, state):
        return [state.q[TIP, 2], system.energies_of(state)["beam"]]

    def solved(p):
        system, state = beam(p)
        return np.array(stress(system, sx.equilibria.static_equilibrium(system, state.q).state))

    found = equilibrium_tangent(beam, BEAM, stress, scales=SCALES)
    assert np.allclose(found.values, solved(BEAM), rtol=1e-13)
    assert found.values[0] < 0.01  # it hangs by more than half its height
    for j in range(5):
        coarse, fine = (
            (solved(BEAM + h * e) - solved(BEAM - h * e)) / (2.0 * h)
            for r in (4e-3, 2e-3)
            for h, e in [(r * SCALES[j], np.eye(5)[j])]
        )
        assert np.allclose(found.jacobian[:, j], (4.0 * fine - coarse) / 3.0, rtol=1e-6, atol=0.0)
    again = equilibrium_tangent(beam, BEAM, scales=SCALES)
    assert np.array_equal(again.dq[TIP, 2], found.dq[TIP, 2])


@pytest.mark.parametrize("at", ["start", "equilibrium"])
def test_frequencies_of_a_beam_straight_and_bent(at):
    def frequencies(p):
        system, state = beam(p)
        if at == "equilibrium":
            state = sx.equilibria.static_equilibrium(system, state.q).state
        return sx.modes.natural_modes(system, state, 4).frequencies

    found = frequency_tangent(beam, BEAM, 4, at=at, scales=SCALES)
    assert np.allclose(found.frequencies, frequencies(BEAM), rtol=1e-9)
    for j in range(5):
        coarse, fine = (
            (frequencies(BEAM + h * e) - frequencies(BEAM - h * e)) / (2.0 * h)
            for r in (8e-3, 4e-3)
            for h, e in [(r * SCALES[j], np.eye(5)[j])]
        )
        expected = (4.0 * fine - coarse) / 3.0
        assert np.allclose(found.derivatives[:, j], expected, rtol=1e-5, atol=1e-7 * found.frequencies[-1] / SCALES[j])
    if at == "start":  # f goes with √(E/ρ), and gravity is not felt
        assert np.allclose(found.derivatives[:, 0], 0.5 * found.frequencies / BEAM[0], rtol=1e-6)
        assert np.allclose(found.derivatives[:, 3], 0.0, atol=1e-12)
    else:
        assert np.abs(found.derivatives[:, 3]).max() > 1e-4


def held_mass(p):
    """Return a mass in the plane between two springs along each axis, stretched to a strain."""
    x = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    law = sx.measures.EngineeringStrain(np.array([p[0], p[0], p[1], p[1]]), 1.0 / (1.0 + p[2]))
    springs = sx.Bars([[0, 1], [0, 2], [0, 3], [0, 4]], law, dim=2)
    fixed = np.array([[False] * 2] + [[True] * 2] * 4)
    system = sx.System([p[3], 1.0, 1.0, 1.0, 1.0], {"springs": springs}, dim=2, fixed=fixed)
    return system, system.state(x)


def test_equal_frequencies_of_a_mass_between_stretched_springs():
    p = np.array([100.0, 100.0, 0.2, 2.0])
    found = frequency_tangent(held_mass, p, 2)
    # Of the stiffness along an axis the springs along it have k each, those across it their tension over L = 1.
    along, across = 2.0, 2.0 * (1.0 - 1.0 / 1.2)

    def frequency(k):
        return np.sqrt(k / 2.0) / (2.0 * np.pi)

    stiffness = 100.0 * (along + across)
    assert np.allclose(found.frequencies, frequency(stiffness), rtol=1e-12)
    slope = 0.5 * frequency(stiffness) / stiffness
    assert np.allclose(found.derivatives[:, 0], [slope * across, slope * along], rtol=1e-9)
    assert np.allclose(found.derivatives[:, 1], [slope * across, slope * along], rtol=1e-9)
    assert np.allclose(found.derivatives[:, 2], slope * 200.0 / 1.44, rtol=1e-9)
    assert np.allclose(found.derivatives[:, 3], -0.5 * frequency(stiffness) / 2.0, rtol=1e-9)
    with pytest.raises(InvalidSystem, match="frequency 1 is equal to the next one"):
        frequency_tangent(held_mass, p, 1)


def test_the_shape_of_a_bar_from_its_first_three_frequencies():
    """Heights at three stations of a bar are found so that it has three given frequencies of bending."""

    def bar(heights):
        x = MESH.points.copy()
        x[:, 2] *= np.interp(x[:, 0], [0.0, 0.15, 0.3], heights)
        strain = sx.Solid(x, CELLS["hexahedron"], sx.NeoHookean.from_young(2e9, 0.3, 1000.0))
        mass = sx.lumped_mass(x, CELLS["hexahedron"], 1000.0, len(x))
        plane = sx.fixed_mask(len(x), [(np.arange(len(x)), "y")])  # bending in one plane
        system = sx.System(mass, {"bar": strain}, fixed=plane | sx.fixed_mask(len(x), [(HELD, "xyz")]))
        return system, system.state(x)

    made = np.array([1.3, 0.9, 0.7])
    wanted = sx.modes.natural_modes(*bar(made), 3).frequencies
    known = {}

    def at(heights):
        return known.setdefault(heights.tobytes(), frequency_tangent(bar, heights, 3))

    found = least_squares(
        lambda h: at(h).frequencies / wanted - 1.0,
        np.ones(3),
        lambda h: at(h).derivatives / wanted[:, None],
        xtol=1e-12,
    )
    assert len(known) < 12
    assert np.allclose(at(found.x).frequencies, wanted, rtol=1e-9)
    assert np.allclose(found.x, made, rtol=1e-6)


def oscillator(p):
    """Return a mass on a spring to a support, with a dashpot along it and drag, in the plane of one axis."""
    k, m, c, drag = p
    bars = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(k, 1.0), dim=1)
    loads = {"dashpot": sx.actions.Dashpots([[0, 1]], c), "drag": sx.actions.Drag([1.0, m], drag / m)}
    system = sx.System([1.0, m], {"spring": bars}, dim=1, fixed=np.array([[True], [False]]), loads=loads)
    return system, system.state([[0.0], [1.0]])


def test_the_response_of_an_oscillator_has_its_exact_derivatives():
    k, m, c, drag, loss = p = np.array([40.0, 1.3, 0.4, 0.7, 0.05])
    at = np.array([0.0, 0.5, 0.9, 2.0])
    w = 2.0 * np.pi * at
    force = np.array([[0.0], [2.0]])
    D = k * (1.0 + 1j * loss) - w**2 * m + 1j * w * (c + drag)
    by = np.stack([0j * w + 1.0 + 1j * loss, -(w**2) + 0j, 1j * w, 1j * w], axis=1)  # of D
    found = response_tangent(oscillator, p[:4], at, forces=force, loss_factor=loss, nodes=[1])
    assert np.allclose(found.displacements[:, 0, 0], 2.0 / D, rtol=1e-12)
    exact = -2.0 / D[:, None] ** 2 * by
    assert np.allclose(found.derivatives[:, 0, 0], exact, rtol=1e-9, atol=1e-12)
    slope = (np.conj(2.0 / D)[:, None] * exact).real / np.abs(2.0 / D)[:, None]
    assert np.allclose(found.amplitudes[:, 0, 0], np.abs(2.0 / D))
    assert np.allclose(found.amplitude_derivatives[:, 0, 0], slope, rtol=1e-8, atol=1e-12)
    # Shaken at its base, u = N/D u_c with N = k (1 + iη) + iωc: what holds it has a response too, without derivatives.
    moved = response_tangent(oscillator, p[:4], at, base=np.array([[0.1], [0.0]]), loss_factor=loss)
    N, by_N = k * (1.0 + 1j * loss) + 1j * w * c, by * [1.0, 0.0, 1.0, 0.0]
    exact = 0.1 * (by_N / D[:, None] - (N / D**2)[:, None] * by)
    assert np.allclose(moved.derivatives[:, 1, 0], exact, rtol=1e-8, atol=1e-12)
    assert not moved.derivatives[:, 0].any()
    assert not moved.amplitude_derivatives[:, 0].any()
    pulled = response_tangent(oscillator, p[:4], at[1:], base_acceleration=np.array([[0.1], [0.0]]), loss_factor=loss)
    assert np.allclose(pulled.derivatives[:, 1, 0], -exact[1:] / w[1:, None] ** 2, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("at", ["start", "equilibrium"])
def test_responses_of_a_damped_beam_straight_and_bent(at):
    """Differences of whole responses tend to the derivatives with the square of their step."""
    frequencies = np.array([3.0, 11.0, 30.0])
    p, scales = np.append(BEAM, 8.0), np.append(SCALES, 8.0)
    force = np.zeros(MESH.points.shape)
    force[TIP] = 1e-3, 2e-3, 3e-3

    def damped(p):
        system, state = beam(p[:5])
        loads = {**system.loads, "drag": sx.actions.Drag(system.mass, p[5])}
        system = sx.System(system.mass, system.energies, fixed=system.fixed, loads=loads)
        return system, state

    def response(p):
        system, state = damped(p)
        if at == "equilibrium":
            state = sx.equilibria.static_equilibrium(system, state.q).state
        return sx.modes.frequency_response(system, state, frequencies, forces=force, nodes=[TIP]).displacements

    found = response_tangent(damped, p, frequencies, forces=force, nodes=[TIP], at=at, scales=scales)
    assert np.allclose(found.displacements, response(p), rtol=1e-9)
    for j, scale in enumerate(scales):
        some = [
            (response(p + h * e) - response(p - h * e)) / (2.0 * h)
            for r in (4e-3, 2e-3)
            for h, e in [(r * scale, np.eye(6)[j])]
        ]
        exact = found.derivatives[..., j]
        size = np.abs(found.displacements).max() / scale
        assert np.allclose(exact, (4.0 * some[1] - some[0]) / 3.0, rtol=1e-5, atol=1e-6 * size)
        errors = [np.abs(one - exact).max() for one in some]
        if errors[1] > 1e-6 * size:  # above what equilibria are solved to
            assert 3.5 < errors[0] / errors[1] < 4.5
    if at == "start":
        assert np.abs(found.derivatives[..., 3]).max() < 1e-12  # gravity is not felt
    assert np.abs(found.derivatives[..., 5]).max() * 8.0 > 1e-3 * np.abs(found.displacements).max()


def test_what_has_no_response_is_refused():
    p, force = np.array([40.0, 1.3, 0.0, 0.0]), np.array([[0.0], [2.0]])
    scales = np.ones(4)
    resonance = np.sqrt(40.0 / 1.3) / (2.0 * np.pi)
    with pytest.raises(NoEquilibrium, match="nothing damps it"):
        response_tangent(oscillator, p, [0.0, resonance], forces=force, scales=scales)
    with pytest.raises(InvalidSystem, match="nothing excites it"):
        response_tangent(oscillator, p, [1.0], scales=scales)
    with pytest.raises(InvalidSystem, match="response_tangent refers to nodes 7"):
        response_tangent(oscillator, p, [1.0], forces=force, nodes=[7], scales=scales)
    with pytest.raises(InvalidArgument, match="the scale of parameter 2 must be positive"):
        response_tangent(oscillator, p, [1.0], forces=force)


def test_parts_with_history_are_refused_and_overstress_is_left_out():
    def rubber(p):
        system, state = beam([p[0], 0.3, 1000.0, 9.81, 0.0])
        part = sx.Viscoelastic(system.energies["beam"], [0.5], [0.1])
        parts = {"fixed": system.fixed, "loads": system.loads, "inelastic": {"rubber": part}}
        system = sx.System(system.mass, system.energies, **parts)
        return system, system.state(state.q)

    def elastic(p):
        return beam([p[0], 0.3, 1000.0, 9.81, 0.0])

    one, other = (equilibrium_tangent(build, [2e6]) for build in (rubber, elastic))
    assert np.abs(one.jacobian - other.jacobian).max() < 1e-12 * np.abs(other.dq).max()

    def metal(p):
        system = system_of(Plastic(solid_of("hexahedron"), Hardening(p[0])))
        return system, system.state(system.inelastic["bar"].solid.points)

    for function, more in ((equilibrium_tangent, ()), (frequency_tangent, (2,)), (response_tangent, ([1.0],))):
        with pytest.raises(InvalidSystem, match="plastic flow or damage of 'bar'"):
            function(metal, [4e8], *more)
