//! The picture of a test: what was foretold beside what was measured.

use foretask::{Measured, Model};

use crate::commands::figures::{self, Compared};
use crate::plot::Figure;
use crate::show::words;
use crate::summary::Summary;

/// Makes it. `scores` is rows x scores as the model gives them.
pub fn figure(
    model: &Model,
    scores: &faer::Mat<f64>,
    truth: &[usize],
    measured: &Measured,
) -> Figure {
    let summary = Summary::of_model(model);
    let classes = model.classes();
    let mut by_class: Vec<Vec<f64>> = vec![Vec::new(); classes.len()];
    if classes.len() == 2 {
        for (&class, score) in truth.iter().zip(model.foretold_scores(scores, truth)) {
            by_class[class].push(score);
        }
    }
    let mut panels = Vec::new();
    panels.extend(figures::decided(&summary, Some(&by_class)));
    if classes.len() != 2 {
        let share = |(row, &all): (&Vec<usize>, &usize)| {
            let shares = row.iter().map(|&count| count as f64 / all as f64);
            (all > 0).then(|| shares.collect())
        };
        let shares = measured
            .confusion
            .iter()
            .zip(&measured.class_samples)
            .map(share);
        panels.push(figures::confusion(
            "What each class was called",
            classes,
            shares.collect(),
        ));
    }
    panels.extend(figures::roc(&summary, Some(&by_class)));
    panels.push(errors(&summary, measured));
    let samples = words::count(measured.samples, "test sample");
    let target = figures::name(summary.target);
    let forecast = summary.forecast;
    let foretold = match forecast.told {
        true => format!(
            "{} foretold ({})",
            words::percent(forecast.error),
            words::interval(forecast.interval)
        ),
        false => "none could be foretold".to_owned(),
    };
    let within = if measured.within { "within" } else { "outside" };
    Figure {
        title: format!(
            "'{target}': error {foretold}, {} measured",
            words::percent(measured.error)
        ),
        subtitle: format!(
            "{samples}; the measured error is {within} the {} that a test of this size was expected to show. {}",
            words::interval(measured.foretold),
            figures::rests_on(&summary)
        ),
        panels,
    }
}

/// Of all samples, and by class.
fn errors(summary: &Summary, measured: &Measured) -> crate::plot::Panel {
    let forecast = summary.forecast;
    let or_unknown = |error: f64| if forecast.told { error } else { f64::NAN };
    let all = Compared {
        name: "all samples".to_owned(),
        foretold: or_unknown(forecast.error),
        foretold_interval: Some(measured.foretold),
        measured: Some(measured.error),
        measured_interval: Some(measured.interval),
    };
    let each = summary
        .classes()
        .iter()
        .enumerate()
        .map(|(class, name)| Compared {
            name: name.clone(),
            foretold: or_unknown(
                forecast
                    .class_errors
                    .get(class)
                    .copied()
                    .unwrap_or(f64::NAN),
            ),
            foretold_interval: None,
            measured: measured.class_errors.get(class).copied().flatten(),
            measured_interval: None,
        });
    let rows = std::iter::once(all).chain(each).collect();
    figures::errors("Errors, foretold for this test / measured".to_owned(), rows)
}
