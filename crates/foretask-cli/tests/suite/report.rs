//! The report: one file with the very numbers of `--json`, whole or not at all. What it does in a browser is tested in
//! `browser/`.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, two_tasks, with_model};

const REPORT: [&str; 6] = [
    "report",
    "train.csv",
    "--target",
    "north",
    "-o",
    "report.html",
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    folder
}

fn page(folder: &Folder, arguments: &[&str]) -> String {
    folder.stdout(arguments);
    fs::read_to_string(folder.path("report.html")).unwrap()
}

/// The data block of a page.
fn data(page: &str) -> Value {
    let block = page.split("id=\"data\">").nth(1).unwrap();
    serde_json::from_str(block.split("</script>").next().unwrap()).unwrap()
}

#[test]
fn its_data_are_what_forecast_prints() {
    let folder = folder();
    let mut data = data(&page(&folder, &REPORT));
    let more = data.as_object_mut().unwrap().remove("report").unwrap();
    let told = folder.json(&["forecast", "train.csv", "--target", "north", "--json"]);
    assert_eq!(data, told);
    let check = folder.json(&["check", "train.csv", "--json"]);
    assert_eq!(more["check"], check);
    assert_eq!(
        more["command"],
        "foretask report train.csv --target north -o report.html"
    );
    assert_eq!(
        more["ask"],
        "foretask forecast train.csv --target north --no-rehearsal"
    );
    assert_eq!(more["files"]["listed"][0]["name"], "train.csv");
    assert_eq!(
        more["files"]["listed"][0]["sha256"].as_str().unwrap().len(),
        64
    );
    assert_eq!(more["curve"][0]["added"], 0);
    assert_eq!(more["curve"][0]["error"], told["forecast"]["error"]);
}

#[test]
fn the_same_question_has_the_same_page() {
    let folder = folder();
    let first = page(&folder, &REPORT);
    let again = [&REPORT[..], &["--force"]].concat();
    let second = page(&folder, &again);
    // Only the command differs.
    assert_eq!(
        first.replace("report.html\"", "report.html --force\""),
        second
    );
}

#[test]
fn a_file_that_is_there_stays_unless_forced() {
    let folder = folder();
    folder.write("report.html", "mine");
    folder.fails_with(&REPORT, &["report.html: is there already", "--force"]);
    assert_eq!(
        fs::read_to_string(folder.path("report.html")).unwrap(),
        "mine"
    );
    page(&folder, &[&REPORT[..], &["--force"]].concat());
    assert_eq!(folder.names(), ["report.html", "train.csv"]);
}

#[test]
fn what_cannot_be_written_is_refused_before_any_work() {
    let folder = folder();
    let to = |path: &'static str| [&REPORT[..5], &[path]].concat();
    folder.fails_with(
        &to("none/report.html"),
        &["no folder 'none'", "help: create it first"],
    );
    folder.fails_with(&to("."), &["is a folder"]);
    let over = [&to("train.csv")[..], &["--force"]].concat();
    folder.fails_with(&over, &["the output would overwrite an input file"]);
    folder.write("test.csv", two_tasks().csv());
    let over = [&to("test.csv")[..], &["--test", "test.csv", "--force"]].concat();
    folder.fails_with(&over, &["the output would overwrite an input file"]);
    assert_eq!(folder.names(), ["test.csv", "train.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let folder = folder();
    folder.fails_with(
        &[&REPORT[..5], &["/dev/full"]].concat(),
        &["/dev/full: cannot be written"],
    );
}

#[test]
fn names_do_not_leave_the_data() {
    let folder = Folder::new();
    let hostile = "</script><script>alert(1)</script>";
    let rows: String = (0..24)
        .map(|i| {
            format!(
                "{},{hostile}{},{}\n",
                ["a<b", "north"][i % 2],
                i / 2 % 2,
                (i * 7) % 11
            )
        })
        .collect();
    folder.write("train.csv", format!("task,label,x\n{rows}"));
    let page = page(&folder, &REPORT);
    assert!(!page.contains(hostile));
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(data(&page)["classes"][0], format!("{hostile}0"));
}

#[test]
fn ten_tasks_are_small() {
    let folder = Folder::new();
    let rows: String = (0..600)
        .map(|i| {
            format!(
                "task {},{},{},{}\n",
                i % 10,
                i / 10 % 2,
                (i * 37) % 101,
                (i * 53 + i / 10 % 2 * 40) % 97
            )
        })
        .collect();
    folder.write("train.csv", format!("task,label,x,y\n{rows}"));
    let arguments = [
        "report",
        "train.csv",
        "--target",
        "task 3",
        "-o",
        "report.html",
    ];
    let page = page(&folder, &arguments);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

#[test]
fn what_cannot_be_told_is_null() {
    let folder = Folder::new();
    folder.write("train.csv", "label,x,y\na,1,2\nb,3,5\n");
    let data = data(&page(
        &folder,
        &["report", "train.csv", "-o", "report.html"],
    ));
    assert_eq!(data["forecast"]["told"], false);
    for key in ["recount", "curve", "alarms", "evaluation"] {
        assert_eq!(data["report"][key], Value::Null, "{key}");
    }
}

#[test]
fn linear_models_have_weights() {
    let folder = folder();
    let linear = data(&page(
        &folder,
        &[&REPORT[..], &["--views", "linear"]].concat(),
    ));
    let weights = &linear["report"]["weights"];
    assert_eq!(weights["count"], linear["features"]);
    let sizes: Vec<f64> = (weights["largest"].as_array().unwrap().iter())
        .map(|one| one["effect"][0].as_f64().unwrap().abs())
        .collect();
    assert!(sizes.windows(2).all(|pair| pair[0] >= pair[1]));
    let other = data(&page(
        &folder,
        &[&REPORT[..], &["--views", "rbf", "--force"]].concat(),
    ));
    assert_eq!(other["report"]["weights"], Value::Null);
}

#[test]
fn a_test_is_laid_beside_the_forecast() {
    let folder = with_model();
    let data = data(&page(
        &folder,
        &[&REPORT[..], &["--test", "test.csv"]].concat(),
    ));
    let told = folder.json(&["evaluate", "model.safetensors", "test.csv", "--json"]);
    assert_eq!(data["report"]["evaluation"], told);
}

/// Rows of tasks, the last of which is the target, two classes apart along one of three features or another.
fn several(tasks: usize) -> String {
    let row = |i: usize| {
        let (task, class) = (i % tasks, i / tasks % 2);
        let feature =
            |f: usize| (i * (37 + 8 * f)) % 101 + 30 * usize::from(class == 1 && task % 3 == f);
        format!(
            "t{task},c{class},{},{},{}\n",
            feature(0),
            feature(1),
            feature(2)
        )
    };
    let rows: String = (0..24 * tasks).map(row).collect();
    format!("task,label,x,y,z\n{rows}")
}

/// All keys of an object but those that are names.
fn keys(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let own = map
                .keys()
                .filter(|key| !key.starts_with(['t', 'c']) || key.len() > 2);
            into.extend(own.cloned());
            map.values().for_each(|value| keys(value, into));
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, into)),
        _ => {}
    }
}

