"""Arrays of every kind, and those that are refused."""

import os

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse

import innermean
from innermean import phi, problems

N, D = 30, 3
X = np.random.default_rng(1).normal(size=(N, D))
NAMES = ["a", "b", "c"]
THETA = np.array([0.3, -0.2, 0.5])


@pytest.mark.parametrize(
    "same",
    [
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        X.tolist(),
        X.astype(">f8"),
        pandas.DataFrame(X, columns=NAMES),
        polars.DataFrame(X, schema=NAMES),
        pyarrow.table({name: X[:, k] for k, name in enumerate(NAMES)}),
    ],
    ids=["F order", "strides", "list", "big endian", "pandas", "polars", "arrow"],
)
def test_the_same_numbers_have_the_same_bits(same):
    expected, found = (problems.portfolio(rows, phi.square()).solve() for rows in (X, same))
    assert found.theta.tobytes() == expected.theta.tobytes()


def test_arrays_in_order_are_not_copied():
    rows = X.copy()
    problem = problems.linear(rows, phi.square())
    before = problem.objective(THETA)
    rows *= 2.0
    assert problem.objective(THETA) == pytest.approx(4 * before)


def test_float32_and_integers():
    for dtype in (np.float32, np.int8, bool):
        rows = (3 * X).astype(dtype)
        found = problems.linear(rows, phi.square()).objective(THETA)
        assert found == problems.linear(rows.astype(float), phi.square()).objective(THETA)


@pytest.mark.parametrize("kind", ["csr_array", "csc_matrix", "coo_array"])
def test_sparse_is_dense(kind):
    dense = np.where(np.abs(X) < 0.8, 0.0, X)
    y = X[:, 0]
    sparse = problems.linear(getattr(scipy.sparse, kind)(dense), phi.square(), y=y)
    expected = problems.linear(dense, phi.square(), y=y)
    np.testing.assert_allclose(sparse.gradient(THETA), expected.gradient(THETA), rtol=1e-12)
    np.testing.assert_allclose(sparse.solve().theta, expected.solve().theta, rtol=1e-5, atol=1e-7)


def test_sparse_with_entries_in_parts():
    parts = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), (2, 2))
    found = problems.linear(parts, phi.square()).means(np.ones(2))
    np.testing.assert_array_equal(found, [3.0, 4.0])


def with_nan():
    rows = X.copy()
    rows[4, 1] = np.nan
    return rows


def own(**data):
    return innermean.batched(lambda t, x, y: y @ t, lambda t, x, y, w: w @ y, d=D, **data)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: problems.portfolio(with_nan(), phi.square()), r"returns: nan at \[4, 1\]"),
        (lambda: problems.linear(with_nan(), phi.square()), r"X: nan at \[4, 1\]"),
        (lambda: problems.linear(scipy.sparse.csr_array(with_nan()), phi.square()), "X: nan"),
        (lambda: problems.linear(X, phi.square(), y=np.zeros(N - 1)), "y: expected length 30"),
        (lambda: problems.linear(X, phi.square(), y=np.full(N, np.inf)), r"y: inf at \[0\]"),
        (lambda: problems.linear(X[0], phi.square()), "X: expected an array of two axes"),
        (lambda: problems.linear(X + 1j, phi.square()), "X: expected numbers, got complex128"),
        (lambda: problems.linear([["a"]], phi.square()), "X: expected numbers"),
        (lambda: problems.portfolio(scipy.sparse.csr_array(X), phi.square()), "returns: .*dense"),
        (lambda: problems.linear(X, phi.logistic(np.ones(N + 1))), "phi.*30 terms, got 31"),
        (lambda: innermean.Problem(own(y=X), phi.logistic(np.ones(7))), "phi.*30 terms, got 7"),
        (lambda: problems.groups(X, np.arange(N - 1), phi.square()), "groups: expected length 30"),
        (lambda: problems.groups(X, 2 * np.arange(N), phi.square()), "groups: group 1 has no rows"),
        (lambda: problems.groups(X, np.full(N, 0.5), phi.square()), "groups: expected whole"),
        (lambda: problems.groups(X, np.full(N, -1), phi.square()), "groups: expected numbers of"),
        (lambda: problems.groups(X, np.arange(N), phi.square(), link="probit"), "link: .*'probit'"),
        (lambda: problems.groups(X, np.arange(N), phi.square(), targets=[1.0]), "targets: exp"),
        (lambda: own(y=with_nan()), r"y: nan at \[4, 1\]"),
        (lambda: own(y=X, x=np.zeros(N - 1)), "x: expected length 30, got 29"),
        (lambda: problems.linear(X, phi.square()).solve(start=[0, 0]), "start: expected length 3"),
        (lambda: problems.linear(X, phi.square()).objective([np.nan] * 3), r"theta: nan at \[0\]"),
        (lambda: problems.linear(np.zeros((0, 3)), phi.square()), "X: expected at least one row"),
        (lambda: problems.linear(scipy.sparse.csr_array((0, 3)), phi.square()), "X: expected at"),
        (lambda: problems.portfolio(np.zeros((3, 0)), phi.square()), "returns: expected at least"),
        (lambda: own(y=[]), "y: .*at least one row"),
    ],
)
def test_refused_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_large_finite_numbers_are_no_mistake():
    rows = np.full((4, 2), 1e308)
    problems.linear(rows, phi.absolute())


MANY_ROWS = """
import numpy as np
from innermean import LinearRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((1 << 18, 64))
X += np.linspace(-2.0, 2.0, 64)
y = X @ np.linspace(-1.0, 1.0, 64) + 3.0 + rng.standard_normal(len(X))
weights = np.ones(len(X))
weights[::7] = 0.0

def megabytes(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1e3

LinearRegressor(l2=0.1).fit(X[:100], y[:100])
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = megabytes("VmRSS")
model = LinearRegressor(l2=0.1).fit(X, y)
assert megabytes("VmHWM") - before < 60, megabytes("VmHWM") - before
wide = np.column_stack([X, np.ones(len(X))])
for model, of in ((model, np.ones(len(X))), (LinearRegressor(l2=0.1), weights)):
    model.fit(X, y, sample_weight=of)
    assert "read once" in model.result_.notes[0] and model.certificate_.proven
    gram = wide.T @ (wide * of[:, None]) / of.sum() + 0.1 * np.diag([1.0] * 64 + [0.0])
    expected = np.linalg.solve(gram, wide.T @ (of * y) / of.sum())
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), expected, atol=1e-6)
    assert abs(model.answer_["r_squared"] - model.score(X, y, of)) < 1e-6
print("done")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="no /proc")
def test_many_rows_are_read_where_they_are(apart):
    assert apart(MANY_ROWS) == "done"
