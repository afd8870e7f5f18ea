//! `forecast` and `fit` begin with what it comes to, in at most six lines, for people and for machines.

use crate::common::{Folder, Noise, Rows, number, three_classes, two_tasks};

use serde_json::{Value, json};

const MOST_LINES: usize = 6;
const FEATURES: usize = 120;

/// `count` rows of each class, `distance` from the middle along all features; the second class on the other side.
fn rows(task: &str, counts: [usize; 2], distance: f64, noise: &mut Noise) -> String {
    let mut text = String::new();
    for (class, (count, side)) in ["yes", "no"].iter().zip(counts.iter().zip([1.0, -1.0])) {
        for _ in 0..*count {
            let values: Vec<String> = (0..FEATURES)
                .map(|_| (side * distance + noise.next() + noise.next()).to_string())
                .collect();
            text += &format!("{task},{class},{}\n", values.join(","));
        }
    }
    text
}

fn header() -> String {
    let features: Vec<String> = (0..FEATURES).map(|i| format!("x{i}")).collect();
    format!("task,label,{}\n", features.join(","))
}

/// The verdict of a command for people, which machines must have too, line by line with their kinds.
fn verdict(folder: &Folder, arguments: &[&str]) -> (Vec<String>, Vec<Value>) {
    let text = folder.stdout(arguments);
    let lines: Vec<String> = text
        .lines()
        .take_while(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    let report = folder.json(&[arguments, &["--json"]].concat());
    let said = report["verdict"].as_array().unwrap().clone();
    let texts: Vec<&str> = said
        .iter()
        .map(|line| line["text"].as_str().unwrap())
        .collect();
    assert_eq!(lines, texts);
    assert!((2..=MOST_LINES).contains(&lines.len()), "{lines:?}");
    assert!(
        lines.iter().all(|line| line.chars().count() <= 100),
        "{lines:?}"
    );
    assert_eq!(said.last().unwrap()["kind"], "next");
    (lines, said)
}

fn of_kind<'v>(said: &'v [Value], kind: &str) -> Option<&'v Value> {
    said.iter().find(|line| line["kind"] == kind)
}

#[test]
fn a_source_that_helps_is_named() {
    let folder = Folder::new();
    // Of the draws 10 to 45 one in six has a claim about a source alone.
    let mut noise = Noise(26);
    let target = rows("target", [40, 40], 0.11, &mut noise);
    let alike = rows("alike", [400, 400], 0.11, &mut noise);
    let other = rows("noise", [60, 60], 0.0, &mut noise);
    folder.write("train.csv", header() + &target + &alike + &other);
    let forecast = ["forecast", "train.csv", "--target", "target"];
    let (lines, said) = verdict(&folder, &forecast);
    let sources = of_kind(&said, "sources").unwrap();
    assert_eq!(sources["count"], 2);
    assert_eq!(sources["paired"]["verdict"], "helps", "{lines:?}");
    let each = of_kind(&said, "each-source").unwrap();
    assert_eq!(each["helps"], json!(["alike"]), "{lines:?}");
    assert_eq!(each["unknown"], json!(["noise"]));
    assert!(lines.contains(&"One by one: 'alike' helps; of 'noise' it cannot be told".to_owned()));
    assert!(
        lines[2].starts_with("The 2 sources help: error "),
        "{lines:?}"
    );
    // The same numbers as further below.
    let report = folder.json(&[&forecast[..], &["--json"]].concat());
    assert_eq!(sources["paired"], report["sources"][0]["paired"]);
    let error = of_kind(&said, "error").unwrap();
    assert_eq!(error["error"], report["forecast"]["error"]);
    assert_eq!(error["interval"], report["forecast"]["interval"]);
    assert_eq!(error["auc"], report["forecast"]["auc"]);
    assert!((0.6..=1.0).contains(&number(&error["auc"])));

    // To fit takes no studies more, and says who knows.
    let (lines, said) = verdict(
        &folder,
        &["fit", "train.csv", "--target", "target", "-o", "m"],
    );
    let left_out = of_kind(&said, "left-out").unwrap();
    assert_eq!(left_out["sources"], true);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("`foretask forecast` says")),
        "{lines:?}"
    );
    let (lines, _) = verdict(&folder, &[&forecast[..], &["--no-details"]].concat());
    assert!(
        lines[1].starts_with("Without --no-details it says"),
        "{lines:?}"
    );
}

