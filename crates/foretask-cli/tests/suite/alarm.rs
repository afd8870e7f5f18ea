//! Tests that hold a false-alarm rate: what is promised, and what is measured.

use crate::common;

use common::{Folder, Rows, number};
use serde_json::Value;

const ALARM: [&str; 6] = [
    "--target",
    "north",
    "--null",
    "normal",
    "--false-alarm",
    "0.1",
];

/// `train.csv` with `count` samples of each class in the target, and `test.csv` with many.
fn tables(count: usize) -> Folder {
    let folder = Folder::new();
    let classes = ["failing", "normal"];
    let rows = Rows::of("north", &classes, count, 1).and(Rows::of("south", &classes, 60, 2));
    folder.write("train.csv", rows.csv());
    folder.write("test.csv", Rows::of("north", &classes, 400, 9).csv());
    folder
}

fn assert_alarm(test: &Value) {
    for rate in ["false_alarm", "detection"] {
        let share = number(&test[rate]);
        let interval = &test[format!("{rate}_interval")];
        let [low, high] = [0, 1].map(|end| number(&interval[end]));
        assert!(
            0.0 <= low && low <= share + 1e-9 && share <= high + 1e-9 && high <= 1.0,
            "{test}"
        );
    }
    assert_eq!(test["null"], "normal");
    assert_eq!(number(&test["requested"]), 0.1);
}

#[test]
fn an_alarm_says_what_it_will_do_and_how_far_that_can_be_trusted() {
    let folder = tables(40);
    let forecast = [&["forecast", "train.csv"], &ALARM[..]].concat();
    // Paragraphs are wrapped.
    let said = folder.stdout(&forecast).replace('\n', " ");
    for part in [
        "10.0 % of it may raise one",
        "false alarms",
        "detections",
        "With 40 samples of 'normal' the realised rate will be",
        "in nine of ten cases",
    ] {
        assert!(said.contains(part), "'{part}' is not in:\n{said}");
    }
    let report = folder.json(&[&forecast[..], &["--json"]].concat());
    assert_alarm(&report["forecast"]["alarm"]);
    assert_eq!(report["forecast"]["alarm"]["samples"], 40);
    let detection = number(&report["forecast"]["alarm"]["detection"]);
    assert!(
        (number(&report["forecast"]["class_errors"]["failing"]) + detection - 1.0).abs() < 1e-9
    );
    // No rate is held, nothing is said of one.
    let plain = ["forecast", "train.csv", "--target", "north", "--no-details"];
    assert!(!folder.stdout(&plain).contains("alarm"));
    let report = folder.json(&[&plain[..], &["--json"]].concat());
    assert_eq!(report["forecast"]["alarm"], Value::Null);
}

#[test]
fn every_tail_and_theory_holds_the_rate() {
    let folder = tables(80);
    for options in [
        &[][..],
        &["--tail", "auto"],
        &["--tail", "empirical"],
        &["--tail", "gaussian"],
        &["--labels", "optimal"],
        &["--labels", "classical"],
        &["--labels", "alone", "--tail", "gaussian"],
        &["--labels", "pooled"],
        &["--labels", "pooled", "--theory", "isotropic"],
        &["--theory", "isotropic"],
        &["--theory", "spherical"],
        &["--theory", "common"],
        &["--theory", "general"],
        &["--theory", "leave-one-out", "--labels", "optimal"],
    ] {
        let fit = ["fit", "train.csv", "-o", "m"];
        let said = folder.stdout(&[&fit, &ALARM[..], options].concat());
        assert!(said.contains("may raise one"), "{said}");
        assert!(folder.stdout(&["inspect", "m"]).contains("false alarms"));
        let report = folder.json(&["evaluate", "m", "test.csv", "--json"]);
        assert_alarm(&report["forecast"]["alarm"]);
        if options.contains(&"--tail") && options[options.len() - 1] != "auto" {
            let tail = options[options.len() - 1];
            assert_eq!(report["forecast"]["alarm"]["tail"], tail);
        }
        let measured = &report["measured"];
        let rate = number(&measured["alarm"]["false_alarm"]["share"]);
        // 80 samples of the null class know a rate of 10 % to ±3.4 %; the theory does not know the data.
        assert!((0.01..0.25).contains(&rate), "{options:?}: {rate}");
        assert!(number(&measured["alarm"]["detection"]["share"]) > 0.7);
        assert_eq!(
            number(&measured["class_errors"]["normal"]),
            rate,
            "an alarm in the null class is a mistake"
        );
        let alarms = number(&measured["confusion"]["failing"]["failing"]);
        let detection = &measured["alarm"]["detection"];
        assert_eq!(alarms / 400.0, number(&detection["share"]));
        assert_eq!(detection["samples"], 400);
        assert!(detection["within_forecast_interval"].is_boolean());
    }
}

#[test]
fn either_class_may_be_the_null() {
    let folder = tables(40);
    for (null, other) in [("normal", "failing"), ("failing", "normal")] {
        let fit = [
            "fit",
            "train.csv",
            "--target",
            "north",
            "--null",
            null,
            "--false-alarm",
            "0.2",
            "-o",
            "m",
        ];
        folder.stdout(&fit);
        let report = folder.json(&["evaluate", "m", "test.csv", "--json"]);
        let rate = number(&report["measured"]["alarm"]["false_alarm"]["share"]);
        let missed = 1.0 - number(&report["measured"]["alarm"]["detection"]["share"]);
        assert!((0.03..0.4).contains(&rate), "{null}: {rate}");
        assert!((number(&report["measured"]["class_errors"][other]) - missed).abs() < 1e-12);
    }
}

#[test]
fn evaluate_says_whether_the_rate_was_held() {
    let folder = tables(40);
    folder.stdout(&[&["fit", "train.csv", "-o", "m"], &ALARM[..]].concat());
    let said = folder.stdout(&["evaluate", "m", "test.csv"]);
    for part in [
        "The alarm: 10.0 % of 'normal' may raise an alarm",
        "false alarms",
        "detections",
        "oretold",
    ] {
        assert!(said.contains(part), "'{part}' is not in:\n{said}");
    }
    // Another place, where the rate is not held: normal samples that look like failing ones.
    let foreign = Rows::of("north", &["normal", "failing"], 100, 4).csv();
    folder.write("foreign.csv", foreign);
    let said = folder.stdout(&["evaluate", "m", "foreign.csv"]);
    assert!(said.contains("Not as foretold"), "{said}");
    // One class only.
    let mut rows = Rows::of("north", &["failing", "normal"], 50, 5);
    rows.0.retain(|(_, label, _)| label == "failing");
    folder.write("failing.csv", rows.csv());
    let said = folder.stdout(&["evaluate", "m", "failing.csv"]);
    assert!(said.contains("No sample tells of false alarms"), "{said}");
    let report = folder.json(&["evaluate", "m", "failing.csv", "--json"]);
    assert_eq!(report["measured"]["alarm"]["false_alarm"], Value::Null);
}

#[test]
fn a_rate_that_few_samples_cannot_show_is_noted() {
    let folder = tables(12);
    let arguments = [
        "forecast",
        "train.csv",
        "--target",
        "north",
        "--null",
        "normal",
        "--false-alarm",
        "0.001",
        "--tail",
        "empirical",
    ];
    let said = folder.stdout(&arguments).replace('\n', " ");
    assert!(
        said.contains("needs about 1000 samples of 'normal'"),
        "{said}"
    );
}
