"""Clusters of TIP3P water: rigid molecules with charges, kept rigid by constraints or by penalties.

Shared by `water.py` and `water_100.py`: section 4.3 of Tao and Owhadi, "Variational and linearly-implicit integrators,
with applications" (2014), who do not name their units. Here they are Å, atomic mass units and eV (or another energy):
the unit of time is 10.2 fs then, and the paper's kT = 0.02 is 232 K. Parameters are those of Jorgensen et al., J. Chem.
Phys. 79 (1983) 926. Atoms are in the order H, O, H, molecule by molecule.
"""

from dataclasses import dataclass
from functools import cached_property
from time import process_time

import numpy as np
from scipy.spatial.transform import Rotation

import symplex as sx
from symplex.fem.energies.energy import Array

KCAL = 0.04336410  # eV in 1 kcal/mol
MASSES = np.array([1.008, 15.9994, 1.008])
CHARGES = np.array([0.417, -0.834, 0.417])  # of an electron's
COULOMB = 14.399645  # eV Å, for two elementary charges
REPULSION, ATTRACTION = 582.0e3 * KCAL, 595.0 * KCAL  # eV Å¹² and eV Å⁶: A/r¹² − C/r⁶ between oxygens
OH, ANGLE = 0.9572, np.radians(104.52)
HH = 2.0 * OH * np.sin(0.5 * ANGLE)
DISTANCES, LENGTHS = np.array([[0, 1], [2, 1], [0, 2]]), np.array([OH, OH, HH])  # what makes a molecule rigid, eq. 25
MOLECULE = OH * np.array(
    [[np.sin(0.5 * ANGLE), np.cos(0.5 * ANGLE), 0.0], [0.0, 0.0, 0.0], [-np.sin(0.5 * ANGLE), np.cos(0.5 * ANGLE), 0.0]]
)
SPACING = 2.9  # Å between molecules that are set down

TEMPERATURE, FRICTION = 0.02, 0.01  # the paper's 1/β and γ
STEP, OMEGA = 0.05, 20.0  # the paper's h and ω
BETA = 0.4  # Zhang and Skeel's β: not said in section 4.3, but in 4.1 and 4.2


