"""The tables of how time is stepped: [integrator], computed from the classes of integrators, and [thermostat]."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from symplex.base.arguments import declared, parameters_of
from symplex.base.quantities import (
    Quantity,
    by_name,
    check_text,
    must_be_one_of,
    names,
    vector_or_random,
    whole,
    words,
    yes_or_no_by_direction,
)
from symplex.device.motion import OnDevice
from symplex.scenario.reading import fields_of
from symplex.scenario.table import Entry, one_of
from symplex.time.catalogue import by_kind
from symplex.time.composition import Composition, SchemeName
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.conserving.schemes import SCHEMES
from symplex.time.constraints.rattle import Rattle, Shake
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.local_levels import MOST as MOST_LEVELS
from symplex.time.explicit.multirate import Multirate
from symplex.time.explicit.newmark import Newmark
from symplex.time.integrator import FixedStepIntegrator, Integrator
from symplex.time.langevin import Langevin
from symplex.time.variational.zhang_skeel import ZhangSkeel

# The class of each kind. Its parameters are the keys of the table.
INTEGRATORS: dict[str, type[Integrator]] = {kind: type(method) for kind, method in by_kind().items()}
# Methods that were kinds up to version 0.10, and the module of examples/papers that each one is now.
FORMER = {
    "energy-stepping": "energy_stepping",
    "linearly-implicit-newmark": "linearly_implicit",
    "variational-euler": "variational_euler",
}
WITH_ANGLE: tuple[str, ...] = tuple(name for name, scheme in SCHEMES.items() if hasattr(scheme, "angle"))
_ORDERS = (2, 4, 6, 8)


def _order(value: Any) -> int:
    if isinstance(value, bool) or value not in _ORDERS:
        raise must_be_one_of(value, _ORDERS)
    return value


class MethodKey(NamedTuple):
    """A key of [integrator].

    Attributes
    ----------
    quantity : Quantity
    default : object
        ``...`` where there is none.
    way : tuple of str
        The parameter of the method that it is, or that of a part of it; empty where it is none.
    sentence : str
        For the reference.
    """

    quantity: Quantity
    default: Any
    way: tuple[str, ...]
    sentence: str


# Keys of a scenario that are no parameters, and those that Python takes in more ways: without a way.
_COMPOSED = {
    "order": MethodKey(
        Quantity(_order, "", "2, 4, 6 or 8"),
        None,
        (),
        "Order, by composition of substeps; by default that of the method.",
    ),
    "substeps": MethodKey(
        words(SchemeName.__args__),
        None,
        (),
        'Scheme of these: of order 4 `"suzuki"` (the default) or `"triple jump"`; of order 6 `"kahan-li"` or '
        '`"yoshida"`, and, of explicit Newmark without loads that change, `"blanes-moan"`; of order 8 '
        '`"kahan-li"` or `"suzuki-umeno"`.',
    ),
}
_OTHERS: dict[type[Integrator], dict[str, MethodKey]] = {
    Newmark: {
        "device": MethodKey(
            words(("cpu", "cuda")),
            "cpu",
            (),
            '`"cuda"`: steps of the explicit member are taken on a CUDA device ([device.md](../device.md)).',
        )
    },
    Multirate: {
        "given": MethodKey(
            by_name(whole(0, MOST_LEVELS)),
            {},
            ("given",),
            "Levels of energies (bodies, obstacles, …) by name, as `{ floor = 3 }`; those of others are found.",
        )
    },
    GrahamJelenic: {
        "external": MethodKey(
            names(),
            None,
            ("external",),
            'For `"exact-steady-motion"` and orders of 4 and more: names of energies whose forces act like loads, '
            "as they have no secant form; by default obstacles at rest, anchored springs and constant loads.",
        )
    },
    ForceStepping: {
        "offset": MethodKey(
            vector_or_random("grid sizes"),
            None,
            ("offset",),
            'Offset of the lattice, the same for all nodes; by default `"random"`, in mirrored directions 0.',
        ),
        "mirrored": MethodKey(
            yes_or_no_by_direction(),
            False,
            ("mirrored",),
            "Neighbouring cells are mirror images, in all or some directions ([more](../force-stepping.md)).",
        ),
        "align": MethodKey(
            Quantity(check_text, kind="text"),
            None,
            (),
            "Name of a half-space: one axis of the lattice is along its normal. A stiff wall oblique to the "
            "lattice is rough on the scale of the grid and deflects the rebound.",
        ),
    },
}


def keys_of(method: type[Integrator]) -> dict[str, MethodKey]:
    """Return the keys of the table of a method, in the order of its parameters."""
    found: dict[str, MethodKey] = {}
    others = _OTHERS.get(method, {})
    defaults = {item.name: item for item in fields(method)}  # pyright: ignore[reportArgumentType]
    for name, parameter in parameters_of(method).items():
        field = defaults[name]
        if parameter.part is not None:
            for inner, of_part in parameters_of(parameter.part).items():
                if inner not in parameter.without and of_part.quantity is not None:
                    default = getattr(field.default, inner)
                    found[of_part.key] = MethodKey(of_part.quantity, default, (name, inner), of_part.sentence)
        elif parameter.quantity is not None and parameter.key not in others:
            default = ... if field.default is MISSING else field.default
            found[parameter.key] = MethodKey(parameter.quantity, default, (name,), parameter.sentence)
    if issubclass(method, FixedStepIntegrator) and "composition" in _example(method).takes:
        found |= _COMPOSED
    return found | others


def _example(method: type[Integrator]) -> Integrator:
    """Return a method of sizes that mean nothing."""
    bare = [item.name for item in fields(method) if item.default is MISSING and item.default_factory is MISSING]  # pyright: ignore
    return method(**{name: {} if name == "constraints" else 1.0 for name in bare})


class IntegratorTable(Entry):
    """A table [integrator]: the parameters of the class of its kind."""

    of_all = True
    kind: str
    of: ClassVar[type[Integrator]]
    keys: ClassVar[Mapping[str, MethodKey]]
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the value of a key, which those of the class are."""

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        kind = value.get("kind") if isinstance(value, Mapping) and cls is IntegratorTable else None
        return METHODS[kind](**value) if isinstance(kind, str) and kind in METHODS else value

    def bare(self, **more: Any) -> Integrator:
        """Return the method with the parameters of the table, and others, without composition."""
        given: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {}
        for key, item in self.keys.items():
            if len(item.way) == 2:
                parts.setdefault(item.way[0], {})[item.way[1]] = getattr(self, key)
            elif item.way and getattr(self, key) is not None:
                given[item.way[0]] = getattr(self, key)
        for name, values in parts.items():
            part = parameters_of(self.of)[name].part
            assert part is not None
            given[name] = part(**values)
        if issubclass(self.of, Rattle | Shake):
            given["constraints"] = {}
        return self.of(**given | more)

    def method(self, **more: Any) -> Integrator:
        """Return the method that the table describes: composed, or on a device."""
        method: Any = self.bare(**more)
        order, substeps = getattr(self, "order", None), getattr(self, "substeps", None)
        if order is not None and order < method.order:
            raise ValueError(f"order must be at least {method.order:g}, that of {method.name} itself, got {order}")
        if order is not None and order > method.order:
            assert isinstance(method, FixedStepIntegrator)
            try:
                method = Composition(method, order, substeps)
            except ValueError as error:
                if "composition" in method.takes:
                    raise
                why = str(error).removeprefix("Composition: ").rstrip(".")
                raise ValueError(f"order must be {method.order:g}, got {order}: {why}") from None
        elif substeps is not None:
            raise ValueError(f"substeps goes with an order above {method.order:g}, that of {method.name} itself")
        if getattr(self, "device", "cpu") == "cpu":
            return method
        if not (isinstance(method, Newmark) and method.explicit):
            raise ValueError('device must be "cpu" with beta above 0 or an order above 2, got "cuda"')
        return OnDevice(method)

    def __reduce__(self) -> tuple[Any, ...]:  # no module has the computed class by its name
        return _blank, (self.kind,), self.__getstate__()

    def _check(self) -> None:
        try:
            method = self.method()
        except ValueError as error:
            raise ValueError(re.sub(r"^[A-Z]\w+: ", "", str(error)).rstrip(".")) from None  # the class is the kind
        bare = method.integrator if isinstance(method, Composition) else method
        for key, goes_with in _without_effect(bare).items():
            self.refuse_unused(key, goes_with=goes_with)


