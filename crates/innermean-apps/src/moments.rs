//! Instrumental variables: coefficients of regressors that are correlated with the error, found by
//! instruments that are not.
//!
//! ```
//! use innermean_apps::moments::{Column, MomentsData, MomentsSettings, MomentsTask};
//!
//! // quantity = 10 - 2 price + u, where u moves the price too and cost does not depend on u
//! let cost = [1.0, 2.0, 3.0, 4.0, 1.5, 2.5, 3.5, 4.5];
//! let u = [0.5, -0.5, 0.3, -0.3, -0.4, 0.4, -0.2, 0.2];
//! let price: Vec<f64> = cost.iter().zip(u).map(|(c, u)| c + u).collect();
//! let outcome = price.iter().zip(u).map(|(p, u)| 10.0 - 2.0 * p + u).collect();
//! let data = MomentsData {
//!     outcome,
//!     endogenous: vec![Column::new("price", price)],
//!     exogenous: Vec::new(),
//!     instruments: vec![Column::new("cost", cost.to_vec())],
//!     clusters: None,
//! };
//! let fit = MomentsTask::new(&data, &MomentsSettings::default())?.fit(0, &|| None)?;
//! assert!((fit.inference.estimates[0] + 2.0).abs() < 0.3);
//! assert!(fit.j.is_none()); // as many instruments as regressors
//! # Ok::<(), innermean_apps::Error>(())
//! ```

use innermean::Certificate;
use innermean::inference::{Clusters, InferenceError};
use innermean::problems::moments;
use serde::{Deserialize, Serialize};

use crate::run::inference::Inference;
use crate::wording::named;

mod columns;
mod task;

pub use task::MomentsTask;

named! {
    /// How often the coefficients are estimated.
    pub enum Steps, default Two {
        /// Two-stage least squares
        One = "1",
        /// Moments weighted by their covariance at the first estimate
        Two = "2",
        /// Moments weighted by their covariance at the estimate itself
        Iterated = "iterated",
    }
}

named! {
    /// What is assumed of the errors.
    pub enum MomentsErrors, default Robust {
        /// One variance for all rows
        Unadjusted = "unadjusted",
        /// Any variances of independent rows
        Robust = "robust",
        /// Dependence within clusters too
        Clustered = "clustered",
    }
}

/// How to estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MomentsSettings {
    /// How often.
    pub steps: Steps,
    /// What is assumed of the errors; by default clustered where there are clusters, otherwise
    /// robust.
    pub errors: Option<MomentsErrors>,
    /// Whether the covariance is corrected for residuals that are smaller than errors, and intervals
    /// are Student's.
    pub small_sample: bool,
    /// Whether there is a constant among regressors and instruments.
    pub intercept: bool,
    /// Columns that stand for a B-spline basis of themselves.
    pub splines: Vec<Spline>,
    /// The degree of splines.
    pub degree: usize,
    /// Estimates from this many draws with replacement.
    pub bootstrap: Option<usize>,
    /// How often intervals are to hold the truth.
    pub level: f64,
}

impl Default for MomentsSettings {
    fn default() -> Self {
        MomentsSettings {
            steps: Steps::default(),
            errors: None,
            small_sample: true,
            intercept: true,
            splines: Vec::new(),
            degree: 3,
            bootstrap: None,
            level: 0.95,
        }
    }
}

/// A smooth function of a column, with knots at its quantiles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spline {
    /// The name of the column.
    pub column: String,
    /// Knots between its ends.
    pub knots: usize,
}

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// A number for each row.
    pub values: Vec<f64>,
}

impl Column {
    /// With that name.
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> Self {
        Column { name: name.into(), values }
    }
}

