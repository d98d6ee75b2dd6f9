//! Passes over the whole data: the only way of batch methods, snapshots and certificates to it.

use super::{Bounds, CommonGram, Duals, Fused, Inner, Lost, Summed, at_once, in_memory};
use crate::linalg::gram as gram_of;
use crate::model::inner::lost::Recording;
use crate::run::checkpoint::Hash;

/// Whole-data quantities of f. All are provided, made of the calls of [`Fused`] and [`Inner`] on
/// all threads; a problem overrides what it does better, in fewer sweeps or where its rows are.
///
/// A pass over data that are not all in memory may fail. That ends a run with
/// [`Status::Failed`](crate::Status::Failed) and the reason. Outside of a run, what depends on a
/// failed pass is not a number.
///
/// Vectors over all i lie flat: i owns `[i * ell..(i + 1) * ell]`.
pub trait Passes: Fused {
    /// What is known about the size of f'. It may take a pass over rows in memory, and is asked for
    /// only where steps depend on it.
    fn bounds(&self) -> Bounds {
        let b_theta = self.f().facts().affine.then_some(0.0);
        Bounds { b_theta, ..Bounds::default() }
    }

    /// An estimate of `max_i |fbar_i'(theta)|` (Frobenius) for steps and measures, where there is a
    /// cheaper way to one than a pass over the data for each coordinate of each term.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn mean_jacobian_size(&self, theta: &[f64]) -> Result<Option<f64>, Lost> {
        let _ = theta;
        Ok(None)
    }

    /// `fbar_i'(theta)` of some terms, or averages over some of their samples, as ell rows of
    /// length d for each: for rough estimates, where they cost a fraction of a pass over the data.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn some_mean_jacobians(&self, theta: &[f64]) -> Result<Option<Vec<f64>>, Lost> {
        let _ = theta;
        Ok(None)
    }

    /// `sum_r weight(r) a_r a_r'` over the rows of all mean Jacobians, where row `r = i ell + c` is
    /// coordinate c of `fbar_i`, for an affine f that finds it without a copy of them; d rows of
    /// length d.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn gram(&self, weight: &(dyn Fn(usize) -> f64 + Sync)) -> Result<Option<Vec<f64>>, Lost> {
        Ok(self.averages().map(|averages| gram_of::weighted(averages, weight)))
    }

    /// [`Self::gram`] with weight 1 of an f that keeps it, as many problems share it.
    fn common_gram(&self) -> Option<&CommonGram> {
        None
    }

    /// Hashes all numbers that f is made of, for an f whose values and Jacobians may hide the last
    /// digit of one, as where they are differences. False: what pairs answer tells the data apart.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn hash_data(&self, hash: &mut Hash) -> Result<bool, Lost> {
        let _ = hash;
        Ok(false)
    }

    /// `out = fbar_i(theta)` for all i.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        in_memory::means(self.f(), theta, out);
        Ok(())
    }

    /// `out = fbar_i'(theta)` for all i, as ell rows of length d for each i (row c belongs to
    /// coordinate c of f). Of a shared sample, whose Jacobians are all the same, `out` may also
    /// hold the first alone.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        in_memory::mean_jacobians(self.f(), theta, out);
        Ok(())
    }

    /// [`Self::means`] and [`Self::mean_jacobians`] at one point.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn means_and_jacobians(
        &self,
        theta: &[f64],
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) -> Result<(), Lost> {
        at_once::means_and_jacobians(self, theta, f_bar, jacobians)
    }

    /// [`Self::means_and_jacobians`] of the terms given, one after the other, each averaged over the
    /// samples that [`stretches`](super::stretches) takes of it; without room for Jacobians, the
    /// means alone. For an f whose calls are dear: one call instead of thousands.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn means_of(
        &self,
        theta: &[f64],
        terms: &[usize],
        most: usize,
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) -> Result<(), Lost> {
        in_memory::means_of(self.f(), theta, terms, most, f_bar, jacobians);
        Ok(())
    }

    /// `out += (1/n_X) sum_i fbar_i'(theta) w_i`
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        in_memory::add_weighted_jac_t(self.f(), theta, w, out);
        Ok(())
    }

    /// Both batch quantities of a snapshot: `f_bar_i = fbar_i(theta)` for all i and
    /// `u = (1/n_X) sum_i fbar_i'(theta) w_i`.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn snapshot(
        &self,
        theta: &[f64],
        w: &[f64],
        f_bar: &mut [f64],
        u: &mut [f64],
    ) -> Result<(), Lost> {
        at_once::snapshot(self, theta, w, f_bar, u)
    }

    /// `out = F'(theta) = (1/n_X) sum_i fbar_i'(theta) w_i` and `F(theta)` as what is returned,
    /// where `duals` makes `w_i = phi_i'(f_bar_i)` from `f_bar_i = fbar_i(theta)`; all of them are
    /// left in `f_bar` and `w`. An f whose rows are still near when their duals are known reads
    /// them once and not twice.
    ///
    /// # Errors
    /// If a part of the data is lost.
    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> Result<f64, Lost> {
        in_memory::gradient(self, theta, duals, f_bar, w, out)
    }

    /// What an f says of itself that is all of F, with one term.
    fn summed(&self) -> Option<&dyn Summed> {
        None
    }

    /// The record of failed passes, of an f that keeps one.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "only a run makes one")]
    fn recording(&self) -> Option<&Recording<'_>> {
        None
    }
}

