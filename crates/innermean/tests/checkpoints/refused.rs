//! Checkpoints of other runs.

use innermean::{
    AnyMethod, Begin, Checkpoint, CheckpointError, Choice, Driver, Portfolio, Problem, Square, Stop, Tilted,
    Unregularized, auto,
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
        assert_eq!(why(&market(other, 1.0), &own, &driver(), &checkpoint), CheckpointError::Problem);
    }
    let more = [values(), vec![0.1; 4]].concat();
    assert_eq!(why(&market(more, 1.0), &own, &driver(), &checkpoint), CheckpointError::Problem);
    assert_eq!(why(&market(values(), 1.0 + 1e-15), &own, &driver(), &checkpoint), CheckpointError::Problem);
    let other = why(&problem, &method(&problem, "svrpda2", 0), &driver(), &checkpoint);
    assert!(matches!(other, CheckpointError::Method { .. }), "{other}");
    let other = why(&problem, &method(&problem, "svrpda1", 1), &driver(), &checkpoint);
    assert!(matches!(other, CheckpointError::Settings(_)), "{other}");
    let often = Driver { evaluate_every: std::num::NonZeroU64::new(50), ..driver() };
    assert!(matches!(why(&problem, &own, &often, &checkpoint), CheckpointError::Settings(_)));
    let plan = auto::first(&problem, &[0.0; 4], 0).expect("a method");
    let begin = Begin::Resume(&checkpoint);
    let other =
        plan.run_from(&driver(), &problem, begin, &mut (), AnyMethod::run_from).expect_err("not auto");
    assert!(other.to_string().contains("this run is by auto"), "{other}");
    // Limits may change, and threads.
    let longer =
        Driver { stop: Stop { max_outer: Some(3), tolerance: Some(1e-5), ..Stop::default() }, ..driver() };
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
