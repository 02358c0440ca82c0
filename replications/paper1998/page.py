"""The page of 1998."""

from __future__ import annotations

import numpy as np

from replications.markdown import Outcomes, Page, image, rows_table, settings_text, table
from replications.paper1998 import figures
from replications.paper1998.analysis import agreement, written
from replications.paper1998.bags import CODINGS
from replications.paper1998.folds import DOMAINS
from replications.paper1998.members import BAGS, PAPER, TODAY
from replications.paper1998.significance import sure_dominator
from replications.paper1998.simulated import ASKED, VERSIONS
from replications.paper1998.splits import mean_shares
from replications.paper1998.table1 import MOST, PRINTED
from replications.study import BEYOND, Outcome, Part

DIFFERENCES = (
    (
        "MC4",
        "splits by information gain, at least two examples in two branches, C4.5's pessimistic pruning (exact limits), Laplace at the leaves; a nominal attribute has a branch for each value",
        "the paper does not give the criterion and the pruning of MLC++'s version; the table at the end shows the effects of gain ratio, of no pruning and of no Laplace correction",
    ),
    (
        "Bagged-MC4",
        f"{BAGS} trees on bootstrap samples, their probabilities averaged",
        f"the paper gives no number; {BAGS} was usual at the time (Opitz & Maclin 1999)",
    ),
    (
        "NB",
        "cuts by entropy and minimum description length (Fayyad & Irani), counts plus one, missing values left out",
        "MLC++ may treat unseen values differently, which affects few counts. We rank by log-odds, so that examples do not tie only because their probabilities round to 1",
    ),
    (
        "IB1, IB3, IB5",
        "attributes scaled to 0-1, overlap distance of nominal values, missing values at the largest possible distance, votes of all examples up to the distance of the k-th",
        "the paper does not say which k it used besides 3 and 5; ties matter if attributes are nominal (German, DNA)",
    ),
    (
        "the data",
        "nine UCI data sets with all rows, the minority class against the rest; 0/1 attributes are nominal",
        "the paper does not say which rows of Adult it used; DNA's two small classes differ by two rows, so its minority class may have been the other one; Breast cancer is the Wisconsin set",
    ),
)


def _domains(parts: list[Part]) -> str:
    lines = [
        (
            DOMAINS[part["domain"]],
            f"{part['rows']:,}",
            f"`{part['positive']}`",
            f"{100 * part['positives'] / part['rows']:.1f} %",
        )
        for part in parts
    ]
    return table(("domain", "examples", "positive class", "share"), lines)


def _numbers(parts: list[Part], kind: str, digits: int) -> str:
    names = (*PAPER, *TODAY)
    lines = []
    for part in parts:
        values = [part[kind][name] for name in names]
        cells = [f"**{value:.{digits}f}**" if value == max(values) else f"{value:.{digits}f}" for value in values]
        lines.append((DOMAINS[part["domain"]], *cells))
    return table(("domain", *names), lines)


def _tables(parts: list[Part]) -> str:
    lines = []
    for part in parts:
        groups = part["groups"]
        cells = (PRINTED[part["domain"]], groups["paper"]["ranges"], groups["all"]["ranges"])
        lines.append((DOMAINS[part["domain"]], *(written(cell) for cell in cells)))
    return table(("domain", "paper", "ours", "ours, with present-day learners"), lines)


def _own(outcome: Outcome, *, beyond: bool) -> str:
    return rows_table(row for row in outcome.rows if (row.verdict == BEYOND) == beyond)


