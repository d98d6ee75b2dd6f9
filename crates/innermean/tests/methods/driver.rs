//! The driver: every way to stop, blow-ups, interrupts, observers, traces; and that a run is
//! reproducible, on any number of threads and across a resume.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use innermean::methods::svrpda::PrimalDual;
use innermean::{
    AnyMethod, Choice, Driver, Measure, Method, Observer, Oracle, Portfolio, Problem, Record,
    Reference, Settings, Solution, Square, Status, StepRule, Stop, Svrpda1, Svrpda2, Tilted,
    Unregularized,
};
use innermean_data::generate_factor_model;

type Market = Problem<Portfolio, Square, Tilted<Unregularized>>;

fn market(n: usize, d: usize) -> Market {
    Portfolio::new(d, generate_factor_model(n, d, 1).values)
        .and_then(|f| f.problem(Square::new(1.0)?, Unregularized))
        .expect("a portfolio")
}

fn settings(problem: &Market) -> Settings {
    let choice = Choice { rule: Some(StepRule::Scaled), ..Choice::seeded(3) };
    Settings::choose(&choice, problem, &[0.0; 8]).expect("scaled steps")
}

fn solve(problem: &Market, driver: &Driver<'_>, observer: &mut dyn Observer) -> Solution {
    driver.run(problem.erased(), &Svrpda1(settings(problem)), &[0.0; 8], observer)
}

fn until(stop: Stop) -> Driver<'static> {
    Driver { stop, ..Driver::default() }
}

fn never() -> Stop {
    Stop {
        max_outer: None,
        max_calls: None,
        max_seconds: None,
        target_objective: None,
        tolerance: None,
    }
}

#[test]
fn every_limit_stops_with_its_own_status() {
    let problem = market(400, 8);
    let solved = solve(&problem, &Driver::default(), &mut ());
    assert_eq!((solved.status, solved.certificate.measure), (Status::Solved, Measure::Quadratic));
    assert!(solved.certificate.relative.is_some_and(|o| o <= 1e-6));
    assert_eq!(solved.objective, problem.objective(&solved.theta));

    let outer = solve(&problem, &until(Stop { max_outer: Some(3), ..never() }), &mut ());
    assert_eq!((outer.status, outer.outer, outer.inner), (Status::MaxOuter, 3, 3 * 4 * 400));

    let target = 0.5 * solved.objective;
    let reached =
        solve(&problem, &until(Stop { target_objective: Some(target), ..never() }), &mut ());
    assert_eq!(reached.status, Status::TargetReached);
    assert!(reached.objective <= target && reached.calls.total() < solved.calls.total());

    // However busy the machine is, some limit leaves time for an iteration.
    let limits = (0..12).map(|k| 0.02 * f64::from(1 << k));
    let some = limits.map(|limit| {
        solve(&problem, &until(Stop { max_seconds: Some(limit), ..never() }), &mut ())
    });
    let ended = some.inspect(|run| assert_eq!(run.status, Status::MaxSeconds));
    assert!(ended.into_iter().any(|run| run.outer > 0 && run.calls.total() > 0));

    // A limit of zero outer iterations evaluates the start and no more.
    let start = solve(&problem, &until(Stop { max_outer: Some(0), ..never() }), &mut ());
    assert_eq!((start.status, start.calls.total(), start.trace.len()), (Status::MaxOuter, 0, 1));
}

#[test]
fn a_limit_on_calls_is_kept_to_the_step() {
    let problem = market(400, 8);
    // The first snapshot costs 3 n and n merits; then each step costs 2.
    for most in [1, 1600, 1601, 1700, 4000, 12_345] {
        let solution = solve(&problem, &until(Stop { max_calls: Some(most), ..never() }), &mut ());
        assert_eq!(solution.status, Status::MaxCalls);
        let total = solution.calls.total();
        let first = 4 * 400 + 2;
        assert!(
            total == first.max(most) || total == first.max(most) + 1 || most > 4800,
            "{most}: {total}"
        );
        // Past the first epoch, a snapshot that has begun is finished.
        assert!(total < most.max(first) + 3 * 400 + 2, "{most}: {total}");
    }
}

