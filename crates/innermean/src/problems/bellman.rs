//! Policy evaluation by the mean squared Bellman error: the paper's appendix "Additional
//! experiments on MDP policy evaluation".
//!
//! Under a policy, S states pass into each other with probabilities `P_ij` and rewards `r_ij`. The
//! value of state i is sought as `<Psi_i, theta>` with features `Psi_i` in `R^d`:
//!
//! ```text
//! min over theta of  (1/S) sum_i phi( <Psi_i, theta> - sum_j P_ij (r_ij + discount <Psi_j, theta>) ) + g(theta),  phi = u^2
//! f_theta(x_i, y_ij) = <Psi_i, theta> - S P_ij (r_ij + discount <Psi_j, theta>),  n_X = n_Y = S,  ell = 1
//! ```
//!
//! f is affine. Its averages `fbar_i = <Psi_i - discount sum_j P_ij Psi_j, theta> - sum_j P_ij
//! r_ij` are linear predictors, found once: a snapshot takes S rows of time. It counts as `2 S^2`
//! calls all the same, as in the paper: every pair belongs to one outer term alone.

use std::sync::OnceLock;

use crate::linalg::vector::{axpy, dot, prefetch, row_dots, sum, update, update_with};
use crate::model::collapse::{Collapsed, by_averages};
use crate::model::inner::{Bounds, Facts, Fused, Inner, Lost, Passes, Rows, TransitionRow};
use crate::model::setting::InvalidSetting;
use crate::model::shared::SharedForm;
use crate::run::checkpoint::Hash;
use crate::tuning::choice::Choice;

mod shared;
mod survey;

use survey::{ROW_SUM, Survey, reach, survey};

/// The f of the mean squared Bellman error.
#[derive(Debug, Clone)]
pub struct Bellman {
    states: usize,
    d: usize,
    discount: f64,
    /// P, S rows of S
    transitions: Vec<f64>,
    /// r, S rows of S or, if rewards depend on where a transition begins alone, S numbers
    rewards: Vec<f64>,
    /// Psi, S rows of d
    features: Vec<f64>,
    /// `fbar_i`
    averages: Collapsed,
    /// A bound on `|Psi_i - S P_ij discount Psi_j|`, once asked for
    b_f: OnceLock<f64>,
}

impl Bellman {
    /// Takes `features` as rows of length `d`, one for each of S states, `transitions` as S rows of
    /// S, and `rewards` as S rows of S or one for each state.
    ///
    /// # Errors
    /// Unless the numbers are as many as they should be and finite, each row of transitions is a
    /// distribution and the discount lies in [0, 1).
    pub fn new(
        d: usize,
        features: Vec<f64>,
        transitions: Vec<f64>,
        rewards: Vec<f64>,
        discount: f64,
    ) -> Result<Self, InvalidSetting> {
        let states = Self::check(d, &features, &transitions, &rewards, discount)?;
        let Survey { expected, rewards: expected_rewards, suspect } =
            survey(d, &features, &transitions, &rewards);
        if let Some(row) = suspect {
            check_row(states, &transitions, row)?;
        }
        let averages = averages(d, &features, expected, expected_rewards, discount);
        // An average with a reward that is not finite is not finite either, not even where its
        // probability is zero.
        if !averages.offsets().iter().all(|b| b.is_finite()) {
            check_finite("rewards", &rewards, rewards.len() / states)?;
        }
        Ok(Bellman {
            states,
            d,
            discount,
            transitions,
            rewards,
            features,
            averages,
            b_f: OnceLock::new(),
        })
    }

    /// The number of states, if all is as it should be; P is left to the survey, and rewards to
    /// their averages.
    fn check(
        d: usize,
        features: &[f64],
        transitions: &[f64],
        rewards: &[f64],
        discount: f64,
    ) -> Result<usize, InvalidSetting> {
        if d == 0 || features.is_empty() || !features.len().is_multiple_of(d) {
            return Err(InvalidSetting::new(
                "features",
                format!("{} numbers in rows of {d}", features.len()),
                "at least one whole row of at least one number",
            ));
        }
        let states = features.len() / d;
        if transitions.len() != states * states {
            return Err(InvalidSetting::new(
                "transitions",
                format!("{} numbers", transitions.len()),
                format!("{states} rows of {states}, as there are features of {states} states"),
            ));
        }
        if rewards.len() != states * states && rewards.len() != states {
            return Err(InvalidSetting::new(
                "rewards",
                format!("{} numbers", rewards.len()),
                format!("{states} rows of {states}, or one number for each of {states} states"),
            ));
        }
        check_finite("features", features, d)?;
        if !(0.0..1.0).contains(&discount) {
            return Err(InvalidSetting::new(
                "discount",
                format!("{discount:?}"),
                "a number in [0, 1)",
            ));
        }
        Ok(states)
    }

    /// S
    pub fn states(&self) -> usize {
        self.states
    }

