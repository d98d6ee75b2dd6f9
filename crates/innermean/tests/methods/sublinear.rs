//! SPDG, ALEXR, SOX and MSVR: exact counts, resumed runs, and gaps that fall like a power of the
//! steps.

use crate::support::checks::{calls, counted, resumes};
use crate::support::market::Market;
use crate::support::toy::{Affine, SoftplusUnits, least_squares, softplus_of_softplus};
use innermean::choice::Mirror;
use innermean::methods::alexr::Alexr;
use innermean::methods::msvr::Msvr;
use innermean::methods::sox::Sox;
use innermean::methods::spdg::Spdg;
use innermean::{
    Absolute, Calls, Choice, Driver, Listed, Method, Objective, Portfolio, Problem, Ridge, Square,
    Stop, Tilted, Unregularized,
};

fn with_mirror(mirror: Mirror, seed: u64) -> Choice {
    Choice { mirror: Some(mirror), ..Choice::seeded(seed) }
}

/// The mean gap over a stretch of passes and five seeds, relative to that at the start, for each
/// stretch.
fn gaps<'p, M: Method + Listed>(
    problem: impl Into<Objective<'p>>,
    start: &[f64],
    optimum: f64,
    choice: Choice,
) -> [f64; 3] {
    const STRETCHES: [std::ops::Range<usize>; 3] = [6..10, 48..80, 384..400];
    let problem = problem.into();
    let first = problem.objective(start) - optimum;
    let mut means = [0.0; 3];
    for seed in 0..5 {
        let method = M::choose(&Choice { seed, ..choice }, problem, start).unwrap();
        let stop = Stop { max_outer: Some(400), tolerance: Some(1e-12), ..Stop::default() };
        let trace =
            Driver { stop, ..Driver::default() }.run(problem, &method, start, &mut ()).trace;
        for (mean, stretch) in means.iter_mut().zip(STRETCHES) {
            let count = (5 * stretch.len()) as f64;
            *mean += trace[stretch]
                .iter()
                .map(|record| (record.objective - optimum) / first)
                .sum::<f64>()
                / count;
        }
    }
    means
}

/// Eight times the passes each: the noise falls like `k^-3/4`, by 4.8, once the steps have begun
/// to.
#[test]
fn gaps_fall_by_a_power() {
    let check = |name: &str, [early, middle, late]: [f64; 3]| {
        assert!(early < 0.2 && late < 5e-3, "{name}: {early:e} {middle:e} {late:e}");
        assert!(
            middle < early / 1.5 && late < middle / 2.0,
            "{name}: {early:e} {middle:e} {late:e}"
        );
    };
    let (problem, saddle) = least_squares(Affine::random(4, 1, 100, |i| 2 + i % 5, 1), 1.0, 0.1);
    let (start, optimum) = ([1.0; 4], problem.objective(&saddle.theta));
    let choice = Choice::default();
    check("spdg, least squares", gaps::<Spdg>(&problem, &start, optimum, choice));
    check("sox, least squares", gaps::<Sox>(&problem, &start, optimum, choice));
    check("msvr, least squares", gaps::<Msvr>(&problem, &start, optimum, choice));
    for mirror in [Mirror::Euclidean, Mirror::Conjugate] {
        let found = gaps::<Alexr>(&problem, &start, optimum, with_mirror(mirror, 0));
        check(&format!("alexr, least squares, {mirror:?}"), found);
    }
    let (problem, saddle) = softplus_of_softplus(SoftplusUnits::random(4, 100, |_| 5, 1), 0.05);
    let (start, optimum) = ([3.0; 4], problem.objective(&saddle.theta));
    check("spdg, softplus", gaps::<Spdg>(&problem, &start, optimum, choice));
    check("sox, softplus", gaps::<Sox>(&problem, &start, optimum, choice));
    check("msvr, softplus", gaps::<Msvr>(&problem, &start, optimum, choice));
    for mirror in [Mirror::Euclidean, Mirror::Conjugate] {
        let found = gaps::<Alexr>(&problem, &start, optimum, with_mirror(mirror, 0));
        check(&format!("alexr, softplus, {mirror:?}"), found);
    }
}

/// An ill-conditioned market, where they come near and not to the last digit.
#[test]
fn a_market_is_approached() {
    let market = Market::generated(400, 8, 1);
    let problem = market.portfolio().problem(Square::new(1.0).unwrap(), Unregularized).unwrap();
    let optimum = problem.objective(&market.closed_form(1.0, 0.0));
    let start = [0.5; 8];
    let choice = Choice { outer_batch: Some(4), batch: Some(4), ..Choice::default() };
    let [_, _, spdg] = gaps::<Spdg>(&problem, &start, optimum, Choice::default());
    let [_, _, sox] = gaps::<Sox>(&problem, &start, optimum, choice);
    let [_, _, msvr] = gaps::<Msvr>(&problem, &start, optimum, choice);
    let [_, _, alexr] = gaps::<Alexr>(&problem, &start, optimum, choice);
    for (name, gap) in [("spdg", spdg), ("sox", sox), ("msvr", msvr), ("alexr", alexr)] {
        assert!(gap < 2e-3, "{name}: {gap:e}");
    }
}

