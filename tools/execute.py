"""Run the chapters of the book, several at a time, and keep what has not changed.

Examples
--------
``execute.py --into DIR [--parameters FILE.yml] [--without-data] [CHAPTER ...]`` runs into a folder.
``execute.py --into DIR --stored`` runs only the chapters that read data sets, and copies the others' stored ones.
``execute.py --store [CHAPTER ...]`` refreshes the stored ``.ipynb`` beside each chapter, run without data.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from chapters import (
    ANSI,
    FOLDER,
    INJECTED,
    ROOT,
    name_cells,
    read_receipt,
    read_source,
    receipt_of,
    select,
    tags,
)
from inputs import chapter_key, data_folders, digest_common, load_parameters

from dpfair_lib._files import write_whole
from dpfair_lib._processes import end_with

SECONDS_PER_CELL = 900  # far above any budget; it only ends what hangs
TRACEBACK_LINES = 18
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Task:
    """One chapter to run: its name, the repository it is in, its parameters, and where the result goes."""

    chapter: str
    root: Path
    target: Path
    key: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What became of a chapter: how long it took, and its error if it failed."""

    chapter: str
    seconds: float
    error: str = ""


# ---------------------------------------------------------------- one chapter, in a worker


def prepare_worker(parent: int) -> None:
    """Leave the terminal's signals to the parent, and end with it however it ends."""
    os.setsid()
    end_with(parent)


def run_chapter(task: Task) -> Outcome:
    """Run one chapter and put its result in place; if it fails, the earlier result stays."""
    start = time.perf_counter()
    try:
        content = execute(task)
        seconds = time.perf_counter() - start
        keep(task, content, seconds)
    except Exception as error:  # whatever happens to one chapter, the others are to finish
        return Outcome(task.chapter, time.perf_counter() - start, explain(error))
    return Outcome(task.chapter, seconds)


def keep(task: Task, content: bytes, seconds: float) -> None:
    """Put a result in place, and then, if its task has a key, what it was made from."""
    if not task.target.exists() or task.target.read_bytes() != content:
        write_whole(task.target, content)
    if task.key:
        sha256 = hashlib.sha256(content).hexdigest()
        receipt = {"key": task.key, "sha256": sha256, "seconds": round(seconds, 1)}
        write_whole(receipt_of(task.target), json.dumps(receipt))


def execute(task: Task) -> bytes:
    """Run a chapter's source from top to bottom and return the notebook, free of anything volatile."""
    import nbformat
    import papermill

    source = read_source(task.root / f"{task.chapter}.md")

    def run() -> Any:
        return papermill.execute_notebook(
            nbformat.from_dict(source),
            None,
            parameters=dict(task.parameters),
            kernel_name="python3",
            language="python",
            progress_bar=False,
            cwd=str(task.root / FOLDER),
            execution_timeout=SECONDS_PER_CELL,
            extra_arguments=["--IPKernelApp.log_level=CRITICAL"],
        )

    try:
        ran = run()
    except RuntimeError as error:
        # two kernels that start at once may be given the same port; nothing of the chapter has run then
        if "before replying to kernel_info" not in str(error):
            raise
        ran = run()
    return nbformat.writes(clean(source, ran)).encode() + b"\n"


def clean(source: Any, ran: Any) -> Any:
    """Return the notebook that ran with the source's metadata: no times, paths, empty tags or random ids."""
    injected = [cell for cell in ran.cells if INJECTED in tags(cell)]
    ours = [cell for cell in ran.cells if INJECTED not in tags(cell)]
    for before, after in zip(source.cells, ours, strict=True):
        after.metadata = before.metadata
    for cell in injected:
        cell.metadata = type(cell.metadata)(tags=[INJECTED])
    for cell in ran.cells:
        if cell.cell_type == "code":
            cell.outputs = join_streams(cell.outputs)
    language = ran.metadata.get("language_info", {})
    ran.metadata = source.metadata
    ran.metadata["language_info"] = {name: language[name] for name in language if name != "version"}
    name_cells(ran)
    return ran


