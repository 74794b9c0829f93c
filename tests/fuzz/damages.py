"""What can happen to the files of a results folder, drawn from a seed."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Damage = Callable[[Path, random.Random, Path], None]


def describe(base: Path, seed: int) -> str:
    """Return which kind of file is damaged, and how, with a seed in a results folder ``base / "out"``."""
    name, how = _drawn(base / "out", random.Random(seed))
    kind = name if "frame" not in name and "block" not in name else f"frame{Path(name).suffix}"
    return f"{Path(kind).name}, {how}"


def damage(folder: Path, bases: Path, seed: int) -> None:
    """Damage one file of a results folder; ``bases`` holds others, whose files may take its place."""
    chance = random.Random(seed)
    name, how = _drawn(folder, chance)
    _of(name)[how](folder / name, chance, bases)


def _drawn(folder: Path, chance: random.Random) -> tuple[str, str]:
    """Return the file to be damaged and the name of the damage: one kind of file is as likely as another."""
    by_kind: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in (".lock", "notes.txt"):
            name = str(path.relative_to(folder))
            by_kind.setdefault(path.suffix if path.parent != folder else name, []).append(name)
    name = chance.choice(by_kind[chance.choice(list(by_kind))])
    return name, chance.choice(list(_of(name)))


def _of(name: str) -> dict[str, Damage]:
    """Return the damages for a file by name; those that know its format are as many as the others."""
    own = _OWN[Path(name).suffix]
    if Path(name).name == "model.npz":
        own = own | _MODEL
    return _ANY | own


# -- any file -------------------------------------------------------------------------------------------------------


def _truncated(path: Path, chance: random.Random, bases: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(len(data))])


def _emptied(path: Path, chance: random.Random, bases: Path) -> None:
    path.write_bytes(b"")


def _flipped(path: Path, chance: random.Random, bases: Path) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 2, 8, 64])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _scribbled(path: Path, chance: random.Random, bases: Path) -> None:
    data = bytearray(path.read_bytes())
    start, n = chance.randrange(len(data)), chance.choice([1, 4, 8, 100, 4096])
    fill = chance.choice([chance.randbytes(n), bytes(n), b"\xff" * n])
    data[start : start + n] = fill[: len(data) - start]
    path.write_bytes(data)


def _text(path: Path, chance: random.Random, bases: Path) -> None:
    path.write_text(chance.choice(["hello\n", "\n", "[]", "{}", "a,b\n1,2\n", "<x/>", "\x00" * 100, "é" * 50]))


def _lengthened(path: Path, chance: random.Random, bases: Path) -> None:
    path.write_bytes(path.read_bytes() + chance.choice([b"\0" * 500, b"junk\n", chance.randbytes(300)]))


def _exchanged(path: Path, chance: random.Random, bases: Path) -> None:
    others = [other for other in sorted(bases.glob(f"*/*/**/{path.name}")) if other.read_bytes() != path.read_bytes()]
    others = others or sorted(bases.glob("0/out/*.*"))
    shutil.copyfile(chance.choice(others), path)


def _other_kind(path: Path, chance: random.Random, bases: Path) -> None:
    others = [other for other in sorted(bases.glob("[01]/out/*.*")) if other.is_file() and other.name != path.name]
    shutil.copyfile(chance.choice(others), path)


def _folder(path: Path, chance: random.Random, bases: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path, chance: random.Random, bases: Path) -> None:
    path.unlink()
    path.symlink_to(chance.choice(["nothing", path.name, "/dev/null", "/dev/zero", "/dev/full"]))


def _pipe(path: Path, chance: random.Random, bases: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _deleted(path: Path, chance: random.Random, bases: Path) -> None:
    path.unlink()


def _unreadable(path: Path, chance: random.Random, bases: Path) -> None:
    path.chmod(0)  # which stops everyone but the administrator


_ANY: dict[str, Damage] = {
    "truncated": _truncated,
    "emptied": _emptied,
    "bits flipped": _flipped,
    "bytes overwritten": _scribbled,
    "replaced by text": _text,
    "lengthened": _lengthened,
    "of another run": _exchanged,
    "replaced by another file": _other_kind,
    "a folder": _folder,
    "a link": _link,
    "a pipe": _pipe,
    "deleted": _deleted,
    "unreadable": _unreadable,
}


# -- text -----------------------------------------------------------------------------------------------------------

_NUMBERS = ["nan", "inf", "-inf", "1e400", "1e308", "-1e308", "1e-320", "9" * 400, "-1", "0", "", "x", "0x10", "1_0"]


def _number(path: Path, chance: random.Random, bases: Path) -> None:
    """Put an odd number in place of one."""
    import re

    text = path.read_text("utf-8")
    found = list(re.finditer(r"-?\d[\d.]*(e[-+]?\d+)?", text))
    if not found:  # declared columns have names and units only
        path.write_text(text + chance.choice(_NUMBERS), encoding="utf-8")
        return
    match = chance.choice(found)
    path.write_text(text[: match.start()] + chance.choice(_NUMBERS) + text[match.end() :], encoding="utf-8")


def _line(path: Path, chance: random.Random, bases: Path) -> None:
    """Drop, repeat, exchange or cut a line."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    how = chance.randrange(4)
    if how == 0:
        del lines[i]
    elif how == 1:
        lines.insert(j, lines[i])
    elif how == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines[i] = lines[i][: chance.randrange(len(lines[i]) + 1)]
    path.write_text("".join(lines), encoding="utf-8")


