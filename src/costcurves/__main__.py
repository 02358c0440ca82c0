"""``python -m costcurves`` is the command ``costcurves``."""

import sys

from costcurves.cli import main

if __name__ == "__main__":
    sys.exit(main())
