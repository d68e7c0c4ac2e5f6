"""Measure on an open page what a reader cannot read: what is cut, hidden at the side, too small or has no caption."""

import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

SMALLEST = 9.0  # pixels; of any text in a figure, at the width at which the figure is shown
LEAST_SCALE = (
    0.736  # of a picture in pixels, whose text cannot be measured; ours have 8 points at 110 per inch
)
FEWEST_WORDS = 5  # of a caption: it says what to see, not only what the thing is called

# what is folded away is to be read as well
UNFOLD = """async () => {
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  // book.js fits what has come to light
  for (let frames = 0; frames < 3; frames++) await new Promise(done => requestAnimationFrame(done));
}"""

COMMON = """
  const article = document.querySelector('article') || document.body;
  const all = selector => [...article.querySelectorAll(selector)].filter(one => one.getClientRects().length);
  const text = element => element.textContent.trim().replace(/\\s+/g, ' ').slice(0, 50);
  const clips = element => getComputedStyle(element).overflowX !== 'visible';
  const boxOf = element => {  // what cuts it: itself, or the nearest thing around it that does
    for (let up = element; up && up !== document.body; up = up.parentElement) if (clips(up)) return up;
    return article;
  };
  const shaded = box => {  // at its side, by itself or drawn over it
    const shade = getComputedStyle(box.parentElement, '::after');
    return shade.content !== 'none' && shade.backgroundImage !== 'none' || getComputedStyle(box).boxShadow !== 'none';
  };
  const over = box => box.scrollWidth - box.clientWidth;
"""

BLOCKS = f"""() => {{ {COMMON}
  return all('pre').filter(block => over(block) > 1 || over(boxOf(block)) > 1)
    .map(block => `block cut by ${{Math.max(over(block), over(boxOf(block)))}} px: ${{text(block)}}`);
}}"""

TABLES = f"""() => {{ {COMMON}
  return all('table').filter(table => over(boxOf(table)) > 1)
    .map(table => `table hides ${{over(boxOf(table))}} px at its side: ${{text(table)}}`);
}}"""

# a table that is too wide for a phone: its box scrolls, its first column stays, and a shadow says that there is more
NARROW_TABLES = f"""() => {{ {COMMON}
  const found = [];
  for (const table of all('table')) {{
    const box = boxOf(table);
    if (over(box) <= 1) continue;
    const say = what => found.push(`table at a phone's width ${{what}}: ${{text(table)}}`);
    if (!['auto', 'scroll'].includes(getComputedStyle(box).overflowX)) say('does not scroll');
    const left = table.getBoundingClientRect().left;
    // where a cell spans rows, a row begins with a cell of the second column
    const firsts = [...table.rows].map(row => row.cells[0])
      .filter(cell => cell && cell.colSpan === 1 && cell.getBoundingClientRect().left < left + 3);
    if (firsts.some(cell => getComputedStyle(cell).position !== 'sticky')) say('lets its first column go');
    const width = Math.max(...firsts.map(cell => cell.getBoundingClientRect().width));
    if (width > 0.6 * box.clientWidth) say('is filled by its first column');
    if (!shaded(box)) say('does not show that it goes on');
  }}
  return found;
}}"""

EQUATIONS = f"""() => {{ {COMMON}
  const cut = all('mjx-container').filter(formula => {{
    if (formula.closest('table')) return false;  // counted with the table
    const drawn = formula.querySelector('svg').getBoundingClientRect(), box = boxOf(formula);
    const left = box.getBoundingClientRect().left + box.clientLeft;
    return drawn.left < left - box.scrollLeft - 1.5 || drawn.right > left + box.clientWidth + 1.5;
  }});
  const source = formula => text(formula.querySelector('mjx-assistive-mml') || formula);
  return cut.map(formula => `equation clipped: ${{source(formula)}}`);
}}"""

# a formula that is too wide for a phone: its box scrolls, and a shadow says that there is more
NARROW_FORMULAS = f"""() => {{ {COMMON}
  const found = [];
  for (const one of all('mjx-container')) {{
    if (one.closest('table')) continue;  // scrolls with the table
    const drawn = one.querySelector('svg').getBoundingClientRect(), box = boxOf(one);
    const left = box.getBoundingClientRect().left + box.clientLeft, cut = drawn.right > left + box.clientWidth + 3.5;
    const words = text(one.querySelector('mjx-assistive-mml') || one);
    const say = what => found.push(`equation at a phone's width ${{what}}: ${{words}}`);
    if (drawn.right > article.getBoundingClientRect().right + 1.5
        && !['auto', 'scroll'].includes(getComputedStyle(box).overflowX)) say('does not scroll');
    else if (drawn.left < left - box.scrollLeft - 1.5) say('is cut at its left');
    else if (cut && !shaded(box)) say('does not show that it goes on');
  }}
  return found;
}}"""

