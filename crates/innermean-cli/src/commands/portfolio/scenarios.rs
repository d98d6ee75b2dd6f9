//! What is known of the periods: how much each counts, what it is compared with, or moments in
//! place of returns.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use innermean::RowData;
use innermean_apps::portfolio::{Covariance, Moments, RiskBudget, Scenarios};
use innermean_data::{Ask, Columns, FeatureColumns, Frame, Missing, Returns};

use crate::flags::input::limits;
use crate::flags::number;

/// How periods are weighted, and the moments that replace them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Periods and moments")]
pub(crate) struct ScenarioFlags {
    /// How much each period counts: a column of the returns, or a file with one number for each
    /// period, or with a column weight
    #[arg(long, value_name = "COLUMN|FILE")]
    pub(super) weight: Option<String>,

    /// After how many periods one counts half; the last row is the latest
    #[arg(long, value_name = "PERIODS", value_parser = number::positive)]
    pub(super) half_life: Option<f64>,

    /// The column that returns are compared with: it is no asset, and risk is that of the
    /// difference
    #[arg(long, value_name = "COLUMN")]
    pub(super) benchmark: Option<String>,

    /// What each asset contributes to the variance: equal, or a table with the columns asset and
    /// budget
    #[arg(long, value_name = "equal|FILE")]
    pub(super) risk_budget: Option<String>,

    /// Expected returns for --covariance or --factors: a table with the columns asset and mean
    #[arg(long, value_name = "FILE")]
    pub(super) mean: Option<PathBuf>,

    /// A covariance instead of returns: a table with the names of the assets in its header and in
    /// its first column
    #[arg(long, value_name = "FILE", conflicts_with = "factors")]
    pub(super) covariance: Option<PathBuf>,

    /// The same as B F B' + D, of which this is B: the assets in the first column, a column for
    /// each factor
    #[arg(long, value_name = "FILE", requires_all = ["factor_covariance", "specific"])]
    pub(super) factors: Option<PathBuf>,

    /// F: a table with the names of the factors in its header and in its first column
    #[arg(long, value_name = "FILE", requires = "factors")]
    pub(super) factor_covariance: Option<PathBuf>,

    /// The diagonal of D: a table with the columns asset and variance
    #[arg(long, value_name = "FILE", requires = "factors")]
    pub(super) specific: Option<PathBuf>,
}

impl ScenarioFlags {
    /// Whether moments stand for returns.
    pub(super) fn moments(&self) -> Option<&Path> {
        self.covariance.as_deref().or(self.factors.as_deref())
    }

    /// A flag that is given and needs the returns of single periods.
    pub(super) fn needs_rows(&self) -> Option<&'static str> {
        let given = [
            ("--covariance or --factors", self.moments().is_some()),
            ("--mean", self.mean.is_some()),
            ("--weight", self.weight.is_some()),
            ("--half-life", self.half_life.is_some()),
            ("--benchmark", self.benchmark.is_some()),
            ("--risk-budget", self.risk_budget.is_some()),
        ];
        given.into_iter().find_map(|(flag, given)| given.then_some(flag))
    }

    /// The budget of risk, if there is one.
    pub(super) fn risk_budget(&self) -> Result<Option<RiskBudget>> {
        Ok(match self.risk_budget.as_deref() {
            None => None,
            Some("equal") => Some(RiskBudget::Equal),
            Some(path) => Some(RiskBudget::Given(by_name(Path::new(path), "budget")?)),
        })
    }

    /// The periods of these returns, whose values are beside them.
    pub(super) fn scenarios(&self, returns: &mut Returns, values: RowData) -> Result<Scenarios> {
        let mut scenarios = Scenarios::new(returns.names.clone(), values);
        let periods = scenarios.returns.len() / scenarios.names.len().max(1);
        if let Some(weight) = &self.weight {
            scenarios.weights = Some(if scenarios.names.contains(weight) {
                scenarios.take_column("weight", weight)?
            } else {
                let path = Path::new(weight);
                if !path.exists() {
                    bail!(
                        "--weight {weight}: neither a column of the returns ({}) nor a file",
                        scenarios.names.join(", ")
                    );
                }
                weights(path, periods)?
            });
        }
        if let Some(benchmark) = &self.benchmark {
            scenarios.compare_with(benchmark)?;
        }
        scenarios.half_life = self.half_life;
        returns.names.clone_from(&scenarios.names);
        Ok(scenarios)
    }

    /// The same of moments, and what is said of where they come from; `needs_mean` unless the
    /// return plays no part.
    pub(super) fn of_moments(
        &self,
        file: Option<&Path>,
        needs_mean: bool,
    ) -> Result<(Returns, Scenarios)> {
        let source = self.moments().map_or(String::new(), |path| path.display().to_string());
        if let Some(file) = file {
            bail!(
                "{}: returns and moments ({source}) exclude each other; expected one of them",
                file.display()
            );
        }
        if let Some(benchmark) = &self.benchmark {
            bail!("--benchmark {benchmark}: is a column of returns, and {source} has none");
        }
        let (names, covariance) = match (&self.covariance, &self.factors) {
            (Some(path), _) => {
                let (names, matrix) = square(path)?;
                (names, Covariance::Full(matrix))
            }
            (None, Some(path)) => self.factor_model(path)?,
            (None, None) => unreachable!("one of them is there"),
        };
        let mean = match &self.mean {
            Some(path) => ordered(path, &by_name(path, "mean")?, &names)?,
            None if needs_mean => bail!(
                "{source}: the expected returns are missing; expected --mean FILE, or --objective \
                 min-risk without --target-return"
            ),
            None => vec![0.0; names.len()],
        };
        let mut scenarios = Moments::new(names.clone(), mean, covariance).scenarios()?;
        scenarios.half_life = self.half_life;
        if let Some(weight) = &self.weight {
            bail!("--weight {weight}: weighs periods, and {source} has none");
        }
        let returns = Returns {
            names,
            dates: None,
            values: Vec::new(),
            source,
            dropped: innermean_data::Dropped::default(),
            notes: Vec::new(),
        };
        Ok((returns, scenarios))
    }

    fn factor_model(&self, path: &Path) -> Result<(Vec<String>, Covariance)> {
        let (Some(of_factors), Some(specific)) = (&self.factor_covariance, &self.specific) else {
            bail!("--factors {}: expected --factor-covariance and --specific too", path.display());
        };
        let frame = labelled(path)?;
        let names: Vec<String> = (0..frame.rows).map(|row| key(&frame, row)).collect();
        let (factors, matrix) = square(of_factors)?;
        let mut loadings = Vec::with_capacity(frame.features.len());
        for factor in &factors {
            if !frame.feature_names.contains(factor) {
                bail!(
                    "{}: no column is called '{factor}', as a factor of {} is",
                    path.display(),
                    of_factors.display()
                );
            }
        }
        if let Some(other) = frame.feature_names.iter().find(|name| !factors.contains(name)) {
            bail!("{}: the factor '{other}' is not in {}", path.display(), of_factors.display());
        }
        for row in 0..frame.rows {
            for factor in &factors {
                let at = frame.feature_names.iter().position(|name| name == factor);
                loadings.push(frame.row(row)[at.unwrap_or(0)]);
            }
        }
        let specific = ordered(specific, &by_name(specific, "variance")?, &names)?;
        Ok((names, Covariance::Factors { loadings, factors: matrix, specific }))
    }
}

