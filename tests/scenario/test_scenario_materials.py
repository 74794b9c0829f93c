"""Bodies of several materials, of several types of elements, and several copies of one body."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from symplex.errors import ScenarioError
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh, merge
from symplex.meshes.series.series import read_series
from symplex.runs.check import check_report
from symplex.runs.parts import Parts
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

TWO = """
[[body]]
name = "strip"
{more}
[body.mesh]
box = [0.2, 0.01, 0.01]
cells = [{cells}, 1, 2]
split = "{split}"
regions = {{ steel = [[0, 0, 0], [0.2, 0.01, {top}]], copper = [[0, 0, 0.005], [0.2, 0.01, 0.01]] }}
[body.materials]
steel = {{ young = 210e9, poisson = 0.3, density = 7850 }}
copper = {{ young = 120e9, poisson = 0.34, density = 8960 }}
"""
CLAMP = '[[support]]\nbody = "strip"\ngroup = "x_min"\n'
REST = """
[integrator]
kind = "newmark"
[run]
duration = 1e-6
frames = 1
samples = 2
[output]
pictures = false
film = "none"
"""
BLOCK = """
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
"""


def two(cells=4, split="hexahedra", more="", top=0.005):
    return TWO.format(cells=cells, split=split, more=more, top=top)


def build(text, path="test.toml"):
    return Scenario.parse(text, path).build()


def lines(text, path="test.toml"):
    with pytest.raises(ScenarioError) as caught:
        build(text, path)
    return str(caught.value).splitlines()


def frequencies(problem, count):
    """The lowest frequencies in Hz of small vibrations about the start."""
    system, free = problem.system, ~problem.system.fixed.ravel()
    K = sp.csr_array(system.hessian(problem.state.q))[free][:, free]
    M = sp.diags_array(np.repeat(system.mass, 3)[free])
    return np.sqrt(eigsh(K, count, M, sigma=0)[0]) / (2.0 * np.pi)


# -- materials by groups ------------------------------------------------------------------------------------------


def test_each_material_has_an_energy_and_its_mass():
    problem = build(two() + REST)
    assert list(problem.system.energies) == ["strip.steel", "strip.copper"]
    assert {part.name: list(part.energies) for part in Parts.of(problem)} == {"strip": ["strip.steel", "strip.copper"]}
    assert problem.system.mass.sum() == pytest.approx(1e-5 * (7850 + 8960))
    upper = problem.mesh.nodes_of("strip.copper")
    assert problem.mesh.points[upper, 2].min() == pytest.approx(0.005)
    assert problem.solids["strip.copper"].material.young == pytest.approx(120e9)


def test_a_strip_of_two_metals_swings_as_composite_beam_theory_says():
    """Euler and Bernoulli with EI about the neutral axis; clamps that hold Poisson's contraction stiffen by 0.5 %."""
    problem = build(two(cells=20, split="6", more="quadratic = true") + CLAMP + REST)
    E, rho = np.array([210e9, 120e9]), np.array([7850, 8960])
    b, h, L, z = 0.01, 0.005, 0.2, np.array([0.0025, 0.0075])
    neutral = (E * z).sum() / E.sum()
    stiffness = (E * (b * h**3 / 12 + b * h * (z - neutral) ** 2)).sum(), (E * h * b**3 / 12).sum()
    expected = 1.8751040687**2 / (2 * np.pi * L**2) * np.sqrt(np.array(stiffness) / (b * h * rho.sum()))
    found = frequencies(problem, 2)
    np.testing.assert_allclose(found, expected, rtol=8e-3)
    assert (found > expected).all()


def test_stresses_are_those_of_each_material(tmp_path):
    """In the block of the body cells of both parts, each in its place: 2 μ ε, before waves come from the sides."""
    text = (
        two()
        + '[[velocity]]\nbody = "strip"\ngradient = [[10, 0, 0], [0, 0, 0], [0, 0, 0]]\n'
        + REST.replace("1e-6", "1e-8")
    )
    simulate(Scenario.parse(text), tmp_path / "run", progress=False)
    series = read_series(tmp_path / "run" / "motion.vtkhdf")
    assert list(series.blocks) == ["strip"]
    assert {kind: len(cells) for kind, cells in series.blocks["strip"].cells.items()} == {"hexahedron": 8}
    heights = series.points[series.blocks["strip"].cells["hexahedron"]].mean(axis=1)[:, 2]
    stress = series.frame(-1).cell_data["von_mises"]["strip"]
    low, high = stress[heights < 0.005].mean(), stress[heights > 0.005].mean()
    assert low / high == pytest.approx((210 / 1.3) / (120 / 1.34), rel=1e-2)