# the keyboard stops at a box for one reason: to scroll it; and it does stop at every box that scrolls
STOPS = f"""() => {{ {COMMON}
  const found = [];
  const say = (one, what) => found.push(`<${{one.localName}} class="${{one.className}}"> ${{what}}: ${{text(one)}}`);
  const own = 'a[href], button, input, select, textarea, summary, [role=button], [role=slider], [contenteditable]';
  for (const one of all('*:not(svg *)')) {{
    const style = getComputedStyle(one);
    const room = one.matches('.math, mjx-container') ? 3 : 1;  // a slanted letter reaches out of its box
    const goes = side => ['auto', 'scroll'].includes(style[`overflow${{side}}`]);
    const scrolls = goes('X') && one.scrollWidth > one.clientWidth + room
      || goes('Y') && one.scrollHeight > one.clientHeight + room;
    if (one.tabIndex >= 0 && !scrolls && !one.matches(own)) say(one, 'stops the keyboard and does not scroll');
    if (scrolls && one.tabIndex < 0 && !one.querySelector(own)) say(one, 'scrolls, but not by the keyboard');
  }}
  return found;
}}"""

# a screen reader lists folds by their names alone
FOLDS = f"""() => {{ {COMMON}
  const found = [], names = [];
  for (const one of all('summary, button[aria-expanded]')) {{
    const name = (one.getAttribute('aria-label') || one.innerText).trim().replace(/\\s+/g, ' ');
    if (!name || /hidden content/i.test(name)) found.push('fold without a name: ' + one.outerHTML.slice(0, 60));
    else if (names.includes(name)) found.push(`fold with the name of another: ${{name}}`);
    names.push(name);
  }}
  return found;
}}"""

# each column has one header: a second row only where the first one's headers stand over several columns
HEADERS = f"""() => {{ {COMMON}
  const spread = head => [...head.querySelectorAll('th, td')].some(one => one.colSpan > 1);
  const side = one => getComputedStyle(one).textAlign.replace('start', 'left');
  const apart = table => table.querySelector('td') && table.querySelector('thead th')
    && side(table.querySelector('thead th')) !== side(table.querySelector('td'));
  return all('thead').filter(head => head.rows.length > 1 && !spread(head))
    .map(head => `table with ${{head.rows.length}} rows of headers: ${{text(head)}}`)
    .concat(all('table.dataframe').filter(apart).map(one => `headers that are not over their cells: ${{text(one)}}`));
}}"""

PICTURES = f"""() => {{ {COMMON}
  return all('img').map(image => ({{source: image.src, shown: image.getBoundingClientRect().width,
                                    own: image.naturalWidth, alt: image.alt}}));
}}"""

# a drawing in a box that scrolls: nothing is below, and nothing at the side without a sign
DRAWINGS = f"""() => {{ {COMMON}
  const found = [];
  if (article === document.body) return found;  // a page without an article has no drawings but icons
  for (const one of all('svg:not(mjx-container svg, svg svg)')) {{
    const box = boxOf(one.parentElement), below = box.scrollHeight - box.clientHeight;
    if (box === article || !article.contains(box)) continue;
    if (below > 1) found.push(`drawing hides ${{below}} px below: ${{text(one)}}`);
    if (over(box) > 1 && !shaded(box)) found.push(`drawing does not show that it goes on: ${{text(one)}}`);
  }}
  return found;
}}"""

DRAWN_TEXT = f"""() => {{ {COMMON}
  const found = [];
  for (const one of all('svg:not(mjx-container svg) text')) {{
    const matrix = one.getScreenCTM();
    const size = parseFloat(getComputedStyle(one).fontSize) * Math.hypot(matrix.a, matrix.b);
    if (text(one)) found.push({{size, text: text(one)}});
  }}
  return found;
}}"""

