//! Slopes along coordinates that g leaves free are told from rounding, however large those of others
//! are.

use super::{G, Phi, gap, symmetric};
use innermean::draws::Stream;
use innermean::evaluate::{Evaluator, Known};
use innermean::{
    Collapsed, Excess, FreeTail, Inner, Logistic, Problem, Regularizer, Ridge, Tilted,
};

/// `g + <tilt, theta>` with a ridge on all but the last coordinate, known part by part or as a g of
/// one's own.
fn tilted_tails(weight: f64, tilt: &[f64]) -> [G; 2] {
    let (ridge, head) = (Ridge::from_weight(weight).unwrap(), tilt.len() - 1);
    [
        Box::new(Tilted::new(FreeTail::new(ridge, head), tilt.to_vec()).unwrap()),
        Box::new(Tilted::new(FreeTail::new(Own(ridge), head), tilt.to_vec()).unwrap()),
    ]
}

/// A ridge of which no more is known than it must be.
struct Own(Ridge);

impl Regularizer for Own {
    fn value(&self, theta: &[f64]) -> f64 {
        self.0.value(theta)
    }

    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        self.0.prox(alpha, theta);
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        self.0.conjugate(v)
    }

    fn mu(&self) -> f64 {
        self.0.mu()
    }

    fn free_coordinates(&self, _: usize) -> Vec<(usize, f64)> {
        Vec::new()
    }
}

/// Beside slopes of 1e12, that of a threshold of losses is no rounding: without losses g has no
/// minimum.
#[test]
fn a_small_slope_is_told_from_a_free_coordinate() {
    let (n, d, cost) = (20, 3, 0.02);
    let mut stream = Stream::new(8, 1);
    let rows: Vec<f64> = (0..n)
        .flat_map(|_| [-1.0 - stream.unit(), -1.0 - stream.unit(), -1e-12])
        .map(|x| 1e12 * x)
        .collect();
    let mean = |l: usize| rows.iter().skip(l).step_by(d).sum::<f64>() / n as f64;
    let (tilt, weight) = ([mean(0), mean(1), cost], 0.5);
    for regularizer in tilted_tails(weight, &tilt) {
        let inner: Box<dyn Inner> = Box::new(Collapsed::from_rows(d, rows.clone(), vec![0.0; n]));
        let merit: Phi = Box::new(Excess::new(10.0 * cost).unwrap());
        let problem = Problem { inner, merit, regularizer };
        // Where g is least but for the threshold, every loss is below 0: the threshold follows.
        let at = |threshold: f64| [-tilt[0] / weight, -tilt[1] / weight, threshold];
        let mut losses = vec![0.0; n];
        problem.inner.means(&at(0.0), &mut losses);
        let largest = losses.iter().fold(f64::NEG_INFINITY, |most: f64, x| most.max(*x));
        let left = problem.objective(&at(0.0)) - problem.objective(&at(largest));
        assert!(largest < -1e23 && left > 0.01 * cost * -largest, "{left:e}");
        if let Some((gap, _)) = gap(&problem, &at(0.0)) {
            assert!(gap >= left, "{gap:e} claimed, {left:e} true");
        }
    }
}

/// A slope that no loss holds: there is no minimum, and no bound among all theta.
#[test]
fn no_gap_is_claimed_where_a_small_slope_leads_down_for_ever() {
    let (n, d) = (20, 3);
    let mut stream = Stream::new(9, 1);
    let rows: Vec<f64> =
        (0..n).flat_map(|_| [symmetric(&mut stream), symmetric(&mut stream), 1.0]).collect();
    for regularizer in tilted_tails(0.5, &[1e13, -1e13, 2.0]) {
        let inner: Box<dyn Inner> = Box::new(Collapsed::from_rows(d, rows.clone(), vec![0.0; n]));
        let merit: Phi = Box::new(Logistic::new(vec![1.0; n]).unwrap());
        let problem = Problem { inner, merit, regularizer };
        for theta in [[0.0; 3], [-2e13, 2e13, 0.0], [-2e13, 2e13, -1e15]] {
            let mut evaluator = Evaluator::new(&problem);
            for _ in 0..2 {
                let found = evaluator.evaluate(&theta, Known::default()).certificate;
                assert!(found.gap.is_none() || found.within.is_some(), "{found:?} at {theta:?}");
            }
        }
    }
}
