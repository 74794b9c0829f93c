"""The schemes of Graham and Jelenić as numbers, for compiled loops (`symplex.time.conserving.scheme_loops`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.records import CountRows, Integer, Numbers, Record, Rows
from symplex.time.conserving.gauss_interpolant import GaussInterpolant

# Kinds of schemes: forces at the middle, or on the way between both ends; M4; and those of Cayley's transform.
MIDDLE, ENDS, HERMITE, CAYLEY = range(4)


class SchemeTable(Record):
    """A scheme as numbers.

    Attributes
    ----------
    kind, known : int
        Of each end `known` vectors are known: position, velocity, …
    positions, moments : float64 [points, 2 known], [known, points]
        Of the rule for 𝓕 (see `symplex.time.conserving.gauss_interpolant`).
    outer_positions, outer_rates, outer_moments : float64
        The same for forces from outside, with the rule for velocities; for M4 the weights of Gauss' rule in place of
        the moments.
    quintic, quintic_rates, slopes : float64 [points, 6], [points, 6], [2, points]
        Where the rates of forces from outside at both ends come from, at order 8.
    products : int64 [p, 2]
    terms, last : int64 [t, 2], [l, 3]
    term_factors, last_factors : float64 [t], [l]
        The program of words (see `symplex.time.conserving.cayley_words.Program`): which gain and vector, and for those
        with a last product which gain, moment and vector.
    """

    kind: Integer
    known: Integer
    positions: Rows
    moments: Rows
    outer_positions: Rows
    outer_rates: Rows
    outer_moments: Rows
    quintic: Rows
    quintic_rates: Rows
    slopes: Rows
    products: CountRows
    terms: CountRows
    term_factors: Numbers
    last: CountRows
    last_factors: Numbers


_NO_NUMBERS, _NO_PLACES = np.zeros((0, 0)), np.zeros((0, 2), np.int64)
_NO_RULE = _NO_NUMBERS, _NO_NUMBERS
_NO_RATES = _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS
_NO_WORDS = _NO_PLACES, _NO_PLACES, np.zeros(0), np.zeros((0, 3), np.int64), np.zeros(0)


def _table(*numbers: Any) -> SchemeTable:
    return SchemeTable(**dict(zip(SchemeTable.type.fields, numbers, strict=True)))


def middle_scheme(kind: int) -> SchemeTable:
    """Return a scheme of second order."""
    return _table(kind, 1, *_NO_RULE, *_NO_RATES, *_NO_RATES, *_NO_WORDS)


def hermite_scheme(rule: GaussInterpolant) -> SchemeTable:
    """Return M4, with the rule for forces from outside."""
    outer = rule.position_weights, rule.rate_weights, rule.weights[None].copy()
    return _table(HERMITE, 2, *_NO_RULE, *outer, *_NO_RATES, *_NO_WORDS)


def cayley_scheme(
    order: int, rule: GaussInterpolant, outer: GaussInterpolant, rates: tuple[Array, Array, Array] = _NO_RATES
) -> SchemeTable:
    """Return a scheme of Cayley's transform, with the rules for 𝓕 and for forces from outside."""
    from symplex.time.conserving.cayley_words import program  # by fractions, which other methods need not import

    products, gains = program(order)
    terms = [(gain, place, factor) for gain, (pairs, _) in enumerate(gains) for factor, place in pairs]
    last = [
        (gain, k, place, factor)
        for gain, (_, after) in enumerate(gains)
        for k, pairs in after.items()
        for factor, place in pairs
    ]
    words = (
        np.array(products, np.int64).reshape(-1, 2),
        np.array([term[:2] for term in terms], np.int64).reshape(-1, 2),
        np.array([term[2] for term in terms], float),
        np.array([term[:3] for term in last], np.int64).reshape(-1, 3),
        np.array([term[3] for term in last], float),
    )
    inner = np.array(rule.position_weights, float), np.array(rule.moments, float)
    loads = np.array(outer.position_weights, float), np.array(outer.rate_weights, float), np.array(outer.moments, float)
    return _table(CAYLEY, order // 2, *inner, *loads, *rates, *words)
