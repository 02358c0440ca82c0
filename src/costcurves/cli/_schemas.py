"""JSON Schemas of the answers, made from their types: `costcurves schema NAME` prints one."""

from __future__ import annotations

import types
from dataclasses import dataclass
from inspect import cleandoc
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SIMPLE = {str: "string", bool: "boolean", int: "integer", float: "number", types.NoneType: "null"}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a number, both included, as a part of its type: ``Annotated[float, Bounds(0, 1)]``."""

    minimum: float
    maximum: float | None = None


def schema_of(answer: type, name: str) -> dict[str, Any]:
    """Return the JSON Schema of the answer of a command."""
    return {"$schema": DRAFT, "title": f"costcurves {name} --json", **_schema(answer)}


def _schema(kind: Any) -> dict[str, Any]:
    """Return the schema of a type: simple values, literals, lists, tuples, mappings, unions and typed dictionaries."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if origin is Annotated:
        return _annotated(*parts)
    if origin is Literal:
        return {"const": parts[0]} if len(parts) == 1 else {"enum": list(parts)}
    if origin in (Union, types.UnionType):
        return _union([_schema(part) for part in parts])
    if origin is list:
        return {"type": "array", "items": _schema(parts[0])}
    if origin is tuple and len(set(parts)) == 1:
        return {"type": "array", "items": _schema(parts[0]), "minItems": len(parts), "maxItems": len(parts)}
    if origin is dict and parts[0] is str:
        return {"type": "object", "additionalProperties": _schema(parts[1])}
    if is_typeddict(kind):
        fields = {name: _schema(field) for name, field in get_type_hints(kind, include_extras=True).items()}
        about = {"description": cleandoc(kind.__doc__)} if kind.__doc__ else {}
        return {"type": "object", **about, "properties": fields, "required": list(fields)}
    raise TypeError(f"no JSON Schema is known for the type {kind!r}")


def _annotated(kind: Any, *notes: Any) -> dict[str, Any]:
    """Return the schema of a type with bounds and a description; the last description wins."""
    schema = _schema(kind)
    for note in notes:
        if isinstance(note, Bounds):
            limits = {"minimum": note.minimum, "maximum": note.maximum}
            schema |= {word: limit for word, limit in limits.items() if limit is not None}
        else:
            schema["description"] = note
    return schema


def _union(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    if all(schema.keys() == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}
