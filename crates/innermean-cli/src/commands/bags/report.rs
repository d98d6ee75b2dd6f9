//! What is said about a fit to groups, to people and to programs.

use std::fmt::Write as _;

use anyhow::Result;
use innermean::Solution;
use serde::Serialize;

use super::fit::{self, GroupFit, RowScores, WorstGroup};
use super::model::Model;
use super::table::Data;
use super::{LinkChoice, Loss, ProblemFlags};
use crate::output::human::{grouped, significant};
use crate::output::named_numbers::Heading;
use crate::output::predictions::{OutColumn, OutTable};
use crate::run::application::{Application, Page, Source};
use crate::run::start::Start;
use innermean::problems::scaling::Scaling;

/// Groups that are shown because they are fitted badly.
const WORST: usize = 3;

/// All that the report draws on.
pub(super) struct BagsApplication<'a> {
    pub(super) data: &'a Data,
    /// Of all rows, in units of the run, if they are needed again.
    pub(super) features: &'a [f64],
    pub(super) model: &'a Model,
    pub(super) scaling: &'a Scaling,
    pub(super) flags: &'a ProblemFlags,
    pub(super) loss: Loss,
    pub(super) names: Vec<String>,
    pub(super) start: &'a Start,
    /// Whether nobody gave a file.
    pub(super) generated: bool,
}

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    groups: usize,
    rows: usize,
    group_fit: GroupFit,
    worst_groups: Vec<WorstGroup<'a>>,
    row_scores: Option<RowScores>,
    warning: Option<&'static str>,
    /// Of all rows, where they were asked for.
    #[serde(skip)]
    predictions: Vec<f64>,
}

#[derive(Serialize)]
pub(super) struct Settings {
    link: LinkChoice,
    loss: Loss,
    intercept: bool,
    scaling: bool,
    l1: f64,
    l2: f64,
    start: String,
}

impl BagsApplication<'_> {
    fn formula(&self) -> String {
        let mut terms = vec![match (self.flags.link, self.loss) {
            (_, Loss::CrossEntropy) => "mean cross-entropy of groups".to_owned(),
            (_, Loss::Square) => "mean square of (average - label)".to_owned(),
            (_, Loss::Poisson) => "half the deviance of counts for each row".to_owned(),
        }];
        terms.extend(self.flags.penalty.terms("coefficients"));
        terms.join(" + ")
    }

    /// What a prediction is.
    fn prediction(&self) -> &'static str {
        match self.flags.link {
            LinkChoice::Logistic | LinkChoice::Softmax => "probability",
            LinkChoice::Identity => "prediction",
            LinkChoice::Exp => "expected_count",
        }
    }
}

