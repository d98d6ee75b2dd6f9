//! What has no standard error, and why.

use innermean::draws::Stream;
use innermean::inference::{Clusters, Dependence, InferenceError, Sandwich};
use innermean::problems::linear::predictors;
use innermean::{
    Absolute, Bags, Bernoulli, BoxConstraint, Collapsed, Groups, L1, Link, Logistic, Objective,
    Problem, Ridge, Simplex, Square, Unregularized,
};

use super::{normal, solved};

fn rows_and_targets() -> (Vec<f64>, Vec<f64>) {
    let mut draws = Stream::new(9, 0);
    let rows = (0..60).map(|_| normal(&mut draws)).collect();
    (rows, (0..20).map(|_| normal(&mut draws)).collect())
}

fn inner() -> Collapsed {
    let (rows, offsets) = rows_and_targets();
    predictors(3, rows, offsets).expect("rows")
}

fn square() -> Square {
    Square::new(0.5).expect("a weight")
}

fn of(problem: Objective<'_>, theta: &[f64]) -> Result<(), InferenceError> {
    Sandwich::new(Dependence::Independent).of_terms(problem, theta).map(|_| ())
}

#[test]
fn a_theta_that_is_not_a_minimum() {
    let problem = Problem { inner: inner(), merit: square(), regularizer: Unregularized };
    let theta = solved(&problem);
    assert_eq!(of(problem.erased(), &theta), Ok(()));
    let far = of(problem.erased(), &[theta[0] + 0.1, theta[1], theta[2]]);
    assert!(matches!(far, Err(InferenceError::NotSolved(miss)) if miss > 0.1), "{far:?}");
}

#[test]
fn penalties_with_kinks_and_constraints() {
    let lasso =
        Problem { inner: inner(), merit: square(), regularizer: L1::new(0.1).expect("a weight") };
    assert_eq!(of(lasso.erased(), &solved(&lasso)), Err(InferenceError::PenaltyKink));
    let bounded = |bound: f64| Problem {
        inner: inner(),
        merit: square(),
        regularizer: BoxConstraint::new(-bound, bound).expect("bounds"),
    };
    let tight = bounded(1e-3);
    let found = of(tight.erased(), &solved(&tight));
    assert!(matches!(found, Err(InferenceError::ActiveConstraint(_))), "{found:?}");
    // Bounds that are far away are as good as none.
    let wide = bounded(100.0);
    assert_eq!(of(wide.erased(), &solved(&wide)), Ok(()));
    let budget = Problem { inner: inner(), merit: square(), regularizer: Simplex };
    assert_eq!(of(budget.erased(), &solved(&budget)), Err(InferenceError::Budget));
}

#[test]
fn losses_with_kinks() {
    let problem = Problem {
        inner: inner(),
        merit: Absolute::new(1.0).expect("a weight"),
        regularizer: Unregularized,
    };
    assert_eq!(of(problem.erased(), &[0.0; 3]), Err(InferenceError::LossKink));
}

#[test]
fn columns_that_are_not_identified() {
    let (rows, offsets) = rows_and_targets();
    let twice: Vec<f64> = rows.chunks_exact(3).flat_map(|x| [x[0], x[0], x[2]]).collect();
    let problem = Problem {
        inner: predictors(3, twice, offsets).expect("rows"),
        merit: square(),
        regularizer: Unregularized,
    };
    assert_eq!(of(problem.erased(), &solved(&problem)), Err(InferenceError::Unidentified));
}

fn refused(found: Result<(), InferenceError>) {
    let reason = found.expect_err("no minimum");
    assert!(
        matches!(
            reason,
            InferenceError::Separable | InferenceError::Unidentified | InferenceError::NotSolved(_)
        ),
        "{reason:?}"
    );
}

/// Classes that a line separates, all of them or those of one column, wherever a run has stopped.
#[test]
fn separable_classes() {
    let mut draws = Stream::new(5, 0);
    let labels: Vec<f64> = (0..40).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let whole: Vec<f64> =
        labels.iter().flat_map(|y| [y * (0.2 + draws.unit()), draws.unit() - 0.5, 1.0]).collect();
    // A column that is 0 but for positive rows: the others are not separated.
    let part: Vec<f64> = labels
        .iter()
        .enumerate()
        .flat_map(|(k, y)| {
            let only = if *y > 0.0 && k < 10 { 1.0 } else { 0.0 };
            [only, y * 0.3 + 2.0 * draws.unit() - 1.0, 1.0]
        })
        .collect();
    for rows in [whole, part] {
        let inner = predictors(3, rows, vec![0.0; 40]).expect("rows");
        let merit = Logistic::new(labels.clone()).expect("labels");
        let free = Problem { inner, merit, regularizer: Unregularized };
        let ridge = |l2: f64| Ridge::from_weight(l2).expect("a weight");
        for l2 in [1e-3, 1e-5, 1e-7, 1e-9] {
            // Where a run without a penalty comes by.
            let near = Problem {
                inner: free.inner.clone(),
                merit: free.merit.clone(),
                regularizer: ridge(l2),
            };
            let theta = solved(&near);
            assert_eq!(of(near.erased(), &theta), Ok(()), "with l2 {l2}");
            refused(of(free.erased(), &theta));
        }
        refused(of(free.erased(), &solved(&free)));
    }
}

