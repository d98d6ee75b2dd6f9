//! Problems whose sizes and condition number can be set one by one.

use innermean::draws::Stream;
use innermean::elementary::Elementary;
use innermean::{Bounds, Facts, Fused, Inner, Passes, Sample, ScalarMerit};

/// Where draws of data begin, far from those of the methods.
const STREAM: u64 = 2000;

/// `f_theta(x_i, y_ij) = shape(A_ij theta + b_ij)`, coordinate by coordinate, with `|A_ij| <= 1`
/// (Frobenius), reached.
#[derive(Debug, Clone)]
pub(super) struct Units {
    size: Size,
    shape: Shape,
    /// `A_ij` as ell rows of d, all i and j one after the other.
    rows: Vec<f64>,
    offsets: Vec<f64>,
}

/// How large a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) d: usize,
    pub(super) ell: usize,
    pub(super) n_x: usize,
    pub(super) n_y: usize,
    /// Whether all i have the same sample.
    pub(super) shared: bool,
}

/// What is done to a row's product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nothing: f is affine.
    Line,
    /// `log(1 + e^t)`: f is convex, and not affine.
    Softplus,
}

impl Units {
    /// Random rows: a centre for each term, and samples scattered around it; coordinate l is scaled
    /// by `10^(-spread l/(d-1))`.
    pub(super) fn random(size: Size, shape: Shape, spread: f64, seed: u64) -> Self {
        let Size { d, ell, n_x, n_y, shared } = size;
        let mut draws = Stream::new(seed, STREAM);
        let mut unit = || 2.0 * draws.unit() - 1.0;
        let scales: Vec<f64> =
            (0..d).map(|l| 10_f64.to_power(-spread * l as f64 / (d.max(2) - 1) as f64)).collect();
        let terms = if shared { 1 } else { n_x };
        let (mut rows, mut offsets) = (Vec::with_capacity(terms * n_y * ell * d), Vec::new());
        for _ in 0..terms {
            let centre: Vec<f64> = (0..ell * d).map(|_| unit()).collect();
            for _ in 0..n_y {
                rows.extend(
                    centre
                        .iter()
                        .zip(scales.iter().cycle())
                        .map(|(c, scale)| scale * (c + 0.5 * unit())),
                );
                offsets.extend((0..ell).map(|_| unit()));
            }
        }
        let square = |block: &[f64]| block.iter().map(|a| a * a).sum::<f64>();
        let longest = rows.chunks_exact(ell * d).map(square).fold(0.0, f64::max).sqrt();
        for a in &mut rows {
            *a /= longest;
        }
        Units { size, shape, rows, offsets }
    }

    /// The first number of pair (i, j) among the offsets.
    fn place(&self, i: usize, j: usize) -> usize {
        let Size { ell, n_y, shared, .. } = self.size;
        ((if shared { 0 } else { i }) * n_y + j) * ell
    }

    fn row(&self, place: usize) -> &[f64] {
        &self.rows[place * self.size.d..(place + 1) * self.size.d]
    }

    /// `<a, theta> + b`
    fn product(&self, theta: &[f64], place: usize) -> f64 {
        self.row(place).iter().zip(theta).map(|(a, t)| a * t).sum::<f64>() + self.offsets[place]
    }
}

impl Inner for Units {
    fn d(&self) -> usize {
        self.size.d
    }

    fn ell(&self) -> usize {
        self.size.ell
    }

    fn n_x(&self) -> usize {
        self.size.n_x
    }

    fn n_y(&self, _: usize) -> usize {
        self.size.n_y
    }

    fn facts(&self) -> Facts {
        let sample = if self.size.shared { Sample::Shared } else { Sample::Own };
        let mut facts = Facts::default().with_sample(sample);
        facts.affine = self.shape == Shape::Line;
        // With a phi that rises, as that of the curved problems here does.
        facts.convex = true;
        facts
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let place = self.place(i, j);
        for (c, out) in out.iter_mut().enumerate() {
            let t = self.product(theta, place + c);
            *out = match self.shape {
                Shape::Line => t,
                Shape::Softplus => t.max(0.0) + (-t.abs()).exponential().natural_log_1p(),
            };
        }
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let place = self.place(i, j);
        for (k, w) in w.iter().enumerate() {
            let slope = match self.shape {
                Shape::Line => 1.0,
                Shape::Softplus => 1.0 / (1.0 + (-self.product(theta, place + k)).exponential()),
            };
            let scale = c * w * slope;
            out.iter_mut().zip(self.row(place + k)).for_each(|(out, a)| *out += scale * a);
        }
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Units {
    fn f(&self) -> &dyn Inner {
        self
    }
}

impl Passes for Units {
    /// Rows are at most 1 long; the slope of the softplus is at most 1, and that of its slope at
    /// most 1/4.
    fn bounds(&self) -> Bounds {
        let b_theta = if self.shape == Shape::Line { 0.0 } else { 0.25 };
        Bounds { b_f: Some(1.0), b_theta: Some(b_theta), mean_jacobian: Some(1.0) }
    }
}

/// `phi_i(u) = (s_i/2) (u - t_i)^2`, with `s_i` in (1/2, 1].
#[derive(Debug, Clone)]
pub(super) struct Targets {
    weights: Vec<f64>,
    targets: Vec<f64>,
}

impl Targets {
    /// Random ones.
    pub(super) fn random(n_x: usize, seed: u64) -> Self {
        let mut draws = Stream::new(seed, STREAM + 1);
        let weights = (0..n_x).map(|_| 1.0 - 0.5 * draws.unit()).collect();
        let targets = (0..n_x).map(|_| 2.0 * draws.unit() - 1.0).collect();
        Targets { weights, targets }
    }
}

impl ScalarMerit for Targets {
    fn phi(&self, i: usize, u: f64) -> f64 {
        0.5 * self.weights[i] * (u - self.targets[i]).powi(2)
    }

    fn slope(&self, i: usize, u: f64) -> f64 {
        self.weights[i] * (u - self.targets[i])
    }

    fn second_derivative(&self, i: usize, _: f64) -> f64 {
        self.weights[i]
    }

    /// `w^2 / (2 s) + t w`
    fn phi_star(&self, i: usize, w: f64) -> f64 {
        w * (0.5 * w / self.weights[i] + self.targets[i])
    }

    fn prox_phi_star(&self, i: usize, alpha: f64, w: f64) -> f64 {
        (w - alpha * self.targets[i]) / (1.0 + alpha / self.weights[i])
    }

    fn max_curvature(&self) -> f64 {
        1.0
    }

    fn max_slope(&self) -> f64 {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use innermean::{CheckOptions, Logistic, Problem, Ridge, check_problem};

    use super::*;

    #[test]
    fn derivatives_conjugates_and_bounds_are_right() {
        for (ell, shared, shape) in
            [(1, false, Shape::Line), (2, true, Shape::Line), (1, false, Shape::Softplus)]
        {
            let size = Size { d: 4, ell, n_x: 5, n_y: 3, shared };
            let inner = Units::random(size, shape, 1.0, 3);
            let regularizer = Ridge::from_weight(0.1).expect("a weight");
            let report = if shape == Shape::Line {
                let merit = Targets::random(5, 3);
                check_problem(&Problem { inner, merit, regularizer }, &CheckOptions::default())
            } else {
                let merit = Logistic::new(vec![-1.0; 5]).expect("labels");
                check_problem(&Problem { inner, merit, regularizer }, &CheckOptions::default())
            };
            assert!(report.is_ok(), "{size:?} {shape:?}: {report}");
        }
    }
}
