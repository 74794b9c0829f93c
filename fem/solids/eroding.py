"""Bodies whose elements go when they fail, with what they stored in the balance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.quantities import positive
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.energy import Energy
from symplex.fem.solids.plastic import Flowing, Plastic
from symplex.fem.solids.plastic_points import MELTING, RATE, REFERENCE
from symplex.fem.solids.solid import Solid

# Numbers of a point besides those of the metal: 1 where the element is gone, and its share of what went. Before them is
# the damage of Johnson and Cook.
_MORE = 2
CRITERIA = ("failure_strain", "johnson_cook", "principal_stress", "tension", "time_step")


@checked
@final
@dataclass(frozen=True)
class JohnsonCookFailure:
    """The plastic strain at which a metal fails, by triaxiality, rate and temperature (Johnson and Cook 1985).

    αf = (d1 + d2 exp(d3 σm/σ)) (1 + d4 ln(α̇/α̇0)) (1 + d5 Θ), of the mean stress σm and von Mises' σ of an element and
    the rate above α̇0 of the hardening, or 1/s; Θ = (T − T0)/(Tm − T0) of the softening. Damage grows by dα/αf, to 1.

    Parameters
    ----------
    d1, d2, d3, d4, d5 : float
        Usually d3 is negative: metals fail early where they are stretched in all directions.
    """

    d1: float
    d2: float = 0.0
    d3: float = 0.0
    d4: float = 0.0
    d5: float = 0.0

    def strain(self, triaxiality: Array, rate: Array, relative_temperature: Array) -> Array:
        """Return αf [m], no less than zero, given the rate over α̇0."""
        found = (self.d1 + self.d2 * np.exp(np.clip(self.d3 * triaxiality, -50.0, 50.0))) * (
            1.0 + self.d4 * np.log(np.maximum(rate, 1.0))
        )
        return np.maximum(found * (1.0 + self.d5 * relative_temperature), 0.0)


@checked
@final
class Eroding(Flowing):
    """A body of metal whose elements go when they fail.

    An element is gone at the end of the increment in which one of the criteria is met: it has no stress any more, and
    what it stored is dissipated, in the balance and in the column ``eroded_NAME``. Its mass stays at its nodes, so that
    momenta do not change; nodes without elements fly on. Contact between bodies follows
    (`symplex.contact.ExposedSurface`).

    Limits, like softening, depend on the mesh: smaller elements concentrate strain. Fit both together.

    Parameters
    ----------
    part : Plastic
    failure_strain : float, optional
        The limit of the equivalent plastic strain α, its mean over an element.
    johnson_cook : JohnsonCookFailure, optional
        Instead of one strain, a strain that depends on triaxiality, rate and temperature.
    principal_stress : float, optional
        The limit in Pa of the largest principal stress of the mean stress of an element.
    tension : float, optional
        The limit in Pa of tr σ/3 of the same: spalling.
    time_step : float, optional
        In s: an element goes whose own stable step, 2/ω with ω² = k Σ|∇N|² (λ + 2μ)/ρ of its k nodes, becomes shorter.

    Attributes
    ----------
    part : Plastic
    failure_strain, johnson_cook, principal_stress, tension, time_step

    Raises
    ------
    InvalidSystem
        If there is no criterion, or the failure depends on a temperature that the hardening does not know.
    """

    erodes = True

    def __init__(
        self,
        part: Plastic,
        failure_strain: Annotated[float, positive("1")] | None = None,
        *,
        johnson_cook: JohnsonCookFailure | None = None,
        principal_stress: Annotated[float, positive("Pa")] | None = None,
        tension: Annotated[float, positive("Pa")] | None = None,
        time_step: Annotated[float, positive("s")] | None = None,
    ):
        self.part, self.failure_strain, self.johnson_cook = part, failure_strain, johnson_cook
        self.principal_stress, self.tension, self.time_step = principal_stress, tension, time_step
        if not self._criteria:
            raise InvalidSystem(f"Eroding: no criterion is given, one of {', '.join(CRITERIA)} is needed.")
        if johnson_cook is not None and johnson_cook.d5 != 0.0 and part.hardening.constants[MELTING] == 0.0:
            raise InvalidSystem("Eroding: d5 needs a melting temperature, Hardening.with_softening.")
        self.solid, self.hardening, self.nodes = part.solid, part.hardening, part.nodes
        self._more = _MORE + (johnson_cook is not None)
        self.shape = (*part.shape[:-1], part.shape[-1] + self._more)
        self._some: tuple[bytes, NDArray[np.bool_], Plastic | None] | None = None

    @property
    def _criteria(self) -> dict[str, Any]:
        """The criteria that are given, by name."""
        return {name: limit for name in CRITERIA if (limit := getattr(self, name)) is not None}

    @property
    def limits(self) -> str:
        """The criteria, in words."""
        units = {"failure_strain": "", "principal_stress": " Pa", "tension": " Pa", "time_step": " s"}
        return ", ".join(
            f"{name.replace('_', ' ')}" + (f" {limit:g}{units[name]}" if name in units else "")
            for name, limit in self._criteria.items()
        )

    def __repr__(self) -> str:
        return f"Eroding({self.part!r}, {', '.join(f'{name}={limit}' for name, limit in self._criteria.items())})"

    def on(self, solid: Solid) -> Eroding:
        """Return the same law of another solid."""
        return Eroding(self.part.on(solid), **self._criteria)

    # -- which elements there are -------------------------------------------------------------------------------------

    def gone(self, z: Array) -> NDArray[np.bool_]:
        """Return which elements [m] are gone."""
        return z[(slice(None), *(0,) * (z.ndim - 2), -2)] > 0.0

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
        some = self._some[2]
        if some is not None:
            some.counts = None if self.counts is None else self.counts[there]
        return there, some, z[there][..., : -self._more]

    def unstrained(self) -> Array:
        """Return the internal variables of a body that has not flowed, with all of its elements."""
        return self._extended(self.part.unstrained())

    def relaxed(self, q: Array) -> Array:
        """Return the internal variables of a body that was brought to the positions q [n, 3] by one increment."""
        return self._extended(self.part.relaxed(q))

    def _extended(self, z: Array) -> Array:
        return np.concatenate([z, np.zeros((*z.shape[:-1], self._more))], axis=-1)

    def steepness(self, q: Array, z: Array) -> float:
        """Return the largest Σ|∇N|² of an element that is there in 1/m² at the positions q [n, 3]."""
        _, some, own = self._present(z)
        return 0.0 if some is None else some.steepness(q, own)

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
        z1[there, ..., : -self._more] = end
        if h == 0.0:
            return z1, lost
        damage = z1[there, ..., -_MORE - 1] if self.johnson_cook is not None else None
        fails = self._failing(some, z0[there][..., : -self._more], q1, end, h, damage)
        if damage is not None:
            z1[there, ..., -_MORE - 1] = damage
        if fails.any():
            rows = np.flatnonzero(there)[fails]
            energies = some.energies(q1, end)[fails]
            z1[rows, ..., -2] = 1.0
            points = z1[rows, ..., -1].reshape(len(rows), -1).shape[1]
            z1[rows, ..., -1] = (energies / points).reshape(-1, *(1,) * (z1.ndim - 2))
            lost += float((energies if self.counts is None else energies[self.counts[rows]]).sum())
        return z1, lost

    def _failing(
        self, some: Plastic, start: Array, q1: Array, end: Array, h: float, damage: Array | None
    ) -> NDArray[np.bool_]:
        """Return which of the elements that are there fail by their state at the end, and add to their damage."""
        alpha = some.plastic_strain(end)
        fails = np.zeros(len(end), bool)
        if self.failure_strain is not None:
            fails |= alpha >= self.failure_strain
        if self.time_step is not None:
            material = some.solid.material
            frequency = np.sqrt(some.nodes.shape[1] * some.steepnesses(q1)) * material.wave_speed
            fails |= self.time_step * frequency > 2.0
        if self.principal_stress is None and self.tension is None and damage is None:
            return fails
        sigma = some.cauchy(q1, end)
        mean = np.trace(sigma, axis1=1, axis2=2) / 3.0
        if self.principal_stress is not None:
            fails |= np.linalg.eigvalsh(sigma)[:, -1] >= self.principal_stress
        if self.tension is not None:
            fails |= mean >= self.tension
        if damage is not None:
            assert self.johnson_cook is not None
            constants, change = self.hardening.constants, np.maximum(alpha - some.plastic_strain(start), 0.0)
            deviator = sigma - mean[:, None, None] * np.eye(3)
            mises = np.sqrt(1.5 * np.sum(deviator**2, axis=(1, 2)))
            triaxiality = np.divide(mean, mises, out=np.zeros_like(mean), where=mises > 0.0)
            relative = np.zeros_like(mean)
            if self.johnson_cook.d5 != 0.0:
                T = some.at_points("temperature", q1, end)
                assert T is not None
                span = constants[MELTING] - constants[REFERENCE]
                relative = np.clip((T.mean(axis=(1, 2)) - constants[REFERENCE]) / span, 0.0, 1.0)
            rate = change / h / (constants[RATE] or 1.0)
            limit = self.johnson_cook.strain(triaxiality, rate, relative)
            more = np.divide(change, limit, out=np.where(change > 0.0, 1.0, 0.0), where=limit > change)
            damage += more.reshape(-1, *(1,) * (damage.ndim - 1))
            fails |= damage.reshape(len(damage), -1)[:, 0] >= 1.0
        return fails

    def add_lost(self, z: Array, element: int, energy: float) -> None:
        """Add to what went with an element that is gone, in J, in z itself: contact energy at faces."""
        z[(element, *(0,) * (z.ndim - 2), -1)] += energy

    def increment(self, z: Array) -> Energy:
        """Refuse statics: nodes without elements have no equilibrium.

        Raises
        ------
        InvalidSystem
            Always.
        """
        raise InvalidSystem(
            "static equilibria cannot follow elements that go, as nodes without elements have none. Take "
            "EnergyMomentum, Midpoint or Newmark, or leave criteria of failure out."
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
        return self.part.plastic_strain(z[..., : -self._more])

    def damage(self, z: Array) -> Array | None:
        """Return the damage [m] of Johnson and Cook, 1 of elements that are gone; None without their criterion."""
        if self.johnson_cook is None:
            return None
        return np.where(self.gone(z), 1.0, np.minimum(z.reshape(len(z), -1, z.shape[-1])[:, 0, -_MORE - 1], 1.0))

    def at_points(self, quantity: str, q: Array, z: Array) -> Array | None:
        """Return a quantity at points, or None: of elements that are gone the last one, but no back stress."""
        if quantity != "back_stress":
            return self.part.at_points(quantity, q, z[..., : -self._more])
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
