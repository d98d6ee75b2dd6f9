//! Logs of transitions from files.

use std::path::Path;

use anyhow::{Result, bail};
use innermean_apps::condensed::PIECE;
use innermean_apps::policy::{LogCollector, LogColumns, LogRows, Marks, Process};
use innermean_data::{Ask, Columns, FeatureRows, Frame, Keys, Missing};

use super::flags::{ColumnFlags, PolicyFlags};
use super::read::Known;
use crate::flags::input::{limits, moments_fit};

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

/// The columns of numbers of a log, taken out one after the other.
struct Numbers {
    frame: Frame,
    /// Those that have not been taken.
    left: Vec<Option<Vec<f64>>>,
    asked: Vec<Ask>,
    /// The columns that have been used, as they are called in the file.
    used: Vec<String>,
}

/// What a log says, as it was read.
struct Read {
    /// Without its columns of numbers, and without episodes.
    frame: Frame,
    rewards: Vec<f64>,
    weights: Option<Vec<f64>>,
    /// Features of the states that are left, and entered.
    own: Option<(FeatureRows, Vec<f64>)>,
    steps: LogColumns,
    episodes: Option<Keys>,
    /// A note on columns that are not used.
    unused: Option<String>,
}

impl Numbers {
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
        let found = places.iter().find_map(|&k| self.left[k].take().map(|column| (k, column)));
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

/// Which of the columns that are asked for is what.
pub(super) struct Roles {
    wanted: Wanted,
    missing: Missing,
    reward: Vec<usize>,
    weight: Vec<usize>,
    /// The features of the states that are left and entered: their names, and their places.
    features: Option<(Vec<String>, Vec<usize>, Vec<usize>)>,
    /// Ratios, or the two probabilities that make them.
    ratios: [Vec<usize>; 3],
    done: Vec<usize>,
    truncated: Vec<usize>,
    episode: Option<usize>,
    /// Where no flag asked for the features.
    noted: Option<String>,
}

impl Roles {
    /// As flags and the header of the file say.
    pub(super) fn new(flags: &PolicyFlags, path: &Path) -> Result<Self> {
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
        let mut all = |names: &[String]| -> Vec<usize> {
            names.iter().map(|name| wanted.number(name, true)).collect()
        };
        let features = features.map(|(now, next)| {
            let places = (all(&now), all(&next));
            (now, places.0, places.1)
        });
        let ratios = [&columns.ratio_column, &columns.target_column, &columns.behaviour_column]
            .map(|name| all(name.as_slice()));
        let done = wanted.usual(columns.done_column.as_ref(), DONE);
        let truncated = wanted.usual(columns.truncated_column.as_ref(), TRUNCATED);
        let episode = wanted.episode(columns);
        let missing = columns.features.missing().into();
        Ok(Roles {
            wanted,
            missing,
            reward,
            weight,
            features,
            ratios,
            done,
            truncated,
            episode,
            noted,
        })
    }

    /// Whether the transitions have features of their own.
    pub(super) fn are_own(&self) -> bool {
        self.features.is_some()
    }

    fn columns(&self) -> Columns {
        let Wanted { keys, numbers } = &self.wanted;
        Columns { keys: keys.clone(), numbers: numbers.clone(), ..Columns::default() }
    }

    /// What a table, or a piece of one, says in these columns.
    fn read(&self, mut frame: Frame) -> Result<Read> {
        let left = std::mem::take(&mut frame.numbers);
        let asked = self.wanted.numbers.clone();
        let mut columns = Numbers { frame, left, asked, used: Vec::new() };
        let Some((_, rewards)) = columns.first(&self.reward) else {
            bail!(
                "{}: has no column 'reward'; its columns are {}; expected its name by --reward-column",
                columns.frame.source,
                columns.frame.columns.join(", ")
            );
        };
        let weights = columns.weights(&self.weight, "weight")?;
        let [given, target, behaviour] = &self.ratios;
        let ratios = match columns.weights(given, "ratio")? {
            Some(ratios) => Some(ratios),
            None => columns.ratios(target, behaviour)?,
        };
        let own = self.features.as_ref();
        let own = own.map(|(names, now, next)| columns.features(names, now, next));
        let (done, truncated) = (columns.marks(&self.done)?, columns.marks(&self.truncated)?);
        let episodes = self.episode.and_then(|k| columns.frame.keys[k].take());
        let unused = columns.unused_ends();
        let steps = LogColumns { done, truncated, episode: None, ratios };
        Ok(Read { frame: columns.frame, rewards, weights, own, steps, episodes, unused })
    }

    /// The same for a table that is read a few rows at a time and not kept; what comes back has
    /// its names and notes.
    pub(super) fn read_once(
        self,
        path: &Path,
        collector: &mut LogCollector,
    ) -> Result<(Frame, Vec<String>)> {
        let mut unused = None;
        let mut hand = |frame: Frame| -> Result<()> {
            let Read { frame, rewards, weights, own, steps, episodes, unused: seen } =
                self.read(frame)?;
            let Some((features, next)) = own else { bail!("{}: no features", frame.source) };
            moments_fit(path, 3 * features.names.len() + 1)?;
            unused = seen;
            let rows = LogRows { features, next, rewards, weights, columns: steps, episodes };
            collector.push(rows).map_err(|error| refused(&frame, error))
        };
        let (columns, missing) = (self.columns(), self.missing);
        let frame = limits().read_frame_in_pieces(path, &columns, missing, PIECE, &mut hand)?;
        Ok((frame, self.noted.into_iter().chain(unused).collect()))
    }
}

impl Known {
    /// Transitions that were seen.
    pub(super) fn log(roles: Roles, path: &Path) -> Result<Self> {
        let frame = limits().read_frame(path, &roles.columns(), roles.missing)?;
        let Read { frame, rewards, weights, own, steps, episodes, unused } = roles.read(frame)?;
        let mut known = match own {
            Some((features, next)) => {
                let process = Process::of_rows(features, &next, rewards, weights)
                    .map_err(|error| refused(&frame, error))?;
                Known { own: true, ..Self::of_process(frame, process) }
            }
            None => Self::of_frame(frame, rewards, weights),
        };
        known.notes.extend(roles.noted);
        known.notes.extend(unused);
        known.process.seen = true;
        known.process.log = LogColumns { episode: episodes.map(|keys| keys.codes), ..steps };
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
}

impl Numbers {
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
                places.iter().map(|&k| self.left[k].as_deref().unwrap_or_default()).collect();
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
