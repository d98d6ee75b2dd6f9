//! The episodes of a log.

use innermean::Moves;
use innermean::problems::transitions::END;

use super::{Process, ProcessMoves};

/// Transitions as episodes, each in the order of time. Their numbers are those of the transitions
/// that are left, where some have been left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Episodes {
    /// All transitions, episode after episode.
    pub order: Vec<usize>,
    /// Where episodes begin in `order`, and its length.
    pub starts: Vec<usize>,
}

impl Episodes {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The transitions of each.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.starts.windows(2).map(|range| &self.order[range[0]..range[1]])
    }

    /// The episode of each transition.
    pub fn of_transitions(&self) -> Vec<usize> {
        let mut found = vec![0; self.order.len()];
        for (episode, transitions) in self.iter().enumerate() {
            for &t in transitions {
                found[t] = episode;
            }
        }
        found
    }
}

impl Process {
    /// The episodes of a log: one is over where nothing follows a step or it was cut off, where the
    /// column of episodes changes, and where a row does not go on in the state that the one before
    /// it entered. States without names are not compared: features of a next action that was not
    /// taken are those of no other row.
    pub(super) fn episodes(&self) -> Option<Episodes> {
        let ProcessMoves::List(moves) = &self.moves else { return None };
        if !self.seen {
            return None;
        }
        let Moves { from, next, .. } = moves;
        let order = self.log.order(from.len());
        let is_break = |pair: &[usize]| {
            let [before, t] = [pair[0], pair[1]];
            next[before] == END
                || self.log.has_marks() && self.log.is_end(before)
                || self.log.episode.as_ref().is_some_and(|codes| codes[before] != codes[t])
                || self.own.is_none() && next[before] != from[t]
        };
        let breaks = order.windows(2).enumerate().filter(|(_, pair)| is_break(pair));
        let inside: Vec<usize> = breaks.map(|(k, _)| k + 1).collect();
        let mut starts = vec![0];
        starts.extend(inside);
        starts.push(order.len());
        Some(Episodes { order, starts })
    }
}
