//! What is known of a process: its states by name, and the transitions between them.

use std::collections::HashMap;

use innermean::Moves;
use innermean::problems::transitions::END;
use innermean_data::{FeatureRows, Keys};

use super::{LogColumns, NeverLeft, PolicyError, PolicySettings};
use crate::error::{Error, same_length};
use crate::wording::Note;

/// States and transitions, before anything is made of them.
#[derive(Debug, Clone, Default)]
pub struct Process {
    /// The names of the states.
    pub names: Vec<String>,
    /// Which of them end an episode, with value 0.
    pub terminal: Vec<bool>,
    /// The transitions.
    pub moves: ProcessMoves,
    /// Whether transitions were seen, rather than known by their probabilities.
    pub seen: bool,
    /// Whether transitions are a walk through a generated process, which is known to be cut off.
    pub walk: bool,
    /// The discount that belongs to the process.
    pub discount: Option<f64>,
    /// What a log says of its steps.
    pub log: LogColumns,
    /// The features of states that have no names: those that the transitions leave, then those
    /// that they enter.
    pub(super) own: Option<FeatureRows>,
    pub(super) notes: Vec<Note>,
    /// The transitions that are left, where some have been left out.
    pub(super) kept: Vec<usize>,
    settled: bool,
}

/// Transitions one by one, or all pairs of states.
#[derive(Debug, Clone)]
pub enum ProcessMoves {
    /// One by one.
    List(Moves),
    /// P, S rows of S, and rewards, as many or one for each state.
    Matrix {
        /// The probabilities of all pairs.
        probabilities: Vec<f64>,
        /// The rewards of pairs or states.
        rewards: Vec<f64>,
    },
}

impl Default for ProcessMoves {
    fn default() -> Self {
        ProcessMoves::List(Moves::default())
    }
}

impl ProcessMoves {
    /// The transitions one by one; those of a matrix that cannot happen are left out.
    pub(super) fn into_list(self, states: usize) -> Moves {
        match self {
            ProcessMoves::List(moves) => moves,
            ProcessMoves::Matrix { probabilities, rewards } => {
                let per_state = rewards.len() == states;
                let possible = || (0..probabilities.len()).filter(|&k| probabilities[k] > 0.0);
                Moves {
                    from: possible().map(|k| (k / states) as u32).collect(),
                    next: possible().map(|k| (k % states) as u32).collect(),
                    rewards: possible()
                        .map(|k| rewards[if per_state { k / states } else { k }])
                        .collect(),
                    weights: Some(possible().map(|k| probabilities[k]).collect()),
                }
            }
        }
    }
}

impl Process {
    /// A process with these states, none of which ends an episode, and transitions that are known
    /// by their probabilities.
    pub fn new(names: Vec<String>, moves: ProcessMoves) -> Self {
        Process {
            terminal: vec![false; names.len()],
            names,
            moves,
            seen: false,
            walk: false,
            discount: None,
            log: LogColumns::default(),
            own: None,
            notes: Vec::new(),
            kept: Vec::new(),
            settled: false,
        }
    }

    /// A log of transitions between states without names, each described by numbers: `features`
    /// has a row for the state that is left in each transition, and `next` one, of the same
    /// columns, for the state that is entered, or for state and action.
    ///
    /// # Errors
    /// Unless there is a row of each for every reward.
    pub fn of_rows(
        features: FeatureRows,
        next: &[f64],
        rewards: Vec<f64>,
        weights: Option<Vec<f64>>,
    ) -> Result<Self, Error> {
        let (t, d) = (rewards.len(), features.names.len());
        let FeatureRows { names, mut rows } = features;
        same_length("numbers in the features", rows.len(), t * d)?;
        same_length("numbers in the features of next states", next.len(), t * d)?;
        rows.extend_from_slice(next);
        let moves = Moves {
            from: (0..t as u32).collect(),
            next: (t as u32..2 * t as u32).collect(),
            rewards,
            weights,
        };
        let mut process = Process::new(Vec::new(), ProcessMoves::List(moves));
        process.own = Some(FeatureRows { names, rows });
        process.seen = true;
        Ok(process)
    }

