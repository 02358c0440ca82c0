"""Which classifier, at which threshold, when costs and class frequencies are uncertain, and how sure is that?"""

from costcurves._version import __version__
from costcurves.errors import (
    CostCurvesError,
    DataError,
    FormatError,
    InputError,
    MissingExtraError,
    UnsupportedError,
)

__all__ = [
    "CostCurvesError",
    "DataError",
    "FormatError",
    "InputError",
    "MissingExtraError",
    "UnsupportedError",
    "__version__",
]
