//! Small strongly convex problems whose constants and saddle points are known.

use innermean::draws::Stream;
use innermean::{Bounds, Facts, Fused, Inner, Passes, Problem, Ridge, ScalarMerit, Square};

use super::dense::{Symmetric, dot};

/// `(theta*, w*)`
#[derive(Debug, Clone)]
pub(crate) struct Saddle {
    pub(crate) theta: Vec<f64>,
    pub(crate) w: Vec<f64>,
}

/// Numbers uniform in (-1, 1).
fn symmetric(stream: &mut Stream) -> f64 {
    2.0 * stream.unit() - 1.0
}

/// `f = A_ij theta + b_ij`, ragged in j.
#[derive(Debug, Clone)]
pub(crate) struct Affine {
    d: usize,
    ell: usize,
    /// For each i and j: `A_ij` as ell rows of d, then `b_ij`.
    samples: Vec<Vec<(Vec<f64>, Vec<f64>)>>,
}

impl Affine {
    /// Random entries; term i has `n_y(i)` samples, scattered around a centre of their own.
    pub(crate) fn random(
        d: usize,
        ell: usize,
        n_x: usize,
        n_y: impl Fn(usize) -> usize,
        seed: u64,
    ) -> Self {
        let mut stream = Stream::new(seed, 77);
        let mut numbers = |n: usize, scale: f64| -> Vec<f64> {
            (0..n).map(|_| scale * symmetric(&mut stream)).collect()
        };
        let samples = (0..n_x)
            .map(|i| {
                let centre = numbers(ell * d, 1.0);
                (0..n_y(i))
                    .map(|_| {
                        let scatter = numbers(ell * d, 0.5);
                        (
                            centre.iter().zip(&scatter).map(|(c, s)| c + s).collect(),
                            numbers(ell, 2.0),
                        )
                    })
                    .collect()
            })
            .collect();
        Affine { d, ell, samples }
    }

    /// `(Abar_i, bbar_i)`
    fn average(&self, i: usize) -> (Vec<f64>, Vec<f64>) {
        let n_y = self.samples[i].len() as f64;
        let (mut a_bar, mut b_bar) = (vec![0.0; self.ell * self.d], vec![0.0; self.ell]);
        for (a, b) in &self.samples[i] {
            a_bar.iter_mut().zip(a).for_each(|(mean, a)| *mean += a / n_y);
            b_bar.iter_mut().zip(b).for_each(|(mean, b)| *mean += b / n_y);
        }
        (a_bar, b_bar)
    }

    /// The largest singular value of a matrix of one or two rows, from the eigenvalues of `A A'`.
    fn operator_norm(&self, a: &[f64]) -> f64 {
        let square = match self.ell {
            1 => dot(a, a),
            2 => {
                let (first, second) = a.split_at(self.d);
                let (p, q, r) = (dot(first, first), dot(second, second), dot(first, second));
                0.5 * (p + q) + (0.25 * (p - q) * (p - q) + r * r).sqrt()
            }
            _ => panic!("one or two rows"),
        };
        square.sqrt()
    }
}

impl Inner for Affine {
    fn d(&self) -> usize {
        self.d
    }

    fn ell(&self) -> usize {
        self.ell
    }

    fn n_x(&self) -> usize {
        self.samples.len()
    }

    fn n_y(&self, i: usize) -> usize {
        self.samples[i].len()
    }

    fn facts(&self) -> Facts {
        Facts::affine()
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let (a, b) = &self.samples[i][j];
        for ((out, row), b) in out.iter_mut().zip(a.chunks_exact(self.d)).zip(b) {
            *out = dot(row, theta) + b;
        }
    }

    fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        for (row, w) in self.samples[i][j].0.chunks_exact(self.d).zip(w) {
            out.iter_mut().zip(row).for_each(|(out, a)| *out += c * w * a);
        }
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Affine {
    fn f(&self) -> &dyn Inner {
        self
    }
}

impl Passes for Affine {
    fn bounds(&self) -> Bounds {
        let each = self.samples.iter().flatten().map(|(a, _)| self.operator_norm(a));
        let means = (0..self.n_x()).map(|i| self.operator_norm(&self.average(i).0));
        Bounds {
            b_f: Some(each.fold(0.0, f64::max)),
            b_theta: Some(0.0),
            mean_jacobian: Some(means.fold(0.0, f64::max)),
        }
    }
}

/// `(1/n) sum_i c |Abar_i theta + bbar_i|^2 + (lambda/2) |theta|^2`
pub(crate) fn least_squares(
    f: Affine,
    c: f64,
    lambda: f64,
) -> (Problem<Affine, Square, Ridge>, Saddle) {
    let (d, n) = (f.d, f.n_x() as f64);
    // The normal equations ((2c/n) sum_i Abar_i' Abar_i + lambda I) theta = -(2c/n) sum_i Abar_i'
    // bbar_i.
    let mut matrix = Symmetric::scaled_identity(d, lambda);
    let mut right = vec![0.0; d];
    for i in 0..f.n_x() {
        let (a, b) = f.average(i);
        for (row, b) in a.chunks_exact(d).zip(&b) {
            matrix.add_outer(2.0 * c / n, row);
            right.iter_mut().zip(row).for_each(|(r, a)| *r -= 2.0 * c / n * a * b);
        }
    }
    let theta = matrix.solve(&right);
    // w_i = phi'(fbar_i) = 2c fbar_i
    let w = (0..f.n_x())
        .flat_map(|i| {
            let (a, b) = f.average(i);
            a.chunks_exact(d)
                .zip(b)
                .map(|(row, b)| 2.0 * c * (dot(row, &theta) + b))
                .collect::<Vec<_>>()
        })
        .collect();
    let problem = Problem {
        inner: f,
        merit: Square::new(c).unwrap(),
        regularizer: Ridge::from_weight(lambda).unwrap(),
    };
    (problem, Saddle { theta, w })
}

/// `1 / (1 + e^-t)`
fn sigmoid(t: f64) -> f64 {
    if t >= 0.0 { 1.0 / (1.0 + (-t).exp()) } else { t.exp() / (1.0 + t.exp()) }
}

/// `log(1 + e^t)`
fn softplus(t: f64) -> f64 {
    t.max(0.0) + (-t.abs()).exp().ln_1p()
}

/// `phi(u) = log(1 + e^u)`, `phi*(w) = w ln w + (1-w) ln(1-w)` on [0, 1]: rising, 1/4-smooth, of
/// slope at most 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Softplus;

impl ScalarMerit for Softplus {
    fn phi(&self, _: usize, u: f64) -> f64 {
        softplus(u)
    }

    fn slope(&self, _: usize, u: f64) -> f64 {
        sigmoid(u)
    }

    fn phi_star(&self, _: usize, w: f64) -> f64 {
        let part = |w: f64| if w == 0.0 { 0.0 } else { w * w.ln() };
        if (0.0..=1.0).contains(&w) { part(w) + part(1.0 - w) } else { f64::INFINITY }
    }

    /// `v = sigmoid(t)` for the root t of the rising `alpha t + sigmoid(t) - w`, which lies between
    /// `(w-1)/alpha` and `w/alpha`: Newton's steps, halving the bracket where one leaves it.
    fn prox_phi_star(&self, _: usize, alpha: f64, w: f64) -> f64 {
        let (mut lo, mut hi) = ((w - 1.0) / alpha, w / alpha);
        let mut t = 0.0_f64.clamp(lo, hi);
        for _ in 0..100 {
            let v = sigmoid(t);
            let residual = alpha * t + v - w;
            if residual > 0.0 {
                hi = t;
            } else {
                lo = t;
            }
            let newton = t - residual / (alpha + v * (1.0 - v));
            let next = if (lo..=hi).contains(&newton) { newton } else { 0.5 * (lo + hi) };
            if (next - t).abs() <= 1e-15 * (1.0 + t.abs()) {
                return sigmoid(next);
            }
            t = next;
        }
        sigmoid(t)
    }

    fn max_curvature(&self) -> f64 {
        0.25
    }

    fn max_slope(&self) -> f64 {
        1.0
    }
}

/// `f = log(1 + exp(<a_ij, theta> + b_ij))`: convex, so that `<f, w>` is convex for the duals of a
/// rising phi, `w >= 0`.
#[derive(Debug, Clone)]
pub(crate) struct SoftplusUnits {
    d: usize,
    /// `(a_ij, b_ij)`
    samples: Vec<Vec<(Vec<f64>, f64)>>,
}

impl SoftplusUnits {
    /// Random directions of length at most 1.
    pub(crate) fn random(d: usize, n_x: usize, n_y: impl Fn(usize) -> usize, seed: u64) -> Self {
        let mut stream = Stream::new(seed, 78);
        let mut sample = || {
            let a: Vec<f64> = (0..d).map(|_| symmetric(&mut stream) / (d as f64).sqrt()).collect();
            (a, symmetric(&mut stream))
        };
        SoftplusUnits {
            d,
            samples: (0..n_x).map(|i| (0..n_y(i)).map(|_| sample()).collect()).collect(),
        }
    }

