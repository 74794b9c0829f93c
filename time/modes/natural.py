"""Natural vibrations about a state: frequencies and shapes of small motions, and how much of the mass takes part."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.fem.energies.energy import Array
from symplex.fem.solids.zero_energy import has_reduced, zero_energy_reason
from symplex.fem.system import State, System
from symplex.time.modes.eigenpairs import lowest, scale
from symplex.time.modes.framed import FramedMotions
from symplex.time.modes.rigid_motions import MECHANISM, allowed_motions, rigid_motions, sorted_rigid
from symplex.time.modes.small_motions import SmallMotions
from symplex.time.rigid_rotation import centre_of_mass
from symplex.time.solvers.linear import LinearOfModes


@final
@dataclass(frozen=True)
class Modes:
    """Natural vibrations.

    Attributes
    ----------
    frequencies : float64 [k]
        In Hz, ascending; negative where the state is not stable, with the size of the rate of growth over 2π.
    shapes : float64 [k, n, dim]
        In kg^(-1/2): uᵀ M u = 1; zero where coordinates are held.
    kinds : list of str
        What each is: ``vibration``, ``unstable``; or, of frequency zero, ``translation along x``, ``rotation about z``
        and the like, or ``mechanism``, a motion without stiffness that is not rigid.
    participation : float64 [k, d]
        Γ = uᵀ M r for the rigid motions r: shifts along the axes, in kg^(1/2), and turns about axes through the centre
        of mass, in kg^(1/2) m (three in space, one in the plane).
    total : float64 [d]
        rᵀ M r: the mass in kg, for each axis, and the moments of inertia in kg m².
    center : float64 [dim]
        The centre of mass in m.
    reason : str or None
        Which elements let mechanisms through because their quadrature does not see them, if these do.
    """

    frequencies: Array
    shapes: Array
    kinds: list[str]
    participation: Array
    total: Array
    center: Array
    reason: str | None = None

    @cached_property
    def effective_masses(self) -> Array:
        """Γ² [k, d], in kg and kg m²: of all modes of a body without supports they sum to `total`.

        With supports to what is left of it without the mass that these hold.
        """
        return self.participation**2

    @property
    def angular(self) -> Array:
        """The frequencies [k] in rad/s, with the same signs."""
        return 2.0 * math.pi * self.frequencies

    def __repr__(self) -> str:
        few = ", ".join(f"{f:.6g}" for f in self.frequencies[:6])
        return f"Modes({len(self.frequencies)}: {few}{', …' if len(self.frequencies) > 6 else ''} Hz)"


@checked
def natural_modes(system: System, state: State, n: int, *, solver: LinearOfModes = "auto") -> Modes:
    """Return the lowest natural frequencies of a system about a state, and their shapes.

    K u = ω² M u, with K = ∇²V(q) less the symmetric part of ∂f/∂q of loads that follow the body: stresses at the state,
    contact as it is there, and centrifugal forces of a rotating frame count. What depends on velocities is left out
    (see `complex_modes`), and so is the velocity of the state. Nodes without mass follow the others.

    Parameters
    ----------
    system : System
    state : State
        An equilibrium.
    n : int
        How many, at most as many as there are free coordinates with mass.
    solver : {"auto", "dense", "sparse", "krylov"}, default "auto"
        How the equations of the Lanczos method with shift and inversion are solved: by sparse factors up to 8000 free
        coordinates, then by conjugate gradients with incomplete factors and a coarse space (and where these fail by
        sparse factors, up to 60 000 coordinates). Up to 200 coordinates all modes are computed at once, as with
        "dense".

    Returns
    -------
    Modes

    Raises
    ------
    InvalidSystem
        If n is out of range.
    NoEquilibrium
        If the method finds no frequencies.
    """
    motions = SmallMotions(system, state)
    # Of equal ones a part is any mixture: all rigid motions are found, and those that are asked for kept.
    some = n + len(allowed_motions(motions)[1])
    framed = FramedMotions(motions) if system.frames else None
    moving = motions.n_moving if framed is None else framed.n_moving
    more = max(n, min(some, moving)) if n > 0 else n
    squares, shapes = lowest(motions, more, solver) if framed is None else framed.lowest(more)
    squares, shapes, kinds = sorted_rigid(motions, squares, shapes, framed.scale if framed else scale(motions))
    squares, shapes, kinds = squares[:n], shapes[:n], kinds[:n]
    flat = shapes.reshape(n, -1)
    largest = np.argmax(np.abs(flat) > (1.0 - 1e-6) * np.abs(flat).max(axis=1, keepdims=True), axis=1)
    shapes = shapes * np.sign(flat[np.arange(n), largest])[:, None, None]
    center = centre_of_mass(system, state.q)
    rigid = rigid_motions(state.q, center)
    weighed = np.array([system.apply_mass(motion) for motion in rigid])
    participation = np.einsum("kni,dni->kd", shapes, weighed)
    total = np.einsum("dni,dni->d", rigid, weighed)
    frequencies = np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * math.pi)
    reason = _reason_of_mechanisms(system, state.q, shapes[[kind == MECHANISM for kind in kinds]])
    return Modes(frequencies, shapes, kinds, participation, total, center, reason)


def _reason_of_mechanisms(system: System, q: Array, shapes: Array) -> str | None:
    """Return which elements let mechanisms [k, n, dim] through; those of a mixture of them let any through."""
    if not len(shapes) or not has_reduced(system.energies):
        return None
    return zero_energy_reason(system.energies, q, np.tensordot(1.0 / np.arange(1, len(shapes) + 1), shapes, 1))