    /// The discount of what comes a step later.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// `<Psi_i, theta>` for each state.
    pub fn values(&self, theta: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; self.states];
        row_dots(&self.features, self.d, theta, &mut values);
        values
    }

    /// What the paper chose for its two sizes, `S = 10` and `S = 10^4`: appendix "Additional
    /// experiments on MDP policy evaluation".
    pub fn paper_choice(&self, method: &str) -> Option<Choice> {
        let primal_dual = |alpha_theta: f64, alpha_w: f64, inner_iterations: usize| Choice {
            alpha_theta: Some(alpha_theta),
            alpha_w: Some(alpha_w),
            inner_iterations: Some(inner_iterations),
            ..Choice::default()
        };
        let c_saga = |alpha_theta: f64, batch: usize| Choice {
            alpha_theta: Some(alpha_theta),
            batch: Some(batch),
            ..Choice::default()
        };
        match (self.states, method) {
            (10, "svrpda1") => Some(primal_dual(0.1, 0.25, 150)),
            (10, "svrpda2") => Some(primal_dual(0.5, 1.25, 15)),
            (10, "c-saga") => Some(c_saga(0.1, 1)),
            (10_000, "svrpda1") => Some(primal_dual(0.01, 16e4, 13_500)),
            (10_000, "svrpda2") => Some(primal_dual(0.01, 16e4, 1350)),
            (10_000, "c-saga") => Some(c_saga(0.0005, 100)),
            _ => None,
        }
    }

    #[inline(always)]
    fn psi(&self, i: usize) -> &[f64] {
        &self.features[i * self.d..(i + 1) * self.d]
    }

    #[inline(always)]
    fn reward(&self, i: usize, j: usize) -> f64 {
        self.rewards[if self.rewards.len() == self.states { i } else { i * self.states + j }]
    }

    /// `S P_ij`
    #[inline(always)]
    fn odds(&self, i: usize, j: usize) -> f64 {
        self.states as f64 * self.transitions[i * self.states + j]
    }
}

/// # Errors
/// Unless all of rows of `width` numbers are finite.
fn check_finite(name: &'static str, values: &[f64], width: usize) -> Result<(), InvalidSetting> {
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(bad) => {
            let place = format!("{} in row {}, column {}", values[bad], bad / width, bad % width);
            Err(InvalidSetting::new(name, place, "finite numbers"))
        }
    }
}

/// # Errors
/// Unless row i of P is a distribution.
fn check_row(states: usize, transitions: &[f64], i: usize) -> Result<(), InvalidSetting> {
    let row = &transitions[i * states..(i + 1) * states];
    if let Some(bad) = row.iter().position(|p| !(p.is_finite() && *p >= 0.0)) {
        let place = format!("{} in row {i}, column {bad}", row[bad]);
        return Err(InvalidSetting::new("transitions", place, "probabilities, 0 or above"));
    }
    let total = sum(row);
    if (total - 1.0).abs() > ROW_SUM {
        let place = format!("a sum of {total} in row {i}");
        return Err(InvalidSetting::new("transitions", place, "rows that sum to 1"));
    }
    Ok(())
}

/// `fbar_i` for all i: rows `Psi_i - discount sum_j P_ij Psi_j`, offsets `-sum_j P_ij r_ij`.
fn averages(
    d: usize,
    features: &[f64],
    expected: Vec<f64>,
    rewards: Vec<f64>,
    discount: f64,
) -> Collapsed {
    let (mut rows, mut offsets) = (expected, rewards);
    update_with(&mut rows, features, |expected, psi| psi - discount * expected);
    update(&mut offsets, |reward| -reward);
    Collapsed::from_rows(d, rows, offsets)
}

impl Inner for Bellman {
    fn d(&self) -> usize {
        self.d
    }

    fn n_x(&self) -> usize {
        self.states
    }

    fn n_y(&self, _: usize) -> usize {
        self.states
    }

    /// A pair reads two rows of features, a pass the S rows of the averages.
    fn facts(&self) -> Facts {
        Facts::affine().with_rows(Rows { pair: 2, all: self.states as u64, merit: 0 })
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let next = self.reward(i, j) + self.discount * dot(self.psi(j), theta);
        out[0] = dot(self.psi(i), theta) - self.odds(i, j) * next;
    }

    fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        axpy(c * w[0], self.psi(i), out);
        axpy(-c * w[0] * self.odds(i, j) * self.discount, self.psi(j), out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Bellman {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn shared_form(&self) -> Option<Box<dyn SharedForm + '_>> {
        Some(Box::new(shared::SharedBellman(self)))
    }

    fn transition_row(&self, i: usize, j: usize) -> Option<TransitionRow<'_>> {
        Some(TransitionRow {
            now: self.psi(i),
            next: Some(self.psi(j)),
            reward: self.reward(i, j),
            discount: self.discount,
            weight: self.transitions[i * self.states + j],
            is_probability: true,
        })
    }

    fn prefetch(&self, i: usize, j: usize) {
        prefetch(&self.transitions, i * self.states + j, 1);
        prefetch(&self.features, i * self.d, self.d);
        prefetch(&self.features, j * self.d, self.d);
    }

    /// Without the rewards, which cancel.
    fn difference(
        &self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        j: usize,
        _: &mut [f64],
        out: &mut [f64],
    ) {
        let change = |i: usize| dot(self.psi(i), theta) - dot(self.psi(i), theta_ref);
        out[0] = change(i) - self.odds(i, j) * self.discount * change(j);
    }

    by_averages!(fused);
}

impl Passes for Bellman {
    fn bounds(&self) -> Bounds {
        let b_f = *self
            .b_f
            .get_or_init(|| reach(self.d, &self.features, &self.transitions, self.discount));
        Bounds { b_f: Some(b_f), ..self.averages.bounds() }
    }

    fn hash_data(&self, hash: &mut Hash) -> Result<bool, Lost> {
        hash.number(self.discount);
        for numbers in [&self.transitions, &self.rewards, &self.features] {
            hash.numbers(numbers);
        }
        Ok(true)
    }

    by_averages!(passes);
}
