"""The stencils of all energies as force-stepping sees them, and lists of those that change.

A stencil whose nodes are not near each other has no energy at the lattice vertices around it, and adds exactly nothing
to V_h: no force depends on which of these are listed. The vertices that an event looks at are one grid size away in
each coordinate at most, so that two nodes are nearer to each other there by up to twice the diagonal of a cell. A list
of all stencils closer than

    reach + 2 (diagonal of a cell) + room

is complete as long as no node moves by more than half the room. Each coordinate has its part of that as a range of
cells; the event that takes one out of its range is where lists are found again. So they depend on the motion alone, and
not on when it is looked at.
"""

from __future__ import annotations

import copy
from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.system import System
from symplex.time.events.interaction import Interactions, interactions, lattice_functions
from symplex.time.events.lattice_energy import lattice_energy
from symplex.time.events.lattice_tracks import Lattice

_CELLS = 6.0  # how far a coordinate may move between two searches, in grid sizes: some hundred events
_FINE = 0.05  # of the distance at which forces between surfaces begin: a grid that has these within some per cent


@final
class StencilLists:
    """The energies of a system with their stencils: those that change have their own lists here.

    Parameters
    ----------
    system : System
    axes : float64 [dim, dim] or None
        Those of the lattice.
    spacing : float64 [n, dim]
        Grid sizes in m.

    Attributes
    ----------
    energies : dict of str to Energy
        Those of the system, with copies of the energies whose stencils change.
    changing : dict of str to NeighbourListEnergy
        These copies.
    functions : dict of str to LatticeFunctions
        Of each energy.
    tables : Interactions
        They hold addresses into the arrays of ``functions``.
    list_positions : float64 [n, dim]
        The positions in m that lists are of.
    searches : int64 []
        How often they were found.
    """

    def __init__(self, system: System, axes: Array | None, spacing: Array):
        self._axes, self._shape = axes, spacing.shape
        self.changing = {name: copy.copy(energy) for name, energy in system.changing.items()}
        self.energies: dict[str, Energy] = system.energies | self.changing
        self._room = 2.0 * np.sqrt(system.dim) * _CELLS * float(spacing.max(initial=0.0))
        self._reach = 0.5 * self._room / (np.sqrt(system.dim) * spacing)  # of each coordinate to a side, in cells
        diagonal = float(np.sqrt(np.max(np.sum(spacing**2, axis=1), initial=0.0)))
        for name, energy in self.changing.items():
            if system.energies[name] in system.collision_checked and 2.0 * diagonal > energy.reach:
                raise InvalidSystem(
                    f"the grid of force-stepping, {spacing.max():.3g} m, is too coarse for '{name}', whose forces "
                    f"begin at a distance of {energy.reach:.3g} m: lattice points would be beyond a surface before "
                    f"that. Take a grid of {_FINE * energy.reach:.2g} m."
                )
            energy.margin = 2.0 * diagonal + self._room
        self.list_positions = np.zeros((0, system.dim))
        self.searches = np.array(0)
        self.functions = lattice_functions(self.energies, system.dim, axes)
        self.tables = self._tables()

    def _tables(self) -> Interactions:
        stencils = [energy.nodes for energy in self.energies.values()]
        return interactions(self._shape[0], stencils, list(self.functions.values()))

    def find(self, q: Array) -> bool:
        """Find the lists at the positions q [n, dim]; return whether there are others now, with other tables."""
        before = {name: energy.nodes for name, energy in self.changing.items()}
        for energy in self.changing.values():
            energy.build_list(q)
        self.list_positions = q
        self.searches += 1
        found = lattice_functions(self.changing, self._shape[1], self._axes)
        if all(
            np.array_equal(before[name], energy.nodes)
            and np.array_equal(self.functions[name].parameters, found[name].parameters)
            for name, energy in self.changing.items()
        ):
            return False
        self.functions |= found
        self.tables = self._tables()
        return True

    def bounds(self, z: Array, mirrored: NDArray[np.bool_]) -> Array:
        """Return the least and the largest cell [n·dim, 2] of each coordinate for which lists are complete.

        Without rows if they are for all.

        Parameters
        ----------
        z : float64 [n, dim]
            The lattice coordinates of ``list_positions``.
        mirrored : bool [n, dim]
            Whether a cell is known by the even vertex in its middle, and not by the lower one.
        """
        if not self.changing:
            return np.empty((0, 2))
        low, high = np.ceil(z - self._reach) + mirrored, np.floor(z + self._reach) - 1.0
        return np.column_stack([low.ravel(), high.ravel()])

    def potential(self, lattice: Lattice, q: Array, z: Array) -> float:
        """Return V_h in J at any positions q [n, dim] with the lattice coordinates z [n·dim]."""
        energies, functions = self.energies, self.functions
        if self.changing and np.linalg.norm(q - self.list_positions, axis=1).max(initial=0.0) > 0.5 * self._room:
            changing = {name: copy.copy(energy) for name, energy in self.changing.items()}
            for energy in changing.values():
                energy.build_list(q)
            energies = energies | changing
            functions = lattice_functions(energies, self._shape[1], self._axes)
        total = 0.0
        for name, energy in energies.items():
            local = functions[name]
            total += lattice_energy(energy.nodes, local.value, local.parameters, lattice, z)
            local.raise_failure()
        return total
