"""Beams of a deck as a table of a scenario: their sections, directions and materials."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.beam_keywords import BEAMS
from symplex.decks.deck import BeamSection
from symplex.decks.material_tables import density_of
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.stepping import OfStep

Table = dict[str, Any]
_SAME = 1e-9  # by which part numbers and directions may differ that are one


class BeamTables(OfStep):
    """Writes the table of beams."""

    def table(self, name: str, mesh: str) -> Table:
        """Return the table ``[[beam]]`` of a name and a file, with a part for each other section or direction.

        Raises
        ------
        UnsupportedKeyword
            If members have no section, or two.
        """
        geometry = self._geometry
        numbers = np.concatenate([[number] for number, kind, _ in geometry.discrete() if kind in BEAMS]).astype(
            np.int64
        )
        kinds: list[tuple[Table, list[int]]] = []
        for section in self._deck.beams:
            inside = np.isin(numbers, geometry.elements([section.elements]))
            for up, members in self._directions(section, numbers[inside]) if inside.any() else ():
                kinds.append(({"up": up, **self._section(section)}, members))
        self.require_sections(numbers, self._deck.beams)
        (first, _), *others = kinds
        shift = self.shift() * self._units.length
        moved = {"translate": shift.tolist()} if shift.any() else {}
        return self._units.of_file(name, mesh) | moved | first | geometry.with_parts(["line"], "beams", others)

    def shift(self) -> NDArray[np.float64]:
        """Return the vector from the nodes of the deck to the centroids of beams, the same for all, in its length.

        Raises
        ------
        UnsupportedKeyword
            If it is not the same for all.
        """
        points, found = self._geometry.mesh.points, list[NDArray[np.float64]]()
        for section in self._deck.beams:
            requested = {*self._geometry.elements([section.elements]).tolist()}
            off = _centroid(section)
            for _, _, (a, b) in (row for row in self._geometry.discrete() if row[0] in requested):
                t = (points[b] - points[a]) / np.linalg.norm(points[b] - points[a])
                one = np.array(section.first) - (np.array(section.first) @ t) * t
                one /= max(np.linalg.norm(one), 1e-300)
                found.append(off[0] * one + off[1] * np.cross(t, one))
        shifts = np.array(found).reshape(-1, 3)
        if len(shifts) and np.ptp(shifts, axis=0).max() > _SAME * max(np.abs(shifts).max(), 1e-300):
            raise UnsupportedKeyword("beams whose centroids are off their nodes by different vectors are not supported")
        return shifts[0] if len(shifts) else np.zeros(3)

    def _directions(self, section: BeamSection, numbers: NDArray[np.int64]) -> Iterable[tuple[list[float], list[int]]]:
        """Yield directions for axis 1 of the sections of members, with the numbers of these.

        It is the direction 1 of the deck, but for an I, whose web is along the direction 2 = 3 × 1.
        """
        if section.kind != "I":
            yield list(section.first), numbers.tolist()
            return
        found: dict[tuple[float, ...], list[int]] = {}
        points, requested = self._geometry.mesh.points, {*numbers.tolist()}
        for number, _, (a, b) in (row for row in self._geometry.discrete() if row[0] in requested):
            t = (points[b] - points[a]) / np.linalg.norm(points[b] - points[a])
            found.setdefault(tuple(np.round(np.cross(t, section.first), 9).tolist()), []).append(number)
        yield from ((list(up), members) for up, members in found.items())

    def _section(self, section: BeamSection) -> Table:
        units, stress = self._units, self._units.stress
        values = [x * units.length for x in section.values]
        if not section.kind:
            area, about_1, about_2, torsion = section.values
            assert section.moduli is not None
            E, G = section.moduli
            table: Table = {
                "area": area * units.length**2,
                "I1": about_1 * units.length**4,
                "I2": about_2 * units.length**4,
                "J": torsion * units.length**4,
                "k1": 1.0,
                "k2": 1.0,
            }
            young, poisson, density, expansion = E, E / (2.0 * G) - 1.0, section.density, None
            called = f"the general section of '{section.elements}'"
        else:
            table = _shape(section.kind, values)
            if section.material.upper() not in self._deck.materials:
                raise UnsupportedKeyword(f"there is no material '{section.material}'")
            material = self._deck.materials[section.material.upper()]
            if material.young is None or material.yields:
                raise UnsupportedKeyword(f"the material '{material.name}' of beams must be isotropic and elastic")
            young, poisson, density = material.young, material.poisson, material.density
            expansion = material.expansion
            called = f"the material '{material.name}'"
        if density is None and not self._step.is_static:
            raise UnsupportedKeyword(f"{called} has no density")
        of = {"young": young * stress, "poisson": poisson, "density": density_of(density, units)}
        return {"section": table, "material": of | ({} if expansion is None else {"expansion": expansion})}


def _shape(kind: str, values: list[float]) -> Table:
    """Return the section of a kind with dimensions in m.

    Raises
    ------
    UnsupportedKeyword
        If it is none that a scenario has.
    """
    least = {"RECT": 1, "CIRC": 1, "PIPE": 2, "BOX": 6, "I": 7}[kind]
    if len(values) < least:
        raise UnsupportedKeyword(f"a section {kind} has {len(values)} dimensions, must have {least}")
    if kind == "RECT":
        return {"kind": "rectangle", "height": values[0], "width": (values[1:2] or values)[0]}  # of one number a square
    if kind == "PIPE":
        return {"kind": "pipe", "radius": values[0], "thickness": values[1]}
    if kind == "CIRC":
        if len(values) == 1:
            return {"kind": "circle", "radius": values[0]}
        return {"kind": "circle", "radius": 0.5 * values[0]} if _alike(values[:2]) else _ellipse(*values[:2])
    if kind == "BOX":
        if not _alike(values[2:6]):
            return _box(*values[:6])
        return {"kind": "box", "height": values[0], "width": values[1], "thickness": values[2]}
    origin, height, lower, upper, below, above, web = values[:7]
    if not (_alike([lower, upper]) and _alike([below, above]) and _alike([2.0 * origin, height])):
        raise UnsupportedKeyword("sections I with two different flanges, or away from their nodes, are not supported")
    return {"kind": "i", "height": height, "width": upper, "web": web, "flange": above}


def _centroid(section: BeamSection) -> tuple[float, float]:
    """Return where the centroid of a section is along 1 and 2, from the nodes, in the deck's length."""
    off_1, off_2 = section.offsets
    sizes = (section.values[:2] * 2)[:2] if section.kind else (0.0, 0.0)
    if section.kind in ("PIPE", "CIRC") and (section.kind == "PIPE" or len(section.values) == 1):
        sizes = (2.0 * section.values[0],) * 2
    if section.kind == "I" and (off_1 or off_2):
        raise UnsupportedKeyword("sections I with an offset are not supported")
    off = -np.array([off_1 * sizes[0], off_2 * sizes[1]])
    if section.kind == "BOX":
        _shape("BOX", [*section.values])  # which refuses what is none
        a, b, t1, t2, t3, t4 = [*section.values][:6]
        hollow = (a - t1 - t3) * (b - t2 - t4)
        off -= 0.5 * hollow / (a * b - hollow) * np.array([t3 - t1, t4 - t2])
    return float(off[0]), float(off[1])


