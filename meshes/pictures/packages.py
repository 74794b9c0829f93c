"""The packages by which pictures are drawn, which a machine that only computes can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from symplex.errors import RenderError

_PACKAGES = ("matplotlib", "pyvista", "imageio")  # of the extra [pictures]


def require_packages(purpose: str = "pictures need", names: Sequence[str] = _PACKAGES) -> None:
    """Make sure that the packages of pictures are installed, or some of them.

    Parameters
    ----------
    purpose : str
        What needs them, as the beginning of a sentence.
    names : sequence of str
    """
    if missing := [name for name in names if find_spec(name) is None]:
        verb = "is" if len(missing) == 1 else "are"
        raise RenderError(
            f"{purpose} {' and '.join(missing)}, which {verb} not installed: pip install 'symplex[pictures]'."
        )


@contextmanager
def pictures_if_possible(say: Callable[[str], object]) -> Iterator[None]:
    """Go on without the pictures that are drawn inside where none can be drawn, and say why."""
    try:
        yield
    except RenderError as error:
        say(f"pictures skipped: {error}")
