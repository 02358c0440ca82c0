"""Run as `python -m costcurves.replications`."""

from __future__ import annotations

import sys

from costcurves.replications.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
