//! Problem (2) of the paper: an inner sample shared by all outer terms, `phi_i( (1/n_Y) sum_j
//! f_theta(y_j) )`.
//!
//! Methods made for it (SCGD, ASC-PG, C-SAGA) reach other problems through an f of higher
//! dimension: `F_theta(y_j)` in `R^L` holds what all terms need, and term i picks its part,
//! `f_theta(x_i, y_ij) = B_i F_theta(y_j)` with a linear `B_i`, so that `phi_i(fbar_i) = phi_i(B_i
//! Fbar)`. [`SharedForm`] is such an F with its `B_i`.

use std::ops::Range;
use std::sync::Arc;

use crate::linalg::vector::{axpy, norm_squared};
use crate::model::inner::{Bounds, Facts, Fused, Inner, Lost, Passes, Rows, Sample};
use crate::model::merit::Merit;

/// F of the identification, an [`Inner`] whose sample is [`Sample::Shared`], and the `B_i`.
pub trait SharedForm: Inner {
    /// `out = B_i u`
    fn pick(&self, i: usize, u: &[f64], out: &mut [f64]);

    /// `out += c B_i' w`
    fn add_pick_t(&self, i: usize, w: &[f64], c: f64, out: &mut [f64]);

    /// The `s_i` with `B_i B_i' = s_i I`: parts are picked alike, each by coordinates of its own.
    fn pick_scale(&self, i: usize) -> f64;
}

/// The largest ell of a problem that has a shared form: the parts picked live on the stack.
pub const MOST_PICKED: usize = 16;

/// The shared form of f: its own, or all terms stacked, if they have as many samples each. None if
/// `ell` is above [`MOST_PICKED`].
pub fn shared_form(f: &dyn Inner) -> Option<Box<dyn SharedForm + '_>> {
    if f.ell() > MOST_PICKED {
        return None;
    }
    f.shared_form().or_else(|| Some(Box::new(Stacked::new(f)?)))
}

/// `F_theta(y_j) = ( f_theta(x_i, y_ij) for all i )`: the form that any f has whose terms have
/// equally many samples. A query of it counts as `n_X` calls.
pub struct Stacked<'f>(&'f dyn Inner, Facts);

impl<'f> Stacked<'f> {
    /// None if the terms differ in their number of samples, or `ell` is above [`MOST_PICKED`].
    pub fn new(f: &'f dyn Inner) -> Option<Self> {
        let equal = (1..f.n_x()).all(|i| f.n_y(i) == f.n_y(0));
        (equal && f.ell() <= MOST_PICKED).then(|| {
            let (Rows { pair, all, merit }, n_x) = (f.rows(), f.n_x() as u64);
            let facts = f.facts();
            let calls_per_query = n_x * facts.calls_per_query;
            let facts =
                Facts { convex: false, mirrored: false, block: 1, calls_per_query, ..facts };
            let rows = Rows { pair: pair * n_x, all, merit };
            Stacked(f, facts.with_sample(Sample::Shared).with_rows(rows))
        })
    }
}

impl Inner for Stacked<'_> {
    fn d(&self) -> usize {
        self.0.d()
    }

    fn ell(&self) -> usize {
        self.0.n_x() * self.0.ell()
    }

    fn n_x(&self) -> usize {
        self.0.n_x()
    }

    fn n_y(&self, _: usize) -> usize {
        self.0.n_y(0)
    }

    fn facts(&self) -> Facts {
        self.1
    }

    fn value(&self, theta: &[f64], _: usize, j: usize, out: &mut [f64]) {
        for (i, part) in out.chunks_exact_mut(self.0.ell()).enumerate() {
            self.0.value(theta, i, j, part);
        }
    }

    fn add_jac_t(&self, theta: &[f64], _: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (i, w_i) in w.chunks_exact(self.0.ell()).enumerate() {
            self.0.add_jac_t(theta, i, j, w_i, c, out);
        }
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Stacked<'_> {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn jacobian(&self, theta: &[f64], _: usize, j: usize, work: &mut [f64], out: &mut [f64]) {
        let ell = self.0.ell();
        for (i, part) in out.chunks_exact_mut(ell * self.d()).enumerate() {
            self.0.jacobian(theta, i, j, &mut work[..ell], part);
        }
    }

    fn mean(&self, theta: &[f64], _: usize, _: &mut [f64], out: &mut [f64]) {
        self.0.means(theta, out);
    }

    fn add_mean_jac_t(&self, theta: &[f64], _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (i, w_i) in w.chunks_exact(self.0.ell()).enumerate() {
            self.0.add_mean_jac_t(theta, i, w_i, c, out);
        }
    }
}

impl Passes for Stacked<'_> {
    fn bounds(&self) -> Bounds {
        let Bounds { b_f, b_theta, mean_jacobian } = self.0.bounds();
        let all = (self.0.n_x() as f64).sqrt();
        let scaled = |bound: Option<f64>| bound.map(|bound| bound * all);
        Bounds { b_f: scaled(b_f), b_theta: scaled(b_theta), mean_jacobian: scaled(mean_jacobian) }
    }

    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        let (first, others) = out.split_at_mut(self.ell() * self.d());
        self.0.mean_jacobians(theta, first);
        others.chunks_exact_mut(first.len()).for_each(|jacobian| jacobian.copy_from_slice(first));
        Ok(())
    }
}

