//! Whatever is wrong: code 2, a message that says what and where, and no file left behind.

use crate::common;

use std::collections::HashMap;

use common::{FEATURES, Folder, Rows, text, three_classes, two_tasks, with_model};

/// The two tasks with one line of the CSV replaced.
fn spoilt(line: usize, by: impl Fn(&str) -> String) -> String {
    let csv = two_tasks().csv();
    let lines = csv.lines().enumerate();
    lines
        .map(|(index, text)| if index == line { by(text) } else { text.to_owned() } + "\n")
        .collect()
}

/// Both commands that learn from a table refuse it.
fn refused(table: impl AsRef<[u8]>, options: &[&str], parts: &[&str]) {
    let folder = Folder::new();
    folder.write("bad.csv", table);
    folder.fails_with(&[&["forecast", "bad.csv"], options].concat(), parts);
    let fit = ["fit", "bad.csv", "-o", "model.safetensors"];
    folder.fails_with(&[&fit, options].concat(), parts);
}

const NORTH: [&str; 2] = ["--target", "north"];

#[test]
fn a_value_that_is_not_finite_is_named_with_file_row_and_column() {
    for value in ["inf", "-inf", "1e999"] {
        let csv = spoilt(3, |line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells[4] = value;
            cells.join(",")
        });
        refused(csv, &NORTH, &["bad.csv, row 3, column 'x2'"]);
    }
}

#[test]
fn text_among_numbers_is_refused() {
    let csv = spoilt(5, |line| line.replacen("0.", "zero.", 1));
    refused(
        csv,
        &NORTH,
        &["bad.csv, row 5, column 'x", "is not a number"],
    );
    let csv = spoilt(5, |line| line.rsplit_once(',').unwrap().0.to_owned() + ",");
    let options = [&NORTH[..], &["--missing", "refuse"]].concat();
    refused(csv, &options, &["'x4' has 1 missing value"]);
}

#[test]
fn ragged_rows_are_refused() {
    let csv = spoilt(7, |line| format!("{line},1"));
    refused(
        csv,
        &NORTH,
        &["bad.csv, row 7", "8 cells, the header has 7"],
    );
}

#[test]
fn tables_without_rows_are_refused() {
    refused(
        Rows::header(),
        &NORTH,
        &["bad.csv", "not a single data row"],
    );
    refused("", &NORTH, &["bad.csv"]);
}

#[test]
fn targets_that_cannot_be_decided_are_refused() {
    let csv = Rows::of("north", &["cat"], 9, 1)
        .and(Rows::of("south", &["cat", "dog"], 9, 2))
        .csv();
    refused(
        csv,
        &NORTH,
        &["'north' has one class only ('cat')", "help: "],
    );
    refused(
        two_tasks().csv(),
        &["--target", "west"],
        &["no task 'west'", "'north', 'south'"],
    );
    refused(
        two_tasks().csv(),
        &[],
        &["name the target", "'north', 'south'", "--target"],
    );
}

#[test]
fn a_task_of_one_row_is_refused() {
    let mut rows = two_tasks();
    rows.0
        .push(("west".into(), "cat".into(), vec![0.0; FEATURES]));
    refused(rows.csv(), &NORTH, &["task 'west' has 1 row"]);
}

#[test]
fn missing_columns_are_named() {
    let csv = two_tasks().csv();
    refused(
        csv.replace("label", "kind"),
        &NORTH,
        &["bad.csv", "--label", "'kind'"],
    );
    let options = [&NORTH[..], &["--label", "kind"]].concat();
    refused(&csv, &options, &["no label column 'kind'", "'label'"]);
    let options = [&NORTH[..], &["--task", "site"]].concat();
    refused(&csv, &options, &["no task column 'site'", "'task'"]);
    let options = [&NORTH[..], &["--features", "x0,x9"]].concat();
    refused(&csv, &options, &["no feature column 'x9'"]);
}

