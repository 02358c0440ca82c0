"""Which classifier, at which threshold, and how sure: comparisons, dominance, recommendations, metrics."""
