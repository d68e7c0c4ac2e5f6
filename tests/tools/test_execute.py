"""Chapters run when something changed, fail without spoiling others, and leave nothing half-written."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import execute
import inputs
import pytest
from chapters import read_notebook
from small_book import HEAD, cell, make_book, write

SCRIPT = Path(execute.__file__)
TOC = "root: book/index\nparts:\n- chapters:\n  - file: notebooks/one\n    sections:\n    - file: notebooks/two\n"


@pytest.fixture
def book(tmp_path, monkeypatch):
    make_book(tmp_path, monkeypatch, TOC)
    (tmp_path / "dpfair_lib/a.py").write_text("x = 1\n")
    return tmp_path


def run(book, *arguments):
    """Run the tool as a program, from elsewhere and without the environment's folder on the path."""
    command = [sys.executable, str(SCRIPT), "--root", str(book), *arguments]
    environment = os.environ | {"PATH": "/usr/bin:/bin"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=book.parent)


def key(book, parameters=None, folders=None):
    common = inputs.digest_common(book, inputs.data_folders() if folders is None else folders)
    return inputs.chapter_key(book, "notebooks/one", parameters or {}, common)


def complaints(process):
    """Return what was complained of, but for what a kernel says that closes its sockets in another order."""
    closing = r"ERROR:tornado\.general:Uncaught exception in ZMQStream callback\n.*?non-socket\n"
    return re.sub(closing, "", process.stderr, flags=re.DOTALL)


def printed(path):
    return [out.text for cell in read_notebook(path).cells for out in cell.get("outputs", ())]


# ---------------------------------------------------------------- keys


def test_key_stays_when_nothing_changes(book):
    assert key(book) == key(book)


@pytest.mark.parametrize(
    "name",
    [
        "notebooks/one.md",
        "dpfair_lib/a.py",
        "dpfair_lib/new.pyi",
        "dpfair_lib/new.toml",
        "requirements.lock",
        "results/new.json",
        "data/adult/new.csv",
        "cache/dpfair_lib/new.csv",
    ],
)
def test_key_changes_with_what_the_chapter_depends_on(book, name):
    before = key(book)
    (book / name).parent.mkdir(parents=True, exist_ok=True)
    with (book / name).open("a") as file:
        file.write("# changed\n")
    assert key(book) != before


def test_key_changes_with_parameters_and_moved_library_files(book):
    before = key(book)
    assert key(book, {"rows": 4}) != before
    (book / "dpfair_lib/a.py").rename(book / "dpfair_lib/b.py")
    assert key(book) != before


@pytest.mark.parametrize("name", ["notebooks/two.md", "dpfair_lib/__pycache__/a.pyc", "README.md"])
def test_key_ignores_the_rest(book, name):
    before = key(book)
    (book / name).parent.mkdir(exist_ok=True)
    (book / name).write_text("changed")
    assert key(book) == before


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("one: {row: 1}", "notebooks/one has no parameter row; it has: rows"),
        ("three: {rows: 1}", "no such chapter in _toc.yml: notebooks/three; there are: notebooks/one"),
        ("[one, two]", "expected chapter names"),
        ("one: 3", "expected chapter names"),
    ],
)
def test_wrong_parameters_are_refused(book, content, expected, capsys):
    (book / "p.yml").write_text(content)
    with pytest.raises(SystemExit, match="2"):
        execute.main(["--root", str(book), "--into", str(book / "out"), "--parameters", str(book / "p.yml")])
    assert expected in capsys.readouterr().err


def test_parameters_are_found_however_they_are_assigned(book):
    (book / "notebooks/one.md").write_text(HEAD + cell("a, b = 1, 2\nc: int = 3\nd = a", "parameters"))
    (book / "p.yml").write_text("one: {a: 0, b: 0, c: 0, d: 0}")
    assert inputs.load_parameters(book, book / "p.yml") == {"notebooks/one": dict.fromkeys("abcd", 0)}


# ---------------------------------------------------------------- runs


def test_run_keep_and_run_again_with_parameters(book):
    first = run(book, "--into", "out")
    assert first.returncode == 0, first.stderr
    assert complaints(first) == ""
    out = book.parent / "out/notebooks"
    assert (printed(out / "one.ipynb"), printed(out / "two.ipynb")) == (["3\n"], ["6\n"])
    assert sorted(line.split()[:2] for line in first.stdout.splitlines()) == [
        ["ran", "notebooks/one"],
        ["ran", "notebooks/two"],
    ]
    (book / "p.yml").write_text("notebooks/one: {rows: 5}\n")
    second = run(book, "--into", "out", "--parameters", str(book / "p.yml"))
    assert "kept notebooks/two  unchanged" in second.stdout
    assert "ran  notebooks/one  " in second.stdout
    assert printed(out / "one.ipynb") == ["5\n"]
    assert "injected-parameters" in (out / "one.ipynb").read_text()


def test_failing_chapter_is_shown_and_spoils_nothing(book):
    assert run(book, "--into", "out", "--without-data", "one").returncode == 0
    good = (book.parent / "out/notebooks/one.ipynb").read_bytes()
    write(book, "one", "print('fine')", "value = 1\nvalue / 0")
    failed = run(book, "--into", "out", "--without-data")
    assert failed.returncode == 1
    assert "failed notebooks/one" in failed.stdout
    assert "cell 4, which begins: value = 1" in failed.stdout
    assert "ZeroDivisionError: division by zero" in failed.stdout
    assert "\x1b" not in failed.stdout
    assert "ran  notebooks/two" in failed.stdout
    assert (book.parent / "out/notebooks/one.ipynb").read_bytes() == good
    assert "failed notebooks/one" in run(book, "--into", "out", "--without-data", "one.md").stdout


