"""All drawings of the book in one zip file, named by their numbers, for slides."""

import html as markup
import posixpath
import re
from pathlib import Path

from publish import zipped

from dpfair_lib._files import write_whole

NAME = "figures.zip"
# a drawing and its caption, with no other drawing between them
FIGURE = re.compile(
    r'<img [^>]*?src="([^"]+\.svg)"(?:(?!<img ).)*?'
    r'<div class="figure-caption docutils" id="figure-([\d-]+)">(.*?)</div>',
    re.DOTALL,
)


def write_figures(pages: dict[str, str], html: Path) -> int:
    """Write every numbered drawing and the text of all captions, and return how many there are.

    Parameters
    ----------
    pages : dict
        The finished pages by name. Pages without a chapter number have no numbered drawings for slides.
    html : Path
        The folder of the built pages, into which the file goes.
    """
    found = {
        tuple(int(part) for part in number.split("-")): (
            posixpath.normpath(posixpath.join(posixpath.dirname(name), source)), caption,
        )
        for name, text in pages.items() for source, number, caption in FIGURE.findall(text) if "-" in number
    }  # fmt: skip
    files = {
        f"figures/figure-{'-'.join(map(str, number))}.svg": (html / found[number][0]).read_bytes()
        for number in sorted(found)
    }
    captions = [plain(found[number][1]) for number in sorted(found)]
    files["figures/captions.txt"] = "".join(f"{caption}\n" for caption in captions).encode()
    write_whole(html / NAME, zipped(files))
    return len(found)


def plain(caption: str) -> str:
    """Return a caption without its marks."""
    return " ".join(markup.unescape(re.sub(r"<[^>]+>", "", caption)).split())
