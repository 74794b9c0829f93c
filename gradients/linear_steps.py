"""Steps of integrators, linearised: how small changes of state and forces go through a step, forwards and backwards.

An implicit step by its `Scheme`, of any member of the families, is for changes δ of its start

    K δΔ = M w − impulse (B δq0 + g),  w = by_v δv0 + by_a δa0 + by_own δα0,
    K = inertia M + impulse ∂F/∂q1,    B = ∂F/∂q0 + ∂F/∂q1,
    δa1 = (inertia δΔ − w)/impulse

with Δ = q1 − q0, F the forces of the step, g what parameters change of them at fixed positions (with δM a1), and δα1,
δv1 as the scheme has them. Backwards the transposes are taken in the opposite order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly import forms
from symplex.fem.assembly.pattern import Array, Pattern
from symplex.fem.system import System
from symplex.gradients.internal_variables import Increment, IncrementChange
from symplex.time.implicit.scheme import Scheme, own_at_end
from symplex.time.solvers.linear import linear_solver
from symplex.time.solvers.linear_solver import LinearSolver

_TOLERANCE = 1e-13  # of linear solutions by iterations
_FEW = 4  # directions up to which products with a Hessian cost less than the matrix


class Variation(NamedTuple):
    """Changes of a state, or derivatives by it: of positions, velocities, accelerations and those of the method itself.

    Each is float64 [n, dim, k] for k directions, or numbers that are differentiated. Internal variables z are float64
    [..., k], by the names of parts.
    """

    q: Array
    v: Array
    a: Array
    own: Array
    z: Mapping[str, Array] = MappingProxyType({})

    def plus(self, more: Variation, times: Array) -> Variation:
        """Return the sum with one direction [..., 1] times numbers [k]."""
        z = {name: one + more.z[name] * times for name, one in self.z.items()}
        q, v, a, own = (one + other * times for one, other in zip(self[:4], more[:4], strict=True))
        return Variation(q, v, a, own, z)

    def dot(self, other: Variation) -> float:
        """Return the sum of products of one direction [..., 1] with another one."""
        z = sum(float(np.sum(one * other.z[name])) for name, one in self.z.items())
        return z + sum(float(np.sum(one * two)) for one, two in zip(self[:4], other[:4], strict=True))


class Names(NamedTuple):
    """The names of parts of a system, by the kinds of these."""

    energies: Collection[str] = ()
    loads: Collection[str] = ()
    inelastic: Collection[str] = ()
    joints: Collection[str] = ()

    def __bool__(self) -> bool:
        return any(self)

    @classmethod
    def of(cls, system: System) -> Names:
        """Return those of all parts."""
        return cls(*(list(getattr(system, kind)) for kind in cls._fields))


class Change(NamedTuple):
    """Changes of the equations of a step at fixed positions, velocities and multipliers, or derivatives by them.

    Attributes
    ----------
    forces : float64 [n, dim, k]
        Of ∇V − f, and δM a, in N.
    conditions : float64 [c, k]
        Of conditions of joints.
    variables : dict of str to float64 [..., k]
        Of internal variables at the end of the step, by the names of parts.
    carried : float64 [2, n, dim, k], optional
        Of velocities and accelerations at its end, which are made those of rigid frames there; not of derivatives.
    masses : float64 [n], optional
        Derivatives by masses with which these are made rigid.
    """

    forces: Array
    conditions: Array
    variables: Mapping[str, Array] = MappingProxyType({})
    carried: Array | None = None
    masses: Array | None = None


@dataclass(frozen=True)
class Step:
    """A step that was taken.

    Attributes
    ----------
    t, h : float
        Where it begins, and its size, in s.
    q0, v0, own0, q1, a1 : float64 [n, dim]
        Positions, velocities and accelerations that the method carries at its start; positions at its end, and the
        accelerations M⁻¹F there, in m, m/s, m/s².
    a0 : float64 [n, dim]
        The accelerations at its start.
    z0 : dict of str to float64
        The internal variables at its start, by the names of parts.
    """

    t: float
    h: float
    q0: Array
    v0: Array
    a0: Array
    own0: Array
    q1: Array
    a1: Array
    z0: Mapping[str, Array] = field(default_factory=dict)

    def increment(self, part: float, mean: bool) -> Increment:
        """Return what inelastic parts see of it."""
        return Increment(self.q0, self.z0, self.q1, self.h, part, mean)


class Solvers:
    """Linear solvers for matrices of a system, and transposed ones, kept as long as its pattern stays.

    Parameters
    ----------
    system : System
    make : callable, optional
        Returns one for a pattern and a dimension; default: that of implicit steps.
    """

    def __init__(self, system: System, make: Callable[[Pattern, int], LinearSolver] | None = None):
        self._system, self._make = system, make or partial(linear_solver, "auto")
        self._pattern: Pattern | None = None
        self._solver: LinearSolver
        self._places: NDArray[np.int64]  # of block (b, a) for each (a, b)

    def solve(self, blocks: Array, b: Array, q: Array, transposed: bool) -> Array:
        """Return the solutions [n, dim, k] of the matrix with blocks [nnz, dim, dim], or its transpose."""
        pattern = self._system.pattern
        if pattern is not self._pattern:
            self._pattern, self._solver = pattern, self._make(pattern, self._system.dim)
            self._places = np.lexsort((pattern.rows(), pattern.indices))
        if transposed:
            blocks = np.ascontiguousarray(blocks[self._places].swapaxes(1, 2))
        self._solver.begin()
        self._solver.update(blocks, False, q)
        columns = [np.ascontiguousarray(b[..., j]) for j in range(b.shape[2])]
        return np.stack([self._solver.solve(column, _TOLERANCE) for column in columns], axis=2)


class LinearStep(ABC):
    """A step, linearised at what it was."""

    @abstractmethod
    def forward(self, d: Variation, g: Change) -> Variation:
        """Return the changes at its end for those d at its start, and changes g of its equations."""

    @abstractmethod
    def backward(self, adjoint: Variation) -> tuple[Variation, Change]:
        """Return the derivatives by the start from those by the end, and those by changes g of its equations."""


def applied(system: System, x: Array) -> Array:
    """Return M x [n, dim, k]."""
    if system.is_lumped:
        return np.asarray(system.mass)[:, None, None] * x
    return (system.mass @ x.reshape(len(x), -1)).reshape(x.shape)


def unconditional(forces: Array, variables: Mapping[str, Array] = MappingProxyType({})) -> Change:
    """Return changes of forces [n, dim, k] and internal variables only."""
    return Change(forces, np.zeros((0, forces.shape[2])), variables)


def accelerated(system: System, force: Array) -> Array:
    """Return M⁻¹ force [n, dim, k], zero at fixed coordinates."""
    force = np.where(system.fixed[..., None], 0.0, force)
    return np.stack([system.accelerations(np.ascontiguousarray(force[..., j])) for j in range(force.shape[2])], axis=2)


class Product:
    """Products with a matrix on the pattern of a system.

    Parameters
    ----------
    system : System
    blocks : float64 [nnz, dim, dim]
    """

    def __init__(self, system: System, blocks: Array):
        self.blocks = blocks
        self._matrix = system.pattern.matrix(blocks)

    def times(self, x: Array) -> Array:
        """Return A x [n, dim, k]."""
        return (self._matrix @ x.reshape(-1, x.shape[2])).reshape(x.shape)

    def transposed_times(self, x: Array) -> Array:
        """Return Aᵀ x [n, dim, k]."""
        return (self._matrix.T @ x.reshape(-1, x.shape[2])).reshape(x.shape)


class StepForces(ABC):
    """The forces ∇V − f of a step as a function of a system, at the positions and velocities of the step."""

    @abstractmethod
    def of(self, system: System, names: Names) -> Array:
        """Return those [n, dim] in N of some parts of a system."""

    @abstractmethod
    def local(self, system: System, energy: str) -> Array:
        """Return those [m, k, dim] in N of the local energies of one energy."""

    def conditions(self, system: System) -> Array:
        """Return g [c] of joints at the end of the step."""
        return np.zeros(0)

    def variables(self, system: System) -> Mapping[str, Array]:
        """Return the internal variables at the end of the step, by the names of parts."""
        return {}

    def carried(self, system: System) -> Array | None:
        """Return velocities and accelerations [2, n, dim] at its end, where they are made those of rigid frames."""
        return None


@final
class ForcesAtPoint(StepForces):
    """Forces at one time, positions and velocities [n, dim], and at the end of an increment of inelastic parts."""

    def __init__(self, t: float, q: Array, v: Array, increment: Increment | None = None):
        self._t, self._q, self._v, self._increment = t, q, v, increment

    def of(self, system: System, names: Names) -> Array:
        """Return ∇V − f [n, dim]."""
        out = system.assembled(forms.GRADIENT, self._q, among=names.energies)
        for name, load in system.loads.items():
            if name in names.loads:
                out -= load(self._t, self._q, self._v)
        if self._increment is not None:
            out += self._increment.forces(system, names.inelastic)
        return out

    def local(self, system: System, energy: str) -> Array:
        """Return ∂φ/∂x [m, k, dim]."""
        part = system.energies[energy]
        return part.gradient(self._q[part.nodes])

    def variables(self, system: System) -> Mapping[str, Array]:
        """Return the internal variables at the end of the step, by the names of parts."""
        return {} if self._increment is None else self._increment.after(system)


@final
class ForcesOnStep(StepForces):
    """Forces of an implicit step, by its scheme."""

    def __init__(self, scheme: Scheme, step: Step):
        self._scheme, self._step = scheme, step
        self.seen = seen_by_loads(scheme, step)

    def of(self, system: System, names: Names) -> Array:
        """Return G − f [n, dim]."""
        scheme, step, among = self._scheme, self._step, names.energies
        if scheme.discrete:
            out = system.assembled(forms.DISCRETE_GRADIENT, step.q0, step.q1, among=among)
        else:
            out = system.assembled(forms.GRADIENT, step.q0 + scheme.alpha * (step.q1 - step.q0), among=among)
        t, q, v = self.seen
        for name, load in system.loads.items():
            if name in names.loads:
                out -= system.load_over(load, t, (step.q0, step.q1), v) if scheme.discrete else load(t, q, v)
        return out + evaluated(scheme, step).forces(system, names.inelastic) if names.inelastic else out

    def local(self, system: System, energy: str) -> Array:
        """Return ∂φ/∂x, or the discrete gradients, [m, k, dim]."""
        scheme, step, part = self._scheme, self._step, system.energies[energy]
        x0, x1 = step.q0[part.nodes], step.q1[part.nodes]
        return part.discrete_gradient(x0, x1) if scheme.discrete else part.gradient(x0 + scheme.alpha * (x1 - x0))

    def variables(self, system: System) -> Mapping[str, Array]:
        """Return the internal variables at the end of the step, by the names of parts."""
        return self._step.increment(1.0, False).after(system)


def evaluated(scheme: Scheme, step: Step) -> Increment:
    """Return the increment of an implicit step as inelastic parts see it."""
    return step.increment(1.0 if scheme.discrete else scheme.alpha, scheme.discrete)


def seen_by_loads(scheme: Scheme, step: Step) -> tuple[float, Array, Array]:
    """Return the time, positions and velocities at which an implicit step evaluates loads."""
    dq = step.q1 - step.q0
    v = scheme.rate * dq
    if scheme.carries:
        v += scheme.seen_v * step.v0 + scheme.seen_own * step.own0
    return step.t + scheme.seen * scheme.h, step.q0 + scheme.seen * dq, v


def derivatives_of_forces(system: System, scheme: Scheme, step: Step) -> tuple[Array, Array, Array | None]:
    """Return blocks [nnz, dim, dim] of ∂F/∂q0 and ∂F/∂q1 in N/m, and of −∂F/∂v, if forces depend on velocities."""
    if scheme.discrete:
        by_end = system.discrete_hessian_blocks(step.q0, step.q1)
        by_start = system.discrete_hessian_blocks(step.q1, step.q0)
    else:
        hessian = system.hessian_blocks(step.q0 + scheme.alpha * (step.q1 - step.q0))
        by_end, by_start = scheme.alpha * hessian, (1.0 - scheme.alpha) * hessian
    by_v: Array | None = None
    if system.differentiable_loads:
        t, q, v = seen_by_loads(scheme, step)
        ends = (step.q0, step.q1) if scheme.discrete else None
        swapped = (step.q1, step.q0) if scheme.discrete else None
        system.add_load_derivatives(t, q, v, -scheme.seen, -scheme.rate, by_end, ends)
        system.add_load_derivatives(t, q, v, scheme.seen - 1.0, scheme.rate, by_start, swapped)
        if scheme.carries:
            by_v = np.zeros_like(by_end)
            system.add_load_derivatives(t, q, v, 0.0, 1.0, by_v, ends)
    return by_start, by_end, by_v


def variables_at_end(
    system: System, step: Step, d: Variation, q1: Array, g: Change, deltas: Array
) -> Mapping[str, Array]:
    """Return the changes of internal variables at the end of a step by those of its start, and q1 of positions."""
    if not system.inelastic:
        return d.z
    found = IncrementChange(step.increment(1.0, False), d.q, d.z, q1, deltas).of_variables(system)
    return {name: dz + g.variables[name] for name, dz in found.items()}


def before_end(system: System, step: Step, adjoint: Variation) -> tuple[Array, Array | float, Mapping[str, Array]]:
    """Return the derivatives by positions at the end of a step, and by positions and internal variables at its start.

    Of one number [..., 1]: those by internal variables at the end go through their update.
    """
    if not system.inelastic:
        return adjoint.q, 0.0, adjoint.z
    by_z1 = {name: z[..., 0] for name, z in adjoint.z.items()}
    found = step.increment(1.0, False).backward_of_variables(system, by_z1)
    return adjoint.q + found.q1[..., None], found.q0[..., None], {name: z[..., None] for name, z in found.z0.items()}


def added(z: Mapping[str, Array], more: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return sums of derivatives [..., 1] and [...] by internal variables."""
    return {name: one + more[name][..., None] for name, one in z.items()}


