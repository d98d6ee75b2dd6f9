//! A chart on a page: curves, dots and bars between two straight axes, drawn once, without a
//! script. Colours are those of the page, light or dark.

use std::fmt::Write as _;

use super::html::{escape, prose};
use crate::plot::scale::{Division, Scale, Tick, amount};
use crate::plot::thin::thinned;

/// A picture with its axes in words.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) series: Vec<Series>,
    /// Whether 0 is always on the axis of y.
    pub(crate) from_zero: bool,
    /// Names along x, by the number from 0; numbers where there are none.
    pub(crate) names: Vec<String>,
    /// What is to be known of it, in whole sentences.
    pub(crate) note: String,
    /// Where years begin along x, in their order: labels before any others, if there are some.
    pub(crate) years: Vec<(f64, u32)>,
    /// Whether equal ratios are equally far along y, where all is above 0.
    pub(crate) in_ratios: bool,
}

/// What is drawn together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// For the legend; one without a name is not in it.
    pub(crate) name: String,
    pub(crate) shape: Shape,
    /// The colour of the page: 0 to 7.
    pub(crate) color: usize,
    pub(crate) points: Vec<(f64, f64)>,
    /// Texts beside the points, where there are some.
    pub(crate) labels: Vec<String>,
}

/// How points are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Line,
    /// A line with a dot at each point.
    Dotted,
    Dots,
    /// One large dot.
    Mark,
    /// Bars from 0.
    Bars,
    /// A line, and what is between it and 0.
    Area,
}

/// Where a picture is drawn: widths and heights in the unit of its letters, which are of the same
/// size on a desk and on a phone.
struct Frame {
    class: &'static str,
    width: f64,
    height: f64,
    left: f64,
    /// About how many ticks have room along x and y.
    ticks: [usize; 2],
}

const WIDE: Frame = Frame { class: "wide", width: 720.0, height: 320.0, left: 64.0, ticks: [8, 6] };
const NARROW: Frame =
    Frame { class: "narrow", width: 360.0, height: 260.0, left: 56.0, ticks: [4, 5] };
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// About the width of a letter.
const LETTER: f64 = 6.2;
/// Strips that a long curve is cut into; no eye tells what happens within one.
const STRIPS: usize = 300;

impl Frame {
    fn inner(&self) -> (f64, f64) {
        (self.width - self.left - RIGHT, self.height - TOP - BOTTOM)
    }
}

