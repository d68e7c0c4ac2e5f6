"""Runs tests in forked processes, with the library as it is, marked, or with one change in memory.

The parent has the other packages loaded, and not the library: a child imports that afresh, with the change.
"""

import ast
import contextlib
import functools
import hashlib
import importlib
import importlib.machinery
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mutant_sites import place

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "dpfair_lib"
OWN = (LIBRARY, ROOT / "tests", ROOT / "tools")
OPTIONS = [
    *("-x", "-q", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"),
    *(
        "-p",
        "no:nbval",
        "-p",
        "no:xdist",
        "-p",
        "no:faulthandler",
    ),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # the parent has loaded the plugins
    "--assert=plain",  # that a test fails is enough
]
WALL = (
    3600.0  # seconds after which a child that waits for something is ended; processor time is limited by test
)
Tests = dict[str, float]


def in_child(task: Callable[[Path], Any], folder: Path) -> int:
    """Fork a child that writes what `task` returns to ``folder/result``; return its process id."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.chdir(ROOT)
        sys.dont_write_bytecode, sys.pycache_prefix = False, str(ROOT / "_build" / "mutants" / "bytecode")
        sink = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        os.environ.update(TMPDIR=str(folder), XDG_CACHE_HOME=str(folder), DPFAIR_LEDGER="")
        tempfile.tempdir = str(folder)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
        same_examples(folder)
        found = task(folder)
        (folder / "partial").write_text(json.dumps(found))
        (folder / "partial").rename(folder / "result")
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def ended(child: int, start: float) -> int | None:
    """Return the status of a child that has ended, or was now ended for lasting too long; else None."""
    done, status = os.waitpid(child, os.WNOHANG)
    late = time.monotonic() - start > WALL
    if not done and not late:
        return None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # with what it has started
    if not done:
        os.waitpid(child, 0)
    return signal.SIGXCPU if late else status


def each(tasks: Iterator[tuple[Any, Callable[[Path], Any]]], jobs: int) -> Iterator[tuple[Any, int, Any]]:
    """Run tasks in children, some at a time; yield each one's name, exit status and result as it ends.

    In the place of a result that is missing stands the end of what the child printed.
    """
    running: dict[int, tuple[Any, float, Path]] = {}
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no child is left behind
    try:
        while True:
            while len(running) < jobs and (due := next(tasks, None)):
                folder = Path(tempfile.mkdtemp(prefix="mutant-"))
                running[in_child(due[1], folder)] = (due[0], time.monotonic(), folder)
            if not running:
                return
            time.sleep(0.02)
            for child, (name, start, folder) in list(running.items()):
                status = ended(child, start)
                if status is not None:
                    del running[child]
                    result = folder / "result"
                    output = (folder / "output").read_text(errors="replace")
                    found = json.loads(result.read_text()) if result.exists() else output[-2000:]
                    shutil.rmtree(folder, ignore_errors=True)
                    yield name, status, found
    finally:
        for child, (_, _, folder) in running.items():
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            shutil.rmtree(folder, ignore_errors=True)


def same_examples(folder: Path) -> None:
    """Let hypothesis try the same examples every time, whichever profile the tests load."""
    from hypothesis import HealthCheck, configuration, settings

    configuration.set_hypothesis_home_dir(folder)
    load = settings.load_profile

    made = set()

    def fixed(name: str) -> None:
        own = f"mutants: {name}"
        if own not in made:  # a second run of pytest in this process loads the profiles again
            made.add(own)
            settings.register_profile(
                own,
                settings.get_profile(name),
                derandomize=True,
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            )
        load(own)

    type.__setattr__(settings, "load_profile", staticmethod(fixed))  # its class forbids a plain assignment
    fixed("default")


def warm(modules: list[str]) -> None:
    """Import what tests use of other packages."""
    for name in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def replace_source(sources: dict[Path, str]) -> None:
    """Make Python run other code than the files hold; the text is kept for who asks for it."""
    get_code = importlib.machinery.SourceFileLoader.get_code

    def replaced(self: Any, name: str) -> Any:
        found = sources.get(Path(self.path))
        if found is None:
            return get_code(self, name)
        shown = Path(tempfile.gettempdir(), Path(self.path).name)
        shown.write_text(found)
        return compile(found, str(shown), "exec")

    importlib.machinery.SourceFileLoader.get_code = replaced


def kill(file: str, text: str, batches: list[Tests], otherwise: str = "") -> Callable[[Path], Any]:
    """Make the task that runs batches of tests on a changed module until one fails, and names it.

    Where the first batch is no longer there, all tests of the folder `otherwise` run, if it is given.
    """

    def task(_: Path) -> dict[str, str]:
        replace_source({LIBRARY / file: text})
        for tests in batches:
            chosen = Chosen(tests)
            named = dict.fromkeys(ROOT / test.partition("::")[0] for test in tests)
            paths = [str(path) for path in named if path.exists()]
            code = (
                pytest.main([*OPTIONS, *paths], plugins=[chosen])
                if paths
                else pytest.ExitCode.NO_TESTS_COLLECTED
            )
            if code == pytest.ExitCode.NO_TESTS_COLLECTED and otherwise:
                code = pytest.main([*OPTIONS, str(ROOT / otherwise)], plugins=[chosen := Chosen({})])
            if code not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
                return {"by": chosen.failed or "the tests cannot be collected"}
        return {"by": ""}

    return task


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
        if report.failed and not self.failed:
            self.failed = report.nodeid


def trace(path: Path, rooms: list[str]) -> Callable[[Path], Any]:
    """Make the task that finds which statements of the rooms each test of a file runs, and how long it takes."""

    def task(_: Path) -> dict[str, Any]:
        files = sorted(file for room in rooms for file in (LIBRARY / room).rglob("*.py"))
        tracer = Tracer()
        replace_source({file: marked(str(file.relative_to(LIBRARY)), file.read_text()) for file in files})
        sys.modules["builtins"].__dict__["__mark__"] = tracer.seen.add
        options = [option for option in OPTIONS if option != "-x"]
        code = pytest.main([*options, str(path)], plugins=[tracer])
        if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            raise RuntimeError(f"{path}: pytest ended with {code!r}")

        places = sorted(tracer.shared.union(*tracer.lines.values()))
        number = {place: at for at, place in enumerate(places)}
        return {
            "places": places,
            "shared": sorted(number[place] for place in tracer.shared),
            "tests": {
                name: {"seconds": tracer.seconds[name], "places": sorted(number[place] for place in found)}
                for name, found in tracer.lines.items()
                if name in tracer.passed
            },
            "failed": sorted(set(tracer.lines) - tracer.passed),
            "modules": sorted(name for name in sys.modules if not ours(name)),
        }

    return task


class Tracer:
    """A pytest plugin: which marks each test passes, with nothing remembered from the tests before it."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.shared: set[str] = set()  # while importing, and in fixtures that tests may share
        self.lines: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}
        self.passed: set[str] = set()
        self.caches: list[Any] = []
        plain = functools.lru_cache

        def noted(*args: Any, **options: Any) -> Any:
            made = plain(*args, **options)
            if hasattr(made, "cache_clear"):
                self.caches.append(made)
                return made
            return lambda function: self.caches.append(made(function)) or self.caches[-1]

        functools.lru_cache = noted

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Forget what the library and the tests cached; count the marks of fixtures as those of all tests."""
        for cached in self.caches:
            if ours(cached.__module__):
                cached.cache_clear()
        self.seconds[item.nodeid] = -time.process_time()
        try:
            return (yield)
        finally:
            self.shared |= self.seen
            self.seen.clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Take the marks of the test, without those of modules that it is the first to import."""
        try:
            return (yield)
        finally:
            imported = {place for place in self.seen if ":" not in place}
            self.shared |= imported
            self.lines[item.nodeid] = self.seen - imported
            self.seen.clear()
            self.seconds[item.nodeid] = round(self.seconds[item.nodeid] + time.process_time(), 3)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note which tests pass."""
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)


def marked(file: str, source: str) -> str:
    """Write into a module that every statement of a function tells that it runs, and the module its import."""
    tree = ast.parse(source)

    def mark(place: str) -> ast.stmt:
        return ast.parse(f"__mark__({place!r})").body[0]

    def fill(node: ast.AST, function: str) -> None:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            fill(child, f"{function}.{child.name}".lstrip(".") if named else function)
        for field in ("body", "orelse", "finalbody"):
            found = getattr(node, field, None)
            if isinstance(found, list) and not isinstance(node, ast.Module | ast.ClassDef):
                new = [part for item in found for part in (mark(place(file, function, item)), item)]
                plain = isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None
                setattr(node, field, new[1:] if plain else new)

    if "torch.jit" not in source:  # which compiles the text, and knows no marks
        fill(tree, "")
    future = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    where = 1 + max((tree.body.index(n) for n in future), default=0 if ast.get_docstring(tree) else -1)
    tree.body.insert(where, mark(file))
    return ast.unparse(ast.fix_missing_locations(tree))


def ours(module: str) -> bool:
    """Whether a module is the library's or the tests' own."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and any(folder in Path(file).parents for folder in OWN)


def digest(*files: Path) -> str:
    """Return the start of the SHA-256 of files' contents."""
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]
