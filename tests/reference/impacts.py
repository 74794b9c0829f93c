"""A small block that is thrown at a floor, built of numbers: a run whose derivatives are known by differences."""

import numpy as np

import symplex as sx

MESH = sx.box((0.1, 0.1, 0.1), (1, 1, 1))
CELLS = MESH.cells["tetra"]
# Young's modulus, Poisson's ratio, density, stiffness of the floor, friction, gravity, spin, damping
PARAMETERS = np.array([1e5, 0.3, 1000.0, 2e3, 0.3, 9.81, 6.0, 2e-4])
NAMES = ("young", "poisson", "density", "floor", "friction", "gravity", "spin", "damping")


def thrown(p):
    """Return the system and the state at the start for parameters p [8]."""
    young, poisson, density, stiffness, friction, gravity, spin, damping = p
    lmbda, mu = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), 0.5 * young / (1.0 + poisson)
    strain = sx.Solid(MESH.points, CELLS, sx.NeoHookean(lmbda=lmbda, mu=mu, density=density))
    mass = sx.lumped_mass(MESH.points, CELLS, density, len(MESH.points))
    floor = sx.RigidContact(MESH.boundary_nodes, sx.HalfSpace((0.0, 0.0, -0.003), (0.1, 0.0, 1.0)), stiffness)
    loads = {
        "friction": sx.contact.Friction(floor, friction, slip_speed=0.05),
        "damping": sx.actions.StiffnessDamping(strain, MESH.points, damping),
    }
    energies = {"block": strain, "gravity": sx.Gravity(mass, (0.0, 0.0, -gravity)), "floor": floor}
    away = MESH.points - MESH.points.mean(axis=0)
    v = np.array([1.0, 0.0, -2.0]) + spin * np.cross([0.3, 1.0, 0.1], away)
    system = sx.System(mass, energies, loads=loads)
    return system, system.state(MESH.points, v)


def differences(function, p, j, relative):
    """Return the central difference of a function of parameters by one of them."""
    h = relative * abs(p[j])
    e = h * np.eye(len(p))[j]
    return (function(p + e) - function(p - e)) / (2.0 * h)
