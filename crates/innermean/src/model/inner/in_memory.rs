//! What [`Fused`](super::Fused) and [`Passes`] provide, made of the queries of f.

use std::ops::Range;

use super::at_once::{brings_both, gradient_at_once};
use super::block::{PLACES, stretches};
use super::{Duals, Inner, Lost, Passes, Sample};
use crate::linalg::blocks::{Blocks, MERIT};
use crate::linalg::vector::axpy;

/// [`Fused::jacobian`], for an f without its own.
pub(super) fn jacobian(
    f: &dyn Inner,
    theta: &[f64],
    i: usize,
    j: usize,
    work: &mut [f64],
    out: &mut [f64],
) {
    work.fill(0.0);
    out.fill(0.0);
    for (c, row) in out.chunks_exact_mut(f.d()).enumerate() {
        work[c] = 1.0;
        f.add_jac_t(theta, i, j, work, 1.0, row);
        work[c] = 0.0;
    }
}

/// [`Fused::difference`], for an f without its own.
pub(super) fn difference(
    f: &dyn Inner,
    theta: &[f64],
    theta_ref: &[f64],
    i: usize,
    j: usize,
    work: &mut [f64],
    out: &mut [f64],
) {
    f.value(theta, i, j, out);
    f.value(theta_ref, i, j, work);
    for (out, at_ref) in out.iter_mut().zip(work) {
        *out -= *at_ref;
    }
}

/// [`Fused::add_jac_t_difference`], for an f without its own.
#[expect(clippy::too_many_arguments, reason = "the formula has as many")]
pub(super) fn add_jac_t_difference(
    f: &dyn Inner,
    theta: &[f64],
    theta_ref: &[f64],
    i: usize,
    j: usize,
    w: &[f64],
    c: f64,
    out: &mut [f64],
) {
    f.add_jac_t(theta, i, j, w, c, out);
    f.add_jac_t(theta_ref, i, j, w, -c, out);
}

/// [`Fused::block_mean`], for an f without its own.
pub(super) fn block_mean(
    f: &dyn Inner,
    theta: &[f64],
    i: usize,
    js: Range<usize>,
    work: &mut [f64],
    out: &mut [f64],
) {
    let count = js.len() as f64;
    out.fill(0.0);
    for j in js {
        f.value(theta, i, j, work);
        axpy(1.0, work, out);
    }
    for out in out {
        *out /= count;
    }
}

/// [`Fused::block_difference`], for an f without its own.
pub(super) fn block_difference(
    f: &dyn Inner,
    theta: &[f64],
    theta_ref: &[f64],
    i: usize,
    js: Range<usize>,
    work: &mut [f64],
    out: &mut [f64],
) {
    let count = js.len() as f64;
    out.fill(0.0);
    for j in js {
        f.value(theta, i, j, work);
        axpy(1.0, work, out);
        f.value(theta_ref, i, j, work);
        axpy(-1.0, work, out);
    }
    for out in out {
        *out /= count;
    }
}

/// [`Fused::add_block_jac_t`], for an f without its own.
pub(super) fn add_block_jac_t(
    f: &dyn Inner,
    theta: &[f64],
    i: usize,
    js: Range<usize>,
    w: &[f64],
    c: f64,
    out: &mut [f64],
) {
    let share = c / js.len() as f64;
    for j in js {
        f.add_jac_t(theta, i, j, w, share, out);
    }
}

/// [`Fused::block_mean_and_jacobian`], for an f without its own: the Jacobian by one product for
/// each coordinate.
pub(super) fn block_mean_and_jacobian(
    f: &dyn Inner,
    theta: &[f64],
    i: usize,
    js: Range<usize>,
    work: &mut [f64],
    mean: &mut [f64],
    jacobian: &mut [f64],
) {
    f.block_mean(theta, i, js.clone(), work, mean);
    work.fill(0.0);
    jacobian.fill(0.0);
    for (c, row) in jacobian.chunks_exact_mut(f.d()).enumerate() {
        work[c] = 1.0;
        f.add_block_jac_t(theta, i, js.clone(), work, 1.0, row);
        work[c] = 0.0;
    }
}

/// [`Fused::add_block_jac_t_difference`], for an f without its own.
#[expect(clippy::too_many_arguments, reason = "the formula has as many")]
pub(super) fn add_block_jac_t_difference(
    f: &dyn Inner,
    theta: &[f64],
    theta_ref: &[f64],
    i: usize,
    js: Range<usize>,
    w: &[f64],
    c: f64,
    out: &mut [f64],
) {
    let share = c / js.len() as f64;
    for j in js {
        f.add_jac_t_difference(theta, theta_ref, i, j, w, share, out);
    }
}

/// [`Fused::mean`], for an f without its own.
pub(super) fn mean(f: &dyn Inner, theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]) {
    block_mean(f, theta, i, 0..f.n_y(i), work, out);
}

