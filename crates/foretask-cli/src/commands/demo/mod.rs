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
use std::thread;

use foretask::{Labels, Settings, Statistics, Study, evaluate};
use foretask_page::Played;
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
    let story = match &arguments.html {
        None => {
            let progress = Progress::new("drawing labels and training");
            story(&digits, &|share| progress.tell(share))?
        }
        Some(path) => {
            let (page, story) = side_by_side(&digits, path);
            let story = story?;
            output::file(path, page?.as_bytes())?;
            story
        }
    };
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

/// The page and the story, each of which keeps one core busy; the page alone says how far it is.
fn side_by_side(digits: &Digits, path: &Path) -> (Result<String, Failure>, Result<Story, Failure>) {
    let (page, told) = thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, || story(digits, &|_| {}));
        let page = page(&Draw::new(digits, 0), path);
        let told = worker.ok().and_then(|worker| worker.join().ok());
        (page, told)
    });
    // Without a second thread, one after the other.
    (page, told.unwrap_or_else(|| story(digits, &|_| {})))
}

/// All draws.
fn story(digits: &Digits, progress: &dyn Fn(f64)) -> Result<Story, Failure> {
    let mut story = Story::default();
    for seed in 0..DRAWS {
        progress(seed as f64 / DRAWS as f64);
        let draw = Draw::new(digits, seed);
        story.tested = draw.test_classes.len();
        let tasks = draw.tasks()?;
        let methods = [Labels::Alone, Labels::Classical, Labels::Auto].map(|labels| Settings {
            target: Some(draw::name(TARGET)),
            labels,
            ..Settings::default()
        });
        for study in Study::each(&tasks, &methods, &|_| {})? {
            let trial = trial(&study, &draw)?;
            match study.rule().labels {
                Labels::Alone => story.alone.push(trial),
                Labels::Classical => story.classical.push(trial),
                _ => {
                    story.foretask.push(trial);
                    story.likeness.push(study.relatedness());
                }
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
