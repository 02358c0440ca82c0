"""A hull as JSON text: the points that can be best or the runner-up, and the names of all classifiers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from costcurves._base.errors import CostCurvesError, FormatError, InputError
from costcurves._base.results import jsonable
from costcurves._base.validation import check_in_unit, check_name, check_positive, check_unique, shown
from costcurves.counting.counts import ScoreCounts
from costcurves.curves.roc import RocCurve

FORMAT = "costcurves/roc-hull"
VERSION = 2


def hull_text(names: Iterable[str], curves: Iterable[RocCurve], origins: Mapping[str, Any] | None = None) -> str:
    """Return the JSON text of the names of all classifiers, the points that are kept and, if known, their origins."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "names": list(names),
        **({} if origins is None else {"origins": dict(origins)}),
        "classifiers": [
            {
                "name": curve.name,
                "made_from": curve.made_from,
                "n_neg": curve.n_neg,
                "n_pos": curve.n_pos,
                "effective": jsonable(curve.effective),
                "max_error": curve.max_error,
                "fp": jsonable(curve.fp),
                "tp": jsonable(curve.tp),
                "thresholds": jsonable(curve.thresholds),
                "below": jsonable(curve.below),
            }
            for curve in curves
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def parts_of_text(text: str) -> tuple[tuple[str, ...], list[RocCurve]]:
    """Return the names of all classifiers and the points that were kept, after checking the text."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"`text` must be JSON, got an error at line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
        raise FormatError(f"`text` must be JSON, got {shown(error)}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, dict) else type(document).__name__
        raise FormatError(f"`format` must be {FORMAT!r}, got {shown(found)}")
    version = document.get("version")
    if version != VERSION:
        raise FormatError(
            f"`version` must be {VERSION}, got {shown(version)}: written by another version of costcurves, "
            "so make the hull again from the scores"
        )
    try:
        names = _names(document["names"])
        curves = [_curve(entry) for entry in document["classifiers"]]
        check_unique([curve.name for curve in curves], "classifiers")
    except FormatError:
        raise
    except CostCurvesError as error:
        raise FormatError(f"`classifiers` must make a hull: {error}") from None
    except (KeyError, TypeError) as error:
        raise FormatError(f"`classifiers` must have all fields of version {VERSION}, got {error!r}") from None
    for curve in curves:
        if curve.name not in names:
            raise FormatError(f"`names` must list all classifiers, got no {shown(curve.name)} among them")
    return names, sorted(curves, key=lambda curve: names.index(curve.name))


def _names(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not found:
        raise FormatError(f"`names` must be a list of at least one name, got {shown(found)}")
    names = tuple(check_name("names", name) for name in found)
    check_unique(names, "names")
    return names


def _curve(entry: Mapping[str, Any]) -> RocCurve:
    """Return one classifier's points."""
    name, made_from = entry["name"], entry["made_from"]
    if made_from not in ("counts", "weights", "rates"):
        raise FormatError(f"`made_from` must be 'counts', 'weights' or 'rates', got {shown(made_from)}")
    kind = "i" if made_from == "counts" else "if"
    try:
        fp, tp = np.array(entry["fp"]), np.array(entry["tp"])
        if any(isinstance(value, bool) for key in ("fp", "tp") for value in entry[key]):
            raise ValueError
        thresholds, below = (np.array([_cut(value) for value in entry[key]]) for key in ("thresholds", "below"))
    except (ValueError, OverflowError):
        raise FormatError(f"`fp`, `tp`, `thresholds` and `below` must be numbers for {shown(name)}") from None
    if not (fp.ndim == 1 and fp.shape == tp.shape == thresholds.shape == below.shape and fp.size >= 2):
        raise FormatError(f"`fp`, `tp`, `thresholds` and `below` must have the same length >= 2 for {shown(name)}")
    if fp.dtype.kind not in kind or tp.dtype.kind not in kind or not (np.isfinite(fp).all() and np.isfinite(tp).all()):
        numbers = "whole numbers" if made_from == "counts" else "finite numbers"
        raise FormatError(f"`fp` and `tp` must be {numbers} for {shown(name)}, made from {made_from}")
    dtype = np.int64 if made_from == "counts" else np.float64
    fp, tp = fp.astype(dtype), tp.astype(dtype)
    totals = fp[-1].item(), tp[-1].item()
    higher, further = tp[1:] > tp[:-1], fp[1:] > fp[:-1]
    level, upright = tp[1:] == tp[:-1], fp[1:] == fp[:-1]
    onward = (higher & (further | upright)) | (further & level)
    rising = bool(onward.all()) and fp[0] == tp[0] == 0 < min(totals)
    if not rising or totals != (entry["n_neg"], entry["n_pos"]) or (made_from == "rates" and totals != (1, 1)):
        raise FormatError(f"`fp` and `tp` must rise from 0 to `n_neg` and `n_pos` (1 for rates) for {shown(name)}")
    known = thresholds[~np.isnan(thresholds)]
    if thresholds[0] != np.inf or (known[1:] > known[:-1]).any():
        raise FormatError(f"`thresholds` must fall from inf for {shown(name)}")
    if (below >= thresholds).any() or (below[:-1] < thresholds[1:]).any():
        raise FormatError(f"`below` must be between each of `thresholds` and the next for {shown(name)}")
    effective = entry["effective"]
    if effective is not None:
        try:
            pos, neg = (check_positive("effective", value) for value in effective)
        except (InputError, TypeError, ValueError):
            raise FormatError(f"`effective` must be two numbers > 0 for {shown(name)}") from None
        effective = (pos, neg)
    try:
        error = check_in_unit("max_error", entry["max_error"])
    except InputError:
        raise FormatError(f"`max_error` must be a number in [0, 1] for {shown(name)}") from None
    return RocCurve(
        name,
        ScoreCounts(thresholds, fp, tp, below),
        *totals,
        made_from,
        complete=False,
        effective=effective,
        max_error=error,
    )


def _cut(value: Any) -> float:
    """Return the threshold of a JSON value: a number, "inf", "-inf", or null if there is no threshold."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or (isinstance(value, str) and value not in ("inf", "-inf")):
        raise ValueError
    return float(value)
