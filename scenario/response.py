"""The table [response]: the response to harmonic excitation, by what, at which frequencies, reported where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import pairwise
from math import radians
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from symplex.base.fields import OF_BEAMS
from symplex.base.quantities import (
    FilePath,
    Name,
    Quantity,
    Text,
    listed,
    not_negative,
    numbers,
    positive,
    refused,
    shown,
    whole,
)
from symplex.errors import ScenarioError
from symplex.fem.actions.histories import factor_of
from symplex.fem.actions.supports import AXES
from symplex.fem.energies.energy import Array
from symplex.fem.outputs.field_probes import MOTIONS
from symplex.fem.outputs.force_probes import OF_BARS
from symplex.fem.outputs.joint_probe import FORCES
from symplex.fem.outputs.probe import NORM
from symplex.fem.system import Load, State
from symplex.meshes.mesh import Mesh
from symplex.scenario.actions import Support, Timed
from symplex.scenario.loads import NodalLoadTable, PressureTable, TractionTable
from symplex.scenario.messages import suggestion
from symplex.scenario.prescribed import read_numbers, support_motion
from symplex.scenario.probes import ProbeTable
from symplex.scenario.selections import Nodes, group_in
from symplex.scenario.table import BodyName, Entry, Table
from symplex.time.modes.spectra import Spectrum

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables

_MOST_FREQUENCIES, _MOST_MODES = 100_000, 10_000
# What swings in proportion to small motions. (Norms, principal values and the like do not.)
_OF_SOLIDS = ("stress", "strain", "logarithmic_strain", "pressure")
_LINEAR = tuple(dict.fromkeys((*MOTIONS, "rotation", *_OF_SOLIDS, *OF_BARS, *OF_BEAMS)))
_SWINGING = (NodalLoadTable, TractionTable, PressureTable)


def _positive(unit: str) -> Quantity:
    """Positive numbers."""

    def check(value: Any) -> tuple[float, ...]:
        return tuple(positive(unit).check(one) for one in numbers(unit).check(value))

    return Quantity(check, unit, "list of numbers", "> 0")


def _hertz() -> Quantity:
    """Numbers of at least zero."""

    def check(value: Any) -> tuple[float, ...]:
        return tuple(not_negative("Hz").check(one) for one in numbers("Hz").check(value))

    return Quantity(check, "Hz", "list of numbers", "≥ 0")


class Place(Nodes):
    """Where a response is evaluated: the mean of some nodes."""

    takes_rotations = True
    takes_reduced = True

    name: Annotated[Name, "Names its columns."]


class ProbePlace(Place):
    """A place that is a ``[[probe]]``, of the same name."""

    body: Annotated[BodyName | None, "That of the probe."] = None  # pyright: ignore[reportIncompatibleVariableOverride]


class SpectrumTable(Table):
    """A positive function of the frequency, linear on logarithmic scales between given points."""

    frequencies: Annotated[tuple[float, ...] | None, _positive("Hz"), "Ascending."] = None
    values: Annotated[tuple[float, ...] | None, _positive(""), "At these frequencies."] = None
    file: Annotated[
        FilePath | None, "File with two columns, frequency in Hz and value, with a comma between; instead of both."
    ] = None

    def _check(self) -> None:
        given = {key for key in ("frequencies", "values", "file") if getattr(self, key) is not None}
        if given not in ({"file"}, {"frequencies", "values"}):
            raise ValueError(f"needs frequencies and values, or a file; given: {', '.join(sorted(given)) or 'none'}")
        if self.frequencies is not None and self.values is not None:
            if len(self.frequencies) != len(self.values):
                raise ValueError(f"has {len(self.frequencies)} frequencies but {len(self.values)} values")
            if any(b <= a for a, b in pairwise(self.frequencies)):
                raise ValueError(f"frequencies must ascend, got {shown(list(self.frequencies))} Hz")

    def spectrum(self, folder: Path, outside: Literal["zero", "constant"]) -> Spectrum:
        """Return it; files are looked for in a folder."""
        if self.file is None:
            return Spectrum(self.frequencies or (), self.values or (), outside)
        rows = read_numbers(folder / self.file, self.file, 2, "frequency (Hz) and value")
        frequencies, values = zip(*rows, strict=True)
        return Spectrum(frequencies, values, outside)


class ResponseTable(Entry):
    """Response by small motions, which `symplex response` computes ([modes.md](../modes.md#harmonic-response)).

    Nodal loads, tractions, pressures and supports that have a ``history`` vary in phase, with the values that it
    multiplies as amplitudes: harmonically, at ``frequencies``; at random, with a ``psd``; or, supports with an
    ``acceleration``, by a response ``spectrum``. All else acts as at the start; runs ignore the table.
    """

    of_all = False
    takes_rotations = True
    takes_reduced = True
    frequencies: Annotated[tuple[float, ...] | None, _hertz(), "Each frequency."] = None
    between: Annotated[
        tuple[float, ...] | None, _hertz(), "The first and the last of `points` frequencies, instead."
    ] = None
    points: Annotated[int, whole(2, _MOST_FREQUENCIES), "How many."] = 201
    spacing: Annotated[Literal["linear", "logarithmic"], "Of these frequencies."] = "linear"
    modes: Annotated[
        int | None, whole(1, _MOST_MODES), "Superpose so many natural modes; by default equations are solved directly."
    ] = None
    psd: Annotated[
        SpectrumTable | None,
        "Random vibration: one-sided power spectral density of the common factor of what excites, in 1/Hz; zero "
        "outside. With `modes`.",
    ] = None
    spectrum: Annotated[
        SpectrumTable | None,
        "Response spectrum: largest acceleration of an oscillator, as a multiple of the `acceleration` of the supports "
        "that excite; constant outside. With `modes`.",
    ] = None
    rule: Annotated[
        Literal["cqc", "srss", "absolute"],
        "How largest values of modes under a `spectrum` are combined: complete quadratic combination, root of the sum "
        "of squares, or the sum of sizes.",
    ] = "cqc"
    missing_mass: Annotated[bool, "Whether modes left out count as rigid, with the last value of the `spectrum`."] = (
        True
    )
    ratio: Annotated[
        float | None, not_negative("1"), "Of critical damping of each mode, in addition to that of other tables."
    ] = None
    loss_factor: Annotated[float, not_negative("1"), "η of hysteretic damping: the stiffness is (1 + iη) K."] = 0.0
    by: Annotated[
        list[Text] | None, "Names of the loads and supports that excite; by default all that act at the time."
    ] = None
    at: Annotated[
        list[Place],
        'Where it is evaluated: groups, nodes or bodies, such as `{ name = "tip", body = "beam", group = "x_max" '
        '}`, and names of `[[probe]]`s, `at = ["root"]`.',
    ]

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        places = value.get("at") if isinstance(value, Mapping) else None
        if not isinstance(places, list):
            return value
        return {**value, "at": [ProbePlace(name=item) if isinstance(item, str) else item for item in places]}

    def _check(self) -> None:
        if not self.at:
            raise ValueError("at must be a list of places, got []")
        kinds = [key for key in ("psd", "spectrum") if getattr(self, key) is not None]
        if len(kinds) > 1:
            raise ValueError("has psd and spectrum; give one of both")
        if kinds:
            keys = ("frequencies", "between", "points", "spacing")
            self.refuse_unused(*keys, goes_with=f"harmonic response, and not with {kinds[0]}")
            if self.modes is None:
                raise ValueError(f"with {kinds[0]} is by modes: give how many, as modes = 20")
        if self.spectrum is None:
            self.refuse_unused("rule", "missing_mass", goes_with="spectrum")
        if not kinds and (self.frequencies is None) == (self.between is None):
            raise ValueError("needs either frequencies, a list, or between, the first and the last of points (Hz)")
        if self.between is None:
            self.refuse_unused("points", "spacing", goes_with="between, the first and the last of them")
        if self.between is not None and (len(self.between) != 2 or not self.between[0] < self.between[1]):
            raise ValueError(f"between {refused('two frequencies that ascend', list(self.between), 'Hz')}")
        if self.between is not None and self.spacing == "logarithmic" and not self.between[0] > 0.0:
            raise ValueError('between begins at 0 Hz, which spacing = "logarithmic" never comes to')
        if self.ratio is not None and self.modes is None:
            raise ValueError("ratio is one of modes: give how many, modes = 20, or damp by [[damping]] or loss_factor")
        names = [place.name for place in self.at]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two places are called '{twice}'; choose another name for one of them")

    @property
    def swept(self) -> Array:
        """The frequencies [m] in Hz."""
        if self.frequencies is not None:
            return np.array(self.frequencies)
        first, last = self.between or (0.0, 0.0)
        space = np.geomspace if self.spacing == "logarithmic" else np.linspace
        return space(first, last, self.points)


def wrong_places(table: ResponseTable, probes: Sequence[ProbeTable]) -> list[str]:
    """Return lines about places where there is no probe, or one whose values do not vary harmonically."""
    lines, named = [], {probe.name: probe for probe in probes}
    for at in (place for place in table.at if isinstance(place, ProbePlace)):
        if at.name not in named:
            lines.append(f"[response]: at: there is no [[probe]] {shown(at.name)}; {suggestion(at.name, list(named))}")
        elif why := unlike_swings(named[at.name]):
            lines.append(f"[response]: at: the probe {shown(at.name)} {why}.")
    return lines


def unlike_swings(probe: ProbeTable) -> str | None:
    """Return what of a probe has no complex amplitude, in words."""
    if probe.acts_on not in ("body", "joint", "support"):
        return f"reports the forces of {probe.acts_on}s, which have no response; name probes of bodies and supports"
    if probe.acts_on == "joint":
        odd = next((one for one in probe.quantities or FORCES if one in FORCES), None)
        what = 'which has no response; give others, as quantities = ["angle"]'
        return None if odd is None else f"has the {odd} of a joint, {what}"
    for quantity in probe.quantities or ():
        if quantity not in _LINEAR:
            return f"has {quantity}, which does not swing in proportion to a motion; there are {listed(_LINEAR)}"
    if NORM in (probe.components or ()):
        return "has the component norm, which has no phase; leave it out"
    if odd := next((how for how in probe.reduce or () if how in ("max", "min")), None):
        return f"has the {odd} of several places, which has no phase; take the mean or the sum"
    return None


class Excitation(NamedTuple):
    """What swings harmonically, by amplitudes [n, 3] of all nodes.

    Attributes
    ----------
    forces : float64 [n, 3]
        In N.
    base : float64 [n, 3]
        Displacements of supports in m.
    base_acceleration : float64 [n, 3]
        Accelerations of others in m/s².
    """

    forces: Array
    base: Array
    base_acceleration: Array


def excitation(
    tables: Tables,
    mesh: Mesh,
    state: State,
    acting: Mapping[str, Load],
    drivers: Mapping[str, int] = MappingProxyType({}),
) -> Excitation:
    """Return what excites: the loads and supports that are named, or all whose history says that they change.

    Of the latter only those that act at the time.

    All swing in phase, by the values that their histories multiply.

    Parameters
    ----------
    tables : Tables
        Those of the scenario, with a ``[response]``.
    mesh : Mesh
        Of all bodies.
    state : State
        At whose time loads act, and pressures on surfaces where it has these.
    acting : mapping of str to Load
        The loads of the system by their names, with the histories that their amplitudes are without.
    drivers : mapping of str to int, optional
        The nodes that drive supports in directions that are not along the axes.
    """
    loads, supports, table = tables.load, tables.support, tables.response
    assert table is not None, "it is asked for"
    swinging: dict[str, Callable[[Excitation], None]] = {}
    idle: list[str] = []  # which do not act then
    q, t = state.q, state.t
    now = {id(item) for item in (*loads, *supports) if _acts_at(item, t)}
    others = [
        (f"load '{load.name}'", load.kind)
        for load in loads
        if load.history is not None and not isinstance(load, _SWINGING) and id(load) in now
    ]
    others += [(f"temperature '{one.name}'", "temperatures") for one in tables.temperature if one.history is not None]
    if others and table.by is None:
        name, kind = others[0]
        raise ScenarioError(
            f"{name} has a history, but of {kind} no harmonic response is known; name those that are meant, "
            'by = ["NAME"].'
        )
    for load in loads:
        if load.history is not None and isinstance(load, _SWINGING):
            swinging[load.name] = lambda out, load=load: _add_force(out, acting[load.name], q)
            idle += [] if id(load) in now else [load.name]
    for support in supports:
        if support.history is not None:
            swinging[str(support.name)] = lambda out, support=support: _add_motion(out, support, mesh, drivers)
            idle += [] if id(support) in now else [str(support.name)]
    names = [name for name in swinging if name not in idle] if table.by is None else table.by
    if unknown := next((name for name in names if name not in swinging), None):
        raise ScenarioError(
            f"by names {shown(unknown)}, which is no load or support with a history; those are: {listed(swinging)}."
        )
    if absent := [name for name in idle if name in names or not names]:
        raise ScenarioError(
            f"{listed(absent)} does not act at t = {t:g} s, by its from and until; give another time, --at, or by what "
            "acts then."
        )
    if not names:
        raise ScenarioError(
            "nothing excites it: it takes a [[load]] with a history, or a [[support]] with displacement, acceleration "
            "or rotation, whose values are then amplitudes."
        )
    found = Excitation(np.zeros(q.shape), np.zeros(q.shape), np.zeros(q.shape))
    for name in names:
        swinging[name](found)
    return found


def _acts_at(item: Timed, t: float) -> bool:
    """Return whether it acts at a time in s; what begins then does not act yet, but for the start of a run."""
    begun = item.begin_event is None and (item.begin < t or item.begin == 0.0)
    return begun and (item.until is None or t <= item.until)


def _add_force(out: Excitation, load: Load, q: Array) -> None:
    """Add the forces of a load where its factor is 1."""
    steady = copy(load)
    steady.factor = factor_of(1.0)  # pyright: ignore[reportAttributeAccessIssue]
    out.forces[:] += steady(0.0, q, np.zeros_like(q))


def _add_motion(out: Excitation, support: Support, mesh: Mesh, drivers: Mapping[str, int]) -> None:
    if support.is_oblique:
        (out.base if support.acceleration is None else out.base_acceleration)[drivers[str(support.name)], 0] += 1.0
        return
    nodes = mesh.nodes_of(group_in(mesh, support.body, support.group))
    axes = np.array([AXES.index(letter) for letter in support.components])
    if support.rotation is not None:
        turn = support.rotation
        axis = np.array(turn.axis) / np.linalg.norm(turn.axis)
        out.base[nodes] += radians(turn.degrees) * np.cross(axis, mesh.points[nodes] - turn.point)
        return
    if support.field is not None:
        motion = support_motion(support.replaced(history=None, name="field"), nodes, mesh.points, Path())
        out.base[nodes[:, None], axes] += motion.displacement(0.0)
        return
    moved, vector = (
        (out.base, support.displacement)
        if support.acceleration is None
        else (out.base_acceleration, support.acceleration)
    )
    assert vector is not None
    moved[nodes[:, None], axes] += np.array(vector)[axes]
