"""How stiff contact between bodies is, and from which distance on, unless it is given."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt

import numpy as np

from symplex.base.arguments import checked
from symplex.contact.laws import require_law
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem
from symplex.fem.solids.constitutive import Material

SHARE = 0.1  # of the shortest edge, the default of d̂
# χ of bodies that come close slowly, and what it grows by with ((v/c) h/d̂)².
_FACTORS = {"barrier": (3.0, 0.12), "penalty": (10.0, 16.0)}


def default_distance(surface: Surface) -> float:
    """Return d̂ in m: a tenth of the shortest edge at rest."""
    return SHARE * float(surface.edge_lengths.min())


@checked
def contact_stiffness(
    surface: Surface,
    materials: Material | Sequence[Material | None],
    law: str = "penalty",
    distance: float | None = None,
    speed: float = 0.0,
) -> float:
    """Return the stiffness k = χ E/h in N/m³ of contact between bodies, the smallest E/h of them.

    E is Young's modulus, h the mean edge of a body at rest, and with c = √(E/ρ) and the speed v of the approach

        χ = max(10, 16 ((v/c) h/d̂)²)  for a penalty,   max(3, 0.12 ((v/c) h/d̂)²)  for a barrier.

    A penalty has only ½ k d̂² to store per area before surfaces pass through each other. Elements of a size h on both
    sides that approach at v have a kinetic energy of ¼ ρ h v², which needs χ = ½ ((v/c) h/d̂)²; bodies that meet with a
    corner or an edge have much more behind a small area, also slow ones (two cubes of 4 to 6 elements a side passed
    through each other at χ = 5). As a penalty stores ½ k d̂², a quarter of an edge for d̂ holds as much with χ = 2, at
    explicit steps 2.2 times as large; but bodies must begin farther than d̂ from each other, or are pushed apart. Where
    parts meet that are finer or more pointed, a stiffer contact is needed, or a barrier. That has no such limit, but
    where it is too soft bodies come so close that Newton's method fails.

    Parameters
    ----------
    surface : Surface
    materials : Material, or a sequence of them
        Of all bodies, or of each one in the order of ``surface.names``; None for a rigid one.
    law : str, default "penalty"
        ``"penalty"`` or ``"barrier"``.
    distance : float, optional
        d̂ in m; default: a tenth of the shortest edge.
    speed : float, default 0.0
        v in m/s.

    Raises
    ------
    InvalidSystem
        If there are not as many materials as bodies, all bodies are rigid, or a number is out of range.
    """
    if isinstance(materials, Material):
        materials = [materials] * len(surface.names)
    if len(materials) != len(surface.names):
        raise InvalidSystem(f"there are {len(materials)} materials for {len(surface.names)} bodies; give one for each.")
    require_law("contact_stiffness", law)
    if not (isfinite(speed) and speed >= 0.0):
        raise InvalidSystem(f"the speed at which bodies approach must not be negative; it is {speed:g} m/s.")
    reach = default_distance(surface) if distance is None else distance
    if not (isfinite(reach) and reach > 0.0):
        raise InvalidSystem(f"the distance at which contact begins must be positive; it is {reach:g} m.")
    of_body = np.bincount(surface.edge_bodies, minlength=len(surface.names))
    sizes = np.bincount(surface.edge_bodies, surface.edge_lengths, len(surface.names)) / of_body
    least, factor = _FACTORS[law]
    stiffness = []
    for material, h in zip(materials, sizes.tolist(), strict=True):
        if material is None:
            continue
        fast = speed / sqrt(material.young / material.density) * h / reach
        stiffness.append(max(least, factor * fast * fast) * material.young / h)
    if not stiffness:
        raise InvalidSystem(
            "all bodies are rigid, so that no material says how stiff the contact is; give a stiffness."
        )
    return min(stiffness)
