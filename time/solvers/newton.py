"""Newton's method for the increment of an implicit step, down to the floor of round-off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.quantities import Key, fraction, whole
from symplex.errors import StepFailed
from symplex.fem.assembly.copying import own_parts
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.system import System
from symplex.time.solvers.continuation import followed
from symplex.time.solvers.linear import Linear, linear_solver, require_solver
from symplex.time.solvers.linear_solver import COUNTS, LinearSolver
from symplex.time.solvers.step_equations import PartOfStep, StepEquations, residual, tangent, tangent_in_space

FOUND, MANY, STUCK = range(3)  # how Newton's method ends: all corrections were taken, or one cannot be
MOST_ITERATIONS = 100_000
MOST_HALVINGS = 30  # to 1e-9 of a step
EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)
FLOOR = 16.0  # how far above the estimate of round-off a residual may be and still count as round-off
DESCENT = 1e-4  # of the residual, for a full step; in proportion for a part of one
HALVINGS = 12
LEAPS = 8  # whole corrections in a step that may be taken although nothing gets better
STAGNATION = 0.25  # at the floor, a correction that does not do better than this factor is the last
SHORTER = 0.25  # by which part of it the next correction by the same matrix is to be shorter than a full one
STALLED = 10.0  # floors below which a residual that no longer falls is solved, as at kinks in quotients of energies
NOT_ROUND_OFF = 0.1  # of a correction: if the next one is shorter, the first was no round-off
FALLING = 1e-3  # a residual that falls by this factor converges quadratically, and is not stopped
_PATIENCE = 20  # corrections: where fewer are allowed, it is not tried to follow the root instead
_CONTRACTION = 0.5  # of each correction from the last, at a root that is followed from part to part of a step,
_FOLLOWED = 8  # where it takes so many at most
_CLOSE = 1e-4  # part of an increment that such a root may err by
# Relative error of a linear solution, at most; it falls with the residual. At 0.1 steps take a fifth more corrections.
_FORCING = 1e-2


@checked
@final
@dataclass(frozen=True)
class Newton:
    """How the equations of an implicit step are solved.

    Parameters
    ----------
    iterations : int, default 50
        Newton iterations after which a step fails, unless they converge quadratically. Four or five are usual.
    linear : str, default "auto"
        The linear solver: direct ``"dense"`` or ``"sparse"``; iterative ``"krylov"``, or
        ``"petsc"`` (needs petsc4py); ``"auto"`` by cost, with small systems in one compiled loop.
    halvings : int, optional
        Cutbacks: how often a failed step may be halved; default: 6 where bodies must not pass through each other, else
        0. The parts conserve what the method conserves in each step, but steps of different sizes are not symmetric,
        and energy is not bounded by symplecticity.
    tolerance : float, default 0
        Residual, relative to the first one of a step, that counts as solved; with 0 steps are solved to round-off, as
        conservation requires. Small systems in compiled loops are always solved to round-off.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    iterations: Annotated[int, whole(1, MOST_ITERATIONS)] = 50
    linear: Annotated[Linear, Key("solver")] = "auto"
    halvings: Annotated[int | None, whole(0, MOST_HALVINGS)] = None
    tolerance: Annotated[float, fraction()] = 0.0


def masses_of_norms(system: System) -> Array:
    """Return the masses [n] in kg that norms |M^(−1/2) r| are weighted by; a massless node counts like the others."""
    lumped = np.asarray(system.mass if system.is_lumped else system.mass.diagonal())  # row sums may be negative
    return np.where(system.massless, lumped[~system.massless].mean(), lumped)


