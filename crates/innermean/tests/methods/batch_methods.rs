//! Whole-gradient methods, SAGA, SVRG and prox-linear: exact counts of calls, no allocation in a
//! step, and states that continue bit for bit.

use crate::allocations::allocations;

use crate::support::toy::{Affine, SoftplusUnits, softplus_of_softplus};
use innermean::methods::gradient_descent::Accelerated;
use innermean::methods::gradient_descent::GradientDescent;
use innermean::methods::lbfgs::Lbfgs;
use innermean::methods::prox_linear::ProxLinear;
use innermean::methods::saga::Saga;
use innermean::methods::svrg::Svrg;
use innermean::{
    Absolute, AnyMethod, AnyRegularizer, BoxConstraint, Calls, Choice, Collapsed, Driver, L1,
    Listed, Method, Objective, Oracle, Portfolio, Problem, Ridge, Ridged, Simplex, Square, Stop,
    Unregularized,
};
use innermean_data::generate_factor_model;

/// The calls of each outer iteration: (before the steps, in the steps).
fn calls<'p, M: Method>(
    problem: impl Into<Objective<'p>>,
    method: &M,
    outers: usize,
) -> Vec<(Calls, Calls)> {
    let problem = problem.into();
    let mut oracle = Oracle::new(problem);
    let mut state = method.init(&mut oracle, &vec![0.1; problem.inner.d()]);
    assert_eq!(oracle.calls, Calls::default(), "the start is free");
    (0..outers)
        .map(|_| {
            let before = oracle.calls;
            method.outer(&mut oracle, &mut state);
            let between = oracle.calls;
            for _ in 0..method.inner_iterations(&state) {
                method.inner(&mut oracle, &mut state);
            }
            (between - before, oracle.calls - between)
        })
        .collect()
}

fn counted(f: usize, jacobian: usize, merit: usize) -> Calls {
    Calls { f: f as u64, jacobian: jacobian as u64, merit: merit as u64 }
}

fn square() -> Square {
    Square::new(1.0).expect("a weight")
}

fn ridge() -> Ridge {
    Ridge::from_weight(1.0).expect("a weight")
}

/// 15 pairs in 5 terms of length 2.
fn affine() -> Problem<Affine, Square, Ridge> {
    Problem { inner: Affine::random(4, 2, 5, |i| 1 + i, 1), merit: square(), regularizer: ridge() }
}

fn collapsed() -> Problem<Collapsed, Square, Ridge> {
    let inner = Collapsed::new(&affine().inner, &[0.0; 4]);
    Problem { inner, merit: square(), regularizer: ridge() }
}

/// 24 pairs in 4 terms.
fn softplus() -> Problem<SoftplusUnits, Square, Ridge> {
    Problem { inner: SoftplusUnits::random(3, 4, |_| 6, 1), merit: square(), regularizer: ridge() }
}

fn chosen<'p, M: Listed>(problem: impl Into<Objective<'p>>) -> M {
    let problem = problem.into();
    M::choose(&Choice::seeded(3), problem, &vec![0.1; problem.inner.d()]).expect("default settings")
}

#[test]
fn one_gradient_for_each_point() {
    fn check<'p>(problem: impl Into<Objective<'p>>, gradient: Calls) {
        let problem = problem.into();
        let each = vec![(gradient, Calls::default()); 4];
        assert_eq!(calls(problem, &chosen::<GradientDescent>(problem), 4), each);
        assert_eq!(calls(problem, &chosen::<Accelerated>(problem), 4), each);
        assert_eq!(calls(problem, &chosen::<Lbfgs>(problem), 4), each);
    }
    check(&affine(), counted(15, 15, 5));
    check(&softplus(), counted(24, 24, 4));
    let n = 50;
    let portfolio = Portfolio::new(3, generate_factor_model(n, 3, 1).values)
        .and_then(|f| f.problem(square(), Unregularized))
        .expect("a portfolio");
    check(&portfolio, counted(n, n, n));
}

