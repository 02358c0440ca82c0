"""The tables and figures of the five papers, made anew with the public functions of costcurves."""
