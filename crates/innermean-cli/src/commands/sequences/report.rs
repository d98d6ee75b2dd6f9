//! What is said about a classifier of sequences, to people and to programs.

use anyhow::Result;
use innermean::problems::sequences::search::{Found, Origin, Tried};
use innermean::{AnyMethod, Choice, Driver, Fused, Inner, Ridge, Solution, Status, Stop};
use rayon::ThreadPoolBuilder;
use serde::Serialize;

use super::columns::{Gaps, Table};
use super::language::Language;
use super::scale::Scale;
use super::{FIRST_STEP, SequencesArgs, SequencesProblem};
use crate::flags::columns::MissingChoice;
use crate::output::grid::Grid;
use crate::output::human::{grouped, significant};
use crate::output::predictions::{OutColumn, OutTable};
use crate::run::application::{Application, Page, Part, Source};
use crate::run::interrupt;

/// The column of the likeliest class in the predictions.
pub(super) const PREDICTED: &str = "predicted";
/// Of more classes, only the most frequent are shown.
const MOST_CLASSES: usize = 40;
/// Weights shown for each class.
const WEIGHTS: usize = 3;
/// Starts so near to the best count as having found it too.
const NEAR: f64 = 0.01;
/// Outer iterations of the classifier that is fitted with labels: it is convex, and its accuracy
/// settles long before.
const WITH_LABELS: u64 = 150;
/// Its ridge.
const RIDGE_WITH_LABELS: f64 = 1e-6;

/// All that the report draws on.
pub(super) struct SequencesApplication<'a> {
    args: &'a SequencesArgs,
    table: &'a Table,
    language: &'a Language,
    scale: &'a Scale,
    problem: &'a SequencesProblem,
    found: Option<Found>,
    /// `class: feature`
    coordinates: Vec<String>,
    source: String,
}

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    classes: &'a [String],
    order: usize,
    ngrams: usize,
    steps: usize,
    sequences: usize,
    features: &'a [String],
    #[serde(flatten)]
    scale: &'a Scale,
    /// From the language model to the predictions: the objective without the ridge.
    divergence: f64,
    entropy: f64,
    cross_entropy: f64,
    /// N-grams predicted so seldom that the tangent stands for the logarithm.
    ngrams_below_floor: usize,
    class_frequencies: Vec<f64>,
    predicted_frequencies: Vec<f64>,
    scores: Option<Scores>,
    search: Option<SearchAnswer<'a>>,
    #[serde(skip)]
    probabilities: Vec<f64>,
}

