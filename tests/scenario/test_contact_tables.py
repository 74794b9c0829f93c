"""Tables of contact between bodies: what they build, what is reported of it, what is refused."""

import numpy as np
import pytest

from symplex.contact import SegmentContact
from symplex.contact.friction import Friction
from symplex.contact.stiffness import contact_stiffness, default_distance
from symplex.errors import ScenarioError
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.runs.check import check_report
from symplex.scenario.scenario import Scenario

MATERIAL = "material = { young = 1e6, poisson = 0.3, density = 1000 }"


def body(name, z=0.0, velocity=(0, 0, 0), keys=""):
    """Return a cube of 0.1 m as a table."""
    return f"""
[[body]]
name = "{name}"
mesh = {{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }}
{MATERIAL}
translate = [0, 0, {z}]
velocity = {list(velocity)}
{keys}
"""


TWO = body("lower") + body("upper", 0.13, (0, 0, -2))
THREE = TWO + body("top", 0.25)
NEWMARK = '[integrator]\nkind = "newmark"\n[run]\nduration = 1e-3\nframes = 2\nsamples = 4\n'


def built(text, integrator=NEWMARK):
    return Scenario.parse(text + integrator).build()


def refused(text, integrator=NEWMARK):
    """Return the lines by which a scenario is refused."""
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(text + integrator).build()
    return str(caught.value).splitlines()


# -- what is built ---------------------------------------------------------------------------------------------


def test_all_bodies_touch_each_other_by_default():
    problem = built(THREE + "[[contact]]\n")
    contact = problem.body_contacts["contact"]
    assert list(problem.system.energies) == ["lower", "upper", "top", "contact"]
    np.testing.assert_array_equal(contact.between, ~np.eye(3, dtype=bool))
    assert contact.law == "penalty"
    assert contact.reach == pytest.approx(default_distance(contact.surface))
    assert len(contact.surface.triangles) == 36


def test_the_stiffness_follows_from_materials_and_the_speed_of_approach():
    contact = built(TWO + "[[contact]]\n").body_contacts["contact"]
    material = built(TWO).solids["lower"].material
    assert contact.stiffness == pytest.approx(contact_stiffness(contact.surface, [material] * 2, "penalty", None, 2.0))
    slow = built(TWO + "[[contact]]\nspeed = 0\nfactor = 3\n").body_contacts["contact"]
    assert slow.stiffness == pytest.approx(3.0 * contact_stiffness(contact.surface, [material] * 2))
    spinning = body("lower") + body("upper", 0.2, keys="angular_velocity = [0, 0, 100]")
    fast = built(spinning + "[[contact]]\n").body_contacts["contact"].stiffness
    assert fast == pytest.approx(
        contact_stiffness(contact.surface, [material] * 2, "penalty", None, 100 * 0.05 * np.sqrt(2.0))
    )


def test_tables_name_bodies_and_each_has_its_law():
    text = THREE + '[[contact]]\nname = "one"\nbodies = ["upper", "lower"]\nstiffness = 1e8\nmargin = 0.03\n'
    text += '[[contact]]\nname = "other"\nbodies = ["top"]\nself = true\ndistance = 0.002\nlaw = "barrier"\n'
    contacts = built(text, NEWMARK.replace('"newmark"', '"energy-momentum"\ndt = 1e-4')).body_contacts
    assert contacts["one"].surface.names == ("lower", "upper")
    assert (contacts["one"].stiffness, contacts["one"].margin) == (1e8, 0.03)
    assert contacts["other"].surface.names == ("top",)
    assert contacts["other"].between.tolist() == [[True]]
    assert (contacts["other"].law, contacts["other"].reach) == ("barrier", 0.002)


def test_groups_of_one_mesh_are_bodies_and_faces_in_its_file_are_no_surfaces(tmp_path):
    """Two layers with a gap, each a group; triangles of one side only are in the file."""
    mesh = box((0.1, 0.1, 0.1), (1, 1, 1), split="6")
    n, m = len(mesh.points), len(mesh.cells["tetra"])
    points = np.concatenate([mesh.points, mesh.points + np.array([0, 0, 0.11])])
    groups = {"low": {"tetra": np.arange(m, dtype=np.int32)}, "high": {"tetra": np.arange(m, 2 * m, dtype=np.int32)}}
    side = mesh.cells["triangle"][mesh.cell_groups["x_min"]["triangle"]]
    groups["side"] = {"triangle": np.arange(len(side), dtype=np.int32)}
    cells = {"tetra": np.concatenate([mesh.cells["tetra"], mesh.cells["tetra"] + np.int32(n)]), "triangle": side}
    save_mesh(Mesh(points, cells, groups), tmp_path / "layers.msh")
    text = "".join(
        f'[[body]]\nname = "{name}"\nmesh = "layers.msh"\ngroup = "{name}"\n{MATERIAL}\n' for name in ("low", "high")
    )
    problem = Scenario.parse(text + "[[contact]]\n" + NEWMARK, tmp_path / "layers.toml").build()
    surface = problem.body_contacts["contact"].surface
    assert surface.names == ("low", "high")
    assert np.bincount(surface.triangle_bodies).tolist() == [12, 12]


