"""Models of single rows from labels that are known for groups of rows alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from innermean import _arrays, _innermean
from innermean._callbacks import with_callbacks
from innermean._estimator import Sure, said, weights_of

__all__ = ["BagClassifier", "BagRegressor"]


class Grouped:
    """Rows by group: averages of whatever the rows have."""

    def __init__(self, groups: Any, rows: int, weights: Any = None) -> None:
        self.are_rows = groups is None
        values = np.arange(rows) if groups is None else _arrays.as_numpy(groups)
        if values.ndim != 1 or len(values) != rows:
            raise ValueError(
                f"groups: expected the group of each of {rows} rows, got shape {values.shape}"
            )
        names, first, codes = np.unique(values, return_index=True, return_inverse=True)
        # In the order in which they appear, as the command line has them.
        order = np.argsort(first)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        self.names = [str(name) for name in names[order].tolist()]
        self.codes = place[codes].astype(np.uint32)
        self.first = first[order]
        self.weights = np.ones(rows) if weights is None else weights

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The weighted sum of each group."""
        return np.bincount(self.codes, self.weights * values, len(self.names))

    def means(self, values: np.ndarray) -> np.ndarray:
        """The weighted mean of each group: the number itself where all rows have the same."""
        means = self.sums(values) / self.sums(np.ones(len(values)))
        own = values[self.first]
        differs = np.bincount(self.codes, values != own[self.codes], len(self.names)) > 0
        return np.where(differs, means, own)


class _Bags(Sure):
    def _fit(self, X: Any, grouped: Grouped, labels: Any, names: list[str], link: str) -> Any:
        if self.group_weight not in ("equal", "size"):
            raise ValueError(
                f"group_weight: expected 'equal' or 'size', got {self.group_weight!r}"
            )
        task = said(
            link=link,
            loss=self.loss,
            intercept=bool(self.intercept),
            scaling=bool(self.scaling),
            l1=self.l1,
            l2=self.l2,
        )
        start = getattr(self, "result_", None) if self.warm_start else None
        unweighted = (grouped.weights == 1).all()
        self._run(
            _innermean.fit_bags,
            X,
            self._names(),
            grouped.codes,
            grouped.names,
            np.ascontiguousarray(labels, dtype=np.float64).ravel(),
            names,
            task,
            self._solver(None if start is None else start.theta),
            weights=None if unweighted else grouped.weights,
            # A row that is a group of its own counts by its weight, as counts do anyway.
            by_size=(grouped.are_rows and link != "exp") or self.group_weight == "size",
            errors=self._errors(None, len(X)),
        )
        theta = self.result_.theta
        outputs = len(names)
        head = outputs * self.n_features_in_
        coefficients = theta[:head].reshape(outputs, self.n_features_in_)
        return coefficients, theta[head:] if self.intercept else np.zeros(outputs)

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return X @ np.atleast_2d(self.coef_).T + self.intercept_


def _taking_part(X: Any, y: Any, groups: Any, sample_weight: Any) -> Any:
    """Rows of weight 0 take no part."""
    weights = weights_of(sample_weight, X)
    if weights is None or (weights > 0).all():
        return X, y, Grouped(groups, len(X), weights)
    taken = weights > 0
    if groups is not None:
        groups = _arrays.as_numpy(groups)[taken]
    return np.ascontiguousarray(X[taken]), y[taken], Grouped(groups, taken.sum(), weights[taken])


