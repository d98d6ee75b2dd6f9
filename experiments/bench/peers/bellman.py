"""Policy evaluation by the mean squared Bellman error: a linear least-squares problem once P Psi is known."""

import os

import numpy as np

from peer import Peer


class Case:
    def __init__(self, folder, case):
        load = lambda name: np.load(os.path.join(folder, name + ".npy"))
        self.transitions, self.rewards, self.features = load("transitions"), load("rewards"), load("features")
        self.discount = case["discount"]
        self.peers = [
            Peer("numpy normal equations", [None], self.normal_equations),
            Peer("numpy lstsq", [None], self.least_squares),
        ]
        self.reference = ["numpy lstsq", None]

    def predictors(self):
        rows = self.features - self.discount * (self.transitions @ self.features)
        return rows, np.einsum("ij,ij->i", self.transitions, self.rewards)

    def normal_equations(self, _):
        rows, targets = self.predictors()
        return np.linalg.solve(rows.T @ rows, rows.T @ targets)

    def least_squares(self, _):
        rows, targets = self.predictors()
        return np.linalg.lstsq(rows, targets, rcond=None)[0]
