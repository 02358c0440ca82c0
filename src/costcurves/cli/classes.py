"""`bcost`, `bdeltacost` and `plan`: costs of k classes, from predicted classes and a cost matrix."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console

import costcurves as cc
import costcurves.cli._answers as types
from costcurves._base.results import jsonable
from costcurves._base.text import level_text, safe
from costcurves._base.validation import DEFAULT_LEVEL
from costcurves.cli._ci import GateReports
from costcurves.cli._gates import Gate, candidate_of, cheaper, cost_below, not_costlier, show_gates
from costcurves.cli._groups import COSTS, GATES, HOW, option, with_groups
from costcurves.cli._input import ClassTable, read_classes, read_matrix
from costcurves.cli._options import Candidate, DropMissing, Label, Level, MatrixName, Pred, Strict, announce, finite
from costcurves.cli._print import (
    Output,
    Problem,
    chance,
    heading,
    line,
    listing,
    money,
    new_grid,
    padded,
    percent,
    quoted,
    sureness,
    working,
)
from costcurves.conditions.scenarios import Scenarios
from costcurves.inference.cost_methods import DEFAULT_METHOD, CostMethodName
from costcurves.multiclass.bdeltacost import CostDifference
from costcurves.multiclass.comparison import CostComparison
from costcurves.multiclass.risks import CellRisk

Method = Annotated[
    str,
    option(
        HOW,
        "NAME",
        "How limits are found: tilted holds even if costly errors are rare, exact and resample are the bootstrap of "
        "the paper, and there are mid-p and gaussian.",
    ),
]


@dataclass(frozen=True, slots=True)
class Classes:
    """Which table of predicted classes to read, and what errors cost."""

    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A table of predicted classes: csv, parquet or json lines (also .gz, .zst), a glob or folder of them, "
            "BASE.duckdb:TABLE, or - for standard input. example:vehicle comes with the package.",
            show_default=False,
        ),
    ]
    costs: Annotated[
        Path,
        option(
            COSTS,
            "TOML|CSV",
            "The cost matrix: a [matrices.NAME] in costs.toml, or a csv with the true classes in its first column.",
            show_default=False,
        ),
    ]
    matrix: MatrixName = None
    label: Label = None
    pred: Pred = None
    drop_missing: DropMissing = False
    strict: Strict = False

    def load(self) -> tuple[ClassTable, cc.CostMatrix, Scenarios]:
        """Return predicted classes, the cost matrix and what else its file says, such as the currency."""
        prices, known = read_matrix(self.costs, self.matrix)
        data = read_classes(
            self.file, label=self.label, preds=self.pred or [], drop_missing=self.drop_missing, strict=self.strict
        )
        announce(data)
        for name, values in {data.label: data.y_true, **data.predictions}.items():
            if strange := sorted(set(values) - set(prices.labels)):
                raise Problem(
                    f"{quoted(name)} has classes that the cost matrix lacks: "
                    f"{listing([quoted(s) for s in strange[:5]])}; "
                    f"it has {listing([quoted(label) for label in prices.labels])}"
                )
        return data, prices, known


@with_groups
def bcost(
    table: Classes,
    level: Level = DEFAULT_LEVEL,
    method: Method = DEFAULT_METHOD,
    laplace: Annotated[
        float | None,
        option(HOW, "N", "Added to each cell of the counts by --method exact; 2.5/k² for k classes by default."),
    ] = None,
    assert_cost_below: Annotated[
        float | None,
        option(
            GATES,
            "MONEY",
            "Fail unless the upper confidence limit of every classifier's cost is below this.",
            callback=finite("--assert-cost-below"),
        ),
    ] = None,
    *,
    reports: GateReports,
    out: Output,
) -> None:
    """costcurves bcost example:vehicle --costs example:vehicle

    Say what each classifier of k classes costs per case, with an interval (BCost) that allows for costly errors which
    the rows do not show. Rows of a cost matrix are true classes, columns predicted ones.
    """
    reports.check(assert_cost_below is not None, table.file, out)
    data, prices, known = table.load()
    currency = known.currency
    with working("counting"), warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.SmallSampleWarning)  # the risks are printed below
        found = {
            name: cc.bcost(
                data.y_true, values, prices, level=level, method=cast(CostMethodName, method), laplace=laplace
            )
            for name, values in data.predictions.items()
        }
    gates = (
        []
        if assert_cost_below is None
        else [cost_below(one, assert_cost_below, name, currency, one.n) for name, one in found.items()]
    )
    order = sorted(found, key=lambda name: found[name].estimate)
    constant, constant_cost = found[order[0]].constant, found[order[0]].constant_cost

    def show(screen: Console) -> None:
        heading(screen, data.summary())
        unit = f" ({safe(currency)})" if currency else ""
        grid = new_grid("", f"cost per case{unit}", f"{level_text(level)} interval", numbers=(1,))
        for name in order:
            one = found[name]
            grid.add_row(safe(name), padded(one.estimate), f"{padded(one.lower)} to {padded(one.upper)}")
        grid.add_row(safe(constant), padded(constant_cost), "")
        screen.print()
        screen.print(grid)
        for name in order:
            _show_risks(screen, name, found[name].risks, currency)
        for name in order:
            if constant_cost < found[name].estimate:
                line(screen, f"{safe(name)} costs more than no classifier: {safe(constant)}.", "yellow")
        if len(order) > 1:
            screen.print("Intervals that overlap may still differ: bdeltacost compares on the same rows.", style="dim")
        show_gates(gates, screen)

    columns = {"classifier": list(found)} | {
        key: [getattr(one, key) for one in found.values()]
        for key in ("estimate", "lower", "upper", "level", "method", "laplace", "n")
    }
    document: types.BCost = {
        "schema": "costcurves/bcost/1",
        "data": data.document(),
        "currency": currency,
        "level": level,
        "method": method,
        "laplace": found[order[0]].laplace,
        "classifiers": [
            {
                "classifier": name,
                "estimate": one.estimate,
                "lower": one.lower,
                "upper": one.upper,
                "risks": jsonable(one.risks),
            }
            for name, one in found.items()
        ],
        "constant": {"classifier": constant, "cost": constant_cost},
        "gates": [gate.document() for gate in gates],
    }
    out.emit(show, document, columns)
    reports.leave("bcost", gates, out, show)


def _show_risks(screen: Console, name: str, risks: Sequence[CellRisk], currency: str) -> None:
    """Print the first few errors of a classifier that the rows cannot judge."""
    for risk in risks[:3]:
        enough = f"; about {risk.needed:,} rows would be" if risk.needed is not None else ""
        line(
            screen,
            f"{safe(name)}: true {safe(risk.true)} predicted {safe(risk.predicted)} costs "
            f"{money(risk.cost, currency)} and was seen {risk.count} times: too few to judge{enough}.",
            "yellow",
        )


@dataclass(frozen=True, slots=True)
class PairGates:
    """What a pipeline asserts of two classifiers."""

    candidate: Candidate = None
    assert_not_worse_than: Annotated[
        str | None,
        option(
            GATES,
            "NAME",
            "Fail if the candidate costs significantly more than NAME. Few rows rarely show that: add --margin.",
        ),
    ] = None
    margin: Annotated[
        float | None,
        option(
            GATES,
            "MONEY",
            "Make --assert-not-worse-than a proof: fail unless the upper limit of the candidate's excess cost per case "
            "is at most this.",
            callback=finite("--margin"),
        ),
    ] = None
    assert_better_than: Annotated[
        str | None,
        option(
            GATES,
            "NAME",
            "Fail unless the candidate costs significantly less than NAME, which may be \"always 'LABEL'\".",
        ),
    ] = None

    def judge(self, many: CostComparison, currency: str) -> list[Gate]:
        """Return the verdicts."""
        gates = []
        if (baseline := self.assert_not_worse_than) is not None:
            gates.append(not_costlier(_pair(many, self.candidate, baseline), self.margin, currency))
        if (baseline := self.assert_better_than) is not None:
            gates.append(cheaper(_pair(many, self.candidate, baseline)))
        return gates


@with_groups
def bdeltacost(
    table: Classes,
    level: Level = DEFAULT_LEVEL,
    method: Method = DEFAULT_METHOD,
    *,
    gates: PairGates,
    reports: GateReports,
    out: Output,
) -> None:
    """costcurves bdeltacost example:vehicle --costs example:vehicle

    Say which classifier of k classes costs least, on the same rows: BDeltaCost of all pairs, and of each classifier
    against always predicting one class. Limits and p-values hold for all comparisons together.
    """
    reports.check(gates.assert_not_worse_than is not None or gates.assert_better_than is not None, table.file, out)
    data, prices, known = table.load()
    currency = known.currency
    if gates.margin is not None and gates.assert_not_worse_than is None:
        raise Problem("--margin goes with --assert-not-worse-than")
    with working("comparing"), warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.SmallSampleWarning)  # the risks are printed below
        many = cc.bdeltacost_many(
            data.y_true, data.predictions, prices, level=level, method=cast(CostMethodName, method)
        )
    verdicts = gates.judge(many, currency)

    def show(screen: Console) -> None:
        heading(screen, data.summary())
        screen.print()
        line(screen, _winner(many), "bold green" if many.sure else "bold yellow")
        line(screen, sureness(many.rivals, level_text(level)))
        _show_risks(screen, many.best_name, many.risks, currency)
        unit = f" ({safe(currency)})" if currency else ""
        grid = new_grid(
            "a", "b", f"a - b per case{unit}", f"{level_text(level)} interval", "adjusted p", "cheaper", numbers=(2,)
        )
        for pair, p in zip(many.pairs, many.adjusted.tolist(), strict=True):
            grid.add_row(
                *(safe(name) for name in pair.names),
                padded(pair.estimate),
                f"{padded(pair.lower)} to {padded(pair.upper)}",
                chance(p),
                "not shown" if pair.cheaper is None else safe(pair.cheaper),
            )
        screen.print()
        screen.print(grid)
        screen.print(
            f"Jointly for all pairs at {level_text(level)}; {safe(many.constant)}, the cheapest of those that always "
            "predict one class, stands for all of them.",
            style="dim",
        )
        show_gates(verdicts, screen)

    document: types.BDeltaCost = {
        "schema": "costcurves/bdeltacost/1",
        "data": data.document(),
        "currency": currency,
        "level": level,
        "method": method,
        "costs": dict(zip(many.names, many.costs.tolist(), strict=True)),
        "constants": dict(zip(many.constants, many.constant_costs.tolist(), strict=True)),
        "best": many.best_name,
        "sure": many.sure,
        "rivals": list(many.rivals),
        "risks": jsonable(many.risks),
        "pairs": many._records(),
        "gates": [gate.document() for gate in verdicts],
    }
    out.emit(show, document, many._columns())
    reports.leave("bdeltacost", verdicts, out, show)


def _winner(many: CostComparison) -> str:
    """Return who costs least."""
    if many.best_name in many.constants:
        return f"Use no classifier: {safe(many.best_name)} costs least on these rows."
    return f"{safe(many.best_name)} costs least on these rows."


def _pair(many: CostComparison, candidate: str | None, baseline: str) -> CostDifference:
    """Return the comparison of the candidate with the baseline, as the candidate's cost minus the other's.

    A baseline that always predicts one class stands for the cheapest such: who is shown to cost less than that costs
    less than each of them.
    """
    constant = baseline in many.constants
    names = (*many.names, baseline) if constant else many.names
    name = candidate_of(candidate, baseline, names)
    return many.pair(name, many.constant if constant else baseline)


@with_groups
def plan(
    table: Classes,
    half_width: Annotated[
        float | None, option(HOW, "MONEY", "Wanted half-width of the interval of one classifier's cost.")
    ] = None,
    difference: Annotated[
        float | None,
        option(HOW, "MONEY", "Difference in cost between two classifiers that the test set must be able to show."),
    ] = None,
    power: Annotated[float, option(HOW, "P", "Probability with which the difference is to be found.")] = 0.8,
    level: Level = DEFAULT_LEVEL,
    *,
    out: Output,
) -> None:
    """costcurves plan example:vehicle --costs example:vehicle --pred logit --half-width 0.1

    Say how many rows a test set needs, by the errors in a first one: for an interval of the wanted half-width (one
    --pred), or to find a difference between two classifiers (two --pred and --difference).
    """
    if (half_width is None) == (difference is None):
        raise Problem("say what the test set is for: one of --half-width and --difference")
    data, prices, known = table.load()
    currency = known.currency
    wanted = 1 if difference is None else 2
    if len(data.predictions) != wanted:
        option = "--half-width" if difference is None else "--difference"
        raise Problem(
            f"{option} goes with {wanted} --pred, got {len(data.predictions)}: {listing(list(data.predictions))}"
        )
    columns = [data.y_true, *data.predictions.values()]
    kind: Any = cc.ConfusionMatrix if difference is None else cc.JointConfusion
    pilot = kind.from_predictions(*columns, labels=prices.labels)
    with working("planning"):
        found = cc.plan_test_size(pilot, prices, half_width=half_width, difference=difference, power=power, level=level)

    def show(screen: Console) -> None:
        heading(screen, data.summary())
        names = listing(list(data.predictions))
        if difference is None:
            goal = f"an interval of the cost of {names} with half-width {money(found.target, currency)}"
        else:
            goal = (
                f"a chance of {percent(power)} to find a difference of {money(found.target, currency)} between {names}"
            )
        screen.print()
        line(screen, f"{found.n:,} rows are needed for {goal}, at {level_text(level)}.", "bold green")
        line(screen, f"Without a first test set, by the range of costs alone: {found.n_range:,}.")
        for error in found.rare:
            line(
                screen,
                f"The chance that these rows show no {safe(error.true)} that is taken for {safe(error.predicted)} "
                f"({money(error.cost, currency)}) is {percent(error.chance_missed)}.",
                "yellow",
            )

    document: types.Plan = {
        "schema": "costcurves/plan/1",
        "data": data.document(),
        "currency": currency,
        "n": found.n,
        "goal": "half_width" if difference is None else "difference",
        "target": found.target,
        "level": found.level,
        "power": found.power,
        "n_normal": found.n_normal,
        "n_range": found.n_range,
        "std": found.std,
        "rare": jsonable(found.rare),
    }
    out.emit(show, document, found._columns())


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(short_help="k classes: what each classifier costs, with an interval.")(bcost)
    app.command(short_help="k classes: which classifier costs less, on the same rows.")(bdeltacost)
    app.command(short_help="k classes: how many rows a test set needs.")(plan)
