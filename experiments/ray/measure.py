"""What a fit by workers of Ray costs beside the same in one process.

A pass is timed on the head, from the call to the last partial sum. The first one, the survey, has
the leaves loaded and is told apart.
"""

import argparse
import os
import pathlib
import platform
import statistics
import tempfile
import time

# Of this process; workers have a thread each.
os.environ.setdefault("RAYON_NUM_THREADS", "2")

import innermean.ray as imr
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import ray
from innermean import _innermean, g, phi, problems

import failures
from crews import Here, Timed

PAGE = pathlib.Path(__file__).parents[1] / "results/ray.md"
WIDTH, GROUP, PIECE = 50, 100, 200_000
#: Of numpy's time, and of that of one process.
MOST_OF_NUMPY, MOST_OF_ONE = 0.4, 1.3


def pieces(rows):
    """Rows and labels, some at a time."""
    draw, slopes = np.random.default_rng(1), np.linspace(-1.0, 1.0, WIDTH)
    for first in range(0, rows, PIECE):
        X = draw.normal(size=(min(PIECE, rows - first), WIDTH))
        yield X, np.sign(X @ slopes / 3.0 + draw.logistic(size=len(X)))


def leaves(folder, name, rows, groups):
    """A folder of leaves, by way of Parquet."""
    there = folder / f"{name}.parquet"
    there.mkdir()
    for k, (X, y) in enumerate(pieces(rows)):
        columns = {f"x{l}": X[:, l] for l in range(WIDTH)}
        if groups:
            first = k * PIECE
            columns["who"] = np.arange(first, first + len(X)) // GROUP
        else:
            columns["y"] = y
        pa.parquet.write_table(pa.table(columns), there / f"{k:05}.parquet", compression="none")
    role = {"group": "who"} if groups else {"label": "y"}
    made = imr.prepare(there, folder / name, **role)
    for file in there.iterdir():
        file.unlink()
    return made


def taken(crew, fit):
    """A fit, its seconds without the survey, those of the survey, and of a gradient pass."""
    before = time.perf_counter()
    found = fit(crew)
    whole = time.perf_counter() - before
    survey = crew.seconds[0][1]
    gradients = [seconds for want, seconds in crew.seconds if want == "gradient"]
    # From the end of the survey: actors start before it.
    return found, sum(s for _, s in crew.seconds[1:]), survey, statistics.median(gradients), whole


def compared(what, fit):
    """Two rows of the table, and whether workers take at most so much longer."""
    one = taken(Here(), fit)
    two = taken(Timed(2), fit)
    assert one[0].theta.tobytes() == two[0].theta.tobytes(), "other bits"
    for name, (found, passes, survey, gradient, whole) in [
        ("2 workers of a thread", two), ("one process, 2 threads", one),
    ]:
        yield f"| {what} | {name} | {found.method} | {found.passes} | {1e3 * gradient:.0f} |" \
            f" {passes:.2f} | {survey:.1f} | {whole:.1f} |"
    ratio = two[1] / one[1]
    yield verdict(
        f"{what} by 2 workers in at most {MOST_OF_ONE} times one process: {ratio:.2f}",
        ratio <= MOST_OF_ONE,
    )


def in_memory(rows):
    """The method and the seconds of the same rows in one array."""
    parts = list(pieces(rows))
    X, y = np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])
    del parts
    problem = problems.linear(X, phi.logistic(y), g.ridge(1e-3))
    before = time.perf_counter()
    found = problem.solve(tolerance=1e-6)
    return found.method, time.perf_counter() - before


def empty_passes(folder):
    """Milliseconds of a pass over next to nothing."""
    table = pa.table({"x": np.arange(64.0), "y": np.tile([1.0, -1.0], 32)})
    small = imr.prepare(table, folder / "small", label="y", leaf_rows=8)
    for count in (1, 2, 4):
        crew = Timed(count)
        imr.linear(small, "logistic", l2=1e-3, workers=crew, method="lbfgs", tolerance=1e-12)
        took = [seconds for want, seconds in crew.seconds[1:] if want == "gradient"]
        yield f"| {count} | {1e3 * statistics.median(took):.1f} | {1e3 * max(took):.1f} |"


