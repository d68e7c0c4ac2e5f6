import re
from pathlib import Path

import pytest

from dpfair_lib.claims import CLAIMS, judge
from dpfair_lib.claims.kinds import unmet
from dpfair_lib.claims.new import PAGES_THAT_COUNT, UNWRITTEN, new_claim, unwritten_lines

ROOT = Path(__file__).parents[2]


@pytest.fixture
def repository(tmp_path):
    """The places that a new claim is entered in, copied."""
    for name in ("_toc.yml", "dpfair_lib/claims/isit/__init__.py", "dpfair_lib/claims/ours/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    return tmp_path


def test_a_new_claim_runs_at_once_and_says_where_to_write(repository):
    said = new_claim(repository, "isit.prop-9", after="isit.alg-2")
    assert said[0] == "wrote dpfair_lib/claims/isit/prop_9.py"
    scope = {}
    exec(compile((repository / "dpfair_lib/claims/isit/prop_9.py").read_text(), "prop_9", "exec"), scope)
    outcome = judge(scope["CLAIM"], faults=True)
    assert outcome.sound
    assert len(outcome.faults) == 2
    assert all(run.how for run in outcome.faults.values()), "the stub names no part"
    assert UNWRITTEN in scope["CLAIM"].statement
    assert UNWRITTEN in scope["CLAIM"].headline
    assert unmet(scope["CLAIM"], outcome.evidence) == []
    order = (repository / "dpfair_lib/claims/isit/__init__.py").read_text()
    assert '    "alg-2",\n    "prop-9",\n' in order
    contents = (repository / "_toc.yml").read_text()
    assert f"notebooks/{CLAIMS['isit.alg-2'].chapter}\n      - file: notebooks/isit-prop-9\n" in contents
    assert UNWRITTEN in (repository / "notebooks/isit-prop-9.md").read_text()
    assert said[1:4] == [
        "entered the name in dpfair_lib/claims/isit/__init__.py",
        "wrote notebooks/isit-prop-9.md",
        "entered the name in _toc.yml",
    ]
    assert f"Now replace each {UNWRITTEN} in the module and in the chapter" in said[4]


def test_a_new_theorem_of_our_own_runs_at_once_and_has_no_printed_form(repository, monkeypatch):
    assert "wrote dpfair_lib/claims/ours/result_9.py" in new_claim(repository, "ours.result-9")
    text = (repository / "dpfair_lib/claims/ours/result_9.py").read_text()
    scope = {}
    exec(compile(text, "result_9", "exec"), scope)
    outcome = judge(scope["CLAIM"], faults=True)
    assert (scope["CLAIM"].kind, outcome.sound, len(outcome.faults)) == ("theorem", True, 2)
    assert outcome.evidence.needed[0][0].startswith("the constant")
    assert unmet(scope["CLAIM"], outcome.evidence) == []
    assert not re.search("impact|because|printed|the source", text)
    page = (repository / "notebooks/ours-result-9.md").read_text()
    assert "- **Usual.**" in page
    assert "Printed" not in page
    monkeypatch.syspath_prepend(ROOT / "tools")
    import prose

    assert prose.complaints("ours-result-9", prose.read(page.replace(UNWRITTEN, "Something"))) == []


def test_a_new_claim_in_an_existing_chapter_leaves_the_book_as_it_is(repository):
    page, contents = repository / "notebooks/isit-alg-2.md", (repository / "_toc.yml").read_text()
    page.parent.mkdir()
    page.write_text("# A chapter\n")
    said = "\n".join(new_claim(repository, "isit.prop-9", chapter="isit-alg-2"))
    assert (page.read_text(), (repository / "_toc.yml").read_text()) == ("# A chapter\n", contents)
    assert "_toc.yml" not in said
    assert f"replace each {UNWRITTEN} in the module;" in said
    assert "Add to notebooks/isit-alg-2.md a section" in said
    assert 'judge(claim("isit.prop-9"), faults=True).require(); badge(outcome)' in said
    assert 'chapter="isit-alg-2"' in (repository / "dpfair_lib/claims/isit/prop_9.py").read_text()


def test_every_page_that_counts_the_entries_is_to_be_stored_again(repository):
    """Those whose source goes through the ledger; CONTRIBUTING.md names the same pages."""
    counting = {path.stem for path in (ROOT / "notebooks").glob("*.md") if "judge_all" in path.read_text()}
    # which-method shows the entries of one kind only
    assert counting == {*PAGES_THAT_COUNT, "which-method"}
    command = f'make notebooks NAME="isit-prop-9 {" ".join(PAGES_THAT_COUNT)}"'
    assert any(command in line for line in new_claim(repository, "isit.prop-9"))
    assert command in (ROOT / "CONTRIBUTING.md").read_text()


def test_a_new_chapter_lacks_no_part_that_a_chapter_must_have(repository, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import prose

    new_claim(repository, "isit.prop-9")
    text = (repository / "notebooks/isit-prop-9.md").read_text()
    assert prose.complaints("isit-prop-9", prose.read(text)) == [
        f"line {line}: {UNWRITTEN} is left" for line in unwritten_lines(text)
    ]
    assert len(unwritten_lines(text)) > 10
    text = text.replace(UNWRITTEN, "Something")
    assert prose.complaints("isit-prop-9", prose.read(text)) == []
    without = text.replace(":class: summary", "").replace("Harder:", "Other:")
    assert len(prose.complaints("isit-prop-9", prose.read(without))) == 2


@pytest.mark.parametrize(
    ("claim_id", "options", "found"),
    [
        ("other.prop-9", {}, "found 'other.prop-9', expected SOURCE.NAME"),
        ("isit.Prop 9", {}, "expected SOURCE.NAME"),
        ("isit.prop-9", {"after": "sk.alg-1"}, "--after: found 'sk.alg-1'"),
        (
            "isit.prop-9",
            {"chapter": "isit-prop"},
            "--chapter: found 'isit-prop', expected an existing chapter",
        ),
    ],
)
def test_a_new_claim_that_cannot_be_entered_writes_nothing(repository, claim_id, options, found):
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=re.escape(found)):
        new_claim(repository, claim_id, **options)
    (repository / "dpfair_lib/claims/isit/prop_1.py").write_text("")
    with pytest.raises(ValueError, match="found the module"):
        new_claim(repository, "isit.prop-1")
    (repository / "dpfair_lib/claims/isit/prop_1.py").unlink()
    assert {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()} == before