def _line_ends(path: Path, chance: random.Random, bases: Path) -> None:
    text = path.read_bytes().replace(b"\n", chance.choice([b"\r\n", b"\r", b"\n\n"]))
    path.write_bytes(chance.choice([b"", b"\xef\xbb\xbf", b"\xff\xfe"]) + text)


def _encoding(path: Path, chance: random.Random, bases: Path) -> None:
    path.write_bytes(path.read_bytes().decode().encode(chance.choice(["utf-16", "utf-8-sig", "utf-32", "cp037"])))


_TEXT: dict[str, Damage] = {
    "an odd number": _number,
    "lines": _line,
    "line ends": _line_ends,
    "encoding": _encoding,
}


def _json(path: Path, chance: random.Random, bases: Path) -> None:
    """Put a value of another type in place of one."""
    data = json.loads(path.read_text("utf-8"))
    odd = chance.choice([None, True, 5, -1.5, "text", "", [], [1], {}, {"x": 1}, float("nan"), 10**400, [[]] * 3])
    place: Any = data
    keys: list[Any] = []
    while isinstance(place, dict | list) and len(place) and (not keys or chance.random() < 0.7):
        keys.append(chance.choice(list(place) if isinstance(place, dict) else range(len(place))))
        place = place[keys[-1]]
    inner = data
    for key in keys[:-1]:
        inner = inner[key]
    if chance.random() < 0.1:
        data = odd
    elif chance.random() < 0.2 and isinstance(inner, dict):
        del inner[keys[-1]]
    else:
        inner[keys[-1]] = odd
    path.write_text(json.dumps(data), encoding="utf-8")


def _deep(path: Path, chance: random.Random, bases: Path) -> None:
    path.write_text(chance.choice(["[", '{"a":']) * 100_000, encoding="utf-8")


def _columns(path: Path, chance: random.Random, bases: Path) -> None:
    """Drop, rename, repeat or exchange a column."""
    rows = [line.split(",") for line in path.read_text("utf-8").splitlines()]
    i, j = chance.randrange(len(rows[0])), chance.randrange(len(rows[0]))
    how = chance.randrange(5)
    for k, row in enumerate(rows):
        if how == 0:
            del row[i]
        elif how == 1:
            row.insert(j, row[i])
        elif how == 2:
            row[i], row[j] = row[j], row[i]
        elif how == 3 and k == 0:
            row[i] = chance.choice(["", "x", "t", "total", 'a"b', row[i].upper()])
        elif how == 4 and k:
            row[i] = chance.choice([row[i], "", "7"])
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")


# -- archives of arrays, and HDF5 -----------------------------------------------------------------------------------


