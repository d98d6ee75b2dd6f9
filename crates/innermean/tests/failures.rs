//! Data that get lost in the middle of a run, and lengths that do not fit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::support::toy::{Affine, SoftplusUnits, softplus_of_softplus};
use innermean::inner::{self, Duals};
use innermean::{
    AnyMethod, Bounds, Choice, ChoiceError, Collapsed, Driver, Facts, FreeTail, Fused, Inner,
    Logistic, Lost, Merit, Objective, Passes, Portfolio, Problem, Regularizer, Ridge, Solution,
    Square, Status, Stop, Tilted, auto,
};

/// An f in memory whose pass number `fails_at`, counted from 0, and all later ones fail. It counts
/// its passes, and queries of single pairs.
struct Failing<'f> {
    f: &'f dyn Inner,
    fails_at: u64,
    passes: AtomicU64,
    queries: AtomicU64,
    calls_are_dear: bool,
}

impl<'f> Failing<'f> {
    fn new(f: &'f dyn Inner, fails_at: u64) -> Self {
        Failing {
            f,
            fails_at,
            passes: AtomicU64::new(0),
            queries: AtomicU64::new(0),
            calls_are_dear: false,
        }
    }

    /// Counts a pass.
    fn pass(&self) -> Result<(), Lost> {
        let k = self.passes.fetch_add(1, Ordering::Relaxed);
        if k < self.fails_at {
            Ok(())
        } else {
            Err(Lost::new(format!("leaf {k}"), "its disk is gone"))
        }
    }

    fn made(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }
}

impl Inner for Failing<'_> {
    fn d(&self) -> usize {
        self.f.d()
    }

    fn ell(&self) -> usize {
        self.f.ell()
    }

    fn n_x(&self) -> usize {
        self.f.n_x()
    }

    fn n_y(&self, i: usize) -> usize {
        self.f.n_y(i)
    }

    fn facts(&self) -> Facts {
        let mut facts = self.f.facts();
        facts.calls_are_dear = self.calls_are_dear;
        facts
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        self.queries.fetch_add(1, Ordering::Relaxed);
        self.f.value(theta, i, j, out);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.queries.fetch_add(1, Ordering::Relaxed);
        self.f.add_jac_t(theta, i, j, w, c, out);
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Failing<'_> {
    fn f(&self) -> &dyn Inner {
        self
    }
}

/// Snapshots and passes for several terms are provided: they fail where what they are made of does.
impl Passes for Failing<'_> {
    fn bounds(&self) -> Bounds {
        self.f.bounds()
    }

    fn mean_jacobian_size(&self, theta: &[f64]) -> Result<Option<f64>, Lost> {
        self.pass()?;
        Ok(self.f.mean_jacobian_size(theta))
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.pass()?;
        self.f.means(theta, out);
        Ok(())
    }

    fn mean_jacobians(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.pass()?;
        self.f.mean_jacobians(theta, out);
        Ok(())
    }

    fn means_of(
        &self,
        theta: &[f64],
        terms: &[usize],
        most: usize,
        f_bar: &mut [f64],
        jacobians: &mut [f64],
    ) -> Result<(), Lost> {
        self.pass()?;
        self.f.means_of(theta, terms, most, f_bar, jacobians);
        Ok(())
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        self.pass()?;
        self.f.add_weighted_jac_t(theta, w, out);
        Ok(())
    }

    fn gradient(
        &self,
        theta: &[f64],
        duals: &Duals<'_>,
        f_bar: &mut [f64],
        w: &mut [f64],
        out: &mut [f64],
    ) -> Result<f64, Lost> {
        self.pass()?;
        Ok(self.f.gradient(theta, duals, f_bar, w, out))
    }
}

/// A driver that comes to its end after a few outer iterations, so that all passes can be tried.
fn short() -> Driver<'static> {
    Driver { stop: Stop { max_outer: Some(6), ..Stop::default() }, ..Driver::default() }
}

