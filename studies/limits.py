"""How often every default answer holds: limits and verdicts beside the truth of made-up worlds.

``python -m studies.limits --record`` asks every answer (about 45 minutes of one processor), keeps the counts in
studies/limits.json and writes docs/explanation/default-limits.md, which also quotes the records of the other studies.
``--only compare --sets 50`` tries one of them. Counts add up, so that a run with more sets goes on where the last one
stopped.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import costcurves as cc
from studies.limits_page import PAGE, page
from studies.training_sets import held
from studies.worlds import EXPONENTIAL, LOGISTIC, STRONG, WEAK, WORLDS, World

HERE = Path(__file__).parent
RECORD = HERE / "limits.json"
TINY = 1e-9
GRID = np.linspace(0, 1, 101)
# What failed in one data set, by name.
Failures = dict[str, bool]


def outside(truth: Any, lower: Any, upper: Any) -> bool:
    """Return whether a true value lies outside its limits anywhere."""
    return bool(np.any((truth < lower - TINY) | (truth > upper + TINY)))


def true_costs(world: World, curves: dict[str, cc.CostCurve], pc: Any) -> dict[str, Any]:
    """Return what each classifier costs on new cases at the thresholds in use."""
    return {name: world.cost(name, curve.threshold_at(pc), pc) for name, curve in curves.items()}


def curves_of(y: Any, scores: dict[str, Any]) -> dict[str, cc.CostCurve]:
    """Return the cost curve of each classifier."""
    return {name: cc.CostCurve.from_predictions(y, one, name=name) for name, one in scores.items()}


def wrong(difference: Any, gap: Any) -> bool:
    """Return whether a classifier is called cheaper that is not at the thresholds in use."""
    low, high = difference.lower > TINY, difference.upper < -TINY
    return bool(np.any((low & (gap <= TINY)) | (high & (gap >= -TINY))))


def told_apart(**pairs: tuple[Any, bool]) -> Failures:
    """Return whether one of two equal classifiers is called cheaper, whatever their thresholds in use.

    Each value is a difference and whether the two are equal; pairs that are not are left out.
    """
    return {
        name.replace("_", " "): bool(np.any((one.lower > TINY) | (one.upper < -TINY)))
        for name, (one, equal) in pairs.items()
        if equal
    }


def band(world: World, rng: np.random.Generator) -> Failures:
    """Ask for limits of one curve."""
    y, scores = world.draw(rng)
    curve = cc.CostCurve.from_predictions(y, scores["0"])
    truth, here = world.cost("0", curve.threshold_at(world.pc), world.pc), curve.band(pc=[world.pc]).at(world.pc)
    joint = curve.band(simultaneous=True)
    return {
        "above": bool(truth > here.upper + TINY),
        "missed": outside(truth, here.lower, here.upper),
        "joint": outside(world.cost("0", curve.threshold_at(joint.pc), joint.pc), joint.lower, joint.upper),
    }


def compare(world: World, rng: np.random.Generator) -> Failures:
    """Compare two classifiers."""
    y, scores = world.draw(rng)
    pair, equal = (scores["0"], scores["1"]), world.equal("0", "1")
    curves = curves_of(y, {"0": pair[0], "1": pair[1]})
    at, over = (true_costs(world, curves, pc) for pc in (world.pc, GRID))
    gap, gaps = at["0"] - at["1"], over["0"] - over["1"]
    one, all_pc, crossfit = (
        cc.compare(y, *pair, pc=[world.pc], simultaneous=False),
        cc.compare(y, *pair),
        cc.compare(y, *pair, policy="crossfit"),
    )
    changes = np.flatnonzero(gaps[:-1] * gaps[1:] < -(TINY**2))
    within = list(all_pc.crossings().within)
    return {
        "missed": outside(gap, one.lower, one.upper),
        "false": wrong(one, gap),
        "joint": outside(gaps, all_pc.lower, all_pc.upper),
        "joint false": wrong(all_pc, gaps),
        "crossfit": outside(gaps, crossfit.lower, crossfit.upper),
        "crossfit false": wrong(crossfit, gaps),
        "crossing": any(not any(low < GRID[i + 1] and GRID[i] < high for low, high in within) for i in changes),
        **told_apart(equal=(one, equal), joint_equal=(all_pc, equal)),
    }


def compare_many(world: World, rng: np.random.Generator) -> Failures:
    """Compare three classifiers."""
    y, scores = world.draw(rng)
    curves, found = curves_of(y, scores), cc.compare_many(y, scores)
    over, at = (true_costs(world, curves, pc) for pc in (GRID, world.pc))
    here, equal = found.at(world.pc), [p for p in found.pairs if world.equal(*p.names)]
    called = [
        bool(shown) and (at[a] - at[b]) * estimate <= 0
        for (a, b), shown, estimate in zip(here.pairs, here.significant(), here.estimate, strict=True)
    ]
    return {
        "joint": any(outside(over[p.names[0]] - over[p.names[1]], p.lower, p.upper) for p in found.pairs),
        "joint false": any(wrong(p, over[p.names[0]] - over[p.names[1]]) for p in found.pairs),
        "adjusted false": any(called),
    } | ({"joint equal": any(any(told_apart(equal=(p, True)).values()) for p in equal)} if equal else {})


def from_curves(world: World, rng: np.random.Generator) -> Failures:
    """Compare two classifiers that were judged on different cases, the second on a third as many."""
    curves = {}
    for name, n in (("0", world.n), ("1", max(world.n // 3, 30))):
        y, scores = world.draw(rng, n)
        curves[name] = cc.CostCurve.from_predictions(y, scores[name], name=name)
    over, found = true_costs(world, curves, GRID), cc.compare.from_curves(*curves.values())
    gaps = over["0"] - over["1"]
    return {
        "joint": outside(gaps, found.lower, found.upper),
        "joint false": wrong(found, gaps),
        **told_apart(joint_equal=(found, world.equal("0", "1"))),
    }


def saving(world: World, rng: np.random.Generator) -> Failures:
    """Ask what to use, what it saves against a rule and against a classifier, and check the promise on new cases."""
    where = cc.OperatingCondition(world.prevalence, cost_fp=1, cost_fn=_cost_fn(world))
    y, scores = world.draw(rng)
    answer = cc.recommend(y, scores, where)
    best = answer.best
    own, found = world.cost(best.classifier, best.threshold, world.pc), {}
    rule = float(np.median(world.scorers[1].cuts[1:-1]))
    for name, cut in (("rule", rule), ("classifier", None)):
        one = answer.saving("1", threshold=cut)
        # Of a rival without a threshold it is said that every threshold costs more.
        true = world.cost("1", cut, world.pc) if cut is not None else world.least("1", world.pc)
        if (one.baseline.classifier, one.baseline.threshold) == (best.classifier, best.threshold):
            true = own
        found[f"{name} below"] = bool(true - own < one.lower - TINY)
        found[f"{name} false"] = bool(one.shown and true - own <= 0)
        if cut is not None:
            found[f"{name} above"] = bool(true - own > one.upper + TINY)
    size = max(50, world.n // 2)
    many = min(max(int(rng.binomial(size, world.prevalence)), 2), size - 1)
    new = World(size, many / size, world.pc, world.scorers, world.correlation).draw(rng)
    check = cc.check_promise(answer, *new)
    return found | {"cost gate": bool(own > float(answer.upper[0]) + TINY), "alarm": not check.kept}


def _cost_fn(world: World) -> float:
    """Return the cost of a miss that leads to the world's condition, if a false alarm costs 1."""
    return world.pc * (1 - world.prevalence) / ((1 - world.pc) * world.prevalence)


