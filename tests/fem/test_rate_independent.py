"""Inelastic parts of local functions: bars that yield, bars that break, cohesive faces, and those of users."""

import numpy as np
import pytest

from symplex.errors import CheckFailed, InvalidSystem, MaterialError
from symplex.fem.actions.support_motion import SupportTranslation
from symplex.fem.couplings.cohesive import CohesiveFaces
from symplex.fem.energies.energy import RIGID
from symplex.fem.energies.rate_independent import RateIndependent
from symplex.fem.measures.inelastic_bars import InelasticBars, LengthLaw
from symplex.fem.measures.separation import BreakingBar, TractionSeparation
from symplex.fem.outputs.force_probes import ForceProbe
from symplex.fem.outputs.forces import force_on, reactions
from symplex.fem.outputs.inelastic_probe import InelasticProbe
from symplex.fem.solids.hardening import Hardening
from symplex.fem.structures.yielding import YieldingBar
from symplex.fem.system import System
from symplex.meshes.generate import bar_lattice
from symplex.testing.inelastic import check_inelastic
from symplex.testing.systems import check_system
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.equilibria.quasi_static import Static
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.solvers.newton import Newton

E, SIGMA, H, C, AREA = 200e9, 2e8, 5e9, 1e10, 1e-4
EPS = np.finfo(float).eps


def frame():
    mesh = bar_lattice((2.0, 1.0, 1.0), (2, 1, 1), diagonals="all")
    return mesh.points, mesh.cells["line"]


def yielding(hardening=None):
    points, lines = frame()
    lengths = np.linalg.norm(points[lines[:, 1]] - points[lines[:, 0]], axis=1)
    hardening = Hardening(SIGMA, modulus=H) if hardening is None else hardening
    law = YieldingBar(E, AREA, lengths, hardening.with_back_stress(C))
    return InelasticBars(lines, law), points, 0.02


def breaking():
    points, lines = frame()
    lengths = np.linalg.norm(points[lines[:, 1]] - points[lines[:, 0]], axis=1)
    return InelasticBars(lines, BreakingBar(TractionSeparation(1e4, 200.0, 1e6), lengths)), points, 0.05


def cohesive(shape="bilinear", kind="quad"):
    flat = {
        "quad": [[0, 0, 0], [1, 0, 0], [1.1, 1, 0.1], [0, 0.9, 0]],
        "triangle": [[0, 0, 0], [1, 0, 0], [0, 0.9, 0]],
        "triangle6": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0, 0.02], [0.5, 0.5, 0], [0, 0.5, 0]],
    }[kind]
    points, k = np.array(flat + flat, float), len(flat)
    law = TractionSeparation(2.0, 1.0, shape=shape)
    return CohesiveFaces([range(k)], [range(k, 2 * k)], points, law, shear_ratio=0.8), points, 0.4


class Damaged(RateIndependent):
    """Springs of k/2 (1 − d) (l − L)² whose damage d grows with the greatest stretch: a part of a user."""

    invariances = RIGID

    def __init__(self, pairs, lengths, stiffness, greatest):
        self.nodes, self.lengths, self.k, self.end = np.array(pairs, np.int32), lengths, stiffness, greatest
        self.shape = (len(self.nodes),)

    def _stretch(self, x):
        return np.linalg.norm(x[:, 1] - x[:, 0], axis=1) - self.lengths

    def stored_energy(self, x, z):
        return 0.5 * self.k * (1.0 - z / self.end) * self._stretch(x) ** 2

    def stored_gradient(self, x, z):
        d = x[:, 1] - x[:, 0]
        pull = (self.k * (1.0 - z / self.end) * self._stretch(x) / np.linalg.norm(d, axis=1))[:, None] * d
        return np.stack([-pull, pull], axis=1)

    def updated(self, x, z):
        return np.clip(self._stretch(x), z, self.end)

    def dissipation(self, z0, z1):  # ∫ ½ k/end κ² dκ
        return self.k / self.end * (z1**3 - z0**3) / 6.0


def damaged():
    points, lines = frame()
    lengths = np.linalg.norm(points[lines[:, 1]] - points[lines[:, 0]], axis=1)
    return Damaged(lines, lengths, 1e5, 0.3), points, 0.05


