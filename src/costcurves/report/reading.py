"""Reports that were written as JSON: their text is checked before a page is made of it."""

from __future__ import annotations

import hashlib
import json
import sys
import types
from typing import Any, Literal, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

from costcurves._base.errors import FormatError
from costcurves._base.validation import shown

JSON_FORMAT = "costcurves/report"
JSON_VERSION = 1
Numbers = list[float | Literal["inf", "-inf"] | None]


class Table(TypedDict):
    """A table of the page."""

    caption: str
    columns: list[str]
    words: int
    rows: list[list[str]]


Verdict = Literal["sure", "not sure", "no gain expected"]


class Card(TypedDict):
    """The answer to a scenario."""

    title: str
    verdict: Verdict
    where: str
    use: str
    lines: list[tuple[str, str]]


class Headline(TypedDict):
    """The first lines about a scenario."""

    title: str
    verdict: Verdict
    why: str
    action: str
    lines: list[str]


class Slider(TypedDict):
    """A number of the condition."""

    id: Literal["prevalence", "cost_fn", "cost_fp"]
    label: str
    unit: str
    value: str
    scale: Literal["logit", "log"]
    low: float
    high: float


class Said(TypedDict):
    """A sentence and the table that it is about."""

    said: str
    table: Table


class Goal(TypedDict):
    """A condition that can be set with a button."""

    label: str
    name: str
    prevalence: str
    cost_fn: str
    cost_fp: str


Pictures = dict[str, dict[str, list[float | str | bool | None]]]


class TwoClassPage(TypedDict):
    """What the page of a two-class report says and draws."""

    headlines: list[Headline]
    overview: str
    cards: list[Card]
    note: str
    used: str
    pc_only: bool
    share: float
    model: int
    sliders: list[Slider]
    goals: list[Goal]
    slices: list[Said]
    reference: list[Said]
    tables: dict[str, Table | None]
    pictures: Pictures


class LaterParts(TypedDict, total=False):
    """What the first k-class reports of version 1 did not have."""

    headlines: list[Headline]


class ClassesPage(LaterParts):
    """What the page of a k-class report says and draws."""

    cards: list[Card]
    model: int
    tables: dict[str, Table | None]
    pictures: Pictures


class Limits(TypedDict):
    """A cost curve with its limits."""

    pc: Numbers
    estimate: Numbers
    lower: Numbers
    upper: Numbers


class Classifier(TypedDict):
    """A classifier of a two-class report."""

    name: str
    cost_curve: dict[str, list[float | str | None]]
    band: Limits
    simultaneous_band: Limits


class Difference(Limits):
    """The difference of two classifiers."""

    names: tuple[str, str]


class TwoClassData(TypedDict):
    """The rows of a two-class report."""

    rows: int
    positives: int
    negatives: int
    positive_label: str
    dropped: int
    weights: tuple[float, float]
    effective: tuple[float, float] | None


class Segments(TypedDict):
    """The segments of a scenario."""

    segments: list[dict[str, Any]]


class Report(TypedDict):
    """What both kinds of reports have."""

    title: str
    currency: str
    source: str | None
    command: str | None
    made_with: dict[str, str]
    cases_per_year: float | None
    level: float
    checksum: str


class TwoClassReport(Report):
    """What the page needs of a two-class report."""

    data: TwoClassData
    seed: int
    classifiers: list[Classifier]
    hull: dict[str, list[float | str | None]]
    ranges: dict[str, list[float | str | None]]
    differences: list[Difference]
    slices: list[Segments]
    page: TwoClassPage


class ClassesData(TypedDict):
    """The rows of a k-class report."""

    rows: int
    dropped: int
    frequencies: list[float]


class Interval(TypedDict):
    """An expected cost with its limits."""

    estimate: float
    lower: float
    upper: float


class ClassesClassifier(TypedDict):
    """A classifier of a k-class report."""

    name: str
    confusion: list[list[float]]
    cost: Interval


class ClassesReport(Report):
    """What the page needs of a k-class report."""

    data: ClassesData
    method: str
    priors: dict[str, float] | None
    labels: list[str]
    costs: list[list[float]]
    classifiers: list[ClassesClassifier]
    constants: dict[str, float]
    sure: bool
    pairs: dict[str, list[float | str | bool | None]]
    page: ClassesPage


KINDS: dict[Any, Any] = {"two classes": TwoClassReport, "k classes": ClassesReport}
# The tables of each page, and the columns of each picture; a picture without rows has none.
TABLES = {
    "two classes": ("hull", "ranges", "classifiers", "scores", "pairs", "crossings"),
    "k classes": ("matrix", "costs", "differences", "priors"),
}
PICTURES = {
    "two classes": {
        "vertices": "r fp tp fnr_down fnr_up fpr_down fpr_up t k mid",
        "points": "k i fp tp t",
        "costs": "k pc c",
        "benefits": "k at benefit",
        "calibration": "k score share lower upper count",
        "stretches": "k a b what",
        "losses": "k pc loss",
        "verdicts": "q a b k",
        "scenarios": "n title a b mid",
        "sets": "n k pc a b said",
    },
    "k classes": {
        "matrix": "true predicted cost right",
        "intervals": "k estimate lower upper",
        "pairs": "pair q difference lower upper sure",
    },
}


