"""Explicit Newmark on a CUDA device: all steps between two looks at the motion are taken there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, final

import numpy as np

from symplex.base.arguments import checked
from symplex.device.finding import require_device
from symplex.device.stencils import require_stencils
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import State, System
from symplex.time.around import AroundSteps
from symplex.time.explicit.newmark import Newmark, NewmarkMotion
from symplex.time.traits import Trait

if TYPE_CHECKING:
    from symplex.device.steps import DeviceSteps


@checked
@final
@dataclass(frozen=True)
class OnDevice(AroundSteps["DeviceMotion"]):
    """Explicit Newmark on a CUDA device, by numba-cuda (``pip install "symplex[cuda]"``).

    Laws and steps are those of processors, compiled for the device. Results are the same to the last bit in each run
    on the same device; those of processors differ by round-off. Stable steps, energies and all output are found on
    processors, from the states that are copied there when a motion is looked at. A checkpoint is that of `Newmark`,
    which can go on from it, and the other way round.

    It takes linear tetrahedra of all laws that are compiled, springs and bars, rigid obstacles that push back by a
    penalty, constant forces, and supports that stand still.

    Parameters
    ----------
    method : Newmark
        The explicit member.

    Raises
    ------
    InvalidSystem
        If it is another method.
    """

    method: Newmark = field(default=Newmark())

    _field = "method"
    why_not = MappingProxyType(dict.fromkeys(("composition", "thermostat"), "all its steps are taken on the device"))

    def __post_init__(self):
        if not (isinstance(self.method, Newmark) and self.method.explicit):
            raise InvalidSystem(
                f"{self.method.name} cannot run on a device: it is explicit Newmark (beta = 0) that does; take that, "
                "or run it on processors."
            )

    @property
    def name(self) -> str:
        """How messages call the method."""
        return f"{self.method.name} on a device"

    @property
    def takes(self) -> frozenset[Trait]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Supports that stand still; `require_stencils` has more to say."""
        return frozenset({"supports"})

    def _step_size(self, system: System, state: State) -> float:
        require_stencils(system)
        return super()._step_size(system, state)

    def _motion(self, system: System, t0: float, dt: float, n: int) -> DeviceMotion:
        return DeviceMotion(system, t0, dt, n)


class DeviceMotion(NewmarkMotion):
    """A motion on a device; see `OnDevice`.

    Parameters
    ----------
    system, t0, dt, n
        See `NewmarkMotion`.
    """

    name = "Newmark"

    def __init__(self, system: System, t0: float, dt: float, n: int):
        require_stencils(system)
        require_device()
        super().__init__(system, t0, dt, n)
        self._there: DeviceSteps | None = None  # once it has what moves
        self._is_here = True  # whether the arrays hold what the device has

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move."""
        if not self._is_here and self._there is not None:
            self._there.fetch(self._q, self._v, self._a)
            self._is_here = True
        return super().arrays()

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start."""
        super().begin(q, v)
        self._there = None

    def change_velocities(self, v: Array) -> None:
        """Go on with other velocities [n, dim] in m/s."""
        self.arrays()
        super().change_velocities(v)
        self._there = None

    def restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        """Set the arrays to those of a checkpoint.

        Raises
        ------
        InvalidSystem
            If it is of another method or system.
        """
        super().restore(checkpoint)
        self._there = None

    def _run(self, n_steps: int) -> None:
        if not n_steps:
            return
        there = self._there = self._there or self._sent()
        self._is_here = False
        taken = there.take(n_steps, self.dt)
        self.n += taken
        if taken < n_steps:
            raise self._stopped(self._failure(), self.t, self.dt)

    def _sent(self) -> DeviceSteps:
        """Return the device with what moves."""
        from symplex.device.steps import DeviceSteps

        there = DeviceSteps(self.system)
        there.send(self._q, self._v, self._a)
        return there

    def _failure(self) -> StepFailed:
        """Return what is wrong at the positions where the device has found forces that are not finite."""
        try:
            self.system.gradient(self.arrays()["q"])
        except StepFailed as error:
            return error
        return StepFailed("forces on the device are not finite, or an element is about to invert. Try a smaller step.")
