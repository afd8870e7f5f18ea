//! Every format gives the same table.

use std::io::Write;

use super::*;

const CSV: &str = "a,b,task,label\n1.5,x,t,u\n,y,t,v\n3,x,s,u\n";

fn same(table: &Table) {
    assert_eq!(table.frame.names(), ["a", "b"]);
    assert_eq!(table.frame.columns()[0].gaps(), [1]);
    match &table.frame.columns()[0] {
        Column::Numbers(values) => assert_eq!((values[0], values[2]), (1.5, 3.0)),
        _ => panic!("numbers were expected"),
    }
    assert_eq!(table.frame.columns()[1].missing(), 0);
    assert_eq!(table.tasks.clone().unwrap(), ["t", "t", "s"]);
    assert_eq!(table.labels.clone().unwrap(), ["u", "v", "u"]);
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_files_and_files_without_an_extension_are_read() {
    let folder = Folder::new();
    let packed = zstd::encode_all(CSV.as_bytes(), 1).unwrap();
    for path in [
        folder.write("a.csv", CSV),
        folder.write("a.csv.gz", gzip(CSV.as_bytes())),
        folder.write("a.csv.zst", packed),
        folder.write("noname", CSV),
        folder.write("packed", gzip(CSV.as_bytes())),
    ] {
        same(&train(&path).unwrap());
    }
}

#[test]
fn a_compressed_file_that_is_cut_short_is_named() {
    let folder = Folder::new();
    let whole = gzip(CSV.repeat(400).as_bytes());
    let path = folder.write("a.csv.gz", &whole[..whole.len() / 2]);
    assert_message(train(&path), &path, &["cannot be read"]);
}

#[test]
fn json_lines_are_read() {
    let folder = Folder::new();
    let lines = concat!(
        "{\"a\": 1.5, \"b\": \"x\", \"task\": \"t\", \"label\": \"u\"}\n\n",
        "{\"b\": \"y\", \"task\": \"t\", \"label\": \"v\"}\n",
        "{\"label\": \"u\", \"a\": 3, \"b\": \"x\", \"task\": \"s\"}\n",
    );
    same(&train(&folder.write("a.jsonl", lines)).unwrap());
    same(&train(&folder.write("noname", lines)).unwrap());
    let path = folder.write("bad.jsonl", "{\"a\": 1, \"label\": \"u\"}\n[1]\n");
    assert_message(train(&path), &path, &["line 2", "not a JSON object"]);
}

#[test]
fn svmlight_writes_out_its_zeros() {
    let folder = Folder::new();
    let first = folder.write("a.svm", "+1 1:0.5 3:2 # note\n-1 qid:4 2:1\n");
    let table = train(&first).unwrap();
    assert_eq!(table.frame.names(), ["f1", "f2", "f3"]);
    assert_eq!(doubles(&table), [0.5, 0.0, 2.0, 0.0, 1.0, 0.0]);
    assert_eq!(table.labels.clone().unwrap(), ["+1", "-1"]);
    let table = predict(&first, &["f3", "f9"]).unwrap();
    assert_eq!(doubles(&table), [2.0, 0.0, 0.0, 0.0]);
    let second = folder.write("b.svm", "+1 7:1\n");
    let both = |files: &[PathBuf]| read(files, &Columns::default(), Purpose::Train);
    // All files say together what the columns are.
    for files in [[&first, &second], [&second, &first]] {
        let table = both(&files.map(PathBuf::clone)).unwrap();
        assert_eq!(table.frame.names().len(), 7);
        assert_eq!(doubles(&table).iter().sum::<f64>(), 4.5);
    }
    let table = folder.write("t.csv", "label,f1,f2,f3\na,1,2,3\n");
    assert_message(both(&[table, second.clone()]), &second, &["index 7"]);
    let zero = train(&folder.write("zero.svm", "+1 0:2 2:1\n-1 1:3\n")).unwrap();
    assert_eq!(zero.frame.names(), ["f0", "f1", "f2"]);
    assert_eq!(doubles(&zero), [2.0, 0.0, 1.0, 0.0, 3.0, 0.0]);
    assert_message(
        predict(&second, &["a", "b"]),
        &second,
        &["'a', 'b'", "f1, f2"],
    );
    // Far columns are there if a row gives them.
    let far = train(&folder.write("far.svm", "+1 3:1 4000000:2\n-1 70000:1\n")).unwrap();
    assert_eq!(far.frame.names(), ["f3", "f70000", "f4000000"]);
    assert_eq!(doubles(&far), [1.0, 0.0, 2.0, 0.0, 1.0, 0.0]);
    let path = folder.write("c.svm", "+1 1:x\n");
    assert_message(train(&path), &path, &["line 1", "index:value"]);
}

#[test]
fn a_folder_or_a_pattern_is_one_table_in_parts() {
    let folder = Folder::new();
    folder.write("parts/1.csv", "a,label\n1,u\n");
    folder.write("parts/2.csv", "label,a\nv,2\n");
    folder.write("parts/readme.md", "not a table");
    let table = train(&folder.path("parts")).unwrap();
    assert_eq!(doubles(&table), [1.0, 2.0]);
    assert_eq!(table.tasks.clone().unwrap(), ["parts", "parts"]);
    let table = train(&folder.path("parts/*.csv")).unwrap();
    assert_eq!(doubles(&table), [1.0, 2.0]);
    let path = folder.path("parts/*.tsv");
    assert_message(train(&path), &path, &["no table"]);
}

#[test]
fn columns_are_copied_for_the_output() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "id,a,note\n007,1,\"x, y\"\nZ,2,\n");
    let kept = |keep| {
        let columns = Columns {
            keep,
            ..Columns::default()
        };
        let preparation = Preparation::plain(&strings(&["a"]));
        let purpose = Purpose::Predict {
            preparation: &preparation,
        };
        read(std::slice::from_ref(&path), &columns, purpose)
    };
    let table = kept(Keep::Named(strings(&["note", "id"]))).unwrap();
    assert_eq!(table.kept[0].cells, ["x, y", ""]);
    assert_eq!(table.kept[1].cells, ["007", "Z"]);
    assert_eq!(kept(Keep::All).unwrap().kept.len(), 3);
    let result = kept(Keep::Named(strings(&["none"])));
    assert_message(result, &path, &["no kept column 'none'"]);
    let lines = folder.write("a.svm", "+1 1:2\n");
    let keep = Columns {
        keep: Keep::All,
        ..Columns::default()
    };
    let preparation = Preparation::plain(&strings(&["f1"]));
    let purpose = Purpose::Predict {
        preparation: &preparation,
    };
    let result = read(std::slice::from_ref(&lines), &keep, purpose);
    assert_message(result, &lines, &["none can be kept"]);
}
