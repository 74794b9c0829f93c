"""Damping of beams and shells by the rates of their strains: what it does to modes, to rigid motions, and in runs."""

import numpy as np
import pytest

import symplex as sx
from reference.surfaces import distorted, sheet, surface
from symplex.fem.structures import BeamProperties, ViscousMeasures, beams, shells

SOFT = BeamProperties(1e4, (1e4, 8e3), (500.0, 300.0), 400.0, 1.0, (0.5, 0.3))


def bar(n=6, bent=False):
    """A beam of 10 m along x, or along an arc."""
    part = np.linspace(0.0, 1.0, n + 1)
    points = np.outer(10.0 * part, [1.0, 0.0, 0.0])
    if bent:
        points = 6.0 * np.column_stack([np.sin(part), 1.0 - np.cos(part), 0.2 * part])
    ends = np.arange(n + 1, dtype=np.int32)
    return beams(sx.Mesh(points, {"line": np.column_stack([ends[:-1], ends[1:]])}), SOFT, (0.0, 0.0, 1.0))


def plate():
    built = shells(surface(3, 3, distorted, False), sheet(0.05))
    return built


def loads_of(built, time):
    """The damping of beams, or that of all energies of shells, by name."""
    if hasattr(built, "viscous_stiffness"):
        return {"damping": ViscousMeasures(built.energy, time * built.viscous_stiffness)}
    return {name: ViscousMeasures(energy, time * energy.stiffness) for name, energy in built.energies.items()}


def energies_of(built):
    return getattr(built, "energies", None) or {"beam": built.energy}


@pytest.mark.parametrize("built", [bar(), bar(bent=True), plate()], ids=["beam", "arc", "shell"])
def test_modes_have_the_ratio_of_rayleigh(built):
    """ζ = β ω/2 of all modes about the unstressed state."""
    fixed = built.fixed([0, 1])
    system = sx.System(built.mass, energies_of(built), frames=built.frames, fixed=fixed, loads=loads_of(built, 0.01))
    found = sx.modes.complex_modes(system, system.state(built.points), 6)
    np.testing.assert_allclose(found.ratios, 0.005 * np.abs(found.eigenvalues), rtol=1e-6)


@pytest.mark.parametrize("built", [bar(bent=True), plate()], ids=["arc", "shell"])
def test_rigid_motions_are_free_and_derivatives_are_those_of_differences(built):
    rng = np.random.default_rng(3)
    (load, *_) = loads_of(built, 0.1).values()
    q = built.points + 0.05 * rng.standard_normal(built.points.shape)
    v = rng.standard_normal(q.shape)
    forces = load(0.0, q, v)
    size = np.abs(forces).max()
    assert size > 0.0
    assert np.abs(forces.sum(axis=0)).max() < 1e-10 * size
    assert np.abs(np.cross(q, forces).sum(axis=0)).max() < 1e-9 * size
    assert np.vdot(forces, v) < 0.0
    rigid = np.cross([1.0, -2.0, 0.5], q) + np.array([3.0, 1.0, 0.0])
    assert np.abs(load(0.0, q, rigid)).max() < 1e-10 * size
    h, way = 1e-6, rng.standard_normal(q.shape)
    for matrices, dq, dv in zip(
        load.derivatives(0.0, q[load.nodes], v[load.nodes]), (way, 0.0), (0.0, way), strict=True
    ):
        ends = [load(0.0, q + s * h * dq, v + s * h * dv) for s in (1.0, -1.0)]
        predicted, local = np.zeros_like(q), way[load.nodes].reshape(len(load.nodes), -1)
        np.add.at(predicted, load.nodes, np.einsum("mab,mb->ma", matrices, local).reshape(*load.nodes.shape, 3))
        np.testing.assert_allclose(predicted, (ends[0] - ends[1]) / (2.0 * h), atol=1e-7 * np.abs(predicted).max())


@pytest.mark.parametrize("built", [bar(), plate()], ids=["beam", "shell"])
def test_energy_momentum_balances_its_work_in_free_flight(built):
    """The sum of energy and work stays, both momenta do, and what bends comes to rest in steady rotation."""
    spin, x = np.array([0.2, 0.1, 0.6]), built.frames.centers(built.points)
    v = np.cross(spin, x) + np.array([0.3, 0.0, 0.1])
    v[:, 2] += np.sin(2.0 * np.pi * x[:, 0] / np.ptp(x[:, 0]))
    loads = loads_of(built, 0.05)
    system = sx.System(built.mass, energies_of(built), frames=built.frames, loads=loads)
    start = system.state(built.points, built.frames.velocities(built.points, v, spin))
    motion = sx.EnergyMomentum(0.02).start(system, start)
    total, works = system.energies_of(start)["total"], [0.0]
    for t in 0.2 * np.arange(1, 11):
        state = motion.advance(t)
        energies = motion.energies(state)
        works.append(sum(energies[f"work_{name}"] for name in loads))
        assert abs(energies["balance"] - total) < 1e-11 * total
    assert np.all(np.diff(works) < 0.0)
    assert works[-1] < -0.02 * total
    for of in (system.momentum, system.angular_momentum):
        np.testing.assert_allclose(of(state), of(start), atol=1e-11 * np.linalg.norm(of(start)))
