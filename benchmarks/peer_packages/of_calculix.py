"""CalculiX, the command ``ccx``: see `serving`."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from serving import Deck, Package, serve


def calculix(problem: Deck) -> Package:
    """Return CalculiX: a run is that of ``ccx`` on the deck, with its results written."""
    version = re.findall(r"[\d.]+", subprocess.run(["ccx", "-v"], capture_output=True, text=True).stdout)[0]
    folder = Path(tempfile.mkdtemp())
    (folder / "deck.inp").write_text(problem.text, encoding="utf-8")

    def run() -> None:
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        subprocess.run(["ccx", "deck"], cwd=folder, check=True, capture_output=True, env=environment)

    def displacements() -> np.ndarray:
        run()
        found: dict[int, list[float]] = {}
        of_displacements = False
        for line in (folder / "deck.frd").read_text().splitlines():  # later tables replace earlier ones
            if line.startswith(" -4"):
                of_displacements = line.split()[1] == "DISP"
            elif of_displacements and line.startswith(" -1"):
                found[int(line[3:13])] = [float(line[k : k + 12]) for k in (13, 25, 37)]
        return np.array([found[node] for node in problem.nodes.tolist()])

    return Package(version, {"run": run}, {"displacements": displacements})


if __name__ == "__main__":
    serve({Deck: calculix})
