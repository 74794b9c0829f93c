"""Friction in static steps of decks, compared with CalculiX 2.20."""

import numpy as np
import pytest

import symplex as sx
from symplex.runs.probe_files import read_probe
from symplex.runs.run import simulate

CCX = 299388.4  # N along x at the end of the step, by CalculiX; 0.3 times the pressure is 300 000 N
DECK = """*NODE, NSET=NALL
1, 0., 0., 0.
2, 2., 0., 0.
3, 2., 1., 0.
4, 0., 1., 0.
5, 0., 0., 1.
6, 2., 0., 1.
7, 2., 1., 1.
8, 0., 1., 1.
11, 0.5, 0., 1.
12, 1.5, 0., 1.
13, 1.5, 1., 1.
14, 0.5, 1., 1.
15, 0.5, 0., 2.
16, 1.5, 0., 2.
17, 1.5, 1., 2.
18, 0.5, 1., 2.
*ELEMENT, TYPE=C3D8, ELSET=LOW
1, 1, 2, 3, 4, 5, 6, 7, 8
*ELEMENT, TYPE=C3D8, ELSET=UP
2, 11, 12, 13, 14, 15, 16, 17, 18
*ELSET, ELSET=EALL
LOW, UP
*NSET, NSET=BOTTOM
1, 2, 3, 4
*NSET, NSET=TOP
15, 16, 17, 18
*SURFACE, NAME=S, TYPE=ELEMENT
UP, S1
*SURFACE, NAME=M, TYPE=ELEMENT
LOW, S2
*MATERIAL, NAME=EL
*ELASTIC
1e9, 0.
*SOLID SECTION, ELSET=EALL, MATERIAL=EL
*SURFACE INTERACTION, NAME=I
*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=LINEAR
1e11
*FRICTION
0.3, 1e10
*CONTACT PAIR, INTERACTION=I, TYPE=SURFACE TO SURFACE
S, M
*BOUNDARY
BOTTOM, 1, 3
*STEP, NLGEOM
*STATIC
0.1, 1.
*BOUNDARY
TOP, 1, 1, 0.02
TOP, 2, 2
*DLOAD
UP, P2, 1e6
*END STEP
"""
PROBE = """
[[probe]]
name = "ground"
support = "1"
"""


def test_a_block_that_slides_under_pressure(tmp_path):
    (tmp_path / "blocks.inp").write_text(DECK)
    imported = sx.import_deck(tmp_path / "blocks.inp", tmp_path / "out")
    text = imported.scenarios[1].read_text()
    scenario = sx.Scenario.parse(text + PROBE, imported.scenarios[1])
    assert "start" not in text
    assert scenario.tables.integrator.kind == "static"
    assert scenario.tables.contact[0].friction == 0.3
    simulate(scenario, tmp_path / "run", progress=False, pictures=False)
    ground = read_probe(tmp_path / "run" / "probe-ground.csv")
    assert ground["reaction_x"][-1] == pytest.approx(-CCX, rel=5e-4)
    assert ground["reaction_z"][-1] == pytest.approx(1e6, rel=1e-6)
    np.testing.assert_allclose(ground["reaction_x"][1:], -0.3 * ground["reaction_z"][1:], rtol=3e-3)


def test_motions_after_such_steps_are_refused(tmp_path):
    more = "*STEP, NLGEOM\n*DYNAMIC\n0.1, 1.\n*END STEP\n"
    (tmp_path / "blocks.inp").write_text(DECK.replace("1e9, 0.", "1e9, 0.\n*DENSITY\n1000.") + more)
    imported = sx.import_deck(tmp_path / "blocks.inp", tmp_path / "out", limit=0.0)
    assert list(imported.scenarios) == [1]
    assert any("friction in motions after static steps" in str(one) for one in imported.missed)
