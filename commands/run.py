"""``symplex run``."""

from __future__ import annotations

import argparse
import shlex

from symplex.base.lazy import Loading
from symplex.base.streams import complain, say
from symplex.commands.common import OK, add_command, add_scenario, add_strict, scenario_of, status_of, words_of
from symplex.errors import StepFailed


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    run = add_command(commands, "run", _run, "simulate a scenario; write results, pictures and a summary to a folder")
    add_scenario(run)
    run.add_argument(
        "--until", metavar="T", help="extend the run to this time in s; with --resume beyond the end of a finished run"
    )
    run.add_argument(
        "--device", choices=["cpu", "cuda"], help="where explicit Newmark computes, as --set integrator.device=…"
    )
    run.add_argument("--output", metavar="DIR", help="results folder; default: the scenario's, or SCENARIO-results")
    again = run.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="continue from the last checkpoint in the folder")
    again.add_argument("--overwrite", action="store_true", help="replace the run that is in the folder")
    add_strict(run, "mesh files")
    run.add_argument("--no-pictures", action="store_true", help="no plot, snapshots or film at the end")
    run.add_argument("--quiet", action="store_true", help="print errors only")
    run.set_defaults(on_ranks=True)


def _run(arguments: argparse.Namespace) -> int:
    from symplex.runs import drawing_processes

    if not arguments.no_pictures and arguments.ranks is None:
        drawing_processes.begin()  # all else takes a second to load
    with Loading(for_good=True):
        from symplex.runs.beginning import default_folder
        from symplex.runs.results import RunFolder
        from symplex.runs.run import simulate

    if arguments.until is not None:
        arguments.set.append(f"run.until={arguments.until}")
    if arguments.device is not None:
        arguments.set.append(f"integrator.device={arguments.device}")
    scenario = scenario_of(arguments)
    output = arguments.output or default_folder(scenario)
    try:
        summary = simulate(
            scenario,
            output,
            resume=arguments.resume,
            overwrite=arguments.overwrite,
            progress=not arguments.quiet,
            pictures=not arguments.no_pictures,
            ranks=arguments.ranks,
            strict=arguments.strict,
        )
    except KeyboardInterrupt as error:
        begun = RunFolder(output).checkpoint.exists()
        on = ["mpiexec", "-n", str(arguments.ranks.size)] if arguments.ranks else []
        words = words_of(arguments, ("set", "output"))
        again = shlex.join([*on, "symplex", "run", arguments.scenario, *words, "--resume"])
        done = f"what was computed is in {output}; resume with: {again}" if begun else "nothing was computed yet."
        complain(f"interrupted; {done}")
        return status_of(error)
    except StepFailed as error:
        kept = RunFolder(output).read_summary()
        if kept.get("reason") == str(error) and "t_end" in kept:
            complain(f"what was computed, to t = {kept['t_end']:.6g} s, is in {output}")
        raise
    if not arguments.quiet:
        from symplex.runs.report import run_report

        say(run_report(summary, output))  # the run is done, whether this can be printed or not
    return OK
