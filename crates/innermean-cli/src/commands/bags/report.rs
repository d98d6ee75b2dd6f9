//! What is said about a fit to groups, to people and to programs.

use std::fmt::Write as _;

use anyhow::Result;
use innermean::Solution;
use innermean_apps::bags::{
    BagAnswer, BagLink, BagLoss, BagSettings, BagTask, GroupFit, predicted_columns,
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
use crate::output::human::{grouped, significant};
use crate::output::named_numbers::Heading;
use crate::output::predictions::{OutColumn, OutTable};
use crate::output::validation::Validated;
use crate::run::application::{Application, Page, Part, Source};
use crate::run::start::Start;

/// All that the report draws on.
pub(super) struct BagsApplication<'a> {
    pub(super) origin: &'a Origin,
    pub(super) task: &'a BagTask,
    pub(super) start: &'a Start,
    /// Where penalties were compared.
    pub(super) validated: Option<&'a Validated>,
    /// Whether nobody gave a file.
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

impl BagsApplication<'_> {
    fn link(&self) -> BagLink {
        self.task.settings().link
    }
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
        format!(
            "{} of {} in {} with {labels} each",
            counted(groups.rows(), "row"),
            counted(groups.width(), "feature"),
            counted(groups.count(), "group")
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
        page.parts.extend(self.validated.map(|validated| Part::Table(validated.grid())));
        let facts = &mut page.facts;
        let GroupFit { mean_absolute_error, log_loss, log_loss_floor, r_squared } =
            &answer.found.group_fit;
        let mut fit = format!("mean absolute error {}", significant(*mean_absolute_error, 4));
        if let (Some(loss), Some(floor)) = (log_loss, log_loss_floor) {
            // Writing to a string does not fail.
            let _ = write!(
                fit,
                ", log loss {} (at least {})",
                significant(*loss, 5),
                significant(*floor, 5)
            );
        }
        if let Some(r_squared) = r_squared {
            let _ = write!(fit, ", R^2 {}", significant(*r_squared, 4));
        }
        facts.line("fit of groups", &fit);
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
        if let Some(scores) = &answer.found.row_scores {
            let mut parts = Vec::new();
            parts.extend(scores.accuracy.map(|a| format!("accuracy {}", significant(a, 4))));
            parts.extend(scores.auc.map(|a| format!("AUC {}", significant(a, 4))));
            parts.extend(
                scores
                    .mean_absolute_error
                    .map(|e| format!("mean absolute error {}", significant(e, 4))),
            );
            let rows = grouped(scores.rows as u64);
            facts.line(
                "single rows",
                &format!("{} over {rows} rows with labels of their own", parts.join(", ")),
            );
        }
        self.validated.iter().for_each(|validated| validated.line(facts));
        facts.line(
            "objective",
            &format!("{} = {}", significant(solution.objective, 8), self.task.formula()),
        );
        if let Some(warning) = &answer.warning {
            facts.line("warning", warning);
        }
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
        let group = |&code: &u32| data.group_names()[code as usize].clone();
        let (unit, places) = self.origin.places(data.groups().len());
        let mut columns = vec![
            (unit.to_owned(), OutColumn::Whole(places)),
            ("group".to_owned(), OutColumn::Texts(data.groups().iter().map(group).collect())),
        ];
        columns.extend(predicted_columns(self.link(), data.label_names(), predicted));
        Ok(OutTable { columns })
    }
}
