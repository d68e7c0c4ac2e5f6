import pytest

from dpfair_lib.experiments.printed import printed_projections, printed_sampling, printed_tables


def test_batches_are_those_of_the_loader():
    assert printed_sampling(2048, 3) == (0.5, 6)
    assert printed_sampling(2049, 1) == (1 / 3, 3)
    assert printed_sampling(1, 1) == (1.0, 1)


@pytest.mark.parametrize(
    ("rows", "epochs", "named"), [(0, 5, "rows"), (-3, 5, "rows"), (10, 0, "epochs"), (1.5, 1, "rows")]
)
def test_bad_input_is_named(rows, epochs, named):
    with pytest.raises(ValueError, match=f"^{named}: found"):
        printed_sampling(rows, epochs)


def test_printed_tables_are_whole():
    tables = printed_tables()
    assert tables["table"].nunique() == 12
    assert (tables["method"] == "Algorithm 2").sum() == 12
    assert (tables["method"] == "DP-FERMI").sum() == 60
    assert tables.loc[tables["method"] == "DP-FERMI", "strength"].notna().all()
    assert tables[["accuracy", "gap"]].gt(0).all(axis=None)
    # DP-FERMI is the same run under all three accountants, where its strength is
    for _, same in tables[tables["method"] == "DP-FERMI"].groupby(["data", "epsilon", "strength"]):
        assert same["accuracy"].nunique() == same["gap"].nunique() == 1


def test_printed_projections_are_whole():
    lines = printed_projections()
    assert lines["table"].value_counts().sort_index().to_dict() == {"5.1": 10, "5.2": 10, "5.3": 8, "5.4": 8}
    assert lines[["accuracy", "gap"]].notna().all(axis=None)
    for first, second in (("5.1", "5.2"), ("5.3", "5.4")):
        pair = [
            lines[(lines["table"] == x) & (lines["method"] == "OPT")]["accuracy"].tolist()
            for x in (first, second)
        ]
        assert pair[0] == pair[1]
