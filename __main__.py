"""``python -m symplex``: the command line.

Python puts the working directory at the head of its search path for ``-m``, so that a ``numpy.py`` next to a scenario
would be run in place of NumPy. It is taken out here, before anything else is imported (by this package: Python itself
has then imported its ``importlib`` and ``warnings``; the command ``symplex`` has no such gap).
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:  # and not in a process of a study, which imports this file too
    del sys.path[0]

from symplex.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
