//! The driver under whatever may come: limits, interrupts and checkpoints in any order end with a
//! status that is true.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use innermean::{
    AnyMethod, Begin, Checkpoint, Choice, Driver, Observer, Portfolio, Problem, Record, Simplex,
    Solution, Square, Status, Stop, Tilted,
};
use innermean_data::generate_factor_model;
use proptest::prelude::*;

use super::witness::bits;

type Market = Problem<Portfolio, Square, Tilted<Simplex>>;

fn market() -> Market {
    Portfolio::new(4, generate_factor_model(60, 4, 1).values)
        .and_then(|f| f.problem(Square::new(1.0)?, Simplex))
        .expect("a portfolio")
}

/// What happens in one program of several that make a run.
#[derive(Debug, Clone)]
struct Session {
    max_outer: Option<u64>,
    max_calls: Option<u64>,
    /// No time at all, or all of it.
    hurried: bool,
    /// The edge at which the user interrupts.
    interrupt: Option<u64>,
    /// A checkpoint at every this many edges.
    every: u64,
}

fn session() -> impl Strategy<Value = Session> {
    (
        prop::option::of(0_u64..40),
        prop::option::of(0_u64..20_000),
        prop::bool::weighted(0.1),
        prop::option::of(0_u64..60),
        1_u64..10,
    )
        .prop_map(|(max_outer, max_calls, hurried, interrupt, every)| Session {
            max_outer,
            max_calls,
            hurried,
            interrupt,
            every,
        })
}

struct Desk<'f> {
    session: &'f Session,
    flag: &'f AtomicBool,
    edges: u64,
    kept: Option<Checkpoint>,
}

impl Observer for Desk<'_> {
    fn asks_for_checkpoint(&mut self, ending: bool) -> bool {
        if ending {
            return true;
        }
        self.edges += 1;
        if self.session.interrupt.is_some_and(|at| self.edges > at) {
            self.flag.store(true, Ordering::Relaxed);
        }
        self.edges.is_multiple_of(self.session.every)
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        self.kept = Some(checkpoint);
    }
}

/// Whether a solution says what is so.
fn is_true(
    solution: &Solution,
    stop: &Stop,
    session: &Session,
    problem: &Market,
) -> Result<(), TestCaseError> {
    let Solution { status, outer, calls, objective, theta, certificate, trace, .. } = solution;
    // Methods that work on averages of rows add up in another order.
    prop_assert!(
        (objective - problem.objective(theta)).abs() <= 1e-12,
        "the objective is that of theta"
    );
    let first = trace.first().expect("the start is evaluated");
    prop_assert!(*objective <= first.objective + 1e-12);
    prop_assert!(trace.windows(2).all(|pair| pair[0].inner < pair[1].inner));
    match status {
        Status::Solved => {
            let tolerance = stop.tolerance.expect("one is set");
            prop_assert!(
                certificate.is_rounding || certificate.relative.is_some_and(|r| r <= tolerance)
            );
        }
        Status::MaxOuter => prop_assert!(stop.max_outer.is_some_and(|most| *outer >= most)),
        Status::MaxCalls => prop_assert!(stop.max_calls.is_some_and(|most| calls.total() >= most)),
        Status::MaxSeconds => prop_assert!(session.hurried),
        Status::Interrupted => prop_assert!(session.interrupt.is_some()),
        other => prop_assert!(false, "{other}"),
    }
    Ok(())
}