class Slipping(LengthLaw):
    """A spring in series with a slider of Coulomb: a law of a user, with no stiffness of its own."""

    def energy(self, length, z):
        return 0.5 * 1e4 * (length - 1.0 - z[:, 0]) ** 2

    def tension(self, length, z):
        return 1e4 * (length - 1.0 - z[:, 0])

    def updated(self, length, z):
        stretch = length - 1.0 - z[:, 0]
        return z + (np.sign(stretch) * np.maximum(np.abs(stretch) - 0.01, 0.0))[:, None]

    def dissipation(self, z0, z1):
        return 100.0 * np.abs(z1 - z0)[:, 0]


def slipping():
    points, lines = frame()
    return InelasticBars(lines, Slipping()), points, 0.1


PARTS = {
    "yielding": yielding,
    "voce": lambda: yielding(Hardening(SIGMA, H, saturation_stress=3e8, saturation_rate=50.0)),
    "table": lambda: yielding(Hardening.table([0.0, 0.01], [SIGMA, 2 * SIGMA])),
    "breaking": breaking,
    "cohesive": cohesive,
    "exponential": lambda: cohesive("exponential"),
    "triangle": lambda: cohesive("exponential", "triangle"),
    "quadratic": lambda: cohesive("bilinear", "triangle6"),
    "user": damaged,
    "user's law": slipping,
}


def shaken(points, amount, seed=0):
    return points + amount * np.random.default_rng(seed).uniform(-1.0, 1.0, points.shape)


@pytest.mark.parametrize("name", PARTS)
def test_parts_keep_what_they_promise(name):
    part, points, amount = PARTS[name]()
    check_inelastic(part, points, shaken(points, amount))


def test_wrong_parts_are_found():
    class Loses(Damaged):
        def dissipation(self, z0, z1):
            return 0.9 * super().dissipation(z0, z1)

    class Tilts(Damaged):
        def stored_gradient(self, x, z):
            return super().stored_gradient(x, z) * [1.0, 1.0, 1.01]

    class Forgets(Damaged):
        def updated(self, x, z):
            return np.clip(self._stretch(x), 0.5 * z, self.end)

    _, points, amount = damaged()
    lines, lengths = damaged()[0].nodes, damaged()[0].lengths
    for kind in (Loses, Tilts, Forgets):
        with pytest.raises(CheckFailed):
            check_inelastic(kind(lines, lengths, 1e5, 0.3), points, shaken(points, amount))


def test_a_wrong_stiffness_is_found():
    class Stiffer(Slipping):
        def stiffness(self, length, z):
            return 1.02 * super().stiffness(length, z)

    _, points, amount = slipping()
    part = InelasticBars(frame()[1], Stiffer())
    with pytest.raises(CheckFailed, match="add_derivatives must be those of force"):
        check_inelastic(part, points, shaken(points, amount))


def test_a_system_checks_the_parts_of_its_user():
    class Loses(Damaged):
        def dissipation(self, z0, z1):
            return 0.9 * super().dissipation(z0, z1)

    part, points, _ = damaged()
    wrong = Loses(part.nodes, part.lengths, 1e5, 0.3)
    sliding, mass = slipping()[0], np.ones(len(points))
    system = System(mass, {}, inelastic={"springs": part, "sliders": sliding})
    check_system(system, system.state(points, 0.0 * points))
    system = System(mass, {}, inelastic={"springs": wrong})
    with pytest.raises(CheckFailed, match="inelastic part 'springs': Loses: "):
        check_system(system, system.state(points, 0.0 * points))
    system = System(mass, {}, inelastic={"springs": Damaged(part.nodes, part.lengths + 9.0, 1e5, 99.0)})
    with pytest.warns(UserWarning, match="'springs' \\(Damaged\\) does not change near the start"):
        check_system(system, system.state(points, 0.0 * points))


# -- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hardening", [Hardening(SIGMA, modulus=H), Hardening(SIGMA)])
def test_a_cyclic_bar_follows_its_closed_form(hardening):
    """σ and p of bilinear kinematic and isotropic hardening between turning points, each in closed form."""
    slope = hardening.constants[1]
    law, z = YieldingBar(E, AREA, 2.0, hardening.with_back_stress(C)), np.zeros((1, 2))
    hard = C + slope
    p, alpha = 0.0, 0.0
    for strain in (0.01, -0.02, 0.03, -0.005):
        # Flow between turning points: |E (e − p) − C p| = σ0 + H α, p and α linear in e.
        way = np.sign(strain - p)
        excess = abs(E * (strain - p) - C * p) - (SIGMA + slope * alpha)
        assert excess > 0.0
        p, alpha = p + way * excess / (E + hard), alpha + excess / (E + hard)
        for part in np.linspace(0.0, 1.0, 7)[1:]:  # the return does not depend on the number of increments
            at = 2.0 * (1.0 + law_start(z, law) + part * (strain - law_start(z, law)))
            end = law.updated(np.array([at]), z)
        z = end
        assert z[0] == pytest.approx([p, alpha], rel=1e-12)
        assert law.stress(np.array([2.0 * (1.0 + strain)]), z)[0] == pytest.approx(E * (strain - p), rel=1e-9)
    stored = 0.5 * AREA * 2.0 * (E * (strain - p) ** 2 + C * p**2)
    assert law.energy(np.array([2.0 * (1.0 + strain)]), z)[0] == pytest.approx(stored, rel=1e-9)


