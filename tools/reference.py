"""The reference: a page for each room of the library with every public name, written from the docstrings by Sphinx."""

import importlib
import inspect
from types import ModuleType
from typing import Any

LIBRARY = "dpfair_lib"
FOLDER = "book/reference"
ROOMS = (
    "central", "fairness", "local", "learners", "preparation", "privacy", "svm", "margins", "compatibility",
    "populations", "datasets", "claims", "experiments",
)  # fmt: skip
"""In the order in which a user meets them; the last two are for readers of the book."""


def reference_pages() -> dict[str, str]:
    """Return the source of every page of the reference: name in the book → MyST text."""
    library = importlib.import_module(LIBRARY)
    names = {room: public_names(library, room) for room in ROOMS}
    found = {f"{FOLDER}/{room}.md": room_page(room, names[room]) for room in ROOMS}
    return {f"{FOLDER}/index.md": index_page(names), **found}


def public_names(library: ModuleType, room: str) -> list[str]:
    """Return the full names of what a room offers: first what the library offers as a whole, each part sorted."""
    module = importlib.import_module(f"{LIBRARY}.{room}")
    # a name that the library takes from a module inside of a room belongs to this room, too
    inside = f"{LIBRARY}.{room}."
    places = (inside, f"{LIBRARY}.postprocessing.") if room == "central" else (inside,)
    tops = [
        name
        for name in library.__all__
        if not inspect.ismodule(getattr(library, name))
        and (name in module.__all__ or getattr(getattr(library, name), "__module__", "").startswith(places))
    ]
    others = sorted(set(module.__all__) - set(library.__all__), key=str.lower)
    return [f"{LIBRARY}.{name}" for name in sorted(tops, key=str.lower)] + [
        f"{inside}{name}" for name in others
    ]


def room_page(room: str, names: list[str]) -> str:
    """Return the page of one room: a table of its names, then each name with all its docstring says."""
    purpose = summary(importlib.import_module(f"{LIBRARY}.{room}"))
    lines = [
        f"# `{LIBRARY}.{room}`", "", purpose, "",
        ":::{div} table-caption", f"The public names of this part of the library: {len(names)}.", ":::", "",
        *table(names),
    ]  # fmt: skip
    for name in names:
        lines += ["", f"## {name.rsplit('.', 1)[-1]}", "", "```{eval-rst}", *directive(name), "```"]
    return "\n".join(lines) + "\n"


def index_page(names: dict[str, list[str]]) -> str:
    """Return the first page of the reference: every name that ``import dpfair_lib`` offers, by room."""
    lines = [
        "# Reference", "",
        "Every public name with its parameters, what it returns, the errors that it raises, and an example. These "
        "pages are made from the docstrings; `help(name)` shows the same. What an estimator has from scikit-learn "
        "(`get_params`, `score` and others) is documented there.", "",
        "Below are the names that `import dpfair_lib as dpf` offers as `dpf.name`. Each part of the library has a "
        "page, with further names that are imported from this part.", "",
    ]  # fmt: skip
    for room, all_names in names.items():
        tops = [name for name in all_names if name.count(".") == 1]
        purpose = summary(importlib.import_module(f"{LIBRARY}.{room}"))
        lines += [f"## [{room}]({room}.md)", "", purpose, ""]
        if tops:
            lines += [
                ":::{div} table-caption",
                f"What `dpf` offers from this part: {len(tops)} {'name' if len(tops) == 1 else 'names'}.",
                ":::",
                "",
            ]
            lines += [*table(tops), ""]
    return "\n".join(lines)


def table(names: list[str]) -> list[str]:
    """Return a table of names with the first sentence of each docstring."""
    rows = [
        f"| {{py:obj}}`{'dpf' + name.removeprefix(LIBRARY) if name.count('.') == 1 else name.rsplit('.', 1)[-1]} "
        f"<{name}>` | {summary(named(name)).replace('|', chr(92) + '|')} |"
        for name in names
    ]
    return ["| name | what it is |", "|---|---|", *rows]


def named(name: str) -> Any:
    """Return the object of a full name."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def summary(thing: Any) -> str:
    """Return the first line of a docstring; of a value without one, its type."""
    if not (inspect.ismodule(thing) or callable(thing)):
        return f"A constant, of type `{type(thing).__name__}`."
    text = inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n")[0].split())


def directive(name: str) -> list[str]:
    """Return the directive that documents one name."""
    found = named(name)
    if inspect.isclass(found):
        # what an estimator inherits from scikit-learn is documented there
        return [
            f".. autoclass:: {name}",
            "   :members:",
            "   :inherited-members: BaseEstimator, tuple, dict, Exception",
        ]
    if inspect.isroutine(found):
        return [f".. autofunction:: {name}"]
    # of a constant, Python keeps no docstring
    entries = [f"   - ``{key!r}``: {text}" for key, text in found.items()] if isinstance(found, dict) else []
    return [f".. data:: {name}", "", *(entries or [f"   ``{found!r}``"])]
