"""Compare the speed of the package with its peers: ``make bench``, or ``python benchmarks/run.py --only roc``.

Every topic is measured, printed as a table and written to its own JSON file with the machine, the versions and the
date.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if not __package__:  # started as a script: make this folder a package, wherever it is
    sys.path[0] = str(ROOT)

from benchmarks import check, page, records, tables  # noqa: E402
from benchmarks.settings import Settings  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=records.TOPICS, metavar="TOPIC", help=", ".join(records.TOPICS))
    parser.add_argument("--small", action="store_true", help="small data, only to check that everything works")
    parser.add_argument("--large", action="store_true", help="scaling up to 10**8 examples (needs 8 GB)")
    parser.add_argument("--repeats", type=int, default=3, help="counted turns of each job (default 3)")
    parser.add_argument("--rows", type=int, default=10**8, help="rows of the scanned file (default 10**8)")
    parser.add_argument("--file", type=Path, help="an existing file of 10**9 rows for the topic billion")
    parser.add_argument("--output", type=Path, default=Path("bench-output"), help="folder for the JSON files")
    parser.add_argument("--record", action="store_true", help="also record the results and write the page")
    parser.add_argument("--check", action="store_true", help="fail if a ratio is below 70 %% of the recorded one")
    parser.add_argument("--page", action="store_true", help="measure nothing, only write docs/benchmarks.md again")
    return parser.parse_args()


def main() -> int:
    """Measure the topics, and print, write, record or check the results."""
    chosen = options()
    if chosen.page:
        print(f"wrote {page.write(RESULTS, ROOT / 'docs')}")
        return 0
    settings = Settings(chosen.small, chosen.repeats, chosen.rows, chosen.large, chosen.file)
    # Only ratios in memory are checked, because files take long to make and series have no ratio.
    usual = check.TOPICS if chosen.check else [name for name in records.TOPICS if name not in records.ON_REQUEST]
    topics = chosen.only or usual
    fallen: list[check.Fall] = []
    for topic in topics:
        document = records.measured(topic, settings)
        print(f"\n{topic} ({document['seconds']:.0f} s)\n{tables.text(document)}", flush=True)
        records.write(document, chosen.output / f"{topic}.json")
        if chosen.record:
            records.write(document, RESULTS / f"{topic}.json")
        if chosen.check:
            kept = records.read(RESULTS / f"{topic}.json")
            found = check.falls(kept, document)
            if found:  # the machine may be busy for a while, so only ratios that are low twice have fallen
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