#[test]
fn files_with_other_features_are_refused() {
    let folder = Folder::new();
    folder.write("a.csv", two_tasks().csv());
    folder.write("b.csv", two_tasks().csv().replace("x3", "z"));
    folder.fails_with(
        &["fit", "a.csv", "b.csv", "--target", "north", "-o", "model"],
        &["b.csv", "missing 'x3'", "'z'"],
    );
}

#[test]
fn settings_out_of_range_are_refused() {
    let csv = two_tasks().csv();
    let with = |options: &[&str], parts: &[&str]| refused(&csv, &[&NORTH, options].concat(), parts);
    with(
        &["--lambda", "1"],
        &["--lambda is given without --gamma", "both", "help: "],
    );
    with(&["--gamma", "1"], &["--gamma is given without --lambda"]);
    with(&["--lambda", "-1", "--gamma", "1"], &["lambda", "-1"]);
    with(&["--lambda", "nan", "--gamma", "1"], &["lambda"]);
    with(&["--lambda", "1", "--gamma", "1,2,3"], &["gamma", "2", "3"]);
    let pooled = ["--labels", "pooled", "--lambda", "0", "--gamma", "1"];
    with(
        &pooled,
        &["lambda is 0", "pooled labels take gamma for zero"],
    );
    with(&["--prior", "cat=0.5"], &["prior", "'dog'"]);
    with(&["--prior", "cat=0.9,dog=0.9"], &["prior", "1.8"]);
    with(
        &["--prior", "cow=0.9,dog=0.1"],
        &["no class 'cow'", "'cat', 'dog'"],
    );
    with(&["--prior", "half"], &["--prior", "CLASS=NUMBER"]);
    with(&["--prior", "cat=0.3,dog=0.3"], &["prior", "0.6"]);
    with(&["--cost", "cat=-1"], &["cost", "cat=-1"]);
    with(&["--cost", "cat=nan"], &["cost", "cat=NaN"]);
    with(&["--cost", "cat=0,dog=0"], &["cost", "at least one"]);
    with(&["--cost", "cat"], &["--cost", "CLASS=NUMBER"]);
    with(&["--labels", "best"], &["--labels", "classical"]);
    with(&["--rule", "best"], &["--rule", "one-vs-one"]);
    with(&["--theory", "best"], &["--theory", "ledoit-wolf"]);
    with(
        &["--ties", "first"],
        &["--ties is given without --rule one-vs-one"],
    );
}

#[test]
fn alarms_that_cannot_be_held_are_refused() {
    let csv = two_tasks().csv();
    let with = |options: &[&str], parts: &[&str]| refused(&csv, &[&NORTH, options].concat(), parts);
    with(
        &["--null", "cat"],
        &["--null is given without --false-alarm", "help: "],
    );
    with(
        &["--false-alarm", "0.1"],
        &["--false-alarm is given without --null", "help: "],
    );
    with(&["--tail", "gaussian"], &["--tail is given without --null"]);
    with(
        &["--null", "cow", "--false-alarm", "0.1"],
        &["no class 'cow'", "'cat', 'dog'"],
    );
    for rate in ["0", "1", "-0.1", "1.5", "nan", "inf"] {
        with(
            &["--null", "cat", "--false-alarm", rate],
            &["false-alarm rate", "between 0 and 1"],
        );
    }
    with(
        &["--null", "cat", "--false-alarm", "5%"],
        &["--false-alarm", "5%"],
    );
    for rule in ["one-hot", "bayes", "one-vs-one"] {
        let options = ["--null", "cat", "--false-alarm", "0.1", "--rule", rule];
        with(&options, &["rule", rule, "auto"]);
    }
    let options = ["--null", "a", "--false-alarm", "0.1"];
    refused(
        three_classes().csv(),
        &[&NORTH[..], &options].concat(),
        &["'a', one of 3 classes", "two classes"],
    );
}

