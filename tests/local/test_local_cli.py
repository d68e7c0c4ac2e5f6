import pytest
from small_files import names_in, run

from dpfair_lib import _commands
from dpfair_lib.local.releases import releases_of


def test_the_optimal_channel_needs_rates_and_says_so(tmp_path, capsys):
    source = tmp_path / "in.csv"
    source.write_text("race\n" + "a\nb\nc\n" * 10)
    common = (source, tmp_path / "out.csv", "--column", "race", "--epsilon", 1, "--mechanism", "optimal")
    assert run(*common, "--labels", "a,b,c") == 2
    assert "found no shares and rates" in capsys.readouterr().err
    population = tmp_path / "population.csv"
    population.write_text("label,share,rate\na,0.5,0.2\nb,0.3,0.4\nc,0.2,0.9\n")
    assert run(*common, "--population", population, "--error", 0.6) == 0
    by_file = releases_of(tmp_path / "out.csv")["race"][0]
    assert "assumed to be public" in by_file["statement"]["note"]
    assert by_file["population"][1] == {"label": "b", "share": 0.3, "rate": 0.4}
    assert by_file["statement"]["epsilon"] <= 1
    assert by_file["statement"]["epsilon"] == pytest.approx(1, rel=1e-9)
    options = ("--labels", "a,b,c", "--shares", "0.5,0.3,0.2", "--rates", "0.2,0.4,0.9", "--error", 0.6)
    assert run(*common, *options, "--overwrite") == 0
    assert releases_of(tmp_path / "out.csv")["race"][0]["channel"] == by_file["channel"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--epsilon", "1"), "--labels: found none, expected all possible values"),
        (("--epsilon", "0", "--labels", "a,b"), "--epsilon: found 0"),
        (("--epsilon", "inf", "--labels", "a,b"), "--epsilon: found inf"),
        (("--epsilon", "1", "--labels", "a"), "expected at least two"),
        (("--epsilon", "1", "--labels", "a,a"), "expected a list of distinct labels"),
        (("--epsilon", "1", "--labels", "a,"), "none of them empty"),
        (("--epsilon", "1", "--labels", "a,b", "--rates", "0.1,0.2"), "--rates: found beside --mechanism grr"),
        (("--epsilon", "1", "--labels", "a,b", "--mechanism", "ss", "--size", "2"), "a full set says nothing"),
        (
            ("--epsilon", "1", "--labels", "a,b", "--mechanism", "optimal", "--shares", "1", "--rates", "0,1"),
            "--shares: found '1', expected 2 numbers",
        ),
        (
            ("--epsilon", "1", "--labels", "a,b", "--mechanism", "optimal", "--shares", "x,1", "--rates", "0,1"),
            "--shares: found 'x,1', expected numbers",
        ),
        (
            ("--epsilon", "1", "--labels", "a,b", "--mechanism", "optimal", "--population", "no.csv"),
            "--labels: found beside --population",
        ),
    ],
)  # fmt: skip
def test_bad_options_are_refused(tmp_path, capsys, options, message):
    source = tmp_path / "in.csv"
    source.write_text("race\na\nb\n")
    assert run(source, tmp_path / "out.csv", "--column", "race", *options) == 2
    assert message in capsys.readouterr().err
    assert names_in(tmp_path) == ["in.csv"]


def test_tables_of_a_population_are_checked(tmp_path, capsys):
    source, population = tmp_path / "in.csv", tmp_path / "population.csv"
    source.write_text("race\na\nb\n")
    common = (source, tmp_path / "out.csv", "--column", "race", "--epsilon", 1, "--mechanism", "optimal")
    for text, message in (
        ("label,share\na,1\n", "expected label, share, rate"),
        ("label,share,rate\na,x,1\n", "no number"),
        ("label,share,rate\na,0.5,1\nb,0.4,0\n", "a sum of 0.9"),
    ):
        population.write_text(text)
        assert run(*common, "--population", population) == 2
        assert message in capsys.readouterr().err


def test_progress_comes_after_two_seconds_and_can_be_left_out(tmp_path, monkeypatch, capsys):
    source = tmp_path / "in.csv"
    source.write_text("race\na\nb\n")
    options = ("--column", "race", "--labels", "a,b", "--epsilon", 1)
    assert run(source, tmp_path / "one.csv", *options) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_commands, "AFTER", 0)
    assert run(source, tmp_path / "two.csv", *options, "--overwrite") == 0
    assert "100.0%  9 of 9 bytes\n" in capsys.readouterr().err
    assert run(source, tmp_path / "three.csv", *options, "--quiet") == 0
    shown = capsys.readouterr().err
    assert "100.0%" not in shown
    assert "warning: SECOND REPORT" in shown, "what is quiet still warns"


@pytest.mark.parametrize("left_out", ["--column", "--epsilon"])
def test_the_command_asks_for_what_it_needs(tmp_path, capsys, left_out):
    given = {"--column": "race", "--epsilon": "1", "--labels": "a,b"}
    del given[left_out]
    with pytest.raises(SystemExit, match="2"):
        run(tmp_path / "in.csv", tmp_path / "out.csv", *(part for pair in given.items() for part in pair))
    assert f"the following arguments are required: {left_out}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("shares", "rates", "more", "message"),
    [
        ("0.5,0.6", "0.2,0.6", (), "--shares: found a sum of 1.1"),
        ("-0.5,1.5", "0.2,0.6", (), "--shares: found -0.5 at position 0"),
        ("0.5,0.5", "0.2,1.6", (), "--rates: found 1.6 at position 1"),
        ("0.5,0.5", "0.2,0.6", ("--error", 2), "--error: found"),
    ],
)
def test_what_the_optimal_channel_refuses_is_named_as_it_was_given(
    tmp_path, capsys, shares, rates, more, message
):
    source, population = tmp_path / "in.csv", tmp_path / "population.csv"
    source.write_text("race\na\nb\n")
    common = (
        source,
        tmp_path / "out.csv",
        "--column",
        "race",
        "--epsilon",
        1,
        "--mechanism",
        "optimal",
        *more,
    )
    assert run(*common, "--labels", "a,b", f"--shares={shares}", f"--rates={rates}") == 2
    assert capsys.readouterr().err.startswith(message)
    lines = zip("ab", shares.split(","), rates.split(","), strict=True)
    population.write_text("label,share,rate\n" + "".join(",".join(line) + "\n" for line in lines))
    assert run(*common, "--population", population) == 2
    by_file = message.replace("--shares", f"{population}, share").replace("--rates", f"{population}, rate")
    assert capsys.readouterr().err.startswith(by_file)
    population.unlink()
    assert run(*common, "--population", population) == 2
    assert "--population: found" in (said := capsys.readouterr().err)
    assert "No such file" in said
    assert names_in(tmp_path) == ["in.csv"]
