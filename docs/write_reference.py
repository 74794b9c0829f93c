"""Write the reference of scenarios, a page for each table: ``python docs/write_reference.py``.

Keys, types, units, ranges, defaults and sentences stand in the classes of `symplex.scenario.tables.Tables` and in
those of integrators; examples in `table_examples.py` next to this file. A test compares the pages with what is written
here.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from symplex.base.quantities import Quantity
from symplex.scenario.methods import IntegratorTable, MethodKey
from symplex.scenario.plastic import PlasticKeys
from symplex.scenario.reading import fields_of
from symplex.scenario.table import Table
from symplex.scenario.tables import Kind, Tables, kinds_of

DOCS = Path(__file__).resolve().parent
FOLDER = DOCS / "scenario"
SHARED = "inner-tables"
_MOST_ITEMS = 8  # of a default that is shown; longer ones are the first words of their type
_MOST_EXAMPLES = 2  # of a kind on its page; the others are tested
NONE = "–"
_PLAIN = {bool: "boolean", str: "text", int: "integer", float: "number"}


class Row(NamedTuple):
    """A key as the reference shows it."""

    key: str
    type: str
    unit: str
    range: str
    default: str
    sentence: str


def rows_of(model: type[Table], home: Mapping[type[Table], str]) -> list[Row]:
    """Return the keys of a table; of tables inside it the page and heading are given."""
    if issubclass(model, IntegratorTable):
        return [_row_of_method(key, item) for key, item in model.keys.items()]
    rows = []
    for field in fields_of(model).values():
        if (field.key == "kind" and len(get_args(field.annotation)) == 1) or field.is_hidden:
            continue  # the heading says it, or it is no key
        parts = list(_parts(field.annotation))
        quantity = next((x for x in parts if isinstance(x, Quantity)), Quantity(lambda x: x))
        sentence = next((x for x in parts if isinstance(x, str)), quantity.sentence)
        default = "required" if field.is_required else _shown(field.default)
        kind = _type(field.annotation, home)
        rows.append(Row(field.key, kind, quantity.unit, quantity.range, default, sentence))
    return rows


def _row_of_method(key: str, item: MethodKey) -> Row:
    default = "required" if item.default is ... else _shown(item.default)
    return Row(key, item.quantity.kind, item.quantity.unit, item.quantity.range, default, item.sentence)


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield what an annotation says, what is outermost first, but not what is inside tables and words."""
    if get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
        yield from _parts(annotation.__origin__)
    elif get_origin(annotation) is not Literal:
        yield annotation
        for part in get_args(annotation):
            yield from _parts(part)


def _type(annotation: Any, home: Mapping[type[Table], str]) -> str:
    """Return a type in words."""
    if get_origin(annotation) is Annotated:
        kind = next((x.kind for x in annotation.__metadata__ if isinstance(x, Quantity) and x.kind), "")
        return kind or _type(annotation.__origin__, home)
    origin, inside = get_origin(annotation), [part for part in get_args(annotation) if part not in (type(None), ...)]
    if origin is Literal:
        words = ", ".join(f'`"{word}"`' if isinstance(word, str) else f"`{word}`".lower() for word in inside)
        return words
    if origin in (list, tuple):
        return f"list, each: {_type(inside[0], home)}"
    if origin in (dict, Mapping):
        return f"table of names, each: {_type(inside[1], home)}"
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_type(part, home) for part in inside))
    if isinstance(annotation, type) and issubclass(annotation, IntegratorTable):
        return "[`integrator`](integrator.md)"
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return f"[table]({home[annotation]})"
    return _PLAIN[annotation]


def _shown(value: Any) -> str:
    """Return a default as TOML writes it, or a dash for none."""
    if isinstance(value, Table):
        return NONE
    if isinstance(value, bool):
        return f"`{value}`".lower()
    if isinstance(value, str):
        return f'`"{value}"`'
    if value is None or (isinstance(value, list | tuple | dict) and not value):
        return NONE
    if isinstance(value, float | int):
        return f"`{value:g}`"
    items = list(value)
    if len(items) > _MOST_ITEMS:
        return f"the first {len(items)}"
    return f"`[{', '.join(_shown(x).strip('`') for x in items)}]`"


def inner_tables(model: type[Table]) -> list[type[Table]]:
    """Return the tables inside a table, at any depth, in the order of its keys."""
    found: dict[type[Table], None] = {}
    for field in fields_of(model).values():
        for part in _parts(field.annotation):
            if isinstance(part, type) and issubclass(part, Table) and not issubclass(part, IntegratorTable):
                found |= {part: None} | dict.fromkeys(inner_tables(part))
    return list(found)


