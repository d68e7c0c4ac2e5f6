"""The drawings of all chapters are in one zip file, by number; no drawing takes another one's caption."""

import zipfile

import figures

CAPTION = (
    '<div class="figure-caption docutils" id="figure-{}">'
    '<p><span class="caption-number">Figure {}.</span> {}</p></div>'
)


def page(*drawings):
    return "".join(
        f'<div><img alt="x" src="../_images/{name}.svg" /></div>'
        + (CAPTION.format(number, number, said) if number else "")
        for name, number, said in drawings
    )


def test_drawings_are_named_by_number_with_all_captions(tmp_path):
    (tmp_path / "_images").mkdir()
    for name in "abcd":
        (tmp_path / f"_images/{name}.svg").write_text(f"<svg>{name}</svg>")
    pages = {
        "notebooks/later.html": page(("c", "10-1", "Last &amp; <em>least</em>.")),
        "notebooks/first.html": page(("a", "2-1", "First."), ("d", "", ""), ("b", "2-2", "Second.")),
        "book/plain.html": page(("d", "1", "A page without a number.")),
    }
    assert figures.write_figures(pages, tmp_path) == 3
    first = (tmp_path / figures.NAME).read_bytes()
    with zipfile.ZipFile(tmp_path / figures.NAME) as archive:
        assert archive.namelist() == [
            f"figures/{name}"
            for name in ("figure-2-1.svg", "figure-2-2.svg", "figure-10-1.svg", "captions.txt")
        ]
        assert archive.read("figures/figure-2-2.svg") == b"<svg>b</svg>"
        assert archive.read("figures/captions.txt").decode().split("\n") == [
            "Figure 2-1. First.", "Figure 2-2. Second.", "Figure 10-1. Last & least.", "",
        ]  # fmt: skip
    figures.write_figures(pages, tmp_path)
    assert (tmp_path / figures.NAME).read_bytes() == first