def law_start(z, law):
    """Return the elastic limit strain from which a path to the next turning point begins: that of no stress."""
    return float(z[0, 0])


def test_work_of_a_closed_cycle_is_the_area_of_its_loop():
    """Perfect plasticity between strains ±e: the loop is a parallelogram of 4 σ0 (e − σ0/E) per volume."""
    law = YieldingBar(E, AREA, 1.0, Hardening(SIGMA))
    part = InelasticBars([[0, 1]], law, dim=1)
    e, q, z = 0.01, np.array([[0.0], [1.0]]), np.zeros((1, 2))
    worked = lost = 0.0
    path = np.concatenate([np.linspace(0, e, 8)[1:], np.linspace(e, -e, 15)[1:], np.linspace(-e, e, 15)[1:]])
    for k, strain in enumerate(path):
        to = np.array([[0.0], [1.0 + strain]])
        force = part.mean_force(q, z, to, 1.0)
        z, one = part.after(q, z, to, 1.0)
        if k >= 7:  # from the first turning point on
            worked, lost = worked - np.sum(force * (to - q)), lost + one
        q = to
    assert worked == pytest.approx(4 * SIGMA * (e - SIGMA / E) * AREA, rel=1e-10)
    assert lost == pytest.approx(worked, rel=1e-10)


@pytest.mark.parametrize("shape", ["bilinear", "exponential"])
def test_the_area_under_a_separation_law_is_its_fracture_energy(shape):
    law = TractionSeparation(2e6, 150.0, shape=shape)
    kappa = np.linspace(0.0, law.failure, 200001)
    traction = law.secant(kappa) * kappa
    area = np.sum(0.5 * (traction[1:] + traction[:-1]) * np.diff(kappa))
    assert area == pytest.approx(150.0, rel=1e-6)
    assert traction.max() == pytest.approx(2e6, rel=2e-4)
    assert law.dissipated(np.array([law.failure])) == pytest.approx(150.0, rel=1e-12)
    assert law.secant(np.array([law.failure])) == 0.0
    assert law.damage(np.array([0.0]))[0] == 0.0


def test_faces_press_on_each_other_and_slide_apart_freely():
    part, points, _ = cohesive()
    law = part.law
    pressed = points.copy()
    pressed[4:, 2] -= 0.1
    f = part.force(points, part.initial(), pressed, 1.0)
    assert f[4:, 2].min() > 0.0  # they push back
    away = pressed.copy()
    away[4:, 0] += 1.01 * law.failure
    assert np.abs(part.force(points, np.full(part.shape, law.failure), away, 1.0)).max() == 0.0


# -- motions ----------------------------------------------------------------------------------------------------------


def moving(name):
    part, points, _ = PARTS[name]()
    rng = np.random.default_rng(1)
    speed = {"yielding": 40.0, "breaking": 20.0, "user": 20.0, "cohesive": 1.0}[name]
    mass = np.full(len(points), 10.0 if name != "cohesive" else 0.3)
    system = System(mass, {}, inelastic={"part": part})
    v = np.cross([0.0, 0.0, speed], points - points.mean(0)) + 0.3 * speed * rng.standard_normal(points.shape)
    return system, system.state(points, v)


MOTIONS = {"yielding": (2e-4, 1e-2), "breaking": (5e-4, 2e-2), "user": (1e-3, 5e-2), "cohesive": (2e-3, 0.2)}


