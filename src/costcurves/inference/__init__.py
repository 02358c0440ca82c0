"""Inference: one kernel for the cost-weighted multinomials of five papers; arrays in, intervals out."""
