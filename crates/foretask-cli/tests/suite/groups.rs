//! `--group`: rows of one patient are left out together, whatever file they come from.

use std::io::{Cursor, Write};

use serde_json::{Value, json};

use crate::common::{FEATURES, Folder, Rows, number, two_tasks};

/// Each row of two tasks as three visits of one patient, and the patient of each.
fn visits() -> (Rows, Vec<i64>) {
    let patients = two_tasks();
    let visits = (patients.0.iter())
        .flat_map(|(task, label, values)| {
            (0..3).map(|visit| {
                let moved = values.iter().map(|value| value + 0.01 * f64::from(visit));
                (task.clone(), label.clone(), moved.collect())
            })
        })
        .collect();
    let patient = (0..3 * patients.0.len()).map(|row| row as i64 / 3 + 100);
    (Rows(visits), patient.collect())
}

fn csv(rows: &Rows, patients: &[i64]) -> String {
    let text = rows.csv();
    let mut lines = text.lines();
    let mut grouped = format!("patient,{}\n", lines.next().unwrap());
    for (line, patient) in lines.zip(patients) {
        grouped += &format!("{patient},{line}\n");
    }
    grouped
}

fn jsonl(rows: &Rows, patients: &[i64]) -> String {
    let mut text = String::new();
    for ((task, label, values), patient) in rows.0.iter().zip(patients) {
        let mut row = json!({"patient": patient, "task": task, "label": label});
        for (index, value) in values.iter().enumerate() {
            row[format!("x{index}")] = json!(value);
        }
        text += &format!("{row}\n");
    }
    text
}

