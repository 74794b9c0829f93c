"""Reference of the Python interface: a page for every family of public names, from the tables of the packages.

A name is documented where users find it, as ``symplex.solids.Solid``; references by the module that it is defined in,
or by its last part alone, are led there. Examples are from docs/snippets, which tests/contracts/test_public_names.py
runs.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from docutils import nodes
from outside import write_changed
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import symplex
from symplex.base.representation import Tabled

TITLES = {
    "actions": "Masses, loads and supports",
    "conserving": "Energy-momentum methods",
    "constraints": "Constraints: SHAKE and RATTLE",
    "contact": "Contact",
    "decks": "Decks of other programs",
    "device": "Motions on a CUDA device",
    "equilibria": "Static and relative equilibria",
    "errors": "Errors",
    "events": "Force-stepping",
    "explicit": "Explicit methods",
    "fem": "Systems, states and energies",
    "gradients": "Gradients of runs",
    "grid": "Lattices of force-stepping",
    "implicit": "Implicit methods",
    "manifolds": "Systems on manifolds",
    "measures": "Springs, bars and other pairs",
    "meshes": "Meshes, series and pictures",
    "modes": "Modes and frequency response",
    "outputs": "Stresses, reactions and other outputs",
    "parallel": "Several processes",
    "reductions": "Reduction by symmetries",
    "runs": "Runs and results",
    "scenario": "Scenarios",
    "solids": "Solids and materials",
    "solvers": "Solvers",
    "structures": "Beams and frames",
    "studies": "Studies",
    "testing": "Checks of user-defined code",
    "time": "Integrators and trajectories",
    "variational": "Variational methods",
}
_ORDER = (
    *(
        "fem",
        "meshes",
        "solids",
        "measures",
        "structures",
        "actions",
        "contact",
        "grid",
        "time",
        "explicit",
        "implicit",
    ),
    *(
        "conserving",
        "events",
        "variational",
        "constraints",
        "reductions",
        "manifolds",
        "equilibria",
        "modes",
        "gradients",
    ),
    *("solvers", "outputs", "scenario", "decks", "runs", "studies", "testing", "parallel", "device", "errors"),
)

# Public names by what else names them: where they are defined, in symplex itself, their last part if only one has it.
_HOMES: dict[str, str] = {}
_HEADING = re.compile(r"^== (\w+)\n", re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before anything is read, and lead references to them."""
    if missing := set(symplex._FAMILIES) ^ set(_ORDER) | set(symplex._FAMILIES) ^ set(TITLES):
        raise ValueError(f"docs/extensions/reference.py knows other families than symplex: {sorted(missing)}")
    app.connect("builder-inited", _write)
    app.connect("autodoc-process-docstring", _plain)
    app.connect("autodoc-process-docstring", _show, priority=900)  # after those that read the docstring
    app.connect("doctree-read", _unlink_words)
    app.connect("missing-reference", _lead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def public_names(family: str) -> list[str]:
    """Return the public names of a family."""
    module = getattr(symplex, family)
    if family == "errors":
        return [
            name
            for name, value in vars(module).items()
            if inspect.isclass(value) and value.__module__ == module.__name__
        ]
    return list(module.__all__)


def snippets(family: str) -> dict[str, str]:
    """Return the examples of a family by names, and what they begin with as ``setup``."""
    path = Path(__file__).parents[1] / "snippets" / f"{family}.txt"
    pieces = _HEADING.split(path.read_text("utf-8")) if path.exists() else [""]
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def _write(app: Sphinx) -> None:
    folder = Path(app.srcdir, "api")
    for family in _ORDER:
        names = public_names(family)
        for name in names:
            value, public = getattr(getattr(symplex, family), name), f"symplex.{family}.{name}"
            _HOMES[f"{getattr(value, '__module__', '')}.{name}"] = public
            _HOMES[name] = "" if name in _HOMES else public  # two families have it: not by this alone
            if symplex._FAMILY_OF.get(name) == family:
                _HOMES[f"symplex.{name}"] = _HOMES[f"sx.{name}"] = _HOMES[name] = public
        write_changed(folder / f"{family}.rst", _page(family, names))
    write_changed(folder / "index.md", _index())


def _page(family: str, names: list[str]) -> str:
    module = f"symplex.{family}"
    lines = [TITLES[family], "=" * len(TITLES[family]), "", f"``{module}``", ""]
    lines += [inspect.getdoc(getattr(symplex, family)) or "", ""]
    if examples := snippets(family):
        begin = ">>> import numpy as np\n>>> import symplex as sx\n" + examples.get("setup", "")
        lines += ["The examples on this page follow one another, and begin with", "", begin.rstrip(), ""]
    lines += [".. autosummary::", "", *(f"   ~{module}.{name}" for name in names), "", f".. py:module:: {module}", ""]
    for name in names:
        value = getattr(getattr(symplex, family), name)
        lines += [name, "-" * len(name), ""]
        if symplex._FAMILY_OF.get(name) == family:
            lines += [f"Also ``symplex.{name}``.", ""]
        if inspect.isclass(value):
            inherited = ["   :inherited-members:"] if issubclass(value, Tabled) else []
            lines += [f".. autoclass:: {module}.{name}", "   :members:", *inherited, "   :show-inheritance:", ""]
        elif callable(value):
            lines += [f".. autofunction:: {module}.{name}", ""]
        else:
            lines += [f".. autodata:: {module}.{name}", "   :no-value:", ""]
    return "\n".join(lines) + "\n"


def _index() -> str:
    rows = "\n".join(f"| [`symplex.{family}`]({family}.rst) | {TITLES[family]} |" for family in _ORDER)
    here = ", ".join(
        f"[`{name}`](#symplex.{symplex._FAMILY_OF[name]}.{name})" for name in sorted(symplex._FAMILY_OF, key=str.lower)
    )
    toctree = "```{toctree}\n:hidden:\n\n" + "\n".join(_ORDER) + "\n```"
    return (
        "# Reference\n\nThe public names, by families: `import symplex as sx`, then `sx.measures.RigidBars`. A family "
        f"is loaded when it is first used.\n\n| | |\n| --- | --- |\n{rows}\n\n"
        f"## Also in `symplex` itself\n\nWhat most studies need, as `sx.System`: {here}.\n\n{toctree}\n"
    )


def _plain(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Escape what docstrings write as formulas and reStructuredText reads as markup, such as the bars of a norm."""
    for i, line in enumerate(lines):
        pieces = re.split(r"(``.*?``|`[^`]*`)", line)
        lines[i] = "".join(
            piece if piece.startswith("`") else re.sub(r"(?<!\\)(?<![*\w])\|(?=\S)", r"\\|", piece) for piece in pieces
        )


def _show(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Add the example of a public name to its docstring."""
    _, _, rest = name.partition("symplex.")
    family, _, public = rest.partition(".")
    if example := snippets(family).get(public):
        lines += ["", ".. rubric:: Example", "", *example.rstrip().split("\n"), ""]


def _unlink_words(app: Sphinx, doctree: nodes.document) -> None:
    """Take the references out of types that are words: ``dim`` in "float64 [n, dim]" is no attribute of a class."""
    for node in list(doctree.findall(pending_xref)):
        target = str(node.get("reftarget"))
        if node.get("refdomain") == "py" and node.get("refspecific") and "." not in target and target.islower():
            node.replace_self(node.children)


def _lead(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Resolve a reference to a public name by the module that it is defined in, or by its last part."""
    if node.get("refdomain") != "py":
        return None
    target = str(node["reftarget"])
    owner, _, last = target.rpartition(".")
    public = _HOMES.get(target) or (f"{_HOMES[owner]}.{last}" if _HOMES.get(owner) else "")
    if not public or public == target:
        return None
    domain = env.domains.python_domain
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", public, node, content)
