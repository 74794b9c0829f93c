"""Laws of measures: nanoseconds for a stencil of each form of pairs and contacts.

To compare with another version run it with PYTHONPATH set to where that one is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np

import symplex as sx
from symplex.fem.assembly.pattern import Pattern

_NODES = 10_000
_FORMS = ("total", "gradient", "Hessian", "discrete gradient", "its tangent", "increment gradient")


def _seconds(call: Callable[[], object]) -> float:
    """Return the least time of a call."""
    call()
    times = []
    for _ in range(25):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def main() -> None:
    """Print a row for each energy."""
    rng = np.random.default_rng(0)
    q = rng.random((_NODES, 3)) * np.array([100.0, 100.0, 1.0])
    q1, low = q + 1e-3 * rng.random(q.shape), np.zeros_like(q)
    pairs = np.column_stack([np.arange(_NODES - 1), np.arange(1, _NODES)])
    nodes = np.arange(_NODES)
    energies = {
        "springs": sx.Bars(pairs, sx.measures.EngineeringStrain(1.0, 1.0)),
        "bars of Green strain": sx.Bars(pairs, sx.measures.GreenStrain(1.0, 1.0)),
        "Lennard-Jones": sx.Bars(pairs, sx.measures.LennardJones(1.0, 0.1)),
        "plane, half closed": sx.RigidContact(nodes, sx.HalfSpace((0, 0, 0.5), (0, 0, 1)), 1e3),
        "plane, open": sx.RigidContact(nodes, sx.HalfSpace((0, 0, -0.5), (0, 0, 1)), 1e3),
        "sphere, half closed": sx.RigidContact(nodes, sx.Sphere((50, 50, 0.5), 40.0), 1e3),
    }
    print(f"{'':24}" + "".join(f"{form:>20}" for form in _FORMS))
    for name, energy in energies.items():
        pattern, out = Pattern(_NODES, [energy.nodes]), np.zeros_like(q)
        blocks, slots = pattern.zeros(3), pattern.slots[0]
        calls = [
            partial(energy.total, q),
            partial(energy.add_gradient, q, out),
            partial(energy.add_hessian, q, slots, blocks),
            partial(energy.add_discrete_gradient, q, q1, out),
            partial(energy.add_discrete_hessian, q, q1, slots, blocks),
            partial(energy.add_increment_gradient, q, low, q1 - q, out),
        ]
        print(f"{name:24}" + "".join(f"{1e9 * _seconds(call) / len(energy.nodes):20.1f}" for call in calls))


if __name__ == "__main__":
    main()
