//! Queries of f over a block of consecutive samples of a term: as many calls and rows as the block
//! has samples.

use std::ops::Range;

use super::Oracle;

/// [`Oracle::block`]: queries over a block of samples.
#[derive(Debug)]
pub struct Block<'o, 'p>(pub(super) &'o mut Oracle<'p>);

impl Block<'_, '_> {
    /// Counts the rows of a block for values.
    #[inline(always)]
    fn read(&mut self, i: usize, js: &Range<usize>) {
        self.0.rows += js.len() as u64 * self.0.rows_of.pair;
        self.0.last = (i, js.start);
    }

    /// `out = (1/b) sum of f_theta(x_i, y_ij)` over a block of b samples: b calls.
    #[inline(always)]
    pub fn mean(
        &mut self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        self.0.calls.f += js.len() as u64 * self.0.weight;
        self.read(i, &js);
        self.0.f.block_mean(theta, i, js, work, out);
    }

    /// `out = (1/b) sum of f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij)` over a block of b samples:
    /// 2 b calls.
    #[inline(always)]
    pub fn difference(
        &mut self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        js: Range<usize>,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        self.0.calls.f += 2 * js.len() as u64 * self.0.weight;
        self.read(i, &js);
        self.0.f.block_difference(theta, theta_ref, i, js, work, out);
    }

    /// `out += (c/b) sum of f'_theta(x_i, y_ij) w` over a block of b samples: b calls.
    #[inline(always)]
    pub fn add_jac_t(
        &mut self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        self.0.calls.jacobian += js.len() as u64 * self.0.weight;
        if self.0.last != (i, js.start) {
            self.read(i, &js);
        }
        self.0.f.add_block_jac_t(theta, i, js, w, c, out);
    }

    /// `out += (c/b) sum of (f'_theta(x_i, y_ij) - f'_theta_ref(x_i, y_ij)) w` over a block of b
    /// samples: 2 b calls. For affine f it is zero: do not ask.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the formula has as many")]
    pub fn add_jac_t_difference(
        &mut self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        js: Range<usize>,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        self.0.calls.jacobian += 2 * js.len() as u64 * self.0.weight;
        if self.0.last != (i, js.start) {
            self.read(i, &js);
        }
        self.0.f.add_block_jac_t_difference(theta, theta_ref, i, js, w, c, out);
    }
}
