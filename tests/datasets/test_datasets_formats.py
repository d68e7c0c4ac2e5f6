"""The publishers' own formats, on stand-in tables written as the publisher writes them."""

import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from workbooks import biff2, sheet

from dpfair_lib.datasets import DataError, adult, celeba, compas, credit, lsac, pins, standin
from dpfair_lib.datasets.canonical_table import read_csv, read_layout
from dpfair_lib.datasets.loading import load_spec
from dpfair_lib.datasets.spec import File


def _drawn(spec, n):
    return standin.draw(spec, standin.recorded()[spec.name], n=n, rng=np.random.default_rng(1))


@pytest.fixture
def adult_table():
    table = _drawn(adult.SPEC, 300)
    table.loc[[3, 250], "occupation"] = "?"
    return table


@pytest.fixture
def small_adult():
    layouts = (
        (File("adult.data", 200, adult.read_part), File("adult.test", 100, adult.read_part)),
        (File("adult.csv", 300, adult.read_whole),),
    )
    return replace(adult.SPEC, layouts=layouts)


def _as_uci(table):
    def lines(part, dot):
        rows = part.astype({"income": "str"}).assign(income=part["income"] + dot)
        return "\n".join(", ".join(map(str, row)) for row in rows.itertuples(index=False)) + "\n\n"

    return {
        "adult.data": lines(table[:200], ""),
        "adult.test": "|1x3 Cross validator\n" + lines(table[200:], "."),
    }


def test_adult_as_published(small_adult, adult_table, put, tmp_path):
    pinned = pins.measure(small_adult, adult_table)
    data = load_spec(small_adult, pinned, root=put(tmp_path / "in", _as_uci(adult_table)))
    kept = adult_table.drop(index=[3, 250]).reset_index(drop=True)
    assert data.y.tolist() == (kept["income"] == ">50K").astype(int).tolist()
    assert data.sensitive_features.tolist() == kept["sex"].tolist()
    assert data.X["age"].tolist() == kept["age"].tolist()
    assert "occupation_?" not in data.X


def test_adult_as_one_csv_with_either_label_style(small_adult, adult_table, put, tmp_path):
    pinned = pins.measure(small_adult, adult_table)
    dotted = adult_table.assign(income=adult_table["income"] + ["" if at < 200 else "." for at in range(300)])
    for at, form in enumerate((adult_table, dotted)):
        root = put(tmp_path / str(at), {"adult.csv": form.to_csv(index=False)})
        assert load_spec(small_adult, pinned, root=root).card.checksum == pinned.table


def test_adult_with_test_part_first_is_refused(small_adult, adult_table, put, tmp_path):
    pinned = pins.measure(small_adult, adult_table)
    turned = pd.concat([adult_table[200:], adult_table[:200]])
    with pytest.raises(DataError, match="order of the rows"):
        load_spec(small_adult, pinned, root=put(tmp_path / "in", {"adult.csv": turned.to_csv(index=False)}))


def test_adult_cut_off_names_the_part(small_adult, adult_table, put, tmp_path):
    files = _as_uci(adult_table)
    files["adult.test"] = "\n".join(files["adult.test"].splitlines()[:51])
    with pytest.raises(DataError, match=r"adult\.test: expected 100 rows, found 50"):
        load_spec(small_adult, pins.measure(small_adult, adult_table), root=put(tmp_path / "in", files))


@pytest.fixture
def credit_table():
    table = _drawn(credit.SPEC, 60)
    table.loc[[0, 1, 2, 3], "EDUCATION"] = [0, 5, 6, 4]
    table.loc[[0, 1], "MARRIAGE"] = [0, 3]
    return table


@pytest.fixture
def small_credit():
    forms = ("credit.xls", credit.read_workbook), ("credit.csv", credit.read_csv)
    return replace(credit.SPEC, layouts=tuple((File(name, 60, read),) for name, read in forms))


def test_credit_workbook_and_csv_are_the_same(small_credit, credit_table, put, tmp_path, capsys):
    pinned = pins.measure(small_credit, credit_table)
    book = put(tmp_path / "book", {"credit.xls": biff2(sheet(credit_table))})
    text = put(tmp_path / "text", {"credit.csv": credit_table.to_csv(index=False)})
    from_book, from_text = (load_spec(small_credit, pinned, root=root) for root in (book, text))
    pd.testing.assert_frame_equal(from_book.X, from_text.X)
    assert "ID" not in from_book.X
    assert capsys.readouterr().out == ""


