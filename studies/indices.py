"""Global sensitivity by SALib: designs of samples, and how much of the scatter of numbers is due to each parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symplex.base.quantities import listed
from symplex.errors import MissingPackage, OutputError, ScenarioError
from symplex.fem.energies.energy import Array

DESIGNS = ("saltelli", "morris")  # of samples, whose members belong together
_LEVELS = 4  # of Morris' grid
_JUMP = _LEVELS / (2.0 * (_LEVELS - 1.0))  # on it, between points of a trajectory
_COLUMNS = {
    "saltelli": {"S1": "first_order", "S1_conf": "first_order_95", "ST": "total", "ST_conf": "total_95"},
    "morris": {"mu": "mean_effect", "mu_star": "mean_size", "mu_star_conf": "mean_size_95", "sigma": "deviation"},
}


def designed(design: str, n: int, dimensions: int, seed: int) -> Array:
    """Return the points of a design in the unit cube: n (d + 2) of Saltelli's, n (d + 1) of Morris'."""
    _require_salib()
    problem = {"num_vars": dimensions, "names": _names(dimensions), "bounds": [[0.0, 1.0]] * dimensions}
    if design == "morris":
        from SALib.sample.morris import sample  # pyright: ignore[reportMissingImports]

        return np.asarray(sample(problem, n, num_levels=_LEVELS, seed=seed), float)
    if n & (n - 1):
        raise ScenarioError(f'samples must be a power of two with sampling = "saltelli", got {n}.')
    from SALib.sample.sobol import sample  # pyright: ignore[reportMissingImports]

    return np.asarray(sample(problem, n, calc_second_order=False, seed=seed), float)


def indices(
    design: str, values: Sequence[Mapping[str, Any]], numbers: Mapping[str, Sequence[float | None]]
) -> list[dict[str, Any]]:
    """Return for each number and each key how much it matters.

    Parameters
    ----------
    design : {"saltelli", "morris"}
    values : sequence of mapping of str to float
        Of the members by key, in the order of the design.
    numbers : mapping of str to sequence of float
        Of the members.
    """
    _require_salib()
    keys = list(values[0])
    problem = {"num_vars": len(keys), "names": _names(len(keys)), "bounds": [[0.0, 1.0]] * len(keys)}
    rows = []
    for name, column in numbers.items():
        if missing := sum(x is None or not np.isfinite(x) for x in column):
            raise OutputError(f"{name}: {missing} of {len(column)} members have no number, of which indices need all.")
        y = np.asarray(column, float)
        found: Mapping[str, Any] = dict.fromkeys(_COLUMNS[design], np.zeros(len(keys)))
        if np.ptp(y) > 0.0:
            if design == "saltelli":
                from SALib.analyze.sobol import analyze  # pyright: ignore[reportMissingImports]

                found = analyze(problem, y, calc_second_order=False, seed=0)
            else:
                from SALib.analyze.morris import analyze  # pyright: ignore[reportMissingImports]

                found = analyze(problem, _trajectories(values), y, num_levels=_LEVELS, seed=0)
        for k, key in enumerate(keys):
            own = {ours: float(np.asarray(found[theirs])[k]) for theirs, ours in _COLUMNS[design].items()}
            rows.append({"quantity": name, "parameter": key, **own})
    return rows


def columns_of(design: str) -> list[str]:
    """Return the columns of the table of indices."""
    return ["quantity", "parameter", *_COLUMNS[design].values()]


def _trajectories(values: Sequence[Mapping[str, Any]]) -> Array:
    """Return Morris' points without the offset of their grid: of two values in a trajectory one is a jump higher."""
    x = np.array([[float(value) for value in one.values()] for one in values])
    d = x.shape[1]
    parts = x.reshape(-1, d + 1, d)
    return np.where(parts > parts.min(axis=1, keepdims=True), _JUMP, 0.0).reshape(-1, d)


def _names(dimensions: int) -> list[str]:
    return [f"x{k}" for k in range(dimensions)]


def _require_salib() -> None:
    try:
        import SALib  # noqa: F401  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingPackage(f"{listed(DESIGNS)} require SALib; install it with pip install SALib.") from None
