//! Policy evaluation from a log of transitions or a sparse model: the mean squared Bellman error,
//! where a state is followed by few others.
//!
//! Under a policy, state `s_i` was followed by `s_ij` with reward `r_ij` and weight `w_ij`, `j = 1,
//! ..., n_Yi`: all transitions of a log that begin in `s_i`, or all that a model allows, weighted
//! by their probabilities. The value of a state s is sought as `<Psi_s, theta>`; after an end it is
//! zero.
//!
//! ```text
//! min over theta of  (1/n_X) sum_i phi( <Psi_{s_i}, theta> - sum_j p_ij (r_ij + discount <Psi_{s_ij}, theta>) ) + g(theta),  phi = u^2
//! f_theta(x_i, y_ij) = <Psi_{s_i}, theta> - odds_ij (r_ij + discount <Psi_{s_ij}, theta>),  ell = 1
//! p_ij = w_ij / sum_j w_ij,  odds_ij = n_Yi p_ij
//! ```
//!
//! The outer terms are the states that some transition leaves, each of them once, in their order. f
//! is affine; its averages are found once, as rows of d numbers or, for one-hot features, as sparse
//! rows. With one-hot features theta holds the values themselves, d is the number of states, and a
//! query takes a few operations, whatever d is.

use crate::linalg::vector::{axpy, dot, prefetch};
use crate::model::collapse::{Collapsed, by_averages};
use crate::model::inner::{Bounds, Facts, Fused, Inner, Lost, Passes, Rows, TransitionRow};
use crate::model::setting::InvalidSetting;
use crate::run::checkpoint::Hash;

mod averages;
mod check;
mod features;

pub use features::StateFeatures;

/// In the place of the next state where an episode ends: the value after it is zero.
pub const END: u32 = u32::MAX;

/// Transitions in any order, as columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moves {
    /// The states they leave.
    pub from: Vec<u32>,
    /// The states they enter, or [`END`].
    pub next: Vec<u32>,
    /// The rewards on the way.
    pub rewards: Vec<f64>,
    /// How much each counts among those that leave the same state; none if all count alike.
    pub weights: Option<Vec<f64>>,
}

/// The f of the mean squared Bellman error, from transitions.
#[derive(Debug, Clone)]
pub struct Transitions {
    features: StateFeatures,
    discount: f64,
    /// `s_i`
    states: Vec<u32>,
    /// Term i owns the pairs `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    /// `s_ij`
    next: Vec<u32>,
    /// `odds_ij`; empty if all are 1
    odds: Vec<f64>,
    /// `w_ij`; empty if all are 1
    weights: Vec<f64>,
    /// `r_ij`
    rewards: Vec<f64>,
    /// `fbar_i`
    averages: Collapsed,
    /// A bound on `|f'_ij|`
    b_f: f64,
}

impl Transitions {
    /// Sorts the transitions by the states that they leave, in the order given, and averages.
    ///
    /// # Errors
    /// Unless states are those of the features, numbers finite, weights 0 or above and not all zero
    /// in a state, and the discount in `[0, 1]`. A discount of 1 asks that an end can be reached
    /// from every state. With one-hot features every state must be left by some transition: nothing
    /// else says what its value is.
    pub fn new(
        features: StateFeatures,
        moves: Moves,
        discount: f64,
    ) -> Result<Self, InvalidSetting> {
        moves.check(&features, discount)?;
        let Moves { from, next, rewards, weights } = moves;
        let (states, starts, order) = by_state(&from, features.states());
        let next = arranged(next, order.as_deref());
        let rewards = arranged(rewards, order.as_deref());
        let weights = weights.map_or_else(Vec::new, |weights| arranged(weights, order.as_deref()));
        let odds = odds(weights.clone(), &starts, &states)?;
        check::every_state_is_left(&features, &states)?;
        if discount == 1.0 {
            check::an_end_is_reached(features.states(), &states, &starts, &next, &odds)?;
        }
        let mut transitions = Transitions {
            features,
            discount,
            states,
            starts,
            next,
            odds,
            weights,
            rewards,
            averages: Collapsed::empty(1, 1, 0),
            b_f: 0.0,
        };
        transitions.averages = transitions.average();
        transitions.b_f = transitions.reach();
        Ok(transitions)
    }

