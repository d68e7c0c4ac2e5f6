"""Keep a formula and the punctuation around it on one line: a browser may break a line between the two."""

import re

# brackets before a formula, the formula, what closes or ends after it; or all of this, kept together already
FORMULA = re.compile(
    r'(<span class="unbroken">)?([(\[“]*)<span class="math notranslate nohighlight">[^<]*</span>([.,;:!?)\]”’%]*)'
)


def keep_together(page: str) -> str:
    """Return a built page where each formula of a line is in one span with its punctuation, if it has any."""

    def together(match: re.Match[str]) -> str:
        loose = (match[2] or match[3]) and not match[1]
        return f'<span class="unbroken">{match[0]}</span>' if loose else match[0]

    return FORMULA.sub(together, page)
