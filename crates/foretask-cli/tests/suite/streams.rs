//! Tables of any size: gathered in parts, merged, trained from, and predicted in batches.

use std::path::Path;

use foretask::Statistics;

use crate::common::*;

/// A target and a source in one table whose rows alternate, so that every part has both.
fn mixed() -> Rows {
    let (north, south) = (
        Rows::of("north", &["cat", "dog"], 30, 1),
        Rows::of("south", &["cat", "dog"], 30, 2),
    );
    let pairs = north.0.into_iter().zip(south.0);
    Rows(pairs.flat_map(|(a, b)| [a, b]).collect())
}

/// Writes rows as files `part0.csv`, `part1.csv`, … that end at `ends`.
fn in_parts(folder: &Folder, rows: &Rows, ends: &[usize]) -> Vec<String> {
    let mut start = 0;
    let mut names = Vec::new();
    for (place, &end) in ends.iter().enumerate() {
        let name = format!("part{place}.csv");
        folder.write(&name, Rows(rows.0[start..end].to_vec()).csv());
        names.push(name);
        start = end;
    }
    names
}

fn gather(folder: &Folder, files: &[&str], more: &[&str], output: &str) -> String {
    let mut arguments = vec!["gather"];
    arguments.extend(files);
    arguments.extend(more);
    arguments.extend(["-o", output]);
    folder.stdout(&arguments)
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Scores and probabilities of the rows of `test.csv`.
fn scores(folder: &Folder, model: &str) -> Vec<f64> {
    let text = folder.stdout(&["predict", model, "test.csv", "--scores", "--probabilities"]);
    let cells = text
        .lines()
        .skip(1)
        .flat_map(|line| line.split(',').skip(2));
    cells.map(|cell| cell.parse().unwrap()).collect()
}

/// Sums in another order have other last bits, and nothing else.
fn assert_close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() < 1e-8, "{a} and {b}");
    }
}

#[test]
fn what_is_gathered_and_merged_is_what_one_table_would_be() {
    let folder = Folder::new();
    let rows = mixed();
    folder.write("train.csv", rows.csv());
    folder.write("test.csv", Rows::of("north", &["cat", "dog"], 20, 9).csv());
    let fit = |data: &[&str], model: &str| {
        let mut arguments = vec!["fit"];
        arguments.extend(data);
        arguments.extend(["--target", "north", "-o", model]);
        folder.stdout(&arguments);
        scores(&folder, model)
    };
    let expected = fit(&["train.csv"], "table.safetensors");
    for (split, ends) in [&[120][..], &[50, 120], &[11, 12, 70, 71, 120]]
        .into_iter()
        .enumerate()
    {
        let parts = in_parts(&folder, &rows, ends);
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let all = format!("all{split}.stats");
        // Every row is kept: some views of the default need those of all tasks.
        gather(&folder, &parts, &["--rows", "keep"], &all);
        let model = format!("all{split}.safetensors");
        assert_close(&fit(&[&all], &model), &expected);
    }
    // Few values at a time.
    gather(
        &folder,
        &["train.csv"],
        &["--rows", "keep", "--batch", "35"],
        "few.stats",
    );
    assert_close(&fit(&["few.stats"], "few.safetensors"), &expected);

    // In pairs, on machines that know the columns: the same bits as together.
    let parts = in_parts(&folder, &rows, &[20, 50, 90, 120]);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    gather(&folder, &parts, &["--target", "north"], "together.stats");
    let known = ["--target", "north", "--columns", "together.columns.json"];
    gather(&folder, &parts[..2], &known, "left.stats");
    gather(&folder, &parts[2..], &known, "right.stats");
    folder.stdout(&["merge", "left.stats", "right.stats", "-o", "merged.stats"]);
    let whole = bytes(&folder.path("together.stats"));
    assert!(whole == bytes(&folder.path("merged.stats")));
    assert_eq!(
        text(&folder.path("together.columns.json")),
        text(&folder.path("merged.columns.json"))
    );
    let statistics = Statistics::from_bytes(&whole).unwrap();
    assert_eq!(statistics.parts().len(), 4);
    assert_eq!(statistics.features(), FEATURES);
    // From several files as from one.
    let one = fit(&["merged.stats"], "one.safetensors");
    assert_eq!(fit(&["left.stats", "right.stats"], "two.safetensors"), one);
    let forecast = |data: &str| {
        folder.json(&[
            "forecast",
            data,
            "--target",
            "north",
            "--no-details",
            "--json",
        ])
    };
    assert_eq!(forecast("merged.stats"), forecast("together.stats"));
}

