"""Draw the pictures of the tutorials: ``python docs/learn/pictures.py``.

Those of which-integrator.md are drawn by benchmarks/which_integrator.py. It runs the scenario of
ten-minutes.md and the code of in-python.md as they stand there.
"""

import os
import re
import runpy
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

import symplex as sx

HERE = Path(__file__).parent
PICTURES = HERE.parent / "pictures"


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of a language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", (HERE / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)


def small(path: Path) -> None:
    """Store a picture with 256 colours."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256)
    few.save(path, optimize=True)


def falling_bar() -> None:
    """Draw the run of ten-minutes.md: its snapshots, and two of its histories."""
    sx.save_mesh(sx.box((0.2, 0.05, 0.05), (8, 2, 2)), "bar.msh")
    text = blocks("ten-minutes.md", "toml")[0]
    sx.simulate(sx.Scenario.parse(text + "[output]\npictures = false\n", "bar.toml"), "bar-results", progress=False)
    result = sx.read_result("bar-results")
    result.snapshots(width=1000).save(PICTURES / "learn_bar.png")
    small(PICTURES / "learn_bar.png")

    history = result.history
    t = 1e3 * history["t"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.2), layout="constrained")
    for name in ("kinetic", "bar", "floor", "gravity", "total"):
        left.plot(t, history[name], label=name, linewidth=1.2)
    left.set(xlabel="t in ms", ylabel="energy in J")
    left.legend(fontsize=8, ncols=2)
    right.semilogy(t[1:], abs(history["total"][1:] / history["total"][0] - 1.0) + 1e-17, linewidth=1.0)
    right.set(xlabel="t in ms", ylabel="relative change of the total", ylim=(1e-17, 1e-12))
    figure.savefig(PICTURES / "learn_bar_history.png", dpi=85)
    plt.close(figure)


def swinging_bar() -> None:
    """Draw what in-python.md draws."""
    Path("tutorial.py").write_text("\n".join(blocks("in-python.md", "python")), "utf-8")
    runpy.run_path("tutorial.py")
    copyfile("bar.png", PICTURES / "learn_in_python.png")
    small(PICTURES / "learn_in_python.png")


def main() -> None:
    """Draw all, with what is written on the way in a folder that is removed."""
    home = Path.cwd()
    with TemporaryDirectory() as folder:
        try:
            for draw in (falling_bar, swinging_bar):
                place = Path(folder, draw.__name__)
                place.mkdir()
                os.chdir(place)
                draw()
        finally:
            os.chdir(home)


if __name__ == "__main__":
    main()