def within(world: World, rng: np.random.Generator) -> Failures:
    """Ask what to use over a range."""
    y, two = world.draw(rng)
    scores = {name: two[name] for name in ("0", "1")}
    answer = cc.recommend_within(y, scores, cc.OperatingRange.from_pc(max(world.pc - 0.15, 0.05), world.pc + 0.15))
    best, curves = answer.best_name, curves_of(y, scores)

    def cost(name: str, pc: Any) -> Any:
        return world.cost(name, curves[name].threshold_at(pc) if name in curves else None, pc)

    worse, better = False, False
    for name, spans in answer.shown_worse.items():
        for low, high in spans:
            pc = np.linspace(low, high, 9)[1:-1]
            worse |= bool(np.any(cost(best, pc) > world.least(name, pc) + TINY))
    for name, spans in answer.shown_better.items():
        for low, high in spans:
            pc = np.linspace(low, high, 9)[1:-1]
            better |= bool(np.any(cost(name, pc) > world.least(best, pc) + TINY))
    return {"worse": worse, "better": better}


def thresholds(world: World, rng: np.random.Generator) -> Failures:
    """Ask which thresholds may be the best, and where the classifier is useful."""
    y, scores = world.draw(rng)
    curve, scorer = curves_of(y, {"0": scores["0"]})["0"], world.scorers[0]
    points, trivial = np.linspace(0.05, 0.95, 19), np.minimum(GRID, 1 - GRID)
    sets, limits = curve.threshold_sets(cc.OperatingRange.from_pc(0.05, 0.95)), curve.operating_range_limits()
    truth = world.cost("0", curve.threshold_at(GRID), GRID)

    def contained(one: Any, pc: float) -> bool:
        # Thresholds of the same true cost are equally the best, as for useless and rounded scores.
        cuts = scorer.cuts[scorer.cost(scorer.cuts, pc) <= scorer.least(pc) + TINY]
        return any(one.contains(cut) for cut in cuts)

    def inside(spans: Any) -> Any:
        return np.any([(low + TINY < GRID) & (high - TINY > GRID) for low, high in spans] or [GRID < 0], axis=0)

    surely, possibly = inside(limits.surely), inside(limits.possibly)
    return {
        "set": not contained(curve.threshold_set(world.pc), world.pc),
        "joint set": not all(contained(sets.at(pc), pc) for pc in points),
        "useful false": bool(np.any(surely & (truth >= trivial - TINY))),
        "useless false": bool(np.any(~possibly & (truth < trivial - TINY) & (GRID > 0) & (GRID < 1))),
    }


