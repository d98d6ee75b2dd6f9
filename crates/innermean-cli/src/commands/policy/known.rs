//! What is known of a process: its states by name, and the transitions between them, from a log, a
//! model or a generator.

use anyhow::{Result, bail};
use innermean::Moves;
pub(super) use innermean::problems::transitions::END;
use innermean_data::{FeatureRows, Frame};

use super::flags::{FeatureChoice, NeverLeft, PolicyFlags};

/// States and transitions, before anything is made of them.
pub(super) struct Known {
    pub(super) source: String,
    pub(super) names: Vec<String>,
    /// Which of them end an episode, with value 0.
    pub(super) terminal: Vec<bool>,
    pub(super) moves: KnownMoves,
    /// Whether transitions were seen, rather than known by their probabilities.
    pub(super) seen: bool,
    /// Features that belong to the process.
    pub(super) features: Option<FeatureRows>,
    /// The discount that belongs to the process.
    pub(super) discount: Option<f64>,
    pub(super) notes: Vec<String>,
    /// The file that transitions come from, for messages.
    pub(super) frame: Option<Frame>,
    /// Their rows in it, where some have been left out.
    pub(super) rows: Vec<usize>,
}

/// Transitions one by one, or all pairs of states.
pub(super) enum KnownMoves {
    List(Moves),
    /// P, S rows of S, and rewards, as many or one for each state.
    Matrix {
        probabilities: Vec<f64>,
        rewards: Vec<f64>,
    },
}

impl KnownMoves {
    /// The transitions one by one; those of a matrix that cannot happen are left out.
    pub(super) fn into_list(self, states: usize) -> Moves {
        match self {
            KnownMoves::List(moves) => moves,
            KnownMoves::Matrix { probabilities, rewards } => {
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

impl Known {
    /// Reads or generates, and finds out where episodes end.
    pub(super) fn new(flags: &PolicyFlags) -> Result<Self> {
        let mut known = if let Some(log) = &flags.log {
            Self::log(flags, log)?
        } else if let Some(model) = &flags.model {
            Self::model(flags, model)?
        } else {
            Self::generated(flags)
        };
        known.end_at(&flags.terminal)?;
        let one_hot = match flags.features {
            None => known.features.is_none(),
            Some(FeatureChoice::OneHot) => true,
            _ => false,
        };
        let mut never_left = flags.never_left;
        if known.seen && flags.generated() {
            // Whoever asks for a walk through a process knows that it is cut off.
            if one_hot {
                known.forget_unseen();
            } else if never_left == NeverLeft::Error {
                never_left = NeverLeft::Bootstrap;
            }
        }
        known.look_for_never_left(never_left)?;
        Ok(known)
    }

    /// Leaves out states of which no transition speaks: without features they have no value.
    fn forget_unseen(&mut self) {
        let KnownMoves::List(moves) = &mut self.moves else { return };
        let mut seen = vec![false; self.names.len()];
        for &s in moves.from.iter().chain(&moves.next).filter(|s| **s != END) {
            seen[s as usize] = true;
        }
        let forgotten = seen.iter().filter(|seen| !**seen).count();
        if forgotten == 0 {
            return;
        }
        self.notes.push(format!(
            "States that the walk never came to, and that are left out: {forgotten}."
        ));
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
        self.features = None;
    }

    /// Where transition t stands, if it comes from a file.
    pub(super) fn place(&self, t: usize) -> String {
        let row = self.rows.get(t).copied().unwrap_or(t);
        self.frame.as_ref().map_or_else(|| self.source.clone(), |frame| frame.place(row))
    }

    /// Marks the states that end an episode, and leaves out their transitions to themselves, as
    /// models have them.
    fn end_at(&mut self, terminal: &[String]) -> Result<()> {
        if terminal.is_empty() {
            return Ok(());
        }
        for name in terminal {
            let Some(s) = self.names.iter().position(|known| known == name) else {
                bail!(
                    "--terminal {name}: there is no such state; expected one of {}",
                    some_of(&self.names)
                );
            };
            self.terminal[s] = true;
        }
        let all = std::mem::replace(&mut self.moves, KnownMoves::List(Moves::default()));
        let mut moves = all.into_list(self.names.len());
        let ends = |s: u32| self.terminal[s as usize];
        for t in (0..moves.from.len()).filter(|&t| ends(moves.from[t])) {
            let weight = moves.weights.as_ref().map_or(1.0, |weights| weights[t]);
            let stays = moves.next[t] == moves.from[t] || moves.next[t] == END;
            if weight > 0.0 && (!stays || moves.rewards[t] != 0.0) {
                let name = &self.names[moves.from[t] as usize];
                bail!(
                    "{}: a transition leaves state '{name}', which --terminal says ends an episode; expected none, or one to itself with reward 0",
                    self.place(t)
                );
            }
        }
        let kept: Vec<usize> = (0..moves.from.len()).filter(|&t| !ends(moves.from[t])).collect();
        if kept.is_empty() {
            bail!(
                "--terminal {}: no transition is left; expected other states too",
                terminal.join(",")
            );
        }
        if kept.len() < moves.from.len() {
            moves = Moves {
                from: kept.iter().map(|&t| moves.from[t]).collect(),
                next: kept.iter().map(|&t| moves.next[t]).collect(),
                rewards: kept.iter().map(|&t| moves.rewards[t]).collect(),
                weights: moves.weights.map(|weights| kept.iter().map(|&t| weights[t]).collect()),
            };
            self.rows = kept;
        }
        self.moves = KnownMoves::List(moves);
        Ok(())
    }

    /// What becomes of states that are entered and never left: nobody can tell whether an episode
    /// ends there, or whether the log does.
    fn look_for_never_left(&mut self, what: NeverLeft) -> Result<()> {
        let KnownMoves::List(moves) = &self.moves else { return Ok(()) };
        let mut left = vec![false; self.names.len()];
        moves.from.iter().for_each(|&s| left[s as usize] = true);
        let stuck = |s: u32| s != END && !left[s as usize] && !self.terminal[s as usize];
        let Some(t) = (0..moves.next.len()).find(|&t| stuck(moves.next[t])) else { return Ok(()) };
        let mut entered = vec![false; self.names.len()];
        moves.next.iter().filter(|&&s| stuck(s)).for_each(|&s| entered[s as usize] = true);
        let stuck: Vec<&str> =
            (0..entered.len()).filter(|&s| entered[s]).map(|s| self.names[s].as_str()).collect();
        let others = match stuck.len() - 1 {
            0 => String::new(),
            1 => " (and so is one other state)".to_owned(),
            more => format!(" (and so are {more} other states)"),
        };
        match what {
            NeverLeft::Error => {
                let name = &self.names[moves.next[t] as usize];
                bail!(
                    "{}: state '{name}' is entered and never left{others}; expected --terminal {name} if an episode ends there, --never-left terminal for all such states, or --never-left bootstrap to take the value that features give them",
                    self.place(t)
                );
            }
            NeverLeft::Terminal => {
                self.notes.push(format!(
                    "Entered and never left, and so of value 0: {}.",
                    some_of(&stuck)
                ));
                for (terminal, entered) in self.terminal.iter_mut().zip(entered) {
                    *terminal |= entered;
                }
            }
            NeverLeft::Bootstrap => {
                let stuck = some_of(&stuck);
                self.notes.push(format!(
                    "Entered and never left, and valued by their features alone: {stuck}."
                ));
            }
        }
        Ok(())
    }
}

/// A few of the names.
pub(super) fn some_of(names: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let more = names.len() - shown.len();
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
