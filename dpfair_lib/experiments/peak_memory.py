"""What this process holds in memory, now and at its peak."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

MEBIBYTE = 2**20


def forget_peak() -> int | None:
    """Give freed memory back to the system, and let the peak of this process's memory begin anew.

    What the process keeps after it freed it would not count when it is used again. Only the C library of GNU can give
    it back; with another one, small peaks are too small. Python keeps its pools for objects of up to 512 bytes.

    Returns
    -------
    int or None
        What the process holds now, in bytes; None where the system does not tell.
    """
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():  # not Linux
        return None
    gc.collect()
    if give_back := getattr(ctypes.CDLL(None), "malloc_trim", None):
        give_back(0)
    reset.write_text("5", encoding="ascii")
    return held("VmRSS")


def mebibytes_above(before: int | None) -> float | None:
    """Return what the process held at its peak above an amount, in mebibytes; None where the system does not tell.

    Parameters
    ----------
    before : int or None
        From `forget_peak`, in bytes.
    """
    peak = held("VmHWM")
    return None if peak is None or before is None else (peak - before) / MEBIBYTE


def held(name: str) -> int | None:
    """Return what the system says of this process's memory, in bytes.

    Parameters
    ----------
    name : str
        ``"VmRSS"``, now, or ``"VmHWM"``, at the peak.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    return 1024 * int(status.read_text(encoding="utf-8").split(f"{name}:")[1].split()[0])
