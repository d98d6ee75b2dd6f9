//! A leaf in memory, and a pass over it.

use super::partial::{Open, Partial};
use super::{LEAF, Loss, Want};
use crate::certificate::hessian;
use crate::linalg::vector::{norm_squared, update};
use crate::model::collapse::Collapsed;
use crate::model::inner::Inner;

use crate::model::problem::{BoxedProblem, Problem};
use crate::model::regularizer::Unregularized;
use crate::model::row_data::RowData;
use crate::model::setting::InvalidSetting;
use crate::oracle::Patience;
use crate::problems::bags::{Bags, Groups, Link};
use crate::problems::linear::predictors;

/// Rows, and the terms that they make.
pub struct Leaf {
    number: u64,
    d: usize,
    rows: u64,
    /// The terms that lie here with all their rows.
    whole: Option<BoxedProblem>,
    /// The sums of squares of columns and offsets, over those terms.
    squares: Vec<f64>,
    /// The groups whose rows do not all lie here, each with its number and its label.
    open: Vec<(u64, f64, Bags)>,
}

/// Where the rows of a group are in a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// The number of the group among all.
    pub group: u64,
    /// How many rows it has here.
    pub rows: u64,
    /// Its label.
    pub label: f64,
    /// Whether it has rows in other leaves.
    pub is_open: bool,
}

impl Leaf {
    /// Rows of length d that are terms of their own, with a label each.
    ///
    /// # Errors
    /// Unless there are whole rows, at most [`LEAF`] of them, of finite numbers, and their labels
    /// suit the loss.
    pub fn linear(
        number: u64,
        d: usize,
        rows: impl Into<RowData>,
        labels: &[f64],
        loss: Loss,
    ) -> Result<Self, InvalidSetting> {
        at_most(labels.len())?;
        let offset = |label: &f64| if loss.takes_off() { -label } else { 0.0 };
        let merit = loss.merit(labels, &vec![1; labels.len()])?;
        let inner = predictors(d, rows, labels.iter().map(offset).collect())?;
        let squares = squares(&inner);
        let whole = Some(Problem { inner, merit, regularizer: Unregularized }.boxed());
        Ok(Leaf { number, d, rows: labels.len() as u64, whole, squares, open: Vec::new() })
    }

