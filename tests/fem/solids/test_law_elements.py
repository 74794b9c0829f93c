"""Loops that call laws by address: against the laws as NumPy functions, hand-written kernels, and differences."""

import ctypes
import pickle
from functools import cache

import numpy as np
import pytest

import symplex as sx
from reference.boxes import FORMULATIONS, box_of, is_linear
from reference.written_laws import Written
from symplex.errors import InvalidSystem, InvertedElement, MaterialFailed
from symplex.fem.assembly import forms
from symplex.fem.assembly.blocks import Blocks
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled import threads
from symplex.fem.solids import solid as solid_module
from symplex.fem.solids.elements import Element, Rule
from symplex.meshes.generate import box
from symplex.testing import round_off

# Formulas are compiled when their materials are made: not before a test needs them.
SLACK = "fibres that go slack"  # where second derivatives of the law jump
LAWS = {
    "neo-Hooke": lambda: sx.NeoHookean(3.0, 2.0, 1.0),
    "Saint Venant-Kirchhoff": lambda: sx.SaintVenantKirchhoff(3.0, 2.0, 1.0),
    "Mooney-Rivlin": lambda: sx.MooneyRivlin(1.0, 0.4, 6.0, 1.0),
    "linear": lambda: sx.LinearElastic(3.0, 2.0, 1.0),
    "Gent": lambda: sx.material(
        "-mu*Jm/2*log(1 - (I1bar - 3)/Jm) + K/2*(J - 1)**2", mu=2.0, Jm=20.0, K=5.0, density=1.0
    ),
    "fibres": lambda: sx.material(
        "mu/2*(I1 - 3 - 2*log(J)) + lmbda/2*log(J)**2 + a*(I4 - 1)**2*I1/3 + b*(I6 - 1)**2 + c*(I4 - 1)**2*(I6 - 1)**2",
        density=1.0,
        fibres=[(1.0, 2.0, 0.5), (0.0, 1.0, -1.0)],
        **{"mu": 2.0, "lmbda": 3.0, "a": 0.7, "b": 0.4, "c": 0.3},
    ),
    SLACK: lambda: sx.material(
        "mu/2*(I1 - 3 - 2*log(J)) + lmbda/2*log(J)**2 + a*max(I4 - 1, 0)**2 + a*max(1 - I6bar, 0)**2*I1",
        density=1.0,
        fibres=[(1.0, 2.0, 0.5), (0.0, 1.0, -1.0)],
        **{"mu": 2.0, "lmbda": 3.0, "a": 0.7},
    ),
}
FORMS = {
    "value": "a",
    "gradient": "a",
    "hessian": "a",
    "discrete_gradient": "ab",
    "discrete_hessian": "ab",
    "mean_gradient": "ab",
    "secant": "a",
    "secant_rate": "av",
    "third": "av",
}
KINDS = FORMULATIONS


def kinds_of(laws):
    """Return each kind of element with each of some laws; the rarest one with a few kinds."""
    return [(kind, law) for kind in KINDS for law in laws if law != SLACK or kind in ("tetra", "hexahedron", "pyramid")]


@cache
def irregular(kind):
    """Return points and cells of a cube of 1 m, its nodes shaken."""
    rng = np.random.default_rng(0)
    mesh = box_of(kind, (1.0, 1.0, 1.0), (3, 3, 3) if is_linear(kind) else (2, 2, 2))
    return mesh.points + 0.01 * rng.standard_normal(mesh.points.shape), mesh.cells[kind].astype(np.int32)


def solid_of(kind, law):
    kind, _, formulation = kind.partition(" ")
    return sx.Solid(*irregular(kind), LAWS[law](), formulation=formulation or None)


def moved(solid, size, seed=1):
    return solid.points + size * np.random.default_rng(seed).standard_normal(solid.points.shape)


