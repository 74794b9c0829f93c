"""Beams: the lines of a mesh as an energy of frames, exact for small strains and of fourth order in rotation.

With c the centres and d_k the axes of a section (d₃ along the beam) at the ends A and B of an element of length L,
d̄ = ½ (d_A + d_B), Δd = d_B − d_A, φ' = (c_B − c_A)/L, and (k, i, j) cyclic,

    ε₁ = ½ (|φ'|² − 1) + |Δd₃|²/24  or  d̄₃·φ' − 1 + |Δd₃|²/6,   γ₁ = d̄₁·φ',  γ₂ = d̄₂·φ',
    κ_k = ½ (d_iB·d_jA − d_jB·d_iA) = ½ (Δd_i·d̄_j − Δd_j·d̄_i),   τ_k = |Δd_k|²,

    φ = ½ L (EA ε₁² + GA₁* γ₁² + GA₂* γ₂²) + Σ_k [⅔ (½ΣB − B_k) τ_k − ⅙ B_k κ_k²]/L,   B = (EI₁, EI₂, GJ),
    1/GA₁* = 1/GA₁ + L²/12EI₂,   1/GA₂* = 1/GA₂ + L²/12EI₁.

κ is sin Δ for a rotation Δ from one end to the other, so that the terms of B are ½ B Δ²/L up to Δ⁶. For small
displacements it is the stiffness matrix of Timoshenko's beam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, final

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
from symplex.fem.structures.quadratic_measures import QuadraticMeasures
from symplex.fem.structures.rigidity import CORNERS
from symplex.fem.structures.sections import BeamProperties
from symplex.meshes.mesh import Mesh

_T, _D, _DELTA = 0, 1, 4  # φ', d̄_k and Δd_k among the vectors
_CYCLIC = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
_GREEN = ((_T, _T, 0.5), (_DELTA + 2, _DELTA + 2, 1.0 / 24.0))
_REISSNER = ((_D + 2, _T, 1.0), (_DELTA + 2, _DELTA + 2, 1.0 / 6.0))
_OTHERS = (
    ((_D, _T, 1.0),),
    ((_D + 1, _T, 1.0),),
    *(((_DELTA + i, _D + j, 0.5), (_DELTA + j, _D + i, -0.5)) for _, i, j in _CYCLIC),
    *(((_DELTA + k, _DELTA + k, 1.0),) for k in range(3)),
)
_THIN = 1e-12  # second moments across relative to those along, below which round-off is too large
_PARALLEL = 1e-6  # sine of the angle between up and the beam, below which it gives no direction

Formulation = Literal["green", "reissner"]


@final
@dataclass(frozen=True, repr=False)
class Beams(Summarized):
    """Beams, as parts of a system. Node i of the mesh has the particles 4i … 4i + 3.

    Attributes
    ----------
    points : float64 [4n, 3]
        Positions of particles in m, undeformed.
    mass : float64 [4n]
        In kg, lumped.
    energy : QuadraticMeasures
    frames : Frames
        One for each node of the mesh.
    lines : int32 [m, 2]
        The nodes of each element.
    lengths : float64 [m]
        In m.
    axes : float64 [m, 3, 3]
        The axes 1, 2 and 3 of each element, one in each row.
    """

    points: Array
    mass: Array
    energy: QuadraticMeasures
    frames: Frames
    lines: IntArray
    lengths: Array
    axes: Array
    _inertia: tuple[Array, Array, Array]

    def expanded(self, thermal_strain: Array) -> Beams:
        """Return beams whose elements are free of stress where they are longer by α ΔT [m]."""
        rest = self.energy.rest.copy()
        rest[:, 0] *= (1.0 + thermal_strain) ** (2 if self.energy.terms[0] == _GREEN else 1)
        return replace(self, energy=self.energy.at_rest(rest))

    def particles(self, nodes: Nodes) -> IntArray:
        """Return the particles [k, 4] of nodes of the mesh.

        Raises
        ------
        InvalidSystem
            If there is no such node, or one is named twice.
        """
        given = distinct_nodes("Beams", nodes)
        require_nodes("Beams", given, len(self.frames))
        return self.frames.nodes[given]

    def fixed(self, nodes: Nodes) -> NDArray[np.bool_]:
        """Return the mask [4n, 3] of particles with those of given nodes fixed: these are clamped."""
        mask = np.zeros(self.points.shape, bool)
        mask[self.particles(nodes)] = True
        return mask

    @property
    def viscous_stiffness(self) -> Array:
        """The stiffness [m, 9, 9] in N m against rates of measures, for damping in proportion to it.

        Next to the straight shape it is that of the energy, which has that of bending and torsion in other measures.
        """
        out = np.zeros_like(self.energy.stiffness)
        at = np.arange(3)
        out[:, at, at] = self.energy.stiffness[:, at, at]
        out[:, at + 3, at + 3] = -3.0 * self.energy.stiffness[:, at + 3, at + 3]
        return out

    @cached_property
    def consistent_mass(self) -> sp.csr_array:
        """The consistent mass matrix [4n, 4n] in kg: constant, so that energy and momenta are conserved with it too.

        Centres move along an element as in its static deflection, c(ξ) = N₁ c_A + N₂ c_B + L (N₃ d₃A + N₄ d₃B) with the
        cubic functions of Timoshenko's beam (the mean of both planes for its shear), the axes d₁ and d₂ linearly:
        T = ½ ∫ ρA |ċ|² + ρI₂ |ḋ₁|² + ρI₁ |ḋ₂|² (Przemieniecki 1968, §11.6).
        """
        density, moments, phi = self._inertia
        m, L = len(self.lines), self.lengths
        ends = 2.0 * self.energy.weights[:, _D : _D + 3]  # d_k of A by the first four particles, of B by the others
        points, weights = np.polynomial.legendre.leggauss(4)
        local = np.zeros((m, 8, 8))
        for x, w in zip(0.5 * (points + 1.0), 0.5 * weights, strict=True):
            y, shear = 1.0 - x, 1.0 / (1.0 + phi)
            along = np.zeros((m, 8))
            along[:, :4] = (0.25 * shear * (y * y * (1.0 + 2.0 * x) + phi * y))[:, None]
            along[:, 4:] = (0.25 * shear * (x * x * (3.0 - 2.0 * x) + phi * x))[:, None]
            along[:, :4] += (L * shear * (x * y * y + 0.5 * phi * x * y))[:, None] * ends[:, 2, :4]
            along[:, 4:] -= (L * shear * (x * x * y + 0.5 * phi * x * y))[:, None] * ends[:, 2, 4:]
            local += (w * density * L)[:, None, None] * along[:, :, None] * along[:, None, :]
            turning = ends[:, :2] * np.repeat([y, x], 4)
            local += np.einsum("mk,mka,mkb->mab", w * L[:, None] * moments, turning, turning)
        pattern = Pattern(len(self.points), [self.energy.nodes])
        values = np.zeros(len(pattern.indices))
        scatter_blocks(0.5 * (local + local.swapaxes(1, 2)), pattern.slots[0], values[:, None, None])
        n = len(self.points)
        return sp.csr_array((values, pattern.indices, pattern.indptr), shape=(n, n))

    @cached_property
    def strains(self) -> GeneralizedStrains:
        """The generalised strains of elements, of laws with history: ε₁, γ₁, γ₂, and the rotation between the ends.

        Their stresses are N L, Q₁ L, Q₂ L, M₁, M₂ and M₃ in J, their stiffness that of the energy.
        """
        return GeneralizedStrains(self.energy, (0, 1, 2), (3, 4, 5), (6, 7, 8), self.viscous_stiffness[:, :6, :6])

    def section_forces(self, q: Array) -> Array:
        """Return N, Q₁, Q₂ in N and M₁, M₂, M₃ in N m [m, 6] in the middle of elements, at positions q [4n, 3] in m.

        Along the axes of the section, of which 3 is along the beam. Those of the other side, which lies ahead, on this
        one. At the ends of an element the moments are M₁ ± ½ L Q₂ and M₂ ∓ ½ L Q₁.
        """
        x = q[self.energy.nodes]
        stress = self.energy.stresses(x)[:, :3] / self.lengths[:, None]
        forces, arms = self.energy.gradient(x), x - np.repeat(x.reshape(-1, 2, 4, 3).mean(axis=2), 4, axis=1)
        moments = np.cross(arms, forces).reshape(-1, 2, 4, 3).sum(axis=2)
        mean = np.einsum("mrk,mki->mri", self.energy.weights[:, _D : _D + 3], x)
        mean /= np.linalg.norm(mean, axis=2, keepdims=True)
        return np.column_stack([stress, np.einsum("mri,mi->mr", mean, 0.5 * (moments[:, 1] - moments[:, 0]))])


@checked
def beams(
    mesh: Mesh,
    properties: BeamProperties | Sequence[BeamProperties],
    up: ArrayLike,
    *,
    group: str | None = None,
    formulation: Formulation = "green",
    extent: float = 0.25,
) -> Beams:
    """Return the lines of a mesh as beams.

    Each element is straight and without stress in the mesh, whatever the directions of its neighbours: curved beams are
    polygons, and lines that meet at a node are joined rigidly. Half of an element's mass moves with each of its nodes.

    Parameters
    ----------
    mesh : Mesh
        In space, with cells ``line`` of two nodes. All of its points must be on lines.
    properties : BeamProperties, or m of them
        See `Section.of`; of each line, if they differ.
    up : float64 [3] or [m, 3]
        A direction for axis 1 of the sections, which is what of it is across the beam.
    group : str, optional
        The group of cells that are beams; default: all lines.
    formulation : {"green", "reissner"}, default "green"
        How the axial strain is measured: by Green's strain of the line between the nodes, for which Newton's method is
        more robust in bending, or along the section's normal, as in Reissner's theory. They differ by the square of
        strains, and of shear.
    extent : float, default 0.25
        How far the particles of a node are apart along the beam, as a part of what the inertia of its halves of
        elements asks for, L/√12. Points of mass have more inertia about axes across a line than it has, so that less is
        better: the first frequency of a cantilever of 8 elements is 0.7 % low, and 1.0 % with 1. But with 1 explicit
        methods take steps that are four times as long.

    Raises
    ------
    MeshError
        If there are no lines, one has no length, or a point is on none.
    InvalidSystem
        If ``up`` is along a line, or shapes do not match.
    """
    lines, points = mesh.cells_of("line", group), np.asarray(mesh.points, dtype=float)
    if not len(lines):
        raise MeshError("beams: the mesh must have cells 'line', got none.")
    if points.shape[1] != 3:
        raise MeshError(f"beams: points must have three coordinates, got {points.shape[1]}.")
    alone = np.setdiff1d(np.arange(len(points)), lines)
    if len(alone):
        raise MeshError(f"beams: every point must be on a line; point {alone[0]} is on none.")
    if not 0.01 <= extent <= 1.0:
        raise InvalidSystem(f"beams: extent must be between 0.01 and 1, got {extent:g}.")
    of_lines = _Properties.of(properties, len(lines))
    chords = points[lines[:, 1]] - points[lines[:, 0]]
    lengths = np.linalg.norm(chords, axis=1)
    if not (lengths > 0.0).all():
        raise MeshError(f"beams: lines must have a length; both ends of line {np.argmin(lengths)} are at one place.")
    axes = _axes(chords / lengths[:, None], up)
    nodal, arms = _nodal_masses(len(points), lines, lengths, axes, of_lines, extent)
    particles = np.arange(4 * len(points), dtype=np.int32).reshape(-1, 4)
    positions = (points[:, None] + arms).reshape(-1, 3)
    nodes = particles[lines].reshape(len(lines), 8)
    rest, stiffness, stress = _numbers(of_lines, lengths, formulation)
    measures = (_GREEN if formulation == "green" else _REISSNER, *_OTHERS)
    energy = QuadraticMeasures(nodes, _weights(arms[lines], lengths, axes), measures, rest, stiffness, stress)
    phi = 12.0 * (of_lines.bending[:, ::-1] / of_lines.shear).mean(axis=1) / lengths**2
    inertia = of_lines.mass, of_lines.moments, phi
    masses, frames = np.repeat(0.25 * nodal, 4), Frames(particles, positions)
    return Beams(positions, masses, energy, frames, lines, lengths, axes, inertia)


class _Properties(NamedTuple):
    """The numbers of `BeamProperties` of each line."""

    axial: Array  # [m]
    shear: Array  # [m, 2]
    bending: Array  # [m, 2]
    torsion: Array  # [m]
    mass: Array  # [m]
    moments: Array  # [m, 2]

    @classmethod
    def of(cls, given: BeamProperties | Sequence[BeamProperties], m: int) -> _Properties:
        """Return those of m lines."""
        every = [given] * m if isinstance(given, BeamProperties) else list(given)
        if len(every) != m or not all(isinstance(one, BeamProperties) for one in every):
            raise InvalidSystem(f"beams: properties must be BeamProperties, or {m} of them, got {len(every)}.")
        return cls(*(np.array([getattr(one, name) for one in every], float) for name in cls._fields))


def _axes(t: Array, up: ArrayLike) -> Array:
    """Return the axes [m, 3, 3] of sections of beams along t [m, 3]."""
    given = np.asarray(up, dtype=float)
    if given.shape not in ((3,), t.shape) or not np.isfinite(given).all():
        raise InvalidSystem(f"beams: up must be finite, of shape (3,) or {t.shape}, got {given.shape}.")
    given = np.broadcast_to(given, t.shape)
    across = given - np.einsum("mi,mi->m", given, t)[:, None] * t
    size = np.linalg.norm(across, axis=1)
    along = np.flatnonzero(~(size > _PARALLEL * np.linalg.norm(given, axis=1)))
    if len(along):
        raise InvalidSystem(f"beams: up must not be along a line, as it is for line {along[0]}. Give another one.")
    across /= size[:, None]
    return np.stack([across, np.array(np.cross(t, across), float), t], axis=1)


def _nodal_masses(
    n: int, lines: IntArray, lengths: Array, axes: Array, properties: _Properties, extent: float
) -> tuple[Array, Array]:
    """Return the masses [n] of nodes, and their four particles [n, 4, 3] relative to them, with the same inertia."""
    mass, second = np.zeros(n), np.zeros((n, 3, 3))
    across = 0.5 * lengths[:, None] * properties.moments
    along = 0.5 * properties.mass * extent**2 * lengths**3 / 12.0
    of_line = np.einsum("mk,mki,mkj->mij", np.column_stack([across, along]), axes, axes)
    for end in range(2):
        np.add.at(mass, lines[:, end], 0.5 * properties.mass * lengths)
        np.add.at(second, lines[:, end], of_line)
    moments, principal = np.linalg.eigh(second / mass[:, None, None])
    thin = np.flatnonzero(~(moments[:, 0] > _THIN * moments[:, 2]))
    if len(thin):
        raise InvalidSystem(
            f"beams: the section is too thin for the lines at node {thin[0]}, by a factor below 1e-6; take shorter "
            "lines or a thicker section."
        )
    return mass, np.einsum("ak,nk,nik->nai", CORNERS, np.sqrt(moments), principal)


def _weights(arms: Array, lengths: Array, axes: Array) -> Array:
    """Return the weights [m, 7, 8] of φ', d̄ and Δd, for arms [m, 2, 4, 3] of the particles of both ends."""
    m = len(lengths)
    inverse = np.linalg.inv(np.einsum("meai,meaj->meij", arms, arms))
    of_ends = np.einsum("meai,meij,mkj->meka", arms, inverse, axes)
    of_ends -= of_ends.mean(axis=3, keepdims=True)  # zero but for rounding
    weights = np.zeros((m, 7, 8))
    weights[:, _T, :4] = -0.25 / lengths[:, None]
    weights[:, _T, 4:] = 0.25 / lengths[:, None]
    weights[:, _D : _D + 3] = 0.5 * np.concatenate([of_ends[:, 0], of_ends[:, 1]], axis=2)
    weights[:, _DELTA : _DELTA + 3] = np.concatenate([-of_ends[:, 0], of_ends[:, 1]], axis=2)
    return weights


def _numbers(properties: _Properties, lengths: Array, formulation: Formulation) -> tuple[Array, Array, Array]:
    """Return measures at rest, stiffnesses and stresses at rest [m, 9] of elements."""
    m, L = len(lengths), lengths
    B = np.column_stack([properties.bending, properties.torsion])
    rest, stiffness, stress = np.zeros((m, 9)), np.zeros((m, 9)), np.zeros((m, 9))
    rest[:, 0] = 0.5 if formulation == "green" else 1.0
    stiffness[:, 0] = properties.axial * L
    for at, shear, bending in ((1, properties.shear[:, 0], B[:, 1]), (2, properties.shear[:, 1], B[:, 0])):
        stiffness[:, at] = L / (1.0 / shear + L * L / (12.0 * bending))
    stiffness[:, 3:6] = -B / (3.0 * L[:, None])
    stress[:, 6:] = 2.0 / 3.0 * (0.5 * B.sum(axis=1, keepdims=True) - B) / L[:, None]
    return rest, stiffness, stress
