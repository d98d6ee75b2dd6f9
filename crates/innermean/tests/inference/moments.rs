//! Instrumental variables against linearmodels.

use innermean::inference::{Clusters, Correction, Dependence, InferenceError};
use innermean::inference::{Resampling, bootstrap};
use innermean::problems::moments::{BSpline, MomentErrors, Weighting};
use innermean::{CheckOptions, Moments, Problem, Unregularized, check_problem};

use super::{EXACT, Peers, assert_close, normal, on_one_thread, solved};

/// Instruments z, x, 1 for the regressors x, 1, price.
fn market(peers: &Peers) -> Moments {
    let (x, price) = (peers.numbers(&["x"]), peers.numbers(&["price"]));
    let z = peers.numbers(&["z"]);
    let regressors = x.iter().zip(price).flat_map(|(x, price)| [*x, 1.0, price]).collect();
    let instruments =
        z.chunks_exact(3).zip(&x).flat_map(|(z, x)| [z[0], z[1], z[2], *x, 1.0]).collect();
    Moments::new(3, regressors, 5, instruments, peers.numbers(&["y"])).expect("rows")
}

fn errors(peers: &Peers, suffix: &str) -> MomentErrors {
    match suffix {
        "unadjusted" => MomentErrors::Unadjusted,
        _ => MomentErrors::Robust(peers.dependence(suffix).0),
    }
}

#[test]
fn estimates_are_those_of_linearmodels() {
    let peers = Peers::read();
    let moments = market(&peers);
    for suffix in ["unadjusted", "robust", "clustered"] {
        let errors = errors(&peers, suffix);
        let stages = Weighting::TwoStageLeastSquares;
        for (name, weighting, correction) in [
            (format!("two_stages_{suffix}"), stages.clone(), Correction::None),
            (format!("two_stages_{suffix}_debiased"), stages, Correction::SmallSample),
            (format!("two_steps_{suffix}"), Weighting::TwoStep(errors.clone()), Correction::None),
            (format!("iterated_{suffix}"), Weighting::Iterated(errors.clone()), Correction::None),
        ] {
            let fit = moments.fit(&weighting).expect("identified");
            let found = moments.covariance(&fit, &errors, correction).expect("identified");
            peers.compare(&name, &fit.theta, &found, EXACT);
            let j = fit.j.expect("more instruments than regressors");
            assert_eq!(j.degrees_of_freedom, 2);
            assert_close(&[j.statistic, j.p_value], &peers.numbers(&[&name, "j"]), 1e-8);
        }
    }
    let fit = moments.fit(&Weighting::TwoStep(errors(&peers, "robust"))).expect("identified");
    let found = moments.covariance(&fit, &MomentErrors::Unadjusted, Correction::None);
    let found = found.expect("identified");
    peers.compare("two_steps_robust_then_unadjusted", &fit.theta, &found, EXACT);
    let serial = errors(&peers, "serial");
    let fit = moments.fit(&Weighting::TwoStep(serial.clone())).expect("identified");
    let found = moments.covariance(&fit, &serial, Correction::SmallSample).expect("identified");
    peers.compare("two_steps_serial", &fit.theta, &found, EXACT);
    let j = fit.j.expect("more instruments than regressors");
    assert_close(&[j.statistic, j.p_value], &peers.numbers(&["two_steps_serial", "j"]), 1e-8);
}

/// The closed form is the minimum that a method finds.
#[test]
fn moments_are_a_problem_like_any_other() {
    let peers = Peers::read();
    let moments = market(&peers);
    let fit = moments.fit(&Weighting::TwoStep(errors(&peers, "robust"))).expect("identified");
    let problem = Problem { inner: moments, merit: fit.form.clone(), regularizer: Unregularized };
    check_problem(&problem, &CheckOptions::default()).assert_ok();
    assert_close(&solved(&problem), &fit.theta, 1e-7);
    let j = fit.j.expect("more instruments than regressors");
    assert_close(&[180.0 * problem.objective(&fit.theta)], &[j.statistic], 1e-9);
}