def beside_numpy(rows=500_000):
    """CPU seconds of a gradient pass by Rust and by numpy, and their ratio."""
    X, y = next(iter(pieces(min(rows, PIECE))))
    held = _innermean.Leaves.linear(
        [(k, X[k * 20_000:(k + 1) * 20_000], y[k * 20_000:(k + 1) * 20_000]) for k in range(10)],
        WIDTH, '"logistic"',
    )
    theta = np.full(WIDTH, 0.01)

    def numpy_pass():
        margins = y * (X @ theta)
        loss = np.logaddexp(0.0, -margins).sum()
        return loss, X.T @ (-y / (1.0 + np.exp(margins)))

    def seconds(work):
        before = time.process_time()
        work()
        return time.process_time() - before

    rust = lambda: held.pass_(theta, "gradient")  # noqa: E731
    both = [(seconds(rust), seconds(numpy_pass)) for _ in range(20)]
    return tuple(min(column) for column in zip(*both))


def verdict(target, met):
    """A line of the list of targets."""
    return f"- {target}: {'met' if met else 'missed'}"


def main():
    flags = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    flags.add_argument("--rows", type=int, default=10_000_000)
    flags.add_argument("--groups", type=int, default=100_000)
    flags.add_argument("--failures", action="store_true")
    flags.add_argument("--out", type=pathlib.Path, default=PAGE)
    given = flags.parse_args()
    ray.init(address="local", num_cpus=8, include_dashboard=False, log_to_driver=False, configure_logging=False)
    failing = " --failures" if given.failures else ""
    text = [
        "# Workers of Ray",
        "",
        f"`experiments/ray/run --rows {given.rows} --groups {given.groups}{failing}` on"
        f" {os.cpu_count()} cores, Ray {ray.__version__}, Python {platform.python_version()}. Seconds"
        " of passes are those of all but the first, the survey, which has leaves loaded; the last"
        " column is the whole fit with actors and loading.",
        "",
    ]
    targets = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = pathlib.Path(name)
        text += ["| workers | ms of an empty pass, median | most |", "|---|---|---|"]
        text += [*empty_passes(folder), ""]
        rust, numpy = beside_numpy()
        what = f"a gradient pass in Rust takes at most {MOST_OF_NUMPY} of numpy's CPU time"
        targets.append(verdict(f"{what}: {rust / numpy:.2f}", rust <= MOST_OF_NUMPY * numpy))
        text += [
            "| data | who | method | passes | ms of a gradient | passes, s | survey, s | whole, s |",
            "|---|---|---|---|---|---|---|---|",
        ]
        rows = leaves(folder, "rows", given.rows, groups=False)
        how = {"l2": 1e-3, "intercept": False}
        fit = lambda crew: imr.linear(rows, "logistic", workers=crew, **how)  # noqa: E731

        what = f"{given.rows:,} x {WIDTH}, logistic"
        told = list(compared(what, fit))
        method, took = in_memory(given.rows)
        text += [*told[:-1], f"| {what} | in memory, 2 threads | {method} | | | | | {took:.1f} |"]
        targets.append(told[-1])
        bags = leaves(folder, "bags", given.groups * GROUP, groups=True)
        shares = {who: 0.2 + 0.6 * (who * 7919 % 1009) / 1009 for who in bags.groups}
        told = list(compared(
            f"{given.groups:,} groups of {GROUP}",
            lambda crew: imr.bags(bags, shares, l2=1e-3, workers=crew),
        ))
        text += told[:-1]
        targets.append(told[-1])
        if given.failures:
            text += ["", "| what happens | passes | |", "|---|---|---|", *failures.lines(rows)]
    ray.shutdown()
    page = "\n".join([*text, "", *targets]) + "\n"
    given.out.write_text(page)
    print(page)


main()
