//! Logs of transitions from files.

use std::path::Path;

use anyhow::{Result, bail};
use innermean_apps::policy::{LogColumns, Marks, Process};
use innermean_data::{Ask, Columns, FeatureRows, Frame};

use super::flags::{ColumnFlags, PolicyFlags};
use super::read::Known;
use crate::flags::input::limits;

/// What columns are called, in the order in which they are looked for.
const REWARDS: &[&str] = &["reward", "rewards"];
const DONE: &[&str] =
    &["terminated", "terminal", "terminals", "terminations", "done", "dones", "termination"];
const TRUNCATED: &[&str] = &["truncated", "truncations", "timeouts", "timeout", "truncation"];
const EPISODES: &[&str] = &["episode", "episode_id"];
/// What a column has in its name that seems to say where episodes end.
const LIKE_ENDS: &[&str] =
    &["done", "terminal", "terminat", "truncat", "timeout", "is_last", "episode_end", "end_of"];
/// The features of D4RL and Minari.
const OBSERVATIONS: (&str, &str) = ("observations", "next_observations");

/// The columns that are asked for, each once.
#[derive(Default)]
struct Wanted {
    keys: Vec<Ask>,
    numbers: Vec<Ask>,
}

impl Wanted {
    fn has(&self, name: &str) -> bool {
        self.keys.iter().chain(&self.numbers).any(|ask| ask.name.eq_ignore_ascii_case(name))
    }

    /// A column of numbers: its place among them.
    fn number(&mut self, name: &str, required: bool) -> usize {
        let known = |ask: &Ask| ask.name.eq_ignore_ascii_case(name);
        self.numbers.iter().position(known).unwrap_or_else(|| {
            self.numbers.push(Ask { required, ..Ask::optional(name) });
            self.numbers.len() - 1
        })
    }

    /// The column that was named, or those that have a usual name and no other role.
    fn usual(&mut self, given: Option<&String>, usual: &[&str]) -> Vec<usize> {
        match given {
            Some(none) if none == "none" => Vec::new(),
            Some(name) => vec![self.number(name, true)],
            None => {
                let free: Vec<&str> =
                    usual.iter().copied().filter(|name| !self.has(name)).collect();
                free.into_iter().map(|name| self.number(name, false)).collect()
            }
        }
    }
}

/// A log as it was read.
struct Read {
    frame: Frame,
    numbers: Vec<Option<Vec<f64>>>,
    asked: Vec<Ask>,
    /// The columns that have been used, as they are called in the file.
    used: Vec<String>,
}

impl Read {
    /// The name of a column in the file.
    fn name(&self, asked: &str) -> String {
        let columns = &self.frame.columns;
        let same = |name: &&String| **name == asked;
        let alike = |name: &&String| name.eq_ignore_ascii_case(asked);
        let number = asked.parse::<usize>().ok().and_then(|n| columns.get(n.checked_sub(1)?));
        let found = columns.iter().find(same).or_else(|| columns.iter().find(alike)).or(number);
        found.map_or_else(|| asked.to_owned(), Clone::clone)
    }

    /// The first of some columns that is there, with its name.
    fn first(&mut self, places: &[usize]) -> Option<(String, Vec<f64>)> {
        let found = places.iter().find_map(|&k| self.numbers[k].take().map(|column| (k, column)));
        found.map(|(k, column)| {
            let name = self.name(&self.asked[k].name);
            self.used.push(name.clone());
            (name, column)
        })
    }

    fn marks(&mut self, places: &[usize]) -> Result<Option<Marks>> {
        let Some((name, values)) = self.first(places) else { return Ok(None) };
        match Marks::new(name, &values) {
            Ok(marks) => Ok(Some(marks)),
            Err(error) => Err(refused(&self.frame, error)),
        }
    }

    /// A column of numbers that are not negative.
    fn weights(&mut self, places: &[usize], what: &str) -> Result<Option<Vec<f64>>> {
        let Some((_, weights)) = self.first(places) else { return Ok(None) };
        if let Some(t) = weights.iter().position(|w| *w < 0.0) {
            let place = self.frame.place(t);
            bail!("{place}: a {what} of {}; expected a number, 0 or above", weights[t]);
        }
        Ok(Some(weights))
    }

