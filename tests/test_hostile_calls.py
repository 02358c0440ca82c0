"""Whatever is given to whatever is public, the answer is a result or an error of ours that says why not."""

from __future__ import annotations

import pytest

from hostile_calls import HOSTILE, Campaign
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
