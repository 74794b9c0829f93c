"""Random pairs of a vertex and a face, and of two edges, as an energy."""

import numpy as np

from symplex.contact import Surface
from symplex.contact.laws import LAWS
from symplex.contact.pair_energy import PairEnergy, nearest
from symplex.contact.pairs import PairRecord

SURFACE = Surface.from_triangles(np.eye(3), np.array([[0, 1, 2]], np.int32))


class Sample(PairEnergy):
    """Pairs with positions x [m, 4, 3]; each pair has its own nodes."""

    def __init__(self, x, pairs):
        super().__init__(SURFACE, pairs)
        self.x = x

    def nearest(self, x):
        return nearest(x.reshape(-1, 3), self.record)

    def replace(self, **changes):
        """Return the same with other fields of the record."""
        return Sample(self.x, self.record.replace(**changes))


def sample(m, law="barrier", *, reach=1.5, seed=0, degenerate=False, thresholds=(0.0, 1e-3, 0.5)):
    """Return m pairs, every other one of edges, of a size about 1 and about as far apart."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((m, 4, 3))
    edge_edge = (np.arange(m) % 2).astype(np.uint8)
    if degenerate:
        make_degenerate(x, edge_edge, rng)
    rest = np.einsum("mi,mi->m", x[:, 1] - x[:, 0], x[:, 1] - x[:, 0])
    rest *= np.einsum("mi,mi->m", x[:, 3] - x[:, 2], x[:, 3] - x[:, 2])
    # None, as small as in use, and so large that many pairs are below it.
    size = rng.choice(thresholds, m)
    parallel = np.where(edge_edge == 1, size * rest, 0.0)
    nodes = np.arange(4 * m, dtype=np.int32).reshape(m, 4)
    fields = {"nodes": nodes, "edge_edge": edge_edge, "weights": rng.uniform(0.5, 1.0, m), "parallel": parallel}
    return Sample(x, PairRecord(**fields, law=LAWS[law], stiffness=2.0, reach=reach))


def make_degenerate(x, edge_edge, rng):
    """Make edges parallel, exactly or nearly, and faces slivers, and put vertices above vertices and edges."""
    m = len(x)
    kind = rng.integers(5, size=m)
    small = 10.0 ** rng.uniform(-12, -1, (m, 1)) * rng.integers(2, size=(m, 1))
    for e in range(m):
        noise = small[e] * rng.standard_normal(3)
        if edge_edge[e]:
            if kind[e] <= 1:  # nearly parallel, shifted along each other
                x[e, 3] = x[e, 2] + rng.choice([-1.0, 0.7]) * (x[e, 1] - x[e, 0]) + noise
            elif kind[e] == 2:  # ends that lie above each other
                x[e, 2] = x[e, 0] + np.cross(x[e, 1] - x[e, 0], x[e, 3] - x[e, 0]) + noise
            elif kind[e] == 3:  # in one plane
                x[e, :, 2] = small[e, 0] * rng.standard_normal(4)
        elif kind[e] <= 1:  # a sliver
            x[e, 3] = x[e, 1] + rng.uniform(-1.0, 2.0) * (x[e, 2] - x[e, 1]) + noise
        elif kind[e] == 2:  # above an edge
            x[e, 0] = 0.3 * x[e, 1] + 0.7 * x[e, 2] + np.cross(x[e, 2] - x[e, 1], x[e, 3] - x[e, 1]) + noise
        elif kind[e] == 3:  # above a vertex
            x[e, 0] = x[e, 1] + np.cross(x[e, 2] - x[e, 1], x[e, 3] - x[e, 1]) + noise


def increments(x, seed=1):
    """Return other positions, by steps of sizes from 1e-9 to 3."""
    rng = np.random.default_rng(seed)
    return x + rng.standard_normal(x.shape) * 10.0 ** rng.uniform(-9, 0.5, (len(x), 1, 1))
