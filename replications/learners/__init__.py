"""Learners of the papers, written here because no package of today still has them: all take two classes.

Features are a float array (examples, columns). A nominal column holds the codes 0, 1, 2, ... of its values, and NaN
is a missing value in any column; `nominal` says which columns are nominal. Classes are True (positive) and False.
"""
