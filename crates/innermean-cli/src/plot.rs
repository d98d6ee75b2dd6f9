//! Pictures of convergence for papers and slides: one panel with names at the ends of its curves,
//! or many small ones with a legend that they share. Colours, dashes and marks tell curves apart
//! ([`style`]); axes are logarithmic where that shows more.
//!
//! ```ignore
//! let curve = |name: &str, rate: f64| Curve {
//!     name: name.to_owned(),
//!     points: (0..200).map(|k| (1e3 * f64::from(k), (-rate * f64::from(k)).exp())).collect(),
//! };
//! let curves = || vec![curve("svrpda1", 0.1), curve("gd", 0.01)];
//! let panel = |title: &str| Panel { title: title.to_owned(), curves: curves() };
//! let figure = Figure {
//!     title: "Two data sets".to_owned(),
//!     x: "oracle calls".to_owned(),
//!     y: "objective − optimum".to_owned(),
//!     panels: vec![panel("first"), panel("second")],
//!     columns: 2,
//!     by_ratios: false,
//! };
//! std::fs::write("figure.svg", figure.svg())?;
//! std::fs::write("figure.png", figure.png()?)?;
//! ```
//!
//! The test `the_example_in_the_documentation` does that.

#[cfg(feature = "png")]
use std::io;

use self::labels::{Rect, Wanted};
use self::panel::{Axes, Drawn};
use self::scale::{Division, Scale};
use self::scene::{Anchor, At, Scene, Shape};
use self::style::{GREY, INK, Marker, Style};

mod font;
mod labels;
#[cfg(feature = "png")]
mod outlines;
mod panel;
#[cfg(feature = "png")]
mod png;
pub(crate) mod scale;
mod scene;
mod style;
mod svg;
pub(crate) mod thin;

/// One or many panels with the same axes in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// Above all; may be empty.
    pub(crate) title: String,
    /// What is counted along x.
    pub(crate) x: String,
    /// What falls along y, on a logarithmic axis.
    pub(crate) y: String,
    pub(crate) panels: Vec<Panel>,
    /// Panels beside each other.
    pub(crate) columns: usize,
    /// Whether x goes by ratios, even where curves do not ask for it.
    pub(crate) by_ratios: bool,
}

/// One pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// Above it; may be empty.
    pub(crate) title: String,
    pub(crate) curves: Vec<Curve>,
}

/// A curve; those of one name look alike and share one label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    pub(crate) name: String,
    /// x does not fall; y that is zero or less is drawn at the floor with a mark, y that is not
    /// finite is left out.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Pixels of a PNG for one of the picture: 288 for an inch.
#[cfg(feature = "png")]
const PNG_SCALE: f64 = 3.0;
/// A panel alone: at the width of a column of a paper, 3.4 inches, its letters have 7.5 points.
const ALONE: (f64, f64) = (360.0, 262.0);
/// A panel among many, with its axes and margins: six take the width of a page, 7 inches, at 6
/// points.
const SMALL: (f64, f64) = (128.0, 116.0);
/// A panel among few: two take the width of a page.
const MIDDLE: (f64, f64) = (240.0, 190.0);
/// This many are few.
const FEW: usize = 4;
/// Letters.
const FONT: f64 = 11.0;
const SMALL_FONT: f64 = 9.5;
/// The title, with room below it for half a number.
const HEAD: f64 = 2.0 * FONT;
/// A long title has smaller letters, down to this part.
const SMALLEST: f64 = 0.75;
/// The room around all.
const MARGIN: f64 = 8.0;
/// A curve that rises above this many times the highest start is cut.
const OFF_THE_TOP: f64 = 100.0;
/// x goes by ratios where curves end this many times later than others.
const FAR_APART: f64 = 8.0;

impl Figure {
    /// As SVG.
    pub(crate) fn svg(&self) -> String {
        svg::svg(&self.scene())
    }

    /// As PNG.
    #[cfg(feature = "png")]
    pub(crate) fn png(&self) -> io::Result<Vec<u8>> {
        png::png(&self.scene(), PNG_SCALE)
    }