/// Texts, flags and gaps become the same features as in memory, and the model predicts tables as they are.
#[test]
fn columns_become_the_features_that_one_table_would_have() {
    let folder = Folder::new();
    let rows = mixed();
    let line = |(place, (task, label, values)): (usize, &(String, String, Vec<f64>))| {
        let island = ["Biscoe", "Dream", "?"][place * 7 % 3];
        let flag = ["yes", "no"][place / 3 % 2];
        let gap = match place % 9 {
            0 => String::new(),
            _ => values[0].to_string(),
        };
        let code = ["low", "3", "high", "4"][place / 40];
        let name = match place % 10 {
            5 => "",
            _ => label,
        };
        format!(
            "{task},{name},{gap},{},{island},{flag},{code},{place}\n",
            values[1]
        )
    };
    let lines: Vec<String> = rows.0.iter().enumerate().map(line).collect();
    let header = "task,label,x0,x1,island,flag,code,row_id\n";
    folder.write("train.csv", header.to_owned() + &lines.concat());
    folder.write("test.csv", header.to_owned() + &lines[..50].concat());
    for (part, lines) in lines.chunks(37).enumerate() {
        folder.write(
            &format!("part{part}.csv"),
            header.to_owned() + &lines.concat(),
        );
    }
    let to = ["--target", "north", "-o"];
    let fit = |data: &str, model: &str| {
        let arguments = [&["fit", data][..], &to, &[model]].concat();
        assert!(
            folder
                .foretask(&arguments)
                .output()
                .unwrap()
                .status
                .success()
        );
        let output = folder
            .foretask(&["predict", model, "test.csv", "--scores"])
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    for missing in ["impute", "drop"] {
        let said = folder.stderr(&[
            "gather",
            "part0.csv",
            "part1.csv",
            "part2.csv",
            "part3.csv",
            "--rows",
            "keep",
            "--missing",
            missing,
            "--batch",
            "50",
            "-o",
            "all.stats",
        ]);
        assert!(said.contains("12 rows without a label left out"), "{said}");
        assert!(said.contains("left out: 'row_id'"), "{said}");
        assert!(
            said.contains("one feature per value: 'island', 'code'"),
            "{said}"
        );
        let gathered = fit("all.stats", "gathered.safetensors");
        let arguments = [
            &["fit", "train.csv", "--missing", missing][..],
            &to,
            &["table.safetensors"],
        ]
        .concat();
        assert!(
            folder
                .foretask(&arguments)
                .output()
                .unwrap()
                .status
                .success()
        );
        let names =
            |model: &str| folder.json(&["inspect", model, "--json"])["feature_names"].clone();
        assert_eq!(names("gathered.safetensors"), names("table.safetensors"));
        let table = folder
            .foretask(&["predict", "table.safetensors", "test.csv", "--scores"])
            .output();
        let table = String::from_utf8(table.unwrap().stdout).unwrap();
        let numbers = |text: &str| -> Vec<f64> {
            let lines = text
                .lines()
                .skip(1)
                .map(|line| line.rsplit(',').next().unwrap());
            lines.map(|number| number.parse().unwrap()).collect()
        };
        assert_close(&numbers(&gathered), &numbers(&table));
    }
}

#[test]
fn a_gather_that_was_interrupted_goes_on() {
    let folder = Folder::new();
    let rows = mixed();
    let parts = in_parts(&folder, &rows, &[40, 80, 120]);
    let good = text(&folder.path("part2.csv"));
    // Lines that are no rows any more are found in the second pass only if the first is spared.
    gather(&folder, &["part0.csv"], &[], "first.stats");
    folder.write("part2.csv", good.clone() + "north,cat,1,2\n");
    let files: Vec<&str> = parts.iter().map(String::as_str).collect();
    let arguments = [
        &["gather"],
        &files[..],
        &["--columns", "first.columns.json", "-o", "all.stats"],
    ]
    .concat();
    let output = folder.foretask(&arguments).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("part2.csv, row 41: has 4 cells, the header has 7"),
        "{message}"
    );
    assert!(!folder.path("all.stats").exists());
    assert!(folder.path("all.stats.parts").is_dir());

    folder.write("part2.csv", good);
    // Known by what it holds, not by its name.
    std::fs::rename(folder.path("part1.csv"), folder.path("other.csv")).unwrap();
    let arguments = [
        "gather",
        "part0.csv",
        "other.csv",
        "part2.csv",
        "--columns",
        "first.columns.json",
        "-o",
        "all.stats",
    ];
    let said = folder.stderr(&arguments);
    assert!(said.contains("part0.csv: gathered before"), "{said}");
    assert!(said.contains("other.csv: gathered before"), "{said}");
    assert!(!said.contains("part2.csv"), "{said}");
    assert!(!folder.path("all.stats.parts").exists());
    let again = bytes(&folder.path("all.stats"));
    // Nothing is left: all over again, and the same.
    assert_eq!(folder.stderr(&arguments), "");
    assert!(again == bytes(&folder.path("all.stats")));

    // A folder of one's own stays, and another part is added to it.
    let keep = ["--parts", "kept", "--columns", "first.columns.json"];
    gather(&folder, &["part0.csv", "other.csv"], &keep, "two.stats");
    let arguments = [
        &["gather", "part0.csv", "other.csv", "part2.csv"],
        &keep[..],
        &["-o", "all.stats"],
    ]
    .concat();
    assert_eq!(folder.stderr(&arguments).lines().count(), 2);
    assert!(again == bytes(&folder.path("all.stats")));
    // A part that was edited is another part.
    folder.write(
        "part0.csv",
        text(&folder.path("part0.csv")).replace("cat", "cats"),
    );
    assert_eq!(folder.stderr(&arguments).lines().count(), 2);
    assert!(again != bytes(&folder.path("all.stats")));
}

