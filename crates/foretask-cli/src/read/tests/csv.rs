use foretask::prepare::{Features, Frame, Wishes};

use super::*;

#[test]
fn trains_from_a_table_with_label_and_task() {
    let folder = Folder::new();
    let path = folder.write(
        "a.csv",
        "height, label ,width,task\n1,3.0,2,left\n-4e1, True ,0.5,right\n\n",
    );
    let table = train(&path).unwrap();
    assert_eq!(table.frame.names(), ["height", "width"]);
    assert_eq!(doubles(&table), [1.0, 2.0, -40.0, 0.5]);
    assert_eq!(table.labels.clone().unwrap(), ["3", "true"]);
    assert_eq!(table.tasks.clone().unwrap(), ["left", "right"]);
    assert_eq!(table.rows(), 2);
}

#[test]
fn a_file_without_a_task_column_is_a_task() {
    let folder = Folder::new();
    let table = train(&folder.write("webcam.csv", "a,y\n1,u\n2,v\n")).unwrap();
    assert_eq!(table.tasks.clone().unwrap(), ["webcam", "webcam"]);
}

#[test]
fn usual_names_are_found_and_the_best_wins() {
    let folder = Folder::new();
    let table = train(&folder.write("a.csv", "Y,LABEL,Domain\n1,u,d\n")).unwrap();
    assert_eq!(table.frame.names(), ["Y"]);
    assert_eq!(table.labels.unwrap(), ["u"]);
    assert_eq!(table.tasks.unwrap(), ["d"]);
    let table = train(&folder.write("b.csv", "a,Target\n1,u\n")).unwrap();
    assert_eq!(table.labels.clone().unwrap(), ["u"]);
}

#[test]
fn named_columns_win_over_usual_names() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "label,task,kind,place,text\n1,2,u,v,w\n");
    let chosen = columns(Some("kind"), Some("place"), Some(&["task", "label"]));
    let table = read(&[path], &chosen, Purpose::Train).unwrap();
    assert_eq!(doubles(&table), [2.0, 1.0]);
    assert_eq!(table.labels.clone().unwrap(), ["u"]);
    assert_eq!(table.tasks.clone().unwrap(), ["v"]);
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
    assert_eq!(table.frame.names(), ["task"]);
    assert_eq!(table.tasks.clone().unwrap(), ["a"]);
}

#[test]
fn tabs_quotes_and_byte_order_mark_are_understood() {
    let folder = Folder::new();
    let table =
        train(&folder.write("a.tsv", "\u{feff}\"a,b\"\tlabel\r\n1\t\"big cat\"\r\n")).unwrap();
    assert_eq!(table.frame.names(), ["a,b"]);
    assert_eq!(table.labels.clone().unwrap(), ["big cat"]);
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
    assert_eq!(table.labels.clone().unwrap(), ["u", "v"]);
    // Without a task column every row is the target's.
    assert_eq!(table.tasks.clone().unwrap(), ["target", "target"]);
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
        Purpose::Predict {
            preparation: &Preparation::plain(&many),
        },
    );
    assert_message(result, &path, &["'p0'", "'p11' and 38 more"]);
    let path = folder.write("b.csv", "a,b\n1,2\n");
    assert_message(evaluate(&path, &["a"]), &path, &["--label", "'a', 'b'"]);
}

