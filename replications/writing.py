"""Atomic writing of files."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a temporary file in the same folder and rename it, so that readers never see an incomplete file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(content.encode() if isinstance(content, str) else content)
    draft.replace(path)
