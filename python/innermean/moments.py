"""Coefficients of regressors that are correlated with the error, by instruments that are not."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from innermean import _arrays, _innermean
from innermean._estimator import codes_of, names_of, said
from innermean.result import Certificate

if TYPE_CHECKING:
    import pandas

__all__ = ["InstrumentalRegressor"]


class InstrumentalRegressor(RegressorMixin, BaseEstimator):
    """A linear regression by instruments: two-stage least squares, or the method of moments.

    Minimises ``u' C^-1 u / 2`` for ``u``, the mean of instruments times residuals. Regressors that
    are not endogenous, and the constant, are instruments too. Without instruments it is least
    squares with robust standard errors.

    Parameters
    ----------
    endogenous
        The columns of X that may be correlated with the error, by name or number; all of them by
        default.
    steps
        1 is two-stage least squares; 2 weights moments by their covariance at the first estimate,
        ``"iterated"`` by that at the estimate itself.
    standard_errors
        ``"robust"``, ``"unadjusted"`` or ``"clustered"``; by default clustered where there are
        clusters, otherwise robust.
    correction
        Whether standard errors are corrected for residuals that are smaller than errors, and
        intervals are Student's.
    intercept
        Whether there is one.
    level
        How often intervals are to hold the truth.
    bootstrap
        Estimates from so many draws of rows or clusters with replacement.
    max_seconds
        Draw no more after so many.
    seed
        Of the draws.

    Attributes
    ----------
    coef_, intercept_
        As scikit-learn's linear regressors have them.
    standard_errors_, intervals_
        Of the coefficients, that of the intercept last.
    answer_
        All that is known: ``first_stage``, the ``j`` test, ``instruments``, ...
    certificate_
        How far the objective is from the lowest.

    Examples
    --------
    >>> import numpy as np, innermean
    >>> rng = np.random.default_rng(0)
    >>> cost, demand = rng.normal(size=(2, 500))
    >>> price = cost + demand + 0.1 * rng.normal(size=500)
    >>> quantity = 10 - 2 * price + demand
    >>> model = innermean.InstrumentalRegressor().fit(price[:, None], quantity, instruments=cost)
    >>> bool(abs(model.coef_[0] + 2) < 0.2)
    True
    """

    def __init__(
        self,
        endogenous: Any = None,
        *,
        steps: int | str = 2,
        standard_errors: str | None = None,
        correction: bool = True,
        intercept: bool = True,
        level: float = 0.95,
        bootstrap: int | None = None,
        max_seconds: float | None = None,
        seed: int = 0,
    ) -> None:
        self.endogenous = endogenous
        self.steps = steps
        self.standard_errors = standard_errors
        self.correction = correction
        self.intercept = intercept
        self.level = level
        self.bootstrap = bootstrap
        self.max_seconds = max_seconds
        self.seed = seed

    def fit(
        self, X: Any, y: Any, instruments: Any = None, clusters: Any = None
    ) -> InstrumentalRegressor:
        """Estimates the coefficients.

        Parameters
        ----------
        X
            A row of regressors for each observation.
        y
            The outcome of each.
        instruments
            A column or a table of instruments that are no regressors.
        clusters
            The cluster of each row: rows of one may depend on each other.
        """
        X, y = validate_data(
            self, X, y, dtype=np.float64, order="C", y_numeric=True, ensure_min_samples=2
        )
        names = names_of(self)
        inside = self._endogenous(names, instruments is not None)
        outside = [k for k in range(len(names)) if k not in inside]
        if self.standard_errors == "clustered" and clusters is None:
            raise ValueError("standard_errors='clustered' needs clusters in fit")
        codes = None if clusters is None else codes_of(clusters, len(X))
        told = _innermean.fit_moments(
            y.astype(np.float64),
            ([names[k] for k in inside], X[:, inside]),
            ([names[k] for k in outside], X[:, outside]),
            _named(instruments, len(X), names),
            said(
                # As many moments as coefficients are all zero, whatever their weights.
                steps="1" if instruments is None else str(self.steps),
                errors=self.standard_errors,
                small_sample=bool(self.correction),
                intercept=bool(self.intercept),
                bootstrap=self.bootstrap,
                level=self.level,
            ),
            int(self.seed),
            clusters=codes,
            max_seconds=self.max_seconds,
        )
        self.answer_ = told["answer"]
        # The endogenous regressors come first there.
        order = np.argsort([*inside, *outside, *([len(names)] if self.intercept else [])])
        theta = told["theta"][order]
        self.coef_ = theta[: len(names)]
        self.intercept_ = float(theta[-1]) if self.intercept else 0.0
        found = self.answer_["standard_errors"]
        self.standard_errors_ = np.array(found["errors"])[order]
        self.intervals_ = np.array(found["intervals"])[order]
        self.certificate_ = Certificate(**self.answer_["certificate"])
        self.objective_ = self.answer_["objective"]
        if told["weak"]:
            warnings.warn(
                f"The instruments say little about {', '.join(told['weak'])}: estimates lean "
                "towards least squares, and intervals are too narrow.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _endogenous(self, names: list[str], has_instruments: bool) -> list[int]:
        """The numbers of the endogenous columns."""
        if self.endogenous is None:
            return list(range(len(names))) if has_instruments else []
        given = self.endogenous
        found = []
        for column in [given] if isinstance(given, (str, int)) else given:
            if isinstance(column, str) and column in names:
                found.append(names.index(column))
            elif not isinstance(column, str) and 0 <= column < len(names):
                found.append(int(column))
            else:
                raise ValueError(
                    f"endogenous: X has no column {column!r}; expected some of {', '.join(names)}"
                )
        if found and not has_instruments:
            raise ValueError("endogenous: needs instruments in fit")
        return found

    def predict(self, X: Any) -> np.ndarray:
        """The outcome that the regressors would cause, without the error."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return X @ self.coef_ + self.intercept_

    def summary(self) -> pandas.DataFrame:
        """A row for each coefficient: the estimate, its standard error and its interval."""
        import pandas

        check_is_fitted(self)
        has_one = self.intercept
        names = [*names_of(self), *(["(intercept)"] if has_one else [])]
        columns = {
            "coefficient": np.append(self.coef_, self.intercept_) if has_one else self.coef_,
            "standard error": self.standard_errors_,
            "from": self.intervals_[:, 0],
            "to": self.intervals_[:, 1],
        }
        return pandas.DataFrame(columns, index=names)


def _named(instruments: Any, rows: int, taken: list[str]) -> tuple[list[str], _arrays.Floats]:
    """Columns of instruments with their names."""
    if instruments is None:
        return [], np.empty((rows, 0))
    table = _arrays.floats(instruments, "instruments")
    table = table.reshape(-1, 1) if table.ndim == 1 else table
    if table.ndim != 2 or len(table) != rows:
        raise ValueError(f"instruments: expected a row for each of {rows}, got {table.shape}")
    columns = getattr(instruments, "columns", None)
    own = getattr(instruments, "name", None)
    if columns is not None and len(columns) == table.shape[1]:
        names = [str(name) for name in columns]
    else:
        names = [own] if isinstance(own, str) else [f"z{k}" for k in range(table.shape[1])]
    twice = set(names) & set(taken)
    if twice:
        raise ValueError(
            f"instruments: {sorted(twice)[0]} is a column of X; a regressor that is an instrument "
            "too is one that endogenous does not name"
        )
    return names, table
