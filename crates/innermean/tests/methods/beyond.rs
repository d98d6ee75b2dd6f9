//! What SVRPDA-I and II can do beyond the paper: a leak, Anderson's acceleration of snapshots, and
//! dual steps in the distance of the conjugate. Each keeps to its law, asks what it says it asks,
//! and goes on bit for bit; none moves the optimum.

use innermean::choice::{Leak, Mirror};
use innermean::draws::Stream;
use innermean::merit::{Bernoulli, Poisson};
use innermean::methods::svrpda::PrimalDual;
use innermean::oracle::gradient_calls;
use innermean::problems::bags::{Bags, Groups, Link};
use innermean::{
    Absolute, AnyMethod, Choice, Driver, Inner, Listed, Merit, Method, Objective, Oracle, Problem,
    Ridge, Solution, Square, Stop, Svrpda1, Svrpda2,
};

use crate::support::toy::Affine;

/// Groups of rows whose features have variances from 1 to `1/kappa` along no axis, and what a
/// logistic model says of each on average, a little wrong.
fn groups(rows: usize, kappa: f64, seed: u64) -> (Bags, Vec<f64>) {
    let (count, d) = (40, 6);
    let mut draws = Stream::new(seed, 0);
    let mut normal = || (0..12).map(|_| draws.unit()).sum::<f64>() - 6.0;
    let beta: Vec<f64> = (0..d).map(|_| 0.5 * normal()).collect();
    let v: Vec<f64> = (0..d).map(|_| normal()).collect();
    let size: f64 = v.iter().map(|v| v * v).sum();
    let (mut table, mut means) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let centre: Vec<f64> = (0..d).map(|_| 0.7 * normal()).collect();
        let mut mean = 0.0;
        for _ in 0..rows {
            let mut row: Vec<f64> = centre.iter().map(|c| c + normal()).collect();
            let score: f64 = row.iter().zip(&beta).map(|(x, b)| x * b).sum();
            mean += 1.0 / (1.0 + (-score).exp()) / rows as f64;
            let last = (d - 1) as f64;
            row.iter_mut().enumerate().for_each(|(k, x)| *x *= kappa.powf(-0.5 * k as f64 / last));
            let along = 2.0 * row.iter().zip(&v).map(|(x, v)| x * v).sum::<f64>() / size;
            row.iter_mut().zip(&v).for_each(|(x, v)| *x -= along * v);
            table.extend(row);
        }
        means.push((mean + 0.02 * normal()).clamp(0.02, 0.98));
    }
    let starts = (0..=count).map(|i| i * rows).collect();
    let groups = Groups::new(d, table, starts, false).expect("whole groups");
    (Bags::new(groups, Link::Logistic), means)
}

fn proportions(rows: usize, kappa: f64, seed: u64) -> Problem<Bags, Bernoulli, Ridge> {
    let (inner, means) = groups(rows, kappa, seed);
    let regularizer = Ridge::from_weight(0.01 / kappa).unwrap();
    Problem::new(inner, Bernoulli::new(means).unwrap(), regularizer).unwrap()
}

fn run<'p>(
    name: &str,
    choice: &Choice,
    problem: impl Into<Objective<'p>>,
    target: f64,
    passes: u64,
) -> Solution {
    let problem = problem.into();
    let start = vec![0.0; problem.inner.d()];
    let calls = gradient_calls(problem.inner);
    let stop = Stop {
        max_outer: None,
        max_calls: Some(passes * (calls.f + calls.jacobian)),
        max_seconds: None,
        target_objective: Some(target),
        tolerance: None,
    };
    let method = AnyMethod::named(name, choice, problem, &start).expect("it suits");
    method.run(&Driver { stop, ..Driver::default() }, problem, &start, &mut ())
}

fn optimum<'p>(problem: impl Into<Objective<'p>>) -> f64 {
    run("newton", &Choice::default(), problem, f64::NEG_INFINITY, 200).objective
}

