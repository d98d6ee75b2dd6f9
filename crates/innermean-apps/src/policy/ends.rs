//! Where the episodes of a log end, as its columns say: terminal steps, steps that were cut off,
//! and rows of an automatic reset, which are no steps at all.

use std::collections::{HashMap, HashSet};

use innermean::Moves;
use innermean::problems::transitions::END;

use super::{PolicyError, Process, ProcessMoves};
use crate::error::{Error, same_length};
use crate::wording::{Note, named};

named! {
    /// What the row behind the end of an episode is.
    pub enum AutoReset, default Detect {
        /// A reset where all such rows look like one, otherwise a step
        Detect = "detect",
        /// A reset from the last state to the first of the next episode, which is left out
        NextStep = "next-step",
        /// A step like any other
        None = "none",
    }
}

/// What the rows of a log say beside states and rewards: a value for each transition, or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogColumns {
    /// Steps that end an episode: whatever comes after has value 0.
    pub done: Option<Marks>,
    /// Steps at which an episode was cut off: the value of the next state counts.
    pub truncated: Option<Marks>,
    /// The episode, or the environment, that a row belongs to. Rows of several may be mixed.
    pub episode: Option<Vec<u32>>,
    /// How much likelier the action is under the policy that is evaluated than under the one that
    /// was followed.
    pub ratios: Option<Vec<f64>>,
}

/// Some of the rows of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Marks {
    /// The column.
    pub name: String,
    /// Whether it is set.
    pub set: Vec<bool>,
}

impl Marks {
    /// A column of zeros and ones.
    ///
    /// # Errors
    /// If there is any other number.
    pub fn new(name: String, values: &[f64]) -> Result<Self, Error> {
        match values.iter().position(|value| *value != 0.0 && *value != 1.0) {
            Some(transition) => {
                let value = values[transition];
                Err(PolicyError::Mark { transition, column: name, value }.into())
            }
            None => Ok(Marks { name, set: values.iter().map(|value| *value == 1.0).collect() }),
        }
    }
}

impl LogColumns {
    /// Only these rows.
    pub(super) fn keep(&mut self, kept: &[usize]) {
        for marks in [&mut self.done, &mut self.truncated].into_iter().flatten() {
            marks.set = kept.iter().map(|&t| marks.set[t]).collect();
        }
        if let Some(episode) = &mut self.episode {
            *episode = kept.iter().map(|&t| episode[t]).collect();
        }
        if let Some(ratios) = &mut self.ratios {
            *ratios = kept.iter().map(|&t| ratios[t]).collect();
        }
    }

    /// One value for each transition.
    pub(super) fn check(&self, transitions: usize) -> Result<(), Error> {
        for marks in [&self.done, &self.truncated].into_iter().flatten() {
            same_length("rows that say where episodes end", marks.set.len(), transitions)?;
        }
        if let Some(episode) = &self.episode {
            same_length("rows with an episode", episode.len(), transitions)?;
        }
        if let Some(ratios) = &self.ratios {
            same_length("importance ratios", ratios.len(), transitions)?;
        }
        Ok(())
    }

    pub(super) fn is_done(&self, t: usize) -> bool {
        self.done.as_ref().is_some_and(|marks| marks.set[t])
    }

    /// Terminal or cut off.
    pub(super) fn is_end(&self, t: usize) -> bool {
        self.is_done(t) || self.truncated.as_ref().is_some_and(|marks| marks.set[t])
    }

    pub(super) fn has_marks(&self) -> bool {
        self.done.is_some() || self.truncated.is_some()
    }

    /// The rows in the order of time, for each of several environments if rows are mixed: an
    /// episode that comes again after another.
    pub(super) fn order(&self, transitions: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..transitions).collect();
        if let Some(episode) = &self.episode {
            let mut over = HashSet::new();
            let changes = episode.windows(2).filter(|pair| pair[0] != pair[1]);
            let mut begun = changes.map(|pair| pair[1]).chain(episode.first().copied());
            // Every episode begins once, unless rows are mixed.
            if !begun.all(|code| over.insert(code)) {
                order.sort_by_key(|&t| episode[t]);
            }
        }
        order
    }
}

impl Process {
    /// Leaves out the rows of resets and cuts the log where its columns say so.
    pub(super) fn end_at_marks(&mut self, auto_reset: AutoReset) -> Result<(), Error> {
        let ProcessMoves::List(moves) = &self.moves else { return Ok(()) };
        self.log.check(moves.from.len())?;
        if !self.log.has_marks() {
            return match auto_reset {
                AutoReset::NextStep => Err(PolicyError::NoMarks.into()),
                _ => Ok(()),
            };
        }
        let resets = match auto_reset {
            AutoReset::None => Vec::new(),
            AutoReset::NextStep => self.rows_after_ends(moves)?,
            AutoReset::Detect => self.detected_resets(moves),
        };
        if !resets.is_empty() {
            let mut is_reset = vec![false; moves.from.len()];
            for &t in &resets {
                is_reset[t] = true;
            }
            let kept: Vec<usize> = (0..moves.from.len()).filter(|&t| !is_reset[t]).collect();
            if kept.is_empty() {
                return Err(PolicyError::AllReset.into());
            }
            self.notes.push(Note::Resets(resets.len()));
            self.keep(kept);
        } else if self.is_cut_to_start(moves) {
            self.notes.push(Note::CutToStart);
        }
        self.cut()
    }

