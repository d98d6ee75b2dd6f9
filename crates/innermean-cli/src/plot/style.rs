//! How curves are told apart: by colour, by dashes and by marks, so that two of the three may be
//! lost.

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// Text and axes.
pub(crate) const INK: Color = Color(0x22, 0x22, 0x22);
/// What may be overlooked.
pub(crate) const FAINT: Color = Color(0xdd, 0xdd, 0xdd);
/// Between the two.
pub(crate) const GREY: Color = Color(0x77, 0x77, 0x77);
/// The paper.
pub(crate) const PAPER: Color = Color(0xff, 0xff, 0xff);

/// The colours of Okabe and Ito, which colour-blind readers tell apart, with a grey instead of
/// the yellow, which is hard to see on white.
const COLORS: [Color; 8] = [
    Color(0x00, 0x72, 0xb2),
    Color(0xd5, 0x5e, 0x00),
    Color(0x00, 0x9e, 0x73),
    Color(0xcc, 0x79, 0xa7),
    Color(0x00, 0x00, 0x00),
    Color(0xe6, 0x9f, 0x00),
    Color(0x56, 0xb4, 0xe9),
    Color(0x8c, 0x8c, 0x8c),
];

/// Lengths of dashes and of the gaps after them.
const DASHES: [&[f64]; 4] = [&[], &[5.0, 2.0], &[1.6, 1.8], &[6.0, 1.8, 1.6, 1.8]];

/// A small figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
    Cross,
}

const MARKERS: [Marker; 5] =
    [Marker::Circle, Marker::Square, Marker::Up, Marker::Diamond, Marker::Cross];

/// How a curve looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Style {
    pub(crate) color: Color,
    pub(crate) dash: &'static [f64],
    pub(crate) marker: Marker,
}

impl Style {
    /// That of the k-th curve: the first 40 differ.
    pub(crate) fn of(k: usize) -> Self {
        Style { color: COLORS[k % 8], dash: DASHES[k % 4], marker: MARKERS[k % 5] }
    }
}

impl Marker {
    /// The corners around the origin, for a radius of 1; none for a circle, and for a cross its
    /// four ends.
    pub(crate) fn corners(self) -> &'static [(f64, f64)] {
        match self {
            Marker::Circle => &[],
            Marker::Square => &[(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
            Marker::Up => &[(0.0, -1.15), (1.05, 0.75), (-1.05, 0.75)],
            Marker::Down => &[(0.0, 1.15), (1.05, -0.75), (-1.05, -0.75)],
            Marker::Diamond => &[(0.0, -1.25), (1.1, 0.0), (0.0, 1.25), (-1.1, 0.0)],
            Marker::Cross => &[(-0.9, -0.9), (0.9, 0.9), (-0.9, 0.9), (0.9, -0.9)],
        }
    }
}

impl Color {
    /// As HTML has it.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_curves_are_told_apart() {
        for k in 0..40 {
            for other in 0..k {
                assert_ne!(Style::of(k), Style::of(other), "{k} and {other}");
            }
        }
    }
}
