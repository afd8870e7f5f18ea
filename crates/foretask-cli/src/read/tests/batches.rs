//! Rows in batches are the rows of the whole.

use super::super::{Meter, Reading, parts};
use super::*;

/// The batches of a file, of so many values each.
pub(super) fn batches(
    path: &Path,
    values: usize,
    purpose: Purpose,
) -> Result<Vec<Table>, ReadError> {
    let columns = Columns::default();
    let mut reading = Reading::new(Written::default(), &columns, purpose);
    let (mut tables, meter) = (Vec::new(), Meter::default());
    for part in parts(&[path.to_owned()])? {
        reading.part(&part, values, &meter, |table| {
            tables.push(table);
            Ok::<(), ReadError>(())
        })?;
        assert_eq!(meter.bytes(), part.bytes());
    }
    Ok(tables)
}

pub(super) fn assert_same(path: &Path, width: usize) {
    let whole = train(path).unwrap();
    for values in [1, 7, 20, 1000] {
        let parts = batches(path, values, Purpose::Train).unwrap();
        let rows: Vec<usize> = parts.iter().map(Table::rows).collect();
        assert!(rows.iter().all(|&rows| rows <= (values / width).max(1)));
        let mut joined = parts[0].clone();
        for part in &parts[1..] {
            joined.append(part.clone()).unwrap();
        }
        assert_eq!(doubles(&joined), doubles(&whole));
        assert_eq!(joined.labels, whole.labels);
        assert_eq!(joined.tasks, whole.tasks);
        assert_eq!(joined.unlabelled, whole.unlabelled);
    }
}

#[test]
fn batches_of_text_are_the_table() {
    let folder = Folder::new();
    let line = |row: usize| {
        let label = ["u", "v", ""][row % 3];
        format!("{label},t{},{}.5,{}\n", row % 2, row, row * row)
    };
    let text = "label,task,a,b\n".to_owned() + &(0..23).map(line).collect::<String>();
    assert_same(&folder.write("a.csv", &text), 2);
    assert_same(&folder.write("a.tsv", text.replace(',', "\t")), 2);
    let lines: String = (0..23)
        .map(|row| {
            let label = ["\"u\"", "\"v\"", "null"][row % 3];
            format!(
                "{{\"label\":{label},\"task\":\"t{}\",\"a\":{row}.5,\"b\":{}}}\n",
                row % 2,
                row * row
            )
        })
        .collect();
    let path = folder.write("a.jsonl", &lines);
    assert_same(&path, 2);
    assert_eq!(
        doubles(&train(&path).unwrap()),
        doubles(&train(&folder.path("a.csv")).unwrap())
    );
    let packed = zstd::encode_all(lines.as_bytes(), 1).unwrap();
    assert_same(&folder.write("a.jsonl.zst", packed), 2);
    let tables = batches(&path, 10, Purpose::Train).unwrap();
    let place = tables[1].origin.place("a.jsonl", 2, "b");
    assert_eq!(place.to_string(), "a.jsonl, row 10, column 'b'");
    // Rows are those of the file, also behind rows without a label.
    let tables = batches(&folder.path("a.csv"), 10, Purpose::Train).unwrap();
    let place = tables[1].origin.place("a.csv", 2, "b");
    // Rows 6 to 10 have the labels none, u, v, none, u.
    assert_eq!(place.to_string(), "a.csv, row 10, column 'b'");
}

#[test]
fn batches_of_svmlight_lines_are_the_table() {
    let folder = Folder::new();
    let line = |row: usize| format!("{} {}:{row}.5 5:{}\n", row % 2, 1 + row % 4, row * row);
    assert_same(
        &folder.write("a.svm", (0..23).map(line).collect::<String>()),
        5,
    );
    // Zeros that are not written out.
    let line = |row: usize| format!("{} {}:{row}.5 40000:1\n", row % 2, 1 + row * 7919 % 30_000);
    let path = folder.write("b.svm", (0..600).map(line).collect::<String>());
    let whole = train(&path).unwrap();
    let entries = |table: &Table| -> Vec<(usize, u32, f64)> {
        let columns = table.frame.columns().iter().enumerate();
        columns
            .flat_map(|(place, column)| match column {
                Column::Sparse { at, values, .. } => {
                    let own = at.iter().zip(values);
                    own.map(|(&row, &value)| (place, row, value)).collect()
                }
                _ => Vec::new(),
            })
            .collect()
    };
    assert_eq!(entries(&whole).len(), 1200);
    let parts = batches(&path, 1000, Purpose::Train).unwrap();
    assert_eq!(parts[0].rows(), 200);
    let mut joined = parts[0].clone();
    for part in &parts[1..] {
        joined.append(part.clone()).unwrap();
    }
    assert_eq!(entries(&joined), entries(&whole));
    assert_eq!(joined.labels, whole.labels);
    assert_eq!(parts[1].origin.before, 200);
    // A line that is cut.
    let cut = (0..600).map(line).collect::<String>() + "1 7";
    let path = folder.write("cut.svm", cut);
    assert_message(train(&path), &path, &["line 601", "'7' is not index:value"]);
}

