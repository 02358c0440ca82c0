"""How often promises hold on real data: repeated splits into cases to train, to choose on, and to take as the truth.

``python studies/real_data.py --record`` reads German credit, Pima and Adult from ../shared/data (or ``--data FOLDER``),
keeps the numbers in studies/real_data.json and writes docs/explanation/real-data.md. It takes a few minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import costcurves as cc

HERE = Path(__file__).parent
RECORD = HERE / "real_data.json"
PAGE = HERE.parent / "docs" / "explanation" / "real-data.md"


class Domain(NamedTuple):
    """A data set: its positive class, what errors cost, and how many cases train, choose and judge."""

    title: str
    positive: str
    cost_fp: float
    cost_fn: float
    train: int
    choose: int
    truth: int


DOMAINS = {
    "german_credit": Domain("German credit", "bad", 1, 5, 334, 333, 333),
    "pima_diabetes": Domain("Pima diabetes", "pos", 1, 3, 256, 256, 256),
    "adult": Domain("Adult", ">50K", 1, 2, 1000, 1000, 10_000),
}
# What the cost on the other cases is compared with; the first two are what costcurves promises, and what it would if
# it took the choice for given.
RULES = ("promise", "given", "fixed")


def models(seed: int) -> dict[str, Any]:
    """Return the learners among which the choice is made."""
    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "bayes": GaussianNB(var_smoothing=1e-3),
        "forest": RandomForestClassifier(60, min_samples_leaf=3, random_state=seed),
    }


def read(folder: Path, name: str) -> tuple[Any, Any]:
    """Return features (nominal ones as indicators) and labels of a data set."""
    table = pd.read_csv(folder / f"{name}.csv.gz")
    target = table.pop("target")
    features = pd.get_dummies(table.fillna(table.median(numeric_only=True)), dtype=float)
    return features.to_numpy(), (target == DOMAINS[name].positive).to_numpy()


def true_cost(y: Any, alarm: Any, pc: float) -> tuple[float, float, float]:
    """Return the normalized cost on the cases taken as the truth, with its limits."""
    table = [[int((~y & ~alarm).sum()), int((~y & alarm).sum())], [int((y & ~alarm).sum()), int((y & alarm).sum())]]
    curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix(table), policy=cc.thresholds.point(1))
    found = curve.band(level=0.95).at(pc)
    return found.estimate, found.lower, found.upper


def held(promise: tuple[float, float, float], truth: tuple[float, float, float]) -> tuple[bool, bool]:
    """Return whether the cost lies within the promised limits, as they are and widened by the noise of the truth."""
    estimate, lower, upper = promise
    cost, low, high = truth
    plain = lower <= cost <= upper
    below, above = math.hypot(estimate - lower, high - cost), math.hypot(upper - estimate, cost - low)
    return plain, estimate - below <= cost <= estimate + above


def split(features: Any, y: Any, domain: Domain, seed: int) -> dict[str, Any]:
    """Return for one split whether each rule's interval held the cost on the other cases."""
    rng = np.random.default_rng([20261118, seed])
    order = rng.permutation(y.size)[: domain.train + domain.choose + domain.truth]
    train, choose, truth = np.split(order, [domain.train, domain.train + domain.choose])
    fitted = {name: model.fit(features[train], y[train]) for name, model in models(seed).items()}
    scores = {name: model.predict_proba(features[choose])[:, 1] for name, model in fitted.items()}
    where = cc.OperatingCondition(float(y.mean()), cost_fp=domain.cost_fp, cost_fn=domain.cost_fn)

    def alarms(name: str, threshold: float) -> Any:
        if math.isinf(threshold):
            return np.full(truth.size, threshold < 0)
        return fitted[name].predict_proba(features[truth])[:, 1] >= threshold

    ask: Callable[..., Any] = cc.Predictions(y[choose], scores).recommend
    answer, given = ask(where), ask(where, given_choice=True)
    best = answer.best
    judged = true_cost(y[truth], alarms(best.classifier, best.threshold), where.pc)
    # One classifier at the threshold that its probabilities ask for: nothing is chosen on these cases.
    cut = cc.bayes_threshold(where)
    fixed = cc.CostCurve.from_predictions(y[choose], scores["logistic"], policy=cut).band(level=0.95).at(where.pc)
    rules = {
        "promise": ((answer.estimate[0], answer.lower[0], answer.upper[0]), judged),
        "given": ((given.estimate[0], given.lower[0], given.upper[0]), judged),
        "fixed": (
            (fixed.estimate, fixed.lower, fixed.upper),
            true_cost(y[truth], alarms("logistic", cut), where.pc),
        ),
    }
    found: dict[str, Any] = {}
    for name, (promise, cost) in rules.items():
        found[name], found[f"{name}_noise"] = held(promise, cost)
        found[f"{name}_bias"] = promise[0] - cost[0]
        found[f"{name}_width"] = promise[2] - promise[1]
    new = {name: model.predict_proba(features[truth])[:, 1] for name, model in fitted.items()}
    found["kept"] = cc.check_promise(answer, y[truth], new).kept
    found["trivial"] = best.classifier not in scores
    return found


