import ast
import importlib
import re
from importlib.util import resolve_name
from pathlib import Path

import pytest

from dpfair_lib.claims import CLAIMS
from dpfair_lib.claims.ledger import SOURCES
from dpfair_lib.claims.rooms import module_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("source", SOURCES)
def test_each_claim_has_a_module_of_its_name_and_each_module_a_place_in_the_order(source):
    room = importlib.import_module(f"dpfair_lib.claims.{source}")
    found = {path.stem for path in Path(room.__file__).parent.glob("*.py")} - {"__init__"}
    claimed = {module_of(f"{source}.{name}").rpartition(".")[2] for name in room.ORDER}
    assert len(claimed) == len(room.ORDER), "two ids have one module"
    for name in room.ORDER:
        assert CLAIMS[f"{source}.{name}"].id == f"{source}.{name}", "the id in the module is another"
    # the part of a long check is named after its claim
    apart = {stem for stem in found - claimed if not stem.startswith(tuple(f"{own}_" for own in claimed))}
    assert not apart, (
        f"not in ORDER of dpfair_lib/claims/{source}/__init__.py, and no part of a claim: {apart}"
    )


CLAIMED = {module_of(claim_id) for claim_id in CLAIMS}


def imported(text, package):
    """The dotted names that a module of ``package`` imports, each with the name that is taken from it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def foreign(text, module):
    """The imports from rooms of claims, but for a claim's own parts: ``isit.prop_1`` may take ``isit.prop_1_cases``."""
    rooms = tuple(f"dpfair_lib.claims.{source}" for source in SOURCES)
    for name in imported(text, module.rpartition(".")[0]):
        if ".".join(name.split(".")[:3]) in rooms:
            of = ".".join(name.split(".")[:4])
            if of in CLAIMED or not of.startswith(f"{module}_"):
                yield name


def test_no_claim_s_module_imports_another_s():
    """What two claims need stands in ``claims/shared``; the parts of a long check are named after its claim."""
    for path in sorted((ROOT / "dpfair_lib" / "claims").glob("*/**/*.py")):
        dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found = list(foreign(path.read_text("utf-8"), dotted))
        assert not found, f"{path}: move what it takes from {', '.join(found)} to claims/shared"


def of_checks(chapter):
    """What the code of a chapter imports from the rooms of claims, and from what they share."""
    cells = re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```", chapter, re.MULTILINE | re.DOTALL)
    code = re.sub(r"^(:|%|!|---\n.*?^---).*$", "", "\n".join(cells), flags=re.MULTILINE)
    return [
        name for name in imported(code, "") if re.match(rf"dpfair_lib\.claims\.({'|'.join(ROOMS)})\b", name)
    ]


ROOMS = (*SOURCES, "shared")


def test_chapters_read_results_and_import_nothing_of_a_check():
    """What a chapter shows of a check is a fact of its outcome; what it computes stands in other rooms."""
    for path in sorted((ROOT / "notebooks").glob("*.md")):
        found = of_checks(path.read_text("utf-8"))
        assert not found, (
            f"{path}: imports {', '.join(found)}; let the check record it with search.fact, and read outcome.facts"
        )


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("from dpfair_lib.claims.ours.fairer_data import REPORTS", True),
        ("from dpfair_lib.claims.ours import fairer_data", True),
        ("from dpfair_lib.claims import ours", True),
        ("import dpfair_lib.claims.shared.populations.small_populations as small", True),
        ("from dpfair_lib.claims.shared.svm.support_vectors import neighbours", True),
        ("from dpfair_lib.claims import claim, judge", False),
        ("from dpfair_lib.claims.display import badge", False),
        ("from dpfair_lib.populations.fronts import turned_order", False),
    ],
)
def test_what_a_chapter_imports_of_a_check_is_seen(line, refused):
    chapter = f"text\n\n```{{code-cell}} ipython3\n:tags: [hide-input]\n\nx = 1\n{line}\n```\n\n    {line}\n"
    assert bool(of_checks(chapter)) == refused


@pytest.mark.parametrize(
    ("module", "line", "refused"),
    [
        ("isit.prop_1", "from dpfair_lib.claims.isit.prop_4_utility import check", True),
        ("isit.prop_1", "import dpfair_lib.claims.isit.prop_4_utility", True),
        ("isit.prop_1", "import dpfair_lib.claims.isit.prop_4_utility as other", True),
        ("isit.prop_1", "from dpfair_lib.claims.isit import prop_4_utility", True),
        ("isit.prop_1", "from .prop_4_utility import check", True),
        ("isit.prop_1", "from . import prop_4_utility", True),
        ("isit.prop_1", "from ..sk.alg_1 import check", True),
        ("isit.prop_1", "    from dpfair_lib.claims import sk", True),
        ("shared.compatibility.tails", "from dpfair_lib.claims.sk.alg_1 import check", True),
        # another claim, though its name begins as that of the module does
        ("sk.alg_1", "from dpfair_lib.claims.sk.alg_1_privacy import check", True),
        ("isit.prop_1", "from dpfair_lib.claims.isit.prop_1_cases import rates", False),
        ("isit.prop_1", "from .prop_1_cases import rates", False),
        ("isit.prop_1", "from ..shared.compatibility.tails import tails", False),
        ("isit.prop_1", "from dpfair_lib.claims.shared.compatibility import tails", False),
        ("isit.prop_1", "import dpfair_lib.claims.search", False),
    ],
)
def test_every_form_of_an_import_is_seen(module, line, refused):
    assert bool(list(foreign(f"if True:\n    {line.strip()}\n", f"dpfair_lib.claims.{module}"))) == refused
