"""Instrumental variables: scikit-learn's checks, the command line's bits, closed forms."""

import pickle

import numpy as np
import pandas
import pytest
from estimators import command, failures
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

from innermean import InstrumentalRegressor


@pytest.fixture
def market(rng):
    n = 400
    cost, tax, income, demand = rng.normal(size=(4, n))
    price = 1.0 + cost + 0.5 * tax + demand + 0.2 * rng.normal(size=n)
    quantity = 10.0 - 2.0 * price + 0.7 * income + demand
    town = np.arange(n) % 40
    frame = pandas.DataFrame({"income": income, "price": price})
    return frame, quantity, pandas.DataFrame({"cost": cost, "tax": tax}), town


def two_stages(X, y, Z):
    """`(X' P X)^-1 X' P y` for P, the projection on the instruments."""
    fitted = Z @ np.linalg.lstsq(Z, X, rcond=None)[0]
    return np.linalg.solve(fitted.T @ X, fitted.T @ y)


def test_it_passes_the_checks():
    assert failures(InstrumentalRegressor()) == []
    assert failures(InstrumentalRegressor(steps=1, intercept=False)) == []


def test_two_stages_are_the_closed_form(market):
    frame, y, instruments, _ = market
    model = InstrumentalRegressor("price", steps=1).fit(frame, y, instruments=instruments)
    one = np.ones((len(y), 1))
    X = np.column_stack([frame, one])
    Z = np.column_stack([instruments, frame["income"], one])
    expected = two_stages(X, y, Z)
    np.testing.assert_allclose([*model.coef_, model.intercept_], expected, rtol=1e-9)
    np.testing.assert_allclose(model.predict(frame), X @ expected)
    # Least squares leans to the side; instruments do not.
    assert abs(LinearRegression().fit(frame, y).coef_[1] + 2) > 0.2
    assert abs(model.coef_[1] + 2) < 0.1
    low, high = model.intervals_[1]
    assert low < -2 < high
    assert model.certificate_.proven and model.answer_["j"]["degrees_of_freedom"] == 1


@pytest.mark.parametrize("steps", [1, 2, "iterated"])
@pytest.mark.parametrize("clustered", [False, True])
def test_the_same_bits_as_the_command_line(steps, clustered, market, tmp_path):
    frame, y, instruments, town = market
    model = InstrumentalRegressor(["price"], steps=steps, bootstrap=20, seed=4)
    model.fit(frame, y, instruments=instruments, clusters=town if clustered else None)
    table = {name: frame[name] for name in frame} | {name: instruments[name] for name in instruments}
    words = ["--outcome", "quantity", "--regressors", "price", "--exogenous", "income"]
    words += ["--instruments", "cost,tax", "--steps", steps, "--bootstrap", 20, "--seed", 4]
    words += ["--cluster", "town"] if clustered else []
    rows = table | {"quantity": y, "town": town}
    document = command(tmp_path, "moments", "rows", *words, rows=rows)
    shared = model.answer_.keys() & document.keys()
    assert {"estimates", "standard_errors", "bootstrap", "j", "first_stage"} <= shared
    for name in shared:
        assert model.answer_[name] == document[name], name
    price, income, one = document["theta"]
    assert [*model.coef_, model.intercept_] == [income, price, one]
    errors = document["standard_errors"]["errors"]
    np.testing.assert_array_equal(model.standard_errors_, np.array(errors)[[1, 0, 2]])


def test_without_instruments_it_is_least_squares(market):
    frame, y, _, _ = market
    model = InstrumentalRegressor().fit(frame, y)
    expected = LinearRegression().fit(frame, y)
    np.testing.assert_allclose(model.coef_, expected.coef_)
    assert model.intercept_ == pytest.approx(expected.intercept_)


def test_a_summary(market):
    frame, y, instruments, _ = market
    model = InstrumentalRegressor("price").fit(frame, y, instruments=instruments.to_numpy())
    table = model.summary()
    assert list(table.index) == ["income", "price", "(intercept)"]
    np.testing.assert_array_equal(table["coefficient"], [*model.coef_, model.intercept_])
    assert model.answer_["instruments"] == ["z0", "z1", "income", "(intercept)"]
    none = InstrumentalRegressor("price", intercept=False)
    none.fit(frame, y, instruments=instruments["cost"])
    assert list(none.summary().index) == ["income", "price"]
    assert none.answer_["instruments"] == ["cost", "income"]
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(frame).tobytes() == model.predict(frame).tobytes()


def test_weak_instruments_are_warned_of(market, rng):
    frame, y, _, _ = market
    with pytest.warns(ConvergenceWarning, match="little about price"):
        InstrumentalRegressor("price").fit(frame, y, instruments=rng.normal(size=len(y)))


@pytest.mark.parametrize(
    ("settings", "more", "said"),
    [
        ({"endogenous": "cost"}, {"instruments": "cost"}, "no column 'cost'"),
        ({"endogenous": [7]}, {"instruments": "cost"}, "no column 7"),
        ({"endogenous": "price"}, {}, "needs instruments"),
        ({}, {"instruments": "cost"}, "at least as many instruments"),
        ({"endogenous": "price", "steps": 3}, {"instruments": "cost"}, "3|steps"),
        ({"standard_errors": "clustered"}, {}, "needs clusters"),
        ({"standard_errors": "robust"}, {"clusters": "town"}, "clustered"),
        ({"level": 2.0}, {}, "level"),
        ({"endogenous": "price"}, {"instruments": "short"}, "a row for each of 400"),
        ({"endogenous": "price"}, {"instruments": "nan"}, "instruments: nan at \\[1\\]"),
        ({"endogenous": "price"}, {"instruments": "X"}, "a column of X"),
        ({}, {"clusters": "short"}, "cluster of each"),
    ],
)
def test_input_that_makes_no_sense_is_refused(settings, more, said, market):
    frame, y, instruments, town = market
    columns = {"cost": instruments["cost"], "town": town, "short": [1.0, 2.0], "X": frame}
    columns["nan"] = np.where(np.arange(len(y)) == 1, np.nan, instruments["cost"])
    more = {name: columns[which] for name, which in more.items()}
    with pytest.raises(ValueError, match=said):
        InstrumentalRegressor(**settings).fit(frame, y, **more)
