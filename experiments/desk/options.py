"""Random combinations of the options of `innermean portfolio`, each against cvxpy and Clarabel.

A combination is drawn around weights that meet all of it, so that it has an answer. The weights
that the command prints are judged by numpy: objective, and by how much they miss a constraint.
"""

import csv
import json
import os
import subprocess

import cvxpy as cp
import numpy as np

RISKS = ["variance", "semivariance", "absolute", "huber", "cvar", "entropic", "kelly"]


def markets(folder):
    """Returns by name: daily and monthly, heavy tails, columns nearly alike, mixed sizes."""
    rng = np.random.default_rng(17)

    def factors(n, d, count, size, own, mean):
        common = rng.normal(size=(n, count)) @ rng.normal(size=(count, d))
        return mean + size * common + own * rng.normal(size=(n, d)) * rng.uniform(0.5, 2.0, d)

    found = {
        "daily, 750 x 12": factors(750, 12, 3, 0.005, 0.006, rng.normal(4e-4, 3e-4, 12)),
        "monthly, 120 x 8": factors(120, 8, 2, 0.02, 0.03, rng.normal(6e-3, 4e-3, 8)),
        "heavy tails, 500 x 15": 4e-4 + 0.008 * rng.standard_t(3, size=(500, 15)).clip(-12, 12),
        "nearly alike, 400 x 6": factors(400, 6, 1, 0.01, 3e-4, rng.normal(5e-4, 1e-4, 6)),
        "few periods, 40 x 10": factors(40, 10, 2, 0.01, 0.02, rng.normal(4e-3, 2e-3, 10)),
        "mixed sizes, 300 x 10": 3e-4 + rng.normal(size=(300, 10)) * np.geomspace(1e-3, 4e-2, 10),
    }
    if folder and os.path.isdir(folder):
        name = sorted(name for name in os.listdir(folder) if name.endswith(".csv"))[0]
        real = np.genfromtxt(os.path.join(folder, name), delimiter=",", skip_header=1)
        found[f"{name[:-4]}, 600 x 25"] = real[-600:, 1:] / 100
    return found


