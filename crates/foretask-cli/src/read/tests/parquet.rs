use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, UInt8Array,
};

use super::*;

fn bytes(columns: &[(&str, ArrayRef)], compression: Compression) -> Vec<u8> {
    let columns = columns
        .iter()
        .map(|(name, array)| (*name, Arc::clone(array), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn file(folder: &Folder, name: &str, columns: &[(&str, ArrayRef)]) -> PathBuf {
    folder.write(name, bytes(columns, Compression::SNAPPY))
}

fn text(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn single(values: &[f32]) -> ArrayRef {
    Arc::new(Float32Array::from(values.to_vec()))
}

fn double(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

#[test]
fn single_precision_stays_single() {
    let folder = Folder::new();
    let columns = [
        ("b", single(&[2.0, 4.0])),
        ("label", text(&["u", " v"])),
        ("a", single(&[1.0, 3.0])),
        ("task", text(&["s", "t"])),
    ];
    let table = train(&file(&folder, "a.parquet", &columns)).unwrap();
    assert_eq!(table.features, ["b", "a"]);
    assert_eq!(singles(&table), [2.0, 1.0, 4.0, 3.0]);
    assert_eq!(table.labels.unwrap(), ["u", "v"]);
    assert_eq!(table.tasks.unwrap(), ["s", "t"]);
    let table = predict(&file(&folder, "b.pq", &columns), &["a", "b"]).unwrap();
    assert_eq!(singles(&table), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn every_numeric_type_and_compression_is_read() {
    let folder = Folder::new();
    let decimal = Decimal128Array::from(vec![150, -25])
        .with_precision_and_scale(10, 2)
        .unwrap();
    let columns: [(&str, ArrayRef); 8] = [
        ("single", single(&[0.5, 1.5])),
        ("double", double(&[0.25, 1.25])),
        ("int", Arc::new(Int32Array::from(vec![-3, 3]))),
        ("long", Arc::new(Int64Array::from(vec![-4, 4]))),
        ("byte", Arc::new(UInt8Array::from(vec![5, 255]))),
        ("flag", Arc::new(BooleanArray::from(vec![true, false]))),
        ("decimal", Arc::new(decimal)),
        ("y", Arc::new(BooleanArray::from(vec![true, false]))),
    ];
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4_RAW,
        zstd,
        Compression::GZIP(Default::default()),
    ];
    for compression in compressions {
        let table = train(&folder.write("a.parquet", bytes(&columns, compression))).unwrap();
        assert_eq!(doubles(&table)[..7], [0.5, 0.25, -3.0, -4.0, 5.0, 1.0, 1.5]);
        assert_eq!(
            doubles(&table)[7..],
            [1.5, 1.25, 3.0, 4.0, 255.0, 0.0, -0.25]
        );
        assert_eq!(table.labels.unwrap(), ["true", "false"]);
    }
}

#[test]
fn labels_of_every_type_become_names() {
    let folder = Folder::new();
    let labels: [(ArrayRef, [&str; 2]); 5] = [
        (Arc::new(Int64Array::from(vec![-1, 3])), ["-1", "3"]),
        (double(&[3.0, 0.5]), ["3", "0.5"]),
        (single(&[3.0, 0.1]), ["3", "0.1"]),
        (
            Arc::new(BinaryArray::from(vec![&b"u"[..], b"v"])),
            ["u", "v"],
        ),
        (
            Arc::new(DictionaryArray::<Int8Type>::from_iter(["cat", "dog"])),
            ["cat", "dog"],
        ),
    ];
    for (array, names) in labels {
        let table = train(&file(
            &folder,
            "a.parquet",
            &[("a", double(&[1.0, 2.0])), ("label", array)],
        ))
        .unwrap();
        assert_eq!(table.labels.unwrap(), names);
    }
}

#[test]
fn rows_are_counted_across_batches() {
    let folder = Folder::new();
    let rows = 10_000;
    let mut values: Vec<f64> = (0..rows).map(f64::from).collect();
    let labels = text(&vec!["u"; values.len()]);
    let table = train(&file(
        &folder,
        "a.parquet",
        &[("a", double(&values)), ("label", Arc::clone(&labels))],
    ))
    .unwrap();
    assert_eq!(doubles(&table), values);
    values[9_876] = f64::NAN;
    let path = file(
        &folder,
        "a.parquet",
        &[("a", double(&values)), ("label", labels)],
    );
    assert_message(
        train(&path),
        &path,
        &["row 9877, column 'a': the value is NaN"],
    );
}

#[test]
fn bad_columns_are_named() {
    let folder = Folder::new();
    let numbers = || double(&[1.0, 2.0]);
    let missing: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None]));
    let missing_label: ArrayRef = Arc::new(StringArray::from(vec![None, Some("u")]));
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
    let label = || text(&["u", "v"]);
    type Named = Vec<(&'static str, ArrayRef)>;
    let cases: [(&str, Named, &str); 10] = [
        (
            "missing",
            vec![("a", missing), ("label", label())],
            "row 2, column 'a': the value is missing",
        ),
        (
            "infinite",
            vec![("a", single(&[1.0, f32::INFINITY])), ("label", label())],
            "row 2, column 'a': the value is inf",
        ),
        (
            "text",
            vec![("a", numbers()), ("b", label()), ("label", label())],
            "column 'b' is not numeric (it holds Utf8); choose",
        ),
        (
            "date",
            vec![("a", dates.clone()), ("label", label())],
            "column 'a' is not numeric (it holds Date32)",
        ),
        ("no-label", vec![("a", numbers())], "--label; it has 'a'"),
        (
            "empty-label",
            vec![("a", numbers()), ("label", missing_label)],
            "row 1, column 'label': the label is empty",
        ),
        (
            "date-label",
            vec![("a", numbers()), ("label", dates)],
            "the label column 'label' holds Date32",
        ),
        (
            "task",
            vec![
                ("a", numbers()),
                ("label", label()),
                ("task", text(&["t", " "])),
            ],
            "row 2, column 'task': the task is empty",
        ),
        (
            "index",
            vec![
                ("a", numbers()),
                ("label", label()),
                ("__index_level_0__", numbers()),
            ],
            "column 3 has no name",
        ),
        (
            "rows",
            vec![("a", double(&[])), ("label", text(&[]))],
            "not a single data row",
        ),
    ];
    for (name, columns, expected) in cases {
        let path = file(&folder, &format!("{name}.parquet"), &columns);
        assert_message(train(&path), &path, &[expected]);
    }
}

#[test]
fn joins_with_csv() {
    let folder = Folder::new();
    let parquet = file(
        &folder,
        "a.parquet",
        &[
            ("a", single(&[1.0])),
            ("b", single(&[2.0])),
            ("label", text(&["u"])),
        ],
    );
    let files = [parquet, folder.write("b.csv", "label,b,a\nv,4,3\n")];
    let table = read(&files, &Columns::default(), Purpose::Train).unwrap();
    assert_eq!(doubles(&table), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(table.tasks.unwrap(), ["a", "b"]);
}

#[test]
fn damaged_files_are_refused_without_a_panic() {
    let folder = Folder::new();
    let values: Vec<f64> = (0..50).map(f64::from).collect();
    let columns = [
        ("a", double(&values)),
        ("label", text(&["some", "text"].repeat(25))),
    ];
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
        let bytes = bytes(&columns, compression);
        for length in 0..bytes.len() {
            let path = folder.write("cut.parquet", &bytes[..length]);
            assert_message(train(&path), &path, &[]);
        }
        // Parquet checks no sums by default, so a changed byte may give other values, but no panic.
        for position in 0..bytes.len() {
            for mask in [0x01, 0x5a, 0xff] {
                let mut changed = bytes.clone();
                changed[position] ^= mask;
                let _ = train(&folder.write("changed.parquet", changed));
            }
        }
    }
    let path = folder.write("text.parquet", "a,label\n1,u\n");
    assert_message(train(&path), &path, &["Parquet", "damaged"]);
}
