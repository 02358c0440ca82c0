"""Classifiers at all conditions: ROC curves, threshold policies, cost curves, the ROC hull and its choices."""
