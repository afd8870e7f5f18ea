//! Whatever fails while a command writes, and whenever it ends: the old file is whole, or the new one is, and nothing else
//! is left. A disk that fills up: the shell limits how large a file may become, and the write that goes beyond fails. Any
//! other step: builds with debug assertions fail or end at the step that `FORETASK_FAULT` names
//! (`crates/foretask/src/write.rs`), or fail at the read that it names (`src/read/input.rs`).

#![cfg(unix)]

use std::collections::BTreeMap;
use std::process::Command;

use crate::common::*;

/// Runs the binary where files may have so many blocks of 1024 bytes.
fn limited(folder: &Folder, blocks: u64, arguments: &[&str]) -> std::process::Output {
    // With the signal ignored a write returns an error, as a full disk does.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    Command::new("bash")
        .current_dir(folder.path(""))
        .args(["-c", &script, "bash", env!("CARGO_BIN_EXE_foretask")])
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn a_disk_that_fills_up_costs_no_file() {
    let folder = Folder::new();
    folder.write("train.csv", Rows::of("north", &["cat", "dog"], 20, 1).csv());
    folder.write("more.csv", Rows::of("south", &["cat", "dog"], 20, 2).csv());
    let new: Vec<Rows> = (0..40)
        .map(|seed| Rows::of("north", &["cat", "dog"], 20, seed))
        .collect();
    let new = Rows(new.into_iter().flat_map(|rows| rows.0).collect());
    folder.write("new.csv", new.csv());
    let linear = ["--views", "linear", "--target", "north"];
    let fit = ["fit", "train.csv", "more.csv", "-o", "model.safetensors"];
    folder.stdout(&[&fit[..], &linear].concat());
    folder.stdout(&["gather", "train.csv", "-o", "one.stats"]);
    folder.stdout(&["gather", "more.csv", "-o", "two.stats"]);
    let forecast = [
        "forecast",
        "train.csv",
        "more.csv",
        "--no-details",
        "--json",
        "-o",
        "old",
    ];
    let commands: [&[&str]; 6] = [
        &[
            "fit",
            "train.csv",
            "--views",
            "linear",
            "--target",
            "north",
            "-o",
            "old",
        ],
        &["gather", "train.csv", "-o", "old"],
        &["merge", "one.stats", "two.stats", "-o", "old"],
        &[
            "predict",
            "model.safetensors",
            "new.csv",
            "--probabilities",
            "-o",
            "old",
        ],
        &["export", "model.safetensors", "--onnx", "old"],
        &[&forecast[..], &linear].concat(),
    ];
    for arguments in commands {
        folder.write("old", "what was there");
        let before = folder.names();
        folder.stderr(arguments);
        let whole = std::fs::read(folder.path("old")).unwrap();
        assert!(whole.len() > 1024, "{arguments:?}: {}", whole.len());
        let after = folder.names();
        let blocks = whole.len() as u64 / 1024;
        for limit in [0, 1, blocks / 2, blocks.saturating_sub(1), blocks] {
            for name in after.iter().filter(|name| !before.contains(name)) {
                let _ = std::fs::remove_file(folder.path(name));
            }
            folder.write("old", "what was there");
            let output = limited(&folder, limit, arguments);
            let message = String::from_utf8_lossy(&output.stderr);
            let what = format!("{arguments:?} with {limit} blocks: {message}");
            let own = std::fs::read(folder.path("old")).unwrap();
            match output.status.code() {
                Some(0) => assert!(own == whole, "{what}"),
                code => {
                    assert_eq!(code, Some(2), "{what}");
                    assert!(message.contains("error: "), "{what}");
                    assert_eq!(own, b"what was there", "{what}");
                    assert_eq!(folder.names(), before, "{what}");
                }
            }
        }
    }
}

/// The K-th step of writing, or the K-th read, fails, or ends the process as a kill does.
fn faulty(folder: &Folder, how: &str, step: usize, arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_foretask"))
        .current_dir(folder.path(""))
        .env("FORETASK_FAULT", format!("{how}:{step}"))
        .args(arguments)
        .output()
        .unwrap()
}

/// All files of a folder and what they hold.
fn contents(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| {
        let bytes = std::fs::read(folder.path(&name)).ok()?;
        Some((name, bytes))
    };
    folder.names().into_iter().filter_map(read).collect()
}

/// A folder with tables, statistics of them, and a model.
fn material() -> Folder {
    let folder = Folder::new();
    let rows = |task: &str, seed| Rows::of(task, &["cat", "dog"], 15, seed);
    folder.write("train.csv", rows("north", 1).and(rows("south", 2)).csv());
    folder.write("more.csv", rows("east", 3).csv());
    // Texts, so that columns become features in a way that the plan beside statistics says, and they differ.
    let with_texts = |rows: Rows, texts: [&str; 3]| {
        let csv = rows.csv();
        let mut lines = csv.lines();
        let mut text = format!("{},ward\n", lines.next().unwrap());
        for (row, line) in lines.enumerate() {
            text += &format!("{line},{}\n", texts[row % 3]);
        }
        text
    };
    folder.write("wards.csv", with_texts(rows("north", 4), ["a", "b", "c"]));
    folder.write("other.csv", with_texts(rows("north", 5), ["d", "e", "f"]));
    folder.stdout(&["gather", "train.csv", "-o", "one.stats"]);
    folder.stdout(&["gather", "more.csv", "-o", "two.stats"]);
    std::fs::copy(folder.path("one.stats"), folder.path("bare.stats")).unwrap();
    let fit = ["fit", "train.csv", "--views", "linear", "--target", "north"];
    folder.stdout(&[&fit[..], &["-o", "model.safetensors"]].concat());
    folder
}

const PLAN: &str = "out.columns.json";

/// Which of some texts the plan knows that statistics are read with, if they have one.
fn plan_read(folder: &Folder, statistics: &str) -> Option<Vec<bool>> {
    folder.stderr(&["merge", statistics, "-o", "seen.stats"]);
    let plan = std::fs::read_to_string(folder.path("seen.columns.json")).ok();
    for name in ["seen.stats", "seen.columns.json"] {
        let _ = std::fs::remove_file(folder.path(name));
    }
    plan.map(|plan| {
        let texts = ["\"a\"", "\"d\"", "\"x0\""];
        texts.iter().map(|text| plan.contains(text)).collect()
    })
}

/// Takes outputs away.
fn clear(folder: &Folder) {
    for name in folder.names() {
        if name.starts_with("out") && std::fs::remove_file(folder.path(&name)).is_err() {
            std::fs::remove_dir_all(folder.path(&name)).unwrap();
        }
    }
}

/// A command that writes, to a file that is there already or is not.
struct Written<'a> {
    arguments: Vec<&'a str>,
    output: &'a str,
    replaces: bool,
}

