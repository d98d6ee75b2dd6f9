//! The normal equations: where f is affine and every phi a square (or the only one a quadratic
//! form), F is a quadratic, and `theta <- argmin over x of  <F'(theta), x - theta> + (1/2) (x -
//! theta)' F'' (x - theta) + g(x)` leads to the minimum of P from anywhere. Where g is no more than
//! a ridge and a linear term, that is `theta - P''^-1 P'(theta)`: Legendre 1805, Gauss 1809; the
//! factor is Cholesky's (Benoit 1924), and steps after the first take off what rounding left
//! (Wilkinson 1963). Where g has kinks, bounds or a budget, it is a quadratic program of d
//! variables (`methods/program.rs`); where it is a sum of logarithms, Newton's method on the same
//! matrix (`direct/barrier.rs`).
//!
//! Asks of the problem: a quadratic F, and a g that is a sum over coordinates, with or without a
//! budget, or a sum of logarithms. Where `P''` is singular but P bounded below, the steps are those of a matrix slightly
//! above it: they lead to the minimiser nearest to the start, in a few steps more. Once: one
//! product for every mean Jacobian, `n_X ell d^2` multiply-adds and `d^3 / 3`; or, for the normal
//! equations, `(n_X ell)^2 d` where there are fewer averages than coordinates; and one whole
//! gradient. Per step: another, and `d^3 / 3` for each set of coordinates at a bound or kink that
//! is tried. Storage: `d^2` or `(n_X ell)^2`, and the averages, `n_X d ell`, of an f that does not
//! have them at hand.

use serde::{Deserialize, Serialize};

use self::quadratic::Factor;
use super::{Ask, Chosen, Family, Form, Listed, Method, MethodInfo, Rate, program};
use crate::linalg::vector::{axpy, norm_squared};
use crate::model::collapse::Collapsed;
use crate::model::problem::Objective;
use crate::model::regularizer::{Coordinate, Parts};
use crate::oracle::Oracle;
use crate::run::evaluate::Gradient;
use crate::tuning::choice::Choice;

mod barrier;
pub(crate) mod quadratic;

/// Of the largest gradient; what stays of it and is smaller may be rounding.
const ENDLESS: f64 = 1e-8;

/// The normal equations, which have no settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Direct;

/// Theta, the gradient at it and the factor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    /// `F'(theta)`
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// The norm of the gradient at the last point, if `P''` is singular: it falls, or there is no
    /// minimum.
    last: f64,
    /// The largest of them.
    first: f64,
    f_bar: Vec<f64>,
    w: Vec<f64>,
    factor: Factor,
    /// `F''`, if it was made.
    gram: Option<Vec<f64>>,
    /// Whether the last program was solved to its end.
    ended: bool,
    /// The averages of an f that does not have them at hand.
    model: Option<Collapsed>,
}

impl State {
    /// `F'(theta)`
    fn look(&mut self, oracle: &mut Oracle<'_>) {
        let State { theta, gradient, f_bar, w, model, .. } = self;
        match model {
            Some(model) => oracle.model(model).gradient(theta, f_bar, w, gradient),
            None => {
                oracle.pass().gradient(theta, f_bar, w, gradient);
            }
        }
    }

    /// `theta <- theta - P''^-1 P'(theta)`. Along a direction in which P falls for ever the
    /// gradient stays what it is, and theta goes to infinity at once.
    fn solve_equations(&mut self, averages: Option<&Collapsed>, g: &Parts) {
        let State { theta, gradient, direction, last, first, factor, model, .. } = self;
        direction.copy_from_slice(gradient);
        g.add_gradient(theta, direction);
        if !factor.is_unique() {
            let norm = norm_squared(direction).sqrt();
            if norm > ENDLESS * first.max(norm) && norm > 0.9 * *last {
                return theta.fill(f64::INFINITY);
            }
            (*first, *last) = (first.max(norm), norm);
        }
        factor.solve(averages.or(model.as_ref()), direction);
        axpy(-1.0, direction, theta);
    }

    /// Theta, where it is the only one.
    pub(crate) fn minimiser(&self) -> Option<&[f64]> {
        (self.factor.is_unique() && self.ended).then_some(&self.theta)
    }
}

/// g along its coordinates; of logarithms their domain, for which `F''` is kept as it is.
fn parts(oracle: &Oracle<'_>) -> Parts {
    let above_zero = Coordinate { lo: 0.0, ..Coordinate::FREE };
    let domain = || Parts::separate(vec![above_zero; oracle.d()]);
    oracle.problem().parts().unwrap_or_else(domain)
}

impl Listed for Direct {
    const INFO: MethodInfo = MethodInfo {
        name: "direct",
        title: "Normal equations",
        family: Family::Batch,
        summary: "solves a quadratic problem by its second derivatives: a factor or, for a g with \
            kinks, bounds or logarithms, a program of d variables",
        reference: "Legendre 1805; Gauss 1809; Benoit 1924",
        storage: "min(d, n_X ell)^2",
        rate: Rate::Linear,
        form: Form::Given,
        asks: &[Ask::Quadratic],
        settings: &[],
    };

    fn settings(_: &Choice, _: Objective<'_>, _: &[f64]) -> Chosen<Self> {
        Ok(Direct)
    }
}

impl Method for Direct {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let (factor, gram, model) = Factor::new(oracle, &parts(oracle), theta);
        let size = oracle.n_x() * oracle.ell();
        let mut state = State {
            theta: theta.to_vec(),
            gradient: vec![0.0; oracle.d()],
            direction: vec![0.0; oracle.d()],
            last: f64::INFINITY,
            first: 0.0,
            f_bar: vec![0.0; size],
            w: vec![0.0; size],
            factor,
            gram,
            ended: true,
            model,
        };
        state.look(oracle);
        state
    }

    /// What a step needs is at hand.
    /// To the minimum, but for rounding.
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let g = parts(oracle);
        if let Factor::Program { matrix, .. } = &s.factor {
            let logarithms: Option<Vec<(f64, f64)>> =
                (0..s.theta.len()).map(|l| oracle.g().barrier(l)).collect();
            let prox = |alpha: f64, v: &[f64], x: &mut [f64]| oracle.g().step(alpha, v, x);
            s.ended = match logarithms {
                Some(logarithms) => barrier::solve(matrix, &s.gradient, &logarithms, &mut s.theta),
                None => program::solve(matrix, &s.gradient, &g, prox, &mut s.theta),
            };
        } else {
            s.solve_equations(oracle.problem().inner.averages(), &g);
        }
        if s.theta.iter().all(|theta| theta.is_finite()) {
            s.look(oracle);
        }
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.theta
    }

    fn gram<'s>(&self, s: &'s State) -> Option<&'s [f64]> {
        s.gram.as_deref()
    }

    fn gradient<'s>(&self, s: &'s State) -> Option<Gradient<'s>> {
        Some(Gradient { f_bar: &s.f_bar, w: &s.w, gradient: &s.gradient })
    }
}