#[test]
fn the_same_rows_twice_are_refused_unless_they_are_meant() {
    let folder = Folder::new();
    in_parts(&folder, &mixed(), &[60, 120]);
    folder.write("copy.csv", text(&folder.path("part0.csv")));
    folder.fails_with(
        &[
            "gather",
            "part0.csv",
            "part1.csv",
            "copy.csv",
            "-o",
            "all.stats",
        ],
        &["copy.csv holds rows of part0.csv", "--again"],
    );
    let twice = [
        "gather",
        "part0.csv",
        "copy.csv",
        "--again",
        "-o",
        "twice.stats",
    ];
    let said = folder.stderr(&twice);
    assert!(said.contains("copy.csv: gathered before"), "{said}");
    let statistics = Statistics::from_bytes(&bytes(&folder.path("twice.stats"))).unwrap();
    let tasks = statistics.cells().tasks().iter();
    assert_eq!(tasks.map(foretask::Task::samples).sum::<usize>(), 120);
    gather(&folder, &["part0.csv"], &[], "a.stats");
    gather(
        &folder,
        &["part0.csv", "part1.csv"],
        &["--columns", "a.columns.json"],
        "ab.stats",
    );
    folder.fails_with(
        &["merge", "a.stats", "ab.stats", "-o", "x.stats"],
        &["ab.stats holds rows of a.stats"],
    );
    folder.fails_with(
        &[
            "fit",
            "a.stats",
            "ab.stats",
            "--target",
            "north",
            "-o",
            "x.safetensors",
        ],
        &["ab.stats holds rows of a.stats"],
    );
    let said = folder.stdout(&["merge", "a.stats", "ab.stats", "--again", "-o", "x.stats"]);
    assert!(said.contains("180 rows"), "{said}");
}

