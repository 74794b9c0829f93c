"""Studies: many runs of one scenario, two results compared, and the observed order of a method."""

# Made by tests/write_stubs.py.
from symplex.studies.comparison import Comparison as Comparison
from symplex.studies.comparison import compare as compare
from symplex.studies.convergence import Convergence as Convergence
from symplex.studies.convergence import converge as converge
from symplex.studies.sweeping import Sweep as Sweep
from symplex.studies.sweeping import sweep as sweep
