"""Logs of LLM evaluations become predictions whose samples are aligned, and faulty logs are refused by name."""

from __future__ import annotations

import json
import math
import struct
import zipfile
import zlib

import numpy as np
import pytest

import costcurves as cc
from laws import random_worlds


def inspect_log(answers, *, model="small", task="qa", **more):
    """Return a log of Inspect: `answers` are (id, epoch, target, scores) with scores by scorer."""
    samples = [
        {
            "id": sample,
            "epoch": epoch,
            "input": "?",
            "target": target,
            "scores": scores and {name: {"value": value, "answer": "x"} for name, value in scores.items()},
            "metadata": {"verdict": {"final": target}},
        }
        for sample, epoch, target, scores in answers
    ]
    spec = {"task": task, "model": model, "created": "2026-01-01T00:00:00+00:00"}
    return {"version": 2, "status": "success", "eval": spec, "samples": samples, **more}


def write(path, log):
    path.write_text(json.dumps(log), encoding="utf-8")
    return path


def zstandard_archive(path, members):
    """Write a zip archive whose members are compressed by method 93, which zipfile cannot write before Python 3.14."""
    import pyarrow as pa

    body, directory = b"", b""
    for name, text in members.items():
        raw, title = text.encode(), name.encode()
        sink = pa.BufferOutputStream()
        half = len(raw) // 2
        packed = b""
        for part in (raw[:half], raw[half:]):  # Inspect writes several frames where a member is large
            sink = pa.BufferOutputStream()
            with pa.CompressedOutputStream(sink, "zstd") as stream:
                stream.write(part)
            packed += sink.getvalue().to_pybytes()
        common = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 33, zlib.crc32(raw), len(packed), len(raw), len(title), 4)
        extra = b"\x01\x00\x00\x00"
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + common[:-2]
        directory += struct.pack("<HHHHII", 0, 0, 0, 0, 0, len(body)) + title
        body += b"PK\x03\x04" + common + title + extra + packed
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + end)
    return path


def archived(log):
    """Return the members of an .eval archive of a log."""
    head = {name: value for name, value in log.items() if name != "samples"}
    samples = {f"samples/{s['id']}_epoch_{s['epoch']}.json": json.dumps(s) for s in log["samples"]}
    return {"_journal/start.json": "{}", **samples, "header.json": json.dumps(head)}


JUDGED = [("a", 1, "yes", {"judge": 0.9, "other": "C"}), ("b", 1, "no", {"judge": 0.2, "other": "I"}),
          ("c", 1, "no", {"judge": 0.6, "other": "P"}), ("d", 1, "yes", {"judge": 0.7, "other": "N"})]  # fmt: skip


def test_models_are_aligned_by_sample_whatever_the_order_of_their_logs(tmp_path):
    write(tmp_path / "one.json", inspect_log(JUDGED))
    moved = [(sample, epoch, target, {"judge": scores["judge"] / 2}) for sample, epoch, target, scores in JUDGED[::-1]]
    write(tmp_path / "two.json", inspect_log(moved, model="large"))
    found = cc.read_eval_logs(tmp_path, label="target", score="judge", pos_label="yes")
    assert found.names == ("small", "large")
    assert found.samples.tolist() == ["a", "b", "c", "d"]
    assert found.y_true.tolist() == [True, False, False, True]
    assert found.score("large").tolist() == pytest.approx((found.score("small") / 2).tolist())
    again = cc.Predictions(["yes", "no", "no", "yes"], found.scores, pos_label="yes")
    here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=2)
    assert found.recommend(here).to_dict() == again.recommend(here).to_dict()
    frame = found.to_frame("pandas")
    assert frame["sample"].tolist() == ["a", "b", "c", "d"] * 2
    assert frame["epoch"].tolist() == [1] * 8


def test_several_judges_of_one_log_are_several_classifiers_and_grades_are_numbers(tmp_path):
    path = write(tmp_path / "log.json", inspect_log(JUDGED))
    found = cc.read_eval_logs(path, label="metadata.verdict.final", score=["judge", "other"], pos_label="yes")
    assert found.names == ("judge", "other")
    assert found.score("other").tolist() == [1.0, 0.0, 0.5, 0.0]
    named = cc.read_eval_logs(
        path, label="target", score={"minus": lambda s: -s["scores"]["judge"]["value"]}, pos_label="no"
    )
    assert named.score("minus").tolist() == [-0.9, -0.2, -0.6, -0.7]


