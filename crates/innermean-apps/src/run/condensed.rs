//! Rows that are read once and not kept: a quadratic problem needs no more than their moments.

use innermean::RowMoments;

/// Rows that a reader hands over at a time: so many are added up one by one, and what they are
/// rounded by is part of every proof.
pub const PIECE: usize = 1024;
/// Numbers that wait until all threads have something to do.
const WAITING: usize = 1 << 21;

/// Moments of rows as a reader hands them over. The order and the lengths of the pieces determine
/// every bit, the number of threads none.
#[derive(Debug, Default)]
pub struct Collector {
    moments: Option<RowMoments>,
    waiting: Vec<(Vec<f64>, Option<Vec<f64>>)>,
    numbers: usize,
}

impl Collector {
    /// Takes rows of length d, with a weight for each if they do not all count alike.
    ///
    /// # Panics
    /// Unless all rows are whole and have one length.
    pub fn push(&mut self, d: usize, rows: Vec<f64>, weights: Option<Vec<f64>>) {
        self.moments.get_or_insert_with(|| RowMoments::new(d));
        self.numbers += rows.len();
        self.waiting.push((rows, weights));
        if self.numbers >= WAITING {
            self.join();
        }
    }

    fn join(&mut self) {
        if let Some(moments) = &mut self.moments {
            moments.extend(&self.waiting);
        }
        self.waiting.clear();
        self.numbers = 0;
    }

    /// The moments of all rows; of no rows, those of none.
    #[must_use]
    pub fn finish(mut self) -> RowMoments {
        self.join();
        self.moments.unwrap_or_else(|| RowMoments::new(0)).whole()
    }
}
