"""Figures are drawn without a screen, and none is left open by a test."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed_figures():
    assert plt.get_fignums() == []
    yield
    plt.close("all")
