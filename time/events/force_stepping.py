"""Force-stepping: the exact motion in the piecewise-linear interpolation of the potential energy.

Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.columns import count_column
from symplex.base.quantities import LARGEST_SEED, positive, whole
from symplex.base.representation import Summarized
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.events.lattice_choice import require_lattice, spread
from symplex.time.events.lattice_motion import ForceSteppingMotion
from symplex.time.integrator import Integrator
from symplex.time.totals import LATTICE_TOTAL


@checked
@dataclass(frozen=True, repr=False)
class ForceStepping(Summarized, Integrator):
    """Force-stepping by events (Definition 2.1 of the paper, without its Algorithm 2).

    The potential V is replaced by V_h, linear on the simplices of a Kuhn triangulation of configuration space,
    and the motion under V_h is followed exactly: parabolas from face to face. It is symplectic, time-reversible
    and keeps ½ vᵀ M v + V_h(q) to round-off.

    Parameters
    ----------
    grid : float or float64 [dim] or [n, dim]
        Grid size h in m, for all coordinates, for each direction or for each coordinate.
    seed : int, default 0
        Seed of the random lattice offset of every coordinate, which keeps initial positions off lattice planes.
    offset : float64 [n, dim] or "random", optional
        The lattice offset in units of the grid size; default: random where not mirrored, otherwise 0.
    mirrored : bool or tuple of bool, one for each direction; default False
        Let cells that are neighbours in these directions be mirror images of each other (Fig. 4 of the paper), with
        lattice planes through the origin unless an offset is given: V_h is then invariant under those reflections of
        these directions that leave V as it is. A body whose nodes lie on such planes and fly alike is a non-transversal
        start; ``offset="random"`` gives each coordinate its own mirrors.
    axes : float64 [dim, dim], optional
        The directions of the lattice, one unit vector in each row; default: the coordinate axes. An obstacle that
        is much stiffer than the body acts on the scale of the grid as a wall of lattice facets: oblique to the
        axes it is rough, and pushes nodes along the axes, however small h is. With an axis along its normal
        it is smooth, and the rebound converges with h.
    count_crossings : bool, default False
        Count also the simplex crossings that change no force, which the event loop skips. The paper's steps
        are ``events + other_crossings``. Costs O(n) per event.

    Raises
    ------
    ValueError
        If the grid size is not positive.
    """

    grid: Annotated[float, positive("m")] | ArrayLike
    seed: Annotated[int, whole(0, LARGEST_SEED)] = 0
    offset: ArrayLike | Literal["random"] | None = None
    axes: ArrayLike | None = None
    mirrored: bool | tuple[bool, ...] = False
    count_crossings: bool = False

    kind = "force-stepping"
    order = 1.5
    conserves = frozenset({"energy", "symplectic form"})
    energy = LATTICE_TOTAL.name
    columns = (
        count_column("events", plotted=True),
        *map(count_column, ("integer_events", "pair_events", "renewals", "searches", "other_crossings")),
        count_column("crossings", plotted=True),
        LATTICE_TOTAL,
    )
    symmetric = True
    needs = frozenset({"lattice_functions"})
    takes = frozenset({"supports", "changing stencils"})

    def __post_init__(self):
        require_lattice(self.grid, self.offset, self.axes, self.mirrored)

    def start(self, system: System, state: State) -> ForceSteppingMotion:
        """Return the motion that begins at a state.

        Raises
        ------
        InvalidSystem
            If the mass is not lumped, a load depends on time, or grid, offset, axes or state have a wrong shape.
        StepFailed
            If the energy is infinite at a lattice vertex next to the initial positions, or cells are too many to count.
        """
        # A checker of this file alone takes its class for another than that of lattice_motion.
        motion = ForceSteppingMotion(self, system, state.t)  # pyright: ignore[reportArgumentType]
        motion._begin(state)
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> ForceSteppingMotion:
        """Return the motion that goes on from a checkpoint, bit-identically."""
        start = float(checkpoint.get("t", 0.0))
        motion = ForceSteppingMotion(self, system, start)  # pyright: ignore[reportArgumentType]
        motion._restore(checkpoint)
        return motion

    def _offset(self, mirrored: NDArray[np.bool_]) -> Array:
        """Return the offsets [n, dim] of coordinates that are mirrored, or not."""
        drawn = np.random.default_rng(self.seed).random(mirrored.shape)
        if self.offset is None:
            return np.where(mirrored, 0.0, drawn)
        return drawn if isinstance(self.offset, str) else spread("offset", self.offset, mirrored.shape)
