//! Groups with a link that bends, and sequences: f is not affine, and the objective not convex.

use anyhow::{Result, anyhow};
use innermean::problems::scaling::{Scaling, Standard};
use innermean::problems::sequences::FLOOR;
use innermean::{
    Bags, Bernoulli, LanguageModel, Link, Merit, NegativeLog, Poisson, Problem, RowData, Sequences,
    SoftmaxBags, Square,
};

use super::columns::{self, Conditioning, Dice};
use super::files::{Files, group_text};
use super::penalties::Wanted;
use super::{Case, Drawn, Kind, Truth};
use crate::torture::curved::{self, Curved, Model};

/// Of the draws, how strongly scores count: predictions should not all be 0 or 1.
const STRENGTH: f64 = 0.5;

fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

/// Proportions of classes that follow scores.
fn proportions(dice: &mut Dice, scores: &[f64], classes: usize) -> Vec<f64> {
    let odds: Vec<f64> = (0..classes)
        .map(|c| {
            let odds = scores.iter().map(|s| (c as f64 * (STRENGTH * s)).exp()).sum::<f64>();
            odds * (0.2 + dice.unit())
        })
        .collect();
    let total: f64 = odds.iter().sum();
    odds.iter().map(|o| o / total).collect()
}

/// `innermean bags` with the link of the kind.
pub(super) fn groups(dice: &mut Dice, kind: Kind, conditioning: Conditioning) -> Result<Drawn> {
    let (count, width) = columns::size(dice, conditioning, (14, 4));
    // Classes of single rows, as `innermean linear` has them, or proportions of groups.
    let single = kind == Kind::Softmax && dice.chance(0.35);
    let count = if single { 3 * count } else { count };
    let mut starts = vec![0];
    for _ in 0..count {
        starts.push(starts[starts.len() - 1] + if single { 1 } else { dice.between(1, 5) });
    }
    let rows = columns::table(dice, conditioning, starts[count], width);
    let scores = columns::scores(dice, &rows, width);
    let intercept = dice.chance(0.6);
    let classes = if kind == Kind::Softmax { dice.between(2, 3) } else { 1 };
    let own = |i: usize| scores[starts[i]..starts[i + 1]].iter().map(|s| STRENGTH * s);
    let mut labels = Vec::new();
    for i in 0..count {
        let size = (starts[i + 1] - starts[i]) as f64;
        match kind {
            Kind::Softmax if single => {
                // Every class has a row.
                let class = if i < classes { i } else { dice.below(classes) };
                labels.extend((0..classes).map(|c| if c == class { 1.0 } else { 0.0 }));
            }
            Kind::Softmax => {
                labels.extend(proportions(dice, &scores[starts[i]..starts[i + 1]], classes));
            }
            Kind::Exp => {
                labels
                    .push((own(i).map(f64::exp).sum::<f64>() * 2.0 * dice.unit()).min(1e6).round());
            }
            _ if conditioning == Conditioning::Separable => {
                labels.push(if own(i).sum::<f64>() > 0.0 { 1.0 } else { 0.0 });
            }
            _ => {
                let mean = own(i).map(sigmoid).sum::<f64>() / size;
                labels.push((mean + 0.2 * (dice.unit() - 0.5)).clamp(0.0, 1.0));
            }
        }
    }
    let d = classes * (width + usize::from(intercept));
    let head = classes * width;
    let mut wanted = Wanted::norms(dice);
    if single && wanted.l1 == 0.0 && wanted.l2 == 0.0 {
        // A few rows are separable: there is no minimum.
        wanted.l2 = dice.power(-6.0, 0.0);
    }
    let truth_groups =
        curved::Groups { width, rows: rows.clone(), starts: starts.clone(), intercept };
    let model = match kind {
        Kind::Softmax => Model::Softmax { groups: truth_groups, classes, labels: labels.clone() },
        kind => Model::Groups {
            groups: truth_groups,
            link: match kind {
                Kind::Exp => curved::Link::Exp { counts: labels.clone() },
                Kind::BagsSquare => curved::Link::LogisticSquare { proportions: labels.clone() },
                _ => curved::Link::Logistic { proportions: labels.clone() },
            },
        },
    };
    let truth = Curved { model, penalty: wanted.penalty(d, head) };
    let flags = wanted.flags(false).filter(|_| kind != Kind::Softmax);
    let files = flags.map(|flags| {
        let link = match kind {
            Kind::Exp => "exp",
            Kind::BagsSquare => "logistic --loss square",
            _ => "logistic",
        };
        let without = if intercept { "" } else { " --no-intercept" };
        let arguments = format!("bags rows.csv --link {link}{without}{flags}");
        Files { arguments, texts: vec![("rows.csv", group_text(width, &rows, &starts, &labels))] }
    });
    let words = format!(
        "{count} groups of {} rows, {width} features, {classes} classes, intercept {intercept}, {wanted:?}",
        starts[count]
    );
    let mut scaled = RowData::from(rows);
    let scaling = Scaling::of_rows(&mut scaled, width, intercept).of_classes(classes);
    let g = scaling.regularizer(wanted.regularizer(d, head)?)?;
    let sizes: Vec<f64> = starts.windows(2).map(|ends| (ends[1] - ends[0]) as f64).collect();
    let scale = count as f64 / starts[count] as f64;
    let groups = innermean::Groups::new(width, scaled, starts, intercept)?;
    let case = match kind {
        Kind::Softmax => {
            let merit = NegativeLog::new(classes, labels)?;
            Case::new(SoftmaxBags::new(groups, classes)?, Box::new(merit), g)
        }
        Kind::BagsSquare => {
            let merit = Box::new(Square::new(1.0)?);
            Case::new(Bags::with_targets(groups, Link::Logistic, labels)?, merit, g)
        }
        kind => {
            let (link, merit): (Link, Box<dyn Merit>) = match kind {
                Kind::Exp => (Link::Exp, Box::new(Poisson::new(labels, sizes, scale)?)),
                _ => (Link::Logistic, Box::new(Bernoulli::new(labels)?)),
            };
            Case::new(Bags::new(groups, link), merit, g)
        }
    };
    Ok(Drawn::new(words, case.scaled(scaling), Truth::Curved(truth), files))
}

