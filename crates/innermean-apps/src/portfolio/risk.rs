//! The measures of risk by name, and what each of them is made of.

use innermean::{
    Absolute, AnyMerit, Collapsed, DownsideSquare, Excess, Exponential, Fused, Huber, Inner,
    InvalidSetting, Merit, NegativeLog, Portfolio, Square, Weighted,
};

use super::PortfolioSettings;
use crate::error::Error;
use crate::wording::named;

named! {
    /// The measures of risk.
    pub enum Risk, default Variance {
        /// The mean square of what deviates from the mean
        Variance = "variance",
        /// The mean square of what falls below the mean
        Semivariance = "semivariance",
        /// The mean absolute deviation
        Absolute = "absolute",
        /// Squares below a threshold, absolute values above
        Huber = "huber",
        /// The conditional value at risk: the mean of the worst losses
        Cvar = "cvar",
        /// The entropic risk: exponentials of losses
        Entropic = "entropic",
        /// Minus the mean logarithm of wealth
        Kelly = "kelly",
    }
}

/// The part of all periods that is not among the worst, unless it is given.
pub const DEFAULT_LEVEL: f64 = 0.95;
/// The rate of the exponentials, unless it is given.
pub const DEFAULT_EXPONENT: f64 = 1.0;
/// A mean absolute deviation from which on it is worth saying that returns are taken as fractions:
/// the widest markets move by a fifth in a year.
pub(super) const LARGE_FRACTION: f64 = 0.1;

impl Risk {
    /// The name in prose.
    pub fn title(self) -> &'static str {
        match self {
            Risk::Variance => "variance",
            Risk::Semivariance => "semivariance",
            Risk::Absolute => "abs. deviation",
            Risk::Huber => "huber risk",
            Risk::Cvar => "CVaR",
            Risk::Entropic => "entropic risk",
            Risk::Kelly => "-mean log",
        }
    }

    /// Whether twice the weights have twice the risk.
    pub(super) fn is_homogeneous(self) -> bool {
        matches!(self, Risk::Absolute | Risk::Cvar)
    }

    /// Whether it is a minimum over a threshold, which is a coordinate behind the weights.
    pub(super) fn has_threshold(self) -> bool {
        matches!(self, Risk::Cvar | Risk::Entropic)
    }

    /// Whether it is a mean of squares, whose root has the unit of the returns.
    pub fn is_square(self) -> bool {
        matches!(self, Risk::Variance | Risk::Semivariance)
    }

    /// What is compared with a largest risk and is below a ratio: the root of a mean of squares,
    /// and any other risk itself.
    pub fn in_units(self, risk: f64) -> f64 {
        if self.is_square() { risk.max(0.0).sqrt() } else { risk }
    }
}

/// A measure of risk with its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Measure {
    Variance,
    Semivariance,
    Absolute,
    /// With h.
    Huber(f64),
    /// With the level.
    Cvar(f64),
    /// With the rate.
    Entropic(f64),
    /// With the number that is a whole: 1 for fractions, 100 for percent.
    Kelly(f64),
}

impl Measure {
    /// The measure that settings ask for, with numbers from the returns where none is given.
    ///
    /// # Errors
    /// If a number is out of its range or belongs to another risk, or returns for logarithms are no
    /// fractions.
    pub(super) fn new(
        settings: &PortfolioSettings,
        names: &[String],
        portfolio: &Portfolio,
    ) -> Result<Self, Error> {
        let PortfolioSettings { risk, huber_width, level, exponent, percent, .. } = *settings;
        let idle = |parameter, value: String, needed: Risk| {
            let (chosen, needed) = (format!("risk={risk}"), format!("risk={needed}"));
            Err(Error::Idle { parameter, value, chosen, needed })
        };
        if let (Some(width), true) = (huber_width, risk != Risk::Huber) {
            return idle("huber_width", width.to_string(), Risk::Huber);
        }
        if let (Some(level), true) = (level, risk != Risk::Cvar) {
            return idle("level", level.to_string(), Risk::Cvar);
        }
        if let (Some(exponent), true) = (exponent, risk != Risk::Entropic) {
            return idle("exponent", exponent.to_string(), Risk::Entropic);
        }
        if percent && risk != Risk::Kelly {
            let needed = format!("risk={}", Risk::Kelly);
            return Err(Error::IdleWithout { parameter: "percent", needed });
        }
        Ok(match risk {
            Risk::Variance => Measure::Variance,
            Risk::Semivariance => Measure::Semivariance,
            Risk::Absolute => Measure::Absolute,
            Risk::Huber => {
                let found = || mean_absolute_deviation(portfolio);
                Measure::Huber(huber_width.unwrap_or_else(found))
            }
            Risk::Cvar => Measure::Cvar(checked_level(level.unwrap_or(DEFAULT_LEVEL))?),
            Risk::Entropic => Measure::Entropic(exponent.unwrap_or(DEFAULT_EXPONENT)),
            Risk::Kelly if percent => Measure::Kelly(100.0),
            Risk::Kelly => {
                check_fractions(names, portfolio)?;
                Measure::Kelly(1.0)
            }
        })
    }

    /// h of the Huber function.
    pub(super) fn width(self) -> Option<f64> {
        if let Measure::Huber(width) = self { Some(width) } else { None }
    }

    /// f, where it is not the deviation from the mean; thresholds count from `base`.
    pub(super) fn inner(self, portfolio: &Portfolio, base: f64) -> Option<Collapsed> {
        match self {
            Measure::Cvar(_) | Measure::Entropic(_) => Some(portfolio.losses(base)),
            Measure::Kelly(whole) => Some(portfolio.wealth(whole)),
            _ => None,
        }
    }

