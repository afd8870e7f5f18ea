//! The panels of `--plot`, from what a study, a model or a test knows.

use std::path::{Path, PathBuf};

use foretask::{CurvePoint, Density, Forecast, SourceValue, Verdict};
use foretask_words::RELATED;

use crate::failure::Failure;
use crate::output;
use crate::plot::palette::{FORETOLD, HARMS, HELPS, MEASURED, UNKNOWN};
use crate::plot::{
    ClassScores, Confusion, Curve, Dot, Dots, Figure, Format, Key, Panel, Roc, Row, Scores, Step,
    Swatch, Unit,
};
use crate::show::words;
use crate::summary::Summary;

/// Points of a curve: one for every pixel or so.
const POINTS: usize = 400;

/// Refuses, before any work is done, a picture that could not be written.
pub fn check(path: Option<&Path>, inputs: &[PathBuf], other: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else {
        return Ok(());
    };
    Format::of(path)?;
    output::check(path, inputs)?;
    match other == Some(path) {
        true => Err(Failure::TwoOutputs { path: path.into() }),
        false => Ok(()),
    }
}

/// Writes a picture.
pub fn write(path: &Path, figure: &Figure) -> Result<(), Failure> {
    output::file(path, &figure.bytes(Format::of(path)?)?)
}

/// A name within a sentence: of a long one its beginning and its end.
pub fn name(name: &str) -> String {
    const LONGEST: usize = 40;
    let letters: Vec<char> = words::printable(name).chars().collect();
    if letters.len() <= LONGEST {
        return letters.into_iter().collect();
    }
    let (head, tail) = (
        letters.iter().take(26),
        letters.iter().skip(letters.len() - 13),
    );
    head.chain([&'…']).chain(tail).collect()
}

/// "'webcam': expected error 3.9 % (0.80 to 13.2 %)".
pub fn title(summary: &Summary) -> String {
    let target = name(summary.target);
    if !summary.forecast.told {
        return format!("'{target}': the error cannot be told from one label in each class");
    }
    let (aim, interval) = summary.aim();
    let (what, aim, interval) = (
        summary.aim_name(),
        words::percent(aim),
        words::interval(interval),
    );
    format!("'{target}': expected {what} {aim} ({interval})")
}

/// What a forecast rests on.
pub fn rests_on(summary: &Summary) -> String {
    let samples = words::count(summary.forecast.samples, "sample");
    let sources = match summary.tasks.len().saturating_sub(1) {
        0 => String::new(),
        sources => format!(" and {}", words::count(sources, "source")),
    };
    let by = summary.forecast.provenance.in_words();
    format!(
        "Foretold by {by} from {samples} of the target{sources}. Intervals of errors hold the truth with 90 %."
    )
}

/// The densities of two classes with measured scores, if there are any; the confusion of more.
pub fn decided(summary: &Summary, measured: Option<&[Vec<f64>]>) -> Option<Panel> {
    let forecast = summary.forecast;
    if !forecast.told && measured.is_none() {
        return None;
    }
    let classes = summary.classes();
    if classes.len() != 2 {
        let shares = forecast.confusion.iter().cloned().map(Some).collect();
        return (forecast.told && !forecast.confusion.is_empty())
            .then(|| confusion("What each class is expected to be called", classes, shares));
    }
    let scores = |class: usize| measured.and_then(|measured| measured.get(class).cloned());
    let class = |(index, name): (usize, &String)| ClassScores {
        name: name.clone(),
        scores: scores(index).unwrap_or_default(),
        density: (forecast.densities.get(index))
            .filter(|_| forecast.told)
            .map(density)
            .unwrap_or_default(),
    };
    let threshold = summary
        .rule
        .threshold
        .filter(|threshold| threshold.is_finite());
    Some(Panel::Scores(Scores {
        title: match measured {
            Some(_) => "Decision scores, foretold and measured".to_owned(),
            None => "Decision scores to expect".to_owned(),
        },
        axis: match classes.first() {
            Some(first) => format!("decision score, large for '{}'", name(first)),
            None => "decision score".to_owned(),
        },
        classes: classes.iter().enumerate().map(class).collect(),
        threshold,
    }))
}

/// How often each class is called each class.
pub fn confusion(title: &str, classes: &[String], shares: Vec<Option<Vec<f64>>>) -> Panel {
    Panel::Confusion(Confusion {
        title: title.to_owned(),
        classes: classes.to_vec(),
        shares,
    })
}

fn density(density: &Density) -> Vec<(f64, f64)> {
    let (low, high) = density.range();
    let at = |point: usize| low + (high - low) * point as f64 / POINTS as f64;
    let points = (0..=POINTS).map(|point| (at(point), density.at(at(point))));
    points.collect()
}

