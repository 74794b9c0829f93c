"""The command line. Nothing heavy is imported before a command needs it, so that ``--help`` is instant."""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import re
import sys
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, NoReturn

from symplex.base.files import reason_of
from symplex.base.streams import bounded, complain, prepare_streams, printable, settle
from symplex.base.version import VERSION
from symplex.commands import (
    buckling,
    check,
    compare,
    converge,
    demo,
    export,
    fit,
    importing,
    info,
    mesh,
    modes,
    plot,
    reduce,
    render,
    report,
    response,
    run,
    sensitivity,
    shock,
    sweep,
    view,
    warmup,
)
from symplex.commands.common import BAD_INPUT, FAILED, reported, status_of
from symplex.commands.on_ranks import on_ranks
from symplex.commands.view_options import DIRECTIONS
from symplex.errors import StepFailed, SymplexError
from symplex.parallel.launch import launched

if TYPE_CHECKING:
    from symplex.parallel.ranks import Ranks

_COMMANDS = (  # in the order in which the help has them
    run,
    sweep,
    converge,
    compare,
    sensitivity,
    fit,
    check,
    modes,
    buckling,
    reduce,
    response,
    shock,
    importing,
    info,
    plot,
    render,
    view,
    report,
    export,
    mesh,
    demo,
    warmup,
)

# Objects that are made between two looks for garbage in cycles, of which a command leaves little: by the 700 of Python
# the looks take a tenth of a short run.
_OBJECTS = 20_000

STATUSES = """\
exit status:
  0    done; for 'run', the run is finished
  1    the motion failed (what was computed is kept), members of a sweep did, check found that it will, results differ
       by more than the tolerance of compare, import understood no step, or the output could not be written
  2    the command line, a file or a folder is not as it should be, or memory is short; one line on stderr states why
  130  interrupted by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP: runs keep a checkpoint, and --resume goes on from it
"""

_EXAMPLES = """\
examples:
  symplex run oblique_impact.toml                  simulate; results in oblique_impact-results/
  symplex run drop.toml --output out --resume      continue after Ctrl-C, a kill or a power cut
  symplex run drop.toml --set integrator.dt=1e-6   with another value than the file's
  mpiexec -n 4 symplex run big.toml                one motion on several processes or machines
  symplex sweep drop.toml --over define.h=0.1,0.2  many runs, in drop-study/, with a table of results
  symplex converge drop.toml --halvings 3          ever smaller steps, and the order that they show
  symplex compare a-results b-results              how much histories and fields of two runs differ
  symplex check drop.toml                          is the scenario valid, how large, how long will it take
  symplex modes blade.toml --number 12             natural frequencies and modes, in blade-modes/
  symplex buckling column.toml                     the factors of its loads at which it buckles
  symplex reduce crank.toml --body rod             a body with few coordinates, in rod.npz
  symplex response blade.toml                      how it swings when it is shaken, by its [response]
  symplex shock drop-results --probe head          the shock response spectrum of a probe
  symplex plot a-results b-results                 the histories of two runs in one picture
  symplex render drop-results --field von_mises    make the pictures again, otherwise
  symplex report drop-results                      what of energy and momenta the run has kept
  symplex export drop-results --to drop.parquet    its histories or frames as other tools read them
  symplex import beam.inp --units mm-t-s           an Abaqus deck as mesh and scenarios, in beam-imported/
  symplex info part.msh                            what is in a mesh file or a folder of results
  symplex mesh box --size 1 0.2 0.2 --cells 10 2 2 beam.msh
  symplex demo                                     a first picture, in symplex-demo/
  symplex warmup                                   compile all that the first runs would have to
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status (see `STATUSES`)."""
    prepare_streams()
    words = _with_signs(sys.argv[1:] if argv is None else argv)
    launch, looks = launched(), gc.get_threshold()
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)  # else Python's end looks through all that there is, for half a second
    if looks[0]:  # else it is never looked
        gc.set_threshold(max(_OBJECTS, looks[0]), *looks[1:])
    try:
        return _command(words) if launch is None else on_ranks(launch, lambda ranks: _command(words, ranks))
    finally:
        settle()
        gc.set_threshold(*looks)


def _command(argv: Sequence[str], ranks: Ranks | None = None) -> int:
    arguments = _parser().parse_args(argv)
    arguments.ranks = ranks
    if ranks is not None and "on_ranks" not in arguments:
        complain("error: it is 'symplex run' that runs on several ranks; start all else without mpiexec.")
        return BAD_INPUT
    # A file .numba_config.yaml in the working directory cannot name the folder that compiled code is loaded from.
    os.environ.setdefault("NUMBA_CACHE_DIR", "")
    # Threads of BLAS gain nothing in what commands do, and each waits for work in a loop. Before numpy is loaded.
    if not {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"} & os.environ.keys():
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
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
        return status_of(error)


def _with_signs(argv: Sequence[str]) -> list[str]:
    """Join a direction with a minus, as in ``--view -x``, to its option: argparse would see another option in it."""
    words: list[str] = []
    for word in argv:
        if words and words[-1] in DIRECTIONS and re.match(r"-[xyz\d.]", word):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints about arguments cannot steer the terminal, and whose help is reported if it can be."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and exit."""
        super().error(" ".join(bounded(printable(message))))

    def print_help(self, file: IO[str] | None = None) -> None:
        """Print the help; exit with a failure if it cannot be printed."""
        if status := reported(self.format_help().rstrip()):
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
    for command in _COMMANDS:
        command.add_parser(commands)
    return parser
