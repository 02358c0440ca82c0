"""What can be wrong with predictions: reversed, perfect or tied scores, copied or dependent rows, too few cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.frames import columns_of
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, IntArray, check_name, is_missing_label, shown
from costcurves.counting.counts import effective_number
from costcurves.curves.chance import SIGNIFICANT, worse_than_chance
from costcurves.data.readers.columns import role_of
from costcurves.decisions.rows import Rows

Array = npt.NDArray[Any]

# Fewer cases of a class than this are told of: even without an error, its rate may be up to 9.5 % (at 95 %).
FEW = 30
# Perfect scores of fewer cases of a class than this may be luck.
FEW_PERFECT = 10
# A score that at least this share of the cases have in common is reported.
LARGE_TIE = 0.2
# Probabilities that are off by less than this on average are good enough.
SMALL_ERROR = 0.01
BINS = 10
# Dependence that widens intervals by less than this factor of the variance does not matter.
SMALL_EFFECT = 1.1
# What is checked, in words.
CHECKS = {
    "roles": "no identifiers or weights among the scores",
    "reversed": "no reversed scores",
    "perfect": "no suspiciously perfect scores",
    "ties": "no large ties",
    "same": "no two classifiers alike",
    "few": "enough cases of both classes",
    "duplicates": "no copied rows",
    "dependent": "no dependent rows",
    "calibration": "no uncalibrated probabilities",
    "weights": "no overwhelming weights",
}
SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Finding(Result):
    """Something about predictions that may mislead, and what to do about it. Part of `Findings`.

    Attributes
    ----------
    check : str
        What was checked, such as "reversed".
    severity : {"error", "warning", "note"}
        With an error, answers are wrong; with a warning, they may be; a note is worth knowing.
    column : str or None
        The classifier or the column that it is about, or None if it is about all of them.
    rows : int or None
        The number of rows concerned, if it is about rows.
    message, advice : str
        What was found, and what to do.

    Examples
    --------
    >>> import costcurves as cc
    >>> y = [0] * 40 + [1] * 40
    >>> found = cc.Predictions(y, {"a": [i % 7 - 4 * label for i, label in enumerate(y)]}).check().findings[0]
    >>> found.check, found.severity, found.column
    ('reversed', 'error', 'a')
    """

    check: str
    severity: str
    column: str | None
    rows: int | None
    message: str
    advice: str

    _column_names = ("check", "severity", "column", "rows", "message", "advice")

    def __repr__(self) -> str:
        return fill(f"{self.severity}: {self.message}", 100, initial_indent="  ", subsequent_indent="    ")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Findings(Result):
    """What `Predictions.check` found.

    Attributes
    ----------
    findings : tuple of Finding
        The most severe first.
    checks : tuple of str
        All that was checked.

    Examples
    --------
    >>> import costcurves as cc
    >>> y = [0] * 40 + [1] * 40
    >>> cc.Predictions(y, {"a": [i % 7 for i in range(80)], "leak": y}).check()
    Findings: 2 in 10 checks
      warning: 'leak' separates the classes perfectly (AUC 1).
      warning: 'leak' has only two different values.
    """

    findings: tuple[Finding, ...]
    checks: tuple[str, ...]

    @property
    def serious(self) -> tuple[Finding, ...]:
        """The errors and warnings."""
        return tuple(one for one in self.findings if one.severity != "note")

    def _columns(self) -> dict[str, Any]:
        return {name: [getattr(one, name) for one in self.findings] for name in Finding.__dataclass_fields__}

    def __repr__(self) -> str:
        many = len(self.findings) or "none"
        return "\n".join([f"Findings: {many} in {len(self.checks)} checks", *map(repr, self.findings)])


class Ranked(NamedTuple):
    """The scores of one classifier as places: the distinct values, the place of each row, and how often each occurs."""

    values: Array
    place: IntArray
    often: IntArray


def check_rows(rows: Rows, columns: Any = None) -> Findings:
    """Return what may be wrong with predictions; `columns` are other columns of the same rows."""
    others = _other_columns(columns, rows)
    ranked = {
        name: Ranked(*np.unique(values, return_inverse=True, return_counts=True))
        for name, values in rows.scores.items()
    }
    found = [
        *_roles(rows, others),
        *(one for name in rows.names for one in _of_scores(name, rows, ranked[name])),
        *_same(ranked),
        *_few(rows),
        *_duplicates(rows, ranked, others),
        *_dependent(rows, ranked, others),
        *(one for name in rows.names if ranked[name].values.size > 2 for one in _calibration(name, rows)),
        *_weights(rows),
    ]
    return Findings(tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity))), tuple(CHECKS))


def _other_columns(columns: Any, rows: Rows) -> dict[str, Array]:
    """Return other columns of the same rows as arrays that can be sorted."""
    given: Mapping[Any, Any] = {} if columns is None else columns_of("columns", columns)
    found = {}
    for name, values in given.items():
        array = np.asarray(values)
        if array.shape != rows.positive.shape:
            raise InputError(
                f"`columns` must have one value per example, shape {rows.positive.shape}, "
                f"got shape {array.shape} for {shown(name)}"
            )
        if array.dtype.kind not in "biufUSmM":
            array = np.array(["" if is_missing_label(value) else str(value) for value in array.tolist()], dtype=str)
        found[check_name("columns", name)] = array
    return found


def _roles(rows: Rows, others: Mapping[str, Array]) -> Iterator[Finding]:
    """Look for identifiers and weights among the scores, and for weights that are not used."""
    for name, values in rows.scores.items():
        role = role_of(name, values)
        if role is not None:
            what = {"id": "an identifier", "weight": "weights of the rows", "fold": "folds", "time": "dates"}[role]
            yield Finding(
                "roles",
                "error" if role in ("id", "weight") else "warning",
                name,
                None,
                f"{shown(name)} looks like {what}, not like the scores of a classifier.",
                "Leave it out of the scores."
                + (" Pass it as the weights of the rows if each row counts so often." if role == "weight" else ""),
            )
    if rows.weights is None:
        for name, values in others.items():
            if role_of(name, values) == "weight":
                yield Finding(
                    "roles",
                    "warning",
                    name,
                    None,
                    f"{shown(name)} looks like weights of the rows, which are not used.",
                    "Pass it as the weights if rows stand for different numbers of cases; every row counts once now.",
                )


def _of_scores(name: str, rows: Rows, ranked: Ranked) -> Iterator[Finding]:
    """Look at the scores of one classifier: reversed, perfect, or tied."""
    weights, n = rows.weights, rows.positive.size
    distinct = ranked.values.size
    both = [
        np.bincount(ranked.place, weights=side if weights is None else side * weights, minlength=distinct)[::-1]
        for side in (~rows.positive, rows.positive)
    ]
    fp, tp = (np.append(0.0, np.cumsum(side)) for side in both)
    auc = worse_than_chance(fp, tp)
    if auc is not None:
        yield Finding(
            "reversed",
            "error",
            name,
            None,
            f"{shown(name)} ranks positives below negatives: its AUC is {auc:.3g}.",
            "Use the scores of the other class (1 - p for probabilities, a change of sign otherwise), or name the "
            "other label as the positive one.",
        )
    smallest = min(int(rows.positive.sum()), n - int(rows.positive.sum()))
    if smallest >= FEW_PERFECT and not (both[0][: np.flatnonzero(both[1])[-1] + 1]).any():
        yield Finding(
            "perfect",
            "warning",
            name,
            None,
            f"{shown(name)} separates the classes perfectly (AUC 1).",
            "Make sure that the label, or something known only afterwards, is not among its inputs, and that these "
            "rows had no part in its training.",
        )
    most = int(ranked.often.max())
    if distinct == 1:
        message, advice = f"{shown(name)} has the same score for all rows.", "It cannot tell cases apart: leave it out."
        yield Finding("ties", "error", name, n, message, advice)
    elif distinct == 2:
        yield Finding(
            "ties",
            "warning",
            name,
            n,
            f"{shown(name)} has only two different values.",
            "If these are predicted classes, pass probabilities or decision values instead (predict_proba, "
            "decision_function): with classes there is only one threshold to choose.",
        )
    elif most > LARGE_TIE * n:
        value = ranked.values[ranked.often.argmax()]
        yield Finding(
            "ties",
            "note",
            name,
            most,
            f"{shown(name)} gives {100 * most / n:.0f} % of the rows the same score, {value:.6g}.",
            "No threshold tells these rows apart. Were scores rounded or clipped? Keep all digits.",
        )


def _same(ranked: Mapping[str, Ranked]) -> Iterator[Finding]:
    """Look for classifiers that rank all rows alike."""
    first: dict[bytes, str] = {}
    for name, one in ranked.items():
        key = one.place.tobytes()
        if key in first:
            yield Finding(
                "same",
                "note",
                name,
                None,
                f"{shown(name)} ranks all rows in the same way as {shown(first[key])}.",
                "They make the same decisions: leave one of them out.",
            )
        first.setdefault(key, name)


def _few(rows: Rows) -> Iterator[Finding]:
    """Look for classes with few cases; of weighted rows, effectively."""
    for word, error, mask in (("positive", "miss", rows.positive), ("negative", "false alarm", ~rows.positive)):
        count = int(mask.sum())
        weights = None if rows.weights is None else rows.weights[mask]
        size = float(count) if weights is None else effective_number(weights)
        if size < FEW:
            effective = "" if weights is None else f", worth {size:.3g} by their weights"
            rates = f"{error}{'es' if error == 'miss' else 's'}"
            limit = 100 * (1 - 0.05 ** (1 / size))
            yield Finding(
                "few",
                "warning",
                None,
                count,
                f"There {'are' if count > 1 else 'is'} only {count} {word} row{'s' * (count > 1)}{effective}: even if "
                f"there were no {rates}, their rate might be up to {limit:.2g} % (95 % limit).",
                f"Collect more {word} cases: limits stay wide until there are some hundreds.",
            )


def _tied(ranked: Mapping[str, Ranked], others: Mapping[str, Array]) -> tuple[IntArray, IntArray]:
    """Return the rows that have all scores and all other columns in common with another row, and the group of each."""
    order = sorted(ranked, key=lambda name: ranked[name].values.size, reverse=True)
    codes = [(ranked[name].place, ranked[name].values.size) for name in order]
    rows = np.arange(codes[0][0].size)
    group = np.zeros(rows.size, dtype=np.int64)
    columns: list[Array] = [place for place, _ in codes] + list(others.values())
    for column in columns:
        values, place = np.unique(column[rows], return_inverse=True)
        group, count = np.unique(group * values.size + place, return_inverse=True, return_counts=True)[1:]
        kept = count[group] > 1
        rows, group = rows[kept], group[kept]
        if not rows.size:
            break
    return rows, np.unique(group, return_inverse=True)[1] if rows.size else group


def _duplicates(rows: Rows, ranked: Mapping[str, Ranked], others: Mapping[str, Array]) -> Iterator[Finding]:
    """Look for rows that are copies of others: tied rows that agree in their labels more often than chance has it.

    Rows with the same scores have the same chance p of being positive, so that m of them all have the same label with
    the probability q = p^m + (1 - p)^m, unless they are copies. By Hoeffding's theorem, the probability that so large a
    share of G groups agrees is at most exp(-G KL(share || mean of q)).
    """
    tied, group = _tied(ranked, others)
    if not tied.size:
        return
    size = np.bincount(group)
    positive = np.bincount(group, weights=rows.positive[tied])
    agree = (positive == 0) | (positive == size)
    copies = int((size - 1)[agree].sum())
    if not copies:
        return
    if not any(_names_rows(values, tied) for values in others.values()):
        expected = float(_chance_to_agree(rows, ranked, tied, group).mean())
        if _log_tail(float(agree.mean()), expected, agree.size) > math.log(SIGNIFICANT):
            return
    yield Finding(
        "duplicates",
        "warning",
        None,
        copies,
        f"{copies:,} of {rows.positive.size:,} rows are copies of others: label and all scores are the same"
        + (f", and so {'is' if len(others) == 1 else 'are'} {_listed(others)}." if others else "."),
        "Remove copies, such as those that a join makes: each counts as a new case, and limits become too narrow.",
    )


def _names_rows(values: Array, tied: IntArray) -> bool:
    """Return whether a column has a value of its own for each row, except for tied rows, which must then be copies."""
    if values.dtype.kind == "f":
        return False
    place, count = np.unique(values, return_inverse=True, return_counts=True)[1:]
    return bool(2 * count.size >= place.size and (count[place] > 1).sum() == tied.size)


def _chance_to_agree(rows: Rows, ranked: Mapping[str, Ranked], tied: IntArray, group: IntArray) -> FloatArray:
    """Return the chance that all rows of each tied group have the same label, by the classifier that makes it largest.

    The chance of a positive at each score is the isotonic regression of the labels, in which a group counts once.
    """
    from scipy.optimize import isotonic_regression

    size = np.bincount(group)
    first = tied[np.unique(group, return_index=True)[1]]
    single = np.ones(rows.positive.size, dtype=np.bool_)
    single[tied] = False
    units = np.concatenate([first, np.flatnonzero(single)])
    labels = rows.positive[units].astype(np.float64)
    labels[: first.size] = np.bincount(group, weights=rows.positive[tied]) / size
    largest = np.zeros(size.size)
    for one in ranked.values():
        place = one.place[units]
        count = np.bincount(place, minlength=one.values.size)
        sums = np.bincount(place, weights=labels, minlength=one.values.size)
        p = isotonic_regression(sums / count, weights=count).x[one.place[first]].clip(0, 1)
        largest = np.maximum(largest, p**size + (1 - p) ** size)
    return largest


def _log_tail(share: float, expected: float, n: int) -> float:
    """Return the logarithm of Hoeffding's bound for the chance of at least this share of n events."""
    if share <= expected or expected >= 1:
        return 0.0
    rest = 0.0 if share == 1 else (1 - share) * math.log((1 - share) / (1 - expected))
    return -n * (share * math.log(share / expected) + rest)