def guarantees(world: World, rng: np.random.Generator) -> Failures:
    """Ask for rules that keep a limit on new cases with a confidence of 90 %, of three classifiers."""
    y, scores = world.draw(rng)
    hull = cc.RocHull([cc.RocCurve.from_predictions(y, one, name=name) for name, one in scores.items()])
    p, broken = world.prevalence, {}
    asked: dict[str, Callable[[], Any]] = {
        "fpr": lambda: hull.best_at_fpr(0.2, confidence=0.9),
        "tpr": lambda: hull.best_at_tpr(0.7, confidence=0.9),
        "capacity": lambda: hull.best_at_capacity(alarms=300, population=1000, prevalence=p, confidence=0.9),
        "precision": lambda: hull.best_at_precision(min(1.5 * p, 0.9), prevalence=p, confidence=0.9),
    }
    for limit, ask in asked.items():
        try:
            found = ask()
        except cc.CostCurvesError:  # too few cases for any guarantee, or no threshold that has it
            broken[limit] = False
            continue
        known = {"always negative": (1.0, 0.0), "always positive": (0.0, 1.0)}
        name = found.classifier
        fnr, fpr = known[name] if name in known else world.scorers[int(name)].rates(found.threshold)
        alarms = p * (1 - fnr) + (1 - p) * fpr
        broken[limit] = bool(
            {
                "fpr": fpr > 0.2 + TINY,
                "tpr": fnr > 0.3 + TINY,
                "capacity": alarms > 0.3 + TINY,
                "precision": alarms > 0 and p * (1 - fnr) < (min(1.5 * p, 0.9) - TINY) * alarms,
            }[limit]
        )
    return broken


