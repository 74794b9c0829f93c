"""Elements against exact solutions: patch test, manufactured solution, frequencies of a beam, a tumbling block."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.sparse.linalg import eigsh, spsolve

from reference.boxes import FORMULATIONS, WITH_CENTRES, box_of, is_linear, mixed_box, shaken
from symplex.errors import InvertedElement
from symplex.fem.actions.mass import consistent_mass, lumped_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.solids.elements import element_of, jacobians
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.mesh import Mesh
from symplex.meshes.midside_nodes import quadratic
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.trajectory import march

KINDS = FORMULATIONS
LAWS = [
    NeoHookean(3.0, 1.0, 1.0),
    SaintVenantKirchhoff(3.0, 1.0, 1.0),
    MooneyRivlin(0.3, 0.2, 4.0, 1.0),
    LinearElastic(3.0, 1.0, 1.0),
]
ONE = np.eye(3)


def law_name(law):
    return type(law).__name__


def solid_of(kind, points, nodes, law):
    """A solid of a type of cells, and a formulation if the kind names one."""
    return Solid(points, nodes, law, formulation=kind.partition(" ")[2] or None)


def block(kind, size, cells, shake=0.0):
    """A box of one type of cells, with the corners inside moved by a part of their distance."""
    linear = kind.partition(" ")[0].rstrip("0123456789")
    mesh = shaken(box_of(linear, size, cells), shake * np.array(size) / cells)
    mesh = Mesh(mesh.points, {linear: mesh.cells[linear]})
    return mesh if is_linear(kind) else quadratic(mesh, centres=kind in WITH_CENTRES)


def on_the_surface(points):
    """Which nodes of a box are on its surface."""
    low, high = points.min(axis=0), points.max(axis=0)
    return (np.isclose(points, low) | np.isclose(points, high)).any(axis=1)


def equilibrium(solids, q, free, load):
    """Move the free nodes from q to where ∇V = load, by Newton's method that halves steps into inverted elements."""
    pattern = Pattern(len(q), [solid.nodes for solid in solids])
    unknown = np.repeat(free, 3)
    for _ in range(30):
        values, gradient = pattern.zeros(3), np.zeros_like(q)
        for solid, slots in zip(solids, pattern.slots, strict=True):
            solid.add_hessian(q, slots, values)
            solid.add_gradient(q, gradient)
        residual = (gradient - load).ravel()[unknown]
        step = np.zeros(q.size)
        matrix = sp.csc_array(pattern.matrix(values))[:, unknown][unknown]
        step[unknown] = spsolve(matrix, residual)
        step = step.reshape(q.shape)
        while True:
            try:
                sum(solid.total(q - step) for solid in solids)
                break
            except InvertedElement:
                step *= 0.5
        q = q - step
        if np.abs(step).max() < 1e-13:
            return q
    raise AssertionError("no equilibrium")


# -- patch test -------------------------------------------------------------------------------------------------------


WITH_MEAN_DILATATION = [(kind, law) for kind in KINDS for law in LAWS]
# Its tangents take long to compile.
WITH_MEAN_DILATATION += [
    pytest.param(f"{kind} mean-dilatation", LAWS[2], marks=pytest.mark.slow) for kind in ("hexahedron", "tetra10")
]


@pytest.mark.parametrize(("kind", "law"), WITH_MEAN_DILATATION, ids=lambda x: x if isinstance(x, str) else law_name(x))
def test_patch(kind, law):
    """A uniform deformation of the surface is the deformation everywhere, on an irregular mesh."""
    mesh = block(kind, (1.0, 1.2, 0.8), (2, 2, 2), shake=0.2)
    require_patch(mesh, [solid_of(kind, mesh.points, mesh.cells[kind.partition(" ")[0]], law)])


