//! `foretask demo`: what foretask does, on handwritten digits.
//!
//! A target task with five labels per class; many more images of the same digits, by somebody who swapped the two
//! names; and other pairs of digits, one that resembles it, one the wrong way round, one that has nothing to do with it.
//! Methods that take labels at their word fail, the target alone is poor. Three methods forecast their error and are
//! then measured on the target's other images. One draw of so few labels says little, so everything is the mean of
//! several draws.

mod draw;
mod story;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use foretask::{Labels, Settings, Statistics, Study, evaluate};
use foretask_page::Played;
use rayon::prelude::*;
use serde_json::json;

use crate::arguments;
use crate::commands::evaluate as tested;
use crate::commands::{figures, report};
use crate::digits::{self, Digits};
use crate::exit::Answer;
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::show::words;
use draw::{Draw, TARGET};
use story::{Story, Trial};

/// How many times labels are drawn; all of it stays well under three seconds.
const DRAWS: u64 = 8;

/// Runs the command.
pub fn run(arguments: &arguments::Demo) -> Result<Answer, Failure> {
    figures::check(arguments.plot.as_deref(), &[], None)?;
    if let Some(path) = &arguments.html {
        output::check(path, &[])?;
    }
    let digits = digits::load();
    let progress = Progress::new("drawing labels and training");
    let page = || match &arguments.html {
        None => Ok(None),
        Some(path) => page(&Draw::new(&digits, 0), path).map(|page| Some((path, page))),
    };
    let (page, story) = rayon::join(page, || story(&digits, &|share| progress.tell(share)));
    let story = story?;
    if let Some((path, page)) = page? {
        output::file(path, page.as_bytes())?;
    }
    drop(progress);
    if let Some(path) = &arguments.plot {
        figures::write(path, &story.figure())?;
    }
    let text = match (arguments.json, &arguments.html) {
        (true, _) => crate::json::text(story.report())?,
        (false, None) => story.text(),
        (false, Some(path)) => {
            format!(
                "{}\n{}: open it in a browser\n",
                story.text(),
                words::path(path)
            )
        }
    };
    output::text(None, &text)?;
    Ok(Answer::Yes)
}

/// All draws, each on a core of its own: problems as small as these have no use for two.
fn story(digits: &Digits, progress: &(dyn Fn(f64) + Sync)) -> Result<Story, Failure> {
    let done = AtomicU64::new(0);
    let draws = (0..DRAWS).into_par_iter().map(|seed| {
        let drawn = drawn(&Draw::new(digits, seed));
        progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / DRAWS as f64);
        drawn
    });
    // In the order of the draws, whichever ended first.
    let draws: Vec<Result<Story, Failure>> = draws.collect();
    let mut story = Story::default();
    for draw in draws {
        story.append(draw?);
    }
    Ok(story)
}

/// One draw.
fn drawn(draw: &Draw) -> Result<Story, Failure> {
    let mut story = Story {
        tested: draw.test_classes.len(),
        ..Story::default()
    };
    let methods = [Labels::Alone, Labels::Classical, Labels::Auto].map(|labels| Settings {
        target: Some(draw::name(TARGET)),
        labels,
        ..Settings::default()
    });
    for study in Study::each(&draw.tasks()?, &methods, &|_| {})? {
        let trial = trial(&study, draw)?;
        match study.rule().labels {
            Labels::Alone => story.alone.push(trial),
            Labels::Classical => story.classical.push(trial),
            _ => {
                story.foretask.push(trial);
                story.likeness.push(study.relatedness());
            }
        }
    }
    Ok(story)
}

/// The report of one draw, tested on the target's other images.
fn page(draw: &Draw, path: &Path) -> Result<String, Failure> {
    let settings = Settings {
        target: Some(draw::name(TARGET)),
        ..Settings::default()
    };
    let statistics = Statistics::of(&draw.tasks()?);
    let study = Study::new(&statistics, &settings)?;
    let model = study.model()?;
    let measured = evaluate(&model, draw.test()?, &draw.test_classes)?;
    let command = format!("foretask demo --html {}", words::path(path));
    let more = [
        ("evaluation", json!(tested::report(&model, &measured, 0))),
        ("command", json!(command)),
    ];
    let of = Played {
        study: &study,
        statistics: &statistics,
        settings: &settings,
        model: &model,
        labels: true,
    };
    let more = more.map(|(key, value)| (key.to_owned(), value));
    report::page(&of, more.into_iter().collect())
}

/// What a method foretold, and what it then did.
fn trial(study: &Study, draw: &Draw) -> Result<Trial, Failure> {
    let forecast = study.forecast();
    let measured = evaluate(&study.model()?, draw.test()?, &draw.test_classes)?;
    Ok(Trial {
        forecast: forecast.error,
        interval: forecast.interval,
        source: forecast.provenance,
        measured: measured.error,
    })
}
