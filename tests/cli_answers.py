"""Commands whose answers are tested: in three forms, against their schemas, and against the library."""

from __future__ import annotations

CREDIT = ("example:german_credit", "--costs", "example:german_credit")
HERE = ("example:german_credit", "--positive", "bad", "--prevalence", "0.3", "--cost-fn", "5", "--cost-fp", "1")
TWO = ("--score", "forest", "--score", "tree")
VEHICLE = ("example:vehicle", "--costs", "example:vehicle")
ANSWERS = {
    "decide": ("decide", *CREDIT, *TWO),
    "decide here": ("decide", *HERE, *TWO, "--assert-better-than", "always positive"),
    "decide within": ("decide", "example:german_credit", "--positive", "bad", "--max-fpr", "0.05"),
    "decide surely": (
        "decide",
        "example:german_credit",
        "--positive",
        "bad",
        "--max-fpr",
        "0.05",
        "--confidence",
        "0.95",
    ),
    "ranges": ("ranges", *CREDIT),
    "ranges everywhere": ("ranges", "example:german_credit", "--positive", "bad"),
    "compare": ("compare", *CREDIT, "--scenario", "uncertain", *TWO, "--assert-not-worse-than", "tree"),
    "compare here": ("compare", *HERE, *TWO),
    "curve": ("curve", "example:german_credit", "--positive", "bad"),
    "bcost": ("bcost", *VEHICLE, "--assert-cost-below", "9"),
    "bdeltacost": ("bdeltacost", *VEHICLE),
    "doctor": ("doctor", "example:german_credit", "--positive", "bad", "--assert-clean"),
    "plan": ("plan", *VEHICLE, "--pred", "logit", "--half-width", "0.1"),
    "plan a difference": ("plan", *VEHICLE, "--pred", "logit", "--pred", "bayes", "--difference", "0.5"),
    "hull": ("hull", "show", "hull.json", *HERE[3:]),
    "hull list": ("hull", "list", "hull.json"),
    "hull of a range": ("hull", "show", "hull.json", "--pc", "0.2..0.6"),
}
