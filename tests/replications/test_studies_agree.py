"""A small rerun of every replication agrees with the recorded results, within Monte-Carlo error."""

from __future__ import annotations

import math

import numpy as np
import pytest

from replications.catalogue import NAMES, study
from replications.paper2000 import defaults, normal, power, sensitivity, table5
from replications.paper2008.binormal import grid

# Chance of a false alarm in one comparison: 4.5 standard errors, 7e-6.
ERRORS = 4.5


def recorded_part(name, **keys):
    """Return the recorded part with these values."""
    found = [p for p in study(name).recorded().parts if all(p[k] == v for k, v in keys.items())]
    assert len(found) == 1
    return found[0]


def agree(small, full, trials, recorded):
    """Compare two shares: of `trials` test sets, and of the recorded number."""
    small, full = np.asarray(small, dtype=float), np.asarray(full, dtype=float)
    middle = np.clip((small * trials + full * recorded) / (trials + recorded), 1 / trials, 1 - 1 / trials)
    error = np.sqrt(middle * (1 - middle) * (1 / trials + 1 / recorded))
    # The small run knows the true cost only from a tenth of the examples: up to a few points where it matters.
    assert np.abs(small - full).max() <= ERRORS * error.max() + 0.02


# One model of each kind: equal ranges, right decisions that cost, and costs by class frequency both ways.
TRIALS = [("M1", 0), ("M3", 1), ("M6", 0), ("M9", 0)]


def trial_of(name, model, matrix):
    part = next(p for p in study(name).parts("small") if (p["model"], p["matrix"]) == (model, matrix))
    return study(name).work(part, 2000), recorded_part(name, model=model, matrix=matrix)


@pytest.mark.parametrize(("model", "matrix"), TRIALS)
def test_table5_again(model, matrix):
    small, full = trial_of("table5", model, matrix)
    for kind, count in (("exact", 100), ("normal", 100), ("resampled", 20)):
        agree(small[kind] / 1000, full[kind] / 1000, count, 1000)
    assert small["cost"] == pytest.approx(full["cost"], rel=0.25)
    assert small["errors"] == pytest.approx(full["errors"], abs=0.005)


# With M6 and M9 coverage jumps where the true cost passes a multiple of the cost of one rare error, and a tenth of the
# examples does not give that cost exactly enough.
@pytest.mark.parametrize(("model", "matrix"), [("M1", 0), ("M8", 1)])
def test_figure2_again(model, matrix):
    small, full = trial_of("figure2-2000", model, matrix)
    agree(small["coverage"], full["coverage"], 100, 1000)
    agree(small["mid_p"], full["mid_p"], 100, 1000)
    assert len(small["coverage"]) == len(sensitivity.LAPLACES)


@pytest.mark.parametrize(("model", "matrix"), TRIALS)
def test_table6_again(model, matrix):
    small, full = trial_of("table6", model, matrix)
    for kind in ("exact", "laplace", "normal"):
        agree(small[kind] / 1000, full[kind] / 1000, 100, 1000)


def test_a_part_of_full_size_comes_out_the_same():
    full = recorded_part("table6", model="M6", matrix=0)
    part = next(p for p in study("table6").parts("full") if (p["model"], p["matrix"]) == ("M6", 0))
    again = study("table6").work(part, 2000)
    # Other versions of the tree or of the transforms may move single test sets across the line.
    for kind in ("exact", "laplace", "normal", "discordant"):
        assert again[kind] == pytest.approx(full[kind], abs=3)


@pytest.mark.parametrize(("model", "matrix"), [("M1", 0)])
def test_power_again(model, matrix):
    small, full = trial_of("power", model, matrix)
    agree(small["kept"], full["kept"], 100, 1000)
    agree(small["normal"], full["normal"], 100, 1000)
    assert len(small["kept"]) == len(power.SHARES)


def test_normal_theory_without_the_square_root_again():
    small, full = trial_of("normal-2000", "M4", 0)
    agree(small["covered"] / 1000, full["covered"] / 1000, 50, 200)
    agree(np.array(small["kept"]) / 1000, np.array(full["kept"]) / 1000, 50, 200)
    assert len(small["kept"]) == len(normal.SHARES)


