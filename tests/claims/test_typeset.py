"""Lines, numbers and witnesses as pages show them."""

from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.claims.typeset import case_in_words, number, spoken, symbol, typeset, witness_in_words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x_i < y^2", "x<sub>i</sub> &lt; y<sup>2</sup>"),
        ("e^(−ε)p_{ab}", "e<sup>−ε</sup>p<sub>ab</sub>"),
        ("C_k^k′", "C<sub>k</sub><sup>k′</sup>"),
        ("h*_a(1)", "h*<sub>a</sub>(1)"),
        ("q_i'j ≥ q_i′", "q<sub>i′j</sub> ≥ q<sub>i′</sub>"),
        ("δ = 1e-5 or 2.5e+16", "δ = 10⁻⁵ or 2.5·10¹⁶"),
        ("no index", "no index"),
        ("<b>", "&lt;b&gt;"),
    ],
)
def test_indices_stand_below_and_exponents_above(text, shown):
    assert typeset(text) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (12345, "12,345"), (1e7, "10,000,000"), (2.0, "2"), (0.123456, "0.1235"), (-0.5, "−0.5"),
        (Fraction(1, 3), "1/3"), (Fraction(-22, 7), "−22/7"), (Fraction(-(10**30) - 1, 10**31), "≈ −0.1"),
        (-10, "−10"), (True, "yes"),
        (None, "none"), ((1, 0.5), "(1, 0.5)"), ({"epsilon": 1}, "ε 1"), (10**30, "10³⁰"), ("text", "text"),
        (1e-9, "10⁻⁹"), (-8.319e-7, "−8.319·10⁻⁷"), (-0.0, "0"), (float("inf"), "∞"),
        ("1e-05, 2.5e+16", "10⁻⁵, 2.5·10¹⁶"),
    ],
)  # fmt: skip
def test_numbers_have_the_digits_that_one_reads(value, shown):
    assert number(value) == shown


def test_a_sentence_on_a_witness_has_the_values_of_its_case():
    case = {"alpha": Fraction(-1, 2), "rows": np.array([1, 20000])}
    assert witness_in_words("At α = {alpha} with {rows} rows, α is {alpha}.", case) == (
        "At α = −1/2 with (1, 20,000) rows, α is −1/2."
    )
    with pytest.raises(KeyError, match="beta"):
        witness_in_words("{beta}", case)


def test_a_sentence_on_a_witness_names_the_axes_of_nested_lists():
    case = {"counts": (((0, 1), (2, 3)), ((4, Fraction(1, 2)), (6, 7))), "rest": [(0, 0), (1, 1), (2, 1)]}
    assert witness_in_words("{counts:predicted,group}; {rest:and}", case) == (
        "predicted 0 – group 0: (0, 1), group 1: (2, 3); predicted 1 – group 0: (4, 1/2), group 1: (6, 7); "
        "(0, 0), (1, 1) and (2, 1)"
    )


def test_data_sets_and_notions_are_named_as_the_papers_do():
    assert spoken("celeba, as run: equalized_odds by gdp") == "CelebA, as run: equalized odds by GDP"
    assert spoken("acs-income, adult-gender") == "ACSIncome, Adult-gender"
    assert spoken("rows of adult.data, adult_epsilon") == "rows of adult.data, adult_epsilon"
    assert witness_in_words("On {data}.", {"data": "credit"}) == "On Credit."


def test_arguments_become_symbols():
    assert symbol("epsilon") == "ε"
    assert symbol("epsilon_0") == "ε_0"
    assert symbol("group_size") == "group size"
    assert case_in_words({"alpha": Fraction(1, 2), "rows": np.array([1, 2])}) == "α = 1/2, rows = (1, 2)"
