//! `foretask demo`: what foretask does, on handwritten digits.
//!
//! A target task with five labels per class; many more images of the same digits, by somebody who swapped the two
//! names; and other pairs of digits, one that resembles it, one the wrong way round, one that has nothing to do with it.
//! Methods that take labels at their word fail, the target alone is poor. Three methods forecast their error and are
//! then measured on the target's other images. One draw of so few labels says little, so everything is the mean of
//! several draws.

mod draw;
mod story;

use foretask::{Labels, Settings, Study, evaluate};

use crate::arguments;
use crate::commands::figures;
use crate::digits;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{json, output};
use draw::{Draw, TARGET};
use story::{Story, Trial};

/// How many times labels are drawn; all of it stays well under three seconds.
const DRAWS: u64 = 20;

/// Runs the command.
pub fn run(arguments: &arguments::Demo) -> Result<Answer, Failure> {
    figures::check(arguments.plot.as_deref(), &[], None)?;
    let digits = digits::load();
    let progress = Progress::new("drawing labels and training");
    let mut story = Story::default();
    for seed in 0..DRAWS {
        progress.tell(seed as f64 / DRAWS as f64);
        let draw = Draw::new(&digits, seed);
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
    drop(progress);
    if let Some(path) = &arguments.plot {
        figures::write(path, &story.figure())?;
    }
    let text = if arguments.json {
        json::text(story.report())?
    } else {
        story.text()
    };
    output::text(None, &text)?;
    Ok(Answer::Yes)
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
