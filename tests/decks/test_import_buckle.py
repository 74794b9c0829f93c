"""Buckling steps of decks, compared with CalculiX 2.20 and Euler's loads."""

import numpy as np
import pytest

import symplex as sx
from symplex.runs.buckling import find_buckling

L, B, H, E = 1.0, 0.05, 0.04, 1e9
CCX = [665.8097, 1038.207, 5971.157, 9245.885]  # factors of CalculiX for this deck


def column(step, n=10):
    """Return a deck of a cantilever of C3D20 along x with 1 N on its end, distributed as a traction."""
    numbers, nodes = {}, []

    def node(i, j, k):
        if (i, j, k) not in numbers:
            numbers[i, j, k] = len(numbers) + 1
            nodes.append(f"{numbers[i, j, k]}, {i * L / (2 * n):.9g}, {j * B / 2:.9g}, {k * H / 2:.9g}")
        return numbers[i, j, k]

    elements = []
    for e in range(n):
        i = 2 * e
        corners = [(i + x, y, z) for z in (0, 2) for x, y in ((0, 0), (2, 0), (2, 2), (0, 2))]
        sides = [(i + x, y, z) for z in (0, 2) for x, y in ((1, 0), (2, 1), (1, 2), (0, 1))]
        upright = [(i + x, y, 1) for x, y in ((0, 0), (2, 0), (2, 2), (0, 2))]
        every = [str(node(*place)) for place in (*corners, *sides, *upright)]
        elements += [f"{e + 1}, {', '.join(every[:10])},", f" {', '.join(every[10:])}"]
    held = [f"{number}," for (i, _, _), number in numbers.items() if i == 0]
    forces = [
        f"{number}, 1, {1 / 12 if 1 not in (j, k) else -1 / 3:.12g}"
        for (i, j, k), number in numbers.items()
        if i == 2 * n and (j, k) != (1, 1)
    ]
    lines = ["*NODE, NSET=ALL", *nodes, "*ELEMENT, TYPE=C3D20, ELSET=ALL", *elements, "*NSET, NSET=HELD", *held]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", f"{E}, 0.3", "*SOLID SECTION, ELSET=ALL, MATERIAL=M"]
    lines += ["*BOUNDARY", "HELD, 1, 3"]
    return "\n".join([*lines, step.replace("FORCES", "\n".join(forces))]) + "\n"


STEP = """*STEP
*BUCKLE
4
*CLOAD
FORCES
*END STEP"""


def test_a_column(tmp_path):
    (tmp_path / "column.inp").write_text(column(STEP))
    imported = sx.import_deck(tmp_path / "column.inp", tmp_path / "out")
    scenario = sx.Scenario.read(imported.scenarios[1])
    assert "symplex buckling FILE --number 4" in scenario.text
    factors = find_buckling(scenario, 4).buckling.factors
    np.testing.assert_allclose(factors[:2], CCX[:2], rtol=5e-5)
    np.testing.assert_allclose(factors, CCX, rtol=5e-4)
    euler = np.pi**2 * E * B * H**3 / 12.0 / 4.0 / L**2
    assert factors[0] == pytest.approx(euler, rel=0.015)  # the clamp holds the sides of the section as well


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (STEP.replace("\n4\n", "\n"), "it does not say how many factors"),
        ("*STEP\n*STATIC\n*CLOAD\nFORCES\n*END STEP\n" + STEP, "under the loads of step 1 is not supported"),
    ],
)
def test_what_is_refused(tmp_path, step, why):
    (tmp_path / "column.inp").write_text(column(step, 2))
    imported = sx.import_deck(tmp_path / "column.inp", tmp_path / "out", limit=0.0)
    assert any(why in str(missed) for missed in imported.missed)
