"""Probes: what they report of motions, sections, supports and contact, by balances that hold to round-off."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

import symplex as sx
from reference.boxes import box_of
from symplex.base.fields import OF_SOLIDS
from symplex.errors import InvalidSystem
from symplex.fem.outputs.snapshots import Snapshots
from symplex.fem.state import State
from symplex.meshes.location import weights_in_cells
from symplex.time.equilibria.static import static_equilibrium

G = np.array([0.0, 0.0, -9.81])
SOFT = sx.NeoHookean.from_young(1e8, 0.0, 7800.0)
STEEL = sx.NeoHookean.from_young(200e9, 0.0, 7800.0)


def block(consistent=False, moving=None, material=STEEL):
    """A bar of 0.1 × 0.1 × 1 m with its foot held, and gravity."""
    mesh = sx.box((0.1, 0.1, 1.0), (1, 1, 5), split="hexahedra")
    cells = mesh.cells["hexahedron"]
    mass = (sx.consistent_mass if consistent else sx.lumped_mass)(
        mesh.points, cells, material.density, len(mesh.points)
    )
    held = np.zeros_like(mesh.points, bool)
    if moving is None:
        held[mesh.nodes_of("z_min")] = True
    lumped = mass if mass.ndim == 1 else np.asarray(mass.sum(axis=1)).ravel()
    parts = {"bar": sx.Solid(mesh.points, cells, material), "gravity": sx.Gravity(lumped, G)}
    moved = {} if moving is None else {"ground": moving(mesh.nodes_of("z_min"))}
    return mesh, sx.System(mass, parts, fixed=held, moving=moved)


def test_reactions_carry_the_weight():
    mesh, system = block(material=SOFT)
    state = static_equilibrium(system, mesh.points).state
    weight = 78.0 * 9.81
    force, moment = sx.reactions(system, state)
    np.testing.assert_allclose(force, [0.0, 0.0, weight], atol=1e-12 * weight)
    np.testing.assert_allclose(moment, [0.05 * weight, -0.05 * weight, 0.0], atol=1e-12 * weight)
    about, _ = sx.reactions(system, state, about=[0.05, 0.05, 0.0]), None
    np.testing.assert_allclose(about[1], 0.0, atol=1e-12 * weight)
    one, _ = sx.reactions(system, state, nodes=mesh.nodes_of("z_min")[:1])
    assert 0.0 < one[2] < weight


def test_a_bar_under_its_weight():
    """Stress ρ g (L − z) and the displacement ρ g L²/2E of the top (Timoshenko), exact at the middles of elements."""
    mesh, system = block()
    state = static_equilibrium(system, mesh.points).state
    fields = sx.outputs.SolidFields(system)
    middle = mesh.points[mesh.cells["hexahedron"]].mean(axis=1)[:, 2]
    sigma = fields.of_elements("stress", state, "bar")
    np.testing.assert_allclose(sigma[:, 2], -7800 * 9.81 * (1.0 - middle), rtol=1e-5)
    top = sx.outputs.NodalProbe("top", mesh.nodes_of("z_max"), reference=mesh.points, reduce=["mean"], components=["z"])
    assert top.of(system, state)["displacement_z_mean"] == pytest.approx(-7800 * 9.81 / 400e9, rel=1e-5)


@pytest.mark.parametrize("consistent", [False, True])
def test_the_base_shear_is_the_sum_of_mass_times_acceleration(consistent):
    shake = sx.actions.TimeFunction(
        lambda t: 0.01 * np.sin(250.0 * t), lambda t: 2.5 * np.cos(250.0 * t), lambda t: -625.0 * np.sin(250.0 * t)
    )
    mesh, system = block(consistent, lambda nodes: sx.actions.SupportTranslation(nodes, [1.0, 0.0, 0.0], shake))
    base = sx.outputs.ReactionProbe("base", system.fixed)
    recorder = sx.time.ProbeRecorder([base])
    times = 1e-3 * np.arange(11)
    states = list(sx.march(system, sx.EnergyMomentum(1e-3), system.state(mesh.points), times, [recorder]))
    expected = np.array([system.apply_mass(state.a).sum(axis=0) - 78.0 * G for state in states])
    found = recorder.history()
    size = np.abs(expected).max()
    assert np.abs(expected[:, 0]).max() > 100.0
    for k, axis in enumerate("xyz"):
        np.testing.assert_allclose(found[f"reaction_{axis}"], expected[:, k], atol=1e-11 * size)


def test_the_force_through_a_cut_is_that_of_the_part_above():
    mesh, system = block(material=SOFT)
    state = static_equilibrium(system, mesh.points).state
    above = np.flatnonzero(mesh.points[:, 2] > 0.7)
    force, _ = sx.outputs.force_on(system, state, "bar", above)
    part = system.mass[above].sum() * 9.81
    np.testing.assert_allclose(force, [0.0, 0.0, part], atol=1e-10 * part)
    with pytest.raises(InvalidSystem, match="no energy 'beam'"):
        sx.outputs.force_on(system, state, "beam", above)


def test_the_force_of_an_obstacle_stops_a_body():
    """Momentum theorem: what the floor gives is what the body's momentum changes by, to the order of the samples."""
    mesh, system = block()
    floor = sx.RigidContact(mesh.boundary_nodes, sx.HalfSpace((0, 0, 0), (0, 0, 1)), 1e7)
    free = sx.System(system.mass, {"bar": system.energies["bar"], "floor": floor})
    state = free.state(mesh.points + np.array([0, 0, 1e-4]), [0.0, 0.0, -1.0])
    probe = sx.outputs.ForceProbe("floor", ["floor"], np.arange(free.n_nodes), about=[0.05, 0.05, 0.0])
    recorder = sx.time.ProbeRecorder([probe])
    times = 2e-5 * np.arange(101)
    ends = list(sx.march(free, sx.Newmark(2e-6), state, times, [recorder]))
    found = recorder.history()
    impulse = trapezoid(found["force_z"], found["t"])
    gained = (free.momentum(ends[-1]) - free.momentum(state))[2]
    assert gained > 20.0
    assert impulse == pytest.approx(gained, rel=0.01)
    assert np.abs(found["moment_x"]).max() < 1e-9 * found["force_z"].max()


