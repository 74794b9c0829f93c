"""Laws in uniform deformations, against closed forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import brentq

import symplex as sx
from verification_manual.models import Array, Block
from verification_manual.problem import Row, problem

LAWS = "Laws in uniform deformations"
CUBE = (1.0, 1.0, 1.0), (1, 1, 1)


def _stretched(kind: str, law: sx.Material, stretches: dict[int, float], start: tuple) -> tuple[Array, Array]:
    """Return the nominal stresses [3] on the far sides of a cube, and its stretches [3].

    Parameters
    ----------
    stretches : dict of int to float
        Those that are given, by axis; across the others the cube is free.
    start : three floats
        Stretches to begin with.
    """
    block = Block(kind, *CUBE, law)
    x = block.points
    fixed = x == 0.0
    for axis in stretches:
        fixed[:, axis] |= x[:, axis] == 1.0
    system = block.system(fixed)
    state = sx.equilibria.static_equilibrium(system, x * np.array([stretches.get(a, start[a]) for a in range(3)])).state
    far = np.array([system.reactions(state)[x[:, a] == 1.0, a].sum() for a in range(3)])
    return far, np.array([state.q[x[:, a] == 1.0, a].mean() for a in range(3)])


def _free_stretch(lmbda: float, given: float, axes: int) -> float:
    """Return the stretch of the free axes without stress, λ ln J − 1 + t² = 0 with J = given t^axes."""
    return brentq(lambda t: lmbda * np.log(given * t**axes) - 1.0 + t * t, 0.05, 5.0, xtol=1e-15)


@problem(
    LAWS,
    "Neo-Hookean, uniaxial and equibiaxial",
    source=(
        "the scalar equation for the free stretch, solved by bisection (ν = 0.3: −2.4319153, 0.98352846, "
        "1.6815361 at 0.5, 1.5, 2)"
    ),
    within=1e-8,
)
def neo_hookean() -> Iterator[Row]:
    """W = λ/2 ln²J − μ ln J + μ/2 (I1 − 3), μ = 1, ν = 0.3 and 0.49; nominal stress and free stretches."""
    for nu in (0.3, 0.49):
        lmbda = 2.0 * nu / (1.0 - 2.0 * nu)
        law = sx.NeoHookean(lmbda, 1.0, 1.0)
        for stretch in (0.5, 1.5, 2.0):
            t = _free_stretch(lmbda, stretch, 2)
            target = (lmbda * np.log(stretch * t * t) - 1.0 + stretch**2) / stretch
            found, free = _stretched("hexahedron", law, {0: stretch}, (1.0, 0.95 * t, 0.95 * t))
            yield Row(f"ν = {nu}", f"uniaxial P/μ at {stretch}", target, found[0])
            yield Row(f"ν = {nu}", f"transverse stretch at {stretch}", t, free[1])
        for stretch in (1.5, 2.0):
            t = _free_stretch(lmbda, stretch**2, 1)
            target = (lmbda * np.log(stretch**2 * t) - 1.0 + stretch**2) / stretch
            found, free = _stretched("hexahedron", law, {0: stretch, 1: stretch}, (1.0, 1.0, 1.05 * t))
            yield Row(f"ν = {nu}", f"equibiaxial P/μ at {stretch}", target, found[0])
            yield Row(f"ν = {nu}", f"thickness at {stretch}", t, free[2])


@problem(LAWS, "Simple shear", source="σ_12 = μγ, σ_11 − σ_22 = μγ² of a neo-Hookean solid", within=1e-12)
def simple_shear() -> Iterator[Row]:
    """μ = 40, ν = 0.3, γ = 0.1, 0.5 and 1; stress of every element."""
    for kind in ("tetra", "tetra10", "hexahedron", "hexahedron20", "hexahedron27", "wedge", "pyramid"):
        block = Block(kind, *CUBE, sx.NeoHookean(60.0, 40.0, 1.0))
        for gamma in (0.1, 0.5, 1.0):
            system = block.system(None)
            state = system.state(block.points + gamma * block.points[:, [1, 1, 1]] * [1.0, 0.0, 0.0])
            sigma = sx.stress(system, state)["solid"][0]
            yield Row(kind, f"σ_12 at γ = {gamma}", 40.0 * gamma, sigma[3])
            yield Row(kind, f"σ_11 − σ_22 at γ = {gamma}", 40.0 * gamma**2, sigma[0] - sigma[1])


def _incompressible(
    law: sx.Material, by: str, slopes: Callable[[float, float], tuple[float, float]], scale: float, stretches: tuple
) -> Iterator[Row]:
    """Yield uniaxial, equibiaxial and planar tension of a law against its incompressible limit; W_1, W_2 are its
    slopes.
    """
    for x in stretches:
        w1, w2 = slopes(x**2 + 2.0 / x, 2.0 * x + x**-2)
        found, _ = _stretched("hexahedron full", law, {0: x}, (1.0, x**-0.5, x**-0.5))
        yield Row(by, f"uniaxial, {x:g}", 2.0 * (x - x**-2) * (w1 + w2 / x) / scale, found[0] / scale)
        w1, w2 = slopes(2.0 * x**2 + x**-4, x**4 + 2.0 * x**-2)
        found, _ = _stretched("hexahedron full", law, {0: x, 1: x}, (1.0, 1.0, x**-2))
        yield Row(by, f"equibiaxial, {x:g}", 2.0 * (x - x**-5) * (w1 + x**2 * w2) / scale, found[0] / scale)
        w1, w2 = slopes(x**2 + 1.0 + x**-2, x**2 + 1.0 + x**-2)
        found, _ = _stretched("hexahedron full", law, {0: x, 1: 1.0}, (1.0, 1.0, 1.0 / x))
        yield Row(by, f"planar, {x:g}", 2.0 * (x - x**-3) * (w1 + w2) / scale, found[0] / scale)


INCOMPRESSIBLE = "closed forms of the incompressible law, e.g. P = 2(λ − λ⁻²)(W₁ + W₂/λ); K = 10⁵ μ costs up to 10⁻⁴"


@problem(LAWS, "Rubber: isochoric neo-Hookean", source=INCOMPRESSIBLE, within=1e-4)
def isochoric_neo_hookean() -> Iterator[Row]:
    """c10 = ½, nominal stresses over μ; true stress for μ = 280 709 Pa."""
    law = sx.material("isochoric-neo-hookean", c10=0.5, K=1e5, density=1.0)
    yield from _incompressible(law, "isochoric-neo-hookean", lambda a, b: (0.5, 0.0), 1.0, (0.7, 1.5364867, 2.0))
    found, _ = _stretched("hexahedron full", law, {0: 1.53648668}, (1.0, 0.8, 0.8))
    yield Row("isochoric-neo-hookean", "true stress in Pa at 1.5364867", 480e3, 280709.0 * found[0] * 1.53648668)


@problem(LAWS, "Rubber: Mooney–Rivlin", source=INCOMPRESSIBLE, within=1e-4)
def mooney_rivlin() -> Iterator[Row]:
    """c10 = 0.4, c01 = 0.1 (μ = 1), by two laws with the same incompressible limit."""
    laws = {
        "isochoric-mooney-rivlin": sx.material("isochoric-mooney-rivlin", c10=0.4, c01=0.1, K=1e5, density=1.0),
        "MooneyRivlin": sx.MooneyRivlin(0.4, 0.1, 1e5, 1.0),
    }
    for by, law in laws.items():
        yield from _incompressible(law, by, lambda a, b: (0.4, 0.1), 1.0, (0.7, 1.5, 2.0))


@problem(LAWS, "Rubber: Yeoh", source=INCOMPRESSIBLE, within=1e-4)
def yeoh() -> Iterator[Row]:
    """c10 = ½, c20 = −0.01, c30 = 0.001; stresses over μ."""
    law = sx.material("yeoh", c10=0.5, c20=-0.01, c30=0.001, K=1e5, density=1.0)

    def slopes(a: float, b: float) -> tuple[float, float]:
        return 0.5 - 0.02 * (a - 3.0) + 0.003 * (a - 3.0) ** 2, 0.0

    yield from _incompressible(law, "yeoh", slopes, 1.0, (0.7, 1.5, 2.5))


@problem(LAWS, "Rubber: Gent", source=INCOMPRESSIBLE, within=1e-4)
def gent() -> Iterator[Row]:
    """μ = 1, J_m = 50: locking at Ī1 − 3 = J_m."""
    law = sx.material("gent", mu=1.0, Jm=50.0, K=1e5, density=1.0)
    yield from _incompressible(law, "gent", lambda a, b: (0.5 / (1.0 - (a - 3.0) / 50.0), 0.0), 1.0, (0.7, 1.5, 2.5))


@problem(LAWS, "Rubber: Arruda–Boyce", source=INCOMPRESSIBLE, within=1e-4)
def arruda_boyce() -> Iterator[Row]:
    """μ = 1, N = 8 links, the series of the inverse Langevin function to five terms."""
    law = sx.material("arruda-boyce", mu=1.0, N=8.0, K=1e5, density=1.0)

    def slopes(a: float, b: float) -> tuple[float, float]:
        terms = (1 / 2, 1 / 20, 11 / 1050, 19 / 7000, 519 / 673750)
        return sum((k + 1) * c * (a / 8.0) ** k for k, c in enumerate(terms)), 0.0

    yield from _incompressible(law, "arruda-boyce", slopes, 1.0, (0.7, 1.5, 2.5))


@problem(LAWS, "Foam of Blatz and Ko", source="closed form: transverse λ^(−1/4), P = μ(λ^(−1/2) − λ⁻³)", within=1e-8)
def blatz_ko() -> Iterator[Row]:
    """W = μ/2 (I2/I3 + 2J − 5), ν = ¼; uniaxial."""
    law = sx.material("blatz-ko", mu=1.0, density=1.0)
    for x in (0.6, 1.3, 2.0):
        found, free = _stretched("hexahedron", law, {0: x}, (1.0, x**-0.2, x**-0.2))
        yield Row("blatz-ko", f"P/μ at {x}", x**-0.5 - x**-3, found[0])
        yield Row("blatz-ko", f"transverse stretch at {x}", x**-0.25, free[1])


@problem(LAWS, "Saint Venant–Kirchhoff, uniaxial", source="closed form, P = E λ(λ² − 1)/2", within=1e-8)
def saint_venant() -> Iterator[Row]:
    """E = 1, ν = 0.3; transverse E_t = −ν E."""
    law = sx.SaintVenantKirchhoff.from_young(1.0, 0.3, 1.0)
    for x in (0.8, 1.2, 1.6):
        t = np.sqrt(1.0 - 0.3 * (x * x - 1.0))
        found, free = _stretched("hexahedron", law, {0: x}, (1.0, 0.98 * t, 0.98 * t))
        yield Row("SaintVenantKirchhoff", f"P/E at {x}", 0.5 * x * (x * x - 1.0), found[0])
        yield Row("SaintVenantKirchhoff", f"transverse stretch at {x}", t, free[1])


@problem(
    LAWS,
    "Fibres off the axis",
    source="classical theory of laminae: 1/E_θ = c⁴/E₁ + s⁴/E₂ + (1/G₁₂ − 2ν₁₂/E₁) s²c²",
    within=1e-8,
)
def lamina() -> Iterator[Row]:
    """E₁ = 140 GPa, E₂ = E₃ = 10 GPa, G = 5 GPa, ν₁₂ = ν₁₃ = 0.3, ν₂₃ = 0.4, fibres at θ to the load; small strains,
    free to shear.
    """
    nu12, nu23 = 0.3, 0.4
    S = np.diag([1 / 140e9, 1 / 10e9, 1 / 10e9, 1 / 5e9, 1 / 5e9, 2 * (1 + nu23) / 10e9])
    S[0, 1] = S[1, 0] = S[0, 2] = S[2, 0] = -nu12 / 140e9
    S[1, 2] = S[2, 1] = -nu23 / 10e9
    for degrees in (0.0, 15.0, 45.0, 90.0):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        law = sx.AnisotropicElastic(np.linalg.inv(S), 1600.0, axes=[[c, s, 0.0], [-s, c, 0.0]], small=True)
        block = Block("hexahedron", *CUBE, law)
        x, fixed = block.points, block.nowhere()
        fixed[(x == 0.0).all(axis=1)] = True
        fixed[(x == [1.0, 0.0, 0.0]).all(axis=1), 1:] = True
        fixed[(x == [0.0, 1.0, 0.0]).all(axis=1), 2] = True
        q = block.rest(fixed, far=block.pull("x_max", (1e6, 0, 0)), near=block.pull("x_min", (-1e6, 0, 0))).q
        strain = (q - x)[(x == [1.0, 0.0, 0.0]).all(axis=1), 0].item()
        target = 1.0 / (c**4 / 140e9 + s**4 / 10e9 + (1 / 5e9 - 2 * nu12 / 140e9) * s * s * c * c)
        yield Row("AnisotropicElastic", f"E_θ in Pa, θ = {degrees:g}°", target, 1e6 / strain)


@problem(
    LAWS,
    "Artery of Holzapfel, Gasser and Ogden",
    source="closed form at given stretches: P₁ = ∂W/∂λ₁ with I4 = λ₁²",
    within=1e-9,
)
def artery() -> Iterator[Row]:
    """μ = 1, K = 100, k1 = 2, k2 = 0.5, fibres along x: given stretches, reaction along the fibres, which carry no
    compression.
    """
    law = sx.material("holzapfel-gasser-ogden", mu=1.0, K=100.0, k1=2.0, k2=0.5, density=1.0, fibres=(1.0, 0.0, 0.0))

    def energy(a: float, t: float) -> float:
        J = a * t * t
        fibre = max(a * a - 1.0, 0.0)
        U = 50.0 * ((J * J - 1.0) / 2.0 - np.log(J))
        return 0.5 * (J ** (-2 / 3) * (a * a + 2 * t * t) - 3.0) + U + 2.0 * (np.exp(0.5 * fibre**2) - 1.0)

    for a, t in ((0.9, 1.05), (1.2, 0.92), (1.4, 0.85)):
        h = 1e-3  # differences of order eight
        weights = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
        target = sum(w * (energy(a + k * h, t) - energy(a - k * h, t)) / h for k, w in enumerate(weights, 1))
        found, _ = _stretched("hexahedron full", law, {0: a, 1: t, 2: t}, (1.0, 1.0, 1.0))
        yield Row("holzapfel-gasser-ogden", f"P₁ at λ₁ = {a}, λ₂ = {t}", target, found[0])