#[test]
fn a_source_that_harms_is_to_be_left_out() {
    let folder = Folder::new();
    let mut noise = Noise(2);
    let target = rows("target", [40, 40], 0.3, &mut noise);
    let opposed = rows("turned", [300, 300], -0.3, &mut noise);
    folder.write("train.csv", header() + &target + &opposed);
    let forecast = ["forecast", "train.csv", "--target", "target"];
    // One set of weights for both cannot turn it round,
    let (lines, said) = verdict(&folder, &[&forecast[..], &["--labels", "pooled"]].concat());
    let sources = of_kind(&said, "sources").unwrap();
    assert_eq!(sources["paired"]["verdict"], "harms", "{lines:?}");
    assert_eq!(sources["task"], "turned");
    let next = said.last().unwrap();
    assert_eq!(next["step"], "leave-out");
    assert_eq!(next["text"], "Next: leave out 'turned', which harms");
    // the default does.
    let (lines, said) = verdict(&folder, &forecast);
    let sources = of_kind(&said, "sources").unwrap();
    assert_ne!(sources["paired"]["verdict"], "harms", "{lines:?}");
    let each = of_kind(&said, "each-source").unwrap();
    assert_eq!(each["opposed"], json!(["turned"]));
    assert_eq!(each["text"], "The source 'turned' points the other way");
    assert_eq!(said.last().unwrap()["step"], "use");
}

#[test]
fn without_sources_nothing_is_said_of_them() {
    let folder = Folder::new();
    folder.write("train.csv", Rows::of("north", &["cat", "dog"], 12, 1).csv());
    for command in [
        &["forecast", "train.csv"][..],
        &["fit", "train.csv", "-o", "m"],
    ] {
        let (_, said) = verdict(&folder, command);
        let kinds: Vec<&Value> = said.iter().map(|line| &line["kind"]).collect();
        assert_eq!(kinds, ["error", "labels", "next"]);
    }
    // Nor of those that are not used.
    folder.write("two.csv", two_tasks().csv());
    let alone = [
        "forecast", "two.csv", "--target", "north", "--labels", "alone",
    ];
    let (_, said) = verdict(&folder, &alone);
    assert!(of_kind(&said, "sources").is_none() && of_kind(&said, "each-source").is_none());
}

#[test]
fn labels_are_told_as_in_the_learning_curve() {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    let forecast = ["forecast", "train.csv", "--target", "north"];
    let (_, said) = verdict(&folder, &forecast);
    let labels = of_kind(&said, "labels").unwrap();
    assert_eq!(labels["added"], 12);
    let report = folder.json(&[&forecast[..], &["--added", "12", "--json"]].concat());
    assert_eq!(labels["error"], report["learning_curve"][0]["error"]);
    let error = number(&report["forecast"]["error"]);
    let half = (0.5 * error).to_string();
    let report = folder.json(&[&forecast[..], &["--reach", &half, "--json"]].concat());
    assert_eq!(labels["halved"], report["labels_needed"][0]["added"]);
}

#[test]
fn one_label_per_class_tells_nothing() {
    let folder = Folder::new();
    let classes = ["cat", "dog"];
    let rows = Rows::of("north", &classes, 1, 1).and(Rows::of("south", &classes, 30, 2));
    folder.write("train.csv", rows.csv());
    for command in [
        &["forecast", "train.csv", "--target", "north"][..],
        &["fit", "train.csv", "--target", "north", "-o", "m"],
    ] {
        let (lines, said) = verdict(&folder, command);
        let kinds: Vec<&Value> = said.iter().map(|line| &line["kind"]).collect();
        assert_eq!(kinds, ["error", "cannot-be-told", "next"]);
        assert_eq!(said[0]["error"], Value::Null);
        assert_eq!(said[0]["auc"], Value::Null);
        assert!(
            lines[0].starts_with("The error cannot be told"),
            "{lines:?}"
        );
        assert_eq!(said[2]["step"], "label");
    }
}

#[test]
fn skewed_classes_are_compared_with_the_commonest() {
    let folder = Folder::new();
    let mut noise = Noise(3);
    folder.write(
        "train.csv",
        header() + &rows("t", [190, 10], 0.0, &mut noise),
    );
    let (lines, said) = verdict(&folder, &["forecast", "train.csv"]);
    let error = &said[0];
    assert_eq!(error["commonest"], "yes");
    assert!((number(&error["commonest_error"]) - 0.05).abs() < 1e-12);
    assert_eq!(error["better"], false);
    assert!(
        lines[0].contains("or 5.0 % by always saying 'yes'; AUC"),
        "{lines:?}"
    );
    let next = said.last().unwrap();
    assert_eq!(next["step"], "label", "{lines:?}");
    assert!(
        next["text"]
            .as_str()
            .unwrap()
            .contains("beat always saying 'yes'")
    );
    // In use the other class may be the commoner.
    let (_, said) = verdict(
        &folder,
        &["forecast", "train.csv", "--prior", "yes=0.2,no=0.8"],
    );
    assert_eq!(said[0]["commonest"], "no");
    assert!((number(&said[0]["commonest_error"]) - 0.2).abs() < 1e-12);
}

