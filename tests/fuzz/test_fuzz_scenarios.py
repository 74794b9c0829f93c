"""Scenario files that are damaged at random: each must run, or be refused by one clear line for each mistake."""

from __future__ import annotations

import copy
import json
import math
import random
import re
import shutil
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import isolated
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

SECONDS = 20.0  # of processor time for one trial
RUNNING = 2.0  # s of processor time after which a run is left
Data = dict[str, Any]
Path_ = tuple[str | int, ...]

# -- what is mutated ------------------------------------------------------------------------------------------------

SOFT = {"young": 1e6, "poisson": 0.3, "density": 1000}
BOX = {"box": [0.1, 0.1, 0.1], "cells": [1, 1, 1], "split": "6"}
STILL = {"body": "cube", "group": "z_min", "components": "xyz"}
SINE = {"kind": "sine", "frequency": 30}
TABLE = {"kind": "table", "times": [0, 0.005, 0.02], "factors": [0, 1, 1]}
RECORD = {"kind": "table", "file": "record.csv"}
FLOOR = {"name": "floor", "kind": "half-space", "point": [0, 0, -0.001], "normal": [0, 0, 1], "stiffness": 1e3}
BALL = {"name": "ball", "kind": "sphere", "center": [0.05, 0.05, 0.6], "radius": 0.4, "penalty": 1e-3}
HAMMER = {"name": "hammer", "kind": "sphere", "center": [0.05, 0.05, 0.6], "radius": 0.4, "penalty": 1e-3, "mass": 2}
HAMMER |= {"velocity": [0, 0, -5], "inside": False}
PIPE = {"name": "pipe", "kind": "cylinder", "point": [0.05, 0.05, 0], "axis": [0, 0, 1], "radius": 0.2, "inside": True}
ROUND = {
    "name": "round",
    "kind": "capsule",
    "start": [-1, 0, -0.6],
    "end": [1, 0, -0.6],
    "radius": 0.5,
    "inside": False,
}
BRICK = {"name": "brick", "kind": "box", "center": [0, 0, -0.6], "size": [1, 1, 1], "inside": False}
BRICK |= {"rotate": {"axis": [0, 0, 1], "degrees": 30}}
DISH = {"name": "dish", "kind": "spline", "map": ["u", "v", "u*v - 0.3"], "u": [-1, 1], "v": [-1, 1], "cells": [3, 3]}
SHEET = {"name": "sheet", "kind": "spline", "flip": False, "degree": 3, "translate": [-1, -1, -0.4]}
SHEET |= {"points": [[[x, y, 0.1 * x * y] for y in range(4)] for x in range(4)]}
FILED = {"name": "filed", "kind": "spline", "file": "sheet.csv", "rows": 4, "translate": [-1, -1, -0.6]}
SHAPES = [shape | {"stiffness": 1e3} for shape in (PIPE, ROUND, BRICK, DISH, SHEET, FILED)]
FLYING = BRICK | {"name": "flying", "center": [0.05, 0.05, 0.7], "inside": False, "velocity": [0, 0, -5], "mass": 2}
FLYING |= {"angular_velocity": [1, 2, 3], "stiffness": 1e3}
STAMP = BRICK | {"name": "stamp", "center": [0.05, 0.05, 0.61], "displacement": [0, 0, -0.02], "stiffness": 1e3}
STAMP |= {"rotation": {"point": [0, 0, 0.6], "axis": [0, 0, 1], "degrees": 5}, "interpolation": "linear"}
ROLLER = {"name": "roller", "kind": "surface", "mesh": {"cylinder": 0.05, "length": 0.2, "rings": 2}, "stiffness": 1e6}
ROLLER |= {"translate": [0.05, 0.05, 0.26], "rotate": {"axis": [1, 0, 0], "degrees": 90}, "flip": False, "scale": 1.0}
ROLLER |= {"distance": 0.002, "law": "penalty", "margin": 0.02, "friction": 0.2, "acceleration": [0, 0, -1]}
ANVIL = {"name": "anvil", "mesh": {"box": [1, 1, 0.1], "cells": [1, 1, 1]}, "translate": [0, 0, -0.2]}
PEBBLE = {"name": "pebble", "mesh": {"sphere": 0.02, "refinements": 1}, "translate": [0.3, 0, 0.1], "density": 2000}
PART = {"name": "part", "mesh": {"file": "box.msh"}, "group": "body", "translate": [2, 0, 0], "velocity": [0, 0, 1]}
DIE = {"name": "die", "kind": "surface", "mesh": "box.msh", "group": "body", "translate": [0, 0, 0.2], "density": 1000}
DIE |= {"bodies": ["cube"], "factor": 1, "speed": 1, "velocity": [0, 0, -1], "begins": "touch", "integration": "pairs"}
TOP = {"name": "top", "mesh": {"sphere": 0.02}, "translate": [0.6, 0, 0], "mass": 1, "angular_velocity": [0, 0, 9]}
TOP |= {"pivot": [0.6, 0, -0.05]}
ARM = {"name": "arm", "mesh": {"box": [0.1, 0.1, 0.1]}, "translate": [-1, 0, 0], "displacement": [0, 0, 0.01]}
ARM |= {"rotation": STAMP["rotation"], "history": TABLE, "interpolation": "linear", "flip": False, "scale": 1.0}
SLED = {"name": "sled", "mesh": {"box": [0.1, 0.1, 0.1]}, "rotate": BRICK["rotate"], "translate": [-2, 0, 0]}
SLED |= {"acceleration": [1, 0, 0], "history": TABLE}
GRAVITY = {"acceleration": [0, 0, -9.81]}
PULL = {"name": "pull", "kind": "nodal", "body": "cube", "group": "x_max", "force": [0.1, 0, 0]}
PUSH = {"name": "push", "kind": "traction", "body": "cube", "group": "z_max", "traction": [0, 10, 0]}
WEIGH = {
    "name": "weigh",
    "kind": "gravity",
    "body": "cube",
    "acceleration": [0, 1, 0],
    "history": SINE,
}
SWING = {"name": "swing", "kind": "centrifugal", "body": "cube", "angular_velocity": [0, 0, 3], "point": [0, 1, 0]}
PRESS = {"name": "press", "kind": "pressure", "body": "cube", "group": "z_max", "pressure": 20}
RODS = {"name": "ropes", "body": "cube", "group": "z_max", "to": [0.05, 0.05, 0.5]}


def case(integrator: Data, *, body: Data | None = None, **tables: Any) -> Data:
    """Return a short scenario of a small body."""
    cube = {"name": "cube", "mesh": BOX, "material": SOFT} | (body or {})
    run = {"duration": 0.01, "frames": 2, "samples": 4}
    return {"title": "A trial", "body": [cube], "integrator": integrator, "run": run} | tables


