"""Runs and pages of them, for the tests of pages."""

import base64
import json
import re
import zlib

import numpy as np

from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

TEXT = """
title = "Two </script><b> blocks"
[[body]]
name = "left"
mesh = { box = [0.1, 0.1, 0.1], cells = [2, 2, 2], split = "6" }
material = { young = 1e7, poisson = 0.3, density = 1000 }
velocity = [5, 0, 0]
[[body]]
name = "right"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "hexahedra" }
translate = [0.3, 0, 0]
material = { young = 1e7, poisson = 0.3, density = 1000 }
velocity = [0, 0, -10]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.01]
normal = [0, 0, 1]
stiffness = 1e6
[integrator]
kind = "newmark"
dt = 2e-5
[run]
duration = 4e-3
frames = 20
samples = 40
[output]
pictures = false
"""


def run(folder):
    """Run two blocks over a floor."""
    return simulate(Scenario.parse(TEXT, "two.toml"), folder, progress=False)


def parts(path):
    """Return the header of a page, and a function that returns the array a description in it stands for."""
    text = path.read_text("utf-8")
    header = json.loads(re.search(r'<script type="application/json" id="header">(.*?)</script>', text, re.S)[1])
    data = base64.b64decode(re.search(r'<script type="text/plain" id="data">(.*?)</script>', text, re.S)[1])

    def array(described):
        raw = zlib.decompress(data[described["at"] : described["at"] + described["bytes"]])
        kind = np.dtype(described["type"])
        planes = np.frombuffer(raw, np.uint8).reshape(kind.itemsize, -1)
        values = np.ascontiguousarray(planes.T).view(kind).reshape(described["shape"])
        return np.cumsum(values, axis=0, dtype=kind) if described.get("over_time") else values

    return header, array
