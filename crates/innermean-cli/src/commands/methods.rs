//! `innermean methods`: the table of methods, as the library has it.

use anyhow::Result;
use clap::Args;
use comfy_table::{Table, presets};
use innermean::methods::{self, Form, MethodInfo, Rate};
use innermean::{METHODS, Status};
use innermean_apps::run::AUTO;
use serde::Serialize;

use crate::flags::spelling::flag;
use crate::output::human::Facts;
use crate::output::stdout;

/// List the methods, or say what one of them asks and has
#[derive(Debug, Args)]
pub(crate) struct MethodsArgs {
    /// One of the methods
    name: Option<String>,

    /// Print JSON instead of the tables
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    title: &'static str,
    family: &'static str,
    summary: &'static str,
    reference: &'static str,
    storage: &'static str,
    linear_rate: bool,
    works_on: &'static str,
    asks: Vec<&'static str>,
    settings: Vec<&'static str>,
}

impl From<&MethodInfo> for Row {
    fn from(info: &MethodInfo) -> Self {
        Row {
            name: info.name,
            title: info.title,
            family: info.family.title(),
            summary: info.summary,
            reference: info.reference,
            storage: info.storage,
            linear_rate: info.rate == Rate::Linear,
            works_on: works_on(info.form),
            asks: info.asks.iter().map(|ask| ask.words()).collect(),
            settings: info.settings.iter().map(|knob| knob.name()).collect(),
        }
    }
}

/// What `auto` is, which is no method.
#[derive(Serialize)]
struct Automatic {
    name: &'static str,
    summary: &'static str,
}

const SUMMARY: &str = "the method that suits the problem by its structure and sizes, by phi and by \
    g, and others to fall back on where that one makes no progress";

fn automatic() -> String {
    let mut facts = Facts::default();
    facts.line("auto", SUMMARY);
    facts.line("reference", "docs/choosing-a-method.md, with the measurements");
    facts.line("asks for", "nothing special");
    facts.line("settings", "none: it finds those of the method that it takes");
    facts.text()
}

/// Prints one row or all.
pub(crate) fn run(args: &MethodsArgs) -> Result<Status> {
    let text = match &args.name {
        Some(name) if name == AUTO => {
            if args.json {
                serde_json::to_string(&Automatic { name: AUTO, summary: SUMMARY })? + "\n"
            } else {
                automatic()
            }
        }
        Some(name) => {
            let info = methods::info(name)?;
            if args.json { serde_json::to_string(&Row::from(info))? + "\n" } else { one(info) }
        }
        None if args.json => {
            serde_json::to_string(&METHODS.iter().map(Row::from).collect::<Vec<_>>())? + "\n"
        }
        None => all(),
    };
    stdout::print(&text)?;
    Ok(Status::Solved)
}

fn all() -> String {
    let mut families: Vec<_> = METHODS.iter().map(|row| row.family).collect();
    families.dedup();
    let mut text = String::new();
    let mut seen = Vec::new();
    for family in families {
        if seen.contains(&family) {
            continue;
        }
        seen.push(family);
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        for row in METHODS.iter().filter(|row| row.family == family) {
            let rate = if row.rate == Rate::Linear { "linear" } else { "sublinear" };
            table.add_row([
                row.name.to_owned(),
                rate.to_owned(),
                format!("{}: {}", row.title, row.summary),
            ]);
        }
        text.push_str(family.title());
        text.push('\n');
        text.extend(table.lines().map(|line| line.trim_end().to_owned() + "\n"));
        text.push('\n');
    }
    text + "auto, the default of every command, takes the one that suits. innermean methods NAME \
        says what a method asks of a problem, and which settings it has.\n"
}

fn one(info: &MethodInfo) -> String {
    let mut facts = Facts::default();
    facts.line("method", &format!("{}, {}", info.title, info.summary));
    facts.line("reference", info.reference);
    facts.line(
        "rate",
        match info.rate {
            Rate::Linear => "linear where phi is smooth and the problem strongly convex",
            Rate::Sublinear => "sublinear",
        },
    );
    let asks: Vec<&str> = info.asks.iter().map(|ask| ask.words()).collect();
    facts.line(
        "asks for",
        &if asks.is_empty() { "nothing special".to_owned() } else { asks.join("; ") },
    );
    facts.line("works on", works_on(info.form));
    facts.line("stores", &format!("{} numbers beside the data and theta", info.storage));
    let flags: Vec<String> =
        info.settings.iter().map(|knob| format!("--{}", flag(knob.name()))).collect();
    facts.line("settings", &if flags.is_empty() { "none".to_owned() } else { flags.join(", ") });
    facts.text()
}

fn works_on(form: Form) -> &'static str {
    match form {
        Form::Given => "the problem as it is given",
        Form::Shared => {
            "the problem with one inner sample for all terms, in higher dimension where need be"
        }
        Form::Collapsed => {
            "linear predictors: an affine f is averaged once; another f is taken as it is given"
        }
    }
}
