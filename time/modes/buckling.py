"""Linear buckling: the factors of a load at which small motions have no stiffness, and their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.quantities import listed, whole
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.energies.neighbour_list import NeighbourListEnergy
from symplex.fem.solids.solid import Solid
from symplex.fem.structures.corotational import CorotationalEnergy
from symplex.fem.system import Load, State, System
from symplex.time.modes.framed import FramedMotions
from symplex.time.modes.small_motions import SmallMotions

_DENSE = 300  # coordinates, up to which all factors are computed at once
_FIRST, _PART = 1e-4, 0.03  # displacements at the ends of differences, of the size; then of the first factor found
_ROUND_OFF = 1e-12  # of the largest moment of inertia of a stencil: it has no rotation about an axis
_FELT = 1e-6  # of the stiffness of a stencil: less of it against a rigid motion is rounding
_SOLVED = 1e-3  # of a load: what may be left of it where it is carried
_NOTHING = 1e-12  # of the stiffness: a change below is rounding


@final
@dataclass(frozen=True)
class Buckling:
    """Linear buckling of a system.

    Attributes
    ----------
    factors : float64 [k]
        By which the load is multiplied, ascending.
    shapes : float64 [k, n, dim]
        With a largest displacement of 1 m.
    displacement : float64 [n, dim]
        The linear response to the load in m.
    """

    factors: Array
    shapes: Array
    displacement: Array

    def __repr__(self) -> str:
        return f"Buckling({len(self.factors)}: {', '.join(f'{x:.6g}' for x in self.factors[:6])})"


@checked
def linear_buckling(
    system: System, state: State, loads: Sequence[str], n: Annotated[int, whole(1, 10_000)] = 1
) -> Buckling:
    """Return the lowest positive factors λ of a load at which an equilibrium is not stable any more, linearised.

    (K + λ K') u = 0, with K the stiffness at the state and K' what the stresses of the linear response u₁ to the load,
    K u₁ = f, and the load itself add to it (the symmetric part): initial stress and load stiffness; see Bathe, Finite
    Element Procedures (1996), section 6.8.2. Energies are evaluated at u₁ without the rotation of each stencil: to
    first order, rotations would let members that are bent buckle far too early. K' is a central difference along
    that, exact for energies of fourth degree in positions such as Saint Venant and Kirchhoff's. Contact between bodies,
    and all else that does not belong to the load, stays as it is at the state.

    Parameters
    ----------
    system : System
    state : State
        An equilibrium without the load, which is stable.
    loads : sequence of str
        The names of the energies, loads and supports that move which are multiplied: displacements of the last are
        those at the time of the state.
    n : int, default 1
        How many factors; there may be fewer.

    Returns
    -------
    Buckling

    Raises
    ------
    InvalidSystem
        If there is no such load, it has no force, or the stiffness does not depend on it.
    NoEquilibrium
        If the state is not stable without the load, or no factor is found.
    """
    known = [*system.energies, *system.loads, *system.moving.motions]
    if odd := [name for name in loads if name not in known]:
        raise InvalidSystem(f"linear_buckling: there is no load '{odd[0]}'; there are {listed(known)}.")
    if not loads:
        raise InvalidSystem(f"linear_buckling: name at least one load; there are {listed(known)}.")
    if system.joints:
        raise InvalidSystem("linear_buckling: joints are not supported; join bodies by ties or by beams.")
    linear = [name for name, energy in system.energies.items() if isinstance(energy, CorotationalEnergy)]
    if linear:
        raise InvalidSystem(
            f"linear_buckling: '{linear[0]}' is reduced: its stiffness does not depend on stress; take the whole body."
        )
    path = _Path(system, state, set(loads))
    base = path.motions(0.0)
    force = path.force()
    vector = base.response(force, path.prescribed)
    response = base.nodal(vector[:, None])[0] + path.prescribed
    size = float(np.linalg.norm(np.ptp(state.q, axis=0)))
    largest = float(np.abs(response).max())
    if not largest > 0.0:
        raise InvalidSystem(f"linear_buckling: nothing is displaced by {listed(loads)}; give loads with a force.")
    rotating = base.change_by_rotations(vector, response)
    step, factors, vectors = _FIRST * size / largest, np.empty(0), np.empty((0, 0))
    for _ in range(2):  # the second time with a part of the factor that was found
        ends = [path.motions(s, response).stiffness for s in (step, -step)]
        change = sp.csr_array(sp.csr_array(ends[0] - ends[1]) / (2.0 * step) + rotating)
        if abs(change).max() * step <= _NOTHING * abs(base.stiffness).max():
            raise InvalidSystem(
                "linear_buckling: the stiffness does not depend on the load; a material with law = 'linear-elastic' "
                "does not buckle: take 'saint-venant-kirchhoff'."
            )
        factors, vectors = _lowest(base.stiffness, change, n, size / largest)
        step = _PART * float(factors[0])
    shapes = base.nodal(vectors)
    shapes /= np.abs(shapes).max(axis=(1, 2), keepdims=True)
    flat = shapes.reshape(len(shapes), -1)
    shapes *= np.sign(flat[np.arange(len(flat)), np.abs(flat).argmax(axis=1)])[:, None, None]
    return Buckling(factors, shapes, response)


def _lowest(K: sp.csr_array, change: sp.csr_array, n: int, most: float) -> tuple[Array, Array]:
    """Return the lowest positive λ [k] of (K + λ K') u = 0 up to a largest one, and u [free, k].

    They are 1/μ of the largest μ of −K' u = μ K u.
    """
    from scipy.linalg import LinAlgError, eigh
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

    size = K.shape[0]  # pyright: ignore[reportOptionalSubscript]
    if size <= max(_DENSE, 4 * n + 2):
        try:
            mu, found = eigh(-change.toarray(), K.toarray())
        except LinAlgError:
            raise _unstable() from None
    else:
        options = {"SymmetricMode": True}
        try:
            factors = splu(sp.csc_array(K), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError:
            raise _unstable() from None
        if factors.U.diagonal().min() <= 0.0:  # with pivots on the diagonal, as many as negative eigenvalues
            raise _unstable()
        inverse = LinearOperator((size, size), factors.solve, dtype=float)  # pyright: ignore[reportCallIssue]
        start = factors.solve(np.random.default_rng(0).standard_normal(size))
        try:
            mu, found = eigsh(-change, n, K, Minv=inverse, which="LA", v0=start, ncv=max(2 * n + 1, 40))
        except (ArpackError, RuntimeError) as error:
            raise NoEquilibrium(f"linear_buckling: no factors were found: {str(error).rstrip('.')}.") from error
    order = [k for k in np.argsort(-mu) if mu[k] * most > 1.0][:n]
    if not order:
        raise NoEquilibrium(
            f"linear_buckling: no positive factor up to {most:.3g}, where displacements are as large as the body: the "
            "load stiffens. Reverse it, or name another one."
        )
    return 1.0 / mu[order], found[:, order]


def _unstable() -> NoEquilibrium:
    return NoEquilibrium(
        "linear_buckling: the state is not stable without the load: something is not held, or has buckled already. Add "
        "supports, or leave loads away."
    )


@final
class _Path:
    """A system on the way of its linear response: with a factor of the load, at the positions that belong to it."""

    def __init__(self, system: System, state: State, loads: set[str]):
        self._system, self._state, self._loads = system, state, loads
        moved = {name: motion for name, motion in system.moving.motions.items() if name in loads}
        alone = System(system.mass, {}, dim=system.dim, moving=moved)
        self.prescribed = alone.moving.displacements(state.t) if moved else np.zeros_like(state.q)
        if moved and system.frames is not None:
            raise InvalidSystem("linear_buckling: supports of beams and shells cannot be the load; give forces.")

    def force(self) -> Array:
        """Return the load [n, dim] in N."""
        system, state = self._system, self._state
        out = np.zeros_like(state.q)
        for name in self._loads & set(system.energies):
            part = np.zeros_like(state.q)
            system.energies[name].add_gradient(state.q, part)
            out -= part
        for name in self._loads & set(system.loads):
            out += system.loads[name](state.t, state.q, np.zeros_like(state.q))
        return out

    def motions(self, factor: float, response: Array | None = None) -> _Motions:
        """Return the small motions with a factor of the load, and of the stresses of its response [n, dim] in m."""
        system, state = self._system, self._state
        energies: dict[str, Energy] = {}
        for name, energy in system.energies.items():
            if name in self._loads:
                energy = _Scaled(energy, factor)
            elif response is not None and not isinstance(energy, NeighbourListEnergy):
                energy = _Strained(energy, factor * _deformation(energy, state.q, response)[0])
            energies[name] = energy
        loads: dict[str, Load] = {
            name: _scaled(load, factor) if name in self._loads else load for name, load in system.loads.items()
        }
        scaled = system.with_parts(energies, loads, at_rest=True)
        at = State(state.t, state.q, 0.0 * state.q, 0.0 * state.q, internal=state.internal)
        return _Motions(SmallMotions(scaled, at))


@final
class _Motions:
    """The stiffness among the coordinates that are free: displacements of nodes, or of nodes with rotations."""

    def __init__(self, motions: SmallMotions):
        self._motions = motions
        self._framed = FramedMotions(motions) if motions.system.frames is not None else None
        self._all = motions.matrix(motions.symmetric_stiffness)
        self.stiffness = motions.among_free(self._all) if self._framed is None else self._framed.equations.stiffness

    def response(self, force: Array, prescribed: Array) -> Array:
        """Return the small motion [free] by a force [n, dim] in N, and by displacements [n, dim] in m of supports."""
        from scipy.sparse.linalg import splu

        if self._framed is not None:
            b = self._framed.basis.T @ force.ravel()
        else:
            b = (force.ravel() - self._all @ prescribed.ravel())[self._motions.free]
        try:
            z = splu(sp.csc_array(self.stiffness)).solve(b)
        except RuntimeError:
            raise _unstable() from None
        if not (np.isfinite(z).all() and np.linalg.norm(self.stiffness @ z - b) <= _SOLVED * np.linalg.norm(b)):
            raise _unstable()
        return z

    def change_by_rotations(self, z: Array, response: Array) -> sp.csr_array:
        """Return what of the change of K comes from rotations of frames in stencils, for the response z [free]."""
        motions, K = self._motions, self.stiffness
        if self._framed is None:
            return sp.csr_array(K.shape)
        rotations = {
            name: _deformation(energy, motions.q, response)[1]
            for name, energy in motions.system.energies.items()
            if not isinstance(energy, (_Scaled, NeighbourListEnergy))
        }
        return self._framed.change_by_rotations(z, rotations)

    def nodal(self, vectors: Array) -> Array:
        """Return small motions [k, n, dim] of vectors [free, k]."""
        if self._framed is None:
            return self._motions.nodal(vectors)
        return self._framed.equations.nodal(vectors).reshape(-1, *self._motions.q.shape)


class _Scaled(Energy):
    """An energy times a factor, in forms that small motions need."""

    def __init__(self, energy: Energy, factor: float):
        self.nodes, self._energy, self._factor = energy.nodes, energy, factor

    def value(self, x: Array) -> Array:
        """Return s φ [m] in J."""
        return self._factor * self._energy.value(x)

    def gradient(self, x: Array) -> Array:
        """Return s ∂φ/∂x [m, k, dim] in N."""
        return self._factor * self._energy.gradient(x)

    def hessian(self, x: Array) -> Array:
        """Return s ∂²φ/∂x² [m, k·dim, k·dim] in N/m."""
        return self._factor * self._energy.hessian(x)


class _Strained(Energy):
    """An energy with the stresses that displacements of its stencils make, for motions of these as they are."""

    def __init__(self, energy: Energy, displacement: Array):
        self.nodes, self._energy, self._displacement = energy.nodes, energy, displacement

    def value(self, x: Array) -> Array:
        """Return φ(x + u) [m] in J."""
        return self._energy.value(x + self._displacement)

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, dim] in N at x + u."""
        return self._energy.gradient(x + self._displacement)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, k·dim, k·dim] in N/m at x + u; of solids at x with what stresses of u add, δ_ij ΔS.

        Within their elements rotations differ, which x + u would take for changes of the stiffness.
        """
        moved = x + self._displacement
        if not (isinstance(self._energy, Solid) and self._energy.has("secant")):
            return self._energy.hessian(moved)
        change = self._energy.secant(moved) - self._energy.secant(x)
        m, k = change.shape[:2]
        added = change[:, :, None, :, None] * np.eye(3)[:, None, :]
        return self._energy.hessian(x) + added.reshape(m, 3 * k, 3 * k)


def _deformation(energy: Energy, q: Array, displacement: Array) -> tuple[Array, Array]:
    """Return displacements [m, k, dim] of stencils less their rotations, and these [m, 3]; none where φ feels them.

    Rotations are the least squares ω of Σ |u − ū − ω × r|², of small displacements.
    """
    x, u = q[energy.nodes], displacement[energy.nodes]
    m, k, dim = u.shape
    r, of, g = np.zeros((3, m, k, 3))
    r[..., :dim], of[..., :dim], g[..., :dim] = x - x.mean(axis=1, keepdims=True), u, energy.gradient(x)
    inertia = np.einsum("mai,mai->m", r, r)[:, None, None] * np.eye(3) - np.einsum("mai,maj->mij", r, r)
    inverse = np.linalg.pinv(inertia, rcond=_ROUND_OFF, hermitian=True)
    omega = np.einsum("mij,mj->mi", inverse, np.cross(r, of).sum(axis=1))
    rotation = np.cross(omega[:, None], r)[..., :dim]
    rigid = (rotation + u.mean(axis=1, keepdims=True)).reshape(m, k * dim)
    H, turned = energy.hessian(x), np.cross(omega[:, None], g)[..., :dim].reshape(m, k * dim)
    felt = np.linalg.norm(np.einsum("mij,mj->mi", H, rigid) - turned, axis=1)
    free = felt <= _FELT * np.linalg.norm(H, axis=(1, 2)) * np.linalg.norm(rigid, axis=1)
    omega = np.where(free[:, None], omega, 0.0)
    return np.where(free[:, None, None], u - rotation, u), omega


@final
class _ScaledLoad(DifferentiableLoad):
    """A load times a factor."""

    def __init__(self, load: DifferentiableLoad, factor: float):
        self.nodes, self._load, self._factor = load.nodes, load, factor

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return s f [n, dim] in N."""
        return self._factor * self._load(t, q, v)

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return s ∂f/∂x in N/m and s ∂f/∂v in N s/m."""
        by_x, by_v = self._load.derivatives(t, x, v)
        return self._factor * by_x, self._factor * by_v


def _scaled(load: Load, factor: float) -> Load:
    """Return a load times a factor."""
    if isinstance(load, DifferentiableLoad):
        return _ScaledLoad(load, factor)
    return lambda t, q, v: factor * load(t, q, v)
