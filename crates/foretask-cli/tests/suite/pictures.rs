//! Pictures of every command, in every format; and what `completions --install` writes.

use crate::common;

use common::{Folder, Rows, text, three_classes, two_tasks, with_model};

/// The tags of an SVG are closed in their order, and it holds no control character.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, after) = tag.split_once('>').unwrap();
        assert!(!after.contains('>'), "{after}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(
        svg.chars()
            .all(|letter| letter == '\n' || !letter.is_control())
    );
    for part in ["NaN", "inf\"", "href", "script"] {
        assert!(!svg.contains(part), "{part}");
    }
}

#[test]
fn forecast_draws_what_it_says() {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    let forecast = ["forecast", "train.csv", "--target", "north"];
    let plain = folder.stdout(&forecast);
    let drawn = folder.stdout(&[&forecast[..], &["--plot", "all.svg"]].concat());
    assert_eq!(plain, drawn, "a picture changes nothing that is said");
    let svg = text(&folder.path("all.svg"));
    assert_well_formed(&svg);
    let expected = plain.split_whitespace().nth(2).unwrap();
    for part in [
        &format!("&#39;north&#39;: expected error {expected} %"),
        "cat",
        "dog",
        "threshold",
        "now",
        "+100",
        "What 1 source bring",
        "south",
        "99 % interval",
        "AUC",
        "foretold, 90 % interval",
    ] {
        assert!(svg.contains(part), "'{part}' is not in:\n{svg}");
    }
    folder.stdout(&[&forecast[..], &["--no-details", "--plot", "few.svg"]].concat());
    let svg = text(&folder.path("few.svg"));
    assert!(!svg.contains("+100") && svg.contains("AUC"));
    // A theory has no samples to make a band of.
    let theory = [
        "--theory",
        "isotropic",
        "--labels",
        "optimal",
        "--no-details",
        "--plot",
        "theory.svg",
    ];
    folder.stdout(&[&forecast[..], &theory].concat());
    let svg = text(&folder.path("theory.svg"));
    assert_well_formed(&svg);
    assert!(!svg.contains("foretold, 90 % interval"));
}

#[test]
fn every_command_draws_every_format() {
    let folder = with_model();
    folder.write("three.csv", three_classes().csv());
    folder.stdout(&[
        "fit",
        "three.csv",
        "--target",
        "north",
        "-o",
        "m3",
        "--plot",
        "fit3.svg",
    ]);
    assert!(text(&folder.path("fit3.svg")).contains("What each class is expected to be called"));
    for (format, start) in [
        ("svg", &b"<svg "[..]),
        ("png", b"\x89PNG"),
        ("html", b"<!DOCTYPE html>"),
        ("SVG", b"<svg "),
    ] {
        for (name, arguments) in [
            (
                "fit",
                &["fit", "train.csv", "--target", "north", "-o", "m"][..],
            ),
            (
                "forecast",
                &["forecast", "three.csv", "--target", "north", "--no-details"],
            ),
            ("two", &["evaluate", "model.safetensors", "test.csv"]),
            ("three", &["evaluate", "m3", "three.csv"]),
        ] {
            let file = format!("{name}.{format}");
            folder.stdout(&[arguments, &["--plot", &file]].concat());
            let bytes = std::fs::read(folder.path(&file)).unwrap();
            assert!(bytes.starts_with(start), "{file}");
            if format == "svg" {
                assert_well_formed(&String::from_utf8(bytes).unwrap());
            }
        }
    }
    let two = text(&folder.path("two.svg"));
    for part in [
        "cat",
        "dog",
        "measured",
        "foretold",
        "100 test samples",
        "all samples",
        "AUC",
    ] {
        assert!(two.contains(part), "'{part}'");
    }
    let fitted = text(&folder.path("fit.svg"));
    assert!(fitted.contains("How alike the sources are") && fitted.contains("south"));
    assert!(text(&folder.path("three.svg")).contains("What each class was called"));
}

