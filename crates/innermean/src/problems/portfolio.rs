//! The risk-averse portfolio: the paper's equation (4) with the identification (6).
//!
//! Rows `x_i` in `R^d` are the returns of d assets in period i. With `m = (1/n) sum_i x_i`,
//!
//! ```text
//! min over theta of  -<m, theta> + (1/n) sum_i phi( <x_i - m, theta> ) + g(theta)
//! f_theta(x_i, y_ij) = <x_i - x_j, theta>,  n_X = n_Y = n,  ell = 1
//! ```
//!
//! `phi = c u^2` is the variance with risk aversion c, `c min(u, 0)^2` the semivariance, `c |u|`
//! the mean absolute deviation, Huber's function between the first and the third. The expected
//! return is a linear tilt of g.
//!
//! f is affine and separable, `<x_i, theta> - <x_j, theta>`, so that a snapshot is one sweep over
//! the n rows. Periods may have weights, and a benchmark may be subtracted from every return
//! (`portfolio/scenarios.rs`): `f_theta(x_i, y_ij) = <x_i - omega_j x_j, theta> - (z_i - zbar)`.

use std::ops::Range;
use std::sync::OnceLock;

use crate::linalg::blocks::Blocks;
use crate::linalg::gram;
use crate::linalg::vector::{axpy, distance_squared, dot, update};
use crate::model::inner::CommonGram;
use crate::model::problem::Problem;
use crate::model::regularizer::Tilted;
use crate::model::row_data::RowData;
use crate::model::setting::InvalidSetting;
use crate::tuning::choice::Choice;

mod condensed;
mod queries;
mod scenarios;
mod shared;

/// The f of the portfolio.
#[derive(Debug, Clone)]
pub struct Portfolio {
    d: usize,
    n: usize,
    /// n rows of d
    returns: RowData,
    /// The mean of these rows: m, unless they are moved
    mean: Vec<f64>,
    /// m, where the rows are moved by [`Portfolio::about`]
    moved: Option<Moved>,
    /// `omega_i`, of mean 1; none where all are 1
    weights: Vec<f64>,
    /// `z_i`; none without a benchmark
    benchmark: Vec<f64>,
    /// `-(z_i - zbar)`, what the benchmark adds to the averages
    offsets: Vec<f64>,
    /// `max_i |x_i - m|`, once asked for
    reach: OnceLock<f64>,
    /// `sum_i (x_i - m) (x_i - m)'`, where many problems share the periods
    products: Option<CommonGram>,
    /// The same once somebody asks, where it is made at once
    squares: OnceLock<Vec<f64>>,
}

/// A Gram matrix of up to this many products takes a few milliseconds, and is kept.
const FEW_PRODUCTS: f64 = 2e8;

/// Rows that are not where the returns are.
#[derive(Debug, Clone)]
struct Moved {
    /// m
    mean: Vec<f64>,
    /// [`Facts::roundings`](crate::Facts::roundings)
    roundings: u32,
}

impl Portfolio {
    /// Takes `returns` as rows of length `d`: a vector, memory that is shared, or rows that are
    /// read when they are looked at.
    ///
    /// # Errors
    /// Unless there is at least one whole row, of finite numbers.
    pub fn new(d: usize, returns: impl Into<RowData>) -> Result<Self, InvalidSetting> {
        Self::of(d, returns.into())
    }

    fn of(d: usize, returns: RowData) -> Result<Self, InvalidSetting> {
        if d == 0 || returns.is_empty() || !returns.is_of(d) {
            return Err(InvalidSetting::new(
                "returns",
                format!("{} numbers in rows of {d}", returns.len()),
                "at least one whole row of at least one number",
            ));
        }
        let n = returns.len() / d;
        let mean = scenarios::mean(d, &returns, &[]);
        // A sum with something in it that is no finite number is none either.
        if !mean.iter().all(|m| m.is_finite())
            && let Some((bad, x)) = returns.first_bad(d)
        {
            let place = format!("{x} in row {}, column {}", bad / d, bad % d);
            return Err(InvalidSetting::new("returns", place, "finite numbers"));
        }
        // Rows that are made of them, such as losses, may be made when they are looked at.
        let returns = returns.into_shared();
        let (weights, benchmark, offsets) = (Vec::new(), Vec::new(), Vec::new());
        let (reach, squares) = (OnceLock::new(), OnceLock::new());
        let (moved, products) = (None, None);
        Ok(Portfolio {
            d,
            n,
            returns,
            mean,
            moved,
            weights,
            benchmark,
            offsets,
            reach,
            products,
            squares,
        })
    }

