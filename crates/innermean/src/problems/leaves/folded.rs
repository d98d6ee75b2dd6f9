//! F behind a fold, as the f of a problem of one term.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::{LEAF, Shape, Shard, Want, fold};
use crate::draws::Stream;
use crate::linalg::vector::{axpy, dot, norm_squared, update};
use crate::model::inner::{Columns, Duals, Facts, Fused, Inner, Lost, Passes, Rows, Summed};
use crate::model::merit::Merit;
use crate::model::problem::Problem;
use crate::model::regularizer::Regularizer;
use crate::run::checkpoint::Hash;

/// Points of which a pass is remembered: a method, the judge and a proof ask for the same few.
const KEPT: usize = 4;
/// Coordinates up to which the curvature comes from a Hessian; beyond, from this many
/// differences of gradients.
const BY_HESSIAN: usize = 256;
const DIFFERENCES: usize = 4;
const ITERATIONS: usize = 20;
/// For what they leave out.
const MARGIN: f64 = 1.05;
/// Partial sums within a leaf, and what a tree over leaves and the rest adds.
const PARTS: usize = 128;
const TREE: usize = 64;

/// F of data in leaves, as an f with one term: `f_theta = F(theta)`, and [`Whole`] is its phi.
pub struct Folded<'s> {
    shard: &'s dyn Shard,
    shape: Shape,
    terms: f64,
    rows: u64,
    /// In root mean square, the offsets before the columns; none where they are not known.
    sizes: Vec<f64>,
    known: Mutex<VecDeque<Arc<Known>>>,
    /// The last Hessian, and where it was found.
    matrix: Mutex<Option<Matrix>>,
}

/// A point, and `F''` there.
type Matrix = (Vec<f64>, Arc<Vec<f64>>);

/// What a pass has found at a point.
struct Known {
    theta: Vec<f64>,
    loss: f64,
    /// Of duals, in root mean square.
    slopes: f64,
    gradient: Vec<f64>,
}

/// What [`Want::Survey`] comes to over all leaves: a pass that counts terms and measures columns.
///
/// # Errors
/// If a leaf is lost, or there are no terms.
pub fn survey(shard: &dyn Shard, shape: &Shape) -> Result<Vec<f64>, Lost> {
    let survey = fold(shard.pass(&[], Want::Survey)?, shape, Want::Survey)?;
    if survey[0] >= 1.0 { Ok(survey) } else { Err(Lost::new("the leaves", "they have no terms")) }
}

impl<'s> Folded<'s> {
    /// Of a shard that holds all leaves.
    ///
    /// # Errors
    /// If the pass that counts terms is lost.
    pub fn new(shard: &'s dyn Shard, shape: Shape) -> Result<Self, Lost> {
        let survey = survey(shard, &shape)?;
        Ok(Folded::surveyed(shard, shape, &survey))
    }

    /// The same where [`survey`] has been made.
    ///
    /// # Panics
    /// If that was one of another problem.
    pub fn surveyed(shard: &'s dyn Shard, shape: Shape, survey: &[f64]) -> Self {
        assert_eq!(survey.len(), Want::Survey.len(shape.d), "a survey of this problem");
        let terms = survey[0];
        let size = |square: &f64| (square / terms).sqrt();
        Folded {
            shard,
            terms,
            rows: survey[1] as u64,
            sizes: if shape.affine { survey[2..].iter().map(size).collect() } else { Vec::new() },
            known: Mutex::default(),
            matrix: Mutex::default(),
            shape,
        }
    }

    /// This with its phi and a g.
    pub fn problem<G: Regularizer>(self, g: G) -> Problem<Self, Whole, G> {
        let merit = Whole::of(&self.shape);
        Problem { inner: self, merit, regularizer: g }
    }

    /// How many terms there are behind the one.
    pub fn terms(&self) -> u64 {
        self.terms as u64
    }

