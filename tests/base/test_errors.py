"""Errors and warnings go by the names that users import."""

from __future__ import annotations

import doctest
import pickle
import traceback

import pytest

import costcurves as cc

CLASSES = [
    value
    for value in map(cc.__getattr__, cc.__all__)
    if isinstance(value, type) and issubclass(value, (Exception, Warning))
]


@pytest.mark.parametrize("cls", CLASSES)
def test_a_traceback_shows_the_public_name_which_pickling_finds(cls):
    error = cls("`level` must be in (0, 1), got 95")
    assert traceback.format_exception_only(error) == [f"costcurves.{cls.__name__}: {error}\n"]
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is cls
    assert again.args == error.args


@pytest.mark.parametrize("cls", CLASSES)
def test_the_examples_of_errors_run(cls):
    # pytest collects only the examples of classes whose module it reads.
    (found,) = doctest.DocTestFinder(recurse=False).find(cls, cls.__name__)
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(found).failed == 0
