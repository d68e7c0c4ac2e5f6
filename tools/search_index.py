"""Write what the search page looks through: the words of every section, in a file that a page can load."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from plain_tex import lowered, plain_formulas, raised

from dpfair_lib._files import write_whole

INDEX = "_static/search-index.js"
OWN = '<script src="_static/search-index.js"></script>\n<script src="_static/search.js"></script>\n'
STOCK = re.compile(
    r'<script[^>]*\bsrc="(?:_static/(?:searchtools|language_data)|searchindex)\.js[^"]*"></script>\s*'
)
HEADINGS = ("h1", "h2", "h3", "h4")
COMMANDS = {"install"}  # the sections whose code is what a reader looks for
LONGEST = 6000  # characters of a section: enough to find it by, and a long table says no more
VOID = {"br", "img", "hr", "input", "link", "meta", "col", "wbr", "source"}
UNREAD = ("highlight", "headerlink", "prev-next-footer", "eqno")
SILENT = ("script", "style", "svg", "pre", "button", "summary")
BLOCKS = {"p", "div", "li", "dd", "table", "caption", "details", "section", "ul", "ol", "dl", "br", "hr"}
SMALL = {"sub": lowered, "sup": raised}
# what stands between pieces that a page sets apart by their places; no text has these signs
CELL, ROW, TERM, END = "\x1f", "\x1e", "\x1d", "\x1c"
BETWEEN = {CELL: " · ", ROW: "; ", TERM: ": ", END: ". "}
# every exercise is called one, so these words tell no two pages apart
EXERCISE = re.compile(r"\bExercise [\d.]+\s+(?=\()")


class Sections(HTMLParser):
    """Read the article of a page as sections, each with its place, heading and words; code is left out.

    A heading with a place of its own belongs to the section around it, whose heading stands before its own.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[dict[str, str]] = []
        self.depth = 0  # of elements inside the article
        self.silent: int | None = None  # the depth from which on nothing is read
        self.heading: int | None = None
        self.card: int | None = None  # the depth of a claim's card, of whose folded record nothing is read
        self.place = ""
        self.around = 0  # the last section whose heading has no place of its own
        self.small: list[int] = []  # where signs begin that stand lowered or raised

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        said = dict(attrs)
        classes = (said.get("class") or "").split()
        if not self.depth and not (tag == "article" and "bd-article" in classes):
            return
        self._add(CELL if tag in ("td", "th") else ROW if tag == "tr" else " " if tag in BLOCKS else "")
        if tag in VOID:
            return
        self.depth += 1
        if self.card is None and "claim-card" in classes:
            self.card = self.depth
        if self.silent is None and self._unread(tag, classes):
            self.silent = self.depth
        if tag == "section" and said.get("id"):
            self.place = said["id"] or ""
        if tag in HEADINGS:
            self.heading = self.depth
            own = said.get("id")
            around = f"{self._around()}: " if own and self.around else ""
            self.sections.append({"place": own or self.place, "heading": around, "text": ""})
            if not own:
                self.around = len(self.sections) - 1
        if tag in SMALL and self.sections:
            self.small.append(len(self.sections[-1][self._part()]))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        if not self.depth or tag in VOID:
            return
        if tag in SMALL and self.small:
            section, part, start = self.sections[-1], self._part(), self.small.pop()
            section[part] = section[part][:start] + SMALL[tag](section[part][start:])
        self._add({"li": ROW, "dt": TERM, "table": END}.get(tag, " " if tag in BLOCKS else ""))
        if self.silent == self.depth:
            self.silent = None
        if self.heading == self.depth:
            self.heading = None
        if self.card == self.depth:
            self.card = None
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        """Take up words."""
        if self.depth:
            self._add(data)

    def _unread(self, tag: str, classes: list[str]) -> bool:
        if tag == "details" and self.card is not None:
            return True
        if self.place in COMMANDS and (tag == "pre" or "highlight" in classes):
            return False
        return tag in SILENT or any(name in UNREAD for name in classes)

    def _around(self) -> str:
        return self.sections[self.around]["heading"] if self.sections else ""

    def _part(self) -> str:
        return "text" if self.heading is None else "heading"

    def _add(self, data: str) -> None:
        if self.silent is None and self.sections:
            self.sections[-1][self._part()] += data


def sections_of(page: str) -> list[dict[str, str]]:
    """Return the sections of a built page, their words with single spaces; the first has the page's title."""
    parser = Sections()
    parser.feed(page)
    return [
        {"place": one["place"], "heading": tidy(one["heading"]), "text": tidy(one["text"])[:LONGEST]}
        for one in parser.sections
    ]


def tidy(text: str) -> str:
    """Return words as a sentence has them: single spaces, plain formulas, signs between cells, rows and terms."""
    text = EXERCISE.sub("", plain_formulas(text))
    marks = "".join(BETWEEN)
    text = re.sub(rf"(^|[.:;,!?])[{marks}\s]+", r"\1 ", text)  # a sentence has its own sign at its end
    text = re.sub(rf"\s*([{marks}])[{marks}\s]*", lambda found: BETWEEN[strongest(found[0])], text)
    return " ".join(text.split()).removesuffix(";").removesuffix(" ·")


def strongest(found: str) -> str:
    """Return which of several marks in a row is to be shown."""
    return max(set(found) & set(BETWEEN), key=[CELL, TERM, ROW, END].index)


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
