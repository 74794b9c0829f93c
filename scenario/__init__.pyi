"""From TOML to a mesh, a system, a state and an integrator: the tables, their checks and their builders."""

# Made by tests/write_stubs.py.
from symplex.scenario.scenario import Scenario as Scenario
