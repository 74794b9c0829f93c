"""A collision as one would write it with ipctk, and by energy-momentum: energy, momenta and time in one run.

    OMP_NUM_THREADS=1 python benchmarks/contact_ipctk.py [--steps 1e-3 5e-4 2e-4] [--end 0.02]

Two spinning cubes of rubber meet off centre (as in ``examples/colliding_cubes.py``). The other side is the incremental
potential of Li et al. (2020), *Incremental Potential Contact*: each step of implicit Euler's or Newmark's trapezoidal
rule makes

    ½ (q − q̃)ᵀ M (q − q̃) + β h² (Ψ(q) + B(q))

least by Newton's method, with the barrier B of ipctk (pairs weighted by areas, d̂ and stiffness as here), its Hessian
projected, a line search on the potential, and steps that ipctk's collision detection lets through. Elements, masses
and their Hessians are those of symplex, so that what differs is the method and the contact. Matrices are factorised by
SciPy's SuperLU. It ends where no coordinate moves by more than 1e-7 m/s × h.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import ipctk
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import symplex as sx
from symplex.contact import BodyContact

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from colliding_cubes import cubes

_SLOW = 1e-7  # m/s
_ROUNDING = 1e-11  # of the potential
_MOST = 200  # corrections of a step


class IncrementalPotential:
    """Steps of implicit Euler's or the trapezoidal rule on a barrier of ipctk."""

    def __init__(self, system: sx.System, contact: BodyContact, dt: float, trapezoidal: bool):
        self.dt, self.trapezoidal, self.corrections = dt, trapezoidal, 0
        self.solid = sx.System(system.mass, {k: e for k, e in system.energies.items() if e is not contact})
        self.mass = np.asarray(system.mass)[:, None]
        self.share = 0.25 if trapezoidal else 1.0
        surface, self.reach = contact.surface, contact.reach
        self.included = surface.vertices
        place = np.full(system.n_nodes, -1)
        place[self.included] = np.arange(len(self.included))
        self.place, self.surface = place, surface
        # ipctk's barrier is −(s − d̂²)² ln(s/d̂²), the one here k/d̂² times that.
        self.barrier = ipctk.BarrierPotential(self.reach, contact.stiffness / self.reach**2)
        self.mesh: ipctk.CollisionMesh | None = None

    def start(self, q: np.ndarray, v: np.ndarray) -> None:
        """Begin at positions and velocities [n, 3]."""
        faces = self.place[self.surface.triangles].astype(np.int32)
        self.mesh = ipctk.CollisionMesh(q[self.included], ipctk.edges(faces), faces)
        self.q, self.v = q.copy(), v.copy()
        self.a = -self.solid.gradient(q) / self.mass
        self.to_nodes = sp.kron(
            sp.csr_array(
                (np.ones(len(self.included)), (self.included, np.arange(len(self.included)))),
                (len(q), len(self.included)),
            ),
            sp.eye_array(3),
        ).tocsr()

    def _pairs(self, q: np.ndarray) -> ipctk.NormalCollisions:
        pairs = ipctk.NormalCollisions()
        pairs.use_area_weighting = True
        pairs.build(self.mesh, q[self.included], self.reach)
        return pairs

    def contact_energy(self, q: np.ndarray) -> float:
        """Return B(q) in J."""
        return float(self.barrier(self._pairs(q), self.mesh, q[self.included]))

    def _value(self, q: np.ndarray, ahead: np.ndarray) -> float:
        inertia = 0.5 * float((self.mass * (q - ahead) ** 2).sum())
        return inertia + self.share * self.dt**2 * (self.solid.potential(q) + self.contact_energy(q))

    def _forces(self, q: np.ndarray, pairs: ipctk.NormalCollisions) -> np.ndarray:
        of_contact = self.barrier.gradient(pairs, self.mesh, q[self.included])
        return self.solid.gradient(q) + (self.to_nodes @ of_contact).reshape(-1, 3)

    def step(self) -> None:
        """Take a step."""
        h, share = self.dt, self.share
        ahead = self.q + h * self.v + (share * h * h * self.a if self.trapezoidal else 0.0)
        q, before = self.q.copy(), self._value(self.q, ahead)
        masses = np.repeat(self.mass.ravel(), 3)
        for _ in range(_MOST):
            pairs = self._pairs(q)
            g = self.mass * (q - ahead) + share * h * h * self._forces(q, pairs)
            of_contact = self.barrier.hessian(pairs, self.mesh, q[self.included], ipctk.PSDProjectionMethod.CLAMP)
            stiff = self.solid.hessian(q).tocsc() + self.to_nodes @ sp.csc_array(of_contact) @ self.to_nodes.T
            correction = -splu(sp.csc_array(sp.diags_array(masses) + share * h * h * stiff)).solve(g.ravel())
            correction = correction.reshape(-1, 3)
            self.corrections += 1
            size = np.abs(correction).max()
            part = ipctk.compute_collision_free_stepsize(
                self.mesh, q[self.included], (q + correction)[self.included], narrow_phase_ccd=ipctk.AdditiveCCD()
            )
            while True:
                value = self._value(q + part * correction, ahead)
                if value <= before + _ROUNDING * abs(before) or part < 1e-8:
                    break
                part *= 0.5
            q, before = q + part * correction, value
            if size <= _SLOW * h:
                break
        else:
            raise RuntimeError("the step was not solved.")
        if self.trapezoidal:
            a = (q - ahead) / (share * h * h)
            self.v += 0.5 * h * (self.a + a)
            self.a = a
        else:
            self.v = (q - self.q) / h
        self.q = q


