//! What a user may say about a method, and why it may not be had.

use serde::{Deserialize, Serialize};

use crate::methods::MethodInfo;
use crate::methods::reference::Reference;
use crate::model::inner::Lost;
use crate::model::setting::{InvalidSetting, at_least_one, non_negative, positive};
use crate::tuning::steps::{StepRule, Unmet};

/// Writes the settings as a struct of options, as an enum of their names, and the way from the one
/// to the other.
macro_rules! knobs {
    ($($(#[doc = $doc:literal])* $Knob:ident $field:ident: $type:ty,)*) => {
        /// What a user may say about a method. Whatever is left open is found by the method's rule
        /// or has its default; what a method does not have is refused by [`Choice::check`].
        #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
        pub struct Choice {
            $($(#[doc = $doc])* pub $field: Option<$type>,)*
            /// The seed of all random draws.
            pub seed: u64,
        }

        /// The name of a setting that methods may have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Knob {
            $($(#[doc = $doc])* $Knob,)*
        }

        impl Knob {
            /// Every setting.
            pub const ALL: &'static [Knob] = &[$(Knob::$Knob),*];

            /// The name in code and output; on the command line with `-` for `_`.
            pub fn name(self) -> &'static str {
                match self { $(Knob::$Knob => stringify!($field),)* }
            }
        }

        impl Choice {
            /// What has been said.
            pub fn given(&self) -> Vec<Knob> {
                let mut given = Vec::new();
                $(if self.$field.is_some() {
                    given.push(Knob::$Knob);
                })*
                given
            }

            /// This choice, with what it leaves open taken from another.
            #[must_use]
            pub fn or(self, other: Choice) -> Choice {
                Choice { $($field: self.$field.or(other.$field),)* seed: self.seed }
            }
        }
    };
}

knobs! {
    /// The rule that finds steps and M of SVRPDA-I and II.
    Rule rule: StepRule,
    /// The step on theta.
    AlphaTheta alpha_theta: f64,
    /// The step on the duals.
    AlphaW alpha_w: f64,
    /// The inner steps of an outer iteration.
    InnerIterations inner_iterations: usize,
    /// Which inner iterate becomes the next reference point.
    Reference reference: Reference,
    /// Outer iterations of plain stochastic steps before the first pass over the data.
    WarmupEpochs warmup_epochs: usize,
    /// Inner samples that a step draws for an average; in SPDC, duals that a step changes.
    Batch batch: usize,
    /// Inner samples that a step draws for a mean Jacobian.
    JacobianBatch jacobian_batch: usize,
    /// Outer terms that a step draws.
    OuterBatch outer_batch: usize,
    /// The weight of what is new in a running average, at the first step where it falls.
    Averaging averaging: f64,
    /// How far a step looks ahead: the factor of the last change.
    Extrapolation extrapolation: f64,
    /// Pairs of differences that L-BFGS keeps.
    Memory memory: usize,
    /// Stages of the prox-linear method in which a part of the samples is looked at.
    Growing growing: usize,
    /// Corrections of each model of the prox-linear method by fresh samples.
    Correction correction: usize,
    /// The distance in which the dual step of ALEXR, SVRPDA-I or II is measured.
    Mirror mirror: Mirror,
    /// How fast U of SVRPDA-II forgets its errors.
    Leak leak: Leak,
    /// Outer iterations that Anderson's acceleration of snapshots remembers; 0 for none.
    Anderson anderson: usize,
}

/// How fast U of SVRPDA-II forgets its errors: the part p of them that a step takes away.
/// Written as a word or as p itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "LeakAsWritten", into = "LeakAsWritten")]
pub enum Leak {
    /// Found with the steps, where these are not given; otherwise off.
    #[default]
    Automatic,
    /// As in the paper.
    Off,
    /// p, above 0 and below 1.
    Part(f64),
}

/// [`Leak`] in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum LeakAsWritten {
    Part(f64),
    Word(LeakWord),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LeakWord {
    Automatic,
    Off,
}

impl From<LeakAsWritten> for Leak {
    fn from(written: LeakAsWritten) -> Self {
        match written {
            LeakAsWritten::Part(p) => Leak::Part(p),
            LeakAsWritten::Word(LeakWord::Automatic) => Leak::Automatic,
            LeakAsWritten::Word(LeakWord::Off) => Leak::Off,
        }
    }
}

impl From<Leak> for LeakAsWritten {
    fn from(leak: Leak) -> Self {
        match leak {
            Leak::Part(p) => LeakAsWritten::Part(p),
            Leak::Automatic => LeakAsWritten::Word(LeakWord::Automatic),
            Leak::Off => LeakAsWritten::Word(LeakWord::Off),
        }
    }
}

/// The distance in which a dual step is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mirror {
    /// `|w - w_i|^2 / 2`: the step is a prox of `phi_i*`.
    #[default]
    Euclidean,
    /// The Bregman distance of `phi_i*`: the step is an average of values of f, and `phi_i*` is
    /// never needed.
    Conjugate,
}

impl Choice {
    /// Nothing said but the seed.
    pub fn seeded(seed: u64) -> Self {
        Choice { seed, ..Choice::default() }
    }

    /// Whether nothing is said about steps and M: then the safeguard watches over what a rule
    /// finds.
    pub(crate) fn leaves_steps(&self) -> bool {
        self.alpha_theta.is_none() && self.alpha_w.is_none() && self.inner_iterations.is_none()
    }

    /// The step on theta, as said or by the method's rule.
    pub(crate) fn alpha_theta(&self, rule: impl FnOnce() -> f64) -> Result<f64, InvalidSetting> {
        positive("alpha_theta", self.alpha_theta.unwrap_or_else(rule))
    }

    /// The step on the duals, likewise.
    pub(crate) fn alpha_w(&self, rule: f64) -> Result<f64, InvalidSetting> {
        positive("alpha_w", self.alpha_w.unwrap_or(rule))
    }

    /// M, likewise.
    pub(crate) fn inner_iterations(&self, rule: usize) -> Result<usize, InvalidSetting> {
        at_least_one("inner_iterations", self.inner_iterations.unwrap_or(rule))
    }

    /// Inner samples of a step, as said or by default.
    pub(crate) fn batch(&self, default: usize) -> Result<usize, InvalidSetting> {
        at_least_one("batch", self.batch.unwrap_or(default))
    }

    /// Inner samples for a mean Jacobian, likewise.
    pub(crate) fn jacobian_batch(&self, default: usize) -> Result<usize, InvalidSetting> {
        at_least_one("jacobian_batch", self.jacobian_batch.unwrap_or(default))
    }

    /// Outer terms of a step, likewise.
    pub(crate) fn outer_batch(&self, default: usize) -> Result<usize, InvalidSetting> {
        at_least_one("outer_batch", self.outer_batch.unwrap_or(default))
    }

    /// The weight of what is new in a running average, likewise.
    pub(crate) fn averaging(&self, default: f64) -> Result<f64, InvalidSetting> {
        let weight = self.averaging.unwrap_or(default);
        if weight > 0.0 && weight <= 1.0 {
            return Ok(weight);
        }
        let expected = "a number above 0, at most 1";
        Err(InvalidSetting::new("averaging", format!("{weight:?}"), expected))
    }

    /// How far a step looks ahead, likewise.
    pub(crate) fn extrapolation(&self, default: f64) -> Result<f64, InvalidSetting> {
        non_negative("extrapolation", self.extrapolation.unwrap_or(default))
    }

    /// # Errors
    /// If something has been said that the method does not have.
    pub fn check(&self, info: &MethodInfo) -> Result<(), ChoiceError> {
        match self.given().into_iter().find(|knob| !info.settings.contains(knob)) {
            None => Ok(()),
            Some(knob) => Err(ChoiceError::Unused {
                setting: knob.name(),
                method: info.name,
                has: names(info.settings),
            }),
        }
    }
}

fn names(settings: &[Knob]) -> String {
    if settings.is_empty() {
        return "no settings".to_owned();
    }
    settings.iter().map(|knob| knob.name()).collect::<Vec<_>>().join(", ")
}

/// Why a method cannot be had as chosen.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// A pass over the data failed where steps were looked for.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The problem does not meet a theorem's assumptions.
    #[error(transparent)]
    Unmet(#[from] Unmet),
    /// A value makes no sense.
    #[error(transparent)]
    Invalid(#[from] InvalidSetting),
    /// A setting that the method does not have.
    #[error("{method} has no setting {setting}; it has {has}")]
    Unused {
        /// What was given.
        setting: &'static str,
        /// The method.
        method: &'static str,
        /// What could have been given.
        has: String,
    },
    /// The method asks for something that the problem is not.
    #[error("{method} does not suit this problem: {missing}; these methods do: {suited}")]
    Unsuited {
        /// The method.
        method: &'static str,
        /// What is not so.
        missing: String,
        /// Those of the table that suit.
        suited: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_first_goes_before() {
        let said = Choice { alpha_theta: Some(1.0), ..Choice::seeded(3) };
        let paper = Choice { alpha_theta: Some(2.0), alpha_w: Some(4.0), ..Choice::seeded(7) };
        let both = said.or(paper);
        assert_eq!(both, Choice { alpha_w: Some(4.0), ..said });
        assert_eq!(both.given(), [Knob::AlphaTheta, Knob::AlphaW]);
    }
}