def own_cases() -> Iterator[Data]:
    """Yield scenarios that use every key (which a test counts)."""
    dt = 5e-4
    moving = {"velocity": [0.1, 0, -0.2], "angular_velocity": [0, 0, 1], "translate": [0, 0, 0.01], "scale": 1.0}
    turned = {"rotate": {"axis": [0, 0, 1], "degrees": 10}, "repair": True, "quadratic": True}
    turned |= {"mass": "lumped", "formulation": "standard"}
    rubber = {"law": "mooney-rivlin", "c10": 1e5, "c01": 1e4, "bulk": 1e6, "density": 1000}
    svk = {"law": "saint-venant-kirchhoff", "lambda": 6e5, "mu": 4e5, "density": 1000}
    shaken = STILL | {"name": "table", "displacement": [0.001, 0, 0], "history": SINE}
    turning = STILL | {
        "name": "clamp",
        "rotation": {"point": [0, 0, 0], "axis": [0, 0, 1], "degrees": 5},
        "history": TABLE,
        "interpolation": "linear",
    }
    quake = STILL | {"name": "ground", "acceleration": [1, 0, 0], "history": RECORD}
    drawn = STILL | {"name": "grip", "velocity": [0.01, 0, 0]}
    ramp, pulse = {"kind": "smooth-ramp", "duration": 0.005}, {"kind": "half-sine", "duration": 0.002}
    output = {"directory": "here", "format": "pvd", "fields": ["velocity"], "pictures": False, "film": "none"}
    seen = {"field": "displacement", "direction": "1,-2,0.5", "up": "-y", "slice": "z=0.01", "scale": 2.5}
    output["view"] = seen | {"times": [0.0], "size": [800, 500], "dpi": 120.0, "to": "x", "orbit": 90.0}
    linear = {"law": "linear-elastic"} | SOFT
    fibres = {"law": "c*(I1bar - 3) + K/2*(J - 1)**2 + k*(I4bar - 1)**2", "c": 1e5, "K": 1e6, "k": 1e4, "density": 1000}
    fibres |= {"fibres": [1, 0, 0]}
    yield case({"kind": "newmark", "dt": "auto"}, body={"material": fibres}, obstacle=[HAMMER, *SHAPES])
    named = {
        "define": {"speed": 0.1, "twice": "=2*speed", "T": 0.01},
        "run": {"duration": "=T", "frames": 2, "samples": 4},
    }
    named["run"] |= {"until": "=1.5*T"}
    block = {"mesh": BOX, "material": SOFT}
    patch = block | {"name": "patch", "translate": [0, 0, 0.1], "from": 0.002, "until": 0.006}
    later = case({"kind": "energy-momentum", "dt": dt}, tie=[{"body": "cube", "to": "patch"}])
    yield later | {"body": [*later["body"], patch]}
    later = case({"kind": "energy-momentum", "dt": dt})
    yield later | {"body": [*later["body"], block | {"name": "brick", "rigid": True, "translate": [0.4, 0, 0]}]}
    yield case({"kind": "newmark", "dt": "=T/20"}, body={"velocity": ["=speed", 0, "=-twice*cos(pi)"]}, **named)
    yield case(
        {"kind": "newmark", "dt": "auto", "safety": 0.5, "contact_safety": 0.3, "contact_steps": 1, "device": "cpu"},
        body=moving,
        obstacle=[FLOOR | {"bodies": ["cube"], "normalize": True, "allow_initial_penetration": True}, BALL],
        gravity=GRAVITY,
        load=[PULL | {"history": ramp}, PUSH, PRESS | {"history": pulse}, WEIGH, SWING | {"follows": True}],
        output=output,
    )
    implicit = {"solver": "dense", "iterations": 40, "halvings": 3, "tolerance": 1e-12, "dt": dt}
    yield case(
        {"kind": "newmark", "beta": 0.25, "gamma": 0.5, "order": 4} | implicit,
        body={"mass": "consistent", "material": svk},
        support=[shaken],
        run={"duration": 0.01, "frames": 2, "checkpoint": 5},
    )
    yield case(
        {"kind": "energy-momentum", "order": 4, "substeps": "suzuki", "compensated": True} | implicit,
        support=[turning],
        obstacle=[FLOOR],
    )
    rough = FLOOR | {"friction": 0.3, "static_friction": 0.4, "slip_speed": 0.01}
    yield case({"kind": "newmark"}, body=moving, obstacle=[rough], gravity=GRAVITY)
    split = {"dt": "auto", "safety": 0.5, "order": 6, "substeps": "blanes-moan"}
    yield case({"kind": "newmark"} | split, body=moving, obstacle=[FLOOR], gravity=GRAVITY)
    yield case(
        {"kind": "midpoint", "order": 4, "substeps": "suzuki"} | implicit,
        body={"material": rubber},
        support=[quake],
    )
    yield case({"kind": "midpoint", "alpha": 0.4} | implicit, body=moving)
    yield case({"kind": "generalized-alpha", "rho_inf": 0.5} | implicit, body=turned, support=[drawn])
    yield case({"kind": "hht", "alpha": -0.1} | implicit, support=[STILL], gravity=GRAVITY, obstacle=[BALL])
    composed = {"kind": "variational-midpoint", "order": 4, "substeps": "suzuki"} | implicit
    yield case(composed, body={"mesh": "box.msh"}, support=[STILL | {"name": "s"}])
    scheme = {
        "scheme": "cayley-magnus-4",
        "interpolant": "stable",
        "external": ["floor", "gravity"],
        "order": 6,
        "substeps": "yoshida",
        "solver": "auto",
    }
    yield case({"kind": "graham-jelenic", "dt": dt} | scheme, gravity=GRAVITY, obstacle=[FLOOR], body=moving)
    angles = {"scheme": "energy-momentum-exact-angle", "angle": "nodes", "iterations": 100}
    yield case({"kind": "graham-jelenic", "dt": dt} | angles, body=moving)
    adaptive = {
        "iterations": 40,
        "tolerance": 1e-12,
        "bounds": [0.25, 4],
        "hold": True,
        "carry": True,
        "solver": "auto",
    }
    yield case({"kind": "adaptive-variational", "dt": dt} | adaptive, gravity=GRAVITY, body={"material": linear})
    skeel = {"beta": 0.4, "variant": "full", "stiff": ["cube"], "order": 4, "substeps": "suzuki", "solver": "auto"}
    newton = {"variant": "push-forward", "iterations": 40, "tolerance": 1e-12}
    yield case({"kind": "zhang-skeel", "dt": dt} | newton, gravity=GRAVITY)
    yield case({"kind": "zhang-skeel", "dt": dt} | skeel, gravity=GRAVITY, load=[PULL])
    bath = {"temperature": 300, "rate": 1.0, "seed": 3, "boltzmann": 1.38e-23}
    rattle = {"dt": 1e-4, "beta": 0, "order": 4, "substeps": "triple jump"}
    yield case({"kind": "rattle"} | rattle, rod=[RODS], gravity=GRAVITY, thermostat=bath)
    yield case({"kind": "shake", "dt": 1e-4, "beta": 0.25}, rod=[RODS], gravity=GRAVITY)
    lattice = {"grid": 1e-4, "seed": 1, "align": "floor", "count_crossings": True}
    yield case({"kind": "force-stepping"} | lattice, body=moving, obstacle=[FLOOR], gravity=GRAVITY, load=[PULL])
    mirrored = {"grid": 1e-4, "offset": "random", "mirrored": [True, False, True]}
    yield case({"kind": "force-stepping"} | mirrored, body=moving, gravity=GRAVITY)
    local = {"levels": 3, "layers": 1, "safety": 0.5, "contact_safety": 0.3, "given": {"cube": 1}}
    yield case({"kind": "multirate", "dt": 1e-4} | local, body=moving, obstacle=[FLOOR], gravity=GRAVITY)
    yield case({"kind": "newmark", "dt": "auto"}, obstacle=[FLYING, DIE], gravity=GRAVITY)
    yield case({"kind": "energy-momentum"} | implicit, support=[STILL], obstacle=[STAMP | {"history": TABLE}])
    record = {"kind": "table", "times": [0, 0.005, 0.02], "factors": [0, 1, 1]}
    yield case(
        {"kind": "energy-momentum"} | implicit,
        body={"massless": "z_min"},
        obstacle=[ROLLER | {"history": record}],
        rigid_body=[ANVIL, PEBBLE, PART, TOP, ARM, SLED],
        contact=[{"stiffness": 1e6, "distance": 0.002}],
        gravity=GRAVITY,
    )
    friction = {"temperature": 300, "friction": 1e-3}
    two = {"name": "other", "mesh": {"file": "box.msh"}, "material": SOFT, "group": "body", "translate": [1, 0, 0]}
    meeting = {"velocity": [0, 0, 1], "translate": [0, 0, -0.12]}
    touching = {"name": "touch", "bodies": ["cube", "other"], "law": "penalty", "distance": 0.002, "margin": 0.02}
    touching |= {"friction": 0.3, "static_friction": 0.4, "slip_speed": 0.01}
    three = [two | meeting, two | {"name": "third", "translate": [0.3, 0, 0]}]
    pair = case(
        {"kind": "newmark", "dt": "auto"},
        contact=[touching | {"factor": 2, "speed": 1, "begins": "touch"}],
        gravity=GRAVITY,
    )
    yield pair | {"body": [*pair["body"], *three]}
    yield pair | {"body": [*pair["body"], *three], "integrator": {"kind": "multirate", "dt": "auto"}}
    integrated = {
        "bodies": ["cube", "other"],
        "integration": "segments",
        "distance": 0.002,
        "margin": 0.02,
        "factor": 2,
    }
    yield pair | {"body": [*pair["body"], *three], "contact": [integrated]}
    folding = {"name": "folds", "bodies": "all", "self": True, "law": "barrier", "stiffness": 1e8}
    alone = case({"kind": "energy-momentum", "dt": 5e-4}, contact=[folding], body=moving)
    yield alone | {"body": [*alone["body"], three[0]]}
    yield from cases_of_bars_and_parts()
    yield from cases_of_conditions(dt)
    both = case({"kind": "newmark", "dt": 1e-4}, thermostat=friction)
    yield both | {"body": [*both["body"], two], "output": {"format": "vtkhdf"}}
    yield from damped_cases(dt)
    yield from cases_of_small_motions(dt)
    yield from probed_cases(dt)
    yield from cases_of_starts_and_stages(dt)


