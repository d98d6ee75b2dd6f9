//! What has no answer, with the reason.

use crate::wording::numbers::significant;

/// Why a search, a frontier or a walk is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// Without a budget a ratio has no scale.
    #[error(
        "`objective=max-sharpe` needs weights of a fixed sum, because the ratio of return to risk \
         is the same for all multiples of the weights: add `constraint=long-only` or \
         `constraint=sum-to-one`"
    )]
    NoBudget,
    /// A risk that is not proportional to the weights.
    #[error(
        "`objective=max-sharpe` is for a risk that twice the weights double, and with `{0}` they \
         do not: expected another risk and no benchmark, or `objective=max-return` with `max_risk`"
    )]
    NoRatio(String),
    /// Nothing earns more than the risk-free rate.
    #[error(
        "`objective=max-sharpe`: no portfolio within the limits is expected to earn more than \
         `risk_free={risk_free}`; the largest expected return is {}; lower `risk_free`, or use \
         `objective=min-risk`",
        significant(*largest, 6)
    )]
    NoExcess {
        /// The largest expected return.
        largest: f64,
        /// The rate.
        risk_free: f64,
    },
    /// The ratio grows with the weights.
    #[error(
        "`objective=max-sharpe`: the ratio of return to risk grows without end for ever larger \
         weights, because the portfolio of least risk does not earn more than \
         `risk_free={risk_free}`: bound the weights, as by `constraint=long-only` or \
         `constraint=sum-to-one=LO,HI`"
    )]
    EndlessRatio {
        /// The rate.
        risk_free: f64,
    },
    /// A return above the risk-free rate without risk.
    #[error(
        "`objective=max-sharpe`: a portfolio within the limits has no risk in these periods and \
         earns more than `risk_free={risk_free}`, so that no ratio is the largest; expected more \
         periods than assets, or assets that are no copies of each other"
    )]
    NoRisk {
        /// The rate.
        risk_free: f64,
    },
    /// The return grows with the weights.
    #[error(
        "`{parameter}`: nothing bounds the weights, and the return grows with them: add \
         `constraint=long-only` or `constraint=sum-to-one=LO,HI`{}",
        if *.parameter == "objective=max-return" { ", or a largest risk by `max_risk`" } else { "" }
    )]
    EndlessReturn {
        /// What was asked for.
        parameter: &'static str,
    },
    /// No portfolio has so little risk.
    #[error(
        "`max_risk={given}`: no portfolio within the limits has so little risk; the least is {}",
        significant(*least, 6)
    )]
    TooLittleRisk {
        /// What was given.
        given: f64,
        /// The least risk, in the same unit.
        least: f64,
    },
    /// A frontier without an extent.
    #[error("`frontier={0}`: expected at least 2 points")]
    FewPoints(usize),
    /// A run without a proof that it ended where it should.
    #[error("the run ended before the answer was proven: {}", .0.title())]
    Unsolved(innermean::Status),
    /// Windows that do not fit into the data.
    #[error(
        "`walk_forward={train},{test}`: there are {periods} periods; expected two whole numbers \
         above 0, the first below that"
    )]
    Windows {
        /// Periods that are fitted.
        train: usize,
        /// Periods that are held.
        test: usize,
        /// All of them.
        periods: usize,
    },
}
