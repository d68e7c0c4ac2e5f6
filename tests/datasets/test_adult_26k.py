from dpfair_lib.datasets import load, load_table


def test_lsac_leaves_out_rows_with_an_empty_cell_and_adult_26k_is_found_beside_adult(real_data):
    real_data("lsac")
    assert load_table("lsac", download=False)["empty_cells"].eq(0).sum() == 20_427
    folder = real_data("adult-26k")
    assert load("adult-26k", sensitive=["race", "gender"], root=folder).sensitive_features.nunique() == 10