/// Sums over seeds of the errors of U after `steps` steps that move the duals and not theta, and of
/// their squares, for each coordinate.
fn errors_of_u(leak: Leak, steps: usize, draws: u64) -> (Vec<f64>, Vec<f64>) {
    let inner = Affine::random(3, 2, 10, |_| 4, 5);
    let merit = Square::new(1.0).unwrap();
    let problem = Problem { inner, merit, regularizer: Ridge::from_weight(0.1).unwrap() };
    let d = problem.inner.d();
    let (mut sum, mut squares) = (vec![0.0; d], vec![0.0; d]);
    for seed in 0..draws {
        let choice = Choice {
            alpha_theta: Some(1e-9),
            alpha_w: Some(1.0),
            inner_iterations: Some(steps),
            leak: Some(leak),
            ..Choice::seeded(seed)
        };
        let method = Svrpda2::choose(&choice, &problem, &vec![1.0; d]).unwrap();
        let mut oracle = Oracle::new(&problem);
        let mut state = method.init(&mut oracle, &vec![1.0; d]);
        method.outer(&mut oracle, &mut state);
        // Away from the reference point, so that duals have a way to go.
        state.theta.fill(-3.0);
        (0..steps).for_each(|_| method.inner(&mut oracle, &mut state));
        let mut batch = vec![0.0; d];
        problem.erased().inner.add_weighted_jac_t(&state.theta_ref, &state.w, &mut batch);
        for l in 0..d {
            let error = state.u[l] - batch[l];
            sum[l] += error;
            squares[l] += error * error;
        }
    }
    (sum, squares)
}

#[test]
fn a_leak_is_unbiased_and_forgets() {
    let draws = 2000;
    for steps in [1, 7, 40] {
        let (sum, squares) = errors_of_u(Leak::Part(0.05), steps, draws);
        for (sum, squares) in sum.iter().zip(&squares) {
            let standard_error = squares.sqrt() / draws as f64;
            assert!(standard_error > 1e-5, "one sample is not the mean");
            assert!((sum / draws as f64).abs() < 5.0 * standard_error, "biased, {steps} steps");
        }
    }
    // Without a leak errors add up like a random walk; with one they come to an end.
    let size = |leak, steps| errors_of_u(leak, steps, 60).1.iter().sum::<f64>();
    let walk = size(Leak::Off, 6400) / size(Leak::Off, 400);
    let held = size(Leak::Part(0.05), 6400) / size(Leak::Part(0.05), 400);
    assert!(walk > 6.0, "{walk}");
    assert!(held < 2.0, "{held}");
}

#[test]
fn a_leak_adds_no_call() {
    let problem = proportions(40, 1e2, 1);
    for batch in [1, 4] {
        let choice = Choice {
            alpha_theta: Some(0.1),
            alpha_w: Some(1.0),
            inner_iterations: Some(500),
            batch: Some(batch),
            ..Choice::seeded(2)
        };
        let calls = |leak| {
            let method =
                Svrpda2::choose(&Choice { leak: Some(leak), ..choice }, &problem, &[0.0; 6])
                    .unwrap();
            let mut oracle = Oracle::new(&problem);
            let mut state = method.init(&mut oracle, &[0.0; 6]);
            method.outer(&mut oracle, &mut state);
            method.inner_steps(&mut oracle, &mut state, 500);
            (oracle.calls, state.u.to_vec())
        };
        let (with, without) = (calls(Leak::Part(0.01)), calls(Leak::Off));
        assert_eq!(with.0, without.0);
        assert_ne!(with.1, without.1);
    }
}

#[test]
fn where_u_leaks_fewer_calls_arrive() {
    let problem = proportions(400, 20.0, 3);
    let least = optimum(&problem);
    let took = |leak| {
        let choice = Choice { leak, ..Choice::seeded(1) };
        let solution = run("svrpda2", &choice, &problem, least + 1e-6, 200);
        assert!(solution.objective <= least + 1e-6, "{leak:?}: {}", solution.objective - least);
        solution.calls.total()
    };
    assert!(took(None) < took(Some(Leak::Off)), "automatic, and off");
}

