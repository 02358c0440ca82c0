"""Every public name and every result explains itself, and every class and function shows how to use it."""

from __future__ import annotations

import inspect

import pytest
from reached import result_classes

import costcurves

POLICIES = {
    f"thresholds.{name}": value
    for name, value in vars(costcurves.thresholds).items()
    if not name.startswith("_") and inspect.isfunction(value) and value.__module__ == "costcurves.curves.thresholds"
}
NAMED = {name: getattr(costcurves, name) for name in costcurves.__all__}
RECEIVED = result_classes()  # not public names: what public functions and methods return
CALLABLE = {name: value for name, value in NAMED.items() if callable(value)} | RECEIVED
# The policies a user calls; the other functions of the module serve the layers above.
USER_POLICIES = ("thresholds.optimal", "thresholds.fixed", "thresholds.bayes", "thresholds.validation")


def signature_of(value):
    """Return the signature of a callable; that of nothing for properties and errors."""
    try:
        return inspect.signature(getattr(value, "__func__", value))
    except (TypeError, ValueError):
        return inspect.Signature()


METHODS = {
    f"{name}.{method}": value
    for name, cls in CALLABLE.items()
    if inspect.isclass(cls)
    for method, value in inspect.getmembers_static(cls)
    if not method.startswith("_")
    and (isinstance(value, (classmethod, staticmethod, property)) or inspect.isfunction(value))
    and any(method in vars(base) for base in cls.__mro__ if base.__module__.startswith("costcurves"))
}


RANDOM = {name: value for name, value in {**CALLABLE, **METHODS}.items() if "rng" in str(signature_of(value))}


def test_randomness_is_called_rng_and_gives_the_same_answer_each_time_by_default():
    assert {"compare", "compare_many", "bcost", "bdeltacost", "Report.from_predictions", "CostCurve.band"} <= set(
        RANDOM
    )
    assert {name: signature_of(value).parameters["rng"].default for name, value in RANDOM.items()} == dict.fromkeys(
        RANDOM, 0
    )
    named = {parameter for value in {**CALLABLE, **METHODS}.values() for parameter in signature_of(value).parameters}
    assert not named & {"seed", "generator", "random"}


def test_there_are_few_public_names_and_results_are_not_among_them():
    assert len(costcurves.__all__) <= 92
    assert {"Recommendation", "Band", "CurveDifference", "CostInterval", "SizePlan", "Scan", "PcIntervals"} <= set(
        RECEIVED
    )
    with pytest.raises(AttributeError, match="no attribute 'Band'"):
        costcurves.Band  # noqa: B018


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


def test_public_names_have_a_docstring():
    texts = {name: value.__doc__ or "" for name, value in {**CALLABLE, **POLICIES, **METHODS}.items()}
    assert len(texts) > 700
    # A dataclass without a docstring gets its signature as one.
    assert [name for name, text in texts.items() if len(text.split()) < 3 or text.startswith(f"{name}(")] == []


def test_public_classes_and_functions_have_a_runnable_example():
    named = {**CALLABLE, **{name: POLICIES[name] for name in USER_POLICIES}}
    assert [name for name, value in named.items() if ">>>" not in value.__doc__] == []