    /// The features.
    pub fn features(&self) -> &StateFeatures {
        &self.features
    }

    /// The discount of what comes a step later.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The states of the outer terms, in their order.
    pub fn states(&self) -> &[u32] {
        &self.states
    }

    /// `<Psi_s, theta>` for every state.
    pub fn values(&self, theta: &[f64]) -> Vec<f64> {
        self.features.values(theta)
    }

    /// The pairs of all terms.
    pub fn pairs(&self) -> usize {
        self.next.len()
    }

    /// `|Psi_i| + discount odds_ij |Psi_ij|` bounds `|Psi_i - discount odds_ij Psi_ij|`.
    fn reach(&self) -> f64 {
        let lengths = self.features.lengths();
        let length = |s: u32| lengths.as_ref().map_or(1.0, |lengths| lengths[s as usize]);
        let mut most = 0.0_f64;
        for (i, &s) in self.states.iter().enumerate() {
            for at in self.starts[i]..self.starts[i + 1] {
                let next = if self.next[at] == END { 0.0 } else { length(self.next[at]) };
                most = most.max(length(s) + self.discount * self.odds(at) * next);
            }
        }
        most
    }

    /// The place of pair (i, j).
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> usize {
        self.starts[i] + j
    }

    #[inline(always)]
    fn odds(&self, at: usize) -> f64 {
        if self.odds.is_empty() { 1.0 } else { self.odds[at] }
    }

    /// `p_ij`
    #[inline(always)]
    fn share(&self, i: usize, at: usize) -> f64 {
        self.odds(at) / (self.starts[i + 1] - self.starts[i]) as f64
    }

    /// `<Psi_s, theta>`, zero after an end.
    #[inline(always)]
    fn state_value(&self, s: u32, theta: &[f64]) -> f64 {
        if s == END {
            return 0.0;
        }
        match &self.features {
            StateFeatures::OneHot { .. } => theta[s as usize],
            StateFeatures::Rows { d, rows } => {
                dot(&rows[s as usize * d..(s as usize + 1) * d], theta)
            }
        }
    }

    /// `out += c Psi_s`
    #[inline(always)]
    fn add_features(&self, s: u32, c: f64, out: &mut [f64]) {
        if s == END {
            return;
        }
        match &self.features {
            StateFeatures::OneHot { .. } => out[s as usize] += c,
            StateFeatures::Rows { d, rows } => {
                axpy(c, &rows[s as usize * d..(s as usize + 1) * d], out);
            }
        }
    }
}

/// The states that are left, where the transitions of each begin (and the last ends), and the order
/// that brings them there; none if they are in that order already.
fn by_state(from: &[u32], states: usize) -> (Vec<u32>, Vec<usize>, Option<Vec<usize>>) {
    let mut counts = vec![0_usize; states];
    for &s in from {
        counts[s as usize] += 1;
    }
    let left: Vec<u32> = (0..states as u32).filter(|&s| counts[s as usize] > 0).collect();
    let mut starts = Vec::with_capacity(left.len() + 1);
    let mut sum = 0;
    for &s in &left {
        starts.push(sum);
        sum += counts[s as usize];
    }
    starts.push(sum);
    if from.is_sorted() {
        return (left, starts, None);
    }
    // Where the next transition of each state goes.
    let mut place = counts;
    for (&s, &start) in left.iter().zip(&starts) {
        place[s as usize] = start;
    }
    let mut order = vec![0; from.len()];
    for (t, &s) in from.iter().enumerate() {
        order[place[s as usize]] = t;
        place[s as usize] += 1;
    }
    (left, starts, Some(order))
}

