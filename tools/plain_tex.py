r"""Write formulas as plain words and signs, for places that cannot typeset them: `\frac{1}{\sqrt n}` becomes 1/√n."""

import re
import unicodedata

FORMULA = re.compile(r"\\\((.*?)\\\)|\\\[(.*?)\\\]|(\\begin\{([a-z]+\*?)\}.*?\\end\{\4\})", re.DOTALL)
TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\s+|.", re.DOTALL)
CALLED = re.compile(r"\b(arg max|arg min|max|min|sup|inf|Pr|ln|log|exp|tanh|sinh|cosh) (?=[([{_₀-ₜᵢ-ᵥⱼ])")
ONE = re.compile(r"[\d.]+|[^\W\d][\u0300-\u0304]?[′ᵀ⁰-⁹⁺-ⁿ₀-₉₊-ₜᵢ-ᵥⱼ]*|[∞…]|\([^()]*\)")
SINGLE = (
    "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν "
    "xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ "
    "Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω ell ℓ partial ∂ nabla ∇ infty ∞ top ᵀ sum Σ prod Π int ∫ iint ∬ oint ∮ "
    "blacksquare ∎ langle ⟨ rangle ⟩ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lvert | rvert | lVert ‖ rVert ‖ "
    "dots … ldots … cdots … emptyset ∅ E E N ℕ R ℝ Z ℤ"
)
RELATIONS = (
    "le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ in ∈ notin ∉ approx ≈ sim ~ pm ± mp ∓ to → mapsto ↦ times × cdot · circ ∘ iff ⇔ "
    "Longleftrightarrow ⇔ Longrightarrow ⇒ Rightarrow ⇒ implies ⇒ longrightarrow → leftarrow ← propto ∝ subseteq ⊆ "
    "otimes ⊗ cup ∪ cap ∩ bigcup ∪ mid | setminus ∖ land and lor or"
)


def _pairs(text: str) -> dict[str, str]:
    """Return every other word with the one after it."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


SIGNS = _pairs(SINGLE) | {name: f" {sign} " for name, sign in _pairs(RELATIONS).items()}
NOTHING = {
    "left", "right", "big", "bigl", "bigr", "bigm", "Big", "Bigl", "Bigr", "displaystyle", "textstyle", "hline", "!",
    "limits", "nolimits",
}  # fmt: skip
SPACES = {",", ";", ":", " ", "quad", "qquad"}
AS_IT_IS = {
    "mathrm", "mathbf", "mathcal", "mathbb", "mathsf", "mathit", "text", "textbf", "textit", "operatorname",
    "underline", "underbrace", "overbrace", "boldsymbol",
}  # fmt: skip
ACCENTS = {
    "hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304",
    "overline": "\u0304",
}  # fmt: skip
FENCES = {"norm": "‖{}‖", "abs": "|{}|", "indicator": "1{{{}}}"}
BUILT = {"begin", "end", "frac", "tfrac", "dfrac", "binom", "sqrt"}
DROPPED = {"label", "tag", "phantom"}  # with what they are given
RAISED = str.maketrans("0123456789+-−=()niTᵀ", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱᵀᵀ")
LOWERED = str.maketrans("0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")


def plain_formulas(text: str) -> str:
    r"""Return a text with its formulas, in `\(…\)`, `\[…\]` or environments, as plain words and signs."""
    return FORMULA.sub(lambda found: plain_formula(found[1] or found[2] or found[3] or ""), text)


def plain_formula(tex: str) -> str:
    """Return one formula as plain words and signs; of an unknown command its name stays."""
    tokens = TOKEN.findall(tex)[::-1]
    said = " ".join(_until(tokens, "").split())
    said = re.sub(r"([(⌈⌊⟨{]) | (?=[,.;:)⌉⌋⟩}])", r"\1", CALLED.sub(r"\1", said))
    return re.sub("[,;]+;", ";", said)


def raised(text: str) -> str:
    """Return what stands raised: in small signs where all of it has such signs, else behind ^."""
    return _small(text, RAISED, "^")


def lowered(text: str) -> str:
    """Return what stands lowered: in small signs where all of it has such signs, else behind _."""
    return _small(text, LOWERED, "_")


def _small(text: str, signs: dict[int, int], mark: str) -> str:
    text = text.strip().replace("-", "−")
    if not text or text == "′":
        return text
    if all(ord(sign) in signs for sign in text):
        return text.translate(signs)
    return mark + (text if mark == "_" and text.isalnum() else _held(text))


def _held(text: str) -> str:
    """Return a part of a formula that an operator takes whole, in brackets unless it is one number or letter."""
    text = text.strip()
    return text if len(text) < 2 or ONE.fullmatch(text) else f"({text})"


def _until(tokens: list[str], end: str) -> str:
    """Read tokens, of which the next one is the last of the list, until the end sign."""
    said = ""
    while tokens:
        token = tokens.pop()
        if token == end:
            break
        said += _one(token, tokens)
    return said


def _argument(tokens: list[str]) -> str:
    while tokens and tokens[-1].isspace():
        tokens.pop()
    return _one(tokens.pop(), tokens) if tokens else ""


def _one(token: str, tokens: list[str]) -> str:
    """Return what a token says, with the arguments that it takes from those after it."""
    if token == "{":
        return _until(tokens, "}")
    if token in "^_":
        said = _argument(tokens)
        return raised(said) if token == "^" else lowered(said)
    if (
        re.match(r"\\[a-zA-Z]", token)
        and len(tokens) > 1
        and tokens[-1].isspace()
        and tokens[-2] not in "=+-<>"
    ):
        tokens.pop()  # a space only ends the command's name
    if not token.startswith("\\"):
        return {"&": " ", "~": " ", "-": "−", "'": "′", "}": ""}.get(token, token)
    return _command(token[1:], tokens)


def _command(name: str, tokens: list[str]) -> str:
    if name in NOTHING:
        if name in ("left", "right") and tokens and tokens[-1] == ".":
            tokens.pop()  # no bracket on this side
        return ""
    if name in SPACES:
        return " "
    if name in SIGNS:
        return SIGNS[name]
    if name in AS_IT_IS:
        return _argument(tokens)
    if name in DROPPED or name in ("begin", "end"):
        environment = _argument(tokens)
        if name == "begin" and environment == "array":
            _argument(tokens)  # how its columns are aligned
        return " "
    if name in ("frac", "tfrac", "dfrac"):
        above = _held(_argument(tokens))
        return f"{above}/{_held(_argument(tokens))}"
    if name == "binom":
        above = _argument(tokens)
        return f"({above} over {_argument(tokens)})"
    if name == "sqrt":
        return f"√{_held(_argument(tokens))}"
    if name in ACCENTS:
        base = _argument(tokens).strip()
        return unicodedata.normalize("NFC", base[:1] + ACCENTS[name]) + base[1:]
    if name in FENCES:
        return FENCES[name].format(_argument(tokens).strip())
    if name == "\\":
        return "; "
    if name == "|":
        return "‖"
    return f" {name} " if name.isalpha() else name  # max, ln, Pr; a sign that is written with a backslash
