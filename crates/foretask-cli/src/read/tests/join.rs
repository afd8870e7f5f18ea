use super::*;

#[test]
fn every_file_is_a_task_and_columns_may_be_reordered() {
    let folder = Folder::new();
    let files = [
        folder.write("left.csv", "a,b,label\n1,2,u\n"),
        folder.write("right.csv", "label,b,a\nv,4,3\n"),
    ];
    let table = read(&files, &Columns::default(), Purpose::Train).unwrap();
    assert_eq!(table.frame.names(), ["a", "b"]);
    assert_eq!(doubles(&table), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(table.labels.clone().unwrap(), ["u", "v"]);
    assert_eq!(table.tasks.clone().unwrap(), ["left", "right"]);
    assert_eq!(table.rows(), 2);
}

#[test]
fn equal_stems_are_told_apart_by_their_folders() {
    let folder = Folder::new();
    let files = [
        folder.write("amazon/train.csv", "a,label\n1,u\n"),
        folder.write("dslr/train.csv", "a,label\n1,u\n"),
    ];
    let table = read(&files, &Columns::default(), Purpose::Train).unwrap();
    assert_eq!(table.tasks.clone().unwrap(), ["amazon/train", "dslr/train"]);
}

#[test]
fn one_file_twice_is_refused() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "a,label\n1,u\n");
    let result = read(
        &[path.clone(), path.clone()],
        &Columns::default(),
        Purpose::Train,
    );
    assert_message(result, &path, &["would both be the task"]);
}

#[test]
fn a_task_column_spans_files() {
    let folder = Folder::new();
    let files = [
        folder.write("1.csv", "a,label,task\n1,u,t\n"),
        folder.write("2.csv", "a,label,task\n1,u,t\n"),
    ];
    let table = read(&files, &Columns::default(), Purpose::Train).unwrap();
    assert_eq!(table.tasks.clone().unwrap(), ["t", "t"]);
}

#[test]
fn different_features_are_named() {
    let folder = Folder::new();
    let first = folder.write("1.csv", "a,b,label\n1,2,u\n");
    for (content, parts) in [
        ("a,label\n1,u\n", ["missing 'b'", "not in", "nothing"]),
        (
            "a,b,c,label\n1,2,3,u\n",
            ["missing nothing", "not in", "'c'"],
        ),
        ("a,c,label\n1,3,u\n", ["missing 'b'", "not in", "'c'"]),
    ] {
        let second = folder.write("2.csv", content);
        let result = read(
            &[first.clone(), second.clone()],
            &Columns::default(),
            Purpose::Train,
        );
        assert_message(result, &second, &parts);
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = Folder::new();
    for (path, expected) in [
        (folder.path("none.csv"), "no such file"),
        (
            folder.path("none.parquet"),
            if cfg!(feature = "parquet") {
                "no such file"
            } else {
                "`parquet` feature"
            },
        ),
        (folder.write("a.xlsx", b"PK\0\0"), "--format"),
        (folder.write("a", ""), "--format"),
    ] {
        assert_message(train(&path), &path, &[expected]);
    }
    let path = folder.path("folder.csv");
    std::fs::create_dir(&path).unwrap();
    assert_message(train(&path), &path, &["there is no table in it"]);
    assert!(matches!(
        read(&[], &Columns::default(), Purpose::Train),
        Err(ReadError::NoFiles)
    ));
}

#[test]
fn an_evaluation_keeps_the_rows_of_its_target() {
    let folder = Folder::new();
    let mixed = folder.write("a.csv", "task,x,label\ntarget,1,u\nother,2,v\ntarget,3,w\n");
    let untold = folder.write("b.csv", "x,label\n4,u\n");
    let preparation = Preparation::plain(&strings(&["x"]));
    let purpose = Purpose::Evaluate {
        preparation: &preparation,
        target: "target",
    };
    let mut table = read(&[mixed, untold], &Columns::default(), purpose).unwrap();
    assert_eq!(table.keep_task("target").unwrap(), 1);
    assert_eq!(table.rows(), 3);
    assert_eq!(doubles(&table), [1.0, 3.0, 4.0]);
    assert_eq!(table.labels.clone().unwrap(), ["u", "w", "u"]);
}

#[test]
fn a_feature_of_the_model_is_not_taken_for_the_task_or_the_label() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "task,y,class\n1,2,u\n3,4,v\n");
    let table = evaluate(&path, &["task", "y"]).unwrap();
    assert_eq!(doubles(&table), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(table.labels.clone().unwrap(), ["u", "v"]);
    assert_eq!(table.tasks.clone().unwrap(), ["target", "target"]);
}
