"""What inelastic parts promise: balance, dissipation that is not negative, derivatives, repeated updates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import require_nodal
from symplex.fem.assembly.pattern import Array, Pattern
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.energies.rate_independent import RateIndependent
from symplex.testing import round_off
from symplex.testing.found import require, require_close, require_slope

_INCREMENTS = (1.0, 0.1, 1e-3, 1e-6)  # in parts of the increment that is given
_SLOPES = 0.1  # increments at least whose derivatives are checked: those by differences step over kinks at smaller ones
_STEP = 1e-6  # of differences, in the same parts
_ACROSS = (1e-5, 5e-5)  # of the size of all: differences in which a part may have made its derivatives
_KNOWN = 1e-4  # how well differences are known where a law has a kink nearby


@checked
def check_inelastic(part: Inelastic, q0: ArrayLike, q1: ArrayLike, *, duration: float = 1.0) -> None:
    """Check what an inelastic part promises, along an increment from rest and on from there.

    The work of `mean_force` is −Δψ − D; D is not negative; the derivatives are those of the forces; and of a
    `RateIndependent` part the force is the slope of the incremental potential, so that `updated` minimises it, and a
    repeated update changes nothing. Forces of parts that declare invariances sum to zero, as do their moments.

    Parameters
    ----------
    part : Inelastic
    q0, q1 : float64 [n, dim]
        Positions in m of all nodes: at rest, and so far from there that internal variables change.
    duration : float, default 1
        Of the increments in s, of parts whose dissipation depends on it.

    Raises
    ------
    CheckFailed
        If a promise is not kept.
    InvalidSystem
        If positions are not of all nodes of the part.
    """
    start, end = (np.array(q, dtype=float) for q in (q0, q1))
    least = int(part.nodes.max(initial=-1)) + 1
    for what, q in (("q0 has", start), ("q1 has", end)):
        require_nodal("check_inelastic", what, q, max(least, len(start)), start.shape[-1] if start.ndim == 2 else None)
        if not np.isfinite(q).all():
            raise InvalidSystem(f"check_inelastic: {what.split()[0]} must be finite (m).")
    place, d = type(part).__name__, end - start
    require(place, bool(d.any()), "nothing can be checked if nothing moves. Give a larger increment.")
    z0 = part.relaxed(start)
    z1, _ = part.after(start, z0, end, duration)
    require(place, bool((z1 != z0).any()), "nothing can be checked if z does not change. Give a larger increment.")
    rng = np.random.default_rng(0)
    for size in _INCREMENTS:
        shake = size * np.abs(d).max() * rng.uniform(-1.0, 1.0, d.shape)
        for q, z, to in ((start, z0, start + size * d + 0.1 * shake), (end, z1, end + size * d + 0.1 * shake)):
            _check_increment(place, part, q, z, to, duration, size)
        _check_increment(place, part, end, z1, end - size * d + 0.1 * shake, duration, size)
    if isinstance(part, RateIndependent):
        _check_potential(place, part, start, z0, end)
        again, lost = part.after(end, z1, end, duration)
        require_close(place, "a repeated update must change nothing", again, z1, round_off.of(np.abs(z1).max(), 100))
        require_close(place, "and dissipate nothing", lost, 0.0, round_off.of(abs(part.stored(end, z1)), 100))


def _check_increment(place: str, part: Inelastic, q: Array, z: Array, to: Array, h: float, size: float) -> None:
    """Check work, dissipation, resultants and derivatives of an increment."""
    of = f"(increment {size:g})"
    after, lost = part.after(q, z, to, h)
    at_end, *others = part.force_and_after(q, z, to, h)
    force = part.force(q, z, to, h)
    scale = np.abs(force).max() + np.abs(part.force(q, z, to, 0.0)).max()
    require_close(place, f"force_and_after must return force {of}", at_end, force, round_off.of(scale, 1000), "N")
    for what, one, other in zip(("the variables", "the dissipation"), others, (after, lost), strict=True):
        bound = round_off.of(np.abs(other).max() + (abs(part.stored(to, after)) if other is lost else 1.0), 1000)
        require_close(place, f"force_and_after must return {what} of after {of}", one, other, bound)
    force, before = part.mean_force(q, z, to, h), part.stored(q, z)
    stored = part.stored(to, after)
    scale = abs(before) + abs(stored) + abs(lost) + float(np.abs(force).max()) * float(np.abs(to).max())
    bound = round_off.of(scale, 10 * len(part.nodes))
    work = np.sum(force * (to - q))
    require_close(place, f"the work of mean_force must be −Δψ − D {of}", work, before - stored - lost, bound, "J")
    require(place, lost >= -bound, f"the dissipation must not be negative {of}; it is {lost:.3g} J.")
    invariances = getattr(part, "invariances", frozenset())
    if "translations" in invariances:
        bound = round_off.of(np.abs(force).max(), 10 * len(force))
        require_close(place, f"forces must sum to zero {of}", force.sum(axis=0), 0.0 * force[0], bound, "N")
    if "rotations" in invariances and force.shape[1] == 3:
        moments = np.cross(0.5 * (q + to), force).sum(axis=0)
        bound = round_off.of(np.abs(force).max() * np.abs(to).max(), 100 * len(force))
        require_close(place, f"moments at the midpoints must sum to zero {of}", moments, np.zeros(3), bound, "N m")
    for mean in (False, True) if size >= _SLOPES else ():
        _check_derivatives(place, part, q, z, to, h, of, mean=mean)


def _check_derivatives(
    place: str, part: Inelastic, q: Array, z: Array, to: Array, h: float, of: str, *, mean: bool
) -> None:
    """Check the derivatives of forces along a direction, by differences."""
    n, dim = q.shape
    pattern = Pattern(n, [part.nodes])
    blocks = pattern.zeros(dim)
    part.add_derivatives(q, z, to, h, 1.0, pattern.slots[0], blocks, mean=mean)
    direction = np.random.default_rng(1).uniform(-1.0, 1.0, q.shape)
    rows = np.repeat(np.arange(n), np.diff(pattern.indptr))
    along = np.zeros(q.shape)
    np.add.at(along, rows, np.einsum("bij,bj->bi", blocks, direction[pattern.indices]))

    def forces(x: Array) -> Array:
        return (part.mean_force if mean else part.force)(q, z, x, h)

    size = float(np.abs(to - q).max()) or float(np.abs(to).max())
    found = []
    for step in (_STEP * size, *(part_of * float(np.ptp(to, axis=0).max()) for part_of in _ACROSS)):
        ahead, behind = forces(to + step * direction), forces(to - step * direction)
        found += [(ahead - behind) / (2.0 * step), (ahead - forces(to)) / step]
    slopes, at_kinks = found[0], np.ptp(found, axis=0)  # where differences step across one, be it those of a part
    known = _KNOWN * max(np.abs(slopes).max(), np.abs(along).max()) + at_kinks
    known += round_off.of(np.abs(forces(to)).max() + np.abs(to).max() * np.abs(along).max(), 100) / (_STEP * size)
    what = "mean_force" if mean else "force"
    require_close(place, f"add_derivatives must be those of {what} {of}", along, slopes, known, "N/m")


def _check_potential(place: str, part: RateIndependent, q: Array, z: Array, to: Array) -> None:
    """Check that forces at the end are slopes of the incremental potential."""
    energy, x = part.increment(z), to[part.nodes]
    step, values = _STEP * float(np.abs(to - q).max()), energy.value(x)
    require_slope(
        place,
        "stored_gradient at the updated z must be the slope of ψ + D: updated must minimise it",
        energy.gradient(x).reshape(len(x), -1),
        energy.value,
        x,
        step,
        round_off.of(np.abs(values).max(), 100) / step + _KNOWN * float(np.abs(energy.gradient(x)).max()),
    )
