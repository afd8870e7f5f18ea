//! [`Figure`]: panels of curves, histograms and marks in the paper's layout, and tables, drawn as SVG.
//!
//! The result is one SVG text with generic fonts, without scripts and without anything from the network.

use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle, WHITE};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::report::Table;

/// Panels in rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Panels in a row.
    pub columns: usize,
    /// Row by row.
    pub panels: Vec<Panel>,
}

/// One pair of axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Above it.
    pub title: String,
    /// Below it.
    pub x: Axis,
    /// To its left.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Dashed vertical lines.
    pub marks: Vec<f64>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Whether it is logarithmic.
    pub logarithmic: bool,
    /// Names of places, if they are not numbers.
    pub places: Vec<(f64, String)>,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// In the legend; series of one name share an entry.
    pub name: String,
    /// Which colour.
    pub colour: Colour,
    /// How it is drawn.
    pub style: Style,
    /// (x, y), by increasing x.
    pub points: Vec<(f64, f64)>,
}

/// The paper's colours, in shades that can be told apart by everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Colour {
    /// Class 1; classical labels.
    Red,
    /// Class 2; a single task.
    Blue,
    /// Class 3; optimised labels.
    Green,
    /// The default of the library.
    Orange,
    /// Anything else.
    Black,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// A line: what was foretold.
    Line,
    /// A dashed line.
    Dashed,
    /// A line with a dot at each point: what was measured.
    Dots,
    /// The outline of a histogram, filled: points are the left ends of bins, the last the right end.
    Bars,
}

impl Axis {
    /// A linear axis.
    pub fn linear(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// A logarithmic axis.
    pub fn logarithmic(name: &str) -> Self {
        Self {
            logarithmic: true,
            ..Self::linear(name)
        }
    }

    /// An axis of named places.
    pub fn of_places(name: &str, places: &[&str]) -> Self {
        let numbered = places.iter().enumerate();
        Self {
            places: numbered
                .map(|(i, place)| ((i + 1) as f64, (*place).to_owned()))
                .collect(),
            ..Self::linear(name)
        }
    }

    fn position(&self, value: f64) -> f64 {
        if self.logarithmic {
            value.log10()
        } else {
            value
        }
    }

    fn shows(&self, value: f64) -> bool {
        self.position(value).is_finite()
    }
}

impl Series {
    /// A series.
    pub fn new(name: &str, colour: Colour, style: Style, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.to_owned(),
            colour,
            style,
            points,
        }
    }

    /// The density of a normal law.
    pub fn normal(name: &str, colour: Colour, mean: f64, deviation: f64) -> Self {
        const WIDTHS: f64 = 4.0;
        const POINTS: usize = 96;
        let at = |i: usize| {
            let z = WIDTHS * (2.0 * i as f64 / POINTS as f64 - 1.0);
            let height = foretask::normal::density(z) / deviation;
            (mean + z * deviation, height)
        };
        Self::new(name, colour, Style::Line, (0..=POINTS).map(at).collect())
    }

    /// The histogram of values, with area one.
    pub fn histogram(name: &str, colour: Colour, values: &[f64], bins: usize) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let width = (high - low) / bins as f64;
        let mut heights = vec![0.0; bins];
        for value in values {
            let bin = ((value - low) / width) as usize;
            heights[bin.min(bins - 1)] += 1.0 / (values.len() as f64 * width);
        }
        let left = (0..bins).map(|bin| (low + bin as f64 * width, heights[bin]));
        let points = left.chain([(high, 0.0)]).collect();
        Self::new(name, colour, Style::Bars, points)
    }
}

/// plotters rounds every coordinate to an integer. Drawing on a larger canvas that is shown smaller keeps
/// curves smooth.
const SCALE: i32 = 8;
/// Sizes in CSS pixels.
const PANEL_WIDTH: i32 = 270;
const PANEL_HEIGHT: i32 = 190;
const LEFT: i32 = 56;
const RIGHT: i32 = 12;
const TOP: i32 = 26;
const BOTTOM: i32 = 42;
const LEGEND_ROW: i32 = 20;
const SWATCH: i32 = 22;
const FONT: f64 = 12.0;
const SMALL: f64 = 10.5;
/// plotters takes the line height, 1.24 times the font size.
const LINE_HEIGHT: f64 = 1.24;
/// The mean width of a sans-serif letter, as a part of the font size.
const LETTER: f64 = 0.56;
/// Room above the largest and beside the outermost value, as a part of the axis.
const ROOM: f64 = 0.05;

