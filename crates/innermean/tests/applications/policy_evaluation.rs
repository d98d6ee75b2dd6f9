//! The projected Bellman error: the problem by its formula, and the methods made for it.

use crate::support::chain::Chain;
use crate::support::checks::{calls, counted, resumes};
use crate::support::dense::{distance_squared, dot};
use crate::support::toy::Affine;
use innermean::methods::gtd2::Gtd2;
use innermean::methods::mspbe_saga::MspbeSaga;
use innermean::methods::mspbe_svrg::MspbeSvrg;
use innermean::methods::pdbg::Pdbg;
use innermean::{
    Calls, Choice, ChoiceError, Driver, Fused, Inner, Listed, Method, Mspbe, Problem,
    QuadraticForm, Ridge, Solution, Square, Stop,
};

type Task = Problem<Mspbe, QuadraticForm, Ridge>;

fn solve<M: Method>(task: &Task, method: &M, passes: u64) -> Solution {
    let stop = Stop { max_outer: Some(passes), tolerance: Some(1e-26), ..Stop::default() };
    Driver { stop, ..Driver::default() }.run(task, method, &vec![0.0; task.inner.d()], &mut ())
}

fn chosen<M: Listed>(task: &Task) -> M {
    M::choose(&Choice::seeded(1), task, &vec![0.0; task.inner.d()]).unwrap()
}

/// `|theta - expected| / |expected|`
fn error(theta: &[f64], expected: &[f64]) -> f64 {
    (distance_squared(theta, expected) / dot(expected, expected)).sqrt()
}

#[test]
fn the_problem_is_its_formula() {
    let chain = Chain::random(5, 300, 3.0, 1.0, 2);
    let f = chain.mspbe();
    let lstd = f.lstd().unwrap();
    assert!(error(&lstd, &chain.minimiser(0.0)) < 1e-9);
    let theta: Vec<f64> = (0..5).map(|l| f64::from(l).cos()).collect();
    let w: Vec<f64> = (0..5).map(|l| 1.0 - 0.3 * f64::from(l)).collect();
    // A value is r phi - phi <phi - gamma phi', theta>, and a product its derivative along w.
    let (mut mean, mut slope) = (vec![0.0; 5], vec![0.0; 5]);
    for (t, (now, next, reward)) in chain.transitions.iter().enumerate() {
        let mut value = vec![0.0; 5];
        f.value(&theta, 0, t, &mut value);
        let difference = reward - dot(now, &theta) + chain.discount * dot(next, &theta);
        for (value, phi) in value.iter().zip(now) {
            assert!((value - phi * difference).abs() < 1e-12);
        }
        let mut product = vec![0.0; 5];
        f.add_jac_t(&theta, 0, t, &w, 1.0, &mut product);
        for l in 0..5 {
            let expected = -(now[l] - chain.discount * next[l]) * dot(now, &w);
            assert!((product[l] - expected).abs() < 1e-12);
            mean[l] += value[l] / 300.0;
            slope[l] += product[l] / 300.0;
        }
    }
    // Averages come from A and b, and are the averages of all the same.
    let (mut fast, mut fast_slope, mut work) = (vec![0.0; 5], vec![0.0; 5], vec![0.0; 5]);
    f.mean(&theta, 0, &mut work, &mut fast);
    f.add_mean_jac_t(&theta, 0, &w, 1.0, &mut fast_slope);
    assert!(error(&fast, &mean) < 1e-12 && error(&fast_slope, &slope) < 1e-12);
    for rho in [0.0, 0.3] {
        let task = f.clone().problem(rho).unwrap();
        let expected = chain.objective(&theta, rho);
        assert!((task.objective(&theta) - expected).abs() < 1e-10 * expected);
    }
    assert!(f.problem(0.0).unwrap().objective(&lstd) < 1e-20);
}

/// `rho = 0` and a ridge, features of equal and of different size, in any unit.
#[test]
fn the_three_with_a_linear_rate_reach_the_closed_form() {
    for (d, t, spread, scale) in
        [(4, 300, 1.0, 1.0), (8, 500, 3.0, 1.0), (6, 400, 2.0, 1e3), (6, 400, 2.0, 1e-3)]
    {
        let chain = Chain::random(d, t, spread, scale, 3);
        for rho in [0.0, 0.01] {
            let task = chain.mspbe().problem(rho * scale * scale).unwrap();
            let expected = if rho == 0.0 {
                task.inner.lstd().unwrap()
            } else {
                chain.minimiser(rho * scale * scale)
            };
            let check = |name: &str, solution: Solution, most: u64| {
                let case = format!("{name}, d = {d}, spread {spread}, scale {scale}, rho {rho}");
                let found = error(&solution.theta, &expected);
                assert!(found < 1e-8, "{case}: {found:e}, {}", solution.status);
                // What an outer iteration costs is known from the counts.
                assert!(
                    solution.calls.total() < most * t as u64,
                    "{case}: {} calls",
                    solution.calls.total()
                );
            };
            check("pdbg", solve(&task, &chosen::<Pdbg>(&task), 20_000), 40_000);
            check("mspbe-svrg", solve(&task, &chosen::<MspbeSvrg>(&task), 1000), 8000);
            check("mspbe-saga", solve(&task, &chosen::<MspbeSaga>(&task), 1000), 2000);
        }
    }
}