fn arranged<T: Copy>(column: Vec<T>, order: Option<&[usize]>) -> Vec<T> {
    match order {
        None => column,
        Some(order) => order.iter().map(|&t| column[t]).collect(),
    }
}

/// `odds_ij = n_Yi w_ij / sum_j w_ij`, in place of the weights, if there are any.
fn odds(
    mut weights: Vec<f64>,
    starts: &[usize],
    states: &[u32],
) -> Result<Vec<f64>, InvalidSetting> {
    if weights.is_empty() {
        return Ok(weights);
    }
    for (range, s) in starts.windows(2).zip(states) {
        let own = &mut weights[range[0]..range[1]];
        let total: f64 = own.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            let value = format!("a sum of {total} in state {s}");
            return Err(InvalidSetting::new(
                "weights",
                value,
                "a finite sum above 0 in every state",
            ));
        }
        let scale = own.len() as f64;
        for weight in own {
            *weight = scale * (*weight / total);
        }
    }
    Ok(weights)
}

impl Inner for Transitions {
    fn d(&self) -> usize {
        self.features.d()
    }

    fn n_x(&self) -> usize {
        self.states.len()
    }

    fn n_y(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    /// A pair reads the features of two states, a pass the rows of the averages.
    fn facts(&self) -> Facts {
        Facts::affine().with_rows(Rows { pair: 2, all: self.states.len() as u64, merit: 0 })
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let at = self.at(i, j);
        let next = self.rewards[at] + self.discount * self.state_value(self.next[at], theta);
        out[0] = self.state_value(self.states[i], theta) - self.odds(at) * next;
    }

    fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let at = self.at(i, j);
        self.add_features(self.states[i], c * w[0], out);
        self.add_features(self.next[at], -c * w[0] * self.odds(at) * self.discount, out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Transitions {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn support(&self, i: usize) -> Option<&[u32]> {
        self.averages.support(i)
    }

    fn transition_row(&self, i: usize, j: usize) -> Option<TransitionRow<'_>> {
        // One-hot features are told apart whatever is rounded.
        let StateFeatures::Rows { d, rows } = &self.features else { return None };
        let features = |s: u32| &rows[s as usize * d..(s as usize + 1) * d];
        let (at, next) = (self.at(i, j), self.next[self.at(i, j)]);
        Some(TransitionRow {
            now: features(self.states[i]),
            next: (next != END).then(|| features(next)),
            reward: self.rewards[at],
            discount: self.discount,
            weight: if self.weights.is_empty() { 1.0 } else { self.weights[at] },
            is_probability: false,
        })
    }

    fn prefetch(&self, i: usize, j: usize) {
        if let StateFeatures::Rows { d, rows } = &self.features {
            let next = self.next[self.at(i, j)];
            prefetch(rows, self.states[i] as usize * d, *d);
            if next != END {
                prefetch(rows, next as usize * d, *d);
            }
        }
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
        let at = self.at(i, j);
        let change = |s: u32| self.state_value(s, theta) - self.state_value(s, theta_ref);
        out[0] = change(self.states[i]) - self.odds(at) * self.discount * change(self.next[at]);
    }

    by_averages!(fused);
}

impl Passes for Transitions {
    fn bounds(&self) -> Bounds {
        Bounds { b_f: Some(self.b_f), ..self.averages.bounds() }
    }

    fn hash_data(&self, hash: &mut Hash) -> Result<bool, Lost> {
        hash.number(self.discount);
        if let StateFeatures::Rows { rows, .. } = &self.features {
            hash.numbers(rows);
        }
        for (state, ends) in self.states.iter().zip(self.starts.windows(2)) {
            hash.word(u64::from(*state));
            for next in &self.next[ends[0]..ends[1]] {
                hash.word(u64::from(*next));
            }
        }
        hash.numbers(&self.odds);
        hash.numbers(&self.rewards);
        Ok(true)
    }

    by_averages!(passes);
}
