//! Policy evaluation by the mean squared projected Bellman error (Sutton et al. 2009; as a saddle
//! problem, Du et al. 2017).
//!
//! A policy has been followed for T transitions: features `phi_t` in `R^d` of a state, reward
//! `r_t`, features `phi'_t` of the next state. The value of a state is modelled as `<phi, theta>`,
//! with discount factor `gamma`. With `A = (1/T) sum_t phi_t (phi_t - gamma phi'_t)'`, `b = (1/T)
//! sum_t r_t phi_t` and `C = (1/T) sum_t phi_t phi_t'`,
//!
//! ```text
//! min over theta of  (b - A theta)' C^-1 (b - A theta) / 2 + (rho/2) |theta|^2
//! f_theta(y_t) = r_t phi_t - phi_t <phi_t - gamma phi'_t, theta>,  n_X = 1,  n_Y = T,  ell = d
//! ```
//!
//! and phi the [`QuadraticForm`] of C, whose rows are the features. For `rho = 0` and a regular A
//! the minimum is zero, where `A theta = b`: the LSTD solution. With eligibility traces ([`Traces`])
//! `z_t` takes the place of the first `phi_t` in f, A and b, and the minimum is LSTD(lambda).

use std::sync::Arc;

use crate::linalg::blocks::Blocks;
use crate::linalg::cholesky::Cholesky;
use crate::linalg::elimination;
use crate::linalg::vector::{axpy, dot, norm_squared, prefetch, row_dots};
use crate::model::inner::{Bounds, Facts, Fused, Inner, Passes, ProjectedRows, Sample};
use crate::model::merit::QuadraticForm;
use crate::model::problem::Problem;
use crate::model::regularizer::Ridge;
use crate::model::setting::{self, InvalidSetting};
use crate::problems::transitions::{END, Moves, StateFeatures};

mod condensed;
mod traces;

pub use traces::Traces;

/// The f of the projected Bellman error. A value and a product cost `O(d)`; averages come from A
/// and b, which are kept.
#[derive(Debug, Clone)]
pub struct Mspbe {
    d: usize,
    /// `phi_t`, T rows of d
    features: Arc<[f64]>,
    /// `z_t`, T rows of d: the features themselves unless there are traces
    traces: Arc<[f64]>,
    /// `phi_t - gamma phi'_t`, T rows of d
    differences: Vec<f64>,
    rewards: Vec<f64>,
    /// A, row by row
    a: Vec<f64>,
    b: Vec<f64>,
    /// `max_t |z_t| |phi_t - gamma phi'_t|`
    reach: f64,
    /// What all this was made of, of a problem that is small enough to be looked at in twice the
    /// precision.
    given: Option<Given>,
    /// [`Facts::roundings`]
    roundings: u32,
}

/// Transitions as they were given: see [`ProjectedRows`].
#[derive(Debug, Clone)]
struct Given {
    /// [`ProjectedRows::left`]
    left: Option<Vec<f64>>,
    features: Vec<f64>,
    next_features: Vec<f64>,
    rewards: Vec<f64>,
    weights: Option<Vec<f64>>,
    discount: f64,
    episodes: Option<Episodes>,
}

/// See [`Traces`].
#[derive(Debug, Clone)]
struct Episodes {
    lambda: f64,
    order: Vec<usize>,
    starts: Vec<usize>,
    ratios: Option<Vec<f64>>,
}

/// Numbers of features up to which they are kept as they were given.
const FEW_NUMBERS: usize = 1 << 20;

impl Mspbe {
    /// Takes `features` and `next_features` as rows of length `d`, one for each reward.
    ///
    /// # Errors
    /// Unless there is a row of finite numbers for each reward, at least one, and the discount lies
    /// in `[0, 1]`.
    pub fn new(
        d: usize,
        features: Vec<f64>,
        next_features: &[f64],
        rewards: Vec<f64>,
        discount: f64,
    ) -> Result<Self, InvalidSetting> {
        let t = rewards.len();
        for (name, rows) in [("features", &features[..]), ("next_features", next_features)] {
            if d == 0 || t == 0 || rows.len() != t * d {
                let shape = format!("{} numbers in rows of {d}", rows.len());
                return Err(InvalidSetting::new(
                    name,
                    shape,
                    format!("a row for each of the {t} rewards"),
                ));
            }
            if let Some(bad) = rows.iter().position(|x| !x.is_finite()) {
                let place = format!("{} in row {}, column {}", rows[bad], bad / d, bad % d);
                return Err(InvalidSetting::new(name, place, "finite numbers"));
            }
        }
        let rewards = setting::all_finite("rewards", rewards)?;
        if !(0.0..=1.0).contains(&discount) {
            return Err(InvalidSetting::new(
                "discount",
                format!("{discount:?}"),
                "a number from 0 to 1",
            ));
        }
        let differences: Vec<f64> =
            features.iter().zip(next_features).map(|(now, next)| now - discount * next).collect();
        let given = (features.len() <= FEW_NUMBERS).then(|| Given {
            left: None,
            features: features.clone(),
            next_features: next_features.to_vec(),
            rewards: rewards.clone(),
            weights: None,
            discount,
            episodes: None,
        });
        let features: Arc<[f64]> = features.into();
        Ok(Mspbe {
            given,
            ..Self::of_rows(d, Arc::clone(&features), features, differences, rewards)
        })
    }

