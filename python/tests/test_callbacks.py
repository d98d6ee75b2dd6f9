"""scikit-learn's callbacks on estimators: told of each evaluation, and able to stop."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from innermean import BagRegressor, LinearClassifier, LinearRegressor, Portfolio
from innermean._callbacks import CallbackSupportMixin

pytestmark = pytest.mark.skipif(
    not hasattr(CallbackSupportMixin, "set_callbacks"), reason="scikit-learn before 1.9"
)


class Counting:
    """Counts tasks, and stops after so many."""

    def __init__(self, most=None, error=None):
        self.most, self.error = most, error
        self.begun = self.ended = self.set_up = self.torn_down = 0

    def setup(self, estimator, context):
        self.set_up += 1

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context):
        self.ended += 1
        if self.error is not None:
            raise self.error
        return self.most is not None and self.ended >= self.most


@pytest.fixture
def data(rng):
    X = rng.normal(size=(200, 3))
    return X, X @ [1.0, -1.0, 0.5] + rng.normal(size=200)


ESTIMATORS = [
    LinearRegressor("huber", method="svrpda1", tolerance=1e-4),
    LinearRegressor(method="lbfgs"),
    BagRegressor(method="lbfgs"),
    Portfolio(method="svrpda1", tolerance=1e-4),
]


@pytest.mark.parametrize("model", ESTIMATORS, ids=str)
def test_callbacks_see_each_evaluation_and_change_no_bit(model, data):
    plain = model.fit(*data).result_
    counting = Counting()
    told = model.set_callbacks(counting).fit(*data).result_
    model.set_callbacks()
    assert told.theta.tobytes() == plain.theta.tobytes()
    # The evaluations without that of the start, and the fit itself.
    assert counting.begun == counting.ended == len(told.trace.calls)
    assert counting.set_up == counting.torn_down == 1


def test_a_callback_stops_a_fit_without_a_warning(data, recwarn):
    model = LinearRegressor("huber", method="svrpda1", tolerance=None, max_outer=50)
    model.set_callbacks(Counting(most=3)).fit(*data)
    assert model.status_ == "stopped" and model.n_iter_ <= 4
    assert model.coef_.shape == (3,)
    assert not [each for each in recwarn if "stopped" in str(each.message)]


def test_an_error_of_a_callback_is_raised(data):
    counting = Counting(error=LookupError("enough"))
    with pytest.raises(LookupError, match="enough"):
        LinearRegressor("huber", method="svrpda1").set_callbacks(counting).fit(*data)
    assert counting.torn_down == 1


def test_within_pipelines_and_searches(data):
    X, y = data
    counting = Counting()
    model = LinearClassifier(l2=0.1, method="lbfgs").set_callbacks(counting)
    make_pipeline(StandardScaler(), model).fit(X, np.where(y > 0, "up", "down"))
    assert counting.ended > 1
    search = GridSearchCV(LinearRegressor(), {"l2": [0.1, 1.0]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.3


def test_the_progress_bar_of_scikit_learn(data, capsys):
    progress = pytest.importorskip("sklearn.callback").ProgressBar
    pytest.importorskip("rich")
    LinearRegressor("huber", method="svrpda1").set_callbacks(progress()).fit(*data)
    assert "LinearRegressor" in capsys.readouterr().out
