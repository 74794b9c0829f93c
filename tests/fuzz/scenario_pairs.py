"""Samples of every table of a scenario, in every variant that other code treats otherwise, and their pairs.

A sample is its own small scenario: the table with what it names. Two of them become one scenario that has both.
What stands in both is there once, and where two say different things of one key they are no pair.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import cycle
from typing import Any

from symplex.scenario.reading import fields_of
from symplex.scenario.tables import Tables, kinds_of

Data = dict[str, Any]
BRING_NODES = [key for key, kind in kinds_of(Tables).items() if kind.brings_nodes]

DT = 5e-4
SINE = {"kind": "sine", "frequency": 30}
SOFT = {"young": 1e6, "poisson": 0.3, "density": 1000}
BOX = {"box": [0.1, 0.1, 0.1], "cells": [1, 1, 1], "split": "6"}
HEXAHEDRA = {"box": [0.1, 0.1, 0.1], "cells": [2, 1, 1], "split": "hexahedra"}
CUBE = {"name": "cube", "mesh": BOX, "material": SOFT, "velocity": [0.1, 0, 0]}
STILL = {"body": "cube", "group": "z_min", "components": "xyz"}
BALL = {"name": "ball", "position": [0, 0, 0.5], "mass": 0.3, "velocity": [0, 0, 1]}
GIRDER = {
    "name": "girder",
    "mesh": {"path": [[0, 2, 0], [0.5, 2, 0]], "bars": 2},
    "up": [0, 0, 1],
    "section": {"kind": "pipe", "radius": 0.02, "thickness": 0.002},
    "material": {"young": 1e8, "poisson": 0.3, "density": 1000},
}
PANEL = {
    "name": "panel",
    "mesh": {"plate": [0.5, 0.2], "cells": [2, 1]},
    "thickness": 0.01,
    "material": {"young": 1e8, "poisson": 0.3, "density": 1000},
    "translate": [0, 3, 0],
}
MAST = {"name": "mast", "mesh": {"lattice": [0.1, 0.1, 0.2], "cells": [1, 1, 2]}, "section": 1e-4}
MAST |= {"material": {"young": 1e6, "density": 1000}, "translate": [0, 0, 0.1]}
FLOOR = {"name": "floor", "kind": "half-space", "point": [0, 0, -0.5], "normal": [0, 0, 1], "stiffness": 1e3}
PEBBLE = {"name": "pebble", "mesh": {"sphere": 0.02, "refinements": 1}, "translate": [0.3, 0, 0.1], "density": 2000}
PEBBLE |= {"velocity": [0, 0, -1]}
STORED = {"name": "stored", "file": "rod.npz", "translate": [0, 0, 4], "velocity": [0, 0, 1]}
LINK = {"name": "link", "mesh": HEXAHEDRA, "material": SOFT, "translate": [0, 0, 5]}
LINK |= {"reduced": {"modes": 2, "interfaces": ["x_min"]}}
OTHER = CUBE | {"name": "other", "translate": [0, 0, 0.15]}
TIP = {"name": "tip", "body": "cube", "group": "z_max"}
PULL = {"name": "pull", "body": "cube", "group": "x_max"}
NEWMARK, ENERGY_MOMENTUM = {"kind": "newmark"}, {"kind": "energy-momentum", "dt": DT}


def _obstacles() -> Iterator[tuple[str, Data]]:
    """Yield an obstacle of each kind, at rest and in both ways of moving."""
    shapes = {
        "half-space": {"point": [0, 0, -0.5], "normal": [0, 0, 1]},
        "sphere": {"center": [0.05, 0.05, 0.8], "radius": 0.2, "inside": False},
        "cylinder": {"point": [0.05, 0.05, 0], "axis": [0, 0, 1], "radius": 3.0, "inside": True},
        "capsule": {"start": [-1, 0, -0.7], "end": [1, 0, -0.7], "radius": 0.2, "inside": False},
        "box": {"center": [0, 0, -0.8], "size": [1, 1, 0.2], "inside": False},
        "spline": {"map": ["u", "v", "0.1*u*v - 0.3"], "u": [-1, 1], "v": [-1, 1], "cells": [3, 3]},
        "surface": {"mesh": {"sphere": 0.05, "refinements": 1}, "translate": [-0.4, 0, 0.1]},
    }
    for kind, shape in shapes.items():
        still = {"name": kind.replace("-", " "), "kind": kind, "stiffness": 1e3} | shape
        yield kind, {"obstacle": [still]}
        yield f"{kind}, driven", {"obstacle": [still | {"displacement": [0, 0, 0.01], "history": SINE}]}
        if kind not in ("half-space", "cylinder", "spline"):  # which have no end, and so no mass
            yield f"{kind}, free", {"obstacle": [still | {"mass": 2, "velocity": [0, 0, -1]}]}
    rough = FLOOR | {"name": "rough", "friction": 0.3, "slip_speed": 0.01}
    yield "half-space, rough", {"obstacle": [rough]}


def _integrators() -> Iterator[tuple[str, Data]]:
    """Yield an integrator of each kind, and those variants that take other systems."""
    from symplex.scenario.methods import METHODS

    for kind, model in METHODS.items():
        values = {"dt": DT, "grid": 1e-4}
        given = {key: values[key] for key, field in fields_of(model).items() if key in values and field.is_required}
        rods = {"rod": [ROPES], "body": [CUBE]} if kind in ("rattle", "shake") else {}
        yield kind, {"integrator": {"kind": kind} | given} | rods
    yield "newmark, implicit", {"integrator": {"kind": "newmark", "beta": 0.25, "dt": DT}}
    yield "newmark, order 4", {"integrator": {"kind": "newmark", "order": 4}}
    yield "energy-momentum, order 4", {"integrator": ENERGY_MOMENTUM | {"order": 4}}
    yield "midpoint, krylov", {"integrator": {"kind": "midpoint", "dt": DT, "solver": "krylov"}}
    for scheme in ("energy-momentum", "assumed-distance", "cayley-magnus-4"):
        yield (
            f"graham-jelenic, {scheme}",
            {"integrator": {"kind": "graham-jelenic", "dt": DT, "scheme": scheme}},
        )
    skeel = {"kind": "zhang-skeel", "dt": DT}
    yield "zhang-skeel, push-forward", {"integrator": skeel | {"variant": "push-forward"}}


ROPES = {"name": "ropes", "body": "cube", "group": "z_max", "to": [0.05, 0.05, 0.5]}


def samples() -> dict[tuple[str, str], Data]:
    """Return the samples by table and variant; the first word of a variant is the table's kind, where it has kinds."""
    cube, body = {"body": [CUBE]}, lambda **keys: {"body": [CUBE | keys]}
    warm = body(material=SOFT | {"expansion": 1e-5})
    viscous = SOFT | {"viscous": [{"ratio": 0.3, "time": 0.002}], "viscosity": 2.0}
    halves = {"soft": [[0, 0, 0], [0.05, 0.1, 0.1]], "hard": [[0.05, 0, 0], [0.1, 0.1, 0.1]]}
    parts = {"name": "parts", "mesh": HEXAHEDRA | {"regions": halves}, "translate": [1, 0, 0]}
    parts |= {"materials": {"soft": SOFT, "hard": SOFT | {"young": 2e6}}}
    rope = {"name": "rope", "body": "cube", "at": [0, 0, 0.1], "to": [0, 0, 1], "stiffness": 10}
    two = {"body": [CUBE, OTHER]}
    ends = [{"body": "cube", "group": "z_max"}, {"body": "other", "group": "z_min"}]
    glue = {"name": "glue", "body": "upper", "group": "z_min", "to": "cube", "to_group": "z_max"}
    upper = {"body": [CUBE, CUBE | {"name": "upper", "translate": [0, 0, 0.1]}]}
    terms = [{"body": "cube", "group": "z_max", "component": "x", "factor": 1.0}]
    top = {"name": "top", "mesh": {"sphere": 0.02, "refinements": 1}, "translate": [0.6, 0, 0], "mass": 1}
    flap = {"name": "flap", "mesh": {"box": [0.2, 0.1, 0.02]}, "translate": [-0.6, 0, 0], "mass": 1}
    hinge = {"name": "hinge", "kind": "revolute", "bodies": ["flap"], "at": [-0.7, 0, 0], "axis": [0, 1, 0]}
    air = {"name": "air", "body": "cube", "group": "z_max", "density": 1.2, "coefficient": 1.1, "area": 0.02}
    held = {"body": [CUBE], "support": [STILL]}
    stage = {"duration": 2 * DT, "frames": 1, "samples": 2}
    stages = [stage | {"integrator": NEWMARK}, stage | {"integrator": ENERGY_MOMENTUM}]
    found = {
        ("body", "tetrahedra"): cube,
        ("body", "hexahedra"): body(mesh=HEXAHEDRA),
        ("body", "quadratic"): body(quadratic=True),
        ("body", "viscous"): body(material=viscous),
        ("body", "consistent mass"): body(mass="consistent"),
        ("body", "massless"): body(massless="z_min"),
        ("body", "parts"): {"body": [parts]},
        ("body", "rigid"): {"body": [CUBE | {"name": "brick", "rigid": True, "translate": [0.4, 0, 0]}]},
        ("body", "rigid part"): {
            "body": [
                CUBE
                | {"name": "club", "rigid": "head", "translate": [0.8, 0, 0]}
                | {"mesh": HEXAHEDRA | {"regions": {"head": [[0, 0, 0], [0.05, 0.1, 0.1]]}}}
            ]
        },
        ("body", "for a while"): {
            "body": [
                CUBE,
                {key: CUBE[key] for key in CUBE if key != "velocity"}
                | {"name": "patch", "translate": [0, 0, 0.1], "from": DT, "until": 2 * DT},
            ],
            "tie": [{"body": "cube", "to": "patch"}],
        },
        ("body", "copies"): body(instance=[{"name": "first"}, {"name": "second", "translate": [0.3, 0, 0]}]),
        ("truss", ""): {"truss": [MAST]},
        ("truss", "consistent mass"): {"truss": [MAST | {"mass": "consistent"}]},
        ("beam", ""): {"beam": [GIRDER]},
        ("shell", ""): {"shell": [PANEL]},
        ("point_mass", "free"): {"point_mass": [BALL]},
        ("point_mass", "on a body"): cube
        | {"point_mass": [{"name": "tip", "body": "cube", "at": [0, 0, 0], "mass": 1}]},
        ("spring", "anchored"): cube | {"spring": [rope]},
        ("spring", "by a table"): cube
        | {
            "spring": [
                {"name": "snubber", "body": "cube", "at": [0, 0, 0.1], "to": [0, 0, 1]}
                | {"elongations": [-0.01, 0.0, 0.02], "forces": [-1, 0, 0.1]}
            ]
        },
        ("spring", "between"): cube
        | {"point_mass": [BALL]}
        | {"spring": [{"name": "cord", "body": "ball", "to_body": "cube", "to_at": [0, 0, 0.1], "stiffness": 10}]},
        ("truss", "yields"): {"truss": [MAST | {"material": MAST["material"] | {"yield_stress": 1e3}}]},
        ("spring", "breaks"): cube
        | {"point_mass": [BALL]}
        | {
            "spring": [
                {"name": "cord", "body": "ball", "to_body": "cube", "to_at": [0, 0, 0.1], "stiffness": 10}
                | {"strength": 1, "fracture_energy": 0.1}
            ]
        },
        ("cohesive", ""): upper
        | {"cohesive": [{"name": "bond", "body": "upper", "to": "cube", "strength": 1e3, "fracture_energy": 0.1}]},
        ("tie", "nodes"): upper | {"tie": [glue | {"kind": "nodes"}]},
        ("tie", "surface"): upper | {"tie": [glue | {"kind": "surface"}]},
        ("constraint", ""): cube | {"constraint": [{"name": "flat", "equations": [terms]}]},
        ("cyclic", ""): cube
        | {
            "cyclic": [
                {"name": "quarters", "body": "cube", "low": "y_min", "high": "x_min", "sectors": 4, "axis": [0, 0, 1]}
            ]
        },
        ("pretension", ""): {
            "body": [CUBE | {"mesh": HEXAHEDRA}],
            "point_mass": [BALL],
            "pretension": [{"name": "cut", "body": "cube", "node": "ball", "point": [0.05, 0, 0], "normal": [1, 0, 0]}],
        },
        ("temperature", ""): warm | {"temperature": [{"body": "cube", "change": "10*x"}]},
        ("temperature", "with a history"): warm
        | {"temperature": [{"name": "fire", "body": "cube", "change": 10, "history": SINE}]},
        ("velocity", ""): cube | {"velocity": [{"body": "cube", "group": "z_max", "velocity": [0, 0, 0.1]}]},
        ("rigid_body", "free"): {"rigid_body": [PEBBLE]},
        ("rigid_body", "pivot"): {"rigid_body": [top | {"pivot": [0.6, 0, -0.05], "angular_velocity": [0, 0, 9]}]},
        ("rigid_body", "driven"): {
            "rigid_body": [top | {"name": "arm", "displacement": [0, 0, 0.01], "history": SINE}]
        },
        ("rigid_body", "at rest"): {
            "rigid_body": [{"name": "anvil", "mesh": {"box": [1, 1, 0.1]}, "translate": [0, 0, -0.2]}]
        },
        ("contact", "penalty"): two | {"contact": [{"name": "touch", "stiffness": 1e6, "distance": 0.002}]},
        ("contact", "barrier"): two | {"contact": [{"name": "touch", "law": "barrier", "stiffness": 1e6}]},
        ("contact", "segments"): two | {"contact": [{"name": "touch", "integration": "segments", "margin": 0.02}]},
        ("contact", "rough"): two | {"contact": [{"name": "touch", "friction": 0.3, "slip_speed": 0.01}]},
        ("contact", "self"): cube | {"contact": [{"name": "folds", "self": True}]},
        ("contact", "of rigid bodies"): {"contact": [{"stiffness": 1e6, "distance": 0.002}]}
        | {"rigid_body": [PEBBLE, top | {"name": "stone"}]},
        ("support", "at rest"): held,
        ("support", "driven"): cube
        | {"support": [STILL | {"name": "table", "displacement": [0.001, 0, 0], "history": SINE}]},
        ("support", "oblique"): cube
        | {"support": [{"name": "slope", "body": "cube", "group": "z_min", "direction": [1, 0, 1]}]},
        ("support", "cylindrical"): cube
        | {
            "support": [
                {"name": "bearing", "body": "cube", "group": "z_min"}
                | {"cylindrical": {"point": [0, 0.4, 0], "axis": [1, 0, 0], "fixed": ["radial", "axial"]}}
            ]
        },
        ("support", "field"): cube
        | {"support": [STILL | {"name": "table", "field": ["0.01*x", "0", "x*y"], "history": SINE}]},
        ("support", "for a while"): cube | {"support": [STILL | {"until": DT}]},
        ("rod", ""): cube | {"rod": [ROPES]},
        ("joint", ""): {"rigid_body": [flap], "joint": [hinge]},
        ("coupling", ""): cube
        | {"rigid_body": [flap], "coupling": [{"name": "seat", "body": "cube", "group": "z_max", "to": "flap"}]},
        ("flexible_body", ""): {"flexible_body": [STORED], "integrator": ENERGY_MOMENTUM},
        ("body", "reduced"): {"body": [LINK], "integrator": ENERGY_MOMENTUM},
        ("damping", "rayleigh"): cube | {"damping": [{"name": "ground", "alpha": 1.0, "beta": 1e-5}]},
        ("damping", "strain-rate"): cube | {"damping": [{"name": "rate", "beta": 1e-6, "stiffness": "strain-rate"}]},
        ("dashpot", "anchored"): cube
        | {"dashpot": [{"name": "strut", "body": "cube", "group": "z_max", "to": [0.05, 0.05, 1.0], "viscosity": 0.1}]},
        ("dashpot", "between"): two | {"dashpot": [{"name": "link", "between": ends, "viscosity": 0.2}]},
        ("drag", ""): cube | {"drag": [air]},
        ("gravity", ""): {"gravity": {"acceleration": [0, 0, -9.81]}},
        ("gravity", "ramped"): {"gravity": {"acceleration": [0, 0, -9.81], "history": SINE}},
        ("gravity", "for a while"): {"gravity": {"acceleration": [0, 0, -9.81], "until": DT}},
        ("mass_scaling", ""): cube | {"mass_scaling": {"dt": 2 * DT}},
        ("rotating_frame", ""): {"rotating_frame": {"angular_velocity": [0, 0, 5]}},
        ("load", "nodal"): cube | {"load": [PULL | {"kind": "nodal", "force": [0.1, 0, 0]}]},
        ("load", "nodal, with a history"): cube
        | {"load": [PULL | {"kind": "nodal", "force": [0.1, 0, 0], "history": SINE}]},
        ("load", "traction"): cube | {"load": [PULL | {"kind": "traction", "traction": [0, 10, 0]}]},
        ("load", "pressure"): cube | {"load": [PULL | {"kind": "pressure", "pressure": 20}]},
        ("load", "gravity"): cube
        | {"load": [{"name": "weigh", "kind": "gravity", "body": "cube", "acceleration": [0, 1, 0]}]},
        ("load", "centrifugal"): cube
        | {
            "load": [
                {
                    "name": "swing",
                    "kind": "centrifugal",
                    "body": "cube",
                    "angular_velocity": [0, 0, 3],
                    "point": [0, 1, 0],
                }
            ]
        },
        ("thermostat", ""): {"thermostat": {"temperature": 300, "rate": 1.0, "seed": 3}},
        ("run", "until"): {"run": {"duration": 2 * DT, "frames": 2, "samples": 2, "until": 3 * DT}},
        ("output", "pvd"): {"output": {"format": "pvd", "pictures": True, "film": "none"}},
        ("output", "fields"): {"output": {"fields": ["stress", "nodal_von_mises", "velocity"]}},
        ("output", "partitioned"): {"output": {"partitioned": True, "history_every": 2, "frames_at": [DT]}},
        ("start", "static"): {"start": {"kind": "static"}},
        ("start", "static, disturbed"): {"start": {"kind": "static", "perturbation": {"amplitude": 1e-5}}},
        ("start", "relative-equilibrium"): {"start": {"kind": "relative-equilibrium", "angular_velocity": [0, 0, 2]}},
        ("start", "result"): {"start": {"kind": "result", "from": "earlier"}},
        ("response", ""): held
        | {"load": [PULL | {"kind": "nodal", "force": [0.1, 0, 0], "history": SINE}]}
        | {"response": {"frequencies": [3.0, 8.0], "at": [{"name": "tip", "body": "cube", "group": "z_max"}]}},
        ("fit", ""): {
            "fit": {
                "parameters": [{"key": "define.unused", "start": 1.0, "range": [1e-4, 2.0]}],
                "curves": [{"data": "record.csv", "of": "kinetic", "deviation": 1.0}],
                "windows": [DT],
            }
        },
        ("stage", ""): {"stage": stages},
        ("stage", "static"): held | {"stage": [stage | {"integrator": {"kind": "static", "dt": DT}}, *stages]},
        ("support", "symmetry"): cube | {"support": [{"body": "cube", "symmetry": "x=0.0"}]},
        ("response", "random"): held
        | {"response": {"psd": {"frequencies": [10, 500], "values": [1, 2]}, "modes": 3, "ratio": 0.05, "at": [TIP]}}
        | {"load": [PULL | {"kind": "nodal", "force": [0.1, 0, 0], "history": SINE}]},
        ("when", ""): held
        | {"probe": [{"name": "base", "support": "all"}], "gravity": {"acceleration": [0, 0, -9.81], "from": "pulled"}}
        | {
            "when": [
                {"name": "pulled", "probe": "base", "column": "reaction_z", "above": 1e-6},
                {"name": "late", "time": 0.3 * DT, "after": ["pulled"]},
            ]
        },
        ("when", "stop"): cube | {"when": [{"name": "early", "time": 1.5 * DT, "stop": True}]},
        ("probe", "body"): cube
        | {"probe": [{"name": "seen", "body": "cube", "group": "z_max", "quantities": ["velocity", "stress"]}]},
        ("probe", "support"): held | {"probe": [{"name": "base", "support": "all", "frame_on": "onset"}]},
        ("probe", "obstacle"): {
            "obstacle": [FLOOR],
            "probe": [{"name": "ground", "obstacle": "all", "format": "hdf5"}],
        },
        ("probe", "contact"): two | {"contact": [{"name": "touch"}], "probe": [{"name": "felt", "contact": "all"}]},
    }
    found |= {("obstacle", variant): data for variant, data in _obstacles()}
    found |= {("integrator", variant): data for variant, data in _integrators()}
    return copy.deepcopy(found)  # what stands in several of them is one object


