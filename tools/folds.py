"""Give every fold of a built page a name that says what it opens, and solutions the browser's own fold."""

import re
from collections import Counter

SOLUTION = re.compile(
    r'<div class="solution dropdown admonition"( id="[^"]*")?>\s*<p class="admonition-title">(.*?)</p>',
    re.DOTALL,
)
LINK = re.compile(r"<a [^>]*>\s*(.*?)</a>", re.DOTALL)  # none can be followed from within a fold's name
# the same id in every exercise and solution
CONTENT = re.compile(r'<section id="(?:solution|exercise)-content">')
# in the contents beside a page
PART = re.compile(r'<a [^>]*>\s*([^<]*?)\s*</a>\s*<details[^>]*>\s*<summary(?=><span class="toctree-toggle")')
CELL = re.compile(r'<div class="(cell [^"]*)"(?: id="[^"]*")?>\s*(?=<details class="admonition hide)')
CODE = re.compile(
    r'<summary aria-label="Toggle hidden content">\s*<p class="collapsed admonition-title">Show code cell '
    r'(source|output)</p>\s*<p class="expanded admonition-title">Hide code cell \1</p>\s*</summary>'
)
TAG = re.compile(r"<[^>]*>")
HEADING = re.compile(r'<h[1-4][^>]*>(.*?)<a class="headerlink', re.DOTALL)
IMPORTS = re.compile(r'<pre><span></span>(?:<span class="c1">[^<]*</span>\s*)?<span class="kn">')
NUMBER = re.compile(r'<span class="caption-number">((?:Figure|Table) [\d.]+?)\.</span>')
SUMMARY = re.compile(r"(<summary[^>]*>)(.*?)(</summary>)", re.DOTALL)
HIDDEN = '<span class="visually-hidden">{}</span>'  # for those who hear a page
# fold of a thing that has a name → where the thing begins, where its name stands, and what the fold is called
NAMED = (
    ('<div class="claim-card"', r"<code>([^<]*)</code>", "How it was checked"),
    ('<tr id="', r"<code>([^<]*)</code>", "more"),
    ('<div class="erratum', r"<h4>((?:(?!</h4>).)*)</h4>", "See for yourself[^<]*"),
)


def name_folds(page: str) -> str:
    """Return a built page whose folds can be told apart by their names alone.

    Raises
    ------
    ValueError
        If a solution or cell does not end.
    """
    page = CONTENT.sub("<section>", fold_solutions(page))
    page = PART.sub(r'\g<0> aria-label="Pages below \1"', page)
    for begins, name, fold in NAMED:
        within = rf"(?:(?!{begins}).)*?"
        known = re.compile(rf"{begins}{within}{name}{within}<summary>{fold}(?=</summary>)", re.DOTALL)
        # the name stands beside the fold already; it is added for those who hear the fold alone
        page = known.sub(lambda found: f"{found[0]}{HIDDEN.format(f': {found[1]}')}", page)
    return tell_apart(name_code(page))


def fold_solutions(page: str) -> str:
    """Return the page with each solution in a fold that is called after its exercise and needs no script."""
    while found := SOLUTION.search(page):
        end = _end(page, found.start())
        name = LINK.sub(r" \1", found[2])
        inside = page[found.end() : end - len("</div>")]
        page = (
            f'{page[: found.start()]}<details class="solution admonition"{found[1] or ""}>'
            f'<summary class="admonition-title">{name}</summary>{inside}</details>{page[end:]}'
        )
    return page


def name_code(page: str) -> str:
    """Return the page with each fold of code named after what it makes, or else its section."""
    for found in reversed(list(CELL.finditer(page))):
        end = _end(page, found.start())
        cell = page[found.start() : end]
        made = NUMBER.findall(cell)
        plain = "imports" if IMPORTS.search(cell) and not made else "code"
        what = "parameters" if "tag_parameters" in found[1] else plain
        of = f" of {made[0]}" + (f" to {made[-1]}" if len(made) > 1 else "") if made else ""
        if what == "code" and not made and (above := HEADING.findall(page[: found.start()])):
            of = HIDDEN.format(f": {TAG.sub('', above[-1])}")

        def named(match: re.Match[str], what: str = what, of: str = of) -> str:
            name = f"the {what if match[1] == 'source' else 'output'}{of}"
            shown = f'<p class="collapsed admonition-title">Show {name}</p>'
            return f'<summary>{shown}<p class="expanded admonition-title">Hide {name}</p></summary>'

        page = page[: found.start()] + CODE.sub(named, cell) + page[end:]
    return page


def tell_apart(page: str) -> str:
    """Return the page with a number added to the name of a fold that another one before it has."""
    start, seen = page.find("<article"), Counter[str]()

    def counted(found: re.Match[str]) -> str:
        name = " ".join(TAG.sub("", found[2]).split())
        seen[name] += 1
        if seen[name] == 1:
            return found[0]
        number = HIDDEN.format(f" ({seen[name]})")
        inside = found[2].replace("</p>", f"{number}</p>") if "</p>" in found[2] else found[2] + number
        return found[1] + inside + found[3]

    return page[:start] + SUMMARY.sub(counted, page[start:]) if start >= 0 else page


def _end(page: str, start: int) -> int:
    """Return where the element `div` that starts here has ended."""
    depth = 0
    for found in re.finditer(r"<(/?)div\b", page[start:]):
        depth += -1 if found[1] else 1
        if not depth:
            return start + found.end() + 1
    raise ValueError(f"found no end of {page[start : start + 60]!r}")
