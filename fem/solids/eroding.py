"""Bodies whose elements go when they have flowed too far, with what they stored in the balance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.quantities import positive
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.energy import Energy
from symplex.fem.solids.plastic import Flowing, Plastic
from symplex.fem.solids.solid import Solid

_MORE = 2  # numbers of a point besides those of the metal: 1 where the element is gone, and its share of what went


@checked
@final
class Eroding(Flowing):
    """A body of metal whose elements go when their equivalent plastic strain reaches a limit.

    At the end of the increment in which the mean of α over an element reaches the limit, the element is gone: it has no
    stress any more, and what it stored is dissipated, in the balance and in the column ``eroded_NAME``. Its mass stays
    at its nodes, so that momenta do not change; nodes without elements fly on. Contact between bodies follows
    (`symplex.contact.ExposedSurface`).

    The limit, like softening, depends on the mesh: smaller elements concentrate strain. Fit both together.

    Parameters
    ----------
    part : Plastic
    failure_strain : float
        The limit of α.

    Attributes
    ----------
    part : Plastic
    failure_strain : float
    """

    erodes = True

    def __init__(self, part: Plastic, failure_strain: Annotated[float, positive("1")]):
        self.part, self.failure_strain = part, float(failure_strain)
        self.solid, self.hardening, self.nodes = part.solid, part.hardening, part.nodes
        self.shape = (*part.shape[:-1], part.shape[-1] + _MORE)
        self._some: tuple[bytes, NDArray[np.bool_], Plastic | None] | None = None

    def __repr__(self) -> str:
        return f"Eroding({self.part!r}, {self.failure_strain:g})"

    def on(self, solid: Solid) -> Eroding:
        """Return the same law of another solid."""
        return Eroding(self.part.on(solid), self.failure_strain)

    # -- which elements there are -------------------------------------------------------------------------------------

    def gone(self, z: Array) -> NDArray[np.bool_]:
        """Return which elements [m] are gone."""
        return z[(slice(None), *(0,) * (z.ndim - 2), -2)] > 0.0

    def any_gone(self, z: Array) -> bool:
        """Return whether elements are gone."""
        return bool(self.gone(z).any())

    def eroded(self, z: Array) -> float:
        """Return what went with elements, in J: what they stored, and the change of contact energy."""
        return float(z[..., -1].sum())

    def _present(self, z: Array) -> tuple[NDArray[np.bool_], Plastic | None, Array]:
        """Return which elements are there, the part of these, if any, and their internal variables."""
        there = ~self.gone(z)
        key = np.packbits(there).tobytes()
        if self._some is None or self._some[0] != key:
            some = None
            if there.any():
                some = self.part if there.all() else self.part.on(self.solid.restrict(np.flatnonzero(there)))
            self._some = key, there, some
        return there, self._some[2], z[there][..., :-_MORE]

    def unstrained(self) -> Array:
        """Return the internal variables of a body that has not flowed, with all of its elements."""
        return self._extended(self.part.unstrained())

    def relaxed(self, q: Array) -> Array:
        """Return the internal variables of a body that was brought to the positions q [n, 3] by one increment."""
        return self._extended(self.part.relaxed(q))

    def _extended(self, z: Array) -> Array:
        return np.concatenate([z, np.zeros((*z.shape[:-1], _MORE))], axis=-1)

    # -- an increment -------------------------------------------------------------------------------------------------

    def stored(self, q: Array, z: Array) -> float:
        """Return the elastic energy ψ in J."""
        _, some, own = self._present(z)
        return 0.0 if some is None else some.stored(q, own)

    def force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return the nodal forces [n, 3] in N at the end of an increment; with h = 0 nothing flows."""
        _, some, own = self._present(z0)
        return np.zeros(q1.shape) if some is None else some.force(q0, own, q1, h)

    def mean_force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return the nodal forces [n, 3] in N of an increment; what goes at its end still acts."""
        _, some, own = self._present(z0)
        return np.zeros(q1.shape) if some is None else some.mean_force(q0, own, q1, h)

    def add_derivatives(
        self, q0: Array, z0: Array, q1: Array, h: float, by_q: float, slots: IntArray, out: Array, *, mean: bool
    ) -> None:
        """Add by_q ∂f/∂q1 to the blocks out [nnz, 3, 3], of `mean_force` or of `force`."""
        there, some, own = self._present(z0)
        if some is not None:
            some.add_derivatives(q0, own, q1, h, by_q, np.ascontiguousarray(slots[there]), out, mean=mean)

    def after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, float]:
        """Return the internal variables at the end of an increment, and the dissipation in J, with what goes then."""
        there, some, own = self._present(z0)
        return (z0.copy(), 0.0) if some is None else self._eroded(z0, there, some, q1, *some.after(q0, own, q1, h), h)

    def force_and_after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, Array, float]:
        """Return `force` and what `after` returns of one increment."""
        there, some, own = self._present(z0)
        if some is None:
            return np.zeros(q1.shape), z0.copy(), 0.0
        force, end, lost = some.force_and_after(q0, own, q1, h)
        return force, *self._eroded(z0, there, some, q1, end, lost, h)

    def _eroded(
        self, z0: Array, there: NDArray[np.bool_], some: Plastic, q1: Array, end: Array, lost: float, h: float
    ) -> tuple[Array, float]:
        """Return the internal variables of all elements, given those of the ones that were there, and what is lost."""
        z1 = z0.copy()
        fails = (some.plastic_strain(end) >= self.failure_strain) & (h != 0.0)
        z1[there, ..., :-_MORE] = end
        if fails.any():
            rows = np.flatnonzero(there)[fails]
            energies = some.energies(q1, end)[fails]
            z1[rows, ..., -2] = 1.0
            points = z1[rows, ..., -1].reshape(len(rows), -1).shape[1]
            z1[rows, ..., -1] = (energies / points).reshape(-1, *(1,) * (z1.ndim - 2))
            lost += float(energies.sum())
        return z1, lost

    def add_lost(self, z: Array, energy: float) -> None:
        """Add to what went with the elements that are gone, in J, in z itself: contact energy at their faces."""
        first = int(np.argmax(self.gone(z)))
        z[(first, *(0,) * (z.ndim - 2), -1)] += energy

    def increment(self, z: Array) -> Energy:
        """Refuse statics: nodes without elements have no equilibrium.

        Raises
        ------
        InvalidSystem
            Always.
        """
        raise InvalidSystem(
            "static equilibria cannot follow elements that go, as nodes without elements have none. Take "
            "EnergyMomentum, Midpoint or Newmark, or leave failure_strain out."
        )

    # -- for results --------------------------------------------------------------------------------------------------

    def columns(self, name: str) -> tuple[Column, ...]:
        """Return what went with elements, and how many are gone."""
        return (
            Column(f"eroded_{name}", "J", plot="energy of eroded elements", summary="end"),
            Column(f"elements_gone_{name}", "", "count", summary="end"),
        )

    def observed(self, name: str, z: Array) -> dict[str, float]:
        """Return both."""
        return {f"eroded_{name}": self.eroded(z), f"elements_gone_{name}": float(self.gone(z).sum())}

    def energies(self, q: Array, z: Array) -> Array:
        """Return the elastic energies [m] in J of the elements, 0 of those that are gone."""
        return self._of_all(z, (), lambda some, own: some.energies(q, own))

    def cauchy(self, q: Array, z: Array) -> Array:
        """Return the mean Cauchy stress [m, 3, 3] in Pa of the elements, 0 of those that are gone."""
        return self._of_all(z, (3, 3), lambda some, own: some.cauchy(q, own))

    def cauchy_at_points(self, q: Array, z: Array) -> Array:
        """Return the Cauchy stress [m, g, 3, 3] in Pa at points, 0 of elements that are gone."""
        return self._of_all(z, (z.shape[1], 3, 3), lambda some, own: some.cauchy_at_points(q, own))

    def plastic_strain(self, z: Array) -> Array:
        """Return the equivalent plastic strain α [m], of elements that are gone the last one."""
        return self.part.plastic_strain(z[..., :-_MORE])

    def at_points(self, quantity: str, q: Array, z: Array) -> Array | None:
        """Return a quantity at points, or None: of elements that are gone the last one, but no back stress."""
        if quantity != "back_stress":
            return self.part.at_points(quantity, q, z[..., :-_MORE])
        if not self.hardening.has_back_stress:
            return None
        return self._of_all(z, (z.shape[1], 3, 3), lambda some, own: some.at_points(quantity, q, own))

    def _of_all(self, z: Array, shape: tuple[int, ...], evaluate: Callable[[Plastic, Array], Array | None]) -> Array:
        """Return values of all elements [m, shape], zero of those that are gone."""
        there, some, own = self._present(z)
        out = np.zeros((len(z), *shape))
        if some is not None:
            out[there] = evaluate(some, own)
        return out
