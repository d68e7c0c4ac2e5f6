"""Group fairness as a linear function of the groups' accuracies: equation (1) of Mangold et al. (2023).

Every notion compares a group with everyone. Its value for the group k is F_k = C_k⁰ + Σ_k′ C_k^k′ · P(H = Y | D_k′),
where the groups D_1 … D_K divide the rows: by label and sensitive group, by sensitive group alone, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfair_lib._validation import as_groups, as_levels, check_lengths, same_rows

NOTIONS = ("equalized_odds", "equal_opportunity", "accuracy_parity", "demographic_parity", "accuracy")


@dataclass(frozen=True)
class LinearForm:
    """The coefficients of equation (1) for one notion.

    Attributes
    ----------
    groups : tuple
        The K groups, in the order of the rows: pairs (label, sensitive group), sensitive groups, or "everyone".
    constant : array of shape (K,)
        C_k⁰.
    matrix : array of shape (K, K)
        C_k^k′ in row k and column k′.

    References
    ----------
    MPBT, equation (1) and Appendix A.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> y_true, group = [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> form = dpf.fairness_coefficients(y_true, sensitive_features=group, notion="equal_opportunity")
    >>> form.constant.tolist(), form.matrix.shape
    ([0.0, 0.0, 0.0, 0.0], (4, 4))
    """

    groups: tuple[Any, ...]
    constant: np.ndarray
    matrix: np.ndarray

    def levels(self, accuracies: Any) -> np.ndarray:
        """Return every F_k from the groups' accuracies, in the order of ``groups``."""
        return self.constant + self.matrix @ np.asarray(accuracies)


@same_rows
def fairness_coefficients(
    y_true: Any, *, sensitive_features: Any, notion: str, desirable: Any = None
) -> LinearForm:
    """Return the coefficients with which a fairness notion is a linear function of conditional accuracies.

    For many notions the fairness of group k is F_k(h) = C_k + Σ_k′ C_kk′ · P(h(X) = Y | D_k′), where the D_k′ are
    groups of rows. This function computes the numbers C on the given rows.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels. Any type that can be sorted. Demographic parity needs exactly two different labels.
    sensitive_features : array of shape (n,)
        Group of each row. Every group needs every label.
    notion : str
        One of ``"equalized_odds"``, ``"equal_opportunity"``, ``"accuracy_parity"``, ``"demographic_parity"``,
        ``"accuracy"``.
    desirable : label or tuple of labels, optional
        For equality of opportunity: the desirable outcomes. By default the largest label.

    Returns
    -------
    LinearForm
        The groups, the constants C_k, and the matrix of the C_kk′.

    Raises
    ------
    ValueError
        If a group lacks a label, if the notion is unknown, or if there are more than two labels for demographic parity.

    References
    ----------
    Mangold et al. (2023), equation (1) and Examples 1 to 4.

    Examples
    --------
    Accuracy parity of two equally large groups: F_a is half of the difference of the two accuracies.

    >>> import dpfair_lib as dpf
    >>> form = dpf.fairness_coefficients(
    ...     [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"], notion="accuracy_parity"
    ... )
    >>> form.groups
    ('a', 'b')
    >>> form.matrix
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    labels, y, levels, a = _codes(y_true, sensitive_features)
    joint = _joint(y, a, labels, levels)
    constant, matrix = form_coefficients(
        joint / joint.sum(), notion, desirable_labels(labels, notion, desirable)
    )
    return LinearForm(group_names(labels, levels, notion), constant, matrix)


@same_rows
def group_fairness(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, notion: str, desirable: Any = None
) -> dict[Any, float]:
    """Return by how much each group does better or worse than the rows as a whole, for one notion of fairness.

    This is F_k of Mangold et al. (2023), computed from its definition. A positive number means that the group does
    better.

    Parameters
    ----------
    y_true, y_pred : array of shape (n,)
        Labels and predicted labels. Any type that can be sorted.
    sensitive_features, notion, desirable
        As in `fairness_coefficients`. Demographic parity may have more than two labels here.

    Returns
    -------
    dict
        Group → F_k. For equalized odds, equality of opportunity and demographic parity the keys are pairs
        (label, sensitive group); for accuracy parity they are the sensitive groups; for accuracy the key is "everyone".

    Raises
    ------
    ValueError
        If an argument is malformed, if a group lacks a label, or if the notion is unknown.

    Notes
    -----
    The mean of |F_k| over the groups is the aggregate of equation (2) of the paper. With two sensitive groups it is a
    fixed part of the usual gaps, independent of the groups' shares. It is half of the gap for demographic parity and
    for accuracy parity. For equalized odds it is half of the mean, over the labels, of the gaps in the labels' true
    rates. For equality of opportunity with two labels it is a quarter of the gap in true positive rates.

    References
    ----------
    Mangold et al. (2023), Examples 1 to 4.

    Examples
    --------
    All predictions are right in group a, half of them in group b, three quarters overall.

    >>> import dpfair_lib as dpf
    >>> y_true, y_pred, group = [1, 0, 1, 0], [1, 0, 0, 0], ["a", "a", "b", "b"]
    >>> dpf.group_fairness(y_true, y_pred, sensitive_features=group, notion="accuracy_parity")
    {'a': 0.25, 'b': -0.25}
    """
    labels, y, levels, a = _codes(y_true, sensitive_features)
    predicted_labels, pred = as_levels(y_pred, "y_pred")
    check_lengths(y_true=y, y_pred=pred)
    if (labels.dtype.kind in "biuf") != (predicted_labels.dtype.kind in "biuf"):
        raise ValueError(
            f"y_pred: found labels such as {predicted_labels.tolist()[0]!r}, expected labels of the type of "
            f"{labels.tolist()[0]!r}"
        )
    everything = np.union1d(labels, predicted_labels)
    # a label that is predicted but never true gets no group of its own; its column only counts in the totals
    columns = np.concatenate([labels, everything[~np.isin(everything, labels)]])
    at = np.argsort(columns)[np.searchsorted(np.sort(columns), predicted_labels)]
    _joint(y, a, labels, levels)
    shape = (len(labels), len(levels), len(columns))
    table = np.bincount(np.ravel_multi_index((y, a, at[pred]), shape), minlength=int(np.prod(shape)))
    values = fairness_levels(table.reshape(shape), notion, desirable_labels(labels, notion, desirable))
    return dict(zip(group_names(labels, levels, notion), values.tolist(), strict=True))


def fairness_levels(table: np.ndarray, notion: str, desirable: Any) -> np.ndarray:
    """Return F_k from the definitions, for tables of counts or probabilities of shape (…, labels, groups, predictions).

    Entries may be `Fraction`; the first predictions are the labels, in the same order. The result has shape (…, K).
    """
    check_notion(notion)
    joint = table.sum(-1)
    correct = np.diagonal(table[..., : table.shape[-3]], axis1=-3, axis2=-1).swapaxes(-1, -2)
    overall = correct.sum((-2, -1)) / joint.sum((-2, -1))
    if notion == "accuracy":
        return np.asarray(overall)[..., None]
    if notion == "accuracy_parity":
        return correct.sum(-2) / joint.sum(-2) - np.asarray(overall)[..., None]
    if notion == "demographic_parity":
        chosen = table[..., : table.shape[-3]].sum(-3).swapaxes(-1, -2)  # (…, prediction, group)
        levels = chosen / joint.sum(-2, keepdims=True)
        levels = levels - chosen.sum(-1, keepdims=True) / joint.sum((-2, -1), keepdims=True)
    else:
        levels = correct / joint - correct.sum(-1, keepdims=True) / joint.sum(-1, keepdims=True)
        if notion == "equal_opportunity":
            levels = levels * np.asarray(desirable)[:, None]
    return levels.reshape(*levels.shape[:-2], -1)


def form_coefficients(joint: np.ndarray, notion: str, desirable: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return C⁰ of shape (…, K) and C of shape (…, K, K), from P(Y, S) of shape (…, labels, groups).

    Entries may be `Fraction`; ``desirable`` has a truth value (0 or 1) for each label.
    """
    check_notion(notion)
    labels, groups = joint.shape[-2:]
    zero = 0 * joint
    if notion == "accuracy":
        constant = zero.sum((-2, -1))
        constant = np.asarray(constant)[..., None]
        return constant, constant[..., None] + 1
    if notion == "accuracy_parity":
        return zero.sum(-2), np.eye(groups, dtype=int) - joint.sum(-2)[..., None, :]
    y, s = (axis.ravel() for axis in np.indices((labels, groups)))
    same_label, same_group = np.equal.outer(y, y).astype(int), np.equal.outer(s, s).astype(int)
    flat = joint.reshape(*joint.shape[:-2], -1)
    if notion == "demographic_parity":
        if labels != 2:
            raise ValueError(f"y_true: found {labels} labels, expected two for demographic parity")
        given_group = joint / joint.sum(-2, keepdims=True)
        constant = joint.sum(-1, keepdims=True) - given_group
        given_group = given_group.reshape(flat.shape)
        sign = 2 * same_label - 1
        return constant.reshape(flat.shape), sign * (
            same_group * given_group[..., None, :] - flat[..., None, :]
        )
    given_label = (joint / joint.sum(-1, keepdims=True)).reshape(flat.shape)
    matrix = same_label * same_group - same_label * given_label[..., None, :]
    if notion == "equal_opportunity":
        matrix = matrix * np.asarray(desirable)[y][:, None]
    return 0 * flat, matrix


def members(notion: str, labels: int, groups: int) -> np.ndarray:
    """Return which cells (label, sensitive group) make up D_k: zeros and ones of shape (K, labels · groups)."""
    check_notion(notion)
    if notion == "accuracy":
        return np.ones((1, labels * groups), dtype=int)
    if notion == "accuracy_parity":
        return np.tile(np.eye(groups, dtype=int), labels)
    return np.eye(labels * groups, dtype=int)


def group_names(labels: Any, levels: Any, notion: str) -> tuple[Any, ...]:
    """Return the names of D_1 … D_K."""
    if notion == "accuracy":
        return ("everyone",)
    if notion == "accuracy_parity":
        return tuple(np.asarray(levels).tolist())
    return tuple(
        (label, level) for label in np.asarray(labels).tolist() for level in np.asarray(levels).tolist()
    )


def desirable_labels(labels: np.ndarray, notion: str, desirable: Any) -> np.ndarray:
    """Return 1 for each desirable label and 0 for the others."""
    if desirable is None:
        chosen = [labels.tolist()[-1]]
    else:
        chosen = list(desirable) if isinstance(desirable, list | tuple | set | np.ndarray) else [desirable]
    if desirable is not None and notion != "equal_opportunity":
        raise ValueError(
            f"desirable: found {desirable!r} with notion={notion!r}, expected None: only notion='equal_opportunity' "
            "takes it"
        )
    unknown = [label for label in chosen if label not in labels.tolist()]
    if unknown or not chosen:
        raise ValueError(f"desirable: found {desirable!r}, expected labels among {labels.tolist()}")
    return np.isin(labels, chosen).astype(int)


def check_notion(notion: str) -> None:
    """Raise unless the notion is one of the five."""
    if notion not in NOTIONS:
        raise ValueError(f"notion: found {notion!r}, expected one of {', '.join(NOTIONS)}")


def _codes(y_true: Any, sensitive_features: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    labels, y = as_levels(y_true, "y_true")
    levels, a = as_groups(sensitive_features)
    check_lengths(y_true=y, sensitive_features=a)
    return labels, y, levels, a


def _joint(y: np.ndarray, a: np.ndarray, labels: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return how many rows have each label and group; all cells must be occupied."""
    joint = np.bincount(y * len(levels) + a, minlength=len(labels) * len(levels))
    joint = joint.reshape(len(labels), len(levels))
    if not joint.all():
        row, column = np.argwhere(joint == 0)[0]
        label, group = labels.tolist()[row], levels.tolist()[column]
        raise ValueError(
            f"sensitive_features: found no row of group {group!r} with label {label!r}, "
            "expected every label in every group"
        )
    return joint