/// Detections of the first of two classes against false alarms, and what was measured of them.
pub fn roc(summary: &Summary, measured: Option<&[Vec<f64>]>) -> Option<Panel> {
    let [first, second] = summary.classes() else {
        return None;
    };
    let forecast = summary.forecast;
    let points = forecast.roc(POINTS).filter(|_| forecast.told)?;
    let share = |called: &str, of: &str| {
        let [called, of] = [called, of].map(name);
        format!("share of '{of}' called '{called}'")
    };
    // A corner of what two intervals hold, upwards to the left and downwards to the right.
    let edge = |alarms: usize, detections: usize| -> Vec<(f64, f64)> {
        let corner = |point: &foretask::RocPoint| {
            Some((
                point.false_alarm_interval?[alarms],
                point.detection_interval?[detections],
            ))
        };
        points.iter().filter_map(corner).collect()
    };
    let foretold: Vec<_> = (points.iter())
        .map(|point| (point.false_alarm, point.detection))
        .collect();
    let measured = match measured {
        Some([first, second]) => trade_off(first, second),
        _ => Vec::new(),
    };
    let auc = forecast.auc.map(|auc| format!(", AUC {auc:.2}"));
    Some(Panel::Roc(Roc {
        title: format!("Detections against false alarms{}", auc.unwrap_or_default()),
        false_alarms: share(first, second),
        detections: share(first, first),
        foretold,
        band: [edge(0, 1), edge(1, 0)],
        measured,
        threshold: at_threshold(forecast),
    }))
}

fn at_threshold(forecast: &Forecast) -> Option<(f64, f64)> {
    let called_first = |class: usize| forecast.confusion.get(class)?.first().copied();
    Some((called_first(1)?, called_first(0)?))
}

/// The shares of both classes above each score, from the highest down.
fn trade_off(first: &[f64], second: &[f64]) -> Vec<(f64, f64)> {
    let tagged = |scores: &[f64], is_first: bool| {
        scores
            .iter()
            .map(move |&s| (s, is_first))
            .collect::<Vec<_>>()
    };
    let mut all = [tagged(first, true), tagged(second, false)].concat();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut above, mut points) = ([0usize, 0], vec![(0.0, 0.0)]);
    let share = |count: usize, of: &[f64]| count as f64 / of.len().max(1) as f64;
    for (index, &(score, is_first)) in all.iter().enumerate() {
        above[usize::from(is_first)] += 1;
        // Equal scores are above or below a threshold together.
        if all.get(index + 1).is_none_or(|next| next.0 < score) {
            points.push((share(above[0], second), share(above[1], first)));
        }
    }
    points
}

/// What more labels would bring.
pub fn curve(summary: &Summary, points: &[CurvePoint]) -> Option<Panel> {
    if points.is_empty() || !summary.forecast.told {
        return None;
    }
    let (error, interval) = summary.aim();
    let counts = summary.counts();
    let now = Step {
        added: 0,
        error,
        interval,
        foretold: interval,
    };
    let mut steps: Vec<Step> = (points.iter())
        .filter(|point| point.added > 0)
        .map(|point| Step {
            added: point.added,
            error: point.error,
            interval: point.interval,
            foretold: point.foretold_interval,
        })
        .collect();
    steps.sort_by_key(|step| step.added);
    let most = steps.last().map_or(now, |last| *last);
    steps.insert(0, now);
    Some(Panel::Curve(Curve {
        title: format!(
            "More labels: {} now, {} with {} more per class",
            words::percent(error),
            words::percent(most.error),
            most.added
        ),
        what: summary.aim_name().to_owned(),
        now: counts.iter().sum::<usize>() as f64 / counts.len().max(1) as f64,
        points: steps,
    }))
}