/// `innermean sequences`
pub(super) fn sequences(dice: &mut Dice, conditioning: Conditioning) -> Result<Drawn> {
    let (n, width) = columns::size(dice, conditioning, (30, 3));
    let n = n.max(4);
    let mut rows = columns::table(dice, conditioning, n, width);
    // As the command does: theta, g and the objective are those of such features.
    let standard = Standard::of_rows(&rows.clone().into(), width)
        .map_err(|l| anyhow!("feature {l}: its numbers are too large to be squared"))?;
    rows.chunks_exact_mut(width).for_each(|row| standard.bring(row));
    let first = dice.between(2, n - 2);
    let lengths = vec![first, n - first];
    let (classes, order) = (dice.between(2, 3), 2);
    let ngrams: Vec<u32> =
        (0..classes * classes).flat_map(|k| [k / classes, k % classes]).map(|c| c as u32).collect();
    let mut probabilities: Vec<f64> = (0..classes * classes)
        .map(|_| if dice.chance(0.15) { 0.0 } else { 0.05 + dice.unit() })
        .collect();
    probabilities[0] += 0.1;
    let total: f64 = probabilities.iter().sum();
    for p in &mut probabilities {
        *p /= total;
    }
    let language = LanguageModel::new(classes, order, &ngrams, &probabilities)?;
    let kept: Vec<u32> = (0..language.len()).flat_map(|i| language.ngram(i).to_vec()).collect();
    let d = classes * (width + 1);
    let wanted = Wanted::norms(dice);
    let truth = Curved {
        model: Model::Sequences(curved::Sequences {
            width,
            rows: rows.clone(),
            lengths: lengths.clone(),
            classes,
            order,
            ngrams: kept,
            probabilities: language.probabilities().to_vec(),
            floor: FLOOR,
        }),
        penalty: wanted.penalty(d, d),
    };
    let words = format!("{n} steps of {width} features, {classes} classes, {wanted:?}");
    let Problem { inner, merit, regularizer } =
        Sequences::new(width, rows, &lengths, language)?.problem(wanted.ridged(d)?)?;
    let case = Case::new(inner, Box::new(merit), Box::new(regularizer));
    Ok(Drawn::new(words, case, Truth::Curved(truth), None))
}
