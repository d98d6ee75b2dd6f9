//! The oracle calls of the methods that step along gradients of the composition, to the exact count
//! of `docs/oracle-calls.md`.

use crate::support::toy::{Affine, SoftplusUnits};
use innermean::methods::{asc_pg::AscPg, ascvrg::Ascvrg, c_saga::CSaga, comp_svrg1::CompSvrg1};
use innermean::methods::{comp_svrg2::CompSvrg2, scgd::Scgd, vrsc_pg::VrscPg};
use innermean::shared::{Picked, shared_form};
use innermean::{
    AnyMethod, Calls, Choice, Driver, Facts, Inner, Method, Objective, Oracle, Portfolio, Problem,
    Ridge, Sample, Square, Stop, Unregularized,
};
use innermean_data::generate_factor_model;

fn counted(f: usize, jacobian: usize, merit: usize) -> Calls {
    Calls { f: f as u64, jacobian: jacobian as u64, merit: merit as u64 }
}

/// The calls of two outer iterations: (head, inner steps, their number).
fn calls<'p, M: Method>(
    problem: impl Into<Objective<'p>>,
    method: &M,
) -> [(Calls, Calls, usize); 2] {
    let problem = problem.into();
    let mut oracle = Oracle::new(problem);
    let mut state = method.init(&mut oracle, &vec![0.1; problem.inner.d()]);
    assert_eq!(oracle.calls, Calls::default(), "the start is free");
    [(); 2].map(|()| {
        let before = oracle.calls;
        method.outer(&mut oracle, &mut state);
        let between = oracle.calls;
        let steps = method.inner_iterations(&state);
        for _ in 0..steps {
            method.inner(&mut oracle, &mut state);
        }
        (between - before, oracle.calls - between, steps)
    })
}

fn with_square<F: Inner>(inner: F) -> Problem<F, Square, Ridge> {
    Problem {
        inner,
        merit: Square::new(1.0).expect("a weight"),
        regularizer: Ridge::from_weight(1.0).expect("a weight"),
    }
}

fn comp_svrg1(batch: usize) -> CompSvrg1 {
    CompSvrg1 { alpha_theta: 1e-3, inner_iterations: 7, batch, guarded: false, seed: 1 }
}

fn comp_svrg2(batch: usize, jacobian_batch: usize) -> CompSvrg2 {
    CompSvrg2 {
        alpha_theta: 1e-3,
        inner_iterations: 7,
        batch,
        jacobian_batch,
        guarded: false,
        seed: 1,
    }
}

#[test]
fn comp_svrg_with_affine_f() {
    let problem = with_square(Affine::random(4, 2, 5, |i| 1 + i, 1));
    let gradient = counted(15, 15, 5);
    for (head, inner, steps) in calls(&problem, &comp_svrg1(6)) {
        assert_eq!((head, inner, steps), (gradient, counted(7 * 12, 7, 7 * 2), 7));
    }
    for (head, inner, _) in calls(&problem, &comp_svrg2(3, 4)) {
        assert_eq!((head, inner), (gradient, counted(7 * 6, 0, 7 * 2)));
    }
}

#[test]
fn comp_svrg_with_f_that_is_not_affine() {
    let problem = with_square(SoftplusUnits::random(3, 4, |_| 6, 1));
    let gradient = counted(24, 24, 4);
    for (head, inner, _) in calls(&problem, &comp_svrg1(6)) {
        assert_eq!((head, inner), (gradient, counted(7 * 12, 7 * 2, 7 * 2)));
    }
    for (head, inner, _) in calls(&problem, &comp_svrg2(3, 4)) {
        assert_eq!((head, inner), (gradient, counted(7 * 6, 7 * 8, 7 * 2)));
    }
    let vrsc = VrscPg {
        alpha_theta: 1e-3,
        inner_iterations: 3,
        batch: 5,
        jacobian_batch: 2,
        outer_batch: 4,
        guarded: false,
        seed: 1,
    };
    for (head, inner, steps) in calls(&problem, &vrsc) {
        assert_eq!((head, inner, steps), (gradient, counted(3 * 4 * 10, 3 * 4 * 4, 3 * 4 * 2), 3));
    }
}

#[test]
fn the_portfolio_as_the_authors_count_it() {
    let n = 50;
    let problem = Portfolio::new(3, generate_factor_model(n, 3, 1).values)
        .and_then(|f| f.problem(Square::new(1.0)?, Unregularized))
        .expect("a portfolio");
    for (head, inner, steps) in calls(&problem, &comp_svrg1(6)) {
        assert_eq!((head.total(), inner.total()), (3 * n as u64, (2 * 6 + 3) * steps as u64));
    }
    for (head, inner, steps) in calls(&problem, &comp_svrg2(3, 3)) {
        assert_eq!((head.total(), inner.total()), (3 * n as u64, (2 * 3 + 2) * steps as u64));
    }
}

#[test]
fn the_loops_of_ascvrg_grow_by_half_up_to_the_longest() {
    let problem = with_square(Affine::random(3, 1, 6, |_| 2, 1));
    let method = Ascvrg {
        alpha_theta: 1e-3,
        inner_iterations: 20,
        batch: 5,
        jacobian_batch: 5,
        guarded: false,
        seed: 1,
    };
    let driver = Driver {
        stop: Stop { tolerance: None, max_outer: Some(7), ..Stop::default() },
        ..Driver::default()
    };
    let solution = driver.run(problem.erased(), &method, &[0.1; 3], &mut ());
    let steps: Vec<u64> =
        solution.trace.windows(2).map(|pair| pair[1].inner - pair[0].inner).collect();
    // 5 (3/2)^s, rounded up
    assert_eq!(steps, [5, 8, 12, 17, 20, 20, 20]);
    let total = steps.iter().sum::<u64>();
    assert_eq!(
        solution.calls,
        Calls { f: 7 * 12 + 10 * total, jacobian: 7 * 12, merit: 7 * 6 + 2 * total }
    );
}

