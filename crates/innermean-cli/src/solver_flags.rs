//! The flags that every solving command shares: method, steps, start, stopping.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use innermean::choice::Mirror;
use innermean::{Choice, METHODS, Reference, StepRule, Stop};

use crate::checkpoint::CheckpointFlags;
use crate::number;
use crate::start::Start;

/// The name of no method: the problem decides.
pub(crate) const AUTO: &str = "auto";

/// How to solve, and when to stop.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct SolverFlags {
    /// The method; auto takes what suits the problem, and says which and why
    #[arg(long, value_name = "NAME", default_value = AUTO, value_parser = method_names())]
    pub(crate) method: String,

    /// The rule that finds steps and M of SVRPDA-I and II; a value given by hand goes before the rule's, and makes automatic ones scaled [default: automatic]
    #[arg(long, value_name = "RULE", value_enum)]
    pub(crate) steps: Option<Steps>,

    /// The primal step [default: by the rule]
    #[arg(long, value_name = "STEP", value_parser = number::positive, allow_hyphen_values = true)]
    pub(crate) alpha_theta: Option<f64>,

    /// The dual step [default: by the rule]
    #[arg(long, value_name = "STEP", value_parser = number::positive, allow_hyphen_values = true)]
    pub(crate) alpha_w: Option<f64>,

    /// M, the inner steps of an outer iteration [default: by the rule]
    #[arg(long, value_name = "M", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) inner_iterations: Option<usize>,

    /// The inner iterate that becomes the next reference point [default: by the rule]
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(crate) reference: Option<ReferenceChoice>,

    /// Outer iterations of plain stochastic steps before the first pass over the data
    #[arg(long, value_name = "N", value_parser = number::size, allow_hyphen_values = true)]
    pub(crate) warmup_epochs: Option<usize>,

    /// Inner samples that a step draws for an average; in SPDC, duals that a step changes
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) batch: Option<usize>,

    /// Inner samples that a step draws for a mean Jacobian
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) jacobian_batch: Option<usize>,

    /// Outer terms that a step draws
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) outer_batch: Option<usize>,

    /// The weight of what is new in a running average
    #[arg(long, value_name = "WEIGHT", value_parser = number::positive, allow_hyphen_values = true)]
    pub(crate) averaging: Option<f64>,

    /// How far a step looks ahead: the factor of the last change
    #[arg(long, value_name = "FACTOR", value_parser = number::non_negative, allow_hyphen_values = true)]
    pub(crate) extrapolation: Option<f64>,

    /// Pairs of differences that L-BFGS keeps
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) memory: Option<usize>,

    /// The distance in which ALEXR's dual step is measured
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(crate) mirror: Option<MirrorChoice>,

    /// Where to begin: zeros, uniform (each coordinate uniform in [0, 1), by the seed), or a file with one number for each
    /// coordinate; what --json prints is such a file
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
}

/// When to stop; whatever comes first.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Stopping")]
pub(crate) struct StopFlags {
    /// Solved when theta is proven to be within TOL of the optimum, relative to the objective's scale; where that cannot be proven, when the
    /// relative stationarity is at most TOL. The output says which
    #[arg(long, value_name = "TOL", default_value = "1e-6", value_parser = number::positive)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) tolerance: f64,

    /// Solved when the objective is at most this
    #[arg(long, value_name = "VALUE", value_parser = number::finite, allow_hyphen_values = true)]
    pub(crate) target_objective: Option<f64>,

    /// Stop after so many outer iterations, warm-up included
    #[arg(long, value_name = "N", default_value = "10000", value_parser = number::positive_count)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) max_outer: u64,

    /// Stop after so many oracle calls (values of f, products with f', values of phi), such as 1e8; a pass over the data that has
    /// begun is finished
    #[arg(long, value_name = "N", value_parser = number::positive_count, allow_hyphen_values = true)]
    pub(crate) max_calls: Option<u64>,

    /// Stop after so many seconds from the command's start: reading, generating and searching take their part of them; what takes longer by itself,
    /// such as a pass over the data that has begun, is finished
    #[arg(long, value_name = "SECONDS", value_parser = number::positive, allow_hyphen_values = true)]
    pub(crate) max_seconds: Option<f64>,
}

impl SolverFlags {
    /// What was said about the method.
    pub(crate) fn choice(&self) -> Choice {
        Choice {
            rule: self.steps.map(StepRule::from),
            alpha_theta: self.alpha_theta,
            alpha_w: self.alpha_w,
            inner_iterations: self.inner_iterations,
            reference: self.reference.map(Reference::from),
            warmup_epochs: self.warmup_epochs,
            batch: self.batch,
            jacobian_batch: self.jacobian_batch,
            outer_batch: self.outer_batch,
            averaging: self.averaging,
            extrapolation: self.extrapolation,
            memory: self.memory,
            mirror: self.mirror.map(Mirror::from),
            seed: self.seed,
        }
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

/// [`StepRule`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Steps {
    /// Found anew at each pass over the data; the default
    Automatic,
    /// From the scale of the problem, once
    Scaled,
    /// Theorem 1 of Devraj and Chen (Option I); needs --l2
    Theorem1,
    /// Theorem 2 (Option II); needs --l2
    Theorem2,
    /// Theorem 3; for problems with one inner sample for each outer term
    Theorem3,
}

impl From<Steps> for StepRule {
    fn from(steps: Steps) -> Self {
        match steps {
            Steps::Automatic => StepRule::Automatic,
            Steps::Scaled => StepRule::Scaled,
            Steps::Theorem1 => StepRule::Theorem1,
            Steps::Theorem2 => StepRule::Theorem2,
            Steps::Theorem3 => StepRule::Theorem3,
        }
    }
}

/// [`Reference`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReferenceChoice {
    /// Option I: the last one
    Last,
    /// Option II: one drawn at random
    Random,
    /// The average of all, with averaged duals: for risks with a kink, where it is the default
    Average,
}

impl From<ReferenceChoice> for Reference {
    fn from(choice: ReferenceChoice) -> Self {
        match choice {
            ReferenceChoice::Last => Reference::Last,
            ReferenceChoice::Random => Reference::Random,
            ReferenceChoice::Average => Reference::Average,
        }
    }
}

/// [`Mirror`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MirrorChoice {
    /// The square of the distance
    Euclidean,
    /// The Bregman distance of the conjugate, which needs no prox
    Conjugate,
}

impl From<MirrorChoice> for Mirror {
    fn from(choice: MirrorChoice) -> Self {
        match choice {
            MirrorChoice::Euclidean => Mirror::Euclidean,
            MirrorChoice::Conjugate => Mirror::Conjugate,
        }
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
