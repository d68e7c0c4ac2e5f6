"""Say what each figure shows to readers who cannot see it: what its axes, panels and lines are called."""

import ast
from collections.abc import Iterator
from typing import Any

UNNAMED = "Figure, described in the text around it"


def alternative(tree: ast.AST, known: dict[str, ast.AST]) -> str:
    """Name panels and lines as a cell, and the functions of earlier cells that it calls, label them."""
    panels: list[str] = []
    lines: list[str] = []
    for call in calls(tree, known):
        said = {keyword.arg: words(keyword.value) for keyword in call.keywords}
        if isinstance(call.func, ast.Attribute) and call.func.attr == "label":
            axes = " against ".join(f"“{said[axis]}”" for axis in ("y", "x") if said.get(axis))
            panels.append(f"{axes} ({said['title']})" if said.get("title") else axes)
        elif any(letter.isalnum() for letter in said.get("label", "")):
            lines.append(said["label"])
    if not any(panels):
        return UNNAMED
    drawn = f". Drawn: {'; '.join(dict.fromkeys(lines))}" if lines else ""
    return f"Figure: {'; '.join(dict.fromkeys(filter(None, panels)))}{drawn}"


def calls(tree: ast.AST, known: dict[str, ast.AST]) -> Iterator[ast.Call]:
    """List the calls in a cell in the order of the source, and with them those of the functions called."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(found, key=lambda node: (node.lineno, node.col_offset)):
        yield call
        if isinstance(call.func, ast.Name) and call.func.id in known:
            yield from calls(known[call.func.id], {})


def words(node: Any) -> str:
    """Return the text of a string; an ellipsis stands for what is filled in when it runs."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(words(part) or "…" for part in node.values)
    return ""
