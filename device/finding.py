"""Whether there is a device, and what it is called."""

from __future__ import annotations

from importlib.util import find_spec

from symplex.errors import InvalidSystem, MissingPackage

_INSTEAD = 'leave device = "cuda" out to run on processors.'


def require_device() -> str:
    """Return the name of the CUDA device that there is; with ``NUMBA_ENABLE_CUDASIM=1`` it is numba's simulator.

    Raises
    ------
    MissingPackage
        If numba-cuda, or CUDA's compiler, is not installed.
    InvalidSystem
        If there is no device.
    """
    if find_spec("numba_cuda") is None:
        raise MissingPackage(f"a CUDA device needs numba-cuda; install symplex[cuda], or {_INSTEAD}")
    from numba import cuda

    if is_simulated():
        return "numba's CUDA simulator"
    if not cuda.is_available():
        raise InvalidSystem(f"no CUDA device is found on this machine, or its driver is not installed; {_INSTEAD}")
    from numba.cuda.cudadrv.error import NvvmSupportError
    from numba.cuda.cudadrv.nvvm import NVVM

    try:
        NVVM()
    except NvvmSupportError:
        raise MissingPackage(f"a CUDA device needs CUDA's compiler; install symplex[cuda], or {_INSTEAD}") from None
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def is_simulated() -> bool:
    """Return whether kernels for devices run in numba's simulator, as Python."""
    from numba.cuda.core import config  # pyright: ignore[reportMissingImports]

    return bool(config.ENABLE_CUDASIM)
