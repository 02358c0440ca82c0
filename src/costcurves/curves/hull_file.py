"""A file of classifiers gathered over time: the hull of each, and where it came from. Any may be removed again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from costcurves._base.errors import FormatError, InputError
from costcurves._base.validation import shown
from costcurves.curves.hull import RocHull
from costcurves.curves.hull_json import hull_text, parts_of_text
from costcurves.curves.roc import RocCurve


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a classifier came from: the table, how many rows and positives it has, the positive label, and when."""

    source: str
    rows: int
    positives: int
    positive: str
    added: str


@dataclass(frozen=True, slots=True)
class HullFile:
    """Classifiers by name, each with the vertices of its own hull, so that the hull of any of them can be made.

    `origins` has those whose vertices are all there. Of a hull that `RocHull.to_json` wrote, only the names and the
    points that can matter in that hull are known.
    """

    names: tuple[str, ...]
    curves: Mapping[str, RocCurve]
    origins: Mapping[str, Origin]

    @classmethod
    def of_text(cls, text: str) -> HullFile:
        """Return the content of a file, after checking it."""
        RocHull.from_json_text(text)
        names, curves = parts_of_text(text)
        found = json.loads(text).get("origins", {})
        if not isinstance(found, dict):
            raise FormatError(f"`origins` must map names to origins, got {shown(found)}")
        origins = {}
        for name, entry in found.items():
            if name not in names:
                raise FormatError(f"`origins` must be those of `names`, got {shown(name)}")
            origins[name] = _origin(name, entry)
        return cls(names, {curve.name: curve for curve in curves}, origins)

    @property
    def text(self) -> str:
        """The content of the file, which `RocHull.from_json` reads as well."""
        curves = [self.curves[name] for name in self.names if name in self.curves]
        return hull_text(self.names, curves, {name: asdict(one) for name, one in self.origins.items()})

    @property
    def hull(self) -> RocHull:
        """The hull of all classifiers."""
        return RocHull.from_json_text(self.text)

    def known(self, names: Iterable[str]) -> list[str]:
        """Return which of some names are taken."""
        return [name for name in names if name in self.names]

    def added(self, curves: Iterable[RocCurve], origins: Mapping[str, Origin]) -> HullFile:
        """Return the file with more classifiers, whose names must be new."""
        new = {curve.name: curve for curve in curves}
        return self._joined(HullFile(tuple(new), new, origins))

    def merged(self, other: HullFile) -> HullFile:
        """Return the file with the classifiers of another one; those that both have in the same form count once."""
        same = [name for name in other.known(self.names) if self._entry(name) == other._entry(name)]
        return self._joined(other._without(same))

    def removed(self, names: Iterable[str]) -> HullFile:
        """Return the file without some classifiers, as if they had never been added."""
        gone = set(names)
        for name in gone:
            if name not in self.names:
                raise InputError(f"`names` must be among {', '.join(map(shown, self.names))}, got {shown(name)}")
        left = self._without(gone)
        if not left.names:
            raise InputError("`names` must leave at least one classifier, got all of them")
        if lost := [name for name in left.names if name not in self.origins]:
            raise InputError(
                f"`names` cannot be removed, because points of {shown(lost[0])} that did not matter beside them were "
                "not kept when it was added"
            )
        return left

    def _without(self, gone: Iterable[str]) -> HullFile:
        names = tuple(name for name in self.names if name not in set(gone))
        curves = {name: curve for name, curve in self.curves.items() if name in names}
        return HullFile(names, curves, {name: one for name, one in self.origins.items() if name in names})

    def _joined(self, other: HullFile) -> HullFile:
        if taken := self.known(other.names):
            raise InputError(f"`names` must be new, got {shown(taken[0])}, which is there already")
        return HullFile((*self.names, *other.names), {**self.curves, **other.curves}, {**self.origins, **other.origins})

    def _entry(self, name: str) -> str:
        """Return all that is known of one classifier, apart from when it was added, as a text to compare."""
        one = self._without([other for other in self.names if other != name])
        origin = self.origins.get(name)
        return hull_text([name], one.curves.values(), {} if origin is None else {name: asdict(origin) | {"added": ""}})


def _origin(name: str, entry: Any) -> Origin:
    wanted: dict[str, type] = {field.name: int if field.type == "int" else str for field in fields(Origin)}
    if not isinstance(entry, dict) or any(type(entry.get(key)) is not kind for key, kind in wanted.items()):
        raise FormatError(f"`origins` must have {', '.join(wanted)}, got {shown(entry)} for {shown(name)}")
    return Origin(**{key: entry[key] for key in wanted})
