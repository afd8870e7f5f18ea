use super::*;

#[test]
fn trains_from_a_table_with_label_and_task() {
    let folder = Folder::new();
    let path = folder.write(
        "a.csv",
        "height, label ,width,task\n1,3.0,2,left\n-4e1, True ,0.5,right\n\n",
    );
    let table = train(&path).unwrap();
    assert_eq!(table.features, ["height", "width"]);
    assert_eq!(doubles(&table), [1.0, 2.0, -40.0, 0.5]);
    assert_eq!(table.labels.unwrap(), ["3", "true"]);
    assert_eq!(table.tasks.unwrap(), ["left", "right"]);
    assert_eq!(table.rows, 2);
}

#[test]
fn a_file_without_a_task_column_is_a_task() {
    let folder = Folder::new();
    let table = train(&folder.write("webcam.csv", "a,y\n1,u\n2,v\n")).unwrap();
    assert_eq!(table.tasks.unwrap(), ["webcam", "webcam"]);
}

#[test]
fn usual_names_are_found_and_the_best_wins() {
    let folder = Folder::new();
    let table = train(&folder.write("a.csv", "Y,LABEL,Domain\n1,u,d\n")).unwrap();
    assert_eq!(
        (table.features, table.labels, table.tasks),
        (
            strings(&["Y"]),
            Some(strings(&["u"])),
            Some(strings(&["d"]))
        )
    );
    let table = train(&folder.write("b.csv", "a,Target\n1,u\n")).unwrap();
    assert_eq!(table.labels.unwrap(), ["u"]);
}

#[test]
fn named_columns_win_over_usual_names() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "label,task,kind,place,text\n1,2,u,v,w\n");
    let chosen = columns(Some("kind"), Some("place"), Some(&["task", "label"]));
    let table = read(&[path], &chosen, Purpose::Train).unwrap();
    assert_eq!(doubles(&table), [2.0, 1.0]);
    assert_eq!(table.labels.unwrap(), ["u"]);
    assert_eq!(table.tasks.unwrap(), ["v"]);
}

#[test]
fn a_chosen_feature_is_not_taken_for_the_task() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "label,task\nu,2\n");
    let table = read(
        &[path],
        &columns(None, None, Some(&["task"])),
        Purpose::Train,
    )
    .unwrap();
    assert_eq!(table.features, ["task"]);
    assert_eq!(table.tasks.unwrap(), ["a"]);
}

#[test]
fn tabs_quotes_and_byte_order_mark_are_understood() {
    let folder = Folder::new();
    let table =
        train(&folder.write("a.tsv", "\u{feff}\"a,b\"\tlabel\r\n1\t\"big cat\"\r\n")).unwrap();
    assert_eq!(table.features, ["a,b"]);
    assert_eq!(table.labels.unwrap(), ["big cat"]);
}

#[test]
fn a_model_picks_its_features_by_name() {
    let folder = Folder::new();
    let path = folder.write("a.CSV", "note,b,label,a\nhello,2,u,1\n,4,v,3\n");
    let table = predict(&path, &["a", "b"]).unwrap();
    assert_eq!(doubles(&table), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!((table.labels, table.tasks), (None, None));
    let table = evaluate(&path, &["b"]).unwrap();
    assert_eq!(doubles(&table), [2.0, 4.0]);
    assert_eq!(table.labels.unwrap(), ["u", "v"]);
    // Without a task column every row is the target's.
    assert_eq!(table.tasks.unwrap(), ["target", "target"]);
}

#[test]
fn a_model_misses_features_by_name() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "a,label\n1,u\n");
    assert_message(
        predict(&path, &["a", "b", "c"]),
        &path,
        &["needs 3", "2 of them", "'b', 'c'"],
    );
    let many: Vec<String> = (0..50).map(|index| format!("p{index}")).collect();
    let result = read(
        std::slice::from_ref(&path),
        &Columns::default(),
        Purpose::Predict { features: &many },
    );
    assert_message(result, &path, &["'p0'", "'p11' and 38 more"]);
    let path = folder.write("b.csv", "a,b\n1,2\n");
    assert_message(evaluate(&path, &["a"]), &path, &["--label", "'a', 'b'"]);
}

