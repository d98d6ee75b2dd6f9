//! The coordinates of a Newton step: those that do not rest at a corner of g, and of those that
//! rest the ones that would leave it. The others stay where they are, and cost nothing.

use crate::linalg::gram;
use crate::methods::direct::quadratic::MOST_VARIABLES;
use crate::methods::program;
use crate::methods::working_set::{rests, violation};
use crate::model::collapse::Collapsed;
use crate::model::regularizer::{Coordinate, Parts};
use crate::oracle::Oracle;

/// Coordinates that may be let in at once, beside twice those that do not rest.
const AT_ONCE: usize = 256;

/// A set with its columns; made anew where a run is resumed.
#[derive(Debug, Clone, Default)]
pub(super) struct Set {
    /// Rising
    chosen: Vec<usize>,
    /// Whether some that would move were left out.
    short: bool,
    /// The rows with these columns alone
    rows: Option<Collapsed>,
}

/// Where a step begins: theta, the slopes there, and what bends it.
#[derive(Clone, Copy)]
pub(super) struct Step<'s> {
    pub(super) theta: &'s [f64],
    pub(super) u: &'s [f64],
    /// Weights of the rows in the Gram matrix
    pub(super) weights: &'s [f64],
    /// Of the diagonal, and of what
    pub(super) ridge: f64,
    pub(super) sigma: f64,
}

impl Set {
    /// Chooses the set. False where it would be most of all coordinates, which a matrix of all
    /// serves as well.
    pub(super) fn choose(
        &mut self,
        oracle: &Oracle<'_>,
        g: &Parts,
        (theta, u): (&[f64], &[f64]),
    ) -> bool {
        if g.budget || g.constraints.is_some() || g.parts.iter().all(Coordinate::is_smooth) {
            return false;
        }
        let squares = oracle.mean_squares();
        let mut inside: Vec<bool> =
            g.parts.iter().zip(theta).map(|(part, x)| !rests(part, *x)).collect();
        let moving = inside.iter().filter(|inside| **inside).count();
        let gain = |l: usize| {
            let beyond = violation(&g.parts[l], theta[l], u[l]);
            if beyond > 0.0 { beyond * beyond / squares[l] } else { 0.0 }
        };
        let waiting = (0..theta.len()).filter(|&l| !inside[l]).map(|l| (gain(l), l));
        let mut waiting: Vec<(f64, usize)> = waiting.filter(|(gain, _)| *gain > 0.0).collect();
        let most = (2 * moving).max(AT_ONCE);
        self.short = waiting.len() > most;
        if self.short {
            waiting.select_nth_unstable_by(most, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            waiting.truncate(most);
        }
        for &(_, l) in &waiting {
            inside[l] = true;
        }
        let chosen: Vec<usize> = (0..theta.len()).filter(|&l| inside[l]).collect();
        if chosen != self.chosen {
            self.chosen = chosen;
            self.rows = None;
        }
        2 * self.chosen.len() <= theta.len() || theta.len() > MOST_VARIABLES
    }

    /// Whether a coordinate that was left out of the last step would move now.
    pub(super) fn is_short(&self, g: &Parts, theta: &[f64], u: &[f64]) -> bool {
        let mut next = self.chosen.iter().copied().peekable();
        self.short
            || (0..theta.len()).any(|l| {
                let inside = next.next_if_eq(&l).is_some();
                !inside && violation(&g.parts[l], theta[l], u[l]) > 0.0
            })
    }

    /// The end of the step, along these coordinates.
    pub(super) fn aim(
        &mut self,
        oracle: &Oracle<'_>,
        g: &Parts,
        model: Option<&Collapsed>,
        at: Step<'_>,
    ) -> Vec<f64> {
        let m = self.chosen.len();
        let mut target = at.theta.to_vec();
        if m == 0 {
            return target;
        }
        let rows = self.rows(oracle, model);
        let weight = |r: usize| at.weights[r];
        let gram = |weight: &gram::Weight<'_>| gram::weighted(rows, weight);
        let mut matrix = oracle.patience.within(m, &weight, gram);
        gram::add_ridge(at.ridge, at.sigma, m, &mut matrix);
        let own: Vec<Coordinate> = self.chosen.iter().map(|&l| g.parts[l]).collect();
        let slopes: Vec<f64> = self.chosen.iter().map(|&l| at.u[l]).collect();
        let mut x: Vec<f64> = self.chosen.iter().map(|&l| at.theta[l]).collect();
        program::solve(&matrix, &slopes, &Parts::separate(own), |_, _, _| {}, &mut x);
        self.chosen.iter().zip(&x).for_each(|(&l, x)| target[l] = *x);
        target
    }

    /// Whether f lends no rows, so that the method has to have its own.
    pub(super) fn lacks_rows(oracle: &Oracle<'_>) -> bool {
        let f = oracle.problem().inner;
        f.averages().is_none() && f.centred_rows().is_none()
    }

    /// The rows with the columns of the set alone.
    fn rows(&mut self, oracle: &Oracle<'_>, model: Option<&Collapsed>) -> &Collapsed {
        let Set { chosen, rows, .. } = self;
        rows.get_or_insert_with(|| {
            let f = oracle.problem().inner;
            if let Some(centred) = f.centred_rows().filter(|_| f.averages().is_none()) {
                return centred.columns(chosen);
            }
            let all = model.or_else(|| f.averages());
            let all = all.expect("the method has averages of its own where f has none");
            all.columns(chosen)
        })
    }
}
