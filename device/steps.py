"""Steps of explicit Newmark on a device: what it holds, and which kernels it runs in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda  # pyright: ignore[reportPrivateImportUsage]

from symplex.device import kernels
from symplex.device.stencils import constant_gradient, entries_of_nodes, stencils_of
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import System

_THREADS = 128  # of a block
_GIB = 2.0**30


class DeviceSteps:
    """A system on a device, with the positions, velocities and accelerations of its nodes.

    Parameters
    ----------
    system : System
        One that `require_stencils` lets pass.

    Raises
    ------
    InvalidSystem
        If the device has too little memory.
    """

    def __init__(self, system: System):
        stencils = stencils_of(system)
        entries = sum(one.nodes.size for one in stencils)
        shape = system.n_nodes, system.dim
        inverse_mass = np.where(system.fixed, 0.0, 1.0 / np.asarray(system.mass)[:, None])
        sums = constant_gradient(system), *entries_of_nodes(stencils, system.n_nodes)
        arrays = [x for one in stencils for x in one.arguments if isinstance(x, np.ndarray)]
        own = sum(x.nbytes for x in (*arrays, inverse_mass, *sums))
        _require_memory(own + 8 * system.dim * (entries + 3 * system.n_nodes))
        self._q, self._v, self._a = (cuda.device_array(shape) for _ in range(3))
        self._forces = cuda.device_array((entries, system.dim))
        self._inverse_mass = cuda.to_device(inverse_mass)
        self._constant, self._first, self._entries = map(cuda.to_device, sums)
        self._stopped = cuda.to_device(np.full(1, -1))
        self._nodes = _launched(system.n_nodes * system.dim)
        self._launches, first = [], 0
        for one in stencils:
            there = [cuda.to_device(x) if isinstance(x, np.ndarray) else x for x in one.arguments]
            kernel: Any = getattr(kernels, one.kernel)(*one.law)
            self._launches.append((kernel, _launched(len(one.nodes)), (self._q, *there, self._forces, first)))
            first += one.nodes.size

    def send(self, q: Array, v: Array, a: Array) -> None:
        """Take positions, velocities and accelerations [n, dim] in SI units."""
        for there, here in zip((self._q, self._v, self._a), (q, v, a), strict=True):
            there.copy_to_device(here)

    def fetch(self, q: Array, v: Array, a: Array) -> None:
        """Write positions, velocities and accelerations to arrays [n, dim]."""
        for there, here in zip((self._q, self._v, self._a), (q, v, a), strict=True):
            there.copy_to_host(here)

    def take(self, n: int, dt: float) -> int:
        """Take n steps of the size dt in s; return how many had finite forces.

        If that is less than n, the positions are those at the end of the next one.
        """
        v, a, stopped = self._v, self._a, self._stopped
        sums = self._inverse_mass, self._constant, self._forces, self._first, self._entries
        # How many threads is said at each launch: the simulator keeps it in the kernel, which others launch as well.
        for step in range(n):
            kernels.drift[self._nodes](self._q, v, a, dt, stopped)
            for kernel, threads, arguments in self._launches:
                kernel[threads](*arguments, step, stopped)
            kernels.kick[self._nodes](v, a, *sums, dt, stopped)
        taken = int(stopped.copy_to_host()[0])  # waits for all of them
        return n if taken < 0 else taken


def _launched(threads: int) -> tuple[int, int]:
    """Return how many blocks of how many threads make so many threads, or some more."""
    size = min(_THREADS, threads)
    return -(-threads // size), size


def _require_memory(requested: int) -> None:
    free, _ = cuda.current_context().get_memory_info()
    if requested > free:
        raise InvalidSystem(
            f"the device has {free / _GIB:.1f} GiB free, and this system needs {requested / _GIB:.1f} GiB; run it on "
            "processors, or on several ranks."
        )