#[test]
fn divergence_is_caught_while_numbers_are_finite_and_the_best_point_is_returned() {
    let problem = market(400, 8);
    for factor in [30.0, 300.0, 1e6] {
        let mut settings = settings(&problem);
        settings.alpha_theta *= factor;
        for method in [
            AnyMethod::Svrpda1(Svrpda1(settings.clone())),
            AnyMethod::Svrpda2(Svrpda2(settings.clone())),
        ] {
            let solution = method.run(&Driver::default(), &problem, &[0.1; 8], &mut ());
            assert_eq!(solution.status, Status::Diverged, "{method:?}");
            assert!(solution.outer < 20, "caught after {} outer iterations", solution.outer);
            assert!(solution.theta.iter().all(|t| t.is_finite()) && solution.objective.is_finite());
            assert!(solution.objective <= problem.objective(&[0.1; 8]));
            assert!(solution.trace.iter().all(|record| record.objective.is_finite()));
        }
    }
    // Caught long before overflow when the blow-up is slow.
    let mut settings = settings(&problem);
    settings.alpha_theta *= 30.0;
    let solution = Driver::default().run(problem.erased(), &Svrpda1(settings), &[0.1; 8], &mut ());
    assert!(solution.trace.iter().all(|record| record.objective < 1e100));
}

#[test]
fn an_interrupt_returns_the_best_point_so_far() {
    struct After<'f>(u64, &'f AtomicBool);
    impl Observer for After<'_> {
        fn record(&mut self, record: &Record, _: &[f64]) -> ControlFlow<()> {
            self.1.store(record.outer >= self.0, Ordering::Relaxed);
            ControlFlow::Continue(())
        }
    }
    let problem = market(400, 8);
    let flag = AtomicBool::new(false);
    let driver = Driver { stop: never(), interrupt: Some(&flag), ..Driver::default() };
    let solution = solve(&problem, &driver, &mut After(5, &flag));
    assert_eq!(solution.status, Status::Interrupted);
    assert_eq!(solution.outer, 5);
    let best = solution.trace.iter().map(|r| r.objective).fold(f64::INFINITY, f64::min);
    assert_eq!(solution.objective, best);
    assert_eq!(problem.objective(&solution.theta), best);
}

#[test]
fn observers_see_what_the_trace_holds() {
    #[derive(Default)]
    struct Keep {
        records: Vec<Record>,
        thetas: Vec<Vec<f64>>,
        ticks: usize,
    }
    impl Observer for Keep {
        fn record(&mut self, record: &Record, theta: &[f64]) -> ControlFlow<()> {
            self.records.push(*record);
            self.thetas.push(theta.to_vec());
            ControlFlow::Continue(())
        }

        fn tick(&mut self, _: &Record) -> ControlFlow<()> {
            self.ticks += 1;
            ControlFlow::Continue(())
        }
    }
    let problem = market(400, 8);
    let mut kept = Keep::default();
    let driver = Driver {
        stop: Stop { max_outer: Some(3), ..never() },
        evaluate_every: NonZeroU64::new(500),
        ..Driver::default()
    };
    let solution = solve(&problem, &driver, &mut kept);
    assert_eq!(kept.records, solution.trace);
    assert!(kept.ticks >= 9);
    for (record, theta) in kept.records.iter().zip(&kept.thetas) {
        assert_eq!(record.objective, problem.objective(theta));
    }
    // The start, every 500 steps, and the end of each outer iteration of 1600 steps, each once.
    let steps: Vec<u64> = solution.trace.iter().map(|r| r.inner).collect();
    assert_eq!(steps, [0, 500, 1000, 1500, 1600, 2000, 2500, 3000, 3200, 3500, 4000, 4500, 4800]);
    for pair in solution.trace.windows(2) {
        assert!(
            pair[0].calls.total() < pair[1].calls.total() && pair[0].seconds <= pair[1].seconds
        );
    }
    // Looking more often does not change the run.
    let plain = solve(&problem, &until(Stop { max_outer: Some(3), ..never() }), &mut ());
    assert_eq!(plain.trace.last().map(|r| r.objective), solution.trace.last().map(|r| r.objective));
    assert_eq!(plain.calls, solution.calls);
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    // Enough rows for several blocks.
    let problem = market(9000, 8);
    let on = |threads: usize, seed: u64| {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(|| {
            let settings = Settings { seed, ..settings(&problem) };
            let driver = until(Stop { max_outer: Some(3), ..never() });
            let one = driver.run(problem.erased(), &Svrpda1(settings.clone()), &[0.0; 8], &mut ());
            let two = driver.run(problem.erased(), &Svrpda2(settings), &[0.0; 8], &mut ());
            let bits = |s: &Solution| s.theta.iter().map(|t| t.to_bits()).collect::<Vec<_>>();
            (bits(&one), bits(&two))
        })
    };
    let once = on(1, 7);
    assert_eq!(once, on(1, 7));
    assert_eq!(once, on(2, 7));
    assert_eq!(once, on(3, 7));
    assert_ne!(once, on(1, 8));
}

