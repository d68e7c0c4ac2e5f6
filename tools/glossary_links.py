"""Find the terms of the glossary that a chapter uses and links nowhere."""

import re

ENTRY = re.compile(r"^:::\{glossary\}\n(.*?)^:::", re.DOTALL | re.MULTILINE)
LINKED = re.compile(r"\{term\}`([^`]*)`")
# words that mean other things as well, so that a reader of the text has to decide
OTHERWISE = {
    "accuracy", "as run", "as stated", "attained", "channel", "composition", "count", "distribution", "group", "law",
    "margin", "sensitive attribute",
}  # fmt: skip
# what is no running text, or has a link or a meaning of its own
ASIDE = [
    re.compile(pattern, re.DOTALL | re.MULTILINE)
    for pattern in (
        r"\A---\n.*?\n---\n",
        r"^(`{3,})\{(?:code-cell|glue)\}.*?^\1\s*$",
        r"^:::\{div\} table-caption.*?^:::\s*$",
        r"^(?:[#|:`%]|    )[^\n]*$|^\([^\n]*\)=$",
        r"\$\$.*?\$\$",
        r"\{[a-z:]+\}`[^`]*`|`[^`]*`|\[[^\]]*\]\([^)]*\)|\$[^$]*\$|\*\*[^*]+\*\*|\*[^*\n]+\*|<[^>]*>",
    )
]


def entries(glossary: str) -> list[list[str]]:
    """Return the terms of a glossary's source; terms that share a definition are one entry."""
    found: list[list[str]] = [[]]
    for line in "".join(ENTRY.findall(glossary)).splitlines():
        if line.startswith(" ") and found[-1]:
            found.append([])
        elif line.strip() and not line.startswith(" "):
            found[-1].append(line.strip())
    return [terms for terms in found if terms]


def not_linked(text: str, glossary: list[list[str]]) -> list[str]:
    """Return the terms that a chapter's running text uses, from its question on, of entries that it links nowhere."""
    links = " ".join(LINKED.findall(text)).lower()
    running = text[max(text.find("\n## Question"), 0) :]
    for aside in ASIDE:
        running = aside.sub(" ", running)
    return [
        term
        for terms in glossary
        if not any(one.lower() in links for one in terms)
        for term in terms
        if term not in OTHERWISE
        and re.search(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", running, re.IGNORECASE)
    ]
