"""A run in a results folder: what it was computed from, what it keeps, and what it shows."""

# Made by tests/write_stubs.py.
from symplex.runs.history import read_history as read_history
from symplex.runs.plots import compare_histories as compare_histories
from symplex.runs.plots import plot_history as plot_history
from symplex.runs.result import Result as Result
from symplex.runs.result import ResultFrame as ResultFrame
from symplex.runs.result import read_result as read_result
from symplex.runs.run import simulate as simulate
