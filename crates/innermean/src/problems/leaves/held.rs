//! Leaves in memory, and passes that are tried again.

use rayon::prelude::*;

use super::{Leaf, Partial, Shard, Want, merge};
use crate::model::inner::Lost;

/// Leaves that are held in memory, with all threads on a pass.
#[derive(Debug)]
pub struct Held(pub Vec<Leaf>);

impl Shard for Held {
    fn pass(&self, theta: &[f64], want: Want) -> Result<Vec<Partial>, Lost> {
        Ok(merge(self.0.par_iter().map(|leaf| leaf.pass(theta, want)).collect()))
    }
}

/// Asks again for a pass that was lost, a limited number of times in all.
#[derive(Debug)]
pub struct Retried<S> {
    /// Whom to ask.
    pub shard: S,
    /// How often, at least once.
    pub times: usize,
}

impl<S: Shard> Shard for Retried<S> {
    fn pass(&self, theta: &[f64], want: Want) -> Result<Vec<Partial>, Lost> {
        let again = (1..self.times).find_map(|_| self.shard.pass(theta, want).ok());
        again.map_or_else(|| self.shard.pass(theta, want), Ok)
    }
}
