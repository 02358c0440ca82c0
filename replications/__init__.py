"""The tables and figures of the five papers, reproduced with the public functions of costcurves."""
