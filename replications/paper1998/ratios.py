"""Sections 3.1 and 3.4: learners trained at other class ratios, and whether their composite curves dominate."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

import costcurves as cc
from replications.domains import Domain, Floats
from replications.learners.folds import fold_numbers
from replications.paper1998.folds import DOMAINS, SMALLER, domain_of
from replications.paper1998.members import PAPER, indicators, scores, standard
from replications.study import BEYOND, DIRECTION, FAILS, REPLICATES, Part, Row, Study, judged, rng_of

FOLDS, BAGS, LEARNERS = 10, 10, PAPER
LARGER = ("dna", "waveform21", "satimage", "adult")
# The shares of positives in training, None for that of the data; and the targets of section 3.1.
RATIOS, TARGETS = (None, 0.2, 0.5, 0.8), (0.1, 0.9)
POINTS, RESAMPLES = 49, 400
# A composite that saves at most this much on average over pc is no reason to train at other class ratios.
LITTLE = 0.01


def parts(size: str) -> list[Part]:
    """List one part per domain."""
    if size == "small":
        return [{"domain": "waveform21", "drawn": 150}]
    return [{"domain": name, "drawn": 0} for name in (*SMALLER, *LARGER)]


def kept(y: Any, share: float | None, rng: np.random.Generator) -> Any:
    """Choose the examples to train on: of the class that is too frequent a random part is left out."""
    if share is None:
        return np.arange(y.size)
    n_pos, n_neg = int(y.sum()), int((~y).sum())
    wanted = min(n_pos, round(n_neg * share / (1 - share))), min(n_neg, round(n_pos * (1 - share) / share))
    chosen = [rng.permutation(np.flatnonzero(kind))[:number] for kind, number in zip((y, ~y), wanted, strict=True)]
    return np.sort(np.concatenate(chosen))


def versions(learner: str) -> list[str]:
    """The names of a learner's versions, of which the first is trained on the data as they are."""
    return [learner if share is None else f"{learner} {share}" for share in RATIOS]


def _scored(domain: Domain, fold: Any, key: tuple[Any, ...]) -> dict[str, Floats]:
    """Compute the out-of-fold scores of all versions of all learners."""
    found: dict[str, Floats] = {}
    for learner in LEARNERS:
        for share, name in zip(RATIOS, versions(learner), strict=True):
            found[name] = np.empty(domain.y.size)
            for k in range(FOLDS):
                rng = rng_of(*key, name, k)
                train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
                some = domain.take(train[kept(domain.y[train], share, rng)])
                found[name][test] = scores(learner, some, domain.take(test), rng, BAGS)[0]
    return found


def work(part: Part, seed: int, data: Any = None) -> Part:
    """Compare composites of the learners on a domain, and training for a target with a moved threshold."""
    domain = domain_of(part, seed, data)
    fold = fold_numbers(domain.y, FOLDS, rng_of(seed, part["domain"], "folds", 0))
    scored = _scored(domain, fold, (seed, part["domain"], "ratios"))
    result = cc.Predictions(domain.y, scored, folds=fold)
    averages = {name: result.averaged_roc(name) for name in scored}
    composites = {
        learner: cc.RocHull([averages[name].to_roc_curve() for name in versions(learner)]).to_roc_curve()
        for learner in LEARNERS
    }
    grouped = {learner: versions(learner) for learner in LEARNERS}
    asked: dict[str, Any] = {"n_points": POINTS, "n_resamples": RESAMPLES}
    tested = result.significant_dominance(versions=grouped, **asked)
    alone = result.significant_dominance(versions={"as it is": "MC4", "composite": versions("MC4")}, **asked)
    return {
        "auc": {name: average.auc() for name, average in averages.items()},
        "dominators": list(cc.dominance(composites).dominators),
        "sure": list(tested.unrefuted),
        "split": sum(tested.relation(a, b) == "each somewhere" for a, b in permutations(LEARNERS, 2)) // 2,
        "tree_change": float(alone.advantage.mean()),
        "tree_better": [list(one) for one in alone.where("composite", "as it is")],
        "tree_worse": [list(one) for one in alone.where("as it is", "composite")],
        "bayes_differs": _differs(result, versions("NB")),
        "targets": _targets(domain, seed),
    }


def _differs(result: cc.Predictions, names: list[str]) -> list[str]:
    """Find the versions whose averaged curve differs significantly somewhere from that of the first."""
    some = cc.Predictions(result.y_true, {name: result.score(name) for name in names}, folds=result.folds)
    found = some.significant_dominance(space="roc", n_points=POINTS, n_resamples=RESAMPLES)
    first, *others = names
    return [other for other in others if found.where(first, other) or found.where(other, first)]