@final
class ImplicitLinearStep(LinearStep):
    """A step of an implicit method, which its scheme describes."""

    def __init__(self, system: System, solvers: Solvers, scheme: Scheme, step: Step, deltas: Array):
        self._system, self._solvers, self._scheme, self._step = system, solvers, scheme, step
        self._free, self._deltas = ~system.fixed[..., None], deltas
        system.covering(self._assemble)

    def _assemble(self) -> None:
        by_start, by_end, by_v = derivatives_of_forces(self._system, self._scheme, self._step)
        self._by_v = None if by_v is None else Product(self._system, by_v)
        self._by_ends = Product(self._system, by_start + by_end)
        if self._system.inelastic:
            evaluated(self._scheme, self._step).add_derivatives(self._system, by_end)
        self._blocks = self._equations(by_end)

    def _equations(self, by_end: Array) -> Array:
        """Return the blocks of K, those of the masses where fixed."""
        system, scheme, pattern = self._system, self._scheme, self._system.pattern
        masses = scheme.inertia * system.mass_values
        blocks = scheme.impulse * by_end
        for i in range(system.dim):
            blocks[:, i, i] += masses
        blocks[pattern.held(system.fixed)] = 0.0
        diagonal = pattern.diagonal()
        for i in range(system.dim):
            held = system.fixed[:, i]
            blocks[diagonal[held], i, i] = masses[diagonal[held]]
        return blocks

    def forward(self, d: Variation, g: Change) -> Variation:
        """Return the changes at its end."""
        system, scheme, free = self._system, self._scheme, self._free
        w = scheme.by_v * d.v + scheme.by_a * d.a + scheme.by_own * d.own
        forces = self._by_ends.times(d.q) + g.forces
        if self._by_v is not None:
            forces -= self._by_v.times(scheme.seen_v * d.v + scheme.seen_own * d.own)
        if system.inelastic:
            forces += IncrementChange(evaluated(scheme, self._step), d.q, d.z, d.q, self._deltas).of_forces(system)
        rhs = np.where(free, applied(system, w) - scheme.impulse * forces, 0.0)
        dq = self._solvers.solve(self._blocks, rhs, self._step.q1, False)
        a = np.where(free, (scheme.inertia * dq - w) / scheme.impulse, 0.0)
        own = own_at_end(scheme, a, d.a, d.own)
        v = d.v + scheme.h * ((1.0 - scheme.gamma) * d.own + scheme.gamma * own)
        return Variation(d.q + dq, v, a, own, variables_at_end(system, self._step, d, d.q + dq, g, self._deltas))

    def backward(self, adjoint: Variation) -> tuple[Variation, Change]:
        """Return the derivatives by the start, and by the forces."""
        system, scheme, free = self._system, self._scheme, self._free
        by_end, by_q0, z = before_end(system, self._step, adjoint)
        by_own = adjoint.own + scheme.h * scheme.gamma * adjoint.v
        by_a = np.where(free, adjoint.a + scheme.own_a1 * by_own, 0.0)
        by_dq = np.where(free, by_end + scheme.inertia / scheme.impulse * by_a, 0.0)
        mu = np.where(free, self._solvers.solve(self._blocks, by_dq, self._step.q1, True), 0.0)
        by_w = applied(system, mu) - by_a / scheme.impulse
        by_g = -scheme.impulse * mu
        q = by_end + by_q0 + self._by_ends.transposed_times(by_g)
        if system.inelastic:
            found = evaluated(scheme, self._step).backward(system, by_g[..., 0])
            q += (found.q0 + found.q1)[..., None]
            z = added(z, found.z0)
        v = adjoint.v + scheme.by_v * by_w
        a = scheme.by_a * by_w + scheme.own_a0 * by_own
        own = scheme.by_own * by_w + scheme.own_own * by_own + scheme.h * (1.0 - scheme.gamma) * adjoint.v
        if self._by_v is not None:
            by_seen = -self._by_v.transposed_times(by_g)
            v += scheme.seen_v * by_seen
            own += scheme.seen_own * by_seen
        return Variation(q, v, a, own, z), unconditional(by_g, adjoint.z)


