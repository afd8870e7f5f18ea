//! Every command does what its help says, for people and for machines.

use crate::common;

use common::{Folder, Rows, number, text, three_classes, two_tasks, with_model};
use serde_json::{Value, json};

/// The keys that every forecast has.
fn assert_forecast(forecast: &Value) {
    let error = number(&forecast["error"]);
    let [low, high] = [0, 1].map(|end| number(&forecast["interval"][end]));
    assert!((0.0..=1.0).contains(&error), "{forecast}");
    assert!(low <= error && error <= high, "{forecast}");
    let source = forecast["source"].as_str().unwrap();
    assert!(["leave-one-out", "isotropic"].contains(&source), "{source}");
}

#[test]
fn forecast_tells_people_everything() {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    let text = folder.stdout(&["forecast", "train.csv", "--target", "north"]);
    for part in [
        "the target is 'north'",
        "cat 12, dog 12",
        "related",
        "Forecast error",
        "90 % interval",
        "leave-one-out",
        "Do the sources help?",
        "If the target had more labels",
        "+100",
    ] {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
    let text = folder.stdout(&["forecast", "train.csv", "--target", "north", "--no-details"]);
    assert!(
        !text.contains("the target had more labels") && !text.contains("left out"),
        "{text}"
    );
}

#[test]
fn the_default_forecast_has_weights_and_candidates() {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    let report = folder.json(&[
        "forecast",
        "train.csv",
        "--target",
        "north",
        "--added",
        "10,50",
        "--json",
    ]);
    assert_eq!(report["target"], "north");
    assert_eq!(report["classes"], json!(["cat", "dog"]));
    assert_forecast(&report["forecast"]);
    assert_eq!(report["forecast"]["source"], "leave-one-out");
    let weights = report["weights"].as_object().unwrap();
    let families = ["alone", "classical", "pooled", "scaled", "free", "optimal"];
    assert!(weights.keys().eq(families), "{weights:?}");
    assert!((weights.values().map(number).sum::<f64>() - 1.0).abs() < 1e-9);
    let views = report["views"].as_object().unwrap();
    assert!((views.values().map(number).sum::<f64>() - 1.0).abs() < 1e-9);
    let candidate = &report["candidates"][0];
    assert!(views.contains_key(candidate["view"].as_str().unwrap()));
    assert!(families.contains(&candidate["family"].as_str().unwrap()));
    assert_eq!(candidate["gamma"].as_array().unwrap().len(), 2);
    assert!(number(&report["relatedness"]["south"]) > 0.5);
    let roc = report["roc"].as_array().unwrap();
    assert!(
        roc.windows(2)
            .all(|pair| number(&pair[0]["detection"]) <= number(&pair[1]["detection"]))
    );
    assert!(number(&roc[0]["false_alarm"]) < 0.01 && number(&roc[50]["false_alarm"]) > 0.99);
    for class in report["classes"].as_array().unwrap() {
        let density = report["densities"][class.as_str().unwrap()]
            .as_array()
            .unwrap();
        let step = number(&density[1][0]) - number(&density[0][0]);
        let mass: f64 = density.iter().map(|point| step * number(&point[1])).sum();
        assert!((mass - 1.0).abs() < 0.1, "{mass}");
    }
    let added: Vec<&Value> = (report["learning_curve"].as_array().unwrap().iter())
        .map(|point| &point["added"])
        .collect();
    assert_eq!(added, [10, 50]);
    assert_eq!(report["sources"][0]["task"], "south");
    number(&report["sources"][0]["error_without"]);
    assert!(report.get("lambda").is_none() && report.get("label_scores").is_none());
}

#[test]
fn a_fixed_coupling_with_named_labels_has_labels_and_threshold() {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    for (labels, theory) in [
        ("classical", "auto"),
        ("optimal", "auto"),
        ("optimal", "isotropic"),
        ("alone", "leave-one-out"),
        ("pooled", "auto"),
        ("pooled", "isotropic"),
    ] {
        let report = folder.json(&[
            "forecast",
            "train.csv",
            "--target",
            "north",
            "--labels",
            labels,
            "--theory",
            theory,
            "--lambda",
            "10",
            "--gamma",
            "1,2",
            "--json",
        ]);
        let alone = labels == "alone";
        assert_eq!(number(&report["lambda"]), if alone { 0.0 } else { 10.0 });
        let gamma = if labels == "pooled" {
            [0.0, 0.0]
        } else {
            [1.0, 2.0]
        };
        assert_eq!(report["gamma"], json!(gamma));
        assert_eq!(report["labels"], labels);
        number(&report["threshold"]);
        let scores = &report["label_scores"];
        let sign = number(&scores["north"]["cat"]) - number(&scores["north"]["dog"]);
        assert!(sign > 0.0, "the first class has the larger label: {scores}");
        if ["classical", "pooled"].contains(&labels) {
            let expected = json!({"cat": 1.0, "dog": -1.0});
            assert_eq!(scores, &json!({"north": expected, "south": expected}));
        }
        let source = if theory == "isotropic" {
            "isotropic"
        } else {
            "leave-one-out"
        };
        assert_eq!(report["forecast"]["source"], source);
    }
    // Named labels at a chosen coupling, and a given coupling with averaged labels.
    for options in [
        &["--labels", "optimal"][..],
        &["--lambda", "10", "--gamma", "1", "--views", "standard"],
    ] {
        let common = ["forecast", "train.csv", "--target", "north", "--json"];
        let report = folder.json(&[&common, options].concat());
        for key in ["lambda", "gamma", "label_scores", "threshold"] {
            assert!(
                report.get(key).is_some_and(|value| !value.is_null()),
                "{key}"
            );
        }
    }
}

#[test]
fn more_than_two_classes_have_a_label_for_each() {
    let folder = Folder::new();
    folder.write("train.csv", three_classes().csv());
    let report = folder.json(&[
        "forecast",
        "train.csv",
        "--target",
        "north",
        "--labels",
        "classical",
        "--json",
    ]);
    let scores = report["label_scores"]["south"]["b"].as_object().unwrap();
    assert!(scores.keys().eq(["a", "b", "c"]));
    assert_eq!(report["threshold"], Value::Null);
}

#[test]
fn priors_and_costs_change_the_decision() {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    let report = |options: &[&str]| {
        let common = [
            "forecast",
            "train.csv",
            "--target",
            "north",
            "--no-details",
            "--json",
        ];
        folder.json(&[&common, options].concat())
    };
    let observed = number(&report(&[])["threshold"]);
    let rare = report(&["--prior", "cat=0.05,dog=0.95"]);
    assert!(number(&rare["threshold"]) > observed);
    assert_eq!(
        rare["forecast"]["priors"],
        json!({"cat": 0.05, "dog": 0.95})
    );
    let dear = report(&["--cost", "cat=10,dog=1"]);
    assert!(number(&dear["threshold"]) < observed);
    assert!(number(&dear["forecast"]["cost"]) > number(&dear["forecast"]["error"]));
    assert_eq!(
        report(&["--prior", "equal"])["forecast"]["priors"]["cat"],
        0.5
    );
}

#[test]
fn fit_saves_a_model_that_inspect_explains() {
    let folder = with_model();
    let arguments = [
        "fit",
        "train.csv",
        "--target",
        "north",
        "-o",
        "m.safetensors",
    ];
    let said = folder.stdout(&arguments);
    assert!(
        said.contains("Forecast error") && said.contains("Saved m.safetensors"),
        "{said}"
    );
    let fitted = folder.json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(fitted["model"], "m.safetensors");

    let said = folder.stdout(&["inspect", "m.safetensors"]);
    for part in [
        "'north'",
        "south",
        "cat 30, dog 30",
        "Features: x0, x1",
        "Forecast error",
    ] {
        assert!(said.contains(part), "'{part}' is not in:\n{said}");
    }
    let inspected = folder.json(&["inspect", "m.safetensors", "--json"]);
    for key in [
        "target",
        "classes",
        "tasks",
        "forecast",
        "weights",
        "candidates",
        "threshold",
    ] {
        assert_eq!(inspected[key], fitted[key], "{key}");
    }
    assert_eq!(
        inspected["feature_names"],
        json!(["x0", "x1", "x2", "x3", "x4"])
    );
}

#[test]
fn evaluate_measures_next_to_the_forecast() {
    let folder = with_model();
    let report = folder.json(&["evaluate", "model.safetensors", "test.csv", "--json"]);
    assert_forecast(&report["forecast"]);
    let measured = &report["measured"];
    assert_eq!(measured["samples"], 100);
    let error = number(&measured["error"]);
    assert!(number(&measured["interval"][0]) <= error && error <= number(&measured["interval"][1]));
    let wrong =
        number(&measured["confusion"]["cat"]["dog"]) + number(&measured["confusion"]["dog"]["cat"]);
    assert_eq!(wrong / 100.0, error);
    assert!(report["within_forecast_interval"].is_boolean());

    let said = folder.stdout(&["evaluate", "model.safetensors", "test.csv"]);
    for part in [
        "100 test samples of 'north'",
        "forecast",
        "measured",
        "as dog",
    ] {
        assert!(said.contains(part), "'{part}' is not in:\n{said}");
    }
    assert!(!said.contains("class shares"), "{said}");
}

#[test]
fn other_class_shares_are_weighed_back() {
    let folder = with_model();
    let mut rows = Rows::of("north", &["cat", "dog"], 60, 8);
    let mut cats = 0;
    rows.0.retain(|(_, label, _)| {
        cats += usize::from(label == "cat");
        label == "dog" || cats <= 15
    });
    folder.write("skewed.csv", rows.csv());
    let said = folder.stdout(&["evaluate", "model.safetensors", "skewed.csv"]);
    assert!(
        said.contains("measured, at the forecast's class shares"),
        "{said}"
    );
    let report = folder.json(&["evaluate", "model.safetensors", "skewed.csv", "--json"]);
    let measured = &report["measured"];
    let mean = ["cat", "dog"].map(|class| number(&measured["class_errors"][class]) / 2.0);
    assert!((number(&measured["error_at_forecast_priors"]) - mean[0] - mean[1]).abs() < 1e-12);

    rows.0.retain(|(_, label, _)| label == "dog");
    folder.write("dogs.csv", rows.csv());
    let report = folder.json(&["evaluate", "model.safetensors", "dogs.csv", "--json"]);
    assert_eq!(report["measured"]["error_at_forecast_priors"], Value::Null);
    assert_eq!(report["measured"]["class_errors"]["cat"], Value::Null);
    folder.stdout(&["evaluate", "model.safetensors", "dogs.csv"]);
}

#[test]
fn evaluate_counts_the_rows_of_the_target_only() {
    let folder = with_model();
    let report = folder.json(&["evaluate", "model.safetensors", "train.csv", "--json"]);
    assert_eq!(report["measured"]["samples"], 24);
    assert_eq!(report["measured"]["left_out"], 60);
    let said = folder.stdout(&["evaluate", "model.safetensors", "train.csv"]);
    assert!(said.contains("60 rows of other tasks left out"), "{said}");
    folder.write("south.csv", Rows::of("south", &["cat", "dog"], 5, 7).csv());
    folder.fails_with(
        &["evaluate", "model.safetensors", "south.csv"],
        &["no row is of the task 'north'", "'south'", "help: "],
    );
}

#[test]
fn evaluate_says_no_only_when_asked() {
    let folder = with_model();
    let evaluate = |limit: &str| {
        let arguments = [
            "evaluate",
            "model.safetensors",
            "test.csv",
            "--fail-above",
            limit,
        ];
        folder.foretask(&arguments).output().unwrap().status.code()
    };
    assert_eq!(evaluate("1"), Some(0));
    assert_eq!(evaluate("0"), Some(1));
    assert_eq!(evaluate("5"), Some(2));
}

#[test]
fn the_demo_tells_a_story_that_its_numbers_bear_out() {
    let folder = Folder::new();
    let said = folder.stdout(&["demo", "--plot", "demo.svg"]);
    for part in [
        "the target",
        "related",
        "opposed",
        "hardly related",
        "target alone",
        "classical multi-task",
        "foretask",
        "Taken at their word the sources ruin it",
        "turns it round",
        "fewer mistakes than",
    ] {
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "'{part}' is not in:\n{said}");
    }
    let figure = text(&folder.path("demo.svg"));
    for part in [
        "8 against 9, swapped",
        "classical multi-task",
        "foretold",
        "measured",
    ] {
        assert!(figure.contains(part), "{part}");
    }
    let report = folder.json(&["demo", "--json", "--html", "demo.html"]);
    let page = text(&folder.path("demo.html"));
    for part in [
        "8 against 9, swapped",
        "\"evaluation\"",
        "foretask demo --html demo.html",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let methods = report["methods"].as_array().unwrap();
    let names: Vec<&Value> = methods.iter().map(|method| &method["method"]).collect();
    assert_eq!(names, ["alone", "classical", "foretask"]);
    let [alone, classical, foretask] = [0, 1, 2].map(|method| number(&methods[method]["measured"]));
    // Swapped names ruin what takes them at their word, few labels are poor, and sharing pays visibly.
    assert!(classical > 3.0 * alone, "{classical} {alone}");
    assert!(foretask < 0.7 * alone, "{foretask} {alone}");
    assert!(number(&report["relatedness"]["8 against 9, swapped"]) < -0.8);
    // The forecast is near, and its intervals hold what they promise.
    let told = number(&methods[2]["forecast"]);
    assert!(
        (told - foretask).abs() < 0.3 * foretask,
        "{told} {foretask}"
    );
    let draws = number(&report["draws"]);
    assert!(number(&methods[2]["within_interval"]) >= 0.85 * draws);
    assert_forecast(&report["forecast"]);
}

#[test]
fn reports_go_to_a_file_if_asked() {
    let folder = with_model();
    for arguments in [
        &["forecast", "train.csv", "--target", "north"][..],
        &["evaluate", "model.safetensors", "test.csv"],
        &["inspect", "model.safetensors"],
    ] {
        let shown = folder.stdout(arguments);
        let silent = folder.stdout(&[arguments, &["-o", "report"]].concat());
        assert_eq!((silent.as_str(), text(&folder.path("report"))), ("", shown));
    }
}

#[test]
fn every_command_has_help_with_examples() {
    let folder = Folder::new();
    for command in [
        "demo",
        "forecast",
        "fit",
        "predict",
        "evaluate",
        "inspect",
        "export",
        "completions",
    ] {
        let help = folder.stdout(&[command, "--help"]);
        assert!(help.contains("Examples:"), "{help}");
        assert!(help.contains(&format!("  foretask {command}")), "{help}");
        assert!(folder.stdout(&["man", command]).contains(".TH"));
    }
    assert!(folder.stdout(&["--help"]).contains("Exit codes"));
    assert!(folder.stdout(&["--version"]).starts_with("foretask "));
    assert!(folder.stdout(&["man"]).contains("foretask"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(folder.stdout(&["completions", shell]).contains("evaluate"));
    }
}

/// Of very many sources a person sees those that say most; machines see all.
#[test]
fn very_many_sources_are_not_all_listed() {
    let folder = Folder::new();
    let mut rows = Rows::of("target", &["cat", "dog"], 8, 1);
    for source in 0..60 {
        let more = Rows::of(&format!("source{source}"), &["cat", "dog"], 2, 2 + source);
        rows.0.extend(more.0);
    }
    folder.write("train.csv", rows.csv());
    let arguments = [
        "forecast",
        "train.csv",
        "--target",
        "target",
        "--views",
        "linear",
    ];
    let text = folder.stdout(&[&arguments[..], &["--no-details"]].concat());
    let listed = text
        .lines()
        .filter(|line| line.starts_with("  source"))
        .count();
    assert_eq!(listed, 40, "{text}");
    assert!(
        text.contains("… and 20 more sources (--json has all)"),
        "{text}"
    );
    let report = folder.json(&[&arguments[..], &["--no-details", "--json"]].concat());
    assert_eq!(report["tasks"].as_array().unwrap().len(), 61);
    assert_eq!(report["relatedness"].as_object().unwrap().len(), 60);
}
