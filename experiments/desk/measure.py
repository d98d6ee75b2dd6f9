"""`innermean portfolio` beside Clarabel, PIQP, HiGHS and skfolio, on the same problems.

Quadratic problems are timed alike, from the array of returns in memory to the answer, as least of
some rounds: innermean's (`experiments/src/bin/desk.rs`) with task, notes and proof; Clarabel's and
PIQP's with mean and covariance by numpy, their matrices, setup and solve, called without cvxpy. In
the other problems Clarabel's time is its own, without cvxpy's. HiGHS's is that of scipy's call.
Whole commands, of which reading the file is a part, are compared where a study has many solves.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import tempfile
import time

import clarabel as solver
import cvxpy as cp
import numpy as np
import options
import piqp
from scipy import sparse
from scipy.optimize import linprog


def innermean(program, *arguments):
    """The answer of a command, and the time of all of it."""
    start = time.perf_counter()
    command = [program, "portfolio", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    elapsed = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout), elapsed


def read(path):
    with open(path, newline="") as lines:
        rows = list(csv.reader(lines))
    # The first column has the dates.
    numbers = lambda row: [float(x) for x in row[1:]]
    try:
        numbers(rows[0])
    except ValueError:
        rows = rows[1:]
    return np.array([numbers(row) for row in rows])


def write(path, x):
    names = ",".join(f"a{k}" for k in range(x.shape[1]))
    np.savetxt(path, x, delimiter=",", header=names, comments="", fmt="%.17g")


def clarabel(objective, constraints):
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return problem.value, problem.solver_stats.solve_time


def moments(x):
    """Mean and covariance: a third of numpy.cov's time."""
    mean = x.mean(axis=0)
    apart = x - mean
    return mean, apart.T @ apart / len(x)


def upper_triangle(matrix):
    """As scipy's matrix by columns, made from its parts."""
    d = len(matrix)
    columns, rows = np.tril_indices(d)
    starts = np.concatenate([[0], np.cumsum(np.arange(1, d + 1))])
    return sparse.csc_matrix((matrix[rows, columns], rows, starts), shape=(d, d))


def from_returns(title, x):
    """The seconds and the objective of one of the quadratic problems, by Clarabel."""
    d = x.shape[1]
    begun = time.perf_counter()
    mean, covariance = moments(x)
    ones, unit = np.ones((1, d)), sparse.identity(d)
    cones = lambda count: [solver.ZeroConeT(1), solver.NonnegativeConeT(count)]
    quadratic, linear = upper_triangle(2 * covariance), -mean
    if title == "gross exposure 1.6":
        # x = bought - sold, both at least 0, and their sum at most 1.6.
        whole = np.block([[covariance, -covariance], [-covariance, covariance]])
        quadratic, linear = upper_triangle(2 * whole), np.concatenate([-mean, mean])
        rows = [np.hstack([ones, -ones]), -sparse.identity(2 * d), np.ones((1, 2 * d))]
        ends = np.concatenate([[1.0], np.zeros(2 * d), [1.6]])
    elif title == "at most a fifth each":
        rows, ends = [ones, -unit, unit], np.concatenate([[1.0], np.zeros(d), np.full(d, 0.2)])
    elif title == "least variance, target return":
        rows = [ones, -unit, -mean[None, :]]
        ends = np.concatenate([[1.0], np.zeros(d), [-np.median(mean)]])
        linear = np.zeros(d)
    else:
        rows, ends = [ones, -unit], np.concatenate([[1.0], np.zeros(d)])
    settings = solver.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    matrix = sparse.vstack(rows, format="csc")
    work = solver.DefaultSolver(quadratic, linear, matrix, ends, cones(len(ends) - 1), settings)
    answer = work.solve()
    return time.perf_counter() - begun, answer.obj_val


def by_piqp(x):
    """Long-only variance: seconds and objective."""
    d = x.shape[1]
    begun = time.perf_counter()
    mean, covariance = moments(x)
    work = piqp.DenseSolver()
    work.settings.eps_abs = work.settings.eps_rel = 1e-9
    none, zeros = np.zeros((0, d)), np.zeros(d)
    bound = {"x_l": zeros, "x_u": np.full(d, np.inf)}
    work.setup(2 * covariance, -mean, np.ones((1, d)), np.ones(1), none, None, None, **bound)
    work.solve()
    return time.perf_counter() - begun, work.result.info.primal_obj


