//! Names at the ends of curves, none of which overlaps another.

use super::scene::At;

/// Where labels may stand, and any other upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    fn meets(&self, other: &Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn holds(&self, (x, y): At) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    fn is_within(&self, other: &Rect) -> bool {
        self.left >= other.left
            && self.right <= other.right
            && self.top >= other.top
            && self.bottom <= other.bottom
    }

    /// How far `at` is from it.
    fn distance(&self, (x, y): At) -> f64 {
        let dx = (self.left - x).max(x - self.right).max(0.0);
        let dy = (self.top - y).max(y - self.bottom).max(0.0);
        dx.hypot(dy)
    }

    /// The point of its border that is next to `at`.
    pub(crate) fn nearest(&self, (x, y): At) -> At {
        (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom))
    }
}

/// A label that wants to be at the end of a curve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) at: At,
    pub(crate) width: f64,
}

/// From the end of a curve to its label.
const APART: f64 = 6.0;
/// A point of a curve below a label is as bad as this many pixels of distance.
const COVERED: f64 = 2.0;
/// The mark at an end takes so much room,
const MARK: f64 = 4.0;
/// and to hide one is as bad as this many pixels.
const HIDDEN: f64 = 150.0;
/// As bad is a label that the line to another one crosses.
const CROSSED: f64 = 100.0;
/// Points on a line, so far apart.
const STEP: f64 = 3.0;

/// A place for each label, all `height` high: as near to its end, and above as little of the curves
/// as can be had. None if there is no room.
pub(crate) fn place(
    wanted: &[Wanted],
    height: f64,
    room: &Rect,
    curves: &[Vec<At>],
) -> Option<Vec<Rect>> {
    let dots: Vec<At> = curves.iter().flat_map(|curve| along(curve)).collect();
    // What is placed later has less room, so that several orders are tried, and each label may move
    // once more when all others stand.
    let by = |key: &dyn Fn(At) -> f64| {
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by(|&a, &b| key(wanted[a].at).total_cmp(&key(wanted[b].at)));
        order
    };
    let orders = [by(&|at| -at.0), by(&|at| at.0), by(&|at| -at.1), by(&|at| at.1)];
    let tried = orders.iter().filter_map(|order| {
        let mut ground = Ground { dots: &dots, wanted, placed: vec![None; wanted.len()] };
        let mut costs = vec![0.0; wanted.len()];
        for &k in order.iter().chain(order) {
            ground.placed[k] = None;
            let (cost, rect) = ground.best(k, height, room)?;
            (costs[k], ground.placed[k]) = (cost, Some(rect));
        }
        Some((costs.iter().sum::<f64>(), ground.placed))
    });
    let (_, placed) = tried.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(placed.into_iter().flatten().collect())
}

/// What labels should keep off.
struct Ground<'a> {
    /// Points of all curves.
    dots: &'a [At],
    wanted: &'a [Wanted],
    placed: Vec<Option<Rect>>,
}

impl Ground<'_> {
    /// The best place for label k, with its cost.
    fn best(&self, k: usize, height: f64, room: &Rect) -> Option<(f64, Rect)> {
        let Wanted { at, width } = self.wanted[k];
        let mut best: Option<(f64, Rect)> = None;
        for candidate in candidates(at, width, height, room) {
            let least = best.map_or(f64::INFINITY, |(least, _)| least);
            // Most are too far away to be worth a closer look.
            if candidate.distance(at).max(APART) < least {
                let cost = self.cost(k, &candidate);
                if cost < least {
                    best = Some((cost, candidate));
                }
            }
        }
        best
    }

    /// How bad it is to have label k at `rect`; infinite if another one is there.
    fn cost(&self, k: usize, rect: &Rect) -> f64 {
        if self.placed.iter().flatten().any(|other| other.meets(rect)) {
            return f64::INFINITY;
        }
        let at = self.wanted[k].at;
        let covered = self.dots.iter().filter(|dot| rect.holds(**dot)).count();
        // The line from the end to the label, where one is drawn, should lead over no other end and
        // no label, nor the label are on such a line.
        let leader = along(&[at, rect.nearest(at)]);
        let leads_over =
            |end: At| leader.iter().any(|dot| (dot.0 - end.0).hypot(dot.1 - end.1) < MARK);
        let ends = self.wanted.iter().enumerate().filter(|(other, label)| {
            rect.distance(label.at) < MARK || (*other != k && leads_over(label.at))
        });
        let labels = self.placed.iter().zip(self.wanted);
        let labels = labels.filter_map(|(other, label)| Some((other.as_ref()?, label.at)));
        let crossed = labels.filter(|(other, end)| {
            leader.iter().any(|dot| other.holds(*dot))
                || along(&[*end, other.nearest(*end)]).iter().any(|dot| rect.holds(*dot))
        });
        COVERED * (covered as f64).min(12.0)
            + HIDDEN * ends.count() as f64
            + CROSSED * crossed.count() as f64
            + rect.distance(at).max(APART)
    }
}

