"""The arithmetic of all components of a node at once, in the lanes of vector registers.

Numba does not vectorise loops with gathers by itself. Here those that cost most are written out in vectors of four,
or of eight for two nodes where registers have room for them, which LLVM turns into what the machine has.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from symplex.fem.compiled.shipped import has_feature

LANES = 4
_DOUBLE, _BYTE, _INT, _INDEX = ir.DoubleType(), ir.IntType(8), ir.IntType(64), ir.IntType(32)
_VECTOR, _BYTES = ir.VectorType(_DOUBLE, LANES), ir.VectorType(_BYTE, LANES)
_NONE, _ONE = (ir.Constant(_BYTES, [value] * LANES) for value in (0, 1))
_CONTRACT = ("contract",)
_FIXED = 2.0  # the fraction of what does not move
_MOST = 2**30  # above all numbers
_TRACK = 128  # bytes of the track of a node
_LAYER = 15 * 8  # in bytes: where the layers of a node begin in its track


# Nodes of a star that are looked at at once: two where a register has room for eight numbers.
_NODES = 2 if has_feature("avx512f") else 1


def _compiled(function: Callable) -> Callable[..., Any]:
    """Return the intrinsic as compiled code calls it: without the typing context, with numbers."""
    return intrinsic(function)


def _at(builder, address, offset, kind, align=8):
    """Load a number or a vector from an address (an integer) plus an offset in bytes."""
    pointer = builder.inttoptr(builder.add(address, offset), kind.as_pointer())
    return builder.load(pointer, align=align)


def _splat(builder, value, lanes=LANES):
    """Return a vector with the value in each lane."""
    kind = ir.VectorType(value.type, lanes)
    nothing = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(nothing, value, _INDEX(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_INDEX, lanes), [0] * lanes))


def _joined(builder, vectors):
    """Return one vector with the lanes of one or two."""
    if len(vectors) == 1:
        return vectors[0]
    lanes = 2 * vectors[0].type.count
    return builder.shuffle_vector(*vectors, ir.Constant(ir.VectorType(_INDEX, lanes), list(range(lanes))))


def _order(builder, track, gap, layer_i):
    """Return layer_j − layer_i − gap: 1 in lanes that are behind dof i, 0 in lanes that are not."""
    layer = _at(builder, track, _INT(_LAYER), _BYTES, 1)
    return builder.sub(
        builder.sub(layer, _splat(builder, builder.trunc(layer_i, _BYTE))), _at(builder, gap, _INT(0), _BYTES, 1)
    )


class _Approach:
    """How the components of nodes approach dof i: the distance e ≥ 0 of the fractions, to the side it is on, ė, ë."""

    def __init__(self, builder, args):
        self.builder = builder
        tracks, gaps, layer_i, *numbers = args
        lanes = LANES * len(tracks)
        t, f_i, w_i, a_i = (_splat(builder, number, lanes) for number in numbers)
        f, w, a, start = (
            _joined(builder, [_at(builder, track, _INT(32 * row), _VECTOR) for track in tracks]) for row in range(4)
        )
        self.f = f
        self.zero, self.half, self.two, self.never = (
            ir.Constant(f.type, [value] * lanes) for value in (0.0, 0.5, 2.0, inf)
        )
        order = _joined(builder, [_order(builder, *place, layer_i) for place in zip(tracks, gaps, strict=True)])
        none, one = (ir.Constant(order.type, [value] * lanes) for value in (0, 1))
        self.behind = builder.icmp_signed(">", order, none)
        shift = builder.sitofp(builder.select(self.behind, builder.sub(one, order), order), f.type)
        tau = self.sub(t, start)
        gain = self.mul(tau, a)
        now = self.add(f, self.mul(tau, self.add(w, self.mul(self.half, gain))))
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

    def meeting(self):
        """Return when they meet, or infinity, by the roots of `symplex.time.events.lattice_schedule`."""
        builder = self.builder
        e = self.where(self.e, ">", self.zero, self.e, self.zero)
        square = self.sub(self.mul(self.rate, self.rate), self.mul(self.mul(self.two, self.accel), e))
        kind, name = ir.FunctionType(e.type, [e.type]), f"llvm.sqrt.v{e.type.count}f64"
        sqrt = get_or_insert_function(builder.module, kind, name)
        root = builder.call(sqrt, [self.where(square, ">", self.zero, square, self.zero)])
        closing = builder.fcmp_ordered("<", self.rate, self.zero)
        above = builder.select(closing, self.mul(self.two, e), self.add(self.rate, root))
        below = builder.select(closing, self.sub(root, self.rate), builder.fneg(self.accel))
        meets = builder.select(
            closing, builder.fcmp_ordered(">=", square, self.zero), builder.fcmp_ordered("<", self.accel, self.zero)
        )
        return builder.select(meets, builder.fdiv(above, below), self.never)


class _Earliest:
    """The two earliest times in each lane, with numbers: of equal ones that with the lower number is the earlier."""

    def __init__(self, builder, times, numbers):
        self.builder = builder
        self.times, self.numbers = times, numbers  # of two each

    def with_later(self, time, number):
        """Return the two earliest of these and of one more with a higher number."""
        builder = self.builder
        (first, second), (a, b) = self.times, self.numbers
        before, between = (builder.fcmp_ordered("<", time, other) for other in (first, second))

        def two(x, y, new):
            return builder.select(before, new, x), builder.select(before, x, builder.select(between, new, y))

        return _Earliest(builder, two(first, second, time), two(a, b, number))

    def with_lanes(self, order):
        """Return the two earliest of these and of those in the lanes of another order."""
        builder = self.builder

        def turned(vectors):
            where = ir.Constant(ir.VectorType(_INDEX, len(order)), order)
            return [builder.shuffle_vector(x, ir.Constant(x.type, ir.Undefined), where) for x in vectors]

        def is_before(k, other, m):
            equal = builder.fcmp_ordered("==", self.times[k], other.times[m])
            lower = builder.and_(equal, builder.icmp_signed("<", self.numbers[k], other.numbers[m]))
            return builder.or_(builder.fcmp_ordered("<", self.times[k], other.times[m]), lower)

        other = _Earliest(builder, turned(self.times), turned(self.numbers))
        first, mine, yours = is_before(0, other, 0), is_before(1, other, 0), is_before(0, other, 1)

        def two(x, y):
            after = builder.select(mine, x[1], y[0]), builder.select(yours, x[0], y[1])
            return builder.select(first, x[0], y[0]), builder.select(first, *after)

        return _Earliest(builder, two(self.times, other.times), two(self.numbers, other.numbers))


@_compiled
def earliest_meetings(
    typingctx, star, size, tracks, gaps, layer_i, t, fraction, rate, accel, lower, upper, i, other, dim, slack
):
    """Return the two earliest times after t at which dof i meets a plane of its own or a dof of its star.

    Nothing branches but the loop over the star: which of them are near cannot be foreseen, and to guess wrong costs as
    much as the roots of a node.

    Parameters
    ----------
    star, size : int64
        The address of the nodes of the star (uint32), and their number.
    tracks, gaps : int64
        The addresses of all tracks, and of the row of dof i.
    layer_i : int64
    t, fraction, rate, accel : float64
        The time, and the parabola of dof i there.
    lower, upper : float64
        How long after t it meets its own planes.
    i, other : int64
        Its lane, and another one that does not count for a tie.
    dim : int64
    slack : float64
        The distance under which two of them are tied.

    Returns
    -------
    first, second : float64
        How long after t (or infinity).
    a, b : int64
        With whom: LANES · (place in the star) + component, −2 for the lower plane and −1 for the upper one.
    tied : bool
        Whether any dof of the star is tied with i.
    """

    def codegen(context, builder, signature, args):
        star, size, tracks, gaps, layer_i, t, fraction, rate, accel, lower, upper, i, other, dim, slack = args
        lanes = LANES * _NODES
        times, numbers = (ir.VectorType(kind, lanes) for kind in (_DOUBLE, _INDEX))
        never, no_number = (ir.Constant(kind, [x] * lanes) for kind, x in ((times, inf), (numbers, _MOST)))

        is_upper = builder.fcmp_ordered("<", upper, lower)
        first = builder.select(is_upper, upper, lower), builder.select(is_upper, lower, upper)
        code = builder.select(is_upper, _INDEX(-1), _INDEX(-2)), builder.select(is_upper, _INDEX(-2), _INDEX(-1))
        begin = [builder.insert_element(never, x, _INDEX(0)) for x in first]
        begin += [builder.insert_element(no_number, x, _INDEX(0)) for x in code]
        state = [cgutils.alloca_once_value(builder, x) for x in [*begin, never]]
        component = ir.Constant(numbers, list(range(LANES)) * _NODES)
        in_space = builder.icmp_signed("<", component, _splat(builder, builder.trunc(dim, _INDEX), lanes))
        mine, yours = (_splat(builder, builder.trunc(x, _INDEX), lanes) for x in (i, other))
        lane = ir.Constant(numbers, list(range(lanes)))
        last = builder.sub(size, _INT(1))
        with cgutils.for_range_slice(builder, _INT(0), size, _INT(_NODES), _INT) as (k, _):
            entries = [k]
            if _NODES > 1:  # the last node may be looked at twice, and doesn't count the second time
                after = builder.add(k, _INT(1))
                entries.append(builder.select(builder.icmp_signed("<", after, last), after, last))
            nodes = [_at(builder, star, builder.mul(x, _INT(4)), _INDEX, 4) for x in entries]
            places = [builder.add(tracks, builder.mul(builder.zext(x, _INT), _INT(_TRACK))) for x in nodes]
            rows = [builder.add(gaps, builder.mul(x, _INT(LANES))) for x in entries]
            it = _Approach(builder, (places, rows, layer_i, t, fraction, rate, accel))
            first_lanes = [_splat(builder, builder.mul(x, _INDEX(LANES))) for x in nodes]
            near = builder.add(_joined(builder, first_lanes), component)
            number = builder.add(_splat(builder, builder.trunc(builder.mul(k, _INT(LANES)), _INDEX), lanes), lane)
            counts = builder.and_(in_space, builder.icmp_unsigned("!=", near, mine))
            counts = builder.and_(counts, builder.fcmp_unordered("!=", it.f, ir.Constant(times, [_FIXED] * lanes)))
            if _NODES > 1:
                end = _splat(builder, builder.trunc(builder.mul(size, _INT(LANES)), _INDEX), lanes)
                counts = builder.and_(counts, builder.icmp_signed("<", number, end))
            other_one = builder.icmp_unsigned("!=", near, yours)
            distance = builder.select(builder.and_(counts, other_one), it.e, never)
            found_times = builder.select(counts, it.meeting(), never)
            *now, nearest = (builder.load(x) for x in state)
            found = _Earliest(builder, now[:2], now[2:]).with_later(found_times, number)
            nearest = it.where(distance, "<", nearest, distance, nearest)
            for value, place in zip([*found.times, *found.numbers, nearest], state, strict=True):
                builder.store(value, place)
        *now, nearest = (builder.load(x) for x in state)
        found = _Earliest(builder, now[:2], now[2:])
        apart = lanes // 2
        while apart:
            found = found.with_lanes([n ^ apart for n in range(lanes)])
            apart //= 2
        ties = builder.fcmp_ordered("<=", nearest, _splat(builder, slack, lanes))
        ties = builder.bitcast(ties, ir.IntType(lanes))
        values = [builder.extract_element(x, _INDEX(0)) for x in (*found.times, *found.numbers)]
        values[2:] = [builder.sext(x, _INT) for x in values[2:]]
        values.append(builder.icmp_unsigned("!=", ties, ir.IntType(lanes)(0)))
        return context.make_tuple(builder, signature.return_type, values)

    result = types.Tuple((types.float64, types.float64, types.int64, types.int64, types.boolean))
    return result(*[types.int64] * 5, *[types.float64] * 6, *[types.int64] * 3, types.float64), codegen


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
    """Return which of LANES places (uint16, from an address on) is the required one, or LANES if none is."""

    def codegen(context, builder, signature, args):
        word = ir.IntType(16)
        places = _at(builder, args[0], _INT(0), ir.VectorType(word, LANES), 2)
        same = builder.icmp_unsigned("==", places, _splat(builder, builder.trunc(args[1], word)))
        bits = builder.zext(builder.bitcast(same, ir.IntType(LANES)), _BYTE)
        first = builder.cttz(builder.or_(bits, _BYTE(1 << LANES)), ir.IntType(1)(1))
        return builder.zext(first, _INT)

    return types.int64(types.int64, types.int64), codegen
