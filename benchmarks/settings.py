"""The size of a run, and the data that topics share."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Settings:
    """Options of a run. Its small form only shows that everything works."""

    small: bool = False
    repeats: int = 3
    rows: int = 100_000_000
    large: bool = False
    file: Path | None = None

    def size(self, full: int, small: int = 2_000) -> int:
        """The size of the full form or of the small form."""
        return min(full, small) if self.small else full


def predictions(size: int, seed: int = 0) -> tuple[Array, Array]:
    """Draw labels and probability-like scores of a moderately good classifier."""
    rng = np.random.default_rng(seed)
    labels = rng.random(size) < 0.3
    scores = 1 / (1 + np.exp(-(rng.normal(size=size) + labels)))
    return labels, scores


def why_missing(package: str) -> str:
    """Say why a Python package cannot be a peer, or return an empty string if it can."""
    return "" if importlib.util.find_spec(package) else f"{package} is not installed"