/// Rectangles around the point, those to its right first, and then everywhere in the room.
fn candidates(at: At, width: f64, height: f64, room: &Rect) -> impl Iterator<Item = Rect> {
    let rect = move |left: f64, middle: f64| Rect {
        left,
        top: middle - height / 2.0,
        right: left + width,
        bottom: middle + height / 2.0,
    };
    let rows = ((room.bottom - room.top) / (height / 2.0)).ceil() as i32;
    let near = (0..=2 * rows).flat_map(move |k| {
        let step = if k % 2 == 0 { k / 2 } else { -(k + 1) / 2 };
        let middle = at.1 + f64::from(step) * height / 2.0;
        [at.0 + APART, at.0 - width / 2.0, at.0 - width - APART].map(|left| rect(left, middle))
    });
    let columns = ((room.right - room.left) / (width / 2.0)).floor() as i32;
    let (left, top) = (room.left, room.top);
    let all = (0..columns).flat_map(move |c| {
        (1..rows).map(move |r| {
            rect(left + f64::from(c) * width / 2.0, top + f64::from(r) * height / 2.0)
        })
    });
    let room = *room;
    near.chain(all).filter(move |rect| rect.is_within(&room))
}

/// Points on the line, a few pixels apart.
fn along(curve: &[At]) -> Vec<At> {
    let mut dots: Vec<At> = curve.first().copied().into_iter().collect();
    for pair in curve.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let steps = ((b.0 - a.0).hypot(b.1 - a.1) / STEP).ceil().max(1.0);
        dots.extend((1..=steps as usize).map(|k| {
            let part = k as f64 / steps;
            (a.0 + part * (b.0 - a.0), a.1 + part * (b.1 - a.1))
        }));
    }
    dots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_never_overlap_and_stay_in_the_room() {
        let room = Rect { left: 50.0, top: 10.0, right: 360.0, bottom: 230.0 };
        // All end at one point, at one height, at the right edge, and all over the place.
        let ends: [&dyn Fn(usize) -> At; 4] = [
            &|_| (200.0, 228.0),
            &|k| (80.0 + 9.0 * k as f64, 229.0),
            &|k| (300.0, 100.0 + k as f64),
            &|k| (60.0 + (k * 97 % 230) as f64, 15.0 + (k * 53 % 210) as f64),
        ];
        for end in ends {
            let wanted: Vec<Wanted> = (0..25)
                .map(|k| Wanted { at: end(k), width: 40.0 + (k % 5) as f64 * 6.0 })
                .collect();
            let curves: Vec<Vec<At>> =
                wanted.iter().map(|label| vec![(50.0, 10.0), label.at]).collect();
            let placed = place(&wanted, 13.0, &room, &curves).expect("there is room for 25");
            for (k, rect) in placed.iter().enumerate() {
                assert!(rect.is_within(&room), "{rect:?}");
                assert!(placed[..k].iter().all(|other| !other.meets(rect)), "{placed:?}");
            }
        }
        // A label alone is at the end of its curve.
        let one = place(
            &[Wanted { at: (200.0, 100.0), width: 40.0 }],
            13.0,
            &room,
            &[vec![(50.0, 10.0), (200.0, 100.0)]],
        );
        assert_eq!(one.expect("room")[0].left, 206.0);
        // Where there is no room, that is said.
        let crowd = vec![Wanted { at: (200.0, 100.0), width: 150.0 }; 60];
        assert_eq!(place(&crowd, 13.0, &room, &[]), None);
    }
}
