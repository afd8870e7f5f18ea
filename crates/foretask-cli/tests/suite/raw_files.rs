//! Files as a new user has them: from the raw file to a forecast, a model, predictions and a measured error, without
//! an editor in between.

use std::fmt::Write;
use std::io::Write as _;

use crate::common::{Folder, number, text};

/// Numbers that look random, from -1 to 1.
fn noise(seed: usize) -> f64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 29)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Penguins: millimetres and grams, text, gaps, sexes as labels, species as tasks.
fn penguins(rows: usize, seed: usize) -> String {
    let mut csv =
        "species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\n"
            .to_owned();
    for row in 0..rows {
        let n = |k: usize| noise(seed + 10 * row + k);
        let species = row % 3;
        let male = row / 3 % 2 == 0;
        let up = if male { 1.0 } else { -1.0 };
        let island = ["Torgersen", "Biscoe", "Dream"][(row * 7 + species) % 3];
        let gap = row % 29 == 5;
        let cell = |value: f64| match gap {
            true => "NA".to_owned(),
            false => format!("{value:.1}"),
        };
        writeln!(
            csv,
            "{},{island},{},{},{},{},{},{}",
            ["Adelie", "Chinstrap", "Gentoo"][species],
            cell(39.0 + 6.0 * species as f64 + 1.5 * up + 2.0 * n(0)),
            cell(18.0 - species as f64 + 0.7 * up + 0.9 * n(1)),
            cell(190.0 + 13.0 * species as f64 + 3.0 * up + 8.0 * n(2)),
            cell(3700.0 + 600.0 * species as f64 + 330.0 * up + 400.0 * n(3)),
            if row % 37 == 9 {
                "NA"
            } else if male {
                "male"
            } else {
                "female"
            },
            2007 + row % 3,
        )
        .unwrap();
    }
    csv
}

/// Weather: dates, wind directions, booleans, gaps; tomorrow's rain in two places.
fn weather(rows: usize, seed: usize) -> String {
    let mut csv = "Date,Location,MinTemp,Humidity,WindDir,RainToday,RainTomorrow\n".to_owned();
    for row in 0..rows {
        let n = |k: usize| noise(seed + 10 * row + k);
        let wet = n(0) > 0.2;
        let up = if wet { 1.0 } else { 0.0 };
        let gap = if row % 13 == 3 { "" } else { "x" };
        let humidity = match gap {
            "" => String::new(),
            _ => format!("{:.0}", 55.0 + 22.0 * up + 15.0 * n(1)),
        };
        writeln!(
            csv,
            "2016-{:02}-{:02},{},{:.1},{humidity},{},{},{}",
            row % 12 + 1,
            row % 28 + 1,
            ["Perth", "Sydney"][row % 2],
            12.0 + 2.0 * up + 4.0 * n(2),
            ["N", "S", "E", "W"][(row * 5 + usize::from(wet)) % 4],
            if n(3) + 0.7 * up > 0.3 { "Yes" } else { "No" },
            if wet { "Yes" } else { "No" },
        )
        .unwrap();
    }
    csv
}

/// Flights: text of many kinds, identifiers, one class in ten.
fn flights(rows: usize, seed: usize) -> String {
    let mut csv = "flight_id,carrier,tailnum,origin,dep_hour,distance,late\n".to_owned();
    for row in 0..rows {
        let n = |k: usize| noise(seed + 10 * row + k);
        let late = row % 10 == 4;
        let up = if late { 1.0 } else { 0.0 };
        writeln!(
            csv,
            "{},{},N{}XY,{},{:.2},{:.0},{late}",
            90_000 + seed + 17 * row,
            ["AA", "UA", "DL"][row % 3],
            100 + row,
            ["JFK", "LGA", "EWR"][(row * 11 + usize::from(late)) % 3],
            12.0 + 5.0 * up + 4.0 * n(0),
            900.0 + 500.0 * n(1),
        )
        .unwrap();
    }
    csv
}

