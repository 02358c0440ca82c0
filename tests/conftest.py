"""Hypothesis draws the same examples in every run, however slow the computer is, and leaves no files."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("costcurves", deadline=None, derandomize=True, database=None)
settings.load_profile("costcurves")
