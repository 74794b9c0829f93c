"""Mechanisms of rigid bodies and beams with joints, against independent solutions and published values."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import symplex as sx
from verification_manual.problem import Row, problem

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))  # stories of the examples are checked here as well
import mechanisms
import squeezer

JOINTS = "Joints"


@problem(
    JOINTS, "Double pendulum in space", source="Lagrange's equations in two angles, by DOP853 to 1e-12", within=2e-3
)
def spatial_double_pendulum() -> Iterator[Row]:
    """Two hinges at right angles, 5 and 3 rad/s at the start, after 1 s; the model of `examples/mechanisms.py`."""
    system, start = mechanisms.double_pendulum()
    exact = mechanisms.by_energy(
        mechanisms.pendulum_mass, mechanisms.pendulum_potential, [0.0, 0.0], mechanisms.SPEEDS, np.array([0.0, 1.0])
    )[-1]
    methods = (
        ("energy-momentum, dt = 2.5 ms", sx.EnergyMomentum(0.0025), 1e-4),
        ("RATTLE composed, dt = 10 ms", sx.Composition(sx.Rattle(0.01, {})), 1e-6),
    )
    for name, method, limit in methods:
        end = method.start(system, start).advance(1.0)
        for hinge, target in zip(("upper", "lower"), exact, strict=True):
            found = system.joints[hinge].angle(end.q)
            yield Row(name, f"angle of the {hinge} hinge in rad", float(target), found, scale=1.0, within=limit)
    end = sx.EnergyMomentum(0.005).start(system, start).advance(5.0)
    change = (system.energies_of(end)["total"] - system.energies_of(start)["total"]) / system.kinetic(start.v)
    yield Row("energy-momentum, 1000 steps", "change of energy", 0.0, change, scale=1.0, within=1e-12)
    off = float(np.abs(system.joints.violations(end.q)).max())
    yield Row("energy-momentum, 1000 steps", "violation of joints", 0.0, off, scale=1.0, within=1e-13)


@problem(
    JOINTS, "Four-bar linkage of redundant hinges", source="its equation in one angle, by DOP853 to 1e-12", within=2e-3
)
def four_bar_linkage() -> Iterator[Row]:
    """Four hinges in space, 20 conditions of rank 17; its crank rotates with 8 rad/s at the start, after 1 s."""
    system, start = mechanisms.four_bar()
    exact = mechanisms.by_energy(
        mechanisms.linkage_mass, mechanisms.linkage_potential, [1.2], [mechanisms.SPIN], np.array([0.0, 1.0])
    )[-1, 0]
    end = sx.EnergyMomentum(0.002).start(system, start).advance(1.0)
    angle = 1.2 - system.joints["hinge 0"].angle(end.q)
    found = float(angle + 2.0 * np.pi * np.round((exact - angle) / (2.0 * np.pi)))
    yield Row("energy-momentum, dt = 2 ms", "angle of the crank in rad", float(exact), found)
    change = (system.energies_of(end)["total"] - system.energies_of(start)["total"]) / system.kinetic(start.v)
    yield Row("energy-momentum, dt = 2 ms", "change of energy", 0.0, change, scale=1.0, within=1e-12)
    off = float(np.abs(system.joints.violations(end.q)).max())
    yield Row("energy-momentum, dt = 2 ms", "violation of joints", 0.0, off, scale=1.0, within=1e-13)


@problem(JOINTS, "Andrews' squeezer", source="Test Set for IVP Solvers, Mazzia and Magherini (2008)", within=5e-4)
def andrews_squeezer() -> Iterator[Row]:
    """Seven bodies, ten hinges (50 conditions of rank 41), a motor and a spring, after 30 ms with dt = 20 µs."""
    angles, _, _ = squeezer.follow(2e-5, 50)
    for name, target, found in zip(squeezer.ANGLES, squeezer.PUBLISHED, angles[-1], strict=True):
        yield Row("energy-momentum", f"{name} in rad", target, float(found), scale=1.0)
