//! What is said about a fit to groups, to people and to programs.

use std::fmt::Write as _;

use anyhow::Result;
use innermean::Solution;
use innermean_apps::bags::{
    Averages, BagAnswer, BagLink, BagLoss, BagSettings, BagTask, GroupFit, HeldOutGroups,
    RowScores, predicted_columns,
};
use innermean_apps::model::{BagModel, ModelKind};
use innermean_apps::run::Task;
use innermean_apps::run::inference::Inference;
use rayon::ThreadPool;
use serde::Serialize;

use super::table::Origin;
use crate::flags::inference::Asked;
use crate::flags::spelling::spelled;
use crate::output::estimates::Units;
use crate::output::grid::Grid;
use crate::output::human::{grouped, significant};
use crate::output::named_numbers::Heading;
use crate::output::predictions::{OutColumn, OutTable};
use crate::output::validation::Validated;
use crate::run::application::{Application, Source};
use crate::run::page::{Page, Part};
use crate::run::start::Start;

/// All that the report draws on.
pub(super) struct BagsApplication<'a> {
    pub(super) origin: &'a Origin,
    pub(super) task: &'a BagTask,
    pub(super) start: &'a Start,
    /// Where penalties were compared.
    pub(super) validated: Option<&'a Validated>,
    /// Whether no file was given.
    pub(super) generated: bool,
    /// How sure one wants to be.
    pub(super) inference: Option<Asked<'a>>,
}

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    #[serde(flatten)]
    found: BagAnswer,
    warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_validation: Option<&'a Validated>,
}

#[derive(Serialize)]
pub(super) struct Settings {
    link: BagLink,
    loss: BagLoss,
    intercept: bool,
    scaling: bool,
    l1: f64,
    l2: f64,
    start: String,
}

/// Of the texts of a column, those with the largest weights are shown.
const MOST_AVERAGES: usize = 50;

impl BagsApplication<'_> {
    fn link(&self) -> BagLink {
        self.task.settings().link
    }

    /// Predictions averaged by a column.
    fn grid(&self, averages: &Averages) -> Grid {
        let names = self.task.data().label_names();
        let weighted = averages.values.iter().any(|own| own.weight != own.rows as f64);
        let counts = self.link() == BagLink::Exp;
        let mut header = vec![averages.column.clone(), "rows".to_owned()];
        header.extend(weighted.then(|| "weight".to_owned()));
        header.extend(match self.link() {
            BagLink::Logistic => vec!["mean probability".to_owned()],
            BagLink::Identity => vec!["mean prediction".to_owned()],
            BagLink::Exp => vec!["mean expected count".to_owned(), "sum".to_owned()],
            BagLink::Softmax => names.iter().map(|name| format!("mean p({name})")).collect(),
        });
        let mut shown: Vec<usize> = (0..averages.values.len()).collect();
        let hidden = shown.len().saturating_sub(MOST_AVERAGES);
        if hidden > 0 {
            let weight = |k: &usize| averages.values[*k].weight;
            shown.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
            shown.truncate(MOST_AVERAGES);
        }
        let rows = shown.into_iter().map(|k| {
            let own = &averages.values[k];
            let mut cells = vec![own.value.clone(), grouped(own.rows as u64)];
            cells.extend(weighted.then(|| significant(own.weight, 6)));
            cells.extend(own.prediction.iter().map(|mean| significant(*mean, 4)));
            if counts {
                cells.extend(own.prediction.first().map(|u| significant(own.weight * u, 4)));
            }
            cells.resize(header.len(), "none".to_owned());
            cells
        });
        Grid {
            title: format!("predictions averaged by {}", averages.column),
            rows: rows.collect(),
            numbers: 1..header.len(),
            note: (hidden > 0).then(|| format!("{hidden} of less weight (--json has all)")),
            header,
        }
    }
}

/// How near averages come to labels.
fn words_of_fit(fit: &GroupFit) -> String {
    let GroupFit { mean_absolute_error, log_loss, log_loss_floor, r_squared } = fit;
    let mut words = format!("mean absolute error {}", significant(*mean_absolute_error, 4));
    if let (Some(loss), Some(floor)) = (log_loss, log_loss_floor) {
        // Writing to a string does not fail.
        let _ = write!(
            words,
            ", log loss {} (at least {})",
            significant(*loss, 5),
            significant(*floor, 5)
        );
    }
    if let Some(r_squared) = r_squared {
        let _ = write!(words, ", R^2 {}", significant(*r_squared, 4));
    }
    words
}

/// How well rows are predicted, and which.
fn words_of_scores(scores: &RowScores, of: &str) -> String {
    let mut parts = Vec::new();
    parts.extend(scores.accuracy.map(|a| format!("accuracy {}", significant(a, 4))));
    parts.extend(scores.auc.map(|a| format!("AUC {}", significant(a, 4))));
    let error = scores.mean_absolute_error;
    parts.extend(error.map(|e| format!("mean absolute error {}", significant(e, 4))));
    format!("{} over {} rows {of}", parts.join(", "), grouped(scores.rows as u64))
}