/// Runs with every pass as the one that fails. What a run returns must be [`Status::Failed`] with
/// the reason of the first failure, at a point that was evaluated before, with the objective that it
/// has.
fn fails_well(
    name: &str,
    f: &dyn Inner,
    merit: &dyn Merit,
    regularizer: &dyn Regularizer,
    run: &dyn Fn(Objective<'_>) -> Result<Solution, ChoiceError>,
) {
    let sound = Failing::new(f, u64::MAX);
    let whole = run(Objective { inner: &sound, merit, regularizer }).expect("it can be had");
    assert!(whole.status != Status::Failed && whole.failure.is_none(), "{name}");
    assert!(sound.made() > 2, "{name}: {} passes", sound.made());
    let (mut before, mut within) = (0, 0);
    for k in 0..sound.made() {
        let failing = Failing::new(f, k);
        let problem = Objective { inner: &failing, merit, regularizer };
        let reason = format!("A pass over the data failed at leaf {k}: its disk is gone.");
        match run(problem) {
            Err(error) => {
                assert_eq!(error.to_string(), reason, "{name}");
                before += 1;
            }
            Ok(solution) => {
                assert_eq!(solution.status, Status::Failed, "{name}, pass {k}");
                assert_eq!(solution.failure, Some(reason), "{name}, pass {k}");
                // After the first failure f is not asked again.
                assert_eq!(failing.made(), k + 1, "{name}");
                let trace = &whole.trace[..solution.trace.len()];
                assert!(
                    trace.iter().zip(&solution.trace).all(|(a, b)| a.objective == b.objective),
                    "{name}, pass {k}"
                );
                if let Some(best) = solution.trace.iter().map(|r| r.objective).reduce(f64::min) {
                    let sound = Objective { inner: f, ..problem };
                    assert!(solution.objective <= best * (1.0 + 1e-12), "{name}, pass {k}");
                    let there = sound.objective(&solution.theta);
                    assert!(
                        (there - solution.objective).abs() <= 1e-12 * there.abs(),
                        "{name}, pass {k}"
                    );
                    within += 1;
                }
            }
        }
    }
    // On averages of an affine f these read the data before their first evaluation, and no more.
    let reads_once = f.facts().affine && ["newton", "direct", "svrg", "auto"].contains(&name);
    assert!(within > 0 || reads_once, "{name}: {before} failures before the run, none within");
}

fn by_name(name: &str) -> impl Fn(Objective<'_>) -> Result<Solution, ChoiceError> {
    move |problem| {
        let start = vec![0.1; problem.inner.d()];
        let method = AnyMethod::named(name, &Choice::seeded(1), problem, &start)?;
        Ok(method.run(&short(), problem, &start, &mut ()))
    }
}

fn by_auto(problem: Objective<'_>) -> Result<Solution, ChoiceError> {
    let start = vec![0.1; problem.inner.d()];
    let outcome = auto::solve(&short(), problem, &start, &mut (), 1)?;
    if outcome.solution.status == Status::Failed {
        assert_eq!(outcome.fallbacks, []);
    }
    Ok(outcome.solution)
}

#[test]
fn a_lost_pass_over_an_affine_f_ends_the_run_with_its_reason() {
    let f = Affine::random(3, 1, 7, |_| 2, 4);
    let (square, ridge) = (Square::new(0.7).unwrap(), Ridge::from_weight(0.1).unwrap());
    for name in ["gd", "apg", "lbfgs", "newton", "direct", "svrpda1", "svrpda2", "scgd", "svrg"] {
        fails_well(name, &f, &square, &ridge, &by_name(name));
    }
    fails_well("auto", &f, &square, &ridge, &by_auto);
}

#[test]
fn a_lost_pass_over_a_curved_f_ends_the_run_with_its_reason() {
    let units = SoftplusUnits::random(3, 5, |i| 2 + i % 2, 4);
    let (Problem { inner: f, merit, regularizer: ridge }, _) = softplus_of_softplus(units, 0.1);
    for name in ["gd", "apg", "lbfgs", "newton", "prox-linear", "svrpda1", "svrpda2"] {
        fails_well(name, &f, &merit, &ridge, &by_name(name));
    }
    fails_well("auto", &f, &merit, &ridge, &by_auto);
}

#[test]
fn outside_of_a_run_what_is_lost_is_not_a_number() {
    let f = Affine::random(2, 1, 5, |_| 2, 4);
    let failing = Failing::new(&f, 0);
    let problem = Problem {
        inner: &failing,
        merit: Square::new(1.0).unwrap(),
        regularizer: Ridge::from_weight(0.1).unwrap(),
    };
    assert!(problem.objective(&[0.1, 0.2]).is_nan());
    let mut gradient = [0.0; 2];
    problem.gradient(&[0.1, 0.2], &mut gradient);
    assert!(gradient.iter().all(|slope| slope.is_nan()));
}

#[test]
fn an_f_whose_calls_are_dear_is_asked_for_many_terms_at_once() {
    let units = SoftplusUnits::random(3, 40, |i| 2 + i % 2, 4);
    let (Problem { inner: f, merit, regularizer }, _) = softplus_of_softplus(units, 0.1);
    let cheap = Failing::new(&f, u64::MAX);
    let dear = Failing { calls_are_dear: true, ..Failing::new(&f, u64::MAX) };
    let theta = [0.1, -0.2, 0.3];
    for measure in [inner::mean_jacobian_norm, inner::typical_mean_jacobian] {
        let (here, there) = (measure(&dear, &theta), measure(&f, &theta));
        assert!((here - there).abs() <= 1e-14 * there);
    }
    assert_eq!(dear.queries.load(Ordering::Relaxed), 0);
    let methods = |inner: &dyn Inner| -> Vec<&'static str> {
        let problem = Objective { inner, merit: &merit, regularizer: &regularizer };
        auto::choose(problem).into_iter().map(|candidate| candidate.method).collect()
    };
    let (usual, spared) = (methods(&cheap), methods(&dear));
    assert!(usual[0] == "newton" && usual.contains(&"svrpda1"), "{usual:?}");
    assert!(spared[0] == "lbfgs" && spared.contains(&"newton"), "{spared:?}");
    assert!(!spared.contains(&"svrpda1") && !spared.contains(&"svrpda2"), "{spared:?}");
}

