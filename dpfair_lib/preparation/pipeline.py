"""Preparation and learning in a row, with one privacy statement for all that was computed from the rows.

**Why the costs add up.** Let step 1 release r₁, and let it map each row x to f(x; r₁). For every value r of r₁ the
function D ↦ f(D; r), applied row by row, maps neighbours to neighbours:

* *add-remove*: f(D ∪ {x}; r) = f(D; r) ∪ {f(x; r)}.
* *replace-one*: f(D; r) and f(D′; r) differ in one row, at the same place, if at all.
* *replace-within-group* and *sensitive-attribute*: as before. Labels and groups are arguments of their own, which no
  step maps. So the replaced row keeps its group, or the row whose group changes keeps all else.

So step 2, on f(D; r), costs no more than on D, whatever r was: the steps are an adaptive composition, and their
statements add up. A step that mixes rows breaks this. Centring by the exact mean moves all rows when one is replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar, cast

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import _BaseComposition, available_if
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._arguments import inside_unit, one_of
from dpfair_lib._fitting import declares_statement, whole_or_not_at_all
from dpfair_lib._validation import same_rows
from dpfair_lib.privacy import RELATIONS, PrivacyStatement, compose, convert
from dpfair_lib.privacy.noise_source import check_installed

Method = TypeVar("Method", bound=Callable[..., Any])


def _last_has(method: str) -> Callable[[Method], Method]:
    def has(pipeline: Any) -> bool:
        last = getattr(pipeline, "steps_", pipeline.steps)[-1][1]
        getattr(last, method)  # its AttributeError says what is lacking
        return True

    return cast("Callable[[Method], Method]", available_if(has))


class PrivatePipeline(ClassifierMixin, _BaseComposition):
    """Transformers that map rows one by one, then a learner: fitted in a row, with one privacy statement.

    A step must declare, in its class, that its fit states what it costs: ``privacy_statement_: PrivacyStatement``.
    A step may also say of which relation its statement will be, by a parameter ``relation`` or an attribute
    ``stated_relation``, so that steps of several relations are refused before anything is charged. Each step but the
    last must set ``row_wise = True``, which promises that its `transform` maps each row by
    itself, as a function of the row and of what its fit released. Otherwise one replaced record could change many
    rows of the next step. Steps without these declarations are refused before anything is fitted. Clones of the steps
    are fitted.

    Parameters
    ----------
    steps : list of (name, estimator)
        Transformers, and a learner or another transformer at the end.
    delta : float, optional
        δ in (0, 1) of the whole. The statement then gives the least ε that is known at this δ, since the number of
        steps and their noise are fixed beforehand. None adds ε and δ up.
    to : str, optional
        Relation to which the steps' statements are converted (see `dpfair_lib.privacy.convert`). None requires that all
        steps that cost something have the same.

    Attributes
    ----------
    steps_ : list of (name, estimator)
        The fitted steps.
    classes_ : ndarray
        The labels of the last step, if it has any.
    privacy_statement_ : PrivacyStatement
        What all steps cost together; its parts are the steps' statements. It names all that they take as public.

    Notes
    -----
    The module `dpfair_lib.preparation.pipeline` proves that the costs add up. An open `Budget` is charged by each step
    alone, before its noise is drawn. If it refuses a step, the earlier ones stay charged.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(40, 10, size=(2000, 2))
    >>> y = (X[:, 0] > 40).astype(int)
    >>> model = dpf.PrivatePipeline([
    ...     ("scale", dpf.PrivateScaler({0: (0, 100), 1: (0, 100)}, epsilon=0.25)),
    ...     ("learn", dpf.ObjectivePerturbation(feature_bound=2.0, epsilon=0.75, delta=1e-6)),
    ... ])
    >>> model.fit(X, y).score(X, y) > 0.8
    True
    >>> model.privacy_statement_.epsilon, model.privacy_statement_.relation
    (1.0, 'replace-one')
    """

    privacy_statement_: PrivacyStatement
    steps_: list[tuple[str, Any]]

    def __init__(
        self, steps: list[tuple[str, Any]], *, delta: float | None = None, to: str | None = None
    ) -> None:
        self.steps = steps
        self.delta = delta
        self.to = to

    @property
    def row_wise(self) -> bool:
        """Whether the pipeline may be a step that another one follows."""
        return all(getattr(step, "row_wise", False) is True for _, step in self.steps)

    @property
    def stated_relation(self) -> str:
        """Which data sets are neighbours in the statement, as far as the steps say it before they are fitted."""
        return self.to or next(filter(None, (stated_relation(step) for _, step in self.steps)), "")

    @property
    def named_steps(self) -> Any:
        """The steps by name: the fitted ones after `fit`."""
        return Bunch(**dict(getattr(self, "steps_", self.steps)))

    @property
    def classes_(self) -> Any:
        """The labels of the last step."""
        return self._fitted()[-1][1].classes_

    @property
    def n_features_in_(self) -> int:
        """How many columns the first step was fitted on."""
        return int(self._fitted()[0][1].n_features_in_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns that the first step was fitted on, if they had any."""
        return np.asarray(self._fitted()[0][1].feature_names_in_)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and those of each step as ``step__parameter``."""
        return dict(self._get_params("steps", deep=deep))

    def set_params(self, **params: Any) -> Self:
        """Set parameters, a step by its name, or a step's parameters as ``step__parameter``."""
        self._set_params("steps", **params)
        return self

    @whole_or_not_at_all
    def fit(self, /, X: Any, y: Any = None, **last: Any) -> Self:
        """Fit the steps in a row, each on what the steps before it make of the rows.

        Parameters
        ----------
        X : DataFrame or array of shape (n, d)
            Rows.
        y : array of shape (n,), optional
            Labels.
        **last
            Further arguments of the last step's fit, such as ``sensitive_features``. No step changes them.

        Returns
        -------
        PrivatePipeline
            The fitted pipeline itself.

        Raises
        ------
        ValueError
            If a step does not declare what it must, or its fit leaves no statement; if statements speak of several
            relations and ``to`` is not given; if ``delta`` is too small for the parts; whatever else a step raises.
        """
        self._check()
        found, statements = X, []
        self.steps_ = []
        for at, (name, step) in enumerate(self.steps):
            ends = at == len(self.steps) - 1
            fitted = clone(step).fit(found, y, **(last if ends else {}))
            statements.append(_statement_of(name, fitted))
            self.steps_.append((name, fitted))
            found = found if ends else fitted.transform(found)
        self.privacy_statement_ = self._composed(statements)
        return self

    def _check(self) -> None:
        steps = self.steps
        if not isinstance(steps, list | tuple) or not steps or not all(_is_step(step) for step in steps):
            raise ValueError(f"steps: found {steps!r}, expected a list of (name, estimator)")
        names = [name for name, _ in steps]
        if len(set(names)) < len(names) or any(
            "__" in name or name in ("steps", "delta", "to") for name in names
        ):
            raise ValueError(
                f"steps: found the names {names}, expected distinct ones without '__', and none of steps, delta, to"
            )
        for at, (name, step) in enumerate(steps):
            if not declares_statement(step):
                raise ValueError(
                    f"steps: found {name!r}, a {type(step).__name__}, which does not declare privacy_statement_, "
                    "expected a step whose fit states what it costs"
                )
            if at < len(steps) - 1 and not (
                getattr(step, "row_wise", False) is True and hasattr(step, "transform")
            ):
                raise ValueError(
                    f"steps: found {name!r}, a {type(step).__name__}, before another step, expected a transformer with "
                    "row_wise = True: one that mixes rows would let one record change many rows of the next step"
                )
            check_installed(step)  # here, so that no step before it looks at a row
            if isinstance(step, PrivatePipeline):
                step._check()
        # what steps say of themselves, so that no step is fitted and charged in vain; the rest shows in the statements
        if self.delta is not None:
            inside_unit(self.delta, "delta")
        relations = {relation: name for name, step in steps if (relation := stated_relation(step))}
        self._check_relations(relations)
        if self.to is not None:
            one_of(self.to, "to", RELATIONS)
            for relation in relations:
                convert(PrivacyStatement(1.0, 0.0, relation), self.to)

    def _composed(self, statements: list[PrivacyStatement]) -> PrivacyStatement:
        self._check_relations({
            statement.relation: name
            for (name, _), statement in zip(self.steps, statements, strict=True)
            if not statement.free
        })  # fmt: skip
        return compose(*statements, to=self.to, delta=self.delta)

    def _check_relations(self, relations: dict[str, str]) -> None:
        if self.to is None and len(relations) > 1:
            found = ", ".join(f"{relation!r} ({name})" for relation, name in relations.items())
            raise ValueError(
                f"steps: found the relations {found}, expected one; set the steps' own relation, or convert their "
                "statements with to=, which raises ε if it is to='replace-one' and one of them speaks of 'add-remove'"
            )

    def _fitted(self) -> list[tuple[str, Any]]:
        check_is_fitted(self, "privacy_statement_")
        return self.steps_

    def _prepared(self, X: Any) -> tuple[Any, Any]:
        steps = self._fitted()
        for _, step in steps[:-1]:
            X = step.transform(X)
        return steps[-1][1], X

    @_last_has("transform")
    def transform(self, X: Any) -> Any:
        """Return the rows as the last step maps them."""
        last, prepared = self._prepared(X)
        return last.transform(prepared)

    @_last_has("predict")
    def predict(self, X: Any, **last: Any) -> Any:
        """Return the last step's predictions; further arguments are its own."""
        step, prepared = self._prepared(X)
        return step.predict(prepared, **last)

    @_last_has("predict_proba")
    def predict_proba(self, X: Any, **last: Any) -> Any:
        """Return the last step's probabilities; further arguments are its own."""
        step, prepared = self._prepared(X)
        return step.predict_proba(prepared, **last)

    @_last_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the last step's scores."""
        step, prepared = self._prepared(X)
        return step.decision_function(prepared)

    @_last_has("score")
    @same_rows
    def score(self, X: Any, y: Any, **last: Any) -> float:
        """Return the last step's score, the accuracy for classifiers."""
        step, prepared = self._prepared(X)
        return float(step.score(prepared, y, **last))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def stated_relation(estimator: Any) -> str:
    """Return the relation that the statement of a fit will have, by parameter or class; nothing where neither says."""
    for name in ("relation", "stated_relation"):
        if isinstance(said := getattr(estimator, name, None), str):
            return said
    return ""


def _is_step(step: Any) -> bool:
    return (
        isinstance(step, list | tuple)
        and len(step) == 2
        and isinstance(step[0], str)
        and hasattr(step[1], "fit")
    )


def _statement_of(name: str, fitted: Any) -> PrivacyStatement:
    statement = getattr(fitted, "privacy_statement_", None)
    if not isinstance(statement, PrivacyStatement):
        raise ValueError(
            f"steps: found {statement!r} as the statement of {name!r}, expected a PrivacyStatement"
        )
    return statement