def newtons_method(evaluate, accept, linearise, correct, put, free_part, is_shorter):
    """Return Newton's method for equations p, made of functions of them: to be run as it is, or compiled.

    ``evaluate(p)`` sets forces and residual of the trial increment and returns the norm of this, infinite without
    forces; ``accept(p, norm)`` goes there; ``linearise(p)`` sets the matrix and returns the floor of the norm, below
    zero if it has no factors; ``correct(p, norm, before, floor)`` sets the correction and returns its product with the
    residual; ``put(p, part)`` sets the trial increment to that after a part of it; ``free_part(p)`` returns the part on
    which nothing passes through a body, ``is_shorter(p, part)`` whether the next correction by the same matrix is
    shorter than this part of it.

    Each correction must make the residual smaller, or else the next correction that the same matrix would give
    (Deuflhard's natural monotonicity test: a stiff body that turns is strained by the square of the correction, which
    the residual takes for a loss). Otherwise it is halved, as it is where the forces are not defined (an inverted
    element). If none of its parts does, the largest with forces is taken as it is, a few times in a step: where a hard
    contact closes that the correction knew nothing of, only the next one can. The end is where the residual is as small
    as round-off lets it be: no longer falling, and below the floor. Forces that are below the floor from the start, as
    small ones are beside much stiffer couplings, still move what is soft by one correction.
    """

    def find(p, norm, limit, enough, descent, halvings, leaps):
        """Correct an accepted increment whose residual has a norm, until this is enough or at its floor.

        Return how that ends, the number of corrections, whether the way was smooth (if not, the root may not be the one
        that small steps lead to) and the floor. Each whole correction is to reduce the norm by a part ``descent``.
        """
        floor, before, corrections, smooth = -1.0, np.inf, 0, True
        while norm > enough:
            if norm > floor:
                floor = linearise(p)
                if floor < 0.0:
                    return STUCK, corrections, smooth, floor
            at_floor = norm <= floor
            if corrections >= limit and not at_floor and norm > FALLING * before:
                stalled = norm <= STALLED * floor and norm > STAGNATION * before
                return FOUND if stalled else MANY, corrections, smooth, floor
            if correct(p, norm, before, floor) < 0.0:  # a direction along which the matrix is negative
                smooth = False
            part, largest, improved, helps = free_part(p), 0.0, np.inf, False
            smooth = smooth and part == 1.0
            for _ in range(1 if at_floor else halvings + 1):
                put(p, part)
                improved = evaluate(p)
                helps = improved < (1.0 - (DESCENT if at_floor else descent) * part) * norm
                if helps:
                    break
                smooth = smooth and at_floor
                if isfinite(improved) and not at_floor:
                    largest = part if largest == 0.0 else largest
                    helps = is_shorter(p, 1.0 - SHORTER * part)
                    if helps:
                        break
                part *= 0.5
            if not helps and at_floor:
                if corrections > 0 or not isfinite(improved) or not is_shorter(p, NOT_ROUND_OFF):
                    break
            elif not helps:
                if largest == 0.0 or leaps == 0:
                    return STUCK, corrections, smooth, floor
                leaps -= 1
                put(p, largest)
                improved = evaluate(p)
            accept(p, improved)
            corrections += 1
            if at_floor and improved > STAGNATION * norm:
                break
            before, norm = norm, improved
        return FOUND, corrections, smooth, floor

    return find


