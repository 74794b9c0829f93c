"""Decks of beams and shells that are joined: shared nodes, connectors, constraints of nodes, couplings, supports."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import symplex as sx
from symplex.decks.importing import import_deck
from symplex.scenario.scenario import Scenario

E, SIDE = 2e11, 0.02
STEEL = "*MATERIAL, NAME=STEEL\n*ELASTIC\n2e11, 0.\n*DENSITY\n7800\n"
BEAM = "*BEAM SECTION, ELSET=BEAMS, MATERIAL=STEEL, SECTION=RECT\n0.02, 0.02\n0., 0., 1.\n"
INERTIA = SIDE**4 / 12.0


def two_beams(apart=0.0):
    """Return a deck of two beams of two elements each, 1 m long, along x one after the other: nodes 1 2 3 and 4 5 6."""
    x = [0.0, 0.5, 1.0, 1.0 + apart, 1.5 + apart, 2.0 + apart]
    nodes = "*NODE\n" + "".join(f"{k}, {place!r}, 0., 0.\n" for k, place in enumerate(x, 1))
    lines = "*ELEMENT, TYPE=B31, ELSET=BEAMS\n1, 1, 2\n2, 2, 3\n3, 4, 5\n4, 5, 6\n"
    return nodes + lines + BEAM + STEEL + "*BOUNDARY\n1, 1, 6\n"


def step(*lines, nlgeom=False, procedure="*STATIC"):
    return f"*STEP{', NLGEOM' if nlgeom else ''}\n{procedure}\n" + "\n".join(lines) + "\n*END STEP\n"


def imported(folder, text, **options):
    deck = folder / "frame.inp"
    deck.write_text(text)
    return import_deck(deck, folder / "out", overwrite=True, **options)


def built(folder, text):
    found = imported(folder, text)
    assert not found.missed, found.report()
    return Scenario.read(found.scenarios[1]).build(), found


def at_rest(folder, text):
    """Return the displacements and rotations of nodes by their numbers in the deck."""
    problem, found = built(folder, text)
    out = {}
    for name, framed in (problem.beams | problem.shells).items():
        frames, points = framed.structure.frames, framed.structure.points
        q = framed.own(problem.state.q)
        turned = Rotation.from_matrix(frames.rotations(points, q)).as_rotvec()
        u = np.hstack([frames.centers(q) - frames.centers(points), turned])
        out |= dict(zip(found.bodies[name].tolist(), u, strict=True))
    return out


LOAD = ("*CLOAD", "6, 3, 2.")
TIP = 2.0 * 2.0**3 / (3.0 * E * INERTIA)


@pytest.mark.parametrize(
    "joined",
    [
        "*MPC\nTIE, 3, 4\n",
        "*MPC\nBEAM, 3, 4\n",
        "*ELEMENT, TYPE=CONN3D2, ELSET=WELDS\n9, 3, 4\n*CONNECTOR SECTION, ELSET=WELDS\nBEAM,\n",
        "*ELEMENT, TYPE=CONN3D2, ELSET=WELDS\n9, 3, 4\n*CONNECTOR SECTION, ELSET=WELDS\nJOIN, ALIGN\n",
        "*NSET, NSET=ENDS\n3, 4\n*RIGID BODY, NSET=ENDS, REF NODE=3\n",
        "*SURFACE, TYPE=NODE, NAME=END\n4\n*COUPLING, REF NODE=3, SURFACE=END, CONSTRAINT NAME=A\n*KINEMATIC\n",
    ],
)
def test_beams_that_are_welded_bend_as_one(tmp_path, joined):
    u = at_rest(tmp_path, two_beams() + joined + step(*LOAD))
    assert_allclose(u[6][2], TIP, rtol=1e-3)
    assert_allclose(u[3], u[4], atol=1e-12)


def test_rigid_constraints_at_a_distance(tmp_path):
    """A rigid piece of 0.5 m between two beams: rotations of its ends are one."""
    u = at_rest(tmp_path, two_beams(0.5) + "*MPC\nBEAM, 4, 3\n" + step(*LOAD))
    EI = E * INERTIA
    w3, angle = 2.0 * (1.0 / 3.0 + 1.5 / 2.0) / EI, 2.0 * (0.5 + 1.5) / EI
    assert_allclose(u[3][2], w3, rtol=1e-3)
    assert_allclose(u[4][2], w3 + 0.5 * angle, rtol=1e-3)
    assert_allclose(u[4][4], -angle, rtol=1e-3)


AXES = "*ORIENTATION, NAME=OWN\n0., 1., 0., -1., 0., 0.\n"
CONNECTED = "*ELEMENT, TYPE=CONN3D2, ELSET=JOINTS\n9, 4, 3\n*CONNECTOR SECTION, ELSET=JOINTS\n{}\nOWN,\n" + AXES


@pytest.mark.parametrize("kinds", ["HINGE", "JOIN, REVOLUTE", "TRANSLATOR", "SLOT, ALIGN"])
def test_connectors_leave_free_what_their_kind_does(tmp_path, kinds):
    """The second beam has one motion without stiffness: about, or along, the direction 1 of the orientation."""
    problem, _ = built(tmp_path, two_beams() + CONNECTED.format(kinds) + step("1", procedure="*FREQUENCY"))
    modes = sx.modes.natural_modes(problem.system, problem.state, 2)
    (table,) = problem.scenario.tables.joint
    assert table.kind == {"H": "revolute", "J": "revolute", "T": "prismatic", "S": "prismatic"}[kinds[0]]
    assert_allclose(table.axis, (0.0, 1.0, 0.0), atol=1e-12)
    assert abs(modes.frequencies[0]) < 1e-3 * modes.frequencies[1]


KINDS = {
    "UJOINT": "universal",
    "SLOT": "inline",
    "SLIDE-PLANE": "inplane",
    "CYLINDRICAL": "cylindrical",
    "PLANAR": "planar",
    "JOIN": "spherical",
}


@pytest.mark.parametrize(("kinds", "kind"), KINDS.items())
def test_kinds_of_connectors(tmp_path, kinds, kind):
    found = imported(tmp_path, two_beams() + CONNECTED.format(kinds) + step("1", procedure="*FREQUENCY"))
    assert not found.missed, found.report()
    (table,) = Scenario.read(found.scenarios[1]).tables.joint
    assert table.kind == kind
    if kind == "universal":  # direction 1 of the first end, 3 of the second one
        assert_allclose(table.axis, (0.0, 1.0, 0.0), atol=1e-12)
        assert_allclose(table.second, (0.0, 0.0, 1.0), atol=1e-12)


def test_pins_carry_no_moments(tmp_path):
    """A beam on a pin at its start and a support at its end; the first one carries half of the load in the middle."""
    text = two_beams() + "*MPC\nPIN, 4, 3\n*BOUNDARY\n6, 2, 4\n"
    u = at_rest(tmp_path, text + step("*CLOAD", "5, 3, 2."))
    assert_allclose(u[3][2], 1.0 / (3.0 * E * INERTIA), rtol=2e-3)
    assert abs(u[4][4] - u[3][4]) > 1e-5


N = 16  # elements along the plate
PLATE = "*NODE\n" + "".join(
    f"{i + (N + 1) * j + 101}, {i / N}, {0.1 * j}, 0.\n" for i in range(N + 1) for j in range(3)
)
PLATE += "*ELEMENT, TYPE=S4, ELSET=PLATES\n"
PLATE += "".join(
    f"{i + N * j + 101}, {k}, {k + 1}, {k + N + 2}, {k + N + 1}\n"
    for i in range(N)
    for j in range(2)
    for k in [i + (N + 1) * j + 101]
)
ROWS = [[k + (N + 1) * j + 101 for j in range(3)] for k in range(N + 1)]
EDGE, MIDDLE = ROWS[-1], ROWS[N // 2][1]
PLATE += "*SHELL SECTION, ELSET=PLATES, MATERIAL=STEEL\n0.02\n*NSET, NSET=FIXED\n" + "".join(f"{k}\n" for k in ROWS[0])
PLATE += "*BOUNDARY\nFIXED, 1, 6\n"
EI = E * 0.2 * 0.02**3 / 12.0


def test_beams_on_nodes_of_shells_are_welded(tmp_path):
    """A plate of 1 m and a beam of 1 m from the middle of its edge, as wide and thick: one cantilever."""
    beam = "*NODE\n201, 1.25, 0.1, 0.\n202, 1.5, 0.1, 0.\n203, 1.75, 0.1, 0.\n204, 2., 0.1, 0.\n"
    beam += f"*ELEMENT, TYPE=B31, ELSET=BEAMS\n201, {EDGE[1]}, 201\n202, 201, 202\n203, 202, 203\n204, 203, 204\n"
    beam += BEAM.replace("0.02, 0.02", "0.02, 0.2")
    edge = "*MPC\n" + "".join(
        f"BEAM, {node}, {EDGE[1]}\n" for node in (EDGE[0], EDGE[2])
    )  # so that the beam bends the whole plate
    u = at_rest(tmp_path, PLATE + STEEL + beam + edge + step("*CLOAD", "204, 3, 2."))
    assert_allclose(u[204][2], 2.0 * 2.0**3 / (3.0 * EI), rtol=5e-3)
    assert_allclose(u[EDGE[1]][5], 0.0, atol=1e-9)


def coupled(kind, lines="", reference="900, 1.4, 0.1, 0.1"):
    rows = EDGE if kind == "KINEMATIC" else (*ROWS[-2], *EDGE)
    edge = "".join(f"{node}\n" for node in rows)
    text = f"*NODE\n{reference}\n*SURFACE, TYPE=NODE, NAME=EDGE\n{edge}"
    return PLATE + STEEL + text + f"*COUPLING, REF NODE=900, SURFACE=EDGE, CONSTRAINT NAME=A\n*{kind}\n{lines}"


@pytest.mark.parametrize(("kind", "lines"), [("KINEMATIC", ""), ("KINEMATIC", "1, 6\n")])
def test_a_reference_node_at_a_distance_loads_the_edge_of_a_shell(tmp_path, kind, lines):
    """A force P at 0.4 m from the end bends the cantilever with the moment P (1.4 m − x), and a moment too."""
    u = at_rest(tmp_path, coupled(kind, lines) + step("*CLOAD", "900, 3, 2.", "900, 5, -3."))
    exact = 2.0 / (3.0 * EI) + (2.0 * 0.4 + 3.0) / (2.0 * EI)
    assert_allclose([u[node][2] for node in EDGE], exact, rtol=5e-3)


def test_couplings_distribute_forces_as_they_are_in_equilibrium(tmp_path):
    found = imported(tmp_path, coupled("DISTRIBUTING") + step("*CLOAD", "900, 3, 2.", "900, 1, 1.", "900, 5, -3."))
    assert not found.missed, found.report()
    problem = Scenario.read(found.scenarios[1]).build()
    places = problem.shells["part"].structure.frames.centers(problem.shells["part"].structure.points)
    force, moment = np.zeros(3), np.zeros(3)
    for load in problem.scenario.tables.load:
        for node in problem.shells["part"].mesh.nodes_of(load.group):
            force += load.force
            moment += np.cross(places[node] - [1.4, 0.1, 0.1], load.force)
    assert_allclose(force, [1.0, 0.0, 2.0], atol=1e-12)
    assert_allclose(moment, [0.0, -3.0, 0.0], atol=1e-12)


def test_a_reference_node_at_a_distance_is_held(tmp_path):
    """Clamped, it clamps the edge."""
    held, load = "*BOUNDARY\n900, 1, 6\n", step("*DLOAD", "PLATES, P, 10.")
    u = at_rest(tmp_path, coupled("KINEMATIC") + held + load)
    edge = "*BOUNDARY\n" + "".join(f"{node}, 1, 6\n" for node in EDGE)
    plain = at_rest(tmp_path, PLATE + STEEL + edge + load)
    assert_allclose(u[MIDDLE], plain[MIDDLE], rtol=1e-6, atol=1e-15)
    assert_allclose(plain[MIDDLE][2], 2.0 / (384.0 * EI), rtol=2e-2)
    assert_allclose(u[EDGE[1]], 0.0, atol=1e-12)


def test_a_reference_node_on_a_hinge_at_a_distance(tmp_path):
    """A pin about y at 0.4 m beyond the end: the prop gives Q with 0 = w there, and the same as by beam theory."""
    text = coupled("KINEMATIC", reference="900, 1.4, 0.1, 0.") + "*BOUNDARY\n900, 1, 4\n900, 6\n"
    u = at_rest(
        tmp_path, text + step("*CLOAD", *(f"{node}, 3, {w}" for node, w in zip(EDGE, (0.5, 1.0, 0.5), strict=True)))
    )
    a, P = 0.4, 2.0
    # Of the force P and of the prop R at the distance a beyond the end: w and θ at the end.
    w, angle = lambda P, R: P / 3.0 - R * (1.0 / 3.0 + a / 2.0), lambda P, R: P / 2.0 - R * (0.5 + a)
    R = (1.0 / 3.0 + a / 2.0) * P / (1.0 / 3.0 + a / 2.0 + a * (0.5 + a))
    assert abs(w(P, R) + a * angle(P, R)) < 1e-12
    assert_allclose(u[EDGE[1]][2], w(P, R) / EI, rtol=5e-3)


def test_supports_oblique_to_the_axes_are_joints(tmp_path):
    """A beam along (1, 1, 0) whose end slides along itself and turns about z, loaded across: a guided cantilever."""
    c = float(np.sqrt(0.5))
    nodes = "*NODE\n" + "".join(f"{k + 1}, {0.25 * k * c!r}, {0.25 * k * c!r}, 0.\n" for k in range(5))
    text = nodes + "*ELEMENT, TYPE=B31, ELSET=BEAMS\n1, 1, 2\n2, 2, 3\n3, 3, 4\n4, 4, 5\n" + BEAM + STEEL
    text += "*BOUNDARY\n1, 1, 6\n*NSET, NSET=END\n5\n*TRANSFORM, NSET=END\n1., 1., 0., -1., 1., 0.\n"
    # Free along the local direction 2, across the beam in the plane, and held in the others: a prismatic joint.
    u = at_rest(tmp_path, text + "*BOUNDARY\n5, 1\n5, 3, 6\n" + step("*CLOAD", "5, 2, 2."))
    assert_allclose(u[5][:3] @ [-c, c, 0.0], 2.0 / (12.0 * E * INERTIA), rtol=1e-3)
    assert_allclose(u[5][:3] @ [c, c, 0.0], 0.0, atol=1e-12)


def test_springs_and_bars_hold_beams(tmp_path):
    """A cantilever on a spring to a fixed node at its end, and one on a bar of the same stiffness."""
    EI, k = E * INERTIA, 400.0
    plain = two_beams() + "*MPC\nTIE, 3, 4\n"
    spring = "*NODE\n9, 2., 0., 1.\n*ELEMENT, TYPE=SPRINGA, ELSET=SPRINGS\n9, 6, 9\n*SPRING, ELSET=SPRINGS\n\n400.\n"
    bar = "*NODE\n9, 2., 0., 1.\n*ELEMENT, TYPE=T3D2, ELSET=BARS\n9, 6, 9\n"
    bar += "*SOLID SECTION, ELSET=BARS, MATERIAL=STEEL\n2e-9\n"
    for more in (spring, bar):
        u = at_rest(tmp_path, plain + more + "*BOUNDARY\n9, 1, 3\n" + step("*CLOAD", "6, 3, 0.2"))
        assert_allclose(u[6][2], 0.2 / (3.0 * EI / 8.0 + k), rtol=2e-3)
    found = imported(tmp_path, plain + spring + step("*CLOAD", "6, 3, 0.2"), limit=0.0)
    assert "node 9, on springs only, must be fixed in all directions" in found.report()


def test_damped_beams_and_dashpots(tmp_path):
    text = (
        two_beams() + "*MPC\nTIE, 3, 4\n" + "*ELEMENT, TYPE=DASHPOTA, ELSET=PADS\n9, 2, 6\n*DASHPOT, ELSET=PADS\n\n5.\n"
    )
    text = text.replace("*DENSITY\n7800\n", "*DENSITY\n7800\n*DAMPING, ALPHA=2., BETA=1e-4\n")
    found = imported(tmp_path, text + step("1e-3, 3e-3", "*CLOAD", "6, 3, 2.", procedure="*DYNAMIC"))
    assert not found.missed, found.report()
    tables = Scenario.read(found.scenarios[1]).tables
    assert tables.dashpot[0].viscosity == 5.0
    assert (tables.damping[0].alpha, tables.damping[0].beta) == (2.0, 1e-4)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (two_beams(0.5) + "*MPC\nPIN, 3, 4\n", "a *MPC PIN of the nodes 3 and 4, which are not at one place"),
        (two_beams() + CONNECTED.format("AXIAL"), "connectors 'AXIAL' are not supported; ALIGN, BEAM, CYLINDRICAL"),
        (two_beams() + CONNECTED.format("ALIGN"), "connectors 'ALIGN' are no joint that a scenario has"),
        (two_beams() + CONNECTED.format("HINGE").replace("OWN,\n", "\n"), "the connectors need an orientation"),
        (two_beams() + "*ELEMENT, TYPE=CONN3D2\n9, 3, 4\n", "element 9 of type CONN3D2 has no *CONNECTOR SECTION"),
    ],
)
def test_what_is_refused(tmp_path, text, reported):
    found = imported(tmp_path, text + step("*CLOAD", "101, 3, 1." if "PLATES" in text else "6, 3, 1."), limit=0.0)
    shown = found.report()
    assert reported in shown
    assert "PLATES" in text or not found.scenarios
