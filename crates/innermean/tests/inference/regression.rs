//! Linear models: squares, weighted squares, the logistic loss and several classes.

use innermean::inference::{
    Clusters, Covariance, Dependence, Resampling, Sandwich, bootstrap, refit_terms,
};
use innermean::problems::linear::predictors;
use innermean::problems::scaling::Scaling;
use innermean::regularizer::FreeTail;
use innermean::{
    Groups, Logistic, NegativeLog, Problem, Ridge, RowData, SoftmaxBags, Square, Stop,
    Unregularized, Weighted,
};

use super::{EXACT, Peers, SOLVED, assert_close, normal, solved};

#[test]
fn least_squares_is_that_of_statsmodels() {
    let peers = Peers::read();
    let offsets: Vec<f64> = peers.numbers(&["y"]).iter().map(|y| -y).collect();
    let inner = predictors(3, peers.rows(["price", "x"]), offsets).expect("rows");
    let square = Square::new(0.5).expect("a weight");
    let weights = peers.numbers(&["weight"]);
    let plain = Problem { inner: inner.clone(), merit: square, regularizer: Unregularized };
    let weighted = Problem {
        inner,
        merit: Weighted::new(square, weights).expect("weights"),
        regularizer: Unregularized,
    };
    for suffix in ["hc0", "hc1", "clustered", "serial"] {
        for (name, problem) in [("least_squares", plain.erased()), ("weighted", weighted.erased())]
        {
            let theta = solved(problem);
            let found = peers.sandwich(suffix).of_terms(problem, &theta).expect("identified");
            peers.compare(&format!("{name}_{suffix}"), &theta, &found, EXACT);
        }
    }
}

/// Outside of linear regression the HC1 of statsmodels has no correction either: it is its HC0.
#[test]
fn logistic_regression_is_that_of_statsmodels() {
    let peers = Peers::read();
    let labels: Vec<f64> = peers.numbers(&["label"]).iter().map(|y| 2.0 * y - 1.0).collect();
    let rows = peers.rows(["price", "x"]);
    let inner = predictors(3, rows, vec![0.0; labels.len()]).expect("rows");
    let merit = Logistic::new(labels).expect("labels");
    let weights = peers.numbers(&["weight"]);
    let weighted = Problem {
        inner: inner.clone(),
        merit: Weighted::new(merit.clone(), weights).expect("weights"),
        regularizer: Unregularized,
    };
    let plain = Problem { inner, merit, regularizer: Unregularized };
    for (suffix, own) in [("hc0", "hc0"), ("hc1", "hc0"), ("clustered", "clustered")] {
        let theta = solved(&plain);
        let found = peers.sandwich(own).of_terms(&plain, &theta).expect("identified");
        peers.compare(&format!("logistic_{suffix}"), &theta, &found, SOLVED);
    }
    let theta = solved(&weighted);
    let found = peers.sandwich("hc0").of_terms(&weighted, &theta).expect("identified");
    peers.compare("weighted_logistic_hc0", &theta, &found, SOLVED);
}

/// Differences from the first class, which statsmodels sets to zero; here the coefficients of all
/// classes sum to zero.
#[test]
fn several_classes_are_those_of_statsmodels() {
    let peers = Peers::read();
    let kinds = peers.numbers(&["kind"]);
    let n = kinds.len();
    let labels = kinds
        .iter()
        .flat_map(|kind| (0..3).map(move |c| f64::from(u8::from(f64::from(c) == *kind))))
        .collect();
    let rows: Vec<f64> =
        peers.rows(["price", "x"]).chunks_exact(3).flat_map(|x| [x[0], x[1]]).collect();
    let groups = Groups::new(2, rows, (0..=n).collect(), true).expect("groups");
    let inner = SoftmaxBags::new(groups, 3).expect("classes");
    let shifts = inner.shifts();
    assert_eq!(shifts, [[0, 2, 4], [1, 3, 5], [6, 7, 8]]);
    let merit = NegativeLog::new(3, labels).expect("proportions");
    let problem = Problem { inner, merit, regularizer: Unregularized };
    let theta = solved(&problem);
    // price, x and the intercept of class 1 less class 0, and of class 2 less class 0
    let mut rows = vec![0.0; 6 * 9];
    for (r, (plus, minus)) in [(2, 0), (3, 1), (7, 6), (4, 0), (5, 1), (8, 6)].iter().enumerate() {
        rows[r * 9 + plus] = 1.0;
        rows[r * 9 + minus] = -1.0;
    }
    let differences: Vec<f64> =
        rows.chunks_exact(9).map(|row| row.iter().zip(&theta).map(|(a, b)| a * b).sum()).collect();
    for (suffix, own) in [("hc0", "hc0"), ("hc1", "hc0"), ("clustered", "clustered")] {
        let sandwich = Sandwich { shifts: shifts.clone(), ..peers.sandwich(own) };
        let found = sandwich.of_terms(&problem, &theta).expect("identified");
        let found = found.of_combinations(&rows);
        peers.compare(&format!("classes_{suffix}"), &differences, &found, SOLVED);
    }
}

