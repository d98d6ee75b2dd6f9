//! Commands that the program was built without.

use std::ffi::OsString;

use anyhow::{Result, bail};
use clap::Args;
use innermean::Status;

/// Whatever is asked of such a command.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Absent {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

impl Absent {
    /// Says how to get the command.
    pub(crate) fn refuse(&self, command: &str, feature: &str) -> Result<Status> {
        let words = self.words.iter().map(|word| format!(" {}", word.to_string_lossy()));
        bail!(
            "{command}: this program is built without it; expected: \
             cargo run --release --features {feature} -- {command}{}",
            words.collect::<String>()
        )
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    #[test]
    fn what_is_absent_is_refused_with_the_command_that_has_it() {
        let matches = Absent::augment_args(Command::new("man"))
            .get_matches_from(["man", "--dir", "a", "--help"]);
        let absent = Absent::from_arg_matches(&matches).expect("any words will do");
        let said = absent.refuse("man", "shell").expect_err("it is refused").to_string();
        assert!(
            said.ends_with("cargo run --release --features shell -- man --dir a --help"),
            "{said}"
        );
    }
}