    /// The names of all curves, in the order of their first appearance: the k-th has the k-th
    /// style.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for curve in self.panels.iter().flat_map(|panel| &panel.curves) {
            if !names.contains(&curve.name.as_str()) {
                names.push(&curve.name);
            }
        }
        names
    }

    fn style(&self, name: &str) -> (usize, Style) {
        let k = self.names().iter().position(|other| *other == name).unwrap_or(0);
        (k, Style::of(k))
    }

    fn scene(&self) -> Scene {
        match self.panels.as_slice() {
            [alone] => self.alone(alone),
            _ => self.grid(),
        }
    }

    fn description(&self) -> String {
        let title = if self.title.is_empty() { String::new() } else { format!("{}: ", self.title) };
        format!("{title}{} against {}, {}", self.y, self.x, self.names().join(", "))
    }

    /// From the lowest number of all panels to the highest that a curve begins with, or a little
    /// more.
    fn y_scale(&self) -> Scale {
        let curves = || self.panels.iter().flat_map(|panel| &panel.curves);
        let finite = |y: &f64| y.is_finite();
        let begin =
            curves().filter_map(|curve| curve.points.iter().map(|point| point.1).find(finite));
        let most = OFF_THE_TOP * begin.fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { f64::MAX };
        let all = curves().flat_map(|curve| &curve.points).map(|point| point.1).filter(finite);
        Scale::decades(all.map(|y| y.min(most)))
    }

    /// Whether x goes by ratios.
    fn x_division(&self) -> Division {
        let far = self.panels.iter().any(|panel| {
            let ends =
                panel.curves.iter().filter_map(|curve| curve.points.last()).map(|point| point.0);
            let (least, most) = ends
                .filter(|x| *x > 0.0)
                .fold((f64::MAX, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
            most > FAR_APART * least
        });
        if far || self.by_ratios { Division::Log } else { Division::Linear }
    }

    fn x_scale(division: Division, panel: &Panel) -> Scale {
        let x = panel.curves.iter().flat_map(|curve| &curve.points).map(|point| point.0);
        match division {
            Division::Linear => Scale::from_zero(x),
            Division::Log => {
                let Scale { lo, hi, .. } = Scale::log(x);
                Scale { division, lo, hi: 1.05 * hi }
            }
        }
    }

    /// One panel with names at the ends of its curves or, where there is no room, with a legend.
    fn alone(&self, panel: &Panel) -> Scene {
        let (width, height) = ALONE;
        self.labelled(panel, width, height).unwrap_or_else(|| {
            let legend = self.legend_height(width, FONT);
            let mut scene = Scene::new(width, height + legend, self.description());
            let top = self.head(&mut scene);
            self.legend(&mut scene, top, FONT);
            let axes = self.axes(panel, (width, height + legend), top + legend, MARGIN);
            self.frame(&mut scene, &axes);
            self.curves(&mut scene, &axes, panel, 1.4, 2.6);
            scene
        })
    }

    /// The title, if there is one; returns where what follows begins.
    fn head(&self, scene: &mut Scene) -> f64 {
        if self.title.is_empty() {
            return MARGIN;
        }
        let room = scene.width - 2.0 * MARGIN;
        title(scene, (MARGIN, MARGIN + FONT), &self.title, FONT, room);
        MARGIN + HEAD
    }

    fn axes(&self, panel: &Panel, (width, height): (f64, f64), top: f64, right: f64) -> Axes {
        let y = self.y_scale();
        let bottom = height - MARGIN - 2.9 * FONT;
        let left = MARGIN + 1.5 * FONT + Axes::y_label_width(&y, bottom - top, FONT);
        Axes {
            x: Self::x_scale(self.x_division(), panel),
            y,
            area: Rect { left, top, right: width - right, bottom },
            font: FONT,
            y_labels: true,
        }
    }

    /// Axes with their titles.
    fn frame(&self, scene: &mut Scene, axes: &Axes) {
        axes.draw(scene);
        let Rect { left, top, right, bottom } = axes.area;
        let x_title = (f64::midpoint(left, right), bottom + 4.0 + 2.5 * FONT);
        scene.text(x_title, &self.x, FONT, INK, Anchor::Middle);
        let room = bottom - top + 2.0 * FONT;
        let y_title = font::cut(&self.y, FONT, room);
        scene
            .text(
                (MARGIN + 0.9 * FONT, f64::midpoint(top, bottom)),
                &y_title,
                FONT,
                INK,
                Anchor::Middle,
            )
            .upwards = true;
    }

    fn curves(
        &self,
        scene: &mut Scene,
        axes: &Axes,
        panel: &Panel,
        width: f64,
        mark: f64,
    ) -> Vec<Drawn> {
        let drawn: Vec<Drawn> =
            panel.curves.iter().map(|curve| axes.trace(&curve.points)).collect();
        let names = self.names().len().max(1);
        // Several runs of a name are thin lines that have marks at their ends alone.
        let several = panel.curves.len() > names;
        let width = if several { 0.7 * width } else { width };
        for (curve, drawn) in panel.curves.iter().zip(&drawn) {
            drawn.draw_line(scene, self.style(&curve.name).1, width);
        }
        for (curve, drawn) in panel.curves.iter().zip(&drawn) {
            let (k, style) = self.style(&curve.name);
            let turn = (k % names) as f64 / names as f64 * 0.8 + 0.1;
            drawn.draw_marks(scene, style, mark, (!several).then_some(turn));
        }
        if drawn.iter().any(|drawn| !drawn.floored.is_empty()) {
            let Rect { left, bottom, .. } = axes.area;
            let at = (left + 8.0, bottom - 5.0);
            scene.shapes.push(Shape::Mark {
                at,
                marker: Marker::Down,
                color: GREY,
                size: mark,
                filled: false,
            });
            let at = (left + 14.0, bottom - 2.0);
            scene.text(at, "0 or less", 0.85 * axes.font, GREY, Anchor::Start).halo = true;
        }
        drawn
    }

    fn labelled(&self, panel: &Panel, width: f64, height: f64) -> Option<Scene> {
        let mut scene = Scene::new(width, height, self.description());
        let top = self.head(&mut scene);
        let names: Vec<(&str, String)> = self
            .names()
            .into_iter()
            .map(|name| (name, font::cut(name, FONT, 0.35 * width)))
            .collect();
        // Curves that end at the right leave room for their names beside the axes.
        let x = Self::x_scale(self.x_division(), panel);
        let beside = panel
            .curves
            .iter()
            .filter(|curve| curve.points.last().is_some_and(|point| x.place(point.0) > 0.7));
        let beside = beside.filter_map(|curve| names.iter().find(|(name, _)| *name == curve.name));
        let right = beside.map(|(_, short)| font::width(short, FONT) + 10.0).fold(0.0, f64::max);
        let axes = self.axes(panel, (width, height), top, MARGIN + right);
        self.frame(&mut scene, &axes);
        let drawn = self.curves(&mut scene, &axes, panel, 1.4, 2.6);
        // One label for each name, at the run that ends in the middle of its runs.
        let mut labels: Vec<(&str, &str, At)> = Vec::new();
        for (name, short) in &names {
            let runs = panel.curves.iter().zip(&drawn).filter(|(curve, _)| curve.name == *name);
            let mut ends: Vec<At> = runs.filter_map(|(_, drawn)| drawn.end()).collect();
            ends.sort_by(|a, b| a.0.total_cmp(&b.0));
            labels.extend(ends.get(ends.len() / 2).map(|end| (*name, short.as_str(), *end)));
        }
        let wanted: Vec<Wanted> = labels
            .iter()
            .map(|(_, short, at)| Wanted { at: *at, width: font::width(short, FONT) })
            .collect();
        let Rect { left, top, bottom, .. } = axes.area;
        let room = Rect { left: left + 2.0, top, right: width - 2.0, bottom: bottom - 1.0 };
        let lines: Vec<Vec<At>> =
            drawn.iter().flat_map(|drawn| drawn.pieces.iter().cloned()).collect();
        let places = labels::place(&wanted, 1.15 * FONT, &room, &lines)?;
        for ((name, short, at), rect) in labels.iter().zip(places) {
            let color = self.style(name).1.color;
            let next = rect.nearest(*at);
            if (next.0 - at.0).hypot(next.1 - at.1) > 1.2 * FONT {
                scene.line(vec![*at, next], GREY, 0.6);
            }
            let at = (rect.left, rect.bottom - 0.3 * FONT);
            scene.text(at, short, FONT, color, Anchor::Start).halo = true;
        }
        Some(scene)
    }

    /// Many panels, of which each has its own x and all have the same y.
    fn grid(&self) -> Scene {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns).max(1);
        let (wide, high) = if self.panels.len() <= FEW { MIDDLE } else { SMALL };
        let y = self.y_scale();
        let titled = self.panels.iter().any(|panel| !panel.title.is_empty());
        let (above, below) = (if titled { 1.7 * SMALL_FONT } else { 6.0 }, 2.1 * SMALL_FONT);
        let inner = high - above - below;
        let left = MARGIN + 1.5 * FONT + Axes::y_label_width(&y, inner, SMALL_FONT);
        let width = left + columns as f64 * wide + MARGIN;
        let legend = self.legend_height(width, FONT);
        let head = if self.title.is_empty() { MARGIN } else { MARGIN + HEAD };
        let bottom = head + legend + rows as f64 * high;
        let mut scene = Scene::new(width, bottom + 1.8 * FONT + MARGIN, self.description());
        let top = self.head(&mut scene);
        self.legend(&mut scene, top, FONT);
        let division = self.x_division();
        for (k, panel) in self.panels.iter().enumerate() {
            let (column, row) = (k % columns, k / columns);
            let x0 = left + column as f64 * wide;
            let y0 = top + legend + row as f64 * high;
            let area = Rect {
                left: x0 + 4.0,
                top: y0 + above,
                right: x0 + wide - 12.0,
                bottom: y0 + high - below,
            };
            let axes = Axes {
                x: Self::x_scale(division, panel),
                y,
                area,
                font: SMALL_FONT,
                y_labels: column == 0,
            };
            axes.draw(&mut scene);
            let room = wide - 12.0;
            title(&mut scene, (area.left, area.top - 5.0), &panel.title, SMALL_FONT, room);
            self.curves(&mut scene, &axes, panel, 1.1, 1.4);
        }
        let middle = f64::midpoint(left, width - MARGIN);
        scene.text((middle, bottom + 1.2 * FONT), &self.x, FONT, INK, Anchor::Middle);
        let at = (MARGIN + 0.9 * FONT, f64::midpoint(top + legend, bottom));
        let y_title = font::cut(&self.y, FONT, bottom - top - legend + 2.0 * FONT);
        scene.text(at, &y_title, FONT, INK, Anchor::Middle).upwards = true;
        scene
    }

    /// Where each name is in a legend of this width: its place from the left, and its row.
    fn legend_places(&self, width: f64, font: f64) -> Vec<(f64, usize)> {
        let (mut x, mut row) = (MARGIN, 0);
        let mut places = Vec::new();
        for name in self.names() {
            let wide = 26.0 + font::width(&font::cut(name, font, width - 60.0), font) + 14.0;
            if x > MARGIN && x + wide > width {
                (x, row) = (MARGIN, row + 1);
            }
            places.push((x, row));
            x += wide;
        }
        places
    }

    fn legend_height(&self, width: f64, font: f64) -> f64 {
        let rows = self.legend_places(width, font).last().map_or(0, |place| place.1 + 1);
        rows as f64 * 1.5 * font + 6.0
    }

    fn legend(&self, scene: &mut Scene, top: f64, font: f64) {
        let width = scene.width;
        for (name, (x, row)) in self.names().into_iter().zip(self.legend_places(width, font)) {
            let Style { color, dash, marker } = self.style(name).1;
            let y = top + (row as f64 + 0.5) * 1.5 * font;
            scene.shapes.push(Shape::Line {
                points: vec![(x, y), (x + 20.0, y)],
                color,
                width: 1.6,
                dash,
            });
            scene.shapes.push(Shape::Mark {
                at: (x + 10.0, y),
                marker,
                color,
                size: 2.6,
                filled: true,
            });
            let name = font::cut(name, font, width - 60.0);
            scene.text((x + 26.0, y + 0.35 * font), &name, font, INK, Anchor::Start);
        }
    }
}

/// In smaller letters if it is long, and cut if it is longer still.
fn title(scene: &mut Scene, at: At, text: &str, font: f64, room: f64) {
    let size = font * (room / font::width(text, font)).clamp(SMALLEST, 1.0);
    scene.text(at, &font::cut(text, size, room), size, INK, Anchor::Start);
}

#[cfg(test)]
mod tests;
