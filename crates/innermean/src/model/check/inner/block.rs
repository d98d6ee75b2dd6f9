//! The calls about blocks of consecutive samples, against single samples.

use super::{ROUNDING, product, value};
use crate::linalg::vector::axpy;
use crate::model::check::compare::{describe, equal};
use crate::model::check::{CheckReport, Part};
use crate::model::inner::{Inner, block_of};

/// Samples of a block.
const BLOCK: usize = 11;

/// `block_mean`, `block_mean_and_jacobian`, `block_difference`, `add_block_jac_t` and
/// `add_block_jac_t_difference` for the block that holds a pair.
pub(super) fn check(
    f: &dyn Inner,
    a: &[f64],
    b: &[f64],
    (i, j): (usize, usize),
    w: &[f64],
    report: &mut CheckReport,
) {
    let (d, ell) = (f.d(), f.ell());
    let js = block_of(j, f.n_y(i), BLOCK);
    let share = 1.0 / js.len() as f64;
    let (mut mean, mut difference) = (vec![0.0; ell], vec![0.0; ell]);
    let (mut sum, mut sum_of_differences) = (vec![1.0; d], vec![1.0; d]);
    let mut size = 0.0_f64;
    for j in js.clone() {
        for (c, (at_a, at_b)) in value(f, a, i, j).into_iter().zip(value(f, b, i, j)).enumerate() {
            mean[c] += share * at_a;
            difference[c] += share * (at_a - at_b);
            size = size.max(at_a.abs()).max(at_b.abs());
        }
        let products = product(f, a, (i, j), w, 0.5 * share, 0.0);
        let others = product(f, b, (i, j), w, 0.5 * share, 0.0);
        for l in 0..d {
            sum[l] += products[l];
            sum_of_differences[l] += products[l] - others[l];
        }
    }
    let mut verdict = |call: &'static str, got: &[f64], expected: &[f64], slack: f64| {
        report.comparisons += 1;
        if !equal(got, expected, ROUNDING, slack) {
            let factors = [("the size of the block", js.len() as f64)];
            let how = describe(got, expected, "single samples give", &factors, 1e-7);
            let message = format!("{call} {how} (at i = {i}, j = {} to {})", js.start, js.end - 1);
            report.wrong(Part::Inner, call, message);
        }
    };
    let (mut work, mut got) = (vec![0.0; ell], vec![f64::NAN; ell]);
    f.block_mean(a, i, js.clone(), &mut work, &mut got);
    verdict("block_mean", &got, &mean, ROUNDING * size);
    got.fill(f64::NAN);
    f.block_difference(a, b, i, js.clone(), &mut work, &mut got);
    verdict("block_difference", &got, &difference, ROUNDING * size);
    let (mut rows, mut whole) = (vec![f64::NAN; ell * d], vec![1.0; d]);
    got.fill(f64::NAN);
    f.block_mean_and_jacobian(a, i, js.clone(), &mut work, &mut got, &mut rows);
    verdict("block_mean_and_jacobian", &got, &mean, ROUNDING * size);
    for (row, w) in rows.chunks_exact(d).zip(w) {
        axpy(0.5 * w, row, &mut whole);
    }
    verdict("block_mean_and_jacobian", &whole, &sum, ROUNDING);
    let mut got = vec![1.0; d];
    f.add_block_jac_t(a, i, js.clone(), w, 0.5, &mut got);
    verdict("add_block_jac_t", &got, &sum, ROUNDING);
    got.fill(1.0);
    f.add_block_jac_t_difference(a, b, i, js.clone(), w, 0.5, &mut got);
    verdict("add_block_jac_t_difference", &got, &sum_of_differences, ROUNDING);
}
