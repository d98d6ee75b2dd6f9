//! Groups of rows with a label each: features with a geometric spectrum, turned out of the axes, so
//! that scaling columns does not help.

use innermean::draws::Stream;
use innermean::merit::{Bernoulli, Poisson};
use innermean::problems::bags::{Bags, Groups, Link};
use innermean::regularizer::{L1, Ridge, Ridged};
use innermean::{
    Absolute, BoxConstraint, BoxedProblem, Inner, Merit, NegativeLog, Problem, Regularizer,
    Simplex, SoftmaxBags, Square,
};

/// What is known of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The part of its rows that is positive, by cross-entropy.
    Proportion,
    /// The same, drawn from so few rows that some are 0 or 1.
    Extreme,
    /// Its events, by the Poisson likelihood.
    Counts,
    /// A proportion, by the square of the error.
    Square,
    /// A proportion, by the absolute error.
    Absolute,
    /// Proportions of three classes, by cross-entropy.
    Classes,
}

impl Loss {
    /// A word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Loss::Proportion => "cross-entropy",
            Loss::Extreme => "cross-entropy, labels of 0 and 1",
            Loss::Counts => "Poisson",
            Loss::Square => "square",
            Loss::Absolute => "absolute",
            Loss::Classes => "cross-entropy of 3 classes",
        }
    }

    /// Whether phi has a kink.
    pub fn has_kinks(self) -> bool {
        self == Loss::Absolute
    }
}

/// What is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Penalty {
    /// A ridge, a hundredth of the least curvature of the features.
    Ridge,
    /// The same with an l1 norm.
    L1,
    /// The same in a box that some coefficients touch.
    Box,
    /// No ridge; coefficients that are not negative and add up to 1.
    Simplex,
}

/// A problem to draw.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Of a group
    pub loss: Loss,
    /// Of the coefficients
    pub penalty: Penalty,
    /// `n_X`
    pub groups: usize,
    /// `n_Y`
    pub rows: usize,
    /// d
    pub width: usize,
    /// Of the covariance of the features
    pub kappa: f64,
    /// Of the logarithm of each group's scale, the standard deviation
    pub tail: f64,
    /// Same seed, same problem.
    pub seed: u64,
}

/// A problem with its name.
pub struct Case {
    /// In a line
    pub name: String,
    /// Whether phi has a kink
    pub kinks: bool,
    /// f, phi and g
    pub problem: BoxedProblem,
}

/// Normal numbers by Box and Muller.
pub struct Normal(Stream);

impl Normal {
    /// Number `stream` of a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        Normal(Stream::new(seed, 7000 + stream))
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Of mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.unit()).cos()
    }
}

/// Reflections that turn the axes.
const REFLECTIONS: usize = 8;
/// Between groups, beside 1 within.
const BETWEEN: f64 = 0.7;

struct Turn(Vec<Vec<f64>>);

impl Turn {
    fn new(width: usize, draws: &mut Normal) -> Self {
        let unit = |mut v: Vec<f64>| {
            let size = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            for v in &mut v {
                *v /= size;
            }
            v
        };
        Turn((0..REFLECTIONS).map(|_| unit((0..width).map(|_| draws.normal()).collect())).collect())
    }

    fn apply(&self, x: &mut [f64]) {
        for v in &self.0 {
            let c = 2.0 * x.iter().zip(v).map(|(x, v)| x * v).sum::<f64>();
            x.iter_mut().zip(v).for_each(|(x, v)| *x -= c * v);
        }
    }
}

fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

impl Shape {
    /// In a line.
    pub fn name(&self) -> String {
        let Shape { loss, penalty, groups, rows, width, kappa, tail, .. } = *self;
        let penalty = match penalty {
            Penalty::Ridge => "",
            Penalty::L1 => ", l1",
            Penalty::Box => ", box",
            Penalty::Simplex => ", simplex",
        };
        let tail = if tail > 0.0 { ", heavy tails" } else { "" };
        format!("{}{penalty}{tail}, {groups} x {rows} x {width}, kappa {kappa:.0e}", loss.word())
    }