/// What is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct MomentsData {
    /// What is explained.
    pub outcome: Vec<f64>,
    /// Regressors that may be correlated with the error.
    pub endogenous: Vec<Column>,
    /// Regressors that are not, and so are instruments too.
    pub exogenous: Vec<Column>,
    /// Instruments that are no regressors.
    pub instruments: Vec<Column>,
    /// Rows that may depend on each other.
    pub clusters: Option<Clusters>,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MomentsAnswer {
    /// A name for each coefficient, the intercept last.
    pub names: Vec<String>,
    /// The names of all instruments.
    pub instruments: Vec<String>,
    /// Rows.
    pub rows: usize,
    /// How often the coefficients were estimated.
    pub steps: usize,
    /// What was assumed of the errors.
    pub errors: MomentsErrors,
    /// The test of overidentifying restrictions, where there are more instruments than regressors.
    pub j: Option<JTest>,
    /// How much the instruments say about each regressor that is not exogenous.
    pub first_stage: Vec<FirstStage>,
    /// `u' C^-1 u / 2` at the estimates.
    pub objective: f64,
    /// How far that is from its minimum at most.
    pub certificate: Certificate,
    /// Estimates, standard errors and intervals.
    #[serde(flatten)]
    pub inference: Inference,
}

/// The regression of a regressor on all instruments, against that on the exogenous regressors.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FirstStage {
    /// The regressor.
    pub regressor: String,
    /// The F statistic of the instruments that are no regressors.
    pub f: f64,
    /// Its degrees of freedom.
    pub degrees_of_freedom: [usize; 2],
    /// The share of what the exogenous regressors leave that the instruments explain.
    pub partial_r_squared: f64,
}

impl FirstStage {
    /// Below this F, instruments are weak (Staiger and Stock, 1997).
    pub const WEAK: f64 = 10.0;

    /// Whether estimates are biased towards least squares, and intervals too narrow.
    pub fn is_weak(&self) -> bool {
        self.f < Self::WEAK
    }
}

/// The test of overidentifying restrictions: Sargan's after one step, Hansen's otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct JTest {
    /// `n u' C^-1 u`
    pub statistic: f64,
    /// Instruments less regressors.
    pub degrees_of_freedom: usize,
    /// The probability of a larger statistic if all instruments are valid.
    pub p_value: f64,
}

impl From<moments::JTest> for JTest {
    fn from(test: moments::JTest) -> Self {
        let moments::JTest { statistic, degrees_of_freedom, p_value, .. } = test;
        JTest { statistic, degrees_of_freedom, p_value }
    }
}

/// Why data or settings are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MomentsError {
    /// No regressor at all.
    #[error("there are no regressors; expected some by `regressors`")]
    NoRegressors,
    /// Too few instruments.
    #[error(
        "{instruments} instruments for {regressors} regressors (the exogenous ones and the intercept are both); expected at least as many instruments: give more by `instruments`, or `spline` one"
    )]
    TooFewInstruments {
        /// With the exogenous regressors.
        instruments: usize,
        /// With the exogenous ones.
        regressors: usize,
    },
    /// A spline of a column that has no role.
    #[error("`spline={0}`: no such regressor or instrument; expected the name of one of {1}")]
    NoSuchColumn(String, String),
    /// Two splines of one column.
    #[error("`spline={0}`: it has a spline already; expected one for each column")]
    SplineTwice(String),
    /// A spline's functions sum to 1.
    #[error(
        "`spline={0}`: the functions of a basis sum to 1 and so contain an intercept; expected `spline` with one"
    )]
    SplineWithoutIntercept(String),
    /// The column's values do not make knots.
    #[error("`spline={column}`: {reason}")]
    Knots {
        /// The column.
        column: String,
        /// Why.
        reason: innermean::InvalidSetting,
    },
    /// An instrument says nothing that others do not say.
    #[error(
        "the instruments are linearly dependent: {0} is a combination of the others, or there are too few rows for {1} of them; leave some out"
    )]
    DependentInstrument(String, usize),
    /// The moments, whose covariance weighs them in the second step, are linearly dependent.
    #[error(
        "the moments of the first step are linearly dependent: there are too few rows or clusters for {0} instruments; leave some out, or take `steps=1`"
    )]
    DependentMoments(usize),
    /// The coefficients are not identified.
    #[error("{}", identified(.0))]
    NotEstimated(InferenceError),
}

fn identified(reason: &InferenceError) -> String {
    match reason {
        InferenceError::Unidentified => {
            "the instruments do not identify all coefficients: look for collinear regressors, or instruments that say nothing about a regressor".to_owned()
        }
        other => other.to_string(),
    }
}
