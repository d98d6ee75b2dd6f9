"""What the Python package costs, beside native code and other software.

Times are CPU seconds of the process (all threads), each the least of some rounds; what is compared
takes turns within a round, so that a busy machine slows both.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import time
import warnings

import numpy as np

warnings.simplefilter("ignore")
ROOT = pathlib.Path(__file__).parents[2]


def cpu(work):
    """CPU seconds of a call, and what it returned."""
    before = time.process_time()
    found = work()
    return time.process_time() - before, found


def turns(rounds, **works):
    """The least CPU seconds of each, called in turns; and what each returned last."""
    seconds, found = dict.fromkeys(works, math.inf), {}
    for _ in range(rounds):
        for name, work in works.items():
            took, found[name] = cpu(work)
            seconds[name] = min(seconds[name], took)
    return seconds, found


def returns(periods, assets, seed=0):
    """Returns by three factors, as of days."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(0.0, 0.01, (periods, 3))
    own = rng.normal(0.0, 0.01, (periods, assets))
    return 3e-4 + factors @ rng.normal(0.5, 0.5, (3, assets)) + own * rng.uniform(0.5, 2.0, assets)


def skfolio(rounds):
    """Portfolio beside skfolio's MeanRisk, and in a walk of 100 folds."""
    import pandas
    from skfolio import RiskMeasure
    from skfolio.model_selection import WalkForward, cross_val_predict
    from skfolio.optimization import MeanRisk, ObjectiveFunction

    import innermean

    X = returns(2500, 40)
    lines = []
    measures = {
        "variance": RiskMeasure.VARIANCE,
        "semivariance": RiskMeasure.SEMI_VARIANCE,
        "absolute": RiskMeasure.MEAN_ABSOLUTE_DEVIATION,
    }
    utility = ObjectiveFunction.MAXIMIZE_UTILITY
    digits = {f"tol_{name}": 1e-12 for name in ("gap_abs", "gap_rel", "feas")}
    for risk, measure in measures.items():
        how = {"risk_measure": measure, "objective_function": utility, "risk_aversion": 2.0}
        ours = innermean.Portfolio(risk, risk_aversion=2.0, ddof=1)
        theirs = MeanRisk(**how)
        # Weights are compared with all the digits that either can find.
        exact = innermean.Portfolio(risk, risk_aversion=2.0, ddof=1, tolerance=1e-15).fit(X)
        judge = MeanRisk(**how, solver_params=digits).fit(X)
        apart = np.abs(exact.weights_ - judge.weights_).max()
        seconds, found = turns(rounds, ours=lambda: ours.fit(X), theirs=lambda: theirs.fit(X))
        usual = np.abs(found["ours"].weights_ - judge.weights_).max()
        ratio = seconds["ours"] / seconds["theirs"]
        text = f"{1e3 * seconds['ours']:.1f} ms and {1e3 * seconds['theirs']:.0f} ms"
        text += f"; weights differ by {apart:.0e}, with the default tolerance by {usual:.0e}"
        lines.append((f"`Portfolio` / `MeanRisk`, {risk}, 2500 x 40", ratio, 0.15, text))
    dates = pandas.date_range("2000-01-03", periods=2500, freq="B")
    frame = pandas.DataFrame(X[:, :20], index=dates, columns=[f"a{k}" for k in range(20)])
    walk = WalkForward(train_size=400, test_size=21)
    semi = {"risk_measure": measures["semivariance"], "objective_function": utility}
    model = innermean.Portfolio("semivariance", risk_aversion=2.0, ddof=1)
    seconds, _ = turns(
        max(1, rounds // 3),
        ours=lambda: cross_val_predict(model, frame, cv=walk),
        theirs=lambda: cross_val_predict(MeanRisk(**semi, risk_aversion=2.0), frame, cv=walk),
    )
    folds = len(list(walk.split(frame)))
    text = f"{seconds['ours']:.2f} s and {seconds['theirs']:.2f} s"
    name = f"the same in `WalkForward` of {folds} folds, semivariance"
    return [*lines, (name, seconds["ours"] / seconds["theirs"], 0.25, text)]


def own_f(rounds):
    """The same problem by the library's f and by f of one's own."""
    import jax
    import jax.numpy as jnp

    import innermean
    from innermean import g, phi, problems

    rng = np.random.default_rng(1)
    d, sizes = 30, rng.integers(20, 81, 2000)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.normal(size=(len(groups), d)) / math.sqrt(d)
    share = rng.uniform(0.2, 0.8, len(sizes))

    def f_one(theta, x, y):
        score = 0.0
        for k in range(d):
            score += y[k] * theta[k]
        return 1.0 / (1.0 + math.exp(-score)) - x[0]

    def vjp_one(theta, x, y, w, out):
        score = 0.0
        for k in range(d):
            score += y[k] * theta[k]
        s = 1.0 / (1.0 + math.exp(-score))
        slope = w * s * (1.0 - s)
        for k in range(d):
            out[k] += slope * y[k]
        return s - x[0]

    def sigmoid(u):
        return 1.0 / (1.0 + np.exp(-u))

    def f_rows(theta, x, y):
        return sigmoid(y @ theta) - x[:, 0]

    def vjp_rows(theta, x, y, w):
        s = sigmoid(y @ theta)
        return (w * s * (1.0 - s)) @ y

    def f_jax(theta, x, y):
        return jax.nn.sigmoid(jnp.dot(y, theta)) - x[0]

    penalty, data = g.ridge(1e-3), {"d": d, "x": share, "y": y, "groups": groups}
    levels = {
        "native": problems.groups(y, groups, phi.square(), penalty, targets=share),
        "numba": innermean.Problem(innermean.kernel(f_one, vjp_one, **data), phi.square(), penalty),
        "numpy": innermean.Problem(
            innermean.batched(f_rows, vjp_rows, **data), phi.square(), penalty
        ),
        "jax": innermean.Problem(innermean.jax(f_jax, **data), phi.square(), penalty),
    }
    # A step is what a longer run takes more, over the steps that it makes more.
    steps = {"tolerance": None, "max_outer": 2, "alpha_theta": 1e-3, "alpha_w": 1.0}
    works = {
        (level, inner): (
            lambda level=level, inner=inner: levels[level].solve(
                "svrpda1", inner_iterations=inner, **steps
            )
        )
        for inner in (20_000, 120_000)
        for level in ("native", "numba")
    }
    seconds, found = turns(rounds, **{f"{level} {inner}": w for (level, inner), w in works.items()})
    each = {}
    for level in ("native", "numba"):
        more = found[f"{level} 120000"].inner - found[f"{level} 20000"].inner
        each[level] = 1e9 * (seconds[f"{level} 120000"] - seconds[f"{level} 20000"]) / more
    text = f"{each['numba']:.0f} ns and {each['native']:.0f} ns"
    name = "a step of SVRPDA-I by numba / native"
    lines = [(name, each["numba"] / each["native"], 1.25, text)]
    methods = {
        "native": ["auto", "newton", "lbfgs", "prox-linear"],
        "numba": ["auto", "newton", "lbfgs", "prox-linear"],
        "numpy": ["auto", "newton", "lbfgs", "prox-linear"],
        "jax": ["auto", "newton", "lbfgs"],
    }
    best = {}
    for level, names in methods.items():
        problem = levels[level]
        problem.solve(max_outer=1)  # compiles
        works = {name: (lambda name=name: problem.solve(name)) for name in names}
        few = max(1, rounds // (3 if level == "jax" else 1))
        took, found = turns(few, **works)
        assert all(run.success for run in found.values()), found
        best[level] = took
        rest = min(took[name] for name in names if name != "auto")
        shown = ", ".join(f"{name} {1e3 * took[name]:.0f}" for name in names)
        text = f"took {found['auto'].method}; CPU ms: {shown}"
        lines.append((f"`auto` / the best other method, {level}", took["auto"] / rest, 1.5, text))
    native, numba = best["native"]["auto"], best["numba"]["auto"]
    text = f"{1e3 * numba:.0f} ms and {1e3 * native:.0f} ms"
    lines.append(("a whole solve by numba / native, `auto`", numba / native, 1.6, text))
    for level in ("numpy", "jax"):
        ratio = best[level]["lbfgs"] / best["native"]["lbfgs"]
        text = f"{1e3 * best[level]['lbfgs']:.0f} ms and {1e3 * best['native']['lbfgs']:.0f} ms"
        lines.append((f"L-BFGS by {level} / native", ratio, 5.0, text))
    return lines


def small(rounds):
    """A small portfolio from Python."""
    from innermean import g, phi, problems

    problem = problems.portfolio(returns(250, 20), phi.square(2.0), g.simplex())
    times = []
    for _ in range(200 * rounds):
        before = time.perf_counter()
        found = problem.solve()
        times.append(time.perf_counter() - before)
    assert found.success
    least, middle = 1e6 * min(times), 1e6 * float(np.median(times))
    text = f"least of {len(times)}; the median is {middle:.0f}; the method takes "
    text += f"{1e6 * found.seconds:.0f}"
    return [("a portfolio of 250 x 20 from Python, us (wall)", least, 100.0, text)]


PEAK = """
import json, numpy as np
from innermean import BagClassifier, LinearRegressor, g, phi, problems
megabytes, kind = {megabytes}, {kind!r}
d = 200
n = int(megabytes * 1e6 / 8 / d)
X = np.random.default_rng(0).standard_normal((n, d))
X += 0.01

def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1e3

theta = np.linspace(-1.0, 1.0, d)
y = X @ theta
share = np.full(n // 100, 0.5)
groups = np.minimum(np.arange(n) // 100, len(share) - 1)
few = dict(method="lbfgs", max_outer=10, tolerance=None)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = status("VmRSS")
if kind == "portfolio":
    found = problems.portfolio(X, phi.square(), g.simplex()).solve()
elif kind == "linear":
    found = problems.linear(X, phi.square(), g.ridge(0.1), y=y).solve()
elif kind == "groups":
    found = problems.groups(X, groups, phi.bernoulli(share), g.ridge(0.1)).solve(**few)
elif kind == "LinearRegressor":
    found = LinearRegressor(l2=0.1).fit(X, y).result_
elif kind == "LinearRegressor(scaling=False)":
    found = LinearRegressor(l2=0.1, scaling=False).fit(X, y).result_
else:
    found = BagClassifier(l2=0.1, method="lbfgs", max_outer=10).fit(X, y > 0, groups=groups).result_
print(json.dumps([before, status("VmHWM") - before, found.seconds]))
"""


def memory(rounds, megabytes=1000):
    """What a large array costs on top of itself."""
    lines = []
    kinds = ["portfolio", "linear", "groups", "LinearRegressor", "LinearRegressor(scaling=False)"]
    for kind in [*kinds, "BagClassifier"]:
        script = PEAK.format(megabytes=megabytes, kind=kind)
        told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert told.returncode == 0, told.stderr
        before, on_top, _ = json.loads(told.stdout)
        named = kind if kind[0].isupper() else f"problems.{kind}"
        text = f"on top of {before:.0f} MB: X of {megabytes} MB in 200 columns, y, imports"
        lines.append((f"`{named}`, peak MB", on_top, 60.0, text))
    return lines


def packaging(rounds, wheel):
    """The size of the wheel, and importing."""
    script = "import time, numpy; t = time.perf_counter(); import innermean; "
    script += "innermean.problems, innermean.Problem; print(time.perf_counter() - t)"
    times = []
    for _ in range(3 * rounds):
        told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        times.append(float(told.stdout))
    size = os.path.getsize(wheel) / 1e6
    return [
        ("import on top of numpy, ms (wall)", 1e3 * min(times), 100.0, f"least of {len(times)}"),
        ("wheel, MB", size, 5.0, "for Linux, one for every Python from 3.10 on"),
    ]


PAGE = ROOT / "experiments/results/python.md"


def page(lines, rounds, note):
    """The table, as a page; lines that were not measured now are those of the page before."""
    known = PAGE.read_text().splitlines() if PAGE.exists() else []
    rows = {line.split(" | ")[0]: line for line in known if line.startswith("| ")}
    rows.pop("| what", None)
    for name, value, limit, text in lines:
        shown = f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
        rows[f"| {name}"] = f"| {name} | {shown} | {limit:g} | {text} |"
    out = [
        "# What the Python package costs",
        "",
        "Written by `experiments/python/run`; what each line is stands in "
        "`experiments/python/measure.py`.",
        f"CPU seconds of all threads, least of {rounds} rounds (fewer where they are long), in "
        "turns; two shared cores. `at most` is what was aimed at.",
        *([note] if note else []),
        "",
        "| what | found | at most | in numbers |",
        "|---|---|---|---|",
    ]
    out.extend(rows.values())
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--wheel", required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--note", default="")
    parser.add_argument("--megabytes", type=int, default=1000)
    args = parser.parse_args()
    sections = {
        "skfolio": skfolio,
        "own_f": own_f,
        "small": small,
        "memory": lambda rounds: memory(rounds, args.megabytes),
        "packaging": lambda rounds: packaging(rounds, args.wheel),
    }
    lines = []
    for name, section in sections.items():
        if not args.only or name in args.only:
            for line in section(args.rounds):
                print(f"{line[0]}: {line[1]:.3g} (at most {line[2]}); {line[3]}", flush=True)
                lines.append(line)
    PAGE.write_text(page(lines, args.rounds, args.note))


if __name__ == "__main__":
    main()
