//! What a choice rests on.

use crate::inner::{Inner, pieces};
use crate::merit::Merit;
use crate::methods::METHODS;
use crate::problem::ErasedProblem;

/// Structure and sizes of a problem.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) affine: bool,
    /// phi has no kink.
    pub(super) smooth: bool,
    pub(super) d: usize,
    pub(super) n_x: usize,
    /// Of all averages, `n_X ell`.
    pub(super) averages: usize,
    /// Numbers in all mean Jacobians: `n_X ell d`, or fewer where a term looks at few coordinates.
    pub(super) numbers: usize,
    /// Samples that a pass over the data looks at.
    pub(super) samples: usize,
    /// Bytes that are free, where the machine says so.
    pub(super) memory: Option<u64>,
    /// The methods that suit.
    suited: Vec<&'static str>,
}

impl Facts {
    pub(super) fn of(problem: &ErasedProblem<'_>) -> Self {
        let f = &problem.inner;
        let (d, n_x, ell) = (f.d(), f.n_x(), f.ell());
        let sparse = n_x > 0 && f.support(0).is_some();
        let support = |i| f.support(i).map_or(d, <[u32]>::len);
        Facts {
            affine: f.structure().affine,
            smooth: !problem.merit.has_kinks(),
            d,
            n_x,
            averages: n_x * ell,
            numbers: if sparse { ell * (0..n_x).map(support).sum::<usize>() } else { n_x * ell * d },
            samples: pieces(f),
            memory: free_memory(),
            suited: METHODS.iter().filter(|row| row.missing(problem).is_none()).map(|row| row.name).collect(),
        }
    }

    /// The method of that name, if it is there and suits.
    pub(super) fn suited(&self, name: &str) -> Option<&'static str> {
        self.suited.iter().find(|row| **row == name).copied()
    }
}

/// Bytes that new work may take without swapping, where the system tells.
fn free_memory() -> Option<u64> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
