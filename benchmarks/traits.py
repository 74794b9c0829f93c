"""Write the table of integrators in docs/integrators.md from their declared traits. Run it after a trait has changed.

python benchmarks/traits.py
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from symplex.time.catalogue import catalogue
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.integrator import Integrator
from symplex.time.reductions.jacobi_reduction import JacobiReduction
from symplex.time.reductions.polar_reduction import PolarReduction

PAGE = Path(__file__).parent.parent / "docs" / "integrators.md"
BEGIN, END = "<!-- integrators: python benchmarks/traits.py -->", "<!-- end of integrators -->"
KEPT = ("energy", "momentum", "angular momentum", "symplectic form")
# Forms that not all energies have, and what is not evaluated by all methods.
NEEDED = {
    "hessian": "Hessian",
    "discrete_gradient": "discrete gradient",
    "mean_gradient": "gradient at mean strains",
    "secant": "secant form",
    "third": "third derivative",
}
COLUMNS = {
    "loads": "loads",
    "moving supports": "prescribed motion",
    "consistent mass": "consistent mass",
    "massless nodes": "zero-mass nodes",
    "changing stencils": "neighbour lists",
    "barriers": "barriers",
    "constraints": "constraints",
    "frames": "[frames](beams.md)",
    "joints": "[joints](joints.md)",
    "composition": "`Composition`",
    "thermostat": "`Langevin`",
}


class Row(NamedTuple):
    """A row for methods of the same traits, by their names in the catalogue."""

    methods: tuple[str, ...]
    page: str
    remark: str


ROWS = (
    Row(
        ("ForceStepping",),
        "force-stepping",
        "explicit, chooses its steps; by events: 500 to 100 000 times faster than the published algorithm as printed, "
        "30 to 300 times than a compiled walk",
    ),
    Row(("JacobiReduction",), "reduction", "here of force-stepping; for free systems"),
    Row(("PolarReduction",), "reduction", "here of force-stepping; for two bodies"),
    Row(("Newmark",), "", "velocity Verlet; refuses a step above the stability limit, or chooses it"),
    Row(("EnergyMomentum",), "implicit", "implicit, contact included"),
    Row(("Multirate",), "local-steps", "explicit, local time steps"),
    Row(("Midpoint",), "implicit", "implicit"),
    Row(("VariationalMidpoint",), "adaptive-variational", "implicit; reports its discrete energy"),
    Row(("Newmark.trapezoidal",), "implicit", "implicit; further members by β and γ"),
    Row(("GeneralizedAlpha", "HilberHughesTaylor"), "implicit", "implicit, with numerical damping"),
    Row(("GrahamJelenic symplectic-momentum",), "graham-jelenic", "implicit"),
    Row(
        ("GrahamJelenic energy-momentum", "GrahamJelenic energy-momentum-exact-angle"),
        "graham-jelenic",
        "implicit; the second rotates by the exact angle",
    ),
    Row(("GrahamJelenic assumed-distance",), "graham-jelenic", "implicit"),
    Row(("GrahamJelenic kappa",), "graham-jelenic", "implicit; the force is scaled"),
    Row(("GrahamJelenic exact-steady-motion",), "graham-jelenic", "implicit; steady motions are exact"),
    Row(
        ("GrahamJelenic momentum-conserving-4", "GrahamJelenic cayley-magnus-4"),
        "graham-jelenic",
        "implicit, without stages",
    ),
    Row(("GrahamJelenic cayley-magnus-6",), "graham-jelenic", "the same"),
    Row(("GrahamJelenic cayley-magnus-8",), "graham-jelenic", "the same"),
    Row(("ZhangSkeel",), "zhang-skeel", "one linear system a step, linearly stable at any for β ≥ ¼"),
    Row(("ZhangSkeel simplified",), "zhang-skeel", "the same"),
    Row(("ZhangSkeel push-forward",), "zhang-skeel", "nonlinear equations"),
    Row(("Rattle",), "constraints", "explicit except for the multipliers"),
    Row(("Rattle with beta > 0",), "constraints", "stiff energies as by `ZhangSkeel`"),
    Row(("Shake",), "constraints", "the positions of `Rattle`"),
    Row(("AdaptiveVariational",), "adaptive-variational", "implicit, chooses its steps; for smooth motions"),
)


def methods() -> dict[str, Integrator]:
    """Return the methods of the catalogue, and those around another one that have their own traits."""
    around = {kind.__name__: kind(ForceStepping(1.0)) for kind in (JacobiReduction, PolarReduction)}
    return catalogue() | around


def table() -> str:
    """Return the table, with a line for each row, and for each method that no row names."""
    known = methods()
    reported = [name for row in ROWS for name in row.methods]
    if gone := sorted(set(reported) - set(known)):
        raise ValueError(f"rows name {gone}, which the catalogue does not have.")
    rows = [*ROWS, *(Row((name,), "", "") for name in known if name not in reported)]
    heads = ("", "order", "conserves to round-off", "needs of energies", *COLUMNS.values(), "")
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for row in rows:
        cells = {_cells(known[name]) for name in row.methods}
        if len(cells) > 1:
            raise ValueError(f"{' and '.join(row.methods)} have different traits; give them separate rows.")
        names = ", ".join(f"`{name}`" for name in row.methods)
        named = f"[{names}]({row.page}.md)" if row.page else names
        lines.append(f"| {' | '.join((named, *cells.pop(), row.remark))} |")
    return "\n".join(lines)


def _cells(method: Integrator) -> tuple[str, ...]:
    """Return the cells that are computed."""
    names = {"energy": f"energy (`{method.energy}`)"}
    kept = ", ".join(names.get(name, name) for name in KEPT if name in method.conserves)
    kept = kept.replace("momentum, angular momentum", "both momenta")
    needed = ", ".join(words for form, words in NEEDED.items() if form in method.needs) or "–"
    return f"{method.order:g}", kept, needed, *("✓" if trait in method.takes else "–" for trait in COLUMNS)


def written(text: str) -> str:
    """Return the text of the page with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