#[test]
fn components_cost_their_inner_samples() {
    let m = 7;
    let (alpha_theta, inner_iterations, seed) = (0.01, m, 1);
    let (saga, svrg) = (
        Saga { alpha_theta, inner_iterations, guarded: false, seed },
        Svrg { alpha_theta, inner_iterations, guarded: false, seed },
    );
    let steps = counted(m, m, m);
    let mut expected = vec![(Calls::default(), steps); 17];
    expected[0].0 = counted(5, 5, 5);
    // The sixteenth takes the mean of the table anew.
    expected[15].0 = counted(0, 5, 0);
    assert_eq!(calls(&collapsed(), &saga, 17), expected);
    assert_eq!(calls(&collapsed(), &svrg, 3), [(counted(5, 5, 5), steps); 3]);
    // Not affine: six samples for each component, and SVRG needs its Jacobian at both points.
    let mut expected = vec![(Calls::default(), counted(6 * m, 6 * m, m)); 17];
    expected[0].0 = counted(24, 24, 4);
    assert_eq!(calls(&softplus(), &saga, 17), expected);
    assert_eq!(calls(&softplus(), &svrg, 3), [(counted(24, 24, 4), counted(6 * m, 12 * m, m)); 3]);
}

#[test]
fn a_linear_model_costs_phi_alone() {
    let method = ProxLinear { inner_iterations: 9, growing: 0, correction: 0, seed: 1 };
    // A quadratic: one Newton step, which is looked at, and nothing more to gain. With affine f one
    // snapshot; beyond it, P at the candidates.
    assert_eq!(
        calls(&affine(), &method, 3),
        [
            (counted(15, 15, 5), counted(0, 0, 5)),
            (counted(0, 0, 5), Calls::default()),
            (counted(0, 0, 5), Calls::default())
        ]
    );
    // Not affine: a snapshot at each candidate with P there, also where it is refused. Of each
    // model at most as many looks as are allowed.
    let mut most = 0;
    for (outer, inner) in calls(&softplus(), &method, 12) {
        assert_eq!(outer, counted(24, 24, 4));
        assert_eq!((inner.f, inner.jacobian, inner.merit % 4), (0, 0, 0), "{inner:?}");
        most = most.max(inner.merit / 4);
    }
    assert!((1..=9).contains(&most), "{most} looks");
    // A phi with kinks has a prox, which is free: one look at the end.
    let kinks = Problem {
        inner: SoftplusUnits::random(3, 4, |_| 6, 1),
        merit: Absolute::new(1.0).expect("a weight"),
        regularizer: ridge(),
    };
    for each in calls(&kinks, &method, 4) {
        assert_eq!(each, (counted(24, 24, 4), counted(0, 0, 4)));
    }
}

#[test]
fn collapsing_is_counted_before_the_first_step() {
    let n = 60;
    let portfolio = Portfolio::new(3, generate_factor_model(n, 3, 1).values)
        .and_then(|f| f.problem(square(), Unregularized))
        .expect("a portfolio");
    let driver = Driver {
        stop: Stop { max_outer: Some(2), tolerance: None, ..Stop::default() },
        ..Driver::default()
    };
    // 3 n to collapse; then a whole gradient before the first step of SAGA, or at each reference
    // point of SVRG.
    for (name, expected) in [("saga", 3 + 3 + 2 * 3), ("svrg", 3 + 2 * 3 + 2 * 2 * 3)] {
        let given = Choice { alpha_theta: Some(1e-3), ..Choice::seeded(1) };
        let method = AnyMethod::named(name, &given, &portfolio, &[0.0; 3]).expect(name);
        let solution = method.run(&driver, &portfolio, &[0.0; 3], &mut ());
        assert_eq!(solution.calls.total(), (expected * n) as u64, "{name}");
    }
}

/// No allocation in a step, and a state that went through a file between any two calls continues
/// bit for bit.
fn check<'p, M: Method>(name: &str, problem: impl Into<Objective<'p>>, method: &M) {
    let allocations = check_bits(name, problem, method);
    assert_eq!(allocations, 0, "{name}: allocations in steps");
}