/// The Euclidean mirror takes a phi with kinks, the other refuses it.
#[test]
fn alexr_and_spdg_take_kinks() {
    let market = Market::generated(300, 5, 1);
    let problem: Problem<Portfolio, Absolute, Tilted<innermean::Simplex>> =
        market.portfolio().problem(Absolute::new(1.0).unwrap(), innermean::Simplex).unwrap();
    let start = [0.2; 5];
    let error = Alexr::choose(&with_mirror(Mirror::Conjugate, 1), &problem, &start)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("mirror = conjugate, expected euclidean"), "{error}");
    let stop = Stop { max_outer: Some(400), tolerance: Some(1e-12), ..Stop::default() };
    let driver = Driver { stop, ..Driver::default() };
    let task = crate::support::market::Task::new(
        crate::support::market::Risk::Absolute(1.0),
        crate::support::market::Limits::LongOnly,
    );
    let optimum = market.objective(&task, &market.by_interior_point(&task));
    let first = problem.objective(&start) - optimum;
    let alexr = Alexr::choose(&Choice::seeded(1), &problem, &start).unwrap();
    let spdg = Spdg::choose(&Choice::seeded(1), &problem, &start).unwrap();
    for solution in [
        driver.run(&problem, &alexr, &start, &mut ()),
        driver.run(&problem, &spdg, &start, &mut ()),
    ] {
        let gap = (solution.objective - optimum) / first;
        assert!(gap < 0.05, "{gap:e}");
        assert!(solution.certificate.gap.is_some(), "duals bound the gap");
    }
}

fn small() -> Problem<Affine, Square, Ridge> {
    Problem {
        inner: Affine::random(3, 2, 12, |_| 4, 1),
        merit: Square::new(1.0).unwrap(),
        regularizer: Ridge::from_weight(0.1).unwrap(),
    }
}

#[test]
fn calls_are_those_of_the_documentation() {
    let problem = small();
    let (nothing, start) = (Calls::default(), [0.0; 3]);
    let spdg = Spdg::choose(&Choice::seeded(1), &problem, &start).unwrap();
    assert_eq!(calls(&problem, &spdg), (nothing, vec![(nothing, counted(48, 48, 0)); 3]));
    for (outer_batch, batch) in [(1, 1), (5, 3)] {
        let choice =
            Choice { outer_batch: Some(outer_batch), batch: Some(batch), ..Choice::seeded(1) };
        // 12 terms of 4 samples.
        let steps = 48_usize.div_ceil(batch).max(12).div_ceil(outer_batch);
        let (terms, samples) = (steps * outer_batch, steps * outer_batch * batch);
        let once = counted(12 * batch, 0, 0);
        let passes = |f, merit| vec![(nothing, counted(f, samples, merit)); 3];
        let sox = Sox::choose(&choice, &problem, &start).unwrap();
        assert_eq!(calls(&problem, &sox), (once, passes(samples, terms)));
        let msvr = Msvr::choose(&choice, &problem, &start).unwrap();
        assert_eq!(calls(&problem, &msvr), (once, passes(2 * samples, terms)));
        let euclidean = Alexr::choose(&choice, &problem, &start).unwrap();
        assert_eq!(calls(&problem, &euclidean), (nothing, passes(2 * samples, 0)));
        let plain = Choice { extrapolation: Some(0.0), mirror: Some(Mirror::Conjugate), ..choice };
        let conjugate = Alexr::choose(&plain, &problem, &start).unwrap();
        assert_eq!(calls(&problem, &conjugate), (once, passes(samples, terms)));
    }
}

#[test]
fn a_state_that_went_through_a_file_continues_bit_for_bit() {
    let problem = small();
    let choice = Choice { outer_batch: Some(2), batch: Some(2), ..Choice::seeded(1) };
    resumes("spdg", &problem, &Spdg::choose(&Choice::seeded(1), &problem, &[0.0; 3]).unwrap());
    resumes("sox", &problem, &Sox::choose(&choice, &problem, &[0.0; 3]).unwrap());
    resumes("msvr", &problem, &Msvr::choose(&choice, &problem, &[0.0; 3]).unwrap());
    for mirror in [Mirror::Euclidean, Mirror::Conjugate] {
        let method =
            Alexr::choose(&Choice { mirror: Some(mirror), ..choice }, &problem, &[0.0; 3]).unwrap();
        resumes(&format!("alexr, {mirror:?}"), &problem, &method);
    }
}

/// For the square, the conjugate mirror is the Euclidean one in another unit: `alpha_w = 1/gamma`
/// times as large, from the same duals.
#[test]
fn the_mirrors_agree_on_a_square() {
    let problem = small();
    let optimum = 0.0;
    let choice = |mirror, alpha_w| Choice {
        alpha_w: Some(alpha_w),
        mirror: Some(mirror),
        ..Choice::seeded(2)
    };
    let euclidean = gaps::<Alexr>(&problem, &[1.0; 3], optimum, choice(Mirror::Euclidean, 0.5));
    let conjugate = gaps::<Alexr>(&problem, &[1.0; 3], optimum, choice(Mirror::Conjugate, 0.25));
    // They start from other duals, and forget them.
    for (a, b) in euclidean.iter().zip(&conjugate).skip(1) {
        assert!((a / b - 1.0).abs() < 1e-2, "{euclidean:?} {conjugate:?}");
    }
}

#[test]
fn bad_settings_are_refused_and_quoted() {
    let problem = small();
    for (choice, quoted) in [
        (Choice { batch: Some(0), ..Choice::default() }, "batch = 0"),
        (Choice { outer_batch: Some(0), ..Choice::default() }, "outer_batch = 0"),
        (
            Choice { averaging: Some(1.5), ..Choice::default() },
            "averaging = 1.5, expected a number above 0, at most 1",
        ),
        (Choice { averaging: Some(f64::NAN), ..Choice::default() }, "averaging = NaN"),
        (Choice { alpha_theta: Some(-1.0), ..Choice::default() }, "alpha_theta = -1.0"),
    ] {
        let error = Sox::choose(&choice, &problem, &[0.0; 3]).unwrap_err().to_string();
        assert!(error.starts_with(quoted), "{error}");
    }
}
