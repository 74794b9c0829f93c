"""Plots of histories: a picture comes out, with readable units."""

import subprocess
import sys

import matplotlib.image
import numpy as np
import pytest

from symplex.base.columns import Column, count_column, vector_columns
from symplex.errors import OutputError
from symplex.meshes.pictures.figures import FORMATS, figure_of_page, plain_style
from symplex.runs.history import History, columns_of
from symplex.runs.plots import compare_histories, panels_of, plot_history
from symplex.runs.summary import drifts
from symplex.time.totals import kept_energy
from symplex.units import si_scale


def history(size=1.0):
    t = np.linspace(0, 6e-5, 50)
    strain = 1e6 * size * np.sin(t * 5e4) ** 2
    columns = {"t": t, "kinetic": 4e6 - strain, "block": strain, "total": np.full(50, 4e6) + 1e-6 * t}
    for stem in ("momentum", "angular_momentum", "contact_force"):
        columns |= {f"{stem}_{axis}": k * strain for k, axis in enumerate("xyz")}
    return columns | {"steps": np.arange(50.0)}


def test_plot(tmp_path):
    path = plot_history(history(), tmp_path / "plot.png", title="a run")
    image = matplotlib.image.imread(path)
    assert image.shape[1] > 1000
    assert image[..., :3].std() > 0.05


def test_comparison_differs_from_one(tmp_path):
    one = plot_history(history(), tmp_path / "one.png")
    two = compare_histories({"a": history(), "b": history(1.2)}, tmp_path / "two.png")
    assert one.read_bytes() != two.read_bytes()


def test_what_cannot_be_plotted_is_refused(tmp_path):
    with pytest.raises(OutputError, match="no rows"):
        plot_history({"t": np.empty(0)}, tmp_path / "plot.png")
    with pytest.raises(OutputError, match="lacks 'kinetic'"):
        plot_history({"t": np.zeros(1)}, tmp_path / "plot.png")
    with pytest.raises(OutputError, match="cannot be written"):
        plot_history(history(), tmp_path / "missing" / "plot.png")


@pytest.mark.parametrize(
    ("largest", "unit", "expected"),
    [(6e-5, "s", (1e6, "µs")), (1000.0, "J", (1e-3, "kJ")), (999.0, "J", (1.0, "J")), (0.0, "N", (1.0, "N"))],
)
def test_si_prefixes(largest, unit, expected):
    scale, words = si_scale(largest, unit)
    assert scale == pytest.approx(expected[0])
    assert words == expected[1]


def panels(*histories):
    """Return the lines [2, rows] of each panel of a plot by title and label."""
    found = panels_of({f"run {k}": history for k, history in enumerate(histories)})
    return {panel.title: {curve.label: (curve.x, curve.y) for curve in panel.curves if len(curve.x)} for panel in found}


def from_rest():
    """A history whose energy comes from a load alone, with an error of 1e-5 of it in the balance."""
    t = np.linspace(0, 1, 101)
    kinetic, strain, error = 3 * t**2, t**2, 3e-5 * np.sin(9 * t) * t
    columns = {"t": t, "kinetic": kinetic, "block": strain, "total": kinetic + strain}
    columns |= {"work_pull": kinetic + strain - error, "balance": error}
    return columns | {f"{stem}_{axis}": t for stem in ("momentum", "angular_momentum") for axis in "xyz"}


def test_changes_of_the_energy_are_those_of_the_summary():
    for columns in (from_rest(), history()):
        expected = drifts(columns)
        name = kept_energy("total", columns_of(columns).values())
        title = "relative change of the total energy"
        lines = panels(columns)[title if name == "total" else f"{title} ({name})"]
        assert len(lines) == 1
        assert np.max([y.max() for _, y in lines.values()]) == max(expected[name], np.finfo(float).eps / 2)
    assert expected["total"] == pytest.approx(6e-11 / 4e6, rel=1e-2)
    assert 5e-6 < drifts(from_rest())["balance"] < 1e-5


def test_drift_does_not_depend_on_where_gravity_is_zero():
    columns = history() | {"total": np.full(50, 4e6) + 1e3 * np.sin(np.arange(50))}
    near, far = (drifts(columns | {"total": columns["total"] + zero})["total"] for zero in (0.0, 1e12))
    assert near == pytest.approx(1e3 / 4e6, rel=1e-2)
    assert far == pytest.approx(near, rel=1e-6)


def test_drift_of_what_is_rounding_is_relative_to_what_it_could_be():
    columns = history() | {f"momentum_{axis}": 1e-15 * np.sin(np.arange(50.0)) for axis in "xyz"}
    assert drifts(columns)["momentum_x"] > 0.5
    assert drifts(columns, {"momentum": 2.0})["momentum_x"] == pytest.approx(0.5e-15, rel=1e-3)
    assert drifts(columns, {"momentum": 1e-9})["momentum_x"] > 0.5


