"""scikit-learn classifiers, scorers and cross-validated evaluation. Needs the extra `sklearn`."""

from costcurves._base.errors import MissingExtraError

try:
    import sklearn as sklearn
except ModuleNotFoundError:
    raise MissingExtraError(
        'The classifiers, the scorers and `evaluate` need scikit-learn: pip install "costcurves[sklearn]"'
    ) from None
