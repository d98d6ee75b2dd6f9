//! The measures of risk: phi by name, and its value at the answer.

use std::slice;

use innermean::{
    Absolute, AnyMerit, DownsideSquare, Fused, Huber, Inner, InvalidSetting, Merit, Portfolio,
    Square,
};

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
    }
}

impl Risk {
    /// The name in prose.
    pub fn title(self) -> &'static str {
        match self {
            Risk::Variance => "variance",
            Risk::Semivariance => "semivariance",
            Risk::Absolute => "abs. deviation",
            Risk::Huber => "huber risk",
        }
    }

    /// phi; `width` is h of the Huber function.
    pub(super) fn merit(self, weight: f64, width: Option<f64>) -> Result<AnyMerit, InvalidSetting> {
        Ok(match self {
            Risk::Variance => Square::new(weight)?.into(),
            Risk::Semivariance => DownsideSquare::new(weight)?.into(),
            Risk::Absolute => Absolute::new(weight)?.into(),
            Risk::Huber => Huber::new(weight, width.unwrap_or(1.0))?.into(),
        })
    }

    /// `(1/n) sum_i phi( <x_i - m, theta> )` with weight 1.
    pub(super) fn value(
        self,
        width: Option<f64>,
        portfolio: &Portfolio,
        theta: &[f64],
    ) -> Result<f64, InvalidSetting> {
        let unit = self.merit(1.0, width)?;
        let mut deviations = vec![0.0; portfolio.n_x()];
        portfolio.f().means(theta, &mut deviations);
        let sum: f64 =
            deviations.iter().enumerate().map(|(i, u)| unit.value(i, slice::from_ref(u))).sum();
        Ok(sum / portfolio.n_x() as f64)
    }
}

/// The mean of `|x_il - m_l|` over all periods and assets: a typical return, in whatever unit the
/// data have.
pub(super) fn mean_absolute_deviation(portfolio: &Portfolio) -> f64 {
    let mean = portfolio.mean_returns();
    let returns = portfolio.returns();
    let rows = returns.chunks_exact(mean.len());
    let sum: f64 =
        rows.map(|row| row.iter().zip(mean).map(|(x, m)| (x - m).abs()).sum::<f64>()).sum();
    sum / returns.len() as f64
}