#[test]
fn gtd2_comes_nearer_by_a_power() {
    let chain = Chain::random(4, 400, 1.0, 1.0, 3);
    let task = chain.mspbe().problem(0.0).unwrap();
    let start = task.objective(&[0.0; 4]);
    let mut worst = [0.0_f64; 3];
    for seed in 0..5 {
        let method = Gtd2 { seed, ..chosen::<Gtd2>(&task) };
        let trace = solve(&task, &method, 640).trace;
        // The mean over a stretch: single iterates jump about.
        for (worst, stretch) in worst.iter_mut().zip([8..16, 64..128, 512..640]) {
            let of = |outer: &u64| trace[*outer as usize].objective;
            let count = stretch.clone().count() as f64;
            *worst = worst.max(stretch.map(|outer| of(&outer)).sum::<f64>() / count);
        }
    }
    let [early, middle, late] = worst.map(|objective| objective / start);
    // Eight times the steps each: with k^-3/4 the noise falls by 8^3/4 = 4.8.
    let falls = middle < early / 2.0 && late < middle / 2.5;
    assert!(falls && early < 0.3 && late < 0.02, "{early:e} {middle:e} {late:e}");
}

#[test]
fn calls_are_those_of_the_documentation() {
    let t = 30;
    let task = Chain::random(3, t, 1.0, 1.0, 1).mspbe().problem(0.1).unwrap();
    let nothing = Calls::default();
    let batch = (nothing, counted(t, t, 0));
    assert_eq!(calls(&task, &chosen::<Pdbg>(&task)), (nothing, vec![batch; 3]));
    let svrg = (counted(t, t, 0), counted(2 * 2 * t, 2 * t, 0));
    assert_eq!(calls(&task, &chosen::<MspbeSvrg>(&task)), (nothing, vec![svrg; 3]));
    let single = (nothing, counted(t, t, 0));
    assert_eq!(calls(&task, &chosen::<MspbeSaga>(&task)), (counted(t, 0, 0), vec![single; 3]));
    assert_eq!(calls(&task, &chosen::<Gtd2>(&task)), (nothing, vec![single; 3]));
}

#[test]
fn a_state_that_went_through_a_file_continues_bit_for_bit() {
    let task = Chain::random(3, 40, 1.0, 1.0, 1).mspbe().problem(0.1).unwrap();
    resumes("pdbg", &task, &chosen::<Pdbg>(&task));
    resumes("mspbe-svrg", &task, &chosen::<MspbeSvrg>(&task));
    resumes("mspbe-saga", &task, &chosen::<MspbeSaga>(&task));
    resumes("gtd2", &task, &chosen::<Gtd2>(&task));
}

#[test]
fn other_problems_are_refused() {
    let missing = |error: ChoiceError| match error {
        ChoiceError::Unsuited { missing, suited, .. } => {
            assert!(!suited.contains("pdbg"), "{suited}");
            missing
        }
        other => panic!("{other}"),
    };
    let ridge = Ridge::from_weight(0.1).unwrap();
    let square = Square::new(1.0).unwrap();
    let several =
        Problem { inner: Affine::random(2, 2, 5, |_| 3, 1), merit: square, regularizer: ridge };
    let error = Pdbg::choose(&Choice::default(), &several, &[0.0; 2]).unwrap_err();
    assert!(missing(error).ends_with("there are several outer terms"));
    let one =
        Problem { inner: Affine::random(2, 2, 1, |_| 3, 1), merit: square, regularizer: ridge };
    let error = Pdbg::choose(&Choice::default(), &one, &[0.0; 2]).unwrap_err();
    assert!(missing(error).ends_with("phi is no quadratic form"));
    // Three samples of f, and an average over four.
    let form = |rows: Vec<f64>| QuadraticForm::from_rows(2, rows).unwrap();
    let rows = form(vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.5, 1.0]);
    let other =
        Problem { inner: Affine::random(2, 2, 1, |_| 3, 1), merit: rows, regularizer: ridge };
    let error = MspbeSaga::choose(&Choice::default(), &other, &[0.0; 2]).unwrap_err();
    assert!(missing(error).contains("another number of samples"));
    // A bare matrix suits any f.
    let bare = QuadraticForm::new(vec![2.0, 0.5, 0.5, 1.0]).unwrap();
    let suited =
        Problem { inner: Affine::random(2, 2, 1, |_| 3, 1), merit: bare, regularizer: ridge };
    assert!(MspbeSaga::choose(&Choice::default(), &suited, &[0.0; 2]).is_ok());
}

#[test]
fn bad_transitions_are_refused_and_quoted() {
    let refused = |features: Vec<f64>, next: &[f64], rewards: Vec<f64>, discount: f64| {
        Mspbe::new(2, features, next, rewards, discount).unwrap_err().to_string()
    };
    let two = [1.0, 0.0, 0.0, 1.0];
    assert!(
        refused(two.to_vec(), &two[..2], vec![1.0, 0.0], 0.9)
            .starts_with("next_features = 2 numbers")
    );
    assert!(refused(vec![], &[], vec![], 0.9).starts_with("features = 0 numbers"));
    assert!(
        refused(vec![f64::NAN; 4], &two, vec![1.0, 0.0], 0.9).contains("NaN in row 0, column 0")
    );
    assert!(
        refused(two.to_vec(), &two, vec![1.0, f64::INFINITY], 0.9).contains("rewards[1] = inf")
    );
    assert!(refused(two.to_vec(), &two, vec![1.0, 0.0], 1.5).contains("discount = 1.5"));
    let f = Mspbe::new(2, two.to_vec(), &two, vec![1.0, 0.0], 0.5).unwrap();
    assert!(f.clone().problem(-1.0).unwrap_err().to_string().contains("rho = -1.0"));
    let flat = Mspbe::new(2, vec![1.0, 2.0, 2.0, 4.0], &two, vec![1.0, 0.0], 0.5).unwrap();
    assert!(flat.problem(0.0).unwrap_err().to_string().contains("span"));
}
