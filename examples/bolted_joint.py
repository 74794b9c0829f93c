"""The joint diagram of a bolt: its force under an external load, against the stiffnesses of bolt and members.

    python examples/bolted_joint.py [--output DIR]

``bolted_joint.toml`` tightens a bolt of stiffness k_b to the force F against members of stiffness k_m, and locks it. Of
an external load P the bolt then carries the part k_b/(k_b + k_m) only, until the members come apart at
P = F (1 + k_b/k_m); from there on it carries all.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

HERE = Path(__file__).parent
BLUE, RED, GREY = "#2c5fa8", "#c0392b", "#888888"
AREA, LENGTH, YOUNG = 4e-4, 0.2, 2e11  # m², m, Pa
BOLT, MEMBERS = YOUNG * AREA / LENGTH, 4 * 2e8  # N/m
FORCE, LOAD = 1e4, 2.5e4  # N


def theory(load: np.ndarray) -> np.ndarray:
    """Return the force in N in the bolt under an external load in N."""
    return np.maximum(FORCE + load * BOLT / (BOLT + MEMBERS), load)


def main() -> None:
    """Run the scenario, and write numbers and a picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("bolted-joint"))
    folder = parser.parse_args().output
    sx.simulate(HERE / "bolted_joint.toml", folder / "run", overwrite=True, progress=False, pictures=False)
    seen = {
        name: np.loadtxt(folder / "run" / f"probe-{name}.csv", delimiter=",", skiprows=1).T
        for name in ("bolt", "turns", "head")
    }
    t, stress = seen["bolt"]
    loaded = t >= 1.0
    load, bolt, head = LOAD * (t[loaded] - 1.0), stress[loaded] * AREA, seen["head"][1][loaded]
    members = -MEMBERS * np.minimum(head, 0.0)
    numbers = {
        "force of the bolt when it is locked / N": float(bolt[0]),
        "drawn together by / µm": float(seen["turns"][1][-1] * 1e6),
        "F/k_b + F/k_m / µm": (FORCE / BOLT + FORCE / MEMBERS) * 1e6,
        "part of the load in the bolt": float((bolt[10] - bolt[0]) / load[10]),
        "k_b/(k_b + k_m)": BOLT / (BOLT + MEMBERS),
        "largest error of the force / F": float(np.abs(bolt - theory(load)).max() / FORCE),
        "largest error of its balance / F": float(np.abs(bolt - members - load).max() / FORCE),
    }
    for what, number in numbers.items():
        print(f"{what:<42} {number:.9g}")
    (folder / "numbers.json").write_text(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", "utf-8")
    figure, axis = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    axis.plot(load / 1e3, theory(load) / 1e3, color=GREY, lw=1.0, label="theory")
    axis.plot(load / 1e3, bolt / 1e3, "o", color=BLUE, ms=3.0, label="bolt")
    axis.plot(load / 1e3, members / 1e3, "o", color=RED, ms=3.0, label="members")
    axis.axvline(FORCE * (1.0 + BOLT / MEMBERS) / 1e3, color=GREY, ls=":", lw=1.0)
    axis.set(title="Bolt tightened to 10 kN, locked, and loaded", xlabel="external load / kN", ylabel="force / kN")
    axis.legend(frameon=False)
    figure.savefig(folder / "bolted_joint.png", dpi=110)


if __name__ == "__main__":
    main()
