"""Figures 11 to 15: the band of one confusion matrix, and three differences with the same two matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import costcurves as cc
from replications.domains import Floats
from replications.study import BEYOND, Part, Row, Study, constructed, rng_of

LEVEL = 0.9
# Figure 11: the paper's rows are the true classes, 16 and 4 of 20 positives, 4 and 6 of 10 negatives.
POSITIVES, MISSES = 20, 4
NEGATIVES, ALARMS = 10, 4
PC = np.linspace(0.0, 1.0, 101)
DRAWN = 100
MANY = (100, 500, 2000)
# Two classifiers on 200 examples of each class: the first misses 60 positives and calls 60 negatives positive, the
# second 52 and 56. The paper prints no matrices. These, and the number of common errors, were chosen so that the three
# differences are as it describes.
SIZE = 200
RESAMPLES = 500
WRONG = {"positives": (60, 52), "negatives": (60, 56)}
BOTH = {
    "high": {"positives": 52, "negatives": 56},
    "medium": {"positives": 46, "negatives": 17},
    "low": {"positives": 16, "negatives": 17},
}
FIGURES = {"high": 13, "low": 14, "medium": 15}
METHODS = ("exact", "resample", "gaussian", "mid-p")
Counts = list[list[list[int]]]


def joint(kind: str) -> Counts:
    """The counts by true class (negative first), prediction of the first and prediction of the second."""
    out = []
    for side, right in (("negatives", 0), ("positives", 1)):
        (a, b), both = WRONG[side], BOTH[kind][side]
        table = np.zeros((2, 2), dtype=int)
        table[right, right] = SIZE - a - b + both
        table[1 - right, 1 - right] = both
        table[1 - right, right] = a - both
        table[right, 1 - right] = b - both
        out.append(table.tolist())
    return out


def curve_of_figure_11() -> cc.CostCurve:
    """The cost line of the confusion matrix."""
    table = [[NEGATIVES - ALARMS, ALARMS], [MISSES, POSITIVES - MISSES]]
    roc = cc.RocCurve.from_confusion_matrix(table, name="classifier")
    return cc.CostCurve(roc, policy=cc.thresholds.point(1))


def drawn_rates(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw fpr and fnr of new confusion matrices from the paper's two binomial distributions."""
    fnr = rng.binomial(POSITIVES, MISSES / POSITIVES, count) / POSITIVES
    fpr = rng.binomial(NEGATIVES, ALARMS / NEGATIVES, count) / NEGATIVES
    return fpr, fnr


def paper_limits(fpr: Floats, fnr: Floats, pc: Floats) -> tuple[Floats, Floats]:
    """The paper's limits at each pc, which are the fifth lowest and the fifth highest of 100 costs."""
    costs = np.sort(np.outer(fnr, pc) + np.outer(fpr, 1 - pc), axis=0)
    place = round((1 - LEVEL) / 2 * len(costs))
    return costs[place - 1], costs[-place]


def work(part: Part, seed: int) -> Part:
    """Compute the band or a difference."""
    if part["part"] == "band":
        return band(part["repeats"], rng_of(seed, "band"))
    return difference(part["part"], rng_of(seed, "difference", part["part"]))


def band(repeats: int, rng: np.random.Generator) -> Part:
    """Compute the lines and limits of figure 12, the exact limits, and the error of resampling."""
    curve = curve_of_figure_11()
    fpr, fnr = drawn_rates(DRAWN, rng)
    lower, upper = paper_limits(fpr, fnr, PC)
    exact, corrected = (curve.band(level=LEVEL, method=method, pc=PC) for method in ("exact", "wilson"))
    middle = curve.distribution(0.5).std
    limits_off, spread_off = {}, {}
    for count in MANY:
        squares = np.zeros(2)
        for _ in range(repeats):
            rates = drawn_rates(count, rng)
            limits = paper_limits(*rates, PC)
            squares[0] += np.mean((limits[0] - exact.lower) ** 2 + (limits[1] - exact.upper) ** 2) / 2
            squares[1] += (np.std(sum(rates) / 2) / middle - 1) ** 2
        limits_off[str(count)], spread_off[str(count)] = np.sqrt(squares / repeats)
    within = np.arange(1, 100) / 100
    coverage = {
        method: cc.coverage(curve, n_pos=POSITIVES, n_neg=NEGATIVES, level=LEVEL, method=method, pc=within).worst
        for method in ("gaussian", "wilson")
    }
    return {
        "ends": [curve.evaluate(0.0), curve.evaluate(1.0)],
        "fpr": fpr,
        "fnr": fnr,
        "lower": lower,
        "upper": upper,
        "exact_lower": exact.lower,
        "exact_upper": exact.upper,
        "corrected_lower": corrected.lower,
        "corrected_upper": corrected.upper,
        "limits_off": limits_off,
        "spread_off": spread_off,
        "coverage": coverage,
    }