fn npz(rows: &Rows, patients: &[i64]) -> Vec<u8> {
    fn array<T: npyz::AutoSerialize>(shape: &[u64], values: impl Iterator<Item = T>) -> Vec<u8> {
        use npyz::WriterBuilder;
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(shape);
        let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
        writer.extend(values).unwrap();
        writer.finish().unwrap();
        bytes
    }
    fn names(names: &[&str]) -> Vec<u8> {
        use npyz::WriterBuilder;
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::<str>::new()
            .dtype(npyz::DType::Plain("<U8".parse().unwrap()))
            .shape(&[names.len() as u64]);
        let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
        names.iter().for_each(|name| writer.push(*name).unwrap());
        writer.finish().unwrap();
        bytes
    }
    let count = rows.0.len() as u64;
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [
        (
            "X",
            array(&[count, FEATURES as u64], rows.values().into_iter()),
        ),
        ("y", names(&rows.labels())),
        ("task", names(&rows.tasks())),
        ("patient", array(&[count], patients.iter().copied())),
    ] {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(&bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[cfg(feature = "parquet")]
fn parquet(rows: &Rows, patients: &[i64]) -> Vec<u8> {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
    let mut columns: Vec<(String, ArrayRef)> = vec![
        (
            "patient".into(),
            Arc::new(Int64Array::from(patients.to_vec())),
        ),
        ("task".into(), Arc::new(StringArray::from(rows.tasks()))),
        ("label".into(), Arc::new(StringArray::from(rows.labels()))),
    ];
    for index in 0..FEATURES {
        let values = rows.0.iter().map(|(_, _, values)| values[index]);
        columns.push((
            format!("x{index}"),
            Arc::new(values.collect::<Float64Array>()),
        ));
    }
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        ::parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn forecast(folder: &Folder, file: &str, more: &[&str]) -> Value {
    let common = [
        "forecast",
        file,
        "--target",
        "north",
        "--no-details",
        "--json",
    ];
    folder.json(&[&common, more].concat())
}

#[test]
fn every_format_groups_alike() {
    let folder = Folder::new();
    let (rows, patients) = visits();
    folder.write("visits.csv", csv(&rows, &patients));
    let grouped = forecast(&folder, "visits.csv", &["--group", "patient"]);
    let alone = forecast(&folder, "visits.csv", &["--ignore", "patient"]);
    // A visit is foretold from the other visits of the same patient, unless these are left out with it.
    let (honest, hopeful) = (&grouped["forecast"], &alone["forecast"]);
    assert!(
        number(&honest["error"]) > 10.0 * number(&hopeful["error"]),
        "{honest} {hopeful}"
    );
    assert_eq!(honest["samples"], hopeful["samples"]);
    let width = |told: &Value| number(&told["interval"][1]) - number(&told["interval"][0]);
    assert!(width(honest) > width(hopeful));
    assert_eq!(honest["rehearsal"]["skipped"], "grouped");

    folder.write("visits.jsonl", jsonl(&rows, &patients));
    folder.write("visits.npz", npz(&rows, &patients));
    #[cfg(feature = "parquet")]
    folder.write("visits.parquet", parquet(&rows, &patients));
    for file in folder.names() {
        assert_eq!(
            forecast(&folder, &file, &["--group", "patient"]),
            grouped,
            "{file}"
        );
    }
}

#[test]
fn groups_may_come_in_several_files_and_with_rows_that_are_left_out() {
    let folder = Folder::new();
    let (rows, patients) = visits();
    let whole = csv(&rows, &patients);
    folder.write("visits.csv", &whole);
    let expected = forecast(&folder, "visits.csv", &["--group", "patient"]);

    // Cut within a patient: the two halves are still one group.
    let (header, lines) = whole.split_once('\n').unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    std::fs::create_dir(folder.path("parts")).unwrap();
    for (name, part) in [("parts/1.csv", &lines[..40]), ("parts/2.csv", &lines[40..])] {
        folder.write(name, format!("{header}\n{}\n", part.join("\n")));
    }
    assert_eq!(
        forecast(&folder, "parts", &["--group", "patient"]),
        expected
    );

    // A visit without a label, first of all: groups keep to their rows.
    let unlabelled = lines[30].replace(",cat,", ",,").replace(",dog,", ",,");
    assert_ne!(unlabelled, lines[30]);
    folder.write(
        "gaps.csv",
        format!("{header}\n{unlabelled}\n{}\n", lines.join("\n")),
    );
    let arguments = [
        "forecast",
        "gaps.csv",
        "--target",
        "north",
        "--no-details",
        "--json",
        "--group",
        "patient",
    ];
    let output = folder.foretask(&arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("1 row without a label left out"), "{said}");
    assert_eq!(
        serde_json::from_slice::<Value>(&output.stdout).unwrap(),
        expected
    );
}

#[test]
fn a_model_of_groups_needs_none_to_predict() {
    let folder = Folder::new();
    let (rows, patients) = visits();
    folder.write("visits.csv", csv(&rows, &patients));
    folder.stdout(&[
        "fit",
        "visits.csv",
        "--target",
        "north",
        "--group",
        "patient",
        "-o",
        "m.safetensors",
    ]);
    folder.write("new.csv", Rows::of("north", &["cat", "dog"], 5, 9).csv());
    assert_eq!(
        folder
            .stdout(&["predict", "m.safetensors", "new.csv"])
            .lines()
            .count(),
        11
    );
    let inspected = folder.stdout(&["inspect", "m.safetensors", "--json"]);
    assert!(!inspected.contains("patient"), "{inspected}");
    let looked = folder.stdout(&["check", "visits.csv", "--group", "patient"]);
    assert!(looked.contains("the group"), "{looked}");
    assert!(looked.contains("--group patient"), "{looked}");
}

#[test]
fn groups_that_cannot_be() {
    let folder = Folder::new();
    let (rows, patients) = visits();
    let whole = csv(&rows, &patients);
    folder.write("visits.csv", &whole);
    let ask = |file: &'static str, group: &'static str| {
        ["forecast", file, "--target", "north", "--group", group]
    };
    folder.fails_with(&ask("visits.csv", "patent"), &["patent", "patient"]);
    folder.fails_with(&ask("visits.csv", "label"), &["label", "group"]);
    // Row 7 says nobody.
    folder.write("empty.csv", whole.replacen("\n102,", "\n,", 1));
    folder.fails_with(&ask("empty.csv", "patient"), &["patient", "row 7"]);
    folder.write(
        "empty.jsonl",
        jsonl(&rows, &patients).replacen("\"patient\":102", "\"patient\":null", 1),
    );
    folder.fails_with(&ask("empty.jsonl", "patient"), &["patient", "row 7"]);
    folder.write("visits.svm", "1 1:0.5 2:1\n0 1:0.25\n1 2:3\n0 1:1\n");
    folder.fails_with(
        &["forecast", "visits.svm", "--group", "patient"],
        &["patient", "features and labels only"],
    );
}
