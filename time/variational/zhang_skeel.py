"""Zhang and Skeel's methods: large steps for stiff systems by one linear solution each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import count_column
from symplex.base.quantities import Without, between, names, positive
from symplex.errors import UnstableStep
from symplex.fem.compiled.callbacks import Callback
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.integrator import STEPS, FixedStepIntegrator
from symplex.time.motion import FixedStepMotion
from symplex.time.solvers.compiled_newton import steps_at_once
from symplex.time.solvers.newton import Newton
from symplex.time.stability import largest_frequency
from symplex.time.steps import Steps
from symplex.time.totals import MODIFIED_TOTAL
from symplex.time.traits import Form
from symplex.time.variational.zhang_skeel_force import ModifiedForce, Variant, split
from symplex.time.variational.zhang_skeel_loop import CompiledForce, compiled_force, take_steps

_CALLED_AT_ONCE = 100  # steps in one call of the loop with accelerations from Python, where signals are heard


@checked
@final
@dataclass(frozen=True)
class ZhangSkeel(FixedStepIntegrator["ZhangSkeelMotion"]):
    """Velocity Verlet in a modified potential whose frequencies no step is too large for.

    With the accelerations f of `symplex.time.variational.zhang_skeel_force.ModifiedForce`

        x₁ = x₀ + h v₀ + ½h² f₀,    v₁ = v₀ + ½h (f₀ + f₁).

    See Tao and Owhadi, Variational and linearly-implicit integrators, with applications (2014), and Zhang and Skeel,
    Cheap implicit symplectic integrators (1997). All variants are symmetric, of order 2 and keep linear momentum.

    ``"full"`` (eq. 3) also keeps angular momentum and the symplectic form, all to round-off, and ½ v·Mv + Ṽ nearly, for
    long times (``modified_total`` among the energies). It needs third derivatives. ``"simplified"`` (eq. 18) does
    without, and loses all these by O(h⁵) a step. ``"push-forward"`` (eq. 14) keeps what the full method keeps, and
    solves nonlinear equations by Newton's method.

    With ``stiff`` the matrix holds the named energies only: then the others must be resolved by the step. The
    simplified method becomes that of eq. 19, which loses the symplectic form and angular momentum by O(h³) a step; the
    full one keeps its properties, at the cost of a product with the Hessian of the others.

    Loads are taken at the end of each step, with the velocity predicted there: to second order.

    Parameters
    ----------
    dt : float
        Step h in s.
    beta : float, default 0.4
        β ≥ 0; 0 is velocity Verlet. Frequencies ω become ω/√(1 + βh²ω²): stable at any step if β ≥ ¼ (with a margin
        for nonlinear parts above it), otherwise up to h ω = 2/√(1 − 4β). For hard contact take ½, which makes it
        elastic.
    variant : {"full", "simplified", "push-forward"}, default "full"
        ``"simplified"`` does without third derivatives, and without angular momentum; ``"push-forward"`` conserves what
        the full one does by nonlinear equations.
    stiff : tuple of str, default ()
        Names of energies, for the first two variants.
    newton : Newton, optional
        How equations are solved. Of it linear ones take ``linear``.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    dt: Annotated[float, positive("s")]
    beta: Annotated[float, between(0.0)] = 0.4
    variant: Variant = "full"
    stiff: Annotated[tuple[str, ...], names()] = ()
    newton: Annotated[Newton, Without(("halvings",))] = field(default=Newton(), kw_only=True)

    kind = "zhang-skeel"
    order = 2
    symmetric = True
    columns = (STEPS, count_column("corrections"), MODIFIED_TOTAL)
    takes = frozenset({"supports", "loads", "consistent mass", "changing stencils", "composition", "thermostat"})

    def __post_init__(self):
        if self.stiff and self.variant == "push-forward":
            raise ValueError(
                'ZhangSkeel: stiff is for the variants "full" and "simplified"; "push-forward" has no stiff part.'
            )

    @property
    def conserves(self) -> frozenset[str]:
        """Momentum, and unless simplified angular momentum and the symplectic form."""
        more = set() if self.variant == "simplified" and self.beta > 0.0 else {"angular momentum", "symplectic form"}
        return frozenset({"momentum", *more})

    @property
    def energy(self) -> str:
        """The modified energy, but for the method of eq. 19, which is of no potential."""
        return "total" if self.variant == "simplified" and self.stiff else MODIFIED_TOTAL.name

    @property
    def needs(self) -> frozenset[Form]:
        """Third derivatives by the full method."""
        third: set[Form] = {"third"} if self.variant == "full" and self.beta > 0.0 else set()
        return frozenset({"gradient", "hessian", *third})

    @property
    def named(self) -> Mapping[str, Sequence[str]]:
        """The energies that are in the matrix."""
        return {"stiff": self.stiff}

    def needs_of(self, energy: str) -> frozenset[Form]:
        """Return which forms it needs of the energy of a name: third derivatives of stiff ones only."""
        return self.needs - {"third"} if self.stiff and energy not in self.stiff else self.needs

    def _motion(self, system: System, t0: float, dt: float, n: int) -> ZhangSkeelMotion:
        force = ModifiedForce(system, self.beta, self.variant, self.stiff, self.newton)
        return ZhangSkeelMotion(force, t0, dt, n, compiles=self.newton.linear == "auto")

    def _step_size(self, system: System, state: State) -> float:
        """Return dt, checked against the stability limit where there is one.

        The modified stiffness K̃ must meet 0 ≤ h² K̃ ≤ 4 M. All energies in the matrix: h² (1 − 4β) K ≤ 4 M. With a stiff
        part h² (K₀ + (1 − 4β) K₁) ≤ 4 M is enough, and for the full method βh² K₀ ≤ M, without which K̃ is negative.
        """
        if not system.is_lumped:
            return self.dt
        rest = max(1.0 - 4.0 * self.beta, 0.0)
        if not self.stiff:
            limit = _limit(2.0, math.sqrt(rest) * largest_frequency(system, state.q) if rest else 0.0)
            advice = "take beta = 0.25 or more, which is stable at any step"
        else:
            stiff, soft = split(system, self.stiff)
            omega = largest_frequency(soft, state.q)
            both = math.hypot(omega, math.sqrt(rest) * largest_frequency(stiff, state.q) if rest else 0.0)
            limit = _limit(2.0, both)
            if self.variant == "full":
                limit = min(limit, _limit(1.0, math.sqrt(self.beta) * omega))
            more = ", and take beta = 0.25 or more" if rest > 0.0 else ""
            others = ", ".join(f"'{name}'" for name in soft.energies)
            advice = f"count {others} among the stiff energies as well{more}"
        if self.dt > limit:
            raise UnstableStep(
                f"dt = {self.dt:.4g} s is above the stability limit of Zhang and Skeel's method with "
                f"beta = {self.beta:.4g}, {limit:.4g} s. Try dt = {0.8 * limit:.3g} s, or {advice}."
            )
        return self.dt


