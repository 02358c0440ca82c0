"""Whatever is given to whatever is public, the answer is a result or an error of ours that says why not."""

from __future__ import annotations

import pytest

import costcurves as cc
from hostile_calls import HOSTILE, Campaign, quiet
from laws import random_worlds


@pytest.fixture(scope="module")
def campaign():
    return Campaign()


@pytest.mark.law
def test_hostile_calls_are_answered_or_refused(campaign, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for rng in random_worlds(1, stream=91):
        failures = [str(failure) for failure in campaign.calls(int(rng.integers(2**32)), 1500)]
        assert not failures, "\n".join(failures)
    assert campaign.outcomes["answered"] > 200
    assert campaign.outcomes["refused"] > 500


def test_calls_reach_nearly_everything_public(campaign):
    assert len(campaign.targets) > 450
    assert len(campaign.unreached) < 20
    assert len(HOSTILE) > 90


def test_a_foreign_error_is_a_failure(campaign, monkeypatch):
    target = next(target for target in campaign.targets if target.name == "cost_models")

    def broken(*_, **__):
        raise KeyError("lost")

    monkeypatch.setattr(target, "function", broken)
    monkeypatch.setattr(campaign, "targets", [target])
    (failure,) = campaign.calls(0, 1)
    assert failure.what == "KeyError: 'lost'"


# One table for all callables instead of a line in the tests of each.
@pytest.mark.parametrize(
    ("option", "wrong", "callables"),
    [("level", 95, 35), ("confidence", 95, 4), ("rng", "x", 18), ("n_resamples", -1, 8)],
)
def test_a_wrong_value_of_an_option_is_refused_by_name_wherever_it_is_taken(campaign, option, wrong, callables):
    answered, tried, named = [], set(), set()
    for target in campaign.targets:
        if option not in target.signature.parameters:
            continue
        for base in target.bases:
            given = {name: value for name, value in base.items() if name != "self"}
            extra = given.pop("options", {}) | {option: wrong}
            owner = () if target.owners is None else (base["self"],)
            tried.add(target.name)
            with quiet():
                try:
                    target.function(*owner, **given | extra)
                    answered.append((target.name, given))
                except cc.CostCurvesError as error:  # of some calls another argument is refused first
                    named |= {target.name} if f"`{option}` must" in str(error) else set()
    assert len(tried) >= callables
    assert named == tried
    assert not answered
