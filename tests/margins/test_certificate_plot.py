"""What the picture of a certificate shows, by the data drawn."""

import numpy as np
import pytest

import dpfair_lib as dpf

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
RNG = np.random.default_rng(0)
X = np.hstack([RNG.normal(size=(400, 2)), np.ones((400, 1))])
Y, SIDE = (X[:, 0] + RNG.normal(size=400) > 0).astype(int), np.array(["a", "b"])[RNG.integers(0, 2, 400)]
GIVEN = {"X": X, "sensitive_features": SIDE}
SCORES = X @ [1.0, 0.0, 0.1]


def drawn(ax):
    """The ends of the intervals, in the order of the groups."""
    return np.array([path.vertices[:, 0] for path in ax.collections[0].get_paths()])


@pytest.mark.parametrize("notion", ["equalized_odds", "accuracy_parity", "accuracy"])
def test_the_intervals_and_points_are_those_of_the_certificate(notion):
    made = dpf.fairness_certificate(SCORES, Y, **GIVEN, notion=notion, radius=0.05, bound="signed")
    ax = made.plot()
    assert drawn(ax) == pytest.approx(np.column_stack([made.lower, made.upper]))
    assert ax.lines[0].get_xdata() == pytest.approx(made.fairness)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert (
        names[0] == {"equalized_odds": "label 0, a", "accuracy_parity": "a", "accuracy": "everyone"}[notion]
    )
    share_of_right = notion == "accuracy"
    assert ax.get_xlabel() == (
        "accuracy (share)" if share_of_right else "F of the group (share; 0 = as everyone)"
    )
    assert ax.get_title(loc="left") == notion.replace("_", " ")
    # every group has a row of its own height, the first one on top, and half a row of room beyond the ends
    assert ax.get_ylim() == (len(names) - 0.5, -0.5)
    assert ax.figure.get_figheight() == pytest.approx(1.2 + 0.4 * len(names))
    # 0 means "as everyone", which accuracy, a share, does not have
    upright = [line for line in ax.lines if list(line.get_xdata()) == [0, 0]]
    assert len(upright) == (notion != "accuracy")


def test_infinite_ends_private_bounds_and_given_axes():
    import matplotlib.pyplot as plt

    scores = SCORES.copy()
    tied = X.copy()
    tied[0], scores[0] = [0.0, 1.0, 0.0], 0.0
    made = dpf.fairness_certificate(
        scores, Y, X=tied, sensitive_features=SIDE, notion="accuracy_parity", radius=0.05, bound="markov",
        intercept=False,
    )  # fmt: skip
    assert np.isinf(made.lower).any()
    _, ax = plt.subplots()
    assert made.plot(ax) is ax
    assert np.isfinite(drawn(ax)).all()
    private = dpf.private_certificate(
        SCORES, Y, **GIVEN, notion="accuracy_parity", sigma=0.01, zeta=0.1, epsilon=1.0, noise="study",
        rng=np.random.default_rng(0),
    )  # fmt: skip
    ax = private.plot()
    assert drawn(ax) == pytest.approx(np.column_stack([private.lower, private.upper]))
    assert len(ax.get_legend_handles_labels()[1]) == 1  # no given model
    plt.close("all")