impl Written<'_> {
    /// What is there before.
    fn prepare(&self, folder: &Folder) {
        clear(folder);
        match (self.replaces, self.output) {
            (false, _) => {}
            (true, "out.stats") => {
                folder.stderr(&["gather", "other.csv", "-o", self.output]);
            }
            (true, output) => {
                folder.write(output, "what was there");
            }
        }
    }

    /// Every step fails, or is the last; the number of steps, and of temporary files that a kill left.
    fn try_every_step(&self, folder: &Folder) -> (usize, usize) {
        let Self {
            arguments, output, ..
        } = self;
        let is_statistics = *output == "out.stats";
        clear(folder);
        folder.stderr(arguments);
        let new = contents(folder);
        let new_plan = is_statistics.then(|| plan_read(folder, output));
        self.prepare(folder);
        let old = contents(folder);
        let old_plan = (is_statistics && self.replaces).then(|| plan_read(folder, output));
        let (mut steps, mut left) = (usize::MAX, 0);
        for how in ["end", "fail"] {
            for step in 1..=steps {
                assert!(step < 60, "{arguments:?} does not end");
                self.prepare(folder);
                let ran = faulty(folder, how, step, arguments);
                let message = String::from_utf8_lossy(&ran.stderr);
                let what = format!("{how}:{step} {arguments:?}: {message}");
                let mut after = contents(folder);
                let is_temporary = |name: &&String| name.starts_with(".tmp");
                for name in after.clone().keys().filter(is_temporary) {
                    // In the moment in which one file takes the place of another, and only then.
                    assert!(how == "end" && self.replaces, "{what}: left {name}");
                    std::fs::remove_file(folder.path(name)).unwrap();
                    after.remove(name);
                    left += 1;
                }
                let is_new = after.get(*output) == new.get(*output);
                assert!(is_new || after.get(*output) == old.get(*output), "{what}");
                if is_statistics && after.contains_key(*output) {
                    let plan = if is_new { &new_plan } else { &old_plan };
                    assert_eq!(plan.as_ref(), Some(&plan_read(folder, output)), "{what}");
                }
                let names = |files: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
                    let names = files.keys().filter(|name| *name != PLAN);
                    names.cloned().collect()
                };
                let expected = if is_new { &new } else { &old };
                assert_eq!(names(&after), names(expected), "{what}");
                for name in names(expected) {
                    assert!(after[&name] == expected[&name], "{what}: {name} changed");
                }
                match (ran.status.code(), how) {
                    // The last step was the one before.
                    (Some(0), "end") => {
                        assert!(is_new, "{what}");
                        steps = step - 1;
                        break;
                    }
                    // There was another way.
                    (Some(0), _) => assert!(is_new, "{what}"),
                    (Some(2), "fail") => {
                        let is_told = ["error: ", "cannot be written: the fault of a test"]
                            .iter()
                            .all(|part| message.contains(part));
                        assert!(is_told, "{what}");
                    }
                    (Some(137), "end") => {}
                    (code, _) => panic!("{code:?} {what}"),
                }
            }
        }
        clear(folder);
        (2 * steps, left)
    }
}

