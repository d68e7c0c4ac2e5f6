"""Docstrings reach Sphinx with their signs intact."""

import docstrings
import pytest


@pytest.mark.parametrize(("written", "expected"), [
    ("|a − b| ≤ γ", r"\|a − b\| ≤ γ"),
    ("``a | b`` and `c|d`", "``a | b`` and `c|d`"),
    ("√(`feature_bound`² + 1)", "√(`feature_bound`\\ ² + 1)"),
    ("n`rows`, (`x`), `y`.", "n\\ `rows`, (`x`), `y`."),
    ("", ""),
])  # fmt: skip
def test_bars_and_names_are_set_apart(written, expected):
    assert docstrings.escaped(written) == expected


def test_examples_stay_as_they_are():
    lines = ["|x|", ">>> a | b", "    ... | c"]
    docstrings.prepare(None, "function", "f", None, None, lines)
    assert lines == [r"\|x\|", ">>> a | b", "    ... | c"]


def test_what_others_add_to_a_class_is_hidden():
    from sklearn.base import BaseEstimator

    from dpfair_lib import FairPostprocessor, FairProjection

    def hidden(found, name, skip=False):
        return docstrings.is_hidden(None, "class", name, found, skip, None)

    assert hidden(FairPostprocessor.set_fit_request, "set_fit_request")
    assert hidden(BaseEstimator.get_params, "get_params")
    assert hidden(FairProjection.fit, "fit", skip=True)
    assert not hidden(FairPostprocessor.fit, "fit")
