from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.datasets import lsac, pins
from dpfair_lib.datasets.canonical_table import read_layout
from dpfair_lib.datasets.loading import SPECS, load_spec
from dpfair_lib.datasets.spec import File


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


@pytest.fixture(params=sorted(SPECS))
def name(request, real_data):
    real_data(request.param)
    return request.param


def test_lsac_coded_as_in_the_figures_is_the_published_reduction(real_data):
    from dpfair_lib.experiments.thesis.randomised_training import coded_table

    reduced = real_data("lsac") / "db_LSAC.csv"
    if not reduced.is_file():
        pytest.skip("$DPFAIR_DATA/lsac does not have db_LSAC.csv")
    table = pd.read_csv(reduced)
    coded_table.cache_clear()
    coded = coded_table("lsac-family-income")
    assert (coded.a == table["fam_inc"]).all()
    assert (coded.y == table["pass_bar"]).all()
    others = [table[name].to_numpy()[:, None] == range(table[name].nunique()) for name in
              ("gender", "fulltime", "race1", "lsat", "ugpa")]  # fmt: skip
    assert (np.hstack(others) == coded.X).all()
