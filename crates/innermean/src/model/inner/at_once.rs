//! Whole passes of an f that brings the mean of a term with its Jacobian (`Facts::at_once`): one
//! sweep over the data instead of two.

use std::ops::Range;

use super::in_memory::blocks;
use super::{Duals, Inner, Lost, Passes, Sample};
use crate::linalg::vector::add_weighted_rows;

/// Whether whole passes take the mean of a term with its Jacobian.
pub(super) fn brings_both(f: &dyn Inner) -> bool {
    let facts = f.facts();
    facts.at_once && facts.sample == Sample::Own && f.ell() == 1
}

/// The mean Jacobians of a tile of terms are kept until its duals are known.
pub(super) fn gradient_at_once(
    f: &dyn Inner,
    theta: &[f64],
    duals: &Duals<'_>,
    f_bar: &mut [f64],
    w: &mut [f64],
    out: &mut [f64],
) -> f64 {
    let (d, share) = (f.d(), 1.0 / f.n_x() as f64);
    // The loss is behind the sum.
    let mut sum = vec![0.0; d + 1];
    blocks(f).fill_both_and_add(1, (f_bar, w), share, &mut sum, |terms, f_bar, w, partial| {
        let (partial, loss) = partial.split_at_mut(d);
        let (mut work, mut jacobians) = ([0.0], vec![0.0; d * TILE.min(w.len())]);
        let tiles = f_bar.chunks_mut(TILE).zip(w.chunks_mut(TILE));
        for (first, (f_bar, w)) in terms.step_by(TILE).zip(tiles) {
            let jacobians = &mut jacobians[..d * w.len()];
            let means = f_bar.chunks_exact_mut(1).zip(jacobians.chunks_exact_mut(d));
            for (i, (mean, jacobian)) in (first..).zip(means) {
                f.block_mean_and_jacobian(theta, i, 0..f.n_y(i), &mut work, mean, jacobian);
            }
            loss[0] += duals(first..first + w.len(), f_bar, w);
            add_weighted_rows(jacobians, w, partial);
        }
    });
    out.copy_from_slice(&sum[..d]);
    sum[d]
}

/// Terms whose duals are asked for at once; their mean Jacobians should stay near.
const TILE: usize = 32;

/// [`Passes::snapshot`], for an f without its own.
pub(super) fn snapshot<F: Passes + ?Sized>(
    f: &F,
    theta: &[f64],
    w: &[f64],
    f_bar: &mut [f64],
    u: &mut [f64],
) -> Result<(), Lost> {
    if brings_both(f.f()) {
        let given = |terms: Range<usize>, _: &[f64], own: &mut [f64]| {
            own.copy_from_slice(&w[terms]);
            0.0
        };
        gradient_at_once(f.f(), theta, &given, f_bar, &mut vec![0.0; w.len()], u);
        return Ok(());
    }
    f.means(theta, f_bar)?;
    u.fill(0.0);
    f.add_weighted_jac_t(theta, w, u)
}

/// [`Passes::means_and_jacobians`], for an f without its own.
pub(super) fn means_and_jacobians<F: Passes + ?Sized>(
    f: &F,
    theta: &[f64],
    f_bar: &mut [f64],
    jacobians: &mut [f64],
) -> Result<(), Lost> {
    if brings_both(f.f()) {
        let all: Vec<usize> = (0..f_bar.len()).collect();
        return f.means_of(theta, &all, usize::MAX, f_bar, jacobians);
    }
    f.means(theta, f_bar)?;
    f.mean_jacobians(theta, jacobians)
}
