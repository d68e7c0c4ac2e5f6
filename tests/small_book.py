"""A small book for the tests of what executes and renders: two chapters with a parameter."""

HEAD = "---\nkernelspec:\n  display_name: Python 3\n  language: python\n  name: python3\n---\n\n"


def cell(code, tags=""):
    return "```{code-cell} ipython3\n" + (f":tags: [{tags}]\n\n" if tags else "") + code + "\n```\n"


CHAPTER = HEAD + "# Title\n\n" + cell("rows = 3", "parameters") + "\n"


def write(book, name, *codes):
    """Write a chapter that has the parameter ``rows`` and these cells."""
    (book / f"notebooks/{name}.md").write_text(CHAPTER + "".join(map(cell, codes)))


def make_book(root, monkeypatch, toc):
    """Make the book in a folder, and take that for the user's."""
    for folder in ("notebooks", "dpfair_lib", "results", "data", "_build/matplotlib"):
        (root / folder).mkdir(parents=True)
    (root / "_toc.yml").write_text(toc)
    (root / "requirements.lock").write_text("numpy==2\n")
    write(root, "one", "print(rows)")
    write(root, "two", "print(rows * 2)")
    monkeypatch.setenv("DPFAIR_DATA", str(root / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
    (root / "_build/matplotlib/fontlist-0.json").write_text("")  # these chapters draw nothing
    return root
