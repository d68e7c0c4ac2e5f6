"""Each kind and impact has a criterion, and each criterion refuses what does not meet it."""

import ast
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.claims import CLAIMS, Claim, Erratum, Search, judge
from dpfair_lib.claims.errata import lines_to_run
from dpfair_lib.claims.kinds import CRITERIA, IMPACTS, WORDS
from dpfair_lib.claims.ledger import BANDS
from dpfair_lib.claims.ledger import IMPACTS as KNOWN_IMPACTS
from dpfair_lib.claims.ledger import KINDS as KNOWN_KINDS


def defends(search):
    search.observe(0, {"x": 1})


def fails(search):
    search.against(-1, {"x": 1}, verify=lambda x: -x)


def fails_in_one_reading(search):
    search.against(-1, {"x": 1}, verify=lambda x: -x, reading="first")
    search.against(1, {"x": 1}, verify=lambda x: x, reading="second")


def fails_without_the_condition(search):
    search.under(np.array([True, False]), np.array([1, -1]), {"x": np.array([0, 1])}, verify=lambda x: -x)


def never_fails(search):
    search.under(np.array([True, False]), np.array([1, 1]), {"x": np.array([0, 1])}, verify=lambda x: x)


def never_printed(search):
    search.against(1, {"x": 1}, verify=lambda x: x)


def sharper(search):
    search.sharper(0, Fraction(1, 3), {"x": 1})


def constant(search):
    search.constant("4", "2", slack=0, case={})


def broken(search):
    search.broken("ε", measured=2.0, stated=1.0, case={})


def compared(search):
    search.compare(1.0, 1.0, spread=0.1, case={}, differs=False)


def answers(search):
    search.answers("up to a factor of 12", left="the factor")


def needs(search):
    search.needs("the factor 2", slack=Fraction(-1, 3), case={"x": 1})


SLIP = Erratum("p. 1", "θ", "θ̄", band="slip", used="line 3")
CHANGE = Erratum("p. 1", "4", "2", band="condition")
RESULT = Erratum("p. 1", "4", "none", band="result")
MET = [
    ("as-printed", [defends], ()),
    ("sharper", [defends, sharper], ()),
    ("slip", [defends, fails], (SLIP,)),
    ("condition", [fails_without_the_condition], (CHANGE,)),
    ("constant", [fails, constant], (CHANGE,)),
    ("replaced", [defends, fails], (RESULT,)),
    ("refuted", [fails], (RESULT,)),
    ("guarantee-broken", [broken, fails], ()),
    ("digits", [compared], ()),
    ("answered", [defends, answers], ()),
    ("theorem", [defends, needs], ()),
]
UNMET = [
    ("as-printed", [defends, fails], (), "a case fails the printed statement"),
    ("as-printed", [defends], (CHANGE,), "an erratum changes the statement"),
    ("sharper", [defends], (), "no case shows our form attained"),
    ("slip", [defends], (SLIP,), "a slip needs a case that the printed form fails"),
    ("slip", [defends, fails], (SLIP, CHANGE), "changes more than a symbol"),
    ("slip", [defends, fails], (Erratum("p. 1", "a", "b", band="slip"),), "where the source uses"),
    ("condition", [defends, fails], (), "found 0 kept"),
    ("condition", [never_fails], (), "0 failing"),
    ("constant", [constant], (), "no case fails at the printed constant"),
    ("constant", [defends, fails], (), "ours is not stated"),
    ("replaced", [defends], (), "expected a printed statement that is judged"),
    ("replaced", [fails], (), "another that is defended"),
    ("replaced", [defends, fails_in_one_reading], (), "not refuted in the reading 'second'"),
    ("refuted", [defends, fails], (), "the check finds 'corrected'"),
    ("guarantee-broken", [defends, fails], (), "nothing was measured"),
    ("digits", [defends], (), "no printed number was compared"),
    ("answered", [defends], (), "not said how far"),
    ("theorem", [defends], (), "no case shows that a hypothesis or a constant is needed"),
    ("theorem", [needs], (), "the check defends nothing"),
    ("theorem", [defends, needs, never_printed], (), "nothing of it is printed"),
]


def entry(kind, parts, errata=(), **given):
    def check(*, search):
        for part in parts:
            part(search)
        return search.evidence()

    search = Search()
    found = check(search=search).finding
    if kind == "theorem":
        found = "holds"  # our own theorems have no other verdict
    argued = {} if kind == "theorem" else {"impact": "none", "because": "It is an example."}
    name = "ours.x" if kind == "theorem" else "isit.x"
    return Claim(
        name, "here", "x", verdict=found, check=check, kind=kind, errata=tuple(errata), **(argued | given)
    )


@pytest.mark.parametrize(("kind", "parts", "errata"), MET, ids=[row[0] for row in MET])
def test_each_kind_is_met_by_what_it_means(kind, parts, errata):
    assert judge(entry(kind, parts, errata)).complaints() == []


@pytest.mark.parametrize(("kind", "parts", "errata", "said"), UNMET)
def test_each_kind_is_refused_to_what_does_not_meet_it(kind, parts, errata, said):
    complaints = [one for one in judge(entry(kind, parts, errata)).complaints() if "recorded as" not in one]
    (complaint,) = complaints
    assert said in complaint
    assert not judge(entry(kind, parts, errata)).sound


