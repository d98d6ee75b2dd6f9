//! A log that is read once and not kept: the projected error of transitions with features of their
//! own depends on mean products alone ([`Mspbe::of_moments`]), which are added up while rows come
//! in the order of the file.
//!
//! What a log that is kept is asked about afterwards, a row here is asked about as it comes: where
//! episodes end, which rows are resets, what its trace is. Whether rows *may* be resets cannot be
//! answered so, and they are then refused until somebody says what they are.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use innermean::{InvalidSetting, Mspbe, Problem, RowMoments, StateFeatures};
use innermean_data::{FeatureRows, Keys};

use super::initial::{Initial, Known};
use super::model::{MOST_PROJECTED, Model};
use super::task::DISCOUNT;
use super::{
    AutoReset, InitialStates, LogColumns, PolicyError, PolicyObjective, PolicySettings, PolicyTask,
};
use crate::condensed::{Collector, PIECE};
use crate::error::{Error, same_length};
use crate::wording::Note;

/// Consecutive rows of a log, as a reader hands them over.
#[derive(Debug, Clone)]
pub struct LogRows {
    /// The features of the states that are left, and their names.
    pub features: FeatureRows,
    /// Those of the states that are entered.
    pub next: Vec<f64>,
    /// The rewards.
    pub rewards: Vec<f64>,
    /// How much each counts, if they do not all count alike.
    pub weights: Option<Vec<f64>>,
    /// Ends and ratios; its codes of episodes are not looked at.
    pub columns: LogColumns,
    /// The episode of each row.
    pub episodes: Option<Keys>,
}

/// The moments of a log, and what else has been found out about it.
#[derive(Debug)]
pub struct LogMoments {
    names: Vec<String>,
    moments: RowMoments,
    transitions: usize,
    episodes: usize,
    /// The sum of the features of the first state of every episode.
    first: Vec<f64>,
    notes: Vec<Note>,
    /// Whether rows have a trace.
    traced: bool,
}

/// Rows of a log as they come, in the order of time.
#[derive(Debug)]
pub struct LogCollector {
    settings: PolicySettings,
    discount: f64,
    collector: Collector,
    /// Rows that wait to be a piece, and their weights.
    waiting: (Vec<f64>, Vec<f64>),
    before: Option<Before>,
    /// Hashes of the episodes that have begun.
    begun: HashSet<u64>,
    found: LogMoments,
    ends: Ends,
}

/// What the row before says of the next.
#[derive(Debug, Default)]
struct Before {
    /// The features of the state that it entered.
    next: Vec<f64>,
    done: bool,
    /// Terminal or cut off.
    end: bool,
    /// It was left out.
    reset: bool,
    episode: Option<String>,
    trace: Vec<f64>,
}

/// What is counted of ends.
#[derive(Debug, Default)]
struct Ends {
    /// The columns that say so.
    done: Option<String>,
    truncated: Option<String>,
    terminal: usize,
    cut: usize,
    resets: usize,
    /// Rows behind an end, and how many of them look like resets.
    behind: (usize, usize),
    /// Rows behind one that was cut off, and how many of them go on where it ended.
    on: (usize, usize),
}

impl LogCollector {
    /// Of no rows.
    ///
    /// # Errors
    /// If settings are out of their range, or ask for what needs the rows.
    pub fn new(settings: &PolicySettings) -> Result<Self, Error> {
        settings.check()?;
        if settings.objective == Some(PolicyObjective::Bellman) {
            return Err(PolicyError::NotKept("objective=bellman").into());
        }
        if let Some(name) = settings.terminal.first() {
            let (parameter, value) = ("terminal", name.clone());
            let expected = "`done_column=NAME`";
            return Err(PolicyError::NoNames { parameter, value, expected }.into());
        }
        Ok(LogCollector {
            settings: settings.clone(),
            discount: settings.discount.unwrap_or(DISCOUNT),
            collector: Collector::default(),
            waiting: (Vec::new(), Vec::new()),
            before: None,
            begun: HashSet::new(),
            found: LogMoments {
                names: Vec::new(),
                moments: RowMoments::new(0),
                transitions: 0,
                episodes: 0,
                first: Vec::new(),
                notes: Vec::new(),
                traced: false,
            },
            ends: Ends::default(),
        })
    }

