"""The potential and the forces that Zhang and Skeel's methods put in place of a system's own.

With g = ∇V(q), H = ∇²V(q) and a = −(M + βh²H)⁻¹ g, one sparse solution, the modified potential and its forces are

    Ṽ = V + ½ βh² g·a,    −∇Ṽ = M a − ½ β²h⁴ ∇³V[a, a].

The full method (Tao and Owhadi, eq. 3) is velocity Verlet with these forces, the simplified one (eq. 18) leaves the
third derivative out. If only a stiff part V₁ of V = V₀ + V₁ is in the matrix, a = −(M + βh²H₁)⁻¹ (g₀ + g₁), then

    −∇Ṽ = M a − βh² H₀ a − ½ β²h⁴ ∇³V₁[a, a],

and eq. 19 leaves the last two terms out. Push-forward Newmark (eq. 14) solves M a = −∇V(q + βh²a) instead, and has
Ṽ = V(q + βh²a) + ½ βh² a·M a, whose forces M a are.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, final
from weakref import WeakKeyDictionary

import numpy as np

from symplex.base.arguments import checked
from symplex.base.representation import Described
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.solvers.definite import DefiniteSolver
from symplex.time.solvers.newton import Newton, NewtonSolver

Variant = Literal["full", "simplified", "push-forward"]

# The parts of systems: fitting a step and starting with it ask for the same frequencies, remembered by system.
_parts: WeakKeyDictionary[System, dict[tuple[frozenset[str], tuple[int, ...]], tuple[System, System]]] = (
    WeakKeyDictionary()
)


@checked
@final
class ModifiedForce(Described):
    """Accelerations −M⁻¹∇Ṽ, forces −∇Ṽ and energies Ṽ of a system for steps of any size and sign.

    Any explicit method that takes forces can take these instead: velocity Verlet becomes `ZhangSkeel`, and RATTLE and
    the Langevin equation get its large steps. All depend on h² only.

    Parameters
    ----------
    system : System
    beta : float
        β ≥ 0.
    variant : {"full", "simplified", "push-forward"}
    stiff : collection of str
        The energies V₁ in the matrix, by name; none: all are.
    newton : Newton, optional
        How equations are solved; the linear ones by the solver named there.

    Attributes
    ----------
    solution : float64 [n, dim]
        a in m/s² of the last evaluation.
    corrections : int
        How many corrections Newton's method has taken for push-forward Newmark.

    Raises
    ------
    InvalidSystem
        If a name is not that of an energy, or an energy has no third derivative where it is needed.
    """

    def __init__(
        self,
        system: System,
        beta: float,
        variant: Variant = "full",
        stiff: Collection[str] = (),
        newton: Newton | None = None,
    ):
        newton = newton or Newton()
        self.system, self.beta, self.variant = system, beta, variant
        self.stiff, self.soft = split(system, stiff) if stiff else (system, None)
        if self.soft is not None and not self.soft.energies:
            self.stiff, self.soft = system, None
        if self._has_rest:
            self.stiff.require("third", "ModifiedForce")
        shape = (system.n_nodes, system.dim)
        self.solution, self._gradient, self._forces = (np.zeros(shape) for _ in range(3))
        self.corrections = 0
        self._equations = _Backward(system, newton) if variant == "push-forward" else None
        self._linear = None if variant == "push-forward" else DefiniteSolver(self.stiff, newton.linear)

    def accelerations(self, q: Array, h: float, load: Array | None = None) -> Array:
        """Return −M⁻¹∇Ṽ [n, dim] in m/s², zero where fixed.

        Parameters
        ----------
        q : float64 [n, dim]
            Positions in m.
        h : float
            Step in s.
        load : float64 [n, dim], optional
            Forces in N next to −∇V, as if they were constant.

        Raises
        ------
        StepFailed
            If M + βh²H is not positive definite, or the equations cannot be solved.
        """
        a = self.solution = self._solve(q, h, load)
        if not self._has_rest:
            return a.copy()
        rest = self._rest(q, h, a)
        rest[self.system.fixed] = 0.0
        return a - self.system.accelerations(rest)

    def forces(self, q: Array, h: float, load: Array | None = None) -> Array:
        """Return −∇Ṽ [n, dim] in N, zero where fixed; see `accelerations`."""
        a = self.solution = self._solve(q, h, load)
        forces = self.system.apply_mass(a)
        if self._has_rest:
            forces -= self._rest(q, h, a)
        forces[self.system.fixed] = 0.0
        return forces

    @property
    def gradient(self) -> Array | None:
        """∇V [n, dim] in N where the last evaluation was, unless by push-forward Newmark."""
        return None if self._equations is not None else self._gradient

    def energy(self, q: Array, h: float, solution: Array | None = None) -> float:
        """Return Ṽ in J at the positions q [n, dim], given the solution a there if it is known, and no loads."""
        a = self._solve(q, h, None) if solution is None else solution
        s = self.beta * h * h
        if self._equations is not None:
            return self.system.potential(q + s * a) + 0.5 * s * self.system.dot(a, self.system.apply_mass(a))
        g = self.system.gradient(q)
        return self.system.potential(q) + 0.5 * s * self.system.dot(g, a)

    @property
    def _has_rest(self) -> bool:
        return self.variant == "full" and self.beta > 0.0

    def _solve(self, q: Array, h: float, load: Array | None) -> Array:
        """Return a [n, dim]."""
        s = self.beta * h * h
        if self._equations is not None and s > 0.0:
            self.corrections += self._equations.solve(q, s, load)
            return self._equations.increment / s
        b = np.negative(self.system.gradient(q, self._gradient), out=self._forces)
        if load is not None:
            b += load
        b[self.system.fixed] = 0.0
        if self._linear is None or s == 0.0:
            return self.system.accelerations(b)
        self._linear.update(q, s)
        return self._linear.solve(b)

    def _rest(self, q: Array, h: float, a: Array) -> Array:
        """Return βh² H₀ a + ½ β²h⁴ ∇³V₁[a, a] [n, dim] in N."""
        s = self.beta * h * h
        rest = self.stiff.third(q, np.ascontiguousarray(a))
        rest *= 0.5 * s * s
        if self.soft is not None:
            rest += s * (self.soft.hessian(q) @ a.ravel()).reshape(a.shape)
        return rest


def split(system: System, stiff: Collection[str]) -> tuple[System, System]:
    """Return two systems of the same masses and supports: with the stiff energies, and with the others."""
    unknown = [name for name in stiff if name not in system.energies]
    if unknown:
        has = ", ".join(f"'{name}'" for name in system.energies)
        raise InvalidSystem(f"ZhangSkeel: there is no energy '{unknown[0]}' to be stiff; the system has {has}.")
    key = frozenset(stiff), tuple(map(id, system.energies.values()))
    known = _parts.setdefault(system, {})
    if key not in known:
        parts = (
            {name: energy for name, energy in system.energies.items() if (name in stiff) == chosen}
            for chosen in (True, False)
        )
        first, second = (System(system.mass, part, dim=system.dim, fixed=system.fixed) for part in parts)
        known[key] = first, second
    return known[key]


@final
class _Backward:
    """M a = f − ∇V(q + s a), for the increment s a (see `symplex.time.solvers.step_equations.StepEquations`)."""

    symmetric = True
    impulse = 1.0
    at = (1.0, 1.0)
    seen = ()

    def __init__(self, system: System, newton: Newton):
        self._system, self._newton = system, NewtonSolver(system, newton)
        self.constant = np.zeros((system.n_nodes, system.dim))
        self.inertia = 0.0

    def solve(self, q: Array, s: float, load: Array | None) -> int:
        """Find the increment at the positions q [n, dim] for s in s², and return the number of corrections."""
        self._q, self.inertia = q, 1.0 / s
        self.constant[...] = 0.0 if load is None else load
        return self._newton.solve(self, q)

    @property
    def increment(self) -> Array:
        """The increment s a [n, dim] in m of the last solution."""
        return self._newton.increment

    def forces(self, dq: Array, out: Array) -> None:
        """Write ∇V(q + Δq) to out."""
        self._system.gradient(self._q + dq, out)

    def blocks(self, dq: Array, out: Array) -> None:
        """Write ∇²V(q + Δq) to out."""
        self._system.hessian_blocks(self._q + dq, out)
