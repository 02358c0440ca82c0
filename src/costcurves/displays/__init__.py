"""Figures with matplotlib: each draws what the core computed, one module a figure, in one style."""
