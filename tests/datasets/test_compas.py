from dataclasses import replace

from dpfair_lib.datasets import compas, pins
from dpfair_lib.datasets.canonical_table import read_layout
from dpfair_lib.datasets.loading import load_spec
from dpfair_lib.datasets.spec import File


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