@pytest.mark.parametrize("packed", ["deflated", "zstandard"])
def test_archives_are_read_like_json(tmp_path, packed):
    log = inspect_log(JUDGED)
    plain = cc.read_eval_logs(write(tmp_path / "log.json", log), label="target", score="judge", pos_label="yes")
    path = tmp_path / "log.eval"
    if packed == "zstandard":
        zstandard_archive(path, archived(log))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in archived(log).items():
                archive.writestr(name, text)
    found = cc.read_eval_logs(path, label="target", score="judge", pos_label="yes")
    assert found.to_dict() == plain.to_dict()


EPOCHS = [(s, e, t, {"judge": v}) for s, t, values in
          [(1, "y", (0.1, 0.5)), (2, "n", (0.3, 0.2)), (3, "y", (0.9, 0.8)), (4, "n", (0.4, 0.6))]
          for e, v in enumerate(values, 1)]  # fmt: skip


def test_repeats_of_a_sample_are_one_example_unless_all_are_wanted(tmp_path):
    path = write(tmp_path / "log.json", inspect_log(EPOCHS))
    options = {"label": "target", "pos_label": "y"}  # the only scorer is found
    mean = cc.read_eval_logs(path, **options)
    assert mean.score("small").tolist() == pytest.approx([0.3, 0.25, 0.85, 0.5])
    assert mean.epochs.tolist() == [0] * 4
    first = cc.read_eval_logs(path, **options, repeats="first")
    assert first.score("small").tolist() == [0.1, 0.3, 0.9, 0.4]
    assert first.epochs.tolist() == [1] * 4
    with pytest.warns(cc.SmallSampleWarning, match="8 answers to 4 samples are not independent"):
        every = cc.read_eval_logs(path, **options, repeats="all")
    assert every.score("small").tolist() == [answer[3]["judge"] for answer in EPOCHS]
    for sample in (1, 2, 3, 4):
        assert len(set(every.folds[every.samples == sample])) == 1
    for fold in range(every.n_folds):
        assert set(every.y_true[every.folds == fold]) == {True, False}


def test_models_with_different_numbers_of_repeats_are_aligned_by_sample(tmp_path):
    once = [answer for answer in EPOCHS if answer[1] == 1]
    logs = {
        "twice": write(tmp_path / "a.json", inspect_log(EPOCHS)),
        "once": write(tmp_path / "b.json", inspect_log(once)),
    }
    found = cc.read_eval_logs(logs, label="target", pos_label="y")
    assert found.names == ("twice", "once")
    assert found.score("once").tolist() == [0.1, 0.3, 0.9, 0.4]
    with pytest.raises(
        cc.DataError, match=r"same samples, got 4 .* 'twice' has sample 1 of epoch 2 and 'once' does not"
    ):
        cc.read_eval_logs(logs, label="target", pos_label="y", repeats="all")


def test_the_probability_of_a_token_sums_its_spellings_and_is_zero_if_it_is_not_likely(tmp_path):
    log = inspect_log(JUDGED)
    tops = [{"Yes": 0.6, " yes": 0.2, "No": 0.1}, {"No": 0.9}, {"no": 0.5, "yes": 0.25}, {"YES": 1.0}]
    for sample, top in zip(log["samples"], tops, strict=True):
        listed = [{"token": token, "logprob": math.log(p)} for token, p in top.items()]
        sample["output"] = {"choices": [{"logprobs": {"content": [{**listed[0], "top_logprobs": listed}]}}]}
    found = cc.read_eval_logs(write(tmp_path / "log.json", log), label="target", score="token.Yes", pos_label="yes")
    assert found.score("small").tolist() == pytest.approx([0.8, 0.0, 0.25, 1.0])


def harness_rows(targets, responses, **more):
    """Return lines of lm-evaluation-harness for two choices, whose log-probabilities it writes as texts."""
    return [
        {"doc_id": i, "target": str(t), "filter": "none", "metrics": ["acc"], "acc": float((b > a) == t),
         "filtered_resps": [[str(a), "False"], [str(b), "True"]], **more}
        for i, (t, (a, b)) in enumerate(zip(targets, responses, strict=True))
    ]  # fmt: skip


