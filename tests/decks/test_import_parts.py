"""What decks have besides one elastic body: springs, dashpots, masses, couplings, forces by volume, sectors."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pytest

import symplex as sx
from reference.decks_written import bar, step, write
from symplex.decks import import_deck
from symplex.errors import MeshError

E_AREA, LENGTH = 200e9, 4.0  # of the bar, with a cross-section of 1 m²


def built(imported, number=1):
    assert not imported.missed, imported.report()
    problem = sx.Scenario.read(imported.scenarios[number]).build()
    return problem, problem.state.q - problem.mesh.points


def tables_of(imported, number=1):
    return tomllib.loads(imported.scenarios[number].read_text())


def thin(text):
    """Without Poisson's contraction, and held across it, so that the bar is a rod."""
    return text.replace(", 0.3\n", ", 0.0\n").replace("LEFT, 1\n", "LEFT, 1\nALL, 2, 3\n")


GROUND = "*NODE\n2001, 6., 0.5, 0.\n"
FIXED = "*BOUNDARY\n2001, 1, 3\n"


@pytest.mark.parametrize("nlgeom", ["", ", NLGEOM"])
@pytest.mark.parametrize(
    ("kind", "nodes", "directions", "stiffness"),
    [("SPRINGA", "46, 2001", "", 1e9), ("SPRING1", "46", "1", 1e9), ("SPRING2", "46, 2001", "1, 1", 1e9)],
)
def test_a_spring_carries_its_share_of_a_force(tmp_path, kind, nodes, directions, stiffness, nlgeom):
    """A force on the end that moves as one node, held by the bar, E A/L, and by a spring to the ground."""
    model = f"{GROUND}*ELEMENT, TYPE={kind}, ELSET=SPRINGS\n900, {nodes}\n*SPRING, ELSET=SPRINGS\n{directions}\n"
    model += f"{stiffness!r}\n*EQUATION\n2\nEND4, 1, 1., 46, 1, -1.\n" + FIXED
    text = thin(bar(model=model))
    points = sx.box((4.0, 1.0, 1.0), (4, 2, 2), split="hexahedra").points
    end = [k + 10 for k in np.flatnonzero(points[:, 0] == 4.0) if k + 10 != 46]
    text = text.replace("*EQUATION", "*NSET, NSET=END4\n" + ",\n".join(map(str, end)) + "\n*EQUATION")
    text += step("*STATIC", "*CLOAD", "46, 1, 1e6", parameters=nlgeom)
    problem, u = built(import_deck(write(tmp_path, text), tmp_path / "out"))
    exact = 1e6 / (E_AREA / LENGTH + stiffness)
    assert u[problem.mesh.nodes_of("part.RIGHT"), 0] == pytest.approx(exact, rel=2e-5 if not nlgeom else 1e-4)


def test_a_mass_on_the_end_lowers_frequencies_and_has_its_weight(tmp_path):
    """A rod with a mass M at its end: tan x = m/(M x) with x = ωL/c; its weight M g stretches it by M g L/E A."""
    points = sx.box((4.0, 1.0, 1.0), (40, 1, 1), split="hexahedra").points
    nodes = [k + 10 for k in np.flatnonzero(points[:, 0] == 4.0)]
    model = "*ELEMENT, TYPE=MASS, ELSET=HEAVY\n" + "".join(f"{900 + k}, {n}\n" for k, n in enumerate(nodes))
    model += "*MASS, ELSET=HEAVY\n7800.\n"
    text = thin(bar(cells=(40, 1, 1), model=model)) + step("*FREQUENCY\n1")
    text += step("*STATIC", "*DLOAD", "HEAVY, GRAV, 10., 1., 0., 0.")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    problem, _ = built(imported)
    assert [table["mass"] for table in tables_of(imported)["point_mass"]] == [7800.0]
    x = 0.8603335890193797  # tan x = 1/x, as both masses are 31 200 kg
    exact = x * np.sqrt(200e9 / 7800.0) / LENGTH / (2.0 * np.pi)
    found = sx.modes.natural_modes(problem.system, problem.state, 1).frequencies
    assert found == pytest.approx([exact], rel=2e-4)
    problem, u = built(imported, 2)
    end = problem.mesh.nodes_of("part.RIGHT")
    assert u[end, 0] == pytest.approx(4 * 7800.0 * 10.0 * LENGTH / E_AREA, rel=1e-6)


