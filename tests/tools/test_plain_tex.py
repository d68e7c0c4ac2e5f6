"""Formulas in words and signs: no command is left, and what an operator takes is not mixed up."""

import re
from pathlib import Path

import plain_tex
import pytest

# operators that are written as their name, as TeX has them
WORDS = (
    "arccos", "arcsin", "arctan", "arg", "argmax", "argmin", "cos", "cosh", "cot", "deg", "det", "dim", "exp", "gcd",
    "hom", "inf", "ker", "lim", "liminf", "limsup", "ln", "log", "max", "min", "Pr", "sec", "sign", "sin", "sinh",
    "sup", "tan", "tanh", "TV", "Var",
)  # fmt: skip
ROOT = Path(__file__).resolve().parents[2]
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$`])\$(?=\S)([^$\n]+?)(?<=\S)\$", re.DOTALL)


@pytest.mark.parametrize(
    ("tex", "words"),
    [
        (r"\varepsilon \le \frac12", "ε ≤ 1/2"),
        (r"\frac{1}{n_0\varepsilon_0}", "1/(n₀ε₀)"),
        (r"\frac{a + b}{c}", "(a + b)/c"),
        (r"\sqrt{2n}", "√(2n)"),
        (r"\sqrt2\|x\|", "√2‖x‖"),
        (r"e^{-\varepsilon}", "e^(−ε)"),
        (r"2^{-53}", "2⁻⁵³"),
        (r"\tilde q_{a0}", "q̃ₐ₀"),
        (r"\hat Y", "Ŷ"),
        (r"\max_a\Bigl(\tfrac{1}{2},\; x\Bigr)", "maxₐ(1/2, x)"),
        (r"\left\{ x \right.", "{x"),
        (r"S = \{0, 1\}", "S = {0, 1}"),
        (r"\Pr(Z = j \mid A = i) .", "Pr(Z = j | A = i)."),
        (r"\begin{aligned} a &= b , \\ c &= d \end{aligned}", "a = b; c = d"),
        (r"\text{for all } j", "for all j"),
        (r"\norm{x} \indicator{s}", "‖x‖ 1{s}"),
        (r"\binom Tk", "(T over k)"),
        (r"\Delta u", "Δu"),
        (r"\alpha - \beta", "α − β"),
        (r"\unknowncommand x", "unknowncommand x"),
        ("", ""),
        (r"\frac{", "/"),
    ],
)
def test_formula(tex, words):
    assert plain_tex.plain_formula(tex) == words


def test_only_formulas_of_a_text_change():
    assert plain_tex.plain_formulas(r"an \(\varepsilon\)-private \[x^2\] a_b") == "an ε-private x² a_b"


def test_no_formula_of_the_book_keeps_a_command():
    known = {*plain_tex.SIGNS, *WORDS}
    count = 0
    for path in [*(ROOT / "notebooks").glob("*.md"), *(ROOT / "book").rglob("*.md")]:
        for found in FORMULA.finditer(path.read_text(encoding="utf-8")):
            tex = found[1] or found[2]
            words = plain_tex.plain_formula(tex)
            count += 1
            assert not re.search(r"\\(?![{}])|_\{|\^\{", words), (
                path,
                tex,
                words,
            )
            left = set(re.findall(r"\\([a-zA-Z]+)", tex)) - known
            handled = plain_tex.NOTHING | plain_tex.SPACES | plain_tex.AS_IT_IS | plain_tex.DROPPED
            assert left <= handled | {*plain_tex.ACCENTS, *plain_tex.FENCES} | plain_tex.BUILT, (path, left)
    assert count > 2000
