"""A scenario with some of its values replaced: ``--set integrator.dt=1e-6``, and the members of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from symplex.base.quantities import listed, shown
from symplex.base.toml import DEEPEST, read_toml
from symplex.errors import ScenarioError

_FORM = "write table.key=value, as integrator.dt=1e-6, body.cube.material.young=2e11 or body.1.velocity=[0, 0, -5]"


def split_change(change: str) -> tuple[str, str]:
    """Return the key and the value of a change written ``table.key=value``."""
    key, sign, value = change.partition("=")
    if not sign or not key.strip() or not value.strip():
        raise ScenarioError(f"{shown(change)} is no change of a scenario; {_FORM}.")
    return key.strip(), value.strip()


def with_changes(text: str, changes: Mapping[str, Any], name: str) -> str:
    """Return the text of a scenario with some values replaced or added; all else, comments too, stays as it is.

    Parameters
    ----------
    text : str
        A scenario that has been parsed before.
    changes : mapping of str to object
        Values by key: the names of tables and keys with dots between. Of tables in double brackets one is chosen by
        its name or its number, from 1 on. A text is read as TOML, or as itself where it is none.
    name : str
        The scenario's, for messages.
    """
    if not changes:
        return text
    import tomlkit  # heavy, and rarely needed

    document = tomlkit.parse(text)
    for key, value in changes.items():
        keys = key.split(".")
        try:
            if len(keys) > DEEPEST:
                raise ValueError(f"it must name at most {DEEPEST} tables in one another, got {len(keys):,}")
            _set(document, keys, value)
        except ValueError as error:
            raise ScenarioError(f"{name}: {shown(key)} cannot be set: {error}.") from None
    return tomlkit.dumps(document)


def _set(document: Any, keys: list[str], value: Any) -> None:
    from tomlkit import item, table

    if not all(keys) or (len(keys) < 2 and keys != ["title"]):
        raise ValueError(f"it names no key of a table; {_FORM}")
    *way, last = keys
    place: Any = document
    for depth, key in enumerate(way):
        if _is_list(place):
            place = chosen(place, key, ".".join(way[:depth]))
            continue
        if key not in place:
            place[key] = table()
        place = place[key]
        if not (_is_table(place) or _is_list(place)):
            raise ValueError(f"{'.'.join(way[: depth + 1])} is a value, not a table")
    if _is_list(place):
        raise ValueError(f"[[{'.'.join(way)}]] may be several tables; say which by name or number: {_names(place)}")
    try:
        place[last] = item(value_of(value) if isinstance(value, str) else value)
    except ValueError:
        raise ValueError(f"a {type(value).__name__} is no value of a scenario") from None


def _is_table(place: object) -> bool:
    return isinstance(place, Mapping)


def _is_list(place: object) -> bool:
    return isinstance(place, list) and all(map(_is_table, place))


def chosen(tables: Any, key: str, where: str) -> Any:
    """Return one of several tables by its name, or else its number."""
    for one in tables:
        if one.get("name") == key:
            return one
    if key.isdecimal() and 1 <= int(key) <= len(tables):
        return tables[int(key) - 1]
    raise ValueError(f"there is no [[{where}]] {shown(key)}; there are: {_names(tables)}")


def _names(tables: Any) -> str:
    return listed(str(one.get("name", k)) for k, one in enumerate(tables, 1))


def value_of(text: str) -> Any:
    """Return what a text is in TOML; a text without quotes, if it is nothing else."""
    try:
        found = read_toml(f"value = {text}\n")
    except ValueError:
        return text
    return found["value"] if list(found) == ["value"] else text


def parsed_changes(changes: Iterable[str]) -> dict[str, str]:
    """Return changes written ``table.key=value`` by key."""
    found: dict[str, str] = {}
    for change in changes:
        key, value = split_change(change)
        if key in found:
            raise ScenarioError(f"{shown(key)} is set twice: to {found[key]} and to {value}.")
        found[key] = value
    return found