#[test]
fn mixed_snapshots_take_fewer_calls_where_problems_are_ill_conditioned() {
    let problem = proportions(40, 1e3, 4);
    let least = optimum(&problem);
    let calls = |anderson| {
        let choice = Choice { anderson, ..Choice::seeded(1) };
        let solution = run("svrpda1", &choice, &problem, least + 1e-6, 400);
        assert!(solution.objective - least <= 1e-6, "{:e}", solution.objective - least);
        solution.calls.total() as f64
    };
    let (mixed, plain) = (calls(Some(20)), calls(None));
    assert!(mixed < plain, "{mixed} {plain}");
}

/// What is mixed are ends of one and the same map: from the same reference point, an outer
/// iteration goes the same way again.
#[test]
fn outer_iterations_that_are_mixed_are_one_map() {
    let problem = proportions(40, 1e2, 4);
    let choice = Choice { anderson: Some(5), ..Choice::seeded(1) };
    let method = Svrpda2::choose(&choice, &problem, &[0.0; 6]).unwrap();
    let mut oracle = Oracle::new(&problem);
    let mut state = method.init(&mut oracle, &[0.0; 6]);
    let mut ends = Vec::new();
    for _ in 0..2 {
        method.outer(&mut oracle, &mut state);
        assert_eq!(state.theta[..], [0.0; 6], "the reference point");
        (0..method.inner_iterations(&state)).for_each(|_| method.inner(&mut oracle, &mut state));
        ends.push(state.theta.to_vec());
        state.theta.fill(0.0);
    }
    assert_ne!(ends[0], [0.0; 6]);
    assert_eq!(ends[0], ends[1]);
}

#[test]
fn the_distance_of_the_conjugate_has_the_same_saddle_point() {
    let check = |problem: Objective<'_>, what: &str| {
        let least = optimum(problem);
        for name in ["svrpda1", "svrpda2"] {
            let choice = Choice { mirror: Some(Mirror::Conjugate), ..Choice::seeded(1) };
            let solution = run(name, &choice, problem, least + 1e-10, 400);
            let gap = solution.objective - least;
            assert!(gap <= 1e-10, "{what}, {name}: {gap:e}");
        }
    };
    check(proportions(60, 10.0, 5).erased(), "proportions");
    let (inner, counts) = groups(60, 10.0, 6);
    let merit = Poisson::new(counts, vec![1.0; 40], 1.0).unwrap();
    let problem = Problem::new(inner, merit, Ridge::from_weight(1e-2).unwrap()).unwrap();
    check(problem.erased(), "counts");
}

/// `w_i = phi_i'(u_i)` after each step, whatever single samples say: u never leaves the ends of a
/// logarithm.
#[test]
fn duals_are_slopes_of_phi_where_it_is_finite() {
    let problem = proportions(3, 10.0, 7);
    let choice = Choice {
        mirror: Some(Mirror::Conjugate),
        alpha_theta: Some(2.0),
        alpha_w: Some(50.0),
        inner_iterations: Some(2000),
        ..Choice::seeded(1)
    };
    let method = Svrpda1::choose(&choice, &problem, &[0.0; 6]).unwrap();
    let mut oracle = Oracle::new(&problem);
    let mut state = method.init(&mut oracle, &[0.0; 6]);
    method.outer(&mut oracle, &mut state);
    for k in 0..2000 {
        let before = oracle.calls.merit;
        method.inner(&mut oracle, &mut state);
        assert!(oracle.calls.merit > before, "a query of phi for each step");
        assert!(state.w.iter().all(|w| w.is_finite()), "step {k}");
    }
    // Of labels between 0 and 1, phi* is finite everywhere, and its slope is u.
    for (i, w) in state.w.iter().enumerate() {
        let star = problem.merit.conjugate(i, &[*w]);
        assert!(star.is_finite(), "{star}");
    }
}

