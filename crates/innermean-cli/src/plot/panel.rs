//! One pair of axes with its curves.

use super::font;
use super::labels::Rect;
use super::scale::{Division, Scale};
use super::scene::{Anchor, At, Scene, Shape};
use super::style::{FAINT, GREY, INK, Marker, Style};
use super::thin;

/// The room between a tick's label and the axis.
const TICK: f64 = 5.0;
/// Marks on a curve.
const MARKS: usize = 4;

/// What the axes of a panel look like.
pub(super) struct Axes {
    pub(super) x: Scale,
    pub(super) y: Scale,
    /// Where the curves are.
    pub(super) area: Rect,
    pub(super) font: f64,
    /// Whether numbers are at the axis of y.
    pub(super) y_labels: bool,
}

/// A curve in the picture.
pub(super) struct Drawn {
    /// In pieces: what is not finite or off the top is left out.
    pub(super) pieces: Vec<Vec<At>>,
    /// Those of its places that are points of the data above the floor, where a mark may be.
    points: Vec<At>,
    /// Places where the number is zero or less, and is at the floor.
    pub(super) floored: Vec<At>,
}

impl Axes {
    fn at(&self, x: f64, y: f64) -> At {
        let Rect { left, top, right, bottom } = self.area;
        (
            left + self.x.place(x).clamp(0.0, 1.0) * (right - left),
            bottom - self.y.place(y) * (bottom - top),
        )
    }

    /// Labels of ticks for which there is room.
    fn x_ticks(&self) -> usize {
        (((self.area.right - self.area.left) / (4.2 * self.font)) as usize).clamp(2, 7)
    }

    fn y_ticks(&self) -> usize {
        (((self.area.bottom - self.area.top) / (2.2 * self.font)) as usize).clamp(2, 9)
    }

    /// The room that numbers at the axis of y take.
    pub(super) fn y_label_width(y: &Scale, height: f64, font: f64) -> f64 {
        let most = ((height / (2.2 * font)) as usize).clamp(2, 9);
        let labels = y.ticks(most).into_iter().filter_map(|tick| tick.label);
        labels.map(|label| font::width(&label, font)).fold(0.0, f64::max) + TICK
    }

    /// Frame, ticks and numbers.
    pub(super) fn draw(&self, scene: &mut Scene) {
        let Rect { left, top, right, bottom } = self.area;
        for tick in self.y.ticks(self.y_ticks()) {
            let (_, y) = self.at(self.x.lo, tick.value);
            if let Some(label) = tick.label {
                scene.line(vec![(left, y), (right, y)], FAINT, 0.7);
                if self.y_labels {
                    let at = (left - TICK, y + 0.35 * self.font);
                    scene.text(at, &label, self.font, INK, Anchor::End);
                }
            }
            scene.line(vec![(left - 3.0, y), (left, y)], GREY, 0.8);
        }
        let mut taken = f64::NEG_INFINITY;
        for tick in self.x.ticks(self.x_ticks()) {
            let (x, _) = self.at(tick.value, self.y.lo);
            scene.line(vec![(x, bottom), (x, bottom + 3.0)], GREY, 0.8);
            if let Some(label) = tick.label {
                let half = font::width(&label, self.font) / 2.0;
                // At the right end, it does not reach into the next panel.
                let x = x.min(right + 6.0 - half);
                if x - half > taken {
                    scene.text(
                        (x, bottom + 4.0 + self.font),
                        &label,
                        self.font,
                        INK,
                        Anchor::Middle,
                    );
                    taken = x + half + 0.5 * self.font;
                }
            }
        }
        scene.line(vec![(left, top), (left, bottom), (right, bottom)], GREY, 0.8);
    }