@pytest.mark.parametrize("law", [LAWS[0], LAWS[3]], ids=law_name)
@pytest.mark.parametrize("order", ["linear", "quadratic"])
def test_patch_of_several_types_of_elements(order, law):
    """Hexahedra, wedges, pyramids and tetrahedra in one irregular mesh."""
    mesh = shaken(mixed_box(), 0.15)
    mesh = quadratic(mesh) if order == "quadratic" else mesh
    require_patch(mesh, [Solid(mesh.points, mesh.cells[kind], law) for kind in mesh.volume_types])


def require_patch(mesh, solids):
    points = mesh.points
    F = ONE + np.array([[0.1, 0.05, 0.0], [0.0, -0.06, 0.08], [0.03, 0.0, 0.02]])
    free = ~on_the_surface(points)
    assert free.any()
    q = points @ F.T
    q[free] = points[free] @ (ONE + 0.5 * (F - ONE)).T  # a start that is not the solution
    assert np.abs(q - points @ F.T).max() > 1e-3
    q = equilibrium(solids, q, free, 0.0)
    np.testing.assert_allclose(q, points @ F.T, atol=1e-13 * np.ptp(points))
    sigma = np.concatenate([solid.cauchy(q) for solid in solids])
    np.testing.assert_allclose(sigma, np.broadcast_to(sigma[0], sigma.shape), atol=1e-12)


# -- manufactured solution --------------------------------------------------------------------------------------------


class Manufactured:
    """The displacement u = a sin(k·X) (one wave per component) with the body force that it needs, b = −Div P."""

    amplitude = 0.05
    waves = np.array([[1.0, 0.7, -0.5], [0.4, 1.1, 0.8], [-0.6, 0.9, 1.0]]) * 1.6
    phases = np.array([0.3, 1.0, -0.4])

    def __init__(self, law):
        self.law = law

    def displacement(self, X):
        return self.amplitude * np.sin(X @ self.waves.T + self.phases)

    def gradient(self, X):
        """∂u_i/∂X_J [p, 3, 3]."""
        return self.amplitude * np.cos(X @ self.waves.T + self.phases)[:, :, None] * self.waves

    def force(self, X):
        """b_i = −(F_iI ℂ_IJKL F_kK + δ_ik S_JL) ∂²u_k/∂X_J∂X_L, or −ℂ_iJkL ∂²u_k/∂X_J∂X_L of the linear law."""
        H = -np.einsum("pk,kJ,kL->pkJL", self.displacement(X), self.waves, self.waves)
        F = ONE + self.gradient(X)
        if not self.law.objective:
            return -np.einsum("piJkL,pkJL->pi", self.law.tangent(F), H)
        C = np.einsum("pkI,pkJ->pIJ", F, F)
        S, T = self.law.stress(C), self.law.tangent(C)
        material = np.einsum("piI,pIJKL,pkK,pkJL->pi", F, T, F, H, optimize=True)
        return -material - np.einsum("pJL,piJL->pi", S, H)

    def errors(self, kind, cells):
        """The errors of the finite-element solution in L² and H¹."""
        mesh = block(kind, (1.0, 1.0, 1.0), (cells,) * 3)
        points, nodes = mesh.points, mesh.cells[kind.partition(" ")[0]]
        element = element_of("the test", nodes)
        N, slopes = element.shapes(element.mass.points)
        J = jacobians(points, nodes, slopes)
        w = np.linalg.det(J) * element.mass.weights
        G = np.einsum("gaj,egji->egai", slopes, np.linalg.inv(J))
        X = np.einsum("ga,eai->egi", N, points[nodes])
        m, g = w.shape

        b = self.force(X.reshape(-1, 3)).reshape(m, g, 3)
        load = np.zeros_like(points)
        np.add.at(load, nodes, np.einsum("eg,ga,egi->eai", w, N, b))
        q = points + self.displacement(points)
        q = equilibrium([solid_of(kind, points, nodes, self.law)], q, ~on_the_surface(points), load)

        u = (q - points)[nodes]
        difference = np.einsum("ga,eai->egi", N, u) - self.displacement(X.reshape(-1, 3)).reshape(m, g, 3)
        slope = np.einsum("egaJ,eai->egiJ", G, u) - self.gradient(X.reshape(-1, 3)).reshape(m, g, 3, 3)
        return np.sqrt([np.einsum("eg,egi->", w, difference**2), np.einsum("eg,egiJ->", w, slope**2)])