def test_dashpots_act_in_motions(tmp_path):
    model = GROUND + "*ELEMENT, TYPE=DASHPOTA, ELSET=D\n900, 46, 2001\n*DASHPOT, ELSET=D\n\n1e5\n" + FIXED
    text = bar(model=model) + step("*DYNAMIC, DIRECT\n1e-4, 1e-3", "*CLOAD", "46, 1, 1.") + step("*STATIC")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    (table,) = tables_of(imported)["dashpot"]
    assert table["viscosity"] == 1e5
    problem = sx.Scenario.read(imported.scenarios[1]).build()
    (load,) = (load for name, load in problem.system.loads.items() if "dashpot" in name)
    v = np.zeros_like(problem.state.q)
    (node,) = problem.mesh.nodes_of(f"part.{table['between'][0]['group']}")
    v[node, 0] = 2.0
    assert load(0.0, problem.state.q, v)[node] == pytest.approx([-2e5, 0.0, 0.0])


SURFACE = "*SURFACE, NAME=S, TYPE=NODE\nRIGHT\n"


@pytest.mark.parametrize(
    "coupling",
    [
        "*COUPLING, REF NODE=2001, SURFACE=S, CONSTRAINT NAME=C\n*DISTRIBUTING\n1, 6\n",
        "*COUPLING, REF NODE=2001, SURFACE=S, CONSTRAINT NAME=C\n*DISTRIBUTING\n1, 3\n",
        "*ORIENTATION, NAME=O\n0., 1., 0., -1., 0., 0.\n"
        "*COUPLING, REF NODE=2001, SURFACE=S, ORIENTATION=O\n*DISTRIBUTING\n",
    ],
)
def test_a_distributing_coupling_gives_the_mean_motion_and_carries_forces_and_moments(tmp_path, coupling):
    """With the reference node 2 m beyond the end, a force across it bends the bar by its moment as well."""
    across = "2001, 1, 50." if "ORIENTATION" in coupling else "2001, 2, 50."  # its first axis is y
    text = bar(model=GROUND.replace("0.5, 0.\n", "0.5, 0.5\n") + SURFACE + coupling)
    text = text.replace("LEFT, 1\n", "LEFT, 1, 3\n") + step("*STATIC", "*CLOAD", across)
    problem, u = built(import_deck(write(tmp_path, text), tmp_path / "out"))
    end = problem.mesh.nodes_of("part.RIGHT")
    (reference,), (turn,) = (problem.mesh.nodes_of(name) for name in ("node_2001", "turn_1"))
    r = problem.mesh.points[end] - [4.0, 0.5, 0.5]
    inertia = (r**2).sum() * np.eye(3) - r.T @ r
    theta = np.linalg.solve(inertia, np.cross(r, u[end]).sum(axis=0))
    size = np.abs(u).max()
    assert u[turn] == pytest.approx(theta, abs=1e-4 * np.abs(theta).max())
    assert np.abs(u[reference] - u[end].mean(axis=0) - np.cross(theta, [2.0, 0.0, 0.0])).max() < 1e-4 * size
    # Not rigid: the mean and the rotation are the least that a motion of the end must follow.
    assert np.abs(u[end] - u[end].mean(axis=0) - np.cross(theta, r)).max() > 1e-4 * size
    stored = sum(e.total(problem.state.q) for n, e in problem.system.energies.items() if not n.startswith("force"))
    assert stored == pytest.approx(0.5 * 50.0 * u[reference, 1], rel=1e-5)


def test_a_node_follows_the_weighted_mean_of_others(tmp_path):
    model = GROUND + "*ELEMENT, TYPE=DCOUP3D, ELSET=D\n900, 2001\n*DISTRIBUTING COUPLING, ELSET=D\n46, 3.\n47, 1.\n"
    text = bar(model=model) + step("*STATIC", "*CLOAD", "2001, 1, 1e4")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    problem, u = built(imported)
    place = {number: k for k, number in enumerate(imported.numbers.tolist())}
    (reference,) = problem.mesh.nodes_of("node_2001")
    assert u[reference] == pytest.approx(0.75 * u[place[46]] + 0.25 * u[place[47]], abs=1e-5 * np.abs(u).max())