    /// From `phi_t`, `z_t`, `phi_t - gamma phi'_t` and `r_t`.
    fn of_rows(
        d: usize,
        features: Arc<[f64]>,
        traces: Arc<[f64]>,
        differences: Vec<f64>,
        rewards: Vec<f64>,
    ) -> Self {
        let (a, b) = moments(d, &traces, &differences, &rewards);
        let rows = traces.chunks_exact(d).zip(differences.chunks_exact(d));
        let reach =
            rows.map(|(z, psi)| (norm_squared(z) * norm_squared(psi)).sqrt()).fold(0.0, f64::max);
        Mspbe { d, features, traces, differences, rewards, a, b, reach, given: None, roundings: 0 }
    }

    /// The same of transitions between states, each of which counts by its weight: `T w_t / sum_t
    /// w_t` times. A row is as good as weighted by c when its features, those of the next state and
    /// the reward are all multiplied by the root of c.
    ///
    /// # Errors
    /// Unless states are those of the features, numbers finite, weights 0 or above and not all
    /// zero, and the discount lies in `[0, 1]`.
    pub fn of_moves(
        features: &StateFeatures,
        moves: &Moves,
        discount: f64,
    ) -> Result<Self, InvalidSetting> {
        moves.check(features, discount)?;
        let (d, t) = (features.d(), moves.from.len());
        let total: f64 = moves.weights.as_ref().map_or(t as f64, |weights| weights.iter().sum());
        if !(total > 0.0 && total.is_finite()) {
            return Err(InvalidSetting::new(
                "weights",
                format!("a sum of {total}"),
                "a finite sum above 0",
            ));
        }
        let root =
            |k: usize| moves.weights.as_ref().map_or(1.0, |w| (t as f64 * (w[k] / total)).sqrt());
        let (mut now, mut next) = (vec![0.0; t * d], vec![0.0; t * d]);
        for (k, (now, next)) in now.chunks_exact_mut(d).zip(next.chunks_exact_mut(d)).enumerate() {
            features.add(moves.from[k] as usize, root(k), now);
            if moves.next[k] != END {
                features.add(moves.next[k] as usize, root(k), next);
            }
        }
        let rewards =
            moves.rewards.iter().enumerate().map(|(k, reward)| root(k) * reward).collect();
        let mut made = Mspbe::new(d, now, &next, rewards, discount)?;
        if let (Some(given), Some(weights)) = (&mut made.given, &moves.weights) {
            // Without the roots, which are rounded.
            given.features.fill(0.0);
            given.next_features.fill(0.0);
            for k in 0..t {
                features.add(moves.from[k] as usize, 1.0, &mut given.features[k * d..(k + 1) * d]);
                if moves.next[k] != END {
                    features.add(
                        moves.next[k] as usize,
                        1.0,
                        &mut given.next_features[k * d..(k + 1) * d],
                    );
                }
            }
            given.rewards.clone_from(&moves.rewards);
            given.weights = Some(weights.clone());
        }
        Ok(made)
    }

    /// The same of some of its transitions, each as often as it is named, with the traces and
    /// weights that they have: a draw of whole episodes.
    #[must_use]
    pub fn drawn(&self, drawn: &[usize]) -> Self {
        let d = self.d;
        let rows = |all: &[f64]| -> Vec<f64> {
            drawn.iter().flat_map(|&t| &all[t * d..(t + 1) * d]).copied().collect()
        };
        let features: Arc<[f64]> = rows(&self.features).into();
        let traces = if Arc::ptr_eq(&self.features, &self.traces) {
            Arc::clone(&features)
        } else {
            rows(&self.traces).into()
        };
        let rewards = drawn.iter().map(|&t| self.rewards[t]).collect();
        Self::of_rows(d, features, traces, rows(&self.differences), rewards)
    }

    /// The whole problem, with the ridge `(rho/2) |theta|^2`.
    ///
    /// # Errors
    /// If the features do not span `R^d`, or rho is negative.
    pub fn problem(self, rho: f64) -> Result<Problem<Mspbe, QuadraticForm, Ridge>, InvalidSetting> {
        let merit = QuadraticForm::from_rows(self.d, Arc::clone(&self.features))?
            .with_roundings(self.roundings);
        let regularizer =
            Ridge::from_weight(rho).map_err(|_| setting::non_negative("rho", rho).unwrap_err())?;
        Ok(Problem { inner: self, merit, regularizer })
    }

    /// `A theta = b`, the minimiser for `rho = 0`; none if A is singular.
    pub fn lstd(&self) -> Option<Vec<f64>> {
        elimination::solve(&self.a, &self.b)
    }

