"""Beams with large rotations, their frequencies, and what a beam in free flight keeps."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import symplex as sx
from symplex.fem.structures import BeamProperties, Beams, Frames, Moment, Section, beams
from verification_manual.problem import Row, problem

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))  # stories of the examples are checked here as well
import rotor

BEAMS = "Beams"
CLAMPED = [True] * 6
IN_PLANE = [False, False, True, True, True, False]


def line(points: np.ndarray) -> sx.Mesh:
    """Return a line through points [n + 1, 3]."""
    ends = np.arange(len(points), dtype=np.int32)
    return sx.Mesh(points, {"line": np.column_stack([ends[:-1], ends[1:]])})


def straight(n: int, length: float) -> sx.Mesh:
    """Return a line of n elements along x."""
    return line(np.outer(np.linspace(0.0, length, n + 1), [1.0, 0.0, 0.0]))


def system(beam: Beams, held: np.ndarray, **parts: dict) -> sx.System:
    """Return the system of a beam with some displacements and rotations [n, 6] of nodes held, and with other parts."""
    energies = {"beam": beam.energy} | parts.pop("energies", {})
    frames = Frames(beam.frames.nodes, beam.points, held)
    return sx.System(beam.mass, energies, frames=frames, **parts)


def cantilever(n: int, else_held: list[bool] | None = None) -> np.ndarray:
    """Return what is held [n + 1, 6] of a beam that is clamped at its first node."""
    held = np.tile(else_held or [False] * 6, (n + 1, 1))
    held[0] = CLAMPED
    return held


@problem(BEAMS, "Cantilever rolled up to a circle", source="M = 2π EI/L bends a beam to a full circle", within=2e-2)
def roll_up() -> Iterator[Row]:
    """End moment on a beam with EA L²/EI = 1.2e6: distance of its ends."""
    for n, limit in ((8, 2e-2), (16, 1e-3), (32, 6e-5)):
        slender = BeamProperties(1.2e6, (5e5, 5e5), (1.0, 1.0), 1.0, 1.0, (1e-3, 1e-3))
        beam = beams(straight(n, 1.0), slender, (0.0, 0.0, 1.0))
        loads = {"moment": Moment(beam.particles([n]), beam.mass, [0.0, 0.0, 2.0 * np.pi])}
        found = sx.equilibria.static_equilibrium(system(beam, cantilever(n), loads=loads), beam.points)
        tip = beam.frames.centers(found.state.q)[-1]
        yield Row(f"{n} elements", "distance over length", 0.0, float(np.linalg.norm(tip)), scale=1.0, within=limit)
        moment = beam.section_forces(found.state.q)[:, 3]
        yield Row(f"{n} elements", "smallest moment over 2π EI/L", 1.0, moment.min() / (2.0 * np.pi), within=1e-9)


@problem(
    BEAMS,
    "Deep arch that snaps through",
    source="DaDeppo and Schmidt (1975), J. Appl. Mech. 42, 309: P R²/EI = 8.97 of an arch that does not stretch",
    within=6e-3,
)
def deep_arch() -> Iterator[Row]:
    """R = 100, 215°, one end clamped and one hinged, EI = 1e6, EA = 1e8, a force on its crown: by arc length."""
    for n in (16, 32, 64):
        t = np.deg2rad(215.0) * np.linspace(-0.5, 0.5, n + 1)
        beam = beams(
            line(100.0 * np.column_stack([np.sin(t), 0.0 * t, np.cos(t)])),
            BeamProperties(1e8, (5e7, 5e7), (1e6, 1e6), 1e6, 1.0, (0.01, 0.01)),
            (0.0, 1.0, 0.0),
        )
        held = np.zeros((n + 1, 6), bool)
        held[:, [1, 3, 5]] = held[0] = held[n, :3] = True
        force = sx.actions.NodalForce(beam.particles([n // 2])[0], [0.0, 0.0, -250.0])
        path = sx.equilibria.equilibrium_path(
            system(beam, held, energies={"load": force}), beam.points, step=0.03, points=90
        )
        top = int(np.argmax(path.part))
        yield Row(
            f"{n} elements", "limit load", 897.0, 1000.0 * float(path.part[top]), within=2e-2 if n == 16 else None
        )


@problem(
    BEAMS,
    "Bend of 45° pulled out of its plane",
    source="Simo and Vu-Quoc (1986), 8 elements: tip at (47.23, 15.79, 53.37); Bathe and Bolourchi (1979)",
    within=8e-3,
)
def bend() -> Iterator[Row]:
    """R = 100, a square section of 1 × 1, E = 1e7, ν = 0, a force of 600 across its plane at the free end."""
    for n in (8, 32):
        angle = np.linspace(0.0, np.pi / 4.0, n + 1)
        arc = line(100.0 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle), 0.0 * angle]))
        section = Section(1.0, 1.0 / 12.0, 1.0 / 12.0, 1.0 / 6.0)
        beam = beams(arc, section.of(sx.NeoHookean.from_young(1e7, 0.0, 1.0)), (0.0, 0.0, 1.0))
        force = sx.actions.NodalForce(beam.particles([n]).ravel(), [0.0, 0.0, 150.0])
        bent = system(beam, cantilever(n), energies={"force": force})
        tip = beam.frames.centers(sx.equilibria.static_equilibrium(bent, beam.points).state.q)[-1]
        for axis, target, found in zip("xyz", (47.23, 15.79, 53.37), tip, strict=True):
            yield Row(f"{n} elements", f"{axis} of the tip", target, found)


@problem(
    BEAMS,
    "Deep cantilever with a large force",
    source="Exudyn, geometricallyExactBeamTest, case 1, in the limit; with 8 of its elements 0.7068",
    within=1.2e-3,
)
def deep_cantilever() -> Iterator[Row]:
    """2 m long, 0.5 m high, 0.1 m wide, E = 207 GPa, ν = 0.3, 62.5 MN at the end; in its plane, Reissner's strain."""
    h, w, nu = 0.5, 0.1, 0.3
    k = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
    section = Section(h * w, h * w**3 / 12.0, w * h**3 / 12.0, (h * w**3 + w * h**3) / 12.0, k, k)
    for n in (4, 8, 32):
        properties = section.of(sx.NeoHookean.from_young(2.07e11, nu, 100.0))
        beam = beams(straight(n, 2.0), properties, (0.0, 1.0, 0.0), formulation="reissner")
        force = sx.actions.NodalForce(beam.particles([n]).ravel(), [0.0, 6.25e7 / 4.0, 0.0])
        bent = system(beam, cantilever(n, IN_PLANE), energies={"force": force})
        tip = beam.frames.centers(sx.equilibria.static_equilibrium(bent, beam.points).state.q)[-1]
        yield Row(f"{n} elements", "deflection in m", 0.710568, tip[1])


