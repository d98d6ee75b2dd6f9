//! From columns and settings to coefficients.

use innermean::inference::{
    Clusters, Correction, Covariance, Dependence, InferenceError, Resampling, bootstrap_while,
};
use innermean::problems::moments::{self, MomentErrors, MomentsFit, Weighting};
use innermean::problems::scaling::Scaling;
use innermean::{Certificate, Moments, Objective, RowData, Unregularized};

use super::columns::{expanded, rows};
use super::{
    Column, FirstStage, MomentsAnswer, MomentsData, MomentsError, MomentsErrors, MomentsSettings,
    Steps,
};
use crate::error::{Error, same_length};
use crate::linear::INTERCEPT;
use crate::run::RunError;
use crate::run::inference::{Inference, InferenceSettings, TimeLeft, is_over};
use crate::wording::Named;

/// Columns and settings made into moments.
#[derive(Debug)]
pub struct MomentsTask {
    /// Of columns brought to one scale: estimates and J are the same, and keep their digits where
    /// columns are far from zero or in units far apart.
    moments: Moments,
    /// Of the regressors.
    scaling: Scaling,
    names: Vec<String>,
    instruments: Vec<String>,
    clusters: Option<Clusters>,
    errors: MomentsErrors,
    settings: MomentsSettings,
    rows: usize,
    /// The regressors that are not exogenous, which come first.
    endogenous: usize,
}

impl MomentsSettings {
    /// What can be found out without data.
    ///
    /// # Errors
    /// If the level is not between 0 and 1, clustered errors have no clusters, or clusters other
    /// errors, or a spline comes twice or without an intercept.
    pub fn check(&self, has_clusters: bool) -> Result<(), Error> {
        InferenceSettings { level: self.level, ..InferenceSettings::default() }.check(false)?;
        match (self.errors, has_clusters) {
            (Some(MomentsErrors::Clustered), false) => {
                return Err(Error::IdleWithout {
                    parameter: "standard_errors=clustered",
                    needed: "cluster=COLUMN".to_owned(),
                });
            }
            (Some(MomentsErrors::Unadjusted | MomentsErrors::Robust), true) => {
                return Err(Error::IdleWithout {
                    parameter: "cluster",
                    needed: "standard_errors=clustered".to_owned(),
                });
            }
            _ => {}
        }
        for (k, spline) in self.splines.iter().enumerate() {
            if self.splines[..k].iter().any(|before| before.column == spline.column) {
                return Err(MomentsError::SplineTwice(spline.column.clone()).into());
            }
            if !self.intercept {
                return Err(MomentsError::SplineWithoutIntercept(spline.column.clone()).into());
            }
        }
        Ok(())
    }
}

impl MomentsTask {
    /// The moments of these columns.
    ///
    /// # Errors
    /// If settings contradict each other, columns have different lengths or numbers that are not
    /// finite, there are fewer instruments than regressors, or a spline has no column or no knots.
    pub fn new(data: &MomentsData, settings: &MomentsSettings) -> Result<Self, Error> {
        settings.check(data.clusters.is_some())?;
        let n = data.outcome.len();
        let MomentsData { endogenous, exogenous, instruments, .. } = data;
        let all = || endogenous.iter().chain(exogenous).chain(instruments);
        for column in all() {
            same_length("numbers of a column", column.values.len(), n)?;
        }
        if let Some(clusters) = &data.clusters {
            same_length("clusters of rows", clusters.of().len(), n)?;
        }
        for spline in &settings.splines {
            if !all().any(|column| column.name == spline.column) {
                let names: Vec<&str> = all().map(|column| column.name.as_str()).collect();
                let (column, names) = (spline.column.clone(), names.join(", "));
                return Err(MomentsError::NoSuchColumn(column, names).into());
            }
        }
        let made = |columns: &[Column]| expanded(columns, &settings.splines, settings.degree);
        let (endogenous, exogenous, instruments) =
            (made(endogenous)?, made(exogenous)?, made(instruments)?);
        let intercept = settings.intercept;
        let regressors: Vec<&Column> = endogenous.iter().chain(&exogenous).collect();
        let instruments: Vec<&Column> = instruments.iter().chain(&exogenous).collect();
        let ones = usize::from(intercept);
        let (d, ell) = (regressors.len() + ones, instruments.len() + ones);
        if regressors.is_empty() {
            return Err(MomentsError::NoRegressors.into());
        }
        if ell < d {
            return Err(MomentsError::TooFewInstruments { instruments: ell, regressors: d }.into());
        }
        let scaled = |columns: &[&Column]| {
            let (features, width) = (columns.len(), columns.len() + ones);
            let mut rows = RowData::from(rows(columns, n, intercept));
            let scaling = Scaling::of_wide_rows(&mut rows, features, width, intercept);
            (rows.into_vec(), scaling)
        };
        let ((x, scaling), (z, _)) = (scaled(&regressors), scaled(&instruments));
        let moments = Moments::new(d, x, ell, z, data.outcome.clone())?;
        let names = |columns: &[&Column]| {
            let ones = intercept.then(|| INTERCEPT.to_owned());
            columns.iter().map(|column| column.name.clone()).chain(ones).collect()
        };
        let usual =
            if data.clusters.is_some() { MomentsErrors::Clustered } else { MomentsErrors::Robust };
        Ok(MomentsTask {
            moments,
            scaling,
            names: names(&regressors),
            instruments: names(&instruments),
            clusters: data.clusters.clone(),
            errors: settings.errors.unwrap_or(usual),
            settings: settings.clone(),
            rows: n,
            endogenous: endogenous.len(),
        })
    }