def text(outcomes: Outcomes) -> str:
    """Write the text of the page."""
    main, raw, splits, variants, bags, ratios, tests = (outcomes[name] for name in PAGE.studies)
    return f"""
F. Provost, T. Fawcett and R. Kohavi, *The case against accuracy estimation for comparing induction algorithms*, ICML 1998.

The paper asks whether standard learners give **dominating** models on standard data, that is, models whose ROC curve lies
nowhere below another's. Only then would the more accurate model be better whatever the costs are. On ten domains it found
one dominating model. This page repeats the study on nine of them, first with new
implementations of the learners and then with three present-day learners.

{settings_text(main)}

Curves are averaged over ten stratified folds by the paper's method (`average_roc_curves`). Table 1 is taken from the hull of
the averaged curves (`RocHull.ranges`). Differences are tested on the out-of-fold scores with bands that hold for all pairs
and all conditions at once (`compare_many`). A classifier is called a *significant* dominator if, compared with each of the
others, it costs significantly less somewhere and significantly more nowhere.

{_domains(main.parts)}

Our learners differ from those of the paper's library MLC++ in the following ways, which may change the results:

{table(("learner", "ours", "what differs"), DIFFERENCES)}

## Figure 1: raw curves of one test set

{settings_text(raw)} The text that we have does not name the two domains of the figure. It says that they are two of the
largest, that naive Bayes dominates in the first (a), and that nobody does in the second (b). Two of the four largest
are shown: the one in which naive Bayes comes nearest to dominating, and the largest of the others.

{image("1998-figure1.png", "Raw ROC curves of six inducers on the test sets of two domains")}

{rows_table(raw.rows)}

## Figures 2 and 3: averaged curves

{image("1998-curves.png", "Averaged ROC curves of six inducers on nine domains, with the paper's pointwise intervals")}

## Table 1: which classifier is best where

{image("1998-table1.png", "Which classifier is best at which pc, in the paper and here")}

Classifiers are listed from the smallest slope to the largest. The number after a name is the slope up to which it is best
(pc = 1 / (1 + slope)).

{_tables(main.parts)}

The table of a domain **replicates** if it has the same names in the same order and names the same classifier for at least
{100 * MOST:.0f} % of all pc. Naive Bayes and bagged trees fill most of the table, so two unrelated rows agree for much of pc. A
row therefore replicates in direction only if it agrees more with the paper's row than our rows of all other domains do.
An absolute dominator is one whose averaged curve lies nowhere below another, which is the paper's definition; one that
dominates only by its hull counts as in direction. Other statements of the paper have no numbers either. "All" domains may
have one exception (in direction: half of them hold), "many" are at least half (in direction: some), and "very few" runs are
at most a tenth (in direction: half).

## Verdicts

{_own(main, beyond=False)}

How much of Table 1 is due to the domain, and how much to the assignment of examples to folds? The study was repeated with
five other assignments on the five domains with at most a thousand examples:

{settings_text(splits)}

{rows_table(splits.rows)}

{_conclusion(main, splits)}

## Accuracy and area

The share of correct predictions at the learners' own threshold:

{_numbers(main.parts, "accuracy", 3)}

The area under the averaged curve:

{_numbers(main.parts, "auc", 3)}

## Present-day learners

These are the random forest, gradient boosting (`HistGradientBoostingClassifier`) and logistic regression of scikit-learn with
their default settings. Nominal attributes are converted to indicators, except for gradient boosting, which accepts them
directly. For logistic regression, missing numbers are replaced by the mean.

{image("1998-today.png", "Averaged ROC curves of three present-day learners, naive Bayes and bagged trees")}

{_own(main, beyond=True)}

{_answer(main)}

## Other trees

{settings_text(variants)} Adult was run only with gain ratio and ten trees per bag, and is not included in the means.

{rows_table(variants.rows)}

{_trees(variants, splits)}

## DNA and Adult with other settings

{settings_text(bags)} The study uses class `ie`, 180 indicators, gain and 25 trees in a bag for DNA, and gain and 25 trees for
Adult. {_not_run(bags)}

{rows_table(bags.rows)}

{_dna(bags)}

{_adult(main, variants, bags)}

## Other class ratios (sections 3.1 and 3.4)

{settings_text(ratios)} Of the class that is too frequent at a share, a random part is left out of training. A composite curve
is the hull of a learner's averaged curves at all shares, which is the paper's proposal; whether it is significantly better is
judged with versions that are chosen on other folds (`significant_dominance(versions=)`). Section 3.1 was examined with two
learners of scikit-learn (`ReproportionedClassifier.compare_with_threshold`).

{rows_table(ratios.rows)}

## Tests of dominance

The paper calls classifiers significant dominators without stating its test. Its own intervals suggest one: the intervals of
two averaged curves do not overlap (`significant_dominance(test="intervals")`). Here it is compared with limits of the
differences that hold at all points together (`test="paired"`), with costs instead of rates, and with composites of
{VERSIONS} versions, on drawn scores whose true curves are known.

{settings_text(tests)}

{_tests(tests)}

At a nominal 5 %, the paper's intervals tell equal classifiers apart far too often, because they hold at each point by
themselves and ignore that thresholds are estimated from the negatives. The other tests told them apart in at most
{_most_false(tests):.0f} % of the data sets of a world. But a classifier that is significantly better somewhere and significantly
worse nowhere need not dominate: if curves cross, this rule often names a dominator, since it takes missing evidence for
evidence. A sure claim is only that one is better at all points of a region
(`dominators`), and how much worse it can be at most (`most_worse`).
"""


