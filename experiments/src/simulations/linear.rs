//! Rows with a target.

use innermean::draws::Stream;
use innermean::inference::{Clusters, Dependence, Resampling, Sandwich, bootstrap, refit_terms};
use innermean::problems::linear::predictors;
use innermean::{Collapsed, Logistic, Problem, Square, Stop, Unregularized, Weighted};

use super::{REPLICATES, Simulation, by_deviations, by_errors, flip, normal, sigmoid, solved};

/// Two slopes and an intercept.
const TRUTH: [f64; 3] = [1.0, -0.5, 2.0];

pub(super) const HETEROSKEDASTIC: Simulation = Simulation {
    command: "linear",
    estimator: "squares, 200 rows, noise that grows with a column",
    interval: "HC1",
    run: |draws| {
        let rows = rows(draws, 200);
        let problem = squares(rows, |x| 0.5 + x[0].abs(), draws);
        let theta = solved(&problem)?;
        let found = Sandwich::new(Dependence::Independent).of_terms(&problem, &theta).ok()?;
        Some(by_errors(&TRUTH, &theta, &found))
    },
};

pub(super) const CLUSTERED: Simulation = Simulation {
    command: "linear",
    estimator: "squares, 50 clusters of 6 rows with common noise",
    interval: "clustered",
    run: |draws| {
        let (size, count) = (6, 50);
        let common: Vec<[f64; 2]> = (0..count).map(|_| [normal(draws), normal(draws)]).collect();
        let mut rows = rows(draws, size * count);
        for (k, row) in rows.chunks_exact_mut(3).enumerate() {
            row[0] += common[k / size][0];
        }
        let offsets = (0..size * count)
            .map(|k| common[k / size][1] + normal(draws) - predicted(&rows[3 * k..3 * k + 3]))
            .collect();
        let inner = predictors(3, rows, offsets).ok()?;
        let problem = Problem { inner, merit: Square::new(0.5).ok()?, regularizer: Unregularized };
        let theta = solved(&problem)?;
        let clusters =
            Clusters::new((0..size * count).map(|k| (k / size) as u32).collect()).ok()?;
        let sandwich = Sandwich::new(Dependence::Clustered(clusters));
        Some(by_errors(&TRUTH, &theta, &sandwich.of_terms(&problem, &theta).ok()?))
    },
};

pub(super) const WEIGHTED: Simulation = Simulation {
    command: "linear",
    estimator: "weighted squares, 200 rows, weights by noise",
    interval: "HC1",
    run: |draws| {
        let rows = rows(draws, 200);
        let noise = |x: &[f64]| 0.3 + x[0].abs();
        let weights = rows.chunks_exact(3).map(|x| noise(x).powi(-2)).collect();
        let Problem { inner, merit, regularizer } = squares(rows, noise, draws);
        let problem = Problem { inner, merit: Weighted::new(merit, weights).ok()?, regularizer };
        let theta = solved(&problem)?;
        let found = Sandwich::new(Dependence::Independent).of_terms(&problem, &theta).ok()?;
        Some(by_errors(&TRUTH, &theta, &found))
    },
};

pub(super) const LOGISTIC: Simulation = Simulation {
    command: "linear",
    estimator: "logistic, 300 rows",
    interval: "HC1",
    run: |draws| {
        let truth = [1.0, -0.5, 0.3];
        let rows = rows(draws, 300);
        let labels = rows
            .chunks_exact(3)
            .map(|x| 2.0 * flip(draws, sigmoid(x[0] - 0.5 * x[1] + 0.3)) - 1.0)
            .collect();
        let problem = Problem {
            inner: predictors(3, rows, vec![0.0; 300]).ok()?,
            merit: Logistic::new(labels).ok()?,
            regularizer: Unregularized,
        };
        let theta = solved(&problem)?;
        let found = Sandwich::new(Dependence::Independent).of_terms(&problem, &theta).ok()?;
        Some(by_errors(&truth, &theta, &found))
    },
};

pub(super) const BOOTSTRAP: Simulation = Simulation {
    command: "linear",
    estimator: "squares, 200 rows, noise that grows with a column",
    interval: "bootstrap, normal",
    run: |draws| {
        let rows = rows(draws, 200);
        let problem = squares(rows, |x| 0.5 + x[0].abs(), draws);
        let theta: Vec<f64> = solved(&problem)?;
        let units = Resampling::Clusters(Clusters::singletons(200));
        let refit = refit_terms(&problem, &theta, Stop::default());
        let replicates = bootstrap(&units, REPLICATES, seed(draws), refit);
        by_deviations(&TRUTH, &theta, &replicates)
    },
};

fn seed(draws: &mut Stream) -> u64 {
    draws.index(1 << 40) as u64
}

/// Two columns and the intercept's ones.
fn rows(draws: &mut Stream, n: usize) -> Vec<f64> {
    (0..n).flat_map(|_| [normal(draws), normal(draws), 1.0]).collect()
}

fn predicted(row: &[f64]) -> f64 {
    row.iter().zip(TRUTH).map(|(x, theta)| x * theta).sum()
}

fn squares(
    rows: Vec<f64>,
    noise: impl Fn(&[f64]) -> f64,
    draws: &mut Stream,
) -> Problem<Collapsed, Square, Unregularized> {
    let target = |x: &[f64]| predicted(x) + noise(x) * normal(draws);
    let offsets = rows.chunks_exact(3).map(target).map(|y| -y).collect();
    Problem {
        inner: predictors(3, rows, offsets).expect("whole rows"),
        merit: Square::new(0.5).expect("a weight"),
        regularizer: Unregularized,
    }
}
