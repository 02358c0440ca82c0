"""How long an import takes, in a fresh interpreter that finds compiled bytecode, as it does after an installation."""

from __future__ import annotations

import os
import sys
import tempfile

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
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        outcome.add(imports(settings, folder), settings.repeats)
    return outcome


def imports(settings: Settings, folder: str) -> Race:
    """The race of all imports, whose bytecode is kept in a folder by the first turn of each, which is not counted.

    Otherwise an environment that writes no bytecode would compile our modules each time, but not the peers', whose
    installation has compiled them.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = folder
    names = list(CODES)[: 2 if settings.small else 3]
    floors = {"import costcurves": 1.5, "import and first use of RocHull": 1.5}
    return Race(
        [
            Side(name, "a new interpreter that imports and ends", in_process([sys.executable, "-c", code], environment))
            for name, code in (*((name, CODES[name]) for name in names), (PEER, PEER))
        ],
        [Row(f"import-{n}", name, name, PEER, floors.get(name), at_most=True) for n, name in enumerate(names)],
    )
