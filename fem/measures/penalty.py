"""Penalties of constraints that are given by functions, and of user-defined obstacles: g < 0 only."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.energies.contact_energy import ContactEnergy
from symplex.fem.energies.energy import Array, OptionalFunction
from symplex.fem.measures import loops
from symplex.fem.measures.constraints import Constraint
from symplex.fem.measures.law_formulas import PENALTY, SPRING


@checked
@final
class Penalty(ContactEnergy):
    """A constraint g = 0 as the energy φ = ½ k g², from which it departs by −λ/k.

    Tao and Owhadi (2014), eq. 7, where g = |d|² − L² for a rod and k = ω²: with g = (|d|² − L²)/2L as in `RigidBars`
    the same energy has k = 4 L² ω², and it is that of `GreenStrain`. Forces are k g ∇g. Where the discrete gradient of
    the constraint is exact, as for rods, that of the energy is: ½ k (g0 + g1) times it.

    With ``one_sided`` the constraint is an obstacle, φ = ½ k ⟨−g⟩², ⟨·⟩ the positive part: g ≥ 0 is admissible.

    Parameters
    ----------
    constraint : Constraint
    stiffness : float or float64 [c]
        k in N/m.
    one_sided : bool, default False
        Whether g > 0 is admissible.

    Raises
    ------
    InvalidSystem
        If there is no constraint, or a stiffness is not positive or not there for each condition.
    """

    def __init__(self, constraint: Constraint, stiffness: ArrayLike, one_sided: bool = False):
        if not isinstance(constraint, Constraint):
            raise InvalidSystem(f"Penalty is of one Constraint; given is a {type(constraint).__name__}.")
        self.constraint = constraint
        self.nodes = constraint.nodes
        stiff = np.asarray(stiffness, dtype=float)
        if stiff.shape not in ((), (len(self.nodes),)):
            raise InvalidSystem(
                f"Penalty: stiffness has shape {stiff.shape}, expected one or {len(self.nodes)} numbers."
            )
        if not (np.isfinite(stiff) & (stiff > 0.0)).all():
            raise InvalidSystem(f"Penalty: stiffness must be positive; the least is {np.min(stiff)} N/m.")
        self.stiffness = np.array(np.broadcast_to(stiff, len(self.nodes)))
        self.one_sided = one_sided

    def value(self, x: Array) -> Array:
        """Return φ [c] in J at the positions x [c, k, dim] in m."""
        return self._law_at(x)[0]

    def gradient(self, x: Array) -> Array:
        """Return φ' ∇g [c, k, dim] in N: k g ∇g."""
        return self._law_at(x)[1][:, None, None] * self.constraint.gradient(x)

    def hessian(self, x: Array) -> Array:
        """Return φ'' ∇g ⊗ ∇g + φ' ∇²g [c, k·dim, k·dim] in N/m: k (∇g ⊗ ∇g + g ∇²g)."""
        _, first, second, _ = self._law_at(x)[:, :, None, None]
        slope = self._flat(self.constraint.gradient(x))
        return second * slope[:, :, None] * slope[:, None, :] + first * self.constraint.hessian(x)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] = φ''' (∇g·a)² ∇g + φ'' (2 (∇g·a) ∇²g a + (a·∇²g a) ∇g) + φ' ∇³g[a, a] [c, k, dim]."""
        _, first, second, third = self._law_at(x)[:, :, None]
        slope, direction = self._flat(self.constraint.gradient(x)), self._flat(a)
        bent = np.einsum("cij,cj->ci", self.constraint.hessian(x), direction)
        along, across = (np.einsum("ci,ci->c", one, direction)[:, None] for one in (slope, bent))
        curved = third * along**2 * slope + second * (2.0 * along * bent + across * slope)
        return curved.reshape(x.shape) + first[:, :, None] * self.constraint.third(x, a)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return Δφ/Δg times the discrete gradient of g [c, k, dim] in N: ½ k (g0 + g1) times it."""
        return self._law_between(x0, x1)[0][:, None, None] * self.constraint.discrete_gradient(x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return the derivative [c, k·dim, k·dim] of the discrete gradient with respect to x1, in N/m."""
        quotient, rate = self._law_between(x0, x1)[:, :, None, None]
        mean, slope = self._flat(self.constraint.discrete_gradient(x0, x1)), self._flat(self.constraint.gradient(x1))
        return rate * mean[:, :, None] * slope[:, None, :] + quotient * self.constraint.discrete_hessian(x0, x1)

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return k in N/m for each node [n_nodes] of a one-sided penalty, which may be open; |∇g| is taken for 1."""
        latent = np.zeros(n_nodes)
        if self.one_sided:
            np.add.at(latent, self.nodes, self.stiffness[:, None] * self.nodes.shape[1])
        return latent

    def has(self, optional: OptionalFunction) -> bool:
        """Return whether the energy has an optional method: a third derivative only if the constraint has one."""
        if optional == "third":
            return type(self.constraint).third is not Constraint.third
        return super().has(optional)

    def multipliers(self, q: Array) -> Array:
        """Return what takes the place of the multipliers, −k g [c], at the nodal positions q [n, dim].

        It swings about them at the frequency of the penalty, by as much as they are themselves: see
        `averaged_multipliers`.
        """
        return -self._law_at(q[self.nodes])[1]

    def averaged_multipliers(self, t: Array, q: Array, width: float) -> tuple[Array, Array]:
        """Return multipliers from a trajectory: means of −k g over a moving window.

        Tao and Owhadi (2014), eq. 8, which assigns the mean to the beginning of its window; here it is returned with
        the middle, where it is of second order in the width.

        Parameters
        ----------
        t : float64 [r]
            Times in s, ascending.
        q : float64 [r, n, dim]
            Positions in m.
        width : float
            Of the window in s: some swings of the penalty, but little of the motion.

        Returns
        -------
        times : float64 [s]
            The middles of the windows that begin at one of the times and end within them.
        multipliers : float64 [s, c]

        Raises
        ------
        InvalidSystem
            If the window is longer than the trajectory, or not as long as one of its intervals.
        """
        if not (len(t) > 1 and np.diff(t).max() <= width <= t[-1] - t[0]):
            raise InvalidSystem(
                f"Penalty: a window of {width:.4g} s does not fit to {len(t)} times; it must be longer than the "
                "intervals between them, and shorter than all of them together."
            )
        pulls = np.array([self.multipliers(moment) for moment in q])
        steps = np.diff(t)[:, None]
        integral = np.vstack([np.zeros(pulls.shape[1]), np.cumsum(0.5 * steps * (pulls[:-1] + pulls[1:]), axis=0)])
        begin = t[t + width <= t[-1] + 1e-12 * width]
        ends = np.column_stack([np.interp(begin + width, t, column) for column in integral.T])
        return begin + 0.5 * width, (ends - integral[: len(begin)]) / width

    def _law_at(self, x: Array) -> Array:
        """Return φ and its three derivatives with g [4, c]."""
        out = np.empty((4, len(x)))
        loops.law_at(*self._law, self.constraint.value(x), out)
        return out

    def _law_between(self, x0: Array, x1: Array) -> Array:
        """Return Δφ/Δg and its derivative with g1 [2, c]."""
        out = np.empty((2, len(x1)))
        loops.law_between(*self._law, self.constraint.value(x0), self.constraint.value(x1), out)
        return out

    @property
    def _law(self) -> tuple[int, Array, Array]:
        return PENALTY if self.one_sided else SPRING, self.stiffness, self.stiffness

    def _flat(self, local: Array) -> Array:
        return local.reshape(len(local), -1)