@pytest.mark.parametrize(
    ("kind", "cells", "law"),
    [
        ("tetra", 4, LAWS[0]),
        ("tetra", 4, LAWS[2]),
        ("hexahedron", 4, LAWS[0]),
        ("hexahedron", 4, LAWS[1]),
        ("hexahedron", 4, LAWS[2]),
        ("hexahedron", 4, LAWS[3]),
        ("hexahedron full", 4, LAWS[0]),
        ("hexahedron full", 4, LAWS[2]),
        ("tetra10", 2, LAWS[1]),
        ("tetra10", 2, LAWS[2]),
        ("wedge", 4, LAWS[0]),
        ("pyramid", 3, LAWS[0]),
        ("hexahedron20", 4, LAWS[0]),
        ("hexahedron20 reduced", 4, LAWS[0]),
        ("hexahedron27", 2, LAWS[0]),
        ("wedge15", 2, LAWS[0]),
        ("wedge18", 2, LAWS[0]),
        ("pyramid13", 2, LAWS[0]),
        ("hexahedron mean-dilatation", 4, LAWS[2]),
    ],
)
@pytest.mark.slow
def test_rates_for_a_manufactured_solution(kind, cells, law):
    """Errors fall as h² and h in L² and H¹ for linear elements, as h³ and h² for quadratic ones."""
    exact = Manufactured(law)
    coarse, fine = exact.errors(kind, cells), exact.errors(kind, 2 * cells)
    expected = np.array([2.0, 1.0] if is_linear(kind) else [3.0, 2.0])
    rates = np.log2(coarse / fine)
    assert fine[0] < 0.05 * Manufactured.amplitude
    assert np.all(np.abs(rates - expected) < 0.1)


@pytest.mark.slow
def test_one_change_of_volume_in_quadratic_tetrahedra_costs_an_order():
    """One pressure for a quadratic element: errors tend to fall as h² and h, as those of P2-P0 elements do."""
    exact = Manufactured(LAWS[2])
    errors = {n: exact.errors("tetra10 mean-dilatation", n) for n in (2, 3, 4, 6)}
    coarse, fine = (np.log2(errors[n] / errors[2 * n]) for n in (2, 3))
    assert np.all(coarse < fine)
    assert np.all(fine < [2.0, 1.0])
    assert np.all(fine > [1.65, 0.8])


# -- frequencies of a beam --------------------------------------------------------------------------------------------

LENGTH, HEIGHT, WIDTH = 10.0, 1.0, 0.7
YOUNG, DENSITY = 200.0, 2.0
HOOKE = {"E": YOUNG, "nu": 0.0, "density": DENSITY}  # without lateral contraction a clamped end bends as in theory


def frequencies(kind, cells, law, mass, n=8):
    """The n lowest natural frequencies in rad/s of a cantilever along x."""
    mesh = block(kind, (LENGTH, HEIGHT, WIDTH), cells)
    points, nodes = mesh.points, mesh.cells[kind.partition(" ")[0]]
    solid = solid_of(kind, points, nodes, law)
    pattern = Pattern(len(points), [nodes])
    values = pattern.zeros(3)
    solid.add_hessian(points, pattern.slots[0], values)
    free = np.repeat(points[:, 0] > 1e-9, 3)
    K = sp.csc_array(pattern.matrix(values))[:, free][free]
    M = sp.csc_array(mass(points, nodes, DENSITY, len(points))) if mass is consistent_mass else None
    if M is None:
        M = sp.csc_array(sp.diags_array(lumped_mass(points, nodes, DENSITY, len(points))))
    M = sp.csc_array(sp.kron(M, ONE))[:, free][free]
    return np.sqrt(eigsh(K, k=n, M=M, sigma=0.0, return_eigenvectors=False)[::-1])