def cases_of_starts_and_stages(dt: float) -> Iterator[Data]:
    """Yield scenarios that begin in all ways, and in which things begin and end."""
    newmark = {"kind": "newmark"}
    disturbed = {"amplitude": 1e-4, "of": "velocities", "body": "cube", "group": "z_max"}
    static = {"kind": "static", "solver": "auto", "perturbation": disturbed | {"direction": [1, 0, 0]}}
    sag = GRAVITY | {"from": 0, "until": 0}
    held, pull = STILL | {"from": 0.0, "until": 0.008}, PULL | {"from": 0.002, "until": 0.006}
    yield case(newmark, support=[held], load=[pull], gravity=sag, start=static)
    turning = {"kind": "relative-equilibrium", "angular_velocity": [0, 0, 2], "tilt": 0.1}
    even = {"mesh": BOX | {"split": "hexahedra"}}
    yield case(
        {"kind": "midpoint", "dt": dt}, body=even, start=turning | {"perturbation": {"amplitude": 1e-4, "seed": 3}}
    )
    yield case(newmark, body=even, start={"kind": "relative-equilibrium", "angular_momentum": [0, 0, 1e-3]})
    yield case(newmark, start={"kind": "result", "from": "earlier", "time": 0.01})
    slow = {"kind": "static", "iterations": 40, "tolerance": 1e-12, "dt": 2e-3, "solver": "dense"}
    yield case(slow, support=[STILL], load=[PULL | {"history": SINE}])
    press = {"name": "press", "duration": 0.01, "frames": 2, "samples": 4, "integrator": slow}
    stages = {"stage": [press, {"duration": 0.005, "frames": 1, "integrator": newmark}], "run": {"checkpoint": 5}}
    cube = {"name": "cube", "mesh": BOX, "material": SOFT}
    yield stages | {"body": [cube], "support": [STILL], "load": [pull | {"until": 0.012}]}
    slow_one = {"name": "slow", "energy": "kinetic", "below": 1e-3, "after": ["soon"], "every": 2, "stop": True}
    soon = {"name": "soon", "time": 0.004, "stop": False}
    seen = {"name": "base", "support": "all"}
    first = {"name": "pulled", "probe": "base", "column": "reaction_z", "above": 0.1}
    yield case(
        newmark,
        support=[STILL | {"until": "pulled"}],
        load=[PULL | {"from": "soon"}],
        probe=[seen],
        when=[soon, first, slow_one],
    )
    later = stages["stage"][1] | {"name": "later"}
    yield case(newmark, support=[{"body": "cube", "symmetry": "z"}, {"body": "cube", "symmetry": "x=0"}])
    jump = soon | {"stage": "later"}
    yield stages | {"stage": [press, later], "body": [cube], "support": [STILL], "when": [jump]}


def cases_of_small_motions(dt: float) -> Iterator[Data]:
    """Yield scenarios in a rotating frame, and with harmonic responses."""
    turning = {"angular_velocity": [0, 0, 5], "point": [0, 0.1, 0]}
    at = [{"name": "top", "body": "cube", "group": "z_max"}, {"name": "corner", "body": "cube", "at": [0.1, 0.1, 0.1]}]
    swept = {"between": [1, 50], "points": 5, "spacing": "logarithmic", "modes": 4, "ratio": 0.02, "loss_factor": 0.01}
    shaken = STILL | {"name": "table", "displacement": [0.01, 0, 0], "history": SINE}
    push = PULL | {"history": SINE}
    yield case(
        {"kind": "energy-momentum", "dt": dt},
        support=[shaken],
        load=[push],
        response=swept | {"at": at, "by": ["table", push["name"]]},
    )
    yield case(
        {"kind": "energy-momentum", "dt": dt},
        support=[STILL],
        load=[push],
        rotating_frame=turning,
        probe=[{"name": "seen", "body": "cube", "group": "z_max", "quantities": ["velocity", "stress"]}],
        response={"frequencies": [3.0, 8.0], "at": [*at[:1], "seen"]},
        fit={
            "parameters": [{"key": "body.cube.material.young", "start": 1e5, "range": [1e4, 1e6], "scale": 1e5}],
            "curves": [{"data": "record.csv", "of": "seen.velocity_x_mean", "test": "soft"}],
            "tests": [{"name": "soft", "values": {"body.cube.material.poisson": 0.3}}],
            "windows": [0.01, 0.02],
        },
    )


def cases_of_conditions(dt: float) -> Iterator[Data]:
    """Yield scenarios with sectors, scaled masses, oblique supports, and vibration by spectra."""
    momentum = {"kind": "energy-momentum", "dt": dt}
    quarter = {"name": "quarters", "body": "cube", "low": "y_min", "high": "x_min", "sectors": 4, "axis": [0, 0, 1]}
    quarter |= {"point": [0, 0, 0], "tolerance": 1e-6, "stiffness": 1e7}
    ramped = {"acceleration": [0, 0, -9.81], "history": {"kind": "ramp", "duration": 0.005}}
    yield case(momentum, cyclic=[quarter], gravity=ramped)
    yield case({"kind": "newmark", "dt": 2e-3}, mass_scaling={"dt": 3e-3, "bodies": ["cube"]})
    slope = {"name": "slope", "body": "cube", "group": "z_min", "direction": [0, 1, 2], "stiffness": 1e7}
    ring = {"name": "ring", "body": "cube", "group": "x_max"}
    ring |= {"cylindrical": {"point": [-1, 0, 0], "axis": [0, 0, 1], "fixed": ["tangential"]}}
    pulled = {"name": "pulled", "body": "cube", "group": "z_max", "field": ["0.01*x", "0", "0.01*z"], "history": SINE}
    yield case(momentum, support=[slope, ring])
    driven = [slope | {"displacement": [0, 0.001, 0.002], "history": SINE}, ring | {"velocity": [0, 0.1, 0]}]
    yield case(momentum, support=driven)
    yield case({"kind": "newmark", "dt": "auto"}, support=[slope | {"acceleration": [0, 1, 2], "history": TABLE}])
    yield case(momentum, support=[pulled])
    record = {"kind": "table", "times": [0, 0.002, 0.02], "factors": [0, 1, 0]}
    ground = STILL | {"name": "ground", "acceleration": [1, 0, 0], "history": record, "baseline": "rest"}
    place, tip = {"name": "tip", "body": "cube", "group": "z_max"}, {"modes": 3, "ratio": 0.05, "by": ["ground"]}
    sway = place | {"quantities": ["displacement"], "relative_to": "ground"}
    psd, spectrum = {"frequencies": [10, 500], "values": [1, 2]}, {"frequencies": [1, 900], "values": [1, 1]}
    for given in ({"psd": psd}, {"spectrum": spectrum}):
        rule = {"rule": "srss", "missing_mass": False} if "spectrum" in given else {}
        yield case(momentum, support=[ground], response=given | tip | rule | {"at": [place]}, probe=[sway])
    fitted = {"parameters": [{"key": "body.cube.material.young", "range": [1e5, 1e7]}], "at": "equilibrium"}
    fitted |= {"frequencies": [{"number": 1, "value": 80.0, "deviation": 1.0}]}
    yield case(momentum, support=[STILL], fit=fitted)


