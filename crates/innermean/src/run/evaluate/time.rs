//! A limit on the time of proofs.

use super::Evaluator;
use crate::certificate::Reason;
use crate::oracle::Patience;

impl<'p> Evaluator<'p> {
    /// How long proofs may take; one that would take longer is left, and a cheaper bound is given.
    pub(crate) fn until(&mut self, patience: Patience<'p>) {
        self.prover.patience = patience;
    }

    /// Whether a proof was left, or might have been.
    pub(crate) fn was_cut(&self) -> bool {
        self.prover.patience.is_over()
    }

    /// Whether a proof was left.
    pub(super) fn out_of_time(&self) -> Option<Reason> {
        self.prover.patience.is_over().then_some(Reason::OutOfTime)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::model::collapse::Collapsed;
    use crate::model::merit::Huber;
    use crate::model::problem::Problem;
    use crate::model::regularizer::Unregularized;
    use crate::run::evaluate::Known;

    /// Two columns that double precision barely tells apart, at their optimum.
    #[test]
    fn a_proof_without_time_is_left_for_a_cheaper_bound() {
        // Each row twice, a little above and as much below: the optimum is (1, 0), and not 0.
        let twice = || (0..24).map(|r| (f64::from(r / 2), if r % 2 == 0 { 0.3 } else { -0.3 }));
        let rows: Vec<f64> = twice().flat_map(|(x, _)| [x, x + 1e-9 * (x % 3.0)]).collect();
        let inner = Collapsed::from_rows(2, rows, twice().map(|(x, side)| side - x).collect());
        let problem =
            Problem { inner, merit: Huber::new(1.0, 1.0).unwrap(), regularizer: Unregularized };
        let theta = [1.0 + 1e-7, 0.0];
        let found = |stop: &AtomicBool| {
            let mut evaluator = Evaluator::new(&problem);
            evaluator.until(Patience::new(None, Some(stop)));
            // The objective has come to rest.
            evaluator.evaluate(&theta, Known::default());
            evaluator.evaluate(&theta, Known::default());
            evaluator.evaluate(&theta, Known::default()).certificate
        };
        let whole = found(&AtomicBool::new(false));
        let cut = found(&AtomicBool::new(true));
        let proven = whole.gap.expect("twice the precision proves it");
        assert!(whole.reason.is_none() && proven < 1e-10, "{whole:?}");
        assert!(cut.gap.is_none_or(|gap| gap > proven || cut.within.is_some()), "{cut:?}");
        assert!(cut.reason.is_some(), "{cut:?}");
    }
}
