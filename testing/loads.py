"""What loads promise: forces of the right shape that depend on their arguments only, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidArgument
from symplex.fem.actions.increment_load import IncrementLoad
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.testing import round_off
from symplex.testing.found import Check, require, require_close, require_slope

Load = Callable[[float, Array, Array], Array]
CHECKS: dict[str, Check] = {}


@checked
def check_load(load: Load, q: ArrayLike, v: ArrayLike, t: float = 0.0, name: str = "") -> None:
    """Check a load: that its forces are finite and depend on its arguments only, and its derivatives by differences.

    Parameters
    ----------
    load : callable
        f(t, q, v), in N; also a `DifferentiableLoad`.
    q, v : float64 [n, dim]
        Positions in m and velocities in m/s at which it acts.
    t : float, default 0
        Time in s.
    name : str, optional
        How messages call it; default: as its class or function.

    Raises
    ------
    CheckFailed
        If a promise is not kept.
    """
    called = name or getattr(load, "__name__", type(load).__name__)
    positions, velocities = np.array(q, dtype=float), np.array(v, dtype=float)
    if positions.ndim != 2 or positions.shape != velocities.shape:
        raise InvalidArgument(
            f"check_load: q and v must have one shape [n, dim], got {positions.shape} and {velocities.shape}."
        )
    subject = Subject(load, positions, velocities, t, called)
    for check in CHECKS.values():
        check(subject)


class Subject:
    """A load at a time, positions and velocities."""

    def __init__(self, load: Load, q: Array, v: Array, t: float = 0.3, place: str = ""):
        self.load, self.q, self.v, self.t = load, q, v, t
        self.place = place or type(load).__name__


def _promise(run: Callable[[Subject], None]) -> Callable[[Subject], None]:
    CHECKS[run.__name__] = Check(run)
    return run


@_promise
def stencils_are_contiguous_int32(s: Subject) -> None:
    """Of loads that have some."""
    nodes = s.load.nodes if isinstance(s.load, DifferentiableLoad | IncrementLoad) else np.empty((0, 1), np.int32)
    right = nodes.dtype == np.int32 and nodes.ndim == 2 and nodes.flags.c_contiguous
    require(s.place, right, f"nodes must be a contiguous int32 array [m, k], got {nodes.dtype} of shape {nodes.shape}.")


@_promise
def forces_are_pure(s: Subject) -> None:
    """The same again, finite, in an array that is not used once more, and the arguments are left as they were."""
    before = s.q.copy(), s.v.copy()
    first = s.load(s.t, s.q, s.v)
    require(
        s.place, np.shape(first) == s.q.shape, f"forces must be [n, dim] = {s.q.shape}, got shape {np.shape(first)}."
    )
    require(s.place, bool(np.isfinite(first).all()), "forces must be finite.")
    kept = np.array(first)
    again = s.load(s.t, s.q, s.v)
    require(s.place, np.array_equal(kept, again), "forces must be the same when it is called again.")
    s.load(s.t + 1.0, s.q + 0.01, s.v + 1.0)
    require(s.place, np.array_equal(kept, first), "forces must be a new array at each call; copy what is returned.")
    unchanged = np.array_equal(before[0], s.q) and np.array_equal(before[1], s.v)
    require(s.place, unchanged, "the positions and velocities that it takes must not be changed.")


@_promise
def derivatives_are_slopes_of_the_forces(s: Subject) -> None:
    """By central differences, of loads that have derivatives."""
    if not isinstance(s.load, DifferentiableLoad):
        return
    load, dim, n = s.load, s.q.shape[1], s.q.size
    f_q, f_v = np.zeros((2, n, n))
    for nodes, by_q, by_v in zip(load.nodes, *load.derivatives(s.t, s.q[load.nodes], s.v[load.nodes]), strict=True):
        places = (dim * nodes[:, None] + np.arange(dim)).ravel()
        f_q[np.ix_(places, places)] += by_q
        f_v[np.ix_(places, places)] += by_v
    size = np.abs(load(s.t, s.q, s.v)).max()
    for name, given, at, function in (
        ("∂f/∂x", f_q, s.q, lambda x: load(s.t, x[0], s.v)),
        ("∂f/∂v", f_v, s.v, lambda x: load(s.t, s.q, x[0])),
    ):
        step = 1e-6 * (np.abs(at).max() or 1.0)
        bound = 1e-8 * max(np.abs(given).max(), size / (np.abs(at).max() or 1.0)) + round_off.of(size, 10) / step
        what = f"{name} of derivatives must be the slope of forces"
        require_slope(s.place, what, given[None], lambda x, f=function: f(x)[None], at[None], step, bound)


@_promise
def forces_at_one_point_are_those_of_an_increment_without_length(s: Subject) -> None:
    """Of loads that see both ends of an increment; and the same backwards."""
    if not isinstance(s.load, IncrementLoad):
        return
    size = np.abs(s.load(s.t, s.q, s.v)).max()
    here = s.load.over(s.t, s.q, s.q, s.v)
    require_close(s.place, "over(t, q, q, v) must be the load at q", here, s.load(s.t, s.q, s.v), 1e-13 * size, "N")
    other = s.q + 1e-3 * np.random.default_rng(0).standard_normal(s.q.shape) * (np.ptp(s.q) or 1.0)
    there, back = s.load.over(s.t, s.q, other, s.v), s.load.over(s.t, other, s.q, s.v)
    require_close(s.place, "over must be the same backwards", back, there, 1e-12 * np.abs(there).max(), "N")