def _heading(model: type[Table]) -> str:
    """Return what a table inside others is called: after its class."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", model.__name__.removesuffix("Table")).capitalize()


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def _prose(model: type) -> str:
    """Return the text of a docstring before its sections, as Markdown."""
    text = inspect.cleandoc(model.__doc__ or "")
    text = re.split(r"\n(?:Parameters|Attributes|Examples|Raises|Notes|References)\n-+\n", f"\n{text}")[0].strip()
    text = re.sub(r":(?:cite|math):?\w*:?`[^`]*`", "", text)
    if issubclass(model, IntegratorTable):
        text = text.split("\n\n")[0]  # the rest is in the reference of Python, and on the page of the method
    return text.replace("``", "`")


def _table(rows: list[Row]) -> str:
    if not rows:
        return ""
    lines = ["| key | value | meaning |", "| --- | --- | --- |"]
    for row in rows:
        value = row.type + (f" in {row.unit}" if row.unit not in ("", "1") else "")
        value += f", {row.range}" if row.range else ""
        if row.default != NONE:
            value += ", **required**" if row.default == "required" else f", default {row.default}"
        cells = [f"`{row.key}`", value, row.sentence.replace("``", "`")]
        lines.append("| " + " | ".join(re.sub(r"\s*\n\s*", " ", cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _examples(examples: list[str]) -> str:
    return "".join(f"\n```toml\n{example.strip()}\n```\n" for example in examples[:_MOST_EXAMPLES])


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    from table_examples import EXAMPLES  # next to this file

    kinds = kinds_of(Tables)
    users: dict[type[Table], list[str]] = {}
    for key, kind in kinds.items():
        for inner in dict.fromkeys(x for model in kind.models.values() for x in inner_tables(model)):
            users.setdefault(inner, []).append(key)
    home = {inner: f"{SHARED if len(of) > 1 else of[0]}.md#{_anchor(_heading(inner))}" for inner, of in users.items()}
    found = {key: _page(key, kind, home, users, EXAMPLES) for key, kind in kinds.items()}
    shared = [inner for inner, of in users.items() if len(of) > 1]
    head = "# Tables inside others\n\nKeys of several tables have these tables as values.\n"
    found[SHARED] = _named(head + "".join(_section(inner, home, _heading(inner)) for inner in shared) + _metals(home))
    found["index"] = _index(kinds)
    return found


def _page(
    key: str,
    kind: Kind,
    home: Mapping[type[Table], str],
    users: Mapping[type[Table], list[str]],
    examples: Mapping[str, Mapping[str, list[str]]],
) -> str:
    bracketed = f"[[{key}]]" if kind.several else f"[{key}]"
    text, of = f"# `{bracketed}`\n", examples.get(key, {})
    models = kind.models
    if "" in models:
        text += f"\n{_prose(models[''])}\n\n{_table(rows_of(models[''], home))}{_examples(of.get('', []))}"
    else:
        text += f"\n`kind` is one of {', '.join(f'[`{word!r}`](#{_anchor(word)})' for word in models)}.\n".replace(
            "'", '"'
        )
        if key == "integrator":
            text += "\nOrder, conservation and the page of each method: [integrators](../integrators.md).\n"
        every = [rows_of(model, home) for model in models.values()]
        common = [row for row in every[0] if all(row in rows for rows in every)]
        several = [row for row in dict.fromkeys(row for rows in every for row in rows) if _in(row, every) > 1]
        several = [row for row in several if row not in common or len(common) < 2]
        if len(common) > 1:
            text += f"\n## Keys of all kinds\n\n{_table(common)}"
        if several:
            text += f"\n## Keys of several kinds\n\n{_table(several)}"
        for (word, model), rows in zip(models.items(), every, strict=True):
            own = [row for row in rows if _in(row, every) == 1]
            names = ", ".join(f"`{row.key}`" for row in rows if row in several)
            also = f"Keys {names} as [above](#keys-of-several-kinds)" + ("; and:\n\n" if own else ".\n")
            text += f"\n## {word}\n\n{_prose(model)}\n\n{also if names else ''}{_table(own)}"
            text += _examples(of.get(word, [])[:1])
    inner = [x for x, keys in users.items() if keys == [key]]
    return _named(text + "".join(_section(x, home, _heading(x)) for x in inner))


def _in(row: Row, every: list[list[Row]]) -> int:
    return sum(row in rows for rows in every)


def _section(model: type[Table], home: Mapping[type[Table], str], heading: str) -> str:
    rows = rows_of(model, home)
    if issubclass(model, PlasticKeys):
        rows = [row for row in rows if row not in rows_of(PlasticKeys, home)]
        also = f"Also the [keys of metals]({SHARED}.md#{_anchor(_heading(PlasticKeys))}).\n\n"
    else:
        also = ""
    return f"\n## {heading}\n\n{_prose(model)}\n\n{also}{_table(rows)}"


def _metals(home: Mapping[type[Table], str]) -> str:
    """Return the section of the keys that materials of bodies, trusses and beams share."""
    return f"\n## {_heading(PlasticKeys)}\n\n{_prose(PlasticKeys)}\n\n{_table(rows_of(PlasticKeys, home))}"


def _index(kinds: Mapping[str, Kind]) -> str:
    text = "# Reference of scenario files\n\n"
    text += "One page for each table; [scenario.md](../scenario.md) says how files are written.\n\n"
    text += "| table | |\n| --- | --- |\n"
    for key, kind in kinds.items():
        bracketed = f"[[{key}]]" if kind.several else f"[{key}]"
        models = list(kind.models.values())
        what = _prose(models[0]).split("\n\n")[0] if len(models) == 1 else f"kinds: {', '.join(kind.models)}"
        text += f"| [`{bracketed}`]({key}.md) | {what.replace(chr(10), ' ').replace('|', chr(92) + '|')} |\n"
    text += f"| [tables inside others]({SHARED}.md) | {_COMMON} |\n"
    names = "\n".join([*kinds, SHARED])
    return _named(f"{text}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n")


_COMMON = "histories, rotations, rigid surfaces"


def _named(text: str) -> str:
    return text.replace("\n\n\n", "\n\n")


def main() -> int:
    """Write all pages."""
    FOLDER.mkdir(exist_ok=True)
    written = pages()
    for page in FOLDER.glob("*.md"):
        if page.stem not in written:
            page.unlink()
    for name, text in written.items():
        (FOLDER / f"{name}.md").write_text(text, "utf-8")
    print(f"{len(written)} pages in {FOLDER}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
