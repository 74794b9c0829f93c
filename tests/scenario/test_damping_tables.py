"""Tables of damping, dashpots and drag, and viscous materials: what they build, what is refused, resuming."""

import numpy as np
import pytest

from symplex.errors import ScenarioError
from symplex.fem.actions.damping import Dashpots, Drag, StiffnessDamping
from symplex.fem.solids.viscous_stress import ViscousStress
from symplex.meshes.series.series import read_series
from symplex.runs.check import check_report
from symplex.runs.history import read_history
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

VISCOUS = "viscous = [{ ratio = 0.3, time = 2e-3 }, { ratio = 0.2, time = 0.05 }], viscosity = 1.0"


def body(material="", keys="", name="cube", x=0.0):
    return f"""
[[body]]
name = "{name}"
mesh = {{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }}
material = {{ young = 1e6, poisson = 0.3, density = 1000{", " if material else ""}{material} }}
translate = [{x}, 0, 0]
{keys}
"""


EM = '[integrator]\nkind = "energy-momentum"\ndt = 5e-4\n[run]\nduration = 0.01\nframes = 2\nsamples = 4\n'
NEWMARK = '[integrator]\nkind = "newmark"\n[run]\nduration = 0.01\nframes = 2\nsamples = 4\n'
QUIET = "[output]\npictures = false\n"


def built(text, rest=EM):
    return Scenario.parse(text + rest).build()


def line_of(text, rest=EM):
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(text + rest, "test.toml").build()
    (line,) = str(caught.value).splitlines()
    return line.removeprefix("test.toml: ")


# -- what is built ----------------------------------------------------------------------------------------------


def test_rayleigh_by_ratios_at_two_frequencies():
    tables = Scenario.parse(body() + "[[damping]]\nfrequencies = [5, 50]\nratios = [0.02, 0.03]\n" + EM).tables
    alpha, beta = tables.damping[0].coefficients
    for frequency, ratio in ((5.0, 0.02), (50.0, 0.03)):
        omega = 2 * np.pi * frequency
        assert alpha / (2 * omega) + beta * omega / 2 == pytest.approx(ratio, rel=1e-14)
    one = Scenario.parse(body() + "[[damping]]\nfrequencies = [5, 50]\nratios = 0.02\n" + EM).tables.damping[0]
    assert one.ratios == (0.02,)
    assert min(one.coefficients) > 0.0


def test_damping_of_bodies_and_of_the_named_ones():
    two = body() + body(name="other", x=0.3)
    problem = built(two + '[[damping]]\nbodies = ["other"]\nalpha = 2\nbeta = 1e-4\n')
    loads = problem.system.loads
    assert list(loads) == ["damping_mass", "damping_stiffness_other"]
    drag, stress = loads.values()
    assert isinstance(drag, Drag)
    assert isinstance(stress, ViscousStress)
    assert drag.viscosity.sum() == pytest.approx(2.0 * 1000 * 1e-3)
    assert not drag.viscosity[problem.mesh.nodes_of("cube")].any()
    linear = built(two + '[[damping]]\nname = "low"\nbeta = 1e-4\nstiffness = "initial"\n').system.loads
    assert {name: type(load) for name, load in linear.items()} == {
        "low_stiffness_cube": StiffnessDamping,
        "low_stiffness_other": StiffnessDamping,
    }


def test_damping_for_a_part_of_the_run(tmp_path):
    """Up to 5 ms it takes energy, then none, and the balance goes on."""
    times = "until = 0.005\n"
    text = body(keys="velocity = [1, 0, 0]") + f"[[damping]]\nalpha = 50\nbeta = 1e-4\n{times}"
    text += f'[[drag]]\nname = "air"\nbody = "cube"\ndensity = 1.2\ncoefficient = 1\narea = 0.1\n{times}'
    point = (
        '[[dashpot]]\nname = "strut"\nbody = "cube"\ngroup = "x_max"\nto = [1, 0, 0]\nviscosity = 5\nfrom = 0.0025\n'
    )
    simulate(Scenario.parse(text + point + times + EM + QUIET), tmp_path / "run", progress=False)
    history = read_history(tmp_path / "run" / "history.csv")
    first, last = history["t"] <= 0.005 + 1e-12, history["t"] > 0.005 - 1e-12
    scale = history["total"][0]
    assert np.all(np.diff(history["total"][first]) < -1e-3 * scale)
    for name in ("total", "work_damping_mass", "work_damping_stiffness_cube", "work_air", "work_strut"):
        assert np.ptp(history[name][last]) < 1e-11 * scale
    assert history["work_strut"][history["t"] <= 0.0025][-1] == 0.0
    assert history["work_strut"][-1] < -1e-3 * scale
    assert np.ptp(history["balance"]) < 1e-11 * scale


