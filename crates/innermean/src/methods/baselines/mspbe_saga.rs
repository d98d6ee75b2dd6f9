//! SAGA for the projected Bellman error: Algorithm 3 of Du, Chen, Li, Xiao and Zhou, "Stochastic
//! Variance Reduction Methods for Policy Evaluation", ICML 2017.
//!
//! Asks of the problem: one outer term, a quadratic form as phi and an affine f (see `field.rs`).
//! Linear rate where A and C are regular. Per step: 1 value of f and 1 product with f', time
//! `O(d)`; once, `T` values. Products with C belong to `phi*` and are free. Storage: `2 T d`. (From
//! features, 3 numbers for each t would do; f is not asked what its values are made of.)

use serde::{Deserialize, Serialize};

use super::field::{FieldSteps, Follows, SETTINGS, Saddle};
use crate::draws::Stream;
use crate::linalg::vector::{Aligned, axpy, axpy_of_difference, update_with_both};
use crate::methods::{Ask, Chosen, Family, Form, Guarded, Listed, Method, MethodInfo, Rate};
use crate::model::problem::Objective;
use crate::oracle::Oracle;
use crate::tuning::choice::Choice;

/// SAGA with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MspbeSaga {
    /// The steps.
    #[serde(flatten)]
    pub steps: FieldSteps,
    /// The seed of the draws.
    pub seed: u64,
}

/// Theta and w, and the table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    at: Saddle,
    ascents: Table,
    descents: Table,
    draws: Stream,
}

/// One part of the field at each t, as last seen, and the mean of these.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Table {
    rows: Vec<f64>,
    mean: Aligned,
    /// What leaves the table
    old: Aligned,
}

impl Table {
    fn new(samples: usize, width: usize) -> Self {
        Table {
            rows: vec![0.0; samples * width],
            mean: Aligned::zeros(width),
            old: Aligned::zeros(width),
        }
    }

    /// `part` takes the place of row t and becomes `part - row t + mean`, all with the old mean.
    #[inline(always)]
    fn correct(&mut self, t: usize, part: &mut [f64]) {
        let width = part.len();
        let share = width as f64 / self.rows.len() as f64;
        let row = &mut self.rows[t * width..(t + 1) * width];
        self.old.copy_from_slice(row);
        row.copy_from_slice(part);
        update_with_both(part, &self.old, &self.mean, |new, old, mean| new - old + mean);
        axpy_of_difference(share, row, &self.old, &mut self.mean);
    }
}

impl Listed for MspbeSaga {
    const INFO: MethodInfo = MethodInfo {
        name: "mspbe-saga",
        title: "SAGA for MSPBE",
        family: Family::PolicyEvaluation,
        summary: "the field of single samples, corrected by a table of past ones",
        reference: "Du et al. 2017, Algorithm 3",
        storage: "n_Y d",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::QuadraticForm],
        settings: SETTINGS,
    };

    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self> {
        let steps = FieldSteps::choose(choice, problem, theta, Follows::Single)?;
        Ok(MspbeSaga { steps, seed: choice.seed })
    }
}

impl Method for MspbeSaga {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let (samples, ell) = (oracle.n_y(0), oracle.ell());
        let mut s = State {
            at: Saddle::new(theta, ell),
            ascents: Table::new(samples, ell),
            descents: Table::new(samples, theta.len()),
            draws: Stream::new(self.seed, 0),
        };
        // With w = 0 the products are known to be zero, and only values are asked for.
        let State { ascents, at, .. } = &mut s;
        for (t, row) in ascents.rows.chunks_exact_mut(ell).enumerate() {
            oracle.value(&at.theta, 0, t, row);
            axpy(1.0 / samples as f64, row, &mut ascents.mean);
        }
        s
    }

    fn inner_iterations(&self, s: &State) -> usize {
        s.ascents.rows.len() / s.at.w.len()
    }

    /// Differs: theta follows the new w, as in `pdbg.rs`.
    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let t = s.draws.index(oracle.n_y(0));
        s.at.sample_ascent(oracle, t);
        s.ascents.correct(t, &mut s.at.ascent);
        s.at.ascend(self.steps.alpha_w);
        s.at.sample_descent(oracle, t);
        s.descents.correct(t, &mut s.at.descent);
        s.at.descend(oracle, self.steps.alpha_theta);
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.steps.guarded(None, &mut self.seed)
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.at.theta
    }

    fn duals<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        Some(&s.at.w)
    }
}
