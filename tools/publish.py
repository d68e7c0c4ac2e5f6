"""Make of the built pages what can be carried away: one PDF, with the bookmarks of the contents, and one zip file."""

import argparse
import io
import shutil
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml
from chapters import ROOT

from dpfair_lib._files import write_whole

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
MARGIN = "15mm"
BROWSERS = 2  # that print side by side; each keeps about one core busy
SETTLED = """async () => {
  for (const fold of document.querySelectorAll('article details')) fold.open = true;
  for (const image of document.images) image.loading = 'eager';
  if (window.MathJax?.startup?.promise) await window.MathJax.startup.promise;
  await document.fonts.ready;
  for (const fading of document.getAnimations()) fading.finish();  // folds fade in, and would print faint
}"""
ZIPPED = (1980, 1, 1, 0, 0, 0)  # no date: two builds of the same pages are the same file


def outline(root: Path) -> list[tuple[int, str | None, str]]:
    """Return the table of contents in reading order: depth, page (None for a part), and the part's caption."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    found: list[tuple[int, str | None, str]] = [(0, str(toc["root"]), "")]

    def walk(items: list[dict[str, Any]], depth: int) -> None:
        for item in items:
            found.append((depth, str(item["file"]), ""))
            walk(item.get("sections", []), depth + 1)

    for part in toc.get("parts", []):
        found.append((0, None, str(part["caption"])))
        walk(part["chapters"], 1)
    walk(toc.get("chapters", []), 0)
    return found


def print_book(html: Path, root: Path, target: Path) -> int:
    """Print the pages in reading order into one PDF, and return how many pages of paper it has.

    Raises
    ------
    FileNotFoundError
        If a page of the table of contents has not been built, or if there is no Chromium.
    """
    program = next((path for path in map(shutil.which, PROGRAMS) if path), None)
    if program is None:
        raise FileNotFoundError(f"no Chromium found (looked for {', '.join(PROGRAMS)})")
    contents = outline(root)
    paths = [html / f"{name}.html" for _, name, _ in contents if name is not None]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path}: found no such page, expected a built book (make book)")
    # neighbours in turn: pages of one part are about equally long
    shares = [paths[at::BROWSERS] for at in range(BROWSERS)]
    with ThreadPoolExecutor(BROWSERS) as pool:
        printed = dict(
            pair for share in pool.map(lambda share: print_pages(program, share), shares) for pair in share
        )
    writer = bound(contents, [printed[path] for path in paths])
    content = io.BytesIO()
    writer.write(content)
    write_whole(target, content.getvalue())
    return len(writer.pages)


def print_pages(program: str, paths: list[Path]) -> list[tuple[Path, tuple[str, bytes]]]:
    """Print pages one by one, and return the title and the PDF of each."""
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(offline=True, color_scheme="light").new_page()
        for path in paths:
            page.goto(path.as_uri(), wait_until="load")
            page.evaluate(SETTLED)
            title = page.evaluate("() => document.querySelector('h1').firstChild.textContent.trim()")
            sheet = page.pdf(
                format="A4",
                margin={"top": MARGIN, "bottom": MARGIN, "left": MARGIN, "right": MARGIN},
                print_background=True,
            )
            found.append((path, (str(title), sheet)))
        browser.close()
    return found


def bound(contents: list[tuple[int, str | None, str]], printed: list[tuple[str, bytes]]) -> Any:
    """Put printed pages together in their order, with the bookmarks of the contents."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter()
    above: dict[int, Any] = {}
    waiting: list[tuple[int, str]] = []
    pages = iter(printed)
    for depth, name, caption in contents:
        if name is None:
            waiting.append((depth, caption))
            continue
        title, sheet = next(pages)
        first = len(writer.pages)
        writer.append(PdfReader(io.BytesIO(sheet)), import_outline=False)
        for level, words in [*waiting, (depth, title)]:
            above[level] = writer.add_outline_item(
                title=words, page_number=first, parent=above.get(level - 1)
            )
        waiting = []
    writer.add_metadata({"/Title": "Privacy and Fairness, Checked"})
    writer.compress_identical_objects()
    return writer


def pack(html: Path, target: Path) -> int:
    """Put the built pages into a zip file, and return how many files it has."""
    paths = sorted(path for path in html.rglob("*") if path.is_file())
    files = {f"{html.name}/{path.relative_to(html).as_posix()}": path.read_bytes() for path in paths}
    write_whole(target, zipped(files))
    return len(files)


def zipped(files: dict[str, bytes]) -> bytes:
    """Return a zip file with these files, the same bytes for the same content."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            about = zipfile.ZipInfo(name, ZIPPED)
            about.external_attr = 0o644 << 16
            archive.writestr(about, data, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def main(arguments: list[str] | None = None) -> int:
    """Print or pack, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--html", type=Path, required=True, help="the built pages")
    parser.add_argument("--pdf", type=Path, metavar="FILE", help="print into this file")
    parser.add_argument("--zip", type=Path, metavar="FILE", help="pack the pages into this file")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this one)")
    said = parser.parse_args(arguments)
    if not said.html.is_dir():
        parser.error(f"--html: found no folder {said.html}, expected a built book (make book)")
    try:
        if said.zip:
            print(
                f"packed {pack(said.html, said.zip)} files: {said.zip}  {said.zip.stat().st_size / 1e6:.1f} MB"
            )
        if said.pdf:
            sheets = print_book(said.html.resolve(), said.root.resolve(), said.pdf)
            print(f"printed {sheets} pages: {said.pdf}  {said.pdf.stat().st_size / 1e6:.1f} MB")
    except OSError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
