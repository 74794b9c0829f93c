"""The pairs that a search finds are those of a comparison of everything with everything, by distances of ipctk."""

import ipctk
import numpy as np
import pytest

from symplex.contact.search import edges_through_faces, find_pairs, find_swept
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, StepFailed
from symplex.meshes.generate import box
from symplex.meshes.mesh import merge

OTHERS = ~np.eye(2, dtype=bool)


def all_pairs(surface, between, expected):
    """Return the rows (edge–edge, nodes) of all pairs that a function of these nodes wants."""
    rows = []
    for v, own in zip(surface.vertices, surface.vertex_bodies, strict=True):
        for f, other in zip(surface.triangles, surface.triangle_bodies, strict=True):
            if v not in f and between[own, other] and expected(ipctk.point_triangle_distance, (v, *f)):
                rows.append((0, v, *f))
    for i, (a, own) in enumerate(zip(surface.edges, surface.edge_bodies, strict=True)):
        for b, other in zip(surface.edges[i + 1 :], surface.edge_bodies[i + 1 :], strict=True):
            if not {*a} & {*b} and between[own, other] and expected(ipctk.edge_edge_distance, (*a, *b)):
                rows.append((1, *a, *b))
    return np.array(sorted(rows), dtype=np.int32).reshape(-1, 5)


def near(surface, ends, distance, between):
    def closer(squared, nodes):
        return any(squared(*q[list(nodes)]) < distance**2 for q in ends)

    return all_pairs(surface, between, closer)


def rows_of(pairs):
    return np.column_stack([pairs.edge_edge, pairs.nodes])


def clouds(rng, bodies, decades, far):
    """Return a surface of random triangles and its points: sizes of bodies differ, all may be far from the origin."""
    parts, points, first = [], [], 0
    for b in range(bodies):
        k = int(rng.integers(6, 11))
        x = rng.normal(size=(k, 3)) * 10 ** rng.uniform(-decades, 0) + 0.3 * rng.normal(size=3)
        if b == 1:
            x = np.round(4 * x) / 4  # of equal and parallel edges, and triangles in one plane
            x[1:] += 1e-3 * np.arange(1, k)[:, None] * (np.array([1.0, 0, 0]) if decades else 1.0)
        triangles = [rng.permutation(k)[:3] for _ in range(2 * k)]
        parts.append(Surface.from_triangles(x, triangles, f"body {b}").shifted(first))
        points.append(x)
        first += k
    return Surface.join(parts), np.concatenate(points) + far


@pytest.mark.parametrize("seed", range(16))
def test_random_clouds(seed):
    rng = np.random.default_rng(seed)
    bodies = 1 + seed % 3
    surface, q = clouds(rng, bodies, seed % 4, np.array([3e4, -1e5, 10.0]) * (seed % 5 == 0))
    between = rng.random((bodies, bodies)) < 0.7
    between = between | between.T | (bodies == 1)
    distance = 10 ** rng.uniform(-2, 0.3)
    ends = (q,) if seed % 2 else (q, q + 0.1 * rng.normal(size=q.shape))
    pairs = find_pairs(surface, ends, distance, between)
    assert np.array_equal(rows_of(pairs), near(surface, ends, distance, between))
    around = rng.random(len(q)) < 0.3
    some = find_pairs(surface, ends, distance, between, around)
    assert np.array_equal(rows_of(some), rows_of(pairs)[around[pairs.nodes].any(axis=1)])


def boxes(gap, cells=(2, 3), scale=1.0):
    mesh = merge(
        {
            "lower": box((1, 1, 1), (cells[0],) * 3, split="6"),
            "upper": box((scale, scale, 1), (cells[1],) * 3, split="6", origin=(0.05, 0.1, 1.0 + gap)),
        }
    )
    return Surface.of(mesh, ["lower", "upper"]), mesh.points


@pytest.mark.parametrize("gap", [0.0, 0.03, 0.2])
def test_parallel_faces(gap):
    surface, q = boxes(gap)
    pairs = find_pairs(surface, (q,), 0.1, OTHERS)
    assert np.array_equal(rows_of(pairs), near(surface, (q,), 0.1, OTHERS))
    assert (len(pairs.nodes) > 0) == (gap < 0.1)


def test_sizes_that_differ_a_hundredfold():
    surface, q = boxes(0.01, (1, 4), 0.03)
    assert surface.edge_lengths.max() > 100 * surface.edge_lengths.min()
    pairs = find_pairs(surface, (q,), 0.02, OTHERS)
    assert np.array_equal(rows_of(pairs), near(surface, (q,), 0.02, OTHERS))
    assert len(pairs.nodes) > 20