#[test]
fn bad_statistics_are_refused() {
    let folder = Folder::new();
    in_parts(&folder, &mixed(), &[60, 120]);
    gather(
        &folder,
        &["part0.csv"],
        &["--target", "north"],
        "good.stats",
    );
    let good = bytes(&folder.path("good.stats"));
    folder.write("cut.stats", &good[..good.len() - 9]);
    let mut edited = good.clone();
    *edited.last_mut().unwrap() ^= 1;
    folder.write("edited.stats", &edited);
    // Told by what it holds.
    folder.write("good.bin", &good);
    for name in ["cut.stats", "edited.stats"] {
        let parts = [name, "the statistics cannot be read", "foretask gather"];
        folder.fails_with(&["merge", "good.stats", name, "-o", "x.stats"], &parts);
        folder.fails_with(
            &["fit", name, "--target", "north", "-o", "x.safetensors"],
            &parts,
        );
    }
    folder.stdout(&[
        "fit",
        "good.bin",
        "--target",
        "north",
        "-o",
        "m.safetensors",
    ]);
    folder.fails_with(
        &[
            "fit",
            "good.stats",
            "part1.csv",
            "--target",
            "north",
            "-o",
            "x.safetensors",
        ],
        &["good.stats is statistics, and other files are tables"],
    );
    folder.fails_with(
        &[
            "fit",
            "good.stats",
            "--label",
            "label",
            "--target",
            "north",
            "-o",
            "x.safetensors",
        ],
        &["--label", "foretask gather"],
    );
    // Rows that were not kept, and how to keep them.
    gather(&folder, &["part0.csv"], &["--rows", "never"], "none.stats");
    folder.fails_with(
        &[
            "fit",
            "none.stats",
            "--target",
            "north",
            "--labels",
            "optimal",
            "-o",
            "x.safetensors",
        ],
        &["needs the rows of task 'north'", "foretask gather --target"],
    );
    // Folds in which a class has one row would show it; that they are given up is said.
    let told = |folds: &str| {
        let more = ["--target", "north", "--folds", folds, "-o", "bare.stats"];
        folder.stderr(&[&["gather", "part0.csv", "--rows", "never"], &more[..]].concat())
    };
    let given_up = "no folds of 'north' are kept: one of them has a single row of a class";
    assert!(told("50").contains(given_up));
    assert_eq!(told("2"), "");
    // Fewer rows than features cannot be told without them.
    folder.write("few.csv", Rows::of("few", &["a", "b"], 2, 5).csv());
    folder.fails_with(
        &["gather", "few.csv", "--rows", "never", "-o", "x.stats"],
        &["task 'few'", "its rows would be shown"],
    );
    // Another set of features.
    folder.write(
        "other.csv",
        "task,label,x0,y\nt,a,1,2\nt,b,2,1\nt,b,2,3.5\n",
    );
    gather(&folder, &["other.csv"], &[], "other.stats");
    folder.fails_with(
        &["merge", "good.stats", "other.stats", "-o", "x.stats"],
        &[
            "other.stats: its feature columns are not those of good.stats",
            "'y'",
        ],
    );
    let plan = text(&folder.path("good.columns.json"));
    folder.write(
        "good.columns.json",
        plan.replace("foretask-columns-1", "foretask-columns-9"),
    );
    folder.fails_with(
        &["merge", "good.stats", "-o", "x.stats"],
        &["good.columns.json", "foretask-columns-9"],
    );
}