def test_friction_is_a_load_for_each_pair_of_bodies():
    keys = "friction = 0.3\nstatic_friction = 0.4\nslip_speed = 0.01\nself = true\n"
    problem = built(TWO + "[[contact]]\n" + keys)
    assert list(problem.system.loads) == ["friction_lower_upper", "friction_lower_lower", "friction_upper_upper"]
    for friction in problem.system.loads.values():
        assert isinstance(friction, Friction)
        assert friction.energy is problem.body_contacts["contact"]
        assert (friction.law.dynamic, friction.law.static, friction.law.slip_speed) == (0.3, 0.4, 0.01)
    assert not built(TWO + "[[contact]]\nfriction = 0\n").system.loads


def test_methods_without_loads_refuse_friction():
    method = NEWMARK.replace('"newmark"', '"force-stepping"\ngrid = 1e-4')
    lines = refused(TWO + "[[contact]]\nfriction = 0.3\n", method)
    assert "[[contact]] #1 'contact': friction has no potential, which force-stepping needs" in "\n".join(lines)


def test_friction_of_an_obstacle_and_of_bodies_cannot_have_one_name():
    floor = '[[obstacle]]\nname = "lower_upper"\nkind = "half-space"\npoint = [0, 0, -1]\nnormal = [0, 0, 1]\n'
    (line,) = refused(TWO + floor + "stiffness = 1e3\nfriction = 0.1\n[[contact]]\nfriction = 0.1\n")
    assert "two kinds of friction are called 'friction_lower_upper'" in line


def test_check_tells_distance_stiffness_triangles_and_the_stable_step():
    report, failure = check_report(built(TWO + "[[contact]]\nstiffness = 2e8\ndistance = 0.01\n"))
    assert not failure
    assert "contact 'contact'" in report
    assert "penalty, 200 MN/m³ from a distance of 10 mm on (nothing nearer at the start)" in report
    assert "24 triangles, 1 pair of bodies" in report
    softer = check_report(built(TWO + "[[contact]]\nstiffness = 2e6\ndistance = 0.01\n"))[0]
    steps = [text.split("stable step")[1].split()[:2] for text in (report, softer)]
    assert [unit for _, unit in steps] == ["µs", "ms"]
    assert 1e-3 * float(steps[0][0]) < 0.5 * float(steps[1][0])


def test_check_tells_that_bodies_press_each_other_at_the_start():
    near = body("lower") + body("upper", 0.105)
    report, _ = check_report(built(near + "[[contact]]\nstiffness = 2e8\ndistance = 0.01\n"))
    assert "from a distance of 10 mm on (" in report
    energy = built(near + "[[contact]]\nstiffness = 2e8\ndistance = 0.01\n").system.energies["contact"]
    pressed = energy.total(built(near).state.q)
    assert pressed > 0.1
    assert f"pairs nearer at the start, which press bodies apart with {pressed:.3g} J" in report


def test_check_knows_of_no_stable_step_with_a_barrier():
    implicit = NEWMARK.replace('"newmark"', '"energy-momentum"\ndt = 1e-4')
    report, failure = check_report(built(TWO + '[[contact]]\nlaw = "barrier"\n', implicit))
    assert not failure
    assert "barrier" in report
    assert "stable step" not in report


