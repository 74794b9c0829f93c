"""Decks of beams: what becomes of elements, sections, supports, forces and moments, by beam theory."""

import tomllib

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from symplex.decks.importing import import_deck
from symplex.scenario.scenario import Scenario

NODES = "*NODE\n1, 0, 0, 0\n2, 500, 0, 0\n3, 1000, 0, 0\n4, 1500, 0, 0\n5, 2000, 0, 0\n"
LINES = "*ELEMENT, TYPE=B31, ELSET=INNER\n1, 1, 2\n2, 2, 3\n*ELEMENT, TYPE=B32, ELSET=OUTER\n3, 3, 4, 5\n"
STEEL = "*MATERIAL, NAME=STEEL\n*ELASTIC\n210000, 0.3\n*DENSITY\n7.85e-9\n"
CLAMP = "*BOUNDARY\n1, 1, 6\n"
SECTION = "*BEAM SECTION, ELSET={}, MATERIAL=STEEL, SECTION={}\n{}\n{}\n"
BOX = SECTION.format("INNER", "BOX", "100, 60, 4, 4, 4, 4", "0, 0, 1")
FLAT = SECTION.format("OUTER", "RECT", "50, 20", "0, 1, 0")
STATIC = "*STEP, NLGEOM\n*STATIC\n*CLOAD\n{}\n*END STEP\n"
E, G = 2.1e11, 2.1e11 / 2.6
AREA, STIFF = 0.1 * 0.06 - 0.092 * 0.052, (0.06 * 0.1**3 - 0.052 * 0.092**3) / 12.0


def imported(folder, text, units="mm-t-s"):
    deck = folder / "frame.inp"
    deck.write_text(text)
    return import_deck(deck, folder / "out", units=units, overwrite=True)


def at_rest(folder, text, units="mm-t-s"):
    """Return the displacements of nodes and the section forces of members at the start of the only step."""
    found = imported(folder, text, units)
    assert not found.missed, found.report()
    problem = Scenario.read(found.scenarios[1]).build()
    beam = problem.beams["part"]
    structure, q = beam.structure, beam.own(problem.state.q)
    u = structure.frames.centers(q) - structure.frames.centers(structure.points)
    return u, structure.section_forces(q), structure


def test_a_stepped_cantilever_bends_as_timoshenko_says(tmp_path):
    u, forces, _ = at_rest(tmp_path, NODES + LINES + BOX + FLAT + STEEL + CLAMP + STATIC.format("5, 3, 10"))
    P, outer = 10.0, E * 0.05 * 0.02**3 / 12.0
    w = P * (1.0 / 3.0 + 0.5 + 0.5 + 1.0) / (E * STIFF) + P / (3.0 * outer)
    w += P / (G * 2.0 * 0.1 * 0.004) + P / (G * 5.0 / 6.0 * 0.05 * 0.02)
    assert_allclose(u[4, 2], w, rtol=1e-5)
    assert_allclose(np.abs(forces[0, 4]), 10.0 * 1.75, rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "walls", "offsets"),
    [
        ("BOX", (12, 4, 6, 4), ""),
        ("BOX", (4, 3, 4, 9), ""),
        ("BOX", (12, 4, 6, 4), ", OFFSET1=0.2"),
        ("RECT", (), ", OFFSET2=-0.5"),
    ],
)
def test_sections_whose_centroids_are_off_their_nodes(tmp_path, kind, walls, offsets):
    """Pulled along its nodes by N a beam bends by N e L²/2EI, with e and I by cells of 1 mm, and nodes at (o₁ a, o₂ b).

    CalculiX has 3.642e-3 mm of a box of 20 × 30 mm with walls 5, 2, 2, 2, 1 m long, for 3.579e-3 here.
    """
    a, b = 100, 60
    y, z = (np.arange(n) + 0.5 - 0.5 * n for n in (a, b))
    full = np.ones((a, b), bool)
    if walls:
        right, upper, left, lower = walls
        full[left : a - right, lower : b - upper] = False
    y, z = (grid[full] * 1e-3 for grid in np.meshgrid(y, z, indexing="ij"))
    given = f"{a}, {b}, {', '.join(map(str, walls))}"
    parts = "".join(SECTION.format(name, kind + offsets, given, "0, 0, 1") for name in ("INNER", "OUTER"))
    u, *_ = at_rest(tmp_path, NODES + LINES + parts + STEEL + CLAMP + STATIC.format("5, 1, 10"))
    off_1, off_2 = (float(offsets.partition(f"{k}=")[2] or 0.0) for k in (1, 2))
    e1, e2 = y.mean() - off_1 * a * 1e-3, z.mean() - off_2 * b * 1e-3
    cell = 1e-6
    I1, I2 = (cell * (((x - x.mean()) ** 2).sum() + len(x) * cell / 12.0) for x in (z, y))
    length = 2.0
    bent = 10.0 * length**2 / (2.0 * E)
    assert_allclose(u[4, 2], bent * e1 / I2, rtol=1e-4, atol=1e-12)
    assert_allclose(u[4, 1], -bent * e2 / I1, rtol=1e-4, atol=1e-12)
    assert_allclose(u[4, 0], 10.0 * length / (E * cell * len(y)), rtol=1e-2)


