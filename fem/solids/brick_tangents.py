"""Tangents of hexahedra of eight nodes from those at their eight points, one coordinate after the other.

With the slopes of the shape functions as products of linear functions L in the other two coordinates

    ∂N_m/∂ξ_a = ± ½ L(m_b, ξ_b) L(m_c, ξ_c),    m_b = 0 or 1 the side of node m along ξ_b,

the sum over points of ∂N_m/∂ξ_a H_ab ∂N_n/∂ξ_b is, but for its sign,

    E_ab[n_a, m_b, m_c n_c] = Σ L(n_a, ξ_a) L(m_b, ξ_b) (L(m_c, ξ_c) L(n_c, ξ_c)) H_ab/4,    c the third coordinate,
    E_aa[m_b n_b, m_c n_c]  = Σ (L(m_b, ξ_b) L(n_b, ξ_b)) (L(m_c, ξ_c) L(n_c, ξ_c)) H_aa/4,

where a product of two has three values: at the sides 0 0, 1 1 and 0 1. The sums over ξ_a are taken point by point, then
those over the others: 2 700 products of H for an element instead of 13 000.

Arrays are those of `symplex.fem.solids.tangent_blocks`; points and nodes are in the order of
`symplex.fem.solids.brick_sums`.
"""

from __future__ import annotations

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from symplex.fem.compiled.kernels import formula
from symplex.fem.compiled.lanes import EIGHT, LANES, add_lanes, compiled as _compiled, vectors_of

BLOCK = 9 * LANES
NODES = POINTS = 8
# L/√2 of a side at the point on this side, and at the other point: each sum has four of them. And one.
_FACTORS = np.array([0.5 * (1.0 + 1.0 / sqrt(3.0)) / sqrt(2.0), 0.5 * (1.0 - 1.0 / sqrt(3.0)) / sqrt(2.0), 1.0])
_NEAR, _FAR = float(_FACTORS[0]), float(_FACTORS[1])
_SIDES = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))  # of nodes
_BOTH = {(0, 0): 0, (1, 1): 1, (0, 1): 2, (1, 0): 2}  # of two nodes along a coordinate


def _pairs(symmetric: bool) -> list[tuple[int, int]]:
    """Return (a, b) of the blocks of H that are summed up, in the order of the sums."""
    return [(a, b) for a in range(3) for b in range(a if symmetric else 0, 3)]


def _places(symmetric: bool, of_one: int, of_two: int) -> dict[tuple[int, int], int]:
    """Return where the sums of each pair begin, where a pair of one coordinate has so many and one of two so many."""
    found, at = {}, 0
    for pair in _pairs(symmetric):
        found[pair] = at
        at += of_one if pair[0] == pair[1] else of_two
    return found


BLOCKS = 3 * (4 + 9) + 6 * (8 + 12)  # of all sums
_MOST = 3 * 4 + 6 * 8  # of those over the first coordinate


@formula
def add_point(H, g, symmetric, sums):
    """Add the tangents H at point g to the sums over ξ_a, which those at point 0 begin."""
    row = 0
    for a in range(3):
        ahead = (g >> (2 - a)) & 1
        for b in range(a if symmetric else 0, 3):
            if a == b:
                first, last = (1 if a == 0 else 2), (1 if a == 2 else 0)  # shifts of the other two coordinates
                at = row + 2 * ((g >> first) & 1) + ((g >> last) & 1)
                _add_block(ahead == 1, 2, H, 3 * a + b, sums, at)
                row += 4
            else:
                at = row + 2 * ((g >> (2 - b)) & 1) + ((g >> (a + b - 1)) & 1)
                _add_block(ahead == 1, ahead, H, 3 * a + b, sums, at)
                _add_block(ahead == 1, 1 - ahead, H, 3 * a + b, sums, at + 4)
                row += 8


@formula
def _add_block(kept, factor, H, block, sums, to):
    for c in range(0, BLOCK, LANES):
        add_lanes(kept, _FACTORS, factor, 0, H, block * BLOCK + c, 0, 1, sums, to * BLOCK + c)


@formula
def set_tangents(symmetric, sums, K):
    """Set K [8, 8, 9, PART] from the sums over ξ_a of all points; if symmetric on and below the diagonal only."""
    if symmetric:
        _sum_symmetric(sums)
        _set_symmetric(sums, K)
    else:
        _sum_all(sums)
        _set_all(sums, K)


