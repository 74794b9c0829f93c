"""A run in a results folder: what it was computed from, what it keeps, and what it shows."""

# Made by tests/write_stubs.py.
from symplex.runs.buckling import BucklingFound as BucklingFound
from symplex.runs.buckling import find_buckling as find_buckling
from symplex.runs.conservation_report import Conservation as Conservation
from symplex.runs.conservation_report import conservation as conservation
from symplex.runs.export import export_result as export_result
from symplex.runs.history import read_history as read_history
from symplex.runs.modes import ModesFound as ModesFound
from symplex.runs.modes import find_modes as find_modes
from symplex.runs.page.write import write_page as write_page
from symplex.runs.plots import compare_histories as compare_histories
from symplex.runs.plots import plot_history as plot_history
from symplex.runs.plots import plot_probes as plot_probes
from symplex.runs.probe_files import read_probe as read_probe
from symplex.runs.probe_files import read_probes as read_probes
from symplex.runs.reduction import reduce_body as reduce_body
from symplex.runs.reporters import Reporter as Reporter
from symplex.runs.reporters import Sample as Sample
from symplex.runs.reporters import TableReporter as TableReporter
from symplex.runs.response import ResponseFound as ResponseFound
from symplex.runs.response import find_response as find_response
from symplex.runs.result import Result as Result
from symplex.runs.result import ResultFrame as ResultFrame
from symplex.runs.result import read_result as read_result
from symplex.runs.run import simulate as simulate
from symplex.runs.shock import ShockFound as ShockFound
from symplex.runs.shock import find_shock as find_shock
from symplex.runs.spectral import RandomFound as RandomFound
from symplex.runs.spectral import SpectrumFound as SpectrumFound
from symplex.runs.spectral import find_random as find_random
from symplex.runs.spectral import find_spectrum as find_spectrum
from symplex.runs.study import SavedStudy as SavedStudy
from symplex.runs.study import Study as Study
