//! The panel of dots: a row for each thing, its value as a dot and its interval as a line, beside a line to compare
//! with.

use super::axes::{self, Axis, Key, LINE, NAME, Place, SMALL, Unit};
use super::letters::Letters;
use super::palette::{Colour, GRID, MUTED, TEXT};
use super::scene::{Anchor, Scene};

/// From row to row where there is room.
const LOOSE: f64 = 56.0;
/// What the heading and the axis take.
const AROUND: f64 = 120.0;

/// More rows than this are not drawn.
pub const ROWS_DRAWN: usize = 24;

/// Values with intervals, by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Dots {
    pub title: String,
    pub keys: Vec<Key>,
    pub axis: String,
    pub unit: Unit,
    /// Numbers that the axis holds whatever the rows hold.
    pub holds: Vec<f64>,
    /// Where a line is drawn to compare with.
    pub reference: Option<f64>,
    /// Where the axis ends at the latest.
    pub ends: [f64; 2],
    pub rows: Vec<Row>,
}

/// One thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub name: String,
    pub dots: Vec<Dot>,
    /// What is written at the right.
    pub text: String,
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dot {
    pub value: f64,
    pub interval: Option<[f64; 2]>,
    pub colour: Colour,
    /// Whether it is a ring, as what was foretold is.
    pub ring: bool,
}

impl Dots {
    /// The height that it takes; of few rows more, up to `usual`.
    pub fn height(&self, usual: f64) -> f64 {
        let rows = self.rows.len().min(ROWS_DRAWN) as f64;
        let dots = self
            .rows
            .iter()
            .map(|row| row.dots.len())
            .max()
            .unwrap_or(1);
        let pitch = 18.0 + 9.0 * dots.saturating_sub(1) as f64;
        (rows * LOOSE + AROUND)
            .min(usual)
            .max(rows * pitch + AROUND)
    }
}

/// Draws it.
pub fn draw(scene: &mut Scene, letters: &Letters, place: Place, plot: &Dots) {
    let inner = axes::heading(scene, letters, place, &plot.title, &plot.keys);
    let rows = &plot.rows[..plot.rows.len().min(ROWS_DRAWN)];
    let hidden = plot.rows.len() - rows.len();
    let widest = |texts: &mut dyn Iterator<Item = &str>| {
        let widths = texts.map(|text| letters.width(text, NAME, false));
        widths.fold(0.0, f64::max)
    };
    let shown: Vec<String> = (rows.iter())
        .map(|row| letters.name(&row.name, NAME, 0.36 * inner.width()))
        .collect();
    let names = widest(&mut shown.iter().map(String::as_str));
    let texts = widest(&mut rows.iter().map(|row| row.text.as_str()));
    let more = if hidden > 0 { LINE } else { 0.0 };
    let panel = Place {
        left: inner.left + names + 10.0,
        right: inner.right - texts - 10.0,
        bottom: inner.bottom - axes::BELOW - more,
        ..inner
    };
    // A few rows do not spread over the whole panel.
    let pitch = (panel.height() / rows.len().max(1) as f64).min(LOOSE);
    let panel = Place {
        bottom: panel.top + pitch * rows.len().max(1) as f64,
        ..panel
    };
    let across = axis(plot, rows, panel);
    axes::below(scene, panel, &across, plot.unit, &plot.axis);
    if hidden > 0 {
        let note = format!(
            "and {} with less",
            foretask_words::count(hidden, "more source")
        );
        scene.text(
            (panel.left, panel.bottom + axes::BELOW + LINE / 2.0),
            note,
            SMALL,
            MUTED,
            Anchor::Start,
        );
    }
    if let Some(reference) = plot.reference {
        let x = across.at(reference);
        scene.line(vec![(x, panel.top), (x, panel.bottom)], MUTED, 1.4);
    }
    for (index, (row, name)) in rows.iter().zip(shown).enumerate() {
        let y = panel.top + pitch * (index as f64 + 0.5);
        scene.line(vec![(panel.left, y), (panel.right, y)], GRID, 0.6);
        scene.text((panel.left - 8.0, y), name, NAME, TEXT, Anchor::End);
        scene.text(
            (inner.right, y),
            row.text.replace('-', "−"),
            NAME,
            TEXT,
            Anchor::End,
        );
        // One above the other, so that equal values can be told apart.
        let apart = (0.34 * pitch).min(11.0);
        let first = y - apart * (row.dots.len().saturating_sub(1)) as f64 / 2.0;
        for (place, dot) in row.dots.iter().enumerate() {
            let y = first + apart * place as f64;
            if let Some(ends) = dot.interval {
                let [low, high] = ends.map(|end| across.at(end));
                scene.line(vec![(low, y), (high, y)], dot.colour, 2.0);
            }
            if dot.value.is_finite() {
                let radius = (0.2 * pitch).clamp(2.5, 4.5);
                match dot.ring {
                    true => scene.ring((across.at(dot.value), y), radius, dot.colour),
                    false => scene.disc((across.at(dot.value), y), radius, dot.colour),
                }
            }
        }
    }
}

/// From the least to the most that is drawn, and a little more.
fn axis(plot: &Dots, rows: &[Row], panel: Place) -> Axis {
    let dots = rows.iter().flat_map(|row| &row.dots);
    let drawn = dots.flat_map(|dot| {
        dot.interval
            .unwrap_or([dot.value; 2])
            .into_iter()
            .chain([dot.value])
    });
    let values = drawn
        .chain(plot.holds.iter().copied())
        .chain(plot.reference);
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    let margin = ((high - low) * 0.04).max(1e-3);
    let [first, last] = plot.ends;
    Axis {
        low: (low - margin).max(first),
        high: (high + margin).min(last),
        from: panel.left,
        to: panel.right,
    }
}