def merged(*parts: Data) -> Data | None:
    """Return a scenario with all that parts have, or None if they contradict each other."""
    out: Data = {}
    for part in copy.deepcopy(parts):
        for key, value in part.items():
            if key not in out:
                out[key] = value
            elif isinstance(value, list) and key != "stage":
                for item in value:
                    named = [k for k, there in enumerate(out[key]) if there.get("name") == item.get("name") is not None]
                    if not named:
                        out[key] += [] if item in out[key] else [item]
                    elif (both := _joined(out[key][named[0]], item)) is not None:
                        out[key][named[0]] = both
                    else:
                        return None
            elif isinstance(value, dict) and (both := _joined(out[key], value)) is not None:
                out[key] = both
            elif value != out[key]:
                return None
    return out


def _joined(one: Data, other: Data) -> Data | None:
    """Return the keys of two tables in one, or None if they differ in one that both have."""
    return None if any(one[key] != other[key] for key in one.keys() & other.keys()) else one | other


def complete(data: Data, integrator: Data) -> Data:
    """Return a scenario with what it lacks to be run for two steps: an integrator, times."""
    if "stage" in data:
        return {"title": "A pair", "output": {"film": "none"} | data.get("output", {})} | data
    run = {"duration": 2 * DT, "frames": 2, "samples": 2} | data.get("run", {})
    needs = {"title": "A pair", "run": run, "output": {"film": "none"} | data.get("output", {})}
    return {"integrator": integrator} | data | needs


def pairs() -> Iterator[tuple[str, Data]]:
    """Yield every pair of samples, and each sample alone: what it is, and the scenario.

    Where neither has nodes they are with a body, and with something else that has nodes. Where neither says how time is
    stepped there are two of it, with implicit and with explicit steps.
    """
    every, others = (
        list(samples().items()),
        cycle(({"truss": [MAST]}, {"point_mass": [BALL]}, {"rigid_body": [PEBBLE]})),
    )
    for i, (one, first) in enumerate(every):
        for other, second in every[i:]:
            name = f"{_called(*one)} with {_called(*other)}" if other != one else f"{_called(*one)} alone"
            if (both := merged(first, second)) is None:
                continue
            hosts = [{}] if any(key in both for key in BRING_NODES) else [{"body": [CUBE]}, next(others)]
            for host in hosts:
                data, of = both | host, f", {next(iter(host))}" if host else ""
                if "integrator" in data or "stage" in data:
                    yield f"{name}{of}", complete(data, ENERGY_MOMENTUM)
                    continue
                for method in (ENERGY_MOMENTUM, NEWMARK):
                    yield f"{name}{of}, {method['kind']}", complete(data, method)


def _called(table: str, variant: str) -> str:
    return f"[{table}] {variant}".rstrip()
