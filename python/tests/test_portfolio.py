"""Portfolios: scikit-learn's checks, the command line's bits, skfolio's answers."""

import pickle

import numpy as np
import pandas
import pytest
from estimators import TO_ROUNDING, assert_same, command
from skfolio import RiskMeasure
from skfolio.model_selection import WalkForward, cross_val_predict
from skfolio.optimization import EqualWeighted, MeanRisk, ObjectiveFunction
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from innermean import Portfolio

PLAIN = """
import sys
sys.modules["skfolio"] = None  # as if it were not installed
sys.path.insert(0, {tests!r})
from estimators import TO_ROUNDING, failures
from innermean import Portfolio
import numpy as np
model = Portfolio({risk!r}, {settings})
assert type(model).__mro__[2].__module__.startswith("sklearn")
print(failures(model))
X = np.random.default_rng(0).normal(0.0, 0.01, (60, 4))
model.fit(X)
assert np.allclose(model.predict(X), X @ model.weights_)
assert np.isclose(model.score(X), (X @ model.weights_).mean() / (X @ model.weights_).std(ddof=1))
"""

# The default width of huber is that of the data; kelly takes fractions unless told otherwise.
RISKS = {
    "variance": "",
    "semivariance": "",
    "absolute": "",
    "huber": "huber_width=1.0",
    "cvar": "",
    "entropic": "",
    "kelly": "percent=True",
}


@pytest.fixture
def returns(rng):
    market = rng.normal(0.0, 0.01, (300, 1))
    earned = np.linspace(0.0, 1e-3, 6)
    return earned + market * rng.uniform(0.5, 1.5, 6) + rng.normal(0.0, 0.004, (300, 6))


@pytest.mark.parametrize("risk", RISKS)
def test_without_skfolio_it_passes_the_checks(risk, apart):
    tests = __file__.rsplit("/", 1)[0]
    script = PLAIN.format(tests=tests, risk=risk, settings=RISKS[risk])
    assert apart(script).splitlines()[-1] == "[]"


