"""Stencils that change: short-range pairs, their lists of neighbours, and the methods that take them."""

import copy
import pickle

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, MaterialError, StepFailed
from symplex.fem.measures.neighbours import neighbours

CUTOFF = 1.8


def short_range(**options):
    return sx.measures.ShortRangeLennardJones(1.0, 1.0, cutoff=CUTOFF, dim=2, **options)


def crystal(edge=5, margin=0.2):
    """Warm atoms in the plane, of which some leave the others."""
    q = 1.12 * np.stack(np.meshgrid(*[np.arange(float(edge))] * 2, indexing="ij"), -1).reshape(-1, 2)
    system = sx.System(np.linspace(1.0, 2.0, len(q)), {"argon": short_range(margin=margin)}, dim=2)
    v = np.random.default_rng(2).standard_normal(q.shape)
    return system, system.state(q, v - v.mean(axis=0))


def rod(system, state):
    return {"rod": sx.measures.RigidBars.between(state.q, [[0, 1]])}


STEP = 0.01
METHODS = {
    "Newmark": lambda *_: sx.Newmark(STEP),
    "trapezoidal": lambda *_: sx.Newmark.trapezoidal(STEP),
    "Midpoint": lambda *_: sx.Midpoint(STEP),
    "VariationalMidpoint": lambda *_: sx.VariationalMidpoint(STEP),
    "EnergyMomentum": lambda *_: sx.EnergyMomentum(STEP),
    "compensated": lambda *_: sx.EnergyMomentum(STEP, compensated=True),
    "sparse": lambda *_: sx.EnergyMomentum(STEP, newton=sx.Newton(linear="sparse")),
    "krylov": lambda *_: sx.EnergyMomentum(STEP, newton=sx.Newton(linear="krylov")),
    "GeneralizedAlpha": lambda *_: sx.GeneralizedAlpha(STEP),
    "HilberHughesTaylor": lambda *_: sx.HilberHughesTaylor(STEP),
    "ZhangSkeel": lambda *_: sx.ZhangSkeel(STEP),
    "ZhangSkeel simplified": lambda *_: sx.ZhangSkeel(STEP, variant="simplified"),
    "GrahamJelenic": lambda *_: sx.GrahamJelenic(STEP, "energy-momentum"),
    "GrahamJelenic CM4": lambda *_: sx.GrahamJelenic(STEP, "cayley-magnus-4"),
    "Composition of CM4": lambda *_: sx.Composition(sx.GrahamJelenic(STEP, "cayley-magnus-4"), 6),
    "Rattle": lambda *made: sx.Rattle(STEP, rod(*made)),
    "Shake": lambda *made: sx.constraints.Shake(STEP, rod(*made)),
    "Composition": lambda *_: sx.Composition(sx.EnergyMomentum(STEP)),
    "Langevin": lambda *_: sx.Langevin(sx.Newmark(STEP), 0.5, rate=0.3, boltzmann=1.0),
}
OTHERS = {
    "JacobiReduction": sx.reductions.JacobiReduction(sx.Newmark(STEP)),
    "AdaptiveVariational": sx.AdaptiveVariational(STEP),
    "GrahamJelenic kappa": sx.GrahamJelenic(STEP, "kappa"),
}


def started(name):
    system, state = crystal()
    method = METHODS[name](system, state)
    if isinstance(method, sx.Rattle | sx.constraints.Shake):
        state = sx.constraints.project(system, method.constraints, state)
    return system, state, method


@pytest.mark.parametrize("name", METHODS)
def test_a_run_goes_on_from_a_checkpoint_with_the_same_bits_whatever_the_age_of_the_list(name):
    system, state, method = started(name)
    assert "changing stencils" in method.takes
    motion = method.start(system, state)
    version = system.energies["argon"].version
    checkpoints = {}
    for n in range(1, 13):
        end = motion.advance(n * STEP)
        checkpoints[n] = pickle.loads(pickle.dumps(motion.checkpoint()))
    renewals = system.energies["argon"].version - version
    assert 1 <= renewals < 12
    for n in (3, 5, 8):
        other, _ = crystal()
        resumed = method.resume(other, checkpoints[n]).advance(12 * STEP)
        np.testing.assert_array_equal(resumed.q, end.q)
        np.testing.assert_array_equal(resumed.v, end.v)