def test_moments_turn_and_twist(tmp_path):
    """In millimetres and newtons: 2000 N mm are 2 N m."""
    pipe = SECTION.format("INNER", "PIPE", "30, 3", "0, 0, 1") + SECTION.format("OUTER", "CIRC", "40, 40", "0, 0, 1")
    u, forces, structure = at_rest(
        tmp_path, NODES + LINES + pipe + STEEL + CLAMP + STATIC.format("5, 4, 2000\n5, 6, -3000")
    )
    assert_allclose(forces[:, 5], 2.0, rtol=1e-4)
    assert_allclose(np.hypot(forces[:, 3], forces[:, 4]), 3.0, rtol=1e-4)
    inner, outer = E * np.pi / 4.0 * (0.03**4 - 0.027**4), E * np.pi / 4.0 * 0.02**4
    assert_allclose(u[4, 1], -3.0 * ((0.5 + 1.0) / inner + 0.5 / outer), rtol=1e-4)
    assert_allclose(structure.mass.sum(), 7850 * np.pi * (0.03**2 - 0.027**2 + 0.02**2))


def test_an_ellipse_bends_and_twists(tmp_path):
    """Of diameters 40 along direction 1 and 20 along direction 2: I = π a³ b/4, J = π a³ b³/(a² + b²)."""
    oval = "".join(SECTION.format(name, "CIRC", "40, 20", "0, 0, 1") for name in ("INNER", "OUTER"))
    u, *_ = at_rest(tmp_path, NODES + LINES + oval + STEEL + CLAMP + STATIC.format("5, 6, -3000"))
    assert_allclose(u[4, 1], -3.0 * 2.0 / (E * np.pi / 4.0 * 0.02 * 0.01**3), rtol=1e-4)
    u, *_ = at_rest(tmp_path, NODES + LINES + oval + STEEL + CLAMP + STATIC.format("5, 5, -3000"))
    assert_allclose(u[4, 2], 3.0 * 2.0 / (E * np.pi / 4.0 * 0.02**3 * 0.01), rtol=1e-4)
    section = tomllib.loads((tmp_path / "out" / "frame.toml").read_text())["beam"][0]["section"]
    assert_allclose(section["J"], np.pi * (0.02 * 0.01) ** 3 / (0.02**2 + 0.01**2))


def test_the_web_of_an_i_is_along_the_direction_2(tmp_path):
    beam = SECTION.format("INNER", "I", "100, 200, 100, 100, 9, 9, 6", "0, -1, 0")  # so that 2 = x × 1 is down
    beam += SECTION.format("OUTER", "I", "100, 200, 100, 100, 9, 9, 6", "0, 0, 1")  # lies on its side
    u, *_ = at_rest(tmp_path, NODES + LINES + beam + STEEL + CLAMP + STATIC.format("5, 3, 10"))
    strong, weak = (0.1 * 0.2**3 - 0.094 * 0.182**3) / 12.0, (2 * 0.009 * 0.1**3 + 0.182 * 0.006**3) / 12.0
    w = 10.0 * (1.0 / 3.0 + 0.5 + 0.5 + 1.0) / (E * strong) + 10.0 / (3.0 * E * weak)
    w += 10.0 / (G * 0.182 * 0.006) + 10.0 / (G * 5.0 / 3.0 * 0.1 * 0.009)
    assert_allclose(u[4, 2], w, rtol=1e-5)