def test_three_bars_share_a_load():
    """Timoshenko: the vertical of three equal bars takes P/(1 + 2 cos³α)."""
    points = np.array([[0.0, 0, 0], [-1.0, 1, 0], [0, 1, 0], [1, 1, 0]])
    bars = np.array([[0, 1], [0, 2], [0, 3]])
    lengths = np.linalg.norm(points[bars[:, 1]] - points[bars[:, 0]], axis=1)
    truss = sx.Bars(bars, sx.measures.EngineeringStrain(1e7 / lengths, lengths))
    held = np.ones((4, 3), bool)
    held[0, :2] = False
    system = sx.System(np.ones(4), {"truss": truss, "load": sx.actions.NodalForce([0], [0.0, -1.0, 0.0])}, fixed=held)
    state = static_equilibrium(system, points).state
    probe = sx.outputs.BarProbe(
        "bars", truss, ["axial_force", "axial_stress", "elongation"], section=2e-4, reference=points
    )
    reported = probe.of(system, state)
    assert reported["axial_force_1"] == pytest.approx(1.0 / (1.0 + 2.0 * np.cos(np.pi / 4) ** 3), rel=1e-6)
    assert reported["axial_force_0"] == pytest.approx(reported["axial_force_2"])
    assert reported["axial_stress_1"] == pytest.approx(reported["axial_force_1"] / 2e-4)
    assert reported["elongation_1"] == pytest.approx(reported["axial_force_1"] / 1e7, rel=1e-6)