#[test]
fn a_bad_cell_is_named_with_its_file_and_row() {
    let folder = Folder::new();
    in_parts(&folder, &mixed(), &[60, 120]);
    let lines: Vec<String> = text(&folder.path("part1.csv"))
        .lines()
        .map(str::to_owned)
        .collect();
    let with = |row: usize, change: &dyn Fn(&str) -> String| {
        let mut lines = lines.clone();
        lines[row] = change(&lines[row]);
        folder.write("bad.csv", lines.join("\n") + "\n");
    };
    let cell = |text: &str, column: usize, value: &str| {
        let mut cells: Vec<&str> = text.split(',').collect();
        cells[column] = value;
        cells.join(",")
    };
    let fails = |more: &[&str], parts: &[&str]| {
        let arguments = [
            &["gather", "bad.csv", "--batch", "40", "-o", "x.stats"],
            more,
        ]
        .concat();
        folder.fails_with(&arguments, parts);
    };
    with(33, &|line| cell(line, 4, "inf"));
    fails(&[], &["bad.csv, row 33, column 'x2': the value is inf"]);
    with(33, &|line| cell(line, 4, "far"));
    fails(
        &[],
        &["bad.csv, row 33, column 'x2': 'far' is not a number"],
    );
    with(33, &|line| format!("{line},1"));
    fails(&[], &["bad.csv, row 33: has 8 cells"]);
    with(33, &|line| cell(line, 0, ""));
    fails(&[], &["bad.csv, row 33, column 'task': the task is empty"]);
    with(33, &|line| cell(line, 4, "NaN"));
    fails(
        &["--missing", "refuse"],
        &["bad.csv, row 33, column 'x2': the value is missing"],
    );
    // Texts and tasks that another run did not see.
    folder.write(
        "known.csv",
        "label,task,x,k\na,t,1.5,u\nb,t,2,v\na,t,3,u\nb,t,,v\n",
    );
    folder.stderr(&["gather", "known.csv", "-o", "known.stats"]);
    folder.write("new.csv", "label,task,x,k\na,t,1,u\nb,t,2,w\n");
    let known = [
        "gather",
        "new.csv",
        "--columns",
        "known.columns.json",
        "-o",
        "x.stats",
    ];
    folder.fails_with(
        &known,
        &["new.csv: 1 rows from row 1 on", "column 'k'", "--columns"],
    );
    folder.write("new.csv", "label,task,x,k\na,s,1,u\nb,s,,v\n");
    folder.fails_with(
        &known,
        &["new.csv, row 2, column 'x'", "does not know the task 's'"],
    );
    folder.write("new.csv", "label,task,x,k\na,s,1,u\nb,s,2,v\n");
    let said = folder.stderr(&known);
    assert!(said.contains("one feature per value: 'k'"), "{said}");
    folder.write("empty.csv", "task,label,x0\n");
    folder.fails_with(
        &["gather", "empty.csv", "-o", "x.stats"],
        &["not a single data row"],
    );
    folder.fails_with(
        &["gather", "-", "-o", "x.stats"],
        &["standard input: can be read once"],
    );
    folder.fails_with(
        &["gather", "part1.csv", "--group", "x0", "-o", "x.stats"],
        &["--group", "statistics keep no groups"],
    );
}

#[test]
fn an_output_that_cannot_be_written_leaves_nothing() {
    let folder = with_model();
    in_parts(&folder, &mixed(), &[60, 120]);
    folder.fails_with(
        &["gather", "part0.csv", "-o", "no/x.stats"],
        &["there is no folder"],
    );
    folder.fails_with(
        &["gather", "part0.csv", "-o", "part0.csv"],
        &["overwrite an input"],
    );
    // The plan could be written, the statistics cannot: neither stays.
    folder.write(
        "new.csv",
        "task,label,x0,x1,x2,x3,x4\nnorth,cat,1,2,3,4,5\nnorth,dog,1,2,3,4\n",
    );
    folder.fails_with(
        &[
            "predict",
            "model.safetensors",
            "new.csv",
            "--batch",
            "5",
            "-o",
            "p.csv",
        ],
        &["new.csv, row 2"],
    );
    #[cfg(target_os = "linux")]
    {
        let full = [
            "predict",
            "model.safetensors",
            "test.csv",
            "-o",
            "/dev/full",
        ];
        folder.fails_with(&full, &["/dev/full: cannot be written"]);
        let link = folder.path("full.stats");
        std::os::unix::fs::symlink("/dev/full", link).unwrap();
        folder.fails_with(
            &["gather", "part0.csv", "-o", "full.stats"],
            &["full.stats: cannot be written"],
        );
    }
}

/// Rows are decided some at a time, and nobody can tell.
#[test]
fn predictions_do_not_depend_on_how_many_rows_are_held() {
    let folder = with_model();
    let rows = Rows::of("north", &["cat", "dog"], 700, 5);
    let (first, second) = rows.0.split_at(950);
    folder.write("new.csv", rows.csv());
    folder.write("first.csv", Rows(first.to_vec()).csv());
    folder.write("second.csv", Rows(second.to_vec()).csv());
    for options in [
        &["--scores", "--probabilities"][..],
        &["--json", "--scores", "--append"],
        &["--keep", "task,x1"],
    ] {
        let predict = |files: &[&str], batch: &str| {
            let model = ["predict", "model.safetensors", "--batch", batch];
            folder.stdout(&[&model[..], options, files].concat())
        };
        let whole = predict(&["new.csv"], "2097152");
        assert_eq!(
            whole.lines().count(),
            1400 + usize::from(options[0] != "--json")
        );
        for batch in ["1", "13", "1000", "4321"] {
            assert!(predict(&["new.csv"], batch) == whole, "{options:?} {batch}");
            assert!(predict(&["first.csv", "second.csv"], batch) == whole);
        }
        let model = [
            "predict",
            "model.safetensors",
            "new.csv",
            "-o",
            "p.csv",
            "--batch",
            "77",
        ];
        folder.stdout(&[&model[..], options].concat());
        assert!(text(&folder.path("p.csv")) == whole);
    }
}

