//! What Newton's method knows of `F''`.

use serde::{Deserialize, Serialize};

use crate::linalg::cholesky::Cholesky;
use crate::linalg::gram;
use crate::linalg::vector::{axpy, dot, norm_squared, update_with};
use crate::methods::program::solve;
use crate::model::regularizer::Parts;
use crate::oracle::Oracle;

/// Of the diagonal: the first ridge by which a matrix without full rank is made positive definite.
const RIDGE: f64 = 1e-12;

/// A matrix for the quadratic model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Model {
    /// Cholesky's factor of `P''`, for a smooth g, and that matrix.
    Factor(Cholesky, Vec<f64>),
    /// `B`, close to `F''`, for any other.
    Matrix(Vec<f64>),
    /// The diagonal of `F''`, where d is large.
    Diagonal(Vec<f64>),
}

impl Model {
    /// From `F''`, d rows of length d.
    pub(super) fn dense(mut matrix: Vec<f64>, g: &Parts) -> Self {
        let d = g.parts.len();
        if !g.are_smooth() {
            gram::add_ridge(RIDGE, 1.0, d, &mut matrix);
            return Model::Matrix(matrix);
        }
        for (entry, part) in matrix.iter_mut().step_by(d + 1).zip(&g.parts) {
            *entry += part.l2;
        }
        Self::factored(matrix, d)
    }

    /// With a ridge where the matrix is not positive definite.
    fn factored(mut matrix: Vec<f64>, d: usize) -> Self {
        let mean = matrix.iter().step_by(d + 1).sum::<f64>() / d as f64;
        let mut ridge = RIDGE;
        loop {
            match Cholesky::new(&matrix, d) {
                Ok(factor) => return Model::Factor(factor, matrix),
                // What is no number will not become one.
                Err(_) if !mean.is_finite() => return Model::Diagonal(vec![1.0; d]),
                Err(_) => gram::add_ridge(ridge, 1.0, d, &mut matrix),
            }
            ridge *= 100.0;
        }
    }

    /// Whether this is a model for d coordinates and a g of that kind; there is none at first.
    pub(super) fn fits(&self, d: usize, smooth: bool) -> bool {
        match self {
            Model::Factor(factor, matrix) => smooth && factor.is_of(d) && matrix.len() == d * d,
            Model::Matrix(matrix) => !smooth && matrix.len() == d * d,
            Model::Diagonal(diagonal) => [0, d].contains(&diagonal.len()),
        }
    }

    /// The mean of the diagonal of a matrix; None without one.
    pub(super) fn size(&self, d: usize) -> Option<f64> {
        match self {
            Model::Factor(_, matrix) | Model::Matrix(matrix) => {
                Some(matrix.iter().step_by(d + 1).sum::<f64>() / d as f64)
            }
            Model::Diagonal(_) => None,
        }
    }

    /// Adds to the diagonal of a matrix (Marquardt's damping), `ridge` on the mean: shorter steps,
    /// more along the gradient.
    pub(super) fn damp(&mut self, ridge: f64, d: usize) {
        let share = self.size(d).map_or(0.0, |size| if size > 0.0 { ridge / size } else { 1.0 });
        let add = |mut matrix: Vec<f64>| {
            gram::add_ridge(share, ridge, d, &mut matrix);
            matrix
        };
        *self = match std::mem::replace(self, Model::Diagonal(Vec::new())) {
            Model::Factor(_, matrix) => Self::factored(add(matrix), d),
            Model::Matrix(matrix) => Model::Matrix(add(matrix)),
            Model::Diagonal(diagonal) => Model::Diagonal(diagonal),
        };
    }

    /// From the diagonal of `F''`.
    pub(super) fn diagonal(mut diagonal: Vec<f64>) -> Self {
        let mean = diagonal.iter().sum::<f64>() / diagonal.len().max(1) as f64;
        let least = if mean > 0.0 && mean.is_finite() { RIDGE.sqrt() * mean } else { 1.0 };
        for entry in &mut diagonal {
            *entry = if *entry > least { *entry } else { least };
        }
        Model::Diagonal(diagonal)
    }

    /// `q <- M^-1 q` for a smooth g.
    pub(super) fn solve(&self, g: &Parts, q: &mut [f64]) {
        match self {
            Model::Factor(factor, _) => factor.solve(q),
            Model::Diagonal(diagonal) => {
                for ((q, bend), part) in q.iter_mut().zip(diagonal).zip(&g.parts) {
                    *q /= bend + part.l2;
                }
            }
            Model::Matrix(_) => unreachable!("it is for the other kind of g"),
        }
    }

    /// Moves x to the minimiser of `<F'(x), . - x> + (. - x)' B (. - x) / 2 + g(.)`.
    pub(super) fn minimise(&self, oracle: &Oracle<'_>, g: &Parts, gradient: &[f64], x: &mut [f64]) {
        match self {
            Model::Matrix(matrix) => {
                solve(matrix, gradient, g, |alpha, v, x| oracle.g().step(alpha, v, x), x);
            }
            Model::Diagonal(diagonal) => {
                for (((x, v), bend), part) in x.iter_mut().zip(gradient).zip(diagonal).zip(&g.parts)
                {
                    *x = part.step(1.0 / bend, *v, *x);
                }
            }
            Model::Factor(..) => unreachable!("it is for the other kind of g"),
        }
    }

    /// The BFGS update of B by a pair of differences: `B += y y' / <s, y> - B s (B s)' / <s, B s>`.
    pub(super) fn update(&mut self, s: &[f64], y: &[f64]) {
        let Model::Matrix(matrix) = self else { return };
        let d = s.len();
        let product: Vec<f64> = matrix.chunks_exact(d).map(|row| dot(row, s)).collect();
        let (sy, sbs) = (dot(s, y), dot(s, &product));
        if !(sy > LEAST_COSINE * (norm_squared(s) * norm_squared(y)).sqrt() && sbs > 0.0) {
            return;
        }
        for (row, (y_l, p_l)) in matrix.chunks_exact_mut(d).zip(y.iter().zip(&product)) {
            axpy(y_l / sy, y, row);
            update_with(row, &product, |b, p| b - p_l / sbs * p);
        }
    }
}

/// The least `<s, y> / (|s| |y|)` of a pair.
const LEAST_COSINE: f64 = 1e-8;
