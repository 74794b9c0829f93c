"""A command on several ranks: the first one does it and speaks, the others help, and all end with its status."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from symplex.base.streams import complain
from symplex.commands.common import BAD_INPUT, FAILED
from symplex.errors import SymplexError

if TYPE_CHECKING:
    from symplex.parallel.launch import Launch
    from symplex.parallel.ranks import Ranks


def on_ranks(launch: Launch, command: Callable[[Ranks], int]) -> int:
    """Do a command on the first rank, which may call the others; return its exit status, on all of them."""
    complaints = _mute() if launch.rank > 0 else 2
    from symplex.parallel.ranks import Ranks

    try:
        ranks = Ranks(launch=launch)
    except SymplexError as error:
        complain(f"error: {error}")
        return BAD_INPUT
    if not ranks.leads:
        return _served(ranks, complaints)
    status = FAILED
    try:
        status = command(ranks)
    except SystemExit as end:  # of the parser
        status = end.code if isinstance(end.code, int) else FAILED
        raise
    finally:
        ranks.stop(status)
    return status


def _mute() -> int:
    """Have what this process prints go nowhere, as the first rank speaks for all; return its standard error."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    return kept


def _served(ranks: Ranks, complaints: int) -> int:
    try:
        return ranks.serve()
    except BaseException:  # the first rank would not hear of it, and wait for ever
        os.write(complaints, f"rank {ranks.rank}: {traceback.format_exc()}".encode())
        ranks.comm.Abort(FAILED)
        raise
