"""A small truss for compiled loops over steps, and motions without these."""

import numpy as np

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.fem.actions.loads import Gravity
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain
from symplex.fem.system import System
from symplex.time.constraints.rattle import ConstrainedMotion
from symplex.time.explicit.newmark import NewmarkMotion


def truss(dim, stiffness, floor, floor_stiffness, before=None, after=None):
    """Six nodes, one held, joined by bars and springs, in gravity, above a floor at a height that they meet.

    ``before`` and ``after`` are energies next to those of the truss.
    """
    x = np.array(
        [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [2.0, 0.0, 0.2], [0.5, 0.8, 0.4], [1.5, 0.9, -0.1], [2.4, 0.7, 0.5]]
    )
    x, down = x[:, :dim].copy(), np.eye(dim)[-1]
    pairs = np.array([[0, 1], [1, 2], [0, 3], [3, 1], [1, 4], [3, 4], [4, 2], [5, 4], [2, 5]])
    lengths = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    fixed = np.zeros(x.shape, bool)
    fixed[0] = fixed[5, 0] = True
    mass = np.array([1.0, 2.0, 0.5, 1.0, 0.3, 0.7])
    energies = {
        "bars": Bars(pairs[:5], GreenStrain(stiffness, lengths[:5]), dim=dim),
        "gravity": Gravity(mass, -9.81 * down),
        "springs": Bars(pairs[5:], EngineeringStrain(0.3 * stiffness, lengths[5:]), dim=dim),
        "floor": RigidContact([1, 2, 4], HalfSpace(floor * down, down), floor_stiffness),
    }
    system = System(mass, {**(before or {}), **energies, **(after or {})}, dim=dim, fixed=fixed)
    return system, system.state(x, 0.5 * down)


def one_by_one(motion, monkeypatch):
    """Return a motion that takes its steps from Python, one after the other, or calls all forces back from its loop."""
    inner = getattr(motion, "inner", motion)
    if isinstance(inner, NewmarkMotion | ConstrainedMotion):
        inner._table = inner._loads = None
    else:
        monkeypatch.setattr(inner, "_compiled_steps", lambda n, sizes: 0)
    return motion