#[test]
fn ten_classes_have_no_area() {
    let folder = Folder::new();
    let names: Vec<String> = (0..10).map(|i| format!("k{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    folder.write("train.csv", Rows::of("north", &names, 6, 3).csv());
    let (lines, said) = verdict(&folder, &["forecast", "train.csv"]);
    assert_eq!(said[0]["auc"], Value::Null);
    assert!(
        lines[0].ends_with("or 90.0 % by always saying 'k0'"),
        "{lines:?}"
    );
}

#[test]
fn a_held_rate_is_told_by_its_detections() {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    let alarm = ["--null", "dog", "--false-alarm", "0.1"];
    let forecast = ["forecast", "train.csv", "--target", "north"];
    let (lines, said) = verdict(&folder, &[&forecast[..], &alarm].concat());
    assert_eq!(said[0]["kind"], "alarm");
    assert_eq!(said[0]["null"], "dog");
    assert!(lines[0].starts_with("Expected detections "), "{lines:?}");
    let sources = of_kind(&said, "sources").unwrap();
    assert_eq!(sources["of_share_missed"], true);
    assert!(sources["text"].as_str().unwrap().contains("share missed"));
}

#[test]
fn names_do_nothing_to_a_terminal() {
    let folder = Folder::new();
    let (bell, red) = ("north\u{7}", "\u{1b}[31mcat\u{202e}");
    let rows = Rows::of(bell, &[red, "dog"], 8, 1)
        .and(Rows::of("so\u{9b}uth", &[red, "dog"], 30, 2))
        .and(Rows::of("ea\u{1b}]0;st", &[red, "dog"], 30, 3));
    folder.write("train.csv", rows.csv());
    let quiet = |text: &str| {
        let loud = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!text.contains(loud), "{text:?}");
    };
    let forecast = ["forecast", "train.csv", "--target", bell];
    let (lines, _) = verdict(&folder, &forecast);
    assert!(lines[0].contains("'\\u{1b}[31mcat\\u{202e}'"), "{lines:?}");
    quiet(&folder.stdout(&[&forecast[..], &["--details", "--compare"]].concat()));
    let alarm = ["--null", red, "--false-alarm", "0.1"];
    quiet(&folder.stdout(&[&forecast[..], &alarm].concat()));
    let fit = ["fit", "train.csv", "--target", bell, "-o", "m", "--details"];
    quiet(&folder.stdout(&[&fit[..], &alarm].concat()));
    quiet(&folder.stdout(&["inspect", "m"]));
    quiet(&folder.stdout(&["evaluate", "m", "train.csv"]));
    quiet(&folder.failure(&["forecast", "train.csv", "--target", "\u{1b}[2J"]));
    // Machines get names as they are.
    let report = folder.json(&[&forecast[..], &["--json"]].concat());
    assert_eq!(report["target"], bell);
    assert_eq!(report["verdict"][0]["commonest"], red);
}

#[test]
fn how_it_decides_is_told_if_asked() {
    let folder = Folder::new();
    folder.write("train.csv", three_classes().csv());
    let forecast = ["forecast", "train.csv", "--target", "north"];
    let fit = ["fit", "train.csv", "--target", "north", "-o", "m"];
    for (command, parts) in [
        (
            &forecast[..],
            &["How it decides", "Looking at", "would foretell"][..],
        ),
        (&fit, &["How it decides", "Looking at", "likeness"]),
    ] {
        let short = folder.stdout(command);
        let long = folder.stdout(&[command, &["--details"]].concat());
        for part in parts {
            assert!(long.contains(part), "'{part}' is not in:\n{long}");
            assert!(
                !short.contains(&format!("{part} by")) && !short.contains(&format!("{part}:")),
                "'{part}' is in:\n{short}"
            );
        }
        assert!(
            !short.contains("Looking at") && !short.contains("would foretell"),
            "{short}"
        );
    }
    folder.fails_with(
        &[&forecast[..], &["--details", "--no-details"]].concat(),
        &["--details", "--no-details"],
    );
}

#[test]
fn short_help_has_what_is_used_every_day() {
    let folder = Folder::new();
    for command in ["forecast", "fit"] {
        let short = folder.stdout(&[command, "-h"]);
        let long = folder.stdout(&[command, "--help"]);
        for option in ["--target", "--label ", "--json", "--details"] {
            assert!(short.contains(option), "{option} is not in:\n{short}");
        }
        for option in [
            "--lambda",
            "--tail",
            "--theory",
            "--no-rehearsal",
            "--scale",
        ] {
            assert!(!short.contains(option), "{option} is in:\n{short}");
            assert!(long.contains(option), "{option} is not in:\n{long}");
        }
        for heading in ["Data:", "Decision:", "Method:", "Output:"] {
            assert!(long.contains(heading), "{heading} is not in:\n{long}");
        }
        assert!(short.lines().count() < 45, "{short}");
    }
}
