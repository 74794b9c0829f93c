"""Derivatives of equilibria, natural frequencies and frequency responses by parameters, by the implicit function."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import splu

from symplex.base.arguments import checked
from symplex.base.quantities import whole
from symplex.base.representation import Summarized
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, node_indices, require_nodes
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.inelastic import refuse_history
from symplex.fem.system import State, System
from symplex.gradients.differentiable import require_differentiable_parts
from symplex.gradients.family import WEIGHTS, Build, Family
from symplex.gradients.framed_steps import FramedLinearStep, FramedSolvers
from symplex.gradients.linear_steps import ForcesAtPoint, Solvers, Step, Variation
from symplex.gradients.tangents import Observe, changes, observed, slopes
from symplex.time.equilibria.static import static_equilibrium
from symplex.time.implicit.scheme import Scheme
from symplex.time.modes.framed import FramedMotions, equations_of
from symplex.time.modes.natural import natural_modes
from symplex.time.modes.quadratic import ComplexArray
from symplex.time.modes.response import frequency_response
from symplex.time.modes.small_motions import SmallMotions

_EQUAL = 1e-6  # relative difference up to which frequencies are one
_RIGID = 1e-6  # of the largest frequency, below which one is of a motion without stiffness
_MOST = 10_000
_DEPENDENT = 1e-10  # of the largest singular value, below which conditions of joints depend on others
# A step without inertia, at the end of which forces are balanced
_BALANCE = Scheme(1.0, 0.0, 1.0, False, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, False)


@dataclass(frozen=True, repr=False)
class EquilibriumTangent(Summarized):
    """Numbers of an equilibrium, and their derivatives by parameters.

    Attributes
    ----------
    values : float64 [m]
        What was observed.
    jacobian : float64 [m, k]
        Derivatives of these by each of k parameters.
    state : State
        The equilibrium.
    dq : float64 [n, dim, k]
        Derivatives of its positions.
    """

    values: Array
    jacobian: Array
    state: State
    dq: Array


@dataclass(frozen=True, repr=False)
class FrequencyTangent(Summarized):
    """Natural frequencies, and their derivatives by parameters.

    Attributes
    ----------
    frequencies : float64 [m]
        In Hz, ascending.
    derivatives : float64 [m, k]
        By each of k parameters, in Hz over their units. Those of equal frequencies are what each becomes as one
        parameter grows, ascending; zero of motions without stiffness.
    state : State
        That they are about.
    """

    frequencies: Array
    derivatives: Array
    state: State


@dataclass(frozen=True, repr=False)
class ResponseTangent(Summarized):
    """Displacements Re(u e^{iωt}) by frequency, and their derivatives by parameters.

    Attributes
    ----------
    frequencies : float64 [m]
        In Hz.
    nodes : int32 [p]
    displacements : complex128 [m, p, dim]
        u in m.
    derivatives : complex128 [m, p, dim, k]
        ∂u by each of k parameters.
    state : State
        That motions are about.
    """

    frequencies: Array
    nodes: np.ndarray
    displacements: ComplexArray
    derivatives: ComplexArray
    state: State

    @property
    def amplitudes(self) -> Array:
        """How far it swings, |u| [m, p, dim] in m."""
        return np.abs(self.displacements)

    @property
    def amplitude_derivatives(self) -> Array:
        """∂|u| = Re(ū ∂u)/|u| [m, p, dim, k]; zero of what does not move, where there is none."""
        moved = (self.displacements.conj()[..., None] * self.derivatives).real
        size = np.broadcast_to(self.amplitudes[..., None], moved.shape)
        return np.divide(moved, size, out=np.zeros(moved.shape), where=size > 0.0)


@partial(checked, but=("parameters", "scales"))
def equilibrium_tangent(
    build: Build, parameters: ArrayLike, observe: Observe | None = None, *, scales: ArrayLike | None = None
) -> EquilibriumTangent:
    """Return numbers of a static equilibrium and their derivatives by parameters.

    K δq = −∂(∇V − f)/∂p, with the stiffness K at the equilibrium that `static_equilibrium` finds from the start.

    Parameters
    ----------
    build : callable
        ``build(p)`` returns the `System` and the `State` to begin with for parameters p [k], as for `tangent`.
    parameters : float64 [k]
        p where derivatives are taken.
    observe : callable, optional
        ``observe(system, state)`` returns numbers [m] of the equilibrium; default: all positions.
    scales : float64 [k], optional
        How much of each parameter is a considerable change; default: its size, which must not be zero then.

    Returns
    -------
    EquilibriumTangent

    Raises
    ------
    NoEquilibrium
        If there is none.
    InvalidSystem
        If a part of the system has no derivatives, with its name.
    StepFailed
        If the stiffness is singular there.
    """
    family = Family(build, parameters, scales, "equilibrium_tangent")
    state, dq = _equilibrium("equilibrium_tangent", family)
    if observe is None:
        return EquilibriumTangent(state.q.ravel(), dq.reshape(-1, len(family)), state, dq)
    still = np.zeros_like(dq)
    d = Variation(dq, still, still, still)
    by = slopes(family, state, d, lambda system, at: observed(observe, system, at))
    return EquilibriumTangent(observed(observe, family.system, state), by, state, dq)


@partial(checked, but=("parameters", "scales"))
def frequency_tangent(
    build: Build,
    parameters: ArrayLike,
    n: Annotated[int, whole(1, _MOST)],
    *,
    at: Literal["start", "equilibrium"] = "start",
    scales: ArrayLike | None = None,
) -> FrequencyTangent:
    """Return the lowest natural frequencies and their derivatives by parameters.

    ∂ω²/∂p = uᵀ (∂K/∂p − ω² ∂M/∂p) u for each shape u with uᵀ M u = 1, where K changes with the state too: with the
    shape of a body whose nodes are moved, or with the equilibrium of a body that is loaded. Of equal frequencies they
    are the eigenvalues of Uᵀ (…) U. Derivatives of K along p are differences at one state, as those of forces
    (`symplex.gradients.family`).

    Parameters
    ----------
    build : callable
        ``build(p)`` returns the `System` and a `State` for parameters p [k], as for `tangent`.
    parameters : float64 [k]
        p where derivatives are taken.
    n : int
        How many frequencies.
    at : {"start", "equilibrium"}, default "start"
        Whether motions are about the state that is built, or the static equilibrium that is found from there.
    scales : float64 [k], optional
        How much of each parameter is a considerable change; default: its size, which must not be zero then.

    Returns
    -------
    FrequencyTangent

    Raises
    ------
    NoEquilibrium
        If there is none, or the method finds no frequencies.
    InvalidSystem
        If a part of the system has no derivatives, with its name, or n is out of range.
    """
    family = Family(build, parameters, scales, "frequency_tangent")
    system = family.system
    if at == "equilibrium":
        state, dq = _equilibrium("frequency_tangent", family)
    else:
        require_differentiable_parts("frequency_tangent", system)
        state, dq = family.state, family.dq
    if system.frames is not None and system.frames.is_rod.any():
        raise InvalidSystem("frequency_tangent: frames of two particles have no derivatives of frequencies.")
    motions = SmallMotions(system, state)
    free = FramedMotions(motions).n_moving if system.frames is not None else motions.n_moving
    more = min(n + 1, free)  # the next one shows whether the last is one of several that are equal
    modes = natural_modes(system, state, more)
    squares = np.sign(modes.frequencies) * (2.0 * math.pi * modes.frequencies) ** 2
    derivatives = np.zeros((more, len(family)))
    change = _change_of_matrices if system.frames is None else _FramedModes(motions, modes.shapes, squares).change
    for j in range(len(family)):
        slopes = change(family, j, state, dq, modes.shapes)
        for group in _groups(modes.frequencies):
            f = float(np.abs(modes.frequencies[group]).mean())
            if f <= _RIGID * float(np.abs(modes.frequencies).max()):
                continue
            some = np.ix_(group, group)
            slope = slopes[0][some] - float(squares[group].mean()) * slopes[1][some]
            derivatives[group, j] = np.linalg.eigvalsh(0.5 * (slope + slope.T)) / (8.0 * math.pi**2 * f)
    last = next(group for group in _groups(modes.frequencies) if n - 1 in group)
    if last[-1] == more - 1 and more > n and len(last) > 1:
        raise InvalidSystem(
            f"frequency_tangent: frequency {n} is equal to the next one, {modes.frequencies[n]:.6g} Hz. Ask for all "
            "that are equal."
        )
    return FrequencyTangent(modes.frequencies[:n], derivatives[:n], state)


@partial(checked, but=("parameters", "scales"))
def response_tangent(
    build: Build,
    parameters: ArrayLike,
    frequencies: ArrayLike,
    *,
    forces: ComplexArray | None = None,
    base: ComplexArray | None = None,
    base_acceleration: ComplexArray | None = None,
    loss_factor: float = 0.0,
    nodes: Nodes | None = None,
    at: Literal["start", "equilibrium"] = "start",
    scales: ArrayLike | None = None,
) -> ResponseTangent:
    """Return the steady response to harmonic excitation and its derivatives by parameters.

    D δu = −(∂K (1 + iη) − ω² ∂M + iω ∂C) u of the equations of `frequency_response`, by the direct method, where K and
    C change with the state too: with nodes that are moved, or with the equilibrium of a body that is loaded. Excitation
    and frequencies stay as they are given. Derivatives of K, M and C along p are differences at one state, as those of
    forces (`symplex.gradients.family`).

    Parameters
    ----------
    build : callable
        ``build(p)`` returns the `System` and a `State` for parameters p [k], as for `tangent`.
    parameters : float64 [k]
        p where derivatives are taken.
    frequencies : float [m]
        In Hz, not negative.
    forces, base, base_acceleration : complex [n, dim], optional
        In N, m and m/s², of `frequency_response`.
    loss_factor : float, default 0
        η of the whole stiffness.
    nodes : int [p], optional
        Whose response is kept; default: of all.
    at : {"start", "equilibrium"}, default "start"
        Whether motions are about the state that is built, or the static equilibrium that is found from there.
    scales : float64 [k], optional
        How much of each parameter is a considerable change; default: its size, which must not be zero then.

    Returns
    -------
    ResponseTangent

    Raises
    ------
    NoEquilibrium
        If there is no equilibrium, or a frequency is one of resonance without damping.
    InvalidSystem
        If a part of the system has no derivatives, with its name, or an argument is none of `frequency_response`.
    """
    who = "response_tangent"
    family = Family(build, parameters, scales, who)
    system = family.system
    require_differentiable_parts(who, system)
    if system.frames is not None:
        raise InvalidSystem(f"{who}: responses with frames, of which the system has {len(system.frames)}, have none.")
    kept = np.arange(system.n_nodes, dtype=np.int32) if nodes is None else node_indices(who, nodes)
    require_nodes(who, kept[:, None], system.n_nodes)
    state, dq = _equilibrium(who, family) if at == "equilibrium" else (family.state, family.dq)
    found = frequency_response(
        system,
        state,
        frequencies,
        forces=forces,
        base=base,
        base_acceleration=base_acceleration,
        loss_factor=loss_factor,
    )
    U = found.displacements.reshape(len(found.frequencies), -1)
    omegas, elastic = 2.0 * math.pi * found.frequencies, 1.0 + 1j * loss_factor
    residuals = np.zeros((*U.shape, len(family)), complex)  # ∂D u
    for j in range(len(family)):
        for weight, neighbour, moved in _neighbours(family, j, state, dq):
            residuals[..., j] += weight * _dynamic(SmallMotions(neighbour, moved), omegas, elastic, U)
    equations = equations_of(SmallMotions(system, state))
    derivatives = np.zeros((len(U), len(kept), system.dim, len(family)), complex)
    for k, w in enumerate(omegas):
        D = elastic * equations.stiffness - w**2 * equations.mass
        D = D if equations.damping is None else D + 1j * w * equations.damping
        y = equations.solver(sp.csr_array(D))(-(equations.basis.T @ residuals[k]))
        derivatives[k] = (equations.basis @ y).reshape(system.n_nodes, system.dim, -1)[kept]
    return ResponseTangent(found.frequencies, kept, found.displacements[:, kept], derivatives, state)


def _dynamic(motions: SmallMotions, omegas: Array, elastic: complex, U: ComplexArray) -> ComplexArray:
    """Return D(ω) u [m, n·dim] for each ω and u of U [m, n·dim]."""
    w = omegas[:, None]
    found = elastic * (motions.matrix(motions.stiffness) @ U.T).T - w**2 * (motions.mass @ U.T).T
    if motions.damping is not None:
        found = found + 1j * w * (motions.matrix(motions.damping) @ U.T).T
    return np.asarray(found, complex)


def _equilibrium(who: str, family: Family) -> tuple[State, Array]:
    """Return the equilibrium, and the derivatives [n, dim, k] of its positions."""
    system = family.system
    require_differentiable_parts(who, system)
    refuse_history(system, who)
    state = static_equilibrium(system, family.state.q, t=family.state.t).state
    if system.frames is not None:
        return state, _moved_frames(family, state)
    motions, free = SmallMotions(system, state), ~system.fixed
    forces = ForcesAtPoint(state.t, state.q, np.zeros_like(state.q))
    given = np.where(free[..., None], 0.0, family.dq)  # of positions of supports
    stiffness = motions.pattern.matrix(motions.stiffness)
    rhs = -(stiffness @ given.reshape(-1, len(family))).reshape(given.shape)
    for j, changed in enumerate(family.changed):
        if changed:
            rhs[..., j] -= family.slope_of_forces(j, forces)
    rhs[~free] = 0.0
    solved = Solvers(system).solve(motions.shifted(motions.stiffness, 0.0), rhs, state.q, False)
    return state, np.where(free[..., None], solved, given)


def _moved_frames(family: Family, state: State) -> Array:
    """Return the derivatives [n, dim, k] of an equilibrium with frames: of a step without inertia that leads to it."""
    start, still = family.state, np.zeros_like(state.q)
    step = Step(state.t, 0.0, start.q, still, still, still, state.q, still)
    linear = FramedLinearStep(family.system, FramedSolvers(family.system), _BALANCE, step, family.deltas)
    none = np.zeros_like(family.dq)
    return linear.forward(Variation(family.dq, none, none, none), changes(family, linear.forces, still)).q


def _change_of_matrices(family: Family, j: int, state: State, dq: Array, shapes: Array) -> tuple[Array, Array]:
    """Return Uᵀ ∂K/∂p U and Uᵀ ∂M/∂p U by parameter j for shapes U [m, n, dim]."""
    U = shapes.reshape(len(shapes), -1)
    of_stiffness, of_mass = np.zeros((2, len(U), len(U)))
    for weight, system, moved in _neighbours(family, j, state, dq):
        of_stiffness += weight * (U @ (_stiffness(system, moved) @ U.T))
        of_mass += weight * np.einsum("mnd,lnd->ml", shapes, np.array([system.apply_mass(u) for u in shapes]))
    return of_stiffness, of_mass


def _neighbours(family: Family, j: int, state: State, dq: Array) -> Iterator[tuple[float, System, State]]:
    """Yield neighbours by parameter j with their weights, and where they are when the state changes with it."""
    for (at, _), (weight, system, _) in zip(WEIGHTS, family.neighbours[j], strict=True):
        yield weight, system, replace(state, q=state.q + at * family.deltas[j] * dq[..., j])


class _FramedModes:
    """Shapes Z of natural modes with frames, in their coordinates, and the multipliers of joints.

    K Z − M Z Ω² + Gᵀ Λ = 0 and G Z = 0, so that ∂ω² = zᵀ (∂K − ω² ∂M) z + 2 λ·∂G z.
    """

    def __init__(self, motions: SmallMotions, shapes: Array, squares: Array):
        equations = FramedMotions(motions).equations
        basis, U = equations.basis, shapes.reshape(len(shapes), -1).T
        self._Z = Z = np.asarray(splu(sp.csc_array(basis.T @ basis)).solve(basis.T @ U))
        left = equations.stiffness @ Z - (equations.mass @ Z) * squares
        G = equations.conditions.toarray()
        self._multipliers = -np.linalg.lstsq(G.T, left, rcond=_DEPENDENT)[0] if len(G) else np.zeros((0, Z.shape[1]))

    def change(self, family: Family, j: int, state: State, dq: Array, shapes: Array) -> tuple[Array, Array]:
        """Return the same as `_change_of_matrices`."""
        Z = self._Z
        of_stiffness, of_mass = np.zeros((2, len(shapes), len(shapes)))
        for weight, system, moved in _neighbours(family, j, state, dq):
            equations = FramedMotions(SmallMotions(system, moved)).equations
            of_joints = self._multipliers.T @ (equations.conditions @ Z)
            of_stiffness += weight * (Z.T @ (equations.stiffness @ Z) + of_joints + of_joints.T)
            of_mass += weight * (Z.T @ (equations.mass @ Z))
        return of_stiffness, of_mass


def _stiffness(system: System, state: State) -> sp.bsr_array:
    motions = SmallMotions(system, state)
    return motions.pattern.matrix(motions.symmetric_stiffness)


def _groups(frequencies: Array) -> list[list[int]]:
    """Return the numbers of frequencies in groups of equal ones."""
    groups: list[list[int]] = []
    size = float(np.abs(frequencies).max())
    for k, f in enumerate(frequencies):
        if groups and abs(f - frequencies[groups[-1][-1]]) <= _EQUAL * size:
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups
