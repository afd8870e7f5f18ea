//! Predictions are those of the library, whatever the format, the order and the number of threads.

use crate::common;

use std::io::{Cursor, Write};

use common::{FEATURES, Folder, Rows, text, three_classes, two_tasks, with_model};
use foretask::{Labels, Settings, Study, Tasks};
use npyz::WriterBuilder;

/// The columns of a CSV text: header and rows.
fn parse(csv: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let records = reader.records().map(|record| {
        let record = record.unwrap();
        record.iter().map(str::to_owned).collect()
    });
    (header, records.collect())
}

#[test]
fn predictions_scores_and_probabilities_are_the_librarys() {
    for (rows, classes) in [
        (two_tasks(), &["cat", "dog"][..]),
        (three_classes(), &["a", "b", "c"]),
    ] {
        let folder = Folder::new();
        folder.write("train.csv", rows.csv());
        let new = Rows::of("north", classes, 20, 5);
        folder.write("new.csv", new.csv());
        folder.stdout(&["fit", "train.csv", "--target", "north", "-o", "m"]);
        let csv = folder.stdout(&["predict", "m", "new.csv", "--scores", "--probabilities"]);
        let (header, records) = parse(&csv);

        let values = rows.values();
        let table = foretask::Rows::row_major(&values, FEATURES).unwrap();
        let tasks = Tasks::new(table, &rows.tasks(), &rows.labels()).unwrap();
        let settings = Settings {
            target: Some("north".into()),
            ..Settings::default()
        };
        let study = Study::new(&tasks, &settings).unwrap();
        let model = study.model().unwrap();
        let values = new.values();
        let table = foretask::Rows::row_major(&values, FEATURES).unwrap();
        let scores = model.scores(table).unwrap();
        let probabilities = model.calibrate(&scores);
        let decisions = model.decide(&scores);

        let named = |prefix: &str| {
            classes
                .iter()
                .map(|class| format!("{prefix}_{class}"))
                .collect()
        };
        let score_columns: Vec<String> = match classes {
            [_, _] => vec!["score".into()],
            _ => named("score"),
        };
        let probability_columns: Vec<String> = named("probability");
        let expected = [
            vec!["row".to_owned(), "prediction".to_owned()],
            score_columns,
            probability_columns,
        ]
        .concat();
        assert_eq!(header, expected);
        assert_eq!(records.len(), new.0.len());
        for (row, record) in records.iter().enumerate() {
            assert_eq!(record[0], (row + 1).to_string());
            assert_eq!(record[1], model.classes()[decisions[row]]);
            let numbers: Vec<f64> = record[2..]
                .iter()
                .map(|cell| cell.parse().unwrap())
                .collect();
            let expected: Vec<f64> = [&scores, &probabilities]
                .into_iter()
                .flat_map(|matrix| (0..matrix.ncols()).map(move |column| matrix[(row, column)]))
                .collect();
            assert_eq!(numbers, expected);
        }
    }
}

#[test]
fn classical_scores_are_positive_for_the_first_class() {
    let folder = Folder::new();
    let rows = two_tasks();
    folder.write("train.csv", rows.csv());
    folder.stdout(&[
        "fit",
        "train.csv",
        "--target",
        "north",
        "--labels",
        "classical",
        "--lambda",
        "10",
        "--gamma",
        "1",
        "-o",
        "m",
    ]);
    let new = Rows::of("north", &["cat", "dog"], 50, 6);
    folder.write("new.csv", new.csv());
    let (_, records) = parse(&folder.stdout(&["predict", "m", "new.csv", "--scores"]));
    let right = records.iter().zip(new.labels()).filter(|(record, label)| {
        let score: f64 = record[2].parse().unwrap();
        (score > 0.0) == (*label == "cat")
    });
    assert!(right.count() > 85);

    // The same numbers as the library with the same settings.
    let values = rows.values();
    let table = foretask::Rows::row_major(&values, FEATURES).unwrap();
    let tasks = Tasks::new(table, &rows.tasks(), &rows.labels()).unwrap();
    let settings = Settings {
        target: Some("north".into()),
        coupling: Some((10.0, vec![1.0])),
        labels: Labels::Classical,
        ..Settings::default()
    };
    let model = Study::new(&tasks, &settings).unwrap().model().unwrap();
    let values = new.values();
    let scores = model
        .scores(foretask::Rows::row_major(&values, FEATURES).unwrap())
        .unwrap();
    let shown: f64 = records[0][2].parse().unwrap();
    assert_eq!(shown, scores[(0, 0)]);
}

