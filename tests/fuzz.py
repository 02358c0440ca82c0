"""Try all laws on fresh random worlds until the time is up: ``python tests/fuzz.py --minutes 10``."""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time


def main() -> int:
    """Run rounds of the laws, each with a seed of its own; stop at the first failure or when the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="no round starts after this time")
    parser.add_argument("--seed", type=int, help="run one round with this seed, to repeat a failure")
    parser.add_argument("tests", nargs="*", default=["tests"], help="files or folders; all tests by default")
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    rounds = 0
    while rounds == 0 or (asked.seed is None and time.monotonic() < end):
        seed = secrets.randbelow(2**32) if asked.seed is None else asked.seed
        rounds += 1
        print(f"round {rounds}: seed {seed}", flush=True)
        command = [sys.executable, "-m", "pytest", "-n", "2", "-q", "-x", "-m", "law", f"--hypothesis-seed={seed}"]
        done = subprocess.run(
            [*command, *asked.tests], env=os.environ | {"COSTCURVES_FUZZ_SEED": str(seed)}, check=False
        )
        if done.returncode:
            print(f"a law failed; to repeat: python tests/fuzz.py --seed {seed}", flush=True)
            return done.returncode
    print(f"every law held in {rounds} rounds of fresh worlds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
