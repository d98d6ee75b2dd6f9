//! Figure 1.

use anyhow::Result;

use super::{AT, calls, counted, figure, median, needs, panel, shown, times};
use crate::commands::reproduce::arena::Course;
use crate::commands::reproduce::page::{Block, Finding, Picture, Section};
use crate::commands::reproduce::portfolios::{
    AsInThePaper, DataSet, PAPER, SEEDS, paper_courses, tuned, tuned_courses,
};
use crate::commands::reproduce::store::Store;
use crate::output::grid::Grid;

/// Panels beside each other.
const COLUMNS: usize = 6;

/// Both versions of the figure, with tables, and what follows.
pub(in crate::commands::reproduce) fn section(
    store: &Store,
    sets: &[DataSet],
    quick: bool,
) -> Result<(Section, Vec<Finding>)> {
    let paper: Vec<AsInThePaper> =
        sets.iter().map(|set| paper_courses(store, set)).collect::<Result<_>>()?;
    let tuned_sets = tuned(sets, quick);
    let tuned: Vec<Vec<Course>> =
        tuned_sets.iter().map(|set| tuned_courses(store, set)).collect::<Result<_>>()?;
    let panels = |sets: &[DataSet], courses: &[&[Course]]| {
        sets.iter()
            .zip(courses)
            .map(|(set, courses)| panel(&set.name, courses.iter()))
            .collect::<Vec<_>>()
    };
    let as_printed: Vec<&[Course]> = paper.iter().map(|set| &set.courses[..]).collect();
    let fairly: Vec<&[Course]> = tuned.iter().map(|courses| &courses[..]).collect();
    let (days, assets) = sets[0].size();
    let mut blocks = vec![
        Block::Text(format!(
            "Mean minus variance of returns in percent: {} of about {days} days and {assets} \
             assets. All methods begin at the same point, uniform in [0, 1); the gap is the \
             objective minus its minimum, which the normal equations give. With the paper's \
             settings calls are medians over {} seeds, and curves are of the first. A dash in a \
             table: not reached within the limit of calls.",
            counted(sets.len(), "set", "sets"),
            SEEDS[usize::from(quick)]
        )),
        Block::Picture(Picture {
            stem: "figure1-paper".to_owned(),
            figure: figure(
                "Portfolios, the paper's settings".to_owned(),
                panels(sets, &as_printed),
                COLUMNS,
            ),
            caption: "Figure 1 with the paper's hyper-parameters (ASCVRG with its own rule): \
                objective gap against oracle calls."
                .to_owned(),
        }),
        Block::Table(table("Calls to a gap of 1e-6, the paper's settings", sets, &as_printed)),
        Block::Picture(Picture {
            stem: "figure1-tuned".to_owned(),
            figure: figure(
                "Portfolios, steps tuned for every method".to_owned(),
                panels(tuned_sets, &fairly),
                COLUMNS,
            ),
            caption:
                "The same with the steps of every method tuned on every set (the best of 7 or \
                25 by calls to 1e-6), and with L-BFGS, SPDC, SVRPDA-I without settings and auto."
                    .to_owned(),
        }),
        Block::Table(table("Calls to a gap of 1e-6, tuned", tuned_sets, &fairly)),
        Block::Table(settings(&paper[0].courses, &tuned[0], &sets[0].name)),
    ];
    if let Some(set) = sets.iter().find(|set| !set.is_of_papers_scale()) {
        let text = format!(
            "The returns of {} are not of the size of daily returns in percent, for which the \
             paper's steps are made.",
            set.name
        );
        blocks.insert(1, Block::Text(text));
    }
    let mut findings = as_in_the_paper(&paper);
    findings.extend(fair(&paper, &tuned));
    findings.extend(warm_up(&paper));
    Ok((Section { title: "Figure 1: portfolios".to_owned(), blocks }, findings))
}

fn table(title: &str, sets: &[DataSet], courses: &[&[Course]]) -> Grid {
    let names: Vec<String> = courses[0].iter().map(|course| course.name.clone()).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (set, courses) in sets.iter().zip(courses) {
        rows.push(
            [set.name.clone()]
                .into_iter()
                .chain(courses.iter().map(|course| shown(calls(course, AT))))
                .collect(),
        );
    }
    if sets.len() > 1 {
        let medians = (0..names.len())
            .map(|k| shown(median(courses.iter().map(|courses| calls(&courses[k], AT)))));
        rows.push(["median".to_owned()].into_iter().chain(medians).collect());
    }
    Grid {
        title: title.to_owned(),
        numbers: 1..names.len() + 1,
        header: ["set".to_owned()].into_iter().chain(names).collect(),
        rows,
        note: None,
    }
}

