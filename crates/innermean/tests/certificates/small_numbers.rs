//! Claims on objectives of 1e-19, whose conjugates nearly cancel: the entropic risk of one asset
//! whose returns are as small as its rate is large.

use super::{G, Phi, gap, symmetric};
use innermean::draws::Stream;
use innermean::evaluate::{Evaluator, Known};
use innermean::{
    BoxConstraint, Collapsed, Exponential, FreeTail, Inner, Problem, Regularizer, Ridge, Tilted,
};

/// `-m theta + c t + (1/n) sum_i c (exp(r (-x_i theta - t)) - 1) / r + g(theta)`, and the mean m and
/// the variance of the returns `x_i`.
struct Risk {
    problem: Problem<Box<dyn Inner>, Phi, G>,
    mean: f64,
    variance: f64,
}

fn risk(size: f64, (c, rate): (f64, f64), g: impl Regularizer + 'static) -> Risk {
    let (n, mut stream) = (24, Stream::new(11, 1));
    let returns: Vec<f64> = (0..n).map(|_| size * (symmetric(&mut stream) + 0.2)).collect();
    let mean = returns.iter().sum::<f64>() / n as f64;
    let variance = returns.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
    let rows: Vec<f64> = returns.iter().flat_map(|x| [-x, -1.0]).collect();
    let inner: Box<dyn Inner> = Box::new(Collapsed::from_rows(2, rows, vec![0.0; n]));
    let merit: Phi = Box::new(Exponential::new(c, rate).unwrap());
    let g = Tilted::new(FreeTail::new(g, 1), vec![-mean, c]).unwrap();
    Risk { problem: Problem { inner, merit, regularizer: Box::new(g) }, mean, variance }
}

/// With exponents of 1e-9 the risk is mean and variance to the last digit: at the best threshold
/// `P = -(1 + c) m theta + (l2 + c r s^2) theta^2 / 2`.
#[test]
fn nothing_lies_below_a_claim_on_a_tiny_objective() {
    let (c, rate, weight) = (41.0, 2.8e11, 6.4e-4);
    let Risk { problem, mean, variance } =
        risk(1e-12, (c, rate), Ridge::from_weight(weight).unwrap());
    let bend = weight + c * rate * variance;
    let best = (1.0 + c) * mean / bend;
    let lowest = -0.5 * bend * best * best;
    let mut claims = 0;
    for k in 0..40 {
        let theta = best * f64::from(k) / 32.0;
        let threshold = -mean * theta + 0.5 * rate * variance * theta * theta;
        let at = [theta, threshold];
        if let Some((gap, _)) = gap(&problem, &at) {
            let below = problem.objective(&at) - gap;
            assert!(below <= lowest + 1e-11 * lowest.abs(), "{below:e} is above {lowest:e}");
            claims += 1;
        }
    }
    assert!(claims > 20, "{claims} claims");
}

/// The best point lies far out within bounds that are further out still: what a bound may lose to
/// a repair along the threshold is as large as all that is to be gained, and no rounding.
#[test]
fn a_repair_is_not_taken_for_rounding() {
    let (c, rate) = (66.0, 4.6e7);
    let bounds = BoxConstraint::new(-1e6, 1e6).unwrap();
    let Risk { problem, .. } = risk(4e-10, (c, rate), bounds);
    let left = -problem.objective(&[50.0, -50.0 * 0.2 * 4e-10]);
    assert!(left > 1e-8, "{left:e} to be gained");
    let mut evaluator = Evaluator::new(&problem);
    let found = evaluator.evaluate(&[0.0, 0.0], Known::default()).certificate;
    assert!(!found.is_rounding, "{found:?}");
    assert!(found.gap.is_none_or(|gap| gap >= left), "{found:?}, {left:e} is left");
}