def by_innermean(timed, folder, rounds):
    """What `experiments/src/bin/desk.rs` prints, by file and problem."""
    done = subprocess.run([timed, folder, str(rounds)], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {(line["file"], line["problem"]): line for line in lines}


QUADRATIC = [
    "long-only variance",
    "at most a fifth each",
    "least variance, target return",
    "gross exposure 1.6",
]


def others(x):
    """Problems that are no quadratic programs: names, flags, and the problem for cvxpy."""
    mean, n = x.mean(axis=0), len(x)
    theta = cp.Variable(x.shape[1])
    below = cp.sum_squares(cp.neg((x - mean) @ theta)) / n
    absolute = cp.norm1((x - mean) @ theta) / n
    budget = [theta >= 0, cp.sum(theta) == 1]
    long_only = ["--constraint", "long-only"]
    return [
        ("semivariance", [*long_only, "--risk", "semivariance"], below - mean @ theta, budget),
        ("absolute deviation", [*long_only, "--risk", "absolute"], absolute - mean @ theta, budget),
    ]


def compare_files(program, timed, folder, rounds):
    found = {}
    ours = by_innermean(timed, folder, 10 * rounds)
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".csv"):
            continue
        path = os.path.join(folder, name)
        x = read(path)
        for title in QUADRATIC:
            theirs = [from_returns(title, x) for _ in range(10 * rounds)]
            (seconds, value), own = min(theirs), ours[name, title]
            off = (own["objective"] - value) / (1 + abs(value))
            status = "solved" if own["solved"] else "not solved"
            found.setdefault(title, []).append((name, own["seconds"] / seconds, off, status))
        for title, flags, objective, constraints in others(x):
            # The least of each: whatever else the machine does takes part of the others.
            own, theirs = [], []
            while len(own) < rounds and sum(theirs) < 1.0:
                answer, _ = innermean(program, path, *flags)
                value, seconds = clarabel(objective, constraints)
                own.append(answer["seconds"])
                theirs.append(seconds)
            off = (answer["objective"] - value) / (1 + abs(value))
            row = (name, min(own) / min(theirs), off, answer["status"])
            found.setdefault(title, []).append(row)
    return found


def compare_many_assets(timed, rounds, days=3000, assets=1500):
    """Long-only variance of a factor market with many assets."""
    rng = np.random.default_rng(3)
    common = rng.normal(size=(days, 10)) @ rng.normal(size=(10, assets))
    own = 0.02 * rng.normal(size=(days, assets))
    x = rng.normal(5e-4, 5e-4, assets) + 0.005 * common + own
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "many.npy"), x)
        own = by_innermean(timed, folder, rounds)["many.npy", QUADRATIC[0]]
    seconds, value = min(by_piqp(x) for _ in range(rounds))
    return [
        f"| long-only, {days} days x {assets} assets | seconds | ratio | objective |",
        "|---|---|---|---|",
        f"| innermean | {own['seconds']:.3f} | | {own['objective']:.9e} |",
        f"| numpy and PIQP | {seconds:.3f} | {own['seconds'] / seconds:.3f} | {value:.9e} |",
        "",
    ]


def cvar_by_highs(x, level):
    """min t + mean max(-<x, theta> - t, 0) / (1 - level), long-only: theta, t, excesses."""
    n, d = x.shape
    cost = np.concatenate([np.zeros(d), [1.0], np.full(n, 1 / ((1 - level) * n))])
    parts = [sparse.csr_matrix(-x), -np.ones((n, 1)), -sparse.identity(n)]
    rows = sparse.hstack(parts, format="csr")
    total = sparse.csr_matrix(np.concatenate([np.ones(d), np.zeros(n + 1)]))
    bounds = [(0, None)] * d + [(None, None)] + [(0, None)] * n
    best, value = float("inf"), 0.0
    for method in ("highs-ds", "highs-ipm"):
        start = time.perf_counter()
        answer = linprog(cost, rows, np.zeros(n), total, [1.0], bounds=bounds, method=method)
        best, value = min(best, time.perf_counter() - start), answer.fun
    return value, best


def compare_cvar(program, folder):
    rng = np.random.default_rng(1)
    factors = rng.standard_t(4, size=(5000, 5))
    own = rng.standard_t(4, size=(5000, 100))
    x = 0.02 + factors @ rng.normal(size=(5, 100)) * 0.3 + own * 0.5
    path = os.path.join(folder, "tails.csv")
    write(path, x)
    least = ["--constraint", "long-only", "--objective", "min-risk"]
    # As close as Clarabel is asked to come.
    risk = ["--risk", "cvar", "--level", "0.95", "--tolerance", "1e-9"]
    answer, _ = innermean(program, path, *least, *risk)
    theta, t = cp.Variable(100), cp.Variable()
    excess = cp.sum(cp.pos(-x @ theta - t)) / (0.05 * 5000)
    value, by_clarabel = clarabel(t + excess, [theta >= 0, cp.sum(theta) == 1])
    other, by_highs = cvar_by_highs(x, 0.95)
    return answer, [("Clarabel", value, by_clarabel), ("HiGHS", other, by_highs)]