# -- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bodies", "table", "texts"),
    [
        (TWO, 'bodies = ["lower", "uper"]', ["there is no body 'uper'; did you mean 'upper'?"]),
        (TWO, 'bodies = "some"', ["bodies must be \"all\" or a list of names, got 'some'"]),
        (TWO, "bodies = []", ["bodies must be", "got []"]),
        (TWO, 'bodies = ["upper", "upper"]', ["names 'upper' twice; self = true is contact with itself"]),
        (TWO, 'bodies = ["upper"]', ["bodies names one body only", "self = true"]),
        (body("lower"), "", ["there is only one body; with self = true it is in contact with itself"]),
        (TWO, "distance = 0.2", ["the distance at which forces begin, 0.2 m, is above the shortest edge", "0.1 m"]),
        (TWO, "distance = 0", ["distance must be positive, got 0 m"]),
        (TWO, "stiffness = -1", ["stiffness must be positive, got -1 N/m³"]),
        (TWO, "stiffness = 1e8\nfactor = 2", ["factor is for the stiffness that follows from the materials"]),
        (TWO, "stiffness = 1e8\nspeed = 2", ["speed is for the stiffness that follows from the materials"]),
        (TWO, "speed = -2", ["speed must be at least 0, got -2 m/s"]),
        (TWO, "margin = 0", ["margin must be positive, got 0 m"]),
        (TWO, 'law = "springs"', ["law must be one of 'penalty', 'barrier', got 'springs'"]),
        (TWO, 'name = "upper"', ["the name 'upper' is taken by [[body]] #2"]),
        (TWO, 'name = "gap"', ["the name 'gap' is reserved"]),
        (TWO, "self = 1", ["self must be true or false, got 1"]),
        (TWO, "friction = -0.2", ["friction must be at least 0, got -0.2"]),
        (TWO, "friction = 0.3\nstatic_friction = 0.2", ["static_friction must be at least friction = 0.3, got 0.2"]),
        (TWO, "friction = 0.3\nslip_speed = 0", ["slip_speed must be positive, got 0 m/s"]),
        (TWO, "slip_speed = 1e-3", ["slip_speed goes with friction"]),
        (
            TWO,
            'friction = 0.3\nname = "work_friction_lower_upper"',
            ["the name 'work_friction_lower_upper' is reserved"],
        ),
        (
            TWO,
            'law = "barrier"',
            ['law = "barrier" has no greatest stiffness, so no step of explicit newmark is stable;', 'or "midpoint"'],
        ),
        (
            body("lower") + body("upper", 0.09),
            "",
            ["the bodies 'lower' and 'upper' overlap by about 0.01 m at (", "Move them apart, or take one of them out"],
        ),
        (
            body("lower") + body("upper", 0.1),
            "distance = 0.02",
            [
                *("the bodies 'lower' and 'upper' touch at (", "Leave a gap between them; forces begin at 0.02 m"),
                'Or let forces begin where they touch (begins = "touch").',
            ],
        ),
        (
            body("lower") + body("upper", 0.04),
            'begins = "touch"',
            [
                "the bodies 'lower' and 'upper' overlap by about 0.0333 m at (",
                "a quarter of the shortest edge, 0.025 m",
            ],
        ),
        (TWO, 'begins = "once"', ["begins must be one of 'distance', 'touch', got 'once'"]),
        (
            body("lower") + body("upper", 0.09) + body("top", 0.15),
            "",
            ["the bodies 'upper' and 'top' overlap by about 0.0333 m at (", "(and 1 more)"],
        ),
    ],
)
def test_mistakes_get_a_line(bodies, table, texts):
    (line,) = refused(f"{bodies}[[contact]]\n{table}\n")
    assert line.startswith("scenario.toml: [[contact]] #1")
    for text in texts:
        assert text in line


def test_contact_may_begin_where_bodies_touch():
    text = (
        body("lower") + body("upper", 0.1) + body("top", 0.2 - 1e-3) + '[[contact]]\nbegins = "touch"\nfriction = 0.2\n'
    )
    problem = built(text)
    contact, energy = problem.body_contacts["contact"], problem.system.energies["contact"]
    assert contact.reach == pytest.approx(0.02 * 0.1)
    assert contact.overlap == pytest.approx(1e-3, rel=0.1)
    assert energy.total(problem.state.q) < 1e-15
    reported = problem.system.observed(problem.state, lambda one, state: one.gradient(state.q[one.nodes]))
    assert reported["gap"] == pytest.approx(0.0, abs=1e-8 * contact.reach)
    points = problem.points_in_contact("contact", problem.state.q)
    assert np.abs(points - problem.state.q).max() > 0.5 * contact.reach
    assert list(problem.system.loads) == ["friction_lower_upper", "friction_lower_top", "friction_upper_top"]
    report = check_report(problem)[0]
    assert "from touch on, to a depth of 2 mm (" in report
    assert "overlaps of up to 1 mm count as touching" in report