def _array(value: np.ndarray, chance: random.Random) -> np.ndarray:
    """Return an array with another type, shape or content."""
    how = chance.randrange(9)
    if how == 0:
        return value.astype(chance.choice(["i4", "f4", "U20", "c16", "?"]) if value.dtype.kind in "iufb" else "S50")
    if how == 1:
        return value.ravel()[: value.size // 2]
    if how == 2:
        return np.zeros(chance.choice([(0,), (), (1,), (3, 0), (2, 2, 2)]), value.dtype)
    if how == 3:
        return np.array(chance.choice(["text", 5, -1, 2.5, None]), object)
    if how == 4 and value.dtype.kind == "f":
        return np.full_like(value, chance.choice([np.nan, np.inf, 1e300, -1.0]))
    if how == 5 and value.dtype.kind in "iu":
        return value + value.dtype.type(chance.choice([1, 100, 10**6]))
    if how == 6:
        return np.concatenate([value.ravel()] * 2)
    if how == 7 and value.ndim:
        return value[::-1]
    return value.ravel()


def _arrays(path: Path, chance: random.Random, bases: Path) -> None:
    """Alter, drop, rename or add an array."""
    with np.load(path) as file:
        arrays = dict(file)
    name = chance.choice(list(arrays))
    how = chance.randrange(6)
    value = arrays.pop(name)
    if how == 1:
        arrays[name + "x"] = value
    elif how > 1:
        arrays[name] = _array(value, chance)
    np.savez(path, **arrays)


def _huge(path: Path, chance: random.Random, bases: Path) -> None:
    """Claim a huge shape for an array."""
    import zipfile

    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(list(members))
    shape = chance.choice([(10**12,), (10**9, 10**9), (2**31,), (-5,), (10**30,)])
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    members[name] = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)


def _one_array(path: Path, chance: random.Random, bases: Path) -> None:
    with path.open("wb") as file:
        np.save(file, chance.choice([np.zeros(3), np.array([{}], object), np.array("x")]))


def _dataset(path: Path, chance: random.Random, bases: Path) -> None:
    """Alter, drop or move a part of an HDF5 file, as a program may that does not know what it is."""
    import h5py

    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visititems(lambda name, item: names.append(name))
        name = chance.choice(names)
        item: Any = file[name]
        how = chance.randrange(5)
        if how == 0:
            del file[name]
        elif how == 1:
            file.move(name, name + "x")
        elif isinstance(item, h5py.Group):
            del file[name]
            file[name] = chance.choice([5, np.zeros(3), "text", np.zeros((0, 3))])
        else:
            value = item[...]
            del file[name]
            altered = _array(value, chance) if value.dtype.kind in "iuf" else np.zeros(2)
            if altered.dtype.kind in "OU":
                altered = altered.astype("S20")
            file[name] = altered


def _claimed(path: Path, chance: random.Random, bases: Path) -> None:
    """Let a dataset claim more than there is."""
    import h5py

    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        data: Any = file[chance.choice(names)]
        if data.chunks is not None:
            data.resize(chance.choice([0, 1, data.shape[0] + 1, 10**6, 10**13]), axis=0)
        else:
            name = data.name
            del file[name]
            file.create_dataset(name, (10**10, 3), "f8", chunks=(1000, 3))


def _log(path: Path, chance: random.Random, bases: Path) -> None:
    """Leave a log next to the file, as a kill may, but not a good one."""
    log = path.with_name(path.name + ".redo")
    chance.choice([lambda: log.write_bytes(chance.randbytes(5000)), log.mkdir, lambda: log.write_bytes(b"")])()


_ARRAYS: dict[str, Damage] = {"arrays": _arrays, "a huge shape": _huge, "a single array": _one_array}
_MODEL: dict[str, Damage] = {f"arrays, {k}": _arrays for k in "abcd"}
_OWN: dict[str, dict[str, Damage]] = {
    ".toml": _TEXT,
    ".json": _TEXT | {f"values, {k}": _json for k in "abc"} | {"too deep": _deep},
    ".csv": _TEXT | {f"columns, {k}": _columns for k in "abc"},
    ".npz": _ARRAYS,
    ".vtkhdf": {f"datasets, {k}": _dataset for k in "abcdef"} | {"claims": _claimed, "a log": _log},
    ".pvd": _TEXT,
    ".vtm": _TEXT,
    ".vtu": {},
}