def test_rods_pull_at_supports_through_the_constraint():
    """Of a pendulum on a rigid rod to a held node the reaction is what the rod pulls there."""
    rod = sx.measures.RigidBars.between(np.array([[0.0, 0, 0], [1.0, 0, 0]]), [[0, 1]])
    held = np.array([[True] * 3, [False] * 3])
    system = sx.System(np.ones(2), {"gravity": sx.Gravity(np.ones(2), G)}, fixed=held)
    recorder = sx.time.ProbeRecorder([sx.outputs.ReactionProbe("hinge", held)])
    states = list(
        sx.march(
            system, sx.Rattle(1e-3, {"rod": rod}), system.state([[0, 0, 0], [1.0, 0, 0]]), [0.0, 0.3, 0.6], [recorder]
        )
    )
    found = recorder.history()
    for k, state in enumerate(states):  # held: its own weight, and N (q/|q|) along the rod with N = v² + g·q
        pull = (state.v[1] @ state.v[1] + G @ state.q[1]) * state.q[1]
        expected = -G - pull
        np.testing.assert_allclose([found[f"reaction_{a}"][k] for a in "xyz"], expected, atol=1e-4)


def test_reductions_components_and_norms():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0]])
    system = sx.System(np.ones(3), {"springs": sx.Bars([[0, 1]], sx.measures.GreenStrain(1.0, 1.0))})
    state = system.state(points + np.array([[0, 0, 0], [3, 4, 0], [0, 0, -1]]), [[1.0, 2, 3]] * 3)
    probe = sx.outputs.NodalProbe(
        "p",
        [1, 2],
        ["displacement", "velocity"],
        reference=points,
        components=["norm", "z"],
        reduce=["max", "mean", "sum", "min"],
    )
    reported = probe.of(system, state)
    assert reported["displacement_norm_max"] == 5.0
    assert reported["displacement_z_min"] == -1.0
    assert reported["displacement_norm_mean"] == 3.0
    assert reported["velocity_z_sum"] == 6.0
    between = sx.outputs.NodalProbe(
        "p", sx.meshes.weights_in_cells(sx.Mesh(points, {"line": np.array([[0, 1]])}), [[0.25, 0, 0]]), ["position"]
    )
    np.testing.assert_allclose(list(between.of(system, state).values()), [0.25 * 4, 0.25 * 4, 0.0])
    units = {column.name: column.unit for column in probe.columns}
    assert (units["displacement_norm_max"], units["velocity_z_sum"]) == ("m", "m/s")


def test_what_a_probe_cannot_tell_is_refused():
    points = np.zeros((2, 3))
    bars = sx.Bars([[0, 1]], sx.measures.GreenStrain(1.0, 1.0))
    cases = [
        (lambda: sx.outputs.NodalProbe("p", [0], ["heat"]), "there is no 'heat'; there are displacement"),
        (lambda: sx.outputs.NodalProbe("p", [0]), "give reference=points"),
        (lambda: sx.outputs.NodalProbe("p", [], ["velocity"]), "there is no place"),
        (lambda: sx.outputs.NodalProbe("p", [0], ["velocity"], components=["xx"]), "none of the components xx"),
        (lambda: sx.outputs.NodalProbe("p", [0], ["velocity"], reduce=["median"]), "there is no 'median'"),
        (lambda: sx.outputs.BarProbe("p", bars, ["axial_stress"]), "give section=A"),
        (lambda: sx.outputs.BarProbe("p", bars, ["elongation"]), "give reference=points"),
        (lambda: sx.outputs.BarProbe("p", bars, members=[3]), "members must be some of 0 to 0"),
        (lambda: sx.outputs.BarProbe("p", bars, reference=[[np.inf, 0.0, 0.0]] * 2), "must be finite"),
        (
            lambda: sx.outputs.ReactionProbe(
                "p", {"a": np.ones((2, 3), bool)}, changes=[(1.0, {"b": np.ones((2, 3))})]
            ),
            "the same names",
        ),
        (
            lambda: sx.outputs.ReactionProbe(
                "p", np.ones((2, 3), bool), changes=[(t, {"": np.ones((2, 3), bool)}) for t in (1.0, 0.5)]
            ),
            "must be finite and ascend",
        ),
        (lambda: sx.outputs.ReactionProbe("p", np.ones((2, 3), bool), about=[0.0]), "must be 3 finite coordinates"),
        (lambda: sx.time.ProbeRecorder([]), "no probe to look with"),
    ]
    for make, message in cases:
        with pytest.raises(InvalidSystem, match=message):
            make()
    assert points.shape == (2, 3)