def _dependent(rows: Rows, ranked: Mapping[str, Ranked], others: Mapping[str, Array]) -> Iterator[Finding]:
    """Look for rows that belong together, such as those of one patient: their labels or ranks resemble each other.

    An analysis of variance compares rows within and between the values of a column. Its intraclass correlation r says
    by how much 1 + (m - 1) r the variance of a rate grows if there are m rows of each.
    """
    from scipy.special import fdtrc

    for name, values in others.items():
        if role_of(name, values) != "id" or values.dtype.kind == "f":
            continue
        group = np.unique(values, return_inverse=True)[1]
        size = np.bincount(group)
        n, k = group.size, size.size
        if k < 2 or n - k < FEW_PERFECT:
            continue
        mean_size = (n - float((size.astype(np.float64) ** 2).sum()) / n) / (k - 1)
        largest = 1.0
        for measured in (rows.positive, *(one.place for one in ranked.values())):
            outcome = measured.astype(np.float64)
            sums = np.bincount(group, weights=outcome)
            between = float((sums**2 / size).sum() - outcome.sum() ** 2 / n) / (k - 1)
            within = float((outcome**2).sum() - (sums**2 / size).sum()) / (n - k)
            if between <= 0:
                continue
            within = max(within, 1e-12 * between)
            p = float(fdtrc(k - 1, n - k, between / within))
            r = (between - within) / (between + (mean_size - 1) * within)
            if p * (1 + len(ranked)) <= SIGNIFICANT:
                largest = max(largest, 1 + (mean_size - 1) * r)
        if largest > SMALL_EFFECT:
            yield Finding(
                "dependent",
                "warning",
                name,
                int(size[size > 1].sum()),
                f"Rows with the same {shown(name)} resemble each other: {n:,} rows have {k:,} values of it, and errors "
                f"may vary as if there were only {max(1, round(n / largest)):,} independent rows.",
                "Limits that take rows as independent are too narrow. Keep one row for each value, or take all limits "
                f"as {math.sqrt(largest):.2g} times as wide.",
            )