const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const MUTED: RGBColor = RGBColor(0x66, 0x66, 0x66);
const GRID: RGBColor = RGBColor(0xe6, 0xe6, 0xe6);

impl Colour {
    fn rgb(self) -> RGBColor {
        match self {
            Self::Red => RGBColor(0xd5, 0x5e, 0x00),
            Self::Blue => RGBColor(0x00, 0x72, 0xb2),
            Self::Green => RGBColor(0x00, 0x9e, 0x73),
            Self::Orange => RGBColor(0xcc, 0x79, 0xa7),
            Self::Black => INK,
        }
    }
}

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for Error {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        Self::Drawing(error.to_string())
    }
}

impl Figure {
    /// The figure as the text of an SVG file.
    ///
    /// # Errors
    /// If the drawing library fails.
    pub fn svg(&self) -> Result<String> {
        let columns = self.columns.max(1);
        let rows = self.panels.len().div_ceil(columns);
        let width = columns as i32 * (LEFT + PANEL_WIDTH + RIGHT);
        let entries = self.legend();
        let mut legend_rows = vec![Vec::new()];
        let mut used = 0;
        for entry in entries {
            let wide = SWATCH + 8 + (entry.name.chars().count() as f64 * FONT * LETTER) as i32 + 18;
            if used + wide > width - LEFT && used > 0 {
                legend_rows.push(Vec::new());
                used = 0;
            }
            if let Some(row) = legend_rows.last_mut() {
                row.push((used, entry));
            }
            used += wide;
        }
        let legend = legend_rows.len() as i32 * LEGEND_ROW + 8;
        let height = legend + rows as i32 * (TOP + PANEL_HEIGHT + BOTTOM);
        on_canvas(width, height, |canvas| {
            for (number, row) in legend_rows.iter().enumerate() {
                let y = 4 + number as i32 * LEGEND_ROW + LEGEND_ROW / 2;
                for (x, entry) in row {
                    draw_entry(canvas, LEFT + x, y, entry)?;
                }
            }
            for (number, panel) in self.panels.iter().enumerate() {
                let x = (number % columns) as i32 * (LEFT + PANEL_WIDTH + RIGHT) + LEFT;
                let y = legend + (number / columns) as i32 * (TOP + PANEL_HEIGHT + BOTTOM) + TOP;
                panel.draw(canvas, x, y)?;
            }
            Ok(())
        })
    }

    /// The first series of every name.
    fn legend(&self) -> Vec<&Series> {
        let mut entries: Vec<&Series> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if entries.iter().all(|entry| entry.name != series.name) {
                entries.push(series);
            }
        }
        entries
    }
}

