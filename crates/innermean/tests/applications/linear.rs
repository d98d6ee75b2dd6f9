//! Linear predictors: what they minimise, and what they refuse.

use crate::support::dense::dot;
use crate::support::regression::Data;
use innermean::InvalidSetting;
use innermean::problems::linear::{logistic_regression, predictors, ridge_regression};

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