def test_credit_codes_are_folded(small_credit, credit_table, put, tmp_path):
    pinned = pins.measure(small_credit, credit_table)
    root = put(tmp_path / "in", {"credit.csv": credit_table.to_csv(index=False)})
    data = load_spec(small_credit, pinned, root=root)
    assert [name for name in data.X if name.startswith("EDU")] == [
        f"EDUCATION_{code}" for code in (1, 2, 3, 4)
    ]
    assert data.X.loc[[0, 1, 2, 3], "EDUCATION_4"].tolist() == [1, 1, 1, 1]
    assert data.X.loc[[0, 1], "MARRIAGE_3"].tolist() == [1, 1]
    both = load_spec(small_credit, pinned, sensitive=["MARRIAGE", "SEX"], root=root)
    assert both.sensitive_features[0].startswith("other & ")


def test_sheet_without_titles_above_the_header(credit_table):
    rows = pd.DataFrame(sheet(credit_table)[1:], dtype="object")
    assert credit.table_of_sheet(rows, "x")["LIMIT_BAL"].tolist() == credit_table["LIMIT_BAL"].tolist()


def test_sheet_without_header():
    with pytest.raises(DataError, match="book: expected a header row with 'LIMIT_BAL', found none"):
        credit.table_of_sheet(pd.DataFrame([[1, 2], [3, 4], [5, 6], ["LIMIT_BAL", "x"]]), "book")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"<html></html>", "an HTML page"),
        (b"LIMIT_BAL,SEX\n1,2\n", r"expected an Excel workbook \(\.xls\), found something else"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "expected an Excel workbook"),
        (biff2([["LIMIT_BAL", "SEX"], [1, 2]])[:40], "expected an Excel workbook"),
    ],
    ids=["empty", "web page", "csv", "damaged workbook", "cut off"],
)
def test_file_that_is_no_workbook(content, message, small_credit, credit_table, put, tmp_path):
    root = put(tmp_path / "in", {"credit.xls": content})
    with pytest.raises(DataError, match=message):
        load_spec(small_credit, pins.measure(small_credit, credit_table), root=root)


def _scores(rows):
    """ProPublica's form: more columns than are used, one of them twice."""
    head = (
        "id,name,sex,age,race,priors_count,days_b_screening_arrest,c_jail_in,c_jail_out,c_charge_degree,is_recid,"
        "priors_count"
    )
    return "\n".join([head, *rows]) + "\n"


def test_compas_rows_and_days_in_jail(put, tmp_path):
    kept = "1,A B,Male,30,Caucasian,2,-1,2013-01-01 10:00:00,2013-01-03 09:00:00,F,1,0"
    left_out = [
        "2,A B,Male,30,Other,2,-1,2013-01-01 10:00:00,2013-01-03 09:00:00,F,1,0",
        "3,A B,Male,30,Caucasian,2,31,2013-01-01 10:00:00,2013-01-03 09:00:00,F,1,0",
        "4,A B,Male,30,Caucasian,2,,,,F,1,0",
        "5,A B,Male,30,Caucasian,2,0,2013-01-01 10:00:00,2013-01-03 09:00:00,O,1,0",
        "6,A B,Male,30,Caucasian,2,0,2013-01-01 10:00:00,2013-01-03 09:00:00,F,-1,0",
    ]
    other = "7,C D,Female,25,African-American,0,0,2013-01-01 10:00:00,2013-01-01 11:00:00,M,0,9"
    rows = [kept, *left_out, other]
    spec = replace(compas.SPEC, layouts=((File("scores.csv", len(rows), compas.read_scores),),))
    root = put(tmp_path / "in", {"scores.csv": _scores(rows)})
    raw = read_layout(spec, spec.layouts[0], root)
    assert "name" not in raw
    data = load_spec(spec, pins.measure(spec, raw), root=root)
    assert data.X[["age", "priors_count", "length_of_stay"]].to_numpy().tolist() == [[30, 2, 1], [25, 0, 0]]
    assert data.sensitive_features.tolist() == ["Caucasian", "African-American"]
    assert data.y.tolist() == [1, 0]
    assert {"c_charge_degree_F", "c_charge_degree_M", "sex_Female", "sex_Male"} < set(data.feature_names)