def _tests(tests: Outcome) -> str:
    """Make a table of the shares of data sets, with one row per world, size and test."""
    heads = (
        "scores",
        "cases",
        "test",
        "any claim",
        "a false claim",
        "better somewhere, worse nowhere",
        "better everywhere",
    )
    lines = []
    for part in tests.parts:
        for name, count in part["counts"].items():
            false = (
                count["false"]
                if ASKED[name].get("space") == "roc"
                else count["any"]
                if "equal" in part["world"]
                else None
            )
            cells = (count["any"], false, count["unrefuted"], count["dominator"])
            shares = ["" if cell is None else f"{cell / part['sets']:.2f}" for cell in cells]
            lines.append((part["world"], f"{part['n_pos']} + {part['n_neg']}", name, *shares))
    return table(heads, lines)


def _most_false(tests: Outcome) -> float:
    """The largest share of data sets, in percent, in which a test other than "intervals" tells equal scores apart."""
    return max(
        100 * float(count["any"]) / float(part["sets"])
        for part in tests.parts
        if "equal" in part["world"]
        for name, count in part["counts"].items()
        if name != "intervals"
    )


def _conclusion(main: Outcome, splits: Outcome) -> str:
    own, paper = mean_shares(splits.parts)
    count = sum(part["groups"]["paper"]["hull_dominator"] is not None for part in main.parts)
    return f"""The paper's main finding holds here too: on {len(main.parts) - count} of {len(main.parts)} domains no classifier dominates, not even by its hull. Its
Table 1, however, depends much on the folds, at least on the small domains. Two of our own splits name different classifiers
for {100 * (1 - own):.0f} % of pc on average, and one of our splits and the paper's for {100 * (1 - paper):.0f} %. Other folds alone could
therefore explain much of the disagreement with the paper. Each row of Table 1 above gives the cost of following
the paper's table on our curves. It is low, because classifiers that change places are close to each other."""


def _answer(main: Outcome) -> str:
    def count(label: str, key: str) -> int:
        return sum(part["groups"][label][key] is not None for part in main.parts)

    sure = {label: [sure_dominator(part["groups"][label]) for part in main.parts] for label in ("today", "all")}
    some = {label: sum(name is not None for name in names) for label, names in sure.items()}
    total = len(main.parts)
    return f"""Do present-day learners dominate? Among the three, one curve lies nowhere below the others on {count("today", "dominator")} of {total} domains, and one
hull on {count("today", "hull_dominator")}. Among all nine learners, this is so on {count("all", "dominator")} and {count("all", "hull_dominator")} domains. By the joint bands,
one of the three is significantly better than both others somewhere and worse nowhere on {some["today"]} of {total} domains, and one of all
nine on {some["all"]}. On these domains, the hypothesis that standard learners give dominating models is therefore
{_verdict(count("all", "hull_dominator"), total)} for present-day learners too."""


