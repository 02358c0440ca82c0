"""Files that are whole or not there, and changes to a file of which none is lost."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl

AnyPath = str | os.PathLike[str]

# Names of descriptors that are open already; to open such a name anew would write over what is there.
_DESCRIPTOR = re.compile(r"/dev/std(out|err)|(?:/dev|/proc/self)/fd/(\d+)")
# Drafts begin and end like this. Not with the target's name: with an ending it might be too long for the file system.
_DRAFT, _ENDING = ".costcurves-", ".tmp"


def write_atomically(path: AnyPath, content: str | bytes, *, replace: bool = True) -> None:
    """Write text (as UTF-8) or bytes to a file so that a reader sees the old content or the new, never a part.

    A new file gets the mode that `open` would give it, a replaced one keeps its own. Links are followed: a link stays,
    and the file that it names is replaced. What is not a file (a pipe, a device, /dev/stdout) is written into. Threads
    and processes may write to one path at once: the last to finish wins, or, unless `replace`, the first, and the
    others raise `FileExistsError`.

    Where the system has files without a name, a new file has none until it is complete, so that a process that is
    killed leaves nothing behind. Elsewhere, and where a file is replaced, a draft may be left by a kill at the worst
    moment; the next write in that folder removes it.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    with _naming(path):
        if is_stream(path):
            _write_into(path, data)
        else:
            target = real_path(path)
            _sweep(target.parent)
            _write_draft(target, data, replace)


def update_file(path: AnyPath, change: Callable[[bytes | None], str | bytes]) -> None:
    """Replace a file by what `change` makes of its content, one process after the other, so that no change is lost.

    `change` gets None where there is no file yet. If another process makes the file meanwhile, `change` is called again
    with what it wrote. The lock is on the file itself and ends with the process. Systems without `flock` have none.
    """
    target = real_path(path)
    while True:
        try:
            handle = _open_existing(target)
        except FileNotFoundError:
            try:
                write_atomically(path, change(None), replace=False)
            except FileExistsError:
                continue
            return
        with os.fdopen(handle, "rb") as file:
            _lock(handle, wait=True)
            if not _is_open_as(handle, target):  # replaced while we waited
                continue
            content = file.read()
            if sys.platform != "win32":
                write_atomically(path, change(content))
                return
        write_atomically(path, change(content))
        return


def real_path(path: AnyPath) -> Path:
    """Return the path of a file with all links followed."""
    return Path(os.path.realpath(path))


def is_stream(path: AnyPath) -> bool:
    """Return whether a path names what is written into rather than replaced: a device, a pipe, an open descriptor."""
    if _descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def is_standard_output(path: AnyPath) -> bool:
    """Return whether a path is a name of standard output, such as /dev/stdout."""
    return _descriptor(path) == 1


def _descriptor(path: AnyPath) -> int | None:
    found = _DESCRIPTOR.fullmatch(os.path.normpath(os.fspath(path)))
    if found is None:
        return None
    return int(found[2]) if found[1] is None else {"out": 1, "err": 2}[found[1]]


@contextlib.contextmanager
def _naming(path: AnyPath) -> Iterator[None]:
    """Let errors of the system name the file that was asked for: the user does not know of drafts."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from error


def _write_into(path: AnyPath, data: bytes) -> None:
    known = _descriptor(path)
    handle = os.open(path, os.O_WRONLY) if known is None else os.dup(known)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)


def _write_draft(target: Path, data: bytes, replace: bool) -> None:
    """Write a draft beside the target, without a name if possible, and let it take the target's place."""
    handle, draft = _new_draft(target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            there = replace and target.exists()
            if there:
                os.chmod(handle if os.chmod in os.supports_fd else draft or target, target.stat().st_mode & 0o777)
            if draft is None and not there:
                with contextlib.suppress(FileExistsError) if replace else contextlib.nullcontext():
                    _give_name(handle, target)
                    return
            if draft is None:
                draft = _draft_name(target.parent)
                _give_name(handle, draft)
            if replace:
                os.replace(draft, target)
            else:
                _move_new(draft, target)
    except BaseException:
        if draft is not None:
            draft.unlink(missing_ok=True)
        raise


def _new_draft(folder: Path) -> tuple[int, Path | None]:
    """Open a new file in a folder, locked, with the mode that the process's mask leaves of rw-rw-rw-.

    It has no name where the system can do that, and a name of its own elsewhere.
    """
    if hasattr(os, "O_TMPFILE") and os.path.exists("/proc/self/fd"):
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
            _lock(handle)
            return handle, None
    while True:
        draft = _draft_name(folder)
        try:
            handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            continue
        _lock(handle)
        if _is_open_as(handle, draft):  # not swept away before it was locked
            return handle, draft
        os.close(handle)


def _draft_name(folder: Path) -> Path:
    return folder / f"{_DRAFT}{secrets.token_hex(8)}{_ENDING}"


def _give_name(handle: int, path: Path) -> None:
    """Give an open file without a name its name; it must not be taken."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        # Only with the descriptor of a folder does Python ask the system to follow the link to the open file.
        os.link(f"/proc/self/fd/{handle}", path.name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _move_new(draft: Path, target: Path) -> None:
    """Rename a draft to a name that must not be taken."""
    try:
        os.link(draft, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        if target.exists():  # a file system without links: no better than to look first
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.replace(draft, target)
        return
    draft.unlink()


def _sweep(folder: Path) -> None:
    """Remove the drafts that killed processes left in a folder: those that nobody has locked."""
    with contextlib.suppress(OSError):
        left = [name for name in os.listdir(folder) if name.startswith(_DRAFT) and name.endswith(_ENDING)]
        for name in left:
            with contextlib.suppress(OSError):
                handle = os.open(folder / name, os.O_RDONLY)
                try:
                    if _lock(handle):
                        os.unlink(folder / name)
                finally:
                    os.close(handle)


def _lock(handle: int, wait: bool = False) -> bool:
    """Lock an open file until it is closed, and return whether that was possible."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _open_existing(path: Path) -> int:
    """Open a file to be read; some file systems lock only what can be written."""
    try:
        return os.open(path, os.O_RDWR)
    except PermissionError:
        return os.open(path, os.O_RDONLY)


def _is_open_as(handle: int, path: Path) -> bool:
    """Return whether an open file is the one that a path names now."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
