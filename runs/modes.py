"""The modes of a scenario: computed, and kept in a folder with a table, shapes for ParaView, pictures and films."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import AXES, Column
from symplex.base.representation import names
from symplex.errors import RenderError, ScenarioError, SymplexError
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.outputs.field_probes import NodalProbe
from symplex.fem.structures.frames import nodes_and_degrees
from symplex.meshes.pictures.figures import COLOURS, Curve, Panel
from symplex.runs.folders import Folder
from symplex.runs.harmonic_amplitudes import swings
from symplex.runs.linearised import Linearised, linearised
from symplex.runs.mode_shapes import ModeShapes
from symplex.runs.progress import si
from symplex.runs.study import SavedStudy, report_about
from symplex.runs.tables import aligned, table
from symplex.scenario.cyclic import whole_symmetry
from symplex.scenario.response import unlike_swings
from symplex.scenario.rigid_motion import PIVOTS, RIGIDITY
from symplex.scenario.scenario import Scenario
from symplex.time.modes.cyclic import cyclic_modes
from symplex.time.modes.framed import FramedMotions
from symplex.time.modes.natural import Modes, natural_modes
from symplex.time.modes.quadratic import ComplexArray, ComplexModes, complex_modes
from symplex.time.modes.small_motions import SmallMotions
from symplex.time.solvers.linear import LinearOfModes

Film = Literal["none", "gif", "mp4"]

_ROUNDING = 1e-9  # a ratio of damping that is none
ARTIFICIAL = "artificial"  # the kind of modes that rigid bodies do not have


@dataclass(frozen=True, repr=False)
class ModesFound(SavedStudy):
    """The modes of a scenario.

    Attributes
    ----------
    about : Linearised
        What they are about.
    natural : Modes
        Without what depends on velocities.
    complex : ComplexModes or None
        With it, where asked for, or where Coriolis forces act; or modes of nodal diameters.
    diameters : int32 [k], optional
        Their nodal diameters, where the scenario is one sector of a structure.
    """

    kind = "modes"
    about: Linearised
    natural: Modes
    complex: ComplexModes | None
    diameters: IntArray | None = None

    def columns(self) -> list[Column]:
        """Return the columns of ``modes.csv``."""
        return self._table[0]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each mode."""
        return self._table[1]

    @property
    def _table(self) -> tuple[list[Column], list[dict[str, Any]]]:
        """The columns of the table, and its rows."""
        natural, complex_ = self.natural, self.complex
        columns = [Column("mode", kind="count"), Column("frequency", "Hz"), Column("kind")]
        if complex_ is not None and self.diameters is not None:
            columns.insert(1, Column("diameter", kind="count"))
            of = zip(self.diameters, complex_.frequencies, self.kinds, strict=True)
            return columns, [
                {"mode": k + 1, "diameter": int(n), "frequency": float(f), "kind": kind}
                for k, (n, f, kind) in enumerate(of)
            ]
        if complex_ is not None:
            columns += [Column("damping_ratio"), Column("growth_rate", "1/s")]
            rows: list[dict[str, Any]] = [
                {
                    "mode": k + 1,
                    "frequency": float(frequency),
                    "kind": kind,
                    "damping_ratio": float(np.nan_to_num(ratio)) + 0.0,
                    "growth_rate": float(value.real),
                }
                for k, (frequency, ratio, value, kind) in enumerate(
                    zip(complex_.frequencies, complex_.ratios, complex_.eigenvalues, self.kinds, strict=True)
                )
            ]
            return columns, rows
        kept = [f"mass_{axis}" for axis in AXES] + [f"inertia_{axis}" for axis in AXES]
        columns += [Column(f"participation_{name}", "kg^½" if name[0] == "m" else "kg^½ m") for name in kept]
        columns += [Column(f"effective_{name}", "kg" if name[0] == "m" else "kg m²") for name in kept]
        rows = []
        for k, (frequency, kind) in enumerate(zip(natural.frequencies, self.kinds, strict=True)):
            row = {"mode": k + 1, "frequency": float(frequency), "kind": kind}
            row |= {f"participation_{n}": float(x) for n, x in zip(kept, natural.participation[k], strict=True)}
            row |= {f"effective_{n}": float(x) for n, x in zip(kept, natural.effective_masses[k], strict=True)}
            rows.append(row)
        probed, values = _at_probes(self)
        for row, of_mode in zip(rows, values, strict=True):
            row |= {column.name: float(x) for column, x in zip(probed, of_mode, strict=True)}
        return columns + probed, rows

    def summary(self) -> dict[str, Any]:
        """Return mass, centre, moments of inertia, frequencies and kinds."""
        natural, rows = self.natural, self.rows()
        return {
            **self.about.summary(),
            "nodes": nodes_and_degrees(self.about.system)[0],
            "mass": float(natural.total[0]),
            "center_of_mass": natural.center.tolist(),
            "moments_of_inertia": natural.total[self.about.system.dim :].tolist(),
            "frequencies": [row["frequency"] for row in rows],
            "kinds": [row["kind"] for row in rows],
            **({} if self.diameters is None else {"diameters": self.diameters.tolist()}),
        }

    def _scenario_text(self) -> str:
        return self.about.problem.scenario.text

    @checked
    def save(
        self,
        output: str | Path,
        *,
        overwrite: bool = False,
        pictures: bool = True,
        say: Callable[[str], object] = lambda line: None,
        film: Film = "none",
    ) -> dict[str, Any]:
        """Write them to a folder, as `SavedStudy.save`, and draw a film of each mode if requested.

        ``modes.vtkhdf`` has a frame for each mode, whose time is its number, with the field ``shape``; ``modes.png``
        shows them.

        Parameters
        ----------
        output, overwrite, pictures, say
            As of `SavedStudy.save`.
        film : {"none", "gif", "mp4"}, default "none"
            ``mode-1.gif`` and so on.

        Returns
        -------
        dict
            The content of ``summary.json``.

        Raises
        ------
        OutputError
            If the folder holds something else, or cannot be written.
        RenderError
            If films cannot be written as .mp4; the first one is written as .gif then.
        """
        return self._save(output, overwrite, say, lambda folder: self._write(folder, pictures, film))

    def _write(self, folder: Folder, pictures: bool, film: Film = "none") -> None:
        """Write the shapes, and draw them."""
        parts = self.natural if self.complex is None else self.complex
        labels = [f"{k + 1}: {_hertz(frequency)}" for k, frequency in enumerate(parts.frequencies)]
        if self.diameters is not None:
            labels = [f"{label}, n = {n}" for label, n in zip(labels, self.diameters, strict=True)]
        shapes = ModeShapes(self.about, parts.shapes, labels, parts.frequencies)
        shapes.write(folder.file("modes.vtkhdf", "shapes"))
        if pictures:
            shapes.draw(folder.path / "modes.vtkhdf", folder.file("modes.png", "picture"))
        for k in range(shapes.number if film != "none" else 0):
            written = shapes.film(k, folder.file(f"mode-{k + 1}.{film}", "film"))
            if written.suffix != f".{film}":
                folder.file(written.name, "film")
                raise RenderError(f"an .mp4 needs the package imageio-ffmpeg; {written} was written instead.")

    def panels(self) -> list[Panel]:
        """Return how much of the mass moves in the modes up to a frequency; of complex modes their damping."""
        natural, over = self.natural, "frequency (Hz)"
        if self.complex is not None:
            damping = Curve(self.complex.frequencies, np.nan_to_num(self.complex.ratios), mark="o", style="")
            if self.diameters is not None:
                by = Curve(self.diameters.astype(float), self.complex.frequencies, mark="o", style="")
                return [Panel("frequency", "Hz", curves=[by], x="nodal diameter")]
            return [Panel("damping ratio", "1", curves=[damping], x=over)]
        found = []
        for title, unit, first in (("mass", "kg", 0), ("moment of inertia", "kg m²", len(AXES))):
            curves = [
                Curve(natural.frequencies, np.cumsum(natural.effective_masses[:, first + k]), axis, colour, mark="o")
                for k, (axis, colour) in enumerate(zip(AXES, COLOURS, strict=False))
            ]
            found.append(Panel(f"effective {title}, summed", unit, curves=curves, x=over))
        return found

    def _picture(self) -> tuple[Path, str]:
        return Path("effective-masses.png"), self.about.problem.scenario.title

    def report(self, folder: str | Path | None = None) -> str:
        """Return the table of modes as text: frequencies, and the parts of the mass that take part."""
        natural, complex_ = self.natural, self.complex
        total = natural.total
        lines = [
            *report_about(self.about.summary()),
            ("mass", f"{si(1e3 * total[0], 'g', 6)}; centre ({', '.join(f'{x:.6g}' for x in _centre(natural))}) m"),
        ]
        if complex_ is not None and self.diameters is not None:
            heads = ["mode", "nodal diameter", "frequency (Hz)", ""]
            found = zip(self.diameters, complex_.frequencies, self.kinds, strict=True)
            rows = [[str(k + 1), str(n), _number(f), kind] for k, (n, f, kind) in enumerate(found)]
        elif complex_ is not None:
            heads = ["mode", "frequency (Hz)", "damping ratio", ""]
            rows = [
                [str(k + 1), _number(f), _ratio(z), kind]
                for k, (f, z, kind) in enumerate(zip(complex_.frequencies, complex_.ratios, self.kinds, strict=True))
            ]
        else:
            heads = ["mode", "frequency (Hz)", *(f"mass {a}" for a in AXES), *(f"inertia {a}" for a in AXES), ""]
            parts = np.divide(
                natural.effective_masses, total, out=np.zeros_like(natural.effective_masses), where=total > 0.0
            )
            rows = [
                [str(k + 1), _number(f), *map(_part, parts[k]), kind]
                for k, (f, kind) in enumerate(zip(natural.frequencies, self.kinds, strict=True))
            ]
            rows.append(["sum", "", *map(_part, parts.sum(axis=0)), ""])
        if folder is not None:
            lines.append(("results", str(folder)))
        return f"{table(lines)}\n\n{aligned(heads, rows, [True] * (len(heads) - 1) + [False])}"

    def _reported(self) -> list[tuple[str, str]]:
        rows = self.rows()
        listed = names(
            [f"{_hertz(row['frequency'])}{'' if row['kind'] == 'vibration' else ' ' + row['kind']}" for row in rows]
        )
        return [("scenario", self.about.problem.scenario.path.name), ("modes", str(len(rows))), ("frequencies", listed)]

    @property
    def kinds(self) -> list[str]:
        """What each mode is: ``"artificial"`` where it swings by the stiffness of rigid bodies and their pivots."""
        if self.complex is not None:
            kinds = [_kind_of(value) for value in self.complex.eigenvalues]
            found = zip(kinds, self.complex.shapes, np.abs(self.complex.eigenvalues), strict=True)
        else:
            found = zip(self.natural.kinds, self.natural.shapes, np.abs(self.natural.angular), strict=True)
        return [ARTIFICIAL if _is_artificial(self.about, shape, w) else kind for kind, shape, w in found]


