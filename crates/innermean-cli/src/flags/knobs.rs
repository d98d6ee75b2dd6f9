//! The settings of methods as flags; who gives none gets what the method's rule finds.

use clap::{Args, ValueEnum};
use innermean::choice::{Leak, Mirror};
use innermean::{Choice, Reference, StepRule};

use crate::flags::number;

/// What can be set of a method; `innermean methods NAME` says which of them it has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings of a method (none is needed)")]
pub(crate) struct KnobFlags {
    /// The rule that finds steps and M of SVRPDA-I and II; a value given by hand goes before the
    /// rule's, and makes automatic ones scaled [default: automatic]
    #[arg(long, value_name = "RULE", value_enum)]
    pub(crate) steps: Option<Steps>,

    /// The primal step [default: by the rule]
    #[arg(long, value_name = "STEP", value_parser = number::positive, allow_hyphen_values = true)]
    pub(crate) alpha_theta: Option<f64>,

    /// The dual step [default: by the rule]
    #[arg(long, value_name = "STEP", value_parser = number::positive, allow_hyphen_values = true)]
    pub(crate) alpha_w: Option<f64>,

    /// M, the inner steps of an outer iteration [default: by the rule]
    #[arg(long, value_name = "M", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) inner_iterations: Option<usize>,

    /// The inner iterate that becomes the next reference point [default: by the rule]
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(crate) reference: Option<ReferenceChoice>,

    /// Outer iterations of plain stochastic steps before the first pass over the data
    #[arg(long, value_name = "N", value_parser = number::size, allow_hyphen_values = true)]
    pub(crate) warmup_epochs: Option<usize>,

    /// Inner samples that a step draws for an average; in SPDC, duals that a step changes
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) batch: Option<usize>,

    /// Inner samples that a step draws for a mean Jacobian
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) jacobian_batch: Option<usize>,

    /// Outer terms that a step draws
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) outer_batch: Option<usize>,

    /// The weight of what is new in a running average
    #[arg(long, value_name = "WEIGHT", value_parser = number::positive, allow_hyphen_values = true)]
    pub(crate) averaging: Option<f64>,

    /// How far a step looks ahead: the factor of the last change
    #[arg(long, value_name = "FACTOR", value_parser = number::non_negative, allow_hyphen_values = true)]
    pub(crate) extrapolation: Option<f64>,

    /// Pairs of differences that L-BFGS keeps
    #[arg(long, value_name = "N", value_parser = number::positive_size, allow_hyphen_values = true)]
    pub(crate) memory: Option<usize>,

    /// Stages of prox-linear, of two outer iterations each, in which a part of the samples is
    /// looked at: a quarter before all, a sixteenth before that
    #[arg(long, value_name = "N", value_parser = number::size, allow_hyphen_values = true)]
    pub(crate) growing: Option<usize>,

    /// Corrections of each model of prox-linear, by an eighth of the samples
    #[arg(long, value_name = "N", value_parser = number::size, allow_hyphen_values = true)]
    pub(crate) correction: Option<usize>,

    /// The distance in which the dual step of ALEXR, SVRPDA-I or II is measured
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(crate) mirror: Option<MirrorChoice>,

    /// The part of its errors that U of SVRPDA-II forgets with each step: automatic, off or a
    /// number below 1 [default: automatic where steps are]
    #[arg(long, value_name = "PART", value_parser = leak, allow_hyphen_values = true)]
    pub(crate) leak: Option<Leak>,

    /// Outer iterations that Anderson's acceleration of SVRPDA-I and II remembers; 0 for none
    #[arg(long, value_name = "N", value_parser = number::size, allow_hyphen_values = true)]
    pub(crate) anderson: Option<usize>,
}

/// [`Leak`] as a flag.
fn leak(text: &str) -> Result<Leak, String> {
    match text {
        "automatic" => Ok(Leak::Automatic),
        "off" => Ok(Leak::Off),
        _ => match text.parse() {
            Ok(p) if p > 0.0 && p < 1.0 => Ok(Leak::Part(p)),
            _ => Err("expected automatic, off or a number above 0 and below 1".to_owned()),
        },
    }
}

impl KnobFlags {
    /// What was said about the method.
    pub(crate) fn choice(&self) -> Choice {
        Choice {
            rule: self.steps.map(StepRule::from),
            alpha_theta: self.alpha_theta,
            alpha_w: self.alpha_w,
            inner_iterations: self.inner_iterations,
            reference: self.reference.map(Reference::from),
            warmup_epochs: self.warmup_epochs,
            batch: self.batch,
            jacobian_batch: self.jacobian_batch,
            outer_batch: self.outer_batch,
            averaging: self.averaging,
            extrapolation: self.extrapolation,
            memory: self.memory,
            growing: self.growing,
            correction: self.correction,
            mirror: self.mirror.map(Mirror::from),
            leak: self.leak,
            anderson: self.anderson,
            ..Choice::default()
        }
    }
}

/// [`StepRule`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Steps {
    /// Found anew at each pass over the data; the default
    Automatic,
    /// From the scale of the problem, once
    Scaled,
    /// Theorem 1 of Devraj and Chen (Option I); needs --l2
    Theorem1,
    /// Theorem 2 (Option II); needs --l2
    Theorem2,
    /// Theorem 3; for problems with one inner sample for each outer term
    Theorem3,
}

impl From<Steps> for StepRule {
    fn from(steps: Steps) -> Self {
        match steps {
            Steps::Automatic => StepRule::Automatic,
            Steps::Scaled => StepRule::Scaled,
            Steps::Theorem1 => StepRule::Theorem1,
            Steps::Theorem2 => StepRule::Theorem2,
            Steps::Theorem3 => StepRule::Theorem3,
        }
    }
}

/// [`Reference`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReferenceChoice {
    /// Option I: the last one
    Last,
    /// Option II: one drawn at random
    Random,
    /// The average of all, with averaged duals: for risks with a kink, where it is the default
    Average,
}

impl From<ReferenceChoice> for Reference {
    fn from(choice: ReferenceChoice) -> Self {
        match choice {
            ReferenceChoice::Last => Reference::Last,
            ReferenceChoice::Random => Reference::Random,
            ReferenceChoice::Average => Reference::Average,
        }
    }
}

/// [`Mirror`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MirrorChoice {
    /// The square of the distance
    Euclidean,
    /// The Bregman distance of the conjugate, which needs no prox
    Conjugate,
}

impl From<MirrorChoice> for Mirror {
    fn from(choice: MirrorChoice) -> Self {
        match choice {
            MirrorChoice::Euclidean => Mirror::Euclidean,
            MirrorChoice::Conjugate => Mirror::Conjugate,
        }
    }
}
