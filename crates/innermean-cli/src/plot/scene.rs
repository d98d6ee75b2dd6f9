//! A picture as shapes, before it becomes SVG or PNG. Lengths are pixels of 1/96 inch, the origin
//! is at the top left.

use super::style::{Color, Marker};

/// A point of the picture.
pub(crate) type At = (f64, f64);

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// What the picture shows, for those who do not see it.
    pub(crate) description: String,
    /// Later ones are before earlier ones.
    pub(crate) shapes: Vec<Shape>,
}

/// One thing to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A line through points.
    Line { points: Vec<At>, color: Color, width: f64, dash: &'static [f64] },
    /// A small figure around a point.
    Mark { at: At, marker: Marker, color: Color, size: f64, filled: bool },
    /// A line of text.
    Text(Text),
}

/// A line of text with its baseline at a point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) at: At,
    pub(crate) words: String,
    pub(crate) size: f64,
    pub(crate) color: Color,
    pub(crate) anchor: Anchor,
    /// Turned to run upwards.
    pub(crate) upwards: bool,
    /// On a light rim, for text that is on lines.
    pub(crate) halo: bool,
}

/// Which part of a text is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Scene {
    /// An empty one.
    pub(crate) fn new(width: f64, height: f64, description: String) -> Self {
        Scene { width, height, description, shapes: Vec::new() }
    }

    /// A plain line.
    pub(crate) fn line(&mut self, points: Vec<At>, color: Color, width: f64) {
        self.shapes.push(Shape::Line { points, color, width, dash: &[] });
    }

    /// A line of text; what is returned may be changed.
    pub(crate) fn text(
        &mut self,
        at: At,
        text: &str,
        size: f64,
        color: Color,
        anchor: Anchor,
    ) -> &mut Text {
        let text =
            Text { at, words: text.to_owned(), size, color, anchor, upwards: false, halo: false };
        self.shapes.push(Shape::Text(text));
        match self.shapes.last_mut() {
            Some(Shape::Text(text)) => text,
            _ => unreachable!("it has just been put there"),
        }
    }
}