/// Lungs by hospital: smoking as text, codes, classes as numbers.
fn lung(rows: usize, seed: usize) -> String {
    let mut csv = "inst,age,sex,ph.ecog,meal.cal,wt.loss,status\n".to_owned();
    for row in 0..rows {
        let n = |k: usize| noise(seed + 10 * row + k);
        let dead = n(0) > 0.0;
        let up = if dead { 1.0 } else { 0.0 };
        let calories = match row % 5 {
            0 => "NA".to_owned(),
            _ => format!("{:.0}", 1000.0 - 200.0 * up + 300.0 * n(1)),
        };
        writeln!(
            csv,
            "H{},{:.0},{},{:.0},{calories},{:.0},{}",
            row % 4,
            60.0 + 6.0 * up + 9.0 * n(2),
            row % 2 + 1,
            1.0 + up + n(3),
            8.0 + 8.0 * up + 9.0 * n(4),
            if dead { 2 } else { 1 },
        )
        .unwrap();
    }
    csv
}

/// A data frame with its index, as pandas writes it.
fn dump(rows: usize, seed: usize) -> String {
    let mut csv = ",x1,x2,flag,domain,label\n".to_owned();
    for row in 0..rows {
        let n = |k: usize| noise(seed + 10 * row + k);
        // Sorted by class: the index would give the label away.
        let up = if row < rows / 2 { 1.0 } else { -1.0 };
        writeln!(
            csv,
            "{row},{:.6},{:.6},{},{},{}",
            up + 1.2 * n(0),
            0.5 * up + 1.2 * n(1),
            if n(2) > 0.0 { "True" } else { "False" },
            ["a", "b"][row % 2],
            if up > 0.0 { "pos" } else { "neg" },
        )
        .unwrap();
    }
    csv
}

/// A table from a spreadsheet in Europe.
fn spreadsheet(rows: usize, seed: usize) -> String {
    let table = dump(rows, seed);
    let mut lines = table.lines();
    let mut csv = lines
        .next()
        .unwrap()
        .trim_start_matches(',')
        .replace(',', ";")
        + "\r\n";
    for line in lines {
        let cells: Vec<String> = line
            .split(',')
            .skip(1)
            .map(|cell| cell.replace('.', ","))
            .collect();
        csv += &(cells.join(";") + "\r\n");
    }
    csv
}