@pytest.mark.parametrize("name", OTHERS)
def test_other_methods_refuse_by_name(name):
    system, state = crystal(3)
    assert "changing stencils" not in OTHERS[name].takes
    with pytest.raises(InvalidSystem, match=f"^{OTHERS[name].name} needs stencils that stay as they are.*'argon'"):
        OTHERS[name].start(system, state)


def test_motions_that_share_a_system_do_not_disturb_each_other():
    system, state = crystal()
    method = sx.EnergyMomentum(STEP)
    alone = method.start(*crystal()).advance(10 * STEP)
    one = method.start(system, state)
    other = copy.copy(sx.EnergyMomentum(STEP).start(system, system.state(1.3 * state.q, -state.v)))
    for n in range(1, 11):
        end = one.advance(n * STEP)
        other.advance(n * STEP)
    np.testing.assert_array_equal(end.q, alone.q)


def test_energy_and_momenta_are_kept_while_neighbours_come_and_go():
    system, state = crystal(6, margin=0.4)
    method = sx.EnergyMomentum(0.02)
    motion = method.start(system, state)
    first = {tuple(pair) for pair in system.energies["argon"].nodes.tolist()}
    end = motion.advance(150 * 0.02)
    last = {tuple(pair) for pair in system.energies["argon"].nodes.tolist()}
    assert len(first ^ last) > 20
    assert motion.energies(end)["total"] == pytest.approx(system.energies_of(state)["total"], rel=1e-12)
    np.testing.assert_allclose(system.momentum(end), system.momentum(state), atol=1e-12)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(state), atol=1e-11)


def of_pairs(x):
    """The energy with the pairs at x [m, 2, 2] in its list, far from each other."""
    energy = short_range()
    energy.find(((x + 9.0 * np.arange(len(x))[:, None, None]).reshape(-1, 2),), 3.0)
    np.testing.assert_array_equal(energy.nodes, np.arange(2 * len(x)).reshape(-1, 2))
    return energy


def test_it_is_lennard_jones_less_what_ends_it():
    """The forces are those of all pairs, where a pair has any, but for the polynomial; φ, φ', φ'' end in zero."""
    s = np.linspace(0.9, CUTOFF**2, 300)[:, None]
    x = np.zeros((len(s), 2, 2))
    x[:, 1, 0] = np.sqrt(s[:, 0])
    energy, pairs = of_pairs(x), sx.Bars([[0, 1]] * len(s), sx.measures.LennardJones(1.0, 1.0), dim=2)
    difference = energy.value(x) - pairs.value(x)
    polynomial = np.polynomial.Polynomial.fit(s[:, 0], difference, 2)
    np.testing.assert_allclose(polynomial(s[:, 0]), difference, atol=1e-13)
    for values in (energy.value(x), energy.gradient(x), energy.hessian(x)):
        np.testing.assert_allclose(values[-1], 0.0, atol=1e-13)


def test_quotients_are_exact_across_the_cut_off():
    """Of pairs that move in, out, within and beyond it: the work of the mean force is the change of the energy."""
    lengths = np.array([[0.9, 1.5], [1.5, 1.9], [1.9, 1.5], [1.79, 1.81], [1.9, 2.5], [1.81, 1.81], [1.7, 1.7 + 1e-9]])
    x0, x1 = np.zeros((2, len(lengths), 2, 2))
    x0[:, 1, 0], x1[:, 1, 0] = lengths.T
    energy = of_pairs(x0)
    work = np.einsum("mki,mki->m", energy.discrete_gradient(x0, x1), x1 - x0)
    np.testing.assert_allclose(work, energy.value(x1) - energy.value(x0), atol=1e-15)
    tangent = energy.discrete_hessian(x0, x1)[:, 2, 2]
    shift = np.zeros_like(x1)
    shift[:, 1, 0] = 1e-6
    ahead, behind = (energy.discrete_gradient(x0, x1 + sign * shift)[:, 1, 0] for sign in (1, -1))
    np.testing.assert_allclose((ahead - behind) / 2e-6, tangent, atol=1e-5)