#[test]
fn files_are_whole_whatever_step_of_writing_fails_or_is_the_last() {
    let folder = material();
    let commands: [(&str, &str); 10] = [
        ("out", "fit train.csv --views linear --target north -o"),
        ("out.stats", "gather train.csv -o"),
        ("out.stats", "gather wards.csv -o"),
        ("out.stats", "gather train.csv more.csv -o"),
        ("out.stats", "merge one.stats two.stats -o"),
        ("out.stats", "merge bare.stats -o"),
        ("out", "predict model.safetensors train.csv -o"),
        (
            "out.html",
            "report train.csv --views linear --no-details --force --target north -o",
        ),
        ("out", "export model.safetensors --onnx"),
        ("out.svg", "evaluate model.safetensors train.csv --plot"),
    ];
    let (mut faults, mut left) = (0, 0);
    for (output, command) in commands {
        for replaces in [false, true] {
            let written = Written {
                arguments: command.split(' ').chain([output]).collect(),
                output,
                replaces,
            };
            let (tried, stray) = written.try_every_step(&folder);
            assert!(tried >= 2 * 5, "{command}: {tried}");
            faults += tried;
            left += stray;
        }
    }
    println!("{faults} faults; {left} temporary files after a kill");
}

#[test]
fn a_read_that_fails_is_an_error_that_names_the_file() {
    let folder = material();
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for seed in [
        "tsv/mixed.tsv",
        "svmlight/small.svm",
        "npz/packed.npz",
        "npz/plain.npz",
        "parquet/zstd.parquet",
        "arrow/lz4.arrow",
        "csv_gz/mixed.csv.gz",
        "csv_zst/mixed.csv.zst",
    ] {
        let name = seed.split('/').next_back().unwrap();
        std::fs::copy(seeds.join(seed), folder.path(name)).unwrap();
    }
    let lines = ["a", "b"].map(|label| format!("{{\"label\": \"{label}\", \"x\": 1.5}}\n"));
    folder.write("rows.jsonl", lines.concat());
    let commands = [
        "fit train.csv --views linear --target north -o out",
        "fit one.stats --target north -o out",
        "forecast train.csv more.csv --views linear --no-details --target north --json -o out",
        "gather train.csv -o out.stats",
        "gather train.csv more.csv -o out.stats",
        "merge one.stats two.stats -o out.stats",
        "predict model.safetensors train.csv -o out",
        "evaluate model.safetensors train.csv --json -o out",
        "report train.csv --views linear --no-details --force --target north -o out.html",
        "export model.safetensors --onnx out",
        "inspect model.safetensors",
        "check train.csv",
        "check mixed.tsv",
        "check rows.jsonl",
        "check small.svm",
        "check packed.npz",
        "check plain.npz",
        "check zstd.parquet",
        "check lz4.arrow",
        "check mixed.csv.gz",
        "check mixed.csv.zst",
    ];
    let mut faults = 0;
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').collect();
        let before = contents(&folder);
        let mut step = 1;
        loop {
            assert!(step < 200, "{command} does not end");
            let ran = faulty(&folder, "read", step, &arguments);
            let message = String::from_utf8_lossy(&ran.stderr);
            let what = format!("read:{step} {command}: {message}");
            // The last read was the one before.
            if ran.status.success() {
                break;
            }
            assert_eq!(ran.status.code(), Some(2), "{what}");
            assert!(message.contains("error: "), "{what}");
            assert!(message.contains("the fault of a test"), "{what}");
            let is_named = before.keys().any(|name| message.contains(name));
            assert!(is_named, "{what}");
            assert!(contents(&folder) == before, "{what}");
            step += 1;
            faults += 1;
        }
        // Opening, reading, and reading what says that there is no more.
        assert!(step > 3, "{command}: {step}");
        clear(&folder);
    }
    println!("{faults} reads that failed");
}

