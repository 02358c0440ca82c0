"""The replications by name. Add a line here for a new one."""

from __future__ import annotations

from importlib import import_module

from costcurves import InputError
from replications.study import Study

_HOMES = {
    "scenarios-1997": "paper1997.scenarios",
    "domains-1998": "paper1998.dominance",
    "raw-1998": "paper1998.raw",
    "splits-1998": "paper1998.splits",
    "variants-1998": "paper1998.variants",
    "bags-1998": "paper1998.bags",
    "ratios-1998": "paper1998.ratios",
    "tests-1998": "paper1998.simulated",
    "table5": "paper2000.table5",
    "figure2-2000": "paper2000.sensitivity",
    "table6": "paper2000.table6",
    "power": "paper2000.power",
    "normal-2000": "paper2000.normal",
    "defaults-2000": "paper2000.defaults",
    "credit-2005": "paper2005.credit",
    "sonar-2005": "paper2005.sonar",
    "curves-2005": "paper2005.curves",
    "intervals-2005": "paper2005.intervals",
    "spread-2008": "paper2008.spread",
    "size-2008": "paper2008.size",
    "difference-2008": "paper2008.difference",
    "figure6-2008": "paper2008.full",
    "validation-2008": "paper2008.validation",
}
NAMES = tuple(_HOMES)


def study(name: str) -> Study:
    """Return a replication by its name.

    Examples
    --------
    >>> from replications.catalogue import study
    >>> study("table5").title
    'Table 5: how often BCost contains the true cost (2000)'
    """
    if name not in _HOMES:
        raise InputError(f"`name` must be one of {', '.join(NAMES)}, got {name!r}")
    found = import_module(f"replications.{_HOMES[name]}").STUDY
    assert isinstance(found, Study)
    return found
