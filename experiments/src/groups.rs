//! Problems with one proportion for each group of rows, drawn quickly enough for gigabytes.

use innermean::merit::Bernoulli;
use innermean::problems::bags::{Bags, Groups, Link};
use innermean::regularizer::{FreeTail, Ridge};
use innermean::{Inner, Problem};
use rayon::prelude::*;

/// What to draw.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// `n_X`
    pub groups: usize,
    /// `n_Y` of every group
    pub rows: usize,
    /// Features of a row
    pub width: usize,
    /// Feature k, from 1, is scaled by 1/k.
    pub scaled: bool,
}

/// The weight of the ridge on the coefficients.
pub const RIDGE: f64 = 1e-6;

/// Logistic bags with their cross-entropy and a small ridge.
pub type Proportions = Problem<Bags, Bernoulli, FreeTail<Ridge>>;

/// `y_ij = s (m_i + e_ij)` with standard normal centres times 0.7 and standard normal rows; the
/// proportion of a group is the average of `sigmoid(<y_ij, theta*> + 0.3)` and a little noise,
/// theta* standard normal.
pub fn draw(shape: Shape, seed: u64) -> (Proportions, Vec<f64>) {
    let Shape { groups, rows, width, scaled } = shape;
    let mut model = Draws(seed);
    let theta: Vec<f64> = (0..width)
        .map(|_| model.normal() / (if scaled { 1.0 } else { (width as f64).sqrt() }))
        .collect();
    let scale: Vec<f64> =
        (0..width).map(|k| if scaled { 1.0 / (k + 1) as f64 } else { 1.0 }).collect();
    let mut table = vec![0.0; groups * rows * width];
    let mut labels = vec![0.0; groups];
    table.par_chunks_mut(rows * width).zip(&mut labels).enumerate().for_each(
        |(i, (rows, label))| {
            let mut draws = Draws(
                seed.wrapping_mul(1_000_003) ^ (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            );
            let centre: Vec<f64> = (0..width).map(|_| 0.7 * draws.normal()).collect();
            let mut sum = 0.0;
            let count = rows.len() / width;
            for row in rows.chunks_exact_mut(width) {
                let mut score = 0.3;
                for k in 0..width {
                    row[k] = scale[k] * (centre[k] + draws.normal());
                    score += row[k] * theta[k];
                }
                sum += 1.0 / (1.0 + (-score).exp());
            }
            *label = (sum / count as f64 + 0.02 * draws.normal()).clamp(0.02, 0.98);
        },
    );
    let starts = (0..=groups).map(|i| i * rows).collect();
    let average = labels.iter().sum::<f64>() / groups as f64;
    let inner =
        Bags::new(Groups::new(width, table, starts, true).expect("whole groups"), Link::Logistic);
    let start = inner.start(average);
    let regularizer = FreeTail::new(Ridge::from_weight(RIDGE).expect("a weight"), inner.d() - 1);
    (Problem { inner, merit: Bernoulli::new(labels).expect("proportions"), regularizer }, start)
}

/// splitmix64, and normal numbers by Box and Muller.
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}
