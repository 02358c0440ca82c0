"""Every public name explains itself, and every public class and function shows how to use it."""

from __future__ import annotations

import inspect

import pytest

import costcurves

POLICIES = {
    f"thresholds.{name}": value
    for name, value in vars(costcurves.curves.thresholds).items()
    if not name.startswith("_") and inspect.isfunction(value) and value.__module__ == "costcurves.curves.thresholds"
}
NAMED = {name: getattr(costcurves, name) for name in costcurves.__all__}
CALLABLE = {name: value for name, value in NAMED.items() if callable(value)}
# The policies a user calls; the other functions of the module serve the layers above.
USER_POLICIES = ("thresholds.optimal", "thresholds.fixed", "thresholds.bayes", "thresholds.validation")
METHODS = {
    f"{name}.{method}": value
    for name, cls in CALLABLE.items()
    if inspect.isclass(cls)
    for method, value in inspect.getmembers_static(cls)
    if not method.startswith("_")
    and (isinstance(value, (classmethod, staticmethod, property)) or inspect.isfunction(value))
    and any(method in vars(base) for base in cls.__mro__ if base.__module__.startswith("costcurves"))
}


def test_all_names_exist_and_are_sorted():
    assert sorted(costcurves.__all__) == list(costcurves.__all__)
    assert len(set(costcurves.__all__)) == len(costcurves.__all__)


def test_no_public_class_or_function_is_missing_from_all():
    public = {
        name
        for name, value in vars(costcurves).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__.startswith("costcurves")
    }
    assert public <= set(costcurves.__all__)


@pytest.mark.parametrize("name", sorted({**CALLABLE, **POLICIES, **METHODS}))
def test_public_names_have_a_docstring(name):
    value = {**CALLABLE, **POLICIES, **METHODS}[name]
    text = value.__doc__ or ""
    assert len(text.split()) >= 3
    # A dataclass without a docstring gets its signature as one.
    assert not text.startswith(f"{name}(")


@pytest.mark.parametrize("name", sorted({*CALLABLE, *USER_POLICIES}))
def test_public_classes_and_functions_have_a_runnable_example(name):
    assert ">>>" in {**CALLABLE, **POLICIES}[name].__doc__
