"""What was found to be wrong with predictions."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

from costcurves._base.results import Result

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
