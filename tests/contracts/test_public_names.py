"""Every public name says what it is, what its parameters are, and shows how it is used; the examples run.

The examples are in docs/snippets, one file for each family, from where the reference of the site takes them. Those of a
family follow one another in one namespace. Numbers may differ by rounding.
"""

import doctest
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import symplex

SNIPPETS = Path(__file__).parents[2] / "docs" / "snippets"
FAMILIES = [family for family in symplex._FAMILIES if family != "errors"]  # an error is what is raised
NAMES = [(family, name) for family in FAMILIES for name in getattr(symplex, family).__all__]
# Those whose example could not run here, and why.
WITHOUT = {
    "meshes.render_film": "it takes two seconds to load VTK and draw; docs/notebooks.md shows it",
    "meshes.render_snapshots": "it takes two seconds to load VTK and draw; docs/notebooks.md shows it",
    "parallel.Ranks": "it needs a script that mpiexec starts; an example is in its own text, tests/parallel start one",
}
_SAID = re.compile(r"^([\w, *]+?) :", re.MULTILINE)  # of a parameter
_HEADING = re.compile(r"^== (\w+)\n", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.?\d*(?:e[-+]?\d+)?")
_SCALAR = re.compile(r"np\.\w+\(([^()]*)\)|np\.(True|False)_")


class Rounded(doctest.OutputChecker):
    """Compares texts, with numbers up to rounding and scalars as any version of NumPy writes them."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Whether what came is what was wanted."""
        want, got = (_SCALAR.sub(lambda one: one[1] or one[2], text) for text in (want, got))
        words = [_NUMBER.sub("#", text).split() for text in (want, got)]
        numbers = [[float(one) for one in _NUMBER.findall(text)] for text in (want, got)]
        return words[0] == words[1] and np.allclose(*numbers, rtol=1e-5, atol=1e-9)


def snippets(family: str) -> dict[str, str]:
    """Return the examples of a family, by names."""
    path = SNIPPETS / f"{family}.txt"
    pieces = _HEADING.split(path.read_text("utf-8")) if path.exists() else [""]
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def parameters(value: object) -> list[str]:
    """Return the parameters that users give."""
    if inspect.isclass(value) and value.__init__ is object.__init__:
        return []
    return [name for name in inspect.signature(value).parameters if not name.startswith("_")]


@pytest.mark.parametrize("family", FAMILIES)
def test_names_say_what_they_are_and_what_they_take(family):
    """One sentence first; functions and classes with a constructor name all of their parameters."""
    for name in getattr(symplex, family).__all__:
        value = getattr(getattr(symplex, family), name)
        text = inspect.getdoc(value)
        assert re.match(r"[A-Zcφ].*[.,:;]$", text.split("\n")[0]), f"{name}: {text.split(chr(10))[0]}"
        said = {word for line in _SAID.findall(text) for word in re.split(r"[ ,*]+", line)}
        assert set(parameters(value)) <= said, f"{name}: {sorted(set(parameters(value)) - said)}"


def test_every_name_has_an_example():
    have = {f"{family}.{name}" for family in FAMILIES for name in snippets(family) if name != "setup"}
    public = {f"{family}.{name}" for family, name in NAMES}
    assert have <= public
    assert public - have == set(WITHOUT)


@pytest.mark.parametrize("family", [path.stem for path in sorted(SNIPPETS.glob("*.txt"))])
def test_examples_run(family, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(Rounded(), verbose=False)
    space = {"np": np, "sx": symplex}
    said: list[str] = []
    with np.printoptions(precision=6, suppress=True):
        for name, text in snippets(family).items():
            test = parser.get_doctest(text, space, f"{family}.{name}", None, None)
            runner.run(test, out=said.append, clear_globs=False)
            space = test.globs
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