    /// Columns that seem to say where episodes end, and are not used.
    fn unused_ends(&self) -> Option<String> {
        let seems = |name: &&String| {
            let lower = name.to_lowercase();
            LIKE_ENDS.iter().any(|part| lower.contains(part)) && !self.used.contains(name)
        };
        let names: Vec<String> =
            self.frame.columns.iter().filter(seems).map(|name| format!("'{name}'")).collect();
        let (columns, say) = if names.len() == 1 { ("Column", "says") } else { ("Columns", "say") };
        (!names.is_empty()).then(|| {
            format!(
                "{columns} {} seemingly {say} where episodes end and {} not used (--done-column, --truncated-column).",
                names.join(", "),
                if names.len() == 1 { "is" } else { "are" }
            )
        })
    }
}

fn refused(frame: &Frame, error: innermean_apps::Error) -> anyhow::Error {
    match error.place() {
        Some(innermean_apps::Place::Transition(t)) => {
            crate::flags::spelling::refused_at(frame.place(t), &error)
        }
        _ => error.into(),
    }
}

impl Known {
    /// Transitions that were seen.
    pub(super) fn log(flags: &PolicyFlags, path: &Path) -> Result<Self> {
        let columns = &flags.columns;
        let (features, noted) = feature_columns(flags, path)?;
        let mut wanted = Wanted::default();
        if features.is_none() {
            wanted.keys = vec![
                Ask::required(&columns.state_column),
                Ask::required(&columns.next_column).or_blank(),
            ];
        }
        let reward = (columns.reward_column != "reward").then_some(&columns.reward_column);
        let reward = wanted.usual(reward, REWARDS);
        let weight = wanted.usual(columns.weight_column.as_ref(), &["weight"]);
        let (now, next) = match &features {
            Some((now, next)) => {
                let mut all = |names: &[String]| -> Vec<usize> {
                    names.iter().map(|name| wanted.number(name, true)).collect()
                };
                (all(now), all(next))
            }
            None => (Vec::new(), Vec::new()),
        };
        let named = |name: &Option<String>| name.iter().cloned().collect::<Vec<String>>();
        let mut ratio = |name: &Option<String>| -> Vec<usize> {
            named(name).iter().map(|name| wanted.number(name, true)).collect()
        };
        let [given, target, behaviour] =
            [&columns.ratio_column, &columns.target_column, &columns.behaviour_column]
                .map(&mut ratio);
        let done = wanted.usual(columns.done_column.as_ref(), DONE);
        let truncated = wanted.usual(columns.truncated_column.as_ref(), TRUNCATED);
        let episode = wanted.episode(columns);
        let mut read = wanted.read(path, flags)?;
        let Some((_, rewards)) = read.first(&reward) else {
            bail!(
                "{}: has no column 'reward'; its columns are {}; expected its name by --reward-column",
                read.frame.source,
                read.frame.columns.join(", ")
            );
        };
        let weights = read.weights(&weight, "weight")?;
        let ratios = match read.weights(&given, "ratio")? {
            Some(ratios) => Some(ratios),
            None => read.ratios(&target, &behaviour)?,
        };
        let own = features.map(|(names, _)| read.features(&names, &now, &next));
        let steps = LogColumns {
            done: read.marks(&done)?,
            truncated: read.marks(&truncated)?,
            episode: episode.and_then(|k| read.frame.keys[k].take()).map(|keys| keys.codes),
            ratios,
        };
        let unused = read.unused_ends();
        let frame = read.frame;
        let mut known = match own {
            Some((features, next)) => {
                let process = Process::of_rows(features, &next, rewards, weights)
                    .map_err(|error| refused(&frame, error))?;
                Known { own: true, ..Self::of_process(frame, process) }
            }
            None => Self::of_frame(frame, rewards, weights),
        };
        known.notes.extend(noted);
        known.notes.extend(unused);
        known.process.seen = true;
        known.process.log = steps;
        Ok(known)
    }
}

impl Wanted {
    /// The column of episodes: its place among the keys.
    fn episode(&mut self, columns: &ColumnFlags) -> Option<usize> {
        let ask = match &columns.episode_column {
            Some(none) if none == "none" => return None,
            Some(name) => Ask::required(name),
            None => Ask::optional(*EPISODES.iter().find(|name| !self.has(name))?),
        };
        self.keys.push(ask);
        Some(self.keys.len() - 1)
    }