    /// Where runs begin: the origin, or the middle of the simplex.
    pub fn start(&self) -> Vec<f64> {
        let middle = if self.penalty == Penalty::Simplex { 1.0 / self.width as f64 } else { 0.0 };
        vec![middle; self.width]
    }

    /// The problem.
    pub fn draw(&self) -> Case {
        let Shape { loss, penalty, groups, rows, width: d, kappa, tail, seed } = *self;
        let classes = if loss == Loss::Classes { 3 } else { 1 };
        let mut model = Normal::new(seed, 0);
        let turn = Turn::new(d, &mut model);
        let root = |k: usize| kappa.powf(-0.5 * k as f64 / (d.max(2) - 1) as f64);
        let strength = if loss == Loss::Counts { 0.5 } else { 1.5 };
        // Every direction has its share of the scores.
        let betas: Vec<Vec<f64>> = (0..classes)
            .map(|_| (0..d).map(|_| strength / (d as f64).sqrt() * model.normal()).collect())
            .collect();
        let (mut table, mut labels) = (vec![0.0; groups * rows * d], Vec::new());
        for (i, block) in table.chunks_exact_mut(rows * d).enumerate() {
            let mut draws = Normal::new(seed, 1 + i as u64);
            let centre: Vec<f64> = (0..d).map(|_| BETWEEN * draws.normal()).collect();
            let scale = if tail > 0.0 { (tail * draws.normal()).exp() } else { 1.0 };
            let mut sums = vec![0.0; classes];
            for row in block.chunks_exact_mut(d) {
                row.iter_mut().zip(&centre).for_each(|(x, c)| *x = c + draws.normal());
                let score = |beta: &Vec<f64>| -> f64 {
                    0.3 + row.iter().zip(beta).map(|(x, b)| x * b).sum::<f64>()
                };
                let scores: Vec<f64> = betas.iter().map(score).collect();
                let total: f64 = scores.iter().map(|s| s.exp()).sum();
                for (sum, score) in sums.iter_mut().zip(&scores) {
                    *sum += match loss {
                        Loss::Counts => score.exp(),
                        Loss::Classes => score.exp() / total,
                        _ => sigmoid(*score),
                    } / rows as f64;
                }
                row.iter_mut().enumerate().for_each(|(k, x)| *x *= scale * root(k));
                turn.apply(row);
            }
            labels.extend(label(loss, &sums, &mut draws));
        }
        let starts = (0..=groups).map(|i| i * rows).collect();
        let all = Groups::new(d, table, starts, false).expect("whole groups");
        let (inner, merit): (Box<dyn Inner>, Box<dyn Merit>) = match loss {
            Loss::Proportion | Loss::Extreme => {
                let merit = Bernoulli::new(labels).expect("proportions");
                (Box::new(Bags::new(all, Link::Logistic)), Box::new(merit))
            }
            Loss::Counts => {
                let exposures = vec![1.0; groups];
                let merit = Poisson::new(labels, exposures, 1.0).expect("counts");
                (Box::new(Bags::new(all, Link::Exp)), Box::new(merit))
            }
            Loss::Square => {
                let f = Bags::with_targets(all, Link::Logistic, labels).expect("targets");
                (Box::new(f), Box::new(Square::new(1.0).expect("a weight")))
            }
            Loss::Absolute => {
                let f = Bags::with_targets(all, Link::Logistic, labels).expect("targets");
                (Box::new(f), Box::new(Absolute::new(1.0).expect("a weight")))
            }
            Loss::Classes => {
                let merit = NegativeLog::new(3, labels).expect("proportions");
                (Box::new(SoftmaxBags::new(all, 3).expect("classes")), Box::new(merit))
            }
        };
        let ridge = Ridge::from_weight(0.01 / kappa).expect("a weight");
        let regularizer: Box<dyn Regularizer> = match penalty {
            Penalty::Ridge => Box::new(ridge),
            Penalty::L1 => Box::new(
                Ridged::new(L1::new(1e-4).expect("a weight"), 0.01 / kappa).expect("a weight"),
            ),
            Penalty::Box => Box::new(
                Ridged::new(BoxConstraint::new(-0.3, 0.3).expect("bounds"), 0.01 / kappa)
                    .expect("a weight"),
            ),
            Penalty::Simplex => Box::new(Simplex),
        };
        let problem = Problem::new(inner, merit, regularizer).expect("lengths that fit");
        Case { name: self.name(), kinks: loss.has_kinks(), problem }
    }
}

