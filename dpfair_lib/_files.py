"""Files that are whole or as they were before, and work that one process at a time may do.

A file is written under another name, ``.NAME.partial`` in the same folder, and renamed when it is whole and stored.
The process that writes it holds a lock on it, which ends with the process. So a partial file without a lock was left by
a process that was interrupted. The next writer of that file removes it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SCRATCH = re.compile("-[a-z0-9_]{8}")  # what `tempfile` puts behind a name
LOCKS = Path("/proc/locks")  # Linux lists there who holds what


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file in one step: at every moment the whole of the old or the whole of the new one is there.

    Its mode is the process's usual one (the umask decides). Two processes that write it at once take turns.

    Parameters
    ----------
    path : Path
        The file; its folder is made if it is not there.
    content : str or bytes
        What it is to hold; text is written in UTF-8.

    Raises
    ------
    OSError
        If it cannot be written; the error names the file, which is then as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(
    path: Path, *, wait: bool = True, like: Path | None = None, left: Callable[[Path], None] | None = None
) -> Iterator[Path]:
    """Give the name under which to write a file, and put it in its place if nothing was raised meanwhile.

    Parameters
    ----------
    path : Path
        Where the file is to be; the folder must be there.
    wait : bool
        Whether to wait for another process that is writing the same file.
    like : Path, optional
        A file whose readers are the only ones who may read this one: nobody but the owner while it is written, and
        those of `like` afterwards, as far as the umask lets them. By default the umask decides.
    left : callable, optional
        Called with the partial file of an interrupted process, after it was removed.

    Yields
    ------
    Path
        The partial file, empty; it is to be written, not replaced.

    Raises
    ------
    BlockingIOError
        If another process is writing the file and ``wait`` is False.
    OSError
        If it cannot be written; the error names the file, which is then as it was.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        handle = _own(partial, wait, f"{path.name} is being written", left)
        try:
            mode = os.fstat(handle).st_mode & 0o777
            if like is not None:
                mode &= like.stat().st_mode
                os.fchmod(handle, 0o600)
            yield partial
            os.fsync(handle)
            os.fchmod(handle, mode)
            partial.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
        finally:
            os.close(handle)
    except OSError as error:
        if error.filename not in (None, str(partial)) or isinstance(error, BlockingIOError):
            raise
        reason = error.strerror or str(error)
        raise OSError(
            error.errno or errno.EIO, f"{reason}; not written, and as it was before", str(path)
        ) from error


@contextmanager
def held(path: Path, what: str, *, left: Callable[[Path], None] | None = None) -> Iterator[int]:
    """Hold a lock while some work is done, so that no other process does the same work at the same time.

    Parameters
    ----------
    path : Path
        The lock's file, one for each kind of work; its folder is made if it is not there. It is removed afterwards.
    what : str
        The work and that it is under way, for the error: "the book is being built".
    left : callable, optional
        Called with the file first if an earlier process was interrupted.

    Yields
    ------
    int
        The open lock: a program that inherits this descriptor holds it too, until it ends.

    Raises
    ------
    BlockingIOError
        If another process is doing it; the error names that process if the system gives its number.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = _own(path, False, what, left)
    try:
        yield handle
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(handle)


@contextmanager
def scratch_folder(parent: Path, name: str) -> Iterator[Path]:
    """Give an empty folder to prepare something in, inside another one; it is gone afterwards.

    What a process that was cut off left there under the same name is removed first.

    Parameters
    ----------
    parent : Path
        The folder in which it is made.
    name : str
        What it is for; it begins with a dot and this name.

    Yields
    ------
    Path
        The folder.
    """
    for path in parent.glob(f".{name}-*"):
        if SCRATCH.fullmatch(path.name.removeprefix(f".{name}")):
            _remove_if_left(path)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=parent))
        handle = os.open(folder, os.O_RDONLY)
        # until it was locked, another process could take it for left
        if lock(handle) and still_at(handle, folder):
            break
        os.close(handle)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _remove_if_left(folder: Path) -> None:
    with contextlib.suppress(OSError):  # whose it is, or nobody's any more
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if lock(handle):
                shutil.rmtree(folder)
        finally:
            os.close(handle)


def sync(path: Path) -> None:
    """Wait until the content of a file is on the disk, so that a full disk is known by now."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def lock(handle: int, wait: bool = False) -> bool:
    """Lock an open file or folder until it is closed or the process ends, and return whether that succeeded."""
    import fcntl  # on Linux and macOS; data that are there can be read without

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def still_at(handle: int, path: Path) -> bool:
    """Return whether an open file or folder is the one that has a name now."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def _own(path: Path, wait: bool, what: str, left: Callable[[Path], None] | None) -> int:
    """Make a file that is not there, lock it and return it open."""
    while True:
        made = True
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            made = False
            try:
                handle = os.open(path, os.O_RDONLY)
            except FileNotFoundError:
                continue
        try:
            if not lock(handle, wait):
                raise BlockingIOError(
                    errno.EAGAIN, f"{what} by {_holder(handle)} now; wait for it", str(path)
                )
            # between opening and locking it may have been given its name, or been removed, by who held it
            if still_at(handle, path):
                if made:
                    owned, handle = handle, -1
                    return owned
                path.unlink()
                if left is not None:
                    left(path)
        finally:
            if handle >= 0:
                os.close(handle)


def _holder(handle: int) -> str:
    """Name the process that holds a lock."""
    inode = str(os.fstat(handle).st_ino)
    with contextlib.suppress(OSError):
        for line in LOCKS.read_text(encoding="ascii").splitlines():
            fields = line.split()
            if fields[1] == "FLOCK" and fields[5].rpartition(":")[2] == inode and fields[4].isdigit():
                return f"process {fields[4]}"
    return "another process"
