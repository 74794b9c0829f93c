"""Zhang and Skeel's methods: large steps for stiff systems by one linear solution each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import StepFailed, UnstableStep
from symplex.fem.energy import Array
from symplex.fem.system import State, System
from symplex.time.implicit.implicit import dividing, retold, with_work
from symplex.time.integrator import FixedStepIntegrator, FixedStepMotion, require_step, stored_grid
from symplex.time.solvers.newton import Newton
from symplex.time.stability import largest_frequency
from symplex.time.variational.zhang_skeel_force import ModifiedForce, Variant, split


@checked
@final
@dataclass(frozen=True)
class ZhangSkeel(FixedStepIntegrator):
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
        β ≥ 0; 0 is velocity Verlet. The frequencies ω of a linear system become ω/√(1 + βh²ω²), below 1/(h√β): stable
        at any step if β ≥ ¼, and otherwise up to h ω = 2/√(1 − 4β). At ¼ itself stiff parts are at the limit of
        stability, where nonlinear ones go beyond it. For hard contact take ½, which makes it elastic.
    variant : {"full", "simplified", "push-forward"}, default "full"
    stiff : tuple of str, default ()
        Names of energies, for the first two variants.
    newton : Newton, optional
        How equations are solved. Of it linear ones take ``linear``.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    dt: float
    beta: float = 0.4
    variant: Variant = "full"
    stiff: tuple[str, ...] = ()
    newton: Newton = field(default=Newton(), kw_only=True)

    order = 2
    symmetric = True
    changing_stencils = True

    def __post_init__(self):
        require_step(self, self.dt)
        if not 0.0 <= self.beta < math.inf:
            raise ValueError(f"ZhangSkeel: beta must not be negative; it is {self.beta}.")
        if self.variant not in Variant.__args__:
            raise ValueError(
                f"ZhangSkeel: variant must be one of {', '.join(Variant.__args__)}; it is {self.variant!r}."
            )
        if self.stiff and self.variant == "push-forward":
            raise ValueError("ZhangSkeel: the push-forward variant has no stiff part; take the full or the simplified.")

    @property
    def conserves(self) -> frozenset[str]:
        """Momentum, and unless simplified angular momentum and the symplectic form."""
        more = set() if self.variant == "simplified" and self.beta > 0.0 else {"angular momentum", "symplectic form"}
        return frozenset({"momentum", *more})

    @property
    def energy(self) -> str:
        """The modified energy, but for the method of eq. 19, which is of no potential."""
        return "total" if self.variant == "simplified" and self.stiff else "modified_total"

    def start(self, system: System, state: State) -> ZhangSkeelMotion:
        """Return the motion that begins at the positions and velocities of a state; fixed coordinates are at rest.

        Raises
        ------
        UnstableStep
            If β < ¼, or only some energies are stiff, and dt is above the stability limit (which is not looked for
            with a consistent mass).
        InvalidSystem
            If an energy lacks a third derivative and the variant is the full one, or there is none of a name.
        StepFailed
            If the first accelerations cannot be found.
        """
        self._check_step(system, state)
        motion = self._motion(system, state.t, self.dt, 0)
        motion.begin(state.q, np.where(system.fixed, 0.0, state.v))
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> ZhangSkeelMotion:
        """Return the motion that goes on from a checkpoint, bit-identically, with the step stored there."""
        motion = self._motion(system, *stored_grid(checkpoint))
        motion._restore(checkpoint)
        return motion

    def fit(self, system: System, state: State, interval: float) -> ZhangSkeel:
        """Return the method with the largest step not above its own that divides an interval in s.

        Raises
        ------
        UnstableStep, InvalidSystem
            As `start`.
        """
        fitted = replace(self, dt=dividing(self.dt, interval))
        fitted._check_step(system, state)
        return fitted

    def _motion(self, system: System, t0: float, dt: float, n: int) -> ZhangSkeelMotion:
        force = ModifiedForce(system, self.beta, self.variant, self.stiff, self.newton)
        return ZhangSkeelMotion(force, t0, dt, n)

    def _check_step(self, system: System, state: State) -> None:
        """Check dt against the stability limit where there is one.

        The modified stiffness K̃ must meet 0 ≤ h² K̃ ≤ 4 M. All energies in the matrix: h² (1 − 4β) K ≤ 4 M. With a stiff
        part h² (K₀ + (1 − 4β) K₁) ≤ 4 M is enough, and for the full method βh² K₀ ≤ M, without which K̃ is negative.
        """
        system.require_inertia("ZhangSkeel")
        if not system.is_lumped:
            return
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
    """

    def __init__(self, force: ModifiedForce, t0: float, dt: float, n: int = 0):
        super().__init__(force.system, t0, dt, n)
        self._force = force
        shape = (self.system.n_nodes, self.system.dim)
        self._q, self._v, self._a, self._f, self._solution = (np.zeros(shape) for _ in range(5))
        # For which step (its size) f and a solution are known at the present positions: a composition has several.
        self._of_step, self._corrections = np.zeros(1), np.zeros(1)
        self._loads = list(self.system.loads.values())
        # The force of each load at present, and its work since the start
        self._acting, self._works = np.zeros((len(self._loads), *shape)), np.zeros(len(self._loads))

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {"q": self._q, "v": self._v, "a": self._a, "f": self._f, "solution": self._solution}
        arrays |= {"of_step": self._of_step, "corrections": self._corrections}
        return arrays | ({"acting": self._acting, "work": self._works} if self._loads else {})

    def begin(self, q: Array, v: Array) -> None:
        """Take the positions and velocities [n, dim] of the start, and find the first accelerations."""
        self._q[...], self._v[...] = q, v
        self._prepare()
        self._observe()

    def _prepare(self) -> None:
        """Find the accelerations of the step at the present positions, unless they are known."""
        if self._of_step[0] != abs(self.dt):
            self._accelerate(self.t, self._v)

    def _accelerate(self, t: float, v: Array) -> None:
        """Find them with the loads at a time and velocities."""
        for force, load in zip(self._acting, self._loads, strict=True):
            force[...] = load(t, self._q, v)
        before = self._force.corrections
        self._f[...] = self._force.accelerations(self._q, self.dt, self._acting.sum(axis=0) if self._loads else None)
        self._solution[...] = self._force.solution
        self._of_step[0] = abs(self.dt)
        self._corrections += self._force.corrections - before

    def _run(self, n_steps: int) -> None:
        try:
            self._prepare()
            for _ in range(n_steps):
                self._step(self.dt)
                self.n += 1
        except StepFailed as error:
            when = f"ZhangSkeel stopped in the step from t = {self.t:.6g} s (dt = {self.dt:.4g} s)"
            raise retold(error, f"{when}: {error}") from None
        if n_steps:
            self._observe()

    def _step(self, h: float) -> None:
        acting = self._acting.copy() if self._loads else None
        self._v += 0.5 * h * self._f
        dq = h * self._v
        self._q += dq
        self._accelerate(self.t + h, self._v + 0.5 * h * self._f)
        self._v += 0.5 * h * self._f
        if acting is not None:
            self._works += 0.5 * np.tensordot(acting + self._acting, dq, axes=2)

    def _observe(self) -> None:
        """Set what is not needed for the steps, but belongs to a state: the true accelerations.

        Steps have just found the gradient, which is most of the work; loads they saw with predicted velocities.
        """
        gradient = self._force.gradient
        if gradient is None or self._loads:
            self._a[...] = self.system.accelerations(self.system.force(self.t, self._q, self._v))
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

        With loads also their work, by the mean forces at the ends of steps, and the ``balance``, as implicit methods.
        Without also ``modified_total``, ½ v·Mv + Ṽ, which is nearly conserved; but not for the method of eq. 19, which
        is of no potential.
        """
        parts = with_work(self.system, self.system.energies_of(state), self._works)
        of_potential = self._force.variant != "simplified" or self._force.soft is None
        if of_potential and not self._loads:
            parts["modified_total"] = parts["kinetic"] + self._force.energy(state.q, self.dt, self._solution)
        return parts