@pytest.mark.parametrize(("kind", "law"), kinds_of(LAWS))
def test_all_forms_agree_with_the_law_as_numpy_functions(kind, law):
    solid = solid_of(kind, law)
    slow = sx.Solid(solid.points, solid.nodes, Written(solid.material), formulation=solid.formulation)
    q0 = moved(solid, 0.01)
    local = {"a": q0[solid.nodes], "b": moved(solid, 0.01, 2)[solid.nodes], "v": moved(solid, 1.0, 3)[solid.nodes]}
    known_to = round_off.of(1.0 / 0.03, 3)  # strains of 0.03, from numbers of the size of 1
    for form, names in FORMS.items():
        if "secant" in form and not solid.material.objective:
            continue
        arguments = [local[name] for name in names]
        found, expected = getattr(solid, form)(*arguments), getattr(slow, form)(*arguments)
        # energies are differences of invariants, which are known to round-off of 3
        scale = abs(expected).max() if form != "value" else solid.volumes.max()
        # the place where fibres go slack is known to round-off of 1 relative to the change of the invariants
        within = 1e-12 if law == SLACK and form == "discrete_hessian" else known_to
        np.testing.assert_allclose(found, expected, rtol=0, atol=within * scale, err_msg=form)
    for form in ("deformation_gradients", "jacobians", "first_piola", "cauchy"):
        found, expected = getattr(solid, form)(q0), getattr(slow, form)(q0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=known_to * max(1.0, abs(expected).max()), err_msg=form)


def test_hand_written_kernels_of_tetrahedra_agree():
    """With the loops for any law, here that of Mooney and Rivlin, whose second constant is 0."""
    points, cells = irregular("tetra")
    by_hand = sx.Solid(points, cells, sx.NeoHookean(3.0, 2.0, 1.0))
    by_loops = sx.Solid(points, cells, sx.MooneyRivlin(1.0, 0.0, 3.0 + 4.0 / 3.0, 1.0))
    q0, q1, zero = moved(by_hand, 0.01), moved(by_hand, 0.02, 2), np.zeros_like(points)
    pattern = Pattern(len(q0), [by_hand.nodes])
    nodal = {
        forms.GRADIENT: (q0,),
        forms.DISCRETE_GRADIENT: (q0, q1),
        forms.INCREMENT_GRADIENT: (q0, zero, q1 - q0),
        forms.HESSIAN: (q0,),
        forms.DISCRETE_HESSIAN: (q0, q1),
    }
    for form, arguments in nodal.items():
        found = [pattern.zeros(3) if form.is_matrix else np.zeros_like(q0) for _ in range(2)]
        for solid, out in zip((by_hand, by_loops), found, strict=True):
            solid.add(form, arguments, out, pattern.slots[0])
        np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-14 * abs(found[1]).max(), err_msg=form.name)
    assert by_hand.total(q0) == pytest.approx(by_loops.total(q0), rel=1e-13)
    for stress in ("first_piola", "cauchy", "von_mises"):
        found, expected = getattr(by_hand, stress)(q0), getattr(by_loops, stress)(q0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13, err_msg=stress)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hexahedron", "tetra10", "wedge"])
def test_mean_dilatation_where_fibres_go_slack(kind):
    """The work is the change of energy, with any number of points that change in a step, and the tangent its slope."""
    points, cells = irregular(kind)
    solid = sx.Solid(points, cells, LAWS[SLACK](), formulation="mean-dilatation")
    nodes, rng = solid.nodes, np.random.default_rng(4)
    for size in (1e-4, 1e-3, 1e-2):
        x0, x1 = ((points + size * rng.standard_normal(points.shape))[nodes] for _ in range(2))
        forces = solid.discrete_gradient(x0, x1)
        scale = abs(forces).max() * abs(x1 - x0).max()
        works = (forces * (x1 - x0)).sum(axis=(1, 2))
        # energies are known to round-off of the elasticities, as differences of invariants of the size of 3
        np.testing.assert_allclose(works, solid.value(x1) - solid.value(x0), rtol=0, atol=1e-13 * scale + 1e-15)
        np.testing.assert_allclose(forces, solid.discrete_gradient(x1, x0), rtol=0, atol=1e-12 * abs(forces).max())
        dx, h = x1 - x0, 1e-5
        slope = (solid.discrete_gradient(x0, x1 + h * dx) - solid.discrete_gradient(x0, x1 - h * dx)) / (2 * h)
        tangent = solid.discrete_hessian(x0, x1).reshape(len(nodes), slope[0].size, slope[0].size)
        given = np.einsum("eij,ej->ei", tangent, dx.reshape(len(nodes), -1))
        np.testing.assert_allclose(given.reshape(slope.shape), slope, rtol=0, atol=1e-6 * abs(slope).max())


