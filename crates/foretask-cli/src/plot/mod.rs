//! The pictures of `--plot FILE.svg`, `.png` or `.html`: panels under one title.
//!
//! ```text
//!  numbers ──► panels (densities, dots, confusion, curve, roc) ──► scene (lines, areas, texts) ──► svg, png or html
//! ```
//!
//! Nothing in a file comes from the network, and no script is in it.

mod axes;
mod confusion;
mod curve;
mod densities;
mod dots;
mod error;
mod histogram;
mod letters;
pub mod palette;
mod png;
mod roc;
mod scene;
mod scores;
mod svg;

use std::path::Path;

pub use axes::{Key, Swatch, Unit};
pub use confusion::Confusion;
pub use curve::{Curve, Step};
pub use dots::{Dot, Dots, Row};
pub use error::PlotError;
pub use roc::Roc;
pub use scores::{ClassScores, Scores};

use axes::{LINE, Place};
use letters::Letters;
use palette::{MUTED, TEXT};
use scene::{Anchor, Mark, Scene, Text};

/// The size of a panel, in CSS pixels; of three in a row, which are narrower, and of one alone.
const WIDTH: f64 = 560.0;
const NARROW: f64 = 470.0;
const ALONE: f64 = 860.0;
const HEIGHT: f64 = 390.0;
/// Around the picture, and between panels.
const MARGIN: f64 = 24.0;
const BETWEEN: f64 = 36.0;

/// Sizes of letters.
const TITLE: f64 = 19.0;
const SUBTITLE: f64 = 13.0;

/// Letters of the title that are read to those who cannot see it.
const TITLE_LETTERS: usize = 150;

/// What a file of a picture holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
    Html,
}

impl Format {
    /// As its name says.
    pub fn of(path: &Path) -> Result<Self, PlotError> {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        match ending.to_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            "html" | "htm" => Ok(Self::Html),
            _ => Err(PlotError::Format {
                file: path.display().to_string(),
            }),
        }
    }
}

/// A picture.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The headline.
    pub title: String,
    /// What is under it, in smaller type; may be empty.
    pub subtitle: String,
    /// From left to right, then down.
    pub panels: Vec<Panel>,
}

/// A part of a picture.
#[derive(Debug, Clone)]
pub enum Panel {
    Scores(Scores),
    Dots(Dots),
    Confusion(Confusion),
    Curve(Curve),
    Roc(Roc),
}

impl Panel {
    fn height(&self) -> f64 {
        match self {
            Self::Dots(dots) => dots.height(HEIGHT),
            Self::Confusion(_) => HEIGHT + 40.0,
            _ => HEIGHT,
        }
    }

    fn draw(&self, scene: &mut Scene, letters: &Letters, place: Place) -> Result<(), PlotError> {
        match self {
            Self::Scores(plot) => densities::draw(scene, letters, place, plot)?,
            Self::Dots(plot) => dots::draw(scene, letters, place, plot),
            Self::Confusion(plot) => confusion::draw(scene, letters, place, plot),
            Self::Curve(plot) => curve::draw(scene, letters, place, plot),
            Self::Roc(plot) => roc::draw(scene, letters, place, plot),
        }
        Ok(())
    }
}

impl Figure {
    /// The bytes of a file.
    pub fn bytes(&self, format: Format) -> Result<Vec<u8>, PlotError> {
        let scene = self.scene()?;
        match format {
            Format::Svg => Ok(svg::text(&scene).into_bytes()),
            Format::Html => Ok(svg::page(&scene).into_bytes()),
            Format::Png => png::bytes(&scene),
        }
    }

    fn scene(&self) -> Result<Scene, PlotError> {
        let letters = Letters::new();
        let (columns, panel) = match self.panels.len() {
            // Where nothing can be told the title says so.
            0 | 1 => (1, ALONE),
            3 => (3, NARROW),
            _ => (2, WIDTH),
        };
        let width = 2.0 * MARGIN + columns as f64 * (panel + BETWEEN) - BETWEEN;
        let told: String = self.title.chars().take(TITLE_LETTERS).collect();
        let mut scene = Scene::new(width, 0.0, told);
        let mut top = self.head(&mut scene, &letters);
        for row in self.panels.chunks(columns) {
            let height = row.iter().map(Panel::height).fold(0.0, f64::max);
            for (column, one) in row.iter().enumerate() {
                let left = MARGIN + column as f64 * (panel + BETWEEN);
                let place = Place {
                    left,
                    top,
                    right: left + panel,
                    bottom: top + height,
                };
                one.draw(&mut scene, &letters, place)?;
            }
            top += height + BETWEEN;
        }
        scene.height = (top - BETWEEN + MARGIN).ceil();
        Ok(scene)
    }

    /// Draws the title and what is under it, and returns where panels begin.
    fn head(&self, scene: &mut Scene, letters: &Letters) -> f64 {
        let room = scene.width - 2.0 * MARGIN;
        let title = foretask_words::printable(&self.title);
        scene.marks.push(Mark::Text(Text {
            at: (MARGIN, MARGIN + TITLE / 2.0),
            text: letters.fitted(&title, TITLE, true, room),
            size: TITLE,
            bold: true,
            colour: TEXT,
            anchor: Anchor::Start,
            upright: false,
        }));
        let mut y = MARGIN + TITLE + 14.0;
        for line in letters.lines(&self.subtitle, SUBTITLE, room) {
            scene.text((MARGIN, y), line, SUBTITLE, MUTED, Anchor::Start);
            y += LINE + 1.0;
        }
        y + 12.0
    }
}

#[cfg(test)]
mod tests;