impl Application for BagsApplication<'_> {
    const NAME: &'static str = "bags";
    const UNITS: Units = Units { single: "groups", clusters: "clusters" };
    type Task = BagTask;
    type Answer<'a>
        = Answer<'a>
    where
        Self: 'a;
    type Settings<'a>
        = Settings
    where
        Self: 'a;

    fn task(&self) -> &BagTask {
        self.task
    }

    fn title(&self) -> String {
        let labels = match self.link() {
            BagLink::Logistic => "a proportion",
            BagLink::Softmax => "class proportions",
            BagLink::Identity => "a mean",
            BagLink::Exp => "a count",
        };
        let groups = self.task.groups();
        let counted = |count: usize, word: &str| {
            format!("{} {word}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
        };
        let singles = self.task.data().singles();
        let beside = match singles {
            0 => String::new(),
            singles => format!(" and {}", counted(singles, "single row")),
        };
        format!(
            "{} of {} in {}{beside} with {labels} each",
            counted(self.task.fitted_rows(), "row"),
            counted(groups.width(), "feature"),
            counted(groups.count() - singles, "group")
        )
    }

    fn source(&self) -> Source<'_> {
        Source { text: &self.origin.source, generated: self.generated, asked: false }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.origin.notes.clone();
        notes.extend(self.task.notes().iter().map(spelled));
        if self.generated {
            notes.push(
                "The labels of single rows are known to the generator; they are used for scores alone."
                    .to_owned(),
            );
        }
        notes
    }

    fn answer<'a>(&'a self, found: BagAnswer, _: &'a Solution) -> Result<Answer<'a>> {
        let warning = found.warning.as_ref().map(spelled);
        Ok(Answer { warning, found, cross_validation: self.validated })
    }

    fn warning<'a>(&self, answer: &'a Answer<'_>) -> Option<&'a str> {
        answer.warning.as_deref()
    }

    fn inference(&self, solution: &Solution, threads: &ThreadPool) -> Result<Option<Inference>> {
        let asked = self.inference.as_ref();
        asked.map(|asked| asked.infer(self.task, solution, threads)).transpose()
    }

    fn settings(&self) -> Settings {
        let &BagSettings { link, intercept, scaling, penalty, .. } = self.task.settings();
        Settings {
            link,
            loss: self.task.loss(),
            intercept,
            scaling,
            l1: penalty.l1,
            l2: penalty.l2,
            start: self.start.to_string(),
        }
    }

    fn describe<'a>(&'a self, answer: &'a Answer<'_>, solution: &'a Solution, page: &mut Page<'a>) {
        let heading = Heading { name: "feature", number: "coefficient", sum: false };
        page.numbers(heading, self.coordinates(), &solution.theta);
        let averages = answer.found.averages.iter();
        page.parts.extend(averages.map(|averages| Part::Table(self.grid(averages))));
        page.parts.extend(self.validated.map(|validated| Part::Table(validated.grid())));
        let facts = &mut page.facts;
        facts.line("fit of groups", &words_of_fit(&answer.found.group_fit));
        let worst = answer.found.worst_groups.iter().map(|worst| {
            let class = worst.class.as_ref().map_or(String::new(), |class| format!("{class} "));
            let (label, fitted) = (significant(worst.label, 4), significant(worst.fitted, 4));
            format!(
                "{} ({class}{label}, fitted {fitted}, {} rows)",
                worst.group,
                grouped(worst.rows as u64)
            )
        });
        facts.line("worst groups", &worst.collect::<Vec<_>>().join("; "));
        if let Some(HeldOutGroups { groups, fit, .. }) = &answer.found.held_out_groups {
            let groups = grouped(*groups as u64);
            facts.line("held-out labels", &format!("{} over {groups} groups", words_of_fit(fit)));
        }
        let found = &answer.found;
        let labels = "with labels of their own";
        for (label, scores, of) in [
            ("single rows", &found.row_scores, labels),
            ("held-out rows", &found.held_out_rows, "that take no part in the fit"),
            ("fitted rows", &found.fitted_rows, "whose own labels are fitted"),
        ] {
            if let Some(scores) = scores.as_ref().filter(|scores| scores.rows > 0) {
                facts.line(label, &words_of_scores(scores, of));
            }
        }
        self.validated.iter().for_each(|validated| validated.line(facts));
        facts.line(
            "objective",
            &format!("{} = {}", significant(solution.objective, 8), self.task.formula()),
        );
    }

    fn model(&self, solution: &Solution) -> Option<ModelKind> {
        let mut model = BagModel::of(self.task, solution);
        model.other_columns.clone_from(&self.origin.other_columns);
        Some(model.into())
    }

    fn predicts_texts(&self) -> Option<&str> {
        Some("group")
    }

    fn predictions(&self, answer: &Answer<'_>, _: &Solution) -> Result<OutTable> {
        let (data, predicted) = (self.task.data(), &answer.found.predictions);
        let group = |row: usize| {
            let own = data.members().of(row).iter().map(|&code| code as usize);
            // A row is its own group in addition, which goes without saying.
            let singles = data.labelled() - data.singles()..data.labelled();
            let own = own.filter(|code| !singles.contains(code));
            own.map(|code| data.group_names()[code].as_str()).collect::<Vec<_>>().join(";")
        };
        let rows = data.members().rows();
        let (unit, places) = self.origin.places(rows);
        let mut columns = vec![
            (unit.to_owned(), OutColumn::Whole(places)),
            ("group".to_owned(), OutColumn::Texts((0..rows).map(group).collect())),
        ];
        columns.extend(predicted_columns(self.link(), data.label_names(), predicted));
        Ok(OutTable { columns })
    }
}
