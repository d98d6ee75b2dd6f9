//! Who reaches the gap, with which setting, and how fast.
//!
//! Each peer is given the loosest of its settings that reaches the gap, found by halving; ours is
//! asked for that gap. Then all who are not hopelessly slow run in turns, and medians are compared.
//! The gap is that of the plain formula against the best objective that anyone found.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use innermean::Measure;
use serde::Serialize;
use serde_json::Value;

use super::cases::{Case, Run, Task};
use super::peer::{Peer, Python, Reply, Server};
use crate::timing::median;

/// How thoroughly.
#[derive(Debug, Clone)]
pub struct Effort {
    /// Runs of each that are counted.
    pub rounds: usize,
    /// Seconds after which an attempt is stopped, however fast the others are.
    pub patience: f64,
    /// An attempt slower than the fastest by this factor is stopped,
    pub hopeless: f64,
    /// after at least this many seconds.
    pub least_limit: f64,
}

impl Effort {
    /// Of a run that is kept.
    pub const WHOLE: Effort =
        Effort { rounds: 7, patience: 120.0, hopeless: 20.0, least_limit: 15.0 };
    /// Of one that is to be over soon: who takes part in the counted rounds is found out, and how
    /// far behind the others are is not.
    pub const SHORT: Effort =
        Effort { rounds: 3, patience: 20.0, hopeless: WORTH_REPEATING, least_limit: 1.5 };
}

/// One who takes part.
#[derive(Debug, Clone, Serialize)]
pub struct Entrant {
    /// What it is called.
    pub name: String,
    /// With which setting it reached the gap.
    pub setting: Value,
    /// The median of its seconds.
    pub seconds: Option<f64>,
    /// The least of its seconds.
    pub least_seconds: Option<f64>,
    /// The median of what all its threads computed, in seconds: on a busy machine it says more than
    /// the clock on the wall.
    pub cpu_seconds: Option<f64>,
    /// How many runs that is the median of.
    pub runs: usize,
    /// The relative gap that it reached.
    pub gap: Option<f64>,
    /// Of ours: method, passes, certificate.
    pub ours: Option<Run>,
    /// Why there is no time.
    pub note: String,
    /// After how many seconds it was stopped on the way to the gap.
    pub stopped_after: Option<f64>,
}

/// How it ended.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The sizes, in words.
    pub sizes: String,
    /// The relative gap to be reached.
    pub gap: f64,
    /// The best objectives that anyone found.
    pub reference: Vec<f64>,
    /// How far the references of ours and of a peer are apart, relative.
    pub spread: f64,
    /// Ours first.
    pub entrants: Vec<Entrant>,
}

/// In the counted rounds those take part who are at most so much slower than the fastest.
const WORTH_REPEATING: f64 = 4.0;
/// Who takes less than this many seconds is tried again before it is judged hopeless.
const WARM_BELOW: f64 = 1.0;
/// A contestant that was stopped so often is given up.
const MOST_STOPS: usize = 2;
/// Between turns: threads of the last one go to sleep.
const PAUSE: Duration = Duration::from_millis(40);