def _trees(variants: Outcome, splits: Outcome) -> str:
    kept = [float(row.ours) for row in variants.rows if row.what.startswith("share of pc")]
    own, _ = mean_shares(splits.parts)
    single = [row for row in variants.rows if row.what.endswith("curve of MC4")]
    worst = max(single, key=lambda row: abs(float(row.ours)))
    matter = "less" if min(kept) > own else "no less"
    return f"""What we do not know about MC4 therefore matters {matter} than the assignment of examples to folds. With other trees, Table 1
keeps the same name for {100 * min(kept):.0f} to {100 * max(kept):.0f} % of pc, and with other folds for {100 * own:.0f} %. The curve of a single tree
changes most with {worst.item.removeprefix("Trees, ")} ({float(worst.ours):+.3f} of area)."""


def _not_run(bags: Outcome) -> str:
    """Say which settings were not run."""
    domains = {part["domain"] for part in bags.parts}
    missing = [
        words for name, words in (("splice", "DNA coded as 60 bases"), ("adult", "Adult")) if name not in domains
    ]
    words = "On Adult only naive Bayes and bagged trees were trained, the only two names of the paper's row." * (
        "adult" in domains
    )
    return f"Not run: {' and '.join(missing)} with other settings." if missing else words


def _dna(bags: Outcome) -> str:
    """Say which setting of DNA comes nearest to the paper's row."""
    found = [part for part in bags.parts if part["domain"] in CODINGS]
    shares = [agreement(PRINTED["dna"], part["ranges"]) for part in found]
    best = found[int(np.argmax(shares))]
    named = f"class `{best['positive']}`, {CODINGS[best['domain']]}, {best['criterion']}, {best['bags']} in a bag"
    end = (
        "No setting gives the paper's row."
        if max(shares) < MOST
        else "With that setting the row agrees with the paper's."
    )
    return f"""On DNA, these settings name the paper's classifier for {100 * min(shares):.0f} to {100 * max(shares):.0f} % of pc. The nearest is {named}:
{written(best["ranges"])}, where the paper has {written(PRINTED["dna"])}. {end}"""


def _adult(main: Outcome, variants: Outcome, bags: Outcome) -> str:
    """Say whether the criterion or the number of trees gives bagged trees a range on Adult."""
    cells = {
        (part["criterion"], part["bags"]): written(part["ranges"]) for part in bags.parts if part["domain"] == "adult"
    }
    ten = next(part for part in variants.parts if part["domain"] == "adult")
    cells["gain ratio", ten["bags"]] = written(ten["ranges"])
    study = next(part for part in main.parts if part["domain"] == "adult")
    cells["gain", BAGS] = written(study["groups"]["paper"]["ranges"])
    lines = [(criterion, str(count), text) for (criterion, count), text in sorted(cells.items())]
    has = {key: "Bagged-MC4" in text for key, text in cells.items()}
    if ("gain", 10) not in has:
        return f"""On Adult, where only naive Bayes is best with our trees, bagged trees have a range with gain ratio and ten trees in a bag:
{cells["gain ratio", 10]}. The criterion and the number of trees differ at once, so we do not know which of the two is the reason."""
    criterion, count = has["gain", 10] != has["gain ratio", 10], has["gain", 10] != has["gain", BAGS]
    causes = [words for words, does in (("the criterion", criterion), ("the number of trees", count)) if does]
    words = (
        f"In these runs {causes[0]} decides"
        if len(causes) == 1
        else f"{'Each' if causes else 'Neither'} of the two alone decides"
    )
    return f"""On Adult, the criterion and the number of trees were changed separately (gain ratio with {BAGS} trees was not run):

{table(("criterion", "trees in a bag", "who is best, from slope 0"), lines)}

{words} whether bagged trees are best anywhere. The paper names neither."""


def _verdict(count: int, total: int) -> str:
    return "refuted" if 2 * count < total else "not refuted"


PAGE = Page(
    "1998",
    "Provost, Fawcett & Kohavi 1998: no dominating learner",
    ("domains-1998", "raw-1998", "splits-1998", "variants-1998", "bags-1998", "ratios-1998", "tests-1998"),
    text,
    {
        "1998-figure1.png": figures.raw_curves,
        "1998-curves.png": figures.study,
        "1998-table1.png": figures.table1,
        "1998-today.png": figures.today,
    },
)
