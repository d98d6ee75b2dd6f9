//! Theorems 1, 2 and 3: how fast the Lyapunov functions fall, beside what is promised.

use innermean::elementary::Elementary;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};
use innermean::Objective;
use innermean::steps::{Steps, theorem3};
use innermean::{
    Choice, Constants, Logistic, Method, Oracle, Problem, Ridge, Settings, Square, StepRule,
    Svrpda1, optimum,
};
use serde::{Deserialize, Serialize};

use super::family::{Shape, Size, Units};
use super::piece::Piece;
use super::store::Store;

/// Averages are over this many seeds.
const SEEDS: [u64; 2] = [60, 15];
/// Runs begin so far from the solution, in each coordinate.
const FAR: f64 = 10.0;

/// A theorem on a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) theorem: u32,
    pub(super) shape: Shape,
}

/// The five that are measured.
pub(super) const EXAMPLES: [Example; 5] = [
    Example { theorem: 1, shape: Shape::Line },
    Example { theorem: 1, shape: Shape::Softplus },
    Example { theorem: 2, shape: Shape::Line },
    Example { theorem: 2, shape: Shape::Softplus },
    Example { theorem: 3, shape: Shape::Line },
];

/// What was measured.
#[derive(Serialize, Deserialize)]
pub(super) struct Fall {
    pub(super) n_x: usize,
    pub(super) kappa: f64,
    /// Inner steps between two looks.
    pub(super) steps: usize,
    /// The Lyapunov function after s times this many, over its first value; averaged over seeds.
    pub(super) shares: Vec<f64>,
    /// What the theorem promises for each s, as a factor for each look.
    pub(super) rate: f64,
    /// What Theorem 3 prints, which is not what its proof shows.
    pub(super) printed: Option<f64>,
}

impl Example {
    pub(super) fn title(self) -> String {
        let f = if self.shape == Shape::Line { "affine f" } else { "convex f" };
        format!("Theorem {}, {f}", self.theorem)
    }

    fn id(self) -> String {
        format!(
            "theorem{}-{}",
            self.theorem,
            if self.shape == Shape::Line { "affine" } else { "convex" }
        )
    }

    /// The factor between two looks by which the Lyapunov function falls, over all that is above
    /// rounding.
    pub(super) fn stored(self, store: &Store) -> Result<Fall> {
        store.get(&self.id(), 0)
    }

    fn measure(self, quick: bool, interrupt: &AtomicBool) -> Result<Option<Fall>> {
        let n_x = if self.theorem == 3 { 12 } else { 8 };
        let n_y = if self.theorem == 3 { 1 } else { 4 };
        let inner =
            Units::random(Size { d: 4, ell: 1, n_x, n_y, shared: false }, self.shape, 0.5, 4);
        if self.shape == Shape::Line {
            let (merit, regularizer) = (Square::new(0.5)?, Ridge::from_weight(0.1)?);
            self.fall(Problem { inner, merit, regularizer }.erased(), quick, interrupt)
        } else {
            // log(1 + e^u), which rises: then <f, w> is convex for all its duals.
            let (merit, regularizer) = (Logistic::new(vec![-1.0; n_x])?, Ridge::from_weight(0.1)?);
            self.fall(Problem { inner, merit, regularizer }.erased(), quick, interrupt)
        }
    }