def _without_effect(method: Integrator) -> dict[str, str]:
    """Return the keys that have no effect next to the others, each with what it goes with."""
    found: dict[str, str] = {}
    match method:
        case Newmark():
            if method.explicit:
                keys = ("solver", "iterations", "halvings", "tolerance")
                found |= dict.fromkeys(keys, "the implicit members, which have a beta above 0")
            if method.dt != "auto":
                keys = ("safety", *(() if method.contact_steps == "auto" else ("contact_safety",)))
                found |= dict.fromkeys(keys, f'dt = "auto"; dt is {method.dt:g} s')
        case GrahamJelenic() if method.scheme not in WITH_ANGLE:
            found["angle"] = f"the schemes {' and '.join(WITH_ANGLE)}"
        case GrahamJelenic() if not method.scheme.startswith("cayley-magnus"):
            found["interpolant"] = "cayley-magnus schemes"
        case ZhangSkeel() if method.variant != "push-forward":
            goes_with = f'the variant "push-forward"; "{method.variant}" solves linear equations'
            found |= dict.fromkeys(("iterations", "tolerance"), goes_with)
        case ForceStepping():
            still = method.offset is None and np.all(method.mirrored)
            if still or isinstance(method.offset, np.ndarray):
                found["seed"] = "a random offset"
    return found


