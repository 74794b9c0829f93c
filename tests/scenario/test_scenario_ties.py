"""Ties between bodies, and velocities at the start."""

import numpy as np
import pytest

from symplex.commands.cli import main
from symplex.errors import ScenarioError
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario
from symplex.time.trajectory import record

RUBBER = "material = { young = 1e6, poisson = 0.3, density = 1000 }\n"
LOWER = '[[body]]\nname = "lower"\nmesh = { box = [0.2, 0.1, 0.1], cells = [2, 1, 1], split = "hexahedra" }\n' + RUBBER
UPPER = LOWER.replace("lower", "upper") + "translate = [0, 0, 0.1]\n"
FINE = UPPER.replace("[2, 1, 1]", "[3, 2, 1]")
TIE = '[[tie]]\nbody = "upper"\ngroup = "z_min"\nto = "lower"\n'
SURFACE = TIE + 'name = "glue"\nkind = "surface"\n'
SPIN = "".join(
    f'[[velocity]]\nbody = "{name}"\nvelocity = [0.3, 0, 0]\nangular_velocity = [0, 4, 0]\npoint = [0, 0, 0]\n'
    for name in ("lower", "upper")
)
MAST = """
[[truss]]
name = "mast"
mesh = { lattice = [0.2, 0.1, 0.2], cells = [1, 1, 2] }
translate = [0, 0, 0.1]
section = 1e-4
material = { young = 1e8, density = 1000 }
[[tie]]
body = "mast"
group = "z_min"
to = "lower"
"""


def rest(integrator='kind = "newmark"', duration=1e-3):
    return (
        f"\n[integrator]\n{integrator}\n[run]\nduration = {duration}\nframes = 2\n[output]\npictures = false\n"
        'film = "none"\n'
    )


EM = 'kind = "energy-momentum"\ndt = 1e-3'


def build(text):
    return Scenario.parse(text, "test.toml").build()


def lines(text):
    with pytest.raises(ScenarioError) as caught:
        build(text)
    return str(caught.value).splitlines()


# -- ties ---------------------------------------------------------------------------------------------------------


def test_tied_nodes_are_one():
    """Two boxes tied are the box of both: the same nodes, masses and energy."""
    tied = build(LOWER + UPPER + TIE + rest())
    whole = build(LOWER.replace("0.1], cells = [2, 1, 1]", "0.2], cells = [2, 1, 2]") + rest())
    assert tied.system.n_nodes == whole.system.n_nodes == 18
    assert sum(map(len, tied.mesh.boundary_faces.values())) == sum(map(len, whole.mesh.boundary_faces.values()))

    def by_place(problem):
        return np.lexsort(problem.mesh.points.round(6).T)

    order, others = by_place(tied), by_place(whole)
    np.testing.assert_allclose(tied.mesh.points[order], whole.mesh.points[others], atol=1e-15)
    np.testing.assert_allclose(tied.system.mass[order], whole.system.mass[others], rtol=1e-14)
    bent = tied.mesh.points + 0.01 * np.sin(20.0 * tied.mesh.points[:, [2, 0, 1]])
    q = np.empty_like(bent)
    q[others] = bent[order]
    assert tied.system.potential(bent) == pytest.approx(whole.system.potential(q), rel=1e-13)


@pytest.mark.parametrize(("upper", "tie"), [(UPPER, TIE), (FINE, SURFACE)])
def test_a_gap_that_a_tie_closes_is_told_and_a_wide_one_refused(upper, tie, tmp_path, capsys):
    def apart(gap, tolerance):
        text = LOWER + upper.replace("[0, 0, 0.1]", f"[0, 0, {0.1 + gap}]") + tie + f"tolerance = {tolerance}\n"
        return text + rest(duration=1e-4)

    name = "'glue'" if "glue" in tie else ""
    reported = "closes a gap of up to 0.005 m to 'lower', by moving nodes ("
    (note,) = build(apart(0.005, 0.01)).notes
    assert note.startswith(f"{f'[[tie]] #1 {name}'.strip()}: {reported}")
    assert build(apart(0.0, 0.01)).notes == ()
    (line,) = lines(apart(0.06, 0.1))
    assert "the gap to 'lower' must be at most 0.5 of the shortest edge there, " in line
    assert "m, got 0.06 m" in line
    file = tmp_path / "tied.toml"
    file.write_text(apart(0.005, 0.01))
    for words in (["check", str(file)], ["run", str(file), "--output", str(tmp_path / "out")]):
        assert main(words) == 0
        assert reported in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("kind", ["nodes", "surface"])
