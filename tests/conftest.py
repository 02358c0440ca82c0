"""Hypothesis draws the same examples in every run (except in `make fuzz`) and leaves no files.

`way` runs the tests of a module twice: by compiled loops, and by NumPy. `spark` is one session for all tests.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

from costcurves.counting import compiled
from laws import FUZZ_SEED
from spark_bridge import start_spark

settings.register_profile("costcurves", deadline=None, derandomize=True, database=None, max_examples=50)
settings.register_profile("fuzz", deadline=None, database=None, print_blob=True)
settings.load_profile("costcurves" if FUZZ_SEED is None else "fuzz")


@pytest.fixture(scope="session")
def fast(tmp_path_factory):
    """Return the compiled loops, made here where the package was installed without them."""
    if (found := compiled.loops()) is not None:
        return found
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: the loops of loops.c cannot be compared with NumPy")
    library = tmp_path_factory.mktemp("loops") / compiled.LIBRARY.name
    source = Path(compiled.__file__).with_name("loops.c")
    subprocess.run(
        ["cc", "-O2", "-std=c99", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, source], check=True
    )
    return compiled.Loops(library)


@pytest.fixture(scope="module", params=["compiled", "numpy"])
def way(request):
    """Run a module's tests with the compiled loops, and without."""
    loops = request.getfixturevalue("fast") if request.param == "compiled" else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "loops", lambda: loops)
        yield request.param


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Return a local Spark session: it takes longer to start than most tests to run."""
    session = start_spark(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()