def test_lsac_keeps_rows_without_an_empty_cell_in_any_column(put, tmp_path):
    text = (
        "ID,fam_inc,gender,fulltime,race1,lsat,ugpa,tier,pass_bar\n"
        "1,5,female,1,white,36.5,3.5,2,1\n"
        "2,1.0,male,2.0,other,40,2.9,1,0\n"
        "3,2,male,1,black,31,3,,1\n"
        "4,,male,1,black,31,3,2,1\n"
    )
    spec = replace(lsac.SPEC, layouts=((File("study.csv", 4, lsac.read_study),),))
    root = put(tmp_path / "in", {"study.csv": text})
    raw = read_layout(spec, spec.layouts[0], root)
    assert raw["empty_cells"].tolist() == [0, 0, 1, 1]
    data = load_spec(spec, pins.measure(spec, raw), root=root, sensitive=["fam_inc", "gender"])
    assert data.sensitive_features.tolist() == ["5 (highest) & female", "1 (lowest) & male"]
    assert data.X[["lsat", "ugpa", "fulltime_2", "race1_other"]].to_numpy().tolist() == [
        [36.5, 3.5, 0, 0],
        [40, 2.9, 1, 1],
    ]
    again = put(tmp_path / "again", {"study.csv": raw.to_csv(index=False)})
    assert read_layout(spec, spec.layouts[0], again).equals(raw)


NAMES = list(celeba.CLEANED)
PHOTOGRAPHS = [
    ["000001.jpg", *["-1", "1"] * 20],
    ["000002.jpg", *["1", "-1"] * 20],
    ["000003.jpg", *["1"] * 40],
]


def test_celeba_zipped_plain_and_as_its_authors_give_it_are_one_table(tmp_path, put):
    text = "\n".join(",".join(row) for row in [["filename", *NAMES], *PHOTOGRAPHS]) + "\n"
    kaggle = text.replace("filename", "image_id")
    listed = "3\n" + " ".join(NAMES) + "\n" + "\n".join("  ".join(row) for row in PHOTOGRAPHS) + "\n"
    root = put(tmp_path / "in", {"plain.csv": kaggle, "list.txt": listed})
    with zipfile.ZipFile(root / "zipped.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("celeba.csv", text)
    readers = {"plain.csv": read_csv, "list.txt": celeba.read_list, "zipped.csv.zip": read_csv}
    spec = replace(celeba.SPEC, layouts=tuple((File(name, 3, read),) for name, read in readers.items()))
    tables = [read_layout(spec, layout, root) for layout in spec.layouts]
    assert all(table.equals(tables[0]) for table in tables)
    data = load_spec(spec, pins.measure(spec, tables[0]), root=root)
    assert data.X.shape == (3, 38)
    assert data.numeric_features == data.feature_names
    assert "Young" in data.feature_names
    assert data.y.tolist() == [1, 0, 1]
    young = load_spec(spec, pins.measure(spec, tables[0]), root=root, sensitive=["Male", "Young"])
    assert young.sensitive_features.tolist() == ["not Male & Young", "Male & not Young", "Male & Young"]
    assert "Young" not in young.feature_names


def test_celeba_list_cut_off_in_a_line(tmp_path, put):
    root = put(
        tmp_path / "in",
        {"list.txt": "2\n" + " ".join(NAMES) + "\n" + " ".join(PHOTOGRAPHS[0]) + "\n0002.jpg 1\n"},
    )
    with pytest.raises(DataError, match="expected 41 fields, found 2 in line 4"):
        celeba.read_list(root / "list.txt")


def test_archives_that_are_damaged_or_hold_several_files(tmp_path, put):
    root = put(tmp_path / "in", {"bad.zip": "PK and then nothing"})
    with pytest.raises(DataError, match="expected a zip archive, found a damaged one"):
        read_csv(root / "bad.zip")
    with zipfile.ZipFile(root / "two.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "b\n1\n")
    with pytest.raises(DataError, match="expected an archive of one file, found 2 files"):
        read_csv(root / "two.zip")