def write_rows(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


LOGS = [(-1.0, -2.0), (-3.0, -0.5), (-800.0, -801.0), (-2.0, -2.0)]


def test_choices_of_the_harness_are_probabilities_and_folders_name_models(tmp_path):
    for model, shift in (("org__tiny", 0.0), ("org__huge", 1.0)):
        rows = harness_rows([0, 1, 0, 1], [(a, b + shift) for a, b in LOGS])
        write_rows(tmp_path / model / "samples_boolq_2026-02-03T04-05-06.789.jsonl", rows)
        write(tmp_path / model / "results_2026-02-03T04-05-06.789.json", {"results": {}})  # not a log
    found = cc.read_eval_logs(tmp_path, label="target", score="choice.1", pos_label="1")
    assert found.names == ("org__huge", "org__tiny")
    tiny, huge = ([1 / (1 + math.exp(a - b - shift)) for a, b in LOGS] for shift in (0, 1))
    assert found.score("org__tiny").tolist() == pytest.approx(tiny)
    assert found.score("org__huge").tolist() == pytest.approx(huge)


def test_repeated_answers_of_the_harness_are_repeats(tmp_path):
    rows = [{"doc_id": i, "target": t, "resps": [[str(v) for v in values]]}
            for i, (t, values) in enumerate([("1", (7, 8, 6)), ("0", (2, 4, 3))])]  # fmt: skip
    path = write_rows(tmp_path / "m" / "samples_x.jsonl", rows)
    found = cc.read_eval_logs(path, label="target", score="resps.0", pos_label="1")
    assert found.names == ("m",)
    assert found.score("m").tolist() == [7.0, 3.0]


def test_rows_of_several_filters_need_a_choice(tmp_path):
    rows = harness_rows([0, 1, 0, 1], LOGS) + harness_rows([0, 1, 0, 1], LOGS[::-1], filter="strict")
    path = write_rows(tmp_path / "m" / "samples_x.jsonl", rows)
    with pytest.raises(cc.InputError, match=r"`filter` must be one of none, strict for .*, got None"):
        cc.read_eval_logs(path, label="target", score="choice.1", pos_label="1")
    found = cc.read_eval_logs(path, label="target", score="choice.1", pos_label="1", filter="strict")
    assert found.score("m")[0] == pytest.approx(0.5)


def test_samples_of_two_tasks_with_the_same_ids_are_different_samples(tmp_path):
    for task in ("one", "two"):
        write_rows(tmp_path / "m" / f"samples_{task}_2026-02-03T04-05-06.jsonl", harness_rows([0, 1, 0, 1], LOGS))
    assert cc.read_eval_logs(tmp_path, label="target", score="acc", pos_label="1").y_true.size == 8


def without(answers, *, score=None, last=None):
    """Return the answers with the last one unscored, or without it."""
    *kept, (sample, epoch, target, _) = answers
    return kept if last == "gone" else [*kept, (sample, epoch, target, score)]


ONE = [inspect_log(JUDGED)]


@pytest.mark.parametrize(
    ("logs", "options", "error", "message"),
    [
        ([inspect_log(without(JUDGED))], {}, cc.DataError, "got 1 without, the first is sample 'd'"),
        ([inspect_log(without(JUDGED, score={"judge": math.nan}))], {}, cc.DataError, "a score, got 1 without"),
        ([inspect_log([(*a[:3], None) for a in JUDGED])], {}, cc.DataError,
         "`score` must be in the log, got no 'judge' in .*none: was it scored"),
        (ONE, {"score": "jugde"}, cc.DataError, r"no 'jugde' in .* \(scorers or metrics: judge, other\)"),
        (ONE, {"label": "targets"}, cc.DataError, "`label` must be in the log, got no 'targets'"),
        (ONE, {"score": None}, cc.InputError, "`score` must be one of judge, other, got None"),
        (ONE, {"score": []}, cc.InputError, "at least one place"),
        (ONE, {"score": "scores.judge"}, cc.DataError, "must be a number or a text in every sample, got {'"),
        (ONE, {"score": "input"}, cc.DataError, r"must be a number or one of .*, got '\?' in sample 'a'"),
        (ONE, {"repeats": "median"}, cc.InputError, "`repeats` must be one of"),
        ([inspect_log([*JUDGED, JUDGED[1]])], {}, cc.DataError, "once in each epoch, got sample 'b' of epoch 1"),
        ([inspect_log(JUDGED), inspect_log(JUDGED)], {}, cc.DataError, r"1\.json.*, which is in .*0\.json' already"),
        ([inspect_log(JUDGED), inspect_log(without(JUDGED, last="gone"), model="large")], {}, cc.DataError,
         "got 1 that some of them lack: 'small' has sample 'd' and 'large' does not"),
        ([inspect_log(JUDGED), inspect_log([(*JUDGED[0][:2], "no", JUDGED[0][3]), *JUDGED[1:]], model="large")], {},
         cc.DataError, "same label in all logs, got 'yes' for 'small' and 'no' for 'large' in sample 'a'"),
        ([inspect_log([*JUDGED, ("a", 2, "no", {"judge": 1.0})])], {}, cc.DataError, "use repeats='first'"),
        ([inspect_log(JUDGED, status="error")], {}, cc.DataError, "must have finished, got status 'error'"),
        ([inspect_log([])], {}, cc.DataError, "must have samples, got none"),
        ([{"version": 2, "eval": {"task": "x"}, "samples": []}], {}, cc.FormatError, "no id, epoch, model or task"),
        ([{"rows": []}], {}, cc.InputError, "at least one log, got none"),
    ],
)  # fmt: skip
def test_logs_that_cannot_be_used_are_refused_by_name(tmp_path, logs, options, error, message):
    for i, log in enumerate(logs):
        write(tmp_path / f"{i}.json", log)
    with pytest.raises(error, match=message):
        cc.read_eval_logs(tmp_path, **{"label": "target", "score": "judge", "pos_label": "yes", **options})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", b"{", "must be JSON"),
        ("x.json", b"[1]", "must be a log of Inspect"),
        ("x.csv", b"a,b", "must be a log of Inspect"),
        ("x.eval", b"PK nothing", "broken archive"),
        ("samples_x.jsonl", b'{"a": 1}\n', "without 'doc_id'"),
        ("other.jsonl", b'{"doc_id": 1}\n', "must be a log of Inspect"),
    ],
)
def test_files_of_other_formats_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(cc.FormatError, match=message):
        cc.read_eval_logs(tmp_path / name, label="target", score="judge")


