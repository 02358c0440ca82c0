"""Figures with matplotlib, one module per figure, in a common style. They draw results that the core computed."""