def join_streams(outputs: list[Any]) -> list[Any]:
    """Join consecutive pieces of the same stream: where they break depends on the machine's mood."""
    joined: list[Any] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def explain(error: Exception) -> str:
    """Say readably what went wrong: the cell, and the end of the traceback."""
    from papermill.exceptions import PapermillExecutionError

    if not isinstance(error, PapermillExecutionError):
        return f"{type(error).__name__}: {error}"
    first = next((line for line in error.source.splitlines() if line.strip()), "")
    trace = ANSI.sub("", "\n".join(error.traceback)).splitlines()
    return "\n".join([f"cell {error.cell_index + 1}, which begins: {first}", *trace[-TRACEBACK_LINES:]])


# ---------------------------------------------------------------- all chapters


@contextmanager
def surroundings(root: Path, without_data: bool) -> Iterator[None]:
    """Set the environment of the kernels; the user's own settings, caches and history stay outside."""
    with tempfile.TemporaryDirectory(prefix="chapters-", ignore_cleanup_errors=True) as folder:
        changed = dict.fromkeys(ONE_THREAD, "1") | {
            "IPYTHONDIR": f"{folder}/ipython",
            "JUPYTER_RUNTIME_DIR": f"{folder}/runtime",
            "JUPYTER_PATH": f"{sys.prefix}/share/jupyter",  # this environment's kernel, before a user's own
            "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR", str(root / "_build" / "matplotlib")),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # else a debugger nobody uses writes a warning
        }
        if without_data:
            changed["XDG_CACHE_HOME"] = f"{folder}/cache"
        # what one chapter has judged, the others need not judge again; set to nothing, each judges afresh
        if kept := os.environ.get("DPFAIR_LEDGER", str(root / "_build" / "ledger")):
            changed["DPFAIR_LEDGER"] = str(Path(kept).resolve())
        if named := os.environ.get("DPFAIR_DATA"):
            changed["DPFAIR_DATA"] = str(Path(named).resolve())  # chapters run in another folder
        before = dict(os.environ)
        os.environ.update(changed)
        if without_data:
            os.environ.pop("DPFAIR_DATA", None)
        warm_fonts()
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def warm_fonts() -> None:
    """Let matplotlib list the fonts once; a chapter that does it prints a warning into its output."""
    folder = Path(os.environ["MPLCONFIGDIR"])
    if not list(folder.glob("fontlist-*.json")):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [sys.executable, "-c", "import matplotlib.font_manager"], check=False, capture_output=True
        )


def run_all(tasks: list[Task], jobs: int) -> Iterator[Outcome]:
    """Run tasks in a pool of fresh processes, whose kernels end with them.

    Yields
    ------
    Outcome
        Of each task, in the order in which they end.
    """
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        min(jobs, len(tasks)), mp_context=context, initializer=prepare_worker, initargs=(os.getpid(),)
    )
    try:
        waiting: dict[Future[Outcome], Task] = {pool.submit(run_chapter, task): task for task in tasks}
        for future in as_completed(waiting):
            try:
                yield future.result()
            except BrokenProcessPool:
                yield Outcome(waiting[future].chapter, 0.0, "its worker process was killed (out of memory?)")
        pool.shutdown()
    finally:
        # after an interruption nobody waits: a kernel ends within a second of its worker
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in multiprocessing.active_children():
            worker.kill()
            worker.join()


def report(outcome: Outcome) -> None:
    """Print one line for a chapter, and its error if it has one."""
    verb = "failed" if outcome.error else "ran "
    lines = [f"{verb} {outcome.chapter}  {outcome.seconds:.1f} s"]
    lines += [f"    {line}" for line in outcome.error.splitlines()]
    print("\n".join(lines), flush=True)


