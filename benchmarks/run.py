"""Time the package beside its peers: ``make bench``, or ``python benchmarks/run.py --only roc --repeats 3``.

Every topic is measured, printed as a table and written to a JSON file of its own with the machine, versions and date.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if not __package__:  # started as a script: this folder becomes a package, wherever that was
    sys.path[0] = str(ROOT)

from benchmarks import check, page, records, tables  # noqa: E402
from benchmarks.settings import Settings  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=records.TOPICS, metavar="TOPIC", help=", ".join(records.TOPICS))
    parser.add_argument("--small", action="store_true", help="small data: only to see that everything works")
    parser.add_argument("--large", action="store_true", help="scaling up to 10**8 examples (needs 8 GB)")
    parser.add_argument("--repeats", type=int, default=7, help="counted turns of each job (default 7)")
    parser.add_argument("--rows", type=int, default=10**8, help="rows of the scanned file (default 10**8)")
    parser.add_argument("--output", type=Path, default=Path("bench-output"), help="where the JSON files go")
    parser.add_argument("--record", action="store_true", help="also keep the results, and write the page of them")
    parser.add_argument("--check", action="store_true", help="fail where a ratio is below 70 %% of the kept one")
    parser.add_argument("--page", action="store_true", help="measure nothing: write docs/benchmarks.md again")
    return parser.parse_args()


def main() -> int:
    """Measure the topics; print, write, keep or check."""
    chosen = options()
    if chosen.page:
        print(f"wrote {page.write(RESULTS, ROOT / 'docs')}")
        return 0
    settings = Settings(chosen.small, chosen.repeats, chosen.rows, chosen.large)
    # What is checked are ratios in memory: files are long to make, and series have no ratio.
    topics = chosen.only or [name for name in records.TOPICS if not chosen.check or name in check.TOPICS]
    fallen: list[check.Fall] = []
    for topic in topics:
        start = time.perf_counter()
        document = records.measured(topic, settings)
        print(f"\n{topic} ({time.perf_counter() - start:.0f} s)\n{tables.text(document)}", flush=True)
        records.write(document, chosen.output / f"{topic}.json")
        if chosen.record:
            records.write(document, RESULTS / f"{topic}.json")
        if chosen.check:
            kept = records.read(RESULTS / f"{topic}.json")
            found = check.falls(kept, document)
            if found:  # a machine may be busy for a while: what stays low twice has fallen
                found = check.falls(kept, check.better(document, records.measured(topic, settings)))
            fallen += found
    print(f"\nwrote {chosen.output}/*.json")
    if chosen.record:
        print(f"wrote {page.write(RESULTS, ROOT / 'docs')}")
    if chosen.check:
        print(check.verdict(fallen))
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
