"""Random pairs of a vertex and a face, and of two edges, with what the loops say of them."""

from dataclasses import dataclass

import numpy as np

from symplex.contact import pair_directional, pair_discrete, pair_loops
from symplex.contact.laws import LAWS
from symplex.contact.pairs import Law
from symplex.contact.search import SurfacePairs


@dataclass
class Sample:
    """Pairs with positions x [m, 4, 3], and a law; each pair has nodes of its own."""

    x: np.ndarray
    pairs: SurfacePairs
    law: Law

    @property
    def slots(self):
        return np.arange(16 * len(self.x), dtype=np.int32).reshape(-1, 4, 4)

    def _run(self, loop, out, *arguments):
        loop(*[a if isinstance(a, bool) else a.reshape(-1, 3) for a in arguments], self.pairs, self.law, *out)
        return out[-1]

    def value(self, x):
        return self._run(pair_loops.set_values, [np.empty(len(x))], x)

    def gradient(self, x):
        return self._run(pair_loops.add_gradient, [np.zeros((4 * len(x), 3))], x).reshape(-1, 4, 3)

    def hessian(self, x):
        return self._blocks(pair_loops.add_hessian, x)

    def discrete_gradient(self, x0, x1):
        out = [np.zeros((4 * len(x0), 3))]
        return self._run(pair_discrete.add_discrete_gradient, out, x0, x1, x0, False).reshape(-1, 4, 3)

    def increment_gradient(self, x, low, dx):
        out = [np.zeros((4 * len(x), 3))]
        return self._run(pair_discrete.add_discrete_gradient, out, x, dx, low, True).reshape(-1, 4, 3)

    def discrete_hessian(self, x0, x1):
        return self._blocks(pair_discrete.add_discrete_hessian, x0, x1)

    def third(self, x, a):
        return self._run(pair_directional.add_third, [np.zeros((4 * len(x), 3))], x, a).reshape(-1, 4, 3)

    def secant(self, x):
        return self._run(pair_directional.add_secant, [self.slots, np.zeros(16 * len(x))], x).reshape(-1, 4, 4)

    def secant_rate(self, x, v):
        out = [self.slots, np.zeros(16 * len(x))]
        return self._run(pair_directional.add_secant_rate, out, x, v).reshape(-1, 4, 4)

    def nearest(self, x):
        c, distances = np.empty((len(x), 4)), np.empty(len(x))
        pair_loops.set_nearest(x.reshape(-1, 3), self.pairs, c, distances)
        return c, distances

    def _blocks(self, loop, *arguments):
        out = self._run(loop, [self.slots, np.zeros((16 * len(self.x), 3, 3))], *arguments)
        return out.reshape(-1, 4, 4, 3, 3).swapaxes(2, 3).reshape(-1, 12, 12)


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
    return Sample(x, SurfacePairs(nodes, edge_edge, rng.uniform(0.5, 1.0, m), parallel), Law(LAWS[law], 2.0, reach))


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
