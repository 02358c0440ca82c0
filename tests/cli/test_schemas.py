"""The JSON Schemas are made from the types of the answers; they fit every answer and refuse what is not one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import jsonschema
import numpy as np
import pytest

from cli_answers import ANSWERS, HERE
from costcurves.cli import _answers as types
from costcurves.cli._schemas import schema_of
from laws import random_worlds

# The schemas of version 1 as they were written by hand, without their descriptions.
RECORDED = json.loads((Path(__file__).parent / "schemas_1.json").read_text(encoding="utf-8"))
VALUES = (None, True, -7, 3, 2.5, "text", "inf", [], [1.0], {}, {"a": 1})


def validator(schema: Any) -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def strict(schema: Any) -> Any:
    """Return a schema that refuses fields it does not describe."""
    if isinstance(schema, dict):
        closed = {key: strict(value) for key, value in schema.items()}
        return {"additionalProperties": False, **closed} if "properties" in schema else closed
    return [strict(part) for part in schema] if isinstance(schema, list) else schema


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value within an answer."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def shortened(value: Any) -> Any:
    """Return an answer whose long lists are cut short: it is as good an answer, and is checked faster."""
    if isinstance(value, dict):
        return {key: shortened(inner) for key, inner in value.items()}
    return [shortened(inner) for inner in value[:4]] if isinstance(value, list) else value


def mutations(answer: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Yield the answer with one value taken away, added, or replaced: for each field, wherever it stands, once."""
    fields: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path in places(answer):
        fields.setdefault(tuple(key if isinstance(key, str) else "[]" for key in path), []).append(path)
    for paths in fields.values():
        *above, key = paths[rng.integers(len(paths))]
        for value in (*VALUES, "taken away", "added"):
            changed = copy.deepcopy(answer)
            holder = changed
            for step in above:
                holder = holder[step]
            if value == "taken away":
                del holder[key]
            elif value != "added":
                holder[key] = value
            elif isinstance(holder, list):
                holder.insert(key, {"something": "new"})
            else:
                holder["something new"] = 1
            yield changed


@pytest.fixture
def answer_to(run):
    def ask(name: str) -> Any:
        if name.startswith("hull"):
            assert run("hull", "add", "hull.json", *HERE[:3]).code == 0
        return run(*ANSWERS[name], "--json").json

    return ask


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_has_the_fields_of_its_schema_and_no_others(answer_to, name):
    command, answer = name.split()[0], answer_to(name)
    validator(strict(schema_of(types.ANSWERS[command], command))).validate(answer)
    validator(RECORDED[command]).validate(answer)


def test_every_schema_is_tested():
    assert types.ANSWERS.keys() == RECORDED.keys()
    assert types.ANSWERS.keys() == {name.split()[0] for name in ANSWERS}


@pytest.mark.law
@pytest.mark.parametrize("name", ANSWERS)
def test_what_version_1_refuses_is_refused(answer_to, name):
    command, answer = name.split()[0], answer_to(name)
    ours, before = validator(schema_of(types.ANSWERS[command], command)), validator(RECORDED[command])
    refused = 0
    for rng in random_worlds(1, stream=1700):
        for changed in mutations(shortened(answer), rng):
            if not before.is_valid(changed):
                refused += 1
                assert not ours.is_valid(changed)
    assert refused > 100


@pytest.mark.parametrize("name", ["decide here", "bcost", "plan", "compare"])
def test_no_field_may_be_missing(answer_to, name):
    # Independent of the recorded schemas: all fields of an answer are required, except the keys of mappings.
    command, answer = name.split()[0], answer_to(name)
    ours = validator(schema_of(types.ANSWERS[command], command))
    for *above, key in places(answer):
        changed = copy.deepcopy(answer)
        holder = changed
        for step in above:
            holder = holder[step]
        if isinstance(holder, dict):
            del holder[key]
            assert not ours.is_valid(changed), (*above, key)


def test_schemas_are_printed_with_a_description_of_every_object(run):
    for name in types.ANSWERS:
        shown = run("schema", name).json
        assert shown == schema_of(types.ANSWERS[name], name)
        assert shown["title"] == f"costcurves {name} --json"
        assert "description" in shown
    done = run("schema", "nothing")
    assert done.code == 2
    assert "there is no schema 'nothing'; there are bcost, bdeltacost" in done.err


def test_a_type_that_json_lacks_is_refused():
    class Odd(TypedDict):
        when: complex

    with pytest.raises(TypeError, match="no JSON Schema is known for the type <class 'complex'>"):
        schema_of(Odd, "odd")
