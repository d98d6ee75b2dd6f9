//! The rows of the table of methods: what each is, and what it asks of a problem.

use super::direct::quadratic;
use super::{METHODS, newton};
use crate::certificate::hessian::ties_classes;
use crate::model::inner::Sample;
use crate::model::merit::QuadraticForm;
use crate::model::problem::Objective;
use crate::model::setting::InvalidSetting;
use crate::model::shared::{MOST_PICKED, shared_form};
use crate::tuning::choice::{ChoiceError, Knob};

/// One row of the table from which command line, documentation and tests take their lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodInfo {
    /// The name on the command line and in output.
    pub name: &'static str,
    /// The name in the literature.
    pub title: &'static str,
    /// What it is like.
    pub family: Family,
    /// What it is, in half a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// Numbers stored beside the data and theta.
    pub storage: &'static str,
    /// How fast it converges where phi is smooth and the problem strongly convex.
    pub rate: Rate,
    /// The form of the problem on which it works.
    pub form: Form,
    /// What it asks of the problem.
    pub asks: &'static [Ask],
    /// The settings that it has.
    pub settings: &'static [Knob],
}

/// What a method is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Steps along whole gradients.
    Batch,
    /// Steps on the saddle-point form.
    PrimalDual,
    /// Steps along estimates of the gradient of the composition.
    Composition,
    /// Steps for the mean squared projected Bellman error.
    PolicyEvaluation,
}

impl Family {
    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Family::Batch => "Whole gradients",
            Family::PrimalDual => "Primal-dual",
            Family::Composition => "Gradients of the composition",
            Family::PolicyEvaluation => "Policy evaluation (MSPBE)",
        }
    }
}

/// How fast a method converges where phi is smooth and the problem strongly convex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// By a factor for this many steps, to the last digit.
    Linear,
    /// By a power of the number of steps.
    Sublinear,
}

/// The form of the problem on which a method works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As it is given.
    Given,
    /// With an inner sample shared by all terms: problem (2) of the paper, in higher dimension
    /// where need be.
    Shared,
    /// With an affine f averaged once into linear predictors; as it is given if f is not affine.
    Collapsed,
}

/// What a method may ask of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ask {
    /// phi has a gradient everywhere.
    SmoothMerit,
    /// The same; or what the method of multipliers asks for, but for an affine f.
    Linearisable,
    /// f is affine.
    AffineInner,
    /// The inner samples are shared, or can be: all terms have equally many, or f knows a better
    /// form.
    SharedSample,
    /// One outer term whose phi is a quadratic form, and an affine f.
    QuadraticForm,
    /// F is a quadratic, g a sum over coordinates with or without a budget, and both are small
    /// enough for second derivatives.
    Quadratic,
    /// phi has a kink and is a sum over coordinates.
    Kinks,
    /// d is so moderate that quadratic programs can be solved.
    FewColumns,
    /// The same, or most coordinates have a corner of g at which they may rest.
    FewThatMove,
    /// phi is a sum over coordinates that knows its second derivatives, or a quadratic form of one
    /// average.
    SecondDerivatives,
    /// The same, or f gives scores of classes, which phi ties together.
    Hessian,
    /// phi is a sum over coordinates that knows its second derivatives.
    DiagonalHessian,
    /// f is affine, and so small that twice the precision costs little.
    Small,
    /// g is a sum over coordinates; or one within a budget, and d is moderate.
    Parts,
    /// The same, or a budget of all but the last coordinates.
    PartsAndTail,
    /// g is a sum over coordinates, without a constraint on theta as a whole.
    Separable,
}