/// Compares `methods` of ours with the peers; the first method is the one that others are measured
/// against, the last gives the reference.
///
/// # Errors
/// If the peers cannot be asked at all.
pub fn compete(
    case: &dyn Case,
    methods: &[&'static str],
    gap: f64,
    python: &Python,
    folder: &Path,
    effort: &Effort,
) -> Result<Outcome> {
    std::fs::create_dir_all(folder)?;
    let about = case.export(folder)?;
    std::fs::write(folder.join("case.json"), about.to_string())?;
    let mut server = Server::new(python, case.family(), folder);
    let (peers, best_peer) = server.peers()?;
    let mut judge = Judge { case, reference: Vec::new() };

    // Both sides as precisely as they can.
    let method = methods[methods.len() - 1];
    let tight = case.solve(&Task { method, tolerance: TIGHTEST, max_seconds: effort.patience });
    let own = case.objectives(&tight.theta);
    judge.note(&own);
    let theirs = match server.solve(&best_peer.0, &best_peer.1, 4.0 * effort.patience)? {
        Reply::Solved(solved) => case.objectives(&solved.theta),
        Reply::Failed(why) => bail!("the reference {} failed: {why}", best_peer.0),
        Reply::TooSlow => Vec::new(),
    };
    judge.note(&theirs);
    let spread = distance(&own, &theirs);

    let mut fastest = f64::INFINITY;
    let mut chosen: Vec<(Contestant, Entrant)> = Vec::new();
    let ours = methods.iter().map(|method| Contestant::Ours(method));
    for contestant in ours.chain(peers.into_iter().map(Contestant::Peer)) {
        let limit = (effort.hopeless * fastest).clamp(effort.least_limit, effort.patience);
        let proven = tight.measure != Measure::Stationarity;
        let wanted = Wanted { gap, proven, limit };
        let mut entrant = contestant.settle(&mut judge, &mut server, wanted)?;
        // Libraries start threads and fill caches on their first calls.
        for _ in 0..2 {
            if entrant.seconds.is_some_and(|seconds| seconds < WARM_BELOW)
                && let Attempt::Point { seconds, .. } =
                    contestant.attempt(case, &mut server, &entrant.setting, limit)?
            {
                entrant.seconds = entrant.seconds.map(|least| least.min(seconds));
            }
        }
        eprintln!("  {}: {}", entrant.name, entrant.progress());
        fastest = entrant.seconds.map_or(fastest, |seconds| fastest.min(seconds));
        chosen.push((contestant, entrant));
    }

    let mut times = vec![Vec::new(); chosen.len()];
    for _ in 0..effort.rounds {
        for ((contestant, entrant), times) in chosen.iter().zip(&mut times) {
            let ours = matches!(contestant, Contestant::Ours(_));
            if entrant.seconds.is_some_and(|seconds| ours || seconds <= WORTH_REPEATING * fastest) {
                thread::sleep(PAUSE);
                let limit = effort.hopeless * effort.patience;
                if let Attempt::Point { seconds, cpu, .. } =
                    contestant.attempt(case, &mut server, &entrant.setting, limit)?
                {
                    times.push((seconds, cpu));
                }
            }
        }
    }
    let mut entrants: Vec<Entrant> = Vec::new();
    for ((_, mut entrant), times) in chosen.into_iter().zip(times) {
        if !times.is_empty() {
            entrant.runs = times.len();
            let (seconds, cpu): (Vec<f64>, Vec<f64>) = times.into_iter().unzip();
            entrant.least_seconds = seconds.iter().copied().reduce(f64::min);
            (entrant.seconds, entrant.cpu_seconds) = (Some(median(seconds)), Some(median(cpu)));
        }
        entrants.push(entrant);
    }
    Ok(Outcome { sizes: case.sizes(), gap, reference: judge.reference, spread, entrants })
}

/// Of references.
const TIGHTEST: f64 = 1e-13;

impl Outcome {
    /// The entrant of that name.
    pub fn entrant(&self, name: &str) -> Option<&Entrant> {
        self.entrants.iter().find(|entrant| entrant.name == name)
    }

    /// Ours that others are measured against.
    pub fn ours(&self) -> &Entrant {
        &self.entrants[0]
    }

    /// The fastest peer; if none reached the gap, the one that was stopped first.
    pub fn fastest_peer(&self) -> Option<&Entrant> {
        let least = |of: fn(&Entrant) -> Option<f64>| {
            let peers = self
                .entrants
                .iter()
                .filter(move |entrant| entrant.ours.is_none() && of(entrant).is_some());
            peers.min_by(move |a, b| {
                of(a).unwrap_or(f64::INFINITY).total_cmp(&of(b).unwrap_or(f64::INFINITY))
            })
        };
        least(|entrant| entrant.seconds).or_else(|| least(|entrant| entrant.stopped_after))
    }
}

impl Entrant {
    fn progress(&self) -> String {
        match (self.seconds, self.gap) {
            (Some(seconds), Some(gap)) => {
                format!("{seconds:.4} s, gap {gap:.1e}, setting {}", self.setting)
            }
            _ => self.note.clone(),
        }
    }
}

/// `max over parts of (P - P*) / |P*|`
pub fn relative_gap(objectives: &[f64], reference: &[f64]) -> f64 {
    let part = |(p, best): (&f64, &f64)| (p - best) / best.abs();
    let worst = objectives.iter().zip(reference).map(part).fold(f64::NEG_INFINITY, f64::max);
    if objectives.iter().any(|p| p.is_nan()) { f64::INFINITY } else { worst }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| ((a - b) / b).abs()).fold(0.0, f64::max)
}