def test_what_is_assembled_does_not_depend_on_the_list():
    q = crystal(6)[1].q
    moved = q + 0.15 * np.random.default_rng(3).standard_normal(q.shape)
    fresh, old = short_range(margin=0.4), short_range(margin=0.4)
    fresh.renewed(moved)
    old.renewed(q)
    far = short_range(margin=0.01)  # whose list is of no use there
    far.renewed(q)
    forces = []
    for energy in (fresh, old, far):
        out = np.zeros_like(q)
        energy.add_gradient(moved, out)
        energy.add_discrete_gradient(q, moved, out)
        forces.append(out)
        assert energy.total(moved) == fresh.total(moved)
    assert not np.array_equal(fresh.nodes, old.nodes)
    np.testing.assert_array_equal(forces[0], forces[1])
    np.testing.assert_array_equal(forces[0], forces[2])


def test_a_matrix_needs_a_list_that_is_complete():
    system, state = crystal()
    fresh, _ = crystal()
    fresh.energies["argon"].build_list(np.empty((0, 2)))
    with pytest.raises(StepFailed, match=r"no stencils yet; system.update_neighbours\(q\)"):
        fresh.hessian(state.q)
    system.update_neighbours(state.q)
    kept = system.pattern
    assert not system.update_neighbours(state.q + 0.01)
    assert system.pattern is kept
    with pytest.raises(StepFailed, match=r"moved by 0.212 m .* half its margin, 0.1 m"):
        system.hessian(state.q + 0.15)
    assert system.update_neighbours(state.q + 0.15)
    assert system.pattern is not kept
    assert len(system.mass_values) == len(system.pattern.indices)
    with pytest.raises(StepFailed, match="farther than the range"):
        system.discrete_gradient(state.q, 9.0 * state.q)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("far", [0.0, 1e9])
def test_neighbours_are_all_pairs_that_are_near(dim, far):
    q = np.random.default_rng(dim).uniform(-2.0, 2.0, (60, dim))
    q[7, 0] += far  # one that is gone
    found = neighbours(q, 0.9)
    i, j = np.triu_indices(60, 1)
    near = np.linalg.norm(q[i] - q[j], axis=1) < 0.9
    np.testing.assert_array_equal(found, np.column_stack([i, j])[near])
    assert len(neighbours(q[:1], 0.9)) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"depth": 0.0, "diameter": 1.0}, "the depth must be positive"),
        ({"depth": 1.0, "diameter": 1.0, "cutoff": 0.9}, "the cut-off must be above the diameter"),
        ({"depth": 1.0, "diameter": 1.0, "margin": -1.0}, "the margin must be positive"),
    ],
)
def test_constants_out_of_range_are_refused(arguments, message):
    with pytest.raises(MaterialError, match=message):
        sx.measures.ShortRangeLennardJones(**arguments)


def test_positions_that_have_no_forces_are_refused():
    energy = short_range()
    with pytest.raises(InvalidSystem, match=r"positions have shape \(4, 3\), expected \(n, 2\)"):
        energy.total(np.zeros((4, 3)))
    with pytest.raises(StepFailed, match="nearest particles are 0 m from each other"):
        energy.total(np.zeros((2, 2)))
    with pytest.raises(StepFailed, match="not finite"):
        energy.total(np.array([[0.0, np.nan], [1.0, 0.0]]))
    with pytest.raises(InvalidSystem, match="not 4"):
        sx.measures.ShortRangeLennardJones(1.0, 1.0, dim=4)