@pytest.mark.parametrize(("kind", "law"), kinds_of([law for law in LAWS if law != "linear"]))
def test_discrete_gradients_do_the_work_and_have_no_moment(kind, law):
    solid = solid_of(kind, law)
    x0 = moved(solid, 0.01)[solid.nodes]
    stiffness = np.cbrt(solid.volumes.max()) * 10.0
    for size in (1e-2, 1e-9):
        x1 = x0 + size * np.random.default_rng(4).standard_normal(x0.shape)
        DG = solid.discrete_gradient(x0, x1)
        work = np.einsum("eai,eai->e", DG, x1 - x0)
        if size > 1e-3:
            change = solid.value(x1) - solid.value(x0)
            np.testing.assert_allclose(work, change, rtol=0, atol=3e-14 * stiffness * size)
        np.testing.assert_allclose(DG.sum(axis=1), 0.0, atol=1e-14 * stiffness)
        moments = np.cross(0.5 * (x0 + x1), DG).sum(axis=1)
        np.testing.assert_allclose(moments, 0.0, atol=1e-14 * stiffness)
        back = solid.discrete_gradient(x1, x0)
        np.testing.assert_allclose(DG, back, rtol=0, atol=1e-14 * stiffness)


@pytest.mark.parametrize("kind", KINDS)
def test_increments_from_far_away_lose_no_digits(kind):
    solid = solid_of(kind, "Mooney-Rivlin")
    q = moved(solid, 0.01)
    q = q + 2.0**20 - 2.0**20  # what survives far away
    dq = 1e-6 * moved(solid, 1.0, 5)
    near, far = np.zeros_like(q), np.zeros_like(q)
    solid.add_increment_gradient(q, np.zeros_like(q), dq, near)
    solid.add_increment_gradient(q + 2.0**20, np.zeros_like(q), dq, far)
    np.testing.assert_allclose(far, near, rtol=0, atol=1e-13 * abs(near).max())


@pytest.mark.parametrize("kind", KINDS)
def test_energy_and_forces_turn_with_the_body(kind):
    solid = solid_of(kind, "Gent")
    x = moved(solid, 0.01)[solid.nodes]
    c, s = np.cos(2.0), np.sin(2.0)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])
    force = solid.gradient(x)
    np.testing.assert_allclose(solid.gradient(x @ R.T + 1.0), force @ R.T, rtol=0, atol=2e-13 * abs(force).max())
    np.testing.assert_allclose(solid.value(x @ R.T + 1.0), solid.value(x), rtol=0, atol=1e-14)


