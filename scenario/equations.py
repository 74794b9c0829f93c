"""The table of linear constraints between displacements, and what it describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from symplex.base.quantities import Name, number, numbers, positive
from symplex.base.sparse import sp
from symplex.errors import ScenarioError
from symplex.fem.couplings.equations import LinearConstraints
from symplex.fem.energies.energy import Array
from symplex.meshes.mesh import Mesh
from symplex.scenario.selections import Nodes, nodes_in
from symplex.scenario.table import Entry

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.framed import Framed

_STIFF = 1000.0  # of a constraint, as a multiple of E h
_ROD = 1e-9  # of the largest moment of inertia of the particles of a node: below it they are a rod
_COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")


class TermTable(Nodes):
    """A component of the displacements of nodes, times a factor; of several nodes all are added."""

    component: Annotated[
        Literal["x", "y", "z", "rx", "ry", "rz"],
        "Of the displacement since the start; `rx`, `ry`, `rz` of the rotation in rad of nodes of beams and shells, "
        "which must be small.",
    ]
    factor: Annotated[float, number(""), "c; of rotations in m/rad."]


class ConstraintTable(Entry):
    """Linear equations Σ c u = b between displacements of nodes, by a penalty ½ k (Σ c u − b)².

    A force λ of the constraint leaves an error λ/k. Equations whose factors sum to zero in each direction conserve
    linear momentum; none conserves angular momentum. In Python it is ``fem.LinearConstraints``.
    """

    adds_energy = True
    joins = True
    takes_rotations = True
    name: Annotated[Name, "Names their energy."]
    equations: Annotated[list[list[TermTable]], "Each is a list of terms."]
    values: Annotated[tuple[float, ...] | None, numbers("m"), "b of each equation; by default 0."] = None
    stiffness: Annotated[
        float | None,
        positive("N/m of each equation"),
        "k, by default 1000 E h, with Young's modulus E of the softest body in them and the mean distance h to "
        "the next node.",
    ] = None

    def _check(self) -> None:
        if not self.equations or [] in self.equations:
            raise ValueError("equations must each have a term")
        if self.values is not None and len(self.values) != len(self.equations):
            raise ValueError(f"has {len(self.equations)} equations and {len(self.values)} values; give one for each")

    def add_stiffness(self, world: Builder) -> None:
        """Add their energy."""
        world.add(self.name, constraints_of(self, world.mesh, world.inertia.young, world.inertia.framed))


def constraints_of(
    table: ConstraintTable, mesh: Mesh, young: Mapping[str, float], framed: Mapping[str, Framed]
) -> LinearConstraints:
    """Return the energy of linear constraints.

    Parameters
    ----------
    table : ConstraintTable
    mesh : Mesh
        Of all bodies.
    young : mapping of str to float
        E in Pa by body, of which the stiffness is 1000 E h by default, h the mean distance to the nearest node.
    framed : mapping of str to Framed
        Beams and shells by name.
    """
    found: dict[tuple[object, ...], tuple[NDArray[np.int64], Array]] = {}
    rows, columns, factors = [], [], []
    for row, terms in enumerate(table.equations):
        for term in terms:
            key = (term.body, term.group, term.at, term.component)
            if key not in found:
                found[key] = _parts_of(term, mesh, framed.get(term.body))
            own, parts = found[key]
            columns.append(own)
            rows.append(np.full(len(own), row))
            factors.append(term.factor * parts)
    matrix = sp.csr_array(
        (np.concatenate(factors), (np.concatenate(rows), np.concatenate(columns))),
        shape=(len(table.equations), 3 * len(mesh.points)),
    )
    values = np.zeros(len(table.equations)) if table.values is None else np.array(table.values)
    zero = abs(matrix).max(axis=1).toarray().ravel() == 0.0
    for which in np.flatnonzero(zero).tolist():  # shells may not turn about their normal
        if values[which] or not any(term.component.startswith("r") for term in table.equations[which]):
            raise ScenarioError(f"the factors of equation {which + 1} are zero together; leave it out.")
    if zero.all():
        raise ScenarioError("the nodes of its equations do not turn about these axes; leave it out.")
    matrix, values = matrix[~zero], values[~zero]
    stiffness = table.stiffness
    if stiffness is None:
        solid = [name for name in table.bodies_named if name in young]
        if not solid:
            raise ScenarioError("it has no [[body]] from which its stiffness could follow; give its stiffness in N/m.")
        stiffness = stiffness_of(mesh, {name: young[name] for name in solid})
    return LinearConstraints(mesh.points, matrix, values, stiffness=stiffness)


def _parts_of(term: TermTable, mesh: Mesh, framed: Framed | None) -> tuple[NDArray[np.int64], Array]:
    """Return coordinates [k] and factors [k] of a component of nodes.

    A node of beams and shells moves as the mean of its particles a, and turns by θ = T⁻¹ Σ r × u with their places r
    from there and T = Σ (r² 1 − r rᵀ): of small rotations. A rod does not turn about itself.
    """
    component = _COMPONENTS.index(term.component)
    if framed is None:
        if component >= 3:
            raise ScenarioError(f"nodes of '{term.body}' have no rotation {term.component}; beams and shells have.")
        nodes = nodes_in(mesh, term).astype(np.int64)
        return 3 * nodes + component, np.ones(len(nodes))
    chosen = np.isin(framed.particles[:, 0], framed.nodes_in(mesh, term.group, term.at))
    columns, factors = [], []
    for particles in framed.particles[chosen]:
        own = np.unique(particles).astype(np.int64)
        if component < 3:
            columns.append(3 * own + component)
            factors.append(np.full(len(own), 1.0 / len(own)))
            continue
        r = mesh.points[own] - mesh.points[own].mean(axis=0)
        inertia = np.einsum("ai,ai->", r, r) * np.eye(3) - r.T @ r
        about = np.linalg.pinv(inertia, rcond=_ROD)[component - 3]
        columns.append((3 * own[:, None] + np.arange(3)).ravel())
        factors.append(np.cross(about, r).ravel())  # about · (r × u) = (about × r) · u
    return np.concatenate(columns), np.concatenate(factors)


def stiffness_of(mesh: Mesh, young: Mapping[str, float]) -> float:
    """Return the default stiffness in N/m of equations between bodies, given E in Pa of each: 1000 E h."""
    return _STIFF * min(modulus * _spacing(mesh, name) for name, modulus in young.items())


def _spacing(mesh: Mesh, body: str) -> float:
    """Return the mean distance in m of nodes of a body to the next one at another place."""
    points = mesh.points[mesh.nodes_of(body)]
    from scipy.spatial import KDTree  # which takes long to import

    away = KDTree(points).query(points, 2)[0][:, 1]
    return float(away[away > 0.0].mean())