    fn longest(&self) -> f64 {
        self.samples.iter().flatten().map(|(a, _)| dot(a, a).sqrt()).fold(0.0, f64::max)
    }
}

impl Inner for SoftplusUnits {
    fn d(&self) -> usize {
        self.d
    }

    fn n_x(&self) -> usize {
        self.samples.len()
    }

    fn n_y(&self, i: usize) -> usize {
        self.samples[i].len()
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.convex = true;
        facts
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let (a, b) = &self.samples[i][j];
        out[0] = softplus(dot(a, theta) + b);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let (a, b) = &self.samples[i][j];
        let scale = c * w[0] * sigmoid(dot(a, theta) + b);
        out.iter_mut().zip(a).for_each(|(out, a)| *out += scale * a);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for SoftplusUnits {
    fn f(&self) -> &dyn Inner {
        self
    }
}

impl Passes for SoftplusUnits {
    /// `f' = sigmoid(.) a`, `f'' = sigmoid'(.) a a'` with `sigmoid <= 1` and `sigmoid' <= 1/4`.
    fn bounds(&self) -> Bounds {
        let a = self.longest();
        Bounds { b_f: Some(a), b_theta: Some(a * a / 4.0), mean_jacobian: Some(a) }
    }
}

/// `(1/n) sum_i log(1 + exp(fbar_i(theta))) + (lambda/2) |theta|^2` for softplus units f.
pub(crate) fn softplus_of_softplus(
    f: SoftplusUnits,
    lambda: f64,
) -> (Problem<SoftplusUnits, Softplus, Ridge>, Saddle) {
    let d = f.d;
    let n = f.samples.len() as f64;
    // Gradient and Hessian from the chain rule, by hand.
    let derivatives = |theta: &[f64]| {
        let mut gradient: Vec<f64> = theta.iter().map(|t| lambda * t).collect();
        let mut hessian = Symmetric::scaled_identity(d, lambda);
        for samples in &f.samples {
            let n_y = samples.len() as f64;
            let mean = samples.iter().map(|(a, b)| softplus(dot(a, theta) + b)).sum::<f64>() / n_y;
            let slope = sigmoid(mean);
            let mut inner_gradient = vec![0.0; d];
            for (a, b) in samples {
                let p = sigmoid(dot(a, theta) + b);
                inner_gradient.iter_mut().zip(a).for_each(|(g, a)| *g += p * a / n_y);
                hessian.add_outer(slope * p * (1.0 - p) / (n_y * n), a);
            }
            hessian.add_outer(slope * (1.0 - slope) / n, &inner_gradient);
            gradient.iter_mut().zip(&inner_gradient).for_each(|(g, inner)| *g += slope * inner / n);
        }
        (gradient, hessian)
    };
    // Newton's method; a step is halved while it does not shorten the gradient.
    let mut theta = vec![0.0; d];
    for _ in 0..100 {
        let (gradient, hessian) = derivatives(&theta);
        let norm = dot(&gradient, &gradient);
        if norm <= 1e-30 {
            break;
        }
        let direction = hessian.solve(&gradient);
        let at =
            |t: f64| -> Vec<f64> { theta.iter().zip(&direction).map(|(x, v)| x - t * v).collect() };
        let next = (0..30).map(|halvings| at(0.5_f64.powi(halvings))).find(|x| {
            let (g, _) = derivatives(x);
            dot(&g, &g) < norm
        });
        let Some(next) = next else { break };
        theta = next;
    }
    let (gradient, _) = derivatives(&theta);
    assert!(dot(&gradient, &gradient).sqrt() < 1e-12, "Newton's method has found theta*");
    let w = f
        .samples
        .iter()
        .map(|samples| {
            let sum: f64 = samples.iter().map(|(a, b)| softplus(dot(a, &theta) + b)).sum();
            sigmoid(sum / samples.len() as f64)
        })
        .collect();
    let problem =
        Problem { inner: f, merit: Softplus, regularizer: Ridge::from_weight(lambda).unwrap() };
    (problem, Saddle { theta, w })
}
