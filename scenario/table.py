"""What all tables of a scenario have in common, and what each of them answers.

Builders and checks loop over the tables of a scenario and know no kind of them: each answers what it contains, which
bodies and files it names, what it needs of integrators, and which energies and loads it adds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from symplex.base.quantities import ZERO, Quantity, Triple, check_text, nonzero, number
from symplex.fem.assembly.directions import rotation_matrix, unit_vector
from symplex.fem.energies.energy import Array
from symplex.meshes.mesh import Mesh
from symplex.scenario.reading import Keys, fields_of, parts_of

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables
    from symplex.time.traits import Trait

BODY = Quantity(check_text, kind="name of a body")  # or of a truss or point mass; `Table.named` finds keys of it
TOUCHING = Quantity(check_text, kind="name of a body or rigid body")
BodyName = Annotated[str, BODY, "Body, truss, beam, shell or point mass."]
TouchingName = Annotated[str, TOUCHING]
TOUCHED = "Bodies, beams and shells that it touches; by default all."


class Table(Keys):
    """A table of a scenario, or in one."""

    def refuse_unused(self, *keys: str, goes_with: str) -> None:
        """Refuse keys that are given and would have no effect, as they go with something else."""
        if given := [key for key in keys if key in self.given_keys]:
            raise ValueError(f"{given[0]} goes with {goes_with}; leave it out")

    def named(self, what: Quantity) -> list[str]:
        """Return what keys name that are declared as this, those of tables inside included, each once."""
        found: dict[str, None] = {}
        for name in fields_with(type(self), what):
            for value in _flat(getattr(self, name)):
                found |= dict.fromkeys(value.named(what) if isinstance(value, Table) else [value])
        return list(found)


@cache
def fields_with(model: type[Table], what: Quantity) -> tuple[str, ...]:
    """Return the fields of a table, or of tables inside, that are declared as something."""
    declared = {name: list(parts_of(field.annotation)) for name, field in fields_of(model).items()}
    inner = {
        name: [x for x in parts if isinstance(x, type) and issubclass(x, Table)] for name, parts in declared.items()
    }
    return tuple(
        name for name, parts in declared.items() if what in parts or any(fields_with(x, what) for x in inner[name])
    )


def _flat(value: Any) -> Iterator[Any]:
    """Yield texts and tables in a value."""
    if isinstance(value, str | Table):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _flat(one)


class Need(NamedTuple):
    """What a table needs of the integrator.

    Attributes
    ----------
    trait : str
    message : str
        After the place of the table, with ``{kind}`` for the integrator, ``{method}`` for the same with its
        family, and ``{others}`` for kinds that have the trait.
    next_to : str, optional
        Another trait, without which it is not reported.
    """

    trait: Trait
    message: str
    next_to: Trait | None = None


def needs_of_history(what: str) -> Iterable[Need]:
    """Yield what a part with history needs, such as ``its bonds break``."""
    message = f"{what}, which {{kind}} does not take; take another integrator, such as {{others}}."
    yield Need("internal variables", message)
    yield Need("history", message)


class Entry(Table):
    """A table of a scenario file.

    A new kind is a class and a field of `symplex.scenario.tables.Tables`. It answers below what is not as by default.

    Attributes
    ----------
    here : str
        What messages call it: its place in the file.
    has_name : bool
        Whether columns of the history are named after it, so that its name must be its own.
    brings_nodes : bool
        Whether such a table may have nodes that move; one table of a scenario must.
    joins : bool
        Whether the bodies that it names are connected by it.
    of_all : bool, optional
        Whether it goes with any bodies, or with none, if some of all are computed alone; default: with those that it
        names.
    adds_energy, does_work : bool
        Whether it adds an energy of its name, and a column ``work_NAME``.
    starts_moving : bool
        Whether its keys ``velocity`` and ``angular_velocity`` are those of its nodes at the start.
    particles : int
        How many nodes of the system each of its nodes is: several where it has a rotation, as those of beams.
    takes_rotations : bool
        Whether the bodies that it names may have such nodes.
    takes_reduced : bool
        Whether the bodies that it names may be reduced.
    """

    here: ClassVar[str] = ""
    has_name: ClassVar[bool] = True
    brings_nodes: ClassVar[bool] = False
    joins: ClassVar[bool] = False
    of_all: ClassVar[bool | None] = None
    adds_energy: ClassVar[bool] = False
    does_work: ClassVar[bool] = False
    starts_moving: ClassVar[bool] = False
    particles: ClassVar[int] = 1
    takes_rotations: ClassVar[bool] = False
    takes_reduced: ClassVar[bool] = False

    # -- what it contains and names

    @property
    def has_nodes(self) -> bool:
        """Whether it has nodes in the mesh, which tables can then name as those of a body."""
        return False

    @property
    def bodies_named(self) -> list[str]:
        """The names of the bodies, trusses and point masses that its keys name."""
        return self.named(BODY)

    def within(self, bodies: set[str]) -> Self | None:
        """Return what of it acts on some bodies that nothing joins to others, or None."""
        own = self.bodies_named
        if self.of_all is None and not own:
            raise NotImplementedError(f"{type(self).__name__}: of_all must say on which bodies it acts.")
        return self if (bodies.issuperset(own) if self.of_all is None else self.of_all) else None

    @property
    def energies(self) -> list[str]:
        """The names of the energies that it adds."""
        return [getattr(self, "name", "")] if self.adds_energy else []

    @property
    def without_secant(self) -> list[str]:
        """The names of those of its energies whose forces have no secant form."""
        return []

    def columns(self, tables: Tables) -> Iterable[str]:
        """Return the columns of the history that it adds besides its name; nothing else can be called so."""
        return [f"work_{getattr(self, 'name', None)}"] if self.does_work else []

    # -- what it needs

    def needs(self) -> Iterable[Need]:
        """Return what it needs of the integrator."""
        return ()

    @property
    def initial_velocities(self) -> list[str]:
        """Its velocities at the start, in words; where a run begins from another state they have no effect."""
        keys = ("velocity", "angular_velocity") if self.starts_moving else ()
        return [f"its {key}" for key in keys if any(getattr(self, key, None) or ZERO)]

    # -- what it builds; each may raise `SymplexError`

    def own_mesh(self, folder: Path) -> Mesh:
        """Return the mesh of its nodes; files are looked for in a folder."""
        raise NotImplementedError

    def has_mesh_of(self, other: Entry) -> bool:
        """Return whether its own mesh is that of another table, so that it need not be made again."""
        return self == other

    def add_stiffness(self, world: Builder) -> None:
        """Add energies that need no others."""

    def add_contact(self, world: Builder) -> None:
        """Add energies and loads that need the strain energies of all bodies."""

    def add_forces(self, world: Builder) -> None:
        """Add forces that do not depend on velocities."""

    def add_damping(self, world: Builder) -> None:
        """Add what depends on velocities, and needs all energies."""


ADDED = (Entry.add_stiffness, Entry.add_contact, Entry.add_forces, Entry.add_damping)  # in this order


def placed(points: Array, rotate: Rotation | None, translate: Triple) -> Array:
    """Return points [n, 3] in m rotated about the origin and then translated."""
    turned = points if rotate is None else points @ rotate.matrix.T
    return np.ascontiguousarray(turned + np.array(translate))


class BodyTable(Entry):
    """A table of what has nodes in the mesh and an energy, both by its name."""

    adds_energy = True
    starts_moving = True
    brings_nodes = True

    @property
    def has_nodes(self) -> bool:
        """Yes."""
        return True

    def within(self, bodies: set[str]) -> Self | None:
        """Return it, if it is one of them."""
        return self if getattr(self, "name", None) in bodies else None


def one_of(table: Table, keys: Sequence[str], what: str) -> str:
    """Return the one of some keys that is given."""
    given = [key for key in keys if getattr(table, key) is not None]
    if len(given) != 1:
        found = "none is given" if not given else f"given are {' and '.join(given)}"
        raise ValueError(f"needs one {what} of {', '.join(keys)}; {found}")
    return given[0]


def needs_of_mass(mass: str) -> Iterable[Need]:
    """Return what a mass needs of the integrator."""
    if mass == "consistent":
        message = 'mass = "consistent" needs an implicit integrator; with {method} take mass = "lumped".'
        yield Need("consistent mass", message)


class Rotation(Table):
    """A turn about an axis: of a mesh through its origin, of an obstacle through its centre."""

    axis: Annotated[Triple, nonzero(), "Direction of the axis."]
    degrees: Annotated[float, number("°"), "Angle of the turn."]

    @property
    def matrix(self) -> Array:
        """The matrix R [3, 3] of the turn."""
        return rotation_matrix(unit_vector(np.array(self.axis)), math.radians(self.degrees))
