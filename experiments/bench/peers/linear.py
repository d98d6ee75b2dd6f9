"""Linear predictors: (1/n) sum_i loss(y_i, <x_i, theta>) + l1 |theta|_1 + (l2/2) |theta|^2, no intercept.

Logistic loss log(1 + exp(-y u)), squared hinge max(1 - y u, 0)^2, square (u - y)^2 / 2. How each library weighs its terms:

    scikit-learn, classes   C sum_i loss + |theta|^2 / 2                        C = 1 / (n l2)
    scikit-learn, lasso     (1/2n) sum_i (u - y)^2 + alpha |theta|_1            alpha = l1
    celer, skglm            as scikit-learn's lasso and elastic net
    cyanure                 (1/n) sum_i loss + lambda_1 ...                     its squared hinge is half of ours, and so is l2
"""

import os

import numpy as np
from scipy import sparse
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.svm import LinearSVC

from peer import Peer, iterations, tolerances

try:
    from celer import ElasticNet as CelerNet
    from celer import Lasso as CelerLasso
except ImportError:
    CelerNet = CelerLasso = None
try:
    from skglm import ElasticNet as SkglmNet
    from skglm import Lasso as SkglmLasso
except ImportError:
    SkglmNet = SkglmLasso = None
try:
    from cyanure.estimators import Classifier, Regression
except ImportError:
    Classifier = Regression = None

# Below any tolerance: the number of iterations decides.
NEVER = 1e-16
MOST = 3000
CYANURE = ["auto", "qning-svrg", "qning-miso", "qning-ista", "acc-svrg", "catalyst-miso"]


class Case:
    def __init__(self, folder, case):
        load = lambda name: np.load(os.path.join(folder, name + ".npy"))
        self.y = load("targets").ravel()
        if case["sparse"]:
            starts, columns = load("starts").ravel().astype(np.int32), load("columns").ravel().astype(np.int32)
            self.x = sparse.csr_matrix((load("values").ravel(), columns, starts), shape=(len(self.y), case["d"]))
        else:
            self.x = load("rows")
        self.loss, self.l1, self.l2 = case["loss"], case["l1"], case["l2"]
        self.dense = not case["sparse"]
        peers = {"logistic": self.logistic, "squared-hinge": self.squared_hinge, "square": self.square}
        self.peers = peers[self.loss]() + (self.cyanure() if Classifier else [])
        self.reference = {
            "logistic": ["newton-cholesky", 30] if self.dense else ["newton-cg", 60],
            "squared-hinge": ["LinearSVC primal", 100],
            "square": ["ElasticNet", 1000],
        }[self.loss]

    def logistic(self):
        c = 1.0 / (len(self.y) * self.l2)

        def by(solver):
            def solve(count):
                model = LogisticRegression(
                    C=c, fit_intercept=False, solver=solver, tol=NEVER, max_iter=count, random_state=0
                )
                return model.fit(self.x, self.y).coef_.ravel()

            return solve

        solvers = ["lbfgs", "newton-cg", "liblinear", "sag", "saga"] + (["newton-cholesky"] if self.dense else [])
        return [Peer(solver, iterations(MOST), by(solver)) for solver in solvers]

    def squared_hinge(self):
        c = 1.0 / (len(self.y) * self.l2)

        def by(dual):
            def solve(count):
                model = LinearSVC(
                    C=c, loss="squared_hinge", dual=dual, fit_intercept=False, tol=NEVER, max_iter=count, random_state=0
                )
                return model.fit(self.x, self.y).coef_.ravel()

            return solve

        return [
            Peer("LinearSVC primal", iterations(MOST), by(False)),
            Peer("LinearSVC dual", iterations(MOST), by(True)),
        ]

    def square(self):
        ratio = self.l1 / (self.l1 + self.l2)
        order = np.asfortranarray(self.x) if self.dense else self.x.tocsc()

        def by(selection):
            def solve(count):
                model = ElasticNet(
                    alpha=self.l1 + self.l2, l1_ratio=ratio, fit_intercept=False, tol=NEVER, max_iter=count,
                    selection=selection, random_state=0,
                )
                return model.fit(order, self.y).coef_.ravel()

            return solve

        # They have no number of iterations that says when to stop: tolerances. The first solve compiles and is not timed.
        def by_sets(net, lasso):
            def solve(tolerance):
                if self.l2 > 0:
                    model = net(alpha=self.l1 + self.l2, l1_ratio=ratio, fit_intercept=False, tol=tolerance)
                else:
                    model = lasso(alpha=self.l1, fit_intercept=False, tol=tolerance)
                return model.fit(order, self.y).coef_.ravel()

            solve(1.0)
            return solve

        kinds = [("celer", CelerNet, CelerLasso), ("skglm", SkglmNet, SkglmLasso)]
        sets = [Peer(name, tolerances(-2, -12), by_sets(net, lasso)) for name, net, lasso in kinds if lasso]
        return sets + [
            Peer("ElasticNet", iterations(MOST), by("cyclic")),
            Peer("ElasticNet random", iterations(MOST), by("random")),
        ]

    def cyanure(self):
        loss = {"logistic": "logistic", "squared-hinge": "sqhinge", "square": "square"}[self.loss]
        half = 0.5 if self.loss == "squared-hinge" else 1.0
        penalty = {"penalty": "l2", "lambda_1": half * self.l2}
        if self.l1 > 0:
            penalty = {"penalty": "elasticnet", "lambda_1": half * self.l1, "lambda_2": half * self.l2}
            if self.l2 == 0:
                penalty = {"penalty": "l1", "lambda_1": half * self.l1}
        kind = Regression if self.loss == "square" else Classifier

        def by(solver):
            def solve(count):
                model = kind(
                    loss=loss, fit_intercept=False, solver=solver, tol=0.0, max_iter=count, duality_gap_interval=count + 1,
                    verbose=False, n_threads=2, **penalty,
                )
                return np.asarray(model.fit(self.x, self.y).get_weights()).ravel()

            return solve

        return [Peer(f"cyanure {solver}", iterations(MOST), by(solver)) for solver in CYANURE]