#[test]
fn bad_cells_are_named() {
    let folder = Folder::new();
    let slips: String = (0..40).map(|i| format!("{i},u\n")).collect();
    let slips = format!("a,label\n{slips}<5,v\n");
    let cases = [
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
            "slip",
            slips.as_str(),
            "row 41, column 'a': '<5' is not a number, as 40 other cells",
        ),
        (
            "unlabelled",
            "a,label\n1,\n2,NA\n",
            "none of its 2 rows has a label",
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
            "separator",
            "a,b,label\n1,2,u\n2;3;v\n",
            "row 2: has 1 cells, the header has 3",
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
    assert_message(train(&path), &path, &["row 2, column 'a'", "UTF-8"]);
}

/// The features that rows have of a column of texts.
fn texts(table: &Table, column: usize) -> Vec<String> {
    // One level per row shows which is which.
    let names = table.frame.names()[column].clone();
    let frame = Frame::new(
        vec![names],
        vec![table.frame.columns()[column].clone()],
        table.rows(),
    )
    .unwrap();
    let wishes = Wishes {
        categorical: frame.names().to_vec(),
        ..Wishes::default()
    };
    let task = vec![0; table.rows()];
    let learnt = Preparation::learn(&frame, &task, 1, &wishes).unwrap();
    let names = learnt.feature_names();
    let prepared = learnt.apply(frame, None).unwrap();
    let Features::Doubles(values) = &prepared.features else {
        panic!("levels are doubles")
    };
    let name_of = |row: usize| {
        let place = (0..names.len()).find(|&level| values[level * prepared.rows + row] == 1.0);
        place.map_or(String::new(), |place| names[place].clone())
    };
    (0..prepared.rows).map(name_of).collect()
}

#[test]
fn separators_and_decimal_commas_are_told_from_the_first_lines() {
    let folder = Folder::new();
    for (name, content) in [
        ("semicolon.csv", "a;b;label\n1,5;2;u\n-1.234,25;4;v\n"),
        ("tabs.txt", "a\tb\tlabel\n1,5\t2\tu\n-1234,25\t4\tv\n"),
        ("bars.csv", "a|b|label\n1.5|2|u\n-1234.25|4|v\n"),
        ("commas.csv", "a,b,label\n1.5,2,u\n-1234.25,4,v\n"),
        (
            "quoted.csv",
            "a,b,label\n1.5,2,\"u;x;y;z\"\n-1234.25,4,\"v;1;2;3\"\n",
        ),
    ] {
        let table = train(&folder.write(name, content)).unwrap();
        assert_eq!(table.frame.names(), ["a", "b"], "{name}");
        assert_eq!(doubles(&table), [1.5, 2.0, -1234.25, 4.0], "{name}");
    }
    let path = folder.write("odd.csv", "a:b:label\n1:2:u\n");
    let written = Written {
        delimiter: Some(b':'),
        ..Written::default()
    };
    let table = super::super::read(&[path], written, &Columns::default(), Purpose::Train).unwrap();
    assert_eq!(doubles(&table), [1.0, 2.0]);
}

#[test]
fn gaps_are_kept_and_rows_without_a_label_are_counted() {
    let folder = Folder::new();
    let content = "a,b,label\n1,NA,u\n,x,v\nNaN,?,\n4,y,none\n";
    let table = train(&folder.write("a.csv", content)).unwrap();
    assert_eq!(table.unlabelled, 1);
    assert_eq!(table.labels.clone().unwrap(), ["u", "v", "none"]);
    assert_eq!(table.frame.columns()[0].gaps(), [1]);
    assert_eq!(texts(&table, 1), ["b is missing", "b=x", "b=y"]);
}

#[test]
fn it_does_not_matter_in_which_row_the_first_text_stands() {
    let folder = Folder::new();
    let early = train(&folder.write("a.csv", "a,label\nx,u\n2.0,v\n02.50,u\n")).unwrap();
    let late = train(&folder.write("b.csv", "a,label\n2.0,u\n02.50,v\nx,u\n")).unwrap();
    assert_eq!(texts(&early, 0), ["a=x", "a=2", "a=2.5"]);
    assert_eq!(texts(&late, 0), ["a=2", "a=2.5", "a=x"]);
}

#[test]
fn infinity_among_texts_is_a_text_and_among_numbers_an_error() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "title,label\nHeat,u\nInfinity,v\n1984,u\n-inf,v\n");
    let table = train(&path).unwrap();
    let names = ["title=Heat", "title=Infinity", "title=1984", "title=-inf"];
    assert_eq!(texts(&table, 0), names);
    let path = folder.write("b.csv", "title,label\n1984,u\nInfinity,v\n");
    let message = "row 2, column 'title': the value is inf";
    assert_message(train(&path), &path, &[message]);
}

#[test]
fn names_of_rows_that_r_writes_have_no_name() {
    let folder = Folder::new();
    let table = train(&folder.write("r.csv", "a,label\n1,10,u\n2,20,v\n")).unwrap();
    assert_eq!(table.frame.names(), ["", "a"]);
}

#[test]
fn columns_are_ignored_numeric_or_categorical_as_the_user_says() {
    let folder = Folder::new();
    let path = folder.write("a.csv", "a,zip,c,label\n1,01,x,u\n2,02,y,v\n");
    let chosen = Columns {
        ignore: strings(&["c"]),
        categorical: strings(&["zip"]),
        ..Columns::default()
    };
    let table = read(std::slice::from_ref(&path), &chosen, Purpose::Train).unwrap();
    assert_eq!(table.frame.names(), ["a", "zip"]);
    assert_eq!(texts(&table, 1), ["zip=01", "zip=02"]);
    let chosen = Columns {
        numeric: strings(&["c"]),
        ..Columns::default()
    };
    let result = read(std::slice::from_ref(&path), &chosen, Purpose::Train);
    assert_message(result, &path, &["row 1, column 'c': 'x' is not a number"]);
    let chosen = Columns {
        ignore: strings(&["d"]),
        ..Columns::default()
    };
    let result = read(std::slice::from_ref(&path), &chosen, Purpose::Train);
    assert_message(result, &path, &["no ignored column 'd'"]);
}
