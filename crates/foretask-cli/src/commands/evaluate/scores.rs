//! The figure of measured scores over the forecast densities.

use foretask::{Density, Measured, Model};

use crate::failure::Failure;
use crate::plot::{self, ClassScores, ScorePlot};
use crate::show::words;

/// Points of a density curve: one for every two pixels or so.
const POINTS: usize = 400;

/// Draws it. `scores` is rows x scores as the model gives them.
pub fn plot(
    model: &Model,
    scores: &faer::Mat<f64>,
    truth: &[usize],
    measured: &Measured,
) -> Result<String, Failure> {
    let forecast = model.forecast();
    let two = model.classes().len() == 2;
    let mut by_class: Vec<Vec<f64>> = vec![Vec::new(); model.classes().len()];
    for (&class, score) in truth.iter().zip(model.foretold_scores(scores, truth)) {
        by_class[class].push(score);
    }
    let (what, axis) = if two {
        ("Decision scores", "decision score")
    } else {
        ("Margins", "score of the right class less the best other")
    };
    let samples = words::count(measured.samples, "test sample");
    let title = format!("{what}: {samples} of '{}'", model.target());
    let subtitle = format!(
        "Bars: measured, error {}. Lines: forecast ({}), error {} ({} {}).",
        words::percent(measured.error),
        forecast.provenance.in_words(),
        words::percent(forecast.error),
        words::interval_name(),
        words::interval(forecast.interval),
    );
    let classes = (model.classes().iter().zip(&by_class)).zip(&forecast.densities);
    Ok(plot::draw(&ScorePlot {
        title: &title,
        subtitle: &subtitle,
        axis,
        classes: classes
            .map(|((name, scores), density)| ClassScores {
                name,
                scores,
                density: curve(density),
            })
            .collect(),
        threshold: model.threshold().filter(|threshold| threshold.is_finite()),
    })?)
}

fn curve(density: &Density) -> Vec<(f64, f64)> {
    let (low, high) = density.range();
    (0..=POINTS)
        .map(|point| {
            let score = low + (high - low) * point as f64 / POINTS as f64;
            (score, density.at(score))
        })
        .collect()
}
