//! Processes without a file.

use innermean::Moves;
use innermean_apps::policy::{self, PolicyObjective, ProcessMoves};
use innermean_data::{
    FeatureRows, MdpOptions, Process, generate_boyan, generate_grid, generate_mdp,
    generate_sparse_mdp, generate_walk,
};

use super::flags::{FeatureChoice, Generator, GridSize, PolicyFlags};
use super::read::Known;

/// Of a walk, where nothing is said.
const TRANSITIONS: usize = 1000;
/// Numbers that describe a state of the random process, where nothing is said.
const FEATURES: usize = 5;

impl Known {
    /// The process that the flags ask for, or a log of a walk through it.
    pub(super) fn generated(flags: &PolicyFlags) -> Self {
        let generator = &flags.generator;
        let process = match generator.generate.unwrap_or(Generator::Random) {
            Generator::Random => match generator.successors {
                None => return Self::random(flags),
                Some(successors) => {
                    let (states, discount) =
                        (generator.states.unwrap_or(10), flags.discount.unwrap_or(0.9));
                    generate_sparse_mdp(states, successors, discount, generator.data_seed)
                }
            },
            Generator::Walk => generate_walk(generator.states.unwrap_or(19)),
            Generator::Boyan => generate_boyan(),
            Generator::Grid => {
                let GridSize { rows, columns } =
                    generator.grid.unwrap_or(GridSize { rows: 4, columns: 4 });
                generate_grid(rows, columns, generator.policy.unwrap_or_default().into())
            }
        };
        let log = generator.transitions.map(|t| (t, process.log(t, generator.data_seed)));
        let Process {
            states,
            terminal,
            from,
            next,
            probabilities,
            rewards,
            features,
            discount,
            source,
        } = process;
        let (moves, seen, source) = match log {
            None => (Moves { from, next, rewards, weights: Some(probabilities) }, false, source),
            Some((t, log)) => (
                Moves { from: log.from, next: log.next, rewards: log.rewards, weights: None },
                true,
                format!("{source}; a walk of {t} transitions through it"),
            ),
        };
        let mut process = policy::Process::new(states, ProcessMoves::List(moves));
        process.terminal = terminal;
        (process.seen, process.walk, process.discount) = (seen, seen, Some(discount));
        Known { process, source, features, notes: Vec::new(), frame: None, own: false }
    }

    /// The paper's random process, of which all transitions are possible.
    fn random(flags: &PolicyFlags) -> Self {
        let generator = &flags.generator;
        let d = match flags.features {
            Some(FeatureChoice::Random(d)) => d,
            _ => FEATURES,
        };
        let mdp = generate_mdp(&MdpOptions {
            states: generator.states.unwrap_or(10),
            d,
            discount: flags.discount.unwrap_or(0.9),
            features: generator.feature_kind.unwrap_or_default().into(),
            seed: generator.data_seed,
            ..MdpOptions::default()
        });
        // The projected error is one of transitions that were seen, unless others are
        // asked for.
        let default = (flags.objective == Some(PolicyObjective::Projected)).then_some(TRANSITIONS);
        let log = generator.transitions.or(default).map(|t| (t, mdp.log(t, generator.data_seed)));
        let (moves, seen, source) = match log {
            None => {
                let moves =
                    ProcessMoves::Matrix { probabilities: mdp.transitions, rewards: mdp.rewards };
                (moves, false, mdp.source)
            }
            Some((t, log)) => {
                let moves =
                    Moves { from: log.from, next: log.next, rewards: log.rewards, weights: None };
                (
                    ProcessMoves::List(moves),
                    true,
                    format!("{}; a walk of {t} transitions through it", mdp.source),
                )
            }
        };
        let names = (0..mdp.states).map(|s| s.to_string()).collect();
        let mut process = policy::Process::new(names, moves);
        (process.seen, process.walk, process.discount) = (seen, seen, Some(mdp.discount));
        let features = FeatureRows {
            names: (1..=d).map(|l| format!("feature {l}")).collect(),
            rows: mdp.features,
        };
        Known {
            process,
            source,
            features: Some(features),
            notes: Vec::new(),
            frame: None,
            own: false,
        }
    }
}
