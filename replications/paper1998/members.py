"""The inducers of the study and three present-day learners, which score test examples after training on others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from costcurves import MissingExtraError
from replications.domains import Bools, Domain, Floats
from replications.learners.bagging import Bagging
from replications.learners.bayes import NaiveBayes
from replications.learners.neighbours import Neighbours
from replications.learners.trees import DecisionTree

# Those of the paper, then the present-day ones.
PAPER = ("MC4", "NB", "IB1", "IB3", "IB5", "Bagged-MC4")
TODAY = ("random forest", "gradient boosting", "logistic regression")
# The number of trees in a bag, which the paper does not give, as in Opitz & Maclin (1999), and of trees in the forest.
BAGS, FOREST = 25, 100
# Other trees than those of the study, single and bagged.
TREES = ("MC4", "Bagged-MC4")
VARIANTS: dict[str, dict[str, Any]] = {
    "gain ratio": {"gain_ratio": True},
    "no pruning": {"confidence": None},
    "no Laplace correction": {"laplace": False},
}


def scores(
    name: str, train: Domain, test: Domain, rng: np.random.Generator, bags: int, variant: str | None = None
) -> tuple[Floats, Bools]:
    """Compute the scores of test examples by a member that was trained on others, and the classes it would predict.

    Parameters
    ----------
    name : str
        One of `PAPER` or `TODAY`.
    train, test : Domain
    rng : numpy Generator
        Used for bootstrap samples and for the randomness of the present-day learners.
    bags : int
        The number of bagged trees.
    variant : str, optional
        One of `VARIANTS`.
    """
    if name in TODAY:
        return _today(name, train, test, int(rng.integers(2**31)))
    tree = partial(DecisionTree, **(VARIANTS[variant] if variant else {}))
    make: dict[str, Callable[[], Any]] = {
        "MC4": tree,
        "NB": NaiveBayes,
        "IB1": lambda: Neighbours(1),
        "IB3": lambda: Neighbours(3),
        "IB5": lambda: Neighbours(5),
        "Bagged-MC4": lambda: Bagging(tree, count=bags, rng=rng),
    }
    fitted = make[name]().fit(train.X, train.y, train.nominal)
    if name == "NB":
        # With many attributes, probabilities close to 1 are equal as floats, but their logarithms are not.
        odds = fitted.decision_function(test.X)
        return odds, odds > 0
    found = fitted.predict_proba(test.X)[:, 1]
    return found, found > 0.5


def _today(name: str, train: Domain, test: Domain, random_state: int) -> tuple[Floats, Bools]:
    """Compute scores of scikit-learn's learners with their default settings."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise MissingExtraError('this replication needs scikit-learn: pip install "costcurves[sklearn]"') from None
    if name == "gradient boosting":
        model = HistGradientBoostingClassifier(categorical_features=train.nominal, random_state=random_state)
        tables = train.X, test.X
    elif name == "random forest":
        model = RandomForestClassifier(FOREST, random_state=random_state)
        tables = indicators(train), indicators(test)
    else:
        model = LogisticRegression(max_iter=5000)
        tables = standard(indicators(train), indicators(test))
    # Parts run in parallel, and threads within them would wait for each other.
    with threadpool_limits(1):
        found = model.fit(tables[0], train.y).predict_proba(tables[1])[:, 1]
    return found, found > 0.5


def indicators(domain: Domain) -> Floats:
    """Return the numbers of a domain and an indicator for each nominal value."""
    places = np.flatnonzero(domain.nominal)
    equal = [domain.X[:, [place]] == np.arange(len(domain.values[place])) for place in places]
    return np.concatenate([domain.X[:, ~domain.nominal], *equal], axis=1)


def standard(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Scale both tables to mean 0 and standard deviation 1 in training. A missing number becomes the mean."""
    mean, spread = np.nanmean(train, axis=0), np.nanstd(train, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return np.nan_to_num((train - mean) / spread), np.nan_to_num((test - mean) / spread)