def test_drag_is_on_nodes_that_have_mass():
    """Mass that has moved inwards from nodes in contact feels the drag where it is."""
    keys = 'mesh = { box = [0.2, 0.1, 0.1], cells = [2, 1, 1], split = "hexahedra" }\nmassless = "x_max"'
    text = body().replace('mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }', keys)
    problem = built(text + "[[damping]]\nalpha = 2\n")
    system, drag = problem.system, problem.system.loads["damping_mass"]
    np.testing.assert_allclose(drag.viscosity, 2.0 * system.apply_mass(np.ones((len(drag.viscosity), 3)))[:, 0])
    assert not drag.viscosity[system.massless].any()


def test_check_tells_waves_at_once_and_relaxed():
    """G(0) = G/(1 − 0.5), so that λ + 2 G grows by 4/3 G."""
    report = check_report(built(body("viscous = [{ ratio = 0.5, time = 2e-3 }]")))[0]
    mu = 1e6 / 2.6
    relaxed = mu * (2.0 + 0.6 / 0.4) / 1000.0
    at_once = relaxed + 4.0 / 3.0 * mu / 1000.0
    assert f"waves {at_once**0.5:.5g} m/s at once, {relaxed**0.5:.5g} m/s relaxed" in report


def test_damping_of_trusses_is_along_their_bars():
    truss = '[[truss]]\nname = "bar"\nmesh = { line = 2.0, bars = 2 }\nsection = 1e-4\n'
    truss += "material = { young = 1e9, density = 1000 }\n[[damping]]\nbeta = 1e-3\n"
    damper = built(truss).system.loads["damping_stiffness_bar"]
    assert isinstance(damper, Dashpots)
    np.testing.assert_allclose(damper.viscosity, 1e-3 * 1e9 * 1e-4 / 1.0)


def test_viscous_materials():
    problem = built(body(VISCOUS))
    mu = 1e6 / 2.6
    part = problem.system.inelastic["viscoelastic_cube"]
    np.testing.assert_allclose(part.moduli, [0.3 * 2 * mu, 0.2 * 2 * mu])
    assert list(problem.system.loads) == ["viscosity_cube"]
    absolute = built(body("viscous = [{ modulus = 5e4, time = 0.1 }]")).system.inelastic["viscoelastic_cube"]
    assert absolute.moduli.tolist() == [5e4]
    formula = body().replace(
        "young = 1e6, poisson = 0.3, density = 1000",
        'law = "c*(I1bar - 3) + K/2*(J - 1)**2", c = 1e5, K = 1e6, density = 1000, ' + VISCOUS,
    )
    assert list(built(formula).system.inelastic) == ["viscoelastic_cube"]


def test_dashpots_and_drag():
    text = body() + body(name="other", x=0.3)
    text += '[[dashpot]]\nname = "strut"\nviscosity = 4\nbetween = [{ body = "cube", group = "x_max" }, '
    text += '{ body = "other", at = [0.3, 0, 0] }]\n'
    text += '[[drag]]\nname = "air"\nbody = "cube"\ndensity = 1.2\ncoefficient = 0.5\n'
    text += '[[drag]]\nname = "sail"\nbody = "cube"\ngroup = "x_max"\ndensity = 1.2\ncoefficient = 0.5\narea = 3\n'
    strut, air, sail = built(text).system.loads.values()
    v = np.zeros((16, 3))
    v[8:, 0] = 2.0
    force = strut(0.0, built(text).state.q, v)
    assert force.sum() == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(force[8:].sum(axis=0)) > 4.0
    assert air.drag.sum() == pytest.approx(0.5 * 1.2 * 0.5 * 0.06)
    assert sail.drag.sum() == pytest.approx(0.5 * 1.2 * 0.5 * 3.0)


def test_the_stable_step_is_smaller():
    dt = built(body(), NEWMARK).integrator.dt
    assert built(body() + "[[damping]]\nbeta = 1e-2\n", NEWMARK).integrator.dt < 0.3 * dt
    assert built(body("viscous = [{ ratio = 0.8, time = 1.0 }]"), NEWMARK).integrator.dt < 0.7 * dt


# -- runs -------------------------------------------------------------------------------------------------------