def averages(world: World, rng: np.random.Generator, folds: int = 5) -> Failures:
    """Ask for the mean of test folds that have all cases together, with and without chosen thresholds."""
    size, scorer, pc = max(world.n // folds, 30 if folds == 5 else 12), world.scorers[0], world.pc
    drawn = [world.draw(rng, size) for _ in range(folds)]
    y, score = np.concatenate([y for y, _ in drawn]), np.concatenate([scores["0"] for _, scores in drawn])
    result = cc.Predictions(y, {"0": score}, folds=np.repeat(np.arange(folds), size))

    def mean(curves: Any) -> float:
        return float(np.mean([scorer.cost(curve.threshold_at(pc), pc) for curve in curves]))

    own, others = (result.fold_curves("0", policy=policy) for policy in ("optimal", "crossfit"))
    found = {
        "chosen": (mean(own), cc.average_band(own, pc=[pc], given_choice=True)),
        "others": (mean(others), result.average_band("0", pc=[pc])),
    }
    cut = scorer.best(pc)
    if np.isfinite(cut):
        given, truth = result.fold_curves("0", policy=cc.thresholds.fixed(cut)), float(scorer.cost(cut, pc))
        found["given"] = (truth, cc.average_band(given, pc=[pc]))
        for kind in ("within", "between"):
            found[kind] = (truth, cc.average_band(given, pc=[pc], kind=kind))
    return {name: outside(true, one.lower, one.upper) for name, (true, one) in found.items()}


def many_folds(world: World, rng: np.random.Generator) -> Failures:
    """Ask for the mean of thirty test folds."""
    return {name: failed for name, failed in averages(world, rng, folds=30).items() if name in ("given", "others")}


def dominance(world: World, rng: np.random.Generator) -> Failures:
    """Ask who is significantly better: of three classifiers, in costs."""
    y, scores = world.draw(rng)
    found, curves = cc.significant_dominance(y, scores), curves_of(y, scores)
    over = true_costs(world, curves, found.points)
    false = equal = False
    for a in scores:
        for b in scores:
            if a == b:
                continue
            for low, high in found.where(a, b):
                here = (found.points >= low) & (found.points <= high)
                false |= bool(np.any(over[a][here] >= over[b][here] - TINY))
                equal |= world.equal(a, b)
    return {"false": false, "equal": equal}


class Amounts(NamedTuple):
    """What misses cost, and the most that they can, beside scores."""

    world: World
    costs: Any
    most: float

    def draw(self, rng: np.random.Generator) -> tuple[Any, dict[str, Any], Any]:
        """Return labels, scores and costs of misses; cases are drawn from the population."""
        n = self.world.n
        many = max(int(rng.binomial(n, self.world.prevalence)), 2)
        part = World(n, many / n, self.world.pc, self.world.scorers, self.world.correlation)
        return *part.draw(rng), np.minimum(self.costs.rvs(n, random_state=rng), self.most)

    def mean(self, name: int, cut: float) -> float:
        """Return the expected cost per case."""
        u = (np.arange(200_000) + 0.5) / 200_000
        amount = float(np.minimum(self.costs.ppf(u), self.most).mean())
        fnr, fpr = self.world.scorers[name].rates(cut)
        p = self.world.prevalence
        return float(p * fnr * amount + (1 - p) * fpr)


AMOUNTS = {
    "uniform amounts, 200 cases": Amounts(World(200, 0.3, 0.5, (LOGISTIC, LOGISTIC)), stats.uniform(0, 10), 10),
    "lognormal amounts (σ = 1), 10 % positive, 500 cases": Amounts(
        World(500, 0.1, 0.5, (LOGISTIC, LOGISTIC)), stats.lognorm(1.0, scale=5), 500
    ),
    "lognormal amounts (σ = 2), 1 % positive, 1,000 cases": Amounts(
        World(1000, 0.01, 0.5, (LOGISTIC, LOGISTIC)), stats.lognorm(2.0, scale=20), 20_000
    ),
    "Pareto amounts (index 1.5), 20 % positive, 400 cases": Amounts(
        World(400, 0.2, 0.5, (EXPONENTIAL, EXPONENTIAL)), stats.pareto(1.5), 1_000
    ),
    "exponential amounts, 5 % positive, 2,000 cases": Amounts(
        World(2000, 0.05, 0.5, (STRONG, WEAK)), stats.expon(scale=20), 1_000
    ),
}


def example_costs(amounts: Amounts, rng: np.random.Generator) -> Failures:
    """Ask for costs where each example has its own, without and with the most that one can cost."""
    y, scores, miss = amounts.draw(rng)
    cuts = [1.0, 1.0]
    truth = [amounts.mean(j, cuts[j]) for j in range(2)]
    found = {}
    for name, more in (("", {}), (" with max_cost", {"max_cost": amounts.most})):
        asked: Any = {"cost_fp": 1.0, "cost_fn": miss, "policy": cuts[0]} | more
        one = cc.example_cost(y, scores["0"], **asked)
        two = cc.compare_example_cost(y, scores["0"], scores["1"], **asked)
        found[f"one{name}"] = outside(truth[0], one.lower, one.upper)
        found[f"difference{name}"] = outside(truth[0] - truth[1], two.lower, two.upper)
    return found


class Classes(NamedTuple):
    """Predictions of several classifiers for k classes: shares, accuracies, costs and cases."""

    shares: Any
    accuracy: tuple[float, ...]
    costs: Any
    n: int


def _graded(k: int) -> Any:
    return np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float) ** 2


CLASSES = {
    "3 classes, equal classifiers, 100 cases": Classes([0.5, 0.3, 0.2], (0.8, 0.8, 0.8), _graded(3), 100),
    "5 uneven classes, squared distances, 400 cases": Classes(
        [0.5, 0.3, 0.1, 0.08, 0.02], (0.9, 0.85, 0.85), _graded(5), 400
    ),
    "10 classes, 200 cases": Classes(np.full(10, 0.1), (0.7, 0.7, 0.6), 1 - np.eye(10), 200),
    "2 classes, 1 % positive, misses cost 50, 1,000 cases": Classes(
        [0.99, 0.01], (0.9, 0.9, 0.9), np.array([[0, 1], [50, 0]]), 1000
    ),
}


