"""What objects print of themselves in notebooks and messages."""

import numpy as np

import symplex as sx


def test_large_objects_are_one_line():
    mesh = sx.cube_mesh("I")
    solid = sx.Solid(mesh.points, mesh.cells["tetra"], sx.NeoHookean(lmbda=1e9, mu=1e9, density=1000.0))
    system = sx.System(sx.lumped_mass(mesh.points, solid.nodes, 1000.0, len(mesh.points)), {"cube": solid})
    state = system.state(mesh.points)
    assert repr(mesh) == "Mesh(71 points, 192 tetra, 96 triangle; groups: " + ", ".join(mesh.groups) + ")"
    assert repr(solid) == "Solid(192 tetra of NeoHookean(lmbda=1000000000.0, mu=1000000000.0, density=1000.0))"
    assert repr(system) == (
        "System(nodes 71 in 3 dimensions; mass 1 kg, lumped; energies cube (Solid); fixed 0 coordinates)"
    )
    assert repr(state) == "State(t=0.0, q=float64 [71, 3], v=float64 [71, 3], a=float64 [71, 3], internal={})"
    spring = sx.Bars(np.array([[0, 1]]), sx.measures.EngineeringStrain(1.0, 1.0))
    assert repr(spring) == "Bars(1 stencils of 2 nodes)"


def test_few_numbers_are_printed_and_of_many_names_the_first():
    state = sx.State(0.5, np.zeros((1, 2)), np.ones((1, 2)), np.zeros((1, 2)))
    assert repr(state).startswith("State(t=0.5, q=array([[0., 0.]])")
    points = np.eye(4)[:, :3]
    mesh = sx.Mesh(points, {}, point_groups={f"g{k:02d}": np.array([0], np.int32) for k in range(12)})
    assert repr(mesh).endswith("g06, g07, … 12 in all)")


def test_tables_of_notebooks():
    mesh = sx.Mesh(np.array([[0.0, 0.0], [1.0, 2.0]]), {}, point_groups={"a<b": np.array([0], np.int32)})
    html = mesh._repr_html_()
    assert "<tr><th>box in m</th><td>0 … 1 × 0 … 2</td></tr>" in html
    assert "a&lt;b" in html
    assert "box" not in sx.Mesh(np.empty((0, 3)), {})._repr_html_()
    system = sx.System(np.ones(2), {}, loads={"push": lambda t, q, v: q})
    assert "<tr><th>loads</th><td>push</td></tr>" in system._repr_html_()
