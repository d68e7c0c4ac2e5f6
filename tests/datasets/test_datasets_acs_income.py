"""ACSIncome: the reduced table is verified, the Census Bureau's own files are read and flagged."""

import argparse
import gzip
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.datasets import DataError, acs_income, cli, load, load_table, pins, standin
from dpfair_lib.datasets.canonical_table import read_layout
from dpfair_lib.datasets.loading import load_spec
from dpfair_lib.datasets.spec import File

REDUCED = "acs_income_2018_49states.csv"
HEADER = "RT,SERIALNO,ST,ADJINC,PWGTP,AGEP,COW,MAR,RELP,SCHL,SEX,WKHP,PINCP,OCCP,POBP,RAC1P,NAICSP"
KEPT = [  # as in the Bureau's files: leading zeros, letters in columns that are not used
    "P,2018000000001,01,1013097,00075,17,1,5,02,16,1,1,101,0010,001,1,6111M1",
    "P,2018000000002,01,1013097,00001,44,3,1,00,21,2,40,50001,4720,013,6,44511",
    "P,2018000000003,01,1013097,00012,80,,3,16,24,2,60,50000,2310,303,9,6111M1",
]
LEFT_OUT = [
    "P,2018000000004,01,1013097,00075,16,1,5,02,16,1,20,9000,0010,001,1,6111M1",  # age
    "P,2018000000005,01,1013097,00075,30,1,5,02,16,1,20,100,0010,001,1,6111M1",  # income
    "P,2018000000006,01,1013097,00075,30,1,5,02,16,1,0,9000,0010,001,1,6111M1",  # hours
    "P,2018000000007,01,1013097,00000,30,1,5,02,16,1,20,9000,0010,001,1,6111M1",  # weight
    "P,2018000000008,01,1013097,00075,30,,5,02,16,1,,,,001,1,",  # no work, no income
    "P,2018000000009,01,1013097,00075,30,1,5,02,16,1,40,-5000,0010,001,1,6111M1",  # a loss
]
ALABAMA = "\n".join([HEADER, *LEFT_OUT[:3], *KEPT, *LEFT_OUT[3:]]) + "\n"
ALASKA = HEADER + "\n" + KEPT[1].replace(",01,", ",02,") + "\n"


@pytest.fixture
def two_states():
    """Return the description with two states instead of 51."""
    return replace(acs_income.SPEC, unpinned=tuple(layout[:2] for layout in acs_income.SPEC.unpinned))


@pytest.fixture
def pinned():
    return pins.pinned()["acs-income"]


def _read(spec, pinned, root, **options):
    with pytest.warns(UserWarning, match="acs-income: .* no checksum is recorded for this form.* 4 rows"):
        return load_spec(spec, pinned, root=root, **options)