@checked
def find_modes(
    scenario: Scenario,
    number: int = 10,
    at: str | float = "start",
    *,
    damped: bool = False,
    solver: LinearOfModes = "auto",
    diameters: Sequence[int] | Literal["all"] | None = None,
) -> ModesFound:
    """Return the lowest modes of a scenario about its start, or about its state at a time in s.

    Parameters
    ----------
    scenario : Scenario
    number : int, default 10
    at : {"start"} or float
    damped : bool, default False
        Whether damping is to have its part: then, and in a frame that rotates, modes are complex.
    solver : {"auto", "dense", "sparse", "krylov"}, default "auto"
        See `symplex.modes.natural_modes`.
    diameters : sequence of int or {"all"}, optional
        Nodal diameters, of a scenario with ``[[cyclic]]``: then so many modes of each of them, without what depends on
        velocities (`symplex.modes.cyclic_modes`).

    Raises
    ------
    SymplexError
        If the scenario is not valid, its state is not found, or its modes are not.
    """
    about = linearised(scenario, at)
    if diameters is not None:
        return _of_diameters(about, number, None if diameters == "all" else list(diameters), damped)
    if scenario.tables.cyclic:
        about.notes.append("all sectors move alike; other modes have nodal diameters (--diameters)")
    if about.system.frames:  # of which few coordinates may be all
        most = FramedMotions(SmallMotions(about.system, about.state)).n_moving
        if number > most:
            about.notes.append(f"there are no more than {most} modes")
        number = min(number, most)
    natural = natural_modes(about.system, about.state, number, solver=solver)
    if natural.reason is not None:
        about.notes.append(natural.reason.rstrip("."))
    motions = SmallMotions(about.system, about.state)
    requested = damped or motions.is_gyroscopic
    if motions.is_damped and not requested:
        about.notes.append("damping has no part in it")
    found = ModesFound(about, natural, complex_modes(about.system, about.state, number) if requested else None)
    if ARTIFICIAL in found.kinds:
        about.notes.append("artificial modes are those of the stiffness of rigid bodies and their pivots")
    return found


