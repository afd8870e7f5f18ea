//! Tables become features: what is learnt, that it depends on content alone, and that a model does it again.

use foretask::prepare::{
    Column, Encoding, Features, Frame, Preparation, Prepared, Survey, Texts, Warning, WhyLeftOut,
    Wishes,
};
use foretask::{Error, Model, Settings, Study, Tasks};
use proptest::prelude::*;

fn texts(cells: &[Option<&str>]) -> Column {
    let mut texts = Texts::default();
    for cell in cells {
        texts.push(*cell);
    }
    Column::Texts(texts)
}

fn frame(columns: Vec<(&str, Column)>) -> Frame {
    let rows = columns[0].1.len();
    let (names, columns) = columns
        .into_iter()
        .map(|(name, column)| (name.to_owned(), column))
        .unzip();
    Frame::new(names, columns, rows).unwrap()
}

fn doubles(prepared: &Prepared) -> &[f64] {
    match &prepared.features {
        Features::Doubles(values) => values,
        Features::Singles(_) | Features::Entries { .. } => panic!("double precision was expected"),
    }
}

const NAN: f64 = f64::NAN;

#[test]
fn columns_become_what_people_expect() {
    let table = frame(vec![
        (
            "mass",
            Column::Numbers(vec![1.0, NAN, 5.0, 10.0, NAN, 30.0]),
        ),
        (
            "island",
            texts(&[Some("B"), Some("A"), None, Some("B"), Some("A"), Some("B")]),
        ),
        (
            "male",
            texts(&[
                Some("Yes"),
                Some("no"),
                Some("no"),
                None,
                Some("yes"),
                Some("yes"),
            ]),
        ),
    ]);
    let tasks = [0, 0, 0, 1, 1, 1];
    let learnt = Preparation::learn(&table, &tasks, 2, &Wishes::default()).unwrap();
    assert_eq!(
        learnt.feature_names(),
        [
            "mass",
            "mass is missing",
            "island=A",
            "island=B",
            "island is missing",
            "male",
            "male is missing"
        ]
    );
    let prepared = learnt.apply(table.clone(), Some(&tasks)).unwrap();
    #[rustfmt::skip]
    assert_eq!(doubles(&prepared), [
        // Medians: 3 of the first task, 20 of the second.
        1.0, 3.0, 5.0, 10.0, 20.0, 30.0,
        0.0, 1.0, 0.0, 0.0, 1.0, 0.0,
        0.0, 1.0, 0.0, 0.0, 1.0, 0.0,
        1.0, 0.0, 0.0, 1.0, 0.0, 1.0,
        0.0, 0.0, 1.0, 0.0, 0.0, 0.0,
        1.0, 0.0, 0.0, 1.0, 1.0, 1.0,
        0.0, 0.0, 0.0, 1.0, 0.0, 0.0,
    ]);
    assert_eq!(prepared.filled, 4);

    // New rows of the second task, with a level that training never saw.
    let new = frame(vec![
        ("male", texts(&[None, Some("NO")])),
        ("extra", Column::Numbers(vec![1.0, 2.0])),
        ("mass", Column::Numbers(vec![NAN, 7.0])),
        ("island", texts(&[Some("C"), Some("B")])),
    ]);
    let own = learnt.of_task(1);
    let prepared = own.apply(own.select(new).unwrap(), None).unwrap();
    #[rustfmt::skip]
    assert_eq!(doubles(&prepared), [
        20.0, 7.0,
        1.0, 0.0,
        0.0, 0.0,
        0.0, 1.0,
        0.0, 0.0,
        1.0, 0.0,
        1.0, 0.0,
    ]);
    assert_eq!(prepared.unknown, [("island".to_owned(), 1)]);
}

#[test]
fn a_task_that_never_saw_a_column_takes_the_median_of_all() {
    let table = frame(vec![("a", Column::Numbers(vec![1.0, 2.0, 9.0, NAN, NAN]))]);
    let learnt = Preparation::learn(&table, &[0, 0, 1, 2, 2], 3, &Wishes::default()).unwrap();
    assert_eq!(learnt.columns[0].fills, [1.5, 9.0, 2.0]);
    let short = Preparation::learn(&table, &[0, 0], 3, &Wishes::default());
    assert!(matches!(
        short,
        Err(Error::Shape {
            expected: 5,
            got: 2,
            ..
        })
    ));
}

