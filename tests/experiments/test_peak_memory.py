"""Memory of this process: counted from the last reset."""

import ctypes
import mmap
from pathlib import Path

from dpfair_lib.experiments import peak_memory
from dpfair_lib.experiments.peak_memory import MEBIBYTE, forget_peak, mebibytes_above


def test_memory_is_counted_from_the_last_reset():
    if (before := forget_peak()) is None:
        assert not Path("/proc/self/clear_refs").exists()
        return
    # pages of its own: an array may stand where memory was freed before, and is then no more memory
    with mmap.mmap(-1, 64 * MEBIBYTE) as block:
        for at in range(0, len(block), mmap.PAGESIZE):
            block[at] = 1
    assert 60 <= mebibytes_above(before) <= 80
    before = forget_peak()
    assert mebibytes_above(before) < 10  # the block is forgotten


def test_memory_that_was_freed_counts_when_it_is_used_again():
    """Small blocks come from the heap; while the last one is held, what was freed below it stays with the process."""

    def blocks():
        return [bytes(2000) for _ in range(40_000)]  # 76 MiB, each too large for Python's own pools

    if forget_peak() is None or getattr(ctypes.CDLL(None), "malloc_trim", None) is None:
        return
    held = [blocks()[-1]]
    before = forget_peak()
    held.append(blocks()[-1])
    assert 70 <= mebibytes_above(before) <= 90


def test_nothing_is_said_where_the_system_does_not_tell(monkeypatch, tmp_path):
    monkeypatch.setattr(peak_memory, "Path", lambda _: tmp_path / "none")
    assert forget_peak() is None
    assert mebibytes_above(None) is None
    assert mebibytes_above(0) is None