    /// Takes the rows behind those before.
    ///
    /// # Errors
    /// If lengths do not belong together, rows of several episodes are mixed, or a row is not what
    /// settings say; the transition that an error names is one of these rows.
    pub fn push(&mut self, mut rows: LogRows) -> Result<(), Error> {
        let (t, d) = (rows.rewards.len(), rows.features.names.len());
        same_length("numbers in the features", rows.features.rows.len(), t * d)?;
        same_length("numbers in the features of next states", rows.next.len(), t * d)?;
        if let Some(keys) = &rows.episodes {
            same_length("rows with an episode", keys.codes.len(), t)?;
        }
        rows.columns.episode = None;
        rows.columns.check(t)?;
        if !rows.columns.has_marks() && self.settings.auto_reset == AutoReset::NextStep {
            return Err(PolicyError::NoMarks.into());
        }
        let name = |marks: &Option<super::Marks>| marks.as_ref().map(|marks| marks.name.clone());
        (self.ends.done, self.ends.truncated) =
            (name(&rows.columns.done), name(&rows.columns.truncated));
        self.found.names.clone_from(&rows.features.names);
        (0..t).try_for_each(|k| self.take(&rows, k))
    }

    /// Takes row k.
    fn take(&mut self, rows: &LogRows, k: usize) -> Result<(), Error> {
        let d = rows.features.names.len();
        let (now, next) = (&rows.features.rows[k * d..][..d], &rows.next[k * d..][..d]);
        let (done, end) = (rows.columns.is_done(k), rows.columns.is_end(k));
        let before = self.before.take().unwrap_or_default();
        let is_first = self.found.transitions + self.ends.resets == 0;
        let episode = rows.episodes.as_ref().map(|keys| keys.text(k));
        let changes = is_first || before.episode.as_deref() != episode;
        if let Some(name) = episode.filter(|_| changes) {
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            if !self.begun.insert(hasher.finish()) {
                let (transition, name) = (k, name.to_owned());
                return Err(PolicyError::Mixed { transition, name }.into());
            }
        }
        if before.end && !before.reset {
            let stays = before.next.iter().zip(now).all(|(a, b)| a.to_bits() == b.to_bits());
            if self.settings.auto_reset == AutoReset::NextStep {
                if rows.rewards[k] != 0.0 {
                    let (transition, reward) = (k, rows.rewards[k]);
                    return Err(PolicyError::ResetReward { transition, reward }.into());
                }
                self.ends.resets += 1;
                let episode = episode.map(str::to_owned);
                self.before = Some(Before { reset: true, episode, ..before });
                return Ok(());
            }
            let looks = stays && rows.rewards[k] == 0.0 && !end;
            self.ends.behind.0 += 1;
            self.ends.behind.1 += usize::from(looks);
            if !before.done {
                self.ends.on.0 += 1;
                self.ends.on.1 += usize::from(stays);
            }
        }
        self.ends.terminal += usize::from(done);
        self.ends.cut += usize::from(end && !done);
        let begins = changes || before.end;
        self.add(rows, k, begins, before.trace)?;
        let before = self.before.get_or_insert_default();
        (before.next, before.done, before.end) = (next.to_vec(), done, end);
        before.episode = episode.map(str::to_owned);
        Ok(())
    }

