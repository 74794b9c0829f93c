"""What passes through what: additive advancement and overlaps against ipctk, exact ways, and their sentences."""

import ipctk
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from symplex.contact.penetration import (
    collision_free_fraction,
    find_penetration,
    first_meeting,
    free_share,
    intersections,
)
from symplex.contact.search import find_pairs
from symplex.contact.surfaces import Surface
from symplex.meshes.generate import box
from symplex.meshes.mesh import merge

OTHERS = ~np.eye(2, dtype=bool)
ALL = np.ones((2, 2), bool)
PAIR = np.array([[0, 1, 2, 3]], np.int32)
WAYS = ("random", "drift", "degenerate", "narrow", "hit")


def random_way(rng, edge_edge, kind):
    """Return positions [4, 3] of a pair at both ends of a way."""
    x0, x1 = rng.normal(size=(2, 4, 3))
    if kind == "drift":
        x1 = x0 + 0.1 * rng.normal(size=(4, 3)) + rng.normal(size=3)
    elif kind == "degenerate" and edge_edge:  # parallel edges
        x0[3] = x0[2] + (x0[1] - x0[0]) * rng.normal()
        x1 = x0 + np.repeat(rng.normal(size=(2, 3)), 2, axis=0)
    elif kind == "degenerate":  # along a face, near it
        x0[1:, 2], x0[0, 2] = 0.0, 0.01
        x1 = x0.copy()
        x1[0] += rng.normal(size=3) * [1, 1, 0.1]
    elif kind == "narrow":
        x0[1:] *= 10.0 ** rng.uniform(-4, 0, size=(3, 1))
        x1 = x0 + 0.5 * rng.normal(size=(4, 3))
    elif kind == "hit":  # moved so that a point of each is in one place on the way
        c = np.array([1.0, *-rng.dirichlet([1, 1, 1])])
        if edge_edge:
            u, v = rng.random(2)
            c = np.array([1 - u, u, v - 1, -v])
        x1[: 2 if edge_edge else 1] -= c @ x1 + rng.uniform(0, 1) * (c @ x0)
    return x0, x1


def squared(edge_edge):
    return ipctk.edge_edge_distance if edge_edge else ipctk.point_triangle_distance


