//! A random Markov decision process, on which methods for policy evaluation are compared.

use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use innermean::problems::bellman::Bellman;
use innermean::problems::mspbe::Mspbe;
use innermean::{AnyMethod, Choice, Inner, METHODS, Merit, Problem, Regularizer, Square, Status};
use innermean_data::{Features, MdpOptions, generate_mdp};

use super::CompareFlags;
use super::contest::Named;
use crate::number;
use crate::regularizer_flags::RegularizerFlags;

/// The process and its evaluation.
#[derive(Debug, Args)]
pub(super) struct PolicyArgs {
    #[command(flatten)]
    process: ProcessFlags,

    #[command(flatten)]
    compare: CompareFlags,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Problem")]
struct ProcessFlags {
    /// S, the states
    #[arg(long, value_name = "S", default_value = "10", value_parser = number::positive_size)]
    #[arg(allow_hyphen_values = true)]
    states: usize,

    /// d, the numbers that describe a state
    #[arg(long, value_name = "D", default_value = "5", value_parser = number::positive_size)]
    #[arg(allow_hyphen_values = true)]
    features: usize,

    /// How these numbers are drawn
    #[arg(long, value_name = "KIND", value_enum, default_value_t = FeatureKind::Uniform)]
    feature_kind: FeatureKind,

    /// The weight of what comes a step later, from 0 up to but without 1
    #[arg(long, value_name = "WEIGHT", default_value = "0.9", value_parser = number::non_negative)]
    #[arg(allow_hyphen_values = true)]
    discount: f64,

    /// The seed of the process; --seed is that of the runs
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = number::seed, allow_hyphen_values = true)]
    data_seed: u64,

    /// What is minimised
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Objective::Bellman)]
    objective: Objective,

    /// T, the transitions of a walk from which --objective projected is built [default: 1000]
    #[arg(long, value_name = "T", value_parser = number::positive_size, allow_hyphen_values = true)]
    transitions: Option<usize>,

    #[command(flatten)]
    regularizer: RegularizerFlags,
}

/// What policy evaluation minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Objective {
    /// The mean squared Bellman error, from the process itself
    Bellman,
    /// The mean squared projected Bellman error (MSPBE), from a walk through the process
    Projected,
}

/// Of a walk, where nothing is said.
const TRANSITIONS: usize = 1000;
/// P and the rewards are dense: this many states take 40 GB.
const MOST_STATES: usize = 50_000;
const MOST_FEATURES: usize = 10_000;
const MOST_TRANSITIONS: usize = 100_000_000;

impl ProcessFlags {
    /// Sizes that fit into memory, and nothing that would be ignored.
    fn check(&self) -> Result<()> {
        let sizes = [
            ("states", self.states, MOST_STATES),
            ("features", self.features, MOST_FEATURES),
            ("transitions", self.transitions.unwrap_or(0), MOST_TRANSITIONS),
        ];
        if let Some((flag, given, most)) = sizes.into_iter().find(|(_, given, most)| given > most) {
            bail!("--{flag} {given}: expected at most {most}, for all of it is kept in memory");
        }
        if self.discount >= 1.0 {
            bail!("--discount {}: expected a number from 0 up to but without 1", self.discount);
        }
        if self.transitions.is_some() && self.objective != Objective::Projected {
            bail!("--transitions does nothing with --objective bellman; expected --objective projected");
        }
        Ok(())
    }
}

/// [`Features`] as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FeatureKind {
    /// Uniform in [0, 1), as in the paper
    Uniform,
    /// Standard normal
    Gaussian,
    /// Uniform in [-1, 1)
    MixedSign,
}

/// Generates the process and compares.
pub(super) fn run(PolicyArgs { process, compare }: &PolicyArgs) -> Result<Status> {
    process.check()?;
    let mdp = generate_mdp(&MdpOptions {
        states: process.states,
        d: process.features,
        discount: process.discount,
        features: match process.feature_kind {
            FeatureKind::Uniform => Features::Uniform,
            FeatureKind::Gaussian => Features::Gaussian,
            FeatureKind::MixedSign => Features::MixedSign,
        },
        seed: process.data_seed,
        ..MdpOptions::default()
    });
    let coordinates: Vec<String> = (1..=mdp.d).map(|l| format!("feature {l}")).collect();
    let source = mdp.source.clone();
    let (objective, problem, papers): (_, _, Vec<(&str, Option<Choice>)>) = match process.objective {
        Objective::Bellman => {
            let inner = Bellman::new(mdp.d, mdp.features, mdp.transitions, mdp.rewards, mdp.discount)?;
            let papers = METHODS.iter().map(|row| (row.name, inner.paper_choice(row.name))).collect();
            let problem = boxed(inner, Square::new(1.0)?, process)?;
            ("mean squared Bellman error".to_owned(), problem, papers)
        }
        Objective::Projected => {
            let transitions = process.transitions.unwrap_or(TRANSITIONS);
            let walk = mdp.walk(transitions, process.data_seed);
            let inner = Mspbe::new(mdp.d, walk.features, &walk.next_features, walk.rewards, mdp.discount)?;
            let Problem { inner, merit, .. } = inner.problem(0.0).map_err(|_| {
                anyhow!(
                    "--features {}: the features on a walk of {transitions} transitions through {} states are linearly dependent; \
                     expected fewer features, or more --states or --transitions",
                    process.features, process.states
                )
            })?;
            let problem = boxed(inner, merit, process)?;
            let objective = format!("mean squared projected Bellman error of {transitions} transitions");
            (objective, problem, Vec::new())
        }
    };
    let named = Named {
        problem: "policy",
        title: format!(
            "Markov decision process of {} states with {} features, discount {}",
            process.states, process.features, process.discount
        ),
        objective,
        source,
        coordinates: &coordinates,
        inputs: Vec::new(),
        paper: &|name| papers.iter().find(|(paper, _)| *paper == name).and_then(|(_, choice)| *choice),
    };
    compare.run(&problem, &named, AnyMethod::run)
}

/// A problem of either kind.
type AnyProblem = Problem<Box<dyn Inner>, Box<dyn Merit>, Box<dyn Regularizer>>;

fn boxed(
    inner: impl Inner + 'static,
    merit: impl Merit + 'static,
    flags: &ProcessFlags,
) -> Result<AnyProblem> {
    let regularizer = flags.regularizer.regularizer(inner.d())?;
    Ok(Problem { inner: Box::new(inner), merit: Box::new(merit), regularizer: Box::new(regularizer) })
}
