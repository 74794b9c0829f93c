"""One motion on several processes, by MPI: parts of a mesh, what they exchange, and who leads them."""

# Made by tests/write_stubs.py.
from symplex.parallel.ranks import Ranks as Ranks
