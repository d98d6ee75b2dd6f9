//! What is known of the periods: returns, how much each counts, and a benchmark.

use innermean::{Portfolio, RowData};

use crate::error::{Error, same_length};

/// Returns of assets, a row for each period, the latest last.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Scenarios {
    /// The assets.
    pub names: Vec<String>,
    /// One row after the other.
    pub returns: RowData,
    /// How much each period counts; only their ratios matter.
    pub weights: Option<Vec<f64>>,
    /// After how many periods one counts half.
    pub half_life: Option<f64>,
    /// What the returns are compared with.
    pub benchmark: Option<Benchmark>,
    /// Whether the periods stand for a mean and a covariance, and not for themselves.
    pub are_moments: bool,
}

/// Returns that others are compared with, one for each period.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// What it is called.
    pub name: String,
    /// In each period.
    pub returns: Vec<f64>,
}

/// Why periods are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenariosError {
    /// A column that is not there.
    #[error("`{parameter}={name}`: no column is called '{name}'; the columns are {columns}")]
    NoColumn {
        /// The parameter that names it.
        parameter: &'static str,
        /// The name.
        name: String,
        /// What there is.
        columns: String,
    },
    /// No asset is left.
    #[error("`{parameter}={name}` is the only column; expected returns of assets beside it")]
    NoAsset {
        /// The parameter that names it.
        parameter: &'static str,
        /// The name.
        name: String,
    },
    /// A weight that is none.
    #[error("`weight`: {value} in period {period}; expected a number of 0 or above")]
    Weight {
        /// The weight.
        value: f64,
        /// The period, from 1.
        period: usize,
    },
    /// Weights for fewer than two periods.
    #[error("`weight`: {0} of the periods have a weight above 0; expected at least two")]
    NoWeight(usize),
    /// So short a half-life that all but the last periods count nothing.
    #[error(
        "`half_life={0}` leaves fewer than two periods with a weight; expected more periods, such \
         as 60"
    )]
    HalfLife(f64),
    /// Weights of periods that stand for moments.
    #[error(
        "`{0}` weighs periods, and there are none with `covariance` or `factors`: leave it out"
    )]
    NoPeriods(&'static str),
    /// A risk that moments do not determine.
    #[error(
        "`risk={0}` needs the returns of single periods, and mean and covariance do not tell them: \
         expected `risk=variance`"
    )]
    OfMoments(super::Risk),
}

/// Weights below this part of the largest are none.
const NO_WEIGHT: f64 = 1e-12;

impl Scenarios {
    /// Periods that all count alike: a vector of returns, memory that is shared, or
    /// rows that are read when they are looked at.
    pub fn new(names: Vec<String>, returns: impl Into<RowData>) -> Self {
        Scenarios { names, returns: returns.into(), ..Scenarios::default() }
    }

    /// Takes a column out of the assets.
    ///
    /// # Errors
    /// If no column is called so, or it is the only one.
    pub fn take_column(&mut self, parameter: &'static str, name: &str) -> Result<Vec<f64>, Error> {
        let Some(column) = self.names.iter().position(|own| own == name) else {
            let (name, columns) = (name.to_owned(), self.names.join(", "));
            return Err(ScenariosError::NoColumn { parameter, name, columns }.into());
        };
        let d = self.names.len();
        if d == 1 {
            let name = name.to_owned();
            return Err(ScenariosError::NoAsset { parameter, name }.into());
        }
        self.names.remove(column);
        let mut taken = Vec::with_capacity(self.returns.len() / d);
        self.returns.each_row(d, |_, row| taken.push(row[column]));
        self.returns = self.returns.each_made(d, d - 1, move |row, out| {
            out[..column].copy_from_slice(&row[..column]);
            out[column..].copy_from_slice(&row[column + 1..]);
        });
        Ok(taken)
    }

    /// Makes a column the benchmark.
    ///
    /// # Errors
    /// If no column is called so, or it is the only one.
    pub fn compare_with(&mut self, name: &str) -> Result<(), Error> {
        let returns = self.take_column("benchmark", name)?;
        self.benchmark = Some(Benchmark { name: name.to_owned(), returns });
        Ok(())
    }

    /// How much each period counts, if not all count alike: the weights given, halved with every
    /// half-life of age.
    fn periods(&self) -> Result<Option<Vec<f64>>, Error> {
        let n = self.returns.len() / self.names.len().max(1);
        if self.are_moments {
            let asked =
                [("weight", self.weights.is_some()), ("half_life", self.half_life.is_some())];
            let asked = asked.into_iter().find(|(_, given)| *given);
            return asked.map_or(Ok(None), |(name, _)| Err(ScenariosError::NoPeriods(name).into()));
        }
        let mut weights = match (&self.weights, self.half_life) {
            (None, None) => return Ok(None),
            (Some(given), _) => given.clone(),
            (None, Some(_)) => vec![1.0; n],
        };
        same_length("weights of periods", weights.len(), n)?;
        if let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(ScenariosError::Weight { value: weights[i], period: i + 1 }.into());
        }
        let count = |weights: &[f64]| weights.iter().filter(|w| **w > 0.0).count();
        if count(&weights) < 2 {
            return Err(ScenariosError::NoWeight(count(&weights)).into());
        }
        if let Some(half_life) = self.half_life {
            for (age, weight) in weights.iter_mut().rev().enumerate() {
                *weight *= (-(age as f64) / half_life).exp2();
            }
        }
        let least = NO_WEIGHT * weights.iter().copied().fold(0.0, f64::max);
        for weight in weights.iter_mut().filter(|weight| **weight <= least) {
            *weight = 0.0;
        }
        match self.half_life {
            Some(half_life) if count(&weights) < 2 => {
                Err(ScenariosError::HalfLife(half_life).into())
            }
            _ => Ok(Some(weights)),
        }
    }

    /// The f of these periods, without those that count nothing, which are returned.
    ///
    /// # Errors
    /// If a number is out of its range, or there are too few.
    pub(super) fn portfolio(mut self) -> Result<(Portfolio, Vec<String>, Vec<usize>), Error> {
        let d = self.names.len();
        same_length("returns beyond the last whole row", self.returns.len() % d.max(1), 0)?;
        let weights = self.periods()?;
        let mut benchmark = self.benchmark.take().map(|benchmark| benchmark.returns);
        let mut left_out = Vec::new();
        let weights = weights.map(|weights| {
            left_out = (0..weights.len()).filter(|&i| weights[i] == 0.0).collect();
            if !left_out.is_empty() {
                let mut left = Vec::new();
                self.returns.each_row(d, |i, row| {
                    left.extend_from_slice(if weights[i] > 0.0 { row } else { &[] });
                });
                self.returns = left.into();
                if let Some(returns) = &mut benchmark {
                    let mut period = 0..weights.len();
                    returns.retain(|_| period.next().is_some_and(|i| weights[i] > 0.0));
                }
            }
            weights.into_iter().filter(|weight| *weight > 0.0).collect::<Vec<f64>>()
        });
        let mut portfolio = Portfolio::new(d, self.returns)?;
        if let Some(weights) = weights {
            portfolio = portfolio.with_weights(weights)?;
        }
        if let Some(benchmark) = benchmark {
            portfolio = portfolio.with_benchmark(benchmark)?;
        }
        Ok((portfolio, self.names, left_out))
    }
}