fn settings(paper: &[Course], tuned: &[Course], set: &str) -> Grid {
    let rows = tuned.iter().map(|course| {
        let printed =
            paper.iter().find(|own| own.name == course.name).map(|own| own.settings.clone());
        vec![
            course.name.clone(),
            printed.unwrap_or_else(|| "-".to_owned()),
            course.settings.clone(),
        ]
    });
    Grid {
        title: format!("Settings on {set}"),
        header: ["method", "the paper's", "tuned"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
        numbers: 0..0,
        note: None,
    }
}

/// The median over sets of the calls of method k over those of SVRPDA-I.
fn ratio(courses: &[&[Course]], k: usize) -> f64 {
    median(courses.iter().map(|courses| calls(&courses[k], AT) / calls(&courses[0], AT)))
}

/// We charge a step of Comp-SVRG-2 for `2 A` values and 2 merits: the Jacobians of an affine f do
/// not change. Its paper asks for `2 B` Jacobians too. With A = B = 3, M = n and a snapshot of `3
/// n` that is 17 for every 11 calls.
const CHARGED: f64 = 17.0 / 11.0;

/// The calls to 1e-6 of a baseline, charged for Jacobians.
fn charged(course: &Course) -> f64 {
    calls(course, AT) * if course.name == "Comp-SVRG-2" { CHARGED } else { 1.0 }
}

fn as_in_the_paper(paper: &[AsInThePaper]) -> Vec<Finding> {
    let courses: Vec<&[Course]> = paper.iter().map(|set| &set.courses[..]).collect();
    let all = courses.len();
    let ahead = |own: usize, from: usize, other: fn(&Course) -> f64| {
        let leads = |set: &&&[Course]| {
            set[from..].iter().all(|course| calls(&set[own], AT) < other(course))
        };
        courses.iter().filter(leads).count()
    };
    let first = ahead(0, 1, |course| calls(course, AT));
    let second = ahead(1, 2, charged);
    let second_as_counted = ahead(1, 2, |course| calls(course, AT));
    let best = (2..PAPER.len())
        .map(|k| (ratio(&courses, k), PAPER[k].1))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let (best_ratio, best_name) = best.unwrap_or((f64::INFINITY, "none"));
    let linear =
        courses.iter().filter(|set| set[..2].iter().all(|course| course.to(10).is_some())).count();
    vec![
        Finding::of(
            first == all && second == all,
            format!(
                "The order of the curves in Figure 1 with the paper's settings: SVRPDA-I needs the \
                 fewest calls to 1e-6 on {first} of {}, and SVRPDA-II is ahead of every baseline \
                 on {second} if Comp-SVRG-2 is charged for all derivatives that it asks for (on \
                 {second_as_counted} by our count, by which those of an affine f cost nothing). At \
                 the median the best baseline, {best_name}, {}.",
                counted(all, "set", "sets"),
                needs(best_ratio, "SVRPDA-I")
            ),
        ),
        Finding::of(
            linear == all && ratio(&courses, 1) < 2.0,
            format!(
                "SVRPDA-II converges linearly too, at a small loss: both reach a gap of 1e-10 on \
                 {linear} of {}, SVRPDA-II with {} the calls of SVRPDA-I to 1e-6 (median).",
                counted(all, "set", "sets"),
                times(ratio(&courses, 1))
            ),
        ),
    ]
}

/// The lead that remains when all are tuned.
fn fair(paper: &[AsInThePaper], tuned: &[Vec<Course>]) -> Vec<Finding> {
    let printed: Vec<&[Course]> = paper.iter().map(|set| &set.courses[..]).collect();
    let fairly: Vec<&[Course]> = tuned.iter().map(|courses| &courses[..]).collect();
    let place = |name: &str| fairly[0].iter().position(|course| course.name == name);
    let lines: Vec<String> = (2..PAPER.len())
        .map(|k| {
            format!(
                "{} {} ({} with the printed settings)",
                PAPER[k].1,
                times(ratio(&fairly, k)),
                times(ratio(&printed, k))
            )
        })
        .collect();
    let ahead = (2..PAPER.len()).all(|k| ratio(&fairly, k) > 1.0);
    let mut findings = vec![Finding::of(
        ahead,
        format!(
            "That lead with steps tuned for all, in calls of SVRPDA-I to 1e-6 (medians over {}): \
             {}.",
            counted(fairly.len(), "set", "sets"),
            lines.join("; ")
        ),
    )];
    let others: Vec<String> = ["L-BFGS", "SPDC", "SVRPDA-I, no settings", "auto"]
        .iter()
        .filter_map(|name| Some((name, place(name)?)))
        .map(|(name, k)| format!("{name} {}", times(ratio(&fairly, k))))
        .collect();
    findings.push(Finding::note(format!(
        "Methods that the paper does not compare with, in calls of the tuned SVRPDA-I to 1e-6: {}. \
         The problem is a least-squares problem with 25 unknowns, and one pass over the data finds \
         its normal equations: no iterative method is needed.",
        others.join("; ")
    )));
    findings
}

/// What the epoch of plain steps is worth, and whether baselines could have it too.
fn warm_up(paper: &[AsInThePaper]) -> Vec<Finding> {
    let cold =
        |k: i32| median(paper.iter().map(|set| calls(&set.cold, k) / calls(&set.courses[0], k)));
    let warm: Vec<String> = (0..paper[0].warm.len())
        .map(|b| {
            let with = median(
                paper.iter().map(|set| calls(&set.warm[b], AT) / calls(&set.courses[0], AT)),
            );
            let without = median(
                paper.iter().map(|set| calls(&set.courses[b + 2], AT) / calls(&set.courses[0], AT)),
            );
            format!("{} {} (without it {})", paper[0].warm[b].name, times(with), times(without))
        })
        .collect();
    vec![Finding::note(format!(
        "The authors' script begins with an epoch of plain stochastic steps that Algorithm 1 does \
         not have. Without it SVRPDA-I needs {} the calls to a gap of 1e-1, {} to 1e-4 and {} to \
         1e-6. Baselines that begin where that epoch ends need, in calls of SVRPDA-I to 1e-6: {}.",
        times(cold(1)),
        times(cold(4)),
        times(cold(6)),
        warm.join("; ")
    ))]
}
