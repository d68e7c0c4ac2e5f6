"""Assemble the book's sources with the executed chapters and build the pages."""

import argparse
import os
import posixpath
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from captions import caption_outputs, number_captions, part_alternatives
from chapters import FOLDER, ROOT, chapters, pages, read_receipt, receipt_of
from figures import write_figures
from folds import name_folds
from headers import mark_numbers, merge_headers
from numbering import number_results
from reference import reference_pages
from search_index import write_index
from unbroken import keep_percents, keep_together

from dpfair_lib._files import held, write_whole
from dpfair_lib.claims.errata import errata_text
from dpfair_lib.claims.papers import NAMES

BUILD = "_build"
# The theme asks a browser for things that it refuses to a page without a server, or that come from elsewhere; and one
# address depends on what was built before, so that two builds of the same book would differ.
UNWANTED = re.compile(
    r"""<link\ rel="preload"\ as="font"[^>]*>\s*      # refused from file://; the icons are drawn by a script
    | <script>const\ THEBE_JS_URL.*?</script>\s*      # live cells, from a CDN
    | <script[^>]*\bsrc="[^"]*sphinx-thebe\.js[^"]*"></script>\s*
    | <link[^>]*\bhref="[^"]*sphinx-thebe\.css[^"]*"\s*/>\s*
    | <script\ type="text/x-thebe-config">.*?</script>\s*
    | <script>kernelName\ =.*?</script>\s*
    | (?<=/mystnb\.[0-9a-f]{64}\.css)\?v=[0-9a-f]+    # there only if an earlier build had written this file""",
    re.DOTALL | re.VERBOSE,
)
# The theme leaves these without a name or with the wrong role, which a screen reader cannot make sense of.
NAMELESS = (
    # some seventy links stand before every article
    (
        '<nav class="bd-links bd-docs-nav" aria-label="Main">',
        '<a class="skip-list visually-hidden-focusable" href="#main-content">Skip the list of chapters</a>'
        '<nav class="bd-links bd-docs-nav" aria-label="Chapters">',
    ),
    # its children have roles of their own
    ('<div role="list" class="citation-list">', '<div class="citation-list">'),
)


def wanted_files(root: Path, executed: Path, page: str | None = None) -> dict[str, bytes]:
    """Return what the book's source folder should hold, or that of one page: name in it → content.

    Raises
    ------
    FileNotFoundError
        If a chapter has not been executed.
    ValueError
        If an executed chapter is not as it was written.
    """
    paths = {name: root / name for name in ("_config.yml", "_toc.yml")}
    for folder in ("book", "results"):  # readers can download the results behind each figure
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                paths[path.relative_to(root).as_posix()] = path
    known = chapters(root)
    for name in [page] if page else known:
        path = executed / f"{name}.ipynb"
        if not path.exists():
            raise FileNotFoundError(
                f"{name} has not been executed: run tools/execute.py --into {executed} first"
            )
        if receipt_of(path).exists() and not read_receipt(path):
            raise ValueError(damaged(path, "found other content than was written", executed))
        paths[f"{name}.ipynb"] = path
    files = {name: path.read_bytes() for name, path in paths.items()}
    for name in files:
        if name.endswith((".md", ".ipynb")):
            try:
                text = link_to_notebooks(files[name].decode(), posixpath.dirname(name), known)
                files[name] = (caption_outputs(text) if name.endswith(".ipynb") else text).encode()
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(damaged(paths[name], f"cannot be read ({error})", executed)) from None
    wanted = set(pages(root))
    files |= {
        name: text.encode() for name, text in reference_pages().items() if name.removesuffix(".md") in wanted
    }
    for source in NAMES:  # beside each page of errata the same as text, which its authors can be sent
        if f"book/errata-{source}.md" in files:
            files[f"book/errata-{source}.txt"] = errata_text(source).encode()
    return one_page(files, page) if page else files


def damaged(path: Path, found: str, executed: Path) -> str:
    """Say what is wrong with a file, and what makes it anew."""
    again = (
        f"; run tools/execute.py --into {executed}, which makes it anew" if path.suffix == ".ipynb" else ""
    )
    return f"{path}: {found}, expected a whole file{again}"


def link_to_notebooks(text: str, folder: str, known: list[str]) -> str:
    """Let links to a chapter's source lead to its notebook, which stands in its place in the built book."""

    def change(match: re.Match[str]) -> str:
        chapter = posixpath.normpath(posixpath.join(folder, match[1]))
        return f"]({match[1]}.ipynb{match[2]}" if chapter in known else match[0]

    return re.sub(r"\]\(([^)\s#]+)\.md([)#])", change, text)


