//! The torture test of the certificates: random problems of every command, loss, penalty, constraint and conditioning, every claim compared with the
//! best point that any method or an independent solver found, evaluated in double-double numbers.
//!
//! The library is used by its doors alone: nothing here knows how a claim was proven. `src/bin/torture.rs` runs any number of problems, the test of the
//! same name a few hundred.

use rayon::prelude::*;

use self::draw::{Drawn, Kind};
use self::judge::Facts;
use self::report::{Line, Report};

pub mod curved;
pub mod descent;
pub mod double_double;
pub mod draw;
pub mod judge;
pub mod objective;
pub mod penalty;
pub mod report;
pub mod rival;
pub mod runs;

/// Problems `numbers` of `seed`, those of `only` a kind if one is given.
pub fn torture(seed: u64, numbers: std::ops::Range<u64>, only: Option<Kind>) -> Report {
    let numbers: Vec<u64> = numbers.filter(|k| only.is_none_or(|only| draw::kind(*k) == only)).collect();
    let lines = numbers.into_par_iter().map(|number| line(seed, number)).collect();
    Report { seed, lines }
}

/// Problem `number` of `seed`, all its runs judged.
pub fn line(seed: u64, number: u64) -> Line {
    let (kind, (conditioning, _)) = (draw::kind(number), draw::conditioning(seed, number));
    let mut line = Line {
        number,
        kind,
        conditioning,
        words: String::new(),
        refused: None,
        unbounded: false,
        near: true,
        runs: Vec::new(),
    };
    match draw::draw(seed, number) {
        Err(refused) => line.refused = Some(refused.to_string()),
        Ok(Drawn { words, case, truth, .. }) => {
            let mut runs = runs::all(&case, seed, number);
            let solutions = runs.iter_mut().filter_map(|run| run.outcome.as_mut().ok()?.as_mut());
            solutions.for_each(|solution| case.unscale(&mut solution.theta));
            let facts = Facts::gather(&truth, &runs);
            line.words = words;
            (line.unbounded, line.near) = (facts.unbounded, facts.near);
            line.runs = runs.iter().filter_map(|run| facts.judge(&truth, run)).collect();
        }
    }
    line
}
