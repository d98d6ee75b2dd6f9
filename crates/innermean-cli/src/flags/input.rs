//! How large the parts of an input may be: flags that every command has, since a file may come from
//! anywhere.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Result, bail};
use clap::Args;
use innermean::RowData;
use innermean_apps::file_rows::rows_of_file;
use innermean_data::{FileNumbers, Limits};

use crate::flags::number;
use crate::output::human::grouped;

static LIMITS: OnceLock<Limits> = OnceLock::new();

/// Limits beyond which an input is refused.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Input limits")]
#[allow(clippy::struct_field_names, reason = "the flags are called so")]
pub(crate) struct InputFlags {
    /// Refuse lines of more bytes, such as 100M [default: 32M]
    #[arg(long, value_name = "BYTES", value_parser = number::bytes, global = true, hide_short_help = true)]
    max_line: Option<u64>,

    /// Refuse texts in cells, and names, of more bytes [default: 64K]
    #[arg(long, value_name = "BYTES", value_parser = number::bytes, global = true, hide_short_help = true)]
    max_cell: Option<u64>,

    /// Refuse tables of more columns [default: 200000]
    #[arg(long, value_name = "N", value_parser = number::positive_size, global = true, hide_short_help = true)]
    max_columns: Option<usize>,

    /// Refuse packed files that unpack to more than this many times their size, beyond the first
    /// 16M [default: 200]
    #[arg(long, value_name = "TIMES", value_parser = number::positive_count, global = true, hide_short_help = true)]
    max_expansion: Option<u64>,

    /// Refuse data that would take more bytes of memory, such as 8G [default: what is free]
    #[arg(long, value_name = "BYTES", value_parser = number::bytes, global = true, hide_short_help = true)]
    max_memory: Option<u64>,
}

impl InputFlags {
    /// From now on these are [`limits`].
    pub(crate) fn hold(&self) {
        let InputFlags { max_line, max_cell, max_columns, max_expansion, max_memory } = *self;
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut limits = Limits::default();
        limits.line = max_line.map_or(limits.line, size);
        limits.cell = max_cell.map_or(limits.cell, size);
        limits.columns = max_columns.unwrap_or(limits.columns);
        limits.expansion = max_expansion.unwrap_or(limits.expansion);
        limits.memory = max_memory;
        LIMITS.get_or_init(|| limits);
    }
}

/// The limits of this program's run.
pub(crate) fn limits() -> Limits {
    LIMITS.get().copied().unwrap_or_default()
}

/// Whether the rows of a file are read once and not kept: where that is `asked` for, or they would
/// not fit into memory. A flag that needs the rows is a `hindrance`.
pub(crate) fn takes_moments(
    asked: bool,
    file: Option<&Path>,
    hindrance: Option<&str>,
) -> Result<bool> {
    let Some(file) = file else {
        if asked {
            bail!("--moments: speaks of a file; expected a FILE with it");
        }
        return Ok(false);
    };
    if let Some(hindrance) = hindrance {
        if asked {
            bail!("--moments: {hindrance} needs the rows themselves; expected one of the two");
        }
        return Ok(false);
    }
    // What is wrong with a file, its reader says; a pipe is read once.
    let lacks = || limits().lacking_for(file).is_ok_and(|lacking| lacking.is_some());
    Ok(asked || (file.is_file() && lacks()))
}

/// Refuses moments of more columns than memory can hold.
pub(crate) fn moments_fit(file: &Path, columns: usize) -> Result<()> {
    /// Matrices at a time: of pieces that wait to be joined.
    const MATRICES: u64 = 8;
    let bytes = (columns as u64).saturating_pow(2).saturating_mul(8 * MATRICES);
    if let Some((needed, free)) = limits().lacking(bytes, 0) {
        bail!(
            "{}: covariances of {} columns take about {} MB of memory, and {} MB are there; \
             expected fewer columns",
            file.display(),
            grouped(columns as u64),
            grouped(needed / 1_000_000),
            grouped(free / 1_000_000)
        );
    }
    Ok(())
}

/// Refuses to make a product of `sizes` numbers that could not be kept; `flags` are those that say
/// so, with their values.
pub(crate) fn fits_into_memory(flags: &str, sizes: &[usize]) -> Result<()> {
    let numbers = sizes.iter().fold(1_u64, |product, size| product.saturating_mul(*size as u64));
    if let Some((needed, free)) = limits().lacking(numbers.saturating_mul(8), 0) {
        // As many as fit with the copy that the problem makes.
        let most = numbers as f64 * (free as f64 / needed as f64);
        bail!(
            "{flags}: expected sizes that make at most {} numbers, for all of them are kept in \
             memory; more are allowed by --max-memory",
            grouped(most as u64)
        );
    }
    Ok(())
}

/// The rows of a file where they are: mapped into memory where a copy would fit too, with room to
/// spare, for whoever needs one, and otherwise read whenever they are looked at, as a note says.
pub(crate) fn rows_where_they_are(
    numbers: FileNumbers,
    width: usize,
    notes: &mut Vec<String>,
) -> RowData {
    let bytes = size_of::<f64>() * numbers.len();
    let rows = rows_of_file(numbers, width, limits().lacking(bytes as u64, 0).is_none());
    if rows.held().is_none() {
        notes.push(
            "The rows are read from the file whenever they are looked at: they would not fit into \
             memory."
                .to_owned(),
        );
    }
    rows
}

/// Refuses to make a copy of rows that are not in memory if it would not fit; `what` takes one.
pub(crate) fn fits_copied(what: &str, rows: &RowData) -> Result<()> {
    let bytes = (size_of::<f64>() * rows.len()) as u64;
    if rows.held().is_none()
        && let Some((needed, free)) = limits().lacking(bytes / 2, 0)
    {
        bail!(
            "{what} takes a copy of the rows, of {} MB, and {} MB of memory are there; expected \
             fewer rows, or more memory by --max-memory",
            grouped(needed / 1_000_000),
            grouped(free / 1_000_000)
        );
    }
    Ok(())
}
