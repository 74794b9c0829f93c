"""Decks of shells: what becomes of elements, sections, layers, offsets, supports and loads, by theory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_bvp
from scipy.spatial.transform import Rotation

import symplex as sx
from symplex.decks.importing import import_deck
from symplex.decks.structures import DRILLS
from symplex.fem.structures import Orthotropic, Ply, ShellProperties
from symplex.scenario.scenario import Scenario

LENGTH, WIDTH, THICK = 2.0, 0.5, 0.02
E = 2e11
STEEL = "*MATERIAL, NAME=STEEL\n*ELASTIC\n2e11, 0.\n*DENSITY\n7800\n"
SECTION = "*SHELL SECTION, ELSET=ALL, MATERIAL=STEEL\n0.02\n"
CLAMP = "*BOUNDARY\nLEFT, 1, 6\n"
INERTIA = WIDTH * THICK**3 / 12.0


def strip(kind, cells=(8, 2), section=SECTION + STEEL + CLAMP, turn=None):
    """Return a deck of a strip in the plane z = 0 along x, with sets of its ends, of nodes, and of elements."""
    nx, ny = cells
    triangles, quadratic = kind[:2] in ("S3", "S6", "ST"), kind[:2] in ("S6", "S8") or kind == "STRI65"
    halves = [[(0, 0), (2, 0), (0, 2)], [(2, 0), (2, 2), (0, 2)]] if triangles else [[(0, 0), (2, 0), (2, 2), (0, 2)]]
    number, rows = {}, []
    for i in range(nx):
        for j in range(ny):
            for corners in halves:
                here = [(2 * i + a, 2 * j + b) for a, b in corners]
                ends = zip(here, here[1:] + here[:1], strict=True)
                middles = [((a + c) // 2, (b + d) // 2) for (a, b), (c, d) in ends] if quadratic else []
                rows.append([number.setdefault(at, len(number) + 1) for at in (*here, *middles)])
    places = {k: np.array([LENGTH * i / (2 * nx), WIDTH * j / (2 * ny), 0.0]) for (i, j), k in number.items()}
    placed = {k: x if turn is None else turn @ x for k, x in places.items()}
    lines = ["*NODE", *(f"{k}, {x:.15g}, {y:.15g}, {z:.15g}" for k, (x, y, z) in placed.items())]
    lines += [f"*ELEMENT, TYPE={kind}, ELSET=ALL", *(f"{k}, {', '.join(map(str, r))}" for k, r in enumerate(rows, 1))]
    for name, chosen in (("LEFT", 0.0), ("RIGHT", LENGTH)):
        lines += [f"*NSET, NSET={name}", *(f"{k}," for k, x in places.items() if x[0] == chosen)]
    inner = [k for k, row in enumerate(rows, 1) if places[row[0]][0] < 0.5 * LENGTH]
    lines += ["*ELSET, ELSET=INNER", *(f"{k}," for k in inner)]
    lines += ["*ELSET, ELSET=OUTER", *(f"{k}," for k in range(1, len(rows) + 1) if k not in inner)]
    edge = sorted((x[1], k) for k, x in places.items() if x[0] == LENGTH)
    weights = np.tile([4.0, 2.0] if quadratic else [2.0], len(edge))[: len(edge)]
    weights = [1.0, *weights[: len(edge) - 2], 1.0]
    return "\n".join(lines) + "\n" + section, dict(zip([k for _, k in edge], weights / np.sum(weights), strict=True))


def on_edge(weights, component, size):
    """Return lines of *CLOAD of a load that is the same along an edge."""
    return "".join(f"{k}, {component}, {float(size * w)!r}\n" for k, w in weights.items())


def step(*lines, nlgeom=False):
    return f"*STEP{', NLGEOM' if nlgeom else ''}\n*STATIC\n" + "\n".join(lines) + "\n*END STEP\n"


def imported(folder, text, **options):
    deck = folder / "shell.inp"
    deck.write_text(text)
    return import_deck(deck, folder / "out", overwrite=True, **options)


def at_rest(folder, text, **options):
    """Return the displacements of nodes by their numbers in the deck, and the shell."""
    found = imported(folder, text, **options)
    assert not found.missed, found.report()
    problem = Scenario.read(found.scenarios[1]).build()
    shell = problem.shells["part"]
    q = shell.own(problem.state.q)
    u = shell.structure.frames.centers(q) - shell.structure.frames.centers(shell.structure.points)
    return dict(zip(found.bodies["part"].tolist(), u, strict=True)), shell, found


def tip(u, weights):
    return np.array([u[k] for k in weights]).mean(axis=0)


@pytest.mark.parametrize("kind", ["S3", "S4", "S4R", "S6", "STRI65", "S8", "S8R", "S8R5"])
def test_a_cantilever_bends_as_a_beam(tmp_path, kind):
    """By a moment, and by a force; an element has one curvature, so that n of them have 1/4n² less than F L³/3EI.

    Elements with nodes in the middle of edges have twice as many along. Triangles have a flexibility in shear besides,
    which is less for smaller ones.
    """
    text, weights = strip(kind)
    along = 16 if kind[1] in "68" or kind == "STRI65" else 8
    u, *_ = at_rest(tmp_path, text + step("*CLOAD", on_edge(weights, 5, -20.0)))
    assert_allclose(tip(u, weights)[2], 20.0 * LENGTH**2 / (2.0 * E * INERTIA), rtol=2e-4)
    u, *_ = at_rest(tmp_path, text + step("*CLOAD", on_edge(weights, 3, 10.0)))
    exact = 10.0 * LENGTH**3 / (3.0 * E * INERTIA) * (1.0 - 0.25 / along**2)
    assert_allclose(tip(u, weights)[2], exact, rtol=5e-4 if kind[1] in "48" else 4e-3 if along == 8 else 1e-3)


def test_a_strip_with_nlgeom_rolls_up(tmp_path):
    """By a moment π EI/L to half a circle, across which its end is 2L/π from its start."""
    text, weights = strip("S4R", (16, 1))
    u, *_ = at_rest(tmp_path, text + step("*CLOAD", on_edge(weights, 5, -np.pi * E * INERTIA / LENGTH), nlgeom=True))
    assert_allclose(tip(u, weights), [-LENGTH, 0.0, 2.0 * LENGTH / np.pi], rtol=1e-2, atol=1e-6)


def test_layers_bend_as_laminates(tmp_path):
    """An unsymmetric strip of two steels: D − B²/A, and its end moves along by B/A of the curvature."""
    soft = "*MATERIAL, NAME=SOFT\n*ELASTIC\n5e10, 0.\n*DENSITY\n2700\n"
    section = "*SHELL SECTION, ELSET=ALL, COMPOSITE\n0.005, 3, STEEL\n0.015, 3, SOFT, 0., UPPER\n" + soft + STEEL
    text, weights = strip("S4", section=section + CLAMP)
    u, shell, _ = at_rest(tmp_path, text + step("*CLOAD", on_edge(weights, 5, -2.0)))
    z = np.array([-0.01, -0.005, 0.01])
    A, B, D = (WIDTH * np.diff(z**k) @ [2e11, 5e10] / k for k in (1, 2, 3))
    curvature = 2.0 / (D - B * B / A)
    assert_allclose(tip(u, weights)[2], 0.5 * curvature * LENGTH**2, rtol=1e-4)
    assert_allclose(shell.structure.mass.sum(), LENGTH * WIDTH * (0.005 * 7800 + 0.015 * 2700))
    shortened = curvature**2 * LENGTH**3 / 6.0
    assert_allclose(tip(u, weights)[0], curvature * LENGTH * B / A - shortened, rtol=2e-3)


FIBRES = "*MATERIAL, NAME=FIBRES\n*ELASTIC, TYPE=LAMINA\n1.4e11, 1e10, 0.3, 5e9, 5e9, 3.5e9\n*DENSITY\n1600\n"
PLY = Orthotropic(1.4e11, 1e10, 0.3, 5e9, 5e9, 3.5e9, 1600.0)
ANGLES = (0.0, 45.0, -45.0, 90.0)


def laminate(folder, orientation, parameter, angles, turn=None, material=FIBRES):
    layers = "".join(f"0.0025, 3, FIBRES, {angle}\n" for angle in angles)
    section = f"*SHELL SECTION, ELSET=ALL, COMPOSITE{parameter}\n{layers}{material}{orientation}{CLAMP}"
    text, _ = strip("S4", (2, 1), section=section, turn=turn)
    text += step("*DLOAD", "ALL, GRAV, 9.81, 0., 0., -1.")
    found = imported(folder, text, limit=0.0)
    assert not found.missed, found.report()
    (table,) = Scenario.read(found.scenarios[1]).tables.shell
    return table


def test_angles_of_layers_are_from_x_or_an_orientation(tmp_path):
    """Axis 1 is the projection of x; of an orientation that of the axis after the one across the shell."""
    plain = laminate(tmp_path, "", "", ANGLES)
    assert [layer.angle for layer in plain.layers] == [*ANGLES]
    (own,) = plain.properties_of_parts()
    assert_allclose(own.matrix, ShellProperties.laminate([Ply(0.0025, PLY, a) for a in ANGLES]).matrix)
    turned = "*ORIENTATION, NAME=OWN\n0., 1., 0., -1., 0., 0.\n3, 0.\n"
    table = laminate(tmp_path, turned, ", ORIENTATION=OWN", ANGLES)
    assert_allclose(table.direction, (0.0, 1.0, 0.0))
    further = "*ORIENTATION, NAME=OWN\n1., 0., 0., 0., 1., 0.\n3, 30.\n"
    table = laminate(tmp_path, further, ", ORIENTATION=OWN", ANGLES)
    assert_allclose(table.direction, (np.cos(np.pi / 6.0), 0.5, 0.0))
    across = "*ORIENTATION, NAME=OWN\n0., 0., 1., 1., 0., 0.\n1, 0.\n"  # axis 1 across, 2 along x
    table = laminate(tmp_path, across, ", ORIENTATION=OWN", ANGLES)
    assert_allclose(table.direction, (1.0, 0.0, 0.0))


def test_layers_have_orientations_of_their_own(tmp_path):
    own = "*ORIENTATION, NAME=OWN\n1., 1., 0., -1., 1., 0.\n3, 0.\n"
    table = laminate(tmp_path, own, "", ["0.", "OWN", "90."])
    assert_allclose(table.direction, (np.sqrt(0.5), np.sqrt(0.5), 0.0))
    assert_allclose([layer.angle for layer in table.layers], [-45.0, 0.0, 45.0])


def test_orientations_around_a_pipe(tmp_path):
    """Of a half pipe about z the axis 1 is tangential, 90° from z about the outward normal, and 2 along z."""
    own = "*ORIENTATION, NAME=OWN, SYSTEM=CYLINDRICAL\n0., 0., 0., 0., 0., 1.\n1, 0.\n"
    nodes = [(k + 1, 0.3 * np.cos(a), 0.3 * np.sin(a)) for k, a in enumerate(np.linspace(0.0, np.pi, 13))]
    lines = ["*NODE", *(f"{k}, {x:.12g}, {y:.12g}, 0." for k, x, y in nodes)]
    lines += [f"{k + 100}, {x:.12g}, {y:.12g}, 0.2" for k, x, y in nodes]
    lines += ["*NSET, NSET=LEFT", "1, 101", "*ELEMENT, TYPE=S4, ELSET=ALL"]
    lines += [f"{k}, {k}, {k + 1}, {k + 101}, {k + 100}" for k in range(1, 13)]
    section = f"*SHELL SECTION, ELSET=ALL, COMPOSITE, ORIENTATION=OWN\n0.01,, FIBRES, 10.\n{FIBRES}{own}{CLAMP}"
    text = "\n".join(lines) + "\n" + section
    found = imported(tmp_path, text + step("*DLOAD", "ALL, GRAV, 9.81, 0., 0., -1."), limit=0.0)
    assert not found.missed, found.report()
    (table,) = Scenario.read(found.scenarios[1]).tables.shell
    assert_allclose(table.direction, (0.0, 0.0, 1.0))
    assert_allclose(table.layers[0].angle, -80.0)


def test_engineering_constants_and_moduli_of_stiffness_are_the_same_plies(tmp_path):
    constants = (1.4e11, 1e10, 1e10, 0.3, 0.3, 0.4, 5e9, 5e9, 3.5e9)
    E1, E2, E3, nu12, nu13, nu23 = constants[:6]
    S = np.array([[1 / E1, -nu12 / E1, -nu13 / E1], [-nu12 / E1, 1 / E2, -nu23 / E2], [-nu13 / E1, -nu23 / E2, 1 / E3]])
    D = np.linalg.inv(S)
    ortho = [D[0, 0], D[0, 1], D[1, 1], D[0, 2], D[1, 2], D[2, 2], *constants[6:]]
    expected = laminate(tmp_path, "", "", ANGLES).properties_of_parts()[0].matrix
    for kind, values in (("ENGINEERING CONSTANTS", constants), ("ORTHO", ortho)):
        numbers = [f"{float(v)!r}" for v in values]
        material = f"*MATERIAL, NAME=FIBRES\n*ELASTIC, TYPE={kind}\n{', '.join(numbers[:8])}\n{numbers[8]}\n"
        table = laminate(tmp_path, "", "", ANGLES, material=material + "*DENSITY\n1600\n")
        assert_allclose(table.properties_of_parts()[0].matrix, expected, rtol=1e-12, atol=1e-6)


def test_stiffnesses_by_numbers_are_those_of_a_laminate(tmp_path):
    """Of an unsymmetric laminate of off-axis plies, in the order of the deck, with its shear and mass."""
    one = ShellProperties.laminate([Ply(0.0025, PLY, a) for a in ANGLES])
    numbers = [f"{one.matrix[i, j]:.15g}" for j in range(6) for i in range(j + 1)]
    lines = "".join(", ".join(numbers[k : k + 8]) + "\n" for k in range(0, 21, 8))
    section = f"*SHELL GENERAL SECTION, ELSET=ALL, DENSITY={one.mass!r}\n{lines}*TRANSVERSE SHEAR STIFFNESS\n"
    section += f"{one.shear[0, 0]:.15g}, {one.shear[1, 1]:.15g}, {one.shear[0, 1]:.15g}\n"
    text, _ = strip("S8R5", (2, 1), section=section + CLAMP)
    found = imported(tmp_path, text + "*STEP\n*FREQUENCY\n1\n*END STEP\n", limit=0.0)
    assert not found.missed, found.report()
    (table,) = Scenario.read(found.scenarios[1]).tables.shell
    (made,) = table.properties_of_parts()
    scale = np.abs(one.matrix).max()
    assert_allclose(made.matrix, one.matrix, rtol=1e-12, atol=1e-12 * scale)
    assert_allclose(made.shear, one.shear, rtol=1e-12, atol=1e-12 * scale)
    assert_allclose(made.mass, one.mass)


@pytest.mark.parametrize(("offset", "side"), [("SPOS", 1.0), ("SNEG", -1.0), ("0.25", 0.5)])
def test_a_force_along_the_nodes_of_an_offset_shell_bends_it(tmp_path, offset, side):
    """Nodes are above the middle by e: a force F has the moment F e, which moves the end by F e L²/2EI."""
    text, weights = strip("S4", section=SECTION.replace("STEEL", f"STEEL, OFFSET={offset}") + STEEL + CLAMP)
    u, *_ = at_rest(tmp_path, text + step("*CLOAD", on_edge(weights, 1, 1.0)))
    e = 0.5 * side * THICK
    assert_allclose(tip(u, weights)[2], -e * LENGTH**2 / (2.0 * E * INERTIA), rtol=1e-3)


def test_nodes_above_the_middle_that_cannot_move_along_hold_the_end(tmp_path):
    """Held along x at a height e, without N: N L/EA + e (F L²/2EI + N e L/EI) = 0, w = F L³/3EI + N e L²/2EI."""
    section = SECTION.replace("STEEL", "STEEL, OFFSET=SPOS") + STEEL + CLAMP
    text, weights = strip("S4", (16, 1), section=section)
    lines = "*BOUNDARY\nRIGHT, 1, 1\nRIGHT, 4, 4\n*CLOAD\n"
    u, *_ = at_rest(tmp_path, text + step(lines, on_edge(weights, 3, 0.1)))
    e, area = 0.5 * THICK, WIDTH * THICK
    N = -e * 0.1 * LENGTH**2 / (2.0 * INERTIA) / (LENGTH / area + e * e * LENGTH / INERTIA)
    free = 0.1 * LENGTH**3 / (3.0 * E * INERTIA)
    exact = free + N * e * LENGTH**2 / (2.0 * E * INERTIA)
    assert exact < 0.5 * free
    assert_allclose(tip(u, weights)[2], exact, rtol=4e-3)


def test_the_arm_of_a_force_on_nodes_above_the_middle_turns(tmp_path):
    """The elastica θ″ = P sin θ/EI with θ′(L) = P e cos θ(L)/EI, pushed at nodes 0.2 above the middle, with NLGEOM."""
    e, P = 0.2, 1.5 * E * INERTIA / LENGTH**2
    section = SECTION.replace("STEEL", f"STEEL, OFFSET={e / THICK}") + STEEL + CLAMP
    text, weights = strip("S4", (32, 1), section=section)
    u, *_ = at_rest(tmp_path, text + step("*CLOAD", on_edge(weights, 1, -P), nlgeom=True))
    k = P / (E * INERTIA)

    def slopes(_, y):
        return np.array([y[1], -k * np.sin(y[0]), np.cos(y[0]) - 1.0, np.sin(y[0])])

    def ends(a, b):
        return np.array([a[0], a[2], a[3], b[1] - k * e * np.cos(b[0])])

    s = np.linspace(0.0, LENGTH, 41)
    found = solve_bvp(slopes, ends, s, np.array([0.5 * s, 0.5 + 0.0 * s, 0.0 * s, 0.25 * s**2]), tol=1e-8)
    assert found.success
    _, _, along, across = found.sol(LENGTH)
    assert across > 0.15 * LENGTH
    assert_allclose(tip(u, weights)[[0, 2]], [along, across], rtol=5e-3)


def test_sections_and_thicknesses_by_nodes(tmp_path):
    stepped = "*SHELL SECTION, ELSET=INNER, MATERIAL=STEEL\n0.04\n*SHELL SECTION, ELSET=OUTER, MATERIAL=STEEL\n0.02\n"
    text, weights = strip("S4", section=stepped + STEEL + CLAMP)
    u, shell, _ = at_rest(tmp_path, text + step("*CLOAD", on_edge(weights, 5, -20.0)))
    half = 0.5 * LENGTH
    angle = 20.0 * half / (E * 8.0 * INERTIA)
    exact = 0.5 * angle * half + angle * half + 20.0 * half**2 / (2.0 * E * INERTIA)
    assert_allclose(tip(u, weights)[2], exact, rtol=2e-4)
    assert_allclose(shell.structure.mass.sum(), 7800 * WIDTH * half * 0.06)
    by_nodes = SECTION.replace("STEEL", "STEEL, NODAL THICKNESS") + "*NSET, NSET=EVERY, GENERATE\n1, 27\n"
    text, weights = strip("S4", section=by_nodes + "*NODAL THICKNESS\nEVERY, 0.04\nRIGHT, 0.02\n" + STEEL + CLAMP)
    *_, found = at_rest(tmp_path, text + step("*CLOAD", on_edge(weights, 5, -20.0)))
    assert "mean *NODAL THICKNESS" in found.report()
    (table,) = Scenario.read(found.scenarios[1]).tables.shell
    assert [table.thickness, *(part.thickness for part in table.parts)] == pytest.approx([0.04, 0.03])


def test_frequencies_of_a_strip(tmp_path):
    """A cantilever: f = 3.516/(2π L²) √(E I/ρ A)."""
    text, _ = strip("S8R")
    text += "*STEP\n*FREQUENCY\n1\n*END STEP\n"
    problem = Scenario.read(imported(tmp_path, text).scenarios[1]).build()
    exact = 3.5160152 / (2.0 * np.pi * LENGTH**2) * np.sqrt(E * INERTIA / (7800.0 * WIDTH * THICK))
    assert_allclose(sx.modes.natural_modes(problem.system, problem.state, 1).frequencies, exact, rtol=2e-3)


def test_folded_shells_carry_moments_around_the_fold(tmp_path):
    """An L of two strips: the upright turns with the end of the strip on which it stands."""
    text, weights = strip("S4", (4, 2))
    first, *_, last = weights
    up = "*NODE\n901, 2., 0., 0.5\n902, 2., 0.25, 0.5\n903, 2., 0.5, 0.5\n*NSET, NSET=TOP\n901, 902, 903\n"
    middle = [*weights][1]
    up += f"*ELEMENT, TYPE=S4, ELSET=ALL\n901, {first}, {middle}, 902, 901\n902, {middle}, {last}, 903, 902\n"
    loads = "901, 1, -5.\n902, 1, -10.\n903, 1, -5.\n"
    u, shell, _ = at_rest(
        tmp_path,
        text.replace("*ELEMENT, TYPE=S4", up.split("*NSET")[0] + "*ELEMENT, TYPE=S4", 1)
        + "*NSET"
        + up.split("*NSET")[1]
        + step("*CLOAD", loads),
    )
    assert not shell.structure.frames.is_rod.all()
    assert_allclose(tip(u, weights)[2], 20.0 * 0.5 * LENGTH**2 / (2.0 * E * INERTIA), rtol=2e-3)


def about(axis, angle):
    """Return the matrix of a rotation about an axis."""
    return Rotation.from_rotvec(angle * np.eye(3)[axis]).as_matrix()


def test_one_rotation_oblique_to_the_normal_holds_its_part_across(tmp_path):
    """About its normal a smooth shell has no rotation; in a plane of two axes both that are not across it do the same.

    If the normal is in none, one rotation would hold nothing, and is refused.
    """
    section = SECTION + STEEL + "*BOUNDARY\nLEFT, 1, 3\nRIGHT, 1, 3\nRIGHT, HELD\n"
    load = step("*DLOAD", "ALL, P, 10.")

    def middle(held, turn):
        text, _ = strip("S4", (4, 2), section=section.replace("HELD", held), turn=turn)
        u, *_ = at_rest(tmp_path, text + load)
        return max(np.linalg.norm(row) for row in u.values())

    along = about(0, 0.5)  # the normal is in the plane of y and z, and ends turn about y and z
    hinged, clamped = middle("4, 4", along), middle("5, 6", along)
    assert hinged > 1.5 * clamped
    assert_allclose([middle("5, 5", along), middle("6, 6", along)], clamped, rtol=1e-9)
    both = about(1, 0.4) @ along
    for held in ("4, 4", "5, 5", "6, 6"):
        text, _ = strip("S4", (4, 2), section=section.replace("HELD", held), turn=both)
        found = imported(tmp_path, text + load)
        assert "of the node of a smooth shell at" in found.report()
        assert not any("[[shell]]" in path.read_text() for path in found.scenarios.values())
    assert middle("4, 6", both) < hinged


@pytest.mark.parametrize(("turned", "noted"), [(0.0, False), (0.3, True)])
def test_a_moment_about_the_normal_is_noted(tmp_path, turned, noted):
    """A shell has no stiffness against it: a strip bends as under the rest of the moment."""
    text, weights = strip("S4")
    loads = on_edge(weights, 5, -20.0) + on_edge(weights, 6, 20.0 * turned)
    u, _, found = at_rest(tmp_path, text + step("*CLOAD", loads))
    assert (DRILLS in found.report()) == noted
    alone, *_ = at_rest(tmp_path, text + step("*CLOAD", on_edge(weights, 5, -20.0)))
    assert_allclose(tip(u, weights)[2], tip(alone, weights)[2], rtol=1e-2)


@pytest.mark.parametrize(
    ("section", "lines", "reported"),
    [
        (
            "*SHELL GENERAL SECTION, ELSET=ALL\n1., 2.\n",
            [],
            "a shell must have a MATERIAL and a thickness",
        ),
        (
            "*SHELL GENERAL SECTION, ELSET=ALL\n" + "1., 0., 1., 0., 0., 1.,\n" + "0., " * 14 + "0.\n",
            [],
            "stiffnesses of shells must be positive",
        ),
        ("*SHELL SECTION, ELSET=ALL, COMPOSITE\n0.01, 3, WOOD\n", [], "line 72: there is no material 'WOOD'"),
        ("*SHELL SECTION, ELSET=ALL, COMPOSITE\n", [], "it has no layers"),
        ("*SHELL SECTION, ELSET=INNER, MATERIAL=STEEL\n0.02\n", [], "element 9 has no section"),
    ],
)
def test_what_is_refused(tmp_path, section, lines, reported):
    text, weights = strip("S4", section=section + STEEL + CLAMP)
    found = imported(tmp_path, text + step(*lines, "*CLOAD", on_edge(weights, 3, 1.0)))
    assert not found.scenarios
    assert reported in found.report()


EXPLICIT = "*STEP\n*DYNAMIC, EXPLICIT\n1e-4, 1e-3\n*END STEP\n"


def test_shells_with_what_only_solids_take_are_solids(tmp_path):
    text, weights = strip("S8R", (3, 2))
    found = imported(tmp_path, text + step("*CLOAD", on_edge(weights, 3, 1.0)) + EXPLICIT, limit=0.0)
    assert found.layers
    assert "shells are solid elements here, and not [[shell]], as *DYNAMIC, EXPLICIT of shells" in found.report()


@pytest.mark.parametrize(
    ("load", "side"),
    [
        ("*DLOAD\nALL, P, 10.\n", 1.0),
        ("*SURFACE, NAME=UNDER\nALL, SNEG\n*DSLOAD\nUNDER, P, 10.\n", 1.0),
        ("*SURFACE, NAME=OVER\nALL, SPOS\n*DSLOAD\nOVER, P, 10.\n", -1.0),
        ("*DLOAD\n" + "".join(f"{k}, P, 10.\n" for k in range(1, 17)), 1.0),
    ],
)
def test_pressures_act_along_normals(tmp_path, load, side):
    """A positive one along them, on surfaces against their side: p B L⁴/8EI and the shear p B L²/2kGA."""
    text, weights = strip("S8R")
    surface, _, rest = load.rpartition("*D")
    u, *_ = at_rest(tmp_path, text + surface + step(f"*D{rest}"))
    exact = 10.0 * WIDTH * (LENGTH**4 / (8.0 * E * INERTIA) + LENGTH**2 / (2.0 * 5.0 / 6.0 * 0.5 * E * WIDTH * THICK))
    assert_allclose(tip(u, weights)[2], side * exact, rtol=1e-3)


def test_a_pressure_follows_the_surface_with_nlgeom_only(tmp_path):
    text, _ = strip("S4")
    force = 6.0 * E * INERTIA / LENGTH**3 / WIDTH  # a pressure that bends it far
    for nlgeom in (False, True):
        found = imported(tmp_path, text + step("*DLOAD", f"ALL, P, {force!r}", nlgeom=nlgeom), limit=0.0)
        (load,) = Scenario.read(found.scenarios[1]).tables.load
        assert load.follower == nlgeom
        assert load.side == "bottom"


def test_linear_steps_that_move_far_are_noted(tmp_path):
    text, weights = strip("S4", (4, 1))
    loads = on_edge(weights, 3, 0.3 * E * INERTIA / LENGTH**2)
    assert "is linear, but moves nodes by" in imported(tmp_path, text + step("*CLOAD", loads)).report()
    assert "is linear, but" not in imported(tmp_path, text + step("*CLOAD", loads, nlgeom=True)).report()


def test_strips_that_start_moving(tmp_path):
    text, _ = strip("S4", (4, 1))
    text += "*INITIAL CONDITIONS, TYPE=VELOCITY\nRIGHT, 3, 2.\n"
    found = imported(tmp_path, text + "*STEP, NLGEOM\n*DYNAMIC\n1e-3, 1e-2\n*END STEP\n")
    assert not found.missed, found.report()
    problem = Scenario.read(found.scenarios[1]).build()
    shell = problem.shells["part"].structure
    v = shell.frames.centers(problem.state.v)
    assert_allclose(v[:, 2], np.where(np.isclose(shell.frames.centers(shell.points)[:, 0], LENGTH), 2.0, 0.0))


def test_shells_that_yield_are_solids(tmp_path):
    text, weights = strip("S8R", (3, 2))
    text = text.replace("*DENSITY", "*PLASTIC\n2e8, 0.\n*DENSITY")
    report = imported(tmp_path, text + step("*CLOAD", on_edge(weights, 3, 1.0)), limit=0.0).report()
    assert "not [[shell]], as the material 'STEEL' yields (*PLASTIC), and shells are elastic" in report


def test_shells_whose_scenario_is_refused_are_solids_where_these_are_not(tmp_path):
    """Here for a ratio of Poisson beyond those of shells."""
    text, weights = strip("S8R", (3, 2))
    text = text.replace("2e11, 0.", "2e11, 0.4999")
    found = imported(tmp_path, text + step("*CLOAD", on_edge(weights, 3, 1.0)))
    assert "not [[shell]], as its scenario is refused: [[shell]] #1 'part'" in found.report()
    assert found.layers
