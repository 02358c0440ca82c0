"""`Report`: the summary of an evaluation as a self-contained page, as JSON, and inline in notebooks."""

from __future__ import annotations

import html
import json
import os
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from costcurves._base.errors import FormatError, InputError, MissingExtraError
from costcurves._base.files import is_stream, real_path, write_atomically
from costcurves._base.frames import NamedColumns
from costcurves._base.text import safe
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    Column,
    Rng,
    check_flag,
    check_name,
    check_path,
    check_positive,
    shown,
)
from costcurves.conditions.condition import OperatingCondition
from costcurves.conditions.cost_matrix import CostsLike, PriorsLike
from costcurves.conditions.range import OperatingRange
from costcurves.conditions.scenarios import Scenarios, in_use
from costcurves.counting.class_labels import Label
from costcurves.curves.chance import one_question
from costcurves.curves.thresholds import NamedPolicies
from costcurves.data.predictions import Predictions, as_predictions
from costcurves.report.classes import ClassesSummary, summarise_classes
from costcurves.report.reading import JSON_FORMAT, JSON_VERSION, checksum, read_report
from costcurves.report.summary import Summary, summarise


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report:
    """An interactive page about several classifiers: which one to use where, what it costs, and how certain that is.

    Make one with `from_predictions` (two classes, scores) or `from_class_predictions` (k classes, predicted labels). In
    a notebook it is displayed directly. The page is a single file that works without a network connection. The same
    input gives the same bytes, and so does the report's own JSON, which `from_json` reads.

    Attributes
    ----------
    summary : Summary, ClassesSummary or None
        The results that the page shows; None if the report was read from its JSON.
    title, currency : str
    source, command : str or None
        The source of the data and the command that made the report, as stated in it.
    cases_per_year : float or None
        The number of cases per year, with which costs are told per year.

    Notes
    -----
    The JSON form (`json()`, `to_dict()`) is an object with ``format`` ("costcurves/report"), ``version`` (1), ``kind``
    ("two classes" or "k classes"), ``title``, ``currency``, ``source``, ``command``, ``made_with`` (versions), ``data``
    (rows, classes, dropped, weights), ``level``, ``classifiers``, and the results.

    For two classes these are ``policy`` ("optimal", "crossfit", "validation" or "given"),
    ``hull`` (vertices by column: classifier, threshold, fpr, tpr, pc_low, pc_high),
    ``ranges`` (which classifier is best where), ``crossings``, ``differences`` and ``verdicts`` (all pairs, with limits
    that hold everywhere together), and ``scenarios``: for a condition its ``recommendation`` (the answer of
    `recommend`), the hull's ``decision``, ``stays_best_for_pc``, ``turn`` (the nearest condition at which another
    classifier is best on these cases) and, with a baseline, ``saving`` (the answer of `Recommendation.saving`); for a
    range its ``recommendation`` (the answer of `recommend_within`) and the two ``ends``. Both have a ``verdict``
    ("sure", "not sure" or "no gain expected"). ``per_year`` has the expected cost and saving per year if
    ``cases_per_year`` is known. ``slices`` has the answers per segment, and ``reference`` those
    of `check_promise`. If ``pc_only`` is true, the prevalence and costs are only an example of those that give
    its ``pc``. Each of ``classifiers`` has ``auc``, ``operating_range``, ``regret``, ``cost_curve``, ``band`` and
    ``simultaneous_band``.

    For k classes they are ``labels``, ``costs``, ``constants`` (the cost of always predicting the same class),
    ``pairs`` (differences with adjusted p-values; the last ones are against the cheapest constant), ``best``, ``sure``,
    ``rivals`` (those that are not shown to cost more than the best), ``verdict``, ``chosen`` (the cost of the best with
    limits that allow for the choice; null if it is a constant), ``turn`` (the nearest share of one class at which
    another choice is cheaper on these cases), ``saving`` (against the baseline) and ``never_cheapest``. Infinities are
    the strings "inf" and "-inf", and undefined values are null.

    Both kinds have ``page``: the sentences and tables of the page, in which only names have markup, and the tables of
    its pictures. From these `from_json` makes the page again, without the examples. ``checksum`` is a SHA-256 of
    everything else, so that a report with changed numbers is refused.

    Examples
    --------
    >>> import costcurves as cc
    >>> label, scores = [0, 1, 0, 1, 1, 0], {"a": [1, 3, 2, 4, 2, 1], "b": [1, 2, 1, 2, 2, 1]}
    >>> here = cc.OperatingCondition(prevalence=0.5, cost_fp=1, cost_fn=2)
    >>> report = cc.Report.from_predictions(label, scores, scenarios={"usual": here})
    >>> report
    Report('Which classifier, at which threshold?': 2 classifiers, 6 rows, 1 scenario)
    >>> report.to_dict()["scenarios"][0]["decision"]["classifier"]
    'b'
    """

    summary: Summary | ClassesSummary | None
    title: str
    currency: str
    source: str | None
    command: str | None
    cases_per_year: float | None = None
    _read: str | None = None  # the JSON from which it was read

    @classmethod
    @one_question()
    def from_predictions(
        cls,
        y_true: Column | Predictions,
        scores: NamedColumns | None = None,
        *,
        pos_label: Label | None = None,
        sample_weight: npt.ArrayLike | None = None,
        scenarios: Scenarios | Mapping[str, OperatingCondition | OperatingRange] | None = None,
        policy: NamedPolicies | None = None,
        baseline: str | None = None,
        baseline_threshold: float | None = None,
        cases_per_year: float | None = None,
        slices: Any = None,
        reference: Predictions | None = None,
        currency: str = "",
        level: float = DEFAULT_LEVEL,
        title: str | None = None,
        source: str | None = None,
        command: str | None = None,
        dropped: int = 0,
        rng: Rng = 0,
    ) -> Report:
        """Make a report about one or more classifiers that scored the same examples of two classes.

        Parameters
        ----------
        y_true : array-like of shape (n,), or Predictions
            True labels. `Predictions` provide the labels, the scores and the weights together.
        scores : mapping of name to array-like of shape (n,), dataframe, or array-like of shape (n,)
            The scores of each classifier, higher for the positive class. A single array or series is one classifier,
            called by the name of the series or "classifier".
        pos_label : label, optional
            The positive class, which is required unless labels are booleans, 0/1 or -1/1.
        sample_weight : array-like of shape (n,), optional
            The weight of each example. Limits are then based on the effective sample sizes of the classes.
        scenarios : mapping of name to OperatingCondition or OperatingRange, or Scenarios, optional
            The scenarios for which the report gives an answer in words. Without any, it shows which classifier is best
            where, and its sliders start at the prevalence of the data and equal costs. Those of `read_scenarios` also
            provide the currency, the cases per year and the baseline, unless these are given here.
        policy : policy, or mapping of name to policy, optional
            How thresholds follow the condition, as for `CostCurve`: those of the cost curves, of their limits, of the
            comparisons and of the answers. By default ``"crossfit"`` for predictions with folds, such as those of
            `evaluate`: in the cost curves each fold is judged at the thresholds of the others, while answers allow for
            the choice by themselves and comparisons keep their level with the best thresholds on these cases.
            Otherwise ``"optimal"``. The hull always shows the best thresholds on these cases; who is best where and the
            sliders do so too, unless thresholds were found on other data or given.
        baseline : str, optional
            What is in use today: one of the classifiers, ``"always negative"`` or ``"always positive"``. Each answer
            then says what it saves against that (`Recommendation.saving`).
        baseline_threshold : float, optional
            The threshold at which the baseline is used today; by default the one that it would have at the condition.
        cases_per_year : float, optional
            The number of cases per year. The first lines of the page then tell costs and savings per year.
        slices : array-like of shape (n,), optional
            A segment for each example, such as a region. The report then has the answer for each segment, and says
            whether a rule of its own would save anything against the rule for all; with m segments the limits have the
            level 1 - (1 - level) / m, so that they hold for all segments together. The odds of a positive in a segment
            differ from those of the scenario as they differ in the data.
        reference : Predictions, optional
            Earlier examples, scored by the same classifiers. The report then says for each scenario whether these
            examples agree with what the earlier ones promise (`check_promise`).
        currency : str
            A symbol or a word to be shown with amounts of money.
        level : float in (0, 1)
            The confidence level of all limits.
        title, source, command : str, optional
            A title, the source of the data, and the command that made the report, which the report states.
        dropped : int
            The number of rows that were left out before, which the report states.
        rng : numpy.random.Generator, int or None, default 0
            A generator, or the seed of one, for the critical values that are simulated. By default the same data give
            the same report; the report states the seed.

        Examples
        --------
        >>> import costcurves as cc
        >>> report = cc.Report.from_predictions([0, 1, 0, 1], {"a": [1, 3, 2, 4]}, title="Pilot")
        >>> report
        Report('Pilot': 1 classifier, 4 rows, no scenario)
        """
        if isinstance(scenarios, Scenarios):
            known, scenarios = scenarios, scenarios.scenarios
            currency = currency or known.currency
            cases_per_year = known.cases_per_year if cases_per_year is None else cases_per_year
            baseline, baseline_threshold = in_use(known, baseline, baseline_threshold)
        texts = _check_texts(title, currency, source, command, "Which classifier, at which threshold?")
        predictions = as_predictions(y_true, scores, pos_label=pos_label, sample_weight=sample_weight)
        cases = None if cases_per_year is None else check_positive("cases_per_year", cases_per_year)
        options: dict[str, Any] = {"policy": policy, "level": level, "dropped": dropped, "rng": rng}
        options |= {"baseline": baseline, "baseline_threshold": baseline_threshold}
        options |= {"slices": slices, "reference": reference}
        return cls(summarise(predictions, scenarios=scenarios, **options), *texts, cases)

    @classmethod
    def from_class_predictions(
        cls,
        y_true: Column,
        predictions: NamedColumns,
        costs: CostsLike,
        *,
        priors: PriorsLike | None = None,
        baseline: str | None = None,
        cases_per_year: float | None = None,
        currency: str = "",
        level: float = DEFAULT_LEVEL,
        title: str | None = None,
        source: str | None = None,
        command: str | None = None,
        dropped: int = 0,
    ) -> Report:
        """Make a report about one or more classifiers that predicted the same examples of k classes.

        Parameters
        ----------
        y_true : sequence of labels, shape (n,)
            True labels.
        predictions : mapping of name to sequence of labels, or dataframe
            The predicted labels of each classifier.
        costs : CostMatrix or table
            Rows are true classes, columns are predicted classes.
        priors : mapping of label to probability, optional
            Class frequencies where the classifier will be used, by default those of the data.
        baseline : str, optional
            The classifier that is in use today. The first lines of the page then say what the choice saves against it.
        cases_per_year : float, optional
            The number of cases per year. The first lines then tell costs and savings per year, and otherwise per 1,000
            cases.
        currency, level, title, source, command, dropped
            As for `from_predictions`.

        Examples
        --------
        >>> import costcurves as cc
        >>> y = ["low", "high", "low", "high"] * 10
        >>> costs = cc.CostMatrix([[0, 1], [5, 0]], labels=["low", "high"])
        >>> cc.Report.from_class_predictions(y, {"rules": ["low", "high", "low", "low"] * 10}, costs)
        Report('Which classifier costs least?': 1 classifier, 40 rows, 2 classes)
        """
        texts = _check_texts(title, currency, source, command, "Which classifier costs least?")
        cases = None if cases_per_year is None else check_positive("cases_per_year", cases_per_year)
        options: dict[str, Any] = {"priors": priors, "baseline": baseline, "level": level, "dropped": dropped}
        return cls(summarise_classes(y_true, predictions, costs, **options), *texts, cases)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Report:
        """Read a report from the JSON that `json` returned, or that its page saved. It gives the same page.

        Parameters
        ----------
        path : path

        Raises
        ------
        FormatError
            If the file is not a report, was changed after it was written, or has another version of the format.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import costcurves as cc
        >>> file = pathlib.Path(tempfile.mkdtemp(), "report.json")
        >>> written = cc.Report.from_predictions([0, 1, 0, 1], {"a": [1, 3, 2, 4]}, title="Pilot")
        >>> _ = file.write_text(written.json(), encoding="utf-8")
        >>> cc.Report.from_json(file).html() == written.html()
        True
        """
        file = Path(check_path(path))
        try:
            found = read_report(file.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise FormatError(f"{safe(file.name)}: a report must be UTF-8 text") from None
        except FormatError as error:
            raise FormatError(f"{safe(file.name)}: {error}") from None
        texts = (found["title"], found["currency"], found["source"], found["command"])
        return cls(None, *texts, found["cases_per_year"], _text(found))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the report as plain Python values that `json.dumps` accepts."""
        return dict(json.loads(self.json()))

    def json(self) -> str:
        """Return the numbers of the report as JSON text, in the form described above under Notes."""
        if self._read is not None:
            return self._read
        found, cases = self.summary, self.cases_per_year
        assert found is not None
        with _page_needs():
            from costcurves.report.forms import classes_form, made_with, two_class_form

            two = isinstance(found, Summary)
            document = {
                "format": JSON_FORMAT,
                "version": JSON_VERSION,
                "kind": "two classes" if two else "k classes",
                "title": self.title,
                "currency": self.currency,
                "source": self.source,
                "command": self.command,
                "made_with": made_with(),
                "cases_per_year": cases,
                **(
                    two_class_form(found, self.currency, cases)
                    if isinstance(found, Summary)
                    else classes_form(found, self.currency, cases)
                ),
            }
            return _text(document | {"checksum": checksum(document)})

    def html(self) -> str:
        """Return the page as one self-contained HTML text."""
        with _page_needs():
            from costcurves.report.page import render
        text = self.json()
        return render(json.loads(text), text)

    def write_html(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Write the page to a file, completely or not at all, and return its path.

        Parameters
        ----------
        path : path
            The file to write. Links are followed, and a device or a pipe is written to directly.
        force : bool
            Whether an existing file may be replaced.
        """
        target = Path(check_path(path))
        check_flag("force", force)
        if target.is_dir():
            raise InputError(f"`path` must be a file, got the directory {shown(str(target))}")
        if not is_stream(target):
            folder = real_path(target).parent
            if not folder.is_dir():
                raise InputError(f"`path` must be in a directory that exists, got {shown(str(target))}")
            if not os.access(folder, os.W_OK):
                raise InputError(f"`path` must be in a directory that can be written, got {shown(str(target))}")
            if target.exists() and not force:
                raise InputError(f"`path` must not exist yet, got {shown(str(target))}: pass force=True to replace it")
        write_atomically(target, self.html(), replace=force)
        return target

    def open(self) -> Path:
        """Write the page to a temporary file, open it in the browser, and return its path."""
        target = Path(tempfile.mkdtemp(prefix="costcurves-")) / "report.html"
        self.write_html(target)
        webbrowser.open(target.as_uri())
        return target

    def _repr_html_(self) -> str:
        """Return the page in its own frame, so that its style and its names do not affect the notebook."""
        page = html.escape(self.html(), quote=True)
        look = "width:100%;height:860px;border:1px solid #8885;border-radius:8px;background:#fff"
        return f'<iframe title="{html.escape(safe(self.title))}" srcdoc="{page}" style="{look}"></iframe>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the page for notebooks, and the short form for places where pages cannot be shown."""
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        """Show the title and the size."""
        found = self.summary
        if found is None:
            read = self.to_dict()
            count, rows = len(read["classifiers"]), read["data"]["rows"]
            asked, classes = len(read.get("scenarios", ())), len(read.get("labels", ()))
        elif isinstance(found, Summary):
            count, rows, asked, classes = len(found.names), found.data.n, len(found.answers), 0
        else:
            count, rows, asked, classes = len(found.names), found.n, 0, len(found.costs.labels)
        more = f"{classes} classes" if classes else f"{asked or 'no'} scenario{'s' * (asked > 1)}"
        return f"Report({shown(self.title)}: {count} classifier{'s' * (count != 1)}, {rows} rows, {more})"


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


@contextmanager
def _page_needs() -> Iterator[None]:
    """Name the extra if one of its packages is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("altair", "jinja2", "markupsafe", "vl_convert"):
            raise
        raise MissingExtraError(f'the page needs {error.name}: pip install "costcurves[report]"') from None


def _check_texts(
    title: Any, currency: Any, source: Any, command: Any, default: str
) -> tuple[str, str, str | None, str | None]:
    """Check the texts that the page states."""
    if not isinstance(currency, str):
        raise InputError(f"`currency` must be a string, got {shown(currency)} ({type(currency).__name__})")
    given = {"source": source, "command": command}
    for name, value in given.items():
        if value is not None:
            check_name(name, value)
    return default if title is None else check_name("title", title), currency.strip(), source, command
