"""The page of 2000."""

from __future__ import annotations

from collections import Counter

import numpy as np

from replications.markdown import Outcomes, Page, image, rows_table, settings_text, table
from replications.paper2000 import defaults, figures, sensitivity, table5, table6
from replications.paper2000.domain import CUTS, DISCS, FREQUENCIES, MODELS, by_model, drawn_examples
from replications.study import BEYOND, VERDICTS, Outcome, Row


def _frequencies() -> str:
    _, classes = drawn_examples(1_000_000, 2000)
    ours = np.bincount(classes, minlength=5) / classes.size
    lines = [
        (str(i), f"{100 * p:.2f}", f"{100 * q:.2f}") for i, (p, q) in enumerate(zip(FREQUENCIES, ours, strict=True))
    ]
    return table(("class", "paper, %", "ours, %"), lines)


def _models(outcome: Outcome, printed: dict[str, float], kinds: dict[str, str]) -> str:
    lines = []
    for model in MODELS:
        cells = [model, f"{printed[model]:g}"]
        for kind in kinds:
            values = by_model(outcome.parts, kind)[model]
            cells.append(f"{np.mean(values):.1f} ({min(values):.0f}-{max(values):.0f})")
        lines.append(tuple(cells))
    return table(("model", "paper", *kinds.values()), lines)


def span(outcome: Outcome, kind: str, models: tuple[str, ...]) -> str:
    """The smallest and the largest mean over the matrices, for some models."""
    means = [float(np.mean(by_model(outcome.parts, kind)[model])) for model in models]
    return f"{min(means):.0f}" if len(means) == 1 else f"{min(means):.0f} to {max(means):.0f}"


def _of(rows: tuple[Row, ...], words: str) -> list[Row]:
    return [row for row in rows if words in row.what]


def _counts(outcome: Outcome, words: str, what: str) -> str:
    """Say how many rows of a table have which verdict."""
    rows = [row for row in _of(outcome.rows, words) if row.verdict != BEYOND and not row.item.startswith("Section")]
    counts = Counter(row.verdict for row in rows)
    told = ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS if counts[verdict])
    return f"{what}: {told} of {len(rows)}"


def _methods(outcome: Outcome, kind: str) -> str:
    found = defaults.table(outcome.parts, kind)
    lines = [(name, *(f"{values[m]:.0f}" for m in MODELS)) for name, values in found.items()]
    return table(("interval", *MODELS), lines)


def _widths(outcome: Outcome) -> str:
    found = defaults.table(outcome.parts, "width")
    lines = [(name, *(f"{values[m]:.2f}" for m in MODELS)) for name, values in found.items()]
    return table(("interval", *MODELS), lines)


def _rare(outcome: Outcome) -> str:
    tenth, small = sensitivity.LAPLACES.index(0.1), sensitivity.LAPLACES.index(0.04)
    lines = [
        (
            f"{part['model']}, {part['matrix'] + 1}",
            f"{100 * part['rare_missed']:.0f} %",
            f"{100 * part['rare_cost']:.0f} %",
            f"{1000 * part['coverage'][tenth]:.0f}",
            f"{1000 * part['coverage'][small]:.0f}",
            f"{1000 * part['mid_p']:.0f}",
        )
        for part in outcome.parts
        if part["model"] in ("M6", "M9")
    ]
    head = ("model, matrix", "class 3 missed", "of the cost", "λ = 0.1", "λ = 1/k²", "mid-P")
    return table(head, lines)


def _at(outcome: Outcome, laplace: float, models: tuple[str, ...]) -> str:
    found = sensitivity.curves(outcome.parts)
    values = [1000 * found[model][sensitivity.LAPLACES.index(laplace)] for model in models]
    return f"{min(values):.0f} to {max(values):.0f}"


def _at_most(outcome: Outcome, kind: str) -> str:
    """Say where the intervals with s instead of s/√n do not behave as the paper reports."""
    odd = [row for row in outcome.rows if kind in row.what and row.ours != row.paper]
    if not odd:
        return "in every case"

    def words(row: Row) -> str:
        model, changed = row.item.split(", ")[1], row.what.split(", ")[2:]
        return f"{model} ({', '.join([f'{row.ours:.4g} of 1000', *changed])})"

    return "in all cases except " + ", ".join(words(row) for row in odd)


