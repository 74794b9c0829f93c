"""The spin with which a tennis racket that is tossed lands with the face up that was up, by tangents of its flight."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

import symplex as sx
from reference.impacts import differences

FLIGHT = 0.8  # s
GRAVITY = 9.81
MESH = sx.box((0.02, 0.06, 0.12), (1, 2, 2))
CELLS = MESH.cells["tetra"]
MASS = sx.lumped_mass(MESH.points, CELLS, 2700.0, len(MESH.points))
POINTS = MESH.points - MASS @ MESH.points / MASS.sum()
UPPER, LOWER = (np.flatnonzero(MESH.points[:, 0] == x) for x in (0.02, 0.0))


def tossed(p):
    """Return a stiff elastic block whose thin side x is up, spun about its middle axis y, and a little about z."""
    strain = sx.Solid(POINTS, CELLS, sx.NeoHookean.from_young(1e9, 0.3, 2700.0))
    system = sx.System(MASS, {"racket": strain, "gravity": sx.Gravity(MASS, (-GRAVITY, 0.0, 0.0))})
    v = np.cross([0.0, p[0], p[1]], POINTS) + np.array([0.5 * GRAVITY * FLIGHT, 0.0, 0.0])
    return system, system.state(POINTS, v)


def face(system, state):
    """Return the normal of the face that was up."""
    normal = state.q[UPPER].mean(axis=0) - state.q[LOWER].mean(axis=0)
    return normal / np.linalg.norm(normal)


def face_of_rigid_racket(p):
    """Return the same of a rigid body of these masses, by Euler's equations and an integrator of high order."""
    inertia = MASS @ (np.sum(POINTS**2, axis=1)[:, None] - POINTS**2)

    def rates(t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        turning = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        return np.concatenate([(R @ turning).ravel(), -np.cross(w, inertia * w) / inertia])

    start = np.concatenate([np.eye(3).ravel(), [0.0, *p]])
    end = solve_ivp(rates, (0.0, FLIGHT), start, rtol=1e-11, atol=1e-12, method="DOP853").y[:9, -1]
    return end.reshape(3, 3)[:, 0]


def landing(dt):
    """Return the spin with which it lands face up, the normal there, and its derivatives by the spin."""
    known = {}

    def at(p):
        if p.tobytes() not in known:
            method, scales = sx.EnergyMomentum(dt), [20.0, 1.0]
            known[p.tobytes()] = sx.tangent(tossed, p, method, [FLIGHT], face, scales=scales)
        return known[p.tobytes()]

    found = least_squares(
        lambda p: at(p).values[0, 1:], [20.0, 1.0], lambda p: at(p).jacobian[0, 1:], x_scale=[20.0, 1.0], xtol=1e-12
    )
    assert len(known) < 25
    return found.x, at(found.x).values[0], at(found.x).jacobian[0]


@pytest.mark.slow
def test_the_spin_that_makes_a_tennis_racket_land_face_up():
    spins = {dt: landing(dt) for dt in (4e-3, 2e-3)}
    for spin, normal, _ in spins.values():
        assert np.allclose(normal, [1.0, 0.0, 0.0], rtol=0.0, atol=1e-7)
        assert 19.0 < spin[0] < 22.0
    # A rigid racket with the spin that steps of zero would have does the same; steps of dt err by dt².
    exact = least_squares(lambda p: face_of_rigid_racket(p)[1:], spins[2e-3][0], x_scale=[20.0, 1.0], xtol=1e-13).x
    coarse, fine = (spins[dt][0] - exact for dt in (4e-3, 2e-3))
    assert 3.7 < coarse[0] / fine[0] < 4.3
    assert abs((4.0 * fine - coarse)[0] / 3.0) < 2e-4
    # The derivatives are those of runs.
    spin, _, slopes = spins[4e-3]

    def flown(p):
        system, state = tossed(p)
        return face(system, next(iter(sx.march(system, sx.EnergyMomentum(4e-3), state, [FLIGHT]))))

    for j, h in enumerate((0.16, 0.02)):  # far above the rounding of so stiff a body
        some = [differences(flown, spin, j, step / abs(spin[j])) for step in (h, 0.5 * h)]
        errors = [np.abs(one - slopes[:, j]).max() for one in some]
        assert 3.5 < errors[0] / errors[1] < 4.5
        assert np.abs((4.0 * some[1] - some[0]) / 3.0 - slopes[:, j]).max() < 1e-4 * np.abs(slopes[:, j]).max()
