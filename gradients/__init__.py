"""Gradients: how much the results of a run change with what it depends on."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".adjoint": ("gradient", "RunGradient"),
        ".equilibria": (
            *("equilibrium_tangent", "frequency_tangent", "response_tangent"),
            *("EquilibriumTangent", "FrequencyTangent", "ResponseTangent"),
        ),
        ".tangents": ("tangent", "RunTangent"),
        ".wrappers": ("jax_function", "torch_function"),
    },
)
