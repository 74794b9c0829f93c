"""Laws of contact: the energy per area b(s) of a pair at the squared distance s, zero from a distance d̂ on.

==========  ==============================================  =========================================================
law         b(s), σ = s/d̂²                                  at d̂, and at contact
==========  ==============================================  =========================================================
barrier     −k d̂² (σ − 1)² ln σ                             two derivatives vanish; infinite at s = 0
penalty     ½ k (d̂ − √s)²                                   the second derivative jumps; ½ k d̂² at s = 0
==========  ==============================================  =========================================================

k is a stiffness in N/m³, a pressure per distance. The barrier is that of Li et al. (2020), "Incremental Potential
Contact", eq. 6, in squared distances; the penalty is `COMPRESSION` of `symplex.fem.measures.law_formulas`.

The quotient Q = Δb/Δs has no cancellation for increments of any size: with y = σ − 1, L = ln σ and ℓ = ΔL/Δσ,

    Q = −½ k [(y0 + y1)(L0 + L1) + (y0² + y1²) ℓ].
"""

from math import inf, log, log1p

from symplex.errors import InvalidSystem
from symplex.fem.compiled.kernels import uncounted_formula as formula
from symplex.fem.measures.law_formulas import (
    COMPRESSION,
    curvature as _curvature,
    energy as _energy,
    quotient as _quotient,
    quotient_slope as _quotient_slope,
    slope as _slope,
    third_slope as _third_slope,
)

BARRIER, PENALTY = 0, 1
LAWS = {"barrier": BARRIER, "penalty": PENALTY}


def require_law(required_by: str, law: object) -> None:
    """Check that there is a law of a name.

    Raises
    ------
    InvalidSystem
        If there is none.
    """
    if not isinstance(law, str):
        raise InvalidSystem(
            f"{required_by}: law must be one of {', '.join(map(repr, LAWS))}, got a {type(law).__name__}. A "
            f"user-defined "
            "contact law is for RigidContact: loops over pairs of surfaces are compiled for these."
        )
    if law not in LAWS:
        raise InvalidSystem(f"{required_by}: there is no law '{law}'; there are: {', '.join(LAWS)}.")


_SMALL = 0.03  # relative increments for which the slope of ℓ is a series


@formula
def value(law, k, reach, s):
    """The energy per area b."""
    if law == PENALTY:
        return _energy(COMPRESSION, k, reach, s)
    sigma = s / (reach * reach)
    if sigma >= 1.0:
        return 0.0
    if sigma <= 0.0:
        return inf
    return -k * reach * reach * (sigma - 1.0) ** 2 * log(sigma)


@formula
def slope(law, k, reach, s):
    """db/ds."""
    if law == PENALTY:
        return _slope(COMPRESSION, k, reach, s)
    sigma = s / (reach * reach)
    if sigma >= 1.0:
        return 0.0
    y = sigma - 1.0
    return -k * y * (2.0 * log(sigma) + y / sigma)


@formula
def curvature(law, k, reach, s):
    """d²b/ds²."""
    if law == PENALTY:
        return _curvature(COMPRESSION, k, reach, s)
    sigma = s / (reach * reach)
    if sigma >= 1.0:
        return 0.0
    y = (sigma - 1.0) / sigma
    return -k / (reach * reach) * (2.0 * log(sigma) + y * (4.0 - y))


@formula
def third_slope(law, k, reach, s):
    """d³b/ds³."""
    if law == PENALTY:
        return _third_slope(COMPRESSION, k, reach, s)
    sigma = s / (reach * reach)
    if sigma >= 1.0:
        return 0.0
    return -2.0 * k / reach**4 * (sigma * sigma + sigma + 1.0) / sigma**3


@formula
def quotient(law, k, reach, s0, s1):
    """Q = Δb/Δs, also where s1 = s0, and across d̂."""
    if law == PENALTY:
        return 0.5 * _quotient(COMPRESSION, k, reach, s0, s1)
    square = reach * reach
    if s0 >= square or s1 >= square:
        if s0 >= square and s1 >= square:
            return 0.0
        return (value(law, k, reach, s1) - value(law, k, reach, s0)) / (s1 - s0)
    z0, z1 = s0 / square, s1 / square
    y0, y1 = z0 - 1.0, z1 - 1.0
    return -0.5 * k * ((y0 + y1) * (log(z0) + log(z1)) + (y0 * y0 + y1 * y1) * _log_quotient(z0, z1))


@formula
def quotient_slope(law, k, reach, s0, s1):
    """∂Q/∂s1, also where s1 = s0: then it is half of d²b/ds²."""
    if law == PENALTY:
        # The quotient of law_formulas is that of ½ s.
        return 0.5 * _quotient_slope(COMPRESSION, k, reach, s0, s1)
    square = reach * reach
    if s0 >= square or s1 >= square:
        if s0 >= square and s1 >= square:
            return 0.0
        return (slope(law, k, reach, s1) - quotient(law, k, reach, s0, s1)) / (s1 - s0)
    z0, z1 = s0 / square, s1 / square
    y0, y1 = z0 - 1.0, z1 - 1.0
    rate = log(z0) + log(z1) + (y0 + y1) / z1 + 2.0 * y1 * _log_quotient(z0, z1)
    return -0.5 * k / square * (rate + (y0 * y0 + y1 * y1) * _log_quotient_slope(z0, z1))


@formula
def _log_quotient(z0, z1):
    """ℓ = (ln z1 − ln z0)/(z1 − z0)."""
    low, high = min(z0, z1), max(z0, z1)
    r = (high - low) / low
    return (log1p(r) / r if r > 0.0 else 1.0) / low


@formula
def _log_quotient_slope(z0, z1):
    """∂ℓ/∂z1 = (1/z1 − ℓ)/(z1 − z0) = −(½ + ρ/3 + ρ²/4 + …)/z1², ρ = 1 − z0/z1."""
    r = (z1 - z0) / z1
    if abs(r) > _SMALL:
        return (1.0 / z1 - _log_quotient(z0, z1)) / (z1 - z0)
    series = 0.0
    for n in range(11, 1, -1):
        series = 1.0 / n + r * series
    return -series / (z1 * z1)
