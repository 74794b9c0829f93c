"""The tables of how time is stepped: [integrator], with a model for each kind, and [thermostat]."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self, get_args

import numpy as np
from pydantic import Field, model_validator

from symplex.scenario.quantities import (
    Quantity,
    Table,
    Text,
    Triple,
    between,
    not_negative,
    numbers,
    one_of,
    positive,
    positive_or_auto,
    shown,
    vector_or_random,
    whole,
    yes_or_no_by_direction,
)
from symplex.time.composition import SchemeName, kicks, schemes_of
from symplex.time.conserving.cayley_magnus import Interpolant
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.conserving.schemes import ABBREVIATIONS, SCHEMES, Scheme
from symplex.time.conserving.turned_angle import Angle
from symplex.time.explicit.local_levels import MOST as MOST_LEVELS
from symplex.time.explicit.multirate import MOST_SAFE, Multirate
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.langevin import BOLTZMANN
from symplex.time.variational.zhang_skeel_force import Variant

Solver = Literal["auto", "dense", "sparse", "krylov", "multigrid", "petsc"]
Order = Literal[2, 4, 6, 8]
MOST_HALVINGS = 30  # to 1e-9 of a step
MOST_LAYERS = 100
MOST_ITERATIONS = 100_000
LARGEST_SEED = 2**63 - 1
WITH_ANGLE: tuple[str, ...] = tuple(name for name, scheme in SCHEMES.items() if hasattr(scheme, "angle"))
WITH_SECANT: tuple[str, ...] = tuple(name for name, scheme in SCHEMES.items() if "secant" in scheme.needs)


class ComposedTable(Table):
    """What methods have in common that can be composed to a higher order."""

    order: Order | None = None
    substeps: SchemeName | None = None

    @property
    def own_order(self) -> float:
        """The order of the method itself."""
        return 2

    @property
    def splits(self) -> bool:
        """Whether the method is of drifts and changes of velocity."""
        return False

    @model_validator(mode="after")
    def _check_substeps(self) -> Self:
        name, order = self.substeps, self.own_order if self.order is None else self.order
        if name is None:
            return self
        if order <= self.own_order:
            raise ValueError(
                f'substeps is "{name}", but order is {order:g}, and that of the method itself {self.own_order:g}: '
                "give a higher one"
            )
        known = schemes_of(int(order))
        if name not in known:
            raise ValueError(f'substeps is "{name}", which has no order {order:g}; there are {shown(known)}')
        if kicks(int(order), name) and not self.splits:
            others = [one for one in known if not kicks(int(order), one)]
            raise ValueError(f'substeps is "{name}", which is for explicit newmark alone; others are {shown(others)}')
        return self


class FixedStepTable(Table):
    """What methods with steps of one size have in common."""

    dt: Annotated[float, positive("s")]


class SolvedTable(Table):
    """What methods have in common whose steps solve equations."""

    solver: Solver = "auto"
    iterations: Annotated[int | None, whole(1, MOST_ITERATIONS)] = None


class HalvedTable(SolvedTable):
    """What methods have in common whose steps may be halved where they cannot be solved."""

    halvings: Annotated[int | None, whole(0, MOST_HALVINGS)] = None


class ImplicitTable(FixedStepTable, HalvedTable):
    """What methods with implicit steps have in common."""


class NewmarkTable(ComposedTable, HalvedTable):
    """Newmark's method, explicit (central differences) if beta is 0."""

    kind: Literal["newmark"]
    dt: Annotated[float | Literal["auto"], positive_or_auto("s")] = "auto"
    beta: Annotated[float, between(0.0, math.inf)] = 0.0
    gamma: Annotated[float, between(0.5, math.inf)] = 0.5
    safety: Annotated[float, positive("1")] = Newmark.safety
    contact_safety: Annotated[float, positive("1")] = Newmark.contact_safety
    device: Literal["cpu", "cuda"] = "cpu"

    @property
    def implicit(self) -> bool:
        """Whether its steps need equations to be solved."""
        return self.beta > 0

    @property
    def splits(self) -> bool:
        """Whether it is the explicit member."""
        return not self.implicit

    @model_validator(mode="after")
    def _check(self) -> NewmarkTable:
        for key in ("safety", "contact_safety"):
            if getattr(self, key) > 1:
                raise ValueError(f"{key} is {getattr(self, key):g}, must be at most 1")
        if "contact_safety" in self.model_fields_set and self.dt != "auto":
            raise ValueError(f'contact_safety goes with dt = "auto"; dt is {self.dt:g} s')
        if self.iterations is not None and not self.implicit:
            raise ValueError("iterations goes with beta above 0; explicit steps solve no equations")
        if self.implicit and self.dt == "auto":
            raise ValueError(f'dt is "auto", must be a number (s) if beta is not 0; beta is {self.beta:g}')
        if self.dt != "auto":
            self.refuse_unused("safety", goes_with='dt = "auto"')
        if not self.implicit:
            self.refuse_unused("solver", "halvings", goes_with="the implicit members, which have a beta above 0")
        if not self.implicit and self.gamma != 0.5:
            raise ValueError(f"gamma is {self.gamma:g}, must be 0.5 if beta is 0")
        composed = self.order is not None and self.order > 2
        if composed and self.gamma != 0.5:
            raise ValueError(f"order is {self.order}, for which gamma must be 0.5; it is {self.gamma:g}")
        if self.device != "cpu" and (self.implicit or composed):
            beyond = f"beta is {self.beta:g}" if self.implicit else f"order is {self.order}"
            raise ValueError(f'device is "{self.device}", which takes the explicit member of order 2 alone; {beyond}')
        return self


