"""The integrators of Graham and Jelenić (2006), and those of higher order that follow from their recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, final

from symplex.base.arguments import checked
from symplex.base.columns import count_column
from symplex.base.quantities import Key, names, positive, whole, words
from symplex.errors import UnstableStep
from symplex.fem.system import State, System
from symplex.time.conserving.algorithm_mc import ConservingScheme
from symplex.time.conserving.cayley_magnus import CayleyMagnus, Interpolant
from symplex.time.conserving.conserving_schemes import EnergyMomentumExactAngle, ExactSteadyMotion
from symplex.time.conserving.graham_jelenic_motion import GrahamJelenicMotion
from symplex.time.conserving.schemes import ABBREVIATIONS, SCHEMES, Abbreviation, Scheme
from symplex.time.conserving.turned_angle import Angle
from symplex.time.integrator import STEPS, FixedStepIntegrator
from symplex.time.solvers.linear import Linear
from symplex.time.solvers.newton import MOST_ITERATIONS
from symplex.time.stability import stable_step
from symplex.time.traits import Form, Trait, Use


@checked
@final
@dataclass(frozen=True)
class GrahamJelenic(FixedStepIntegrator["GrahamJelenicMotion"]):
    """Momentum-conserving one-step methods of order 2 to 8, all of the form of Graham and Jelenić's eq. 3.8.

    (P1 − P0 + 𝒢 P_½)/dt = −𝒳 R_½ + F_a,   (R1 − R0 − 𝒢ᵀ R_½)/dt = 𝓜⁻¹ P_½ − V_a,   x_½ = (x0 + x1)/2

    Both momenta are kept to round-off, loads at the order of the scheme, whether constant, functions of time, or of
    positions and velocities. All schemes come back when velocities are reversed. They need no unknowns besides R1 and
    V1, and no products but with sparse matrices.

    Abbreviations are those of the paper, and are accepted as well; CM is not in it.

    =================================  ========  =====  =============================================================
    scheme                             abbr.     order  what it is
    =================================  ========  =====  =============================================================
    ``"symplectic-momentum"``          SM        2      the midpoint rule (eq. 6.1): that of `Midpoint`
    ``"energy-momentum"``              EM        2      the discrete gradient (eq. 6.2): that of `EnergyMomentum`
    ``"assumed-distance"``                       2      mean lengths, or mean strains (eq. 6.3)
    ``"kappa"``                                  2      SM with its force times a κ that keeps energy (eqs. 4.9,
                                                        6.4), where there is one
    ``"energy-momentum-exact-angle"``  EM-theta  2      EM that turns a steadily rotating body by the exact angle
                                                        (eqs. 6.14, 6.19)
    ``"exact-steady-motion"``          A-theta   2      all of a steady motion is exact; energy is not kept (eq. 6.17)
    ``"momentum-conserving-4"``        M4        4      from 𝓕 and 𝓕̇ at both ends (eq. 6.8)
    ``"cayley-magnus-4"``              CM4       4      Cayley's transform of a Magnus expansion, 2 Gauss points
    ``"cayley-magnus-6"``              CM6       6      the same, 3 points
    ``"cayley-magnus-8"``              CM8       8      the same, 4 points
    =================================  ========  =====  =============================================================

    The schemes of order 4 and more are for energies that have a secant form, ∇φ = 𝓕 x: of pairs and of solids. A linear
    vibration about a state without stress they integrate as Padé's approximations do, stably at any step, but
    Cayley-Magnus schemes with Hermite's interpolant. Where a step leaves fast vibrations unresolved, energy-momentum is
    the method: it keeps energy as well.

    Parameters
    ----------
    dt : float
        Step in s.
    scheme : str, default "cayley-magnus-6"
        Name or abbreviation of a scheme (docs/graham-jelenic.md).
    external : tuple of str, default ()
        The energies that act like loads, −∇φ along the step: contact, gravity, custom energies, whatever has no
        secant form.
    angle : {"body", "nodes"}, default "body"
        Of schemes with an exact angle: about the principal axis of the rotation, or the mean of the nodes' angles (eq.
        6.19), exact for bodies in the plane of the rotation only.
    interpolant : {"stable", "hermite"}, default "stable"
        Of Cayley-Magnus schemes: Hermite's interpolant, more accurate where a step resolves all vibrations but
        unstable above hω = 3, or one whose odd part is of lower degree, stable at any step
        (`symplex.time.conserving.cayley_magnus`).
    iterations : int, default 200
        After which a step fails.
    linear : str, default "auto"
        The linear solver (see `Newton`).

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    dt: Annotated[float, positive("s")]
    scheme: Annotated[Scheme | Abbreviation, words((*SCHEMES, *ABBREVIATIONS))] = "cayley-magnus-6"
    external: Annotated[tuple[str, ...], names()] = ()
    angle: Angle = field(default="body", kw_only=True)
    interpolant: Interpolant = field(default="stable", kw_only=True)
    iterations: Annotated[int, whole(1, MOST_ITERATIONS)] = field(default=200, kw_only=True)
    linear: Annotated[Linear, Key("solver")] = field(default="auto", kw_only=True)

    kind = "graham-jelenic"
    symmetric = True
    columns = (STEPS, count_column("iterations", plotted=True), count_column("factorised"))

    def __post_init__(self):
        object.__setattr__(self, "scheme", ABBREVIATIONS.get(self.scheme, self.scheme))
        if self.external and not self._kind.takes_external:
            raise ValueError(f"GrahamJelenic: external is for {_OPEN}; {self.scheme} takes all energies as they are.")
        if self.interpolant == "hermite" and self._cayley_magnus is None:
            raise ValueError(
                f'GrahamJelenic: interpolant = "hermite" is for {_CAYLEY_MAGNUS}; {self.scheme} has no interpolant.'
            )

    @property
    def name(self) -> str:
        """The scheme as messages call it."""
        return f"GrahamJelenic {self.scheme}"

    @property
    def takes(self) -> frozenset[Trait]:
        """No supports that move, nodes without mass or barriers; kappa neither what collides nor compositions."""
        others: set[Trait] = set() if self.scheme == "kappa" else {"composition", "changing stencils"}
        return frozenset({"supports", "loads", "consistent mass", "thermostat", *others})

    @property
    def why_not(self) -> Mapping[Use, str]:
        """Why kappa can't be composed."""
        poles = "κ has poles, which substeps come across more often; take energy-momentum"
        return {"composition": poles} if self.scheme == "kappa" else {}

    @property
    def needs(self) -> frozenset[Form]:
        """What the scheme is made of, and Hessians for its solution."""
        return frozenset({"gradient", "hessian", *self._kind.needs})

    @property
    def named(self) -> Mapping[str, Sequence[str]]:
        """The energies that act like loads."""
        return {"external": self.external}

    def needs_of(self, energy: str) -> frozenset[Form]:
        """Return which forms it needs of the energy of a name: no secant form where it acts like a load."""
        return self.needs - {"secant"} if energy in self.external else self.needs

    def instead(self, form: Form, energy: str) -> str:
        """Return how to do with an energy that has no secant form."""
        if form != "secant":
            return ""
        names = str((*self.external, energy)).replace("'", '"')
        return f"Name it as external, external={names}: then its force acts like a load"

    @property
    def _kind(self) -> type[ConservingScheme]:
        return SCHEMES[self.scheme]

    @property
    def _cayley_magnus(self) -> type[CayleyMagnus] | None:
        """The scheme, if it is of this kind."""
        return self._kind if issubclass(self._kind, CayleyMagnus) else None

    @property
    def order(self) -> float:
        """That of the scheme."""
        return self._kind.order

    @property
    def conserves(self) -> frozenset[str]:
        """Both momenta, and what the scheme keeps besides."""
        return self._kind.conserves | {"momentum", "angular momentum"}

    def _motion(self, system: System, t0: float, dt: float, n: int) -> GrahamJelenicMotion:
        return GrahamJelenicMotion(system, t0, dt, n, self._scheme_of(system), self.iterations, self.linear)

    def _scheme_of(self, system: System) -> ConservingScheme:
        """Return the scheme for a system."""
        if self._cayley_magnus is not None:
            return self._cayley_magnus(system, tuple(self.external), self.interpolant)
        scheme = self._kind(system, tuple(self.external))
        if isinstance(scheme, EnergyMomentumExactAngle | ExactSteadyMotion):
            scheme.angle = self.angle
        return scheme

    def _step_size(self, system: System, state: State) -> float:
        """Return dt, unless vibrations are unstable at it (not looked for with a consistent mass)."""
        if self.interpolant == "stable" or self._cayley_magnus is None or not system.is_lumped:
            return self.dt
        # stable_step is 2/ω, the limit of explicit Newmark.
        limit = 0.5 * self._cayley_magnus.hermite_limit * stable_step(system, state.q)
        if self.dt > limit:
            raise UnstableStep(
                f"dt = {self.dt:.4g} s is above the stability limit of GrahamJelenic {self.scheme} with Hermite's "
                f'interpolant, {limit:.4g} s. Try dt = {0.8 * limit:.3g} s, or interpolant = "stable".'
            )
        return self.dt


_OPEN = ", ".join(name for name, scheme in SCHEMES.items() if scheme.takes_external)
_CAYLEY_MAGNUS = ", ".join(name for name, scheme in SCHEMES.items() if issubclass(scheme, CayleyMagnus))