class Cluster:
    """Molecules that attract and repel each other, and what keeps them rigid.

    Parameters
    ----------
    n : int
        How many.
    energy : float, default 1
        The unit of energy in eV.
    """

    def __init__(self, n: int, energy: float = 1.0):
        self.n = n
        self.mass = np.tile(MASSES, n)
        self.femtoseconds = 10.180506 / np.sqrt(energy)  # in a unit of time
        self.kelvin = 11604.518 * energy  # in kT = 1
        pairs = sx.measures.all_pairs(3 * n)
        pairs = pairs[pairs[:, 0] // 3 != pairs[:, 1] // 3]
        charges = np.tile(CHARGES, n)[pairs]
        depth, diameter = ATTRACTION**2 / (4.0 * REPULSION), (REPULSION / ATTRACTION) ** (1.0 / 6.0)
        self._energies = {
            "charges": sx.Bars(pairs, sx.measures.InverseDistance(-COULOMB / energy * charges[:, 0] * charges[:, 1])),
            "van der Waals": sx.Bars(
                3 * sx.measures.all_pairs(n) + 1, sx.measures.LennardJones(depth / energy, diameter)
            ),
        }
        self.rods = sx.measures.RigidBars(
            (3 * np.arange(n)[:, None, None] + DISTANCES).reshape(-1, 2), np.tile(LENGTHS, n)
        )
        self.constraints = {"molecules": self.rods}

    @cached_property
    def rigid(self) -> sx.System:
        """The cluster whose molecules are kept rigid by the ``constraints`` of a method."""
        return sx.System(self.mass, self._energies)

    def penalised(self, omega: float = OMEGA) -> sx.System:
        """Return the cluster with the penalties ½ω² (r² − L²)² of eq. 26: bars of Green's strain, k = 4L²ω²."""
        length = self.rods.length
        bars = sx.Bars(self.rods.nodes, sx.measures.GreenStrain(4.0 * length**2 * omega**2, length))
        return sx.System(self.mass, {**self._energies, "molecules": bars})

    def penalty(self, omega: float) -> sx.Penalty:
        """Return the same penalties, of which there are multipliers."""
        return sx.Penalty(self.rods, 4.0 * self.rods.length**2 * omega**2)

    def droplet(self, seed: int = 0) -> Array:
        """Return positions [3n, 3]: molecules turned at random, at the points of a cubic lattice next to a centre."""
        side = np.arange(np.ceil(self.n ** (1.0 / 3.0)) + 2.0)
        points = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
        points -= points.mean(axis=0)
        nearest = points[np.argsort(np.linalg.norm(points, axis=1), kind="stable")[: self.n]]
        turns = Rotation.from_quat(np.random.default_rng(seed).standard_normal((self.n, 4)))
        turned = np.einsum("nij,kj->nki", turns.as_matrix(), MOLECULE)
        return (SPACING * nearest[:, None] + turned).reshape(-1, 3)

    def equilibrated(self, steps: int, dt: float, seed: int = 0, temperature: float = TEMPERATURE) -> sx.State:
        """Return a droplet after steps at a temperature kT, with a friction that takes its heat away."""
        method = sx.Langevin(self.rattle(dt), temperature, rate=0.05, seed=seed, boltzmann=1.0)
        start = self.rigid.state(self.droplet(seed))
        state = method.start(self.rigid, start).advance(steps * dt)
        return self.rigid.state(state.q, state.v)

    # -- methods ------------------------------------------------------------------------------------------------

    def rattle(self, dt: float = STEP) -> sx.Rattle:
        """Return RATTLE for the rigid cluster, whose positions are those of SHAKE."""
        return sx.Rattle(dt, self.constraints)

    def shake(self, dt: float = STEP) -> sx.constraints.Shake:
        """Return SHAKE for the rigid cluster."""
        return sx.constraints.Shake(dt, self.constraints)

    # -- what is measured ---------------------------------------------------------------------------------------

    def oxygen_distances(self, q: Array) -> Array:
        """Return the distances [..., n(n − 1)/2] of oxygens at the positions q [..., 3n, 3]."""
        i, j = np.triu_indices(self.n, 1)
        oxygens = q[..., 1::3, :]
        return np.linalg.norm(oxygens[..., i, :] - oxygens[..., j, :], axis=-1)

    def neighbours(self, q: Array) -> float:
        """Return how many oxygens are within 3.5 Å of one, on average."""
        distances = self.oxygen_distances(q)
        return float(2.0 * np.mean(distances < 3.5) * distances.shape[-1] / self.n)


def zhang_skeel(dt: float = STEP, beta: float = BETA) -> sx.ZhangSkeel:
    """Return the simplified method for stiff systems (eq. 19) with molecules as the stiff part."""
    return sx.ZhangSkeel(dt, beta=beta, variant="simplified", stiff=("molecules",))


def thermostat(method: sx.Integrator, by_mass: bool, seed: int = 0) -> sx.Langevin:
    """Return a method at the paper's temperature, with its friction for each atom or in proportion to mass.

    Constraints need the second: it is the paper's for hydrogen. What is sampled depends on neither.
    """
    if by_mass:
        return sx.Langevin(method, TEMPERATURE, rate=FRICTION / MASSES[0], seed=seed, boltzmann=1.0)
    return sx.Langevin(method, TEMPERATURE, friction=FRICTION, seed=seed, boltzmann=1.0)


@dataclass(frozen=True)
class Run:
    """What was seen at equal intervals, and the least processor time of a step in s, over such an interval."""

    path: sx.Trajectory
    seconds: float


def follow(system: sx.System, method: sx.Integrator, start: sx.State, steps: int, every: int, dt: float = STEP) -> Run:
    """Follow a cluster from positions and velocities, looking once in some steps."""
    motion, recorder = method.start(system, system.state(start.q, start.v)), sx.Recorder()
    recorder(motion, motion.advance(0.0))
    least = np.inf
    for k in range(every, steps + 1, every):
        begin = process_time()
        state = motion.advance(k * dt)
        least = min(least, process_time() - begin)
        recorder(motion, state)
    return Run(recorder.trajectory(), least / every)


def histogram(distances: Array, edges: Array) -> Array:
    """Return the density in 1/Å of distances between edges, whose integral over all distances is 1."""
    return np.histogram(distances, edges)[0] / (np.diff(edges) * distances.size)


def mean_and_error(values: Array, blocks: int = 10) -> tuple[float, float]:
    """Return the mean of a time series and its standard error, from the scatter of means over blocks."""
    means = np.array([block.mean() for block in np.array_split(values, blocks)])
    return float(values.mean()), float(means.std(ddof=1) / np.sqrt(blocks))