def test_an_impact_is_argued_and_one_on_a_conclusion_is_shown_by_a_fact():
    def keeps(search):
        search.fact("largest", 2, "the largest")

    def complaints_of(kind="replaced", parts=(defends, fails, keeps), **given):
        return judge(entry(kind, parts, **given)).complaints()

    assert complaints_of(impact="conclusion", shown_by="largest") == []
    assert "found 'small'" in complaints_of(impact="conclusion", shown_by="small")[0]
    assert "are missing" in complaints_of(because="")[0]
    assert "are missing" in complaints_of(impact=None)[0]
    assert "changes nothing" in complaints_of("as-printed", [defends], impact="condition")[0]


def test_every_kind_and_impact_has_its_words_and_its_criterion():
    assert set(KNOWN_KINDS) == set(WORDS) == set(CRITERIA)
    assert set(KNOWN_IMPACTS) == set(IMPACTS)


def test_a_condition_is_judged_case_by_case():
    search = Search()
    fails_without_the_condition(search)
    evidence = search.evidence()
    assert (evidence.condition, evidence.finding) == ((1, 1, 1), "corrected")
    assert evidence.counterexample == {"x": 1}
    wrong = Search()  # the hypothesis does not help
    wrong.under(np.array([True, False]), np.array([-1, -1]), {"x": np.array([2, 1])}, verify=lambda x: -x)
    assert wrong.evidence().violation == {"x": 2}
    with pytest.raises(TypeError, match="expected truth values"):
        search.under(np.array([1, 0]), np.array([1, -1]), {}, verify=lambda: 0)


def test_a_sharper_form_must_be_attained_and_the_printed_one_have_room():
    for ours, printed in ((1, 1), (0, 0), (-1, 1)):
        search = Search()
        search.sharper(ours, printed, {})
        assert search.evidence().finding == "contradicted"


def test_a_guarantee_is_broken_only_by_more_than_it_states():
    search = Search()
    search.broken("ε", measured=1.0, stated=1.0, case={})
    assert search.evidence().finding == "contradicted"


def test_what_a_theorem_needs_must_make_it_fail():
    for slack, tolerance, finding in ((0, 0.0, "contradicted"), (1, 0.0, "contradicted"), (-0.1, 0.2, "contradicted"),
                                      (float("nan"), 0.0, "contradicted"), (-0.1, 0.0, "holds")):  # fmt: skip
        search = Search()
        search.observe(0, {})
        search.needs("the constant", slack=slack, case={"x": 1}, tolerance=tolerance)
        assert search.evidence().finding == finding
    assert search.evidence().needed == (("the constant", -0.1),)
    assert search.evidence().cases == 2
    whole = Search()
    whole.include(search)
    assert whole.evidence().needed == search.evidence().needed


def test_a_fact_has_a_key_of_its_own_and_a_sentence():
    search = Search()
    search.fact("largest", 3, "the largest of all")
    with pytest.raises(ValueError, match="found 'largest' twice"):
        search.fact("largest", 3, "again")
    with pytest.raises(ValueError, match="expected lower case"):
        search.fact("The largest", 3, "again")
    search.observe(0, {})
    evidence = search.evidence()
    assert (evidence.facts, evidence.says) == ({"largest": 3}, {"largest": "the largest of all"})


EXAMINED = [claim for claim in CLAIMS.values() if claim.check]


@pytest.mark.parametrize("claim", EXAMINED, ids=[claim.id for claim in EXAMINED])
def test_an_examined_entry_has_a_kind_and_says_what_a_reader_should_remember(claim):
    assert claim.kind, "CLAIM: kind, how the printed statement fares"
    assert claim.headline, "CLAIM: headline, one plain sentence"
    assert len(claim.headline.split()) <= 30, "headline: at most 30 words"
    assert len(claim.because.split()) <= 40, "because: at most 40 words"
    for erratum in claim.errata:
        assert erratum.band in BANDS, f"{erratum.where}: band"
        assert erratum.why, f"{erratum.where}: why, in one sentence"
        assert bool(erratum.shown) == (erratum.band == "result"), (
            f"{erratum.where}: shown, lines that need NumPy alone, for an erratum that changes a result"
        )


ERRATA = [(claim.id, e) for claim in CLAIMS.values() for e in claim.errata if e.shown]


@pytest.mark.parametrize(("claim_id", "erratum"), ERRATA, ids=[f"{name} {e.where}" for name, e in ERRATA])
def test_an_erratum_that_changes_a_result_shows_it_in_ten_lines_with_numpy_alone(claim_id, erratum, capsys):
    lines = erratum.shown.strip().splitlines()
    assert len(lines) <= 10
    imported = {line.split()[1].partition(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert imported <= {"numpy", "math", "fractions", "itertools"}
    assert computes(lines[-1]), (
        "the last line asserts something computed, which shows that the printed form fails"
    )
    exec(compile(lines_to_run(erratum), f"{claim_id}: {erratum.where}", "exec"), {})
    assert 0 < len(capsys.readouterr().out) < 200


def computes(line):
    """Whether a line is an assertion about something that the lines before it computed."""
    if not line.startswith("assert "):
        return False
    (asserted,) = ast.parse(line).body
    return any(isinstance(node, ast.Name) for node in ast.walk(asserted.test))


def test_an_assertion_of_nothing_is_refused():
    assert computes("assert largest > 1")
    assert not computes("assert True")
    assert not computes("assert 1 < 2")
    assert not computes("print(largest)")
