//! Minimise a loss of averages:
//!
//! ```text
//! min over theta of  (1/n_X) sum_i phi_i( (1/n_Yi) sum_j f_theta(x_i, y_ij) ) + g(theta)
//! ```
//!
//! The average is inside the loss, so that the gradient of a random term is biased and ordinary
//! stochastic gradient methods converge to the wrong point. The methods here work on the
//! saddle-point form, where the averages come out; the first two are SVRPDA-I and SVRPDA-II (Devraj
//! and Chen, 2019).
//!
//! ```
//! use innermean::{Portfolio, Square, Unregularized};
//!
//! // Three days of returns of two assets, in percent.
//! let portfolio = Portfolio::new(2, vec![1.0, 0.2, -0.6, 0.1, 0.5, -0.1])?;
//! // Minimise -(expected return) + 1 * variance.
//! let problem = portfolio.problem(Square::new(1.0)?, Unregularized)?;
//! let solution = innermean::solve(&problem, &[0.0, 0.0])?;
//! assert!(solution.status.is_solved());
//! // The closed form is (2 Cov)^-1 mean.
//! assert!((solution.theta[0] - 0.2920).abs() < 1e-3 && (solution.theta[1] - 1.9551).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Map
//!
//! - [`inner`]: f. Queries ([`Inner`]: eight, of which five must be written), several samples at
//!   once ([`Fused`]), whole-data passes, which may fail ([`Passes`]), and what a solver may use
//!   ([`Facts`]).
//! - [`merit`], [`regularizer`]: phi and g, by value, conjugate and prox.
//! - [`problem`]: [`Problem`], the three with their types; [`Objective`], the three as pointers, on
//!   which everything below works.
//! - [`problems`]: f for portfolios, linear models, groups, policies, sequences, instrumental
//!   variables.
//! - [`collapse`], [`shared`]: other forms of a problem, with the averages of an affine f as rows,
//!   or with one inner sample for all terms.
//! - [`check`]: tests of an f, phi or g of your own ([`check_problem`]).
//! - [`leaves`]: data on any number of machines, as sums over pieces of fixed length.
//! - [`methods`]: the algorithms, their table ([`METHODS`]), the trait of a new one ([`Method`]).
//! - [`oracle`], [`draws`]: a method's access to f and phi, counted as in the paper, and its random
//!   numbers.
//! - [`auto`], [`choice`], [`steps`]: which method, the settings that a user may give, rules for
//!   steps.
//! - [`run`]: [`Driver`], a run to its end; [`Run`], a run in pieces; [`Solution`], [`status`],
//!   [`mod@checkpoint`].
//! - [`certificate`]: how far an answer is from optimal, as far as that can be proven.
//! - [`inference`]: standard errors, confidence intervals, the bootstrap.
//! - [`mod@optimum`]: optimal values that methods are compared with.
//! - [`vector`], [`elementary`]: vector kernels and elementary functions with the same bits on any
//!   CPU.
//!
//! Files are read by the crate `innermean-data`; `innermean-apps` has the applications: scaling,
//! losses by name, labels, fits in the units of the data. In `examples/`: a constrained portfolio,
//! an f of your own, a run in pieces, standard errors.

pub mod certificate;
pub mod draws;
pub mod inference;
mod linalg;
pub mod methods;
mod model;
pub mod optimum;
pub mod oracle;
pub mod problems;
pub mod run;
mod tuning;

pub use certificate::{Certificate, Measure, Reason};
pub use linalg::{elementary, vector};
pub use model::check::{CheckOptions, CheckReport, check_problem};
pub use model::class_scores::ClassScores;
pub use model::collapse::Collapsed;
pub use model::{check, collapse, inner, merit, problem, regularizer, setting, shared};
pub use run::checkpoint::{Checkpoint, CheckpointError};
pub use run::{checkpoint, status};
pub use tuning::auto::Outcome;
pub use tuning::choice::{Choice, ChoiceError, Knob};
pub use tuning::{auto, choice, steps};

/// For tests and measurements of this workspace; no part of the API.
#[doc(hidden)]
pub use {
    linalg::{cholesky, gram, product},
    run::evaluate,
    tuning::curvature,
};

pub use methods::reference::Reference;
pub use methods::svrpda::Settings;
pub use methods::svrpda1::Svrpda1;
pub use methods::svrpda2::Svrpda2;
pub use methods::{AnyMethod, Listed, METHODS, Method, MethodInfo};
pub use model::inner::{
    Bounds, CentredRows, Facts, Fused, Inner, Lost, PairRows, Passes, ProjectedRows, Rows, Sample,
    TransitionRow,
};
pub use model::merit::{
    Absolute, AnyMerit, Bernoulli, DownsideSquare, Excess, Exponential, Huber, Logistic, Merit,
    Multinomial, NegativeLog, Poisson, QuadraticForm, ScalarMerit, SmoothedHinge, Square,
    SquaredHinge, Weighted,
};
pub use model::numbers::Numbers;
pub use model::problem::{BoxedProblem, Constants, Objective, Problem};
pub use model::regularizer::{
    AnyRegularizer, BoxConstraint, Budget, Constraints, ElasticNet, FreeTail, L1, LinearConstraint,
    LogBarrier, Polyhedral, Regularizer, Ridge, Ridged, Separable, Simplex, Tilted, Unregularized,
    WeightedNorm,
};
pub use model::row_data::{ReadRows, RowData};
pub use model::row_moments::RowMoments;
pub use model::setting::InvalidSetting;
pub use model::shared::SharedForm;
pub use optimum::{Optimum, optimum};
pub use oracle::{Calls, Oracle};
pub use problems::bags::{Bags, Groups, Link, SoftmaxBags};
pub use problems::bellman::Bellman;
pub use problems::leaves;
pub use problems::moments::Moments;
pub use problems::mspbe::{Mspbe, Traces};
pub use problems::portfolio::Portfolio;
pub use problems::sequences::{LanguageModel, Sequences};
pub use problems::transitions::{Moves, StateFeatures, Transitions};
pub use run::status::Status;
pub use run::{Begin, Driver, Limits, Observer, Prepared, Record, Run, RunError, Solution, Stop};
pub use tuning::steps::StepRule;

/// Minimises `problem` from `start` by the method that suits it, with the default limits;
/// [`auto::solve`] takes others, and says what was chosen.
///
/// # Errors
/// If no method can be had: the numbers of the problem are out of all proportion.
pub fn solve<'p>(
    problem: impl Into<Objective<'p>>,
    start: &[f64],
) -> Result<Solution, ChoiceError> {
    Ok(auto::solve(&Driver::default(), problem, start, &mut (), 0)?.solution)
}

/// The example of the crate's README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
