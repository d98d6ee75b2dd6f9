//! Steps that need not be chosen reach any accuracy, about as fast as the best that a search
//! finds.

use crate::support::dense::distance_squared;
use crate::support::market::real_markets;
use crate::support::median;
use crate::support::process::{normal_equations, problem};
use innermean::Objective;
use innermean::draws::Stream;
use innermean::problems::linear;
use innermean::{
    Absolute, AnyMethod, Bags, Choice, Driver, Groups, Link, Listed, Logistic, Method, Oracle,
    Poisson, Problem, Reference, Ridge, Settings, Solution, Square, Status, Stop, Svrpda1, Tilted,
    Unregularized, optimum,
};
use innermean_data::{
    Features, GroupOptions, LinearModel, Mdp, MdpOptions, RowLabels, generate_groups, generate_mdp,
};

/// A run with no settings to a part of the start's gap.
fn run(problem: Objective<'_>, name: &str, start: &[f64], gap: f64, seed: u64) -> Solution {
    let least = optimum(problem, start).expect("phi is smooth").objective;
    let target = least + gap * (problem.objective(start) - least);
    let driver = Driver {
        stop: Stop {
            max_outer: Some(2000),
            target_objective: Some(target),
            tolerance: None,
            ..Stop::default()
        },
        ..Driver::default()
    };
    let method = AnyMethod::named(name, &Choice::seeded(seed), problem, start).expect("it suits");
    method.run(&driver, problem, start, &mut ())
}

/// The median calls of five runs of SVRPDA-I to a relative gap of 1e-6.
fn calls(problem: Objective<'_>, start: &[f64]) -> f64 {
    let run = |seed| {
        let solution = run(problem, "svrpda1", start, 1e-6, seed);
        assert_eq!(solution.status, Status::TargetReached);
        solution.calls.total() as f64
    };
    median(&mut (11..16).map(run).collect::<Vec<f64>>())
}

fn process(features: Features, states: usize, d: usize, seed: u64) -> Mdp {
    generate_mdp(&MdpOptions { states, d, features, seed, ..MdpOptions::default() })
}

/// The calls of the best of 7 x 7 x 3 settings, as `experiments/src/bin/grid.rs` found them.
#[test]
fn processes_take_at_most_twice_the_calls_of_the_best_setting() {
    for (features, states, d, seed, best) in [
        (Features::Uniform, 10, 5, 1, 3210.0),
        (Features::Gaussian, 10, 5, 2, 4810.0),
        (Features::MixedSign, 10, 5, 3, 3210.0),
        (Features::Uniform, 30, 10, 13, 22_530.0),
        (Features::Gaussian, 30, 5, 5, 15_780.0),
        (Features::MixedSign, 100, 5, 9, 75_100.0),
    ] {
        let problem = problem(&process(features, states, d, seed));
        let ratio = calls(problem.erased(), &vec![0.0; d]) / best;
        println!("{features:?}, {states} states: {ratio:.2}");
        assert!(ratio <= 2.0, "{features:?}, {states} states: {ratio:.2}");
    }
}

#[test]
fn a_logistic_regression_takes_at_most_twice_the_calls_of_the_best_setting() {
    for (lambda, best) in [(1e-2, 43_000.0), (1e-4, 43_000.0)] {
        let data = LinearModel { rows: 1000, features: 10, classes: true, seed: 1010 }.dense();
        let problem = Problem {
            inner: linear::predictors(10, data.features, vec![0.0; 1000]).unwrap(),
            merit: Logistic::new(data.targets).unwrap(),
            regularizer: Ridge::from_weight(lambda).unwrap(),
        };
        let ratio = calls(problem.erased(), &[0.0; 10]) / best;
        println!("ridge {lambda}: {ratio:.2}");
        assert!(ratio <= 2.0, "ridge {lambda}: {ratio:.2}");
    }
}

/// As many passes as `3 n` calls of the paper's portfolios; the paper's own settings take about
/// twice as many.
#[test]
fn real_portfolios_take_less_than_40_passes() {
    for (k, market) in real_markets().iter().enumerate().step_by(5) {
        let mut uniform = Stream::new(k as u64, 1000);
        let start: Vec<f64> = (0..market.d).map(|_| uniform.unit()).collect();
        let problem = market.portfolio().problem(Square::new(1.0).unwrap(), Unregularized).unwrap();
        let passes = calls(problem.erased(), &start) / (3 * market.n()) as f64;
        println!("{}: {passes:.1} passes", market.name);
        assert!(passes < 40.0, "{}: {passes}", market.name);
    }
}

