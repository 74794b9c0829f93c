"""The harmonic response of a scenario: computed, and kept in a folder with a table and a plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import AXES, Column, Kind
from symplex.errors import ScenarioError
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.outputs.field_probes import NodalProbe
from symplex.fem.outputs.probe import Probe
from symplex.meshes.pictures.figures import COLOURS, Curve, Panel
from symplex.runs.harmonic_amplitudes import swings
from symplex.runs.linearised import Linearised, linearised
from symplex.runs.progress import si
from symplex.runs.study import SavedStudy, report_about
from symplex.runs.tables import table
from symplex.scenario.messages import place
from symplex.scenario.response import Excitation, Place, ProbePlace, ResponseTable, excitation
from symplex.scenario.scenario import Problem, Scenario
from symplex.scenario.selections import nodes_in
from symplex.time.modes.natural import Modes, natural_modes
from symplex.time.modes.quadratic import ComplexArray
from symplex.time.modes.response import frequency_response
from symplex.time.modes.small_motions import SmallMotions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KEPT = 2**22  # displacements at most that are kept at once
_SEEN = 1e-6  # of the largest amplitude in its unit, below which a component is not plotted


@dataclass(frozen=True, repr=False)
class ResponseFound(SavedStudy):
    """The harmonic response of a scenario.

    Attributes
    ----------
    about : Linearised
        What it is about.
    frequencies : float64 [m]
        In Hz.
    places : dict of str to complex128 [m, 3]
        The mean displacement u in m at each place, of the motion Re(u e^{iωt}).
    modes : Modes or None
        Those that were superposed.
    probes : dict of str to dict of Column to complex128 [m]
        The amplitudes of the numbers of each probe, in the same sense.
    """

    kind = "response"
    about: Linearised
    frequencies: Array
    places: dict[str, ComplexArray]
    modes: Modes | None
    probes: Mapping[str, dict[Column, ComplexArray]] = field(default_factory=lambda: MappingProxyType({}))

    def columns(self) -> list[Column]:
        """Return the frequency, and amplitudes and phases in degrees, from −180 to 180, negative where late."""
        found = [Column("frequency", "Hz")]
        for curve in self.curves:
            found += [Column(f"{curve.column}_amplitude", curve.unit, curve.kind), Column(f"{curve.column}_phase", "°")]
        return found

    def rows(self) -> list[dict[str, float]]:
        """Return a row for each frequency."""
        values = [self.frequencies]
        for curve in self.curves:
            values += [np.abs(curve.values), np.degrees(np.angle(curve.values)) + 0.0]
        names = [column.name for column in self.columns()]
        return [dict(zip(names, row, strict=True)) for row in np.transpose(values).tolist()]

    def summary(self) -> dict[str, Any]:
        """Return the method, the band and the peaks."""
        modes = self.modes
        return {
            **self.about.summary(),
            "method": "direct" if modes is None else f"superposition of {len(modes.frequencies)} modes",
            "frequencies": [float(self.frequencies.min()), float(self.frequencies.max())],
            "peaks": {
                name: {"frequency": frequency, "amplitude": amplitude, "unit": curve.unit, "component": curve.part}
                for name, (frequency, amplitude, curve) in peaks(self).items()
            },
        }

    def _scenario_text(self) -> str:
        return self.about.problem.scenario.text

    def panels(self) -> list[list[Panel]]:
        """Return amplitudes, on a logarithmic scale, and phases over the frequency."""
        table = self.about.problem.scenario.tables.response
        over = {"x": "frequency (Hz)", "log_x": table is not None and table.spacing == "logarithmic"}
        colours, found, phases = cycle(COLOURS), [], []  # by colours phases are distinguished as well
        for unit in dict.fromkeys(curve.unit for curve in self.curves):
            curves, shown = [curve for curve in self.curves if curve.unit == unit], []
            largest = max(float(np.abs(curve.values).max()) for curve in curves)
            for curve in curves:
                size, label = np.abs(curve.values), f"{curve.what}{curve.part and ', '}{curve.part}"
                if size.max() > _SEEN * largest:
                    colour = next(colours)
                    shown.append(Curve(self.frequencies, np.where(size > 0.0, size, np.nan), label, colour))
                    phases.append(Curve(self.frequencies, np.degrees(np.angle(curve.values)), colour=colour))
            found.append([Panel("amplitude", unit or "1", curves=shown, log=True, **over)])
        phase = Panel("phase", "°", curves=phases, height=0.6, draw=_quarters, **over)
        return [*found, [phase]]

    def report(self, folder: str | Path | None = None) -> str:
        """Return what the response is, as text."""
        how = "directly" if self.modes is None else f"by superposition of {len(self.modes.frequencies)} modes"
        first, last = self.frequencies.min(), self.frequencies.max()
        lines = [
            *report_about(self.about.summary()),
            ("response", f"{how}, at {len(self.frequencies)} frequencies from {first:g} to {last:g} Hz"),
            *_peaks_reported(self),
        ]
        return table([*lines, *([] if folder is None else [("results", str(folder))])])

    def _picture(self) -> tuple[Path, str]:
        return Path("response.png"), self.about.problem.scenario.title

    def _reported(self) -> list[tuple[str, str]]:
        first, last = self.frequencies.min(), self.frequencies.max()
        return [
            ("scenario", self.about.problem.scenario.path.name),
            ("frequencies", f"{len(self.frequencies)} from {first:g} to {last:g} Hz"),
            *_peaks_reported(self),
        ]

    @property
    def curves(self) -> list[Swing]:
        """All that swings: components of places, then the numbers of probes."""
        found = [
            Swing(name, axis, f"{name}_{axis}", "m", "length", u[:, k])
            for name, u in self.places.items()
            for k, axis in enumerate(AXES)
        ]
        for name, numbers in self.probes.items():
            for c, values in numbers.items():
                part = next((axis for axis in AXES if c.name.replace(f"_{axis}", "", 1) == c.vector), "")
                found.append(Swing(f"{name} {c.subject}", part, f"{name}_{c.name}", c.unit, c.kind, values))
        return found


def _quarters(axes: Axes) -> None:
    axes.set_yticks([-180, -90, 0, 90, 180])


class Swing(NamedTuple):
    """Complex amplitudes [m] by the frequency: of a component of what, of a column, in a unit."""

    what: str
    part: str
    column: str
    unit: str
    kind: Kind
    values: ComplexArray


class Asked(NamedTuple):
    """What the table [response] of a scenario asks for.

    Attributes
    ----------
    about : Linearised
    table : ResponseTable
    places : dict of str to int32 [p]
        The nodes of places by name.
    probed : dict of str to tuple of Probe
    excited : Excitation
    modes : Modes or None
        Those that are superposed.
    """

    about: Linearised
    table: ResponseTable
    places: dict[str, IntArray]
    probed: dict[str, tuple[Probe, ...]]
    excited: Excitation
    modes: Modes | None


def asked_of(scenario: Scenario, at: str | float = "start") -> Asked:
    """Return what the table [response] asks for; `ScenarioError` if there is none, or it names what is not there."""
    table = scenario.tables.response
    if table is None:
        raise ScenarioError(
            f"{scenario.path.name}: there is no [response] table, which says at which frequencies and where."
        )
    about = linearised(scenario, at)
    problem, tables = about.problem, scenario.tables
    try:
        requested = {item.name: _nodes(problem, item) for item in table.at if not isinstance(item, ProbePlace)}
        acting = about.system.loads
        excited = excitation(tables, problem.mesh, about.state, acting, problem.rigid_sets.drivers)
    except ScenarioError as error:
        raise ScenarioError(f"{scenario.path.name}: {place('response')}: {error}") from None
    modes = None if table.modes is None else natural_modes(about.system, about.state, table.modes)
    named = [item.name for item in table.at if isinstance(item, ProbePlace)]
    probed = {built.table.name: built.probes for built in problem.probes if built.table.name in named}
    if about.system.inelastic and not all(isinstance(probe, NodalProbe) for some in probed.values() for probe in some):
        raise ScenarioError(
            f"{scenario.path.name}: {place('response')}: at: with viscoelastic bodies probes report motions only, "
            "not stresses and forces; leave such probes out."
        )
    return Asked(about, table, requested, probed, excited, modes)


@checked
def find_response(scenario: Scenario, at: str | float = "start") -> ResponseFound:
    """Return the response of a scenario to what its table [response] names.

    Parameters
    ----------
    scenario : Scenario
    at : {"start"} or float
        About which state: that of the start, or at a time in s.

    Raises
    ------
    SymplexError
        If there is no such table, the scenario is not valid, or there is no response.
    """
    asked = asked_of(scenario, at)
    about, table, excited, modes = asked.about, asked.table, asked.excited, asked.modes
    if table.psd is not None or table.spectrum is not None:
        raise ScenarioError(
            f"{scenario.path.name}: [response] has a {'psd' if table.psd else 'spectrum'}; find_random and "
            "find_spectrum are for these."
        )
    requested, probed = asked.places, asked.probed
    probes = [probe for some in probed.values() for probe in some]
    every = np.arange(about.system.n_nodes, dtype=np.int32)
    nodes = every if probes else np.unique(np.concatenate(list(requested.values())))
    columns = [column for probe in probes for column in probe.columns]
    frequencies = table.swept
    places = {name: np.zeros((len(frequencies), about.system.dim), complex) for name in requested}
    numbers = np.zeros((len(frequencies), len(columns)), complex)
    some = max(1, _KEPT // (about.system.dim * len(nodes)))
    for first in range(0, len(frequencies), some):  # of probes those of all nodes are needed
        now = slice(first, first + some)
        u = _displacements(about, table, excited, frequencies[now], modes, nodes)
        for name, chosen in requested.items():
            places[name][now] = u[:, np.searchsorted(nodes, chosen)].mean(axis=1)
        if probes:
            omegas = 2.0 * np.pi * frequencies[now]
            pulls = _other_forces(about, excited.forces, table.loss_factor, u)
            numbers[now] = [swings(about, probes, *each) for each in zip(omegas, u, pulls, strict=True)]
    left, of_probes = iter(zip(columns, numbers.T, strict=True)), {}
    for name, some_probes in probed.items():
        of_probes[name] = dict(islice(left, sum(len(probe.columns) for probe in some_probes)))
    return ResponseFound(about, frequencies, places, modes, of_probes)


def _nodes(problem: Problem, item: Place) -> IntArray:
    """Return the nodes of a place, of those of beams and shells their particles."""
    if item.body in problem.flexible:
        raise ScenarioError(f"'{item.body}' is reduced, whose places are probes: name a [[probe]] in at.")
    framed = problem.beams.get(item.body) or problem.shells.get(item.body)
    return nodes_in(problem.mesh, item) if framed is None else framed.nodes_in(problem.mesh, item.group, item.at)


def _other_forces(about: Linearised, forces: Array, loss_factor: float, u: ComplexArray) -> ComplexArray:
    """Return the forces [m, n, 3] in N that no state has, which supports hold too: f, and −iη K u of the hysteresis."""
    if not loss_factor:
        return np.broadcast_to(forces.astype(complex), u.shape)
    motions = SmallMotions(about.system, about.state)
    K = motions.matrix(motions.stiffness)
    return forces - 1j * loss_factor * (K @ u.reshape(len(u), -1).T).T.reshape(u.shape)


def _displacements(
    about: Linearised,
    table: ResponseTable,
    excited: Excitation,
    frequencies: Array,
    modes: Modes | None,
    nodes: IntArray,
) -> ComplexArray:
    """Return the displacements [m, p, 3] of nodes in m."""
    options: dict[str, Any] = {
        "modes": modes,
        "ratio": table.ratio or 0.0,
        "loss_factor": table.loss_factor,
        "nodes": nodes,
    }
    found = np.zeros((len(frequencies), len(nodes), about.system.dim), complex)
    parts = [
        {"forces": excited.forces, "base": excited.base},
        {"base_acceleration": excited.base_acceleration},
    ]
    for part in parts:  # the response is linear in what excites
        given = {name: values for name, values in part.items() if values.any()}
        if given:
            found += frequency_response(about.system, about.state, frequencies, **given, **options).displacements
    return found


def peaks(found: ResponseFound) -> dict[str, tuple[float, float, Swing]]:
    """Return of each place, and each quantity of a probe, the frequency in Hz of the largest amplitude, and that."""
    reported: dict[str, tuple[float, float, Swing]] = {}
    for curve in found.curves:
        sizes = np.abs(curve.values)
        i = int(np.argmax(sizes))
        if curve.what not in reported or sizes[i] > reported[curve.what][1]:
            reported[curve.what] = float(found.frequencies[i]), float(sizes[i]), curve
    return reported


def _peaks_reported(found: ResponseFound) -> list[tuple[str, str]]:
    return [
        (f"peak of {name}", f"{si(amplitude, curve.unit, 5).strip()}{_along(curve)} at {frequency:.6g} Hz")
        for name, (frequency, amplitude, curve) in peaks(found).items()
    ]


def _along(curve: Swing) -> str:
    return f" along {curve.part}" if curve.part else ""