class BagClassifier(ClassifierMixin, _Bags):
    """Classes of rows from the shares of classes in groups of rows.

    The label of a group is the mean of ``y`` over its rows. What is fitted are averages: the
    mean loss of the groups' averages of probabilities against their labels, and norms. Without
    groups each row is one.

    Parameters
    ----------
    loss
        ``"cross-entropy"`` or, of two classes, ``"square"``.
    l1, l2
        The weights of the norms of the coefficients; the intercept is not penalised.
    intercept
        Whether there is one.
    scaling
        Whether columns of very different size are brought to one scale for the run.
    group_weight
        ``"equal"``, or ``"size"``: groups count by the weights of their rows.
    method, settings, tolerance, max_outer, max_seconds, seed
        As in :meth:`innermean.Problem.solve`.
    standard_errors
        True for robust standard errors (the sandwich formula), which need a loss without kinks and
        no `l1`: groups are independent.
    warm_start
        Begin where the last fit ended.

    Attributes
    ----------
    coef_, intercept_, classes_
        As scikit-learn's linear classifiers have them.
    standard_errors_
        Of coefficients and, last, intercepts; ``conf_int()`` has intervals.
    certificate_
        How far the objective is from the lowest, as far as that is proven.

    Examples
    --------
    >>> import innermean
    >>> X = [[-2.0], [-1.0], [0.0], [1.0], [0.5], [3.0]]
    >>> share, precinct = [0.2, 0.2, 0.5, 0.5, 0.8, 0.8], ["a", "a", "b", "b", "c", "c"]
    >>> model = innermean.BagClassifier(l2=0.01).fit(X, share, groups=precinct)
    >>> model.predict([[-3.0], [3.0]])
    array([0, 1])
    """

    def __init__(
        self,
        loss: str | None = None,
        *,
        l1: float = 0.0,
        l2: float = 0.0,
        intercept: bool = True,
        scaling: bool = True,
        group_weight: str = "equal",
        method: str = "auto",
        settings: dict[str, Any] | None = None,
        tolerance: float | None = 1e-9,
        max_outer: int | None = 10_000,
        max_seconds: float | None = None,
        seed: int = 0,
        standard_errors: bool | str = False,
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.l1 = l1
        self.l2 = l2
        self.intercept = intercept
        self.scaling = scaling
        self.group_weight = group_weight
        self.method = method
        self.settings = settings
        self.tolerance = tolerance
        self.max_outer = max_outer
        self.max_seconds = max_seconds
        self.seed = seed
        self.standard_errors = standard_errors
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.loss != "square"
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> BagClassifier:
        """Finds the coefficients.

        Parameters
        ----------
        X
            A row for each member of a group.
        y
            The class of each row; or, with groups, the share of the second class, or a column of
            shares for each class, which may be those of the row's group.
        sample_weight
            What each row counts in the averages of its group.
        groups
            The group of each row.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", multi_output=True)
        if y.ndim == 2 and (y.shape[1] == 1 or groups is None):
            X, y = check_X_y(X, y)  # a column, with scikit-learn's word on it
        X, y, grouped = _taking_part(X, y, groups, sample_weight)
        shares = self._shares(y, grouped)
        labels = np.column_stack([grouped.means(column) for column in shares.T])
        several = len(self.classes_) > 2
        names = [str(name) for name in self.classes_.tolist()] if several else ["label"]
        link = "softmax" if several else "logistic"
        self.coef_, self.intercept_ = self._fit(X, grouped, labels, names, link)
        return self

    def _shares(self, y: np.ndarray, grouped: Grouped) -> np.ndarray:
        """For each row the share of each class, of two that of the second."""
        is_share = y.ndim == 2 or type_of_target(y).startswith("continuous")
        if is_share and not grouped.are_rows:
            shares = y.reshape(len(y), -1).astype(np.float64)
            self.classes_ = np.arange(max(2, shares.shape[1]))
            if shares.min() < 0 or shares.max() > 1:
                raise ValueError("y: expected shares from 0 to 1, or classes")
            return shares[:, 1:] if shares.shape[1] == 2 else shares
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y: expected two classes or more, got one class, {self.classes_.tolist()[0]!r}"
            )
        if len(self.classes_) > 2 and self.loss == "square":
            kind = type_of_target(y)
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}. "
                "loss='cross-entropy' takes several classes."
            )
        if len(self.classes_) == 2:
            return codes.astype(np.float64)[:, None]
        return np.eye(len(self.classes_))[codes]

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: of two classes one for each row, of several one for each class."""
        scores = self._scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes."""
        from scipy.special import expit, softmax

        scores = self.decision_function(X)
        if scores.ndim > 1:
            return softmax(scores, axis=1)
        return np.column_stack([expit(-scores), expit(scores)])

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        """The accuracy of rows; with groups, 1 less the mean error of their averages."""
        if groups is None:
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        probabilities = self.predict_proba(X)
        grouped = Grouped(groups, len(probabilities), weights_of(sample_weight, probabilities))
        y = _arrays.as_numpy(y)
        if y.ndim == 2:
            shares = y
        elif np.isin(y, self.classes_).all():
            shares = (y[:, None] == self.classes_).astype(np.float64)
        else:
            shares = np.column_stack([1 - y, y])
        errors = [
            np.abs(grouped.means(p) - grouped.means(share)).mean()
            for p, share in zip(probabilities.T, shares.T)
        ]
        return 1 - float(np.mean(errors))


class BagRegressor(RegressorMixin, _Bags):
    """Numbers of rows from the means or sums of numbers in groups of rows.

    With ``link="identity"`` the label of a group is the mean of ``y`` over its rows; with
    ``link="exp"`` it is their sum, of counts. Without groups each row is one.

    Parameters
    ----------
    link
        ``"identity"``, or ``"exp"``: an expected count, e to the score, fitted by half the
        deviance of the groups' counts.
    loss
        That of the link: ``"square"`` or ``"poisson"``.
    l1, l2
        The weights of the norms of the coefficients; the intercept is not penalised.
    intercept
        Whether there is one.
    scaling
        Whether columns of very different size are brought to one scale for the run.
    group_weight
        ``"equal"``, or ``"size"``: groups count by the weights of their rows.
    method, settings, tolerance, max_outer, max_seconds, seed
        As in :meth:`innermean.Problem.solve`.
    standard_errors
        True for robust standard errors (the sandwich formula), which need a loss without kinks and
        no `l1`: groups are independent.
    warm_start
        Begin where the last fit ended.

    Attributes
    ----------
    coef_, intercept_
        As scikit-learn's linear regressors have them.
    standard_errors_
        Of coefficients and, last, intercepts; ``conf_int()`` has intervals.
    certificate_
        How far the objective is from the lowest, as far as that is proven.

    Examples
    --------
    >>> import innermean
    >>> X, mean = [[0.0], [2.0], [2.0], [4.0]], [1.0, 1.0, 3.0, 3.0]
    >>> model = innermean.BagRegressor().fit(X, mean, groups=["a", "a", "b", "b"])
    >>> model.predict([[5.0]]).round(6)
    array([5.])
    """

    def __init__(
        self,
        link: str = "identity",
        *,
        loss: str | None = None,
        l1: float = 0.0,
        l2: float = 0.0,
        intercept: bool = True,
        scaling: bool = True,
        group_weight: str = "equal",
        method: str = "auto",
        settings: dict[str, Any] | None = None,
        tolerance: float | None = 1e-9,
        max_outer: int | None = 10_000,
        max_seconds: float | None = None,
        seed: int = 0,
        standard_errors: bool | str = False,
        warm_start: bool = False,
    ) -> None:
        self.link = link
        self.loss = loss
        self.l1 = l1
        self.l2 = l2
        self.intercept = intercept
        self.scaling = scaling
        self.group_weight = group_weight
        self.method = method
        self.settings = settings
        self.tolerance = tolerance
        self.max_outer = max_outer
        self.max_seconds = max_seconds
        self.seed = seed
        self.standard_errors = standard_errors
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.link == "exp"
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> BagRegressor:
        """Finds the coefficients.

        Parameters
        ----------
        X
            A row for each member of a group.
        y
            The number of each row, which may be the mean of its group.
        sample_weight
            What each row counts in the averages of its group.
        groups
            The group of each row.
        """
        if self.link not in ("identity", "exp"):
            raise ValueError(f"link: expected 'identity' or 'exp', got {self.link!r}")
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        X, y, grouped = _taking_part(X, y.astype(np.float64), groups, sample_weight)
        labels = grouped.means(y) if self.link == "identity" else grouped.sums(y)
        coefficients, intercepts = self._fit(X, grouped, labels, ["label"], self.link)
        self.coef_, self.intercept_ = coefficients[0], float(intercepts[0])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The predicted number of each row."""
        scores = self._scores(X).ravel()
        return scores if self.link == "identity" else np.exp(scores)

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        """R squared of rows; with groups, of their means."""
        found, y = self.predict(X), _arrays.as_numpy(y)
        if groups is None:
            return float(r2_score(y, found, sample_weight=sample_weight))
        grouped = Grouped(groups, len(found), weights_of(sample_weight, found))
        return float(r2_score(grouped.means(y), grouped.means(found)))