def test_two_nodes_keep_their_distance_and_a_node_has_the_mean_rotation_of_others(tmp_path):
    corners = [k + 10 for k, x in enumerate(sx.box((4.0, 1.0, 1.0), (4, 2, 2), split="hexahedra").points.tolist())
               if x[0] == 4.0 and x[1] in (0.0, 1.0) and x[2] in (0.0, 1.0)]  # fmt: skip
    thrice = ", ".join(f"{n}, {n}, {n}" for n in corners)
    model = f"*NODE\n2001, 3., 0., 0.\n*MPC\nBEAM, 46, 47\n*MPC\nMEANROT, {thrice}, 2001\n"
    text = bar(model=model).replace("LEFT, 1\n", "LEFT, 1, 3\n")
    imported = import_deck(write(tmp_path, text + step("*STATIC", "*BOUNDARY", "2001, 1, 1, 1e-3")), tmp_path / "out")
    problem, u = built(imported)
    place = {number: k for k, number in enumerate(imported.numbers.tolist())}
    x = problem.mesh.points
    d = x[place[46]] - x[place[47]]
    assert abs(d @ (u[place[46]] - u[place[47]])) < 1e-5 * np.abs(u).max()
    nodes = [place[n] for n in corners]
    r = x[nodes] - [4.0, 0.5, 0.5]
    turned = (np.cross([1.0, 0.0, 0.0], r) * u[nodes]).sum(axis=1) / 0.5
    assert turned.mean() == pytest.approx(1e-3, rel=1e-4)


def test_centrifugal_forces_stretch_a_bar(tmp_path):
    """u(L) = ρ ω² L³/3E about an axis through its held end."""
    text = thin(bar()) + step("*STATIC", "*DLOAD", "BAR, CENTRIF, 100., 0., 0.5, 0.5, 0., 0., 2.")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    problem, u = built(imported)
    end = problem.mesh.nodes_of("part.RIGHT")
    assert u[end, 0] == pytest.approx(7800.0 * 100.0 * LENGTH**3 / (3 * 200e9), rel=1e-8)
    assert tables_of(imported)["load"][0]["angular_velocity"] == [0.0, 0.0, 10.0]


def test_gravity_on_a_part_pulls_at_it_alone(tmp_path):
    """The last of four elements, 1 m long, weighs on 3.5 m of the bar: u(L) = ρ g (3 + 1/2)/E."""
    text = thin(bar()) + step("*STATIC", "*DLOAD", "END, GRAV, 9.81, 1., 0., 0.")
    problem, u = built(import_deck(write(tmp_path, text), tmp_path / "out"))
    assert u[problem.mesh.nodes_of("part.RIGHT"), 0] == pytest.approx(7800 * 9.81 * 3.5 / 200e9, rel=1e-8)


def test_initial_velocities_may_differ(tmp_path):
    model = "*INITIAL CONDITIONS, TYPE=VELOCITY\nRIGHT, 1, 3.\n46, 2, 1.\n"
    text = bar(model=model) + step("*DYNAMIC, DIRECT\n1e-5, 1e-4", "*CLOAD", "46, 1, 0.")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    problem = sx.Scenario.read(imported.scenarios[1]).build()
    v = problem.state.v
    right = problem.mesh.nodes_of("part.RIGHT")
    assert (v[right, 0] == 3.0).all()
    assert np.count_nonzero(v) == len(right) + 1


def test_axes_of_a_material_may_be_turned_about_one_of_them(tmp_path):
    elastic = "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n60e9, 30e9, 10e9, 0.2, 0.3, 0.4, 9e9, 6e9,\n4e9, 293.\n"
    text = bar(model="*ORIENTATION, NAME=O\n1., 0., 0., 0., 1., 0.\n3, 90.\n")
    text = text.replace("*ELASTIC\n200000000000.0, 0.3\n", elastic)
    text = text.replace("MATERIAL=STEEL\n,", "MATERIAL=STEEL, ORIENTATION=O\n,") + step("*STATIC")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert np.allclose(tables_of(imported)["body"][0]["material"]["axes"], [[0, 1, 0], [-1, 0, 0]], atol=1e-15)


# -- cyclic symmetry -----------------------------------------------------------------------------------------------


