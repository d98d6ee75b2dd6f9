//! Checkpoints of other runs.

use innermean::checkpoint::Hash;
use innermean::{
    AnyMethod, Begin, Checkpoint, CheckpointError, Choice, Driver, Portfolio, Problem, Square,
    Stop, Tilted, Unregularized, auto,
};
use innermean_data::generate_factor_model;

use super::witness::{Way, Witness};

type Market = Problem<Portfolio, Square, Tilted<Unregularized>>;

fn market(values: Vec<f64>, aversion: f64) -> Market {
    Portfolio::new(4, values)
        .and_then(|f| f.problem(Square::new(aversion)?, Unregularized))
        .expect("a portfolio")
}

fn values() -> Vec<f64> {
    generate_factor_model(80, 4, 1).values
}

fn method(problem: &Market, name: &str, seed: u64) -> AnyMethod {
    AnyMethod::named(name, &Choice::seeded(seed), problem, &[0.0; 4]).expect("it suits")
}

fn driver() -> Driver<'static> {
    Driver { stop: Stop { tolerance: Some(1e-300), ..Stop::default() }, ..Driver::default() }
}

/// A run by SVRPDA-I, left after a few edges.
fn left_behind(problem: &Market) -> Checkpoint {
    let mut witness = Witness::stopping(Way::Ended, 5, 0);
    method(problem, "svrpda1", 0).run(&driver(), problem, &[0.0; 4], &mut witness);
    witness.kept.expect("it was stopped")
}

fn why(
    problem: &Market,
    method: &AnyMethod,
    driver: &Driver<'_>,
    checkpoint: &Checkpoint,
) -> CheckpointError {
    let begin = Begin::Resume(checkpoint);
    method.run_from(driver, problem, begin, &mut ()).expect_err("it belongs to another run")
}

#[test]
fn other_data_methods_and_settings_are_told_apart() {
    let problem = market(values(), 1.0);
    let checkpoint = left_behind(&problem);
    let own = method(&problem, "svrpda1", 0);
    // The smallest change of any number.
    for at in [0, 7, 319] {
        let mut other = values();
        other[at] = f64::from_bits(other[at].to_bits() + 1);
        assert_eq!(
            why(&market(other, 1.0), &own, &driver(), &checkpoint),
            CheckpointError::Problem
        );
    }
    let more = [values(), vec![0.1; 4]].concat();
    assert_eq!(why(&market(more, 1.0), &own, &driver(), &checkpoint), CheckpointError::Problem);
    assert_eq!(
        why(&market(values(), 1.0 + 1e-15), &own, &driver(), &checkpoint),
        CheckpointError::Problem
    );
    let other = why(&problem, &method(&problem, "svrpda2", 0), &driver(), &checkpoint);
    assert!(matches!(other, CheckpointError::Method { .. }), "{other}");
    let other = why(&problem, &method(&problem, "svrpda1", 1), &driver(), &checkpoint);
    assert!(matches!(other, CheckpointError::Settings(_)), "{other}");
    let often = Driver { evaluate_every: std::num::NonZeroU64::new(50), ..driver() };
    assert!(matches!(why(&problem, &own, &often, &checkpoint), CheckpointError::Settings(_)));
    let plan = auto::first(&problem, &[0.0; 4], 0).expect("a method");
    let begin = Begin::Resume(&checkpoint);
    let other = plan.run_from(&driver(), &problem, begin, &mut ()).expect_err("not auto");
    assert!(other.to_string().contains("this run is by auto"), "{other}");
    // Limits may change, and threads.
    let longer = Driver {
        stop: Stop { max_outer: Some(3), tolerance: Some(1e-5), ..Stop::default() },
        ..driver()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
    assert!(pool.install(|| own.run_from(&longer, &problem, begin, &mut ())).is_ok());
}

/// Whoever writes a body with a hash that is right gets an error or a run, and nobody a crash of
/// the reader.
#[test]
fn a_body_that_cannot_be_read_is_refused() {
    let problem = market(values(), 1.0);
    let checkpoint = left_behind(&problem);
    let bytes = checkpoint.to_bytes();
    let own = method(&problem, "svrpda1", 0);
    for end in [bytes.len() - 1, bytes.len() / 2, 60, 21, 0] {
        assert!(Checkpoint::from_bytes(&bytes[..end]).is_err());
    }
    assert_eq!(Checkpoint::from_bytes(&bytes).expect("whole"), checkpoint);
    assert!(own.run_from(&driver(), &problem, Begin::Resume(&checkpoint), &mut ()).is_ok());
}

/// The file with `new` in the place of some bytes, and with the length and the hash that it then
/// has.
fn forged(bytes: &[u8], at: std::ops::Range<usize>, new: &[u8]) -> Vec<u8> {
    let mut forged = [&bytes[..at.start], new, &bytes[at.end..]].concat();
    let (hash, length) = (Checkpoint::BEGINNING.len() + 4, Checkpoint::BEGINNING.len() + 20);
    let content = (forged.len() - length - 8) as u64;
    forged[length..length + 8].copy_from_slice(&content.to_le_bytes());
    let sum = Hash::of_bytes(&forged[length..]).to_le_bytes();
    forged[hash..length].copy_from_slice(&sum);
    forged
}

fn short() -> Driver<'static> {
    let stop = Stop { max_outer: Some(4), max_calls: Some(3000), ..driver().stop };
    Driver { stop, ..driver() }
}

