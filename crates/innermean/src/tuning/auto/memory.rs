//! Attempts in a checkpoint: which method's turn it is, what those before it have found, and the
//! run that is under way.

use serde::{Deserialize, Serialize};

use super::watch::Progress;
use super::{Attempt, Candidate, GaveUp, Plan};
use crate::methods;
use crate::run::Solution;
use crate::run::checkpoint::shape::Shape;
use crate::run::checkpoint::{Checkpoint, CheckpointError, FOREIGN, Hash, Header, shown, to_bytes};

/// In the place of a method in checkpoints of several.
const AUTO: &str = "auto";

/// The attempts so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Attempting {
    /// The method's name, and why.
    candidate: (String, String),
    rest: Vec<(String, String)>,
    fallbacks: Vec<((String, String), GaveUp)>,
    #[serde(with = "crate::run::checkpoint::shape::free")]
    seed: u64,
    /// How often one method has handed over to the next.
    pub(super) handed_over: u64,
    /// Where the first began.
    pub(super) theta: Vec<f64>,
    /// Where this one began.
    pub(super) from: Vec<f64>,
    /// What those before it came to.
    pub(super) so_far: Option<Solution>,
    /// Seconds that they took.
    pub(super) wall: f64,
    pub(super) progress: Progress,
    /// Digits (to the base e) that L-BFGS has gained with each pass before it was left for Newton's
    /// method.
    pub(super) rate: Option<f64>,
}

impl Attempting {
    /// The first attempt, from theta.
    pub(super) fn first(plan: &Plan, theta: &[f64]) -> Self {
        let mut first = Attempting {
            candidate: (String::new(), String::new()),
            rest: Vec::new(),
            fallbacks: Vec::new(),
            seed: plan.seed,
            handed_over: 0,
            theta: theta.to_vec(),
            from: theta.to_vec(),
            so_far: None,
            wall: 0.0,
            progress: Progress::after(None),
            rate: None,
        };
        first.take(plan);
        first
    }

    /// Whether a method of that name comes later.
    pub(super) fn is_followed_by(&self, name: &str) -> bool {
        self.rest.iter().any(|(method, _)| method == name)
    }

    /// Notes what is planned.
    pub(super) fn take(&mut self, plan: &Plan) {
        let text = |candidate: &Candidate| (candidate.method.to_owned(), candidate.reason.clone());
        self.candidate = text(&plan.candidate);
        self.rest = plan.rest.iter().map(text).collect();
        self.fallbacks = plan.fallbacks.iter().map(|a| (text(&a.candidate), a.gave_up)).collect();
    }

    /// The same run, told of as one of several attempts.
    pub(super) fn around(&self, progress: Progress, run: &Checkpoint) -> Checkpoint {
        let memory = (Attempting { progress, ..self.clone() }, &run.header);
        let header = Header {
            method: AUTO.to_owned(),
            settings: self.settings(),
            problem: run.header.problem,
            start: self.theta.clone(),
            wall: self.wall + run.header.wall,
        };
        let mut checkpoint = Checkpoint::new(header, &memory);
        checkpoint.body.extend_from_slice(&run.body);
        checkpoint
    }

    /// What [`Self::around`] was given.
    pub(super) fn within(checkpoint: &Checkpoint) -> Result<(Self, Checkpoint), CheckpointError> {
        if checkpoint.method() != AUTO {
            let found = shown(checkpoint.method());
            return Err(CheckpointError::Method { found, here: AUTO.to_owned() });
        }
        let ((attempting, header), body) = checkpoint.memory_and_rest::<(Attempting, Header)>()?;
        let run = Checkpoint::of_parts(header, body.to_vec());
        Ok((attempting, run))
    }

    /// Looks whether all points have d coordinates.
    pub(super) fn check_sizes(&self, d: usize) -> Result<(), CheckpointError> {
        let before = self.so_far.as_ref();
        let endless = before.and_then(|found| found.endless.as_ref());
        let points = [&self.theta, &self.from]
            .into_iter()
            .chain(before.map(|found| &found.theta))
            .chain(endless);
        // Counts of this run are added to those before it.
        let counts = Shape::of(self).is_some();
        if counts && points.into_iter().all(|point| point.len() == d) {
            Ok(())
        } else {
            Err(FOREIGN)
        }
    }

    /// A hash of what the user has said.
    fn settings(&self) -> u128 {
        let mut hash = Hash::default();
        hash.bytes(&to_bytes(&self.seed));
        hash.numbers(&self.theta);
        hash.finish()
    }

    /// The plan with this one's candidates: which these are depends on the memory that was free
    /// when they were found.
    pub(super) fn plan(&self, plan: Plan) -> Result<Plan, CheckpointError> {
        if plan.seed != self.seed {
            return Err(CheckpointError::Settings("seed"));
        }
        let candidate = |(name, reason): &(String, String)| match methods::info(name) {
            Ok(row) => Ok(Candidate { method: row.name, reason: reason.clone() }),
            Err(_) => Err(CheckpointError::Damaged("it names a method that there is not")),
        };
        Ok(Plan {
            candidate: candidate(&self.candidate)?,
            rest: self.rest.iter().map(candidate).collect::<Result<_, _>>()?,
            fallbacks: self
                .fallbacks
                .iter()
                .map(|(name, gave_up)| {
                    Ok(Attempt { candidate: candidate(name)?, gave_up: *gave_up })
                })
                .collect::<Result<_, _>>()?,
            ..plan
        })
    }
}
