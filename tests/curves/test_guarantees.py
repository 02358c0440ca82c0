"""Limits with a confidence: the choice keeps them on new cases as often as it says, and no choice beyond it would."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import costcurves as cc
from costcurves.inference.allowances import allowance
from laws import random_worlds

# A choice of a rule that is right in theory breaks these bounds once in a million runs.
RARE = 1e-6


class World:
    """Classes whose scores of some classifiers have a known law: a few levels or many, tied or nearly not.

    One of the levels of each classifier breaks the limit by next to nothing: nothing is easier to overlook.
    """

    def __init__(self, rng, classifiers, broken):
        self.skill = rng.uniform(0.2, 3, classifiers)
        self.shared = rng.choice([0, rng.random()])  # how far classifiers err on the same cases
        others = rng.random((classifiers, int(rng.choice([1, 5, 300]))))
        self.cuts = np.empty((classifiers, others.shape[1] + 1))
        for j in range(classifiers):
            low, high = 0.0, 1.0
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if broken(*self.at(j, middle)) else (low, middle)
            self.cuts[j] = np.sort([*others[j], low])

    def at(self, j, cut):
        """Return (fpr, tpr) of calling the places above a cut positive."""
        return tuple(float(stats.norm.sf(stats.norm.ppf(cut) - shift)) for shift in (0, self.skill[j]))

    def draw(self, rng, n, positive):
        """Return the scores of n cases of a class, by classifier."""
        common, own = rng.normal(size=n), rng.normal(size=(self.skill.size, n))
        noise = math.sqrt(self.shared) * common + math.sqrt(1 - self.shared) * own
        at = stats.norm.cdf(noise + positive * self.skill[:, None])
        return {f"c{j}": np.searchsorted(self.cuts[j], at[j]).astype(float) for j in range(self.skill.size)}

    def rates(self, choice):
        """Return the true (fpr, tpr) of a choice."""
        if choice.classifier in ("always negative", "always positive"):
            return (choice.fpr,) * 2
        # A score of at least i means that the place is above the i-th cut.
        j, i = int(choice.classifier[1:]), int(choice.threshold)
        return self.at(j, self.cuts[j][i - 1] if i else 0.0)

    def hull(self, rng, n_neg, n_pos):
        """Return the hull of a sample."""
        parts = self.draw(rng, n_neg, 0), self.draw(rng, n_pos, 1)
        scores = {name: np.concatenate([parts[0][name], parts[1][name]]) for name in parts[0]}
        return cc.RocHull.from_predictions(np.repeat([0, 1], [n_neg, n_pos]), scores)


def often_broken(stream, choose, broken, worlds=25, samples=40):
    """Return whether more samples lead to a rule that breaks its limit than one in five, the error allowed."""
    count = 0
    for rng in random_worlds(worlds, stream=stream):
        world = World(rng, int(rng.choice([1, 1, 4])), broken)
        count += sum(broken(*world.rates(choose(world, rng))) for _ in range(samples))
    return count > stats.binom(worlds * samples, 0.2).ppf(1 - RARE)


@pytest.mark.law
@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
def test_limits_on_one_class_are_broken_no_more_often_than_allowed():
    def sample(world, rng):
        return world.hull(rng, int(rng.choice([40, 200])), int(rng.choice([25, 60])))

    assert not often_broken(
        7201, lambda world, rng: sample(world, rng).best_at_fpr(0.1, confidence=0.8), lambda fpr, tpr: fpr > 0.1
    )
    assert not often_broken(
        7202,
        lambda world, rng: sample(world, rng).best_at_tpr(0.8, confidence=0.8),
        lambda fpr, tpr: tpr < 0.8,
    )


@pytest.mark.law
@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
def test_limits_on_alarms_are_broken_no_more_often_than_allowed():
    limit, share = 0.15, 0.2

    def drawn(world, rng):
        positives = min(max(int(rng.binomial(150, share)), 1), 149)
        hull = world.hull(rng, 150 - positives, positives)
        return hull.best_at_capacity(alarms=limit, population=1, prevalence="sample", confidence=0.8)

    def stated(world, rng):
        hull = world.hull(rng, int(rng.choice([60, 300])), int(rng.choice([40, 100])))
        return hull.best_at_capacity(alarms=limit, population=1, prevalence=share, confidence=0.8)

    def broken(fpr, tpr):
        return share * tpr + (1 - share) * fpr > limit

    assert not often_broken(7203, drawn, broken)
    assert not often_broken(7204, stated, broken)


@pytest.mark.law
def test_a_precision_that_is_missed_at_every_threshold_is_found_no_more_often_than_allowed():
    # Positives are uniform, and so are one in `ratio` negatives, the others 0: tpr = ratio·fpr at every threshold.
    floor, share, found, total = 0.7, 0.3, 0, 0
    ratio = floor * (1 - share) / ((1 - floor) * share)
    for rng in random_worlds(15, stream=7205):
        tied, names = rng.choice([0, 0, 5, 20]), "abcd"[: rng.choice([1, 1, 4])]
        for _ in range(30):
            n_neg, n_pos = int(rng.choice([100, 400])), int(rng.choice([50, 150]))
            labels = np.repeat([0, 1], [n_neg, n_pos])
            scores = {}
            for name in names:
                place = rng.random(labels.size)
                scores[name] = np.ceil(tied * place) if tied else place
                scores[name][(labels == 0) & (rng.random(labels.size) > 1 / ratio)] = 0
            hull = cc.RocHull.from_predictions(labels, scores)
            choice = hull.best_at_precision(floor + 1e-9, prevalence=share, confidence=0.7)
            found += choice.classifier != "always negative"
            total += 1
    assert found <= stats.binom(total, 0.3).ppf(1 - RARE)


def uniform_hull(n_neg, n_pos, seed=0, **names):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], [n_neg, n_pos])
    scores = {name: rng.normal(size=labels.size) + skill * labels for name, skill in (names or {"a": 1.5}).items()}
    return cc.RocHull.from_predictions(labels, scores)


@pytest.mark.law
def test_the_choice_is_the_last_threshold_within_the_allowance():
    for rng in random_worlds(80, stream=7206):
        n_neg, n_pos = int(rng.integers(30, 300)), int(rng.integers(30, 300))
        scores, labels = rng.integers(0, rng.choice([4, 30, 10**6]), n_neg + n_pos), np.repeat([0, 1], [n_neg, n_pos])
        hull = cc.RocHull([cc.RocCurve.from_predictions(labels, scores, name="a")])
        negatives, positives = scores[labels == 0], scores[labels == 1]
        # By brute force, over all thresholds and with the tails of scipy.stats.
        cuts = [math.inf, *sorted(set(scores.tolist()), reverse=True)]
        false = np.array([(negatives >= cut).sum() for cut in cuts])
        found = np.array([(positives >= cut).sum() for cut in cuts])
        within = stats.binom(n_neg, 0.1).cdf(false) <= 0.05 + 1e-15
        choice = hull.best_at_fpr(0.1, confidence=0.95)
        best = max((f for f, ok in zip(found.tolist(), within, strict=True) if ok))
        assert choice.tpr == best / n_pos
        assert choice.fpr == false[found == best].min() / n_neg
        within = stats.binom(n_pos, 0.2).cdf(n_pos - found) <= 0.05 + 1e-15
        choice = hull.best_at_tpr(0.8, confidence=0.95)
        assert choice.fpr == false[within].min() / n_neg
        within = stats.binom(n_neg + n_pos, 0.3).cdf(false + found) <= 0.05 + 1e-15
        choice = hull.best_at_capacity(alarms=3, population=10, prevalence="sample", confidence=0.95)
        assert choice.tpr == found[within].max() / n_pos
        assert choice.alarms <= 3


@pytest.mark.law
def test_a_stated_prevalence_takes_the_upper_limits_of_both_rates():
    for rng in random_worlds(40, stream=7207):
        hull = uniform_hull(int(rng.integers(100, 600)), int(rng.integers(50, 300)), seed=int(rng.integers(1e9)))
        (curve,) = hull.roc_curves().values()
        share, confidence = float(rng.uniform(0.02, 0.5)), float(rng.uniform(0.8, 0.99))
        choice = hull.best_at_capacity(alarms=25, population=100, prevalence=share, confidence=confidence)
        first, second = share / math.sqrt(curve.n_pos), (1 - share) / math.sqrt(curve.n_neg)
        part = first / (first + second)
        upper = share * stats.beta.ppf(confidence**part, curve.tp + 1, np.maximum(curve.n_pos - curve.tp, 1e-9))
        upper += (1 - share) * stats.beta.ppf(
            confidence ** (1 - part), curve.fp + 1, np.maximum(curve.n_neg - curve.fp, 1e-9)
        )
        last = int(np.flatnonzero(upper <= 0.25)[-1])
        assert choice.tpr == curve.tpr[last]
        assert choice.bound == 0.25


@pytest.mark.law
def test_a_precision_is_tested_at_thresholds_that_negatives_pick():
    parts = (np.arange(20_000) + 0.5) / 20_000
    for rng in random_worlds(15, stream=7209):
        n_neg, n_pos = int(rng.integers(100, 600)), int(rng.integers(50, 300))
        labels = np.repeat([0, 1], [n_neg, n_pos])
        scores = rng.normal(size=labels.size) + rng.uniform(0.5, 2) * labels
        scores = np.round(scores, int(rng.choice([0, 1, 9])))
        share, floor = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.3, 0.8))
        ratio = floor * (1 - share) / ((1 - floor) * share)
        allowed = [1]
        while (more := max(allowed[-1] + 1, math.ceil(1.25 * allowed[-1]))) <= n_neg / ratio:
            allowed.append(more)
        passed, close = [0.0], False
        for most in allowed:
            cuts = [cut for cut in set(scores[labels == 0].tolist()) if (scores[labels == 0] >= cut).sum() <= most]
            if cuts and (found := int((scores[labels == 1] >= min(cuts)).sum())):
                upper = stats.beta.ppf(parts, most + 1, n_neg - most)
                p = stats.beta.cdf(ratio * upper, found, n_pos - found + 1).mean() * len(allowed)
                close |= abs(p - 0.1) < 0.002
                passed += [found / n_pos] * int(p <= 0.1)
        hull = cc.RocHull.from_predictions(labels, {"a": scores})
        if ratio > 1 and not close:
            assert hull.best_at_precision(floor, prevalence=share, confidence=0.9).tpr == max(passed)


def test_more_confidence_and_more_classifiers_ask_for_more():
    hull = uniform_hull(500, 500, a=1.5, b=1.0)
    rates = [hull.best_at_fpr(0.05, confidence=c).tpr for c in (0.01, 0.5, 0.9, 0.99, 0.9999)]
    assert rates == sorted(rates, reverse=True)
    assert len(set(rates)) == 5
    alone = cc.RocHull([hull.roc_curve("a")]).best_at_fpr(0.05, confidence=0.95)
    both = hull.best_at_fpr(0.05, confidence=0.95)
    assert both.classifier == alone.classifier == "a"
    assert both.tpr < alone.tpr
    assert both.to_dict() == cc.RocHull([hull.roc_curve("a")]).add(hull.roc_curve("b")).best_at_fpr(
        0.05, confidence=0.95
    ).to_dict() | {"tpr": both.tpr, "fpr": both.fpr, "threshold": both.threshold, "mixture": both.to_dict()["mixture"]}
    assert cc.RocHull([hull.roc_curve("a")]).best_at_fpr(0.05, confidence=0.975).tpr == both.tpr


def test_the_allowance_is_far_above_that_of_hoeffding():
    for n in (100, 300, 1000, 10_000, 100_000):
        for rate in (0.01, 0.05, 0.1):
            hoeffding = math.floor(n * (rate - math.sqrt(math.log(20) / (2 * n))))
            assert allowance(n, rate, 0.05) >= max(hoeffding, -1)
    assert allowance(1000, 0.05, 0.05) == 38
    assert math.floor(1000 * (0.05 - math.sqrt(math.log(20) / 2000))) == 11


def test_what_was_left_of_a_curve_keeps_the_guarantee():
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], [400, 300])
    scores = rng.normal(size=700) + labels
    whole = cc.RocHull.from_predictions(labels, {"a": scores})
    few = cc.RocHull.from_predictions(labels, {"a": scores}, points="hull")
    again = cc.RocHull.from_json_text(whole.to_json())
    for left in (few, again):
        for ask in (
            lambda hull: hull.best_at_fpr(0.1, confidence=0.9),
            lambda hull: hull.best_at_capacity(alarms=1, population=4, prevalence="sample", confidence=0.9),
            lambda hull: hull.best_at_capacity(alarms=1, population=4, prevalence=0.3, confidence=0.9),
        ):
            assert 0 < ask(left).tpr <= ask(whole).tpr
            assert ask(left).bound == ask(whole).bound
        assert left.best_at_tpr(0.8, confidence=0.9).fpr >= whole.best_at_tpr(0.8, confidence=0.9).fpr
        with pytest.raises(cc.UnsupportedError, match="`best_at_precision` needs"):
            left.best_at_precision(0.5, prevalence=0.3, confidence=0.9)
    # A hull that was added to has seen classifiers that it no longer knows.
    grown = whole.add(cc.RocCurve.from_confusion_matrix([[200, 200], [150, 150]], name="useless"))
    assert grown.best_at_fpr(0.1, confidence=0.9).bound == pytest.approx(
        stats.beta.ppf(0.95, allowance(400, 0.1, 0.05) + 1, 400 - allowance(400, 0.1, 0.05))
    )


def test_words_and_numbers_say_what_is_guaranteed():
    choice = uniform_hull(700, 300).best_at_fpr(0.05, confidence=0.95)
    assert choice.confidence == 0.95
    assert choice.bound == pytest.approx(stats.beta.ppf(0.95, 26, 675))
    assert choice.fpr <= 25 / 700 < choice.bound <= 0.05
    assert choice.guarantee == "with a confidence of 95 %, at most 4.96 % of new negatives are false alarms"
    assert repr(choice).endswith("with confidence 0.95 fpr <= 0.0496)")
    assert (choice.mixture.probability, choice.mixture.first_threshold) == (0, choice.threshold)
    assert choice.mixture.threshold_text == (choice.threshold_text,) * 2
    plain = uniform_hull(700, 300).best_at_fpr(0.05)
    assert plain.guarantee == ""
    assert math.isnan(plain.confidence)
    found = uniform_hull(700, 300).best_at_tpr(0.9, confidence=0.95)
    assert found.guarantee.startswith("with a confidence of 95 %, at least 90")
    assert 1 - found.bound == pytest.approx(stats.beta.ppf(0.95, 22, 279))
    right = uniform_hull(700, 300).best_at_precision(0.6, prevalence=0.3, confidence=0.9)
    assert right.guarantee == "with a confidence of 90 %, at least 60 % of new alarms are right"
    assert right.precision == pytest.approx(0.3 * right.tpr / (0.3 * right.tpr + 0.7 * right.fpr))
    assert right.precision > 0.6


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_bounds_are_rounded_so_that_they_hold(confidence):
    hull = uniform_hull(700, 300)
    most, least = hull.best_at_fpr(0.05, confidence=confidence), hull.best_at_tpr(0.9, confidence=confidence)
    assert 0 <= float(most.guarantee.split("most ")[1].split(" %")[0]) - 100 * most.bound < 0.01
    assert 0 <= 100 * least.bound - float(least.guarantee.split("least ")[1].split(" %")[0]) < 0.1


def test_ties_may_leave_only_the_trivial_choice():
    tied = cc.RocHull.from_predictions(np.repeat([0, 1], 100), {"a": np.zeros(200)})
    for choice in (
        tied.best_at_fpr(0.1, confidence=0.95),
        tied.best_at_capacity(alarms=1, population=5, prevalence=0.5, confidence=0.95),
        tied.best_at_capacity(alarms=1, population=5, prevalence="sample", confidence=0.95),
    ):
        assert (choice.classifier, choice.tpr, choice.bound) == ("always negative", 0, 0)
    choice = tied.best_at_tpr(0.9, confidence=0.95)
    assert (choice.classifier, choice.fpr, choice.bound) == ("always positive", 1, 1)
    choice = tied.best_at_precision(0.7, prevalence=0.5, confidence=0.95)
    assert choice.classifier == "always negative"
    assert choice.guarantee == "no alarm is raised, so none is wrong"
    assert tied.best_at_precision(0.4, prevalence=0.5, confidence=0.95).classifier == "always positive"


@pytest.mark.law
def test_a_precision_without_confidence_is_that_of_scanning_all_points():
    for rng in random_worlds(100, stream=7208):
        labels = np.repeat([0, 1], rng.integers(1, 9, 2))
        scores = {name: rng.integers(0, 5, labels.size) for name in "ab"}
        hull = cc.RocHull([cc.RocCurve.from_predictions(labels, score, name=name) for name, score in scores.items()])
        share, floor = float(rng.uniform(0.05, 0.9)), float(rng.uniform(0.05, 0.95))
        points = {
            (float(x), float(y))
            for curve in hull.roc_curves().values()
            for x, y in zip(curve.fpr, curve.tpr, strict=True)
        }
        within = [(x, y) for x, y in points if share * y * (1 - floor) >= floor * (1 - share) * x - 1e-12]
        fpr, tpr = min(within, key=lambda point: (-point[1], point[0]))
        choice = hull.best_at_precision(floor, prevalence=share)
        assert (choice.fpr, choice.tpr) == (fpr, tpr)
        mixture = choice.mixture
        assert mixture.tpr >= tpr - 1e-12
        assert share * mixture.tpr * (1 - floor) >= floor * (1 - share) * mixture.fpr - 1e-12
        # No mixture of two points finds more.
        for a in points:
            for b in points:
                for part in np.linspace(0, 1, 21):
                    x, y = (part * b[k] + (1 - part) * a[k] for k in (0, 1))
                    if share * y * (1 - floor) >= floor * (1 - share) * x:
                        assert y <= mixture.tpr + 1e-9


HULL = uniform_hull(40, 30)
WEIGHTED = cc.RocHull.from_predictions([0, 0, 1, 1], {"a": [1, 2, 3, 4]}, sample_weight=[1, 2, 1, 1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: HULL.best_at_tpr(0.1, confidence=1), cc.InputError, r"`confidence` must be in \(0, 1\), got 1"),
        (lambda: HULL.best_at_fpr(0.1, confidence=0), cc.InputError, r"`confidence` must be in \(0, 1\), got 0"),
        (lambda: HULL.best_at_fpr(0, confidence=0.9), cc.InputError, r"`fpr` must be in \(0, 1\), got 0"),
        (lambda: HULL.best_at_tpr(1, confidence=0.9), cc.InputError, r"`tpr` must be in \(0, 1\), got 1"),
        (lambda: HULL.best_at_precision(1, prevalence=0.1), cc.InputError, r"`precision` must be in \(0, 1\), got 1"),
        (
            lambda: HULL.best_at_fpr(0.05, confidence=0.95),
            cc.DataError,
            "`confidence` 0.95 of fpr <= 0.05 needs at least 59 negative cases, got 40",
        ),
        (
            lambda: uniform_hull(50, 30, a=1, b=2).best_at_tpr(0.95, confidence=0.95),
            cc.DataError,
            "of tpr >= 0.95 needs at least 72 positive cases, with 2 classifiers to choose from, got 30",
        ),
        (
            lambda: HULL.best_at_capacity(alarms=2, population=100, prevalence="sample", confidence=0.95),
            cc.DataError,
            "of at most 2 alarms of 100 needs at least 149 cases, got 70",
        ),
        (
            lambda: HULL.best_at_capacity(alarms=2, population=100, prevalence=0.3, confidence=0.95),
            cc.DataError,
            r"needs at least about [\d,]+ negative and [\d,]+ positive cases, got 40 negative and 30 positive",
        ),
        (
            lambda: HULL.best_at_precision(0.6, prevalence=5e-324, confidence=0.95),
            cc.DataError,
            "of precision >= 0.6 needs at least about",
        ),
        (
            lambda: HULL.best_at_precision(0.99, prevalence=0.1, confidence=0.95),
            cc.DataError,
            r"of precision >= 0.99 needs at least about [\d,]+ negative and [\d,]+ positive cases, got 40 negative",
        ),
        (
            lambda: HULL.best_at_capacity(alarms=0, population=9, prevalence=0.3, confidence=0.9),
            cc.InputError,
            "`alarms` must be > 0 and < `population` with a confidence, got 0",
        ),
        (
            lambda: HULL.best_at_capacity(alarms=1, population=9, prevalence="data", confidence=0.9),
            cc.InputError,
            "`prevalence` must be one of 'sample', got 'data'",
        ),
        (
            lambda: HULL.best_at_capacity(alarms=1, population=9, prevalence="sample"),
            cc.InputError,
            "`prevalence` must be a number, got 'sample'",
        ),
        (
            lambda: WEIGHTED.best_at_fpr(0.1, confidence=0.9),
            cc.UnsupportedError,
            "`confidence` needs counts of cases, got 'a' made from weighted cases",
        ),
        (
            lambda: cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="x")]).best_at_precision(
                0.6, prevalence=0.4, confidence=0.9
            ),
            cc.UnsupportedError,
            "`confidence` needs counts of cases, got 'x' made from rates",
        ),
    ],
)
def test_what_cannot_be_guaranteed_is_refused_with_a_reason(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_sizes_that_are_asked_for_are_enough():
    for ask in (
        lambda hull: hull.best_at_capacity(alarms=2, population=100, prevalence=0.3, confidence=0.95),
        lambda hull: hull.best_at_precision(0.99, prevalence=0.1, confidence=0.95),
    ):
        with pytest.raises(cc.DataError) as refused:
            ask(HULL)
        words = str(refused.value).replace(",", "").split()
        negatives, positives = int(words[words.index("negative") - 1]), int(words[words.index("positive") - 1])
        labels = np.repeat([0, 1], [negatives, positives])
        ask(cc.RocHull.from_predictions(labels, {"a": labels}))
        few = np.repeat([0, 1], [int(0.9 * negatives), int(0.9 * positives)])
        with pytest.raises(cc.DataError):
            ask(cc.RocHull.from_predictions(few, {"a": few}))


def broken_at_most(k, n, percent, error, times=1):
    """Return whether `times` the chance of at most k errors in n cases is at most the error (both rates in percent).

    The binomial sum is one of whole numbers, without any rounding.
    """
    terms = (math.comb(n, j) * percent**j * (100 - percent) ** (n - j) for j in range(k + 1))
    return 100 * times * sum(terms) <= error * 100**n


def stairs(n, names=("a",)):
    """Return the hull of n negatives and n positives without ties, which alternate."""
    labels = np.tile([0, 1], n)
    return cc.RocHull.from_predictions(labels, {name: np.arange(2.0 * n) for name in names})


@pytest.mark.parametrize("percent", [1, 5, 10])
@pytest.mark.parametrize("classifiers", [1, 3])
def test_every_sample_of_up_to_300_cases_keeps_its_limit_in_exact_binomial_sums(percent, classifiers):
    # Thresholds of a class without ties break a limit if at most k of n cases lie beyond the true limit, where k is the
    # number that the choice has. Of several classifiers, any may break it, however they depend on each other.
    for n in range(1, 301):
        hull = stairs(n, [f"c{j}" for j in range(classifiers)])
        for error in (1, 5, 10):
            answers = []
            for ask, limit in ((hull.best_at_fpr, percent / 100), (hull.best_at_tpr, 1 - percent / 100)):
                try:
                    choice = ask(limit, confidence=1 - error / 100)
                except cc.DataError:
                    answers.append(-1)
                    continue
                wrong = choice.fpr if ask == hull.best_at_fpr else 1 - choice.tpr
                answers.append(round(wrong * n))
            for k in answers:
                if k >= 0:
                    assert broken_at_most(k, n, percent, error, classifiers), (n, percent, error)
                assert not broken_at_most(k + 1, n, percent, error, classifiers), (n, percent, error)


@pytest.mark.parametrize("percent", [1, 5, 10])
def test_tied_samples_of_up_to_300_cases_keep_their_limit_in_exact_binomial_sums(percent):
    # Negatives have two scores, and the rate of the higher one is just beyond the limit, so that any alarm breaks it.
    # The choice raises alarms if at most so many of n negatives have the higher score: these samples are summed.
    def alarms(n, high):
        labels, scores = [0] * n + [1] * 4, [1.0] * high + [0.0] * (n - high) + [1.0, 1.0, 0.0, 0.0]
        curves = [cc.RocCurve.from_predictions(labels, scores, name=name) for name in "ab"]
        try:
            return cc.RocHull(curves).best_at_fpr(percent / 100, confidence=0.95).classifier in "ab"
        except cc.DataError:
            return False

    for n in [*range(1, 301, 7), 59, 299, 300]:
        most = -1
        while most < n and alarms(n, most + 1):
            most += 1
        # Both classifiers have the same scores here, so that either breaks the limit in the same samples.
        assert broken_at_most(most, n, percent, 5), (n, percent)
