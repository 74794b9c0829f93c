"""Static equilibria and vibrations of beams, against closed solutions and published ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from reference.lines import line, straight
from symplex.errors import NoEquilibrium
from symplex.fem.structures.beam import beams
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.moments import Moment
from symplex.fem.structures.sections import BeamProperties, Section

IN_PLANE = [False, False, True, True, True, False]


def clamped(built, forces=None, loads=None, held=None):
    """The equilibrium of beams whose node 0 is clamped, under a force on the last one, and its centres."""
    last = built.particles([len(built.frames) - 1]).ravel()
    energies = {"beams": built.energy}
    if forces is not None:
        energies["force"] = sx.actions.NodalForce(last, 0.25 * np.asarray(forces))
    frames = (
        built.frames
        if held is None
        else Frames(built.frames.nodes, built.points, np.tile(held, (len(built.frames), 1)))
    )
    system = sx.System(built.mass, energies, fixed=built.fixed([0]), frames=frames, loads=loads)
    found = sx.equilibria.static_equilibrium(system, built.points)
    return found, frames.centers(found.state.q)


@pytest.mark.parametrize(
    ("n", "distance"), [(8, 1.237e-2), (16, 7.81e-4), pytest.param(32, 4.93e-5, marks=pytest.mark.slow)]
)
def test_a_moment_rolls_a_beam_up_to_a_circle(n, distance):
    """Its tip comes back to the clamped end with an error of fourth order; the moment is the same in all elements."""
    built = beams(
        straight(n, 1.0), BeamProperties(1.2e6, (5e5, 5e5), (1.0, 1.0), 1.0, 1.0, (1e-3, 1e-3)), (0.0, 0.0, 1.0)
    )
    moment = Moment(built.particles([n]), built.mass, [0.0, 0.0, 2.0 * np.pi])
    found, centers = clamped(built, loads={"moment": moment})
    assert found.stable
    assert_allclose(np.linalg.norm(centers[-1]), distance, rtol=2e-3)
    forces = built.section_forces(found.state.q)
    assert_allclose(forces, np.tile([0.0, 0.0, 0.0, 2.0 * np.pi, 0.0, 0.0], (n, 1)), atol=1e-8)


@pytest.mark.parametrize(
    ("n", "tip"), [(8, (47.15, 15.73, 53.46)), pytest.param(32, (47.151, 15.688, 53.474), marks=pytest.mark.slow)]
)
def test_a_bend_of_45_degrees_is_pulled_out_of_its_plane(n, tip):
    """Bathe and Bolourchi's; Simo and Vu-Quoc (1986) have 47.23, 15.79, 53.37 with 8 elements."""
    angle = np.linspace(0.0, np.pi / 4.0, n + 1)
    mesh = line(100.0 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle), 0.0 * angle]))
    section = Section(1.0, 1.0 / 12.0, 1.0 / 12.0, 1.0 / 6.0)
    built = beams(mesh, section.of(sx.NeoHookean.from_young(1e7, 0.0, 1.0)), (0.0, 0.0, 1.0))
    found, centers = clamped(built, [0.0, 0.0, 600.0])
    assert_allclose(centers[-1], tip, atol=6e-3)
    assert found.stable
    inner = built.section_forces(found.state.q)
    # N and Q in the middle of each element are the force, but for the shortness of what is interpolated.
    assert_allclose(np.linalg.norm(inner[:, :3], axis=1), 600.0, rtol=0.1 / n)


def deep(n, formulation):
    """The cantilever of Exudyn's geometricallyExactBeamTest, its case 1."""
    h, w, nu = 0.5, 0.1, 0.3
    k = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
    section = Section(h * w, h * w**3 / 12.0, w * h**3 / 12.0, (h * w**3 + w * h**3) / 12.0, k, k)
    properties = section.of(sx.NeoHookean.from_young(2.07e11, nu, 100.0))
    return beams(straight(n, 2.0), properties, (0.0, 1.0, 0.0), formulation=formulation)


