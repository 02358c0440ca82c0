"""Bands and intervals for the cost of one classifier."""