def compared(kind: str, method: Any, rng: Any = 0, *, simultaneous: bool = False) -> Any:
    """Compare the two classifiers of a figure."""
    options: dict[str, Any] = {"n_resamples": RESAMPLES, "rng": rng} if method == "resample" else {}
    negatives, positives = joint(kind)
    return cc.compare.from_joint(
        negatives=negatives, positives=positives, names=("first", "second"), level=LEVEL, method=method,
        simultaneous=simultaneous, pc=PC, **options,
    )  # fmt: skip


def difference(kind: str, rng: np.random.Generator) -> Part:
    """Compute a difference with its limits by several methods, and the correlation of the errors."""
    found: Part = {"correlation": {side: correlation(*WRONG[side], BOTH[kind][side]) for side in WRONG}}
    for method in METHODS:
        one = compared(kind, method, rng)
        found[method] = {"lower": one.lower, "upper": one.upper}
    found["estimate"] = one.estimate
    together = compared(kind, "mid-p", simultaneous=True)
    found["simultaneous"] = {"lower": together.lower, "upper": together.upper}
    table = np.array(joint(kind))
    found["matrices"] = [table.sum(axis=2), table.sum(axis=1)]
    return found


def correlation(a: int, b: int, both: int) -> float:
    """The correlation of two classifiers' errors in a class."""
    p, q = a / SIZE, b / SIZE
    return float((both / SIZE - p * q) / np.sqrt(p * (1 - p) * q * (1 - q)))


def significant(limits: Part) -> Floats:
    """The operating points at which the limits exclude zero."""
    lower, upper = np.asarray(limits["lower"]), np.asarray(limits["upper"])
    return PC[(lower > 1e-12) | (upper < -1e-12)]


def spoken(points: Floats) -> str:
    """Describe a set of operating points in words."""
    if points.size == 0:
        return "nowhere"
    if points.size == PC.size:
        return "everywhere"
    if np.isclose(points[-1] - points[0], (points.size - 1) / (PC.size - 1)):
        return f"pc from {points[0]:.2f} to {points[-1]:.2f}"
    return f"{points.size} of {PC.size} pc between {points[0]:.2f} and {points[-1]:.2f}"


def rows(parts: list[Part]) -> list[Row]:
    """Compare the statements of sections 8 and 9 with our results."""
    by_name = {part["part"]: part for part in parts}
    return _band_rows(by_name["band"]) + _difference_rows(by_name)


ARITHMETIC = "arithmetic of the printed matrix"


