//! Decision processes of the textbooks, whose values are known.

use crate::generated::process::{END, FeatureRows, Process};

/// The random walk of Sutton and Barto's Example 6.2 with any number of states in a row: a step to
/// the left or to the right, alike in probability, until one falls off an end. The reward is 1 on
/// falling off the right one, otherwise 0. Without a discount the value of state k of n is `k /
/// (n + 1)`.
pub fn generate_walk(states: usize) -> Process {
    let n = states as u32;
    let mut names = vec!["left".to_owned()];
    names.extend((1..=n).map(|k| k.to_string()));
    names.push("right".to_owned());
    let mut terminal = vec![false; states + 2];
    terminal[0] = true;
    terminal[states + 1] = true;
    Process {
        states: names,
        terminal,
        from: (1..=n).flat_map(|k| [k, k]).collect(),
        next: (1..=n).flat_map(|k| [k - 1, k + 1]).collect(),
        probabilities: vec![0.5; 2 * states],
        rewards: (1..=n).flat_map(|k| [0.0, f64::from(u8::from(k == n))]).collect(),
        features: None,
        discount: 1.0,
        source: format!("generated: random walk, {states} states between two ends"),
    }
}

/// Boyan's chain ("Least-squares temporal difference learning", 1999): states 12 to 0; from 12 to 2
/// one goes one or two states down, alike in probability, with reward -3, from 1 to 0 with reward
/// -2, and from 0 the episode ends. Four features are 1 in the states 12, 8, 4 and 0 and fall off
/// linearly in between. Without a discount the value of state s is `-2 s`, which the features hold
/// exactly: theta is (-24, -16, -8, 0).
pub fn generate_boyan() -> Process {
    const LAST: u32 = 12;
    // State s is at place 12 - s.
    let (mut from, mut next, mut probabilities, mut rewards) = (vec![], vec![], vec![], vec![]);
    for s in (0..=LAST).rev() {
        let place = LAST - s;
        let ways: &[(u32, f64, f64)] = match s {
            0 => &[(END, 1.0, 0.0)],
            1 => &[(place + 1, 1.0, -2.0)],
            _ => &[(place + 1, 0.5, -3.0), (place + 2, 0.5, -3.0)],
        };
        for &(to, probability, reward) in ways {
            from.push(place);
            next.push(to);
            probabilities.push(probability);
            rewards.push(reward);
        }
    }
    let feature = |s: u32, k: u32| (1.0 - f64::from(s.abs_diff(LAST - 4 * k)) / 4.0).max(0.0);
    Process {
        states: (0..=LAST).rev().map(|s| s.to_string()).collect(),
        terminal: vec![false; LAST as usize + 1],
        from,
        next,
        probabilities,
        rewards,
        features: Some(FeatureRows {
            names: ["at 12", "at 8", "at 4", "at 0"].map(str::to_owned).to_vec(),
            rows: (0..=LAST).rev().flat_map(|s| [0, 1, 2, 3].map(|k| feature(s, k))).collect(),
        }),
        discount: 1.0,
        source: "generated: Boyan's chain, 13 states, 4 features".to_owned(),
    }
}

/// How one moves through a grid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GridPolicy {
    /// Each of the four directions alike.
    #[default]
    Random,
    /// Towards the nearer of the two corners: up or left on the way to the first, down or right to
    /// the last, alike where both lead nearer.
    Shortest,
    /// Four times in five as `Shortest`, otherwise as `Random`.
    Noisy,
}

/// The grid world of Sutton and Barto's Example 4.1: rows and columns of cells, of which the first
/// and the last end the episode. Every move has reward -1; one that would leave the grid stays.
/// With the random policy on 4 x 4 cells the values are 0, -14, -18, -20 and -22.
pub fn generate_grid(rows: usize, columns: usize, policy: GridPolicy) -> Process {
    let cells = rows * columns;
    let ends = [0, cells - 1];
    let (mut from, mut next, mut probabilities) = (vec![], vec![], vec![]);
    for cell in (0..cells).filter(|cell| !ends.contains(cell)) {
        let (r, c) = (cell / columns, cell % columns);
        // Up, left, down, right.
        let to = [
            if r > 0 { cell - columns } else { cell },
            if c > 0 { cell - 1 } else { cell },
            if r + 1 < rows { cell + columns } else { cell },
            if c + 1 < columns { cell + 1 } else { cell },
        ];
        let first = r + c <= rows - 1 - r + columns - 1 - c;
        let nearer: [bool; 4] =
            std::array::from_fn(|k| to[k] != cell && if first { k < 2 } else { k >= 2 });
        let ways = nearer.iter().filter(|nearer| **nearer).count() as f64;
        for k in 0..4 {
            let shortest = if nearer[k] { 1.0 / ways } else { 0.0 };
            let probability = match policy {
                GridPolicy::Random => 0.25,
                GridPolicy::Shortest => shortest,
                GridPolicy::Noisy => 0.8 * shortest + 0.05,
            };
            if probability > 0.0 {
                from.push(cell as u32);
                next.push(to[k] as u32);
                probabilities.push(probability);
            }
        }
    }
    let name = match policy {
        GridPolicy::Random => "random",
        GridPolicy::Shortest => "shortest",
        GridPolicy::Noisy => "noisy",
    };
    Process {
        states: (0..cells)
            .map(|cell| format!("r{}c{}", cell / columns + 1, cell % columns + 1))
            .collect(),
        terminal: (0..cells).map(|cell| ends.contains(&cell)).collect(),
        rewards: vec![-1.0; from.len()],
        from,
        next,
        probabilities,
        features: None,
        discount: 1.0,
        source: format!("generated: grid world, {rows} x {columns} cells, {name} policy"),
    }
}
