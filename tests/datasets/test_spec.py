import pytest

from dpfair_lib.datasets.loading import load_spec


@pytest.mark.parametrize(
    "changes",
    [{"label": "result"}, {"sensitive": ()}, {"sensitive": ("age",)}, {"tied": {"age": "birthday"}}],
)
def test_contradictory_descriptions_are_refused(changes, tiny):
    with pytest.raises(ValueError, match="tiny: "):
        tiny(**changes)


def test_card_prints_every_caveat(tiny, tiny_pins, parts, put, tmp_path):
    data_card = load_spec(tiny(), tiny_pins, root=put(tmp_path / "in", parts)).card
    assert "caveat: made up" in str(data_card)
    assert tiny_pins.table in str(data_card)
    assert str(tmp_path) not in str(data_card)
