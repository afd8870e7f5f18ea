//! The picture of `foretask evaluate --plot FILE.svg`: measured scores against the forecast.
//!
//! For every class the scores of the data at hand are a filled histogram and the density that was
//! forecast before seeing them is a line of the same colour over it; both have area one, so where
//! the forecast is right the line runs along the top of the bars. A dashed line marks the threshold.
//! The result is one SVG text with generic fonts, without scripts and without anything from the
//! network.

mod histogram;
mod scores;

use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{PathElement, Polygon, Rectangle, Text};
use plotters::prelude::Cartesian2d;
use plotters::series::DashedLineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    BLACK, Color, FontStyle, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle, WHITE,
};

use histogram::{Bins, Histogram};
pub use scores::{ClassScores, ScorePlot};

/// The size of the figure on the screen, in CSS pixels.
const WIDTH: i32 = 900;
const HEIGHT: i32 = 500;

/// plotters rounds every coordinate to an integer. Drawing on a larger canvas that is shown at the
/// size above keeps the curves smooth.
const SCALE: i32 = 8;

/// The margins around the panel, in CSS pixels.
const TOP: i32 = 86;
const BOTTOM: i32 = 52;
const LEFT: i32 = 70;
const RIGHT: i32 = 24;

/// The width of a density curve, in CSS pixels.
const CURVE: f64 = 2.2;

/// The legend: the swatch, the gap to its text, the row height, and the longest name shown.
const SWATCH: i32 = 16;
const GAP: i32 = 8;
const LEGEND_ROW: i32 = 20;
const LEGEND_NAME: usize = 24;

/// Font sizes in CSS pixels. plotters takes the line height, 1.24 times the font size.
const TITLE_FONT: f64 = 19.0;
const TEXT_FONT: f64 = 13.0;
const SMALL_FONT: f64 = 11.5;
const LINE_HEIGHT: f64 = 1.24;

/// The mean width of a sans-serif letter, as a part of the font size: enough to place a legend.
const LETTER_WIDTH: f64 = 0.58;

/// Colours that people with any kind of colour blindness can tell apart: those of Okabe and Ito
/// that are dark enough for a line on white, then those of Paul Tol's muted scheme.
const COLOURS: [RGBColor; 10] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x88, 0x22, 0x55),
    RGBColor(0x99, 0x99, 0x33),
    RGBColor(0x33, 0x22, 0x88),
    RGBColor(0x11, 0x77, 0x33),
];
const TEXT: RGBColor = RGBColor(0x22, 0x22, 0x22);
const MUTED: RGBColor = RGBColor(0x66, 0x66, 0x66);
const GRID: RGBColor = RGBColor(0xe6, 0xe6, 0xe6);

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// No class has a score or a density.
    #[error("there is nothing to plot: no class has a score or a forecast density")]
    Empty,
    /// A number that has no place on an axis.
    #[error("cannot plot {what} because it is not finite")]
    NotFinite { what: String },
    /// The drawing library failed.
    #[error("the figure could not be drawn: {reason}")]
    Drawing { reason: String },
}

impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for PlotError {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        PlotError::Drawing {
            reason: error.to_string(),
        }
    }
}

/// Draws the scores as the text of an SVG file.
pub fn draw(plot: &ScorePlot) -> Result<String, PlotError> {
    check(plot)?;
    let bins = Bins::choose(plot).ok_or(PlotError::Empty)?;
    let histograms: Vec<Histogram> = plot
        .classes
        .iter()
        .map(|class| bins.count(class.scores))
        .collect();

    let mut text = String::new();
    let canvas_size = ((WIDTH * SCALE) as u32, (HEIGHT * SCALE) as u32);
    {
        let canvas = SVGBackend::with_string(&mut text, canvas_size).into_drawing_area();
        canvas.fill(&WHITE)?;
        let figure = Figure {
            plot,
            bins: &bins,
            histograms: &histograms,
        };
        figure.draw_titles(&canvas)?;
        let right = figure.draw_legend(&canvas)?;
        figure.draw_panel(&canvas, right)?;
        canvas.present()?;
    }
    Ok(shown_at_size(&text))
}

