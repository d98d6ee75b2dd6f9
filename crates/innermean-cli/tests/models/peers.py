"""What scikit-learn says about rows.csv: peers.json, which the tests compare with.

python -m venv venv && venv/bin/pip install scikit-learn && venv/bin/python peers.py
"""

import csv
import json
from pathlib import Path

import numpy as np
import sklearn
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import PredefinedSplit, cross_val_score

here = Path(__file__).parent
rows, folds = 60, 5
draw = np.random.default_rng(16)
X = draw.normal(size=(rows, 4)) * [1.0, 2.0, 0.5, 1.0] + [0.0, 1.0, 0.0, 0.0]
X = X.round(3)
y = (1.5 * X[:, 0] - 0.5 * X[:, 1] + 0.3 * X[:, 2] + draw.normal(size=rows)).round(3)
two = np.where(y + draw.normal(size=rows) > 0.8, "yes", "no")
three = np.array(["a", "b", "c"])[
    np.argmax(X[:, :3] @ draw.normal(size=(3, 3)) + draw.gumbel(size=(rows, 3)), axis=1)
]
fold = draw.permutation(rows) % folds
with open(here / "rows.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["x1", "x2", "x3", "x4", "y", "two", "three", "fold"])
    for i in range(rows):
        out.writerow([*X[i], y[i], two[i], three[i], f"f{fold[i]}"])

split = PredefinedSplit(fold)
outside = rows - rows // folds


def scores(model, target, scoring):
    found = cross_val_score(model, X, target, cv=split, scoring=scoring)
    return {"mean": found.mean(), "standard_error": found.std(ddof=1) / np.sqrt(folds)}


def logistic(l2, n, **more):
    return LogisticRegression(C=1 / (l2 * n), tol=1e-13, max_iter=100_000, **more)


weights = [0.3, 0.1, 0.01]
whole = {
    "balanced": logistic(0.01, rows, class_weight="balanced").fit(X, two),
    "by_name": logistic(0.01, 1.0, class_weight={"no": 1.0, "yes": 3.0}),
    "three": logistic(0.02, rows).fit(X, three),
}
# The mean of the weights is brought to 1.
mean = np.where(two == "yes", 3.0, 1.0).mean()
whole["by_name"] = logistic(0.01, rows * mean, class_weight={"no": 1.0, "yes": 3.0}).fit(X, two)
answer = {
    "scikit-learn": sklearn.__version__,
    "weights": weights,
    "ridge mse": [scores(Ridge(alpha=w * outside), y, "neg_mean_squared_error") for w in weights],
    "ridge r2": [scores(Ridge(alpha=w * outside), y, "r2") for w in weights],
    "lasso mae": [
        scores(Lasso(alpha=w, tol=1e-14, max_iter=100_000), y, "neg_mean_absolute_error")
        for w in weights
    ],
    "logistic log-loss": [scores(logistic(w, outside), two, "neg_log_loss") for w in weights],
    "logistic accuracy": [scores(logistic(w, outside), two, "accuracy") for w in weights],
    "three log-loss": [scores(logistic(w, outside), three, "neg_log_loss") for w in weights],
    "coefficients": {
        name: {
            "classes": model.classes_.tolist(),
            "coefficients": model.coef_.tolist(),
            "intercepts": model.intercept_.tolist(),
            "probabilities": model.predict_proba(X[:5]).tolist(),
        }
        for name, model in whole.items()
    },
}
(here / "peers.json").write_text(json.dumps(answer, indent=1) + "\n")