def test_the_report_tells_the_parts():
    text, failure = check_report(build(two() + REST))
    assert not failure
    assert "strip.steel   0.0785 kg, waves 6001 m/s, E = 210 GPa" in text
    assert "strip.copper  0.0896 kg" in text


def test_contact_is_at_the_boundary_of_the_whole_body():
    other = BLOCK + "translate = [0, 0, 0.011]\n"
    problem = build(two() + other + "[[contact]]\n" + REST)
    surface = problem.body_contacts["contact"].surface
    of_strip = surface.triangles[surface.triangle_bodies == surface.body("strip")]
    assert len(of_strip) == 2 * (2 * (4 * 1 + 4 * 2) + 2 * (1 * 2)), "no faces between the materials"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("steel = { young = 210e9", "stel = { young = 210e9"), "materials: group 'stel' is not in box; it has: body"),
        (("top", 0.01), "materials: 4 of 8 elements have several materials, the first at (0.025, 0.005, 0.0075) m"),
        (
            ("copper = { young = 120e9, poisson = 0.34, density = 8960 }\n", ""),
            "materials: 4 of 8 elements have no",
        ),
        (("steel = { young", "x_min = { young"), "materials: group 'x_min' has no elements, only cells of other"),
        (
            ("[body.materials]", "[body.materials]\nbody = { young = 1e9, poisson = 0, density = 1 }"),
            "several materials",
        ),
        (("poisson = 0.34, ", ""), "materials.copper needs either lambda and mu, or young and poisson"),
        (("density = 8960", "densty = 8960"), "unknown key 'densty' in materials.copper; did you mean 'density'?"),
        (("copper = [[0, 0, 0.005]", "copper = [[0, 0, 0.05]"), "regions.copper must be the lower corner"),
        (
            ("copper = [[0, 0, 0.005], [0.2, 0.01, 0.01]]", "copper = [[5, 5, 5], [6, 6, 6]]"),
            "no element has its centre",
        ),
    ],
)  # fmt: skip
def test_mistakes_in_materials(change, says):
    old, new = change
    text = two(top=new) if old == "top" else two().replace(old, new)
    assert any(says in line for line in lines(text + REST))


def test_one_of_material_and_materials():
    both = two().replace("[body.mesh]", "material = { young = 1e9, poisson = 0, density = 1e3 }\n[body.mesh]")
    (line,) = lines(both + REST)
    assert line == (
        "test.toml: [[body]] #1 'strip': has material and materials; give one for all elements, or those by groups."
    )
    (line,) = lines(BLOCK.replace("material", "#") + REST)
    assert line.endswith("[[body]] #1 'block': material is missing; give one, or materials by groups of the mesh.")


def test_integer_data_of_a_mesh_are_groups(tmp_path):
    import meshio

    mesh = box((0.2, 0.1, 0.1), (2, 1, 1), split="6")
    ids = np.where(mesh.points[mesh.cells["tetra"]].mean(axis=1)[:, 0] < 0.1, 3, 7)
    meshio.write(
        tmp_path / "part.vtu", meshio.Mesh(mesh.points, [("tetra", mesh.cells["tetra"])], cell_data={"mat_id": [ids]})
    )
    text = BLOCK.replace('{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }', '"part.vtu"')
    text = text.replace("material = ", "[body.materials]\nmat_id_3 = ")
    text += "mat_id_7 = { young = 2e6, poisson = 0.3, density = 3000 }\n"
    problem = build(text + REST, tmp_path / "test.toml")
    assert list(problem.system.energies) == ["block.mat_id_3", "block.mat_id_7"]
    assert problem.system.mass.sum() == pytest.approx(1e-3 * 4000)


# -- several types of elements ------------------------------------------------------------------------------------


def test_a_body_of_two_types_of_elements(tmp_path):
    parts = merge(
        {
            "a": box((1, 1, 1), (1, 1, 1), split="hexahedra"),
            "b": box((1, 1, 1), (1, 1, 1), split="6", origin=(1.5, 0, 0)),
        }
    )
    save_mesh(
        Mesh(parts.points, {k: c for k, c in parts.cells.items() if k in ("tetra", "hexahedron")}), tmp_path / "m.vtu"
    )
    text = BLOCK.replace('{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }', '"m.vtu"') + REST
    scenario = Scenario.parse(text, tmp_path / "test.toml")
    problem = scenario.build()
    assert list(problem.system.energies) == ["block.tetra", "block.hexahedron"]
    assert problem.system.mass.sum() == pytest.approx(2000)
    summary = simulate(scenario, tmp_path / "run", progress=False)
    assert summary["elements"] == {"block": {"tetra": 6, "hexahedron": 1}}


