import os
import signal
import subprocess
import sys
import time
from pathlib import Path

CHILD = (
    "import os, time; from dpfair_lib._processes import end_with; "
    "end_with({parent}); print('on', flush=True); time.sleep({seconds})"
)
PARENT = """
import os, subprocess, sys, time
code = {child!r}.format(parent=os.getpid(), seconds=60)
child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(60)
"""


def runs(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_a_child_ends_soon_after_its_parent_was_killed():
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(child=CHILD)], stdout=subprocess.PIPE, text=True
    )
    with parent:
        child = int(parent.stdout.readline())
        assert runs(child)
        parent.send_signal(signal.SIGKILL)
    until = time.monotonic() + 20
    while runs(child) and time.monotonic() < until:
        time.sleep(0.1)
    assert not runs(child)


def test_while_the_parent_is_there_and_in_the_parent_itself_nothing_ends():
    for parent in (os.getpid(), "os.getpid()"):
        code = CHILD.format(parent=parent, seconds=1.2)
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert ended.stdout == "on\n"
