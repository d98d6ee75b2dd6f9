//! The safeguard of steps that were not given: whatever a rule makes of a problem's constants, no
//! run diverges and none is left with steps that are far too small.
//!
//! It watches the objective: at each snapshot, where it comes with the averages, and in methods
//! without snapshots now and then, for what a look costs. A method takes part by
//! [`Method::guarded`](super::Method::guarded), which says which of its numbers are steps; the
//! engine of a run asks and obeys.
//!
//! - A blow-up, or a lasting increase: back to the best point so far, with smaller steps.
//! - Otherwise larger and smaller steps, and longer and shorter loops, are tried one at a time and
//!   kept where the gap falls faster for each oracle call. Of a gap that falls by a constant
//!   factor, so do its differences: how fast it falls shows in the objective alone, without knowing
//!   its least value.
//! - Where noise stays, and a method's steps fall by their own law, only the factor in front
//!   changes: it grows while every look finds a new best, and no longer.
//!
//! All of it depends on the run alone: with its state in a file, a run goes on bit for bit.

use serde::{Deserialize, Serialize};

use crate::linalg::elementary::Elementary;

mod tempo;

pub use self::tempo::{Guarded, Noise, Tempo};

/// What a look has found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// `P(theta)`
    pub(crate) objective: f64,
    /// `|F| + |g|`
    pub(crate) magnitude: f64,
}

impl Seen {
    /// At a point that is not finite.
    pub(crate) const NOT_FINITE: Seen = Seen { objective: f64::INFINITY, magnitude: 0.0 };
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The run goes on, at another tempo perhaps.
    GoOn,
    /// The run goes back to the best point.
    GoBack,
}

/// A change of tempo on trial: what it was before, and how fast the gap fell.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Trial {
    before: Tempo,
    rate: f64,
    /// The calls that it took to see that.
    calls: u64,
}

/// What has been seen of a run, and the tempo that follows from it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Safeguard {
    noise: Noise,
    tempo: Tempo,
    /// The first objective and, from the first looks, the size of what is normal.
    first: f64,
    normal: f64,
    /// The best point and its objective.
    best: f64,
    theta: Vec<f64>,
    /// Looks so far, and the calls at the last of them.
    looks: u64,
    looked: u64,
    /// Looks in a row that found a new best, or none.
    below: u32,
    above: u32,
    last: f64,
    /// (calls, best objective) of the looks since the tempo was changed.
    since: Vec<(u64, f64)>,
    trial: Option<Trial>,
    /// Steps that have failed, and larger ones with them; with time less surely so.
    failed: f64,
    /// Which change is tried next, in how many looks, and how many follow a trial that fails.
    next: usize,
    rest: u32,
    patience: u32,
}

/// This many times what a look costs are spent between two looks.
const EVERY: u64 = 8;
/// The first comes earlier.
const FIRST_LOOK: u64 = 3;
/// Where looks are free, this many gradients' worth of calls, or nearly: shorter loops say more
/// about their noise than about their progress.
const GRADIENTS_PER_LOOK: f64 = 2.5;
/// An excess over the best objective that is a blow-up, in what is normal.
const BLOW_UP: f64 = 100.0;
/// This many first looks say what is normal: the start may be all zeros.
const FIRST_LOOKS: u64 = 3;
/// The factor on steps after a blow-up, and after a lasting increase.
const BLOWN_UP: f64 = 0.25;
const INCREASED: f64 = 0.5;
/// Looks in a row above the best that make an increase lasting, while it grows and in any case.
const LOOKS_WHILE_GROWING: u32 = 2;
const LOOKS_IN_ANY_CASE: u32 = 6;
/// Where noise stays, an increase is one beyond this part of what has been gained.
const INCREASE_OF_GAIN: f64 = 0.5;
/// An objective moves by so much of its parts from rounding alone.
const ROUNDING: f64 = 1e-12;
/// Differences of objectives that are larger by so much tell a rate.
const TELLS_A_RATE: f64 = 100.0;
/// Looks that tell a rate, if its fall is as smooth as that: no look gains more than this many
/// times what the one before it did.
const WINDOW: usize = 5;
const SMOOTH: f64 = 1.1;
/// Otherwise it takes as many as show the gap to fall by that in half of them: what noise does to a
/// smaller fall would be taken for progress.
const VISIBLE_FALL: f64 = 1.5;
/// Of more looks every other one is forgotten.
const MOST_LOOKS_KEPT: usize = 64;
/// A trial takes at most this many times the calls that told the rate before it.
const LONGEST: u64 = 2;
/// A trial is kept if the gap falls so much faster.
const GAIN_OF_TRIAL: f64 = 1.0;
/// The factors of steps and of M that are tried, in turn.
const CHANGES: [(f64, f64); 4] = [(2.0, 1.0), (1.0, 2.0), (0.5, 1.0), (1.0, 0.5)];
/// How far a tempo may go.
const MOST_STEPS: f64 = 256.0;
const MOST_EPOCH: f64 = 16.0;
/// Looks without a trial after one that fails: at first, and at most.
const LOOKS_AFTER_FAILURE: u32 = 2;
const LONGEST_REST: u32 = 64;
/// What smaller steps regain with a new best, up to which part of steps that have failed, and how
/// fast that is forgotten.
const REGAIN: f64 = 1.2;
const BELOW: f64 = 0.7;
const FORGETS: f64 = 1.02;
/// Where noise stays: new bests in a row after which the factor grows, by how much, and how many
/// looks without one after which it falls again.
const BESTS_IN_A_ROW: u32 = 3;
const GROWTH: f64 = 1.3;
const LOOKS_WITHOUT_BEST: u32 = 4;