class Draw:
    """One combination: files and flags for the command, the same for cvxpy and for numpy."""

    def __init__(self, x, rng, folder):
        self.rng, self.folder, self.flags = rng, folder, []
        self.names = [f"a{k}" for k in range(x.shape[1])]
        self.z, self.l1, self.l2, self.cost, self.rf = None, 0.0, 0.0, 0.0, 0.0
        self.budget, self.target, self.gross, self.turnover = None, None, None, None
        self.current, self.groups = np.zeros(x.shape[1]), []
        self.periods(x)
        self.weights()
        self.measure()
        if self.budget is None:
            self.limits()
            self.aimed()

    def often(self, share):
        return self.rng.random() < share

    def table(self, name, head, rows):
        path = os.path.join(self.folder, name)
        with open(path, "w", newline="") as out:
            csv.writer(out).writerows([head, *rows])
        return path

    def periods(self, x):
        """Returns with or without weights and a benchmark; or moments, or a factor model."""
        rng, d = self.rng, x.shape[1]
        self.p = np.full(len(x), 1 / len(x))
        kind = rng.choice(["plain", "half-life", "weight", "benchmark", "moments", "factors"],
                          p=[0.4, 0.12, 0.12, 0.16, 0.1, 0.1])
        self.kind, self.x = kind, x
        full = lambda row: [repr(float(v)) for v in row]
        if kind in ("moments", "factors"):
            mean = x.mean(axis=0)
            rows = [[a, repr(float(m))] for a, m in zip(self.names, mean)]
            self.flags += ["--mean", self.table("mean.csv", ["asset", "mean"], rows)]
            if kind == "moments":
                sigma = np.cov(x, rowvar=False, bias=True)
                rows = [[a, *full(row)] for a, row in zip(self.names, sigma)]
                head = ["asset", *self.names]
                self.flags += ["--covariance", self.table("covariance.csv", head, rows)]
            else:
                b, f = rng.normal(size=(d, 2)), np.diag(rng.uniform(1e-5, 1e-4, 2))
                own = rng.uniform(1e-5, 1e-4, d)
                sigma = b @ f @ b.T + np.diag(own)
                rows = [[a, *full(row)] for a, row in zip(self.names, b)]
                head = ["asset", "f1", "f2"]
                self.flags += ["--factors", self.table("factors.csv", head, rows)]
                rows = [[a, *full(row)] for a, row in zip(["f1", "f2"], f)]
                head = ["factor", "f1", "f2"]
                self.flags += ["--factor-covariance", self.table("between.csv", head, rows)]
                rows = [[a, repr(float(v))] for a, v in zip(self.names, own)]
                self.flags += ["--specific", self.table("own.csv", ["asset", "variance"], rows)]
            self.m, self.root = mean, np.linalg.cholesky(sigma).T
            return
        head, columns = list(self.names), x
        if kind == "half-life":
            life = float(rng.integers(30, 300))
            self.p = np.exp2(-np.arange(len(x))[::-1] / life)
            self.flags += ["--half-life", str(life)]
        elif kind == "weight":
            self.p = rng.uniform(0.2, 2.0, len(x))
            head, columns = ["w", *head], np.column_stack([self.p, x])
            self.flags += ["--weight", "w"]
        elif kind == "benchmark":
            self.z = x @ rng.dirichlet(np.ones(d)) + rng.normal(size=len(x)) * 1e-3
            head, columns = [*head, "index"], np.column_stack([x, self.z])
            self.flags += ["--benchmark", "index"]
        path = self.table("returns.csv", head, [full(row) for row in columns])
        self.flags = [path, "--prices", "none", *self.flags]
        self.p = self.p / self.p.sum()
        self.m = self.p @ x

    def weights(self):
        """A constraint by name, and weights that meet it."""
        rng, d = self.rng, len(self.names)
        moments = self.kind in ("moments", "factors")
        if (moments or self.kind in ("plain", "half-life")) and self.often(0.12):
            self.budget = rng.uniform(0.5, 2.0, d)
            rows = [[a, repr(float(b))] for a, b in zip(self.names, self.budget)]
            self.flags += ["--risk-budget", self.table("budget.csv", ["asset", "budget"], rows)]
            return
        self.lo, self.hi, self.sum = 0.0, np.inf, 1.0
        self.at = rng.dirichlet(np.ones(d))
        kind = rng.choice(["long-only", "sum-to-one", "box"], p=[0.5, 0.3, 0.2])
        if kind == "long-only":
            self.flags += ["--constraint", kind]
        else:
            self.at = self.at + rng.normal(size=d) * 0.05
            self.sum = None
            if kind == "sum-to-one":
                self.at, self.sum = self.at / self.at.sum(), 1.0
            self.lo = float(np.round(self.at.min() - 0.1, 3))
            self.hi = float(np.round(self.at.max() + 0.2, 3))
            self.flags += ["--constraint", f"{kind}={self.lo},{self.hi}"]
        self.long_only = kind == "long-only"

    def measure(self):
        rng = self.rng
        few = self.budget is not None or self.kind in ("moments", "factors")
        self.risk = "variance" if few else str(rng.choice(RISKS))
        self.level, self.gamma, self.h = 0.9, 30.0, 0.01
        if self.risk != "variance":
            self.flags += ["--risk", self.risk]
        if self.risk == "cvar":
            self.level = float(rng.choice([0.8, 0.9, 0.95]))
            self.flags += ["--level", str(self.level)]
        if self.risk == "entropic":
            self.flags += ["--exponent", str(self.gamma)]
        if self.risk == "huber":
            self.flags += ["--huber-width", str(self.h)]

    def limits(self):
        rng, d = self.rng, len(self.names)
        self.lower, self.upper = np.full(d, self.lo), np.full(d, self.hi)
        if self.often(0.4):
            group = [f"g{k}" for k in rng.integers(0, 3, d)]
            rows = []
            for l, name in enumerate(self.names):
                lower = upper = ""
                if self.often(0.5):
                    lower = float(np.round(max(self.lower[l], self.at[l] - rng.uniform(0, 0.1)), 6))
                    lower = min(lower, self.at[l])
                    self.lower[l] = lower
                if self.often(0.5):
                    upper = float(np.round(self.at[l] + rng.uniform(1e-6, 0.1), 6)) + 1e-6
                    self.upper[l] = min(self.upper[l], upper)
                rows.append([name, lower, upper, group[l]])
            head = ["asset", "lower", "upper", "group"]
            self.flags += ["--limits", self.table("limits.csv", head, rows)]
            if self.often(0.6):
                rows = []
                for name in sorted(set(group)):
                    own = np.array([own == name for own in group], dtype=float)
                    total = float(own @ self.at)
                    lower = round(total - rng.uniform(0.01, 0.1), 6)
                    upper = round(total + rng.uniform(0.01, 0.1), 6)
                    self.groups.append((own, lower, upper))
                    rows.append([name, lower, upper])
                head = ["group", "lower", "upper"]
                self.flags += ["--group-limits", self.table("groups.csv", head, rows)]
        if not self.long_only and self.often(0.3):
            self.gross = float(np.abs(self.at).sum() * rng.uniform(1.0, 1.3)) + 1e-6
            self.flags += ["--gross", repr(self.gross)]
        if self.often(0.3):
            self.current = rng.dirichlet(np.ones(d))
            rows = [[a, repr(float(w))] for a, w in zip(self.names, self.current)]
            self.flags += ["--current", self.table("current.csv", ["asset", "weight"], rows)]
            if self.often(0.6):
                self.turnover = float(np.abs(self.at - self.current).sum() * 1.05) + 1e-6
                self.flags += ["--turnover", repr(self.turnover)]
            self.has_cost = self.often(0.5)
        else:
            self.has_cost = False
        if self.often(0.25):
            self.target = float(self.m @ self.at - rng.uniform(0, 1e-4))
            self.flags += ["--target-return", repr(self.target)]

    def aimed(self):
        """What is sought; costs and norms go with the two that have an objective."""
        rng = self.rng
        self.aim = str(rng.choice(["utility", "min-risk", "max-return", "max-sharpe"],
                                  p=[0.45, 0.25, 0.15, 0.15]))
        ratio = self.risk in ("variance", "semivariance", "absolute") and self.z is None
        # Without a budget the ratio is that of all multiples, and refused.
        ratio = ratio and self.sum is not None
        if self.aim == "max-sharpe" and not ratio:
            self.aim = "utility"
        if self.aim == "max-return" and self.risk_of(self.at) <= 0:
            self.aim = "utility"
        self.c = 1.0
        if self.aim != "utility":
            self.flags += ["--objective", self.aim]
        if self.aim in ("utility", "min-risk"):
            if self.aim == "utility":
                self.c = float(np.round(np.exp(rng.uniform(-1, 4)), 3))
                self.flags += ["--risk-aversion", str(self.c)]
            if self.has_cost:
                self.cost = 1e-4
                self.flags += ["--cost", "0.0001"]
            if not self.long_only and self.often(0.2):
                self.l1 = 1e-4
                self.flags += ["--l1", "0.0001"]
            if self.often(0.2):
                self.l2 = 1e-3
                self.flags += ["--l2", "0.001"]
        elif self.aim == "max-return":
            risk = self.risk_of(self.at)
            self.most = float(self.in_units(risk) + 0.05 * abs(self.in_units(risk)))
            self.flags += ["--max-risk", repr(self.most)]
        else:
            self.rf = float(self.m @ self.at - rng.uniform(2e-4, 1e-3))
            self.flags += [f"--risk-free={self.rf!r}"]

    def in_units(self, risk):
        return np.sqrt(max(risk, 0)) if self.risk in ("variance", "semivariance") else risk

    def risk_of(self, theta):
        """By numpy."""
        if self.kind in ("moments", "factors"):
            return float(np.sum((self.root @ theta) ** 2))
        r = self.x @ theta - (0 if self.z is None else self.z)
        u = r - self.p @ r
        if self.risk == "variance":
            return float(self.p @ u**2)
        if self.risk == "semivariance":
            return float(self.p @ np.minimum(u, 0) ** 2)
        if self.risk == "absolute":
            return float(self.p @ np.abs(u))
        if self.risk == "huber":
            wide = np.abs(u) - self.h / 2
            return float(self.p @ np.where(np.abs(u) <= self.h, u**2 / (2 * self.h), wide))
        if self.risk == "cvar":
            order = np.argsort(r, kind="stable")
            before = np.cumsum(self.p[order]) - self.p[order]
            share = np.clip((1 - self.level) - before, 0, self.p[order])
            return float(share @ -r[order] / (1 - self.level))
        if self.risk == "entropic":
            most = np.max(-self.gamma * r)
            mean = np.log(self.p @ np.exp(-self.gamma * r - most))
            return float(most + mean) / self.gamma
        return float(-self.p @ np.log1p(r))

    def expression(self, theta, kappa=1.0):
        """For cvxpy: the risk, or its root where kappa is a variable."""
        if self.kind in ("moments", "factors"):
            deviations = self.root @ theta
            return cp.norm(deviations) if self.aimed_ratio() else cp.sum_squares(deviations)
        r = self.x @ theta - (0 if self.z is None else self.z)
        u = (self.x - self.m) @ theta - (0 if self.z is None else self.z - self.p @ self.z)
        root = np.sqrt(self.p)
        if self.risk == "variance":
            u = cp.multiply(root, u)
            return cp.norm(u) if self.aimed_ratio() else cp.sum_squares(u)
        if self.risk == "semivariance":
            u = cp.multiply(root, cp.neg(u))
            return cp.norm(u) if self.aimed_ratio() else cp.sum_squares(u)
        if self.risk == "absolute":
            return self.p @ cp.abs(u)
        if self.risk == "huber":
            return self.p @ cp.huber(u, self.h) / (2 * self.h)
        if self.risk == "cvar":
            t = cp.Variable()
            return t + self.p @ cp.pos(-r - t) / (1 - self.level)
        if self.risk == "entropic":
            return cp.log_sum_exp(-self.gamma * r + np.log(self.p)) / self.gamma
        return -self.p @ cp.log(1 + r)

    def aimed_ratio(self):
        return self.budget is None and self.aim in ("max-sharpe", "max-return")

    def asked(self, theta, kappa=1.0):
        """All constraints of the weights, times kappa."""
        found = [theta[l] >= kappa * low for l, low in enumerate(self.lower) if np.isfinite(low)]
        found += [theta[l] <= kappa * up for l, up in enumerate(self.upper) if np.isfinite(up)]
        if self.sum is not None:
            found.append(cp.sum(theta) == kappa)
        for own, lower, upper in self.groups:
            found += [own @ theta >= kappa * lower, own @ theta <= kappa * upper]
        if self.gross is not None:
            found.append(cp.norm1(theta) <= kappa * self.gross)
        if self.turnover is not None:
            found.append(cp.norm1(theta - kappa * self.current) <= kappa * self.turnover)
        if self.target is not None:
            found.append(self.m @ theta >= kappa * self.target)
        return found

    def missed(self, theta):
        """The most that a constraint is missed by."""
        by = [0.0]
        if self.budget is not None:
            return max(by + [abs(theta.sum() - 1)])
        by += [np.max(self.lower - theta), np.max(theta - self.upper)]
        if self.sum is not None:
            by.append(abs(theta.sum() - 1))
        for own, lower, upper in self.groups:
            by += [lower - own @ theta, own @ theta - upper]
        if self.gross is not None:
            by.append(np.abs(theta).sum() - self.gross)
        if self.turnover is not None:
            by.append(np.abs(theta - self.current).sum() - self.turnover)
        if self.target is not None:
            by.append(self.target - self.m @ theta)
        if self.aim == "max-return":
            by.append(self.in_units(self.risk_of(theta)) - self.most)
        return float(max(by))

    def value(self, theta):
        """What is minimised, of the weights that were printed."""
        if self.budget is not None:
            # theta is divided by its sum: the best multiple of it is where the derivative is 0.
            size = np.sqrt(self.budget.sum() / (2 * self.risk_of(theta)))
            return self.risk_of(size * theta) - self.budget @ np.log(size * theta)
        if self.aim == "max-sharpe":
            return -(self.m @ theta - self.rf) / self.in_units(self.risk_of(theta))
        if self.aim == "max-return":
            return -self.m @ theta
        value = self.c * self.risk_of(theta) + self.cost * np.abs(theta - self.current).sum()
        value += self.l1 * np.abs(theta).sum() + 0.5 * self.l2 * theta @ theta
        return value - (self.m @ theta if self.aim == "utility" else 0.0)

    def by_clarabel(self):
        """The weights that Clarabel finds, judged like others; and how it ended."""
        theta, kappa = cp.Variable(len(self.names)), 1.0
        if self.budget is not None:
            objective = self.expression(theta) - self.budget @ cp.log(theta)
            asked = []
        elif self.aim == "max-sharpe":
            kappa = cp.Variable(nonneg=True)
            # In units in which the answer is about 1.
            unit = float(self.m @ self.at - self.rf)
            objective = self.expression(theta, kappa) / self.in_units(self.risk_of(self.at))
            asked = [*self.asked(theta, kappa), (self.m @ theta - self.rf * kappa) / unit == 1]
        elif self.aim == "max-return":
            objective = -self.m @ theta * 1e3
            asked = [*self.asked(theta), self.expression(theta) * 1e2 <= self.most * 1e2]
        else:
            objective = self.c * self.expression(theta) + self.cost * cp.norm1(theta - self.current)
            objective += self.l1 * cp.norm1(theta) + 0.5 * self.l2 * cp.sum_squares(theta)
            objective = (objective - (self.m @ theta if self.aim == "utility" else 0)) * 1e2
            asked = self.asked(theta)
        problem = cp.Problem(cp.Minimize(objective), asked)
        tight = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
        # Where so much is asked that rounding ends it, as much as it usually gives.
        for accuracy in (tight, {}):
            try:
                problem.solve(solver=cp.CLARABEL, **accuracy)
                break
            except cp.error.SolverError:
                continue
        else:
            return None, "failed"
        if theta.value is None:
            return None, problem.status
        found = theta.value / (1.0 if isinstance(kappa, float) else kappa.value)
        return (found / found.sum() if self.budget is not None else found), problem.status