def _table(kind: str, method: type[Integrator]) -> type[IntegratorTable]:
    """Return the model of the table of a kind."""
    keys = keys_of(method)
    annotations = {key: Annotated[Any, item.quantity] for key, item in keys.items()}
    values = {key: item.default for key, item in keys.items() if item.default is not ...}
    values |= {"of": method, "keys": keys, "__doc__": method.__doc__, "__module__": __name__}
    annotations["kind"] = Literal[kind]  # pyright: ignore
    return type(method.__name__, (IntegratorTable,), {"__annotations__": annotations, **values})


def _blank(kind: str) -> IntegratorTable:
    """Return a table of a kind, to be filled by what was pickled."""
    return METHODS[kind].__new__(METHODS[kind])


METHODS: dict[str, type[IntegratorTable]] = {kind: _table(kind, method) for kind, method in INTEGRATORS.items()}


class Thermostat(Entry):
    """Constant temperature: friction and noise after each step ([langevin.md](../langevin.md)).

    For all kinds with steps of one size but ``"shake"``, and lumped masses. The history has ``heat``, the energy that
    friction and noise have put in, ``balance``, the total less the heat, and ``temperature``, the kinetic one of the
    moment.
    """

    of_all = False
    temperature: Annotated[float, declared(Langevin, "temperature")]
    rate: Annotated[float | None, declared(Langevin, "rate")] = None
    friction: Annotated[float | None, declared(Langevin, "friction"), "γ, the same on each node; not with rods."] = None
    seed: Annotated[int, declared(Langevin, "seed"), "Of the noise, which is the same for the same seed."] = (
        Langevin.seed
    )
    boltzmann: Annotated[float, declared(Langevin, "boltzmann")] = Langevin.boltzmann

    def _check(self) -> None:
        one_of(self, ["rate", "friction"], "damping")

    def around(self, method: Integrator) -> Langevin:
        """Return a method with this thermostat."""
        return Langevin(method, **{key: getattr(self, key) for key in fields_of(type(self))})
