//! An f that Python has compiled to machine code: C functions by address.
//!
//! ```text
//! void sum(const double* theta, const double* x_i, const double* y, int64 n, double* out)
//!     out += sum of f_theta(x_i, y_r) over n rows y_r, one after the other
//! void product(const double* theta, const double* x_i, const double* y, int64 n,
//!              const double* w, double* out, double* values)
//!     out += sum of f'_theta(x_i, y_r) w; where vjp returns f, values += sum of f_theta(x_i, y_r)
//! ```

use std::ops::Range;
use std::sync::Arc;

use innermean::inner::{Facts, Fused, Inner, Passes};
use innermean::{Numbers, vector};

type Sum = unsafe extern "C" fn(*const f64, *const f64, *const f64, i64, *mut f64);
type Product =
    unsafe extern "C" fn(*const f64, *const f64, *const f64, i64, *const f64, *mut f64, *mut f64);

/// The functions, and the arrays whose rows they read.
pub(crate) struct Kernel {
    sum: Sum,
    product: Product,
    d: usize,
    ell: usize,
    /// Term i has the rows `starts[i]..starts[i + 1]` of y.
    starts: Vec<usize>,
    x: Rows,
    y: Rows,
    facts: Facts,
    /// Whether `product` knows values, too.
    knows_values: bool,
}

/// An array of rows.
pub(crate) struct Rows {
    pub(crate) numbers: Numbers,
    pub(crate) width: usize,
}

impl Rows {
    /// From row r on; nothing where rows are empty.
    pub(crate) fn from(&self, r: usize) -> *const f64 {
        self.numbers[r * self.width..].as_ptr()
    }
}

/// What Python says about a kernel beside its arrays.
pub(crate) struct About {
    pub(crate) sum: usize,
    pub(crate) product: usize,
    pub(crate) d: usize,
    pub(crate) ell: usize,
    pub(crate) affine: bool,
    pub(crate) convex: bool,
    pub(crate) knows_values: bool,
}

impl Kernel {
    /// The addresses must be those of functions as above, which outlive this; `starts` must end
    /// with the number of rows of y, and x have a row for each term.
    pub(crate) fn new(about: &About, starts: Vec<usize>, x: Rows, y: Rows) -> Arc<Self> {
        // SAFETY: `innermean.own.numba` compiles functions of these signatures and keeps them.
        #[expect(unsafe_code, reason = "functions by address")]
        let (sum, product) = unsafe {
            (
                std::mem::transmute::<usize, Sum>(about.sum),
                std::mem::transmute::<usize, Product>(about.product),
            )
        };
        let mut facts = Facts::default();
        (facts.affine, facts.convex) = (about.affine, about.convex);
        facts.at_once = about.knows_values && about.ell == 1;
        let About { d, ell, knows_values, .. } = *about;
        Arc::new(Kernel { sum, product, d, ell, starts, x, y, facts, knows_values })
    }

    fn add_values(&self, theta: &[f64], i: usize, js: &Range<usize>, out: &mut [f64]) {
        assert!(theta.len() == self.d && out.len() == self.ell);
        let (x, y) = (self.x.from(i), self.y.from(self.starts[i] + js.start));
        debug_assert!(self.starts[i] + js.end <= self.starts[i + 1]);
        // SAFETY: the functions read d numbers of theta, a row of x and the rows of y, which are
        // there, and write ell numbers.
        #[expect(unsafe_code, reason = "a function by address")]
        unsafe {
            (self.sum)(theta.as_ptr(), x, y, js.len().cast_signed() as i64, out.as_mut_ptr());
        }
    }

    fn add_products(
        &self,
        theta: &[f64],
        i: usize,
        js: &Range<usize>,
        w: &[f64],
        out: &mut [f64],
        values: &mut [f64],
    ) {
        assert!(theta.len() == self.d && out.len() == self.d);
        assert!(w.len() == self.ell && values.len() == self.ell);
        let (x, y) = (self.x.from(i), self.y.from(self.starts[i] + js.start));
        debug_assert!(self.starts[i] + js.end <= self.starts[i + 1]);
        let n = js.len().cast_signed() as i64;
        // SAFETY: as above; they write d and ell numbers.
        #[expect(unsafe_code, reason = "a function by address")]
        unsafe {
            (self.product)(
                theta.as_ptr(),
                x,
                y,
                n,
                w.as_ptr(),
                out.as_mut_ptr(),
                values.as_mut_ptr(),
            );
        }
    }

    /// `out += sum over rows of f' (c w)`
    fn products(
        &self,
        theta: &[f64],
        i: usize,
        js: &Range<usize>,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        if let [w] = w {
            self.add_products(theta, i, js, &[c * w], out, &mut [0.0]);
        } else {
            let scaled: Vec<f64> = w.iter().map(|w| c * w).collect();
            self.add_products(theta, i, js, &scaled, out, &mut vec![0.0; self.ell]);
        }
    }
}

impl Inner for Kernel {
    fn d(&self) -> usize {
        self.d
    }

    fn ell(&self) -> usize {
        self.ell
    }

    fn n_x(&self) -> usize {
        self.starts.len() - 1
    }

    fn n_y(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    fn facts(&self) -> Facts {
        self.facts
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        out.fill(0.0);
        self.add_values(theta, i, &(j..j + 1), out);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.products(theta, i, &(j..j + 1), w, c, out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Kernel {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn prefetch(&self, i: usize, j: usize) {
        let r = (self.starts[i] + j) * self.y.width;
        vector::prefetch(&self.y.numbers, r, self.y.width);
    }

    fn block_mean(
        &self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        _: &mut [f64],
        out: &mut [f64],
    ) {
        out.fill(0.0);
        self.add_values(theta, i, &js, out);
        for out in out {
            *out /= js.len() as f64;
        }
    }

    fn add_block_jac_t(
        &self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        w: &[f64],
        c: f64,
        out: &mut [f64],
    ) {
        self.products(theta, i, &js, w, c / js.len() as f64, out);
    }

    fn block_mean_and_jacobian(
        &self,
        theta: &[f64],
        i: usize,
        js: Range<usize>,
        work: &mut [f64],
        mean: &mut [f64],
        jacobian: &mut [f64],
    ) {
        let share = 1.0 / js.len() as f64;
        jacobian.fill(0.0);
        if self.ell == 1 && self.knows_values {
            mean.fill(0.0);
            self.add_products(theta, i, &js, &[1.0], jacobian, mean);
            mean[0] *= share;
            for number in jacobian {
                *number *= share;
            }
            return;
        }
        let mut unit = vec![0.0; self.ell];
        for (c, row) in jacobian.chunks_exact_mut(self.d).enumerate() {
            unit[c] = 1.0;
            self.products(theta, i, &js, &unit, share, row);
            unit[c] = 0.0;
        }
        self.block_mean(theta, i, js, work, mean);
    }

    fn mean(&self, theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]) {
        self.block_mean(theta, i, 0..self.n_y(i), work, out);
    }

    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.add_block_jac_t(theta, i, 0..self.n_y(i), w, c, out);
    }
}

impl Passes for Kernel {}
