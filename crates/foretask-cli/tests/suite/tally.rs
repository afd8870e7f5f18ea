//! A target whose rows are at two sites: statistics without a row leave them, and errors are counted there.

use crate::common::*;

/// Rows of the target at two sites, and a source at one.
fn sites() -> Folder {
    let folder = Folder::new();
    let north = Rows::of("hearts", &["ill", "well"], 150, 1);
    let mut south = Rows::of("hearts", &["ill", "well"], 120, 2);
    south.0.extend(Rows::of("lungs", &["ill", "well"], 60, 3).0);
    folder.write("north.csv", north.csv());
    folder.write("south.csv", south.csv());
    for site in ["north", "south"] {
        let (table, output) = (format!("{site}.csv"), format!("{site}.stats"));
        let folds = ["--rows", "never", "--folds", "5", "-o"];
        let arguments = [
            &["gather", &table, "--target", "hearts"][..],
            &folds,
            &[&output],
        ]
        .concat();
        folder.stdout(&arguments);
    }
    folder.stdout(&["merge", "north.stats", "south.stats", "-o", "all.stats"]);
    folder
}

const TARGET: [&str; 2] = ["--target", "hearts"];

fn tally(folder: &Folder, site: &str, output: &str) -> String {
    let table = format!("{site}.csv");
    let arguments = [
        &["tally", &table, "--statistics", "all.stats"][..],
        &TARGET,
        &["-o", output],
    ];
    folder.stdout(&arguments.concat())
}

fn with<'f>(files: &[&'f str]) -> Vec<&'f str> {
    [&["forecast", "all.stats"][..], &TARGET, &["--tally"], files].concat()
}

fn forecast(folder: &Folder, files: &[&str], more: &[&str]) -> serde_json::Value {
    let arguments = [
        &["forecast"],
        files,
        &TARGET,
        more,
        &["--json", "--no-details"],
    ];
    folder.json(&arguments.concat())["forecast"].clone()
}

#[test]
fn errors_are_counted_where_the_rows_are() {
    let folder = sites();
    let bytes = std::fs::read(folder.path("all.stats")).unwrap();
    let described = String::from_utf8_lossy(&bytes).into_owned();
    assert!(described.contains("fold-scatter") && !described.contains("\"rows."));
    let kinds = |forecast: &serde_json::Value| -> Vec<String> {
        let notes = forecast["notes"].as_array().unwrap().iter();
        notes
            .map(|note| note["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    let told = forecast(&folder, &["all.stats"], &[]);
    assert_eq!(told["source"], "fold-moments");
    assert!(kinds(&told).contains(&"from-moments".to_owned()), "{told}");
    assert!(
        tally(&folder, "north", "north.tally").contains("Counted 300 rows of 'hearts' in 1 part")
    );
    assert!(tally(&folder, "south", "south.tally").contains("Counted 240 rows"));
    let both = ["--tally", "north.tally", "south.tally"];
    let counted = forecast(&folder, &["all.stats"], &both);
    assert_eq!(counted["source"], "leave-fold-out");
    assert!(
        !kinds(&counted).contains(&"from-moments".to_owned()),
        "{counted}"
    );
    // The same rows in one place, left out in the same folds.
    let linear = [
        "--views",
        "linear",
        "--theory",
        "leave-fold-out",
        "--folds",
        "5",
    ];
    let rows = forecast(&folder, &["north.csv", "south.csv"], &linear);
    let error = |of: &serde_json::Value| of["error"].as_f64().unwrap();
    assert!(
        (error(&counted) - error(&rows)).abs() < 0.01,
        "{counted} {rows}"
    );
    // In any order the same model.
    let fit = |files: &[&str], output: &str| {
        let arguments = [
            &["fit", "all.stats"][..],
            &TARGET,
            &["--tally"],
            files,
            &["-o", output],
        ];
        folder.stdout(&arguments.concat());
        std::fs::read(folder.path(output)).unwrap()
    };
    let one = fit(&["north.tally", "south.tally"], "one.safetensors");
    assert_eq!(one, fit(&["south.tally", "north.tally"], "two.safetensors"));
}

#[test]
fn what_was_not_counted_as_it_should_be_is_refused() {
    let folder = sites();
    tally(&folder, "north", "north.tally");
    folder.fails_with(
        &with(&["north.tally"]),
        &["the tally", "were counted", "each once"],
    );
    folder.fails_with(&with(&["north.tally", "north.tally"]), &["were counted"]);
    folder.fails_with(&with(&["north.csv"]), &["north.csv", "foretask tally"]);
    folder.fails_with(&with(&["none.tally"]), &["none.tally"]);
    // Statistics that hold rows need no tally.
    folder.stdout(&[
        "gather",
        "north.csv",
        "--target",
        "hearts",
        "-o",
        "rows.stats",
    ]);
    let arguments = [
        "tally",
        "north.csv",
        "--statistics",
        "rows.stats",
        "--target",
        "hearts",
        "-o",
        "x.tally",
    ];
    folder.fails_with(&arguments, &["tally", "without rows"]);
    // Folds of another number.
    let ten = [
        "gather",
        "north.csv",
        "--target",
        "hearts",
        "--rows",
        "never",
        "-o",
        "ten.stats",
    ];
    folder.stdout(&ten);
    folder.fails_with(
        &["merge", "south.stats", "ten.stats", "-o", "x.stats"],
        &[
            "ten.stats: has targets in 10 folds, and south.stats in 5",
            "--folds",
        ],
    );
    folder.fails_with(
        &["gather", "north.csv", "--folds", "1", "-o", "x.stats"],
        &["folds", "2 to 50"],
    );
    folder.fails_with(
        &[
            "fit",
            "ten.stats",
            "--target",
            "hearts",
            "--folds",
            "5",
            "-o",
            "x.safetensors",
        ],
        &["folds", "10 and 5"],
    );
}