@final
class NewtonSolver:
    """Solves the equations of one step after the other of a system, by `newtons_method`.

    The increment starts at zero, but for supports that move: which root is found is part of a scheme. Norms are
    |M^(−1/2) r|, and their floor is 16 ε (inertia |M||Δq| + |constant| + impulse (|G| + |∂G/∂Δq||q|)).

    Where bodies must not pass through each other, a correction begins with the largest part of it on which nothing
    does, so that a way from the start of the step to its end exists.

    Parameters
    ----------
    system : System
    settings : Newton
    solver : callable, optional
        Returns the linear solver for a pattern and a dimension; default: that of the settings.

    Attributes
    ----------
    increment : float64 [n, dim]
        Δq of the last solution in m.
    forces : float64 [n, dim]
        G there in N.
    share_of : callable, optional
        Returns which part of a correction [n, dim] is taken, even if residuals grow: those of slender beams, stretched
        by the square of what bends them, do before they converge. By default corrections are searched along.
    positions_at : callable, optional
        Returns positions [m, dim] after a part of an increment, on whose straight ways nothing passes through: of
        increments that are not along these ways.
    """

    share_of: Callable[[Array], float] | None = None
    positions_at: Callable[[float, Array], Array] | None = None

    def __init__(self, system: System, settings: Newton, solver: Callable[[Pattern, int], LinearSolver] | None = None):
        self.system = system
        self.settings = settings
        self._solver_for = solver
        if solver is None:
            require_solver(settings.linear)
        self._pattern: Pattern | None = None  # until it is needed: it takes long to find
        self._none_yet: dict[str, int] = dict.fromkeys(COUNTS, 0)
        self._linearised = False
        self._refused = ""  # why the last trial increment has no forces
        self._mass, self._history = masses_of_norms(system), [0.0]
        shape = (system.n_nodes, system.dim)
        self.increment, self.forces, self._residual = (np.zeros(shape) for _ in range(3))
        self._trial, self._trial_forces, self._trial_residual = (np.zeros(shape) for _ in range(3))
        # Of M Δq = factor · x: the masses and Δq, or ones and M Δq for a consistent mass.
        self._factor = np.asarray(system.mass) if system.is_lumped else np.ones(system.n_nodes)

    def _take_pattern(self, system: System) -> None:
        """Take a linear solver for the pattern as it is now."""
        pattern, dim = system.pattern, system.dim
        chosen = self._solver_for
        self._linear = linear_solver(self.settings.linear, pattern, dim) if chosen is None else chosen(pattern, dim)
        self._pattern, self._blocks = pattern, pattern.zeros(dim)

    def _follow_pattern(self) -> None:
        """Take a linear solver, or another one if stencils have changed."""
        if self.system.pattern is not self._pattern:
            counts = self.counts
            self._take_pattern(self.system)
            self.counts.update(counts)

    @property
    def definite(self) -> bool | None:
        """Whether the last matrix of the last solution, if symmetric, was positive definite; None if it needed none."""
        return self._linear.definite if self._linearised else None

    @property
    def counts(self) -> dict[str, int]:
        """What the linear solver counts (see `symplex.time.solvers.linear_solver.COUNTS`)."""
        return self._none_yet if self._pattern is None else self._linear.counts

    def solve(self, equations: StepEquations, q0: Array, start: Array | float = 0.0, follow: bool = False) -> int:
        """Find the increment from the positions q0 [n, dim], and return the number of corrections it took.

        Parameters
        ----------
        equations : StepEquations
        q0 : float64 [n, dim]
            In m.
        start : float64 [n, dim], default 0
            The increment in m to begin with, which fixed coordinates keep.
        follow : bool, default False
            Whether to look for the root that small steps lead to if none is found, or one that they cannot lead to: a
            symmetric matrix is positive for small steps, and as long as their root can be followed. Where that is not
            as far as to this step, what was found is kept.
        """
        self._follow_pattern()
        self._linear.begin()
        limit = self.settings.iterations
        self._q0 = q0
        if not follow or self.system.collision_checked:  # on what is followed, things might pass through
            return self._converge(equations, start, limit)
        try:
            count = self._converge(equations, start, limit)
        except StepFailed:
            near = None if self._impatient else self._followed(equations, start)
            if near is None:
                raise
            return self._converge(equations, near, limit)
        if self._smooth or not equations.symmetric or self._linear.definite:
            return count
        found = self.increment.copy()
        near = self._followed(equations, start)
        return count + self._converge(equations, found if near is None else near, limit)

    def _converge(self, equations: StepEquations, start: Array | float, limit: int) -> int:
        """Find an increment as `solve` does, whichever it is, by a limited number of corrections."""
        self._smooth, self._impatient, self._linearised = True, False, False
        self._equations = equations
        self._trial[...] = start
        self.system.share(self._trial)
        if self.system.collision_checked and np.any(self._trial):
            self.increment.fill(0.0)
            if self._way() < 1.0:
                raise StepFailed("supports, or what moves with them, pass through a body within the step.")
        norm = self._evaluate()
        if not isfinite(norm):
            raise StepFailed("the forces at the beginning of the step are not finite.")
        self._history = []
        self._accept(norm)
        enough = self.settings.tolerance * norm
        find = _find if self.share_of is None else _find_limited
        end, count, self._smooth, floor = find(self, norm, limit, enough, DESCENT, HALVINGS, LEAPS)
        if end != FOUND:
            self._impatient = end == MANY and limit < _PATIENCE
            raise self._failure(floor)
        return count

    def _evaluate(self) -> float:
        """Set the forces and the residual of the trial increment; return the norm of the residual."""
        return float(np.sqrt(self.system.agreed(self._set_residual)))

    def _try(self) -> float:
        """Do so; infinite where there are no forces, or where an increment that is not straight passes through."""
        try:
            if self.positions_at is not None and self.system.collision_checked:
                for seen in self._equations.seen:
                    self.system.require_no_crossing(
                        self._positions(seen, self.increment), self._positions(seen, self._trial)
                    )
            return self._evaluate()
        except StepFailed as error:
            self._refused = str(error)
            return np.inf

    def _set_residual(self) -> float:
        """Set both; return the square of the norm over the nodes that have their equations here."""
        system, dq, equations = self.system, self._trial, self._equations
        equations.forces(dq, self._trial_forces)
        return residual(
            equations.inertia,
            self._factor,
            dq if system.is_lumped else system.apply_mass(dq),
            equations.impulse,
            self._trial_forces,
            equations.constant,
            system.fixed,
            self._mass,
            self._trial_residual[: system.n_own],
        )

    def _accept(self, norm: float) -> None:
        self._refused = ""
        self._history.append(norm)
        self.increment, self._trial = self._trial, self.increment
        self.forces, self._trial_forces = self._trial_forces, self.forces
        self._residual, self._trial_residual = self._trial_residual, self._residual

    def _linearise(self) -> float:
        """Hand the tangent matrix to the linear solver; return the floor of the residual's norm."""
        equations, q0 = self._equations, self._q0
        self.system.covering(self._set_blocks)
        squared = self.system.agreed(self._set_matrix)
        if not isfinite(squared):
            raise StepFailed("the stiffness is not finite within the step.")
        rows, columns = equations.at
        end = None if rows == columns else q0 + columns * self.increment
        self._linear.update(self._blocks, equations.symmetric, q0 + rows * self.increment, end)
        self._linearised = True
        return FLOOR * EPS * float(np.sqrt(squared))

    def _set_blocks(self) -> None:
        """Set the blocks to the derivatives of the forces."""
        self._follow_pattern()
        self._equations.blocks(self.increment, self._blocks)

    def _set_matrix(self) -> float:
        """Make these blocks the tangent matrix; return the square of what the round-off of the residual follows from.

        The rows of nodes that have their equations elsewhere are set as well, from the energies that are here.
        """
        system, equations = self.system, self._equations
        arguments = (
            equations.inertia,
            self._held(),
            system.mass_values,
            equations.impulse,
            self.forces,
            equations.constant,
            self.increment,
            self._q0,
            self._mass,
            system.fixed,
            system.pattern.indptr,
            system.pattern.indices,
            self._blocks,
        )
        set_rows = tangent_in_space if system.dim == 3 else tangent
        if system.n_own < system.n_nodes:
            set_rows(*arguments, system.n_own, system.n_nodes)
        return set_rows(*arguments, 0, system.n_own)

    def _held(self) -> float:
        """Return the factor of the masses of fixed coordinates in the matrix; without inertia one by its stiffness."""
        equations = self._equations
        if equations.inertia > 0.0:
            return equations.inertia
        stiffness = equations.impulse * float(np.abs(self._blocks).max(initial=0.0))
        return max(stiffness, _TINY) / float(self._mass.mean())

    def _correct(self, norm: float, before: float, floor: float) -> float:
        """Set the correction, as exactly as Newton's method needs it to stay quadratic; return its product with r.

        That is choice 2 of Eisenstat and Walker (1996) with γ = 1, no smaller than what ends at the floor.
        """
        fall = norm / before if isfinite(before) else 1.0
        tolerance = max(min(_FORCING, fall * fall), min(0.1 * floor / norm, _FORCING))
        self._correction = self._linear.solve(self._residual, tolerance)
        return self.system.dot(self._correction, self._residual)

    def _put(self, part: float) -> None:
        """Set the trial increment to that after a part of the correction."""
        np.multiply(self._correction, -part, out=self._trial)
        self._trial += self.increment

    def _free_part(self) -> float:
        """Return the part of the correction to begin with: on which nothing passes through, if something must not."""
        part = 1.0 if self.share_of is None else self.share_of(self._correction)
        if not self.system.collision_checked:
            return part
        self._put(part)
        return part * self._way()

    def _way(self) -> float:
        """Return a part of the way from the increment to the trial one on which nothing passes through."""
        system, part = self.system, 1.0
        for seen in self._equations.seen:
            q0, q1 = self._positions(seen, self.increment), self._positions(seen, self._trial)
            part = min(part, system.collision_free_fraction(q0, q1))
        return part

    def _positions(self, seen: float, dq: Array) -> Array:
        """Return the positions after a part of an increment."""
        return self._q0 + seen * dq if self.positions_at is None else self.positions_at(seen, dq)

    def _next_is_shorter(self, most: float) -> bool:
        """Return whether the same matrix gives a correction shorter than this part of it at the trial increment."""
        following = self._linear.solve(self._trial_residual, _FORCING)
        return self._length(following) < most * self._length(self._correction)

    def _followed(self, equations: StepEquations, start: Array | float) -> Array | None:
        """Return nearly the root that small steps lead to, if any does."""
        part, fixed, end = PartOfStep(equations), self.system.fixed, np.zeros_like(self.increment) + start
        self._equations = part

        def root(size: float, guess: Array) -> Array | None:
            part.take(size)
            guess[fixed] = size * end[fixed]
            try:
                return self._nearest(guess)
            except StepFailed:
                return None

        return followed(root, np.zeros_like(self.increment))

    def _nearest(self, guess: Array) -> Array | None:
        """Return nearly the root next to a guess, to which whole corrections lead that get shorter fast."""
        self._trial[...] = guess
        last = np.inf
        for _ in range(_FOLLOWED):
            norm = self._evaluate()
            if not isfinite(norm):
                return None
            self._accept(norm)
            if norm <= self._linearise():
                return self.increment.copy()
            if self._equations.symmetric and not self._linear.definite:
                return None
            correction = self._linear.solve(self._residual, _FORCING)
            size = self._length(correction)
            if size > _CONTRACTION * last:
                return None
            np.subtract(self.increment, correction, out=self._trial)
            if size <= _CLOSE * self._length(self._trial):
                return self._trial.copy()
            last = size
        return None

    def _length(self, dq: Array) -> float:
        """Return |M^½ Δq|."""
        return float(np.sqrt(self.system.dot(self._mass[:, None] * dq, dq)))

    def _failure(self, floor: float) -> StepFailed:
        history = self._history
        node, size, names = self.system.foremost(np.abs(self._residual).max(axis=1))
        acting = [f"'{name}'" for name in names]
        # The residual is an impulse; over the step it is a force.
        scale = max(self._equations.impulse, 1e-300)
        fell = ", ".join(f"{norm / history[0]:.1e}" for norm in history[-6:])
        return StepFailed(
            f"Newton's method did not converge: after {len(history) - 1} corrections the residual is "
            f"{size / scale:.2e} N at node {node} ({', '.join(acting) or 'no energy'}), expected "
            f"{size / scale * floor / history[-1]:.0e} N or less. The last residuals, as parts of the first: "
            f"{fell}. Try a smaller step.{_advice(self.system.energies.get(name) for name in names)}"
            + (f" Not all that was tried can be taken: {self._refused}" if self._refused else "")
        )


def _is_no_round_off(solver: NewtonSolver, most: float) -> bool:
    """Return whether a correction may be taken although residuals grow: always, unless it may be round-off alone."""
    return most > NOT_ROUND_OFF or solver._next_is_shorter(most)


_steps = NewtonSolver._try, NewtonSolver._accept, NewtonSolver._linearise, NewtonSolver._correct, NewtonSolver._put
_find = newtons_method(*_steps, NewtonSolver._free_part, NewtonSolver._next_is_shorter)
_find_limited = newtons_method(*_steps, NewtonSolver._free_part, _is_no_round_off)


def _advice(energies: Iterable[Energy | None]) -> str:
    """Return what else may be wrong where an energy that acts is not of the package."""
    own = next((part for energy in energies if energy is not None for part in own_parts(energy)), None)
    if own is None:
        return ""
    return (
        f" If that does not help, the gradient or Hessian of {type(own).__name__} may be inexact: "
        "symplex.testing.check_energy finds where."
    )