@final
class LinearAccelerations:
    """Accelerations M⁻¹(f − ∇V) at a state, linearised.

    A few products with the Hessian are found without it, where all energies have kernels for them.
    """

    def __init__(self, system: System, t: float, q: Array, v: Array):
        self._system = system
        self.at = t, q, v
        self._by_q: Product | None = None
        self._by_v: Product | None = None

    def _matrix(self) -> Product:
        """Return −∂(f − ∇V)/∂q, and set that with v."""
        if self._by_q is None:
            self._system.covering(self._assemble)
        assert self._by_q is not None, "it has been assembled"
        return self._by_q

    def _assemble(self) -> None:
        system, (t, q, v) = self._system, self.at
        blocks = system.hessian_blocks(q)
        if system.differentiable_loads:
            system.add_load_derivatives(t, q, v, -1.0, 0.0, blocks)
            by_v = np.zeros_like(blocks)
            system.add_load_derivatives(t, q, v, 0.0, -1.0, by_v)
            self._by_v = Product(system, by_v)
        self._by_q = Product(system, blocks)

    def _products(self, x: Array) -> Array | None:
        """Return ∇²V x [n, dim, k] without the Hessian; None where that is not faster, or not all there is."""
        system = self._system
        if self._by_q is not None or x.shape[2] > _FEW or system.differentiable_loads or not has_products(system):
            return None
        columns = [np.ascontiguousarray(x[..., j]) for j in range(x.shape[2])]
        return np.stack([system.hessian_product(self.at[1], column) for column in columns], axis=2)

    def forward(self, q: Array, v: Array, g: Array) -> Array:
        """Return the changes [n, dim, k] for those of positions, velocities and forces."""
        products = self._products(q)
        forces = (self._matrix().times(q) if products is None else products) + g
        if self._by_v is not None:
            forces += self._by_v.times(v)
        return accelerated(self._system, -forces)

    def backward(self, a: Array) -> tuple[Array, Array, Array]:
        """Return the derivatives by positions, velocities and forces from those by accelerations."""
        return self.backward_of_forces(-accelerated(self._system, a))

    def backward_of_forces(self, by_g: Array) -> tuple[Array, Array, Array]:
        """Return the derivatives by positions, velocities and forces from those by the forces ∇V − f."""
        by_q = self._products(by_g)  # the Hessian is symmetric
        if by_q is None:
            by_q = self._matrix().transposed_times(by_g)
        by_v = np.zeros_like(by_g) if self._by_v is None else self._by_v.transposed_times(by_g)
        return by_q, by_v, by_g