def classes(world: Classes, rng: np.random.Generator) -> Failures:
    """Ask for costs of k classes: one, a difference, and three classifiers together."""
    k = len(world.shares)
    y = rng.choice(k, world.n, p=world.shares)
    answers = {
        str(j): np.where(rng.random(world.n) < right, y, (y + rng.integers(1, k, world.n)) % k)
        for j, right in enumerate(world.accuracy)
    }
    costs = cc.CostMatrix(world.costs, labels=list(range(k)))
    each = float(np.dot(world.shares, world.costs.sum(axis=1)) / (k - 1))
    truth = {str(j): (1 - right) * each for j, right in enumerate(world.accuracy)}
    constant = float(np.min(np.asarray(world.shares) @ world.costs))
    one, two = cc.bcost(y, answers["0"], costs), cc.bdeltacost(y, answers["0"], answers["1"], costs)
    gap = truth["0"] - truth["1"]
    many = cc.bdeltacost_many(y, answers, costs)
    gaps = [(p, truth[p.names[0]] - truth.get(p.names[1], constant)) for p in many.pairs]
    return {
        "one": outside(truth["0"], one.lower, one.upper),
        "two": outside(gap, two.lower, two.upper),
        "two false": bool(two.significant() and gap * two.estimate <= TINY),
        "many": any(outside(true, p.lower, p.upper) for p, true in gaps),
        "many false": any(
            bool(p_value <= 1 - many.level) and true * p.estimate <= TINY
            for (p, true), p_value in zip(gaps, many.adjusted, strict=True)
        ),
    }


TRAINING = {"3 training sets, 100 cases": (3, 100), "10 training sets, 500 cases": (10, 500)}


def training(world: tuple[int, int], rng: np.random.Generator) -> Failures:
    """Ask for costs over training sets, in a random world."""
    return {name: not ok for name, ok in held(rng, *world).items() if name != "bcost of one"}


class Asked(NamedTuple):
    """What is asked, of which worlds, and how many data sets of each."""

    ask: Callable[[Any, np.random.Generator], Failures]
    worlds: dict[str, Any]
    sets: int


def _some(*words: str) -> dict[str, Any]:
    return {name: world for name, world in WORLDS.items() if any(word in name for word in words)}


ANSWERS = {
    "guarantees": Asked(guarantees, WORLDS, 1000),
    "thresholds": Asked(thresholds, _some("expon", "Cauchy", "few", "useless scores", "both sides"), 300),
    "averages": Asked(averages, WORLDS, 500),
    "many_folds": Asked(many_folds, WORLDS, 300),
    "example_costs": Asked(example_costs, AMOUNTS, 500),
    "classes": Asked(classes, CLASSES, 500),
    "training": Asked(training, TRAINING, 300),
    "compare": Asked(compare, WORLDS, 500),
    "from_curves": Asked(from_curves, WORLDS, 300),
    "saving": Asked(saving, _some("expon", "Cauchy", "own rounded values, 300", "unequal", "useless s", "both"), 200),
    "band": Asked(band, WORLDS, 200),
    "compare_many": Asked(compare_many, _some("expon", "own rounded values, 300", "few", "useless", "unequal"), 150),
    "dominance": Asked(dominance, _some("few", "useless scores", "beta"), 100),
    "within": Asked(within, _some("expon", "few", "useless scores", "unequal"), 100),
}


def measure(name: str, world: str, sets: range) -> dict[str, int]:
    """Return in how many data sets something failed."""
    asked, found = ANSWERS[name], {"sets": len(sets)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CostCurvesWarning)
        for k in sets:
            rng = np.random.default_rng([2029, list(asked.worlds).index(world), k])
            for part, failed in asked.ask(asked.worlds[world], rng).items():
                found[part] = found.get(part, 0) + int(failed)
    return found


def main() -> None:
    """Measure all answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, help="data sets of each world, by default as many as stated")
    parser.add_argument("--only", nargs="*", choices=ANSWERS, default=list(ANSWERS), help="some of the answers")
    parser.add_argument("--record", action="store_true", help="keep the counts and write the page")
    asked = parser.parse_args()
    found: dict[str, dict[str, dict[str, int]]] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for name in asked.only:
        for world in ANSWERS[name].worlds:
            old, start = found.setdefault(name, {}).get(world, {"sets": 0}), time.process_time()
            new = measure(name, world, range(old["sets"], asked.sets or ANSWERS[name].sets))
            total = {part: old.get(part, 0) + new.get(part, 0) for part in (old | new)}
            found[name][world] = total
            print(name, "|", world, total, f"{time.process_time() - start:.0f} s", flush=True)
            if asked.record:
                RECORD.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
                PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
