"""What parts with history have lost of their stiffness by flow and damage: a measure of motions along paths that snap.

Where a crack runs, loads and displacements may both turn back, sharply, but what is dissipated grows, by which paths
can be controlled (M. A. Gutiérrez, Energy release control for numerical simulations of failure in quasi-brittle solids,
Commun. Numer. Methods Eng. 20 (2004) 19-29). Here it is by the stiffness that is lost: of a motion d the product
d·(K_e − K) d, with the tangents K_e of internal variables as they are and K of an increment, is the second-order work
of flow or damage, and (K_e − K) d is normal to motions in which nothing opens or flows further.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from symplex.fem.energies.energy import Array
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.system import System


@final
class LostStiffness:
    """The difference of both tangents of parts with history, in an increment from given internal variables.

    Parameters
    ----------
    system : System
        In which the parts are energies of an increment by the same names (`Inelastic.increment`).
    parts : mapping of str to Inelastic
    internal : mapping of str to float64
        Their internal variables at the beginning, read where they are.
    """

    def __init__(self, system: System, parts: Mapping[str, Inelastic], internal: Mapping[str, Array]):
        self._system, self._parts, self._internal = system, parts, internal

    def by(self, q: Array, motion: Array) -> Array:
        """Return (K_e − K) d [n, dim] in N at positions q [n, dim] for a motion d [n, dim]."""
        system, blocks = self._system, self._system.pattern.zeros(self._system.dim)
        slots = dict(zip(system.energies, system.pattern.slots, strict=False))
        for name, part in self._parts.items():
            z = self._internal[name]
            end, _ = part.after(q, z, q, np.inf)
            for at, h, sign in ((end, 0.0, -1.0), (z, np.inf, 1.0)):
                part.add_derivatives(q, at, q, h, sign, slots[name], blocks, mean=False)
        return (system.pattern.matrix(blocks) @ motion.reshape(-1)).reshape(motion.shape)
