//! What is said about a linear predictor, to people and to programs.

use anyhow::Result;
use innermean::Solution;
use innermean_apps::linear::{
    ClassWeights, HeldOut, LinearAnswer, LinearFit, LinearSettings, LinearTask, Loss,
    predicted_columns,
};
use innermean_apps::model::{LinearModel, ModelKind};
use innermean_apps::run::Task;
use innermean_apps::run::inference::Inference;
use rayon::ThreadPool;
use serde::Serialize;

use super::LinearArgs;
use super::data::Origin;
use crate::flags::columns::MissingChoice;
use crate::flags::inference::Asked;
use crate::flags::spelling::spelled;
use crate::output::human::{Facts, grouped, significant};
use crate::output::named_numbers::Heading;
use crate::output::predictions::{OutColumn, OutTable};
use crate::output::validation::Validated;
use crate::run::application::{Application, Source};
use crate::run::page::{Page, Part};

/// All that the report draws on.
pub(super) struct LinearApplication<'a> {
    pub(super) origin: &'a Origin,
    pub(super) task: &'a LinearTask,
    pub(super) args: &'a LinearArgs,
    /// Where penalties were compared.
    pub(super) validated: Option<&'a Validated>,
    /// Whether no file was given.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_validation: Option<&'a Validated>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    class_weights: Option<&'a ClassWeights>,
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
        let (rows, features) = (self.task.rows_read(), data.names().len() as u64);
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
            cross_validation: self.validated,
        })
    }

    fn warning<'a>(&self, answer: &'a Answer<'_>) -> Option<&'a str> {
        answer.warning.as_deref()
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
            target: self.args.columns.target.as_deref(),
            weight: self.args.columns.weight.as_deref(),
            missing: self.args.columns.features.missing(),
            start: self.args.solver.start.to_string(),
            class_weights: self.args.problem.class_weights.as_ref(),
        }
    }

    fn describe<'a>(&'a self, answer: &'a Answer<'_>, solution: &'a Solution, page: &mut Page<'a>) {
        let heading = Heading { name: "feature", number: "coefficient", sum: false };
        let found = &answer.found;
        let names = &self.task.coordinates()[..found.coefficients.len()];
        page.numbers(heading, names, &found.coefficients);
        page.parts.extend(self.validated.map(|validated| Part::Table(validated.grid())));
        let (facts, known) = (&mut page.facts, &page.known);
        let first = found.coefficients.len();
        if let Some(intercept) = found.intercept {
            facts.line("intercept", &known.text(intercept, first, 6));
        }
        if !found.intercepts.is_empty() {
            let of_class = found.class_names.iter().zip(&found.intercepts).zip(first..);
            let shown = of_class.map(|((name, b), l)| format!("{name} {}", known.text(*b, l, 6)));
            facts.line("intercepts", &shown.collect::<Vec<_>>().join(", "));
        }
        if self.task.settings().penalty.l1 > 0.0 {
            let (zeros, all) =
                (grouped(found.zeros as u64), grouped(found.coefficients.len() as u64));
            facts.line("zeros", &format!("{zeros} of {all} coefficients"));
        }
        describe_fit(&found.fit, facts, "");
        if let Some(HeldOut { rows, fit }) = &found.held_out {
            facts.line("weight 0", &format!("{} rows held out:", grouped(*rows as u64)));
            describe_fit(fit, facts, "  ");
        }
        self.validated.iter().for_each(|validated| validated.line(facts));
        facts.line(
            "objective",
            &format!("{} = {}", significant(solution.objective, 8), self.task.settings().formula()),
        );
    }

    fn model(&self, solution: &Solution) -> Option<ModelKind> {
        let mut model = LinearModel::of(self.task, solution);
        model.target.clone_from(&self.args.columns.target);
        model.other_columns.clone_from(&self.origin.other_columns);
        Some(model.into())
    }

    fn predicts_texts(&self) -> Option<&str> {
        let numbers = self.task.data().target().class_names().is_empty();
        (!numbers).then_some("target")
    }

    fn predictions(&self, answer: &Answer<'_>, _: &Solution) -> Result<OutTable> {
        let LinearAnswer { scores, targets, fitted, .. } = &answer.found;
        let rows = OutColumn::Whole((1..=targets.len() as u64).collect());
        let of = self.task.data().target();
        let names = of.class_names();
        let target = if names.is_empty() {
            OutColumn::Numbers(targets.clone())
        } else {
            let name = |y: &f64| of.class(*y).map_or(String::new(), |c| names[c].clone());
            OutColumn::Texts(targets.iter().map(name).collect())
        };
        let mut columns = vec![("row".to_owned(), rows), ("target".to_owned(), target)];
        columns.extend(predicted_columns(&names, self.task.settings().loss, scores));
        if let Some(fitted) = fitted {
            let fitted = fitted.iter().map(|fitted| u64::from(*fitted)).collect();
            columns.push(("fitted".to_owned(), OutColumn::Whole(fitted)));
        }
        Ok(OutTable { columns })
    }
}

/// How well rows are predicted, with `indent` before the labels.
fn describe_fit(fit: &LinearFit, facts: &mut Facts, indent: &str) {
    let mut line = |label: &str, text: &str| facts.line(&format!("{indent}{label}"), text);
    match *fit {
        LinearFit::Numbers { r_squared, root_mean_square_error, mean_absolute_error } => {
            let r_squared = r_squared
                .map_or("none, for all targets are the same".to_owned(), |r| significant(r, 4));
            line("R squared", &r_squared);
            let root = significant(root_mean_square_error, 4);
            let absolute = significant(mean_absolute_error, 4);
            line(
                "error",
                &if mean_absolute_error.is_nan() {
                    format!("{root} root mean square")
                } else {
                    format!("{root} root mean square, {absolute} mean absolute")
                },
            );
        }
        LinearFit::Classes { accuracy, baseline, log_loss } => {
            let log_loss = log_loss
                .map_or(String::new(), |loss| format!(", log loss {}", significant(loss, 4)));
            line(
                "accuracy",
                &format!(
                    "{:.2} % (of the larger class alone {:.2} %){log_loss}",
                    100.0 * accuracy,
                    100.0 * baseline
                ),
            );
        }
    }
}
