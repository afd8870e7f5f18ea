//! What panels share: their place, their heading and legend, and axes with round numbers.

use super::letters::Letters;
use super::palette::{Colour, GRID, MUTED, TEXT};
use super::scene::{Anchor, Mark, Point, Scene, Text};

/// Sizes of letters, in pixels.
pub const HEADING: f64 = 14.0;
pub const NAME: f64 = 12.0;
pub const SMALL: f64 = 11.0;

/// From one line of text to the next.
pub const LINE: f64 = 17.0;
/// The side of a swatch in a legend.
const SWATCH: f64 = 16.0;
const GAP: f64 = 6.0;

/// A part of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Place {
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub fn middle(&self) -> Point {
        (
            (self.left + self.right) / 2.0,
            (self.top + self.bottom) / 2.0,
        )
    }
}

/// What a legend explains.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    pub swatch: Swatch,
    pub colour: Colour,
    pub name: String,
}

/// How a thing is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swatch {
    /// A light area with a line, as of an interval with its middle.
    Band,
    Area,
    Line,
    Dashes,
    Disc,
    Ring,
}

impl Key {
    pub fn new(swatch: Swatch, colour: Colour, name: impl Into<String>) -> Self {
        Self {
            swatch,
            colour,
            name: name.into(),
        }
    }
}

/// What numbers and names along two axes leave of a place.
pub fn panel(inner: Place) -> Place {
    Place {
        left: inner.left + BESIDE,
        top: inner.top + 6.0,
        right: inner.right - 12.0,
        bottom: inner.bottom - BELOW,
    }
}

/// Draws the heading of a panel and its legend, and returns the place that is left.
pub fn heading(
    scene: &mut Scene,
    letters: &Letters,
    place: Place,
    title: &str,
    keys: &[Key],
) -> Place {
    let title = letters.fitted(title, HEADING, true, place.width());
    let mut y = place.top + HEADING / 2.0;
    scene.marks.push(Mark::Text(Text {
        at: (place.left, y),
        text: title,
        size: HEADING,
        bold: true,
        colour: TEXT,
        anchor: Anchor::Start,
        upright: false,
    }));
    y += LINE + 4.0;
    let mut x = place.left;
    for key in keys {
        let name = letters.name(&key.name, NAME, place.width() - SWATCH - GAP);
        let width = SWATCH + GAP + letters.width(&name, NAME, false);
        if x > place.left && x + width > place.right {
            (x, y) = (place.left, y + LINE);
        }
        swatch(scene, (x, y), key.swatch, key.colour);
        scene.text((x + SWATCH + GAP, y), name, NAME, TEXT, Anchor::Start);
        x += width + 3.0 * GAP;
    }
    let used = if keys.is_empty() { y - LINE + 2.0 } else { y };
    Place {
        top: used + LINE,
        ..place
    }
}

fn swatch(scene: &mut Scene, (x, y): Point, swatch: Swatch, colour: Colour) {
    let (middle, half) = (x + SWATCH / 2.0, SWATCH * 0.3);
    let across = vec![(x, y), (x + SWATCH, y)];
    let area = vec![
        (x, y - half),
        (x + SWATCH, y - half),
        (x + SWATCH, y + half),
        (x, y + half),
    ];
    match swatch {
        Swatch::Area => scene.area(area, colour, 0.35),
        Swatch::Band => {
            scene.area(area, colour, 0.18);
            scene.line(across, colour, 2.0);
        }
        Swatch::Line => scene.line(across, colour, 2.0),
        Swatch::Dashes => scene.dashes(across, colour, 1.5),
        Swatch::Disc => scene.disc((middle, y), 4.5, colour),
        Swatch::Ring => scene.ring((middle, y), 4.5, colour),
    }
}

/// Numbers from `low` to `high` along pixels from `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    pub from: f64,
    pub to: f64,
}

impl Axis {
    /// The pixel of a number; what lies outside is at the end.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// Round numbers, no more than `most`.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        let step = round_step((self.high - self.low) / most.max(1) as f64);
        let first = (self.low / step - 1e-9).ceil();
        let count = ((self.high / step + 1e-9).floor() - first).clamp(0.0, 100.0);
        (0..=count as usize)
            .map(|index| (first + index as f64) * step)
            .collect()
    }

    /// Digits after the point that tell the ticks apart.
    pub fn digits(&self, most: usize) -> usize {
        let step = round_step((self.high - self.low) / most.max(1) as f64);
        (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1e-12).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|part| part * power);
    steps
        .into_iter()
        .find(|&step| step >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// How the numbers of an axis are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A share as "12 %".
    Percent,
    /// A difference of shares as "+3".
    Points,
    /// A number as it is.
    Plain,
}

