//! The command line of innermean: parses, hands over to a command, and turns what comes back into
//! an exit code.

use std::io::Write;
use std::process::ExitCode;

#[cfg(feature = "shell")]
use clap::CommandFactory;
use clap::{Parser, Subcommand};
use innermean::Status;
use innermean_data::visible;

mod commands;
mod flags;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod heap;
mod output;
mod plot;
mod report;
mod run;

/// Minimise a loss of averages
#[derive(Debug, Parser)]
#[command(name = "innermean", version = env!("INNERMEAN_VERSION"), arg_required_else_help = true)]
#[command(long_about = LONG_ABOUT, after_help = EXIT_CODES, override_usage = "innermean <COMMAND>")]
struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    input: flags::input::InputFlags,
}

#[derive(Debug, Subcommand)]
enum Command {
    Portfolio(commands::portfolio::PortfolioArgs),
    Policy(Box<commands::policy::PolicyArgs>),
    Sequences(commands::sequences::SequencesArgs),
    Bags(commands::bags::BagsArgs),
    Linear(commands::linear::LinearArgs),
    Predict(commands::predict::PredictArgs),
    Convert(commands::convert::ConvertArgs),
    Moments(commands::moments::MomentsArgs),
    Compare(commands::compare::CompareArgs),
    Methods(commands::methods::MethodsArgs),
    Report(commands::report::ReportArgs),
    #[cfg(feature = "reproduce")]
    Reproduce(commands::reproduce::ReproduceArgs),
    #[cfg(feature = "shell")]
    Completions(commands::shell::CompletionsArgs),
    #[cfg(feature = "shell")]
    Man(commands::shell::ManArgs),
    /// Redo the paper's figures, tables and theorems (if built with --features reproduce)
    #[cfg(not(feature = "reproduce"))]
    Reproduce(commands::absent::Absent),
    /// Print completions for a shell (if built with --features shell)
    #[cfg(not(feature = "shell"))]
    Completions(commands::absent::Absent),
    /// Print the manual page (if built with --features shell)
    #[cfg(not(feature = "shell"))]
    Man(commands::absent::Absent),
}

const LONG_ABOUT: &str = "\
Minimise a loss of averages.

  min over theta of  (1/n_X) sum_i phi_i( (1/n_Yi) sum_j f_theta(x_i, y_ij) ) + g(theta)

The average is inside the loss, where ordinary stochastic gradients are biased. A command \
builds such a problem from a file and solves it; predict applies a fitted model to other rows; convert makes files that may be larger than memory; compare runs several methods on one; methods lists them; report makes a page from stored traces.";

const EXIT_CODES: &str = "\
Exit codes: 0 solved, 1 stopped at a limit, diverged or interrupted, 2 bad usage, input or output.";

/// Reads the command line, does what it asks for, and says how that ended.
pub fn run() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    heap::share_one();
    let command = match Cli::try_parse() {
        Ok(Cli { command, input }) => {
            input.hold();
            command
        }
        Err(error) => return not_a_command(&error),
    };
    let ended = match &command {
        Command::Portfolio(args) => commands::portfolio::run(args),
        Command::Policy(args) => commands::policy::run(args),
        Command::Sequences(args) => commands::sequences::run(args),
        Command::Bags(args) => commands::bags::run(args),
        Command::Linear(args) => commands::linear::run(args),
        Command::Predict(args) => commands::predict::run(args),
        Command::Convert(args) => commands::convert::run(args),
        Command::Moments(args) => commands::moments::run(args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Methods(args) => commands::methods::run(args),
        Command::Report(args) => commands::report::run(args),
        #[cfg(feature = "reproduce")]
        Command::Reproduce(args) => commands::reproduce::run(args),
        #[cfg(feature = "shell")]
        Command::Completions(args) => commands::shell::completions(args, Cli::command()),
        #[cfg(feature = "shell")]
        Command::Man(args) => commands::shell::man(args, Cli::command()),
        #[cfg(not(feature = "reproduce"))]
        Command::Reproduce(absent) => absent.refuse("reproduce", "reproduce"),
        #[cfg(not(feature = "shell"))]
        Command::Completions(absent) => absent.refuse("completions", "shell"),
        #[cfg(not(feature = "shell"))]
        Command::Man(absent) => absent.refuse("man", "shell"),
    };
    match ended {
        Ok(status) => exit_code(status),
        Err(error) => {
            complain(&words(&error));
            ExitCode::from(2)
        }
    }
}

/// A refusal on one line, with the parameters of applications as flags.
fn words(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    if error.is::<innermean_apps::Error>() { flags::spelling::spelled(text) } else { text }
}

fn exit_code(status: Status) -> ExitCode {
    if status.is_solved() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Help and version, which clap calls errors too, or bad usage.
fn not_a_command(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion,
    };
    match error.kind() {
        DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand => {
            // If it cannot be printed there is nowhere to report that.
            let _ = error.print();
        }
        _ => {
            let text = error.render().to_string();
            // Of several lines.
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
            let _ = writeln!(
                std::io::stderr(),
                "innermean: {}",
                text.lines().map(visible).collect::<Vec<_>>().join("\n")
            );
        }
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// All that goes wrong is said in one form, on one line. `eprintln!` would panic where stderr is
/// closed.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "innermean: {}", visible(text));
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        super::Cli::command().debug_assert();
    }
}