impl Safeguard {
    pub(crate) fn new(noise: Noise) -> Self {
        Safeguard {
            noise,
            tempo: Tempo::RULE,
            first: f64::INFINITY,
            normal: 0.0,
            best: f64::INFINITY,
            theta: Vec::new(),
            looks: 0,
            looked: 0,
            below: 0,
            above: 0,
            last: f64::INFINITY,
            since: Vec::new(),
            trial: None,
            failed: f64::INFINITY,
            next: 0,
            rest: 0,
            patience: LOOKS_AFTER_FAILURE,
        }
    }

    pub(crate) fn tempo(&self) -> Tempo {
        self.tempo
    }

    /// Whether this is a guard of a run in d coordinates that has made this many calls: the best
    /// point, from the first look on, the next change, and calls that rise.
    pub(crate) fn is_of(&self, d: usize, calls: u64) -> bool {
        let looks = self.since.iter().map(|(calls, _)| *calls).chain([self.looked, calls]);
        let point = if self.looks == 0 { 0 } else { d };
        self.best().len() == point && self.next < CHANGES.len() && looks.is_sorted()
    }

    /// The best point.
    pub(crate) fn best(&self) -> &[f64] {
        &self.theta
    }

    /// Whether it is time for a look that is free, where a gradient costs this many calls.
    pub(crate) fn is_welcome(&self, calls: u64, gradient: u64) -> bool {
        self.looks == 0 || (calls - self.looked) as f64 >= GRADIENTS_PER_LOOK * gradient as f64
    }

    /// Whether it is time for a look that costs this many calls.
    pub(crate) fn is_due(&self, calls: u64, cost: u64) -> bool {
        let wait = match self.looks {
            0 => 0,
            1 => FIRST_LOOK,
            _ => EVERY,
        };
        calls >= self.looked + wait * cost
    }

    /// Takes note of what was seen at theta after this many calls.
    pub(crate) fn judge(&mut self, seen: Seen, theta: &[f64], calls: u64) -> Verdict {
        let Seen { objective, magnitude } = seen;
        self.looked = calls;
        self.looks += 1;
        if self.looks <= FIRST_LOOKS {
            self.normal = self.normal.max(magnitude);
        }
        if self.looks == 1 {
            // One that is not finite ends the run.
            self.first = objective;
            self.take(objective, theta, calls);
            return Verdict::GoOn;
        }
        let gained = self.first - self.best;
        let excess = objective - self.best;
        let is_far = self.looks > FIRST_LOOKS && excess > BLOW_UP * self.normal.max(gained);
        if !objective.is_finite() || is_far {
            return self.go_back(BLOWN_UP, calls);
        }
        let last = std::mem::replace(&mut self.last, objective);
        if excess.abs() <= ROUNDING * magnitude {
            self.note(calls);
            if self.trial.is_some() {
                self.climb(ROUNDING * TELLS_A_RATE * magnitude);
            }
            return Verdict::GoOn;
        }
        if excess < 0.0 {
            self.take(objective, theta, calls);
            self.regain();
        } else {
            (self.below, self.above) = (0, self.above + 1);
            self.note(calls);
            if self.is_lasting(excess > INCREASE_OF_GAIN * gained, objective > last) {
                return self.go_back(INCREASED, calls);
            }
        }
        match self.noise {
            Noise::Vanishes => self.climb(ROUNDING * TELLS_A_RATE * magnitude),
            Noise::Stays => self.grow(),
            Noise::Circles => {}
        }
        Verdict::GoOn
    }

    fn take(&mut self, objective: f64, theta: &[f64], calls: u64) {
        (self.below, self.above) = (self.below + 1, 0);
        (self.best, self.last) = (objective, objective);
        self.theta.clear();
        self.theta.extend_from_slice(theta);
        self.note(calls);
    }

