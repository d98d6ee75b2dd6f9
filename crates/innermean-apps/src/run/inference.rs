//! How sure an estimate is: standard errors, intervals, the bootstrap.

use innermean::inference::{
    Clusters, Covariance, Dependence, InferenceError, Replicates, Resampling, Sandwich,
    bootstrap_while, refit_terms,
};
use innermean::{Objective, Solution, Stop};
use serde::{Deserialize, Serialize};

use super::Task;
use crate::error::{Error, same_length};
use crate::wording::{Named, named};

named! {
    /// What standard errors allow for.
    pub enum ErrorKind, default Robust {
        /// Any variances, of independent rows or groups
        Robust = "robust",
        /// Dependence within clusters too
        Clustered = "clustered",
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct InferenceSettings {
    /// Standard errors by the sandwich formula.
    pub standard_errors: Option<ErrorKind>,
    /// Estimates from this many draws with replacement.
    pub bootstrap: Option<usize>,
    /// How often intervals are to hold the truth.
    pub level: f64,
}

impl Default for InferenceSettings {
    fn default() -> Self {
        InferenceSettings { standard_errors: None, bootstrap: None, level: 0.95 }
    }
}

/// The tolerance of a run whose answer gets standard errors: they are refused where theta is a
/// tenth of one away from the minimum.
pub const TOLERANCE: f64 = 1e-10;
/// The tolerance of each estimate of the bootstrap.
const REFIT: f64 = 1e-8;
/// Up to so many coordinates the bootstrap alone is preceded by a look at the Hessian, which tells
/// whether there is a minimum to estimate.
pub(crate) const SMALL: usize = 1000;

/// The seconds that are left for more work: none without a limit, and 0 when it is to end.
pub type TimeLeft<'a> = dyn Fn() -> Option<f64> + Sync + 'a;

/// Whether no time is left.
pub(crate) fn is_over(left: Option<f64>) -> bool {
    left.is_some_and(|left| left <= 0.0)
}

/// Why there are no standard errors of a solved problem, where the time was up.
pub(crate) const NO_TIME: &str = "the time was up before they could be computed";

/// The limits of an estimate from data drawn anew; none if no time is left for it.
pub(crate) fn refit_stop(time_left: &TimeLeft<'_>) -> Option<Stop> {
    let max_seconds = time_left();
    let stop = Stop { tolerance: Some(REFIT), max_seconds, ..Stop::default() };
    (!is_over(max_seconds)).then_some(stop)
}

/// A task whose terms are independent observations, or clusters of them.
pub trait Estimator: Task {
    /// Brings theta from the units of the run to those of the data, in place; a linear map.
    fn unscale(&self, z: &mut [f64]);

    /// Sets of coordinates to which a constant may be added without changing the loss.
    fn shifts(&self) -> Vec<Vec<usize>> {
        Vec::new()
    }
}

/// How sure an answer is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Inference {
    /// How often intervals are to hold the truth.
    pub level: f64,
    /// Rows, groups or clusters that are taken as independent.
    pub units: usize,
    /// Whether they are clusters.
    pub clustered: bool,
    /// What the intervals are about: theta, and of several classes theta less its mean over the
    /// classes.
    pub estimates: Vec<f64>,
    /// By the sandwich formula.
    pub standard_errors: Option<StandardErrors>,
    /// By draws with replacement.
    pub bootstrap: Option<Bootstrap>,
    /// Why there are none, if that came out after the run.
    pub refused: Option<String>,
    /// The same of the values of all states, of a policy whose states have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Box<Inference>>,
    /// The same of the mean value of the initial states of a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Box<Inference>>,
}

/// Standard errors by a formula, and Student's intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StandardErrors {
    /// What they allow for: robust, clustered, or unadjusted.
    pub kind: &'static str,
    /// Of Student's t.
    pub degrees_of_freedom: f64,
    /// One for each coordinate.
    pub errors: Vec<f64>,
    /// One for each coordinate.
    pub intervals: Vec<[f64; 2]>,
}

/// Standard deviations and percentiles of estimates from data drawn anew.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Bootstrap {
    /// Draws that were made.
    pub draws: usize,
    /// Those without an estimate.
    pub failed: usize,
    /// Draws that were asked for and not made, since time was up.
    pub unmade: usize,
    /// Of the draws.
    pub seed: u64,
    /// One for each coordinate.
    pub errors: Vec<f64>,
    /// Percentile intervals.
    pub intervals: Vec<[f64; 2]>,
}

