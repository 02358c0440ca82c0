"""The classes of results: users receive them from functions and methods, and need not import them."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import costcurves
from costcurves._base.results import Result


def result_classes() -> dict[str, type]:
    """Return the classes that public functions and methods return but that are not public names themselves.

    They are found through the annotations of what is returned and of the fields of results, and so on from there.
    """
    known = _all_classes()
    found: dict[str, type] = {}
    waiting = [getattr(costcurves, name) for name in costcurves.__all__]
    while waiting:
        for annotation in _annotations(waiting.pop()):
            for word in re.findall(r"\w+", annotation):
                if word in known and word not in found:
                    found[word] = known[word]
                    waiting.append(known[word])
    return dict(sorted(found.items()))


def _all_classes() -> dict[str, type]:
    """Return every class of a result in the package that is not a public name."""
    modules = (
        import_module(module.name)
        for module in pkgutil.walk_packages(costcurves.__path__, "costcurves.")
        if not module.name.rpartition(".")[2].startswith("_")
    )
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
        and name not in costcurves.__all__
        and issubclass(value, Result)
    }


def _annotations(thing: Any) -> Iterator[str]:
    """Yield the annotations of what a function, a callable object, or the members of a class return."""
    if inspect.isfunction(thing) or inspect.ismethod(thing):
        yield str(inspect.signature(thing).return_annotation)
        return
    cls = thing if inspect.isclass(thing) else type(thing)
    if not cls.__module__.startswith("costcurves"):
        return
    if dataclasses.is_dataclass(cls):
        yield from (
            str(field.type)
            for field in dataclasses.fields(cls)
            if not field.name.startswith("_")
        )
    for name, value in inspect.getmembers_static(cls):
        if name.startswith("_") and name != "__call__":
            continue
        function = (
            value.fget
            if isinstance(value, property)
            else getattr(value, "__func__", value)
        )
        if inspect.isfunction(function) and function.__module__.startswith(
            "costcurves"
        ):
            yield str(inspect.signature(function).return_annotation)
