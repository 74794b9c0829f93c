"""A material from the formula of its strain energy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, partial
from math import isfinite, sqrt
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked, described, is_real
from symplex.errors import InvalidArgument
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids.constitutive import InvariantMaterial
from symplex.fem.solids.formula_store import module_of
from symplex.fem.solids.formula_syntax import check_names, mistake, tree_of
from symplex.fem.solids.formula_table import LAWS
from symplex.fem.solids.law_functions import LawFunctions
from symplex.fem.solids.materials import finite_constants

# Next to rest, where what acts in tension or compression only does.
_REST = np.eye(3) * np.array([1.0 + 1e-9, 1.0 - 1e-9])[:, None, None]
_ROUNDING = 1e-9  # of the elasticities at rest, below which stresses and moduli count as zero


@partial(checked, but=("formula",))
@final
@dataclass(frozen=True, repr=False)
class FormulaMaterial(InvariantMaterial):
    """A hyperelastic law by the formula of its strain energy; `material` makes it.

    Parameters
    ----------
    formula : str
        W per undeformed volume in J/m³.
    density : float
        Mass per undeformed volume ρ in kg/m³.
    constants : tuple of (str, float)
        Names and values of the formula's constants.
    fibres : tuple of (float, float, float), optional
        Undeformed directions of one or two families of fibres, of any length.

    Raises
    ------
    MaterialError
        If the formula is not allowed or is no strain energy; see `material`.
    """

    formula: str
    density: float
    constants: tuple[tuple[str, float], ...]
    fibres: tuple[tuple[float, float, float], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.formula, str):
            raise InvalidArgument(f"material: the formula must be a string; it is {described(self.formula)}.")
        # lambda is a word of Python's; TOML and pencils know it.
        object.__setattr__(self, "formula", re.sub(r"\blambda\b", "lmbda", self.formula.strip()))
        tree = tree_of(self.formula)
        constants = dict(self.constants)
        finite_constants(f"law '{self.formula}'", density=self.density)
        for name, value in constants.items():
            if not is_real(value) or not isfinite(value):
                raise mistake(self.formula, f"the constant {name} is {described(value)}; it must be a finite number")
        object.__setattr__(self, "constants", tuple(sorted((name, float(x)) for name, x in constants.items())))
        object.__setattr__(self, "density", float(self.density))
        object.__setattr__(self, "fibres", tuple(tuple(map(float, a)) for a in self.fibres))
        if len(self.fibres) > 2:
            raise mistake(self.formula, f"there are {len(self.fibres)} families of fibres; at most two are known")
        for direction in self.fibres:
            if not 0 < np.linalg.norm(direction) < np.inf:
                raise mistake(self.formula, f"the direction of fibres {direction} has no finite length above zero")
        check_names(self.formula, tree, constants, len(self.fibres))
        self._check_rest()

    def __repr__(self) -> str:
        """Return the call that makes the material."""
        fibres = f", fibres={list(self.fibres)}" if self.fibres else ""
        constants = "".join(f", {name}={value!r}" for name, value in self.constants)
        return f"material({self.formula!r}{constants}, density={self.density!r}{fibres})"

    @property
    def isotropic(self) -> bool:
        """Whether there are no fibres."""
        return not self.fibres

    @property
    def directions(self) -> Array:
        """The undeformed directions of the families of fibres [F, 3], of length 1."""
        a = np.array(self.fibres).reshape(-1, 3)
        return a / np.linalg.norm(a, axis=1, keepdims=True)

    @property
    def wave_speed(self) -> float:
        """Speed in m/s of the fastest waves in the undeformed material; with fibres, the fastest of many directions."""
        if self.isotropic:
            return super().wave_speed
        n = np.vstack([self.directions, _sphere(2000)])
        acoustic = np.einsum("eijkl,pj,pl->epik", self.tangent(_REST), n, n, optimize=True)
        return sqrt(float(np.linalg.eigvalsh(acoustic).max()) / self.density)

    def law_functions(self) -> LawFunctions:
        """Return the law as C functions of I1, I2, ln J and I4 of each family of fibres."""
        return _functions(self.formula, self.constants, len(self.fibres))

    def _check_rest(self) -> None:
        """Check that the undeformed material has a finite energy, no stress, and resists every strain."""
        one = np.eye(3)[None]
        with np.errstate(all="ignore"):
            W, S, T = self.energy_density(one)[0], self.stress(one)[0], self.tangent(one)[0]
        if not (isfinite(W) and np.isfinite(S).all() and np.isfinite(T).all()):
            raise mistake(
                self.formula, "its energy, stress or elasticities at rest (I1 = I2 = 3, J = 1) are not finite"
            )
        size = np.abs(T).max()
        if np.abs(S).max() > _ROUNDING * size:
            self._refuse_stress(S)
        if self.isotropic:
            for modulus, value, term in (
                ("shear", T[0, 1, 0, 1], "a term that grows with I1bar or I1"),
                ("bulk", (T[0, 0, 0, 0] + 2 * T[0, 0, 1, 1]) / 3, "a term that grows with the change of volume, "
                 "such as K/2*(J - 1)**2"),
            ):  # fmt: skip
                if not value > _ROUNDING * size:
                    value = 0.0 if abs(value) <= _ROUNDING * size else value
                    raise mistake(
                        self.formula,
                        f"its {modulus} modulus at rest is {value:g} Pa and must be positive; it needs {term}",
                    )
        least, strain = min(map(_weakest, self.tangent(_REST)))
        if not least > _ROUNDING * size:
            raise mistake(
                self.formula,
                f"at rest it is not convex: of the strain {strain} the stiffness is {least:g} Pa and must be positive",
            )

    def _refuse_stress(self, S: Array) -> None:
        p = np.trace(S) / 3.0
        if np.abs(S - p * np.eye(3)).max() > 1e-6 * np.abs(S).max():
            way = "take squares or higher powers of I4 - 1"
        else:
            way = f"take I1bar for I1 and I2bar for I2, or add a term such as {-p:g}*log(J)"
        raise mistake(
            self.formula, f"at rest (J = 1) there is a stress of {np.abs(S).max():g} Pa, and must be none; {way}"
        )


# -- how it is made -------------------------------------------------------------------------------------------------


@partial(checked, but=("formula", "constants"))
def material(formula: str, *, density: float, fibres: ArrayLike | None = None, **constants: float) -> FormulaMaterial:
    """Return a material with the strain energy W of a formula, from which all else is derived and compiled.

    Parameters
    ----------
    formula : str
        W per undeformed volume in J/m³, or the name of a law of the table in ``docs/laws.md``. There are numbers,
        ``+ - * / **``, brackets, log, exp, sqrt, sinh, cosh, tanh, atan, max, min, and these invariants of C = FᵀF:
        I1 = tr C, I2 = ((tr C)² − tr C²)/2, I3 = det C, J = √I3; I1bar = J^(−2/3) I1 and I2bar = J^(−4/3) I2, which
        a change of volume leaves as they are; I4 = a·C a and I4bar = J^(−2/3) I4 with the direction a of fibres, I6
        and I6bar of a second family. All other names are constants. Energy is counted from the undeformed state.
    density : float
        Mass per undeformed volume ρ in kg/m³.
    fibres : float64 [3] or [F, 3], optional
        Undeformed directions of one or two families of fibres, of any length.
    **constants : float
        The value of each constant of the formula.

    Returns
    -------
    FormulaMaterial

    Raises
    ------
    MaterialError
        If something in the formula is not allowed, unknown, or not used, or it is no strain energy: where the material
        is undeformed it must be finite, without stress, and convex, with shear and bulk modulus positive.
    InvalidArgument
        If an argument is of another kind.

    Examples
    --------
    >>> rubber = material("c10*(I1bar - 3) + K/2*(J - 1)**2", c10=2e5, K=2e7, density=1000.0)
    >>> round(rubber.bulk_modulus)
    20000000
    """
    for name, value in constants.items():
        if not is_real(value):
            raise InvalidArgument(f"material: the constant {name} must be a real number; it is {described(value)}.")
    directions = () if fibres is None else _directions(fibres)
    if isinstance(formula, str):
        formula = LAWS.get(formula.strip(), formula)
    return FormulaMaterial(formula, density, tuple(constants.items()), directions)


def _directions(fibres: ArrayLike) -> tuple[tuple[float, float, float], ...]:
    a = np.asarray(fibres, dtype=float)
    a = a[None] if a.ndim == 1 else a
    if a.ndim != 2 or a.shape[1] != 3 or not 1 <= len(a) <= 2:
        raise InvalidArgument(
            f"material: fibres have shape {np.shape(fibres)}; expected one direction (3,), or two of them (2, 3)."
        )
    return tuple((float(x), float(y), float(z)) for x, y, z in a)


@lru_cache(maxsize=256)
def _functions(formula: str, constants: tuple[tuple[str, float], ...], fibres: int) -> LawFunctions:
    values = dict(constants)
    return LawFunctions.of(module_of(formula, values, fibres), values)


def _weakest(T: Array) -> tuple[float, str]:
    """Return the least stiffness in Pa of the elasticities ℂ [3, 3, 3, 3], and which strain it is of."""
    pairs = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    factors = np.sqrt([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])  # so that a strain and its six numbers have the same size
    matrix = np.array([[T[i, j, k, m] for k, m in pairs] for i, j in pairs]) * np.outer(factors, factors)
    values, vectors = np.linalg.eigh(matrix)
    numbers = vectors[:, 0] / factors
    names = ("xx", "yy", "zz", "yz", "xz", "xy")
    parts = [f"{name} {x:.2g}" for name, x in zip(names, numbers, strict=True) if abs(x) > 1e-6]
    return float(values[0]), f"({', '.join(parts)})"


def _sphere(n: int) -> Array:
    """Return n directions [n, 3] all over half a sphere, on a spiral."""
    k = np.arange(n) + 0.5
    z, angle = k / n, np.pi * (3.0 - np.sqrt(5.0)) * k
    return np.column_stack([np.sqrt(1.0 - z * z) * np.cos(angle), np.sqrt(1.0 - z * z) * np.sin(angle), z])
