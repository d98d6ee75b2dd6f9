"""Standard errors of linear models and of models of groups."""

import warnings

import numpy as np
import pytest
from estimators import TO_ROUNDING, command
from scipy.stats import t
from sklearn.exceptions import ConvergenceWarning

from innermean import BagClassifier, LinearClassifier, LinearRegressor


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(200, 2))
    return X, 1 + X @ [2.0, -1.0] + (0.2 + X[:, 0] ** 2) * rng.normal(size=200)


def wide(X):
    return np.column_stack([X, np.ones(len(X))])


def test_least_squares_by_the_formula_of_white(numbers):
    X, y = numbers
    line = LinearRegressor(standard_errors=True).fit(X, y)
    A, n = wide(X), len(y)
    left = y - line.predict(X)
    bread = np.linalg.inv(A.T @ A)
    meat = (A * (left**2)[:, None]).T @ A
    expected = np.sqrt(np.diag(bread @ meat @ bread) * n / (n - 3))
    np.testing.assert_allclose(line.standard_errors_, expected, rtol=1e-6)
    assert line.degrees_of_freedom_ == n - 3
    reach = t.ppf(0.95, n - 3) * expected
    theta = np.append(line.coef_, line.intercept_)
    np.testing.assert_allclose(
        line.conf_int(0.9), np.column_stack([theta - reach, theta + reach]), rtol=1e-5
    )


def test_clusters(numbers):
    X, y = numbers
    clusters = np.repeat([f"c{k}" for k in range(20)], 10)
    line = LinearRegressor(standard_errors="clustered").fit(X, y, clusters=clusters)
    A, n = wide(X), len(y)
    left = y - line.predict(X)
    bread = np.linalg.inv(A.T @ A)
    sums = (A * left[:, None]).reshape(20, 10, 3).sum(axis=1)
    factor = 20 / 19 * (n - 1) / (n - 3)
    expected = np.sqrt(np.diag(bread @ (sums.T @ sums) @ bread) * factor)
    np.testing.assert_allclose(line.standard_errors_, expected, rtol=1e-6)
    # A row of weight 0 takes no part, and neither does its cluster's number.
    weights = np.ones(n)
    weights[:3] = 0
    some = LinearRegressor(standard_errors="clustered")
    some.fit(X, y, sample_weight=weights, clusters=clusters)
    rest = LinearRegressor(standard_errors="clustered")
    rest.fit(X[3:], y[3:], clusters=clusters[3:])
    np.testing.assert_allclose(some.standard_errors_, rest.standard_errors_, rtol=1e-7)


def test_the_same_as_on_the_command_line(numbers, tmp_path):
    X, y = numbers
    said = np.where(y > y.mean(), "up", "down")
    ours = LinearClassifier(l2=0.1, standard_errors=True, tolerance=1e-14).fit(X, said)
    table = {"a": X[:, 0], "b": X[:, 1], "y": said}
    flags = ["--target", "y", "--loss", "logistic", "--l2", 0.1, "--standard-errors", *TO_ROUNDING]
    theirs = command(tmp_path, "linear", "rows", *flags, rows=table)["inference"]
    theirs = theirs["standard_errors"]
    np.testing.assert_array_equal(ours.standard_errors_, theirs["errors"])
    # Student's quantile is scipy's here.
    np.testing.assert_allclose(ours.conf_int(), theirs["intervals"], rtol=1e-12)


def test_groups_and_several_classes(rng):
    X = rng.normal(size=(300, 2))
    groups = np.repeat(np.arange(60), 5)
    y = (X[:, 0] + 0.3 * rng.normal(size=300) > 0).astype(int)
    bags = BagClassifier(l2=0.01, standard_errors=True).fit(X, y, groups=groups)
    assert bags.standard_errors_.shape == (3,) and (bags.standard_errors_ > 0).all()
    lo, hi = bags.conf_int()[0]
    assert lo < bags.coef_[0, 0] < hi
    three = LinearClassifier(l2=0.01, standard_errors=True).fit(X, y + (X[:, 1] > 1))
    assert three.conf_int().shape == (9, 2) and (three.standard_errors_ > 0).all()


def test_what_has_none_says_so(numbers):
    X, y = numbers
    with pytest.raises(ValueError, match="l1"):
        LinearRegressor(l1=0.1, standard_errors=True).fit(X, y)
    with pytest.raises(ValueError, match="needs clusters in fit"):
        LinearRegressor(standard_errors="clustered").fit(X, y)
    with pytest.raises(ValueError, match="without standard_errors='clustered'"):
        LinearRegressor().fit(X, y, clusters=np.arange(200))
    with pytest.raises(ValueError, match="expected True, False or 'clustered'"):
        LinearRegressor(standard_errors="white").fit(X, y)
    with pytest.raises(ValueError, match="needs standard_errors=True before fit"):
        LinearRegressor().fit(X, y).conf_int()
    with pytest.raises(ValueError, match="between 0 and 1"):
        LinearRegressor(standard_errors=True).fit(X, y).conf_int(95)
    stopped = LinearClassifier(standard_errors=True, max_outer=1, method="gd")
    with pytest.warns(ConvergenceWarning) as seen:
        stopped.fit(X, y > 0)
    assert any("There are no standard errors" in str(each.message) for each in seen)
    assert np.isnan(stopped.standard_errors_).all() and np.isnan(stopped.conf_int()).all()
    # A fit without them does not keep those of the one before.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = stopped.set_params(standard_errors=False, max_outer=1000, method="auto", l2=0.1)
        assert not hasattr(again.fit(X, y > 0), "standard_errors_")
