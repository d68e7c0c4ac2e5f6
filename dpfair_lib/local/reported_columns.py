"""Columns of a file that are replaced by reports together, and what all their reports of one person cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpfair_lib.local.frames import LabelError, Missing, as_labels, randomize_frame, uncounted
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.releases import Releases
from dpfair_lib.privacy.budgets.joint_statements import compose
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import sum_above
from dpfair_lib.privacy.sampling import Noise
from dpfair_lib.privacy.statements import PrivacyStatement

SAID_OF_MISSING = {
    "refuse": "",
    "label": "a missing value of {0} is a label of its own, randomised like the others",
    "public": "missing values of {0} are kept as they are, so everybody learns whose {0} is missing: that is counted "
    "as public, and the guarantee is for the other values",
}
TOGETHER = (
    "the values of one person in all these columns may change together; their reports are drawn independently, so "
    "their epsilons add up, whatever the columns have to do with one another; where one column alone changes, its "
    "own epsilon holds"
)


@dataclass(frozen=True, eq=False)
class ReportedColumn:
    """A column of a file that `randomize_columns` replaces by reports.

    Parameters
    ----------
    name : str
        The column.
    randomizer : Randomizer
        The channel. Its values are numbered in the order of the labels.
    labels : sequence of str
        All possible values. They are public and must not be taken from the data.
    missing : {"refuse", "label", "public"}
        What becomes of missing values; see `randomize_frame`.
    terms : mapping
        How the channel was chosen, in plain values; copied into the statement.
    note : str
        What the choice assumes; copied into the statement.

    Raises
    ------
    ValueError
        If the name is empty, or if labels, randomiser and what becomes of missing values do not fit.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.local import ReportedColumn
    >>> channel = dpf.generalized_randomized_response(3, 1.0)
    >>> column = ReportedColumn("group", channel, ["a", "b"], missing="label")
    >>> column.missing, column.randomizer.k
    ('label', 3)
    """

    name: str
    randomizer: Randomizer
    labels: Sequence[Any]
    missing: Missing = "refuse"
    terms: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"column: found {self.name!r}, expected the name of a column")
        if not isinstance(self.randomizer, Randomizer):
            raise ValueError(f"randomizer: found {self.randomizer!r}, expected a Randomizer")
        object.__setattr__(self, "labels", as_labels(self.labels, self.randomizer, self.missing))


def checked(columns: Sequence[ReportedColumn]) -> list[ReportedColumn]:
    """Return columns of different names as a list.

    Raises
    ------
    ValueError
        If there is none, one is something else, or two have one name.
    """
    listed = list(columns) if isinstance(columns, (list, tuple)) else []
    if not listed or not all(isinstance(one, ReportedColumn) for one in listed):
        raise ValueError(f"columns: found {columns!r}, expected a list of ReportedColumn")
    names = [one.name for one in listed]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"columns: found {twice[0]!r} twice, expected each column once")
    return listed


def statement_of(column: ReportedColumn, noise: Noise) -> PrivacyStatement:
    """Return what one report of a column costs, and what is public because values are missing."""
    alone = column.randomizer.privacy_statement(attribute=column.name, noise=noise)
    public = (f"whose {column.name} is missing",) if column.missing == "public" else ()
    said = SAID_OF_MISSING[column.missing].format(column.name)
    return replace(alone, public=(*alone.public, *public), note="; ".join(filter(None, [alone.note, said])))


def joint_statement(
    columns: Sequence[ReportedColumn], statements: Sequence[PrivacyStatement]
) -> PrivacyStatement:
    """Return what the reports of all columns cost one person together.

    Under "local" a person's own input changes, here x = (x₁, …, x_m). The reports are drawn independently, so the
    probability of y is Π Q_j(y_j | x_j). Its ratio under x and x′ is the product of m ratios, each at most e^(ε_j), and
    all of them reach their bound at once where every x_j may change. So ε = Σ ε_j, and no less is true. Where missing
    values are public, neighbouring x miss the same ones; the other factors stay free.
    """
    if len(statements) == 1:
        return statements[0]
    names = ", ".join(column.name for column in columns)
    missing = tuple(f"whose {column.name} is missing" for column in columns if column.missing == "public")
    return replace(
        compose(*statements),
        unit=f"person's values of {names}",
        public=("the channels", "who reports", f"all that is known of a person beside {names}", *missing),
        note="; ".join([TOGETHER, *dict.fromkeys(one.note for one in statements if not one.guarantee)]),
    )


def joint_record(columns: Releases) -> dict[str, Any] | None:
    """Return what is recorded of all releases in a file together; None if they are of one column only.

    Releases without a guarantee have no sum, and None in its place.
    """
    if len(columns) < 2:
        return None
    made = [one for releases in columns.values() for one in releases]
    sound = all(one["statement"]["guarantee"] for one in made)
    earlier = [one["epsilon_with_earlier_reports"] for one in made]
    return {
        "columns": list(columns),
        "relation": "local",
        "epsilon": sum_above([one["statement"]["epsilon"] for one in made]) if sound else None,
        "epsilon_with_earlier_reports": None if None in earlier else sum_above(earlier),
        "text": TOGETHER,
    }


def drawing(columns: Sequence[ReportedColumn], noise: NoiseSource) -> Callable[[Any], Any]:
    """Return the function that replaces the columns in a piece; it counts rows, so that an error names the row."""
    rows = 0

    def draw(piece: Any) -> Any:
        nonlocal rows
        try:
            for one in columns:
                piece = randomize_frame(
                    piece, one.name, one.randomizer, labels=one.labels, missing=one.missing,
                    noise=noise.noise, rng=noise.generator,
                )  # fmt: skip
        except LabelError as error:
            raise error.after(rows) from None
        rows += piece.num_rows
        return piece

    return draw


def cleaning(
    columns: Sequence[ReportedColumn],
) -> Callable[[Mapping[bytes, bytes] | None], dict[bytes, bytes]]:
    """Return the function that takes out of metadata what pandas knew of the columns' values."""

    def cleaned(metadata: Mapping[bytes, bytes] | None) -> dict[bytes, bytes]:
        kept = dict(metadata or {})
        for one in columns:
            kept = uncounted(kept, one.name, missing=one.missing)
        return kept

    return cleaned
