"""Every defect of a pair that can be planted is reported, and a sound pair is not."""

import nbformat
import pairs
import pytest
from chapters import read_source

SOURCE = """---
jupytext:
  formats: ipynb,md:myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A chapter

```{code-cell} ipython3
:tags: [parameters]

rows = 3
```

Some words.

```{code-cell} ipython3
print(rows)
```
"""


@pytest.fixture
def book(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "_toc.yml").write_text("root: book/index\nparts:\n- chapters:\n  - file: notebooks/one\n")
    (tmp_path / "notebooks/one.md").write_text(SOURCE)
    store(tmp_path)
    return tmp_path


def store(book, change=lambda _: None):
    """Write the notebook that goes with the source, as if it had run, and changed in one way."""
    notebook = read_source(book / "notebooks/one.md")
    for number, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
        cell.execution_count = number
    notebook.cells[-1].outputs = [nbformat.v4.new_output("stream", text="3\n")]
    change(notebook)
    (book / "notebooks/one.ipynb").write_text(nbformat.writes(notebook))


def test_sound_pair(book, capsys):
    assert pairs.main(["--root", str(book)]) == 0
    assert capsys.readouterr().out == "1 chapters: source and notebook agree\n"


def test_missing_empty_tags_are_no_difference(book):
    store(book, lambda notebook: notebook.cells[0].metadata.update(tags=[]))
    assert list(pairs.defects(book)) == []


def text_differs(notebook):
    notebook.cells[-1].source = "print(rows + 1)"


def type_differs(notebook):
    notebook.cells[-2].cell_type = "raw"


def tags_differ(notebook):
    notebook.cells[-1].metadata["tags"] = ["hide-input"]


def cell_is_missing(notebook):
    del notebook.cells[0]


def never_ran(notebook):
    for cell in notebook.cells:
        cell.update({"execution_count": None} if cell.cell_type == "code" else {})


def one_cell_never_ran(notebook):
    notebook.cells[-1].execution_count = None


def error_is_stored(notebook):
    notebook.cells[-1].outputs = [
        nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
    ]


def warning_is_stored(notebook):
    notebook.cells[-1].outputs = [nbformat.v4.new_output("stream", name="stderr", text="Old\nline")]


def key_is_glued_twice(notebook):
    notebook.cells[-1].outputs = 2 * [
        nbformat.v4.new_output("display_data", data={}, metadata={"scrapbook": {"name": "many"}})
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (text_differs, "notebooks/one: cell 4: text differs"),
        (type_differs, "notebooks/one: cell 3: type differs"),
        (tags_differ, "notebooks/one: cell 4: tags differs"),
        (cell_is_missing, "notebooks/one: 4 cells in the .md, 3 in the .ipynb"),
        (never_ran, "notebooks/one.ipynb: never executed"),
        (one_cell_never_ran, "notebooks/one.ipynb: cell 4 was never executed"),
        (error_is_stored, "notebooks/one.ipynb: cell 4 stores an error: ValueError: no"),
        (warning_is_stored, "notebooks/one.ipynb: cell 4 stores a warning: Old"),
        (key_is_glued_twice, "notebooks/one.ipynb: the key many is glued 2 times"),
    ],
)
def test_defect_of_the_notebook(book, change, expected, capsys):
    store(book, change)
    assert pairs.main(["--root", str(book)]) == 1
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[parameters]", "[hide-input]", "0 cells tagged parameters"),
        ("print(rows)", "\n".join(["rows"] * 26), "cell 4 has 26 lines, more than 25"),
        ("rows = 3", "rows = 3  # P(A = 0)", "papermill reads no line with two signs =: rows = 3"),
    ],
)
def test_defect_of_the_source(book, old, new, expected):
    (book / "notebooks/one.md").write_text(SOURCE.replace(old, new))
    store(book)
    assert [expected in line for line in pairs.defects(book)] == [True]


def test_twenty_five_lines_are_allowed(book):
    (book / "notebooks/one.md").write_text(SOURCE.replace("print(rows)", "\n".join(["rows"] * 25)))
    store(book)
    assert list(pairs.defects(book)) == []


@pytest.mark.parametrize(
    ("suffix", "expected"), [("md", "one.md: missing, the .ipynb is alone"), ("ipynb", "one.ipynb: missing")]
)
def test_lonely_file(book, suffix, expected):
    (book / f"notebooks/one.{suffix}").unlink()
    assert [expected in line for line in pairs.defects(book)] == [True]


def test_chapter_outside_the_contents(book):
    for suffix in ("md", "ipynb"):
        (book / f"notebooks/two.{suffix}").write_bytes((book / f"notebooks/one.{suffix}").read_bytes())
    assert list(pairs.defects(book)) == ["notebooks/two: not in _toc.yml"]


def test_chapter_of_the_contents_without_files(book):
    for suffix in ("md", "ipynb"):
        (book / f"notebooks/one.{suffix}").unlink()
    assert list(pairs.defects(book)) == ["notebooks/one.md: missing, but in _toc.yml"]


def test_unreadable_notebook(book):
    (book / "notebooks/one.ipynb").write_text("{")
    assert ["notebooks/one: cannot be read" in line for line in pairs.defects(book)] == [True]
