"""Processes that end when the process that started them ends."""

from __future__ import annotations

import functools
import os
import threading
import time


@functools.cache  # once is enough
def end_with(parent: int) -> None:
    """End this process within a second after its parent ended. A killed parent cannot send a signal.

    Parameters
    ----------
    parent : int
        Number of the process that started this one; nothing is done if it is this one itself.
    """
    if os.getpid() == parent:
        return

    def watch() -> None:
        # whose parent is gone gets another one
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
