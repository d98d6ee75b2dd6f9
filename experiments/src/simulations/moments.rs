//! Instrumental variables.

use innermean::Moments;
use innermean::draws::Stream;
use innermean::inference::{Clusters, Correction, Dependence};
use innermean::problems::moments::{MomentErrors, Weighting};

use super::{Interval, Simulation, by_errors, normal};

/// A price that answers to the error, an exogenous column and the intercept.
const TRUTH: [f64; 3] = [-2.0, 0.5, 1.0];

pub(super) const TWO_STAGES: Simulation = Simulation {
    command: "moments",
    estimator: "two-stage least squares, 300 rows, three instruments",
    interval: "robust",
    run: |draws| estimated(&market(draws, 300, 1), &Weighting::TwoStageLeastSquares, &ROBUST),
};

pub(super) const TWO_STEPS: Simulation = Simulation {
    command: "moments",
    estimator: "two steps, 300 rows, three instruments",
    interval: "robust",
    run: |draws| estimated(&market(draws, 300, 1), &Weighting::TwoStep(ROBUST), &ROBUST),
};

pub(super) const CLUSTERED: Simulation = Simulation {
    command: "moments",
    estimator: "two-stage least squares, 60 clusters of 5 rows",
    interval: "clustered",
    run: |draws| {
        let moments = market(draws, 300, 5);
        let clusters = Clusters::new((0..300).map(|k| k / 5).collect()).ok()?;
        let errors = MomentErrors::Robust(Dependence::Clustered(clusters));
        estimated(&moments, &Weighting::TwoStageLeastSquares, &errors)
    },
};

const ROBUST: MomentErrors = MomentErrors::Robust(Dependence::Independent);

fn estimated(
    moments: &Moments,
    weighting: &Weighting,
    errors: &MomentErrors,
) -> Option<Vec<Interval>> {
    let fit = moments.fit(weighting).ok()?;
    let found = moments.covariance(&fit, errors, Correction::SmallSample).ok()?;
    Some(by_errors(&TRUTH, &fit.theta, &found))
}

/// Rows of which this many in turn have noise and an exogenous column in common.
fn market(draws: &mut Stream, n: usize, size: usize) -> Moments {
    let (mut regressors, mut instruments, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
    let mut common = [0.0; 2];
    for k in 0..n {
        if size > 1 && k % size == 0 {
            common = [normal(draws), normal(draws)];
        }
        let z = [normal(draws), normal(draws), normal(draws)];
        let (x, shock) = (common[0] + normal(draws), normal(draws));
        let price = 0.8 * z[0] - 0.6 * z[1] + 0.5 * z[2] + 0.3 * x + shock;
        let noise = 1.5 * shock + common[1] + (0.5 + 0.5 * z[0].abs()) * normal(draws);
        outcomes.push(TRUTH[0] * price + TRUTH[1] * x + TRUTH[2] + noise);
        regressors.extend([price, x, 1.0]);
        instruments.extend([z[0], z[1], z[2], x, 1.0]);
    }
    Moments::new(3, regressors, 5, instruments, outcomes).expect("whole rows")
}
