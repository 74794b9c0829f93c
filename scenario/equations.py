"""The table of linear constraints between displacements, and what it describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import scipy.sparse as sp

from symplex.base.quantities import Name, number, numbers, positive
from symplex.errors import ScenarioError
from symplex.fem.couplings.equations import LinearConstraints
from symplex.fem.energies.energy import IntArray
from symplex.meshes.mesh import Mesh
from symplex.scenario.selections import Nodes, nodes_in
from symplex.scenario.table import Entry

if TYPE_CHECKING:
    from symplex.scenario.building import Builder

_STIFF = 1000.0  # of a constraint, as a multiple of E h
_AXES = "xyz"


class TermTable(Nodes):
    """A component of the displacements of nodes, times a factor; of several nodes all are added."""

    component: Annotated[Literal["x", "y", "z"], "Of the displacement since the start."]
    factor: Annotated[float, number(""), "c."]


class ConstraintTable(Entry):
    """Linear equations Σ c u = b between displacements of nodes, by a penalty ½ k (Σ c u − b)².

    A force λ of the constraint leaves an error λ/k. Equations whose factors sum to zero in each direction conserve
    linear momentum; none conserves angular momentum. In Python it is ``fem.LinearConstraints``.
    """

    adds_energy = True
    joins = True
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
        world.add(self.name, constraints_of(self, world.mesh, world.inertia.young))


def constraints_of(table: ConstraintTable, mesh: Mesh, young: Mapping[str, float]) -> LinearConstraints:
    """Return the energy of linear constraints.

    Parameters
    ----------
    table : ConstraintTable
    mesh : Mesh
        Of all bodies.
    young : mapping of str to float
        E in Pa by body, of which the stiffness is 1000 E h by default, h the mean distance to the nearest node.

    Raises
    ------
    ScenarioError
        If there is no such group, no node at a place, an equation has no factors, or no body shows a stiffness.
    InvalidSystem
        If an equation has too many nodes.
    """
    found: dict[tuple[str, str | None, object], IntArray] = {}
    rows, columns, factors = [], [], []
    for row, terms in enumerate(table.equations):
        for term in terms:
            key = (term.body, term.group, term.at)
            if key not in found:
                found[key] = nodes_in(mesh, term)
            columns.append(3 * found[key].astype(np.int64) + _AXES.index(term.component))
            rows.append(np.full(len(found[key]), row))
            factors.append(np.full(len(found[key]), term.factor))
    matrix = sp.csr_array(
        (np.concatenate(factors), (np.concatenate(rows), np.concatenate(columns))),
        shape=(len(table.equations), 3 * len(mesh.points)),
    )
    largest = abs(matrix).max(axis=1).toarray().ravel()
    if not largest.all():
        which = int(np.argmin(largest)) + 1
        raise ScenarioError(f"the factors of equation {which} are zero together; leave it out.")
    stiffness = table.stiffness
    if stiffness is None:
        solid = [name for name in table.bodies_named if name in young]
        if not solid:
            raise ScenarioError("it has no [[body]] from which its stiffness could follow; give its stiffness in N/m.")
        stiffness = stiffness_of(mesh, {name: young[name] for name in solid})
    return LinearConstraints(mesh.points, matrix, 0.0 if table.values is None else table.values, stiffness=stiffness)


def stiffness_of(mesh: Mesh, young: Mapping[str, float]) -> float:
    """Return the default stiffness in N/m of equations between bodies, given E in Pa of each: 1000 E h."""
    return _STIFF * min(modulus * _spacing(mesh, name) for name, modulus in young.items())


def _spacing(mesh: Mesh, body: str) -> float:
    """Return the mean distance in m of nodes of a body to the next one at another place."""
    points = mesh.points[mesh.nodes_of(body)]
    from scipy.spatial import KDTree  # which takes long to import

    away = KDTree(points).query(points, 2)[0][:, 1]
    return float(away[away > 0.0].mean())
