//! Limits and costs, as a desk has them: flags and small tables.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use innermean_apps::portfolio::{AssetLimit, GroupLimit, Limits};
use innermean_data::{Ask, Columns, Frame, Missing, Setting, SettingValue, visible};

use crate::flags::input::limits as input_limits;
use crate::flags::number;

/// What is asked of the weights beyond `--constraint`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits and costs")]
pub(crate) struct DeskFlags {
    /// Limits of assets: a table with the columns asset and, as needed, lower, upper and group, of
    /// which an empty cell is no limit; or TOML with a table [assets.NAME] for each, and
    /// [groups.NAME] for groups
    #[arg(long, value_name = "FILE")]
    limits: Option<PathBuf>,

    /// Limits of the sum of each group's weights: a table with the columns group, lower and upper,
    /// or TOML with a table [groups.NAME] for each
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
        match &self.limits {
            Some(path) if is_toml(path) => (limits.assets, limits.groups) = in_toml(path)?,
            Some(path) => limits.assets = assets(path)?,
            None => {}
        }
        if let Some(path) = &self.group_limits {
            if !limits.groups.is_empty() {
                bail!("--group-limits: the file of --limits has [groups] already: leave out one");
            }
            limits.groups = if is_toml(path) { groups_in_toml(path)? } else { groups(path)? };
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

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Limits of assets and of groups in one file.
fn in_toml(path: &Path) -> Result<(Vec<AssetLimit>, Vec<GroupLimit>)> {
    let (mut assets, mut groups): (Vec<AssetLimit>, Vec<GroupLimit>) = (Vec::new(), Vec::new());
    for Setting { path: keys, value, line } in input_limits().read_settings(path)? {
        let refuse = |what: String| anyhow!("{}, line {line}: {what}", path.display());
        let names: Vec<&str> = keys.iter().map(String::as_str).collect();
        let [kind @ ("assets" | "groups"), name, key] = names[..] else {
            let expected = "expected [assets.NAME] or [groups.NAME] and in it lower or upper";
            return Err(refuse(format!("'{}' is no limit; {expected}", visible(&keys.join(".")))));
        };
        let is_asset = kind == "assets";
        let number = || match &value {
            SettingValue::Number(number) => Ok(Some(*number)),
            _ => Err(refuse(format!("'{}' of '{}' is no number", visible(key), visible(name)))),
        };
        let asset = || AssetLimit { asset: name.to_owned(), ..AssetLimit::default() };
        let group = || GroupLimit { group: name.to_owned(), ..GroupLimit::default() };
        match (is_asset, key) {
            (true, "lower") => entry(&mut assets, |own| own.asset == name, asset).lower = number()?,
            (true, "upper") => entry(&mut assets, |own| own.asset == name, asset).upper = number()?,
            (true, "group") => match &value {
                SettingValue::Text(text) => {
                    entry(&mut assets, |own| own.asset == name, asset).group = Some(text.clone());
                }
                _ => return Err(refuse(format!("the group of '{}' is no text", visible(name)))),
            },
            (false, "lower") => {
                entry(&mut groups, |own| own.group == name, group).lower = number()?;
            }
            (false, "upper") => {
                entry(&mut groups, |own| own.group == name, group).upper = number()?;
            }
            _ => {
                let known = if is_asset { "lower, upper or group" } else { "lower or upper" };
                let (key, name) = (visible(key), visible(name));
                return Err(refuse(format!("'{name}' has no limit '{key}'; expected {known}")));
            }
        }
    }
    Ok((assets, groups))
}

/// The entry that is meant, made where there is none.
fn entry<T>(all: &mut Vec<T>, is_it: impl Fn(&T) -> bool, make: impl Fn() -> T) -> &mut T {
    let at = all.iter().position(is_it).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    });
    &mut all[at]
}

fn groups_in_toml(path: &Path) -> Result<Vec<GroupLimit>> {
    let (assets, groups) = in_toml(path)?;
    if !assets.is_empty() {
        bail!("{}: has limits of assets; give it by --limits", path.display());
    }
    Ok(groups)
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
    // A limit whose column is misspelled would not hold.
    let known = [Some(name), Some("lower"), Some("upper"), other];
    let is_known = |own: &str| {
        let own = own.trim();
        own.is_empty() || known.iter().flatten().any(|known| own.eq_ignore_ascii_case(known))
    };
    if let (Some(unknown), true) =
        (frame.columns.iter().find(|own| !is_known(own.as_str())), found > 0)
    {
        bail!(
            "{}: the column '{}' is no limit; expected {name}, lower{}: correct its name, or take \
             it out of the file",
            path.display(),
            visible(unknown),
            if other.is_some() { ", upper or group" } else { " or upper" }
        );
    }
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
