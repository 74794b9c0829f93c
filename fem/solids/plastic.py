"""Metals that flow: bodies of J2 plasticity at finite strains, whose energy balances."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from math import isfinite
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array, IntArray, scatter_blocks, scatter_vectors
from symplex.fem.assembly.team import Phases
from symplex.fem.compiled.lane_values import EIGHT
from symplex.fem.energies.energy import Energy
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.solids import plastic_lanes, plastic_loops
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.hourglass import hexahedra_of, moduli_of, undeformed_elasticities
from symplex.fem.solids.hourglass_strains import HourglassStrains, matrices_of
from symplex.fem.solids.plastic_loops import BACK_STRAIN, TEMPERATURE
from symplex.fem.solids.plastic_points import BACK, HEAT, MEAN_NORMAL, MELTING, RATE, START
from symplex.fem.solids.solid import Solid, solids_of

_MOST_RANGES, _LEAST_ELEMENTS = 16, 32  # of threads; an element takes some 10 µs
_ONE = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
_PLACES = ((0, 3, 4), (3, 1, 5), (4, 5, 2))
_ADVICE = {  # by element and formulation, why not and what instead
    ("hexahedron", "full"): (
        'hexahedra of formulation "full" lock when metal flows: the foot of a Taylor bar becomes 35 % too '
        'small. Take formulation "mean-dilatation"'
    ),
    ("wedge", "full"): 'wedges of formulation "full" lock when metal flows. Take formulation "mean-dilatation"',
    ("pyramid", "full"): 'pyramids of formulation "full" lock when metal flows. Take formulation "mean-dilatation"',
}
LOCKING = (
    "linear tetrahedra lock when metal flows: the foot of a Taylor bar becomes 37 % too small, also on fine meshes. "
    'Take quadratic tetrahedra ("tetra10"), or hexahedra of formulation "mean-dilatation".'
)
_LINEAR = frozenset({"hexahedron", "wedge", "pyramid"})  # with mean dilatation; others as their shape functions say


class Flowing(Inelastic):
    """The whole law of a solid whose metal flows, as fields and pictures ask it.

    Attributes
    ----------
    solid : Solid
    hardening : Hardening
    """

    history = True
    is_divisible = True
    solid: Solid
    hardening: Hardening

    @abstractmethod
    def on(self, solid: Solid) -> Self:
        """Return the same law of another solid."""

    def of_some(self, chosen: NDArray[np.integer], nodes: IntArray) -> Self:
        """Return chosen elements alone, on other nodes."""
        return self.on(self.solid.of_some(chosen, nodes))

    @abstractmethod
    def energies(self, q: Array, z: Array) -> Array:
        """Return the elastic energies [m] in J of the elements at the positions q [n, 3]."""

    @abstractmethod
    def cauchy(self, q: Array, z: Array) -> Array:
        """Return the Cauchy stress [m, 3, 3] in Pa at the positions q [n, 3], its mean over the deformed element."""

    @abstractmethod
    def cauchy_at_points(self, q: Array, z: Array) -> Array:
        """Return the Cauchy stress [m, g, 3, 3] in Pa at the points of quadrature, at the positions q [n, 3]."""

    @abstractmethod
    def plastic_strain(self, z: Array) -> Array:
        """Return the equivalent plastic strain α [m], its mean over the undeformed element."""

    @abstractmethod
    def at_points(self, quantity: str, q: Array, z: Array) -> Array | None:
        """Return a quantity at the points of quadrature: None if the metal has none.

        ``plastic_strain`` is the equivalent plastic strain [m, g, 1], ``temperature`` [m, g, 1] in K, ``back_stress``
        [m, g, 3, 3] in Pa that of the Kirchhoff stress, in the deformed body.
        """


@checked
@final
class Plastic(Flowing):
    """A body of metal that flows: J2 plasticity at finite strains.

    It is the whole law of the body, elastic strains included: a system has it *instead of* the energy of the solid,
    ``System(mass, {}, inelastic={"bar": Plastic(solid, hardening)})``. The deformation gradient is the product of an
    elastic and a plastic one (Simo 1992). The elastic energy is Hencky's, of logarithmic strains ε with the solid's
    moduli K and μ,

    ψ = K/2 (tr ε)² + μ |dev ε|²

    and the metal flows where √(3/2) |dev σ| reaches σy(α) of the hardening, by the radial return
    (`symplex.fem.solids.plastic_points`). Only C and the internal variables enter: rigid motions neither dissipate nor
    change the momenta.

    The hardening may add a rate, a back stress and heating; the flow stress is then that of the temperature at the
    start of an increment. An increment dissipates ∫ σ dα ≥ 0, the plastic work less what a back stress stores, of which
    a real metal turns some 90 % into heat. With a rate or softening, by which metals flow on where nothing is deformed,
    the dissipation is what work and stored energy leave: then it is no less than zero only in increments of small
    strains. In methods with discrete gradients work, stored energy and dissipation balance to round-off. The return is
    of first order in time.

    Parameters
    ----------
    solid : Solid
        The body: hexahedra, wedges or pyramids of formulation ``"mean-dilatation"``, stabilized hexahedra, whose
        hourglass stress yields with the mean one, or quadratic elements of formulation ``"full"`` or ``"reduced"``.
        Linear tetrahedra lock, with a warning. Of its material the moduli at small strains and the density
        are taken.
    hardening : Hardening
    return_mapping : {"radial", "mean-normal"}, default "radial"
        The second one of isotropic hardening without rate, back stress and softening.

    Raises
    ------
    InvalidSystem
        If the elements would lock, the return is not known of the hardening, or the material is not isotropic or one of
        small strains.
    """

    def __init__(
        self, solid: Solid, hardening: Hardening, *, return_mapping: Literal["radial", "mean-normal"] = "radial"
    ):
        material = solid.material
        if not material.objective or not material.isotropic or solid.fibres is not None:
            raise InvalidSystem(
                f"Plastic: the elastic law {type(material).__name__} must be isotropic and of finite strains; take "
                "NeoHookean.from_young(E, nu, density)."
            )
        averaged = solid.formulation == "mean-dilatation"
        advice = _ADVICE.get((solid.kind, solid.formulation))
        if advice is None and averaged and solid.kind not in _LINEAR:
            advice = (
                f'elements "{solid.kind}" of formulation "mean-dilatation" have points that collapse when metal flows. '
                'Take formulation "full"'
            )
        if advice is not None:
            raise InvalidSystem(f"Plastic: {advice}.")
        if solid.kind == "tetra":
            warnings.warn(f"Plastic: {LOCKING}", stacklevel=3)
        if return_mapping == "mean-normal":
            constants_ = hardening.constants
            if constants_[RATE] or constants_[MELTING] or hardening.has_back_stress:
                raise InvalidSystem(
                    'Plastic: return_mapping "mean-normal" is known of isotropic hardening without a rate, a back '
                    'stress and softening. Take "radial".'
                )
        self.solid, self.hardening, self.nodes = solid, hardening, solid.nodes
        self.return_mapping: Literal["radial", "mean-normal"] = return_mapping
        _, weights, gradients = solid.part()
        lmbda, mu = material.lame_constants
        elastic = np.array([lmbda + 2.0 * mu / 3.0, mu])
        constants = hardening.constants.copy()
        constants[HEAT] /= material.density
        constants[MEAN_NORMAL] = return_mapping == "mean-normal"
        products, stiffness = np.zeros((1, 7, 8)), np.zeros((1, 12, 12))
        if solid.formulation == "stabilized":
            if hardening.has_back_stress:
                raise InvalidSystem(
                    "Plastic: stabilized hexahedra are not known with a back stress. Take formulation "
                    '"mean-dilatation".'
                )
            geometry = hexahedra_of(solid.points, solid.nodes)
            products = HourglassStrains(geometry).linear
            stiffness = matrices_of(moduli_of(geometry, material, undeformed_elasticities(material, None)))
        self._known = (gradients, weights, elastic, averaged, constants, hardening.points, products, stiffness)
        self._weights = weights
        numbers = plastic_loops.NUMBERS + hardening.heats
        if hardening.has_back_stress:
            numbers = plastic_loops.WITH_BACK
        elif solid.formulation == "stabilized":
            numbers = plastic_loops.WITH_HOURGLASS
        self.shape = (*weights.shape, numbers)
        m = len(self.nodes)
        size = max(-(-m // _MOST_RANGES), _LEAST_ELEMENTS)
        self._phases = Phases([(first, min(first + size, m)) for first in range(0, m, size)])

    def __repr__(self) -> str:
        more = ', return_mapping="mean-normal"' if self.return_mapping == "mean-normal" else ""
        return f"Plastic({self.solid!r}, {self.hardening!r}{more})"

    def on(self, solid: Solid) -> Plastic:
        """Return the same law of another solid."""
        with warnings.catch_warnings(action="ignore"):  # which is issued already
            return Plastic(solid, self.hardening, return_mapping=self.return_mapping)

    def unstrained(self) -> Array:
        """Return the internal variables [m, g, k] of a body that has not flowed: Cp⁻¹ = 1, α = 0 and others."""
        z = np.zeros(self.shape)
        z[..., :6] = _ONE
        z[..., TEMPERATURE : TEMPERATURE + 1] = self.hardening.constants[START]
        return z

    def relaxed(self, q: Array) -> Array:
        """Return the internal variables of a body that was brought to the positions q [n, 3] by one increment."""
        return self.after(self.solid.points_at(np.arange(len(q))), self.unstrained(), q, np.inf)[0]

    def steepness(self, q: Array, z: Array) -> float:
        """Return the largest Σ|∇N|² of an element in 1/m² at the positions q [n, 3]."""
        return float(self.steepnesses(q).max(initial=0.0))

    def steepnesses(self, q: Array) -> Array:
        """Return the largest Σ|∇N|² [m] of the points of each element in 1/m² at the positions q [n, 3]."""
        out = np.empty(len(self.nodes))
        self.run(plastic_loops.write_steepness, (q,), (q,), (out,))
        return out

    def stored(self, q: Array, z: Array) -> float:
        """Return the stored energy ψ in J, of elastic strains and back stresses."""
        return self.summed(self.energies(q, z))

    def energies(self, q: Array, z: Array) -> Array:
        """Return the stored energies [m] in J of the elements at the positions q [n, 3]."""
        out = np.empty(len(self.nodes))
        self.run(plastic_loops.write_energies, (q,), (q, z), (0.0, out))
        return out

    def force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return the nodal forces [n, 3] in N at the end of an increment; with h = 0 nothing flows."""
        local = np.empty((*self.nodes.shape, 3))
        self.run(plastic_loops.write_forces, (q1,), (q1, z0), (float(h), local))
        return self._scattered(local, len(q1))

    def mean_force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return the nodal forces [n, 3] in N of an increment, whose work is −Δψ − D."""
        local = np.empty((*self.nodes.shape, 3))
        self.run(plastic_loops.write_mean_forces, (q0, q1), (q0, z0, q1), (float(h), local))
        return self._scattered(local, len(q1))

    def add_derivatives(
        self, q0: Array, z0: Array, q1: Array, h: float, by_q: float, slots: IntArray, out: Array, *, mean: bool
    ) -> None:
        """Add by_q ∂f/∂q1 to the blocks out [nnz, 3, 3], of `mean_force` or of `force`."""
        m, k = self.nodes.shape
        K, last = np.empty((m, 3 * k, 3 * k)), (float(h), -by_q)
        if mean:
            self.run(plastic_loops.write_mean_tangents, (q0, q1), (q0, z0, q1), (*last, K))
        else:
            self.run(plastic_loops.write_tangents, (q1,), (q1, z0), (*last, K))
        scatter_blocks(K, slots, out)

    def increment(self, z: Array) -> _Increment:
        """Return the energy ψ + ∫ σy dα of an increment from z."""
        return _Increment(self, z)

    def after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, float]:
        """Return the internal variables at the end of an increment, and the dissipation in J."""
        z, lost = np.empty(self.shape), np.empty(len(self.nodes))
        self.run(plastic_loops.write_after, (q0, q1), (q0, z0, q1), (float(h), z, lost))
        return z, self.summed(lost)

    def force_and_after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, Array, float]:
        """Return `force` and what `after` returns of one increment, of the usual metals in one pass by lanes."""
        if self._lanes is None or h == 0.0:
            return super().force_and_after(q0, z0, q1, h)
        local, z, lost = np.empty((*self.nodes.shape, 3)), np.empty(self.shape), np.empty(len(self.nodes))
        self.run(plastic_lanes.write_steps, (q1,), (q1, z0), (float(h), self._lanes, local, z, lost))
        return self._scattered(local, len(q1)), z, self.summed(lost)

    @cached_property
    def _lanes(self) -> Array | None:
        """∇N [m, 3, k, 8], with the first point again in the place of others; None if steps are not done by lanes."""
        gradients, n = self._known[0], self._weights.shape[1]
        special = plastic_loops.closes(self._known[4]) or self._known[4][MEAN_NORMAL] or self.hardening.has_back_stress
        if n > EIGHT or special or self.solid.formulation == "stabilized":
            return None
        padded = gradients[:, [*range(n), *[0] * (EIGHT - n)]]
        return np.ascontiguousarray(padded.transpose(0, 2, 3, 1))

    # -- for results --------------------------------------------------------------------------------------------------

    def cauchy(self, q: Array, z: Array) -> Array:
        """Return the Cauchy stress [m, 3, 3] in Pa at the positions q [n, 3], its mean over the deformed element."""
        F, undeformed = self.solid.elements.deformations(q[self.nodes])
        volumes = undeformed * np.linalg.det(F)
        sigma = np.einsum("eg,egij->eij", volumes, self.cauchy_at_points(q, z))
        return sigma / volumes.sum(axis=1)[:, None, None]

    def cauchy_at_points(self, q: Array, z: Array) -> Array:
        """Return the Cauchy stress [m, g, 3, 3] in Pa at the points of quadrature, at the positions q [n, 3]."""
        out = np.empty((*self._weights.shape, 6))
        self.run(plastic_loops.write_stresses, (q,), (q, z), (out,))
        return out[..., _PLACES]

    def plastic_strain(self, z: Array) -> Array:
        """Return the equivalent plastic strain α [m], its mean over the undeformed element."""
        return (self._weights * z[..., 6]).sum(axis=1) / self._weights.sum(axis=1)

    def at_points(self, quantity: str, q: Array, z: Array) -> Array | None:
        """Return a quantity at the points of quadrature: None if the metal has none (see `Flowing`)."""
        if quantity == "plastic_strain":
            return z[..., 6:7]
        if quantity == "temperature":
            return z[..., TEMPERATURE : TEMPERATURE + 1] if self.hardening.heats else None
        if not self.hardening.has_back_stress:
            return None
        F = np.einsum("eai,egJa->egiJ", q[self.nodes], self._known[0])
        strain, P = (z[..., first : first + 6][..., _PLACES] for first in (BACK_STRAIN, 0))
        values, axes = np.linalg.eigh(F @ P @ np.swapaxes(F, -1, -2))
        root = np.einsum("...ik,...k,...jk->...ij", axes, values**-0.5, axes)  # of the elastic left stretch, inverse
        return 2.0 / 3.0 * self.hardening.constants[BACK] * (root @ F @ strain @ np.swapaxes(F, -1, -2) @ root)

    def run(
        self,
        kernel: Any,
        positions: tuple[Array, ...],
        given: tuple[Array, ...],
        last: tuple[Any, ...],
        nodes: IntArray | None = None,
    ) -> None:
        """Run a kernel over all elements, on their nodes or others [m, k].

        Raises
        ------
        InvertedElement, MaterialFailed
            If an element is inverted, or has no finite energy or stress.
        """
        arrays = (np.ascontiguousarray(array, float) for array in given)
        nodes = self.nodes if nodes is None else nodes
        if not isfinite(sum(self._phases.run(kernel, *arrays, nodes, *self._known, *last))):
            raise self.solid.elements.failure([q[nodes] for q in positions])

    def _scattered(self, local: Array, n: int) -> Array:
        out = np.zeros((n, 3))
        scatter_vectors(local, self.nodes, out)
        return out


@final
class _Increment(Energy):
    """The incremental potential of a body that flows, ψ + ∫ σy dα of one increment from z (Ortiz and Stainier 1999)."""

    def __init__(self, part: Plastic, z: Array):
        self.nodes, self._part, self._z = part.nodes, part, z
        self._own = np.arange(part.nodes.size, dtype=np.int32).reshape(part.nodes.shape)

    def value(self, x: Array) -> Array:
        """Return it [m] in J of elements with nodes at x [m, k, 3]."""
        out = np.empty(len(x))
        self._run(plastic_loops.write_energies, x, (np.inf, out))
        return out

    def gradient(self, x: Array) -> Array:
        """Return its gradients [m, k, 3] in N."""
        out = np.empty(x.shape)
        self._run(plastic_loops.write_forces, x, (np.inf, out))
        return np.negative(out, out=out)

    def hessian(self, x: Array) -> Array:
        """Return its second derivatives [m, 3k, 3k] in N/m."""
        m, k, _ = x.shape
        out = np.empty((m, 3 * k, 3 * k))
        self._run(plastic_loops.write_tangents, x, (np.inf, 1.0, out))
        return out

    def _run(self, kernel: Any, x: Array, last: tuple[Any, ...]) -> None:
        q = np.ascontiguousarray(x).reshape(-1, 3)
        self._part.run(kernel, (q,), (q, self._z), last, self._own)


def solids_in(energies: Mapping[str, Energy], inelastic: Mapping[str, Inelastic]) -> dict[str, Solid]:
    """Return the solids of a system, those of bodies that flow included, by name."""
    flowing = {name: part.solid for name, part in inelastic.items() if isinstance(part, Flowing)}
    return solids_of(energies) | flowing
