"""The reference pages of the command line, generated from the parser, and of the JSON answers, from their schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from typer.main import get_command

from costcurves.cli._answers import ANSWERS
from costcurves.cli._app import app as commands
from costcurves.cli._schemas import schema_of


def _text(words: str | None) -> str:
    """Return help as one line of Markdown that a table takes."""
    line = re.sub(r"\s+", " ", words or "").replace("|", "\\|").strip()
    # Two hyphens outside of code would become a dash.
    return re.sub(r"(?<![`\w-])--[a-z][a-z-]*", r"`\g<0>`", line)


def _option(parameter: Any) -> str:
    """Return how an option or argument is written."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    names = ", ".join(
        f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts)
    )
    metavar = (
        "" if parameter.is_flag else (parameter.metavar or parameter.type.name.upper())
    )
    # A bar outside of a code span ends the cell.
    return f"{names} {metavar}".strip().replace("|", "\\|")


def _default(parameter: Any) -> str:
    value = parameter.default
    if (
        isinstance(value, bool)
        or not isinstance(value, (str, int, float))
        or value == ""
    ):
        return ""
    return f" Default: `{value}`."


def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command that does something, with the words that call it."""
    below = getattr(command, "commands", None)
    if not below:
        yield path, command
        return
    for name, one in below.items():
        if not one.hidden:
            yield from walk(one, (*path, name))


def _command(path: tuple[str, ...], command: Any) -> str:
    """Return the section of one command: what to type, what it does, its options by panel."""
    paragraphs = [part.strip() for part in (command.help or "").split("\n\n")]
    page = [f"## {' '.join(path)}\n"]
    if paragraphs and paragraphs[0].startswith("costcurves"):
        page.append(f"```console\n$ {paragraphs.pop(0)}\n```\n")
    page += [_text(part) + "\n" for part in paragraphs]
    panels: dict[str, list[Any]] = {}
    for parameter in command.params:
        if not getattr(parameter, "hidden", False) and parameter.name != "help":
            panels.setdefault(
                getattr(parameter, "rich_help_panel", None) or "", []
            ).append(parameter)
    for panel, parameters in panels.items():
        page.append(f"| {panel or 'Arguments'} | |\n|---|---|")
        for one in parameters:
            page.append(
                f"| {_option(one)} | {_text(getattr(one, 'help', ''))}{_default(one)} |"
            )
        page.append("")
    return "\n".join(page) + "\n"


def _kind(schema: dict[str, Any]) -> str:
    """Return the type of a field in words."""
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(_kind(one) for one in schema[word]))
    kind = schema.get("type", "any")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    return (
        f"array of {_kind(schema['items'])}"
        if kind == "array" and "items" in schema
        else kind
    )


def _fields(schema: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield a row for each field, those of objects within objects below their own."""
    for one in schema.get("anyOf", ()):
        if "properties" in one:
            yield f"| | | *{_text(one.get('description'))}* |"
            yield from _fields(one, prefix)
    for name, field in schema.get("properties", {}).items():
        yield f"| `{prefix}{name}` | {_kind(field)} | {_text(field.get('description'))} |"
        inner = field.get("items", field) if field.get("type") == "array" else field
        yield from _fields(
            inner, f"{prefix}{name}{'[]' if inner is not field else ''}."
        )


def _schema(name: str) -> str:
    schema = schema_of(ANSWERS[name], name)
    rows = "\n".join(_fields(schema))
    return f"## {name}\n\n{_text(schema.get('description'))}\n\n| field | type | |\n|---|---|---|\n{rows}\n"


CLI = """# Command line

The extra `cli` (from a clone: `pip install ".[cli]"`) installs the command `costcurves`. A table is a file (csv, tsv or
txt, or json lines, each of which may be compressed as .gz or .zst; or parquet), a glob or a folder of such files with
the same columns, a table of a DuckDB database (`scores.duckdb:TABLE`), or `-` for standard input. Tables are read in
the same way as by `cc.scan`. `example:NAME` is a table that comes with the package. Costs are given by options or by a
[scenario file](scenario-file.md).

The exit code is 0 on success, 1 if a gate (`--assert-...`) failed, 2 for bad usage or input, 70 for an internal error
of the program, 130 if interrupted, 141 if the reader of the output closed it, and 143 if terminated. With `--json`, the
answer has the fields of [its schema](json.md).

This page is generated from the commands themselves.

"""
JSON = """# JSON answers

With `--json`, a command prints one object. Its `schema` consists of the command's name and a number, which changes if a
field changes its meaning or is removed. New fields may be added at any time, so ignore fields that you do not know.
`costcurves schema COMMAND` prints the JSON Schema itself, for validators.

Infinite thresholds are `"inf"` and `"-inf"` in the answer, because JSON has no infinite numbers, and unknown values are
`null`. This page is generated from the schemas.

"""


def write_pages(app: Sphinx) -> None:
    """Write reference/cli.md and reference/json.md where they changed."""
    folder = Path(app.srcdir) / "reference"
    sections = "".join(
        _command(path, command)
        for path, command in walk(get_command(commands), ("costcurves",))
    )
    answers = "\n".join(map(_schema, ANSWERS))
    for name, text in (("cli.md", CLI + sections), ("json.md", JSON + answers)):
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
