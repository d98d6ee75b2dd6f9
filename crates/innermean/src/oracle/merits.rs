//! phi at averages that are at hand: its value, slopes and curvature in one query for each term.

use serde::{Deserialize, Serialize};

use super::Oracle;
use crate::linalg::blocks::{Blocks, MERIT};
use crate::model::problem::Objective;

/// What phi says at averages.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Merits {
    /// `(1/n_X) sum_i phi_i(u_i)`
    pub(crate) loss: f64,
    /// `phi_i'(u_i)`, flat
    pub(crate) w: Vec<f64>,
    /// The diagonals of `phi_i''(u_i)`, flat; or, of a phi that is no sum over coordinates, all of
    /// it, ell rows of length ell for each term.
    pub(crate) hessians: Vec<f64>,
}

/// How the second derivatives of phi are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curvature {
    /// phi is a sum over coordinates that knows them.
    Known,
    /// The averages are single numbers: by a difference of slopes.
    Difference,
    /// phi ties coordinates together: all of each `phi_i''`.
    Tied,
}

/// Of u, the step of a difference.
const STEP: f64 = 1e-6;

impl Curvature {
    pub(crate) fn of(problem: Objective<'_>) -> Self {
        if problem.merit.hessian_diagonal(0..0, &[], &mut []) {
            Curvature::Known
        } else if problem.inner.ell() == 1 && problem.merit.quadratic_form().is_none() {
            Curvature::Difference
        } else {
            Curvature::Tied
        }
    }

    /// Numbers that [`Merits::hessians`] holds for each term.
    fn numbers(self, ell: usize) -> usize {
        if self == Curvature::Tied { ell * ell } else { ell }
    }
}

impl Merits {
    /// Room for those of a problem.
    pub(crate) fn room(problem: Objective<'_>) -> Self {
        let (n_x, ell) = (problem.inner.n_x(), problem.inner.ell());
        let numbers = Curvature::of(problem).numbers(ell);
        Merits { loss: 0.0, w: vec![0.0; n_x * ell], hessians: vec![0.0; n_x * numbers] }
    }
}

impl Oracle<'_> {
    /// phi at averages `u`: `n_X` calls, and `n_X` for each further point where second derivatives
    /// are differences. Without room for second derivatives there are none.
    pub(crate) fn merits(&mut self, u: &[f64], out: &mut Merits) {
        self.calls.merit += self.n_x as u64;
        self.rows += self.rows_of.merit * self.n_x as u64;
        let (problem, ell) = (self.problem, self.ell);
        let mut loss = [0.0];
        Blocks::new(self.n_x, MERIT * ell).fill_and_add(
            ell,
            &mut out.w,
            1.0 / self.n_x as f64,
            &mut loss,
            |terms, w, loss| {
                let own = terms.start * ell..terms.end * ell;
                loss[0] += problem.merit.values_and_gradients(terms, &u[own], w);
            },
        );
        out.loss = loss[0];
        if out.hessians.is_empty() {
            return;
        }
        let way = Curvature::of(problem);
        let numbers = way.numbers(ell);
        let differs = match way {
            Curvature::Known => 0,
            Curvature::Difference => 1,
            Curvature::Tied => differences(problem),
        };
        self.calls.merit += (differs * self.n_x) as u64;
        Blocks::new(self.n_x, MERIT * numbers).fill(numbers, &mut out.hessians, |terms, out| {
            let own = terms.start * ell..terms.end * ell;
            if way == Curvature::Known {
                problem.merit.hessian_diagonal(terms, &u[own], out);
                return;
            }
            for (i, out) in terms.zip(out.chunks_exact_mut(numbers)) {
                whole(problem, i, &u[i * ell..(i + 1) * ell], out);
            }
        });
    }

    /// `(1/n_X) sum_i phi_i(u_i)`: `n_X` calls.
    pub(crate) fn loss(&mut self, u: &[f64]) -> f64 {
        self.calls.merit += self.n_x as u64;
        self.rows += self.rows_of.merit * self.n_x as u64;
        self.problem.loss(u)
    }
}

/// Points at which slopes are taken for [`whole`], beside the one in question.
fn differences(problem: Objective<'_>) -> usize {
    let known = problem.merit.quadratic_form().is_some()
        || problem.merit.diagonal_less_rank_one(0..0, &[], &mut [], &mut []);
    if known { 0 } else { problem.inner.ell() }
}

