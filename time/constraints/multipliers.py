"""The constraints of a motion, assembled: their gradients G, and the matrix G M⁻¹ Gᵀ that multipliers solve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import InfeasibleStart, InvalidSystem, RedundantConstraints, StepFailed
from symplex.fem.assembly.named import by_name
from symplex.fem.assembly.nodes import require_nodes
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.callbacks import Callback
from symplex.fem.form_table import condition_tables
from symplex.fem.measures.constraints import Constraint
from symplex.fem.structures.joints import Joint
from symplex.fem.system import State, System
from symplex.time.constraints import multiplier_loops as loops
from symplex.time.constraints.multiplier_loops import Conditions
from symplex.time.constraints.multiplier_matrix import BandMatrix, SparseMatrix

_STRAIGHT = 1e-6  # part of a gradient that changes over all positions by less: that of differences errs by some 1e-9
_FEASIBLE = 1e-8  # how far from the constraints a start may be, relative to the positions
_BAND = 64  # half the bandwidth up to which a banded factorisation is faster than a sparse one
_SHIFT = 4e-15  # of a matrix with ones on the diagonal, to factorise it also where it is singular
_DEPENDENT = (
    1e-12  # least eigenvalue of that matrix below which constraints are redundant; a chain of 10⁵ rods has 1e-10
)
DELTA = 1e-7  # part by which the matrix of joints is larger on its diagonal, so that redundant ones have factors
_NAMED = 6  # constraints in a message, at most


@final
class Multipliers:
    """Conditions g = 0 of a system, one after the other, and the solver for their multipliers.

    Gradients are stored flat, one row for each node of each condition.

    Parameters
    ----------
    system : System
        With lumped masses.
    constraints : mapping of str to Constraint
    required_by : str
        Begins messages.

    Attributes
    ----------
    size : int
        Number of conditions c.
    conditions : Conditions
        As compiled loops take them.
    """

    def __init__(self, system: System, constraints: Mapping[str, Constraint], required_by: str):
        self.system, self.required_by = system, required_by
        advice = "Energies act by themselves, in the system."
        self.constraints = by_name(f"{required_by}: constraints", constraints, Constraint, advice)
        self.inverse_mass = np.where(system.fixed, 0.0, 1.0 / system.lumped_mass(required_by)[:, None])
        self.constraints |= {
            name: constraint.with_time()
            for name, constraint in self.constraints.items()
            if isinstance(constraint, Joint) and constraint.given
        }
        for name, constraint in self.constraints.items():
            nodes = np.asarray(constraint.nodes)
            if nodes.ndim != 2 or not np.issubdtype(nodes.dtype, np.integer):
                raise InvalidSystem(
                    f"{required_by}: the nodes of constraint '{name}' have shape {nodes.shape} and type {nodes.dtype}; "
                    "expected integers, one row for each condition."
                )
            require_nodes(f"constraint '{name}'", constraint.nodes, system.n_nodes)
        sizes = [len(constraint.nodes) for constraint in self.constraints.values()]
        self.size = sum(sizes)
        if self.size == 0:
            raise InvalidSystem(
                f"{required_by} has no constraints. Take Newmark, which is the same method without them."
            )
        ends = np.cumsum(sizes)
        self._parts = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        stencils = [constraint.nodes for constraint in self.constraints.values()]
        self._nodes = np.concatenate([nodes.ravel() for nodes in stencils]).astype(np.int32)
        widths = np.repeat([nodes.shape[1] for nodes in stencils], sizes)
        self._rows = np.repeat(np.arange(self.size, dtype=np.int32), widths)
        flat_ends = np.cumsum([nodes.size for nodes in stencils])
        self._flat = [slice(end - nodes.size, end) for end, nodes in zip(flat_ends, stencils, strict=True)]
        self._timed = {  # joints whose motion is given, with the conditions for it
            name: (constraint, constraint.drives(part.start))
            for (name, constraint), part in zip(self.constraints.items(), self._parts, strict=True)
            if isinstance(constraint, Joint) and constraint.given
        }
        self._t = 0.0
        self._refuse_immovable()
        self._back = Callback(self._called)
        self._matrix, pairs = self._on_pattern()
        self.conditions = self._compiled(*pairs)

    def _on_pattern(self) -> tuple[BandMatrix | SparseMatrix, tuple[IntArray, IntArray]]:
        """Return the matrix, and the pairs of gradients whose products make it."""
        incidence = sp.csr_array((np.ones(len(self._nodes)), self._nodes, np.arange(len(self._nodes) + 1)))
        shared = sp.coo_array(incidence @ incidence.T)
        pairs = shared.row.astype(np.int32), shared.col.astype(np.int32)
        i, j = (self._rows[gradients] for gradients in pairs)
        pattern = sp.csr_array((np.ones(len(i)), (i, j)), shape=(self.size, self.size))
        order = sp.csgraph.reverse_cuthill_mckee(pattern, symmetric_mode=True)
        place = np.argsort(order)
        width = int(np.abs(place[i] - place[j]).max())
        narrow = width <= _BAND
        return BandMatrix(place[i], place[j], order, width) if narrow else SparseMatrix(i, j, self.size), pairs

    def _refuse_immovable(self) -> None:
        moving = np.zeros(self.size, bool)
        np.logical_or.at(moving, self._rows, ~self.system.fixed[self._nodes].all(axis=1))
        if not moving.all():
            where = self.name(int(np.argmin(moving)))
            raise InvalidSystem(
                f"{self.required_by}: {where} has fixed nodes only, so that it can move none; leave it out."
            )

    def name(self, row: int) -> str:
        """Return what a message calls a condition: 'rods' 3 (nodes 3, 4)."""
        for (name, constraint), part in zip(self.constraints.items(), self._parts, strict=True):
            if row < part.stop:
                nodes = constraint.nodes[row - part.start]
                which = f"node{'s' * (len(nodes) > 1)} {', '.join(map(str, nodes))}"
                return f"constraint '{name}' {row - part.start} ({which})"
        raise IndexError(row)

    def by_name(self, values: Array) -> dict[str, Array]:
        """Return values [c] as one array for each constraint."""
        return {name: values[part].copy() for name, part in zip(self.constraints, self._parts, strict=True)}

    def _compiled(self, first: IntArray, second: IntArray) -> Conditions:
        """Return the conditions as compiled loops take them."""
        matrix, found = self._matrix, condition_tables(list(self.constraints.values()), self.system.dim)
        tables = condition_tables([], self.system.dim) if found is None else found
        assert tables is not None, "none is in Python"
        values, slopes = tables
        banded, shift = matrix if isinstance(matrix, BandMatrix) else None, self._shift()
        return Conditions(
            values=values,
            slopes=slopes,
            in_python=found is None,
            is_banded=banded is not None,
            back=self._back.address,
            rows=self._rows,
            nodes=self._nodes,
            first=first,
            second=second,
            slots=matrix.slots,
            inverse_mass=self.inverse_mass,
            band=np.zeros((0, 1)) if banded is None else banded.values,
            entries=matrix.values.ravel(),
            order=self._rows if banded is None else banded.order,
            diagonal=matrix.diagonal[: len(shift)],
            shift=shift,
            at=np.zeros_like(self.inverse_mass),
            later=self.empty_gradients(),
            problem=np.zeros(2, np.int64),
            **{room: np.zeros(self.size) for room in ("floor", "excess", "solution", "work")},
        )

    def _shift(self) -> Array:
        """Return by which part [c] the diagonal is larger: of joints, which may be redundant; none without joints."""
        shift = np.zeros(self.size)
        for constraint, part in zip(self.constraints.values(), self._parts, strict=True):
            if isinstance(constraint, Joint):
                shift[part] = DELTA
        return shift if shift.any() else np.empty(0)

    def _called(self, number: int) -> None:
        """Do what has no compiled form."""
        c = self.conditions
        if number == loops.VALUES:
            self.write_values(c.at, c.excess)
        elif number == loops.GRADIENTS:
            self.write_gradients(c.at, c.later)
        elif number == loops.FACTORS:
            if (row := self._matrix.factorise()) >= 0:
                c.problem[:] = loops.SINGULAR, row
        elif isinstance(self._matrix, SparseMatrix):
            c.solution[...] = self._matrix.solve(c.excess)

    @property
    def failed(self) -> bool:
        """Whether something in Python has raised an exception, which is still to be raised."""
        return self._back.failed

    def raise_problem(self) -> None:
        """Raise what stopped the last loop."""
        self._back.raise_failure()
        kind, row = map(int, self.conditions.problem)
        if kind == loops.VIOLATED:
            raise StepFailed(
                f"the multipliers cannot be found: {self.name(row)} is still violated by "
                f"{self.conditions.excess[row]:.3g}. Try a smaller step."
            )
        if kind == loops.SINGULAR:
            raise StepFailed(
                f"the matrix of the multipliers is singular at {self.name(row)}: its force moves nothing there "
                "that those of others do not. Try a smaller step, or leave out constraints that follow from others."
            )
        raise StepFailed(f"{self.name(row)} turns by more than a right angle in the step. Try a smaller step.")

    # -- values and gradients -----------------------------------------------------------------------------------

    @property
    def depends_on_time(self) -> bool:
        """Whether the motion of a joint is given."""
        return bool(self._timed)

    def take_time(self, t: float) -> None:
        """Let conditions of what is given be those of a time in s."""
        self._t = t
        for joint, _ in self._timed.values():
            joint.take_time(t)

    def drift(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂g/∂t [c], and what d²g/dt² has in addition at velocities v, as conditions depend on time."""
        rates, more = np.zeros(self.size), np.zeros(self.size)
        for joint, drives in self._timed.values():
            nodes = joint.nodes[0]
            for drive in drives:
                rates[drive.row], more[drive.row] = drive.rates(self._t, q[nodes], v[nodes])
        return rates, more

    def works(self, pushes: Sequence[tuple[Array, Array]], dq: Array, h: float) -> list[float]:
        """Return the work in J of what keeps each motion that is given, in a step of h s with the increment Δq.

        Of impulses [c] along gradients, which are pushes at both ends.
        """
        of_rows = np.sum([impulses * self.rates(gradients, dq) for impulses, gradients in pushes], axis=0) / h
        return [float(sum(of_rows[drive.row] for drive in drives)) for _, drives in self._timed.values()]

    def empty_gradients(self) -> Array:
        """Return room for gradients."""
        return np.zeros((len(self._nodes), self.system.dim))

    def write_values(self, q: Array, out: Array) -> None:
        """Write g at the positions q [n, dim] to out [c]."""
        for constraint, part in zip(self.constraints.values(), self._parts, strict=True):
            constraint.write_values(q, out[part])

    def write_gradients(self, q: Array, out: Array) -> None:
        """Write ∇g at the positions q [n, dim] to out, to the bit as compiled loops find them."""
        if not self.conditions.in_python:
            loops.write_gradients_at(self.conditions, np.ascontiguousarray(q), out)
            return
        for constraint, part in zip(self.constraints.values(), self._flat, strict=True):
            constraint.write_gradients(q, out[part])

    def rates(self, gradients: Array, v: Array) -> Array:
        """Return G v [c]."""
        out = np.zeros(self.size)
        loops.add_rates(gradients, self._rows, self._nodes, v, out)
        return out

    def bends(self, q: Array, v: Array) -> Array:
        """Return vᵀ ∇²g v [c]."""
        out = np.empty(self.size)
        for constraint, part in zip(self.constraints.values(), self._parts, strict=True):
            local = v[constraint.nodes].reshape(len(constraint.nodes), -1)
            out[part] = np.einsum("ci,cij,cj->c", local, constraint.hessian(q[constraint.nodes]), local)
        return out

    def add_impulses(self, gradients: Array, impulses: Array, scale: float, out: Array) -> None:
        """Add scale · M⁻¹ Gᵀ impulses to out [n, dim]."""
        loops.push(gradients, self._rows, self._nodes, self.inverse_mass, impulses, scale, out)

    def forces(self, gradients: Array, multipliers: Array) -> Array:
        """Return Gᵀ multipliers [n, dim]."""
        out = np.zeros(self.inverse_mass.shape)
        loops.push(gradients, self._rows, self._nodes, np.ones(out.shape), multipliers, 1.0, out)
        return out

    # -- the matrix ---------------------------------------------------------------------------------------------

    def factorise(self, gradients: Array) -> None:
        """Factorise G M⁻¹ Gᵀ."""
        if not loops.factorise(self.conditions, gradients, gradients):
            self.raise_problem()

    def solve(self, b: Array, gradients: Array) -> Array:
        """Return x [c] with G M⁻¹ Gᵀ x = b, of gradients for which the matrix was factorised last.

        Where conditions are redundant nearly the smallest.
        """
        x = self._solve(b)
        for _ in range(2 if len(self.conditions.shift) else 0):
            moved = np.zeros_like(self.inverse_mass)
            self.add_impulses(gradients, x, 1.0, moved)
            x += self._solve(b - self.rates(gradients, moved))
        return x

    def _solve(self, b: Array) -> Array:
        """Return x [c] with the matrix that was factorised last."""
        self.conditions.excess[...] = b
        if not loops.solve(self.conditions):
            self.raise_problem()
        return self.conditions.solution.copy()

    # -- positions that satisfy the constraints -----------------------------------------------------------------

    def sizes(self, q: Array) -> Array:
        """Return for each condition [c] the size of the terms that g may be a difference of, |∇g|²/|∇²g|.

        For a rod or a sphere it is its length, however near to the origin the positions are.
        """
        gradients, out = self.empty_gradients(), np.zeros(self.size)
        self.write_gradients(q, gradients)
        np.add.at(out, self._rows, np.einsum("ei,ei->e", gradients, gradients))
        for constraint, part in zip(self.constraints.values(), self._parts, strict=True):
            x = q[constraint.nodes]
            bend = np.abs(constraint.hessian(x)).max(axis=(1, 2), initial=0.0)
            if type(constraint).hessian is Constraint.hessian:  # by differences, whose errors are no curvature
                bend[bend * (np.ptp(q) or 1.0) < _STRAIGHT * np.sqrt(out[part])] = 0.0
            out[part] = np.divide(out[part], bend, out=np.zeros(len(bend)), where=bend > 0.0)
        return out

    # -- what a start must be -----------------------------------------------------------------------------------

    def require_independent(self, q: Array) -> None:
        """Check that the gradients at the positions q [n, dim] are linearly independent.

        By inverse iteration with G M⁻¹ Gᵀ, scaled to ones on the diagonal.
        """
        gradients = self.empty_gradients()
        self.write_gradients(q, gradients)
        loops.assemble(self.conditions, gradients, gradients)
        diagonal = self._matrix.values.ravel()[self._matrix.diagonal]
        if len(self.conditions.shift):
            diagonal = diagonal / (1.0 + self.conditions.shift)
        still = np.flatnonzero(~(diagonal > 0.0))
        if len(still):
            raise InvalidSystem(
                f"{self.required_by}: {self.name(int(still[0]))} has no gradient at the start along which its nodes "
                f"can "
                "move; are two of them at the same place, or held by supports?"
            )
        gradients /= np.sqrt(diagonal)[self._rows, None]
        loops.assemble(self.conditions, gradients, gradients)
        self._matrix.values.ravel()[self._matrix.diagonal] += _SHIFT
        x = np.random.default_rng(0).standard_normal(self.size)
        singular = self._matrix.factorise()
        for _ in range(4 if singular < 0 else 0):
            x = self._solve(x / np.linalg.norm(x))
        if singular < 0 and 1.0 / np.linalg.norm(x) > _DEPENDENT:
            return
        involved = np.flatnonzero(np.abs(x) > 0.05 * np.abs(x).max()) if singular < 0 else [singular]
        names = ", ".join(self.name(int(row)) for row in involved[:_NAMED])
        more = f" and {len(involved) - _NAMED} more" if len(involved) > _NAMED else ""
        raise RedundantConstraints(
            f"{self.required_by}: constraints are redundant, so that their forces are not determined: of "
            f"{names}{more}, "
            "one follows from the others, or contradicts them. Leave one out."
        )

    def require_feasible(self, state: State, tangent: float) -> None:
        """Check that a state satisfies the constraints, its velocities to a part ``tangent`` of their size."""
        gradients, values, norms = self.empty_gradients(), np.zeros(self.size), np.zeros(self.size)
        self.take_time(state.t)
        self.write_values(state.q, values)
        self.write_gradients(state.q, gradients)
        np.add.at(norms, self._rows, np.einsum("ei,ei->e", gradients, gradients))
        norms = np.sqrt(norms)
        advice = "Take project(system, constraints, state), or mend it."
        allowed = _FEASIBLE * np.maximum(np.abs(state.q[self._nodes]).max(), self.sizes(state.q) / norms)
        away = np.abs(values) / norms
        worst = int(np.argmax(away - allowed))
        if not away[worst] <= allowed[worst]:
            raise InfeasibleStart(
                f"{self.required_by}: at the start {self.name(worst)} is violated by {values[worst]:.4g}, its nodes "
                f"being {away[worst]:.3g} m from where it holds ({np.sum(away > allowed)} of {self.size} are). {advice}"
            )
        speeds = np.abs(self.rates(gradients, state.v) + self.drift(state.q, state.v)[0]) / norms
        worst = int(np.argmax(speeds))
        fastest = np.abs(state.v[self._nodes]).max()
        if not speeds[worst] <= tangent * fastest:
            part = f", {speeds[worst] / fastest:.2g} of the largest" if fastest else ""
            raise InfeasibleStart(
                f"{self.required_by}: the velocities at the start leave {self.name(worst)} at {speeds[worst]:.3g} "
                f"m/s{part}. {advice}"
            )


