"""A changed number is reported; what printing rounds off, and what is not compared, is not."""

import nbformat
import pytest
import verify


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        ("0.1234", "0.1235"),
        ("gap 0.30 at 12", "gap 0.31 at 12"),
        ("1.20e-05", "1.21e-05"),
        ("-0.00", "0.00"),
        ("−0.001", "-0.001"),
        ("123456.789012345", "123456.789012346"),
        ("1234567.8", "1234568.6"),
        ("a   0.50  b", "a 0.50 b"),
        ("<td>0.500</td>", "<td>0.501</td>"),
    ],
)
def test_jitter_passes(stored, fresh):
    assert verify.difference(stored, fresh) is None


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        ("0.1234", "0.1236"),
        ("12 cases", "13 cases"),
        ("1000000000", "1000000001"),
        ("1.20e-05", "1.20e-06"),
        ("0.5", "-0.5"),
        ("the claim holds", "the claim fails"),
        ("0.5", "0.5 and 0.6"),
        ("1/3", "2/3"),
        ("0.5", "nan"),
        ("thm2", "thm3"),
    ],
)
def test_change_is_reported(stored, fresh):
    assert verify.difference(stored, fresh) is not None


def notebook(*outputs, tags=(), source="run()"):
    cell = nbformat.v4.new_code_cell(source, outputs=list(outputs), metadata={"tags": list(tags)})
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("words"), cell])


def stream(text):
    return nbformat.v4.new_output("stream", text=text)


def test_difference_is_reported_with_its_cell():
    found = list(verify.compare(notebook(stream("gap 0.10")), notebook(stream("gap 0.20"))))
    assert found == ["cell 2: stdout: stored 0.10, now 0.20"]


@pytest.mark.parametrize("tag", sorted(verify.IGNORED))
def test_ignored_cells_are_skipped(tag):
    before, now = (notebook(stream(text), tags=[tag]) for text in ("0.1", "0.9"))
    assert list(verify.compare(before, now)) == []


def test_pieces_of_a_stream_are_one_text():
    assert list(verify.compare(notebook(stream("a 0.1")), notebook(stream("a "), stream("0.1")))) == []


def drawn(x):
    return notebook(
        nbformat.v4.new_output("display_data", {"image/svg+xml": f'<svg><path d="M {x} 2"/></svg>'})
    )


def test_figures_are_compared_as_one_sees_them():
    assert list(verify.compare(drawn(1.5), drawn(1.500001))) == []
    assert list(verify.compare(drawn(1.5), drawn(1.6))) == [
        "cell 2: output 1 (image/svg+xml): the figure looks different"
    ]
    assert list(verify.compare(drawn(1.5), notebook())) == [
        "cell 2: output 1 (image/svg+xml) is only in the stored notebook"
    ]


def test_other_cells_are_reported():
    found = list(verify.compare(notebook(), notebook(source="other()")))
    assert found == ["not the same cells (make notebooks refreshes the stored notebook)"]


def test_command(tmp_path, capsys):
    (tmp_path / "_toc.yml").write_text(
        "root: index\nchapters:\n- file: notebooks/one\n- file: notebooks/two\n"
    )
    for folder, value in ((tmp_path, "0.10"), (tmp_path / "fresh", "0.20")):
        (folder / "notebooks").mkdir(parents=True)
        (folder / "notebooks/one.ipynb").write_text(nbformat.writes(notebook(stream(value))))
    assert verify.main(["--root", str(tmp_path), str(tmp_path / "fresh")]) == 1
    out = capsys.readouterr().out
    assert "notebooks/one: cell 2: stdout: stored 0.10, now 0.20" in out
    assert "notebooks/two.ipynb is missing" in out