#[test]
fn covariances_that_the_data_do_not_have_are_refused() {
    // One sample of a class has no covariance.
    let mut rows = two_tasks();
    let mut dogs = 0;
    rows.0.retain(|(task, label, _)| {
        dogs += usize::from(task == "north" && label == "dog");
        task != "north" || label != "dog" || dogs <= 1
    });
    // The same sample again and again has none either.
    let mut constant = two_tasks();
    for (task, label, values) in &mut constant.0 {
        if task == "north" && label == "dog" {
            *values = vec![1.0; FEATURES];
        }
    }
    for theory in ["general", "ledoit-wolf", "sample"] {
        let options = [&NORTH[..], &["--theory", theory]].concat();
        refused(rows.csv(), &options, &["'dog'", "'north'"]);
        refused(constant.csv(), &options, &["'dog'", "'north'"]);
    }
    // Where there is no covariance at all, there is none to pool: class means and nothing else.
    for (_, label, values) in &mut constant.0 {
        *values = vec![if label == "dog" { 1.0 } else { 0.0 }; FEATURES];
    }
    let options = [&NORTH[..], &["--theory", "common"]].concat();
    refused(constant.csv(), &options, &["pool", "leave-one-out"]);
}

#[test]
fn files_that_are_not_there_are_refused() {
    let folder = with_model();
    folder.fails_with(&["forecast", "none.csv"], &["none.csv", "no such file"]);
    folder.fails_with(
        &["forecast", "model.safetensors"],
        &["model.safetensors", ".csv"],
    );
    folder.fails_with(
        &["predict", "none", "test.csv"],
        &["none", "cannot be read"],
    );
    folder.fails_with(&["inspect", "none"], &["none"]);
    folder.fails_with(&["predict", ".", "test.csv"], &["cannot be read"]);
}

#[test]
fn damaged_and_foreign_model_files_are_refused() {
    let folder = with_model();
    let model = std::fs::read(folder.path("model.safetensors")).unwrap();
    for length in [0, 7, 100, model.len() / 2, model.len() - 1] {
        folder.write("cut", &model[..length]);
        folder.fails_with(&["inspect", "cut"], &["cut: ", "help: a model is a file"]);
        folder.fails_with(&["predict", "cut", "test.csv", "-o", "out.csv"], &["cut: "]);
        folder.fails_with(
            &["evaluate", "cut", "test.csv", "--plot", "out.svg"],
            &["cut: "],
        );
    }
    folder.write("foreign", text(&folder.path("test.csv")));
    folder.fails_with(&["inspect", "foreign"], &["foreign: ", "safetensors"]);
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![1], &[0; 4]);
    let metadata = |key: &str| Some(HashMap::from([(key.to_owned(), "{}".to_owned())]));
    let other = [
        None,
        metadata("format"),
        metadata("foretask-model-1"),
        metadata("foretask-model-99"),
    ];
    for metadata in other {
        let tensors = [("weights", view.as_ref().unwrap())];
        folder.write("other", safetensors::serialize(tensors, metadata).unwrap());
        folder.fails_with(&["predict", "other", "test.csv"], &["other: "]);
    }
}

#[test]
fn rows_that_do_not_fit_the_model_are_refused() {
    let folder = with_model();
    let test = text(&folder.path("test.csv"));
    folder.write("renamed.csv", test.replace("x3", "z"));
    folder.write("unknown.csv", test.replacen("cat", "cow", 3));
    folder.write("infinite.csv", Rows::header() + "north,cat,1,2,inf,4,5\n");
    let predict = |file: &str, parts: &[&str]| {
        folder.fails_with(
            &["predict", "model.safetensors", file, "-o", "out.csv"],
            parts,
        );
    };
    predict("renamed.csv", &["renamed.csv", "missing: 'x3'"]);
    predict("infinite.csv", &["infinite.csv, row 1, column 'x2'"]);
    folder.fails_with(
        &[
            "evaluate",
            "model.safetensors",
            "unknown.csv",
            "--plot",
            "out.svg",
        ],
        &["3 of 100 rows", "'cow'", "'cat', 'dog'"],
    );
    let unlabelled = test.replace("label", "kind");
    folder.write("unlabelled.csv", unlabelled);
    folder.fails_with(
        &["evaluate", "model.safetensors", "unlabelled.csv"],
        &["--label"],
    );
    // A prediction needs no label.
    folder.stdout(&["predict", "model.safetensors", "unlabelled.csv"]);
}