@problem(
    BEAMS,
    "NAFEMS FV5 by beams",
    source="NAFEMS: bending 42.649, 148.31, 284.55 Hz, each twice, torsion 77.542 and 233.10 Hz, extension 125.00 Hz",
    within=2e-2,
)
def nafems_fv5_beams() -> Iterator[Row]:
    """10 m × 2 m × 2 m, E = 200 GPa, ν = 0.3, ρ = 8000 kg/m³, 20 elements with lumped masses on two supports; the
    first also fixes axial motion and rotation. J is the polar moment, as in the target.
    """
    n = 20
    beam = beams(
        straight(n, 10.0),
        Section(4.0, 4.0 / 3.0, 4.0 / 3.0, 8.0 / 3.0).of(sx.NeoHookean.from_young(2e11, 0.3, 8000.0)),
        (0.0, 0.0, 1.0),
    )
    held = np.zeros((n + 1, 6), bool)
    held[0, :4], held[n, 1:3] = True, True
    found = system(beam, held)
    frequencies = sx.modes.natural_modes(found, found.state(beam.points), 9).frequencies
    nafems = (42.649, 42.649, 77.542, 125.0, 148.31, 148.31, 233.1, 284.55, 284.55)
    for k, (target, frequency) in enumerate(zip(nafems, frequencies, strict=True)):
        yield Row(f"{n} elements", f"f{k + 1} in Hz", target, frequency)


@problem(
    BEAMS,
    "Flying spaghetti",
    source="laws of conservation; the problem of Simo and Vu-Quoc (1988)",
    within=1e-12,
)
def flying_spaghetti() -> Iterator[Row]:
    """A free beam of 10 elements, bent and spinning, 1000 steps of 0.05 s, energy–momentum: relative changes."""
    part = np.linspace(0.0, 1.0, 11)[:, None]
    soft = BeamProperties(1e4, (1e4, 1e4), (500.0, 500.0), 500.0, 1.0, (10.0, 10.0))
    mesh = line((1.0 - part) * [6.0, 0.0, 0.0] + part * [0.0, 8.0, 0.0])
    beam = beams(mesh, soft, (0.0, 0.0, 1.0))
    free = system(beam, np.zeros((11, 6), bool))
    spin, centers = np.array([0.3, -0.2, 0.4]), beam.frames.centers(beam.points)
    v = np.array([0.5, 0.1, -0.2]) + np.cross(spin, centers)
    v[:, 2] += 3.0 * np.sin(np.pi * part[:, 0])
    start = free.state(beam.points, beam.frames.velocities(beam.points, v, spin))
    end = sx.EnergyMomentum(0.05).start(free, start).advance(50.0)
    energy = free.energies_of(start)["total"]
    yield Row("energy-momentum", "energy", 0.0, free.energies_of(end)["total"] / energy - 1.0, scale=1.0)
    for name, momentum in (("momentum", free.momentum), ("angular momentum", free.angular_momentum)):
        change = np.linalg.norm(momentum(end) - momentum(start)) / np.linalg.norm(momentum(start))
        yield Row("energy-momentum", name, 0.0, float(change), scale=1.0)


@problem(
    BEAMS,
    "Rotating blades: clamped, and on a hinge away from the axis",
    source="power series (Wright, Smith, Thresher and Wang, J. Appl. Mech. 49 (1982) 197); Galerkin's method",
    within=4e-3,
)
def rotating_blades() -> Iterator[Row]:
    """Ω and ω in units of √(EI/ρA)/L²: complex modes in the frame that rotates, 48 elements, lumped masses."""
    thin = BeamProperties(1e7, (1e7, 1e7), (1000.0, 1.0), 1.0, 1.0, (1e-7, 1e-7))
    for speed, series in rotor.SERIES.items():
        found = rotor.flap_of_blade(speed, 48, thin, 1.0, 0.0, hinged=False)
        for k, target in enumerate(series):
            yield Row("complex modes", f"clamped, Ω = {speed:g}: flap {k + 1}", target, float(found[k]))
    for speed in (6.0, 12.0):
        found = rotor.flap_of_blade(speed, 48, thin, 1.0, 0.1, hinged=True)
        for k, target in enumerate(rotor.rotating_beam(speed, 0.1, hinged=True)):
            yield Row(
                "complex modes", f"on a hinge at 0.1 L, Ω = {speed:g}: flap {k + 1}", float(target), float(found[k])
            )