def probed_cases(dt: float) -> Iterator[Data]:
    """Yield scenarios with all that is looked at."""
    probes = [
        {
            "name": "top",
            "body": "cube",
            "points": [[0.05, 0.05, 0.1]],
            "quantities": ["stress", "velocity"],
            "every": 2,
        },
        {
            "name": "near",
            "body": "cube",
            "points": [[0.2, 0.05, 0.1]],
            "interpolate": False,
            "components": ["x", "norm"],
        },
        {"name": "corner", "body": "cube", "nodes": [0, 3], "format": "hdf5", "frame_on": "peak"},
        {"name": "side", "body": "cube", "group": "x_max", "quantities": ["von_mises"], "reduce": ["max", "sum"]},
        {"name": "base", "support": "all", "about": [0.05, 0.05, 0]},
        {"name": "ground", "obstacle": "floor", "frame_on": "onset"},
        {"name": "rope", "body": "rope", "members": [0], "quantities": ["axial_force", "elongation"]},
        {"name": "touch", "contact": "all"},
    ]
    rope = {"name": "rope", "body": "cube", "at": [0, 0, 0.1], "to": [0, 0, 1], "stiffness": 1}
    yield case(
        {"kind": "energy-momentum", "dt": dt},
        support=[STILL],
        spring=[rope],
        obstacle=[FLOOR],
        contact=[{"self": True}],
        probe=probes,
        output={"fields": ["stress", "nodal_stress"], "history_every": 3, "frames_at": [0.003], "pictures": False}
        | {"partitioned": True},
    )


def damped_cases(dt: float) -> Iterator[Data]:
    """Yield scenarios with all that damps."""
    rubber = {"viscous": [{"ratio": 0.3, "time": 0.002}, {"ratio": 0.1, "time": 0.1}], "viscosity": 2.0}
    rayleigh = {"name": "ground", "bodies": ["cube"], "frequencies": [20, 90], "ratios": [0.02, 0.03]}
    strut = {"name": "strut", "body": "cube", "group": "z_max", "to": [0.05, 0.05, 1.0], "viscosity": 0.1}
    air = {"name": "air", "body": "cube", "group": "z_max", "density": 1.2, "coefficient": 1.1}
    air |= {"area": 0.02, "velocity": [1, 0, 0]}
    yield case(
        {"kind": "energy-momentum", "dt": dt},
        body={"material": SOFT | rubber, "velocity": [0, 0, 1]},
        damping=[rayleigh | {"stiffness": "initial"} | {"from": 0.0, "until": 0.008}],
        dashpot=[strut | {"exponent": 1.5, "from": 0.002, "until": 0.008}],
        drag=[air | {"from": 0.0, "until": 0.008}],
    )
    pad = SOFT | {"viscous": [{"modulus": 1e5, "time": 0.01}], "bulk_viscosity": 1.0}
    ends = [{"body": "cube", "group": "z_max"}, {"body": "cube", "at": [0, 0, 0]}]
    yield case(
        {"kind": "newmark", "dt": "auto"},
        body={"material": pad},
        gravity=GRAVITY,
        damping=[{"alpha": 1.0, "beta": 1e-6, "stiffness": "strain-rate"}],
        dashpot=[{"name": "between", "between": ends, "viscosity": 0.2}],
    )
    at = {"name": "at", "body": "cube", "at": [0.1, 0.1, 0.1], "to": [1, 1, 1], "viscosity": 0.2}
    yield case({"kind": "generalized-alpha", "dt": dt}, body={"material": pad}, gravity=GRAVITY, dashpot=[at])


