"""Observed orders of refined steps and meshes."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import symplex as sx
from symplex.commands.cli import main
from symplex.studies.convergence import observed_orders

PENDULUM = """\
title = "A hanging bar"
[[truss]]
name = "bar"
mesh = { line = 1.0, bars = 1 }
stiffness = 1e3
member_mass = 2.0
velocity = [0, 0, 1]
[[support]]
body = "bar"
group = "x_min"
components = "xyz"
[gravity]
acceleration = [0, 0, -9.81]
[integrator]
kind = "KIND"
dt = 0.011
[run]
duration = 0.2
frames = 2
[output]
pictures = false
"""


def converge(text, key="integrator.dt", **keys):
    return sx.converge(sx.Scenario.parse(text, "bar.toml"), key, workers=0, progress=False, **keys)


@pytest.mark.parametrize(
    ("kind", "order", "name"),
    [
        ("newmark", 2, "final(bar)"),
        pytest.param("energy-momentum", 2, "final(bar)", marks=pytest.mark.slow),
    ],
)
def test_the_order_of_a_method_is_observed(kind, order, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = converge(PENDULUM.replace("KIND", kind), quantities=[name], refinements=4)
    assert found.study.path == Path("bar-convergence")
    assert order - 0.1 < found.order(name) < order + 0.1
    dts = [member.values["integrator.dt"] for member in found.study.members]
    assert dts[0] <= 0.011
    np.testing.assert_allclose(dts, dts[0] * 0.5 ** np.arange(5), rtol=1e-15)
    steps = [found.study.result(member.name).summary["statistics"]["steps"] for member in found.study.members]
    assert steps == [steps[0] * 2**k for k in range(5)]
    fine = {"refinements": 1, "factor": 1 / 64, "output": "fine"}
    value = converge(PENDULUM.replace("KIND", kind), quantities=[name], **fine).values[name][-1]
    # The estimate is nearer to what finer steps give than the last value.
    assert abs(found.limits[name] - value) < 0.5 * abs(found.values[name][-1] - value)
    assert (found.study.path / "convergence.png").stat().st_size > 1000


def test_a_mesh_is_refined(tmp_path, monkeypatch, capsys):
    """The static energy of a bar under its weight: that of linear elements converges at order 2, exactly."""
    monkeypatch.chdir(tmp_path)
    Path("rope.toml").write_text(
        """
        [define]
        n = 2
        [[truss]]
        name = "rope"
        mesh = { line = 1.0, bars = "=n" }
        section = 1e-4
        material = { young = 1e6, density = 1000 }
        [[support]]
        body = "rope"
        group = "x_min"
        components = "xyz"
        [[support]]
        body = "rope"
        components = "yz"
        [gravity]
        acceleration = [10, 0, 0]
        [start]
        kind = "static"
        [integrator]
        kind = "newmark"
        [run]
        duration = 1e-3
        frames = 1
        samples = 1
        [output]
        pictures = false
        """
    )
    exact = (1000 * 1e-4 * 10) ** 2 / (6 * 1e6 * 1e-4)  # (ρAg)² L³/(6 EA)
    words = ["converge", "rope.toml", "--key", "define.n", "--doublings", "3", "--workers", "0"]
    assert main([*words, "--quantity", "first(rope)", "--exact", repr(exact)]) == 0
    out = capsys.readouterr().out
    assert "first(rope) tends to 0.0016666667 J at the observed order 2" in out
    assert sx.studies.read_convergence("rope-convergence").exact == exact
    assert main([*words, "--quantity", "first(rope)", "--overwrite"]) == 0
    reported = capsys.readouterr().out
    assert "first(rope) tends to 0.0016666" in reported
    found = sx.studies.read_convergence("rope-convergence")
    assert found.exact is None
    assert found.order("first(rope)") == pytest.approx(2.0, abs=1e-3)
    known = json.loads(Path("rope-convergence/convergence.json").read_text())
    assert known["quantities"]["first(rope)"]["values"] == found.values["first(rope)"].tolist()
    assert main(["info", "rope-convergence"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Convergence\n")
    assert found.report() in out
    assert found.report() in reported
    assert main(["plot", "rope-convergence", "--output", "errors.svg"]) == 0
    assert Path("errors.svg").stat().st_size > 1000
    Path("rope-convergence/convergence.json").write_text("[1]")
    assert main(["plot", "rope-convergence"]) == 2
    assert "convergence.json cannot be read: not a convergence study, or damaged" in capsys.readouterr().err


def test_orders_of_numbers():
    h = 0.5 ** np.arange(5)
    orders, limit = observed_orders(3.0 + 0.7 * h**3, 2.0)
    assert np.isnan(orders[:2]).all()
    np.testing.assert_allclose(orders[2:], 3.0, rtol=1e-9)
    assert math.isclose(limit, 3.0, rel_tol=1e-12)
    orders, limit = observed_orders(3.0 - 0.7 * h**1.5, 2.0, exact=3.0)
    assert np.isnan(orders[0])
    np.testing.assert_allclose(orders[1:], 1.5, rtol=1e-12)
    assert limit == 3.0
    orders, limit = observed_orders(np.array([1.0, 2.0, 1.0, 2.0]), 2.0)
    assert np.isnan(orders).all()
    assert math.isnan(limit)
    assert observed_orders(np.ones(3), 2.0)[1] == 1.0


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"key": "run.name"}, "there is no 'run.name' to change; name a key that is given"),
        ({"key": "truss.bar.law"}, "there is no 'truss.bar.law' to change"),
        ({"key": "truss.bar.name"}, r"truss.bar.name is 'bar', must be a number, or several, to be refined"),
        ({"key": "truss.bar.mesh.bars", "factor": 0.5}, "truss.bar.mesh.bars: 1 times 0.5 is not an integer"),
        ({"refinements": 0}, "there are to be 0 refinements, must be from 1 to 12"),
        ({"factor": 1.0}, "the factor is 1, must be from 1e-6 to 1e6 and not 1"),
        ({"factor": 2.0}, "the factor is 2, which makes steps longer; take one below 1"),
        ({"quantities": ["mass", "masses"], "refinements": 1}, "summary.json has no number 'masses'; it has nodes"),
        ({"exact": 1.0, "quantities": ["t_end", "mass"]}, "an exact value is that of one quantity; give one"),
        (
            {"key": "truss.bar.stiffness", "factor": 1e6},
            r"the run with truss.bar.stiffness = \S+ failed: .*above the stability limit",
        ),
    ],
)
def test_mistakes_are_told(keys, message, tmp_path):
    with pytest.raises(sx.SymplexError, match=message):
        converge(PENDULUM.replace("KIND", "newmark"), output=tmp_path / "out", **keys)
