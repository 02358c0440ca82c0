"""Which classifier, at which threshold, when costs and class frequencies are uncertain, and how sure is that?"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from costcurves._version import __version__ as __version__


def _listed() -> dict[str, str]:
    """Return the module of each public name, read from the stub beside this file."""
    lines = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    return {line.split()[3]: line.split()[1] for line in lines if line.startswith("from ")}


# A public name is imported when it is first used, so that `import costcurves` takes almost no time.
_HOME = _listed()
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    """Return a public name, importing the module that defines it."""
    if name not in _HOME:
        raise AttributeError(f"module 'costcurves' has no attribute {name!r}")
    from costcurves._base.errors import MissingExtraError

    try:
        module = import_module(_HOME[name])
    except MissingExtraError as error:
        return _stand_in(name, str(error))  # not kept: the extra may be installed later
    value = getattr(module, name, None) or import_module(f"{_HOME[name]}.{name}")
    globals()[name] = value
    return value


def _stand_in(name: str, reason: str) -> object:
    """Make a stand-in for a public name whose extra is missing, which raises an error when it is called.

    The name itself exists, so that ``from costcurves import *``, `help`, `hasattr` and `inspect` work without extras.
    """
    from costcurves._base.errors import MissingExtraError

    def refuse(*args: object, **kwargs: object) -> object:
        raise MissingExtraError(reason)

    if name[0].isupper():
        return type(name, (), {"__new__": refuse, "__doc__": reason, "__module__": __name__})
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__, refuse.__doc__ = __name__, reason
    return refuse


def __dir__() -> list[str]:
    """List only the public names, because the modules that define them are not part of the interface."""
    return __all__
