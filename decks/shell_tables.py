"""Shells of a deck as a table of a scenario: thicknesses, materials, layers, directions of layers, offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import MaterialData, Section
from symplex.decks.material_tables import ANY_DENSITY, density_of, require_constants
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.state import directions, oriented
from symplex.decks.stepping import OfStep

Table = dict[str, Any]
FACES = ("quad", "triangle")
_STANDARD = {"direction": [1.0, 0.0, 0.0], "offset": 0.0}  # of parts, where others have another one
_SAME = 1e-6  # by which thicknesses, and directions of layers in rad, may differ that are one
MEAN_THICKNESS = "shells have the mean *NODAL THICKNESS of their nodes, constant in each"
_DIGITS = 9  # of angles in degrees
_ACROSS = 0.1  # degrees between x and a normal, from which on x gives the direction 1
_NEAREST = 0.70  # cosine of the angle between a normal and the axis of an orientation that is across the shell


class ShellTables(OfStep):
    """Writes the table of shells."""

    def table(self, name: str, mesh: str) -> Table:
        """Return the table ``[[shell]]`` of a name and a file, with a part for what differs.

        Raises
        ------
        UnsupportedKeyword
            If elements have no section, two, or one that a scenario cannot have.
        """
        alike: list[tuple[Table, list[int]]] = []
        for section, size, members in self._sections():
            given = self._stiffness(section, size, members)
            own = next((other for table, other in alike if table == given), None)
            if own is None:
                alike.append((given, members.tolist()))
            else:
                own += members.tolist()
        (first, _), *others = alike
        shell = self._units.of_file(name, mesh)
        if self._geometry.in_elements.any():  # whose faces with loads are in the mesh too
            every = [number for _, members in alike for number in members]
            shell["group"] = self._geometry.cell_group(FACES, every, name)
        shell |= first
        given = {key for table, _ in alike for key in table}
        standard = {key: value for key, value in _STANDARD.items() if key in given}
        return shell | self._geometry.with_parts(FACES, "shells", [(standard | table, rows) for table, rows in others])

    def offsets(self) -> dict[int, float]:
        """Return how far the centre of mass of shells is from nodes of the deck along normals, by their places.

        There are the nodes of the scenario.
        """
        found: dict[int, float] = {}
        for section, size, members in self._sections():
            away = self._center(section) - section.offset * size
            if abs(away) > _SAME * size:
                for numbers, cells in self._geometry.cells(FACES).values():
                    found |= dict.fromkeys(cells[np.isin(numbers, members)].ravel().tolist(), away)
        return found

    def _center(self, section: Section) -> float:
        """Return how far the centre of mass of layers is above their middle, in the deck's unit of length."""
        if not section.layers:
            return 0.0
        sizes = np.array([layer.thickness for layer in section.layers])
        rho = np.array([self._material(section, name)["density"] for name in section.materials])
        return float(rho @ (sizes * (np.cumsum(sizes) - 0.5 * sizes - 0.5 * sizes.sum())) / (rho @ sizes))

    def _sections(self) -> list[tuple[Section, float, NDArray[np.int64]]]:
        """Return the sections of shells, how thick these are, and the numbers of elements."""
        geometry = self._geometry
        blocks = geometry.cells(FACES).values()
        numbers = np.concatenate([numbers for numbers, _ in blocks])
        found: list[tuple[Section, float, NDArray[np.int64]]] = []
        for section in self._deck.sections:
            inside = np.isin(numbers, geometry.elements([section.elements]))
            if not inside.any():
                continue
            if not section.of_shell:
                raise UnsupportedKeyword(
                    f"{section.where}: '{section.elements}' has shells; they need a *SHELL SECTION"
                )
            found += self._by_thickness(section, numbers[inside])
        self.require_sections(numbers, [section for section, *_ in found])
        return found

    def _by_thickness(
        self, section: Section, members: NDArray[np.int64]
    ) -> list[tuple[Section, float, NDArray[np.int64]]]:
        """Return elements of a section by how thick they are; of those by numbers √(12 D/A)."""
        if section.numbers:
            bent, stretched = section.numbers[9] + section.numbers[14], section.numbers[0] + section.numbers[2]
            if not (stretched > 0.0 and bent > 0.0):
                raise UnsupportedKeyword(f"{section.where}: stiffnesses of shells must be positive")
            return [(section, float(np.sqrt(12.0 * bent / stretched)), members)]
        if not section.by_nodes:
            if section.area is None or section.area <= 0.0:
                raise UnsupportedKeyword(f"{section.where}: the thickness of shells must be positive")
            return [(section, section.area, members)]
        if section.layers:
            raise UnsupportedKeyword(f"{section.where}: layers with NODAL THICKNESS are not supported")
        sizes: dict[int, float] = {}
        for nodes, size in self._deck.thicknesses:
            sizes |= dict.fromkeys(self._geometry.nodes(nodes).tolist(), size)
        alike: dict[float, list[int]] = {}
        chosen = {*members.tolist()}
        for numbers, cells in self._geometry.cells(FACES).values():
            for number, nodes in zip(numbers.tolist(), cells.tolist(), strict=True):
                if number not in chosen:
                    continue
                own = [sizes.get(n, 0.0) for n in nodes if self._geometry.numbers[n] not in self._deck.middles]
                if min(own) <= 0.0:
                    raise UnsupportedKeyword(
                        f"{section.where}: the nodes of element {number} need a *NODAL THICKNESS above 0"
                    )
                size = float(np.mean(own))
                if max(own) - min(own) > _SAME * size and MEAN_THICKNESS not in self._deck.remarks:
                    self._deck.remarks.append(MEAN_THICKNESS)
                alike.setdefault(size, []).append(number)
        return [(section, size, np.array(some, np.int64)) for size, some in alike.items()]

    def _stiffness(self, section: Section, size: float, members: NDArray[np.int64]) -> Table:
        """Return the keys of thickness and material, or layers, with direction and offset."""
        unit = self._units.length
        if section.numbers:
            return self._by_numbers(section, size, members)
        materials = [self._material(section, name) for name in section.materials]
        table: Table = {}
        if section.layers:
            reference, angles = self._directions(section, members, [m.get("young") is None for m in materials])
            table["layers"] = [
                {"thickness": layer.thickness * unit, "material": material} | ({"angle": angle} if angle else {})
                for layer, material, angle in zip(section.layers, materials, angles, strict=True)
            ]
        else:
            reference, angles = self._directions(section, members, [materials[0].get("young") is None])
            if angles[0]:
                table["layers"] = [{"thickness": size * unit, "material": materials[0], "angle": angles[0]}]
            else:
                table |= {"thickness": size * unit, "material": materials[0]}
        table |= {} if reference is None else {"direction": reference}
        return table | ({"offset": -section.offset * size * unit} if section.offset else {})

    def _by_numbers(self, section: Section, size: float, members: NDArray[np.int64]) -> Table:
        """Return the keys of stiffnesses by numbers, of which the upper triangle is given column by column."""
        if len(section.numbers) < 24:
            raise UnsupportedKeyword(f"{section.where}: stiffnesses by numbers need a *TRANSVERSE SHEAR STIFFNESS")
        if section.density is None and not self._step.is_static:
            raise UnsupportedKeyword(f"{section.where}: the section has no DENSITY, a mass of each unit of area")
        C = np.zeros((6, 6))
        at = iter(section.numbers)
        for j in range(6):
            for i in range(j + 1):
                C[i, j] = C[j, i] = next(at)
        B = C[:3, 3:]
        if np.abs(B - B.T).max() > _SAME * np.abs(C).max():
            raise UnsupportedKeyword(f"{section.where}: couplings of membrane and bending must be symmetric")
        force, unit = self._units.force, self._units.length
        mass = ANY_DENSITY * size * unit
        if section.density is not None:
            mass = section.density * self._units.density * unit
        shear = np.array([section.numbers[21], section.numbers[23], section.numbers[22]]) * force / unit
        table: Table = {"membrane": _six(C[:3, :3]) * force / unit, "bending": _six(C[3:, 3:]) * force * unit}
        table |= {"coupling": _six(B) * force} if B.any() else {}
        table = {key: value.tolist() for key, value in table.items()}
        table |= {"shear": shear.tolist(), "thickness": size * unit, "mass": mass}
        reference, (angle,) = self._directions(section, members, [True])
        if angle:
            raise UnsupportedKeyword(f"{section.where}: stiffnesses by numbers need a rectangular orientation")
        found: Table = {"properties": table} | ({} if reference is None else {"direction": reference})
        return found | ({"offset": -section.offset * size * unit} if section.offset else {})

    def _material(self, section: Section, name: str) -> Table:
        """Return the table of a material of shells."""
        if name.upper() not in self._deck.materials:
            raise UnsupportedKeyword(f"{section.where}: there is no material '{name}'")
        material = self._deck.materials[name.upper()]
        require_constants(material, self._step)
        if material.yields:
            raise UnsupportedKeyword(f"the material '{material.name}' yields (*PLASTIC), and shells are elastic")
        density, stress = self._density(section, material), self._units.stress
        more = {} if material.expansion is None else {"expansion": material.expansion}
        if (lamina := _lamina(material)) is not None:
            E1, E2, nu, *shear = lamina
            moduli = {"moduli": [E1 * stress, E2 * stress], "shear_moduli": [G * stress for G in shear]}
            return {**moduli, "poisson": nu, "density": density, **more}
        if material.young is None:
            raise UnsupportedKeyword(f"the material '{material.name}' of shells must be elastic, of small strains")
        return {"young": material.young * stress, "poisson": material.poisson, "density": density, **more}

    def _density(self, section: Section, material: MaterialData) -> float:
        """Return the density of a material; in equilibria that of all layers, whose middle is their centre then."""
        if not self._step.is_static or not section.layers:
            return density_of(material.density, self._units)
        found = [self._deck.materials.get(name.upper()) for name in section.materials]
        sizes = np.array([layer.thickness for layer in section.layers])
        given = [density_of(None if one is None else one.density, self._units) for one in found]
        return float(given @ sizes / sizes.sum())

    # -- directions of layers ---------------------------------------------------------------------------------------

    def _directions(
        self, section: Section, members: NDArray[np.int64], fibres: list[bool]
    ) -> tuple[list[float] | None, list[float]]:
        """Return the direction of a section, None for the standard one, and angles of layers from it in degrees.

        Only layers with fibres have a direction.

        Raises
        ------
        UnsupportedKeyword
            If angles are not the same in all elements.
        """
        layers = [(layer.orientation, layer.angle) for layer in section.layers] or [("", 0.0)]
        if not any(fibres):
            return None, [0.0] * len(layers)
        normals = self._normals(members)
        named = section.orientation or next((name for name, _ in layers if name), "")
        reference = self._reference(named, normals)
        angles = []
        for (name, angle), has_fibres in zip(layers, fibres, strict=True):
            along = self._axis(name or section.orientation, normals, members)
            from_reference = _angles(normals, reference, along) if has_fibres else np.zeros(1)
            turned = np.exp(1j * (from_reference - from_reference[0]))
            if np.abs(turned - 1.0).max() > _SAME:
                raise UnsupportedKeyword(
                    f"{section.where}: the angles between directions of layers differ from element to element"
                )
            angles.append(round(float(np.degrees(from_reference[0])) + angle, _DIGITS) if has_fibres else 0.0)
        standard = not named and (np.abs(np.array(reference) - [1.0, 0.0, 0.0]) < _SAME).all()
        return None if standard else list(reference), angles

    def _normals(self, members: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the normals [m, 3] of elements in the middle."""
        found = []
        for numbers, cells in self._geometry.cells(FACES).values():
            x = self._geometry.mesh.points[cells[np.isin(numbers, members)]]
            found.append(np.cross(x[:, 1] - x[:, -1], x[:, 2] - x[:, 0]) if x.shape[1] == 4 else _normal(x))
        every = np.concatenate(found)
        return every / np.maximum(np.linalg.norm(every, axis=1, keepdims=True), 1e-300)

    def _across(self, name: str, axes: NDArray[np.float64], normals: NDArray[np.float64]) -> int:
        """Return which of the axes [m, 3, 3] of an orientation is across shells: the one said, or the nearest one."""
        said = self._deck.orientations[name].normal
        cosines = np.abs(np.einsum("mki,mi->mk", axes, normals))
        nearest = int(cosines.mean(axis=0).argmax()) if said is None else said
        if cosines[:, nearest].min() < _NEAREST:
            raise UnsupportedKeyword(
                f"the axis {nearest + 1} of the orientation '{name}' is not across all of its shells, so that they "
                "have no direction 1 by it"
            )
        return nearest

    def _axes(self, name: str, n: int, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the axes [n, 3, 3] of an orientation at n points, or at one of all."""
        return np.broadcast_to(directions(oriented(self._deck, name), points), (n, 3, 3))

    def _reference(self, name: str, normals: NDArray[np.float64]) -> list[float]:
        """Return a direction from which angles of layers are measured, the same for all elements."""
        if not name:
            x = np.degrees(np.arccos(np.clip(np.abs(normals[:, 0]), 0.0, 1.0)))
            return [0.0, 0.0, 1.0] if (x < _ACROSS).all() else [1.0, 0.0, 0.0]
        system = oriented(self._deck, name)
        if system.cylindrical:
            return (np.array(system.b) - np.array(system.a)).tolist()
        axes = self._axes(name, len(normals), np.zeros((1, 3)))
        return axes[0][(self._across(name, axes, normals) + 1) % 3].tolist()

    def _axis(self, name: str, normals: NDArray[np.float64], members: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return for each element the direction [m, 3] whose projection is axis 1 of an orientation."""
        if not name:
            return np.broadcast_to(np.array(self._reference("", normals)), normals.shape)
        middles = np.concatenate(
            [
                self._geometry.mesh.points[cells[np.isin(numbers, members)]].mean(axis=1)
                for numbers, cells in self._geometry.cells(FACES).values()
            ]
        )
        axes = self._axes(name, len(normals), middles)
        return axes[:, (self._across(name, axes, normals) + 1) % 3]


def _six(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entries 11, 12, 22, 16, 26, 66 of a symmetric matrix [3, 3]."""
    return matrix[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]


def _normal(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])


def _angles(normals: NDArray[np.float64], reference: list[float], along: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return angles [m] in rad about normals from the projection of one direction to that of others [m, 3]."""
    p = np.broadcast_to(np.array(reference), normals.shape)
    p, q = (v - np.einsum("mi,mi->m", v, normals)[:, None] * normals for v in (p, along))
    return np.arctan2(np.einsum("mi,mi->m", normals, np.cross(p, q)), np.einsum("mi,mi->m", p, q))


def _lamina(material: MaterialData) -> tuple[float, ...] | None:
    """Return E1, E2, nu12, G12, G13 and G23 of an orthotropic material, None of an isotropic one."""
    if material.lamina:
        return material.lamina
    if material.engineering:
        E1, E2, _, nu12, _, _, G12, G13, G23 = material.engineering
        return E1, E2, nu12, G12, G13, G23
    if len(material.stiffness) == 9:
        D11, D12, D22, D13, D23, D33, G12, G13, G23 = material.stiffness
        S = np.linalg.inv(np.array([[D11, D12, D13], [D12, D22, D23], [D13, D23, D33]]))
        return float(1.0 / S[0, 0]), float(1.0 / S[1, 1]), float(-S[0, 1] / S[0, 0]), G12, G13, G23
    if material.stiffness:
        raise UnsupportedKeyword(f"the material '{material.name}' of shells must be orthotropic, not ANISO")
    return None