@pytest.mark.parametrize(("n", "deflection"), [(2, 0.71617), (4, 0.71137), (8, 0.71073)])
def test_a_deep_cantilever_in_its_plane(n, deflection):
    """Exudyn's two-node elements have 0.6959 and 0.7068 with 4 and 8, and 0.710568 in the limit."""
    found, centers = clamped(deep(n, "reissner"), [0.0, 6.25e7, 0.0], held=IN_PLANE)
    assert_allclose(centers[-1, 1], deflection, atol=1e-5)
    assert found.corrections < 12
    assert abs(deflection - 0.710568) < 0.1 / n**2


def test_strains_are_measured_in_two_ways_that_differ_by_their_squares():
    deflections = [
        clamped(deep(8, name), [0.0, 6.25e7, 0.0], held=IN_PLANE)[1][-1, 1] for name in ("green", "reissner")
    ]
    assert 1e-5 < abs(deflections[0] / deflections[1] - 1.0) < 1e-3


@pytest.mark.slow
def test_a_deep_cantilever_buckles_sideways():
    """Free to leave its plane it has no stable equilibrium there: 4.013 √(EI GJ)/L² = 2.7e7 N is the critical force."""
    with pytest.raises(NoEquilibrium, match="no static equilibrium that is stable was found"):
        clamped(deep(4, "green"), [0.0, 6.25e7, 0.0])
    assert clamped(deep(4, "green"), [0.0, 2.4e7, 0.0])[0].stable


def steel(n, **options):
    section = Section.rectangle(0.01, 0.02)
    return section, beams(
        straight(n, 1.0), section.of(sx.NeoHookean.from_young(2.1e11, 0.3, 7850.0)), (0.0, 0.0, 1.0), **options
    )


def test_frequencies_of_a_cantilever():
    """First and second about both axes, as parts of Euler's: of lumped masses of 8 elements."""
    section, built = steel(8)
    system = sx.System(built.mass, {"beams": built.energy}, fixed=built.fixed([0]), frames=built.frames)
    modes = sx.modes.natural_modes(system, system.state(built.points), 4)
    roots = np.array([1.8751040687, 4.6940911330]) ** 2 / (2.0 * np.pi)
    euler = np.sort(
        np.outer(roots, np.sqrt(2.1e11 * np.array([section.I1, section.I2]) / (7850.0 * section.area))).ravel()
    )
    assert modes.kinds == ["vibration"] * 4
    assert_allclose(modes.frequencies / euler, [0.9926, 0.9924, 0.9741, 0.9725], atol=1e-4)
    shape = modes.shapes[0]
    assert_allclose((shape * system.apply_mass(shape)).sum(), 1.0)


@pytest.mark.parametrize("n", [8, 60])
def test_a_free_beam_has_six_rigid_motions(n):
    """Found at once, and by shift and inversion."""
    _, built = steel(n)
    system = sx.System(built.mass, {"beams": built.energy}, frames=built.frames)
    modes = sx.modes.natural_modes(system, system.state(built.points), 8)
    rigid = [f"{what} {axis}" for what in ("translation along", "rotation about") for axis in "xyz"]
    assert modes.kinds == [*rigid, "vibration", "vibration"]
    assert_allclose(
        modes.frequencies[6],
        22.3733 / (2.0 * np.pi) * np.sqrt(2.1e11 * 0.01**2 / 12.0 / 7850.0),
        rtol=4.0 / n**2 + 1e-3,
    )
    assert_allclose(modes.effective_masses.sum(axis=0), modes.total)


def test_frequencies_fall_under_pressure_to_zero_where_it_buckles():
    """ω² = ω₀² (1 − F/F_E) nearly, of a cantilever under a force along it."""
    section, built = steel(8)
    critical = np.pi**2 / 4.0 * 2.1e11 * section.I2
    squares = []
    for part in (0.0, 0.5, 0.9):
        force = sx.actions.NodalForce(built.particles([8]).ravel(), [-0.25 * part * critical, 0.0, 0.0])
        system = sx.System(
            built.mass, {"beams": built.energy, "force": force}, fixed=built.fixed([0]), frames=built.frames
        )
        at_rest = sx.equilibria.static_equilibrium(system, built.points)
        squares.append(sx.modes.natural_modes(system, at_rest.state, 1).frequencies[0] ** 2)
    assert_allclose(np.array(squares) / squares[0], [1.0, 0.5, 0.1], atol=0.02)