    /// And how many rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn sums(&self, theta: &[f64], want: Want) -> Result<Vec<f64>, Lost> {
        fold(self.shard.pass(theta, want)?, &self.shape, want)
    }

    /// F and F' at a point, by a pass unless it is one of the last.
    fn at(&self, theta: &[f64]) -> Result<Arc<Known>, Lost> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.iter().find(|known| known.theta == theta) {
            return Ok(found.clone());
        }
        let mut sums = self.sums(theta, Want::Gradient)?;
        update(&mut sums, |sum| sum / self.terms);
        let found = Arc::new(Known {
            theta: theta.to_vec(),
            loss: sums[0],
            slopes: sums[1].sqrt(),
            gradient: sums.split_off(2),
        });
        known.push_front(found.clone());
        known.truncate(KEPT);
        Ok(found)
    }

    fn matrix(&self, theta: &[f64]) -> Result<Arc<Vec<f64>>, Lost> {
        let mut known = self.matrix.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = known.as_ref().filter(|(at, _)| at == theta) {
            return Ok(found.clone());
        }
        let sums = self.sums(theta, Want::Hessian)?;
        let (d, mut from) = (theta.len(), 0);
        let mut matrix = vec![0.0; d * d];
        for row in 0..d {
            for (column, sum) in sums[from..=from + row].iter().enumerate() {
                let entry = sum / self.terms;
                (matrix[row * d + column], matrix[column * d + row]) = (entry, entry);
            }
            from += row + 1;
        }
        let found = Arc::new(matrix);
        *known = Some((theta.to_vec(), found.clone()));
        Ok(found)
    }
}

impl Summed for Folded<'_> {
    fn has_hessian(&self) -> bool {
        self.shape.has_hessian()
    }

    fn hessian(&self, theta: &[f64]) -> Result<Vec<f64>, Lost> {
        Ok(self.matrix(theta)?.to_vec())
    }

    /// The largest eigenvalue of `F''`, by power iterations.
    fn smoothness(&self, theta: &[f64]) -> Result<f64, Lost> {
        let d = theta.len();
        let mut draws = Stream::new(1, STREAM);
        let mut v: Vec<f64> = (0..d).map(|_| draws.unit() - 0.5).collect();
        let matrix =
            if self.has_hessian() && d <= BY_HESSIAN { Some(self.matrix(theta)?) } else { None };
        let step = 1e-5 * (1.0 + norm_squared(theta).sqrt());
        let mut eigenvalue = 0.0;
        for _ in 0..if matrix.is_some() { ITERATIONS } else { DIFFERENCES } {
            let norm = norm_squared(&v).sqrt();
            if norm == 0.0 {
                return Ok(0.0);
            }
            update(&mut v, |x| x / norm);
            v = if let Some(matrix) = &matrix {
                matrix.chunks_exact(d).map(|row| dot(row, &v)).collect()
            } else {
                let mut ahead = theta.to_vec();
                axpy(step, &v, &mut ahead);
                let (here, there) = (self.at(theta)?, self.at(&ahead)?);
                let slopes = there.gradient.iter().zip(&here.gradient);
                slopes.map(|(there, here)| (there - here) / step).collect()
            };
            eigenvalue = norm_squared(&v).sqrt();
        }
        Ok(MARGIN * eigenvalue)
    }

    fn slopes(&self, theta: &[f64]) -> Result<f64, Lost> {
        Ok(self.at(theta)?.slopes)
    }

    fn columns(&self) -> Option<Columns<'_>> {
        let (offset, sizes) = self.sizes.split_first()?;
        // Groups that lie in several leaves are added up one by one, at most two of a leaf.
        let leaves = self.shape.leaves as f64;
        let roundings = (LEAF + PARTS + TREE) as f64 + 2.0 * leaves;
        // The mean of a group is one of rows in leaves.
        let of_average = self.shape.d as f64 + roundings;
        Some(Columns { sizes, offset: *offset, roundings: roundings + of_average, of_average })
    }
}

/// Of the draws for the first vector, far from those that the methods number from 0.
const STREAM: u64 = 2001;

