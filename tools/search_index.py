"""Write what the search page looks through: the words of every section, in a file that a page can load."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from dpfair_lib._files import write_whole

INDEX = "_static/search-index.js"
OWN = '<script src="_static/search-index.js"></script>\n<script src="_static/search.js"></script>\n'
STOCK = re.compile(
    r'<script[^>]*\bsrc="(?:_static/(?:searchtools|language_data)|searchindex)\.js[^"]*"></script>\s*'
)
HEADINGS = ("h1", "h2", "h3", "h4")
LONGEST = 6000  # characters of a section: enough to find it by, and a long table says no more
VOID = {"br", "img", "hr", "input", "link", "meta", "col", "wbr", "source"}
UNREAD = ("highlight", "headerlink", "prev-next-footer")


class Sections(HTMLParser):
    """Read the article of a page as sections, each with its place, heading and words; code is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[dict[str, str]] = []
        self.depth = 0  # of elements inside the article
        self.silent: int | None = None  # the depth from which on nothing is read
        self.heading: int | None = None
        self.place = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        said = dict(attrs)
        classes = (said.get("class") or "").split()
        if not self.depth and not (tag == "article" and "bd-article" in classes):
            return
        if tag in VOID:
            return
        self.depth += 1
        if self.silent is None and (
            tag in ("script", "style", "svg", "summary") or any(name in UNREAD for name in classes)
        ):
            self.silent = self.depth
        if tag == "section" and said.get("id"):
            self.place = said["id"] or ""
        if tag in HEADINGS:
            self.heading = self.depth
            self.sections.append({"place": self.place, "heading": "", "text": ""})

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        if not self.depth or tag in VOID:
            return
        if self.silent == self.depth:
            self.silent = None
        if self.heading == self.depth:
            self.heading = None
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        """Take up words."""
        if self.depth and self.silent is None and self.sections:
            self.sections[-1]["text" if self.heading is None else "heading"] += data


def sections_of(page: str) -> list[dict[str, str]]:
    """Return the sections of a built page, their words with single spaces; the first has the page's title."""
    parser = Sections()
    parser.feed(page)
    return [
        {"place": one["place"], "heading": tidy(one["heading"]), "text": tidy(one["text"])[:LONGEST]}
        for one in parser.sections
    ]


def tidy(text: str) -> str:
    """Return words with single spaces, formulas without their brackets."""
    return " ".join(re.sub(r"\\[()\[\]]", " ", text).split())


def write_index(html: Path) -> None:
    """Write the index of a built book, and have its search page use it in the place of the stock one."""
    search = html / "search.html"
    if not search.exists():
        return
    pages = []
    for path in sorted(html.rglob("*.html")):
        if path.is_relative_to(html / "_static") or path == search:
            continue
        found = sections_of(path.read_text(encoding="utf-8"))
        if found:
            title, address = found[0]["heading"], path.relative_to(html).as_posix()
            pages.append({"address": address, "title": title, "sections": found})
    write_whole(html / INDEX, f"window.BOOK = {json.dumps(pages, ensure_ascii=False)};\n")
    text = search.read_text(encoding="utf-8")
    if OWN not in text:
        write_whole(search, STOCK.sub("", text).replace("</body>", f"{OWN}</body>"))
