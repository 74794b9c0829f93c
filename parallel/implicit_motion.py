"""A motion in implicit steps whose parts are on several ranks: the first one has the whole whenever it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.solids.solid import solids_of
from symplex.fem.system import System
from symplex.parallel.distant import DistantMotion
from symplex.parallel.member import Arrays, Begin, Command, Counts, Steps, Take
from symplex.parallel.part import owners_of, parts_of
from symplex.parallel.part_motion import Method
from symplex.parallel.pieces import require_few, require_parts
from symplex.parallel.ranks import Ranks
from symplex.time.implicit.implicit import ImplicitMotion
from symplex.time.motion import LISTED_AT

if TYPE_CHECKING:
    from symplex.fem.assembly import Array, IntArray

_OWNERS = "owner of each node"  # in checkpoints
_LINEAR = "auto", "krylov", "petsc"


class ImplicitMotionInParts(DistantMotion):
    """A motion of a method with implicit steps on several ranks.

    Parameters
    ----------
    whole : ImplicitMotion
        That of one process, which has all that moves, but takes no step.
    method : ImplicitIntegrator or Newmark
    ranks : Ranks

    Raises
    ------
    InvalidSystem
        If the system or the linear solver is not for several ranks.
    """

    def __init__(self, whole: ImplicitMotion, method: Method, ranks: Ranks):
        self.name = whole.name
        super().__init__(whole.system, whole.t0, whole.dt, whole.n)
        self._own_method, self._ranks = method, ranks
        self._whole: ImplicitMotion | None = whole  # until the ranks have their parts
        require_parts(whole.system, contact=True)
        require_few(whole.system, ranks.size)
        _require_lumped(whole.system)
        self._owner = np.full(whole.system.n_nodes, -1, np.int32)
        self._own: dict[int, IntArray] = {}  # the nodes of each rank, once they have their parts
        self._is_here = False
        self._found: dict[str, np.ndarray] = {}  # what has been brought from the ranks since their last step
        self._counts = Counts({}, {})

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        assert self._whole is not None, "it has begun"
        self._whole.begin(q, v)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, of all nodes, and which rank has which."""
        if self._whole is not None:
            return self._whole.arrays() | {_OWNERS: self._owner}
        if not self._found:
            self._gather()
        return self._found | self._counts.arrays | {_OWNERS: self._owner}

    def restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        """Set the arrays to those of a checkpoint, also of one process or of another number of ranks.

        Raises
        ------
        InvalidSystem
            If it is of another method or system.
        """
        super().restore({_OWNERS: self._owner, **checkpoint})
        if self._owner.max() + 1 != self._ranks.size:
            self._owner[...] = -1

    def statistics(self) -> dict[str, float]:
        """Return what one process would count."""
        if self._whole is None:
            return self._counts.statistics | {"steps": self.n}
        self._whole.n = self.n
        return self._whole.statistics()

    def _take_renewing(self, n_steps: int) -> None:
        self._run(n_steps)  # each rank renews what it has

    def _step(self, t: float, h: float) -> None:
        raise NotImplementedError("steps are taken by the ranks")

    def _run(self, n_steps: int) -> None:
        if not n_steps:
            return
        if not self._own:
            self._divide()
        self._found = {}
        self._take_counts(self._called(lambda rank: Steps(n_steps)))
        self.n += n_steps

    def _take_counts(self, counts: Sequence[Counts]) -> None:
        """Take what has been counted; all ranks have counted the same."""
        self._counts = counts[0]
        if self._work:
            self._work.done[...] = self._counts.arrays["work"]

    def _divide(self) -> None:
        """Give each rank its part, from what the arrays hold."""
        system, ranks, whole = self.system, self._ranks, self._whole
        assert whole is not None, "it has been divided"
        arrays, grid = whole.arrays(), {"t0": self.t0, "dt": self.dt, "n": self.n}
        if self._owner[0] < 0:
            self._owner[...] = owners_of(system, arrays["q"], ranks.size)
        part = parts_of(system, self._owner, ranks.size, ranks.threads, explicit=False)
        # Iterations on ranks, and no compiled loops over steps.
        newton = self._own_method.newton
        linear = "petsc" if newton.linear == "petsc" else "krylov"
        method = replace(self._own_method, newton=replace(newton, linear=linear))
        arrays |= {LISTED_AT + name: q for name, q in self._listed_at.items() if len(q)}
        shape = system.n_nodes, system.dim

        def take(rank: int) -> Command:
            found = part(rank)
            nodes = found.share.nodes
            self._own[rank] = nodes[: found.share.ghosts]
            here = {
                name: np.ascontiguousarray(array[..., nodes, :]) if array.shape[-2:] == shape else array
                for name, array in arrays.items()
            }
            return Take(found, Begin(method, grid, here))

        ranks.placed = None  # what they had of any system
        self._take_counts(ranks.call(take))
        self._lead()
        self._whole, self._listed_at = None, {name: q[:0] for name, q in self._listed_at.items()}
        for solid in solids_of(system.energies).values():
            solid.release()

    def _gather(self) -> None:
        """Get all that moves from the ranks, and where contacts have found their pairs."""
        n, found = self.system.n_nodes, {}
        for rank, (arrays, _) in enumerate(self._called(lambda rank: Arrays())):
            for name, array in arrays.items():
                whole = found.setdefault(name, np.zeros((*array.shape[:-2], n, array.shape[-1])))
                whole[..., self._own[rank], :] = array
        self._found = {name: array for name, array in found.items() if not name.startswith(LISTED_AT)}
        self._listed_at = {name: found[LISTED_AT + name] for name in self._listed_at}

    def kept_by(self, command: Callable[[int], Command]) -> dict[str, np.ndarray]:
        """Let each rank keep its nodes, by a command; return what else a checkpoint has.

        Together that is `checkpoint`, with the same names.
        """
        self._refuse_broken()
        if not self._own:
            self._divide()
        self._called(command)
        grid = {"t0": np.array(self.t0), "dt": np.array(self.dt), "n": np.array(self.n)}
        return grid | {name: array.copy() for name, array in self._counts.arrays.items()} | {_OWNERS: self._owner}


def require_solver(linear: str) -> None:
    """Check that a linear solver runs on several ranks.

    Raises
    ------
    InvalidSystem
        If it does not.
    """
    if linear not in _LINEAR:
        raise InvalidSystem(f'linear = "{linear}" does not run on several ranks; take one of {", ".join(_LINEAR)}.')


def _require_lumped(system: System) -> None:
    if not system.is_lumped or system.massless.any():
        what = "nodes without mass" if system.is_lumped else "a consistent mass"
        raise InvalidSystem(f"implicit steps on several ranks need a lumped mass at all nodes; the system has {what}.")
