"""Give tables one row of headers: a table of pandas names its rows in a second row that is empty otherwise."""

import re

HEAD = re.compile(r'(<table[^>]*class="dataframe[^>]*>\s*<thead>)(.*?)(</thead>)', re.DOTALL)
ROW = re.compile(r"<tr[^>]*>(.*?)</tr>", re.DOTALL)
NUMBER = re.compile(r"[-−]?[\d.,]+(?:e[-+]?\d+)?")
# a row that is called by a number, which is no heading
COUNTED = re.compile(rf"<th>(?=\s*(?:{NUMBER.pattern})\s*</th>)")
BODY = re.compile(r'<table[^>]*class="dataframe[^>]*>.*?</table>', re.DOTALL)
CELL = re.compile(r"<th([^>]*)>(.*?)</th>", re.DOTALL)


def merge_headers(page: str) -> str:
    """Return a built page whose tables have the names of rows and columns in one row.

    What the columns are called together, as ε in ε = 0.1, 1, 3, stays where their labels are numbers; words say
    themselves what they are. Tables with headers over several columns stay as they are.
    """
    return HEAD.sub(lambda found: f"{found[1]}{_merged(found[2])}{found[3]}", page)


def mark_numbers(page: str) -> str:
    """Return a built page whose tables of pandas say, by a class, which of their rows are called by a number."""
    return BODY.sub(lambda found: _marked(found[0]), page)


def _marked(table: str) -> str:
    head, end, body = table.partition("</thead>")
    return head + end + COUNTED.sub('<th class="number">', body) if end else table


def _merged(head: str) -> str:
    rows = [CELL.findall(row) for row in ROW.findall(head)]
    if (
        len(rows) != 2
        or len(rows[0]) != len(rows[1])
        or any("span" in cell[0] for row in rows for cell in row)
    ):
        return head
    above, below = ([name.strip() for _, name in row] for row in rows)
    levels = max((at + 1 for at, name in enumerate(below) if name), default=0)
    if not levels:
        return head
    labels, together = above[levels:], above[levels - 1]
    if together and all(NUMBER.fullmatch(label) for label in labels):
        labels = [f"{together} = {label}" for label in labels]
    cells = "".join(f'<th scope="col">{name}</th>' for name in [*below[:levels], *labels])
    return f"<tr>{cells}</tr>"
