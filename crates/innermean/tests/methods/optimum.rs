//! The reference optimum against closed forms, an interior-point solver and Newton's method.

use crate::support::dense::dot;
use crate::support::market::{Limits, Market, Risk, Task};
use crate::support::process;
use crate::support::regression::Data;
use crate::support::toy::{Affine, SoftplusUnits, least_squares, softplus_of_softplus};
use innermean::optimum::{Source, optimum};
use innermean::{Absolute, Objective, Optimum, Problem, Unregularized};
use innermean_data::{Features, MdpOptions, generate_mdp};

fn of<'p>(problem: impl Into<Objective<'p>>) -> Optimum {
    let problem = problem.into();
    let found = optimum(problem, &vec![0.0; problem.inner.d()]).expect("an optimum");
    assert_eq!(found.objective, problem.objective(&found.theta));
    found
}

/// The objective is nowhere above that of `theta`, an answer from elsewhere, and below it by no
/// more than that answer's error; the points agree to `tolerance`.
fn check<'p>(
    name: &str,
    problem: impl Into<Objective<'p>>,
    theta: &[f64],
    tolerance: f64,
) -> Source {
    let problem = problem.into();
    let found = of(problem);
    let expected = problem.objective(theta);
    let below = (expected - found.objective) / expected.abs();
    assert!((-1e-14..=1e-5 * tolerance + 1e-14).contains(&below), "{name}: {below:e} below");
    let scale = 1.0 + theta.iter().fold(0.0_f64, |most, t| most.max(t.abs()));
    for (found, expected) in found.theta.iter().zip(theta) {
        assert!((found - expected).abs() <= tolerance * scale, "{name}: {found} {expected}");
    }
    found.source
}

#[test]
fn quadratic_problems_are_solved_directly() {
    let market = Market::generated(7240, 25, 1);
    for l2 in [0.0, 0.3] {
        let task = Task { l2, ..Task::new(Risk::Variance(1.7), Limits::Free) };
        let source =
            check("portfolio", &market.problem(&task), &market.closed_form(1.7, l2), 1e-10);
        assert_eq!(source, Source::Direct);
    }
    for features in [Features::Uniform, Features::Gaussian, Features::MixedSign] {
        let mdp = generate_mdp(&MdpOptions { features, ..MdpOptions::default() });
        let source =
            check("process", &process::problem(&mdp), &process::normal_equations(&mdp), 1e-10);
        assert_eq!(source, Source::Direct);
    }
    let (problem, theta) = Data::random(300, 12, 0.01, 1).ridge(1e-4);
    assert_eq!(check("ridge", &problem, &theta, 1e-10), Source::Direct);
    let (problem, saddle) = least_squares(Affine::random(5, 2, 40, |i| 1 + i % 4, 1), 0.7, 0.01);
    assert_eq!(check("ragged, ell = 2", &problem, &saddle.theta, 1e-12), Source::Direct);
    assert_eq!(Source::Direct.to_string(), "direct solve of the normal equations");
}

#[test]
fn a_matrix_without_full_rank_is_left_to_a_long_run() {
    // Three rows, five unknowns: the least value is 0, at many points.
    let data = Data::random(3, 5, 0.5, 2);
    let (mut problem, _) = data.ridge(1.0);
    problem.regularizer = innermean::Ridge::from_weight(0.0).unwrap();
    let found = of(&problem);
    assert!(matches!(found.source, Source::AcceleratedGradient(_)), "{}", found.source);
    assert!(found.objective < 1e-25, "{}", found.objective);
    assert!(found.source.to_string().starts_with("accelerated proximal gradient, "));
}

#[test]
fn convex_programs_agree_with_an_interior_point_solver() {
    let market = Market::generated(600, 8, 3);
    let unlike = [
        Task::new(Risk::Variance(1.0), Limits::LongOnly),
        Task::new(Risk::Variance(0.3), Limits::Between(-0.5, 0.25)),
        Task { l1: 0.01, ..Task::new(Risk::Variance(1.0), Limits::Free) },
        Task { l2: 0.02, ..Task::new(Risk::Huber(1.0, 0.3), Limits::Free) },
        Task::new(Risk::Huber(1.0, 0.1), Limits::LongOnly),
        Task::new(Risk::Semivariance(1.0), Limits::LongOnly),
        Task { l2: 0.1, ..Task::new(Risk::Semivariance(2.0), Limits::Between(-1.0, 1.0)) },
    ];
    for task in unlike {
        // The solver is good to about 1e-12 in the objective, and to the root of that in theta.
        let source = check(
            &format!("{task:?}"),
            &market.problem(&task),
            &market.by_interior_point(&task),
            3e-6,
        );
        let expected = match task.risk {
            Risk::Variance(_) => source == Source::Program,
            _ => matches!(source, Source::AcceleratedGradient(reached) if reached.residual < 1e-9),
        };
        assert!(expected, "{task:?}: {source}");
    }
}

#[test]
fn a_kink_is_met_by_primal_dual_steps() {
    let market = Market::generated(600, 8, 3);
    for task in [
        Task::new(Risk::Absolute(1.0), Limits::LongOnly),
        Task::new(Risk::Absolute(0.05), Limits::Between(-0.5, 1.0)),
        Task { l2: 0.05, ..Task::new(Risk::Absolute(0.04), Limits::Free) },
    ] {
        let source = check(
            &format!("{task:?}"),
            &market.problem(&task),
            &market.by_interior_point(&task),
            3e-6,
        );
        assert!(
            matches!(source, Source::PrimalDual(reached) if reached.residual < 1e-9),
            "{source}"
        );
    }
    // Without an affine f nothing is promised.
    let f = SoftplusUnits::random(4, 10, |_| 3, 1);
    let problem =
        Problem { inner: f, merit: Absolute::new(1.0).unwrap(), regularizer: Unregularized };
    assert_eq!(optimum(&problem, &[0.0; 4]), None);
}

#[test]
fn smooth_problems_agree_with_newtons_method() {
    let (problem, theta) = Data::random(400, 10, 0.1, 4).logistic(1e-3);
    check("logistic", &problem, &theta, 1e-9);
    let (problem, saddle) =
        softplus_of_softplus(SoftplusUnits::random(6, 30, |i| 2 + i % 5, 1), 0.01);
    check("softplus", &problem, &saddle.theta, 1e-9);
    let found = of(&problem);
    // P' = F' + lambda theta
    let mut gradient = vec![0.0; 6];
    problem.gradient(&found.theta, &mut gradient);
    gradient.iter_mut().zip(&found.theta).for_each(|(g, t)| *g += 0.01 * t);
    assert!(dot(&gradient, &gradient).sqrt() < 1e-14);
}
