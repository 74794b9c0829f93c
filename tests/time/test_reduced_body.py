"""Reduced bodies against the whole: statics, frequencies, motions in a system, files."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, NoEquilibrium, OutputError

STEEL = sx.NeoHookean.from_young(2e11, 0.3, 7850.0)


def bar(cells=(10, 2, 2), size=(1.0, 0.1, 0.1), fixed=None):
    mesh = sx.box(size, cells, split="hexahedra")
    nodes = mesh.cells["hexahedron"]
    mass = sx.lumped_mass(mesh.points, nodes, 7850.0, len(mesh.points))
    return mesh, sx.System(mass, {"bar": sx.Solid(mesh.points, nodes, STEEL)}, fixed=fixed)


@pytest.fixture(scope="module")
def reduced():
    mesh, system = bar()
    boundary = np.concatenate([mesh.nodes_of("x_min"), mesh.nodes_of("x_max")])
    return mesh, system, boundary, sx.modes.craig_bampton(system, system.state(mesh.points), boundary, 12)


def test_statics_are_exact(reduced):
    """The boundary has the stiffness of the whole: of forces at one end with the other held."""
    mesh, system, boundary, body = reduced
    n = len(mesh.nodes_of("x_min"))
    f = np.zeros((len(boundary), 3))
    f[n:] = [100.0, -50.0, 20.0]
    K = body.stiffness[: 6 * n, : 6 * n][3 * n :, 3 * n :]
    u = np.linalg.solve(K, f[n:].ravel())
    full = np.asarray(system.hessian(mesh.points).todense())
    free = np.setdiff1d(np.arange(full.shape[0]), 3 * mesh.nodes_of("x_min")[:, None] + np.arange(3))
    force = np.zeros(mesh.points.shape)
    force[mesh.nodes_of("x_max")] = f[n:]
    exact = np.zeros(full.shape[0])
    exact[free] = np.linalg.solve(full[np.ix_(free, free)], force.ravel()[free])
    np.testing.assert_allclose(u, exact.reshape(-1, 3)[mesh.nodes_of("x_max")].ravel(), rtol=1e-7, atol=1e-14)
    coordinates = np.concatenate([np.zeros(3 * n), u, np.zeros(len(body.frequencies))])
    np.testing.assert_allclose(body.expanded(coordinates).ravel(), exact, rtol=1e-6, atol=1e-13)


def test_frequencies_come_from_above_and_close(reduced):
    """Free: six rigid motions, and the first three vibrations of the whole to 0.1 %; more modes, less error."""
    mesh, system, boundary, body = reduced
    exact = sx.modes.natural_modes(system, system.state(mesh.points), 12).frequencies[6:]
    from scipy.linalg import eigh

    errors = []
    for m in (2, 6, 12):
        some = body if m == 12 else sx.modes.craig_bampton(system, system.state(mesh.points), boundary, m)
        squares = eigh(some.stiffness, some.mass, eigvals_only=True)
        found = np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi)
        assert found[5] < 1e-3 * exact[0]
        errors.append(found[6:10] / exact[:4] - 1.0)
        assert errors[-1].min() > -1e-9
    assert errors[2][:3].max() < 1e-3
    assert errors[0].max() > errors[1].max() > errors[2].max()
    assert body.mass[: 3 * len(boundary), : 3 * len(boundary)].trace() > 0.0


def test_all_modes_are_the_whole():
    mesh, system = bar((2, 1, 1), (0.2, 0.1, 0.1))
    state, boundary = system.state(mesh.points), mesh.nodes_of("x_max")
    inside = 3 * (len(mesh.points) - len(boundary))
    body = sx.modes.craig_bampton(system, state, boundary, inside)
    from scipy.linalg import eigh

    full = eigh(
        np.asarray(system.hessian(mesh.points).todense()), np.diag(np.repeat(system.mass, 3)), eigvals_only=True
    )
    np.testing.assert_allclose(
        eigh(body.stiffness, body.mass, eigvals_only=True), full, rtol=1e-8, atol=1e-9 * full[-1]
    )
    # What the modes leave of the mass is that of the boundary nodes themselves.
    np.testing.assert_allclose(body.masses[: len(boundary)], system.mass[boundary], rtol=1e-8)


def test_motion_with_a_mass_at_its_end():
    """A clamped bar with a lump at its end, pulled along x and let go: reduced to its end and modes, and as a whole."""
    mesh, _ = bar((12, 1, 1))
    ends = mesh.nodes_of("x_min"), mesh.nodes_of("x_max")
    fixed = np.zeros(mesh.points.shape, bool)
    fixed[ends[0]] = True
    _, system = bar((12, 1, 1), fixed=fixed)
    lump = np.zeros(len(mesh.points))
    lump[ends[1]] = 40.0
    whole = sx.System(system.mass + lump, system.energies, fixed=fixed)
    times, method, b, errors = np.linspace(0.0, 0.004, 41), sx.EnergyMomentum(1e-5), len(ends[1]), []
    for m in (15, 60):
        body = sx.modes.craig_bampton(system, system.state(mesh.points), ends[1], m)
        k = body.n_modal
        points = np.concatenate([mesh.points[ends[1]], np.zeros((k, 3))])
        masses = body.masses.copy()
        masses[:b] += 40.0
        small = sx.System(masses, {"bar": body.energy(points, np.arange(b), b + np.arange(k))})
        u = np.zeros((b, 3))
        u[:, 0] = 1e-6
        start = points.copy()
        start[:b] += u
        start[b:] = body.modal_start(u)
        static = body.expanded(np.concatenate([u.ravel(), np.zeros(m)]))
        one = sx.record(small, method, small.state(start), times)
        two = sx.record(whole, method, whole.state(mesh.points + static), times)
        ux = one.q[:, 0, 0] - 1.0, two.q[:, ends[1][0], 0] - 1.0
        assert np.ptp(ux[1]) > 1.5e-6
        errors.append(np.abs(ux[0] - ux[1]).max() / 1e-6)
        total = one.energies["total"]
        assert np.ptp(total) < 1e-8 * total[0]  # displacements of 1 µm are rounded to 1e-10 of them
        inside = body.displacements(one.q[20, :b] - points[:b], one.q[20, b:])
        assert np.abs(inside - (two.q[20] - mesh.points)).max() < 0.01 * 1e-6
    assert errors[0] < 0.003
    assert errors[1] < 5e-4


def test_files(reduced, tmp_path):
    *_, body = reduced
    body.save(tmp_path / "bar.npz")
    again = sx.modes.ReducedBody.read(tmp_path / "bar.npz")
    assert np.array_equal(again.stiffness, body.stiffness)
    assert np.array_equal(again.transformation, body.transformation)
    assert np.array_equal(again.boundary, body.boundary)
    body.save(tmp_path / "bar.mtx")
    from scipy.io import mmread

    np.testing.assert_allclose(mmread(tmp_path / "bar-K.mtx").toarray(), body.stiffness, rtol=1e-14)
    np.testing.assert_allclose(mmread(tmp_path / "bar-M.mtx").toarray(), body.mass, rtol=1e-14)
    with pytest.raises(OutputError, match="there already"):
        body.save(tmp_path / "bar.npz")
    with pytest.raises(OutputError, match=r"\.npz or \.mtx"):
        body.save(tmp_path / "bar.bdf")
    (tmp_path / "none.npz").write_bytes(b"nothing")
    with pytest.raises(OutputError, match="cannot be read: not a reduced body"):
        sx.modes.ReducedBody.read(tmp_path / "none.npz")


def test_mistakes(reduced):
    mesh, system, boundary, body = reduced
    state = system.state(mesh.points)
    with pytest.raises(InvalidSystem, match="must have 1 to"):
        sx.modes.craig_bampton(system, state, [], 2)
    with pytest.raises(NoEquilibrium, match="does not hold the body"):
        sx.modes.craig_bampton(system, state, [0], 2)
    fixed = np.zeros(mesh.points.shape, bool)
    fixed[boundary] = True
    _, held = bar(fixed=fixed)
    with pytest.raises(InvalidSystem, match="is held by a support"):
        sx.modes.craig_bampton(held, state, boundary, 2)
    with pytest.raises(InvalidSystem, match="boundary nodes and"):
        body.energy(mesh.points, [0, 1], [2])
    with pytest.raises(InvalidSystem, match="coordinates have shape"):
        body.expanded(np.zeros(3))