def run_into(
    root: Path, into: Path, wanted: list[str], overrides: Path | None, without_data: bool, jobs: int
) -> int:
    """Run into a folder what has changed since it was last run there, and return how many failed."""
    chosen, parameters = select(root, wanted), load_parameters(root, overrides)
    common = digest_common(root, [] if without_data else data_folders()) + str(without_data)
    due: list[tuple[float, Task]] = []
    for chapter in chosen:
        mine = parameters.get(chapter, {})
        key = chapter_key(root, chapter, mine, common)
        task = Task(chapter, root, into / f"{chapter}.ipynb", key, mine)
        receipt = read_receipt(task.target)
        if receipt.get("key") == key:
            print(f"kept {chapter}  unchanged", flush=True)
        else:
            due.append((receipt.get("seconds", float("inf")), task))
    # the longest first, so that at the end no core waits for one that began late
    due.sort(key=lambda pair: -pair[0])
    return run([task for _, task in due], root, without_data, jobs)


def copy_stored(root: Path, into: Path, wanted: list[str]) -> list[str]:
    """Copy the stored notebooks of chapters that read no data set into a folder, and return the other chapters."""
    others = []
    for chapter in select(root, wanted):
        if reads_data(root / f"{chapter}.md"):
            others.append(chapter)
        else:
            target = into / f"{chapter}.ipynb"
            receipt_of(target).unlink(missing_ok=True)  # nothing says what it was made from
            write_whole(target, (root / f"{chapter}.ipynb").read_bytes())
    return others


def reads_data(source: Path) -> bool:
    """Return whether a chapter's code loads a data set."""
    code = (cell.source for cell in read_source(source).cells if cell.cell_type == "code")
    return any(re.search(r"\bload\(", text) for text in code)


def run_store(root: Path, wanted: list[str], jobs: int) -> int:
    """Run chapters without data, refresh the stored notebooks beside them, and return how many failed."""
    tasks = [Task(chapter, root, root / f"{chapter}.ipynb", key="") for chapter in select(root, wanted)]
    return run(tasks, root, True, jobs)


def run(tasks: list[Task], root: Path, without_data: bool, jobs: int) -> int:
    """Run tasks, print a line for each, and return how many failed."""
    if not tasks:
        return 0
    failed = 0
    with surroundings(root, without_data), closing(run_all(tasks, jobs)) as outcomes:
        for outcome in outcomes:
            report(outcome)
            failed += bool(outcome.error)
    return failed


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def stop(number: int, _frame: FrameType | None) -> NoReturn:
    """End in good order on a signal: what is under way is given up, what is finished is kept."""
    raise SystemExit(128 + number)


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, run, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--into", type=Path, metavar="DIR", help="folder for the executed notebooks")
    where.add_argument("--store", action="store_true", help="refresh the stored notebooks, run without data")
    parser.add_argument("--parameters", type=Path, metavar="FILE.yml", help="chapter → {name: value}")
    parser.add_argument("--without-data", action="store_true", help="run as if no data set were there")
    parser.add_argument(
        "--stored", action="store_true", help="copy the stored notebooks of chapters that read no data set"
    )
    parser.add_argument(
        "--jobs", type=int, default=cores(), help="chapters run at a time (default: the cores)"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this one)")
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help="default: all in _toc.yml")
    said = parser.parse_args(arguments)
    if said.store and said.parameters:
        parser.error("stored notebooks have the chapters' own parameters: use --into with --parameters")
    if said.stored and (said.store or said.parameters):
        parser.error("--stored copies notebooks as they are: use it with --into, without --parameters")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    root = said.root.resolve()
    try:
        if said.store:
            failed = run_store(root, said.chapters, said.jobs)
        else:
            into, wanted = said.into.resolve(), said.chapters
            due = copy_stored(root, into, wanted) if said.stored else wanted
            nothing_due = said.stored and not due
            failed = (
                0 if nothing_due else run_into(root, into, due, said.parameters, said.without_data, said.jobs)
            )
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
