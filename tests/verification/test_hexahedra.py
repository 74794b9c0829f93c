"""Linear hexahedra that do not lock: beams, distorted meshes, nearly incompressible rubber, modes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import symplex as sx
from symplex.errors import InvalidSystem, InvertedElement
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.zero_energy import zero_energy_elements, zero_energy_reason
from symplex.meshes.generate import box

# -- equilibria -------------------------------------------------------------------------------------------------------


def tangent(solid, pattern, q):
    values = pattern.zeros(3)
    solid.add_hessian(q, pattern.slots[0], values)
    return sp.csc_array(pattern.matrix(values))


def newton_step(solid, pattern, q, free, load):
    """The step to where ∇V = load if V were quadratic."""
    residual = np.zeros_like(q)
    solid.add_gradient(q, residual)
    step = np.zeros(q.size)
    step[free] = spsolve(tangent(solid, pattern, q)[free][:, free], (load - residual).ravel()[free])
    return step.reshape(q.shape)


def equilibrium(solid, fixed, load):
    """Positions under a load [n, 3] by one linear step."""
    q = solid.points
    return q + newton_step(solid, Pattern(len(q), [solid.nodes]), q, ~fixed.ravel(), load)


def newton(solid, pattern, q, free, load):
    """Positions where ∇V = load from q on, or None if twelve steps do not lead there."""
    for _ in range(12):
        step = newton_step(solid, pattern, q, free, load)
        if not np.isfinite(step).all():
            return None
        q = q + step
        try:
            solid.total(q)
        except InvertedElement:
            return None
        if np.abs(step).max() < 1e-10 * np.ptp(q):
            return q
    return None


def large_equilibrium(solid, fixed, load):
    """Positions under a load [n, 3] in large strains, by load steps that are halved where Newton's method fails."""
    q, free = solid.points, ~fixed.ravel()
    pattern = Pattern(len(q), [solid.nodes])
    borne, step = 0.0, 0.125
    while borne < 1.0:
        target = min(borne + step, 1.0)
        found = newton(solid, pattern, q, free, target * load)
        if found is None:
            step *= 0.5
            assert step > 1e-4, "no equilibrium"
        else:
            q, borne, step = found, target, 1.5 * step
    return q


def share(points, where):
    """How a force on a rectangle of x = const. or a line of it is shared by its nodes: by the trapezoidal rule."""
    weights = np.zeros(len(points))
    weights[where] = 1.0
    for i in range(3):
        x = points[where, i]
        if np.ptp(x) > 0.0:
            weights[where] *= np.where(np.isclose(x, x.min()) | np.isclose(x, x.max()), 0.5, 1.0)
    return weights / weights.sum()


def cantilever(length, cells, nu, formulation=None, young=1e7):
    """Deflection of a beam of 1 m × 1 m under a force of 1 N at its end, in parts of that of Timoshenko's beam."""
    mesh = box((length, 1.0, 1.0), cells, split="hexahedra")
    points, law = mesh.points, sx.NeoHookean.from_young(young, nu, 1.0)
    solid = sx.Solid(points, mesh.cells["hexahedron"], law, formulation=formulation)
    root, end = points[:, 0] == 0.0, points[:, 0] == length
    fixed = np.zeros(points.shape, bool)  # at its root free to contract
    fixed[root, 0] = fixed[root & (points[:, 1] == 0.0), 1] = fixed[root & (points[:, 2] == 0.0), 2] = True
    force = share(points, end)
    load = np.zeros_like(points)
    load[:, 1] = force - share(points, root)
    deflection = force @ (equilibrium(solid, fixed, load) - points)[:, 1]
    shear = young / (2.0 * (1.0 + nu))
    return deflection / (4.0 * length**3 / young + 1.2 * length / shear)


@pytest.mark.parametrize("nu", [0.0, 0.3, 0.49, 0.4999])
@pytest.mark.parametrize(("length", "cells"), [(10.0, (10, 1, 1)), (100.0, (20, 1, 1))])
def test_bending_by_one_element_through_the_thickness(length, cells, nu):
    """A force at the end bends as in theory, but for the steps of the moment; elements of full integration lock."""
    assert 0.988 < cantilever(length, cells, nu) < 1.0
    assert cantilever(length, cells, nu, "full") < 0.67


# -- MacNeal and Harder's beams (1985) ------------------------------------------------------------------------------