/// What labels say about the classifier.
#[derive(Serialize)]
struct Scores {
    labelled_steps: usize,
    accuracy: f64,
    /// None where the run was cut short, for this takes time too.
    accuracy_with_labels: Option<f64>,
    ratio: Option<f64>,
    /// The share of each class's labelled steps that are classified as it.
    recall: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct SearchAnswer<'a> {
    starts: &'a [Tried],
    best: f64,
    second: Option<f64>,
    near_best: usize,
    part_steps: usize,
    seconds: f64,
    cut_short: bool,
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
        language: &'a Language,
        scale: &'a Scale,
        problem: &'a SequencesProblem,
        found: Option<Found>,
    ) -> Self {
        let features = table.feature_names.iter().map(String::as_str).chain(["(intercept)"]);
        let features: Vec<&str> = features.collect();
        let names =
            |class: &String| features.iter().map(|k| format!("{class}: {k}")).collect::<Vec<_>>();
        let coordinates = language.names.iter().flat_map(names).collect();
        let source = if table.generated {
            table.source.clone()
        } else {
            format!("{}, language from {}", table.source, language.source)
        };
        SequencesApplication { args, table, language, scale, problem, found, coordinates, source }
    }

    fn classes(&self) -> usize {
        self.language.names.len()
    }

    /// The likeliest class of a step, and its probability.
    fn likeliest(&self, probabilities: &[f64], t: usize) -> (usize, f64) {
        let row = &probabilities[t * self.classes()..(t + 1) * self.classes()];
        let mut best = (0, row[0]);
        for (c, &p) in row.iter().enumerate() {
            if p > best.1 {
                best = (c, p);
            }
        }
        best
    }

    /// How often the class of the label is the likeliest, over all labelled steps and for each
    /// class.
    fn accuracy(&self, labels: &[Option<u32>], probabilities: &[f64]) -> (f64, Vec<Option<f64>>) {
        let mut counts = vec![(0_usize, 0_usize); self.classes()];
        for (t, label) in labels.iter().enumerate() {
            if let Some(label) = label {
                let (right, all) = &mut counts[*label as usize];
                *all += 1;
                *right += usize::from(self.likeliest(probabilities, t).0 == *label as usize);
            }
        }
        let total = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
        let share = |(right, all): (usize, usize)| (all > 0).then(|| right as f64 / all as f64);
        (share(total).unwrap_or(0.0), counts.into_iter().map(share).collect())
    }

    /// The scores and, unless the run was cut short, those of the same classifier fitted with the
    /// labels.
    fn scores(&self, probabilities: &[f64], status: Status) -> Result<Option<Scores>> {
        let Some(labels) = &self.table.labels else { return Ok(None) };
        let labelled_steps = labels.iter().flatten().count();
        if labelled_steps == 0 {
            return Ok(None);
        }
        let (accuracy, recall) = self.accuracy(labels, probabilities);
        let cut_short = matches!(status, Status::Interrupted | Status::MaxSeconds);
        let accuracy_with_labels =
            if cut_short { None } else { self.accuracy_with_labels(labels)? };
        let ratio = accuracy_with_labels.map(|with_labels| accuracy / with_labels);
        Ok(Some(Scores { labelled_steps, accuracy, accuracy_with_labels, ratio, recall }))
    }

    /// None if the user does not want to wait for it.
    fn accuracy_with_labels(&self, labels: &[Option<u32>]) -> Result<Option<f64>> {
        let f = &self.problem.inner;
        let problem = f.labelled(labels, Ridge::from_weight(RIDGE_WITH_LABELS)?)?;
        let zeros = vec![0.0; f.d()];
        let choice = Choice { alpha_theta: Some(FIRST_STEP), ..Choice::default() };
        let method = AnyMethod::named("lbfgs", &choice, &problem, &zeros)?;
        let stop = Stop { max_outer: Some(WITH_LABELS), tolerance: None, ..Stop::default() };
        let driver = Driver { stop, interrupt: Some(interrupt::listen()?), ..Driver::default() };
        let pool = ThreadPoolBuilder::new().num_threads(self.args.solver.threads).build()?;
        let fitted = pool.install(|| method.run(&driver, &problem, &zeros, &mut ()));
        let in_time = fitted.status != Status::Interrupted;
        Ok(in_time.then(|| self.accuracy(labels, &f.probabilities(&fitted.theta)).0))
    }

    fn search(&self) -> Option<SearchAnswer<'_>> {
        let found = self.found.as_ref()?;
        let mut on_all: Vec<f64> = found.tried.iter().filter_map(|tried| tried.on_all).collect();
        on_all.sort_by(f64::total_cmp);
        let on_part = || found.tried.iter().filter_map(|tried| tried.on_part);
        let best = on_part().fold(f64::INFINITY, f64::min);
        Some(SearchAnswer {
            starts: &found.tried,
            best: found.objective,
            second: on_all.get(1).copied(),
            near_best: on_part().filter(|objective| *objective <= best + NEAR).count(),
            part_steps: found.part,
            seconds: found.seconds,
            cut_short: found.cut_short,
        })
    }

    /// A line for each class: how often it should occur and does, how often it is right, and what
    /// speaks for it.
    fn class_table(&self, answer: &Answer<'_>, theta: &[f64]) -> Grid {
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
                self.language.names[c].clone(),
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
        let width = self.problem.inner.width();
        let weights = &theta[class * width..(class + 1) * width - 1];
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
        let largest = order.iter().take(WEIGHTS);
        largest
            .map(|&k| format!("{} {:+.2}", self.table.feature_names[k], weights[k]))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl Application for SequencesApplication<'_> {
    const NAME: &'static str = "sequences";
    type Answer<'a>
        = Answer<'a>
    where
        Self: 'a;
    type Settings<'a>
        = Settings<'a>
    where
        Self: 'a;

    fn aside(&self) -> Result<Vec<u8>> {
        // The search is not done again: where time or the user has cut it short, it would find
        // something else.
        Ok(self.found.as_ref().map(postcard::to_stdvec).transpose()?.unwrap_or_default())
    }

    fn title(&self) -> String {
        let Table { places, sequences, .. } = self.table;
        let (steps, sequences) = (places.len() as u64, *sequences as u64);
        let order = if self.language.model.order() == 2 { "bigrams" } else { "trigrams" };
        format!(
            "Classifier of {} classes for {} steps in {} sequences, from {} {order}",
            self.classes(),
            grouped(steps),
            grouped(sequences),
            grouped(self.language.model.len() as u64)
        )
    }

    fn source(&self) -> Source<'_> {
        Source { text: &self.source, generated: self.table.generated, asked: false }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.table.notes.clone();
        notes.extend(self.language.notes.iter().cloned());
        if !self.scale.constant.is_empty() {
            let names = self.scale.constant.join(", ");
            notes.push(format!("Features that are always the same and say nothing: {names}."));
        }
        if self.found.as_ref().is_some_and(|found| found.cut_short) {
            notes.push("The search was cut short: the start may be far from the best.".to_owned());
        }
        notes
    }

    fn coordinates(&self) -> &[String] {
        &self.coordinates
    }

    fn start(&self) -> Option<Vec<f64>> {
        self.found.as_ref().map(|found| found.theta.clone())
    }

    fn predicts_texts(&self) -> Option<&str> {
        Some(PREDICTED)
    }

    fn answer<'a>(&'a self, solution: &'a Solution) -> Result<Answer<'a>> {
        let f = &self.problem.inner;
        let mut averages = vec![0.0; f.n_x()];
        f.f().means(&solution.theta, &mut averages);
        let merit = &self.problem.merit;
        let below = (0..f.n_x()).filter(|&i| !merit.is_exact_for(i, averages[i])).count();
        let divergence = self.problem.erased().loss(&averages);
        let probabilities = f.probabilities(&solution.theta);
        let mut predicted_frequencies = vec![0.0; self.classes()];
        for t in 0..f.steps() {
            predicted_frequencies[self.likeliest(&probabilities, t).0] += 1.0 / f.steps() as f64;
        }
        let entropy = self.language.model.entropy();
        Ok(Answer {
            classes: &self.language.names,
            order: self.language.model.order(),
            ngrams: f.n_x(),
            steps: f.steps(),
            sequences: self.table.sequences,
            features: &self.table.feature_names,
            scale: self.scale,
            divergence,
            entropy,
            cross_entropy: divergence + entropy,
            ngrams_below_floor: below,
            class_frequencies: self.language.model.class_frequencies(),
            predicted_frequencies,
            scores: self.scores(&probabilities, solution.status)?,
            search: self.search(),
            probabilities,
        })
    }

    fn settings(&self) -> Settings<'_> {
        Settings {
            language: &self.language.source,
            l2: self.args.problem.l2,
            starts: self.args.problem.starts,
            start: self.args.solver.start.to_string(),
            gaps: self.table.gaps,
            missing: self.table.missing,
        }
    }

    fn describe<'a>(&'a self, answer: &'a Answer<'_>, solution: &'a Solution, page: &mut Page<'a>) {
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
                    "{} of {} n-grams are predicted less than a hundredth as often as they should be; there the objective goes on along a tangent",
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
                    "best of {} ({} from clusters, {} random): objective {}{second}; {} within {NEAR} of the best on {} steps",
                    search.starts.len(),
                    of(Origin::Clusters),
                    of(Origin::Random),
                    significant(search.best, 4),
                    search.near_best,
                    grouped(search.part_steps as u64)
                ),
            );
            facts.line("time of search", &format!("{:.2} s", search.seconds));
        }
    }

    /// A row for each row of the file, in its order.
    fn predictions(&self, answer: &Answer<'_>, _: &Solution) -> Result<OutTable> {
        let Table { places, ids, steps, labels, .. } = self.table;
        let rows = places.len();
        let mut step_of = vec![0; rows];
        places.iter().enumerate().for_each(|(t, &row)| step_of[row] = t);
        let likeliest = |row: usize| self.likeliest(&answer.probabilities, step_of[row]);
        let names = &self.language.names;
        let whole = steps.iter().all(|step| step.fract() == 0.0 && (0.0..1e15).contains(step));
        let steps = if whole {
            OutColumn::Whole(steps.iter().map(|step| *step as u64).collect())
        } else {
            OutColumn::Numbers(steps.clone())
        };
        let mut columns = vec![
            ("sequence".to_owned(), OutColumn::Texts(ids.clone())),
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
