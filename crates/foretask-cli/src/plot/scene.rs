//! [`Scene`]: what is on a picture, in CSS pixels: paths, discs and texts. What a file of it looks like is known to
//! [`super::svg`] and [`super::png`] only.

use super::palette::Colour;

/// A place: to the right, and down.
pub type Point = (f64, f64);

/// Marks, the later above the earlier.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Pixels from left to right.
    pub width: f64,
    /// Pixels from top to bottom.
    pub height: f64,
    /// What is said to those who cannot see it.
    pub title: String,
    /// What is drawn.
    pub marks: Vec<Mark>,
}

/// One thing that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A filled area.
    Area {
        points: Vec<Point>,
        colour: Colour,
        opacity: f64,
    },
    /// A line.
    Line {
        points: Vec<Point>,
        colour: Colour,
        width: f64,
        dashed: bool,
    },
    /// A disc, or a ring.
    Disc {
        at: Point,
        radius: f64,
        colour: Colour,
        filled: bool,
    },
    /// A text on one line; the place is on its middle line.
    Text(Text),
}

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    pub at: Point,
    pub text: String,
    pub size: f64,
    pub bold: bool,
    pub colour: Colour,
    pub anchor: Anchor,
    /// Whether it is read from below.
    pub upright: bool,
}

/// Which part of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// From the middle line of a text down to the line that letters stand on, as a part of their size.
pub const BASELINE: f64 = 0.36;

impl Scene {
    /// An empty one.
    pub fn new(width: f64, height: f64, title: String) -> Self {
        Self {
            width,
            height,
            title,
            marks: Vec::new(),
        }
    }

    pub fn area(&mut self, points: Vec<Point>, colour: Colour, opacity: f64) {
        self.marks.push(Mark::Area {
            points,
            colour,
            opacity,
        });
    }

    pub fn rectangle(&mut self, (left, top): Point, (right, bottom): Point, colour: Colour) {
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        self.area(corners, colour, 1.0);
    }

    pub fn line(&mut self, points: Vec<Point>, colour: Colour, width: f64) {
        self.marks.push(Mark::Line {
            points,
            colour,
            width,
            dashed: false,
        });
    }

    pub fn dashes(&mut self, points: Vec<Point>, colour: Colour, width: f64) {
        self.marks.push(Mark::Line {
            points,
            colour,
            width,
            dashed: true,
        });
    }

    pub fn disc(&mut self, at: Point, radius: f64, colour: Colour) {
        self.marks.push(Mark::Disc {
            at,
            radius,
            colour,
            filled: true,
        });
    }

    pub fn ring(&mut self, at: Point, radius: f64, colour: Colour) {
        self.marks.push(Mark::Disc {
            at,
            radius,
            colour,
            filled: false,
        });
    }

    pub fn text(
        &mut self,
        at: Point,
        text: impl Into<String>,
        size: f64,
        colour: Colour,
        anchor: Anchor,
    ) {
        self.marks.push(Mark::Text(Text {
            at,
            text: text.into(),
            size,
            bold: false,
            colour,
            anchor,
            upright: false,
        }));
    }
}