def test_general_sections_weight_and_masses(tmp_path):
    general = "*BEAM GENERAL SECTION, ELSET={}, SECTION=GENERAL, DENSITY=7850\n1e-3, 2e-7, 0, 8e-7, 5e-7\n0, 0, 1\n"
    general += "2.1e11, 8e10\n"
    nodes = NODES.replace("00, 0, 0", "00e-3, 0, 0")
    mass = "*ELEMENT, TYPE=MASS, ELSET=LUMP\n9, 5\n*MASS, ELSET=LUMP\n3.0\n*ELSET, ELSET=EVERY\nINNER, OUTER, LUMP\n"
    text = nodes + LINES + general.format("INNER") + general.format("OUTER") + mass + CLAMP
    u, _, structure = at_rest(tmp_path, text + "*STEP\n*STATIC\n*DLOAD\nEVERY, GRAV, 10, 0, 0, -1\n*END STEP\n", "si")
    EI, kGA, L = 2.1e11 * 8e-7, 8e10 * 1e-3, 2.0
    nodal = np.array([7.85 * 0.5] * 3 + [7.85 * 0.25 + 3.0]) * 10.0
    a = np.array([0.5, 1.0, 1.5, 2.0])
    w = -(nodal * (a**2 * (3.0 * L - a) / (6.0 * EI) + a / kGA)).sum()
    assert_allclose(u[4, 2], w, rtol=1e-4)
    assert_allclose(structure.mass.sum(), 7.85 * 2.0)


def test_hinges_frequencies_and_motions(tmp_path):
    held = "*BOUNDARY\n1, 1, 4\n5, 2, 3\n"
    steps = "*STEP\n*FREQUENCY\n4\n*END STEP\n*STEP\n*DYNAMIC\n0.001, 0.01\n*CLOAD\n3, 3, 10\n*END STEP\n"
    fine = LINES.replace("TYPE=B32, ELSET=OUTER\n3, 3, 4, 5", "TYPE=B31, ELSET=OUTER\n3, 3, 4\n4, 4, 5")
    text = NODES + fine + BOX + BOX.replace("INNER", "OUTER") + STEEL + held + steps
    found = imported(tmp_path, text)
    assert not found.missed, found.report()
    problem = Scenario.read(found.scenarios[1]).build()
    modes = sx.modes.natural_modes(problem.system, problem.state, 2)
    exact = np.pi / 2.0 * np.sqrt(E * (0.1 * 0.06**3 - 0.092 * 0.052**3) / 12.0 / (7850 * AREA)) / 4.0
    assert_allclose(modes.frequencies[0], exact, rtol=0.02)  # four elements with lumped masses
    moving = Scenario.read(found.scenarios[2])
    assert moving.tables.integrator.kind == "hht"
    problem = moving.build()
    state = problem.integrator.start(problem.system, problem.state).advance(0.01)
    assert problem.beams["part"].structure.frames.centers(state.q)[2, 2] > 1e-6


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("SECTION=BOX", "SECTION=TRAPEZOID", "sections 'TRAPEZOID' are not supported; RECT, CIRC, PIPE, BOX, I are"),
        ("4, 4, 4, 4", "4, 4, 5, 6", "boxes without an axis of symmetry, whose principal axes are oblique"),
        ("4, 4, 4, 4", "4, 60, 4, 4", "walls of a box must be positive and leave a hollow"),
        ("4, 4, 4, 4", "4", "a section BOX has 3 dimensions, must have 6"),
        ("MATERIAL=STEEL, SECTION=BOX", "MATERIAL=STEEL, SECTION=BOX, OFFSET1=0.5", "off their nodes by different"),
        (BOX, "", "element 1 has no section"),
        ("ELSET=OUTER, MATERIAL", "ELSET=INNER, MATERIAL", "element 3 has no section"),
        ("1, 1, 6", "1, 1, 6\n5, 5, 5, 1.0", "node 5 of a beam or shell is turned by a support"),
        ("5, 3, 10", "5, 3, 10\n*DLOAD\nINNER, P1, 2.0", "loads P1 on beams and shells ('INNER')"),
        (
            "*STEP",
            "*TRANSFORM, NSET=N5\n1, 1, 0, -1, 1, 0\n*NSET, NSET=N5\n5\n*BOUNDARY\n5, 1\n5, 4\n*STEP",
            "node 5 of a beam or shell is turned by a support, which is known without NLGEOM only",
        ),
        ("0, 0, 1\n", "1, 0, 0\n", "beams: up must not be along a line"),
        ("NAME=STEEL\n*ELASTIC\n210000, 0.3", "NAME=OTHER\n*ELASTIC\n210000, 0.3", "there is no material 'STEEL'"),
    ],
)
def test_what_is_refused(tmp_path, old, new, why):
    text = NODES + LINES + BOX + FLAT + STEEL + CLAMP + STATIC.format("5, 3, 10")
    assert old in text
    found = imported(tmp_path, text.replace(old, new, 1))
    assert not found.scenarios
    assert why in " ".join(map(str, found.missed)), found.report()


