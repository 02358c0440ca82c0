"""Learners of the papers for two classes, which are implemented here because no current package has them.

Features are a float array (examples, columns). A nominal column holds the codes 0, 1, 2, ... of its values, and NaN
is a missing value in any column. `nominal` marks the nominal columns. Classes are True (positive) and False.
"""
