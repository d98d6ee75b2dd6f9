//! The flags that compare penalties by rows held out.

use anyhow::{Result, bail};
use clap::Args;
use innermean_apps::penalty::Penalty;
use innermean_apps::validation::{Path, PathOf, Score, ValidationTable};

use crate::flags::number;
use crate::flags::spelling::by_name;

/// Norms of theta, of which several may be compared.
#[derive(Debug, Clone, Args)]
pub(crate) struct PenaltyListFlags {
    /// The weight of |theta|_1, which makes coordinates exactly zero; several with commas between
    /// them are compared by --cv
    #[arg(long, value_name = "WEIGHT", default_value = "0", value_parser = number::non_negative)]
    #[arg(allow_hyphen_values = true, value_delimiter = ',')]
    l1: Vec<f64>,

    /// The weight of |theta|^2 / 2, which keeps theta small and the problem strongly convex;
    /// several with commas between them are compared by --cv
    #[arg(long, value_name = "WEIGHT", default_value = "0", value_parser = number::non_negative)]
    #[arg(allow_hyphen_values = true, value_delimiter = ',')]
    l2: Vec<f64>,
}

/// Cross-validation.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Cross-validation")]
pub(crate) struct ValidationFlags {
    /// Compare penalties by cross-validation with K folds, drawn by --seed, and fit all
    /// rows with the best; without --l1, --l2 or --path, 20 weights of the ridge
    #[arg(long, value_name = "K", value_parser = folds, allow_hyphen_values = true)]
    cv: Option<usize>,

    /// A column that says which fold a row is in, instead of folds that are drawn
    #[arg(long, value_name = "COLUMN", conflicts_with = "cv")]
    pub(crate) fold_column: Option<String>,

    /// What folds are scored by [default: log-loss for probabilities, accuracy for other classes,
    /// deviance for counts, mse for numbers]
    #[arg(long, value_name = "SCORE", value_parser = by_name::<Score>())]
    score: Option<Score>,

    /// Compare N weights of a norm, in geometric progression from the largest that is
    /// useful
    #[arg(long, value_name = "N", value_parser = length, allow_hyphen_values = true)]
    path: Option<usize>,

    /// The norm of the path; the other one keeps its weight
    #[arg(long, value_name = "NORM", value_parser = by_name::<PathOf>(), requires = "path")]
    path_of: Option<PathOf>,

    /// The smallest weight of the path over the largest [default: 1e-3 for l1, 1e-6 for l2]
    #[arg(long, value_name = "RATIO", value_parser = number::positive, requires = "path")]
    path_ratio: Option<f64>,

    /// Fit all rows with the strongest penalty whose score is within a standard error of the best
    #[arg(long)]
    one_standard_error: bool,
}

/// Weights of a path where nothing is said.
const USUAL_LENGTH: usize = 20;

fn folds(text: &str) -> Result<usize, String> {
    number::positive_size(text)
        .ok()
        .filter(|folds| *folds >= 2)
        .ok_or_else(|| "expected a whole number of folds, 2 or above, such as 5".to_owned())
}

fn length(text: &str) -> Result<usize, String> {
    const MOST: usize = 10_000;
    number::positive_size(text)
        .ok()
        .filter(|length| (2..=MOST).contains(length))
        .ok_or_else(|| format!("expected a whole number from 2 to {MOST}"))
}

/// The penalties that are compared.
pub(crate) enum Compared {
    These(Vec<Penalty>),
    Along(Path),
}

impl PenaltyListFlags {
    /// The first of each.
    pub(crate) fn first(&self) -> Penalty {
        let first = |weights: &[f64]| weights.first().copied().unwrap_or(0.0);
        Penalty { l1: first(&self.l1), l2: first(&self.l2) }
    }
}

impl ValidationFlags {
    /// Whether anything is compared.
    pub(crate) fn is_on(&self) -> bool {
        self.cv.is_some() || self.fold_column.is_some()
    }

    /// Refuses what does nothing, or cannot be.
    pub(crate) fn check(&self, penalty: &PenaltyListFlags) -> Result<()> {
        let ValidationFlags { score, path, one_standard_error, .. } = self;
        if !self.is_on() {
            for (flag, weights) in [("--l1", &penalty.l1), ("--l2", &penalty.l2)] {
                if weights.len() > 1 {
                    let weights: Vec<String> = weights.iter().map(f64::to_string).collect();
                    bail!(
                        "{flag} {}: several weights are compared by cross-validation; expected \
                         one, or --cv 5 with them",
                        weights.join(",")
                    );
                }
            }
            let given = [
                ("--score", score.is_some()),
                ("--path", path.is_some()),
                ("--one-standard-error", *one_standard_error),
            ];
            if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
                bail!("{flag} does nothing without --cv or --fold-column; expected one of them");
            }
        }
        self.compared(penalty).map(drop)
    }

    /// What is compared.
    pub(crate) fn compared(&self, penalty: &PenaltyListFlags) -> Result<Compared> {
        let PenaltyListFlags { l1, l2 } = penalty;
        let one = l1.len() == 1 && l2.len() == 1 && penalty.first().is_zero();
        let length = self.path.or(one.then_some(USUAL_LENGTH));
        let Some(length) = length else {
            let pairs = l1.iter().flat_map(|&l1| l2.iter().map(move |&l2| Penalty { l1, l2 }));
            return Ok(Compared::These(pairs.collect()));
        };
        let of = self.path_of.unwrap_or_default();
        let (flag, own, other) = match of {
            PathOf::L1 => ("--l1", l1, l2),
            PathOf::L2 => ("--l2", l2, l1),
        };
        if own.len() > 1 || own.first().is_some_and(|weight| *weight > 0.0) {
            bail!("{flag}: the weights of {of} are those of --path; leave it out, or --path");
        }
        if other.len() > 1 {
            bail!("--path {length}: goes along one norm; expected one weight of the other");
        }
        let usual = if of == PathOf::L1 { 1e-3 } else { 1e-6 };
        let ratio = self.path_ratio.unwrap_or(usual);
        if ratio >= 1.0 {
            bail!("--path-ratio {ratio}: expected a number above 0 and below 1");
        }
        let other = other.first().copied().unwrap_or(0.0);
        Ok(Compared::Along(Path { of, length, ratio, other }))
    }

    /// How many folds are drawn.
    pub(crate) fn folds(&self) -> usize {
        self.cv.unwrap_or(2)
    }

    /// What they are scored by.
    pub(crate) fn score(&self) -> Option<Score> {
        self.score
    }

    /// The row of the table that all rows are fitted with.
    pub(crate) fn chosen(&self, table: &ValidationTable) -> usize {
        if self.one_standard_error { table.one_standard_error } else { table.best }
    }
}