/// Groups that are all positive on one side and all negative on the other.
#[test]
fn separable_groups() {
    let mut draws = Stream::new(6, 0);
    let labels: Vec<f64> = (0..30).map(|k| f64::from(k % 2)).collect();
    let rows: Vec<f64> = labels
        .iter()
        .flat_map(|y| [0; 4].map(|_| (2.0 * y - 1.0) * (0.1 + draws.unit())))
        .collect();
    let groups = Groups::new(1, rows, (0..=30).map(|i| 4 * i).collect(), true).expect("groups");
    let problem = Problem {
        inner: Bags::new(groups, Link::Logistic),
        merit: Bernoulli::new(labels).expect("proportions"),
        regularizer: Unregularized,
    };
    refused(of(problem.erased(), &solved(&problem)));
}

#[test]
fn too_few_clusters_or_rows() {
    let problem = Problem { inner: inner(), merit: square(), regularizer: Unregularized };
    let theta = solved(&problem);
    let one = Clusters::new(vec![0; 20]).expect("consecutive numbers");
    let found = Sandwich::new(Dependence::Clustered(one)).of_terms(&problem, &theta);
    assert_eq!(found, Err(InferenceError::TooFewUnits { units: 1, d: 3 }));
    let exact = Problem {
        inner: predictors(2, vec![1.0, 0.0, 0.0, 1.0], vec![1.0, 2.0]).expect("rows"),
        merit: square(),
        regularizer: Unregularized,
    };
    let found = of(exact.erased(), &[-1.0, -2.0]);
    assert_eq!(found, Err(InferenceError::TooFewUnits { units: 2, d: 2 }));
    let gap = Clusters::new(vec![0, 2]).expect_err("a gap");
    assert!(gap.to_string().contains("cluster 1"), "{gap}");
}

#[test]
fn several_means_have_no_covariance_of_samples() {
    let problem = Problem { inner: inner(), merit: square(), regularizer: Unregularized };
    let theta = solved(&problem);
    let found = Sandwich::new(Dependence::Independent).of_samples(&problem, &theta);
    assert!(matches!(found, Err(InferenceError::WrongForm(_))), "{found:?}");
}

/// Whoever asks for a covariance may say stop at every coordinate of its Hessian and its rows.
#[test]
fn what_there_is_no_time_for() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let mut draws = Stream::new(4, 0);
    let rows: Vec<f64> = (0..240).map(|_| normal(&mut draws)).collect();
    let starts = (0..=20).map(|i| 4 * i).collect();
    let labels: Vec<f64> = (0..20).map(|i| 0.2 + 0.03 * f64::from(i)).collect();
    let groups = Groups::new(3, rows, starts, false).expect("groups");
    let bags = Bags::new(groups, Link::Logistic);
    let merit = Bernoulli::new(labels).expect("labels");
    let regularizer = Ridge::new(Unregularized, 0.1).expect("a weight");
    let problem = Problem { inner: bags, merit, regularizer };
    let theta = solved(&problem);
    let sandwich = Sandwich::new(Dependence::Independent);
    let asked = AtomicUsize::new(0);
    let until = |most: usize| {
        asked.store(0, Ordering::Relaxed);
        let go_on = || asked.fetch_add(1, Ordering::Relaxed) < most;
        sandwich.of_terms_while(&go_on, &problem, &theta)
    };
    let whole = until(usize::MAX).expect("time enough");
    assert_eq!(Ok(whole.clone()), sandwich.of_terms(&problem, &theta));
    let all = asked.load(Ordering::Relaxed);
    // For each coordinate of the Hessian, for the scores, and for each row of two products.
    assert_eq!(all, 3 + 1 + 6);
    for most in 0..all {
        assert_eq!(until(most).err(), Some(InferenceError::OutOfTime), "after {most}");
    }
    let lstd = Problem { inner: inner(), merit: square(), regularizer: Unregularized };
    let found = sandwich.of_terms_while(&|| false, &lstd, &solved(&lstd));
    assert_eq!(found.err(), Some(InferenceError::OutOfTime));
}
