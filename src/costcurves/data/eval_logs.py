"""Predictions from logs of LLM evaluations, with the samples of several models aligned."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, DroppedRowsWarning, InputError, SmallSampleWarning, warn
from costcurves._base.validation import (
    BoolArray,
    IntArray,
    OnNull,
    check_choice,
    check_name,
    frozen,
    is_missing_label,
    shown,
)
from costcurves.counting.class_labels import Label
from costcurves.data.predictions import Predictions
from costcurves.data.readers.eval_logs import Log, Logged, read_logs
from costcurves.decisions.rows import Rows

Place = str | Callable[[dict[str, Any]], Any]
Key = tuple[str, int | str, int]  # task, sample and epoch, which is 0 where repeats are one example
Examples = dict[Key, tuple[Any, float, int]]  # label, score and epoch
# What Inspect writes for correct, partially correct and incorrect answers and for no answer, and other words.
_WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_FOLDS = 5


class LoggedPredictions(Predictions):
    """Predictions from logs of LLM evaluations. Made by `read_eval_logs`.

    Attributes
    ----------
    samples : array of shape (n,)
        The id of each example's sample in the logs.
    epochs : array of int, shape (n,)
        The repeat from which each example is, from 1 on; 0 if it is the mean of several.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import costcurves as cc
    >>> rows = [{"doc_id": i, "target": t, "score": s} for i, t, s in [(7, "0", 0.2), (8, "1", 0.9), (9, "0", 0.4)]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "samples_toxicity_2026-01-01T00-00-00.jsonl"
    ...     _ = path.write_text("".join(json.dumps(row) + "\\n" for row in rows))
    ...     predictions = cc.read_eval_logs({"judge": path}, label="target", score="score", pos_label="1")
    >>> predictions.samples.tolist()
    [7, 8, 9]
    """

    samples: npt.NDArray[Any]
    epochs: npt.NDArray[np.int64]

    def to_dict(self) -> dict[str, Any]:
        """Return the predictions as plain Python values, scores, samples and epochs included."""
        return {**super().to_dict(), "samples": self.samples.tolist(), "epochs": self.epochs.tolist()}

    def _columns(self) -> dict[str, Any]:
        k = len(self.names)
        columns = super()._columns()
        # Ids of several types in one column would be refused by some dataframe libraries.
        ids = self.samples.tolist()
        same = len({type(sample) for sample in ids}) == 1
        return {**columns, "sample": (ids if same else [str(s) for s in ids]) * k, "epoch": np.tile(self.epochs, k)}


def read_eval_logs(
    source: Any,
    *,
    label: Place,
    score: Place | Sequence[str] | Mapping[str, Place] | None = None,
    pos_label: Label | None = None,
    repeats: Literal["mean", "first", "all"] = "mean",
    filter: str | None = None,
    on_null: OnNull = "refuse",
) -> LoggedPredictions:
    """Read labels and scores from logs of LLM evaluations: of Inspect or of lm-evaluation-harness.

    The answers of several models to the same samples are aligned by task and sample id, whatever their order.

    Parameters
    ----------
    source : path, glob, directory, list of these, or mapping of name to these
        The logs: ``.eval`` and ``.json`` of Inspect, ``samples_*.jsonl`` of lm-evaluation-harness. Models have the
        names in the logs or, for lm-evaluation-harness, those of the folders; a mapping gives other ones.
    label : str or callable
        Where the true label is in each sample, such as "target", "metadata.verdict", "doc.label" or the name of a
        scorer of Inspect. Keys and positions of nested values are separated by dots. A callable takes the sample as a
        dict.
    score : str, callable, sequence of str, or mapping of name to str or callable, optional
        Where the score is: the name of a scorer of Inspect or of a metric, or any other place as for `label`.
        "token.Yes" is the probability that an answer begins with that token (Inspect, with logprobs), "choice.1" the
        probability of the second choice and "resps.0" the repeated answers to a request (lm-evaluation-harness).
        Several places are several classifiers, such as judges. The default is the only scorer or metric. Inspect's C,
        P, I and N count as 1, 0.5, 0 and 0.
    pos_label : label, optional
        The label of the positive class, as for `Predictions`.
    repeats : {"mean", "first", "all"}
        What becomes of several answers to the same sample (epochs). They are not independent of each other, so by
        default they are one example with the mean of their scores. "first" takes the first answer. "all" keeps every
        answer as an example, puts those of a sample into the same fold, and warns that limits are too narrow.
    filter : str, optional
        Which filter's rows to take from logs of lm-evaluation-harness that have several.
    on_null : {"refuse", "drop"}
        Answers without a label or score, samples that not all models answered, and evaluations that did not finish
        raise an error, or are left out with a `DroppedRowsWarning`.

    Returns
    -------
    LoggedPredictions
        `Predictions` that know their `samples` and `epochs`.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import costcurves as cc
    >>> verdicts, judged = ["I", "C", "I", "C"], [0.1, 0.9, 0.6, 0.7]
    >>> samples = [
    ...     {"id": i, "epoch": 1, "target": "", "scores": {"expert": {"value": v}, "judge": {"value": s}}}
    ...     for i, (v, s) in enumerate(zip(verdicts, judged))
    ... ]
    >>> log = {"version": 2, "status": "success", "eval": {"task": "qa", "model": "small"}, "samples": samples}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log.json"
    ...     _ = path.write_text(json.dumps(log))
    ...     cc.read_eval_logs(path, label="expert", score=["judge"], pos_label="C")
    Predictions: 4 examples (2 positive)
      'judge'  auc 1.000, area under the cost curve 0.000
    """
    check_choice("repeats", repeats, ("mean", "first", "all"))
    check_choice("on_null", on_null, ("refuse", "drop"))
    columns: dict[tuple[str, str], _Column] = {}  # by model and place
    for name, log in read_logs(source):
        if log.status != "success" and on_null == "refuse":
            raise DataError(f"the evaluation must have finished, got status {log.status!r} in {log.where}")
        answers = _filtered(log, filter)
        labels = _found(log, answers, label, "label")
        for title, place in _places(log, score).items():
            column = columns.setdefault((name or log.model, title), _Column())
            column.add(log, answers, labels, _found(log, answers, place, "score"))
    left_out = sum(column.incomplete for column in columns.values())
    if left_out and on_null == "refuse":
        first = next(column.first for column in columns.values() if column.first)
        raise DataError(f"every answer must have a label and a score, got {left_out} without, the first is {first}")
    aligned = dict(zip(_names(list(columns)), (column.examples(repeats) for column in columns.values()), strict=True))
    keys = _common(aligned, on_null)
    apart = len(set().union(*aligned.values())) - len(keys)
    if left_out or apart:
        warn(
            f"left out: answers without a label or score: {left_out}, samples that some models lack: {apart}",
            DroppedRowsWarning,
        )
    return _made(keys, aligned, pos_label)


@dataclass(slots=True)
class _Column:
    """The answers of one classifier by task, sample and epoch: labels and scores."""

    cases: dict[Key, tuple[Any, float]] = field(default_factory=dict)
    files: dict[Key, str] = field(default_factory=dict)
    incomplete: int = 0
    first: str = ""  # the first sample that has no label or no score

    def add(self, log: Log, answers: Sequence[Logged], labels: Sequence[Any], scores: Sequence[Any]) -> None:
        """Add the answers of one log, and refuse those that are already there."""
        for answer, truth, value in zip(answers, labels, scores, strict=True):
            for i, one in enumerate(value if isinstance(value, list) else [value]):
                key = log.task, answer.sample, answer.epoch + i
                if key in self.files:
                    raise DataError(
                        f"a sample must occur once in each epoch, got sample {shown(answer.sample)} of epoch {key[2]} "
                        f"in {log.where}, which is in {self.files[key]} already"
                    )
                self.files[key] = log.where
                number = _number(one, log, answer)
                if is_missing_label(truth) or math.isnan(number):
                    self.incomplete += 1
                    self.first = self.first or f"sample {shown(answer.sample)} in {log.where}"
                else:
                    self.cases[key] = truth, number

    def examples(self, repeats: str) -> Examples:
        """Return label, score and epoch (0 for a mean) of what is kept of repeats, in the order of the log."""
        if repeats == "all":
            return {key: (*case, key[2]) for key, case in self.cases.items()}
        several: dict[Key, list[tuple[int, Any, float]]] = {}
        for (task, sample, epoch), (truth, number) in self.cases.items():
            several.setdefault((task, sample, 0), []).append((epoch, truth, number))
        made: Examples = {}
        for key, found in several.items():
            epoch, truth, number = min(found, key=itemgetter(0))
            if repeats == "mean" and len(found) > 1:
                if any(other != truth for _, other, _ in found):
                    raise DataError(
                        "the repeats of a sample must have the same label for `repeats='mean'`, got several for sample "
                        f"{shown(key[1])}: use repeats='first'"
                    )
                epoch, number = 0, math.fsum(one for _, _, one in found) / len(found)
            made[key] = truth, number, epoch
        return made


def _filtered(log: Log, filter: str | None) -> Sequence[Logged]:
    """Return the answers of one filter of lm-evaluation-harness."""
    filters = dict.fromkeys(answer.values.get("filter") for answer in log.logged)
    if filter is None and len(filters) == 1:
        return log.logged
    if filter not in filters:
        known = ", ".join(map(str, filters))
        raise InputError(f"`filter` must be one of {known} for {log.where}, got {shown(filter)}")
    return [answer for answer in log.logged if answer.values.get("filter") == filter]


def _places(log: Log, score: Any) -> dict[str, Place]:
    """Return where the scores of each classifier are, by its name beside that of the model."""
    if score is None:
        known = log.form.places(log)
        if len(known) != 1:
            rule = f"one of {', '.join(known)}" if known else "given where a log has no scorers or metrics"
            raise InputError(f"`score` must be {rule}, got None for {log.where}")
        return {"": known[0]}
    if isinstance(score, str) or callable(score):
        return {"": score}
    if not score:
        raise InputError(f"`score` must name at least one place, got {shown(score)}")
    return dict(score) if isinstance(score, Mapping) else {check_name("score", place): place for place in score}


def _names(columns: list[tuple[str, str]]) -> list[str]:
    """Name classifiers by model, by place, or by both if there are several of both."""
    models = {model for model, _ in columns}
    return [
        place if place and len(models) == 1 else ": ".join(filter(None, (model, place))) for model, place in columns
    ]


def _found(log: Log, answers: Sequence[Logged], place: Place, role: str) -> list[Any]:
    """Find a value of each answer, None where there is none. It must be somewhere."""
    found: list[Any] = []
    for answer in answers:
        value = None
        if callable(place):
            value = place(answer.values)
        else:
            with suppress(LookupError, TypeError):
                value = log.form.find(answer.values, place)
        # Repeated answers of lm-evaluation-harness are a list.
        listed = value if role == "score" and place == "resps.0" and isinstance(value, list) else [value]
        if not all(isinstance(one, (str, int, float, type(None), np.generic)) for one in listed):
            raise DataError(
                f"`{role}` must be a number or a text in every sample, got {shown(value)} in sample "
                f"{shown(answer.sample)} of {log.where}: add a key or a position, as in 'scores.judge.value'"
            )
        found.append(value)
    if all(value is None for value in found):
        known = ", ".join(log.form.places(log)) or "none: was it scored?"
        raise DataError(
            f"`{role}` must be in the log, got no {shown(place)} in {log.where} (scorers or metrics: {known})"
        )
    return found


def _number(value: Any, log: Log, answer: Logged) -> float:
    """Read a score as a number; NaN if it is missing."""
    if value is None:
        return math.nan
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    try:
        return float(value)
    except ValueError:
        raise DataError(
            f"`score` must be a number or one of C, P, I, N, yes, no, true and false, got {shown(value)} in sample "
            f"{shown(answer.sample)} of {log.where}"
        ) from None


def _common(aligned: Mapping[str, Examples], on_null: str) -> list[Key]:
    """Return the examples of all classifiers in the order of the first, and check that their labels agree."""
    (first, cases), *others = aligned.items()
    keys = list(cases)
    for title, more in others:
        apart = cases.keys() ^ more.keys()
        if apart and on_null == "refuse":
            key = min(apart, key=repr)
            has, lacks = (first, title) if key in cases else (title, first)
            epoch = f" of epoch {key[2]}" if key[2] else ""
            raise DataError(
                f"all models must have answered the same samples, got {len(apart)} that some of them lack: "
                f"{shown(has)} has sample {shown(key[1])}{epoch} and {shown(lacks)} does not "
                "(on_null='drop' leaves them out)"
            )
        keys = [key for key in keys if key in more]
        for key in keys:
            if cases[key][0] != more[key][0]:
                raise DataError(
                    f"a sample must have the same label in all logs, got {shown(cases[key][0])} for {shown(first)} and "
                    f"{shown(more[key][0])} for {shown(title)} in sample {shown(key[1])}: read verdicts on the answers "
                    "of different models one model at a time"
                )
    if not keys:
        raise DataError("the logs must have samples in common that have labels and scores, got none")
    return keys


def _made(keys: list[Key], aligned: Mapping[str, Examples], pos_label: Label | None) -> LoggedPredictions:
    """Make predictions. Repeats that are examples of their own come with a warning and stay in one fold."""
    first = next(iter(aligned.values()))
    scores = {title: [cases[key][1] for key in keys] for title, cases in aligned.items()}
    rows = Rows([first[key][0] for key in keys], scores, pos_label, None).owned()
    number: dict[Any, int] = {}
    sample_of = np.array([number.setdefault(key[:2], len(number)) for key in keys])
    folds = None
    if len(number) < len(keys):
        warn(
            f"{len(keys)} answers to {len(number)} samples are not independent of each other, so that limits are too "
            "narrow and verdicts too sure: use repeats='mean' or 'first' for those",
            SmallSampleWarning,
        )
        folds = _folds(rows.positive, sample_of)
    made = LoggedPredictions.__new__(LoggedPredictions)
    made._start(rows, pos_label, folds)
    samples = np.empty(len(keys), dtype=object)
    samples[:] = [key[1] for key in keys]
    made._set(samples=frozen(samples), epochs=frozen(np.array([first[key][2] for key in keys])))
    return made


def _folds(positive: BoolArray, sample_of: IntArray) -> IntArray | None:
    """Divide samples into folds, each class of their first answers in turn, so that repeats stay together."""
    first = positive[np.unique(sample_of, return_index=True)[1]]
    count = min(_FOLDS, int(first.sum()), int((~first).sum()))
    if count < 2:
        return None
    place = np.empty(first.size, dtype=np.int64)
    for side in (first, ~first):
        place[side] = np.arange(int(side.sum())) % count
    folds: IntArray = place[sample_of]
    return folds