#[test]
fn the_bootstrap_agrees() {
    let peers = Peers::read();
    let moments = market(&peers);
    let of_rows = Resampling::Clusters(Clusters::singletons(90));
    let weighting = Weighting::TwoStep(errors(&peers, "robust"));
    let fit = moments.fit(&weighting).expect("identified");
    let found = moments.covariance(&fit, &errors(&peers, "robust"), Correction::SmallSample);
    let again = || bootstrap(&of_rows, 400, 3, moments.refit(&weighting));
    let drawn = again();
    assert_eq!(drawn.failed, 0);
    assert_eq!(drawn, on_one_thread(again));
    let wanted = found.expect("identified").standard_errors();
    // 90 rows and weights that are estimated as well.
    assert_close(&drawn.covariance().expect("replicates").standard_errors(), &wanted, 0.3);
    // Clusters that are drawn twice are two.
    let Dependence::Clustered(clusters) = peers.dependence("clustered").0 else { panic!() };
    let weighting = Weighting::TwoStep(errors(&peers, "clustered"));
    let fit = moments.fit(&weighting).expect("identified");
    let twice: Vec<usize> = (0..90).chain(0..90).collect();
    let theta = moments.refit(&weighting)(&twice).expect("identified");
    assert_close(&theta, &fit.theta, 1e-9);
    let drawn = bootstrap(&Resampling::Clusters(clusters), 50, 3, moments.refit(&weighting));
    assert_eq!(drawn.failed, 0);
}

/// A curve of demand by splines of the price, with splines of the cost as instruments.
#[test]
fn splines_of_an_instrument_find_a_curve() {
    let mut draws = innermean::draws::Stream::new(8, 0);
    let n = 4000;
    let mut rows: Vec<[f64; 3]> = Vec::new();
    for _ in 0..n {
        let (cost, shock) = (4.0 * draws.unit() - 2.0, 0.3 * normal(&mut draws));
        let price = cost + shock;
        rows.push([cost, price, price * price + 2.0 * shock]);
    }
    let column = |k: usize| rows.iter().map(|row| row[k]).collect::<Vec<f64>>();
    let prices = BSpline::at_quantiles(3, &column(1), 1).expect("knots");
    let costs = BSpline::at_quantiles(3, &column(0), 3).expect("knots");
    let moments = Moments::new(
        prices.count(),
        prices.design(&column(1)),
        costs.count(),
        costs.design(&column(0)),
        column(2),
    )
    .expect("rows");
    let errors = MomentErrors::Robust(Dependence::Independent);
    let fit = moments.fit(&Weighting::TwoStep(errors.clone())).expect("identified");
    let found = moments.covariance(&fit, &errors, Correction::SmallSample).expect("identified");
    for x in [-1.0, 0.0, 1.2] {
        let row = prices.row(x);
        let curve: f64 = row.iter().zip(&fit.theta).map(|(b, theta)| b * theta).sum();
        let error = found.of_combinations(&row).standard_errors()[0];
        assert!(error < 0.1, "a standard error of {error} at {x}");
        assert!((curve - x * x).abs() < 4.0 * error, "{curve} at {x}, error {error}");
    }
    assert!(fit.j.expect("more instruments").p_value > 1e-3);
}

#[test]
fn what_is_not_identified_is_refused() {
    let rows = |d: usize| (0..20 * d).map(|k| (k * k % 17) as f64 + (k % 5) as f64).collect();
    let y: Vec<f64> = (0..20).map(f64::from).collect();
    let few = Moments::new(3, rows(3), 2, rows(2), y.clone()).expect_err("too few");
    assert!(few.to_string().contains("2 columns"), "{few}");
    assert!(Moments::new(1, vec![1.0; 19], 1, rows(1), y.clone()).is_err());
    assert!(Moments::new(1, vec![f64::NAN; 20], 1, rows(1), y.clone()).is_err());
    // Two regressors that are the same.
    let one: Vec<f64> = rows(1);
    let both: Vec<f64> = one.iter().flat_map(|x| [*x, *x]).collect();
    let other: Vec<f64> = rows(2);
    let same = Moments::new(2, both.clone(), 2, other.clone(), y.clone()).expect("rows");
    let stages = Weighting::TwoStageLeastSquares;
    assert_eq!(same.fit(&stages).err(), Some(InferenceError::Unidentified));
    // Two instruments that are the same.
    let same = Moments::new(1, one, 2, both, y).expect("rows");
    assert!(matches!(same.fit(&stages), Err(InferenceError::Invalid(_))));
}
