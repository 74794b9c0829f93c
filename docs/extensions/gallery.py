"""The gallery: a page for every scenario and script of examples/, with its text, its pictures and its source.

Nothing is run: the tests run the examples, and their pictures are in docs/pictures. Scenes that can be turned and
played, pages of ``symplex view``, are computed by ``python docs/build.py --scenes``.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from outside import ROOT, gallery_name, write_changed
from PIL import Image, ImageOps
from sphinx.application import Sphinx

_WIDTH = 480  # of thumbnails, pixels
_COLON = ":::"


@dataclass(frozen=True)
class Example:
    """A file of examples/ as a page."""

    path: Path
    title: str
    text: str
    command: str
    pictures: tuple[Path, ...]
    pages: tuple[Path, ...]

    @property
    def name(self) -> str:
        """The name of its page."""
        return gallery_name(self.path)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before anything is read."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Sphinx) -> None:
    folder = Path(app.srcdir, "gallery")
    folder.mkdir(exist_ok=True)
    examples = all_examples()
    scenes = {f"{page.stem}.toml" for page in Path(app.srcdir, "static", "scenes").glob("*.html")}
    for example in examples:
        write_changed(folder / f"{example.name}.md", _page(example, example.path.name in scenes))
        if example.pictures:
            _thumbnail(example.pictures[0], folder / f"{example.name}.png")
    write_changed(folder / "index.md", _index(examples))
    kept = {"index", *(example.name for example in examples)}
    for page in folder.glob("*.md"):
        if page.stem not in kept:  # of an example that is no more
            page.unlink()


def all_examples() -> list[Example]:
    """Return the examples, sorted by their names."""
    paths = sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".toml"))
    stems = {path.stem for path in paths}
    pictures = sorted((ROOT / "docs" / "pictures").glob("*.png"))
    docs = ROOT / "docs"
    prose = sorted([*docs.glob("*.md"), *docs.glob("benchmarks/*.md")])
    pages = {page: page.read_text(encoding="utf-8") for page in prose}
    found = []
    for path in paths:
        source = path.read_text(encoding="utf-8")
        title, text, command = (_scenario if path.suffix == ".toml" else _script)(path, source)
        own = tuple(one for one in pictures if _shows(one.stem, path.stem, source, stems))
        named = tuple(page for page, prose in pages.items() if re.search(rf"\b{re.escape(path.name)}\b", prose))
        found.append(Example(path, title, text, command, own, named))
    return found


def _shows(picture: str, stem: str, source: str, stems: set[str]) -> bool:
    """Whether a picture is of an example: by its name, or as the source writes it."""
    of = max((one for one in stems if picture == one or picture.startswith(one + "_")), key=len, default="")
    return of == stem or re.search(rf"[\"'/]{re.escape(picture)}(\.png)?[\"']", source) is not None


def _scenario(path: Path, source: str) -> tuple[str, str, str]:
    lines = source.splitlines()
    comment = [line.removeprefix("#").strip() for line in lines[: next(i for i, x in enumerate(lines) if x[:1] != "#")]]
    return tomllib.loads(source)["title"], " ".join(comment), f"symplex run examples/{path.name}"


def _script(path: Path, source: str) -> tuple[str, str, str]:
    first, _, rest = (ast.get_docstring(ast.parse(source)) or path.stem).partition("\n")
    command = re.search(r"^ +(python examples/.*)$", rest, re.MULTILINE)
    text = rest.replace(command.group(), "") if command else rest
    return first.rstrip("."), re.sub(r"``?([^`]+)``?", r"`\1`", text).strip(), command.group(1) if command else ""


def _page(example: Example, scene: bool) -> str:
    language = "toml" if example.path.suffix == ".toml" else "python"
    parts = [f"# {example.title}", _escaped(example.text)]
    if example.command:
        parts.append(f"```sh\n{example.command}\n```")
    if scene:
        parts.append(
            f'```{{raw}} html\n<iframe class="scene" src="../_static/scenes/{example.path.stem}.html" '
            f'title="{example.title}: turn it with the mouse, play it below" loading="lazy"></iframe>\n```'
        )
        parts.append("The page that [`symplex view`](../view.md) writes: turn, cut, play.")
    parts += [f"![{picture.stem.replace('_', ' ')}](../pictures/{picture.name})" for picture in example.pictures]
    if example.pages:
        links = ", ".join(
            f"[]({page.relative_to(ROOT / 'docs').as_posix().join(('../', ''))})" for page in example.pages
        )
        parts.append(f"More of it in: {links}.")
    parts.append(f"## Source\n\n{{download}}`{example.path.name} <../../examples/{example.path.name}>`")
    parts.append(f"```{{literalinclude}} ../../examples/{example.path.name}\n:language: {language}\n```")
    return "\n\n".join(part for part in parts if part) + "\n"


def _escaped(text: str) -> str:
    """Return prose in which Markdown sees no markup but code."""
    return re.sub(r"(?<![`\w])([*_<$])", r"\\\1", text)


def _index(examples: list[Example]) -> str:
    scenarios = [example for example in examples if example.path.suffix == ".toml"]
    scripts = [example for example in examples if example.path.suffix == ".py" and example.command]
    shared = [example for example in examples if not example.command]
    parts = [
        "# Examples",
        "Each is a test as well. Scenarios run by one command, as `symplex run examples/drop.toml`; scripts show the "
        "interface in Python, and most repeat an example of a paper.",
        "## Scenarios",
        _cards(scenarios),
        "## Scripts",
        _cards(scripts),
        "## What scripts share",
        "\n".join(f"- [{example.title}]({example.name}.md)" for example in shared),
        "```{toctree}\n:hidden:\n\n" + "\n".join(example.name for example in (*scenarios, *scripts, *shared)) + "\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _cards(examples: list[Example]) -> str:
    lines = [f"{_COLON}:{{grid}} 1 2 3 3", ":gutter: 3", ""]
    for example in sorted(examples, key=lambda one: not one.pictures):  # those with pictures first
        lines += [f"{_COLON}{{grid-item-card}} {example.title}", f":link: {example.name}", ":link-type: doc"]
        if example.pictures:
            lines += [f":img-top: {example.name}.png"]
        lines += ["", f"`{example.path.name}`", _COLON]
    return "\n".join([*lines, _COLON + ":"])


def _thumbnail(picture: Path, target: Path) -> None:
    if target.exists() and target.stat().st_mtime >= picture.stat().st_mtime:
        return
    with Image.open(picture) as whole:
        ImageOps.fit(whole.convert("RGB"), (_WIDTH, _WIDTH * 2 // 3)).save(target)
