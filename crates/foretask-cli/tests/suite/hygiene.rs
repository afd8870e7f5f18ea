//! Names of columns, tasks, classes, texts and files do nothing to a terminal and nothing to a picture, whichever
//! command shows them.

#![cfg(unix)]

use crate::common::*;

/// Clears the screen, sets a title, goes back, rings, turns the direction of text, and is a tag.
const HOSTILE: [&str; 6] = [
    "\u{1b}[2J",
    "\u{1b}]0;owned\u{7}",
    "\u{8}\u{8}",
    "\u{9b}31m",
    "\u{202e}abc",
    "<script>",
];

/// The letters that a terminal would take for an order; lines end, and a tab is written by nobody.
fn assert_quiet(what: &str, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let loud = |letter: char| {
        letter.is_control() && letter != '\n' || ('\u{202a}'..='\u{202e}').contains(&letter)
    };
    let line = text.lines().find(|line| line.contains(loud));
    assert!(line.is_none(), "{what}: {line:?}");
}

#[test]
fn no_command_lets_names_through() {
    for hostile in HOSTILE {
        let folder = Folder::new();
        let (task, class) = (format!("ta{hostile}sk"), format!("cl{hostile}ass"));
        let rows = Rows::of(&task, &[&class, "dog"], 12, 1).and(Rows::of(
            "south",
            &[&class, "dog"],
            20,
            2,
        ));
        let csv = rows.csv();
        let mut lines = csv.lines();
        let (column, constant) = (format!("wa{hostile}rd"), format!("sa{hostile}me"));
        let mut text = format!("{},{column},{constant},id\n", lines.next().unwrap());
        for (row, line) in lines.enumerate() {
            let ward = ["a", "b", hostile][row % 3];
            text += &format!("{line},{ward},1,{row}\n");
        }
        let name = |stem: &str| format!("{stem}{}", hostile.replace('/', ""));
        let (train, other) = (name("train") + ".csv", name("other") + ".csv");
        folder.write(&train, &text);
        // Texts that training never saw, and a number that is none.
        folder.write(&other, text.replace(",a,1,", &format!(",new{hostile},1,")));
        let bad = name("bad") + ".csv";
        folder.write(&bad, text.replacen(",0", &format!(",{hostile}x"), 1));
        let (stats, model) = (name("all") + ".stats", name("model"));
        let both = name("both") + ".stats";
        let onnx = name("model") + ".onnx";
        let page = name("page") + ".html";
        let svg = name("picture") + ".svg";
        let alarm = ["--null", &class, "--false-alarm", "0.2"];
        let commands: Vec<Vec<&str>> = vec![
            vec!["check", &train],
            vec!["fit", &train, "--target", &task, "-o", &model, "--details"],
            vec!["gather", &train, "--target", &task, "-o", &stats],
            vec!["gather", &train, &other, "--again", "-o", &both],
            vec!["merge", &stats, "-o", &both],
            vec!["fit", &stats, "--target", &task, "-o", "second"],
            [&["forecast", &train, "--target", &task][..], &alarm].concat(),
            vec![
                "forecast",
                &train,
                "--target",
                &task,
                "--details",
                "--plot",
                &svg,
            ],
            vec!["inspect", &model],
            vec!["evaluate", &model, &other],
            vec!["predict", &model, &other, "-o", "predictions"],
            vec!["export", &model, "--onnx", &onnx],
            vec![
                "report",
                &train,
                "--target",
                &task,
                "--no-details",
                "-o",
                &page,
            ],
        ];
        for arguments in commands {
            let output = folder.foretask(&arguments).output().unwrap();
            let what = format!("{arguments:?}");
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{what}: {message}");
            assert_quiet(&what, &output.stdout);
            assert_quiet(&what, &output.stderr);
        }
        let drawn = std::fs::read(folder.path(&svg)).unwrap();
        assert_quiet("the picture", &drawn);
        assert!(!String::from_utf8_lossy(&drawn).contains("<script>"));
        // The same of what goes wrong.
        let missing = name("none");
        let refused: Vec<Vec<&str>> = vec![
            vec!["fit", &train, "--target", &missing, "-o", "x"],
            vec!["fit", &train, "--label", &missing, "-o", "x"],
            vec!["fit", &missing, "-o", "x"],
            vec!["fit", &bad, "--numeric", "x0", "--target", &task, "-o", "x"],
            vec!["fit", &train, "--target", &task, "-o", &train],
            vec!["inspect", &train],
            vec!["inspect", &missing],
            vec!["merge", &train, "-o", "x"],
            vec!["evaluate", &model, &train, "--label", &column],
            vec!["export", &missing, "--onnx", "x"],
            vec!["gather", &train, &train, "-o", "x.stats"],
            vec!["report", &train, "--target", &task, "-o", &page],
        ];
        for arguments in refused {
            let output = folder.foretask(&arguments).output().unwrap();
            let what = format!("{arguments:?}");
            assert_eq!(output.status.code(), Some(2), "{what}");
            assert_quiet(&what, &output.stdout);
            assert_quiet(&what, &output.stderr);
        }
    }
}