def cases_of_bars_and_parts() -> Iterator[Data]:
    """Yield scenarios with trusses, springs, point masses, ties, velocities, and bodies of parts and copies."""
    steel = {"young": 1e6, "density": 1000}
    mast = {"name": "mast", "mesh": {"lattice": [0.1, 0.1, 0.2], "cells": [1, 1, 2], "diagonals": "single"}}
    mast |= {"section": 1e-4, "material": steel, "translate": [0, 0, 0.1], "law": "green-strain", "prestrain": 1e-4}
    mast |= {"mass": "lumped", "scale": 1.0, "rotate": {"axis": [0, 0, 1], "degrees": 0}}
    foot = {"body": "mast", "group": "z_min", "to": "cube", "to_group": "z_max", "kind": "nodes", "tolerance": 1e-6}
    load = {"name": "load", "body": "mast", "group": "z_max", "total": 0.2}
    tip = {"name": "tip", "body": "mast", "at": [0.1, 0.1, 0.3], "mass": 0.1}
    ball = {"name": "ball", "position": [0, 0, 0.5], "mass": 0.3, "velocity": [0, 0, 1]}
    rope = {"name": "rope", "body": "ball", "to_body": "mast", "to_at": [0, 0, 0.3], "stiffness": 10}
    hook = {"name": "hook", "body": "ball", "to": [0, 0, 0.7], "stiffness": 10, "length": 0.1, "law": "tension-only"}
    legs = {"name": "legs", "body": "mast", "group": "z_max", "to_body": "cube", "to_group": "z_min", "stiffness": 10}
    side = {"name": "side", "body": "mast", "at": [0.1, 0.1, 0.3], "to": [1, 0, 0.3], "stiffness": 10}
    gust = {"body": "mast", "group": "z_max", "velocity": [0.1, 0, 0], "angular_velocity": [0, 0, 1]}
    gust |= {"gradient": [[0, 0, 1], [0, 0, 0], [0, 0, 0]], "point": [0, 0, 0.1]}
    snub = {key: value for key, value in hook.items() if key not in ("stiffness", "law")} | {"name": "snub"}
    snub |= {"elongations": [-0.1, 0.2], "forces": [-1.0, 3.0]}
    bars = {"truss": [mast], "tie": [foot], "point_mass": [load, tip, ball], "spring": [rope, hook, legs, side, snub]}
    yield case({"kind": "newmark"}, support=[STILL], velocity=[gust], gravity=GRAVITY, **bars)
    ring = {"name": "ring", "mesh": {"ring": 0.2, "bars": 5}, "stiffness": 10, "member_mass": 0.1}
    ring |= {"velocity": [0, 0, 1], "angular_velocity": [0, 0, 2]}
    nodes = {"nodes": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "members": [[0, 1], [1, 2]], "groups": {"end": [2]}}
    given = {"name": "given", "mesh": nodes, "section": 1e-4, "material": steel}
    files = given | {"name": "files", "mesh": {"nodes": "nodes.csv", "members": "members.csv"}}
    line = given | {"name": "line", "mesh": {"line": 1.0, "bars": 3}, "mass": "consistent"}
    read = given | {"name": "read", "mesh": {"file": "bars.msh"}, "group": "main"}
    bare = {"run": {"duration": 0.01, "frames": 2, "samples": 4}, "output": {"pictures": False}}
    yield bare | {"truss": [ring, given, files, line, read], "integrator": {"kind": "midpoint", "dt": 1e-3}}
    yield bare | {"truss": [ring], "integrator": {"kind": "graham-jelenic", "dt": 1e-3}}
    yield from beams(bare)
    yield from shells(bare)
    yield from joints(bare)
    yield bare | {"point_mass": [ball], "spring": [hook], "integrator": {"kind": "force-stepping", "grid": 1e-3}}
    halves = {"soft": [[0, 0, 0], [0.05, 0.1, 0.1]], "hard": [[0.05, 0, 0], [0.1, 0.1, 0.1]]}
    parts = {"mesh": {"box": [0.1, 0.1, 0.1], "cells": [2, 1, 1], "split": "hexahedra", "regions": halves}}
    parts |= {"materials": {"soft": SOFT, "hard": SOFT | {"young": 2e6}}, "name": "two"}
    copy_ = {"name": "copy", "translate": [0, 0, 0.1], "rotate": {"axis": [0, 0, 1], "degrees": 90}}
    copies = [{"name": "first"}, copy_ | {"velocity": [0, 0, 1], "angular_velocity": [0, 0, 1]}]
    parted = case({"kind": "newmark"})
    parted["body"] = [parts, parted["body"][0] | {"instance": copies, "translate": [0.3, 0, 0]}]
    yield parted
    eighth = {"radius": 0.05, "inner": 0.02, "cells": [1, 2], "symmetry": "xyz", "grading": 2, "split": "pyramids"}
    sector = {"radius": 0.05, "inner": 0.02, "length": 0.1, "cells": [1, 2, 1], "degrees": 90, "grading": 2}
    shaped = case({"kind": "newmark"})
    for mesh in ({"ball": eighth}, {"cylinder": sector}, BOX | {"map": ["x + y*z", "y", "2*z"]}):
        shaped["body"].append({"name": f"b{len(shaped['body'])}", "mesh": mesh, "material": SOFT, "quadratic": True})
    yield shaped
    glue = {"name": "glue", "kind": "surface", "body": "upper", "group": "z_min", "to": "cube", "stiffness": 1e4}
    glued = case({"kind": "energy-momentum", "dt": 5e-4}, tie=[glue])
    upper = glued["body"][0] | {"name": "upper", "translate": [0, 0, 0.1], "mesh": BOX | {"cells": [2, 2, 1]}}
    glued["body"].append(upper)
    yield glued
    bond = {"name": "bond", "body": "upper", "group": "z_min", "to": "cube", "to_group": "z_max", "strength": 1e3}
    bond |= {"fracture_energy": 1.0, "stiffness": 1e6, "law": "bilinear", "shear_ratio": 0.8, "tolerance": 1e-6}
    bonded = case({"kind": "energy-momentum", "dt": 5e-4}, cohesive=[bond])
    bonded["body"].append(bonded["body"][0] | {"name": "upper", "translate": [0, 0, 0.1]})
    yield bonded
    yields = steel | {"yield_stress": 1e3, "hardening": 1e4, "back_modulus": 1e4}
    brace = given | {"name": "brace", "material": yields}
    net = ring | {"name": "net", "strength": 1.0, "fracture_energy": 1.0}
    cord = {"name": "cord", "body": "brace", "at": [0, 1, 0], "to_body": "brace", "to_at": [0, 0, 0], "stiffness": 10}
    cord |= {"strength": 1.0, "fracture_energy": 1.0}
    yield bare | {"truss": [brace, net], "spring": [cord], "integrator": {"kind": "midpoint", "dt": 1e-3}}
    first = {"body": "cube", "group": "z_max", "component": "x", "factor": 0.5}
    terms = [first, {"body": "cube", "at": [0, 0, 0], "component": "y", "factor": -1}]
    flat = {"name": "flat", "equations": [terms, [first]], "values": [0.0, 1e-3], "stiffness": 1e4}
    ortho = {"law": "anisotropic", "moduli": [2e6, 1e6, 1e6], "poisson_ratios": [0.2, 0.3, 0.3], "density": 1000}
    ortho |= {"shear_moduli": [4e5, 4e5, 4e5], "axes": [[1, 1, 0], [0, 1, 0]]}
    yield case({"kind": "energy-momentum", "dt": 5e-4}, constraint=[flat], body={"material": ortho})
    wood = {"young": 1e6, "poisson": 0.3, "density": 1000, "expansion": 1e-5}
    field = {"body": "cube", "group": "x_max", "change": "10*x"}
    fire = field | {"name": "fire", "change": 10, "history": {"kind": "ramp", "duration": 1e-3}}
    warm = {"body": "cube", "file": "warm.csv"}
    yield case({"kind": "energy-momentum", "dt": 5e-4}, body={"material": wood}, temperature=[field, fire, warm])
    halves = {"box": [0.1, 0.1, 0.1], "cells": [2, 1, 1], "split": "hexahedra"}
    halves["regions"] = {"all": [[0, 0, 0], [0.1, 0.1, 0.1]], "end": [[0.05, 0, 0], [0.1, 0.1, 0.1]]}
    ball = {"name": "turns", "position": [0, 0, 0.5], "mass": 0.01}
    section = {"name": "cut", "body": "cube", "node": "turns", "normal": [1, 0, 0], "stiffness": 1e4}
    for where in ({"point": [0.05, 0, 0], "elements": "all"}, {"group": "end"}):
        tight = {"point_mass": [ball], "pretension": [section | where]}
        yield case({"kind": "energy-momentum", "dt": 5e-4}, body={"mesh": halves}, **tight)
    nine = [2e6, 5e5, 2e6, 5e5, 5e5, 2e6, 4e5, 4e5, 4e5]
    hard = {"law": "linear-anisotropic", "stiffness": nine, "density": 1000}
    yield case({"kind": "energy-momentum", "dt": 5e-4}, body={"material": hard})


def beams(bare: Data) -> Iterator[Data]:
    """Yield scenarios with beams, which have no other bodies."""
    steel = {"young": 2e8, "poisson": 0.3, "density": 1000}
    box = {"kind": "box", "height": 0.1, "width": 0.06, "thickness": 0.004}
    bent = {"path": [[0, 0, 0], [1, 0, 0], [1, 0.5, 0]], "bars": 2}
    other = {"group": "part_2", "up": [1, 0, 1], "section": {"kind": "circle", "radius": 0.02}, "material": steel}
    arm = {"name": "arm", "mesh": bent, "up": [0, 0, 1], "section": box, "material": steel, "parts": [other]}
    arm |= {"rotate": {"axis": [0, 0, 1], "degrees": 10}, "translate": [0, 0, 0.1], "scale": 1.0}
    arm |= {"formulation": "reissner", "extent": 0.5, "velocity": [0.1, 0, 0], "angular_velocity": [0, 0, 1]}
    whole = {"axial": 1e5, "shear": [4e4, 4e4], "bending": [10.0, 20.0], "torsion": 10.0, "mass": 1.0}
    rim = {"name": "rim", "mesh": {"ring": 0.2, "bars": 4}, "up": [0, 0, 1]}
    rim |= {"properties": whole | {"moments": [0.01, 0.01]}}
    read = {"name": "read", "mesh": "bars.msh", "group": "main", "up": [1, 2, 3], "section": box, "material": steel}
    clamp, hinge = {"body": "arm", "group": "start"}, {"body": "arm", "group": "end", "components": "yz"}
    twist = {"name": "twist", "kind": "nodal", "body": "arm", "group": "corners", "moment": [0, 0.1, 0]}
    root = {"name": "root", "body": "arm", "members": [0], "quantities": ["torque", "shear_force_1"]}
    turn = {"name": "turn", "body": "arm", "nodes": [2], "quantities": ["rotation"], "components": ["norm"]}
    acting = {"support": [clamp, hinge | {"rotations": "x"}], "load": [twist], "probe": [root, turn]}
    yield bare | {"beam": [arm, rim]} | acting | {"integrator": {"kind": "energy-momentum", "dt": 1e-3}}
    yield bare | {"beam": [arm], "support": [clamp], "integrator": {"kind": "rattle", "dt": 1e-5}}
    yield (
        bare
        | {"beam": [arm | {"velocity": [0, 0, 0], "angular_velocity": [0, 0, 0]}]}
        | acting
        | {"integrator": {"kind": "static", "dt": 1e-3}}
    )
    yield bare | {"beam": [read | {"mass": "consistent"}], "integrator": {"kind": "midpoint", "dt": 1e-3}}