    /// The curve in places of the picture, with no more points than can be seen.
    pub(super) fn trace(&self, points: &[(f64, f64)]) -> Drawn {
        let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let strips = (2.0 * (self.area.right - self.area.left)).max(1.0) as usize;
        let mut drawn = Drawn { pieces: Vec::new(), points: Vec::new(), floored: Vec::new() };
        let mut piece: Vec<At> = Vec::new();
        let mut before: Option<At> = None;
        for k in thin::thinned(&x, &y, strips) {
            if !y[k].is_finite() {
                before = None;
                drawn.pieces.extend((!piece.is_empty()).then(|| std::mem::take(&mut piece)));
                continue;
            }
            // An axis of ratios has no place for the start, at zero.
            if self.x.division == Division::Log && x[k] <= 0.0 {
                continue;
            }
            let here = self.at(x[k], y[k]);
            if y[k] <= 0.0 {
                drawn.floored.push(here);
            }
            let top = self.area.top;
            // What goes off the top is cut where it does.
            let crossing =
                before.filter(|before| (before.1 < top) != (here.1 < top)).map(|(bx, by)| {
                    let part = (top - by) / (here.1 - by);
                    (bx + part * (here.0 - bx), top)
                });
            piece.extend(crossing);
            if here.1 >= top {
                piece.push(here);
                drawn.points.extend((y[k] > 0.0).then_some(here));
            } else {
                drawn.pieces.extend((!piece.is_empty()).then(|| std::mem::take(&mut piece)));
            }
            before = Some(here);
        }
        drawn.pieces.extend((!piece.is_empty()).then_some(piece));
        drawn
    }
}

impl Drawn {
    /// Where the curve ends.
    pub(super) fn end(&self) -> Option<At> {
        self.pieces.last().and_then(|piece| piece.last()).copied()
    }

    /// Lines first, so that marks of any curve are before lines.
    pub(super) fn draw_line(&self, scene: &mut Scene, style: Style, width: f64) {
        for piece in &self.pieces {
            let Style { color, dash, .. } = style;
            scene.shapes.push(Shape::Line { points: piece.clone(), color, width, dash });
        }
    }

    /// Marks at the end, where the curve is at the floor, and at a few of its points; `turn`, from
    /// 0 to 1, keeps those of different curves apart.
    pub(super) fn draw_marks(&self, scene: &mut Scene, style: Style, size: f64, turn: Option<f64>) {
        let Style { color, marker, .. } = style;
        let mut mark = |at: At, marker: Marker, filled: bool| {
            scene.shapes.push(Shape::Mark { at, marker, color, size, filled });
        };
        if let Some(turn) = turn {
            for at in spread(&self.points, turn, 6.0 * size) {
                mark(at, marker, true);
            }
        }
        if let Some(at) = self.points.last() {
            mark(*at, marker, true);
        }
        if let Some(at) = self.floored.first() {
            mark(*at, Marker::Down, false);
        }
    }
}

/// All points, if they are few, or up to [`MARKS`] about equally far from each other along the
/// curve and no nearer than `least`; the last, which has a mark anyway, is not among them.
fn spread(points: &[At], turn: f64, least: f64) -> Vec<At> {
    let Some((_, others)) = points.split_last() else { return Vec::new() };
    if others.len() <= MARKS {
        return others.to_vec();
    }
    let way = |a: At, b: At| (b.0 - a.0).hypot(b.1 - a.1);
    let length: f64 = points.windows(2).map(|pair| way(pair[0], pair[1])).sum();
    let spacing = length / MARKS as f64;
    let mut chosen: Vec<At> = Vec::new();
    if spacing <= least {
        return chosen;
    }
    let (mut gone, mut next) = (0.0, turn * spacing);
    let mut before = points[0];
    for &at in others {
        gone += way(before, at);
        before = at;
        if gone >= next && length - gone >= least {
            chosen.push(at);
            next = gone + spacing;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_at_points_of_the_data() {
        // A run of two points has a mark at either.
        assert_eq!(spread(&[(0.0, 0.0), (100.0, 100.0)], 0.5, 10.0), [(0.0, 0.0)]);
        let line: Vec<At> = (0..=100).map(|k| (f64::from(k), 0.0)).collect();
        assert_eq!(spread(&line, 0.1, 10.0), [(3.0, 0.0), (28.0, 0.0), (53.0, 0.0), (78.0, 0.0)]);
        // Steps that differ: the points that are there are marked, not those between them.
        let steps = [0.0, 60.0, 61.0, 62.0, 63.0, 100.0].map(|x| (x, 0.0));
        assert_eq!(spread(&steps, 0.5, 10.0), [(60.0, 0.0)]);
        assert_eq!(spread(&[], 0.5, 10.0), [(0.0, 0.0); 0]);
    }
}
