"""The command line: what is where, and fetching."""

import argparse
import json

import pytest

from dpfair_lib.datasets import cli, pins


@pytest.fixture
def data(tiny, tiny_pins, publisher, parts):
    """Return a function that runs ``data`` with arguments, on the made-up data set alone."""
    publisher.files = parts
    spec = tiny(publisher.base)

    def command(*words):
        parser = argparse.ArgumentParser()
        cli.add_arguments(parser)
        return cli.run(parser.parse_args(words), specs={"tiny": spec}, pinned={"tiny": tiny_pins})

    return command


def test_list_then_fetch_then_list(data, capsys, cache, publisher):
    assert data() == 0
    assert "not found; python -m dpfair_lib data fetch tiny" in capsys.readouterr().out
    assert publisher.asked == []
    assert data("fetch", "tiny") == 0
    assert f"tiny: 6 rows, verified, from download: {cache / 'tiny' / 'first.csv'}" in capsys.readouterr().out
    assert data("fetch", "tiny") == 0
    assert "from cache" in capsys.readouterr().out
    assert len(publisher.asked) == 2
    assert data() == 0
    assert f"found in cache, verified: {cache / 'tiny' / 'first.csv'}" in capsys.readouterr().out


def test_wrong_file_is_reported_and_fails(data, capsys, put, tmp_path, publisher):
    root = put(tmp_path / "in", {"whole.csv": "<html>"})
    assert data("--root", str(root)) == 1
    assert "wrong: " in capsys.readouterr().out
    assert data("--root", str(root), "fetch", "tiny") == 1
    assert "found an HTML page" in capsys.readouterr().err
    assert publisher.asked == []


def test_fetch_reports_failure(data, capsys, publisher):
    publisher.files = {}
    assert data("fetch", "tiny") == 1
    assert "Downloading failed" in capsys.readouterr().err
    assert data("fetch", "tinny") == 2
    assert "name: found 'tinny', expected one of tiny" in capsys.readouterr().err


def test_as_json(data, capsys, cache, put, tmp_path):
    assert data("--json") == 0
    assert json.loads(capsys.readouterr().out)["tiny"]["found"] is None
    assert data("--json", "fetch", "tiny") == 0
    where = f"{cache / 'tiny' / 'first.csv'} + {cache / 'tiny' / 'second.csv'}"
    fetched = json.loads(capsys.readouterr().out)
    assert fetched == {"name": "tiny", "rows": 6, "found": "download", "where": where, "verified": True}
    assert data("--json") == 0
    entry = json.loads(capsys.readouterr().out)["tiny"]
    assert (entry["found"], entry["where"], entry["verified"], entry["rows"], entry["wrong"]) == (
        "cache", where, True, 6, None,
    )  # fmt: skip
    root = put(tmp_path / "in", {"whole.csv": "<html>"})
    assert data("--json", "--root", str(root)) == 1
    assert "found an HTML page" in json.loads(capsys.readouterr().out)["tiny"]["wrong"]


def test_without_arguments_the_books_own_data_sets_are_listed(capsys):
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    assert cli.run(parser.parse_args([])) == 0
    printed = capsys.readouterr().out
    assert all(f"data fetch {name}" in printed for name in pins.pinned())
    assert all(f"{name}  " in printed for name in pins.pinned()), "a name runs into its title"


def test_listing_the_real_data(capsys, real_data):
    real_data("adult")
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    assert cli.run(parser.parse_args([])) == 0
    assert "found in $DPFAIR_DATA, verified" in capsys.readouterr().out