/// [`Fused::add_mean_jac_t`], for an f without its own.
pub(super) fn add_mean_jac_t(
    f: &dyn Inner,
    theta: &[f64],
    i: usize,
    w: &[f64],
    c: f64,
    out: &mut [f64],
) {
    let n_y = f.n_y(i);
    for j in 0..n_y {
        f.add_jac_t(theta, i, j, w, c / n_y as f64, out);
    }
}

/// [`Passes::means`], for an f without its own.
pub(super) fn means(f: &dyn Inner, theta: &[f64], out: &mut [f64]) {
    let ell = f.ell();
    if f.facts().sample == Sample::Shared {
        let (first, others) = out.split_at_mut(ell);
        f.mean(theta, 0, &mut vec![0.0; ell], first);
        return others.chunks_exact_mut(ell).for_each(|mean| mean.copy_from_slice(first));
    }
    blocks(f).fill(ell, out, |range, rows| {
        let mut work = vec![0.0; ell];
        for (i, row) in range.zip(rows.chunks_exact_mut(ell)) {
            f.mean(theta, i, &mut work, row);
        }
    });
}

/// [`Passes::mean_jacobians`], for an f without its own.
pub(super) fn mean_jacobians(f: &dyn Inner, theta: &[f64], out: &mut [f64]) {
    let (d, ell) = (f.d(), f.ell());
    if f.facts().sample == Sample::Shared {
        let (first, others) = out.split_at_mut(ell * d);
        mean_jacobian(f, theta, 0, first);
        return others
            .chunks_exact_mut(ell * d)
            .for_each(|jacobian| jacobian.copy_from_slice(first));
    }
    blocks(f).fill(ell * d, out, |range, rows| {
        for (i, jacobian) in range.zip(rows.chunks_exact_mut(ell * d)) {
            mean_jacobian(f, theta, i, jacobian);
        }
    });
}

/// [`Passes::means_of`], for an f without its own; without room for Jacobians the means alone.
pub(super) fn means_of(
    f: &dyn Inner,
    theta: &[f64],
    terms: &[usize],
    most: usize,
    f_bar: &mut [f64],
    jacobians: &mut [f64],
) {
    let (d, ell) = (f.d(), f.ell());
    let blocks = Blocks::balanced(terms.len(), 0, |k| d * ell * f.n_y(terms[k]).min(most));
    if jacobians.is_empty() {
        return blocks.fill(ell, f_bar, |range, rows| {
            let mut work = vec![0.0; ell];
            for (k, row) in range.zip(rows.chunks_exact_mut(ell)) {
                sampled_mean(f, theta, terms[k], most, &mut work, row);
            }
        });
    }
    blocks.fill_both([ell, ell * d], (f_bar, jacobians), |range, f_bar, jacobians| {
        let mut work = vec![0.0; ell];
        let each = f_bar.chunks_exact_mut(ell).zip(jacobians.chunks_exact_mut(ell * d));
        for (k, (f_bar, jacobian)) in range.zip(each) {
            sampled_mean_and_jacobian(f, theta, terms[k], most, &mut work, f_bar, jacobian);
        }
    });
}

/// The mean of a term over the samples of [`stretches`].
pub(crate) fn sampled_mean(
    f: &dyn Inner,
    theta: &[f64],
    i: usize,
    most: usize,
    work: &mut [f64],
    out: &mut [f64],
) {
    let Some(stretches) = stretches(f.n_y(i), most) else {
        return f.mean(theta, i, work, out);
    };
    let mut one = vec![0.0; out.len()];
    out.fill(0.0);
    for js in stretches {
        f.block_mean(theta, i, js, work, &mut one);
        axpy(1.0 / PLACES as f64, &one, out);
    }
}

/// [`sampled_mean`] with its Jacobian.
fn sampled_mean_and_jacobian(
    f: &dyn Inner,
    theta: &[f64],
    i: usize,
    most: usize,
    work: &mut [f64],
    f_bar: &mut [f64],
    jacobian: &mut [f64],
) {
    let Some(stretches) = stretches(f.n_y(i), most) else {
        if f.facts().sample == Sample::Own {
            return f.block_mean_and_jacobian(theta, i, 0..f.n_y(i), work, f_bar, jacobian);
        }
        // A sample that terms share has been averaged once: a sweep over it for each term would
        // cost n_X n_Y.
        f.mean(theta, i, work, f_bar);
        return mean_jacobian(f, theta, i, jacobian);
    };
    let (mut one, mut slopes) = (vec![0.0; f_bar.len()], vec![0.0; jacobian.len()]);
    f_bar.fill(0.0);
    jacobian.fill(0.0);
    for js in stretches {
        f.block_mean_and_jacobian(theta, i, js, work, &mut one, &mut slopes);
        axpy(1.0 / PLACES as f64, &one, f_bar);
        axpy(1.0 / PLACES as f64, &slopes, jacobian);
    }
}

