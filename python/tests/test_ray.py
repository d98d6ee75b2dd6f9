"""Rows in leaves, held by workers of Ray: the same bits whoever holds them and whoever dies."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import innermean
from innermean import g, phi, problems

pa = pytest.importorskip("pyarrow")
ray = pytest.importorskip("ray", reason="skipped: Ray cannot be imported")
imr = pytest.importorskip("innermean.ray")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "120")
    # Without a token of its own in the home of whoever tests.
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(3000, 4))
    y = np.sign(X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=3000))
    return X, y


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    X, y = table
    columns = {f"x{k}": X[:, k] for k in range(4)} | {"y": y}
    path = tmp_path_factory.mktemp("leaves") / "rows"
    return imr.prepare(pa.table(columns), path, label="y", leaf_rows=500)


def fit(folder, workers, **how):
    how = {"l2": 0.01, "intercept": False, "tolerance": 1e-9, **how}
    return imr.linear(folder, "logistic", workers=workers, **how)


class Killing(imr.Workers):
    """Kills a worker as soon as it has been asked in pass number `at`."""

    def __init__(self, at):
        super().__init__(2)
        self.at = at

    def pass_(self, theta, want):
        if self.passes == self.at:
            os.kill(ray.get(self._actors[0].process.remote()), signal.SIGKILL)
        return super().pass_(theta, want)


def test_bits_do_not_depend_on_workers_and_the_answer_is_that_in_memory(folder, table):
    X, y = table
    fits = [fit(folder, count) for count in (1, 2, 4)]
    assert len({one.theta.tobytes() for one in fits}) == 1
    assert len({one.trace.objective.tobytes() for one in fits}) == 1
    assert [one.workers for one in fits] == [1, 2, 4] and not any(one.restarts for one in fits)
    whole = problems.linear(X, phi.logistic(y), g.ridge(0.01)).solve(tolerance=1e-10)
    one = fits[0]
    assert one.success and one.certificate.measure == "fenchel_gap"
    assert -1e-12 <= one.objective - whole.objective <= one.certificate.gap <= 1e-8
    assert one.passes <= 12 and "passes" in repr(one)


def test_a_worker_that_is_killed_in_any_pass_changes_no_bit(folder):
    sound = fit(folder, 2)
    for at in (1, sound.passes - 1):
        crew = Killing(at)
        found = fit(folder, crew)
        assert found.restarts >= 1, at
        assert found.theta.tobytes() == sound.theta.tobytes(), at


def test_a_driver_that_is_killed_goes_on_from_its_checkpoint(folder, tmp_path):
    sound = fit(folder, 2, method="lbfgs", checkpoint=tmp_path / "whole")
    script = """
        import os, signal, sys, ray, innermean.ray as imr
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
        def stop(record):
            if record.outer == 4:
                ray.shutdown()
                os.kill(os.getpid(), signal.SIGKILL)
        imr.linear(sys.argv[1], "logistic", l2=0.01, intercept=False, tolerance=1e-9, workers=1,
                   method="lbfgs", checkpoint=sys.argv[2], callback=stop)
    """
    words = [sys.executable, "-c", textwrap.dedent(script), folder.path, tmp_path / "killed"]
    killed = subprocess.run(words, capture_output=True, timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    found = fit(folder, 3, method="lbfgs", checkpoint=tmp_path / "killed")
    assert found.theta.tobytes() == sound.theta.tobytes()
    assert found.trace.objective.tobytes() == sound.trace.objective.tobytes()
    with pytest.raises(ValueError, match="another problem"):
        fit(folder, 1, l2=0.02, method="lbfgs", checkpoint=tmp_path / "killed")


def test_a_leaf_that_has_changed_is_refused_by_name(folder, table, tmp_path):
    X, y = table
    columns = {f"x{k}": X[:600, k] for k in range(4)} | {"y": y[:600]}
    other = imr.prepare(pa.table(columns), tmp_path / "other", label="y", leaf_rows=200)
    path = pathlib.Path(other.path) / "leaf-000001.npy"
    rows = np.load(path)
    rows[3, 2] += 1.0
    np.save(path, rows)
    with pytest.raises(RuntimeError, match=r"leaf 1 .*not what was prepared"):
        fit(other, 1)

    class Losing(imr.Workers):
        def pass_(self, theta, want):
            lost = "leaf 1", "its disk is gone"
            return lost if self.passes == 3 else super().pass_(theta, want)

    found = fit(folder, Losing(1))
    assert found.status == "failed" and not found.success and not found.fallbacks
    assert "leaf 1: its disk is gone" in found.message
    assert found.objective == found.trace.objective.min()


def test_groups_over_several_leaves_are_those_in_memory(tmp_path):
    rng = np.random.default_rng(3)
    sizes = [1, 30, 50, 900, 1, 98, 120]
    names = np.repeat([f"g{k}" for k in range(7)], sizes)
    X = rng.normal(size=(1200, 3))
    labels = {f"g{k}": 0.2 + 0.08 * k for k in range(7)}
    mixed = rng.permutation(1200)
    columns = {f"x{k}": X[mixed, k] for k in range(3)} | {"who": names[mixed]}
    leaves = imr.prepare(pa.table(columns), tmp_path / "bags", group="who", leaf_rows=60)
    assert leaves.groups == list(labels) and len(leaves.leaves) == 20
    fits = [imr.bags(leaves, labels, l2=0.01, workers=count) for count in (1, 3)]
    assert fits[0].theta.tobytes() == fits[1].theta.tobytes()
    assert fits[0].certificate.measure == "stationarity" and not fits[0].certificate.proven
    proportions, penalty = phi.bernoulli(list(labels.values())), g.ridge(0.01).free_tail(1)
    whole = problems.groups(X, np.repeat(np.arange(7), sizes), proportions, penalty, intercept=True)
    assert fits[0].objective == pytest.approx(whole.solve(tolerance=1e-8).objective, rel=1e-9)


class Squares(imr.Shard):
    """Least squares, by numpy."""

    def gradient(self, theta):
        left = self.rows @ theta - self.labels
        return 0.5 * left @ left, self.rows.T @ left


def test_a_shard_of_ones_own(folder, table):
    X, y = table
    one, two = (
        imr.solve(Squares, folder, d=4, g=g.ridge(0.1), convex=True, workers=count)
        for count in (1, 2)
    )
    assert one.theta.tobytes() == two.theta.tobytes() and one.success
    exact = np.linalg.solve(X.T @ X / 3000 + 0.1 * np.eye(4), X.T @ y / 3000)
    assert one.theta == pytest.approx(exact, abs=1e-3)

    class Broken(imr.Shard):
        def gradient(self, theta):
            return 0.0, np.zeros(3)

    with pytest.raises(ValueError, match=r"gradient: expected shape \(4,\), got \(3,\)"):
        imr.solve(Broken, folder, d=4)


def test_bad_tables_are_refused_and_leave_nothing(folder, table, tmp_path):
    X, y = table
    columns = {"a": X[:50, 0].copy(), "y": y[:50]}
    columns["a"][17] = np.nan
    out = tmp_path / "out"
    with pytest.raises(ValueError, match=r"row 18, column 'a': nan"):
        imr.prepare(pa.table(columns), out, label="y", leaf_rows=10)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="there is no column 'z'; it has a, y"):
        imr.prepare(pa.table(columns), out, label="z")
    with pytest.raises(ValueError, match="either group"):
        imr.prepare(pa.table(columns), out)
    with pytest.raises(ValueError, match="it is there"):
        imr.prepare(pa.table(columns), folder.path, label="y")
    with pytest.raises(ValueError, match="prepare"):
        imr.linear(tmp_path, "square")
    with pytest.raises(ValueError, match="no groups"):
        imr.bags(folder, {})
    index = pathlib.Path(folder.path) / "leaves.json"
    assert json.loads(index.read_text())["rows"] == 3000


def test_a_dataset_of_ray_and_files_make_the_same_leaves(folder, table, tmp_path):
    X, y = table
    columns = pa.table({f"x{k}": X[:, k] for k in range(4)} | {"y": y})
    pa.parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "in").mkdir()
    pa.parquet.write_table(columns, tmp_path / "in" / "rows.parquet", row_group_size=700)
    again = imr.prepare(tmp_path / "in", tmp_path / "again", label="y", leaf_rows=500)
    assert again.leaves == folder.leaves
    data = pytest.importorskip("ray.data")
    third = imr.prepare(data.from_arrow(columns), tmp_path / "third", label="y", leaf_rows=500)
    assert third.leaves == folder.leaves
    assert innermean.__version__