#[test]
fn bad_cells_are_named() {
    let folder = Folder::new();
    let cases = [
        (
            "nan",
            "a,label\n1,u\nNaN,v\n",
            "row 2, column 'a': the value is NaN",
        ),
        (
            "inf",
            "a,label\n1,u\n-inf,v\n",
            "row 2, column 'a': the value is -inf",
        ),
        (
            "huge",
            "a,label\n1e999,u\n",
            "row 1, column 'a': the value is inf",
        ),
        (
            "empty",
            "a,label\n1,u\n ,v\n",
            "row 2, column 'a': the value is missing",
        ),
        (
            "missing",
            "a,label\nNA,u\n",
            "row 1, column 'a': the value is missing",
        ),
        (
            "text",
            "a,label\n1,u\n1x,v\n",
            "row 2, column 'a': '1x' is not a number",
        ),
        (
            "label",
            "a,label\n1,u\n2, \n",
            "row 2, column 'label': the label is empty",
        ),
        (
            "task",
            "a,label,task\n1,u,\n",
            "row 1, column 'task': the task is empty",
        ),
        (
            "long",
            "a,label\n1,u\n2,v,w\n",
            "row 2: has 3 cells, the header has 2",
        ),
        (
            "short",
            "a,b,label\n1,2,u\n2,v\n",
            "row 2: has 2 cells, the header has 3",
        ),
        (
            "column",
            "a,b,label\n1,red,u\n",
            "column 'b' is not numeric (row 1 holds 'red'); choose the feature columns with --features",
        ),
    ];
    for (name, content, expected) in cases {
        let path = folder.write(&format!("{name}.csv"), content);
        assert_message(train(&path), &path, &[expected]);
    }
}

#[test]
fn bad_headers_are_named() {
    let folder = Folder::new();
    let cases = [
        ("rows", "a,label\n", "not a single data row"),
        ("nothing", "", "not a single data row"),
        ("label", "a,b\n1,2\n", "--label; it has 'a', 'b'"),
        ("twice", "a,a,label\n1,2,u\n", "two columns are called 'a'"),
        ("features", "task,label\nt,u\n", "no feature column is left"),
        ("index", ",a,label\n0,1,u\n", "column 1 has no name"),
        (
            "semicolon",
            "a;label\n1;u\n",
            "looks separated by semicolons",
        ),
    ];
    for (name, content, expected) in cases {
        let path = folder.write(&format!("{name}.csv"), content);
        assert_message(train(&path), &path, &[expected]);
    }
}

#[test]
fn wrong_column_names_are_named() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "a,b,label\n1,2,u\n");
    let cases = [
        (
            columns(Some("kind"), None, None),
            "no label column 'kind'; it has 'a', 'b', 'label'",
        ),
        (columns(None, Some("place"), None), "no task column 'place'"),
        (
            columns(None, None, Some(&["a", "c"])),
            "no feature column 'c'",
        ),
        (
            columns(None, None, Some(&["a", "a"])),
            "'a' is a feature and also a feature a second time",
        ),
        (
            columns(Some("a"), None, Some(&["a"])),
            "'a' is the label and also a feature",
        ),
        (
            columns(None, Some("a"), Some(&["a"])),
            "'a' is the task and also a feature",
        ),
        (
            columns(Some("a"), Some("a"), None),
            "'a' is the label and also the task",
        ),
    ];
    for (chosen, expected) in cases {
        assert_message(
            read(std::slice::from_ref(&path), &chosen, Purpose::Train),
            &path,
            &[expected],
        );
    }
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let folder = Folder::new();
    let path = folder.write("a.csv", b"a,label\n1,caf\xe9\n");
    assert_message(train(&path), &path, &["row 1, column 'label'", "UTF-8"]);
    let path = folder.write("b.csv", b"gr\xf6sse,label\n1,u\n");
    assert_message(train(&path), &path, &["the header is not UTF-8"]);
    let path = folder.write("c.csv", b"a,label\n1,u\n\xff\xfe,u\n");
    assert_message(
        train(&path),
        &path,
        &["row 2, column 'a'", "is not a number"],
    );
}