def has_products(system: System) -> bool:
    """Return whether all energies of a system have kernels for products with their Hessians."""
    return not system.changing and all(
        isinstance(energy, DeadLoad) or energy.calls(forms.HESSIAN_PRODUCT, system.dim) is not None
        for energy in system.energies.values()
    )


@final
class ExplicitLinearStep(LinearStep):
    """A step of explicit Newmark: kick, drift, forces, kick; loads see the velocities v0 + h a0."""

    def __init__(self, system: System, step: Step, deltas: Array):
        self._h, self._system, self._step, self._deltas = step.h, system, step, deltas
        self._free = ~system.fixed[..., None]
        self._end = LinearAccelerations(system, step.t + step.h, step.q1, step.v0 + step.h * step.a0)

    def forward(self, d: Variation, g: Change) -> Variation:
        """Return the changes at its end."""
        h = self._h
        middle = d.v + 0.5 * h * d.a
        q = d.q + h * middle
        forces = g.forces
        if (system := self._system).inelastic:
            at = self._step.increment(1.0, False)
            forces = forces + IncrementChange(at, d.q, d.z, q, self._deltas).of_forces(system)
        a = self._end.forward(q, d.v + h * d.a, forces)
        z = variables_at_end(system, self._step, d, q, g, self._deltas)
        return Variation(q, middle + 0.5 * h * a, a, a, z)

    def backward(self, adjoint: Variation) -> tuple[Variation, Change]:
        """Return the derivatives by the start, and by the forces."""
        h = self._h
        a1 = adjoint.a + adjoint.own + 0.5 * h * adjoint.v
        by_q, by_seen, by_g = self._end.backward(np.where(self._free, a1, 0.0))
        q, q0, z = adjoint.q + by_q, 0.0, adjoint.z
        if (system := self._system).inelastic:
            by_z1 = {name: by_z[..., 0] for name, by_z in z.items()}
            found = self._step.increment(1.0, False).backward_at_end(system, by_g[..., 0], by_z1)
            q, q0, z = (
                q + found.q1[..., None],
                found.q0[..., None],
                {name: by_z0[..., None] for name, by_z0 in found.z0.items()},
            )
        middle = adjoint.v + h * q
        a = np.where(self._free, 0.5 * h * middle + h * by_seen, 0.0)
        return Variation(q + q0, middle + by_seen, a, np.zeros_like(a), z), unconditional(by_g, adjoint.z)
