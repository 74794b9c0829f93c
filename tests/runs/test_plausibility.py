"""What `symplex check` and the start of a run say of valid scenarios that can hardly be meant."""

import pytest

from symplex.commands.cli import main
from symplex.runs.plausibility import doubts
from symplex.scenario.scenario import Scenario

BODY = """
[[body]]
name = "{name}"
mesh = {{ box = [0.1, 0.1, 0.1], cells = [2, 2, 2], split = "hexahedra" }}
material = {{ young = {young}, poisson = 0.3, density = {density} }}
translate = [{x}, 0, 0]
velocity = [0, 0, {v}]
"""
REST = '[integrator]\nkind = "energy-momentum"\ndt = 1e-6\n[run]\nduration = 2e-6\nframes = 2\n'
HELD = '[[support]]\nbody = "a"\ngroup = "z_min"\n'
BALL = '[[rigid_body]]\nname = "ball"\nmesh = {{ sphere = 0.01 }}\nmass = {mass}\ntranslate = [1, 0, 0]\n'
POINT = '[[point_mass]]\nname = "{name}"\nposition = [{x}, 0, 1]\nmass = 1\n'


def body(name="a", young=210e9, density=7850.0, x=0.0, v=0.0):
    return BODY.format(name=name, young=young, density=density, x=x, v=v)


def doubts_of(text):
    return doubts(Scenario.parse(text + REST).build())


def test_a_plausible_scenario_has_no_doubts():
    points = POINT.format(name="p", x=0) + POINT.format(name="q", x=1)
    assert doubts_of(body() + body("b", x=0.1, v=1.0) + BALL.format(mass=0.03) + points + HELD) == []


@pytest.mark.parametrize(
    ("material", "reported"),
    [
        ({"density": 7.85}, ("waves of 1.898e+05 m/s", "E = 210 GPa", "density = 7.85 kg/m³")),
        ({"young": 210.0}, ("waves of 0.1898 m/s", "E = 210 Pa")),
        ({"young": 2.1e12, "density": 0.5}, ("density = 0.5 kg/m³", "and waves of 2.378e+06 m/s")),
        ({"density": 7.35e8}, ("density = 7.35e+08 kg/m³ (materials have 1 to 25,000 kg/m³)",)),
    ],
)
def test_units_that_do_not_fit_are_told_with_what_follows_from_them(material, reported):
    (line,) = doubts_of(body(**material))
    assert line.startswith("[[body]] #1 'a': implausible ")
    assert all(part in line for part in reported), line


def test_a_mass_that_does_not_fit_its_volume_is_told():
    (line,) = doubts_of(BALL.format(mass=30))
    assert "'ball'" in line
    assert "30 kg in a volume of" in line


def test_bodies_in_one_place_are_told_with_how_much_of_them_is():
    (line,) = doubts_of(body() + body("b", x=0.05))
    assert line.startswith("[[body]] #2 'b' is in the same place as body 'a': 50 % of its elements")
    (line,) = doubts_of(body() + POINT.format(name="p", x=2) + POINT.format(name="q", x=2))
    assert line.startswith("'p' and 'q' are in one place")


def test_of_many_doubts_of_a_kind_the_first_are_told():
    lines = doubts_of("".join(body(f"b{k}") for k in range(4)))  # six pairs
    assert len(lines) == 3
    assert lines[-1].endswith("(3 more like this.)")


def test_velocities_that_supports_take_away_are_told():
    (line,) = doubts_of(body(v=2.0) + HELD)
    assert "of up to 2 m/s" in line
    assert "25 % of the kinetic energy (3.925 of 15.7 J)" in line
    assert doubts_of(body(v=2.0) + HELD + 'name = "ram"\nvelocity = [0, 0, 2]\n') == []


def test_check_and_run_begin_with_them(tmp_path, capsys):
    path = tmp_path / "steel.toml"
    path.write_text(body(density=7.85) + REST, encoding="utf-8")
    assert main(["check", str(path)]) == 0
    assert "\nwarning: [[body]] #1 'a': implausible waves" in capsys.readouterr().out
    assert main(["run", str(path), "--output", str(tmp_path / "out"), "--no-pictures"]) == 0
    out = capsys.readouterr()
    assert "warning: [[body]] #1 'a': implausible waves" in out.out + out.err


def test_a_shell_that_is_thicker_than_long_is_told():
    plate = """
[[shell]]
name = "plate"
mesh = { plate = [0.4, 0.2], cells = [2, 1] }
thickness = 2
material = { young = 210e9, poisson = 0.3, density = 7850 }
"""
    (line,) = doubts_of(plate)
    assert line == (
        "[[shell]] #1 'plate': implausible thickness = 2 m of a shell that measures 400 mm. Check the units: m."
    )
    assert doubts_of(plate.replace("thickness = 2", "thickness = 2e-3")) == []


def test_a_mass_at_a_node_of_a_beam_that_is_not_part_of_it_is_told():
    mast = """
[[beam]]
name = "mast"
mesh = { line = 4.0, bars = 4 }
up = [0, 0, 1]
section = { kind = "pipe", radius = 0.05, thickness = 0.004 }
material = { young = 2.1e11, poisson = 0.3, density = 7850 }
[[point_mass]]
name = "antenna"
mass = 50
position = [4, 0, 0]
"""
    (line,) = doubts_of(mast)
    assert line == (
        "[[point_mass]] #1 'antenna' is at a node of 'mast', but is not joined to it. "
        'Give body = "mast" and at = [4, 0, 0] instead of position.'
    )
    assert doubts_of(mast.replace("position = [4, 0, 0]", 'body = "mast"\nat = [4, 0, 0]')) == []
    assert doubts_of(mast.replace("position = [4, 0, 0]", "position = [4, 0, 1]")) == []
