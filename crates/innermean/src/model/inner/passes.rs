//! Passes over the data, and what they cost.

use super::{Duals, Inner, Sample};
use crate::linalg::blocks::{Blocks, MERIT};

/// [`Inner::gradient`] in two passes over the data, one for the averages and one for the sum.
pub(crate) fn gradient_in_two_passes<F: Inner + ?Sized>(
    f: &F,
    theta: &[f64],
    duals: &Duals<'_>,
    f_bar: &mut [f64],
    w: &mut [f64],
    out: &mut [f64],
) -> f64 {
    f.means(theta, f_bar);
    let (n_x, ell) = (f.n_x(), f.ell());
    let mut loss = [0.0];
    Blocks::new(n_x, MERIT * ell).fill_and_add(ell, w, 1.0 / n_x as f64, &mut loss, |terms, w, loss| {
        let own = terms.start * ell..terms.end * ell;
        loss[0] = duals(terms, &f_bar[own], w);
    });
    out.fill(0.0);
    f.add_weighted_jac_t(theta, w, out);
    loss[0]
}

/// Samples that a pass over the data looks at: all pairs or, if samples are shared, as many as there are, but at least one for each term.
pub(crate) fn pieces<F: Inner + ?Sized>(f: &F) -> usize {
    let samples = match f.structure().sample {
        Sample::Own => (0..f.n_x()).map(|i| f.n_y(i)).sum(),
        Sample::Shared | Sample::Separable => f.n_y(0),
    };
    samples.max(f.n_x())
}

/// The outer indices in blocks of about equally many samples, for a pass over all pairs.
pub(crate) fn blocks<F: Inner + ?Sized>(f: &F) -> Blocks {
    let (n_x, ell, d) = (f.n_x(), f.ell(), f.d());
    if n_x > 0 && f.support(0).is_some() {
        // A block that brings a vector of length d, to add up or to work in, is worth it if it looks at as many numbers.
        return Blocks::balanced(n_x, d, |i| ell * f.support(i).map_or(d, <[u32]>::len));
    }
    Blocks::balanced(n_x, 0, |i| d * ell * f.n_y(i))
}

/// `out = fbar_i'(theta)` as ell rows of length d, by one product for each coordinate.
pub(crate) fn mean_jacobian<F: Inner + ?Sized>(f: &F, theta: &[f64], i: usize, out: &mut [f64]) {
    let mut unit = vec![0.0; f.ell()];
    out.fill(0.0);
    for (c, row) in out.chunks_exact_mut(f.d()).enumerate() {
        unit[c] = 1.0;
        f.add_mean_jac_t(theta, i, &unit, 1.0, row);
        unit[c] = 0.0;
    }
}

/// Coordinates that a term looks at, on the average of terms that are evenly spread; none where f does not tell.
pub(crate) fn mean_support<F: Inner + ?Sized>(f: &F) -> Option<f64> {
    let (n_x, count) = (f.n_x(), f.n_x().min(LOOKED_AT));
    let sizes = (0..count).map(|k| f.support(k * n_x / count).map(<[u32]>::len));
    Some(sizes.sum::<Option<usize>>()? as f64 / count.max(1) as f64)
}

/// Terms whose supports are looked at.
const LOOKED_AT: usize = 1024;