def _limit(number: float, omega: float) -> float:
    return number / omega if omega > 0.0 else math.inf


@final
class ZhangSkeelMotion(FixedStepMotion):
    """A motion by Zhang and Skeel's method; see `ZhangSkeel`.

    Parameters
    ----------
    force : ModifiedForce
    t0, dt, n
        See `FixedStepMotion`.
    compiles : bool
        Whether the loop over steps may find forces of small systems itself, with all energies in the matrix.
    """

    loads_at_ends = True

    def __init__(self, force: ModifiedForce, t0: float, dt: float, n: int = 0, *, compiles: bool = False):
        super().__init__(force.system, t0, dt, n)
        self._force = force
        self._compiles = compiles and force.soft is None and force.variant != "push-forward" and force.beta > 0.0
        self._back = Callback(self._called)
        self._taking = Steps.one(t0, dt)
        self._f, self._solution = np.zeros_like(self._q), np.zeros_like(self._q)
        # For which step (its size) f and a solution are known at the present positions: a composition has several.
        self._of_step, self._corrections = np.zeros(1), np.zeros(1)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, and what is known at the present positions."""
        known = {"f": self._f, "solution": self._solution, "of_step": self._of_step}
        return super().arrays() | known | {"corrections": self._corrections}

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        super().begin(q, v)
        self._accelerate(self.t, self.dt, v)

    def _accelerate(self, t: float, h: float, v: Array) -> None:
        """Find the accelerations of a step of size h at the present positions, with loads at a time and velocities."""
        load = self._work.evaluate(t, self._q, v) if self._work else None
        before = self._force.corrections
        self._f[...] = self._force.accelerations(self._q, h, load)
        self._solution[...] = self._force.solution
        self._of_step[0] = abs(h)
        self._corrections += self._force.corrections - before

    @cached_property
    def _compiled(self) -> CompiledForce | None:
        """What the loop finds itself, looked for at the first step: of many motions none is ever taken."""
        return compiled_force(self.system, self._force.variant == "full") if self._compiles else None

    def _compiled_steps(self, n: int, steps: Steps) -> int:
        """Take up to n steps of one size, where what they begin with is known."""
        h = float(steps.sizes[0])
        if self._back.failed or self._of_step[0] != abs(h) or len(steps.sizes) > 1:
            return 0
        force, gradient = self._compiled, self._force.gradient
        self._at_once, self._taking = steps_at_once(self.system) if force else _CALLED_AT_ONCE, steps
        arrays = self._q, self._v, self._f, self._solution, self._f if gradient is None else gradient
        return take_steps(n, h, self._force.beta, force, arrays, self._back.address)

    def _called(self, step: int) -> None:
        """Find the accelerations in a step of the loop, and the work of loads."""
        h = float(self._taking.sizes[0])
        self._accelerate(self._taking.time(step) + h, h, self._v + 0.5 * h * self._f)
        if self._work:
            self._work.add_mean(h * self._v)

    def _step(self, t: float, h: float) -> None:
        if self._of_step[0] != abs(h):
            self._accelerate(t, h, self._v)
        if not self._compiled_steps(1, Steps.one(t, h)):
            self._back.raise_failure()

    def observe(self, t: float) -> None:
        """Set what is not needed for the steps, but belongs to a state: the true accelerations.

        Steps have just found the gradient, which is most of the work; loads they saw with predicted velocities.
        """
        gradient = self._force.gradient
        if gradient is None or self._work:
            super().observe(t)
        else:
            self.system.accelerations(np.where(self.system.fixed, 0.0, -gradient), self._a)

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps``, and of ``corrections`` by Newton's method where it is needed."""
        counts: dict[str, float] = {"steps": self.n}
        if self._force.variant == "push-forward":
            counts["corrections"] = int(self._corrections[0])
        return counts

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies of the system in J.

        Without loads also ``modified_total``, ½ v·Mv + Ṽ, which is nearly conserved; but not for the method of eq. 19,
        which is of no potential.
        """
        parts = super().energies(state)
        of_potential = self._force.variant != "simplified" or self._force.soft is None
        if of_potential and not self._work:
            parts[MODIFIED_TOTAL.name] = parts["kinetic"] + self._force.energy(state.q, self.dt, self._solution)
        return parts
