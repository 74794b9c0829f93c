"""Cayley-Magnus operators: the recursion of Graham and Jelenić in exact arithmetic, and what is made of it."""

from fractions import Fraction
from itertools import pairwise
from math import factorial

import numpy as np
import pytest

from symplex.testing import round_off
from symplex.time.conserving.cayley_magnus import CayleyMagnus4, CayleyMagnus6, CayleyMagnus8
from symplex.time.conserving.cayley_words import cayley_words, exact_words, program
from symplex.time.conserving.gauss_interpolant import GaussInterpolant

# -- the recursion, in rational numbers ----------------------------------------------------------------------------


def rational(rng, n, symmetric=True):
    """Return a matrix of small fractions."""
    entries = [[Fraction(int(rng.integers(-4, 5)), int(rng.integers(1, 4))) for _ in range(n)] for _ in range(n)]
    matrix = np.array(entries, dtype=object)
    return matrix + matrix.T if symmetric else matrix


def zero(n):
    return np.full((n, n), Fraction(0), dtype=object)


def unit(n):
    return zero(n) + np.array([[Fraction(int(i == j)) for j in range(n)] for i in range(n)], dtype=object)


def blocks(a, b, c, d):
    return np.block([[a, b], [c, d]])


def operator_series(Psi, order):
    """Return the Taylor coefficients of C from Z' = Σ Ψ_k t^k Z, by B and eq. 5.25 of the paper."""
    n = len(Psi[0])
    flow = [unit(n)]
    for s in range(order):
        terms = sum((Psi[r] @ flow[s - r] for r in range(min(s + 1, len(Psi)))), zero(n))
        flow.append(terms / Fraction(s + 1))
    C = [zero(n)]
    for s in range(1, order + 1):
        C.append(flow[s] - sum((C[r] @ flow[s - r] for r in range(1, s)), zero(n)) / 2)
    return C


@pytest.fixture
def motion():
    """Return W = M⁻¹ (not a multiple of the unit matrix) and the derivatives of 𝓕 at the start of the step."""
    rng = np.random.default_rng(4)
    W = np.diag([Fraction(2), Fraction(1, 3)]).astype(object)
    return W, [rational(rng, 2) for _ in range(5)]


def psi_of(W, F):
    n = len(W)
    return [blocks(zero(n), W if k == 0 else zero(n), -F[k] / factorial(k), zero(n)) for k in range(len(F))]


def test_the_recursion_gives_table_1(motion):
    W, F = motion
    F0, F1, F2, F3, F4 = F
    C = operator_series(psi_of(W, F), 5)
    n = 2
    G, M, X = ([C[k][:n, :n] for k in range(6)], [C[k][:n, n:] for k in range(6)], [-C[k][n:, :n] for k in range(6)])
    # 𝒢ᵀ, 𝓜⁻¹ and 𝒳 by the powers of Δt, those of 𝓜⁻¹ and 𝒳 in C one higher
    nothing = zero(n)
    table_G = [nothing, nothing, nothing, W @ F1 / 12, W @ F2 / 24]
    table_G += [W @ F0 @ W @ F1 / 120 + W @ F1 @ W @ F0 / 240 + W @ F3 / 80]
    table_M = [W, nothing, W @ F0 @ W / 12, W @ F1 @ W / 24, W @ F0 @ W @ F0 @ W / 120 + W @ F2 @ W / 60]
    table_X = [F0, F1 / 2, F0 @ W @ F0 / 12 + F2 / 6, (F0 @ W @ F1 + F1 @ W @ F0 + F3) / 24]
    cubic = F0 @ W @ F0 @ W @ F0 / 120
    table_X += [cubic + (F0 @ W @ F2 + F2 @ W @ F0) / 80 + F1 @ W @ F1 * Fraction(7, 240) + F4 / 120]
    for k in range(6):
        assert (G[k] == table_G[k]).all()
        assert (C[k][n:, n:] == -table_G[k].T).all()
    for k in range(5):
        assert (M[k + 1] == table_M[k]).all()
        assert (X[k + 1] == table_X[k]).all()


