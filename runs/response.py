"""The harmonic response of a scenario: computed, and kept in a folder with a table and a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import AXES, Column
from symplex.errors import ScenarioError
from symplex.fem.energy import Array
from symplex.meshes.pictures.figures import plain_style, save_figure
from symplex.runs.linearised import Linearised, linearised
from symplex.runs.study_folder import StudyFolder
from symplex.scenario.response import ResponseTable, excitation
from symplex.scenario.scenario import Scenario
from symplex.scenario.selections import nodes_in
from symplex.scenario.sentences import place
from symplex.time.modes.natural import Modes, natural_modes
from symplex.time.modes.quadratic import ComplexArray
from symplex.time.modes.response import frequency_response

_SEEN = 1e-9  # of the largest amplitude, below which a component is not plotted


class ResponseFound(NamedTuple):
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
    """

    about: Linearised
    frequencies: Array
    places: dict[str, ComplexArray]
    modes: Modes | None


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
    table = scenario.tables.response
    if table is None:
        raise ScenarioError(
            f"{scenario.path.name}: there is no [response] table, which says at which frequencies and where."
        )
    about = linearised(scenario, at)
    problem, tables = about.problem, scenario.tables
    try:
        wanted = {item.name: nodes_in(problem.mesh, item) for item in table.at}
        excited = excitation(table, tables.load, tables.support, problem.mesh, about.state.q)
    except ScenarioError as error:
        raise ScenarioError(f"{scenario.path.name}: {place('response')}: {error}") from None
    modes = None if table.modes is None else natural_modes(about.system, about.state, table.modes)
    nodes = np.unique(np.concatenate(list(wanted.values())))
    frequencies = table.swept
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
    places = {name: found[:, np.searchsorted(nodes, some)].mean(axis=1) for name, some in wanted.items()}
    return ResponseFound(about, frequencies, places, modes)


@checked
def save_response(
    found: ResponseFound, output: str | Path, *, overwrite: bool = False, pictures: bool = True
) -> dict[str, Any]:
    """Write the response of a scenario to a folder, and return the content of its ``summary.json``.

    ``response.csv`` has a row for each frequency: amplitudes in m and phases in degrees, from −180 to 180, negative
    where the motion is late; ``response.png`` is a plot of them.

    Parameters
    ----------
    found : ResponseFound
    output : path-like
    overwrite : bool, default False
        Whether a response that is there may be replaced; other files never are.
    pictures : bool, default True
        Whether to draw the plot.

    Raises
    ------
    OutputError
        If the folder holds something else, or cannot be written.
    """
    folder = StudyFolder(output, "response", overwrite)
    folder.begin()
    scenario = found.about.problem.scenario
    folder.write_scenario(scenario.text)
    columns, rows = table_of(found)
    folder.write_table("response", columns, rows)
    if pictures:
        plot_response(found, folder.file("response.png"))
    table = scenario.tables.response
    assert isinstance(table, ResponseTable)
    return folder.write_summary(
        {
            "scenario": scenario.path.name,
            "scenario_sha256": scenario.hash,
            "t": found.about.state.t,
            "notes": found.about.notes,
            "method": "direct" if found.modes is None else f"superposition of {len(found.modes.frequencies)} modes",
            "frequencies": [float(found.frequencies.min()), float(found.frequencies.max())],
            "peaks": {
                name: {"frequency": frequency, "amplitude": amplitude, "component": axis}
                for name, (frequency, amplitude, axis) in peaks(found).items()
            },
        }
    )


def table_of(found: ResponseFound) -> tuple[list[Column], list[dict[str, float]]]:
    """Return the columns of the table of the response, and its rows."""
    columns, values = [Column("frequency", "Hz")], [found.frequencies]
    for name, u in found.places.items():
        for k, axis in enumerate(AXES):
            columns += [
                Column(f"{name}_{axis}_amplitude", "m", "length"),
                Column(f"{name}_{axis}_phase", "°"),
            ]
            values += [np.abs(u[:, k]), np.degrees(np.angle(u[:, k])) + 0.0]
    rows = [
        {column.name: float(x) for column, x in zip(columns, row, strict=True)} for row in zip(*values, strict=True)
    ]
    return columns, rows


def peaks(found: ResponseFound) -> dict[str, tuple[float, float, str]]:
    """Return of each place the frequency in Hz and the amplitude in m of the largest component, and which that is."""
    told = {}
    for name, u in found.places.items():
        i, k = np.unravel_index(int(np.argmax(np.abs(u))), u.shape)
        told[name] = float(found.frequencies[i]), float(np.abs(u[i, k])), AXES[k]
    return told


def response_report(found: ResponseFound, folder: str | Path | None = None) -> str:
    """Return what the response is, as text."""
    from symplex.runs.progress import si
    from symplex.runs.report import table

    how = "directly" if found.modes is None else f"by superposition of {len(found.modes.frequencies)} modes"
    first, last = found.frequencies.min(), found.frequencies.max()
    lines = [
        ("scenario", found.about.problem.scenario.path.name),
        ("about", "; ".join([f"the state at t = {si(found.about.state.t, 's')}", *found.about.notes])),
        ("response", f"{how}, at {len(found.frequencies)} frequencies from {first:g} to {last:g} Hz"),
    ]
    lines += [
        (f"peak of {name}", f"{si(amplitude, 'm', 5)} along {axis} at {frequency:.6g} Hz")
        for name, (frequency, amplitude, axis) in peaks(found).items()
    ]
    if folder is not None:
        lines.append(("results", str(folder)))
    return table(lines)


def plot_response(found: ResponseFound, path: str | Path) -> Path:
    """Plot amplitudes, on a logarithmic scale, and phases over the frequency, and return the file."""
    from matplotlib.figure import Figure

    path = Path(path)
    with plain_style():
        figure = Figure(figsize=(8.0, 6.0), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        largest = max(float(np.abs(u).max()) for u in found.places.values())
        for name, u in found.places.items():
            for k, axis in enumerate(AXES):
                size = np.abs(u[:, k])
                if not size.max() > _SEEN * largest:
                    continue
                (line,) = above.plot(found.frequencies, np.where(size > 0.0, size, np.nan), label=f"{name}, {axis}")
                below.plot(found.frequencies, np.degrees(np.angle(u[:, k])), color=line.get_color())
        above.set_yscale("log")
        table = found.about.problem.scenario.tables.response
        if table is not None and table.spacing == "logarithmic":
            above.set_xscale("log")
        above.set_ylabel("amplitude (m)")
        above.legend()
        below.set_ylabel("phase (°)")
        below.set_yticks([-180, -90, 0, 90, 180])
        below.set_xlabel("frequency (Hz)")
        return save_figure(figure, path)
