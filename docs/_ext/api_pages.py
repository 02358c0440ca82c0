"""The API reference: one page per package, with its public names and the results that they return."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from reached import result_classes
from sphinx.application import Sphinx

import costcurves

# One page per package, in the order in which a newcomer needs them. A package that is missing here stops the build.
TOPICS = {
    "conditions": "Conditions and money",
    "data": "Data: frames, files, tallies",
    "counting": "Confusion matrices",
    "curves": "ROC curves, hulls and cost curves",
    "decisions": "Decisions and comparisons",
    "inference": "Uncertainty: bands and intervals",
    "multiclass": "k classes",
    "planning": "Planning a test",
    "displays": "Pictures",
    "estimators": "scikit-learn",
    "report": "Report",
    "_base": "Errors",
    "_version": "",
}


def names_by_package() -> dict[str, list[str]]:
    """Return the public names that each package defines, by module."""
    found: dict[str, list[str]] = {package: [] for package in TOPICS}
    for name, module in sorted(costcurves._HOME.items(), key=lambda item: item[::-1]):
        package = module.split(".")[1]
        if package not in found:
            raise ValueError(f"docs/_ext/api_pages.py: no topic for {package!r}")
        found[package].append(name)
    return found


def results_by_package() -> dict[str, list[type]]:
    """Return the classes of results that each package defines; users receive them and need not import them."""
    found: dict[str, list[type]] = {package: [] for package in TOPICS}
    for cls in result_classes().values():
        found[cls.__module__.split(".")[1]].append(cls)
    return found


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def _summary(target: object) -> str:
    """Return the line that says what something is for."""
    return (inspect.getdoc(target) or "").partition("\n")[0]


def _class_entry(path: str, cls: type) -> str:
    """Return the directive that documents a class."""
    members = f"   :members: {', '.join(_members(cls))}\n"
    return f".. autoclass:: {path}\n{'' if issubclass(cls, Exception) else members}\n"


def _members(cls: type) -> list[str]:
    """Return the public methods and properties that costcurves itself defines, not those of scikit-learn's bases."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("costcurves")]
    return [
        name
        for name, value in inspect.getmembers_static(cls)
        if not name.startswith("_")
        and any(name in vars(base) for base in ours)
        and (
            isinstance(value, (classmethod, staticmethod, property))
            or inspect.isfunction(value)
        )
    ]


def _entry(name: str) -> str:
    """Return the directives that document one public name."""
    target = getattr(costcurves, name)
    if isinstance(target, ModuleType):
        parts = [
            part
            for part, value in vars(target).items()
            if not part.startswith("_")
            and inspect.isfunction(value)
            and value.__module__ == target.__name__
        ]
        return (
            f".. py:module:: costcurves.{name}\n\n{inspect.getdoc(target)}\n\n"
            + "".join(
                f".. autofunction:: costcurves.{name}.{part}\n\n" for part in parts
            )
        )
    if inspect.isclass(target):
        return _class_entry(f"costcurves.{name}", target)
    if inspect.isfunction(target):
        return f".. autofunction:: costcurves.{name}\n\n"
    doors = [part for part in dir(type(target)) if not part.startswith("_")]
    return "".join(
        f".. autofunction:: costcurves.{path}\n\n"
        for path in (name, *(f"{name}.{d}" for d in doors))
    )


def _results(classes: list[type]) -> str:
    """Return the part of a page that documents what its functions and methods return."""
    if not classes:
        return ""
    intro = (
        "Functions and methods return these. Nobody needs to import them, "
        "but type checkers find them where their full names say.\n\n"
    )
    paths = {f"{cls.__module__}.{cls.__name__}": cls for cls in classes}
    listing = "".join(
        f"- :any:`{cls.__name__} <{path}>`: {_summary(cls)}\n"
        for path, cls in paths.items()
    )
    entries = "".join(_class_entry(path, cls) for path, cls in paths.items())
    return _title("Results", "-") + intro + listing + "\n" + entries


def _as_functions() -> None:
    """Let autodoc treat callable objects such as `compare` as functions, which they are to users."""
    for name in costcurves.__all__:
        target = getattr(costcurves, name)
        if (
            callable(target)
            and not inspect.isclass(target)
            and not inspect.isfunction(target)
        ):
            setattr(costcurves, name, _function_like(name, target))


def _function_like(name: str, target: Any) -> Any:
    """Make a function with the object's signature and methods that calls it, also for pictures and examples."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = inspect.getdoc(target)
    function.__module__ = "costcurves"
    function.__signature__ = inspect.signature(target)  # type: ignore[attr-defined]
    for door in [part for part in dir(type(target)) if not part.startswith("_")]:
        setattr(function, door, getattr(target, door))
    return function


def write_pages(app: Sphinx) -> None:
    """Write reference/api/*.rst. A page that did not change is not written, so that it is not built again."""
    folder = Path(app.srcdir) / "reference" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    pages, received = [], results_by_package()
    for package, names in names_by_package().items():
        topic = TOPICS[package]
        if not topic:
            continue
        page = re.sub(r"\W+", "-", topic.lower())
        pages.append(page)
        listing = "".join(
            f"- :any:`costcurves.{name}`: {_summary(getattr(costcurves, name))}\n"
            for name in names
        )
        text = _title(topic) + listing + "\n" + "".join(_entry(name) for name in names)
        _write(folder / f"{page}.rst", text + _results(received[package]))
    toc = ".. toctree::\n   :maxdepth: 1\n\n" + "".join(
        f"   {page}\n" for page in pages
    )
    intro = (
        "Everything is imported as ``import costcurves as cc`` and written ``cc.Name``. "
        "Each page ends with the results that its functions return.\n\n"
    )
    _write(folder / "index.rst", _title("API") + intro + toc)
    _as_functions()


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