    /// The names of the coefficients, the intercept last.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of all instruments.
    pub fn instruments(&self) -> &[String] {
        &self.instruments
    }

    /// Estimates. `seed` is that of the bootstrap, whose draws after the time is up have no
    /// estimate.
    ///
    /// # Errors
    /// If instruments are linearly dependent, or do not identify the coefficients, or there are too
    /// few rows or clusters.
    pub fn fit(&self, seed: u64, time_left: &TimeLeft<'_>) -> Result<MomentsAnswer, Error> {
        let errors = match (self.errors, &self.clusters) {
            (MomentsErrors::Unadjusted, _) => MomentErrors::Unadjusted,
            (MomentsErrors::Clustered, Some(clusters)) => {
                MomentErrors::Robust(Dependence::Clustered(clusters.clone()))
            }
            _ => MomentErrors::Robust(Dependence::Independent),
        };
        let weighting = match self.settings.steps {
            Steps::One => Weighting::TwoStageLeastSquares,
            Steps::Two => Weighting::TwoStep(errors.clone()),
            Steps::Iterated => Weighting::Iterated(errors.clone()),
        };
        if let Some(k) = self.moments.dependent_instrument() {
            let (name, count) = (self.instruments[k].clone(), self.instruments.len());
            return Err(MomentsError::DependentInstrument(name, count).into());
        }
        let refused = |reason| match reason {
            InferenceError::Invalid(_) => MomentsError::DependentMoments(self.instruments.len()),
            other => MomentsError::NotEstimated(other),
        };
        let fit = self.moments.fit(&weighting).map_err(refused)?;
        let correction =
            if self.settings.small_sample { Correction::SmallSample } else { Correction::None };
        let mut covariance = self.moments.covariance(&fit, &errors, correction).map_err(refused)?;
        if !self.settings.small_sample {
            let d = fit.theta.len();
            covariance = Covariance::new(d, covariance.matrix().to_vec(), f64::INFINITY);
        }
        let first_stage = self.first_stage().map_err(refused)?;
        let (objective, certificate) = self.certified(&fit)?;
        let clusters = self.clusters.as_ref();
        let unscaled = |z: &[f64]| {
            let mut theta = z.to_vec();
            self.scaling.unscale(&mut theta);
            theta
        };
        let estimates = unscaled(&fit.theta);
        let covariance = covariance.transformed(|z| self.scaling.unscale(z));
        let mut inference = Inference::of(estimates, self.rows, clusters, self.settings.level);
        inference.add_covariance(&covariance, self.errors.name());
        if let Some(draws) = self.settings.bootstrap {
            let clusters = self.clusters.clone().unwrap_or_else(|| Clusters::singletons(self.rows));
            let refit = self.moments.refit(&weighting);
            let units = Resampling::Clusters(clusters);
            let go_on = || !is_over(time_left());
            let replicates = bootstrap_while(&go_on, &units, draws, seed, refit);
            inference.add_replicates(&replicates.map(unscaled), draws, seed);
        }
        Ok(MomentsAnswer {
            names: self.names.clone(),
            instruments: self.instruments.clone(),
            rows: self.rows,
            steps: fit.steps,
            errors: self.errors,
            j: fit.j.map(Into::into),
            first_stage,
            objective,
            certificate,
            inference,
        })
    }

    fn first_stage(&self) -> Result<Vec<FirstStage>, InferenceError> {
        let found = self.moments.first_stages(self.endogenous)?;
        let named = |(name, stage): (&String, moments::FirstStage)| FirstStage {
            regressor: name.clone(),
            f: stage.f,
            degrees_of_freedom: stage.degrees_of_freedom,
            partial_r_squared: stage.partial_r_squared,
        };
        Ok(self.names.iter().zip(found).map(named).collect())
    }

    /// The objective at an estimate, and how far it is from its minimum at most: what is proven of
    /// a run that starts there, and the little that this may have gained.
    fn certified(&self, fit: &MomentsFit) -> Result<(f64, Certificate), Error> {
        let problem =
            Objective { inner: &self.moments, merit: &fit.form, regularizer: &Unregularized };
        let at = problem.objective(&fit.theta);
        let found = innermean::solve(problem, &fit.theta)
            .map_err(|error| RunError::Rule(error.to_string()))?;
        let gained = (at - found.objective).max(0.0);
        let mut certificate = found.certificate;
        certificate.gap = certificate.gap.map(|gap| gap + gained);
        Ok((at, certificate))
    }
}