def shells(bare: Data) -> Iterator[Data]:
    """Yield scenarios with shells, which have no other bodies."""
    soft = {"young": 2e8, "poisson": 0.3, "density": 1000}
    fibres = {"moduli": [2e8, 2e7], "poisson": 0.3, "shear_moduli": [1e7, 1e7, 1e7], "density": 1000}
    layers = [{"thickness": 0.01, "angle": 45, "material": fibres}, {"thickness": 0.02, "material": soft}]
    wing = {"name": "wing", "mesh": {"plate": [1.0, 0.5], "cells": [2, 1], "split": "triangles"}, "layers": layers}
    wing |= {"rotate": {"axis": [0, 0, 1], "degrees": 10}, "translate": [0, 0, 0.1], "scale": 1.0}
    wing |= {"offset": 0.001, "direction": [0, 1, 0], "fold": 20, "extent": 0.3}
    wing |= {"velocity": [0.1, 0, 0], "angular_velocity": [0, 0, 1]}
    plate = {"name": "plate", "mesh": {"plate": [1, 0.5], "cells": [2, 2]}, "thickness": 0.02, "material": soft}
    read = {"name": "read", "mesh": "faces.msh", "group": "main", "thickness": 0.02, "material": soft}
    parted = {**read, "parts": [{"group": "main", "thickness": 0.03, "offset": 0.01, "material": soft}]}
    layered = {**read, "parts": [{"group": "main", "direction": [0, 1, 0], "layers": layers}]}
    by_numbers = {"membrane": [1e6, 1e5, 1e6, 0, 0, 4e5], "coupling": [0.0] * 6, "bending": [30, 3, 30, 0, 0, 12]}
    by_numbers |= {"shear": [4e5, 0, 4e5], "thickness": 0.02, "mass": 20}
    stiff = {"name": "stiff", "mesh": {"plate": [1, 0.5], "cells": [2, 1]}, "properties": by_numbers}
    clamp, line = {"body": "plate", "group": "x_min"}, {"body": "plate", "group": "x_max", "components": "z"}
    twist = {"name": "twist", "kind": "nodal", "body": "plate", "group": "x_max", "moment": [0, 0.1, 0]}
    turn = {"name": "turn", "body": "plate", "nodes": [2], "quantities": ["rotation"], "components": ["norm"]}
    acting = {"support": [clamp, line | {"rotations": "x"}], "load": [twist], "probe": [turn]}
    yield bare | {"shell": [plate, wing]} | acting | {"integrator": {"kind": "energy-momentum", "dt": 1e-3}}
    yield bare | {"shell": [plate], "support": [clamp], "integrator": {"kind": "rattle", "dt": 1e-5}}
    yield bare | {"shell": [plate]} | acting | {"integrator": {"kind": "static", "dt": 1e-3}}
    yield bare | {"shell": [read | {"mass": "consistent"}], "integrator": {"kind": "midpoint", "dt": 1e-3}}
    can = {"name": "can", "mesh": {"box": [0.2, 0.2, 0.1], "cells": [1, 2, 1]}, "thickness": 0.01, "material": soft}
    inside = {
        "name": "inside",
        "kind": "pressure",
        "body": "can",
        "pressure": 10.0,
        "side": "bottom",
        "follower": False,
    }
    wind = {
        "name": "wind",
        "kind": "pressure",
        "body": "wing",
        "pressure": 5.0,
        "history": {"kind": "ramp", "duration": 1},
    }
    shear = {"name": "shear", "kind": "traction", "body": "wing", "traction": [1.0, 0, 0]}
    floor = {"name": "floor", "kind": "half-space", "point": [0, 0, -0.2], "normal": [0, 0, 1], "stiffness": 1e3}
    section = {"name": "section", "body": "wing", "points": [[0.5, 0.2, 0.1]], "quantities": ["bending_moments"]}
    touching = {"shell": [can | {"translate": [0.3, 0.3, 0.2]}, wing], "contact": [{"speed": 1.0}], "obstacle": [floor]}
    pressed = {"load": [inside, wind, shear], "damping": [{"alpha": 0.1, "beta": 1e-4}], "probe": [section]}
    yield bare | touching | pressed | {"integrator": {"kind": "energy-momentum", "dt": 1e-4}}
    yield bare | {"shell": [stiff], "integrator": {"kind": "midpoint", "dt": 1e-3}}
    yield bare | {"shell": [parted], "integrator": {"kind": "midpoint", "dt": 1e-3}}
    yield bare | {"shell": [layered], "integrator": {"kind": "midpoint", "dt": 1e-3}}


def joints(bare: Data) -> Iterator[Data]:
    """Yield scenarios with joints between rigid bodies, a beam and the ground."""
    flap = {"name": "flap", "mesh": {"box": [0.4, 0.2, 0.02]}, "density": 1000, "translate": [0.2, 0, 0]}
    rod = {"name": "rod", "mesh": {"line": 0.5, "bars": 2}, "up": [0, 0, 1], "translate": [0.4, 0, 0]}
    rod |= {"section": {"kind": "circle", "radius": 0.02}, "material": {"young": 2e8, "poisson": 0.3, "density": 1000}}
    method = {"integrator": {"kind": "energy-momentum", "dt": 1e-3}}
    hinge = {"name": "hinge", "kind": "revolute", "bodies": ["flap"], "at": [0, 0, 0], "axis": [0, 1, 0]}
    laws = {"spring": {"stiffness": 2, "rest": 0.1}, "stops": {"lowest": -0.5, "highest": 0.5, "stiffness": 20}}
    laws |= {"damping": 0.1, "friction": {"resistance": 0.05, "slip": 0.01}}
    ball = {"name": "ball", "kind": "spherical", "bodies": ["rod", "flap"], "at": [0.4, 0, 0]}
    yield (
        bare
        | {"rigid_body": [flap], "beam": [rod], "joint": [hinge | laws | {"torque": 0.1, "history": SINE}, ball]}
        | method
    )
    by_groups = ball | {"groups": ["x_min", ""]}
    yield bare | {"rigid_body": [flap], "beam": [rod], "joint": [by_groups]} | method
    table = {"kind": "table", "times": [0, 2e-3, 1.0], "factors": [0, 0, 1]}
    given = {"history": table, "interpolation": "linear"}
    yield bare | {"rigid_body": [flap], "joint": [hinge | {"angle": 0.5} | given]} | method
    sleeve = hinge | {"kind": "cylindrical", "coordinate": "angle", "damping": 0.1}
    yield bare | {"rigid_body": [flap], "joint": [sleeve | {"displacement": 0.01} | given]} | method
    yield bare | {"rigid_body": [flap], "joint": [sleeve | {"force": 0.3}]} | method
    cube = {"name": "cube", "mesh": {"box": [0.1, 0.1, 0.1], "cells": [1, 1, 1], "split": "hexahedra"}}
    cube |= {"material": {"young": 1e6, "poisson": 0.3, "density": 1000}, "translate": [0.4, -0.05, -0.05]}
    seat = {"name": "seat", "body": "cube", "group": "x_min", "to": "flap"}
    yield bare | {"body": [cube], "rigid_body": [flap], "joint": [hinge], "coupling": [seat]} | method
    on_beam = seat | {"to": "rod", "at": [0.4, 0, 0]}
    yield bare | {"body": [cube], "beam": [rod], "coupling": [on_beam]} | method
    by_group = seat | {"to": "rod", "to_group": "x_min", "until": 0.005}
    yield bare | {"body": [cube], "beam": [rod], "coupling": [by_group]} | method
    reduced = {"reduced": {"modes": 2, "interfaces": ["x_min"]}, "mass": "consistent"}
    yield bare | {"body": [cube | reduced], "rigid_body": [flap], "joint": [hinge], "coupling": [seat]} | method
    stored = {"name": "rod", "file": "rod.npz", "velocity": [0, 0, 1], "angular_velocity": [0, 0, 1]}
    stored |= {"rotate": {"axis": [0, 0, 1], "degrees": 30}, "translate": [2, 0, 0]}
    yield bare | {"flexible_body": [stored]} | method
    pin = {"name": "pin", "joint": "hinge", "quantities": ["moment", "angle"], "components": ["norm"]}
    torn = {"name": "torn", "probe": "pin", "above": 1e-3}
    until = {"rigid_body": [flap], "joint": [hinge | {"until": "torn"}], "probe": [pin], "when": [torn]}
    yield bare | until | {"gravity": {"acceleration": [0, 0, -9.81]}} | method
    yield bare | {"rigid_body": [flap], "joint": [hinge | {"kind": "universal", "second": [1, 0, 0]}]} | method