def _box(a: float, b: float, t1: float, t2: float, t3: float, t4: float) -> Table:
    """Return a hollow rectangle, a × b along 1 and 2, with walls on the sides 1, 2, −1, −2; torsion by Bredt.

    That of open walls is added, for very thin ones. Moments are about the centroid, of the outer less the inner
    rectangle; shear along each axis is carried by the walls along it, and its centre is taken at the centroid.
    """
    if not (min(t1, t2, t3, t4) > 0.0 and t1 + t3 < a and t2 + t4 < b):
        raise UnsupportedKeyword("walls of a box must be positive and leave a hollow")
    if not (_alike([t1, t3]) or _alike([t2, t4])):
        raise UnsupportedKeyword("boxes without an axis of symmetry, whose principal axes are oblique")
    inner = a - t1 - t3, b - t2 - t4
    hollow, at = inner[0] * inner[1], (0.5 * (t3 - t1), 0.5 * (t4 - t2))
    area = a * b - hollow
    about_1, about_2 = (
        (full * size**3 - width * height**3) / 12.0 - hollow * off**2 * (1.0 + hollow / area)
        for full, size, width, height, off in ((a, b, *inner, at[1]), (b, a, *inner[::-1], at[0]))
    )
    along_1, along_2 = a - 0.5 * (t1 + t3), b - 0.5 * (t2 + t4)
    return {
        "area": area,
        "I1": about_1,
        "I2": about_2,
        "J": 4.0 * (along_1 * along_2) ** 2 / (along_2 / t1 + along_2 / t3 + along_1 / t2 + along_1 / t4)
        + (along_2 * (t1**3 + t3**3) + along_1 * (t2**3 + t4**3)) / 3.0,
        "k1": a * (t2 + t4) / area,
        "k2": b * (t1 + t3) / area,
    }


def _ellipse(along_1: float, along_2: float) -> Table:
    """Return the section of an ellipse of two diameters; shear as of Cowper (1966), without lateral contraction."""
    a, b = 0.5 * along_1, 0.5 * along_2
    shear = [12.0 * (3.0 * p + q) / (40.0 * p + 16.0 * q) for p, q in ((a * a, b * b), (b * b, a * a))]
    return {
        "area": np.pi * a * b,
        "I1": 0.25 * np.pi * a * b**3,
        "I2": 0.25 * np.pi * a**3 * b,
        "J": np.pi * (a * b) ** 3 / (a * a + b * b),
        "k1": shear[0],
        "k2": shear[1],
    }


def _alike(values: list[float]) -> bool:
    return max(values) - min(values) <= _SAME * max(values)
