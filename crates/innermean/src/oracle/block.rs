//! Queries of f over a block of consecutive samples of a term: as many calls and rows as the block
//! has samples.

use std::ops::Range;

use super::Oracle;

impl Oracle<'_> {
    /// Counts the rows of a block for values.
    #[inline(always)]
    fn read_block(&mut self, i: usize, js: &Range<usize>) {
        self.rows += js.len() as u64 * self.rows_of.pair;
        self.last = (i, js.start);
    }

    /// `out = (1/b) sum of f_theta(x_i, y_ij)` over a block of b samples: b calls.
    #[inline(always)]
    pub fn block_mean(
        &mut self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        self.calls.f += js.len() as u64 * self.weight;
        self.read_block(i, &js);
        self.f.block_mean(theta, i, js, work, out);
    }

    /// `out = (1/b) sum of f_theta(x_i, y_ij) - f_theta_ref(x_i, y_ij)` over a block of b samples:
    /// 2 b calls.
    #[inline(always)]
    pub fn block_difference(
        &mut self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        js: Range<usize>,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        self.calls.f += 2 * js.len() as u64 * self.weight;
        self.read_block(i, &js);
        self.f.block_difference(theta, theta_ref, i, js, work, out);
    }

    /// `out += (c/b) sum of f'_theta(x_i, y_ij) w` over a block of b samples: b calls.
    #[inline(always)]
    pub fn add_block_jac_t(
        &mut self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        self.calls.jacobian += js.len() as u64 * self.weight;
        if self.last != (i, js.start) {
            self.read_block(i, &js);
        }
        self.f.add_block_jac_t(theta, i, js, w, c, out);
    }

    /// `out += (c/b) sum of (f'_theta(x_i, y_ij) - f'_theta_ref(x_i, y_ij)) w` over a block of b
    /// samples: 2 b calls. For affine f it is zero: do not ask.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the formula has as many")]
    pub fn add_block_jac_t_difference(
        &mut self,
        theta: &[f64],
        theta_ref: &[f64],
        i: usize,
        js: Range<usize>,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        self.calls.jacobian += 2 * js.len() as u64 * self.weight;
        if self.last != (i, js.start) {
            self.read_block(i, &js);
        }
        self.f.add_block_jac_t_difference(theta, theta_ref, i, js, w, c, out);
    }
}