    /// Adds `(phi_t, phi'_t, r_t)`, and `z_t` if there are traces.
    fn add(
        &mut self,
        rows: &LogRows,
        k: usize,
        begins: bool,
        trace: Vec<f64>,
    ) -> Result<(), Error> {
        let (d, one) = (rows.features.names.len(), self.settings.intercept.then_some(1.0));
        let features =
            |rows: &[f64]| -> Vec<f64> { rows[k * d..][..d].iter().copied().chain(one).collect() };
        let (now, mut next) = (features(&rows.features.rows), features(&rows.next));
        if rows.columns.is_done(k) {
            next.fill(0.0);
        }
        if begins {
            self.found.episodes += 1;
            self.found.first.resize(now.len(), 0.0);
            self.found.first.iter_mut().zip(&now).for_each(|(sum, x)| *sum += x);
        }
        let ratios = rows.columns.ratios.as_ref();
        let traced = self.settings.lambda > 0.0 || ratios.is_some();
        let mut z = Vec::new();
        self.found.traced = traced;
        if traced {
            let ratio = ratios.map_or(1.0, |ratios| ratios[k]);
            let decay = if begins { 0.0 } else { ratio * self.discount * self.settings.lambda };
            z = if begins { vec![0.0; now.len()] } else { trace };
            z.iter_mut().zip(&now).for_each(|(z, x)| *z = *z * decay + ratio * x);
            if let Some(bad) = z.iter().find(|z| !z.is_finite()) {
                let value = format!("a trace of {bad} in transition {}", self.found.transitions);
                let expected = "ratios whose products are finite";
                return Err(InvalidSetting::new("ratios", value, expected).into());
            }
        }
        let waiting = &mut self.waiting;
        waiting.0.extend(now.iter().chain(&next).chain([&rows.rewards[k]]).chain(&z));
        waiting.1.extend(rows.weights.as_ref().map(|weights| weights[k]));
        self.found.transitions += 1;
        self.before = Some(Before { trace: z, ..Before::default() });
        if self.found.transitions.is_multiple_of(PIECE) {
            self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) {
        let rows = std::mem::take(&mut self.waiting.0);
        let weights = Some(std::mem::take(&mut self.waiting.1)).filter(|all| !all.is_empty());
        let d = self.found.first.len();
        let width = if self.found.traced { 3 * d + 1 } else { 2 * d + 1 };
        if !rows.is_empty() {
            self.collector.push(width, rows, weights);
        }
    }

    /// What has been found.
    ///
    /// # Errors
    /// If all rows are those of resets, or rows behind ends may be and settings do not say.
    pub fn finish(mut self) -> Result<LogMoments, Error> {
        self.flush();
        let LogCollector { settings, collector, mut found, ends, .. } = self;
        if found.transitions == 0 {
            return Err(PolicyError::AllReset.into());
        }
        let (behind, alike) = ends.behind;
        if settings.auto_reset == AutoReset::Detect && behind > 0 && behind == alike {
            return Err(PolicyError::PerhapsResets(behind).into());
        }
        if ends.resets > 0 {
            found.notes.push(Note::Resets(ends.resets));
        } else if ends.on.0 > 1 && ends.on.0 == ends.on.1 {
            found.notes.push(Note::CutToStart);
        }
        let has_marks = ends.done.is_some() || ends.truncated.is_some();
        if has_marks {
            found.notes.push(Note::Ends {
                done: ends.done.map(|name| (name, ends.terminal)),
                truncated: ends.truncated.map(|name| (name, ends.cut)),
            });
        }
        if settings.discount.is_none() {
            found.notes.push(Note::Discount(DISCOUNT));
        }
        if settings.lambda > 0.0 && found.episodes == 1 && !has_marks {
            found.notes.push(Note::OneEpisode);
        }
        if settings.objective.is_none() && settings.lambda == 0.0 {
            let transitions = found.transitions;
            found.notes.push(Note::Projected { once: transitions, transitions });
        }
        found.moments = collector.finish();
        Ok(found)
    }
}

impl LogMoments {
    /// The names of the features.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many transitions there were.
    pub fn transitions(&self) -> usize {
        self.transitions
    }
}

impl PolicyTask {
    /// The projected error of a log of which only the moments are kept, and the mean value of
    /// initial states where these are asked for.
    ///
    /// # Errors
    /// As [`PolicyTask::starting_at`].
    pub fn of_moments(
        initial: Option<&InitialStates>,
        log: LogMoments,
        settings: &PolicySettings,
    ) -> Result<Self, Error> {
        let LogMoments {
            names: mut coordinates, moments, transitions, episodes, first, notes, ..
        } = log;
        if settings.intercept {
            coordinates.push("intercept".to_owned());
        }
        let d = coordinates.len();
        if d * d > MOST_PROJECTED {
            return Err(PolicyError::TooLarge { d, transitions }.into());
        }
        let initial = match initial {
            Some(InitialStates::First) => {
                let features = first.iter().map(|sum| sum / episodes as f64).collect();
                Some(Initial { states: episodes, features, first: None })
            }
            given => {
                let features = StateFeatures::Rows { d, rows: Vec::new() };
                let known = Known {
                    names: &[],
                    places: &[],
                    features: &features,
                    intercept: settings.intercept,
                    log: None,
                };
                given.map(|states| states.found(&known)).transpose()?
            }
        };
        let discount = settings.discount.unwrap_or(DISCOUNT);
        let f = Mspbe::of_moments(d, &moments, discount)?;
        let Problem { inner, merit, .. } =
            f.problem(0.0).map_err(|_| PolicyError::DependentFeatures { d, transitions })?;
        let mut settings = settings.clone();
        settings.objective = Some(PolicyObjective::Projected);
        let regularizer = settings.bounds().regularizer(d)?;
        let (f, form) = (Box::new(inner), Box::new(merit));
        Ok(PolicyTask {
            settings,
            notes,
            states: Vec::new(),
            places: Vec::new(),
            coordinates,
            one_hot: false,
            discount,
            seen: true,
            visits: Vec::new(),
            episodes: None,
            initial,
            model: Model::Condensed { f, form, transitions, episodes },
            regularizer,
        })
    }

    /// Whether the transitions were read once and not kept.
    pub fn is_of_moments(&self) -> bool {
        matches!(self.model, Model::Condensed { .. })
    }

    /// How many transitions there are.
    pub fn transitions(&self) -> u64 {
        match self.model {
            Model::Condensed { transitions, .. } => transitions as u64,
            _ => self.visits.iter().sum(),
        }
    }
}
