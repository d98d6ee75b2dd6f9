//! The torture test of the certificates, on any number of random problems.
//!
//! `cargo run --release -p innermean-experiments --bin torture -- --problems 10000 --seed 1` prints
//! a table and the worst cases; `--only KIND` takes the problems of one kind among them, `--program
//! target/release/innermean` asks the command line as well, `--json FILE` writes all that was
//! found. `--problem K` runs one again and tells all about it, and `--write DIR` with it writes its
//! files and the command that shows it. Exits with 1 if a claim is false.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use innermean_experiments::torture::Torture;
use innermean_experiments::torture::draw::{self, Kind};
use innermean_experiments::torture::report::{Line, Report, UNSOLVED};

/// Cases of each verdict that are printed.
const WORST: usize = 12;
/// Problems between two words about how it goes.
const PIECE: u64 = 2000;

#[derive(Default)]
struct Flags {
    problems: u64,
    torture: Torture,
    problem: Option<u64>,
    write: Option<PathBuf>,
    json: Option<PathBuf>,
}

fn flags() -> Result<Flags> {
    let mut flags = Flags {
        problems: 1000,
        torture: Torture { seed: 1, ..Torture::default() },
        ..Flags::default()
    };
    let mut words = std::env::args().skip(1);
    while let Some(flag) = words.next() {
        let Some(value) = words.next() else { bail!("{flag} needs a value") };
        let whole = || {
            value.parse::<u64>().with_context(|| format!("{flag} {value}: expected a whole number"))
        };
        match &*flag {
            "--problems" => flags.problems = whole()?,
            "--seed" => flags.torture.seed = whole()?,
            "--program" => flags.torture.program = Some(value.into()),
            "--problem" => flags.problem = Some(whole()?),
            "--write" => flags.write = Some(value.into()),
            "--json" => flags.json = Some(value.into()),
            "--only" => {
                let kind = Kind::ALL.iter().find(|kind| kind.name() == value);
                let names =
                    || Kind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
                flags.torture.only = Some(
                    *kind
                        .with_context(|| format!("--only {value}: expected one of {}", names()))?,
                );
            }
            _ => {
                bail!(
                    "{flag}: expected --problems, --seed, --only, --program, --problem, --write or --json"
                )
            }
        }
    }
    Ok(flags)
}

fn main() -> Result<ExitCode> {
    let flags = flags()?;
    let seed = flags.torture.seed;
    // What panics is a verdict, not news.
    std::panic::set_hook(Box::new(|_| {}));
    let report = if let Some(number) = flags.problem {
        let line = flags.torture.line(number);
        tell(&line);
        write(seed, number, flags.write.as_deref())?;
        Report { seed, lines: vec![line] }
    } else {
        let mut report = Report { seed, lines: Vec::new() };
        for first in (0..flags.problems).step_by(PIECE as usize) {
            let last = (first + PIECE).min(flags.problems);
            report.lines.extend(flags.torture.report(first..last).lines);
            eprintln!("{last} of {} problems", flags.problems);
        }
        println!("{}{}", report.table(), report.worst(WORST));
        report
    };
    if let Some(path) = &flags.json {
        fs::write(path, serde_json::to_string_pretty(&report)? + "\n")
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let failures = report.failures(UNSOLVED);
    let unbounded = report.lines.iter().filter(|line| line.unbounded).count();
    let refused = report.lines.iter().filter(|line| line.refused.is_some()).count();
    println!(
        "{} problems of seed {}: {} with a minimum that doubles can tell, {unbounded} unbounded, {refused} refused; the rival was behind on {}",
        report.lines.len(),
        seed,
        report.bounded(),
        report.behind()
    );
    println!("{}", if failures.is_empty() { "passed".to_owned() } else { failures.join("; ") });
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All about one problem.
fn tell(line: &Line) {
    let Line { number, kind, conditioning, words, refused, unbounded, near, behind, runs } = line;
    println!("problem {number}: {}, {}; {words}", kind.name(), conditioning.title());
    if let Some(refused) = refused {
        println!("refused: {refused}");
    }
    println!(
        "unbounded: {unbounded}; its minimum lies where doubles can tell: {near}; the rival is behind by {behind:.1e}"
    );
    for run in runs {
        println!("{run:#?}");
    }
}

/// The files of one problem, and the command that shows it.
fn write(seed: u64, number: u64, folder: Option<&Path>) -> Result<()> {
    let Ok(drawn) = draw::draw(seed, number) else { return Ok(()) };
    match (&drawn.files, folder) {
        (None, _) => println!("the command line has no such problem"),
        (Some(files), None) => println!("innermean {}", files.arguments),
        (Some(files), Some(folder)) => {
            files.write(folder)?;
            println!("cd {} && innermean {}", folder.display(), files.arguments);
        }
    }
    Ok(())
}
