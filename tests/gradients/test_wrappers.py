"""Functions of runs as functions of PyTorch and JAX, each in its own process, as JAX starts threads."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import symplex as sx
from symplex.gradients.wrappers import _evaluated

PENDULUM = """
import numpy as np
import symplex as sx

masses, x = np.ones(3), np.array([[0.0, 0.0], [1.0, 0.0], [1.0, -1.0]])
fixed = np.zeros(x.shape, bool)
fixed[0] = True


def build(p):
    strain = sx.Bars([[0, 1], [1, 2]], sx.measures.EngineeringStrain(p[0], np.ones(2)), dim=2)
    system = sx.System(masses, {"springs": strain, "weight": sx.Gravity(masses, (0.0, -p[1]))}, dim=2, fixed=fixed)
    return system, system.state(x)


def ends(p):
    found = sx.tangent(build, p, sx.Midpoint(0.02), np.array([0.5, 1.0]), lambda system, state: state.q[2])
    return found.values, [found.jacobian]


p = np.array([200.0, 9.81])
values, (jacobian,) = ends(p)
weights = np.array([[1.0, -2.0], [0.5, 3.0]])
expected = np.tensordot(weights, jacobian, 2)
"""
JAX = """
import jax

jax.config.update("jax_enable_x64", True)
run = sx.gradients.jax_function(ends, (2, 2))
loss = jax.jit(lambda p: (weights * run(p)).sum())
np.testing.assert_allclose(run(p), values, rtol=1e-14)
np.testing.assert_allclose(jax.grad(loss)(p), expected, rtol=1e-13)
np.testing.assert_allclose(jax.jvp(loss, (p,), (np.array([1.0, -2.0]),))[1], expected @ [1.0, -2.0], rtol=1e-13)
np.testing.assert_allclose(jax.jacrev(run)(p), jacobian, rtol=1e-13)

# Two arrays, a number, and a function around it.
number = sx.gradients.jax_function(lambda a, b: (a @ b, [b, a]))
both = jax.grad(lambda a: number(2.0 * a, a**2))(np.array([1.0, 3.0]))
np.testing.assert_allclose(both, [6.0, 54.0], rtol=1e-14)  # of 2 a³
try:
    sx.gradients.jax_function(ends, (3,))(p)
except Exception as error:
    assert "(2, 2)" in str(error), error
else:
    raise AssertionError("a wrong shape was accepted")
"""
TORCH = """
import torch

run = sx.gradients.torch_function(ends)
q = torch.tensor(p, requires_grad=True)
(torch.tensor(weights) * run(q)).sum().backward()
np.testing.assert_allclose(run(q).detach(), values, rtol=1e-14)
np.testing.assert_allclose(q.grad, expected, rtol=1e-13)
a = torch.tensor([1.0, 3.0], requires_grad=True)  # single precision
number = sx.gradients.torch_function(lambda a, b: (a @ b, [b, a]))
found = number(2.0 * a, a**2)
found.backward()
assert found.dtype == torch.float32 and found.shape == ()
np.testing.assert_allclose(a.grad, [6.0, 54.0], rtol=1e-6)
"""


@pytest.mark.parametrize(("package", "script"), [pytest.param("jax", JAX, marks=pytest.mark.slow), ("torch", TORCH)])
def test_gradients_are_those_of_the_run(package, script):
    if find_spec(package) is None:
        with pytest.raises(sx.errors.MissingPackage, match=f"pip install {package}"):
            getattr(sx.gradients, f"{package}_function")(lambda p: (p, [1.0]))
        return
    done = subprocess.run([sys.executable, "-c", PENDULUM + script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((1.0, [np.zeros(3)]), r"shapes \[\(2,\)\], got \[\(3,\)\]"),
        ((1.0, []), r"got \[\]"),
        (1.0, "a value and a sequence"),
        (("a", [1.0]), "a value and a sequence"),
    ],
)
def test_what_is_returned_is_checked(found, expected):
    with pytest.raises(sx.errors.InvalidArgument, match=expected):
        _evaluated(lambda a: found, [np.zeros(2)])
