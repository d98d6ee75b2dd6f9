//! A non-convex problem: groups of rows of which the part that is positive is known, and a network
//! of one hidden layer that says how likely each row is.

use innermean::draws::Stream;
use innermean::merit::Bernoulli;
use innermean::{Bounds, Choice, Facts, Fused, Inner, Objective, Passes, Problem, Ridge};

use super::cases::Normal;
use super::contest::{pass, run};

/// Rows of features in groups of one size, and hidden units.
#[derive(Debug)]
pub struct Network {
    width: usize,
    hidden: usize,
    rows: usize,
    features: Vec<f64>,
}

fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

impl Network {
    fn row(&self, i: usize, j: usize) -> &[f64] {
        let at = (i * self.rows + j) * self.width;
        &self.features[at..at + self.width]
    }

    /// Of a hidden unit: its weights, its bias and its own weight in the score.
    fn unit<'t>(&self, theta: &'t [f64], h: usize) -> (&'t [f64], f64, f64) {
        let at = h * (self.width + 2);
        (&theta[at..at + self.width], theta[at + self.width], theta[at + self.width + 1])
    }

    fn activation(&self, theta: &[f64], h: usize, row: &[f64]) -> f64 {
        let (weights, bias, _) = self.unit(theta, h);
        (bias + weights.iter().zip(row).map(|(w, x)| w * x).sum::<f64>()).tanh()
    }

    fn score(&self, theta: &[f64], row: &[f64]) -> f64 {
        let units =
            (0..self.hidden).map(|h| self.unit(theta, h).2 * self.activation(theta, h, row));
        theta[self.d() - 1] + units.sum::<f64>()
    }
}

impl Inner for Network {
    fn d(&self) -> usize {
        self.hidden * (self.width + 2) + 1
    }

    fn n_x(&self) -> usize {
        self.features.len() / (self.rows * self.width)
    }