/// What each source brings, the best first.
pub fn gains(summary: &Summary, sources: &[SourceValue]) -> Option<Panel> {
    if sources.is_empty() || !summary.forecast.told {
        return None;
    }
    let mut sorted: Vec<&SourceValue> = sources.iter().collect();
    // All together first; of very many those that change most.
    let size = |value: &&SourceValue| value.paired.difference.abs();
    sorted.sort_by(|a, b| {
        let all = |value: &&SourceValue| value.task.is_some();
        all(a).cmp(&all(b)).then(size(b).total_cmp(&size(a)))
    });
    let (shown, less) = sorted.split_at(sorted.len().min(SOURCES_DRAWN));
    let mut shown = shown.to_vec();
    shown.sort_by(|a, b| {
        let all = |value: &&SourceValue| value.task.is_some();
        let gain = |value: &&SourceValue| value.paired.difference;
        all(a).cmp(&all(b)).then(gain(b).total_cmp(&gain(a)))
    });
    let rows = shown.iter().chain(less).map(|value| Row {
        name: value
            .task
            .clone()
            .unwrap_or_else(|| "all together".to_owned()),
        dots: vec![Dot {
            value: value.paired.difference,
            interval: Some(value.paired.interval),
            colour: match value.paired.verdict {
                Verdict::Helps => HELPS,
                Verdict::Harms => HARMS,
                Verdict::Unknown => UNKNOWN,
            },
            ring: false,
        }],
        text: words::signed(value.paired.difference),
    });
    let count = sources.iter().filter(|value| value.task.is_some()).count();
    let count = words::count(count, "source");
    Some(Panel::Dots(Dots {
        title: format!("What {count} bring: points of {} saved", summary.aim_name()),
        keys: vec![
            Key::new(Swatch::Disc, HELPS, "helps"),
            Key::new(Swatch::Disc, HARMS, "harms"),
            Key::new(Swatch::Disc, UNKNOWN, "cannot be told"),
        ],
        axis: format!("gain in points, with its {}", words::CLAIM_INTERVAL),
        unit: Unit::Points,
        holds: Vec::new(),
        reference: Some(0.0),
        ends: [-1.0, 1.0],
        rows: rows.collect(),
    }))
}

/// As many sources have a row; one more is left for all together.
const SOURCES_DRAWN: usize = 23;

/// How alike the sources are to the target.
pub fn likeness(relatedness: &[(String, Option<f64>)]) -> Option<Panel> {
    let mut known: Vec<(&String, f64)> = (relatedness.iter())
        .filter_map(|(name, value)| Some((name, (*value)?)))
        .collect();
    if known.is_empty() {
        return None;
    }
    known.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let hidden = known.split_off(known.len().min(SOURCES_DRAWN));
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    known.extend(hidden);
    let row = |(name, value): (&String, f64)| Row {
        name: name.clone(),
        dots: vec![Dot {
            value,
            interval: None,
            colour: match value {
                value if value >= RELATED => HELPS,
                value if value <= -RELATED => HARMS,
                _ => UNKNOWN,
            },
            ring: false,
        }],
        text: format!("{value:+.2}"),
    };
    Some(Panel::Dots(Dots {
        title: "How alike the sources are to the target".to_owned(),
        keys: vec![
            Key::new(Swatch::Disc, HELPS, "related"),
            Key::new(Swatch::Disc, HARMS, "opposed"),
            Key::new(Swatch::Disc, UNKNOWN, "hardly related"),
        ],
        axis: "likeness of the difference between classes".to_owned(),
        unit: Unit::Plain,
        holds: vec![-1.0, 1.0],
        reference: Some(0.0),
        ends: [-1.08, 1.08],
        rows: known.into_iter().map(row).collect(),
    }))
}

/// An error as it was foretold and as it was measured.
pub struct Compared {
    pub name: String,
    pub foretold: f64,
    pub foretold_interval: Option<[f64; 2]>,
    pub measured: Option<f64>,
    pub measured_interval: Option<[f64; 2]>,
}

/// Errors, foretold and measured, by row.
pub fn errors(title: String, rows: Vec<Compared>) -> Panel {
    let row = |row: Compared| {
        let foretold = Dot {
            value: row.foretold,
            interval: row.foretold_interval,
            colour: FORETOLD,
            ring: true,
        };
        let measured = row.measured.map(|value| Dot {
            value,
            interval: row.measured_interval,
            colour: MEASURED,
            ring: false,
        });
        let written = row.measured.map_or("no sample".to_owned(), words::percent);
        Row {
            name: row.name,
            dots: std::iter::once(foretold).chain(measured).collect(),
            text: format!("{} / {written}", words::percent(row.foretold)),
        }
    };
    Panel::Dots(Dots {
        title,
        keys: vec![
            Key::new(Swatch::Ring, FORETOLD, "foretold"),
            Key::new(Swatch::Disc, MEASURED, "measured"),
        ],
        axis: "share of wrong decisions".to_owned(),
        unit: Unit::Percent,
        holds: vec![0.0],
        reference: None,
        ends: [0.0, 1.0],
        rows: rows.into_iter().map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trade_off_goes_from_nothing_to_everything() {
        let points = trade_off(&[3.0, 2.0, 1.0], &[2.0, 0.0]);
        let third = 1.0 / 3.0;
        let expected = [
            (0.0, 0.0),
            (0.0, third),
            (0.5, 2.0 * third),
            (0.5, 1.0),
            (1.0, 1.0),
        ];
        assert_eq!(points, expected);
        assert_eq!(trade_off(&[], &[]), [(0.0, 0.0)]);
    }
}