@pytest.mark.parametrize("integrator", ['kind = "newmark"', EM, 'kind = "graham-jelenic"\ndt = 1e-3'])
def test_ties_keep_energy_and_momenta(kind, integrator, tmp_path):
    """In free flight; explicit steps keep the energy to second order."""
    text = LOWER + (UPPER + TIE if kind == "nodes" else FINE + SURFACE) + SPIN
    bending = '[[velocity]]\nbody = "upper"\ngroup = "z_max"\nvelocity = [0, 0.5, 0]\n'
    summary = simulate(Scenario.parse(text + bending + rest(integrator, 0.02)), tmp_path / "run", progress=False)
    drift = summary["drift"]
    assert max(drift[f"momentum_{axis}"] for axis in "xy") < 1e-11
    assert max(drift[f"angular_momentum_{axis}"] for axis in "xyz") < 1e-10
    assert drift["total"] < (1e-10 if "energy" in summary["conserves"] else 2e-2)


def test_a_surface_tie_carries_what_a_joint_does():
    """A uniform stretch passes through the patch: the joint opens by f/k only, and a stiffer one by less."""
    gaps = []
    for stiffness in (1e5, 1e7):
        problem = build(LOWER + FINE + SURFACE + f"stiffness = {stiffness}\n" + rest())
        energy, x = problem.system.energies["glue"], problem.mesh.points
        stretched = x * [1.0, 1.0, 1.1] + [0.02 * 1, 0, 0] * x[:, 2:]
        assert energy.total(stretched) == pytest.approx(0.0, abs=1e-20), "linear fields part no feet from nodes"
        parted = x.copy()
        parted[problem.mesh.nodes_of("upper")] += [0.0, 0.0, 1e-4]
        gaps.append(energy.total(parted))
    n = len(problem.mesh.nodes_of("upper.z_min"))
    assert n == 12
    np.testing.assert_allclose(gaps, [0.5 * k * n * 1e-8 for k in (1e5, 1e7)], rtol=1e-9)


def test_a_surface_tie_beside_what_is_rigid_and_free():
    """Which has its own nodes, after those of bodies."""
    ball = '[[obstacle]]\nname = "ball"\nkind = "sphere"\ncenter = [0.1, 0.05, 0.3]\nradius = 0.05\nstiffness = 1e4\n'
    alone = build(LOWER + FINE + SURFACE + rest(EM, 0.02))
    next_to = build(LOWER + FINE + SURFACE + ball + "mass = 0.1\n" + rest(EM, 0.02))
    n = alone.system.n_nodes
    q = alone.mesh.points + 0.01 * np.sin(20.0 * alone.mesh.points[:, [2, 0, 1]])
    both = np.concatenate([q, next_to.state.q[n:]])
    assert len(both) == n + 1
    glue = next_to.system.energies["glue"]
    assert glue.total(both) == pytest.approx(alone.system.energies["glue"].total(q), rel=1e-14)
    assert np.linalg.norm(next_to.system.gradient(both)[n:]) == 0.0


def test_nodes_near_a_surface_are_drawn_to_it():
    text = LOWER + FINE.replace("translate = [0, 0, 0.1]", "translate = [0, 0, 0.1001]")
    problem = build(text + SURFACE + "tolerance = 2e-4\n" + rest())
    np.testing.assert_allclose(problem.mesh.points[problem.mesh.nodes_of("upper.z_min"), 2], 0.1, atol=1e-15)
    (line,) = lines(text + SURFACE + rest())
    assert line.startswith(
        "test.toml: [[tie]] #1 'glue': 12 of 12 nodes of group 'z_min' of 'upper' have no point of the surface of"
    )
    assert "is 0.0001 m away. Move the body, give a larger tolerance, or another group." in line


def test_a_truss_stands_on_nodes_of_a_body():
    problem = build(LOWER + MAST + rest())
    assert problem.system.n_nodes == 12 + 12 - 4
    feet = np.intersect1d(problem.mesh.nodes_of("lower"), problem.mesh.nodes_of("mast"))
    assert len(feet) == 4
    np.testing.assert_allclose(problem.mesh.points[feet, 2], 0.1)


