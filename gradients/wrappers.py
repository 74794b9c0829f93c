"""Functions of runs with derivatives, as functions of PyTorch and JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked, described
from symplex.base.quantities import whole
from symplex.errors import InvalidArgument, MissingPackage
from symplex.fem.assembly.pattern import Array

# Of arrays, the value of a function, an array or a number, and its derivative by each array.
Evaluate = Callable[..., tuple[ArrayLike, Sequence[ArrayLike]]]


@checked
def torch_function(evaluate: Evaluate) -> Callable[..., Any]:
    """Return a function of PyTorch with the values and derivatives of a function of NumPy.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(*arrays)`` of float64 arrays returns a value ``[*s]`` – an array or a number – and a derivative
        ``[*s, *a]`` by each array ``[*a]``, as `tangent` and `gradient` find them.

    Returns
    -------
    callable
        Of tensors, on any device; it returns a tensor ``[*s]`` with the type and device of the first. Gradients flow
        back to those of the tensors that require them; second derivatives do not exist, and are refused by PyTorch.

    Raises
    ------
    MissingPackage
        If there is no PyTorch.

    Examples
    --------
    >>> def landed(p):
    ...     found = sx.tangent(build, p, sx.EnergyMomentum(1e-3), [0.1], lambda system, state: state.q[tip])
    ...     return found.values[0], [found.jacobian[0]]
    >>> land = sx.gradients.torch_function(landed)
    >>> loss = ((land(network(x)) - target) ** 2).sum()
    >>> loss.backward()
    """
    torch = _package("torch", "PyTorch")

    class Evaluated(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *tensors: Any) -> Any:
            arrays = [tensor.detach().cpu().numpy().astype(float) for tensor in tensors]
            value, derivatives = _evaluated(evaluate, arrays)
            ctx.derivatives, ctx.like = derivatives, [(tensor.dtype, tensor.device) for tensor in tensors]
            return torch.as_tensor(value).to(*reversed(ctx.like[0]))

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, by: Any) -> Any:
            weights = by.detach().cpu().numpy().astype(float)
            out = (np.tensordot(weights, d, weights.ndim) for d in ctx.derivatives)
            return tuple(torch.as_tensor(x).to(device, dtype) for x, (dtype, device) in zip(out, ctx.like, strict=True))

    return Evaluated.apply


@checked
def jax_function(evaluate: Evaluate, shape: Sequence[Annotated[int, whole(0, 10**9)]] = ()) -> Callable[..., Any]:
    """Return a function of JAX with the values and derivatives of a function of NumPy.

    It is called on the host, also under ``jax.jit``, and has derivatives forwards and backwards (``jax.jvp``,
    ``jax.grad``); second derivatives are refused by JAX. Arrays are float64 where JAX is allowed these
    (``jax_enable_x64``), float32 otherwise.

    Parameters
    ----------
    evaluate : callable
        As of `torch_function`.
    shape : sequence of int, default ()
        Of its value, which JAX must know before.

    Raises
    ------
    MissingPackage
        If there is no JAX.
    """
    jax = _package("jax", "JAX")
    jnp = jax.numpy
    shape = tuple(shape)

    def called(*arrays: Any) -> tuple[Array, list[Array]]:
        kind = jnp.result_type(float)  # float32 unless JAX has been allowed float64
        value, derivatives = _evaluated(evaluate, [np.asarray(array, float) for array in arrays])
        if value.shape != shape:
            raise InvalidArgument(f"jax_function: the value has the shape {value.shape}; give it as `shape`.")
        return value.astype(kind), [derivative.astype(kind) for derivative in derivatives]

    def result(of: tuple[int, ...]) -> Any:
        return jax.ShapeDtypeStruct(of, jnp.result_type(float))

    def both(arrays: Sequence[Any]) -> tuple[Any, Any]:
        shapes = result(shape), [result((*shape, *jnp.shape(array))) for array in arrays]
        return jax.pure_callback(called, shapes, *arrays, vmap_method="sequential")

    @jax.custom_jvp
    def function(*arrays: Any) -> Any:
        return both(arrays)[0]

    @function.defjvp
    def along(arrays: Any, changes: Any) -> tuple[Any, Any]:
        value, derivatives = both(arrays)
        changed = [jnp.tensordot(d, x, jnp.ndim(x)) for d, x in zip(derivatives, changes, strict=True)]
        return value, sum(changed[1:], changed[0])

    return function


def _package(module: str, name: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingPackage(f"{name} is not installed; install it with pip install {module}.") from None


def _evaluated(evaluate: Evaluate, arrays: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Return the value and the derivatives of a function as arrays, if these fit to it and to what it is given."""
    found = evaluate(*arrays)
    try:
        value, derivatives = np.asarray(found[0], float), [np.asarray(d, float) for d in found[1]]
    except (TypeError, ValueError, IndexError):
        raise InvalidArgument(
            f"a value and a sequence of its derivatives by each array are to be returned, got {described(found)}."
        ) from None
    required = [(*value.shape, *array.shape) for array in arrays]
    if [d.shape for d in derivatives] != required:
        shapes = [d.shape for d in derivatives]
        raise InvalidArgument(f"the derivatives must have the shapes {required}, got {shapes}.")
    return value, derivatives
