"""The page about elements and laws: its examples run, and its laws are those of the package."""

import re

import numpy as np

import symplex as sx


def test_examples_of_the_page(pytestconfig):
    page = (pytestconfig.rootpath / "docs" / "elements.md").read_text("utf-8")
    first, *others = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(first, names)
    assert abs(names["mass"].sum() - 4.0) < 1e-12
    for code in others:
        exec(code, names)
    solid, foam = names["solid"], names["Foam"](1e6, 300.0)
    assert abs(foam.lame_constants[1] - 1e6) < 1e-6
    body = sx.Solid(solid.points, solid.nodes, foam)
    x0 = 1.02 * solid.points[solid.nodes]
    x1 = x0 + 1e-3 * np.random.default_rng(0).standard_normal(solid.points.shape)[solid.nodes]
    work = (body.discrete_gradient(x0, x1) * (x1 - x0)).sum()
    change = (body.value(x1) - body.value(x0)).sum()
    assert abs(work - change) < 1e-12 * abs(change)
    for law in re.findall(r"^\| `(\w+)` \| ", page.split("## Laws")[1], re.MULTILINE):
        assert issubclass(getattr(sx, law), sx.Material)
