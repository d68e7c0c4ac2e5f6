"""Open a built page the way a reader does, without a network, and list what is wrong with it."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import legibility

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCAL = ("file:", "data:", "blob:")
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
CONTRAST = 4.5
DARK = 0.2  # relative luminance below which a ground counts as dark
PATIENCE = 20_000  # milliseconds
REDIRECT = re.compile(r'http-equiv="Refresh"\s+content="\d+;\s*url=([^"]+)"', re.IGNORECASE)
# in words to be read: the source of a formula, or two pieces of a page without a space between them
UNREADABLE = re.compile(r"\\[a-zA-Z([{]|[_^]\{|\$\\|(?<![A-Za-z])[a-z]{4,}[A-Z]|\)[a-z]{4,}")
ANCHOR = re.compile(r'\b(?:id|name)="([^"]+)"')

TYPESET = """async () => {
  if (window.MathJax?.startup?.promise) await window.MathJax.startup.promise;
  await document.fonts.ready;
  // book.js fits formulas and tables once they are set
  for (let tries = 0; document.querySelector('script[src*="book.js"]') && tries < 50; tries++) {
    if (document.documentElement.dataset.settled || !document.querySelector('article')) break;
    await new Promise(done => setTimeout(done, 20));
  }
}"""

MATH = r"""() => {
  const found = [];
  const text = element => element.textContent.trim().slice(0, 60);
  for (const formula of document.querySelectorAll('.math, .amsmath'))
    if (!formula.querySelector('mjx-container')) found.push('formula not typeset: ' + text(formula));
  for (const error of document.querySelectorAll('[data-mjx-error]'))
    found.push('TeX error: ' + error.getAttribute('data-mjx-error'));
  // MathJax prints an unknown command in red instead of calling it an error
  for (const error of document.querySelectorAll('mjx-container g[data-mml-node="mtext"][fill="red"]')) {
    const mathml = error.closest('mjx-container').querySelector('mtext[mathcolor="red"]');
    found.push('TeX error: unknown command ' + (mathml ? text(mathml) : ''));
  }
  const article = document.querySelector('article') || document.body;
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest('pre, code, script, style, textarea, mjx-container')) continue;
    if (/\\[(\[]|\$\$|\\begin\{|\$(?=\S)[^$]*\\[a-zA-Z]+[^$]*\$/.test(node.data))
      found.push('raw mathematics: ' + node.data.trim().slice(0, 60));
  }
  return found;
}"""

IMAGES = """async () => {
  const images = [...document.images];
  for (const image of images) image.loading = 'eager';
  await Promise.all(images.map(image => image.decode().catch(() => null)));
  const missing = images.filter(image => !image.naturalWidth).map(image => 'image not loaded: ' + image.src);
  // a file's name stands where no words were given
  const mute = images.filter(image => !image.alt.trim() || /\\.(png|svg|gif|jpe?g)$/.test(image.alt));
  // figures that one cell makes would all be given the words of all
  const first = image => images.find(one => one.alt === image.alt);
  const same = images.filter(image => image.alt.includes('␞') || first(image) !== image);
  return missing.concat(mute.map(image => 'image without words: ' + image.src.slice(0, 80)),
                        same.map(image => 'image with the words of another: ' + image.alt.slice(0, 80)));
}"""

WIDTH = """() => {
  const root = document.scrollingElement, wide = root.clientWidth;
  const found = [];
  const scrolls = element => ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
  const inside = element => { // inside something that scrolls by itself
    for (let up = element.parentElement; up && up !== document.body; up = up.parentElement)
      if (scrolls(up) && up.getBoundingClientRect().right <= wide + 1) return true;
    return false;
  };
  for (const element of document.querySelectorAll('article *, body > *:not(script)')) {
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height || box.right <= wide + 1 || box.left >= wide) continue;
    if (element.closest('mjx-assistive-mml') || getComputedStyle(element).position === 'fixed') continue;
    if (inside(element)) continue;
    found.push(`wider than the page: <${element.tagName.toLowerCase()} class="${element.className}">`
      + ` ends at ${Math.round(box.right)} px of ${wide}`);
    if (found.length > 4) break;
  }
  if (root.scrollWidth > wide + 1) found.push(`the page scrolls sideways: ${root.scrollWidth} px of ${wide}`);
  return found;
}"""

COLOURS = """() => {
  const parse = text => {
    const parts = (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
    return [parts[0], parts[1], parts[2], parts.length > 3 ? parts[3] : 1];
  };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const ground = element => {
    const layers = [];
    for (let up = element; up; up = up.parentElement) {
      const layer = parse(getComputedStyle(up).backgroundColor);
      if (layer[3]) layers.push(layer);
      if (layer[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const luminance = colour => {
    const linear = colour.slice(0, 3).map(value => value / 255)
      .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const article = document.querySelector('article') || document.body;
  const kinds = 'p, li, dd, td, th, h1, h2, h3, h4, pre, code, a:not(.headerlink), [class*="badge-"]';
  const texts = [...article.querySelectorAll(kinds)];
  const shown = texts.filter(element => element.textContent.trim() && element.getClientRects().length);
  const measured = shown.map(element => {
    const below = ground(element), own = over(parse(getComputedStyle(element).color), below);
    const [high, low] = [luminance(own), luminance(below)].sort((a, b) => b - a);
    return {tag: element.tagName.toLowerCase(), text: element.textContent.trim().slice(0, 40),
            contrast: (high + 0.05) / (low + 0.05)};
  });
  return {ground: luminance(ground(article)), texts: measured};
}"""

ANSWERED = "() => /pages found|did not match/i.test(document.getElementById('search-results').innerText)"
FOUND = """() => [...document.querySelectorAll('#search-results li')].map(item => (
  {address: item.querySelector('a').href, excerpt: item.querySelector('p').innerText}))"""

# a link in a drawing has no address of its own but an object that animates one
LINKS = """() => [...document.querySelectorAll('a[href]')]
  .map(link => new URL(link.getAttribute('href'), document.baseURI).href)"""


def find_browser() -> str | None:
    """Return the path of an installed Chromium, None if there is none."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a headless Chromium and end it afterwards."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=SWITCHES)
        try:
            yield browser
        finally:
            browser.close()


# a window may have shown another page before; its reader comes to each page as to the first
FORGET = """if (location.protocol === 'file:') { localStorage.clear(); sessionStorage.clear(); }"""


def window(browser: Any, viewport: dict[str, int], scheme: str) -> Any:
    """Open an empty window that reaches no network."""
    context = browser.new_context(offline=True, viewport=viewport, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    return context.new_page()


@contextmanager
def visited(page: Any, address: str, problems: list[str]) -> Iterator[None]:
    """Go to an address; what it asks of the network, and its script errors, are put into `problems`."""

    def on_request(request: Any) -> None:
        if not request.url.startswith(LOCAL):
            problems.append(f"asks the network: {request.url}")

    def on_console(message: Any) -> None:
        if message.type == "error":
            problems.append(f"console error: {message.text}")

    listeners = {
        "request": on_request,
        "requestfailed": lambda request: problems.append(f"request failed: {request.url} {request.failure}"),
        "pageerror": lambda error: problems.append(f"script error: {error}"),
        "console": on_console,
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    try:
        page.goto(address, wait_until="load")
        page.evaluate(TYPESET)
        yield
    finally:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)


@contextmanager
def opened(
    browser: Any, address: str, viewport: dict[str, int], scheme: str, problems: list[str]
) -> Iterator[Any]:
    """Open an address offline in a window of its own, which is closed afterwards."""
    page = window(browser, viewport, scheme)
    try:
        with visited(page, address, problems):
            yield page
    finally:
        page.context.close()


class Reader:
    """Reads page after page in the same two windows, so that each parses the scripts of the pages once."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.windows: dict[str, Any] = {}

    @contextmanager
    def opened(
        self, address: str, viewport: dict[str, int], scheme: str, problems: list[str]
    ) -> Iterator[Any]:
        """Open an address in the window of a scheme; a window in which something went wrong is not used again."""
        page = self.windows.pop(scheme, None)
        if page is None:
            page = window(self.browser, viewport, scheme)
            page.add_init_script(FORGET)
        try:
            with visited(page, address, problems):
                yield page
            page.goto("about:blank")  # nothing that this page still does is blamed on the next
        except BaseException:
            page.context.close()
            raise
        self.windows[scheme] = page


def examine(reader: Reader, path: Path) -> list[str]:
    """Read a page at a desk in light colours, then on a phone in dark ones, and list what is wrong."""
    problems: list[str] = []
    with reader.opened(path.as_uri(), DESK, "light", problems) as page:
        for script in (MATH, IMAGES):
            problems += page.evaluate(script)
        problems += faint(page.evaluate(COLOURS), "light")
        problems += broken_links(page.evaluate(LINKS))
        problems += legibility.read_at_desk(page)
        problems += legibility.shut_out(page)
    with reader.opened(path.as_uri(), PHONE, "dark", problems) as page:
        problems += page.evaluate(WIDTH)
        colours = page.evaluate(COLOURS)
        if colours["ground"] > DARK:
            problems.append(f"dark mode: the ground is light (luminance {colours['ground']:.2f})")
        problems += faint(colours, "dark")
        problems += legibility.read_on_phone(page)
    return list(dict.fromkeys(problems))


def faint(colours: dict[str, Any], mode: str) -> list[str]:
    """List texts whose contrast with their ground is too small to read well."""
    return [
        f"{mode} mode: contrast {found['contrast']:.2f} of <{found['tag']}> {found['text']!r}"
        for found in colours["texts"]
        if found["contrast"] < CONTRAST
    ]


def broken_links(addresses: list[str]) -> list[str]:
    """List links to files, or to places in them, that are not there."""
    found = []
    for address in dict.fromkeys(addresses):
        parts = urlsplit(address)
        if parts.scheme != "file":
            continue
        target = Path(unquote(parts.path))
        if not target.is_file():
            found.append(f"broken link: {address}")
        elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in anchors(target):
            found.append(f"broken link: {target.name} has no place #{parts.fragment}")
    return found


def anchors(path: Path) -> frozenset[str]:
    """Return the places in a page that a link can lead to."""
    return _anchors(path, path.stat().st_mtime_ns)


@cache
def _anchors(path: Path, _when: int) -> frozenset[str]:  # most pages link to the same few
    return frozenset(unescape(name) for name in ANCHOR.findall(path.read_text(encoding="utf-8")))


def built(folder: Path) -> list[Path]:
    """Return every page of a built book; what lies under _static belongs to pages and is none."""
    return sorted(path for path in folder.rglob("*.html") if not path.is_relative_to(folder / "_static"))


def redirect(path: Path) -> Path | None:
    """Return where a page that only leads on leads to, None for an ordinary page."""
    match = REDIRECT.search(path.read_text(encoding="utf-8"))
    return (path.parent / unquote(match[1])) if match else None


def search(browser: Any, folder: Path, word: str) -> list[str]:
    """Search the built book for a word, and list what is wrong with the answer."""
    problems: list[str] = []
    address = f"{(folder / 'search.html').as_uri()}?q={word}"
    with opened(browser, address, DESK, "light", problems) as page:
        page.wait_for_function(ANSWERED)
        if not page.locator("#search-results li a").count():
            problems.append(f"search finds nothing for {word!r}")
    return problems


def searched(folder: Path) -> list[dict[str, Any]]:
    """Return what the search of a built book looks through: its pages with their sections."""
    text = (folder / "_static/search-index.js").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text.removeprefix("window.BOOK = ").rstrip(";\n"))
    return found


def answers(browser: Any, folder: Path, question: str, first: int = 3) -> list[tuple[str, str]]:
    """Search the built book, and return the first pages found, without suffix, each with its excerpt."""
    problems: list[str] = []
    address = f"{(folder / 'search.html').as_uri()}?q={quote(question)}"
    with opened(browser, address, DESK, "light", problems) as page:
        page.wait_for_function(ANSWERED)
        found = page.evaluate(FOUND)[:first]
    base = folder.as_uri() + "/"
    return [(one["address"].removeprefix(base).partition(".html")[0], one["excerpt"]) for one in found]