fn on_canvas(
    width: i32,
    height: i32,
    draw: impl FnOnce(&Canvas<'_>) -> Result<()>,
) -> Result<String> {
    let mut text = String::new();
    let size = ((width * SCALE) as u32, (height * SCALE) as u32);
    {
        let canvas = SVGBackend::with_string(&mut text, size).into_drawing_area();
        canvas.fill(&WHITE)?;
        draw(&canvas)?;
        canvas.present()?;
    }
    let large = format!("<svg width=\"{}\" height=\"{}\"", size.0, size.1);
    let small = format!("<svg width=\"{width}\" height=\"{height}\"");
    Ok(text.replacen(&large, &small, 1))
}

fn draw_entry(canvas: &Canvas<'_>, x: i32, y: i32, series: &Series) -> Result<()> {
    let colour = series.colour.rgb();
    match series.style {
        Style::Bars => canvas.draw(&Rectangle::new(
            [at(x, y - 5), at(x + SWATCH, y + 5)],
            colour.mix(0.35).filled(),
        ))?,
        Style::Dashed => {
            for from in [0, 9, 18] {
                let dash = [at(x + from, y), at((x + from + 5).min(x + SWATCH), y)];
                canvas.draw(&PathElement::new(dash, line(colour, 1.8)))?;
            }
        }
        Style::Line | Style::Dots => {
            canvas.draw(&PathElement::new(
                [at(x, y), at(x + SWATCH, y)],
                line(colour, 1.8),
            ))?;
            if series.style == Style::Dots {
                canvas.draw(&Circle::new(
                    at(x + SWATCH / 2, y),
                    3 * SCALE,
                    colour.filled(),
                ))?;
            }
        }
    }
    let name = Text::new(
        series.name.clone(),
        at(x + SWATCH + 8, y),
        font(FONT, INK, HPos::Left),
    );
    canvas.draw(&name)?;
    Ok(())
}

/// From values to pixels.
struct Scale {
    low: f64,
    high: f64,
    from: i32,
    to: i32,
}

impl Scale {
    fn pixel(&self, position: f64) -> i32 {
        let share = (position - self.low) / (self.high - self.low);
        let (from, to) = (f64::from(self.from * SCALE), f64::from(self.to * SCALE));
        (from + share * (to - from)).round() as i32
    }
}

impl Panel {
    fn range(&self, axis: &Axis, of: impl Fn(&(f64, f64)) -> f64, floor: bool) -> (f64, f64) {
        let values: Vec<f64> = self
            .series
            .iter()
            .flat_map(|series| &series.points)
            .map(of)
            .filter(|&value| axis.shows(value))
            .map(|value| axis.position(value))
            .collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !(low.is_finite() && high.is_finite()) {
            return (0.0, 1.0);
        }
        let room = ROOM * if high > low { high - low } else { 1.0 };
        // Densities stand on the axis.
        let stands = floor && low >= 0.0 && !axis.logarithmic;
        (if stands { 0.0 } else { low - room }, high + room)
    }

    fn draw(&self, canvas: &Canvas<'_>, left: i32, top: i32) -> Result<()> {
        let (x_low, x_high) = self.range(&self.x, |point| point.0, false);
        let (y_low, y_high) = self.range(&self.y, |point| point.1, true);
        let x = Scale {
            low: x_low,
            high: x_high,
            from: left,
            to: left + PANEL_WIDTH,
        };
        let y = Scale {
            low: y_low,
            high: y_high,
            from: top + PANEL_HEIGHT,
            to: top,
        };
        self.draw_axes(canvas, &x, &y)?;
        for series in &self.series {
            self.draw_series(canvas, &x, &y, series)?;
        }
        for &mark in self.marks.iter().filter(|mark| self.x.shows(**mark)) {
            let at = x.pixel(self.x.position(mark));
            let ends = [(at, y.from * SCALE), (at, y.to * SCALE)];
            dashed(canvas, &ends, line(INK, 1.2))?;
        }
        let middle = (left + PANEL_WIDTH / 2, top - 12);
        let title = font(FONT, INK, HPos::Center);
        canvas.draw(&Text::new(
            self.title.clone(),
            at(middle.0, middle.1),
            title,
        ))?;
        Ok(())
    }

    fn draw_axes(&self, canvas: &Canvas<'_>, x: &Scale, y: &Scale) -> Result<()> {
        for (position, name) in ticks(&self.x, x.low, x.high) {
            let at = x.pixel(position);
            let ends = [(at, y.from * SCALE), (at, y.to * SCALE)];
            canvas.draw(&PathElement::new(ends, line(GRID, 1.0)))?;
            let style = font(SMALL, INK, HPos::Center);
            canvas.draw(&Text::new(name, (at, (y.from + 11) * SCALE), style))?;
        }
        for (position, name) in ticks(&self.y, y.low, y.high) {
            let at = y.pixel(position);
            let ends = [(x.from * SCALE, at), (x.to * SCALE, at)];
            canvas.draw(&PathElement::new(ends, line(GRID, 1.0)))?;
            let style = font(SMALL, INK, HPos::Right);
            canvas.draw(&Text::new(name, ((x.from - 5) * SCALE, at), style))?;
        }
        let frame = [at(x.from, y.from), at(x.to, y.to)];
        canvas.draw(&Rectangle::new(frame, line(MUTED, 1.0)))?;
        let name = font(FONT, INK, HPos::Center);
        let below = at((x.from + x.to) / 2, y.from + 28);
        canvas.draw(&Text::new(self.x.name.clone(), below, name.clone()))?;
        let upright = TextStyle {
            font: name.font.clone().transform(FontTransform::Rotate270),
            ..name
        };
        let beside = at(x.from - LEFT + 9, (y.from + y.to) / 2);
        canvas.draw(&Text::new(self.y.name.clone(), beside, upright))?;
        Ok(())
    }

    fn draw_series(
        &self,
        canvas: &Canvas<'_>,
        x: &Scale,
        y: &Scale,
        series: &Series,
    ) -> Result<()> {
        let points: Vec<(i32, i32)> = series
            .points
            .iter()
            .filter(|(a, b)| self.x.shows(*a) && self.y.shows(*b))
            .map(|&(a, b)| {
                let (a, b) = (self.x.position(a), self.y.position(b));
                (x.pixel(a), y.pixel(b))
            })
            .collect();
        let colour = series.colour.rgb();
        match series.style {
            Style::Bars => {
                let floor = y.from * SCALE;
                let mut outline = Vec::new();
                for pair in points.windows(2) {
                    outline.push(pair[0]);
                    outline.push((pair[1].0, pair[0].1));
                }
                if let (Some(first), Some(last)) = (points.first(), points.last()) {
                    outline.insert(0, (first.0, floor));
                    outline.push((last.0, floor));
                }
                canvas.draw(&Polygon::new(outline, colour.mix(0.3).filled()))?;
            }
            Style::Dashed => dashed(canvas, &points, line(colour, 1.8))?,
            Style::Line | Style::Dots => {
                canvas.draw(&PathElement::new(points.clone(), line(colour, 1.8)))?;
                if series.style == Style::Dots {
                    for point in points {
                        canvas.draw(&Circle::new(point, 3 * SCALE, colour.filled()))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Lines of four pixels with gaps of three.
fn dashed(canvas: &Canvas<'_>, points: &[(i32, i32)], style: ShapeStyle) -> Result<()> {
    let (dash, period) = (4.0 * f64::from(SCALE), 7.0 * f64::from(SCALE));
    let mut travelled = 0.0_f64;
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = dx.hypot(dy);
        let place = |along: f64| {
            let share = if length > 0.0 { along / length } else { 0.0 };
            (
                from.0 + (share * dx).round() as i32,
                from.1 + (share * dy).round() as i32,
            )
        };
        let mut along = 0.0;
        while along < length {
            let phase = (travelled + along).rem_euclid(period);
            let step = if phase < dash {
                dash - phase
            } else {
                period - phase
            };
            // A rounding error must not stop the march.
            let next = (along + step.max(1.0)).min(length);
            if phase < dash {
                canvas.draw(&PathElement::new([place(along), place(next)], style))?;
            }
            along = next;
        }
        travelled += length;
    }
    Ok(())
}

/// Positions and names of an axis's ticks.
fn ticks(axis: &Axis, low: f64, high: f64) -> Vec<(f64, String)> {
    if !axis.places.is_empty() {
        return axis.places.clone();
    }
    /// About so many ticks fit.
    const WANTED: f64 = 5.0;
    let length = high - low;
    if axis.logarithmic {
        let step = (length / WANTED).ceil().max(1.0);
        let powers = ((low / step).ceil() as i64)..=((high / step).floor() as i64);
        let by_powers: Vec<f64> = powers.map(|i| i as f64 * step).collect();
        // Within a power of ten or so: 1, 2, 5; within less, as on a linear axis.
        let by_thirds: Vec<f64> = ((low.floor() as i64)..=(high.ceil() as i64))
            .flat_map(|decade| [1.0, 2.0, 5.0].map(|x: f64| decade as f64 + x.log10()))
            .filter(|&x| x >= low && x <= high)
            .collect();
        if by_powers.len() < 2 && by_thirds.len() < 2 {
            return ticks(&Axis::default(), 10.0_f64.powf(low), 10.0_f64.powf(high))
                .into_iter()
                .filter_map(|(x, name)| (x > 0.0).then(|| (x.log10(), name)))
                .collect();
        }
        let positions = if by_powers.len() >= 2 {
            by_powers
        } else {
            by_thirds
        };
        return positions
            .into_iter()
            .map(|x| (x, short(10.0_f64.powf(x))))
            .collect();
    }
    let rough = length / WANTED;
    let power = 10.0_f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].map(|x| x * power);
    let step = nice.into_iter().find(|&x| x >= rough).unwrap_or(rough);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    (((low / step).ceil() as i64)..=((high / step).floor() as i64))
        .map(|i| {
            let x = i as f64 * step;
            (x, crate::report::fixed(x, digits))
        })
        .collect()
}

/// A power of ten as people write it.
fn short(value: f64) -> String {
    if (1e-3..1e4).contains(&value) {
        let digits = (-value.log10().floor()).max(0.0) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.0e}")
    }
}

fn line(colour: RGBColor, width: f64) -> ShapeStyle {
    colour.stroke_width((width * f64::from(SCALE)).round() as u32)
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

/// A table as the text of an SVG file, ruled as the paper's are.
///
/// # Errors
/// If the drawing library fails.
pub fn table_svg(table: &Table) -> Result<String> {
    const ROW: i32 = 22;
    const PAD: i32 = 14;
    let text: Vec<Vec<String>> = std::iter::once(table.columns.clone())
        .chain(table.rows.iter().map(|row| {
            std::iter::once(row.name.clone())
                .chain(row.values.iter().map(ToString::to_string))
                .collect()
        }))
        .collect();
    let widths: Vec<i32> = (0..table.columns.len())
        .map(|column| {
            let longest = text
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default();
            (longest as f64 * FONT * LETTER).ceil() as i32 + 2 * PAD
        })
        .collect();
    let title = (table.title.chars().count() as f64 * FONT * LETTER) as i32 + 2 * PAD;
    let width = widths.iter().sum::<i32>().max(title);
    let height = ROW * (text.len() as i32 + 2);
    on_canvas(width, height, |canvas| {
        let name = font(FONT, INK, HPos::Left);
        canvas.draw(&Text::new(table.title.clone(), at(PAD, ROW / 2), name))?;
        for y in [ROW, 2 * ROW, ROW * (text.len() as i32 + 1)] {
            let ends = [at(0, y), at(width, y)];
            canvas.draw(&PathElement::new(ends, line(INK, 1.0)))?;
        }
        for (number, row) in text.iter().enumerate() {
            let y = ROW * (number as i32 + 1) + ROW / 2;
            let mut x = 0;
            for (column, (cell, wide)) in row.iter().zip(&widths).enumerate() {
                let (from, side) = match column {
                    0 => (x + PAD, HPos::Left),
                    _ => (x + wide - PAD, HPos::Right),
                };
                canvas.draw(&Text::new(cell.clone(), at(from, y), font(FONT, INK, side)))?;
                x += wide;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_has_area_one_and_counts_its_values() {
        let series = Series::histogram("", Colour::Red, &[0.0, 0.1, 0.9, 2.0], 2);
        // Three of four values in the first of two bins of width one.
        assert_eq!(series.points, [(0.0, 0.75), (1.0, 0.25), (2.0, 0.0)]);
    }

    #[test]
    fn ticks_are_round_numbers_within_the_axis() {
        let names = |axis: &Axis, low, high| -> Vec<String> {
            ticks(axis, low, high).into_iter().map(|t| t.1).collect()
        };
        let axis = Axis::linear("");
        assert_eq!(
            names(&axis, -1.1, 1.2),
            ["-1.0", "-0.5", "0.0", "0.5", "1.0"]
        );
        let axis = Axis::logarithmic("");
        assert_eq!(names(&axis, -3.0, 0.2), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(names(&axis, -0.75, -0.2), ["0.2", "0.5"]);
        // From .2500 to .3999.
        assert_eq!(names(&axis, -0.602, -0.398), ["0.30", "0.35"]);
    }

    #[test]
    fn a_figure_needs_nothing_from_the_network() {
        let panel = Panel {
            title: "a < b".into(),
            x: Axis::linear("x"),
            y: Axis::logarithmic("y"),
            series: vec![Series::new(
                "s",
                Colour::Blue,
                Style::Dashed,
                vec![(0.0, 1.0), (1.0, 0.0), (2.0, 10.0)],
            )],
            marks: vec![1.0],
        };
        let figure = Figure {
            columns: 2,
            panels: vec![panel; 3],
        };
        let svg = figure.svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("a &lt; b"));
        // The namespace is a name, not an address that is opened.
        let rest = svg.replace("http://www.w3.org/2000/svg", "");
        assert!(!rest.contains("http") && !rest.contains("<script"));
    }
}