#[test]
fn plain_predictions_are_numbered_in_the_order_of_the_rows() {
    let folder = with_model();
    let csv = folder.stdout(&["predict", "model.safetensors", "test.csv"]);
    assert_eq!(csv.lines().next(), Some("row,prediction"));
    assert_eq!(csv.lines().count(), 101);
    folder.stdout(&["predict", "model.safetensors", "test.csv", "-o", "out.csv"]);
    assert_eq!(text(&folder.path("out.csv")), csv);
    // Two files are one table after the other.
    let both = folder.stdout(&["predict", "model.safetensors", "test.csv", "test.csv"]);
    assert_eq!(both.lines().count(), 201);
}

#[test]
fn columns_are_found_by_name_and_standard_input_is_read() {
    let folder = with_model();
    let csv = text(&folder.path("test.csv"));
    let shuffled: String = csv
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.reverse();
            cells.push(if row == 0 { "remark" } else { "text" });
            cells.join(",") + "\n"
        })
        .collect();
    let expected = folder.stdout(&["predict", "model.safetensors", "test.csv"]);
    let output = folder
        .foretask(&["predict", "model.safetensors", "-"])
        .write_stdin(shuffled)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);

    let shown = folder.stdout(&["forecast", "train.csv", "--target", "north", "--json"]);
    let piped = folder
        .foretask(&["forecast", "-", "--target", "north", "--json"])
        .write_stdin(text(&folder.path("train.csv")))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), shown);
}