def ccd_of(method, edge_edge):
    return method.edge_edge_ccd if edge_edge else method.point_triangle_ccd


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("edge_edge", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_never_later_than_ipctk(edge_edge, kind):
    rng = np.random.default_rng(edge_edge)
    additive, inclusion = ipctk.AdditiveCCD(), ipctk.TightInclusionCCD()
    kinds, hits, equal = np.array([edge_edge], np.uint8), 0, 0
    for i in range(1000):
        x0, x1 = random_way(rng, edge_edge, kind)
        share = free_share(PAIR, kinds, x0, x1)
        hit, at = ccd_of(additive, edge_edge)(*x0, *x1)
        assert not hit or share <= at + 1e-12
        hits += hit
        equal += hit and abs(share - at) < 1e-9
        assert share > 0.0
        way = [squared(edge_edge)(*(x0 + t * (x1 - x0))) for t in np.linspace(0, share, 5)]
        assert share == 1.0 or way[-1] > (0.0999 * np.sqrt(way[0])) ** 2
        assert min(way) > (0.00999 * np.sqrt(way[0])) ** 2
        # Tight inclusion takes minutes for parallel motions, and stops 1e-6 before, whatever the distance.
        if i < 100 and kind not in ("degenerate", "narrow") and way[0] > 0.01:
            hit, at = ccd_of(inclusion, edge_edge)(*x0, *x1)
            assert not hit or share <= at
    assert hits > 0
    assert equal > 0.98 * hits  # it is the same method


def nearest(edge_edge, x0, x1):
    """Return the shortest distance on a way, by samples and a local search."""

    def distance(t):
        return np.sqrt(squared(edge_edge)(*(x0 + t * (x1 - x0))))

    t = np.linspace(0, 1, 401)
    d = np.array([distance(one) for one in t])
    least = d.min()
    for i in np.argsort(d)[:3]:
        bounds = (t[max(i - 1, 0)], t[min(i + 1, len(t) - 1)])
        least = min(least, minimize_scalar(distance, bounds=bounds, method="bounded", options={"xatol": 1e-14}).fun)
    return least


@pytest.mark.parametrize("kind", [kind for kind in WAYS if kind != "degenerate"])
@pytest.mark.parametrize("edge_edge", [0, 1])
def test_what_meets_is_told_and_nothing_else(edge_edge, kind):
    rng = np.random.default_rng(7 + edge_edge)
    inclusion, kinds, met = ipctk.TightInclusionCCD(), np.array([edge_edge], np.uint8), 0
    for _ in range(150):
        x0, x1 = random_way(rng, edge_edge, kind)
        i, share = first_meeting(PAIR, kinds, x0, x1)
        hit, _ = ccd_of(inclusion, edge_edge)(*x0, *x1)
        assert hit or i < 0  # what tight inclusion says is free is
        if i == 0:
            met += 1
            size = np.linalg.norm(x0 - x0[0], axis=1).max()
            assert squared(edge_edge)(*(x0 + share * (x1 - x0))) < (1e-6 * size) ** 2
        elif hit:  # of what it takes for a hit within its tolerance
            assert nearest(edge_edge, x0, x1) > 1e-8
        if kind == "hit":
            assert i == 0
    assert met > 0 or kind == "drift"


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_a_vertex_through_the_edge_that_two_faces_share(offset):
    x = np.array([[0.5, 0, 0.1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0]]) + offset
    nodes, kinds = np.array([[0, 1, 2, 3], [0, 1, 4, 2]], np.int32), np.zeros(2, np.uint8)
    y = x.copy()
    y[0, 2] -= 0.2
    for i in (0, 1):
        found, share = first_meeting(nodes[i : i + 1], kinds[:1], x, y)
        assert found == 0
        assert share == pytest.approx(0.5, abs=1e-6)
    y[0, 2] += 0.100001  # stops short of it
    assert first_meeting(nodes, kinds, x, y)[0] == -1


def test_sliding_takes_few_steps_and_all_of_the_way():
    # A micrometre above a face of a metre, over its whole length: bounds by speed alone take thousands of steps.
    x0 = np.array([[0.0, 0.3, 1e-6], [-1, 0, 0], [2, 0, 0], [0, 1, 0]])
    x1 = x0.copy()
    x1[0, 0] += 1.0
    assert free_share(PAIR, np.array([0], np.uint8), x0, x1) == 1.0
    assert first_meeting(PAIR, np.array([0], np.uint8), x0, x1) == (-1, 1.0)


def test_pairs_at_rest_and_in_one_motion():
    x = np.random.default_rng(0).normal(size=(4, 3))
    for kind in (0, 1):
        for y in (x, x + np.array([1e3, -2.0, 5.0])):
            assert free_share(PAIR, np.array([kind], np.uint8), x, y) == 1.0
    assert free_share(PAIR, np.array([0], np.uint8), np.zeros((4, 3)), x) == 0.0  # touching already


def boxes(shift, cells=(2, 3), size=1.0, split="6"):
    lower = box((1, 1, 1), (cells[0],) * 3, split=split)
    upper = box((size, size, size), (cells[1],) * 3, split=split, origin=shift)
    mesh = merge({"lower": lower, "upper": upper})
    return Surface.of(mesh, ["lower", "upper"]), mesh.points


def moved(surface, q, by):
    q = q.copy()
    q[surface.vertices[surface.vertex_bodies == 1]] += by
    return q


def test_the_largest_step_of_two_boxes():
    surface, q = boxes((0.05, 0.1, 1.1))
    assert collision_free_fraction(surface, q, moved(surface, q, [0, 0, -0.2]), OTHERS) == pytest.approx(0.45)
    assert collision_free_fraction(surface, q, moved(surface, q, [0, 0, -0.05]), OTHERS) == 1.0
    assert collision_free_fraction(surface, q, moved(surface, q, [0.7, 0.7, 0.1]), OTHERS) == 1.0
    assert collision_free_fraction(surface, q, moved(surface, q, [0, 0, -0.2]), np.zeros((2, 2), bool)) == 1.0
    # The motion of both together does not matter, nor does it for boxes far from the origin.
    there = moved(surface, q, [0, 0, -0.2])
    assert collision_free_fraction(surface, q + 100.0, there + np.array([130.0, 100, 100]), OTHERS) == pytest.approx(
        0.45, rel=1e-6
    )


def test_a_long_way_is_looked_at_in_part():
    surface, q = boxes((0.05, 0.1, 1.1), (6, 6))
    wild = q + 50.0 * np.random.default_rng(0).normal(size=q.shape)
    share = collision_free_fraction(surface, q, wild, ALL)
    assert 0.0 < share < 0.01
    there = q + share * (wild - q)
    assert intersections(surface, there, ALL) == []


def test_a_body_that_has_collapsed_moves_on():
    surface, q = boxes((0.05, 0.1, 1.1), (6, 6))
    flat = 0.5 + 1e-9 * np.random.default_rng(0).normal(size=q.shape)
    assert 0.0 < collision_free_fraction(surface, flat, flat, ALL) <= 1.0
    assert 0.0 <= collision_free_fraction(surface, flat, q, ALL) < 1.0


@pytest.mark.parametrize("seed", range(3))
def test_after_the_largest_step_nothing_intersects(seed):
    rng = np.random.default_rng(seed)
    surface, q = boxes((0.05, 0.1, 1.02))
    q1 = moved(surface, q + 0.05 * rng.normal(size=q.shape), [0.1, 0, -0.2])
    mesh = ipctk.CollisionMesh(np.asfortranarray(q), surface.edges, surface.triangles)
    assert ipctk.has_intersections(mesh, np.asfortranarray(q1))
    assert intersections(surface, q1, ALL)
    share = collision_free_fraction(surface, q, q1, ALL)
    there = q + share * (q1 - q)
    assert 0 < share < 1
    assert not ipctk.has_intersections(mesh, np.asfortranarray(there))
    assert intersections(surface, there, ALL) == []


def test_what_passed_through_is_told_with_its_place():
    surface, q = boxes((0.05, 0.1, 1.1))
    pairs = find_pairs(surface, (q,), 0.15, OTHERS)
    assert find_penetration(surface, pairs, q, moved(surface, q, [0, 0, -0.0999])) is None
    clause = find_penetration(surface, pairs, q, moved(surface, q, [0, 0, -0.15]))
    assert clause is not None
    assert clause.startswith("a vertex of 'lower' passed through a face of 'upper' near (")
    assert clause.endswith(", 1) m")
    assert find_penetration(surface, pairs, q, moved(surface, q, [5.0, 0, 0.01])) is None


# -- overlaps --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "options", "depth"),
    [
        ((0.9, 0.13, 0.05), {}, 0.1),
        ((0.9, 0.0, 0.0), {}, 0.1),  # with faces in the same planes
        ((0.9, 0.0, 0.0), {"cells": (1, 1), "split": "hexahedra"}, 0.1),  # and no vertex inside
        ((0.3, 0.4, 0.5), {"size": 0.2}, 0.4),  # wholly inside
        ((-0.5, -0.5, -0.5), {"size": 2.0}, 0.5),
        ((0.96, 0.97, 0.98), {}, 0.02),  # by a corner
    ],
)
def test_overlaps_are_told(shift, options, depth):
    surface, q = boxes(shift, **options)
    (overlap,) = intersections(surface, q, OTHERS)
    assert overlap.bodies == ("lower", "upper")
    assert overlap.depth == pytest.approx(depth, rel=0.3)
    assert (overlap.place >= -0.5).all()
    assert (overlap.place <= 1.5).all()
    assert str(overlap).startswith(f"the bodies 'lower' and 'upper' overlap by about {overlap.depth:.3g} m at (")
    assert intersections(surface, q, np.zeros((2, 2), bool)) == []