def test_bodies_that_are_tied_start_alike():
    (line,) = lines(LOWER + UPPER + "velocity = [1, 0, 0]\n" + TIE + rest())
    assert "'upper' is tied at (" in line
    assert "to another one that starts with another velocity, by 1 m/s" in line
    ball = '[[point_mass]]\nname = "ball"\nmass = 1\nposition = [0, 0, 0]\nvelocity = [0, 2, 0]\n'
    (line,) = lines(LOWER + ball + '[[tie]]\nbody = "ball"\nto = "lower"\n' + rest())
    assert "'lower' is tied at (0, 0, 0) m to another one that starts with another velocity, by 2 m/s" in line


def test_tied_nodes_take_a_velocity_once():
    both = LOWER + UPPER + TIE + SPIN + rest()
    problem = build(both)
    x = problem.mesh.points
    np.testing.assert_allclose(problem.state.v, np.add([0.3, 0, 0], np.cross([0, 4, 0], x)), atol=1e-15)
    (line,) = lines(both.replace("velocity = [0.3, 0, 0]", "velocity = [0.4, 0, 0]", 1))
    assert "'upper' is tied at (" in line
    assert "to another one that is given another [[velocity]] there, by 0.1 m/s; give both the same, or" in line


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('to = "lower"', 'to = "upper"'), "[[tie]] #1: ties 'upper' to itself; name two bodies."),
        (('to = "lower"', 'to = "lowre"'), "there is no body 'lowre'; did you mean 'lower'?"),
        (('"z_min"', '"z_mn"'), "[[tie]] #1: body 'upper' has no group 'z_mn'; it has:"),
        (('"z_min"', '"z_max"'), "6 of 6 nodes of group 'z_max' of 'upper' have no node of 'lower' within 2e-07 m"),
        (('to = "lower"', 'to = "lower"\nstiffness = 1'), "stiffness goes with kind = \"surface\"; nodes that are one"),
        (('to = "lower"', 'to = "lower"\nkind = "surface"'), 'of kind "surface" needs a name, for the column of its'),
        (("[[tie]]", "[[contact]]\n[[tie]]"), "share"),
    ],
)  # fmt: skip
def test_mistakes_in_ties(change, says):
    assert any(says in line for line in lines(LOWER + UPPER + TIE.replace(*change) + rest()))


# -- velocities ---------------------------------------------------------------------------------------------------


def test_velocities_are_added_up():
    text = LOWER + "velocity = [1, 0, 0]\n"
    text += '[[velocity]]\nbody = "lower"\ngradient = [[0, 0, 2], [0, 0, 0], [0, 1, 0]]\npoint = [0, 0, 0.1]\n'
    text += '[[velocity]]\nbody = "lower"\ngroup = "x_max"\nvelocity = [0, 3, 0]\nangular_velocity = [5, 0, 0]\n'
    problem = build(text + rest())
    x, v = problem.mesh.points, np.zeros_like(problem.mesh.points)
    v[:, 0] = 1.0 + 2.0 * (x[:, 2] - 0.1)
    v[:, 2] = x[:, 1]
    end = problem.mesh.nodes_of("lower.x_max")
    v[end] += np.cross([5, 0, 0], x[end] - [0.2, 0.05, 0.05])
    v[end, 1] += 3
    np.testing.assert_allclose(problem.state.v, v, atol=1e-14)


def test_a_spin_about_an_axis_is_one_of_a_rigid_body():
    spin = '[[velocity]]\nbody = "lower"\nangular_velocity = [0, 0, 3]\npoint = [1, 0, 0]\n'
    problem = build(LOWER + spin + rest())
    path = record(problem.system, problem.integrator, problem.state, np.array([0.0, 1e-3]))
    moment = problem.system.mass @ ((problem.mesh.points[:, :2] - [1, 0]) ** 2).sum(axis=1)
    assert path.energies["kinetic"][0] == pytest.approx(0.5 * 9 * moment, rel=1e-12)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("", "[[velocity]] #1: has no motion; give velocity, angular_velocity, gradient, or several of these."),
        (
            "velocity = [1, 0, 0]\npoint = [0, 0, 0]",
            "point goes with angular_velocity or gradient, which vanish",
        ),
        ("gradient = [1, 2, 3]", "gradient must be three numbers (1/s), got 1."),
        ("gradient = 3", "gradient must be three rows of three numbers (1/s), got 3."),
        ('velocity = [1, 0, 0]\ngroup = "top"', "body 'lower' has no group 'top'; it has: body, x_max"),
    ],
)
def test_mistakes_in_velocities(keys, says):
    assert any(says in line for line in lines(LOWER + f'[[velocity]]\nbody = "lower"\n{keys}\n' + rest()))