    /// Rows of groups, which lie one after the other, with the averages of a link as terms; the
    /// intercept, if there is one, is the last coordinate.
    ///
    /// # Errors
    /// As [`Self::linear`], and if the runs do not cover the rows.
    pub fn groups(
        number: u64,
        (width, intercept): (usize, bool),
        rows: &[f64],
        runs: &[Run],
        (link, loss): (Link, Loss),
    ) -> Result<Self, InvalidSetting> {
        let (d, count) = (width + usize::from(intercept), rows.len() / width.max(1));
        at_most(count)?;
        if runs.iter().map(|run| run.rows).sum::<u64>() != count as u64 {
            let expected = format!("groups of {count} rows together");
            return Err(InvalidSetting::new("runs", format!("{} of them", runs.len()), expected));
        }
        let (mut at, mut kept, mut starts, mut whole) = (0, Vec::new(), vec![0], Vec::new());
        let mut open = Vec::new();
        for run in runs {
            let own = &rows[at * width..(at + run.rows as usize) * width];
            at += run.rows as usize;
            if run.is_open {
                let groups =
                    Groups::new(width, own.to_vec(), vec![0, own.len() / width], intercept)?;
                open.push((run.group, run.label, Bags::new(groups, link)));
            } else {
                kept.extend_from_slice(own);
                starts.push(kept.len() / width);
                whole.push(*run);
            }
        }
        let mut leaf =
            Leaf { number, d, rows: count as u64, whole: None, squares: vec![0.0; 1 + d], open };
        if !whole.is_empty() {
            let labels: Vec<f64> = whole.iter().map(|run| run.label).collect();
            let merit =
                loss.merit(&labels, &whole.iter().map(|run| run.rows).collect::<Vec<_>>())?;
            let groups = Groups::new(width, kept, starts, intercept)?;
            let inner = if loss.takes_off() {
                Bags::with_targets(groups, link, labels)?
            } else {
                Bags::new(groups, link)
            };
            if link == Link::Identity {
                leaf.squares = squares_of_rows(&inner);
                if loss.takes_off() {
                    leaf.squares[0] = whole.iter().map(|run| run.label * run.label).sum();
                }
            }
            leaf.whole = Some(Problem { inner, merit, regularizer: Unregularized }.boxed());
        }
        Ok(leaf)
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What a pass comes to here.
    pub fn pass(&self, theta: &[f64], want: Want) -> Partial {
        let mut sums = vec![0.0; want.len(self.d)];
        if want == Want::Survey {
            let terms = self.whole.as_ref().map_or(0, |whole| whole.inner.n_x());
            let open: u64 = self.open.iter().map(|(_, _, bag)| bag.n_y(0) as u64).sum();
            (sums[0], sums[1]) = (terms as f64, (self.rows - open) as f64);
            sums[2..].copy_from_slice(&self.squares);
        } else if let Some(whole) = &self.whole {
            add_up(whole, theta, want, &mut sums);
        }
        let open =
            |(group, label, bag): &(u64, f64, Bags)| self.opened(*group, *label, bag, theta, want);
        let open = self.open.iter().map(open).collect();
        Partial { first: self.number, count: 1, sums, open }
    }

    /// What a group has here, for the fold to close.
    fn opened(&self, group: u64, label: f64, bag: &Bags, theta: &[f64], want: Want) -> Open {
        let rows = bag.n_y(0);
        let (mut value, mut jacobian) = ([0.0], vec![0.0; self.d]);
        if want == Want::Survey {
            if bag.link() == Link::Identity {
                jacobian.copy_from_slice(&squares_of_rows(bag)[1..]);
                update(&mut jacobian, |square| square * rows as f64);
            }
        } else {
            (bag as &dyn Inner).means_and_jacobians(theta, &mut value, &mut jacobian);
            update(&mut jacobian, |x| x * rows as f64);
        }
        Open { group, rows: rows as u64, label, value: value[0] * rows as f64, jacobian }
    }
}

/// The sums over the terms of a problem.
fn add_up(whole: &BoxedProblem, theta: &[f64], want: Want, sums: &mut [f64]) {
    let (problem, n_x) = (whole.erased(), whole.inner.n_x());
    let (mut f_bar, mut w) = (vec![0.0; n_x], vec![0.0; n_x]);
    let n = n_x as f64;
    match want {
        Want::Survey => {}
        Want::Gradient => {
            let (head, gradient) = sums.split_at_mut(2);
            head[0] = n * problem.loss_and_gradient(theta, &mut f_bar, &mut w, gradient);
            head[1] = norm_squared(&w);
            update(gradient, |slope| slope * n);
        }
        Want::Hessian => {
            problem.inner.means(theta, &mut f_bar);
            let all = (n_x, 0);
            let matrix = hessian::dense(problem, theta, &f_bar, all, &Patience::default());
            let (d, mut from) = (theta.len(), 0);
            for l in 0..d {
                let row = &matrix[l * d..=l * d + l];
                sums[from..=from + l].iter_mut().zip(row).for_each(|(sum, x)| *sum = n * x);
                from += l + 1;
            }
        }
    }
}

/// Of offsets and columns, over all terms.
fn squares(rows: &Collapsed) -> Vec<f64> {
    let n = rows.n_x() as f64;
    let columns = rows.mean_squares().iter().map(|square| n * square);
    std::iter::once(norm_squared(rows.offsets())).chain(columns).collect()
}

/// The same of the rows of groups, whose means are what counts, where the averages are affine.
fn squares_of_rows(bags: &Bags) -> Vec<f64> {
    let mut out = vec![0.0; 1 + bags.d()];
    let (mut row, mut work) = (vec![0.0; bags.d()], [0.0]);
    for i in 0..bags.n_x() {
        let share = 1.0 / bags.n_y(i) as f64;
        for j in 0..bags.n_y(i) {
            (bags as &dyn Inner).jacobian(&[], i, j, &mut work, &mut row);
            out[1..].iter_mut().zip(&row).for_each(|(sum, x)| *sum += share * x * x);
        }
    }
    out
}

fn at_most(rows: usize) -> Result<(), InvalidSetting> {
    if rows > LEAF {
        let expected = format!("at most {LEAF}");
        return Err(InvalidSetting::new("leaf", format!("{rows} rows"), expected));
    }
    Ok(())
}

impl std::fmt::Debug for Leaf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "leaf {}: {} rows, {} open groups", self.number, self.rows, self.open.len())
    }
}
