"""What a check examines is called with varied arguments, is the library's where it can be, and no case is left out."""

import ast
import os
import statistics
import sys
from pathlib import Path

import pytest
from recorded_arguments import Recorded, examined, run_recorded

from dpfair_lib import change_lower_bound
from dpfair_lib.claims import CLAIMS
from dpfair_lib.claims.ledger import SOURCES
from dpfair_lib.claims.rooms import in_ledger, module_of
from dpfair_lib.claims.stored_outcomes import PACKAGE, sources

EXAMINED = [claim_id for claim_id, claim in CLAIMS.items() if claim.check]
ROOT = Path(__file__).parents[2]
ROOMS = tuple(f"dpfair_lib.claims.{room}." for room in (*SOURCES, "shared"))
JUDGES = {"observe", "equal", "agree", "against", "sanity", "compare"}

IMMATERIAL = {
    ("isit.sentences", "paired"): ("compare", "only faults exchange what the records are compared by"),
    ("isit.sentences", "equal"): ("compare overlap", "only faults exchange what the records are compared by"),
    ("thesis.ss-equals-grr", "subsets"): ("size", "the claim is about subsets of one value"),
    ("thesis.thm-14", "closed"): ("kind", "the theorem is about Δ′"),
    ("thesis.thm-14.hypotheses", "closed"): ("kind", "Δ is what is put in the place of Δ′"),
    ("thesis.figs-5.1-5.10", "of"): ("trials", "the figures show one record"),
    ("thesis.figs-5.1-5.10", "collect"): ("tuned", "the figures show one record"),
    ("thesis.tables-5.1-5.4", "change"): (
        "comparisons opt",
        "how many rows are printed, and how they were run",
    ),
    ("thesis.tables-5.1-5.4", "matched"): (
        "confidence opt prefix",
        "how many rows are printed, and how they were run",
    ),
    ("isit.alg-2", "estimator"): (
        "rate gamma notion",
        "the midpoint of two groups, and no band, are what is printed",
    ),
    ("isit.thm-3.fairness", "bound"): ("gamma", "no band is printed; several groups have tests of their own"),
    ("isit.thm-3.fairness", "violation"): ("rate gamma", "the midpoint and no band are what is printed"),
    ("isit.prop-4.fairness", "bound"): (
        "gamma",
        "no band is printed; several groups have tests of their own",
    ),
    ("isit.prop-4.fairness", "expected"): ("rate gamma", "the midpoint and no band are what is printed"),
    ("isit.prop-4.utility", "bound"): ("gamma", "no band is printed; several groups have tests of their own"),
    ("isit.assumptions", "bound"): ("gamma", "no band is printed; several groups have tests of their own"),
    ("thesis.table-2.1", "bound"): ("gamma", "no band is printed; several groups have tests of their own"),
    ("thesis.table-2.1", "gap"): ("alpha beta noisy_alpha noisy_beta", "all small rates come in one array"),
    ("thesis.sentences", "judged"): ("of", "how many rows are printed, and how they were run"),
    ("thesis.sentences", "matched"): (
        "confidence opt prefix",
        "how many rows are printed, and how they were run",
    ),
    ("cgkm.thm-1.statement", "feasible"): (
        "accurate fair",
        "the notions of the theorem; each is a function that faults exchange",
    ),
    ("cgkm.post-processing", "after"): ("laws", "all small laws come in one array"),
    ("cgkm.fairnr-privacy", "counts"): (
        "noise",
        "draws from a seed; the secure ones have tests of their own",
    ),
    ("cgkm.fairnr-privacy", "dynamics"): (
        "noise",
        "draws from a seed; the secure ones have tests of their own",
    ),
    ("cgkm.alg-3", "dynamics"): ("noise", "draws from a seed; the secure ones have tests of their own"),
    ("cgkm.remarks", "odds"): ("h one", "all small hypotheses, and all small laws, come in one array"),
    ("cgkm.remarks", "level"): ("h table", "all small hypotheses, and all small laws, come in one array"),
    ("mpbt.example-1", "coefficients"): ("notion", "the example is about one notion"),
    ("mpbt.example-1", "levels"): ("notion", "the example is about one notion"),
    ("mpbt.example-2", "coefficients"): ("notion", "the example is about one notion"),
    ("mpbt.example-2", "levels"): ("notion", "the example is about one notion"),
    ("mpbt.example-3", "coefficients"): ("notion", "the example is about one notion"),
    ("mpbt.example-3", "levels"): ("notion", "the example is about one notion"),
    ("mpbt.example-4", "coefficients"): ("notion", "the example is about one notion"),
    ("mpbt.example-4", "levels"): ("notion", "the example is about one notion"),
    ("mpbt.thm-3.1", "markov"): ("truncated", "the theorem cuts nothing off; Remark B.2 does"),
    ("mpbt.thm-3.2", "certificate"): (
        "slack",
        "the theorem has none; only certificates of a reach that draws may exceed add one",
    ),
    ("isit.thm-3.privacy", "composed"): ("delta", "the theorem adds up; tight totals have no place in it"),
    ("mpbt.lemma-4.1", "chain"): ("p", "all dimensions come in one array"),
    ("mpbt.lemma-4.1", "radius"): ("noise", "the old name of noise_kind, which is varied"),
    ("mpbt.thm-4.4", "radius"): ("noise", "the old name of noise_kind, which is varied"),
    ("mpbt.sensitivity", "solve"): ("loss linear", "the chapter has one loss, and no noise in the objective"),
    ("mpbt.figs-1-3", "scale"): ("kind", "the noise that was run"),
    ("ours.noisy-changes", "mean"): (
        "mechanism",
        "enumerated with whole counts; Laplace noise has tests of its own",
    ),
    ("ours.noisy-changes", "quantile"): (
        "mechanism",
        "enumerated with whole counts; Laplace noise has tests of its own",
    ),
    ("ours.grown-lists", "limit"): ("kind", "the theorem is about squared distances"),
    ("ours.no-exchange", "sigma"): ("kind", "the exact calibration; the others add more noise"),
    ("sk.sentences", "feasible"): (
        "fair",
        "both notions are asked for: functions of one name, which faults exchange",
    ),
    ("sk.sentences", "opportunity"): (
        "h one table",
        "one sample decides the sentence; only faults exchange what is compared",
    ),
    ("sk.sentences", "odds"): (
        "h one table",
        "one sample decides the sentence; only faults exchange what is compared",
    ),
    ("sk.sentences", "parity"): (
        "h one table",
        "one sample decides the sentence; only faults exchange what is compared",
    ),
    ("sk.sentences", "contrast"): (
        "compare level",
        "one sample decides the sentence; only faults exchange what is compared",
    ),
    ("ours.several-columns", "parity"): (
        "method pos_label sample_weight",
        "rates of two groups are compared",
    ),
    ("ours.several-columns", "opportunity"): (
        "method pos_label sample_weight",
        "rates of two groups are compared",
    ),
    ("ours.several-columns", "odds"): (
        "agg method pos_label sample_weight",
        "rates of two groups are compared",
    ),
    ("ours.several-columns", "fair"): ("objective rate", "which of the rules within γ is taken"),
}
"""Parameters that a claim speaks of at one value only, or that come in one array, and why."""