def _calibration(name: str, rows: Rows) -> Iterator[Finding]:
    """Look for scores in [0, 1] that are not probabilities, by their mean and by Spiegelhalter's test."""
    from scipy.special import ndtr

    p = rows.scores[name].astype(np.float64)
    if p.min() < 0 or p.max() > 1:
        return
    y, w = rows.positive.astype(np.float64), np.ones(p.size) if rows.weights is None else rows.weights
    excess = w * (y - p)
    smallest = 1.0
    for factor in (np.ones_like(p), 1 - 2 * p):
        spread = math.sqrt(float((w**2 * factor**2 * p * (1 - p)).sum()))
        moved = abs(float((excess * factor).sum()))
        z = moved / spread if spread > 0 else math.inf if moved > 0 else 0.0
        smallest = min(smallest, 2 * (1 - float(ndtr(z))))
    impossible = bool(((p == 0) & (y == 1) & (w > 0)).any() or ((p == 1) & (y == 0) & (w > 0)).any())
    order = np.argsort(p, kind="stable")
    bins = np.arange(p.size) * BINS // p.size
    error = float(np.abs(np.bincount(bins, weights=excess[order])).sum() / w.sum())
    if not (impossible or 2 * smallest <= SIGNIFICANT) or error < SMALL_ERROR:
        return
    mean, rate = float(np.average(p, weights=w)), float(np.average(y, weights=w))
    yield Finding(
        "calibration",
        "note",
        name,
        None,
        f"{shown(name)} is in [0, 1] but not calibrated: it is off by {error:.2g} on average; its mean is {mean:.3g} "
        f"where the share of positives is {rate:.3g}.",
        "Thresholds that are chosen on data are not affected. Thresholds that follow from costs (the policy 'bayes') "
        "need calibrated probabilities: recalibrate, for example with scikit-learn's CalibratedClassifierCV.",
    )


def _weights(rows: Rows) -> Iterator[Finding]:
    """Look for a few rows with most of the weight."""
    if rows.weights is None:
        return
    n = int((rows.weights > 0).sum())
    size = effective_number(rows.weights)
    if size < n / 2:
        yield Finding(
            "weights",
            "note",
            None,
            n,
            f"Weights differ so much that {n:,} rows are worth about {size:,.0f}.",
            "Limits allow for this, and are wide. Look at the largest weights, and trim them if they are mistakes.",
        )


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(shown(name) for name in names) if len(names) <= 3 else f"{len(names)} other columns"
