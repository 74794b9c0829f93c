"""Fits by the minimisers of lmfit, which take the residuals of a scenario and their derivatives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import MissingPackage, ScenarioError
from symplex.fem.energies.energy import Array
from symplex.scenario.scenario import Scenario
from symplex.studies.fitting import residuals_of

if TYPE_CHECKING:
    from lmfit import Minimizer, Parameters  # pyright: ignore[reportMissingImports]

_STEP = 1e-6  # of the differences of expressions, in sizes of parameters


@checked
def lmfit_minimizer(scenario: Scenario | str | Path) -> Minimizer:
    """Return the minimiser of lmfit for the least squares of a table [fit].

    Its parameters have the names of the keys, ``define.E`` as ``define_E``, with their starts and ranges. Fix some, or
    constrain them by expressions; then minimise by any method of lmfit, or compute confidence intervals. Methods that
    take derivatives (``"leastsq"``, ``"least_squares"``) get those of the runs. Deviations are taken as given, not
    scaled by the residuals (``scale_covar=False``). All curves are fitted to their ends, without windows.

    Parameters
    ----------
    scenario : Scenario or path-like

    Returns
    -------
    lmfit.Minimizer

    Raises
    ------
    ScenarioError
        If there is no [fit], a key has no number, a file cannot be read, or the scenario is not valid.
    InvalidSystem
        If a part of the scenario has no derivatives, with its name.
    MissingPackage
        If lmfit is not installed.

    Examples
    --------
    >>> minimizer = sx.studies.lmfit_minimizer("block.toml")  # doctest: +SKIP
    >>> minimizer.params["define_c"].vary = False  # doctest: +SKIP
    >>> found = minimizer.minimize()  # doctest: +SKIP
    >>> lmfit.report_ci(lmfit.conf_interval(minimizer, found))  # doctest: +SKIP
    """
    try:
        from lmfit import Minimizer, Parameters  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingPackage("lmfit_minimizer requires lmfit; install it with pip install lmfit.") from None
    residuals = residuals_of(scenario)
    names = [re.sub(r"\W", "_", key) for key in residuals.keys]
    if len(set(names)) < len(names):
        name = residuals.scenario.path.name
        raise ScenarioError(f"{name}: [fit]: two keys get the same name in lmfit: {', '.join(names)}.")
    parameters = Parameters()
    for name, start, low, high in zip(names, residuals.start, *residuals.ranges.T, strict=True):
        parameters.add(name, value=float(start), min=float(low), max=float(high))

    def values(given: Parameters) -> Array:
        return np.array([given[name].value for name in names])

    def derivatives(given: Parameters) -> Array:
        """Return the derivatives [m, k] by the parameters that vary, through the expressions of others."""
        own = residuals.jacobian(values(given))
        by: list[Any] = []
        for varied in (given[name] for name in given if given[name].vary and not given[name].expr):
            at = varied.value
            step = _STEP * (abs(at) or 1.0)
            ends = []
            for end in (at - step, at + step):
                varied.set(value=end)
                ends.append((varied.value, values(given)))  # which may be an end of its range
            varied.set(value=at)
            (low, before), (high, after) = ends
            by.append((after - before) / (high - low))
        return own @ np.array(by).T

    return Minimizer(lambda given: residuals(values(given)), parameters, scale_covar=False, Dfun=derivatives)
