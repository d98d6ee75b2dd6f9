//! The search for steps before a run.

use std::sync::atomic::{AtomicBool, Ordering};

use innermean::Solution;

use super::SettingsFrom;
use super::contest::{Contest, Entrant, Limits, Spectator};
use crate::error::Error;
use crate::run::MethodSettings;
use crate::run::tuning::{self, JUDGED_AT, OwnSteps, Score};

/// A trial has this part of a run's seconds.
const SHARE: f64 = 0.2;

/// The entrant with the best steps of the grid, and a sentence about them. Trials use the first
/// seed.
pub(super) fn best(
    contest: &Contest<'_>,
    entrant: Entrant,
    interrupt: &AtomicBool,
    spectator: &mut dyn Spectator,
) -> Result<(Entrant, Option<String>), Error> {
    let entrant = Entrant { choice: tuning::tunable(entrant.info, entrant.choice), ..entrant };
    let own = MethodSettings::of(&contest.method(&entrant, &entrant.choice)?, entrant.choice.rule);
    let Some(own) = OwnSteps::of(entrant.info, &own) else {
        return Ok((entrant, Some("it has no steps to tune".to_owned())));
    };
    let found = own.search(entrant.choice, contest.settings.max_calls, |choice, max_calls| {
        let limits = Limits {
            until: contest.settings.until.max(JUDGED_AT),
            max_calls,
            max_seconds: SHARE * contest.settings.max_seconds,
        };
        let run = contest.once(&contest.method(&entrant, choice)?, limits, interrupt, spectator);
        Ok::<_, Error>((!interrupt.load(Ordering::Relaxed)).then(|| score(contest, &run)))
    })?;
    let Some(found) = found else {
        return Ok((entrant, Some("the search was interrupted".to_owned())));
    };
    let base = if entrant.origin == SettingsFrom::Paper { "the paper's" } else { "its own" };
    let text = found.sentence(base);
    Ok((Entrant { choice: found.choice, origin: SettingsFrom::Tuned, ..entrant }, Some(text)))
}

fn score(contest: &Contest<'_>, run: &Solution) -> Score {
    let optimum = contest.optimum.objective;
    match contest.reached(run, optimum, JUDGED_AT) {
        Some(record) => Score { missed: false, cost: record.calls.total() as f64 },
        None => Score { missed: true, cost: contest.gap(run.objective, optimum) },
    }
}