def sector(count: int, cells: int, model: str) -> str:
    """A sector of a ring of linear bricks about z, of radii 1 and 1.5 m, with its two sides."""
    angle = 2.0 * np.pi / count
    mesh = sx.box((0.5, 1.0, 0.3), (2, cells, 1), split="hexahedra")
    r, phi, z = 1.0 + mesh.points[:, 0], angle * mesh.points[:, 1], mesh.points[:, 2]
    points = np.column_stack([r * np.cos(phi), r * np.sin(phi), z])
    lines = ["*NODE, NSET=ALL"] + [f"{k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(points.tolist(), 1)]
    lines += ["*ELEMENT, TYPE=C3D8, ELSET=RING"]
    lines += [f"{k}, " + ", ".join(map(str, row + 1)) for k, row in enumerate(mesh.cells["hexahedron"], 1)]
    for name, side in (("LEFT", mesh.points[:, 1] == 0), ("RIGHT", mesh.points[:, 1] == mesh.points[:, 1].max())):
        lines += [f"*NSET, NSET={name}", *(f"{k + 1}," for k in np.flatnonzero(side))]
        lines += [f"*SURFACE, NAME=S{name}, TYPE=NODE", name]
    lines += ["*MATERIAL, NAME=STEEL", "*ELASTIC", "200e9, 0.3", "*DENSITY", "7800."]
    return "\n".join(lines) + "\n*SOLID SECTION, ELSET=RING, MATERIAL=STEEL\n,\n" + model


CYCLIC = "*TIE, CYCLIC SYMMETRY, NAME=T\nSLEFT, SRIGHT\n*CYCLIC SYMMETRY MODEL, N={}\n0., 0., 0., 0., 0., 1.\n"


def select(diameter):
    return step(f"*FREQUENCY\n8\n*SELECT CYCLIC SYMMETRY MODES, NMIN={diameter}, NMAX={diameter}")


def test_frequencies_of_a_sector_are_those_of_the_whole_ring(tmp_path):
    """Of six sectors: diameters 0 and 3 are of one body, 1 and 2 of two; together they are those of the ring."""
    text = sector(6, 2, CYCLIC.format(6)) + "".join(select(n) for n in range(4))
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    found: list[float] = []
    for number, count in ((1, 8), (2, 16), (3, 16), (4, 8)):
        problem, _ = built(imported, number)
        assert len(problem.scenario.tables.body) == (1 if number in (1, 4) else 2)
        found += sx.modes.natural_modes(problem.system, problem.state, count).frequencies.tolist()
    ring = sector(6, 2, "")
    mesh = sx.read_mesh(write(tmp_path, ring, "one.inp"))
    x, cells = mesh.points, mesh.cells["hexahedron"]
    turns = [2.0 * np.pi / 6 * k for k in range(6)]
    rotations = [np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]]) for a in turns]
    points = np.concatenate([x @ R.T for R in rotations])
    _, first, alike = np.unique(np.round(points, 9) + 0.0, axis=0, return_index=True, return_inverse=True)
    points, alike = points[first], alike.ravel().astype(np.int32)
    whole = np.concatenate([alike[cells + k * len(x)] for k in range(6)]).astype(np.int32)
    steel = sx.LinearElastic.from_young(200e9, 0.3, 7800.0)
    solid = sx.Solid(points, whole, steel, formulation="full")
    system = sx.System(sx.consistent_mass(points, whole, 7800.0, len(points)), {"ring": solid})
    exact = sx.modes.natural_modes(system, system.state(points), 26).frequencies
    assert np.sort(found)[6:26] == pytest.approx(exact[6:26], rel=1e-4)


RADIAL = "*TRANSFORM, NSET=LEFT, TYPE=C\n0., 0., 0., 0., 0., 1.\n*BOUNDARY\nLEFT, 2\n1, 3\n"
PERIOD = float(2.0 * np.pi * 1.25 * np.sqrt(7800.0 / 200e9))  # of a thin ring that breathes
SWINGS = f"*DYNAMIC, DIRECT, ALPHA=0.\n{PERIOD / 40!r}, {PERIOD / 2!r}"


