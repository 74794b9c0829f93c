"""Fixed-point iteration accelerated in Krylov's manner, down to the floor of round-off."""

from __future__ import annotations

from math import sqrt
from typing import Protocol, final

from numba import njit

from symplex.errors import StepFailed
from symplex.fem.energy import Array

_DEPTH = 12  # pairs of changes remembered
_HALVINGS = 12
_STAGNATION = 0.5  # at the floor, an iteration that does not do better than this factor is the last
_DEEP = 1.0 / 16.0  # below this part of the floor there is nothing left but round-off
_DEPENDENT = 1e-8  # part of a change of the correction that must be new
_DIVERGED = 4.0  # a correction that is larger than the smallest one by this factor begins anew from there
_PATIENCE = 20  # iterations after which P is made anew
_RESTARTS = 10


class StepProblem(Protocol):
    """The equations g(z) = 0 of a step, for z [2, n, dim], and a matrix P that is nearly the inverse of ∂g/∂z."""

    def residual(self, z: Array) -> Array:
        """Return g(z); `StepFailed` where there is none."""
        ...

    def correction(self, g: Array) -> Array:
        """Return P g."""
        ...

    def renew(self, z: Array) -> bool:
        """Make P for the neighbourhood of z; return whether there is any use in that."""
        ...


@final
class AcceleratedIteration:
    """Solves g(z) = 0 by z += d(z) with d = −P g, made faster by what has been seen of d.

    Each change u of z comes with the change q of d that it made. Of what d is now, the part in the span of the q is
    taken back before the next step: z += (d − Σ (q·d) q) − Σ (q·d) u, with orthonormal q. For a linear problem this is
    GCR, as good as GMRES, with the preconditioner P; for others it is Anderson's acceleration (Washio and Oosterlee,
    1997). It needs neither derivatives nor a linear solution within. Where d grows, it begins anew from the smallest d
    with shorter steps and P for that place.

    Parameters
    ----------
    weights : float64 [n]
        Of the nodes in norms: masses.
    iterations : int
        After which it fails.

    Attributes
    ----------
    z : float64 [2, n, dim]
        The last solution.
    """

    z: Array

    def __init__(self, weights: Array, iterations: int):
        self._weights = weights
        self._iterations = iterations
        self._pairs: list[tuple[Array, Array]] = []

    def solve(self, problem: StepProblem, start: Array, floor: float) -> int:
        """Find z with the norm of g(z) as small as round-off lets it be; return the number of iterations.

        Parameters
        ----------
        problem : StepProblem
        start : float64 [2, n, dim]
            Where several solutions are near, it decides which one is found.
        floor : float
            A norm of g that may be round-off.

        Raises
        ------
        StepFailed
            If g does not become as small as the floor.
        """
        z, g = start, problem.residual(start)
        history = [self.norm(g)]
        d = -problem.correction(g)
        best, damping, restarts, renewed = (self.norm(d), z, g), 1.0, 0, 0
        self._pairs.clear()
        while history[-1] > 0.0:
            if len(history) > self._iterations:
                raise self._failure(history, floor)
            z_next, g = self._evaluate(problem, z, damping * self._accelerated(d))
            damping = 1.0
            history.append(self.norm(g))
            if history[-1] <= floor and (history[-1] <= _DEEP * floor or history[-1] > _STAGNATION * min(history[:-1])):
                self.z = z_next if history[-1] < history[-2] else z
                break
            d_next = -problem.correction(g)
            size = self.norm(d_next)
            if size < best[0]:
                best = size, z_next, g
            diverged = not size < _DIVERGED * best[0]
            if diverged or len(history) - renewed > _PATIENCE:
                restarts += diverged
                if restarts > _RESTARTS or not (problem.renew(best[1]) or diverged):
                    raise self._failure(history, floor)
                renewed = len(history)
                z, g = best[1:]
                d = -problem.correction(g)
                best = self.norm(d), z, g
                damping = 0.5**restarts
                self._pairs.clear()
                continue
            self._remember(z_next - z, d_next - d)
            z, d = z_next, d_next
        else:
            self.z = z
        return len(history) - 1

    def norm(self, g: Array) -> float:
        """Return |g|, weighted."""
        return sqrt(self._dot(g, g))

    def _dot(self, a: Array, b: Array) -> float:
        return _dot(self._weights, a, b)

    def _accelerated(self, d: Array) -> Array:
        u = d.copy()
        for change, known in self._pairs:
            u -= self._dot(known, d) * (change + known)
        return u

    def _evaluate(self, problem: StepProblem, z: Array, u: Array) -> tuple[Array, Array]:
        """Return z + u and the residual there, or at a part of the way where there is none."""
        for _ in range(_HALVINGS):
            try:
                return z + u, problem.residual(z + u)
            except StepFailed:
                u = 0.5 * u
        return z + u, problem.residual(z + u)

    def _remember(self, u: Array, q: Array) -> None:
        size = self.norm(q)
        for change, known in self._pairs:
            part = self._dot(known, q)
            q -= part * known
            u -= part * change
        rest = self.norm(q)
        if rest > _DEPENDENT * size:
            self._pairs.append((u / rest, q / rest))
            del self._pairs[:-_DEPTH]

    def _failure(self, history: list[float], floor: float) -> StepFailed:
        fell = ", ".join(f"{norm / history[0]:.1e}" for norm in history[-6:])
        return StepFailed(
            f"the equations of the step were not solved: after {len(history) - 1} iterations the residual is "
            f"{history[-1] / history[0]:.1e} of the first, wanted {floor / history[0]:.0e}. The last ones: {fell}. "
            "Try a smaller step."
        )


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _dot(weights, a, b):
    """Return Σ weights · a · b for a, b [2, n, dim]; not by a library, whose sums may depend on its threads."""
    total = 0.0
    for k in range(a.shape[0]):
        for n in range(a.shape[1]):
            s = 0.0
            for i in range(a.shape[2]):
                s += a[k, n, i] * b[k, n, i]
            total += weights[n] * s
    return total