#[test]
fn a_state_that_went_through_a_file_continues_bit_for_bit() {
    let problem = market(200, 8);
    for reference in [Reference::Last, Reference::Random, Reference::Average] {
        let settings =
            Settings { reference, warmup_epochs: 1, inner_iterations: 333, ..settings(&problem) };
        let method = Svrpda2(settings);
        let run = |cut: Option<(usize, usize)>| {
            let mut oracle = Oracle::new(&problem);
            let mut state = method.init(&mut oracle, &[0.0; 8]);
            for outer in 0..4 {
                method.outer(&mut oracle, &mut state);
                for k in 0..333 {
                    if cut == Some((outer, k)) {
                        let bytes = postcard::to_stdvec(&state).expect("a state serialises");
                        state = postcard::from_bytes::<PrimalDual>(&bytes).expect("and comes back");
                    }
                    method.inner(&mut oracle, &mut state);
                }
            }
            let theta = method.theta(&state).to_vec();
            (theta, state.w)
        };
        let whole = run(None);
        for cut in [(0, 100), (1, 0), (2, 256), (3, 332)] {
            assert_eq!(run(Some(cut)), whole, "cut at {cut:?}");
        }
    }
}

#[test]
fn an_infeasible_start_is_moved_to_the_nearest_point_allowed() {
    let problem = Portfolio::new(4, generate_factor_model(200, 4, 1).values)
        .and_then(|f| f.problem(Square::new(1.0)?, innermean::Simplex))
        .expect("a portfolio");
    let settings =
        Settings::choose(&Choice::seeded(1), &problem, &[0.0; 4]).expect("the default steps");
    let stop = Stop { max_outer: Some(0), ..Stop::default() };
    let solution = until(stop).run(problem.erased(), &Svrpda1(settings), &[0.0; 4], &mut ());
    assert_eq!(solution.theta, [0.25; 4]);
}

#[test]
fn averages_are_those_of_the_iterates() {
    let problem = market(60, 8);
    let m = 50;
    let settings =
        Settings { reference: Reference::Average, inner_iterations: m, ..settings(&problem) };
    let (averaging, last) =
        (Svrpda1(settings.clone()), Svrpda1(Settings { reference: Reference::Last, ..settings }));
    let (mut oracle, mut twin) = (Oracle::new(&problem), Oracle::new(&problem));
    let mut state = averaging.init(&mut oracle, &[0.0; 8]);
    let mut plain = last.init(&mut twin, &[0.0; 8]);
    averaging.outer(&mut oracle, &mut state);
    last.outer(&mut twin, &mut plain);
    let (mut theta, mut w) = (vec![0.0; 8], vec![0.0; 60]);
    for _ in 0..m {
        averaging.inner(&mut oracle, &mut state);
        last.inner(&mut twin, &mut plain);
        theta.iter_mut().zip(&*plain.theta).for_each(|(sum, t)| *sum += t / m as f64);
        w.iter_mut().zip(&plain.w).for_each(|(sum, w)| *sum += w / m as f64);
    }
    let output = averaging.theta(&state);
    assert!(output.iter().zip(&theta).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(state.w.iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(plain.w.iter().zip(&w).any(|(a, b)| (a - b).abs() > 1e-6), "the last duals are others");
}

#[test]
fn looking_often_does_not_raise_a_false_alarm_and_records_no_point_twice() {
    let problem = market(400, 8);
    for seed in 0..8 {
        let settings = Settings { seed, ..settings(&problem) };
        let stop = Stop { max_calls: Some(40_000), ..Stop::default() };
        let driver = Driver { stop, evaluate_every: NonZeroU64::new(20), ..Driver::default() };
        let solution = driver.run(problem.erased(), &Svrpda1(settings), &[0.0; 8], &mut ());
        assert!(
            matches!(solution.status, Status::Solved | Status::MaxCalls),
            "seed {seed}: {}",
            solution.status
        );
        assert!(solution.trace.windows(2).all(|pair| pair[0].inner < pair[1].inner), "seed {seed}");
    }
}

#[test]
fn a_start_that_is_not_a_number_is_called_so() {
    let problem = market(50, 8);
    let solution = Driver::default().run(
        problem.erased(),
        &Svrpda1(settings(&problem)),
        &[f64::NAN; 8],
        &mut (),
    );
    assert_eq!(solution.status, Status::StartNotFinite);
    assert_eq!(solution.calls.total(), 0);
}
