"""Coulomb's law with a smoothing speed: the friction force of a normal force and a slip velocity.

    t = μ N σ̂ ψ(u),    u = |σ|/v_s,    ψ(u) = u (2 − u) for u < 1,  else 1,
    μ = μ_s for u < 1,  else μ_d + (μ_s − μ_d) exp(−((u − 1)/10)²),

σ the slip velocity and v_s the smoothing speed. Where a body would stick it creeps, at less than v_s. From the static
coefficient μ_s the friction falls to the dynamic one μ_d within some twenty smoothing speeds. The law is smooth but at
u = 1, where its slope is continuous.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

from symplex.fem.compiled.kernels import formula

_WIDTH = 10.0  # in smoothing speeds


class FrictionLaw(NamedTuple):
    """Coulomb's law: the dynamic and the static coefficient, and the smoothing speed in m/s."""

    dynamic: float
    static: float
    slip_speed: float


@formula
def pull(law, slip):
    """Return r = t/(N |σ|) in s/m, and its derivative with |σ| over |σ|, for the speed |σ| of slip in m/s."""
    u = slip / law.slip_speed
    scale = 1.0 / law.slip_speed
    if u < 1.0:
        # The derivative is singular at rest, where it is multiplied by σ ⊗ σ.
        ratio = law.static * (2.0 - u) * scale
        return ratio, -law.static * scale * scale / slip if slip > 0.0 else 0.0
    x = (u - 1.0) / _WIDTH
    bump = (law.static - law.dynamic) * exp(-x * x)
    ratio = (law.dynamic + bump) / slip
    return ratio, (-2.0 * x / _WIDTH * bump * scale - ratio) / (slip * slip)
