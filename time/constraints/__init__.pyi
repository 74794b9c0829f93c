"""Methods that keep constraints with multipliers: SHAKE and RATTLE."""

# Made by tests/write_stubs.py.
from symplex.time.constraints.multipliers import project as project
from symplex.time.constraints.rattle import Rattle as Rattle
from symplex.time.constraints.rattle import Shake as Shake
