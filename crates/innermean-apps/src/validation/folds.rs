//! Which fold a row or group is in.

use innermean::draws::Stream;

use super::ValidationError;
use crate::error::Error;

/// A fold for each row, or for each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    /// The fold of each unit.
    of: Vec<u32>,
    count: usize,
}

impl Folds {
    /// This many folds of nearly the same size, drawn by the seed; `strata` says for each unit
    /// which others it is alike (its class), and these are spread evenly over the folds.
    ///
    /// # Errors
    /// Unless there are two folds or more, and no more than units.
    pub fn draw(strata: &[u32], folds: usize, seed: u64) -> Result<Self, Error> {
        let units = strata.len();
        if !(2..=units).contains(&folds) {
            return Err(ValidationError::Folds { folds, units, unit: "row or group" }.into());
        }
        let mut order: Vec<usize> = (0..units).collect();
        let mut draws = Stream::new(seed, STREAM);
        for last in (1..units).rev() {
            order.swap(last, draws.index(last + 1));
        }
        order.sort_by_key(|&unit| strata[unit]);
        let mut of = vec![0; units];
        for (k, unit) in order.into_iter().enumerate() {
            of[unit] = (k % folds) as u32;
        }
        Ok(Folds { of, count: folds })
    }

    /// A fold for each number that occurs, in their order.
    ///
    /// # Errors
    /// If there is one alone.
    pub fn of_codes(codes: &[u32]) -> Result<Self, Error> {
        let mut different = codes.to_vec();
        different.sort_unstable();
        different.dedup();
        if different.len() < 2 {
            return Err(ValidationError::OneFold.into());
        }
        let fold = |code: &u32| different.partition_point(|other| other < code) as u32;
        Ok(Folds { of: codes.iter().map(fold).collect(), count: different.len() })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many rows or groups are parted.
    pub fn units(&self) -> usize {
        self.of.len()
    }

    /// The rows or groups outside of a fold, and those in it.
    pub fn parted(&self, fold: usize) -> (Vec<usize>, Vec<usize>) {
        (0..self.of.len()).partition(|&unit| self.of[unit] as usize != fold)
    }
}

/// Of the draws that part rows, apart from those of methods.
const STREAM: u64 = 0x_f01d;
