"""Run what the README and the pages of the documentation show, and compare what it prints with what they say."""

from __future__ import annotations

import io
import re
import traceback
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parent.parent
# A fenced block: its first line's word, its text, and the line it starts at is counted from what comes before.
_FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1`*[ \t]*$\n?", flags=re.S | re.M)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page: its language, its text, the line of its first line of text."""

    language: str
    text: str
    line: int
    start: int
    end: int


def fenced(page: Path) -> list[Block]:
    """Return the fenced blocks of a Markdown page in order."""
    source = page.read_text(encoding="utf-8")
    return [
        Block(found[2].strip(), found[3], source[: found.start()].count("\n") + 2, found.start(), found.end())
        for found in _FENCE.finditer(source)
    ]


def python_blocks(page: Path) -> list[tuple[Block, str | None]]:
    """Return the Python blocks, each with the text block right after it, if there is one."""
    source, blocks = page.read_text(encoding="utf-8"), fenced(page)
    paired = []
    for block, after in zip_longest(blocks, blocks[1:]):
        follows = after is not None and after.language == "text" and not source[block.end : after.start].strip()
        if block.language == "python":
            paired.append((block, after.text if follows else None))
    return paired


def shell_sessions(page: Path) -> list[tuple[int, list[tuple[str, list[str]]]]]:
    """Return the shell sessions of a page: the line each starts at, and each command with the lines shown below it."""
    sessions = []
    for block in fenced(page):
        if block.language == "console":
            commands: list[tuple[str, list[str]]] = []
            for line in block.text.replace("\\\n", " ").splitlines():
                if line.startswith("$ "):
                    commands.append((line[2:], []))
                else:
                    commands[-1][1].append(line.rstrip())
            sessions.append((block.line, commands))
    return sessions


def run_page(page: Path) -> int:
    """Run all Python blocks of a page in one namespace, compare what they print, and return how many there were."""
    scope: dict[str, object] = {"__name__": "page"}
    blocks = python_blocks(page)
    for block, shown in blocks:
        # Blank lines before the code give tracebacks the page's own line numbers.
        code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
        printed = io.StringIO()
        try:
            with redirect_stdout(printed):
                exec(code, scope)
        except Exception as error:
            raise AssertionError(f"{page.name}:{block.line}: {traceback.format_exc(limit=-3)}") from error
        if shown is not None:
            told = [line.rstrip() for line in printed.getvalue().splitlines()]
            assert told == [line.rstrip() for line in shown.splitlines()], f"{page.name}:{block.line}: {told}"
    return len(blocks)