def compare(program, folder, count, seed, data):
    """Combinations one after the other: market, drawn, what came out."""
    found, sets = [], list(markets(data).items())
    for k in range(count):
        market, x = sets[k % len(sets)]
        draw = Draw(x, np.random.default_rng([seed, k]), folder)
        command = [program, "portfolio", *draw.flags, "--tolerance", "1e-8", "--json"]
        try:
            limit = [*command, "--max-seconds", "30"]
            done = subprocess.run(limit, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            error = "no answer within two minutes"
            found.append({"market": market, "risk": draw.risk, "flags": draw.flags, "error": error})
            continue
        row = {"market": market, "risk": draw.risk, "flags": draw.flags}
        row["aim"] = "risk budget" if draw.budget is not None else draw.aim
        reference, status = draw.by_clarabel()
        row["status"] = status
        if done.returncode == 2:
            found.append({**row, "error": done.stderr.strip()})
            continue
        answer = json.loads(done.stdout)
        theta = np.array(answer["theta"])
        row["solved"] = answer["status"] == "solved"
        row["missed"] = draw.missed(theta)
        row["gap"] = answer["certificate"]["gap"]
        if reference is not None:
            best, ours = draw.value(reference), draw.value(theta)
            row["off"] = (ours - best) / (1e-3 + abs(best))
            row["reference_missed"] = draw.missed(reference)
        found.append(row)
    return found


def lines(found):
    """A table, a line for each risk, and what was not as it should be."""
    text = [
        f"{len(found)} combinations of options drawn at random on "
        f"{len({row['market'] for row in found})} markets, each beside cvxpy and Clarabel "
        "(`experiments/desk/options.py`). Objectives are those of the printed weights, computed by "
        "numpy; a difference is relative, below 0 where innermean's is better.",
        "",
        "| risk | combinations | objectives differ by | constraints missed by | proven |",
        "|---|---|---|---|---|",
    ]
    odd = []
    for risk in RISKS:
        rows = [row for row in found if row["risk"] == risk]
        good = [row for row in rows if "error" not in row]
        offs = [row["off"] for row in good if "off" in row]
        missed = max((row["missed"] for row in good), default=0.0)
        proven = sum(row["solved"] and row["gap"] is not None for row in good)
        span = f"{min(offs):.1e} to {max(offs):.1e}" if offs else ""
        text.append(f"| {risk} | {len(rows)} | {span} | {max(missed, 0):.1e} | {proven} |")
    for row in found:
        is_off = row.get("off", 0.0) > 1e-6 or row.get("missed", 0.0) > 1e-9
        if "error" in row or is_off or not row["solved"] or "off" not in row:
            odd.append(row)
    for row in odd:
        flags = " ".join(os.path.basename(flag) for flag in row["flags"])
        what = row.get("error") or ", ".join(
            f"{key} {row[key]}" for key in ("status", "solved", "off", "missed") if key in row
        )
        text.append(f"\nNot as it should be ({row['market']}): `{flags}`: {what}")
    return text


if __name__ == "__main__":
    import sys
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        count, seed = int(sys.argv[2]), int(sys.argv[3])
        data = sys.argv[4] if len(sys.argv) > 4 else "../shared/data/portfolio"
        print("\n".join(lines(compare(sys.argv[1], folder, count, seed, data))))
