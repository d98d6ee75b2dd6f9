//! The objectives that are not convex, as their definitions say: groups with a link that bends, and
//! sequences.

use super::double_double::{Dd, Real};
use super::penalty::Penalty;

/// What is made of rows, in whatever numbers.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the formula says what each is")]
pub enum Model {
    /// `mean over the rows of a group of link(score)`
    Groups { groups: Groups, link: Link },
    /// `mean over the rows of a group of softmax(scores)`, with the proportions of classes, class
    /// after class for each group.
    Softmax { groups: Groups, classes: usize, labels: Vec<f64> },
    /// The n-grams of classes of steps.
    Sequences(Sequences),
}

/// A link of one number, with what averages are compared with.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the formula says what each is")]
pub enum Link {
    /// Probabilities, by the cross-entropy to proportions.
    Logistic { proportions: Vec<f64> },
    /// Probabilities, by the square of what they are off proportions.
    LogisticSquare { proportions: Vec<f64> },
    /// Expected counts, by half the deviance for each row.
    Exp { counts: Vec<f64> },
}

/// Rows of features, group after group.
#[derive(Debug, Clone)]
pub struct Groups {
    /// Features of a row.
    pub width: usize,
    /// The rows.
    pub rows: Vec<f64>,
    /// Group i has the rows `starts[i]..starts[i + 1]`.
    pub starts: Vec<usize>,
    /// Whether there is an intercept after the coefficients.
    pub intercept: bool,
}

/// Steps of one sequence after another, and how often n-grams of classes occur.
#[derive(Debug, Clone)]
pub struct Sequences {
    /// Features of a step.
    pub width: usize,
    /// The steps.
    pub rows: Vec<f64>,
    /// How long sequences are.
    pub lengths: Vec<usize>,
    /// Their number.
    pub classes: usize,
    /// The length of an n-gram.
    pub order: usize,
    /// The classes of the n-grams.
    pub ngrams: Vec<u32>,
    /// `p_i`
    pub probabilities: Vec<f64>,
    /// Below this share of `p_i`, the logarithm is continued along its tangent.
    pub floor: f64,
}

/// F with a bending link, and g.
#[derive(Debug, Clone)]
pub struct Curved {
    /// F
    pub model: Model,
    /// g
    pub penalty: Penalty,
}

impl Curved {
    /// `F(theta)`
    pub fn loss<R: Real>(&self, theta: &[R]) -> R {
        match &self.model {
            Model::Groups { groups, link } => groups.loss(link, theta),
            Model::Softmax { groups, classes, labels } => {
                groups.softmax_loss(*classes, labels, theta)
            }
            Model::Sequences(sequences) => sequences.loss(theta),
        }
    }

    /// `P(theta)` in doubles, with every `|x|` of g rounded off over a width of `kink`: what a
    /// search goes down.
    pub fn searched(&self, theta: &[f64], kink: f64) -> f64 {
        let parts = self.penalty.parts.iter().zip(theta);
        let g: f64 = parts.map(|(part, x)| part.l1 * x.hypot(kink) + 0.5 * part.l2 * x * x).sum();
        self.loss(theta) + g
    }

    /// F and g.
    pub fn parts(&self, theta: &[Dd]) -> (Dd, Dd) {
        (self.loss(theta), self.penalty.value(theta))
    }

    /// How large the numbers are whose differences make up the loss, where it vanishes as they
    /// meet: rounding is relative to them. Counts less expected ones, for a row; logarithms of
    /// shares, of either sign.
    pub fn term_size(&self) -> f64 {
        match &self.model {
            Model::Groups { groups, link: Link::Exp { counts } } => {
                counts.iter().sum::<f64>() / groups.starts[groups.count()] as f64
            }
            Model::Sequences(_) => 1.0,
            Model::Groups { .. } | Model::Softmax { .. } => 0.0,
        }
    }

    /// The largest sum of sizes that a score is made of: what rounding of scores is relative to.
    pub fn score_size(&self, theta: &[f64]) -> f64 {
        let sizes = theta.iter().enumerate().map(|(l, x)| x.abs() * self.column_size(l));
        sizes.sum()
    }

    /// How large the numbers of column l are, for a coordinate of theta that multiplies it.
    pub fn column_size(&self, coordinate: usize) -> f64 {
        let (width, rows) = match &self.model {
            Model::Groups { groups, .. } | Model::Softmax { groups, .. } => {
                (groups.width, &groups.rows)
            }
            Model::Sequences(sequences) => (sequences.width, &sequences.rows),
        };
        let column = match &self.model {
            Model::Groups { .. } => (coordinate < width).then_some(coordinate),
            Model::Softmax { classes, .. } => {
                (coordinate < classes * width).then_some(coordinate % width)
            }
            Model::Sequences(_) => {
                let place = coordinate % (width + 1);
                (place < width).then_some(place)
            }
        };
        let Some(column) = column else { return 1.0 };
        let most =
            rows.iter().skip(column).step_by(width).fold(0.0_f64, |most, x| most.max(x.abs()));
        if most > 0.0 { most } else { 1.0 }
    }
}

fn real<R: Real>(x: f64) -> R {
    R::from(x)
}

