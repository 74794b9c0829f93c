"""Plots of histories: a picture comes out, with readable units."""

import matplotlib.image
import numpy as np
import pytest

from symplex.errors import OutputError
from symplex.plots import compare_histories, plot_history
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
