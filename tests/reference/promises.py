"""Many checks of one subject in one test, which reports all that failed."""

from collections.abc import Callable, Iterable


def try_all(checks: Iterable[tuple[str, Callable[[], None]]]) -> None:
    """Run all checks and raise one error with those of all that failed, each with the name of its check."""
    failures = []
    for name, check in checks:
        try:
            check()
        except Exception as failure:
            failure.add_note(f"in the check {name!r}")
            failures.append(failure)
    if failures:
        raise ExceptionGroup("checks failed", failures)