@pytest.mark.parametrize("kind", ["tetra", "hexahedron", "hexahedron mean-dilatation", "tetra10"])
def test_several_states_are_looked_at_together_to_the_last_bit(kind):
    """However many states there are, their rows are those of each alone: a resumed run finds others together."""
    mesh = box_of(kind, (1.0, 1.0, 1.0), (3, 2, 2))
    name, _, formulation = kind.partition(" ")
    cells, rng = mesh.cells[name], np.random.default_rng(3)
    first, second = cells[::2], cells[1::2]
    bodies = {
        "one": sx.Solid(mesh.points, first, SOFT, formulation=formulation or None),
        "other": sx.Solid(
            mesh.points, second, STEEL, formulation=formulation or None, thermal_strain=1e-3 * mesh.points[:, 0]
        ),
    }
    creeping = {"creeping": sx.Viscoelastic(bodies["one"], [1e7], [0.1])}
    held = sx.fixed_mask(len(mesh.points), [(mesh.nodes_of("x_min"), "xyz")])
    later = held | sx.fixed_mask(len(mesh.points), [(mesh.nodes_of("y_min"), "y")])
    system = sx.System(np.ones(len(mesh.points)), bodies, inelastic=creeping, fixed=later)
    seen = []
    for k in range(11):
        q, moved = mesh.points + 0.02 * rng.standard_normal(mesh.points.shape), rng.standard_normal(mesh.points.shape)
        internal = {"creeping": 0.01 * rng.standard_normal(system.inelastic["creeping"].shape)}
        seen.append(sx.outputs.Observation(system, State(0.1 * k, q, moved, moved, internal=internal)))
    constant = {"plastic_strain", "temperature", "back_stress", "thermal_strain"}
    near, quantities = mesh.nodes_of("x_max"), [name for name in OF_SOLIDS if name not in constant]
    points = weights_in_cells(mesh, [[0.3, 0.4, 0.5], [0.9, 0.1, 0.2]])
    around = sx.outputs.SolidFields(system, near=np.unique(points.indices))
    probes = [
        sx.outputs.SolidProbe("all", sx.outputs.SolidFields(system), quantities, reduce=["mean", "max"]),
        sx.outputs.SolidProbe("side", sx.outputs.SolidFields(system, near=near), quantities, places=near),
        sx.outputs.SolidProbe("points", around, ["stress"], places=points, components=["xx", "norm"]),
        sx.outputs.NodalProbe("motion", near, ["displacement", "velocity"], reference=mesh.points, reduce=["mean"]),
        sx.outputs.NodalProbe("between", points, ["acceleration"], components=["z", "norm"]),
        sx.outputs.ForceProbe("cut", ["one"], {"side": near, "node": near[:1]}, about=[0.5, 0.0, 0.0]),
        sx.outputs.ReactionProbe("held", held, changes=[(0.55, {"": later})]),
    ]
    for probe in probes:
        alone = np.stack([probe.values(one) for one in seen])
        assert alone.shape == (11, len(probe.columns))
        assert np.ptp(alone, axis=0).min() > 0.0
        for sizes in ([11], [7, 4], [2, 9]):
            parts = np.split(np.arange(11), np.cumsum(sizes)[:-1])
            together = np.concatenate([rows_of(probe, [seen[k] for k in part]) for part in parts])
            np.testing.assert_array_equal(together, alone, err_msg=probe.name)


def rows_of(probe, seen):
    states = Snapshots([probe.needs])
    for one in seen:
        states.add(one)
    return probe.rows(states)


def test_a_probe_of_no_group_of_nodes_is_refused():
    with pytest.raises(InvalidSystem, match=r"ForceProbe: nodes must name at least one group of nodes, got none\."):
        sx.outputs.ForceProbe("cut", ["one"], {})