class MultirateTable(Table):
    """Explicit Newmark whose elements take steps of their own, dt halved as often as each needs."""

    kind: Literal["multirate"]
    dt: Annotated[float | Literal["auto"], positive_or_auto("s")] = "auto"
    levels: Annotated[int, whole(0, MOST_LEVELS)] = Multirate.levels
    layers: Annotated[int, whole(0, MOST_LAYERS)] = Multirate.layers
    safety: Annotated[float, positive("1")] = Multirate.safety
    contact_safety: Annotated[float, positive("1")] = Multirate.contact_safety
    given: dict[Text, Annotated[int, whole(0, MOST_LEVELS)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> MultirateTable:
        if self.safety > MOST_SAFE:
            raise ValueError(
                f"safety is {self.safety:g}, must be at most {MOST_SAFE}, above which levels may be in resonance"
            )
        if self.contact_safety > 1:
            raise ValueError(f"contact_safety is {self.contact_safety:g}, must be at most 1")
        return self


class EnergyMomentumTable(ImplicitTable, ComposedTable):
    """The energy-momentum method, or its composition to a higher order."""

    kind: Literal["energy-momentum"]
    compensated: bool = False


class MidpointTable(ImplicitTable, ComposedTable):
    """The symplectic midpoint rule or its alpha-family, or its composition to a higher order."""

    kind: Literal["midpoint"]
    alpha: Annotated[float, between(0.0, 1.0)] = Midpoint.alpha

    @property
    def own_order(self) -> float:
        """The order of the member."""
        return Midpoint(1.0, self.alpha).order

    @model_validator(mode="after")
    def _check(self) -> MidpointTable:
        if self.order is not None and self.alpha != Midpoint.alpha:
            raise ValueError(f"order is {self.order}, for which alpha must be {Midpoint.alpha}; it is {self.alpha:g}")
        return self


class VariationalMidpointTable(ImplicitTable, ComposedTable):
    """The midpoint rule as a variational integrator, which tells the discrete energy of its steps."""

    kind: Literal["variational-midpoint"]


class AdaptiveVariationalTable(SolvedTable):
    """The variational integrator whose steps have the size that keeps the discrete energy; dt is the first."""

    kind: Literal["adaptive-variational"]
    dt: Annotated[float, positive("s")]
    bounds: Annotated[tuple[float, ...], numbers("1")] = (0.25, 4.0)
    hold: bool = True
    carry: bool = True

    @model_validator(mode="after")
    def _check(self) -> AdaptiveVariationalTable:
        if len(self.bounds) != 2 or not 0 < self.bounds[0] < 1 < self.bounds[1]:
            raise ValueError(f"bounds is {shown(list(self.bounds))}, must be a number between 0 and 1 and one above 1")
        return self


class GeneralizedAlphaTable(ImplicitTable):
    """The generalised-alpha method."""

    kind: Literal["generalized-alpha"]
    rho_inf: Annotated[float, between(0.0, 1.0)] = 0.8


class HilberHughesTaylorTable(ImplicitTable):
    """The HHT-alpha method."""

    kind: Literal["hht"]
    alpha: Annotated[float, between(-1.0 / 3.0, 0.0)] = -0.05


def _spelled_out(scheme: Any) -> Any:
    """Return the name of a scheme that may be abbreviated as in the paper."""
    return ABBREVIATIONS.get(scheme, scheme) if isinstance(scheme, str) else scheme


class GrahamJelenicTable(FixedStepTable, ComposedTable, SolvedTable):
    """A method of Graham and Jelenić; by default all that is no body acts like a load where the scheme needs it."""

    kind: Literal["graham-jelenic"]
    scheme: Annotated[Scheme, Quantity(_spelled_out)] = "cayley-magnus-6"
    external: list[Text] | None = None
    angle: Angle | None = None
    interpolant: Interpolant = "stable"

    @property
    def takes_external(self) -> bool:
        """Whether the scheme is made of secant matrices, so that energies without one act like loads."""
        return self.scheme in WITH_SECANT

    @property
    def own_order(self) -> float:
        """The order of the scheme."""
        return GrahamJelenic(1.0, self.scheme).order

    @model_validator(mode="after")
    def _check(self) -> GrahamJelenicTable:
        if self.external and not self.takes_external:
            raise ValueError(f"external is for {', '.join(WITH_SECANT)}; {self.scheme} takes all energies as they are")
        if self.angle is not None and self.scheme not in WITH_ANGLE:
            raise ValueError(f"angle is for {', '.join(WITH_ANGLE)}; {self.scheme} has none")
        if self.interpolant == "hermite" and not self.scheme.startswith("cayley-magnus"):
            raise ValueError(f'interpolant = "hermite" is for cayley-magnus schemes; {self.scheme} has no interpolant')
        scheme = GrahamJelenic(1.0, self.scheme)
        why = scheme.why_not.get("composition", "")
        order = scheme.order if self.order is None else self.order
        if order < scheme.order:
            raise ValueError(f"order is {order}, must be at least {scheme.order:g}, that of {self.scheme} itself")
        if order > scheme.order and why:
            raise ValueError(f"order is {order}, which {self.scheme} cannot be composed to: {why}")
        return self


class ZhangSkeelTable(FixedStepTable, ComposedTable, SolvedTable):
    """A method of Zhang and Skeel, or its composition to a higher order."""

    kind: Literal["zhang-skeel"]
    beta: Annotated[float, between(0.0, math.inf)] = 0.4
    variant: Variant = "full"
    stiff: list[Text] = Field(default=[])

    @model_validator(mode="after")
    def _check(self) -> ZhangSkeelTable:
        if self.stiff and self.variant == "push-forward":
            raise ValueError('stiff is for the variants "full" and "simplified"; "push-forward" has no stiff part')
        if self.iterations is not None and self.variant != "push-forward":
            raise ValueError(f'iterations is for the variant "push-forward"; "{self.variant}" solves linear equations')
        return self


class RattleTable(FixedStepTable, ComposedTable):
    """RATTLE, for rods, or its composition to a higher order."""

    kind: Literal["rattle"]
    beta: Annotated[float, between(0.0, math.inf)] = 0.0


class ShakeTable(FixedStepTable):
    """SHAKE, for rods."""

    kind: Literal["shake"]
    beta: Annotated[float, between(0.0, math.inf)] = 0.0


class ForceSteppingTable(Table):
    """Force-stepping by events."""

    kind: Literal["force-stepping"]
    grid: Annotated[float, positive("m")]
    seed: Annotated[int, whole(0, LARGEST_SEED)] = 0
    offset: Annotated[Triple | Literal["random"] | None, vector_or_random("grid sizes")] = None
    mirrored: Annotated[bool | tuple[bool, bool, bool], yes_or_no_by_direction()] = False
    align: Text | None = None
    count_crossings: bool = False

    @model_validator(mode="after")
    def _check(self) -> ForceSteppingTable:
        if isinstance(self.offset, tuple) or (self.offset is None and np.all(self.mirrored)):
            self.refuse_unused("seed", goes_with="a random offset")
        return self


class StaticTable(FixedStepTable, SolvedTable):
    """One static equilibrium after the other."""

    kind: Literal["static"]


IntegratorTable = (
    NewmarkTable
    | ForceSteppingTable
    | EnergyMomentumTable
    | MidpointTable
    | VariationalMidpointTable
    | AdaptiveVariationalTable
    | GeneralizedAlphaTable
    | HilberHughesTaylorTable
    | GrahamJelenicTable
    | ZhangSkeelTable
    | MultirateTable
    | RattleTable
    | ShakeTable
    | StaticTable
)
# By the word for ``kind``.
METHODS: dict[str, type[Table]] = {
    get_args(model.model_fields["kind"].annotation)[0]: model for model in get_args(IntegratorTable)
}

# Methods that were kinds up to version 0.10, and the module of examples/papers that each one is now.
FORMER = {
    "energy-stepping": "energy_stepping",
    "linearly-implicit-newmark": "linearly_implicit",
    "variational-euler": "variational_euler",
}


class Thermostat(Table):
    """Friction and noise that hold a temperature."""

    temperature: Annotated[float, not_negative("K")]
    rate: Annotated[float | None, not_negative("1/s")] = None
    friction: Annotated[float | None, not_negative("kg/s")] = None
    seed: Annotated[int, whole(0, LARGEST_SEED)] = 0
    boltzmann: Annotated[float, positive("J/K")] = BOLTZMANN

    @model_validator(mode="after")
    def _check(self) -> Thermostat:
        one_of(self, ["rate", "friction"], "damping")
        return self
