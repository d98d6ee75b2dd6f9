"""Linear estimators: scikit-learn's checks, the command line's bits, other software's answers."""

import pickle

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from estimators import TO_ROUNDING, assert_same, command, failures
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from innermean import LinearClassifier, LinearRegressor

# Rows of the check are half as many as its columns: without a ridge many coefficients are optimal,
# and which of them is found depends on the number of rows (docs/python.md).
MANY_OPTIMA = {
    f"check_sample_weight_equivalence_on_{kind}_data": "without a ridge no answer is the only one"
    for kind in ("dense", "sparse")
}
OF_CLASSES = ["logistic", "squared-hinge", "smoothed-hinge"]
OF_NUMBERS = ["square", "huber"]


@pytest.mark.parametrize("loss", OF_CLASSES)
def test_classifiers_pass_the_checks(loss):
    assert failures(LinearClassifier(loss, max_outer=100), MANY_OPTIMA) == []
    # A proof of the objective to 1e-15 leaves 1e-7 in the probabilities; newton's steps leave less.
    exact = {"tolerance": 1e-15, "method": "newton" if loss == "logistic" else "auto"}
    assert failures(LinearClassifier(loss, l2=0.1, **exact)) == []


@pytest.mark.parametrize("loss", OF_NUMBERS)
def test_regressors_pass_the_checks(loss):
    assert failures(LinearRegressor(loss), MANY_OPTIMA) == []
    assert failures(LinearRegressor(loss, l2=0.1, tolerance=1e-15)) == []


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(300, 5)) * [1, 1e-3, 50, 1, 1] + [0, 0, 900, 0, 0]
    y = X @ [1.0, 300.0, 0.02, 0.0, -0.5] + rng.standard_t(3, 300)
    return X, y


@pytest.fixture
def classes(rng):
    X = rng.normal(size=(400, 4))
    scores = X @ rng.normal(size=(4, 3)) + rng.gumbel(size=(400, 3))
    return X, np.array(["fir", "oak", "ash"])[scores.argmax(axis=1)]


def columns(X, **others):
    return {f"x{k}": column for k, column in enumerate(X.T)} | others


@pytest.mark.parametrize("loss", OF_NUMBERS)
@pytest.mark.parametrize("flags", [{}, {"l2": 0.01}, {"l1": 0.1, "intercept": False}])
def test_the_same_bits_of_numbers_as_the_command_line(loss, flags, numbers, tmp_path):
    X, y = numbers
    weights = np.arange(len(y)) % 4 * 0.5
    model = LinearRegressor(loss, tolerance=1e-14, **flags).fit(X, y, sample_weight=weights)
    words = [*TO_ROUNDING, "--weight", "w", "--loss", loss]
    for name, value in flags.items():
        words += [f"--{name}", value] if value else ["--no-intercept"]
    table = columns(X, y=y, w=weights)
    document = command(tmp_path, "linear", "rows", "--target", "y", *words, rows=table)
    assert_same(model, document)


@pytest.mark.parametrize("loss", OF_CLASSES)
@pytest.mark.parametrize("count", [2, 3])
def test_the_same_bits_of_classes_as_the_command_line(loss, count, classes, tmp_path):
    X, y = classes
    if count == 2:
        X, y = X[y != "ash"], y[y != "ash"]
    elif loss != "logistic":
        with pytest.raises(ValueError, match="Only binary classification"):
            LinearClassifier(loss).fit(X, y)
        return
    model = LinearClassifier(loss, l2=0.01, class_weight="balanced", tolerance=1e-14).fit(X, y)
    words = [*TO_ROUNDING, "--l2", 0.01, "--loss", loss]
    words += ["--class-weights", "balanced"]
    table = columns(X, y=y)
    assert_same(model, command(tmp_path, "linear", "rows", "--target", "y", *words, rows=table))