#[test]
fn every_combination_of_few_sources_is_told_as_forecast_tells_it() {
    let folder = Folder::new();
    let table = several(4);
    folder.write("train.csv", &table);
    let arguments = ["report", "train.csv", "--target", "t3", "-o", "report.html"];
    let data = data(&page(&folder, &arguments));
    let combinations = data["report"]["combinations"].as_array().unwrap();
    let without: Vec<String> = combinations
        .iter()
        .map(|one| one["without"].to_string())
        .collect();
    assert_eq!(without, ["[0,1]", "[0,2]", "[1,2]"]);
    for one in combinations {
        let gone: Vec<String> = (one["without"].as_array().unwrap().iter())
            .map(|task| format!("t{task},"))
            .collect();
        let kept: String = (table.lines())
            .filter(|line| !gone.iter().any(|task| line.starts_with(task)))
            .map(|line| format!("{line}\n"))
            .collect();
        folder.write("kept.csv", kept);
        let told = folder.json(&[
            "forecast",
            "kept.csv",
            "--target",
            "t3",
            "--no-rehearsal",
            "--no-details",
            "--json",
        ]);
        let near = |a: &Value, b: &Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-9;
        assert!(
            near(&one["error_without"], &told["forecast"]["error"]),
            "{one}"
        );
        for end in 0..2 {
            assert!(
                near(&one["interval"][end], &told["forecast"]["interval"][end]),
                "{one}"
            );
        }
    }
    let mut written = Vec::new();
    keys(&data["report"], &mut written);
    let text = include_str!("../../../../docs/json.md");
    let spans = text.split('`').skip(1).step_by(2);
    let known: Vec<&str> = spans
        .flat_map(|span| span.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .collect();
    for key in written {
        assert!(known.contains(&key.as_str()), "{key}");
    }
}

#[test]
fn sources_are_on_a_map_where_there_are_two() {
    let folder = Folder::new();
    folder.write("train.csv", several(8));
    let arguments = ["report", "train.csv", "--target", "t7", "-o", "report.html"];
    let told = data(&page(&folder, &arguments));
    let map = &told["report"]["map"];
    let places = map["places"].as_array().unwrap();
    assert_eq!(places.len(), 7);
    for place in places {
        assert_eq!(
            place["x"],
            told["relatedness"][place["task"].as_str().unwrap()]
        );
    }
    // Beyond four sources, the ones worth least together: two to all but one.
    let counts: Vec<usize> = (told["report"]["combinations"].as_array().unwrap().iter())
        .map(|one| one["without"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [2, 3, 4, 5, 6]);
    folder.write("train.csv", several(2));
    let arguments = [
        "report",
        "train.csv",
        "--target",
        "t1",
        "--force",
        "-o",
        "report.html",
    ];
    let told = data(&page(&folder, &arguments));
    assert_eq!(told["report"]["map"], Value::Null);
    assert_eq!(told["report"]["combinations"], Value::Array(Vec::new()));
}
