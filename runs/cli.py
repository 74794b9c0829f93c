"""The command line. Nothing heavy is imported before a command needs it, so that ``--help`` is instant."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

from symplex.base.files import reason_of
from symplex.base.streams import bounded, complain, prepare_streams, printable, say, settle
from symplex.base.version import VERSION
from symplex.errors import Interrupted, MeshError, OutputError, StepFailed, SymplexError

if TYPE_CHECKING:
    from symplex.scenario.scenario import Scenario

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

STATUSES = """\
exit status:
  0    done; for 'run', the run is finished
  1    the motion failed (what was computed is kept), check found that it will, import understood no step, or the
       output could not be written
  2    the command line, a file or a folder is not as it should be, or memory is short; one line on stderr tells why
  130  interrupted by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP: 'run' keeps a checkpoint, and --resume goes on from it
"""

_EXAMPLES = """\
examples:
  symplex run oblique_impact.toml                  simulate; results in oblique_impact-results/
  symplex run drop.toml --output out --resume      go on after Ctrl-C, a kill or a power cut
  symplex run drop.toml --set integrator.dt=1e-6   with another value than the file's
  symplex check drop.toml                          is the scenario valid, how large, how long will it take
  symplex plot a-results b-results                 compare two runs
  symplex render drop-results --field von_mises    make the pictures again, otherwise
  symplex import beam.inp --units mm-t-s           an Abaqus deck as mesh and scenarios, in beam-imported/
  symplex info part.msh                            what is in a mesh file or a results folder
  symplex mesh box --size 1 0.2 0.2 --cells 10 2 2 beam.msh
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status (see `STATUSES`)."""
    prepare_streams()
    try:
        return _command(_with_signs(sys.argv[1:] if argv is None else argv))
    finally:
        settle()


def _command(argv: Sequence[str]) -> int:
    arguments = _parser().parse_args(argv)
    # A file .numba_config.yaml in the working directory cannot name the folder that compiled code is loaded from.
    os.environ.setdefault("NUMBA_CACHE_DIR", "")
    try:
        return arguments.command(arguments)
    except SymplexError as error:
        if arguments.debug:
            raise
        complain("\n".join(f"error: {line}" for line in str(error).split("\n")))
        return FAILED if isinstance(error, StepFailed) else BAD_INPUT
    except MemoryError as error:
        why = str(error)
        why = f" ({why[:1].lower()}{why[1:]})" if why else ""
        complain(f"error: there is not enough memory{why}; try a coarser mesh or fewer samples.")
        return BAD_INPUT
    except OSError as error:  # of a place that does not tell it better
        if arguments.debug:
            raise
        where = f"{error.filename}: " if error.filename is not None else "a file cannot be read or written: "
        complain(f"error: {where}{reason_of(error)}.")
        return BAD_INPUT
    except KeyboardInterrupt as error:
        complain("interrupted.")
        return _status_of(error)


def _status_of(error: KeyboardInterrupt) -> int:
    return 128 + error.signal if isinstance(error, Interrupted) else INTERRUPTED


def _report(text: str) -> int:
    """Print what a command is for; return a failure if it cannot be printed, unless the reader wants no more of it."""
    failure = say(text)
    if failure is None or isinstance(failure, BrokenPipeError):
        return OK
    complain(f"error: the output cannot be written: {reason_of(failure)}.")
    return FAILED


# -- commands -----------------------------------------------------------------------------------------------------


def _run(arguments: argparse.Namespace) -> int:
    from symplex.runs.results import Folder
    from symplex.runs.run import default_folder, simulate

    scenario = _scenario(arguments)
    output = arguments.output or default_folder(scenario)
    try:
        summary = simulate(
            scenario,
            output,
            resume=arguments.resume,
            overwrite=arguments.overwrite,
            progress=not arguments.quiet,
            pictures=not arguments.no_pictures,
        )
    except KeyboardInterrupt as error:
        begun = Folder(output).checkpoint.exists()
        options = [word for change in arguments.set for word in ("--set", change)]
        options += _option("--output", arguments.output)
        again = shlex.join(["symplex", "run", arguments.scenario, *options, "--resume"])
        done = f"what was computed is in {output}; resume with: {again}" if begun else "nothing was computed yet."
        complain(f"interrupted; {done}")
        return _status_of(error)
    except StepFailed as error:
        kept = Folder(output).read_summary()
        if kept.get("reason") == str(error) and "t_end" in kept:
            complain(f"what was computed, to t = {kept['t_end']:.6g} s, is in {output}")
        raise
    if not arguments.quiet:
        from symplex.runs.report import run_report

        say(run_report(summary, output))  # the run is done, whether this can be printed or not
    return OK


def _scenario(arguments: argparse.Namespace) -> Scenario:
    """Return the scenario of a file, with the values that the command line gives."""
    from symplex.scenario.changes import parsed_changes
    from symplex.scenario.scenario import Scenario

    return Scenario.read(arguments.scenario).with_values(parsed_changes(arguments.set))


def _check(arguments: argparse.Namespace) -> int:
    from symplex.runs.check import check_report
    from symplex.runs.run import default_folder

    scenario = _scenario(arguments)
    default_folder(scenario)  # where it may not be, this tells
    report, failure = check_report(scenario.build())
    return _report(report) or (FAILED if failure else OK)


def _import(arguments: argparse.Namespace) -> int:
    from symplex.decks.importing import import_deck

    deck = Path(arguments.deck)
    folder = arguments.output or f"{deck.stem}-imported"
    imported = import_deck(deck, folder, units=arguments.units, overwrite=arguments.overwrite)
    status = _report(imported.report())
    if imported.scenarios:
        return status
    why = f" {imported.missed[0]}." if imported.missed else " it has no steps."
    complain(f"error: {deck.name}: no step was imported, only the mesh:{why}")
    return FAILED


def _info(arguments: argparse.Namespace) -> int:
    from symplex.runs.report import mesh_report, result_report

    path = Path(arguments.path)
    if path.suffix == ".toml":
        raise OutputError(f"{path.name} is a scenario; look at it with: symplex check {path}")
    return _report(result_report(path) if path.is_dir() else mesh_report(path))


def _plot(arguments: argparse.Namespace) -> int:
    from symplex.runs.pictures import draw_plot
    from symplex.runs.results import Folder

    say(str(draw_plot([Folder.of_run(result) for result in arguments.results], arguments.output)))
    return OK


def _render(arguments: argparse.Namespace) -> int:
    from symplex.runs.pictures import draw_film, draw_snapshots, view_of
    from symplex.runs.results import Folder

    folder, view = Folder.of_run(arguments.result), view_of(arguments.view, arguments.slice, arguments.up)
    field, output = arguments.field, arguments.output
    say(str(draw_snapshots(folder, field=field, view=view, times=arguments.times, output=output)))
    if arguments.film != "none":
        say(str(draw_film(folder, arguments.film, field=field, view=view)))
    return OK


def _mesh_box(arguments: argparse.Namespace) -> int:
    from symplex.meshes.generate import box

    return _save(box(arguments.size, arguments.cells, split=arguments.split), arguments)


def _mesh_cube(arguments: argparse.Namespace) -> int:
    from symplex.meshes.generate import cube_mesh

    return _save(cube_mesh(arguments.name, arguments.size), arguments)


def _mesh_lattice(arguments: argparse.Namespace) -> int:
    from symplex.meshes.generate import bar_lattice

    return _save(bar_lattice(arguments.size, arguments.cells), arguments)


def _mesh_convert(arguments: argparse.Namespace) -> int:
    from symplex.meshes.formats.read import read_mesh
    from symplex.meshes.repair import drop_duplicates, drop_unconnected, orient

    source, target = Path(arguments.source), Path(arguments.file)
    if target.exists() and source.exists() and target.samefile(source):
        raise MeshError(
            f"{target} is the mesh itself, which may hold more than is written (materials, results); give another name."
        )
    mesh = read_mesh(source, scale=arguments.scale, require_volume=False)
    if arguments.repair:
        mesh = drop_unconnected(orient(drop_duplicates(mesh)))
    return _save(mesh, arguments)


def _save(mesh, arguments: argparse.Namespace) -> int:
    from symplex.meshes.formats.save import save_mesh

    path = arguments.file
    save_mesh(mesh, path, overwrite=arguments.overwrite)
    cells = ", ".join(f"{len(cells)} {kind}" for kind, cells in mesh.cells.items())
    say(f"{path}: {len(mesh.points)} nodes, {cells}")
    return OK


def _with_signs(argv: Sequence[str]) -> list[str]:
    """Join a direction with a minus, as in ``--view -x``, to its option: argparse would see another option in it."""
    words: list[str] = []
    for word in argv:
        if words and words[-1] in ("--view", "--up") and re.match(r"-[xyz\d.]", word):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def _option(name: str, value: str | None) -> list[str]:
    return [name, value] if value else []


# -- arguments ----------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints about arguments cannot steer the terminal, and whose help is told if it can be."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and exit."""
        super().error(" ".join(bounded(printable(message))))

    def print_help(self, file: IO[str] | None = None) -> None:
        """Print the help; exit with a failure if it cannot be printed."""
        if status := _report(self.format_help().rstrip()):
            self.exit(status)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="symplex",
        description="Finite-element structural dynamics with integrators that keep what the physics keeps.",
        epilog=f"{_EXAMPLES}\n{STATUSES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"symplex {VERSION}")
    parser.add_argument("--debug", action="store_true", help="show where in the program an error arose")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    check = _add(commands, "check", _check, "validate a scenario; print sizes, stable step, memory and time")
    _add_scenario(check)
    _add_import(commands)
    info = _add(commands, "info", _info, "print what is in a mesh file or a results folder")
    info.add_argument("path", metavar="MESH-or-RESULT")
    plot = _add(commands, "plot", _plot, "plot the histories of one run, or of several in one picture")
    plot.add_argument("results", metavar="RESULT", nargs="+", help="results folder")
    plot.add_argument(
        "--output", metavar="FILE", help="picture (.png, .pdf, .svg); default: RESULT/history.png, or comparison.png"
    )
    _add_render(commands)
    _add_mesh(commands)
    return parser


