//! Random problems of every command, loss, penalty, constraint and conditioning. Problem K of seed
//! S is the same whatever else is drawn.

use anyhow::Result;
use innermean::Objective;
use innermean::Solution;
use innermean::problems::scaling::Scaling;
use innermean::{Inner, Merit, Regularizer};
use serde::Serialize;

use self::columns::{Conditioning, Dice};
use self::files::Files;
use super::curved::Curved;
use super::double_double::Dd;
use super::objective::Affine;
use super::penalty::Penalty;

mod affine;
mod bent;
pub mod columns;
mod constraints;
pub mod files;
mod forms;
pub mod penalties;
mod policies;
mod risks;

/// Writes the kinds with their names.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $Kind:ident $name:literal)*) => {
        /// What a problem is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kind {
            $($(#[doc = $doc])* $Kind,)*
        }

        impl Kind {
            /// All of them.
            pub const ALL: &[Kind] = &[$(Kind::$Kind),*];

            /// Its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$Kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// A portfolio by its variance.
    Variance "portfolio-variance"
    /// By what falls below the mean.
    Semivariance "portfolio-semivariance"
    /// By the absolute deviation.
    Absolute "portfolio-absolute"
    /// By Huber's function.
    RiskHuber "portfolio-huber"
    /// Least squares.
    Square "linear-square"
    /// Huber's loss.
    Huber "linear-huber"
    /// The sum of absolute errors, which the library alone has.
    LinearAbsolute "linear-absolute"
    /// Logistic regression.
    Logistic "linear-logistic"
    /// The square of the hinge loss.
    SquaredHinge "linear-squared-hinge"
    /// The hinge loss with its kink rounded off.
    SmoothedHinge "linear-smoothed-hinge"
    /// The Bellman error of a model.
    Model "policy-model"
    /// That of a log.
    Log "policy-log"
    /// The projected Bellman error of a log.
    Projected "policy-projected"
    /// Means of groups.
    Identity "bags-identity"
    /// Proportions of groups.
    BagsLogistic "bags-logistic"
    /// The same by squares.
    BagsSquare "bags-logistic-square"
    /// Counts of groups.
    Exp "bags-exp"
    /// Proportions of classes of groups, and classes of rows.
    Softmax "bags-softmax"
    /// Sequences without labels.
    Sequences "sequences"
    /// The projected Bellman error of a log with eligibility traces.
    Traces "policy-traces"
    /// Moments, by two-stage least squares.
    Moments "moments"
    /// A portfolio of any risk within linear constraints and norms, with costs.
    Limits "portfolio-limits"
    /// By the conditional value at risk.
    Cvar "portfolio-cvar"
    /// By the entropic risk.
    Entropic "portfolio-entropic"
    /// By the mean logarithm of wealth.
    Kelly "portfolio-kelly"
    /// By contributions to the variance.
    RiskBudget "portfolio-risk-budget"
}

/// f, phi and g as the library has them.
pub struct Case {
    inner: Box<dyn Inner>,
    merit: Box<dyn Merit>,
    regularizer: Box<dyn Regularizer>,
    /// The units that the command takes for the run.
    scaling: Scaling,
}

impl Case {
    fn new(
        inner: impl Inner + 'static,
        merit: Box<dyn Merit>,
        regularizer: Box<dyn Regularizer>,
    ) -> Self {
        Case { inner: Box::new(inner), merit, regularizer, scaling: Scaling::default() }
    }

    /// The same in other units.
    fn scaled(self, scaling: Scaling) -> Self {
        Case { scaling, ..self }
    }

    /// An answer in the units of the file.
    pub fn restate(&self, tolerance: f64, solution: &mut Solution) {
        self.scaling.restate(self.problem(), tolerance, solution);
    }

    /// A start in the units of the run.
    pub fn rescale(&self, theta: &[f64]) -> Vec<f64> {
        self.scaling.scaled(theta)
    }

    /// The problem.
    pub fn problem(&self) -> Objective<'_> {
        Objective { inner: &*self.inner, merit: &*self.merit, regularizer: &*self.regularizer }
    }
}

