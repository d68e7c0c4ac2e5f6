"""Number our own results by chapter on the built pages: "Result 14.1 (ours)", and the links that lead to it."""

import posixpath
import re

from captions import CHAPTER

RESULT = re.compile(
    r'(<div class="[^"]*admonition"(?: id="([^"]+)")?>\s*<p class="admonition-title">Result )(\d+)(?!\.?\d)'
)
# a link to a place: the address of its page, the place, and its text up to the number
LINK = re.compile(r'(<a [^>]*?href="([^"#]*)#([^"]+)"[^>]*>(?:<span[^>]*>)?Result )(\d+)(?!\.?\d)')


def number_results(pages: dict[str, str]) -> dict[str, str]:
    """Put the chapter before the number of each of our results, where it stands and in every link to it.

    Parameters
    ----------
    pages : dict
        The text of each page by its name, with `/` between folders.
    """
    chapters = {name: found[1] for name, text in pages.items() if (found := CHAPTER.search(text))}
    places = {(name, found[2]) for name in chapters for found in RESULT.finditer(pages[name])}

    def numbered(name: str, text: str) -> str:
        def link(match: re.Match[str]) -> str:
            page = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2])) if match[2] else name
            known = (page, match[3]) in places
            return f"{match[1]}{chapters[page]}.{match[4]}" if known else match[0]

        text = LINK.sub(link, text)
        return RESULT.sub(rf"\g<1>{chapters[name]}.\g<3>", text) if name in chapters else text

    return {name: numbered(name, text) for name, text in pages.items()}