@pytest.mark.parametrize("name", MOTIONS)
def test_motions_balance_to_round_off_and_keep_momenta(name):
    system, state = moving(name)
    dt, duration = MOTIONS[name]
    motion = EnergyMomentum(dt).start(system, state)
    start = motion.energies(state)
    end = motion.advance(duration)
    found = motion.energies(end)
    assert found["work_part"] < -1e-3 * start["total"]
    # some ten roundings of energies in each of the steps
    assert abs(found["balance"] - start["total"]) <= 100 * EPS * duration / dt * start["total"]
    for before, after in (
        (system.momentum(state), system.momentum(end)),
        (system.angular_momentum(state), system.angular_momentum(end)),
    ):
        scale = system.mass.sum() * np.abs(state.v).max() * (1.0 + np.abs(end.q).max())
        assert np.abs(after - before).max() <= 100 * EPS * duration / dt * scale


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "cohesive")) for name in MOTIONS]
)
def test_methods_agree_and_resume_to_the_last_bit(name):
    system, state = moving(name)
    dt, duration = MOTIONS[name]
    works = []
    # A discrete gradient over a kink has the round-off of energies, divided by the increment.
    loose = Newton(tolerance=1e-9)
    for method in (EnergyMomentum(dt / 4, newton=loose), Midpoint(dt / 4), Newmark(dt / 32)):
        motion = method.start(system, state)
        middle = motion.advance(duration / 4)
        resumed = method.resume(system, motion.checkpoint())
        assert np.array_equal(middle.internal["part"], resumed.advance(duration / 4).internal["part"])
        end, again = motion.advance(duration / 2), resumed.advance(duration / 2)
        assert np.array_equal(end.q, again.q)
        assert np.array_equal(end.internal["part"], again.internal["part"])
        works.append(motion.energies(end)["work_part"])
    assert works == pytest.approx([works[0]] * 3, rel=0.05)


def test_a_bond_peeled_by_statics_dissipates_its_fracture_energy():
    part, points, _ = cohesive()
    fixed = np.zeros((8, 3), bool)
    fixed[:4] = True
    pull = SupportTranslation([4, 5, 6, 7], "z", ([0.0, 1.0], [0.0, 2.0 * part.law.failure]), components="xyz")
    system = System(np.ones(8), {}, fixed=fixed, inelastic={"glue": part}, moving={"pull": pull})
    motion = Static(0.02).start(system, system.state(points, np.zeros((8, 3))))
    end = motion.advance(1.0)
    found = motion.energies(end)
    assert part.damage(end.internal["glue"]) == pytest.approx([1.0])
    assert -found["work_glue"] == pytest.approx(part.areas.sum(), rel=1e-12)  # Gc = 1
    half = motion_half(system)
    force, _ = force_on(system, half, "glue", [4, 5, 6, 7])
    pulled, _ = reactions(system, half, [4, 5, 6, 7])
    assert force[2] < -0.1
    assert force == pytest.approx(-pulled, abs=1e-12)
    acting = ForceProbe("glue", ["glue"], [4, 5, 6, 7])
    assert acting.of(system, half)["force_z"] == pytest.approx(force[2], rel=1e-12)
    probe = InelasticProbe("damage", system, "glue", ["damage", "opening"])
    assert list(probe.of(system, end).values()) == pytest.approx([1.0, 2.0 * part.law.failure], rel=2e-2)


def motion_half(system):
    """Return the state at which the bond is open by a fifth of the opening at failure."""
    points = cohesive()[1]
    return Static(0.02).start(system, system.state(points, np.zeros((8, 3)))).advance(0.1)


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: TractionSeparation(2.0, 1.0, 1.9), MaterialError, "must be above T0²/\\(2 Gc\\) = 2"),
        (lambda: TractionSeparation(2.0, 1.0, 9.0, "exponential"), MaterialError, "Leave it out"),
        (lambda: BreakingBar(TractionSeparation(2.0, 1.0), 0.0), MaterialError, "natural length must be positive"),
        (
            lambda: YieldingBar(E, 1.0, 1.0, Hardening(SIGMA).with_rate(1.0, factor=0.1)),
            MaterialError,
            "bars have no rate",
        ),
        (lambda: YieldingBar(E, 0.0, 1.0, Hardening(SIGMA)), MaterialError, "section must be positive"),
        (
            lambda: CohesiveFaces([[0, 1]], [[2, 3]], np.zeros((4, 3)), TractionSeparation(2.0, 1.0)),
            InvalidSystem,
            "triangles",
        ),
        (
            lambda: CohesiveFaces([[0, 1, 2]], [[3, 4, 5]], np.zeros((6, 3)), TractionSeparation(2.0, 1.0)),
            InvalidSystem,
            "has no area",
        ),
        (
            lambda: InelasticProbe("p", System(np.ones(2), {}), "glue", ["damage"]),
            InvalidSystem,
            "there is no inelastic part 'glue'",
        ),
    ],
)
def test_what_is_impossible_is_refused(make, error, message):
    with pytest.raises(error, match=message), np.errstate(all="ignore"):
        make()