def timoshenko(height, width, n):
    """The n lowest bending frequencies in rad/s of the cantilever by Timoshenko's theory (with shear factor 5/6).

    With w, ψ, the moment and the shear force as y: y' = A y, and a frequency is where moment and shear force vanish at
    the free end for some w = ψ = 0 at the other.
    """
    area, inertia = height * width, width * height**3 / 12
    shear = 5 / 6 * YOUNG / 2 * area

    def end(omega):
        A = np.array(
            [
                [0, 1, 0, 1 / shear],
                [0, 0, 1 / (YOUNG * inertia), 0],
                [0, -DENSITY * inertia * omega**2, 0, -1],
                [-DENSITY * area * omega**2, 0, 0, 0],
            ]
        )
        return np.linalg.det(expm(A * LENGTH)[2:, 2:])

    found, step = [], 0.02 * euler_bernoulli(height, 1)[0]
    omega = step
    while len(found) < n:
        if end(omega) * end(omega + step) < 0:
            found.append(brentq(end, omega, omega + step))
        omega += step
    return np.array(found)


def euler_bernoulli(height, n):
    """ω = (βL)²/L² √(E I/ρ A) with cos βL cosh βL = −1."""
    guesses = [1.8751, 4.6941, 7.8548]
    roots = [brentq(lambda x: np.cos(x) + 1 / np.cosh(x), guess - 0.1, guess + 0.1) for guess in guesses]
    return np.array(roots[:n]) ** 2 / LENGTH**2 * np.sqrt(YOUNG * height**2 / 12 / DENSITY)


def test_theories_of_beams_agree_for_slender_ones():
    np.testing.assert_allclose(timoshenko(0.05, 0.05, 2), euler_bernoulli(0.05, 2), rtol=1e-3)
    assert np.all(timoshenko(HEIGHT, WIDTH, 2) < euler_bernoulli(HEIGHT, 2))


@pytest.mark.parametrize("law", [NeoHookean, SaintVenantKirchhoff, LinearElastic], ids=lambda law: law.__name__)
@pytest.mark.parametrize("mass", [consistent_mass, lumped_mass], ids=lambda mass: mass.__name__)
def test_frequencies_of_a_cantilever(law, mass):
    """Bending in both planes by Timoshenko's theory, and stretching, which is exact: ω = (π/2) √(E/ρ)/L."""
    found = frequencies("tetra10", (20, 2, 2), law.from_young(**HOOKE), mass)
    flat, valid = timoshenko(WIDTH, HEIGHT, 2), timoshenko(HEIGHT, WIDTH, 2)
    stretch = np.pi / 2 * np.sqrt(YOUNG / DENSITY) / LENGTH
    for expected in (flat[0], valid[0], flat[1], stretch):
        assert np.abs(found / expected - 1).min() < 0.0015


def test_frequencies_of_linear_elements_converge_from_above():
    """Full integration of linear elements is too stiff in bending (they lock), by an error that falls with h²."""
    law = NeoHookean.from_young(**HOOKE)
    expected = timoshenko(WIDTH, HEIGHT, 1)[0]
    for kind, coarse, most in (("hexahedron full", (20, 2, 2), 0.15), ("tetra", (20, 2, 2), 0.5)):
        first = frequencies(kind, coarse, law, consistent_mass, n=1)[0] / expected - 1
        second = frequencies(kind, tuple(2 * c for c in coarse), law, consistent_mass, n=1)[0] / expected - 1
        assert 0 < second < first < most
        assert 1.6 < np.log2(first / second) < 2.4


