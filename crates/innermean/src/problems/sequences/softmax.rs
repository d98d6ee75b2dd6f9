//! Class probabilities of one step, and of a stretch of steps at once.

use crate::linalg::exponential::exp;
use crate::linalg::vector::{axpy, row_dots, update, update_with};

/// The class probabilities of `len` steps, whose rows of `width` numbers are in `rows`: class c
/// owns `out[c * len..(c + 1) * len]`, so that all that follows runs along the steps. `theta` holds
/// a row for each class. `work` is scratch of length `len`.
#[inline(always)]
pub(super) fn class_probabilities(
    theta: &[f64],
    rows: &[f64],
    width: usize,
    work: &mut [f64],
    out: &mut [f64],
) {
    let len = work.len();
    work.fill(f64::NEG_INFINITY);
    for (theta_c, logits) in theta.chunks_exact(width).zip(out.chunks_exact_mut(len)) {
        row_dots(rows, width, theta_c, logits);
        update_with(work, logits, |most, logit| if logit > most { logit } else { most });
    }
    for logits in out.chunks_exact_mut(len) {
        update_with(logits, work, |logit, most| exp(logit - most));
    }
    work.fill(0.0);
    for odds in out.chunks_exact(len) {
        axpy(1.0, odds, work);
    }
    update(work, |total| 1.0 / total);
    for odds in out.chunks_exact_mut(len) {
        update_with(odds, work, |odds, share| odds * share);
    }
}
