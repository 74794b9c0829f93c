"""MuJoCo, whose flexible bodies are tetrahedra of Saint Venant's and Kirchhoff's law: see `serving`."""

from __future__ import annotations

import numpy as np
from serving import STEPS, Package, Tetrahedra, serve

_MODEL = """
<mujoco>
  <option gravity="0 0 0" timestep="{dt!r}" integrator="Euler"><flag contact="disable" eulerdamp="disable"/></option>
  <worldbody>
    <flexcomp name="cube" type="direct" dim="3" mass="1" radius="1e-6" point="{points}" element="{cells}">
      <contact contype="0" conaffinity="0" selfcollide="none"/>
      <elasticity young="{young!r}" poisson="{poisson!r}" damping="0"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""


def mujoco(problem: Tetrahedra) -> Package:
    """Return MuJoCo: a step is one of its semi-implicit Euler method, without contact."""
    import mujoco as mj  # pyright: ignore[reportMissingImports]

    points = " ".join(f"{x:.17g}" for x in problem.points.ravel())
    cells = " ".join(map(str, problem.cells.ravel()))
    text = _MODEL.format(dt=problem.dt, points=points, cells=cells, young=problem.young, poisson=problem.poisson)
    model = mj.MjModel.from_xml_string(text)
    model.body_mass[1:] = problem.lumped
    data = mj.MjData(model)
    mj.mj_setConst(model, data)
    u = (problem.q - problem.points).ravel()

    def forces() -> np.ndarray:
        data.qpos[:] = u
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_flex(model, data)
        mj.mj_passive(model, data)
        return -data.qfrc_passive.reshape(-1, 3)

    def steps() -> None:
        data.qpos[:], data.qvel[:] = u, 0.0
        for _ in range(STEPS):
            mj.mj_step(model, data)

    return Package(
        mj.__version__,
        {"forces": forces, "steps": steps},
        {"forces": lambda: forces().copy()},
        law="Saint Venant-Kirchhoff",
    )


if __name__ == "__main__":
    serve({Tetrahedra: mujoco})