/// The objective as its definition says.
#[derive(Debug, Clone)]
pub enum Truth {
    /// Of linear predictors: convex.
    Affine(Affine),
    /// Of a link that bends: not convex.
    Curved(Curved),
}

impl Truth {
    /// F and g.
    pub fn parts(&self, theta: &[Dd]) -> (Dd, Dd) {
        match self {
            Truth::Affine(affine) => affine.parts(theta),
            Truth::Curved(curved) => curved.parts(theta),
        }
    }

    /// P
    pub fn objective(&self, theta: &[Dd]) -> Dd {
        let (f, g) = self.parts(theta);
        f + g
    }

    /// `|F| + |g|`
    pub fn magnitude(&self, theta: &[Dd]) -> Dd {
        let (f, g) = self.parts(theta);
        f.abs() + g.abs()
    }

    /// g
    pub fn penalty(&self) -> &Penalty {
        match self {
            Truth::Affine(affine) => &affine.penalty,
            Truth::Curved(curved) => &curved.penalty,
        }
    }
}

/// A problem of the torture test.
pub struct Drawn {
    /// Its size, penalty and settings in words.
    pub words: String,
    /// For the library.
    pub case: Case,
    /// For the judge.
    pub truth: Truth,
    /// For the command line, where it has such problems.
    pub files: Option<Files>,
}

impl Drawn {
    fn new(words: String, case: Case, truth: Truth, files: Option<Files>) -> Self {
        Drawn { words, case, truth, files }
    }
}

/// What problem `number` is, whatever the seed.
pub fn kind(number: u64) -> Kind {
    Kind::ALL[(number % Kind::ALL.len() as u64) as usize]
}

/// What problem `number` of `seed` is like, and the draws that are left for it.
pub fn conditioning(seed: u64, number: u64) -> (Conditioning, Dice) {
    let mut dice = Dice::new(seed, number);
    let of_portfolios = kind(number) <= Kind::RiskHuber || kind(number) == Kind::Limits;
    let choices = Conditioning::ALL.len() - usize::from(!of_portfolios);
    // A third is ordinary.
    let drawn = if dice.chance(0.25) { 0 } else { dice.below(choices) };
    (Conditioning::ALL[drawn], dice)
}

/// Problem `number` of `seed`.
///
/// # Errors
/// If the library refuses it.
pub fn draw(seed: u64, number: u64) -> Result<Drawn> {
    let (conditioning, mut dice) = conditioning(seed, number);
    let dice = &mut dice;
    match kind(number) {
        kind @ (Kind::Variance | Kind::Semivariance | Kind::Absolute | Kind::RiskHuber) => {
            affine::portfolio(dice, kind, conditioning, false)
        }
        Kind::Limits => {
            let risks = [Kind::Variance, Kind::Semivariance, Kind::Absolute, Kind::RiskHuber];
            let risk = dice.of(&risks);
            affine::portfolio(dice, risk, conditioning, true)
        }
        kind @ (Kind::Cvar | Kind::Entropic) => risks::of_losses(dice, kind, conditioning),
        Kind::Kelly => risks::kelly(dice, conditioning),
        Kind::RiskBudget => risks::risk_budget(dice, conditioning),
        Kind::Model => policies::model(dice, conditioning),
        Kind::Log => policies::log(dice, conditioning),
        Kind::Projected => forms::projected(dice, conditioning, false),
        Kind::Traces => forms::projected(dice, conditioning, true),
        Kind::Moments => forms::moments(dice, conditioning),
        Kind::Identity => affine::identity(dice, conditioning),
        Kind::Sequences => bent::sequences(dice, conditioning),
        kind @ (Kind::BagsLogistic | Kind::BagsSquare | Kind::Exp | Kind::Softmax) => {
            bent::groups(dice, kind, conditioning)
        }
        kind => affine::linear(dice, kind, conditioning),
    }
}
