"""A potential energy as a sum of local energies on small stencils of nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.assembly import Array, IntArray, scatter_blocks, scatter_values, scatter_vectors
from symplex.fem.copying import Copyable

# What an energy may have beyond the gradient and Hessian, by the first function of each; and what to do without.
OptionalFunction = Literal["discrete_gradient", "mean_gradient", "secant", "third"]
_OPTIONAL: dict[OptionalFunction, tuple[str, str]] = {
    "discrete_gradient": (
        "discrete gradient",
        "Give it discrete_gradient and discrete_hessian.",
    ),
    "mean_gradient": (
        "gradient at mean strains",
        "Give it mean_gradient and mean_hessian.",
    ),
    "secant": (
        "secant form (gradient = 𝓕 x)",
        "Give it secant and secant_rate.",
    ),
    "third": (
        "third derivative",
        "Give it third.",
    ),
}


@dataclass(frozen=True)
class LatticeFunctions:
    """Compiled local functions of an energy, for integrators that visit one stencil at a time.

    Each address is that of a C function (``numba.cfunc(...).address``); ``x`` are the k·dim coordinates of one
    stencil, row by row, and ``p`` the stencil's row of ``parameters``.

    Attributes
    ----------
    parameters : float64 [m, p]
        One row per stencil.
    value : int
        ``double value(double* p, double* x)``: φ(x).
    difference : int
        ``double difference(double* p, double* x, int64 i, double h)``: φ(x + h e_i) − φ(x).
    mixed : int
        ``double mixed(double* p, double* x, int64 i, int64 j, double hi, double hj)``:
        φ(x + hi e_i + hj e_j) − φ(x + hi e_i) − φ(x + hj e_j) + φ(x), also for i = j and for steps of any sign.
    size : int, default 0
        How many coordinates of a stencil the functions are made for; 0: for those of any dimension of space.
    failures : list of BaseException
        What Python functions behind the addresses have raised: it cannot pass through the compiled loop.
    owner : object
        What must live as long as the addresses are used.
    """

    parameters: Array
    value: int
    difference: int
    mixed: int
    size: int = 0
    failures: list[BaseException] = field(default_factory=list)
    owner: object = None

    def raise_failure(self) -> None:
        """Raise what a Python function has raised since the last time, if anything: to be called after each loop."""
        if self.failures:
            raise self.failures.pop()


class Energy(Copyable, ABC):
    """A sum of m local energies, each a function of the positions of the k nodes of its stencil.

    The local functions are pure and take the gathered positions of *all* stencils, ``x = q[nodes]``.

    Attributes
    ----------
    nodes : int32 [m, k]
        The stencils.
    """

    nodes: IntArray

    @abstractmethod
    def value(self, x: Array) -> Array:
        """Return the local energies φ [m] in J at the positions x [m, k, dim] in m."""

    @abstractmethod
    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, dim] in N at the positions x [m, k, dim] in m."""

    @abstractmethod
    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, k·dim, k·dim] in N/m at the positions x [m, k, dim] in m."""

    # Optional, since not every user's energy has them: what some methods need beyond the gradient and Hessian.

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient DG [m, k, dim] in N along the increments from x0 to x1 [m, k, dim].

        DG·(x1 − x0) = φ(x1) − φ(x0) to round-off for increments of any size, DG(x0, x1) = DG(x1, x0), and
        DG(x, x) = ∂φ/∂x. Where φ is invariant to rigid motions, the forces DG sum to zero, and so do their moments
        at the midpoints ½(x0 + x1).

        Raises
        ------
        InvalidSystem
            If the energy has none.
        """
        raise self.lacks("discrete_gradient")

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, k·dim, k·dim] in N/m, which need not be symmetric.

        Raises
        ------
        InvalidSystem
            If the energy has no discrete gradient.
        """
        raise self.lacks("discrete_gradient")

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the gradient [m, k, dim] in N at the mean strains of the increments from x0 to x1 [m, k, dim].

        It is 𝓕 (x0 + x1)/2 with the secant matrices of the mean of the lengths at x0 and x1 (the assumed distances of
        Graham and Jelenić, eq. 6.3) or of the mean of the strains C: symmetric in x0 and x1, with forces that sum to
        zero as do their moments at the midpoints ½(x0 + x1). It does the work of the energy up to the third order of
        the increment, and all of it where the energy is quadratic in the length, or in C.

        Raises
        ------
        InvalidSystem
            If the energy has no such strains.
        """
        raise self.lacks("mean_gradient")

    def mean_hessian(self, x0: Array, x1: Array) -> Array:
        """Return the derivative of the mean gradient with x1 [m, k·dim, k·dim] in N/m, which need not be symmetric.

        Raises
        ------
        InvalidSystem
            If the energy has no mean gradient.
        """
        raise self.lacks("mean_gradient")

    def secant(self, x: Array) -> Array:
        """Return the secant matrices 𝓕 [m, k, k] in N/m at the positions x [m, k, dim] in m.

        ∂φ/∂x_a = Σ_b 𝓕_ab x_b, 𝓕 symmetric, with rows that sum to zero: what energies have that depend on distances
        only (pairs, φ'(l)/l; solids, ∫ ∇N_a · S ∇N_b). See Graham and Jelenić (2006), eq. 2.17.

        Raises
        ------
        InvalidSystem
            If the energy has none.
        """
        raise self.lacks("secant")

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return the derivative 𝓕̇ [m, k, k] in N/(m s) of the secant matrices at x along velocities v [m, k, dim].

        It is linear in v.

        Raises
        ------
        InvalidSystem
            If the energy has no secant matrices.
        """
        raise self.lacks("secant")

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, k, dim], the second derivative of the gradient along a [m, k, dim], at x.

        In N/m² times the square of the unit of a.

        Raises
        ------
        InvalidSystem
            If the energy has none.
        """
        raise self.lacks("third")

    def has(self, optional: OptionalFunction) -> bool:
        """Return whether the energy has an optional method, named by the first of its functions."""
        return getattr(type(self), optional) is not getattr(Energy, optional)

    def lacks(self, optional: OptionalFunction, name: str | None = None) -> InvalidSystem:
        """Return the error that an optional method is missing, for an energy with a name in a system."""
        what, advice = _OPTIONAL[optional]
        who = type(self).__name__ if name is None else f"energy '{name}' ({type(self).__name__})"
        return InvalidSystem(f"{who} has no {what}. {advice}")

    # The assembled forms below are what integrators call. They are written once here;
    # an energy that fuses gather, local function and scatter for speed overrides them.

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, dim]."""
        return float(self.value(q[self.nodes]).sum())

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, dim] to out [n, dim]."""
        self._scatter_vectors("gradient", self.gradient(q[self.nodes]), out)

    def add_discrete_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the discrete gradient in N from the nodal positions q0 to q1 [n, dim] to out [n, dim]."""
        local = self.discrete_gradient(q0[self.nodes], q1[self.nodes])
        self._scatter_vectors("discrete gradient", local, out)

    def add_hessian(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add the Hessian in N/m at the nodal positions q [n, dim] to the blocks out [nnz, dim, dim].

        Parameters
        ----------
        q : float64 [n, dim]
            Nodal positions in m.
        slots : int32 [m, k, k]
            The place of the block of each pair of nodes of each stencil (see `symplex.fem.assembly.Pattern`).
        out : float64 [nnz, dim, dim]
            The blocks.
        """
        self._scatter_blocks("Hessian", self.hessian(q[self.nodes]), slots, out)

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add ∂DG/∂q1 in N/m from the nodal positions q0 to q1 [n, dim] to the blocks out (see `add_hessian`)."""
        local = self.discrete_hessian(q0[self.nodes], q1[self.nodes])
        self._scatter_blocks("discrete Hessian", local, slots, out)

    def add_increment_gradient(self, q: Array, low: Array, dq: Array, out: Array) -> None:
        """Add the discrete gradient in N from q + low to q + low + Δq [n, dim] to out [n, dim].

        ``low`` is what the positions q cannot hold, less than half of their last digit. An energy that looks at
        differences of each of the three, as of nodes of an element, is as exact far away as it is near the origin; here
        positions are rounded.
        """
        self.add_discrete_gradient(q, q + (low + dq), out)

    def add_mean_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the mean gradient in N from the nodal positions q0 to q1 [n, dim] to out [n, dim]."""
        self._scatter_vectors("mean gradient", self.mean_gradient(q0[self.nodes], q1[self.nodes]), out)

    def add_mean_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add the derivative of the mean gradient with q1 in N/m to the blocks out (see `add_hessian`)."""
        self._scatter_blocks("mean Hessian", self.mean_hessian(q0[self.nodes], q1[self.nodes]), slots, out)

    def add_secant(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕 in N/m at the nodal positions q [n, dim] to the values out [nnz] on the slots (see `add_hessian`)."""
        self._scatter_values("secant", self.secant(q[self.nodes]), slots, out)

    def add_secant_rate(self, q: Array, v: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕̇ in N/(m s) at the positions q along the velocities v [n, dim] to the values out [nnz]."""
        self._scatter_values("secant rate", self.secant_rate(q[self.nodes], v[self.nodes]), slots, out)

    def add_third(self, q: Array, a: Array, out: Array) -> None:
        """Add ∇³V[a, a] at the nodal positions q along a [n, dim] to out [n, dim]."""
        self._scatter_vectors("third derivative", self.third(q[self.nodes], a[self.nodes]), out)

    def _scatter_values(self, name: str, local: Array, slots: IntArray, out: Array) -> None:
        k = self.nodes.shape[1]
        self._require(name, local, (len(self.nodes), k, k))
        scatter_values(np.ascontiguousarray(local), slots, out)

    def _scatter_vectors(self, name: str, local: Array, out: Array) -> None:
        self._require(name, local, (*self.nodes.shape, out.shape[1]))
        scatter_vectors(np.ascontiguousarray(local), self.nodes, out)

    def _scatter_blocks(self, name: str, local: Array, slots: IntArray, out: Array) -> None:
        size = self.nodes.shape[1] * out.shape[1]
        self._require(name, local, (len(self.nodes), size, size))
        scatter_blocks(np.ascontiguousarray(local), slots, out)

    def _require(self, name: str, local: Array, shape: tuple[int, ...]) -> None:
        if local.shape != shape:  # the compiled loop would read beyond the end
            raise InvalidSystem(
                f"{type(self).__name__}: the local {name} has shape {local.shape}, wanted {shape}; "
                "is the energy made for another dimension of space?"
            )

    def latent_stiffness(self, n_nodes: int) -> Array:
        """Return per node [n] in N/m a bound on stiffness that ∇² does not show now but may later (open contact)."""
        return np.zeros(n_nodes)

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one stencil at its positions x [k, dim] in m.

        Here `value` is asked with all stencils at x. An energy with many stencils, or whose other stencils have no
        energy there, has a better way.
        """
        return float(self.value(np.repeat(x[None], len(self.nodes), axis=0))[stencil])

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return functions of one stencil, as addresses, for integrators that visit one stencil at a time.

        Here they evaluate `local_value` in Python: 20 µs or so each, a dozen of them for an event among a few particles
        where compiled functions take 1 µs altogether. That is for small systems; for others an energy returns compiled
        ones (`symplex.compile_lattice`). They are differences of values, and lose digits where these are
        large (see `symplex.fem.grid.lattice_values`).

        Parameters
        ----------
        axes : float64 [dim, dim], optional
            Take positions in rotated axes, x' = axes · x, instead of x (its rows are the unit vectors of the axes);
            default: the coordinate axes of space. Integrators always give them, so that dim is known.
        """
        from symplex.fem.grid.lattice_values import interpreted_lattice  # compiled when first needed

        # A checker of this file alone takes its classes for others than those of symplex.fem.energy.
        return interpreted_lattice(self, np.eye(3) if axes is None else axes)  # pyright: ignore