@pytest.mark.law
def test_archives_with_wrong_bytes_are_read_or_refused(tmp_path):
    log, path = inspect_log(JUDGED), tmp_path / "x.eval"
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(path, "w", compression) as archive:
            for name, content in archived(log).items():
                archive.writestr(name, content)
        whole = path.read_bytes()
        refused = 0
        for rng in random_worlds(60, stream=92):
            damaged = bytearray(whole[: rng.integers(1, len(whole) + 1)] if rng.random() < 0.1 else whole)
            places = rng.integers(len(damaged), size=rng.integers(1, 4))
            for place in places:
                damaged[place] = rng.choice([0, 1, 9, 255, rng.integers(256)])
            path.write_bytes(damaged)
            try:
                cc.read_eval_logs(path, label="target", score="judge", pos_label="yes")
            except cc.CostCurvesError:
                refused += 1
        assert refused > 12


def test_missing_files_and_damaged_archives_are_refused(tmp_path):
    with pytest.raises(cc.InputError, match="existing file, directory or glob"):
        cc.read_eval_logs(tmp_path / "nowhere.eval", label="target", score="judge")
    path = zstandard_archive(tmp_path / "x.eval", archived(inspect_log(JUDGED)))
    damaged = bytearray(path.read_bytes())
    path.write_bytes(damaged.replace(b"\x28\xb5\x2f\xfd", b"\x00" * 4))  # how compressed members begin
    with pytest.raises(cc.FormatError, match="broken archive"):
        cc.read_eval_logs(path, label="target", score="judge", pos_label="yes")
    with zipfile.ZipFile(tmp_path / "y.eval", "w") as archive:
        archive.writestr("other.json", "{}")
    with pytest.raises(cc.FormatError, match="without header"):
        cc.read_eval_logs(tmp_path / "y.eval", label="target", score="judge")


def test_what_is_incomplete_can_be_left_out(tmp_path):
    write(tmp_path / "a.json", inspect_log(JUDGED[:3]))
    write(tmp_path / "b.json", inspect_log(without(JUDGED), model="large", status="cancelled"))
    with pytest.warns(cc.DroppedRowsWarning, match="label or score: 1, samples that some models lack: 0"):
        found = cc.read_eval_logs(tmp_path, label="target", score="judge", pos_label="yes", on_null="drop")
    assert found.samples.tolist() == ["a", "b", "c"]
    write(tmp_path / "b.json", inspect_log([*JUDGED, ("e", 1, "no", {"judge": 0.0})], model="large"))
    with pytest.warns(cc.DroppedRowsWarning, match="label or score: 0, samples that some models lack: 2"):
        found = cc.read_eval_logs(tmp_path, label="target", score="judge", pos_label="yes", on_null="drop")
    assert found.samples.tolist() == ["a", "b", "c"]


def test_a_new_format_is_one_class_and_one_entry(tmp_path, monkeypatch):
    from costcurves.data.readers import eval_logs

    class Lines:
        suffixes = (".lines",)

        def read(self, path):
            rows = np.loadtxt(path)
            answers = [eval_logs.Logged(i, 1, {"y": int(y), "p": p}) for i, (y, p) in enumerate(rows)]
            return eval_logs.Log(path, self, "lines", "task", "success", answers)

        def find(self, values, place):
            return values[place]

        def places(self, log):
            return ["p"]

    monkeypatch.setattr(eval_logs, "LOG_FORMATS", (*eval_logs.LOG_FORMATS, Lines()))
    (tmp_path / "x.lines").write_text("0 0.25\n1 0.5\n")
    assert cc.read_eval_logs(tmp_path, label="y").score("lines").tolist() == [0.25, 0.5]