/// The second alone, for a method whose steps solve equations; the allocations in its steps.
fn check_bits<'p, M: Method>(name: &str, problem: impl Into<Objective<'p>>, method: &M) -> u64 {
    let problem = problem.into();
    let run = |through_files: bool| {
        let mut oracle = Oracle::new(problem);
        let mut state = method.init(&mut oracle, &vec![0.1; problem.inner.d()]);
        let mut count = 0;
        let again = |state: &mut M::State| {
            if through_files {
                let bytes = postcard::to_stdvec(state).expect("a state serialises");
                *state = postcard::from_bytes(&bytes).expect("and comes back");
            }
        };
        for _ in 0..18 {
            again(&mut state);
            method.outer(&mut oracle, &mut state);
            for _ in 0..method.inner_iterations(&state) {
                again(&mut state);
                count += allocations(|| method.inner(&mut oracle, &mut state));
            }
        }
        (count, method.theta(&state).to_vec(), oracle.calls)
    };
    let (allocations, theta, counts) = run(false);
    assert!(theta.iter().any(|t| *t != 0.1), "{name}: it moves");
    let (_, resumed, counts_resumed) = run(true);
    let bits = |theta: &[f64]| theta.iter().map(|t| t.to_bits()).collect::<Vec<_>>();
    assert_eq!((bits(&resumed), counts_resumed), (bits(&theta), counts), "{name}: resumed");
    allocations
}

fn check_all<'p>(name: &str, problem: impl Into<Objective<'p>>) {
    let problem = problem.into();
    check(&format!("gd, {name}"), problem, &chosen::<GradientDescent>(problem));
    check(&format!("apg, {name}"), problem, &chosen::<Accelerated>(problem));
    // So few pairs that the ring goes round.
    check(&format!("lbfgs, {name}"), problem, &Lbfgs { memory: 3, ..chosen::<Lbfgs>(problem) });
    check_bits(&format!("prox-linear, {name}"), problem, &chosen::<ProxLinear>(problem));
    check(&format!("saga, {name}"), problem, &chosen::<Saga>(problem));
    check(&format!("svrg, {name}"), problem, &chosen::<Svrg>(problem));
}

#[test]
fn no_step_allocates_and_states_continue_bit_for_bit() {
    let regularizers: [AnyRegularizer; 4] = [
        Unregularized.into(),
        L1::new(0.1).expect("a weight").into(),
        BoxConstraint::new(-1.0, 1.0).expect("bounds").into(),
        Simplex.into(),
    ];
    for g in regularizers {
        let problem = Portfolio::new(7, generate_factor_model(50, 7, 1).values)
            .and_then(|f| f.problem(square(), Ridged::new(g, 0.01)?))
            .expect("a portfolio");
        check_all(&format!("{g:?}"), &problem);
    }
    check_all("ell = 2", &affine());
    check_all("collapsed", &collapsed());
    check_all("not affine", &softplus());
    check_all(
        "softplus of softplus",
        &softplus_of_softplus(SoftplusUnits::random(4, 9, |i| 1 + i % 3, 2), 0.1).0,
    );
}

#[test]
fn settings_are_checked_and_quoted() {
    let problem = affine();
    let refused = |name: &str, choice: Choice| {
        AnyMethod::named(name, &choice, &problem, &[0.0; 4]).expect_err("refused").to_string()
    };
    let negative = Choice { alpha_theta: Some(-1.0), ..Choice::default() };
    for name in ["gd", "apg", "lbfgs", "saga", "svrg"] {
        assert_eq!(refused(name, negative), "alpha_theta = -1.0, expected a finite number above 0");
    }
    let none = Choice { inner_iterations: Some(0), memory: None, ..Choice::default() };
    for name in ["prox-linear", "saga", "svrg"] {
        assert_eq!(refused(name, none), "inner_iterations = 0, expected a whole number above 0");
    }
    assert_eq!(
        refused("lbfgs", Choice { memory: Some(0), ..Choice::default() }),
        "memory = 0, expected a whole number above 0"
    );
    assert!(refused("apg", none).starts_with("apg has no setting inner_iterations"));
}
