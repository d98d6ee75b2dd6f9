//! Why a run ended, with a sentence of advice; and how a run that blows up is recognised.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The measure of optimality fell below the tolerance.
    Solved,
    /// The objective fell to the target.
    TargetReached,
    /// The outer iterations were used up.
    MaxOuter,
    /// The oracle calls were used up.
    MaxCalls,
    /// The seconds were used up.
    MaxSeconds,
    /// The iterates blew up.
    Diverged,
    /// There is no minimum: the objective falls without end.
    Unbounded,
    /// No method that suits makes any more progress.
    Stalled,
    /// The objective is not a number at the start.
    StartNotFinite,
    /// The user said stop.
    Interrupted,
    /// An observer said stop, or whoever advances the run.
    Stopped,
    /// A pass over the data failed, or the start does not fit the problem;
    /// [`Solution::failure`](crate::Solution::failure) says why.
    Failed,
}

impl Status {
    /// Whether the run reached what was asked for.
    pub fn is_solved(self) -> bool {
        matches!(self, Status::Solved | Status::TargetReached)
    }

    /// The status in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::TargetReached => "target reached",
            Status::MaxOuter => "stopped at the limit of outer iterations",
            Status::MaxCalls => "stopped at the limit of oracle calls",
            Status::MaxSeconds => "stopped at the time limit",
            Status::Diverged => "diverged",
            Status::Unbounded => "no minimum: the objective falls without end",
            Status::Stalled => "stopped where no more progress was made",
            Status::StartNotFinite => "not begun",
            Status::Interrupted => "interrupted",
            Status::Stopped => "stopped",
            Status::Failed => "failed",
        }
    }

    /// What to make of it.
    pub fn advice(self) -> &'static str {
        match self {
            Status::Solved => "Lower the tolerance for more digits.",
            Status::TargetReached => "Lower the target for a better point.",
            Status::MaxOuter => {
                "This is the best point so far: allow more outer iterations, or try larger steps \
                 if the objective is still falling slowly."
            }
            Status::MaxCalls => {
                "This is the best point so far: allow more oracle calls, or accept a larger \
                 tolerance."
            }
            Status::MaxSeconds => {
                "This is the best point so far: allow more time, or accept a larger tolerance."
            }
            Status::Diverged => {
                "This is the best point before the iterates blew up: divide the steps by 10 or, if \
                 that does not help, check that the problem is bounded below (a constraint or a \
                 ridge makes it so)."
            }
            Status::Unbounded => {
                "Along some direction nothing stops theta: a constraint or a ridge makes a minimum."
            }
            Status::Stalled => {
                "This is the best point so far. The remaining error may be rounding: accept a \
                 larger tolerance; or there is no minimum, and a constraint or a ridge makes one."
            }
            Status::StartNotFinite => {
                "The objective is not finite at the start: look for a NaN or an infinity in the \
                 data or the start, and for an inner average over no samples."
            }
            Status::Interrupted | Status::Stopped => {
                "This is the best point so far: run again to continue from it."
            }
            Status::Failed => {
                "This is the best point before that: mend what failed, and run again to continue \
                 from it."
            }
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// Recognises a run that blows up while its numbers are still finite.
///
/// The iterates of a healthy primal-dual run oscillate, and a bad start may be followed by a worse
/// point, so that a mere increase means nothing. Two signs do: an objective beyond any proportion,
/// or one that keeps growing by orders of magnitude.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Divergence {
    evaluations: usize,
    best: f64,
    /// The largest magnitude among the first points: what is in proportion.
    normal: f64,
    /// The last excesses over the best objective, the newest last.
    excess: [f64; 4],
}

impl Default for Divergence {
    fn default() -> Self {
        Divergence { evaluations: 0, best: f64::INFINITY, normal: 0.0, excess: [0.0; 4] }
    }
}

impl Divergence {
    /// This many first points say what is normal: the start may be all zeros.
    const FIRST: usize = 3;
    /// Beyond any proportion.
    const ABSURD: f64 = 1e12;
    /// Growth over three increases in a row.
    const GROWTH: f64 = 1e3;

    /// Takes note of an evaluation; true when the run blows up. `magnitude` is `|F| + |g|`.
    pub(crate) fn seen(&mut self, objective: f64, magnitude: f64) -> bool {
        self.evaluations += 1;
        if self.evaluations <= Self::FIRST {
            self.normal = self.normal.max(magnitude);
        }
        self.best = self.best.min(objective);
        self.excess.rotate_left(1);
        self.excess[3] = objective - self.best;
        let rising = self.excess.windows(2).all(|pair| pair[0] > 0.0 && pair[1] > pair[0]);
        let growing = rising && self.excess[3] > Self::GROWTH * self.excess[0];
        let out_of_proportion = self.excess[3] > self.normal.max(self.best.abs());
        // Also when it falls: then the problem is not bounded below.
        (growing && out_of_proportion)
            || (self.normal > 0.0 && magnitude > Self::ABSURD * self.normal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_alarm(objectives: impl IntoIterator<Item = f64>) -> Option<usize> {
        let mut divergence = Divergence::default();
        objectives.into_iter().position(|p| divergence.seen(p, p.abs()))
    }

    #[test]
    fn healthy_runs_raise_no_alarm() {
        assert_eq!(first_alarm((0..200).map(|t| 100.0 * 0.9_f64.powi(t))), None);
        // From an excellent start into a bad region and back.
        assert_eq!(first_alarm([-0.5, 800.0, 400.0, 900.0, 100.0, 3.0, -0.4, -0.6]), None);
        // Oscillating around the optimum.
        assert_eq!(first_alarm((0..100).map(|t| -1.0 + f64::from(t % 5) * 1e-9)), None);
        // Rounding may grow by orders of magnitude.
        assert_eq!(
            first_alarm([0.0, -1.0, -2.0, -2.0 + 1e-15, -2.0 + 1e-14, -2.0 + 1e-13, -2.0 + 1e-11]),
            None
        );
        // From zero, where everything is zero.
        assert_eq!(first_alarm([0.0, -3.0, -4.0, -4.2, -4.1, -4.3]), None);
    }

    #[test]
    fn a_blow_up_is_seen_long_before_infinity() {
        let grows = |factor: f64| first_alarm((0..300).map(move |t| 2.0 * factor.powi(t)));
        assert!(grows(12.0).is_some_and(|t| t <= 6));
        assert!(grows(1e6).is_some_and(|t| t <= 4));
        // Falling without bound, as with a linear objective and no constraint.
        assert!(first_alarm((0..100).map(|t| -(2.0_f64.powi(t)))).is_some_and(|t| t < 60));
    }
}
