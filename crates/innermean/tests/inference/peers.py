"""Standard errors by statsmodels and linearmodels, for peers.json.

pip install statsmodels linearmodels numpy; python peers.py > peers.json
"""

import json

import numpy as np
import statsmodels.api as sm
from linearmodels.iv import IV2SLS, IVGMM

rng = np.random.default_rng(11)
n = 90
group = rng.integers(0, 15, n)
common = rng.normal(size=15)[group]
z = np.round(rng.normal(size=(n, 3)), 3)
shock = rng.normal(size=n)
price = np.round(z @ [0.8, -0.5, 0.3] + shock + 0.3 * common, 3)
x = np.round(rng.normal(size=n), 3)
y = np.round(1.0 - 2.0 * price + 0.5 * x + 1.5 * shock + common + 0.3 * rng.normal(size=n) * (1 + x**2), 3)
label = (0.4 + 0.8 * x - 0.5 * price + rng.logistic(size=n) + 0.5 * common > 0).astype(float)

exog = np.column_stack([price, x, np.ones(n)])
instruments = np.column_stack([z, x, np.ones(n)])
answers = {}


def put(name, fitted):
    answers[name] = {"theta": list(map(float, np.asarray(fitted.params))), "covariance": np.asarray(
        fitted.cov if hasattr(fitted, "cov") else fitted.cov_params()).ravel().tolist()}
    return answers[name]


tight = {"disp": 0, "method": "newton", "tol": 1e-14, "maxiter": 100}
put("least_squares_hc1", sm.OLS(y, exog).fit(cov_type="HC1"))
put("least_squares_clustered", sm.OLS(y, exog).fit(cov_type="cluster", cov_kwds={"groups": group}))
put("logistic_hc1", sm.Logit(label, exog).fit(cov_type="HC1", **tight))
put("logistic_clustered", sm.Logit(label, exog).fit(
    cov_type="cluster", cov_kwds={"groups": group}, **tight))
iv = dict(dependent=y, exog=exog[:, 1:], endog=price, instruments=z)
# linearmodels puts the exogenous regressors first.
put("two_stages_robust", IV2SLS(**iv).fit(cov_type="robust", debiased=True))
put("two_stages_clustered", IV2SLS(**iv).fit(cov_type="clustered", clusters=group, debiased=True))
two = IVGMM(**iv, weight_type="robust", center=False).fit(iter_limit=2, cov_type="robust")
put("two_steps_robust", two)["j"] = [float(two.j_stat.stat), float(two.j_stat.pval)]
two = IVGMM(**iv, weight_type="clustered", clusters=group, center=False).fit(
    iter_limit=2, cov_type="clustered", clusters=group)
put("two_steps_clustered", two)["j"] = [float(two.j_stat.stat), float(two.j_stat.pval)]

print(json.dumps({
    "group": group.tolist(), "x": x.tolist(), "price": price.tolist(), "y": y.tolist(),
    "label": label.tolist(), "z": z.ravel().tolist(), **answers}, indent=None))
