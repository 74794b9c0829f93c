"""Shells: quadrilaterals and triangles of a mesh as energies of rods and frames, exact for small strains.

With c the middle of the thickness at a node and d the direction across it, of the nodes a of a quadrilateral with
natural coordinates ξ_a, η_a = ±1,

    g₁ = ¼ Σ ξ_a c_a,  g₂ = ¼ Σ η_a c_a,  h = ¼ Σ ξ_a η_a c_a,   e₁, e₂, k the same of d_a,   d̄ = ¼ Σ d_a,

covariant strains and curvatures at (ξ, η) are, less their values at rest,

    ε₁₁ = ½|g₁|² + η g₁·h + ½ η²|h|²,   ε₂₂ = ½|g₂|² + ξ g₂·h + ½ ξ²|h|²,   2ε₁₂ = g₁·g₂ + ξ g₁·h + η g₂·h + ξη|h|²,
    κ₁₁ = g₁·e₁ + η (g₁·k + h·e₁) + η² h·k,   κ₂₂ = g₂·e₂ + ξ (g₂·k + h·e₂) + ξ² h·k,
    2κ₁₂ = g₁·e₂ + g₂·e₁ + ξ (g₁·k + h·e₁) + η (g₂·k + h·e₂) + 2ξη h·k,
    γ₁ = g₁·d̄ + h·e₂ + η (h·d̄ + g₁·e₂),   γ₂ = g₂·d̄ + h·e₁ + ξ (h·d̄ + g₂·e₁),

in which γ₁ and γ₂ are those in the middles of edges, interpolated (Dvorkin and Bathe, Eng. Comput. 1 (1984) 77). These
are 16 measures that are quadratic in positions, and the energy is quadratic in them: its integral by 2 × 2 points is a
constant matrix C, from which four enhanced strains, (J₀/J) V₀ diag(ξ, η, (ξ, η)), are condensed (Simo and Rifai, Int.
J. Numer. Meth. Engng 29 (1990) 1595). Triangles have constant ε and κ, and γ along edges constant on each (MITC3: Lee
and Bathe, Comput. Struct. 82 (2004) 945).

In shear elements have the flexibility S⁻¹ + β L²/D, with their longest edge L and their stiffness D in bending, the
mean over directions. For one material and ν = 0.3 that is S times h²/(h² + α L²) with α = 3.5 β, as Lyly, Stenberg and
Vihinen have it (Comput. Methods Appl. Mech. Engng 110 (1993) 343). With α = 0.1 triangles do not lock. Quadrilaterals
have α = 0.01, so little that deflections hardly change: it bounds the stiffness of thin shells in shear, and with that
the round-off of forces and the frequencies of directors, which otherwise grow with L²/h².
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.representation import Summarized
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, MeshError
from symplex.fem.assembly.nodes import Nodes, distinct_nodes, require_nodes
from symplex.fem.assembly.pattern import Array, IntArray, Pattern, scatter_blocks
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.generalized_strains import GeneralizedStrains
from symplex.fem.structures.plies import ShellProperties
from symplex.fem.structures.quadratic_measures import QuadraticMeasures
from symplex.fem.structures.rigidity import CORNERS
from symplex.meshes.mesh import Mesh

_BETA = {"quad": 0.01 / 3.5, "triangle": 0.1 / 3.5}
_DRILL = 0.01  # of the stiffness in shear of the area of a node, that resists its rotation about the director
_PARALLEL = 1e-3  # sine of the angle between direction and a normal, below which it gives none
_POSITIVE = 1e-10  # part of the mean of an element's determinants that the least of them must have
_MOST_FOLD = 120.0  # degrees
_SHARP = 0.02  # squared sine of half of an angle, below which elements have one direction for mitres of skins
_LONGEST = 3.0  # times half of the thickness, which a mitre is at most


@final
@dataclass(frozen=True)
class _Kind:
    """An element: its nodes, vectors, measures, points of quadrature, and what of measures makes strains there.

    Attributes
    ----------
    name : str
        Of cells of a mesh.
    slopes, shapes : float64 [p, 2, k], [p, k]
        Derivatives of the functions of nodes by natural coordinates at points, and these functions; the last is the
        middle, with no weight.
    weights : float64 [p]
    of_c, of_d : float64 [v, k]
        The vectors, by c and d of nodes.
    measures : tuple of tuples of (int, int, float)
        Those of ε, of κ and of γ.
    split : tuple of int
        How many of each.
    strains, shears : float64 [p, 3, i], [p, 2, j]
        (ε₁₁, ε₂₂, 2ε₁₂) by measures of ε, the same of κ, and γ₁, γ₂ by those of γ.
    enhanced : float64 [p, 3, e]
        Strains without a displacement.
    """

    name: str
    slopes: Array
    shapes: Array
    weights: Array
    of_c: Array
    of_d: Array
    measures: tuple[tuple[tuple[int, int, float], ...], ...]
    split: tuple[int, int, int]
    strains: Array
    shears: Array
    enhanced: Array


def _quadrilateral() -> _Kind:
    xi, eta = np.array([-1.0, 1.0, 1.0, -1.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    x, y = np.append(xi, 0.0) / np.sqrt(3.0), np.append(eta, 0.0) / np.sqrt(3.0)
    one, nil = np.ones(5), np.zeros(5)
    D, E1, E2, K, G1, G2, H = range(7)
    patterns = 0.25 * np.array([np.ones(4), xi, eta, xi * eta])
    of_c, of_d = np.zeros((7, 4)), np.zeros((7, 4))
    of_d[[D, E1, E2, K]], of_c[[G1, G2, H]] = patterns, patterns[1:]
    membrane = [[(G1, G1, 0.5)], [(G2, G2, 0.5)], [(G1, G2, 1.0)], [(G1, H, 1.0)], [(G2, H, 1.0)], [(H, H, 0.5)]]
    bending = [
        [(G1, E1, 1.0)],
        [(G2, E2, 1.0)],
        [(G1, E2, 1.0), (G2, E1, 1.0)],
        [(G1, K, 1.0), (H, E1, 1.0)],
        [(G2, K, 1.0), (H, E2, 1.0)],
        [(H, K, 1.0)],
    ]
    shear = [
        [(G1, D, 1.0), (H, E2, 1.0)],
        [(H, D, 1.0), (G1, E2, 1.0)],
        [(G2, D, 1.0), (H, E1, 1.0)],
        [(H, D, 1.0), (G2, E1, 1.0)],
    ]
    by_points = (
        ((one, nil, nil, y, nil, y * y), (nil, one, nil, nil, x, x * x), (nil, nil, one, x, y, 2.0 * x * y)),
        ((one, y, nil, nil), (nil, nil, one, x)),
        ((x, nil, nil, nil), (nil, y, nil, nil), (nil, nil, x, y)),
    )
    return _Kind(
        "quad",
        np.stack([0.25 * xi * (1.0 + np.outer(y, eta)), 0.25 * eta * (1.0 + np.outer(x, xi))], axis=1),
        0.25 * (1.0 + np.outer(x, xi)) * (1.0 + np.outer(y, eta)),
        np.array([1.0, 1.0, 1.0, 1.0, 0.0]),
        of_c,
        of_d,
        tuple(tuple(terms) for terms in (*membrane, *bending, *shear)),
        (6, 6, 4),
        *(np.moveaxis(np.array(rows), 2, 0) for rows in by_points),
    )


def _triangle() -> _Kind:
    x, y = np.array([0.5, 0.5, 0.0, 1.0 / 3.0]), np.array([0.0, 0.5, 0.5, 1.0 / 3.0])
    one, nil = np.ones(4), np.zeros(4)
    D, E1, E2, G1, G2 = range(5)
    differences = np.array([[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])
    of_c, of_d = np.zeros((5, 3)), np.zeros((5, 3))
    of_d[D, 0], of_d[[E1, E2]], of_c[[G1, G2]] = 1.0, differences, differences
    membrane = [[(G1, G1, 0.5)], [(G2, G2, 0.5)], [(G1, G2, 1.0)]]
    bending = [[(G1, E1, 1.0)], [(G2, E2, 1.0)], [(G1, E2, 1.0), (G2, E1, 1.0)]]
    shear = [[(G1, D, 1.0), (G1, E1, 0.5)], [(G2, D, 1.0), (G2, E2, 0.5)], [(G1, E2, 0.5), (G2, E1, -0.5)]]
    by_points = (((one, nil, nil), (nil, one, nil), (nil, nil, one)), ((one, nil, y), (nil, one, -x)))
    return _Kind(
        "triangle",
        np.broadcast_to(differences, (4, 2, 3)),
        np.stack([1.0 - x - y, x, y], axis=1),
        np.array([1.0, 1.0, 1.0, 0.0]) / 6.0,
        of_c,
        of_d,
        tuple(tuple(terms) for terms in (*membrane, *bending, *shear)),
        (3, 3, 3),
        np.moveaxis(np.array(by_points[0]), 2, 0),
        np.moveaxis(np.array(by_points[1]), 2, 0),
        np.zeros((4, 3, 0)),
    )


_KINDS = (_quadrilateral(), _triangle())


@final
@dataclass(frozen=True, repr=False)
class Shells(Summarized):
    """Shells, as parts of a system.

    Attributes
    ----------
    points : float64 [p, 3]
        Positions of particles in m, undeformed.
    mass : float64 [p]
        In kg.
    energies : dict of str to QuadraticMeasures
        Of quadrilaterals, ``quad``, and of triangles, ``triangle``; with ``_fold`` those that have a node on a fold.
    frames : Frames
        One for each node of the mesh: a rod across the shell, or four particles where it is folded.
    cells : dict of str to int32 [m, 4] or [m, 3]
        The nodes of the elements of each energy.
    elements : dict of str to int32 [m]
        Which of the cells of their type in the mesh these are.
    axes : dict of str to float64 [m, 3, 3]
        The axes 1, 2 and 3 in the middle of each element, one in each row; 3 is the normal.
    directors : dict of str to float64 [m, k, 3]
        Directions across the shell at the corners of elements, to the side of the normal.
    sides : float64 [n, 2]
        How far both sides of the shell are from the centres of nodes on no fold, along the rods from the first particle
        to the second one, in m.
    drills : tuple of QuadraticMeasures
        Of nodes that are ``framed`` where the shell is smooth: a little resistance to rotations about the director,
        relative to the edges at the node.
    """

    points: Array
    mass: Array
    energies: dict[str, QuadraticMeasures]
    frames: Frames
    cells: dict[str, IntArray]
    elements: dict[str, IntArray]
    axes: dict[str, Array]
    directors: dict[str, Array]
    sides: Array
    drills: tuple[QuadraticMeasures, ...]
    _recovery: dict[str, Array]
    _offsets: dict[str, Array]
    _shift: Array
    _thickness: Array
    _masses: dict[str, Array]
    _moments: Array

    def expanded(self, thermal_strain: Mapping[str, Array]) -> Shells:
        """Return shells whose elements are free of stress where they are larger by α ΔT [m], of each energy.

        Their metric is s² times that at rest, s = 1 + α ΔT, what is linear in it and in directors s times.
        """
        energies = {}
        for name, energy in self.energies.items():
            kind = _KINDS[0] if energy.terms == _KINDS[0].measures else _KINDS[1]
            power = np.repeat([2, 1, 1], kind.split)
            energies[name] = energy.at_rest(energy.rest * (1.0 + thermal_strain[name][:, None]) ** power)
        return replace(self, energies=energies)

    def particles(self, nodes: Nodes) -> IntArray:
        """Return the particles [k, 2] of nodes of the mesh, or [k, 4] of nodes on folds.

        Raises
        ------
        InvalidSystem
            If there is no such node, one is named twice, or some are on folds and others not.
        """
        given = distinct_nodes("Shells", nodes)
        require_nodes("Shells", given, len(self.frames))
        rods = self.frames.is_rod[given]
        if rods.any() and not rods.all():
            raise InvalidSystem(
                f"Shells: node {given[np.argmin(rods)]} is on a fold with four particles and node "
                f"{given[np.argmax(rods)]} has two. Ask for one kind at a time."
            )
        return self.frames.nodes[given][:, : 2 if rods.any() else 4]

    def fixed(self, nodes: Nodes) -> NDArray[np.bool_]:
        """Return the mask [p, 3] of particles with those of given nodes fixed: these are clamped."""
        given = distinct_nodes("Shells", nodes)
        require_nodes("Shells", given, len(self.frames))
        mask = np.zeros(self.points.shape, bool)
        mask[self.frames.nodes[given]] = True
        return mask

    def skin(self) -> tuple[sp.csr_array, IntArray]:
        """Return weights [k, p] of points on both sides of the shell, and the triangles [f, 3] between them.

        Points are means of particles by the weights. With them `Interpolation` makes energies of points, such as those
        of contact, energies of the shell. The triangles enclose the shell, with walls at its edges and normals to the
        outside. Where it is folded, both sides meet in a mitre. Of node i these are the points 2i and 2i + 1; where
        more than two elements meet at an edge, or parts at a point only, each part has its own surface, and a node has
        two points for each.
        """
        weights, triangles, _ = self._skin
        return weights, triangles

    def skin_elements(self) -> IntArray:
        """Return which element each triangle [f] of the skin is of, counted in the order of `cells`."""
        return self._skin[2]

    @cached_property
    def _skin(self) -> tuple[sp.csr_array, IntArray, IntArray]:
        """The weights of points, triangles, and elements of these."""
        cells, directors = list(self.cells.values()), [self.directors[name] for name in self.cells]
        nodes, d = np.concatenate([one.ravel() for one in cells]), np.concatenate([d.reshape(-1, 3) for d in directors])
        corners, ends, alone = _edges(cells)
        fan, sign = _fans(nodes, corners[~alone], ends[~alone])
        of_fan = np.zeros(fan.max() + 1, np.int32)
        of_fan[fan] = nodes
        weights = np.stack([self._weights_of_side(fan, sign, d, of_fan, side) for side in (-1.0, 1.0)], axis=1)
        columns = np.repeat(self.frames.nodes[of_fan], 2, axis=0)
        indptr = np.arange(0, columns.size + 1, 4)
        matrix = sp.csr_array((weights.ravel(), columns.ravel(), indptr), shape=(len(columns), len(self.points)))
        matrix.sum_duplicates()
        up = 2 * fan + (sign > 0.0)  # of each corner, on the side of its element's normal, and on the other one
        down = 2 * fan + (sign < 0.0)
        triangles, elements, first, element = [], [], 0, 0
        for one in cells:
            at = first + np.arange(one.size).reshape(one.shape)
            for i in range(1, one.shape[1] - 1):
                triangles += [up[at[:, [0, i, i + 1]]], down[at[:, [0, i + 1, i]]]]
                elements += [np.arange(element, element + len(one))] * 2
            first, element = first + one.size, element + len(one)
        a, b = corners[alone, 0].T  # of walls, from the first to the second corner around the element
        triangles += [np.column_stack([down[a], down[b], up[b]]), np.column_stack([down[a], up[b], up[a]])]
        of_corner = np.repeat(np.arange(element), np.concatenate([np.full(len(one), one.shape[1]) for one in cells]))
        elements += [of_corner[a]] * 2
        return matrix, np.concatenate(triangles).astype(np.int32), np.concatenate(elements).astype(np.int32)

    def _weights_of_side(self, fan: IntArray, sign: Array, d: Array, of_fan: IntArray, side: float) -> Array:
        """Return the weights [k, 4] of particles for the points of fans on one side of the shell, 1 or −1.

        A point is at the same distance from the middle surfaces of all elements around it, p·d = ± h/2.
        """
        f, thickness, shift = len(of_fan), self._thickness[of_fan], self._shift[of_fan]
        matrix, vector = np.zeros((f, 3, 3)), np.zeros((f, 3))
        offsets = [np.repeat(self._offsets[name], one.shape[1]) for name, one in self.cells.items()]
        height = sign * np.concatenate(offsets) + 0.5 * side * thickness[fan]
        up = sign[:, None] * d
        np.add.at(matrix, fan, up[:, :, None] * up[:, None, :])
        np.add.at(vector, fan, height[:, None] * up)
        values, axes = np.linalg.eigh(matrix)
        inverse = np.where(values > _SHARP * values[:, -1:], 1.0 / np.maximum(values, 1e-300), 0.0)
        place = np.einsum("fij,fj,fkj,fk->fi", axes, inverse, axes, vector)
        most = np.zeros(f)
        np.maximum.at(most, fan, np.abs(height))
        size = np.linalg.norm(place, axis=1)
        place *= np.minimum(1.0, _LONGEST * most / np.maximum(size, 1e-300))[:, None]
        arms = self.frames.rest_arms[of_fan]
        second = np.linalg.pinv(np.einsum("fai,faj->fij", arms, arms), rcond=1e-10, hermitian=True)
        return np.asarray(0.25 + np.einsum("fai,fij,fj->fa", arms, second, place - shift), float)

    @cached_property
    def consistent_mass(self) -> sp.csr_array:
        """The consistent mass matrix [p, p] in kg: constant, so that energy and momenta are conserved with it too.

        Centres and directors are interpolated as in the energy, bilinearly or linearly: T = ½ ∫ ρh |ċ|² + ρh³/12 |ḋ|².
        Folds have the rotary inertia of lumped nodes in addition, without which some of it would be missing.
        """
        folds = np.flatnonzero(~self.frames.is_rod)
        arms = self.frames.rest_arms[folds]
        axes = arms @ np.linalg.inv(np.einsum("fai,faj->fij", arms, arms))  # weights of what turns with a frame
        turning = self._moments[folds, None, None] / 3.0 * (axes @ axes.swapaxes(1, 2))
        stencils = [*(energy.nodes for energy in self.energies.values()), self.frames.nodes[folds]]
        pattern = Pattern(len(self.points), stencils)
        values = np.zeros(len(pattern.indices))
        for local, slots in zip([*self._masses.values(), turning], pattern.slots, strict=True):
            scatter_blocks(0.5 * (local + local.swapaxes(1, 2)), slots, values[:, None, None])
        n = len(self.points)
        return sp.csr_array((values, pattern.indices, pattern.indptr), shape=(n, n))

    @cached_property
    def strains(self) -> dict[str, GeneralizedStrains]:
        """The generalised strains of the elements of each energy, its measures, of laws with history."""
        return {
            name: GeneralizedStrains(energy, tuple(range(len(energy.terms))), name=name)
            for name, energy in self.energies.items()
        }

    def section_forces(self, q: Array, overstrains: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """Return N₁₁, N₂₂, N₁₂ in N/m, M₁₁, M₂₂, M₁₂ in N and Q₁, Q₂ in N/m [m, 8] in the middle of elements.

        Of each energy, at positions q [p, 3] in m, along the axes of elements. A moment is positive if it stretches the
        side to which the normal is directed. Strains of Maxwell elements, `ViscoelasticSections.overstrains`, add to
        those of the energies.
        """
        of = {} if overstrains is None else overstrains
        return {
            name: np.einsum("mij,mj->mi", self._recovery[name], energy.strains(q[energy.nodes]) + of.get(name, 0.0))
            for name, energy in self.energies.items()
        }


@checked
def shells(
    mesh: Mesh,
    properties: ShellProperties | Mapping[str, ShellProperties],
    *,
    offset: float | Mapping[str, float] = 0.0,
    direction: ArrayLike | Mapping[str, ArrayLike] = (1.0, 0.0, 0.0),
    directors: ArrayLike | None = None,
    fold: float = 35.0,
    extent: float = 0.0,
    framed: Nodes = (),
) -> Shells:
    """Return the quadrilaterals and triangles of a mesh as shells.

    Elements are without stress in the mesh. Where neighbours are inclined by less than `fold`, the shell is smooth: a
    node is a rod of two particles across it, with its mass and its exact rotary inertia. Elsewhere, and where more than
    two elements meet at an edge, elements are joined rigidly, and the node has four particles.

    Parameters
    ----------
    mesh : Mesh
        In space, with cells ``quad`` of four or ``triangle`` of three nodes. All of its points must be on some.
    properties : ShellProperties, or mapping of str to ShellProperties
        Of all cells, or of those of groups, in which each must be once.
    offset : float, or mapping of str to float, default 0
        How far the middle of the thickness is from the mesh in m, in the direction of normals; of groups of properties
        each its own. Nodes of the shell are in the middle, where parts with different ones meet in the mean one by
        mass, and so are forces on them and supports.
    direction : float64 [3], or mapping of str to float64 [3], default (1, 0, 0)
        Its projection is axis 1 of elements, from which angles of plies are measured; where it is along the normal,
        that of (0, 0, 1) or (1, 0, 0), whichever is not. Of groups of properties each may have its own.
    directors : float64 [n, 3], optional
        Directions across the shell at nodes that are on no fold; default: means of normals of elements by angles.
    fold : float, default 35
        In degrees.
    extent : float, default 0
        The least distance of particles from the middle as a part of √A, with the area A of a node. Less than h/√12 has
        no effect. With 0.3 steps of explicit methods are not limited by the thickness of thin shells, but by waves in
        their plane; rotary inertia is larger then.
    framed : int [k], default none
        Nodes that have four particles also where the shell is smooth, as joints need it. They rotate about the
        director too, to which the shell offers no resistance.

    Raises
    ------
    MeshError
        If there are no such cells, a point is on none, or an element is degenerate.
    InvalidSystem
        If shapes do not match, numbers are out of range, or groups do not have each cell once.
    """
    points = np.asarray(mesh.points, dtype=float)
    if points.shape[1] != 3:
        raise MeshError(f"shells: points must have three coordinates, got {points.shape[1]}.")
    if not 0.0 <= extent <= 1.0:
        raise InvalidSystem(f"shells: extent must be between 0 and 1, got {extent:g}.")
    if not 0.0 < fold <= _MOST_FOLD:
        raise InvalidSystem(f"shells: fold must be above 0 and at most {_MOST_FOLD:g} degrees, got {fold:g}.")
    offsets = np.array(_of_groups("offset", offset, properties), dtype=float)
    if not np.isfinite(offsets).all():
        raise InvalidSystem(f"shells: offset must be finite, got {offsets[~np.isfinite(offsets)][0]:g} m.")
    along = [np.asarray(one, dtype=float) for one in _of_groups("direction", direction, properties)]
    if any(one.shape != (3,) or not 0.0 < np.linalg.norm(one) < np.inf for one in along):
        raise InvalidSystem("shells: direction must have three finite components that are not all zero.")
    parts = [part for kind in _KINDS for part in _parts(mesh, kind, properties, points, np.array(along), offsets)]
    if not parts:
        raise MeshError("shells: the mesh must have cells 'quad' or 'triangle', got none.")
    alone = np.setdiff1d(np.arange(len(points)), np.concatenate([part.cells.ravel() for part in parts]))
    if len(alone):
        raise MeshError(f"shells: every point must be on a cell 'quad' or 'triangle'; point {alone[0]} is on none.")
    corners = _corner_directors(parts, points, directors, np.cos(np.deg2rad(fold)))
    given = distinct_nodes("shells", framed) if np.size(framed) else np.empty(0, np.int32)
    require_nodes("shells", given, len(points))
    nodal = _NodalMasses(parts, corners, len(points), extent, given)
    frames, positions, mass = nodal.frames(points)
    named: dict[str, _Part] = {}
    energies: dict[str, QuadraticMeasures] = {}
    recovery: dict[str, Array] = {}
    masses: dict[str, Array] = {}
    directors_of: dict[str, Array] = {}
    for part, d in zip(parts, corners.of_parts, strict=True):
        on_fold = ~frames.is_rod[part.cells].all(axis=1)
        for name, some in ((part.kind.name, ~on_fold), (f"{part.kind.name}_fold", on_fold)):
            if some.any():
                named[name], directors_of[name] = part.of(some), d[some]
                middles = part.offsets[some, None, None] * d[some] - nodal.shift[part.cells[some]]
                energies[name], recovery[name], masses[name] = _energy(named[name], frames, positions, d[some], middles)
    return Shells(
        positions,
        mass,
        energies,
        frames,
        {name: part.cells for name, part in named.items()},
        {name: part.elements for name, part in named.items()},
        {name: part.axes[:, -1] for name, part in named.items()},
        directors_of,
        nodal.sides(),
        _drills(parts, corners.of_parts, given, nodal, frames, positions),
        recovery,
        {name: part.offsets for name, part in named.items()},
        nodal.shift,
        nodal.thickness,
        masses,
        nodal.moments,
    )


def _of_groups(
    name: str, given: Any | Mapping[str, Any], properties: ShellProperties | Mapping[str, ShellProperties]
) -> list[Any]:
    """Return what each group of properties has of something that may be given by groups: of a mapping its values."""
    groups = [""] if isinstance(properties, ShellProperties) else [*properties]
    if not isinstance(given, Mapping):
        return [given] * len(groups)
    if isinstance(properties, ShellProperties) or given.keys() != properties.keys():
        raise InvalidSystem(f"shells: {name} must have the groups of properties, got {', '.join(given) or 'none'}.")
    return [given[group] for group in groups]


@final
@dataclass(frozen=True)
class _Part:
    """Elements of one kind, with their geometry at points of quadrature and in the middle.

    Attributes
    ----------
    axes, inverse : float64 [m, p, 3, 3], [m, p, 2, 2]
        Axes in rows, and derivatives along the first two (rows) of natural coordinates (columns).
    areas : float64 [m, p]
        Determinants.
    offsets : float64 [m]
        How far the middle of the thickness is from the mesh, in m.
    """

    kind: _Kind
    cells: IntArray
    elements: IntArray
    properties: tuple[ShellProperties, ...]
    which: IntArray
    offsets: Array
    axes: Array
    inverse: Array
    areas: Array
    points: Array

    def of(self, some: NDArray[np.bool_]) -> _Part:
        """Return some of the elements."""
        of_elements = {name: getattr(self, name)[some] for name in ("cells", "elements", "which", "offsets")}
        return replace(
            self,
            **of_elements,
            axes=self.axes[some],
            inverse=self.inverse[some],
            areas=self.areas[some],
            points=self.points[some],
        )

    def per_element(self, name: str) -> Array:
        """Return what each element has of its properties."""
        return np.array([getattr(one, name) for one in self.properties], dtype=float)[self.which]


def _parts(
    mesh: Mesh,
    kind: _Kind,
    properties: ShellProperties | Mapping[str, ShellProperties],
    points: Array,
    along: Array,
    offsets: Array,
) -> list[_Part]:
    """Return the elements of a kind, if there are any; directions [g, 3] and offsets [g] are of groups."""
    cells = np.asarray(mesh.cells_of(kind.name))
    if not len(cells):
        return []
    if isinstance(properties, ShellProperties):
        known, which = (properties,), np.zeros(len(cells), np.int32)
    else:
        known, counts, which = tuple(properties.values()), np.zeros(len(cells), int), np.zeros(len(cells), np.int32)
        for at, group in enumerate(properties):
            mesh.cells_of(kind.name, group)  # which refuses one that does not exist
            index = mesh.cell_groups.get(group, {}).get(kind.name, np.empty(0, np.int32))
            counts[index] += 1
            which[index] = at
        wrong = np.flatnonzero(counts != 1)
        if len(wrong):
            raise InvalidSystem(
                f"shells: each cell must be in one group of properties; {kind.name} {wrong[0]} is in "
                f"{counts[wrong[0]]}."
            )
    x = points[cells]
    tangents = np.einsum("pik,mkc->mpic", kind.slopes, x)
    normals = np.cross(tangents[:, :, 0], tangents[:, :, 1])
    areas = np.linalg.norm(normals, axis=2)
    normals = normals / np.maximum(areas, 1e-300)[:, :, None]
    flipped = (normals @ normals[:, -1, :, None])[:, :, 0] * areas  # negative where the corners turn the other way
    bad = np.flatnonzero(~(flipped.min(axis=1) > _POSITIVE * areas.mean(axis=1)) | (areas.mean(axis=1) == 0.0))
    if len(bad):
        raise MeshError(f"shells: {kind.name} {bad[0]} is degenerate: its corners have no convex area.")
    axes = _axes(normals, along[which])
    inverse = np.linalg.inv(np.einsum("mpic,mpjc->mpij", tangents, axes[:, :, :2]))
    numbers = np.arange(len(cells), dtype=np.int32)
    return [_Part(kind, cells, numbers, known, which, offsets[which], axes, inverse, areas, x)]


def _axes(normals: Array, along: Array) -> Array:
    """Return axes [m, p, 3, 3] across normals [m, p, 3], the first along a direction [m, 3] in all of an element."""
    out = np.empty((*normals.shape, 3))
    middle, unit = normals[:, -1], along / np.linalg.norm(along, axis=1, keepdims=True)
    steep = np.linalg.norm(np.cross(middle, unit), axis=1) < _PARALLEL
    others = np.where((np.abs(middle[:, 2]) < 0.9)[:, None], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    given = np.where(steep[:, None], others, unit)[:, None]
    first = given - (given * normals).sum(axis=2, keepdims=True) * normals
    first /= np.linalg.norm(first, axis=2, keepdims=True)
    out[:, :, 0], out[:, :, 1], out[:, :, 2] = first, np.cross(normals, first), normals
    return out


@final
@dataclass(frozen=True)
class _Directors:
    """Directions across elements at their corners, and which corners have the same.

    Attributes
    ----------
    of_parts : list of float64 [m, k, 3]
        By element and corner, to the side of its normal.
    nodes : int32 [s]
        The node of each smooth side; those with one only are on no fold.
    of_sides : float64 [s, 3]
    """

    of_parts: list[Array]
    nodes: IntArray
    of_sides: Array


def _corner_directors(parts: list[_Part], points: Array, given: ArrayLike | None, least: float) -> _Directors:
    """Return directors, by means over elements that meet at edges with less than a fold, whose cosine is given."""
    cells = [part.cells for part in parts]
    nodes = np.concatenate([one.ravel() for one in cells])
    normals, angles, middle = [], [], []
    for part in parts:
        before, after = (np.roll(part.points, shift, axis=1) - part.points for shift in (1, -1))
        n = np.cross(after, before)
        size = np.linalg.norm(n, axis=2)
        if len(flat := np.flatnonzero(~(size > 0.0).all(axis=1))):
            raise MeshError(
                f"shells: {part.kind.name} {part.elements[flat[0]]} is degenerate: two of its edges are along one line "
                "at a corner, or one has no length."
            )
        normals.append((n / size[:, :, None]).reshape(-1, 3))
        angles.append(np.arctan2(size, (before * after).sum(axis=2)).ravel())
        middle.append(np.repeat(part.axes[:, -1, 2], part.cells.shape[1], axis=0))
    normal, angle, of_element = np.concatenate(normals), np.concatenate(angles), np.concatenate(middle)
    links, signs = _links(cells, of_element, least)
    n = len(nodes)
    labels = _sided(links, signs, n)
    side = np.minimum(labels[:n], labels[n:])
    sign = np.where(labels[:n] == side, 1.0, -1.0)
    _, first, side = np.unique(side, return_index=True, return_inverse=True)
    total = np.zeros((len(first), 3))
    np.add.at(total, side, (sign * angle)[:, None] * normal)
    of_side = nodes[first]
    smooth = np.bincount(of_side, minlength=len(points))[of_side] == 1
    if given is not None:
        array = np.asarray(given, dtype=float)
        if array.shape != points.shape or not np.isfinite(array).all():
            raise InvalidSystem(f"shells: directors must be finite, of shape {points.shape}, got {array.shape}.")
        chosen = array[of_side]
        leaning = (chosen * total).sum(axis=1)
        flat = np.flatnonzero(smooth & (np.abs(leaning) < 0.5 * np.linalg.norm(chosen, axis=1) * _size(total)[:, 0]))
        if len(flat):
            raise InvalidSystem(
                f"shells: directors must be within 60 degrees of the normals of elements; that of node "
                f"{of_side[flat[0]]} is not."
            )
        total = np.where(smooth[:, None], np.sign(leaning)[:, None] * chosen, total)
    total /= _size(total)
    d = sign[:, None] * total[side]
    ends = np.cumsum([0, *(one.size for one in cells)])
    of_parts = [d[i:j].reshape(*one.shape, 3) for i, j, one in zip(ends[:-1], ends[1:], cells, strict=True)]
    return _Directors(of_parts, of_side, total)


def _size(vectors: Array) -> Array:
    return np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)


def _sides(cells: list[IntArray]) -> tuple[IntArray, IntArray]:
    """Return the nodes [s, 2] of the sides of elements, going around each, and the numbers [s, 2] of these corners."""
    starts = np.cumsum([0, *(one.size for one in cells)])
    ends, corners = [], []
    for start, one in zip(starts, cells, strict=False):
        at = start + np.arange(one.size).reshape(one.shape)
        ends.append(np.stack([one, np.roll(one, -1, axis=1)], axis=2).reshape(-1, 2))
        corners.append(np.stack([at, np.roll(at, -1, axis=1)], axis=2).reshape(-1, 2))
    return np.concatenate(ends), np.concatenate(corners)


def _edges(cells: list[IntArray]) -> tuple[IntArray, IntArray, NDArray[np.bool_]]:
    """Return where elements meet, of their edges: corners, their numbers in the same order, and which meet no other.

    Of edges with two elements these are the corners [e, 2, 2] of both elements at the first and at the second end; of
    others there is a row for each of their elements, with its corners twice.
    """
    edges, at = _sides(cells)
    _, which, counts = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(which, kind="stable")
    pair = order[counts[which[order]] == 2].reshape(-1, 2)
    single = np.flatnonzero(counts[which] != 2)
    same = edges[pair[:, 0], 0] == edges[pair[:, 1], 0]  # both go around in one direction: normals to opposite sides
    second = np.where(same[:, None], at[pair[:, 1]], at[pair[:, 1]][:, ::-1])
    met = np.stack([at[pair[:, 0]], second], axis=1)
    rows = np.concatenate([met, np.repeat(at[single][:, None], 2, axis=1)])
    signs = np.concatenate([np.where(same, -1, 1), np.ones(len(single), int)])
    return rows, signs, np.arange(len(rows)) >= len(pair)


def _fans(nodes: IntArray, corners: IntArray, signs: IntArray) -> tuple[IntArray, Array]:
    """Return by corner of which fan of elements around its node it is, in the order of nodes, and on which side ±1.

    Elements are neighbours at edges with two of them, given by their corners [e, 2, 2], with the same side up or not.
    """
    n = len(nodes)
    links, sign = corners.swapaxes(1, 2).reshape(-1, 2), np.repeat(signs, 2)
    labels = _sided(links, sign, n)
    side = np.minimum(labels[:n], labels[n:])
    up = np.where(labels[:n] == side, 1.0, -1.0)
    _, first, fan = np.unique(side, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.lexsort((first, nodes[first]))] = np.arange(len(first), dtype=np.int32)
    return rank[fan].astype(np.int32), up


def _sided(links: IntArray, signs: IntArray, n: int) -> IntArray:
    """Return labels [2n] of what is connected by links [l, 2], of both sides of n things that are linked as signs say.

    The second half are the other sides.
    """
    from scipy.sparse.csgraph import connected_components  # which takes long to import

    to = np.where(signs > 0, links[:, 1], links[:, 1] + n), np.where(signs > 0, links[:, 1] + n, links[:, 1])
    rows, columns = np.concatenate([links[:, 0], links[:, 0] + n]), np.concatenate(to)
    graph = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(2 * n, 2 * n))
    return connected_components(graph, directed=False)[1]


def _links(cells: list[IntArray], normals: Array, least: float) -> tuple[IntArray, IntArray]:
    """Return pairs of corners [l, 2] that share a director, and whether their elements have the same side up, ±1."""
    edges, at = _sides(cells)
    turned = edges[:, 0] > edges[:, 1]
    edges, at = np.where(turned[:, None], edges[:, ::-1], edges), np.where(turned[:, None], at[:, ::-1], at)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    edges, at, turned = edges[order], at[order], turned[order]
    found, signs = [np.empty((0, 2), int)], [np.empty(0, int)]
    for apart in range(1, len(edges)):  # neighbours in a run of one edge, then those after these
        same = (edges[apart:] == edges[:-apart]).all(axis=1)
        if not same.any():
            break
        i = np.flatnonzero(same)
        j = i + apart
        sign = np.where(turned[i] == turned[j], -1, 1)
        smooth = sign * (normals[at[i, 0]] * normals[at[j, 0]]).sum(axis=1) > least
        for end in range(2):
            found.append(np.stack([at[i, end], at[j, end]], axis=1)[smooth])
            signs.append(sign[smooth])
    return np.concatenate(found), np.concatenate(signs)


@final
class _NodalMasses:
    """Masses of nodes, where their particles are, and how far from the mesh their centres are.

    Attributes
    ----------
    shift : float64 [n, 3]
        From points of the mesh to the centres of mass of nodes, in m.
    thickness : float64 [n]
        The mean of elements at a node in m.
    smooth : bool [n]
        Which nodes are on no fold.
    moments : float64 [n]
        Masses times the square of the distance of particles, in kg m².
    shear : float64 [n]
        The stiffness of all elements in the plane, N₁₂/2ε₁₂, times the area of a node, in N m.
    """

    def __init__(self, parts: list[_Part], directors: _Directors, n: int, extent: float, framed: IntArray):
        mass, area, moment, thickness, upward, middle, shear = (np.zeros(n) for _ in range(7))
        self._d = np.zeros((n, 3))  # of one side, on folds
        self._d[directors.nodes] = directors.of_sides
        self.shift = np.zeros((n, 3))
        for part, d in zip(parts, directors.of_parts, strict=True):
            of_node = np.einsum("mp,p,pk->mk", part.areas, part.kind.weights, part.kind.shapes)
            np.add.at(area, part.cells, of_node)
            np.add.at(mass, part.cells, part.per_element("mass")[:, None] * of_node)
            np.add.at(shear, part.cells, part.per_element("membrane")[:, 2, 2, None] * of_node)
            np.add.at(moment, part.cells, part.per_element("moment")[:, None] * of_node)
            to_side = np.einsum("mki,mki->mk", d, self._d[part.cells])
            np.add.at(upward, part.cells, to_side * of_node)
            np.add.at(middle, part.cells, part.offsets[:, None] * to_side * of_node)
            np.add.at(thickness, part.cells, part.per_element("thickness")[:, None] * of_node)
            height = part.per_element("mass") * (part.offsets + part.per_element("center"))
            np.add.at(self.shift, part.cells, (height[:, None] * of_node)[:, :, None] * d)
        self.shift /= mass[:, None]
        self.thickness, self._middle = thickness / area, middle / area
        self.smooth = np.bincount(directors.nodes, minlength=n) == 1
        self._single = self.smooth.copy()
        mixed = np.flatnonzero(self._single & (np.abs(upward / area) < 0.999))
        if any(part.offsets.any() for part in parts) and len(mixed):
            raise InvalidSystem(
                f"shells: with an offset normals must be to one side; those of elements at node {mixed[0]} are to both."
                " Reorder the nodes of cells."
            )
        self._single[framed] = False
        self.shear = shear
        self._mass, self._radii = mass, np.maximum(np.sqrt(moment / mass), extent * np.sqrt(area))
        self.moments = mass * self._radii**2

    def sides(self) -> Array:
        """Return how far both sides of the shell are from centres of nodes, along the directors of sides [n, 2]."""
        middle = self._middle - np.einsum("ni,ni->n", self.shift, self._d)
        return middle[:, None] + 0.5 * self.thickness[:, None] * np.array([-1.0, 1.0])

    def frames(self, points: Array) -> tuple[Frames, Array, Array]:
        """Return frames of nodes at points [n, 3], and positions and masses of particles."""
        single = self._single
        counts = np.where(single, 2, 4)
        first = np.cumsum(counts) - counts
        nodes = first[:, None] + np.where(single[:, None], [0, 1, 0, 1], [0, 1, 2, 3])
        arms = np.where(single[:, None, None], self._d[:, None] * np.array([-1.0, 1.0, -1.0, 1.0])[:, None], CORNERS)
        positions, mass = np.empty((counts.sum(), 3)), np.empty(counts.sum())
        positions[nodes] = (points + self.shift)[:, None] + self._radii[:, None, None] * arms
        mass[nodes] = (self._mass / counts)[:, None]
        return Frames(nodes.astype(np.int32), positions), positions, mass


def _energy(
    part: _Part, frames: Frames, positions: Array, directors: Array, middles: Array
) -> tuple[QuadraticMeasures, Array, Array]:
    """Return the energy of elements, what of measures makes section forces in the middle [m, 8, i], and their masses.

    Directors of corners and the middle of the thickness there, from the centres of frames, are [m, k, 3].
    """
    kind, m = part.kind, len(part.cells)
    arms = frames.rest_arms[part.cells]  # [m, k, 4, 3]
    inverse = np.linalg.pinv(np.einsum("mkai,mkaj->mkij", arms, arms), rcond=1e-10, hermitian=True)
    by_arms = arms @ inverse
    of_d = np.einsum("mkai,mki->mka", by_arms, directors)
    of_c = 0.25 + np.einsum("mkai,mki->mka", by_arms, middles)
    nodes = frames.nodes[part.cells]
    if frames.is_rod[part.cells].all():
        of_d, of_c, nodes = of_d[:, :, :2] + of_d[:, :, 2:], of_c[:, :, :2] + of_c[:, :, 2:], nodes[:, :, :2]
    of_d = of_d - of_d.mean(axis=2, keepdims=True)  # whose sums are zero but for rounding, and one
    of_c = of_c - of_c.mean(axis=2, keepdims=True) + 1.0 / of_c.shape[2]
    weights = np.einsum("vk,mka->mvka", kind.of_c, of_c) + np.einsum("vk,mka->mvka", kind.of_d, of_d)
    weights = weights.reshape(m, len(kind.of_c), -1)
    weights -= weights.mean(axis=2, keepdims=True)
    nodes = np.ascontiguousarray(nodes.reshape(m, -1))
    stiffness, recovery = _stiffness(part)
    coupled = any(np.any(one.coupling) for one in part.properties)
    ends = np.cumsum(kind.split)
    block = np.repeat(np.arange(3), kind.split)
    if coupled:
        block[: ends[1]] = 0
    couplings = [(i, j) for i in range(ends[2]) for j in range(i, ends[2]) if block[i] == block[j]]
    x = positions[nodes]
    vectors, rest = weights @ (x - x[:, :1]), np.zeros((m, ends[2]))
    for i, terms in enumerate(kind.measures):
        rest[:, i] = sum(c * (vectors[:, r] * vectors[:, s]).sum(axis=1) for r, s, c in terms)
    energy = QuadraticMeasures(nodes, weights, kind.measures, rest, stiffness, couplings=couplings)
    return energy, recovery, _masses(part, of_c, of_d)


def _masses(part: _Part, of_c: Array, of_d: Array) -> Array:
    """Return the consistent masses [m, n, n] of elements, for weights [m, k, a] of particles in c and d of corners."""
    shapes = part.kind.shapes
    of_middle = of_c + part.per_element("center")[:, None, None] * of_d
    out = np.zeros((len(of_c), of_c[0].size, of_c[0].size))
    for kept, of in (("mass", of_middle), ("moment", of_d)):
        at_points = np.einsum("pk,mka->mpka", shapes, of).reshape(len(of), len(shapes), -1)
        weights = part.per_element(kept)[:, None] * part.areas * part.kind.weights
        out += np.einsum("mp,mpa,mpb->mab", weights, at_points, at_points)
    return out


def _drills(
    parts: list[_Part],
    directors: list[Array],
    framed: IntArray,
    nodal: _NodalMasses,
    frames: Frames,
    positions: Array,
) -> tuple[QuadraticMeasures, ...]:
    """Return what resists rotations of framed nodes about the directors of a smooth shell.

    Of a node a with the edge to b it is ½ k (t·(c_b − c_a)/L)², with t fixed in the frame, across edge and director: k
    is a small part of the stiffness in shear of the area of a node, shared by its edges.
    """
    chosen, edges = {*framed[nodal.smooth[framed]].tolist()}, dict[tuple[int, int], Array]()
    for part, d in zip(parts, directors, strict=True):
        for cell, across in zip(part.cells.tolist(), d, strict=True):
            for k, node in enumerate(cell):
                if node in chosen:
                    edges |= {(node, other): across[k] for other in (cell[k - 1], cell[(k + 1) % len(cell)])}
    centers = frames.centers(positions)
    counts = Counter(node for node, _ in edges)
    found = []
    for n_particles in (2, 4):
        some = [(a, b) for a, b in edges if bool(frames.is_rod[b]) == (n_particles == 2)]
        if not some:
            continue
        a, b = np.array(some).T
        edge = centers[b] - centers[a]
        length = np.linalg.norm(edge, axis=1, keepdims=True)
        t = np.cross(np.array([edges[pair] for pair in some]), edge)
        t /= np.linalg.norm(t, axis=1, keepdims=True)
        arms = frames.rest_arms[a]
        of_t = np.einsum("mai,mij,mj->ma", arms, np.linalg.inv(np.einsum("mai,maj->mij", arms, arms)), t)
        weights = np.zeros((len(some), 2, 4 + n_particles))
        weights[:, 0, :4] = of_t - of_t.mean(axis=1, keepdims=True)
        weights[:, 1, :4], weights[:, 1, 4:] = -0.25 / length, 1.0 / (n_particles * length)
        nodes = np.concatenate([frames.nodes[a], frames.nodes[b][:, :n_particles]], axis=1)
        stiffness = _DRILL * nodal.shear[a] / np.array([counts[node] for node in a.tolist()])
        x = positions[nodes]
        p = weights @ (x - x[:, :1])
        rest = np.einsum("mi,mi->m", p[:, 0], p[:, 1])[:, None]
        found.append(QuadraticMeasures(nodes, weights, [[(0, 1, 1.0)]], rest, stiffness[:, None]))
    return tuple(found)


def _stiffness(part: _Part) -> tuple[Array, Array]:
    """Return C [m, i, i], and what of measures makes section forces in the middle [m, 8, i]."""
    kind, P = part.kind, part.inverse
    (a, b, c), m = kind.split, len(part.cells)
    V = np.stack(
        [
            np.stack([P[..., 0, 0] ** 2, P[..., 0, 1] ** 2, P[..., 0, 0] * P[..., 0, 1]], axis=-1),
            np.stack([P[..., 1, 0] ** 2, P[..., 1, 1] ** 2, P[..., 1, 0] * P[..., 1, 1]], axis=-1),
            np.stack(
                [
                    2.0 * P[..., 0, 0] * P[..., 1, 0],
                    2.0 * P[..., 0, 1] * P[..., 1, 1],
                    P[..., 0, 0] * P[..., 1, 1] + P[..., 0, 1] * P[..., 1, 0],
                ],
                axis=-1,
            ),
        ],
        axis=-2,
    )
    strains = np.zeros((m, len(kind.weights), 8, a + b + c))
    strains[:, :, :3, :a] = V @ kind.strains
    strains[:, :, 3:6, a : a + b] = V @ kind.strains
    strains[:, :, 6:, a + b :] = P @ kind.shears
    matrices = np.zeros((m, 8, 8))
    matrices[:, :6, :6] = part.per_element("matrix")
    edges = np.linalg.norm(part.points - np.roll(part.points, 1, axis=1), axis=2).max(axis=1)
    D = matrices[:, 3:6, 3:6]
    mean = (3.0 * (D[:, 0, 0] + D[:, 1, 1]) + 2.0 * D[:, 0, 1] + 4.0 * D[:, 2, 2]) / 8.0  # of D₁₁ in all directions
    flexible = np.linalg.inv(part.per_element("shear")) + (_BETA[kind.name] * edges**2 / mean)[:, None, None] * np.eye(
        2
    )
    matrices[:, 6:, 6:] = np.linalg.inv(flexible)
    weights = kind.weights * part.areas
    C = np.einsum("mp,mpri,mrs,mpsj->mij", weights, strains, matrices, strains, optimize=True)
    if kind.enhanced.shape[2]:
        M = (part.areas[:, -1:] / part.areas)[:, :, None, None] * (V[:, -1:] @ kind.enhanced)
        of_both = np.einsum("mp,mpre,mrs,mpsi->mei", weights, M, matrices[:, :3], strains, optimize=True)
        of_M = np.einsum("mp,mpre,mrs,mpsf->mef", weights, M, matrices[:, :3, :3], M, optimize=True)
        C -= of_both.swapaxes(1, 2) @ np.linalg.solve(of_M, of_both)
    C = 0.5 * (C + C.swapaxes(1, 2))
    return C, matrices @ strains[:, -1]
