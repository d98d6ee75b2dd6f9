//! The probabilities of several classes: softmax of their scores.

use innermean::collapse::Row;
use innermean::elementary::Elementary;

/// The coefficients of every class, each with its intercept at the end if there is one.
pub(crate) struct Probabilities {
    classes: Vec<Vec<f64>>,
}

impl Probabilities {
    /// From the coefficients of class after class, d of each, and then the intercepts.
    pub(crate) fn new(theta: &[f64], d: usize, classes: usize) -> Self {
        let (heads, tail) = theta.split_at(d * classes);
        let of_class = |c: usize| {
            let mut own = heads[c * d..(c + 1) * d].to_vec();
            own.extend(tail.get(c));
            own
        };
        Probabilities { classes: (0..classes).map(of_class).collect() }
    }

    /// How many numbers a row has, with a 1 at its end for the intercept if there is one.
    pub(crate) fn width(&self) -> usize {
        self.classes.first().map_or(0, Vec::len)
    }

    /// Adds those of a row, which has a 1 at its end if there is an intercept.
    pub(crate) fn add(&self, row: Row<'_>, out: &mut Vec<f64>) {
        let first = out.len();
        out.extend(self.classes.iter().map(|theta| row.dot(theta)));
        let own = &mut out[first..];
        let largest = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for score in own.iter_mut() {
            *score = (*score - largest).exponential();
        }
        let sum: f64 = own.iter().sum();
        for p in own {
            *p /= sum;
        }
    }
}
