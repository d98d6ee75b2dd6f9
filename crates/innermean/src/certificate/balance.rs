//! Duals balanced against an intercept.
//!
//! Where g is a straight line along coordinate l, with slope t, `g*(-u)` is infinite unless `u_l =
//! -t` to the last digit. Moving that one coordinate to its best place does it: with the column
//! `z_i = d fbar_i / d theta_l` of an affine f,
//!
//! ```text
//! h(c) = t + (1/n) sum_i <z_i, phi_i'(fbar_i + c z_i)>
//! ```
//!
//! rises with c, and at its root the duals `w_i = phi_i'(fbar_i + c z_i)` balance. Where phi has a
//! kink h jumps; there the duals at hand are moved along z and brought back into the domain of
//! `phi_i*`, `w_i = proj(w_i + c z_i)`, which rises with c too.
//!
//! What rounding leaves of `u_l + t` is repaired along the same column (`repair.rs`).

use crate::linalg::blocks::Blocks;
use crate::linalg::vector::axpy;
use crate::model::inner::blocks;
use crate::model::problem::Objective;

/// A free coordinate of an affine f, and what it does to the averages.
#[derive(Debug)]
pub(crate) struct Balance {
    l: usize,
    /// t
    slope: f64,
    /// `z_i`, flat
    column: Vec<f64>,
}

/// So many evaluations of h are enough for any root.
const MOST_STEPS: usize = 80;
/// What rounding of h cannot be told from.
const NOISE: f64 = 2.0 * f64::EPSILON;
/// The step of a prox that is as good as a projection.
const PROJECTING_STEP: f64 = 1e-300;

impl Balance {
    /// Looks up column l.
    pub(crate) fn new(problem: Objective<'_>, (l, slope): (usize, f64)) -> Self {
        let f = problem.inner;
        let (d, ell) = (f.d(), f.ell());
        let origin = vec![0.0; d];
        let mut column = vec![0.0; f.n_x() * ell];
        blocks(f).fill(
            ell,
            &mut column,
            #[inline(always)]
            |range, column| {
                let (mut unit, mut row) = (vec![0.0; ell], vec![0.0; d]);
                for (i, z) in range.zip(column.chunks_exact_mut(ell)) {
                    for (c, z) in z.iter_mut().enumerate() {
                        unit[c] = 1.0;
                        f.add_mean_jac_t(&origin, i, &unit, 1.0, &mut row);
                        unit[c] = 0.0;
                        *z = row[l];
                        match f.support(i) {
                            Some(support) => support.iter().for_each(|l| row[*l as usize] = 0.0),
                            None => row.fill(0.0),
                        }
                    }
                }
            },
        );
        Balance { l, slope, column }
    }

    /// Balances the duals of the averages `f_bar`; where phi has a kink, the duals in `w`.
    /// `steepness` is the last `h'` that was seen, 0 for none.
    pub(crate) fn apply(
        &self,
        problem: Objective<'_>,
        f_bar: &[f64],
        w: &mut [f64],
        steepness: &mut f64,
    ) {
        let given = problem.merit.has_kinks().then(|| w.to_vec());
        let mut at = |c: f64| self.at(problem, f_bar, given.as_deref(), c, w);
        let (mut c, (mut h, mut size)) = (0.0, at(0.0));
        let (mut below, mut above) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut best = (c, h);
        let mut derivative = *steepness;
        let mut step = if derivative > 0.0 { -h / derivative } else { -h.signum() };
        for k in 1..MOST_STEPS {
            if h.is_nan() || h.abs() <= NOISE * size {
                break;
            }
            if h < 0.0 {
                below = c;
            } else {
                above = c;
            }
            let mut next = c + step;
            let between = below < next && next < above;
            if below.is_finite() && above.is_finite() && (!between || k % 4 == 0) {
                next = 0.5 * (below + above);
            } else if !between {
                // A secant that points back into what is known to be too small or too large.
                next = c - h.signum() * (1.0 + c.abs());
            }
            if next == c || next == below || next == above {
                break;
            }
            let before = (c, h);
            c = next;
            (h, size) = at(c);
            if h.abs() < best.1.abs() {
                best = (c, h);
            }
            let secant = (h - before.1) / (c - before.0);
            if secant > 0.0 && secant.is_finite() {
                derivative = secant;
                step = -h / secant;
            } else {
                // Flat: further, and faster.
                step = -h.signum() * 4.0 * (c - before.0).abs();
            }
        }
        if best.0 != c {
            at(best.0);
        }
        *steepness = derivative;
    }

    /// `h(c)` and the size of its terms; leaves the duals in `w`.
    fn at(
        &self,
        problem: Objective<'_>,
        f_bar: &[f64],
        given: Option<&[f64]>,
        c: f64,
        w: &mut [f64],
    ) -> (f64, f64) {
        let (n_x, ell) = (problem.inner.n_x(), problem.inner.ell());
        let mut sums = [0.0; 2];
        Blocks::new(n_x, 4 * ell).fill_and_add(
            ell,
            w,
            1.0 / n_x as f64,
            &mut sums,
            #[inline(always)]
            |range, w, sums| {
                let mut moved = vec![0.0; ell];
                for (i, w) in range.zip(w.chunks_exact_mut(ell)) {
                    let own = i * ell..(i + 1) * ell;
                    let z = &self.column[own.clone()];
                    if let Some(given) = given {
                        w.copy_from_slice(&given[own]);
                        axpy(c, z, w);
                        problem.merit.prox_conjugate(i, PROJECTING_STEP, w);
                    } else {
                        moved.copy_from_slice(&f_bar[own]);
                        axpy(c, z, &mut moved);
                        problem.merit.gradient(i, &moved, w);
                    }
                    for (z, w) in z.iter().zip(w) {
                        sums[0] += z * *w;
                        sums[1] += (z * *w).abs();
                    }
                }
            },
        );
        (self.slope + sums[0], self.slope.abs() + sums[1])
    }

    /// The coordinate, and what it does to the averages.
    pub(crate) fn column(&self) -> (usize, &[f64]) {
        (self.l, &self.column)
    }
}
