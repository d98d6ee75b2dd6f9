//! The flags that every solving command shares: method, start, stopping.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use innermean::{Choice, METHODS, Stop};
use innermean_apps::run::AUTO;

use crate::flags::knobs::KnobFlags;
use crate::flags::number;
use crate::run::checkpoint::CheckpointFlags;
use crate::run::start::Start;

/// How to solve, and when to stop.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct SolverFlags {
    /// The method; auto takes what suits the problem, and says which and why
    #[arg(long, value_name = "NAME", default_value = AUTO, value_parser = method_names())]
    pub(crate) method: String,

    /// Where to begin: zeros, uniform (each coordinate uniform in [0, 1), by the seed), or a file
    /// with one number for each coordinate; what --json prints is such a file
    #[arg(long, value_name = "zeros|uniform|FILE", default_value = "zeros")]
    pub(crate) start: Start,

    /// The seed of all random draws: the same seed gives the same bits on any number of threads
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = number::seed, allow_hyphen_values = true)]
    pub(crate) seed: u64,

    /// Threads for the passes over the data; 0 for as many as there are cores
    #[arg(long, value_name = "N", default_value = "0", value_parser = threads, allow_hyphen_values = true)]
    pub(crate) threads: usize,

    #[command(flatten)]
    pub(crate) stop: StopFlags,

    #[command(flatten)]
    pub(crate) checkpoint: CheckpointFlags,

    #[command(flatten)]
    pub(crate) knobs: KnobFlags,
}

/// When to stop; whatever comes first.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Stopping")]
pub(crate) struct StopFlags {
    /// Solved when theta is proven to be within TOL of the optimum, relative to the objective's
    /// scale; where that cannot be proven, when the relative stationarity is at most TOL. The
    /// output says which
    #[arg(long, value_name = "TOL", default_value = "1e-6", value_parser = number::positive)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) tolerance: f64,

    /// Solved when the objective is at most this
    #[arg(long, value_name = "VALUE", value_parser = number::finite, allow_hyphen_values = true)]
    pub(crate) target_objective: Option<f64>,

    /// Stop after N outer iterations, warm-up included
    #[arg(long, value_name = "N", default_value = "10000", value_parser = number::positive_count)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) max_outer: u64,

    /// Stop after N oracle calls (values of f, products with f', values of phi), such as
    /// 1e8; a pass over the data that has begun is finished
    #[arg(long, value_name = "N", value_parser = number::positive_count, allow_hyphen_values = true)]
    pub(crate) max_calls: Option<u64>,

    /// Stop after SECONDS seconds from the command's start: reading, generating and searching
    /// take their part of them; what takes longer by itself, such as a pass over the data that has
    /// begun, is finished
    #[arg(long, value_name = "SECONDS", value_parser = number::positive, allow_hyphen_values = true)]
    pub(crate) max_seconds: Option<f64>,
}

impl SolverFlags {
    /// What was said about the method.
    pub(crate) fn choice(&self) -> Choice {
        Choice { seed: self.seed, ..self.knobs.choice() }
    }
}

impl From<&StopFlags> for Stop {
    fn from(flags: &StopFlags) -> Self {
        Stop {
            max_outer: Some(flags.max_outer),
            max_calls: flags.max_calls,
            max_seconds: flags.max_seconds,
            target_objective: flags.target_objective,
            tolerance: Some(flags.tolerance),
        }
    }
}

/// The names of the library's table, so that a new method needs no word here.
fn method_names() -> PossibleValuesParser {
    let auto = PossibleValue::new(AUTO).help("What suits the problem, with others to fall back on");
    let rows = METHODS
        .iter()
        .map(|row| PossibleValue::new(row.name).help(format!("{}: {}", row.title, row.summary)));
    PossibleValuesParser::new(std::iter::once(auto).chain(rows))
}

/// More threads than any machine has are a slip of the finger, which would take minutes to start.
const MOST_THREADS: usize = 4096;

/// A number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    match number::size(text) {
        Ok(threads) if threads <= MOST_THREADS => Ok(threads),
        _ => Err(format!("expected a whole number from 0 (all cores) to {MOST_THREADS}")),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};
    use innermean::{Choice, Stop};

    use super::SolverFlags;

    #[test]
    fn without_flags_the_library_decides() {
        let matches = SolverFlags::augment_args(Command::new("test")).get_matches_from(["test"]);
        let flags = SolverFlags::from_arg_matches(&matches).expect("no flag is required");
        assert_eq!(Stop::from(&flags.stop), Stop::default());
        assert_eq!(flags.choice(), Choice::default());
    }
}
