//! A scene as SVG.

use std::fmt::Write as _;

use super::scene::{Anchor, At, Scene, Shape, Text};
use super::style::{Color, Marker, PAPER};
use crate::report::escape;

/// `DejaVu Sans` and `Verdana` are the widest of these, so that text takes no more room than was
/// left for it.
const FONTS: &str = "'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, Arial, sans-serif";

/// The whole file.
pub(crate) fn svg(scene: &Scene) -> String {
    let Scene { width, height, description, shapes } = scene;
    let (width, height) = (short(*width), short(*height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\">\n<title>{}</title>\n<rect \
         width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        escape(description),
        PAPER.hex(),
    );
    for shape in shapes {
        // Writing to a string does not fail.
        let _ = match shape {
            Shape::Line { points, color, width, dash } => {
                line(&mut out, points, *color, *width, dash)
            }
            Shape::Mark { at, marker, color, size, filled } => {
                mark(&mut out, *at, *marker, *color, *size, *filled)
            }
            Shape::Text(text) => self::text(&mut out, text),
        };
    }
    out + "</svg>\n"
}

/// A hundredth of a pixel is invisible.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn line(
    out: &mut String,
    points: &[At],
    color: Color,
    width: f64,
    dash: &[f64],
) -> std::fmt::Result {
    let mut path = String::new();
    for (k, (x, y)) in points.iter().enumerate() {
        let _ = write!(path, "{}{} {}", if k == 0 { 'M' } else { 'L' }, short(*x), short(*y));
    }
    let dash = match dash {
        [] => String::new(),
        dash => {
            let lengths: Vec<String> = dash.iter().map(|length| short(length * width)).collect();
            format!(" stroke-dasharray=\"{}\"", lengths.join(" "))
        }
    };
    writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" \
         stroke-linejoin=\"round\"{dash}/>",
        color.hex(),
        short(width)
    )
}

fn mark(
    out: &mut String,
    (x, y): At,
    marker: Marker,
    color: Color,
    size: f64,
    filled: bool,
) -> std::fmt::Result {
    let (color, paper) = (color.hex(), PAPER.hex());
    let fill = if filled { &color } else { &paper };
    match marker {
        Marker::Circle => writeln!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\" stroke=\"{color}\"/>",
            short(x),
            short(y),
            short(size)
        ),
        Marker::Cross => {
            let at = |k: usize| {
                let (dx, dy) = marker.corners()[k];
                format!("{} {}", short(x + size * dx), short(y + size * dy))
            };
            writeln!(
                out,
                "<path d=\"M{}L{}M{}L{}\" stroke=\"{color}\" stroke-width=\"1.6\"/>",
                at(0),
                at(1),
                at(2),
                at(3)
            )
        }
        _ => {
            let corners = marker.corners().iter();
            let corners: Vec<String> = corners
                .map(|(dx, dy)| format!("{},{}", short(x + size * dx), short(y + size * dy)))
                .collect();
            writeln!(
                out,
                "<polygon points=\"{}\" fill=\"{fill}\" stroke=\"{color}\"/>",
                corners.join(" ")
            )
        }
    }
}

fn text(out: &mut String, text: &Text) -> std::fmt::Result {
    let (x, y) = (short(text.at.0), short(text.at.1));
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let turned =
        if text.upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let halo = if text.halo {
        format!(
            " stroke=\"{}\" stroke-width=\"2.4\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
            PAPER.hex()
        )
    } else {
        String::new()
    };
    writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"{anchor}{turned}{halo}>{}</text>",
        short(text.size),
        text.color.hex(),
        escape(&text.words)
    )
}
