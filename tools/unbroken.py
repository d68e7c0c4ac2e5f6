"""Keep on one line what a browser may part: a formula and its punctuation, a number and its percent sign."""

import re

# brackets before a formula, the formula, what closes or ends after it; or all of this, kept together already
FORMULA = re.compile(
    r'(<span class="unbroken">)?([(\[“]*)<span class="math notranslate nohighlight">[^<]*</span>([.,;:!?)\]”’%]*)'
)
# what is copied or run, and tags, stay as they are; a number may have been pasted, and then ends with a tag
PERCENT = re.compile(
    r"(?P<kept><(?P<tag>pre|code|script|style|textarea|title)\b.*?</(?P=tag)>|<[^>]*>)|(?P<number>\d(?:</span>)?) %",
    re.DOTALL,
)


def keep_together(page: str) -> str:
    """Return a built page where each formula of a line is in one span with its punctuation, if it has any."""

    def together(match: re.Match[str]) -> str:
        loose = (match[2] or match[3]) and not match[1]
        return f'<span class="unbroken">{match[0]}</span>' if loose else match[0]

    return FORMULA.sub(together, page)


def keep_percents(page: str) -> str:
    """Return a built page where no line breaks between a number and its percent sign."""
    return PERCENT.sub(lambda match: match["kept"] or f"{match['number']}&nbsp;%", page)