def test_the_tasks_rows_label_and_codes(two_states, pinned, put, tmp_path):
    root = put(tmp_path / "in", {"psam_p01.csv": ALABAMA, "psam_p02.csv": ALASKA})
    data = _read(two_states, pinned, root)
    assert data.feature_names == ["AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "WKHP", "RAC1P"]
    assert data.X.to_numpy().tolist() == [
        [17, 1, 16, 5, 10, 1, 2, 1, 1],
        [44, 3, 21, 1, 4720, 13, 0, 40, 6],
        [80, 0, 24, 3, 2310, 303, 16, 60, 9],  # an empty code is 0, as in the task's own preparation
        [44, 3, 21, 1, 4720, 13, 0, 40, 6],
    ]
    assert data.y.tolist() == [0, 1, 0, 1]
    assert data.sensitive_features.tolist() == ["Male", "Female", "Female", "Female"]
    table = read_layout(two_states, two_states.unpinned[1], root)
    assert table["ST"].tolist() == ["AL", "AL", "AL", "AK"]


def test_what_is_not_pinned_is_flagged_and_carries_its_own_checksum(two_states, pinned, put, tmp_path):
    root = put(tmp_path / "in", {"psam_p01.csv": ALABAMA, "psam_p02.csv": ALASKA})
    card = _read(two_states, pinned, root).card
    assert not card.verified
    assert card.checksum != pinned.table
    assert (
        card.checksum == pins.measure(two_states, read_layout(two_states, two_states.unpinned[1], root)).table
    )
    assert "NOT VERIFIED" in str(card)


def test_archives_with_a_letter_in_them_are_the_same_table(two_states, pinned, put, tmp_path):
    plain = put(tmp_path / "plain", {"psam_p01.csv": ALABAMA, "psam_p02.csv": ALASKA})
    zipped = put(tmp_path / "acs" / "2018" / "1-Year", {})
    for state, text in (("al", ALABAMA), ("ak", ALASKA)):
        with zipfile.ZipFile(zipped / f"csv_p{state}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("ACS2018_PUMS_README.pdf", b"%PDF-1.4")
            archive.writestr("psam_p00.csv", text)
    a, b = (_read(two_states, pinned, root) for root in (plain, tmp_path))
    pd.testing.assert_frame_equal(a.X, b.X)
    assert a.card.checksum == b.card.checksum


def test_reduced_table_comes_first_and_must_be_the_pinned_one(two_states, put, tmp_path):
    drawn = standin.draw(two_states, standin.recorded()["acs-income"], n=50, rng=np.random.default_rng(0))
    text = drawn.assign(ST="AK").to_csv(index=False)
    small = replace(
        two_states,
        layouts=tuple((File(layout[0].name, 50, layout[0].read),) for layout in two_states.layouts),
    )
    right = pins.measure(small, drawn.assign(ST="AK"))
    census = {"psam_p01.csv": ALABAMA, "psam_p02.csv": ALASKA}
    root = put(tmp_path / "gz", {REDUCED + ".gz": gzip.compress(text.encode())} | census)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = load_spec(small, right, root=root)
        plain = load_spec(small, right, root=put(tmp_path / "plain", {REDUCED: text}))
    assert data.card.verified
    assert data.card == plain.card
    assert data.card.checksum == right.table
    other = put(tmp_path / "other", {REDUCED: text.replace("AK", "AL", 1)} | census)
    with pytest.raises(DataError, match=r"what differs: 'ST'.*csv_pal\.zip"):
        load_spec(small, right, root=other)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"psam_p01.csv": ALABAMA, "psam_p02.csv": ALABAMA},
            r"psam_p02\.csv: expected ST = 2 \(AK\), found ST = 1",
        ),
        ({"psam_p01.csv": ALABAMA.replace("PWGTP", "WGTP"), "psam_p02.csv": ALASKA}, "a column 'PWGTP'"),
        (
            {"psam_p01.csv": ALABAMA.replace(",44,", ",old,"), "psam_p02.csv": ALASKA},
            "numbers in column 'AGEP'",
        ),
        (
            {"psam_p01.csv": HEADER + "\n" + LEFT_OUT[0], "psam_p02.csv": ALASKA},
            "found none of 1 rows in the task",
        ),
        ({"psam_p01.csv": HEADER, "psam_p02.csv": ALASKA}, "found none of 0 rows in the task"),
        ({"psam_p01.csv": b"\xff\xfe\x00", "psam_p02.csv": ALASKA}, "expected comma-separated values"),
        ({"psam_p01.csv": "<html></html>", "psam_p02.csv": ALASKA}, "an HTML page"),
        ({"psam_p01.csv": "", "psam_p02.csv": ALASKA}, "an empty file"),
    ],
)
def test_files_that_are_not_the_states(files, message, two_states, pinned, put, tmp_path):
    with pytest.raises(DataError, match=message):
        load_spec(two_states, pinned, root=put(tmp_path / "in", files))


def test_archives_that_do_not_have_one_table(two_states, pinned, put, tmp_path):
    root = put(tmp_path / "in", {"csv_pak.zip": b"PK"})
    with zipfile.ZipFile(root / "csv_pal.zip", "w") as archive:
        archive.writestr("readme.pdf", b"%PDF")
    with pytest.raises(DataError, match=r"an archive of one file \*\.csv, found 0 files"):
        load_spec(two_states, pinned, root=root)


@pytest.mark.parametrize("content", [b"\x1f\x8b cut off", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9]])
def test_damaged_gzip_file(content, put, tmp_path):
    with pytest.raises(DataError, match="expected a gzip file, found a damaged one"):
        load("acs-income", root=put(tmp_path / "in", {REDUCED + ".gz": content}))


def test_some_states_are_not_enough(put, tmp_path):
    root = put(tmp_path / "in", {"psam_p01.csv": ALABAMA})
    with pytest.raises(
        FileNotFoundError, match=r"has psam_p01\.csv but not psam_p02\.csv, .*psam_p72\.csv; put all"
    ):
        load("acs-income", root=root)


def test_nothing_is_downloaded_because_nothing_could_be_verified(two_states, pinned, tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"offers no direct download .* Get csv_pal.zip .* from https://www2.c"
    ):
        load_spec(two_states, pinned, root=tmp_path)


def test_list_says_that_the_table_was_not_verified(two_states, pinned, put, tmp_path, capsys):
    root = put(tmp_path / "in", {"psam_p01.csv": ALABAMA, "psam_p02.csv": ALASKA})
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    for words in ([], ["fetch", "acs-income"]):
        with pytest.warns(UserWarning, match="no checksum is recorded"):
            status = cli.run(
                parser.parse_args(["--root", str(root), *words]),
                specs={"acs-income": two_states},
                pinned={"acs-income": pinned},
            )
        assert status == 0
        assert "not verified (no checksum is recorded for this form)" in capsys.readouterr().out


def test_real_table_has_49_states_and_folded_codes(real_data):
    real_data("acs-income")
    table = load_table("acs-income", download=False)
    counts = table["ST"].value_counts()
    assert len(counts) == 49
    assert not {"CA", "FL", "DC"} & set(counts.index)
    assert counts["AL"] == 22_268
    assert sorted(table["MAR"].unique()) == [1, 2]
    assert table["RAC1P"].max() == 5
    assert table["AGEP"].min() > 16
    assert table["WKHP"].min() > 0