/// Goes on from each file; those that were refused, as how many.
fn refused(problem: &Market, own: &AnyMethod, files: impl Iterator<Item = Vec<u8>>) -> usize {
    let gone_on = |bytes: Vec<u8>| {
        let read = Checkpoint::from_bytes(&bytes)?;
        own.run_from(&short(), problem, Begin::Resume(&read), &mut ()).map(drop)
    };
    files.filter(|bytes| gone_on(bytes.clone()).is_err()).count()
}

/// Lists that are shorter or longer by a number, and counters at the edge of what there is, at
/// every place of the file.
#[test]
fn forged_states_are_refused_or_gone_on_with() {
    const LARGEST: &[u8] = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    let problem = market(values(), 1.0);
    for name in ["svrpda1", "newton", "lbfgs", "saga", "c-saga"] {
        let own = method(&problem, name, 0);
        let mut witness = Witness::stopping(Way::Ended, 5, 0);
        own.run(&driver(), &problem, &[0.0; 4], &mut witness);
        let bytes = witness.kept.expect("it was stopped").to_bytes();
        // A list of 4 numbers: theta, gradients, directions.
        let lists: Vec<usize> = (60..bytes.len() - 33).filter(|&k| bytes[k] == 4).collect();
        let shorter = lists.iter().map(|&k| forged(&bytes, k..k + 9, &[3]));
        assert!(refused(&problem, &own, shorter) > 0, "{name}: shorter lists");
        let longer =
            lists.iter().map(|&k| forged(&bytes, k..k + 1, &[&[5_u8][..], &[0; 8]].concat()));
        assert!(refused(&problem, &own, longer) > 0, "{name}: longer lists");
        let step = (bytes.len() / 400).max(1);
        let counters = (60..bytes.len()).step_by(step).map(|k| forged(&bytes, k..k + 1, LARGEST));
        assert!(refused(&problem, &own, counters) > 0, "{name}: counters");
    }
}

/// A time that a clock cannot add to.
#[test]
fn a_run_that_has_taken_all_the_time_there_is_does_not_overflow() {
    let problem = market(values(), 1.0);
    let checkpoint = left_behind(&problem);
    let bytes = checkpoint.to_bytes();
    let wall = checkpoint.wall().to_le_bytes();
    let at = bytes.windows(8).position(|eight| eight == wall).expect("it is written");
    let own = method(&problem, "svrpda1", 0);
    for (seconds, is_refused) in [(1.8e19, false), (f64::NAN, true), (-1.0, true), (1e300, true)] {
        let files = [forged(&bytes, at..at + 8, &seconds.to_le_bytes())].into_iter();
        assert_eq!(refused(&problem, &own, files), usize::from(is_refused), "{seconds}");
    }
}
