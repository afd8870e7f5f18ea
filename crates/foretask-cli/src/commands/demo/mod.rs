//! `foretask demo`: what foretask does, on handwritten digits.
//!
//! A target task with few labels, two sources that resemble it, one whose classes are the wrong way
//! round, and one that has nothing to do with it. Three methods forecast their error and are then
//! measured on the target's other images. One draw of ten labels per class says little, so
//! everything is the mean of several draws.

mod draw;
mod story;

use foretask::{Labels, Model, Settings, Study};

use crate::arguments;
use crate::digits;
use crate::exit::Answer;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{json, output};
use draw::{Draw, TARGET};
use story::{Likeness, Story, Trial};

/// How many times labels are drawn; all of it stays well under three seconds.
const DRAWS: u64 = 20;

/// Runs the command.
pub fn run(arguments: &arguments::Demo) -> Result<Answer, Failure> {
    let digits = digits::load();
    let progress = Progress::new("drawing labels and training");
    let mut story = Story::default();
    for seed in 0..DRAWS {
        progress.tell(seed as f64 / DRAWS as f64);
        let draw = Draw::new(&digits, seed);
        story.tested = draw.test_classes.len();
        story.alone.push(trial(&draw, Labels::Alone)?.0);
        story.classical.push(trial(&draw, Labels::Classical)?.0);
        let (trial, likeness) = trial(&draw, Labels::Auto)?;
        story.foretask.push(trial);
        story.likeness.push(likeness);
    }
    drop(progress);
    let text = if arguments.json {
        json::text(story.report())?
    } else {
        story.text()
    };
    output::text(None, &text)?;
    Ok(Answer::Yes)
}

/// Forecasts and then measures one method; also says how alike the sources are to the target.
fn trial(draw: &Draw, labels: Labels) -> Result<(Trial, Likeness), Failure> {
    let settings = Settings {
        target: Some(draw::name(TARGET)),
        labels,
        ..Settings::default()
    };
    let tasks = draw.tasks()?;
    let study = Study::new(&tasks, &settings)?;
    let trial = Trial {
        forecast: study.forecast().error,
        interval: study.forecast().interval,
        source: study.forecast().source,
        measured: wrong_share(&study.model()?, draw)?,
    };
    Ok((trial, study.relatedness()))
}

fn wrong_share(model: &Model, draw: &Draw) -> Result<f64, Failure> {
    let decisions = model.predict(draw.test()?)?;
    let pairs = decisions.iter().zip(&draw.test_classes);
    let wrong = pairs.filter(|(decision, class)| model.classes()[**decision] != **class);
    Ok(wrong.count() as f64 / draw.test_classes.len() as f64)
}
