"""Figures are drawn without a screen; every test starts with none open."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed_figures():
    plt.close("all")
    yield
    plt.close("all")
