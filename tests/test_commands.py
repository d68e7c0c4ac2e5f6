"""What all commands have in common: each exit status with a real process, progress, logging, signals."""

import argparse
import io
import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dpfair_lib
from dpfair_lib import __main__ as command
from dpfair_lib._commands import EXITS, Ended, add_common, ending_in_order, exit_table, logged, progress_on
from dpfair_lib._files import whole_file
from dpfair_lib.datasets.loading import SPECS

OPTIONS = ("--column", "g", "--labels", "a,b", "--epsilon", "1")


def start(*arguments, program=("-m", "dpfair_lib")):
    return subprocess.Popen(
        [sys.executable, *program, *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_signals,
    )  # fmt: skip


def hear_signals():
    """Undo what a test run in the background leaves to its children: ignored signals."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def run(*arguments, **options):
    process = start(*arguments, **options)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("g\na\nb\n")
    return path


def test_0_is_done_and_1_is_refused_and_2_is_a_wrong_command_line(tmp_path, source):
    status, out, err = run("randomize", source, tmp_path / "out.csv", *OPTIONS)
    assert (status, err) == (0, "")
    assert "ε = 1 (pure), local" in out
    status, out, err = run("randomize", source, tmp_path / "out.csv", *OPTIONS)
    assert (status, out) == (1, "")
    assert "out.csv: exists already, and overwrite is not set" in err
    for wrong, message in (
        (("--epsilon", "0"), "found 2, expected 1"),
        (("--mechanism", "laplace"), "invalid choice"),
        (("--no-such-option",), "unrecognized arguments"),
    ):
        status, out, err = run("randomize", source, tmp_path / "new.csv", *OPTIONS, *wrong)
        assert (status, out) == (2, "")
        assert message in err
        assert not (tmp_path / "new.csv").exists()
    assert run()[0] == 2


WITHOUT_ARROW = """
import sys
sys.modules["pyarrow"] = None
from dpfair_lib.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_3_is_a_package_that_is_missing(tmp_path, source):
    status, out, err = run("randomize", source, tmp_path / "out.csv", *OPTIONS, program=["-c", WITHOUT_ARROW])
    assert (status, out) == (3, "")
    assert 'pip install "dpfair-lib[files]"' in err
    assert "Traceback" not in err


def test_4_is_another_process_that_writes_the_same_file(tmp_path, source):
    target = tmp_path / "out.csv"
    with whole_file(target) as partial:
        status, out, err = run("randomize", source, target, *OPTIONS)
        assert partial.exists()
    target.unlink()
    assert (status, out) == (4, "")
    assert err == f"out.csv is being written by process {os.getpid()} now; wait for it\n"
    assert run("randomize", source, target, *OPTIONS)[0] == 0


SLOW = """
import sys, time
import dpfair_lib.datasets.cli as cli
from dpfair_lib.__main__ import main
def slow(*arguments, **options):
    print("begun", flush=True)
    time.sleep(60)
cli._list = slow
sys.exit(main(["data"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_128_and_more_is_a_signal(number):
    process = start(program=["-c", SLOW])
    assert process.stdout.readline() == "begun\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (128 + number, "", f"ended by {number.name}\n")


def test_a_reader_that_goes_away_is_no_error_to_be_shown():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "dpfair_lib", "data", "--quiet"], stdout=writing, stderr=subprocess.PIPE, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["choose", "--help"], ["randomize", "--help"], ["data", "--help"], ["claims", "--help"]],
)
def test_the_help_has_the_table_of_exit_statuses(capsys, arguments):
    with pytest.raises(SystemExit, match="0"):
        command.main(arguments)
    shown = capsys.readouterr().out
    assert exit_table() in shown
    assert all(meaning in shown for meaning in EXITS.values())
    assert "  4        another process" in shown
    assert "  128 + n  it was ended by signal n" in shown
    if len(arguments) > 1:
        assert all(option in shown for option in ("--json", "--quiet", "--verbose"))


ONLY_WHAT_IS_ASKED_FOR = """
import sys
from dpfair_lib.__main__ import COMMANDS, main
main(["claims", "--only", "isit.alg-1", "--quiet"])
print(sorted(name for name, (module, _) in COMMANDS.items() if module in sys.modules))
"""


def test_of_the_commands_only_the_one_that_is_asked_for_is_imported():
    status, out, _ = run(program=["-c", ONLY_WHAT_IS_ASKED_FOR])
    assert (status, out.splitlines()[-1]) == (0, "['claims']")


def test_the_version_is_that_of_the_library(capsys):
    with pytest.raises(SystemExit, match="0"):
        command.main(["--version"])
    assert capsys.readouterr().out == f"dpfair {dpfair_lib.__version__}\n"


def test_the_book_has_the_same_table():
    page = (Path(__file__).parents[1] / "book" / "command-line.md").read_text(encoding="utf-8")
    for status, meaning in EXITS.items():
        assert f"| {'128 + n' if status == 128 else status} | {meaning} |" in page


class Screen(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def shown(terminal, times, total=100):
    screen, now = Screen(terminal), iter([0.0, *times])
    show = progress_on(screen, "rows", clock=lambda: next(now))
    for at in range(len(times)):
        show((at + 1) * total // len(times), total)
    return screen.getvalue()


def test_progress_is_silent_for_two_seconds_then_a_line_on_a_terminal():
    assert shown(True, [0.5, 1.0, 1.9]) == ""
    assert shown(True, [1.0, 2.1, 2.2, 3.0]) == (
        "\r 50.0%  50 of 100 rows\r 75.0%  75 of 100 rows\r100.0%  100 of 100 rows\n"
    )


def test_progress_elsewhere_is_a_line_every_ten_seconds_and_at_the_end():
    assert shown(False, [0.5, 1.0, 1.9]) == ""
    assert shown(False, [1.0, 2.1, 2.2, 11.0, 12.2, 13.0, 13.1, 14.0]) == (
        " 25.0%  25 of 100 rows\n 62.0%  62 of 100 rows\n100.0%  100 of 100 rows\n"
    )
    assert shown(False, [3.0], total=0) == "  0.0%  0 of 0 rows\n"


def test_the_log_is_seen_only_when_asked_for(capsys):
    logger = logging.getLogger("dpfair_lib.local.files")
    logger.info("first")
    with logged(False):
        logger.info("second")
    before = logging.getLogger("dpfair_lib").handlers[:]
    with logged(True):
        logger.info("third")
    logger.info("fourth")
    assert capsys.readouterr().err == "dpfair_lib.local.files: third\n"
    assert logging.getLogger("dpfair_lib").handlers == before


def test_the_common_options():
    parser = argparse.ArgumentParser()
    add_common(parser)
    assert vars(parser.parse_args([])) == {"json": False, "quiet": False, "verbose": False}


def test_a_signal_raises_and_the_handlers_are_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with pytest.raises(Ended) as ended, ending_in_order():
        signal.raise_signal(signal.SIGTERM)
    assert (ended.value.status, str(ended.value)) == (143, "ended by SIGTERM")
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_data_as_json(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("DPFAIR_DATA", raising=False)
    assert command.main(["data", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert list(listed) == list(SPECS)
    assert {entry["found"] for entry in listed.values()} == {None}
