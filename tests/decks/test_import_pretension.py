"""Bolt preload of decks, compared with CalculiX 2.20: *PRE-TENSION SECTION, and *BOUNDARY, FIXED in a later step."""

import numpy as np
import pytest

import symplex as sx
from symplex.runs.probe_files import read_probe
from symplex.runs.run import simulate

CORNERS = ((0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2))
MIDDLES = ((1, 0, 0), (2, 1, 0), (1, 2, 0), (0, 1, 0), (1, 0, 2), (2, 1, 2), (1, 2, 2), (0, 1, 2))
MIDDLES += ((0, 0, 1), (2, 0, 1), (2, 2, 1), (0, 2, 1))
CELLS = [*((0, k) for k in range(4)), *((2, k) for k in range(4)), *((i, 4) for i in range(3))]
PROBES = """
[[probe]]
name = "top"
body = "part"
points = [[3, 1, 5]]
quantities = ["displacement"]

[[probe]]
name = "drawn"
body = "node_900"
quantities = ["displacement"]
"""


def frame(normal="0., 0., 1.", first="*CLOAD\n900, 1, 1e8", nlgeom=False, step=None, more=""):
    """Return a deck of two columns of elements C3D20 of size 1 that a beam joins; the first is cut at half its height.

    The second step locks the section, and pulls at the beam above it.
    """
    number, rows = {}, []
    for n, (i, k) in enumerate(CELLS, start=1):
        at = [(2 * i + a, b, 2 * k + c) for a, b, c in CORNERS + MIDDLES]
        nodes = [str(number.setdefault(place, len(number) + 1)) for place in at]
        rows.append(f"{n}, {', '.join(nodes[:10])},\n{', '.join(nodes[10:])}")
    places = "\n".join(f"{m}, {x / 2}, {y / 2}, {z / 2}" for (x, y, z), m in number.items())
    ground = "\n".join(str(m) for (_, _, z), m in number.items() if z == 0)
    begin = f"*STEP{', NLGEOM' if nlgeom else ''}\n*STATIC\n1., 1.\n"
    locked = f"{begin}*BOUNDARY, FIXED\n900, 1, 1\n*DLOAD\n9, P2, -1e8\n*END STEP\n"
    lines = f"*PRE-TENSION SECTION, SURFACE=CUT, NODE=900\n{normal}".rstrip()
    return f"""*NODE, NSET=NALL
{places}
900, 5., 0., 0.
*ELEMENT, TYPE=C3D20, ELSET=EALL
{chr(10).join(rows)}
*NSET, NSET=GROUND
{ground}
*SURFACE, NAME=CUT, TYPE=ELEMENT
2, S2
*MATERIAL, NAME=STEEL
*ELASTIC
2.1e11, 0.3
*DENSITY
7800.
*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL
{lines}
{more}*BOUNDARY
GROUND, 1, 3
{begin}{first}
*END STEP
{locked if step is None else step}"""


def run(text, tmp_path, number):
    """Return the displacements [3] in m of a corner of the beam, and of the node that draws the section together."""
    (tmp_path / "frame.inp").write_text(text)
    imported = sx.import_deck(tmp_path / "frame.inp", tmp_path / "out", overwrite=True)
    assert not imported.missed
    path = imported.scenarios[number]
    simulate(sx.Scenario.parse(path.read_text() + PROBES, path), tmp_path / "run", progress=False, pictures=False)
    found = [read_probe(tmp_path / "run" / f"probe-{name}.csv") for name in ("top", "drawn")]
    return [np.array([columns[name][-1] for name in columns if name.startswith("displacement")]) for columns in found]


# By CalculiX: the corner after the first step and the second one, and the node.
LINEAR = (-6.811328e-2, -2.196127e-5, 9.940465e-3), (-6.562966e-2, -2.296834e-5, 9.556315e-3), 5.315190e-2
LARGE = (-6.860158e-2, -2.088254e-5, 9.339349e-3), (-6.638119e-2, -2.157461e-5, 9.024797e-3), 5.316207e-2


