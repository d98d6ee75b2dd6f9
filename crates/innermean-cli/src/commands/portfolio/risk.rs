//! The measures of risk: phi by name, and its value at the answer.

use std::slice;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use innermean::{
    Absolute, AnyMerit, DownsideSquare, Fused, Huber, Inner, InvalidSetting, Merit, Portfolio,
    Square,
};
use serde::Serialize;

use crate::flags::number;

/// What risk is, and what it weighs.
#[derive(Debug, Args)]
pub(super) struct RiskFlags {
    /// The measure of risk
    #[arg(long, value_name = "MEASURE", value_enum, default_value_t = Risk::Variance)]
    pub(super) risk: Risk,

    /// c, the weight of risk against expected return
    #[arg(long, value_name = "C", default_value = "1", value_parser = number::positive)]
    #[arg(allow_hyphen_values = true)]
    pub(super) risk_aversion: f64,

    /// h of --risk huber, in the unit of the returns [default: the mean absolute deviation of all
    /// returns]
    #[arg(long, value_name = "H", value_parser = number::positive, allow_hyphen_values = true)]
    huber_width: Option<f64>,
}

/// The measures of risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Risk {
    /// The mean square of what deviates from the mean
    Variance,
    /// The mean square of what falls below the mean
    Semivariance,
    /// The mean absolute deviation
    Absolute,
    /// Squares below a threshold, absolute values above
    Huber,
}

impl RiskFlags {
    /// h for the Huber function, found by `otherwise` where it is not given; none for the others.
    pub(super) fn width(&self, otherwise: impl FnOnce() -> f64) -> Result<Option<f64>> {
        match (self.risk, self.huber_width) {
            (Risk::Huber, given) => Ok(Some(given.unwrap_or_else(otherwise))),
            (_, None) => Ok(None),
            (risk, Some(width)) => {
                bail!(
                    "--huber-width {width} does nothing with --risk {}; expected --risk huber",
                    risk.name()
                )
            }
        }
    }

    /// phi; `width` as found by [`width`](Self::width).
    pub(super) fn merit(&self, width: Option<f64>) -> Result<AnyMerit, InvalidSetting> {
        self.risk.merit(self.risk_aversion, width)
    }

    /// `(1/n) sum_i phi( <x_i - m, theta> )` with weight 1.
    pub(super) fn value(
        &self,
        width: Option<f64>,
        portfolio: &Portfolio,
        theta: &[f64],
    ) -> Result<f64, InvalidSetting> {
        let unit = self.risk.merit(1.0, width)?;
        let mut deviations = vec![0.0; portfolio.n_x()];
        portfolio.f().means(theta, &mut deviations);
        let sum: f64 =
            deviations.iter().enumerate().map(|(i, u)| unit.value(i, slice::from_ref(u))).sum();
        Ok(sum / portfolio.n_x() as f64)
    }

    /// Without a bound on the weights the absolute deviation has no answer but none or infinity,
    /// and no duality gap: the run would go on to its limit and say nothing.
    pub(super) fn refuse_without_bounds(&self) -> Result<()> {
        if self.risk == Risk::Absolute {
            bail!(
                "--risk absolute needs a bound on the weights, because twice the weights have twice the risk and twice the \
                 return: add --constraint long-only, --constraint box=LO,HI or --l2 WEIGHT"
            );
        }
        Ok(())
    }

    /// A sentence where, without a bound on the weights, the objective may have no minimum.
    pub(super) fn note(&self) -> Option<&'static str> {
        (self.risk == Risk::Huber).then_some(
            "With --risk huber, risk grows no faster than return for large weights, so that without a bound on the \
             weights the objective may fall for ever. Add --constraint long-only, --constraint box=LO,HI or --l2 WEIGHT.",
        )
    }
}

impl Risk {
    /// The name, as on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Risk::Variance => "variance",
            Risk::Semivariance => "semivariance",
            Risk::Absolute => "absolute",
            Risk::Huber => "huber",
        }
    }

    /// The name in prose.
    pub(super) fn title(self) -> &'static str {
        match self {
            Risk::Variance => "variance",
            Risk::Semivariance => "semivariance",
            Risk::Absolute => "abs. deviation",
            Risk::Huber => "huber risk",
        }
    }

    fn merit(self, weight: f64, width: Option<f64>) -> Result<AnyMerit, InvalidSetting> {
        Ok(match self {
            Risk::Variance => Square::new(weight)?.into(),
            Risk::Semivariance => DownsideSquare::new(weight)?.into(),
            Risk::Absolute => Absolute::new(weight)?.into(),
            Risk::Huber => Huber::new(weight, width.unwrap_or(1.0))?.into(),
        })
    }
}

/// The mean of `|x_il - m_l|` over all periods and assets: a typical return, in whatever unit the
/// file has.
pub(super) fn mean_absolute_deviation(portfolio: &Portfolio) -> f64 {
    let mean = portfolio.mean_returns();
    let returns = portfolio.returns();
    let rows = returns.chunks_exact(mean.len());
    let sum: f64 =
        rows.map(|row| row.iter().zip(mean).map(|(x, m)| (x - m).abs()).sum::<f64>()).sum();
    sum / returns.len() as f64
}