fn stop(session: &Session) -> Stop {
    let Session { max_outer, max_calls, hurried, .. } = *session;
    Stop {
        max_outer,
        max_calls,
        max_seconds: hurried.then_some(0.0),
        tolerance: Some(1e-9),
        ..Stop::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_status_is_true_and_the_end_the_same(
        sessions in prop::collection::vec(session(), 1..8),
        name in prop::sample::select(vec!["svrpda1", "svrpda2", "saga", "lbfgs", "newton", "scgd"]),
        every in prop::option::of(5_u64..200),
    ) {
        let problem = market();
        let method = AnyMethod::named(name, &Choice::seeded(2), &problem, &[0.0; 4]).expect("it suits");
        let flag = AtomicBool::new(false);
        let evaluate_every = every.and_then(NonZeroU64::new);
        let mut kept: Option<Checkpoint> = None;
        for session in &sessions {
            flag.store(false, Ordering::Relaxed);
            let driver =
                Driver { stop: stop(session), evaluate_every, interrupt: Some(&flag), ..Driver::default() };
            let mut desk = Desk { session, flag: &flag, edges: 0, kept: None };
            let begin = kept.as_ref().map_or(Begin::At(&[0.0; 4]), Begin::Resume);
            // Without a limit these would go on for as long as they need, which is not long.
            let stop = Stop { max_outer: driver.stop.max_outer.or(Some(400)), ..driver.stop.clone() };
            let driver = Driver { stop, ..driver };
            let solution = method.run_from(&driver, &problem, begin, &mut desk).expect("its own checkpoint");
            is_true(&solution, &driver.stop, session, &problem)?;
            let bytes = desk.kept.map(|checkpoint| checkpoint.to_bytes());
            kept = bytes.map(|bytes| Checkpoint::from_bytes(&bytes).expect("whole")).or(kept);
        }
        // Whatever has happened, the rest of the way is that of a run to which nothing has.
        let stop = Stop { max_outer: Some(400), tolerance: Some(1e-9), ..Stop::default() };
        let driver = Driver { stop, evaluate_every, ..Driver::default() };
        let whole = method.run(&driver, &problem, &[0.0; 4], &mut ());
        let begin = kept.as_ref().map_or(Begin::At(&[0.0; 4]), Begin::Resume);
        let rest = method.run_from(&driver, &problem, begin, &mut ()).expect("its own checkpoint");
        prop_assert_eq!(bits(&rest), bits(&whole));
    }
}

/// Steps of which each would take for ever are left where they are.
#[test]
fn a_limit_on_time_holds_within_a_step() {
    let problem = market();
    let endless = Choice {
        outer_batch: Some(1 << 60),
        alpha_theta: Some(1e-3),
        alpha_w: Some(1.0),
        ..Choice::default()
    };
    for name in ["svrpda1", "svrpda2", "sox", "msvr", "alexr", "vrsc-pg"] {
        let row = innermean::methods::info(name).expect("a method");
        let has = |knob| row.settings.contains(&knob);
        let choice =
            Choice { alpha_w: endless.alpha_w.filter(|_| has(innermean::Knob::AlphaW)), ..endless };
        let method = AnyMethod::named(name, &choice, &problem, &[0.0; 4])
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let stop = Stop { max_seconds: Some(0.05), ..Stop::default() };
        let solution =
            method.run(&Driver { stop, ..Driver::default() }, &problem, &[0.0; 4], &mut ());
        assert_eq!(solution.status, Status::MaxSeconds, "{name}");
        assert_eq!(solution.objective, problem.objective(&solution.theta), "{name}");
    }
}

/// However long a run is, what is kept of it is not.
#[test]
fn the_trace_is_as_long_as_agreed_and_observers_hear_all() {
    #[derive(Default)]
    struct Count(u64);
    impl Observer for Count {
        fn record(&mut self, _: &Record, _: &[f64]) -> ControlFlow<()> {
            self.0 += 1;
            ControlFlow::Continue(())
        }
    }
    let problem = market();
    let method =
        AnyMethod::named("svrpda1", &Choice::default(), &problem, &[0.0; 4]).expect("it suits");
    let stop = Stop { max_outer: Some(400), tolerance: None, ..Stop::default() };
    let driver = Driver { stop, evaluate_every: NonZeroU64::new(1), ..Driver::default() };
    let mut count = Count::default();
    let solution = method.run(&driver, &problem, &[0.0; 4], &mut count);
    assert!(count.0 > 20_000, "{}", count.0);
    let kept = solution.trace.len();
    assert!((2048..=4098).contains(&kept), "{kept}");
    assert_eq!((solution.trace[0].inner, solution.trace[kept - 1].inner), (0, solution.inner));
    assert!(solution.trace.iter().any(|record| record.objective == solution.objective));
}