LISTED = [(*place, parameter) for place, (names, _) in IMMATERIAL.items() for parameter in names.split()]

OWN = {
    ("isit.assumptions", "answer"): "the memory of a counterexample",
    ("isit.sentences", "paired"): "the library's comparison, applied to the records",
    ("isit.sentences", "equal"): "the library's comparison, applied to the records",
    ("thesis.grr-ldp", "level"): "a property of the library's channels, read from any of them",
    ("thesis.program-5.5.9", "constraints"): "the library's three constraints, all together",
    ("thesis.program-5.5.9", "solve"): "the library's solver, within a limit of time",
    ("thesis.program-5.5.9", "interior"): "the library's usual solver, within a limit of time",
    ("thesis.zeta-min", "alone"): "a condition that only the chapter states",
    ("thesis.zeta-min", "binary"): "a closed form that only the chapter states",
    ("thesis.open-2", "member"): "the inequalities of a level, which only the chapter states",
    ("cgkm.definitions", "consequences"): "what the definitions promise, which only the chapter states",
    ("cgkm.definitions", "weight"): "what the definitions promise, which only the chapter states",
    ("cgkm.remarks", "weight_factor"): "a factor that only the chapter states",
    ("mpbt.lemma-4.1", "chain"): "a chain of inequalities of the printed proof",
    ("mpbt.thm-4.4", "bound"): "the product of two numbers",
    ("mpbt.large-margin", "keeps_correctness"): "a comparison of two numbers",
    ("mpbt.large-margin", "keeps_prediction"): "a comparison of two numbers",
    ("mpbt.remarks", "sensitivity"): "of a regulariser that the library does not have",
    ("sk.alg-1-privacy", "raised"): "what a counterexample counts",
    ("sk.claim-a1", "law"): "the joint law of a table, by its definition",
    ("sk.claim-a1", "bound"): "the printed sensitivity",
    ("sk.lemma-a2.2", "lengths"): "the two printed lengths",
    ("sk.lemma-a2.2", "failure"): "the printed sum of two tails",
    ("sk.lemma-a2.4", "expansion"): "a step of the printed proof",
    ("sk.sentences", "contrast"): "the library's comparison, applied to the records",
}
"""What is examined although it is no public function of the library, and why."""