/// The calls of three outer iterations of a method of the table, by the driver, after the first.
fn rest<'p>(problem: impl Into<Objective<'p>>, name: &str, choice: &Choice) -> (Calls, Calls, u64) {
    let problem = problem.into();
    let start = vec![0.1; problem.inner.d()];
    // A step by hand: no safeguard looks.
    let choice = &Choice { alpha_theta: Some(1e-3), ..*choice };
    let method =
        AnyMethod::named(name, choice, problem, &start).expect("a method for this problem");
    let driver = Driver {
        stop: Stop { tolerance: None, max_outer: Some(4), ..Stop::default() },
        ..Driver::default()
    };
    let trace = method.run(&driver, problem, &start, &mut ()).trace;
    (trace[1].calls, trace[4].calls - trace[1].calls, trace[1].inner)
}

#[test]
fn methods_of_the_shared_form_on_the_portfolio() {
    let n = 50;
    let problem = Portfolio::new(3, generate_factor_model(n, 3, 1).values)
        .and_then(|f| f.problem(Square::new(1.0)?, Unregularized))
        .expect("a portfolio");
    let plain = Choice::seeded(1);
    let pass = counted(n, n, n);
    assert_eq!(rest(&problem, "scgd", &plain), (pass, counted(3 * n, 3 * n, 3 * n), n as u64));
    // One f more, for the first average.
    assert_eq!(
        rest(&problem, "asc-pg", &plain),
        (pass + counted(1, 0, 0), counted(3 * n, 3 * n, 3 * n), n as u64)
    );
    // Affine: s f and all phi in each of n/s steps, and the tables at the start.
    let two = Choice { batch: Some(2), ..plain };
    assert_eq!(
        rest(&problem, "c-saga", &two),
        (counted(n + n, n, n / 2 * n), counted(3 * n, 0, 3 * (n / 2) * n), n as u64 / 2)
    );
    let drawn = Choice { outer_batch: Some(4), ..two };
    assert_eq!(
        rest(&problem, "c-saga", &drawn),
        (counted(n + n, n, n + n / 2 * 4), counted(3 * n, 0, 3 * (n / 2) * 4), n as u64 / 2)
    );
}

/// Every query of the stacked form counts as `n_X`.
#[test]
fn methods_of_the_shared_form_on_samples_of_each_terms_own() {
    let (n_x, n_y) = (4, 6);
    let problem = with_square(SoftplusUnits::random(3, n_x, |_| n_y, 1));
    let form = shared_form(&problem.inner).expect("equally many samples");
    let merit = Picked::new(form, &problem.merit, 1);
    let shared =
        Objective { inner: merit.form(), merit: &merit, regularizer: &problem.regularizer };
    let scgd = Scgd { alpha_theta: 1e-3, averaging: 0.5, guarded: false, seed: 1 };
    for (head, inner, steps) in calls(shared, &scgd) {
        assert_eq!((head, inner, steps), (counted(0, 0, 0), counted(n_x * 6, n_x * 6, 6), 6));
    }
    let asc_pg = AscPg { alpha_theta: 1e-3, averaging: 0.5, guarded: false, seed: 1 };
    for (k, (head, inner, _)) in calls(shared, &asc_pg).into_iter().enumerate() {
        let first = if k == 0 { n_x } else { 0 };
        assert_eq!((head, inner), (counted(first, 0, 0), counted(n_x * 6, n_x * 6, 6)));
    }
    let c_saga = CSaga { alpha_theta: 1e-3, batch: 2, outer_batch: None, guarded: false, seed: 1 };
    for (k, (head, inner, steps)) in calls(shared, &c_saga).into_iter().enumerate() {
        let fill = if k == 0 { n_x * n_y } else { 0 };
        assert_eq!(
            (head, inner, steps),
            (counted(fill, fill, 0), counted(n_x * 6, n_x * 6, 3 * n_x), 3)
        );
    }
}

/// `f_theta(y_j) = theta_0 y_j`
struct Shared {
    n_x: usize,
    n_y: usize,
}

impl Inner for Shared {
    fn d(&self) -> usize {
        1
    }

    fn n_x(&self) -> usize {
        self.n_x
    }

    fn n_y(&self, _: usize) -> usize {
        self.n_y
    }

    fn facts(&self) -> Facts {
        Facts::affine().with_sample(Sample::Shared)
    }

    fn value(&self, theta: &[f64], _: usize, j: usize, out: &mut [f64]) {
        out[0] = theta[0] * j as f64;
    }

    fn add_jac_t(&self, _: &[f64], _: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        out[0] += c * w[0] * j as f64;
    }
}

#[test]
fn a_problem_whose_sample_is_shared() {
    let problem = with_square(Shared { n_x: 5, n_y: 8 });
    for (head, inner, _) in calls(&problem, &comp_svrg2(3, 4)) {
        assert_eq!((head, inner), (counted(8, 8, 5), counted(7 * 6, 0, 7 * 2)));
    }
    assert_eq!(
        rest(&problem, "c-saga", &Choice::seeded(1)),
        (counted(16, 8, 8 * 5), counted(24, 0, 3 * 8 * 5), 8)
    );
}
