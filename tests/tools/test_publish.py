"""The PDF has every page and the bookmarks of the contents; the zip has every file and no date."""

import zipfile

import publish
import pytest

TOC = "root: index\nparts:\n- caption: Part\n  chapters:\n  - file: one\n    sections:\n    - file: two\n"

# what a fold holds appears slowly: printed too early, it is not there
FADE = (
    "<style>@keyframes fade { from { opacity: 0 } } details[open] p { animation: fade 60s steps(2) }</style>"
)


@pytest.fixture
def book(tmp_path):
    (tmp_path / "_toc.yml").write_text(TOC)
    html = tmp_path / "html"
    html.mkdir()
    for name in ("index", "one", "two"):
        body = f"<h1>{name} title</h1><article><details><p>folded {name}</p></details></article>"
        (html / f"{name}.html").write_text(f"<!doctype html>{FADE}{body}")
    return tmp_path


def test_outline_is_the_table_of_contents(book):
    assert publish.outline(book) == [
        (0, "index", ""), (0, None, "Part"), (1, "one", ""), (2, "two", ""),
    ]  # fmt: skip


def bookmarks(items):
    return [bookmarks(item) if isinstance(item, list) else item.title for item in items]


@pytest.mark.skipif(
    not any(map(publish.shutil.which, publish.PROGRAMS)), reason="no Chromium, which prints the pages"
)
def test_pdf_has_all_pages_open_folds_and_bookmarks(book):
    from pypdf import PdfReader

    assert publish.print_book(book / "html", book, book / "book.pdf") == 3
    pdf = PdfReader(book / "book.pdf")
    assert bookmarks(pdf.outline) == ["index title", "Part", ["one title", ["two title"]]]
    assert [
        f"folded {name}" in page.extract_text()
        for name, page in zip(("index", "one", "two"), pdf.pages, strict=True)
    ] == [True] * 3
    (book / "html/two.html").unlink()
    with pytest.raises(FileNotFoundError, match="expected a built book"):
        publish.print_book(book / "html", book, book / "book.pdf")


def test_zip_is_the_same_for_the_same_pages(book):
    assert publish.pack(book / "html", book / "a.zip") == 3
    (book / "html/one.html").touch()
    publish.pack(book / "html", book / "b.zip")
    assert (book / "a.zip").read_bytes() == (book / "b.zip").read_bytes()
    with zipfile.ZipFile(book / "a.zip") as archive:
        assert sorted(archive.namelist()) == ["html/index.html", "html/one.html", "html/two.html"]
