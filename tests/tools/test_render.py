"""The book's source folder holds what it should, and pages lose what cannot work offline."""

import pytest
import render


@pytest.fixture
def book(tmp_path):
    for name in (
        "book/index.md",
        "book/_static/book.css",
        "book/.hidden",
        "results/r.json",
        "out/notebooks/one.ipynb",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"cells": []}' if name.endswith(".ipynb") else name)
    (tmp_path / "_config.yml").write_text("title: T")
    (tmp_path / "_toc.yml").write_text("root: book/index\nchapters:\n- file: notebooks/one\n")
    return tmp_path


def test_source_folder_holds_prose_and_executed_chapters(book):
    names = {"_config.yml", "_toc.yml", "book/index.md", "book/_static/book.css", "results/r.json"}
    assert set(render.wanted_files(book, book / "out")) == names | {"notebooks/one.ipynb"}


def test_only_what_differs_is_touched(book):
    source = book / "_build/source"
    files = render.wanted_files(book, book / "out")
    assert render.synchronise(files, source) == []
    before = {name: (source / name).stat().st_mtime_ns for name in files}
    (book / "book/index.md").write_text("new")
    (source / "book/gone.md").write_text("old")
    files = render.wanted_files(book, book / "out")
    assert render.synchronise(files, source) == ["book/gone.md"]
    after = {name: (source / name).stat().st_mtime_ns for name in files}
    assert {name for name in files if after[name] != before[name]} == {"book/index.md"}
    assert (source / "book/index.md").read_text() == "new"
    assert not (source / "book/gone.md").exists()


def test_chapter_that_was_not_executed_is_an_error(book, capsys):
    (book / "out/notebooks/one.ipynb").unlink()
    with pytest.raises(SystemExit, match="2"):
        render.main(["--root", str(book), "--executed", str(book / "out"), "--into", str(book / "_build")])
    assert "notebooks/one has not been executed" in capsys.readouterr().err


def test_build_folder_has_the_name_that_jupyter_book_expects(book, capsys):
    with pytest.raises(SystemExit, match="2"):
        render.main(["--root", str(book), "--executed", str(book / "out"), "--into", str(book / "site")])
    assert "must be called _build" in capsys.readouterr().err


def test_pages_lose_what_cannot_work_offline(tmp_path):
    kept = '<link rel="stylesheet" href="a.css" /><script src="b.js"></script><p>thebe</p>'
    unwanted = (
        '<link rel="preload" as="font" type="font/woff2" crossorigin href="f.woff2" />\n'
        '<script>const THEBE_JS_URL = "https://example.org/x.js"; const y = 1</script>'
        '<script async="async" src="../_static/sphinx-thebe.js?v=1"></script>'
        '<link rel="stylesheet" type="text/css" href="../_static/sphinx-thebe.css?v=1" />'
        '<script type="text/x-thebe-config">\n{}\n</script>'
        "<script>kernelName = 'python3'</script>"
    )
    page, template = tmp_path / "book/index.html", tmp_path / "_static/macros.html"
    for path in (page, template):
        path.parent.mkdir()
        path.write_text(unwanted + kept)
    render.finish(tmp_path)
    assert page.read_text() == kept
    assert not template.exists()


def test_links_to_a_chapter_lead_to_its_notebook():
    text = "[a](one.md) [b](one.md#there) [c](../book/index.md) [d](two.md) one.md"
    changed = "[a](one.ipynb) [b](one.ipynb#there) [c](../book/index.md) [d](two.md) one.md"
    assert render.link_to_notebooks(text, "notebooks", ["notebooks/one"]) == changed
    assert render.link_to_notebooks("[a](../notebooks/one.md)", "book", ["notebooks/one"]).endswith(
        "one.ipynb)"
    )
    assert render.link_to_notebooks("[a](one.md)", "book", ["notebooks/one"]) == "[a](one.md)"


def test_a_page_that_shows_another_page_is_built_again_with_it(book):
    source = book / "_build/source"
    (book / "book/index.md").write_text("```{glue} table\n:doc: ../notebooks/one.ipynb\n```")
    render.synchronise(render.wanted_files(book, book / "out"), source)
    before = (source / "book/index.md").stat().st_mtime_ns
    render.synchronise(render.wanted_files(book, book / "out"), source)
    assert (source / "book/index.md").stat().st_mtime_ns == before
    (book / "out/notebooks/one.ipynb").write_text('{"cells": [], "changed": 1}')
    render.synchronise(render.wanted_files(book, book / "out"), source)
    assert (source / "book/index.md").stat().st_mtime_ns > before


def test_a_changed_style_sheet_makes_every_page_anew(book):
    source, kept = book / "_build/source", book / "_build/.doctrees/environment.pickle"
    render.synchronise(render.wanted_files(book, book / "out"), source)
    kept.parent.mkdir()
    kept.touch()
    (book / "book/index.md").write_text("new")
    render.synchronise(render.wanted_files(book, book / "out"), source)
    assert kept.exists()
    (book / "book/_static/book.css").write_text("new")
    render.synchronise(render.wanted_files(book, book / "out"), source)
    assert not kept.exists()
