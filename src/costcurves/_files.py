"""Files that are whole or not there: write beside the target, then replace it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write text (as UTF-8) or bytes to a file so that a reader sees the old content or the new, never a part.

    A new file gets the mode that `open` would give it, a replaced one keeps its own. Threads and processes may write
    to one path at once: the last to finish wins.
    """
    target = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, temporary = _fresh_file(target)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if target.exists():
            os.chmod(temporary, target.stat().st_mode & 0o777)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _fresh_file(target: Path) -> tuple[int, Path]:
    """Open a new file beside the target, with the mode that the process's mask leaves of rw-rw-rw-."""
    while True:
        # Not the target's name: with an ending it might be too long for the file system.
        temporary = target.parent / f".costcurves-{secrets.token_hex(8)}.tmp"
        try:
            return os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), temporary
        except FileExistsError:
            continue
        except OSError as error:
            # The user knows the target, not the file beside it.
            raise type(error)(error.errno, error.strerror, str(target)) from None
