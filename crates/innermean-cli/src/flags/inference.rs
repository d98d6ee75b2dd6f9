//! The flags that ask how sure an answer is.

use std::sync::atomic::Ordering;

use anyhow::Result;
use clap::Args;
use innermean::Solution;
use innermean::inference::Clusters;
use innermean_apps::Error;
use innermean_apps::run::inference::{
    ErrorKind, Estimator, Inference, InferenceSettings, TOLERANCE,
};
use innermean_data::Keys;
use rayon::ThreadPool;

use crate::flags::input::fits_into_memory;
use crate::flags::number;
use crate::flags::solver::SolverFlags;
use crate::output::human::grouped;
use crate::run::{deadline, interrupt};

/// Standard errors, intervals and the bootstrap.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "How sure")]
pub(crate) struct InferenceFlags {
    /// Standard errors of the coefficients by the sandwich formula, and intervals; solved to a
    /// tolerance of 1e-10 at least
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", value_parser = kind)]
    standard_errors: Option<Kind>,

    /// Estimate again from DRAWS draws of the data with replacement, for standard errors and
    /// percentile intervals without a formula, such as 1000; --seed is that of the draws too
    #[arg(long, value_name = "DRAWS", value_parser = draws, allow_hyphen_values = true)]
    bootstrap: Option<usize>,

    /// How often intervals are to hold the truth [default: 0.95]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    level: Option<f64>,
}

/// [`ErrorKind`], or what suits.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Usual,
    Given(ErrorKind),
}

fn kind(text: &str) -> Result<Kind, String> {
    use innermean_apps::wording::Named;
    match text {
        "" => Ok(Kind::Usual),
        name => ErrorKind::named(name)
            .map(Kind::Given)
            .ok_or_else(|| "expected robust or clustered".to_owned()),
    }
}

/// Of a bootstrap.
pub(crate) fn draws(text: &str) -> Result<usize, String> {
    let expected = || "expected a whole number of draws, 2 or above, such as 1000".to_owned();
    number::positive_size(text).ok().filter(|draws| *draws >= 2).ok_or_else(expected)
}

/// A level of confidence.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let expected = || "expected a number between 0 and 1, such as 0.95".to_owned();
    number::positive(text).ok().filter(|level| *level < 1.0).ok_or_else(expected)
}

impl InferenceFlags {
    /// What is asked for, of data with clusters or without.
    pub(crate) fn settings(&self, has_clusters: bool) -> Result<InferenceSettings> {
        let usual = if has_clusters { ErrorKind::Clustered } else { ErrorKind::Robust };
        let settings = self.settings_by(usual)?;
        settings.check(has_clusters)?;
        Ok(settings)
    }

    /// The same where the data say what suits, such as errors by episode.
    pub(crate) fn settings_by(&self, usual: ErrorKind) -> Result<InferenceSettings> {
        self.check()?;
        let mut settings = InferenceSettings::default();
        settings.standard_errors = self.standard_errors.map(|kind| match kind {
            Kind::Usual => usual,
            Kind::Given(kind) => kind,
        });
        settings.bootstrap = self.bootstrap;
        settings.level = self.level.unwrap_or(settings.level);
        Ok(settings)
    }

    /// Whether anything of it was asked for.
    pub(crate) fn is_on(&self) -> bool {
        self.standard_errors.is_some() || self.bootstrap.is_some()
    }

    /// A level of nothing is refused.
    pub(crate) fn check(&self) -> Result<()> {
        if self.level.is_some() && !self.is_on() {
            let needed = "standard_errors` or `bootstrap".to_owned();
            return Err(Error::IdleWithout { parameter: "level", needed }.into());
        }
        Ok(())
    }

    /// The same of groups, which are clusters of rows by themselves.
    pub(crate) fn settings_of_groups(&self) -> Result<InferenceSettings> {
        let standard_errors = self.standard_errors.map(|_| Kind::Usual);
        InferenceFlags { standard_errors, ..*self }.settings(false)
    }

    /// The solver's flags with a tolerance that standard errors can be had at.
    pub(crate) fn tightened(&self, solver: &SolverFlags) -> SolverFlags {
        let mut solver = solver.clone();
        if self.standard_errors.is_some() {
            solver.stop.tolerance = solver.stop.tolerance.min(TOLERANCE);
        }
        solver
    }
}

/// What was asked for, with what it takes.
pub(crate) struct Asked<'a> {
    settings: InferenceSettings,
    clusters: Option<Clusters>,
    solver: &'a SolverFlags,
}

impl<'a> Asked<'a> {
    /// None if nothing was asked for. Whatever does not suit the problem is refused here.
    pub(crate) fn new<T: Estimator>(
        settings: InferenceSettings,
        clusters: Option<Keys>,
        task: &T,
        solver: &'a SolverFlags,
    ) -> Result<Option<Self>> {
        if !settings.is_on() {
            return Ok(None);
        }
        let clusters = clusters.map(|keys| Clusters::new(keys.codes)).transpose()?;
        let problem = task.problem();
        settings.check_problem(problem, clusters.as_ref())?;
        if settings.standard_errors.is_some() {
            covariance_fits(problem.inner.d())?;
        }
        Ok(Some(Asked { settings, clusters, solver }))
    }

    /// On these threads. Draws that come after the time is up have no estimate.
    pub(crate) fn infer<T: Estimator + Sync>(
        &self,
        task: &T,
        solution: &Solution,
        threads: &ThreadPool,
    ) -> Result<Inference> {
        let (clusters, seed) = (self.clusters.as_ref(), self.solver.seed);
        let left = time_left(self.solver.stop.max_seconds)?;
        Ok(threads.install(|| self.settings.infer(task, solution, clusters, seed, &left)))
    }
}

/// The seconds that are left for standard errors and draws; 0 after a signal.
pub(crate) fn time_left(max_seconds: Option<f64>) -> Result<impl Fn() -> Option<f64> + Sync> {
    let interrupt = interrupt::listen()?;
    Ok(move || {
        if interrupt.load(Ordering::Relaxed) {
            return Some(0.0);
        }
        // Just below the limit: 0 is "no time left", not "no limit".
        deadline::left(max_seconds).map(|left| left - f64::MIN_POSITIVE)
    })
}

/// Refuses a covariance that does not fit into memory: the Hessian, its factor, the scores'
/// products and the covariance.
pub(crate) fn covariance_fits(d: usize) -> Result<()> {
    let size = format!("--standard-errors: {} coefficients", grouped(d as u64));
    fits_into_memory(&size, &[d, d, 4])
}

/// Clusters of the rows that are kept, numbered anew.
pub(crate) fn kept(mut keys: Keys, kept: impl Fn(usize) -> bool) -> Keys {
    let mut numbers = vec![None; keys.names.len()];
    let mut names = Vec::new();
    let mut codes = Vec::with_capacity(keys.codes.len());
    for (row, &code) in keys.codes.iter().enumerate() {
        if kept(row) {
            let number = *numbers[code as usize].get_or_insert_with(|| {
                names.push(keys.names[code as usize].clone());
                names.len() as u32 - 1
            });
            codes.push(number);
        }
    }
    (keys.names, keys.codes) = (names, codes);
    keys
}