def test_a_run_without_loads_keeps_its_total_beside_one_with_a_balance():
    lines = panels(from_rest(), history())["relative change of the total energy"]
    assert sum(len(np.atleast_2d(xy)) > 0 for xy in lines.values()) == 2


def test_energies_far_from_zero_are_plotted_as_changes():
    columns = history()
    assert "energies" in panels(columns)
    high = columns | {"gravity": 1e9 + columns["kinetic"]}
    high = {name: high[name] for name in ("t", "kinetic", "block", "gravity", "total")}
    lines = panels(high)["energies, change since the start"]
    assert lines["gravity"][1][0] == 0.0
    assert np.ptp(lines["gravity"][1]) == pytest.approx(np.ptp(lines["kinetic"][1]), rel=1e-6)


def test_a_resting_run_is_plotted(tmp_path):
    columns = {"t": np.linspace(0, 1, 3), "kinetic": np.zeros(3), "block": np.zeros(3), "total": np.zeros(3)}
    assert plot_history(columns, tmp_path / "rest.png").exists()


@pytest.mark.slow
def test_settings_of_the_working_directory_change_nothing(tmp_path):
    """Matplotlib takes its settings from there when it is loaded."""
    code = "from symplex.runs.plots import plot_history as p; import numpy as n; z = n.arange(3.0) + 1"
    code += "; p({'t': z, 'kinetic': z, 'total': z}, '%s.png')"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "matplotlibrc").write_text("figure.facecolor: red\ntext.usetex: True\nsavefig.dpi: 20\n")
    for cwd, name in ((tmp_path, "plain"), (tmp_path / "mine", "styled")):
        subprocess.run([sys.executable, "-c", code % (tmp_path / name)], cwd=cwd, check=True, capture_output=True)
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "styled.png").read_bytes()


def test_formats_that_are_no_pictures_are_refused(tmp_path):
    for name in ("plot", "plot.xyz", "plot.pgf", "history.csv"):
        with pytest.raises(OutputError, match=r"a picture is written as \.png"):
            plot_history(history(), tmp_path / name)
    assert not list(tmp_path.iterdir())
    small = {name: history()[name] for name in ("t", "kinetic", "total")}
    for suffix in FORMATS:
        assert plot_history(small, tmp_path / f"plot{suffix}").stat().st_size > 1000


def test_lines_mark_where_stages_begin():
    figure = figure_of_page(panels_of({"": history()}, {"press": 0.0, "let go": 3e-5}))
    drawn = [axes for axes in figure.axes if axes.lines]
    assert len(drawn) > 2
    scale, _ = si_scale(float(history()["t"].max()), "s")
    for axes in drawn:
        assert {text.get_text(): text.xy[0] for text in axes.texts} == {"press": 0.0, "let go": 3e-5 * scale}


def test_constant_steps_have_no_panel_and_others_have():
    steps = history()["steps"]
    counted = count_column("steps", plotted=True)
    for values, is_there in ((steps, False), (np.floor(7.3 * steps), False), (steps**2, True)):
        rows = History(history() | {"steps": values}, {"steps": counted})
        assert ("steps" in [panel.title for panel in panels_of({"": rows})]) is is_there


def test_phase_planes_are_those_of_one_or_two_coordinates():
    t = np.linspace(0.0, 6.0, 601)
    rows = {"t": t, "kinetic": t, "total": t, "position_bob_x": 2.0 * np.cos(t), "position_bob_y": 0 * t}

    def planes(history):
        columns = [*vector_columns("position_bob", "m", "length"), *vector_columns("velocity_bob", "m/s", "other")]
        reported = History(history, {column.name: column for column in columns if column.name in history})
        return [panel.curves[0] for panel in panels_of({"": reported}) if panel.title.startswith("phase plane")]

    (plane,) = planes(rows)  # velocities are differences of samples
    np.testing.assert_allclose(plane.x, 2.0 * np.cos(t))
    np.testing.assert_allclose(plane.y, -2.0 * np.sin(t), atol=1e-3)
    (plane,) = planes(rows | {"velocity_bob_x": 3.0 + t, "velocity_bob_y": 0 * t})
    np.testing.assert_allclose(plane.y, 3.0 + t)
    three = {f"position_{name}_x": np.sin(t) for name in ("a", "b", "c")}
    declared = {name: Column(name, "m", "length") for name in three}
    panels = panels_of({"": History({"t": t, "kinetic": t, "total": t} | three, declared)})
    assert not [panel for panel in panels if "phase" in panel.title]


def test_legends_are_next_to_panels_which_fill_the_page():
    with plain_style():
        for count in (1, 2, 3):
            panels = panels_of({"": history()})[:count]
            figure = figure_of_page(panels)
            drawn = figure.canvas.get_renderer()
            for axes in figure.axes:
                if axes.get_legend() is not None:
                    assert axes.get_legend().get_window_extent(drawn).x0 >= axes.bbox.x1
                    assert axes.get_legend().get_window_extent(drawn).x1 <= figure.bbox.x1
            assert max(axes.bbox.x1 for axes in figure.axes[-1:]) > 0.85 * figure.bbox.x1
