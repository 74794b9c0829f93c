"""What all strain energies of elements have in common: every form, of elements apart, by one function."""

from __future__ import annotations

from abc import abstractmethod

from symplex.fem import forms
from symplex.fem.energy import Array, Energy
from symplex.fem.forms import Form


class ElementForms(Energy):
    """An energy of elements of one type and one material, or a part of it.

    Attributes
    ----------
    volumes : float64 [m]
        Undeformed volumes in m³.
    """

    volumes: Array

    @abstractmethod
    def local(self, form: Form, *x: Array) -> Array:
        """Return a form of each element apart, as its local function does, for gathered arrays [m, k, 3]."""

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, 3] in N of the elements with nodes at x [m, k, 3]."""
        return self.local(forms.GRADIENT, x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 3k, 3k] in N/m of the elements with nodes at x [m, k, 3]."""
        return self.local(forms.HESSIAN, x)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, k, 3] in N with DG·(x1 − x0) = φ(x1) − φ(x0), for x0 and x1 [m, k, 3].

        Of each element its forces sum to zero, and so do their moments at the mean positions (x0 + x1)/2, if the law is
        objective.
        """
        return self.local(forms.DISCRETE_GRADIENT, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 3k, 3k] in N/m, which is not symmetric."""
        return self.local(forms.DISCRETE_HESSIAN, x0, x1)

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return Σ w F_m S(C_m) ∇N_a [m, k, 3] in N for x0 and x1 [m, k, 3], F_m and C_m the means of F and C."""
        return self.local(forms.MEAN_GRADIENT, x0, x1)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, k, k] in N/m, 𝓕_ab = ∫ ∇N_a·S ∇N_b, of the elements with nodes at x [m, k, 3].

        Raises
        ------
        InvalidSystem
            If the law is not objective: its forces do not turn with the body, as 𝓕 x does.
        InvertedElement, MaterialFailed
        """
        return self.local(forms.SECANT, x)

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, k, k] in N/(m s), 𝓕̇_ab = ∫ ∇N_a·Ṡ ∇N_b with Ṡ = ℂ : Ċ/2, for x and v [m, k, 3]; see `secant`."""
        return self.local(forms.SECANT_RATE, x, v)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, k, 3] of the elements with nodes at x along a [m, k, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
            As the gradient.
        InvalidSystem
            If the material has no second derivative of its stress.
        """
        return self.local(forms.THIRD, x, a)


class ElementEnergy(ElementForms):
    """The strain energy of elements of one type and one material, with strain and stress for output: means."""

    @abstractmethod
    def deformation_gradients(self, q: Array) -> Array:
        """Return F [m, 3, 3] at the nodal positions q [n, 3], its mean over the undeformed element."""

    @abstractmethod
    def jacobians(self, q: Array) -> Array:
        """Return deformed over undeformed volume [m] at the nodal positions q [n, 3]; det F if F is uniform."""

    @abstractmethod
    def first_piola(self, q: Array) -> Array:
        """Return P = ∂W/∂F [m, 3, 3] in Pa at the nodal positions q [n, 3], its mean over the undeformed element.

        Raises
        ------
        InvertedElement
            If det F ≤ 0 anywhere.
        MaterialFailed
            If the law has no finite stress.
        """

    @abstractmethod
    def cauchy(self, q: Array) -> Array:
        """Return the Cauchy stress σ = P Fᵀ/J [m, 3, 3] in Pa at the positions q [n, 3], its mean over the element.

        Raises
        ------
        InvertedElement, MaterialFailed
            As `first_piola`.
        """
