//! What is said about estimates by instruments, to people.

use std::fmt::Write as _;
use std::path::Path;

use innermean::Certificate;
use innermean_apps::moments::{FirstStage, JTest, MomentsAnswer, MomentsSettings, Steps};
use innermean_data::visible;
use serde_json::Value;

use crate::output::estimates::{self, Units};
use crate::output::grid::Grid;
use crate::output::human::{self, Facts, grouped, significant};
use crate::output::named_numbers::{Heading, NamedNumbers};
use crate::report::run::plain;
use crate::report::{Kind, Report, Verdict, capital};
use crate::run::page::Part;

/// Of the estimates.
const HEADING: Heading = Heading { name: "regressor", number: "coefficient", sum: false };

/// All that the words draw on.
pub(super) struct Words<'a> {
    pub(super) answer: &'a MomentsAnswer,
    pub(super) settings: &'a MomentsSettings,
    pub(super) source: &'a str,
}

impl<'a> Words<'a> {
    fn title(&self) -> String {
        let MomentsAnswer { names, instruments, rows, .. } = self.answer;
        let intercept = if self.settings.intercept { " with the intercept" } else { "" };
        format!(
            "{} rows, {} regressors and {} instruments{intercept}",
            grouped(*rows as u64),
            names.len(),
            instruments.len()
        )
    }

    /// For a terminal.
    pub(super) fn text(&self, notes: &[String]) -> String {
        let mut out = format!("{}\n{}\n", self.title(), visible(self.source));
        for note in notes {
            out.push_str(&human::paragraph("note:", note));
        }
        for grid in self.tables().iter().chain([&self.first_stage()]) {
            // Writing to a string does not fail.
            let _ = write!(out, "\n{}", grid.text());
        }
        out + "\n" + &self.facts().text()
    }

    /// For a browser.
    pub(super) fn report(&self, file: &Path, notes: &[String], settings: &Value) -> Report<'a> {
        let MomentsAnswer { names, inference, .. } = self.answer;
        let formula = inference.standard_errors.as_ref().map(|found| &found.intervals[..]);
        let mut answer = vec![Part::Numbers(NamedNumbers {
            heading: HEADING,
            names,
            numbers: &inference.estimates,
            error: 0.0,
            intervals: formula.unwrap_or_default(),
            has_table: true,
            beside: None,
        })];
        answer.extend(self.tables().into_iter().map(Part::Table));
        answer.push(Part::Table(Grid { title: "First stage".to_owned(), ..self.first_stage() }));
        let facts = self.facts();
        let facts = facts.pairs().map(|(label, text)| (label.to_owned(), text)).collect();
        let size = std::fs::metadata(file).map(|file| format!(", {} bytes", grouped(file.len())));
        let size = size.unwrap_or_default();
        let settings = settings.as_object().into_iter().flatten();
        Report {
            title: self.title(),
            source: self.source.to_owned(),
            verdict: Some(self.verdict()),
            answer,
            facts,
            data: vec![
                ("file".to_owned(), format!("{}{size}", file.display())),
                ("rows".to_owned(), grouped(self.answer.rows as u64)),
            ],
            notes: notes.to_vec(),
            settings: settings
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.clone(), plain(value)))
                .filter(|(_, text)| !text.is_empty())
                .collect(),
            ..Report::default()
        }
    }

    /// Weak instruments and a J test that fails are worth more than a proof.
    fn verdict(&self) -> Verdict {
        let MomentsAnswer { first_stage, j, .. } = self.answer;
        let weak = first_stage.iter().any(FirstStage::is_weak);
        let refused = j.is_some_and(|test| test.p_value < 0.05);
        let doubt = match (weak, refused) {
            (true, _) => " The instruments are weak: intervals are too narrow.",
            (_, true) => " The J test speaks against the instruments: they do not agree.",
            _ => "",
        };
        Verdict {
            kind: if weak || refused { Kind::Limited } else { Kind::Good },
            status: "estimated".to_owned(),
            text: format!("{}.{doubt}", capital(&self.proven())),
        }
    }

    fn proven(&self) -> String {
        let MomentsAnswer { objective, certificate, .. } = self.answer;
        let Certificate { gap, measure, .. } = certificate;
        let objective = significant(*objective, 6);
        match gap {
            Some(gap) => format!(
                "the objective {objective} is proven to be within {gap:.1e} of its minimum ({})",
                measure.title()
            ),
            None => format!("the objective is {objective}; no distance from its minimum is proven"),
        }
    }

    fn tables(&self) -> Vec<Grid> {
        estimates::tables(HEADING, &self.answer.names, &self.answer.inference)
    }

    /// A row for each regressor that is not exogenous.
    fn first_stage(&self) -> Grid {
        let row = |stage: &FirstStage| {
            let [q, rest] = stage.degrees_of_freedom.map(|degrees| grouped(degrees as u64));
            let f = if stage.f.is_nan() { "-".to_owned() } else { significant(stage.f, 4) };
            let share = significant(stage.partial_r_squared, 4);
            vec![stage.regressor.clone(), f, format!("{q}, {rest}"), share]
        };
        let header = ["first stage of", "F", "degrees of freedom", "partial R²"];
        Grid {
            title: String::new(),
            header: header.map(str::to_owned).to_vec(),
            rows: self.answer.first_stage.iter().map(row).collect(),
            numbers: 1..4,
            note: None,
        }
    }

    fn facts(&self) -> Facts {
        let MomentsAnswer { instruments, errors, steps, .. } = self.answer;
        let mut facts = Facts::default();
        let method = match self.settings.steps {
            Steps::One => "two-stage least squares".to_owned(),
            Steps::Two => format!("two steps, moments weighted by {errors} covariance"),
            Steps::Iterated => {
                let steps = grouped(*steps as u64);
                format!("{steps} steps, moments weighted by {errors} covariance")
            }
        };
        facts.line("estimate", &method);
        facts.line("instruments", &instruments.join(", "));
        match self.answer.j {
            Some(JTest { statistic, degrees_of_freedom, p_value, .. }) => {
                let name = if *steps == 1 { "Sargan's" } else { "Hansen's" };
                let (statistic, p_value) = (significant(statistic, 5), significant(p_value, 4));
                let degrees = if degrees_of_freedom == 1 {
                    "1 degree of freedom".to_owned()
                } else {
                    format!("{degrees_of_freedom} degrees of freedom")
                };
                let line = format!("{statistic} ({name}), {degrees}, p-value {p_value}");
                facts.line("J test", &line);
            }
            None => facts.line("J test", "none: there are as many instruments as regressors"),
        }
        estimates::describe(&self.answer.inference, Units::ROWS, &mut facts);
        facts.line("certificate", &self.proven());
        facts
    }
}
