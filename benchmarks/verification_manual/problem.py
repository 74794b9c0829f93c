"""What a verification problem is, and the list of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from inspect import cleandoc

PROBLEMS: dict[str, Problem] = {}


@dataclass(frozen=True)
class Row:
    """One number next to its target.

    Attributes
    ----------
    by : str
        The element, law or method that gave it.
    what : str
        The quantity, with its unit.
    target, found : float
    scale : float or None
        What the deviation is a part of, by default the target; for targets of zero it must be given.
    within : float or None
        How far it may be off; by default as far as the problem says. Infinite: shown, not judged.
    """

    by: str
    what: str
    target: float
    found: float
    scale: float | None = None
    within: float | None = None

    @property
    def deviation(self) -> float:
        """(found − target)/scale."""
        scale = abs(self.target) if self.scale is None else self.scale
        if not scale > 0.0:
            raise ValueError(f"{self.by}, {self.what}: a target of zero needs a scale.")
        return (float(self.found) - float(self.target)) / scale


@dataclass(frozen=True)
class Problem:
    """A model with a known answer.

    Attributes
    ----------
    name : str
        By which it is asked for.
    family : str
        The page on which it stands.
    title, model, source : str
        What is computed, and where the target comes from.
    within : float
        The largest relative deviation that is accepted.
    compute : callable
        Returns the rows.
    """

    name: str
    family: str
    title: str
    model: str
    source: str
    within: float
    compute: Callable[[], Iterable[Row]]

    def rows(self) -> list[Row]:
        """Return what was found, computed now."""
        return list(self.compute())

    def limit(self, row: Row) -> float:
        """Return how far a row may be off."""
        return self.within if row.within is None else row.within


def problem(
    family: str, title: str, *, source: str, within: float
) -> Callable[[Callable[[], Iterator[Row]]], Callable[[], Iterator[Row]]]:
    """Enter a function that yields rows in the list; its docstring is the model, its name that of the problem."""

    def enter(compute: Callable[[], Iterator[Row]]) -> Callable[[], Iterator[Row]]:
        name = compute.__name__.replace("_", "-")
        if name in PROBLEMS:
            raise ValueError(f"there are two problems called '{name}'.")
        PROBLEMS[name] = Problem(name, family, title, cleandoc(compute.__doc__ or ""), source, within, compute)
        return compute

    return enter
