import enum
import json
import math
import struct
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from dpfair_lib.claims.plain import from_json, to_json

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True), st.text(), st.binary(), st.fractions()
)
NUMBERS = st.one_of(
    npst.boolean_dtypes(), npst.integer_dtypes(), npst.floating_dtypes(), npst.complex_number_dtypes()
)
ARRAYS = st.one_of(
    NUMBERS.flatmap(lambda dtype: npst.arrays(dtype, npst.array_shapes(min_dims=0, min_side=0, max_side=4))),
    npst.arrays(object, npst.array_shapes(min_side=0, max_side=3), elements=SCALARS, fill=st.nothing()),
)
KEYS = st.one_of(st.text(), st.integers(), st.tuples(st.integers(), st.text()))
VALUES = st.recursive(
    st.one_of(SCALARS, ARRAYS, NUMBERS.flatmap(lambda dtype: npst.arrays(dtype, ()).map(lambda a: a[()]))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.dictionaries(KEYS, inner, max_size=4),
        st.sets(st.integers(), max_size=3), st.frozensets(st.fractions(), max_size=3),
    ),
    max_leaves=12,
)  # fmt: skip


def same(one, two):
    """Whether two values are the same to the last bit, with types, order, shapes and signs of zeros."""
    if type(one) is not type(two):
        return False
    if isinstance(one, float):
        return struct.pack(">d", one) == struct.pack(">d", two)
    if isinstance(one, np.ndarray | np.generic) and one.dtype != object:
        return (one.dtype, one.shape, one.tobytes()) == (two.dtype, two.shape, two.tobytes())
    if isinstance(one, np.ndarray):
        return one.shape == two.shape and all(map(same, one.ravel(), two.ravel()))
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict):
        return same(list(one.items()), list(two.items()))
    return one == two


def again(value):
    return from_json(json.loads(json.dumps(to_json(value))))


@given(VALUES)
def test_a_value_comes_back_to_the_last_bit(value):
    assert same(again(value), value)


@pytest.mark.parametrize(
    "value",
    [
        -0.0, math.inf, -math.inf, struct.unpack(">d", bytes.fromhex("fff8000000000123"))[0], 5e-324, -(2**53) - 1,
        [10**6000], (Fraction(1, 10**6000),), (1, (2.5, None)),
        [np.float64(0.1), np.int8(-3), np.bool_(True)], np.str_("ε"),
        {("a", 1): {"dict": 1}}, {"float": "00"}, np.zeros((0, 3)), np.array(Fraction(1, 3), dtype=object),
        np.arange(6).reshape(2, 3).T, {1: "int", "1": "str"},
    ],
)  # fmt: skip
def test_what_json_alone_would_change_comes_back(value):
    assert same(again(value), value)


class Colour(enum.IntEnum):
    RED = 1


class Loud(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value", [Colour.RED, Loud("x"), namedtuple("P", "x")(1), object(), len, np.datetime64("2020-01-01"), [object()]]
)  # fmt: skip
def test_anything_else_is_refused(value):
    with pytest.raises(TypeError, match="value: found"):
        to_json(value)


@pytest.mark.parametrize(
    "found",
    [
        [], {}, {"a": 1, "b": 2}, {"object": "os.system"}, {"array": ["O", [1], "00" * 8]},
        {"array": ["<f8", [2], "00"]},
        {"Fraction": ["0x1", "0x0"]}, {"Fraction": "0x1"}, {"float": "00"}, {"list": 3}, {"dict": [[1]]},
        {"set": [{"list": []}]}, {"int": 7}, {"objects": [[3], []]}, {"array": ["<f8,<f8", [0], ""]},
    ],
)  # fmt: skip
def test_what_was_not_written_by_us_is_refused(found):
    with pytest.raises(ValueError, match="value: found"):
        from_json(found)
