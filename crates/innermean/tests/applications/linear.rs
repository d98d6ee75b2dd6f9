//! Linear predictors: what they minimise, and what they refuse.

use std::sync::Arc;

use crate::support::dense::dot;
use crate::support::regression::Data;
use innermean::problems::linear::{logistic_regression, predictors, ridge_regression};
use innermean::{
    AnyMethod, Choice, Collapsed, Driver, FreeTail, InvalidSetting, METHODS, Merit, Problem, Ridge,
    Square, Stop,
};

#[test]
fn objectives_are_those_of_the_textbook() {
    let data = Data::random(23, 4, 0.2, 1);
    let theta = [0.3, -1.0, 2.0, 0.5];
    let scores: Vec<f64> = data.rows.iter().map(|row| dot(row, &theta)).collect();
    let penalty = 0.5 * 0.7 * dot(&theta, &theta);
    let squares: f64 = scores.iter().zip(&data.response).map(|(s, b)| (s - b).powi(2)).sum();
    assert!((data.ridge(0.7).0.objective(&theta) - squares / 23.0 - penalty).abs() < 1e-13);
    let logs: f64 =
        scores.iter().zip(&data.response).map(|(s, b)| (-b.signum() * s).exp().ln_1p()).sum();
    assert!((data.logistic(0.7).0.objective(&theta) - logs / 23.0 - penalty).abs() < 1e-13);
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let said = |result: Result<(), InvalidSetting>| result.expect_err("no sense").to_string();
    let from = |d: usize, rows: &[f64], offsets: &[f64]| {
        said(predictors(d, rows.to_vec(), offsets.to_vec()).map(|_| ()))
    };
    assert!(
        from(2, &[1.0; 3], &[0.0])
            .starts_with("rows = 3 numbers in rows of 2, expected at least one whole")
    );
    assert!(from(0, &[], &[]).starts_with("rows = 0 numbers in rows of 0"));
    assert_eq!(from(2, &[1.0; 4], &[0.0]), "offsets = 1 numbers, expected one for each of 2 rows");
    let rows = [1.0, 2.0, f64::NAN, 4.0];
    assert_eq!(from(2, &rows, &[0.0; 2]), "rows = NaN in row 1, column 0, expected finite numbers");
    let offsets = [0.0, f64::INFINITY];
    assert_eq!(from(2, &[1.0; 4], &offsets), "offsets[1] = inf, expected a finite number");
    let ridge = |lambda| said(ridge_regression(1, vec![1.0], &[1.0], lambda).map(|_| ()));
    assert!(ridge(-1.0).starts_with("lambda = -1.0"));
    let label = said(logistic_regression(1, vec![1.0, 2.0], vec![1.0, 0.0], 1.0).map(|_| ()));
    assert_eq!(label, "labels[1] = 0.0, expected -1 or 1");
}

/// Runs every method that suits for a few iterations: their names, and where they end.
fn ends(inner: &Collapsed, merit: &dyn Merit, penalised: usize) -> Vec<(&'static str, Vec<f64>)> {
    let ridge = Ridge::from_weight(0.05).expect("positive");
    let problem = Problem { inner, merit, regularizer: FreeTail::new(ridge, penalised) };
    let start = vec![0.1; penalised + 1];
    let stop = Stop { max_outer: Some(3), ..Stop::default() };
    let driver = Driver { stop, ..Driver::default() };
    let end = |name: &'static str| {
        let method = AnyMethod::named(name, &Choice::default(), &problem, &start).ok()?;
        Some((name, method.run(&driver, &problem, &start, &mut ()).theta))
    };
    METHODS.iter().filter_map(|row| end(row.name)).collect()
}

/// Memory that is shared is read where it is, to the same bits.
#[test]
fn shared_rows_give_the_same_bits() {
    let data = Data::random(50, 3, 0.5, 6);
    let square = Square::new(0.5).expect("positive");
    let offsets: Vec<f64> = data.response.iter().map(|t| -t).collect();
    let shared = Arc::new(data.rows.concat());
    let own = predictors(3, data.rows.concat(), offsets.clone()).expect("finite");
    let borrowed = predictors(3, Arc::clone(&shared), offsets).expect("finite");
    assert_eq!(Arc::strong_count(&shared), 2, "nothing is copied");
    assert_eq!(ends(&own, &square, 2), ends(&borrowed, &square, 2));
}