/// The provided passes, of an f that has none of its own.
struct InMemory<'f>(&'f dyn Inner);

impl Fused for InMemory<'_> {
    fn f(&self) -> &dyn Inner {
        self.0
    }

    fn averages(&self) -> Option<&crate::model::collapse::Collapsed> {
        self.0.averages()
    }
}

impl Passes for InMemory<'_> {}

/// Whole-data passes for those who do not look at failures: a run looks at its record instead
/// (`Recording`), and without one what failed is not a number.
#[expect(missing_docs, reason = "they are those of `Passes`")]
impl dyn Inner + '_ {
    /// Runs `work` on the passes of f: its own, or the provided ones.
    pub(crate) fn whole<R>(&self, work: impl FnOnce(&dyn Passes) -> R) -> R {
        match self.passes() {
            Some(own) => work(own),
            None => work(&InMemory(self)),
        }
    }

    pub fn bounds(&self) -> Bounds {
        self.whole(|f| f.bounds())
    }

    pub fn mean_jacobian_size(&self, theta: &[f64]) -> Option<f64> {
        self.whole(|f| f.mean_jacobian_size(theta)).unwrap_or(Some(f64::NAN))
    }

    pub fn some_mean_jacobians(&self, theta: &[f64]) -> Option<Vec<f64>> {
        self.whole(|f| f.some_mean_jacobians(theta)).unwrap_or(None)
    }

    pub fn gram(&self, weight: &(dyn Fn(usize) -> f64 + Sync)) -> Option<Vec<f64>> {
        let d = self.d();
        self.whole(|f| f.gram(weight)).unwrap_or_else(|_| Some(vec![f64::NAN; d * d]))
    }

    pub fn common_gram(&self) -> Option<&CommonGram> {
        self.passes()?.common_gram()
    }

    pub fn summed(&self) -> Option<&dyn Summed> {
        self.passes()?.summed()
    }

    pub fn hash_data(&self, hash: &mut Hash) -> bool {
        self.whole(|f| f.hash_data(hash)).unwrap_or(true)
    }

    pub fn means(&self, theta: &[f64], out: &mut [f64]) {
        if self.whole(|f| f.means(theta, out)).is_err() {
            out.fill(f64::NAN);
        }
    }

    pub fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) {
        if self.whole(|f| f.mean_jacobians(theta, out)).is_err() {
            out.fill(f64::NAN);
        }
    }

    pub fn means_and_jacobians(&self, theta: &[f64], f_bar: &mut [f64], jacobians: &mut [f64]) {
        if self.whole(|f| f.means_and_jacobians(theta, f_bar, jacobians)).is_err() {
            f_bar.fill(f64::NAN);
            jacobians.fill(f64::NAN);
        }
    }

    pub fn means_of(
        &self,
        theta: &[f64],
        terms: &[usize],
        most: usize,
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) {
        if self.whole(|f| f.means_of(theta, terms, most, f_bar, jacobians)).is_err() {
            f_bar.fill(f64::NAN);
            jacobians.fill(f64::NAN);
        }
    }

    pub fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) {
        if self.whole(|f| f.add_weighted_jac_t(theta, w, out)).is_err() {
            out.fill(f64::NAN);
        }
    }

    pub fn snapshot(&self, theta: &[f64], w: &[f64], f_bar: &mut [f64], u: &mut [f64]) {
        if self.whole(|f| f.snapshot(theta, w, f_bar, u)).is_err() {
            f_bar.fill(f64::NAN);
            u.fill(f64::NAN);
        }
    }

    pub fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> f64 {
        self.whole(|f| f.gradient(theta, duals, f_bar, w, out)).unwrap_or_else(|_| {
            f_bar.fill(f64::NAN);
            w.fill(f64::NAN);
            out.fill(f64::NAN);
            f64::NAN
        })
    }
}