/// `1 / (1 + e^-t)` to the last digit at both ends.
fn sigmoid<R: Real>(t: R) -> R {
    let one = real::<R>(1.0);
    if t < real(0.0) {
        let e = t.exp();
        e / (one + e)
    } else {
        one / (one + (-t).exp())
    }
}

/// `<x, theta>`
fn product<R: Real>(row: &[f64], theta: &[R]) -> R {
    row.iter().zip(theta).map(|(x, t)| real::<R>(*x) * *t).sum()
}

/// Probabilities in proportion to `e^score`.
fn softmax<R: Real>(scores: &[R]) -> Vec<R> {
    let most = scores.iter().copied().fold(scores[0], |most, s| if s > most { s } else { most });
    let odds: Vec<R> = scores.iter().map(|s| (*s - most).exp()).collect();
    let total: R = odds.iter().copied().sum();
    odds.into_iter().map(|e| e / total).collect()
}

impl Groups {
    /// The number of groups.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn rows_of(&self, i: usize) -> impl Iterator<Item = &[f64]> {
        self.rows[self.starts[i] * self.width..self.starts[i + 1] * self.width]
            .chunks_exact(self.width)
    }

    /// The number of rows of group i.
    pub fn size(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    fn loss<R: Real>(&self, link: &Link, theta: &[R]) -> R {
        let (one, n) = (real::<R>(1.0), self.count());
        let score = |row: &[f64]| {
            let intercept = if self.intercept { theta[self.width] } else { real(0.0) };
            product(row, theta) + intercept
        };
        let mean = |i: usize, of: &dyn Fn(R) -> R| {
            self.rows_of(i).map(|row| of(score(row))).sum::<R>() / real(self.size(i) as f64)
        };
        let term = |i: usize| match link {
            Link::Logistic { proportions } => {
                let q = real::<R>(proportions[i]);
                // 1 - u as an average of its own: nothing is lost where u is nearly 1.
                let part =
                    |weight: R, u: R| if weight == real(0.0) { weight } else { -(weight * u.ln()) };
                part(q, mean(i, &sigmoid)) + part(one - q, mean(i, &|t| sigmoid(-t)))
            }
            Link::LogisticSquare { proportions } => {
                let error = mean(i, &sigmoid) - real(proportions[i]);
                error * error
            }
            Link::Exp { counts } => {
                let (rows, total) = (self.size(i) as f64, self.starts[n] as f64);
                let (c, expected) = (real::<R>(counts[i]), mean(i, &|t: R| t.exp()) * real(rows));
                let log = if counts[i] == 0.0 { real(0.0) } else { c * (c / expected).ln() };
                (expected - c + log) * real(n as f64) / real(total)
            }
        };
        (0..n).map(term).sum::<R>() / real(n as f64)
    }

    fn softmax_loss<R: Real>(&self, classes: usize, labels: &[f64], theta: &[R]) -> R {
        let penalised = classes * self.width;
        let mut loss = real::<R>(0.0);
        for i in 0..self.count() {
            let mut means = vec![real::<R>(0.0); classes];
            for row in self.rows_of(i) {
                let score = |c: usize| {
                    let intercept = if self.intercept { theta[penalised + c] } else { real(0.0) };
                    product(row, &theta[c * self.width..(c + 1) * self.width]) + intercept
                };
                let scores: Vec<R> = (0..classes).map(score).collect();
                means.iter_mut().zip(softmax(&scores)).for_each(|(mean, p)| *mean = *mean + p);
            }
            for (q, mean) in labels[i * classes..(i + 1) * classes].iter().zip(means) {
                if *q > 0.0 {
                    loss = loss - real::<R>(*q) * (mean / real(self.size(i) as f64)).ln();
                }
            }
        }
        loss / real(self.count() as f64)
    }
}

impl Sequences {
    /// `sum_i p_i nl( share of n-gram i / p_i )`, nl the negative logarithm with its tangent below
    /// the floor.
    fn loss<R: Real>(&self, theta: &[R]) -> R {
        let steps: Vec<Vec<R>> = self
            .rows
            .chunks_exact(self.width)
            .map(|row| {
                let score = |theta: &[R]| product(row, theta) + theta[self.width];
                softmax(&theta.chunks_exact(self.width + 1).map(score).collect::<Vec<R>>())
            })
            .collect();
        let mut shares = vec![real::<R>(0.0); self.probabilities.len()];
        let (mut first, mut windows) = (0, 0_u32);
        for &length in &self.lengths {
            for t in first..(first + length + 1).saturating_sub(self.order) {
                windows += 1;
                for (share, ngram) in shares.iter_mut().zip(self.ngrams.chunks_exact(self.order)) {
                    let classes = ngram.iter().enumerate();
                    let p = classes.fold(real::<R>(1.0), |p, (k, c)| p * steps[t + k][*c as usize]);
                    *share = *share + p;
                }
            }
            first += length;
        }
        let floor = real::<R>(self.floor);
        let term = |(share, p): (R, &f64)| {
            let ratio = share / real::<R>(f64::from(windows)) / real(*p);
            let nl =
                if ratio >= floor { -ratio.ln() } else { -floor.ln() - (ratio - floor) / floor };
            nl * real(*p)
        };
        shares.into_iter().zip(&self.probabilities).map(term).sum()
    }
}