impl Application for BagsApplication<'_> {
    const NAME: &'static str = "bags";
    type Answer<'a>
        = Answer<'a>
    where
        Self: 'a;
    type Settings<'a>
        = Settings
    where
        Self: 'a;

    fn title(&self) -> String {
        let labels = match self.flags.link {
            LinkChoice::Logistic => "a proportion",
            LinkChoice::Softmax => "class proportions",
            LinkChoice::Identity => "a mean",
            LinkChoice::Exp => "a count",
        };
        let groups = self.model.groups();
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
        Source { text: &self.data.source, generated: self.generated, asked: false }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.data.notes.clone();
        notes.extend(self.scaling.note());
        let (groups, d) = (self.model.groups().count(), self.names.len());
        if self.flags.penalty.l2 == 0.0 && groups * self.data.label_names.len() < d {
            notes.push(format!(
                "There are fewer labels than coefficients ({d}), so that many fits are equally good: give --l2, or fewer --columns."
            ));
        }
        if self.generated {
            notes.push(
                "The labels of single rows are known to the generator; they are used for scores alone."
                    .to_owned(),
            );
        }
        notes
    }

    fn coordinates(&self) -> &[String] {
        &self.names
    }

    fn rescaled(&self, theta: Vec<f64>) -> Vec<f64> {
        self.scaling.scaled(&theta)
    }

    fn start(&self) -> Option<Vec<f64>> {
        Some(self.model.start(self.data))
    }

    fn answer<'a>(&'a self, solution: &'a Solution) -> Result<Answer<'a>> {
        // In units of the run, as the features are.
        let (data, z) = (self.data, self.scaling.scaled(&solution.theta));
        let fitted = self.model.fitted(data, self.loss, &z);
        let sizes = self.model.sizes();
        let counts = self.flags.link == LinkChoice::Exp;
        let ell = data.label_names.len();
        let worst = fit::worst(&data.labels, &fitted, &sizes, counts, WORST);
        let worst_groups = worst.into_iter().map(|(i, c)| WorstGroup {
            group: &data.group_names[i],
            rows: sizes[i] as usize,
            label: data.labels[i * ell + c],
            fitted: fitted[i * ell + c] * if counts { sizes[i] } else { 1.0 },
            class: (ell > 1).then(|| data.label_names[c].as_str()),
        });
        let parted = fit::parted(self.flags.link, &data.labels, &fitted, &sizes);
        let predictions = if self.features.is_empty() {
            Vec::new()
        } else {
            self.model.predictions(self.features, &z)?
        };
        Ok(Answer {
            groups: sizes.len(),
            rows: self.model.groups().rows(),
            group_fit: fit::of_groups(self.flags.link, self.loss, &data.labels, &fitted, &sizes),
            worst_groups: worst_groups.collect(),
            row_scores: data
                .row_labels
                .as_ref()
                .map(|labels| fit::of_rows(self.flags.link, labels, &predictions)),
            warning: self.flags.penalty.warning_if_parted(parted),
            predictions,
        })
    }

    fn settings(&self) -> Settings {
        let ProblemFlags { link, penalty, no_intercept, no_scaling, .. } = self.flags;
        Settings {
            link: *link,
            loss: self.loss,
            intercept: !no_intercept,
            scaling: !no_scaling,
            l1: penalty.l1,
            l2: penalty.l2,
            start: self.start.to_string(),
        }
    }

    fn describe<'a>(&'a self, answer: &'a Answer<'_>, solution: &'a Solution, page: &mut Page<'a>) {
        let heading = Heading { name: "feature", number: "coefficient", sum: false };
        page.numbers(heading, &self.names, &solution.theta);
        let facts = &mut page.facts;
        let GroupFit { mean_absolute_error, log_loss, log_loss_floor, r_squared } =
            &answer.group_fit;
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
        let worst = answer.worst_groups.iter().map(|worst| {
            let class = worst.class.map_or(String::new(), |class| format!("{class} "));
            let (label, fitted) = (significant(worst.label, 4), significant(worst.fitted, 4));
            format!(
                "{} ({class}{label}, fitted {fitted}, {} rows)",
                worst.group,
                grouped(worst.rows as u64)
            )
        });
        facts.line("worst groups", &worst.collect::<Vec<_>>().join("; "));
        if let Some(scores) = &answer.row_scores {
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
        facts.line(
            "objective",
            &format!("{} = {}", significant(solution.objective, 8), self.formula()),
        );
        if let Some(warning) = answer.warning {
            facts.line("warning", warning);
        }
    }

    fn predicts_texts(&self) -> Option<&str> {
        Some("group")
    }

    fn predictions(&self, answer: &Answer<'_>, _: &Solution) -> Result<OutTable> {
        let data = self.data;
        let ell = data.label_names.len();
        let group = |&code: &u32| data.group_names[code as usize].clone();
        let (unit, places) = data.places();
        let mut columns = vec![
            (unit.to_owned(), OutColumn::Whole(places)),
            ("group".to_owned(), OutColumn::Texts(data.groups.iter().map(group).collect())),
        ];
        if ell == 1 {
            columns.push((
                self.prediction().to_owned(),
                OutColumn::Numbers(answer.predictions.clone()),
            ));
        } else {
            let class = |p: &[f64]| data.label_names[fit::most_probable(p)].clone();
            let classes = answer.predictions.chunks_exact(ell).map(class).collect();
            columns.push(("class".to_owned(), OutColumn::Texts(classes)));
            for (c, name) in data.label_names.iter().enumerate() {
                let own = answer.predictions.iter().skip(c).step_by(ell).copied().collect();
                columns.push((format!("probability of {name}"), OutColumn::Numbers(own)));
            }
        }
        Ok(OutTable { columns })
    }
}
