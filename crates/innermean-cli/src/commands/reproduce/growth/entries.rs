//! The methods of Table 1, with their steps and the bounds that the paper has for them.

use innermean::StepRule;

use super::Point;

/// A method, how its steps are found, and the bound that the paper has for it.
pub(in crate::commands::reproduce) struct Entry {
    pub(in crate::commands::reproduce) name: &'static str,
    pub(super) method: &'static str,
    pub(super) steps: Steps,
    /// In words.
    pub(in crate::commands::reproduce) claim: Option<&'static str>,
    bound: fn(f64, f64, f64) -> f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Steps {
    Rule(StepRule),
    Tuned,
}

const AUTOMATIC: Steps = Steps::Rule(StepRule::Automatic);

/// The entries of each case.
pub(super) const GENERAL: &[Entry] = &[
    Entry {
        name: "SVRPDA-I, steps of Theorem 1",
        method: "svrpda1",
        steps: Steps::Rule(StepRule::Theorem1),
        claim: Some("n_X n_Y + n_X κ"),
        bound: |n_x, n_y, kappa| n_x * n_y + n_x * kappa,
    },
    Entry {
        name: "SVRPDA-I, no settings",
        method: "svrpda1",
        steps: AUTOMATIC,
        claim: Some("n_X n_Y + n_X κ"),
        bound: |n_x, n_y, kappa| n_x * n_y + n_x * kappa,
    },
    Entry {
        name: "SVRPDA-II, no settings",
        method: "svrpda2",
        steps: AUTOMATIC,
        claim: None,
        bound: |_, _, _| 1.0,
    },
];
pub(super) const SHARED: &[Entry] = &[
    Entry {
        name: "SVRPDA-I, steps of Theorem 1",
        method: "svrpda1",
        steps: Steps::Rule(StepRule::Theorem1),
        claim: Some("n_X + n_Y + n_X κ"),
        bound: |n_x, n_y, kappa| n_x + n_y + n_x * kappa,
    },
    Entry {
        name: "SVRPDA-I, no settings",
        method: "svrpda1",
        steps: AUTOMATIC,
        claim: Some("n_X + n_Y + n_X κ"),
        bound: |n_x, n_y, kappa| n_x + n_y + n_x * kappa,
    },
    Entry {
        name: "Comp-SVRG-1, tuned",
        method: "comp-svrg1",
        steps: Steps::Tuned,
        claim: Some("n_X + n_Y + κ³"),
        bound: |n_x, n_y, kappa| n_x + n_y + kappa.powi(3),
    },
    Entry {
        name: "C-SAGA, tuned",
        method: "c-saga",
        steps: Steps::Tuned,
        claim: Some("n_X + n_Y + (n_X + n_Y) κ"),
        bound: |n_x, n_y, kappa| (n_x + n_y) * (1.0 + kappa),
    },
    Entry {
        name: "ASCVRG, tuned",
        method: "ascvrg",
        steps: Steps::Tuned,
        claim: None,
        bound: |_, _, _| 1.0,
    },
];
pub(super) const SINGLE: &[Entry] = &[
    Entry {
        name: "SVRPDA-I, no settings",
        method: "svrpda1",
        steps: AUTOMATIC,
        claim: Some("n_Y + κ"),
        bound: |_, n_y, kappa| n_y + kappa,
    },
    Entry {
        name: "Comp-SVRG-1, tuned",
        method: "comp-svrg1",
        steps: Steps::Tuned,
        claim: Some("n_Y + κ³"),
        bound: |_, n_y, kappa| n_y + kappa.powi(3),
    },
    Entry {
        name: "C-SAGA, tuned",
        method: "c-saga",
        steps: Steps::Tuned,
        claim: Some("n_Y + n_Y κ"),
        bound: |_, n_y, kappa| n_y + n_y * kappa,
    },
    Entry {
        name: "MSPBE-SVRG, tuned",
        method: "mspbe-svrg",
        steps: Steps::Tuned,
        claim: Some("n_Y + κ²"),
        bound: |_, n_y, kappa| n_y + kappa.powi(2),
    },
    Entry {
        name: "MSPBE-SAGA, tuned",
        method: "mspbe-saga",
        steps: Steps::Tuned,
        claim: Some("n_Y + κ²"),
        bound: |_, n_y, kappa| n_y + kappa.powi(2),
    },
];
pub(super) const PREDICTORS: &[Entry] = &[
    Entry {
        name: "SVRPDA-I, steps of Theorem 3",
        method: "svrpda1",
        steps: Steps::Rule(StepRule::Theorem3),
        claim: Some("n_X + κ"),
        bound: |n_x, _, kappa| n_x + kappa,
    },
    Entry {
        name: "SVRPDA-I, no settings",
        method: "svrpda1",
        steps: AUTOMATIC,
        claim: Some("n_X + κ"),
        bound: |n_x, _, kappa| n_x + kappa,
    },
    Entry {
        name: "SPDC, its own steps",
        method: "spdc",
        steps: AUTOMATIC,
        claim: Some("n_X + √(n_X κ)"),
        bound: |n_x, _, kappa| n_x + (n_x * kappa).sqrt(),
    },
];

impl Entry {
    /// The paper's bound without its logarithm.
    pub(in crate::commands::reproduce) fn bound(&self, Point { n_x, n_y, kappa }: &Point) -> f64 {
        (self.bound)(*n_x as f64, *n_y as f64, *kappa)
    }
}
