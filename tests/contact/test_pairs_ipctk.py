"""Contact pairs against ipctk, the toolkit of Incremental Potential Contact, on random and degenerate pairs."""

import ipctk
import numpy as np
import pytest

from reference.pair_samples import sample

MANY = 4000
FACE = np.array([[1, 2, 3]], dtype=np.int32), np.array([[1, 2], [2, 3], [3, 1]], dtype=np.int32)
EDGES = np.empty((0, 3), dtype=np.int32), np.array([[0, 1], [2, 3]], dtype=np.int32)


def barriers(rest, x, edge_edge, reach):
    """The barrier of ipctk and its gradient of each pair, at positions x [m, 4, 3], with lengths at rest."""
    values, gradients = np.zeros(len(x)), np.zeros(x.shape)
    barrier = ipctk.BarrierPotential(reach, 1.0)
    of_faces, of_edges = ipctk.Candidates(), ipctk.Candidates()
    of_faces.fv_candidates = [ipctk.FaceVertexCandidate(0, 0)]
    of_edges.ee_candidates = [ipctk.EdgeEdgeCandidate(0, 1)]
    for e in range(len(x)):
        faces, edges = EDGES if edge_edge[e] else FACE
        mesh = ipctk.CollisionMesh(rest[e], edges, faces)
        collisions = ipctk.NormalCollisions()
        collisions.build(of_edges if edge_edge[e] else of_faces, mesh, x[e], reach)
        values[e] = barrier(collisions, mesh, x[e])
        gradients[e] = barrier.gradient(collisions, mesh, x[e]).reshape(4, 3)
    return values, gradients


@pytest.mark.parametrize("degenerate", [False, True])
def test_values_and_gradients_are_those_of_ipctk(degenerate):
    reach = 1.3
    tried = sample(MANY, reach=reach, degenerate=degenerate, thresholds=(1e-3,), seed=21)
    tried = tried.replace(weights=np.ones(MANY), stiffness=reach**2)
    pairs = tried.record
    # Edges that were not parallel at rest and are now, and the other way round.
    x = tried.x * np.array([1.0, 0.7, 1.4])
    expected, gradients = barriers(tried.x, x, pairs.edge_edge, reach)
    found, of_x = tried.value(x), tried.gradient(x)
    assert np.mean(expected > 0.0) > 0.2
    gaps = tried.nearest(x)[1]
    near = gaps > 1e-6  # closer, the gap is mostly rounding
    assert np.mean(near) > 0.95
    np.testing.assert_allclose(found[near], expected[near], rtol=1e-12, atol=1e-12)
    error = np.abs(of_x - gradients).reshape(MANY, -1).max(axis=1)
    error /= np.abs(gradients).reshape(MANY, -1).max(axis=1) + 1.0
    # Which share of the force each node takes of a face that is nearly a line is known to eps/sin² only, in both, and
    # the direction of a gap to eps/gap.
    a, b = x[:, 2] - x[:, 1], x[:, 3] - x[:, 1]
    sine = np.linalg.norm(np.cross(a, b), axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    sine[pairs.edge_edge == 1] = 1.0
    known = near & (sine > 1e-3)
    assert np.mean(known) > 0.75
    assert (error * sine**2 * np.minimum(gaps, 1.0))[known].max() < (1e-11 if degenerate else 1e-12)
