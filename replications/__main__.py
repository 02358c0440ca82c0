"""Run as `python -m replications`."""

from __future__ import annotations

import sys

from replications.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