@pytest.mark.parametrize(("nlgeom", "ccx"), [(False, LINEAR), (True, LARGE)])
@pytest.mark.parametrize("number", [1, 2])
def test_a_force_then_locked(tmp_path, nlgeom, ccx, number):
    top, drawn = run(frame(nlgeom=nlgeom), tmp_path, number)
    np.testing.assert_allclose(top, ccx[number - 1], rtol=2e-5)
    np.testing.assert_allclose(drawn, [ccx[2], 0.0, 0.0], rtol=1e-6, atol=1e-14)


def test_the_normal_is_that_of_the_surface(tmp_path):
    top, drawn = run(frame(normal="", first="*CLOAD\n900, 1, -1e8"), tmp_path, 2)
    np.testing.assert_allclose(top, [7.059689e-2, 2.095420e-5, -1.032461e-2], rtol=2e-5)
    assert drawn[0] == pytest.approx(-5.315190e-2, rel=1e-6)


def test_an_adjustment(tmp_path):
    top, _ = run(frame(first="*BOUNDARY\n900, 1, 1, 0.01"), tmp_path, 1)
    np.testing.assert_allclose(top, [-1.281483e-2, -4.131794e-6, 1.870199e-3], rtol=2e-5)


def test_an_adjustment_that_is_fixed_stays(tmp_path):
    """Without another load it is where it was."""
    still = "*STEP\n*STATIC\n1., 1.\n*BOUNDARY, FIXED\n900, 1, 1\n*END STEP\n"
    top, drawn = run(frame(first="*BOUNDARY\n900, 1, 1, 0.01", step=still), tmp_path, 2)
    np.testing.assert_allclose(top, [-1.281483e-2, -4.131794e-6, 1.870199e-3], rtol=2e-5)
    assert drawn[0] == pytest.approx(0.01, rel=1e-9)


def test_frequencies_about_the_tightened_state(tmp_path):
    step = "*STEP, PERTURBATION\n*FREQUENCY\n3\n*END STEP\n"
    (tmp_path / "frame.inp").write_text(frame(first="*CLOAD\n900, 1, 1e6", step=step))
    imported = sx.import_deck(tmp_path / "frame.inp", tmp_path / "out")
    problem = sx.Scenario.read(imported.scenarios[2]).build()
    found = sx.modes.natural_modes(problem.system, problem.state, 3).frequencies
    np.testing.assert_allclose(found, [25.42816, 29.35990, 77.00612], rtol=2e-5)  # by CalculiX


OTHER = "*SURFACE, NAME=OTHER, TYPE=ELEMENT\n6, S2\n"
MOTION = "*STEP\n*DYNAMIC\n0.1, 1.\n*BOUNDARY, FIXED\n900, 1, 1\n*END STEP\n"
FREE_AGAIN = "*STEP\n*STATIC\n1., 1.\n*BOUNDARY, FIXED\n900, 1, 1\n*END STEP\n*STEP\n*STATIC\n1., 1.\n"
FREE_AGAIN += "*BOUNDARY, OP=NEW\nGROUND, 1, 3\n*END STEP\n"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"step": MOTION}, "known in static steps only"),
        ({"step": FREE_AGAIN}, "are free again, or move"),
        ({"more": "*PRE-TENSION SECTION, ELEMENT=1, NODE=900\n0, 0, 1\n"}, "the parameter 'ELEMENT' is not supported"),
        ({"more": "*PRE-TENSION SECTION, SURFACE=CUT, NODE=1\n0, 0, 1\n"}, "must be one of no element"),
        ({"normal": "0., 0., 0."}, "has no direction"),
        ({"more": f"{OTHER}*PRE-TENSION SECTION, SURFACE=OTHER, NODE=900\n0, 0, 1\n"}, "needs one of its own"),
        ({"more": "*PRE-TENSION SECTION, SURFACE=CUT, NODE=900\n0, 0, 1\n"}, "there is nothing to cut"),
    ],
)
def test_what_is_not_supported_is_said(tmp_path, change, why):
    (tmp_path / "frame.inp").write_text(frame(**change))
    imported = sx.import_deck(tmp_path / "frame.inp", tmp_path / "out")
    assert why in imported.report()