def test_the_answers_of_scikit_learn(numbers, classes):
    X, y = numbers
    X = StandardScaler().fit_transform(X)
    n = len(y)
    exact = {"tolerance": 1e-14}
    ridge = Ridge(alpha=0.1 * n).fit(X, y)
    np.testing.assert_allclose(LinearRegressor(l2=0.1, **exact).fit(X, y).coef_, ridge.coef_)
    lasso = Lasso(alpha=0.1, tol=1e-14).fit(X, y)
    found = LinearRegressor(l1=0.1, **exact).fit(X, y)
    np.testing.assert_allclose(found.coef_, lasso.coef_, atol=1e-7)
    X, y = classes
    for subset in (y != "ash", y != ""):
        theirs = LogisticRegression(C=1 / (0.01 * subset.sum()), tol=1e-12, max_iter=1000)
        theirs.fit(X[subset], y[subset])
        ours = LinearClassifier(l2=0.01, **exact).fit(X[subset], y[subset])
        np.testing.assert_array_equal(ours.classes_, theirs.classes_)
        np.testing.assert_allclose(
            ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-4, atol=1e-6
        )
        np.testing.assert_allclose(ours.predict_log_proba(X), np.log(ours.predict_proba(X)))
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_huber_finds_the_line_under_outliers(numbers):
    X, y = numbers
    X = StandardScaler().fit_transform(X)
    ours = LinearRegressor("huber", huber_width=1.35).fit(X, y)
    theirs = HuberRegressor(epsilon=1.35, alpha=0, max_iter=1000).fit(X, y)
    # Theirs finds a scale of the errors beside the line, which is close to 1 here.
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.05)


def test_what_a_fit_says_of_itself(numbers):
    X, y = numbers
    model = LinearRegressor("huber", l2=0.01).fit(X, y)
    assert model.status_ == "solved" and model.n_iter_ >= 1
    assert model.certificate_.proven and model.certificate_.gap < 1e-6
    assert model.objective_ == model.result_.objective
    assert 0 < model.answer_["r_squared"] < 1
    with pytest.warns(ConvergenceWarning, match="max_outer") as warned:
        short = LinearRegressor("huber", method="svrpda1", max_outer=1).fit(X, y)
    assert short.status_ == "max_outer"
    assert warned[0].filename == __file__


def test_separated_classes_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="l2"):
        LinearClassifier().fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])


def test_every_kind_of_rows_gives_the_same_answer(numbers):
    X, y = numbers
    expected = LinearRegressor(l2=0.1).fit(X, y)
    names = list("abcde")
    for rows in (np.asfortranarray(X), X.tolist(), np.repeat(X, 2, axis=1)[:, ::2]):
        assert LinearRegressor(l2=0.1).fit(rows, y).coef_.tobytes() == expected.coef_.tobytes()
    for rows in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        model = LinearRegressor(l2=0.1).fit(rows, y)
        assert model.coef_.tobytes() == expected.coef_.tobytes()
        assert list(model.feature_names_in_) == names
        assert model.predict(rows).tobytes() == expected.predict(X).tobytes()
    small = LinearRegressor(l2=0.1).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(small.coef_, expected.coef_, rtol=1e-3)
    sparse = LinearRegressor(l2=0.1, scaling=False, tolerance=1e-13)
    dense = clone(sparse).fit(X, y)
    sparse.fit(scipy.sparse.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(sparse.predict(scipy.sparse.csc_array(X)), dense.predict(X))


def test_fitted_and_not_they_are_pickled_and_cloned(classes):
    X, y = classes
    model = LinearClassifier(l1=0.01, class_weight={"fir": 2.0})
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert again.certificate_ == model.certificate_
    assert not hasattr(clone(model), "coef_")


def test_a_warm_start_goes_on(classes):
    X, y = classes
    cold = LinearClassifier(l2=1e-3, method="lbfgs").fit(X, y)
    warm = LinearClassifier(l2=1.1e-3, method="lbfgs", warm_start=True).fit(X, y)
    warm.set_params(l2=1e-3).fit(X, y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-3)
    assert warm.n_iter_ < cold.n_iter_


def test_in_searches_and_pipelines_with_weights(classes):
    X, y = classes
    steps = make_pipeline(StandardScaler().set_output(transform="pandas"), LinearClassifier())
    search = GridSearchCV(steps, {"linearclassifier__l2": [1e-3, 10.0]}, cv=3, n_jobs=2)
    search.fit(pandas.DataFrame(X, columns=list("abcd")), y)
    assert search.best_params_ == {"linearclassifier__l2": 1e-3}
    assert 0.5 < search.best_score_ < 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"loss": "absolute"}, "absolute"),
        ({"l2": -1.0}, "l2|ridge|-1"),
        ({"huber_width": 1.0}, "huber_width"),
        ({"method": "magic"}, "magic"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said, numbers):
    with pytest.raises(ValueError, match=said):
        LinearRegressor(**settings).fit(*numbers)


def test_weights_of_classes_that_are_not_there(classes):
    with pytest.raises(ValueError, match="elm"):
        LinearClassifier(class_weight={"elm": 1.0}).fit(*classes)
    with pytest.raises(ValueError, match="class_weight"):
        LinearClassifier(class_weight="even").fit(*classes)
