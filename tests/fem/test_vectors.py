"""Vectors and matrices as values: in Python what NumPy says, in kernels the same numbers."""

import pickle

import numpy as np
import pytest
from numba import typeof

from symplex.fem.compiled.kernels import formula
from symplex.fem.compiled.vectors import (
    Mat3,
    Sym3,
    Vec3,
    added,
    cofactors,
    contracted,
    cross,
    dot,
    expanded,
    full,
    gram,
    gram_slopes,
    mat3_at,
    mixed,
    outer,
    set_at,
    shifted,
    stored,
    sym3_at,
    transposed,
    vec3_at,
    vec3_of,
)

RNG = np.random.default_rng(5)
U, V = RNG.standard_normal((2, 3))
D, E = RNG.standard_normal((2, 3, 3))
A, B = D @ D.T, E @ E.T
SIX = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]


def of(array):
    """The value of an array."""
    if array.ndim == 1:
        return Vec3(*array)
    return Sym3(*array[SIX]) if np.array_equal(array, array.T) else Mat3(*array.ravel())


def numbers(value):
    return np.array(full(value).parts if isinstance(value, Sym3) else getattr(value, "parts", value), dtype=float)


@expanded
def _all(u, v, d, e, a, b, r):
    """Each operation once."""
    return (
        (u + v, u - v, -u, r * u, u * r, u / r, dot(u, v), cross(u, v)),
        (d + e, d @ u, u @ d, d @ e, outer(u, v), transposed(d), shifted(d, r), cofactors(d), d[1]),
        (a @ u, a @ d, a + b, 2.0 * a, gram(d), gram_slopes(d, e), cofactors(a), mixed(a, b), contracted(a, b)),
    )


def _cof(matrix):
    return np.linalg.det(matrix) * np.linalg.inv(matrix).T


def _expected(r):
    return (
        (U + V, U - V, -U, r * U, r * U, U / r, U @ V, np.cross(U, V)),
        (D + E, D @ U, U @ D, D @ E, np.outer(U, V), D.T, D + r * np.eye(3), _cof(D), D[1]),
        (
            A @ U,
            A @ D,
            A + B,
            2.0 * A,
            D @ D.T,
            D @ E.T + E @ D.T,
            _cof(A),
            _cof(A + B) - _cof(A) - _cof(B),
            (A * B).sum(),
        ),
    )


@formula
def _compiled(u, v, d, e, a, b, r):
    return _all(u, v, d, e, a, b, r)


@pytest.mark.parametrize("function", [_all, _compiled])
def test_the_algebra_is_that_of_numpy(function):
    found = function(of(U), of(V), of(D), of(E), of(A), of(B), 1.5)
    for row, expected in zip(found, _expected(1.5), strict=True):
        for one, array in zip(row, expected, strict=True):
            np.testing.assert_allclose(numbers(one), np.asarray(array).ravel(), rtol=1e-12, atol=1e-12)


def test_values_hold_arrays_of_many_points():
    many = RNG.standard_normal((3, 3, 7))
    found = gram(Mat3(*many.reshape(9, 7)))
    for p in range(7):
        np.testing.assert_allclose(
            numbers(of(many[..., p] @ many[..., p].T)), [x[p] for x in full(found).parts], rtol=1e-13
        )
    np.testing.assert_array_equal((many[0, 0] * Vec3(1.0, 2.0, 3.0))[1], 2.0 * many[0, 0])


@stored
def _twice(v):
    yield v
    yield 2.0 * v


@added
def _once_more(v):
    yield v


@formula
def _through_arrays(rows, columns, out, i):
    set_at(out, 0, 2, (vec3_at(rows, 1, 3), sym3_at(rows, 0, 1)))
    _twice(out, 18, 2, vec3_of(columns, i))
    _once_more(out, 18, 2, mat3_at(rows, 0, 1)[i])
    return vec3_of(rows, i)[i]


def test_values_are_read_from_arrays_and_stored_in_them():
    rows, out = np.arange(1.0, 10.0), np.zeros(30)
    columns = np.asfortranarray(RNG.standard_normal((4, 3)))
    assert _through_arrays(rows, columns, out, 1) == 5.0
    expected = [2.0, 5.0, 8.0, *range(1, 7), *(columns[1] + [4.0, 5.0, 6.0]), *(2.0 * columns[1])]
    np.testing.assert_allclose(out[::2], expected, rtol=1e-15)
    assert not out[1::2].any()
    again = np.zeros(6)
    _twice(again, 0, 1, of(U))
    np.testing.assert_array_equal(again, [*U, *(2.0 * U)])


def test_kinds_that_do_not_fit_are_refused():
    with pytest.raises(TypeError, match="Sym3 must have 6 components, got 3"):
        Sym3(1.0, 2.0, 3.0)
    with pytest.raises(TypeError):
        _ = of(U) + of(D)
    assert pickle.loads(pickle.dumps(typeof(of(A)))) is typeof(of(A))
