"""What every energy and constraint promises: derivatives, symmetry, invariances, discrete gradients, assembly."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidArgument, StepFailed
from symplex.fem.assembly.pattern import Array, Pattern
from symplex.fem.energies.contact_energy import contact_of
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.constraints import Constraint
from symplex.testing import round_off
from symplex.testing.found import Check, require, require_close, require_slope

INCREMENTS = (0.5, 1e-2, 1e-5, 1e-8, 1e-12, 0.0)  # from large to none, in tenths of a stencil
_DIFFERENCES = 1e-6  # what a Hessian errs by that is made of differences, relative to its size
CHECKS: dict[str, Check] = {}  # by name, in the order in which they are run


@checked
def check_energy(
    energy: Energy,
    q: ArrayLike,
    *,
    length: float | None = None,
    invariances: Collection[str] | None = None,
) -> None:
    """Check all that an energy promises: its derivatives by differences, what it is invariant to, and more.

    Also its discrete gradient for increments of all sizes, the forms that are optional where it has them, and what is
    assembled from them. All is looked at near the given positions as well as there.

    Parameters
    ----------
    energy : Energy
    q : float64 [n, dim]
        Positions in m of all nodes at which the energy acts: as far from equilibrium as in use, obstacles touched.
    length : float, optional
        Size of a stencil in m, in parts of which positions are changed; default: that of most stencils.
    invariances : collection of str, optional
        What the energy is invariant to, exactly: of ``"translations"`` and ``"rotations"``; what is not named must
        change it. By default what it declares.

    Raises
    ------
    CheckFailed
        If a promise is not kept.

    See Also
    --------
    symplex.record : ``check=True`` checks your own parts of a system where a motion starts.
    """
    subject = Subject(energy, positions(q), length, None if invariances is None else frozenset(invariances))
    require(
        subject.place, subject.acts, "nothing can be checked where forces are zero. Give it positions at which it acts."
    )
    run_all(subject)


@checked
def check_constraint(constraint: Constraint, q: ArrayLike, *, length: float | None = None) -> None:
    """Check a constraint, or an obstacle given as one: its derivatives by differences, and its mean gradient.

    Parameters
    ----------
    constraint : Constraint
    q : float64 [n, dim]
        Positions in m of all nodes, near those where it is satisfied.
    length : float, optional
        In m, in parts of which positions are changed; default: the size of most stencils, or of a body.

    Raises
    ------
    CheckFailed
        If a promise is not kept.
    """
    run_all(Subject(constraint, positions(q), length))


def positions(q: ArrayLike) -> Array:
    """Return positions [n, dim] as kernels take them."""
    return np.ascontiguousarray(np.atleast_2d(np.asarray(q, dtype=float)))


@dataclass(frozen=True)
class Subject:
    """An energy or a constraint at positions.

    Attributes
    ----------
    energy : Energy or Constraint
    q : float64 [n, dim]
    given_length : float, optional
    exact : frozenset of str, optional
        What it is invariant to and nothing else; by default what it declares, and more.
    given_rounding : float, optional
        What the Hessian errs by, relative to its size; default: round-off, or more if it is made of differences.
    """

    energy: Energy | Constraint
    q: Array
    given_length: float | None = None
    exact: frozenset[str] | None = None
    given_rounding: float | None = None

    def __post_init__(self):
        if self.given_length is not None and not 0.0 < self.given_length < np.inf:
            raise InvalidArgument(
                f"{type(self.energy).__name__}: length must be positive and finite, got {self.given_length} m. "
                "Leave it out to take the size of the stencils."
            )
        if not np.isfinite(self.q).all():
            raise InvalidArgument(f"{type(self.energy).__name__}: positions must be finite.")
        least = int(np.max(self.nodes, initial=-1)) + 1
        if self.q.ndim != 2 or len(self.q) < least or not 1 <= self.q.shape[1] <= 3:
            raise InvalidArgument(
                f"{type(self.energy).__name__}: positions must have shape (n, dim) with n at least {least}, got "
                f"{self.q.shape}."
            )

    @property
    def place(self) -> str:
        """How messages call it."""
        return type(self.energy).__name__

    @property
    def nodes(self):
        """The stencils [m, k]."""
        return self.energy.nodes

    @cached_property
    def x(self) -> Array:
        """The gathered positions [m, k, dim]."""
        return self.q[self.nodes]

    @cached_property
    def length(self) -> float:
        """The size of a stencil in m."""
        if self.given_length is not None:
            return self.given_length
        x = self.x if self.nodes.shape[1] > 1 else self.x.reshape(1, -1, self.q.shape[1])
        size = float(np.median(np.linalg.norm(x - x.mean(axis=1, keepdims=True), axis=2).max(axis=1)))
        return size if size > 0.0 else 1.0

    @cached_property
    def rounding(self) -> float:
        """What the Hessian errs by, relative to its size."""
        if self.given_rounding is not None:
            return self.given_rounding
        return _DIFFERENCES if type(self.energy).hessian in (Energy.hessian, Constraint.hessian) else 1e-13

    @cached_property
    def motions(self) -> frozenset[str]:
        """What the energy is invariant to."""
        return frozenset(getattr(self.energy, "invariances", ())) if self.exact is None else self.exact

    @property
    def is_rigid(self) -> bool:
        """Whether it is the same after any rigid motion."""
        return {"translations", "rotations"} <= self.motions

    @cached_property
    def gradient(self) -> Array:
        """The gradient [m, k, dim]."""
        return self.energy.gradient(self.x)

    @cached_property
    def hessian(self) -> Array:
        """The Hessian [m, k·dim, k·dim]."""
        return self.energy.hessian(self.x)

    @cached_property
    def ends(self) -> dict[str, Array]:
        """Gathered positions an increment away, by what the increment is called; not farther than values are finite."""
        noise, found = np.random.default_rng(11).standard_normal(self.q.shape), {}
        for amount in INCREMENTS:
            x = (self.q + 0.1 * amount * self.length * noise)[self.nodes]
            if amount > 0.1 and not self._is_finite(x):
                continue
            found[f"increment {amount:g}"] = x
        return found

    def _is_finite(self, x: Array) -> bool:
        try:
            return bool(np.isfinite(self.energy.value(x)).all() and np.isfinite(self.energy.gradient(x)).all())
        except StepFailed:
            return False

    @property
    def acts(self) -> bool:
        """Whether there is any force, here or near."""
        near = next(iter(self.ends.values()))
        return bool(np.any(self.gradient) or np.any(self.energy.gradient(near)))

    @property
    def places(self) -> list[Array]:
        """Where local functions are looked at: here, and the longest increment away."""
        return [self.x, next(iter(self.ends.values()))]

    def has(self, check: Check) -> bool:
        """Whether it gives a promise."""
        energy = self.energy
        if isinstance(energy, Constraint):
            return check.general
        if check.form and not energy.has(check.form):  # pyright: ignore[reportArgumentType]
            return False
        declared = len(energy.generators(self.q.shape[1])[0]) > 0
        return {
            "": True,
            "translations": "translations" in self.motions,
            "rigid": self.is_rigid,
            "declared": declared,
        }[check.motions]


def run_all(subject: Subject) -> None:
    """Check all that a subject promises."""
    for check in CHECKS.values():
        if subject.has(check):
            check(subject)


def _promise(form: str = "", motions: str = "", general: bool = False) -> Callable[[Callable], Callable]:
    def add(run: Callable[[Subject], None]) -> Callable[[Subject], None]:
        CHECKS[run.__name__] = Check(run, form, motions, general)
        return run

    return add


# -- local functions --------------------------------------------------------------------------------------------------


@_promise(general=True)
def stencils_are_contiguous_int32(s: Subject) -> None:
    """And there are such nodes."""
    nodes = s.nodes
    right = nodes.dtype == np.int32 and nodes.ndim == 2 and nodes.flags.c_contiguous
    require(s.place, right, f"nodes must be a contiguous int32 array [m, k], got {nodes.dtype} of shape {nodes.shape}.")
    inside = nodes.size == 0 or 0 <= nodes.min() <= nodes.max() < len(s.q)
    require(s.place, inside, f"nodes must be from 0 to {len(s.q) - 1}, got {nodes.min()} to {nodes.max()}.")


def _require_shape(s: Subject, name: str, found: Array, shape: tuple[int, ...]) -> None:
    require(s.place, np.shape(found) == shape, f"{name} must have the shape {shape}, got {np.shape(found)}.")


@_promise(general=True)
def gradient_is_the_slope_of_the_value(s: Subject) -> None:
    """By central differences."""
    for x in s.places:
        gradient, value = s.energy.gradient(x), s.energy.value(x)
        _require_shape(s, "value", value, (len(x),))
        _require_shape(s, "gradient", gradient, x.shape)
        step, size = 1e-5 * s.length, np.abs(gradient).max(initial=0.0)
        known_to = round_off.of(np.abs(value).max(initial=0.0) + size * np.abs(x).max(), 10) / step
        flat = gradient.reshape(len(x), -1)
        what = "gradient must be the slope of value"
        require_slope(s.place, what, flat, s.energy.value, x, step, 3e-6 * size + known_to)


@_promise(general=True)
def hessian_is_the_slope_of_the_gradient(s: Subject) -> None:
    """By central differences."""
    for x in s.places:
        hessian = s.energy.hessian(x)
        m, k, dim = x.shape
        _require_shape(s, "hessian", hessian, (m, k * dim, k * dim))
        step, size = 1e-6 * s.length, np.abs(hessian).max(initial=0.0)
        known_to = round_off.of(np.abs(s.energy.gradient(x)).max(initial=0.0)) / step
        what = "hessian must be the slope of gradient"
        require_slope(s.place, what, hessian, s.energy.gradient, x, step, 1e-6 * size + known_to)


@_promise(general=True)
def hessian_is_symmetric(s: Subject) -> None:
    """To round-off."""
    H = s.hessian
    require_close(s.place, "hessian must be symmetric", H, H.transpose(0, 2, 1), 1e-14 * np.abs(H).max(initial=0.0))


@_promise(general=True)
def local_functions_are_pure(s: Subject) -> None:
    """The same again, and positions are left as they were."""
    energy, x = s.energy, s.x.copy()
    names = "value", "gradient", "hessian"
    first = [getattr(energy, name)(x).copy() for name in names]
    second = [getattr(energy, name)(x) for name in names]
    require(
        s.place, np.array_equal(x, s.x), "value, gradient and hessian must not change the positions that they take."
    )
    for name, one, other in zip(names, first, second, strict=True):
        require(s.place, np.array_equal(one, other), f"{name} must be the same when it is called again.")


# -- rigid motions ----------------------------------------------------------------------------------------------------


def _turning(dim: int) -> Array:
    """Return a skew matrix A of velocities A x: a turn about an axis, or in the plane; on a line there is none."""
    turn = np.zeros((dim, dim))
    for (i, j), rate in zip(itertools.combinations(range(dim), 2), (-2.0, -1.0, -0.3), strict=False):
        turn[i, j], turn[j, i] = rate, -rate
    return turn


def _moments(x: Array, f: Array) -> Array:
    """Return Σ x_i f_j − x_j f_i [m, dim, dim] of stencils."""
    product = np.einsum("mai,maj->mij", x, f)
    return product - product.swapaxes(1, 2)


@_promise()
def energy_does_not_feel_rigid_motions(s: Subject) -> None:
    """Those that it is invariant to; if these are known exactly, it feels others."""
    dim, rng = s.q.shape[1], np.random.default_rng(6)
    turn, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
    turn[:, 0] *= np.linalg.det(turn)
    shift = s.length * rng.standard_normal(dim)
    before = s.energy.value(s.x)
    if s.exact is not None and not s.is_rigid:
        after = s.energy.value((s.q @ turn.T + shift)[s.nodes])
        change = np.abs(after - before).max() > 1e-3 * np.abs(before).max()
        require(s.place, bool(change), "value is the same after a rigid motion; declare its invariances.")
    turn = turn if "rotations" in s.motions else np.eye(dim)
    shift = shift if "translations" in s.motions else np.zeros(dim)
    if not s.motions or (dim == 1 and not shift.any()):
        return
    moved = (s.q @ turn.T + shift)[s.nodes]
    known_to = 1e-9 * np.abs(before) + round_off.of_values(s.energy, s.x, moved)
    what = f"value must not change under {' and '.join(sorted(s.motions))}"
    require_close(s.place, what, s.energy.value(moved), before, known_to, "J")
    expected = s.gradient @ turn.T
    size = np.abs(expected).max(initial=0.0)
    known_to = 1e-11 * size + round_off.of(np.abs(s.hessian).max(initial=0.0) * np.abs(moved).max())
    what = f"gradient must follow {' and '.join(sorted(s.motions))}"
    require_close(s.place, what, s.energy.gradient(moved), expected, known_to, "N")


@_promise()
def forces_and_moments_sum_to_zero(s: Subject) -> None:
    """As far as it is invariant; if that is known exactly, forces of others do not."""
    resultant, size = s.gradient.sum(axis=1), np.abs(s.gradient).max(initial=0.0)
    lost = round_off.of(np.abs(s.hessian).max(initial=0.0) * np.abs(s.x - s.x.mean(axis=1, keepdims=True)).max())
    if "translations" in s.motions:
        what = "forces of a stencil must sum to zero"
        require_close(s.place, what, resultant, np.zeros_like(resultant), 1e-14 * size + 0.1 * lost, "N")
    elif s.exact is not None:
        shifts = np.abs(resultant).max() > 0.1 * size
        require(s.place, bool(shifts), "forces of each stencil sum to zero; declare invariance to translations.")
    if s.is_rigid:
        moments = _moments(s.x - s.x.mean(axis=1, keepdims=True), s.gradient)
        what = "moments of a stencil must sum to zero"
        bound = (1e-13 * size + lost) * s.length
        require_close(s.place, what, moments, np.zeros_like(moments), bound, "N m")


@_promise(motions="rigid")
def hessian_knows_rigid_motions(s: Subject) -> None:
    """∇²φ·(translation) = 0 and ∇²φ·(A x) = A ∇φ."""
    m, k, dim = s.x.shape
    size, turn = np.abs(s.hessian).max(), _turning(dim)
    shifted = s.hessian @ np.tile(np.array([1.0, -2.0, 0.5])[:dim], k)
    bound = s.rounding * size
    require_close(s.place, "hessian must not feel translations", shifted, np.zeros_like(shifted), bound, "N/m")
    turned = np.einsum("mij,mj->mi", s.hessian, (s.x @ turn.T).reshape(m, -1))
    expected = (s.gradient @ turn.T).reshape(m, -1)
    bound *= 10.0 * np.abs(s.x).max()
    require_close(s.place, "hessian must turn the gradient with the positions", turned, expected, bound, "N")


# -- discrete gradients -----------------------------------------------------------------------------------------------


@_promise(general=True)
def discrete_gradient_gives_the_difference_of_the_value(s: Subject) -> None:
    """DG·Δx = Δφ."""
    value = s.energy.value(s.x)
    for name, x1 in s.ends.items():
        found = np.einsum("mai,mai->m", s.energy.discrete_gradient(s.x, x1), x1 - s.x)
        expected = s.energy.value(x1) - value
        # Gauss' rule along the segment of a law of a user errs by 5e-9 in the longest increments.
        bound = 1e-7 * np.abs(expected) + round_off.of_values(s.energy, s.x, x1)
        what = f"discrete gradient times the increment must be the difference of value ({name})"
        require_close(s.place, what, found, expected, bound)


@_promise(general=True)
def discrete_gradient_does_not_lose_digits_of_small_increments(s: Subject) -> None:
    """It is the gradient at the midpoint to second order in the increment, without any noise divided by it."""
    curvature = s.length * np.abs(s.hessian).max(initial=0.0)
    for name, x1 in s.ends.items():
        if not name.endswith(tuple(f" {amount:g}" for amount in INCREMENTS[2:])):
            continue
        change = np.abs(x1 - s.x).max() / s.length
        between = s.energy.gradient(0.5 * (s.x + x1))
        size = np.abs(between).max(initial=0.0) + curvature
        # At the edge of contact the gradient has a kink, and the two differ by the first order.
        what = f"discrete gradient must be nearly the gradient at the middle ({name})"
        require_close(s.place, what, s.energy.discrete_gradient(s.x, x1), between, (1e-13 + 0.1 * change) * size)


@_promise(general=True)
def discrete_gradient_is_symmetric_in_both_ends(s: Subject) -> None:
    """The same forwards and backwards."""
    for name, x1 in s.ends.items():
        there, back = s.energy.discrete_gradient(s.x, x1), s.energy.discrete_gradient(x1, s.x)
        what = f"discrete gradient must be the same backwards ({name})"
        require_close(s.place, what, back, there, 1e-13 * np.abs(there).max(initial=0.0))


@_promise(general=True)
def discrete_gradient_at_one_point_is_the_gradient(s: Subject) -> None:
    """DG(x, x) = ∇φ."""
    found, bound = s.energy.discrete_gradient(s.x, s.x), 1e-13 * np.abs(s.gradient).max(initial=0.0)
    require_close(s.place, "discrete gradient at one point must be the gradient", found, s.gradient, bound)


@_promise(motions="rigid")
def discrete_forces_and_moments_sum_to_zero(s: Subject) -> None:
    """Moments at the middle."""
    for name, x1 in s.ends.items():
        forces, middle = s.energy.discrete_gradient(s.x, x1), 0.5 * (s.x + x1)
        size, resultant = np.abs(forces).max(initial=0.0), forces.sum(axis=1)
        what = f"discrete forces of a stencil must sum to zero ({name})"
        require_close(s.place, what, resultant, np.zeros_like(resultant), 1e-13 * size, "N")
        moments = _moments(middle - middle.mean(axis=1, keepdims=True), forces)
        what = f"moments of discrete forces at the middle must sum to zero ({name})"
        require_close(s.place, what, moments, np.zeros_like(moments), 1e-13 * size * s.length, "N m")


@_promise(motions="declared")
def discrete_forces_have_no_power_in_motions_that_leave_the_energy_alike(s: Subject) -> None:
    """Of its `generators`."""
    A, b = s.energy.generators(s.x.shape[2])  # pyright: ignore[reportAttributeAccessIssue]
    for name, x1 in s.ends.items():
        forces, middle = s.energy.discrete_gradient(s.x, x1), 0.5 * (s.x + x1)
        velocities = np.einsum("rij,maj->mrai", A, middle) + b[None, :, None]
        power = np.einsum("mai,mrai->mr", forces, velocities)
        bound = 2e-14 * np.abs(forces).max(initial=0.0) * max(1.0, np.abs(middle).max())
        what = f"discrete forces must have no power in motions that leave value as it is ({name})"
        require_close(s.place, what, power, np.zeros_like(power), bound)


@_promise(general=True)
def discrete_hessian_is_the_slope_of_the_discrete_gradient(s: Subject) -> None:
    """By the end of the increment."""
    m, k, dim = s.x.shape
    for name, x1 in s.ends.items():
        hessian = s.energy.discrete_hessian(s.x, x1)
        _require_shape(s, "discrete_hessian", hessian, (m, k * dim, k * dim))
        what = f"discrete_hessian must be the slope of the discrete gradient ({name})"
        step, size = 1e-6 * s.length, np.abs(hessian).max(initial=0.0)
        known_to = round_off.of(np.abs(s.energy.discrete_gradient(s.x, x1)).max(initial=0.0)) / step
        slope = lambda x: s.energy.discrete_gradient(s.x, x)  # noqa: E731
        require_slope(s.place, what, hessian, slope, x1, step, 1e-6 * size + known_to)


def _require_added(s: Subject, what: str, found: Array, expected: Array, relative: float = 1e-13) -> None:
    bound = 1e-12 * np.abs(expected) + relative * np.abs(expected).max(initial=0.0)
    require_close(s.place, f"{what} must add up what its stencils have", found, expected, bound)


@_promise()
def discrete_forms_are_scattered_and_added(s: Subject) -> None:
    """Also to what is there already."""
    energy, q0 = s.energy, s.q
    assert isinstance(energy, Energy)
    q1 = q0 + 0.02 * s.length * np.random.default_rng(12).standard_normal(q0.shape)
    expected, out = np.zeros_like(q0), np.zeros_like(q0)
    np.add.at(expected, energy.nodes, energy.discrete_gradient(q0[energy.nodes], q1[energy.nodes]))
    energy.add_discrete_gradient(q0, q1, out)
    energy.add_discrete_gradient(q0, q1, out)
    _require_added(s, "add_discrete_gradient", out, 2.0 * expected)

    pattern = Pattern(len(q0), [energy.nodes])
    generic, blocks = pattern.zeros(q0.shape[1]), pattern.zeros(q0.shape[1])
    Energy.add_discrete_hessian(energy, q0, q1, pattern.slots[0], generic)
    energy.add_discrete_hessian(q0, q1, pattern.slots[0], blocks)
    energy.add_discrete_hessian(q0, q1, pattern.slots[0], blocks)
    _require_added(s, "add_discrete_hessian", blocks, 2.0 * generic, 1e-12)


# -- secant forms -----------------------------------------------------------------------------------------------------


def _velocities(s: Subject) -> Array:
    return np.random.default_rng(13).standard_normal(s.q.shape)[s.nodes]


@_promise(form="secant")
def secant_times_positions_is_the_gradient(s: Subject) -> None:
    """𝓕 x = ∇φ."""
    secant = s.energy.secant(s.x)  # pyright: ignore[reportAttributeAccessIssue]
    k = s.nodes.shape[1]
    require(s.place, secant.shape == (len(s.x), k, k), f"secant must be [m, k, k], got {secant.shape}.")
    # Positions are far larger than strains: what is lost is the round-off of stiffness × position.
    lost = 1e-14 * np.abs(secant).max() * np.abs(s.x).max()
    require_close(s.place, "secant times positions must be the gradient", secant @ s.x, s.gradient, lost, "N")


@_promise(form="secant")
def secant_and_its_rate_are_symmetric_with_rows_that_sum_to_zero(s: Subject) -> None:
    """Symmetric exactly, so that what one node gives another takes."""
    for name, matrices in (
        ("secant", s.energy.secant(s.x)),  # pyright: ignore[reportAttributeAccessIssue]
        ("secant_rate", s.energy.secant_rate(s.x, _velocities(s))),  # pyright: ignore[reportAttributeAccessIssue]
    ):
        require_close(s.place, f"{name} must be symmetric, exactly", matrices, matrices.transpose(0, 2, 1), 0.0)
        rows = matrices.sum(axis=2)
        bound = 1e-14 * np.abs(matrices).max(initial=0.0)
        require_close(s.place, f"rows of {name} must sum to zero", rows, np.zeros_like(rows), bound)


@_promise(form="secant")
def secant_rate_is_the_slope_of_the_secant(s: Subject) -> None:
    """By central differences."""
    energy, w, step = s.energy, _velocities(s), 1e-6 * s.length
    assert isinstance(energy, Energy)
    slope = (energy.secant(s.x + step * w) - energy.secant(s.x - step * w)) / (2 * step)
    bound = 1e-6 * np.abs(slope).max() + round_off.of(np.abs(energy.secant(s.x)).max()) / step
    require_close(s.place, "secant_rate must be the slope of secant", energy.secant_rate(s.x, w), slope, bound)


@_promise(form="secant")
def secant_rate_is_linear_in_the_velocities(s: Subject) -> None:
    """To round-off."""
    energy, w, other = s.energy, _velocities(s), np.random.default_rng(14).standard_normal(s.q.shape)[s.nodes]
    assert isinstance(energy, Energy)
    both = energy.secant_rate(s.x, 2.0 * w - 3.0 * other)
    parts = 2.0 * energy.secant_rate(s.x, w) - 3.0 * energy.secant_rate(s.x, other)
    require_close(s.place, "secant_rate must be linear in velocities", both, parts, 1e-13 * np.abs(both).max())


@_promise(form="secant")
def secant_does_not_feel_rigid_velocities(s: Subject) -> None:
    """Its rate vanishes with them."""
    energy, dim = s.energy, s.q.shape[1]
    assert isinstance(energy, Energy)
    rigid = (np.array([1.0, 2.0, -0.5])[:dim] + s.q @ _turning(dim).T)[s.nodes]
    rate = energy.secant_rate(s.x, rigid)
    bound = 1e-13 * np.abs(energy.secant_rate(s.x, _velocities(s))).max()
    require_close(s.place, "secant_rate must not feel rigid velocities", rate, np.zeros_like(rate), bound)


@_promise(form="secant")
def secant_forms_are_scattered_and_added(s: Subject) -> None:
    """Also to what is there already."""
    energy, v = s.energy, np.random.default_rng(13).standard_normal(s.q.shape)
    assert isinstance(energy, Energy)
    pattern = Pattern(len(s.q), [energy.nodes])
    slots = pattern.slots[0]
    local = energy.secant(s.x), energy.secant_rate(s.x, v[energy.nodes])
    adds = (energy.add_secant, (s.q,)), (energy.add_secant_rate, (s.q, v))
    for matrices, (add, motion) in zip(local, adds, strict=True):
        before = np.random.default_rng(15).standard_normal(len(pattern.indices)) * np.abs(matrices).max()
        expected, out = before.copy(), before.copy()
        np.add.at(expected, slots, matrices)
        add(*motion, slots, out)  # pyright: ignore[reportCallIssue]
        _require_added(s, add.__name__, out, expected)


# -- third derivatives ------------------------------------------------------------------------------------------------


def _direction(s: Subject) -> Array:
    return (s.length * np.random.default_rng(13).standard_normal(s.q.shape))[s.nodes]


def _bent(s: Subject, x: Array, a: Array) -> Array:
    """Return ∇²φ a [m, k·dim]."""
    return np.einsum("mij,mj->mi", s.energy.hessian(x), a.reshape(len(x), -1))


@_promise(form="third")
def third_derivative_is_the_slope_of_the_hessian(s: Subject) -> None:
    """∇³φ[a, a] is the derivative of ∇²φ a along a, and the second derivative of ∇φ."""
    x, a = s.x, _direction(s)
    third = s.energy.third(x, a)
    require(s.place, third.shape == x.shape, f"third must have the shape of x, {x.shape}, got {third.shape}.")
    step, size = 1e-5, np.abs(s.hessian).max() * s.length
    slope = ((_bent(s, x + step * a, a) - _bent(s, x - step * a, a)) / (2 * step)).reshape(x.shape)
    bound = 1e-7 * np.abs(slope) + 1e-8 * np.abs(third).max() + 1e-9 * size
    require_close(s.place, "third must be the slope of hessian", third, slope, bound)
    step = 1e-3
    second = (s.energy.gradient(x + step * a) - 2.0 * s.gradient + s.energy.gradient(x - step * a)) / step**2
    bound = 3e-4 * np.abs(third).max() + 1e-7 * size
    require_close(s.place, "third must be the second derivative of gradient", third, second, bound)


@_promise(form="third")
def third_derivative_is_quadratic_in_the_direction(s: Subject) -> None:
    """To round-off."""
    a = _direction(s)
    third = s.energy.third(s.x, a)
    found, bound = s.energy.third(s.x, -3.0 * a), 1e-13 * np.abs(third).max()
    require_close(s.place, "third must be quadratic in the direction", found, 9.0 * third, bound)


@_promise(form="third", motions="translations")
def third_derivative_knows_rigid_motions(s: Subject) -> None:
    """Differentiating Σ ∇φ = 0 and Σ x × ∇φ = 0 twice: Σ T = 0 and Σ (x × T + 2 a × ∇²φ a) = 0."""
    x, a = s.x, _direction(s)
    third, curved = s.energy.third(x, a), _bent(s, x, a).reshape(x.shape)
    size, resultant = np.abs(third).max() + np.abs(curved).max(), third.sum(axis=1)
    require_close(s.place, "third must sum to zero over nodes", resultant, np.zeros_like(resultant), 1e-13 * size)
    if s.is_rigid:
        moments = _moments(x, third) + 2.0 * _moments(a, curved)
        bound = 1e-12 * size * (np.abs(x).max() + np.abs(a).max())
        require_close(s.place, "third must have the moments of rotations", moments, np.zeros_like(moments), bound)


@_promise(form="third")
def third_derivative_is_scattered_and_added(s: Subject) -> None:
    """Also to what is there already."""
    energy, a = s.energy, s.length * np.random.default_rng(13).standard_normal(s.q.shape)
    assert isinstance(energy, Energy)
    expected = np.random.default_rng(14).standard_normal(s.q.shape)
    out = expected.copy()
    np.add.at(expected, energy.nodes, energy.third(s.x, a[energy.nodes]))
    energy.add_third(s.q, a, out)
    _require_added(s, "add_third", out, expected, 1e-12)


# -- mean strains ------------------------------------------------------------------------------------------------------


def _far_end(s: Subject) -> Array:
    return s.q + 0.04 * s.length * np.random.default_rng(16).standard_normal(s.q.shape)


@_promise(form="mean_gradient")
def mean_gradient_is_symmetric_and_at_one_point_the_gradient(s: Subject) -> None:
    """To round-off."""
    energy, x1 = s.energy, _far_end(s)[s.nodes]
    assert isinstance(energy, Energy)
    there, back = energy.mean_gradient(s.x, x1), energy.mean_gradient(x1, s.x)
    require_close(s.place, "mean_gradient must be the same backwards", back, there, 1e-13 * np.abs(there).max())
    at, bound = energy.mean_gradient(s.x, s.x), 1e-13 * np.abs(s.gradient).max()
    require_close(s.place, "mean_gradient at one point must be the gradient", at, s.gradient, bound)


@_promise(form="mean_gradient")
def mean_gradient_does_the_work_of_the_energy_to_third_order(s: Subject) -> None:
    """What it errs by falls by eight where the increment is halved."""
    energy, dx = s.energy, _far_end(s)[s.nodes] - s.x
    assert isinstance(energy, Energy)
    errors = []
    for part in (0.25, 0.125):
        x1 = s.x + part * dx
        work = np.einsum("mai,mai->m", energy.mean_gradient(s.x, x1), x1 - s.x)
        errors.append(np.abs(work - energy.value(x1) + energy.value(s.x)).max())
    allowed = errors[0] / 6 + round_off.of_values(energy, s.x, s.x + 0.25 * dx)
    require_close(s.place, "mean_gradient must do the work of value to third order", errors[1], 0.0, allowed, "J")


@_promise(form="mean_gradient", motions="rigid")
def mean_forces_and_moments_sum_to_zero(s: Subject) -> None:
    """Moments at the middle."""
    x1 = _far_end(s)[s.nodes]
    forces, middle = s.energy.mean_gradient(s.x, x1), 0.5 * (s.x + x1)  # pyright: ignore[reportAttributeAccessIssue]
    size, resultant = np.abs(forces).max(), forces.sum(axis=1)
    require_close(s.place, "mean forces must sum to zero", resultant, np.zeros_like(resultant), 1e-14 * size, "N")
    moments = _moments(middle - middle.mean(axis=1, keepdims=True), forces)
    bound = 1e-13 * size * s.length
    require_close(s.place, "moments of mean forces must sum to zero", moments, np.zeros_like(moments), bound, "N m")


@_promise(form="mean_gradient")
def mean_forms_are_scattered_and_added(s: Subject) -> None:
    """Also to what is there already."""
    energy, q1 = s.energy, _far_end(s)
    assert isinstance(energy, Energy)
    expected = np.random.default_rng(17).standard_normal(s.q.shape)
    out = expected.copy()
    np.add.at(expected, energy.nodes, energy.mean_gradient(s.x, q1[energy.nodes]))
    energy.add_mean_gradient(s.q, q1, out)
    _require_added(s, "add_mean_gradient", out, expected)


# -- assembled forms --------------------------------------------------------------------------------------------------


@_promise()
def total_is_the_sum(s: Subject) -> None:
    """Of values, fused or not."""
    energy = s.energy
    assert isinstance(energy, Energy)
    values = energy.value(s.x)
    bound = 1e-12 * abs(values.sum()) + round_off.of(np.abs(values).sum())
    require_close(s.place, "total must be the sum of value", energy.total(s.q), values.sum(), bound, "J")
    require_close(s.place, "total must be the sum of value", Energy.total(energy, s.q), values.sum(), bound, "J")


@_promise()
def gradient_is_scattered_and_added(s: Subject) -> None:
    """Also to what is there already."""
    energy = s.energy
    assert isinstance(energy, Energy)
    before = np.random.default_rng(7).standard_normal(s.q.shape)
    expected, generic, out = before.copy(), before.copy(), before.copy()
    np.add.at(expected, energy.nodes, s.gradient)
    Energy.add_gradient(energy, s.q, generic)
    energy.add_gradient(s.q, out)
    _require_added(s, "add_gradient", generic, expected)
    _require_added(s, "add_gradient", out, expected)


@_promise()
def hessian_is_scattered_and_added(s: Subject) -> None:
    """To the blocks of a matrix."""
    energy, (n, dim) = s.energy, s.q.shape
    assert isinstance(energy, Energy)
    pattern = Pattern(n, [energy.nodes])
    before = np.random.default_rng(8).standard_normal((len(pattern.indices), dim, dim))
    generic, out = before.copy(), before.copy()
    Energy.add_hessian(energy, s.q, pattern.slots[0], generic)
    energy.add_hessian(s.q, pattern.slots[0], out)
    _require_added(s, "add_hessian", out, generic)

    k = energy.nodes.shape[1]
    dense = np.zeros((n, dim, n, dim))
    for nodes, local in zip(energy.nodes, s.hessian, strict=True):
        np.add.at(dense, np.ix_(nodes, range(dim), nodes, range(dim)), local.reshape(k, dim, k, dim))
    matrix = pattern.matrix(generic - before).toarray()
    bound = 1e-12 * np.abs(generic).max(initial=0.0)
    require_close(s.place, "add_hessian must add up hessian", matrix, dense.reshape(n * dim, n * dim), bound, "N/m")


@_promise()
def latent_stiffness_is_not_negative(s: Subject) -> None:
    """One number for each node."""
    latent = contact_of(s.energy).contact_stiffness_bound(len(s.q))  # pyright: ignore[reportArgumentType]
    right = latent.shape == (len(s.q),) and latent.min() >= 0.0
    require(s.place, bool(right), "contact_stiffness_bound must be one number for each node, none negative.")


# -- lattice functions ------------------------------------------------------------------------------------------------

_DOUBLE, _INT, _POINTER = ctypes.c_double, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)


def _at(x: Array):
    """The coordinates of a stencil as C takes them; the array must outlive the call."""
    return x.ctypes.data_as(_POINTER)


def _lattices(s: Subject):
    """Yield lattice functions along the axes of space, and in rotated axes (rows)."""
    energy, dim = s.energy, s.q.shape[1]
    assert isinstance(energy, Energy)
    rotated, _ = np.linalg.qr(np.random.default_rng(10).standard_normal((dim, dim)))
    rotated[0] *= np.linalg.det(rotated)
    for axes in (None if dim == 3 else np.eye(dim), rotated):
        functions = energy.lattice_functions(axes)
        rows = np.ascontiguousarray(functions.parameters, dtype=float)
        require(s.place, len(rows) == len(energy.nodes), "parameters of lattice_functions must be one row per stencil.")
        value = ctypes.CFUNCTYPE(_DOUBLE, _POINTER, _POINTER)(functions.value)
        difference = ctypes.CFUNCTYPE(_DOUBLE, _POINTER, _POINTER, _INT, _DOUBLE)(functions.difference)
        mixed = ctypes.CFUNCTYPE(_DOUBLE, _POINTER, _POINTER, _INT, _INT, _DOUBLE, _DOUBLE)(functions.mixed)
        turn = np.eye(dim) if axes is None else axes
        # The functions own what is behind the addresses: they must live as long.
        alive = functions, rows
        yield (
            lambda x, turn=turn: energy.value(x @ turn),
            s.x @ turn.T,
            (alive, [_at(row) for row in rows]),
            (
                value,
                difference,
                mixed,
            ),
        )


@_promise("lattice_functions")
def lattice_value_is_the_value(s: Subject) -> None:
    """In any axes."""
    for phi, x, (_, p), (value, _, _) in _lattices(s):
        found = [value(p[e], _at(np.ascontiguousarray(x[e]))) for e in range(len(x))]
        expected = phi(x)
        bound = 1e-10 * np.abs(expected) + 1e-12 * np.abs(expected).max(initial=0.0)
        require_close(s.place, "value of lattice_functions must be value", found, expected, bound, "J")


@_promise("lattice_functions")
def lattice_differences_are_differences_of_the_value(s: Subject) -> None:
    """Of some pairs of coordinates, one moved twice among them."""
    for phi_at, x, (_, p), (_, difference, mixed) in _lattices(s):
        _check_differences(s, phi_at, x, p, difference, mixed)


def _check_differences(s: Subject, phi_at, x: Array, p: list, difference, mixed) -> None:
    m, k, dim = x.shape
    flat = x.reshape(m, -1).copy()
    here = [_at(row) for row in flat]

    @cache
    def moved(*by):
        """The values with some coordinates moved by some steps."""
        y = flat.copy()
        for i, amount in by:
            y[:, i] += amount
        return phi_at(y.reshape(x.shape))

    phi = moved()
    size, rng = np.abs(phi).max(initial=0.0), np.random.default_rng(9)
    pairs = [rng.choice(k * dim, 2, replace=False) for _ in range(12)] if k * dim > 1 else []
    pairs += [np.full(2, i) for i in rng.integers(k * dim, size=3)]  # one coordinate, moved twice
    stride = max(1, m // 12)
    for first, (i, j) in enumerate(np.array(pairs).tolist()):
        some = slice(first % stride, None, stride)  # of many stencils each is in some of the pairs
        for step, sign in itertools.product((0.1, 1e-3), (1.0, -1.0)):
            hi, hj = sign * step * s.length, 0.7 * step * s.length
            try:
                phi_i, phi_j, phi_ij = (moved(*by)[some] for by in (((i, hi),), ((j, hj),), ((i, hi), (j, hj))))
            except StepFailed:
                if step < 0.1:
                    raise
                continue
            d = np.array([difference(row, x_e, i, hi) for row, x_e in zip(p[some], here[some], strict=True)])
            d2 = np.array([mixed(row, x_e, i, j, hi, hj) for row, x_e in zip(p[some], here[some], strict=True)])
            expected = phi_i - phi[some]
            what = "differences of lattice_functions must be those of value"
            bound = 1e-7 * np.abs(expected) + 1e-9 * np.abs(expected).max(initial=0.0) + 1e-12 * size
            require_close(s.place, what, d, expected, bound, "J")
            bound = 1e-7 * np.abs(d2) + 1e-9 * np.abs(d2).max(initial=0.0) + 1e-12 * size
            require_close(s.place, f"mixed {what}", d2, phi_ij - phi_j - expected, bound, "J")
    require(s.place, np.array_equal(flat, x.reshape(m, -1)), "lattice_functions must not change positions.")