#[test]
fn a_start_of_the_wrong_length_is_an_error_in_one_sentence() {
    let portfolio = Portfolio::new(2, vec![1.0, 0.2, -0.6, 0.1, 0.5, -0.1]).unwrap();
    let problem =
        portfolio.problem(Square::new(1.0).unwrap(), Ridge::from_weight(0.1).unwrap()).unwrap();
    let sentence = "start = 3 numbers, expected 2, as many as theta has";
    let start = [0.0; 3];
    assert_eq!(innermean::solve(&problem, &start).unwrap_err().to_string(), sentence);
    let refused = AnyMethod::named("svrpda1", &Choice::default(), &problem, &start).unwrap_err();
    assert_eq!(refused.to_string(), sentence);
    let method = AnyMethod::named("gd", &Choice::default(), &problem, &[0.0; 2]).unwrap();
    let plan = auto::first(&problem, &[0.0; 2], 0).unwrap();
    for solution in [
        method.run(&short(), &problem, &start, &mut ()),
        plan.run(&short(), &problem, &start, &mut ()).solution,
    ] {
        assert_eq!(
            (solution.status, solution.failure.as_deref()),
            (Status::Failed, Some(sentence))
        );
        assert_eq!(solution.theta, start);
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let rows = || Collapsed::from_rows(2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![0.0; 3]);
    let logistic = |count: usize| Logistic::new(vec![1.0; count]).unwrap();
    let ridge = || Ridge::from_weight(0.1).unwrap();
    let tilted = |d: usize| Tilted::new(ridge(), vec![1.0; d]).unwrap();
    assert!(Problem::new(rows(), logistic(3), tilted(2)).is_ok());
    let refused = Problem::new(rows(), logistic(2), ridge()).unwrap_err().to_string();
    assert_eq!(refused, "phi = 2 terms, expected 3, as many as f has");
    let refused = Problem::new(rows(), logistic(3), tilted(3)).unwrap_err().to_string();
    assert_eq!(refused, "g = a function of vectors of 3, expected one of 2, as theta has");
    let tail = FreeTail::new(ridge(), 3);
    assert!(Problem::new(rows(), logistic(3), tail).is_err());
    // Made without a look, it is refused when it is run.
    let problem = Problem { inner: rows(), merit: logistic(2), regularizer: ridge() };
    let refused = innermean::solve(&problem, &[0.0; 2]).unwrap_err().to_string();
    assert_eq!(refused, "phi = 2 terms, expected 3, as many as f has");
}

#[test]
fn parts_behind_shared_pointers_solve_on_another_thread() {
    let f: Arc<dyn Inner> = Arc::new(Affine::random(3, 1, 7, |_| 2, 4));
    let phi: Arc<dyn Merit> = Arc::new(Square::new(0.7).unwrap());
    let g: Arc<dyn Regularizer> = Arc::new(Ridge::from_weight(0.1).unwrap());
    let problem = Problem::new(f.clone(), phi.clone(), g.clone()).unwrap();
    let there = thread::spawn(move || innermean::solve(&problem, &[0.0; 3]).unwrap());
    let here = Problem::new(f, phi, g).unwrap();
    let here = innermean::solve(&here, &[0.0; 3]).unwrap();
    assert_eq!(there.join().unwrap().theta, here.theta);
}