    /// The whole problem with merit phi, expected return as tilt, and g for whatever else is asked
    /// of theta.
    ///
    /// # Errors
    /// If the returns are so large that their mean is not finite.
    pub fn problem<P, G>(
        self,
        merit: P,
        g: G,
    ) -> Result<Problem<Portfolio, P, Tilted<G>>, InvalidSetting> {
        let tilt = self.mean_returns().iter().map(|m| -m).collect();
        Ok(Problem { inner: self, merit, regularizer: Tilted::new(g, tilt)? })
    }

    /// m, the expected return of each asset.
    pub fn mean_returns(&self) -> &[f64] {
        self.moved.as_ref().map_or(&self.mean, |moved| &moved.mean)
    }

    /// The mean of [`Self::returns`], which deviations are from.
    pub fn mean_row(&self) -> &[f64] {
        &self.mean
    }

    /// The returns, n rows of d.
    pub fn returns(&self) -> &RowData {
        &self.returns
    }

    /// `<m, theta>`
    pub fn expected_return(&self, theta: &[f64]) -> f64 {
        dot(self.mean_returns(), theta)
    }

    /// What the paper chose for its portfolios: appendix "Hyper-parameter choices for algorithms".
    /// Its SVRPDA-I and II begin with one epoch of plain steps, as the authors' scripts do and the
    /// paper does not say.
    pub fn paper_choice(&self, method: &str) -> Option<Choice> {
        let step =
            |alpha_theta: f64| Choice { alpha_theta: Some(alpha_theta), ..Choice::default() };
        let inner_iterations = Some(self.n);
        match method {
            "svrpda1" | "svrpda2" => Some(Choice {
                alpha_w: Some(100.0),
                inner_iterations,
                warmup_epochs: Some(1),
                ..step(0.0003)
            }),
            // K = n, A = 6
            "comp-svrg1" => Some(Choice { inner_iterations, batch: Some(6), ..step(0.0003) }),
            // K = n, A = B = 3
            "comp-svrg2" => Some(Choice {
                inner_iterations,
                batch: Some(3),
                jacobian_batch: Some(3),
                ..step(0.0004)
            }),
            "gd" => Some(step(0.01)),
            _ => None,
        }
    }

    /// Whether returns deviate from their mean by about one, as daily returns in percent do: only
    /// then do the steps of [`Self::paper_choice`] make sense. Within a factor of 5.
    pub fn is_of_papers_scale(&self) -> bool {
        let sum = Blocks::new(self.n, self.d).sum(
            #[inline(always)]
            |i| self.with_row(i, |row| distance_squared(row, &self.mean)),
        );
        let deviation = (sum / self.returns.len() as f64).sqrt();
        (0.2..5.0).contains(&deviation)
    }

    /// `max_i |x_i - m|`
    fn reach(&self) -> f64 {
        *self.reach.get_or_init(|| {
            let distance = |i| self.with_row(i, |row| distance_squared(row, &self.mean).sqrt());
            self.blocks().max(|| (), |(), i| distance(i))
        })
    }

    /// `sum_i (x_i - m) (x_i - m)'`, found once; None where that is dear or too large a number.
    fn squares(&self) -> Option<&[f64]> {
        let products = (self.n * self.d) as f64 * self.d as f64;
        if products > FEW_PRODUCTS || !self.weights.is_empty() {
            return None;
        }
        let made = || gram::of_data(self.d, &self.returns, Some(&self.mean), &|_| 1.0);
        let squares = self.squares.get_or_init(made);
        let mut diagonal = squares.iter().step_by(self.d + 1);
        diagonal.all(|x| x.is_finite()).then_some(squares)
    }

    /// `omega_j`
    #[inline(always)]
    fn weight(&self, j: usize) -> f64 {
        if self.weights.is_empty() { 1.0 } else { self.weights[j] }
    }

    /// Adds what the benchmark does to the averages of some terms, less `shared`.
    #[inline(always)]
    fn shift(&self, terms: Range<usize>, shared: f64, f_bar: &mut [f64]) {
        update(f_bar, |value| value - shared);
        if !self.offsets.is_empty() {
            axpy(1.0, &self.offsets[terms], f_bar);
        }
    }

    fn blocks(&self) -> Blocks {
        Blocks::new(self.n, self.d)
    }

    #[inline(always)]
    fn with_row<R>(&self, i: usize, work: impl FnOnce(&[f64]) -> R) -> R {
        self.returns.with(self.d, i..i + 1, work)
    }

    #[inline(always)]
    fn with_rows<R>(&self, range: Range<usize>, work: impl FnOnce(&[f64]) -> R) -> R {
        self.returns.with(self.d, range, work)
    }
}