def _of_diameters(about: Linearised, number: int, diameters: list[int] | None, damped: bool) -> ModesFound:
    """Return the modes of nodal diameters of a scenario that is one sector of a structure."""
    scenario = about.problem.scenario
    tables, name = scenario.tables.cyclic, scenario.path.name
    if not tables:
        raise ScenarioError(f"{name}: nodal diameters are of one sector of a structure; declare it by [[cyclic]].")
    if damped:
        raise ScenarioError(f"{name}: modes of nodal diameters are without damping; leave damped out.")
    own, mesh = {table.name for table in tables}, about.problem.mesh
    system = about.system.with_parts({key: one for key, one in about.system.energies.items() if key not in own})
    symmetry = whole_symmetry(tables, mesh, about.problem.rigid_sets.positions(mesh.points))
    try:
        found = cyclic_modes(system, about.state, symmetry, number, diameters)
    except SymplexError as error:
        raise type(error)(f"{name}: {error}") from None
    if SmallMotions(system, about.state).damping is not None:
        about.notes.append("what depends on velocities, as damping and Coriolis forces, has no part in it")
    natural = natural_modes(about.system, about.state, 1)
    omega = 2.0 * math.pi * found.frequencies
    values = np.where(omega < 0.0, -omega, 1j * omega)
    return ModesFound(about, natural, ComplexModes(np.asarray(values, complex), found.shapes), found.diameters)