@partial(checked, but=("constraints",))
def project(system: System, constraints: Mapping[str, Constraint], state: State) -> State:
    """Return the state with positions moved onto the constraints and velocities along them.

    Positions move along M⁻¹∇g until g = 0 to round-off; then velocities lose M⁻¹Gᵀ(G M⁻¹ Gᵀ)⁻¹ G v, which is the least
    kinetic energy that does it. Both keep the linear momentum of a free system of rods, the second the angular one.

    Parameters
    ----------
    system : System
        With lumped masses.
    constraints : mapping of str to Constraint
    state : State

    Raises
    ------
    InvalidSystem, RedundantConstraints
        If the constraints do not fit the system or depend on each other.
    StepFailed
        If the positions are too far away.
    """
    multipliers = Multipliers(system, constraints, "project")
    multipliers.take_time(state.t)
    multipliers.require_independent(state.q)
    gradients, impulses = multipliers.empty_gradients(), np.zeros(multipliers.size)
    multipliers.write_gradients(state.q, gradients)
    multipliers.factorise(gradients)
    if loops.close(multipliers.conditions, np.array(state.q), gradients, 1.0, multipliers.sizes(state.q), impulses) < 0:
        multipliers.raise_problem()
    q, v = multipliers.conditions.at, system.held(state.t, state.v)
    multipliers.write_gradients(q, gradients)
    multipliers.factorise(gradients)
    leaving = multipliers.rates(gradients, v) + multipliers.drift(q, v)[0]
    multipliers.add_impulses(gradients, multipliers.solve(leaving, gradients), -1.0, v)
    return system.state(q, v, state.t)