/// A column `weight`, or nothing but numbers.
fn weights(path: &Path, periods: usize) -> Result<Vec<f64>> {
    let columns = Columns { numbers: vec![Ask::optional("weight")], ..Columns::default() };
    let named = limits().read_frame(path, &columns, Missing::Error);
    if let Ok(mut frame) = named
        && let Some(weights) = frame.numbers[0].take()
    {
        if weights.len() != periods {
            bail!(
                "{}: {} weights; expected {periods}, one for each period",
                path.display(),
                weights.len()
            );
        }
        return Ok(weights);
    }
    Ok(limits().read_vector(path, periods, &[])?)
}

/// The columns asset and another one.
fn by_name(path: &Path, number: &str) -> Result<Vec<(String, f64)>> {
    let columns = Columns {
        keys: vec![Ask::required("asset")],
        numbers: vec![Ask::required(number)],
        ..Columns::default()
    };
    let frame = limits().read_frame(path, &columns, Missing::Error)?;
    let numbers = frame.numbers[0].as_deref().unwrap_or_default();
    Ok(numbers.iter().enumerate().map(|(row, x)| (key(&frame, row), *x)).collect())
}

/// Numbers in the order of the assets, one for each.
fn ordered(path: &Path, given: &[(String, f64)], names: &[String]) -> Result<Vec<f64>> {
    if let Some((name, _)) = given.iter().find(|(name, _)| !names.contains(name)) {
        bail!("{}: no asset is called '{name}'", path.display());
    }
    let of = |name: &String| {
        let mut rows = given.iter().filter(|(own, _)| own == name);
        match (rows.next(), rows.next()) {
            (Some((_, x)), None) => Ok(*x),
            (None, _) => bail!("{}: '{name}' is missing; expected every asset", path.display()),
            (_, Some(_)) => bail!("{}: '{name}' is there twice; expected once", path.display()),
        }
    };
    names.iter().map(of).collect()
}

/// A table with names in its first column.
fn labelled(path: &Path) -> Result<Frame> {
    let columns = Columns {
        // By its number: it may have any name, or none.
        keys: vec![Ask::required("1")],
        features: FeatureColumns::Others { except: Vec::new() },
        ..Columns::default()
    };
    Ok(limits().read_frame(path, &columns, Missing::Error)?)
}

/// A square matrix with the same names in its header and in its first column.
fn square(path: &Path) -> Result<(Vec<String>, Vec<f64>)> {
    let frame = labelled(path)?;
    let names = frame.feature_names.clone();
    let rows: Vec<String> = (0..frame.rows).map(|row| key(&frame, row)).collect();
    if let Some(row) = rows.iter().position(|name| !names.contains(name)) {
        bail!(
            "{}: '{}' is no column; expected the same names in the first column as in the header",
            frame.place(row),
            rows[row]
        );
    }
    let mut matrix = Vec::with_capacity(frame.features.len());
    for name in &names {
        let mut own = (0..frame.rows).filter(|row| rows[*row] == *name);
        match (own.next(), own.next()) {
            (Some(row), None) => matrix.extend_from_slice(frame.row(row)),
            (None, _) => bail!("{}: no row is called '{name}', as a column is", path.display()),
            (_, Some(row)) => bail!("{}: '{name}' is there twice; expected once", frame.place(row)),
        }
    }
    Ok((names, matrix))
}

fn key(frame: &Frame, row: usize) -> String {
    frame.keys[0].as_ref().map_or(String::new(), |keys| keys.text(row).to_owned())
}