def published_cases() -> Iterator[Data]:
    """Yield the scenarios of the examples and of the documentation, made small and short."""
    from symplex.scenario.definitions import evaluated

    texts = [path.read_text("utf-8") for path in sorted((ROOT / "examples").glob("*.toml"))]
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "scenario.md").read_text("utf-8"), re.DOTALL)
    texts += [block for block in blocks if "[integrator]" in block]
    for text in texts:
        data = evaluated(tomllib.loads(text), [])
        for body in data.get("body", []):
            if "bundled" in body["mesh"]:
                body |= {"mesh": {"file": "box.msh"}, "translate": [0, 0, 0.1]}
            elif "cube" in body["mesh"]:
                body["mesh"] = BOX
            elif "cells" in body["mesh"]:
                body["mesh"] |= {"cells": [min(count, 5) for count in body["mesh"]["cells"]]}
        passing = (one for kind in ("body", "support", "load", "temperature") for one in data.get(kind, ()))
        for item in (*passing, data.get("gravity", {})):
            times = {key: item[key] for key in ("from", "until") if isinstance(item.get(key), int | float)}
            item |= {key: time / 100 for key, time in times.items()}
        for part in data.get("stage") or [data["run"]]:
            part |= {"duration": part["duration"] / 100, "frames": 2, "samples": 4}
            integrator = part.get("integrator") or data["integrator"]
            if isinstance(integrator.get("dt"), float):
                integrator["dt"] = min(integrator["dt"], part["duration"] / 4)
        yield data


def bases() -> list[Data]:
    """Return all scenarios that are mutated."""
    return json.loads(json.dumps([*own_cases(), *published_cases()]))


# -- mutations ------------------------------------------------------------------------------------------------------

EXTREMES = [
    *(0, -1, 1, 2, 1e-320, 1e-160, 1e-30, 1e-20, 1e-9, 1e9, 1e20, 1e30, 1e31, 1e300, -1e20, -1e30),
    *(math.nan, math.inf, -math.inf, -0.0, 0.5, 1.5, 10**9, 10**18, 10**20, 10**400, -(10**30), 2**31, 2**63, 1e-12),
]
TEXTS = ["", " ", "auto", "x" * 5000, "a\0b", "\x1b[31mred", "é" * 300, "𝓕", "../..", "/", "~", "\u2028", "a\nb"]
TEXTS += ["body", "x_max", "cube", "floor", "gravity", "total", "record.csv", "folder", "none.msh", "/dev/null"]
OTHERS = [True, False, [], {}, [[]], [{}], [1], [1, 2], [1, 2, 3, 4], ["a"], {"a": 1}, {"kind": "sine"}, [None, 1]]


def places(data: Any, here: Path_ = ()) -> list[Path_]:
    """Return the paths of all values in nested tables and lists."""
    if isinstance(data, dict):
        inside = list(data.items())
    elif isinstance(data, list):
        inside = list(enumerate(data))
    else:
        return [here]
    below = [place for key, value in inside for place in places(value, (*here, key))]
    return ([here] if here else []) + below


def at(data: Any, place: Path_) -> Any:
    """Return the value at a path."""
    for key in place:
        data = data[key]
    return data


def put(data: Any, place: Path_, value: Any) -> None:
    at(data, place[:-1])[place[-1]] = value


def mutated(random_: random.Random, data: Data, others: list[Data]) -> str:
    """Change one thing in a scenario; return what kind of change it is."""
    every = places(data)
    place = random_.choice(every)
    value, container = at(data, place), at(data, place[:-1])
    numbers = [p for p in every if isinstance(at(data, p), int | float) and not isinstance(at(data, p), bool)]
    texts = [p for p in every if isinstance(at(data, p), str)]
    kinds = {"extreme": 6, "factor": 8, "type": 2, "text": 2, "other": 2, "left out": 1, "doubled": 1, "nested": 1}
    kinds |= {"misspelt": 1, "moved": 1}
    (kind,) = random_.choices(list(kinds), list(kinds.values()))
    if kind == "extreme":
        put(data, random_.choice(numbers), random_.choice(EXTREMES))
        return "a number replaced by an extreme one"
    if kind == "factor":
        chosen = random_.choice(numbers)
        put(
            data,
            chosen,
            float(min(at(data, chosen), 1e300)) * 10.0 ** random_.uniform(-6, 6) * random_.choice([1, 1, -1]),
        )
        return "a number scaled"
    if kind == "type":
        put(data, place, random_.choice(OTHERS))
        return "a value of another type"
    if kind == "text":
        put(data, random_.choice(texts), random_.choice(TEXTS))
        return "a text replaced"
    if kind == "other":
        other = random_.choice(others)
        put(data, place, copy.deepcopy(at(other, random_.choice(places(other)))))
        return "another key's value"
    if kind == "left out":
        del container[place[-1]]
        return "a key or value left out"
    if kind == "doubled" and isinstance(container, list):
        container.append(copy.deepcopy(value))
        return "an item doubled"
    if kind == "nested":
        depth = random_.choice([1, 3, 40])
        for _ in range(depth):
            value = [value] if random_.random() < 0.5 else {"a": value}
        put(data, place, value)
        return "a value nested"
    if not isinstance(container, dict):
        put(data, place, random_.choice(EXTREMES))
        return "a number replaced by an extreme one"
    key = str(place[-1])
    if kind == "misspelt":
        i = random_.randrange(len(key))
        odd = random_.choice([key[:i] + key[i + 1 :], key + "s", key.upper(), key * 700, key + "\x1b", " " + key])
        container[odd] = container.pop(key)
        return "a key misspelt"
    target = at(data, random_.choice([(), *(p for p in every if isinstance(at(data, p), dict))]))
    moved = container.pop(key)
    if target is not moved:
        target[key] = moved
    return "a key moved or left out"