FILTERED = {
    ("cgkm_advanced_composition", "check"): "printed for ε ≤ 8 ln(1/δ)",
    ("cgkm_lemma_5", "_loss_vectors"): "not all of label 1",
    ("isit_alg_1", "check"): "the larger one first",
    ("isit_prop_1", "_deterministic_classifiers_attain"): "γ up to the gap",
    ("mpbt_remarks", "check"): "replaced by a larger one",
    ("sk_alg_1_privacy", "_all_neighbours"): "both separable",
    ("sk_lemma_a2_3", "check"): "not both 0",
    ("sk_scaling", "_sensitivity"): "keep the number and the labels of their support vectors",
    ("thesis_reduction_5_5_7", "check"): "column-truthful",
    ("thesis_zeta_min", "_against_channels"): "wherever they are private",
}
"""Functions that leave cases out of a universe, and the words of the universe that say so."""


@pytest.mark.parametrize("claim_id", EXAMINED)
def test_another_seed_finds_the_same_from_known_files_and_varies_every_argument(claim_id, opened):
    claim = CLAIMS[claim_id]
    evidence, recorded = run_recorded(claim.check, seed=1)
    assert evidence.finding == claim.verdict
    never = [name for name, function in recorded.items() if not function.calls]
    assert not never, (
        f"call each function that is examined, or take it out of the arguments of check: {never}"
    )
    fixed = {(name, parameter) for name, function in recorded.items() for parameter in function.fixed}
    argued = {(name, parameter) for of, name, parameter in LISTED if of == claim_id}
    assert not fixed - argued, (
        f"vary these arguments, or enter in IMMATERIAL of {Path(__file__).name} why not: {fixed - argued}"
    )
    assert not argued - fixed, f"take out of IMMATERIAL, since they are varied: {argued - fixed}"

    assert in_ledger(claim)
    read = {path for path in opened if ROOT in path.parents and Path(sys.prefix) not in path.parents}
    # the installer's own list of the package, which plug-ins of other libraries are looked up in, decides nothing
    read = {path for path in read if path.suffix != ".pyc" and path.parent.suffix != ".egg-info"}
    assert read <= set(sources(PACKAGE, module_of(claim_id)))


@pytest.fixture
def opened():
    """Collect the files that are opened during a test; a hook of the interpreter can never be taken off."""
    collected = set()
    if not _OPENED:
        sys.addaudithook(_note)
    _OPENED.append(collected)
    yield collected
    _OPENED[-1] = None


_OPENED = []


def _note(event, arguments):
    if event == "open" and _OPENED[-1] is not None and isinstance(arguments[0], str | bytes):
        _OPENED[-1].add(Path(os.fsdecode(arguments[0])).resolve())


def test_lists_are_argued_and_name_what_is_examined():
    for claim_id, name, _ in LISTED:
        assert callable(examined(CLAIMS[claim_id].check)[name]), (claim_id, name)
    assert len(set(LISTED)) == len(LISTED)
    for reason in (*(why for _, why in IMMATERIAL.values()), *OWN.values()):
        assert len(reason) > 10


def test_what_is_examined_is_the_library_s_own():
    """A fault in a copy, or in another package's function, would say nothing of what users call."""
    own = {
        (claim_id, name)
        for claim_id in EXAMINED
        for name, function in examined(CLAIMS[claim_id].check).items()
        if callable(function) and _is_not_the_library_s(function)
    }
    assert own <= set(OWN), (
        f"examine a public function of the library, or enter in OWN of {Path(__file__).name} why not: {own - set(OWN)}"
    )
    assert own == set(OWN), f"take out of OWN what is the library's: {set(OWN) - own}"


def _is_not_the_library_s(function):
    return (
        not _module(function).startswith("dpfair_lib.")
        or _module(function).startswith(ROOMS)
        or _name(function).startswith("_")
    )


def test_a_function_of_another_package_is_not_taken_for_the_library_s():
    assert _is_not_the_library_s(statistics.median)
    assert _is_not_the_library_s(CLAIMS["isit.prop-1"].check)
    assert not _is_not_the_library_s(change_lower_bound)


def _module(function):
    return getattr(function, "__module__", "")


def _name(function):
    return getattr(function, "__qualname__", type(function).__name__).rpartition(".")[2]


