"""Points that follow nodes: energies of points whose positions are interpolated between those of nodes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Self, TypeVar, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.actions.increment_load import IncrementLoad
from symplex.fem.assembly.calls import Call
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.forms import Form, OptionalFunction
from symplex.fem.assembly.nodes import require_nodes
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.couplings.interpolated_load import InterpolatedLoad, LoadOfPoints
from symplex.fem.couplings.interpolation_loops import add_matrix, call_of, count_nodes, gather_nodes, product
from symplex.fem.energies.contact_energy import ContactEnergy, contact_of
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import Energy, Invariance, LatticeFunctions
from symplex.fem.energies.neighbour_list import RENEWED, Nearby, NeighbourListEnergy, Stiffness
from symplex.fem.state import State

_ROUND_OFF = 1e-9  # how far the sum of the weights of a point may be from one


@checked
class Interpolation(Copyable):
    """The positions of points as weighted means of those of nodes, P = B q.

    The weights of a point sum to one and may be negative: points move with the nodes in any rigid motion. So an energy
    of the points that rigid motions leave alike is one of the nodes that they do; forces of points act on nodes as
    Bᵀ f, with the same resultant and moment.

    Parameters
    ----------
    weights : sparse [p, n] or float64 [p, n]
        B, a row for each point.

    Attributes
    ----------
    weights : sparse [p, n]
    n_points, n_nodes : int

    Raises
    ------
    InvalidSystem
        If weights are not finite, or those of a point do not sum to one.
    """

    def __init__(self, weights: sp.sparray | ArrayLike):
        try:
            self.weights = sp.csr_array(weights, dtype=float, copy=True)
        except (TypeError, ValueError) as error:
            raise InvalidSystem("Interpolation: the weights must be a matrix [p, n] of numbers.") from error
        self.weights.sum_duplicates()
        self.weights.eliminate_zeros()
        if self.weights.ndim != 2 or not np.isfinite(self.weights.data).all():
            raise InvalidSystem("Interpolation: the weights must be finite numbers, with a row for each point.")
        self.n_points, self.n_nodes = (int(n) for n in self.weights.shape)  # pyright: ignore
        sums = self.weights.sum(axis=1)
        off = np.abs(sums - 1.0)
        if off.max(initial=0.0) > _ROUND_OFF:
            point = int(np.argmax(off))
            raise InvalidSystem(
                "Interpolation: the weights of a point must sum to one, so that it moves with the nodes; those of "
                f"point {point} sum to {sums[point]:.6g}."
            )
        self._rows = _rows_of(self.weights)
        self._columns = _rows_of(sp.csr_array(self.weights.T))

    def points(self, q: Array) -> Array:
        """Return the positions B q [p, dim] in m of the points at nodal positions q [n, dim]; or their velocities.

        Raises
        ------
        InvalidSystem
            If it is not one row for each node.
        """
        return product(self._rows, q, self.n_points, self.n_nodes, "nodes")

    def forces(self, f: Array) -> Array:
        """Return the nodal forces Bᵀ f [n, dim] in N of forces f [p, dim] at the points.

        Raises
        ------
        InvalidSystem
            If it is not one row for each point.
        """
        return product(self._columns, f, self.n_nodes, self.n_points, "points")

    @overload
    def of(self, energy: NeighbourListEnergy) -> ChangingInterpolatedEnergy: ...

    @overload
    def of(self, energy: Energy) -> InterpolatedEnergy | ChangingInterpolatedEnergy: ...

    def of(self, energy: Energy) -> InterpolatedEnergy | ChangingInterpolatedEnergy:
        """Return an energy of points as one of the nodes, V(q) = V(B q), with all forms that it has.

        Raises
        ------
        InvalidSystem
            If the energy refers to points that there are none of.
        """
        if isinstance(energy, NeighbourListEnergy):
            return ChangingInterpolatedEnergy(energy, self)
        return InterpolatedEnergy(energy, self)

    def of_load(self, load: DifferentiableLoad) -> LoadOfPoints:
        """Return a load of points, such as a pressure, as one of the nodes; see `LoadOfPoints`.

        Raises
        ------
        InvalidSystem
            If the load refers to points that there are none of.
        """
        require_nodes(f"a {type(load).__name__} of points", load.nodes, self.n_points)
        return LoadOfPoints(load, self)  # pyright: ignore[reportArgumentType]

    def stencils(self, of_points: IntArray) -> tuple[IntArray, Array]:
        """Return the nodes [m, K] that stencils of points [m, k] follow, and the weights [m, k, K] of these.

        Where a stencil follows fewer nodes than others, its first one is there again, with the weight zero.
        """
        indptr, indices, data = self._rows
        counts = count_nodes(of_points, indptr, indices)
        nodes = np.empty((len(of_points), int(counts.max(initial=1))), np.int32)
        weights = np.zeros((*of_points.shape, nodes.shape[1]))
        gather_nodes(of_points, indptr, indices, data, nodes, weights)
        return nodes, weights

    def add_forces(self, add: Callable[[Array], None], out: Array) -> None:
        """Add forces on points to those on nodes, out [n, dim]; add(f) adds them to those on points [p, dim]."""
        of_points = np.zeros((self.n_points, out.shape[1]))
        add(of_points)
        out += self.forces(of_points)

    def add_matrix(self, add: Callable[[IntArray, Array], None], weights: Array, slots: IntArray, out: Array) -> None:
        """Add a matrix to the blocks or values out [nnz, …] at slots [m, K, K], by the weights of `stencils`.

        add(slots, out) adds that of the points, at slots [m, k, k].
        """
        add_matrix(add, weights, slots, out)


@final
class Selection(Interpolation):
    """Points that are nodes themselves, each another one: forces on them have the bits that they have without nodes.

    Parameters
    ----------
    places : int32 [p]
        Which nodes these are.
    n_nodes : int
    """

    def __init__(self, places: IntArray, n_nodes: int):
        count = len(places)
        super().__init__(sp.csr_array((np.ones(count), places, np.arange(count + 1)), (count, n_nodes)))
        self._places = places

    def points(self, q: Array) -> Array:
        """Return the positions [p, dim] in m of the points at nodal positions q [n, dim]; or their velocities."""
        return q[self._places]

    def forces(self, f: Array) -> Array:
        """Return the nodal forces [n, dim] in N of forces f [p, dim] at the points."""
        out = np.zeros((self.n_nodes, f.shape[1]))
        out[self._places] = f
        return out

    def stencils(self, of_points: IntArray) -> tuple[IntArray, Array]:
        """Return the nodes [m, k] of stencils of points [m, k], and the weights [m, k, k] of these."""
        k = of_points.shape[1]
        return self._places[of_points], np.broadcast_to(np.eye(k), (len(of_points), k, k))

    def add_forces(self, add: Callable[[Array], None], out: Array) -> None:
        """Add forces on points to those on nodes, out [n, dim], one by one."""
        of_points = out[self._places]
        add(of_points)
        out[self._places] = of_points

    def add_matrix(self, add: Callable[[IntArray, Array], None], weights: Array, slots: IntArray, out: Array) -> None:
        """Add a matrix to the blocks or values out [nnz, …] at slots [m, k, k], which are those of the points."""
        add(slots, out)


_Inner = TypeVar("_Inner", bound=Energy)


class _Interpolated(ContactEnergy, Generic[_Inner]):
    """What energies of interpolated points have in common: the chain rule of P = B q."""

    energy: _Inner
    interpolation: Interpolation
    _weights: Array  # [m, k, K], of the nodes of a stencil for its points

    def _follow(self) -> None:
        """Set the stencils to those of the energy of the points."""
        self.nodes, self._weights = self.interpolation.stencils(self.energy.nodes)

    @property
    def invariances(self) -> frozenset[Invariance]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Those of the energy of the points."""
        return self.energy.invariances

    @property
    def bounded_stiffness(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the energy of the points has a greatest stiffness."""
        return contact_of(self.energy).bounded_stiffness

    @property
    def impenetrable(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether bodies of points must not pass through each other."""
        return contact_of(self.energy).impenetrable

    @property
    def resolved_share(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the energy of the points."""
        return contact_of(self.energy).resolved_share

    @property
    def columns(self) -> tuple[Column, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the energy of the points shows of a state."""
        return self.energy.columns

    def observed(self, state: State, gradient: Array) -> dict[str, float]:
        """Return what the energy of the points shows of a state, with its gradient at the state."""
        points = State(state.t, *map(self.interpolation.points, (state.q, state.v, state.a)))
        energy = self._energy_at(state.q)
        return energy.observed(points, energy.gradient(points.q[energy.nodes]))

    def _energy_at(self, q: Array) -> Energy:
        """Return the energy of the points with all stencils that it has at nodal positions q [n, dim]."""
        return self.energy

    def generators(self, dim: int) -> tuple[Array, Array]:
        """Return those of the energy of the points."""
        return self.energy.generators(dim)

    def has(self, optional: OptionalFunction) -> bool:
        """Return whether the energy of the points has an optional method."""
        return self.energy.has(optional)

    def lacks(self, optional: OptionalFunction, name: str | None = None) -> InvalidSystem:
        """Return the error that the energy of the points has no such method."""
        return self.energy.lacks(optional, name)

    def of_load(self, load: IncrementLoad) -> InterpolatedLoad:
        """Return a load of points that follows from the energy of these, as friction from contact, as one of nodes."""
        return InterpolatedLoad(load, self)  # pyright: ignore[reportArgumentType]

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, K, dim] in m of the nodes."""
        return self.energy.value(self._weights @ x)

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, K, dim] in N."""
        return self._vectors(self.energy.gradient, x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, K·dim, K·dim] in N/m."""
        return self._blocks(self.energy.hessian, x)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient [m, K, dim] in N, that of the points."""
        return self._vectors(self.energy.discrete_gradient, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, K·dim, K·dim] in N/m."""
        return self._blocks(self.energy.discrete_hessian, x0, x1)

    def increment_gradient(self, x: Array, compensation: Array, dx: Array) -> Array:
        """Return the discrete gradient [m, K, dim] in N from x + compensation to x + compensation + Δx."""
        return self._vectors(self.energy.increment_gradient, x, compensation, dx)

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the gradient [m, K, dim] in N at mean strains, that of the points."""
        return self._vectors(self.energy.mean_gradient, x0, x1)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, K, dim]."""
        return self._vectors(self.energy.third, x, a)

    def secant(self, x: Array) -> Array:
        """Return the secant matrices 𝓕 [m, K, K] in N/m."""
        return self._values(self.energy.secant(self._weights @ x))

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, K, K] in N/(m s)."""
        return self._values(self.energy.secant_rate(self._weights @ x, self._weights @ v))

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one stencil at its positions x [K, dim] in m."""
        return self.energy.local_value(stencil, self._weights[stencil] @ x)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled functions of one stencil, by those of the points (see `Energy.lattice_functions`)."""
        from symplex.fem.grid.interpolated_lattice import interpolated_lattice  # compiled when first needed

        return interpolated_lattice(
            self.energy.lattice_functions(axes), self._weights, 3 if axes is None else len(axes)
        )

    def _vectors(self, function: Callable[..., Array], *x: Array) -> Array:
        return self._weights.swapaxes(1, 2) @ function(*[self._weights @ y for y in x])

    def _blocks(self, function: Callable[..., Array], *x: Array) -> Array:
        (m, K, dim), k = x[0].shape, self._weights.shape[1]
        blocks = function(*[self._weights @ y for y in x]).reshape(m, k, dim, k, dim)
        left = np.einsum("maA,maibj->mAibj", self._weights, blocks)
        return np.einsum("mAibj,mbB->mAiBj", left, self._weights).reshape(m, K * dim, K * dim)

    def _values(self, values: Array) -> Array:
        result = self._weights.swapaxes(1, 2) @ values @ self._weights
        return 0.5 * (result + result.swapaxes(1, 2))

    # -- assembled forms --------------------------------------------------------------------------------------

    def _add_by(
        self, add: Callable[..., None], form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None
    ) -> None:
        """Add a form by the method of the energy of the points that adds it: vectors for all points at once."""
        points = tuple(self.interpolation.points(x) for x in nodal)
        if slots is None:
            self.interpolation.add_forces(lambda forces: add(form, points, forces), out)
        else:
            self.interpolation.add_matrix(lambda own, local: add(form, points, local, own), self._weights, slots, out)

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return per node [n] in N/m a bound on stiffness that ∇² does not show now but may later.

        Bᵀ diag(k) B ≤ diag(|B|ᵀ diag(k) |B| 1), as all points that follow a node may come to touch at the same time.
        """
        size = abs(self.interpolation.weights)
        of_points = contact_of(self.energy).contact_stiffness_bound(self.interpolation.n_points)
        return size.T @ (of_points * size.sum(axis=1))

    def collision_free_fraction(self, q0: Array, q1: Array) -> float:
        """Return a part in [0, 1] of the straight way from q0 to q1 [n, dim] on which no points pass through."""
        return contact_of(self.energy).collision_free_fraction(
            self.interpolation.points(q0), self.interpolation.points(q1)
        )

    def check_start(self, q: Array) -> None:
        """Check that a motion can begin at the nodal positions q [n, dim]: that no bodies of points overlap."""
        contact_of(self.energy).check_start(self.interpolation.points(q))

    def find_penetration(self, q0: Array, q1: Array) -> str | None:
        """Return what has passed through on the straight way from q0 to q1 [n, dim], and where; None if nothing has."""
        return contact_of(self.energy).find_penetration(self.interpolation.points(q0), self.interpolation.points(q1))


@final
class InterpolatedEnergy(_Interpolated[Energy]):
    """An energy of points that follow nodes; see `Interpolation.of`."""

    def __init__(self, energy: Energy, interpolation: Interpolation):
        require_nodes(f"a {type(energy).__name__} of points", energy.nodes, interpolation.n_points)
        self.energy, self.interpolation = energy, interpolation
        self._follow()

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, dim]."""
        return self.energy.total(self.interpolation.points(q))

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form to what is assembled (see `Energy.add`)."""
        self._add_by(self.energy.add, form, nodal, out, slots)

    def calls(self, form: Form, dim: int) -> Sequence[Call] | None:
        """Return the calls by which a form is added up, those of the energy of the points; None if there are none."""
        calls = None if self.energy.threaded else self.energy.calls(form, dim)
        found = [call_of(form, call, self.nodes, self._weights) for call in calls or ()]
        return None if calls is None or None in found else [call for call in found if call is not None]


@final
class ChangingInterpolatedEnergy(_Interpolated[NeighbourListEnergy], NeighbourListEnergy):
    """An energy of points that follow nodes, whose stencils change; see `Interpolation.of`.

    The list is that of the points, and what counts for its margin is how far these have moved: farther than the nodes,
    if weights are negative.
    """

    def __init__(self, energy: NeighbourListEnergy, interpolation: Interpolation):
        require_nodes(f"a {type(energy).__name__} of points", energy.nodes, interpolation.n_points)
        self.energy, self.interpolation = energy, interpolation
        self.reach = energy.reach
        self.list_positions = energy.list_positions[:0]
        self._follow()

    @property
    def margin(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the points in m. To set it, give how far nodes may move: points may by more, and theirs is larger."""
        return self.energy.margin

    @margin.setter
    def margin(self, of_nodes: float) -> None:
        self.energy.margin = self._gain * of_nodes

    @property
    def _gain(self) -> float:
        """How many times as far as nodes points may move."""
        return float(abs(self.interpolation.weights).sum(axis=1).max(initial=1.0))

    @property
    def possible_nodes(self) -> IntArray:
        """Those that points follow."""
        return np.unique(self.interpolation.weights.indices).astype(np.int32)

    def find(self, ends: tuple[Array, ...], distance: float) -> None:
        """Find the stencils of the points at nodal positions, one or two of them (see `NeighbourListEnergy.find`)."""
        energy, points = self.energy, tuple(map(self.interpolation.points, ends))
        if distance <= self.reach:  # for one evaluation
            energy.list_positions = energy.list_positions[:0]
            energy.find(points, distance)
        elif len(points) == 1:
            energy.build_list(*points)
        else:
            energy.extend_list(points)
        self._follow()

    def __copy__(self) -> Self:
        """Return a copy with its own list."""
        new = super().__copy__()
        new.energy = copy.copy(self.energy)
        return new

    def _energy_at(self, q: Array) -> Energy:
        return self.complete((q,)).energy

    def moved(self, ends: tuple[Array, ...]) -> float:
        """Return how far in m a point is from where the list was found, at most."""
        return self.energy.moved(tuple(map(self.interpolation.points, ends)))

    def acts_at(self, q: Array) -> bool:
        """Return whether a stencil of the points may be closer than ``reach`` at the nodal positions q [n, dim]."""
        return self.energy.acts_at(self.interpolation.points(q))

    def nearby(self, q: Array, part: float = RENEWED) -> Nearby | None:
        """Return what acts of the points from q [n, dim] on, with how far nodes may go."""
        points = self.interpolation.points(q)
        found = self.energy.nearby(points, part)
        if found is None:
            return None
        moved = np.linalg.norm(points[found.nodes] - found.at, axis=1)
        left = max(float((np.sqrt(found.rooms) - moved).min(initial=np.inf)), 0.0) / self._gain
        nodes = self.possible_nodes
        energy = InterpolatedEnergy(found.energy, self.interpolation)
        return Nearby(energy, nodes, q[nodes], np.full(len(nodes), left * left))

    def stiffness_near(self, q: Array, ahead: float) -> Stiffness | None:
        """Return what bounds that of the points, of nodes [n, dim] that may come closer by ahead in m."""
        found = self.energy.stiffness_near(self.interpolation.points(q), self._gain * ahead)
        if found is None:
            return None
        nodes, weights = self.interpolation.stencils(found.nodes)
        return Stiffness(nodes, np.einsum("rk,rkK->rK", found.factors, abs(weights)), found.stiffness)

    def renewed(self, q: Array) -> bool:
        """Renew the list of the points at q [n, dim] if it is old; return whether (`NeighbourListEnergy.renewed`)."""
        changed = (len(self.list_positions) != len(q) or bool(self._covered)) and super().renewed(q)
        if self.energy.renewed(self.interpolation.points(q)):
            self.list_positions, changed = q.copy(), True
            self.version += 1
            self._follow()
        return changed

    def follows(self, gone: Mapping[str, NDArray[np.bool_]]) -> bool:
        """Return whether elements are gone that the points are of (see `Energy.follows`)."""
        return self.energy.follows(gone)

    def follow(self, gone: Mapping[str, NDArray[np.bool_]]) -> None:
        """Take which elements are gone."""
        if self.energy.follows(gone):
            self.energy.follow(gone)
            self.list_positions, self._covered = self.list_positions[:0], ()
            self.version += 1
            self._follow()

    def add_listed(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None) -> None:
        """Add a form of the stencils in the list."""
        self._add_by(self._add_of_points, form, nodal, out, slots)

    def _add_of_points(self, form: Form, points: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        self.energy.add_listed(form, points, out, slots)

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form to what is assembled: vectors by the energy of the points, with whatever list it has of these."""
        if form.is_matrix:
            super().add(form, nodal, out, slots)
        else:
            self._add_by(self.energy.add, form, nodal, out, slots)

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, dim]."""
        return self.energy.total(self.interpolation.points(q))


def _rows_of(matrix: sp.csr_array) -> tuple[IntArray, IntArray, Array]:
    return np.array(matrix.indptr, np.int32), np.array(matrix.indices, np.int32), np.array(matrix.data, float)
