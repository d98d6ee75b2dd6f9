//! The flags that say what comes out, shared by every solving command.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;

use crate::flags::number;
use crate::report::PictureFlags;

/// What to print and what to write.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    /// Print one JSON object instead of the tables
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the course of the run to a file, one JSON object a line: outer, inner, calls, rows,
    /// seconds, objective, optimality, epochs and a proven gap, where there is one
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Evaluate, trace and stop also within an outer iteration, every STEPS inner steps
    #[arg(long, value_name = "STEPS", value_parser = steps, allow_hyphen_values = true)]
    pub(crate) trace_every: Option<NonZeroU64>,

    #[command(flatten)]
    pub(crate) pictures: PictureFlags,
}

fn steps(text: &str) -> Result<NonZeroU64, String> {
    number::positive_count(text).map(|n| NonZeroU64::MIN.saturating_add(n - 1))
}