/// An `.npz` archive with the arrays X, y and task.
fn npz(rows: &Rows) -> Vec<u8> {
    let shape = [rows.0.len() as u64, FEATURES as u64];
    let mut values = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().shape(&shape);
    let mut writer = options.writer(&mut values).begin_nd().unwrap();
    writer.extend(rows.values()).unwrap();
    writer.finish().unwrap();
    let names = |names: Vec<&str>| {
        let mut bytes = Vec::new();
        let dtype = npyz::DType::Plain("<U8".parse().unwrap());
        let options = npyz::WriteOptions::<str>::new()
            .dtype(dtype)
            .shape(&shape[..1]);
        let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
        for name in names {
            writer.push(name).unwrap();
        }
        writer.finish().unwrap();
        bytes
    };
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let arrays = [
        ("X", values),
        ("y", names(rows.labels())),
        ("task", names(rows.tasks())),
    ];
    for (name, bytes) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(&bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[cfg(feature = "parquet")]
fn parquet(rows: &Rows) -> Vec<u8> {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    let feature = |feature: usize| -> ArrayRef {
        let values = rows.0.iter().map(|(_, _, values)| values[feature]);
        Arc::new(values.collect::<Float64Array>())
    };
    let mut columns: Vec<(String, ArrayRef)> = vec![
        ("task".into(), Arc::new(StringArray::from(rows.tasks()))),
        ("label".into(), Arc::new(StringArray::from(rows.labels()))),
    ];
    columns.extend((0..FEATURES).map(|index| (format!("x{index}"), feature(index))));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        ::parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn every_format_gives_the_same_forecast_and_predictions() {
    let folder = with_model();
    let (rows, new) = (two_tasks(), Rows::of("north", &["cat", "dog"], 50, 9));
    let forecast = |file: &str| folder.json(&["forecast", file, "--target", "north", "--json"]);
    let expected = forecast("train.csv");
    let predictions = folder.stdout(&["predict", "model.safetensors", "test.csv", "--scores"]);

    folder.write("train.npz", npz(&rows));
    folder.write("test.npz", npz(&new));
    assert_eq!(forecast("train.npz"), expected);
    let predict = [
        "predict",
        "model.safetensors",
        "test.npz",
        "--scores",
        "--features",
        "X",
    ];
    assert_eq!(folder.stdout(&predict), predictions);
    let evaluated = folder.json(&["evaluate", "model.safetensors", "test.npz", "--json"]);
    assert_eq!(
        evaluated,
        folder.json(&["evaluate", "model.safetensors", "test.csv", "--json"])
    );

    #[cfg(feature = "parquet")]
    {
        folder.write("train.parquet", parquet(&rows));
        folder.write("test.parquet", parquet(&new));
        assert_eq!(forecast("train.parquet"), expected);
        let predict = ["predict", "model.safetensors", "test.parquet", "--scores"];
        assert_eq!(folder.stdout(&predict), predictions);
    }
}

#[test]
fn files_are_tasks_where_there_is_no_task_column() {
    let folder = Folder::new();
    for (name, seed, count) in [("north", 1, 12), ("south", 2, 30)] {
        let csv = Rows::of("unused", &["cat", "dog"], count, seed).csv();
        let columns = |line: &str| line.split_once(',').unwrap().1.to_owned() + "\n";
        folder.write(
            &format!("{name}.csv"),
            csv.lines().map(columns).collect::<String>(),
        );
    }
    folder.write("train.csv", two_tasks().csv());
    let several = folder.json(&[
        "forecast",
        "south.csv",
        "north.csv",
        "--target",
        "north",
        "--json",
    ]);
    assert_eq!(
        several,
        folder.json(&["forecast", "train.csv", "--target", "north", "--json"])
    );
    // One file is one task, which needs no --target.
    let alone = folder.json(&["forecast", "north.csv", "--json"]);
    assert_eq!(alone["target"], "north");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = with_model();
    let run = |threads: &str, arguments: &[&str]| {
        let mut command = folder.foretask(arguments);
        let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert!(output.status.success());
        output.stdout
    };
    for arguments in [
        &["forecast", "train.csv", "--target", "north", "--json"][..],
        &["fit", "train.csv", "--target", "north", "-o", "/dev/stdout"],
        &[
            "predict",
            "model.safetensors",
            "test.csv",
            "--scores",
            "--probabilities",
        ],
    ] {
        assert_eq!(run("1", arguments), run("2", arguments), "{arguments:?}");
    }
}

#[test]
fn texts_that_a_spreadsheet_takes_for_formulas_are_marked_if_asked() {
    let folder = Folder::new();
    let classes = ["=1+cmd|' /C calc'!A0", "@sum"];
    let train = two_tasks();
    let names = |label: &str| classes[usize::from(label == "dog")].to_owned();
    let rows = train.0.into_iter();
    let train = Rows(
        rows.map(|(task, label, values)| (task, names(&label), values))
            .collect(),
    );
    folder.write("train.csv", train.csv());
    let fit = ["fit", "train.csv", "--target", "north", "--views", "linear"];
    folder.stdout(&[&fit[..], &["-o", "model"]].concat());
    let mut text = "+note,x0,x1,x2,x3,x4\n".to_owned();
    let notes = [
        "=a", "+b", "-c", "@d", "\te", "\rf", "-1.5", "+2e3", "plain", "-",
    ];
    for note in notes {
        text += &format!("\"{note}\",1,-1,0.5,-0.5,1\n");
    }
    folder.write("new.csv", &text);
    let predict = |more: &[&str]| {
        let arguments = ["predict", "model", "new.csv", "--keep", "+note"];
        folder.stdout(&[&arguments[..], &["--scores", "--probabilities"], more].concat())
    };
    let (header, plain) = parse(&predict(&[]));
    let (safe_header, safe) = parse(&predict(&["--safe-csv"]));
    assert_eq!(header[0], "+note");
    assert_eq!(safe_header[0], "'+note");
    // What begins with another letter is no formula, whatever follows.
    assert_eq!(safe_header[1..], header[1..]);
    for ((note, plain), safe) in notes.iter().zip(&plain).zip(&safe) {
        assert_eq!(plain[0], *note);
        assert!(classes.contains(&plain[1].as_str()));
        assert_eq!(safe[1], format!("'{}", plain[1]));
        let is_marked = !["-1.5", "+2e3", "plain"].contains(note);
        let expected = if is_marked {
            format!("'{note}")
        } else {
            (*note).to_owned()
        };
        assert_eq!(safe[0], expected);
        // Numbers, also negative ones, are numbers.
        assert_eq!(safe[2..], plain[2..]);
        assert!(safe[2..].iter().all(|number| number.parse::<f64>().is_ok()));
    }
    let negative = |row: &Vec<String>| row[2..].iter().any(|number| number.starts_with('-'));
    let other = folder.write(
        "other.csv",
        text.replace("1,-1,0.5,-0.5,1", "-1,1,-0.5,0.5,-1"),
    );
    let scores = folder.stdout(&[
        "predict",
        "model",
        &other.to_string_lossy(),
        "--scores",
        "--safe-csv",
    ]);
    assert!(plain.iter().chain(&parse(&scores).1).any(negative));
    let both = ["predict", "model", "new.csv", "--json", "--safe-csv"];
    assert!(folder.foretask(&both).output().unwrap().status.code() == Some(2));
}