def _functions():
    for path in sorted((PACKAGE / "claims").glob("*/**/*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef) and _calls(node, {"exhausts"}):
                yield f"{path.parent.name}_{path.stem}", node


def _calls(node, methods):
    return [
        call
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in methods
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "search"
    ]


def _leaves_out(function):
    """Return whether a loop that judges skips some of its cases, or judges nothing of some."""
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For) and _judging(node)]
    inner = {id(node) for loop in loops for node in ast.walk(loop) if node is not loop}
    for loop in loops:
        conditional = {
            id(call)
            for node in ast.walk(loop)
            if isinstance(node, ast.If) and not node.orelse
            for call in _judging(node)
        }
        skips = any(isinstance(node, ast.Continue) for node in ast.walk(loop))
        filtered = any(isinstance(node, ast.comprehension) and node.ifs for node in ast.walk(loop.iter))
        # inside, a condition may say of which cases more is judged
        if skips or filtered or (id(loop) not in inner and len(conditional) == len(_judging(loop))):
            return True
    return False


def _judging(node):
    """Return the calls that judge a case, by themselves or by passing the search on."""
    passed = [
        call
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        and any(isinstance(given, ast.Name) and given.id == "search" for given in call.args)
    ]
    return _calls(node, JUDGES) + passed


def test_no_universe_is_filtered_in_silence():
    """Where cases are left out of what is announced as gone through without exception, the announcement says which."""
    found = {(module, function.name): function for module, function in _functions() if _leaves_out(function)}
    in_silence = found.keys() - FILTERED.keys()
    assert not in_silence, (
        f"{in_silence}: the loop leaves out cases of what search.exhausts announces; list them all before the loop, or "
        f"say in the announcement which are left out, and enter these words in FILTERED of {Path(__file__).name}"
    )
    gone = FILTERED.keys() - found.keys()
    assert not gone, f"take out of FILTERED what leaves out nothing: {gone}"
    for place, words in FILTERED.items():
        announced = " ".join(
            part.value
            for call in _calls(found[place], {"exhausts"})
            for part in ast.walk(call.args[0])
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )
        assert words in announced, place


def test_a_universe_is_counted_apart_from_the_loop_that_judges_it():
    found = set()
    for module, function in _functions():
        grown = {
            node.target.id
            for node in ast.walk(function)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        }
        for call in _calls(function, {"exhausts"}):
            count = next(keyword.value for keyword in call.keywords if keyword.arg == "cases")
            if grown & {node.id for node in ast.walk(count) if isinstance(node, ast.Name)}:
                found.add((module, function.name))
    assert found == set()


def test_a_function_that_ignores_an_argument_or_is_not_called_is_seen():
    def check(*, search, twice=lambda x, y=1: 2 * x + y, never=abs):  # noqa: ARG001
        search.equal(twice(3), 7, {})
        search.equal(twice(4), 9, {})
        return search.evidence()

    _, recorded = run_recorded(check, seed=0)
    assert (recorded["twice"].fixed, recorded["twice"].varied, recorded["never"].calls) == ({"y"}, {"x"}, 0)


def test_arguments_are_compared_by_content_as_they_were_when_they_came():
    recorded, values = Recorded(lambda array, **options: (array, options)), [1, 2]
    recorded(values, kind="a")
    values[0] = 5
    assert recorded.fixed == {"array", "kind"}
    recorded([1, 2], kind="a")
    assert recorded.fixed == {"array", "kind"}
    recorded(values, kind="b")
    assert recorded.fixed == set()


@pytest.mark.parametrize(
    ("body", "left_out"),
    [
        ("for x in range(3):\n    if x == 1:\n        continue\n    search.observe(x, {})", True),
        ("for x in range(3):\n    if x > 1:\n        search.observe(x, {})", True),
        ("for x in [y for y in range(3) if y > 1]:\n    search.observe(x, {})", True),
        (
            "for x in range(3):\n    search.observe(x, {})\n    if x > 1:\n        search.observe(x, {})",
            False,
        ),
        ("for x in range(3):\n    search.observe(x, {})", False),
    ],
)
def test_loops_that_leave_cases_out_are_seen(body, left_out):
    assert _leaves_out(ast.parse(body)) == left_out


def test_a_check_takes_the_same_way_for_the_library_as_for_a_fault():
    """It never asks whether what it examines is the library's own; a cache keyed on the function saves the time."""
    for path in sorted((PACKAGE / "claims").glob("*/**/*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
                sides = [node.left, *node.comparators]
                constant = any(isinstance(side, ast.Constant) for side in sides)
                cells = path.stem == "thm_1_proof"  # which cells of two tables are the same object
                assert constant or cells, f"{path}, line {node.lineno}: {ast.unparse(node)}"
