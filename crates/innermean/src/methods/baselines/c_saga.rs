//! C-SAGA: Zhang and Xiao, "A Composite Randomized Incremental Gradient Method", ICML 2019,
//! Algorithm 1: a table of `f_j` and `f_j'` at the points where each was last asked for.
//!
//! Asks of the problem: a smooth phi, a prox of g, and a sample that is shared by all terms; it
//! works on the shared form otherwise. Linear rate where P is strongly convex. Per step: `s f + s
//! f' + n_X phi` of the shared form, no f' for affine f, and b phi instead of all `n_X` where the
//! outer terms are drawn too, from a table of `phi_i'`. Once: `n_Y f + n_Y f'`, to fill the table
//! (and `n_X` phi for that of the `phi_i'`). Storage: `n_Y ell` for the values, `n_Y d ell` for the
//! Jacobians or `d ell` if f is affine, `n_X ell` for the `phi_i'`.

use serde::{Deserialize, Serialize};

use super::saga_table::Table;
use crate::draws::Stream;
use crate::linalg::vector::add_weighted_rows;
use crate::methods::{Guarded, Method};
use crate::oracle::Oracle;

mod settings;

/// C-SAGA with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CSaga {
    /// The step.
    pub alpha_theta: f64,
    /// s, the samples of a step.
    pub batch: usize,
    /// b, the outer terms of a step; none: all of them.
    pub outer_batch: Option<usize>,
    /// Whether no step was given: then the safeguard watches over it.
    pub guarded: bool,
    /// The seed of all random draws.
    pub seed: u64,
}

/// Theta and the tables.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    /// `f_j` at `a_j`; their mean is Y
    values: Table,
    /// `f_j'` at `a_j`, if they change; their mean is Z
    jacobians: Option<Table>,
    /// `phi_i'` where last asked for, if the outer terms are drawn
    slopes: Option<Table>,
    filled: bool,
    y: Vec<f64>,
    z: Vec<f64>,
    w: Vec<f64>,
    work: Vec<f64>,
    direction: Vec<f64>,
    i: Stream,
    j: Stream,
}

impl Method for CSaga {
    type State = State;

    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> State {
        let (d, ell, n_x, n_y) = (oracle.d(), oracle.ell(), oracle.n_x(), oracle.n_y(0));
        State {
            theta: theta.to_vec(),
            values: Table::new(n_y, ell, self.batch),
            jacobians: (!oracle.facts().affine).then(|| Table::new(n_y, ell * d, self.batch)),
            slopes: self.outer_batch.map(|b| Table::new(n_x, ell, b)),
            filled: false,
            y: vec![0.0; ell],
            z: vec![0.0; ell * d],
            w: vec![0.0; ell],
            work: vec![0.0; ell],
            direction: vec![0.0; d],
            i: Stream::new(self.seed, 0),
            j: Stream::new(self.seed, 1),
        }
    }

    /// Fills the tables at the start; later it only takes their means afresh, from which rounding
    /// has led away.
    fn outer(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let State { theta, values, jacobians, slopes, y, z, work, .. } = s;
        if !s.filled {
            s.filled = true;
            values.fill(|j, value| oracle.value(theta, 0, j, value));
            match jacobians {
                Some(table) => {
                    table.fill(|j, jacobian| oracle.jacobian(theta, 0, j, work, jacobian));
                }
                None => oracle.pass().shared_jacobian(theta, z),
            }
            if let Some(table) = slopes {
                y.copy_from_slice(values.mean());
                table.fill(|i, slope| oracle.merit_gradient(i, y, slope));
            }
        }
        values.refresh();
        for table in jacobians.iter_mut().chain(slopes) {
            table.refresh();
        }
    }

    fn inner_iterations(&self, s: &State) -> usize {
        s.values.len().div_ceil(self.batch)
    }

    #[inline(always)]
    fn inner(&self, oracle: &mut Oracle<'_>, s: &mut State) {
        let State { theta, values, jacobians, slopes, y, z, w, work, direction, .. } = s;
        // y = Y + mean_S( f_theta(y_j) - f_aj(y_j) ),  z = Z + mean_S( f'_theta(y_j) - f'_aj(y_j) )
        for t in 0..self.batch {
            if oracle.patience.ends_at(t) {
                break;
            }
            let j = s.j.index(oracle.n_y(0));
            oracle.value(theta, 0, j, values.ask(t, j));
            if let Some(table) = jacobians {
                oracle.jacobian(theta, 0, j, work, table.ask(t, j));
            }
        }
        values.estimate(y);
        if let Some(table) = jacobians {
            table.estimate(z);
        }
        // w = (1/n_X) sum_i phi_i'(y), or its estimate from terms that are drawn
        if let Some(table) = slopes {
            for t in 0..table.batch() {
                if oracle.patience.ends_at(t) {
                    break;
                }
                let i = s.i.index(oracle.n_x());
                oracle.merit_gradient(i, y, table.ask(t, i));
            }
            table.estimate(w);
            table.replace();
        } else {
            w.fill(0.0);
            for i in 0..oracle.n_x() {
                oracle.add_merit_gradient(i, y, oracle.one_over_n_x(), work, w);
            }
        }
        // theta <- prox_{alpha g}(theta - alpha z w)
        direction.fill(0.0);
        add_weighted_rows(z, w, direction);
        oracle.g().step(self.alpha_theta, direction, theta);
        // a_j <- theta of before the step, for j in S; Y and Z follow
        values.replace();
        if let Some(table) = jacobians {
            table.replace();
        }
    }

    fn guarded(&mut self) -> Option<Guarded<'_>> {
        self.guarded.then_some(Guarded::new(&mut self.alpha_theta, &mut self.seed))
    }

    fn theta<'s>(&self, s: &'s State) -> &'s [f64] {
        &s.theta
    }
}
