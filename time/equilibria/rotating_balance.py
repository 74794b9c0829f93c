"""The balance of internal and centrifugal forces of a body that rotates steadily, as equations for Newton's method."""

from __future__ import annotations

from math import sqrt
from typing import final

import numpy as np

from symplex.errors import NoEquilibrium, StepFailed
from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.equilibria.principal_axes import moment_of, off_axis
from symplex.time.rigid_rotation import SAME, axis_of, centre_of_mass, centrifugal, in_space
from symplex.time.solvers.newton import Newton, NewtonSolver
from symplex.time.solvers.nodal_coordinates import FramedSolver, newton_solver

_BALANCED = 1e-3  # of the centrifugal forces that may be left, if round-off forbids less
_LONGEST = 0.25  # of the radius, by which a part of the load may move a node: not onto another branch
_PARTS = 60  # of ω² that are tried
_FAILURES = 10  # one after the other that are the end
_INERTIA = 1e-3  # that holds rigid motions, as a part of the mass: what the tangent always has,
_UNSTRESSED = 2.0  # and at first. As much as the mass would just cancel centrifugal forces of a body with equal moments
_ITERATIVE = 4000  # unknowns, beyond which several solutions by iterations cost less than one by factors
_TINY = float(np.finfo(float).tiny)


@final
class RotatingBalance:
    """∇V(q) − part · M (q − c) P = 0 at q = q0 + Δq, as equations for `NewtonSolver`.

    The tangent leaves out that the centre of mass c moves with the nodes: it does not, for the forces have no
    resultant. A turn about the axis and a shift along it, which change nothing, are held by some inertia of the nodes
    around the axis and along it, and so are tilts of a body that has equal moments about several axes. (A spring at
    one node would have a force until all others balance, and tilt the body.) The inertia is larger where the residual
    is: a structure without stress may lack all stiffness along the axis (a flat truss).
    """

    inertia, impulse, symmetric, at, seen = 0.0, 1.0, True, (1.0, 1.0), ()

    def __init__(self, system: System, centre: Array, omega: Array):
        self.system = system
        self._centre, self._omega = centre, omega
        self._worst: tuple[float, Array] | None = None
        self.constant = np.zeros((system.n_nodes, system.dim))
        self._forces = np.zeros_like(self.constant)
        self._rows = system.pattern.rows()

    def apply(self, q: Array, part: float, definite: bool = False) -> None:
        """Apply a part of the centrifugal forces, beginning at the positions q.

        The tangent may be definite: with ∇²V + part |ω|² M Newton's method converges linearly, by the square of ω over
        the lowest frequency, and all rigid motions are held though nothing resists them.
        """
        self._definite = definite
        axis, speed = axis_of(self._omega)
        along = axis[: self.system.dim]
        self._q = q
        self._projector = part * centrifugal(self._omega)
        self._speed_squared = part * speed**2
        self._along = np.outer(along, along)
        across = np.cross(axis, in_space(q - self._centre))
        radius = np.linalg.norm(across, axis=1, keepdims=True)
        self._around = (across / np.where(radius > 0.0, radius, 1.0))[:, : self.system.dim]

    def forces(self, dq: Array, out: Array) -> None:
        """Write the unbalanced forces to out, those within frames included."""
        self.system.gradient(self._q + dq, out)
        out -= self._load(dq)

    def residual(self, dq: Array) -> Array:
        """Return the unbalanced forces [n, dim] in N, without those that frames and joints pass on."""
        forces = np.empty_like(self._forces)
        self.forces(dq, forces)
        return unbalanced(self.system, self._q + dq, forces)

    def blocks(self, dq: Array, out: Array) -> None:
        """Write the tangent to out."""
        self.system.hessian_blocks(self._q + dq, out)
        if self._definite:
            out += self.system.mass_values[:, None, None] * (self._speed_squared * np.eye(self.system.dim))
            return
        left, load = self._unbalanced(dq)
        held = self._speed_squared * max(_INERTIA, _UNSTRESSED * min(1.0, left / load))
        added = held * self._along - self._projector
        around = self._around[self._rows, :, None] * self._around[self.system.pattern.indices, None, :]
        out += self.system.mass_values[:, None, None] * (added + held * around)

    def require(self, dq: Array) -> None:
        """Check that forces balance, and that the increment does not lead far."""
        radius = np.linalg.norm(self._q - self._centre, axis=1).max()
        moved = np.linalg.norm(dq, axis=1).max()
        if moved > _LONGEST * radius:
            raise StepFailed(f"a node would move by {moved / radius:.2g} times the radius of the body.")
        left, load = self._unbalanced(dq)
        if left > _BALANCED * load:
            raise StepFailed(f"forces of {left:.1e} N are left of {load:.1e} N, which round-off hides.")

    def failed(self, dq: Array) -> None:
        """Remember the shape at which an attempt ended, if its moment is larger than those before."""
        arm = self._q + dq - self._centre
        moment = moment_of(self.system, arm, self._omega)[1] if self.system.dim == 3 else 0.0
        if moment > (self._worst[0] if self._worst else SAME):
            self._worst = moment, arm

    def failure(self, reached: float, error: StepFailed) -> NoEquilibrium:
        """Return what is to be said where a part of ω² has been reached, and no more can be."""
        speed = axis_of(self._omega)[1]
        message = (
            f"no relative equilibrium was found at |ω| = {speed:.6g} rad/s: the shape can be followed up to "
            f"{speed * sqrt(reached):.6g} rad/s, and there {str(error).removesuffix(' Try a smaller step.')} Try a "
            "smaller ω, or begin at a shape that is nearer."
        )
        if self._worst:
            message += f" In an attempt the deformed body had {off_axis(self.system, self._worst[1], self._omega)}."
        return NoEquilibrium(message)

    def _load(self, dq: Array) -> Array:
        q = self._q + dq
        return self.system.apply_mass(q - centre_of_mass(self.system, q)) @ self._projector

    def _unbalanced(self, dq: Array) -> tuple[float, float]:
        """Return the norms in N of the unbalanced and of the centrifugal forces, the second not zero."""
        load = float(np.linalg.norm(unbalanced(self.system, self._q + dq, self._load(dq))))
        return float(np.linalg.norm(self.residual(dq))), max(load, _TINY)


