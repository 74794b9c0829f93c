"""A run in a window."""

from __future__ import annotations

import shlex

from symplex.errors import OutputError
from symplex.meshes.pictures import window
from symplex.meshes.series.series import read_series
from symplex.runs.drawing import Look, shown_field
from symplex.runs.pictures import upright_in
from symplex.runs.results import RunFolder


def open_window(folder: RunFolder, look: Look) -> None:
    """Show a run in a window until it is closed."""
    series = read_series(folder.series)
    if not len(series):
        raise OutputError(f"{folder.series} has no frames to show.")
    name = folder.path.resolve().name
    instead = shlex.join(["symplex", "view", str(folder.path), "--html", f"{name}.html"])
    window.open_window(
        series,
        look.field or shown_field(series),
        upright_in(look.view, folder),
        name,
        f"write a page for a browser with: {instead}",
    )