    /// The minimiser with the ridge `(rho/2) |theta|^2`: `(A' C^-1 A + rho I) theta = A' C^-1 b`
    /// with the C of `form`, and [`Self::lstd`] for `rho = 0`; none if the matrix is singular.
    pub fn minimiser(&self, form: &QuadraticForm, rho: f64) -> Option<Vec<f64>> {
        if rho == 0.0 {
            return self.lstd();
        }
        let d = self.d;
        // The rows of `solved` are the columns of L^-1 A for `C = L L'`.
        let mut solved: Vec<f64> = (0..d * d).map(|k| self.a[k % d * d + k / d]).collect();
        solved.chunks_exact_mut(d).for_each(|column| form.factor().solve_lower(column));
        let mut right = self.b.clone();
        form.factor().solve_lower(&mut right);
        let mut matrix = vec![0.0; d * d];
        let mut theta = vec![0.0; d];
        for l in 0..d {
            let column = &solved[l * d..(l + 1) * d];
            row_dots(&solved, d, column, &mut matrix[l * d..(l + 1) * d]);
            matrix[l * d + l] += rho;
            theta[l] = dot(column, &right);
        }
        Cholesky::new(&matrix, d).ok()?.solve(&mut theta);
        Some(theta)
    }

    /// A, row by row.
    pub fn a(&self) -> &[f64] {
        &self.a
    }

    /// b
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// `z_t`
    #[inline(always)]
    fn trace(&self, t: usize) -> &[f64] {
        &self.traces[t * self.d..(t + 1) * self.d]
    }

    #[inline(always)]
    fn difference_row(&self, t: usize) -> &[f64] {
        &self.differences[t * self.d..(t + 1) * self.d]
    }
}

/// `A = (1/T) sum_t z_t psi_t'`, row by row, and `b = (1/T) sum_t r_t z_t` for rows `z_t` and
/// `psi_t`.
fn moments(d: usize, traces: &[f64], differences: &[f64], rewards: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let t = rewards.len();
    let mut a = vec![0.0; d * (d + 1)];
    // So few blocks that their sums take at most 32 MB together.
    Blocks::with_least(t, 1, (t * d * (d + 1)) >> 22).add(
        1.0 / t as f64,
        &mut a,
        #[inline(always)]
        |range, partial| {
            let (a, b) = partial.split_at_mut(d * d);
            for t in range {
                let (z, psi) = (&traces[t * d..(t + 1) * d], &differences[t * d..(t + 1) * d]);
                axpy(rewards[t], z, b);
                // Unit vectors and the like have many zeros.
                for (row, z) in a.chunks_exact_mut(d).zip(z).filter(|(_, z)| **z != 0.0) {
                    axpy(*z, psi, row);
                }
            }
        },
    );
    let b = a.split_off(d * d);
    (a, b)
}

impl Inner for Mspbe {
    fn d(&self) -> usize {
        self.d
    }

    fn ell(&self) -> usize {
        self.d
    }

    fn n_x(&self) -> usize {
        1
    }

    fn n_y(&self, _: usize) -> usize {
        self.rewards.len()
    }

    fn facts(&self) -> Facts {
        Facts::affine().with_sample(Sample::Shared).with_roundings(self.roundings)
    }

    /// `z_t (r_t - <phi_t - gamma phi'_t, theta>)`
    fn value(&self, theta: &[f64], _: usize, t: usize, out: &mut [f64]) {
        let error = self.rewards[t] - dot(self.difference_row(t), theta);
        out.fill(0.0);
        axpy(error, self.trace(t), out);
    }

    /// `-(phi_t - gamma phi'_t) <z_t, w>`
    fn add_jac_t(&self, _: &[f64], _: usize, t: usize, w: &[f64], c: f64, out: &mut [f64]) {
        axpy(-c * dot(self.trace(t), w), self.difference_row(t), out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Mspbe {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn projected_rows(&self) -> Option<ProjectedRows<'_>> {
        self.given.as_ref().map(|given| ProjectedRows {
            left: given.left.as_deref(),
            features: &given.features,
            next_features: &given.next_features,
            rewards: &given.rewards,
            weights: given.weights.as_deref(),
            discount: given.discount,
            traces: given.episodes.as_ref().map(Episodes::traces),
        })
    }

    fn prefetch(&self, _: usize, t: usize) {
        prefetch(&self.traces, t * self.d, self.d);
        prefetch(&self.differences, t * self.d, self.d);
    }

    /// `b - A theta`
    fn mean(&self, theta: &[f64], _: usize, _: &mut [f64], out: &mut [f64]) {
        for ((out, row), b) in out.iter_mut().zip(self.a.chunks_exact(self.d)).zip(&self.b) {
            *out = b - dot(row, theta);
        }
    }

    /// `-A' w`
    fn add_mean_jac_t(&self, _: &[f64], _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (row, w) in self.a.chunks_exact(self.d).zip(w) {
            axpy(-c * w, row, out);
        }
    }
}

impl Passes for Mspbe {
    fn bounds(&self) -> Bounds {
        let mean = norm_squared(&self.a).sqrt();
        Bounds { b_f: Some(self.reach), b_theta: Some(0.0), mean_jacobian: Some(mean) }
    }
}
