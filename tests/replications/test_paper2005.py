"""The replication of 2005: its pieces against hand calculation, and a small rerun against the recorded results."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import costcurves as cc
from replications.catalogue import study
from replications.domains import Domain
from replications.learners.folds import fold_numbers, out_of_fold
from replications.learners.trees import DecisionTree
from replications.paper2005 import credit, curves, intervals, sonar
from replications.study import CONSTRUCTED, FAILS

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason="crx and sonar are not in ../shared/data")


def recorded(name, **keys):
    found = [p for p in study(name).recorded().parts if all(p[k] == v for k, v in keys.items())]
    assert len(found) == 1
    return found[0]


def assert_same(small, full):
    """Compare parts that differ at most by rounding: other machines may sum in another order."""
    assert small.keys() <= full.keys()
    for key, value in small.items():
        if isinstance(value, dict):
            assert_same(value, full[key])
        elif isinstance(value, str) or (isinstance(value, list) and value and isinstance(value[0], (str, dict, list))):
            assert str(value) == str(full[key])
        else:
            assert np.asarray(value, dtype=float) == pytest.approx(np.asarray(full[key], dtype=float), abs=2e-6)


# Folds.


def toy(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, 3)) + y[:, None]
    return Domain("toy", X, np.zeros(3, dtype=bool), y, ("a", "b", "c"), ((), (), ()), "yes")


@pytest.mark.parametrize(("n", "folds"), [(60, 10), (61, 7), (23, 10)])
def test_folds_and_their_classes_differ_by_one_at_most(n, folds):
    y = np.arange(n) % 3 == 0
    fold = fold_numbers(y, folds, np.random.default_rng(1))
    for counts in (np.bincount(fold, minlength=folds), np.bincount(fold[y], minlength=folds)):
        assert counts.max() - counts.min() <= 1
    again = fold_numbers(y, folds, np.random.default_rng(2))
    assert (fold != again).any()


def test_scores_of_a_fold_do_not_know_its_classes():
    domain = toy()
    fold = fold_numbers(domain.y, 5, np.random.default_rng(0))
    before = out_of_fold(domain, DecisionTree, fold)
    turned = Domain(
        "toy",
        domain.X,
        domain.nominal,
        np.where(fold == 2, ~domain.y, domain.y),
        domain.attributes,
        domain.values,
        "yes",
    )
    after = out_of_fold(turned, DecisionTree, fold)
    assert (before[fold == 2] == after[fold == 2]).all()
    assert (before != after).any()


# Figures 5, 6, 9 and 10.


def test_averages_of_roc_curves_are_those_by_hand():
    vertical, horizontal = curves.roc_averages()
    # At fpr 0.04 the first has 0.4, the second 0.8 · 0.04/0.3; at fpr 0.3 the first has 0.4 + 0.6 · 0.26/0.96.
    for fpr, tpr in [(0.04, (0.4 + 0.8 * 0.04 / 0.3) / 2), (0.3, (0.8 + 0.4 + 0.6 * 0.26 / 0.96) / 2)]:
        assert np.interp(fpr, vertical.fpr, vertical.tpr) == pytest.approx(tpr, abs=1e-9)
    # At tpr 0.4 the first has fpr 0.04, the second 0.15; at tpr 0.8 the second has 0.3.
    for tpr, fpr in [(0.4, (0.04 + 0.15) / 2), (0.8, (0.3 + 0.04 + 0.96 * 0.4 / 0.6) / 2)]:
        assert np.interp(tpr, horizontal.tpr, horizontal.fpr) == pytest.approx(fpr, abs=1e-9)
    assert horizontal.name == "horizontal average"


def test_averages_of_roc_curves_cost_more_than_the_average_nowhere_less():
    found = curves.averages()
    for name in ("vertical", "horizontal"):
        assert found[name]["least"] >= -1e-12
        assert found[name]["cost"] - found["average"] == pytest.approx(
            # A point that lies `below` under a line of slope m costs pc · below more.
            found["pc"] * found[name]["below"]
        )
    assert found["average"] == pytest.approx(0.6 * found["pc"] + 0.04 * (1 - found["pc"]))


def test_the_curves_of_figure_5_cross_where_they_are_said_to():
    dotted, dashed = curves.crossing_curves()
    x, y, slopes = curves.roc_crossing(dotted, dashed)
    assert np.interp(x, dotted.fpr, dotted.tpr) == pytest.approx(y)
    assert np.interp(x, dashed.fpr, dashed.tpr) == pytest.approx(y)
    assert slopes == pytest.approx([0.12 / 0.2, 0.35 / 0.15])
    # Both curves are convex as printed, so each point is used somewhere.
    assert all(one.on_hull().fpr.size == one.fpr.size for one in (dotted, dashed))
    # A brute force over points and pc: the envelope of the lines.
    for pc, cheaper in [(0.3, "dotted"), (0.49, "dotted"), (0.51, "dashed"), (0.8, "dashed")]:
        cost = {
            one.name: min(pc * (1 - t) + (1 - pc) * f for f, t in zip(one.fpr, one.tpr, strict=True))
            for one in (dotted, dashed)
        }
        assert min(cost, key=cost.get) == cheaper


def test_curves_of_2005_again_exactly():
    for part in study("curves-2005").parts("small"):
        assert_same(plain_work("curves-2005", part), recorded("curves-2005", **part))


def plain_work(name, part, **options):
    from replications.study import plain

    return plain(study(name).work(part, 2000, **options))


# Figures 11 to 15.


def test_the_papers_limits_of_a_hundred_costs_are_the_fifth_from_each_end():
    rng = np.random.default_rng(3)
    fpr, fnr = rng.permutation(100) / 100, np.zeros(100)
    lower, upper = intervals.paper_limits(fpr, fnr, np.array([0.0, 1.0]))
    assert lower.tolist() == [0.04, 0.0]
    assert upper.tolist() == [0.95, 0.0]


@pytest.mark.parametrize("place", [0, 25, 50, 80, 100])
def test_recorded_limits_of_figure_12_are_those_of_all_matrices(place):
    from scipy.stats import binom

    found, pc = recorded("intervals-2005", part="band"), intervals.PC[place]
    cells = sorted(
        (pc * misses / 20 + (1 - pc) * alarms / 10, binom.pmf(misses, 20, 0.2) * binom.pmf(alarms, 10, 0.4))
        for misses, alarms in product(range(21), range(11))
    )
    values, chances = np.array([v for v, _ in cells]), np.cumsum([p for _, p in cells])
    for key, share in (("exact_lower", 0.05), ("exact_upper", 0.95)):
        assert found[key][place] == pytest.approx(values[np.searchsorted(chances, share)], abs=2e-3)


def test_the_joint_counts_have_the_same_two_matrices_and_other_overlaps():
    tables = {kind: np.array(intervals.joint(kind)) for kind in intervals.FIGURES}
    for table in tables.values():
        assert table.sum(axis=(1, 2)).tolist() == [200, 200]
        first, second = table.sum(axis=2), table.sum(axis=1)
        assert [first[0, 1], first[1, 0]] == [60, 60]
        assert [second[0, 1], second[1, 0]] == [56, 52]
    assert [int(t[1, 0, 0]) for t in tables.values()] == [52, 16, 46]
    assert [int(t[0, 1, 1]) for t in tables.values()] == [56, 17, 17]


def test_the_correlation_of_errors_is_that_of_the_indicators():
    for kind in intervals.FIGURES:
        for side in intervals.WRONG:
            (a, b), both = intervals.WRONG[side], intervals.BOTH[kind][side]
            first = np.arange(200) < a
            second = (np.arange(200) >= a - both) & (np.arange(200) < a - both + b)
            assert intervals.correlation(a, b, both) == pytest.approx(np.corrcoef(first, second)[0, 1])


def test_points_are_spoken_of_as_people_would():
    pc = intervals.PC
    assert intervals.spoken(pc) == "everywhere"
    assert intervals.spoken(pc[:0]) == "nowhere"
    assert intervals.spoken(pc[pc > 0.705]) == "pc from 0.71 to 1.00"
    assert intervals.spoken(pc[::2]) == "51 of 101 pc between 0.00 and 1.00"
    limits = {"lower": np.where(pc > 0.5, 0.1, -0.1), "upper": np.where(pc < 0.2, -0.01, 0.3)}
    assert intervals.significant(limits).tolist() == pc[(pc < 0.2) | (pc > 0.5)].tolist()


@pytest.mark.parametrize("kind", intervals.FIGURES)
def test_differences_of_2005_again_exactly(kind):
    assert_same(plain_work("intervals-2005", {"part": kind}), recorded("intervals-2005", part=kind))


def test_the_band_of_2005_again():
    part = study("intervals-2005").parts("small")[0]
    small, full = plain_work("intervals-2005", part), recorded("intervals-2005", part="band")
    for kind in ("limits_off", "spread_off"):
        found, kept = small.pop(kind), full[kind]
        for count in intervals.MANY:
            # The error of an error from 50 repetitions is a tenth of it; 4.5 times that.
            assert found[str(count)] == pytest.approx(kept[str(count)], rel=0.45)
    assert_same(small, full)


def test_a_difference_that_is_significant_elsewhere_would_not_pass(monkeypatch):
    parts = study("intervals-2005").recorded().parts
    by = {(row.item, row.what): row.verdict for row in intervals.rows(parts)}
    assert by["Figure 15", "the difference is significant"] == CONSTRUCTED
    swapped = [dict(part) for part in parts]
    for part in swapped:
        if part["part"] == "medium":
            part["exact"] = next(p for p in parts if p["part"] == "high")["exact"]
    by = {(row.item, row.what): row.verdict for row in intervals.rows(swapped)}
    assert by["Figure 15", "the difference is significant"] == FAILS


# Figures 1 to 4, 7 and 8.


def test_what_figure_3_shows_is_counted_by_hand():
    roc = cc.RocCurve.from_rates([0.1, 0.3, 0.4, 0.9], [0.5, 0.7, 0.7, 0.9], thresholds=[4, 3, 2, 1])
    found = sonar.looks(roc)
    # (0.4, 0.7) is dominated by (0.3, 0.7); (0.9, 0.9) is on the line; the costs at 0.5 are 0.3, 0.3, 0.35, 0.5.
    assert (found["count"], found["above"], found["dominated"], found["near"]) == (4, 3, 1, 2)
    # Always negative costs 0.15 at pc 0.15 and the point (0.1, 0.5) costs 0.16; at pc 0.85 it is 0.15 and 0.3.
    assert found["saved_outside"] == 0.0


def test_figure_3_counts_what_is_saved_outside_the_range():
    found = sonar.looks(cc.RocCurve.from_rates([0.0, 0.2], [0.5, 0.8], thresholds=[2, 1]))
    # At pc 0.15 the point (0, 0.5) costs 0.075 in place of 0.15.
    assert found["saved_outside"] == pytest.approx(0.075)


def write_table(folder, name, domain):
    lines = ["a,b,c,target"]
    lines += [",".join([*(f"{v:.4f}" for v in x), "p" if y else "n"]) for x, y in zip(domain.X, domain.y, strict=True)]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def test_the_studies_read_a_folder_of_the_users(tmp_path):
    domain = toy(80, seed=4)
    assert domain.y.sum() < 40
    for name in ("crx", "sonar"):
        write_table(tmp_path, name, domain)
    outcome = study("credit-2005").run("small", data=tmp_path)
    found = outcome.parts[0]
    assert found["positives"] == domain.y.sum()
    assert found["positives"] + found["negatives"] == 80
    rule, tree = credit.curves(found)
    assert tree.tpr[1] == found["C4.5"]["tp"] / found["positives"]
    assert rule.fpr[1] == found["1R"]["fp"] / found["negatives"]

    part = study("sonar-2005").parts("small")[0]
    one = plain_work("sonar-2005", part, data=tmp_path)
    for name in sonar.TREES:
        costs = np.array(one["costs"][name])
        assert (costs <= np.minimum(sonar.GRID, 1 - sonar.GRID) + 1e-4).all()
        again = cc.CostCurve.from_predictions(one["y"], one["scores"][name])
        assert costs == pytest.approx(again.evaluate(sonar.GRID), abs=1e-4)
    dense = np.linspace(0, 1, 2001)
    for name, highest in one["seen"][0]["highest"].items():
        curve = cc.CostCurve.from_predictions(one["y"], one["scores"][name])
        assert highest == pytest.approx(curve.evaluate(dense).max(), abs=1e-3)
    for name, area in one["seen"][0]["areas"].items():
        curve = cc.CostCurve.from_predictions(one["y"], one["scores"][name])
        assert area == pytest.approx(curve.evaluate(dense).mean(), abs=1e-3)


def test_choosing_other_ties_changes_nothing_where_there_are_none():
    domain = toy(80, seed=4)
    fold = fold_numbers(domain.y, 10, np.random.default_rng(0))
    mirrored = Domain("toy", -domain.X[:, ::-1], domain.nominal, domain.y, domain.attributes, domain.values, "yes")
    tree = lambda: DecisionTree(min_leaf=20, confidence=None)  # noqa: E731
    assert out_of_fold(domain, tree, fold) == pytest.approx(out_of_fold(mirrored, tree, fold))


@needs_data
def test_credit_of_2005_again_exactly():
    part = {"repeat": 0}
    assert plain_work("credit-2005", part, data=SHARED).items() <= recorded("credit-2005", **part).items()


@needs_data
def test_one_cross_validation_of_sonar_again_exactly():
    part = study("sonar-2005").parts("small")[0]
    small, full = plain_work("sonar-2005", part, data=SHARED), recorded("sonar-2005", form="pruned", block=0)
    assert small["y"] == full["y"]
    assert small["significant"] == full["significant"]
    assert_same(small["scores"], full["scores"])
    assert_same(small["seen"][0], full["seen"][0])
    # One cross-validation is one of the ten that were averaged.
    for name in sonar.TREES:
        assert np.abs(np.subtract(small["costs"][name], full["costs"][name])).max() < 0.1


def test_a_mean_cost_curve_is_restored_from_its_values():
    parts = study("sonar-2005").recorded().parts
    for name in sonar.CRITERIA:
        curve = sonar.mean_curve(parts, name)
        # The recorded values have four decimals.
        np.testing.assert_allclose(curve.evaluate(sonar.GRID), sonar.averages(parts)[name], atol=1e-4)
