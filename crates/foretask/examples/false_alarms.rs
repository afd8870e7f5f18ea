//! At most 5 % of the healthy may raise an alarm: a threshold that holds the rate, and what it will detect.
//!
//! `cargo run --release -p foretask --example false_alarms`

mod draw;

use draw::{Drawn, FEATURES};
use foretask::{FalseAlarm, Rows, Settings, Study, Tail, Tasks, evaluate};

fn main() -> foretask::Result<()> {
    let mut drawn = Drawn::default();
    drawn.add("clinic", 60, 1.0, 1);
    drawn.add("hospital", 300, 0.8, 2);
    let tasks = Tasks::new(
        Rows::row_major(&drawn.values, FEATURES)?,
        &drawn.task,
        &drawn.class,
    )?;
    let settings = Settings {
        target: Some("clinic".into()),
        false_alarm: Some(FalseAlarm {
            null: "oak".into(),
            rate: 0.05,
            tail: Tail::Auto,
        }),
        ..Settings::default()
    };
    let study = Study::new(&tasks, &settings)?;
    if let Some(alarm) = &study.forecast().alarm {
        println!(
            "foretold: {:.1} % false alarms, {:.1} % detected",
            100.0 * alarm.false_alarm,
            100.0 * alarm.detection
        );
    }
    let mut fresh = Drawn::default();
    fresh.add("clinic", 5000, 1.0, 3);
    let rows = Rows::row_major(&fresh.values, FEATURES)?;
    let measured = evaluate(&study.model()?, rows, &fresh.class)?;
    if let Some(alarm) = measured.alarm {
        let share = |rate: Option<foretask::Rate>| rate.map_or(f64::NAN, |rate| 100.0 * rate.share);
        println!(
            "measured: {:.1} % false alarms, {:.1} % detected",
            share(alarm.false_alarm),
            share(alarm.detection)
        );
    }
    Ok(())
}
