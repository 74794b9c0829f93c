"""``python -m symplex``: the command line."""

import sys

from symplex.cli import main

if __name__ == "__main__":
    sys.exit(main())
