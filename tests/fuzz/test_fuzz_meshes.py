"""Mesh files that are damaged at random: each must be read as what it says, or be refused by one clear line.

What a damaged text says is judged by parsers of the tests' own (`mesh_judges`), for Gmsh 2.2 and 4.1 and Abaqus. Of
other formats it is not known what a damaged file says: they must be read or refused, within bounds of time and memory.
"""

from __future__ import annotations

import random
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import isolated
import mesh_files
import mesh_judges
import pytest

HERE = Path(__file__).parent
SECONDS = 20.0  # of processor time for one trial
MEMORY = 1 << 30  # bytes that one trial may take


# -- damage ---------------------------------------------------------------------------------------------------------

NUMBERS = [b"0", b"-1", b"-3", b"3.7", b"1e9", b"2147483648", b"4294967297", b"99999999999999999999", b"1e400", b"nan",
           b"-inf", b"1.5+3", b"", b"x", b"1", b"2", b"7"]  # fmt: skip
INTEGERS = [0, 1, 2, 3, -1, -7, 255, 65536, 10**6, 2**31 - 1, -(2**31)]


def a_byte(data: bytes, rng: random.Random) -> bytes:
    """Change a byte."""
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def a_byte_more(data: bytes, rng: random.Random) -> bytes:
    """Insert a byte, or take one out."""
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.randrange(32, 127)] * rng.randrange(2)) + data[at + rng.randrange(2) :]


def a_token(data: bytes, rng: random.Random) -> bytes:
    """Replace a word of a line by another number, drop it, double it, or swap it with the next."""
    lines = data.split(b"\n")
    k = rng.randrange(len(lines))
    between = b"," if b"," in lines[k] else b" "
    words = lines[k].split(between)
    j = rng.randrange(len(words))
    how = rng.randrange(5)
    if how == 0:
        del words[j]
    elif how == 1:
        words.insert(j, words[j])
    elif how == 2 and j + 1 < len(words):
        words[j : j + 2] = words[j + 1], words[j]
    elif how == 3:
        words[j] = rng.choice(data.split() or NUMBERS)
    else:
        words[j] = rng.choice(NUMBERS)
    lines[k] = between.join(words)
    return b"\n".join(lines)


def a_line(data: bytes, rng: random.Random) -> bytes:
    """Drop a line, double it, or swap it with another."""
    lines = data.split(b"\n")
    j, k = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(3)
    if how == 0:
        del lines[k]
    elif how == 1:
        lines.insert(j, lines[k])
    else:
        lines[j], lines[k] = lines[k], lines[j]
    return b"\n".join(lines)


def cut_short(data: bytes, rng: random.Random) -> bytes:
    """Keep the beginning only, or leave out a piece."""
    at = rng.randrange(len(data))
    return data[:at] if rng.randrange(2) else data[:at] + data[at + rng.randrange(1, 200) :]


def swapped_pieces(data: bytes, rng: random.Random) -> bytes:
    """Swap two pieces of the same length."""
    n = rng.choice([1, 4, 8, 16, 40, 100])
    if len(data) < 2 * n:
        return data[::-1]
    a = rng.randrange(len(data) - 2 * n + 1)
    b = rng.randrange(a + n, len(data) - n + 1)
    return data[:a] + data[b : b + n] + data[a + n : b] + data[a : a + n] + data[b + n :]


def a_binary_number(data: bytes, rng: random.Random) -> bytes:
    """Put a number of four or eight bytes somewhere: lengths, counts, indices."""
    number = struct.pack(rng.choice("<>") + rng.choice("iq"), rng.choice(INTEGERS))
    at = rng.randrange(max(1, len(data) - len(number)))
    return data[:at] + number + data[at + len(number) :]


def two_damages(data: bytes, rng: random.Random) -> bytes:
    """Do two of these."""
    for _ in range(2):
        data = rng.choice([a_byte, a_token, a_line])(data or b" ", rng)
    return data


DAMAGE: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "a byte changed": a_byte,
    "a byte more or less": a_byte_more,
    "a word changed": a_token,
    "a line changed": a_line,
    "cut short": cut_short,
    "pieces swapped": swapped_pieces,
    "a binary number changed": a_binary_number,
    "two changes": two_damages,
}


def cases(seed: int, count: int) -> Iterator[tuple[str, str, str, dict[str, bytes]]]:
    """Yield the format, the damage, and the files with the name of the one to read; texts with a judge three times."""
    rng = random.Random(seed)
    made = list(mesh_files.files())
    made += 4 * [case for case in made if case[0] in mesh_judges.JUDGES]
    for k in range(count):
        what, name, content = made[k % len(made)]
        how = rng.choice([*DAMAGE])
        victim = name if len(content) == 1 else rng.choice(sorted(content))
        yield what, how, name, {**content, victim: DAMAGE[how](content[victim], rng)}