/// Columns that hold lists somewhere are left out, also if that comes to light late.
#[test]
fn lists_in_json_lines_are_no_features() {
    let folder = Folder::new();
    let line = |row: usize| match row {
        7 => format!("{{\"label\":\"u\",\"a\":{row},\"b\":[1,2]}}\n"),
        8 => format!("{{\"label\":\"v\",\"a\":{row},\"b\":\"x\",\"c\":1}}\n"),
        _ => format!("{{\"label\":\"u\",\"a\":{row},\"b\":{row}}}\n"),
    };
    let path = folder.write("a.jsonl", (0..12).map(line).collect::<String>());
    let untold = |table: &Table| matches!(table.frame.columns()[1], Column::Untold(rows, _) if rows == table.rows());
    assert!(untold(&train(&path).unwrap()));
    let parts = batches(&path, 9, Purpose::Train).unwrap();
    assert_eq!(
        parts.iter().map(untold).collect::<Vec<_>>(),
        [false, false, true, true]
    );
    assert_eq!(parts[0].frame.names(), ["a", "b", "c"]);
    let cut = (0..12).map(line).collect::<String>() + "{\"label\":\"u\",";
    let path = folder.write("cut.jsonl", cut);
    assert_message(train(&path), &path, &["line 13", "is not a JSON object"]);
}

/// A column that turns out to be text, and slips that only the whole file shows.
#[test]
fn what_is_told_by_the_whole_file_is_told_at_its_end() {
    let folder = Folder::new();
    let numbers: String = (0..99).map(|row| format!("u,{row}.5\n")).collect();
    let slip = folder.write("a.csv", format!("label,a\n{numbers}v,<5\n"));
    let message = batches(&slip, 10, Purpose::Train).unwrap_err().to_string();
    assert!(
        message.contains("row 100, column 'a': '<5' is not a number, as 99 other"),
        "{message}"
    );
    let few = folder.write("b.csv", "label,a\nu,1\nv,2\nu,x\nv,2\n");
    let tables = batches(&few, 2, Purpose::Train).unwrap();
    let kinds: Vec<bool> = tables
        .iter()
        .map(|table| matches!(table.frame.columns()[0], Column::Texts(_)))
        .collect();
    assert_eq!(kinds, [false, true]);
}

#[cfg(feature = "parquet")]
#[test]
fn batches_of_row_groups_are_the_table() {
    use std::sync::Arc;

    use ::parquet::arrow::ArrowWriter;
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};

    let folder = Folder::new();
    let group = |rows: std::ops::Range<usize>, bad: Option<usize>| {
        let label = |row: usize| (row % 4 != 3).then_some(["u", "v", "u"][row % 3]);
        let value = |row: usize| match bad == Some(row) {
            true => f64::INFINITY,
            false => row as f64 / 2.0,
        };
        let columns: [(&str, ArrayRef); 3] = [
            (
                "label",
                Arc::new(StringArray::from_iter(rows.clone().map(label))),
            ),
            (
                "a",
                Arc::new(Float64Array::from_iter_values(rows.clone().map(value))),
            ),
            (
                "b",
                Arc::new(Float64Array::from_iter_values(rows.map(|row| row as f64))),
            ),
        ];
        let columns = columns.into_iter().map(|(name, array)| (name, array, true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    };
    let file = |name: &str, bad: Option<usize>| {
        let mut bytes = Vec::new();
        let schema = group(0..1, None).schema();
        let mut writer = ArrowWriter::try_new(&mut bytes, schema, None).unwrap();
        for start in [0, 10, 20] {
            writer.write(&group(start..start + 10, bad)).unwrap();
            writer.flush().unwrap();
        }
        writer.close().unwrap();
        folder.write(name, bytes)
    };
    let good = file("a.parquet", None);
    let whole = train(&good).unwrap();
    let parts = batches(&good, 1, Purpose::Train).unwrap();
    // Decoded batches are not cut.
    let mut joined = parts[0].clone();
    for part in &parts[1..] {
        joined.append(part.clone()).unwrap();
    }
    assert_eq!(doubles(&joined), doubles(&whole));
    assert_eq!(joined.labels, whole.labels);
    let place = whole.origin.place("a.parquet", 10, "a");
    assert_eq!(
        place.to_string(),
        "a.parquet, row group 1, row 14, column 'a'"
    );
    let bad = file("b.parquet", Some(24));
    let message = train(&bad).unwrap_err().to_string();
    assert!(
        message.contains("b.parquet, row group 2, row 25, column 'a'"),
        "{message}"
    );
}
