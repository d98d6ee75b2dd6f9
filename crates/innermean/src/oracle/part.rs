//! Second derivatives, and work on a part of the terms: what Newton's method asks for.

use super::{Calls, Oracle, snapshot_calls};
use crate::certificate::hessian;
use crate::model::collapse::Collapsed;
use crate::model::inner::Inner;
use crate::model::problem::Objective;
use crate::model::sample::{PartOf, TermsOf};

impl Oracle<'_> {
    /// `F''` at theta, whose averages are at hand, from this many terms; see [`hessian::dense`]:
    /// their part of a snapshot's calls of f', and a call of phi for each.
    pub(crate) fn hessian(
        &mut self,
        theta: &[f64],
        f_bar: &[f64],
        terms: usize,
        seed: u64,
    ) -> Vec<f64> {
        let terms = terms.min(self.n_x);
        let part = |all: u64| (u128::from(all) * terms as u128 / self.n_x.max(1) as u128) as u64;
        self.calls.jacobian += part(self.snapshot.jacobian);
        self.calls.merit += terms as u64;
        self.rows += part(self.rows_of.all);
        hessian::dense(self.problem, theta, f_bar, terms, seed)
    }

    /// Runs `work` on some terms as a problem of their own, with at most `most` samples of each:
    /// what `work` asks for. Of an affine f the terms are averaged first, a call of f and of f' for
    /// each sample, and none later.
    pub(crate) fn on_part<R>(
        &mut self,
        terms: &[usize],
        most: usize,
        work: impl FnOnce(&mut Oracle<'_>) -> R,
    ) -> R {
        let Objective { inner, merit, regularizer } = self.problem;
        let part = PartOf::new(inner, terms, most);
        let first = snapshot_calls(&part);
        let inner: Box<dyn Inner + '_> = if self.facts.affine {
            self.calls = self.calls + first;
            self.rows += (&part as &dyn Inner).rows().all;
            Box::new(Collapsed::new(&part, &vec![0.0; self.d]))
        } else {
            Box::new(part)
        };
        let merit = TermsOf { whole: merit, terms };
        let mut oracle = Oracle::new(Objective { inner: &*inner, merit: &merit, regularizer });
        let result = work(&mut oracle);
        let Calls { f, jacobian, merit } = oracle.calls;
        let asked = if self.facts.affine {
            Calls { merit, ..Calls::default() }
        } else {
            Calls { f, jacobian, merit }
        };
        self.calls = self.calls + asked;
        self.rows += oracle.rows;
        result
    }

    /// The diagonal of `F''` at theta, whose averages are at hand: a gradient's calls of f' and
    /// phi.
    pub(crate) fn hessian_diagonal(&mut self, theta: &[f64], f_bar: &[f64]) -> Vec<f64> {
        self.calls = self.calls + Calls { f: 0, ..self.gradient };
        self.rows += self.rows_of.all;
        hessian::diagonal(self.problem, theta, f_bar)
    }
}
