"""With what differences of two results are compared where these may themselves be rounding."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from symplex.base.columns import Column
from symplex.errors import SymplexError
from symplex.meshes.series.frames import Series
from symplex.runs.result import Result
from symplex.time.totals import EnergyExchange

_ENERGIES = ("energy", "total", "work")
_ROUNDED = 1e-9  # of what a momentum could be: below, it is rounding
_UNITS_LOST = 100.0  # last digits of positions that a run may lose


class Scales:
    """How large energies, momenta, motions, strains and stresses could be, to see which of them are rounding.

    Positions of the size L are known to δ = 100 ε L. With elements of the size h, waves of the speed c and moduli E
    that makes velocities of c δ/h, accelerations of c² δ/h², strains of δ/h and stresses of E δ/h where there should
    be none.
    """

    def __init__(self, result: Result):
        self._result = result
        history, exchange = result.history, EnergyExchange()
        self._exchanged = 0.0
        if {"kinetic", "total"} <= history.keys() and len(history["t"]):
            exchange.add(history["kinetic"], history["total"])
            self._exchanged = exchange.largest
        mass, kinetic = result.summary.get("mass", 0.0), history.get("kinetic", np.zeros(1))
        self._momentum = math.sqrt(2.0 * mass * float(kinetic.max())) if isinstance(mass, int | float) else 0.0

    def of_column(self, column: Column, largest: float) -> float:
        """Return the scale of a column, given the largest value of its kind."""
        if column.kind in _ENERGIES:
            return self._exchanged or largest
        if column.kind == "momentum":
            possible = self._momentum * (self._farthest if "angular" in column.subject else 1.0)
            return possible if largest < _ROUNDED * possible else largest
        return self.of(column.subject, column.unit, largest)

    def of(self, name: str, unit: str, largest: float) -> float:
        """Return the scale of what has a name and a unit, given its largest value: that, if it is no rounding."""
        natural, rounding = self._known.get("strain" if "strain" in name and not unit else unit, (0.0, 0.0))
        return natural if largest < rounding else largest

    @cached_property
    def _farthest(self) -> float:
        points = self._result.series.points
        return float(np.linalg.norm(points, axis=1).max()) if len(points) else 0.0

    @cached_property
    def _known(self) -> dict[str, tuple[float, float]]:
        """What could be, and what may be rounding, by unit."""
        series = self._result.series
        far = self._farthest
        if len(series):
            far += float(np.abs(series.frame(-1).displacement).max(initial=0.0))
        lost = _UNITS_LOST * float(np.finfo(float).eps) * far
        found = {"m": (far, lost)}
        if not (h := _least_edge(series)):
            return found
        found["strain"] = 1.0, lost / h
        modulus, speed = self._stiffest()
        if speed:
            found |= {"m/s": (speed, speed * lost / h), "m/s²": (speed**2 / h, (speed / h) ** 2 * lost)}
            found |= {unit: (modulus, modulus * lost / h) for unit in ("Pa", "J/m³")}
        return found

    def _stiffest(self) -> tuple[float, float]:
        """Return the largest modulus ρ c² in Pa and the largest speed c of waves in m/s of bodies; zero of none."""
        try:
            bodies = self._result.scenario.tables.body
        except SymplexError:  # of another version, perhaps
            return 0.0, 0.0
        materials = [table.material() for body in bodies for table in body.material_of_group.values()]
        moduli = [one.density * one.wave_speed**2 for one in materials]
        return max(moduli, default=0.0), max((one.wave_speed for one in materials), default=0.0)


def _least_edge(series: Series) -> float:
    """Return the least distance in m of neighbours in elements, zero if there are none."""
    found = [0.0]
    for block in series.blocks.values():
        if not len(block.nodes):  # an obstacle
            continue
        for cells in block.cells.values():
            if cells.ndim == 2 and cells.shape[1] > 1 and len(cells):
                edges = np.linalg.norm(series.points[cells[:, 1]] - series.points[cells[:, 0]], axis=1)
                found.append(float(edges.min()))
    return min((one for one in found if one > 0.0), default=0.0)
