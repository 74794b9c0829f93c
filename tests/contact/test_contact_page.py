"""The page about contact: its examples run, and the user-defined obstacle keeps the energy."""

import re

import symplex as sx


def test_examples_of_the_page(pytestconfig, capsys):
    page = (pytestconfig.rootpath / "docs" / "contact.md").read_text("utf-8")
    first, smooth, framed, second, law = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(first, names)
    assert names["contact"].deepest(names["mesh"].points)[1] < 0.0
    exec(smooth, {})  # it asserts what it says
    exec(framed, {})  # it asserts what it says
    assert len(second.splitlines()) <= 60
    exec(second, names)
    exec(law, names)
    reported = re.match(r"(\S+) J in the floor, change of the energy (\S+) J", capsys.readouterr().out)
    assert reported is not None
    assert float(reported[1]) > 1e-4
    assert abs(float(reported[2])) < 1e-12
    for obstacle in re.findall(r"^\| `(\w+)\([^`]*\)` \| ", page, re.MULTILINE):
        assert hasattr(sx.contact, obstacle)
