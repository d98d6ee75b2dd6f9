//! The parameters of applications as flags.

use std::fmt::Display;

use anyhow::anyhow;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use innermean_apps::wording::{Face, Named, spell};

/// How the command line spells parameters.
struct Flags;

impl Face for Flags {
    fn parameter(&self, name: &str) -> String {
        format!("--{}", flag(name))
    }

    fn setting(&self, name: &str, value: &str) -> String {
        // Its value may be left out, and so is behind an equals sign.
        let between = if name == "standard_errors" { '=' } else { ' ' };
        format!("--{}{between}{value}", flag(name))
    }
}

/// A parameter's name as a flag, without the dashes before it.
pub(crate) fn flag(name: &str) -> String {
    match name {
        "rule" => "steps".to_owned(),
        // On by default, and so turned off.
        "intercept" | "scaling" => format!("no-{name}"),
        _ => name.replace('_', "-"),
    }
}

/// A sentence of an application, with its parameters as flags.
pub(crate) fn spelled(text: impl Display) -> String {
    spell(&text.to_string(), &Flags)
}

/// An application's refusal, which is about `place` of a file.
pub(crate) fn refused_at(place: impl Display, error: &innermean_apps::Error) -> anyhow::Error {
    anyhow!("{place}: {}", spelled(error))
}

/// The choices of `T` by name, with what each is.
pub(crate) fn by_name<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    only(T::ALL)
}

/// Some of the choices of `T` by name.
pub(crate) fn only<T: Named + Send + Sync>(
    choices: &'static [T],
) -> impl TypedValueParser<Value = T> {
    let values = choices.iter().map(|choice| {
        PossibleValue::new(choice.name()).help(choice.summary().trim_end_matches('.'))
    });
    PossibleValuesParser::new(values).try_map(|name| T::named(&name).ok_or("unknown"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use innermean_apps::wording::PARAMETERS;

    use super::*;

    #[test]
    fn every_parameter_is_a_flag() {
        let program = crate::Cli::command();
        let has = |command: &clap::Command, flag: &str| {
            command.get_arguments().any(|arg| arg.get_long() == Some(flag))
        };
        for name in PARAMETERS {
            let flag = flag(name);
            assert!(
                program.get_subcommands().any(|command| has(command, &flag)
                    || command.get_subcommands().any(|below| has(below, &flag))),
                "--{flag}"
            );
        }
        assert_eq!(spelled("give `l2`, or `risk=huber`"), "give --l2, or --risk huber");
    }
}