def test_frequencies_of_linear_hexahedra_that_do_not_lock():
    """One element through the thickness has the first frequencies of both planes, by either mass."""
    law = NeoHookean.from_young(**HOOKE)
    expected = np.array([timoshenko(WIDTH, HEIGHT, 1)[0], timoshenko(HEIGHT, WIDTH, 1)[0]])
    for mass, low, high in ((consistent_mass, 1.5e-3, 2.0e-3), (lumped_mass, -5.8e-3, -4.0e-3)):
        errors = np.sort(frequencies("hexahedron", (10, 1, 1), law, mass, n=2)) / expected - 1.0
        assert np.all((low < errors) & (errors < high))


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_modes_of_a_free_body(kind, cells):
    """Six are rigid motions, and cost no energy; the seventh does. Of one element, too, but of a reduced one."""
    mesh = block(kind, (1.0, 0.8, 0.6), (2, 2, 2), shake=0.2)
    points, nodes = mesh.points, mesh.cells[kind.partition(" ")[0]]
    if cells == 1:
        used, nodes = np.unique(nodes[:1], return_inverse=True)
        points, nodes = points[used], nodes.reshape(1, -1).astype(np.int32)
    pattern = Pattern(len(points), [nodes])
    values = pattern.zeros(3)
    solid_of(kind, points, nodes, LAWS[2]).add_hessian(points, pattern.slots[0], values)
    eigenvalues = np.linalg.eigvalsh(pattern.matrix(values).toarray())
    zero = 12 if cells == 1 and kind.endswith("reduced") else 6
    assert np.abs(eigenvalues[:zero]).max() < 1e-13 * eigenvalues[-1]
    assert eigenvalues[zero] > 1e-4 * eigenvalues[-1]


@pytest.mark.parametrize(("cells", "none"), [((4, 1, 1), False), ((4, 1, 2), True)])
def test_zero_energy_modes_of_clamped_reduced_elements(cells, none):
    """A row of single elements has some though one end is clamped; with two side by side there is none."""
    mesh = block("hexahedron20 reduced", (4.0, 1.0, 0.7), cells)
    points, nodes = mesh.points, mesh.cells["hexahedron20"]
    pattern = Pattern(len(points), [nodes])
    values = pattern.zeros(3)
    solid_of("hexahedron20 reduced", points, nodes, LAWS[0]).add_hessian(points, pattern.slots[0], values)
    free = np.repeat(points[:, 0] > 1e-9, 3)
    eigenvalues = np.linalg.eigvalsh(pattern.matrix(values).toarray()[free][:, free])
    assert (eigenvalues[0] > 1e-6 * eigenvalues[-1]) == none
    assert none or np.abs(eigenvalues[0]) < 1e-13 * eigenvalues[-1]


# -- a tumbling block -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "law"), WITH_MEAN_DILATATION, ids=lambda x: x if isinstance(x, str) else law_name(x))
def test_a_tumbling_block_keeps_its_energy_and_momenta(kind, law):
    """With the discrete stress of each law at each point, in large strains; the midpoint rule does not."""
    mesh = block(kind, (1.0, 0.8, 0.6), (1, 1, 1))
    points, nodes = mesh.points, mesh.cells[kind.partition(" ")[0]]
    system = System(
        lumped_mass(points, nodes, law.density, len(points)), {"strain": solid_of(kind, points, nodes, law)}
    )
    X = points - points.mean(axis=0)
    v = np.cross([0.3, -0.2, 0.5], X) + 0.4 * X * [1.0, -1.0, 0.5] + [0.1, 0.0, 0.2]
    state = system.state(points, v)
    energy, turning = system.energies_of(state)["total"], system.angular_momentum(state)
    strained = False
    for now in march(system, EnergyMomentum(dt=0.1), state, np.linspace(0.0, 5.0, 51)):
        parts = system.energies_of(now)
        assert abs(parts["total"] - energy) < 1e-12 * energy
        assert np.abs(system.momentum(now) - system.momentum(state)).max() < 1e-13
        if law.objective:
            assert np.abs(system.angular_momentum(now) - turning).max() < 1e-13
        strained |= parts["strain"] > 0.1 * energy
    assert strained
    if not law.objective:
        assert np.abs(system.angular_momentum(now) - turning).max() > 1e-3
