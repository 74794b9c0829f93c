"""The response to harmonic excitation: what swings, how far and how late, by frequency.

With forces Re(f e^{iωt}) and supports that move by Re(u_c e^{iωt}), the displacements of all others are Re(u e^{iωt}),

    D(ω) u = f − D_c(ω) u_c,    D(ω) = (1 + iη) K − ω² M + iω C,

with columns D_c of the coordinates of the supports. The direct method solves these equations for each frequency; modal
superposition takes them to the lowest natural modes, where they are one number each, and adds what the others do as if
they were static.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, NoEquilibrium, StepFailed
from symplex.fem.assembly.nodes import Nodes, node_indices, require_nodes
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.modes.framed import FramedMotions, equations_of
from symplex.time.modes.linear_equations import LinearEquations
from symplex.time.modes.natural import Modes
from symplex.time.modes.quadratic import ComplexArray
from symplex.time.modes.small_motions import SmallMotions
from symplex.time.solvers.linear import linear_solver

_DIRECT = 15_000  # free coordinates up to which a static solution takes sparse factors
_TOLERANCE = 1e-10
_RIGID = 1e-9  # of motions of supports, by which they may distort frames
_ENDLESS = 1e14  # how much larger than all else a response may be: beyond, it is a resonance without damping


@final
@dataclass(frozen=True)
class FrequencyResponse:
    """Displacements Re(u e^{iωt}) by frequency.

    Attributes
    ----------
    frequencies : float64 [m]
        In Hz.
    nodes : int32 [p]
    displacements : complex128 [m, p, dim]
        In m; of what is shaken by its supports, in space and not relative to these.
    """

    frequencies: Array
    nodes: np.ndarray
    displacements: ComplexArray

    @property
    def velocities(self) -> ComplexArray:
        """The velocities iω u [m, p, dim] in m/s."""
        return self._factor(1) * self.displacements

    @property
    def accelerations(self) -> ComplexArray:
        """The accelerations −ω² u [m, p, dim] in m/s²."""
        return self._factor(2) * self.displacements

    def _factor(self, power: int) -> ComplexArray:
        return ((2.0j * math.pi * self.frequencies) ** power)[:, None, None]

    def __repr__(self) -> str:
        low, high = (self.frequencies.min(), self.frequencies.max()) if len(self.frequencies) else (0.0, 0.0)
        return f"FrequencyResponse({len(self.frequencies)} at {low:g} to {high:g} Hz, {len(self.nodes)} nodes)"


@checked
def frequency_response(
    system: System,
    state: State,
    frequencies: ArrayLike,
    *,
    forces: ComplexArray | None = None,
    base: ComplexArray | None = None,
    base_acceleration: ComplexArray | None = None,
    modes: Modes | None = None,
    ratio: ArrayLike = 0.0,
    loss_factor: float = 0.0,
    nodes: Nodes | None = None,
) -> FrequencyResponse:
    """Return the steady response of a system about a state to harmonic excitation.

    Parameters
    ----------
    system : System
        With its damping: C is −∂f/∂v of its loads.
    state : State
        An equilibrium.
    frequencies : float [m]
        In Hz, not negative.
    forces : complex [n, dim], optional
        f in N.
    base : complex [n, dim], optional
        u_c in m, of held coordinates; zero elsewhere.
    base_acceleration : complex [n, dim], optional
        −ω² u_c in m/s², instead. Frequencies must then be positive.
    modes : Modes, optional
        By superposition of these; without, directly, with a factorisation for each frequency.
    ratio : float or float [k], default 0
        Of superposition: a ratio of critical damping of all modes or of each, next to that by C, of which the diagonal
        counts.
    loss_factor : float, default 0
        η of the whole stiffness (hysteretic damping).
    nodes : int [p], optional
        Whose response is kept; default: of all.

    Raises
    ------
    InvalidSystem
        If sizes do not match, a number is out of range, or something is asked of a method that it does not have.
    NoEquilibrium
        If a frequency is one of resonance without damping, or there is no static response to superpose upon.
    """
    motions = SmallMotions(system, state)
    frequencies = np.atleast_1d(np.array(frequencies, dtype=float))
    if frequencies.ndim != 1 or not ((frequencies >= 0.0) & (frequencies < np.inf)).all():
        raise InvalidSystem("frequency_response: frequencies must be a list of finite numbers in Hz, not negative.")
    if not 0.0 <= loss_factor < np.inf:
        raise InvalidSystem(f"frequency_response: the loss factor must not be negative; it is {loss_factor}.")
    if base is not None and base_acceleration is not None:
        raise InvalidSystem("frequency_response: the base has a displacement or an acceleration, not both.")
    f = _excitation(system, "forces", forces)
    u_c = _excitation(system, "base", base if base is not None else base_acceleration)
    if not (f.any() or u_c.any()):
        raise InvalidSystem("frequency_response: nothing excites it; give forces, or a motion of the base.")
    if u_c[~system.fixed].any():
        node = int(np.argwhere((u_c != 0.0) & ~system.fixed)[0, 0])
        raise InvalidSystem(f"frequency_response: the base moves node {node}, which no support holds.")
    if system.frames and u_c.any():
        _require_rigid(system, state.q, u_c)
    ratio = np.asarray(ratio, dtype=float)
    if not ((ratio >= 0.0) & (ratio < np.inf)).all():
        raise InvalidSystem("frequency_response: ratios of damping must not be negative.")
    kept = np.arange(system.n_nodes, dtype=np.int32) if nodes is None else node_indices("frequency_response", nodes)
    require_nodes("frequency_response", kept[:, None], system.n_nodes)
    omegas = 2.0 * math.pi * frequencies
    if base_acceleration is not None and not omegas.all():
        raise InvalidSystem("frequency_response: a base that is accelerated at 0 Hz goes away; begin above 0 Hz.")
    by = -1.0 / omegas**2 if base_acceleration is not None else np.ones(len(omegas))
    if modes is None:
        if ratio.any():
            raise InvalidSystem(
                "frequency_response: ratios are of modes; give modes, or damp the system by loads or a loss factor."
            )
        found = _directly(motions, omegas, f, u_c, by, loss_factor, kept)
    else:
        parts = superposed(motions, omegas, f, u_c, by, loss_factor, modes, ratio)
        found = np.tensordot(parts.eta, modes.shapes[:, kept], 1)
        found += parts.by[:, None, None] * parts.of_base[kept] + parts.rest[kept]
    if not np.isfinite(found).all():
        raise NoEquilibrium("the response is not finite: a frequency is one of resonance, and nothing damps it.")
    return FrequencyResponse(frequencies, kept, found)


def _excitation(system: System, name: str, given: ComplexArray | None) -> ComplexArray:
    """Return complex amplitudes [n, dim]."""
    if given is None:
        return np.zeros(system.fixed.shape, complex)
    values = np.array(given, dtype=complex)
    if values.shape != system.fixed.shape or not np.isfinite(values).all():
        raise InvalidSystem(
            f"frequency_response: {name} must be finite, of the shape {system.fixed.shape}; it is {values.shape}."
        )
    return values


def _require_rigid(system: System, q: Array, base: ComplexArray) -> None:
    """Refuse displacements [n, 3] of supports that are no small rigid motions of frames."""
    frames = system.frames
    assert frames is not None, "it is for systems with frames"
    away = np.zeros(base.shape)
    for part in (np.array(base.real, float), np.array(base.imag, float)):
        away += np.abs(part - frames.rigid_velocities(q, part))
    if not away.max() <= _RIGID * np.abs(base).max():
        node = int(np.argmax(away.max(axis=1)))
        raise InvalidSystem(
            f"frequency_response: the base moves the frame of particle {node} other than as a rigid body, by "
            f"{away.max():.3g}. Move all of its particles alike, or rotate them about an axis."
        )


def _directly(
    motions: SmallMotions,
    omegas: Array,
    f: ComplexArray,
    u_c: ComplexArray,
    by: Array,
    loss_factor: float,
    kept: np.ndarray,
) -> ComplexArray:
    """Return the displacements [m, p, dim] by a factorisation for each frequency."""
    shape, equations = motions.system.fixed.shape, equations_of(motions)
    K, M, C = equations.stiffness * (1.0 + 1j * loss_factor), equations.mass, equations.damping
    of_base = _of_base(motions, equations, u_c, loss_factor)
    opened = -(equations.of_nodes[1] @ u_c.ravel())
    driven = equations.basis.T @ f.ravel()
    found = np.zeros((len(omegas), len(kept), shape[1]), complex)
    for k, (w, factor) in enumerate(zip(omegas, by, strict=True)):
        D = K - w**2 * M if C is None else K - w**2 * M + 1j * w * C
        rhs = driven - factor * (of_base[0] - w**2 * of_base[1] + 1j * w * of_base[2])
        try:
            y = equations.solver(sp.csr_array(D))(rhs, factor * opened)
        except RuntimeError:  # "Factor is exactly singular"
            raise _resonance(w) from None
        found[k] = (factor * u_c.ravel() + equations.basis @ y).reshape(shape)[kept]
    return found


def _of_base(
    motions: SmallMotions, equations: LinearEquations, u_c: ComplexArray, loss_factor: float
) -> list[ComplexArray]:
    """Return Bᵀ(K, M, C) u_c [k]: what displacements, accelerations, velocities of supports do to free coordinates."""
    base = u_c.ravel()
    parts = [(1.0 + 1j * loss_factor) * (equations.of_nodes[0] @ base), motions.mass @ base]
    parts.append(0.0 * base if motions.damping is None else motions.matrix(motions.damping) @ base)
    return [np.asarray(equations.basis.T @ part, complex) for part in parts]


class Superposition(NamedTuple):
    """A response by modes, u(ω) = Σ_j η_j(ω) u_j + by(ω) u_q + u_r.

    Attributes
    ----------
    eta : complex128 [m, k]
    by : float64 [m]
        What multiplies the displacements of supports.
    of_base : complex128 [n, dim]
        u_q, the static answer to these, theirs included.
    rest : complex128 [n, dim]
        u_r, what other modes do under the forces, as if they were static.
    """

    eta: ComplexArray
    by: Array
    of_base: ComplexArray
    rest: ComplexArray


def superposed(
    motions: SmallMotions,
    omegas: Array,
    f: ComplexArray,
    u_c: ComplexArray,
    by: Array,
    loss_factor: float,
    modes: Modes,
    ratio: Array,
) -> Superposition:
    """Return the response by superposition.

    u = u_q + Σ_j u_j η_j with the static answer u_q of what is free to supports that move, and each η_j driven by what
    u_q leaves of the equations.
    """
    shape = motions.system.fixed.shape
    if motions.is_gyroscopic:
        raise InvalidSystem(
            "frequency_response: natural modes do not take Coriolis forces apart; leave modes out, for the direct "
            "method."
        )
    if modes.shapes.shape[1:] != shape:
        raise InvalidSystem(f"frequency_response: the modes are of {modes.shapes.shape[1]} nodes, not {shape[0]}.")
    if ratio.shape not in ((), (len(modes.frequencies),)):
        raise InvalidSystem(f"frequency_response: {ratio.size} ratios are given of {len(modes.frequencies)} modes.")
    shapes = modes.shapes.reshape(len(modes.frequencies), -1)
    squares = modes.angular * np.abs(modes.angular)
    C = None if motions.damping is None else motions.matrix(motions.damping)
    damping = 2.0 * ratio * np.sqrt(np.abs(squares))
    if C is not None:
        damping = damping + np.einsum("ki,ki->k", shapes, (C @ shapes.T).T)
    is_held = bool((squares > 0.0).all())
    static, rest = np.zeros(shape, complex), np.zeros(shape, complex)
    if u_c.any():
        static = u_c + static_response(motions, np.zeros_like(u_c), u_c)
    if f.any() and is_held:
        pushed = shapes @ f.ravel()
        rest = (static_response(motions, f, np.zeros_like(f)) - ((pushed / squares) @ shapes).reshape(shape)) / (
            1.0 + 1j * loss_factor
        )
    forced = shapes @ f.ravel()
    inertia, drag = shapes @ (motions.mass @ static.ravel()), 0.0 if C is None else shapes @ (C @ static.ravel())
    found = np.zeros((len(omegas), len(shapes)), complex)
    for k, (w, factor) in enumerate(zip(omegas, by, strict=True)):
        below = squares * (1.0 + 1j * loss_factor) - w**2 + 1j * w * damping
        if not (np.abs(below) * _ENDLESS > np.maximum(np.abs(squares), w**2)).all():
            raise _resonance(w)
        found[k] = (forced + factor * (w**2 * inertia - 1j * w * drag)) / below
    return Superposition(found, by, static, rest)


def static_response(motions: SmallMotions, forces: ComplexArray, base: ComplexArray) -> ComplexArray:
    """Return the displacements [n, dim] of what is free under static forces and displacements of supports."""
    system = motions.system
    failed = "superposition of modes needs a static response, and there is none: {}. Take the direct method."
    if system.frames:
        equations = FramedMotions(motions).equations
        stiffness, conditions = equations.of_nodes
        f, u_c = (x.ravel().view(float).reshape(-1, 2) for x in (forces, base))  # real and imaginary parts
        try:
            y = equations.solver(equations.stiffness)(equations.basis.T @ (f - stiffness @ u_c), -(conditions @ u_c))
        except RuntimeError as error:
            raise NoEquilibrium(failed.format(str(error).rstrip("."))) from error
        return equations.nodal(y[:, 0] + 1j * y[:, 1]).reshape(forces.shape)
    forces = forces - (motions.matrix(motions.stiffness) @ base.ravel()).reshape(base.shape)
    kind = "sparse" if len(motions.free) <= _DIRECT else "auto"
    solver = linear_solver(kind, motions.pattern, system.dim)
    parts = [np.where(system.fixed, 0.0, part) for part in (forces.real, forces.imag)]
    try:
        solver.update(motions.shifted(motions.symmetric_stiffness, 0.0), True, motions.q)
        real, imaginary = (solver.solve(part, _TOLERANCE) if part.any() else part for part in parts)
    except StepFailed as error:
        raise NoEquilibrium(failed.format(str(error).rstrip("."))) from error
    return np.where(system.fixed, 0.0, real + 1j * imaginary)


def _resonance(omega: float) -> NoEquilibrium:
    return NoEquilibrium(
        f"the response at {omega / (2.0 * math.pi):.9g} Hz is not bounded: it is a natural frequency, and nothing "
        "damps it. Give damping, or other frequencies."
    )
