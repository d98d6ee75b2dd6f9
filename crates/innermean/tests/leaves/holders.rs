//! Data in leaves, and those who hold them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use innermean::draws::Stream;
use innermean::leaves::{Held, Leaf, Loss, Partial, Run, Shape, Shard, Want};
use innermean::{Groups, Link, Lost};

/// Labelled of d numbers, and labels of -1 and 1 that they say something of.
pub(super) struct Labelled {
    pub(super) d: usize,
    pub(super) rows: Vec<f64>,
    pub(super) labels: Vec<f64>,
}

impl Labelled {
    pub(super) fn random(n: usize, d: usize, seed: u64) -> Self {
        let mut draws = Stream::new(seed, 5);
        let mut one = || 2.0 * draws.unit() - 1.0;
        let rows: Vec<f64> = (0..n * d).map(|_| one()).collect();
        let score = |row: &[f64]| row.iter().enumerate().map(|(l, x)| x / (1.0 + l as f64)).sum();
        let scores: Vec<f64> = rows.chunks(d).map(score).collect();
        let labels = scores.iter().map(|score| (score + 0.7 * one()).signum()).collect();
        Labelled { d, rows, labels }
    }

    /// Cut into leaves of so many rows.
    pub(super) fn leaves(&self, each: usize, loss: Loss) -> (Vec<Leaf>, Shape) {
        let d = self.d;
        let cut = self.rows.chunks(each * d).zip(self.labels.chunks(each));
        let leaf = |(k, (rows, labels)): (usize, (&[f64], &[f64]))| {
            Leaf::linear(k as u64, d, rows.to_vec(), labels, loss).expect("a leaf")
        };
        let leaves: Vec<Leaf> = cut.enumerate().map(leaf).collect();
        let count = leaves.len() as u64;
        (leaves, shape(d, count, loss, true))
    }
}

fn shape(d: usize, leaves: u64, loss: Loss, affine: bool) -> Shape {
    Shape { d, leaves, loss, affine, convex: affine, knows_seconds: true }
}

/// Groups of these sizes with a proportion each, in leaves of so many rows.
pub(super) struct Bagged {
    pub(super) width: usize,
    pub(super) rows: Vec<f64>,
    pub(super) sizes: Vec<usize>,
    pub(super) labels: Vec<f64>,
}

impl Bagged {
    pub(super) fn random(sizes: &[usize], width: usize) -> Self {
        let mut draws = Stream::new(3, 6);
        let rows = (0..sizes.iter().sum::<usize>() * width).map(|_| 2.0 * draws.unit() - 1.0);
        let rows = rows.collect();
        let labels = sizes.iter().map(|_| 0.2 + 0.6 * draws.unit()).collect();
        Bagged { width, rows, sizes: sizes.to_vec(), labels }
    }

    pub(super) fn groups(&self) -> Groups {
        let mut starts = vec![0];
        for size in &self.sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        Groups::new(self.width, self.rows.clone(), starts, true).expect("groups")
    }

    pub(super) fn leaves(&self, each: usize, link: Link, loss: Loss) -> (Vec<Leaf>, Shape) {
        let group_of: Vec<usize> =
            self.sizes.iter().enumerate().flat_map(|(g, size)| vec![g; *size]).collect();
        let mut leaves = Vec::new();
        for (k, own) in group_of.chunks(each).enumerate() {
            let runs: Vec<Run> = own
                .chunk_by(|a, b| a == b)
                .map(|run| Run {
                    group: run[0] as u64,
                    rows: run.len() as u64,
                    label: self.labels[run[0]],
                    is_open: run.len() < self.sizes[run[0]],
                })
                .collect();
            let from = k * each * self.width;
            let rows = &self.rows[from..from + own.len() * self.width];
            let leaf = Leaf::groups(k as u64, (self.width, true), rows, &runs, (link, loss));
            leaves.push(leaf.expect("a leaf"));
        }
        let count = leaves.len() as u64;
        (leaves, shape(self.width + 1, count, loss, link == Link::Identity))
    }
}

/// Workers on threads of their own, each with some of the leaves, whose answers come as they like.
pub(super) struct Workers {
    pub(super) workers: Vec<Held>,
    /// A worker may answer twice.
    pub(super) twice: bool,
}

impl Workers {
    pub(super) fn of(leaves: Vec<Leaf>, count: usize, assign: impl Fn(usize) -> usize) -> Self {
        let mut workers: Vec<Held> = (0..count).map(|_| Held(Vec::new())).collect();
        for (k, leaf) in leaves.into_iter().enumerate() {
            workers[assign(k) % count].0.push(leaf);
        }
        Workers { workers, twice: false }
    }
}

impl Shard for Workers {
    fn pass(&self, theta: &[f64], want: Want) -> Result<Vec<Partial>, Lost> {
        let found = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for worker in &self.workers {
                scope.spawn(|| {
                    for _ in 0..if self.twice { 2 } else { 1 } {
                        let partials = worker.pass(theta, want).expect("it does not fail");
                        // As they travel.
                        let numbers: Vec<f64> =
                            partials.iter().flat_map(Partial::to_numbers).collect();
                        let d = theta.len().max(match want {
                            Want::Survey => partials.first().map_or(0, |p| p.sums.len() - 3),
                            _ => 0,
                        });
                        let back = Partial::from_numbers(d, &numbers).expect("partial sums");
                        assert_eq!(back, partials);
                        found.lock().expect("no panic").extend(back);
                    }
                });
            }
        });
        Ok(found.into_inner().expect("no panic"))
    }
}

/// Fails in pass number `at`, once or for good.
pub(super) struct Failing<S> {
    pub(super) shard: S,
    pub(super) passes: AtomicU64,
    pub(super) at: u64,
    pub(super) for_good: bool,
}

impl<S: Shard> Failing<S> {
    pub(super) fn new(shard: S, at: u64, for_good: bool) -> Self {
        Failing { shard, passes: AtomicU64::new(0), at, for_good }
    }

    pub(super) fn made(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }
}

impl<S: Shard> Shard for Failing<S> {
    fn pass(&self, theta: &[f64], want: Want) -> Result<Vec<Partial>, Lost> {
        let k = self.passes.fetch_add(1, Ordering::Relaxed);
        if k == self.at || self.for_good && k > self.at {
            return Err(Lost::new("leaf 3", "its machine is gone"));
        }
        self.shard.pass(theta, want)
    }
}