def test_contact_from_touch_with_what_is_rigid():
    """A ball lies on a cube, and the cube on a rigid box; an open surface has no inside."""
    rigid = """
[[rigid_body]]
name = "ball"
mesh = { sphere = 0.02, refinements = 1 }
mass = 1
translate = [0.05, 0.05, 0.12]
[[obstacle]]
name = "floor"
kind = "surface"
mesh = { box = [0.3, 0.3, 0.1], cells = [1, 1, 1] }
translate = [0.05, 0.05, -0.05]
begins = "touch"
[[contact]]
begins = "touch"
"""
    problem = built(body("cube") + rigid)
    for name in ("floor", "contact"):
        assert problem.system.energies[name].total(problem.state.q) < 1e-12
        points = problem.points_in_contact(name, problem.state.q)
        gap = problem.body_contacts[name].at(points).observed()["gap"]
        assert abs(gap) < 1e-7 * problem.body_contacts[name].reach


def test_a_pair_of_bodies_is_in_one_contact_only():
    text = THREE + '[[contact]]\nname = "some"\nbodies = ["upper", "top"]\n[[contact]]\n'
    (line,) = refused(text)
    assert "[[contact]] #2 'contact': 'upper' and 'top' are in contact by [[contact]] #1 already" in line


def test_methods_that_keep_their_stencils_refuse_contact():
    kind = '"adaptive-variational"\ndt = 1e-4'
    (line,) = refused(TWO + "[[contact]]\n", NEWMARK.replace('"newmark"', kind))
    assert "[[contact]] #1 'contact': bodies find new places to touch" in line
    assert 'such as kind = "energy-momentum" or "midpoint"' in line


def test_force_stepping_tells_of_bodies_that_are_far_apart():
    """Its list of pairs is empty."""
    far = body("lower") + body("upper", 0.5) + "[[contact]]\nmargin = 0.01\n"
    problem = built(far, NEWMARK.replace('"newmark"', '"force-stepping"\ngrid = 1e-3'))
    motion, contact = problem.integrator.start(problem.system, problem.state), problem.body_contacts["contact"]
    assert len(contact.nodes) == 0
    reported = problem.system.observed(problem.state, motion.gradient)
    assert reported["gap"] == contact.reach
    assert reported["contact_force_lower_upper_z"] == 0.0


# -- integrals over facets -------------------------------------------------------------------------------------


def test_integrated_contact_begins_where_bodies_touch_and_takes_the_first_body_for_its_integrals():
    text = body("lower") + body("upper", 0.1) + '[[contact]]\nintegration = "segments"\nbodies = ["upper", "lower"]\n'
    problem = built(text)
    contact = problem.body_contacts["contact"]
    assert isinstance(contact, SegmentContact)
    assert contact.distance == 0.0
    assert contact.depth == pytest.approx(0.05)
    contact.build_list(problem.state.q)
    bodies = contact.surface.bodies_of(contact.nodes[:, [0, contact.nodes.shape[1] // 2]])
    assert np.all(bodies == [contact.surface.body("upper"), contact.surface.body("lower")])
    assert contact.total(problem.state.q) == 0.0
    report = check_report(problem)[0]
    assert "segments, " in report
    assert "from touch on, to a depth of 50 mm; 24 triangles, 1 pair of bodies" in report


def test_integrated_contact_refuses_what_it_cannot_do():
    lines = refused(TWO + '[[contact]]\nintegration = "segments"\nlaw = "barrier"\n')
    assert 'integration = "segments" does not support law = "barrier"' in lines[0]
    assert "leave it out" in refused(TWO + '[[contact]]\nintegration = "segments"\nbegins = "touch"\n')[0]


def test_integrated_contact_refuses_a_deep_overlap():
    text = body("lower") + body("upper", 0.04) + '[[contact]]\nintegration = "segments"\n'
    line = refused(text.replace("[0, 0, 0.04]", "[0.013, 0.017, 0.04]"))[0]
    assert "the bodies 'lower' and 'upper' overlap by about" in line
    assert "more than the 0.045 m that it resists" in line


def test_integrated_contact_with_a_rigid_surface():
    text = (
        body("cube", 0.0, keys="").replace('"6"', '"hexahedra"')
        + """
[[obstacle]]
name = "die"
kind = "surface"
mesh = { box = [0.5, 0.5, 0.1] }
translate = [0.05, 0.05, -0.05]
integration = "segments"
"""
    )
    problem = built(text)
    (contact,) = problem.body_contacts.values()
    assert isinstance(contact, SegmentContact)
    assert contact.depth == pytest.approx(0.05)
    q = problem.state.q.copy()
    q[: len(problem.mesh.points), 2] -= 1e-3
    points = problem.points_in_contact("die", q)
    total = contact.resultants(points)["die", "cube"]
    np.testing.assert_allclose(total, [0.0, 0.0, -contact.stiffness * 1e-3 * 0.01], atol=1e-9 * contact.stiffness)