#[test]
fn a_signal_ends_a_command_and_leaves_nothing() {
    use std::os::unix::process::ExitStatusExt;

    let folder = material();
    folder.write("out", "what was there");
    let before = contents(&folder);
    // Standard input that does not end: rows are read, decided and written until the signal comes.
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        if is_ignored(number) {
            continue;
        }
        for output in ["out", "new"] {
            let mut child = Command::new(env!("CARGO_BIN_EXE_foretask"))
                .current_dir(folder.path(""))
                .args(["predict", "model.safetensors", "-", "-o", output])
                .stdin(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            let mut rows = child.stdin.take().unwrap();
            let text = Rows::of("north", &["cat", "dog"], 5000, 7).csv();
            std::io::Write::write_all(&mut rows, text.as_bytes()).unwrap();
            let kill = Command::new("kill")
                .args(["-s", signal, &child.id().to_string()])
                .status();
            assert!(kill.unwrap().success());
            // For a shell this is 128 and the number: 130 and 143.
            assert_eq!(child.wait().unwrap().signal(), Some(number as i32));
            assert!(contents(&folder) == before, "{:?}", folder.names());
        }
    }
}

/// Whether whoever started the tests has them ignore a signal, as shells have what runs in the background ignore Ctrl-C;
/// then so do the commands.
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[test]
fn of_two_that_write_one_file_the_last_wins_whole() {
    let folder = material();
    let model = |target: &str, output: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foretask"));
        command.current_dir(folder.path(""));
        command.args(["fit", "train.csv", "--views", "linear", "--target", target]);
        command.args(["-o", output]);
        command
    };
    let targets = ["north", "south"];
    for target in targets {
        assert!(model(target, target).output().unwrap().status.success());
    }
    let whole = targets.map(|target| std::fs::read(folder.path(target)).unwrap());
    let before = folder.names();
    for _ in 0..5 {
        let both = targets.map(|target| model(target, "both").spawn().unwrap());
        for mut child in both {
            assert!(child.wait().unwrap().success());
        }
        let own = std::fs::read(folder.path("both")).unwrap();
        assert!(whole.contains(&own));
    }
    let after = folder.names();
    assert_eq!(after.len(), before.len() + 1, "{after:?}");
}

