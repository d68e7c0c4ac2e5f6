import pytest

from dpfair_lib.experiments.printed import printed_sampling


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