def test_meddled_result_is_made_again(book):
    task = execute.Task("notebooks/one", book, book / "out/one.ipynb", "key")
    execute.write_whole(task.target, b"{}")
    digest = execute.hashlib.sha256(b"{}").hexdigest()
    execute.write_whole(
        execute.receipt_of(task.target), json.dumps({"key": "key", "sha256": digest}).encode()
    )
    assert execute.read_receipt(task.target)["key"] == "key"
    task.target.write_bytes(b"{")
    assert execute.read_receipt(task.target) == {}


def test_store_twice_gives_the_same_bytes_and_sees_no_data(book):
    (book / "cache/dpfair_lib").mkdir(parents=True)
    look = "import os, sys\nfrom pathlib import Path\n"
    write(
        book,
        "one",
        look
        + "print(os.environ.get('DPFAIR_DATA'), Path(os.environ['XDG_CACHE_HOME'], 'dpfair_lib').exists())",
        f"print(sys.prefix == {sys.prefix!r}, os.path.basename(os.getcwd()), os.environ['OMP_NUM_THREADS'])",
        "for number in range(3):\n    print(number, flush=True)",
        "{'a': 1}",
    )
    assert run(book, "--store", "one").returncode == 0
    path = book / "notebooks/one.ipynb"
    first, when = path.read_bytes(), path.stat().st_mtime_ns
    assert run(book, "--store", "one").returncode == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (first, when)
    stored = json.loads(first)
    assert "".join(stored["cells"][2]["outputs"][0]["text"]) == "None False\n"
    assert "".join(stored["cells"][3]["outputs"][0]["text"]) == "True notebooks 1\n"
    assert [len(cell.get("outputs", ())) for cell in stored["cells"]] == [0, 0, 1, 1, 1, 1]
    assert stored["metadata"]["jupytext"] == {"formats": "ipynb,md:myst"}
    assert [cell["metadata"] for cell in stored["cells"]] == [{}, {"tags": ["parameters"]}, {}, {}, {}, {}]
    assert not any(
        word in first.decode() for word in ("papermill", "injected", "iopub", '"version": "', str(book))
    )
    assert sorted(path.name for path in (book / "notebooks").iterdir()) == ["one.ipynb", "one.md", "two.md"]


def test_stored_notebooks_are_copied_but_for_chapters_that_read_data(book):
    assert run(book, "--store").returncode == 0
    write(book, "two", "def load(name):\n    return name", "print(load('adult'))")
    assert run(book, "--into", "out", "two").returncode == 0
    stored = book / "notebooks/one.ipynb"
    stored.write_text(stored.read_text().replace("3", "4"))  # whatever it says is taken over
    ran = run(book, "--into", "out", "--stored")
    assert ran.returncode == 0, ran.stderr
    assert [line.split("  ")[0] for line in ran.stdout.splitlines()] == ["kept notebooks/two"]
    out = book.parent / "out/notebooks"
    assert (out / "one.ipynb").read_bytes() == stored.read_bytes()
    assert printed(out / "two.ipynb") == ["adult\n"]
    alone = run(book, "--into", "out", "--stored", "one")
    assert (alone.returncode, alone.stdout) == (0, "")
    again = run(book, "--into", "out", "one")  # a copy is nobody's result
    assert again.stdout.startswith("ran  notebooks/one")
    assert run(book, "--store", "--stored").returncode == 2


def test_cell_ids_depend_on_content_only(book):
    write(book, "one", "print(1)", "print(1)")
    first, again = (execute.read_source(book / "notebooks/one.md") for _ in range(2))
    ids = [cell.id for cell in first.cells]
    assert ids == [cell.id for cell in again.cells]
    assert len(set(ids)) == len(ids)
    assert ids[-1] == ids[-2] + "-2"


# ---------------------------------------------------------------- interruption


def processes(mark):
    """List the live processes whose environment holds a mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def wait_until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.1)
    return true()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes under /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_run_leaves_nothing_behind(book, number):
    write(book, "one", "from pathlib import Path\nPath('started').touch()", "import time\ntime.sleep(300)")
    good = b'{"the earlier": "result"}'
    (book / "out/notebooks").mkdir(parents=True)
    (book / "out/notebooks/one.ipynb").write_bytes(good)
    mark = f"MARK={book}"
    command = [sys.executable, str(SCRIPT), "--root", str(book), "--into", str(book / "out"), "one"]
    ours = os.environ | {"MARK": str(book), "TMPDIR": str(book)}
    with subprocess.Popen(command, env=ours, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert wait_until((book / "notebooks/started").exists)
        assert len(processes(mark)) >= 3  # the tool, its worker, the kernel
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert out == b""
    assert err == b"" or number == signal.SIGKILL  # Python itself remarks on what a killed process left
    assert wait_until(lambda: not processes(mark), 10)
    assert [path.name for path in (book / "out/notebooks").iterdir()] == ["one.ipynb"]
    assert (book / "out/notebooks/one.ipynb").read_bytes() == good
