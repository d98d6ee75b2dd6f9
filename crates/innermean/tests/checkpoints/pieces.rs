//! Runs that are advanced piece by piece, put aside and taken up again, and ended from outside.

use std::ops::ControlFlow;
use std::time::Duration;

use innermean::draws::Stream;
use innermean::{
    AnyMethod, Begin, Checkpoint, Choice, Driver, Limits, METHODS, Observer, Record, Status, Stop,
};

use super::methods::{drivers, problems};
use super::witness::bits;

/// Outer iterations, inner steps or nothing but an instant.
fn limits(draws: &mut Stream) -> Limits {
    let (most, none) = (1 + draws.index(9) as u64, Limits::default());
    match draws.index(4) {
        0 => Limits { outer: Some(1 + most / 4), ..none },
        1 => Limits { inner: Some(most), ..none },
        2 => Limits { inner: Some(40 * most), outer: Some(2), ..none },
        _ => Limits { time: Some(Duration::from_micros(200 * most)), ..none },
    }
}

#[test]
fn pieces_of_any_size_give_the_bits_of_the_whole() {
    let mut draws = Stream::new(15, 0);
    let mut resumed = 0;
    for (name, problem) in problems() {
        let start = vec![0.25; problem.inner.d()];
        for row in METHODS.iter().filter(|row| row.suits(&problem).is_ok()) {
            let method = AnyMethod::named(row.name, &Choice::seeded(3), &problem, &start)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            for (k, driver) in drivers().iter().enumerate() {
                let whole = method.run(driver, &problem, &start, &mut ());
                let prepared = method.prepare(&problem, &start).expect("a start that fits");
                let begin = Begin::At(&start);
                let mut run = method.start(&prepared, begin, driver, &mut ()).expect("a start");
                while run.advance(&limits(&mut draws), &mut ()).is_none() {
                    if draws.index(3) == 0 {
                        // Through a file, into another run.
                        let bytes = run.checkpoint().expect("it goes on").to_bytes();
                        let read = Checkpoint::from_bytes(&bytes).expect("as it was written");
                        let begin = Begin::Resume(&read);
                        run = method.start(&prepared, begin, driver, &mut ()).expect("its own");
                        resumed += 1;
                    }
                }
                let found = run.solution(&mut ());
                assert_eq!(bits(&found), bits(&whole), "{} on {name}, driver {k}", row.name);
                assert_eq!(found.duals, whole.duals, "{} on {name}, driver {k}", row.name);
            }
        }
    }
    assert!(resumed > 100, "{resumed}");
}

#[test]
fn a_piece_is_as_long_as_it_was_asked_for() {
    let (_, problem) = problems().swap_remove(0);
    let start = vec![0.25; problem.inner.d()];
    let method = AnyMethod::named("svrpda1", &Choice::seeded(3), &problem, &start).expect("suits");
    let stop = Stop { max_outer: None, tolerance: None, ..Stop::default() };
    let driver = Driver { stop, ..Driver::default() };
    let prepared = method.prepare(&problem, &start).expect("a start that fits");
    let mut run = method.start(&prepared, Begin::At(&start), &driver, &mut ()).expect("a start");
    assert_eq!((run.record().inner, run.theta()), (0, &start[..]));
    for k in 1..40 {
        let inner = Limits { inner: Some(17), ..Limits::default() };
        assert_eq!(run.advance(&inner, &mut ()), None);
        assert_eq!(run.record().inner, 17 * k);
    }
    let outer = Limits { outer: Some(3), ..Limits::default() };
    let before = run.record().outer;
    assert_eq!(run.advance(&outer, &mut ()), None);
    assert_eq!(run.record().outer, before + 3);
    // What has not ended is stopped, and looked at once more.
    let inner = run.record().inner + 5;
    assert_eq!(run.advance(&Limits { inner: Some(5), ..Limits::default() }, &mut ()), None);
    let found = run.solution(&mut ());
    assert_eq!((found.status, found.inner), (Status::Stopped, inner));
    assert_eq!(found.trace.last().map(|last| last.inner), Some(inner));
    assert_eq!(found.duals.map(|duals| duals.len()), Some(90));
}

/// Says stop at its k-th word, and is told no more than where the run is then.
struct Stopper {
    records: u64,
    ticks: u64,
    kept: Option<Checkpoint>,
}

impl Observer for Stopper {
    fn record(&mut self, _: &Record, _: &[f64]) -> ControlFlow<()> {
        self.records = self.records.saturating_sub(1);
        if self.records == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn tick(&mut self, _: &Record) -> ControlFlow<()> {
        self.ticks = self.ticks.saturating_sub(1);
        if self.ticks == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn asks_for_checkpoint(&mut self, ending: bool) -> bool {
        ending
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        self.kept = Some(checkpoint);
    }
}

#[test]
fn an_observer_ends_a_run_which_goes_on_from_there() {
    let (_, problem) = problems().swap_remove(0);
    let start = vec![0.25; problem.inner.d()];
    let method = AnyMethod::named("svrpda1", &Choice::seeded(3), &problem, &start).expect("suits");
    let [driver, ..] = drivers();
    let whole = method.run(&driver, &problem, &start, &mut ());
    for (records, ticks) in [(1, u64::MAX), (3, u64::MAX), (u64::MAX, 1), (u64::MAX, 7)] {
        let mut stopper = Stopper { records, ticks, kept: None };
        let stopped = method.run(&driver, &problem, &start, &mut stopper);
        assert_eq!(stopped.status, Status::Stopped);
        if records < u64::MAX {
            assert_eq!(stopped.outer, records - 1);
        }
        let kept = stopper.kept.expect("asked for where the run ends");
        let begin = Begin::Resume(&kept);
        let rest = method.run_from(&driver, &problem, begin, &mut ()).expect("its own");
        assert_eq!(bits(&rest), bits(&whole));
    }
}