#[test]
fn useless_columns_are_left_out_and_it_is_said_why() {
    let rows = 40;
    let number = |value: &dyn Fn(usize) -> f64| Column::Numbers((0..rows).map(value).collect());
    let named = |text: &dyn Fn(usize) -> String| {
        let mut texts = Texts::default();
        for row in 0..rows {
            texts.push(Some(&text(row)));
        }
        Column::Texts(texts)
    };
    let table = frame(vec![
        ("good", number(&|row| (row as f64).sin())),
        ("constant", number(&|_| 3.0)),
        ("nothing", number(&|_| NAN)),
        ("", number(&|row| (row as f64).cos())),
        ("count", number(&|row| ((row * 7) % rows) as f64 + 100.0)),
        ("patient_id", number(&|row| (row * row) as f64)),
        ("name", named(&|row| format!("name {row}"))),
        ("day", named(&|row| format!("2026-01-{:02}", row % 28 + 1))),
        ("hour", named(&|row| format!("{}:30", row % 24))),
        ("always", named(&|_| "yes".to_owned())),
        ("many", named(&|row| format!("kind {}", row % 35))),
        ("nested", Column::Untold(rows, WhyLeftOut::Nested)),
    ]);
    let tasks = vec![0; rows];
    let learnt = Preparation::learn(&table, &tasks, 1, &Wishes::default()).unwrap();
    let why: Vec<(&str, WhyLeftOut)> = learnt
        .left_out
        .iter()
        .map(|column| (column.name.as_str(), column.why))
        .collect();
    assert_eq!(
        why,
        [
            ("constant", WhyLeftOut::Constant),
            ("nothing", WhyLeftOut::Empty),
            ("", WhyLeftOut::RowNumber),
            ("count", WhyLeftOut::RowNumber),
            ("patient_id", WhyLeftOut::Identifier),
            ("name", WhyLeftOut::Identifier),
            ("day", WhyLeftOut::Dates),
            ("hour", WhyLeftOut::Dates),
            ("always", WhyLeftOut::Constant),
            ("many", WhyLeftOut::ManyLevels(Some(35))),
            ("nested", WhyLeftOut::Nested),
        ]
    );
    assert_eq!(learnt.feature_names(), ["good"]);
    // What the user names is kept.
    let wishes = Wishes {
        chosen: vec!["count".into(), "patient_id".into()],
        max_levels: 35,
        ..Wishes::default()
    };
    let learnt = Preparation::learn(&table, &tasks, 1, &wishes).unwrap();
    assert_eq!(learnt.width(), 3 + 35);
    let wishes = Wishes {
        categorical: vec!["many".into()],
        ..Wishes::default()
    };
    match Preparation::learn(&table, &tasks, 1, &wishes) {
        Err(Error::Column { column, why, .. }) => {
            assert_eq!(column, "many");
            assert!(why.contains("35 different texts"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn more_texts_than_can_be_remembered_are_free_text() {
    let mut column = Texts::default();
    for row in 0..3000 {
        column.push(Some(&format!("some words {row}")));
    }
    assert_eq!(column.kinds(), None);
    let table = frame(vec![("note", Column::Texts(column))]);
    let learnt = Preparation::learn(&table, &vec![0; 3000], 1, &Wishes::default()).unwrap();
    assert_eq!(learnt.left_out[0].why, WhyLeftOut::ManyLevels(None));
}

#[test]
fn what_changed_since_training_is_named() {
    let table = frame(vec![
        ("mass", Column::Numbers(vec![1.0, 2.5])),
        ("male", texts(&[Some("yes"), Some("no")])),
    ]);
    let learnt = Preparation::learn(&table, &[0, 0], 1, &Wishes::default()).unwrap();
    let message = |table: Frame| match learnt.select(table).and_then(|t| learnt.apply(t, None)) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it should be refused"),
    };
    let male = || ("male", texts(&[Some("yes")]));
    let said = message(frame(vec![("masss", Column::Numbers(vec![1.0])), male()]));
    assert!(
        said.contains("'mass'") && said.contains("did you mean 'masss'"),
        "{said}"
    );
    let said = message(frame(vec![("mass", texts(&[Some("heavy")])), male()]));
    assert!(
        said.contains("held numbers in training") && said.contains("heavy"),
        "{said}"
    );
    let said = message(frame(vec![
        ("mass", Column::Numbers(vec![1.0])),
        ("male", texts(&[Some("maybe")])),
    ]));
    assert!(said.contains("'male'") && said.contains("maybe"), "{said}");
    let said = message(frame(vec![
        ("mass", Column::Numbers(vec![f64::INFINITY])),
        male(),
    ]));
    assert!(
        said.contains("row 1") && said.contains("infinite"),
        "{said}"
    );
    let plain = Preparation::plain(&["mass".to_owned()]);
    let said = plain
        .apply(frame(vec![("mass", Column::Numbers(vec![1.0, NAN]))]), None)
        .unwrap_err()
        .to_string();
    assert!(said.contains("row 2") && said.contains("missing"), "{said}");
}

#[test]
fn a_look_at_a_table_finds_what_may_be_wrong() {
    let rows = 30;
    let number = |value: &dyn Fn(usize) -> f64| Column::Numbers((0..rows).map(value).collect());
    let wave = |row: usize| ((row * row) as f64 * 0.37).sin();
    // Rows 20 to 29 repeat rows 0 to 9, half of them in another task.
    let table = frame(vec![
        ("a", number(&|row| wave(row % 20))),
        ("b", number(&|row| 1e4 * wave(row % 20 + 40))),
        (
            "code",
            number(&|row| f64::from(u8::from(row % 20 < 10)) + 4.0),
        ),
        ("number", number(&|row| (3 * row * row + 1) as f64)),
    ]);
    let wishes = Wishes::default();
    let label: Vec<String> = (0..rows)
        .map(|row| if row % 20 < 10 { "u" } else { "v" }.to_owned())
        .collect();
    let task: Vec<String> = (0..rows)
        .map(|row| if (20..25).contains(&row) { "s" } else { "t" }.to_owned())
        .collect();
    let learnt = Preparation::learn(&table, &vec![0; rows], 1, &wishes).unwrap();
    let found = learnt.check(&table, &task, &label);
    let has = |wanted: &Warning| assert!(found.contains(wanted), "{wanted:?} is not in {found:?}");
    has(&Warning::IsLabel {
        column: "code".into(),
    });
    has(&Warning::Identifier {
        column: "number".into(),
    });
    has(&Warning::OneClass {
        task: "s".into(),
        class: "u".into(),
    });
    let without = frame(vec![
        ("a", table.columns()[0].clone()),
        ("b", table.columns()[1].clone()),
    ]);
    let learnt = Preparation::learn(&without, &vec![0; rows], 1, &wishes).unwrap();
    let found = learnt.check(&without, &task, &label);
    assert_eq!(
        found[..2],
        [
            Warning::Copies { rows: 5 },
            Warning::SharedRows { rows: 10 },
        ]
    );
    assert!(
        matches!(&found[2], Warning::Drowns { column, share } if column == "b" && *share > 0.99)
    );
}

/// A random table: numbers with gaps, few texts with gaps.
fn tables() -> impl Strategy<Value = (Vec<Option<i32>>, Vec<Option<u8>>, Vec<usize>)> {
    (4usize..40).prop_flat_map(|rows| {
        (
            prop::collection::vec(prop::option::weighted(0.8, -50..50), rows),
            prop::collection::vec(prop::option::weighted(0.8, 0u8..4), rows),
            prop::collection::vec(0usize..3, rows),
        )
    })
}

fn table_of(numbers: &[Option<i32>], kinds: &[Option<u8>]) -> Frame {
    let values = numbers
        .iter()
        .map(|value| value.map_or(NAN, |value| f64::from(value) + 0.5));
    let names = ["u", "v", "w", "x"];
    let cells: Vec<Option<&str>> = kinds
        .iter()
        .map(|kind| kind.map(|kind| names[usize::from(kind)]))
        .collect();
    frame(vec![
        ("n", Column::Numbers(values.collect())),
        ("k", texts(&cells)),
    ])
}

proptest! {
    /// The order of the rows changes nothing, and parts of a table become the parts of its features.
    #[test]
    fn content_decides_and_rows_are_prepared_one_by_one(
        (numbers, kinds, tasks) in tables(),
        turn in 0usize..40,
    ) {
        let wishes = Wishes::default();
        let rows = tasks.len();
        let turn = turn % rows;
        let learnt = Preparation::learn(&table_of(&numbers, &kinds), &tasks, 3, &wishes).unwrap();
        let turned = |n: usize| (n + turn) % rows;
        let moved_numbers: Vec<_> = (0..rows).map(|row| numbers[turned(row)]).collect();
        let moved_kinds: Vec<_> = (0..rows).map(|row| kinds[turned(row)]).collect();
        let moved_tasks: Vec<_> = (0..rows).map(|row| tasks[turned(row)]).collect();
        let moved = table_of(&moved_numbers, &moved_kinds);
        prop_assert_eq!(&learnt, &Preparation::learn(&moved, &moved_tasks, 3, &wishes).unwrap());

        let whole = learnt.select(table_of(&numbers, &kinds)).unwrap();
        let whole = learnt.apply(whole, Some(&tasks)).unwrap();
        prop_assert_eq!(whole.width, learnt.width());
        if learnt.columns.is_empty() {
            return Ok(());
        }
        let values = doubles(&whole);
        prop_assert!(values.iter().all(|value| value.is_finite()));
        for row in 0..rows {
            let one = learnt.select(table_of(&numbers[row..=row], &kinds[row..=row])).unwrap();
            let one = learnt.apply(one, Some(&tasks[row..=row])).unwrap();
            let own: Vec<f64> = (0..whole.width).map(|j| values[j * rows + row]).collect();
            prop_assert_eq!(doubles(&one), own.as_slice());
        }
        // One and only one level, or none where the text is missing.
        for encoded in learnt.columns.iter().filter(|c| matches!(c.encoding, Encoding::Levels(_))) {
            let Encoding::Levels(levels) = &encoded.encoding else { continue };
            let start = learnt.feature_names().iter().position(|n| n.starts_with("k=")).unwrap();
            for row in 0..rows {
                let ones: f64 = (0..levels.len()).map(|j| values[(start + j) * rows + row]).sum();
                prop_assert_eq!(ones, f64::from(u8::from(kinds[row].is_some())));
            }
        }
    }
}

#[test]
fn a_model_keeps_its_preparation_and_a_contradiction_is_refused() {
    let rows = 60;
    let wave = |row: usize, j: usize| ((row * (j + 3)) as f64 * 1.7).sin();
    let label: Vec<&str> = (0..rows)
        .map(|row| if row % 2 == 0 { "u" } else { "v" })
        .collect();
    let shift = |row: usize| if row.is_multiple_of(2) { 1.0 } else { -1.0 };
    let number =
        |j: usize| Column::Numbers((0..rows).map(|row| wave(row, j) + shift(row)).collect());
    let table = frame(vec![
        ("a", number(0)),
        ("b", number(1)),
        ("k", texts(&[Some("x"), Some("y"), None].repeat(rows / 3))),
    ]);
    let learnt = Preparation::learn(&table, &vec![0; rows], 1, &Wishes::default()).unwrap();
    let prepared = learnt.apply(table, Some(&vec![0; rows])).unwrap();
    let task = vec!["t"; rows];
    let tasks = Tasks::new(prepared.view().unwrap(), &task, &label).unwrap();
    let model = Study::new(&tasks, &Settings::default())
        .unwrap()
        .model()
        .unwrap();
    let mut told = learnt.of_task(0);
    told.label = Some("species".into());
    let model = model.with_preparation(told.clone()).unwrap();
    assert_eq!(
        model.feature_names().unwrap(),
        ["a", "b", "k=x", "k=y", "k is missing"]
    );
    let bytes = model.to_bytes().unwrap();
    let again = Model::from_bytes(&bytes).unwrap();
    assert_eq!(again.preparation(), Some(&told));
    assert_eq!(again, model);
    // A file that says fewer columns than it has weights for.
    let flag = br#"\"indicator\":true"#;
    let place = bytes.windows(flag.len()).position(|part| part == flag);
    let place = place.expect("the file says that a gap is a feature");
    let mut wrong = bytes.clone();
    wrong[place..place + flag.len()].copy_from_slice(br#"\"indicatxr\":true"#);
    let wrong = crate::tensors::sealed_anew(&wrong).unwrap();
    let said = Model::from_bytes(&wrong).unwrap_err().to_string();
    assert!(said.contains("columns do not fit"), "{said}");
    let narrow = Preparation::plain(&["a".to_owned()]);
    assert!(again.with_preparation(narrow).is_err());
}

/// Learns from a table in parts of so many rows.
fn surveyed(parts: Vec<Frame>, tasks: &[usize], wishes: &Wishes) -> (Preparation, Vec<String>) {
    let names: Vec<String> = tasks.iter().map(|task| format!("task {task}")).collect();
    let mut survey = Survey::new(wishes.clone());
    let mut first = 0;
    for part in parts {
        survey
            .add(&part, &names[first..first + part.rows()])
            .unwrap();
        first += part.rows();
    }
    survey.finish().unwrap()
}

proptest! {
    #[test]
    fn parts_are_learnt_as_the_whole((numbers, kinds, tasks) in tables(), step in 1usize..10) {
        let wishes = Wishes::default();
        let mut present: Vec<usize> = tasks.clone();
        present.sort_unstable();
        present.dedup();
        let codes: Vec<usize> = tasks
            .iter()
            .map(|task| present.iter().position(|own| own == task).unwrap())
            .collect();
        let whole = table_of(&numbers, &kinds);
        let learnt = Preparation::learn(&whole, &codes, present.len(), &wishes).unwrap();
        let parts = numbers.chunks(step).zip(kinds.chunks(step));
        let parts = parts.map(|(numbers, kinds)| table_of(numbers, kinds)).collect();
        let (parts, names) = surveyed(parts, &tasks, &wishes);
        prop_assert_eq!(parts, learnt);
        prop_assert_eq!(names.len(), present.len());
    }
}

#[test]
fn a_survey_leaves_out_what_the_whole_would() {
    let rows = 40usize;
    let of = |value: &dyn Fn(usize) -> f64| Column::Numbers((0..rows).map(value).collect());
    let words = |word: &dyn Fn(usize) -> String| {
        let words: Vec<String> = (0..rows).map(word).collect();
        texts(
            &words
                .iter()
                .map(|word| Some(word.as_str()))
                .collect::<Vec<_>>(),
        )
    };
    let columns = |range: std::ops::Range<usize>| {
        let mut table = frame(vec![
            ("constant", of(&|_| 3.0)),
            // A permutation: 7 and 40 have no factor in common.
            ("number", of(&|row| (row * 7 % rows) as f64 + 5.0)),
            // As many different places, one of them twice.
            ("nearly", of(&|row| (row * 7 % rows).max(1) as f64)),
            ("patient_id", of(&|row| (row * row) as f64)),
            ("ward_id", of(&|row| (row * row / 2 * 2 % 900) as f64)),
            ("", of(&|row| row as f64 / 2.0)),
            ("empty", of(&|_| NAN)),
            ("day", words(&|row| format!("2024-01-{:02}", row % 28 + 1))),
            ("who", words(&|row| format!("person {row}"))),
            ("yes", words(&|row| ["Yes", "no"][row % 2].into())),
            (
                "code",
                Column::Singles((0..rows).map(|row| (row % 3) as f32).collect()),
            ),
            (
                "nested",
                Column::Untold(rows, foretask::prepare::WhyLeftOut::Nested),
            ),
        ]);
        let kept: Vec<bool> = (0..rows).map(|row| range.contains(&row)).collect();
        table.retain(&kept);
        table
    };
    let wishes = Wishes {
        categorical: vec!["code".into()],
        ..Wishes::default()
    };
    let tasks: Vec<usize> = (0..rows).map(|row| row % 2).collect();
    let learnt = Preparation::learn(&columns(0..rows), &tasks, 2, &wishes).unwrap();
    for cut in [1, 13, 39] {
        let (parts, _) = surveyed(vec![columns(0..cut), columns(cut..rows)], &tasks, &wishes);
        assert_eq!(parts, learnt, "cut at {cut}");
    }
    let left_out: Vec<&str> = learnt.left_out.iter().map(|c| c.name.as_str()).collect();
    assert!(left_out.contains(&"number") && left_out.contains(&"patient_id"));
    let used: Vec<&str> = learnt.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(used, ["nearly", "ward_id", "yes", "code"]);

    // What is text in one part is text in all.
    let numbers = frame(vec![("x", Column::Numbers(vec![1.0, 2.0, 1.0]))]);
    let words = frame(vec![("x", texts(&[Some("a"), Some("2")]))]);
    let mut whole = numbers.clone();
    whole.append(words.clone()).unwrap();
    let learnt = Preparation::learn(&whole, &[0; 5], 1, &Wishes::default()).unwrap();
    let (parts, _) = surveyed(vec![numbers, words], &[0; 5], &Wishes::default());
    assert_eq!(parts, learnt);
}

/// The median of a sample, and the same one however the rows come.
#[test]
fn many_rows_of_a_task_are_sampled_for_their_median() {
    let rows = 50_000;
    let value = |row: usize| match row % 10 {
        0 => NAN,
        _ => (row as f64 * 0.618_033_988_749_895).fract(),
    };
    let parts = |step: usize| {
        let starts = (0..rows).step_by(step);
        let part = |start: usize| (start..(start + step).min(rows)).map(value).collect();
        starts
            .map(|start| frame(vec![("x", Column::Numbers(part(start)))]))
            .collect()
    };
    let (wishes, tasks) = (Wishes::default(), vec![0; rows]);
    let (few, _) = surveyed(parts(40_000), &tasks, &wishes);
    let (many, _) = surveyed(parts(777), &tasks, &wishes);
    assert_eq!(few, many);
    // The median of 7,400 uniform values has a standard deviation of 0.006.
    assert!((few.columns[0].fills[0] - 0.5).abs() < 0.03);
    assert_eq!(few.columns[0].missing, 0.1);
}

/// Sparse columns are the numbers they stand for, whatever is done to them.
#[test]
fn sparse_columns_are_the_numbers_they_stand_for() {
    let every = [
        vec![0.0, 2.5, 0.0, -1.0, 0.0, 0.0],
        vec![0.0, 0.0, 0.0, 0.0, 4.0, 3.0],
        vec![1.0, 0.0, 7.0, 0.0, 0.0, 2.0],
    ];
    let sparse = |values: &[f64]| {
        let given = (0_u32..).zip(values).filter(|(_, value)| **value != 0.0);
        let (at, values): (Vec<u32>, Vec<f64>) = given.map(|(row, &value)| (row, value)).unzip();
        Column::Sparse {
            rows: 6,
            at,
            values,
        }
    };
    let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    let frame = |of: &dyn Fn(&[f64]) -> Column| {
        let columns = every.iter().map(|values| of(values)).collect();
        Frame::new(names.clone(), columns, 6).unwrap()
    };
    let (thin, full) = (
        frame(&sparse),
        frame(&|values| Column::Numbers(values.to_vec())),
    );
    let wishes = Wishes::default();
    let task = [0, 0, 0, 1, 1, 1];
    let learnt = Preparation::learn(&full, &task, 2, &wishes).unwrap();
    assert_eq!(
        Preparation::learn(&thin, &task, 2, &wishes).unwrap(),
        learnt
    );
    let surveyed = |frame: &Frame| {
        let mut survey = Survey::new(wishes.clone());
        survey
            .add(frame, &task.map(|task| task.to_string()))
            .unwrap();
        survey.finish().unwrap()
    };
    assert_eq!(surveyed(&thin), surveyed(&full));
    let dense = |frame: Frame| -> Vec<f64> {
        let prepared = learnt.apply(frame, Some(&[0; 12])).unwrap();
        let Features::Entries {
            starts,
            columns,
            values,
        } = &prepared.features
        else {
            panic!("entries were expected");
        };
        assert_eq!(prepared.view().unwrap().len(), prepared.rows);
        let mut all = vec![0.0; prepared.rows * 3];
        for row in 0..prepared.rows {
            for entry in starts[row]..starts[row + 1] {
                all[columns[entry] as usize * prepared.rows + row] = values[entry];
            }
        }
        all
    };
    assert_eq!(dense(thin.clone()), every.concat());
    let mut some = thin.clone();
    some.retain(&[true, false, true, true, false, true]);
    let kept = |values: &Vec<f64>| [0, 2, 3, 5].map(|row| values[row]).to_vec();
    assert_eq!(
        dense(some),
        every.iter().map(kept).collect::<Vec<_>>().concat()
    );
    for other in [thin.clone(), full] {
        let mut both = thin.clone();
        both.append(other).unwrap();
        let twice: Vec<Vec<f64>> = every.iter().map(|values| values.repeat(2)).collect();
        assert_eq!(dense(both), twice.concat());
    }
    for (at, values) in [
        (vec![3, 1], vec![1.0, 1.0]),
        (vec![6], vec![1.0]),
        (vec![1], vec![]),
    ] {
        let column = Column::Sparse {
            rows: 6,
            at,
            values,
        };
        assert!(Frame::new(vec!["a".into()], vec![column], 6).is_err());
    }
}
