"""The arithmetic of all components of a node at once, in the lanes of vector registers.

Numba does not vectorise loops with gathers by itself. Here the two that cost most are written out in vectors of four,
which LLVM turns into what the machine has.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

LANES = 4
_DOUBLE, _BYTE, _INT, _INDEX = ir.DoubleType(), ir.IntType(8), ir.IntType(64), ir.IntType(32)
_VECTOR, _BYTES = ir.VectorType(_DOUBLE, LANES), ir.VectorType(_BYTE, LANES)
_ZERO, _HALF, _TWO, _NEVER = (ir.Constant(_VECTOR, [value] * LANES) for value in (0.0, 0.5, 2.0, inf))
_NONE, _ONE = (ir.Constant(_BYTES, [value] * LANES) for value in (0, 1))
_CONTRACT = ("contract",)
_LAYER = 15 * 8  # in bytes: where the layers of a node begin in its track


def _compiled(function: Callable) -> Callable[..., int]:
    """Return the intrinsic as compiled code calls it: without the typing context, with numbers."""
    return intrinsic(function)


def _at(builder, address, offset, kind, align=8):
    """Load a vector from an address (an integer) plus an offset in bytes."""
    pointer = builder.inttoptr(builder.add(address, offset), kind.as_pointer())
    return builder.load(pointer, align=align)


def _splat(builder, value):
    """Return a vector with the value in each lane."""
    kind = ir.VectorType(value.type, LANES)
    nothing = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(nothing, value, _INDEX(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES))


def _order(builder, track, gap, layer_i):
    """Return layer_j − layer_i − gap: 1 in lanes that are behind dof i, 0 in lanes that are not."""
    layer = _at(builder, track, _INT(_LAYER), _BYTES, 1)
    return builder.sub(
        builder.sub(layer, _splat(builder, builder.trunc(layer_i, _BYTE))), _at(builder, gap, _INT(0), _BYTES, 1)
    )


class _Approach:
    """How the components of a node approach dof i: the distance e ≥ 0 of the fractions, to the side it is on, ė, ë."""

    def __init__(self, builder, args):
        self.builder = builder
        track, gap, layer_i, *numbers = args
        t, f_i, w_i, a_i = (_splat(builder, number) for number in numbers)
        f, w, a, start = (_at(builder, track, _INT(32 * row), _VECTOR) for row in range(4))
        order = _order(builder, track, gap, layer_i)
        self.behind = builder.icmp_signed(">", order, _NONE)
        shift = builder.sitofp(builder.select(self.behind, builder.sub(_ONE, order), order), _VECTOR)
        tau = self.sub(t, start)
        gain = self.mul(tau, a)
        now = self.add(f, self.mul(tau, self.add(w, self.mul(_HALF, gain))))
        self.e = self.add(self.ahead(self.sub(now, f_i)), shift)
        self.rate = self.ahead(self.sub(self.add(w, gain), w_i))
        self.accel = self.ahead(self.sub(a, a_i))

    def add(self, x, y):
        return self.builder.fadd(x, y, flags=_CONTRACT)

    def sub(self, x, y):
        return self.builder.fsub(x, y, flags=_CONTRACT)

    def mul(self, x, y):
        return self.builder.fmul(x, y, flags=_CONTRACT)

    def ahead(self, x):
        return self.builder.select(self.behind, self.builder.fneg(x), x)

    def where(self, x, relation, y, yes, no):
        return self.builder.select(self.builder.fcmp_ordered(relation, x, y), yes, no)

    def mask(self, x, y):
        """Return the lanes in which x ≤ y, as bits."""
        near = self.builder.fcmp_ordered("<=", x, y)
        return self.builder.zext(self.builder.bitcast(near, ir.IntType(LANES)), _INT)


_APPROACH = (*[types.int64] * 3, *[types.float64] * 4)


@_compiled
def may_meet(typingctx, track, gap, layer_i, t, fraction, rate, accel, best, slack):
    """Return a mask of the components of one node that may meet dof i within the time ``best`` from t on.

    With e the distance no meeting is possible if e + min(0, ė best) + min(0, ë best²/2) > slack.

    Parameters
    ----------
    track, gap : int64
        The addresses of the track of the node, and of its entries in the row of dof i.
    layer_i : int64
    t, fraction, rate, accel : float64
        The time, and the parabola of dof i there.
    best, slack : float64
    """

    def codegen(context, builder, signature, args):
        it = _Approach(builder, args[:7])
        best, slack = (_splat(builder, number) for number in args[7:])
        speed = it.where(it.rate, "<", _ZERO, it.rate, _ZERO)
        pull = it.where(it.accel, "<", _ZERO, it.accel, _ZERO)
        reach = it.mul(best, it.add(speed, it.mul(it.mul(_HALF, best), pull)))
        return it.mask(it.add(it.e, reach), slack)

    return types.int64(*_APPROACH, types.float64, types.float64), codegen


@_compiled
def meetings(typingctx, track, gap, layer_i, t, fraction, rate, accel, slack, out):
    """Write how long after t the components of one node meet dof i (or infinity); return a mask of those that do now.

    The times are written by address (``out``, four numbers); the mask is of those with e ≤ slack. The roots are those
    of a dof's own planes (`symplex.time.events.lattice_schedule`).
    """

    def codegen(context, builder, signature, args):
        it = _Approach(builder, args[:7])
        e = it.where(it.e, ">", _ZERO, it.e, _ZERO)
        square = it.sub(it.mul(it.rate, it.rate), it.mul(it.mul(_TWO, it.accel), e))
        sqrt = get_or_insert_function(builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.sqrt.v{LANES}f64")
        root = builder.call(sqrt, [it.where(square, ">", _ZERO, square, _ZERO)])
        closing = builder.fcmp_ordered("<", it.rate, _ZERO)
        above = builder.select(closing, it.mul(_TWO, e), it.add(it.rate, root))
        below = builder.select(closing, it.sub(root, it.rate), builder.fneg(it.accel))
        meets = builder.select(
            closing, builder.fcmp_ordered(">=", square, _ZERO), builder.fcmp_ordered("<", it.accel, _ZERO)
        )
        times = builder.select(meets, builder.fdiv(above, below), _NEVER)
        builder.store(times, builder.inttoptr(args[8], _VECTOR.as_pointer()), align=8)
        return it.mask(it.e, _splat(builder, args[7]))

    return types.int64(*_APPROACH, types.float64, types.int64), codegen


@_compiled
def put_vertex(typingctx, track, site, gap, layer_i, out):
    """Write the components of one node on the vertex that dof i sees: low where behind i, high where not.

    All are addresses (int64) but ``layer_i``; four numbers are written, whatever the dimension.
    """

    def codegen(context, builder, signature, args):
        track, site, gap, layer_i, out = args
        order = _order(builder, track, gap, layer_i)
        low, high = (_at(builder, site, _INT(32 * row), _VECTOR) for row in range(2))
        rise = builder.sitofp(builder.sub(_ONE, order), _VECTOR)
        # Round-off at a tie may for a moment put a lane one more cell away.
        x = builder.fadd(low, builder.fmul(rise, builder.fsub(high, low)))
        x = builder.select(builder.icmp_signed("==", order, _NONE), high, x)
        x = builder.select(builder.icmp_signed("==", order, _ONE), low, x)
        builder.store(x, builder.inttoptr(out, _VECTOR.as_pointer()), align=8)
        return _INT(0)

    return types.int64(*[types.int64] * 5), codegen


@_compiled
def lane_of(typingctx, places, place):
    """Return which of LANES places (uint16, from an address on) is the wanted one, or LANES if none is."""

    def codegen(context, builder, signature, args):
        word = ir.IntType(16)
        places = _at(builder, args[0], _INT(0), ir.VectorType(word, LANES), 2)
        same = builder.icmp_unsigned("==", places, _splat(builder, builder.trunc(args[1], word)))
        bits = builder.zext(builder.bitcast(same, ir.IntType(LANES)), _BYTE)
        first = builder.cttz(builder.or_(bits, _BYTE(1 << LANES)), ir.IntType(1)(1))
        return builder.zext(first, _INT)

    return types.int64(types.int64, types.int64), codegen
