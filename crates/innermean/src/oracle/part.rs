//! Work on a part of the terms.

use super::{Calls, Oracle, snapshot_calls};
use crate::model::collapse::Collapsed;
use crate::model::inner::Inner;
use crate::model::problem::Objective;
use crate::model::sample::{PartOf, TermsOf};

impl Oracle<'_> {
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
            match inner.class_scores() {
                Some(scores) => Box::new(scores.part(terms)),
                None => Box::new(Collapsed::new(&part, &vec![0.0; self.d])),
            }
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
}
