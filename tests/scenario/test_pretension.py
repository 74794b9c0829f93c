"""Pretension sections of scenarios: a bolt with its stress and shortening, the energy of motions, what is refused."""

import numpy as np
import pytest

import symplex as sx
from symplex.decks.toml import as_toml
from symplex.errors import ScenarioError
from symplex.fem.couplings.equations import LinearConstraints

LENGTH, AREA, YOUNG, FORCE = 0.2, 4e-4, 2e11, 1e4
BOLT = {
    "body": [
        {
            "name": "bolt",
            "mesh": {"box": [0.02, 0.02, LENGTH], "cells": [2, 2, 8], "split": "hexahedra"},
            "material": {"law": "linear-elastic", "young": YOUNG, "poisson": 0, "density": 7800},
        }
    ],
    "point_mass": [{"name": "turns", "mass": 1e-3, "position": [1, 0, 0]}],
    "pretension": [{"name": "cut", "body": "bolt", "node": "turns", "point": [0, 0, 0.1], "normal": [0, 0, 1]}],
    "support": [{"body": "bolt", "group": "z_min"}, {"body": "bolt", "group": "z_max"}],
    "load": [{"name": "tighten", "kind": "nodal", "body": "turns", "force": [FORCE, 0, 0]}],
    "start": {"kind": "static"},
    "integrator": {"kind": "energy-momentum", "dt": 2e-6},
    "run": {"duration": 2e-4, "frames": 2, "samples": 100},
}


def bolt(section=None, body=None, **tables):
    """Return the scenario of a bolt between two walls, whose tables are changed."""
    data = BOLT | tables
    if section:
        data["pretension"] = [BOLT["pretension"][0] | section]
        for key in [key for key, value in section.items() if value is None]:
            del data["pretension"][0][key]
    if body:
        data["body"] = [BOLT["body"][0] | body]
    return sx.Scenario.parse(as_toml(data, ""))


@pytest.mark.parametrize("split", ["hexahedra", "6"])
@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("height", [0.1, 0.06])
def test_a_force_is_a_uniform_stress_and_a_shortening(split, quadratic, height):
    """σ = F/A in all elements, s = F L/(E A), also along faces that are not in the plane of the cut."""
    mesh = BOLT["body"][0]["mesh"] | {"split": split}
    problem = bolt({"point": [0, 0, height]}, {"mesh": mesh, "quadratic": quadratic}).build()
    system, q = problem.system, problem.state.q
    (node,) = problem.mesh.nodes_of("turns")
    tie = system.energies["cut"]
    assert isinstance(tie, LinearConstraints)
    lost = 3.0 * np.abs(tie.errors(q)).max()
    assert q[node, 0] - 1.0 == pytest.approx(FORCE * LENGTH / (YOUNG * AREA), abs=lost)
    assert lost < 1e-3 * FORCE * LENGTH / (YOUNG * AREA)
    back, front = (problem.mesh.nodes_of(f"bolt.cut_{side}") for side in ("back", "front"))
    drawn = (q[front] - q[back])[:, 2]
    assert drawn == pytest.approx(-(q[node, 0] - 1.0), abs=lost)
    reactions = system.reactions(problem.state)
    assert reactions[problem.mesh.nodes_of("bolt.z_min"), 2].sum() == pytest.approx(-FORCE, rel=1e-9)
    assert reactions[problem.mesh.nodes_of("bolt.z_max"), 2].sum() == pytest.approx(FORCE, rel=1e-9)
    z = problem.mesh.points[:, 2]
    low = (z < height - 0.03) & (np.arange(len(z)) != node)
    assert (q[:, 2] - z)[low] == pytest.approx(FORCE / (YOUNG * AREA) * z[low], abs=lost)


def test_either_direction_of_the_normal_is_tension():
    one, other = (bolt({"normal": [0, 0, sign]}).build() for sign in (1, -1))
    assert one.state.q[-1] == pytest.approx(other.state.q[-1], rel=1e-12)


@pytest.mark.parametrize("locked", [False, True])
def test_energy_of_a_motion_is_kept(locked):
    """A tightened bolt that is let go at one end swings, with its section free or locked."""
    held = [{"body": "bolt", "group": "z_min"}, {"body": "bolt", "group": "z_max", "until": 2e-6}]
    lock = [{"body": "turns", "components": "x", "from": 2e-6}] if locked else []
    problem = bolt(support=[*held, *lock]).build()
    seen = sx.record(problem.system, problem.integrator, problem.state, np.linspace(0.0, 2e-4, 101))
    kinetic, balance = seen.energies["kinetic"], seen.energies["balance"]
    assert kinetic.max() > 0.1 * FORCE**2 * LENGTH / (2.0 * YOUNG * AREA)
    assert np.ptp(balance) < 1e-10 * kinetic.max()
    drawn = seen.q[1:, -1, 0]
    assert (np.ptp(drawn) == 0.0) == locked


@pytest.mark.parametrize(
    ("section", "tables", "why"),
    [
        ({"point": [0, 0, 1]}, {}, "are on one side of the plane"),
        ({"point": None}, {}, "needs one place of the cut"),
        ({"group": "z_min"}, {}, "needs one place of the cut"),
        ({"point": None, "group": "z_min"}, {}, "no face between two elements"),
        ({"point": None, "group": "none"}, {}, "has no group 'none'"),
        ({"point": None, "group": "z_min", "elements": "x"}, {}, "elements goes with point"),
        ({"elements": "none"}, {}, "there is no group 'none' of elements"),
        ({"node": "bolt"}, {}, "needs a node of its own"),
        ({"node": "nut"}, {}, "there is no body 'nut'"),
        ({"body": "turns", "node": "bolt"}, {}, "no volume elements"),
        ({}, {"point_mass": [{"name": "turns", "mass": 1.0, "body": "bolt"}]}, "there is no body 'turns'"),
        ({}, {"contact": [{"name": "touch", "bodies": ["bolt"], "self": True}]}, "may touch itself"),
        ({}, {"pretension": [BOLT["pretension"][0], BOLT["pretension"][0] | {"name": "b", "point": [0, 0, 0.05]}]},
         "each section needs one of its own"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(section, tables, why):
    with pytest.raises(ScenarioError, match=why):
        bolt(section, **tables).build()