fn check(plot: &ScorePlot) -> Result<(), PlotError> {
    let not_finite = |what: String| Err(PlotError::NotFinite { what });
    if plot
        .threshold
        .is_some_and(|threshold| !threshold.is_finite())
    {
        return not_finite("the threshold".to_owned());
    }
    for class in &plot.classes {
        if class.scores.iter().any(|score| !score.is_finite()) {
            return not_finite(format!("a score of class '{}'", class.name));
        }
        if class
            .density
            .iter()
            .any(|(score, density)| !score.is_finite() || !density.is_finite())
        {
            return not_finite(format!("the forecast density of class '{}'", class.name));
        }
    }
    Ok(())
}

/// Shows the large canvas at the figure's size.
fn shown_at_size(text: &str) -> String {
    let canvas = format!(
        "<svg width=\"{}\" height=\"{}\"",
        WIDTH * SCALE,
        HEIGHT * SCALE
    );
    text.replacen(
        &canvas,
        &format!("<svg width=\"{WIDTH}\" height=\"{HEIGHT}\""),
        1,
    )
}

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Panel<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// A checked plot with its histograms.
struct Figure<'a> {
    plot: &'a ScorePlot<'a>,
    bins: &'a Bins,
    histograms: &'a [Histogram],
}

impl Figure<'_> {
    fn draw_titles(&self, canvas: &Canvas) -> Result<(), PlotError> {
        let title = font(TITLE_FONT, TEXT, HPos::Left);
        let title = TextStyle {
            font: title.font.style(FontStyle::Bold),
            ..title
        };
        canvas.draw(&Text::new(printable(self.plot.title), at(LEFT, 24), title))?;
        let subtitle = font(TEXT_FONT, MUTED, HPos::Left);
        canvas.draw(&Text::new(
            printable(self.plot.subtitle),
            at(LEFT, 49),
            subtitle,
        ))?;
        Ok(())
    }

    /// Draws the legend at the right and returns the width that it takes.
    fn draw_legend(&self, canvas: &Canvas) -> Result<i32, PlotError> {
        let rows: Vec<(String, usize)> = self
            .plot
            .classes
            .iter()
            .enumerate()
            .map(|(class, scores)| (shortened(&printable(scores.name), LEGEND_NAME), class))
            .collect();
        let kinds = ["measured", "forecast"];
        let longest = rows.iter().map(|(name, _)| name.chars().count());
        let longest = longest.chain(kinds.map(str::len)).max().unwrap_or_default();
        let width =
            SWATCH + GAP + (longest as f64 * TEXT_FONT * LETTER_WIDTH).ceil() as i32 + RIGHT;
        let left = WIDTH - width;

        // With very many classes the rows move together instead of leaving the figure.
        let kind_rows = 2.5;
        let room = f64::from(HEIGHT - BOTTOM - TOP);
        let pitch = f64::from(LEGEND_ROW).min(room / (rows.len() as f64 + kind_rows));
        let size = TEXT_FONT.min(pitch / LINE_HEIGHT);
        let style = font(size, TEXT, HPos::Left);
        let middle = |row: f64| TOP + (pitch * (row + 0.5)).round() as i32;
        let half = (pitch * 0.3).round() as i32;

        for (row, (name, class)) in rows.into_iter().enumerate() {
            let y = middle(row as f64);
            let swatch = [at(left, y - half), at(left + SWATCH, y + half)];
            canvas.draw(&Rectangle::new(swatch, colour(class).mix(0.45).filled()))?;
            let dashes = if class < COLOURS.len() {
                vec![(0, SWATCH)]
            } else {
                vec![(0, 6), (10, SWATCH)]
            };
            for (from, to) in dashes {
                let dash = [at(left + from, y), at(left + to, y)];
                canvas.draw(&PathElement::new(dash, line(colour(class), CURVE)))?;
            }
            canvas.draw(&Text::new(name, at(left + SWATCH + GAP, y), style.clone()))?;
        }
        let first_kind = self.plot.classes.len() as f64 + 0.5;
        let y = middle(first_kind);
        let swatch = [at(left, y - half), at(left + SWATCH, y + half)];
        canvas.draw(&Rectangle::new(swatch, MUTED.mix(0.35).filled()))?;
        let y_line = middle(first_kind + 1.0);
        canvas.draw(&PathElement::new(
            [at(left, y_line), at(left + SWATCH, y_line)],
            line(MUTED, CURVE),
        ))?;
        for (kind, y) in kinds.into_iter().zip([y, y_line]) {
            canvas.draw(&Text::new(
                kind,
                at(left + SWATCH + GAP, y),
                font(size, MUTED, HPos::Left),
            ))?;
        }
        Ok(width)
    }

    fn draw_panel(&self, canvas: &Canvas, right: i32) -> Result<(), PlotError> {
        let mut panel = ChartBuilder::on(canvas)
            .margin_top(TOP * SCALE)
            .margin_right((right + GAP * 2) * SCALE)
            .x_label_area_size(BOTTOM * SCALE)
            .y_label_area_size(LEFT * SCALE)
            .build_cartesian_2d(self.bins.low..self.bins.high, 0.0..self.top())?;
        self.draw_axes(&mut panel)?;
        self.name_axes(canvas, &panel)?;
        for (class, histogram) in self.histograms.iter().enumerate() {
            self.draw_histogram(&mut panel, class, histogram)?;
        }
        for (class, scores) in self.plot.classes.iter().enumerate() {
            self.draw_density(&mut panel, class, &scores.density)?;
        }
        self.draw_threshold(canvas, &mut panel)?;
        self.note_outside(canvas, &panel)
    }

    fn highest(&self) -> f64 {
        let bars = self
            .histograms
            .iter()
            .flat_map(|histogram| histogram.heights.iter().copied());
        let curves = self
            .plot
            .classes
            .iter()
            .flat_map(|class| self.visible(&class.density));
        let highest = bars
            .chain(curves.map(|(_, density)| density))
            .fold(0.0, f64::max);
        if highest > 0.0 { highest } else { 1.0 }
    }

    /// The upper end of the density axis.
    fn top(&self) -> f64 {
        self.highest() * 1.06
    }

    fn draw_axes(&self, panel: &mut Panel) -> Result<(), PlotError> {
        let score_digits = digits(self.bins.high - self.bins.low);
        let density_digits = digits(self.highest());
        panel
            .configure_mesh()
            .disable_x_mesh()
            .max_light_lines(0)
            .x_labels(9)
            .y_labels(6)
            .bold_line_style(line(GRID, 1.0))
            .axis_style(line(MUTED, 1.0))
            .set_all_tick_mark_size(4 * SCALE)
            .x_label_formatter(&|score| fixed(*score, score_digits))
            .y_label_formatter(&|density| fixed(*density, density_digits))
            .label_style(font(SMALL_FONT, TEXT, HPos::Center))
            .draw()?;
        Ok(())
    }

    /// Names the axes by hand: plotters puts the names on the very edge of the figure.
    fn name_axes(&self, canvas: &Canvas, panel: &Panel) -> Result<(), PlotError> {
        let (x, y) =
            panel.backend_coord(&((self.bins.low + self.bins.high) / 2.0, self.top() / 2.0));
        let name = font(TEXT_FONT, TEXT, HPos::Center);
        let upright = TextStyle {
            font: name.font.clone().transform(FontTransform::Rotate270),
            ..name.clone()
        };
        canvas.draw(&Text::new(self.plot.axis, (x, (HEIGHT - 14) * SCALE), name))?;
        canvas.draw(&Text::new("density", (20 * SCALE, y), upright))?;
        Ok(())
    }

    /// One outline instead of bars: overlapping classes stay readable.
    fn draw_histogram(
        &self,
        panel: &mut Panel,
        class: usize,
        histogram: &Histogram,
    ) -> Result<(), PlotError> {
        if histogram.is_empty() {
            return Ok(());
        }
        let outline = self.bins.outline(histogram);
        // Many classes on top of each other would add up to grey.
        let opacity = if self.plot.classes.len() <= 4 {
            0.30
        } else {
            0.16
        };
        panel.draw_series([Polygon::new(
            outline.clone(),
            colour(class).mix(opacity).filled(),
        )])?;
        panel.draw_series([PathElement::new(
            outline,
            line_with(colour(class), 0.7, 0.55),
        )])?;
        Ok(())
    }

    fn draw_density(
        &self,
        panel: &mut Panel,
        class: usize,
        density: &[(f64, f64)],
    ) -> Result<(), PlotError> {
        let curve: Vec<(f64, f64)> = self.visible(density).collect();
        if curve.len() < 2 {
            return Ok(());
        }
        let style = line(colour(class), CURVE);
        if class < COLOURS.len() {
            panel.draw_series([PathElement::new(curve, style)])?;
        } else {
            panel.draw_series(DashedLineSeries::new(curve, 7 * SCALE, 4 * SCALE, style))?;
        }
        Ok(())
    }

    fn draw_threshold(&self, canvas: &Canvas, panel: &mut Panel) -> Result<(), PlotError> {
        let Some(threshold) = self.plot.threshold else {
            return Ok(());
        };
        let ends = [(threshold, 0.0), (threshold, self.top())];
        panel.draw_series(DashedLineSeries::new(
            ends,
            6 * SCALE,
            4 * SCALE,
            line(BLACK, 1.3),
        ))?;
        let (x, y) = panel.backend_coord(&(threshold, self.top()));
        let label = format!(
            "threshold {}",
            fixed(threshold, digits(self.bins.high - self.bins.low) + 2)
        );
        let style = font(SMALL_FONT, TEXT, HPos::Center);
        canvas.draw(&Text::new(label, (x, y - 8 * SCALE), style))?;
        Ok(())
    }

    /// Says how many scores the panel leaves out, at the right end of the axis's name.
    fn note_outside(&self, canvas: &Canvas, panel: &Panel) -> Result<(), PlotError> {
        let outside: usize = self
            .histograms
            .iter()
            .map(|histogram| histogram.outside)
            .sum();
        if outside == 0 {
            return Ok(());
        }
        let (x, _) = panel.backend_coord(&(self.bins.high, 0.0));
        let note = format!(
            "{outside} far score{} not shown",
            if outside == 1 { "" } else { "s" }
        );
        let y = (HEIGHT - 14) * SCALE;
        canvas.draw(&Text::new(
            note,
            (x, y),
            font(SMALL_FONT, MUTED, HPos::Right),
        ))?;
        Ok(())
    }

    fn visible<'b>(&'b self, density: &'b [(f64, f64)]) -> impl Iterator<Item = (f64, f64)> + 'b {
        density
            .iter()
            .copied()
            .filter(|(score, _)| (self.bins.low..=self.bins.high).contains(score))
    }
}

