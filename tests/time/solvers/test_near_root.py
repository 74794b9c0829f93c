"""Which root of a step's equations is found: that which small steps lead to, by a continuation of the tests' own."""

import numpy as np
import pytest

import symplex as sx

POINTS = np.array([[0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [1, 0, 0]], dtype=float)
PAIRS = np.array([[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [2, 3], [3, 4], [4, 1]], dtype=np.int32)


@pytest.fixture(scope="module")
def truss() -> sx.System:
    """The truss of section 7.2 of Graham and Jelenić (2006)."""
    lengths = np.linalg.norm(POINTS[PAIRS[:, 0]] - POINTS[PAIRS[:, 1]], axis=1)
    bars = sx.Bars(PAIRS, sx.measures.GreenStrain(100.0 / lengths, lengths))
    return sx.System(sx.actions.consistent_bar_mass(POINTS, PAIRS, 1.0, 1.0, len(POINTS)), {"bars": bars})


@pytest.fixture(scope="module")
def steady(truss) -> sx.State:
    """It turns once in 2π s, and moves along."""
    return sx.equilibria.relative_equilibrium(truss, POINTS, [0.0, 0.0, -1.0], velocity=[0.0, 0.0, 0.75]).state


def equations(system, kind, q0, v0, d, h):
    """The residual of M d/h + h/2 G(d) = M v0 and its derivative, for the increment d."""
    M, q1 = np.kron(system.mass.toarray(), np.eye(3)), q0 + d.reshape(q0.shape)
    if kind == "midpoint":
        G, K = system.gradient(0.5 * (q0 + q1)), 0.5 * system.hessian(0.5 * (q0 + q1)).toarray()
    else:
        G, K = system.discrete_gradient(q0, q1), system.discrete_hessian(q0, q1).toarray()
    return M @ (d / h - v0.ravel()) + 0.5 * h * G.ravel(), M / h + 0.5 * h * K


def small_steps_root(system, kind, q0, v0, h):
    """The increment on the branch of roots that begins with steps of no size, or None if that ends before h."""
    d, slope, at, size = np.zeros(q0.size), v0.ravel().copy(), 0.0, h / 64
    while at < h:
        to = min(at + size, h)
        guess = d + (to - at) * slope
        found, J = guess, np.eye(len(guess))
        for _ in range(6):
            r, J = equations(system, kind, q0, v0, found, to)
            change = np.linalg.solve(J, -r)
            found = found + change
            if np.abs(change).max() < 1e-12 * (1 + np.abs(found).max()):
                break
        else:
            found = None
        regular = np.linalg.eigvalsh(J)[0] > 0 if kind == "midpoint" else np.linalg.slogdet(J)[0] > 0
        if found is None or not regular or np.abs(found - guess).max() > 0.05 * np.abs(found - d).max() + 1e-9:
            size /= 2
            if size < 1e-5 * h:
                return None
            continue
        later, earlier = (equations(system, kind, q0, v0, found, to * (1 + e))[0] for e in (1e-6, -1e-6))
        d, slope, at, size = found, np.linalg.solve(J, (earlier - later) / (2e-6 * to)), to, 1.5 * size
    return d


def is_near(system, kind, start, dt, end):
    """Whether a step ends at the root of small steps; None where there is none."""
    d = small_steps_root(system, kind, start.q, start.v, dt)
    return None if d is None else bool(np.abs((end.q - start.q).ravel() - d).max() < 1e-8 * np.abs(d).max())


METHODS = {
    "midpoint": ("midpoint", sx.Midpoint),
    "variational midpoint": ("midpoint", sx.VariationalMidpoint),
    "SM": ("midpoint", lambda dt: sx.GrahamJelenic(dt, "symplectic-momentum")),
    "energy-momentum": ("energy", sx.EnergyMomentum),
    "EM": ("energy", lambda dt: sx.GrahamJelenic(dt, "energy-momentum")),
}


# All steps with one method for each kind of equations; the others, of the same equations, with some of them.
CHOSEN = [(name, dt) for name in ("midpoint", "energy-momentum") for dt in (0.25, 0.6, 0.75, 0.85, 0.95, 1.0)]
CHOSEN += [("variational midpoint", 0.85), ("SM", 0.25), ("SM", 0.75), ("SM", 0.85), ("EM", 0.6), ("EM", 0.95)]


@pytest.mark.parametrize(("name", "dt"), CHOSEN)
@pytest.mark.slow
def test_each_step_ends_at_the_root_that_small_steps_lead_to(truss, steady, name, dt):
    kind, make = METHODS[name]
    motion, before, found = make(dt).start(truss, steady), steady, []
    for n in range(1, int(9.0 / dt) + 1):
        state = motion.advance(n * dt)
        found.append(is_near(truss, kind, before, dt, state))
        before = state
    assert False not in found
    assert found.count(True) >= 0.6 * len(found)


@pytest.mark.parametrize("dt", [0.6, 0.75, 0.85, 0.95, 1.0])
def test_sm_is_the_midpoint_rule_at_large_steps(truss, steady, dt):
    ends = [
        method.start(truss, steady).advance(6 * dt)
        for method in (sx.Midpoint(dt), sx.GrahamJelenic(dt, "symplectic-momentum"))
    ]
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-8)


def disturbed(system, steady, count, seed):
    """Starts near the steady motion and far from it, and steps from 0.05 to 1 s."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = steady.q + rng.normal(size=steady.q.shape) * rng.choice([0.0, 0.02, 0.1, 0.3])
        v = steady.v + rng.normal(size=steady.v.shape) * rng.choice([0.0, 0.1, 1.0, 5.0, 20.0])
        yield system.state(q, v), float(rng.uniform(0.05, 1.0))


@pytest.mark.parametrize(("name", "count"), [("midpoint", 30), ("energy-momentum", 20), ("SM", 10), ("EM", 10)])
@pytest.mark.slow
def test_steps_of_disturbed_motions_end_there(truss, steady, name, count):
    """Of energy-momentum, whose matrices tell nothing as they are not symmetric, 4 of 1000 such steps do not."""
    kind, make = METHODS[name]
    found = [
        is_near(truss, kind, start, dt, make(dt).start(truss, start).advance(dt))
        for start, dt in disturbed(truss, steady, count, seed=1)
    ]
    assert False not in found
    assert found.count(True) >= count - 1


@pytest.mark.parametrize(
    ("scheme", "dt"),
    [
        ("symplectic-momentum", 0.58),
        ("momentum-conserving-4", 0.86),
        ("cayley-magnus-4", 0.84),
        ("cayley-magnus-4", 0.9),
        ("cayley-magnus-4", 0.96),
    ],
)
@pytest.mark.slow
def test_steps_that_converge_are_solved(truss, steady, scheme, dt):
    """Iterations that came down to 1e-6 of the first residual and more."""
    motion = sx.GrahamJelenic(dt, scheme).start(truss, steady)
    end = motion.advance(int(9.0 / dt) * dt)
    momentum = truss.momentum(steady), truss.angular_momentum(steady)
    np.testing.assert_allclose(truss.momentum(end), momentum[0], atol=1e-11)
    np.testing.assert_allclose(truss.angular_momentum(end), momentum[1], atol=1e-8)


@pytest.mark.parametrize("make", [sx.Midpoint, lambda dt: sx.GrahamJelenic(dt, "symplectic-momentum")])
def test_a_motion_whose_roots_are_followed_resumes_bit_identically(truss, steady, make):
    method = make(0.85)
    motion = method.start(truss, steady)
    motion.advance(6 * 0.85)
    resumed = method.resume(truss, motion.checkpoint())
    end, same = motion.advance(8 * 0.85), resumed.advance(8 * 0.85)
    np.testing.assert_array_equal(end.q, same.q)
    np.testing.assert_array_equal(end.v, same.v)
    assert motion.statistics() == resumed.statistics()


def test_corrections_that_converge_quadratically_are_not_stopped():
    """Six are needed; the limit is where they fall by more than a thousand."""
    system = sx.System([1.0, 2.0], {"gravitation": sx.Bars([[0, 1]], sx.measures.InverseDistance([2.0]))}, dim=2)
    start = system.state(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, -0.6], [0.0, 0.4]]))
    free = sx.EnergyMomentum(0.3).start(system, start)
    end = free.advance(0.3)
    needed = int(free.statistics()["corrections"])
    method = sx.EnergyMomentum(0.3, newton=sx.Newton(iterations=needed - 2))
    motion = method.start(system, start)
    np.testing.assert_array_equal(motion.advance(0.3).q, end.q)
    with pytest.raises(sx.SymplexError, match="did not converge: after 1 corrections"):
        sx.EnergyMomentum(0.3, newton=sx.Newton(iterations=1)).start(system, start).advance(0.3)
