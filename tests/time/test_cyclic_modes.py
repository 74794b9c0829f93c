"""One sector of a structure against the whole: modes of all nodal diameters, statics under rotation, and motions."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, ScenarioError
from symplex.meshes.formats.abaqus_write import write_abaqus
from symplex.meshes.mesh import Mesh
from tests.reference.rings import ring

STEEL = sx.NeoHookean.from_young(2e11, 0.3, 7850.0)
INNER, OUTER, LENGTH = 0.1, 0.25, 0.02


def system_of(mesh, fixed=None):
    cells = mesh.cells["hexahedron"]
    mass = sx.lumped_mass(mesh.points, cells, 7850.0, len(mesh.points))
    return sx.System(mass, {"disc": sx.Solid(mesh.points, cells, STEEL)}, fixed=fixed)


def sector_of(mesh, sectors, **keys):
    groups = mesh.point_groups
    return sx.fem.CyclicSymmetry(mesh.points, groups["low"], groups["high"], sectors, **keys)


def with_supports(mesh, where):
    fixed = np.zeros(mesh.points.shape, bool)
    if where is not None:
        fixed[mesh.point_groups[where]] = True
    return system_of(mesh, fixed)


@pytest.mark.parametrize("where", ["inner", None])
def test_a_sector_has_all_modes_of_the_whole(where):
    """6 sectors of 3 cells: each frequency of a diameter 0 < n < 3 is twice in the whole, the others once."""
    N, per = 6, 3
    whole = ring(INNER, OUTER, LENGTH, (2, N * per, 1))
    system = with_supports(whole, where)
    expected = sx.modes.natural_modes(system, system.state(whole.points), 40).frequencies
    mesh = ring(INNER, OUTER, LENGTH, (2, per, 1), degrees=360.0 / N)
    sector = with_supports(mesh, where)
    found = sx.modes.cyclic_modes(sector, sector.state(mesh.points), sector_of(mesh, N), 12)
    assert list(dict.fromkeys(found.diameters.tolist())) == [0, 1, 2, 3]
    every = np.sort(np.concatenate([np.repeat(found.of_diameter(n), 1 if n in (0, 3) else 2) for n in range(4)]))
    scale = expected[-1]
    np.testing.assert_allclose(every[: len(expected)], expected, rtol=1e-8, atol=1e-6 * scale)
    if where is None:  # shifts and rotations of a free body: along and about the axis, and across it
        assert (found.of_diameter(0) == 0.0).sum() == 2
        assert (found.of_diameter(1) == 0.0).sum() == 2
        assert (found.of_diameter(2) > 0.0).all()


def test_shapes_of_a_sector_solve_the_whole():
    N, per = 5, 2
    mesh = ring(INNER, OUTER, LENGTH, (2, per, 1), degrees=360.0 / N, first=10.0)
    symmetry, sector = sector_of(mesh, N), with_supports(mesh, "inner")
    found = sx.modes.cyclic_modes(sector, sector.state(mesh.points), symmetry, 3, [2])
    whole = ring(INNER, OUTER, LENGTH, (2, N * per, 1), first=10.0)
    system = with_supports(whole, "inner")
    state = system.state(whole.points)
    from scipy.spatial import KDTree

    tree = KDTree(whole.points)
    K = np.asarray(system.hessian(state.q).todense())
    for shape, frequency in zip(found.shapes, found.frequencies, strict=True):
        u = np.full(whole.points.shape, np.nan, complex)
        for k in range(N):
            away, places = tree.query(symmetry.turned(mesh.points, k))
            assert away.max() < 1e-12
            u[places] = symmetry.sector(shape, 2, k)
        assert np.isfinite(u).all()
        residual = K @ u.ravel() - (2 * np.pi * frequency) ** 2 * system.apply_mass(u.real).ravel()
        residual -= 1j * (2 * np.pi * frequency) ** 2 * system.apply_mass(u.imag).ravel()
        residual[system.fixed.ravel()] = 0.0
        assert np.abs(residual).max() < 1e-6 * np.abs(K @ u.ravel()).max()


def test_large_sectors_by_lanczos():
    mesh = ring(INNER, OUTER, LENGTH, (6, 7, 2), degrees=60.0)
    sector = with_supports(mesh, "inner")
    state, symmetry = sector.state(mesh.points), sector_of(mesh, 6)
    found = sx.modes.cyclic_modes(sector, state, symmetry, 4, [1, 3])
    assert symmetry.motions(1, sector.fixed).shape[1] > 300
    K = sector.hessian(state.q)
    for diameter in (1, 3):
        T = symmetry.motions(diameter, sector.fixed)
        M = T.conj().T @ (np.repeat(sector.mass, 3)[:, None] * T.toarray())
        from scipy.linalg import eigh

        squares = eigh((T.conj().T @ (K @ T)).toarray(), M, eigvals_only=True, subset_by_index=[0, 3])
        np.testing.assert_allclose(found.of_diameter(diameter), np.sqrt(squares) / (2 * np.pi), rtol=1e-9)


def disc_with_axis(n, sectors):
    """A sector of a full disc of wedges at its axis and hexahedra; only wedges here, n around."""
    angles = np.linspace(0.0, 2.0 * np.pi / sectors, n + 1)
    rows = [np.column_stack([0.2 * np.cos(angles), 0.2 * np.sin(angles), 0 * angles + z]) for z in (0.0, 0.05)]
    points = np.concatenate([[[0.0, 0.0, 0.0]], rows[0], [[0.0, 0.0, 0.05]], rows[1]])
    second = n + 2
    cells = [[0, 1 + k, 2 + k, second, second + 1 + k, second + 2 + k] for k in range(n)]
    low, high = [0, 1, second, second + 1], [0, n + 1, second, second + n + 1]
    return Mesh(points, {"wedge": np.array(cells, np.int32)}, {}, {"low": np.array(low), "high": np.array(high)})


def test_nodes_on_the_axis():
    """They go along it where all sectors move alike, across it with one nodal diameter, and else stand still."""
    n, N = 2, 4
    mesh = disc_with_axis(n, N)
    cells = mesh.cells["wedge"]
    sector = sx.System(
        sx.lumped_mass(mesh.points, cells, 7850.0, len(mesh.points)), {"disc": sx.Solid(mesh.points, cells, STEEL)}
    )
    found = sx.modes.cyclic_modes(sector, sector.state(mesh.points), sector_of(mesh, N), 5)
    angles = 2 * np.pi * np.arange(n * N) / (n * N)
    rim = [np.column_stack([0.2 * np.cos(angles), 0.2 * np.sin(angles), 0 * angles + z]) for z in (0.0, 0.05)]
    points = np.concatenate([[[0.0, 0.0, 0.0]], rim[0], [[0.0, 0.0, 0.05]], rim[1]])
    m = n * N
    second = m + 1
    all_cells = np.array(
        [[0, 1 + k, 1 + (k + 1) % m, second, second + 1 + k, second + 1 + (k + 1) % m] for k in range(m)], np.int32
    )
    whole = sx.System(
        sx.lumped_mass(points, all_cells, 7850.0, len(points)), {"disc": sx.Solid(points, all_cells, STEEL)}
    )
    expected = sx.modes.natural_modes(whole, whole.state(points), 14).frequencies
    every = np.sort(np.concatenate([np.repeat(found.of_diameter(k), 1 if k in (0, 2) else 2) for k in range(3)]))
    np.testing.assert_allclose(every[:14], expected, rtol=1e-8, atol=1e-6 * expected[-1])
    axis = found.shapes[found.diameters == 2][:, [0, n + 2]]
    assert np.abs(axis).max() < 1e-10 * np.abs(found.shapes).max()


TOML = """
[[body]]
name = "disc"
mesh = "sector.inp"
material = {{ law = "linear-elastic", young = 2e11, poisson = 0.3, density = 7850 }}
mass = "consistent"
[[cyclic]]
name = "sectors"
body = "disc"
low = "low"
high = "high"
sectors = {sectors}
axis = [0, 0, 1]
{more}
[[support]]
body = "disc"
group = "bottom"
components = "z"
[[support]]
body = "disc"
group = "top"
components = "z"
[[support]]
name = "no turning"
body = "disc"
group = "low"
cylindrical = {{ point = [0, 0, 0], axis = [0, 0, 1], fixed = ["tangential"] }}
[[load]]
name = "spin"
kind = "centrifugal"
body = "disc"
angular_velocity = [0, 0, 1000]
point = [0, 0, 0]
follows = false
[start]
kind = "static"
[integrator]
kind = "energy-momentum"
dt = 1e-6
[run]
duration = 1e-5
"""


def _spinning(nu, r):
    """The radial displacement of a long tube that rotates, its ends held: Timoshenko and Goodier (1970), section 32."""
    a, b, E, rho, omega = INNER, OUTER, 2e11, 7850.0, 1000.0
    # Plane strain of a disc with E' = E/(1 − ν²), ν' = ν/(1 − ν).
    E, nu = E / (1 - nu**2), nu / (1 - nu)
    k = (3 + nu) / 8
    return (
        rho * omega**2 / E * k * (1 - nu)
        * ((a**2 + b**2) * r + (1 + nu) / (1 - nu) * a**2 * b**2 / r - (1 + nu) / (3 + nu) * r**3)
    )  # fmt: skip


@pytest.mark.parametrize("matching", [True, False])
def test_static_ring_under_rotation(tmp_path, matching):
    errors = []
    for n in (4, 8):
        mesh = ring(INNER, OUTER, LENGTH, (n, 3 * n // 4, 2), degrees=45.0, first=5.0)
        if not matching:  # nodes of the high side slide along it, by up to a third of a cell
            points, high = mesh.points.copy(), mesh.point_groups["high"]
            inside = high[~np.isin(high, np.concatenate([mesh.point_groups[g] for g in ("inner", "outer")]))]
            r = np.hypot(*points[inside, :2].T)
            points[inside, :2] *= (1.0 + (OUTER - INNER) / n / 3.0 / r)[:, None]
            mesh = Mesh(points, mesh.cells, {}, mesh.point_groups)
        write_abaqus(mesh, tmp_path / "sector.inp")
        (tmp_path / "ring.toml").write_text(TOML.format(sectors=8, more=""))
        problem = sx.Scenario.read(tmp_path / "ring.toml").build()
        x, u = problem.mesh.points, problem.state.q - problem.mesh.points
        r = np.hypot(x[:, 0], x[:, 1])
        radial, exact = (u[:, :2] * x[:, :2]).sum(axis=1) / r, _spinning(0.3, r)
        errors.append(np.abs(radial / exact - 1.0).max())
    assert errors[1] < 0.008
    assert errors[0] / errors[1] > 2.5


def test_a_sector_moves_as_the_whole_does():
    """A ring that is let go stretched: its sector keeps its energy and follows the whole, turning by large angles."""
    N, per = 4, 2
    rubber = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
    ends = []
    for share in (1, N):
        degrees = 360.0 / share
        mesh = ring(INNER, OUTER, 0.05, (1, N * per // share, 1), degrees=degrees)
        cells = mesh.cells["hexahedron"]
        energies = {"ring": sx.Solid(mesh.points, cells, rubber)}
        if share > 1:
            energies["sectors"] = sector_of(mesh, N).constraints(1e8)
        system = sx.System(sx.lumped_mass(mesh.points, cells, 1000.0, len(mesh.points)), energies)
        q = mesh.points * [1.1, 1.1, 1.0]
        v = np.cross([0.0, 0.0, 30.0], q)
        path = sx.record(system, sx.EnergyMomentum(1e-3), system.state(q, v), np.linspace(0.0, 0.1, 11))
        total = path.energies["total"]
        assert np.ptp(total) < 1e-10 * np.abs(total).max()
        ends.append(path.q[-1][mesh.point_groups["low"]] if share > 1 else path.q[-1])
    whole = ring(INNER, OUTER, 0.05, (1, N * per, 1))
    low = np.flatnonzero(np.abs(whole.points[:, 1]) + (whole.points[:, 0] < 0) < 1e-12)
    np.testing.assert_allclose(ends[1], ends[0][low], atol=2e-5)


def test_modes_of_a_scenario(tmp_path):
    mesh = ring(INNER, OUTER, LENGTH, (2, 2, 1), degrees=45.0)
    write_abaqus(mesh, tmp_path / "sector.inp")
    text = TOML.format(sectors=8, more="").replace('[start]\nkind = "static"', "")
    (tmp_path / "ring.toml").write_text(text)
    scenario = sx.Scenario.read(tmp_path / "ring.toml")
    found = sx.runs.find_modes(scenario, 2, diameters="all")
    assert [row["diameter"] for row in found.rows()] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    summary = found.save(tmp_path / "modes", pictures=False)
    assert summary["diameters"] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert "nodal diameter" in found.report()
    with pytest.raises(ScenarioError, match="leave damped out"):
        sx.runs.find_modes(scenario, 2, diameters=[0], damped=True)
    with pytest.raises(InvalidSystem, match="from 0 to 4"):
        sx.runs.find_modes(scenario, 2, diameters=[5])
    (tmp_path / "other.toml").write_text(text.replace("sectors = 8", "sectors = 7"))
    with pytest.raises(ScenarioError, match="not on the low side"):
        sx.Scenario.read(tmp_path / "other.toml").build()


def test_supports_that_do_not_fit():
    mesh = ring(INNER, OUTER, LENGTH, (2, 2, 1), degrees=45.0)
    fixed = np.zeros(mesh.points.shape, bool)
    fixed[mesh.point_groups["high"], 0] = True
    sector = system_of(mesh, fixed)
    with pytest.raises(InvalidSystem, match="hold both sides alike"):
        sx.modes.cyclic_modes(sector, sector.state(mesh.points), sector_of(mesh, 8), 2)