fn gzip(content: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Raw file, options, and the share of errors that is too many.
type Case = (&'static str, Vec<u8>, Vec<u8>, Vec<&'static str>, f64);

fn cases() -> Vec<Case> {
    let bytes = |text: String| text.into_bytes();
    vec![
        (
            "penguins.csv",
            bytes(penguins(180, 1)),
            bytes(penguins(90, 9000)),
            vec![
                "--label",
                "sex",
                "--task",
                "species",
                "--target",
                "Chinstrap",
            ],
            0.25,
        ),
        (
            "lung.csv",
            bytes(lung(160, 2)),
            bytes(lung(120, 9100)),
            vec!["--label", "status", "--task", "inst", "--target", "H2"],
            0.35,
        ),
        (
            "weather.csv",
            bytes(weather(200, 3)),
            bytes(weather(200, 9200)),
            vec![
                "--label",
                "RainTomorrow",
                "--task",
                "Location",
                "--target",
                "Perth",
            ],
            0.30,
        ),
        (
            "flights.csv",
            bytes(flights(240, 4)),
            bytes(flights(240, 9300)),
            vec!["--label", "late", "--task", "carrier", "--target", "UA"],
            0.15,
        ),
        (
            "dump.csv",
            bytes(dump(120, 5)),
            bytes(dump(120, 9400)),
            vec!["--target", "b"],
            0.30,
        ),
        (
            "spreadsheet.csv",
            bytes(spreadsheet(120, 5)),
            bytes(spreadsheet(120, 9400)),
            vec!["--target", "b"],
            0.30,
        ),
        (
            "packed.csv.gz",
            gzip(&dump(120, 5)),
            gzip(&dump(120, 9400)),
            vec!["--target", "b"],
            0.30,
        ),
    ]
}

#[test]
fn raw_files_go_all_the_way() {
    for (name, train, test, options, bound) in cases() {
        let folder = Folder::new();
        folder.write(name, train);
        let new = format!("new-{name}");
        folder.write(&new, test);
        // A look needs no option where names are usual, and no target ever.
        let looked: Vec<&str> = options
            .iter()
            .copied()
            .filter(|word| *word != options[options.len() - 1])
            .collect();
        folder.stdout(&[&["check", name], &looked[..looked.len() - 1]].concat());
        folder.stderr(&[&["forecast", name], &options[..], &["--no-details"]].concat());
        folder.stderr(&[&["fit", name], &options[..], &["-o", "m"]].concat());
        // The model remembers label, task and target.
        let output = folder
            .foretask(&["evaluate", "m", &new, "--json"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {said}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let error = number(&report["measured"]["error"]);
        assert!(error < bound, "{name}: {error}");
        folder.stderr(&["predict", "m", &new, "-o", "out.csv"]);
        assert!(
            text(&folder.path("out.csv")).starts_with("row,prediction\n1,"),
            "{name}"
        );
    }
}

#[test]
fn features_in_different_units_do_as_well_as_standardised_ones() {
    let folder = Folder::new();
    let raw = penguins(180, 1);
    folder.write("raw.csv", &raw);
    // The same with every number in units of its spread.
    let columns: Vec<Vec<&str>> = raw.lines().map(|line| line.split(',').collect()).collect();
    let mut standard = columns[0].join(",") + "\n";
    let spread: Vec<(f64, f64)> = (0..8)
        .map(|column| {
            let values: Vec<f64> = columns[1..]
                .iter()
                .filter_map(|row| row[column].parse().ok())
                .collect();
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            let square = values
                .iter()
                .map(|value| (value - mean).powi(2))
                .sum::<f64>();
            (mean, (square / values.len().max(1) as f64).sqrt())
        })
        .collect();
    for row in &columns[1..] {
        let cell = |(column, cell): (usize, &&str)| match cell.parse::<f64>() {
            Ok(value) => ((value - spread[column].0) / spread[column].1).to_string(),
            Err(_) => (*cell).to_owned(),
        };
        standard += &(row
            .iter()
            .enumerate()
            .map(cell)
            .collect::<Vec<_>>()
            .join(",")
            + "\n");
    }
    folder.write("standard.csv", standard);
    let error = |file: &str| {
        let options = [
            "--label",
            "sex",
            "--task",
            "species",
            "--target",
            "Chinstrap",
        ];
        let arguments = [
            &["forecast", file],
            &options[..],
            &["--no-details", "--json"],
        ]
        .concat();
        let output = folder.foretask(&arguments).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        number(&report["forecast"]["error"])
    };
    let (raw, standard) = (error("raw.csv"), error("standard.csv"));
    assert!((raw - standard).abs() < 0.01, "{raw} and {standard}");
}

#[test]
fn a_look_guesses_no_label_where_there_are_classes_without_a_column() {
    let folder = Folder::new();
    folder.write("rows.svm", "a 1:1 2:3\nb 1:2 2:1\na 1:1 2:2\nb 1:2 2:3\n");
    let report = folder.json(&["check", "rows.svm", "--json"]);
    assert_eq!(report["command"], "foretask forecast rows.svm");
}

#[test]
fn a_look_names_what_is_wrong_and_the_command_that_goes_on() {
    let folder = Folder::new();
    folder.write("penguins.csv", penguins(90, 1));
    let text = folder.stdout(&["check", "penguins.csv", "--task", "species"]);
    for part in [
        "90 rows",
        "which column holds the classes?",
        "'sex'",
        "island",
        "3 features: Biscoe, Dream, Torgersen",
        "one more where it is missing",
    ] {
        assert!(text.contains(part), "'{part}' is not in\n{text}");
    }
    // Of columns of few kinds one that is called like a class, or whole text of the fewest kinds, not the last one.
    let last = |text: &str| text.lines().last().unwrap().trim().to_owned();
    assert!(text.contains("it may be 'sex',"), "{text}");
    let next = "foretask forecast penguins.csv --label sex --task species";
    assert_eq!(last(&text), next);
    let text = folder.stdout(&["check", "penguins.csv"]);
    assert!(text.contains("it may be 'species',"), "{text}");
    assert_eq!(
        last(&text),
        "foretask forecast penguins.csv --label species"
    );
    let options = ["--label", "sex", "--task", "species"];
    let text = folder.stdout(&[&["check", "penguins.csv"], &options[..]].concat());
    assert!(
        text.contains("rows without a label will be left out"),
        "{text}"
    );
    let command = text.lines().last().unwrap().trim();
    assert!(
        command.starts_with("foretask forecast penguins.csv --label sex --task species --target ")
    );
    // It can be pasted.
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    folder.stderr(&[&words[..], &["--no-details"]].concat());

    folder.write("flights.csv", flights(60, 1));
    let report = folder.json(&["check", "flights.csv", "--label", "late", "--json"]);
    let becomes = |name: &str| {
        let columns = report["columns"].as_array().unwrap();
        let column = columns
            .iter()
            .find(|column| column["name"] == name)
            .unwrap();
        column["becomes"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        becomes("tailnum"),
        "left out: different in every row, as an identifier"
    );
    assert_eq!(
        becomes("flight_id"),
        "left out: different in every row, as an identifier"
    );
    assert_eq!(becomes("dep_hour"), "a feature");
    assert_eq!(report["tasks"]["flights"]["true"], 6);
}

#[test]
fn predictions_carry_what_the_user_keeps() {
    let folder = Folder::new();
    folder.write("train.csv", flights(90, 1));
    folder.stderr(&["fit", "train.csv", "--label", "late", "-o", "m"]);
    let new =
        "origin,dep_hour,distance,carrier,flight_id\nJFK,17,900,AA,\"x, 1\"\nOSL,,901,ZZ,=2\n";
    folder.write("new.csv", new);
    let arguments = ["predict", "m", "new.csv", "--keep", "flight_id,carrier"];
    let output = folder.foretask(&arguments).output().unwrap();
    let csv = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "flight_id,carrier,prediction");
    assert!(lines[1].starts_with("\"x, 1\",AA,"), "{csv}");
    assert!(lines[2].starts_with("=2,ZZ,"), "{csv}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "2 rows, 1 with a missing value, filled in, 1 with a text in 'carrier' that training never saw, \
         1 with a text in 'origin' that training never saw\n"
    );
    let output = folder
        .foretask(&[
            "predict",
            "m",
            "new.csv",
            "--append",
            "--json",
            "--probabilities",
        ])
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["origin"], "JFK");
    let sum = number(&first["probability_true"]) + number(&first["probability_false"]);
    assert!((sum - 1.0).abs() < 1e-12);
    folder.fails_with(
        &["predict", "m", "new.csv", "--keep", "none"],
        &["new.csv", "no kept column 'none'"],
    );
    folder.write("wrong.csv", new.replace("distance", "distanse"));
    folder.fails_with(
        &["predict", "m", "wrong.csv"],
        &["missing: 'distance'", "did you mean 'distanse'"],
    );
    folder.write("text.csv", new.replace(",900,", ",far,"));
    folder.fails_with(
        &["predict", "m", "text.csv"],
        &["text.csv, row 1, column 'distance': 'far' is not a number"],
    );
}

#[test]
fn gaps_are_filled_dropped_or_refused() {
    let folder = Folder::new();
    folder.write("weather.csv", weather(120, 3));
    let fit = |missing: &str| {
        let options = [
            "--label",
            "RainTomorrow",
            "--task",
            "Location",
            "--target",
            "Perth",
        ];
        let how = ["--missing", missing, "-o", "m"];
        folder.stderr(&[&["fit", "weather.csv"], &options[..], &how[..]].concat())
    };
    assert!(
        fit("impute").contains("9 rows with a missing value, filled with the median of the task")
    );
    assert!(fit("drop").contains("9 rows with a missing value left out"));
    assert!(fit("impute").contains("left out: 'Date' (dates)"));
    folder.fails_with(
        &[
            "forecast",
            "weather.csv",
            "--label",
            "RainTomorrow",
            "--missing",
            "refuse",
        ],
        &["'Humidity' has 9 missing values"],
    );
}

/// Zeros of a wide svmlight file are not written out unless many are given, and mean the same.
#[test]
fn zeros_of_a_wide_svmlight_file_need_not_be_written_out() {
    let folder = Folder::new();
    let lines = |seed: u64, zeros: usize| {
        let mut noise = crate::common::Noise(seed);
        let mut text = String::new();
        for row in 0..120 {
            let side = if row % 2 == 0 { 1.0 } else { -1.0 };
            text += if row % 2 == 0 { "ham" } else { "spam" };
            for word in 0..20 {
                if noise.next() > 0.3 {
                    text += &format!(" {}:{}", word + 1, 0.2 * side + noise.next());
                }
            }
            (0..zeros).for_each(|zero| text += &format!(" {}:0", zero + 21));
            text += " 40000:0\n";
        }
        text
    };
    let predictions = |name: &str, zeros: usize| -> Vec<f64> {
        let names = ["mail", "news", "new"].map(|file| format!("{name}-{file}.svm"));
        for (seed, file) in (1..).zip(&names) {
            folder.write(file, lines(seed, zeros));
        }
        let model = format!("{name}.safetensors");
        let [mail, news, new] = names.each_ref().map(String::as_str);
        let target = format!("{name}-mail");
        let fit = ["fit", mail, news, "--target", &target, "-o", &model];
        folder.stdout(&[&fit[..], &["--views", "linear", "--no-rehearsal"]].concat());
        let text = folder.stdout(&["predict", &model, new, "--probabilities"]);
        let cells = text
            .lines()
            .skip(1)
            .flat_map(|line| line.split(',').skip(2));
        cells.map(|cell| cell.parse().unwrap()).collect()
    };
    let (sparse, dense) = (predictions("sparse", 0), predictions("dense", 10_000));
    assert_eq!(sparse.len(), 240);
    for (a, b) in sparse.iter().zip(&dense) {
        assert!((a - b).abs() < 1e-8, "{a} and {b}");
    }
    folder.write("far.svm", "ham 1:1 4000000000:1\nspam 1:2\n");
    folder.failure(&["fit", "far.svm", "--target", "far", "-o", "x.safetensors"]);
}

/// Indices that a file does not write are zero, in whatever order files come.
#[test]
fn svmlight_files_may_have_other_indices() {
    let folder = Folder::new();
    let lines = |last: usize| -> String {
        let line = |row: usize| format!("{} 1:{} {last}:{}\n", row % 2, row % 3, row % 5);
        (0..24).map(line).collect()
    };
    folder.write("wide.svm", lines(4));
    folder.write("narrow.svm", lines(3));
    let looked = |files: [&str; 2]| folder.json(&["check", files[0], files[1], "--json"]);
    let (first, second) = (
        looked(["wide.svm", "narrow.svm"]),
        looked(["narrow.svm", "wide.svm"]),
    );
    assert_eq!(first["features"].as_array().map(Vec::len), Some(4));
    assert_eq!(first["columns"], second["columns"]);
    // What can be read once only does not decide what the columns are.
    let piped = format!(
        "cat wide.svm | '{}' check narrow.svm - --format svmlight",
        env!("CARGO_BIN_EXE_foretask")
    );
    let output = std::process::Command::new("sh")
        .current_dir(folder.path(""))
        .args(["-c", &piped])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("index 4 is beyond the last one of narrow.svm"),
        "{message}"
    );
}