impl SharedForm for Stacked<'_> {
    fn pick(&self, i: usize, u: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&u[i * out.len()..(i + 1) * out.len()]);
    }

    fn add_pick_t(&self, i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        axpy(c, w, &mut out[i * w.len()..(i + 1) * w.len()]);
    }

    fn pick_scale(&self, _: usize) -> f64 {
        1.0
    }
}

/// `h_i(u) = phi_i(B_i u)`: the merit of a shared form. With `B_i B_i' = s I`,
///
/// ```text
/// h_i*(v)               = phi_i*(B_i v / s)  if v = B_i' w for some w,  inf otherwise
/// prox_{alpha h_i*}(v)  = B_i' prox_{(alpha/s) phi_i*}(B_i v / s)
/// ```
///
/// The prox follows from `argmin over w of phi_i*(w) + |B_i' w - v|^2 / (2 alpha)`.
pub struct Picked<'f> {
    form: Arc<dyn SharedForm + 'f>,
    merit: &'f dyn Merit,
    ell: usize,
    /// `max_i s_i`
    scale: f64,
}

impl<'f> Picked<'f> {
    /// `merit` is that of the given problem, whose averages lie in `R^ell`.
    ///
    /// # Panics
    /// If `ell` is above [`MOST_PICKED`].
    pub fn new(form: Box<dyn SharedForm + 'f>, merit: &'f dyn Merit, ell: usize) -> Self {
        assert!(
            ell <= MOST_PICKED,
            "a shared form has at most {MOST_PICKED} numbers for each term"
        );
        let scale = (0..form.n_x()).map(|i| form.pick_scale(i)).fold(0.0, f64::max);
        Picked { form: form.into(), merit, ell, scale }
    }

    /// The f whose averages this is a merit of.
    pub fn form(&self) -> &Arc<dyn SharedForm + 'f> {
        &self.form
    }

    /// `B_i u`, in the first ell numbers.
    fn picked(&self, i: usize, u: &[f64]) -> [f64; MOST_PICKED] {
        let mut part = [0.0; MOST_PICKED];
        self.form.pick(i, u, &mut part[..self.ell]);
        part
    }

    /// `B_i v / s_i`, the w with `v = B_i' w` if there is one.
    fn dual(&self, i: usize, v: &[f64]) -> [f64; MOST_PICKED] {
        let scale = self.form.pick_scale(i);
        self.picked(i, v).map(|part| part / scale)
    }
}

/// Of `|v|^2`: what rounding may leave of `v - B_i' w`.
const ROUNDING: f64 = 1e-24;

impl Merit for Picked<'_> {
    fn terms(&self) -> Option<usize> {
        self.merit.terms()
    }

    fn value(&self, i: usize, u: &[f64]) -> f64 {
        self.merit.value(i, &self.picked(i, u)[..self.ell])
    }

    fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.add_gradient(i, u, 1.0, &mut [], out);
    }

    /// `out += c B_i' phi_i'(B_i u)`
    fn add_gradient(&self, i: usize, u: &[f64], c: f64, _: &mut [f64], out: &mut [f64]) {
        let mut slope = [0.0; MOST_PICKED];
        self.merit.gradient(i, &self.picked(i, u)[..self.ell], &mut slope[..self.ell]);
        self.form.add_pick_t(i, &slope[..self.ell], c, out);
    }

    fn conjugate(&self, i: usize, v: &[f64]) -> f64 {
        let w = self.dual(i, v);
        let mut lifted = v.to_vec();
        self.form.add_pick_t(i, &w[..self.ell], -1.0, &mut lifted);
        let within = norm_squared(&lifted) <= ROUNDING * norm_squared(v);
        if within { self.merit.conjugate(i, &w[..self.ell]) } else { f64::INFINITY }
    }

    fn prox_conjugate(&self, i: usize, alpha: f64, v: &mut [f64]) {
        let mut w = self.dual(i, v);
        self.merit.prox_conjugate(i, alpha / self.form.pick_scale(i), &mut w[..self.ell]);
        v.fill(0.0);
        self.form.add_pick_t(i, &w[..self.ell], 1.0, v);
    }

    /// Its coordinates are tied by `B_i`.
    fn prox_slopes(&self, _: Range<usize>, _: f64, _: &[f64], _: &mut [f64]) -> bool {
        false
    }

    fn gamma(&self) -> f64 {
        self.merit.gamma() / self.scale
    }

    fn has_kinks(&self) -> bool {
        self.merit.has_kinks()
    }

    fn curvature(&self, i: usize, u: &[f64]) -> Option<f64> {
        let curvature = self.merit.curvature(i, &self.picked(i, u)[..self.ell])?;
        Some(curvature * self.form.pick_scale(i))
    }

    fn lipschitz(&self, _: usize) -> f64 {
        self.merit.lipschitz(self.ell) * self.scale.sqrt()
    }
}
