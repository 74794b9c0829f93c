"""The hourglass energy of hexahedra whose law is NumPy functions, in NumPy as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from symplex.fem import forms
from symplex.fem.energy import Array, IntArray
from symplex.fem.forms import Form
from symplex.fem.solids.element_energy import ElementForms
from symplex.fem.solids.hourglass import Hexahedra
from symplex.fem.solids.hourglass_strains import HourglassStrains, matrices_of

_TOGETHER = 1024  # elements, of which some 20 kB each are needed at a time


@final
class Hourglasses(ElementForms):
    """The energy φ = ½ Q·K Q of hexahedra; see `symplex.fem.solids.hourglass_functions`.

    Parameters
    ----------
    nodes : int32 [m, 8]
    geometry : Hexahedra
    moduli : float64 [m, 21]
        The numbers of K.
    objective : bool
        Whether the law is.
    """

    def __init__(self, nodes: IntArray, geometry: Hexahedra, moduli: Array, objective: bool):
        self.nodes = nodes
        self.volumes = geometry.volumes
        self._strains = HourglassStrains(geometry, frozen=not objective)
        self._K = matrices_of(moduli)

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form at the nodal positions q [n, 3], and other nodal arrays, to out (see `Energy.add`)."""
        for part in self._parts:
            to = self.nodes[part] if slots is None else slots[part]
            forms.SCATTER[form.kind](self._of_part(part, form, *(q[self.nodes[part]] for q in nodal)), to, out)

    def local(self, form: Form, *x: Array) -> Array:
        """Return a form of each element apart, as its local function does, for gathered arrays [m, 8, 3]."""
        out = np.empty(form.local_shape(*x[0].shape))
        for part in self._parts:
            out[part] = self._of_part(part, form, *(y[part] for y in x))
        return out

    def value(self, x: Array) -> Array:
        """Return the energies [m] in J of the elements with nodes at x [m, 8, 3]."""
        return _energies(self._strains.products(x), self._K)

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return float(self.value(q[self.nodes]).sum())

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one element with nodes at x [8, 3]."""
        one = slice(stencil, stencil + 1)
        return float(_energies(self._strains.part(one).products(x[None]), self._K[one])[0])

    @property
    def _parts(self) -> list[slice]:
        return [slice(first, first + _TOGETHER) for first in range(0, len(self.nodes), _TOGETHER)]

    def _of_part(self, part: slice, form: Form, *x: Array) -> Array:
        return np.ascontiguousarray(_FORMS[form](self._strains.part(part), self._K[part], *x))


def _energies(Q: Array, K: Array) -> Array:
    return 0.5 * np.einsum("ei,eij,ej->e", Q, K, Q, optimize=True)


def _product(A: Array, x: Array) -> Array:
    """Return A x of each element."""
    return (A @ x.reshape(len(x), -1, 1))[:, :, 0]


def _forces(B: Array, T: Array) -> Array:
    """Return Bᵀ T [e, 8, 3]."""
    return _product(B.swapaxes(1, 2), T).reshape(-1, 8, 3)


def _gradient(strains: HourglassStrains, K: Array, x: Array) -> Array:
    return _forces(strains.slopes(x), _product(K, strains.products(x)))


def _hessian(strains: HourglassStrains, K: Array, x: Array) -> Array:
    B = strains.slopes(x)
    return B.swapaxes(1, 2) @ K @ B + strains.curvature(_product(K, strains.products(x)))


def _mean_stress(strains: HourglassStrains, K: Array, x0: Array, x1: Array) -> Array:
    return _product(K, 0.5 * (strains.products(x0) + strains.products(x1)))


def _discrete_gradient(strains: HourglassStrains, K: Array, x0: Array, x1: Array) -> Array:
    return _forces(strains.slopes(0.5 * (x0 + x1)), _mean_stress(strains, K, x0, x1))


def _increment_gradient(strains: HourglassStrains, K: Array, x: Array, compensation: Array, dx: Array) -> Array:
    # of differences within elements: positions far away have few digits
    start, compensation, moved = (y - y[:, :1] for y in (x, compensation, dx))
    return _discrete_gradient(strains, K, start + compensation, start + (compensation + moved))


def _discrete_hessian(strains: HourglassStrains, K: Array, x0: Array, x1: Array) -> Array:
    left = strains.slopes(0.5 * (x0 + x1)).swapaxes(1, 2)
    return 0.5 * (left @ K @ strains.slopes(x1) + strains.curvature(_mean_stress(strains, K, x0, x1)))


def _secant(strains: HourglassStrains, K: Array, x: Array) -> Array:
    return strains.secants(_product(K, strains.products(x)))


def _secant_rate(strains: HourglassStrains, K: Array, x: Array, v: Array) -> Array:
    return strains.secants(_product(K, _product(strains.slopes(x), v)))


def _third(strains: HourglassStrains, K: Array, x: Array, a: Array) -> Array:
    if strains.frozen:
        return np.zeros_like(x)
    B, slope = strains.slopes(x), strains.slopes(a)
    return _forces(B, _product(K, 2.0 * strains.products(a))) + _forces(2.0 * slope, _product(K, _product(B, a)))


_FORMS: dict[Form, Callable[..., Array]] = {
    forms.GRADIENT: _gradient,
    forms.HESSIAN: _hessian,
    forms.SECANT: _secant,
    forms.SECANT_RATE: _secant_rate,
    forms.THIRD: _third,
    forms.MEAN_GRADIENT: _discrete_gradient,
    forms.DISCRETE_GRADIENT: _discrete_gradient,
    forms.INCREMENT_GRADIENT: _increment_gradient,
    forms.DISCRETE_HESSIAN: _discrete_hessian,
}
