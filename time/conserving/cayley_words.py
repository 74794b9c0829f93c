"""The one-step operator of Graham and Jelenić (2006) to any order, as words of the moments of 𝓕 over a step.

With x(τ) = (r, w), w = h v and τ = t/h − ½ from −½ to ½, the motion is x' = (w, −H(τ) r), H = h² M⁻¹ 𝓕. A step
x1 − x0 = C (x0 + x1)/2 is of order p if C agrees with 2 tanh(Ω/2), Ω the Magnus series, to h^p (their section 5: the
recursion 5.25 in other words). With the polynomial H(τ) = Σ_k H_k τ^(k−1) through Gauss points all of C consists of
words H_i H_j ⋯, with rational coefficients that are the same for every system.

C conserves both momenta: as every element of the Lie algebra that H(τ) generates, it has the blocks
((𝒢ᵀ, 𝓜⁻¹), (−𝒳, −𝒢)) with 𝒳 and 𝓜 symmetric (their eq. 3.11, eqs. 4.2, 4.4).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import NamedTuple

_DRIFT = 0  # the letter of r' = w; the letter k > 0 is w' = −H_k τ^(k−1) r

Word = tuple[int, ...]


class Words(NamedTuple):
    """The four blocks of C, each the coefficients of its words, leftmost factor first; () is the unit matrix.

    Attributes
    ----------
    r_from_r, r_from_w, w_from_r, w_from_w : dict
        What r and w gain in a step, from r and from w.
    """

    r_from_r: dict[Word, float]
    r_from_w: dict[Word, float]
    w_from_r: dict[Word, float]
    w_from_w: dict[Word, float]


@lru_cache
def cayley_words(order: int) -> Words:
    """Return C to an even order, with as many moments H_k as Gauss points are needed: order/2.

    Parameters
    ----------
    order : int
        2, 4, 6, …
    """
    blocks = Words({}, {}, {}, {})
    for letters, coefficient in exact_words(order, order // 2).items():
        if coefficient:
            word = tuple(letter for letter in letters if letter != _DRIFT)
            block = blocks[2 * (letters[0] != _DRIFT) + (letters[-1] == _DRIFT)]
            block[word] = float(coefficient) * (-1) ** len(word)
    return blocks


def exact_words(order: int, moments: int) -> dict[Word, Fraction]:
    """Return the coefficients of C by words of all letters 0 … moments, 0 the drift, up to the weight order − 1.

    The weight of the drift is 1, that of H_k is k: the power of h beyond the first is what a word is worth (a word of
    the weight s is of the size h^s). Words in which two drifts, or two H, meet vanish: drifts and H take turns.
    """
    flow: dict[Word, Fraction] = {}
    cayley: dict[Word, Fraction] = {}
    for word in _alternating(order - 1, moments):
        flow[word] = _iterated_integral(word)
        # From flow − 1 = C (flow + 1)/2, shorter words first.
        parts = (cayley[word[:i]] * flow[word[i:]] for i in range(1, len(word)))
        cayley[word] = flow[word] - sum(parts, Fraction(0)) / 2
    return cayley


def _alternating(weight: int, moments: int) -> list[Word]:
    """Return the words up to a weight in which drifts and H take turns, shorter ones first."""
    words = []
    for length in range(1, weight + 1):
        for first in (0, 1):
            places = [range(1, moments + 1) if (i + first) % 2 else (_DRIFT,) for i in range(length)]
            words += [word for word in product(*places) if sum(max(letter, 1) for letter in word) <= weight]
    return words


def _iterated_integral(word: Word) -> Fraction:
    """Return ∫ τ1^(k1 − 1) ∫ τ2^(k2 − 1) ⋯ over ½ > τ1 > τ2 > ⋯ > −½, k = 1 for the drift."""
    polynomial = [Fraction(1)]
    half = Fraction(1, 2)
    for letter in reversed(word):
        power = max(letter, 1) - 1
        integral = [Fraction(0)] * (power + 1) + [c / (n + power + 1) for n, c in enumerate(polynomial)]
        integral[0] = -_at(integral, -half)
        polynomial = integral
    return _at(polynomial, half)


def _at(polynomial: list[Fraction], x: Fraction) -> Fraction:
    return sum((c * x**n for n, c in enumerate(polynomial)), Fraction(0))


class Program(NamedTuple):
    """The words in an order in which they are applied: vectors x0 = r, x1 = w, x2, x3, …, and what is made of them.

    Attributes
    ----------
    products : tuple of (int, int)
        x_i = H_k x_j for i = 2, 3, …: the pairs k, j. What words have in common on their right side is computed once.
    gains : tuple of (terms, last)
        For r and for w what they gain: Σ c x_i over the pairs (c, i) of terms, and H_k Σ c x_i over the k and the pairs
        of last: what remains at the left is summed up before the last product with each H_k.
    """

    products: tuple[tuple[int, int], ...]
    gains: tuple[tuple[list[tuple[float, int]], dict[int, list[tuple[float, int]]]], ...]


@lru_cache
def program(order: int) -> Program:
    """Return the words of an even order as they are applied."""
    words = cayley_words(order)
    places: dict[tuple[int, Word], int] = {(0, ()): 0, (1, ()): 1}
    products: list[tuple[int, int]] = []

    def place(source: int, word: Word) -> int:
        if (source, word) not in places:
            products.append((word[0], place(source, word[1:])))
            places[source, word] = len(products) + 1
        return places[source, word]

    gains = []
    for blocks in (words[:2], words[2:]):
        terms: list[tuple[float, int]] = []
        last: dict[int, list[tuple[float, int]]] = {}
        for source, block in enumerate(blocks):
            for word, coefficient in block.items():
                if len(word) < 2:
                    terms.append((coefficient, place(source, word)))
                else:
                    last.setdefault(word[0], []).append((coefficient, place(source, word[1:])))
        gains.append((terms, last))
    return Program(tuple(products), tuple(gains))