/// Knows the best objectives so far.
struct Judge<'c> {
    case: &'c dyn Case,
    reference: Vec<f64>,
}

impl Judge<'_> {
    fn note(&mut self, objectives: &[f64]) {
        if self.reference.is_empty() {
            self.reference = objectives.to_vec();
        }
        self.reference.iter_mut().zip(objectives).for_each(|(best, p)| *best = best.min(*p));
    }

    fn gap(&mut self, theta: &[f64]) -> f64 {
        let objectives = self.case.objectives(theta);
        self.note(&objectives);
        relative_gap(&objectives, &self.reference)
    }
}

enum Contestant {
    Ours(&'static str),
    Peer(Peer),
}

/// What an entrant is to reach.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// The relative gap.
    gap: f64,
    /// Whether ours proves gaps on this case, and does not measure something else.
    proven: bool,
    /// Seconds for an attempt.
    limit: f64,
}

/// One run.
enum Attempt {
    Point { seconds: f64, cpu: f64, theta: Vec<f64>, ours: Option<Run> },
    Failed(String),
    TooSlow,
}

impl Contestant {
    fn name(&self) -> String {
        match self {
            Contestant::Ours(method) => format!("innermean {method}"),
            Contestant::Peer(peer) => peer.name.clone(),
        }
    }

    fn attempt(
        &self,
        case: &dyn Case,
        server: &mut Server,
        setting: &Value,
        limit: f64,
    ) -> Result<Attempt> {
        match self {
            Contestant::Ours(method) => {
                let tolerance = setting.as_f64().unwrap_or(TIGHTEST);
                let run = case.solve(&Task { method, tolerance, max_seconds: limit });
                let theta = run.theta.clone();
                Ok(Attempt::Point {
                    seconds: run.seconds,
                    cpu: run.cpu_seconds,
                    theta,
                    ours: Some(run),
                })
            }
            Contestant::Peer(peer) => Ok(match server.solve(&peer.name, setting, limit)? {
                Reply::Solved(solved) => Attempt::Point {
                    seconds: solved.seconds,
                    cpu: solved.cpu_seconds,
                    theta: solved.theta,
                    ours: None,
                },
                Reply::Failed(why) => Attempt::Failed(why),
                Reply::TooSlow => Attempt::TooSlow,
            }),
        }
    }