/// Tables that take more memory than they may are read in batches, by `fit` and by `forecast`.
#[test]
fn tables_that_are_too_large_are_streamed_unasked() {
    let folder = Folder::new();
    folder.write("train.csv", mixed().csv());
    folder.write("test.csv", Rows::of("north", &["cat", "dog"], 20, 9).csv());
    let fit = |more: &[&str], model: &str| {
        let mut arguments = vec!["fit", "train.csv", "--target", "north", "-o", model];
        arguments.extend(["--views", "linear", "--no-rehearsal"]);
        arguments.extend(more);
        let said = folder.stderr(&arguments);
        (scores(&folder, model), said)
    };
    let (expected, quiet) = fit(&[], "table.safetensors");
    assert!(!quiet.contains("--memory"), "{quiet}");
    let (own, said) = fit(&["--memory", "1KB"], "streamed.safetensors");
    assert_close(&own, &expected);
    assert!(said.contains("more than --memory"), "{said}");
    let forecast = folder
        .foretask(&[
            "forecast",
            "train.csv",
            "--target",
            "north",
            "--memory",
            "1K",
            "--json",
        ])
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&forecast.stdout).unwrap();
    let notes = report["forecast"]["notes"].to_string();
    assert!(notes.contains("streamed"), "{notes}");
    folder.fails_with(
        &[
            "fit",
            "train.csv",
            "--target",
            "north",
            "--memory",
            "much",
            "-o",
            "x.safetensors",
        ],
        &["write a size as 500MB or 16GB"],
    );
}

/// Whoever gathers need not know yet who the target will be.
#[test]
fn any_task_may_be_the_target_later() {
    let folder = Folder::new();
    folder.write("train.csv", mixed().csv());
    gather(&folder, &["train.csv"], &[], "all.stats");
    for target in ["north", "south"] {
        let report = folder.json(&["forecast", "all.stats", "--target", target, "--json"]);
        assert_eq!(report["forecast"]["samples"], 60);
    }
}

/// One pass over a table gives the bytes of two, whatever comes to light late in it; parts that are kept for another run
/// take two.
#[test]
fn one_pass_gathers_what_two_do() {
    fn plain(row: usize) -> String {
        format!("{},{}", row % 7, (row * 37 % 11) as f64 / 4.0)
    }
    type Cells = fn(usize) -> String;
    let tables: [(&str, Cells); 6] = [
        ("plain", plain),
        ("gap", |row| match row {
            90 => ",2.5".into(),
            _ => plain(row),
        }),
        ("text", |row| {
            format!("{},1.{}", ["red", "green", "blue"][row % 3], row % 7)
        }),
        // Row numbers, of which the first batch does not tell.
        ("numbers", |row| {
            format!("{},{}", row * 37 % 100, (row % 9) as f64 / 2.0)
        }),
        ("constant", |row| format!("{},4", row * 37 % 11)),
        ("late", |row| format!("{},{}", row / 99, row * 37 % 11)),
    ];
    for (name, cells) in tables {
        let folder = Folder::new();
        let mut text = String::from("u,v,label,task\n");
        for row in 0..100 {
            let label = if row % 3 == 0 { "cat" } else { "dog" };
            let task = if row % 2 == 0 { "north" } else { "south" };
            text += &format!("{},{label},{task}\n", cells(row));
        }
        folder.write("table.csv", text);
        let gather = |more: &[&str], output: &str| {
            let table = ["gather", "table.csv", "--batch", "64", "-o", output];
            folder.stderr(&[&table[..], more].concat())
        };
        let told = gather(&[], "one.stats");
        assert_eq!(told, gather(&["--parts", "kept"], "two.stats"), "{name}");
        for file in ["stats", "columns.json"] {
            let [one, two] =
                ["one", "two"].map(|own| bytes(&folder.path(&format!("{own}.{file}"))));
            assert!(one == two, "{name}.{file}");
        }
    }
}