def _add(commands, name: str, command, help_: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=help_, description=help_[0].upper() + help_[1:] + ".")
    parser.set_defaults(command=command)
    return parser


def _add_scenario(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", metavar="SCENARIO", help="scenario file (.toml)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="TABLE.KEY=VALUE",
        help="another value than the file's, as integrator.dt=1e-6 or body.NAME.material.young=2e11; may be repeated",
    )


def _add_run(commands) -> None:
    run = _add(commands, "run", _run, "simulate a scenario; write results, pictures and a summary to a folder")
    _add_scenario(run)
    run.add_argument("--output", metavar="DIR", help="results folder; default: the scenario's, or SCENARIO-results")
    again = run.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on from the last checkpoint in the folder")
    again.add_argument("--overwrite", action="store_true", help="replace the run that is in the folder")
    run.add_argument("--no-pictures", action="store_true", help="no plot, snapshots or film at the end")
    run.add_argument("--quiet", action="store_true", help="print errors only")


def _add_import(commands) -> None:
    from symplex.decks.units import UNITS

    deck = _add(commands, "import", _import, "write mesh and scenarios of an Abaqus or CalculiX deck to a folder")
    deck.add_argument("deck", metavar="DECK", help="input file (.inp)")
    deck.add_argument("--output", metavar="DIR", help="folder for what is written; default: DECK-imported")
    deck.add_argument(
        "--units", choices=UNITS, default="si", help="the deck's units, which it does not tell; default: si"
    )
    deck.add_argument("--overwrite", action="store_true", help="replace files that are there")


