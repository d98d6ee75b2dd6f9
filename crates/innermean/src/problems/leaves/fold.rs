//! Leaves added up by a binary tree over their numbers, and groups closed.

use super::partial::{Open, Partial};
use super::{Shape, Want};
use crate::linalg::vector::axpy;
use crate::model::inner::Lost;

/// Adds up neighbours that are the two halves of a node of the tree, as whoever holds many leaves
/// does before they travel. Changes no bit of what comes out in the end.
pub fn merge(mut partials: Vec<Partial>) -> Vec<Partial> {
    partials.sort_by_key(|partial| partial.first);
    let mut merged: Vec<Partial> = Vec::new();
    for mut partial in partials {
        while let Some(before) = merged.pop_if(|before| are_halves(before, &partial)) {
            partial = join(before, partial);
        }
        merged.push(partial);
    }
    merged
}

/// Whether two neighbours of one length, a power of two, are all that lies below a node.
fn are_halves(a: &Partial, b: &Partial) -> bool {
    let is_whole = a.count.is_power_of_two() && a.first.is_multiple_of(2 * a.count);
    is_whole && b.count == a.count && b.first == a.first + a.count
}

fn join(mut a: Partial, b: Partial) -> Partial {
    a.sums.iter_mut().zip(&b.sums).for_each(|(a, b)| *a += b);
    a.open.extend(b.open);
    Partial { count: a.count + b.count, ..a }
}

/// The sums over all leaves. What arrives twice counts once.
///
/// # Errors
/// If a leaf is missing, or what came of one is not of this problem.
pub fn fold(mut partials: Vec<Partial>, shape: &Shape, want: Want) -> Result<Vec<f64>, Lost> {
    partials.sort_by_key(|partial| (partial.first, u64::MAX - partial.count));
    let mut next = 0;
    partials.retain(|partial| {
        let is_new = partial.first >= next;
        if is_new && partial.first == next {
            next += partial.count;
        }
        is_new
    });
    if next != shape.leaves || partials.iter().map(|partial| partial.count).sum::<u64>() != next {
        return Err(Lost::new(format!("leaf {next}"), "nobody has answered for it"));
    }
    let whole = |partial: &&Partial| partial.sums.len() != want.len(shape.d);
    if let Some(Partial { first, .. }) = partials.iter().find(whole) {
        return Err(Lost::new(format!("leaf {first}"), "its sums are those of another problem"));
    }
    // The remaining sizes are the digits of a binary number; the last ones come first.
    let all = merge(partials).into_iter().rev().reduce(|after, before| join(before, after));
    let Partial { mut sums, open, .. } =
        all.ok_or_else(|| Lost::new("leaf 0", "there are no leaves"))?;
    close(open, shape, want, &mut sums)?;
    Ok(sums)
}

/// Adds what groups come to that lie in several leaves.
fn close(mut open: Vec<Open>, shape: &Shape, want: Want, sums: &mut [f64]) -> Result<(), Lost> {
    // In the order of leaves, those of a group beside each other.
    open.sort_by_key(|part| part.group);
    for parts in open.chunk_by(|a, b| a.group == b.group) {
        let mut all = parts[0].clone();
        for part in &parts[1..] {
            all.rows += part.rows;
            all.value += part.value;
            axpy(1.0, &part.jacobian, &mut all.jacobian);
        }
        let Open { group, rows, label, value, jacobian } = all;
        let lost = |why: String| Lost::new(format!("group {group}"), why);
        if parts.iter().any(|part| part.label.to_bits() != label.to_bits()) {
            return Err(lost("its label is another one in another leaf".to_owned()));
        }
        let merit = shape.loss.merit(&[label], &[rows]).map_err(|bad| lost(bad.to_string()))?;
        let target = if shape.loss.takes_off() { label } else { 0.0 };
        let share = 1.0 / rows as f64;
        let f_bar = [value * share - target];
        match want {
            Want::Survey => {
                sums[0] += 1.0;
                sums[1] += rows as f64;
                sums[2] += target * target;
                axpy(share, &jacobian, &mut sums[3..]);
            }
            Want::Gradient => {
                let mut w = [0.0];
                merit.gradient(0, &f_bar, &mut w);
                sums[0] += merit.value(0, &f_bar);
                sums[1] += w[0] * w[0];
                axpy(w[0] * share, &jacobian, &mut sums[2..]);
            }
            Want::Hessian => {
                let mut second = [0.0];
                merit.hessian_diagonal(0..1, &f_bar, &mut second);
                let (bend, mut from) = (second[0] * share * share, 0);
                for (l, x) in jacobian.iter().enumerate() {
                    axpy(bend * x, &jacobian[..=l], &mut sums[from..=from + l]);
                    from += l + 1;
                }
            }
        }
    }
    Ok(())
}
