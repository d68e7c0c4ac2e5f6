"""``make book`` cut off, without room, or started twice: the same command works, and nothing half passes for whole."""

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import execute
import inputs
import pairs
import pytest
import render
from accidents import ROOT, full_disk, names_in, obey_modes, processes, read_only, run, start, wait_until
from chapters import read_notebook, read_receipt, receipt_of
from small_book import make_book, write

CONFIG = "title: T\nexecute:\n  execute_notebooks: 'off'\n"
EXECUTE, RENDER = ROOT / "tools/execute.py", ROOT / "tools/render.py"


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Make a book of a page and two chapters, and take it for the user's."""
    toc = "format: jb-book\nroot: book/index\nchapters:\n- file: notebooks/one\n- file: notebooks/two\n"
    make_book(tmp_path, monkeypatch, toc)
    (tmp_path / "book").mkdir()
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "book/index.md").write_text("# Index\n\nThe first text.\n")
    monkeypatch.setenv("BOOK", str(tmp_path))
    return tmp_path


def commands(book):
    into = book / "_build"
    return (
        [EXECUTE, "--root", book, "--into", into / "executed"],
        [RENDER, "--root", book, "--executed", into / "executed", "--into", into],
    )


def task_of(book, name="one"):
    return execute.Task(f"notebooks/{name}", book, book / f"_build/executed/notebooks/{name}.ipynb", "key")


def printed(path):
    return [out.text for cell in read_notebook(path).cells for out in cell.get("outputs", ())]


# ---------------------------------------------------------------- claims

JUDGES = """
import os, signal, sys
from dpfair_lib.claims import CLAIMS
from dpfair_lib.claims.judging import judge_all
left, sync = int(sys.argv[1]), os.fsync

def counted(handle):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(handle)

os.fsync = counted
chosen = [CLAIMS[name] for name in ("isit.prop-4.utility", "isit.alg-1")]
print([bool(outcome.stored_under) for outcome in judge_all(chosen, faults=True, jobs=1)])
"""


def test_claims_that_were_judged_before_the_kill_are_kept_and_the_others_judged(tmp_path):
    """Killed when the second outcome is written and not in its place."""
    environment = os.environ | {"DPFAIR_LEDGER": str(tmp_path)}
    assert run("-c", JUDGES, 1, env=environment)[0] == -signal.SIGKILL
    assert names_in(tmp_path) == [".isit.alg-1.partial", "isit.prop-4.utility"]
    assert run("-c", JUDGES, 9, env=environment)[:2] == (0, "[True, False]\n")
    assert names_in(tmp_path) == ["isit.alg-1", "isit.prop-4.utility"]


# ---------------------------------------------------------------- chapters

CUT_OFF = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import execute
from dpfair_lib import _files
task = execute.Task("notebooks/one", Path(), Path(sys.argv[2]), "key")
left = int(sys.argv[3])
replace, sync = Path.replace, os.fsync

def counted(what):
    def call(*arguments):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return what(*arguments)
    return call

