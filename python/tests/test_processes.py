"""Estimators in other processes: loky, spawn, one that is killed, one that is interrupted."""

import os
import signal
import tempfile

import joblib
import numpy as np
import psutil
import pytest
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError
from sklearn.model_selection import GridSearchCV

from innermean import BagRegressor, LinearRegressor, Portfolio


class Fatal(LinearRegressor):
    """Kills the process that fits it with a large penalty, if that is a worker."""

    def fit(self, X, y, sample_weight=None):
        if self.l2 == 100.0 and os.environ.get("FATAL_PARENT") != str(os.getpid()):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, sample_weight)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(400, 5))
    return X, X @ np.arange(5.0) + rng.normal(size=400)


def fitted(X, y, l2):
    """Its module is not imported by a worker: it goes there by value."""
    return LinearRegressor("huber", l2=l2, method="svrpda1", tolerance=1e-4).fit(X, y).coef_


def test_workers_of_loky_find_the_same_bits(data):
    X, y = data
    penalties = [0.01, 0.1, 1.0, 10.0]
    here = [fitted(X, y, l2).tobytes() for l2 in penalties]
    there = joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(fitted)(X, y, l2) for l2 in penalties
    )
    assert [found.tobytes() for found in there] == here


def test_arrays_that_workers_map_from_a_file_are_read_there(data):
    X, y = data
    large = np.repeat(X, 100, axis=0)  # above joblib's limit of a megabyte
    here = fitted(large, np.repeat(y, 100), 0.1)
    (there,) = joblib.Parallel(n_jobs=2, backend="loky", max_nbytes="100K")(
        [joblib.delayed(fitted)(large, np.repeat(y, 100), 0.1)]
    )
    assert there.tobytes() == here.tobytes()


SPAWN = """
import multiprocessing, numpy as np
from innermean import Problem, g, phi, problems
if __name__ == "__main__":
    returns = np.random.default_rng(0).normal(0.02, 1.0, (300, 5))
    made = [problems.portfolio(returns, phi.huber(1.0, width), g.simplex()) for width in (0.5, 2)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        there = pool.map(Problem.solve, made)
    here = [problem.solve() for problem in made]
    print(all(a.theta.tobytes() == b.theta.tobytes() for a, b in zip(here, there)))
"""


def test_spawned_processes_find_the_same_bits(apart):
    assert apart(SPAWN) == "True"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
def test_a_worker_that_is_killed_leaves_no_trace(data, monkeypatch, tmp_path):
    X, y = data
    monkeypatch.setenv("FATAL_PARENT", str(os.getpid()))
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    expected = LinearRegressor(l2=0.1).fit(X, y).coef_
    shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    files = set(os.listdir(tempfile.gettempdir()))
    get_reusable_executor().shutdown(wait=True, kill_workers=True)
    search = GridSearchCV(Fatal(), {"l2": [0.1, 100.0]}, cv=3, n_jobs=2)
    with pytest.raises(TerminatedWorkerError):
        search.fit(X, y)
    get_reusable_executor().shutdown(wait=True, kill_workers=True)
    # No worker, no file and no shared memory is left, and the next search and fit work.
    workers = [each for each in psutil.Process().children() if "loky" in " ".join(each.cmdline())]
    assert not [each for each in workers if "resource_tracker" not in " ".join(each.cmdline())]
    assert not any("innermean" in name for name in set(os.listdir(tempfile.gettempdir())) - files)
    if os.path.isdir("/dev/shm"):
        assert not any("innermean" in name for name in set(os.listdir("/dev/shm")) - shared)
    again = GridSearchCV(LinearRegressor(), {"l2": [0.1, 100.0]}, cv=3, n_jobs=2).fit(X, y)
    assert again.best_params_ == {"l2": 0.1}
    assert again.best_estimator_.coef_.tobytes() == expected.tobytes()


LONG = {"method": "svrpda1", "tolerance": None, "max_outer": None, "max_seconds": 60.0}


@pytest.mark.parametrize("model", [LinearRegressor("huber"), BagRegressor(), Portfolio()], ids=str)
def test_an_interrupted_fit_has_the_best_point(model, data):
    model.set_params(**LONG)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            model.fit(*data)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert raised.value.result.status == "interrupted"
    assert np.isfinite(raised.value.result.theta).all()
