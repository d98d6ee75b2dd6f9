//! A table of vectors, each as it was when last asked for, with their mean: what methods of SAGA's
//! kind keep.

use serde::{Deserialize, Serialize};

use crate::linalg::vector::{axpy, axpy_of_difference};

/// n rows, their mean, and the few rows that have just been asked for anew.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Table {
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    width: usize,
    rows: Vec<f64>,
    mean: Vec<f64>,
    /// Which rows the new ones are; one may be there twice.
    asked: Vec<usize>,
    new: Vec<f64>,
}

impl Table {
    /// n rows of zeros, of which `batch` are asked for at once.
    pub(in crate::methods) fn new(n: usize, width: usize, batch: usize) -> Self {
        Table {
            width,
            rows: vec![0.0; n * width],
            mean: vec![0.0; width],
            asked: vec![0; batch],
            new: vec![0.0; batch * width],
        }
    }

    /// The number of rows.
    pub(in crate::methods) fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    /// How many are asked for at once.
    #[inline(always)]
    pub(in crate::methods) fn batch(&self) -> usize {
        self.asked.len()
    }

    /// The mean of all rows.
    pub(in crate::methods) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Writes all rows and takes their mean.
    pub(in crate::methods) fn fill(&mut self, mut row: impl FnMut(usize, &mut [f64])) {
        for (r, out) in self.rows.chunks_exact_mut(self.width).enumerate() {
            row(r, out);
        }
        self.refresh();
    }

    /// The mean afresh, without the rounding of many updates.
    pub(in crate::methods) fn refresh(&mut self) {
        let share = 1.0 / self.len() as f64;
        self.mean.fill(0.0);
        for row in self.rows.chunks_exact(self.width) {
            axpy(share, row, &mut self.mean);
        }
    }

    /// Where to write the t-th new row, which is to be row r.
    #[inline(always)]
    pub(in crate::methods) fn ask(&mut self, t: usize, r: usize) -> &mut [f64] {
        self.asked[t] = r;
        &mut self.new[t * self.width..(t + 1) * self.width]
    }

    /// `out = mean + mean over the new rows of (new - old)`
    #[inline(always)]
    pub(in crate::methods) fn estimate(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.mean);
        let share = 1.0 / self.batch() as f64;
        for (new, &r) in self.new.chunks_exact(self.width).zip(&self.asked) {
            axpy_of_difference(share, new, &self.rows[r * self.width..(r + 1) * self.width], out);
        }
    }

    /// Puts the new rows in the place of the old ones; the mean follows. One that is there twice
    /// changes nothing the second time.
    #[inline(always)]
    pub(in crate::methods) fn replace(&mut self) {
        let share = 1.0 / self.len() as f64;
        for (new, &r) in self.new.chunks_exact(self.width).zip(&self.asked) {
            let row = &mut self.rows[r * self.width..(r + 1) * self.width];
            axpy_of_difference(share, new, row, &mut self.mean);
            row.copy_from_slice(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asked for twice in one batch, a row counts twice in the estimate and is replaced once.
    #[test]
    fn a_row_that_is_drawn_twice() {
        let mut table = Table::new(4, 2, 3);
        table.fill(|r, row| row.fill(r as f64));
        assert_eq!(table.mean(), [1.5, 1.5]);
        for (t, r) in [(0, 2), (1, 0), (2, 2)] {
            table.ask(t, r).copy_from_slice(&[10.0, r as f64]);
        }
        let mut estimate = [0.0; 2];
        table.estimate(&mut estimate);
        // 1.5 + (8 + 10 + 8) / 3, and no change of the second column
        assert!((estimate[0] - (1.5 + 26.0 / 3.0)).abs() < 1e-12 && estimate[1] == 1.5);
        table.replace();
        assert_eq!(table.mean(), [(10.0 + 1.0 + 10.0 + 3.0) / 4.0, 1.5]);
        let by_updates = table.mean.clone();
        table.refresh();
        assert_eq!(table.mean(), by_updates);
    }
}