def read_report(text: str) -> dict[str, Any]:
    """Return the content of a report's JSON, after checking all that a page is made of."""
    try:
        document = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise FormatError(f"a report must be JSON, got an error at line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
        raise FormatError(f"a report must be JSON, got {shown(error)}") from None
    found = document.get("format") if isinstance(document, dict) else type(document).__name__
    if found != JSON_FORMAT:
        raise FormatError(f"`format` must be {JSON_FORMAT!r}, got {shown(found)}")
    if (version := document.get("version")) != JSON_VERSION:
        raise FormatError(
            f"`version` must be {JSON_VERSION}, got {shown(version)}: written by another version of costcurves, "
            "so make the report again from the rows"
        )
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise FormatError(f"`kind` must be 'two classes' or 'k classes', got {shown(kind)}")
    _check(document, KINDS[kind], "")
    _check_contents(document["page"], kind)
    _check_numbers(document, kind)
    if document["checksum"] != checksum(document):
        raise FormatError(
            "`checksum` does not fit the rest: the report was changed after it was written, so its numbers and its "
            "sentences may contradict each other. Make it again from the rows"
        )
    return dict(document)


def checksum(document: dict[str, Any]) -> str:
    """Return a checksum of what a report says, however its fields are ordered and its numbers are written."""
    said = json.dumps({name: value for name, value in document.items() if name != "checksum"})
    text = json.dumps(json.loads(said, parse_int=_number, parse_float=_number), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _number(text: str) -> float:
    """Return a number without the sign of a zero, which JavaScript does not write."""
    return float(text) + 0.0


def _refuse(text: str) -> None:
    raise ValueError(f"{text}, which is not a number")


def _fits(value: Any, kind: Any, path: str) -> bool:
    """Whether a value has a type; what is wrong inside of it is refused with its place."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin is Literal:
        return value in parts
    if origin in (Union, types.UnionType):
        if isinstance(value, (dict, list)):
            parts = tuple(part for part in parts if is_typeddict(part) or get_origin(part) in (list, dict, tuple))
        return any(_fits(value, part, path) for part in parts)
    if origin is list:
        return isinstance(value, list) and all(_check(one, parts[0], f"{path}[{i}]") for i, one in enumerate(value))
    if origin is tuple:
        if not isinstance(value, list) or len(value) != len(parts):
            return False
        return all(_fits(one, part, path) for one, part in zip(value, parts, strict=True))
    if origin is dict:
        return isinstance(value, dict) and all(_check(one, parts[1], f"{path}.{key}") for key, one in value.items())
    if is_typeddict(kind):
        if not isinstance(value, dict):
            return False
        for name, field in get_type_hints(kind).items():
            place = f"{path}.{name}".removeprefix(".")
            if name not in value:
                if name in kind.__optional_keys__:
                    continue
                raise FormatError(f"`{place}` must be in the report, got nothing")
            _check(value[name], field, place)
        return True
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _check(value: Any, kind: Any, path: str) -> bool:
    """Refuse a value that does not have a type, with its place in the report."""
    if not _fits(value, kind, path):
        raise FormatError(f"`{path}` must be as costcurves writes it, got {shown(value)}")
    return True


def _check_contents(page: dict[str, Any], kind: str) -> None:
    """Refuse a page that lacks a table or a column, or whose columns differ in length."""
    for name in TABLES[kind]:
        if name not in page["tables"]:
            raise FormatError(f"`page.tables.{name}` must be in the report, got nothing")
    for name, wanted in PICTURES[kind].items():
        if name not in page["pictures"]:
            raise FormatError(f"`page.pictures.{name}` must be in the report, got nothing")
        missing = set(wanted.split()) - set(page["pictures"][name])
        if page["pictures"][name] and missing:
            raise FormatError(f"`page.pictures.{name}` must have the column {min(missing)!r}, got none")
    for name, table in page["pictures"].items():
        if len({len(column) for column in table.values()}) > 1:
            raise FormatError(f"`page.pictures.{name}` must have columns of one length, got several lengths")


def _check_numbers(document: dict[str, Any], kind: str) -> None:
    """Refuse classes and classifiers that do not fit each other."""
    count = len(document["classifiers"])
    if count == 0:
        raise FormatError("`classifiers` must not be empty, got []")
    if kind == "two classes":
        return
    labels = len(document["labels"])
    tables = {"costs": document["costs"]}
    tables |= {f"classifiers[{i}].confusion": one["confusion"] for i, one in enumerate(document["classifiers"])}
    for name, table in tables.items():
        if len(table) != labels or any(len(row) != labels for row in table):
            raise FormatError(f"`{name}` must have a row and a column for each of the {labels} labels, got others")
