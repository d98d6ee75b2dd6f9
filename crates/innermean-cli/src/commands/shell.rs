//! `innermean completions` and `innermean man`: what a shell and a reader of manuals want to have.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;
use innermean::Status;
use innermean_data::OutFile;

use crate::output::stdout;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  innermean completions bash > ~/.local/share/bash-completion/completions/innermean
  innermean completions zsh > ~/.zfunc/_innermean
  innermean completions fish > ~/.config/fish/completions/innermean.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Print the manual page, or write one for each command
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: innermean man | man -l -   innermean man --dir ~/.local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// Write innermean.1 and a page for each command into this folder, which is made if need be
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Result<Status> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "innermean", &mut text);
    stdout::print(&String::from_utf8(text)?)?;
    Ok(Status::Solved)
}

pub(crate) fn man(args: &ManArgs, mut command: Command) -> Result<Status> {
    command.build();
    match &args.dir {
        None => stdout::print(&page(&command)?)?,
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("{}: cannot be made", folder.display()))?;
            write_page(folder, &command)?;
            for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
                write_page(
                    folder,
                    &sub.clone().display_name(format!("innermean-{}", sub.get_name())),
                )?;
            }
        }
    }
    Ok(Status::Solved)
}

fn page(command: &Command) -> Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8(page)?)
}

fn write_page(folder: &Path, command: &Command) -> Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    let page = page(command)?;
    Ok(OutFile::check(&path, &[])?.write(|file| file.write_all(page.as_bytes()))?)
}