def compare_studies(program, folder, rounds):
    rng = np.random.default_rng(2)
    common = rng.normal(size=(2500, 3)) @ rng.normal(size=(3, 40))
    x = 0.0004 + common * 0.005 + rng.normal(size=(2500, 40)) * 0.01
    path = os.path.join(folder, "returns.csv")
    write(path, x)
    asked = [path, "--constraint", "long-only"]
    # One portfolio by itself: behind a frontier it finds the covariances made.
    many = []
    for _ in range(3 * rounds):
        plain, wall_plain = innermean(program, *asked)
        answer, wall = innermean(program, *asked, "--frontier", "50")
        many.append((answer["frontier"]["seconds"], plain["seconds"], wall, wall_plain))
    frontier, one, wall_frontier, wall_plain = (min(column) for column in zip(*many))
    more = frontier / one
    walk = ["--walk-forward", "500,20", "--unit", "fraction"]
    _, wall_walk = innermean(program, *asked, "--objective", "min-risk", *walk)
    from skfolio.model_selection import WalkForward, cross_val_predict
    from skfolio.optimization import MeanRisk
    start = time.perf_counter()
    cross_val_predict(MeanRisk(), x, cv=WalkForward(train_size=500, test_size=20))
    by_skfolio = time.perf_counter() - start
    return one, wall_plain, wall_frontier, more, wall_walk, by_skfolio


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("timed")
    parser.add_argument("--combinations", type=int, default=210)
    parser.add_argument("--files", default="../shared/data/portfolio")
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    lines = [
        "# Portfolios beside other solvers",
        "",
        "Made by `experiments/desk/run`. Ratios are innermean's least time over the other's.",
        "",
    ]
    if os.path.isdir(asked.files):
        lines += [
            "| problem | files | ratio to Clarabel | largest | objectives differ | solved |",
            "|---|---|---|---|---|---|",
        ]
        for title, rows in compare_files(
            asked.program, asked.timed, asked.files, asked.rounds
        ).items():
            ratios = [row[1] for row in rows]
            off = max(abs(row[2]) for row in rows)
            solved = sum(row[3] == "solved" for row in rows)
            usual, most = statistics.median(ratios), max(ratios)
            row = [title, str(len(rows)), f"{usual:.3f}", f"{most:.3f}", f"{off:.1e}", str(solved)]
            lines.append(f"| {' | '.join(row)} |")
        lines.append("")
    else:
        print(f"skipped: the comparison on files (no folder {asked.files})")
    lines += compare_many_assets(asked.timed, asked.rounds)
    with tempfile.TemporaryDirectory() as folder:
        answer, peers = compare_cvar(asked.program, folder)
        seconds = answer["seconds"]
        lines += [
            "| CVaR of 5 000 x 100, long-only | seconds | ratio | objective |",
            "|---|---|---|---|",
        ]
        own = f"{seconds:.3f} | | {answer['objective']:.9f}"
        lines.append(f"| innermean ({answer['status']}) | {own} |")
        for name, value, other in peers:
            lines.append(f"| {name} | {other:.3f} | {seconds / other:.3f} | {value:.9f} |")
        studies = compare_studies(asked.program, folder, asked.rounds)
        one, plain, frontier, more, walk, skfolio = studies
        lines += ["", "| study of 2 500 x 40, whole commands | seconds | |", "|---|---|---|"]
        lines.append(f"| one portfolio (of which {1000 * one:.1f} ms solving) | {plain:.3f} | |")
        lines.append(f"| a frontier of 50 points | {frontier:.3f} | {more:.1f} times one solve |")
        part = f"{walk / skfolio:.3f} of skfolio's {skfolio:.3f} s"
        lines.append(f"| a walk of 100 windows | {walk:.3f} | {part} |")
        found = options.compare(asked.program, folder, asked.combinations, 1, asked.files)
        lines += ["", *options.lines(found)]
    text = "\n".join(lines) + "\n"
    print(text)
    with open("experiments/results/desk.md", "w") as out:
        out.write(text)


if __name__ == "__main__":
    main()
