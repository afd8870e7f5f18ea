//! What a forecast says beyond its error: rehearsals, what more labels would bring, what cannot be told.

use crate::common;

use common::{Folder, Rows, number, two_tasks};
use serde_json::{Value, json};

const CLASSES: [&str; 2] = ["cat", "dog"];
const FORECAST: [&str; 4] = ["forecast", "train.csv", "--target", "north"];

/// `train.csv` with so many labels per class in the target, and three sources that can take its place.
fn with_sources(labels: usize) -> Folder {
    let folder = Folder::new();
    let sources = ["east", "south", "west"].into_iter().zip(2..);
    let target = Rows::of("north", &CLASSES, labels, 1);
    let rows = sources.fold(target, |rows, (name, seed)| {
        rows.and(Rows::of(name, &CLASSES, 40, seed))
    });
    folder.write("train.csv", rows.csv());
    folder.write("test.csv", Rows::of("north", &CLASSES, 50, 9).csv());
    folder
}

/// Paragraphs are wrapped.
fn said(folder: &Folder, options: &[&str]) -> String {
    let text = folder.stdout(&[&FORECAST, options].concat());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn report(folder: &Folder, options: &[&str]) -> Value {
    folder.json(&[&FORECAST, options, &["--json"]].concat())
}

fn assert_paired(paired: &Value) {
    let [low, high] = [0, 1].map(|end| number(&paired["interval"][end]));
    let difference = number(&paired["difference"]);
    assert!(low <= difference && difference <= high, "{paired}");
    let verdict = match (low > 0.0, high < 0.0) {
        (true, _) => "helps",
        (_, true) => "harms",
        _ => "cannot be told",
    };
    assert_eq!(paired["verdict"], verdict);
}

#[test]
fn sources_are_rehearsed_unless_that_is_switched_off() {
    let folder = with_sources(4);
    let text = said(&folder, &[]);
    assert!(
        text.contains("Rehearsed: 3 sources in the target's place err in"),
        "{text}"
    );
    assert!(text.contains("the target's own samples say"), "{text}");
    let forecast = &report(&folder, &["--no-details"])["forecast"];
    assert_eq!(forecast["told"], true);
    assert!(number(&forecast["worth"]) > 0.0 && number(&forecast["log_loss"]) > 0.0);
    let done = &forecast["rehearsal"]["done"];
    let sources = done["sources"].as_array().unwrap();
    let mean: f64 = sources.iter().map(|one| number(&one["error"])).sum::<f64>() / 3.0;
    assert!((number(&done["error"]) - mean).abs() < 1e-9);
    assert!(sources.iter().all(|one| number(&one["tested"]) >= 30.0));

    let off = ["--no-rehearsal", "--no-details"];
    let text = said(&folder, &off);
    assert!(
        text.contains("Not rehearsed: it was switched off."),
        "{text}"
    );
    let skipped = &report(&folder, &off)["forecast"];
    assert_eq!(skipped["rehearsal"], json!({"skipped": "switched-off"}));
    assert_eq!(skipped["error"], done["own_error"]);
    let by_name = &report(&folder, &["--no-details", "--labels", "classical"])["forecast"];
    assert_eq!(by_name["rehearsal"], json!({"skipped": "by-name"}));

    // Of one task nobody expects a rehearsal.
    folder.write("alone.csv", Rows::of("north", &CLASSES, 12, 1).csv());
    let text = folder.stdout(&["forecast", "alone.csv", "--no-details"]);
    assert!(!text.contains("ehearsed"), "{text}");
}

#[test]
fn one_label_per_class_tells_nothing_by_itself() {
    let folder = Folder::new();
    let rows = Rows::of("north", &CLASSES, 1, 1).and(Rows::of("south", &CLASSES, 30, 2));
    folder.write("train.csv", rows.csv());
    folder.write("test.csv", Rows::of("north", &CLASSES, 50, 9).csv());
    let text = said(&folder, &["--reach", "0.1", "--budget", "10"]);
    assert!(
        text.contains("Forecast error cannot be told from one label in each class"),
        "{text}"
    );
    assert!(
        text.contains("What more labels would bring cannot be told"),
        "{text}"
    );
    let forecast = &report(&folder, &["--no-details"])["forecast"];
    assert_eq!(forecast["told"], false);
    assert_eq!(forecast["interval"], json!([0.0, 1.0]));
    let notes = forecast["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note["kind"] == "one-label"));

    folder.stdout(&["fit", "train.csv", "--target", "north", "-o", "m"]);
    let inspected = folder.stdout(&["inspect", "m"]);
    assert!(
        inspected.contains("cannot be told from one label"),
        "{inspected}"
    );
    let measured = folder.stdout(&["evaluate", "m", "test.csv"]);
    assert!(
        measured.contains("has nothing to be compared with"),
        "{measured}"
    );

    // Sources in its place can tell.
    let folder = with_sources(1);
    assert_eq!(report(&folder, &["--no-details"])["forecast"]["told"], true);
    let text = said(&folder, &["--no-details"]);
    assert!(
        text.contains("the target's own samples say nothing."),
        "{text}"
    );
}

#[test]
fn the_sources_are_judged_together_and_one_by_one() {
    let folder = with_sources(4);
    let text = said(&folder, &[]);
    assert!(text.contains("Do the sources help? Th"), "{text}");
    assert!(
        text.contains("left out") && text.contains("all sources"),
        "{text}"
    );
    let sources = report(&folder, &[])["sources"].clone();
    let names: Vec<&Value> = (sources.as_array().unwrap().iter())
        .map(|source| &source["task"])
        .collect();
    assert_eq!(
        names,
        [
            &Value::Null,
            &json!("east"),
            &json!("south"),
            &json!("west")
        ]
    );
    for source in sources.as_array().unwrap() {
        assert_paired(&source["paired"]);
    }
    // Who asks for the target alone uses no source.
    let alone = report(&folder, &["--labels", "alone"]);
    assert_eq!(alone["sources"], json!([]));
}

#[test]
fn compared_rules_are_better_worse_or_not_to_be_told_apart() {
    let folder = with_sources(6);
    let options = ["--compare", "--no-details"];
    let rules = report(&folder, &options)["compare"]["rules"].clone();
    let rules = rules.as_array().unwrap();
    assert_eq!(rules[0]["paired"], Value::Null);
    rules[1..]
        .iter()
        .for_each(|rule| assert_paired(&rule["paired"]));
    let text = said(&folder, &options);
    let known = ["worse", "better", "cannot be told"];
    assert!(known.iter().any(|word| text.contains(word)), "{text}");
    assert!(text.contains("sample by sample"), "{text}");
}

#[test]
fn labels_for_an_error_and_for_a_budget() {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    let options = ["--reach", "0.5,0.02,0.0", "--budget", "10", "--no-details"];
    let text = said(&folder, &options);
    for part in [
        "Labels that must be added",
        "error to reach",
        "50.0 % +0",
        "0.0 % cannot be reached",
        "10 labels more are best spread as cat 5, dog 5: expected error",
        "Labelled as they come",
    ] {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
    assert!(!text.contains("If the target had more labels"), "{text}");
    let report_of = report(&folder, &options);
    let needed = report_of["labels_needed"].as_array().unwrap();
    assert_eq!(
        needed[0],
        json!({"error": 0.5, "added": 0, "interval": [0, 0]})
    );
    assert_eq!(needed[2]["added"], Value::Null);
    let budget = &report_of["budget"];
    assert_eq!(budget["labels"], 10);
    assert_eq!(budget["added"], json!({"cat": 5, "dog": 5}));
    assert!(number(&budget["error"]) <= number(&report_of["forecast"]["error"]));
    assert!(number(&budget["error"]) <= number(&budget["as_they_come"]) + 1e-12);

    // Not asked, not said; and a theory does not know.
    let plain = report(&folder, &["--no-details"]);
    assert!(plain.get("labels_needed").is_none() && plain.get("budget").is_none());
    let theory = [&options[..], &["--theory", "common"]].concat();
    assert!(said(&folder, &theory).contains("A theory does not say"));
    let theory = report(&folder, &theory);
    assert_eq!(theory["labels_needed"], json!([]));
    assert_eq!(theory["budget"], Value::Null);
    folder.fails_with(
        &[&FORECAST[..], &["--reach", "5"]].concat(),
        &["--reach", "such as 0.05"],
    );
}

#[test]
fn a_learning_curve_says_how_sure_a_forecast_will_be() {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    let text = said(&folder, &[]);
    assert!(text.contains("forecast's interval then"), "{text}");
    let alarm = ["--null", "dog", "--false-alarm", "0.1"];
    for options in [&[][..], &alarm] {
        let curve = report(&folder, &[options, &["--added", "0,100"]].concat());
        let curve = curve["learning_curve"].as_array().unwrap().clone();
        let width = |point: &Value| {
            let ends = &point["foretold_interval"];
            number(&ends[1]) - number(&ends[0])
        };
        assert!(width(&curve[1]) < width(&curve[0]), "{curve:?}");
        assert!(number(&curve[1]["error"]) <= number(&curve[0]["error"]));
    }
    let text = said(&folder, &alarm);
    assert!(text.contains("expected share missed"), "{text}");
}

#[test]
fn evaluate_judges_by_what_a_test_of_this_size_may_show() {
    let folder = with_sources(12);
    folder.stdout(&["fit", "train.csv", "--target", "north", "-o", "m"]);
    let report = folder.json(&["evaluate", "m", "test.csv", "--json"]);
    let [low, high] = [0, 1].map(|end| number(&report["measured"]["foretold"][end]));
    let [least, most] = [0, 1].map(|end| number(&report["forecast"]["interval"][end]));
    assert!(low <= least && most <= high, "{low} {high}");
    let error = number(&report["measured"]["error"]);
    assert_eq!(
        report["within_forecast_interval"],
        (low..=high).contains(&error)
    );
    assert!(number(&report["measured"]["log_loss"]) > 0.0);
    let text = folder.stdout(&["evaluate", "m", "test.csv"]);
    for part in [
        "forecast, in a test of 100",
        "in a test of 100 it expects",
        "log-loss",
    ] {
        assert!(
            text.replace('\n', " ").contains(part),
            "'{part}' is not in:\n{text}"
        );
    }
    // Swapped classes are not what was foretold.
    folder.write(
        "swapped.csv",
        Rows::of("north", &["dog", "cat"], 50, 9).csv(),
    );
    let text = folder.stdout(&["evaluate", "m", "swapped.csv"]);
    assert!(text.contains("The forecast does not hold"), "{text}");
}
