"""Sums that are exact until they are read, so that their bits depend neither on the order nor on how they are divided.

A sum is a long integer in words of 32 bits, word w worth 2^(32 w − 1152): all numbers of double precision fit. Each
word is kept in 64 bits, with a sign, so that 2³⁰ numbers can be added before carries are taken on.

Source: U. Kulisch, Computer Arithmetic and Validity, de Gruyter (2013), ch. 8: the long accumulator.
"""

from __future__ import annotations

from math import frexp

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import formula, kernel

WORDS = 70
_BIAS = 1152  # the smallest number is 2^−1074, of which 53 bits are looked at


def words_of(values: Array) -> NDArray[np.int64]:
    """Return the sums [k, WORDS] that hold the given numbers [k]."""
    out = np.zeros((len(values), WORDS), np.int64)
    for words, value in zip(out, values, strict=True):
        add_numbers(np.array([value]), words)
    return out


def values_of(words: NDArray[np.int64]) -> Array:
    """Return the numbers [k] nearest to sums [k, WORDS]."""
    wholes = [sum(int(word) << 32 * k for k, word in enumerate(row)) for row in words]
    return np.array([whole / (1 << _BIAS) for whole in wholes])


@kernel
def add_numbers(numbers, words):
    """Add numbers [n] to a sum [WORDS], all of them finite: others are left out."""
    for number in numbers:
        _add(number, words)
    _carry(words)


@kernel
def add_nodes(mass, q, v, words):
    """Add what nodes of masses [n] have at q and v [n, dim] to sums [columns, WORDS]; return 0 if all are finite.

    Columns are m v², then m v [dim], then the moments q × m v about the origin: about z in the plane, about x, y and z
    in space. Numbers are products, so that nothing is fused, and each node has its bits whatever nodes are next to it.
    """
    n, dim = q.shape
    check = 0.0
    for a in range(n):
        for i in range(dim):
            check += 0.0 * q[a, i] + 0.0 * v[a, i]
            p = mass[a] * v[a, i]
            _add(p * v[a, i], words[0])
            _add(p, words[1 + i])
        if dim > 1:
            for k in range(1 if dim == 2 else 3):
                i = 0 if dim == 2 else (k + 1) % 3
                j = 1 if dim == 2 else (k + 2) % 3
                _add(q[a, i] * (mass[a] * v[a, j]), words[1 + dim + k])
                _add(-q[a, j] * (mass[a] * v[a, i]), words[1 + dim + k])
    for sums in words:
        _carry(sums)
    return check


@formula
def _add(number, words):
    if number != 0.0 and np.isfinite(number):
        fraction, exponent = frexp(abs(number))
        mantissa = np.int64(fraction * 9007199254740992.0)  # 2^53
        place = exponent - 53 + _BIAS
        word, shift = place // 32, place % 32
        sign = 1 if number > 0.0 else -1
        low = mantissa & ((1 << (32 - shift)) - 1)
        rest = mantissa >> (32 - shift)
        words[word] += sign * (low << shift)
        words[word + 1] += sign * (rest & 4294967295)
        words[word + 2] += sign * (rest >> 32)


@formula
def _carry(words):
    for k in range(len(words) - 1):
        carry = words[k] >> 32
        words[k] -= carry << 32
        words[k + 1] += carry