/// Both methods, where f is not affine: proportions by a logistic link, and counts by an
/// exponential one that outgrows any step.
#[test]
fn groups_are_solved_with_either_link() {
    let grouped = |labels| {
        generate_groups(&GroupOptions { groups: 60, rows: (20, 40), features: 4, labels, seed: 3 })
    };
    let groups = |drawn: &innermean_data::GroupedRows| {
        let mut starts: Vec<usize> =
            (0..60).map(|g| drawn.groups.partition_point(|&of| of < g)).collect();
        starts.push(drawn.groups.len());
        (Groups::new(4, drawn.rows.clone(), starts.clone(), true).unwrap(), starts)
    };
    let drawn = grouped(RowLabels::Binary);
    let squares = Problem {
        inner: Bags::with_targets(groups(&drawn).0, Link::Logistic, drawn.group_labels.clone())
            .unwrap(),
        merit: Square::new(1.0).unwrap(),
        regularizer: Ridge::from_weight(1e-3).unwrap(),
    };
    let drawn = grouped(RowLabels::Counts);
    let (rows, starts) = groups(&drawn);
    let exposures = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let counts = Problem {
        inner: Bags::new(rows, Link::Exp),
        merit: Poisson::new(drawn.group_labels, exposures, 0.1).unwrap(),
        regularizer: Ridge::from_weight(1e-3).unwrap(),
    };
    for name in ["svrpda1", "svrpda2"] {
        for (what, problem) in [("logistic", squares.erased()), ("exponential", counts.erased())] {
            let solution = run(problem, name, &[0.0; 5], 1e-8, 1);
            println!("{name}, {what}: {} outer iterations", solution.outer);
            assert_eq!(solution.status, Status::TargetReached, "{name}, {what}");
            assert!(solution.outer < 300, "{name}, {what}: {} outer iterations", solution.outer);
        }
    }
}

/// In another unit of the features it is the same problem. By a power of two even the rounding is
/// the same.
#[test]
fn units_change_nothing() {
    let mdp = process(Features::Gaussian, 30, 5, 5);
    let counted = |unit: f64| {
        let scaled =
            Mdp { features: mdp.features.iter().map(|x| unit * x).collect(), ..mdp.clone() };
        let problem = problem(&scaled);
        let solution = run(problem.erased(), "svrpda1", &[0.0; 5], 1e-10, 1);
        assert_eq!(solution.status, Status::TargetReached);
        (solution.calls, solution.theta.iter().map(|t| t * unit).collect::<Vec<_>>())
    };
    let plain = counted(1.0);
    for exponent in [-40, -20, 20, 40] {
        assert_eq!(counted(2.0_f64.powi(exponent)), plain, "2^{exponent}");
    }
    for unit in [1e-6, 1e6] {
        let ratio = counted(unit).0.total() as f64 / plain.0.total() as f64;
        assert!((0.5..2.0).contains(&ratio), "{unit}: {ratio}");
    }
}

/// Steps that are far too large or small for once, as a forecast may be wrong, cost some outer
/// iterations and nothing else.
#[test]
fn a_run_recovers_from_steps_that_are_a_million_times_off() {
    let mdp = process(Features::MixedSign, 30, 5, 6);
    let problem = problem(&mdp);
    let expected = normal_equations(&mdp);
    let start = [0.0; 5];
    let method = Svrpda1::choose(&Choice::seeded(1), problem.erased(), &start).unwrap();
    for factor in [1e-6, 30.0, 1e3, 1e6, 1e200] {
        let erased = problem.erased();
        let mut oracle = Oracle::new(erased);
        let mut state = method.init(&mut oracle, &start);
        for outer in 0..60 {
            method.outer(&mut oracle, &mut state);
            if [0, 1, 7].contains(&outer) {
                state.pace.alpha_theta *= factor;
            }
            for _ in 0..state.pace.inner_iterations {
                method.inner(&mut oracle, &mut state);
            }
        }
        let distance = distance_squared(&state.theta, &expected).sqrt();
        assert!(distance < 1e-6, "{factor:e}: {distance:e}");
    }
}

/// A driver that sees numbers that are not finite lets such a method go on; an objective without a
/// least value ends as before.
#[test]
fn only_what_is_not_bounded_below_diverges() {
    let inner = linear::predictors(2, vec![1.0, 0.0, 2.0, 0.0], vec![0.0; 2]).unwrap();
    let tilt = Tilted::new(Unregularized, vec![0.0, -1.0]).unwrap();
    let problem = Problem { inner, merit: Square::new(1.0).unwrap(), regularizer: tilt };
    let method = AnyMethod::named("svrpda1", &Choice::seeded(1), &problem, &[1.0, 0.0]).unwrap();
    let solution = method.run(&Driver::default(), &problem, &[1.0, 0.0], &mut ());
    assert!(
        matches!(solution.status, Status::Diverged | Status::MaxOuter),
        "{}: {:?}",
        solution.status,
        solution.theta
    );
}

/// What is given is kept.
#[test]
fn a_step_by_hand_turns_them_off() {
    let problem = problem(&process(Features::Uniform, 10, 5, 1));
    let choose = |choice: &Choice| Settings::choose(choice, &problem, &[0.0; 5]).unwrap();
    assert!(choose(&Choice::seeded(1)).automatic);
    assert!(choose(&Choice { reference: Some(Reference::Random), ..Choice::seeded(1) }).automatic);
    let by_hand = choose(&Choice { alpha_w: Some(0.5), ..Choice::seeded(1) });
    assert!(!by_hand.automatic && by_hand.alpha_w == 0.5);
    assert!(!choose(&Choice { inner_iterations: Some(7), ..Choice::seeded(1) }).automatic);
    let Problem { inner, regularizer, .. } = problem;
    let absolute = Problem { inner, merit: Absolute::new(1.0).unwrap(), regularizer };
    assert!(!Settings::choose(&Choice::seeded(1), &absolute, &[0.0; 5]).unwrap().automatic);
}
