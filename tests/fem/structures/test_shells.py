"""Shells: patch tests, what is the same after rotations, laminates, masses, folds, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import symplex as sx
from reference.surfaces import displacements, distorted, sheet, supported, surface
from symplex.errors import InvalidSystem, MeshError, NoEquilibrium
from symplex.fem.structures.plies import Orthotropic, Ply, ShellProperties
from symplex.fem.structures.shell import shells
from symplex.meshes.mesh import Mesh

CARBON = Orthotropic(1.4e11, 1.0e10, 0.3, 5.0e9, 5.0e9, 3.5e9, 1600.0)
INNER = np.array([6, 7, 8, 11, 12, 13, 16, 17, 18])  # nodes of 4 × 4 elements


def near(a, b):
    return np.abs(a - b) < 1e-9


@pytest.mark.parametrize("triangles", [False, True], ids=["quad", "triangle"])
@pytest.mark.parametrize("rotation", [None, [0.4, -0.8, 1.1]], ids=["plane", "rotated"])
def test_patches_of_any_shape_have_constant_membrane_and_bending_strains(triangles, rotation):
    """Small displacements with constant strains and curvatures leave no force in the middle, and are in balance.

    Section forces are those of a plate of this material; energy is half of their work.
    """
    turn = np.eye(3) if rotation is None else Rotation.from_rotvec(rotation).as_matrix()
    mesh = surface(4, 4, lambda x, y: distorted(x, y) @ turn.T, triangles)
    h, E, nu = 0.02, 1e7, 0.3
    built = shells(mesh, sheet(h, E, nu), direction=turn[:, 0])
    x, y = (mesh.points @ turn)[:, 0], (mesh.points @ turn)[:, 1]
    strain, curvature = np.array([0.7, -0.4, 0.9]), np.array([1.3, 0.2, -0.8])
    u = np.column_stack([strain[0] * x, strain[1] * y + strain[2] * x, 0.0 * x])
    bend = np.column_stack(
        [curvature[0] * x + 0.5 * curvature[2] * y, curvature[1] * y + 0.5 * curvature[2] * x, 0.0 * x]
    )
    # d moves by the slopes; w is such that there is no shear
    w = -0.5 * (bend[:, 0] * x + bend[:, 1] * y)
    plate = E / (1.0 - nu**2) * np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - nu)]])
    for motion, expected in (
        ((u @ turn.T, 0.0), np.r_[h * plate @ strain, np.zeros(5)]),
        (
            (w[:, None] * turn[:, 2], np.cross([0.0, 0.0, 1.0], bend) @ turn.T),
            np.r_[np.zeros(3), h**3 / 12.0 * plate @ curvature, 0.0, 0.0],
        ),
    ):
        v = built.frames.velocities(built.points, *motion)
        K = sx.System(built.mass, built.energies, frames=built.frames).hessian(built.points)
        forces = (K @ v.ravel()).reshape(-1, 3)
        round_off = 1e-15 * (abs(K) @ np.abs(v).ravel()).max()
        x = forces[built.frames.nodes[:, :2]]
        moments = np.cross(built.frames.rest_arms[:, :2], x).sum(axis=1)
        assert np.abs(x.sum(axis=1)[INNER]).max() < 10.0 * round_off
        assert np.abs(moments[INNER]).max() < 10.0 * round_off * h
        assert max(np.abs(x.sum(axis=1)).max() * h, np.abs(moments).max()) > 1e8 * round_off * h
        ahead, behind = (built.section_forces(built.points + sign * v) for sign in (1.0, -1.0))
        for name in ahead:  # quadratic in positions: half of the difference is the linear part
            found = 0.5 * (ahead[name] - behind[name])
            assert np.all(np.abs(found - expected) < 1e-14 * E * h * np.r_[1, 1, 1, h, h, h, 1, 1])
        conjugate = np.r_[strain, 0, 0, 0] if expected[:3].any() else np.r_[0, 0, 0, curvature]
        assert_allclose((forces * v).sum(), expected[:6] @ conjugate, rtol=1e-11)


@pytest.mark.parametrize("triangles", [False, True], ids=["quad", "triangle"])
def test_a_large_uniform_stretch_leaves_no_force_in_the_middle(triangles):
    built = shells(surface(4, 4, distorted, triangles), sheet(0.02))
    stretch = np.array([[1.3, 0.2, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 1.0]])
    forces = sx.System(built.mass, built.energies, frames=built.frames).gradient(built.points @ stretch.T)
    found = forces[built.frames.nodes[:, :2]].sum(axis=1)
    assert np.abs(found[INNER]).max() < 1e-12 * np.abs(found).max()


@pytest.mark.parametrize("triangles", [False, True], ids=["quad", "triangle"])
def test_rotations_make_no_forces_and_an_element_has_six_motions_without(triangles):
    """Of 12 or 15 coordinates besides: 20 − 6 or 15 − 6 ranks, without rotations about directors."""
    corners = np.array([[0.0, 0.0, 0.1], [1.2, 0.1, 0.0], [1.0, 0.9, 0.15], [-0.1, 0.8, 0.0]])
    mesh = Mesh(
        corners[:3] if triangles else corners,
        {("triangle" if triangles else "quad"): np.arange(3 + (not triangles))[None]},
    )
    built = shells(mesh, sheet(0.05))
    energy = next(iter(built.energies.values()))
    turn = Rotation.from_rotvec([2.0, -1.0, 0.5]).as_matrix()
    scale = np.abs(energy.hessian(built.points[energy.nodes])).max()
    q = built.points @ turn.T + [3.0, 4.0, 5.0]
    assert np.abs(energy.gradient(q[energy.nodes])).max() < 1e-14 * scale
    n = len(mesh.points)
    motions = np.array(
        [built.frames.velocities(built.points, *np.eye(6 * n)[i].reshape(2, n, 3)).ravel() for i in range(6 * n)]
    ).T
    order = energy.nodes[0]
    K = np.zeros((6 * n, 6 * n))
    at = (3 * order[:, None] + np.arange(3)).ravel()
    K[np.ix_(at, at)] = energy.hessian(built.points[energy.nodes])[0]
    values = np.linalg.eigvalsh(motions.T @ K @ motions)
    rank = (values > 1e-9 * values[-1]).sum()
    assert rank == 5 * n - 6
    assert values[0] > -1e-12 * values[-1]


def test_the_energy_is_the_same_after_rotations():
    built = shells(surface(3, 3, distorted), sheet(0.05))
    q = built.points + 0.01 * np.random.default_rng(0).standard_normal(built.points.shape)
    turn = Rotation.from_rotvec([1.0, -2.0, 0.5]).as_matrix()
    energy = built.energies["quad"]
    assert abs(energy.total(q @ turn.T) / energy.total(q) - 1.0) < 1e-12


@pytest.mark.parametrize("extent", [0.0, 0.3])
def test_masses_have_the_rotary_inertia_of_the_thickness(extent):
    built = shells(surface(4, 4, distorted), sheet(0.02, density=50.0), extent=extent)
    assert_allclose(built.mass.sum(), 1.0)
    r = 0.02 / np.sqrt(12.0)
    if not extent:
        assert_allclose((built.mass * built.points[:, 2] ** 2).sum(), r**2)
    else:
        areas = built.mass.reshape(-1, 2).sum(axis=1)
        assert_allclose(np.abs(built.points[::2, 2]), 0.3 * np.sqrt(areas))
    assert_allclose(built.frames.centers(built.points), surface(4, 4, distorted).points, atol=1e-15)


def test_frequencies_of_a_plate_do_not_depend_on_where_its_particles_are_but_for_inertia():
    """The stiffness is the same: static deflections."""
    held = np.zeros((25, 6), bool)
    held[:5] = True
    tips = []
    for extent in (0.0, 0.4):
        built = shells(surface(4, 4), sheet(0.02), extent=extent)
        tips.append(displacements(built, supported(built, held, [(24, [0.0, 0.0, 1.0])]))[24])
    assert_allclose(tips[0], tips[1], rtol=1e-9)


@pytest.mark.parametrize("triangles", [False, True], ids=["quad", "triangle"])
def test_very_thin_sheets_have_equilibria(triangles):
    """Of a steel sheet of 1 m on fixed edges under its weight, as of a membrane whatever the thickness.

    Round-off of directors, that of positions over the distance of particles, is no sign of a residual.
    """
    mesh = surface(6, 6, triangles=triangles)
    held = np.zeros((49, 6), bool)
    held[(np.abs(mesh.points[:, :2] - 0.5) > 0.49).any(axis=1), :3] = True
    sags = []
    for h in (1e-3, 1e-4):
        built = shells(mesh, sheet(h, 2.1e11, 0.3, 7850.0))
        weight = sx.Gravity(built.mass, (0.0, 0.0, -9.81))
        sags.append(displacements(built, supported(built, held, weight=weight))[24, 2])
    assert_allclose(sags[0], sags[1], rtol=0.02)
    assert -2.2e-3 < sags[1] < -1.9e-3


def test_forces_that_are_lost_in_round_off_are_refused():
    built = shells(surface(4, 4), sheet(1e-4, 2.1e11))
    held = np.zeros((25, 6), bool)
    held[:5] = True
    with pytest.raises(NoEquilibrium, match="the forces that act, of 5e-13 N at most, are less than round-off"):
        displacements(built, supported(built, held, [(24, [1e-12, 0.0, 0.0])]))
    assert not displacements(built, supported(built, held)).any()


def test_a_laminate_has_the_stiffness_of_its_plies():
    """ABD of a [0, 90] laminate by hand; of ±45 as of the rotated law; of one ply split in three the same as whole."""
    h = 1e-3
    two = ShellProperties.laminate([Ply(h, CARBON), Ply(h, CARBON, 90.0)])
    whole = 1.0 - 0.3**2 * 1.0e10 / 1.4e11
    Q11, Q22, Q12 = 1.4e11 / whole, 1.0e10 / whole, 3.0e9 / whole
    assert_allclose(
        two.membrane, h * np.array([[Q11 + Q22, 2 * Q12, 0], [2 * Q12, Q11 + Q22, 0], [0, 0, 1.0e10]]), atol=1e-5
    )
    assert_allclose(np.diag(two.coupling), h * h / 2.0 * np.array([Q22 - Q11, Q11 - Q22, 0.0]), atol=1e-5)
    assert_allclose(two.shear, 5.0 / 6.0 * h * (5.0e9 + 3.5e9) * np.eye(2), atol=1e-5)
    turned = ShellProperties.laminate([Ply(h, CARBON, 30.0)])
    c, s = np.cos(np.pi / 6.0), np.sin(np.pi / 6.0)
    expected = h * (Q11 * c**4 + 2.0 * (Q12 + 2.0 * 5.0e9) * c * c * s * s + Q22 * s**4)
    assert_allclose(turned.membrane[0, 0], expected)
    split = ShellProperties.laminate(
        [Ply(h / 4.0, CARBON, 30.0), Ply(h / 2.0, CARBON, 30.0), Ply(h / 4.0, CARBON, 30.0)]
    )
    for name in ("membrane", "bending", "shear", "moment", "mass"):
        assert_allclose(getattr(split, name), getattr(turned, name), rtol=1e-12)


def test_an_unsymmetric_laminate_bends_as_it_is_stretched():
    """Of a strip of [0, 90] under a tension N along it: ε and κ of the laminate, by the inverse of ABD."""
    two = ShellProperties.laminate([Ply(1e-2, CARBON), Ply(1e-2, CARBON, 90.0)])
    built = shells(surface(6, 3, distorted), two)
    strains = np.linalg.solve(two.matrix, np.r_[1.0, np.zeros(5)])
    x, y = surface(6, 3, distorted).points[:, :2].T
    bend = np.column_stack([strains[3] * x + 0.5 * strains[5] * y, strains[4] * y + 0.5 * strains[5] * x, 0.0 * x])
    w = -0.5 * (bend[:, 0] * x + bend[:, 1] * y)
    u = np.column_stack([strains[0] * x, strains[1] * y + strains[2] * x, w])
    motion = built.frames.velocities(built.points, u, np.cross([0.0, 0.0, 1.0], bend))
    sections = built.section_forces(built.points + motion)["quad"]
    assert_allclose(sections, np.tile(np.r_[1.0, np.zeros(7)], (18, 1)), atol=1e-4)
    with_top = ShellProperties.laminate([Ply(1e-2, CARBON), Ply(1e-2, sx.NeoHookean.from_young(7e10, 0.3, 2700.0))])
    assert_allclose(with_top.center, (1600.0 * -0.5e-2 + 2700.0 * 0.5e-2) / 4300.0)
    heavy = shells(surface(2, 2), with_top)
    assert_allclose(heavy.frames.centers(heavy.points)[:, 2], with_top.center)
    assert np.abs(heavy.energies["quad"].strains(heavy.points[heavy.energies["quad"].nodes])).max() < 1e-17
    assert_allclose(heavy.mass @ heavy.points[:, 2] ** 2, with_top.moment + with_top.mass * with_top.center**2)


def test_an_offset_moves_the_middle_along_normals():
    """A ring of radius 1 with the offset −0.1 is the ring of radius 0.9; nodes are in its middle."""

    def ring(radius):
        return surface(
            24, 1, lambda x, y: np.stack([radius * np.cos(6.0 * x), radius * np.sin(6.0 * x), 0.2 * y], axis=1)
        )

    outer, inner = shells(ring(1.0), sheet(0.02), offset=-0.1), shells(ring(0.9), sheet(0.02))
    assert_allclose(outer.frames.centers(outer.points)[2:-2], inner.frames.centers(inner.points)[2:-2], atol=1e-12)


@pytest.mark.parametrize("triangles", [False, True], ids=["quad", "triangle"])
def test_the_skin_encloses_the_shell(triangles):
    """Its volume is that of the shell, and it follows rotations; with an offset it is where this says."""
    mesh = surface(4, 3, distorted, triangles)
    built = shells(mesh, sheet(0.1), offset=0.3)
    weights, faces = built.skin()
    turn = Rotation.from_rotvec([0.5, 1.0, -2.0]).as_matrix()
    x = weights @ built.points @ turn.T
    assert_allclose(np.sort(np.unique(np.round((x @ turn)[:, 2], 12))), [0.25, 0.35])
    corners = x[faces]
    assert_allclose(np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0, 0.1)
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()


def volume_of_skin(built):
    """Return the volume that the skin of a shell encloses, whose edges must all be of two triangles."""
    weights, faces = built.skin()
    x = (weights @ built.points)[faces]
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    return np.einsum("fi,fi->f", x[:, 0], np.cross(x[:, 1], x[:, 2])).sum() / 6.0


CUBE = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)
SIDES = np.array([[0, 1, 3, 2], [4, 5, 7, 6], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]], np.int32)


@pytest.mark.parametrize("offset", [0.0, 0.02])
def test_the_skin_of_a_folded_shell_has_mitres(offset):
    """A cube of sheets of 0.1 m: its skin is a cube around it and one within, some of whose elements are turned."""
    turned = SIDES if offset == 0.0 else SIDES[:, ::-1] * np.ones((6, 1), np.int32)
    outward = np.einsum("fi,fi->f", *(CUBE[turned].mean(axis=1) - 0.5, _normals(CUBE[turned]))) > 0.0
    if offset:
        turned = np.where(outward[:, None], turned, turned[:, ::-1])
    built = shells(Mesh(CUBE, {"quad": turned}), sheet(0.1), offset=offset)
    outer, inner = 1.1 + 2.0 * offset, 0.9 + 2.0 * offset
    assert_allclose(volume_of_skin(built), outer**3 - inner**3, rtol=1e-12)
    x = built.skin()[0] @ built.points
    expected = [0.5 - 0.5 * outer, 0.5 - 0.5 * inner, 0.5 + 0.5 * inner, 0.5 + 0.5 * outer]
    assert_allclose(np.unique(np.round(x, 9)), expected, atol=1e-9)


def _normals(corners):
    return np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])


def test_the_parts_of_a_branched_shell_have_their_own_skins():
    points = np.array([[-1, 0, 0], [-1, 1, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]], float)
    quads = np.array([[0, 2, 3, 1], [2, 4, 5, 3], [2, 6, 7, 3]], np.int32)
    built = shells(Mesh(points, {"quad": quads}), sheet(0.1))
    assert_allclose(volume_of_skin(built), 0.3, rtol=1e-12)
    corners = [set(built.skin()[1][built.skin_elements() == k].ravel().tolist()) for k in range(3)]
    assert not corners[0] & corners[1] | corners[1] & corners[2] | corners[0] & corners[2]


def test_an_offset_needs_one_side():
    points = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [-1, 0, 0], [-1, 1, 0]], float)
    both = Mesh(points, {"quad": np.array([[0, 2, 3, 1], [0, 4, 5, 1]])})
    with pytest.raises(InvalidSystem, match="normals must be to one side; those of elements at node 0 are to both"):
        shells(both, sheet(0.02), offset=0.1)
    built = shells(both, sheet(0.02))
    weights, faces = built.skin()
    corners = (weights @ built.points)[faces]
    assert_allclose(np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0, 0.04)


def fold(angle, n=2):
    """Two strips that meet at an angle in degrees, at x = 1."""
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    return surface(
        2 * n,
        n,
        lambda x, y: np.stack(
            [np.minimum(2 * x, 1) + c * np.maximum(2 * x - 1, 0), y, s * np.maximum(2 * x - 1, 0)], axis=1
        ),
    )


def test_folds_have_frames_of_four_particles():
    smooth, folded = shells(fold(30.0), sheet(0.02)), shells(fold(90.0), sheet(0.02))
    assert smooth.frames.is_rod.all()
    assert list(smooth.energies) == ["quad"]
    assert np.flatnonzero(~folded.frames.is_rod).tolist() == [6, 7, 8]
    assert list(folded.energies) == ["quad", "quad_fold"]
    assert [len(folded.elements[name]) for name in ("quad", "quad_fold")] == [4, 4]
    assert folded.particles([6, 7]).shape == (2, 4)
    assert folded.particles([0]).shape == (1, 2)
    assert folded.fixed([6, 0]).sum() == 18
    with pytest.raises(InvalidSystem, match="node 6 is on a fold with four particles and node 0 has two"):
        folded.particles([0, 6])
    for energy in folded.energies.values():
        x = folded.points[energy.nodes]
        assert np.abs(energy.gradient(x)).max() < 1e-15 * np.abs(energy.hessian(x)).max()


def test_a_folded_cantilever_under_a_force_along_its_second_leg_bends_as_a_beam():
    """A narrow strip of 1 m, clamped, with a leg of 1 m straight up: a force across the end of the leg bends both.

    By beams: δ = F L³/3EI of the leg, and F L² · L/EI of the strip, whose moment is F L all along.
    """
    n, h, E, F = 8, 0.02, 1e7, 1e-3
    mesh = fold(90.0, n)
    mesh = Mesh(mesh.points * [1.0, 0.1, 1.0], mesh.cells)
    built = shells(mesh, sheet(h, E, 0.0))
    held = np.zeros((len(mesh.points), 6), bool)
    held[near(mesh.points[:, 0], 0.0)] = True
    tip = np.flatnonzero(near(mesh.points[:, 2], 1.0))
    u = displacements(built, supported(built, held, [(k, [F / len(tip), 0.0, 0.0]) for k in tip]))
    EI = E * 0.1 * h**3 / 12.0
    assert_allclose(u[tip, 0].mean(), F / EI * (1.0 / 3.0 + 1.0), rtol=4e-3)


def test_three_elements_at_an_edge_are_a_branch_and_sides_need_no_order():
    points = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [-1, 0, 0], [-1, 1, 0], [0, 0, 1], [0, 1, 1]], float)
    quads = np.array([[0, 2, 3, 1], [0, 4, 5, 1], [0, 6, 7, 1]])
    branched = shells(Mesh(points, {"quad": quads}), sheet(0.02))
    assert np.flatnonzero(~branched.frames.is_rod).tolist() == [0, 1]
    two = shells(Mesh(points[:6], {"quad": quads[:2]}), sheet(0.02))  # with normals to both sides
    assert two.frames.is_rod.all()
    assert_allclose(np.abs(two.frames.rest_arms[:, 0, 2]), 0.02 / np.sqrt(12.0))
    same = shells(Mesh(points[:6], {"quad": np.array([[0, 2, 3, 1], [4, 0, 1, 5]])}), sheet(0.02))
    held = np.zeros((6, 6), bool)
    held[2:4] = True
    u = [displacements(one, supported(one, held, [(4, [0.0, 0.0, 0.1]), (5, [0.0, 0.0, 0.3])])) for one in (two, same)]
    assert_allclose(u[0], u[1], rtol=1e-9, atol=1e-12)


def test_groups_have_their_own_properties_and_quads_meet_triangles():
    mesh = surface(4, 2)
    cells = {
        "quad": mesh.cells["quad"][:6],
        "triangle": mesh.cells["quad"][6:][:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3),
    }
    groups = {"thin": {"quad": np.arange(6)}, "thick": {"triangle": np.arange(4)}}
    mixed = Mesh(mesh.points, cells, cell_groups=groups)
    built = shells(mixed, {"thin": sheet(0.01), "thick": sheet(0.04)})
    assert list(built.energies) == ["quad", "triangle"]
    assert_allclose(built.mass.sum(), 1000.0 * (0.75 * 0.01 + 0.25 * 0.04))
    with pytest.raises(InvalidSystem, match="each cell must be in one group of properties; triangle 0 is in 0"):
        shells(mixed, {"thin": sheet(0.01)})


def test_given_directors_are_those_of_nodes():
    def arc(x, y):
        return np.stack([np.sin(x), y, np.cos(x)], axis=1)

    mesh = surface(4, 1, arc)
    exact = mesh.points * [1.0, 0.0, 1.0]
    built = shells(mesh, sheet(0.02), directors=-exact)  # sides are those of elements
    arms = built.frames.rest_arms[:, 1] / np.linalg.norm(built.frames.rest_arms[:, 1], axis=1)[:, None]
    assert_allclose(np.abs((arms * exact).sum(axis=1)), 1.0)
    with pytest.raises(InvalidSystem, match="within 60 degrees of the normals of elements; that of node 0 is not"):
        shells(mesh, sheet(0.02), directors=np.tile([0.0, 1.0, 0.0], (10, 1)))


SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)


@pytest.mark.parametrize(
    ("points", "cells", "options", "error", "message"),
    [
        (SQUARE[:, :2], [[0, 1, 2, 3]], {}, MeshError, "points must have three coordinates, got 2"),
        (SQUARE, np.empty((0, 4), int), {}, MeshError, "must have cells 'quad' or 'triangle', got none"),
        (SQUARE, [[0, 2, 1, 3]], {}, MeshError, "quad 0 is degenerate"),
        (SQUARE * [1, 0, 0], [[0, 1, 2, 3]], {}, MeshError, "quad 0 is degenerate"),
        (np.vstack([SQUARE, SQUARE[:1] + 5]), [[0, 1, 2, 3]], {}, MeshError, "point 4 is on none"),
        (SQUARE, [[0, 1, 2, 3]], {"extent": 2.0}, InvalidSystem, "extent must be between 0 and 1, got 2"),
        (SQUARE, [[0, 1, 2, 3]], {"fold": 0.0}, InvalidSystem, "fold must be above 0 and at most 120 degrees, got 0"),
        (SQUARE, [[0, 1, 2, 3]], {"offset": np.inf}, InvalidSystem, "offset must be finite"),
        (SQUARE, [[0, 1, 2, 3]], {"direction": (0, 1e-200, 0)}, InvalidSystem, "direction must have three finite"),
        (SQUARE, [[0, 1, 2, 3]], {"direction": (0, 0, 0)}, InvalidSystem, "direction must have three finite"),
        (SQUARE, [[0, 1, 2, 3]], {"directors": np.ones((3, 3))}, InvalidSystem, r"of shape \(4, 3\), got \(3, 3\)"),
    ],
)
def test_what_is_wrong_is_refused(points, cells, options, error, message):
    mesh = Mesh(points, {"quad": np.array(cells, np.int32)})
    with pytest.raises(error, match=message):
        shells(mesh, sheet(0.02), **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Orthotropic(1e9, 4e9, 0.6, 1e9, 1e9, 1e9, 1.0), "the square of nu12 must be less than E1/E2 = 0.25"),
        (lambda: Ply(0.1, CARBON, np.nan), "angle"),
        (lambda: ShellProperties.laminate([]), "there must be plies, got none"),
        (
            lambda: ShellProperties(np.eye(2), np.eye(3), np.eye(3), np.eye(2), 1.0, 1.0, 0.0, 1.0),
            "membrane must be finite",
        ),
        (
            lambda: ShellProperties(np.eye(3), 2.0 * np.eye(3), np.eye(3), np.eye(2), 1.0, 1.0, 0.0, 1.0),
            "positive definite",
        ),
        (
            lambda: ShellProperties(np.eye(3), 0.0 * np.eye(3), np.eye(3), -np.eye(2), 1.0, 1.0, 0.0, 1.0),
            "shear must be pos",
        ),
        (
            lambda: ShellProperties(np.triu(np.ones((3, 3))), np.eye(3), np.eye(3), np.eye(2), 1.0, 1.0, 0.0, 1.0),
            "symmetric",
        ),
        (
            lambda: ShellProperties(np.eye(3), 0.0 * np.eye(3), np.eye(3), np.eye(2), -1.0, 1.0, 0.0, 1.0),
            "thickness must be",
        ),
    ],
)
def test_properties_that_are_wrong_are_refused(make, message):
    with pytest.raises(InvalidSystem, match=message):
        make()