def test_bodies_far_apart_and_one_with_itself():
    surface, q = boxes(0.0)
    q = q.copy()
    q[surface.vertices[surface.vertex_bodies == 1]] += [1e9, 0, -1e7]
    everything = np.ones((2, 2), bool)
    lower = np.array([[True, False], [False, False]])
    pairs = find_pairs(surface, (q,), 0.3, lower)
    assert len(pairs.nodes)
    assert np.array_equal(rows_of(pairs), near(surface, (q,), 0.3, lower))
    both = find_pairs(surface, (q,), 0.3, everything)
    assert np.array_equal(rows_of(both), near(surface, (q,), 0.3, everything))
    assert len(find_pairs(surface, (q,), 0.3, OTHERS).nodes) == 0


def test_what_is_listed_does_not_depend_on_the_distance():
    surface, q = boxes(0.02)
    few, many = (rows_of(find_pairs(surface, (q,), d, OTHERS)) for d in (0.05, 0.4))
    expected = near(surface, (q,), 0.05, OTHERS)
    chosen = [row for row in many.tolist() if row in expected.tolist()]
    assert np.array_equal(few, chosen)
    assert len(many) > len(few)


def test_weights_and_bounds_of_parallel_edges():
    surface, q = boxes(0.02)
    pairs = find_pairs(surface, (q,), 0.1, OTHERS)
    edge = {tuple(nodes): i for i, nodes in enumerate(surface.edges.tolist())}
    for nodes, edge_edge, weight, parallel in zip(*pairs.as_dict().values(), strict=True):
        if edge_edge:
            a, b = edge[tuple(nodes[:2])], edge[tuple(nodes[2:])]
            assert weight == pytest.approx(0.25 * (surface.edge_areas[a] + surface.edge_areas[b]))
            assert parallel == pytest.approx(1e-3 * surface.edge_lengths[a] ** 2 * surface.edge_lengths[b] ** 2)
        else:
            assert weight == pytest.approx(0.5 * surface.vertex_areas[np.searchsorted(surface.vertices, nodes[0])])
            assert parallel == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_meets_on_the_way_is_missed(seed):
    rng = np.random.default_rng(seed)
    surface, q0 = clouds(rng, 2, 0, 0.0)
    q1 = q0 + 0.4 * rng.normal(size=q0.shape)
    found = find_swept(surface, q0, q1, OTHERS)
    assert found is not None
    swept = {tuple(row) for row in rows_of(found).tolist()}
    ways = [q0 + t * (q1 - q0) for t in np.linspace(0, 1, 60)]
    met = [tuple(row) for row in near(surface, ways, 0.01, OTHERS).tolist()]
    # What comes as near as that meets, or nearly so: some of it surely does.
    ccd = ipctk.TightInclusionCCD()
    reached = [
        row
        for row in met
        if (ccd.edge_edge_ccd if row[0] else ccd.point_triangle_ccd)(*q0[list(row[1:])], *q1[list(row[1:])])[0]
    ]
    assert len(reached) > 3
    assert {*reached} <= swept


def test_it_gives_up_where_all_pairs_may_meet():
    surface, q = boxes(0.02)
    mixed = q[np.random.default_rng(0).permutation(len(q))]
    assert find_swept(surface, q, mixed, OTHERS, at_most=100) is None
    assert len(find_swept(surface, q, mixed, OTHERS).nodes) > 100


def test_edges_through_faces():
    surface, q = boxes(-0.07)
    edges, faces = edges_through_faces(surface, q, OTHERS)
    expected = [
        (i, j)
        for i, (a, own) in enumerate(zip(surface.edges, surface.edge_bodies, strict=True))
        for j, (f, other) in enumerate(zip(surface.triangles, surface.triangle_bodies, strict=True))
        if own != other and ipctk.is_edge_intersecting_triangle(*q[a], *q[f])
    ]
    assert len(expected)
    assert np.column_stack([edges, faces]).tolist() == [list(pair) for pair in expected]


def test_positions_that_do_not_fit_are_told():
    surface, q = boxes(0.0)
    with pytest.raises(InvalidSystem, match="nodes up to"):
        find_pairs(surface, (q[:5],), 0.1, OTHERS)
    q[7] = np.nan
    with pytest.raises(StepFailed, match="node 7 on the surface is not finite"):
        find_pairs(surface, (q,), 0.1, OTHERS)
