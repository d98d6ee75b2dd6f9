"""Estimates and standard errors of statsmodels, linearmodels and scipy, for peers.json.

pip install statsmodels linearmodels scipy numpy; python peers.py > peers.json
"""

import json

import numpy as np
import statsmodels.api as sm
from linearmodels.iv import IV2SLS, IVGMM
from scipy import stats
from scipy.interpolate import BSpline

rng = np.random.default_rng(11)
n = 90
group = rng.integers(0, 15, n)
common = rng.normal(size=15)[group]
z = np.round(rng.normal(size=(n, 3)), 3)
shock = rng.normal(size=n)
price = np.round(z @ [0.8, -0.5, 0.3] + shock + 0.3 * common, 3)
x = np.round(rng.normal(size=n), 3)
noise = 0.3 * rng.normal(size=n) * (1 + x**2)
y = np.round(1.0 - 2.0 * price + 0.5 * x + 1.5 * shock + common + noise, 3)
label = (0.4 + 0.8 * x - 0.5 * price + rng.logistic(size=n) + 0.5 * common > 0).astype(float)
weight = np.round(rng.uniform(0.2, 3.0, n), 3)
scores = np.column_stack([np.zeros(n), 0.5 * x, 0.3 - 0.4 * price]) + rng.gumbel(size=(n, 3))
kind = scores.argmax(axis=1)

exog = np.column_stack([price, x, np.ones(n)])
answers = {}


def put(name, fitted, **more):
    cov = fitted.cov if hasattr(fitted, "cov") else fitted.cov_params()
    answers[name] = {
        "theta": np.asarray(fitted.params).ravel(order="F").tolist(),
        "covariance": np.asarray(cov).ravel().tolist(),
        **more,
    }


tight = {"disp": 0, "method": "newton", "tol": 1e-14, "maxiter": 100}
clusters = {"cov_type": "cluster", "cov_kwds": {"groups": group}}
serial = {"cov_type": "HAC", "cov_kwds": {"maxlags": 3, "use_correction": True}}
kinds = [("hc0", {"cov_type": "HC0"}), ("hc1", {"cov_type": "HC1"}), ("clustered", clusters)]
for suffix, cov in [*kinds, ("serial", serial)]:
    put(f"least_squares_{suffix}", sm.OLS(y, exog).fit(**cov))
    put(f"weighted_{suffix}", sm.WLS(y, exog, weights=weight).fit(**cov))
for suffix, cov in kinds:
    put(f"logistic_{suffix}", sm.Logit(label, exog).fit(**cov, **tight))
    put(f"classes_{suffix}", sm.MNLogit(kind, exog).fit(**cov, **tight))
binomial = sm.GLM(label, exog, family=sm.families.Binomial(), var_weights=weight)
put("weighted_logistic_hc0", binomial.fit(cov_type="HC0", tol=1e-14, maxiter=100))

# linearmodels puts the exogenous regressors first.
iv = dict(dependent=y, exog=exog[:, 1:], endog=price, instruments=z)
by_group = {"clusters": group}
for suffix, config in [("unadjusted", {}), ("robust", {}), ("clustered", by_group)]:
    for debiased in [False, True]:
        fitted = IV2SLS(**iv).fit(cov_type=suffix, debiased=debiased, **config)
        j = [float(fitted.sargan.stat), float(fitted.sargan.pval)]
        put(f"two_stages_{suffix}" + ("_debiased" if debiased else ""), fitted, j=j)
    for steps in [2, 500]:
        model = IVGMM(**iv, weight_type=suffix, **config)
        fitted = model.fit(iter_limit=steps, tol=1e-26, cov_type=suffix, **config)
        j = [float(fitted.j_stat.stat), float(fitted.j_stat.pval)]
        put(("two_steps_" if steps == 2 else "iterated_") + suffix, fitted, j=j)
fitted = IVGMM(**iv, weight_type="robust").fit(iter_limit=2, cov_type="unadjusted")
put("two_steps_robust_then_unadjusted", fitted)
fitted = IVGMM(**iv, weight_type="kernel", bandwidth=3).fit(
    iter_limit=2, cov_type="kernel", bandwidth=3, debiased=True)
j = [float(fitted.j_stat.stat), float(fitted.j_stat.pval)]
put("two_steps_serial", fitted, j=j)

# LSTD: features as instruments for the differences of features.
now = np.column_stack([x, np.ones(n)])
after = np.column_stack([np.round(0.6 * x + 0.5 * rng.normal(size=n), 3), np.ones(n)])
reward = np.round(1.0 + x + rng.normal(size=n) + 0.3 * common, 3)
lstd = dict(dependent=reward, exog=None, endog=now - 0.9 * after, instruments=now)
put("lstd_robust", IV2SLS(**lstd).fit(cov_type="robust", debiased=True))
put("lstd_clustered", IV2SLS(**lstd).fit(cov_type="clustered", clusters=group, debiased=True))

knots = np.r_[[0.0] * 4, 0.3, 0.45, 0.8, [1.0] * 4]
points = np.array([0.0, 0.1, 0.3, 0.31, 0.7, 0.95, 1.0, 1.1, -0.2])
basis = BSpline(knots, np.eye(7), 3)(points)

probabilities = [1e-10, 1e-4, 0.025, 0.3, 0.9, 0.975, 0.9999]
degrees = [1.0, 2.0, 3.5, 17.0, 200.0, 5000.0, 20000.0]
statistics = [0.01, 0.7, 3.0, 11.0, 40.0, 150.0]
distributions = {
    "normal_quantile": [[p, stats.norm.ppf(p)] for p in probabilities],
    "t_quantile": [[nu, p, stats.t.ppf(p, nu)] for nu in degrees for p in probabilities],
    "t_cdf": [[nu, t, stats.t.cdf(t, nu)] for nu in degrees for t in [-6.0, -0.3, 0.0, 1.0, 2.5]],
    "chi_squared_tail": [[nu, s, stats.chi2.sf(s, nu)] for nu in [1.0, 2.0, 5.0, 30.0]
                         for s in statistics],
}

print(json.dumps({
    "group": group.tolist(), "x": x.tolist(), "price": price.tolist(), "y": y.tolist(),
    "label": label.tolist(), "weight": weight.tolist(), "kind": kind.tolist(),
    "z": z.ravel().tolist(), "after": after[:, 0].tolist(), "reward": reward.tolist(),
    "points": points.tolist(), "basis": basis.ravel().tolist(),
    **distributions, **answers}))
