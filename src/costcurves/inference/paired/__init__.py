"""Bands and tests for the difference in cost of two classifiers on the same examples."""