    fn note(&mut self, calls: u64) {
        if self.since.len() == MOST_LOOKS_KEPT {
            let mut k = 0;
            self.since.retain(|_| {
                k += 1;
                k % 2 == 1
            });
        }
        self.since.push((calls, self.best));
    }

    /// Whether the looks above the best say that the run goes up.
    fn is_lasting(&self, large: bool, growing: bool) -> bool {
        match self.noise {
            Noise::Vanishes => {
                (self.above >= LOOKS_WHILE_GROWING && growing) || self.above >= LOOKS_IN_ANY_CASE
            }
            Noise::Stays | Noise::Circles => self.above >= LOOKS_WHILE_GROWING && large,
        }
    }

    /// Smaller steps from the best point or, if others were on trial, those of before.
    fn go_back(&mut self, left: f64, calls: u64) -> Verdict {
        let returns = self.tempo.returns + 1;
        if self.trial.is_some() {
            self.end_trial();
        } else {
            self.failed = self.tempo.steps;
            self.tempo.steps *= left;
        }
        self.tempo.returns = returns;
        (self.below, self.above) = (0, 0);
        self.last = self.best;
        self.since.clear();
        self.since.push((calls, self.best));
        Verdict::GoBack
    }

    /// After a look that has found a new best: steps that had become smaller than the rule's grow
    /// again, as far as none have failed.
    fn regain(&mut self) {
        self.failed *= FORGETS;
        let most = (BELOW * self.failed).min(1.0);
        if self.noise == Noise::Vanishes && self.trial.is_none() && self.tempo.steps < most {
            self.tempo.steps = (REGAIN * self.tempo.steps).min(most);
            // What the gap did at smaller steps tells nothing.
            self.begin_window();
        }
    }

    /// Ends a trial in vain.
    fn end_trial(&mut self) {
        let Some(trial) = self.trial.take() else { return };
        self.tempo = Tempo { returns: self.tempo.returns, ..trial.before };
        self.next = (self.next + 1) % CHANGES.len();
        self.rest = self.patience;
        self.patience = (2 * self.patience).min(LONGEST_REST);
    }

    /// Where the last looks tell how fast the gap falls: ends a trial, or begins one.
    fn climb(&mut self, telling: f64) {
        let (Some(first), Some(last)) = (self.since.first(), self.since.last()) else { return };
        let calls = last.0 - first.0;
        let rate = rate(&self.since, telling);
        if let Some(trial) = self.trial {
            match rate {
                Some(rate) if rate > GAIN_OF_TRIAL * trial.rate => {
                    self.trial = None;
                    self.patience = LOOKS_AFTER_FAILURE;
                }
                None if calls <= LONGEST * trial.calls => return,
                _ => {
                    self.end_trial();
                    return self.begin_window();
                }
            }
        }
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        let Some(rate) = rate else { return };
        self.trial = Some(Trial { before: self.tempo, rate, calls });
        let (steps, epoch) = CHANGES[self.next];
        self.tempo.steps = (steps * self.tempo.steps).min(MOST_STEPS);
        self.tempo.epoch = (epoch * self.tempo.epoch).clamp(1.0 / MOST_EPOCH, MOST_EPOCH);
        self.begin_window();
    }

    /// From here on another tempo is seen.
    fn begin_window(&mut self) {
        self.since.drain(..self.since.len() - 1);
    }

    /// Where noise stays: a larger factor while every look finds a new best.
    fn grow(&mut self) {
        if self.below >= BESTS_IN_A_ROW {
            self.below = 0;
            self.tempo.steps = (GROWTH * self.tempo.steps).min(MOST_STEPS);
        } else if self.above >= LOOKS_WITHOUT_BEST && self.tempo.steps > 1.0 {
            self.above = 0;
            self.tempo.steps = (self.tempo.steps / GROWTH).max(1.0);
        }
        self.since.clear();
    }
}

/// By how much the logarithm of the gap falls for each call: with gaps like `q^t`, differences of
/// the objective over equal times are like `q^t` too. None if that cannot be told from noise.
fn rate(looks: &[(u64, f64)], telling: f64) -> Option<f64> {
    if looks.len() < WINDOW {
        return None;
    }
    let (first, last) = (looks[0], looks[looks.len() - 1]);
    let middle = looks[looks.partition_point(|look| 2 * look.0 < first.0 + last.0)];
    let (early, late) = (first.1 - middle.1, middle.1 - last.1);
    let gains = || looks.windows(2).map(|pair| pair[0].1 - pair[1].1);
    let smooth =
        gains().zip(gains().skip(1)).all(|(before, after)| after > 0.0 && after <= SMOOTH * before);
    let calls = (last.0 - first.0) as f64 / 2.0;
    let tells = late > telling && calls > 0.0 && (smooth || early >= VISIBLE_FALL * late);
    tells.then(|| (early / late).natural_log() / calls)
}

#[cfg(test)]
mod tests;