fn colour(class: usize) -> RGBColor {
    COLOURS[class % COLOURS.len()]
}

fn line(colour: RGBColor, width: f64) -> ShapeStyle {
    line_with(colour, width, 1.0)
}

fn line_with(colour: RGBColor, width: f64, opacity: f64) -> ShapeStyle {
    colour
        .mix(opacity)
        .stroke_width((width * f64::from(SCALE)).round() as u32)
}

fn font(size: f64, colour: RGBColor, align: HPos) -> TextStyle<'static> {
    let font = ("sans-serif", size * LINE_HEIGHT * f64::from(SCALE)).into_font();
    TextStyle {
        font,
        color: colour.to_backend_color(),
        pos: Pos::new(align, VPos::Center),
    }
}

fn at(x: i32, y: i32) -> (i32, i32) {
    (x * SCALE, y * SCALE)
}

/// The digits after the point that tell the ticks of an axis of this length apart.
fn digits(length: f64) -> usize {
    (1.0 - length.log10().floor()).clamp(0.0, 12.0) as usize
}

/// A number with so many digits after the point, with a true minus sign and no negative zero.
fn fixed(value: f64, digits: usize) -> String {
    let size = format!("{:.digits$}", value.abs());
    let zero = size.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value < 0.0 && !zero {
        format!("−{size}")
    } else {
        size
    }
}

/// The text without control characters, which an SVG file must not hold.
fn printable(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(longest.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests;