/// `(X'X + n lambda)^-1 X' diag(e - mean) X (X'X + n lambda)^-1` in one dimension, with an intercept
/// outside of the penalty: centred columns make it one.
#[test]
fn a_ridge_is_part_of_the_estimator() {
    let x = [-3.0, -1.0, 0.0, 1.0, 3.0, -2.0, 2.0];
    let y = [1.0, 2.5, 2.0, 3.5, 6.0, 1.0, 4.5];
    let n = x.len() as f64;
    let rows: Vec<f64> = x.iter().flat_map(|x| [*x, 1.0]).collect();
    let lambda = 0.7;
    let problem = Problem {
        inner: predictors(2, rows, y.iter().map(|y| -y).collect()).expect("rows"),
        merit: Square::new(0.5).expect("a weight"),
        regularizer: FreeTail::new(Ridge::from_weight(lambda).expect("a weight"), 1),
    };
    let theta = solved(&problem);
    let mean = y.iter().sum::<f64>() / n;
    let curvature = x.iter().map(|x| x * x).sum::<f64>() / n + lambda;
    let slope = x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / n / curvature;
    assert_close(&theta, &[slope, mean], 1e-9);
    let scores: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x * (slope * x + mean - y)).collect();
    let centre = scores.iter().sum::<f64>() / n;
    let squares = scores.iter().map(|s| (s - centre).powi(2)).sum::<f64>();
    let wanted = squares / (n * curvature).powi(2) * n / (n - 2.0);
    let sandwich = Sandwich::new(Dependence::Independent);
    let found = sandwich.of_terms(&problem, &theta).expect("identified");
    assert_close(&found.matrix()[..1], &[wanted], 1e-8);
    assert_eq!(found.degrees_of_freedom(), 5.0);
}

/// A fit on scaled and centred columns has the standard errors of one on the columns themselves.
#[test]
fn scaled_columns_change_nothing() {
    let mut draws = innermean::draws::Stream::new(4, 0);
    let n = 60;
    let rows: Vec<f64> = (0..n)
        .flat_map(|_| [1e3 + (64.0 * normal(&mut draws)).round(), 1e-2 * draws.unit()])
        .collect();
    let targets: Vec<f64> =
        rows.chunks_exact(2).map(|x| 0.01 * x[0] - 30.0 * x[1] + normal(&mut draws)).collect();
    let with_ones = |rows: &[f64]| -> Vec<f64> {
        rows.chunks_exact(2).flat_map(|x| [x[0], x[1], 1.0]).collect()
    };
    let fit = |rows: &[f64]| {
        let offsets = targets.iter().map(|y| -y).collect();
        let problem = Problem {
            inner: predictors(3, with_ones(rows), offsets).expect("rows"),
            merit: Square::new(0.5).expect("a weight"),
            regularizer: Unregularized,
        };
        let theta = solved(&problem);
        let sandwich = Sandwich::new(Dependence::Independent);
        sandwich.of_terms(&problem, &theta).expect("identified")
    };
    let mut scaled = RowData::from(rows.clone());
    let scaling = Scaling::of_rows(&mut scaled, 2, true);
    assert!(scaling.is_on());
    let back = fit(&scaled.numbers()).transformed(|z| scaling.unscale(z));
    assert_close(&back.standard_errors(), &fit(&rows).standard_errors(), 1e-6);
}

#[test]
fn combinations_have_the_covariance_that_follows() {
    let whole = Covariance::new(2, vec![4.0, 1.0, 1.0, 9.0], 10.0);
    let sums = whole.of_combinations(&[1.0, 1.0, 1.0, -1.0, 0.0, 2.0]);
    assert_eq!(sums.matrix(), [15.0, -5.0, 20.0, -5.0, 11.0, -16.0, 20.0, -16.0, 36.0]);
    assert_eq!(whole.standard_errors(), [2.0, 3.0]);
    // The quantile of Student's t with 10 degrees of freedom.
    let [low, high] = whole.intervals(&[1.0, 0.0], 0.95)[0];
    assert_close(&[low, high], &[1.0 - 2.0 * 2.228_138_852, 1.0 + 2.0 * 2.228_138_852], 1e-9);
}

/// Rows of the statsmodels data, resampled by cluster.
#[test]
fn clusters_of_rows_are_resampled() {
    let peers = Peers::read();
    let offsets: Vec<f64> = peers.numbers(&["y"]).iter().map(|y| -y).collect();
    let n = offsets.len();
    let problem = Problem {
        inner: predictors(3, peers.rows(["price", "x"]), offsets).expect("rows"),
        merit: Square::new(0.5).expect("a weight"),
        regularizer: Unregularized,
    };
    let theta = solved(&problem);
    let errors = |replicates: innermean::inference::Replicates| {
        assert_eq!(replicates.failed, 0);
        replicates.covariance().expect("replicates").standard_errors()
    };
    let refit = refit_terms(&problem, &theta, Stop::default());
    let singles = Resampling::Clusters(Clusters::singletons(n));
    let sandwich = |suffix: &str| {
        peers.sandwich(suffix).of_terms(&problem, &theta).expect("identified").standard_errors()
    };
    // 400 replicates leave 3.5 % of a standard error, and residuals of 90 rows a few more.
    assert_close(&errors(bootstrap(&singles, 400, 1, &refit)), &sandwich("hc1"), 0.15);
    let Dependence::Clustered(clusters) = peers.sandwich("clustered").dependence else { panic!() };
    let drawn = errors(bootstrap(&Resampling::Clusters(clusters), 400, 1, &refit));
    assert_close(&drawn, &sandwich("clustered"), 0.25);
}
