"""Studies: many runs of one scenario, two results compared, and the observed order of a method."""

# Made by tests/write_stubs.py.
from symplex.studies.comparison import Comparison as Comparison
from symplex.studies.comparison import compare as compare
from symplex.studies.comparison import read_comparison as read_comparison
from symplex.studies.convergence import Convergence as Convergence
from symplex.studies.convergence import converge as converge
from symplex.studies.convergence import read_convergence as read_convergence
from symplex.studies.fitting import FitFound as FitFound
from symplex.studies.fitting import fit as fit
from symplex.studies.members import Sweep as Sweep
from symplex.studies.members import read_sweep as read_sweep
from symplex.studies.minimizers import lmfit_minimizer as lmfit_minimizer
from symplex.studies.sensitivities import Sensitivity as Sensitivity
from symplex.studies.sensitivities import sensitivity as sensitivity
from symplex.studies.sweeping import sweep as sweep