EVERYTHING = (
    body(VISCOUS, "velocity = [0, 0, 2]\nangular_velocity = [0, 50, 20]")
    + "[[damping]]\nfrequencies = [5, 50]\nratios = [0.02, 0.03]\n"
    + '[[dashpot]]\nname = "strut"\nbody = "cube"\ngroup = "x_max"\nto = [1, 0, 0]\nviscosity = 3\nexponent = 1.5\n'
    + '[[drag]]\nname = "air"\nbody = "cube"\ndensity = 1.2\ncoefficient = 1\n'
)


@pytest.mark.parametrize("rest", [EM, NEWMARK])
def test_histories_have_the_work_of_each_and_a_balance(tmp_path, rest):
    scenario = Scenario.parse(EVERYTHING + rest + QUIET, tmp_path / "s.toml")
    simulate(scenario, tmp_path / "results", progress=False)
    history = read_history(tmp_path / "results" / "history.csv")
    names = ["viscosity_cube", "damping_mass", "damping_stiffness_cube", "strut", "air", "viscoelastic_cube"]
    works = np.array([history[f"work_{name}"] for name in names])
    assert (works[:, -1] < 0.0).all()
    parts = ("kinetic", "cube", "stored_viscoelastic_cube")
    np.testing.assert_allclose(history["total"], sum(history[name] for name in parts), rtol=1e-12)
    np.testing.assert_allclose(history["balance"], history["total"] - works.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(history["balance"], history["balance"][0], rtol=1e-12 if rest == EM else 1e-2)


def test_hexahedra_as_they_are_by_default_may_be_viscous(tmp_path):
    """The balance is kept, and the stress of the frames is that of the law and of the Maxwell elements."""
    text = EVERYTHING.replace('"6"', '"hexahedra"').replace("cells = [1, 1, 1]", "cells = [2, 1, 1]")
    scenario = Scenario.parse(text + EM + QUIET, tmp_path / "s.toml")
    simulate(scenario, tmp_path / "results", progress=False)
    history = read_history(tmp_path / "results" / "history.csv")
    np.testing.assert_allclose(history["balance"], history["balance"][0], rtol=1e-12)
    problem = scenario.build()
    assert problem.solids["cube"].formulation == "stabilized"
    state = problem.integrator.start(problem.system, problem.state).advance(0.01)
    part = problem.system.inelastic["viscoelastic_cube"]
    sigma = problem.solids["cube"].cauchy(state.q) + part.cauchy(state.q, state.internal["viscoelastic_cube"])
    s = sigma - np.trace(sigma, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3.0
    drawn = read_series(tmp_path / "results" / "motion.vtkhdf").frame(-1).cell_data["von_mises"]["cube"]
    np.testing.assert_allclose(drawn, np.sqrt(1.5 * (s**2).sum(axis=(1, 2))), rtol=1e-5)


STAGES = """
[[support]]
body = "cube"
group = "x_min"
[[support]]
name = "pull"
body = "cube"
group = "x_max"
displacement = [0.02, 0, 0]
history = { kind = "smooth-ramp", duration = 0.01 }
until = 0.01
[[stage]]
name = "stretch"
duration = 0.01
frames = 1
samples = 2
integrator = { kind = "static", dt = 5e-3 }
[[stage]]
name = "let go"
duration = 0.02
frames = 2
samples = 4
integrator = { kind = "energy-momentum", dt = 1e-3 }
"""


def test_a_relaxed_preload_is_let_go(tmp_path):
    """Statically nothing is stored next to the long-run energy; let go, it is dissipated, in one balance."""
    bar = body(VISCOUS).replace("cells = [1, 1, 1]", "cells = [2, 1, 1]")
    scenario = Scenario.parse(bar + STAGES + QUIET, tmp_path / "s.toml")
    simulate(scenario, tmp_path / "results", progress=False)
    history = read_history(tmp_path / "results" / "history.csv")
    stored, work = history["stored_viscoelastic_cube"], history["work_viscoelastic_cube"]
    static = history["t"] <= 0.01 * (1 + 1e-9)
    assert not stored[static].any()
    assert history["cube"][static][-1] > 0.01
    assert stored[-1] > 0.0
    assert work[-1] < -0.01 * history["cube"].max()
    np.testing.assert_allclose(history["balance"], history["balance"][0], atol=1e-12 * history["cube"].max())


# -- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (
            body() + "[[damping]]\n",
            "[[damping]] #1: damps nothing: give alpha (1/s), beta (s), or frequencies and ratios.",
        ),
        (body() + "[[damping]]\nbeta = -1\n", "[[damping]] #1: beta must be at least 0, got -1 s."),
        (
            body() + "[[damping]]\nbeta = 1\nratios = 0.1\n",
            "[[damping]] #1: needs either alpha and beta, or frequencies and ratios, from which these follow.",
        ),
        (
            body() + "[[damping]]\nfrequencies = [5, 50]\nratios = [0.01, 0.2]\n",
            "[[damping]] #1: ratios 0.01 at 5 Hz and 0.2 at 50 Hz need a negative alpha, which would drive vibrations; "
            "with the first one the second must be from 0.001 to 0.1.",
        ),
        (
            body() + "[[damping]]\nfrequencies = [50, 5]\nratios = 0.01\n",
            "[[damping]] #1: frequencies must be two that ascend, got [50.0, 5.0] Hz.",
        ),
        (
            body() + '[[damping]]\nalpha = 1\nbodies = ["cub"]\n',
            "[[damping]] #1 'damping': there is no body 'cub'; did you mean 'cube'?",
        ),
        (
            body("viscous = [{ ratio = 0.7, time = 1 }, { ratio = 0.3, time = 2 }]"),
            "[[body]] #1 'cube': material viscous has ratios that sum to 1, must be below 1: nothing would be left of "
            "mu.",
        ),
        (
            body("viscous = [{ ratio = 0.7, modulus = 5, time = 1 }]"),
            "[[body]] #1 'cube': material viscous needs in all elements either ratio (1) or modulus (Pa), besides time "
            "(s).",
        ),
        (
            body("viscous = [{ ratio = 0.7, time = 0 }]"),
            "[[body]] #1 'cube': material.viscous.1.time must be positive, got 0 s.",
        ),
        (
            body('viscosity = 1, law = "linear-elastic"'),
            "[[body]] #1 'cube': viscous and viscosity are for laws of finite strains, and the law of body 'cube' is "
            'one of small strains; take law = "saint-venant-kirchhoff".',
        ),
        (
            body('law = "linear-elastic"') + "[[damping]]\nbeta = 1e-3\n",
            "[[damping]] #1 'damping': stiffness = \"strain-rate\" is for laws of finite strains, and the law of body "
            '\'cube\' is one of small strains; take law = "saint-venant-kirchhoff", or stiffness = "initial".',
        ),
        (
            body() + '[[dashpot]]\nname = "d"\nbody = "cube"\nviscosity = 1\n',
            "[[dashpot]] #1 'd': needs to, the fixed point (m).",
        ),
        (
            body() + '[[dashpot]]\nname = "d"\nbody = "cube"\nto = [0.05, 0.05, 0.05]\nviscosity = 1\n',
            "[[dashpot]] #1 'd': its ends are at the same place, so that it has no direction; choose others.",
        ),
        (
            body() + '[[dashpot]]\nname = "d"\nbody = "cube"\ngroup = "top"\nto = [1, 0, 0]\nviscosity = 1\n',
            "[[dashpot]] #1 'd': body 'cube' has no group 'top'; it has: body, x_max, x_min, y_max, y_min, z_max, "
            "z_min.",
        ),
        (
            body() + '[[drag]]\nname = "cube"\nbody = "cube"\ndensity = 1\ncoefficient = 1\n',
            "[[drag]] #1 'cube': the name 'cube' is taken by [[body]] #1; choose another.",
        ),
        (
            body(name="work_air") + '[[drag]]\nname = "air"\nbody = "work_air"\ndensity = 1\ncoefficient = 1\n',
            "[[body]] #1 'work_air': the name 'work_air' is reserved; choose another.",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(text, reported):
    assert line_of(text) == reported


def test_methods_that_cannot_are_told():
    stepping = EM.replace('"energy-momentum"\ndt = 5e-4', '"force-stepping"\ngrid = 1e-4')
    reported = line_of(body() + "[[damping]]\nalpha = 1\n", stepping)
    assert reported.startswith("[[damping]] #1 'damping': damping has no potential, which force-stepping needs; take ")
    reported = line_of(body("viscous = [{ ratio = 0.3, time = 1 }]"), stepping)
    assert reported == (
        "[[body]] #1 'cube': its material is viscous, which force-stepping does not take; take another integrator, "
        'such as kind = "energy-momentum" or "midpoint".'
    )
    reported = line_of(body() + "[[damping]]\nbeta = 1\n", NEWMARK.replace('"newmark"', '"newmark"\ndt = 1e-4'))
    assert "dt = 0.0001 s is above the stability limit of explicit Newmark" in reported