impl Inference {
    /// Whether everything that was asked for was done before time was up.
    pub fn is_whole(&self) -> bool {
        self.bootstrap.as_ref().is_none_or(|bootstrap| bootstrap.unmade == 0)
    }

    /// Nothing but estimates.
    pub(crate) fn of(
        estimates: Vec<f64>,
        n: usize,
        clusters: Option<&Clusters>,
        level: f64,
    ) -> Self {
        let units = clusters.map_or(n, Clusters::count);
        Inference {
            level,
            units,
            clustered: clusters.is_some(),
            estimates,
            standard_errors: None,
            bootstrap: None,
            refused: None,
            values: None,
            initial: None,
        }
    }

    /// Adds what follows from a covariance.
    pub(crate) fn add_covariance(&mut self, covariance: &Covariance, kind: &'static str) {
        self.standard_errors = Some(StandardErrors {
            kind,
            degrees_of_freedom: covariance.degrees_of_freedom(),
            errors: covariance.standard_errors(),
            intervals: covariance.intervals(&self.estimates, self.level),
        });
    }

    /// The same of variances alone, with the degrees of freedom of the covariance that they come
    /// from.
    pub(crate) fn add_variances(&mut self, variances: &[f64], of: &Covariance, kind: ErrorKind) {
        let degrees_of_freedom = of.degrees_of_freedom();
        let one = |(x, variance): (&f64, &f64)| {
            let alone = Covariance::new(1, vec![*variance], degrees_of_freedom);
            (alone.standard_errors()[0], alone.intervals(&[*x], self.level)[0])
        };
        let (errors, intervals) = self.estimates.iter().zip(variances).map(one).unzip();
        let kind = kind.name();
        self.standard_errors = Some(StandardErrors { kind, degrees_of_freedom, errors, intervals });
    }

    /// Adds what follows from replicates, or why nothing does.
    pub(crate) fn add_replicates(&mut self, replicates: &Replicates, draws: usize, seed: u64) {
        let d = self.estimates.len();
        let intervals = (0..d).map(|l| replicates.percentile_interval(l, self.level)).collect();
        match (replicates.standard_errors(), intervals) {
            (Some(errors), Some(intervals)) => {
                let Replicates { failed, unmade, .. } = *replicates;
                let draws = draws - unmade;
                self.bootstrap = Some(Bootstrap { draws, failed, unmade, seed, errors, intervals });
            }
            _ => {
                self.refused = Some(format!(
                    "{} of {draws} draws of the bootstrap have an estimate, of which two at least \
                     are needed",
                    replicates.thetas.len()
                ));
            }
        }
    }
}

impl InferenceSettings {
    /// Whether anything is asked for.
    pub fn is_on(&self) -> bool {
        self.standard_errors.is_some() || self.bootstrap.is_some()
    }

