"""What probes report of small harmonic motions: how much each of their numbers swings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from symplex.fem.energies.energy import Array
from symplex.fem.outputs.probe import Observation, Probe
from symplex.runs.linearised import Linearised
from symplex.time.modes.quadratic import ComplexArray

_STEP = 1e-5  # of the size of the system, by which motions are to either side of the state


def swings(
    about: Linearised, probes: Sequence[Probe], omega: complex, u: ComplexArray, forces: ComplexArray | None = None
) -> ComplexArray:
    """Return the complex amplitudes [columns] of the numbers of probes in the motion Re(u e^{iωt}) about a state.

    They are the derivatives of these numbers by positions, velocities iω u and accelerations −ω² u, from differences to
    either side.

    Parameters
    ----------
    about : Linearised
    probes : sequence of Probe
        With numbers that have derivatives at the state.
    omega : complex
        In rad/s.
    u : complex128 [n, 3]
        In m.
    forces : complex128 [n, 3], optional
        In N, which swing with it and are none of the system: supports hold them too.
    """
    u = np.asarray(u, complex)
    size = float(np.abs(u).max(initial=0.0))
    # Forces on supports alone move nothing, and reactions are linear in them.
    step = _STEP * float(np.linalg.norm(np.ptp(about.state.q, axis=0))) / size if size > 0.0 else 1.0
    others = np.zeros_like(u) if forces is None else step * forces
    motion = (step * u, 1j * omega * step * u, -(omega**2) * step * u, others)
    real = _difference(about, probes, [np.asarray(part.real, float) for part in motion])
    if not any(part.imag.any() for part in motion):
        return (real / (2.0 * step)).astype(complex)
    imaginary = _difference(about, probes, [np.asarray(part.imag, float) for part in motion])
    return (real + 1j * imaginary) / (2.0 * step)


def _difference(about: Linearised, probes: Sequence[Probe], motion: Sequence[Array]) -> Array:
    """Return the numbers a little to one side less those to the other."""
    numbers = []
    for sign in (1.0, -1.0):
        dq, dv, da, forces = (sign * part for part in motion)
        state = replace(about.state, q=about.state.q + dq, v=dv, a=da)
        seen = Observation(about.system, state, constraint_forces=lambda at=forces: at)
        numbers.append(np.concatenate([probe.values(seen) for probe in probes]))
    return numbers[0] - numbers[1]
