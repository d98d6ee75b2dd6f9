//! Figures 2 and 3.

use anyhow::Result;

use super::{AT, calls, counted, figure, median, panel, shown, times};
use crate::commands::reproduce::arena::Course;
use crate::commands::reproduce::page::{Block, Finding, Picture, Section};
use crate::commands::reproduce::processes::{Kind, METHODS};
use crate::commands::reproduce::store::Store;
use crate::output::grid::Grid;
use crate::output::human::grouped;

/// One of the two figures, with a table, and what follows.
pub(in crate::commands::reproduce) fn section(
    store: &Store,
    kind: &Kind,
) -> Result<(Section, Vec<Finding>)> {
    let (mut paper, mut tuned, mut at_start) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..kind.processes {
        let (runs, with_tuned_steps) = kind.courses(store, k)?;
        at_start.push(runs.at_start);
        paper.push(runs.courses);
        tuned.push(with_tuned_steps);
    }
    let panels =
        vec![panel("the paper's settings", &paper[0][..METHODS.len()]), panel("tuned", &tuned[0])];
    let states = grouped(kind.states as u64);
    let blocks = vec![
        Block::Text(format!(
            "The mean squared Bellman error of random processes with {states} states, all \
             transitions possible, {} features uniform in [0, 1), discount 0.9; {}. A call of \
             C-SAGA's f, which has 2S coordinates, counts as 2S. At the start, uniform in [0, 1), \
             the objective is {:.1e} above its minimum.",
            kind.d,
            counted(paper.len(), "process", "processes"),
            at_start[0]
        )),
        Block::Picture(Picture {
            stem: format!("figure{}", kind.figure),
            figure: figure(format!("Policy evaluation, {states} states"), panels, 2),
            caption: format!(
                "Figure {}: objective gap against oracle calls, with the paper's settings and with \
                 tuned ones (the first process).",
                kind.figure
            ),
        }),
        Block::Table(table(&paper, &tuned)),
        Block::Table(settings(&paper[0], &tuned[0])),
    ];
    let title = format!("Figure {}: policies in processes of {states} states", kind.figure);
    Ok((Section { title, blocks }, findings(kind, &paper, &tuned)))
}

fn table(paper: &[Vec<Course>], tuned: &[Vec<Course>]) -> Grid {
    let at = |courses: &[Vec<Course>], name: &str, k: i32| {
        let own =
            courses.iter().filter_map(|courses| courses.iter().find(|course| course.name == name));
        shown(median(own.map(|course| calls(course, k))))
    };
    let rows = tuned[0].iter().map(|course| {
        let printed = METHODS.iter().any(|(_, name)| *name == course.name);
        let one = |k: i32| if printed { at(paper, &course.name, k) } else { "-".to_owned() };
        vec![
            course.name.clone(),
            one(3),
            one(AT),
            at(tuned, &course.name, 3),
            at(tuned, &course.name, AT),
        ]
    });
    Grid {
        title: "Calls to a gap (medians)".to_owned(),
        header: ["method", "1e-3, the paper's", "1e-6, the paper's", "1e-3, tuned", "1e-6, tuned"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.collect(),
        numbers: 1..5,
        note: None,
    }
}

fn settings(paper: &[Course], tuned: &[Course]) -> Grid {
    let rows = tuned.iter().map(|course| {
        let printed = paper[..METHODS.len()].iter().find(|own| own.name == course.name);
        let (text, last) = printed.map_or_else(
            || ("-".to_owned(), "-".to_owned()),
            |own| (own.settings.clone(), format!("{:.1e}, {}", own.last(), own.ended)),
        );
        vec![
            course.name.clone(),
            text,
            last,
            course.settings.clone(),
            format!("{:.1e}, {}", course.last(), course.ended),
        ]
    });
    Grid {
        title: "Settings and ends on the first process".to_owned(),
        header: ["method", "the paper's", "last gap", "tuned", "last gap"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.collect(),
        numbers: 0..0,
        note: None,
    }
}

fn findings(kind: &Kind, paper: &[Vec<Course>], tuned: &[Vec<Course>]) -> Vec<Finding> {
    let states = grouped(kind.states as u64);
    let printed = against(paper);
    let fairly = against(tuned);
    vec![
        Finding::of(
            printed.saga_behind && printed.second_not_behind,
            format!(
                "Figure {}, {states} states: SVRPDA-I is better than C-SAGA, and SVRPDA-II \
                 comparable or better. With the paper's settings: {}.",
                kind.figure, printed.text
            ),
        ),
        Finding::of(
            fairly.saga_behind && fairly.second_not_behind,
            format!(
                "The same with steps tuned for all (and M as printed): {}; SVRPDA-I with neither \
                 set, {}.",
                fairly.text,
                times(fairly.unset)
            ),
        ),
    ]
}

/// How the three stand to each other.
struct Against {
    saga_behind: bool,
    second_not_behind: bool,
    /// The calls of SVRPDA-I without settings, over those of SVRPDA-I.
    unset: f64,
    text: String,
}

fn against(courses: &[Vec<Course>]) -> Against {
    // The smallest gap that SVRPDA-I and C-SAGA both reach, if there is one; or that SVRPDA-I
    // reaches.
    let both =
        |k: &i32| courses.iter().all(|own| own[0].to(*k).is_some() && own[2].to(*k).is_some());
    let first = |k: &i32| courses.iter().all(|own| own[0].to(*k).is_some());
    let k = (1..=AT).rev().find(both).or_else(|| (1..=AT).rev().find(first)).unwrap_or(1);
    let ratio =
        |of: usize| median(courses.iter().map(|own| calls(&own[of], k) / calls(&own[0], k)));
    let last = |of: usize| median(courses.iter().map(|own| own[of].last()));
    let (second, saga) = (ratio(1), ratio(2));
    let part = |name: &str, ratio: f64, of: usize| {
        if ratio.is_finite() {
            format!("{name} {}", times(ratio))
        } else {
            format!("{name} does not get there (its last gap is {:.0e})", last(of))
        }
    };
    Against {
        saga_behind: saga > 1.0,
        second_not_behind: second <= COMPARABLE * saga
            && (second.is_finite() || last(1) <= last(2)),
        unset: ratio(3),
        text: format!(
            "in calls of SVRPDA-I to a gap of 1e-{k}, {}, {}",
            part("SVRPDA-II", second, 1),
            part("C-SAGA", saga, 2)
        ),
    }
}

/// This many times the calls are comparable.
const COMPARABLE: f64 = 1.2;