def straight_beam(shape):
    """Nodes of 6 elements of 1 × 0.2 × 0.1: regular, parallelograms or trapezia of 45 degrees."""
    mesh = box((6.0, 0.2, 0.1), (6, 1, 1), split="hexahedra")
    points = mesh.points.copy()
    column = np.rint(points[:, 0]).astype(int)
    sign = {"regular": 0.0, "parallelograms": 1.0, "trapezia": np.where(column % 2 == 1, 1.0, -1.0)}[shape]
    inside = (column > 0) & (column < 6)
    points[:, 0] += inside * sign * np.where(points[:, 1] > 0.1, 0.1, -0.1)
    return points, mesh.cells["hexahedron"]


@pytest.mark.parametrize(
    ("shape", "in_plane", "out_of_plane"),
    [("regular", 0.981, 0.981), ("parallelograms", 0.624, 0.586), ("trapezia", 0.047, 0.031)],
)
def test_straight_beam(shape, in_plane, out_of_plane):
    """As other elements of 8 nodes that pass the patch test; what distorted ones lose is a theorem of MacNeal."""
    points, cells = straight_beam(shape)
    solid = sx.Solid(points, cells, sx.LinearElastic.from_young(1e7, 0.3, 1.0))
    root, end = points[:, 0] == 0.0, points[:, 0] == 6.0
    fixed = np.repeat(root[:, None], 3, axis=1)
    for axis, exact, expected in ((1, 0.1081, in_plane), (2, 0.4321, out_of_plane)):
        load = np.zeros_like(points)
        load[end, axis] = 0.25
        tip = (equilibrium(solid, fixed, load) - points)[end, axis].mean()
        assert tip / exact == pytest.approx(expected, abs=1e-3)


def test_twisted_beam():
    """A beam of 12 × 1.1 × 0.32 that is twisted by 90 degrees: within one per cent, 12 × 2 elements, one thick."""
    mesh = box((12.0, 1.1, 0.32), (12, 2, 1), split="hexahedra")
    x, y, z = (mesh.points - [0.0, 0.55, 0.16]).T
    c, s = np.cos(x * np.pi / 24.0), np.sin(x * np.pi / 24.0)
    points = np.column_stack([x, c * y - s * z, s * y + c * z])
    solid = sx.Solid(points, mesh.cells["hexahedron"], sx.LinearElastic.from_young(29e6, 0.22, 1.0))
    fixed = np.repeat((x == 0.0)[:, None], 3, axis=1)
    force = share(mesh.points, x == 12.0)
    for axis, exact in ((1, 0.001754), (2, 0.005424)):
        load = np.zeros_like(points)
        load[:, axis] = force
        assert force @ (equilibrium(solid, fixed, load) - points)[:, axis] == pytest.approx(exact, rel=0.01)


# -- Cook's membrane --------------------------------------------------------------------------------------------------


def cook(n, formulation=None):
    """Rise in mm of the upper corner of the tapered panel, plane strain, under 100 N in large strains."""
    mesh = box((1.0, 1.0, 1.0), (n, n, 1), split="hexahedra")
    x, y, z = mesh.points.T
    points = np.column_stack([48.0 * x, 44.0 * x + y * (44.0 - 28.0 * x), z])
    law = sx.NeoHookean.from_young(240.565, 0.4999, 1.0)
    solid = sx.Solid(points, mesh.cells["hexahedron"], law, formulation=formulation)
    fixed = np.repeat((x == 0.0)[:, None], 3, axis=1)
    fixed[:, 2] = True
    load = np.zeros_like(points)
    load[:, 1] = 100.0 * share(mesh.points, x == 1.0)
    q = large_equilibrium(solid, fixed, load)
    return (q - points)[(x == 1.0) & (y == 1.0), 1].mean()


@pytest.mark.slow
def test_cook_nearly_incompressible():
    """Towards 6.906 from below; full integration is far from it."""
    assert cook(4) == pytest.approx(6.44, abs=0.01)
    assert cook(8) == pytest.approx(6.70, abs=0.01)
    assert cook(16) == pytest.approx(6.83, abs=0.01)
    assert cook(16, "full") < 3.0


@pytest.mark.slow
def test_cook_by_mean_dilatation():
    """Far from the coarse meshes' error of full integration, but it bends as that does."""
    assert cook(8, "full") < cook(8, "mean-dilatation") < 6.906


# -- modes, and what is conserved -----------------------------------------------------------------------------------


