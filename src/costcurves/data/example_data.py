"""The example data that come with the package."""

from __future__ import annotations

from pathlib import Path

from costcurves._base.validation import check_choice

_FOLDER = Path(__file__).parent / "examples"


def example_names() -> tuple[str, ...]:
    """List the files of example data that come with the package."""
    return tuple(sorted(path.name for path in _FOLDER.iterdir() if path.suffix in (".csv", ".toml")))


def example_path(name: str) -> Path:
    """Return the path of a file of example data that comes with the package.

    Parameters
    ----------
    name : {"german_credit_scores.csv", "german_credit_costs.toml", "vehicle_predictions.csv", "vehicle_costs.toml"}
        The first two files hold the scores of four classifiers for 1000 applicants for credit and the costs of errors.
        The last two hold the predictions of three classifiers for 846 vehicles of four kinds and a cost matrix. On the
        command line they are called ``example:german_credit`` and ``example:vehicle``.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> import costcurves as cc
    >>> with open(cc.example_path("german_credit_scores.csv")) as file:
    ...     print(file.readline().strip())
    label,fold,logit,forest,bayes,tree
    """
    return _FOLDER / check_choice("name", name, example_names())
