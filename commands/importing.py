"""``symplex import``."""

from __future__ import annotations

import argparse
from pathlib import Path

from symplex.base.streams import complain
from symplex.commands.common import FAILED, add_command, reported


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    from symplex.decks.units import LIMIT, UNITS

    deck = add_command(
        commands, "import", _import, "write mesh and scenarios of an Abaqus or CalculiX deck to a folder"
    )
    deck.add_argument("deck", metavar="DECK", help="input file (.inp)")
    deck.add_argument("--output", metavar="DIR", help="folder for what is written; default: DECK-imported")
    deck.add_argument(
        "--units", choices=UNITS, default="si", help="the deck's units, which it does not state; default: si"
    )
    deck.add_argument(
        "--strict",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="refuse steps with unknown keywords or parameters (default), or leave these out; they are listed",
    )
    deck.add_argument(
        "--limit",
        type=float,
        default=LIMIT,
        metavar="S",
        help=f"how long to try each scenario, 0 for not at all; default: {LIMIT:g} s",
    )
    deck.add_argument(
        "--shells",
        choices=("shells", "solids"),
        default="shells",
        help="what shells become: [[shell]] (default), or one layer of solid elements, as in CalculiX",
    )
    deck.add_argument("--overwrite", action="store_true", help="replace files that are there")


def _import(arguments: argparse.Namespace) -> int:
    from symplex.decks.importing import import_deck

    deck = Path(arguments.deck)
    folder = arguments.output or f"{deck.stem}-imported"
    imported = import_deck(
        deck,
        folder,
        units=arguments.units,
        overwrite=arguments.overwrite,
        strict=arguments.strict,
        limit=arguments.limit,
        shells=arguments.shells,
        progress=complain,
    )
    status = reported(imported.report())
    if imported.scenarios:
        return status
    why = f"{imported.reasons[0]}." if imported.reasons else "it has no steps."
    more = f" {len(imported.reasons) - 1} more are above." if len(imported.reasons) > 1 else ""
    complain(f"error: {deck.name}: no step was imported, only the mesh: {why}{more}")
    return FAILED