def test_forces_and_supports_are_in_local_directions(tmp_path):
    """Where axis 1 of a node is along z, 3 along y and 2 along x."""
    local = "*NSET, NSET=N5\n5\n*TRANSFORM, NSET=N5\n0, 0, 1, 1, 0, 0\n"
    text = NODES + LINES + BOX + FLAT + STEEL + CLAMP + local
    u, *_ = at_rest(tmp_path, text + "*BOUNDARY\n5, 3\n" + STATIC.format("5, 1, 10\n5, 3, 3"))
    plain, *_ = at_rest(tmp_path, text.replace(local, "") + "*BOUNDARY\n5, 2\n" + STATIC.format("5, 3, 10"))
    assert plain[4, 2] > 1e-4
    assert_allclose(u, plain, atol=1e-12)


def test_beams_with_flat_elements_are_refused(tmp_path):
    flat = "*NODE\n11, 0, 0, 0\n12, 1, 0, 0\n13, 0, 1, 0\n*ELEMENT, TYPE=CPS3, ELSET=B\n9, 11, 12, 13\n"
    found = imported(tmp_path, NODES + flat + LINES + BOX + FLAT + STEEL + CLAMP + STATIC.format("5, 3, 10"))
    assert not found.scenarios
    assert "beams together with elements CPS3 are not supported" in str(found.missed[0])


BLOCK = (
    "*NODE\n11, -100, -50, -50\n12, 0, -50, -50\n13, 0, 50, -50\n14, -100, 50, -50\n"
    "15, -100, -50, 50\n16, 0, -50, 50\n17, 0, 50, 50\n18, -100, 50, 50\n"
    "*ELEMENT, TYPE=C3D8, ELSET=BLOCK\n50, 11, 12, 13, 14, 15, 16, 17, 18\n"
    "*SOLID SECTION, ELSET=BLOCK, MATERIAL=STEEL\n"
    "*SURFACE, NAME=FACE\nBLOCK, S4\n"
)
RISING = "*AMPLITUDE, NAME=A\n0., 0., 1e-2, 1.\n"
HELD = "*BOUNDARY\n11, 1, 3\n14, 1, 3\n15, 1, 3\n18, 1, 3\n"


@pytest.mark.parametrize("kind", ["KINEMATIC\n1, 6", "DISTRIBUTING"])
def test_a_beam_on_a_solid_bends_as_a_cantilever(tmp_path, kind):
    """The side of a block, which is far stiffer, is coupled to the end of the beam."""
    coupling = f"*COUPLING, REF NODE=1, SURFACE=FACE, CONSTRAINT NAME=C\n*{kind}\n"
    load = STATIC.replace(", NLGEOM", "").format("5, 3, 200.\n12, 1, 1.")
    text = NODES + LINES + BOX + FLAT + STEEL + BLOCK + HELD + coupling
    found = imported(tmp_path, text + load)
    assert not found.missed, found.report()
    problem = Scenario.read(found.scenarios[1]).build()
    beam = problem.beams["beams"]
    u = beam.structure.frames.centers(beam.own(problem.state.q)) - beam.structure.frames.centers(beam.structure.points)
    plain = NODES + LINES + BOX + FLAT + STEEL + CLAMP
    clamped, *_ = at_rest(tmp_path, plain + load.replace("12, 1, 1.", "5, 3, 0."))
    assert_allclose(u[4, 2], clamped[4, 2], rtol=3e-3)
    assert [*found.bodies] == ["beams", "solids"]
    # Shared nodes have one displacement; the force of the whole is the weight at the block's other end.
    shared = text.replace(coupling, "").replace("1, 1, 2\n", "1, 12, 2\n") + "*BOUNDARY\n2, 1, 6\n"
    found = imported(tmp_path, shared + STATIC.replace(", NLGEOM", "").format("5, 3, 10.\n12, 1, 1e5"))
    assert not found.missed, found.report()
    problem = Scenario.read(found.scenarios[1]).build()
    beam = problem.beams["beams"]
    frames, q = beam.structure.frames, problem.state.q
    u = frames.centers(beam.own(q)) - frames.centers(beam.structure.points)
    first = u[int(np.flatnonzero(found.bodies["beams"] == 12)[0])]
    solid = problem.mesh.nodes_of("solids")
    place = int(np.flatnonzero(found.bodies["solids"] == 12)[0])
    of_solid = (q[: len(problem.mesh.points)] - problem.mesh.points)[solid[place]]
    assert np.abs(first).max() > 1e-7
    assert np.abs(first - of_solid).max() < 1e-3 * np.abs(first).max()