    /// Finds the setting.
    fn settle(
        &self,
        judge: &mut Judge<'_>,
        server: &mut Server,
        wanted: Wanted,
    ) -> Result<Entrant> {
        let Wanted { gap, proven, limit } = wanted;
        let half_decades =
            |first: f64| (0..24).map(move |k| first * 10_f64.powf(-0.5 * f64::from(k)));
        let settings: Vec<Value> = match self {
            // Ours is asked to prove the gap; where it can prove none, it is treated as the peers
            // are.
            Contestant::Ours(_) if proven => half_decades(gap).map(Value::from).collect(),
            Contestant::Ours(_) => half_decades(0.1).map(Value::from).collect(),
            Contestant::Peer(peer) => peer.settings.clone(),
        };
        let (mut found, mut note, mut failure) = (None, "did not reach the gap".to_owned(), None);
        let (mut stopped, mut stopped_after) = (0, None);
        let ours = matches!(self, Contestant::Ours(_));
        let best = loosest(settings.len(), ours, |k| {
            if stopped == MOST_STOPS {
                return Probe::Enough;
            }
            match self.attempt(judge.case, server, &settings[k], limit) {
                Ok(Attempt::Point { seconds, cpu, theta, ours }) => {
                    let reached = judge.gap(&theta);
                    let enough = reached <= gap;
                    if enough {
                        found = Some((k, seconds, cpu, reached, ours));
                    }
                    Probe::from(enough)
                }
                Ok(Attempt::Failed(why)) => {
                    note = why;
                    Probe::TooLoose
                }
                Ok(Attempt::TooSlow) => {
                    note = format!("not within {limit:.0} s");
                    stopped += 1;
                    stopped_after = Some(limit);
                    Probe::Enough
                }
                Err(error) => {
                    failure = Some(error);
                    Probe::Enough
                }
            }
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let mut entrant = Entrant {
            name: self.name(),
            setting: Value::Null,
            seconds: None,
            least_seconds: None,
            cpu_seconds: None,
            runs: 1,
            gap: None,
            ours: None,
            note,
            stopped_after,
        };
        if let Some((k, seconds, cpu, reached, ours)) = found.filter(|(k, ..)| Some(*k) == best) {
            let setting = settings[k].clone();
            entrant = Entrant {
                setting,
                seconds: Some(seconds),
                least_seconds: Some(seconds),
                cpu_seconds: Some(cpu),
                gap: Some(reached),
                ours,
                note: String::new(),
                ..entrant
            };
        }
        Ok(entrant)
    }
}

/// What one setting is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probe {
    /// A tighter one is needed.
    TooLoose,
    /// A looser one may do, too; or it took too long, so that only looser ones are of interest.
    Enough,
}

impl From<bool> for Probe {
    fn from(enough: bool) -> Self {
        if enough { Probe::Enough } else { Probe::TooLoose }
    }
}

/// The first of `count` settings, from the loosest to the tightest, that is enough: one after the
/// other or by halving. None if none is.
fn loosest(count: usize, in_order: bool, mut probe: impl FnMut(usize) -> Probe) -> Option<usize> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = if in_order { low } else { low + (high - low) / 2 };
        match probe(middle) {
            Probe::TooLoose => low = middle + 1,
            Probe::Enough => high = middle,
        }
    }
    (low < count).then_some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases::portfolio::{PortfolioCase, PortfolioTask};

    #[test]
    fn the_loosest_setting_that_is_enough_is_found() {
        for count in 0..20 {
            for first in 0..=count {
                for in_order in [false, true] {
                    let found = loosest(count, in_order, |k| Probe::from(k >= first));
                    assert_eq!(found, (first < count).then_some(first), "{count} {first}");
                }
            }
        }
    }

    #[test]
    fn gaps_are_relative_and_the_worst_counts() {
        assert!((relative_gap(&[-0.9, 2.0], &[-1.0, 2.0]) - 0.1).abs() < 1e-15);
        assert!((relative_gap(&[3.0], &[2.0]) - 0.5).abs() < 1e-15);
        assert_eq!(relative_gap(&[f64::NAN], &[2.0]), f64::INFINITY);
    }

    /// Ours at 1e-10, judged by the formula, against the tightest run.
    #[test]
    fn ours_reaches_the_gap_on_a_small_case() {
        let case = PortfolioCase::generated(2, 200, 4, PortfolioTask::Free);
        let mut judge = Judge { case: &case, reference: Vec::new() };
        let solve =
            |tolerance: f64| case.solve(&Task { method: "lbfgs", tolerance, max_seconds: 10.0 });
        judge.note(&case.objectives(&solve(1e-13).theta));
        assert!(judge.gap(&solve(1e-12).theta) <= 1e-10);
        let origin = vec![0.0; 8];
        assert!((judge.gap(&origin) - 1.0).abs() < 1e-12, "P(0) = 0");
    }
}
