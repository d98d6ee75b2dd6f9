//! Labels of groups, where f is not affine.

use innermean::draws::Stream;
use innermean::inference::{
    Clusters, Correction, Dependence, Resampling, Sandwich, bootstrap, refit_terms,
};
use innermean::problems::linear::predictors;
use innermean::{Bags, Bernoulli, Groups, Link, Logistic, Problem, Ridge, Stop, Unregularized};

use super::{assert_close, normal, on_one_thread, solved};

fn uncorrected() -> Sandwich {
    Sandwich { correction: Correction::None, ..Sandwich::new(Dependence::Independent) }
}

/// Groups of 6 rows with a proportion of positive ones each.
fn bags(seed: u64, groups: usize) -> Problem<Bags, Bernoulli, Unregularized> {
    let mut draws = Stream::new(seed, 0);
    let (mut rows, mut proportions, mut ends) = (Vec::new(), Vec::new(), vec![0]);
    for _ in 0..groups {
        let common = normal(&mut draws);
        let mut positive = 0.0;
        for _ in 0..6 {
            let x = common + 0.5 * normal(&mut draws);
            let chance = 1.0 / (1.0 + (-(0.3 + 1.2 * x)).exp());
            positive += f64::from(u8::from(draws.unit() < chance));
            rows.push(x);
        }
        proportions.push(positive / 6.0);
        ends.push(ends.last().expect("one") + 6);
    }
    Problem {
        inner: Bags::new(Groups::new(1, rows, ends, true).expect("groups"), Link::Logistic),
        merit: Bernoulli::new(proportions).expect("proportions"),
        regularizer: Unregularized,
    }
}

#[test]
fn the_bootstrap_agrees_with_the_sandwich() {
    let problem = bags(3, 300);
    let theta = solved(&problem);
    let sandwich = uncorrected().of_terms(&problem, &theta).expect("identified");
    let groups = Resampling::Clusters(Clusters::singletons(300));
    let again =
        |seed| bootstrap(&groups, 400, seed, refit_terms(&problem, &theta, Stop::default()));
    let found = again(1);
    assert_eq!(found.failed, 0);
    let drawn = found.covariance().expect("replicates");
    // 400 replicates leave 3.5 % of a standard error.
    assert_close(&drawn.standard_errors(), &sandwich.standard_errors(), 0.15);
    for (l, (theta, error)) in theta.iter().zip(sandwich.standard_errors()).enumerate() {
        let [low, high] = found.percentile_interval(l, 0.95).expect("replicates");
        assert!(low < *theta && *theta < high, "{theta} lies outside {low} to {high}");
        let width = (high - low) / (2.0 * 1.96 * error);
        assert!((width - 1.0).abs() < 0.2, "{width} times as wide as by the sandwich");
        let [low, high] = found.normal_interval(l, *theta, 0.95).expect("replicates");
        assert!((0.5 * (low + high) - theta).abs() < 1e-12);
        let width = (high - low) / (2.0 * 1.96 * drawn.standard_errors()[l]);
        assert!((width - 1.0).abs() < 1e-3);
    }
    assert_eq!(found, on_one_thread(|| again(1)), "the same seed on one thread");
    assert_ne!(found.thetas[0], again(2).thetas[0]);
    let doubled = found.map(|theta| vec![2.0 * theta[0]]);
    assert_eq!(doubled.thetas[7], [2.0 * found.thetas[7][0]]);
}

#[test]
fn draws_that_identify_nothing_are_counted() {
    let units = Resampling::Clusters(Clusters::singletons(3));
    let all = |drawn: &[usize]| (0..3).all(|k| drawn.contains(&k)).then(|| vec![1.0]);
    let found = bootstrap(&units, 1000, 5, all);
    // Each draw of 3 has all of them with probability 2/9.
    assert!((found.thetas.len() as f64 - 222.0).abs() < 60.0, "{}", found.thetas.len());
    assert_eq!(found.failed + found.thetas.len(), 1000);
    assert_eq!(bootstrap(&units, 3, 5, |_| None).covariance(), None);
}

#[test]
fn the_hessian_by_differences_is_the_one_of_formulas() {
    // One row a group: bags are a logistic regression, whose Hessian is known.
    let mut draws = Stream::new(5, 0);
    let rows: Vec<f64> = (0..200).flat_map(|_| [1e3 * normal(&mut draws), 1.0]).collect();
    let labels: Vec<f64> = rows
        .chunks_exact(2)
        .map(|row| if draws.unit() < 1.0 / (1.0 + (-row[0] / 1e3).exp()) { 1.0 } else { -1.0 })
        .collect();
    let groups = Groups::new(2, rows.clone(), (0..=200).collect(), false).expect("groups");
    let proportions = labels.iter().map(|y| 0.5 + 0.5 * y).collect();
    let bags = Problem {
        inner: Bags::new(groups, Link::Logistic),
        merit: Bernoulli::new(proportions).expect("proportions"),
        regularizer: Ridge::from_weight(1e-3).expect("a weight"),
    };
    let linear = Problem {
        inner: predictors(2, rows, vec![0.0; 200]).expect("rows"),
        merit: Logistic::new(labels).expect("labels"),
        regularizer: Ridge::from_weight(1e-3).expect("a weight"),
    };
    let theta = solved(&linear);
    let wanted = uncorrected().of_terms(&linear, &theta).expect("identified");
    let found = uncorrected().of_terms(&bags, &theta).expect("identified");
    assert_close(found.matrix(), wanted.matrix(), 1e-9);
}
