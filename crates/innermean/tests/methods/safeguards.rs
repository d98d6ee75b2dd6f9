//! Every stochastic method with no settings, on problems whose constants mislead its rule: none
//! diverges, and none stalls.

use std::fmt::Write;
use std::ops::Range;

use crate::support::market::{Limits, Market, Risk, Task};
use crate::support::process;
use crate::support::regression::Data;
use crate::support::toy::{Affine, SoftplusUnits, least_squares, softplus_of_softplus};
use innermean::methods::{Family, Form, MethodInfo, Rate};
use innermean::oracle::gradient_calls;
use innermean::problems::linear::ridge_regression;
use innermean::{
    AnyMethod, Bounds, BoxedProblem, Choice, Driver, Facts, Fused, Inner, METHODS, Merit, Mspbe,
    Passes, Problem, Regularizer, Solution, Status, Stop, optimum,
};
use innermean_data::{Features, MdpOptions, generate_mdp};

/// What is left of the start's gap where a linear rate must come to, and a sublinear one; what they
/// may take, in the calls of whole gradients.
const REACHED: (f64, f64) = (1e-6, 1e-1);
const PASSES: (u64, u64) = (2000, 1000);

struct Case {
    name: &'static str,
    problem: BoxedProblem,
    start: Vec<f64>,
    /// Instead of [`REACHED`].
    reached: (f64, f64),
}

impl Case {
    fn new<F, P, G>(name: &'static str, problem: Problem<F, P, G>) -> Self
    where
        F: Inner + 'static,
        P: Merit + 'static,
        G: Regularizer + 'static,
    {
        let problem = problem.boxed();
        let start = vec![0.0; problem.inner.d()];
        Case { name, problem, start, reached: REACHED }
    }

    fn run(&self, row: &MethodInfo) -> Result<String, String> {
        let Case { problem, start, .. } = self;
        let least = optimum(problem, start).expect("an optimum").objective;
        let first = problem.objective(&problem.erased().allowed(start));
        let linear = row.rate == Rate::Linear;
        let (gap, passes) =
            if linear { (self.reached.0, PASSES.0) } else { (self.reached.1, PASSES.1) };
        // Of a shared form of rows a query counts as all of them.
        let passes = if row.form == Form::Shared { 20 * passes } else { passes };
        let pass = gradient_calls(&problem.inner).total();
        let stop = Stop {
            max_outer: None,
            max_calls: Some(passes * pass),
            max_seconds: None,
            target_objective: Some(least + gap * (first - least)),
            tolerance: None,
        };
        let method =
            AnyMethod::named(row.name, &Choice::seeded(1), problem, start).expect("it suits");
        let Solution { status, objective, calls, .. } =
            method.run(&Driver { stop, ..Driver::default() }, problem, start, &mut ());
        let report = format!(
            "{}: {:12} gap {:.1e} of the first after {} gradients, {status}",
            self.name,
            row.name,
            (objective - least) / (first - least),
            calls.total() / pass,
        );
        if status == Status::TargetReached { Ok(report) } else { Err(report) }
    }

    fn check(&self) {
        let mut failures = String::new();
        let stochastic =
            METHODS.iter().filter(|row| row.family != Family::Batch && row.name != "pdbg");
        for row in stochastic.filter(|row| row.suits(&self.problem).is_ok()) {
            match self.run(row) {
                Ok(report) => println!("{report}"),
                Err(report) => writeln!(failures, "{report}").unwrap(),
            }
        }
        assert!(failures.is_empty(), "\n{failures}");
    }
}

/// A phi that reports a hundredth of its curvature.
struct Understated<P>(P);

const UNDERSTATED: f64 = 100.0;

impl<P: Merit> Merit for Understated<P> {
    fn value(&self, i: usize, u: &[f64]) -> f64 {
        self.0.value(i, u)
    }

    fn gradient(&self, i: usize, u: &[f64], out: &mut [f64]) {
        self.0.gradient(i, u, out);
    }

    fn hessian_diagonal(&self, terms: Range<usize>, u: &[f64], out: &mut [f64]) -> bool {
        let known = self.0.hessian_diagonal(terms, u, out);
        for c in out {
            *c /= UNDERSTATED;
        }
        known
    }

    fn conjugate(&self, i: usize, w: &[f64]) -> f64 {
        self.0.conjugate(i, w)
    }

    fn prox_conjugate(&self, i: usize, alpha: f64, w: &mut [f64]) {
        self.0.prox_conjugate(i, alpha, w);
    }

    fn gamma(&self) -> f64 {
        UNDERSTATED * self.0.gamma()
    }

    fn curvature(&self, i: usize, u: &[f64]) -> Option<f64> {
        self.0.curvature(i, u).map(|c| c / UNDERSTATED)
    }

    fn lipschitz(&self, ell: usize) -> f64 {
        self.0.lipschitz(ell)
    }
}

/// An f that reports Jacobians of a tenth of their size.
struct Shortened(Affine);

impl Inner for Shortened {
    fn d(&self) -> usize {
        self.0.d()
    }

    fn ell(&self) -> usize {
        self.0.ell()
    }

    fn n_x(&self) -> usize {
        self.0.n_x()
    }

    fn n_y(&self, i: usize) -> usize {
        self.0.n_y(i)
    }

