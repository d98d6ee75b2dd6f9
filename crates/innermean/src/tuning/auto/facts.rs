//! What a choice rests on, looked up as it is needed: a small problem is solved in less time than
//! all of it takes.

use super::cost::Price;
use crate::certificate::hessian;
use crate::certificate::prover::FEW_PRODUCTS;
use crate::methods::{self, newton};
use crate::model::inner::{Inner, Sample, mean_support, pieces};
use crate::model::problem::Objective;

/// Structure and sizes of a problem.
pub(super) struct Facts<'p>(pub(super) Objective<'p>);

/// The share of the free memory that stored mean Jacobians may take,
const MEMORY_SHARE: f64 = 0.25;
/// and bytes that every machine has.
const LITTLE_MEMORY: f64 = 64e6;

/// Passes that a Hessian costs above which L-BFGS comes before Newton's method, and where the rows
/// are fewer than this many for each coordinate; see `experiments/results/auto.md`.
const DEAR_HESSIAN: f64 = 17.0;
const DEAR_HESSIAN_OF_FEW_ROWS: f64 = 6.0;
const FEW_ROWS: f64 = 10.0;

impl Facts<'_> {
    pub(super) fn affine(&self) -> bool {
        self.0.inner.facts().affine
    }

    /// How many classes f has scores of, if phi ties them together.
    pub(super) fn classes(&self) -> Option<usize> {
        hessian::ties_classes(self.0).then(|| self.0.inner.ell())
    }

    /// Many small calls of f take long.
    pub(super) fn calls_are_dear(&self) -> bool {
        self.0.inner.facts().calls_are_dear
    }

    /// f is all of F, of data that are elsewhere.
    pub(super) fn is_summed(&self) -> bool {
        self.0.inner.summed().is_some()
    }

    /// phi has no kink.
    pub(super) fn smooth(&self) -> bool {
        !self.0.merit.has_kinks()
    }

    /// g is no more than a ridge and a linear term.
    pub(super) fn quadratic_regularizer(&self) -> bool {
        (0..self.d()).all(|l| self.0.regularizer.coordinate(l).is_some_and(|part| part.is_smooth()))
    }

    /// Along how many coordinates g has a kink at 0.
    pub(super) fn kinks(&self) -> usize {
        methods::info::kinks(self.0)
    }

    /// It has along nearly all.
    pub(super) fn mostly_kinks(&self) -> bool {
        methods::info::is_mostly_kinks(self.0)
    }

    /// g is a sum of logarithms.
    pub(super) fn logarithms(&self) -> bool {
        methods::direct::quadratic::has_logarithms(self.0)
    }

    /// g has constraints on theta as a whole, whose prox is a program of its own.
    pub(super) fn constrained(&self) -> bool {
        self.0.regularizer.constraints().is_some()
    }

    pub(super) fn d(&self) -> usize {
        self.0.inner.d()
    }

    pub(super) fn n_x(&self) -> usize {
        self.0.inner.n_x()
    }

    /// Numbers of all averages, `n_X ell`.
    pub(super) fn averages(&self) -> usize {
        self.n_x() * self.0.inner.ell()
    }

    /// A term looks at few coordinates, and says which.
    pub(super) fn sparse(&self) -> bool {
        self.n_x() > 0 && self.0.inner.support(0).is_some()
    }

    /// Samples for each outer term that a pass over the data looks at, on average.
    pub(super) fn samples(&self) -> usize {
        pieces(&self.0.inner) / self.n_x().max(1)
    }

    /// Whether there are so few coordinates that Newton's method has a matrix.
    pub(super) fn moderate(&self) -> bool {
        let f = &self.0.inner;
        newton::is_moderate(self.d(), pieces(f) * f.ell(), mean_support(f))
    }

    /// No two terms share their rows.
    pub(super) fn has_own_rows(&self) -> bool {
        let f = self.0.inner;
        f.facts().sample == Sample::Own && pieces(f) <= f.rows().all as usize
    }

    /// What Newton's method costs where f is not affine or has scores of classes, if it and L-BFGS
    /// take turns.
    pub(super) fn price(&self) -> Option<Price> {
        let is_plain = self.affine() && self.classes().is_none();
        let is_settled = is_plain || !self.smooth() || self.calls_are_dear();
        if is_settled || !self.moderate() {
            return None;
        }
        self.suited("newton").and(self.suited("lbfgs"))?;
        Some(Price::of(self.0.inner))
    }

    /// The same, if it is so much that L-BFGS comes first. Where terms share their rows, a pass
    /// finds what they have in common once, and a Hessian for each of them; with few rows for each
    /// coordinate, Gauss-Newton's steps are many.
    pub(super) fn costly_newton(&self) -> Option<Price> {
        let f = self.0.inner;
        let rows = f.rows().all as usize;
        let is_costly = |price: &Price| {
            let has_few = (rows as f64) < FEW_ROWS * self.d() as f64;
            pieces(f) > 2 * rows
                || price.hessian > if has_few { DEAR_HESSIAN_OF_FEW_ROWS } else { DEAR_HESSIAN }
        };
        self.price().filter(is_costly)
    }

    /// Whether the problem is so small that a proof makes a Gram matrix at every point close to the
    /// optimum, so that a method of few points is ahead.
    pub(super) fn proof_is_cheap(&self) -> bool {
        let (n, d) = (self.averages() as f64, self.d() as f64);
        n * d * n.min(d) <= FEW_PRODUCTS
    }

    /// Whether all mean Jacobians fit into a part of the memory that is free, where the system
    /// tells how much that is.
    pub(super) fn jacobians_fit(&self) -> bool {
        let f = &self.0.inner;
        let support = f.support_sizes().map_or(self.n_x() * self.d(), |(sum, _)| sum);
        let bytes = 8.0 * (f.ell() * support) as f64;
        bytes <= LITTLE_MEMORY || free_memory().is_none_or(|free| bytes <= MEMORY_SHARE * free)
    }

    /// The method of that name, if it is there and suits.
    pub(super) fn suited(&self, name: &str) -> Option<&'static str> {
        let row = methods::info(name).ok()?;
        row.missing(self.0).is_none().then_some(row.name)
    }
}

/// Bytes that new work may take without swapping, where the system tells.
fn free_memory() -> Option<f64> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024.0 * kilobytes)
}
