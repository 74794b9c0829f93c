"""Random vibration of a scenario, and its response to an earthquake or shock known by its response spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import AXES, Column, Kind
from symplex.errors import InvalidSystem, ScenarioError, SymplexError
from symplex.fem.energies.energy import Array
from symplex.meshes.pictures.figures import COLOURS, Curve, Panel
from symplex.runs.harmonic_amplitudes import swings
from symplex.runs.linearised import Linearised
from symplex.runs.progress import si
from symplex.runs.response import Asked, asked_of
from symplex.runs.study import SavedStudy, report_about
from symplex.runs.tables import table
from symplex.scenario.messages import place
from symplex.scenario.scenario import Scenario
from symplex.time.modes.quadratic import ComplexArray
from symplex.time.modes.response import superposed
from symplex.time.modes.small_motions import SmallMotions
from symplex.time.modes.spectra import Spectrum
from symplex.time.modes.spectral_response import (
    SpectrumResponse,
    modal_ratios,
    resolving_frequencies,
    spectrum_response,
    translation_of,
)

_SEEN = 1e-6  # of the largest of its unit, below which a curve is not plotted
_NOTHING = 1e-12  # of the largest of its unit: what is rounding


class Quantity(NamedTuple):
    """A number that is reported: of what, which part, its column, unit and kind."""

    what: str
    part: str
    column: str
    unit: str
    kind: Kind


def _is_seen(quantities: Sequence[Quantity], values: Array, k: int) -> bool:
    """Return whether value k is more than nothing next to those of its unit."""
    alike = [values[i] for i, one in enumerate(quantities) if one.unit == quantities[k].unit]
    return bool(values[k] > _NOTHING * max(alike))


class Linear(NamedTuple):
    """What is reported of a small motion, as a linear function of its displacements, velocities and accelerations.

    Attributes
    ----------
    displaced, moving, accelerated : complex128 [c]
        What each quantity has of each of these.
    """

    displaced: ComplexArray
    moving: ComplexArray
    accelerated: ComplexArray


class Reported:
    """The quantities that are reported at places and by probes, of which displacements are relative to the base."""

    def __init__(self, asked: Asked):
        self._asked = asked
        self._probes = [probe for some in asked.probed.values() for probe in some]
        self.quantities: list[Quantity] = []
        for name in asked.places:
            for what, unit in (("displacement", "m"), ("acceleration", "m/s²")):
                kind: Kind = "length" if what == "displacement" else "other"
                self.quantities += [Quantity(f"{name} {what}", a, f"{name}_{what}_{a}", unit, kind) for a in AXES]
        for name, some in asked.probed.items():
            for c in (column for probe in some for column in probe.columns):
                part = next((axis for axis in AXES if c.name.replace(f"_{axis}", "", 1) == c.vector), "")
                what = f"{name} {c.subject.removesuffix('_mean').replace('_', ' ')}"
                self.quantities.append(Quantity(what, part, f"{name}_{c.name}", c.unit, c.kind))

    def of(self, u: Array | ComplexArray, relative: Array | ComplexArray | None = None) -> Linear:
        """Return what is reported of displacements [n, 3] in m; those relative to the base, if these are others."""
        absolute: ComplexArray = np.array(u, complex)
        rel: ComplexArray = absolute if relative is None else np.array(relative, complex)
        zero, parts = np.zeros(3, complex), []
        for nodes in self._asked.places.values():
            here = absolute[nodes].mean(axis=0)
            parts += [(rel[nodes].mean(axis=0), zero, zero), (zero, zero, here)]
        if self._probes:
            about = self._asked.about
            displaced = swings(about, self._probes, 0.0, rel)
            moving, accelerated = self._rates(about, absolute)
            parts.append((displaced, moving, accelerated))
        return Linear(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _rates(self, about: Linearised, u: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        """Return what probes report of velocities and of accelerations u: D_q u + iω D_v u − ω² D_a u at ω = 0, ±1."""
        at_rest, ahead, back = (swings(about, self._probes, omega, u) for omega in (0.0, 1.0, -1.0))
        return (ahead - back) / 2.0j, at_rest - 0.5 * (ahead + back)

    def of_forces(self, forces: Array) -> ComplexArray:
        """Return what probes report of forces [n, 3] in N that supports hold."""
        n = 6 * len(self._asked.places)
        if not self._probes or not forces.any():
            return np.zeros(len(self.quantities), complex)
        found = swings(self._asked.about, self._probes, 0.0, np.zeros(forces.shape, complex), forces.astype(complex))
        return np.concatenate([np.zeros(n, complex), found])


# -- random vibration ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class RandomFound(SavedStudy):
    """The random vibration of a scenario.

    Attributes
    ----------
    about : Linearised
    frequencies : float64 [m]
        In Hz.
    quantities : list of Quantity
    density : float64 [m, c]
        Their one-sided power spectral densities, by Hz.
    excitation : Spectrum
    """

    kind = "response"
    about: Linearised
    frequencies: Array
    quantities: list[Quantity]
    density: Array
    excitation: Spectrum

    @cached_property
    def rms(self) -> Array:
        """The root mean square [c] of each quantity."""
        return np.sqrt(np.trapezoid(self.density, self.frequencies, axis=0))

    @cached_property
    def crossings(self) -> Array:
        """How often each quantity crosses zero upwards [c], in Hz (Rice)."""
        fast = np.sqrt(np.trapezoid(self.frequencies[:, None] ** 2 * self.density, self.frequencies, axis=0))
        return np.divide(fast, self.rms, out=np.zeros_like(fast), where=self.rms > 0.0)

    def rows(self) -> list[dict[str, float]]:
        """Return a row for each frequency: the excitation, and densities."""
        names = ["frequency", "excitation", *(q.column for q in self.quantities)]
        values = np.column_stack([self.frequencies, self.excitation.at(self.frequencies), self.density])
        return [dict(zip(names, row, strict=True)) for row in values.tolist()]

    def columns(self) -> list[Column]:
        """Return the columns of the table."""
        return [
            Column("frequency", "Hz"),
            Column("excitation", "1/Hz"),
            *(Column(q.column, f"({q.unit or '1'})²/Hz") for q in self.quantities),
        ]

    def panels(self) -> list[Panel]:
        """Return densities over the frequency, on logarithmic scales."""
        found, over = [], {"x": "frequency (Hz)", "log_x": True}
        for unit in dict.fromkeys(q.unit for q in self.quantities):
            own = [k for k, q in enumerate(self.quantities) if q.unit == unit]
            largest, colours, curves = self.rms[own].max(), cycle(COLOURS), []
            for k in own:
                q = self.quantities[k]
                if self.rms[k] > _SEEN * largest:
                    label = f"{q.what}{q.part and ', '}{q.part}"
                    density = np.where(self.density[:, k] > 0.0, self.density[:, k], np.nan)
                    curves.append(Curve(self.frequencies, density, label, next(colours)))
            if curves:
                found.append(Panel("power spectral density", f"({unit or '1'})²/Hz", curves=curves, log=True, **over))
        return found

    def report(self, folder: str | Path | None = None) -> str:
        """Return root mean squares, as text."""
        lines = [*report_about(self.about.summary()), *self._numbers()]
        return table([*lines, *([] if folder is None else [("results", str(folder))])])

    def _numbers(self) -> list[tuple[str, str]]:
        band = self.excitation.frequencies
        rms = si(float(np.sqrt(self.excitation.mean_square)), "", 5).strip()
        return [
            ("excitation", f"{band[0]:g} to {band[-1]:g} Hz, rms {rms} of its amplitude"),
            *(
                (f"rms of {q.what}{q.part and ' '}{q.part}", f"{si(float(x), q.unit, 5).strip()} at {f:.5g} Hz")
                for k, (q, x, f) in enumerate(zip(self.quantities, self.rms, self.crossings, strict=True))
                if _is_seen(self.quantities, self.rms, k)
            ),
        ]

    def _picture(self) -> tuple[Path, str]:
        return Path("random.png"), self.about.problem.scenario.title

    def _reported(self) -> list[tuple[str, str]]:
        return [("scenario", self.about.problem.scenario.path.name), *self._numbers()]

    def summary(self) -> dict[str, Any]:
        """Return root mean squares or largest values, with units."""
        return {
            "analysis": "random vibration",
            "excitation_rms": float(np.sqrt(self.excitation.mean_square)),
            "rms": {q.column: float(x) for q, x in zip(self.quantities, self.rms, strict=True)},
            "zero_crossings": {q.column: float(x) for q, x in zip(self.quantities, self.crossings, strict=True)},
            "units": {q.column: q.unit for q in self.quantities},
            **self.about.summary(),
        }

    def _scenario_text(self) -> str:
        return self.about.problem.scenario.text


@checked
def find_random(scenario: Scenario, at: str | float = "start") -> RandomFound:
    """Return the random vibration of a scenario with a ``psd`` in its table [response].

    Displacements are relative to a base that moves, velocities and accelerations absolute.

    Parameters
    ----------
    scenario : Scenario
    at : {"start"} or float
        About which state: that of the start, or at a time in s.

    Raises
    ------
    SymplexError
        If there is no such table, the scenario is not valid, or a mode in the band is not damped.
    """
    asked = _asked(scenario, at, "psd")
    assert asked.table.psd is not None, "it is asked for"
    assert asked.modes is not None, "its modes as well"
    about, excited, ratio = asked.about, asked.excited, asked.table.ratio or 0.0
    reported = Reported(asked)
    if asked.table.loss_factor and any(
        probe.name.startswith("reaction") for some in asked.probed.values() for probe in some
    ):
        raise ScenarioError(
            f"{scenario.path.name}: {place('response')}: reactions with a loss_factor are not supported."
        )
    try:
        spectrum = asked.table.psd.spectrum(scenario.path.parent, "zero")
        zeta = modal_ratios(about.system, about.state, asked.modes, ratio, asked.table.loss_factor)
        f = resolving_frequencies(spectrum, asked.modes.frequencies, zeta)
        found = np.zeros((len(f), len(reported.quantities)), complex)
        motions, omega = SmallMotions(about.system, about.state), 2.0 * np.pi * f
        modal = [reported.of(shape) for shape in asked.modes.shapes]
        zero = np.zeros_like(excited.forces)
        for forces, base, by in (
            (excited.forces, excited.base, np.ones_like(f)),
            (zero, excited.base_acceleration, -1.0 / omega**2),
        ):
            if not (forces.any() or base.any()):
                continue
            given = motions, omega, forces.astype(complex), base.astype(complex), by
            parts = superposed(*given, asked.table.loss_factor, asked.modes, np.asarray(ratio))
            every = [(parts.eta[:, k], of) for k, of in enumerate(modal)]
            every.append((np.ones_like(f, complex), reported.of(parts.rest)))
            shift = translation_of(about.system, base) if base.any() and _is_translation(base) else 0.0
            every.append((by.astype(complex), reported.of(parts.of_base, parts.of_base - shift)))
            for eta, of in every:
                found += eta[:, None] * (
                    of.displaced + 1j * omega[:, None] * of.moving - omega[:, None] ** 2 * of.accelerated
                )
            found += reported.of_forces(forces)
    except SymplexError as error:
        raise _placed(scenario, error) from None
    return RandomFound(about, f, reported.quantities, np.abs(found) ** 2 * spectrum.at(f)[:, None], spectrum)


def _is_translation(base: Array) -> bool:
    vectors = base[np.any(base != 0.0, axis=1)]
    return bool(np.abs(vectors - vectors[0]).max() <= _NOTHING * np.abs(vectors).max())


def _asked(scenario: Scenario, at: str | float, key: str) -> Asked:
    """Return what [response] asks for, with a psd or a spectrum."""
    given = scenario.tables.response
    if given is not None and getattr(given, key) is None:
        raise ScenarioError(f"{scenario.path.name}: {place('response')}: has no {key}, which this analysis needs.")
    return asked_of(scenario, at)


def _placed(scenario: Scenario, error: SymplexError) -> SymplexError:
    return type(error)(f"{scenario.path.name}: {place('response')}: {error}")


# -- response spectra ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class SpectrumFound(SavedStudy):
    """The largest response of a scenario to an earthquake or shock, by its response spectrum.

    Attributes
    ----------
    about : Linearised
    response : SpectrumResponse
    quantities : list of Quantity
    values : float64 [k, c]
        Of each mode.
    missing : float64 [c]
        Of the modes that are left out; zero if they do not count.
    base : float
        The largest acceleration in m/s² that the spectrum multiplies.
    """

    kind = "response"
    about: Linearised
    response: SpectrumResponse
    quantities: list[Quantity]
    values: Array
    missing: Array
    base: float

    @property
    def effective_masses(self) -> Array:
        """Γ² [k] in kg, of a base that moves by 1."""
        return self.response.participation**2 / self.base**2

    @cached_property
    def largest(self) -> Array:
        """The likely largest value [c] of each quantity."""
        return self.response.combined(self.values, self.missing)

    def rows(self) -> list[dict[str, float]]:
        """Return a row for each mode."""
        r = self.response
        names = [column.name for column in self.columns()]
        own = np.column_stack([np.arange(1, len(self.values) + 1), r.frequencies, r.ratios, r.participation])
        values = np.column_stack([own, self.effective_masses, r.accelerations, self.values])
        return [dict(zip(names, row, strict=True)) for row in values.tolist()]

    def columns(self) -> list[Column]:
        """Return the columns of the table."""
        return [
            Column("mode", kind="count"),
            Column("frequency", "Hz"),
            Column("damping_ratio"),
            Column("participation", "kg^½"),
            Column("effective_mass", "kg"),
            Column("spectrum"),
            *(Column(q.column, q.unit, q.kind) for q in self.quantities),
        ]

    def panels(self) -> list[Panel]:
        """Return the spectrum at the modes, and their effective masses."""
        r, over = self.response, {"x": "frequency (Hz)", "log_x": True}
        return [
            Panel("spectrum at the modes", "1", curves=[Curve(r.frequencies, r.accelerations, mark="o")], **over),
            Panel(
                "effective mass", "kg", curves=[Curve(r.frequencies, self.effective_masses, mark="o", style="")], **over
            ),
        ]

    def report(self, folder: str | Path | None = None) -> str:
        """Return the likely largest values, as text."""
        lines = [*report_about(self.about.summary()), *self._numbers()]
        return table([*lines, *([] if folder is None else [("results", str(folder))])])

    def _numbers(self) -> list[tuple[str, str]]:
        r = self.response
        rest = "" if r.missing is None else ", and what they leave out as rigid"
        return [
            ("response spectrum", f"{len(r.frequencies)} modes by {r.rule.upper()}{rest}"),
            ("effective mass", f"{float(self.effective_masses.sum()):.5g} kg of the modes"),
            *(
                (f"largest {q.what}{q.part and ' '}{q.part}", si(float(x), q.unit, 5).strip())
                for k, (q, x) in enumerate(zip(self.quantities, self.largest, strict=True))
                if _is_seen(self.quantities, self.largest, k)
            ),
        ]

    def _picture(self) -> tuple[Path, str]:
        return Path("spectrum.png"), self.about.problem.scenario.title

    def _reported(self) -> list[tuple[str, str]]:
        return [("scenario", self.about.problem.scenario.path.name), *self._numbers()]

    def summary(self) -> dict[str, Any]:
        """Return root mean squares or largest values, with units."""
        return {
            "analysis": "response spectrum",
            "rule": self.response.rule,
            "effective_mass": float(self.effective_masses.sum()),
            "largest": {q.column: float(x) for q, x in zip(self.quantities, self.largest, strict=True)},
            "units": {q.column: q.unit for q in self.quantities},
            **self.about.summary(),
        }

    def _scenario_text(self) -> str:
        return self.about.problem.scenario.text


@checked
def find_spectrum(scenario: Scenario, at: str | float = "start") -> SpectrumFound:
    """Return the response of a scenario to the response ``spectrum`` in its table [response].

    Supports with an ``acceleration`` are the base. Displacements are relative to it, accelerations absolute.

    Parameters
    ----------
    scenario : Scenario
    at : {"start"} or float
        About which state: that of the start, or at a time in s.

    Raises
    ------
    SymplexError
        If there is no such table, the scenario is not valid, something else excites it, or a mode is not stable.
    """
    asked = _asked(scenario, at, "spectrum")
    given, excited, about = asked.table, asked.excited, asked.about
    assert given.spectrum is not None, "it is asked for"
    assert asked.modes is not None, "its modes as well"
    try:
        if excited.forces.any() or excited.base.any() or not excited.base_acceleration.any():
            raise InvalidSystem("a response spectrum is of supports with an acceleration; name these by `by`.")
        spectrum = given.spectrum.spectrum(scenario.path.parent, "constant")
        found = spectrum_response(
            about.system,
            about.state,
            spectrum,
            asked.modes,
            excited.base_acceleration,
            ratio=given.ratio or 0.0,
            loss_factor=given.loss_factor,
            rule=given.rule,
            missing_mass=given.missing_mass,
        )
    except SymplexError as error:
        raise _placed(scenario, error) from None
    reported = Reported(asked)
    squares = (2.0 * np.pi * found.frequencies) ** 2
    modal = [reported.of(u) for u in found.displacements]
    values = np.array(
        [of.displaced + w2**0.5 * of.moving + w2 * of.accelerated for of, w2 in zip(modal, squares, strict=True)]
    )
    missing = np.zeros(len(reported.quantities))
    if found.missing is not None:
        # What is left of a rigid motion has the acceleration of rigid bodies, and follows from its displacement.
        rigid = float(spectrum.values[-1])
        shapes = np.tensordot(found.participation, asked.modes.shapes, 1)
        static = _static_answer(about, excited.base_acceleration)
        left = np.real(reported.of(rigid * (static - shapes)).accelerated)
        missing = np.abs(np.real(reported.of(found.missing).displaced)) + np.abs(left)
    base = float(np.linalg.norm(excited.base_acceleration, axis=1).max())
    return SpectrumFound(about, found, reported.quantities, np.real(values), missing, base)


def _static_answer(about: Linearised, base: Array) -> Array:
    """Return the static displacements [n, 3] in m with a base that is displaced."""
    from symplex.time.modes.response import static_response

    motions = SmallMotions(about.system, about.state)
    return base + np.real(static_response(motions, np.zeros(base.shape, complex), base.astype(complex)))
