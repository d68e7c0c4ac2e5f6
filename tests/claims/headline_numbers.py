"""Which numbers of a headline no result of the entry's check confirms."""

import re

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?![\w])( million)?")
PLACE = re.compile(r"(?:Theorem|Lemma|Corollary|Remark|Proposition|Table|Figure|§)s? [\d.]+")


def unshown(headline, row):
    """List the decimal numbers of a headline to which no fact, witness or statement of the entry rounds.

    `row` is the entry as ``claims --json`` prints it. A number may also be a percentage or in millions.
    """
    shown = [known for name in ("facts", "says", "witness", "statement") for known in numbers(row[name])]
    found = []
    for match in NUMBER.finditer(PLACE.sub("", headline)):
        digits = match[0].removesuffix(" million").replace(",", "")
        unit = 1e6 if match[1] else 1.0
        step = unit * 10.0 ** -len(digits.partition(".")[2])
        value = unit * float(digits)
        if not any(abs(abs(known) * scale - value) < step for known in shown for scale in (1, 100)):
            found.append(match[0])
    return found


def numbers(value):
    """Yield every number in plain data, those in its texts too."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from numbers(entry)
    elif isinstance(value, str):
        for text in re.findall(r"\d[\d,]*\.?\d*(?:e[+-]?\d+)?", value):
            yield float(text.replace(",", ""))
        for over, under in re.findall(r"(\d+)/(\d+)", value):
            if int(under):
                yield int(over) / int(under)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)