@pytest.mark.parametrize("count", [1, 15, 17, 130])
def test_chunks_that_are_not_full(count):
    mesh = box((1.0, 1.0, 1.0), (6, 5, 5), split="hexahedra")
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron"][:count], LAWS["Mooney-Rivlin"]())
    q = moved(solid, 0.01)
    out = np.zeros_like(q)
    solid.add_gradient(q, out)
    expected = np.zeros_like(q)
    for nodes in solid.nodes:
        expected[nodes] += sx.Solid(mesh.points, nodes[None], LAWS["Mooney-Rivlin"]()).gradient(q[nodes][None])[0]
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("law", ["neo-Hooke", "Mooney-Rivlin", "linear", SLACK])
@pytest.mark.parametrize("kind", ["tetra", "hexahedron", "tetra10", "hexahedron mean-dilatation"])
def test_an_element_has_the_same_bits_whatever_others_are_evaluated(kind, law):
    """Ranks and levels of local time steps have some of the elements, and find what one process does."""
    if law == "linear" and "mean" in kind:
        pytest.skip("no law of large strains")
    solid = solid_of(kind, law)
    given = {letter: moved(solid, 0.01, seed)[solid.nodes] for letter, seed in (("a", 1), ("b", 2), ("v", 3))}
    m = len(solid.nodes)
    for chosen in ([m - 1], range(1, 8), range(m - 3), range(2, m, 3)):
        part = solid.restrict(list(chosen))
        for form in (forms.VALUE, *forms.FORMS):
            if form in solid._found.loops and form.name in FORMS:
                x = [given[letter] for letter in FORMS[form.name]]
                some = part.local(form, *(y[list(chosen)] for y in x))
                np.testing.assert_array_equal(some, solid.local(form, *x)[list(chosen)], err_msg=form.name)


@pytest.mark.usefixtures("always_shared")
@pytest.mark.parametrize("formulation", ["stabilized", "full"])
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, formulation):
    mesh = box((3.0, 1.0, 1.0), (36, 12, 12), split="hexahedra")
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], LAWS["Mooney-Rivlin"](), formulation=formulation)
    assert len(Blocks(solid.nodes, solid.points).slabs) > 1
    q, found = moved(solid, 0.002), []
    for count in (1, 2):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        out = np.zeros_like(q)
        solid.add_gradient(q, out)
        found.append(out)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("kind", KINDS)
def test_what_fails_is_named(kind):
    solid = solid_of(kind, "Gent")
    x = solid.points[solid.nodes]
    inverted = x.copy()
    inverted[2] *= [1.0, 1.0, -1.0]
    stretched = x.copy()
    stretched[3] *= [4.0, 0.5, 0.5]
    constants = {"mu": 2.0, "K": 5.0, "a": 100.0}  # so that the energy is beyond the largest number
    for call in (solid.gradient, solid.hessian, solid.value, lambda y: solid.discrete_gradient(x, y)):
        with pytest.raises(InvertedElement, match=r"element 2 \(nodes .* det F = -1") as error:
            call(inverted)
        assert error.value.element == 2
    exponential = sx.material("mu/2*(I1bar - 3) + K/2*(J - 1)**2 + exp(a*(I1bar - 3)**2) - 1", **constants, density=1.0)
    solid = sx.Solid(solid.points, solid.nodes, exponential)
    for call in (solid.gradient, solid.hessian, solid.value, lambda y: solid.third(y, x), solid.secant):
        with pytest.raises(MaterialFailed, match="element 3"):
            call(stretched)


@pytest.mark.parametrize(("kind", "law"), kinds_of(["neo-Hooke", "Saint Venant-Kirchhoff", "Gent", "fibres", SLACK]))
def test_lattice_functions_are_differences_of_the_energy(kind, law):
    solid = solid_of(kind, law)
    functions = solid.lattice_functions()
    pointer = ctypes.POINTER(ctypes.c_double)
    p = functions.parameters[1].ctypes.data_as(pointer)

    def calling(address, *types):
        function = ctypes.CFUNCTYPE(ctypes.c_double, pointer, pointer, *types)(address)
        return lambda x, *arguments: function(p, np.ascontiguousarray(x).ctypes.data_as(pointer), *arguments)

    value = calling(functions.value)
    difference = calling(functions.difference, ctypes.c_int64, ctypes.c_double)
    mixed = calling(functions.mixed, ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_double)
    x = moved(solid, 0.01)[solid.nodes][1].ravel()
    at = np.eye(len(x))
    volume = solid.volumes[1]
    assert value(x) == pytest.approx(solid.local_value(1, x.reshape(-1, 3)), abs=round_off.of(volume / 0.03))
    rng = np.random.default_rng(6)
    size = 0.01 if kind.startswith("pyramid") else 0.02  # by which points of all elements are strained alike
    for i, j in [*rng.integers(0, len(x), (20, 2)), (4, 4), (4, 7), (0, 0), (0, 1), (1, 9)]:
        h, g = size * rng.standard_normal(2)
        one, two, both = value(x + h * at[i]), value(x + g * at[j]), value(x + h * at[i] + g * at[j])
        assert difference(x, i, h) == pytest.approx(one - value(x), abs=1e-13 * volume)
        assert mixed(x, i, j, h, g) == pytest.approx(both - one - two + value(x), abs=1e-13 * volume)
    far = x.copy()
    far[2::3] *= -1.0
    assert value(far) == difference(far, 0, 0.1) == mixed(far, 0, 1, 0.1, 0.1) == np.inf


