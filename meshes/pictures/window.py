"""A window in which a series is looked at: time, fields, and a plane that cuts bodies open."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, final

import numpy as np

from symplex.errors import RenderError
from symplex.meshes.pictures.packages import require_packages
from symplex.meshes.pictures.render import time_unit
from symplex.meshes.pictures.scene import Scene
from symplex.meshes.pictures.section import Plane
from symplex.meshes.pictures.view import View
from symplex.meshes.series.frames import Series

_Plotter = Any  # a pyvista.Plotter, whose decorators hide from checkers how its methods are called

KEYS = "space: play   arrows: frame   c: cut   e: edges   r: all of it   q: close"
_SIZE = (1100, 750)
_BETWEEN = 50  # ms between frames
_UNSEEN = ("vtkEGLRenderWindow", "vtkOSOpenGLRenderWindow")  # what VTK falls back to, in memory
_BAR = {
    "position_x": 0.86,
    "position_y": 0.25,
    "height": 0.55,
    "width": 0.07,
    "title_font_size": 15,
    "label_font_size": 12,
}
_SLIDER = {"slider_width": 0.015, "tube_width": 0.003, "title_height": 0.018}
_SAMPLED = 8  # frames that decide the colour scale


@final
class Window:
    """What a window shows of a series: a frame, a field, and a plane that cuts bodies open.

    Parameters
    ----------
    series : Series
    field : str
        What colours show at first.
    view : View
        From where; its section is a cut at first.
    plotter : pyvista.Plotter
        In which it is drawn.
    """

    def __init__(self, series: Series, field: str, view: View, plotter: _Plotter):
        self._series = series
        self._view = replace(view, section=None, origin=None)
        self._plotter = plotter
        self._edges = True
        self._scale, self._unit, self._digits = time_unit(series.times)
        self.index, self.cut = 0, None
        self.field = field
        self._scene = self._scene_of(field)
        self._scene.camera.aim(plotter, None)
        normal = view.normal()
        if normal is not None:
            origin = (
                np.array(view.origin) if view.origin is not None else np.array(self._scene.camera.plain()["centre"])
            )
            self.cut = Plane(normal, origin)
        self.draw()

    @property
    def fields(self) -> list[str]:
        """The fields that there are to choose from."""
        own = ["speed" if name == "velocity" else name for name in self._series.point_fields]
        return [*self._series.cell_fields, "displacement", *own, "body"]

    def show_frame(self, i: int) -> None:
        """Show frame i, of those that there are."""
        self.index = int(np.clip(i, 0, len(self._series) - 1))
        self.draw()

    def show_field(self, field: str) -> None:
        """Show another field."""
        if field != self.field:
            self.field = field
            self._scene = self._scene_of(field)
            self._clear()
            self.draw()

    def show_cut(self, cut: Plane | None) -> None:
        """Cut away what is on the side of a plane to which its normal points, or show all."""
        self.cut = cut
        self._clear()
        self.draw()

    def show_edges(self, shown: bool) -> None:
        """Show the edges of cells, or none."""
        self._edges = shown
        self.draw()

    def draw(self) -> None:
        """Draw everything."""
        self._scene.show(self._plotter, self.index, cut=self.cut)
        if not self._edges:
            for name, actor in self._plotter.actors.items():
                if name.startswith("body "):
                    actor.GetProperty().SetEdgeVisibility(False)
        t = self._series.times[self.index] * self._scale
        self._plotter.add_text(
            f"t = {t:.{self._digits}f} {self._unit}", name="the time", position="upper_left", font_size=12
        )
        self._plotter.add_text(KEYS, name="the keys", position="lower_edge", font_size=8)
        self._show_key()
        self._plotter.render()

    def _clear(self) -> None:
        """Remove what is shown of bodies, and the colour bar; widgets stay."""
        for name in [*self._plotter.actors]:
            if name.startswith(("body ", "obstacle ")):
                self._plotter.remove_actor(name, render=False)
        for title in [*self._plotter.scalar_bars.keys()]:
            self._plotter.remove_scalar_bar(title, render=False)
        self._plotter.remove_legend(render=False)

    def _show_key(self) -> None:
        """Show the colour bar, or the names of bodies."""
        if self._scene.legend:
            labels = [[name, colour] for name, colour in self._scene.legend.items()]
            self._plotter.add_legend(labels, bcolor=None, face="rectangle", size=(0.15, 0.05 * len(labels)))
            return
        if self._plotter.scalar_bars.keys():
            return
        for name, actor in self._plotter.actors.items():
            if name.startswith("body ") and actor.mapper.scalar_visibility:
                self._plotter.add_scalar_bar(self._scene.label, mapper=actor.mapper, vertical=True, **_BAR)
                return

    def _scene_of(self, field: str) -> Scene:
        chosen = np.unique(np.linspace(0, len(self._series) - 1, _SAMPLED).round().astype(int)).tolist()
        return Scene(self._series, field, self._view, chosen)


def open_window(series: Series, field: str, view: View, title: str, instead: str) -> None:
    """Show a series in a window until it is closed.

    Parameters
    ----------
    series : Series
    field : str
        What colours show at first.
    view : View
    title : str
    instead : str
        What to do where there is no display, as the end of a sentence.
    """
    require_packages()
    if reason := _no_display():
        raise RenderError(f"no window can be opened here: {reason}; {instead}.")
    import pyvista

    plotter: _Plotter = pyvista.Plotter(window_size=list(_SIZE), title=title, lighting="light kit")
    if plotter.render_window.GetClassName() in _UNSEEN:
        plotter.close()
        raise RenderError(f"no window can be opened here: the display has no OpenGL; {instead}.")
    plotter.background_color = pyvista.Color("white")
    window = Window(series, field, view, plotter)
    add_widgets(window, plotter, series)
    plotter.show()


def add_widgets(window: Window, plotter: _Plotter, series: Series) -> None:
    """Add what a window is steered with: sliders for time and field, a plane to move, and keys."""
    n = len(series)
    playing, edges = False, True
    knife: Any = None  # the widget of the plane

    def step(by: int) -> None:
        window.show_frame((window.index + by) % n)
        slider.GetRepresentation().SetValue(window.index)

    def play(_step: int) -> None:
        if playing:
            step(1)

    def toggle_play() -> None:
        nonlocal playing
        playing = not playing

    def toggle_cut() -> None:
        nonlocal knife
        if knife is not None:
            knife.Off()
            knife = None
            window.show_cut(None)
            return
        plane = window.cut or Plane(np.array([1.0, 0.0, 0.0]), np.array(plotter.center))
        knife = plotter.add_plane_widget(
            lambda normal, origin: window.show_cut(Plane(np.array(normal), np.array(origin))),
            normal=tuple(plane.normal),
            origin=tuple(plane.origin),
            interaction_event="end",
        )

    def toggle_edges() -> None:
        nonlocal edges
        edges = not edges
        window.show_edges(edges)

    slider = plotter.add_slider_widget(
        lambda value: window.show_frame(round(value)),
        (0, max(n - 1, 1)),
        value=0,
        title="frame",
        fmt="%.0f",
        pointa=(0.05, 0.09),
        pointb=(0.6, 0.09),
        interaction_event="always",
        **_SLIDER,
    )
    fields = window.fields
    plotter.add_text_slider_widget(
        window.show_field,
        fields,
        value=fields.index(window.field) if window.field in fields else 0,
        pointa=(0.66, 0.09),
        pointb=(0.95, 0.09),
        interaction_event="end",
        color="black",
    )
    for key, action in (
        ("space", toggle_play),
        ("Right", lambda: step(1)),
        ("Left", lambda: step(-1)),
        ("c", toggle_cut),
        ("e", toggle_edges),
    ):
        plotter.add_key_event(key, action)
    if window.cut is not None:
        toggle_cut()
    plotter.add_timer_event(max_steps=2**31 - 1, duration=_BETWEEN, callback=play)


def _no_display() -> str:
    """Return why there is no display for a window, or an empty text."""
    if sys.platform in ("win32", "darwin"):
        return ""
    name = os.environ.get("DISPLAY", "")
    if not name:
        return "there is no display (DISPLAY is not set)"
    host, _, number = name.rpartition(":")
    number = number.partition(".")[0]
    try:
        if host in ("", "unix"):
            with socket.socket(socket.AF_UNIX) as local:
                _connect(local, int(number))
        else:
            socket.create_connection((host, 6000 + int(number)), timeout=5).close()
    except (OSError, ValueError):
        return f"the display {name!r} does not answer"
    return ""


def _connect(local: socket.socket, number: int) -> None:
    path = f"/tmp/.X11-unix/X{number}"
    local.connect(path if Path(path).exists() else "\0" + path)
