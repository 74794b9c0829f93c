"""The examples of bonds and erosion: a beam peeled at its fracture energy, and a plate that a shot perforates."""

from pathlib import Path

import numpy as np
import pytest

from reference.scenario_motions import motion_of
from symplex.fem.couplings.cohesive import CohesiveFaces
from symplex.fem.solids.eroding import Eroding
from symplex.scenario.scenario import Scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
E, WIDTH, HEIGHT, GC = 70e9, 0.005, 0.003, 300.0
EPS = np.finfo(float).eps


def peeled(changes, times):
    """Return G/Gc by beam theory, the crack length by theory and by damage in m, the dissipation, and the part."""
    problem, states, energies = motion_of(Scenario.read(EXAMPLES / "peeling.toml").with_values(changes), times)
    system = problem.system
    glue, upper = system.inelastic["glue"], problem.mesh.nodes_of("upper.x_min")
    assert isinstance(glue, CohesiveFaces)
    rates, cracks, tips = [], [], []
    inertia = WIDTH * HEIGHT**3 / 12.0
    for state in states[1:]:
        force = system.reactions(state)[upper, 2].sum()
        opening = 2.0 * 1.65e-3 * state.t
        crack = (1.5 * opening * E * inertia / force) ** (1.0 / 3.0)
        rates.append(force**2 * crack**2 / (WIDTH * E * inertia) / GC)
        cracks.append(crack)
        tips.append(0.03 + glue.damage(state.internal["glue"]).sum() * 0.05 / len(glue.nodes))
    return np.array(rates), np.array(cracks), np.array(tips), -energies["work_glue"], glue, states[-1]


def test_a_double_cantilever_beam_begins_to_peel_at_its_fracture_energy():
    changes = {"integrator.dt": 0.02, "run.duration": 0.52, "run.frames": 1, "run.samples": 26}
    rates, _, tips, lost, glue, end = peeled(changes, np.array([0.0, 0.2, 0.5, 0.52]))
    assert rates[0] < 0.4  # intact
    assert rates[1:] == pytest.approx([1.0, 1.0], abs=0.02)
    assert tips[-1] > 0.035
    gone = (glue.areas * glue.law.damage(end.internal["glue"])).sum()
    assert lost == pytest.approx(GC * gone, rel=1e-10)


@pytest.mark.slow
def test_a_crack_that_snaps_from_element_to_element_is_followed_by_the_dissipation(monkeypatch):
    """Of strong glue the softening zone is as long as an element: most steps have a path that turns back sharply."""
    coarse = {f"body.{arm}.mesh.cells": [40, 1, 1] for arm in ("lower", "upper")}
    changes = coarse | {"cohesive.glue.strength": 3e7, "integrator.dt": 0.02}
    changes |= {"run.duration": 0.5, "run.frames": 1, "run.samples": 25}
    evaluated, gradient = [], CohesiveFaces.stored_gradient

    def counted(*arguments):
        evaluated.append(1)
        return gradient(*arguments)

    monkeypatch.setattr(CohesiveFaces, "stored_gradient", counted)
    rates, cracks, _, lost, glue, end = peeled(changes, np.array([0.0, 0.4, 0.44, 0.46, 0.48, 0.5]))
    assert rates == pytest.approx(np.full(5, 1.02), abs=0.03)
    assert np.diff(cracks).min() > 3e-4  # it runs, and does not jump far
    assert np.diff(cracks).max() < 3e-3
    gone = (glue.areas * glue.law.damage(end.internal["glue"])).sum()
    assert lost == pytest.approx(GC * gone, rel=1e-10)
    assert sum(evaluated) < 3000  # 25 800 by load steps and relaxation that lead nowhere


@pytest.mark.slow
def test_a_double_cantilever_beam_peels_at_its_fracture_energy():
    rates, cracks, tips, lost, glue, end = peeled({}, np.linspace(0.0, 1.0, 21))
    running = tips > 0.0335
    assert running.sum() > 10
    assert rates[running] == pytest.approx(np.ones(running.sum()), abs=0.015)
    # The crack of beam theory is longer than the real one by what its tip turns, which is some of the height.
    assert (cracks - tips)[running] == pytest.approx(np.full(running.sum(), 0.0062), abs=3e-4)
    gone = (glue.areas * glue.law.damage(end.internal["glue"])).sum()
    assert lost == pytest.approx(GC * gone, rel=1e-10)


def perforated(steps):
    duration = steps * 1e-7
    changes = {"run.duration": duration, "run.frames": 1, "run.samples": 1}
    problem, states, energies = motion_of(
        Scenario.read(EXAMPLES / "perforation.toml").with_values(changes), np.array([0.0, duration])
    )
    system, (start, end) = problem.system, states
    plate = system.inelastic["plate"]
    assert isinstance(plate, Eroding)
    total = system.energies_of(start)["total"]
    assert abs(energies["balance"] - total) <= 100 * EPS * steps * total
    scale = np.abs(system.mass[:, None] * start.v).sum()
    assert np.abs(system.momentum(end) - system.momentum(start)).max() <= 100 * EPS * steps * scale
    turned = system.angular_momentum(end) - system.angular_momentum(start)
    assert np.abs(turned).max() <= 100 * EPS * steps * scale * 0.04
    return system, plate, end, problem.mesh.nodes_of("shot")


def test_a_plate_that_a_shot_perforates_is_one_whose_elements_go():
    problem = Scenario.read(EXAMPLES / "perforation.toml").build()
    plate, contact = problem.system.inelastic["plate"], problem.system.energies["contact"]
    assert isinstance(plate, Eroding)
    assert plate.failure_strain == 0.4
    z = plate.unstrained()
    assert not contact.follows({"plate": plate.gone(z)})
    z[0, ..., -2] = 1.0
    assert contact.follows({"plate": plate.gone(z)})  # an element at a corner
    vertices = len(contact.surface.vertices)
    contact.follow({"plate": plate.gone(z)})
    assert len(contact.surface.vertices) == vertices  # its corner is gone, and its inner node lies open
    assert not contact.follows({"plate": plate.gone(z)})


@pytest.mark.slow
def test_a_shot_perforates_a_plate():
    system, plate, end, shot = perforated(400)
    gone = plate.gone(end.internal["plate"])
    assert 20 <= gone.sum() <= 40
    assert end.q[shot, 2].min() < -0.001  # it is through
    speed = (system.mass[shot] @ end.v[shot, 2]) / system.mass[shot].sum()
    assert -320.0 < speed < -240.0
