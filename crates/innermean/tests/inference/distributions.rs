//! Distribution functions and splines against scipy.

use innermean::inference::distributions::{
    chi_squared_tail, normal_quantile, student_t_cdf, student_t_quantile,
};
use innermean::problems::moments::BSpline;

use super::{Peers, assert_close};

#[test]
fn distributions_are_those_of_scipy() {
    let peers = Peers::read();
    for row in peers.table("normal_quantile") {
        assert_close(&[normal_quantile(row[0])], &row[1..], 1e-13);
    }
    for row in peers.table("t_quantile") {
        assert_close(&[student_t_quantile(row[0], row[1])], &row[2..], 1e-9);
    }
    for row in peers.table("t_cdf") {
        assert_close(&[student_t_cdf(row[0], row[1])], &row[2..], 1e-9);
    }
    for row in peers.table("chi_squared_tail") {
        assert_close(&[chi_squared_tail(row[0], row[1])], &row[2..], 1e-11);
    }
}

#[test]
fn splines_are_those_of_scipy() {
    let peers = Peers::read();
    let basis = BSpline::new(3, 0.0, 1.0, vec![0.3, 0.45, 0.8]).expect("knots");
    let found = basis.design(&peers.numbers(&["points"]));
    let wanted = peers.numbers(&["basis"]);
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!((found - wanted).abs() < 1e-13, "{found} is not {wanted}");
    }
}