def _add_render(commands) -> None:
    render = _add(commands, "render", _render, "draw snapshots and a film of a run")
    render.add_argument("result", metavar="RESULT", help="results folder")
    fields = "von_mises (default), displacement, speed, contact_force, contact_pressure, body …"
    render.add_argument("--field", help=f"what colours show: {fields}")
    render.add_argument("--times", type=float, nargs="+", metavar="T", help="times of the snapshots in s")
    render.add_argument("--view", default="auto", help="direction to the eye: x, -x, y … or three numbers 1,-2,0.5")
    render.add_argument(
        "--up", help="what points up, as --view; default: against gravity, or z, or y over a floor across y"
    )
    render.add_argument(
        "--slice",
        metavar="AXIS[=M]",
        help="show the section across x, y or z, mid-body or at a place: z=0.05",
    )
    render.add_argument("--film", choices=["auto", "mp4", "gif", "none"], default="auto", help="format of the film")
    render.add_argument("--output", metavar="FILE", help="snapshots; default: RESULT/snapshots.png")


def _add_mesh(commands) -> None:
    mesh = commands.add_parser("mesh", help="make or convert a mesh file", description="Make or convert a mesh file.")
    kinds = mesh.add_subparsers(title="kinds", metavar="KIND", required=True)
    file_help = "the file to write: .msh, .inp, .vtu or .vtk"
    box = _add(kinds, "box", _mesh_box, "a box of equal cells, each split into tetrahedra")
    box.add_argument("--size", type=float, nargs=3, required=True, metavar=("LX", "LY", "LZ"), help="edges in m")
    box.add_argument("file", metavar="FILE", help=file_help)
    box.add_argument("--cells", type=int, nargs=3, required=True, metavar=("NX", "NY", "NZ"), help="cells each way")
    box.add_argument("--split", choices=["24", "6", "hexahedra", "body-centred"], default="24")
    cube = _add(kinds, "cube", _mesh_cube, "one of the cubes of the force-stepping paper")
    cube.add_argument("name", choices=["I", "II", "III"])
    cube.add_argument("file", metavar="FILE", help=file_help)
    cube.add_argument("--size", type=float, default=0.1, metavar="L", help="edge length in m; default: 0.1")
    lattice = _add(kinds, "lattice", _mesh_lattice, "a lattice of bars along edges and diagonals of cells")
    lattice.add_argument("--size", type=float, nargs=3, required=True, metavar=("LX", "LY", "LZ"), help="edges in m")
    lattice.add_argument("file", metavar="FILE", help=file_help)
    lattice.add_argument("--cells", type=int, nargs=3, required=True, metavar=("NX", "NY", "NZ"), help="cells each way")
    convert = _add(kinds, "convert", _mesh_convert, "read a mesh of any format and write it in another")
    convert.add_argument("source", metavar="MESH")
    convert.add_argument("file", metavar="FILE", help=file_help)
    convert.add_argument("--scale", type=float, default=1.0, help="metres per unit of MESH; 1e-3 for millimetres")
    convert.add_argument("--repair", action="store_true", help="turn inverted cells, drop unconnected nodes")
    for kind in kinds.choices.values():
        kind.add_argument("--overwrite", action="store_true", help="replace FILE if it is there")