@pytest.mark.parametrize("shift", [(1, 0, 0), (1, 0.1, 0.2), (1, 1, 0), (1, 1, 1), (1.001, 0.1, 0.2), (1.3, 5, 0)])
def test_bodies_that_touch_do_not_overlap(shift):
    surface, q = boxes(shift)
    assert intersections(surface, q, OTHERS) == []


def test_a_body_in_the_hollow_of_another_one_does_not_overlap():
    outer, hollow = box((1, 1, 1), (2, 2, 2), split="6"), box((0.6, 0.6, 0.6), (2, 2, 2), split="6", origin=(0.2,) * 3)
    inner = box((0.2, 0.2, 0.2), (2, 2, 2), split="6", origin=(0.4, 0.4, 0.4))
    mesh = merge({"outer": outer, "hollow": hollow, "inner": inner})
    sides = Surface.of(mesh, ["outer", "hollow", "inner"])
    of = [sides.triangles[sides.triangle_bodies == body] for body in range(3)]
    surface = Surface.join(
        [
            Surface.from_triangles(mesh.points, np.concatenate([of[0], of[1][:, ::-1]]), "shell"),
            Surface.from_triangles(mesh.points, of[2], "inner"),
        ]
    )
    assert surface.has_volume == (True, True)
    assert intersections(surface, mesh.points, ALL) == []
    (overlap,) = intersections(surface, moved(surface, mesh.points, [0.21, 0, 0]), ALL)
    assert overlap.depth == pytest.approx(0.01)


def test_a_body_that_passes_through_itself():
    surface, q = boxes((0.9, 0.1, 0.05))
    one = Surface.from_triangles(q, surface.triangles, "strip")  # of two parts
    assert intersections(one, q, np.zeros((1, 1), bool)) == []
    (overlap,) = intersections(one, q, np.ones((1, 1), bool))
    assert overlap.bodies == ("strip", "strip")
    assert 0.0 < overlap.depth < 0.5
    assert str(overlap).startswith("body 'strip' passes through itself by about ")


@pytest.mark.parametrize("seed", range(20))
def test_the_same_intersections_as_ipctk(seed):
    rng = np.random.default_rng(seed)
    surface, q = boxes(rng.uniform(0.9, 1.05, size=3) * [1, 0.3, 0.3])
    q = q + 0.03 * rng.normal(size=q.shape)
    mesh = ipctk.CollisionMesh(np.asfortranarray(q), surface.edges, surface.triangles)
    assert bool(intersections(surface, q, ALL)) == ipctk.has_intersections(mesh, np.asfortranarray(q))