def test_a_beam_on_a_solid_turns_with_it_with_nlgeom(tmp_path):
    """Kinematic couplings are ``[[coupling]]``: the same cantilever, far bent, but for the block, which is stiff."""
    coupling = "*COUPLING, REF NODE=1, SURFACE=FACE, CONSTRAINT NAME=C\n*KINEMATIC\n"
    load = STATIC.format("5, 3, 5000.")
    found = imported(tmp_path, NODES + LINES + BOX + FLAT + STEEL + BLOCK + HELD + coupling + load)
    assert not found.missed, found.report()
    assert "[[coupling]]" in found.scenarios[1].read_text()
    problem = Scenario.read(found.scenarios[1]).build()
    beam, q = problem.beams["beams"], problem.state.q
    frames, own = beam.structure.frames, beam.own(q)
    u = frames.centers(own) - frames.centers(beam.structure.points)
    clamped, *_ = at_rest(tmp_path, NODES + LINES + BOX + FLAT + STEEL + CLAMP + load)
    assert u[4, 2] > 0.2
    assert_allclose(u[4], clamped[4], rtol=5e-3, atol=1e-9)
    # The nodes of the side are where the node of the beam has them, as if rigid.
    end = int(np.flatnonzero(found.bodies["beams"] == 1)[0])
    turn = frames.rotations(beam.structure.points, own)[end]
    side = problem.mesh.nodes_of("solids")[np.isin(found.bodies["solids"], [12, 13, 16, 17])]
    points = problem.mesh.points[side] - frames.centers(beam.structure.points)[end]
    assert np.abs(q[side] - frames.centers(own)[end] - points @ turn.T).max() < 1e-9


def test_nodes_are_moved_in_part_and_linked_by_equations(tmp_path):
    """The end moves by 2 mm across; then an equation gives the middle half the rotation of the end."""
    text = NODES + LINES + BOX + FLAT + STEEL + CLAMP
    forced, *_ = at_rest(tmp_path, text + STATIC.replace(", NLGEOM", "").format("5, 3, 1."))
    moved, *_ = at_rest(tmp_path, text + "*STEP\n*STATIC\n*BOUNDARY\n5, 3, 3, 2.\n*END STEP\n")
    assert_allclose(moved[4, 2], 2e-3, rtol=1e-3)
    assert_allclose(moved / moved[4, 2], forced / forced[4, 2], atol=3e-3)
    turned, *_ = at_rest(tmp_path, text + "*STEP\n*STATIC\n*BOUNDARY\n3, 5, 5, -1e-3\n*END STEP\n")
    assert_allclose(turned[2, 2], 0.5e-3, rtol=2e-3)  # an end moment bends it to an arc, θ L/2
    assert_allclose(turned[4, 2], 1.5e-3, rtol=2e-3)
    linked = text + "*EQUATION\n2\n3, 5, 1., 5, 5, -0.5\n"
    u, *_ = at_rest(tmp_path, linked + STATIC.replace(", NLGEOM", "").format("5, 3, 1."))
    assert 0.0 < u[4, 2] < 0.9 * forced[4, 2]
    found = imported(
        tmp_path, text + RISING + "*STEP\n*DYNAMIC\n1e-3, 1e-2\n*BOUNDARY, AMPLITUDE=A\n5, 3, 3, 2.\n*END STEP\n"
    )
    assert not found.missed, found.report()
    moving = Scenario.read(found.scenarios[1]).build()
    state = moving.integrator.start(moving.system, moving.state).advance(0.01)
    frames = moving.beams["part"].structure.frames
    assert_allclose(frames.centers(moving.beams["part"].own(state.q))[4, 2], 2e-3, rtol=1e-3)


def test_the_middle_of_three_nodes_is_the_second(tmp_path):
    wrong = (NODES + LINES + BOX + FLAT + STEEL + CLAMP + STATIC.format("5, 3, 10")).replace("3, 3, 4, 5", "3, 3, 5, 4")
    found = imported(tmp_path, wrong)
    assert not found.scenarios
    assert "the second node of element 3 must be between the two others" in str(found.missed[0])