    /// Transitions between states by name, in the order of their appearance: first those that are
    /// left. An empty name in `next` is the end of an episode.
    pub fn of_transitions(
        from: Keys,
        next: &Keys,
        rewards: Vec<f64>,
        weights: Option<Vec<f64>>,
    ) -> Self {
        let mut names = from.names;
        let places: HashMap<&str, u32> =
            names.iter().enumerate().map(|(s, name)| (name.as_str(), s as u32)).collect();
        let mut further = Vec::new();
        let codes: Vec<u32> = next
            .names
            .iter()
            .map(|name| {
                if name.is_empty() {
                    return END;
                }
                places.get(name.as_str()).copied().unwrap_or_else(|| {
                    further.push(name.clone());
                    (names.len() + further.len() - 1) as u32
                })
            })
            .collect();
        names.extend(further);
        let next = next.codes.iter().map(|&code| codes[code as usize]).collect();
        Process::new(names, ProcessMoves::List(Moves { from: from.codes, next, rewards, weights }))
    }

    /// Finds out where episodes end, by what `settings` say of it; `one_hot` says that states have
    /// no features.
    ///
    /// # Errors
    /// If a terminal state is not known or is left, or a state is entered and never left and
    /// nothing is said about those.
    pub fn settle(&mut self, settings: &PolicySettings, one_hot: bool) -> Result<(), Error> {
        if std::mem::replace(&mut self.settled, true) {
            return Ok(());
        }
        self.end_at_marks(settings.auto_reset)?;
        if self.own.is_some() {
            // Each of the states is another, and is known by its features.
            return match settings.terminal.first() {
                Some(name) => Err(PolicyError::NoNames {
                    parameter: "terminal",
                    value: name.clone(),
                    expected: "`done_column=NAME`",
                }
                .into()),
                None => Ok(()),
            };
        }
        self.end_at(&settings.terminal)?;
        let mut never_left = settings.never_left;
        if self.walk {
            // Whoever asks for a walk through a process knows that it is cut off.
            if one_hot {
                self.forget_unvisited();
            } else if never_left == NeverLeft::Error {
                never_left = NeverLeft::Bootstrap;
            }
        }
        self.look_for_never_left(never_left)
    }

    /// The names of the features of transitions that have features of their own.
    pub fn own_names(&self) -> Option<&[String]> {
        self.own.as_ref().map(|own| &own.names[..])
    }

    /// What was decided about its states.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The place of a transition among all that there were.
    pub(super) fn place(&self, t: usize) -> usize {
        self.kept.get(t).copied().unwrap_or(t)
    }

    /// The first transition that speaks of a state, if they are listed.
    pub(super) fn first_transition(&self, s: u32) -> Option<usize> {
        let ProcessMoves::List(moves) = &self.moves else { return None };
        let at = |t: &usize| moves.from[*t] == s || (moves.next[*t] != END && moves.next[*t] == s);
        (0..moves.from.len()).find(at).map(|t| self.place(t))
    }

    /// Leaves out states of which no transition speaks: without features they have no value.
    fn forget_unvisited(&mut self) {
        let ProcessMoves::List(moves) = &mut self.moves else { return };
        let mut seen = vec![false; self.names.len()];
        for &s in moves.from.iter().chain(&moves.next).filter(|s| **s != END) {
            seen[s as usize] = true;
        }
        let forgotten = seen.iter().filter(|seen| !**seen).count();
        if forgotten == 0 {
            return;
        }
        self.notes.push(Note::Unvisited(forgotten));
        let mut places = vec![END; seen.len()];
        for (next, (place, _)) in (0..).zip(places.iter_mut().zip(&seen).filter(|(_, seen)| **seen))
        {
            *place = next;
        }
        for s in moves.from.iter_mut().chain(&mut moves.next).filter(|s| **s != END) {
            *s = places[*s as usize];
        }
        let mut kept = seen.iter();
        self.names.retain(|_| kept.next() == Some(&true));
        let mut kept = seen.iter();
        self.terminal.retain(|_| kept.next() == Some(&true));
    }

