"""Atomic writing of files, and updates by several processes without lost changes."""

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

# Names of descriptors that are already open. Opening such a name again would overwrite what was written before.
_DESCRIPTOR = re.compile(r"/dev/std(out|err)|(?:/dev|/proc/self)/fd/(\d+)")
# How the names of drafts begin and end. They do not contain the name of the target, because the result might be too
# long for the file system.
_DRAFT, _ENDING = ".costcurves-", ".tmp"


def write_atomically(path: AnyPath, content: str | bytes, *, replace: bool = True) -> None:
    """Write text (as UTF-8) or bytes to a file so that readers see either the old or the new content, never a part.

    A new file gets the mode that `open` would give it, and a replaced file keeps its mode. Links are followed: the link
    remains, and the file that it points to is replaced. A pipe, a device or /dev/stdout is written to directly. Several
    threads and processes may write to the same path at once. The last one to finish wins; with ``replace=False`` the
    first one wins and the others raise `FileExistsError`.

    If the system supports files without a name, a new file has no name until it is complete, so that a process that is
    killed leaves nothing behind. Otherwise, and when a file is replaced, a process that is killed at the wrong moment
    may leave a draft behind, which the next write in that folder removes.
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
    """Replace the content of a file by ``change(content)``, one process at a time, so that no change is lost.

    `change` is called with None if the file does not exist yet. If another process creates the file in the meantime,
    `change` is called again with its content. The lock is on the file itself and ends with the process. There is no
    lock on systems without `flock`.
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
    """Follow all links of a path."""
    return Path(os.path.realpath(path))


def is_stream(path: AnyPath) -> bool:
    """Whether a path is written to directly instead of replaced: a device, a pipe or an open descriptor."""
    if _descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def is_standard_output(path: AnyPath) -> bool:
    """Whether a path is a name of standard output, such as /dev/stdout."""
    return _descriptor(path) == 1


def _descriptor(path: AnyPath) -> int | None:
    found = _DESCRIPTOR.fullmatch(os.path.normpath(os.fspath(path)))
    if found is None:
        return None
    return int(found[2]) if found[1] is None else {"out": 1, "err": 2}[found[1]]


@contextlib.contextmanager
def _naming(path: AnyPath) -> Iterator[None]:
    """Let system errors name the requested file, because users do not know about drafts."""
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
    """Write a draft in the folder of the target, without a name if possible, and rename it to the target."""
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
    """Open and lock a new file in a folder, with mode rw-rw-rw- restricted by the umask of the process.

    The file has no name if the system supports that, and a unique name otherwise.
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
    """Give an open file that has no name a name, which must not exist yet."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        # Python asks the system to follow the link to the open file only if a folder descriptor is given.
        os.link(f"/proc/self/fd/{handle}", path.name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _move_new(draft: Path, target: Path) -> None:
    """Rename a draft to a name that must not exist yet."""
    try:
        os.link(draft, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        if target.exists():  # without hard links, the best we can do is to check first
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.replace(draft, target)
        return
    draft.unlink()


def _sweep(folder: Path) -> None:
    """Remove drafts that killed processes left in a folder, which are those that are not locked."""
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
    """Lock an open file until it is closed. Return whether this was possible."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _open_existing(path: Path) -> int:
    """Open a file for reading, and for writing if possible, because some file systems lock only writable files."""
    try:
        return os.open(path, os.O_RDWR)
    except PermissionError:
        return os.open(path, os.O_RDONLY)


def _is_open_as(handle: int, path: Path) -> bool:
    """Whether an open file is still the one that the path refers to."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