Path.replace, os.fsync = counted(replace), counted(sync)
execute.keep(task, b"new", 1.0)
"""


@pytest.mark.parametrize("steps", range(5))
def test_a_chapter_is_kept_only_if_all_of_it_was_written(book, steps):
    """Killed before each step: content on the disk, in place, receipt on the disk, in place."""
    task = task_of(book)
    execute.keep(task, b"old", 1.0)
    status, _, _ = run("-c", CUT_OFF, ROOT / "tools", task.target, steps)
    assert status == (0 if steps == 4 else -signal.SIGKILL)
    content = task.target.read_bytes()
    assert content == (b"old" if steps < 2 else b"new")
    assert bool(read_receipt(task.target)) == (steps < 2 or steps == 4)
    execute.keep(task, b"newer", 1.0)
    assert read_receipt(task.target)["sha256"] == hashlib.sha256(b"newer").hexdigest()
    assert names_in(task.target.parent) == [".one.ipynb.key", "one.ipynb"], "nothing is left of it"


def test_a_killed_run_goes_on_and_a_damaged_result_is_made_again(book):
    waits = "import os, pathlib, time\nwhile not pathlib.Path(os.environ['BOOK'], 'go').exists(): time.sleep(0.05)"
    write(book, "two", "print(rows)", waits)
    into = book / "_build/executed/notebooks"
    with start(*commands(book)[0], "--jobs", "2") as process:
        wait_until(lambda: receipt_of(into / "one.ipynb").exists() or process.poll() is not None)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    wait_until(lambda: not processes(f"BOOK={book}"), 20)
    assert not (into / "two.ipynb").exists()
    (book / "go").touch()
    status, out, _ = run(*commands(book)[0])
    assert status == 0
    assert out.startswith("kept notebooks/one  unchanged\nran  notebooks/two")
    whole = (into / "one.ipynb").read_bytes()
    (into / "one.ipynb").write_bytes(whole[: len(whole) // 2])
    (into / "two.ipynb").write_bytes((into / "two.ipynb").read_bytes().replace(b"3", b"4"))
    with pytest.raises(ValueError, match=r"one\.ipynb: found other content than was written.*makes it anew"):
        render.wanted_files(book, book / "_build/executed")
    status, out, _ = run(*commands(book)[0])
    assert (status, out.count("ran ")) == (0, 2)
    assert (into / "one.ipynb").read_bytes() == whole
    assert printed(into / "two.ipynb") == ["3\n"]


def test_two_runs_into_one_folder_are_both_right(book):
    first, second = (start(*commands(book)[0], "--jobs", "1") for _ in range(2))
    assert [process.communicate(timeout=120)[1] for process in (first, second)] == ["", ""]
    assert (first.returncode, second.returncode) == (0, 0)
    into = book / "_build/executed/notebooks"
    assert [printed(into / f"{name}.ipynb") for name in ("one", "two")] == [["3\n"], ["6\n"]]
    assert all(read_receipt(into / f"{name}.ipynb") for name in ("one", "two"))
    assert names_in(into) == [".one.ipynb.key", ".two.ipynb.key", "one.ipynb", "two.ipynb"]


def test_a_full_disk_fails_the_chapter_and_spares_the_others(book):
    task = task_of(book)
    execute.keep(task, b"old", 1.0)
    with pytest.MonkeyPatch.context() as patch, full_disk(1000):
        patch.setattr(execute, "execute", lambda _: b"x" * 5000)
        outcome = execute.run_chapter(task)
    assert "File too large; not written, and as it was before" in outcome.error
    assert str(task.target) in outcome.error
    assert task.target.read_bytes() == b"old"
    assert read_receipt(task.target)
    assert names_in(task.target.parent) == [".one.ipynb.key", "one.ipynb"]


def test_folders_that_may_not_be_written_are_named(book):
    into = book / "_build/executed/notebooks"
    into.mkdir(parents=True)
    with read_only(into):
        status, out, _ = run(*commands(book)[0], "one", before=obey_modes)
    assert status == 1
    assert f"Permission denied; not written, and as it was before: '{into / 'one.ipynb'}'" in out
    for name in ("one", "two"):
        execute.keep(task_of(book, name), b'{"cells": []}', 1.0)
    with read_only(book / "_build"):
        status, _, err = run(*commands(book)[1], before=obey_modes)
    assert status == 1
    assert err.startswith("render.py: [Errno 13] Permission denied: ")
    assert str(book / "_build") in err
    assert "Traceback" not in err


@pytest.mark.parametrize("length", [0, 20, 200])
def test_a_stored_notebook_that_was_cut_off_is_named(book, length):
    task = execute.Task("notebooks/one", book, book / "notebooks/one.ipynb", "")
    execute.keep(
        task, json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode(), 1.0
    )
    task.target.write_bytes(task.target.read_bytes()[:length] * (length < 200) or b"[]")
    assert any(line.startswith("notebooks/one: cannot be read: ") for line in pairs.defects(book))


def test_a_notebook_that_cannot_be_read_is_named_before_anything_is_built(book, capsys):
    into = book / "_build"
    for name in ("one", "two"):
        execute.keep(task_of(book, name), b'{"cells": []}', 1.0)
        receipt_of(task_of(book, name).target).unlink()  # as if it had been copied there
    task_of(book).target.write_bytes(b'{"cells": [')
    with pytest.raises(SystemExit, match="2"):
        render.main(["--root", str(book), "--executed", str(into / "executed"), "--into", str(into)])
    assert "one.ipynb: cannot be read" in (said := capsys.readouterr().err)
    assert "which makes it anew" in said
    assert not (into / "source").exists()


def test_what_is_under_way_is_no_part_of_what_a_chapter_depends_on(book):
    before = inputs.digest_common(book, [book / "data"])
    for name in ("results/.r.json.partial", "data/.adult-1/adult.data"):
        (book / name).parent.mkdir(exist_ok=True)
        (book / name).touch()
    assert inputs.digest_common(book, [book / "data"]) == before
    (book / "results/r.json").touch()
    assert inputs.digest_common(book, [book / "data"]) != before


# ---------------------------------------------------------------- pages


@pytest.fixture
def executed(book):
    """Put two results there that nobody ran."""
    empty = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    for name in ("one", "two"):
        title = {"cell_type": "markdown", "id": name, "metadata": {}, "source": [f"# Chapter {name}\n"]}
        execute.keep(task_of(book, name), json.dumps(empty | {"cells": [title]}).encode(), 1.0)
    return book


def page(book, name):
    return (book / f"_build/html/{name}.html").read_text()


def build(book):
    into = book / "_build"
    return render.main(["--root", str(book), "--executed", str(into / "executed"), "--into", str(into)])


def test_pages_that_are_old_or_half_made_are_made_again(executed, capfd):
    """A clock that was set back, a build cut off while it writes pages, and one that is refused meanwhile."""
    assert build(executed) == 0
    (executed / "book/index.md").write_text("# Index\n\nThe second text.\n")
    files = render.wanted_files(executed, executed / "_build/executed")
    render.synchronise(files, executed / "_build/source")
    # as if written long before the page that shows the first text
    os.utime(executed / "_build/source/book/index.md", (10**9, 10**9))
    assert build(executed) == 0
    assert "The second text." in page(executed, "book/index")
    whole = page(executed, "notebooks/one")
    assert "Chapter one" in whole
    assert whole.endswith("</html>")
    # cut off while it wrote: the page is newer than its source, and its doctree is whole
    (executed / "_build/html/notebooks/one.html").write_text(whole[: len(whole) // 2])
    stopped = start("-c", HOLDS, executed / "_build/.rendering")
    assert stopped.stdout.readline() == "held\n"
    with pytest.raises(SystemExit, match="1"):
        build(executed)
    assert f"the book is being built by process {stopped.pid} now; wait for it" in capfd.readouterr().err
    stopped.send_signal(signal.SIGKILL)
    stopped.communicate()
    assert build(executed) == 0
    assert "Chapter one" in (again := page(executed, "notebooks/one"))
    assert again.endswith("</html>")
    assert not (executed / "_build/.rendering").exists()


HOLDS = """
import sys, time
from pathlib import Path
from dpfair_lib._files import held
with held(Path(sys.argv[1]), "the book is being built"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_killed_build_holds_the_pages_until_its_last_process_has_ended(executed, capfd):
    rendering = executed / "_build/.rendering"
    process = start(*commands(executed)[1])
    # the program that writes the pages
    wait_until(lambda: len(processes(f"BOOK={executed}")) > 1 or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    with pytest.raises(SystemExit, match="1"):
        build(executed)
    assert "the book is being built by " in capfd.readouterr().err
    wait_until(lambda: not processes(f"BOOK={executed}"))
    process.communicate()
    assert rendering.exists()
    kept = executed / "_build/.doctrees/left"
    kept.parent.mkdir(exist_ok=True)
    kept.touch()
    assert build(executed) == 0
    assert not kept.exists(), "begun anew"
    assert not rendering.exists()


@pytest.mark.parametrize("fails", ["synchronise", "build", "finish"])
def test_a_build_that_fails_anywhere_is_not_gone_on_with(executed, monkeypatch, fails):
    read = executed / "_build/.doctrees/environment.pickle"
    read.parent.mkdir()
    read.touch()

    def fail(*_, **__):
        raise OSError(28, "No space left on device", "a page")

    monkeypatch.setattr(render, "build", lambda *_, strict: int(not strict))
    monkeypatch.setattr(render, "finish", lambda *_: None)
    assert build(executed) == 0
    assert read.exists()
    monkeypatch.setattr(render, fails, fail)
    with pytest.raises(SystemExit, match="1"):
        build(executed)
    assert not read.exists()
    assert not (executed / "_build/.rendering").exists()


# ---------------------------------------------------------------- the whole build


def recipe(book):
    """Return what ``make book`` runs from the chapters on, as one line of a shell, for this book in place of ours."""
    lines = re.search(r"^book:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    plain = re.sub(r"\$\(if [^()]*(?:\$\(\w+\)[^()]*)*\)", "", lines)
    found = re.findall(r"\$\(BIN\)/python tools/(\w+\.py)(.*)", plain)
    assert [name for name, _ in found] == ["execute.py", "render.py", "publish.py"]
    program, root = shlex.quote(sys.executable), shlex.quote(str(book))
    return " && ".join(f"{program} {ROOT}/tools/{name} --root {root} {rest.strip()}" for name, rest in found)


def kill_all(book):
    while left := processes(f"BOOK={book}"):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def built(book):
    """Return the digest of every page and of the zip file."""
    into = book / "_build"
    return {
        str(path.relative_to(into)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in [*(into / "html").rglob("*"), into / "book.zip"]
        if path.is_file()
    }


def test_a_build_whose_processes_are_all_killed_is_made_whole_by_the_next(book):
    """As if the machine were switched off: in a chapter, between two, at the pages, and when they are packed."""
    make, into = ["sh", "-c", recipe(book)], book / "_build"
    subprocess.run(make, cwd=book, check=True, capture_output=True, timeout=300)
    whole = built(book)
    assert {"book.zip", "html/notebooks/one.html", "html/notebooks/two.html"} <= set(whole)
    moments = {
        "in a chapter": into / "executed/notebooks",
        "between two chapters": receipt_of(into / "executed/notebooks/one.ipynb"),
        "before the pages": into / ".rendering",
        "at the pages": into / "html/notebooks/one.html",
        "after the pages": into / "html/figures.zip",
        "at the zip file": into / ".book.zip.partial",
    }
    for moment, sign in moments.items():
        shutil.rmtree(into / "executed")
        if "chapter" not in moment:
            shutil.rmtree(into / "html")
            (into / "book.zip").unlink()
        process = subprocess.Popen(make, cwd=book, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        while not sign.exists() and process.poll() is None:
            time.sleep(0.001)
        kill_all(book)
        process.communicate()
        cut_off = process.returncode == -signal.SIGKILL
        assert cut_off or "zip" in moment, f"{moment}: it was through before it was killed"
        subprocess.run(make, cwd=book, check=True, capture_output=True, timeout=300)
        assert built(book) == whole, moment
        assert not [name for name in names_in(into) if name.endswith((".partial", ".rendering"))], moment
