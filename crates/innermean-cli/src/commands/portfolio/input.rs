//! The file of returns: which columns and rows are taken, and what they are taken for.

use std::path::Path;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use innermean::{RowData, RowMoments};
use innermean_apps::condensed::{Collector, PIECE};
use innermean_apps::penalty::Constraint;
use innermean_data::{Cash, Missing, Panel, Prices, ReadOptions, Returns, generate_factor_model};
use serde::Serialize;

use crate::flags::columns::MissingFlags;
use crate::flags::input::{limits, moments_fit, rows_where_they_are, takes_moments};
use crate::flags::number;

/// The market generated where no file is given.
const GENERATED_ROWS: usize = 7240;
const GENERATED_ASSETS: usize = 25;
/// Of the data, not of the run: `--seed` must not change the problem.
const GENERATED_SEED: u64 = 1;

/// What of the file is taken.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "File")]
pub(crate) struct FileFlags {
    /// Make returns of prices, as fractions; the first row is lost
    #[arg(long, value_name = "KIND", value_enum)]
    prices: Option<PriceChoice>,

    /// The assets, with commas between them: names, or numbers of columns from 1 [default: every
    /// column of numbers that does not label the rows]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<String>,

    /// Columns that are no assets, with commas between them
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', conflicts_with = "columns")]
    except: Vec<String>,

    /// The column of dates [default: the first that looks like it]
    #[arg(long, value_name = "COLUMN")]
    date_column: Option<String>,

    /// Leave out rows before this day, month or year, such as 2015-06-30, 2015-06 or 2015
    #[arg(long, value_name = "DATE")]
    from: Option<String>,

    /// Leave out rows after this day, month or year
    #[arg(long, value_name = "DATE")]
    to: Option<String>,

    /// Leave out assets with fewer values, and the rows that the others do not have in common:
    /// those before the last of them begins and after the first of them ends
    #[arg(long, value_name = "N", value_parser = number::positive_size)]
    min_history: Option<usize>,

    #[command(flatten)]
    pub(super) missing: MissingFlags,

    /// Read the file once and keep only the mean and covariance of its columns: memory does not
    /// grow with the rows, and the answer is the same. For --risk variance [default: where the
    /// file would not fit into memory]
    #[arg(long)]
    pub(super) moments: bool,
}

/// [`Prices`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum PriceChoice {
    /// `p_t / p_(t-1) - 1`
    Simple,
    /// `ln(p_t / p_(t-1))`
    Log,
    /// No prices: the numbers are returns, whatever they look like
    None,
}

/// The flags that were given, as JSON has them.
#[derive(Serialize)]
pub(super) struct FileSettings<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    prices: Option<PriceChoice>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    columns: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    except: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    date_column: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_history: Option<usize>,
}

impl FileFlags {
    /// Reads the file, or generates a market; `missing` takes the place of the flag's. The values
    /// are beside the rest, where they are in the file if that is one of rows.
    pub(super) fn returns(
        &self,
        file: Option<&Path>,
        constraint: Constraint,
        missing: Option<Missing>,
    ) -> Result<(Returns, RowData)> {
        let apart = |mut returns: Returns| {
            let values = std::mem::take(&mut returns.values);
            (returns, values.into())
        };
        let mut options = self.options(constraint);
        options.missing = missing.unwrap_or(options.missing);
        let Some(file) = file else {
            let market = generate_factor_model(GENERATED_ROWS, GENERATED_ASSETS, GENERATED_SEED);
            return Ok(apart(Panel::from(market).returns(&options)?));
        };
        if file == Path::new("-") {
            bail!(
                "-: standard input is not read; expected the path of a file, or no FILE for a \
                 generated market"
            );
        }
        Ok(match limits().map_returns(file, &options)? {
            Some((mut returns, values)) => {
                let width = returns.names.len();
                let rows = rows_where_they_are(values, width, &mut returns.notes);
                (returns, rows)
            }
            None => apart(limits().read_returns(file, &options)?),
        })
    }

    /// Whether the rows of this file are read once and not kept: as asked for, or since they would
    /// not fit into memory; `hindrance` is a flag that needs them.
    pub(super) fn takes_moments(
        &self,
        file: Option<&Path>,
        constraint: Constraint,
        hindrance: Option<&str>,
    ) -> Result<bool> {
        let by_row = self.options(constraint).is_by_row();
        let rows = "--prices, --from, --to, --min-history or --missing drop-columns";
        let hindrance = hindrance.or((!by_row).then_some(rows));
        takes_moments(self.moments, file, hindrance)
    }

    /// The moments of the rows, and names and notes beside them.
    pub(super) fn moments(
        &self,
        file: &Path,
        constraint: Constraint,
    ) -> Result<(Returns, RowMoments)> {
        let mut collector = Collector::default();
        let options = self.options(constraint);
        let mut room = Ok(());
        let mut hand = |rows: Vec<f64>, d: usize| {
            if room.is_ok() {
                room = moments_fit(file, d);
            }
            if room.is_ok() {
                collector.push(d, rows, None);
            }
        };
        let (returns, _) = limits().read_returns_in_pieces(file, &options, PIECE, &mut hand)?;
        room?;
        Ok((returns, collector.finish()))
    }

    fn options(&self, constraint: Constraint) -> ReadOptions {
        ReadOptions {
            missing: self.missing.missing.into(),
            prices: match self.prices {
                None => Prices::Refused,
                Some(PriceChoice::Simple) => Prices::Simple,
                Some(PriceChoice::Log) => Prices::Log,
                Some(PriceChoice::None) => Prices::Kept,
            },
            columns: self.columns.clone(),
            except: self.except.clone(),
            date_column: self.date_column.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            min_history: self.min_history.unwrap_or(0),
            cash: cash(constraint),
        }
    }

    /// Whether returns are made of prices as logarithms.
    pub(super) fn are_logs(&self) -> bool {
        self.prices == Some(PriceChoice::Log)
    }

    pub(super) fn settings(&self) -> FileSettings<'_> {
        FileSettings {
            prices: self.prices,
            columns: &self.columns,
            except: &self.except,
            date_column: self.date_column.as_deref(),
            from: self.from.as_deref(),
            to: self.to.as_deref(),
            min_history: self.min_history,
        }
    }
}

/// An asset without risk competes with the others where weights sum to one; elsewhere no weight of
/// it is too large.
fn cash(constraint: Constraint) -> Cash {
    match constraint {
        Constraint::None | Constraint::Box { .. } => Cash::Refused,
        Constraint::LongOnly => Cash::Any,
        // With a sum of 1, a bound on one side implies one on the other.
        Constraint::SumToOne { lo, hi } if lo.is_finite() || hi.is_finite() => Cash::Any,
        Constraint::SumToOne { .. } => Cash::One,
    }
}
