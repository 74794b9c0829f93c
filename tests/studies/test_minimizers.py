"""Fits by lmfit find what `symplex fit` finds, with parameters held, tied and between ends."""

import sys

import numpy as np
import pytest
from studies.test_fit import measured

from symplex.errors import MissingPackage, ScenarioError
from symplex.studies import fit, lmfit_minimizer

lmfit = pytest.importorskip("lmfit")


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return measured(tmp_path_factory.mktemp("fit"), 1e-3)


@pytest.mark.parametrize("method", [pytest.param("leastsq", marks=[pytest.mark.slow]), "least_squares"])
def test_values_and_deviations_are_those_of_the_fit(method, scenario, tmp_path):
    ours = fit(scenario, output=tmp_path / "fit", progress=False, pictures=False, check=False)
    found = lmfit_minimizer(scenario).minimize(method)
    parameters = [found.params[name] for name in ("define_k", "define_alpha")]
    assert np.allclose([one.value for one in parameters], ours.values, rtol=1e-6)
    assert np.allclose([one.stderr for one in parameters], ours.deviations, rtol=1e-3)
    assert found.nfev < 30  # with derivatives of runs, not differences


@pytest.mark.slow
def test_intervals_of_confidence_are_as_wide_as_deviations(scenario):
    """But for lmfit's test F, which takes the deviations of what was measured from the residuals."""
    minimizer = lmfit_minimizer(scenario)
    found = minimizer.minimize()
    intervals = lmfit.conf_interval(minimizer, found, sigmas=[1])
    for name, one in found.params.items():
        (_, low), (_, best), (_, high) = intervals[name]
        assert [best - low, high - best] == pytest.approx([one.stderr * np.sqrt(found.redchi)] * 2, rel=0.05)


@pytest.mark.slow
def test_parameters_are_held_and_tied(scenario):
    held = lmfit_minimizer(scenario)
    held.params["define_alpha"].set(value=1.5, vary=False)
    assert held.minimize().params["define_k"].value == pytest.approx(180.0, rel=0.01)
    tied = lmfit_minimizer(scenario)
    tied.params["define_alpha"].set(expr="define_k / 120 + 0 * define_k**2")
    found = tied.minimize()
    assert found.params["define_alpha"].value == pytest.approx(1.5, rel=0.01)
    # Derivatives of a tied fit are differences of its residuals.
    parameters, residuals = found.params, tied.userfcn
    slope = tied.jacfcn(parameters)[:, 0]
    ends = []
    for k in (179.9, 180.1):
        parameters["define_k"].set(value=k)
        ends.append(residuals(parameters))
    assert np.abs((ends[1] - ends[0]) / 0.2 - slope).max() < 1e-3 * np.abs(slope).max()


def test_what_is_wrong_is_refused(scenario, monkeypatch):
    with pytest.raises(ScenarioError, match=r"there is no \[fit\] table"):
        lmfit_minimizer(type(scenario).parse(scenario.text.partition("[fit]")[0]))
    monkeypatch.setitem(sys.modules, "lmfit", None)
    with pytest.raises(MissingPackage, match="install it with pip install lmfit"):
        lmfit_minimizer(scenario)
