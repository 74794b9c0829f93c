"""Gradients: how much the results of a run change with what it depends on."""

# Made by tests/write_stubs.py.
from symplex.gradients.adjoint import RunGradient as RunGradient
from symplex.gradients.adjoint import gradient as gradient
from symplex.gradients.equilibria import EquilibriumTangent as EquilibriumTangent
from symplex.gradients.equilibria import FrequencyTangent as FrequencyTangent
from symplex.gradients.equilibria import ResponseTangent as ResponseTangent
from symplex.gradients.equilibria import equilibrium_tangent as equilibrium_tangent
from symplex.gradients.equilibria import frequency_tangent as frequency_tangent
from symplex.gradients.equilibria import response_tangent as response_tangent
from symplex.gradients.tangents import RunTangent as RunTangent
from symplex.gradients.tangents import tangent as tangent
from symplex.gradients.wrappers import jax_function as jax_function
from symplex.gradients.wrappers import torch_function as torch_function
