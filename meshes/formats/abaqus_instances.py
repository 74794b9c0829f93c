"""Parts and instances of Abaqus input files: the blocks of a part once for each instance, at its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from symplex.errors import MeshError
from symplex.meshes.formats.abaqus_deck import Block, Placement
from symplex.meshes.formats.account import Account

_ENCLOSE = ("PART", "ASSEMBLY", "INSTANCE")
_NO_END = "it has no end"
_NO_INSTANCE = "its part has no instance"
STRIDE = 10**8  # between the numbers of two instances


def placed(blocks: Iterable[Block], account: Account | None = None) -> Iterator[Block]:
    """Yield the blocks of a deck without those of parts, and those of the part of each instance where that stands.

    Numbers of the k-th instance are k · 10⁸ larger. A deck of one instance that is not moved is yielded as it is. Parts
    without an instance are unknown to the account.
    """
    every = list(blocks)
    if account is not None:
        _note_ends(every, account)
    instances = [block for block in every if block.keyword == "INSTANCE"]
    if len(instances) < 2 and not any(block.lines for block in instances):
        yield from _of_instances(every, instances, account)
        return
    parts: dict[str, list[Block]] = {}
    part: list[Block] | None = None
    places: dict[str, Placement] = {}
    inside: Placement | None = None
    used: set[str] = set()
    for block in every:
        if block.keyword == "PART":
            part = parts.setdefault(block.parameter("NAME").upper(), [])
        elif block.keyword == "END PART":
            part = None
        elif part is not None:
            part.append(block)
        elif block.keyword == "INSTANCE":
            inside = _placement(block, len(places) + 1)
            if inside.name.upper() in places:
                raise MeshError(f"there are two instances called '{inside.name}'.")
            places[inside.name.upper()] = inside
            name = block.parameters.get("PART", "")
            if name.upper() not in parts:
                raise MeshError(f"the instance '{inside.name}' is one of the part '{name}', which is not there.")
            used.add(name.upper())
            yield from (replace(inner, placement=inside) for inner in parts[name.upper()])
        elif block.keyword == "END INSTANCE":
            inside = None
        elif inside is not None:
            yield replace(block, placement=inside)
        elif block.keyword in ("NSET", "ELSET") and (name := block.parameters.get("INSTANCE", "")):
            if name.upper() not in places:
                raise MeshError(f"a set is one of the instance '{name}', which is not there.")
            yield replace(block, members=places[name.upper()])
        else:
            yield block
    if account is not None:
        for block in (block for name in parts if name not in used for block in parts[name]):
            account.add_unknown(f"*{block.keyword}", *block.span, _NO_INSTANCE)


def _note_ends(every: list[Block], account: Account) -> None:
    """Say to an account which parts, instances and assemblies have no end, and which ends have no beginning."""
    inside: list[Block] = []
    for block in every:
        if block.keyword in _ENCLOSE:
            inside.append(block)
        elif (ended := block.keyword.removeprefix("END ")) in _ENCLOSE:
            if all(outer.keyword != ended for outer in inside):
                account.add_unknown(f"*{block.keyword}", *block.span, f"it ends no *{ended}")
                continue
            while (outer := inside.pop()).keyword != ended:
                account.add_unknown(f"*{outer.keyword}", *outer.span, _NO_END)
    for outer in inside:
        account.add_unknown(f"*{outer.keyword}", *outer.span, _NO_END)


def _of_instances(every: list[Block], instances: list[Block], account: Account | None) -> Iterator[Block]:
    """Yield the blocks of a deck but those of parts of which it has no instance, if it has any."""
    used = {block.parameters.get("PART", "").upper() for block in instances}
    inside = ""
    for block in every:
        if block.keyword == "PART":
            inside = block.parameter("NAME").upper()
        if not used or not inside or inside in used:
            yield block
        elif account is not None:
            account.add_unknown(f"*{block.keyword}", *block.span, _NO_INSTANCE)
        if block.keyword == "END PART":
            inside = ""


def _placement(block: Block, k: int) -> Placement:
    """Return the place of an instance: a line with a shift, and one with an axis by two points, and degrees."""
    shift, turn = np.zeros(3), np.eye(3)
    name = block.parameter("NAME")
    rows = [[float(word) for word in line.split(",") if word.strip()] for line in block.lines]
    if rows:
        shift[: len(rows[0])] = rows[0]
    if len(rows) > 2 or (len(rows) == 2 and len(rows[1]) != 7):
        raise ValueError(f"the place of the instance '{name}' is not a shift and seven numbers of a turn")
    centre = np.zeros(3)
    if len(rows) == 2:
        a, b, degrees = np.array(rows[1][:3]), np.array(rows[1][3:6]), rows[1][6]
        if not (b - a).any():
            raise MeshError(f"the axis of the instance '{name}' has no direction.")
        x, y, z = (b - a) / np.linalg.norm(b - a)
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        angle = np.radians(degrees)
        turn = turn + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross  # Rodrigues
        centre = a
    # First the shift, then the turn about the axis, which is where the shift leaves it.
    return Placement(name, k * STRIDE, turn, turn @ (shift - centre) + centre)
