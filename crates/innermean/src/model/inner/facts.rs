//! What is known of an f, as plain data.

use serde::{Deserialize, Serialize};

use super::Inner;

/// What is known of f. A fact changes the cost of a run and never its answer.
///
/// ```
/// use innermean::{Facts, Sample};
///
/// let mut facts = Facts::affine().with_sample(Sample::Shared);
/// facts.calls_are_dear = true;
/// assert!(facts.is_convex());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Facts {
    /// `f = A_ij theta + b_ij`: the Jacobian does not depend on theta.
    pub affine: bool,
    /// How the inner samples of different i are related.
    pub sample: Sample,
    /// Every `phi_i(fbar_i(theta))` is convex in theta, as with a convex f and a phi that never
    /// falls. An affine f need not say so. The distance to the optimum is then bounded, and a wrong
    /// claim here makes that bound wrong.
    pub convex: bool,
    /// `1 - f_theta = f_{-theta}`, as of probabilities by a logistic link: averages that are nearly
    /// 1 have all their digits there.
    pub mirrored: bool,
    /// How many consecutive samples of a term a step may well take at once: they are in random
    /// order, so that a block of them is as good as a random sample, and a block costs little more
    /// than a single one. 1: no more than one.
    pub block: usize,
    /// The mean of a term with its Jacobian ([`Fused::block_mean_and_jacobian`]) costs about as
    /// much as a product with that Jacobian, and `ell = 1`: whole passes then take both at once.
    ///
    /// [`Fused::block_mean_and_jacobian`]: super::Fused::block_mean_and_jacobian
    pub at_once: bool,
    /// What one query of f or f' counts as, in oracle calls: more than one where f stacks several
    /// functions, as [`SharedForm`](crate::SharedForm)s do.
    pub calls_per_query: u64,
    /// The rows of data that a query reads; `None`: one for each pair.
    pub rows: Option<Rows>,
    /// A call has a price of its own, however little it computes: f is an interpreter's, or its
    /// data are on other machines. [`auto`](crate::auto) then avoids methods that make many small
    /// calls.
    pub calls_are_dear: bool,
    /// Units of rounding by which mean products of f's numbers may be off those of the data that
    /// they stand for ([`RowMoments`](crate::RowMoments)). A proof allows for them; 0: f is the
    /// data.
    pub roundings: u32,
}

impl Default for Facts {
    fn default() -> Self {
        Facts {
            affine: false,
            sample: Sample::Own,
            convex: false,
            mirrored: false,
            block: 1,
            at_once: false,
            calls_per_query: 1,
            rows: None,
            calls_are_dear: false,
            roundings: 0,
        }
    }
}

impl Facts {
    /// Those of an affine f, of which nothing else is known.
    #[must_use]
    pub fn affine() -> Self {
        Facts { affine: true, ..Facts::default() }
    }

    /// The same with samples that are related in this way.
    #[must_use]
    pub fn with_sample(self, sample: Sample) -> Self {
        Facts { sample, ..self }
    }

    /// The same with queries that read these rows.
    #[must_use]
    pub fn with_rows(self, rows: Rows) -> Self {
        Facts { rows: Some(rows), ..self }
    }

    /// The same for an f that represents other data up to this many roundings.
    #[must_use]
    pub fn with_roundings(self, roundings: u32) -> Self {
        Facts { roundings, ..self }
    }

    /// Whether every `phi_i(fbar_i(theta))` is convex: f is affine, or says so.
    pub fn is_convex(&self) -> bool {
        self.affine || self.convex
    }
}

/// How the inner samples of different outer indices are related.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sample {
    /// Every i has its own; a snapshot evaluates f at all `sum_i n_Yi` pairs.
    #[default]
    Own,
    /// `f_theta(x_i, y_ij) = f_theta(y_j)`, problem (2) of the paper; a snapshot evaluates f at
    /// `n_Y` points, for i = 0.
    Shared,
    /// `f_theta(x_i, y_ij) = a_theta(x_i) + b_theta(y_j)`; a snapshot evaluates a and b at `n_X +
    /// n_Y` points. Only f can tell a from b: whoever says this overrides the whole-data passes,
    /// which would otherwise visit all pairs.
    Separable,
}

/// Bounds over all theta, i and j. `None`: not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    /// `B_f >= |f'_theta(x_i, y_ij)|`
    pub b_f: Option<f64>,
    /// `B_theta`: a Lipschitz constant of `theta -> f'_theta(x_i, y_ij)`; zero for affine f.
    pub b_theta: Option<f64>,
    /// A bound on `|fbar_i'(theta)|`, the mean Jacobians; at most `B_f`.
    pub mean_jacobian: Option<f64>,
}

/// How much of the data a query reads, in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// By a query of f or f' at one pair.
    pub pair: u64,
    /// By a pass over all pairs.
    pub all: u64,
    /// By a query of phi, where part of the data is kept in it, as in a shared form.
    pub merit: u64,
}

impl dyn Inner + '_ {
    /// The rows of data that a query reads: one for each pair, unless f says otherwise.
    pub fn rows(&self) -> Rows {
        let facts = self.facts();
        facts.rows.unwrap_or_else(|| {
            let all = match facts.sample {
                Sample::Own => self.pairs(),
                Sample::Shared => self.n_y(0),
                Sample::Separable => self.n_x() + self.n_y(0),
            };
            Rows { pair: 1, all: all as u64, merit: 0 }
        })
    }
}