def _is_artificial(about: Linearised, shape: Array | ComplexArray, angular: float) -> bool:
    """Return whether the stiffness of rigid bodies and their pivots has most of the energy of a mode."""
    if not angular > 0.0:
        return False
    system, q = about.system, about.state.q
    parts = [np.asarray(part, float) for part in (np.real(shape), np.imag(shape))]
    energy = 0.0
    for held in (system.energies[name] for name in (RIGIDITY, PIVOTS) if name in system.energies):
        K = np.asarray(held.hessian(q[held.nodes]))
        local = [part[held.nodes].reshape(len(K), -1) for part in parts]
        energy += sum(float(np.einsum("ma,mab,mb->", u, K, u)) for u in local)
    return energy > 0.5 * angular**2 * sum(float(np.vdot(u, system.apply_mass(u))) for u in parts)


def _at_probes(found: ModesFound) -> tuple[list[Column], Array]:
    """Return columns of what probes report of shapes with uᵀ M u = 1, and their values [modes, columns]."""
    about = found.about
    probes = [
        (built.table.name, probe)
        for built in about.problem.probes
        if unlike_swings(built.table) is None
        for probe in built.probes
        if isinstance(probe, NodalProbe) or not about.system.inelastic
    ]
    reported = [(name, column) for name, probe in probes for column in probe.columns]
    shapes = found.natural.shapes
    omegas = np.emath.sqrt(np.sign(found.natural.angular) * found.natural.angular**2)  # unstable ones are imaginary
    asked = [probe for _, probe in probes]
    values = np.array([swings(about, asked, w, u) for w, u in zip(omegas, shapes, strict=True)]) if reported else None
    # Velocities and accelerations of a shape are those of its displacement, by the frequency.
    kept = [k for k, (_, column) in enumerate(reported) if column.unit not in ("m/s", "m/s²", "rad/s")]
    columns = [
        Column(f"{name}_{column.name}", f"{column.unit} kg^-½".strip()) for name, column in (reported[k] for k in kept)
    ]
    return columns, np.zeros((len(shapes), 0)) if values is None else np.asarray(values.real[:, kept], float)


def _kind_of(value: complex) -> str:
    if value == 0.0:
        return "zero"
    if value.real > 1e-9 * abs(value):
        return "unstable"
    return "vibration" if value.imag > 0.0 else "decay"


def _centre(natural: Modes) -> Array:
    """Return the centre of mass in m without the rounding of what is zero."""
    x = np.asarray(natural.center)
    return np.where(np.abs(x) > 1e-12 * np.abs(x).max(initial=0.0), x, 0.0)


def _number(frequency: float) -> str:
    return f"{frequency:#.6g}"


def _ratio(ratio: float) -> str:
    return "–" if math.isnan(ratio) else f"{ratio if abs(ratio) > _ROUNDING else 0.0:.4g}"


def _part(part: float) -> str:
    return f"{100.0 * part:.2f} %" if part > 5e-5 else "–"


def _hertz(frequency: float) -> str:
    return f"{frequency:#.5g} Hz"
