//! Cross-validation before the run.

use anyhow::{Context, Result};
use innermean_apps::Error;
use innermean_apps::run::{Solver, Watch};
use innermean_apps::validation::{ValidationError, ValidationTable};
use rayon::ThreadPoolBuilder;

use crate::complain;
use crate::flags::solver::SolverFlags;
use crate::flags::validation::ValidationFlags;
use crate::output::progress;
use crate::output::validation::Validated;
use crate::run::{deadline, interrupt};

/// Runs `table` as the flags say, on their threads; none if interrupted.
pub(crate) fn validate(
    flags: &ValidationFlags,
    solver: &SolverFlags,
    table: impl FnOnce(&Solver, Watch<'_>) -> Result<ValidationTable, Error> + Send,
) -> Result<Option<Validated>> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(solver.threads)
        .build()
        .with_context(|| format!("--threads {}: cannot be started", solver.threads))?;
    let mut own = Solver::default();
    own.method.clone_from(&solver.method);
    own.choice = solver.choice();
    own.stop = (&solver.stop).into();
    own.stop.max_seconds = deadline::left(solver.stop.max_seconds);
    let interrupt = Some(interrupt::listen()?);
    let waiting = progress::spinner("cross-validation");
    let found = pool.install(|| table(&own, Watch { observer: &mut (), interrupt }));
    waiting.finish_and_clear();
    match found {
        Ok(table) => Ok(Some(Validated { chosen: flags.chosen(&table), table })),
        Err(error @ Error::Validation(ValidationError::Interrupted)) => {
            complain(&error.to_string());
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
