//! Every rule and every theory, from the table to the verdict.

use crate::common;

use common::{FEATURES, Folder, Noise, Rows, number, text, two_tasks};
use serde_json::Value;

const RULES: [&str; 6] = [
    "auto",
    "one-hot",
    "one-vs-all",
    "naive-one-vs-all",
    "one-vs-one",
    "bayes",
];
const THEORIES: [(&str, &str); 9] = [
    ("auto", "leave-one-out"),
    ("isotropic", "isotropic"),
    ("spherical", "spherical"),
    ("common", "common"),
    // The word it had before.
    ("pooled", "common"),
    ("general", "general"),
    ("ledoit-wolf", "general"),
    ("sample", "general"),
    ("leave-one-out", "leave-one-out"),
];
const THREE: [&str; 3] = ["a", "b", "c"];
const NORTH: [&str; 2] = ["--target", "north"];

/// Three classes in the corners of a triangle: of classes on a line one-versus-all never calls the
/// middle one.
fn corners(task: &str, count: usize, seed: u64) -> Rows {
    let mut noise = Noise(seed);
    let rows = (0..count).flat_map(|_| THREE.into_iter().enumerate());
    Rows(
        rows.map(|(class, name)| {
            let mut values: Vec<f64> = (0..FEATURES).map(|_| noise.next() + noise.next()).collect();
            values[class] += 2.0;
            (task.to_owned(), name.to_owned(), values)
        })
        .collect(),
    )
}

/// `train.csv` and `test.csv` of two or three classes.
fn tables(classes: &[&str]) -> Folder {
    let folder = Folder::new();
    let (train, test) = match classes.len() {
        2 => (two_tasks(), Rows::of("north", classes, 40, 9)),
        _ => (
            corners("north", 10, 3).and(corners("south", 25, 4)),
            corners("north", 40, 9),
        ),
    };
    folder.write("train.csv", train.csv());
    folder.write("test.csv", test.csv());
    folder
}

/// Errors that are probabilities, rows of shares that sum to one, and an interval around the error.
fn assert_sane(forecast: &Value, classes: &[&str]) {
    let error = number(&forecast["error"]);
    let [low, high] = [0, 1].map(|end| number(&forecast["interval"][end]));
    assert!(
        0.0 <= low && low <= error && error <= high && high <= 1.0,
        "{forecast}"
    );
    for class in classes {
        let row = forecast["confusion"][class].as_object().unwrap();
        assert!(row.keys().eq(classes), "{row:?}");
        assert!((row.values().map(number).sum::<f64>() - 1.0).abs() < 1e-9);
        let wrong = 1.0 - number(&row[*class]);
        let class_error = number(&forecast["class_errors"][class]);
        assert!((wrong - class_error).abs() < 1e-9, "{forecast}");
    }
    for group in forecast["reliability"].as_array().unwrap() {
        for key in ["share", "claimed", "right"] {
            assert!(
                (0.0..=1.0 + 1e-9).contains(&number(&group[key])),
                "{forecast}"
            );
        }
    }
}

