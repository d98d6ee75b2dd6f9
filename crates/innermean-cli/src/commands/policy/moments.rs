//! A log that is read once and not kept.

use std::path::Path;

use anyhow::Result;
use innermean_apps::policy::{LogCollector, PolicyObjective, PolicySettings, PolicyTask};
use innermean_apps::run::AUTO;

use super::log::Roles;
use super::{Evaluation, PolicyArgs, initial};
use crate::flags::columns::MissingChoice;
use crate::flags::input::{limits, takes_moments};
use crate::output::human::grouped;

/// Bytes of numbers from which on a log is not kept that need not be.
const LARGE: u64 = 64 << 20;

/// Whether there are many numbers, or twice the usual copies of them would not fit. What is wrong
/// with a file, its reader says; a pipe is read once.
fn is_large(log: &Path) -> bool {
    let is_much = |bytes: u64| bytes > LARGE || limits().lacking(2 * bytes, 0).is_some();
    log.is_file() && limits().bytes_of(log).is_ok_and(|bytes| bytes.is_some_and(is_much))
}

impl PolicyArgs {
    /// The task of a log of which only the moments are kept, where that is asked for or there are
    /// many rows: a run with these has a few copies of them.
    pub(super) fn of_moments(&self) -> Result<Option<Evaluation>> {
        let flags = &self.problem;
        flags.check()?;
        let log = flags.log.as_deref();
        let hindrance = self.needs_rows()?;
        let needed = takes_moments(self.moments, log, hindrance)?;
        let Some(path) = log.filter(|log| needed || hindrance.is_none() && is_large(log)) else {
            return Ok(None);
        };
        match self.read_once(path) {
            // What cannot be told so, the rows tell.
            Err(_) if !needed => Ok(None),
            made => made.map(Some),
        }
    }

    fn read_once(&self, path: &Path) -> Result<Evaluation> {
        let flags = &self.problem;
        let settings = PolicySettings::from(flags);
        let mut collector = LogCollector::new(&settings)?;
        let (frame, noted) = Roles::new(flags, path)?.read_once(path, &mut collector)?;
        let log = collector.finish()?;
        let mut notes = frame.notes;
        if frame.dropped.rows > 0 {
            let rows = grouped(frame.dropped.rows as u64);
            notes.push(format!("Rows left out because of missing values: {rows}."));
        }
        notes.extend(noted);
        notes.push(format!(
            "Read {} rows once and kept their means and covariances alone.",
            grouped(log.transitions() as u64)
        ));
        let initial = initial::initial_states(flags, Some(log.names()))?;
        let task = PolicyTask::of_moments(initial.as_ref(), log, &settings)?;
        Ok(Evaluation { task, source: frame.source, notes: (notes, Vec::new()) })
    }

    /// What does with nothing less than the transitions themselves.
    fn needs_rows(&self) -> Result<Option<&'static str>> {
        let PolicyArgs { problem: flags, inference, predictions, .. } = self;
        let given = [
            ("a model", flags.log.is_none() && !flags.generated()),
            ("--objective bellman", flags.objective == Some(PolicyObjective::Bellman)),
            ("--method", ![AUTO, "direct"].contains(&self.solver.method.as_str())),
            ("--predictions", predictions.predictions.is_some()),
            ("--standard-errors or --bootstrap", inference.is_on()),
            (
                "--missing drop-columns",
                flags.columns.features.missing() == MissingChoice::DropColumns,
            ),
        ];
        let given = given.into_iter().find_map(|(flag, given)| given.then_some(flag));
        if let (None, Some(log)) = (given, flags.log.as_deref().filter(|log| log.is_file())) {
            let named = "a log of states by name";
            return Ok((!Roles::new(flags, log)?.are_own()).then_some(named));
        }
        Ok(given)
    }
}
