"""Ways to have an accident: a full disk, a folder that cannot be written, a process that is killed."""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

DROP_FROM_BOUNDING_SET, MAY_PASS_MODES = (
    24,
    (1, 2),
)  # prctl's option; CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


def obey_modes():
    """Let the modes of files count for the program that is started next, even where root starts it."""
    if os.geteuid() == 0:
        system = ctypes.CDLL(None, use_errno=True)
        for capability in MAY_PASS_MODES:
            if system.prctl(DROP_FROM_BOUNDING_SET, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "prctl")
    hear_signals()


def hear_signals():
    """Undo what a test run in the background leaves to its children: ignored signals."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def full_disk(room):
    """Let no file grow beyond so many bytes: the write fails that would.

    Python keeps no bytecode meanwhile: it does not notice a short write, and would later load half a module.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = before


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def read_only(folder):
    mode = folder.stat().st_mode
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(mode)


def start(*arguments, before=hear_signals, **options):
    """Start this library's Python with arguments."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=before, **options,
    )  # fmt: skip


def run(*arguments, **options):
    """Run it to its end and return its exit status, what it printed and what it complained of."""
    process = start(*arguments, **options)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def wait_until(true, seconds=60.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def names_in(folder):
    """Name every file under a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def processes(mark):
    """List the live processes whose environment holds a mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return [process for process in found if process != os.getpid()]