def _recommendation(outcome: Outcome, all_matrices: Outcome) -> str:
    mid_p = {m: 1000 * float(np.mean(values)) for m, values in by_model(all_matrices.parts, "mid_p").items()}
    lowest = 1000 * min(part["mid_p"] for part in all_matrices.parts)
    tenth = sensitivity.curves(all_matrices.parts)["M9"][sensitivity.LAPLACES.index(0.1)]

    def span(kind: str, name: str) -> str:
        each = defaults.table(outcome.parts, kind)[name]
        low, high = min(each, key=lambda m: each[m]), max(each, key=lambda m: each[m])
        return f"{each[low]:.0f} ({low}) to {each[high]:.0f} ({high})"

    wide = defaults.table(outcome.parts, "width")["mid-P"]
    return f"""### What follows

- **For the cost of one classifier, use the mid-P interval** (`method="mid-p"` of `bcost`). It has no constant to choose. Over the
  nine models it covers {span("cost", "mid-P")} of 1000, and {span("cost_by_class", "mid-P")} with fixed class sizes.
  λ = 0.1 covers {span("cost", "λ = 0.1")} and {span("cost_by_class", "λ = 0.1")}, and λ = 0 covers
  {span("cost", "λ = 0")} and {span("cost_by_class", "λ = 0")}. These results are for three matrices per model. Over all ten
  matrices of figure 2, the mid-P interval covers {min(mid_p.values()):.0f} to {max(mid_p.values()):.0f} of 1000 (M9: {mid_p["M9"]:.0f}, where λ = 0.1 has
  {1000 * tenth:.0f}), and {lowest:.0f} for the worst matrix. The price is a greater width: {wide["M1"]:.2f} times the ideal for M1 and
  {wide["M6"]:.1f} times for M6, where the data do not show what the rare errors cost.
- **For BCost as in the paper, use λ = 2.5/k²**, which is the paper's 0.1 at its k = 5. What biases the interval is the weight
  of all cells together, λk² examples: 2.5 in the paper, but 1000 with λ = 0.1 and a hundred classes. λ = 1/k² (one example
  in total) is nearly as good here, but worse where a whole class is missed. λ = 0.5 (12.5 examples) is biased. λ = 0 does
  not allow for errors that were not observed.
- **For the difference of two classifiers, use λ = 0**, as the paper does: {span("equal", "λ = 0")} of 1000 equal pairs are not
  rejected. The paired z test does about as well ({span("equal", "normal")}). Any λ that is large enough to have an effect
  makes the test too conservative for M6, M7 and M9. So does the mid-P test ({span("equal", "mid-P")}), which allows for
  errors in all k³ cells and is meant for cases in which a false rejection must be avoided. With fixed class sizes and two
  examples of a class that determines the cost, λ = 0 rejects too often ({span("equal_by_class", "λ = 0")}), and so does the
  z test ({span("equal_by_class", "normal")}). In that case λ = 1/k² is the better choice ({span("equal_by_class", "λ = 1/k²")})."""


