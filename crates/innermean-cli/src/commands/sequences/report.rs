//! What is said about a classifier of sequences, to people and to programs.

use anyhow::Result;
use innermean::problems::sequences::search::Origin;
use innermean::{Solution, Status};
use innermean_apps::model::{ModelKind, SequencesModel};
use innermean_apps::run::Task;
use innermean_apps::sequences::{Gaps, NEAR, SequencesAnswer, SequencesTask};
use rayon::ThreadPoolBuilder;
use serde::Serialize;

use super::SequencesArgs;
use super::columns::Table;
use super::language;
use crate::flags::columns::MissingChoice;
use crate::flags::spelling::spelled;
use crate::output::grid::Grid;
use crate::output::human::{duration, grouped, significant};
use crate::output::predictions::{OutColumn, OutTable};
use crate::run::application::{Application, Source};
use crate::run::interrupt;
use crate::run::page::{Page, Part};

/// The column of the likeliest class in the predictions.
pub(super) const PREDICTED: &str = "predicted";
/// Of more classes, only the most frequent are shown.
const MOST_CLASSES: usize = 40;
/// Weights shown for each class.
const WEIGHTS: usize = 3;

/// All that the report draws on.
pub(super) struct SequencesApplication<'a> {
    args: &'a SequencesArgs,
    table: &'a Table,
    spoken: &'a language::Origin,
    task: &'a SequencesTask,
    source: String,
}

#[derive(Serialize)]
pub(super) struct Settings<'a> {
    language: &'a str,
    l2: f64,
    starts: usize,
    start: String,
    gaps: Gaps,
    missing: MissingChoice,
}

impl<'a> SequencesApplication<'a> {
    pub(super) fn new(
        args: &'a SequencesArgs,
        table: &'a Table,
        spoken: &'a language::Origin,
        task: &'a SequencesTask,
    ) -> Self {
        let source = if table.generated {
            table.source.clone()
        } else {
            format!("{}, language from {}", table.source, spoken.source)
        };
        SequencesApplication { args, table, spoken, task, source }
    }

    fn classes(&self) -> usize {
        self.task.language().names.len()
    }

    /// The accuracy of the same classifier fitted with the labels; none if the user does not want
    /// to wait for it.
    fn accuracy_with_labels(&self) -> Result<Option<f64>> {
        let interrupt = interrupt::listen()?;
        let pool = ThreadPoolBuilder::new().num_threads(self.args.solver.threads).build()?;
        Ok(pool.install(|| self.task.accuracy_with_labels(Some(interrupt)))?)
    }

    /// A line for each class: how often it should occur and does, how often it is right, and what
    /// speaks for it.
    fn class_table(&self, answer: &SequencesAnswer, theta: &[f64]) -> Grid {
        let mut shown: Vec<usize> = (0..self.classes()).collect();
        if shown.len() > MOST_CLASSES {
            shown.sort_by(|&a, &b| {
                answer.class_frequencies[b].total_cmp(&answer.class_frequencies[a])
            });
            shown.truncate(MOST_CLASSES);
        }
        let recall = answer.scores.as_ref().map(|scores| &scores.recall);
        let mut header = vec!["class", "language", "predicted"];
        header.extend(recall.map(|_| "right"));
        let numbers = 1..header.len();
        header.push("largest weights");
        let rows = shown.iter().map(|&c| {
            let mut row = vec![
                self.task.language().names[c].clone(),
                format!("{:.4}", answer.class_frequencies[c]),
                format!("{:.4}", answer.predicted_frequencies[c]),
            ];
            row.extend(
                recall
                    .map(|recall| recall[c].map_or("-".to_owned(), |share| format!("{share:.3}"))),
            );
            row.push(self.largest_weights(c, theta));
            row
        });
        let hidden = self.classes() - shown.len();
        Grid {
            title: String::new(),
            header: header.into_iter().map(str::to_owned).collect(),
            rows: rows.collect(),
            numbers,
            note: (hidden > 0).then(|| format!("{hidden} rarer classes (--json has all)")),
        }
    }

    fn largest_weights(&self, class: usize, theta: &[f64]) -> String {
        let width = self.task.sequences().width();
        let weights = &theta[class * width..(class + 1) * width - 1];
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
        let largest = order.iter().take(WEIGHTS);
        largest
            .map(|&k| format!("{} {:+.2}", self.task.steps().feature_names[k], weights[k]))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl Application for SequencesApplication<'_> {
    const NAME: &'static str = "sequences";
    const PRINTS_THETA: bool = false;
    type Task = SequencesTask;
    type Answer<'a>
        = SequencesAnswer
    where
        Self: 'a;
    type Settings<'a>
        = Settings<'a>
    where
        Self: 'a;

    fn aside(&self) -> Result<Vec<u8>> {
        // The search is not done again: where time or the user has cut it short, it would find
        // something else.
        Ok(self.task.found().map(postcard::to_stdvec).transpose()?.unwrap_or_default())
    }

    fn task(&self) -> &SequencesTask {
        self.task
    }

    fn title(&self) -> String {
        let steps = self.task.steps();
        let (steps, sequences) = (steps.places.len() as u64, steps.sequences as u64);
        let order = if self.task.language().model.order() == 2 { "bigrams" } else { "trigrams" };
        format!(
            "Classifier of {} classes for {} steps in {} sequences, from {} {order}",
            self.classes(),
            grouped(steps),
            grouped(sequences),
            grouped(self.task.language().model.len() as u64)
        )
    }

    fn source(&self) -> Source<'_> {
        Source { text: &self.source, generated: self.table.generated, asked: false }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.table.notes.clone();
        let found: Vec<String> = self.task.notes().iter().map(spelled).collect();
        let (of_steps, others) = found.split_at(self.task.steps().notes().len());
        notes.extend_from_slice(of_steps);
        notes.extend_from_slice(&self.spoken.notes);
        notes.extend_from_slice(others);
        notes
    }