CAPTIONS = f"""() => {{ {COMMON}
  // tables that lay out words and have titles of their own
  const layout = '.claim-card, .claims, .in-short, .findings';
  const shown = all('.cell_output img, figure img, table').filter(one => !one.closest(layout));
  const kind = one => one.tagName === 'TABLE' ? 'Table' : 'Figure';
  const isCaption = (one, what) => one && (one.matches(`.${{what}}-caption, figcaption, caption`) ? one
    : one.children.length === 1 && one.firstElementChild.matches(`.${{what}}-caption`) ? one.firstElementChild : null);
  const captionOf = one => {{  // above a table, below a figure, within the same cell or paragraph of the page
    const what = kind(one).toLowerCase();
    const own = one.querySelector('caption') || one.closest('figure')?.querySelector('figcaption');
    for (let up = one; !own && up && up !== article && up.tagName !== 'SECTION'; up = up.parentElement) {{
      const side = what === 'table' ? 'previousElementSibling' : 'nextElementSibling';
      let next = up[side];
      while (next && ['STYLE', 'SCRIPT'].includes(next.tagName)) next = next[side];
      const found = isCaption(next, what);
      if (found) return found;
      if (next) return null;
    }}
    return own;
  }};
  const found = [], numbers = [];
  for (const one of shown) {{
    const caption = captionOf(one), words = caption ? caption.innerText.trim() : '';
    const say = what => found.push(`${{kind(one)}} ${{what}}: ${{text(one) || one.alt}}`);
    const number = words.match(/^(Figure|Table) \\d+(\\.\\d+)*/);
    if (!caption) say('without a caption');
    else if (!number || number[1] !== kind(one)) say('without a number');
    else if (words.split(/\\s+/).length < {FEWEST_WORDS} + 2) say('with a caption that says nothing');
    else if (numbers.includes(number[0])) say('with the number of another');
    if (number) numbers.push(number[0]);
  }}
  return found;
}}"""


# formulas are replaced by their words, MathJax's assistive text: thousands of paths each, which take minutes;
# so is what only colours a piece of code. contrast is measured by browsing.py, in light and dark; "region" looks at
# every element, and its findings are moderate, so that none would be listed
AXE = """async () => {
  for (const one of document.querySelectorAll('mjx-container')) one.replaceWith(one.textContent);
  for (const one of document.querySelectorAll('pre span'))
    if ([...one.attributes].every(each => each.name === 'class')) one.replaceWith(...one.childNodes);
  const found = await axe.run(document,
    {preload: false, resultTypes: ['violations'],
     rules: {'color-contrast': {enabled: false}, 'region': {enabled: false}}});
  return found.violations.map(one => (
    {id: one.id, impact: one.impact, nodes: one.nodes.map(node => ({html: node.html}))}));
}"""


def small_text(pictures: list[dict[str, Any]], drawn: list[dict[str, Any]]) -> list[str]:
    """List figures with text that is too small to read."""
    found = [
        f"figure's text of {one['size']:.1f} px: {one['text']}" for one in drawn if one["size"] < SMALLEST
    ]
    for picture in pictures:
        source = urlsplit(picture["source"])
        if source.scheme != "file":
            continue
        path = Path(unquote(source.path))
        if path.suffix != ".svg":
            if picture["shown"] < LEAST_SCALE * picture["own"]:
                found.append(f"picture shown at {picture['shown'] / picture['own']:.0%}: {path.name}")
        elif (least := smallest_text(path.read_text(encoding="utf-8"))) is not None:
            size = least * picture["shown"]
            if size < SMALLEST - 0.05:
                found.append(f"figure's text of {size:.1f} px: {path.name} ({picture['alt'][:50]})")
    return found


def smallest_text(svg: str) -> float | None:
    """Return the size of the smallest text of a drawing, as a share of its width; None if it has none."""
    box = re.search(r'viewBox="\S+ \S+ (\S+) \S+"', svg)
    sizes = [
        float(size)
        for style in re.findall(r"<text[^>]*?style=\"([^\"]*)\"", svg)
        for size in re.findall(r"font(?:-size)?:[^;]*?([\d.]+)px", style)
    ]
    return min(sizes) / float(box[1]) if box and sizes else None


def read_at_desk(page: Any) -> list[str]:
    """List what cannot be read on a page at a desk: folds open, every block, table, formula, figure and caption."""
    page.evaluate(UNFOLD)
    scripts = (BLOCKS, TABLES, EQUATIONS, CAPTIONS, HEADERS, FOLDS, DRAWINGS, STOPS)
    found = [line for script in scripts for line in page.evaluate(script)]
    return found + small_text(page.evaluate(PICTURES), page.evaluate(DRAWN_TEXT))


def read_on_phone(page: Any) -> list[str]:
    """List what cannot be read on a page on a phone, where tables and formulas may scroll in boxes of their own."""
    page.evaluate(UNFOLD)
    scripts = (BLOCKS, NARROW_TABLES, NARROW_FORMULAS, DRAWINGS, STOPS)
    return [line for script in scripts for line in page.evaluate(script)]


@cache
def axe() -> str:
    """Return the script of axe-core."""
    from axe_playwright_python.base import AXE_SCRIPT

    return str(AXE_SCRIPT)


def shut_out(page: Any) -> list[str]:
    """List what axe-core calls critical or serious: what keeps readers with a disability out."""
    page.evaluate(axe())
    violations = page.evaluate(AXE)
    return [
        f"axe {one['id']} ({one['impact']}, {len(one['nodes'])} times): {one['nodes'][0]['html'][:120]}"
        for one in violations
        if one["impact"] in ("critical", "serious")
    ]
