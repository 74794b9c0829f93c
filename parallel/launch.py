"""Whether ``mpiexec`` has started this process with others, as the environment shows before MPI is loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

# The variables that report the rank and the number of ranks, by who sets them.
_LAUNCHERS = {
    "Open MPI": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    "MPICH": ("PMI_RANK", "PMI_SIZE"),
    "Slurm": ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
}


class Launch(NamedTuple):
    """How a process was started."""

    by: str  # the launcher, as people call it
    # Which of how many processes it is
    rank: int
    size: int


def launched(environment: Mapping[str, str] = os.environ) -> Launch | None:
    """Return how this process was started, if it is one of several that belong together."""
    for by, (of_rank, of_size) in _LAUNCHERS.items():
        rank, size = environment.get(of_rank, ""), environment.get(of_size, "")
        if rank.isdigit() and size.isdigit() and int(size) > 1:
            return Launch(by, int(rank), int(size))
    return None
