"""Filling the cache of compiled kernels: beginnings of runs, of which only what they compile is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from numba.core.event import Event, Listener, install_listener

from symplex.fem.compiled.kernel_cache import lasting_cache
from symplex.fem.compiled.kernels import is_kernel
from symplex.fem.compiled.shipped import own_kernels
from symplex.runs.frames import Shown, fields_of
from symplex.runs.plausibility import doubts
from symplex.runs.progress import clock
from symplex.runs.rows import RowsOfRun, found_once
from symplex.scenario.scenario import Problem, Scenario

Say = Callable[[str], object]

_QUIET = 2.0  # s of wall time without anything to compile, after which a run is taken to need no more
_PIECE = 0.1  # s of wall time between two looks at that

_BLOCK = """
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [2, 2, 2], split = "%s" }
material = { young = 1e7, poisson = 0.3, density = 1000 }
velocity = [0, 0, -1]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, 1e-4]
normal = [0, 0, 1]
stiffness = 1e4
allow_initial_penetration = true
"""
_GRAVITY = "[gravity]\nacceleration = [0, 0, -9.81]\n"
_TETRAHEDRA, _HEXAHEDRA = _BLOCK % "24", _BLOCK % "hexahedra"
_COLLISION = """
[[body]]
name = "left"
mesh = { box = [0.1, 0.1, 0.1], cells = [2, 2, 2], split = "hexahedra" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
velocity = [1, 0, 0]
[[body]]
name = "right"
mesh = { box = [0.1, 0.1, 0.1], cells = [2, 2, 2], split = "hexahedra" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
translate = [0.1005, 0.02, 0.03]
velocity = [-1, 0, 0]
[[contact]]
"""
_TRUSS = """
[[truss]]
name = "truss"
section = 1e-4
material = { young = 1e7, density = 1000 }
mesh = { nodes = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], members = [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]] }
angular_velocity = [0, 0, 1]
"""
_RODS = """
[[body]]
name = "bell"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e7, poisson = 0.3, density = 1000 }
[[rod]]
name = "ropes"
body = "bell"
group = "z_max"
to = [0.05, 0.05, 1.0]
"""
_TOP = """
[[rigid_body]]
name = "top"
mesh = { box = [0.06, 0.06, 0.01] }
density = 7800
translate = [0, 0, 0.05]
pivot = [0, 0, 0]
angular_velocity = [0, 1, 200]
"""
_PENDULUM = """
[[rigid_body]]
name = "bar"
mesh = { box = [0.4, 0.03, 0.03] }
density = 2700
translate = [0.2, 0, 0]
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["bar"]
at = [0, 0, 0]
axis = [0, 1, 0]
torque = 0.1
"""
_FIXED = "dt = 1e-5"
# What the examples are made of: a title, a model, and an integrator for it.
_TRIALS = (
    ("explicit Newmark, tetrahedra", _TETRAHEDRA + _GRAVITY, 'kind = "newmark"'),
    ("explicit Newmark, hexahedra", _HEXAHEDRA + _GRAVITY, 'kind = "newmark"'),
    ("force-stepping, tetrahedra", _TETRAHEDRA, 'kind = "force-stepping"\ngrid = 1e-4'),
    ("energy-momentum, tetrahedra", _TETRAHEDRA + _GRAVITY, f'kind = "energy-momentum"\n{_FIXED}'),
    ("energy-momentum, hexahedra", _HEXAHEDRA + _GRAVITY, f'kind = "energy-momentum"\n{_FIXED}'),
    ("energy-momentum, contact of bodies", _COLLISION, f'kind = "energy-momentum"\n{_FIXED}'),
    ("explicit Newmark, contact of bodies", _COLLISION, 'kind = "newmark"'),
    ("energy-momentum, truss", _TRUSS, f'kind = "energy-momentum"\n{_FIXED}'),
    ("energy-momentum, rigid body", _TOP + _GRAVITY, f'kind = "energy-momentum"\n{_FIXED}'),
    ("energy-momentum, joints", _PENDULUM + _GRAVITY, f'kind = "energy-momentum"\n{_FIXED}'),
    ("trapezoidal rule, tetrahedra", _TETRAHEDRA, f'kind = "newmark"\nbeta = 0.25\n{_FIXED}'),
    ("midpoint rule, tetrahedra", _TETRAHEDRA, f'kind = "midpoint"\n{_FIXED}'),
    ("generalised-alpha, tetrahedra", _TETRAHEDRA, f'kind = "generalized-alpha"\n{_FIXED}'),
    ("adaptive variational, tetrahedra", _TETRAHEDRA, f'kind = "adaptive-variational"\n{_FIXED}'),
    ("Cayley-Magnus, tetrahedra", _TETRAHEDRA, f'kind = "graham-jelenic"\n{_FIXED}'),
    ("Zhang-Skeel, tetrahedra", _TETRAHEDRA, f'kind = "zhang-skeel"\n{_FIXED}'),
    ("RATTLE, rods", _RODS + _GRAVITY, f'kind = "rattle"\n{_FIXED}'),
)
_RUN = "[run]\nduration = 1e-4\nframes = 2\n"


class Warmed(NamedTuple):
    """What has become of the cache: how many kernels were compiled, how long all of it took, and the folder."""

    kernels: int
    seconds: float
    folder: Path

    def text(self) -> str:
        """Return it as a sentence."""
        if not self.kernels:
            return f"nothing was left to compile, after {clock(self.seconds)}; kernels are kept in {self.folder}"
        return f"{_kernels(self.kernels)} compiled in {clock(self.seconds)}, and kept in {self.folder}"


def _kernels(number: int) -> str:
    return "1 kernel" if number == 1 else f"{number} kernels"


def warm_up(scenario: Scenario | str | Path | None = None, say: Say = lambda line: None) -> Warmed:
    """Compile and keep the kernels that runs of a scenario need, or those of the usual methods on small models.

    They are compiled for the processor of this machine, also where the package brought some for its family.

    The run begins, with a row of its history and a frame, and goes on until for two seconds nothing was left to
    compile, or to its end. What a run needs only later, as for bodies that meet after a while, is compiled then.
    """
    folder, begun = lasting_cache(), perf_counter()
    if scenario is None:
        trials = [(trial[0], scenario_of_trial(*trial)) for trial in _TRIALS]
    else:
        scenario = scenario if isinstance(scenario, Scenario) else Scenario.read(scenario)
        trials = [(scenario.title, scenario)]
    total = 0
    for k, (title, one) in enumerate(trials, 1):
        start = perf_counter()
        with own_kernels(), _counted() as compiling:
            _begin(one.build(), compiling)
        total += compiling.kernels
        say(f"  {k:2} of {len(trials)}  {title}: {_kernels(compiling.kernels)}, {clock(perf_counter() - start)}")
    return Warmed(total, perf_counter() - begun, folder)


def scenario_of_trial(title: str, model: str, method: str) -> Scenario:
    """Return a model with an integrator as a scenario."""
    return Scenario.parse(f'title = "{title}"\n{model}[integrator]\n{method}\n{_RUN}', Path(f"{title}.toml"))


class _Compiling(Listener):
    """Counts the kernels that are compiled and kept, and knows when there was something to compile."""

    def __init__(self):
        self.kernels, self.last = 0, perf_counter()

    def on_start(self, event: Event) -> None:
        """Nothing."""

    def on_end(self, event: Event) -> None:
        """Count a kernel, but no formula, which is compiled into kernels and kept with them."""
        self.last = perf_counter()
        self.kernels += is_kernel(event.data["dispatcher"])  # pyright: ignore[reportOptionalSubscript]

    @property
    def is_over(self) -> bool:
        """Whether nothing was compiled for a while."""
        return perf_counter() - self.last > _QUIET


@contextmanager
def _counted() -> Iterator[_Compiling]:
    compiling = _Compiling()
    with install_listener("numba:compile", compiling):
        yield compiling


def _begin(problem: Problem, compiling: _Compiling) -> None:
    """Compute the beginning of a run, and of each of its stages, until nothing more is compiled."""
    doubts(problem)  # which evaluate laws
    drawn = Shown(problem)
    motion = problem.integrator.start(problem.system, problem.state)
    rows = RowsOfRun(problem, motion)
    for k, t in enumerate(problem.scenario.times.tolist()):
        while not motion.approach(t, _PIECE) and not compiling.is_over:
            pass
        if k and compiling.is_over:
            break
        state = motion.advance(t)
        acting = found_once(motion, state)
        rows.row(state, acting)
        fields_of(drawn, problem.scenario.tables.output.fields, acting, state)
        motion.checkpoint()
        compiling.last = perf_counter() if not k else compiling.last
    for stage in problem.stages[1:]:
        stage.integrator.start(stage.system, problem.state).approach(stage.end, _PIECE)