def unbalanced(system: System, q: Array, forces: Array) -> Array:
    """Return what is left of forces [n, dim] in N at positions q, without those that frames and joints take."""
    if system.joints:
        forces = forces.copy()
        system.joints.at(0.0).balance(system, q, forces)
    return forces if system.frames is None else system.frames.resultants(system, forces, q)


def _slowly(balance: RotatingBalance, q: Array, solver: NewtonSolver | FramedSolver) -> tuple[Array, int] | None:
    """Return the same as `loaded` if the rotation is slow, by the definite tangent that iterations are good at."""
    balance.apply(q, 1.0, definite=True)
    try:
        corrections = solver.solve(balance, q)
        balance.require(solver.increment)
    except StepFailed:
        return None
    return q + solver.increment, corrections


def loaded(balance: RotatingBalance, q: Array, newton: Newton) -> tuple[Array, int]:
    """Return the balanced positions, reached from q, and the number of corrections it took.

    In larger systems the definite tangent, with which iterations solve, is tried first.
    """
    solver = newton_solver(balance.system, newton)
    if q.size > _ITERATIVE and newton.linear not in ("dense", "sparse"):
        slow = _slowly(balance, q, solver)
        if slow is not None:
            return slow
    reached, step, corrections, failed = 0.0, 1.0, 0, 0
    last = StepFailed("no part of ω² was tried.")
    for _ in range(_PARTS):
        part = min(1.0, reached + step)
        balance.apply(q, part)
        try:
            corrections += solver.solve(balance, q)
            balance.require(solver.increment)
        except StepFailed as error:
            step, failed, last = 0.5 * (part - reached), failed + 1, error
            balance.failed(solver.increment)
            if failed == _FAILURES:
                break
            continue
        q = q + solver.increment
        if part == 1.0:
            return q, corrections
        reached, step, failed = part, 2.0 * step, 0
    raise balance.failure(reached, last) from last