@pytest.mark.parametrize(("procedure", "times"), [("*STATIC", 1.0), (SWINGS, 2.0)])
def test_a_sector_that_turns_is_stretched_as_the_ring_is(tmp_path, procedure, times):
    """All displacements are radial and axial; a thin ring has u_r = ρ ω² r³/E, and suddenly loaded swings to twice."""
    text = sector(36, 1, CYCLIC.format(36) + RADIAL) + step(
        procedure, "*DLOAD", "RING, CENTRIF, 1e4, 0., 0., 0., 0., 0., 1."
    )
    problem, u = built(import_deck(write(tmp_path, text), tmp_path / "out"))
    *_, last = sx.march(problem.system, problem.integrator, problem.state, problem.scenario.times)
    x = problem.mesh.points
    u = last.q - x
    r = np.hypot(x[:, 0], x[:, 1])
    radial = (x[:, 0] * u[:, 0] + x[:, 1] * u[:, 1]) / r
    tangential = (x[:, 0] * u[:, 1] - x[:, 1] * u[:, 0]) / r
    assert np.abs(tangential).max() < 1e-4 * radial.max()
    assert radial.mean() == pytest.approx(times * 7800.0 * 1e4 * 1.25**3 / 200e9, rel=0.06)


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_a_coupling_is_as_stiff_in_any_unit(tmp_path, scale):
    """A bar in m or mm, whose end is coupled to a reference node that is held, bends as one whose end is held."""
    given = {"unit": 1e-3, "young": 2e5, "density": 7.8e-9} if scale > 1.0 else {}
    units = "mm-t-s" if given else "si"
    found = []
    for held in ("LEFT, 1, 3", "2001, 1, 6"):
        coupling = f"*NODE\n2001, 0., {0.5 * scale}, {0.5 * scale}\n*SURFACE, NAME=L, TYPE=NODE\nLEFT\n"
        coupling += "*COUPLING, REF NODE=2001, SURFACE=L\n*KINEMATIC\n1, 3\n"
        text = bar(model=coupling if "2001" in held else "", **given).replace("LEFT, 1\n", held + "\n")
        deck = write(tmp_path, text + step("*STATIC", "*CLOAD", "RIGHT, 2, 1e5"))
        problem, u = built(import_deck(deck, tmp_path / "out", units=units, overwrite=True))
        found.append(u[problem.mesh.nodes_of("part.RIGHT")])
    assert np.abs(found[1] - found[0]).max() < 1e-4 * np.abs(found[0]).max()


# -- what is not understood ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "what"),
    [
        ("*ELEMENT, TYPE=SPRINGA, ELSET=A\n900, 46, 47\n", "element 900 of type SPRINGA has no *SPRING"),
        (
            "*ELEMENT, TYPE=MASS, ELSET=A\n900, 46\n*SPRING, ELSET=A\n\n1.\n",
            "a *SPRING is for 'A', which has elements MASS",
        ),
        ("*SPRING, ELSET=BAR\n\n1.\n", "of 'BAR' is no spring, dashpot or mass"),
        ("*ELEMENT, TYPE=SPRING1, ELSET=A\n900, 46\n*SPRING, ELSET=A\n\n1.\n", "does not say in which directions"),
        ("*ELEMENT, TYPE=SPRING1, ELSET=A\n900, 46\n*SPRING, ELSET=A\n5\n1.\n", "springs of rotations"),
        ("*SPRING, ELSET=A, COMPLEX STIFFNESS\n\n1.\n", "'COMPLEXSTIFFNESS' is not supported"),
        ("*MPC\nPLANE, 10, 11, 12, 47\n", "constraints 'PLANE' are not supported"),
        ("*MPC\nBEAM, 10\n", "a constraint BEAM has 1 nodes, not 2"),
        (SURFACE + "*COUPLING, REF NODE=46, SURFACE=S\n*DISTRIBUTING\n", "its reference node is among the nodes"),
        ("*DISTRIBUTING\n", "it stands outside of a *COUPLING"),
        ("*CYCLIC SYMMETRY MODEL, N=some\n0., 0., 0., 0., 0., 1.\n", "no number N of sectors"),
        ("*SURFACE, NAME=A, TYPE=NODE\nLEFT\n" + SURFACE + "*TIE, NAME=T, CYCLIC SYMMETRY\nA, S\n", "has no *CYCLIC"),
    ],
)
def test_parts_that_are_not_understood_are_told(tmp_path, model, what):
    text = bar(model=model) + step("*STATIC", "*DLOAD", "END, P4, -2.0e6")
    try:
        reported = str(import_deck(write(tmp_path, text), tmp_path / "out").missed[0])
    except MeshError as error:
        reported = str(error)
    assert re.search(re.escape(what), reported), reported


def test_frequencies_of_several_diameters_are_told(tmp_path):
    text = sector(6, 1, CYCLIC.format(6)) + step("*FREQUENCY\n8\n*SELECT CYCLIC SYMMETRY MODES, NMIN=0, NMAX=2")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert "several nodal diameters, 0 to 2" in str(imported.missed[0])


def test_numbers_behind_the_nodes_of_an_element_are_left_out(tmp_path):
    text = bar(cells=(1, 1, 1)).replace("*ELSET, ELSET=END", "*ELSET, ELSET=END")
    line = next(line for line in text.splitlines() if line.startswith("1, ") and line.count(",") == 8)
    imported = import_deck(write(tmp_path, text.replace(line, line + ", 17, 18") + step("*STATIC")), tmp_path / "out")
    assert sx.read_mesh(imported.mesh).cells["hexahedron"].shape == (1, 8)