impl Unit {
    /// A number with so many digits after the point, were it plain.
    pub fn written(self, value: f64, digits: usize) -> String {
        match self {
            Self::Percent => fixed(100.0 * value, digits.saturating_sub(2)) + " %",
            Self::Points => {
                let text = fixed(100.0 * value, digits.saturating_sub(2));
                let positive = text.bytes().any(|byte| matches!(byte, b'1'..=b'9')) && value > 0.0;
                if positive { format!("+{text}") } else { text }
            }
            Self::Plain => fixed(value, digits),
        }
    }
}

/// A number with so many digits after the point, with a true minus sign and no negative zero.
pub fn fixed(value: f64, digits: usize) -> String {
    let size = format!("{:.digits$}", value.abs());
    let zero = size.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value < 0.0 && !zero {
        format!("−{size}")
    } else {
        size
    }
}

/// Draws the axis below a place: lines through it, numbers and a name.
pub fn below(scene: &mut Scene, place: Place, axis: &Axis, unit: Unit, name: &str) {
    let most = (place.width() / 62.0).clamp(2.0, 10.0) as usize;
    let digits = axis.digits(most);
    for tick in axis.ticks(most) {
        let x = axis.at(tick);
        scene.line(vec![(x, place.top), (x, place.bottom)], GRID, 1.0);
        let text = unit.written(tick, digits);
        scene.text((x, place.bottom + 11.0), text, SMALL, TEXT, Anchor::Middle);
    }
    let ends = vec![(place.left, place.bottom), (place.right, place.bottom)];
    scene.line(ends, MUTED, 1.0);
    let middle = place.middle().0;
    scene.text(
        (middle, place.bottom + 29.0),
        name,
        NAME,
        TEXT,
        Anchor::Middle,
    );
}

/// Draws the axis at the left of a place.
pub fn beside(scene: &mut Scene, place: Place, axis: &Axis, unit: Unit, name: &str) {
    let most = (place.height() / 45.0).clamp(2.0, 8.0) as usize;
    let digits = axis.digits(most);
    for tick in axis.ticks(most) {
        let y = axis.at(tick);
        scene.line(vec![(place.left, y), (place.right, y)], GRID, 1.0);
        let text = unit.written(tick, digits);
        scene.text((place.left - 6.0, y), text, SMALL, TEXT, Anchor::End);
    }
    upright(
        scene,
        (place.left - 52.0, place.middle().1),
        name,
        NAME,
        Anchor::Middle,
    );
}

/// A text that is read from below.
pub fn upright(scene: &mut Scene, at: Point, text: &str, size: f64, anchor: Anchor) {
    scene.marks.push(Mark::Text(Text {
        at,
        text: text.to_owned(),
        size,
        bold: false,
        colour: TEXT,
        anchor,
        upright: true,
    }));
}

/// What an axis below takes.
pub const BELOW: f64 = 38.0;
/// What an axis at the left takes.
pub const BESIDE: f64 = 60.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_have_the_digits_they_need() {
        let axis = |low, high| Axis {
            low,
            high,
            from: 0.0,
            to: 100.0,
        };
        assert_eq!(axis(-0.3, 2.1).ticks(5), [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(axis(-0.3, 2.1).digits(5), 1);
        assert_eq!(axis(0.0, 100.0).ticks(4), [0.0, 50.0, 100.0]);
        assert_eq!(axis(1e-7, 3e-7).digits(4), 8);
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(fixed(-1.5, 1), "−1.5");
        assert_eq!(Unit::Points.written(0.05, 2), "+5");
        assert_eq!(Unit::Points.written(0.0, 2), "0");
        assert_eq!(Unit::Percent.written(0.05, 3), "5.0 %");
        assert_eq!(
            (axis(0.0, 2.0).at(-1.0), axis(0.0, 2.0).at(1.0)),
            (0.0, 50.0)
        );
    }
}