    /// The parameter that a refusal is about.
    pub fn parameter(&self) -> &'static str {
        if self.standard_errors.is_some() { "standard_errors" } else { "bootstrap" }
    }

    /// What can be found out without data.
    ///
    /// # Errors
    /// If the level is not between 0 and 1, clustered errors have no clusters, or clusters no
    /// errors.
    pub fn check(&self, has_clusters: bool) -> Result<(), Error> {
        self.check_level()?;
        match (self.standard_errors, has_clusters) {
            (Some(ErrorKind::Clustered), false) => Err(Error::IdleWithout {
                parameter: "standard_errors=clustered",
                needed: "cluster=COLUMN".to_owned(),
            }),
            (Some(ErrorKind::Robust), true) => Err(Error::IdleWithout {
                parameter: "cluster",
                needed: "standard_errors=clustered".to_owned(),
            }),
            (None, true) if self.bootstrap.is_none() => Err(Error::IdleWithout {
                parameter: "cluster",
                needed: "standard_errors` or `bootstrap".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// # Errors
    /// If the level is not between 0 and 1.
    pub(crate) fn check_level(&self) -> Result<(), Error> {
        if self.level > 0.0 && self.level < 1.0 {
            return Ok(());
        }
        let level = self.level.to_string();
        Err(innermean::InvalidSetting::new("level", level, "a number between 0 and 1").into())
    }

    /// Whether the problem allows for what is asked, as far as that is known before it is solved.
    ///
    /// # Errors
    /// If the penalty has a kink, the loss has one and standard errors are asked for, or there are
    /// too few observations.
    pub fn check_problem(
        &self,
        problem: Objective<'_>,
        clusters: Option<&Clusters>,
    ) -> Result<(), Error> {
        let (n, d) = (problem.inner.n_x(), problem.inner.d());
        let units = clusters.map_or(n, Clusters::count);
        if let Some(clusters) = clusters {
            same_length("clusters of rows", clusters.of().len(), n)?;
        }
        let has_l1 = |l| problem.regularizer.coordinate(l).is_some_and(|part| part.l1 > 0.0);
        let reason = if (0..d).any(has_l1) {
            InferenceError::PenaltyKink
        } else if self.standard_errors.is_some() && problem.merit.has_kinks() {
            InferenceError::LossKink
        } else if units < 2 || n <= d {
            InferenceError::TooFewUnits { units, d }
        } else {
            return Ok(());
        };
        Err(Error::Inference { parameter: self.parameter(), reason })
    }

    /// How sure the answer of a run is. Without an answer the reason is in
    /// [`Inference::refused`]. Draws of the bootstrap after the time is up have no estimate.
    pub fn infer<T: Estimator + ?Sized>(
        &self,
        task: &T,
        solution: &Solution,
        clusters: Option<&Clusters>,
        seed: u64,
        time_left: &TimeLeft<'_>,
    ) -> Inference {
        let problem = task.problem();
        let n = problem.inner.n_x();
        let shifts = task.shifts();
        let centred = |z: &[f64]| {
            let mut theta = z.to_vec();
            task.unscale(&mut theta);
            for shift in &shifts {
                let mean = shift.iter().map(|&l| theta[l]).sum::<f64>() / shift.len().max(1) as f64;
                for &l in shift {
                    theta[l] -= mean;
                }
            }
            theta
        };
        let z = task.scaled(solution.theta.clone());
        // theta itself, which has not been scaled back and forth, where nothing is taken off.
        let estimates = if shifts.is_empty() { solution.theta.clone() } else { centred(&z) };
        let mut found = Inference::of(estimates, n, clusters, self.level);
        if !solution.status.is_solved() {
            found.refused = Some("the run did not end at a minimum".to_owned());
            return found;
        }
        if is_over(time_left()) {
            found.refused = Some(NO_TIME.to_owned());
            return found;
        }
        let dependence = clusters.cloned().map_or(Dependence::Independent, Dependence::Clustered);
        let sandwich = Sandwich { shifts: shifts.clone(), ..Sandwich::new(dependence) };
        let wanted = self.standard_errors.is_some();
        // By differences of gradients, where f bends, that takes long, and is left where time is short.
        let is_cheap = problem.inner.facts().affine || time_left().is_none();
        let is_seen = is_cheap && z.len() <= SMALL && !problem.merit.has_kinks();
        if wanted || is_seen {
            let go_on = || !is_over(time_left());
            match sandwich.of_terms_while(&go_on, problem, &z) {
                Ok(covariance) if wanted => {
                    let covariance = covariance.transformed(|z| z.copy_from_slice(&centred(z)));
                    let kind =
                        if clusters.is_some() { ErrorKind::Clustered } else { ErrorKind::Robust };
                    found.add_covariance(&covariance, kind.name());
                }
                Ok(_) => {}
                // The draws start from theta and find the minimum themselves.
                Err(InferenceError::NotSolved(_)) if !wanted => {}
                Err(reason) => {
                    found.refused = Some(reason.to_string());
                    return found;
                }
            }
        }
        if let Some(draws) = self.bootstrap {
            let clusters = clusters.cloned().unwrap_or_else(|| Clusters::singletons(n));
            let refit = |drawn: &[usize]| {
                refit_stop(time_left).and_then(|stop| refit_terms(problem, &z, stop)(drawn))
            };
            let units = Resampling::Clusters(clusters);
            let go_on = || !is_over(time_left());
            let replicates = bootstrap_while(&go_on, &units, draws, seed, refit);
            found.add_replicates(&replicates.map(centred), draws, seed);
        }
        found
    }
}