    /// phi, with the weights of the periods; thresholds count from `base`.
    pub(super) fn merit(
        self,
        weight: f64,
        portfolio: &Portfolio,
        base: f64,
    ) -> Result<Box<dyn Merit>, InvalidSetting> {
        let periods = portfolio.weights();
        let any = |merit: AnyMerit| weighted(merit, periods);
        match self {
            Measure::Variance => any(Square::new(weight)?.into()),
            Measure::Semivariance => any(DownsideSquare::new(weight)?.into()),
            Measure::Absolute => any(Absolute::new(weight)?.into()),
            Measure::Huber(width) => any(Huber::new(weight, width)?.into()),
            Measure::Cvar(level) => {
                weighted(Excess::new(weight / (1.0 - level))?.raised(weight * base), periods)
            }
            Measure::Entropic(rate) => {
                weighted(Exponential::new(weight, rate)?.raised(weight * base), periods)
            }
            Measure::Kelly(_) => {
                let all = vec![weight; portfolio.n_x()];
                let of_period = |omega: &[f64]| omega.iter().map(|omega| weight * omega).collect();
                Ok(Box::new(NegativeLog::new(1, periods.map_or(all, of_period))?))
            }
        }
    }

    /// The risk of a portfolio, with weight 1.
    pub(super) fn value(self, portfolio: &Portfolio, theta: &[f64]) -> Result<f64, InvalidSetting> {
        match self {
            Measure::Cvar(_) | Measure::Entropic(_) => {
                let t = self.threshold(portfolio, theta);
                let mut point = theta.to_vec();
                point.push(t);
                Ok(t + self.mean(&portfolio.losses(0.0), portfolio, &point)?)
            }
            Measure::Kelly(whole) => self.mean(&portfolio.wealth(whole), portfolio, theta),
            _ => self.mean(portfolio, portfolio, theta),
        }
    }

    /// `(1/n) sum_i phi_i(fbar_i(theta))` with weight 1.
    fn mean(
        self,
        f: &dyn Fused,
        portfolio: &Portfolio,
        theta: &[f64],
    ) -> Result<f64, InvalidSetting> {
        let phi = self.merit(1.0, portfolio, 0.0)?;
        let n = portfolio.n_x();
        let mut averages = vec![0.0; n];
        f.f().means(theta, &mut averages);
        Ok(phi.values(0..n, &averages) / n as f64)
    }

    /// The best threshold for given weights: a quantile of the losses, or their entropic risk.
    pub(super) fn threshold(self, portfolio: &Portfolio, theta: &[f64]) -> f64 {
        let n = portfolio.n_x();
        let mut losses = vec![0.0; n];
        let mut point = theta.to_vec();
        point.push(0.0);
        portfolio.losses(0.0).f().means(&point, &mut losses);
        let weight = |i: usize| portfolio.weights().map_or(1.0, |omega| omega[i]) / n as f64;
        match self {
            Measure::Cvar(level) => quantile(&losses, weight, level),
            Measure::Entropic(rate) => {
                let largest = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let term = |(i, loss): (usize, &f64)| weight(i) * (rate * (loss - largest)).exp();
                largest + losses.iter().enumerate().map(term).sum::<f64>().ln() / rate
            }
            _ => 0.0,
        }
    }
}

/// The least of the numbers that all but the part `1 - level` are at most.
fn quantile(numbers: &[f64], weight: impl Fn(usize) -> f64, level: f64) -> f64 {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let mut below = 0.0;
    for &i in &order {
        below += weight(i);
        if below >= level {
            return numbers[i];
        }
    }
    order.last().map_or(0.0, |&i| numbers[i])
}

fn weighted<P: Merit + 'static>(
    merit: P,
    periods: Option<&[f64]>,
) -> Result<Box<dyn Merit>, InvalidSetting> {
    Ok(match periods {
        Some(weights) => Box::new(Weighted::new(merit, weights.to_vec())?),
        None => Box::new(merit),
    })
}

fn checked_level(level: f64) -> Result<f64, InvalidSetting> {
    if (0.0..1.0).contains(&level) {
        return Ok(level);
    }
    let expected = "0 or above and below 1, such as 0.95";
    Err(InvalidSetting::new("level", level.to_string(), expected))
}

/// # Errors
/// If returns cannot be fractions of what was there before, which is all that can be lost.
fn check_fractions(names: &[String], portfolio: &Portfolio) -> Result<(), Error> {
    let mut found = (0, 0, 0.0);
    portfolio.returns().each_row(names.len(), |i, row| {
        for (l, x) in row.iter().enumerate() {
            if *x < found.2 {
                found = (i, l, *x);
            }
        }
    });
    let (period, asset, least) = found;
    if least >= -1.0 {
        return Ok(());
    }
    let typical = mean_absolute_deviation(portfolio);
    let (period, asset) = (period + 1, names[asset].clone());
    Err(Error::NoFractions { least, period, asset, typical })
}

/// The mean of `|x_il - m_l|` over all periods and assets: a typical return, in whatever unit the
/// data have.
pub(super) fn mean_absolute_deviation(portfolio: &Portfolio) -> f64 {
    let mean = portfolio.mean_row();
    let returns = portfolio.returns();
    let mut sum = 0.0;
    returns.each_row(mean.len(), |_, row| {
        sum += row.iter().zip(mean).map(|(x, m)| (x - m).abs()).sum::<f64>();
    });
    sum / returns.len() as f64
}