def test_other_intervals_again():
    small, full = trial_of("defaults-2000", "M6", 0)
    for kind in defaults.TABLES:
        assert list(small[kind]) == list(full[kind])
        agree([small[kind][m] / 1000 for m in full[kind]], [v / 1000 for v in full[kind].values()], 100, 1000)


def test_the_normal_interval_of_a_set_is_that_of_the_study():
    # Coverage printed as a count of 1000 is a share of the test sets.
    outcome = study("table5").recorded()
    assert outcome.size in ("small", "full")
    assert {part["examples"] for part in outcome.parts} == {outcome.settings["examples"]}
    assert all(0 <= part["exact"] <= 1000 for part in outcome.parts)


def test_scenarios_of_1997_again_exactly():
    assert study("scenarios-1997").run("small").parts == study("scenarios-1997").recorded().parts


def recorded_at(full, kind, step):
    """Return recorded coverage at the points of a coarser grid."""
    at = {round(pc, 4): value for pc, value in zip(grid(full["step"]).tolist(), full[kind], strict=True)}
    return [at[round(pc, 4)] for pc in grid(step).tolist()]


@pytest.mark.parametrize(
    ("name", "keys"), [("spread-2008", {"mu": 0.75}), ("spread-2008", {"mu": 3.0}), ("size-2008", {"n": 25})]
)
def test_summed_coverage_again_exactly_and_simulated_within_error(name, keys):
    part = next(p for p in study(name).parts("small") if all(p[k] == v for k, v in keys.items()))
    small, full = study(name).work(part, 2000), recorded_part(name, **keys)
    for kind in ("stratified", "full", "full_sets", "corrected", "corrected_full"):
        assert small[kind] == pytest.approx(recorded_at(full, kind, part["step"]), abs=1e-6)
    for kind in ("simulated", "simulated_full"):
        agree(small[kind], recorded_at(full, kind, part["step"]), part["runs"], full["runs"])


def test_summed_coverage_agrees_with_the_thousand_simulations():
    for name in ("spread-2008", "size-2008"):
        for part in study(name).recorded().parts:
            for drawn, summed in (("simulated", "stratified"), ("simulated_full", "full")):
                p, q = np.array(part[summed]), np.array(part[drawn])
                error = np.sqrt(np.maximum(p * (1 - p), 1e-3) / part["runs"])
                assert np.abs(p - q).max() <= (ERRORS * error).max()


@pytest.mark.parametrize("keys", [{"mu": 1.0, "shift": 4.0, "rho": 0.3}, {"mu": 3.0, "shift": 0.0, "rho": 0.9}])
def test_differences_again(keys):
    part = next(p for p in study("difference-2008").parts("small") if all(p[k] == v for k, v in keys.items()))
    small, full = study("difference-2008").work(part, 2000), recorded_part("difference-2008", **keys)
    for kind in ("stratified", "full", "corrected"):
        agree(small[kind], recorded_at(full, kind, part["step"]), part["draws"], full["draws"])
    for kind in ("simulated_stratified", "simulated_full"):
        agree(small[kind], recorded_at(full, kind, part["step"]), part["runs"], full["runs"])


def test_figure6_again():
    keys = {"mu": 1.0, "shift": 2.0, "rho": 0.6}
    part = next(p for p in study("figure6-2008").parts("small") if all(p[k] == v for k, v in keys.items()))
    small, full = study("figure6-2008").work(part, 2000), recorded_part("figure6-2008", **keys)
    for kind in ("stratified", "full"):
        agree(small[kind], recorded_at(full, kind, part["step"]), part["draws"], full["draws"])


@pytest.mark.parametrize("name", NAMES)
def test_recorded_rows_are_those_that_the_recorded_parts_give(name):
    assert study(name).recorded().rows == study(name).rejudged().rows


@pytest.mark.parametrize("name", NAMES)
def test_recorded_parts_are_all_the_parts_of_their_size(name):
    outcome = study(name).recorded()
    keys = study(name).parts(outcome.size)
    assert [{k: part[k] for k in keys[0]} for part in outcome.parts] == keys
    assert outcome.seed == 2000
    assert outcome.settings == study(name).settings(outcome.size)


def test_printed_numbers_are_the_papers():
    assert table5.PRINTED["M6"] == 994.1
    assert math.isclose(sum(table5.PRINTED.values()), 8687.8)
