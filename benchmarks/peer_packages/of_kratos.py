"""Kratos: see `serving`."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from serving import Package, Tetrahedra, serve


def kratos(problem: Tetrahedra) -> Package:
    """Return Kratos with total Lagrangian elements and the hyperelastic law of its constitutive laws."""
    import KratosMultiphysics as K  # pyright: ignore[reportMissingImports]
    from KratosMultiphysics import ConstitutiveLawsApplication, StructuralMechanicsApplication  # pyright: ignore[reportMissingImports]  # noqa: F401

    K.Logger.GetDefaultOutput().SetSeverity(K.Logger.Severity.WARNING)
    model = K.Model()
    part = model.CreateModelPart("solid")
    part.ProcessInfo.SetValue(K.DOMAIN_SIZE, 3)
    for variable in (K.DISPLACEMENT, K.REACTION, K.VOLUME_ACCELERATION):
        part.AddNodalSolutionStepVariable(variable)
    for i, (x, y, z) in enumerate(problem.points.tolist(), 1):
        part.CreateNewNode(i, x, y, z)
    properties = part.CreateNewProperties(1)
    properties.SetValue(K.YOUNG_MODULUS, problem.young)
    properties.SetValue(K.POISSON_RATIO, problem.poisson)
    properties.SetValue(K.DENSITY, problem.density)
    properties.SetValue(K.CONSTITUTIVE_LAW, ConstitutiveLawsApplication.HyperElastic3DLaw())
    for i, cell in enumerate((problem.cells + 1).tolist(), 1):
        part.CreateNewElement("TotalLagrangianElement3D4N", i, cell, properties)
    for axis in "XYZ":
        K.VariableUtils().AddDof(getattr(K, f"DISPLACEMENT_{axis}"), getattr(K, f"REACTION_{axis}"), part)
    for node, u in zip(part.Nodes, (problem.q - problem.points).tolist(), strict=True):
        node.SetSolutionStepValue(K.DISPLACEMENT, u)
        node.X, node.Y, node.Z = node.X0 + u[0], node.Y0 + u[1], node.Z0 + u[2]
    scheme = K.ResidualBasedIncrementalUpdateStaticScheme()
    builder = K.ResidualBasedBlockBuilderAndSolver(K.SkylineLUFactorizationSolver())
    criterion = K.ResidualCriteria(1e-8, 1e-8)
    strategy = K.ResidualBasedNewtonRaphsonStrategy(part, scheme, criterion, builder, 1, False, False, True)
    strategy.Initialize()
    strategy.InitializeSolutionStep()
    matrix, residual = strategy.GetSystemMatrix(), strategy.GetSystemVector()
    ids = np.array([[n.GetDof(getattr(K, f"DISPLACEMENT_{axis}")).EquationId for axis in "XYZ"] for n in part.Nodes])

    def gradient() -> None:
        K.UblasSparseSpace().SetToZeroVector(residual)
        builder.BuildRHS(scheme, part, residual)

    def tangent() -> None:
        K.UblasSparseSpace().SetToZeroMatrix(matrix)
        K.UblasSparseSpace().SetToZeroVector(residual)
        builder.Build(scheme, part, matrix, residual)

    def forces() -> np.ndarray:
        gradient()
        return -np.array(residual)[ids]

    def product() -> np.ndarray:
        tangent()
        x, y = K.Vector(ids.size), K.Vector(ids.size)
        for place, value in zip(ids.ravel().tolist(), problem.direction.ravel().tolist(), strict=True):
            x[place] = value
        K.UblasSparseSpace().Mult(matrix, x, y)
        return np.array(y)[ids]

    return Package(
        version("KratosMultiphysics"),
        {"forces": gradient, "tangent": tangent},
        {"forces": forces, "product": product},
        remark="a tangent comes with the forces",
    )


if __name__ == "__main__":
    serve({Tetrahedra: kratos})