def text(outcomes: Outcomes) -> str:
    """Write the text of the page."""
    five, two, six = (outcomes[name] for name in ("table5", "figure2-2000", "table6"))
    power, normal, beyond = (outcomes[name] for name in ("power", "normal-2000", "defaults-2000"))
    discs = "; ".join(f"class {c}: centre ({x:g}, {y:g}), radius {r:.5f}" for c, (x, y, r) in DISCS.items())
    resampled = [abs(a - b) for a, b in zip(*five.series("exact", "resampled"), strict=True)]
    return f"""
D. D. Margineantu and T. G. Dietterich, *Bootstrap methods for the cost-sensitive evaluation of classifiers*, ICML 2000.

On another domain, with another tree and other random cost matrices, BCost and BDeltaCost do most of what the paper says.
{_counts(five, "BCost", "Table 5")}; {_counts(six, "λ = 0)", "Table 6")}; {_counts(two, "", "figure 2")}. A count replicates if it is within three
standard errors of the difference and within 15 of 1000. With cost model M9 (and one matrix
of M6), BCost is not too wide but too narrow here, because the tree misses nearly all of a rare class. What the paper says
about **normal theory does not replicate**: the normal interval covers {span(five, "normal", ("M1", "M2", "M3", "M4", "M5", "M8"))} of
1000 for M1 to M5 and M8, {span(five, "normal", ("M7",))} for M7 and {span(five, "normal", ("M6", "M9"))} for M6 and M9, not 1000,
and the paired z test rejects. (The paper says that the normal interval always covered "for all five cost models". It has nine and
does not name the five.) Intervals that use s instead of s/√n behave as the paper reports in most cases (see below).

## The domain

{settings_text(five)}

The paper does not give the boundaries of its figure 1 in numbers. Ours are as follows. Points are uniform in the unit square.
They belong to class 0, 1 or 2 if y + 0.12 sin 2πx is below {CUTS[0]}, between, or above {CUTS[1]}. Two discs are the other
classes ({discs}).

{image("2000-domain.png", "The five classes in the unit square")}

{_frequencies()}

{rows_table(_of(five.rows, "class frequency"))}

The classifier is a decision tree trained on 1,000 examples, which are weighted by the mean cost of their class as in the
paper. scikit-learn's tree replaces C4.5. It splits by entropy, where C4.5 uses the gain ratio, and is not pruned (both keep
at least two examples per leaf). Its error rate over all cost matrices is {100 * np.mean(five.series("errors")[0]):.1f} % on average
({100 * min(five.series("errors")[0]):.1f} to {100 * max(five.series("errors")[0]):.1f} %). The million test examples are divided
into 1,000 test sets of 1,000, and the mean cost over all of them is the true cost, as in the paper. The cost models and the
nominal level of 95 % are those of the paper. Each model has ten random cost matrices, and the range in parentheses is over
these.

## Table 5: how often the interval contains the true cost

{_models(five, table5.PRINTED, {"exact": "BCost, exact", "resampled": "BCost, 1000 resamples", "normal": "normal interval (paper: 1000)"})}

The exact bootstrap (without resampling) and the paper's 1,000 resamples differ in {np.mean(resampled):.1f} of 1000 test sets on
average, mainly because the ends that 1,000 resamples give vary.

{rows_table(_of(five.rows, "BCost"))}

If the tree misses about nine in ten or more of class 3, λ = 0.1 may not be enough. Class 3 has 1.6 of 1,000 examples, so one
test set in five has no example of it. In such a set BCost allows for about one error in a cell in which none was observed,
whereas the true cost includes 1.6 of them. The paper's trees must have classified more of class 3 correctly. The following
table shows, by matrix, the share of class 3 that is missed, its share of the cost, and the coverage with λ = 0.1, with
λ = 1/k², and of the mid-P interval (see the end of this page):

{_rare(two)}

### The normal interval

{rows_table(_of(five.rows, "normal"))}

The paper describes a variance "of σ/√n, where σ is the variance". This suggests that its normal intervals were not divided by
the right power of n. With mean ± 1.96 s instead of mean ± 1.96 s/√n, the intervals contain the true cost
{_at_most(normal, "covers")}, and the paired test does not reject {_at_most(normal, "paired test")}
(`python -m replications run normal-2000`, three matrices per model, 200 test sets). Apart from these exceptions, this is what
the paper reports for both. We cannot know whether it was the cause.

## Figure 2: the choice of λ

{settings_text(two)}

{image("2000-figure2.png", "Coverage against λ")}

Just above λ = 0.1 the coverage for M6 and M9 jumps to {_at(two, 0.15, ("M6", "M9"))} of 1000 at λ = 0.15, where BCost begins to
allow for a second error in an empty cell. The other models have {_at(two, 0.15, ("M1", "M2", "M3", "M4", "M5", "M7", "M8"))}
there. The position of the jump depends on the frequency of the rare class and on the size of the test set.

{rows_table(two.rows)}

## Table 6: two classifiers of equal cost

{settings_text(six)} The second classifier has the labels of the first, permuted within each true class.

{_models(six, table6.PRINTED, {"exact": "BDeltaCost, λ = 0", "laplace": "BDeltaCost, λ = 0.1", "normal": "paired z test (paper: 1000)"})}

{rows_table(six.rows)}

The paper says of M6, M7 and M9 that H0 is rejected with a probability below 0.005 "for any λ > 0". This is judged with the
values of λ that we tried, on three matrices per model:

{rows_table(_of(beyond.rows, "any λ"))}

## Figures 3 to 5: power

{settings_text(power)} The paper ran the test 10 times per point and averaged three matrices. Here every point has 1,000
test sets. A changed label is replaced by one of the four others at random.

{image("2000-figure3.png", "Share of H0 not rejected against the ratio of costs")}

{image("2000-figure4.png", "Share of H0 not rejected against the number of labels changed; crosses: the paired z test")}

The crosses in figure 4 are the paired z test. The bars in figure 5 are the range over the cost matrices, which the paper
calls minor except for M6 and M9 when q is large. Among ours it is also large for the other models where the curves fall. A
share that is left when all labels are changed replicates within two standard errors and 0.1, a range of up to 0.15 counts as
minor, and "most" is more than half.

{image("2000-figure5.png", "The range over the cost matrices")}

{rows_table(power.rows)}

## Beyond the paper: which interval should be the default?

{settings_text(beyond)}

Number of intervals, out of 1000, that contain the true cost (Table 5 with other intervals):

{_methods(beyond, "cost")}

The same for test sets with fixed class sizes ({", ".join(f"{1000 * p:.0f}" for p in FREQUENCIES)} examples) and known priors, so
that there are only two examples of class 3:

{_methods(beyond, "cost_by_class")}

Number of tests, out of 1000, that do not reject equal costs (Table 6 with other intervals):

{_methods(beyond, "equal")}

The same with fixed class sizes and known priors:

{_methods(beyond, "equal_by_class")}

Mean widths of the intervals for a cost, in units of 2 · 1.96 true standard errors:

{_widths(beyond)}

{_recommendation(beyond, two)}
"""


PAGE = Page(
    "2000",
    "Margineantu & Dietterich 2000: BCost and BDeltaCost",
    ("table5", "figure2-2000", "table6", "power", "normal-2000", "defaults-2000"),
    text,
    {
        "2000-domain.png": figures.domain,
        "2000-figure2.png": figures.figure2,
        "2000-figure3.png": figures.figure3,
        "2000-figure4.png": figures.figure4,
        "2000-figure5.png": figures.figure5,
    },
)
