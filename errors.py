"""The errors symplex raises: each says where, what, how much, and what to try."""

import re

_LONGEST_WORD = 300  # letters, of what a message quotes


class SymplexError(Exception):
    """Base of all errors that a user can cause and mend; its text is one clear sentence."""

    def __str__(self) -> str:
        """Return the sentence as one line that can be printed, whatever it quotes."""
        return self._line(super().__str__())

    @staticmethod
    def _line(text: str) -> str:
        text = re.sub(r"\s*\n\s*", " ", text)
        text = re.sub(rf"(\S{{{_LONGEST_WORD // 2}}})\S{{{_LONGEST_WORD // 2},}}", r"\1…", text)
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class MeshError(SymplexError):
    """A mesh that cannot be read, or that no system can be built on."""


class MaterialError(SymplexError, ValueError):
    """Material constants that no material has."""


class InvalidSystem(SymplexError, ValueError):
    """A system that does not fit together: sizes, groups, masses."""


class InvalidArgument(InvalidSystem, TypeError):
    """An argument of another kind than a function or class takes: a text for a number, a truth value for a length."""


class ScenarioError(SymplexError):
    """A scenario file that is not valid; the text names file, table and key, with one line for each mistake."""

    def __str__(self) -> str:
        """Return the lines."""
        return "\n".join(map(self._line, Exception.__str__(self).split("\n")))


class OutputError(SymplexError):
    """A results folder or file that cannot be written or read."""


class RenderError(SymplexError):
    """Pictures that cannot be drawn here, for example without any OpenGL."""


class StepFailed(SymplexError):
    """A time step that could not be taken; the trajectory up to it is kept."""


class Interrupted(KeyboardInterrupt):
    """The wish of a user, a scheduler or the system that a run should end; it can be resumed.

    Attributes
    ----------
    signal : int
        By which it came.
    """

    def __init__(self, signal: int):
        super().__init__(f"stopped by signal {signal}")
        self.signal = signal


class NoEquilibrium(SymplexError):
    """A balance of forces that does not exist, or was not found."""


class _ElementFailed(StepFailed):
    def __init__(self, message: str, element: int):
        super().__init__(message)
        self.element = element

    def __reduce__(self) -> tuple[type, tuple[str, int]]:
        return type(self), (str(self), self.element)  # of both arguments, not of the text alone


class InvertedElement(_ElementFailed):
    """An element whose volume is not positive (det F ≤ 0).

    Attributes
    ----------
    element : int
        Index of the element in its energy.
    """


class MaterialFailed(_ElementFailed, MaterialError):
    """A law without a finite energy, stress or tangent at the strain of an element.

    Attributes
    ----------
    element : int
        Index of the element in its energy.
    """


class UnstableStep(StepFailed, ValueError):
    """A time step above the stability limit of an explicit method."""


class MissingPackage(SymplexError, ImportError):
    """An optional package that is not installed, though what was asked for needs it."""


class InfeasibleStart(InvalidSystem):
    """Positions or velocities at the start that break a constraint."""


class RedundantConstraints(InvalidSystem):
    """Constraints of which some follow from the others, so that their forces are not determined."""


class CheckFailed(SymplexError, AssertionError):
    """Code of a user that a function of `symplex.testing` found to be wrong: what, where and by how much."""
