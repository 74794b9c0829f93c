"""The part of a system that is on one rank: what it receives for its nodes, and the pieces of energies around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.actions.loads import Pressure
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy
from symplex.fem.energies.energy import Energy
from symplex.fem.system import Load, System
from symplex.parallel.actions import NoLoad, part_of_load, part_of_motion
from symplex.parallel.contact import EmptyContact, contact_on_rank, is_shared_contact
from symplex.parallel.division import Division, Share
from symplex.parallel.friction import (
    friction_on_rank,
    is_divisible_friction,
    sees_ghosts,
)
from symplex.parallel.inelastic import InelasticPiece, piece_of
from symplex.parallel.partition import owners
from symplex.parallel.pieces import Divided, Piece

Contact = ChangingInterpolatedEnergy | EmptyContact


class Part(NamedTuple):
    """What a rank knows of its part.

    Attributes
    ----------
    share : Share
    mass : float64 [l]
        In kg.
    fixed : bool [l, dim]
    energies : tuple of str
        The names of all, in their order.
    inner : mapping of str to Piece
        By the names of energies, those stencils that are computed while messages travel; none if the exchange is not
        hidden.
    outer : mapping of str to Piece
        The others, but for contact between bodies.
    contacts : mapping of str to Contact
        Contact between bodies.
    counted : mapping of str to Contact, optional
        In explicit steps the contacts that are counted here as a whole, so that sums have the bits of one process;
        None if each rank counts pairs around its own nodes.
    loads : mapping of str to callable
        All loads, here and elsewhere.
    moving : mapping of str to SupportMotion
        All supports that move, here and elsewhere.
    inelastic : mapping of str to InelasticPiece
        All inelastic parts, here and elsewhere.
    sends_velocities : bool
        Whether loads in explicit steps see those of ghosts.
    exposes : bool
        Whether contact between bodies follows elements that go, on whatever rank.
    """

    share: Share
    mass: Array
    fixed: NDArray[np.bool_]
    energies: tuple[str, ...]
    inner: Mapping[str, Piece]
    outer: Mapping[str, Piece]
    contacts: Mapping[str, Contact]
    counted: Mapping[str, Contact] | None
    loads: Mapping[str, Load]
    moving: Mapping[str, SupportMotion]
    inelastic: Mapping[str, InelasticPiece]
    sends_velocities: bool = False
    exposes: bool = False


class Place(NamedTuple):
    """Where a step has failed first: after so many steps, in which energy, by what, in which of its stencils."""

    step: int
    energy: int
    kind: int
    stencil: int


class Around(NamedTuple):
    """Stencils of an energy around own nodes."""

    energy: Energy  # on the nodes of the rank
    chosen: NDArray[np.integer]  # [m]: which stencils these are in the whole energy
    counts: NDArray[np.bool_]  # [m]: which of them count here: each stencil of the whole counts on one rank


def owners_of(system: System, q: Array, ranks: int) -> NDArray[np.int32]:
    """Return the rank [n] that owns each node of a system with nodes at q [n, dim]."""
    parts = (*system.energies.values(), *system.inelastic.values())
    return owners(q, [one.nodes for one in parts if not (isinstance(one, Energy) and is_shared_contact(one))], ranks)


def parts_of(
    system: System, owner: NDArray[np.int32], ranks: int, threads: int, *, explicit: bool, hides: bool = False
) -> Callable[[int], Part]:
    """Return a function that returns the part of a system that a rank has.

    Parameters
    ----------
    system : System
        One that `require_parts` lets pass.
    owner : int32 [n]
        The rank that owns each node.
    ranks, threads : int
        How many ranks, and threads of each.
    explicit : bool
        Whether it is for explicit steps, in which ranks decide nothing together.
    hides : bool, default False
        Whether the exchange is hidden behind inner stencils.
    """
    contacts = {name: energy for name, energy in system.energies.items() if is_shared_contact(energy)}
    energies = {name: energy for name, energy in system.energies.items() if name not in contacts}
    stencils = {name: np.ascontiguousarray(energy.nodes) for name, energy in energies.items()}
    # A face needs the positions of all its nodes, also where it is none of an element.
    stencils |= {f"load {name}": load.nodes for name, load in system.loads.items() if isinstance(load, Pressure)}
    stencils |= {f"inelastic {name}": part.nodes for name, part in system.inelastic.items()}
    touching = {name: contact.possible_nodes for name, contact in contacts.items()}
    division = Division(owner, stencils, ranks, list(touching.values()))
    divided = {name: Divided(energy, threads) for name, energy in energies.items()}
    names = {id(energy): name for name, energy in system.energies.items()}
    sends = explicit and any(is_divisible_friction(load) and sees_ghosts(load) for load in system.loads.values())

    def pieces(chosen: Mapping[str, IntArray], nodes: IntArray) -> dict[str, Piece]:
        return {name: one.piece(chosen[name], nodes) for name, one in divided.items()}

    def load_on(share: Share, load: Load, contacts: Mapping[str, Contact], outer: Mapping[str, Piece]) -> Load:
        """Return what a load does on a rank; friction follows from what that has of its contact."""
        if not is_divisible_friction(load):
            return part_of_load(load, share, system)  # pyright: ignore[reportArgumentType]
        name = names[id(load.energy)]
        if name in touching:
            here = contacts.get(name)
            return friction_on_rank(load, here) if isinstance(here, ChangingInterpolatedEnergy) else NoLoad()
        both = np.union1d(share.inner[name], share.outer[name])
        piece = divided[name].piece(both, share.nodes) if hides else outer[name]
        if not len(piece.nodes):
            return NoLoad()
        found = friction_on_rank(load, piece.energy())
        return found.__call__ if hides else found  # of both it is none of the energies of the rank that it follows from

    def part(rank: int) -> Part:
        share = division.share(rank, hides)
        nodes, own = share.nodes, share.ghosts
        here: dict[str, Contact] = {
            name: contact_on_rank(contact, nodes, own)
            for name, contact in contacts.items()
            if (owner[touching[name]] == rank).any()
        }
        elsewhere = {name: EmptyContact() for name in contacts.keys() - here.keys()}
        outer = pieces(share.outer, nodes)
        inelastic = {
            name: piece_of(some, np.union1d(share.inner[key], share.outer[key]), nodes, own)
            for name, some in system.inelastic.items()
            if (key := f"inelastic {name}")
        }
        first = [name for name in here if owner[touching[name]].min() == rank]
        return Part(
            share=share,
            mass=np.asarray(system.mass)[nodes],
            fixed=(system.fixed & ~system.moving.mask)[nodes],
            energies=tuple(system.energies),
            inner=pieces(share.inner, nodes) if hides else {},
            outer=outer,
            contacts=here | elsewhere,
            counted={name: contact_on_rank(contacts[name], nodes, None) for name in first} if explicit else None,
            loads={name: load_on(share, load, here, outer) for name, load in system.loads.items()},
            moving={name: part_of_motion(motion, share) for name, motion in system.moving.motions.items()},
            inelastic=inelastic,
            sends_velocities=sends,
            exposes=bool(contacts) and any(part.erodes for part in system.inelastic.values()),
        )

    return part