def measured(system: sx.System, advance: Callable[[int], tuple[Any, ...]], steps: int) -> dict[str, float]:
    """Return the largest changes in a run, relative, and its time; advance(k) gives q, v, energy, corrections."""
    q, v, energy, _ = advance(0)
    momentum, spin = system.mass @ v, (np.cross(q, v) * np.asarray(system.mass)[:, None]).sum(axis=0)
    scale = np.asarray(system.mass) @ np.linalg.norm(v, axis=1)
    turned = np.asarray(system.mass) @ np.linalg.norm(np.cross(q, v), axis=1)
    largest, began, corrections = np.zeros(3), process_time(), 0
    for k in range(1, steps + 1):
        q, v, now, corrections = advance(k)
        moment = (np.cross(q, v) * np.asarray(system.mass)[:, None]).sum(axis=0)
        changes = [
            abs(now - energy) / energy,
            np.linalg.norm(system.mass @ v - momentum) / scale,
            np.linalg.norm(moment - spin) / turned,
        ]
        largest = np.maximum(largest, changes)
    seconds = process_time() - began
    return {
        "change of energy": float(largest[0]),
        "energy at the end": float((now - energy) / energy),
        "momentum": float(largest[1]),
        "angular momentum": float(largest[2]),
        "corrections a step": corrections / steps,
        "s": seconds,
    }


def by_ipctk(dt: float, end: float, trapezoidal: bool) -> dict[str, float]:
    """Return what comes out of the incremental potential."""
    of = cubes("barrier")
    contact = next(e for e in of.system.energies.values() if isinstance(e, BodyContact))
    solver = IncrementalPotential(of.system, contact, dt, trapezoidal)
    solver.start(of.start.q, of.start.v)

    def advance(k: int) -> tuple[Any, ...]:
        if k:
            solver.step()
        kinetic = 0.5 * float((solver.mass * solver.v**2).sum())
        total = kinetic + solver.solid.potential(solver.q) + solver.contact_energy(solver.q)
        return solver.q, solver.v, total, solver.corrections

    return measured(of.system, advance, round(end / dt))


def by_energy_momentum(dt: float, end: float) -> dict[str, float]:
    """Return what comes out of energy-momentum."""
    of = cubes("barrier")
    motion = sx.EnergyMomentum(dt).start(of.system, of.start)

    def advance(k: int) -> tuple[Any, ...]:
        there = motion.advance(k * dt)
        return there.q, there.v, motion.energies(there)["total"], motion.statistics()["corrections"]

    return measured(of.system, advance, round(end / dt))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=float, nargs="+", default=[1e-3, 5e-4, 2e-4])
    parser.add_argument("--end", type=float, default=0.02)
    options = parser.parse_args()
    by_energy_momentum(options.steps[0], 2.0 * options.steps[0])  # compiled, or read from the disk, before
    for dt in options.steps:
        ours = by_energy_momentum(dt, options.end)
        for name, found in (
            ("energy-momentum", ours),
            ("ipctk, trapezoidal", by_ipctk(dt, options.end, True)),
            ("ipctk, implicit Euler", by_ipctk(dt, options.end, False)),
        ):
            numbers = ", ".join(f"{key} {value:.3g}" for key, value in found.items())
            print(f"{dt:g} s, {name}: {numbers}, time / energy-momentum's {found['s'] / ours['s']:.3g}", flush=True)


if __name__ == "__main__":
    main()
