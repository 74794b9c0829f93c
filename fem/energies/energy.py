"""A potential energy as a sum of local energies on small stencils of nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from symplex.base.columns import Column
from symplex.base.representation import Summarized
from symplex.errors import InvalidSystem
from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import Call
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.forms import Form, OptionalFunction
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.projected_gradient import difference_slope, projected_gradient, projected_hessian
from symplex.fem.state import State

# What the local energies are invariant to: motions of all nodes of a stencil together.
Invariance = Literal["translations", "rotations"]
RIGID: frozenset[Invariance] = frozenset({"translations", "rotations"})

# What an optional function is called, and what to do without.
_OPTIONAL: dict[OptionalFunction, tuple[str, str]] = {
    "mean_gradient": (
        "gradient at mean strains",
        "Give it mean_gradient.",
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


@dataclass(frozen=True, repr=False)
class LatticeFunctions(Summarized):
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

    def __post_init__(self):
        # A row is read from its address on, as one number after the other.
        object.__setattr__(self, "parameters", np.ascontiguousarray(self.parameters, dtype=float))

    def raise_failure(self) -> None:
        """Raise what a Python function has raised since the last time, if anything: to be called after each loop."""
        if self.failures:
            raise self.failures.pop()


class Energy(Copyable, ABC):
    """A sum of m local energies, each a function of the positions of the k nodes of its stencil.

    The local functions are pure and take the gathered positions of *all* stencils, ``x = q[nodes]``. An energy needs
    `value` and `gradient`; where `hessian`, `discrete_gradient` and `discrete_hessian` aren't given, there is one for
    any energy.

    Attributes
    ----------
    nodes : int32 [m, k]
        The stencils.
    invariances : frozenset of str
        What each local energy is the same after: of ``translations`` and ``rotations``; `RIGID` is both. The discrete
        gradient for any energy needs it to keep momenta (see `generators` for others).
    version : int
        Another number after each change of the stencils (`symplex.fem.energies.neighbour_list`).
    columns : tuple of Column
        What `observed` shows, for histories; by default nothing.
    kind : str or None
        meshio's name of the cells that the stencils are, if they are cells.
    widest : int
        How many threads may add up a form together.
    threaded : bool
        Whether threads may do so: compiled loops over whole steps, of one thread, leave it to be called back.
    """

    nodes: IntArray
    invariances: frozenset[Invariance] = frozenset()
    version: int = 0
    columns: tuple[Column, ...] = ()
    kind: str | None = None
    widest: int = 1
    threaded: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' stencils of '.join(map(str, self.nodes.shape))} nodes)"

    def observed(self, state: State, gradient: Array) -> dict[str, float]:
        """Return the numbers that ``columns`` declares, at a state.

        Parameters
        ----------
        state : State
        gradient : float64 [m, k, dim]
            ∂φ/∂x in N as it acts in the motion, which need not be that of the state.
        """
        return {}

    @abstractmethod
    def value(self, x: Array) -> Array:
        """Return the local energies φ [m] in J at the positions x [m, k, dim] in m."""

    @abstractmethod
    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, dim] in N at the positions x [m, k, dim] in m."""

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, k·dim, k·dim] in N/m at the positions x [m, k, dim] in m.

        Here by differences of the gradient, with an error of some 1e-9 of the stiffness.
        """
        slope = difference_slope(self.gradient, x)
        return 0.5 * (slope + slope.swapaxes(1, 2))

    def hessian_product(self, x: Array, a: Array) -> Array:
        """Return ∂²φ/∂x² a [m, k, dim], N/m times the unit of a, at x along a [m, k, dim].

        Here by the Hessian; kernels find it without.
        """
        flat = a.reshape(len(a), a.shape[1] * a.shape[2], 1)
        return (self.hessian(x) @ flat).reshape(a.shape)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient DG [m, k, dim] in N along the increments from x0 to x1 [m, k, dim].

        DG·(x1 − x0) = φ(x1) − φ(x0) to round-off for increments of any size, DG(x0, x1) = DG(x1, x0), and
        DG(x, x) = ∂φ/∂x. Where φ is invariant to rigid motions, the forces DG sum to zero, and so do their moments
        at the midpoints ½(x0 + x1).

        Here the gradient at the midpoint, corrected along the increment without its rigid part
        (`symplex.fem.energies.projected_gradient`), as far as ``invariances`` has declared it.
        """
        return projected_gradient(self, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, k·dim, k·dim] in N/m, which need not be symmetric.

        Here that of the discrete gradient above, or by differences of one that its own energy has.
        """
        if type(self).discrete_gradient is not Energy.discrete_gradient:
            return difference_slope(lambda x: self.discrete_gradient(x0, x), x1)
        return projected_hessian(self, x0, x1)

    def increment_gradient(self, x: Array, compensation: Array, dx: Array) -> Array:
        """Return the discrete gradient [m, k, dim] in N from x + compensation to x + compensation + Δx.

        The compensation is what the positions x cannot hold, less than half of their last digit. An energy that looks
        at differences of each of the three, as of nodes of an element, is as exact far away as it is near the origin;
        here positions are rounded.
        """
        return self.discrete_gradient(x, x + (compensation + dx))

    def follows(self, gone: Mapping[str, NDArray[np.bool_]]) -> bool:
        """Return whether `follow` would change the energy: whether elements are gone that it is of.

        Parameters
        ----------
        gone : mapping of str to bool [m]
            Which elements of the system's parts that erode are gone, by name.
        """
        return False

    def follow(self, gone: Mapping[str, NDArray[np.bool_]]) -> None:
        """Take which elements are gone."""

    def is_divisible(self, dim: int) -> bool:
        """Return whether some stencils can be taken alone, in a space of a dimension."""
        return False

    def of_some(self, chosen: NDArray[np.integer], nodes: IntArray) -> Energy:
        """Return the energy of chosen stencils [s], on nodes [s, k] that have other numbers, if it is divisible."""
        raise NotImplementedError

    def generators(self, dim: int) -> tuple[Array, Array]:
        """Return A [r, dim, dim] and b [r, dim] of the velocities A x + b of nodes that leave the local energies alike.

        Here those of ``invariances``; an energy that is invariant to some of them only (turns about one axis, shifts
        along a plane) returns those.
        """
        A, b = [], []
        if "translations" in self.invariances:
            A += [np.zeros((dim, dim))] * dim
            b += list(np.eye(dim))
        if "rotations" in self.invariances:
            for i in range(dim):
                for j in range(i):
                    turn = np.zeros((dim, dim))
                    turn[i, j], turn[j, i] = 1.0, -1.0
                    A.append(turn)
                    b.append(np.zeros(dim))
        return np.reshape(A, (-1, dim, dim)), np.reshape(b, (-1, dim))

    # Optional, since not every energy has them: what some methods need beyond these.

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
        return optional not in _OPTIONAL or getattr(type(self), optional) is not getattr(Energy, optional)

    def lacks(self, optional: OptionalFunction, name: str | None = None) -> InvalidSystem:
        """Return the error that an optional method is missing, for an energy with a name in a system."""
        what, advice = _OPTIONAL[optional]
        who = type(self).__name__ if name is None else f"energy '{name}' ({type(self).__name__})"
        return InvalidSystem(f"{who} has no {what}. {advice}")

    # The assembled forms are what integrators call. An energy that fuses gather, local function and scatter for speed
    # overrides `add`, or one of the methods below it.

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, dim]."""
        return float(self.value(q[self.nodes]).sum())

    def local_energies(self, q: Array) -> Array:
        """Return the energies [m] in J of the stencils at the nodal positions q [n, dim]."""
        return self.value(q[self.nodes])

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form to what is assembled.

        Parameters
        ----------
        form : Form
            One of `symplex.fem.assembly.forms`.
        nodal : float64 [n, dim], one or more
            What its local function takes, for all nodes.
        out : float64
            Nodal vectors [n, dim], or blocks [nnz, dim, dim] or values [nnz] of a matrix.
        slots : int32 [m, k, k], optional
            Of a matrix: the place of each pair of nodes of each stencil (see `symplex.fem.assembly.pattern.Pattern`).
        """
        nodes = self.nodes
        local = getattr(self, form.name)(*[x[nodes] for x in nodal])
        requested = form.local_shape(len(nodes), nodes.shape[1], nodal[0].shape[1])
        if local.shape != requested:  # the compiled loop would read beyond the end
            raise InvalidSystem(
                f"{type(self).__name__}: the local {form.title} has shape {local.shape}, expected {requested}; "
                "is the energy made for another dimension of space?"
            )
        scatter = forms.SCATTER[form.kind]
        scatter(np.ascontiguousarray(local), slots if form.is_matrix else nodes, out)

    def calls(self, form: Form, dim: int) -> Sequence[Call] | None:
        """Return the calls of kernels that add up a form in a space of a dimension; None if there are none.

        Compiled loops over steps read them (`symplex.fem.assembly.calls`): by default there are none, and steps are
        taken one by one.
        """
        return None

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, dim] to out [n, dim]."""
        self.add(forms.GRADIENT, (q,), out)

    def add_discrete_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the discrete gradient in N from the nodal positions q0 to q1 [n, dim] to out [n, dim]."""
        self.add(forms.DISCRETE_GRADIENT, (q0, q1), out)

    def add_increment_gradient(self, q: Array, compensation: Array, dq: Array, out: Array) -> None:
        """Add the discrete gradient in N from q + c to q + c + Δq [n, dim], c the compensation, to out."""
        self.add(forms.INCREMENT_GRADIENT, (q, compensation, dq), out)

    def add_mean_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the mean gradient in N from the nodal positions q0 to q1 [n, dim] to out [n, dim]."""
        self.add(forms.MEAN_GRADIENT, (q0, q1), out)

    def add_third(self, q: Array, a: Array, out: Array) -> None:
        """Add ∇³V[a, a] at the nodal positions q along a [n, dim] to out [n, dim]."""
        self.add(forms.THIRD, (q, a), out)

    def add_hessian_product(self, q: Array, a: Array, out: Array) -> None:
        """Add ∇²V(q) a at the nodal positions q along a [n, dim] to out [n, dim]."""
        self.add(forms.HESSIAN_PRODUCT, (q, a), out)

    def add_hessian(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add the Hessian in N/m at the nodal positions q [n, dim] to the blocks out [nnz, dim, dim] (see `add`)."""
        self.add(forms.HESSIAN, (q,), out, slots)

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add ∂DG/∂q1 in N/m from the nodal positions q0 to q1 [n, dim] to the blocks out [nnz, dim, dim]."""
        self.add(forms.DISCRETE_HESSIAN, (q0, q1), out, slots)

    def add_secant(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕 in N/m at the nodal positions q [n, dim] to the values out [nnz] (see `add`)."""
        self.add(forms.SECANT, (q,), out, slots)

    def add_secant_rate(self, q: Array, v: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕̇ in N/(m s) at the positions q along the velocities v [n, dim] to the values out [nnz]."""
        self.add(forms.SECANT_RATE, (q, v), out, slots)

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
        ones (`symplex.grid.compile_lattice`). They are differences of values, and lose digits where these are
        large (see `symplex.fem.energies.lattice_values`).

        Parameters
        ----------
        axes : float64 [dim, dim], optional
            Take positions in rotated axes, x' = axes · x, instead of x (its rows are the unit vectors of the axes);
            default: the coordinate axes of space. Integrators always give them, so that dim is known.

        Raises
        ------
        InvalidSystem
            Of an energy that force-stepping does not take.
        """
        from symplex.fem.energies.lattice_values import interpreted_lattice  # compiled when first needed

        # A checker of this file alone takes its classes for others than those of symplex.fem.energies.energy.
        return interpreted_lattice(self, np.eye(3) if axes is None else axes)  # pyright: ignore