impl Chart {
    fn scales(&self) -> [Scale; 2] {
        let all = || self.series.iter().flat_map(|series| &series.points);
        let has_bars = self.series.iter().any(|series| series.shape == Shape::Bars);
        let axis = |values: &mut dyn Iterator<Item = f64>, zero: bool, room: f64| {
            let first = if zero { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
            let finite = values.filter(|value| value.is_finite());
            let (lo, hi) = finite.fold(first, |(lo, hi), x| (lo.min(x), hi.max(x)));
            let (lo, hi) = if lo < hi { (lo, hi) } else { (lo.min(0.0) - 0.5, hi.max(0.0) + 0.5) };
            let (lo, hi) = if lo.is_finite() && hi.is_finite() { (lo, hi) } else { (0.0, 1.0) };
            let more = room * (hi - lo);
            let below = if zero && lo == 0.0 { 0.0 } else { more };
            let above = if zero && hi == 0.0 { 0.0 } else { more };
            Scale { division: Division::Linear, lo: lo - below, hi: hi + above }
        };
        let y = &mut all().map(|point| point.1);
        let y = if self.in_ratios { in_ratios(y) } else { axis(y, self.from_zero, 0.05) };
        let sideways = if has_bars { 0.5 / all().count().max(1) as f64 } else { 0.03 };
        [axis(&mut all().map(|point| point.0), false, sideways), y]
    }

    /// Texts along x.
    fn ticks(&self, x: &Scale, most: usize) -> Vec<(f64, String)> {
        // Years are short: half as many more have room.
        let round = |every: u32| move |(_, year): &&(f64, u32)| year.is_multiple_of(every);
        let mut every = [1, 2, 5, 10, 20, 50, 100].into_iter();
        let every =
            every.find(|every| 2 * self.years.iter().filter(round(*every)).count() <= 3 * most);
        if let Some(every) = every {
            let years = self.years.iter().filter(round(every));
            let ticks: Vec<_> = years.map(|(place, year)| (*place, year.to_string())).collect();
            if ticks.len() > 1 {
                return ticks;
            }
        }
        let name = |Tick { value, label }: Tick| {
            let whole = value >= 0.0 && value.fract() == 0.0;
            let name = if self.names.is_empty() {
                label
            } else {
                self.names.get(if whole { value as usize } else { usize::MAX }).cloned()
            };
            (value, name.unwrap_or_default())
        };
        x.ticks(most).into_iter().map(name).collect()
    }

    /// As a part of a page: the picture for a desk and that for a phone, of which one is shown.
    pub(super) fn html(&self) -> String {
        let mut out = format!("<h3>{}</h3>\n<figure class=\"chart\">", escape(&self.title));
        for frame in [WIDE, NARROW] {
            self.draw(&frame, &mut out);
        }
        // What is drawn last is on top, and first in the legend.
        let named = self.series.iter().rev().filter(|series| !series.name.is_empty());
        let mut legend = String::new();
        for series in named {
            let _ = write!(
                legend,
                "<span><i style=\"background:var(--s{})\"></i>{}</span>",
                series.color,
                escape(&series.name)
            );
        }
        if !legend.is_empty() {
            let _ = write!(out, "<figcaption>{legend}</figcaption>");
        }
        out.push_str("</figure>\n");
        if !self.note.is_empty() {
            let _ = writeln!(out, "<p class=\"soft\">{}</p>", prose(&self.note));
        }
        out
    }

    fn draw(&self, frame: &Frame, out: &mut String) {
        let [x, y] = self.scales();
        let &Frame { class, width, height, left, ticks } = frame;
        let (inner_width, inner_height) = frame.inner();
        let at_x = |value: f64| left + inner_width * x.place(value);
        let at_y = |value: f64| TOP + inner_height * (1.0 - y.place(value));
        let _ = writeln!(
            out,
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">",
            escape(&format!("{}: {} against {}", self.title, self.y, self.x))
        );
        for (value, label) in heights(&y, ticks[1]) {
            let place = at_y(value);
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{left} {place:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                width - RIGHT,
                left - 6.0,
                place + 4.0,
                escape(&label)
            );
        }
        for (value, name) in self.ticks(&x, ticks[0]) {
            let place = at_x(value);
            // A long name at the end would leave the picture.
            let most = width - 0.5 * LETTER * name.chars().count() as f64;
            let _ = writeln!(
                out,
                "<path class=\"axis\" d=\"M{place:.1} {foot:.1}v4\"/><text x=\"{:.1}\" y=\"{text:.1}\" text-anchor=\"middle\">{}</text>",
                place.min(most),
                escape(&name),
                foot = height - BOTTOM,
                text = height - BOTTOM + 16.0,
            );
        }
        let _ = writeln!(
            out,
            "<path class=\"axis\" d=\"M{left} {TOP}V{foot:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text><text transform=\"translate(12 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            width - RIGHT,
            left + inner_width / 2.0,
            height - 8.0,
            escape(&self.x),
            TOP + inner_height / 2.0,
            escape(&self.y),
            foot = height - BOTTOM,
        );
        for series in &self.series {
            series.draw(out, &at_x, &at_y, inner_width);
        }
        out.push_str("</svg>");
    }
}

/// An axis of ratios with room around the numbers.
fn in_ratios(values: impl Iterator<Item = f64>) -> Scale {
    let Scale { lo, hi, division } = Scale::log(values);
    let room = (hi / lo).powf(0.05);
    Scale { lo: lo / room, hi: hi * room, division }
}

/// Texts along y; an axis of few powers of ten has 2 and 5 of each, too.
fn heights(y: &Scale, most: usize) -> Vec<(f64, String)> {
    let (low, high) = (y.lo.log10().floor(), y.hi.log10().ceil());
    if y.division == Division::Log && high - low <= 4.0 {
        let powers = (low as i32..=high as i32).map(|k| 10_f64.powi(k));
        let values = powers.flat_map(|power| [power, 2.0 * power, 5.0 * power]);
        let shown = values.filter(|value| (y.lo..=y.hi).contains(value));
        return shown.map(|value| (value, amount(value))).collect();
    }
    let labelled = |Tick { value, label }: Tick| Some((value, label?));
    y.ticks(most).into_iter().filter_map(labelled).collect()
}

impl Series {
    fn draw(
        &self,
        out: &mut String,
        at_x: &dyn Fn(f64) -> f64,
        at_y: &dyn Fn(f64) -> f64,
        width: f64,
    ) {
        let color = self.color % 8;
        let places: Vec<(f64, f64)> = self
            .points
            .iter()
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .map(|(x, y)| (at_x(*x), at_y(*y)))
            .collect();
        let (x, y): (Vec<f64>, Vec<f64>) = places.iter().copied().unzip();
        let mut path = String::new();
        let drawn = thinned(&x, &y, STRIPS).into_iter().map(|k| places[k]);
        for (k, (x, y)) in drawn.enumerate() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if k == 0 { 'M' } else { 'L' });
        }
        if matches!(self.shape, Shape::Line | Shape::Dotted | Shape::Area) {
            if let (Shape::Area, Some(first), Some(last)) =
                (self.shape, places.first(), places.last())
            {
                let zero = at_y(0.0);
                let _ = writeln!(
                    out,
                    "<path d=\"{path}L{:.1} {zero:.1}L{:.1} {zero:.1}Z\" fill=\"var(--s{color})\" fill-opacity=\".25\"/>",
                    last.0, first.0
                );
            }
            let _ =
                writeln!(out, "<path class=\"curve\" stroke=\"var(--s{color})\" d=\"{path}\"/>");
        }
        let radius = match self.shape {
            Shape::Dotted => 2.2,
            Shape::Dots => 3.0,
            Shape::Mark => 6.0,
            _ => 0.0,
        };
        for (k, (x, y)) in places.iter().enumerate() {
            if radius > 0.0 {
                let _ = write!(
                    out,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"var(--s{color})\"/>"
                );
            }
            if self.shape == Shape::Bars {
                let wide = (0.8 * width / places.len() as f64).min(40.0);
                let (top, foot) = (y.min(at_y(0.0)), y.max(at_y(0.0)));
                let _ = write!(
                    out,
                    "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" fill=\"var(--s{color})\"/>",
                    x - wide / 2.0,
                    foot - top
                );
            }
            if let Some(label) = self.labels.get(k) {
                let _ = write!(
                    out,
                    "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    x + radius + 3.0,
                    y + 4.0,
                    escape(label)
                );
            }
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_stay_within_their_frame_whatever_the_numbers() {
        for points in [
            vec![],
            vec![(1.0, 2.0)],
            vec![(0.0, 0.0), (1.0, 0.0)],
            vec![(0.0, -1e-9), (1e6, f64::NAN), (2e6, 3e12)],
        ] {
            for shape in [Shape::Dotted, Shape::Bars, Shape::Area] {
                let series = Series {
                    name: "<a>".to_owned(),
                    shape,
                    color: 1,
                    points: points.clone(),
                    labels: vec!["&".to_owned()],
                };
                let chart = Chart { series: vec![series], from_zero: true, ..Chart::default() };
                let page = chart.html();
                assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
                assert!(!page.contains("<a>") && page.ends_with("</figure>\n"), "{page}");
                for circle in page.split("cx=\"").skip(1) {
                    let x: f64 = circle[..circle.find('"').expect("an end")].parse().expect("x");
                    assert!((NARROW.left..=WIDE.width - RIGHT).contains(&x), "{x}");
                }
            }
        }
    }
}
