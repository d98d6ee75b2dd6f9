"""Bags: scikit-learn's checks, the command line's bits, groups by metadata routing."""

import pickle

import numpy as np
import pytest
import sklearn
from estimators import TO_ROUNDING, assert_same, command, failures
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GroupKFold, cross_validate

from innermean import BagClassifier, BagRegressor

# The checks compare probabilities to 1e-7, which takes a proof at rounding and a firm ridge.
EXACT = {"l2": 1.0, "tolerance": 1e-15}


@pytest.mark.parametrize("loss", ["cross-entropy", "square"])
def test_classifiers_pass_the_checks(loss):
    assert failures(BagClassifier(loss, **EXACT)) == []


@pytest.mark.parametrize("link", ["identity", "exp"])
def test_regressors_pass_the_checks(link):
    assert failures(BagRegressor(link, **EXACT)) == []


@pytest.fixture
def precincts(rng):
    groups = np.repeat([f"p{k}" for k in range(60)], rng.integers(5, 15, 60))
    X = rng.normal(size=(len(groups), 3)) + np.repeat(rng.normal(size=(60, 3)), 1, axis=0)[
        np.unique(groups, return_inverse=True)[1]
    ]
    p = 1 / (1 + np.exp(-(X @ [1.0, -2.0, 0.5] + 0.3)))
    return X, (rng.random(len(groups)) < p).astype(int), groups


def shares(y, groups):
    codes = np.unique(groups, return_inverse=True)[1]
    return (np.bincount(codes, y) / np.bincount(codes))[codes]


@pytest.mark.parametrize("flags", [{}, {"l2": 0.01, "intercept": False}, {"l1": 0.01}])
def test_the_same_bits_of_shares_as_the_command_line(flags, precincts, tmp_path):
    X, y, groups = precincts
    share = shares(y, groups)
    model = BagClassifier(tolerance=1e-14, **flags).fit(X, share, groups=groups)
    table = {f"x{k}": column for k, column in enumerate(X.T)} | {"g": groups, "label": share}
    words = ["--group", "g", "--label", "label", *TO_ROUNDING]
    for name, value in flags.items():
        words += [f"--{name}", value] if value else ["--no-intercept"]
    assert_same(model, command(tmp_path, "bags", "rows", *words, rows=table))


def test_the_same_bits_of_means_as_the_command_line(precincts, tmp_path):
    X, y, groups = precincts
    mean = 2.0 * shares(y, groups)
    model = BagRegressor(l2=0.01, tolerance=1e-14).fit(X, mean, groups=groups)
    table = {f"x{k}": column for k, column in enumerate(X.T)} | {"g": groups, "label": mean}
    words = ["--group", "g", "--label", "label", "--link", "identity", "--l2", 0.01]
    words += TO_ROUNDING
    assert_same(model, command(tmp_path, "bags", "rows", *words, rows=table))


def test_rows_as_groups_are_the_models_of_scikit_learn(rng):
    X = rng.normal(size=(300, 3))
    y = rng.integers(0, 3, 300)
    for subset in (y < 2, y < 3):
        ours = BagClassifier(**EXACT).fit(X[subset], y[subset])
        theirs = LogisticRegression(C=1 / subset.sum(), tol=1e-10, max_iter=1000)
        theirs.fit(X[subset], y[subset])
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    counts = rng.poisson(np.exp(0.3 * X[:, 0]))
    ours = BagRegressor("exp", **EXACT).fit(X, counts)
    theirs = PoissonRegressor(alpha=1.0, tol=1e-10, max_iter=1000).fit(X, counts)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4)
    # Its loss is the square, not half of it.
    ours = BagRegressor(l2=0.2).fit(X, X[:, 0])
    theirs = Ridge(alpha=0.1 * 300).fit(X, X[:, 0])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)


def test_rows_are_told_apart_by_labels_of_groups_alone(precincts):
    X, y, groups = precincts
    by_share = BagClassifier(l2=1e-3).fit(X, shares(y, groups), groups=groups)
    by_class = BagClassifier(l2=1e-3).fit(X, y, groups=groups)
    np.testing.assert_allclose(by_share.coef_, by_class.coef_, atol=1e-6)
    assert by_class.score(X, y) > 0.8
    both = np.column_stack([1 - shares(y, groups), shares(y, groups)])
    np.testing.assert_allclose(
        BagClassifier(l2=1e-3).fit(X, both, groups=groups).coef_, by_share.coef_, atol=1e-6
    )
    assert by_share.score(X, shares(y, groups), groups=groups) > 0.9
    again = pickle.loads(pickle.dumps(by_class))
    assert again.predict_proba(X).tobytes() == by_class.predict_proba(X).tobytes()


def test_groups_are_routed(precincts):
    X, y, groups = precincts
    with sklearn.config_context(enable_metadata_routing=True):
        model = BagClassifier(l2=1e-2)
        model.set_fit_request(groups=True, sample_weight=False)
        model.set_score_request(groups=True, sample_weight=False)
        found = cross_validate(model, X, y, cv=GroupKFold(3), params={"groups": groups})
    assert (found["test_score"] > 0.8).all()


def test_several_classes_by_shares(rng):
    X = rng.normal(size=(400, 2))
    y = (X @ rng.normal(size=(2, 3)) + rng.gumbel(size=(400, 3))).argmax(axis=1)
    groups = np.argsort(np.argsort(X[:, 0] + X[:, 1])) // 8
    truth = np.eye(3)[y]
    means = np.stack([np.bincount(groups, column) / 8 for column in truth.T], axis=1)[groups]
    model = BagClassifier(l2=1e-3).fit(X, means, groups=groups)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert model.score(X, means, groups=groups) > 0.85


@pytest.mark.parametrize(
    ("model", "label", "groups", "said"),
    [
        (BagClassifier(), 1.5, ["a", "a", "b"], "from 0 to 1"),
        (BagClassifier(), 0.5, ["a", "b"], "groups: expected"),
        (BagClassifier(loss="poisson"), 0.5, ["a", "a", "b"], "poisson"),
        (BagClassifier(group_weight="large"), 0.5, ["a", "a", "b"], "group_weight"),
        (BagRegressor("square"), 0.5, ["a", "a", "b"], "link"),
    ],
)
def test_input_that_makes_no_sense_is_refused(model, label, groups, said):
    with pytest.raises(ValueError, match=said):
        model.fit([[0.0], [1.0], [2.0]], [label, label, 0.25], groups=groups)
