"""Nanoseconds per contact pair of each form and of friction, of pairs within reach and of others in the list.

    python benchmarks/contact_pairs.py [pairs]

Two flat faces of triangles lie on each other; the forces of the tetrahedra below them are timed in the same run.
"""

import sys
from time import process_time

import numpy as np

import symplex as sx
from symplex.contact import BodyContact, Friction, Surface
from symplex.fem.actions.increment_load import Factors
from symplex.fem.assembly import forms
from symplex.fem.assembly.pattern import Pattern

REPEATS = 20


def seconds(run):
    """The shortest CPU time of some runs, after one that compiles."""
    run()
    times = []
    for _ in range(REPEATS):
        start = process_time()
        run()
        times.append(process_time() - start)
    return min(times)


def rows(contact, q):
    """Seconds of each form at the positions q, with pairs in the list."""
    rng = np.random.default_rng(0)
    q1, v = q + 1e-4 * rng.standard_normal(q.shape), rng.standard_normal(q.shape)
    out = np.zeros_like(q)
    slots = Pattern(len(q), [contact.nodes]).slots[0]
    blocks, values = np.zeros((int(slots.max()) + 1, 3, 3)), np.zeros(int(slots.max()) + 1)
    yield "energy", seconds(lambda: contact.listed_total(q))
    for form, nodal in (
        (forms.GRADIENT, (q,)),
        (forms.DISCRETE_GRADIENT, (q, q1)),
        (forms.HESSIAN, (q,)),
        (forms.DISCRETE_HESSIAN, (q, q1)),
        (forms.SECANT, (q,)),
        (forms.SECANT_RATE, (q, v)),
        (forms.THIRD, (q, v)),
    ):
        into = {"vector": out, "block": blocks, "value": values}[form.kind]
        yield (
            form.title,
            seconds(lambda form=form, nodal=nodal, into=into: contact.add_listed(form, nodal, into, slots)),
        )
    friction = Friction(contact, 0.3)
    yield "friction", seconds(lambda: friction.over(0.0, q, q1, v))
    yield (
        "its derivatives",
        seconds(lambda: friction.add_derivatives(0.0, (q, q1), v, Factors(1.0, 1.0), slots, blocks)),
    )


def main(requested=20000):
    n = max(2, int((requested / 20) ** 0.5))
    plate = sx.box((1.0, 1.0, 0.1), (n, n, 1))
    gap = 0.05 / n
    points = np.vstack([plate.points, plate.points + np.array([0.3 / n, 0.2 / n, 0.1 + gap])])
    cells = np.vstack([plate.cells["tetra"], plate.cells["tetra"] + len(plate.points)])
    surface = Surface.of(sx.Mesh(points, {"tetra": cells}))
    solid = sx.Solid(points, cells, sx.NeoHookean.from_young(1e6, 0.3, 1000.0))
    out = np.zeros_like(points)
    force = seconds(lambda: solid.add_gradient(points, out)) / len(cells)
    print(f"forces of a tetrahedron: {1e9 * force:.0f} ns")
    found = {}
    for name, reach in (("within reach", 2.0 * gap), ("beyond", 0.5 * gap)):
        contact = BodyContact(surface, 1e6, law="barrier", distance=reach)
        contact.find((points,), 2.0 * gap)
        contact.list_positions = points
        found[name] = {title: time / len(contact.nodes) for title, time in rows(contact, points)}
        print(f"{len(contact.nodes)} pairs in the list, {len(contact.contacts(points).gaps)} within reach")
    print(f"{'ns per pair':<20}{'within reach':>14}{'beyond':>10}")
    for title, time in found["within reach"].items():
        print(f"{title:<20}{1e9 * time:>14.0f}{1e9 * found['beyond'][title]:>10.0f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