def _summing(symmetric: bool) -> Any:
    """Return the code of an intrinsic that sums over the other two coordinates, from the first blocks into the last."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (base,) = vectors_of(context, builder, signature, args)
        first, last = _places(symmetric, 4, 8), _places(symmetric, 9, 12)
        with cgutils.for_range(builder, ir.IntType(64)(BLOCK // EIGHT)) as loop:
            at = base(builder.mul(loop.index, ir.IntType(64)(EIGHT)))
            for pair in _pairs(symmetric):
                if pair[0] == pair[1]:
                    rows = [[at.load((first[pair] + 2 * i + j) * BLOCK) for i in range(2)] for j in range(2)]
                    middle = [_products(builder, row) for row in rows]
                    found = [one for i in range(3) for one in _products(builder, [row[i] for row in middle])]
                else:
                    found = []
                    for side in range(2):
                        start = first[pair] + 4 * side
                        rows = [[at.load((start + 2 * i + j) * BLOCK) for i in range(2)] for j in range(2)]
                        middle = [_sides(builder, row) for row in rows]
                        found += [one for i in range(2) for one in _products(builder, [row[i] for row in middle])]
                for i, one in enumerate(found):
                    at.store(one, (_MOST + last[pair] + i) * BLOCK)
        return context.get_dummy_value()

    return codegen


def _combined(builder: Any, x: Any, y: Any, of_x: float, of_y: float) -> Any:
    """Return of_x x + of_y y."""
    terms = [builder.fmul(ir.Constant(z.type, [r] * EIGHT), z, flags=("contract",)) for r, z in ((of_x, x), (of_y, y))]
    return builder.fadd(*terms, flags=("contract",))


def _sides(builder: Any, of_points: list[Any]) -> list[Any]:
    """Return the sums over two points for both sides."""
    return [_combined(builder, *of_points, _NEAR, _FAR), _combined(builder, *of_points, _FAR, _NEAR)]


def _products(builder: Any, of_points: list[Any]) -> list[Any]:
    """Return the sums over two points for the sides 0 0, 1 1 and 0 1."""
    both = builder.fmul(ir.Constant(of_points[0].type, [_NEAR * _FAR] * EIGHT), builder.fadd(*of_points))
    squares = _NEAR * _NEAR, _FAR * _FAR
    return [_combined(builder, *of_points, *squares), _combined(builder, *of_points, *squares[::-1]), both]


def _setting(symmetric: bool) -> Any:
    """Return the code of an intrinsic that sets K: ± E_ab of all coordinates, those of a > b as E_ba transposed."""
    places = _places(symmetric, 9, 12)

    def terms(m: int, n: int) -> list[tuple[float, int, bool]]:
        """Return the sign of each term of K_mn, the block of E and whether it is transposed."""
        found = []
        for a, b in product(range(3), repeat=2):
            p, q, i, j = (_SIDES[m], _SIDES[n], a, b) if (a, b) in places else (_SIDES[n], _SIDES[m], b, a)
            if i == j:
                first, last = (one for one in range(3) if one != i)
                at = 3 * _BOTH[p[first], q[first]] + _BOTH[p[last], q[last]]
            else:
                c = 3 - i - j
                at = 6 * q[i] + 3 * p[j] + _BOTH[p[c], q[c]]
            sign = 1.0 if p[i] == q[j] else -1.0
            found.append((sign, places[i, j] + at, (i, j) != (a, b)))
        return sorted(found, reverse=True)  # the first one is positive

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums, tangents = vectors_of(context, builder, signature, args)
        number = ir.IntType(64)
        loops = [cgutils.for_range(builder, number(n)) for n in (3, 3, LANES // EIGHT)]
        with loops[0] as row, loops[1] as column, loops[2] as part:
            lane = builder.mul(part.index, number(EIGHT))

            def component(i: Any, j: Any) -> Any:
                c = builder.add(builder.mul(i, number(3)), j)
                return builder.add(builder.mul(c, number(LANES)), lane)

            straight, turned = sums(component(row.index, column.index)), sums(component(column.index, row.index))
            to = tangents(component(row.index, column.index))
            for m in range(NODES):
                for n in range(m + 1 if symmetric else NODES):
                    total: Any = None
                    for sign, at, transposed in terms(m, n):
                        term = (turned if transposed else straight).load((_MOST + at) * BLOCK)
                        if total is None:
                            total = term if sign > 0.0 else builder.fneg(term)
                        else:
                            total = (builder.fadd if sign > 0.0 else builder.fsub)(total, term)
                    to.store(total, (NODES * m + n) * BLOCK)
        return context.get_dummy_value()

    return codegen


@_compiled
def _sum_symmetric(typingctx, sums):
    return types.void(sums), _summing(True)


@_compiled
def _sum_all(typingctx, sums):
    return types.void(sums), _summing(False)


@_compiled
def _set_symmetric(typingctx, sums, K):
    return types.void(sums, K), _setting(True)


@_compiled
def _set_all(typingctx, sums, K):
    return types.void(sums, K), _setting(False)