impl Ask {
    /// In words, as in "needs ...".
    pub fn words(self) -> &'static str {
        match self {
            Ask::SmoothMerit => "a smooth phi",
            Ask::Linearisable => {
                "a smooth phi; or one with kinks that is a sum over coordinates, with a g that is a \
                 sum over coordinates, with or without a budget of all or the first, and at most \
                 2000 coordinates"
            }
            Ask::AffineInner => "an affine f",
            Ask::SharedSample => "equally many inner samples for every outer term",
            Ask::QuadraticForm => {
                "one outer term with a quadratic form as phi (n_X = 1, ell = d) and an affine f"
            }
            Ask::Quadratic => {
                "an affine f, squares or one quadratic form as phi, a g that is a sum over \
                 coordinates, with or without a budget, or of logarithms, and at most 10 000 coordinates or averages \
                 (2000 coordinates where g is more than a ridge and a linear term)"
            }
            Ask::Kinks => "a phi with kinks that is a sum over coordinates",
            Ask::FewColumns => "at most 2000 coordinates",
            Ask::FewThatMove => "at most 2000 coordinates, or 10 000 at most of which g has kinks",
            Ask::SecondDerivatives | Ask::Hessian => "a phi whose second derivatives are known",
            Ask::DiagonalHessian => {
                "a phi that is a sum over coordinates whose second derivatives are known"
            }
            Ask::Separable => "a g that is a sum over coordinates",
            Ask::Small => {
                "an affine f of few numbers (n_X ell d^2 at most 2 million) and a g without linear \
                 constraints"
            }
            Ask::Parts => {
                "a g that is a sum over coordinates, with or without linear constraints or a budget"
            }
            Ask::PartsAndTail => {
                "a g that is a sum over coordinates, with or without a budget of all or the first"
            }
        }
    }

    /// What is not so, if the problem is not what is asked for.
    fn missing(self, problem: Objective<'_>) -> Option<&'static str> {
        let f = problem.inner;
        match self {
            Ask::SmoothMerit => problem.merit.has_kinks().then_some("phi has a kink"),
            Ask::Linearisable if !problem.merit.has_kinks() => None,
            Ask::Linearisable => [Ask::Kinks, Ask::PartsAndTail, Ask::FewColumns]
                .iter()
                .find_map(|ask| ask.missing(problem)),
            Ask::AffineInner => (!f.facts().affine).then_some("f is not affine"),
            Ask::SharedSample if f.facts().sample == Sample::Shared || shared_form(f).is_some() => {
                None
            }
            Ask::SharedSample if f.ell() > MOST_PICKED => {
                Some("its averages have more than 16 coordinates")
            }
            Ask::SharedSample => Some("the outer terms have different numbers of inner samples"),
            Ask::Quadratic => quadratic::missing(problem),
            Ask::Kinks if !problem.merit.has_kinks() => Some("phi has none"),
            Ask::Kinks => {
                let (zeros, mut slopes) = (vec![0.0; f.ell()], vec![0.0; f.ell()]);
                let is_sum =
                    f.n_x() == 0 || problem.merit.prox_slopes(0..1, 1.0, &zeros, &mut slopes);
                (!is_sum).then_some("phi is no such sum")
            }
            Ask::FewColumns => (f.d() > quadratic::MOST_VARIABLES).then_some("there are more"),
            Ask::FewThatMove if f.d() <= MOST_WITH_KINKS && is_mostly_kinks(problem) => None,
            Ask::FewThatMove => Ask::FewColumns.missing(problem),
            Ask::Hessian if ties_classes(problem) => None,
            Ask::SecondDerivatives | Ask::Hessian => {
                let form = f.n_x() == 1 && problem.merit.quadratic_form().is_some();
                let known = form || problem.merit.hessian_diagonal(0..0, &[], &mut []);
                (!known).then_some("those of phi are not")
            }
            Ask::DiagonalHessian => (!problem.merit.hessian_diagonal(0..0, &[], &mut []))
                .then_some("those of phi are not, or it is none"),
            Ask::Separable => {
                (f.d() > 0 && problem.regularizer.coordinate(0).is_none()).then_some("g is none")
            }
            Ask::Small => (!crate::linalg::precise::is_affordable(problem))
                .then_some("there are more, or it is not"),
            Ask::Parts | Ask::PartsAndTail => {
                let g = problem.regularizer;
                if f.d() == 0 || g.coordinate(0).is_some() {
                    None
                } else if g.constrained_coordinate(0).is_none() {
                    Some("g is no sum over coordinates")
                } else if self == Ask::Parts && g.budgeted(f.d()) < f.d() {
                    Some("its budget leaves out coordinates")
                } else {
                    (f.d() > newton::MOST)
                        .then_some("with a budget there may be at most 2000 columns")
                }
            }
            Ask::QuadraticForm => {
                let form = problem.merit.quadratic_form();
                if f.n_x() != 1 {
                    Some("there are several outer terms")
                } else if form.is_none_or(|form| form.ell() != f.ell()) {
                    Some("phi is no quadratic form")
                } else if f.ell() != f.d() {
                    Some("ell is not d")
                } else if form.and_then(QuadraticForm::samples).is_some_and(|t| t != f.n_y(0)) {
                    Some("its matrix is an average over another number of samples than f has")
                } else {
                    (!f.facts().affine).then_some("f is not affine")
                }
            }
        }
    }
}

/// Coordinates of which only those that do not rest at a kink of g have a matrix.
const MOST_WITH_KINKS: usize = 10_000;

/// Along how many coordinates g has a kink at 0.
pub(crate) fn kinks(problem: Objective<'_>) -> usize {
    let part = |l: usize| problem.regularizer.coordinate(l);
    (0..problem.inner.d()).filter(|&l| part(l).is_some_and(|part| part.l1 > 0.0)).count()
}

/// Whether it has along nearly all.
pub(crate) fn is_mostly_kinks(problem: Objective<'_>) -> bool {
    10 * kinks(problem) >= 9 * problem.inner.d()
}

impl MethodInfo {
    /// What the method asks for and the problem is not, in words.
    pub fn missing<'p>(&self, problem: impl Into<Objective<'p>>) -> Option<String> {
        let problem = problem.into();
        let missing = |ask: &Ask| ask.missing(problem).map(|missing| (ask.words(), missing));
        self.asks
            .iter()
            .find_map(missing)
            .map(|(asked, missing)| format!("it needs {asked}, and {missing}"))
    }

    /// # Errors
    /// If the problem is not what the method asks for; the error names the methods that suit.
    pub fn suits<'p>(&self, problem: impl Into<Objective<'p>>) -> Result<(), ChoiceError> {
        let problem = problem.into();
        let Some(missing) = self.missing(problem) else { return Ok(()) };
        let suited: Vec<&str> = METHODS
            .iter()
            .filter(|row| row.missing(problem).is_none())
            .map(|row| row.name)
            .collect();
        Err(ChoiceError::Unsuited { method: self.name, missing, suited: suited.join(", ") })
    }
}

/// There is no method of that name.
pub(super) fn unknown(name: &str) -> InvalidSetting {
    let names: Vec<&str> = METHODS.iter().map(|row| row.name).collect();
    InvalidSetting::new("method", name, format!("one of {}", names.join(", ")))
}
