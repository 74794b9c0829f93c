"""Responses by modes to what is known by its spectrum only: random vibration, and response spectra."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.quantities import not_negative
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.modes.natural import Modes
from symplex.time.modes.response import frequency_response, static_response
from symplex.time.modes.small_motions import SmallMotions
from symplex.time.modes.spectra import Rule, Spectrum, combined, ratios_of

_BETWEEN = 1000  # points of a band, besides those at resonances
_AT_MODE = 401  # points at each resonance


@checked
def resolving_frequencies(spectrum: Spectrum, frequencies: ArrayLike, ratios: ArrayLike) -> Array:
    """Return frequencies [m] in Hz of the band of a spectrum at which resonances are resolved.

    They are dense around each natural frequency f, at f (1 + ζ tan θ) with even θ, so that the trapezium rule
    integrates the peak to 1e-4.

    Parameters
    ----------
    spectrum : Spectrum
    frequencies : float64 [k]
        Natural frequencies in Hz.
    ratios : float or float64 [k]
        Their ratios of critical damping, positive.

    Raises
    ------
    InvalidSystem
        If a mode in the band is not damped: then nothing bounds its response.
    """
    natural = np.atleast_1d(np.asarray(frequencies, dtype=float))
    if natural.ndim != 1 or not np.isfinite(natural).all():
        raise InvalidSystem("random vibration: natural frequencies must be a list of finite numbers (Hz).")
    zeta = ratios_of("random vibration", ratios, len(natural))
    first, last = float(spectrum.frequencies[0]), float(spectrum.frequencies[-1])
    inside = (natural > 0.5 * first) & (natural < 2.0 * last)
    if not (zeta[inside] > 0.0).all():
        k = int(np.flatnonzero(inside & ~(zeta > 0.0))[0])
        raise InvalidSystem(
            f"random vibration: mode {k + 1} at {natural[k]:.6g} Hz is not damped, so that nothing bounds its "
            "response; give a ratio of critical damping."
        )
    theta = np.linspace(-0.5 * math.pi, 0.5 * math.pi, _AT_MODE + 2)[1:-1]
    at_modes = [f * (1.0 + z * np.tan(theta)) for f, z in zip(natural[inside], zeta[inside], strict=True)]
    found = np.concatenate([np.geomspace(first, last, _BETWEEN), spectrum.frequencies, *at_modes])
    return np.unique(found[(found >= first) & (found <= last)])


@checked
def modal_ratios(
    system: System,
    state: State,
    modes: Modes,
    ratio: ArrayLike = 0.0,
    loss_factor: Annotated[float, not_negative("1")] = 0.0,
) -> Array:
    """Return ζ [k] of modes: what is given, that of the system by its diagonal, and half the loss factor.

    Parameters
    ----------
    system : System
    state : State
        As of `natural_modes`.
    modes : Modes
    ratio : float or float64 [k], default 0
    loss_factor : float, default 0

    Raises
    ------
    InvalidSystem
        If a ratio is negative, or there are others than of each mode.
    """
    motions = SmallMotions(system, state)
    omega = np.abs(modes.angular)
    found = ratios_of("modal_ratios", ratio, len(omega)) + 0.5 * loss_factor
    if motions.damping is not None:
        shapes = modes.shapes.reshape(len(omega), -1)
        C = np.einsum("ki,ki->k", shapes, (motions.matrix(motions.damping) @ shapes.T).T)
        found = found + np.divide(0.5 * C, omega, out=np.zeros_like(omega), where=omega > 0.0)
    return np.array(found)


@final
@dataclass(frozen=True)
class RandomResponse:
    """The steady response to stationary random excitation.

    Attributes
    ----------
    frequencies : float64 [m]
        In Hz.
    nodes : int32 [p]
    density : float64 [m, p, dim]
        The one-sided power spectral density of displacements in m²/Hz.
    """

    frequencies: Array
    nodes: np.ndarray
    density: Array

    def rms(self, derivative: int = 0) -> Array:
        """Return the root mean square [p, dim] of displacements in m, of their first (m/s) or second derivative (m/s²).

        Raises
        ------
        InvalidSystem
            If it is another derivative.
        """
        if derivative not in (0, 1, 2):
            raise InvalidSystem(f"RandomResponse: the derivative must be 0, 1 or 2, got {derivative}.")
        power = (2.0 * math.pi * self.frequencies) ** (2 * derivative)
        return np.sqrt(np.trapezoid(power[:, None, None] * self.density, self.frequencies, axis=0))


@checked
def random_response(
    system: System,
    state: State,
    psd: Spectrum,
    modes: Modes,
    *,
    forces: Array | None = None,
    base_acceleration: Array | None = None,
    ratio: ArrayLike = 0.0,
    loss_factor: Annotated[float, not_negative("1")] = 0.0,
    nodes: Nodes | None = None,
    relative: bool = False,
) -> RandomResponse:
    """Return the response to a random excitation by its power spectral density, by superposition of modes.

    S_u(f) = |H(f)|² S(f), with H of `frequency_response` at frequencies that resolve all resonances.

    Parameters
    ----------
    system : System
    state : State
        An equilibrium.
    psd : Spectrum
        One-sided, of the factor of the forces or accelerations, in 1/Hz; zero outside.
    modes : Modes
    forces, base_acceleration, ratio, loss_factor, nodes : optional
        As of `frequency_response`: what the factor multiplies, all of it in phase.
    relative : bool, default False
        Whether displacements are relative to the base, which then moves as a whole along one vector.

    Raises
    ------
    InvalidSystem
        As `frequency_response`; if a mode in the band is not damped, or the base moves otherwise.
    """
    zeta = modal_ratios(system, state, modes, ratio, loss_factor)
    f = resolving_frequencies(psd, modes.frequencies, zeta)
    options = {"modes": modes, "ratio": ratio, "loss_factor": loss_factor, "nodes": nodes}
    given = {"forces": forces, "base_acceleration": base_acceleration}
    given = {name: np.asarray(one, complex) for name, one in given.items() if one is not None}
    found = frequency_response(system, state, f, **given, **options)
    u = found.displacements
    if relative:
        if base_acceleration is None or forces is not None:
            raise InvalidSystem("random_response: relative goes with base_acceleration alone.")
        u = u + translation_of(system, base_acceleration) / (2.0 * math.pi * f)[:, None, None] ** 2
    return RandomResponse(f, found.nodes, np.abs(u) ** 2 * psd.at(f)[:, None, None])


def translation_of(system: System, base: Array) -> Array:
    """Return the vector [dim] along which all of a base moves that moves at all; InvalidSystem if it is not one."""
    moving = np.any(base != 0.0, axis=1)
    vectors = base[moving]
    if not len(vectors) or np.abs(vectors - vectors[0]).max() > 1e-12 * np.abs(vectors).max():
        raise InvalidSystem("motions relative to the base need one that moves along one vector, the same everywhere.")
    return vectors[0]


@final
@dataclass(frozen=True)
class SpectrumResponse:
    """The largest answers of modes to a motion of the base that is known by its response spectrum.

    Attributes
    ----------
    frequencies : float64 [k]
        Of the modes, in Hz.
    ratios : float64 [k]
        ζ.
    participation : float64 [k]
        Γ = φᵀ M u_s for the static answer u_s to the base, in kg^(1/2).
    accelerations : float64 [k]
        The spectrum at the frequencies, in m/s² for a base of 1.
    displacements : float64 [k, n, dim]
        Γ S_a/ω² φ in m, relative to the base.
    missing : float64 [n, dim] or None
        The static displacement under the inertia that the modes leave out, at the acceleration of rigid bodies.
    rule : str
        By which they are combined.
    """

    frequencies: Array
    ratios: Array
    participation: Array
    accelerations: Array
    displacements: Array
    missing: Array | None
    rule: Rule

    def combined(self, values: Array, of_missing: Array | None = None) -> Array:
        """Return the likely largest value of a response with values [k, …] in the modes, and one of what is missing."""
        found = combined(values, self.frequencies, self.ratios, self.rule)
        return found if of_missing is None else np.sqrt(found**2 + of_missing**2)

    @property
    def largest(self) -> Array:
        """The likely largest displacements [n, dim] in m relative to the base."""
        return self.combined(self.displacements, self.missing)


@checked
def spectrum_response(
    system: System,
    state: State,
    spectrum: Spectrum,
    modes: Modes,
    base_acceleration: Array,
    *,
    ratio: ArrayLike = 0.05,
    loss_factor: Annotated[float, not_negative("1")] = 0.0,
    rule: Rule = "cqc",
    missing_mass: bool = True,
) -> SpectrumResponse:
    """Return the response to an earthquake or a shock at the base by its response spectrum.

    Each mode answers with u_j = Γ_j S_a(f_j)/ω_j² φ_j at most, relative to the base; `SpectrumResponse.combined` gives
    the likely largest value of anything that is linear in them.

    Parameters
    ----------
    system : System
    state : State
        An equilibrium.
    spectrum : Spectrum
        S_a, the largest absolute acceleration of an oscillator for a base of 1, for the damping of the modes.
    modes : Modes
        All stable.
    base_acceleration : float64 [n, dim]
        What the spectrum multiplies, at coordinates that are held; zero elsewhere.
    ratio, loss_factor : optional
        As of `frequency_response`; for the rule ``"cqc"``.
    rule : {"cqc", "srss", "absolute"}, default "cqc"
        See `combined`.
    missing_mass : bool, default True
        Whether modes that are left out count as static, with the acceleration of the highest frequency of the spectrum.

    Raises
    ------
    InvalidSystem
        If the base moves nodes that are free or nothing, or a mode is not stable or rigid.
    """
    base = np.asarray(base_acceleration, float)
    if base.shape != system.fixed.shape or not np.isfinite(base).all() or not base.any():
        raise InvalidSystem(
            f"spectrum_response: base_acceleration must be finite, of the shape {system.fixed.shape}, and not zero; "
            f"its shape is {base.shape}."
        )
    if base[~system.fixed].any():
        node = int(np.argwhere((base != 0.0) & ~system.fixed)[0, 0])
        raise InvalidSystem(f"spectrum_response: the base moves node {node}, which no support holds.")
    if not (modes.frequencies > 0.0).all():
        k = int(np.argmin(modes.frequencies > 0.0))
        raise InvalidSystem(
            f"spectrum_response: mode {k + 1} is {modes.kinds[k]}; response spectra are of what its base holds, stably."
        )
    motions = SmallMotions(system, state)
    u_s = base + np.real(static_response(motions, np.zeros(base.shape, complex), base.astype(complex)))
    weighed = (motions.mass @ u_s.ravel()).reshape(base.shape)
    participation = np.einsum("kni,ni->k", modes.shapes, weighed)
    accelerations, squares = spectrum.at(modes.frequencies), modes.angular**2
    u = (participation * accelerations / squares)[:, None, None] * modes.shapes
    missing = None
    if missing_mass:
        left = u_s - np.tensordot(participation, modes.shapes, 1)
        rigid = float(spectrum.values[-1])
        f = rigid * (motions.mass @ left.ravel()).reshape(base.shape)
        missing = np.array(static_response(motions, f.astype(complex), np.zeros(base.shape, complex)).real, float)
    zeta = modal_ratios(system, state, modes, ratio, loss_factor)
    return SpectrumResponse(modes.frequencies, zeta, participation, accelerations, u, missing, rule)