    /// Marks the states that end an episode, and leaves out their transitions to themselves, as
    /// models have them.
    fn end_at(&mut self, terminal: &[String]) -> Result<(), Error> {
        if terminal.is_empty() {
            return Ok(());
        }
        for name in terminal {
            let Some(s) = self.names.iter().position(|known| known == name) else {
                let (name, states) = (name.clone(), self.names.clone());
                return Err(PolicyError::NoSuchState { name, states }.into());
            };
            self.terminal[s] = true;
        }
        let all = std::mem::take(&mut self.moves);
        let moves = all.into_list(self.names.len());
        let ends = |s: u32| self.terminal[s as usize];
        for t in (0..moves.from.len()).filter(|&t| ends(moves.from[t])) {
            let weight = moves.weights.as_ref().map_or(1.0, |weights| weights[t]);
            let stays = moves.next[t] == moves.from[t] || moves.next[t] == END;
            if weight > 0.0 && (!stays || moves.rewards[t] != 0.0) {
                let state = self.names[moves.from[t] as usize].clone();
                let transition = self.kept.get(t).copied().unwrap_or(t);
                return Err(PolicyError::LeavesTerminal { transition, state }.into());
            }
        }
        let kept: Vec<usize> = (0..moves.from.len()).filter(|&t| !ends(moves.from[t])).collect();
        if kept.is_empty() {
            return Err(PolicyError::AllTerminal(terminal.to_vec()).into());
        }
        let all = moves.from.len();
        self.moves = ProcessMoves::List(moves);
        if kept.len() < all {
            self.keep(kept);
        }
        Ok(())
    }

    /// Leaves out all other transitions.
    pub(super) fn keep(&mut self, kept: Vec<usize>) {
        let ProcessMoves::List(moves) = &mut self.moves else { return };
        *moves = Moves {
            from: kept.iter().map(|&t| moves.from[t]).collect(),
            next: kept.iter().map(|&t| moves.next[t]).collect(),
            rewards: kept.iter().map(|&t| moves.rewards[t]).collect(),
            weights: moves.weights.take().map(|all| kept.iter().map(|&t| all[t]).collect()),
        };
        self.log.keep(&kept);
        self.kept = kept.into_iter().map(|t| self.place(t)).collect();
    }

    /// What becomes of states that are entered and never left: whether an episode ends there, or
    /// whether the log does, cannot be told.
    fn look_for_never_left(&mut self, what: NeverLeft) -> Result<(), Error> {
        let ProcessMoves::List(moves) = &self.moves else { return Ok(()) };
        let mut left = vec![false; self.names.len()];
        moves.from.iter().for_each(|&s| left[s as usize] = true);
        let stuck = |s: u32| s != END && !left[s as usize] && !self.terminal[s as usize];
        let Some(t) = (0..moves.next.len()).find(|&t| stuck(moves.next[t])) else { return Ok(()) };
        let mut entered = vec![false; self.names.len()];
        moves.next.iter().filter(|&&s| stuck(s)).for_each(|&s| entered[s as usize] = true);
        let stuck: Vec<String> =
            (0..entered.len()).filter(|&s| entered[s]).map(|s| self.names[s].clone()).collect();
        match what {
            NeverLeft::Error => {
                return Err(PolicyError::NeverLeft {
                    transition: self.place(t),
                    state: self.names[moves.next[t] as usize].clone(),
                    others: stuck.len() - 1,
                }
                .into());
            }
            NeverLeft::Terminal => {
                self.notes.push(Note::NeverLeftTerminal(stuck));
                for (terminal, entered) in self.terminal.iter_mut().zip(entered) {
                    *terminal |= entered;
                }
            }
            NeverLeft::Bootstrap => self.notes.push(Note::NeverLeftBootstrap(stuck)),
        }
        Ok(())
    }
}