#[test]
fn permissions_are_kept_and_protected_files_refused() {
    use std::os::unix::fs::PermissionsExt;

    let folder = material();
    let mode = |name: &str| {
        let path = folder.path(name);
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    let set = |name: &str, mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(name), permissions).unwrap();
    };
    let export = |name: &str| {
        folder.stderr(&["export", "model.safetensors", "--onnx", name]);
    };
    folder.write("private", "old");
    for kept in [0o600, 0o640, 0o755] {
        set("private", kept);
        export("private");
        assert_eq!(mode("private"), kept);
    }
    // A new file is as readable as the user's other files.
    let script = "umask 027; exec \"$@\"";
    let status = Command::new("sh")
        .current_dir(folder.path(""))
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_foretask")])
        .args(["export", "model.safetensors", "--onnx", "fresh"])
        .output();
    assert!(status.unwrap().status.success());
    assert_eq!(mode("fresh"), 0o640);
    folder.write("mine", "old");
    set("mine", 0o444);
    let arguments = ["export", "model.safetensors", "--onnx", "mine"];
    folder.fails_with(&arguments, &["mine", "write-protected"]);
    assert_eq!(std::fs::read(folder.path("mine")).unwrap(), b"old");
}

/// A folder that nobody may write to; those who may write everywhere have no such folder.
#[test]
fn a_folder_that_is_read_only_is_an_error() {
    use std::os::unix::fs::PermissionsExt;

    let folder = material();
    std::fs::create_dir(folder.path("shut")).unwrap();
    let set = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(folder.path("shut"), set(0o555)).unwrap();
    let probe = std::fs::write(folder.path("shut/probe"), "");
    // Where nothing can be made in it at all, whoever asks.
    let shut = if probe.is_ok() { "/proc" } else { "shut" };
    let output = format!("{shut}/out");
    let arguments = ["export", "model.safetensors", "--onnx", &output];
    folder.fails_with(&arguments, &[&output, "cannot be written"]);
    std::fs::set_permissions(folder.path("shut"), set(0o755)).unwrap();
}

/// Writes to a pipe that a command reads from, and then does something else to its input.
#[test]
fn inputs_that_vanish_or_grow_are_read_as_they_were_opened_or_named() {
    let folder = material();
    // A part that is gone when its turn comes.
    folder.fails_with(
        &["gather", "train.csv", "gone.csv", "-o", "all.stats"],
        &["gone.csv"],
    );
    // A table that grows: whole lines are rows, and a line that is half there is an error with its place, never a
    // half row.
    let whole = std::fs::read_to_string(folder.path("train.csv")).unwrap();
    let last = whole.trim_end().rfind(',').unwrap();
    folder.write("growing.csv", &whole[..last]);
    let train = ["fit", "growing.csv", "--target", "north", "-o", "model"];
    folder.fails_with(&train, &["growing.csv", "row 60"]);
    let path = folder.path("growing.csv");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let line = whole.lines().nth(1).unwrap();
            let mut file = std::fs::File::options().append(true).open(&path).unwrap();
            // Up to twenty megabytes.
            for _ in 0..200_000 {
                if stop.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).unwrap();
            }
        });
        std::fs::write(&path, &whole).unwrap();
        let output = folder
            .foretask(&["predict", "model.safetensors", "growing.csv"])
            .output()
            .unwrap();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let message = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            // Every row that was there at the beginning, and none that is half.
            Some(0) => {
                let text = String::from_utf8(output.stdout).unwrap();
                assert!(text.lines().count() > 60, "{text}");
            }
            Some(2) => assert!(message.contains("growing.csv"), "{message}"),
            code => panic!("{code:?}: {message}"),
        }
    });
}
