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
    """Print the least times, which others on the machine disturb least, the medians, and how much probes add."""
    repetitions = int(arguments[0]) if arguments else 5
    path = EXAMPLES / "oblique_impact.toml"
    text = path.read_text("utf-8")
    plain, probed = (sx.Scenario.parse(one, path) for one in (text, text + PROBES))
    times = []
    with TemporaryDirectory() as folder:
        for _ in range(repetitions + 1):
            times.append([_seconds(scenario, f"{folder}/run") for scenario in (plain, probed)])
    for name, of in (("least", np.min), ("median", np.median)):
        without, probed_too = of(np.array(times[1:]), axis=0)
        more = 100 * (probed_too / without - 1)
        print(f"{name}: without {without:.2f} s, with ten probes {probed_too:.2f} s: {more:.0f} % more")


if __name__ == "__main__":
    main(sys.argv[1:])