    fn model(&self, solution: &Solution) -> Option<ModelKind> {
        let mut model = SequencesModel::of(self.task, solution);
        model.other_columns.clone_from(&self.table.other_columns);
        Some(model.into())
    }

    fn predicts_texts(&self) -> Option<&str> {
        Some(PREDICTED)
    }

    fn answer<'a>(
        &'a self,
        mut found: SequencesAnswer,
        solution: &'a Solution,
    ) -> Result<SequencesAnswer> {
        // That takes time too.
        let cut_short = matches!(solution.status, Status::Interrupted | Status::MaxSeconds);
        if let Some(scores) = found.scores.take() {
            let with_labels = if cut_short { None } else { self.accuracy_with_labels()? };
            found.scores = Some(scores.beside(with_labels));
        }
        Ok(found)
    }

    fn settings(&self) -> Settings<'_> {
        Settings {
            language: &self.spoken.source,
            l2: self.args.problem.l2,
            starts: self.args.problem.starts,
            start: self.args.solver.start.to_string(),
            gaps: self.table.gaps,
            missing: self.table.missing,
        }
    }

    fn describe<'a>(
        &'a self,
        answer: &'a SequencesAnswer,
        solution: &'a Solution,
        page: &mut Page<'a>,
    ) {
        page.parts.push(Part::Table(self.class_table(answer, &solution.theta)));
        let facts = &mut page.facts;
        if let Some(scores) = &answer.scores {
            let beside = match (scores.accuracy_with_labels, scores.ratio) {
                (Some(with_labels), Some(ratio)) => {
                    format!(", {with_labels:.4} with labels, ratio {ratio:.4}")
                }
                _ => String::new(),
            };
            let steps = grouped(scores.labelled_steps as u64);
            let text =
                format!("{:.4} without labels{beside}, on {steps} labelled steps", scores.accuracy);
            facts.line("accuracy", &text);
        }
        facts.line(
            "divergence",
            &format!(
                "{} from the language model; cross-entropy {}, at best its entropy {}",
                significant(answer.divergence, 4),
                significant(answer.cross_entropy, 5),
                significant(answer.entropy, 5)
            ),
        );
        let ridge = self.args.problem.l2;
        let ridge = if ridge > 0.0 { format!(" + {ridge}/2 |theta|^2") } else { String::new() };
        facts.line(
            "objective",
            &format!("{} = divergence{ridge}", significant(solution.objective, 6)),
        );
        if answer.ngrams_below_floor > 0 {
            facts.line(
                "",
                &format!(
                    "{} of {} n-grams are predicted less than a hundredth as often as they should \
                     be; there the objective goes on along a tangent",
                    answer.ngrams_below_floor, answer.ngrams
                ),
            );
        }
        if let Some(search) = &answer.search {
            let of = |origin: Origin| {
                search.starts.iter().filter(|tried| tried.origin == origin).count()
            };
            let second = search
                .second
                .map_or(String::new(), |second| format!(", the next {}", significant(second, 4)));
            facts.line(
                "starts",
                &format!(
                    "best of {} ({} from clusters, {} random): objective {}{second}; {} within \
                     {NEAR} of the best on {} steps",
                    search.starts.len(),
                    of(Origin::Clusters),
                    of(Origin::Random),
                    significant(search.best, 4),
                    search.near_best,
                    grouped(search.part_steps as u64)
                ),
            );
            facts.line("time of search", &duration(search.seconds));
        }
    }

    /// A row for each row of the file, in its order.
    fn predictions(&self, answer: &SequencesAnswer, _: &Solution) -> Result<OutTable> {
        let steps = self.task.steps();
        let (places, labels) = (&steps.places, steps.labels());
        let ids = (0..places.len()).map(|row| self.table.id(row).to_owned()).collect();
        let (rows, steps) = (places.len(), &steps.numbers);
        let mut step_of = vec![0; rows];
        places.iter().enumerate().for_each(|(t, &row)| step_of[row] = t);
        let likeliest = |row: usize| answer.likeliest(step_of[row]);
        let names = &self.task.language().names;
        let whole = steps.iter().all(|step| step.fract() == 0.0 && (0.0..1e15).contains(step));
        let steps = if whole {
            OutColumn::Whole(steps.iter().map(|step| *step as u64).collect())
        } else {
            OutColumn::Numbers(steps.clone())
        };
        let mut columns = vec![
            ("sequence".to_owned(), OutColumn::Texts(ids)),
            ("step".to_owned(), steps),
            (
                PREDICTED.to_owned(),
                OutColumn::Texts((0..rows).map(|row| names[likeliest(row).0].clone()).collect()),
            ),
            (
                "probability".to_owned(),
                OutColumn::Numbers((0..rows).map(|row| likeliest(row).1).collect()),
            ),
        ];
        if let Some(labels) = labels {
            let name = |row: usize| {
                labels[step_of[row]].map_or(String::new(), |c| names[c as usize].clone())
            };
            columns.push(("label".to_owned(), OutColumn::Texts((0..rows).map(name).collect())));
        }
        if self.args.all_probabilities {
            for (c, name) in names.iter().enumerate() {
                let of = |row: usize| answer.probabilities[step_of[row] * names.len() + c];
                columns
                    .push((format!("p({name})"), OutColumn::Numbers((0..rows).map(of).collect())));
            }
        }
        Ok(OutTable { columns })
    }
}
