"""Runs tests in forked processes, with the library as it is, watched by coverage, or with one change in memory.

The parent has other packages loaded, and not the library: a child imports that afresh, with the change.
"""

import contextlib
import functools
import importlib
import importlib.machinery
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import coverage
import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "dpfair_lib"
OPTIONS = ["-q", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), "--assert=plain"]
OPTIONS += [f"-pno:{name}" for name in ("cacheprovider", "nbval", "xdist", "faulthandler")]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # the parent has loaded the plugins
WARM = ("torch", "pandas", "sklearn.linear_model", "scipy.stats", "hypothesis.extra.numpy", "opendp.mod")
WALL = 3600  # seconds after which a child that waits is ended; processor time is limited test by test
Tests = dict[str, float]


def each(tasks: Iterator[tuple[Any, Callable[[], Any]]], jobs: int) -> Iterator[tuple[Any, int, Any]]:
    """Run tasks in children, some at a time; yield each one's name, exit code and result, or what it printed."""
    for name in WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    running: dict[Any, tuple[Any, Any, Path]] = {}
    while True:
        while len(running) < jobs and (due := next(tasks, None)):
            folder = Path(tempfile.mkdtemp(prefix="mutant-"))
            child = multiprocessing.get_context("fork").Process(target=_in_child, args=(due[1], folder))
            child.start()
            running[child.sentinel] = due[0], child, folder
        if not running:
            return
        name, child, folder = running.pop(wait(list(running))[0])
        child.join()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # what it has started
        result, output = folder / "result", folder / "output"
        ended = result.exists()
        found = json.loads(result.read_text()) if ended else output.read_text(errors="replace")[-2000:]
        shutil.rmtree(folder, ignore_errors=True)
        yield name, 0 if ended else child.exitcode, found


def _in_child(task: Callable[[], Any], folder: Path) -> None:
    os.setsid()
    os.chdir(ROOT)
    signal.alarm(WALL)
    sink = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(ROOT / "_build" / "mutants" / "bytecode")
    for name in ("TMPDIR", "XDG_CACHE_HOME", "HYPOTHESIS_STORAGE_DIRECTORY"):
        os.environ[name] = str(folder)
    os.environ["DPFAIR_LEDGER"], tempfile.tempdir = "", str(folder)
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    hypothesis.settings.register_profile("mutants", derandomize=True, database=None)
    hypothesis.settings.load_profile("mutants")  # where the tests' own begins: the same examples every time
    found = json.dumps(task())
    (folder / "partial").write_text(found)
    (folder / "partial").rename(folder / "result")
    os.killpg(0, signal.SIGKILL)  # itself too: else it would wait for what tests have left running


def kill(file: str, text: str, batches: list[Tests], otherwise: str = "") -> dict[str, str]:
    """Run batches of tests on a changed module until one test fails, and return its name.

    Where the first batch is no longer there, all tests of the folder `otherwise` run, if it is given.
    """
    get_code = importlib.machinery.SourceFileLoader.get_code

    def changed(self: Any, name: str) -> Any:
        if Path(self.path) != LIBRARY / file:
            return get_code(self, name)
        shown = Path(tempfile.gettempdir(), Path(file).name)  # for who asks for the text
        shown.write_text(text)
        return compile(text, str(shown), "exec")

    importlib.machinery.SourceFileLoader.get_code = changed  # type: ignore[method-assign]
    nothing = {pytest.ExitCode.NO_TESTS_COLLECTED, pytest.ExitCode.USAGE_ERROR}
    for tests in batches:
        chosen = Chosen(tests)
        code = pytest.main([*OPTIONS, "-x", *{name.partition("::")[0] for name in tests}], plugins=[chosen])
        if code in nothing and otherwise:
            code = pytest.main([*OPTIONS, "-x", otherwise], plugins=[chosen := Chosen({})])
        if code != pytest.ExitCode.OK and code not in nothing:
            return {"by": chosen.failed or "the tests cannot be collected"}
    return {"by": ""}


class Chosen:
    """A pytest plugin: the chosen tests, the quickest first, each with its own limit of processor time; or all."""

    def __init__(self, tests: Tests) -> None:
        self.tests, self.failed = tests, ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose and sort."""
        if self.tests:
            chosen = (item for item in items if item.nodeid in self.tests)
            items[:] = sorted(chosen, key=lambda item: self.tests[item.nodeid])

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Limit the test that begins."""
        limit = int(time.process_time() + 6 * self.tests.get(item.nodeid, 1.0) + 10)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first test that fails."""
        self.failed = self.failed or (report.nodeid if report.failed else "")


def trace(path: str) -> dict[str, Any]:
    """Find which lines of the library each test of a file runs, and how long it takes.

    Raises
    ------
    RuntimeError
        If the tests cannot be collected; without them no change would be noticed.
    """
    watch = coverage.Coverage(data_file=None, include=[f"{LIBRARY}/*"], config_file=False)
    watch.start()
    tracer = Tracer(watch)
    code = pytest.main([*OPTIONS, path], plugins=[tracer])
    watch.stop()
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}:
        raise RuntimeError(f"the tests of {path} cannot be collected")
    data = watch.get_data()
    lines = {str(Path(f).relative_to(LIBRARY)): data.contexts_by_lineno(f) for f in data.measured_files()}
    return {"lines": lines, "tests": tracer.passed}


class Tracer:
    """A pytest plugin: each test is a context of its own; imports and fixtures, which tests share, have none."""

    def __init__(self, watch: coverage.Coverage) -> None:
        self.watch, self.passed = watch, Tests()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Forget what the library has cached, and watch the test."""
        for module in [module for name, module in sys.modules.items() if name.startswith("dpfair_lib")]:
            for found in vars(module).values():
                if isinstance(found, functools._lru_cache_wrapper):
                    found.cache_clear()
        self.watch.switch_context(item.nodeid)
        start = time.process_time()
        try:
            yield
            self.passed[item.nodeid] = round(time.process_time() - start, 3)
        finally:
            self.watch.switch_context("")
