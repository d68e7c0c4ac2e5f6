"""Number and caption figures and tables: a cell says in its `caption` what is to be seen in what it shows."""

import ast
import json
import re
from collections import Counter
from itertools import zip_longest
from typing import Any

from alternatives import alternative

PICTURES = ("image/svg+xml", "image/png")
KINDS = {"figure": "Figure", "table": "Table"}
# MyST-NB gives all figures of a cell one text: it carries those of all, and each built figure keeps its own
NEXT = " ␞ "
JOINED = re.compile(rf'(<img\b[^>]*?\balt=")([^"]*{NEXT}[^"]*)(?=")')
CAPTION = re.compile(r'<div class="(figure|table)-caption docutils">\s*<p>')
CHAPTER = re.compile(r'<h1><span class="section-number">([\d.]+?)\.?\s*</span>')


def caption_outputs(text: str) -> str:
    """Put its caption beside each figure and table that a notebook shows, and give figures their alternative text.

    Parameters
    ----------
    text : str
        The notebook as JSON. A cell's `caption` is one text, or one for each figure and table of the cell, in MyST.

    Raises
    ------
    ValueError
        If a cell has fewer figures and tables than captions.
    """
    notebook = json.loads(text)
    known: dict[str, ast.AST] = {}
    for cell in notebook.get("cells", []):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        known |= {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        said = cell["metadata"].get("caption", [])
        captions = [said] if isinstance(said, str) else list(said)
        shown = [kind_of(output) for output in cell["outputs"]]
        if "figure" in shown:
            labels = alternative(tree, known)
            pairs = zip_longest(filter(None, shown), captions, fillvalue="")
            each = [plain(caption) or labels for kind, caption in pairs if kind == "figure"]
            cell["metadata"].setdefault("mystnb", {})["image"] = {"alt": NEXT.join(each)}
        if captions and len(captions) > len([kind for kind in shown if kind]):
            raise ValueError(f"found {len(captions)} captions for {sum(map(bool, shown))} figures and tables")
        if captions:
            cell["metadata"].setdefault("mystnb", {})["markdown_format"] = "myst"
            cell["outputs"] = beside(cell["outputs"], captions)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def kind_of(output: dict[str, Any]) -> str:
    """Tell what an output is: a figure, a table, or neither; a claim's card is a text of its own."""
    data = output.get("data", {})
    if any(kind in data for kind in PICTURES):
        return "figure"
    markup = "".join(data.get("text/html", ""))
    return "table" if "<table" in markup and "claim-card" not in markup else ""


def beside(outputs: list[dict[str, Any]], captions: list[str]) -> list[dict[str, Any]]:
    """Return the outputs with a caption above each table and below each figure."""
    left, found = list(captions), []
    for output in outputs:
        kind = kind_of(output)
        said = [as_output(kind, left.pop(0))] if kind and left else []
        found += [output, *said] if kind == "figure" else [*said, output]
    return found


def as_output(kind: str, caption: str) -> dict[str, Any]:
    """Return a caption as one more output of its cell."""
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/markdown": f":::{{div}} {kind}-caption\n{caption}\n:::"},
    }


def plain(caption: str) -> str:
    """Return a caption without marks: the words for those who cannot see the figure."""
    return re.sub(r"[*$]|\\(?=[a-zA-Z])", "", caption)


def part_alternatives(page: str) -> str:
    """Return a built page where each figure of a cell has its own alternative text, not those of all of them."""
    seen = Counter[str]()

    def own(match: re.Match[str]) -> str:
        texts = match[2].split(NEXT)
        text = texts[seen[match[2]] % len(texts)]
        seen[match[2]] += 1
        return match[1] + text

    return JOINED.sub(own, page)


def number_captions(page: str) -> str:
    """Number the captions of a built page, by chapter where chapters are numbered, and give each a place."""
    chapter = f"{found[1]}." if (found := CHAPTER.search(page)) else ""
    counts = dict.fromkeys(KINDS, 0)

    def number(match: re.Match[str]) -> str:
        kind = match[1]
        counts[kind] += 1
        number = f"{chapter}{counts[kind]}"
        place = f'<div class="{kind}-caption docutils" id="{kind}-{number.replace(".", "-")}">'
        return f'{place}<p><span class="caption-number">{KINDS[kind]} {number}.</span> '

    return CAPTION.sub(number, page)
