"""Number our own results by chapter on the built pages: "Result 14.1 (ours)", and the links that lead to it."""

import posixpath
import re

from captions import CHAPTER

RESULT = re.compile(
    r'(<div class="[^"]*admonition"(?: id="([^"]+)")?>\s*<p class="admonition-title">Result )(\d+)(?!\.?\d)'
)
# of a page that an earlier build has numbered
NUMBERED = re.compile(
    r'(<div class="[^"]*admonition"(?: id="([^"]+)")?>\s*<p class="admonition-title">Result )\d+\.(\d+)(?!\.?\d)'
)
# a link: the address of its page, the place, if any, and its text up to the number
LINK = re.compile(r'(<a [^>]*?href="([^"#]*)(?:#([^"]+))?"[^>]*>(?:<span[^>]*>)?Result )(\d+)(?!\.?\d)')

# what is no text of this page: markup, code and its output, scripts, links to other pages
ASIDE = re.compile(r'(<(pre|script|style|svg)\b.*?</\2>|<a [^>]*href="[^"#][^>]*>.*?</a>|<[^>]*>)', re.DOTALL)
BARE = re.compile(r"\bResult (\d+)(?!\.?\d)")


def number_results(pages: dict[str, str]) -> dict[str, str]:
    """Put the chapter before the number of each of our results: where it stands, in every link, in headings and text.

    Parameters
    ----------
    pages : dict
        The text of each page by its name, with `/` between folders.
    """
    chapters = {name: head[1] for name, text in pages.items() if (head := CHAPTER.search(text))}
    found = [
        (name, *result.groups()[1:])
        for name in chapters for known in (RESULT, NUMBERED) for result in known.finditer(pages[name])
    ]  # fmt: skip
    places = {(name, place) for name, place, _ in found}
    numbers = {(name, number) for name, _, number in found}

    def numbered(name: str, text: str) -> str:
        def link(match: re.Match[str]) -> str:
            page = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2])) if match[2] else name
            known = (page, match[3]) in places or (not match[3] and (page, match[4]) in numbers)
            return f"{match[1]}{chapters[page]}.{match[4]}" if known else match[0]

        text = LINK.sub(link, text)
        return number_text(text, chapters[name]) if name in chapters else text

    return {name: numbered(name, text) for name, text in pages.items()}


def number_text(page: str, chapter: str) -> str:
    """Put the chapter before every number of a page's own results that has none yet, wherever text speaks of them."""
    own = {found[3] for found in RESULT.finditer(page)}

    def bare(match: re.Match[str]) -> str:
        return f"Result {chapter}.{match[1]}" if match[1] in own else match[0]

    pieces = ASIDE.split(page)  # text, markup, its name, text, ...
    pieces[::3] = [BARE.sub(bare, text) for text in pieces[::3]]
    return "".join(piece for at, piece in enumerate(pieces) if at % 3 != 2)
