"""What ten probes cost: CPU time of the oblique impact with and without them, in turn in one process.

Three of them tell stress: of all tetrahedra, at a node, at a point. None of the runs draws pictures. Run it with the
number of repetitions; the first pair of runs only loads what is compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

import symplex as sx

EXAMPLES = Path(__file__).parent.parent / "examples"
PROBES = """
[[probe]]
name = "corner"
body = "cube"
nodes = [0, 1]

[[probe]]
name = "inside"
body = "cube"
points = [[0.03, 0.04, 0.05], [0.06, 0.05, 0.07]]
quantities = ["displacement", "velocity"]

[[probe]]
name = "mean_motion"
body = "cube"
reduce = ["mean"]
quantities = ["velocity"]

[[probe]]
name = "acceleration"
body = "cube"
nodes = [5, 6, 7]
quantities = ["acceleration"]

[[probe]]
name = "speed"
body = "cube"
quantities = ["velocity"]
components = ["norm"]
reduce = ["max"]

[[probe]]
name = "largest_stress"
body = "cube"
quantities = ["von_mises"]
reduce = ["max", "mean"]


[[probe]]
name = "stress_at_node"
body = "cube"
nodes = [10]
quantities = ["stress", "von_mises"]

[[probe]]
name = "stress_at_point"
body = "cube"
points = [[0.05, 0.05, 0.05]]
quantities = ["pressure"]

[[probe]]
name = "wall"
obstacle = "wall"

[[probe]]
name = "position"
body = "cube"
nodes = [20, 21]
quantities = ["position"]
"""


def _seconds(scenario: sx.Scenario, folder: str) -> float:
    begin = process_time()
    sx.simulate(scenario, folder, overwrite=True, progress=False, pictures=False)
    return process_time() - begin


def main(arguments: Sequence[str]) -> None:
    """Print the medians and their ratio."""
    repetitions = int(arguments[0]) if arguments else 5
    path = EXAMPLES / "oblique_impact.toml"
    text = path.read_text("utf-8")
    plain, probed = (sx.Scenario.parse(one, path) for one in (text, text + PROBES))
    times = []
    with TemporaryDirectory() as folder:
        for _ in range(repetitions + 1):
            times.append([_seconds(scenario, f"{folder}/run") for scenario in (plain, probed)])
    without, with_them = np.median(np.array(times[1:]), axis=0)
    print(f"without {without:.2f} s, with ten probes {with_them:.2f} s: {100 * (with_them / without - 1):.0f} % more")


if __name__ == "__main__":
    main(sys.argv[1:])