def synchronise(files: dict[str, bytes], folder: Path) -> list[str]:
    """Make a folder hold exactly these files, touching only what differs, and return what was removed.

    A page that shows another page's output counts as different whenever a notebook does.
    """
    changed = {
        name for name, content in files.items()
        if not (folder / name).exists() or (folder / name).read_bytes() != content
    }  # fmt: skip
    if any("/_static/" in name for name in changed):
        # Sphinx copies these only when it writes a page
        shutil.rmtree(folder.parent / ".doctrees", ignore_errors=True)
    if any(name.endswith(".ipynb") for name in changed):
        changed |= {name for name, content in files.items() if name.endswith(".md") and b":doc:" in content}
    for name in changed:
        write_whole(folder / name, files[name])
        # by its time alone, a page counts as read already where the clock was set back
        (folder.parent / ".doctrees" / name).with_suffix(".doctree").unlink(missing_ok=True)
    there = [path for path in folder.rglob("*") if path.is_file()]
    gone = [path for path in there if path.relative_to(folder).as_posix() not in files]
    for path in gone:
        path.unlink()
    return [path.relative_to(folder).as_posix() for path in gone]


def one_page(files: dict[str, bytes], name: str) -> dict[str, bytes]:
    """Return the source folder of a book that has one chapter only.

    Raises
    ------
    FileNotFoundError
        If the book has no such chapter.
    """
    if f"{name}.ipynb" not in files:
        known = ", ".join(sorted(file.removesuffix(".ipynb") for file in files if file.endswith(".ipynb")))
        raise FileNotFoundError(f"--page: found {name}, expected one of {known}")
    kept = {file: text for file, text in files.items() if not file.endswith((".md", ".ipynb"))}
    contents = f"format: jb-book\nroot: {name}\n"
    return kept | {f"{name}.ipynb": files[f"{name}.ipynb"], "_toc.yml": contents.encode()}


def build(source: Path, into: Path, holds: int, *, strict: bool = True) -> int:
    """Run jupyter-book over the source folder; every warning counts as an error if `strict`.

    It holds the build too, since it goes on if this process is killed.
    """
    program = Path(sys.executable).with_name("jupyter-book")
    # the extension docstrings.py, and the library that it describes
    seen = [str(Path(__file__).parent), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [str(program), "build", str(source), "--path-output", str(into.parent)]
    done = subprocess.run(
        [*command, *(["-W", "-n", "--keep-going"] if strict else []), "-q"], check=False,
        stdout=subprocess.PIPE, stderr=None if strict else subprocess.DEVNULL, text=True, pass_fds=[holds],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(seen)},
    )  # fmt: skip
    if done.returncode:
        print(done.stdout)
    return done.returncode


def forget(into: Path) -> None:
    """Have every page made anew by the next build.

    A page that was read once, warnings and all, is not read again, and one that was half written is not written again,
    since it is newer than its source.
    """
    shutil.rmtree(into / ".doctrees", ignore_errors=True)


def finish(html: Path) -> None:
    """Number captions and results, name folds and headers, take out what is not offline; pack the figures."""
    before: dict[str, str] = {}
    for path in html.rglob("*.html"):
        if path.is_relative_to(html / "_static"):
            path.unlink()
        else:
            before[path.relative_to(html).as_posix()] = path.read_text(encoding="utf-8")
    kept = {
        name: mark_numbers(merge_headers(number_captions(part_alternatives(UNWANTED.sub("", text)))))
        for name, text in before.items()
    }
    numbered = number_results(kept)
    for name, text in numbered.items():
        text = keep_percents(keep_together(name_folds(text)))
        for found, better in NAMELESS:
            text = text.replace(found, better)
        if text != before[name]:
            write_whole(html / name, text)
    write_figures(numbered, html)
    write_index(html)


def main(arguments: list[str] | None = None) -> int:
    """Assemble, build, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executed", type=Path, required=True, metavar="DIR", help="the executed notebooks")
    parser.add_argument(
        "--into", type=Path, required=True, help=f"build folder, called {BUILD}; pages in html/"
    )
    parser.add_argument(
        "--page", metavar="NAME", help="build this chapter alone; links to other pages lead nowhere"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this one)")
    said = parser.parse_args(arguments)
    root, into = said.root.resolve(), said.into.resolve()
    if into.name != BUILD:
        parser.error(f"--into: the folder must be called {BUILD}, a name that jupyter-book gives itself")
    try:
        return render(root, said.executed.resolve(), into, said.page)
    except (FileNotFoundError, ValueError) as error:
        parser.error(str(error))
    except OSError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


def render(root: Path, executed: Path, into: Path, page: str | None = None) -> int:
    """Assemble and build; whatever cuts it off, the next build takes nothing half-made for whole."""
    start = time.perf_counter()
    files = wanted_files(root, executed, page and f"{FOLDER}/{page.removeprefix(f'{FOLDER}/')}")
    whole = False
    with held(into / ".rendering", "the book is being built", left=lambda _: forget(into)) as holds:
        try:
            for name in synchronise(files, into / "source"):
                (into / "html" / name).with_suffix(".html").unlink(missing_ok=True)
            status = build(into / "source", into, holds, strict=page is None)
            if not status:
                finish(into / "html")
                built = f"the page {page}" if page else f"{len(pages(root))} pages"
                print(f"built {built}  {time.perf_counter() - start:.1f} s")
            whole = not status
        finally:
            if not whole:
                forget(into)
    return status


if __name__ == "__main__":
    sys.exit(main())