# -- directions of fibres of each element -----------------------------------------------------------------

TWO_FAMILIES = {"mu": 3e3, "K": 1e5, "k1": 2e3, "k2": 0.8, "density": 1000.0}


def artery(fibres):
    return sx.material("holzapfel-gasser-ogden-2", **TWO_FAMILIES, fibres=fibres)


@pytest.mark.parametrize("kind", ["tetra", "hexahedron"])
def test_fibres_with_a_direction_in_each_element(kind):
    """Elements are as those of a body whose fibres have their direction everywhere."""
    mesh = box((0.1, 0.1, 0.2), (2, 1, 2), split="hexahedra" if kind == "hexahedron" else "6")
    nodes = mesh.cells[kind]
    m = len(nodes)
    a = np.random.default_rng(0).standard_normal((2, m, 3))
    body = sx.Solid(mesh.points, nodes, artery([[1, 0, 0], [0, 1, 0]]), fibres=a)
    q0, q1 = moved(body, 0.01), moved(body, 0.01, 2)
    slots = Pattern(len(q0), [nodes]).slots[0]
    for e in (0, m // 2, m - 1):
        alone = sx.Solid(mesh.points, nodes[e : e + 1], artery(a[:, e]))
        for one in (body.restrict([e]), pickle.loads(pickle.dumps(body)).restrict([e])):
            for form, nodal in {forms.GRADIENT: (q0,), forms.DISCRETE_GRADIENT: (q0, q1), forms.HESSIAN: (q0,)}.items():
                found, expected = (np.zeros(form.shape(len(q0), slots.max() + 1, 3)) for _ in range(2))
                one.add(form, nodal, found, slots[e : e + 1])
                alone.add(form, nodal, expected, slots[e : e + 1])
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * abs(expected).max(), err_msg=form.name)
            assert one.total(q0) == pytest.approx(alone.total(q0), rel=1e-12)
            assert one.local_value(0, q0[nodes[e]]) == pytest.approx(alone.total(q0), rel=1e-12)
    values = [body.local_value(e, q0[nodes[e]]) for e in range(m)]
    np.testing.assert_allclose(body.value(q0[nodes]), values, rtol=1e-12)


def test_directions_of_fibres_that_do_not_fit():
    mesh = box((0.1, 0.1, 0.2), (1, 1, 1), split="hexahedra")
    nodes = mesh.cells["hexahedron"]
    with pytest.raises(InvalidSystem, match="NeoHookean has no fibres, but is given their directions"):
        sx.Solid(mesh.points, nodes, LAWS["neo-Hooke"](), fibres=[[1.0, 0.0, 0.0]])
    two = artery([[1, 0, 0], [0, 1, 0]])
    with pytest.raises(InvalidSystem, match=r"directions of fibres have shape \(1, 3\); expected \(2, 1, 3\)"):
        sx.Solid(mesh.points, nodes, two, fibres=[[1.0, 0.0, 0.0]])
    with pytest.raises(InvalidSystem, match=r"of element 0 has no finite length above zero"):
        sx.Solid(mesh.points, nodes, two, fibres=[[[1.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]]])


