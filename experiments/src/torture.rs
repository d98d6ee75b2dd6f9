//! The torture test of the certificates: random problems of every command, loss, penalty,
//! constraint and conditioning, every claim compared with the best point that any method or an
//! independent solver found, evaluated in double-double numbers.
//!
//! The library is used by its doors alone: nothing here knows how a claim was proven.
//! `src/bin/torture.rs` runs any number of problems, the tests beside it a few hundred.

use std::ops::Range;
use std::path::PathBuf;

use rayon::prelude::*;

use self::draw::{Drawn, Kind};
use self::judge::Facts;
use self::report::{Line, Report};

pub mod answer;
pub mod curved;
pub mod descent;
pub mod double_double;
pub mod draw;
pub mod judge;
pub mod limits;
pub mod objective;
pub mod penalty;
pub mod report;
pub mod rival;
pub mod runs;
#[cfg(test)]
mod tests;

/// Which problems, and who solves them.
#[derive(Debug, Clone, Default)]
pub struct Torture {
    /// Of all draws.
    pub seed: u64,
    /// Problems of this kind alone.
    pub only: Option<Kind>,
    /// The command line, which is asked beside the library where it has such problems.
    pub program: Option<PathBuf>,
}

impl Torture {
    /// Problems of these numbers.
    pub fn report(&self, numbers: Range<u64>) -> Report {
        let asked = |k: &u64| self.only.is_none_or(|only| draw::kind(*k) == only);
        let numbers: Vec<u64> = numbers.filter(asked).collect();
        let lines = numbers.into_par_iter().map(|number| self.line(number)).collect();
        Report { seed: self.seed, lines }
    }

    /// Problem `number`, all its runs judged.
    pub fn line(&self, number: u64) -> Line {
        let seed = self.seed;
        let (kind, (conditioning, _)) = (draw::kind(number), draw::conditioning(seed, number));
        let mut line = Line {
            number,
            kind,
            conditioning,
            words: String::new(),
            refused: None,
            unbounded: false,
            near: true,
            behind: 0.0,
            runs: Vec::new(),
        };
        match draw::draw(seed, number) {
            Err(refused) => line.refused = Some(refused.to_string()),
            Ok(Drawn { words, case, truth, files }) => {
                let mut runs = runs::all(&case, seed, number);
                if let (Some(program), Some(files)) = (&self.program, &files) {
                    runs.push(runs::of_program(program, files, seed, number));
                }
                let facts = Facts::gather(&truth, &runs);
                line.words = words;
                (line.unbounded, line.near, line.behind) =
                    (facts.unbounded, facts.near, facts.behind);
                line.runs = runs.iter().filter_map(|run| facts.judge(&truth, run)).collect();
            }
        }
        line
    }
}