/// Names from files are text in a picture, whatever they are, and one label of each class is no ground for a curve.
#[test]
fn odd_tables_have_pictures() {
    let folder = Folder::new();
    let long = "n".repeat(10_000);
    let odd = "<b>&'\u{1b}[31m\u{202e}</svg>";
    let rows = Rows::of(&long, &[odd, "dog"], 12, 1).and(Rows::of(odd, &[odd, "dog"], 30, 2));
    folder.write("odd.csv", rows.csv());
    folder.stdout(&[
        "forecast", "odd.csv", "--target", &long, "--plot", "odd.svg",
    ]);
    let svg = text(&folder.path("odd.svg"));
    assert_well_formed(&svg);
    assert!(svg.contains("&lt;b&gt;&amp;") && !svg.contains(&"n".repeat(200)));
    folder.write("one.csv", Rows::of("north", &["cat", "dog"], 1, 1).csv());
    folder.stdout(&["forecast", "one.csv", "--plot", "one.svg"]);
    let svg = text(&folder.path("one.svg"));
    assert_well_formed(&svg);
    assert!(svg.contains("cannot be told from one label") && !svg.contains("AUC"));
    let names: Vec<String> = (0..40).map(|class| format!("class {class}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    folder.write("forty.csv", Rows::of("north", &names, 4, 5).csv());
    folder.stdout(&[
        "forecast",
        "forty.csv",
        "--no-details",
        "--plot",
        "forty.svg",
    ]);
    assert_well_formed(&text(&folder.path("forty.svg")));
}

#[test]
fn a_picture_that_cannot_be_written_is_refused_first() {
    let folder = with_model();
    let forecast = ["forecast", "train.csv", "--target", "north", "--plot"];
    let fails =
        |plot: &str, parts: &[&str]| folder.fails_with(&[&forecast[..], &[plot]].concat(), parts);
    fails("picture.jpg", &["picture.jpg", ".svg, .png or .html"]);
    fails("picture", &[".svg, .png or .html"]);
    fails("nowhere/picture.svg", &["there is no folder 'nowhere'"]);
    folder.fails_with(
        &[&forecast[..], &["a.svg", "-o", "a.svg"]].concat(),
        &["a.svg", "name two files"],
    );
    folder.fails_with(&["demo", "--plot", "demo.pdf"], &[".svg, .png or .html"]);
}

#[test]
fn completions_and_manual_are_installed_at_home() {
    let folder = Folder::new();
    let home = folder.path("home");
    std::fs::create_dir(&home).unwrap();
    let run = |arguments: &[&str], data: Option<&str>, shell: &str| {
        let mut command = folder.foretask(arguments);
        command
            .env("HOME", &home)
            .env("SHELL", shell)
            .env_remove("XDG_DATA_HOME");
        if let Some(data) = data {
            command.env("XDG_DATA_HOME", folder.path(data));
        }
        command.output().unwrap()
    };
    let install = ["completions", "--install"];
    let output = run(&install, None, "/bin/bash");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    let share = home.join(".local/share");
    let script = share.join("bash-completion/completions/foretask");
    assert!(
        said.contains(&format!("wrote {}\n", script.display())),
        "{said}"
    );
    assert!(text(&script).contains("evaluate"));
    for page in [
        "foretask.1",
        "foretask-forecast.1",
        "foretask-completions.1",
    ] {
        let page = share.join("man/man1").join(page);
        assert!(
            said.contains(&format!("wrote {}\n", page.display())),
            "{said}"
        );
        assert!(text(&page).contains(".TH"));
    }
    // A shell by name, elsewhere.
    for (shell, file) in [
        ("zsh", "zsh/site-functions/_foretask"),
        ("fish", "fish/vendor_completions.d/foretask.fish"),
    ] {
        let output = run(
            &["completions", shell, "--install"],
            Some("data"),
            "/bin/bash",
        );
        assert!(output.status.success());
        assert!(text(&folder.path("data").join(file)).contains("evaluate"));
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said.contains("fpath=("), shell == "zsh", "{said}");
    }
    // What cannot be done is refused, and nothing is written.
    for (arguments, shell, part) in [
        (
            &install[..],
            "/bin/dash",
            "foretask completions bash --install",
        ),
        (
            &["completions", "powershell", "--install"],
            "/bin/bash",
            "powershell has no folder",
        ),
    ] {
        let output = run(arguments, Some("other"), shell);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(message.contains(part), "{message}");
        assert!(!folder.path("other").exists());
    }
    let mut file = folder.foretask(&install);
    file.env("XDG_DATA_HOME", folder.write("file", ""))
        .env("SHELL", "/bin/bash");
    let output = file.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("cannot be written")
    );
    assert!(folder.failure(&["completions"]).contains("<SHELL>"));
}
