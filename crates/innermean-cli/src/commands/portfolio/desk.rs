//! Limits and costs, as a desk has them: flags and small tables.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use innermean_apps::portfolio::{AssetLimit, GroupLimit, Limits};
use innermean_data::{Ask, Columns, Frame, Missing};

use crate::flags::input::limits as input_limits;
use crate::flags::number;

/// What is asked of the weights beyond `--constraint`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits and costs")]
pub(crate) struct DeskFlags {
    /// Limits of assets: a table with the columns asset and, as needed, lower, upper and group; an
    /// empty cell is no limit
    #[arg(long, value_name = "FILE")]
    limits: Option<PathBuf>,

    /// Limits of the sum of each group's weights: a table with the columns group, lower and upper
    #[arg(long, value_name = "FILE", requires = "limits")]
    group_limits: Option<PathBuf>,

    /// The most that all weights may add up to without their signs
    #[arg(long, value_name = "SUM", value_parser = number::positive)]
    gross: Option<f64>,

    /// The weights that are held now: a table with the columns asset and weight
    #[arg(long, value_name = "FILE")]
    current: Option<PathBuf>,

    /// The most that all trades may add up to: sum |theta - current|
    #[arg(long, value_name = "SUM", value_parser = number::non_negative)]
    turnover: Option<f64>,

    /// What a trade of weight 1 costs, in the unit of the returns: a tenth of a percent is 0.001 of
    /// fractions and 0.1 of percent
    #[arg(long, value_name = "RATE", value_parser = number::non_negative)]
    cost: Option<f64>,

    /// The least expected return for each period
    #[arg(long, value_name = "RETURN", value_parser = number::finite, allow_hyphen_values = true)]
    target_return: Option<f64>,
}

impl DeskFlags {
    /// Reads the tables.
    pub(crate) fn limits(&self) -> Result<Limits> {
        let mut limits = Limits::default();
        limits.gross = self.gross;
        limits.turnover = self.turnover;
        limits.cost = self.cost;
        limits.target_return = self.target_return;
        if let Some(path) = &self.limits {
            limits.assets = assets(path)?;
        }
        if let Some(path) = &self.group_limits {
            limits.groups = groups(path)?;
        }
        if let Some(path) = &self.current {
            let (frame, _) = table(path, "asset", None, &["weight"])?;
            let weights = frame.numbers[0].as_deref().unwrap_or_default();
            let held = weights.iter().enumerate();
            limits.current = Some(held.map(|(row, weight)| (key(&frame, row), *weight)).collect());
        }
        Ok(limits)
    }
}

fn assets(path: &Path) -> Result<Vec<AssetLimit>> {
    let (frame, [lower, upper]) = limited(path, "asset", Some("group"))?;
    let groups = frame.keys[1].as_ref();
    let group =
        |row: usize| groups.map(|keys| keys.text(row).to_owned()).filter(|group| !group.is_empty());
    Ok((0..frame.rows)
        .map(|row| AssetLimit {
            asset: key(&frame, row),
            lower: lower[row],
            upper: upper[row],
            group: group(row),
        })
        .collect())
}

fn groups(path: &Path) -> Result<Vec<GroupLimit>> {
    let (frame, [lower, upper]) = limited(path, "group", None)?;
    Ok((0..frame.rows)
        .map(|row| GroupLimit { group: key(&frame, row), lower: lower[row], upper: upper[row] })
        .collect())
}

fn key(frame: &Frame, row: usize) -> String {
    frame.keys[0].as_ref().map_or(String::new(), |keys| keys.text(row).to_owned())
}

/// A table with limits: none where a cell is empty.
fn limited(path: &Path, name: &str, other: Option<&str>) -> Result<(Frame, [Vec<Option<f64>>; 2])> {
    let (frame, found) = table(path, name, other, &[])?;
    if found == 0 {
        bail!(
            "{}: expected a column 'lower', 'upper'{} beside '{name}'",
            path.display(),
            if other.is_some() { " or 'group'" } else { "" }
        );
    }
    let column = |k: usize| {
        let none = || vec![None; frame.rows];
        let known = |x: &f64| Some(*x).filter(|x| !x.is_nan());
        frame.numbers[k].as_ref().map_or_else(none, |column| column.iter().map(known).collect())
    };
    let columns = [column(0), column(1)];
    Ok((frame, columns))
}

/// The named columns of a table, and how many of those that may be absent are there; `numbers` must
/// be there, or else `lower` and `upper` may be.
fn table(path: &Path, name: &str, other: Option<&str>, numbers: &[&str]) -> Result<(Frame, usize)> {
    let mut columns = Columns { keys: vec![Ask::required(name)], ..Columns::default() };
    columns.keys.extend(other.map(|other| Ask::optional(other).or_blank()));
    columns.numbers = if numbers.is_empty() {
        ["lower", "upper"].map(|name| Ask::optional(name).or_blank()).into()
    } else {
        numbers.iter().map(|name| Ask::required(*name)).collect()
    };
    let frame = input_limits().read_frame(path, &columns, Missing::Error)?;
    let found = frame.keys[1..].iter().flatten().count() + frame.numbers.iter().flatten().count();
    Ok((frame, found))
}