def _band_rows(found: Part) -> list[Row]:
    distance = max(
        np.abs(np.subtract(found["lower"], found["exact_lower"])).max(),
        np.abs(np.subtract(found["upper"], found["exact_upper"])).max(),
    )
    counts = np.concatenate([np.multiply(found["fnr"], POSITIVES), np.multiply(found["fpr"], NEGATIVES)])
    fpr, fnr = found["ends"]
    whole = bool(np.allclose(counts, counts.round(), atol=1e-4))
    return [
        constructed("Figure 11", "P1, positives called positive", 0.8, 1 - fnr, fnr == 0.2, ARITHMETIC),
        constructed("Figure 11", "P2, negatives called positive", 0.4, fpr, fpr == 0.4, ARITHMETIC),
        constructed(
            "Figure 12",
            "every new matrix has 20 positives and 10 negatives",
            "yes",
            "yes" if whole else "no",
            whole,
            f"by definition of the resampling; {len(found['fpr'])} matrices",
        ),
        Row(
            "Figure 12",
            "largest distance of the limits of 100 matrices from those of infinitely many",
            None,
            float(distance),
            BEYOND,
            "the fifth lowest and highest of 100, and the exact bootstrap distribution",
        ),
        constructed(
            "Figure 12",
            "relative error of the spread of the cost at pc = 0.5, with 100, 500 and 2000 matrices",
            "at least 500 for an accurate variance",
            ", ".join(f"{100 * found['spread_off'][str(count)]:.1f} %" for count in MANY),
            found["spread_off"]["500"] < 0.05 < found["spread_off"]["100"],
            "about 1/√(2 · number) whatever the matrix is; that 5 % is accurate is our rule; root mean square, against "
            "the exact distribution",
        ),
        Row(
            "Figure 12",
            "typical error of a limit with 100, 500 and 2000 matrices",
            None,
            ", ".join(f"{found['limits_off'][str(count)]:.3f}" for count in MANY),
            BEYOND,
            "it falls more slowly, because the costs of 30 examples have few values, between which a limit jumps",
        ),
        Row(
            "Figure 12",
            "lowest coverage of a 90 % interval with 20 and 10 examples, corrected and Gaussian",
            None,
            f"{found['coverage']['wilson']:.3f} and {found['coverage']['gaussian']:.3f}",
            BEYOND,
            "if the rates of figure 11 were the true ones",
        ),
    ]


def _difference_rows(found: dict[str, Part]) -> list[Row]:
    same = all(found[kind]["matrices"] == found["high"]["matrices"] for kind in FIGURES)
    where = {kind: significant(found[kind]["exact"]) for kind in FIGURES}
    width = {
        kind: float(np.mean(np.subtract(found[kind]["exact"]["upper"], found[kind]["exact"]["lower"])))
        for kind in FIGURES
    }

    phi = {kind: found[kind]["correlation"] for kind in FIGURES}
    spelled = {kind: " and ".join(f"{value:.2f}" for value in phi[kind].values()) for kind in FIGURES}
    high, low, medium = where["high"], where["low"], where["medium"]
    above = bool(medium.size) and medium[-1] == 1 and medium.size == np.sum(medium[0] - 1e-9 <= PC)
    out = [
        constructed("Figure 13", "the difference is significant", "everywhere", spoken(high), high.size == PC.size,
            f"matrices and overlap chosen so; correlation of errors {spelled['high']} (positives, negatives)"),
        constructed("Figure 14", "the two matrices are those of figure 13", "yes", "yes" if same else "no", same,
            "chosen so"),
        constructed("Figure 14", "the difference is significant", "nowhere", spoken(low), low.size == 0,
            f"overlap chosen so; correlation of errors {spelled['low']}"),
        constructed("Figure 14", "mean width of the interval, times that of figure 13", "much wider",
            width["low"] / width["high"], width["low"] > 1.5 * width["high"], "overlap chosen so"),
        constructed("Figure 15", "the difference is significant", "pc > 0.7", spoken(medium),
            above and abs(medium[0] - 0.7) < 0.05, f"overlap chosen so; correlation of errors {spelled['medium']}"),
    ]  # fmt: skip
    for kind, number in FIGURES.items():
        said = {"resample": f"{RESAMPLES} resamples", "gaussian": "Gaussian", "mid-p": "corrected"}
        others = ", ".join(f"{text} {spoken(significant(found[kind][method]))}" for method, text in said.items())
        out.append(
            Row(
                f"Figure {number}",
                "significant by limits that hold at all pc jointly",
                None,
                spoken(significant(found[kind]["simultaneous"])),
                BEYOND,
                f"at each pc separately: {others}",
            )
        )
    return out


def about(size: str) -> dict[str, Any]:
    """The settings that the pages state."""
    return {
        "level": LEVEL,
        "examples per class": SIZE,
        "resamples": RESAMPLES,
        "repetitions of figure 12": parts(size)[0]["repeats"],
    }


def parts(size: str) -> list[Part]:
    """List the band and the three differences."""
    first = {"part": "band", "repeats": 1000 if size == "full" else 50}
    return [first, *({"part": kind, "repeats": 1} for kind in FIGURES)]


STUDY = Study("intervals-2005", "Figures 11-15: a band and three differences (2005)", parts, work, rows, about)