impl Inner for Folded<'_> {
    fn d(&self) -> usize {
        self.shape.d
    }

    fn n_x(&self) -> usize {
        1
    }

    fn n_y(&self, _: usize) -> usize {
        1
    }

    fn facts(&self) -> Facts {
        let mut facts =
            Facts::default().with_rows(Rows { pair: self.rows, all: self.rows, merit: 0 });
        facts.convex = self.shape.convex;
        facts.calls_are_dear = true;
        facts.calls_per_query = self.rows.max(1);
        facts
    }

    fn value(&self, theta: &[f64], _: usize, _: usize, out: &mut [f64]) {
        out[0] = self.at(theta).map_or(f64::NAN, |known| known.loss);
    }

    fn add_jac_t(&self, theta: &[f64], _: usize, _: usize, w: &[f64], c: f64, out: &mut [f64]) {
        match self.at(theta) {
            Ok(known) => axpy(c * w[0], &known.gradient, out),
            Err(_) => out.fill(f64::NAN),
        }
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Folded<'_> {
    fn f(&self) -> &dyn Inner {
        self
    }
}

impl Passes for Folded<'_> {
    fn summed(&self) -> Option<&dyn Summed> {
        Some(self)
    }

    /// By what a pass at one point answers, which tells data apart.
    fn hash_data(&self, hash: &mut Hash) -> Result<bool, Lost> {
        let mut draws = Stream::new(2, STREAM);
        let theta: Vec<f64> = (0..self.shape.d).map(|_| draws.unit() - 0.5).collect();
        let known = self.at(&theta)?;
        hash.word(self.terms as u64);
        hash.word(self.rows);
        hash.number(known.loss);
        hash.numbers(&known.gradient);
        Ok(true)
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        out[0] = self.at(theta)?.loss;
        Ok(())
    }

    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        out.copy_from_slice(&self.at(theta)?.gradient);
        Ok(())
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        axpy(w[0], &self.at(theta)?.gradient, out);
        Ok(())
    }

    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> Result<f64, Lost> {
        let known = self.at(theta)?;
        f_bar[0] = known.loss;
        let loss = duals(0..1, f_bar, w);
        out.iter_mut().zip(&known.gradient).for_each(|(out, slope)| *out = w[0] * slope);
        Ok(loss)
    }
}

/// `phi(u) = u` of an f that is all of F, with the constants of the phi behind it.
#[derive(Debug, Clone, Copy)]
pub struct Whole {
    gamma: f64,
    lipschitz: f64,
    has_seconds: bool,
}

impl Whole {
    /// The phi of [`Folded`] problems of this shape.
    pub fn of(shape: &Shape) -> Self {
        let (gamma, lipschitz) = shape.loss.constants();
        Whole { gamma, lipschitz, has_seconds: shape.has_hessian() }
    }

    /// The same where the phi that leaves of [`Loss::Own`](super::Loss::Own) add up is known.
    #[must_use]
    pub fn behind(self, merit: &dyn Merit) -> Self {
        Whole { gamma: merit.gamma(), lipschitz: merit.lipschitz(1), ..self }
    }
}

impl Merit for Whole {
    fn terms(&self) -> Option<usize> {
        Some(1)
    }

    fn value(&self, _: usize, u: &[f64]) -> f64 {
        u[0]
    }

    fn gradient(&self, _: usize, _: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
    }

    /// It has none itself: those of F are asked of f.
    fn hessian_diagonal(&self, terms: Range<usize>, _: &[f64], out: &mut [f64]) -> bool {
        if self.has_seconds {
            out[..terms.len()].fill(0.0);
        }
        self.has_seconds
    }

    fn conjugate(&self, _: usize, w: &[f64]) -> f64 {
        if w[0] == 1.0 { 0.0 } else { f64::INFINITY }
    }

    fn prox_conjugate(&self, _: usize, _: f64, w: &mut [f64]) {
        w[0] = 1.0;
    }

    fn gamma(&self) -> f64 {
        self.gamma
    }

    fn has_kinks(&self) -> bool {
        false
    }

    fn lipschitz(&self, _: usize) -> f64 {
        self.lipschitz
    }
}
