//! Nothing is allocated in an inner step, whatever the problem, the merit and the regulariser; and
//! a state is as large as the paper's Table 2 says.

use crate::allocations::{allocations, bytes};

use crate::support::toy::{Affine, SoftplusUnits};
use innermean::steps::Steps;
use innermean::{
    Absolute, AnyMerit, AnyRegularizer, BoxConstraint, DownsideSquare, Huber, L1, Method,
    Objective, Oracle, Portfolio, Problem, Reference, Ridge, Ridged, Settings, Simplex, Square,
    Svrpda1, Svrpda2, Unregularized,
};
use innermean_data::generate_factor_model;

fn check<'p, M: Method>(name: &str, problem: impl Into<Objective<'p>>, method: &M) {
    let problem = problem.into();
    let mut oracle = Oracle::new(problem);
    let mut state = method.init(&mut oracle, &vec![0.1; problem.inner.d()]);
    for outer in 0..3 {
        method.outer(&mut oracle, &mut state);
        let steps = method.inner_iterations(&state);
        let count = allocations(|| {
            for _ in 0..steps {
                method.inner(&mut oracle, &mut state);
            }
        });
        assert_eq!(count, 0, "{name}, outer iteration {outer}: allocations in {steps} steps");
    }
}

fn check_both<'p>(name: &str, problem: impl Into<Objective<'p>>) {
    let problem = problem.into();
    for (reference, single_loop) in [
        (Reference::Last, false),
        (Reference::Random, false),
        (Reference::Average, false),
        (Reference::Last, true),
    ] {
        let settings = Settings {
            reference,
            warmup_epochs: 1,
            single_loop,
            ..Settings::paper(Steps { alpha_theta: 1e-4, alpha_w: 1.0, inner_iterations: 700 }, 1)
        };
        check(name, problem, &Svrpda1(settings.clone()));
        check(name, problem, &Svrpda2(settings));
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1.0; 10]))), 1);
}

#[test]
fn no_inner_step_allocates() {
    let merits: [AnyMerit; 4] = [
        Square::new(1.0).expect("a weight").into(),
        DownsideSquare::new(1.0).expect("a weight").into(),
        Absolute::new(1.0).expect("a weight").into(),
        Huber::new(1.0, 0.5).expect("a weight and a width").into(),
    ];
    let regularizers: [AnyRegularizer; 4] = [
        Unregularized.into(),
        L1::new(0.1).expect("a weight").into(),
        BoxConstraint::new(-1.0, 1.0).expect("bounds").into(),
        Simplex.into(),
    ];
    for merit in merits {
        for g in &regularizers {
            let ridged = Ridged::new(*g, 0.1).expect("a weight");
            let problem = Portfolio::new(25, generate_factor_model(100, 25, 1).values)
                .and_then(|f| f.problem(merit, ridged))
                .expect("a portfolio");
            check_both(&format!("{merit:?} {g:?}"), &problem);
        }
    }
    let ridge = Ridge::from_weight(1.0).expect("a weight");
    let affine =
        Problem { inner: Affine::random(4, 2, 9, |_| 3, 1), merit: merits[0], regularizer: ridge };
    check_both("affine, ell = 2", &affine);
    let softplus = Problem {
        inner: SoftplusUnits::random(4, 9, |_| 3, 1),
        merit: merits[0],
        regularizer: ridge,
    };
    check_both("not affine", &softplus);
}

/// Numbers (of eight bytes) that a method's state takes beside the draws, whose blocks have a fixed
/// size.
fn numbers_held<'p, M: Method>(problem: impl Into<Objective<'p>>, method: &M) -> usize {
    let problem = problem.into();
    let mut oracle = Oracle::new(problem);
    let start = vec![0.1; problem.inner.d()];
    let before = bytes();
    let mut state = method.init(&mut oracle, &start);
    let held = bytes() - before;
    method.outer(&mut oracle, &mut state);
    method.inner(&mut oracle, &mut state);
    held / size_of::<f64>()
}

#[test]
fn storage_is_that_of_table_2() {
    let ridge = Ridge::from_weight(1.0).expect("a weight");
    let merit = Square::new(1.0).expect("a weight");
    for (d, ell, n_x) in [(300, 1, 50), (20, 2, 400)] {
        let problem =
            Problem { inner: Affine::random(d, ell, n_x, |_| 2, 1), merit, regularizer: ridge };
        let settings =
            Settings::paper(Steps { alpha_theta: 1e-4, alpha_w: 1.0, inner_iterations: 10 }, 1);
        // U, theta, theta_ref, delta_theta and the next reference point; w and f_bar; a few numbers
        // of size ell; each of the five rounded up to whole lines of the cache.
        let small = 5 * (d + 8) + 2 * n_x * ell + 3 * ell;
        let two = numbers_held(&problem, &Svrpda2(settings.clone()));
        assert!(two <= small, "SVRPDA-II holds {two} numbers, O(d + n_X ell) is {small}");
        let one = numbers_held(&problem, &Svrpda1(settings));
        let jacobians = n_x * d * ell;
        assert!(
            (jacobians..=jacobians + small).contains(&one),
            "SVRPDA-I holds {one} numbers, not {jacobians}"
        );
    }
}
