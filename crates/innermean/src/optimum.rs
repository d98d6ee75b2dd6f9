//! The reference optimum that objective gaps are measured against, and where it comes from.
//!
//! Nothing here is counted or timed: these are the judge's calls. Where f is affine, `phi = c
//! |u|^2` and g is a sum over coordinates, with or without a budget, the normal equations or a
//! quadratic program are solved directly. Otherwise a long run of a method that the contestants
//! have no part in goes on until rounding ends it: accelerated gradients where phi is smooth,
//! restarted primal-dual steps where it has a kink and f is affine. An affine f is averaged first.

use std::fmt;

use crate::methods::direct::Direct;
use crate::methods::{Listed, Method};
use crate::model::collapse::Collapsed;
use crate::model::problem::Objective;
use crate::model::regularizer::Parts;
use crate::oracle::Oracle;

mod accelerated;
mod restarted;

/// A minimiser, as well as it is known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Optimum {
    /// `theta*`
    pub theta: Vec<f64>,
    /// `P(theta*)`
    pub objective: f64,
    /// Where it comes from.
    pub source: Source,
}

/// Where an optimum comes from. Displays as words.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Source {
    /// The normal equations, by Cholesky's factor of the Gram matrix.
    Direct,
    /// A quadratic program with the Gram matrix.
    Program,
    /// Accelerated proximal gradient steps with restarts.
    AcceleratedGradient(Reached),
    /// Restarted primal-dual steps.
    PrimalDual(Reached),
}

/// Where a long run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Reached {
    /// Its steps.
    pub iterations: usize,
    /// The distance from optimality relative to the start's: of the norm of the prox-gradient
    /// mapping, or of a primal-dual step.
    pub residual: f64,
}

impl Source {
    /// What a long run has left of its first residual; none for a direct solve.
    pub fn residual(&self) -> Option<f64> {
        match self {
            Source::Direct | Source::Program => None,
            Source::AcceleratedGradient(reached) | Source::PrimalDual(reached) => {
                Some(reached.residual)
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, Reached { iterations, residual }) = match self {
            Source::Direct => return write!(out, "direct solve of the normal equations"),
            Source::Program => return write!(out, "direct solve of a quadratic program"),
            Source::AcceleratedGradient(reached) => ("accelerated proximal gradient", reached),
            Source::PrimalDual(reached) => ("restarted primal-dual steps", reached),
        };
        write!(out, "{name}, {iterations} steps, {residual:.0e} of the first residual left")
    }
}

/// The minimiser of `problem`, a long run beginning at `theta`; where P is not convex, a stationary
/// point. None if phi has a kink and f is not affine.
pub fn optimum<'p>(problem: impl Into<Objective<'p>>, theta: &[f64]) -> Option<Optimum> {
    optimum_of(problem.into(), theta)
}

fn optimum_of(problem: Objective<'_>, theta: &[f64]) -> Option<Optimum> {
    let (theta, source) = if problem.inner.facts().affine {
        let inner = Collapsed::new(problem.inner, theta);
        of_predictors(Objective { inner: &inner, ..problem }, theta)
    } else if !problem.merit.has_kinks() {
        let (theta, reached) = accelerated::run(problem, theta);
        (theta, Source::AcceleratedGradient(reached))
    } else {
        return None;
    };
    Some(Optimum { objective: problem.objective(&theta), theta, source })
}

/// Newton steps with the true gradient: the first solves the normal equations, the others take off
/// what rounding left.
const STEPS: usize = 3;

/// The minimiser by the normal equations, or a quadratic program; None where P is neither (see
/// [`Direct`]), or without curvature in some direction.
pub fn direct<'p>(problem: impl Into<Objective<'p>>) -> Option<Vec<f64>> {
    let problem = problem.into();
    if Direct::INFO.missing(problem).is_some() {
        return None;
    }
    let mut oracle = Oracle::new(problem);
    let mut state = Direct.init(&mut oracle, &problem.allowed(&vec![0.0; problem.inner.d()]));
    for _ in 0..STEPS {
        Direct.outer(&mut oracle, &mut state);
        Direct.inner(&mut oracle, &mut state);
    }
    let theta = state.minimiser()?;
    theta.iter().all(|t| t.is_finite()).then(|| theta.to_vec())
}

fn of_predictors(problem: Objective<'_>, theta: &[f64]) -> (Vec<f64>, Source) {
    if let Some(theta) = direct(problem) {
        let g = Parts::of(problem.regularizer, theta.len());
        (theta, if g.is_some_and(|g| g.are_smooth()) { Source::Direct } else { Source::Program })
    } else if !problem.merit.has_kinks() {
        let (theta, reached) = accelerated::run(problem, theta);
        (theta, Source::AcceleratedGradient(reached))
    } else {
        let (theta, reached) = restarted::run(problem, theta);
        (theta, Source::PrimalDual(reached))
    }
}

/// A residual this small, relative to that of the start, is rounding.
const ROUNDING: f64 = 1e-14;
/// No run is longer.
const MOST_ITERATIONS: usize = 200_000;

/// Says when a long run is over: at rounding level, or when nothing gets better any more.
struct Progress {
    first: f64,
    /// Steps in which the residual must fall by a tenth, these or half of all, whichever are more.
    patience: usize,
    best: f64,
    /// The last residual that was a tenth below the one before it, and when.
    mark: (f64, usize),
}

impl Progress {
    fn new(first: f64, patience: usize) -> Self {
        Progress { first, patience, best: f64::INFINITY, mark: (first, 0) }
    }

    /// Whether this is the smallest residual so far.
    fn improves(&mut self, iteration: usize, residual: f64) -> bool {
        if residual < 0.9 * self.mark.0 {
            self.mark = (residual, iteration);
        }
        let improves = residual < self.best;
        self.best = self.best.min(residual);
        improves
    }

    fn over(&self, iteration: usize) -> bool {
        self.best <= ROUNDING * self.first
            || iteration - self.mark.1 >= self.patience.max(iteration / 2)
    }

    fn reached(&self, iterations: usize) -> Reached {
        let residual = if self.first > 0.0 { self.best.min(self.first) / self.first } else { 0.0 };
        Reached { iterations, residual }
    }
}