def words_series(W, F, order):
    """Return the Taylor coefficients of C made of words, for the polynomial with the derivatives F at the start."""
    n = len(W)
    half = Fraction(1, 2)

    def moment(k):
        """H_k by the powers of h: h² W F^(k−1)(h/2) h^(k−1)/(k−1)! [w = h v, so that W takes h²]."""
        series = [zero(n) for _ in range(order + 1)]
        for m in range(k - 1, len(F)):
            power = m + 2
            if power <= order:
                scale = half ** (m - k + 1) / factorial(m - k + 1) / factorial(k - 1)
                series[power] = series[power] + W @ F[m] * scale
        return series

    def product(a, b):
        return [sum((a[i] @ b[s - i] for i in range(s + 1)), zero(n)) for s in range(order + 1)]

    H = {k: moment(k) for k in range(1, order // 2 + 1)}
    total = {place: [zero(n) for _ in range(order + 1)] for place in ("rr", "rw", "wr", "ww")}
    for letters, coefficient in exact_words(order, order // 2).items():
        series = [unit(n)] + [zero(n) for _ in range(order)]
        for letter in letters:
            if letter:
                series = product(series, H[letter])
                coefficient = -coefficient
        place = ("w" if letters[0] else "r") + ("r" if letters[-1] else "w")
        total[place] = [a + coefficient * b for a, b in zip(total[place], series, strict=True)]
    return total


@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_words_agree_with_the_recursion_up_to_the_order(order, motion):
    W, F = motion
    F = F[: order // 2]  # what Gauss' rule sees of 𝓕 is a polynomial
    exact = operator_series(psi_of(W, F), order)
    words = words_series(W, F, order + 1)
    V = np.diag([1 / W[i, i] for i in range(2)]).astype(object)  # w = h W p
    for s in range(order + 1):
        C = exact[s]
        assert (words["rr"][s] == C[:2, :2]).all()
        assert (words["ww"][s] == W @ C[2:, 2:] @ V).all()
        if s:
            assert (words["rw"][s - 1] == C[:2, 2:] @ V).all()
        if s < order:
            assert (words["wr"][s + 1] == W @ C[2:, :2]).all()
    if order < 8:  # and no further: the words of the next power are missing
        following = operator_series(psi_of(W, F), order + 1)[order + 1]
        assert (words["rw"][order] != following[:2, 2:] @ V).any()


def test_words_have_no_even_powers_and_are_those_of_a_symmetric_operator():
    words = exact_words(8, 4)
    for letters, coefficient in words.items():
        if sum(max(letter, 1) for letter in letters) % 2 == 0:
            assert coefficient == 0
    blocks = cayley_words(8)
    for block in (blocks.r_from_w, blocks.w_from_r):  # 𝓜 and 𝒳 are symmetric,
        assert all(block[word[::-1]] == coefficient for word, coefficient in block.items())
    for word, coefficient in blocks.r_from_r.items():  # and the others 𝒢ᵀ and −𝒢
        assert blocks.w_from_w[word[::-1]] == -coefficient


def test_the_words_of_a_constant_operator_are_those_of_the_hyperbolic_tangent():
    words = cayley_words(8)
    series = [1.0, 1 / 12, 1 / 120, 17 / 20160]  # of 2 tanh(x/2) = x − x³/12 + x⁵/120 − 17 x⁷/20160
    for n, coefficient in enumerate(series):
        assert words.r_from_w[(1,) * n] == pytest.approx(coefficient, rel=1e-15)
        assert words.w_from_r[(1,) * (n + 1)] == pytest.approx(-coefficient, rel=1e-15)


def applied(order, product, r, w, forces):
    """Return C (r, w) by the program of its words, the affine column of the forces included."""
    products, gains = program(order)
    x, out = [r, w], []
    for k, source in products:
        x.append(product(k, x[source]) - (forces[k - 1] if source == 0 else 0.0))
    for terms, last in gains:
        out.append(sum(factor * x[i] for factor, i in terms))
        for k, left in last.items():
            out[-1] = out[-1] + product(k, sum(factor * x[i] for factor, i in left))
    return np.array(out)


def test_products_with_words_are_counted_and_agree_with_matrices():
    rng = np.random.default_rng(0)
    for order, expected in ((4, 5), (6, 12), (8, 26)):
        H = [rng.standard_normal((3, 3)) for _ in range(order // 2)]
        forces = rng.standard_normal((order // 2, 3, 2))
        r, w = rng.standard_normal((2, 3, 2))
        count = 0

        def product(k, x, H=H):
            nonlocal count
            count += 1
            return H[k - 1] @ x

        out = applied(order, product, r, w, forces)
        assert count == expected
        # The same with the affine column as one more coordinate, and the matrices of Ψ in full.
        drift = np.zeros((7, 7))
        drift[:3, 3:6] = np.eye(3)
        for column in range(2):
            letters = [drift]
            for k in range(order // 2):
                kick = np.zeros((7, 7))
                kick[3:6, :3], kick[3:6, 6] = -H[k], forces[k, :, column]
                letters.append(kick)
            z = np.concatenate([r[:, column], w[:, column], [1.0]])
            total = np.zeros(7)
            for word, coefficient in exact_words(order, order // 2).items():
                x = z
                for letter in reversed(word):
                    x = letters[letter] @ x
                total += float(coefficient) * x
            np.testing.assert_allclose(out[:, :, column].ravel(), total[:6], rtol=1e-11, atol=1e-11)


# -- the interpolant -----------------------------------------------------------------------------------------------


def ends_of(path, h, known):
    """Return what is known of both ends of a path given by its derivatives, scaled by powers of h."""
    return [h**k * path(k, t) for t in (0.0, h) for k in range(known)]


def test_the_interpolant_is_exact_for_polynomials_and_even_about_the_middle():
    for n in (2, 3, 4):
        rule = GaussInterpolant(n)
        for power in range(2 * n):
            tau = lambda c: c - 0.5  # noqa: E731

            def path(k, t, power=power):
                falling = factorial(power) / factorial(power - k) if k <= power else 0.0
                return np.array([[falling * (t - 0.5) ** max(power - k, 0)]])

            q = rule.positions(ends_of(path, 1.0, n))[:, 0, 0]
            exact = tau(rule.points) ** power
            if power % 2 == 0 or power <= 2 * n - 3:
                np.testing.assert_allclose(q, exact, atol=1e-14)
            else:  # odd parts come from one derivative less
                assert np.abs(q - exact).max() > 1e-4
            w = rule.rates(ends_of(path, 1.0, n))[:, 0, 0]
            np.testing.assert_allclose(w, power * tau(rule.points) ** max(power - 1, 0), atol=1e-13)


def amplification(rule, n, x):
    """Return the matrix [2, 2] by which a step with hω = x multiplies (u, w) of a vibration about no stress."""

    def ends(z0, z1):
        known = []
        for u, w in (z0, z1):
            derivatives = [u, w, -x * x * u, -x * x * w][:n]
            known += [np.array([[value]]) for value in derivatives]
        return known

    def gain(z0, z1):
        """Δr = w_½ + S ∫ τ u dτ and Δw = −S ∫ u dτ, which is all of C that is linear in u."""
        u = rule.positions(ends(z0, z1))[:, 0, 0]
        first, second = rule.weights @ u, rule.weights @ ((rule.points - 0.5) * u)
        return np.array([(z0[1] + z1[1]) / 2 + x * x * second, -x * x * first])

    def step(z0):
        columns = [gain(np.zeros(2), e) for e in np.eye(2)]
        return np.linalg.solve(np.eye(2) - np.column_stack(columns), z0 + gain(z0, np.zeros(2)))

    return np.column_stack([step(e) for e in np.eye(2)])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_linear_vibration_is_integrated_by_pade(n):
    """About a body without stress, where 𝓕 R = K u, a step must be Padé's: stable at any h ω."""
    pade = {
        1: [1, 1 / 2],
        2: [1, 1 / 2, 1 / 12],
        3: [1, 1 / 2, 1 / 10, 1 / 120],
        4: [1, 1 / 2, 3 / 28, 1 / 84, 1 / 1680],
    }
    for x in (0.5, 3.2, 7.0, 50.0):
        found = amplification(GaussInterpolant(n), n, x)
        phase = 1j * x
        Q = sum(c * (-phase) ** k for k, c in enumerate(pade[n]))
        P = sum(c * phase**k for k, c in enumerate(pade[n]))
        expected = P / Q  # of the mode u + w/(i x)
        np.testing.assert_allclose(np.trace(found), 2 * expected.real, atol=1e-9 * max(x, 1))
        np.testing.assert_allclose(np.linalg.det(found), 1.0, atol=1e-9 * max(x, 1))


@pytest.mark.parametrize(
    ("scheme", "unstable"),
    [
        (CayleyMagnus4, [(3.0, 3.4641), (6.0, 1e3)]),
        (CayleyMagnus6, [(3.1486, 3.1623), (6.793, 7.746), (15.56, 1e3)]),
        (CayleyMagnus8, [(3.1415, 3.14247), (6.2839, 6.4805), (9.8814, 13.0438), (18.536, 1e3)]),
    ],
)
def test_hermites_interpolant_is_unstable_in_bands(scheme, unstable):
    n = scheme.order // 2
    rule = GaussInterpolant(n, hermite=True)
    assert scheme.hermite_limit == unstable[0][0]
    edge = 0.0
    for low, high in unstable:
        for x in np.linspace(edge * 1.0002 + 0.01, low * 0.9998, 25):
            assert np.abs(np.trace(amplification(rule, n, x))) <= 2.0 + 1e-9
        for x in np.linspace(low * 1.0002, min(high * 0.9998, 60.0), 5):
            assert np.abs(np.trace(amplification(rule, n, x))) > 2.0
        edge = high


@pytest.mark.parametrize("n", [2, 3, 4])
def test_hermites_interpolant_goes_through_polynomials(n):
    rule = GaussInterpolant(n, hermite=True)
    for power in range(2 * n):

        def path(k, t, power=power):
            falling = factorial(power) / factorial(power - k) if k <= power else 0.0
            return np.array([[falling * (t - 0.5) ** max(power - k, 0)]])

        q = rule.positions(ends_of(path, 1.0, n))[:, 0, 0]
        np.testing.assert_allclose(q, (rule.points - 0.5) ** power, atol=1e-14)


def test_moments_are_those_of_the_polynomial_through_the_points():
    rule = GaussInterpolant(4)
    coefficients = np.array([0.3, -1.2, 0.7, 2.0])
    tau = rule.points - 0.5
    values = sum(c * tau**k for k, c in enumerate(coefficients))
    np.testing.assert_allclose(rule.moments @ values, coefficients, rtol=1e-12)
    assert rule.weights.sum() == pytest.approx(1.0)
    assert all(a < b for a, b in pairwise(rule.points))


def test_moments_of_more_points_are_those_of_the_best_polynomial_in_the_mean():
    """What is left of a function has no part in the polynomials that the moments are for."""
    rule = GaussInterpolant(2, 5)
    tau = rule.points - 0.5
    values = np.exp(2.0 * tau)
    left = values - np.vander(tau, 2, increasing=True) @ (rule.moments @ values)
    known_to = round_off.of(np.abs(values).max())
    np.testing.assert_allclose([rule.weights @ left, rule.weights @ (tau * left)], 0.0, atol=known_to)
    assert np.abs(left).max() > 0.1