    fn n_y(&self, _: usize) -> usize {
        self.rows
    }

    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        out[0] = sigmoid(self.score(theta, self.row(i, j)));
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let row = self.row(i, j);
        let p = sigmoid(self.score(theta, row));
        let slope = c * w[0] * p * (1.0 - p);
        let last = self.d() - 1;
        out[last] += slope;
        for h in 0..self.hidden {
            let a = self.activation(theta, h, row);
            let inside = slope * self.unit(theta, h).2 * (1.0 - a * a);
            let out = &mut out[h * (self.width + 2)..(h + 1) * (self.width + 2)];
            out.iter_mut().zip(row).for_each(|(out, x)| *out += inside * x);
            out[self.width] += inside;
            out[self.width + 1] += slope * a;
        }
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Network {
    fn f(&self) -> &dyn Inner {
        self
    }
}

impl Passes for Network {
    fn bounds(&self) -> Bounds {
        Bounds::default()
    }
}

/// Groups, rows of each, features and hidden units: 1013 weights.
pub const SIZE: [usize; 4] = [100, 100, 20, 46];

/// A network learns what another one says, and where it starts.
pub fn draw(seed: u64) -> (Problem<Network, Bernoulli, Ridge>, Vec<f64>) {
    let [groups, rows, width, hidden] = SIZE;
    let mut draws = Normal::new(seed, 0);
    let mut features = Vec::with_capacity(groups * rows * width);
    for _ in 0..groups {
        let centre: Vec<f64> = (0..width).map(|_| 0.7 * draws.normal()).collect();
        for _ in 0..rows {
            features.extend(centre.iter().map(|c| c + draws.normal()));
        }
    }
    let inner = Network { width, hidden, rows, features };
    let weights = |scale: f64, draws: &mut Normal| -> Vec<f64> {
        let (inside, outside) = ((width as f64).sqrt(), (hidden as f64).sqrt());
        let of = |at: usize| if at % (width + 2) > width { outside } else { inside };
        (0..inner.d()).map(|at| scale * draws.normal() / of(at)).collect()
    };
    let truth = weights(3.0, &mut draws);
    let start = weights(1.0, &mut draws);
    let mut labels = Vec::new();
    for i in 0..groups {
        let mut out = [0.0];
        let mut sum = 0.0;
        for j in 0..rows {
            inner.value(&truth, i, j, &mut out);
            sum += out[0] / rows as f64;
        }
        labels.push((sum + 0.02 * draws.normal()).clamp(0.02, 0.98));
    }
    let merit = Bernoulli::new(labels).expect("proportions");
    let ridge = Ridge::from_weight(RIDGE).expect("a weight");
    (Problem::new(inner, merit, ridge).expect("lengths that fit"), start)
}

/// The weight of the ridge.
const RIDGE: f64 = 1e-4;

/// Passes after which objectives are compared.
pub const AFTER: [f64; 2] = [20.0, 50.0];

/// The least objective of a method within each number of passes.
pub fn least(problem: Objective<'_>, start: &[f64], name: &str, choice: &Choice) -> [f64; 2] {
    let Some(solution) = run(problem, start, name, choice, None, (AFTER[1], f64::INFINITY)) else {
        return [f64::INFINITY; 2];
    };
    AFTER.map(|passes| {
        let most = passes * pass(problem);
        let seen = solution.trace.iter().filter(|record| record.calls.total() as f64 <= most);
        seen.map(|record| record.objective).fold(f64::INFINITY, f64::min)
    })
}

/// Kingma and Ba's Adam, on gradients of `batch` whole groups at a time, which are unbiased: the
/// least objective at the end of a pass within each number of passes.
pub fn adam(problem: Objective<'_>, start: &[f64], step: f64, batch: usize, seed: u64) -> [f64; 2] {
    const DECAYS: [f64; 2] = [0.9, 0.999];
    let f = problem.inner;
    let (d, n_x) = (f.d(), f.n_x());
    let (mut theta, mut m, mut v) = (start.to_vec(), vec![0.0; d], vec![0.0; d]);
    let mut draws = Stream::new(seed, 9000);
    let (mut calls, mut k, mut whole) = (0.0, 0, 0.0);
    let mut best = [f64::INFINITY; 2];
    let (mut gradient, mut value, mut w) = (vec![0.0; d], [0.0], [0.0]);
    while calls <= AFTER[1] * pass(problem) {
        gradient.fill(0.0);
        for _ in 0..batch {
            let i = draws.index(n_x);
            let n_y = f.n_y(i);
            let mut mean = [0.0];
            for j in 0..n_y {
                f.value(&theta, i, j, &mut value);
                mean[0] += value[0] / n_y as f64;
            }
            problem.merit.gradient(i, &mean, &mut w);
            let share = 1.0 / (batch * n_y) as f64;
            (0..n_y).for_each(|j| f.add_jac_t(&theta, i, j, &w, share, &mut gradient));
            calls += (2 * n_y + 1) as f64;
        }
        gradient.iter_mut().zip(&theta).for_each(|(g, theta)| *g += RIDGE * theta);
        k += 1;
        for l in 0..d {
            m[l] = DECAYS[0] * m[l] + (1.0 - DECAYS[0]) * gradient[l];
            v[l] = DECAYS[1] * v[l] + (1.0 - DECAYS[1]) * gradient[l] * gradient[l];
            let (m, v) = (m[l] / (1.0 - DECAYS[0].powi(k)), v[l] / (1.0 - DECAYS[1].powi(k)));
            theta[l] -= step * m / (v.sqrt() + 1e-8);
        }
        if calls >= whole {
            whole += pass(problem);
            let objective = problem.objective(&theta);
            for (best, after) in best.iter_mut().zip(AFTER) {
                if calls <= after * pass(problem) && objective < *best {
                    *best = objective;
                }
            }
        }
    }
    best
}