# -- trials ---------------------------------------------------------------------------------------------------------


def trials(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield what was done to a mesh file, and the outcome of reading, describing and checking it."""
    for what, how, _, outcome in tried(seed, count):
        judged = "" if what in mesh_judges.JUDGES else ", not judged"
        yield f"mesh, {what}{judged}: {how}", outcome


def tried(seed: int, count: int) -> Iterator[tuple[str, str, dict[str, bytes], str]]:
    """Yield the format, the damage, the files, and the outcome."""
    with tempfile.TemporaryDirectory() as top, isolated.Isolated(Path(__file__)) as attempt:
        folder = Path(top) / "trial"
        folder.mkdir()
        for what, how, name, content in cases(seed, count):
            for file, data in content.items():
                (folder / file).write_bytes(data)
            yield what, how, content, attempt({"path": str(folder / name), "what": what})
            for file in content:
                (folder / file).unlink()


def trial(task: dict[str, str]) -> str:
    """Return the outcome for one file (in its own process)."""
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = read_and_judged(Path(task["path"]), task["what"])
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return outcome if used < MEMORY else f"memory: {used / 1e9:.1f} GB"


def read_and_judged(path: Path, what: str) -> str:
    """Read, describe, check and write a mesh, and compare it with what the file says."""
    import numpy as np

    from symplex.errors import MeshError
    from symplex.meshes.formats.read import read_mesh
    from symplex.meshes.quality import check_mesh, describe
    from symplex.meshes.repair import drop_duplicates, drop_unconnected, orient
    from symplex.runs.report import mesh_report

    try:
        mesh = read_mesh(path, require_volume=False)
    except MeshError as error:
        return isolated.judged(error, path.name)
    if not np.isfinite(mesh.points).all() or any(
        not 0 <= cells.min() <= cells.max() < len(mesh.points) for cells in mesh.cells.values()
    ):
        return "wrong result: points that are not finite, or cells beyond the points"
    describe(mesh)
    mesh_report(path)
    describe(drop_unconnected(orient(drop_duplicates(mesh))))
    for look in (lambda: check_mesh(mesh), *(lambda group=group: mesh.faces_of(group) for group in mesh.groups)):
        try:
            look()
        except MeshError as error:
            if isolated.judged(error) != isolated.REFUSED:
                return isolated.judged(error)
    if what not in mesh_judges.JUDGES:
        return isolated.RAN
    return compared(mesh, mesh_judges.JUDGES[what], path.read_bytes())


def compared(mesh: Any, judge: Callable[[str], Any], data: bytes) -> str:
    """Return whether a mesh is what a text says."""
    try:
        said = judge(data.decode("utf-8", "replace")).seen()
    except mesh_judges.Invalid as why:
        return f"wrong result: read, though it says no mesh: {why}"
    seen = mesh_judges.seen_of(mesh, said)
    wrong = [key for key in said if said[key] != seen[key]]
    return f"wrong result: read with other {', '.join(wrong)}" if wrong else isolated.RAN


# -- tests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("what", "name", "content"), list(mesh_files.files()), ids=lambda value: str(value)[:20])
def test_whole_files_are_read_as_what_they_say(tmp_path, what, name, content):
    for file, data in content.items():
        (tmp_path / file).write_bytes(data)
    assert read_and_judged(tmp_path / name, what) == isolated.RAN


def test_judges_know_wrong_meshes():
    """A judge that agreed with everything would be of no use."""
    from symplex.meshes.generate import box

    for what, judge in mesh_judges.JUDGES.items():
        _, text = mesh_files.TEXTS[what]
        assert compared(box((1, 1, 1), (1, 1, 1)), judge, text.encode()).startswith("wrong result")
        with pytest.raises(mesh_judges.Invalid):
            judge(text.replace("1", "1.5 "))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_damaged_meshes_are_read_as_they_are_or_refused(seed):
    outcomes: Counter[str] = Counter()
    for what, how, content, outcome in tried(seed, 1000):
        outcomes[outcome.split(":")[0]] += 1
        if outcome not in (isolated.RAN, isolated.REFUSED):
            print(f"{what}: {how}: {outcome}", *(f"{file}: {data!r}" for file, data in content.items()), sep="\n")
    print(outcomes)
    assert set(outcomes) <= {isolated.RAN, isolated.REFUSED}
    assert min(outcomes.values()) > 100


if __name__ == "__main__" and "--serve" in sys.argv:
    isolated.serve(trial, SECONDS)
