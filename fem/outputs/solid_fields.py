"""Stress, strain and energy density of the solids of a system, of each element and averaged at nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Literal, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.fields import OF_SOLIDS
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.actions.thermal_load import ThermalLoad
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.nodes import node_indices
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.outputs import tensors
from symplex.fem.outputs.points import SolidPoints
from symplex.fem.solids.plastic import Flowing, solids_in
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.viscoelastic import Viscoelastic
from symplex.fem.system import State, System

if TYPE_CHECKING:
    Quantity = str
else:  # what there is to report of solids
    Quantity = Literal[tuple(OF_SOLIDS)]
_OF_STRESS: dict[str, Callable[[Array], Array]] = {
    "stress": lambda sigma: sigma,
    "pressure": tensors.pressure,
    "principal_stresses": tensors.principal_values,
    "von_mises": tensors.von_mises,
}
_OF_FLOW = {"plastic_strain": 1, "temperature": 1, "back_stress": 6}  # of metals, with how many numbers


class _Part(NamedTuple):
    """Some elements of one solid, and what of them is viscoelastic or flows."""

    solid: Solid
    points: SolidPoints
    chosen: IntArray | None  # the elements that are meant, if not all
    overstress: Mapping[str, Viscoelastic]
    flow: Flowing | None  # of the name of the solid
    heated: ThermalLoad | None = None  # by which its temperature changes with time

    def at(self, t: float) -> _Part:
        """Return the part with the temperature of a time in s."""
        if self.heated is None:
            return self
        solid = self.heated.at(t)
        return self._replace(solid=solid, points=SolidPoints(solid))


@checked
@final
class SolidFields(Copyable):
    """Stress, strain and energy density of solids.

    Of each element there is the mean: of stresses over its deformed volume, of energy over its undeformed one; strains
    are those of the mean deformation gradient. At nodes values are those at the points of quadrature, continued to the
    nodes of each element by the polynomial that fits them best, and averaged over the elements that meet there with
    their undeformed volumes as weights, those of other bodies and materials included. Elements with one point, linear
    tetrahedra and stabilized hexahedra, are constant in this. Pressure, principal values and von Mises stress at nodes
    are those of the averaged stress.

    Of metals that flow there is ``plastic_strain``, the equivalent plastic strain, which is zero in all others,
    ``temperature``, zero where nothing is heated, and ``back_stress``, deviatoric and of the Kirchhoff stress; their
    energy density is what they store. The Cauchy stress is that of the law and of Maxwell elements; of
    Rayleigh's and viscous damping it has nothing.
    Tensors have the components xx, yy, zz, xy, yz, xz (VTK's order). ``strain`` is Green's and Lagrange's,
    ½ (FᵀF − 1), of laws of small strains sym F − 1; ``logarithmic_strain`` is Hencky's ½ ln F Fᵀ; both have the
    ``thermal_strain``, α ΔT, in them. The pressure is −tr σ/3, principal stresses begin with the largest.

    Parameters
    ----------
    system : System
    names : sequence of str, optional
        The names of the energies of solids that are meant; default: all.
    near : int [k], optional
        Only the elements that have one of these nodes, which is enough for what there is at them.

    Attributes
    ----------
    names : tuple of str

    Raises
    ------
    InvalidSystem
        If a name is not that of a solid.
    """

    def __init__(self, system: System, names: Sequence[str] | None = None, near: ArrayLike | None = None):
        solids = solids_in(system.energies, system.inelastic)
        requested = list(solids) if names is None else list(names)
        for name in requested:
            if name not in solids:
                raise InvalidSystem(f"'{name}' is no solid of the system; there are {', '.join(solids) or 'none'}.")
        self.names = tuple(requested)
        self._n_nodes = system.n_nodes
        nodes = None if near is None else node_indices("SolidFields", near)
        inelastic = {name: part for name, part in system.inelastic.items() if isinstance(part, Viscoelastic)}
        self._parts = {}
        for name in requested:
            solid = solids[name]
            overstress = {key: part for key, part in inelastic.items() if np.array_equal(part.nodes, solid.nodes)}
            chosen = None
            if nodes is not None:
                chosen = np.flatnonzero(np.isin(solid.nodes, nodes).any(axis=1)).astype(np.int32)
                solid = solid.restrict(chosen)
                overstress = {key: Viscoelastic(solid, one.moduli, one.times) for key, one in overstress.items()}
            heated = next((load for load in system.loads.values() if _heats(load, solids[name])), None)
            if heated is not None:
                heated = ThermalLoad(solid, heated.thermal_strain, heated.factor)
            flow = system.inelastic.get(name)
            if not isinstance(flow, Flowing):
                flow = None
            elif chosen is not None:
                flow = flow.on(solid)
            self._parts[name] = _Part(solid, SolidPoints(solid), chosen, overstress, flow, heated)
        self._known: tuple[State | None, dict[object, Array]] = (None, {})

    @cached_property
    def nodes(self) -> IntArray:
        """The nodes [k] of these elements, ascending."""
        return np.unique(
            np.concatenate([np.empty(0, np.int32), *(p.solid.nodes.ravel() for p in self._parts.values())])
        )

    @property
    def are_heated(self) -> bool:
        """Whether temperatures change with time."""
        return any(part.heated is not None for part in self._parts.values())

    def repeated(self, count: int) -> SolidFields:
        """Return the fields of so many copies of the elements, each with copies of `nodes` for its nodes."""
        new = SolidFields.__new__(SolidFields)
        new.names, new._n_nodes, new._known = self.names, count * len(self.nodes), (None, {})
        new._parts = {name: _repeated(part, self.nodes, count) for name, part in self._parts.items()}
        return new

    def stacked_state(self, q: Array, internal: Sequence[Mapping[str, Array]]) -> State:
        """Return the one state of the copies that are `repeated`, of several states at rest.

        Parameters
        ----------
        q : float64 [s, k, 3]
            Positions in m of `nodes`.
        internal : sequence of mapping of str to float64
            The internal variables of each, of the same parts.
        """
        found: dict[str, Array] = {}
        for name, part in self._parts.items():
            if part.flow is not None:
                found[name] = np.concatenate([_flowed(name, part, one) for one in internal])
            for key in part.overstress.keys() & internal[0].keys():
                found[key] = np.concatenate([_chosen(part, one[key]) for one in internal], axis=1)
        q = q.reshape(-1, q.shape[2])
        still = np.zeros_like(q)
        return State(0.0, q, still, still, internal=found)

    def elements(self, name: str) -> IntArray:
        """Return the elements [m] of a solid that are meant, by their numbers in it."""
        part = self._parts[name]
        return np.arange(len(part.solid.nodes), dtype=np.int32) if part.chosen is None else part.chosen

    def volumes(self, name: str) -> Array:
        """Return the undeformed volumes [m] in m³ of these elements."""
        return self._parts[name].solid.volumes

    def of_elements(self, quantity: Quantity, state: State, name: str) -> Array:
        """Return a quantity of the elements of a solid: [m], [m, 3] of principal stresses, [m, 6] of tensors.

        Raises
        ------
        InvalidSystem
            If there is no such quantity, or no such solid.
        InvertedElement, MaterialFailed
            If the state has no stress.
        """
        part = self._parts.get(name)
        if part is None:
            raise InvalidSystem(f"'{name}' is none of the solids: {', '.join(self._parts) or 'none'}.")
        part = part.at(state.t)
        if quantity == "von_mises" and part.flow is None:
            return part.solid.von_mises(state.q, _overstress(part, state))
        if quantity in _OF_STRESS:
            return _OF_STRESS[quantity](self._once("stress", name, state, lambda: _mean_stress(name, part, state)))
        if quantity == "energy_density":
            return _energies(name, part, state)[:, 0]
        if quantity in _OF_FLOW:
            weights = part.solid.part()[1]
            values = np.einsum("eg,egc->ec", weights, _of_flow(quantity, name, part, state))
            values /= weights.sum(axis=1)[:, None]
            return values if values.shape[1] > 1 else values[:, 0]
        if quantity == "thermal_strain":
            return _thermal_strain(part).mean(axis=1)[:, 0]
        return _strain(quantity, part, part.solid.deformation_gradients(state.q))

    def at_nodes(self, quantity: Quantity, state: State) -> Array:
        """Return a quantity averaged at the nodes of the system: [n], [n, 3] or [n, 6]; zero where no solid is.

        Raises
        ------
        InvalidSystem
            If there is no such quantity.
        InvertedElement, MaterialFailed
            If the state has no stress.
        """
        if quantity in _OF_STRESS:
            sigma = self._once("stress", None, state, lambda: self._averaged(state, _stress_at_points))
            return _OF_STRESS[quantity](sigma)
        if quantity == "energy_density":
            return self._averaged(state, lambda name, part, state: _energies(name, part, state)[..., None])[:, 0]
        if quantity in _OF_FLOW:
            values = self._averaged(state, lambda name, part, state: _of_flow(quantity, name, part, state))
            return values if values.shape[1] > 1 else values[:, 0]
        if quantity == "thermal_strain":
            return self._averaged(state, lambda name, part, state: _thermal_strain(part))[:, 0]
        return self._averaged(
            state, lambda name, part, state: _strain(quantity, part, part.points.deformation_gradients(state.q))
        )

    def _averaged(self, state: State, at_points: Callable[[str, _Part, State], Array]) -> Array:
        """Return the averages [n, c] of values at the points of quadrature [m, g, c]."""
        sums, total = None, np.zeros(self._n_nodes)
        for name, part in self._parts.items():
            values = at_points(name, part.at(state.t), state)
            matrix, weights = self._matrices[name] if values.shape[1] == part.points.n_points else self._means[name]
            found = matrix @ values.reshape(-1, values.shape[-1])
            sums = found if sums is None else sums + found
            total += weights
        if sums is None:
            raise InvalidSystem("there is no solid in the system, of which there could be stress or strain.")
        return sums / np.where(total > 0.0, total, 1.0)[:, None]

    @cached_property
    def _matrices(self) -> dict[str, tuple[sp.csr_array, Array]]:
        """Of each solid the matrix [n, m·g] that adds values at points to nodes by volumes, and these sums [n]."""
        return {
            name: _matrix(part.solid, part.points.extrapolation, self._n_nodes) for name, part in self._parts.items()
        }

    @cached_property
    def _means(self) -> dict[str, tuple[sp.csr_array, Array]]:
        """The same for one value of each element."""
        return {
            name: _matrix(part.solid, np.ones((part.solid.nodes.shape[1], 1)), self._n_nodes)
            for name, part in self._parts.items()
        }

    def _once(self, what: str, name: str | None, state: State, compute: Callable[[], Array]) -> Array:
        """Return what is computed once for a state, of which several quantities may be requested."""
        if self._known[0] is not state:
            self._known = state, {}
        known = self._known[1]
        if (what, name) not in known:
            known[what, name] = compute()
        return known[what, name]


def _matrix(solid: Solid, extrapolation: Array, n_nodes: int) -> tuple[sp.csr_array, Array]:
    (m, k), g = solid.nodes.shape, extrapolation.shape[1]
    values = solid.volumes[:, None, None] * extrapolation
    rows = np.repeat(solid.nodes.ravel(), g)
    columns = np.repeat(np.arange(m * g).reshape(m, 1, g), k, axis=1).ravel()
    weights = np.bincount(solid.nodes.ravel(), np.repeat(solid.volumes, k), n_nodes).astype(float)
    return sp.csr_array((values.ravel(), (rows, columns)), shape=(n_nodes, m * g)), weights


def _repeated(part: _Part, nodes: IntArray, count: int) -> _Part:
    """Return so many copies of some elements, which have copies of the nodes [k]."""
    solid, k = part.solid, len(nodes)
    own = np.unique(solid.nodes)
    cells, points = np.searchsorted(nodes, solid.nodes), np.zeros((k, 3))
    points[np.searchsorted(nodes, own)] = solid.points[own]
    first = k * np.arange(count)[:, None, None]
    many = Solid(
        np.tile(points, (count, 1)),
        (first + cells).reshape(-1, cells.shape[1]).astype(np.int32),
        solid.material,
        None if solid.fibres is None else np.tile(solid.fibres, (1, count, 1)),
        solid.formulation,
        None if (strain := solid.thermal_strain_at(nodes)) is None else np.tile(strain, count),
    )
    overstress = {key: Viscoelastic(many, one.moduli, one.times) for key, one in part.overstress.items()}
    flow = None if part.flow is None else part.flow.on(many)
    return _Part(many, SolidPoints(many), None, overstress, flow)


def _mean_stress(name: str, part: _Part, state: State) -> Array:
    """Return the mean Cauchy stress [m, 6] of elements."""
    if part.flow is not None:
        return tensors.components(part.flow.cauchy(state.q, _flowed(name, part, state.internal)))
    sigma, overstress = part.solid.cauchy(state.q), _overstress(part, state)
    return tensors.components(sigma if overstress is None else sigma + overstress)


def _overstress(part: _Part, state: State) -> Array | None:
    """Return the mean overstress [m, 3, 3] of elements, if they are viscoelastic."""
    found = [
        viscous.cauchy(state.q, _chosen(part, state.internal[key]))
        for key, viscous in part.overstress.items()
        if key in state.internal
    ]
    return reduce(np.add, found) if found else None


def _stress_at_points(name: str, part: _Part, state: State) -> Array:
    """Return the Cauchy stress [m, g, 6] at points."""
    if part.flow is not None:
        return tensors.components(part.flow.cauchy_at_points(state.q, _flowed(name, part, state.internal)))
    sigma = part.points.cauchy(state.q)
    for key, viscous in part.overstress.items():
        if key in state.internal:
            sigma = sigma + viscous.cauchy_at_points(state.q, _chosen(part, state.internal[key]))
    return tensors.components(sigma)


def _chosen(part: _Part, z: Array) -> Array:
    """Return the internal variables [i, m, g, c] of the elements that are meant."""
    return z if part.chosen is None else z[:, part.chosen]


def _flowed(name: str, part: _Part, internal: Mapping[str, Array]) -> Array:
    """Return the internal variables [m, g, k] of the elements of a metal that are meant."""
    z = internal[name]
    return z if part.chosen is None else z[part.chosen]


def _of_flow(quantity: str, name: str, part: _Part, state: State) -> Array:
    """Return a quantity of metals [m, g, c] at points; zero where there is none."""
    values = None
    if part.flow is not None:
        values = part.flow.at_points(quantity, state.q, _flowed(name, part, state.internal))
    if values is None:
        return np.zeros((len(part.solid.nodes), part.points.n_points, _OF_FLOW[quantity]))
    return values if quantity != "back_stress" else tensors.components(values)


def _thermal_strain(part: _Part) -> Array:
    """Return α ΔT [m, g, 1] at points."""
    stretches = part.solid.elements.stretches
    if stretches is None:
        return np.zeros((len(part.solid.nodes), part.points.n_points, 1))
    return stretches[..., None] - 1.0


def _heats(load: object, solid: Solid) -> bool:
    """Return whether a load is that of a solid's temperature."""
    return isinstance(load, ThermalLoad) and np.array_equal(load.solid.nodes, solid.nodes)


def _energies(name: str, part: _Part, state: State) -> Array:
    """Return the energy density [m, 1] of elements."""
    if part.flow is not None:
        energies = part.flow.energies(state.q, _flowed(name, part, state.internal))
        return (energies / part.solid.volumes)[:, None]
    return (part.solid.value(state.q[part.solid.nodes]) / part.solid.volumes)[:, None]


def _strain(quantity: str, part: _Part, F: Array) -> Array:
    """Return the strain [..., 6] of deformation gradients."""
    if quantity == "strain":
        return tensors.green_lagrange(F, part.solid.material.objective)
    if quantity == "logarithmic_strain":
        return tensors.logarithmic(F)
    raise InvalidSystem(f"there is no quantity '{quantity}' of solids; there are {', '.join(OF_SOLIDS)}.")


@checked
def stress(system: System, state: State, quantity: Quantity = "stress") -> dict[str, Array]:
    """Return the Cauchy stress of the elements of each solid, or another quantity of it.

    Parameters
    ----------
    system : System
    state : State
    quantity : str, default "stress"
        ``stress``, ``strain`` or ``logarithmic_strain`` [m, 6], ``principal_stresses`` [m, 3], ``pressure``,
        ``von_mises`` or ``energy_density`` [m], of m elements; see `SolidFields`.

    Returns
    -------
    dict of str to float64
        By the names of the energies; in Pa, strains are pure numbers, energy densities are in J/m³.

    Raises
    ------
    InvalidSystem
        If there is no such quantity.
    InvertedElement, MaterialFailed
        If the state has no stress.

    Examples
    --------
    >>> sx.stress(system, state)["block"][:, 0]  # σ_xx of each element
    """
    fields = SolidFields(system)
    return {name: fields.of_elements(quantity, state, name) for name in fields.names}


@checked
def nodal_stress(system: System, state: State, quantity: Quantity = "stress") -> Array:
    """Return the Cauchy stress of solids averaged at the nodes of a system, or another quantity, as `stress`.

    Parameters
    ----------
    system : System
    state : State
    quantity : str, default "stress"
        As of `stress`.

    Returns
    -------
    float64 [n, 6], [n, 3] or [n]
        Zero at nodes that belong to no solid.

    Raises
    ------
    InvalidSystem
        If there is no solid, or no such quantity.
    InvertedElement, MaterialFailed
        If the state has no stress.
    """
    return SolidFields(system).at_nodes(quantity, state)