def damaged(random_: random.Random, text: str) -> str:
    """Return a text with some letters changed, left out or put in."""
    for _ in range(random_.randint(1, 4)):
        i = random_.randrange(len(text) + 1)
        put_in = random_.choice(
            ['"', "[", "]", "=", "\n", "\0", "#", "'", "{", "}", ",", ".", "é", "-", "e", "9" * 5000]
        )
        text = random_.choice(
            [text[:i] + put_in + text[i:], text[:i] + put_in + text[i + 1 :], text[:i] + text[i + 5 :]]
        )
    return text


def toml(data: Data) -> str:
    """Return a scenario as TOML, each table in a line."""
    return "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in data.items())


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value if item is not None) + "]"
    if isinstance(value, float):
        return {"inf": "inf", "-inf": "-inf", "nan": "nan"}.get(repr(value), repr(value))
    return json.dumps(value)


def cases(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield mutated scenarios: what was done, and the text."""
    random_, originals = random.Random(seed), bases()
    for _ in range(count):
        data = copy.deepcopy(random_.choice(originals))
        many = random_.random()
        if many < 0.1:
            yield "scenario: letters changed", damaged(random_, toml(data))
        elif many < 0.3:
            for _ in range(random_.randint(2, 5)):
                if numbers_and_texts(data):
                    mutated(random_, data, originals)
            yield "scenario: several changes", toml(data)
        else:
            yield f"scenario: {mutated(random_, data, originals)}", toml(data)


def numbers_and_texts(data: Data) -> bool:
    """Return whether anything is left that can be mutated."""
    values = [at(data, place) for place in places(data)]
    return any(type(v) in (int, float) for v in values) and any(type(v) is str for v in values)


# -- trials ---------------------------------------------------------------------------------------------------------


def trials(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield what was done to a scenario, and the outcome of building, checking and briefly running it."""
    for what, _, outcome in tried(seed, count):
        yield what, outcome


def tried(seed: int, count: int) -> Iterator[tuple[str, str, str]]:
    """Yield what was done, the text, and the outcome."""
    with tempfile.TemporaryDirectory() as folder, isolated.Isolated(Path(__file__)) as attempt:
        furnish(Path(folder))
        for what, text in cases(seed, count):
            yield what, text, attempt({"text": text, "folder": folder})


def furnish(folder: Path) -> None:
    """Put the files into a folder that scenarios name."""
    import numpy as np

    from symplex.meshes.formats.save import save_mesh
    from symplex.meshes.generate import box
    from symplex.meshes.mesh import Mesh
    from symplex.runs.reduction import reduce_body
    from symplex.runs.run import simulate
    from symplex.scenario.scenario import Scenario

    (folder / "folder").mkdir()
    for table in (ROOT / "examples").glob("*.csv"):
        (folder / table.name).write_bytes(table.read_bytes())
    (folder / "record.csv").write_text("t (s),a (g)\n0,0\n0.005,1\n0.02,0\n", "utf-8")
    save_mesh(box((0.1, 0.1, 0.1), (1, 1, 1), split="6"), folder / "box.msh")
    data = next(data for data in own_cases() if any("reduced" in body for body in data.get("body", ())))
    reduce_body(Scenario.parse(toml(data)))[0].save(folder / "rod.npz")
    (folder / "nodes.csv").write_text("x,y,z\n0,0,0\n1,0,0\n0,1,0\n", "utf-8")
    (folder / "warm.csv").write_text("node,K\n0,1\n2,3\n", "utf-8")
    (folder / "members.csv").write_text("0,1\n1,2\n", "utf-8")
    (folder / "sheet.csv").write_text("\n".join(f"{x},{y},0" for x in range(4) for y in range(4)), "utf-8")
    ends = np.array([[0, 1], [1, 2]], np.int32)
    bars = Mesh(np.eye(3), {"line": ends}, {"main": {"line": np.array([0, 1], np.int32)}})
    save_mesh(bars, folder / "bars.msh")
    faces = Mesh(
        np.eye(3), {"triangle": np.array([[0, 1, 2]], np.int32)}, {"main": {"triangle": np.zeros(1, np.int32)}}
    )
    save_mesh(faces, folder / "faces.msh")
    earlier = next(data for data in own_cases() if data.get("start", {}).get("kind") == "result")
    text = toml({key: value for key, value in earlier.items() if key != "start"})
    simulate(Scenario.parse(text, folder / "earlier.toml"), folder / "earlier", progress=False, pictures=False)


def trial(task: dict[str, str]) -> str:
    """Return the outcome of a scenario (in its own process)."""
    from symplex.errors import SymplexError
    from symplex.runs import check
    from symplex.scenario.scenario import Scenario

    folder = Path(task["folder"])
    try:
        scenario = Scenario.parse(task["text"], folder / "trial.toml")
        problem = scenario.build()
    except SymplexError as error:
        return isolated.judged(error, "trial.toml")
    with patch.multiple(check, _TRIAL=0.02, _WARM_UP=5.0):
        reported, _ = check.check_report(problem)
    if re.search(r"\b(nan|inf)\b", reported) or max(map(len, reported.split("\n"))) > 1000:
        return f"bad report: {reported}"
    if scenario.tables.response is not None and scenario.tables.response.points <= 100:
        from symplex.runs.response import find_response

        try:
            find_response(scenario)
        except SymplexError as error:
            outcome = isolated.judged(error)
            if outcome != isolated.REFUSED:
                return outcome
    return briefly_run(scenario, folder / "results")


def briefly_run(scenario: Any, folder: Path) -> str:
    """Run a scenario for a moment, and look at what is kept of it."""
    import numpy as np

    from symplex.errors import SymplexError
    from symplex.runs.history import read_history
    from symplex.runs.run import simulate

    shutil.rmtree(folder, ignore_errors=True)
    if scenario.tables.run.n_samples > 10_000:
        return isolated.RAN
    isolated.bound(RUNNING)
    try:
        simulate(scenario, folder, progress=False, pictures=False)
    except isolated.TimeIsUp:  # as long as it likes
        pass
    except SymplexError as error:
        return isolated.judged(error)
    if (folder / "history.csv").exists() and not all(
        np.isfinite(column).all() for column in read_history(folder / "history.csv").values()
    ):
        return "wrong result: the history is not finite"
    return isolated.RAN


# -- tests ----------------------------------------------------------------------------------------------------------


def test_every_key_is_used():
    from symplex.scenario.reading import keys_of
    from symplex.scenario.tables import Tables, kinds_of

    used: dict[str, set[str]] = {}
    for data in own_cases():
        for name, tables in data.items():
            for table in tables if isinstance(tables, list) else [tables]:
                if isinstance(table, dict):
                    used.setdefault(table["kind"] if name == "integrator" else name, set()).update(table)
    for name, of in kinds_of(Tables).items():
        for kind, model in of.models.items():
            keys = set(keys_of(model))
            assert keys <= used[kind if name == "integrator" else name], f"[{name}] {kind}"


@pytest.mark.slow
def test_undamaged_scenarios_run():
    with tempfile.TemporaryDirectory() as folder, isolated.Isolated(Path(__file__)) as attempt:
        furnish(Path(folder))
        for data in bases():
            assert attempt({"text": toml(data), "folder": folder}) == isolated.RAN, toml(data)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_damaged_scenarios_run_or_are_refused_in_one_sentence(seed):
    outcomes: Counter[str] = Counter()
    for what, text, outcome in tried(seed, 600):
        assert outcome in (isolated.RAN, isolated.REFUSED), f"{what}\n{text}\n{outcome}"
        outcomes[outcome] += 1
    assert min(outcomes[isolated.RAN], outcomes[isolated.REFUSED]) > 50  # the mutations are neither idle nor blunt


if __name__ == "__main__" and sys.argv[1:] == ["--serve"]:
    isolated.serve(trial, SECONDS)