    fn fall(
        self,
        problem: Objective<'_>,
        quick: bool,
        interrupt: &AtomicBool,
    ) -> Result<Option<Fall>> {
        let constants = problem.constants();
        let Constants { b_f, b_theta, b_w, gamma, mu } = constants;
        let (b_f, b_theta) = b_f.zip(b_theta).ok_or_else(|| anyhow!("the bounds are not known"))?;
        let curvature = if b_theta == 0.0 { 0.0 } else { b_w * b_theta };
        let kappa = b_f * b_f / (gamma * mu) + (curvature / mu).powi(2);
        let n = problem.inner.n_x() as f64;
        let (rule, weights, rate, printed) = match self.theorem {
            1 => {
                let weight = gamma / mu * (64.0 * kappa + 3.0) / (64.0 * n * kappa + n + 1.0);
                (StepRule::Theorem1, (1.0, weight), 0.75, None)
            }
            2 => (StepRule::Theorem2, (1.0, gamma / (n * mu)), 0.625, None),
            _ => {
                let Steps { alpha_theta, alpha_w, .. } = theorem3(&constants, &problem.inner)?;
                let for_pass = |slowness: f64| (1.0 - 1.0 / slowness).to_power(n);
                let shown = for_pass(1.0 + 8.0 * kappa + 2.0 * n);
                let printed = for_pass(1.0 + 2.0 * kappa + 2.0 * n);
                (
                    StepRule::Theorem3,
                    (0.5 / alpha_theta + mu, 0.5 / alpha_w + gamma),
                    shown,
                    Some(printed),
                )
            }
        };
        let looks = if self.theorem == 3 {
            (1e-8_f64.natural_log() / rate.natural_log()) as usize
        } else {
            14
        };
        let saddle = Saddle::of(problem)?;
        let choice = Choice { rule: Some(rule), ..Choice::default() };
        let mut sums = vec![0.0; looks + 1];
        let mut steps = 0;
        for seed in 0..SEEDS[usize::from(quick)] {
            steps = saddle.follow(problem, &Choice { seed, ..choice }, weights, &mut sums)?;
            if interrupt.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
        let shares = sums.iter().map(|sum| sum / sums[0]).collect();
        Ok(Some(Fall { n_x: problem.inner.n_x(), kappa, steps, shares, rate, printed }))
    }
}

impl Fall {
    /// The factor by which it fell from one look to the next, over all that is above rounding.
    pub(super) fn measured_rate(&self) -> f64 {
        let last = self.shares.iter().rposition(|share| *share > 1e-20).unwrap_or(0);
        if last == 0 { 0.0 } else { self.shares[last].to_power(1.0 / last as f64) }
    }

    /// Whether it was never above what is promised.
    pub(super) fn holds(&self, rate: f64) -> bool {
        self.shares
            .iter()
            .enumerate()
            .all(|(s, share)| *share <= rate.to_power(s as f64) * (1.0 + 1e-9))
    }
}

/// All of them.
pub(super) fn pieces(quick: bool, interrupt: &AtomicBool) -> Vec<Piece<'_>> {
    let piece = |example: Example| {
        Piece::new(example.id(), 0, if quick { 1.0 } else { 4.0 }, move || {
            example.measure(quick, interrupt)
        })
    };
    EXAMPLES.into_iter().map(piece).collect()
}

/// `(theta*, w*)`
struct Saddle {
    theta: Vec<f64>,
    w: Vec<f64>,
}

impl Saddle {
    fn of(problem: Objective<'_>) -> Result<Self> {
        let theta = optimum(problem, &vec![0.0; problem.inner.d()])
            .ok_or_else(|| anyhow!("the problem has no optimum"))?
            .theta;
        let mut f_bar = vec![0.0; problem.inner.n_x() * problem.inner.ell()];
        let mut w = f_bar.clone();
        problem.inner.means(&theta, &mut f_bar);
        problem.duals(&f_bar, &mut w);
        Ok(Saddle { theta, w })
    }

    /// Adds `a |theta_s - theta*|^2 + b |w_s - w*|^2` at the head of each outer iteration; returns
    /// the steps of one.
    fn follow(
        &self,
        problem: Objective<'_>,
        choice: &Choice,
        (a, b): (f64, f64),
        sums: &mut [f64],
    ) -> Result<usize> {
        let start: Vec<f64> = self.theta.iter().map(|t| t + FAR).collect();
        let settings = Settings::choose(choice, problem, &start)?;
        let steps = settings.inner_iterations;
        let method = Svrpda1(settings);
        let mut oracle = Oracle::new(problem);
        let mut state = method.init(&mut oracle, &start);
        for sum in sums {
            method.outer(&mut oracle, &mut state);
            *sum += a * distance_squared(&state.theta, &self.theta)
                + b * distance_squared(&state.w, &self.w);
            method.inner_steps(&mut oracle, &mut state, steps);
        }
        Ok(steps)
    }
}

fn distance_squared(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum()
}