/// [`Passes::add_weighted_jac_t`], for an f without its own.
pub(super) fn add_weighted_jac_t(f: &dyn Inner, theta: &[f64], w: &[f64], out: &mut [f64]) {
    let (n_x, ell) = (f.n_x(), f.ell());
    if f.facts().sample == Sample::Shared {
        // fbar' (1/n_X) sum_i w_i
        let mut mean = vec![0.0; ell];
        w.chunks_exact(ell).for_each(|w_i| axpy(1.0 / n_x as f64, w_i, &mut mean));
        return f.add_mean_jac_t(theta, 0, &mean, 1.0, out);
    }
    blocks(f).add(1.0 / n_x as f64, out, |range, partial| {
        for i in range {
            f.add_mean_jac_t(theta, i, &w[i * ell..(i + 1) * ell], 1.0, partial);
        }
    });
}

/// The duals of all terms from their averages, and the mean of the losses.
pub(super) fn losses_and_duals(
    f: &dyn Inner,
    duals: &Duals<'_>,
    f_bar: &[f64],
    w: &mut [f64],
) -> f64 {
    let (n_x, ell) = (f.n_x(), f.ell());
    let mut loss = [0.0];
    Blocks::new(n_x, MERIT * ell).fill_and_add(
        ell,
        w,
        1.0 / n_x as f64,
        &mut loss,
        |terms, w, loss| {
            let own = terms.start * ell..terms.end * ell;
            loss[0] = duals(terms, &f_bar[own], w);
        },
    );
    loss[0]
}

/// [`Passes::gradient`] as it is provided, for an f with a faster one that does not always apply:
/// in two passes over the data, one for the averages and one for the sum, unless f brings both at
/// once.
pub(crate) fn gradient<F: Passes + ?Sized>(
    f: &F,
    theta: &[f64],
    duals: &Duals<'_>,
    f_bar: &mut [f64],
    w: &mut [f64],
    out: &mut [f64],
) -> Result<f64, Lost> {
    if brings_both(f.f()) {
        return Ok(gradient_at_once(f.f(), theta, duals, f_bar, w, out));
    }
    f.means(theta, f_bar)?;
    let loss = losses_and_duals(f.f(), duals, f_bar, w);
    out.fill(0.0);
    f.add_weighted_jac_t(theta, w, out)?;
    Ok(loss)
}

/// Samples that a pass over the data looks at: all pairs or, if samples are shared, as many as
/// there are, but at least one for each term.
pub(crate) fn pieces(f: &dyn Inner) -> usize {
    let samples = match f.facts().sample {
        Sample::Own => f.pairs(),
        Sample::Shared | Sample::Separable => f.n_y(0),
    };
    samples.max(f.n_x())
}

pub(crate) fn pairs(f: &dyn Inner) -> usize {
    (0..f.n_x()).map(|i| f.n_y(i)).sum()
}

/// Whether every term has one sample, so that there is nothing to average.
pub(crate) fn is_single(f: &dyn Inner) -> bool {
    f.n_x() == 0 || f.n_y(0) == 1 && f.pairs() == f.n_x()
}

pub(crate) fn support_sizes(f: &dyn Inner) -> Option<(usize, usize)> {
    let mut sizes = (0..f.n_x()).map(|i| f.support(i).map(<[u32]>::len));
    let first = sizes.next()??;
    sizes.try_fold((first, first), |(sum, most), size| Some((sum + size?, most.max(size?))))
}

/// The outer indices in blocks of about equally many samples, for a pass over all pairs.
pub(crate) fn blocks(f: &dyn Inner) -> Blocks {
    let (n_x, ell, d) = (f.n_x(), f.ell(), f.d());
    if n_x > 0 && f.support(0).is_some() {
        // A block that brings a vector of length d, to add up or to work in, is worth it if it
        // looks at as many numbers.
        return Blocks::balanced(n_x, d, |i| ell * f.support(i).map_or(d, <[u32]>::len));
    }
    Blocks::balanced(n_x, 0, |i| d * ell * f.n_y(i))
}

/// `out = fbar_i'(theta)` as ell rows of length d, by one product for each coordinate.
pub(crate) fn mean_jacobian(f: &dyn Inner, theta: &[f64], i: usize, out: &mut [f64]) {
    let mut unit = vec![0.0; f.ell()];
    out.fill(0.0);
    for (c, row) in out.chunks_exact_mut(f.d()).enumerate() {
        unit[c] = 1.0;
        f.add_mean_jac_t(theta, i, &unit, 1.0, row);
        unit[c] = 0.0;
    }
}

/// Coordinates that a term looks at, on the average of terms that are evenly spread; none where f
/// does not tell.
pub(crate) fn mean_support(f: &dyn Inner) -> Option<f64> {
    let (n_x, count) = (f.n_x(), f.n_x().min(LOOKED_AT));
    let sizes = (0..count).map(|k| f.support(k * n_x / count).map(<[u32]>::len));
    Some(sizes.sum::<Option<usize>>()? as f64 / count.max(1) as f64)
}

/// Terms whose supports are looked at.
const LOOKED_AT: usize = 1024;
