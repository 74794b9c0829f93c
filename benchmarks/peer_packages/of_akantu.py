"""Akantu: see `serving`."""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
from serving import STEPS, Package, Tetrahedra, serve

_MATERIAL = """
material elastic [
  name = solid
  rho = {density!r}
  E = {young!r}
  nu = {poisson!r}
  finite_deformation = 1
]
"""


def akantu(problem: Tetrahedra) -> Package:
    """Return Akantu with its one law of finite strains in space."""
    import akantu as aka  # pyright: ignore[reportMissingImports]
    import meshio

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        tags = [np.ones(len(problem.cells), int)]
        cube = meshio.Mesh(
            problem.points,
            {"tetra": problem.cells},
            cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},  # pyright: ignore[reportArgumentType]
        )
        meshio.write(path / "cube.msh", cube, "gmsh22", binary=False)
        text = _MATERIAL.format(density=problem.density, young=problem.young, poisson=problem.poisson)
        (path / "material.dat").write_text(text, encoding="utf-8")
        aka.parseInput(str(path / "material.dat"))
        mesh = aka.Mesh(3)
        mesh.read(str(path / "cube.msh"))
    model = aka.SolidMechanicsModel(mesh)
    model.initFull(_analysis_method=aka._explicit_lumped_mass)
    model.setTimeStep(problem.dt)
    model.assembleMassLumped()
    u, v, a = model.getDisplacement(), model.getVelocity(), model.getAcceleration()

    def gradient(_: object = mesh) -> np.ndarray:  # the model does not keep its mesh alive
        model.getInternalForce()[:] = 0.0
        u[:] = problem.q - problem.points  # informs the model that positions have changed
        model.assembleInternalForces()
        return model.getInternalForce()

    def steps() -> None:
        u[:], v[:], a[:] = problem.q - problem.points, 0.0, 0.0
        for _ in range(STEPS):
            model.solveStep()

    return Package(
        version("akantu"),
        {"forces": gradient, "steps": steps},
        {"forces": lambda: -np.array(gradient())},
        law="Saint Venant-Kirchhoff",
    )


if __name__ == "__main__":
    serve({Tetrahedra: akantu})
