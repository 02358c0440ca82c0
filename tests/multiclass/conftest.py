"""Long studies run only when they are asked for: `pytest -m study`."""

from __future__ import annotations


def pytest_collection_modifyitems(config, items):
    if "study" in config.option.markexpr:
        return
    long = [item for item in items if item.get_closest_marker("study")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