def measure(folder: Path, name: str, splits: int) -> dict[str, Any]:
    """Return the shares over all splits of one data set."""
    features, y = read(folder, name)
    outcomes = pd.DataFrame([split(features, y, DOMAINS[name], seed) for seed in range(splits)])
    return {"splits": splits, **{column: float(outcomes[column].mean()) for column in outcomes}}


def page(found: dict[str, dict[str, Any]]) -> str:
    """Return the page with the table."""
    lines = [
        "# Do promises hold on real data?",
        "",
        "`make study-real` splits each data set at random, again and again: one part trains a logistic regression,",
        "naive Bayes and a forest; on the second part `recommend` chooses a classifier and a threshold and promises a",
        "cost with 95 % limits; the third part is taken as the truth. *Held* is the share of splits in which the cost",
        "on the third part lies within the promised limits. That part is a sample, too, and its own noise pushes costs",
        "out of limits that are right; *allowing for noise* widens the limits by that of the third part. *Bias* is the",
        "promised cost minus the cost on the third part, as a share of the cost of getting every case wrong. The last",
        "column is the share of splits in which `check_promise` found nothing changed.",
        "",
        "| data | cases that choose, judge | splits | rule | held | allowing for noise | bias | width | no change |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    words = {
        "promise": "the promise of `recommend`",
        "given": "the same, taking the choice as given",
        "fixed": "a threshold fixed before, one classifier",
    }
    for name, one in found.items():
        domain = DOMAINS[name]
        for rule in RULES:
            share = one[f"{rule}_noise"]
            error = math.sqrt(max(share * (1 - share), 1 / one["splits"] ** 2) / one["splits"])
            lines.append(
                f"| {domain.title} | {domain.choose:,}, {domain.truth:,} | {one['splits']} | {words[rule]} "
                f"| {100 * one[rule]:.0f} % | {100 * share:.0f} ± {100 * error:.0f} % | {one[f'{rule}_bias']:+.3f} "
                f"| {one[f'{rule}_width']:.3f} | {100 * one['kept']:.0f} % |"
                if rule == "promise"
                else f"| | | | {words[rule]} | {100 * one[rule]:.0f} % | {100 * share:.0f} ± {100 * error:.0f} % "
                f"| {one[f'{rule}_bias']:+.3f} | {one[f'{rule}_width']:.3f} | |"
            )
    lines += [
        "",
        "The standard errors are those of independent splits; splits of one data set overlap, so they are a little",
        "too small. A promise is about new cases from the same source, which these are, because all parts are drawn",
        "from one data set. For data that come later, see [](../howto/promise.md).",
    ]
    return "\n".join([*lines, ""])


def main() -> None:
    """Run all data sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=120, help="splits of each data set; a quarter of them of Adult")
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data", help="where the files are")
    parser.add_argument("--record", action="store_true", help="keep the results and write the page")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", cc.WorseThanChanceWarning)
    found: dict[str, dict[str, Any]] = {}
    for name in DOMAINS:
        found[name] = measure(asked.data, name, asked.splits // 4 if name == "adult" else asked.splits)
        print(name, {key: round(value, 4) for key, value in found[name].items()}, flush=True)
    if asked.record:
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
        PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
