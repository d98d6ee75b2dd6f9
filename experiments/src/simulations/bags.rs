//! Groups with one label each.

use innermean::draws::Stream;
use innermean::inference::{Clusters, Dependence, Resampling, Sandwich, bootstrap, refit_terms};
use innermean::{
    Bags, Bernoulli, Groups, Link, NegativeLog, Problem, SoftmaxBags, Stop, Unregularized,
};

use super::{REPLICATES, Simulation, by_errors, by_percentiles, flip, normal, sigmoid, solved};

/// Two slopes and the intercept.
const TRUTH: [f64; 3] = [1.2, -0.7, 0.3];
/// Rows of a group.
const SIZE: usize = 8;

pub(super) const PROPORTIONS: Simulation = Simulation {
    command: "bags",
    estimator: "proportions of 200 groups of 8 rows",
    interval: "robust",
    run: |draws| {
        let problem = proportions(draws, 200);
        let theta = solved(&problem)?;
        let found = Sandwich::new(Dependence::Independent).of_terms(&problem, &theta).ok()?;
        Some(by_errors(&TRUTH, &theta, &found))
    },
};

pub(super) const BOOTSTRAP: Simulation = Simulation {
    command: "bags",
    estimator: "proportions of 150 groups of 8 rows",
    interval: "bootstrap, percentiles",
    run: |draws| {
        let problem = proportions(draws, 150);
        let theta: Vec<f64> = solved(&problem)?;
        let units = Resampling::Clusters(Clusters::singletons(150));
        let seed = draws.index(1 << 40) as u64;
        let refit = refit_terms(&problem, &theta, Stop::default());
        by_percentiles(&TRUTH, &bootstrap(&units, REPLICATES, seed, refit))
    },
};

/// Coefficients of classes less those of the first.
pub(super) const CLASSES: Simulation = Simulation {
    command: "bags",
    estimator: "three classes, 200 groups of 8 rows",
    interval: "robust",
    run: |draws| {
        let groups = 200;
        // The score of class c: slope_c x + intercept_c.
        let (slopes, intercepts) = ([0.0, 1.0, -0.8], [0.0, 0.2, -0.3]);
        let (mut rows, mut labels) = (Vec::new(), vec![0.0; 3 * groups]);
        for group in 0..groups {
            let common = normal(draws);
            for _ in 0..SIZE {
                let x = common + normal(draws);
                let odds = [0, 1, 2].map(|c: usize| f64::exp(slopes[c] * x + intercepts[c]));
                let mut left = draws.unit() * odds.iter().sum::<f64>();
                let class = odds.iter().position(|odds| {
                    left -= odds;
                    left < 0.0
                });
                labels[3 * group + class.unwrap_or(2)] += 1.0 / SIZE as f64;
                rows.push(x);
            }
        }
        let starts = (0..=groups).map(|group| SIZE * group).collect();
        let inner = SoftmaxBags::new(Groups::new(1, rows, starts, true).ok()?, 3).ok()?;
        let shifts = inner.shifts();
        let merit = NegativeLog::new(3, labels).ok()?;
        let problem = Problem { inner, merit, regularizer: Unregularized };
        let theta = solved(&problem)?;
        let sandwich = Sandwich { shifts, ..Sandwich::new(Dependence::Independent) };
        let found = sandwich.of_terms(&problem, &theta).ok()?;
        let mut combinations = vec![0.0; 4 * 6];
        for (r, (plus, minus)) in [(1, 0), (2, 0), (4, 3), (5, 3)].into_iter().enumerate() {
            combinations[6 * r + plus] = 1.0;
            combinations[6 * r + minus] = -1.0;
        }
        let product = |row: &[f64]| row.iter().zip(&theta).map(|(a, b)| a * b).sum();
        let estimate: Vec<f64> = combinations.chunks_exact(6).map(product).collect();
        let truth = [slopes[1], slopes[2], intercepts[1], intercepts[2]];
        Some(by_errors(&truth, &estimate, &found.of_combinations(&combinations)))
    },
};

fn proportions(draws: &mut Stream, groups: usize) -> Problem<Bags, Bernoulli, Unregularized> {
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..groups {
        let common = [normal(draws), normal(draws)];
        let mut positive = 0.0;
        for _ in 0..SIZE {
            let x = common.map(|common| common + normal(draws));
            positive += flip(draws, sigmoid(TRUTH[0] * x[0] + TRUTH[1] * x[1] + TRUTH[2]));
            rows.extend(x);
        }
        labels.push(positive / SIZE as f64);
    }
    let starts = (0..=groups).map(|group| SIZE * group).collect();
    let groups = Groups::new(2, rows, starts, true).expect("whole groups");
    Problem {
        inner: Bags::new(groups, Link::Logistic),
        merit: Bernoulli::new(labels).expect("proportions"),
        regularizer: Unregularized,
    }
}
