"""Newton's method for the steps of small systems with frames and joints, all of it compiled.

It is that of `symplex.time.solvers.compiled_newton` for the displacements and rotations of frames and the multipliers
of joints (`symplex.time.solvers.nodal_coordinates`, `joint_border`), which has the equations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import addressed_formula, uncounted_formula as formula, uncounted_inlined as inlined
from symplex.fem.compiled.records import (
    Counts,
    Indices,
    Mask,
    Matrices,
    Nodes,
    Numbers,
    Places,
    Record,
    Rows,
    Truths,
)
from symplex.fem.structures.frames import make_rigid, write_rigid_forces
from symplex.fem.structures.joint_loops import (
    AlongRooms,
    Conditions,
    add_joint_forces,
    add_joint_stiffness,
    factorise_along,
    keep_along,
    write_conditions,
)
from symplex.fem.system import System
from symplex.time.solvers.compiled_newton import (
    FORCES,
    INCREMENT,
    LOAD,
    MOST_PRODUCTS,
    RESIDUAL,
    TRIAL,
    TRIAL_FORCES,
    TRIAL_RESIDUAL,
    CompiledNewton,
    CompiledSystem,
    accept_trial,
    compiled_system,
    correct,
    free_part,
    next_is_shorter,
    put,
    set_blocks,
    set_forces,
    small_factors,
)
from symplex.time.solvers.joint_border import DELTA, BorderTables, write_border
from symplex.time.solvers.kept_factors import KeptFactors, factorise
from symplex.time.solvers.newton import DESCENT, EPS, FLOOR, FOUND, HALVINGS, LEAPS, newtons_method
from symplex.time.solvers.nodal_coordinates import NodalCoordinates, add_matrix, write_increment, write_resultants
from symplex.time.solvers.step_equations import residual, tangent_in_space

# Vectors [n, 3] of particles beyond those of `compiled_newton`: the positions where forces act, and at the end of the
# increment, and the part of the equations that depends on it.
_MIDDLE, _END, _INNER = range(LOAD + 1, LOAD + 4)
# Vectors of coordinates beyond the first ones of `compiled_newton`: the constant part of their equations, and what
# round-off is compared with.
_CONSTANT, _PLACES = 8, 9


class _Framed(Record):
    """What iterations for frames read and write to.

    Of frames: particles, the particles of none, what moves with what, and what is held; of coordinates: masses, the
    pattern, places of blocks of particles, vectors [10, nodes, 3], the matrix and rooms for it; of conditions of
    joints, see `Conditions` and `JointBorder`, and of those whose motion is given; works [moving] in J are added up.
    """

    frames: Nodes
    free: Indices
    of_node: Nodes
    is_rod: Truths
    held: Mask
    held_rotations: Mask
    mass: Numbers
    mean_mass: Numbers
    mass_values: Numbers
    fixed: Mask
    indptr: Indices
    indices: Indices
    places: Nodes
    vectors: Matrices
    blocks: Matrices
    arms: Matrices
    columns: Indices
    own: Indices
    rooms: Matrices
    nodes: Nodes
    left: Rows
    right: Rows
    left_constant: Rows
    right_constant: Rows
    totals: Rows
    offset: Numbers
    right_at_end: Rows
    right_constant_at_end: Rows
    offset_at_end: Numbers
    driven: Indices
    moving: Indices
    driven_weights: Matrices
    driven_constants: Matrices
    works: Numbers
    joint: Counts
    slots: Places
    condition: Counts
    side: Counts
    of: Counts
    rotation: Counts
    above: Nodes
    below: Nodes
    node: Counts
    axis: Counts
    diagonal: Counts
    scale: Numbers
    scaled: Numbers
    multipliers: Numbers
    values: Numbers
    gradients: Matrices
    gradients_at_end: Matrices
    acting: Matrices
    seen: Matrices
    order: Counts
    along: Rows
    of_one: Rows


class _FramedSystem(CompiledSystem):
    """A system with frames."""

    frames: _Framed  # pyright: ignore[reportIncompatibleVariableOverride]


def framed_newton(system: System, by_ends: bool) -> CompiledNewton | None:
    """Return what compiled iterations take of a system with frames, if it is for them; see `compiled_newton`."""
    assert system.frames is not None, "it is for systems with frames"
    if len(system.pattern.indices) > 4 * MOST_PRODUCTS:  # of which coordinates have a fourth at least
        return None
    found = compiled_system(system, by_ends)
    if found is None:
        return None
    coordinates = NodalCoordinates(system, system.frames, with_joints=True)
    own, border = coordinates.system, coordinates.border
    pattern, (_, places) = own.pattern, own.couplings
    factors = small_factors(pattern, None if border is None else coordinates.n_nodes)
    if factors is None:
        return None
    arms, columns, of_rotations, rooms = coordinates.rotations()
    n, mass = len(own.fixed), np.array(own.mass, float)
    record = _Framed(
        frames=coordinates.frames,
        free=coordinates.free,
        of_node=coordinates.of_node,
        is_rod=system.frames.is_rod,
        held=system.frames.held,
        held_rotations=coordinates.held,
        mass=mass,
        mean_mass=np.array([mass.mean()]),
        mass_values=np.zeros(len(pattern.indices)),
        fixed=np.array(own.fixed),
        indptr=pattern.indptr.copy(),
        indices=pattern.indices.copy(),
        places=places,
        vectors=np.zeros((_PLACES + 1, n, 3)),
        blocks=pattern.zeros(3),
        arms=arms,
        columns=columns,
        own=of_rotations,
        rooms=rooms,
        **(_no_joints() if border is None else border.tables()),
    )
    small, loads = found
    vectors, blocks = np.zeros((_INNER + 1, system.n_nodes, 3)), system.pattern.zeros(3)
    return CompiledNewton(_FramedSystem(**small.as_dict(), frames=record), factors, vectors, blocks, loads)


def _no_joints() -> dict[str, NDArray[Any]]:
    """Return the tables of a system without joints."""
    known = {name: (kind, dtype) for name, kind, dtype in _Framed._fields}
    names = ["nodes", *list(known)[list(known).index("rooms") + 1 :]]
    return {name: np.zeros((0,) * known[name][0].ndim, known[name][1]) for name in names}


class _Step(NamedTuple):
    """The equations of a step; with the names of those of `compiled_newton`, of which it takes parts of the method."""

    mass: Array
    system: CompiledSystem
    frames: Any
    factors: KeptFactors
    scheme: Any
    at: float
    load_factors: Array
    momentum: Array
    q: Array
    particles: Array
    vectors: Array
    blocks: Array
    counts: NDArray[np.int64]
    by_kept: bool
    kept: Array


@formula
def _acting(r):
    """Return the conditions of joints that act on the way."""
    return Conditions(r.nodes, r.left, r.right, r.left_constant, r.right_constant, r.totals, r.offset)


@formula
def _at_end(r):
    """Return those that hold at the end of the increment."""
    constants = r.left_constant, r.right_constant_at_end
    return Conditions(r.nodes, r.left, r.right_at_end, *constants, r.totals, r.offset_at_end)


@formula
def _take_given(r, numbers, first):
    """Be the conditions of a step, given numbers of what is given (`Joints.given_at`) from a place on."""
    for d in range(len(r.driven)):
        row, place = r.driven[d], first + 6 * d
        for a in range(8):
            c, s = r.driven_weights[0, d, a], r.driven_weights[1, d, a]
            r.right[row, a] = numbers[place] * c + numbers[place + 1] * s
            r.right_at_end[row, a] = numbers[place + 3] * c + numbers[place + 4] * s
        for i in range(3):
            c, s = r.driven_constants[0, d, i], r.driven_constants[1, d, i]
            r.right_constant[row, i] = numbers[place] * c + numbers[place + 1] * s
            r.right_constant_at_end[row, i] = numbers[place + 3] * c + numbers[place + 4] * s
        r.offset[row], r.offset_at_end[row] = numbers[place + 2], numbers[place + 5]


@formula
def _begin(r, system, scheme, q):
    """Set what round-off is compared with, and the scale of multipliers."""
    places = r.vectors[_PLACES]
    for f in range(len(r.frames)):
        nodes = r.frames[f]
        largest, arm = 0.0, 0.0
        for i in range(3):
            mean = 0.25 * (q[nodes[0], i] + q[nodes[1], i] + q[nodes[2], i] + q[nodes[3], i])
            for a in range(4):
                largest, arm = max(largest, abs(q[nodes[a], i])), max(arm, abs(q[nodes[a], i] - mean))
        for i in range(3):
            places[2 * f, i], places[2 * f + 1, i] = largest, largest / arm
    for k in range(len(r.free)):
        for i in range(3):
            places[2 * len(r.frames) + k, i] = q[r.free[k], i]
    if len(r.nodes):
        write_conditions(_acting(r), q, r.values, r.gradients)
    for c in range(len(r.nodes)):
        inverse = 0.0
        for a in range(8):
            for i in range(3):
                inverse += r.gradients[c, a, i] ** 2 / system.mass[r.nodes[c, a]]
        r.scale[c] = np.sqrt(1.0 / inverse) * scheme.inertia / scheme.impulse


@formula
def _evaluate(p):
    """Set the forces and the residual of the trial increment; return the norm of the residual."""
    r, system, scheme, particles, z = p.frames, p.system, p.scheme, p.particles, p.vectors
    write_increment(p.q, z[TRIAL], r.frames, r.free, particles[TRIAL])
    if not set_forces(system, scheme, p.load_factors, p.q, particles):
        return np.inf
    n, joints = p.q.shape[0], len(r.nodes)
    for i in range(n):
        for k in range(3):
            particles[_MIDDLE, i, k] = p.q[i, k] + p.at * particles[TRIAL, i, k]
            particles[_END, i, k] = p.q[i, k] + particles[TRIAL, i, k]
    if joints:
        for c in range(joints):
            r.multipliers[c] = z[TRIAL, r.node[c], r.axis[c]] * r.scale[c]
        write_conditions(_acting(r), particles[_MIDDLE], r.values, r.gradients)
        add_joint_forces(r.nodes, r.gradients, r.multipliers, particles[TRIAL_FORCES])
        write_conditions(_at_end(r), particles[_END], r.values, r.gradients_at_end)
    for i in range(n):
        for k in range(3):
            inner = scheme.inertia * system.mass[i] * particles[TRIAL, i, k]
            inner += scheme.impulse * particles[TRIAL_FORCES, i, k]
            particles[_INNER, i, k] = inner
            particles[TRIAL_RESIDUAL, i, k] = inner - p.momentum[i, k]
    forces, constant = z[TRIAL_FORCES], z[_CONSTANT]
    write_resultants(particles[_MIDDLE], particles[_INNER], r.frames, r.free, forces)
    write_resultants(particles[_MIDDLE], p.momentum, r.frames, r.free, constant)
    for c in range(joints):
        forces[r.node[c], r.axis[c]] = scheme.impulse * r.scale[c] * r.values[c]
    return np.sqrt(residual(0.0, r.mass, z[TRIAL], 1.0, forces, constant, r.fixed, r.mass, z[TRIAL_RESIDUAL]))


@formula
def _linearise(p):
    """Factorise the tangent matrix; return the floor of the residual's norm, −1 if it has no factors.

    It is that of the increment that was evaluated last.
    """
    r, system, scheme, particles, z, blocks = p.frames, p.system, p.scheme, p.particles, p.vectors, p.blocks
    set_blocks(system, scheme, p.load_factors, p.q, particles, blocks)
    if len(r.nodes):
        add_joint_stiffness(_acting(r), r.joint, p.at, r.multipliers, r.slots, blocks)
    for s in range(blocks.shape[0]):
        for i in range(3):
            for k in range(3):
                blocks[s, i, k] *= scheme.impulse
            blocks[s, i, i] += scheme.inertia * system.mass_values[s]
    matrix = r.blocks
    for s in range(matrix.shape[0]):
        for i in range(3):
            for k in range(3):
                matrix[s, i, k] = 0.0
    of_particles = system.indptr, system.indices, r.places, r.of_node, r.frames, r.held_rotations
    ends = particles[_MIDDLE], particles[_END]
    of_rotations = r.arms, r.columns, r.own, r.rooms
    add_matrix(blocks, *of_particles, *ends, z[INCREMENT], particles[RESIDUAL], p.at, *of_rotations, matrix)
    if len(r.nodes):
        _add_border(r, scheme, z, particles, matrix)
    largest = 0.0
    for s in range(matrix.shape[0]):
        for i in range(3):
            for k in range(3):
                largest = max(largest, abs(matrix[s, i, k]))
    held = largest / r.mean_mass[0]
    equations = 1.0, z[FORCES], z[_CONSTANT], z[INCREMENT], z[_PLACES], r.mass, r.fixed
    rows = r.indptr, r.indices, matrix, 0, len(r.mass)
    squared = tangent_in_space(0.0, held, r.mass_values, *equations, *rows)
    p.counts[1] += 1
    if not np.isfinite(squared) or not factorise(p.factors, matrix):
        return -1.0
    return FLOOR * EPS * np.sqrt(squared)


@formula
def _add_border(r, scheme, z, particles, matrix):
    """Write the blocks of multipliers, and how large these are for round-off."""
    of_rows, places = (r.nodes, r.condition, r.side, r.rotation, r.axis), (r.above, r.below, r.diagonal)
    gradients = particles[_MIDDLE], particles[_END], r.gradients, r.gradients_at_end
    for c in range(len(r.nodes)):
        r.scaled[c] = scheme.impulse * r.scale[c]
        z[_PLACES, r.node[c], r.axis[c]] = abs(z[INCREMENT, r.node[c], r.axis[c]])
    tables = BorderTables(*of_rows, *places, r.acting, r.seen)
    write_border(tables, r.scaled, DELTA * scheme.inertia, z[INCREMENT], *gradients, matrix)


@inlined
def _accept(p, norm):
    """Go to the trial increment, with its forces and its residual."""
    accept_trial(p.vectors)
    accept_trial(p.particles)


_find = inlined(newtons_method(_evaluate, _accept, _linearise, correct, put, free_part, next_is_shorter))


@addressed_formula
def find_framed_increment(
    system, factors, scheme, load_factors, momentum, q, start, vectors, blocks, limit, counts, by_kept, kept
):
    """Find the increment from q [n, 3] as `find_increment` does, from none and by new factors; return whether it is.

    After the factors of loads follow the numbers of what is given as a function of time (`Joints.given_at`).
    """
    r = system.frames
    z = r.vectors
    for i in range(z.shape[1]):
        for k in range(3):
            z[TRIAL, i, k] = 0.0
    _take_given(r, load_factors, len(system.loads.forces.rows))
    _begin(r, system, scheme, q)
    at = 0.5 if scheme.discrete else scheme.alpha
    of_step = factors, scheme, at, load_factors, momentum, q
    p = _Step(r.mass, system, r, *of_step, vectors, z, blocks, counts, False, kept)
    norm = _evaluate(p)
    if not np.isfinite(norm):
        return False
    _accept(p, norm)
    end, corrections, _, _ = _find(p, norm, limit, 0.0, DESCENT, HALVINGS, LEAPS)
    if end != FOUND:
        return False
    counts[0] += corrections
    _evaluate_again(p)
    _add_forces_within(p)
    for d in range(len(r.driven)):  # what keeps the motion that is given does the work −λ·G Δq
        c, product = r.driven[d], 0.0
        for a in range(8):
            for i in range(3):
                product += r.gradients[c, a, i] * vectors[INCREMENT, r.nodes[c, a], i]
        r.works[r.moving[d]] -= r.multipliers[c] * product
    return True


@addressed_formula
def keep_rigid(system, q, v, own, vectors):
    """Make velocities and accelerations that a method carries, both [n, 3], those of frames with their joints."""
    r = system.frames
    rooms = vectors[_MIDDLE], vectors[_END], vectors[_INNER]
    of_frames = r.frames, r.is_rod, r.held, system.mass, system.fixed
    make_rigid(q, v, own, *of_frames, *rooms)
    if len(r.nodes):
        numbers = r.values, r.scaled, r.scale, r.order, r.along, r.of_one
        along = AlongRooms(r.gradients_at_end, r.gradients, *numbers)
        of, ends = _at_end(r), (r.condition, r.side)
        rank = factorise_along(of, *ends, r.of, q, *of_frames, along, rooms[0], rooms[1])
        keep_along(of, *ends, v, False, v, along, rank)
        make_rigid(q, v, own, *of_frames, *rooms)  # accelerations are those of the rotation that is left
        keep_along(of, *ends, v, True, own, along, rank)


@formula
def _evaluate_again(p):
    """Set all that belongs to the increment, unless it is the one that was evaluated last."""
    z, differs = p.vectors, False
    for i in range(z.shape[1]):
        for k in range(3):
            differs = differs or z[TRIAL, i, k] != z[INCREMENT, i, k]
            z[TRIAL, i, k] = z[INCREMENT, i, k]
    if differs:
        _accept(p, _evaluate(p))


@formula
def _add_forces_within(p):
    """Add the forces within frames to those of the increment, less what is left of their equations."""
    r, particles, impulse = p.frames, p.particles, p.scheme.impulse
    at, rigid = particles[_MIDDLE], particles[_INNER]
    write_rigid_forces(particles[RESIDUAL], at, r.frames, r.is_rod, r.held, p.system.mass, rigid)
    for f in range(len(r.frames)):
        for a in range(2 if r.is_rod[f] else 4):
            node = r.frames[f, a]
            for k in range(3):
                if not p.system.fixed[node, k]:
                    particles[FORCES, node, k] += (rigid[node, k] - particles[RESIDUAL, node, k]) / impulse