    fn read(self, path: &Path, flags: &PolicyFlags) -> Result<Read> {
        let missing = flags.columns.features.missing().into();
        let asked = self.numbers.clone();
        let columns = Columns { keys: self.keys, numbers: self.numbers, ..Columns::default() };
        let mut frame = limits().read_frame(path, &columns, missing)?;
        let numbers = std::mem::take(&mut frame.numbers);
        Ok(Read { frame, numbers, asked, used: Vec::new() })
    }
}

impl Read {
    /// The ratio of two columns of probabilities.
    fn ratios(&mut self, target: &[usize], behaviour: &[usize]) -> Result<Option<Vec<f64>>> {
        let target = self.weights(target, "probability")?;
        let behaviour = self.weights(behaviour, "probability")?;
        let (Some(target), Some(behaviour)) = (target, behaviour) else { return Ok(None) };
        if let Some(t) = behaviour.iter().position(|p| *p == 0.0) {
            let place = self.frame.place(t);
            bail!("{place}: an action was taken with probability 0; expected one above 0");
        }
        Ok(Some(target.iter().zip(&behaviour).map(|(target, p)| target / p).collect()))
    }

    /// Columns as rows: those of the states that are left, and of those that are entered.
    fn features(
        &mut self,
        names: &[String],
        now: &[usize],
        next: &[usize],
    ) -> (FeatureRows, Vec<f64>) {
        let rows = |places: &[usize]| -> Vec<f64> {
            let columns: Vec<&[f64]> =
                places.iter().map(|&k| self.numbers[k].as_deref().unwrap_or_default()).collect();
            (0..self.frame.rows).flat_map(|t| columns.iter().map(move |c| c[t])).collect()
        };
        let found = (rows(now), rows(next));
        let used: Vec<String> =
            now.iter().chain(next).map(|&k| self.name(&self.asked[k].name)).collect();
        self.used.extend(used);
        let names = names.iter().map(|name| self.name(name)).collect();
        (FeatureRows { names, rows: found.0 }, found.1)
    }
}

type Pairs = (Vec<String>, Vec<String>);

/// The columns of the log that are features of the states that are left and entered, if it has any,
/// and a note where no flag asked for them. `X` means `X1`, `X2`, ... where a file has arrays.
fn feature_columns(flags: &PolicyFlags, path: &Path) -> Result<(Option<Pairs>, Option<String>)> {
    let unsaid = flags.features.is_none() && flags.columns.state_column == "state";
    let asked = flags.feature_columns();
    // A pipe can be read but once, and is a text.
    let look = path.is_file() && (unsaid || asked.is_some());
    let arrays = if look { limits().column_names(path)? } else { None };
    let spread = |name: &String| -> Vec<String> {
        let columns = arrays.as_deref().unwrap_or_default();
        let has = |name: &str| columns.iter().any(|column| column == name);
        let numbered: Vec<String> = (1..=columns.len())
            .map(|k| format!("{name}{k}"))
            .take_while(|name| has(name))
            .collect();
        if has(name) || numbered.is_empty() { vec![name.clone()] } else { numbered }
    };
    let all = |names: &[String]| -> Vec<String> { names.iter().flat_map(spread).collect() };
    if let Some(columns) = asked {
        let (now, next) = (all(&columns), all(&flags.next_features));
        if now.len() != next.len() {
            bail!(
                "--next-features: {} columns, and --features has {}; expected one for each, in the same order",
                next.len(),
                now.len()
            );
        }
        return Ok((Some((now, next)), None));
    }
    let has_states = || {
        let is_state = |name: &String| name.eq_ignore_ascii_case("state");
        arrays.as_ref().is_none_or(|columns| columns.iter().any(is_state))
    };
    if !unsaid || has_states() {
        return Ok((None, None));
    }
    let (now, next) = (all(&[OBSERVATIONS.0.to_owned()]), all(&[OBSERVATIONS.1.to_owned()]));
    let known = |names: &[String]| {
        arrays.as_ref().is_some_and(|columns| names.iter().all(|name| columns.contains(name)))
    };
    if now.len() != next.len() || !known(&now) || !known(&next) {
        bail!(
            "{}: has no column 'state'; its columns are {}; expected its name by --state-column, or columns that describe a state by --features and --next-features",
            path.display(),
            arrays.unwrap_or_default().join(", ")
        );
    }
    let note = format!(
        "States are described by the columns of '{}' and '{}' (--features, --next-features).",
        OBSERVATIONS.0, OBSERVATIONS.1
    );
    Ok((Some((now, next)), Some(note)))
}
