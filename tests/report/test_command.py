"""`costcurves report` and `demo` write the page that the library makes."""

from __future__ import annotations

import csv

import costcurves as cc
from costcurves.cli import main


def german_credit() -> tuple[list[str], dict[str, list[float]]]:
    with open(cc.example_path("german_credit_scores.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = ("logit", "forest", "bayes", "tree")
    return [row["label"] for row in rows], {name: [float(row[name]) for row in rows] for name in names}


def test_demo_writes_the_page_of_the_shipped_scenarios(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    page = tmp_path / "out" / "report.html"
    assert [path.name for path in page.parent.iterdir()] == ["report.html"]
    assert str(page) in printed.replace("\n", "")
    assert "Use forest: call a case bad where forest >= 0.2113." in printed

    labels, scores = german_credit()
    scenarios = cc.read_scenarios(cc.example_path("german_credit_costs.toml"))
    report = cc.Report.from_predictions(
        labels,
        scores,
        pos_label="bad",
        scenarios=scenarios.scenarios,
        currency=scenarios.currency,
        title="German credit",
        source="german_credit_scores.csv",
        command="costcurves report example:german_credit --costs example:german_credit --title 'German credit'",
    )
    assert page.read_text(encoding="utf-8") == report.html()
