"""Event-driven force-stepping on random small systems against the walk from simplex to simplex."""

import numpy as np
import pytest
from hypothesis import given, reject, settings, strategies as st

from reference.kuhn_walk import kuhn_walk
from symplex.contact.obstacles import HalfSpace, Sphere
from symplex.contact.rigid import RigidContact
from symplex.errors import StepFailed
from symplex.fem.actions.loads import Gravity, NodalForce
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import State, System
from symplex.meshes.generate import box
from symplex.time.events.force_stepping import ForceStepping


def check(system: System, state: State, grid, seed: int, until: float) -> State:
    """Compare the end, the crossings and the energies; reverse, and come back. Return the end."""
    integrator = ForceStepping(grid, seed=seed, count_crossings=True)
    motion = integrator.start(system, state)
    before = motion.energies(motion.advance(0.0))["lattice_total"]
    try:
        end = motion.advance(until)
    except StepFailed:  # an element inverts at a lattice vertex: so it must on the walk
        with pytest.raises(StepFailed):
            kuhn_walk(system, state, [until], grid, motion.offset)
        reject()
    walk = kuhn_walk(system, state, [until], grid, motion.offset)
    scale = np.abs(end.v).max() + 1e-3
    assert np.abs(end.q - walk.states[-1].q).max() < 1e-9
    assert np.abs(end.v - walk.states[-1].v).max() < 1e-8 * scale
    assert motion.statistics()["crossings"] == walk.crossings
    after = motion.energies(end)
    assert after["lattice_total"] == pytest.approx(before, abs=1e-10 * (abs(before) + after["kinetic"] + 1e-3))
    back = ForceStepping(grid, seed=seed).start(system, end.reversed()).advance(2 * until)
    assert np.abs(back.q - state.q).max() < 1e-7
    return end


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), supports=st.booleans(), sphere=st.booleans(), anisotropic=st.booleans())
def test_random_solids(seed, supports, sphere, anisotropic):
    rng = np.random.default_rng(seed)
    mesh = box((1.0, 0.8, 0.6), (1, 1, 1), split="6")
    cells = mesh.cells["tetra"]
    n = len(mesh.points)
    mass = lumped_mass(mesh.points, cells, 1.0, n)
    normal = rng.normal(size=3) + np.array([0.0, 0.0, 4.0])
    obstacle = Sphere((0.5, 0.4, 1.2), 0.5) if sphere else HalfSpace((0, 0, -0.05), normal)
    system = System(
        mass,
        {
            "solid": Solid(mesh.points, cells, NeoHookean(2.0, 1.0, 1.0)),
            "contact": RigidContact(np.arange(n), obstacle, 20.0),
            "weight": Gravity(mass, rng.normal(size=3)),
        },
        fixed=rng.random((n, 3)) < 0.2 if supports else None,
    )
    q = mesh.points + 0.03 * rng.normal(size=(n, 3))
    state = system.state(q, 0.5 * rng.normal(size=(n, 3)))
    check(system, state, rng.uniform(0.01, 0.04, 3) if anisotropic else 0.02, seed, 0.3)


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_points_bouncing_on_a_line_and_in_a_plane(dim, seed):
    rng = np.random.default_rng(seed)
    n = 5
    mass = rng.uniform(1.0, 2.0, n)
    obstacle = HalfSpace([0.0], [1.0]) if dim == 1 else Sphere([0.0, 0.0], 1.0)
    system = System(
        mass,
        {"wall": RigidContact(np.arange(n), obstacle, 200.0), "push": NodalForce(np.arange(n), -rng.random((n, dim)))},
        dim=dim,
    )
    state = system.state(1.3 + rng.random((n, dim)), -rng.random((n, dim)))
    end = check(system, state, 0.01, seed, 3.0)
    assert np.any(end.v > 0.3)  # they move inwards until they are thrown back
