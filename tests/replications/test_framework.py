"""Studies can be stopped and resumed, run anywhere, saved and shown; they use the public functions only."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import costcurves as cc
from replications.catalogue import NAMES, study
from replications.command import as_text, main
from replications.contents import CONTENTS
from replications.pages import all_pages, page_text, summary, write_pages
from replications.paper2000 import domain
from replications.study import BEYOND, REPLICATES, VERDICTS, Outcome, Row, Study, rng_of

DOCS = Path(__file__).parents[2] / "docs" / "replications"


def parts(size):
    return [{"name": name, "count": 3 if size == "small" else 5} for name in "abcd"]


def work(part, seed):
    return {"mean": rng_of(seed, part["name"]).random(part["count"]).mean(), "values": np.arange(2)}


def rows(found):
    return [Row("all", "mean", 0.5, float(np.mean([p["mean"] for p in found])), REPLICATES)]


TOY = Study("toy", "A toy", parts, work, rows, lambda size: {"size": size})


def test_an_outcome_survives_its_file():
    outcome = TOY.run("small")
    again = Outcome.from_json(outcome.to_json())
    assert again == outcome
    assert json.loads(outcome.to_json())["parts"][0]["values"] == [0, 1]
    with pytest.raises(cc.FormatError, match="must be a saved outcome"):
        Outcome.from_json('{"rows": 3}')


def test_same_seed_same_outcome_whatever_the_order_and_the_number_of_processes():
    import joblib

    one = TOY.run("small", seed=3)
    with joblib.parallel_config("threading", n_jobs=2):
        two = TOY.run("small", seed=3, n_jobs=None)
    assert one == two == TOY.run("small", seed=3, n_jobs=2)
    assert one != TOY.run("small", seed=4)


def test_a_cluster_of_dask_computes_the_same():
    import distributed
    import joblib

    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None, "protocol": "inproc"}
    cluster = distributed.LocalCluster(processes=False, **options)
    with cluster, distributed.Client(cluster), joblib.parallel_config("dask"):
        found = TOY.run("small", seed=3, n_jobs=None)
    assert found == TOY.run("small", seed=3)


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    calls = []

    def stopping(part, seed):
        calls.append(part["name"])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return work(part, seed)

    with pytest.raises(KeyboardInterrupt):
        Study("toy", "A toy", parts, stopping, rows).run("small", output=tmp_path)
    assert calls == ["a", "b", "c"]
    seen = []
    resumed = Study("toy", "A toy", parts, stopping, rows).run(
        "small", output=tmp_path, progress=lambda done, total: seen.append((done, total))
    )
    assert calls == ["a", "b", "c", "c", "d"]
    assert seen == [(3, 4), (4, 4)]
    assert resumed.parts == TOY.run("small").parts
    # Another seed or size has its own parts.
    TOY.run("small", seed=1, output=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_bad_requests_are_refused_by_name(capsys):
    with pytest.raises(cc.InputError, match="`size` must be one of small, full, got 'tiny'"):
        TOY.run("tiny")
    with pytest.raises(cc.InputError, match=r"`name` must be one of .*, got 'table7'"):
        study("table7")
    with pytest.raises(cc.InputError, match="`verdict` must be one of"):
        Row("x", "y", 1.0, 1.0, "perhaps")
    with pytest.raises(cc.InputError, match="`toy` must have been recorded first"):
        TOY.recorded()
    assert main(["run", "table5", "--n-jobs", "-7"]) == 2
    assert "`--n-jobs` must be -1, 0 or more, got -7" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", "table7"])


def test_the_command_runs_a_study_and_keeps_its_parts(tmp_path, capsys):
    assert main(["scenarios-1997", "--small", "--output", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert "scenarios-1997 (small, seed 2000)" in printed.out
    assert "1/1" in printed.err
    assert (tmp_path / "scenarios-1997-small-2000").is_dir()


def test_all_goes_on_after_a_study_that_cannot_run(tmp_path, capsys, monkeypatch):
    def refuse(part, seed):
        raise cc.DataError("`data` must be there")

    studies = {"broken": Study("broken", "A toy", parts, refuse, rows), "toy": TOY}
    monkeypatch.setattr("replications.command.NAMES", tuple(studies))
    monkeypatch.setattr("replications.command.study", studies.__getitem__)
    assert main(["all", "--small", "--output", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert "toy (small, seed 2000)" in printed.out
    assert "error: broken: `data` must be there" in printed.err


def test_a_study_is_given_its_data_and_a_place_for_its_steps(tmp_path):
    seen = []

    def reading(part, seed, **places):
        seen.append(places)
        return work(part, seed)

    reader = Study("toy", "A toy", parts, reading, rows, reads_data=True, keeps_steps=True)
    reader.run("small", data="folder", output=tmp_path)
    assert seen == [{"data": "folder", "scratch": tmp_path / "toy-small-2000" / "scratch"}] * 4
    reader.run("small")
    assert seen[4:] == [{"data": None, "scratch": None}] * 4


def test_rows_print_numbers_texts_and_nothing():
    outcome = Outcome(
        "x", "small", 1, {}, [], (Row("a", "b", None, "yes", BEYOND), Row("c", "d", 1.5, 2.0, REPLICATES))
    )
    assert as_text(outcome).splitlines()[2].split() == ["a:", "b", "-", "yes", "beyond", "the", "paper"]
    assert outcome.rows[1].difference == 0.5
    assert outcome.rows[0].difference is None


def test_the_pages_of_the_repository_are_those_of_the_recorded_results(tmp_path):
    pages = all_pages()
    outcomes = {name: study(name).rejudged() for page in pages for name in page.studies}
    assert sorted(outcomes) == sorted(NAMES)
    for page in pages:
        text = page_text(page, outcomes)
        assert (DOCS / f"{page.name}.md").read_text(encoding="utf-8") == text
        for file in page.figures:
            assert f"images/{file}" in text
            assert (DOCS / "images" / file).stat().st_size > 5000
    assert (DOCS / "index.md").read_text(encoding="utf-8") == summary(pages, outcomes)


def test_pages_can_be_written_with_their_figures(tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.setattr("replications.pages.PAGES", ("paper1997.page",))
    written = write_pages(tmp_path)
    assert [path.name for path in written][-2:] == ["1997.md", "index.md"]
    first = (tmp_path / "images" / "1997-figure2.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    write_pages(tmp_path)
    assert (tmp_path / "images" / "1997-figure2.png").read_bytes() == first


def test_the_domain_has_the_frequencies_of_table_3():
    side = (np.arange(1500) + 0.5) / 1500
    x, y = np.meshgrid(side, side)
    classes = domain.label(np.stack([x.ravel(), y.ravel()], axis=1))
    assert np.bincount(classes) / classes.size == pytest.approx(domain.FREQUENCIES, abs=2e-4)


def test_a_twin_has_the_same_confusion_matrix_and_other_labels():
    trial = domain.Trial.of({"model": "M2", "matrix": 0, "examples": 20_000}, 5)
    twin = trial.twin()
    one = cc.ConfusionMatrix.from_predictions(trial.true, trial.predicted, labels=range(5))
    other = cc.ConfusionMatrix.from_predictions(trial.true, twin, labels=range(5))
    assert (one.counts == other.counts).all()
    assert (twin != trial.predicted).mean() > 0.01
    assert trial.joints(twin).sum(axis=(0, 3)).tolist() == one.counts.tolist()
    assert trial.confusions().sum(axis=0).tolist() == one.counts.tolist()
    assert trial.confusions().sum(axis=(1, 2)).tolist() == [1000] * 20


def test_pages_count_their_verdicts_and_say_what_is_missing():
    outcomes = {name: study(name).rejudged() for page in all_pages() for name in page.studies}
    for page in all_pages():
        text = page_text(page, outcomes)
        rows = [row.verdict for name in page.studies for row in outcomes[name].rows]
        for verdict in VERDICTS:
            if verdict != BEYOND:
                assert f"{verdict} {rows.count(verdict)}" in text
        for entry in CONTENTS:
            assert entry.paper != page.name or entry.missing in text
