//! `innermean reproduce`: the paper's figures, tables and theorems once more, measured, as one
//! page.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use innermean::Status;

use self::page::{Finding, Page, Section, Verdict};
use self::portfolios::DataSet;
use self::processes::Kind;
use self::store::Store;
use innermean_data::visible;

use crate::output::human::paragraph;
use crate::output::stdout;
use crate::run::interrupt;

mod arena;
mod family;
mod growth;
mod page;
mod piece;
mod portfolios;
mod processes;
mod sections;
mod storage;
mod store;
mod theorems;

/// Redo the paper's figures, tables and theorems, and say what holds
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
pub(crate) struct ReproduceArgs {
    /// A folder with tables of returns, one for each panel of Figure 1: CSV, text of the French
    /// library, MATLAB files [default: generated markets]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Everything on a smaller scale, in about two minutes
    #[arg(long)]
    quick: bool,

    /// These parts alone, with commas between them
    #[arg(long, value_name = "PARTS", value_enum, value_delimiter = ',')]
    only: Vec<Part>,

    /// The folder for the page, the pictures and the numbers
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,

    /// Pieces computed at the same time; 0 for as many as there are cores. The numbers do not
    /// depend on it
    #[arg(long, value_name = "N", default_value = "0", value_parser = crate::flags::solver::threads)]
    #[arg(allow_hyphen_values = true)]
    threads: usize,
}

/// What the paper shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Portfolios
    Figure1,
    /// A policy, 10 states
    Figure2,
    /// A policy, 10000 states
    Figure3,
    /// How calls grow
    Table1,
    /// What is held in memory
    Table2,
    /// Theorems 1, 2 and 3
    Theorems,
}

const LONG_ABOUT: &str = "\
Redo the paper's figures, tables and theorems, and say what holds.

Writes a folder with one page (index.html, and the same as README.md), every picture as SVG and PNG, and the numbers behind them. Everything is counted in oracle calls and nothing depends on the clock: \
the same version gives the same numbers on any machine. Pieces are kept as they are done (in numbers.json of the folder), so that a run that was interrupted goes on where it stopped.

A full run takes about an hour on two cores and 4 GB of memory; with --quick there are fewer and smaller problems, and Figure 3 has 1000 states.";

const AFTER_HELP: &str = "\
Examples:
  innermean reproduce --quick
  innermean reproduce --data returns/           # a folder of tables
  innermean reproduce --only table1,theorems --out tables

Exit codes: 0 done, 1 interrupted, 2 bad usage, input or output.";

/// Computes what is missing and writes the page.
pub(crate) fn run(args: &ReproduceArgs) -> Result<Status> {
    let ReproduceArgs { data, quick, only, out, threads } = args;
    let wanted = |part: Part| only.is_empty() || only.contains(&part);
    let sets = match data {
        _ if !wanted(Part::Figure1) => Vec::new(),
        Some(folder) => portfolios::read(folder)?,
        None => portfolios::generated(*quick)?,
    };
    let kinds: Vec<Kind> = processes::kinds(*quick)
        .into_iter()
        .filter(|kind| wanted(if kind.figure == 2 { Part::Figure2 } else { Part::Figure3 }))
        .collect();
    let store = Store::open(out, *quick)?;
    let interrupt = interrupt::listen()?;
    let mut pieces = portfolios::pieces(&sets, *quick, interrupt);
    pieces.extend(kinds.iter().flat_map(|kind| kind.pieces(interrupt)));
    if wanted(Part::Table1) {
        pieces.extend(growth::pieces(*quick, interrupt));
    }
    if wanted(Part::Table2) {
        pieces.extend(storage::pieces());
    }
    if wanted(Part::Theorems) {
        pieces.extend(theorems::pieces(*quick, interrupt));
    }
    let ran = piece::run(&pieces, &store, *threads, interrupt)?;
    if ran.left > 0 {
        stdout::print(&format!(
            "Interrupted: {} of {} pieces are kept in {}; the same command goes on with the other \
             {}.\n",
            ran.kept + ran.computed,
            pieces.len(),
            visible(&out.join(store::NAME).display().to_string()),
            ran.left
        ))?;
        return Ok(Status::Interrupted);
    }
    let mut parts: Vec<(Section, Vec<Finding>)> = Vec::new();
    if !sets.is_empty() {
        parts.push(sections::figure1::section(&store, &sets, *quick)?);
    }
    for kind in &kinds {
        parts.push(sections::figures2and3::section(&store, kind)?);
    }
    if wanted(Part::Table1) {
        parts.push(sections::table1::section(&store, *quick)?);
    }
    if wanted(Part::Table2) {
        parts.push(sections::table2::section(&store)?);
    }
    if wanted(Part::Theorems) {
        parts.push(sections::theorems::section(&store)?);
    }
    let (sections, findings): (Vec<Section>, Vec<Vec<Finding>>) = parts.into_iter().unzip();
    let page = Page {
        title: "SVRPDA, reproduced".to_owned(),
        lead: lead(&sets, *quick, &store, &pieces),
        findings: findings.into_iter().flatten().collect(),
        sections,
    };
    page.write(out)?;
    stdout::print(&summary(&page, &out.join("index.html").display().to_string()))?;
    Ok(Status::Solved)
}

fn lead(sets: &[DataSet], quick: bool, store: &Store, pieces: &[piece::Piece<'_>]) -> String {
    let mut by: Vec<String> =
        pieces.iter().filter_map(|piece| store.by(&piece.id, piece.data)).collect();
    by.sort();
    by.dedup();
    let data = match sets {
        [] => String::new(),
        [one] => format!(" Returns: {}.", one.name),
        [first, .., last] => {
            format!(" Returns: {} sets, {} to {}.", sets.len(), first.name, last.name)
        }
    };
    format!(
        "The figures, tables and theorems of A. Devraj and J. Chen, Stochastic Variance Reduced \
         Primal Dual Algorithms for Empirical Composition Optimization (NeurIPS 2019), measured \
         with innermean {}.{data}{}",
        by.join(", "),
        if quick { " A quick run: fewer and smaller problems." } else { "" }
    )
}

fn summary(page: &Page, path: &str) -> String {
    let mut text = String::new();
    for Finding { verdict, text: finding } in &page.findings {
        let label = match verdict {
            Verdict::Holds => "holds:",
            Verdict::Fails => "fails:",
            Verdict::Note => "note:",
        };
        text.push_str(&paragraph(label, finding));
    }
    text + &format!("\nThe page: {}\n", visible(path))
}