/// fit, inspect, predict, evaluate with these options; the report of evaluate.
fn whole_way(folder: &Folder, options: &[&str], classes: &[&str]) -> Value {
    let fit = [&["fit", "train.csv", "-o", "m"], &NORTH[..], options].concat();
    let said = folder.stdout(&fit);
    assert!(said.contains("Forecast error"), "{said}");
    let inspected = folder.json(&["inspect", "m", "--json"]);
    assert_sane(&inspected["forecast"], classes);
    let said = folder.stdout(&["inspect", "m"]);
    assert!(said.contains("How it decides"), "{said}");
    let csv = folder.stdout(&["predict", "m", "test.csv", "--scores", "--probabilities"]);
    assert_eq!(csv.lines().count(), 40 * classes.len() + 1);
    assert!(!csv.contains("NaN") && !csv.contains("inf"), "{options:?}");
    for line in csv.lines().skip(1) {
        let probabilities = line.rsplit(',').take(classes.len());
        let sum: f64 = probabilities.map(|cell| cell.parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{options:?}: {line}");
    }
    let said = folder.stdout(&["evaluate", "m", "test.csv", "--plot", "plot.svg"]);
    assert!(said.contains("measured"), "{said}");
    let figure = text(&folder.path("plot.svg"));
    let what = if classes.len() == 2 {
        "Decision scores"
    } else {
        "What each class was called"
    };
    assert!(figure.contains(what), "{options:?}");
    let report = folder.json(&["evaluate", "m", "test.csv", "--json"]);
    assert_eq!(report["forecast"], inspected["forecast"]);
    report
}

#[test]
fn every_rule_goes_the_whole_way() {
    for classes in [&THREE[..], &["cat", "dog"]] {
        let folder = tables(classes);
        for rule in RULES {
            for labels in ["auto", "optimal", "classical", "alone", "pooled"] {
                let options = ["--rule", rule, "--labels", labels];
                let report = whole_way(&folder, &options, classes);
                // With all means known the error would be 5 and 7.5 %.
                let measured = number(&report["measured"]["error"]);
                assert!(measured < 0.2, "{options:?}: {measured}");
                let forecast = number(&report["forecast"]["error"]);
                assert!(
                    (measured - forecast).abs() < 0.2,
                    "{options:?}: forecast {forecast}, measured {measured}"
                );
            }
        }
    }
}

#[test]
fn every_theory_goes_the_whole_way() {
    for classes in [&THREE[..], &["cat", "dog"]] {
        let folder = tables(classes);
        for (theory, source) in THEORIES {
            let report = whole_way(&folder, &["--theory", theory], classes);
            assert_eq!(report["forecast"]["source"], source, "{theory}");
            let measured = number(&report["measured"]["error"]);
            assert!(measured < 0.2, "{theory}: {measured}");
        }
    }
}

#[test]
fn every_rule_goes_with_every_theory_or_says_why_not() {
    for classes in [&THREE[..], &["cat", "dog"]] {
        let folder = tables(classes);
        for rule in RULES {
            for (theory, source) in THEORIES {
                let options = ["--rule", rule, "--theory", theory];
                let fit = [&["fit", "train.csv", "-o", "new"], &NORTH[..], &options].concat();
                if rule == "one-vs-one" && source == "general" && classes.len() > 2 {
                    folder.fails_with(&fit, &["theory", "one-versus-one", "leave-one-out"]);
                    continue;
                }
                let report = folder.json(&[&fit[..], &["--json"]].concat());
                assert_sane(&report["forecast"], classes);
                assert_eq!(report["forecast"]["source"], source);
                folder.stdout(&["evaluate", "new", "test.csv"]);
                std::fs::remove_file(folder.path("new")).unwrap();
            }
        }
    }
}

#[test]
fn a_rule_is_named_in_the_report_and_in_words() {
    let folder = tables(&THREE);
    for (rule, words) in [
        ("one-hot", "one score per class (one-hot)"),
        ("one-vs-one", "votes of one score per pair"),
        ("bayes", "most probable class"),
    ] {
        let forecast = ["forecast", "train.csv", "--details", "--rule", rule];
        let options = [&forecast, &NORTH[..]].concat();
        let report = folder.json(&[&options[..], &["--json"]].concat());
        assert_eq!(report["rule"], rule);
        assert_eq!(report["labels"], "auto");
        let said = folder.stdout(&options);
        assert!(said.contains(words), "{said}");
    }
    for ties in ["margins", "first"] {
        let votes = ["fit", "train.csv", "--rule", "one-vs-one", "--ties", ties];
        folder.stdout(&[&votes, &NORTH[..], &["-o", "m"]].concat());
        folder.stdout(&["evaluate", "m", "test.csv"]);
    }
}

#[test]
fn the_forecast_says_what_each_class_will_be_called() {
    let folder = tables(&THREE);
    let said = folder.stdout(&[&["forecast", "train.csv", "--details"], &NORTH[..]].concat());
    for part in [
        "Of 100 samples of a class",
        "as b",
        "How far its probabilities can be believed",
        "claimed",
        "The forecast is by leave-one-out",
        "isotropic",
        "common",
    ] {
        assert!(said.contains(part), "'{part}' is not in:\n{said}");
    }
    let quick = folder.stdout(&[&["forecast", "train.csv", "--no-details"], &NORTH[..]].concat());
    assert!(!quick.contains("would foretell"), "{quick}");
    // A table of many classes is for machines.
    let names: Vec<String> = (0..13).map(|i| format!("k{i:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    folder.write("many.csv", Rows::of("north", &names, 6, 3).csv());
    let said = folder.stdout(&["forecast", "many.csv", "--no-details"]);
    assert!(!said.contains("as k03"), "{said}");
    let report = folder.json(&["forecast", "many.csv", "--no-details", "--json"]);
    assert_sane(&report["forecast"], &names);
}

#[test]
fn evaluate_counts_what_came_of_the_probabilities() {
    let folder = tables(&THREE);
    let report = whole_way(&folder, &[], &THREE);
    let groups = |of: &str| report[of]["reliability"].as_array().unwrap().clone();
    assert_eq!(groups("forecast").len(), groups("measured").len());
    let share: f64 = (groups("measured").iter())
        .map(|group| number(&group["share"]))
        .sum();
    assert!((share - 1.0).abs() < 1e-9);
    // Averages of claims and of right decisions agree with the error.
    let right: f64 = (groups("measured").iter())
        .filter(|group| number(&group["share"]) > 0.0)
        .map(|group| number(&group["share"]) * number(&group["right"]))
        .sum();
    assert!((right - 1.0 + number(&report["measured"]["error"])).abs() < 1e-9);
    assert!(number(&report["measured"]["reliability_gap"]) < 0.3);
    let said = folder.stdout(&["evaluate", "m", "test.csv"]);
    for part in ["Probabilities: ", "right, measured", "of 100 samples"] {
        assert!(said.contains(part), "'{part}' is not in:\n{said}");
    }
}

#[test]
fn compare_lists_every_rule_and_every_theory() {
    for classes in [&THREE[..], &["cat", "dog"]] {
        let folder = tables(classes);
        for options in [
            &[][..],
            &["--rule", "bayes"],
            &["--labels", "classical"],
            &["--theory", "common"],
            &["--theory", "sample", "--lambda", "1", "--gamma", "1"],
        ] {
            let common = ["forecast", "train.csv", "--compare", "--no-details"];
            let arguments = [&common, &NORTH[..], options].concat();
            let said = folder.stdout(&arguments);
            for part in [
                "What each rule is expected to do",
                "rules by name at",
                "this forecast",
                "naive-one-vs-all",
                "What each theory would foretell",
                "spherical theory",
                "general-covariance theory",
                "docs/4",
            ] {
                assert!(said.contains(part), "'{part}' is not in:\n{said}");
            }
            let report = folder.json(&[&arguments[..], &["--json"]].concat());
            let compare = &report["compare"];
            number(&compare["lambda"]);
            assert_eq!(compare["gamma"].as_array().unwrap().len(), 2);
            let rules = compare["rules"].as_array().unwrap();
            let own: Vec<bool> = (rules.iter())
                .map(|rule| rule["own"].as_bool().unwrap())
                .collect();
            assert!(own[0] && !own[1..].contains(&true), "{own:?}");
            assert_eq!(rules[0]["forecast"], report["forecast"]);
            assert_eq!(rules[0]["rule"], report["rule"]);
            for rule in rules {
                assert_sane(&rule["forecast"], classes);
            }
            let named: Vec<&Value> = rules[1..].iter().map(|rule| &rule["rule"]).collect();
            for rule in ["one-hot", "one-vs-all", "naive-one-vs-all", "bayes"] {
                assert_eq!(named.iter().filter(|name| **name == rule).count(), 2);
            }
            let theories = report["theories"].as_array().unwrap();
            let chosen: Vec<&Value> = (theories.iter())
                .filter(|theory| theory["chosen"] == true)
                .collect();
            assert_eq!(chosen.len(), 1, "{theories:?}");
            assert_eq!(chosen[0]["source"], report["forecast"]["source"]);
            assert_eq!(chosen[0]["error"], report["forecast"]["error"]);
            assert!(theories.len() >= 4);
        }
    }
}

/// All names in code spans of the documentation.
fn documented() -> std::collections::HashSet<String> {
    let text = include_str!("../../../../docs/json.md");
    let spans = text.split('`').skip(1).step_by(2);
    spans
        .flat_map(|span| span.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_key_of_a_report_is_documented() {
    fn keys(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                into.extend(map.keys().cloned());
                map.values().for_each(|value| keys(value, into));
            }
            Value::Array(values) => values.iter().for_each(|value| keys(value, into)),
            _ => {}
        }
    }
    let names = ["a", "b", "c", "cat", "dog", "north", "south"];
    let known = documented();
    for classes in [&THREE[..], &["cat", "dog"]] {
        let folder = tables(classes);
        let test = ["--null", "cat", "--false-alarm", "0.1"];
        let options = match classes.len() {
            2 => &test[..],
            _ => &[],
        };
        let fit = [
            &["fit", "train.csv", "-o", "m", "--json"],
            &NORTH[..],
            options,
        ]
        .concat();
        let labels = ["--reach", "0.05", "--budget", "20"];
        let forecast = [
            &["forecast", "train.csv", "--compare", "--json"],
            &labels[..],
        ]
        .concat();
        for arguments in [
            &fit[..],
            &[&forecast[..], &NORTH[..], options].concat(),
            &[&forecast[..], &NORTH[..], &["--rule", "bayes"]].concat(),
            &["inspect", "m", "--json"],
            &["evaluate", "m", "test.csv", "--json"],
        ] {
            let mut all = Vec::new();
            keys(&folder.json(arguments), &mut all);
            for key in all.iter().filter(|key| !names.contains(&key.as_str())) {
                assert!(known.contains(key), "{arguments:?}: {key}");
            }
        }
    }
}
