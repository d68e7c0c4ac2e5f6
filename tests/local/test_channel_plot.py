"""What the picture of a channel shows."""

from fractions import Fraction

import numpy as np
import pytest

import dpfair_lib as dpf

pyplot = pytest.importorskip("matplotlib.pyplot")


def test_the_image_is_the_matrix_and_small_ones_are_written():
    channel = dpf.Randomizer([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 3), Fraction(2, 3)]])
    ax = channel.plot()
    image = ax.get_images()[0]
    assert np.array_equal(image.get_array(), channel.matrix.astype(float))
    assert image.get_clim() == (0, 1)
    assert [text.get_text() for text in ax.texts] == ["0.75", "0.25", "0.333", "0.667"]
    assert [text.get_position() for text in ax.texts] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("report", "input")
    assert ax.get_title(loc="left") == f"ε = {channel.epsilon:.3g}"
    assert ax.figure.axes[1].get_ylabel() == "probability"
    pyplot.close("all")


def test_numbers_stand_in_the_middle_of_their_cells_and_can_be_read():
    channel = dpf.Randomizer([[0.875, 0.125], [0.5, 0.5]])
    texts = channel.plot().texts
    assert {(text.get_ha(), text.get_va()) for text in texts} == {("center", "center")}
    # white on dark blue, and black on all that is lighter
    assert [text.get_color() == "white" for text in texts] == [True, False, False, False]
    assert len(dpf.generalized_randomized_response(8, 1.0).plot().texts) == 64
    pyplot.close("all")


def test_large_ones_are_not_and_given_axes_are_used():
    _, own = pyplot.subplots()
    channel = dpf.generalized_randomized_response(9, 1.0)
    assert channel.plot(own) is own
    assert not own.texts
    pyplot.close("all")
