"""Spectra: of power, of responses, and of shocks; and how the largest answers of modes are combined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.quantities import between
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array

Rule = Literal["cqc", "srss", "absolute"]

_PER_PERIOD = 40  # points of a record for each period of an oscillator: a peak between two is 0.1 % higher at most
_PER_STEP = 8  # and for each step of the record
_RESIDUAL = 60  # points of the period after a record
_MOST_POINTS = 50_000_000  # of a record that was made finer
_LEAST = 1e-100  # Hz, whose square is a number
_EVEN = 1e-6  # of a step, by which steps of a record may differ


@checked
@final
class Spectrum:
    """A positive function of the frequency, linear on logarithmic scales between given points.

    Parameters
    ----------
    frequencies : float64 [m]
        In Hz, positive and ascending.
    values : float64 [m]
        Positive, such as (m/s²)²/Hz of a power spectral density (PSD), or m/s² of a response spectrum.
    outside : {"zero", "constant"}, default "zero"
        Below the first and above the last: nothing, as of a band of noise, or the value there.

    Raises
    ------
    InvalidSystem
        If frequencies do not ascend, numbers differ, or one is not positive.
    """

    def __init__(self, frequencies: ArrayLike, values: ArrayLike, outside: Literal["zero", "constant"] = "zero"):
        f, s = (np.atleast_1d(np.array(one, dtype=float)) for one in (frequencies, values))
        if f.ndim != 1 or f.shape != s.shape or not len(f):
            raise InvalidSystem(f"Spectrum: {f.size} frequencies and {s.size} values; give one value for each.")
        if not (np.isfinite(f).all() and np.isfinite(s).all() and (f > 0.0).all() and (s > 0.0).all()):
            raise InvalidSystem("Spectrum: frequencies and values must be positive numbers.")
        if not (np.diff(f) > 0.0).all():
            raise InvalidSystem("Spectrum: frequencies must ascend (Hz).")
        if len(f) < 2 and outside == "zero":
            raise InvalidSystem("Spectrum: a band needs two frequencies, its first and its last.")
        self.frequencies, self.values, self.outside = f, s, outside

    def __repr__(self) -> str:
        f = self.frequencies
        return f"Spectrum({len(f)} points from {f[0]:g} to {f[-1]:g} Hz, outside {self.outside!r})"

    def at(self, frequencies: ArrayLike) -> Array:
        """Return the values at frequencies in Hz."""
        f = np.asarray(frequencies, dtype=float)
        with np.errstate(divide="ignore"):
            found = np.exp(np.interp(np.log(f), np.log(self.frequencies), np.log(self.values)))
        if self.outside == "constant":
            return found
        inside = (f >= self.frequencies[0] * (1.0 - 1e-12)) & (f <= self.frequencies[-1] * (1.0 + 1e-12))
        return np.where(inside, found, 0.0)

    @property
    def mean_square(self) -> float:
        """The area under it: the mean square of what has this PSD, exactly."""
        f, s = self.frequencies, self.values
        slopes = np.diff(np.log(s)) / np.diff(np.log(f)) + 1.0
        flat = np.abs(slopes) < 1e-9
        power = np.where(flat, 1.0, slopes)
        areas = np.where(flat, s[:-1] * f[:-1] * np.log(f[1:] / f[:-1]), (s[1:] * f[1:] - s[:-1] * f[:-1]) / power)
        return float(areas.sum())


@checked
def combined(values: ArrayLike, frequencies: ArrayLike, ratios: ArrayLike, rule: Rule = "cqc") -> Array:
    """Return the likely largest value of a response whose modes have largest values at different times.

    ``"srss"``: (Σ r_j²)^½; ``"absolute"``: Σ |r_j|; ``"cqc"``: (Σ ρ_ij r_i r_j)^½, the complete quadratic combination
    (Wilson, Der Kiureghian and Bayo, Earthquake Engng Struct. Dyn. 9 (1981) 187), for modes that are near each other:
    with β = ω_j/ω_i

        ρ_ij = 8 (ζ_i ζ_j)^½ (ζ_i + β ζ_j) β^{3/2} / [(1 − β²)² + 4 ζ_i ζ_j β (1 + β²) + 4 (ζ_i² + ζ_j²) β²].

    Parameters
    ----------
    values : float64 [k, …]
        r_j of each mode, with signs.
    frequencies : float64 [k]
        Of the modes, positive, in any unit.
    ratios : float or float64 [k]
        ζ.
    rule : {"cqc", "srss", "absolute"}, default "cqc"

    Raises
    ------
    InvalidSystem
        If sizes do not match, a frequency is not positive or a ratio negative.
    """
    r, w = np.asarray(values, dtype=float), np.asarray(frequencies, dtype=float)
    if r.ndim < 1 or w.shape != r.shape[:1]:
        raise InvalidSystem(f"combined: values have shape {r.shape}, for {w.size} frequencies of modes.")
    zeta = ratios_of("combined", ratios, len(w))
    if not (np.isfinite(r).all() and np.isfinite(w).all() and (w > 0.0).all()):
        raise InvalidSystem("combined: values must be finite, and frequencies positive.")
    if rule == "absolute":
        return np.abs(r).sum(axis=0)
    if rule == "srss":
        return np.sqrt((r**2).sum(axis=0))
    squares = np.einsum("ij,i...,j...->...", correlation(w, zeta), r, r)
    return np.sqrt(np.maximum(squares, 0.0))


def ratios_of(who: str, ratios: ArrayLike, k: int) -> Array:
    """Return ratios of critical damping [k], given one of all modes or one of each."""
    zeta = np.asarray(ratios, dtype=float)
    if zeta.shape not in ((), (k,)):
        raise InvalidSystem(f"{who}: ratios have shape {zeta.shape} for {k} modes; give one, or one for each.")
    if not (np.isfinite(zeta).all() and (zeta >= 0.0).all()):
        raise InvalidSystem(f"{who}: ratios of damping must be finite and not negative.")
    return np.broadcast_to(zeta, (k,)).copy()


def correlation(w: Array, zeta: Array) -> Array:
    """Return ρ [k, k] of modes of frequencies [k] and ratios of damping [k]."""
    b, zi, zj = w[None, :] / w[:, None], zeta[:, None], zeta[None, :]
    top = 8.0 * np.sqrt(zi * zj) * (zi + b * zj) * b**1.5
    below = (1.0 - b**2) ** 2 + 4.0 * zi * zj * b * (1.0 + b**2) + 4.0 * (zi**2 + zj**2) * b**2
    rho = np.divide(top, below, out=np.zeros_like(below), where=below > 0.0)
    np.fill_diagonal(rho, 1.0)
    return rho


@final
@dataclass(frozen=True)
class ShockSpectrum:
    """The largest responses of oscillators on a base that is accelerated, by their natural frequency.

    Attributes
    ----------
    frequencies : float64 [m]
        In Hz.
    ratio : float
        ζ of all of them.
    positive, negative : float64 [m]
        Largest and least absolute acceleration of the mass, in the unit of the record.
    displacement : float64 [m]
        Largest displacement relative to the base, in that unit times s².
    """

    frequencies: Array
    ratio: float
    positive: Array
    negative: Array
    displacement: Array

    @property
    def acceleration(self) -> Array:
        """The largest size of the absolute acceleration [m] (maximax)."""
        return np.maximum(self.positive, -self.negative)

    @property
    def pseudo_velocity(self) -> Array:
        """ω times the largest relative displacement [m]."""
        return 2.0 * math.pi * self.frequencies * self.displacement


@checked
def shock_spectrum(
    times: ArrayLike,
    acceleration: ArrayLike,
    frequencies: ArrayLike,
    ratio: Annotated[float, between(0.0, 0.99)] = 0.05,
) -> ShockSpectrum:
    """Return the shock response spectrum (SRS) of an acceleration a(t): its effect on oscillators.

    z̈ + 2ζω ż + ω² z = −a(t), at rest before. The record is linear between its times and nothing after them; each
    oscillator is integrated exactly (Nigam and Jennings 1969) as a digital filter, with 40 points a period and 8 a step
    or more, and for a period after the end. Records with uneven steps are interpolated to even ones of the least size.

    Parameters
    ----------
    times : float64 [n]
        In s, ascending, at least two.
    acceleration : float64 [n]
        a, in any unit.
    frequencies : float64 [m]
        Natural frequencies in Hz.
    ratio : float, default 0.05
        ζ; Q = 1/2ζ.

    Raises
    ------
    InvalidSystem
        If times do not ascend, numbers differ, or a frequency is not positive or too high for the record.
    """
    t, a = (np.array(one, dtype=float) for one in (times, acceleration))
    f = np.atleast_1d(np.array(frequencies, dtype=float))
    if t.ndim != 1 or t.shape != a.shape or len(t) < 2 or not (np.isfinite(t).all() and np.isfinite(a).all()):
        raise InvalidSystem(f"shock_spectrum: {t.size} times and {a.size} accelerations; give as many, two at least.")
    if not (np.diff(t) > 0.0).all():
        raise InvalidSystem("shock_spectrum: times must ascend (s).")
    if f.ndim != 1 or not len(f) or not (np.isfinite(f).all() and (f > _LEAST).all()):
        raise InvalidSystem("shock_spectrum: frequencies must be positive (Hz).")
    h = float(np.diff(t).min())
    if np.ptp(np.diff(t)) > _EVEN * h:
        n = math.ceil((t[-1] - t[0]) / h)
        if n > _MOST_POINTS:
            raise InvalidSystem(f"shock_spectrum: a record with uneven steps would have {n:,} points; give even ones.")
        even = np.linspace(t[0], t[-1], n + 1)
        t, a = even, np.interp(even, t, a)
    h = float(t[-1] - t[0]) / (len(t) - 1)
    if len(t) * max(f.max() * h * _PER_PERIOD, _PER_STEP) > _MOST_POINTS:
        raise InvalidSystem(
            f"shock_spectrum: {f.max():g} Hz is too high for a record of {t[-1] - t[0]:g} s: it would have more than "
            f"{_MOST_POINTS:,} points."
        )
    found = np.array([_peaks(a, h, float(one), ratio) for one in f])
    return ShockSpectrum(f, ratio, found[:, 0], found[:, 1], found[:, 2])


def _peaks(a: Array, h: float, frequency: float, ratio: float) -> tuple[float, float, float]:
    """Return the largest and the least absolute acceleration of an oscillator, and its largest displacement."""
    from scipy.linalg import expm
    from scipy.signal import lfilter

    w, parts = 2.0 * math.pi * frequency, max(_PER_STEP, math.ceil(h * frequency * _PER_PERIOD))
    places = np.arange((len(a) - 1) * parts + 1) / parts
    a, h = np.interp(places, np.arange(len(a)), a), h / parts
    # [z, ż, a, da/dt] of a step, in units of 1/ω for the time.
    scale, x = w * h, -1.0 / w**2
    step = expm(scale * np.array([[0, 1, 0, 0], [-1, -2 * ratio, x, 0], [0, 0, 0, 1], [0, 0, 0, 0]]))
    E, of_a, of_rate = step[:2, :2], step[:2, 2], step[:2, 3] / scale
    first, second = of_a - of_rate, of_rate  # of the accelerations at both ends
    drive, trace, determinant = E @ second + first, np.trace(E), np.linalg.det(E)
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [-(w**2), -2.0 * ratio * w**2]])  # z, ż/ω, absolute acceleration
    out = []
    for row in rows:
        direct = row @ second
        b = [direct, row @ drive - direct * trace, row @ (E - trace * np.eye(2)) @ drive + direct * determinant]
        begin = [-b[0] * a[0], row @ first * a[0] - b[1] * a[0]]  # from rest, whatever a is there
        out.append(lfilter(b, [1.0, -trace, determinant], a, zi=begin)[0])
    # After the record it swings freely; the largest values are in the first period.
    end: Array = np.array([out[0][-1], out[1][-1]], float)
    beyond: list[Array] = [np.zeros(2)]
    turn = expm(2.0 * math.pi / _RESIDUAL * np.array([[0.0, 1.0], [-1.0, -2.0 * ratio]]))
    for _ in range(_RESIDUAL + 1):
        beyond.append(end)
        end = turn @ end
    free = np.array(beyond)
    accelerations = np.concatenate([out[2], free @ rows[2]])
    return (
        float(accelerations.max()),
        float(accelerations.min()),
        float(max(np.abs(out[0]).max(), np.abs(free[:, 0]).max())),
    )