def distorted(seed=0):
    """Points of one hexahedron of 1 m, its corners moved by up to 0.2 m."""
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    noise = np.random.default_rng(seed).uniform(-0.2, 0.2, mesh.points.shape)
    return mesh.points + noise, mesh.cells["hexahedron"]


@pytest.mark.parametrize("nu", [0.0, 0.4999])
def test_an_element_has_six_rigid_modes_and_no_other_soft_ones(nu):
    points, cells = distorted()
    solid = sx.Solid(points, cells, sx.NeoHookean.from_young(1.0, nu, 1.0))
    eigenvalues = np.linalg.eigvalsh(solid.hessian(points[solid.nodes])[0])
    assert np.abs(eigenvalues[:6]).max() < 1e-15 * max(1.0, eigenvalues[-1])
    assert eigenvalues[6] > 0.02
    full = sx.Solid(points, cells, solid.material, formulation="full")
    assert np.linalg.eigvalsh(full.hessian(points[solid.nodes])[0])[6] > eigenvalues[6]


def test_affine_deformations_have_no_hourglass_energy():
    points, cells = distorted()
    law = sx.MooneyRivlin(0.3, 0.2, 4.0, 1.0)
    q = points @ (np.eye(3) + np.random.default_rng(1).uniform(-0.3, 0.3, (3, 3))).T
    stabilized, full = (sx.Solid(points, cells, law, formulation=name) for name in ("stabilized", "full"))
    assert stabilized.total(q) == pytest.approx(full.total(q), rel=1e-13)
    for form in ("deformation_gradients", "jacobians", "first_piola", "cauchy"):
        np.testing.assert_allclose(getattr(stabilized, form)(q), getattr(full, form)(q), rtol=1e-12, atol=1e-13)
    f = stabilized.gradient(q[stabilized.nodes])
    np.testing.assert_allclose(f, full.gradient(q[full.nodes]), atol=1e-13)


@pytest.mark.parametrize(
    "law",
    [
        lambda: sx.NeoHookean.from_young(1.0, 0.3, 1.0),
        lambda: sx.material("gent", mu=0.4, Jm=50.0, K=4.0, density=1.0),
    ],
    ids=["neo-Hooke", "Gent"],
)
def test_energy_and_momenta_over_200_large_steps(law):
    """A block of distorted elements that tumbles and wobbles; the error is that of Newton's method."""
    mesh = box((1.0, 0.8, 2.0), (2, 2, 4), split="hexahedra")
    points = mesh.points + np.random.default_rng(3).uniform(-0.05, 0.05, mesh.points.shape)
    solid = sx.Solid(points, mesh.cells["hexahedron"], law())
    system = sx.System(sx.lumped_mass(points, solid.nodes, 1.0, len(points)), {"block": solid})
    X = points - points.mean(axis=0)
    state = system.state(points, np.cross([0.3, -0.2, 0.4], X) + 0.2 * X * [1.0, -1.0, 0.5])
    energy, turning = system.energies_of(state)["total"], system.angular_momentum(state)
    largest = 0.0
    for now in sx.march(system, sx.EnergyMomentum(dt=0.2), state, 0.2 * np.arange(201)):
        parts = system.energies_of(now)
        largest = max(largest, parts["block"])
        assert abs(parts["total"] - energy) < 1e-12 * energy
        assert np.abs(system.angular_momentum(now) - turning).max() < 1e-12
    assert largest > 0.1 * energy


# -- refusals ---------------------------------------------------------------------------------------------------------


def test_other_elements_cannot_be_stabilized():
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="6")
    with pytest.raises(InvalidSystem, match='hexahedra of 8 nodes can be stabilized, tetrahedra cannot; take "full"'):
        sx.Solid(mesh.points, mesh.cells["tetra"], sx.NeoHookean(1.0, 1.0, 1.0), formulation="stabilized")


def test_the_mean_deformation_is_what_must_not_be_inverted():
    points, cells = distorted()
    solid = sx.Solid(points, cells, sx.NeoHookean(1.0, 1.0, 1.0))
    q = points * [1.0, 1.0, -1.0]
    with pytest.raises(InvertedElement, match=r"element 0 .* is inverted: det F = -1, and must be positive"):
        solid.total(q)
    assert solid.local_value(0, q[solid.nodes[0]]) == np.inf


