//! What is said about a linear predictor, to people and to programs.

use anyhow::Result;
use innermean::Solution;
use innermean_apps::linear::{
    LinearAnswer, LinearFit, LinearSettings, LinearTask, Loss, Target, probability,
};
use innermean_apps::run::Task;
use innermean_apps::run::inference::Inference;
use rayon::ThreadPool;
use serde::Serialize;

use super::ColumnFlags;
use super::data::Origin;
use crate::flags::columns::MissingChoice;
use crate::flags::inference::Asked;
use crate::flags::spelling::spelled;
use crate::output::human::{grouped, significant};
use crate::output::named_numbers::Heading;
use crate::output::predictions::{OutColumn, OutTable};
use crate::run::application::{Application, Page, Source};
use crate::run::start::Start;

/// All that the report draws on.
pub(super) struct LinearApplication<'a> {
    pub(super) origin: &'a Origin,
    pub(super) task: &'a LinearTask,
    pub(super) columns: &'a ColumnFlags,
    pub(super) start: &'a Start,
    /// Whether nobody gave a file.
    pub(super) generated: bool,
    /// Whether it was asked for that rows be generated.
    pub(super) asked: bool,
    /// How sure one wants to be.
    pub(super) inference: Option<Asked<'a>>,
}

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    #[serde(flatten)]
    found: LinearAnswer,
    warning: Option<String>,
    dropped: Dropped<'a>,
}

#[derive(Serialize)]
struct Dropped<'a> {
    rows: usize,
    features: &'a [String],
}

#[derive(Serialize)]
pub(super) struct Settings<'a> {
    loss: Loss,
    width: Option<f64>,
    intercept: bool,
    scaling: bool,
    l1: f64,
    l2: f64,
    target: Option<&'a str>,
    weight: Option<&'a str>,
    missing: MissingChoice,
    start: String,
}

impl Application for LinearApplication<'_> {
    const NAME: &'static str = "linear";
    type Task = LinearTask;
    type Answer<'a>
        = Answer<'a>
    where
        Self: 'a;
    type Settings<'a>
        = Settings<'a>
    where
        Self: 'a;

    fn task(&self) -> &LinearTask {
        self.task
    }

    fn title(&self) -> String {
        let data = self.task.data();
        let (rows, features) = (data.len() as u64, data.names().len() as u64);
        let sparse = if self.task.is_sparse() { "sparse " } else { "" };
        format!("{} {sparse}rows of {} features", grouped(rows), grouped(features))
    }

    fn source(&self) -> Source<'_> {
        Source { text: &self.origin.source, generated: self.generated, asked: self.asked }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.origin.notes.clone();
        let found: Vec<String> = self.task.notes().iter().map(spelled).collect();
        let (of_data, others) = found.split_at(self.task.data().notes().len());
        notes.extend_from_slice(of_data);
        notes.extend(self.origin.dropped_notes());
        notes.extend_from_slice(others);
        notes
    }

    fn answer<'a>(&'a self, found: LinearAnswer, _: &'a Solution) -> Result<Answer<'a>> {
        let dropped = &self.origin.dropped;
        Ok(Answer {
            warning: found.warning.as_ref().map(spelled),
            found,
            dropped: Dropped { rows: dropped.rows, features: &dropped.columns },
        })
    }

    fn inference(&self, solution: &Solution, threads: &ThreadPool) -> Result<Option<Inference>> {
        let asked = self.inference.as_ref();
        asked.map(|asked| asked.infer(self.task, solution, threads)).transpose()
    }

    fn settings(&self) -> Settings<'_> {
        let &LinearSettings { loss, intercept, scaling, penalty, .. } = self.task.settings();
        Settings {
            loss,
            width: self.task.width(),
            intercept,
            scaling,
            l1: penalty.l1,
            l2: penalty.l2,
            target: self.columns.target.as_deref(),
            weight: self.columns.weight.as_deref(),
            missing: self.columns.features.missing(),
            start: self.start.to_string(),
        }
    }

    fn describe<'a>(&'a self, answer: &'a Answer<'_>, solution: &'a Solution, page: &mut Page<'a>) {
        let heading = Heading { name: "feature", number: "coefficient", sum: false };
        let found = &answer.found;
        page.numbers(heading, self.task.data().names(), &found.coefficients);
        let facts = &mut page.facts;
        if let Some(intercept) = found.intercept {
            facts.line("intercept", &significant(intercept, 6));
        }
        if self.task.settings().penalty.l1 > 0.0 {
            let (zeros, all) =
                (grouped(found.zeros as u64), grouped(found.coefficients.len() as u64));
            facts.line("zeros", &format!("{zeros} of {all} coefficients"));
        }
        match found.fit {
            LinearFit::Numbers { r_squared, root_mean_square_error, mean_absolute_error } => {
                let r_squared = r_squared
                    .map_or("none, for all targets are the same".to_owned(), |r| significant(r, 4));
                facts.line("R squared", &r_squared);
                facts.line(
                    "error",
                    &format!(
                        "{} root mean square, {} mean absolute",
                        significant(root_mean_square_error, 4),
                        significant(mean_absolute_error, 4)
                    ),
                );
            }
            LinearFit::Classes { accuracy, baseline, log_loss } => {
                let log_loss = log_loss
                    .map_or(String::new(), |loss| format!(", log loss {}", significant(loss, 4)));
                facts.line(
                    "accuracy",
                    &format!(
                        "{:.2} % (of the larger class alone {:.2} %){log_loss}",
                        100.0 * accuracy,
                        100.0 * baseline
                    ),
                );
            }
        }
        facts.line(
            "objective",
            &format!("{} = {}", significant(solution.objective, 8), self.task.settings().formula()),
        );
        if let Some(warning) = &answer.warning {
            facts.line("warning", warning);
        }
    }

    fn predicts_texts(&self) -> Option<&str> {
        self.task.data().target().classes().map(|_| "target")
    }

    fn predictions(&self, answer: &Answer<'_>, _: &Solution) -> Result<OutTable> {
        let rows = OutColumn::Whole((1..=answer.found.scores.len() as u64).collect());
        let mut columns = vec![("row".to_owned(), rows)];
        let mut add = |name: &str, column| columns.push((name.to_owned(), column));
        match self.task.data().target() {
            Target::Numbers(targets) => {
                add("target", OutColumn::Numbers(targets.clone()));
                add("prediction", OutColumn::Numbers(answer.found.scores.clone()));
            }
            Target::Classes(classes, labels) => {
                let names = |of: &[f64]| {
                    OutColumn::Texts(of.iter().map(|y| classes.name(*y).to_owned()).collect())
                };
                add("target", names(labels));
                add("prediction", names(&answer.found.scores));
                add("score", OutColumn::Numbers(answer.found.scores.clone()));
                if self.task.settings().loss == Loss::Logistic {
                    let probabilities =
                        answer.found.scores.iter().map(|score| probability(*score)).collect();
                    add("probability", OutColumn::Numbers(probabilities));
                }
            }
        }
        Ok(OutTable { columns })
    }
}
