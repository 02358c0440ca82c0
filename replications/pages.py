"""The pages of the replications, made from recorded outcomes without running anything again."""

from __future__ import annotations

import io
from collections import Counter
from importlib import import_module
from pathlib import Path

import costcurves as cc
from replications.catalogue import study
from replications.contents import contents_table, not_covered
from replications.markdown import Outcomes, Page, table
from replications.study import BEYOND, FAILS, VERDICTS, Outcome
from replications.writing import write_whole

PAGES = ("paper1997.page", "paper1998.page", "paper2000.page", "paper2005.page", "paper2008.page")
START = (
    "Curves, hulls, intervals and tests below come from the public functions of costcurves, and a test checks that the "
    "studies use nothing else of it. Each panel of a figure is drawn by one call of a display (of scikit-learn for the "
    "artificial domain of 2000, otherwise of costcurves), which another test checks. The learners, the simulation of "
    "test sets, the counts over them and a few comparisons of recorded curves are code of the studies. "
    "The data sets of 1998 and 2005 are not part of the project: `make replicate` fetches them from OpenML or reads "
    "them from a folder (`DATA=folder`), and computes everything again. `python -m replications pages` makes these "
    "pages from the recorded results."
)
MEANING = """The verdicts are counted apart. A statement about several models, domains or settings has a row for each of
them:

- **replicates**: an independent result agrees within the stated error, or a statement without a number holds by the
  rule that its study states.
- **consistent by construction**: the inputs are the paper's own, or were chosen so that the statement had to come out,
  or it is an identity. The functions agree with the text, but this is no evidence for the paper.
- **replicates in direction**: the statement holds by more than chance, but not the number.
- **does not replicate**: anything else, with the reason as far as we know it.
- **beyond the paper**: what the paper does not report."""
CONTENT = (
    "Every definition, algorithm, table and figure, with the call that gives it. The verdicts are counted from the "
    "rows of the studies; what has no number in the paper names the tests of the call instead."
)


def all_pages() -> list[Page]:
    """The pages, one per paper."""
    found = [import_module(f"replications.{name}").PAGE for name in PAGES]
    assert all(isinstance(page, Page) for page in found)
    return found


def write_pages(folder: Path) -> list[Path]:
    """Write every page with its figures, and the summary, and return the files."""
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    pages = all_pages()
    outcomes: Outcomes = {name: study(name).rejudged() for page in pages for name in page.studies}
    written = []
    for page in pages:
        for file, draw in page.figures.items():
            written.append(images / file)
            write_whole(written[-1], _png(draw(outcomes)))
        written.append(folder / f"{page.name}.md")
        write_whole(written[-1], page_text(page, outcomes))
    written.append(folder / "index.md")
    write_whole(written[-1], summary(pages, outcomes))
    return written


def page_text(page: Page, outcomes: Outcomes) -> str:
    """Write the page of a paper: its source, the counts of its verdicts, what is not covered, and its text."""
    source, rest = page.text(outcomes).strip().split("\n\n", 1)
    counts = Counter(row.verdict for name in page.studies for row in outcomes[name].rows)
    judged = sum(count for verdict, count in counts.items() if verdict != BEYOND)
    told = ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS if verdict != BEYOND)
    more = f" Another {counts[BEYOND]} are beyond the paper." if counts[BEYOND] else ""
    verdicts = f"Of {judged} results of the paper ([what the verdicts mean](index.md)): {told}.{more}"
    return "\n\n".join([f"# {page.title}", source, verdicts, not_covered([page.name]), f"{rest}\n"])


def _png(figure: object) -> bytes:
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    assert isinstance(figure, Figure)
    buffer = io.BytesIO()
    # The name of the program is left out, so that the same data give the same bytes.
    figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
    pyplot.close(figure)
    return buffer.getvalue()


def summary(pages: list[Page], outcomes: Outcomes) -> str:
    """Write the page that counts the verdicts of all studies."""
    papers, lines = [], []
    for page in pages:
        link = f"[{page.name}]({page.name}.md)"
        for name in page.studies:
            outcome = outcomes[name]
            lines.append((link, study(name).title, f"`{name}`", *_counted([outcome]), outcome.size))
        papers.append((link, page.title.split(": ", 1)[-1], *_counted([outcomes[name] for name in page.studies])))
    papers.append(("all", "", *_counted(list(outcomes.values()))))
    head = ("paper", "what", "name", *VERDICTS, "size")
    failed = [
        (row.item, row.what, str(row.paper) if row.paper is not None else "", _short(row.ours), row.why)
        for outcome in outcomes.values()
        for row in outcome.rows
        if row.verdict == FAILS
    ]
    return "\n\n".join(
        [
            "# Replications",
            START,
            MEANING,
            "The numbers of results of the papers with each verdict:",
            table(("paper", "what", *VERDICTS), papers),
            not_covered(page.name for page in pages),
            "## Study by study",
            table(head, lines),
            "## What does not replicate",
            table(("item", "what", "paper", "ours", "why, as far as we know"), failed),
            "## What the papers contain",
            CONTENT,
            contents_table(outcomes, (page.name for page in pages)),
            f"Made with costcurves {cc.__version__}.\n",
        ]
    )


def _counted(outcomes: list[Outcome]) -> list[str]:
    """Count each verdict, as cells."""
    counts = Counter(row.verdict for outcome in outcomes for row in outcome.rows)
    return [str(counts[verdict]) if counts[verdict] else "" for verdict in VERDICTS]


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
