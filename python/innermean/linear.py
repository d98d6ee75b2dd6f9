"""Linear models of rows: numbers, two classes, several."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from innermean import _arrays, _innermean
from innermean._callbacks import with_callbacks
from innermean._estimator import Sure, said, weights_of

__all__ = ["LinearClassifier", "LinearRegressor"]


class _Linear(Sure):
    def _fit(
        self, X: Any, target: Any, classes: list[str], task: str, clusters: Any, **weights: Any
    ) -> Any:
        rows: Any = X
        if _arrays.is_sparse(X):
            data, columns, starts, _ = _arrays.csr(X, "X")
            rows = (starts, columns.astype(np.uint32), data)
        start = getattr(self, "result_", None) if self.warm_start else None
        solver = self._solver(None if start is None else start.theta)
        target = np.ascontiguousarray(target, dtype=np.float64)
        self._run(
            _innermean.fit_linear,
            rows,
            self._names(),
            target,
            classes,
            task,
            solver,
            errors=self._errors(clusters, len(target), weights["weights"]),
            **weights,
        )
        theta = self.result_.theta
        outputs = len(classes) if len(classes) > 2 else 1
        head = outputs * self.n_features_in_
        coefficients = theta[:head].reshape(outputs, self.n_features_in_)
        return coefficients, theta[head:] if self.intercept else np.zeros(outputs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearClassifier(ClassifierMixin, _Linear):
    """Classes from a linear function of features: the mean loss of rows, and norms.

    Minimises ``mean_i loss(y_i, <x_i, coef> + intercept) + l1 |coef|_1 + l2/2 |coef|^2``. The
    intercept is not penalised.

    Parameters
    ----------
    loss
        ``"logistic"``, of two classes or several; ``"squared-hinge"`` and ``"smoothed-hinge"``, of
        two.
    l1, l2
        The weights of the norms.
    hinge_width
        The width of the smoothed hinge.
    intercept
        Whether there is one.
    scaling
        Whether columns of very different size are brought to one scale for the run.
    class_weight
        ``"balanced"``, or a weight for each class.
    method, settings, tolerance, max_outer, max_seconds, seed
        As in :meth:`innermean.Problem.solve`.
    standard_errors
        True for robust standard errors (the sandwich formula), which need a loss without kinks and
        no `l1`; ``"clustered"`` with `clusters` in fit.
    warm_start
        Begin where the last fit ended.

    Attributes
    ----------
    coef_, intercept_
        As scikit-learn's linear classifiers have them.
    classes_
        The classes; of two, scores above 0 speak for the second.
    standard_errors_
        Of coefficients and, last, intercepts; ``conf_int()`` has intervals.
    certificate_
        How far the objective is from the lowest, as far as that is proven.

    Examples
    --------
    >>> import innermean
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
    >>> model = innermean.LinearClassifier(l2=0.1).fit(X, y)
    >>> model.predict([[3.0]])
    array(['yes'], dtype='<U3')
    >>> model.certificate_.proven
    True
    """

    def __init__(
        self,
        loss: str = "logistic",
        *,
        l1: float = 0.0,
        l2: float = 0.0,
        hinge_width: float | None = None,
        intercept: bool = True,
        scaling: bool = True,
        class_weight: Any = None,
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
        self.hinge_width = hinge_width
        self.intercept = intercept
        self.scaling = scaling
        self.class_weight = class_weight
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
        tags.classifier_tags.multi_class = self.loss == "logistic"
        return tags

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, clusters: Any = None
    ) -> LinearClassifier:
        """Finds the coefficients; rows of weight 0 take no part.

        `clusters` has the cluster of each row, where errors depend on each other within one.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            one = classes.tolist()[0]
            raise ValueError(f"y: expected two classes or more, got one class, {one!r}")
        if len(classes) > 2 and self.loss != "logistic":
            kind = type_of_target(y)
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}. "
                "loss='logistic' takes several classes."
            )
        self.classes_ = classes
        given = self.class_weight
        pairs = None
        if isinstance(given, dict):
            others = {name: weight for name, weight in given.items() if name not in classes}
            weights = {name: given.get(name, 1.0) for name in classes.tolist()} | others
            pairs = [(str(name), float(weight)) for name, weight in weights.items()]
        elif given not in (None, "balanced"):
            raise ValueError(f"class_weight: expected 'balanced' or a dict, got {given!r}")
        task = said(
            loss=self.loss,
            hinge_width=self.hinge_width,
            intercept=bool(self.intercept),
            scaling=bool(self.scaling),
            l1=self.l1,
            l2=self.l2,
        )
        self.coef_, self.intercept_ = self._fit(
            X,
            codes,
            [str(name) for name in classes.tolist()],
            task,
            clusters,
            weights=weights_of(sample_weight, X),
            class_weights=pairs,
            balanced=given == "balanced",
        )
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: of two classes one for each row, of several one for each class."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest score."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    @available_if(lambda self: self.loss == "logistic")
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes."""
        from scipy.special import expit, softmax

        scores = self.decision_function(X)
        if scores.ndim > 1:
            return softmax(scores, axis=1)
        return np.column_stack([expit(-scores), expit(scores)])

    @available_if(lambda self: self.loss == "logistic")
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        from scipy.special import log_expit, log_softmax

        scores = self.decision_function(X)
        if scores.ndim > 1:
            return log_softmax(scores, axis=1)
        return np.column_stack([log_expit(-scores), log_expit(scores)])


class LinearRegressor(RegressorMixin, _Linear):
    """Numbers from a linear function of features: the mean loss of rows, and norms.

    Minimises ``mean_i loss(<x_i, coef> + intercept - y_i) + l1 |coef|_1 + l2/2 |coef|^2``. The
    intercept is not penalised.

    Parameters
    ----------
    loss
        ``"square"``, half the square of the error, or ``"huber"``.
    l1, l2
        The weights of the norms.
    huber_width
        Beyond it the Huber loss is linear; by default the median distance of targets from their
        median.
    intercept
        Whether there is one.
    scaling
        Whether columns of very different size are brought to one scale for the run.
    method, settings, tolerance, max_outer, max_seconds, seed
        As in :meth:`innermean.Problem.solve`.
    standard_errors
        True for robust standard errors (the sandwich formula), which need a loss without kinks and
        no `l1`; ``"clustered"`` with `clusters` in fit.
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
    >>> model = innermean.LinearRegressor().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[4.0]]).round(6)
    array([9.])
    """

    def __init__(
        self,
        loss: str = "square",
        *,
        l1: float = 0.0,
        l2: float = 0.0,
        huber_width: float | None = None,
        intercept: bool = True,
        scaling: bool = True,
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
        self.huber_width = huber_width
        self.intercept = intercept
        self.scaling = scaling
        self.method = method
        self.settings = settings
        self.tolerance = tolerance
        self.max_outer = max_outer
        self.max_seconds = max_seconds
        self.seed = seed
        self.standard_errors = standard_errors
        self.warm_start = warm_start

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, clusters: Any = None
    ) -> LinearRegressor:
        """Finds the coefficients; rows of weight 0 take no part.

        `clusters` has the cluster of each row, where errors depend on each other within one.
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", y_numeric=True
        )
        task = said(
            loss=self.loss,
            huber_width=self.huber_width,
            intercept=bool(self.intercept),
            scaling=bool(self.scaling),
            l1=self.l1,
            l2=self.l2,
        )
        weights = weights_of(sample_weight, X)
        coefficients, intercepts = self._fit(X, y, [], task, clusters, weights=weights)
        self.coef_, self.intercept_ = coefficients[0], float(intercepts[0])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The predicted numbers."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        return np.asarray(X @ self.coef_) + self.intercept_
