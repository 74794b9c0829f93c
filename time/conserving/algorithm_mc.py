"""Algorithm MC of Graham and Jelenić (2006), eq. 3.8: one step as the fixed point of what it adds to a state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.conserving.scheme_loops import SchemeForces
from symplex.time.conserving.scheme_table import SchemeTable
from symplex.time.traits import Form


class ConservingScheme(ABC):
    """A choice of 𝒢, 𝒳, 𝓜, F_a and V_a: what a step adds, Z1 − Z0 = C (Z0 + Z1)/2 + Z_a (eqs. 3.11).

    The state is Z = (R, w), w = h V: positions and velocities in the unit of positions. C and Z_a depend on both ends
    of the step.

    Parameters
    ----------
    system : System
    external : tuple of str
        Energies that act like loads; only for schemes made of 𝓕.

    Attributes
    ----------
    name : str
        Of the scheme.
    order : int
        Of accuracy.
    conserves : frozenset of str
        Besides both momenta.
    needs : frozenset of str
        Which forms of energies it is made of, next to gradients.
    takes_external : bool
        Whether energies without a secant form can act like loads.
    starts_moving : bool
        Whether there is no residual at Z1 = Z0.
    is_minimum : bool
        Whether the end of a small step makes an energy least whose second derivative is that of M + h² ∇²V/4 at the
        middle.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    conserves: ClassVar[frozenset[str]] = frozenset()
    needs: ClassVar[frozenset[Form]] = frozenset()
    takes_external: ClassVar[bool] = False
    starts_moving: ClassVar[bool] = False
    is_minimum: ClassVar[bool] = False

    def __init__(self, system: System, external: tuple[str, ...]):
        self.system = system

    @property
    def title(self) -> str:
        """The scheme as errors call it."""
        return f"GrahamJelenic {self.name}"

    def begin(self, t: float, h: float, z0: Array, a0: Array) -> None:
        """Set up a step of size h in s from the time t, the state z0 [2, n, dim] and the accelerations a0 there."""
        self.t, self.h, self.z0, self.a0 = t, h, z0, a0

    @abstractmethod
    def add(self, z1: Array, out: Array) -> None:
        """Write C (Z0 + Z1)/2 + Z_a [2, n, dim] to out, if the step ends at z1."""

    def compiled(self) -> tuple[SchemeTable, SchemeForces] | None:
        """Return the scheme and the system as compiled loops take them, and what addresses lead to, if they do."""
        return None

    def remark(self, z1: Array) -> str:
        """Return what there is to be said if no end of the step was found and z1 was the best one."""
        return ""

    @abstractmethod
    def work(self, z1: Array) -> list[float]:
        """Return the work in J of each load in a step that ends at z1."""
