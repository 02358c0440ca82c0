"""How long an import takes, in a fresh interpreter."""

from __future__ import annotations

import sys

from benchmarks.harness import Outcome, Race, Row, Side, in_process
from benchmarks.settings import Settings

PEER = "import numpy, narwhals"
CODES = {
    "import costcurves": "import costcurves",
    "import and first use of RocHull": "import costcurves as cc; cc.RocHull",
    "import and first use of every name": "import costcurves as cc; [getattr(cc, name) for name in cc.__all__]",
}


def run(settings: Settings) -> Outcome:
    """Compare imports of the package with imports of what it always needs."""
    names = list(CODES)[: 2 if settings.small else 3]
    floors = {"import costcurves": 1.5, "import and first use of RocHull": 1.5}
    race = Race(
        [
            Side(name, "a new interpreter that imports and ends", in_process([sys.executable, "-c", code]))
            for name, code in (*((name, CODES[name]) for name in names), (PEER, PEER))
        ],
        [Row(f"import-{n}", name, name, PEER, floors.get(name), at_most=True) for n, name in enumerate(names)],
    )
    outcome = Outcome()
    outcome.add(race, settings.repeats)
    return outcome
