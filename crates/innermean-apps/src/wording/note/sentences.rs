//! A sentence for each note.

use std::fmt;

use super::Note;
use crate::wording::numbers::{grouped, significant, some_of};

/// Names that are listed before the rest is counted.
const MOST_NAMES: usize = 5;

impl fmt::Display for Note {
    #[expect(clippy::too_many_lines, reason = "a sentence each")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Scaled => f.write_str(
                "Columns are of very different size, or far from zero, and are brought to one \
                 scale for the run; the answer is for the columns as they are (`scaling`).",
            ),
            Note::Undetermined(names) => {
                let listed = names.iter().take(MOST_NAMES).map(String::as_str);
                let mut listed: Vec<&str> = listed.collect();
                let more = format!("{} others", names.len().saturating_sub(MOST_NAMES));
                if names.len() > MOST_NAMES {
                    listed.push(&more);
                }
                let are = if listed.len() == 1 { "is" } else { "are" };
                write!(
                    f,
                    "The data do not tell all coefficients apart: {} {are} (nearly) constant, or \
                     what others add up to. Many answers are equally good; this is one of them. \
                     Give `l2`, or leave them out.",
                    listed.join(", ")
                )
            }
            Note::StartMoved => f.write_str(
                "The start given is not allowed by the constraint; the run begins at the allowed \
                 point next to it.",
            ),
            Note::IdleL1 => f.write_str(
                "`l1` changes nothing with `constraint=long-only`: the l1 norm of such weights is \
                 always 1. It is left out.",
            ),
            Note::RiskWidth(width) => {
                write!(f, "The Huber function bends at {} (`huber_width`).", significant(*width, 4))
            }
            Note::RiskMayFall => f.write_str(
                "With `risk=huber`, risk grows no faster than return for large weights, so that \
                 without a bound on the weights the objective may fall for ever. Add \
                 `constraint=long-only`, `constraint=box=LO,HI` or `l2=WEIGHT`.",
            ),
            Note::NoRisk { periods, assets } => write!(
                f,
                "With {periods} periods for {assets} assets some portfolio has return and no risk \
                 at all, so that the objective has no minimum: give a `constraint`, or `l2`."
            ),
            Note::FewPeriods { periods, assets } => write!(
                f,
                "With {periods} periods for {assets} assets some portfolio had no risk at all in \
                 this sample; its weights say little about other periods, so take fewer assets, \
                 more periods, or `l2`."
            ),
            Note::FreeSum => {
                f.write_str("Without a constraint the weights need not sum to 1; see `constraint`.")
            }
            Note::LargeFractions(typical) => write!(
                f,
                "Returns are taken as fractions, of which {} is typical. If they are percent, add \
                 `percent`.",
                significant(*typical, 3)
            ),
            Note::WeightedPeriods { effective, periods, left_out } => {
                write!(
                    f,
                    "The weights of the {} periods count as much as {} equal ones.",
                    grouped(*periods as u64),
                    significant(*effective, 4)
                )?;
                if *left_out > 0 {
                    write!(f, " {} with the weight 0 are left out.", grouped(*left_out as u64))?;
                }
                Ok(())
            }
            Note::Classes { positive, negative } => {
                write!(f, "A score above 0 speaks for '{positive}', one below for '{negative}'.")
            }
            Note::SeveralClasses(names) => {
                write!(f, "There are {} classes: {}.", names.len(), some_of(names))
            }
            Note::LossWidth(width) => write!(
                f,
                "The Huber loss is a square up to {} (`huber_width`).",
                significant(*width, 4)
            ),
            Note::FewerRows { coefficients } => write!(
                f,
                "There are fewer rows than coefficients ({}), so that many fits are equally good: \
                 give `l2` or `l1`.",
                grouped(*coefficients as u64)
            ),
            Note::NoWeight(rows) => write!(
                f,
                "Rows left out of the fit because their weight is 0: {}; `predictions` has them \
                 too.",
                grouped(*rows as u64)
            ),
            Note::NoTarget(rows) => write!(
                f,
                "Rows without a target: {}; they take no part in the fit, and `predictions` has \
                 them too.",
                grouped(*rows as u64)
            ),
            Note::UnusedColumns { left_out, all } => write!(
                f,
                "Columns that no row mentions are left out: {} of {}; their coefficients are zero.",
                grouped(*left_out as u64),
                grouped(*all as u64)
            ),
            Note::ZeroFeatures { zero, all } => write!(
                f,
                "Features that are zero in every row: {} of {}; their coefficients say nothing.",
                grouped(*zero as u64),
                grouped(*all as u64)
            ),
            Note::Separated => f.write_str(
                "Every row is classified correctly, and nothing holds the coefficients: with \
                 larger ones the loss is still smaller. Give `l2`.",
            ),
            Note::Saturated => f.write_str(
                "With coefficients twice as large the loss is no larger: nothing holds them, and those shown are where the run stopped. Give `l2`.",
            ),
            Note::FewerLabels { coefficients } => write!(
                f,
                "There are fewer labels than coefficients ({coefficients}), so that many fits are \
                 equally good: give `l2`, or fewer `columns`."
            ),
            Note::Unlabelled { groups, example, rows } => write!(
                f,
                "Groups without a label: {}, such as '{example}'. {} in the fit; `predictions` has \
                 {} too.",
                grouped(*groups as u64),
                if *rows == 1 {
                    "Their one row takes no part".to_owned()
                } else {
                    format!("Their {} rows take no part", grouped(*rows as u64))
                },
                if *rows == 1 { "it" } else { "them" }
            ),
            Note::OneLabel(label) => write!(
                f,
                "All labels are {label}: there is nothing to tell apart, and no finite intercept \
                 is best. Give labels of both kinds, or leave the intercept out (`intercept`)."
            ),
            Note::ExtremeLabels { groups, ones } => {
                let all = if ones == groups {
                    "All labels of groups are 1"
                } else if *ones == 0 {
                    "All labels of groups are 0"
                } else {
                    "All labels of groups are 0 or 1"
                };
                write!(
                    f,
                    "{all}: taken as shares, they say of every row of a group what it is. If 1 \
                     means that some row of the group is positive (multiple-instance learning), \
                     this is not the model for it."
                )
            }
            Note::HeldOutGroups { groups, example } => write!(
                f,
                "Labels of weight 0 are held out: {}, such as that of '{example}'. They take no part in the fit and are scored apart.",
                grouped(*groups as u64)
            ),
            Note::NoGroup(rows) => write!(
                f,
                "Rows of no group and without a label of their own: {}; they take no part in the fit, and `predictions` has them too.",
                grouped(*rows as u64)
            ),
            Note::WithoutRows { groups, example } => write!(
                f,
                "Labels of groups without rows left out: {}, such as '{example}'.",
                grouped(*groups as u64)
            ),
            Note::Discount(discount) => {
                write!(f, "The discount is {discount}, as none was given (`discount`).")
            }
            Note::NeverLeftTerminal(states) => {
                write!(f, "Entered and never left, and so of value 0: {}.", some_of(states))
            }
            Note::NeverLeftBootstrap(states) => write!(
                f,
                "Entered and never left, and valued by their features alone: {}.",
                some_of(states)
            ),
            Note::Unvisited(states) => {
                write!(f, "States that the walk never came to, and that are left out: {states}.")
            }
            Note::Projected { once, transitions } => write!(
                f,
                "{} of {} transitions leave a state that is seen once, where the Bellman error \
                 would be the squared TD error, which noise biases (double sampling); so the \
                 projected Bellman error is minimised (`objective`).",
                grouped(*once as u64),
                grouped(*transitions as u64)
            ),
            Note::DoubleSampling { once, transitions } => write!(
                f,
                "{} of {} transitions leave a state that is seen once, where the Bellman error is \
                 the squared TD error: unless steps are deterministic, noise biases the values \
                 (double sampling). `objective=projected` is free of that.",
                grouped(*once as u64),
                grouped(*transitions as u64)
            ),
            Note::Ends { done, truncated } => {
                let steps = |count: usize| {
                    format!("{} step{}", grouped(count as u64), if count == 1 { "" } else { "s" })
                };
                let mut parts = Vec::new();
                if let Some((name, count)) = done {
                    parts.push(format!(
                        "Episodes end where column '{name}' is set: {}, after which the value is \
                         0.",
                        steps(*count)
                    ));
                }
                if let Some((name, count)) = truncated {
                    parts.push(format!(
                        "They are cut off where column '{name}' is set: {}, after which the value \
                         is that of the next state.",
                        steps(*count)
                    ));
                }
                f.write_str(&parts.join(" ").replacen(
                    "They are",
                    if done.is_some() {
                        "They are"
                    } else {
                        "Episodes \
                    are"
                    },
                    1,
                ))
            }
            Note::Resets(rows) => write!(
                f,
                "Left out as automatic resets, from the end of an episode to the start of the \
                 next: {} rows (`auto_reset`).",
                grouped(*rows as u64)
            ),
            Note::CutToStart => f.write_str(
                "Steps that were cut off enter the state in which the next row begins. If that is \
                 the first of a new episode, their values are wrong: the next state should be the \
                 last of the old one.",
            ),
            Note::OneEpisode => f.write_str(
                "Nothing says where episodes end, so that the log is taken as one (`done_column`, \
                 `episode_column`).",
            ),
            Note::Gaps(gaps) => write!(
                f,
                "Gaps between steps: {}; no n-gram lies across one (`gaps=ignore`).",
                grouped(*gaps as u64)
            ),
            Note::Short { order, parts } => write!(
                f,
                "Sequences or parts of fewer than {order} steps: {}; they hold no n-gram and are \
                 classified, but not learnt from.",
                grouped(*parts as u64)
            ),
            Note::UnknownLabels { labels, rows } => {
                let shown: Vec<String> =
                    labels.iter().take(MOST_NAMES).map(|label| format!("'{label}'")).collect();
                let more = if labels.len() > MOST_NAMES { ", ..." } else { "" };
                write!(
                    f,
                    "Labels that are no class of the language: {}{more} in {} rows, which are not \
                     scored.",
                    shown.join(", "),
                    grouped(*rows as u64)
                )
            }
            Note::ConstantFeatures(names) => {
                write!(
                    f,
                    "Features that are always the same and say nothing: {}.",
                    names.join(", ")
                )
            }
            Note::SearchCutShort => {
                f.write_str("The search was cut short: the start may be far from the best.")
            }
        }
    }
}