def test_what_has_no_mean_dilatation():
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="6")
    with pytest.raises(InvalidSystem, match=r"dilatation of linear tetrahedra is uniform.* take quadratic tetrahedra"):
        sx.Solid(mesh.points, mesh.cells["tetra"], sx.NeoHookean(1.0, 1.0, 1.0), formulation="mean-dilatation")
    points, cells = distorted()
    with pytest.raises(InvalidSystem, match="LinearElastic is a law of small strains, and has no mean dilatation"):
        sx.Solid(points, cells, sx.LinearElastic(1.0, 1.0, 1.0), formulation="mean-dilatation")
    solid = sx.Solid(points, cells, sx.NeoHookean(1.0, 1.0, 1.0), formulation="mean-dilatation")
    assert not solid.has("third")
    with pytest.raises(InvalidSystem, match="no third derivative"):
        solid.third(points[solid.nodes], points[solid.nodes])


class Fluid(sx.Material):
    """W = (tr E)²/2, which does not resist shear."""

    density = 1.0

    def energy_density(self, C):
        return 0.125 * (np.trace(C, axis1=1, axis2=2) - 3.0) ** 2

    def stress(self, C):
        return 0.5 * (np.trace(C, axis1=1, axis2=2) - 3.0)[:, None, None] * np.eye(3)

    def tangent(self, C):
        return np.broadcast_to(np.einsum("ij,kl->ijkl", np.eye(3), np.eye(3)), (len(C), 3, 3, 3, 3))


def test_an_undeformed_law_without_stiffness_cannot_stabilize():
    points, cells = distorted()
    Fluid().verify()
    with pytest.raises(InvalidSystem, match=r'Fluid has no positive stiffness .* take formulation = "full"'):
        sx.Solid(points, cells, Fluid())
    assert sx.Solid(points, cells, Fluid(), formulation="full").total(points) == pytest.approx(0.0, abs=1e-15)


def test_fibres_of_each_element_in_all_formulations():
    mesh = box((2.0, 1.0, 1.0), (2, 1, 1), split="hexahedra")
    law = sx.material(
        "mu/2*(I1bar - 3) + K/2*(J - 1)**2 + k*(I4 - 1)**2", mu=1.0, K=2.0, k=3.0, density=1.0, fibres=[1, 0, 0]
    )
    a = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, 1.0]])
    q = mesh.points + np.random.default_rng(0).uniform(-0.05, 0.05, mesh.points.shape)
    for name in ("full", "stabilized", "mean-dilatation"):
        body = sx.Solid(mesh.points, mesh.cells["hexahedron"], law, fibres=a, formulation=name)
        for e in (0, 1):
            alone = sx.Solid(mesh.points, body.nodes[[e]], law, fibres=a[[e]], formulation=name)
            assert body.restrict([e]).total(q) == pytest.approx(alone.total(q), rel=1e-13)
            assert body.value(q[body.nodes])[e] == pytest.approx(alone.total(q), rel=1e-12)


def test_parts_of_a_body_keep_their_formulation():
    mesh = box((2.0, 1.0, 1.0), (2, 1, 1), split="hexahedra")
    for name in ("full", "stabilized", "mean-dilatation"):
        solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], sx.NeoHookean(1.0, 1.0, 1.0), formulation=name)
        assert solid.restrict([1]).formulation == name


# -- zero-energy modes of reduced integration ------------------------------------------------------------------------


@pytest.mark.parametrize(("cells", "formulation", "strained"), [((1, 1, 1), "reduced", 6), ((1, 1, 1), "full", 0)])
def test_motions_that_reduced_integration_does_not_see_are_named(cells, formulation, strained):
    mesh = sx.quadratic(box((0.2, 0.1, 0.1), cells, split="hexahedra"))
    solid = Solid(mesh.points, mesh.cells["hexahedron20"], sx.NeoHookean(1e9, 1e9, 1000.0), formulation=formulation)
    squares, shapes = np.linalg.eigh(np.asarray(solid.hessian(mesh.points[solid.nodes]))[0])
    none = np.flatnonzero(np.abs(squares) < 1e-10 * squares[-1])
    assert len(none) == 6 + strained
    for mode in none:  # of one frequency any mixture is found: none of all twelve is rigid
        motion = np.empty(mesh.points.shape)
        motion[solid.nodes[0]] = shapes[:, mode].reshape(20, 3)
        reason = zero_energy_reason({"block": solid}, mesh.points, motion)
        assert (reason is not None and "1 of 'block'" in reason) == (strained > 0)
    rigid = 2.0 + np.cross([0.3, -0.2, 0.5], mesh.points)
    assert zero_energy_elements(solid, mesh.points, rigid) == 0
