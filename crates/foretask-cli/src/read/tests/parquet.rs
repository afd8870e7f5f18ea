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
    assert_eq!(table.frame.names(), ["b", "a"]);
    assert_eq!(singles(&table), [2.0, 1.0, 4.0, 3.0]);
    assert_eq!(table.labels.clone().unwrap(), ["u", "v"]);
    assert_eq!(table.tasks.clone().unwrap(), ["s", "t"]);
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
        assert_eq!(table.labels.clone().unwrap(), ["true", "false"]);
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
        assert_eq!(table.labels.clone().unwrap(), names);
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
    values[9_876] = f64::INFINITY;
    let path = file(
        &folder,
        "a.parquet",
        &[("a", double(&values)), ("label", labels)],
    );
    assert_message(
        train(&path),
        &path,
        &["row 9877, column 'a': the value is inf"],
    );
}

#[test]
fn bad_columns_are_named() {
    let folder = Folder::new();
    let numbers = || double(&[1.0, 2.0]);
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
    let label = || text(&["u", "v"]);
    type Named = Vec<(&'static str, ArrayRef)>;
    let cases: [(&str, Named, &str); 5] = [
        (
            "infinite",
            vec![("a", single(&[1.0, f32::INFINITY])), ("label", label())],
            "row 2, column 'a': the value is inf",
        ),
        ("no-label", vec![("a", numbers())], "--label; it has 'a'"),
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

/// An Arrow file of the same columns.
fn arrow(folder: &Folder, name: &str, columns: &[(&str, ArrayRef)]) -> PathBuf {
    let columns = columns
        .iter()
        .map(|(name, array)| (*name, Arc::clone(array), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    folder.write(name, bytes)
}

#[test]
fn gaps_texts_and_dates_are_columns_and_arrow_files_have_the_same() {
    let folder = Folder::new();
    let kinds: DictionaryArray<Int8Type> = [Some("x"), None, Some("y")].into_iter().collect();
    let columns: [(&str, ArrayRef); 5] = [
        (
            "a",
            Arc::new(Float64Array::from(vec![Some(1.0), None, Some(3.0)])),
        ),
        ("kind", Arc::new(kinds)),
        ("day", Arc::new(Date32Array::from(vec![1, 2, 3]))),
        (
            "label",
            Arc::new(StringArray::from(vec![Some("u"), Some("v"), None])),
        ),
        ("id", Arc::new(Int64Array::from(vec![7, 8, 9]))),
    ];
    for path in [
        file(&folder, "a.parquet", &columns),
        arrow(&folder, "a.feather", &columns),
        arrow(&folder, "noname", &columns),
    ] {
        let table = train(&path).unwrap();
        assert_eq!(table.frame.names(), ["a", "kind", "day", "id"]);
        assert_eq!(table.labels.clone().unwrap(), ["u", "v"]);
        assert_eq!(table.unlabelled, 1);
        let [a, kind, day, _] = table.frame.columns() else {
            panic!("four columns were expected")
        };
        assert_eq!((a.gaps(), kind.gaps()), (vec![1], vec![1]));
        assert!(matches!(day, Column::Untold(2, _)));
        let keep = Columns {
            keep: Keep::Named(strings(&["id", "kind"])),
            ..Columns::default()
        };
        let preparation = Preparation::plain(&strings(&["a"]));
        let purpose = Purpose::Predict {
            preparation: &preparation,
        };
        let table = read(&[path], &keep, purpose).unwrap();
        assert_eq!(table.kept[0].cells, ["7", "8", "9"]);
        assert_eq!(table.kept[1].cells, ["x", "", "y"]);
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
    assert_eq!(table.tasks.clone().unwrap(), ["a", "b"]);
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

/// A row of vectors as Spark writes them: sparse with a size, indices and values, or dense.
type Vector = (i8, Option<i32>, Option<Vec<i32>>, Option<Vec<f64>>);

fn sparse(size: i32, entries: &[(i32, f64)]) -> Option<Vector> {
    let (indices, values) = entries.iter().copied().unzip();
    Some((0, Some(size), Some(indices), Some(values)))
}

fn dense(values: &[f64]) -> Option<Vector> {
    Some((1, None, None, Some(values.to_vec())))
}

/// A file with labels and vectors, in row groups of two.
fn vectors(folder: &Folder, rows: &[Option<Vector>]) -> PathBuf {
    use arrow_array::builder::{
        Float64Builder, Int8Builder, Int32Builder, ListBuilder, StructBuilder,
    };
    use arrow_schema::{DataType, Field, Fields};

    let list = |kind: DataType| DataType::List(Arc::new(Field::new("item", kind, true)));
    let fields = Fields::from(vec![
        Field::new("type", DataType::Int8, false),
        Field::new("size", DataType::Int32, true),
        Field::new("indices", list(DataType::Int32), true),
        Field::new("values", list(DataType::Float64), true),
    ]);
    let mut builder = StructBuilder::new(
        fields,
        vec![
            Box::new(Int8Builder::new()),
            Box::new(Int32Builder::new()),
            Box::new(ListBuilder::new(Int32Builder::new())),
            Box::new(ListBuilder::new(Float64Builder::new())),
        ],
    );
    for row in rows {
        let (kind, size, indices, values) = row.clone().unwrap_or((0, None, None, None));
        builder
            .field_builder::<Int8Builder>(0)
            .unwrap()
            .append_value(kind);
        builder
            .field_builder::<Int32Builder>(1)
            .unwrap()
            .append_option(size);
        let own = builder
            .field_builder::<ListBuilder<Int32Builder>>(2)
            .unwrap();
        own.append_option(indices.map(|own| own.into_iter().map(Some)));
        let own = builder
            .field_builder::<ListBuilder<Float64Builder>>(3)
            .unwrap();
        own.append_option(values.map(|own| own.into_iter().map(Some)));
        builder.append(row.is_some());
    }
    let labels: Vec<&str> = (0..rows.len()).map(|row| ["u", "v"][row % 2]).collect();
    let columns: [(&str, ArrayRef); 2] = [
        ("label", Arc::new(StringArray::from(labels))),
        ("words", Arc::new(builder.finish())),
    ];
    let columns = columns.map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    for start in (0..rows.len()).step_by(2) {
        writer
            .write(&batch.slice(start, 2.min(rows.len() - start)))
            .unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    folder.write("a.parquet", bytes)
}

#[test]
fn vectors_of_spark_become_sparse_columns() {
    let folder = Folder::new();
    let rows = [
        sparse(5, &[(1, 2.0), (4, 0.5)]),
        sparse(5, &[]),
        dense(&[1.0, 0.0, 0.0, -3.0, 0.0]),
        sparse(5, &[(0, 7.0)]),
    ];
    let table = train(&vectors(&folder, &rows)).unwrap();
    let names: Vec<String> = (0..5).map(|entry| format!("words[{entry}]")).collect();
    assert_eq!(table.frame.names(), names);
    assert!(table.array);
    let entries: Vec<(Vec<u32>, Vec<f64>)> = (table.frame.columns().iter())
        .map(|column| match column {
            Column::Sparse {
                rows: 4,
                at,
                values,
            } => (at.clone(), values.clone()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        (vec![2, 3], vec![1.0, 7.0]),
        (vec![0], vec![2.0]),
        (vec![], vec![]),
        (vec![2], vec![-3.0]),
        (vec![0], vec![0.5]),
    ];
    assert_eq!(entries, expected);
    // A model takes its own entries by name.
    let some = predict(&folder.path("a.parquet"), &["words[4]", "words[0]"]).unwrap();
    assert_eq!(some.frame.names(), ["words[4]", "words[0]"]);
    match &some.frame.columns()[1] {
        Column::Sparse { at, .. } => assert_eq!(*at, [2, 3]),
        other => panic!("{other:?}"),
    }
    // Batches end by entries.
    let parts = super::batches::batches(&folder.path("a.parquet"), 4, Purpose::Train).unwrap();
    let mut joined = parts[0].clone();
    for part in &parts[1..] {
        joined.append(part.clone()).unwrap();
    }
    assert_eq!(joined.labels, table.labels);
}

#[test]
fn bad_vectors_are_named_with_their_rows() {
    let folder = Folder::new();
    let good = || sparse(5, &[(1, 2.0), (4, 0.5)]);
    for (bad, why) in [
        (sparse(5, &[(1, 2.0), (5, 0.5)]), "index 5 is outside"),
        (sparse(5, &[(-1, 2.0)]), "index -1 is outside"),
        (sparse(5, &[(3, 2.0), (1, 0.5)]), "do not ascend"),
        (sparse(5, &[(1, 2.0), (1, 0.5)]), "do not ascend"),
        (sparse(6, &[(1, 2.0)]), "has 6 entries, others 5"),
        (dense(&[1.0; 4]), "has 4 entries, others 5"),
        (
            Some((0, Some(5), Some(vec![1, 2]), Some(vec![1.0]))),
            "2 indices and 1 values",
        ),
        (sparse(5, &[(1, f64::NAN)]), "NaN"),
        (None, "the vector is missing"),
    ] {
        let path = vectors(&folder, &[good(), good(), good(), bad]);
        let place = "row group 1, row 4, column 'words'";
        assert_message(train(&path), &path, &[place, why]);
    }
    let path = vectors(&folder, &[sparse(1 << 21, &[(1, 1.0)])]);
    // One more for each byte of the file.
    let most = (1 << 18) + std::fs::metadata(&path).unwrap().len();
    let message = format!("such a file have {most} at most");
    assert_message(train(&path), &path, &["2097152 entries", &message]);
}
