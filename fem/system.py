"""What every integrator runs against: masses, energies, supports and loads."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem import forms
from symplex.fem.actions.damping import DifferentiableLoad
from symplex.fem.actions.mass import require_masses
from symplex.fem.actions.support_motion import MovingSupports, SupportMotion
from symplex.fem.assembly import Pattern, scatter_blocks
from symplex.fem.changing import ChangingEnergy
from symplex.fem.copying import Copyable
from symplex.fem.energy import Array, Energy
from symplex.fem.forms import Form, OptionalFunction
from symplex.fem.named import by_name
from symplex.fem.nodes import require_nodes
from symplex.fem.state import State as State

if TYPE_CHECKING:
    from symplex.fem.actions.mass_solve import MassSolver

# A load: f(t, q, v) -> nodal forces [n, dim] in N. What has a potential is an Energy instead.
Load = Callable[[float, Array, Array], Array]

_ENERGIES = "Constraints are for methods, or energies as Penalty(constraint, stiffness); loads go to loads."
_LOADS = "A load is a function f(t, q, v) of forces [n, dim]; what has a potential, as Gravity, goes to the energies."
_MOVING = "Take SupportTranslation, SupportRotation, or a SupportMotion of your own."


@partial(checked, but=("energies", "loads", "moving"))
class System(Copyable):
    """M a + ∇V(q) = f(t, q, v), with V a sum of named energies.

    Parameters
    ----------
    mass : float64 [n] or sparse [n, n]
        Lumped nodal masses or the consistent mass matrix (one row per node, the same for each direction), in kg.
    energies : mapping of str to Energy
        The parts of V, by name.
    dim : int, default 3
        Dimension of space.
    fixed : bool [n, dim], optional
        True where a coordinate does not move.
    loads : mapping of str to Load, optional
        Forces that depend on time or velocity, by name.
    moving : mapping of str to SupportMotion, optional
        Supports whose motion is given as a function of time, by name.
    massless : bool [n], optional
        True where a node has no inertia: its mass must be zero, as that of all others must be positive. Only methods
        that declare it take such nodes, and only with lumped masses.

    Raises
    ------
    InvalidSystem
        If sizes do not match, a mass is not positive, or a coordinate is both fixed and moved.

    Attributes
    ----------
    fixed : bool [n, dim]
        True where no equation is solved: the coordinates that do not move, and those of supports that do.
    moving : MovingSupports
    """

    def __init__(
        self,
        mass: ArrayLike | sp.csr_array,
        energies: Mapping[str, Energy],
        *,
        dim: int = 3,
        fixed: NDArray[np.bool_] | None = None,
        loads: Mapping[str, Load] | None = None,
        moving: Mapping[str, SupportMotion] | None = None,
        massless: NDArray[np.bool_] | None = None,
    ):
        self.mass = sp.csr_array(mass, dtype=float, copy=True) if sp.issparse(mass) else np.array(mass, dtype=float)
        if self.mass.ndim == 0:
            raise InvalidSystem(f"the mass is one number, {mass!r} kg; wanted one for each node, [n].")
        self.n_nodes: int = self.mass.shape[0]  # pyright: ignore[reportOptionalSubscript]
        if dim < 1:
            raise InvalidSystem(f"a system has one dimension of space at least, not {dim}.")
        self.dim = dim
        self.energies = by_name("energies", energies, Energy, _ENERGIES)
        self.loads = by_name("loads", {} if loads is None else loads, Callable, _LOADS)  # pyright: ignore[reportArgumentType]
        self.fixed = np.zeros((self.n_nodes, dim), bool) if fixed is None else np.array(fixed, bool)
        self.massless = np.zeros(self.n_nodes, bool) if massless is None else np.array(massless, bool)
        self._pattern: tuple[tuple[int, ...], Pattern] | None = None
        self._mass_values: Array | None = None
        self._check()
        motions = by_name("moving", {} if moving is None else moving, SupportMotion, _MOVING)
        self.moving = MovingSupports(motions, self.fixed)
        self.fixed |= self.moving.mask
        twice = [name for name in self.moving.motions if name in self.loads]
        if twice:
            raise InvalidSystem(f"there is both a load and a moving support called '{twice[0]}'.")

    def _check(self) -> None:
        require_masses(self.mass, self.massless)
        if self.fixed.shape != (self.n_nodes, self.dim):
            raise InvalidSystem(f"fixed has shape {self._told_shape(self.fixed)}")
        for name, energy in self.energies.items():
            require_nodes(f"energy '{name}'", energy.nodes, self.n_nodes)

    def _told_shape(self, given: NDArray[Any]) -> str:
        """Return the end of a sentence about an array that should be [n, dim]."""
        told = f"{given.shape}, wanted {(self.n_nodes, self.dim)}."
        if given.ndim == 2 and len(given) == self.n_nodes and 1 <= given.shape[1] <= 3:
            told += f" The system is of dimension {self.dim}; System(..., dim={given.shape[1]}) makes it another."
        return told

    # -- energies and forces ------------------------------------------------------------------------------

    def potential(self, q: Array) -> float:
        """Return V(q) in J."""
        return sum(energy.total(q) for energy in self.energies.values())

    def assembled(
        self, form: Form, *nodal: Array, out: Array | None = None, among: Container[str] | None = None
    ) -> Array:
        """Return a form of all energies together.

        Parameters
        ----------
        form : Form
            One of `symplex.fem.forms`.
        *nodal : float64 [n, dim]
            What its local function takes, for all nodes.
        out : float64, optional
            What the result is written to: nodal vectors [n, dim], or the blocks [nnz, dim, dim] or values [nnz] of a
            matrix on `pattern`.
        among : container of str, optional
            The names of the energies that have a part in it; default: all.
        """
        slots = self.pattern.slots if form.is_matrix else ()
        if out is None:
            nnz = len(self.pattern.indices) if form.is_matrix else 0
            out = np.zeros(form.shape(self.n_nodes, nnz, self.dim))
        else:
            out.fill(0.0)
        for k, (name, energy) in enumerate(self.energies.items()):
            if among is None or name in among:
                getattr(energy, form.add)(*nodal, *slots[k : k + 1], out)
        return out

    def gradient(self, q: Array, out: Array | None = None) -> Array:
        """Return ∇V(q) [n, dim] in N (into ``out`` if given), fixed coordinates included."""
        if out is None:
            out = np.zeros((self.n_nodes, self.dim))
        else:
            out.fill(0.0)
        for energy in self.energies.values():  # as `assembled` does, in the loop of explicit steps
            energy.add_gradient(q, out)
        return out

    def hessian(self, q: Array) -> sp.bsr_array:
        """Return ∇²V(q) [n·dim, n·dim] in N/m in dim × dim blocks, fixed coordinates included.

        The pattern is always that of `pattern`; only the values are new.
        """
        return self.pattern.matrix(self.hessian_blocks(q))

    def hessian_blocks(self, q: Array, out: Array | None = None) -> Array:
        """Return the blocks [nnz, dim, dim] of ∇²V(q) in N/m on `pattern` (in ``out`` if given)."""
        return self.assembled(forms.HESSIAN, q, out=out)

    def discrete_gradient(self, q0: Array, q1: Array, out: Array | None = None) -> Array:
        """Return the discrete gradient [n, dim] in N from q0 to q1 (in ``out`` if given), fixed coordinates included.

        DG·(q1 − q0) = V(q1) − V(q0); see `Energy.discrete_gradient`.
        """
        return self.assembled(forms.DISCRETE_GRADIENT, q0, q1, out=out)

    def increment_gradient(self, q: Array, low: Array, dq: Array, out: Array) -> Array:
        """Write the discrete gradient [n, dim] in N from q + low to q + low + Δq to out.

        See `Energy.increment_gradient`.
        """
        return self.assembled(forms.INCREMENT_GRADIENT, q, low, dq, out=out)

    def discrete_hessian(self, q0: Array, q1: Array) -> sp.bsr_array:
        """Return ∂DG/∂q1 [n·dim, n·dim] in N/m as `hessian` returns ∇²V; it need not be symmetric."""
        return self.pattern.matrix(self.discrete_hessian_blocks(q0, q1))

    def discrete_hessian_blocks(self, q0: Array, q1: Array, out: Array | None = None) -> Array:
        """Return the blocks [nnz, dim, dim] of ∂DG/∂q1 in N/m on `pattern` (in ``out`` if given)."""
        return self.assembled(forms.DISCRETE_HESSIAN, q0, q1, out=out)

    def mean_gradient(self, q0: Array, q1: Array) -> Array:
        """Return the gradient [n, dim] in N at mean strains from q0 to q1; see `Energy.mean_gradient`.

        Energies without strains (gravity, contact) give their discrete gradient.
        """
        strained = self.having("mean_gradient")
        out = self.assembled(forms.MEAN_GRADIENT, q0, q1, among=strained)
        return out + self.assembled(forms.DISCRETE_GRADIENT, q0, q1, among=self.energies.keys() - strained)

    def third(self, q: Array, a: Array) -> Array:
        """Return ∇³V[a, a] [n, dim] at q along a [n, dim]; see `Energy.third`.

        Raises
        ------
        InvalidSystem
            If an energy has none.
        """
        return self.assembled(forms.THIRD, q, a)

    def having(self, optional: OptionalFunction) -> set[str]:
        """Return the names of the energies that have an optional function (see `Energy.has`)."""
        return {name for name, energy in self.energies.items() if energy.has(optional)}

    def require(self, optional: OptionalFunction, wanted_by: str) -> None:
        """Check that all energies have an optional function (see `Energy.has`).

        Raises
        ------
        InvalidSystem
            If one has not.
        """
        for name, energy in self.energies.items():
            if not energy.has(optional):
                raise InvalidSystem(f"{wanted_by}: {energy.lacks(optional, name)}")

    # -- stencils and pattern -------------------------------------------------------------------------------

    @cached_property
    def changing(self) -> dict[str, ChangingEnergy]:
        """The energies whose stencils change, by name."""
        return {name: energy for name, energy in self.energies.items() if isinstance(energy, ChangingEnergy)}

    def renew(self, q: Array) -> bool:
        """Let energies renew their stencils at the positions q [n, dim]; return whether any did.

        To be called between steps, never within one: the pattern changes with the stencils.
        """
        return any([energy.renewed(q) for energy in self.changing.values()])

    @property
    def listed_at(self) -> dict[str, Array]:
        """The positions [n, dim] at which each energy has found its stencils, which follow from them.

        To set it brings the stencils of that time back.
        """
        return {name: energy.listed_at for name, energy in self.changing.items()}

    @listed_at.setter
    def listed_at(self, positions: Mapping[str, Array]) -> None:
        for name, q in positions.items():
            if self.changing[name].listed_at is not q:
                self.changing[name].list_at(q)

    @property
    def pattern(self) -> Pattern:
        """The sparsity pattern of the Hessian, of loads that have derivatives, and of the mass.

        It is the same object as long as no energy renews its stencils.
        """
        versions = tuple(energy.version for energy in self.changing.values())
        if self._pattern is None or self._pattern[0] != versions:
            stencils = [energy.nodes for energy in self.energies.values()]
            stencils += [load.nodes for load in self.differentiable_loads]
            if not self.is_lumped:
                couplings = sp.triu(self.mass, 1, format="coo")
                stencils.append(np.column_stack([couplings.row, couplings.col]).astype(np.int32))
            self._pattern = versions, Pattern(self.n_nodes, stencils)
            self._mass_values = None
        return self._pattern[1]

    @cached_property
    def differentiable_loads(self) -> list[DifferentiableLoad]:
        """The loads that have derivatives."""
        return [load for load in self.loads.values() if isinstance(load, DifferentiableLoad)]

    def add_load_derivatives(self, t: float, q: Array, v: Array, by_q: float, by_v: float, out: Array) -> None:
        """Add by_q ∂f/∂q + by_v ∂f/∂v of the loads that have derivatives to the blocks out [nnz, dim, dim].

        Parameters
        ----------
        t, q, v
            Time in s, positions and velocities [n, dim].
        by_q, by_v : float
            Factors, the second in 1/s if the sum is to be in N/m.
        out : float64 [nnz, dim, dim]
            Blocks on `pattern`.
        """
        slots = self.pattern.slots[len(self.energies) :]
        for load, places in zip(self.differentiable_loads, slots, strict=False):
            f_q, f_v = load.derivatives(t, q[load.nodes], v[load.nodes])
            scatter_blocks(by_q * f_q + by_v * f_v, places, out)

    @property
    def mass_values(self) -> Array:
        """The masses [nnz] in kg on `pattern`: M_ab for the block of the nodes a and b."""
        pattern = self.pattern
        if self._mass_values is None:
            self._mass_values = self._masses_on(pattern)
        return self._mass_values

    def _masses_on(self, pattern: Pattern) -> Array:
        rows = np.repeat(np.arange(self.n_nodes), np.diff(pattern.indptr))
        if self.is_lumped:
            return np.where(rows == pattern.indices, np.asarray(self.mass)[rows], 0.0)
        # Columns ascend in each row, so that row · n + column ascends throughout.
        keys = rows.astype(np.int64) * self.n_nodes + pattern.indices
        mass = sp.coo_array(self.mass)
        values = np.zeros(len(keys))
        np.add.at(values, np.searchsorted(keys, mass.row.astype(np.int64) * self.n_nodes + mass.col), mass.data)
        return values

    def force(self, t: float, q: Array, v: Array, out: Array | None = None) -> Array:
        """Return f(t, q, v) − ∇V(q) [n, dim] in N (into ``out`` if given), zero at fixed coordinates."""
        out = self.gradient(q, out)
        np.negative(out, out=out)
        for name, load in self.loads.items():
            applied = load(t, q, v)
            if np.shape(applied) != out.shape:
                raise InvalidSystem(f"load '{name}' has shape {np.shape(applied)}, wanted {out.shape}.")
            if not np.isfinite(applied).all():
                raise StepFailed(f"load '{name}' is not finite at t = {t:.6g} s.")
            out += applied
        if self.has_supports:
            out[self.fixed] = 0.0
        return out

    def reactions(self, state: State) -> Array:
        """Return the forces R = M a + ∇V − f [n, dim] in N of the supports on the system, zero elsewhere.

        Constraints that a method keeps are not seen: what they pull at supports comes off, see the
        ``constraint_forces`` of its motion.
        """
        out = self.apply_mass(state.a) + self.gradient(state.q)
        for load in self.loads.values():
            out -= load(state.t, state.q, state.v)
        out[~self.fixed] = 0.0
        return out

    @cached_property
    def has_supports(self) -> bool:
        """Whether any coordinate is fixed or moved by a support."""
        return bool(self.fixed.any())

    def held(self, t: float, v: Array) -> Array:
        """Return the velocities v [n, dim] in m/s with those of the supports at the time t in s, at rest or moving."""
        v = np.where(self.fixed, 0.0, v)
        return v + self.moving.velocities(t) if self.moving else v

    # -- mass -----------------------------------------------------------------------------------------------

    @cached_property
    def is_lumped(self) -> bool:
        """Whether the mass is diagonal."""
        return not sp.issparse(self.mass)

    def lumped_mass(self, wanted_by: str) -> Array:
        """Return the nodal masses [n] in kg.

        Raises
        ------
        InvalidSystem
            If the mass is a matrix.
        """
        if not self.is_lumped:
            raise InvalidSystem(f"{wanted_by} needs a lumped (diagonal) mass; this system has a consistent one.")
        self.require_inertia(wanted_by)
        return np.asarray(self.mass)

    def require_inertia(self, wanted_by: str) -> None:
        """Check that no node is massless.

        Raises
        ------
        InvalidSystem
            If one is.
        """
        if self.massless.any():
            node = int(np.argmax(self.massless))
            raise InvalidSystem(
                f"{wanted_by} needs mass at all nodes, but {self.massless.sum()} have none (the first is node {node})."
            )

    def apply_mass(self, v: Array) -> Array:
        """Return M v [n, dim]."""
        return self.mass[:, None] * v if self.is_lumped else self.mass @ v

    def accelerations(self, force: Array, out: Array | None = None) -> Array:
        """Return M⁻¹ force [n, dim] in m/s², zero at fixed coordinates and massless nodes.

        With a consistent mass by conjugate gradients, to round-off (see `symplex.fem.actions.mass_solve`).

        Raises
        ------
        InvalidSystem
            If a consistent mass is not symmetric positive definite.
        """
        if self.is_lumped:
            return np.multiply(force, self._inverse_mass, out=out)
        a = self._mass_solver.solve(force)
        if out is None:
            return a
        out[...] = a
        return out

    def accelerations_at(self, t: float, q: Array, v: Array) -> Array:
        """Return the accelerations [n, dim] in m/s² at a time, positions and velocities, those of supports as given."""
        force = self.force(t, q, v)
        return self.response(force, self.moving.accelerations(t)) if self.moving else self.accelerations(force)

    def response(self, force: Array, given: Array) -> Array:
        """Return M⁻¹ force [n, dim] where coordinates are free, beside the given values [n, dim] of moving supports.

        M_ff a_f = force_f − M_fc a_c for the free coordinates f and those c of the supports; also for impulses in
        kg m/s and changes of velocity. Both are zero elsewhere.
        """
        if not self.is_lumped:
            force = np.where(self.fixed, 0.0, force - self.apply_mass(given))
        return self.accelerations(force) + given

    @cached_property
    def _inverse_mass(self) -> Array:
        inverse = np.divide(1.0, np.asarray(self.mass), out=np.zeros(self.n_nodes), where=~self.massless)
        return inverse[:, None]

    @cached_property
    def _mass_solver(self) -> MassSolver:
        from symplex.fem.actions.mass_solve import MassSolver  # compiled when first needed

        return MassSolver(sp.csr_array(self.mass), self.fixed)

    # -- sums over nodes --------------------------------------------------------------------------------------
    #
    # Methods and solvers sum over nodes in these two only, so that a system can have its nodes in several places.

    def dot(self, a: Array, b: Array) -> float:
        """Return Σ a·b over the nodes, of nodal vectors a and b [n, …]."""
        return float(np.vdot(a, b))

    def sum(self, x: Array) -> Array:
        """Return the sum [...] over the nodes of x [n, …]."""
        return x.sum(axis=0)

    # -- what is conserved ----------------------------------------------------------------------------------

    def kinetic(self, v: Array) -> float:
        """Return ½ vᵀ M v in J."""
        return 0.5 * self.dot(v, self.apply_mass(v))

    def energies_of(self, state: State) -> dict[str, float]:
        """Return the energies in J: ``kinetic``, one entry per named energy, ``total``."""
        parts = {"kinetic": self.kinetic(state.v)}
        parts |= {name: energy.total(state.q) for name, energy in self.energies.items()}
        parts["total"] = sum(parts.values())
        return parts

    def momentum(self, state: State) -> Array:
        """Return the linear momentum Σ m v [dim] in kg m/s."""
        return self.sum(self.apply_mass(state.v))

    def angular_momentum(self, state: State) -> Array:
        """Return Σ q × m v about the origin in kg m²/s: [3] in space, [1] in the plane, [0] on a line."""
        p = self.apply_mass(state.v)
        if self.dim == 3:
            return self.sum(np.cross(state.q, p))
        if self.dim == 2:
            return self.sum(state.q[:, :1] * p[:, 1:] - state.q[:, 1:] * p[:, :1])
        return np.empty(0)

    @checked
    def state(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> State:
        """Return the state at the positions q and velocities v (default: at rest) with its accelerations.

        Parameters
        ----------
        q : float64 [n, dim]
            Positions in m.
        v : float64 [n, dim] or [dim], optional
            Velocities in m/s, or one for all nodes; those of supports are set to what they are.
        t : float, default 0
            Time in s.

        Raises
        ------
        InvalidSystem
            If sizes do not match or a number is not finite.
        """
        shape = (self.n_nodes, self.dim)
        q = np.array(q, dtype=float, order="C")
        v = np.zeros(shape) if v is None else np.array(v, dtype=float, order="C")
        if q.shape != shape:
            raise InvalidSystem(f"positions have shape {self._told_shape(q)}")
        if v.shape not in (shape, shape[1:]):
            raise InvalidSystem(f"velocities have shape {v.shape}, wanted {shape} or {shape[1:]}.")
        v = np.broadcast_to(v, shape)
        for name, values in (("positions", q), ("velocities", v)):
            if not np.isfinite(values).all():
                node = int(np.argwhere(~np.isfinite(values))[0, 0])
                raise InvalidSystem(f"{name} must be finite; that of node {node} is {values[node]}.")
        v = self.held(t, v)
        return State(float(t), q, v, self.accelerations_at(t, q, v))