#[test]
fn states_that_went_through_a_file_continue_bit_for_bit() {
    let problem = proportions(50, 1e2, 8);
    let plain = Choice::seeded(3);
    for choice in [
        plain,
        Choice { leak: Some(Leak::Part(0.002)), ..plain },
        Choice { anderson: Some(3), ..plain },
        Choice { mirror: Some(Mirror::Conjugate), ..plain },
    ] {
        let method = Svrpda2::choose(&choice, &problem, &[0.0; 6]).unwrap();
        let run = |cut: Option<(usize, usize)>| {
            let mut oracle = Oracle::new(&problem);
            let mut state = method.init(&mut oracle, &[0.0; 6]);
            for outer in 0..6 {
                method.outer(&mut oracle, &mut state);
                for k in 0..method.inner_iterations(&state) {
                    if cut == Some((outer, k)) {
                        let bytes = postcard::to_stdvec(&state).expect("a state serialises");
                        state = postcard::from_bytes::<PrimalDual>(&bytes).expect("and comes back");
                    }
                    method.inner(&mut oracle, &mut state);
                }
            }
            (method.theta(&state).to_vec(), state.w, oracle.calls)
        };
        let whole = run(None);
        assert!(whole.0.iter().all(|theta| theta.is_finite()));
        for cut in [(0, 20), (2, 0), (4, 30), (5, 1)] {
            assert_eq!(run(Some(cut)), whole, "{choice:?}, cut at {cut:?}");
        }
    }
}

#[test]
fn a_leak_is_written_as_a_word_or_a_number() {
    let said = |leak| Choice { leak: Some(leak), ..Choice::default() };
    for (leak, written) in
        [(Leak::Automatic, "\"automatic\""), (Leak::Off, "\"off\""), (Leak::Part(0.25), "0.25")]
    {
        let json = serde_json::to_string(&said(leak)).unwrap();
        assert!(json.contains(&format!("\"leak\":{written}")), "{json}");
        assert_eq!(serde_json::from_str::<Choice>(&json).unwrap(), said(leak));
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    let (inner, _) = groups(10, 10.0, 9);
    let merit: Box<dyn Merit> = Box::new(Absolute::new(1.0).unwrap());
    let ridge = Ridge::from_weight(0.1).unwrap();
    let kinks = Problem { inner, merit, regularizer: ridge };
    let smooth = proportions(10, 10.0, 9);
    let why = |problem: Objective<'_>, choice: Choice| {
        AnyMethod::named("svrpda2", &choice, problem, &[0.0; 6]).expect_err("no sense").to_string()
    };
    let plain = Choice::default();
    for (error, expected) in [
        (
            why(kinks.erased(), Choice { anderson: Some(5), ..plain }),
            "anderson = 5, expected 0: phi has a kink",
        ),
        (
            why(kinks.erased(), Choice { mirror: Some(Mirror::Conjugate), ..plain }),
            "mirror = conjugate, expected euclidean: phi has a kink",
        ),
        (
            why(smooth.erased(), Choice { leak: Some(Leak::Part(1.5)), ..plain }),
            "leak = 1.5, expected a number above 0 and below 1",
        ),
        (
            why(
                smooth.erased(),
                Choice { mirror: Some(Mirror::Conjugate), warmup_epochs: Some(1), ..plain },
            ),
            "mirror = conjugate, expected euclidean, or no warm-up",
        ),
    ] {
        assert!(error.starts_with(expected), "{error}");
    }
    let one = Choice { leak: Some(Leak::Off), ..plain };
    let error = AnyMethod::named("svrpda1", &one, smooth.erased(), &[0.0; 6]).expect_err("no leak");
    assert!(error.to_string().starts_with("svrpda1 has no setting leak"), "{error}");
}
