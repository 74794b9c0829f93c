"""Readable units: SI prefixes chosen by the size of what is shown."""

from __future__ import annotations

import math

_PREFIXES = {-15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}


def si_scale(largest: float, unit: str) -> tuple[float, str]:
    """Return the factor and the unit with prefix in which values up to ``largest`` read best.

    Kilograms and compound units that begin with them keep no prefix but powers of ten.

    Examples
    --------
    >>> si_scale(6e-5, "s")
    (1000000.0, 'µs')
    """
    if not (largest > 0 and math.isfinite(largest)) or not unit:
        return 1.0, unit
    # A little below a power of 1000 the larger numbers read better than 0.99.
    exponent = 3 * math.floor((math.log10(largest) + 1e-9) / 3)
    exponent = min(max(exponent, min(_PREFIXES)), max(_PREFIXES))
    if exponent == 0:
        return 1.0, unit
    if unit.startswith("kg"):
        return (10.0**-exponent, f"10$^{{{exponent}}}$ {unit}") if abs(exponent) > 3 else (1.0, unit)
    return 10.0**-exponent, _PREFIXES[exponent] + unit