#[test]
fn constant_and_duplicated_features_work() {
    let folder = Folder::new();
    let csv: String = two_tasks()
        .csv()
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let copied = line.rsplit_once(',').unwrap().1;
            match row {
                0 => format!("{line},constant,zero,copy\n"),
                _ => format!("{line},7.5,0,{copied}\n"),
            }
        })
        .collect();
    folder.write("train.csv", &csv);
    for labels in ["auto", "optimal", "classical", "alone", "pooled"] {
        let fit = [
            "fit",
            "train.csv",
            "--target",
            "north",
            "--labels",
            labels,
            "-o",
            "m",
        ];
        let told = "left out: 'constant', 'zero' (one value in all rows)\n";
        assert_eq!(folder.stderr(&fit), told);
        let predicted =
            folder.stdout(&["predict", "m", "train.csv", "--scores", "--probabilities"]);
        assert!(!predicted.contains("NaN"), "{labels}");
        folder.stderr(&[
            "forecast",
            "train.csv",
            "--target",
            "north",
            "--labels",
            labels,
        ]);
    }
    // Nothing but constants: nothing to learn from.
    let rows = Rows(
        two_tasks()
            .0
            .into_iter()
            .map(|(t, l, _)| (t, l, vec![1.0; FEATURES]))
            .collect(),
    );
    folder.write("constant.csv", rows.csv());
    folder.fails_with(
        &["forecast", "constant.csv", "--target", "north"],
        &["no column is left to learn from"],
    );
}

#[test]
fn classes_that_cannot_be_told_apart_work_with_every_theory() {
    let folder = Folder::new();
    // Less between the classes than noise explains; and a class that does not vary, but not everywhere.
    let mut rows = Rows::of("north", &["cat", "cat"], 6, 1);
    for (row, (_, label, _)) in rows.0.iter_mut().enumerate() {
        *label = ["cat", "dog"][row % 2].to_owned();
    }
    folder.write("alike.csv", rows.csv());
    for (row, (_, _, values)) in rows.0.iter_mut().enumerate() {
        if row % 2 == 1 {
            *values = vec![0.0; FEATURES];
        }
    }
    folder.write("constant.csv", rows.csv());
    for theory in ["isotropic", "spherical", "common", "general", "sample"] {
        for rule in ["auto", "one-vs-all", "bayes"] {
            let options = ["--theory", theory, "--rule", rule, "--json"];
            let report = folder.json(&[&["forecast", "alike.csv"], &options[..]].concat());
            let error = common::number(&report["forecast"]["error"]);
            assert!((0.0..=1.0).contains(&error), "{options:?}: {error}");
            if !["general", "sample"].contains(&theory) {
                folder.json(&[&["forecast", "constant.csv"], &options[..]].concat());
            }
        }
    }
    folder.stdout(&["forecast", "alike.csv", "--compare"]);
    folder.stdout(&["forecast", "constant.csv", "--compare"]);
}

#[test]
fn sources_with_one_class_or_foreign_classes_work() {
    let folder = Folder::new();
    let rows = two_tasks()
        .and(Rows::of("east", &["cat"], 10, 5))
        .and(Rows::of("west", &["cow", "hen", "pig"], 8, 6))
        .and(Rows::of("up", &["cat", "cow"], 8, 7));
    folder.write("train.csv", rows.csv());
    for labels in ["auto", "optimal", "classical", "alone", "pooled"] {
        let common = ["--target", "north", "--labels", labels];
        let text = folder.stdout(&[&["forecast", "train.csv"], &common[..]].concat());
        assert!(text.contains("cannot be compared"), "{text}");
        folder.stdout(&[&["fit", "train.csv", "-o", "m"], &common[..]].concat());
        folder.stdout(&["evaluate", "m", "train.csv"]);
        let report = folder.json(&[&["forecast", "train.csv", "--json"], &common[..]].concat());
        assert!(report["relatedness"]["east"].is_null());
    }
}