    /// All rows behind an end.
    fn rows_after_ends(&self, moves: &Moves) -> Result<Vec<usize>, Error> {
        let order = self.log.order(moves.from.len());
        let after = order.windows(2).filter(|pair| self.log.is_end(pair[0]));
        // A row behind a reset is a step, whatever is said of the reset.
        let mut resets: Vec<usize> = Vec::new();
        for pair in after {
            if resets.last() != Some(&pair[0]) {
                resets.push(pair[1]);
            }
        }
        match resets.iter().find(|&&t| moves.rewards[t] != 0.0) {
            Some(&t) => {
                let reward = moves.rewards[t];
                Err(PolicyError::ResetReward { transition: self.place(t), reward }.into())
            }
            None => Ok(resets),
        }
    }

    /// The rows behind an end, if all of them leave the state in which the episode ended, have
    /// reward 0 and end nothing, and no other row leaves a state in which an episode ended.
    fn detected_resets(&self, moves: &Moves) -> Vec<usize> {
        let order = self.log.order(moves.from.len());
        let (from, next) = self.identities(moves);
        let mut resets = Vec::new();
        let mut is_reset = vec![false; from.len()];
        for pair in order.windows(2).filter(|pair| self.log.is_end(pair[0])) {
            let [before, t] = [pair[0], pair[1]];
            let stays = next[before] != END && next[before] == from[t];
            if !stays || moves.rewards[t] != 0.0 || self.log.is_end(t) {
                return Vec::new();
            }
            is_reset[t] = true;
            resets.push(t);
        }
        // A state in which an episode was cut off may well be left at other times; one in which it
        // ended is not.
        let any_done = (0..from.len()).any(|t| self.log.is_done(t));
        let ends =
            (0..from.len()).filter(|&t| self.log.is_done(t) || !any_done && self.log.is_end(t));
        let last: HashSet<u32> = ends.map(|t| next[t]).collect();
        let is_left = (0..from.len()).any(|t| !is_reset[t] && last.contains(&from[t]));
        if is_left { Vec::new() } else { resets }
    }

    /// Whether all steps that were cut off, and several, enter the state in which the next row
    /// begins.
    fn is_cut_to_start(&self, moves: &Moves) -> bool {
        let is_cut = |t: usize| self.log.is_end(t) && !self.log.is_done(t);
        let order = self.log.order(moves.from.len());
        let pairs: Vec<&[usize]> = order.windows(2).filter(|pair| is_cut(pair[0])).collect();
        if pairs.len() < 2 {
            return false;
        }
        let (from, next) = self.identities(moves);
        pairs.iter().all(|pair| next[pair[0]] == from[pair[1]])
    }

    /// A number for each state: those of rows that have no names are told by their features.
    fn identities(&self, moves: &Moves) -> (Vec<u32>, Vec<u32>) {
        let Some(own) = &self.own else { return (moves.from.clone(), moves.next.clone()) };
        let d = own.names.len();
        let mut codes: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut code = |s: u32| {
            if s == END {
                return END;
            }
            let row = &own.rows[s as usize * d..(s as usize + 1) * d];
            let fresh = codes.len() as u32;
            *codes.entry(row.iter().map(|x| x.to_bits()).collect()).or_insert(fresh)
        };
        let from = moves.from.iter().map(|&s| code(s)).collect();
        (from, moves.next.iter().map(|&s| code(s)).collect())
    }

    /// Nothing follows a terminal step. States that only such steps enter have value 0.
    fn cut(&mut self) -> Result<(), Error> {
        let ProcessMoves::List(moves) = &mut self.moves else { return Ok(()) };
        let mut ends = vec![false; self.names.len()];
        let mut other = vec![false; self.names.len()];
        let (mut terminal, mut cut) = (0, 0);
        for t in 0..moves.from.len() {
            let next = moves.next[t];
            let named = |seen: &mut Vec<bool>, s: u32| {
                if let Some(seen) = seen.get_mut(s as usize) {
                    *seen = true;
                }
            };
            named(&mut other, moves.from[t]);
            if self.log.is_done(t) {
                named(&mut ends, next);
                moves.next[t] = END;
                terminal += 1;
                continue;
            }
            if self.log.is_end(t) {
                if next == END {
                    let transition = self.kept.get(t).copied().unwrap_or(t);
                    return Err(PolicyError::NothingAfterCut { transition }.into());
                }
                cut += 1;
            }
            named(&mut other, next);
        }
        for (state, (ends, other)) in self.terminal.iter_mut().zip(ends.iter().zip(&other)) {
            *state |= *ends && !other;
        }
        let name = |marks: &Option<Marks>| marks.as_ref().map(|marks| marks.name.clone());
        self.notes.push(Note::Ends {
            done: name(&self.log.done).map(|name| (name, terminal)),
            truncated: name(&self.log.truncated).map(|name| (name, cut)),
        });
        Ok(())
    }
}
