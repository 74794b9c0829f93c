"""Mass of solid elements and of bars, lumped and consistent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, MeshError
from symplex.fem.assembly.nodes import connectivity, require_nodes
from symplex.fem.assembly.pattern import Array, IntArray, Pattern, scatter_blocks
from symplex.fem.compiled.kernels import kernel
from symplex.fem.solids import tetrahedra
from symplex.fem.solids.elements import (
    FLAT,
    QUADRATIC_TETRAHEDRON,
    TETRAHEDRON,
    Element,
    checked_determinants,
    element_of,
    jacobians,
)

_CHUNK = 4096  # elements whose Jacobians are found at once


@checked
def lumped_mass(points: Array, cells: IntArray, density: float, n_nodes: int) -> Array:
    """Return nodal masses [n_nodes] in kg, all positive, which sum to the mass of the body.

    Linear tetrahedra and hexahedra give each of their nodes ∫ ρ N_a (a quarter of a tetrahedron's mass). At the
    corners of quadratic tetrahedra that is negative: their mass is shared as the diagonal ∫ ρ N_a² is (Hinton, Rock and
    Zienkiewicz, Earthquake Engng Struct. Dyn. 4 (1976) 245).

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m.
    cells : int32 [m, k]
        The nodes of the elements: k = 4 linear tetrahedra, 8 hexahedra, 10 quadratic tetrahedra.
    density : float
        Mass per undeformed volume in kg/m³.
    n_nodes : int
        Number of nodes of the system.

    Raises
    ------
    MeshError
        If an element is inverted or flat.
    InvalidSystem
        If an element refers to a node that does not exist, there are no such elements, a point is not finite, or the
        density is not positive.
    """
    element = element_of("the mass", cells)
    require_points("the mass", points)
    _require_density(density)
    require_nodes("the mass", cells, min(n_nodes, len(points)))
    points, cells = np.ascontiguousarray(points, dtype=float), connectivity("the mass", cells)
    masses = np.zeros(n_nodes)
    N, weights = element.shapes(element.mass.points)[0], element.mass.weights
    squares = N if element.positive else N**2
    factors, others = _with_constant_jacobian(element, points, cells)
    if len(factors):
        diagonal = weights @ squares
        shares = diagonal * (weights.sum() / diagonal.sum())
        _add_shares(density * factors, shares, cells, masses)
    for part, w in _weights(element, points, cells, others):
        diagonal = w @ squares
        shares = density * diagonal * (w.sum(axis=1) / diagonal.sum(axis=1))[:, None]
        masses += np.bincount(cells[part].ravel(), weights=shares.ravel(), minlength=n_nodes)
    return masses


@checked
def consistent_mass(points: Array, cells: IntArray, density: float, n_nodes: int) -> sp.csr_array:
    """Return the consistent mass matrix ∫ ρ N_a N_b [n_nodes, n_nodes] in kg; ρ V (1 + δ_ab)/20 per linear tetrahedron.

    One row per node, the same for each direction.

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m.
    cells : int32 [m, k]
        The nodes of the elements, as of `lumped_mass`.
    density : float
        In kg/m³.
    n_nodes : int
        Number of nodes of the system.

    Raises
    ------
    MeshError, InvalidSystem
        As `lumped_mass`.
    """
    element_of("the mass", cells)
    require_points("the mass", points)
    _require_density(density)
    pattern = Pattern(n_nodes, [cells])
    values = np.zeros(len(pattern.indices))
    add_consistent_mass(points, cells, density, pattern.slots[0], values)
    return sp.csr_array((values, pattern.indices, pattern.indptr), shape=(n_nodes, n_nodes))


def add_consistent_mass(points: Array, cells: IntArray, density: float, slots: IntArray, out: Array) -> None:
    """Add the consistent mass in kg of elements to the values out [nnz] of a matrix on a fixed pattern.

    Parameters
    ----------
    points, cells, density
        As in `lumped_mass`.
    slots : int32 [m, k, k]
        The place in out of each pair of nodes of each element (see `symplex.fem.assembly.pattern.Pattern`).
    out : float64 [nnz]
    """
    points, cells = np.ascontiguousarray(points, dtype=float), connectivity("the mass", cells)
    element = element_of("the mass", cells)
    require_nodes("the mass", cells, len(points))
    if element is TETRAHEDRON:
        if not _add_consistent_mass(points, cells, density, slots, out):
            tetrahedra.checked_volumes(points, cells)
        return
    N, _ = element.shapes(element.mass.points)
    products = density * np.einsum("ga,gb->gab", N, N).reshape(len(N), -1)
    factors, others = _with_constant_jacobian(element, points, cells)
    if len(factors):
        _add_multiples(factors, element.mass.weights @ products, slots, out)
    for part, w in _weights(element, points, cells, others):
        local = (w @ products).reshape(len(w), element.n_nodes, element.n_nodes)
        scatter_blocks(local, slots[part], out[:, None, None])


def _with_constant_jacobian(element: Element, points: Array, cells: IntArray) -> tuple[Array, IntArray]:
    """Return the Jacobians [m] in m³ of elements that have the same one everywhere, 0 for others, and which these are.

    Those are tetrahedra with straight edges; of other types none is looked for, and there are no Jacobians.
    """
    if element is TETRAHEDRON:
        return 6.0 * tetrahedra.checked_volumes(points, cells), np.empty(0, np.int32)
    if element is not QUADRATIC_TETRAHEDRON:
        return np.empty(0), np.arange(len(cells), dtype=np.int32)
    det = tetrahedra.straight_determinants(points, cells)
    others = np.flatnonzero(np.isnan(det)).astype(np.int32)
    det[others] = 0.0
    return det, others


def _weights(element: Element, points: Array, cells: IntArray, chosen: IntArray) -> Iterator[tuple[IntArray, Array]]:
    """Yield chosen elements, some at a time, with the weights [e, g] in m³ of their points of quadrature."""
    _, slopes = element.shapes(element.mass.points)
    by_node = np.ascontiguousarray(slopes.transpose(1, 2, 0))
    for first in range(0, len(chosen), _CHUNK):
        part = chosen[first : first + _CHUNK]
        weights = np.empty((len(part), len(slopes)))
        if not _set_weights(points, cells[part], by_node, element.mass.weights, weights):
            checked_determinants(element, cells, jacobians(points, cells, slopes))  # says which elements are wrong
        yield part, weights


def nodal_masses(what: str, mass: Array | sp.csr_array) -> Array:
    """Return the masses [n] of nodes in kg given, or row sums of a mass matrix; ``what`` names who asks."""
    if sp.issparse(mass):
        return np.asarray(mass.sum(axis=1), dtype=float).ravel()
    masses = np.asarray(mass, dtype=float)
    if masses.ndim != 1 or not (np.isfinite(masses) & (masses >= 0)).all():
        raise InvalidSystem(f"{what}: masses must be one for each node [n], not negative; they are {mass!r:.80}.")
    return masses


def require_points(what: str, points: Array) -> None:
    """Check that positions are finite, [n, 3]; ``what`` names who asks."""
    if points.ndim != 2 or points.shape[1] != 3:
        raise InvalidSystem(f"{what}: points have shape {points.shape}, expected (n, 3).")
    if not np.isfinite(points).all():
        node = int(np.argwhere(~np.isfinite(points))[0, 0])
        raise InvalidSystem(f"{what}: points must be finite; point {node} is {points[node]}.")


def _require_density(density: float) -> None:
    if not 0.0 < density < np.inf:
        raise InvalidSystem(f"the mass: the density must be positive and finite; it is {density} kg/m³.")


def require_masses(mass: Array | sp.csr_array, massless: NDArray[np.bool_]) -> None:
    """Check the mass of a system: positive at all nodes but those that are massless.

    Parameters
    ----------
    mass : float64 [n] or sparse [n, n]
        In kg.
    massless : bool [n]
    """
    n = mass.shape[0]  # pyright: ignore[reportOptionalSubscript]
    consistent = sp.issparse(mass)
    if mass.shape != ((n, n) if consistent else (n,)):
        raise InvalidSystem(
            f"the mass has shape {mass.shape}; expected one mass per node [n], or a sparse matrix [n, n]."
        )
    # Row sums of a consistent mass may be negative, as at the corners of quadratic tetrahedra.
    nodal = np.asarray(mass.diagonal() if consistent else mass)
    infinite = np.flatnonzero(~np.isfinite(nodal))
    if len(infinite):
        raise InvalidSystem(f"the mass of node {infinite[0]} is {nodal[infinite[0]]} kg; fix what does not move.")
    if massless.shape != (n,):
        raise InvalidSystem(f"massless has shape {massless.shape}, expected {(n,)}.")
    heavy = np.flatnonzero(massless & (nodal != 0))
    if len(heavy):
        raise InvalidSystem(f"node {heavy[0]} is massless, but its mass is {nodal[heavy[0]]} kg.")
    if consistent and massless.any():
        entries = sp.coo_array(mass)
        coupled = np.flatnonzero((massless[entries.row] | massless[entries.col]) & (entries.data != 0))
        if len(coupled):
            i, j = entries.row[coupled[0]], entries.col[coupled[0]]
            node, other = (i, j) if massless[i] else (j, i)
            raise InvalidSystem(
                f"node {node} is massless, but the mass matrix couples it with node {other}; "
                "symplex.contact.mass_moved_inward frees nodes of their mass and their couplings."
            )
    bad = np.flatnonzero((nodal <= 0) & ~massless)
    if len(bad):
        raise InvalidSystem(
            f"{len(bad)} of {n} nodes have no mass (the first is node {bad[0]}); "
            "remove the nodes that belong to no element, or give them mass."
        )


# -- between lumped and consistent ------------------------------------------------------------------------------


@checked
def mixed_mass(
    lumped: ArrayLike, consistent: sp.csr_array, *, share: float | None = None, courant: float | None = None
) -> sp.csr_array:
    """Return the mass matrix (1 − α) lumped + α consistent [n, n] in kg.

    Waves in a row of linear elements of the size h, by steps dt of the midpoint rule or of energy-momentum, have the
    right speed to leading order at α = ½ + C², C = c dt/h, where the error in space and that of the step cancel:

        (4/dt²) tan²(ω dt/2) = 2 (c/h)² (1 − cos θ)/(1 − α (1 − cos θ)/3),    θ = h times the wave number.

    A lumped mass makes short waves too slow, a consistent one too fast, and steps make both slower.

    Parameters
    ----------
    lumped : float64 [n]
        In kg, of `lumped_mass` or `bar_mass`.
    consistent : sparse [n, n]
        In kg, of `consistent_mass` or `consistent_bar_mass` of the same body.
    share : float, optional
        α, from 0 to 1.
    courant : float, optional
        C, instead of a share: then α = ½ + C², or 1 if that is more.

    Raises
    ------
    InvalidSystem
        If sizes do not match, a number is out of range, or not one of share and Courant number is given.
    """
    nodal = nodal_masses("the mixed mass", np.asarray(lumped))
    if consistent.shape != (len(nodal), len(nodal)):
        raise InvalidSystem(
            f"the mixed mass: {len(nodal)} lumped masses and a consistent mass of shape {consistent.shape} "
            "are not of one body."
        )
    if (share is None) == (courant is None):
        raise InvalidSystem("the mixed mass takes a share of the consistent mass, or a Courant number: one of both.")
    if courant is not None and not 0.0 < courant < np.inf:
        raise InvalidSystem(f"the mixed mass: the Courant number must be positive; it is {courant}.")
    alpha = min(0.5 + courant * courant, 1.0) if courant is not None else share
    if alpha is None or not 0.0 <= alpha <= 1.0:
        raise InvalidSystem(f"the mixed mass: the share of the consistent mass must be from 0 to 1; it is {alpha}.")
    return sp.csr_array((1.0 - alpha) * sp.diags_array(nodal) + alpha * consistent)


# -- bars -----------------------------------------------------------------------------------------------------


@checked
def bar_mass(points: Array, pairs: IntArray, density: ArrayLike, area: ArrayLike, n_nodes: int) -> Array:
    """Return nodal masses [n_nodes] in kg: half of each bar's mass ρ A L to each of its ends.

    Parameters
    ----------
    points : float64 [n, dim]
        Undeformed positions in m.
    pairs : int32 [m, 2]
        The nodes of the bars: the ``line`` cells of a mesh.
    density : float or float64 [m]
        Mass per undeformed volume in kg/m³.
    area : float or float64 [m]
        Cross-sections in m².
    n_nodes : int
        Number of nodes of the system.

    Raises
    ------
    MeshError
        If a bar has no length.
    InvalidSystem
        If a bar refers to a node that does not exist, or a density or an area is not positive.
    """
    masses = _masses_of_bars(points, pairs, density, area, n_nodes)
    nodal = np.bincount(pairs.ravel(), weights=np.repeat(0.5 * masses, 2), minlength=n_nodes)
    return np.asarray(nodal, dtype=float)


@checked
def consistent_bar_mass(
    points: Array, pairs: IntArray, density: ArrayLike, area: ArrayLike, n_nodes: int
) -> sp.csr_array:
    """Return the consistent mass matrix [n_nodes, n_nodes] in kg of bars: ρ A L (1 + δ_ab)/6 per bar.

    Parameters
    ----------
    points : float64 [n, dim]
        Undeformed positions in m.
    pairs : int32 [m, 2]
        The nodes of the bars.
    density : float or float64 [m]
        In kg/m³.
    area : float or float64 [m]
        Cross-sections in m².
    n_nodes : int
        Number of nodes of the system.

    Raises
    ------
    MeshError, InvalidSystem
        As `bar_mass`.
    """
    masses = _masses_of_bars(points, pairs, density, area, n_nodes)
    pattern = Pattern(n_nodes, [pairs])
    values = np.zeros(len(pattern.indices))
    local = masses[:, None, None] * (1.0 + np.eye(2)) / 6.0
    scatter_blocks(local, pattern.slots[0], values[:, None, None])
    return sp.csr_array((values, pattern.indices, pattern.indptr), shape=(n_nodes, n_nodes))


def _masses_of_bars(points: Array, pairs: IntArray, density: ArrayLike, area: ArrayLike, n_nodes: int) -> Array:
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InvalidSystem(f"the mass of bars: pairs have shape {pairs.shape}, expected (m, 2).")
    require_nodes("the mass of bars", pairs, min(n_nodes, len(points)))
    if points.ndim != 2 or not np.isfinite(points).all():
        raise InvalidSystem(f"the mass of bars: points must be finite, [n, dim]; their shape is {points.shape}.")
    lengths = np.linalg.norm(points[pairs[:, 1]] - points[pairs[:, 0]], axis=1)
    bad = np.flatnonzero(~(lengths > 0))
    if len(bad):
        a, b = pairs[bad[0]]
        raise MeshError(f"bar {bad[0]} (nodes {a} and {b}) has no length; merge its nodes, or remove it.")
    for name, values, unit in (("density", density, "kg/m³"), ("area", area, "m²")):
        if np.shape(values) not in ((), lengths.shape):
            raise InvalidSystem(f"the mass of bars: {name} has shape {np.shape(values)}, but bars are {len(lengths)}.")
        wrong = np.ravel(~((np.asarray(values) > 0) & np.isfinite(values)))
        if wrong.any():
            raise InvalidSystem(
                f"the mass of bars: {name} is {np.ravel(values)[wrong][0]} {unit}; it must be positive and finite."
            )
    return lengths * np.asarray(density, dtype=float) * np.asarray(area, dtype=float)


# -- compiled loop --------------------------------------------------------------------------------------------


@kernel
def _add_shares(factors, shares, cells, out):
    """Add to out [n] for each element its factor [m] times the shares [k] of its nodes."""
    for e in range(len(cells)):
        for a in range(cells.shape[1]):
            out[cells[e, a]] += factors[e] * shares[a]


@kernel
def _add_multiples(factors, matrix, slots, out):
    """Add to out [nnz] for each element its factor [m] times the matrix [k²], at its slots [m, k, k]."""
    for e in range(len(factors)):
        to = slots[e].ravel()
        for i in range(len(matrix)):
            out[to[i]] += factors[e] * matrix[i]


@kernel
def _set_weights(points, cells, slopes, weights, out):
    """Set out [m, g] to the weights [g] times the Jacobians of elements; return whether all of these are positive.

    That is as `checked_determinants` has it. The slopes of shape functions are given as [k, 3, g].
    """
    n = len(weights)
    J = np.empty((9, n))  # row 3 i + j: component i of the column j
    good = True
    for e in range(len(cells)):
        J[:] = 0.0
        for a in range(1, cells.shape[1]):
            for i in range(3):
                x = points[cells[e, a], i] - points[cells[e, 0], i]  # slopes sum to zero
                for j in range(3):
                    row, slope = J[3 * i + j], slopes[a, j]
                    for g in range(n):
                        row[g] += x * slope[g]
        ux, vx, wx, uy, vy, wy, uz, vz, wz = J[0], J[1], J[2], J[3], J[4], J[5], J[6], J[7], J[8]
        for g in range(n):
            determinant = (
                ux[g] * (vy[g] * wz[g] - vz[g] * wy[g])
                + uy[g] * (vz[g] * wx[g] - vx[g] * wz[g])
                + uz[g] * (vx[g] * wy[g] - vy[g] * wx[g])
            )
            u2, v2 = ux[g] * ux[g] + uy[g] * uy[g] + uz[g] * uz[g], vx[g] * vx[g] + vy[g] * vy[g] + vz[g] * vz[g]
            w2 = wx[g] * wx[g] + wy[g] * wy[g] + wz[g] * wz[g]
            good &= determinant > FLAT * np.sqrt(u2 * v2 * w2)
            out[e, g] = determinant * weights[g]
    return good


@kernel
def _add_consistent_mass(points, cells, density, slots, out):
    """Add ρ V (1 + δ_ab)/20; return whether no element is inverted or flat (see `tetrahedra.checked_volumes`)."""
    good = True
    for e in range(len(cells)):
        determinant = tetrahedra.determinant_unless_flat(points, cells[e])
        good &= determinant > 0.0
        share = density * determinant / 120.0
        for a in range(4):
            for b in range(4):
                out[slots[e, a, b]] += share
            out[slots[e, a, a]] += share
    return good