def test_an_element_that_fails_is_named_with_its_own_fibres():
    """Only those that are stretched along their fibres are beyond what the law holds at."""
    law = sx.material(
        "mu/2*(I1bar - 3) + K/2*(J - 1)**2 - k/2*log(1 - max(I4 - 1, 0)**2/c)",
        mu=1.0,
        K=9.0,
        k=1.0,
        c=0.1,
        density=1.0,
        fibres=[1, 0, 0],
    )
    mesh = box((1.0, 1.0, 1.0), (3, 1, 1), split="hexahedra")
    nodes = mesh.cells["hexahedron"]
    a = np.tile([1.0, 0.0, 0.0], (3, 1))
    a[1] = [0.0, 0.0, 1.0]
    body = sx.Solid(mesh.points, nodes, law, fibres=a)
    assert np.isfinite(body.total(mesh.points * [1.1, 1.0, 1.0]))
    with pytest.raises(MaterialFailed, match="element 1 "):
        body.total(mesh.points * [1.0, 1.0, 1.3])


# -- another element ------------------------------------------------------------------------------------


def _wedge(points):
    """N = L_a (1 ∓ ζ)/2 on the triangle with the corners 0, e_1, e_2 times [−1, 1]."""
    x, y, z = points.T
    L = np.stack([1.0 - x - y, x, y], axis=1)
    slopes = np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])
    N = np.hstack([0.5 * (1.0 - z)[:, None] * L, 0.5 * (1.0 + z)[:, None] * L])
    D = np.empty((len(points), 6, 3))
    for layer, sign in ((0, -1.0), (1, 1.0)):
        part = D[:, 3 * layer : 3 * layer + 3]
        part[:, :, :2] = 0.5 * (1.0 + sign * z)[:, None, None] * slopes
        part[:, :, 2] = 0.5 * sign * L
    return N, D


def wedges():
    """Six points of quadrature do not fill a chunk."""
    triangle = [(1 / 6, 1 / 6), (2 / 3, 1 / 6), (1 / 6, 2 / 3)]
    points = np.array([(x, y, z) for x, y in triangle for z in (-(3**-0.5), 3**-0.5)])
    rule = Rule(points, np.full(6, 1.0 / 6.0))
    return Element("wedge", "wedges", 6, _wedge, rule, rule)


@pytest.mark.parametrize("law", ["neo-Hooke", "Mooney-Rivlin"])
def test_an_element_is_its_shape_functions_and_a_rule(monkeypatch, law):
    """Wedges: two for each hexahedron of a box, more than one chunk, against the same through NumPy."""
    mesh = box((0.1, 0.1, 0.2), (3, 3, 3), split="hexahedra")
    h = mesh.cells["hexahedron"]
    nodes = np.ascontiguousarray(np.vstack([h[:, [0, 1, 2, 4, 5, 6]], h[:, [0, 2, 3, 4, 6, 7]]]), np.int32)
    element, given = wedges(), LAWS[law]()
    monkeypatch.setattr(solid_module, "element_of", lambda *_: element)
    fast = sx.Solid(mesh.points, nodes, given)
    slow = sx.Solid(mesh.points, nodes, Written(given))
    assert fast.volumes.sum() == pytest.approx(0.1 * 0.1 * 0.2)
    q0, q1 = moved(fast, 2e-3), moved(fast, 2e-3, 2)
    pattern = Pattern(len(q0), [nodes])
    cases = {forms.GRADIENT: (q0,), forms.HESSIAN: (q0,), forms.DISCRETE_GRADIENT: (q0, q1), forms.SECANT: (q0,)}
    for form, nodal in cases.items():
        found, expected = (np.zeros(form.shape(len(q0), len(pattern.indices), 3)) for _ in range(2))
        fast.add(form, nodal, found, pattern.slots[0])
        slow.add(form, nodal, expected, pattern.slots[0])
        np.testing.assert_allclose(found, expected, rtol=0, atol=3e-14 * abs(expected).max(), err_msg=form.name)
    assert fast.total(q0) == pytest.approx(slow.total(q0), rel=1e-13)
