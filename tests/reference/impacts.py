"""Small systems that are built of numbers, and methods whose runs have derivatives by these."""

import numpy as np

import symplex as sx

MESH = sx.box((0.1, 0.1, 0.1), (1, 1, 1))
CELLS = MESH.cells["tetra"]
# Young's modulus, Poisson's ratio, density, stiffness of the floor, friction, gravity, spin, damping
PARAMETERS = np.array([1e5, 0.3, 1000.0, 2e3, 0.3, 9.81, 6.0, 2e-4])
NAMES = ("young", "poisson", "density", "floor", "friction", "gravity", "spin", "damping")

METHODS = {
    "energy-momentum": sx.EnergyMomentum(4e-4),
    "midpoint": sx.Midpoint(4e-4),
    "backward": sx.Midpoint(4e-4, alpha=0.7),
    "trapezoidal": sx.Newmark.trapezoidal(4e-4),
    "damped Newmark": sx.Newmark(4e-4, beta=0.36, gamma=0.7),
    "hht": sx.HilberHughesTaylor(4e-4, alpha=-0.2),
    "generalized-alpha": sx.GeneralizedAlpha(4e-4, rho_inf=0.5),
    "variational": sx.VariationalMidpoint(4e-4),
    "explicit": sx.Newmark(2e-4),
    "composition": sx.Composition(sx.EnergyMomentum(1e-3), 4),
    "explicit composition": sx.Composition(sx.Newmark(4e-4), 4),
}


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


def truss(p):
    """Two bars in a plane that a mass hangs from, of a stiffness, in drag."""
    bars = sx.Bars([[0, 1], [1, 2]], sx.measures.GreenStrain(p[0], p[1]), dim=2)
    mass = np.array([1.0, p[2], 1.0])
    fixed = np.array([[True] * 2, [False] * 2, [True] * 2])
    energies = {"bars": bars, "gravity": sx.Gravity(mass, (0.0, -9.81))}
    loads = {"drag": sx.actions.Drag(mass, p[3]), "push": sx.actions.NodalLoad([1], (p[4], 0.0), lambda t: t)}
    system = sx.System(mass, energies, dim=2, fixed=fixed, loads=loads)
    return system, system.state([[-1.0, 0.0], [0.0, -p[5]], [1.0, 0.0]])