SETTINGS = [
    {},
    {"risk": "semivariance", "risk_aversion": 3},
    {"risk": "cvar", "level": 0.9},
    {"risk": "absolute", "max_weights": 0.4},
    {"risk": "kelly"},
    {"objective": "min-risk", "target_return": 1e-4},
    {"min_weights": None, "max_weights": None, "budget": None, "l2": 0.1},
    {"half_life": 60.0, "min_weights": -1.0, "max_weights": 1.0},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_same_bits_as_the_command_line(settings, returns, tmp_path):
    model = Portfolio(tolerance=1e-14, **settings).fit(returns)
    words = [*TO_ROUNDING]
    constraint = "long-only"
    if "max_weights" in settings:
        ends = [settings.get("min_weights", 0.0), settings["max_weights"]]
        constraint = "none" if ends[0] is None else f"sum-to-one={ends[0]},{ends[1]}"
    for name, value in settings.items():
        if name not in ("min_weights", "max_weights", "budget"):
            words += ["--" + name.replace("_", "-"), value]
    table = {f"x{k}": column for k, column in enumerate(returns.T)}
    words += ["--constraint", constraint]
    assert_same(model, command(tmp_path, "portfolio", "returns", *words, returns=table))


def test_the_largest_ratio(returns):
    model = Portfolio(objective="max-sharpe", risk_free_rate=1e-5).fit(returns)
    theirs = MeanRisk(objective_function=ObjectiveFunction.MAXIMIZE_RATIO, risk_free_rate=1e-5)
    judge = theirs.fit(returns).predict(returns)
    assert model.answer_["sought"]["at_most"] >= model.answer_["sharpe_ratio"]
    assert model.predict(returns).sharpe_ratio >= judge.sharpe_ratio - 1e-6


@pytest.mark.parametrize(
    ("risk", "theirs"),
    [
        ("variance", RiskMeasure.VARIANCE),
        ("semivariance", RiskMeasure.SEMI_VARIANCE),
        ("absolute", RiskMeasure.MEAN_ABSOLUTE_DEVIATION),
        ("cvar", RiskMeasure.CVAR),
    ],
)
def test_the_weights_of_skfolio(risk, theirs, returns):
    judge = MeanRisk(
        risk_measure=theirs,
        objective_function=ObjectiveFunction.MAXIMIZE_UTILITY,
        risk_aversion=2,
        max_weights=0.5,
    ).fit(returns)
    model = Portfolio(risk, risk_aversion=2, max_weights=0.5, ddof=1).fit(returns)
    np.testing.assert_allclose(model.weights_, judge.weights_, atol=1e-5)
    assert model.certificate_.proven


def test_limits(returns):
    names = list("abcdef")
    frame = pandas.DataFrame(returns, columns=names)
    held = dict.fromkeys(names, 1 / 6)
    model = Portfolio(
        "variance",
        risk_aversion=5,
        min_weights={"a": 0.05},
        max_weights=[0.6] * 6,
        groups={"a": "left", "b": "left", "c": "right"},
        group_limits={"left": (0.1, 0.3), "right": (None, 0.2)},
        previous_weights=held,
        turnover=0.4,
        transaction_costs=1e-4,
    ).fit(frame)
    weights = dict(zip(names, model.weights_))
    assert weights["a"] >= 0.05 - 1e-9
    assert 0.1 - 1e-9 <= weights["a"] + weights["b"] <= 0.3 + 1e-9
    assert weights["c"] <= 0.2 + 1e-9
    assert sum(weights.values()) == pytest.approx(1)
    assert model.answer_["turnover"] <= 0.4 + 1e-9
    parity = Portfolio(risk_budget="equal").fit(frame)
    np.testing.assert_allclose(parity.answer_["risk_contributions"], 1 / 6, atol=1e-6)
    tilted = Portfolio(risk_budget=[1, 1, 1, 1, 1, 5]).fit(frame)
    assert tilted.answer_["risk_contributions"][5] == pytest.approx(0.5, abs=1e-6)
    close = Portfolio(benchmark=True, risk_aversion=1e4).fit(frame, frame["b"])
    assert close.weights_[1] > 0.9


def test_among_the_optimisers_of_skfolio(returns):
    dates = pandas.date_range("2020-01-01", periods=300, freq="B")
    frame = pandas.DataFrame(returns, index=dates, columns=list("abcdef"))
    held = {"transaction_costs": 1e-3, "previous_weights": [0.0] * 6}
    model = Portfolio("semivariance", risk_aversion=2, **held)
    walked = cross_val_predict(model, frame, cv=WalkForward(train_size=100, test_size=50))
    assert len(walked.portfolios) == 4
    assert walked.portfolios[0].composition.to_numpy().sum() == pytest.approx(1)
    assert model.fit(frame).predict(frame).transaction_costs == 1e-3
    search = GridSearchCV(model, {"risk_aversion": [1, 10]}, cv=WalkForward(150, 50))
    assert search.fit(frame).best_params_["risk_aversion"] in (1, 10)
    failing = Portfolio(target_return=1.0, fallback=EqualWeighted()).fit(frame)
    np.testing.assert_allclose(failing.weights_, 1 / 6)
    again = pickle.loads(pickle.dumps(model))
    assert again.weights_.tobytes() == clone(model).fit(frame).weights_.tobytes()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"risk": "fear"}, "fear"),
        ({"budget": 2.0}, "budget"),
        ({"level": 0.9}, "level"),
        ({"target_return": 1.0}, "target_return"),
        ({"max_weights": [0.5]}, "6, one for each asset"),
        ({"max_weights": {"z": 0.5}}, "z"),
        ({"benchmark": True}, "y: expected"),
        ({"turnover": 0.1}, "current|previous_weights"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said, returns):
    with pytest.raises(ValueError, match=said):
        Portfolio(**settings).fit(returns)
