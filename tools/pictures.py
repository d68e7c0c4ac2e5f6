"""Compare two figures as one sees them: processors differ in the last digits that Matplotlib writes."""

import re

TOLERANCE = 0.01  # of a point (1/72 inch); processors differ by about 1e-6, a curve of other numbers by more
# the last ten digits are a hash of the content, last digits included
HASHED = re.compile(r'(id="|#)(\w*?)[0-9a-f]{10}\b')
PLACES = re.compile(r'\s(?:d|x|y|width|height|transform|viewBox|points)="[^"]*"')
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?=pt|[^\w.]|$)")


def named(svg: str) -> str:
    """Number the hashed names of a figure's parts in their order, so that a reference keeps what it refers to."""
    numbers: dict[str, int] = {}

    def rename(match: re.Match[str]) -> str:
        before, kind = match.groups()
        return f"{before}{kind}-{numbers.setdefault(match[0].removeprefix(before), len(numbers))}"

    return HASHED.sub(rename, svg)


def same(stored: str, fresh: str) -> bool:
    """Say whether two figures differ in nothing but places by less than `TOLERANCE`.

    Examples
    --------
    >>> same('<path d="M 1.5 2"/>', '<path d="M 1.500001 2"/>'), same('<path d="M 1.5 2"/>', '<path d="M 1.6 2"/>')
    (True, False)
    """
    stored, fresh = named(stored), named(fresh)
    places = [NUMBER.findall(" ".join(PLACES.findall(svg))) for svg in (stored, fresh)]
    rest = [PLACES.sub(lambda found: NUMBER.sub("0", found[0]), svg) for svg in (stored, fresh)]
    return rest[0] == rest[1] and all(
        abs(float(before) - float(now)) < TOLERANCE for before, now in zip(*places, strict=True)
    )


class Figure(str):
    """The text of a figure, equal to another that looks the same."""

    __hash__ = None  # type: ignore[assignment]  # what is equal within a tolerance has no hash

    def __eq__(self, other: object) -> bool:
        """Compare as one sees them."""
        return isinstance(other, str) and same(str(self), str(other))

    def __ne__(self, other: object) -> bool:
        """Compare as one sees them."""
        return not self == other