/// `out = phi_i''(u)`, ell rows of length ell.
fn whole(problem: Objective<'_>, i: usize, u: &[f64], out: &mut [f64]) {
    let ell = u.len();
    if let Some(form) = problem.merit.quadratic_form() {
        // C^-1
        for (c, column) in out.chunks_exact_mut(ell).enumerate() {
            column.fill(0.0);
            column[c] = 1.0;
            form.factor().solve(column);
        }
        return;
    }
    let (mut diagonal, mut across) = (vec![0.0; ell], vec![0.0; ell]);
    if problem.merit.diagonal_less_rank_one(i..i + 1, u, &mut diagonal, &mut across) {
        for (r, row) in out.chunks_exact_mut(ell).enumerate() {
            for (c, entry) in row.iter_mut().enumerate() {
                *entry = -across[r] * across[c] + if r == c { diagonal[r] } else { 0.0 };
            }
        }
        return;
    }
    let (mut here, mut there, mut at) = (vec![0.0; ell], vec![0.0; ell], u.to_vec());
    problem.merit.gradient(i, u, &mut here);
    let size = u.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
    let h = STEP * if size > 0.0 { size } else { 1.0 };
    for (c, row) in out.chunks_exact_mut(ell).enumerate() {
        at[c] = u[c] + h;
        problem.merit.gradient(i, &at, &mut there);
        at[c] = u[c];
        for ((entry, there), here) in row.iter_mut().zip(&there).zip(&here) {
            *entry = (there - here) / h;
        }
    }
    for r in 0..ell {
        for c in 0..r {
            let mean = 0.5 * (out[r * ell + c] + out[c * ell + r]);
            (out[r * ell + c], out[c * ell + r]) = (mean, mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::collapse::Collapsed;
    use crate::model::merit::{Merit, NegativeLog, QuadraticForm, Square};
    use crate::model::problem::Problem;
    use crate::model::regularizer::Unregularized;
    use std::ops::Range;

    /// The same phi, which keeps its second derivatives to itself.
    struct Silent<P>(P);

    impl<P: Merit> Merit for Silent<P> {
        fn value(&self, i: usize, u: &[f64]) -> f64 {
            self.0.value(i, u)
        }

        fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
            self.0.gradient(i, u, out);
        }

        fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
            self.0.conjugate(i, w)
        }

        fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
            self.0.prox_conjugate(i, alpha, w);
        }

        fn hessian_diagonal(&self, _: Range<usize>, _: &[f64], _: &mut [f64]) -> bool {
            false
        }

        fn gamma(&self) -> f64 {
            1.0
        }

        fn lipschitz(&self, ell: usize) -> f64 {
            self.0.lipschitz(ell)
        }
    }

    fn asked(problem: Objective<'_>, u: &[f64]) -> (Merits, u64) {
        let mut oracle = Oracle::new(problem);
        let mut merits = Merits::room(problem);
        oracle.merits(u, &mut merits);
        (merits, oracle.calls.merit)
    }

    /// Two terms of this many averages each.
    fn averages(ell: usize) -> Collapsed {
        let mut averages = Collapsed::empty(3, ell, 2);
        averages.set_offsets(vec![0.0; 2 * ell]);
        averages
    }

    #[test]
    fn second_derivatives_that_phi_keeps_to_itself_are_differences() {
        let phi = NegativeLog::new(1, vec![0.25, 0.75]).expect("weights");
        let single = Problem { inner: averages(1), merit: phi.clone(), regularizer: Unregularized };
        let silent = Problem { inner: averages(1), merit: Silent(phi), regularizer: Unregularized };
        let (known, calls) = asked((&single).into(), &[0.5, 2.0]);
        assert_eq!(calls, 2);
        let (found, calls) = asked((&silent).into(), &[0.5, 2.0]);
        assert_eq!((calls, found.loss, &found.w), (4, known.loss, &known.w));
        for (found, known) in found.hessians.iter().zip(&known.hessians) {
            assert!((found - known).abs() < 1e-4 * known, "{found}, {known}");
        }
        // Of several averages, all of phi''.
        let square = Square::new(1.5).expect("a weight");
        let tied =
            Problem { inner: averages(2), merit: Silent(square), regularizer: Unregularized };
        let (found, calls) = asked((&tied).into(), &[1.0, -2.0, 0.0, 0.0]);
        assert_eq!(calls, 2 * 3);
        for (found, known) in found.hessians.iter().zip([3.0, 0.0, 0.0, 3.0].repeat(2)) {
            assert!((found - known).abs() < 1e-6, "{found}, {known}");
        }
    }

    #[test]
    fn a_quadratic_form_bends_by_its_inverse() {
        let form = QuadraticForm::new(vec![2.0, 1.0, 1.0, 2.0]).expect("positive definite");
        let problem =
            Problem { inner: Collapsed::empty(3, 2, 1), merit: form, regularizer: Unregularized };
        let (found, calls) = asked((&problem).into(), &[1.0, 0.0]);
        assert_eq!(calls, 1);
        for (found, known) in found.hessians.iter().zip([2.0, -1.0, -1.0, 2.0]) {
            assert!((found - known / 3.0).abs() < 1e-14);
        }
    }
}
