"""Provost, Fawcett & Kohavi 1998: no learner dominates in ROC space."""
