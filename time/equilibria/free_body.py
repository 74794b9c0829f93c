"""What a body must be to move freely: no supports, no loads, and energies that no rigid motion changes."""

from __future__ import annotations

import numpy as np

from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array
from symplex.fem.energies.inelastic import refuse_history
from symplex.fem.system import System
from symplex.time.rigid_rotation import in_space

_INVARIANT = 1e-9  # resultant force of an internal energy over its nodal forces: no more than rounding
_STRAIN = 0.01  # of the deformation that shows whether an energy is internal


def require_free(system: System) -> None:
    """Check that a system is a free body in the plane or in space."""
    if system.dim not in (2, 3):
        raise InvalidSystem(f"nothing rotates in {system.dim} dimension; make the system for 2 or 3.")
    refuse_history(system, "a relative equilibrium")
    if system.frames is not None and system.frames.held.any():
        raise InvalidSystem("a supported body has no relative equilibrium: leave out what holds frames.")
    if system.joints.moving or (system.joints and (system.joints.frame < 0).any()):
        raise InvalidSystem(
            "a relative equilibrium is one of a body that moves freely, without joints to the ground or with a given "
            "motion; leave these out."
        )
    if system.has_supports:
        raise InvalidSystem("a supported body has no relative equilibrium: leave the supports out.")
    if system.loads:
        raise InvalidSystem(
            f"a relative equilibrium is one of internal forces alone; leave out the loads {', '.join(system.loads)}."
        )
    system.require_inertia("a relative equilibrium")
    if not system.changing and (parts := parts_apart(system)) > 1:
        raise InvalidSystem(
            f"a relative equilibrium is one of what hangs together as one body, but there are {parts} parts that no "
            "energy joins; join them, or find that of each."
        )


def parts_apart(system: System) -> int:
    """Return how many parts there are that no energy holds together."""
    from scipy.sparse.csgraph import connected_components  # which takes long to import

    graph = sp.csr_array(system.pattern.matrix(system.pattern.zeros(1) + 1.0))
    rigid = [] if system.frames is None else [system.frames.nodes]
    for nodes in [*rigid, *([system.joints.nodes] if system.joints else [])]:
        first, others = np.repeat(nodes[:, :1], nodes.shape[1] - 1, axis=1).ravel(), nodes[:, 1:].ravel()
        graph = graph + sp.csr_array((np.ones(len(first)), (first, others)), shape=graph.shape)
    return int(connected_components(graph, directed=False)[0])


def require_internal(system: System, q: Array) -> Array:
    """Check in a slightly deformed shape that energies are internal; return the sizes [2] of forces and moments."""
    deformation = _STRAIN * np.array([[1.0, 0.5, -0.3], [0.5, -0.7, 0.2], [-0.3, 0.2, 0.4]])
    deformed = q + (q - q.mean(axis=0)) @ deformation[: system.dim, : system.dim]
    sizes = np.zeros(2)
    for energy in system.energies.values():
        forces = np.zeros_like(q)
        energy.add_gradient(deformed, forces)
        arm = np.linalg.norm(deformed - deformed.mean(axis=0), axis=1)
        size = np.linalg.norm(forces, axis=1)
        sizes += size.sum(), arm @ size
    require_resultants(system, deformed, sizes, "in a shape strained by a few per cent")
    return sizes


def require_resultants(system: System, q: Array, sizes: Array, where: str) -> None:
    """Check that the forces of each energy have no resultant and no moment, compared with given sizes [2]."""
    for name, energy in system.energies.items():
        forces = np.zeros_like(q)
        energy.add_gradient(q, forces)
        moment = np.cross(in_space(q - q.mean(axis=0)), in_space(forces)).sum(axis=0)
        resultants = np.linalg.norm(forces.sum(axis=0)), np.linalg.norm(moment)
        for what, value, size in zip(("force", "moment"), resultants, sizes, strict=True):
            if value > _INVARIANT * size:
                raise InvalidSystem(
                    f"energy '{name}' is not internal: {where} its {what} has a resultant of {value:.2e} "
                    f"N{'' if what == 'force' else ' m'}. Leave out what acts from outside."
                )