def _targets(domain: Domain, seed: int) -> list[list[Any]]:
    """Compare, for two learners of scikit-learn, training at the proportions of a target with a moved threshold."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    table = indicators(domain)
    scaled, _ = standard(table, table)
    learners = {
        "tree": (DecisionTreeClassifier(min_samples_leaf=5, random_state=seed), table),
        "logistic regression": (LogisticRegression(max_iter=5000), scaled),
    }
    found: list[list[Any]] = []
    for name, (learner, X) in learners.items():
        for pc in TARGETS:
            clf = cc.ReproportionedClassifier(learner, pc, random_state=seed)
            at = clf.compare_with_threshold(X, domain.y, cv=FOLDS).at(pc)
            found.append([name, pc, at.estimate, at.p_value])
    return found


def rows(found: list[Part]) -> list[Row]:
    """Judge the statements of section 3.4, and list what section 3.1 leaves open."""
    total = len(found)
    dominated, sure, other = (
        [f"{' and '.join(part[key])} on {DOMAINS[part['domain']]}" for part in found if part[key]]
        for key in ("dominators", "sure", "bayes_differs")
    )
    verdict = REPLICATES if not dominated else DIRECTION if 2 * len(dominated) < total else FAILS
    moved = {
        part["domain"]: max(abs(part["auc"][name] - part["auc"]["NB"]) for name in versions("NB")) for part in found
    }
    worst = max(moved, key=moved.__getitem__)
    better = [DOMAINS[part["domain"]] for part in found if part["tree_better"]]
    worse = [DOMAINS[part["domain"]] for part in found if part["tree_worse"]]
    change = float(np.mean([part["tree_change"] for part in found]))
    saved = max(0.0, *(-part["tree_change"] for part in found))
    out = [
        Row(
            "Section 3.4",
            "domains in which the composite curve of one algorithm dominates",
            "no confirming evidence; none of Bradley's six",
            f"{len(dominated)} of {total}",
            verdict,
            "; ".join(dominated),
        ),
        Row(
            "Section 3.4",
            "domains in which one composite is significantly better than each other somewhere and worse nowhere",
            None,
            f"{len(sure)} of {total}",
            BEYOND,
            "; ".join([*sure, f"pairs of which each is better somewhere: {sum(part['split'] for part in found)}"]),
        ),
        judged(
            "Section 3.4",
            "naive Bayes gives the same curve at any class ratio: domains in which a version differs significantly",
            "the same curve",
            f"{len(other)} of {total}",
            not other,
            "; ".join(
                [*other, f"its area, from fewer examples, changes by up to {moved[worst]:.3f} ({DOMAINS[worst]})"]
            ),
        ),
        judged(
            "Section 3.4",
            "trees with the Laplace estimate are robust: domains in which their composite costs significantly less",
            "surprisingly robust",
            f"{len(better)} of {total}",
            not better and saved < LITTLE,
            f"less on {_and(better)}, significantly more on {_and(worse)}; it saves at most {saved:.4f} over pc on "
            f"average ({LITTLE:g} is too much), and costs {change:+.4f} on average over the domains",
        ),
    ]
    return [*out, *_target_rows([row for part in found for row in part["targets"]])]


def _and(names: list[str]) -> str:
    return " and ".join(names) or "none"


def _target_rows(compared: list[list[Any]]) -> list[Row]:
    """List by how much training for a target changes the cost relative to a moved threshold."""
    out = []
    for name in dict.fromkeys(row[0] for row in compared):
        group = [row for row in compared if row[0] == name]
        lower, higher = (sum(row[3] < 0.05 and sign * row[2] > 0 for row in group) for sign in (-1, 1))
        out.append(
            Row(
                "Section 3.1",
                f"cost of training at the target's class ratio minus cost of a moved threshold, {name}",
                None,
                float(np.mean([row[2] for row in group])),
                BEYOND,
                f"mean of {len(group)} comparisons at pc 0.1 and 0.9; significantly less in {lower}, more in {higher}",
            )
        )
    return out


def settings(size: str) -> dict[str, Any]:
    """The settings that a reader needs to repeat the study."""
    shares = "those of the data, " + ", ".join(str(share) for share in RATIOS if share is not None)
    return {"domains": len(parts(size)), "folds": FOLDS, "shares of positives": shares, "bagged trees": BAGS}


STUDY = Study(
    "ratios-1998",
    "Sections 3.1 and 3.4: learners at other class ratios (1998)",
    parts,
    work,
    rows,
    settings,
    reads_data=True,
)