def test_a_body_of_parts_is_named_as_a_whole_for_methods():
    text = two() + REST.replace('"newmark"', '"zhang-skeel"\ndt = 1e-8\nvariant = "full"\nstiff = ["strip"]')
    assert build(text).integrator.stiff == ("strip.steel", "strip.copper")


# -- copies -------------------------------------------------------------------------------------------------------


def test_copies_are_bodies_in_their_places():
    copies = """
[[body.instance]]
name = "left"
[[body.instance]]
name = "right"
rotate = { axis = [0, 0, 1], degrees = 90 }
translate = [1, 0, 0]
velocity = [0, 0, 1]
"""
    turned = BLOCK + "translate = [0.1, 0, 0]\nvelocity = [2, 0, 0]\n"
    support = '[[support]]\nbody = "right"\ngroup = "z_min"\ncomponents = "z"\n'
    problem = build(turned + copies + support + REST)
    assert list(problem.system.energies) == ["left", "right"]
    left, right = (problem.mesh.points[problem.mesh.nodes_of(name)] for name in ("left", "right"))
    np.testing.assert_allclose([left.min(axis=0), left.max(axis=0)], [[0.1, 0, 0], [0.2, 0.1, 0.1]], atol=1e-15)
    np.testing.assert_allclose([right.min(axis=0), right.max(axis=0)], [[0.9, 0.1, 0], [1, 0.2, 0.1]], atol=1e-15)
    assert problem.state.v[problem.mesh.nodes_of("left")].mean(axis=0) == pytest.approx([2, 0, 0])
    assert problem.system.fixed[:, 2].sum() == 4
    doubled = copies.replace('"left"', '"right"')
    (line,) = lines(turned + doubled + support + REST)
    assert "the name 'right' is taken by [[body]] #1" in line
    (line,) = lines(turned + copies.replace('name = "left"', "") + support + REST)
    assert line.endswith("instance.1.name is missing.")


def one(constants):
    return (
        '[[body]]\nname = "bar"\nmesh = { box = [0.2, 0.1, 0.1], cells = [2, 1, 1], split = "hexahedra" }\n'
        f"material = {{ density = 1000, {constants} }}\n"
        '[integrator]\nkind = "energy-momentum"\ndt = 1e-3\n[run]\nduration = 2e-3\n[output]\npictures = false\n'
    )


ORTHO = "moduli = [60e6, 30e6, 10e6], poisson_ratios = [0.2, 0.3, 0.4], shear_moduli = [9e6, 6e6, 4e6]"
NINE = "[2e6, 5e5, 2e6, 5e5, 5e5, 2e6, 4e5, 4e5, 4e5]"


def test_anisotropic_materials_by_engineering_constants_and_by_stiffness():
    turned = build(one(f'law = "anisotropic", {ORTHO}, axes = [[0, 1, 0], [0, 0, 1]]')).system.energies["bar"]
    C = np.eye(3) + 0.1 * np.diag([1.0, 2.0, 3.0])
    plain = build(one(f'law = "linear-anisotropic", {ORTHO}')).system.energies["bar"]
    assert turned.material.objective
    assert not plain.material.objective
    order = [1, 2, 0]  # the first axis of the material lies along y
    stress = plain.material.stress(C[order][:, order][None])[0]
    assert turned.material.stress(C[None])[0][order][:, order] == pytest.approx(stress)
    cubic = build(one(f'law = "anisotropic", stiffness = {NINE}')).system.energies["bar"]
    assert cubic.material.tangent(C[None])[0][[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]] == pytest.approx(
        [2e6, 5e5, 4e5]
    )


@pytest.mark.parametrize(
    ("constants", "says"),
    [
        ('law = "anisotropic", young = 1e6', "has no young, which differs by direction"),
        ('law = "anisotropic"', "needs stiffness, or moduli, poisson_ratios and shear_moduli"),
        (
            f'law = "anisotropic", stiffness = {NINE[:-6]}]',
            "must be 9 numbers, of an orthotropic material, or 21 (Pa), got 8",
        ),
        (f'law = "anisotropic", stiffness = {NINE.replace("4e5", "-4e5")}', "must be positive for each strain"),
        (f'law = "anisotropic", {ORTHO}, axes = [[1, 0, 0], [1, 0, 0]]', "span no plane"),
        (f'law = "anisotropic", {ORTHO}, axes = [1, 0, 0]', "must be two directions"),
        (f'law = "anisotropic", {ORTHO.replace("9e6", "-9e6")}', "must be three positive numbers"),
        (f'law = "neo-hookean", {ORTHO}', "of the law 'neo-hookean' has no moduli"),
    ],
)
def test_mistakes_in_anisotropic_materials(constants, says):
    (line,) = lines(one(constants))
    assert says in line
