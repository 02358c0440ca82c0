"""What a policy takes for granted is said, and levels near 1 are not called 100 %."""

from __future__ import annotations

import pytest

CREDIT = ("example:german_credit", "--positive", "bad", "--label", "label")
TWO = ("--score", "logit", "--score", "tree")
NOTE = "Scores are taken for probabilities, calibrated where 30 % are positive as in these rows."


@pytest.mark.parametrize("command", [("decide", "--pc", "0.5"), ("compare", "--pc", "0.5"), ("curve",)])
def test_the_policy_bayes_says_at_which_share_scores_are_calibrated(run, command):
    name, *more = command
    done = run(name, *CREDIT, *TWO, *more, "--policy", "bayes")
    assert done.code == 0
    assert done.out.splitlines()[1] == NOTE
    assert "Warning: --policy bayes needs calibrated probabilities, and tree is not calibrated." in done.err
    assert run(name, *CREDIT, *TWO, *more, "--policy", "bayes", "--json").json["calibrated_at"] == pytest.approx(0.3)
    other = run(name, *CREDIT, *TWO, *more, "--json")
    assert other.json["calibrated_at"] is None
    assert "calibrated" not in other.err + run(name, *CREDIT, *TWO, *more).out


def test_short_stretches_are_joined_in_the_table_and_kept_in_json(run):
    two = ("--score", "logit", "--score", "forest")
    asked = ("decide", *CREDIT, *two, "--pc", "0.2..0.8", "--policy", "bayes")
    stretches = run(*asked, "--json").json["decisions"][0]["ranges"]
    assert len(stretches) > 12
    out = run(*asked).out
    assert f"Short stretches are joined; --json has all {len(stretches)}." in out
    assert len(out[out.index("slope") :].splitlines()) < 30
    assert "joined" not in run("decide", *CREDIT, *two, "--pc", "0.2..0.8").out


def test_a_level_near_one_is_not_called_all(run):
    done = run("decide", *CREDIT, "--score", "tree", "--pc", "0.5", "--level", "0.9999999999")
    assert "99.99999999 %" in done.out
    assert " 100 % interval" not in done.out