    fn facts(&self) -> Facts {
        self.0.facts()
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        self.0.value(theta, i, j, out);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.0.add_jac_t(theta, i, j, w, c, out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Shortened {
    fn f(&self) -> &dyn Inner {
        self
    }
}

impl Passes for Shortened {
    fn bounds(&self) -> Bounds {
        let bounds = self.0.bounds();
        Bounds { mean_jacobian: bounds.mean_jacobian.map(|r| r / UNDERSTATED.sqrt()), ..bounds }
    }
}

/// A phi that is flat in parts: curvatures tell little.
#[test]
fn a_loss_that_is_flat_in_parts() {
    let market = Market::generated(600, 8, 1);
    let case = Case::new(
        "semivariance",
        market.problem(&Task::new(Risk::Semivariance(1.0), Limits::Free)),
    );
    Case { reached: (1e-4, 1e-1), ..case }.check();
}

/// A phi with kinks, of averages that are reported to be a tenth as long as they are.
#[test]
fn a_loss_with_kinks() {
    let f = Affine::random(5, 1, 60, |_| 6, 3);
    let merit = innermean::Absolute::new(1.0).unwrap();
    let regularizer = innermean::Ridge::from_weight(0.1).unwrap();
    let case = Case::new("kinks", Problem { inner: Shortened(f), merit, regularizer });
    let case = Case { reached: (1e-3, 2e-1), ..case };
    for name in ["svrpda1", "svrpda2", "spdg", "alexr"] {
        println!("{}", case.run(innermean::methods::info(name).unwrap()).unwrap());
    }
}

/// From 1e-3 to 1e3: what the small ones have to say is a millionth of a millionth of the
/// objective, and nobody gets there by steps.
#[test]
fn badly_scaled_features() {
    let mut data = Data::random(100, 7, 1e-6, 1);
    data.rows.iter_mut().flatten().for_each(|x| *x *= 1e3);
    data.response.iter_mut().for_each(|r| *r *= 1e3);
    let case = Case::new("badly scaled", data.ridge(1e-6).0);
    Case { reached: (1e-1, 1e-1), ..case }.check();
}

#[test]
fn features_of_mixed_sign() {
    let mdp = generate_mdp(&MdpOptions { features: Features::MixedSign, ..MdpOptions::default() });
    Case { reached: (1e-6, 2e-1), ..Case::new("mixed sign", process::problem(&mdp)) }.check();
    let walk = mdp.walk(500, 1);
    let f =
        Mspbe::new(mdp.d, walk.features, &walk.next_features, walk.rewards, mdp.discount).unwrap();
    Case { reached: (1e-6, 2e-1), ..Case::new("projected", f.problem(0.0).unwrap()) }.check();
}

#[test]
fn a_start_far_away() {
    let case = Case::new("far away", Data::random(200, 5, 0.3, 2).logistic(0.01).0);
    Case { start: vec![100.0; 5], ..case }.check();
}

/// A logistic loss of rows a hundred times as long: at the start it bends a thousand times more
/// than elsewhere.
#[test]
fn a_steep_loss() {
    let mut data = Data::random(200, 5, 0.3, 3);
    data.rows.iter_mut().flatten().for_each(|x| *x *= 30.0);
    Case { reached: (1e-4, 1e-1), ..Case::new("steep", data.logistic(0.01).0) }.check();
}

#[test]
fn rows_of_different_length() {
    let mut data = Data::random(200, 5, 0.5, 4);
    for (i, (row, response)) in data.rows.iter_mut().zip(&mut data.response).enumerate() {
        let length = [1.0, 0.1, 0.01, 10.0][i % 4];
        for x in row {
            *x *= length;
        }
        *response *= length;
    }
    let problem = ridge_regression(5, data.rows.concat(), &data.response, 1e-3).unwrap();
    Case::new("different lengths", problem).check();
}

#[test]
fn curvatures_that_are_understated() {
    let (problem, _) = Data::random(200, 6, 0.3, 5).ridge(0.01);
    let Problem { inner, merit, regularizer } = problem;
    let case =
        Case::new("understated rows", Problem { inner, merit: Understated(merit), regularizer });
    // SPDC's two steps are wrong in opposite directions, and the safeguard changes both in one.
    Case { reached: (1e-4, 1e-1), ..case }.check();
    let (problem, _) = least_squares(Affine::random(5, 1, 60, |_| 6, 1), 0.5, 0.05);
    let Problem { inner, merit, regularizer } = problem;
    let case =
        Case::new("understated groups", Problem { inner, merit: Understated(merit), regularizer });
    case.check();
    let (problem, _) = softplus_of_softplus(SoftplusUnits::random(5, 40, |_| 5, 1), 0.05);
    let Problem { inner, merit, regularizer } = problem;
    let case = Case::new(
        "understated softplus",
        Problem { inner, merit: Understated(merit), regularizer },
    );
    Case { start: vec![3.0; 5], ..case }.check();
}

#[test]
fn jacobians_that_are_understated() {
    let (problem, _) = least_squares(Affine::random(5, 1, 60, |_| 6, 2), 0.5, 0.05);
    let Problem { inner, merit, regularizer } = problem;
    let case = Case::new("shortened", Problem { inner: Shortened(inner), merit, regularizer });
    case.check();
}