/// The label of a group, from what the model says on average.
fn label(loss: Loss, means: &[f64], draws: &mut Normal) -> Vec<f64> {
    let noisy = |mean: f64, draws: &mut Normal| (mean + 0.02 * draws.normal()).clamp(0.02, 0.98);
    match loss {
        Loss::Proportion | Loss::Square | Loss::Absolute => vec![noisy(means[0], draws)],
        Loss::Extreme => {
            let positive = (0..5).filter(|_| draws.unit() < means[0]).count();
            vec![positive as f64 / 5.0]
        }
        Loss::Counts => vec![means[0] * (1.0 + 0.1 * draws.normal()).max(0.2)],
        Loss::Classes => {
            let parts: Vec<f64> = means.iter().map(|mean| noisy(*mean, draws)).collect();
            let sum: f64 = parts.iter().sum();
            parts.iter().map(|part| part / sum).collect()
        }
    }
}

/// The family over whose condition numbers passes are counted.
pub fn family(kappa: f64) -> Shape {
    Shape {
        loss: Loss::Proportion,
        penalty: Penalty::Ridge,
        groups: 50,
        rows: 40,
        width: 20,
        kappa,
        tail: 0.0,
        seed: 1,
    }
}

/// Problems of all kinds.
pub fn all() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut seed = 100;
    let mut add = |loss, penalty, (groups, rows, width): (usize, usize, usize), kappa| {
        seed += 1;
        shapes.push(Shape { loss, penalty, groups, rows, width, kappa, tail: 0.0, seed });
    };
    let smooth = [Loss::Proportion, Loss::Counts, Loss::Square];
    for size in [(30, 40, 20), (100, 100, 20), (100, 600, 50), (500, 100, 100), (1000, 60, 30)] {
        for loss in smooth {
            add(loss, Penalty::Ridge, size, 1e2);
            add(loss, Penalty::Ridge, size, 1e4);
        }
    }
    for loss in smooth {
        for penalty in [Penalty::L1, Penalty::Box] {
            add(loss, penalty, (200, 100, 40), 1e3);
        }
        add(loss, Penalty::Ridge, (40, 500, 1000), 1e3);
        add(loss, Penalty::Ridge, (30, 200, 300), 1e2);
        add(loss, Penalty::Ridge, (50, 10_000, 20), 1e3);
        add(loss, Penalty::Ridge, (100_000, 4, 10), 1e2);
        add(loss, Penalty::Ridge, (10_000, 10, 50), 1e3);
    }
    add(Loss::Extreme, Penalty::Ridge, (200, 100, 10), 1e1);
    add(Loss::Extreme, Penalty::Ridge, (500, 40, 20), 1e2);
    add(Loss::Extreme, Penalty::L1, (500, 40, 20), 1e2);
    for (size, kappa) in [((100, 100, 10), 1e1), ((200, 100, 20), 1e3), ((500, 200, 30), 1e4)] {
        add(Loss::Classes, Penalty::Ridge, size, kappa);
    }
    for (size, kappa) in
        [((100, 100, 10), 1e1), ((200, 200, 20), 1e2), ((60, 1000, 20), 1e3), ((1000, 50, 30), 1e2)]
    {
        add(Loss::Absolute, Penalty::Ridge, size, kappa);
    }
    add(Loss::Absolute, Penalty::L1, (200, 100, 20), 1e2);
    add(Loss::Absolute, Penalty::Box, (200, 100, 20), 1e2);
    shapes
}
