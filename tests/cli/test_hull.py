"""A hull's file lists where its classifiers came from, and any of them may be removed, or merged from other files."""

from __future__ import annotations

import csv
import io

import pytest

import costcurves as cc

CREDIT = ("example:german_credit", "--positive", "bad", "--label", "label")


@pytest.fixture
def two_files(run, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    assert run("hull", "add", "a.json", *CREDIT, "--score", "logit", "--score", "forest").code == 0
    assert run("hull", "add", "b.json", *CREDIT, "--score", "tree").code == 0


def test_a_file_lists_where_its_classifiers_came_from(run, two_files):
    members = run("hull", "list", "a.json", "--json").json["members"]
    assert members[1] == {
        "name": "forest",
        "can_be_best": True,
        "source": "german_credit_scores.csv",
        "rows": 1000,
        "positives": 300,
        "positive": "bad",
        "added": "2001-09-09T01:46:40Z",
    }
    assert "german_credit_scores.csv" in run("hull", "list", "a.json").out
    rows = list(csv.DictReader(io.StringIO(run("hull", "list", "a.json", "--csv").out)))
    assert [row["name"] for row in rows] == ["logit", "forest"]


def test_what_is_removed_leaves_the_file_as_if_it_had_never_been_there(run, two_files, tmp_path):
    before = (tmp_path / "a.json").read_bytes()
    assert run("hull", "add", "a.json", *CREDIT, "--score", "tree", "--score", "bayes").code == 0
    done = run("hull", "remove", "a.json", "tree", "bayes")
    assert done.code == 0
    assert "removed tree and bayes from a.json" in done.err
    assert (tmp_path / "a.json").read_bytes() == before
    for name, words in (("wood", "NAME must be among 'logit', 'forest', got 'wood'"), ("", "NAME must be among")):
        failed = run("hull", "remove", "a.json", name)
        assert (failed.code, failed.out) == (2, "")
        assert words in failed.err
    assert "must leave at least one classifier" in run("hull", "remove", "a.json", "logit", "forest").err
    assert (tmp_path / "a.json").read_bytes() == before
    assert run("hull", "remove", "nothing.json", "x").code == 2


def test_files_are_merged_with_their_origins(run, two_files, tmp_path):
    done = run("hull", "merge", "a.json", "b.json", "--json")
    assert done.code == 0
    assert done.json["classifiers"] == ["logit", "forest", "tree"]
    merged = (tmp_path / "a.json").read_bytes()
    assert run("hull", "merge", "a.json", "b.json", "a.json").code == 0
    assert (tmp_path / "a.json").read_bytes() == merged
    assert "made c.json" in run("hull", "merge", "c.json", "a.json").err
    assert (tmp_path / "c.json").read_bytes() == merged
    assert run("hull", "add", "d.json", *CREDIT, "--score", "bayes").code == 0
    text = (tmp_path / "d.json").read_text(encoding="utf-8").replace('"bayes"', '"tree"')
    (tmp_path / "d.json").write_text(text, encoding="utf-8")
    failed = run("hull", "merge", "a.json", "d.json")
    assert failed.code == 2
    assert "d.json has other classifiers under names of a.json: 'tree'" in failed.err
    assert (tmp_path / "a.json").read_bytes() == merged


def test_classifiers_of_another_class_are_refused(run, two_files, tmp_path):
    good = ("example:german_credit", "--positive", "good", "--label", "label", "--score", "tree", "--tag", "good")
    before = (tmp_path / "a.json").read_bytes()
    failed = run("hull", "add", "a.json", *good)
    assert failed.code == 2
    assert "look for 'bad', and these for 'good'; if both mean the same class, add --other-label" in failed.err
    assert (tmp_path / "a.json").read_bytes() == before
    assert run("hull", "add", "g.json", *good).code == 0
    assert run("hull", "merge", "a.json", "g.json").code == 2
    assert run("hull", "merge", "a.json", "g.json", "--other-label").code == 0
    assert run("hull", "add", "b.json", *good, "--other-label").code == 0


def test_a_hull_that_python_wrote_has_no_origins(run, two_files, tmp_path):
    hull = cc.RocHull.from_json(tmp_path / "a.json")
    hull.to_json(tmp_path / "python.json")
    assert [one["source"] for one in run("hull", "list", "python.json", "--json").json["members"]] == [None, None]
    assert "logit" in run("hull", "list", "python.json").out
    failed = run("hull", "remove", "python.json", "logit")
    assert failed.code == 2
    assert "cannot be removed, because points of 'forest'" in failed.err
